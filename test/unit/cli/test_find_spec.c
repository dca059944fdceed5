/* test_find_spec.c: where specifications are found, in a folder of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "cli/args/find_spec.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Holds work/kernels/{linear,conv,bench,common}, env/{mine,linear}, dist/{bin,kernels/far}. */
static char root[64];

static void put(const char *path)
{
    char *full = path_join(root, path), *dir = path_dirname(full);
    struct err e;
    assert_int_equal(dir_make(dir, &e), LATHE_OK);
    assert_int_equal(file_write_atomic(full, "return 1\n", 9, &e), LATHE_OK);
    mem_free(full);
    mem_free(dir);
}

static int setup(void **state)
{
    strcpy(root, "/tmp/lathe_find_spec_XXXXXX");
    assert_non_null(mkdtemp(root));
    put("work/kernels/linear/spec.lua");
    put("work/kernels/conv/spec.lua");
    put("work/kernels/common/x.cuh");
    put("work/kernels/notes/readme");
    put("work/kernels/linear/part.lua");
    put("work/kernels/bench/9.lua");
    put("work/kernels/bench/12.lua");
    put("work/kernels/bench/deep/spec.lua");
    put("work/kernels/bench/deep/part.lua");
    put("work/kernels/bench/notes.txt");
    put("work/kernels/flat.lua");
    put("work/own/spec.lua");
    put("work/empty/readme");
    put("work/single.lua");
    put("env/mine/spec.lua");
    put("env/linear/spec.lua");
    put("dist/bin/lathe");
    put("dist/kernels/far/spec.lua");
    put("dist/kernels/common/y.cuh");
    char *work = path_join(root, "work");
    assert_int_equal(chdir(work), 0);
    mem_free(work);
    unsetenv("LATHE_KERNELS");
    return 0;
}

static int teardown(void **state)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return chdir("/") + system(command);
}

/* Finds `name` with this binary in dist/bin; the path relative to root, or "" with the message in *e. */
static char *find(const char *name, struct err *e, int *includes)
{
    char *self = path_join(root, "dist/bin/lathe");
    struct spec_place place;
    *e = (struct err){0};
    status s = spec_find(name, self, &place, e);
    mem_free(self);
    *includes = 0;
    for (char **d = place.include_dirs; d && *d; d++)
        ++*includes;
    char *path = mem_strdup(s == LATHE_OK ? place.path : "");
    spec_place_free(&place);
    return path;
}

static void expect(const char *name, const char *ending, int includes)
{
    struct err e;
    int n;
    char *path = find(name, &e, &n);
    size_t len = strlen(path), want = strlen(ending);
    assert_true(len >= want);
    assert_string_equal(path + len - want, ending);
    if (*ending)
        assert_int_equal(n, includes);
    mem_free(path);
}

static void found(void **state)
{
    expect("linear", "kernels/linear/spec.lua", 2);
    expect("single.lua", "single.lua", 2);
    expect("own", "own/spec.lua", 2);
    expect("./own/spec.lua", "./own/spec.lua", 2);
    expect("kernels/conv", "kernels/conv/spec.lua", 2);
    expect("bench/9", "kernels/bench/9.lua", 2);
    expect("bench/12", "kernels/bench/12.lua", 2);
    expect("bench/deep", "kernels/bench/deep/spec.lua", 2);
    expect("flat", "kernels/flat.lua", 2);
    expect("kernels/bench/9.lua", "kernels/bench/9.lua", 2);
    expect("far", "dist/bin/../kernels/far/spec.lua", 2);
}

static void environment_first(void **state)
{
    char *env = mem_printf("/nowhere:%s/env:", root);
    setenv("LATHE_KERNELS", env, 1);
    expect("linear", "env/linear/spec.lua", 2);
    expect("mine", "env/mine/spec.lua", 2);
    expect("conv", "kernels/conv/spec.lua", 2);
    unsetenv("LATHE_KERNELS");
    mem_free(env);
}

#define NAMES "bench/9, bench/12, bench/deep, conv, flat, linear, far"

static void not_found(void **state)
{
    static const struct {
        const char *name, *message;
    } cases[] = {
        {"lineer", "there is no specification 'lineer'\ndid you mean 'linear'? There are: " NAMES},
        {"zzzzzzzz", "there is no specification 'zzzzzzzz'\nthere are: " NAMES "; or give the path of a .lua file"},
        {"bench/13", "there is no specification 'bench/13'\ndid you mean 'bench/12'? There are: " NAMES},
        {"linear/part",
         "there is no specification 'linear/part'\nthere are: " NAMES "; or give the path of a .lua file"},
        {"bench/deep/part", "bench/deep/part: no such specification file"},
        {"bench/../flat", "bench/../flat: no such specification file"},
        {"bench/.", "bench/.: no such specification file"},
        {"/bench/9", "/bench/9: no such specification file"},
        {"gone.lua", "gone.lua: no such specification file"},
        {"some/where", "there is no specification 'some/where'\nthere are: " NAMES "; or give the path of a .lua file"},
        {"empty", "empty: the folder has no spec.lua\n"
                  "SPEC is a .lua or .json file, a folder with a spec.lua, or the name of one in a kernels directory"},
        {"notes", "there is no specification 'notes'\nthere are: " NAMES "; or give the path of a .lua file"},
        {"..", "..: the folder has no spec.lua\n"
               "SPEC is a .lua or .json file, a folder with a spec.lua, or the name of one in a kernels directory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err e;
        int n;
        char *path = find(cases[i].name, &e, &n);
        assert_string_equal(path, "");
        assert_int_equal(e.code, LATHE_USAGE);
        assert_string_equal(e.text, cases[i].message);
        mem_free(path);
    }
}

/* Reading a pipe waits for its writer; a name that cannot be looked at is not absent. */
static void no_file(void **state)
{
    assert_int_equal(symlink("loop.lua", "loop.lua"), 0);
    assert_int_equal(mkfifo("pipe.lua", 0600), 0);
    assert_int_equal(mkdir("pipes", 0700), 0);
    assert_int_equal(mkfifo("pipes/spec.lua", 0600), 0);
    static const char *const cases[][2] = {
        {"loop.lua", "loop.lua: cannot open: Too many levels of symbolic links"},
        {"pipe.lua", "pipe.lua: is no regular file\nSPEC is a .lua or .json file"},
        {"pipes", "pipes/spec.lua: is no regular file\nSPEC is a .lua or .json file"},
        {"/dev/null", "/dev/null: is no regular file\nSPEC is a .lua or .json file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err e;
        int n;
        char *path = find(cases[i][0], &e, &n);
        assert_string_equal(path, "");
        assert_int_equal(e.code, LATHE_USAGE);
        assert_memory_equal(e.text, cases[i][1], strlen(cases[i][1]));
        mem_free(path);
    }
}

static void no_directories(void **state)
{
    assert_int_equal(chdir("/"), 0);
    struct spec_place place;
    struct err e = {0};
    assert_int_equal(spec_find("linear", "/nowhere/bin/lathe", &place, &e), LATHE_USAGE);
    assert_string_equal(e.text, "there is no specification 'linear'\nno kernels directory was found: set LATHE_KERNELS "
                                "to one, or give the path of a .lua file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found),
        cmocka_unit_test(environment_first),
        cmocka_unit_test(not_found),
        cmocka_unit_test(no_file),
        cmocka_unit_test(no_directories),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
