/* test_source.c: assembly of sources, macros of a configuration, the text of generated epilogues and types. */
#include "source_fixture.h"

#include "model/source.h"
#include <sys/stat.h>

static void put_free(const char *name, const char *text)
{
    mem_free(put(name, text));
}

static void assembles(void **state)
{
    (void)state;
    char *path =
             put("k/main.cu", "#include \"a.cuh\"\n  #  include\t\"sub/b.cuh\" // why\n#include <math.h>\nint main;"),
         *shared = path_join(dir, "shared");
    put_free("k/a.cuh", "#pragma once\n#include \"main.cu\"\n#include \"c.cuh\"\nint a;\n#pragma unroll\n");
    put_free("k/sub/b.cuh", "#include \"../a.cuh\"\n#include \"c.cuh\"\nint b;");
    put_free("shared/c.cuh",
             "/* #include \"no.cuh\"\n#include \"neither.cuh\"\n*/ char q = '\"'; // \" /*\n#include \"d.cuh\"\n");
    put_free("shared/d.cuh", "const char *s = \"/*\";\n// #include \"no.cuh\"\n#include_next \"x\"\n");
    const char *dirs[] = {"/nonexistent", shared, NULL};
    char *text = NULL;
    struct err e = {0};
    if (source_assemble(path, dirs, &text, &e))
        fail_msg("%s", e.text);
    assert_string_equal(text,
        "// --- main.cu\n#line 1 \"main.cu\"\n"
        "// --- a.cuh\n#line 1 \"a.cuh\"\n"
        "#line 2 \"a.cuh\"\n"                           /* its #pragma once */
        "#line 3 \"a.cuh\"\n"                           /* main.cu is there already */
        "// --- c.cuh\n#line 1 \"c.cuh\"\n"
        "/* #include \"no.cuh\"\n#include \"neither.cuh\"\n*/ char q = '\"'; // \" /*\n"
        "// --- d.cuh\n#line 1 \"d.cuh\"\n"
        "const char *s = \"/*\";\n// #include \"no.cuh\"\n#include_next \"x\"\n"
        "// --- end of d.cuh\n#line 5 \"c.cuh\"\n"
        "// --- end of c.cuh\n#line 4 \"a.cuh\"\n"
        "int a;\n#pragma unroll\n"
        "// --- end of a.cuh\n#line 2 \"main.cu\"\n"
        "// --- sub/b.cuh\n#line 1 \"sub/b.cuh\"\n"
        "#line 2 \"sub/b.cuh\"\n#line 3 \"sub/b.cuh\"\n"
        "int b;\n"
        "// --- end of sub/b.cuh\n#line 3 \"main.cu\"\n"
        "#include <math.h>\nint main;\n"
        "// --- end of main.cu\n");
    mem_free(text);
    mem_free(path);
    mem_free(shared);
}

/* What a person reads has no #line; what a compiler reads names no folder. */
static void marks_no_places(void **state)
{
    (void)state;
    char *inner = put("k/ab\"s.cuh", "int inner;\n"), *text = NULL;
    char *main_text = mem_printf("int x;\n#include \"%s/k/abs.cuh\"\n  #line 7 \"kept\"\nint y;", dir);
    put_free("k/abs.cuh", "int z;\n");
    char *path = put("k/outer.cu", main_text);
    struct strbuf plain = {0};
    struct err e = {0};
    if (source_assemble(path, NULL, &text, &e))
        fail_msg("%s", e.text);
    assert_has(text, "#line 1 \"abs.cuh\"\nint z;\n");
    assert_has(text, "#line 3 \"outer.cu\"\n  #line 7");
    source_print_plain(&plain, text);
    assert_null(strstr(sb_str(&plain), "\n#line"));
    assert_has(sb_str(&plain), "// --- outer.cu\nint x;\n");
    assert_has(sb_str(&plain), "  #line 7 \"kept\"\nint y;\n// --- end of outer.cu\n");
    sb_free(&plain);
    mem_free(text);
    assert_int_equal(source_assemble(inner, NULL, &text, &e), LATHE_OK);
    assert_has(text, "#line 1 \"ab_s.cuh\"\n");
    mem_free(text);
    source_print_plain(&plain, "#line 1 \"a\"\nx\n#line 2 \"b\"");
    assert_string_equal(sb_str(&plain), "x\n");
    sb_free(&plain);
    mem_free(main_text);
    mem_free(inner);
    mem_free(path);
}

/* A program without kernels/common has its headers: the same text, each once, and a file of the name comes before
 * it. */
static void own_headers(void **state)
{
    (void)state;
    static const char *const include[] = {"kernels/common", NULL}; /* tests run in the root of the repository */
    static const char *const names[] = {"lathe.cuh", "mma.cuh", "split.cuh", "hopper.cuh", "wgmma.cuh"};
    char *main_text =
             put("own.cu", "#include \"lathe.cuh\"\n#include \"wgmma.cuh\"\n#include \"mma.cuh\"\nint last;\n"),
         *with, *without;
    struct err e;
    assert_int_equal(source_assemble(main_text, include, &with, &e), LATHE_OK);
    assert_int_equal(source_assemble(main_text, NULL, &without, &e), LATHE_OK);
    assert_string_equal(with, without);
    assert_has(without, "int last;");
    mem_free(with);
    mem_free(without);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *file, *path = mem_printf("kernels/common/%s", names[i]);
        assert_int_equal(file_read(path, &file, NULL, &e), LATHE_OK);
        assert_string_equal(file, source_common(names[i]));
        mem_free(file);
        mem_free(path);
    }
    assert_null(source_common("types.cuh"));
    /* what they include is theirs too, whatever the folder is that somebody works in */
    char *here = realpath(".", NULL);
    mem_free(put("stray/split.cuh", "int stray;\n"));
    char *stray = path_join(dir, "stray");
    assert_int_equal(chdir(stray), 0);
    assert_int_equal(source_assemble(main_text, NULL, &without, &e), LATHE_OK);
    assert_int_equal(chdir(here), 0);
    assert_null(strstr(without, "int stray;"));
    mem_free(without);
    mem_free(stray);
    free(here);
    mem_free(put("lathe.cuh", "int mine;\n"));
    assert_int_equal(source_assemble(main_text, NULL, &without, &e), LATHE_OK);
    assert_has(without, "int mine;");
    mem_free(without);
    mem_free(main_text);
}

static void bad_sources(void **state)
{
    (void)state;
    char *text = NULL, *missing = put("m.cu", "int x;\n#include \"gone.cuh\"\n"),
         *open = put("o.cu", "#include \"gone\n"), *empty = put("e.cu", "#include \"\"\n"),
         *self = put("self.cu", "#include \"./self.cu\"\nint once;\n");
    const char *dirs[] = {"/nonexistent", NULL};
    struct err e;
    assert_int_equal(source_assemble(missing, dirs, &text, &e), LATHE_SPEC);
    assert_has(e.text, "m.cu:2: cannot find \"gone.cuh\"; looked in /tmp/lathe-source-");
    assert_has(e.text, ", /nonexistent");
    assert_int_equal(source_assemble(missing, NULL, &text, &e), LATHE_SPEC);
    assert_int_equal(source_assemble(open, dirs, &text, &e), LATHE_SPEC);
    assert_has(e.text, "o.cu:1: expected #include \"file\"");
    assert_int_equal(source_assemble(empty, dirs, &text, &e), LATHE_SPEC);
    assert_int_equal(source_assemble("/nonexistent.cu", dirs, &text, &e), LATHE_IO);
    assert_has(e.text, "/nonexistent.cu: cannot open");
    assert_int_equal(source_assemble(dir, dirs, &text, &e), LATHE_IO);
    assert_null(text);
    assert_int_equal(source_assemble(self, dirs, &text, &e), LATHE_OK);
    assert_string_equal(text,
                        "// --- self.cu\n#line 1 \"self.cu\"\n#line 2 \"self.cu\"\nint once;\n// --- end of self.cu\n");
    mem_free(text);
    text = NULL;
    assert_int_equal(file_write_atomic(self, "a\0b", 3, &e), LATHE_OK);
    assert_int_equal(source_assemble(self, dirs, &text, &e), LATHE_SPEC);
    assert_has(e.text, "self.cu: holds a NUL byte");
    char name[24], body[60];
    for (int i = 0; i < 70; i++) {                  /* a chain that is too deep */
        snprintf(name, sizeof name, "deep%d.cuh", i);
        snprintf(body, sizeof body, "#include \"deep%d.cuh\"\n", i + 1);
        put_free(name, body);
    }
    char *deep = path_join(dir, "deep0.cuh");
    assert_int_equal(source_assemble(deep, dirs, &text, &e), LATHE_SPEC);
    assert_has(e.text, "includes nest more than 64 deep");
    assert_null(text);
    mem_free(deep);
    mem_free(missing);
    mem_free(open);
    mem_free(empty);
    mem_free(self);
}

static void defines(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "LATHE_BM=128",
        "LATHE_SPLIT_K=4",
        "LATHE_REDUCE=1",
        "LATHE_REDUCE_second_kernel=0",
        "LATHE_REDUCE_last_block=1",
        "LATHE_PADDED=1",
        "LATHE_ALPHA=(-1.5)",
        "LATHE_LET_threads=64",
        "LATHE_LET_smem=16384",
        "LATHE_LET_big=1",
    };
    struct problem *p = fixture_changed(NULL, NULL);
    config_choice c[8];
    char **list;
    int n;
    struct value *slots =
        fixture_slots(p, &p->kernels[0], "BM=128 SPLIT_K=4 REDUCE=last_block PADDED=true ALPHA=-1.5", c);
    assert_int_equal(source_defines(&p->kernels[0], slots, &list, &n, NULL), LATHE_OK);
    assert_int_equal(n, sizeof expected / sizeof expected[0]);
    for (int i = 0; i < n; i++)
        assert_string_equal(list[i], expected[i]);
    source_defines_free(list, n);
    mem_free(slots);
    problem_free(p);

    p = fixture_changed("kernels/0/params/1/1", "[-9223372036854775808, -2]");
    slots = fixture_slots(p, &p->kernels[0], "BM=32 SPLIT_K=-9223372036854775808 PADDED=false ALPHA=0.5", c);
    assert_int_equal(source_defines(&p->kernels[0], slots, &list, &n, NULL), LATHE_OK);
    assert_string_equal(list[1], "LATHE_SPLIT_K=(-9223372036854775807-1)");
    assert_string_equal(list[2], "LATHE_REDUCE=0");     /* inactive: its first value */
    source_defines_free(list, n);
    mem_free(slots);
    problem_free(p);
}

static void epilogue_text(void **state)
{
    (void)state;
    struct problem *p = fixture_changed("epilogue", "\"s * z\\n* sigmoid(z) \"");
    struct strbuf b = {0};
    assert_int_equal(source_epilogue(p, &b, NULL), LATHE_OK);
    assert_has(sb_str(&b), "// z -> s * z * sigmoid(z)");
    assert_has(sb_str(&b), "struct LatheEpilogue {\n    const float *b; // [N]\n    float s;\n");
    assert_has(sb_str(&b), "    __device__ __forceinline__ float operator()(float acc, int m, int n) const\n");
    assert_has(sb_str(&b), "float z = acc + b[n];\n");
    sb_free(&b);
    assert_int_equal(source_epilogue_reference(p, &b, NULL), LATHE_OK);
    assert_has(sb_str(&b), "struct LatheEpilogueRef {\n    const float *b; // [N]\n    float s;\n");
    assert_has(sb_str(&b), "double operator()(double acc, int m, int n) const\n");
    assert_has(sb_str(&b), "double z = acc + (double)b[n];\n");
    sb_free(&b);
    problem_free(p);
    json_t *tree = fixture_tree();
    fixture_set(tree, "tensors/4", "[\"R\", \"f32\", [\"K\", \"M\", \"N\"]]");
    fixture_set(tree, "epilogue", "\"z + R[m % K, m, n]\"");
    p = fixture_problem(tree);
    assert_int_equal(source_epilogue(p, &b, NULL), LATHE_OK);
    assert_has(sb_str(&b), " * M + m) * N + n]");
    sb_free(&b);
    problem_free(p);
}

/* What stands before the struct: each tensor's type. */
static void types_text(void **state)
{
    (void)state;
    json_t *tree = fixture_tree();
    struct strbuf b = {0};
    char line[100];
    fixture_set(tree, "tensors/2/#/1", "\"bf16\"");
    fixture_set(tree, "tensors/3/#/1", "\"f16\"");
    struct problem *p = fixture_problem(tree);
    assert_int_equal(source_epilogue(p, &b, NULL), LATHE_OK);
    const char *const types[] = {"f32", "f64", "i32", "u32", "f16", "bf16", "u8"};
    for (int i = 0; i < (int)(sizeof types / sizeof *types); i++) {
        snprintf(line, sizeof line, "#define LATHE_DTYPE_%s %d\n", types[i], dtype_parse(types[i]));
        assert_has(sb_str(&b), line);
    }
    assert_has(sb_str(&b), "typedef float LatheType_X;\n");
    assert_has(sb_str(&b), "typedef lathe_bf16 LatheType_b;\n");
    snprintf(line, sizeof line, "#define LATHE_DTYPE_Y %d\ntypedef lathe_f16 LatheType_Y;\n", DTYPE_f16);
    assert_has(sb_str(&b), line);
    assert_has(sb_str(&b), "    const lathe_bf16 *b; // [N]\n");
    assert_has(sb_str(&b), "float z = acc + lathe_to_float(b[n]);\n");
    sb_free(&b);
    problem_free(p);
}

static void fields(void **state)
{
    (void)state;
    json_t *tree = fixture_tree();
    fixture_set(tree, "scalars/1", "[\"unused\", 3]");
    fixture_set(tree, "tensors/4", "[\"R\", \"f32\", [\"M\", \"N\"]]");
    fixture_set(tree, "epilogue", "\"s * z + R[m, n] + K\"");
    struct problem *p = fixture_problem(tree);
    struct field *f;
    int n;
    epilogue_fields(p, &f, &n);
    assert_int_equal(n, 5);
    assert_true(f[0].kind == FIELD_TENSOR && f[0].index == 2);      /* b, the bias */
    assert_true(f[1].kind == FIELD_TENSOR && f[1].index == 4);      /* R */
    assert_true(f[2].kind == FIELD_DIM && f[2].index == 1);         /* N, to index R */
    assert_true(f[3].kind == FIELD_DIM && f[3].index == 2);         /* K, in the formula */
    assert_true(f[4].kind == FIELD_SCALAR && f[4].index == 0);
    mem_free(f);
    problem_free(p);
    tree = fixture_tree();
    fixture_set(tree, "epilogue", NULL);
    fixture_set(tree, "reference/bias", NULL);
    p = fixture_problem(tree);
    epilogue_fields(p, &f, &n);
    assert_int_equal(n, 0);
    mem_free(f);
    problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(assembles),
        cmocka_unit_test(marks_no_places),
        cmocka_unit_test(own_headers), cmocka_unit_test(bad_sources),
        cmocka_unit_test(defines),
        cmocka_unit_test(epilogue_text),
        cmocka_unit_test(types_text),
        cmocka_unit_test(fields),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
