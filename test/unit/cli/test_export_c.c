/* test_export_c.c: the exported C for CUDA's driver, compiled as strict C11 against a driver that runs nothing: it launches
 * what the plan says at any size, and chooses among sizes and devices as docs/export.md says. */
#include "runtime/program.h"

#include "search/space/space.h"

static const char flags[] = "-std=c11 -O0 -Wall -Wextra -Werror -pedantic";

static void put_file(const char *name, const char *text)
{
    char *path = path_join(program_dir, name);
    assert_int_equal(file_write_atomic(path, text, strlen(text), NULL), LATHE_OK);
    mem_free(path);
}

/* The exported files w.c and w.h and the program main.c, together with the driver; what they say. */
static char *run_c(const struct strbuf *header, const struct strbuf *source, const struct strbuf *main_text)
{
    struct strbuf said = {0};
    char part[4096];
    put_file("w.h", sb_str(header));
    put_file("w.c", sb_str(source));
    put_file("main.c", sb_str(main_text));
    char *command = mem_printf("${CC:-cc} %s -Itest/unit/cli/driver -I%s %s/w.c %s/main.c test/unit/cli/driver/driver.c -o %s/w 2>&1 && %s/w",
                               flags, program_dir, program_dir, program_dir, program_dir, program_dir);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
        sb_addn(&said, part, n);
    if (pclose(f))
        fail_msg("%s", sb_str(&said));
    mem_free(command);
    return sb_take(&said);
}

static void needs_compiler(void)
{
    if (system("command -v ${CC:-cc} >/dev/null"))
        skip();
}

/* --- what the program is told --- */

static void add_device(struct strbuf *b, const struct target *t)
{
    sb_addf(b, "{\"%s\", {", t->name);
    for (int i = 0; i < LIMIT_COUNT; i++)
        sb_addf(b, "%s%lld", i ? ", " : "", (long long)t->limit[i]);
    sb_add(b, "}}");
}

static void add_kinds_of(struct strbuf *b, const struct problem *p, const struct launch *l)
{
    static const char expr[] = {[ARG_I32] = 'i', [ARG_I64] = 'q', [ARG_F32] = 'f', [ARG_F64] = 'd'};
    static const char member[] = {[FIELD_TENSOR] = 'p', [FIELD_DIM] = 'i', [FIELD_SCALAR] = 'f'};
    for (int i = 0; i < l->nargs; i++) {
        switch (l->args[i].kind) {
        case ARG_TENSOR: sb_add(b, "p"); break;
        case ARG_TENSOR_MAP: sb_add(b, "m"); break;
        case ARG_EXPR: sb_addf(b, "%c", expr[l->args[i].type]); break;
        case ARG_EPILOGUE: {
            struct field *fields;
            int n;
            epilogue_fields(p, &fields, &n);
            sb_add(b, "[");
            for (int f = 0; f < n; f++)
                sb_addf(b, "%c", member[fields[f].kind]);
            sb_add(b, "]");
            mem_free(fields);
            break;
        }
        }
    }
}

static void add_kinds(struct strbuf *b, const struct problem *p, const struct kernel *const *kernels, int n)
{
    sb_add(b, "const char *fake_kinds(const char *kernel)\n{\n");
    for (int k = 0; k < n; k++)
        for (int i = 0; i < kernels[k]->nsteps; i++) {
            if (kernels[k]->steps[i].kind != STEP_LAUNCH)
                continue;
            sb_addf(b, "    if (!strcmp(kernel, \"%s\")) return \"", kernels[k]->steps[i].launch.function);
            add_kinds_of(b, p, &kernels[k]->steps[i].launch);
            sb_add(b, "\";\n");
        }
    sb_add(b, "    return \"\";\n}\n");
}

static void add_call(struct strbuf *b, const struct problem *p, const int64_t *dim, const char *bytes)
{
    sb_addf(b, "lathe_%s_launch(w, ", p->name);
    for (int t = 0; t < p->ntensors; t++)
        sb_addf(b, "0x%llxull, ", tensor_at(t));
    for (int d = 0; d < p->ndims; d++)
        sb_addf(b, "%s%lld", d ? ", " : "", (long long)dim[d]);
    for (int s = 0; s < p->nscalars; s++)
        sb_addf(b, ", (float)%.17g", p->scalars[s].value);
    sb_addf(b, ", 0x%llxull, %s, 0)", workspace_at, bytes);
}

static void add_head(struct strbuf *b)
{
    sb_add(b, "#include \"w.h\"\n#include \"driver.h\"\n#include <stdio.h>\n#include <string.h>\n");
}

/* --- one configuration against its plans --- */

static char *c_says(const struct problem *p, const struct kernel *k, const struct target *t, const config_choice *choice,
                    const struct sizes *sizes)
{
    struct strbuf header = {0}, source = {0}, b = {0};
    struct err e = {0};
    json_t *provenance = json_object();
    const struct export_input in = {p, k, choice, t, provenance, NULL};
    const struct export_variant v = {.in = &in, .cubin = {.data = "image", .len = 5}};
    if (export_c(&v, 1, "w.h", &header, &source, &e))
        fail_msg("%s", e.text);
    add_head(&b);
    sb_add(&b, "struct fake_device fake_device = ");
    add_device(&b, t);
    sb_add(&b, ";\n");
    add_kinds(&b, p, &k, 1);
    sb_addf(&b, "int main(void)\n{\n    struct lathe_%s *w;\n    size_t bytes;\n    if (lathe_%s_open(&w)) return 1;\n", p->name, p->name);
    for (int i = 0; i < sizes->n; i++) {
        sb_addf(&b, "    puts(lathe_%s_workspace(w, ", p->name);
        for (int d = 0; d < p->ndims; d++)
            sb_addf(&b, "%lld, ", (long long)sizes->dim[i][d]);
        sb_add(&b, "&bytes) == CUDA_SUCCESS && ");
        add_call(&b, p, sizes->dim[i], "bytes");
        sb_add(&b, " == CUDA_SUCCESS ? \"done\" : \"refused\");\n");
    }
    sb_addf(&b, "    lathe_%s_close(w);\n    return fake_modules;\n}\n", p->name);
    char *said = run_c(&header, &source, &b);
    sb_free(&header);
    sb_free(&source);
    sb_free(&b);
    json_decref(provenance);
    return said;
}

static void choose_sizes(const struct problem *p, struct rng *r, struct sizes *out)
{
    static const int64_t some[] = {1, 3, 8, 60, 64, 100, 128, 129, 512, 1000, 1024, 2048, 4096, 8200, 32768, 100000, 2147483647};
    out->n = MOST_SIZES;
    for (int i = 0; i < out->n; i++)
        for (int d = 0; d < p->ndims; d++)
            out->dim[i][d] = i == 0 ? p->dims[d].value : some[rng_below(r, sizeof some / sizeof *some)];
}

static void compare_kernels(const char *path, int configurations)
{
    struct problem *p = program_problem(program_tree(path), path);
    struct target t;
    struct err e = {0};
    struct rng r;
    rng_seed(&r, 11);
    if (target_named("sm_90a", &t, &e))
        fail_msg("%s", e.text);
    for (int i = 0; i < p->nkernels; i++) {
        struct kernel *k = &p->kernels[i];
        struct space *space;
        int served = 0;
        if (k->baseline || !export_c_serves(k))
            continue;
        if (space_open(p, k, &t, &space, &e))
            fail_msg("%s", e.text);
        config_choice *choice = mem_zalloc((size_t)k->nparams + 1, sizeof *choice);
        for (int c = 0; c < configurations; c++) {
            struct sizes sizes;
            int some;
            choose_sizes(p, &r, &sizes);
            space_at(space, space_random(space, &r), choice);
            char *wanted = plans_say(p, k, &t, choice, &sizes, &some), *got = c_says(p, k, &t, choice, &sizes);
            same_text(got, wanted, k->name, &sizes, p->ndims);
            served += some;
            mem_free(wanted);
            mem_free(got);
        }
        if (served < 2 * configurations)
            fail_msg("%s: kernel %s: %d configurations ran at %d sizes in all", path, k->name, configurations, served);
        mem_free(choice);
        space_close(space);
    }
    problem_free(p);
}

static void test_linear(void **state)
{
    needs_compiler();
    compare_kernels("kernels/linear/spec.lua", 2);
}

static void test_narrow(void **state)
{
    needs_compiler();
    compare_kernels("kernels/linear_bf16/spec.lua", 1);
}

static void test_all_that_a_launch_says(void **state)
{
    needs_compiler();
    compare_kernels("test/specs/launch.lua", 6);
}

/* --- several: which one serves --- */

#define TILE(bm, bn) "TRANSPOSED=false BM=" bm " BN=" bn " TM=4 TN=4 LANES_M=8 BK=8 UNROLL=8 FRAGMENTS=1 LAYOUT=transposed " \
                     "FILL=register STAGES=1 VEC=4 SPLIT_K=1 SCHEDULE=tiles MIN_BLOCKS=1 STORE=direct GROUP=1"

static const struct tuned {
    const char *arch, *config, *cubin, *ptx;
    int64_t dim[3];
} tuned[] = {
    {"sm_80", TILE("32", "32"), "small for 80", "small for 80 and later", {64, 1024, 1024}},
    {"sm_80", TILE("64", "64"), "large for 80", "large for 80 and later", {4096, 4096, 4096}},
    {"sm_90a", TILE("32", "64"), "small for 90a", NULL, {64, 1024, 1024}},
    {"sm_89", TILE("64", "32"), "large for 89", "bad", {4096, 4096, 4096}},
};
enum { TUNED = sizeof tuned / sizeof *tuned };

/* On a device, at a size: what the text of NAME_choice has; NULL: there is none. */
static const struct choice_case {
    const char *arch;
    int sm;                             /* another capability of that device; 0: its own */
    int64_t dim[3];
    const char *wanted;
} cases[] = {
    {"sm_80", 0, {64, 1024, 1024}, "BM=32 BN=32"},              /* exact */
    {"sm_80", 0, {4096, 4096, 4096}, "BM=64 BN=64"},
    {"sm_80", 0, {128, 2048, 1024}, "BM=32 BN=32"},             /* nearest */
    {"sm_80", 0, {2048, 4096, 1024}, "BM=64 BN=64"},
    {"sm_80", 0, {64, 1024, 1023}, "plain kernel"},             /* rows of a multiple of 4 floats */
    {"sm_86", 0, {64, 1024, 1024}, "BM=32 BN=32"},              /* the 80's cubin */
    {"sm_89", 0, {64, 1024, 1024}, "BM=64 BN=32"},              /* its own, though of another size */
    {"sm_90a", 0, {4096, 4096, 4096}, "BM=32 BN=64"},
    {"sm_100a", 0, {4096, 4096, 4096}, "BM=64 BN=64"},          /* PTX */
    {"sm_100a", 0, {4096, 4096, 4097}, "plain kernel"},
    {"sm_80", 0, {0, 1024, 1024}, NULL},
    {"sm_80", 0, {64, 1024, INT64_C(1) << 40}, NULL},
    {"sm_80", 75, {64, 1024, 1024}, NULL},                      /* nothing to open */
};

static void test_choice(void **state)
{
    struct export_input in[TUNED];
    struct export_variant v[TUNED + 1] = {{0}};
    struct export_fallback fallback;
    struct problem *p[TUNED];
    struct target t[TUNED];
    config_choice choice[TUNED][64];
    struct strbuf header = {0}, source = {0}, b = {0};
    struct err e = {0};
    json_t *provenance = json_object();
    needs_compiler();
    for (int i = 0; i < TUNED; i++) {
        p[i] = program_problem(program_tree("kernels/linear/spec.lua"), "kernels/linear/spec.lua");
        const struct kernel *k = &p[i]->kernels[problem_find_kernel(p[i], "simt")];
        if (target_named(tuned[i].arch, &t[i], &e) || config_from_text(k, tuned[i].config, choice[i], &e))
            fail_msg("%s", e.text);
        for (int d = 0; d < 3; d++)
            p[i]->dims[d].value = tuned[i].dim[d];
        in[i] = (struct export_input){p[i], k, choice[i], &t[i], provenance, NULL};
        v[i] = (struct export_variant){.in = &in[i], .cubin = {.data = tuned[i].cubin, .len = strlen(tuned[i].cubin)},
                                       .ptx_sm = (int)t[i].limit[LIMIT_sm]};
        if (tuned[i].ptx)
            v[i].ptx = (struct export_image){.data = tuned[i].ptx, .len = strlen(tuned[i].ptx)};
    }
    if (export_fallback_open(&in[0], &fallback, &e))
        fail_msg("%s", e.text);
    v[TUNED] = (struct export_variant){.in = &fallback.in, .fallback = true, .ptx = {.data = "plain", .len = 5}, .ptx_sm = 80};
    if (export_c(v, TUNED + 1, "w.h", &header, &source, &e))
        fail_msg("%s", e.text);
    add_head(&b);
    sb_add(&b, "struct fake_device fake_device;\n");
    const struct kernel *const kernels[] = {in[0].kernel, fallback.in.kernel};
    add_kinds(&b, p[0], kernels, 2);
    sb_add(&b, "int main(void)\n{\n    struct lathe_linear *w;\n    const char *text;\n    size_t bytes;\n    (void)bytes;\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct choice_case *c = &cases[i];
        struct target device;
        if (target_named(c->arch, &device, &e))
            fail_msg("%s", e.text);
        if (c->sm)
            device.limit[LIMIT_sm] = c->sm;
        sb_add(&b, "    fake_device = (struct fake_device)");
        add_device(&b, &device);
        sb_addf(&b, ";\n    if (lathe_linear_open(&w)) puts(w ? \"left\" : \"none\");\n    else {\n        text = lathe_linear_choice(w, %lld, %lld, "
                    "%lld, 2);\n        puts(text ? text : \"none\");\n        lathe_linear_close(w);\n    }\n", (long long)c->dim[0],
                (long long)c->dim[1], (long long)c->dim[2]);
    }
    /* the workspace that a launch needs must be there, and the fallback launches as its plan says */
    sb_add(&b, "    fake_device = (struct fake_device)");
    add_device(&b, &t[0]);
    static const int64_t odd[] = {3, 5, 7};
    sb_add(&b, ";\n    if (lathe_linear_open(&w)) return 1;\n    printf(\"%d\\n\", (int)");
    add_call(&b, p[0], odd, "0");
    sb_add(&b, ");\n    printf(\"%d\\n\", (int)lathe_linear_workspace(w, 3, 0, 7, &bytes));\n    lathe_linear_close(w);\n"
               "    printf(\"%d\\n\", fake_modules);\n    return 0;\n}\n");
    char *said = run_c(&header, &source, &b), *line = said;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = strcspn(line, "\n");
        const char *wanted = cases[i].wanted ? cases[i].wanted : "none";
        char *got = mem_printf("%.*s", (int)n, line);
        if (!strstr(got, wanted))
            fail_msg("case %zu: wanted %s, got %s", i, wanted, got);
        mem_free(got);
        line += n + 1;
    }
    struct sizes size = {1, {{3, 5, 7}}};
    int served;
    char *plan = plans_say((struct problem *)fallback.in.problem, fallback.in.kernel, &t[0], fallback.choice, &size, &served);
    char *wanted = mem_printf("%.*s0\n1\n0\n", (int)(strlen(plan) - strlen("done\n")), plan);
    assert_int_equal(served, 1);
    assert_string_equal(line, wanted);
    mem_free(plan);
    mem_free(wanted);
    mem_free(said);
    sb_free(&header);
    sb_free(&source);
    sb_free(&b);
    export_fallback_close(&fallback);
    json_decref(provenance);
    for (int i = 0; i < TUNED; i++)
        problem_free(p[i]);
}

/* --- the plain kernel --- */

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
    json_object_set_new(tree, "kernels", json_pack("[{s:[s], s:s, s:[{s:s, s:[s], s:i, s:i, s:[s]}]}]", "#", "none", "source_text",
                                                   "extern \"C\" __global__ void nothing(float *) {}", "steps",
                                                   "tag", "launch", "#", "nothing", "grid", 1, "block", 1, "args", "Y"));
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
        if (kernel_slots_config(f.in.kernel, f.choice, slots, &e) || plan_build(f.in.problem, f.in.kernel, slots, &plan, &e))
            fail_msg("%s", e.text);
        sb_add(&b, "#include <cuda_runtime.h>\nstatic struct { unsigned x; } blockIdx, threadIdx, blockDim = {1}, gridDim = {1};\n");
        if (source_epilogue(f.in.problem, &b, &e))
            fail_msg("%s", e.text);
        sb_add(&b, f.in.kernel->source);
        sb_addf(&b, "int main()\n{\n    float X[21], V[35], R[15], Y[15];\n    for (int i = 0; i < 35; i++) V[i] = (float)(i * 5 %% 11 - 4);\n"
                    "    for (int i = 0; i < 21; i++) X[i] = (float)(i * 3 %% 7 - 3);\n    for (int i = 0; i < 15; i++) R[i] = (float)i;\n"
                    "    LatheEpilogue epilogue;\n    epilogue.R = R, epilogue.N = 5, epilogue.a = 0.5f, epilogue.b = 0.25f;\n"
                    "    plain_gemm(X, V, Y");
        const struct plan_step *step = &plan.steps[0];
        for (int i = 3; i < step->nargs - 1; i++)
            sb_addf(&b, ", %lld", (long long)step->args[i].i);
        sb_addf(&b, ", epilogue);\n    int bad = 0;\n    for (int m = 0; m < 3; m++)\n        for (int n = 0; n < 5; n++) {\n"
                    "            float z = 0;\n            for (int k = 0; k < 7; k++) z += X[%s] * V[%s];\n"
                    "            bad += Y[m * 5 + n] != (z > 0.5f ? z : 0.25f) + R[m * 5 + n];\n        }\n    printf(\"%%d wrong\\n\", bad);\n}\n",
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

/* Results of different problems have no common parameters. */
static void test_different(void **state)
{
    struct target t;
    struct err e = {0};
    json_t *provenance = json_object();
    struct strbuf header = {0}, source = {0};
    struct problem *a = program_problem(program_tree("kernels/linear/spec.lua"), "kernels/linear/spec.lua");
    struct problem *b = program_problem(program_tree("test/specs/launch.lua"), "test/specs/launch.lua");
    config_choice choice[64] = {0};
    if (target_named("sm_90a", &t, &e))
        fail_msg("%s", e.text);
    const struct export_input in[] = {{a, &a->kernels[0], choice, &t, provenance, NULL}, {b, &b->kernels[0], choice, &t, provenance, NULL}};
    const struct export_variant v[] = {{.in = &in[0], .cubin = {.data = "a", .len = 1}}, {.in = &in[1], .cubin = {.data = "b", .len = 1}}};
    assert_int_equal(export_c(v, 2, "w.h", &header, &source, &e), LATHE_USAGE);
    assert_non_null(strstr(e.text, "different problems"));
    sb_free(&header);
    sb_free(&source);
    json_decref(provenance);
    problem_free(a);
    problem_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_all_that_a_launch_says),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_plain_gemm),
        cmocka_unit_test(test_different),
    };
    return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
