/* test_problem.c: a good specification becomes the right structs. */
#include "spec_fixture.h"

#include "model/problem.h"
#include <math.h>
#include <stdio.h>
#include <unistd.h>

static void problem_fields(void **state)
{
    (void)state;
    struct problem *p = fixture_changed(NULL, NULL);
    assert_string_equal(p->name, "linear");
    assert_string_equal(p->path, "spec.lua");
    assert_int_equal(p->ndims, 3);
    assert_string_equal(p->dims[1].name, "N");
    assert_int_equal(p->dims[1].value, 1024);
    assert_true(p->nscalars == 1 && p->scalars[0].value == 2.0);
    assert_int_equal(p->ntensors, 4);
    assert_int_equal(p->output, 3);
    assert_true(p->tensors[3].output && !p->tensors[0].output);
    assert_int_equal(p->tensors[1].fill, FILL_UNIFORM);
    assert_int_equal(p->tensors[2].fill, FILL_NORMAL);
    assert_string_equal(expr_text(p->tensors[1].fill_a), "-1/sqrt(K)");
    assert_int_equal(p->tensors[2].rank, 1);
    assert_string_equal(p->index_names[0], "m");
    assert_string_equal(p->index_names[1], "n");
    assert_null(p->index_names[2]);
    assert_string_equal(p->epilogue_scope.names[p->epilogue_z].name, "z");
    assert_string_equal(p->epilogue_scope.names[p->epilogue_index].name, "m");
    assert_string_equal(p->epilogue_scope.names[p->epilogue_tensor].name, "X");
    assert_int_equal(p->epilogue_scope.count, p->epilogue_tensor + 3);
    assert_int_equal(p->reference.kind, REFERENCE_GEMM);
    assert_true(p->reference.gemm.a == 0 && p->reference.gemm.b == 1 && p->reference.gemm.c == 3);
    assert_true(!p->reference.gemm.trans_a && p->reference.gemm.trans_b);
    assert_int_equal(p->reference.bias, 2);
    assert_true(p->tolerance.atol == 1e-4 && p->tolerance.times_sgemm_error == 2 && p->tolerance.frobenius == 0);
    assert_int_equal(problem_find_kernel(p, "cublas_alone"), 2);
    assert_int_equal(problem_find_kernel(p, "nothing"), -1);
    assert_int_equal(problem_find_dim(p, "K"), 2);
    assert_int_equal(problem_find_tensor(p, "partial"), -1);
    problem_free(p);
}

static void kernels_by_name(void **state)
{
    (void)state;
    struct problem *p = fixture_changed(NULL, NULL);
    struct err e = {0};
    int at = -1;
    assert_int_equal(problem_kernel_named(p, "simt", KERNEL_CANDIDATE, &at, &e), LATHE_OK);
    assert_int_equal(at, 0);
    assert_int_equal(problem_kernel_named(p, "cublas_alone", KERNEL_ANY, &at, &e), LATHE_OK);
    assert_int_equal(at, 2);
    assert_int_equal(problem_kernel_named(p, "cublas_alone", KERNEL_CANDIDATE, &at, &e), LATHE_USAGE);
    assert_has(e.text, "'cublas_alone' is a baseline");
    assert_has(e.text, "to tune there are: simt");
    assert_int_equal(problem_kernel_named(p, "smit", KERNEL_CANDIDATE, NULL, &e), LATHE_USAGE);
    assert_has(e.text, "spec.lua has no kernel 'smit'\ndid you mean 'simt'? there are: simt");
    assert_null(strstr(e.text, "cublas_alone"));
    assert_int_equal(problem_kernel_named(p, "nothing", KERNEL_ANY, &at, &e), LATHE_USAGE);
    assert_has(e.text, "cublas_alone");
    assert_null(strstr(e.text, "did you mean"));
    assert_int_equal(at, 2);
    assert_int_equal(problem_kernel_named(p, "cublas_tf32", KERNEL_BASELINE, &at, &e), LATHE_OK);
    assert_int_equal(at, 1);
    assert_int_equal(problem_kernel_named(p, "simt", KERNEL_BASELINE, NULL, &e), LATHE_USAGE);
    assert_has(e.text, "no baseline 'simt': that is a candidate\nthere are: cublas_tf32, cublas_alone");
    assert_true(p->kernels[1].usual);
    problem_free(p);
    p = fixture_changed("baselines/0/usual", "false");
    assert_true(!p->kernels[1].usual && p->kernels[2].usual);
    problem_free(p);
}

static void kernel_fields(void **state)
{
    (void)state;
    struct problem *p = fixture_changed(NULL, NULL);
    const struct kernel *k = &p->kernels[0];
    assert_true(k->eligible && k->checked && !k->baseline);
    assert_int_equal(k->nparams, 5);
    assert_string_equal(k->params[0].help, "rows of the block tile");
    assert_true(k->params[0].type == VALUE_INT && k->params[0].values[2].i == 128);
    assert_true(k->params[2].type == VALUE_STRING && k->params[2].when);
    assert_string_equal(k->params[2].values[1].s, "last_block");
    assert_true(k->params[3].type == VALUE_BOOL && k->params[4].type == VALUE_FLOAT);
    assert_int_equal(k->first_limit, 4);
    assert_int_equal(k->first_param, 4 + LIMIT_COUNT);
    assert_int_equal(k->first_let, k->first_param + 5);
    assert_int_equal(k->scope.count, k->first_let + 4);
    assert_string_equal(k->scope.names[k->first_limit + LIMIT_l2_bytes].name, "l2_bytes");
    assert_true(k->nrequires == 1 && k->nconstraints == 3);
    assert_string_equal(k->constraints[0].reason, "a block has that many threads at most");
    assert_null(k->constraints[1].reason);
    assert_true(k->nworkspace == 2 && k->workspace[1].zero == ZERO_ONCE && k->workspace[1].dtype == DTYPE_u32);
    assert_int_equal(k->nsteps, 2);
    const struct launch *l = &k->steps[0].launch;
    assert_string_equal(l->function, "linear_simt");
    assert_string_equal(expr_text(l->grid[2]), "SPLIT_K");
    assert_string_equal(expr_text(l->block[1]), "1");
    assert_null(l->cluster[0]);
    assert_int_equal(l->nargs, 10);
    assert_true(l->args[3].kind == ARG_TENSOR && l->args[3].tensor == 4);
    assert_true(l->args[5].kind == ARG_EXPR && l->args[5].type == ARG_I32);
    assert_true(l->args[6].type == ARG_I64 && l->args[7].type == ARG_F32 && l->args[8].type == ARG_F64);
    assert_int_equal(l->args[9].kind, ARG_EPILOGUE);
    assert_non_null(k->steps[1].when);
    const struct kernel *b = &p->kernels[1];
    assert_true(b->baseline && !b->eligible && b->checked && b->steps[0].gemm.compute == GEMM_TF32);
    assert_int_equal(b->steps[0].gemm.c, 4);
    assert_false(p->kernels[2].checked);
    assert_null(p->kernels[2].source);
    problem_free(p);
}

static void defaults(void **state)
{
    (void)state;
    json_t *tree = fixture_tree();
    static const char *const gone[] = {"summary", "scalars", "epilogue", "flops", "bytes", "baselines",
                                       "tensors/0/fill", "kernels/0/requires", "kernels/0/constraints"};
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++)
        fixture_set(tree, gone[i], NULL);
    fixture_set(tree, "kernels/0/steps/0/args", "[\"Y\"]");
    fixture_set(tree, "kernels/0/params", "{}");    /* an empty Lua table arrives as either */
    fixture_set(tree, "kernels/0/let", "[]");
    fixture_set(tree, "kernels/0/workspace", NULL);
    fixture_set(tree, "kernels/0/steps/1", NULL);
    fixture_set(tree, "kernels/0/steps/0/grid", "1");
    fixture_set(tree, "kernels/0/steps/0/block", "64.0");
    fixture_set(tree, "kernels/0/steps/0/shared", NULL);
    struct problem *p = fixture_problem(tree);
    double flops, bytes;
    assert_null(p->summary);
    assert_null(p->epilogue);
    assert_int_equal(p->tensors[0].fill, FILL_UNIFORM);
    assert_string_equal(expr_text(p->tensors[0].fill_b), "1.0");
    assert_int_equal(problem_flops(p, &flops, &bytes, NULL), LATHE_OK);
    assert_true(isnan(flops) && isnan(bytes));
    assert_int_equal(p->kernels[0].nparams, 0);
    assert_int_equal(expr_type(p->kernels[0].steps[0].launch.block[0]), VALUE_INT);
    problem_free(p);
}

static void reference_kernel(void **state)
{
    (void)state;
    json_t *tree = fixture_tree();
    fixture_set(tree, "tolerance/times_sgemm_error", NULL);
    fixture_set(tree, "reference", "{\"tag\": \"kernel\", \"source\": \"ref.cu\", \"source_text\": \"void ref();\","
                "\"let\": [[\"blocks\", \"ceil_div(M*N, 256)\"]], \"steps\": [{\"tag\": \"launch\", \"#\": [\"ref\"],"
                "\"grid\": \"blocks\", \"block\": 256, \"args\": [\"X\", \"W\", \"Y\", \"epilogue\"]}]}");
    struct problem *p = fixture_problem(tree);
    assert_int_equal(p->reference.kind, REFERENCE_KERNEL);
    assert_string_equal(p->reference.kernel->name, "reference");
    assert_int_equal(p->reference.bias, -1);
    assert_int_equal(p->reference.kernel->nsteps, 1);
    problem_free(p);
}

static void tree_is_copied_and_reads_back(void **state)
{
    (void)state;
    json_t *tree = fixture_tree(), *kept;
    struct problem *p, *again;
    struct err e;
    assert_int_equal(problem_from_json(tree, "spec.lua", NULL, &p, &e), LATHE_OK);
    assert_int_equal(tree->refcount, 1);
    json_object_clear(tree);
    json_decref(tree);
    kept = json_deep_copy(p->json);
    problem_free(p);
    assert_int_equal(problem_from_json(kept, "elsewhere.lua", NULL, &again, &e), LATHE_OK);
    assert_true(json_equal(kept, again->json));
    assert_string_equal(again->kernels[0].params[2].values[0].s, "second_kernel");
    json_decref(kept);
    problem_free(again);
}

/* Sources are found beside the specification, and afterwards the tree has no need of them. */
static void sources_are_embedded(void **state)
{
    (void)state;
    char dir[] = "/tmp/lathe-spec-XXXXXX";
    struct err e = {0};
    assert_non_null(mkdtemp(dir));
    char *spec = path_join(dir, "spec.lua"), *simt = path_join(dir, "simt.cu"), *inc = path_join(dir, "tile.cuh");
    const char *main_text = "#include \"tile.cuh\"\nvoid linear_simt(); void linear_reduce();\n";
    assert_int_equal(file_write_atomic(simt, main_text, strlen(main_text), &e), LATHE_OK);
    assert_int_equal(file_write_atomic(inc, "int tile;\n", 10, &e), LATHE_OK);
    json_t *tree = fixture_tree();
    struct problem *p;
    fixture_set(tree, "kernels/0/source_text", NULL);
    assert_int_equal(problem_from_json(tree, spec, NULL, &p, &e), LATHE_OK);
    assert_string_equal(p->kernels[0].source_path, simt);
    assert_has(p->kernels[0].source, "int tile;");
    const char *text = json_string_value(json_object_get(json_array_get(json_object_get(p->json, "kernels"), 0),
                                                         "source_text"));
    assert_string_equal(text, p->kernels[0].source);
    assert_null(json_object_get(json_array_get(json_object_get(tree, "kernels"), 0), "source_text"));
    problem_free(p);

    assert_int_equal(file_write_atomic(inc, "// caf\xe9\n", 8, &e), LATHE_OK);
    assert_int_equal(problem_from_json(tree, spec, NULL, &p, &e), LATHE_SPEC);
    assert_has(e.text, "kernels.simt.source: ");
    assert_has(e.text, "is not UTF-8 text");
    unlink(inc);
    assert_int_equal(problem_from_json(tree, spec, NULL, &p, &e), LATHE_SPEC);
    assert_has(e.text, "simt.cu:1: cannot find \"tile.cuh\"; looked in ");
    unlink(simt);
    assert_int_equal(problem_from_json(tree, spec, NULL, &p, &e), LATHE_SPEC);
    assert_has(e.text, "simt.cu: cannot open");
    rmdir(dir);
    json_decref(tree);
    mem_free(spec);
    mem_free(simt);
    mem_free(inc);
}

static void sizes(void **state)
{
    (void)state;
    struct problem *p = fixture_changed(NULL, NULL);
    struct err e = {0};
    struct strbuf b = {0};
    double flops, bytes;
    problem_size_text(p, &b);
    assert_string_equal(sb_str(&b), "M=128 N=1024 K=512");
    assert_int_equal(problem_set_dim(p, "M", 1, &e), LATHE_OK);
    assert_int_equal(problem_flops(p, &flops, &bytes, &e), LATHE_OK);
    assert_true(flops == 2.0 * 1024 * 512 && bytes == 4.0 * (512 + 1024 * 512 + 1024 + 1024));
    assert_int_equal(problem_set_dim(p, "m", 1, &e), LATHE_USAGE);
    assert_has(e.text, "linear has no dimension 'm'");
    assert_has(e.text, "it has M, N, K");
    assert_int_equal(problem_set_dim(p, "N", 0, &e), LATHE_USAGE);
    assert_has(e.text, "size N=0: expected 1 or more");
    assert_int_equal(problem_set_dim(p, "N", -5, &e), LATHE_USAGE);
    assert_int_equal(problem_set_dim(p, "N", INT64_MAX, &e), LATHE_USAGE);
    assert_has(e.text, "are more than 2^60 bytes");
    assert_int_equal(problem_set_dim(p, "N", INT64_C(1) << 50, &e), LATHE_USAGE);
    assert_has(e.text, "size N=1125899906842624: W: 1125899906842624 x 512 elements of f32 are more than 2^60 bytes");
    assert_int_equal(p->dims[1].value, 1024);
    sb_free(&b);
    problem_free(p);
}

/* A gemm step of X, W (of one type) to Z. */
static void gemm_types(void **state)
{
    static const struct {
        const char *from, *to, *compute;
        enum gemm_compute is;
        const char *refused;
    } cases[] = {
        {"f16", "f16", NULL, GEMM_F32, NULL},
        {"f16", "f32", "\"f32\"", GEMM_F32, NULL},
        {"bf16", "bf16", NULL, GEMM_F32, NULL},
        {"bf16", "f32", NULL, GEMM_F32, NULL},
        {"f32", "f32", NULL, GEMM_F32, NULL},
        {"f32", "f32", "\"bf16\"", GEMM_BF16, NULL},
        {"f32", "f32", "\"f16\"", GEMM_F16, NULL},
        {"f64", "f64", "\"f64\"", GEMM_F64, NULL},
        {"f16", "bf16", NULL, 0, "X, W and Z are f16, f16 and bf16"},
        {"f16", "f64", NULL, 0, "X, W and Z are f16, f16 and f64"},
        {"i32", "i32", NULL, 0, "expected matrices of floats"},
        {"f16", "f16", "\"f16\"", 0, "steps[1].compute: expected 'f32', as the sums are, got the text 'f16'"},
        {"f64", "f64", "\"f32\"", 0, "steps[1].compute: expected 'f64', as the matrices are"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *tree = fixture_tree();
        struct problem *p = NULL;
        struct err e = {0};
        char from[16], to[16];
        snprintf(from, sizeof from, "\"%s\"", cases[i].from);
        snprintf(to, sizeof to, "\"%s\"", cases[i].to);
        fixture_set(tree, "tensors/0/#/1", from);
        fixture_set(tree, "tensors/1/#/1", from);
        fixture_set(tree, "baselines/0/workspace/0/1", to);
        fixture_set(tree, "baselines/1/workspace/0/1", to);
        fixture_set(tree, "baselines/0/steps/0/compute", cases[i].compute);
        status s = problem_from_json(tree, "spec.lua", NULL, &p, &e);
        assert_int_equal(s, cases[i].refused ? LATHE_SPEC : LATHE_OK);
        if (cases[i].refused)
            assert_has(e.text, cases[i].refused);
        else
            assert_int_equal(p->kernels[problem_find_kernel(p, "cublas_tf32")].steps[0].gemm.compute, cases[i].is);
        problem_free(p);
        json_decref(tree);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemm_types),
        cmocka_unit_test(problem_fields),
        cmocka_unit_test(kernels_by_name),
        cmocka_unit_test(kernel_fields),
        cmocka_unit_test(defaults),
        cmocka_unit_test(reference_kernel),
        cmocka_unit_test(tree_is_copied_and_reads_back),
        cmocka_unit_test(sources_are_embedded),
        cmocka_unit_test(sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
