/* test_export_fallback.c: the plain kernel that serves every size computes the problem, whichever matrices are
 * transposed. */
#include "runtime/program.h"

/* The problem of test/specs/names.lua with matrices that are transposed or not, and a kernel that does nothing. */
static struct problem *gemm_of(bool trans_a, bool trans_b)
{
    json_t *tree = program_tree("test/specs/names.lua"), *tensors = json_object_get(tree, "tensors"), *tensor;
    size_t i;
    json_array_foreach(tensors, i, tensor)
    {
        json_t *list = json_is_array(tensor) ? tensor : json_object_get(tensor, "#");
        const char *name = json_string_value(json_array_get(list, 0));
        if (strcmp(name, "X") == 0)
            json_array_set_new(list, 2, trans_a ? json_pack("[s, s]", "K", "M") : json_pack("[s, s]", "M", "K"));
        if (strcmp(name, "V") == 0)
            json_array_set_new(list, 2, trans_b ? json_pack("[s, s]", "N", "K") : json_pack("[s, s]", "K", "N"));
    }
    json_t *reference = json_object_get(tree, "reference");
    json_object_set_new(reference, "trans_a", json_boolean(trans_a));
    json_object_set_new(reference, "trans_b", json_boolean(trans_b));
    json_object_set_new(tree, "kernels",
                        json_pack("[{s:[s], s:s, s:[{s:s, s:[s], s:i, s:i, s:[s]}]}]", "#", "none", "source_text",
                                  "extern \"C\" __global__ void nothing(float *) {}", "steps", "tag", "launch", "#",
                                  "nothing", "grid", 1, "block", 1, "args", "Y"));
    return program_problem(tree, "test/specs/names.lua");
}

/* As plain C++, one thread: its loop takes the whole matrix. The products are integers, so they are exact. */
static void test_plain_gemm(void **state)
{
    if (system("command -v ${CXX:-c++} >/dev/null"))
        skip();
    for (int trans = 0; trans < 4; trans++) {
        struct problem *p = gemm_of(trans & 1, trans & 2);
        struct target t;
        struct plan plan;
        struct export_fallback f;
        struct strbuf b = {0};
        struct err e = {0};
        config_choice none[1] = {0};
        bool compiled;
        if (target_named("sm_90a", &t, &e))
            fail_msg("%s", e.text);
        p->dims[0].value = 3, p->dims[1].value = 5, p->dims[2].value = 7;
        const struct export_input of = {p, &p->kernels[0], none, &t, NULL, NULL};
        if (export_fallback_open(&of, &f, &e))
            fail_msg("%s", e.text);
        struct value *slots = mem_zalloc((size_t)f.in.kernel->scope.count + 1, sizeof *slots);
        kernel_slots_fixed(f.in.problem, f.in.kernel, &t, slots);
        if (kernel_slots_config(f.in.kernel, f.choice, slots, &e) ||
            plan_build(f.in.problem, f.in.kernel, slots, &plan, &e))
            fail_msg("%s", e.text);
        sb_add(&b, "#include <cuda_runtime.h>\nstatic struct { unsigned x; } blockIdx, threadIdx, blockDim = {1}, "
                   "gridDim = {1};\n");
        if (source_epilogue(f.in.problem, &b, &e))
            fail_msg("%s", e.text);
        sb_add(&b, f.in.kernel->source);
        sb_addf(
            &b,
            "int main()\n{\n    float X[21], V[35], R[15], Y[15];\n    for (int i = 0; i < 35; i++) V[i] = (float)(i * "
            "5 %% 11 - 4);\n"
            "    for (int i = 0; i < 21; i++) X[i] = (float)(i * 3 %% 7 - 3);\n    for (int i = 0; i < 15; i++) R[i] = "
            "(float)i;\n"
            "    LatheEpilogue epilogue;\n    epilogue.R = R, epilogue.N = 5, epilogue.a = 0.5f, epilogue.b = 0.25f;\n"
            "    plain_gemm(X, V, Y");
        const struct plan_step *step = &plan.steps[0];
        for (int i = 3; i < step->nargs - 1; i++)
            sb_addf(&b, ", %lld", (long long)step->args[i].i);
        sb_addf(
            &b,
            ", epilogue);\n    int bad = 0;\n    for (int m = 0; m < 3; m++)\n        for (int n = 0; n < 5; n++) {\n"
            "            float z = 0;\n            for (int k = 0; k < 7; k++) z += X[%s] * V[%s];\n"
            "            bad += Y[m * 5 + n] != (z > 0.5f ? z : 0.25f) + R[m * 5 + n];\n        }\n    printf(\"%%d "
            "wrong\\n\", bad);\n}\n",
            trans & 1 ? "k * 3 + m" : "m * 7 + k", trans & 2 ? "n * 7 + k" : "k * 5 + n");
        char *said = program_run(sb_str(&b), "", &compiled);
        if (!compiled || strcmp(said, "0 wrong\n"))
            fail_msg("transposed %d: %s", trans, said);
        mem_free(said);
        mem_free(slots);
        plan_free(&plan);
        sb_free(&b);
        export_fallback_close(&f);
        problem_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain_gemm)};
    return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
