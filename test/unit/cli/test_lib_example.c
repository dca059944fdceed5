/* test_lib_example.c: examples/liblathe, built as its user does, with the shared and with the static library, against a
 * driver whose GPU is the host device (test/unit/lib/host_driver.c): what it computes is right at every size. */
#include "driver/choices.h"

#include "cli/export/export_trials.h"
#include "db/store.h"

static struct choices made;
static char *images[TUNED + 1], *bundle;

/* For the host, in place of PTX; two sizes of one GPU, and the fallback. */
static int example_setup(void **state)
{
    static const int64_t dims[2][3] = {{64, 512, 256}, {128, 512, 256}};
    struct strbuf bytes = {0};
    struct err e = {0};
    if (program_setup(state))
        return -1;
    choices_open(&made);
    made.v[2] = made.v[TUNED];
    for (int i = 0; i < 3; i++) {
        struct export_variant *v = &made.v[i];
        char *why = NULL;
        size_t len = 0;
        for (int d = 0; d < 3 && i < 2; d++)
            made.p[i]->dims[d].value = dims[i][d];
        if (export_image(v->in, "host", &images[i], &len, &why, &e) || why)
            fail_msg("%s", why ? why : e.text);
        v->cubin = (struct export_image){0};
        v->ptx = (struct export_image){.data = images[i], .len = len};
        v->ptx_sm = 0;
    }
    bundle = path_join(program_dir, "linear.lathe");
    if (export_bundle(made.v, 3, "test", &bytes, &e) || file_write_atomic(bundle, bytes.s, bytes.len, &e))
        fail_msg("%s", e.text);
    sb_free(&bytes);
    return 0;
}

static int example_teardown(void **state)
{
    for (int i = 0; i < 3; i++)
        mem_free(images[i]);
    mem_free(bundle);
    choices_close(&made);
    return program_teardown(state);
}

/* What a command says, and whether it succeeded. */
static char *said_by(char *command, bool *good)
{
    struct strbuf said = {0};
    char part[4096];
    FILE *f = popen(command, "r");
    assert_non_null(f);
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
        sb_addn(&said, part, n);
    *good = pclose(f) == 0;
    mem_free(command);
    char *text = mem_strdup(sb_str(&said));
    sb_free(&said);
    return text;
}

static void run_example(const char *library, const char *opened)
{
    static const char *const wanted[] = {"M=128 N=512 K=256: right: kernel simt, TRANSPOSED=false BM=64 BN=64",
                                         "M=64 N=512 K=256: right: kernel simt, TRANSPOSED=false BM=32 BN=32",
                                         "M=130 N=516 K=260: right: kernel simt, TRANSPOSED=false BM=64 BN=64",
                                         "M=3 N=5 K=7: right: the plain kernel that serves every size", "PASS"};
    bool good;
    char *said = said_by(
        mem_printf("${CC:-cc} -std=c11 -Wall -Wextra -Werror -pedantic -Itest/unit/cli/driver -I" BUILD "/include "
                   "examples/liblathe/main.c -o %s/main %s -L" BUILD "/test/host_driver -lcuda -lm 2>&1 && "
                   "LD_LIBRARY_PATH=" BUILD ":" BUILD "/test/host_driver %s/main %s 2>&1",
                   program_dir, library, program_dir, opened),
        &good);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!good || !strstr(said, wanted[i]))
            fail_msg("wanted %s, got:\n%s", wanted[i], said);
    mem_free(said);
}

static void test_shared(void **state)
{
    run_example("-L" BUILD " -llathe", bundle);
}

static void test_static(void **state)
{
    run_example(BUILD "/liblathe.a", bundle);
}

/* The same from a database that it was exported into. */
static void test_database(void **state)
{
    struct err e = {0};
    struct store *store;
    char *db = path_join(program_dir, "lathe.db"), *bytes;
    size_t len;
    if (file_read(bundle, &bytes, &len, &e) || store_open(db, 1, &store, &e) ||
        store_bundle(store, "linear", bytes, len, "test", &e))
        fail_msg("%s", e.text);
    store_close(store);
    run_example("-L" BUILD " -llathe", db);
    mem_free(bytes);
    mem_free(db);
}

/* A program that has nothing of CUDA starts, and is told what is missing: the driver, or where there is one, a context.
 * C++ takes the header as C does, and lib and program need not be linked with the driver. */
static void test_no_driver(void **state)
{
    static const char text[] = "#include <lathe.h>\n#include <stdio.h>\nint main(int argc, char **argv)\n{\n"
                               "    const int64_t size[] = {64, 512, 256};\n    lathe *l;\n    lathe_kernel *k;\n"
                               "    if (lathe_open(argv[1], 0, &l)) return 1;\n"
                               "    printf(\"%d %s\\n\", (int)lathe_select(l, size, 3, 0, 0, &k), lathe_error());\n"
                               "    lathe_close(l);\n    return argc != 2;\n}\n";
    static const char *const compilers[] = {"${CC:-cc} -std=c11", "${CXX:-c++} -std=c++11 -x c++"};
    bool good;
    char *source = path_join(program_dir, "none.c");
    assert_int_equal(file_write_atomic(source, text, strlen(text), NULL), LATHE_OK);
    for (int i = 0; i < 2; i++) {
        char *said = said_by(mem_printf("%s -Wall -Wextra -Werror -pedantic -I" BUILD "/include %s -o %s/none -L" BUILD
                                        " -llathe 2>&1 && LD_LIBRARY_PATH=" BUILD " %s/none %s 2>&1",
                                        compilers[i], source, program_dir, program_dir, bundle), &good);
        if (!good || (!strstr(said, "6 no CUDA driver: libcuda.so.1") && !strstr(said, "7 the calling thread has no")))
            fail_msg("%s", said);
        mem_free(said);
    }
    mem_free(source);
}

/* Nothing but lathe_* can be seen of it, and nothing but the C library is needed. */
static void test_hidden(void **state)
{
    bool good;
    if (system("command -v nm >/dev/null && command -v readelf >/dev/null"))
        skip();
    char *said =
        said_by(mem_printf("nm -D --defined-only " BUILD "/liblathe.so.0 | grep -v ' T lathe_'; "
                           "nm -g --defined-only " BUILD "/liblathe.a 2>&1 | grep -v ' T lathe_' | grep ' '; "
                           "readelf -d " BUILD
                           "/liblathe.so.0 | grep -E 'TEXTREL|NEEDED' | grep -vE 'libc\\.|libm\\.|ld-linux'; true"),
                &good);
    assert_string_equal(said, "");
    mem_free(said);
    said =
        said_by(mem_printf("for f in $(sed -n 's/^LATHE_API.*[ *]\\(lathe_[a-z_]*\\)(.*/\\1/p' tuner/lib/lathe.h); do "
                           "nm -D --defined-only " BUILD "/liblathe.so.0 | grep -q \" $f$\" || echo $f; done; "
                           "readelf -d " BUILD "/liblathe.so.0 | grep -q 'soname: \\[liblathe.so.0\\]' || echo soname"),
                &good);
    assert_string_equal(said, "");
    mem_free(said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shared), cmocka_unit_test(test_static),
                                       cmocka_unit_test(test_database), cmocka_unit_test(test_no_driver),
                                       cmocka_unit_test(test_hidden)};
    return cmocka_run_group_tests(tests, example_setup, example_teardown);
}
