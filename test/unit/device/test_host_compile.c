/* test_host_compile.c: .cu text to image: what is refused and how it is said, which compiler is taken, which kernels
 * are found, and that nothing is left behind. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "device/host/host_child.h"
#include "device/host/host_compile.h"
#include "device/host/host_scan.h"
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static int setup(void **state)
{
    snprintf(folder, sizeof folder, "/tmp/lathe-compile-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int files_in_folder(void)
{
    int n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *f; (f = readdir(d));) n += f->d_name[0] != '.';
    closedir(d);
    return n;
}

static int teardown(void **state) { return rmdir(folder); }

static void must_say(const char *text, const char *words)
{
    if (!text || !strstr(text, words)) fail_msg("'%s' does not say '%s'", text ? text : "(nothing)", words);
}

/* Compiles; gives the log (mem_free it). The image must be there or not, as `ok` says, and nothing else. */
static char *compile(const char *source, bool ok)
{
    char *image = path_join(folder, "x.so"), *defines[] = {"LATHE_BM=128", "LATHE_F=0x1p-3"};
    struct jit_request r = {.source = source, .name = "linear/\"x\".cu", .defines = defines, .ndefines = 2,
                            .arch = "host", .image_path = image};
    struct jit_outcome out;
    struct err e = {0};
    if (host_compile(&r, &out, &e)) fail_msg("%s", e.text);
    if (out.ok != ok) fail_msg("compiled: %d; %s", out.ok, out.log ? out.log : "");
    assert_int_equal(file_exists(image), ok);
    assert_int_equal(files_in_folder(), ok);
    unlink(image);
    mem_free(image);
    return out.log;
}

static void test_accepted(void **state)
{
    char *log = compile("#pragma once\n"
                        "#if LATHE_HOST != 1 || __CUDA_ARCH__ >= 700 || defined __CUDACC__ || LATHE_BM != 128\n"
                        "#error no\n#endif\n"
                        "extern \"C\" __global__ void k(float *y) {\n#pragma unroll 2\n"
                        "for (int i = 0; i < 4; i++) y[i] = LATHE_F; }", true);
    assert_null(log);
}

/* Functions of a kernel's name beside it: they are not what is called. */
static void test_overloaded(void **state)
{
    char *log = compile("__device__ void k(int) { }\n"
                        "template <class T> __device__ void k(T *, T *) { }\n"
                        "struct pair { int a, b; };\n"
                        "extern \"C\" __global__ void k(float *y, pair p, int n = 4) { k(n); k(y, y); }\n"
                        "__device__ void k(double) { }", true);
    assert_null(log);
}

static void test_refused(void **state)
{
    static const struct {
        const char *source, *words;
    } cases[] = {
        {"extern \"C\" __global__ void k(float *y) {\n  y[0] = nonsense;\n}\n", "linear/_x_.cu:2:"},
        {"extern \"C\" __global__ void k(float *y) {\n  y[0] = nonsense;\n}\n", "nonsense"},
        {"\n#error these parameters do not fit\n", "these parameters do not fit"},
        {"static_assert(LATHE_BM == 64, \"tile too large\");", "tile too large"},
        {"#include <no/such/header.h>\n", "no/such/header.h"},
        {"__device__ float f(float);\nextern \"C\" __global__ void k(float *y) { *y = f(*y); }", "f(float)"},
        {"extern \"C\" __global__ void k(float *y) { extern __shared__ float s[]; *y = *s; }", "LATHE_DYNAMIC_SHARED"},
        {"extern \"C\" __global__ void k(float *y) { asm volatile(\"bar.sync 0;\"); }", "bar.sync"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *log = compile(cases[i].source, false);
        must_say(log, cases[i].words);
        mem_free(log);
    }
}

static void test_no_folder(void **state)
{
    struct jit_request r = {.source = "", .name = "x.cu", .arch = "host", .image_path = "/nonexistent/folder/x.so"};
    struct jit_outcome out;
    struct err e = {0};
    assert_int_equal(host_compile(&r, &out, &e), LATHE_IO);
    must_say(e.text, "/nonexistent/folder/x.so");
    assert_false(out.ok);
}

/* Sets or (NULL) unsets; gives what it was. mem_free it. */
static char *change(const char *name, const char *value)
{
    char *before = mem_strdup(getenv(name));
    if (value) setenv(name, value, 1);
    else unsetenv(name);
    return before;
}

static void restore(const char *name, char *value)
{
    mem_free(change(name, value));
    mem_free(value);
}

static void test_which_compiler(void **state)
{
    char path[300], version[100];
    struct err e = {0};
    char *cxx = change("CXX", "/nonexistent/c++ -O0");
    assert_int_equal(host_compiler_path(path, sizeof path, &e), LATHE_COMPILER);
    must_say(e.text, "CXX names '/nonexistent/c++'");
    must_say(e.text, "unset it");
    mem_free(change("CXX", "/bin/false"));
    assert_int_equal(host_toolchain(version, sizeof version, &e), LATHE_COMPILER);
    must_say(e.text, "'/bin/false --version' failed (exit code 1)");
    mem_free(change("CXX", NULL));
    char *search = change("PATH", "/nonexistent:");
    assert_int_equal(host_compiler_path(path, sizeof path, &e), LATHE_COMPILER);
    must_say(e.text, "none of c++, g++, clang++ is in PATH (/nonexistent:)");
    must_say(e.text, "apt install g++");
    restore("PATH", search);
    if (host_compiler_path(path, sizeof path, &e)) fail_msg("%s", e.text);
    must_say(path, "/c++");
    mem_free(change("CXX", "  c++ "));
    if (host_compiler_path(path, sizeof path, &e)) fail_msg("%s", e.text);
    must_say(path, "/c++");
    restore("CXX", cxx);
}

static void test_toolchain(void **state)
{
    char first[128], second[128], other[128], version[128];
    struct err e = {0};
    char *cxx = change("CXX", NULL);
    if (host_toolchain(first, sizeof first, &e) || host_toolchain(second, sizeof second, &e)) fail_msg("%s", e.text);
    if (host_compiler_version(version, sizeof version, &e)) fail_msg("%s", e.text);
    assert_string_equal(first, second);
    must_say(first, version);
    must_say(first, ", options ");
    mem_free(change("CXX", "c++ -O3"));
    if (host_toolchain(other, sizeof other, &e)) fail_msg("%s", e.text);
    assert_string_not_equal(first, other);
    assert_int_equal(host_toolchain(other, 10, &e), LATHE_INTERNAL);
    restore("CXX", cxx);
}

static void test_scan(void **state)
{
#define G "lathe_host_global__"
    static const struct {
        const char *text, *kernels[3];
    } cases[] = {
        {"extern \"C\" " G " void k(int *p) { }", {"k(int *p)"}},
        {"extern \"C\" void " G " k(int *p) { }", {"k(int *p)"}},
        {"# 1 \"a.cu\"\nextern \"C\"\n# 2 \"a.cu\"\n" G " void\n"
         "__attribute__((noinline)) k(int (*f)(int), int n = (3))\n{ }", {"k(int (*f)(int), int n = (3))"}},
        {"extern \"C\" { " G " void a() { if (1) { } } int x; " G " void b() { } } " G " void c() { }", {"a()", "b()"}},
        {"extern \"C\" " G " void declared(int); extern \"C\" " G " void defined(int) { }", {"defined(int)"}},
        {"extern \"C\" int f() { return 0; } " G " void not_c() { }", {NULL}},
        {"extern int \"C\"; " G " void not_c() { }", {NULL}},
        {"const char *s = \"extern \\\"C\\\" " G " void in_string() { }\"; extern \"C\" " G " void k() { }", {"k()"}},
        {"const char *s = R\"y(\" { )y\"; char c = '\"', d = '{'; int n = 1'000'000;"
         "extern \"C\" " G " void k() { }", {"k()"}},
        {"namespace n { extern \"C\" " G " void inside() { } }", {NULL}},
        {"#pragma omp \" {\nextern \"C\" " G " void k() { }", {"k()"}},
        {G, {NULL}},
        {"extern \"C\" " G " void k(", {NULL}},
        {"", {NULL}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = mem_strdup(cases[i].text);
        struct strbuf calls = {0}, want = {0};
        int found = host_scan(text, &calls), expected = 0;
        for (; cases[i].kernels[expected]; expected++) {
            const char *k = cases[i].kernels[expected];
            int n = (int)strcspn(k, "(");
            sb_addf(&want, "namespace lathe_kernel_%.*s { extern \"C\" void %s; }\n"
                    "extern \"C\" __attribute__((visibility(\"default\"))) void lathe_call_%.*s(void **args) { "
                    "lathe_host_call(lathe_kernel_%.*s::%.*s, args); }\n", n, k, k, n, k, n, k, n, k);
        }
        assert_string_equal(sb_str(&calls), sb_str(&want));
        assert_int_equal(found, expected);
        assert_int_equal(strlen(text), strlen(cases[i].text));
        if (!strstr(cases[i].text, "in_string")) assert_null(strstr(text, G));
        sb_free(&calls);
        sb_free(&want);
        mem_free(text);
    }
}

static void test_child(void **state)
{
    struct strbuf out = {0};
    struct err e = {0};
    int code;
    char *say[] = {"/bin/sh", "-c", "cat; echo out; echo err >&2; echo $LC_ALL; exit 3", NULL};
    if (host_child_run(say, NULL, 0, &out, &code, &e)) fail_msg("%s", e.text);
    assert_int_equal(code, 3);
    assert_string_equal(sb_str(&out), "out\nerr\nC\n");
    char *tell[] = {"/bin/sh", "-c", "echo $TMPDIR", NULL};
    setenv("TMPDIR", "/elsewhere", 1);
    sb_free(&out);
    if (host_child_run(tell, "/some/where/", 0, &out, &code, &e)) fail_msg("%s", e.text);
    if (host_child_run(tell, NULL, 0, &out, &code, &e)) fail_msg("%s", e.text);
    assert_string_equal(sb_str(&out), "/some/where/\n/elsewhere\n");
    unsetenv("TMPDIR");
    char *die[] = {"/bin/sh", "-c", "kill -SEGV $$", NULL};
    if (host_child_run(die, NULL, 0, &out, &code, &e)) fail_msg("%s", e.text);
    assert_int_equal(code, 128 + SIGSEGV);
    sb_free(&out);
    char *much[] = {"/usr/bin/seq", "1", "30000", NULL};
    if (host_child_run(much, NULL, 0, &out, &code, &e)) fail_msg("%s", e.text);
    assert_int_equal(code, 0);
    assert_in_range(out.len, CHILD_OUTPUT, CHILD_OUTPUT + 100);
    must_say(sb_str(&out), "bytes more");
    char *none[] = {"/nonexistent/program", NULL};
    assert_int_equal(host_child_run(none, NULL, 0, &out, &code, &e), LATHE_COMPILER);
    must_say(e.text, "/nonexistent/program cannot be run: No such file or directory");
    sb_free(&out);
}

static long number_in(const char *path)
{
    FILE *f = fopen(path, "r");
    long n = 0;
    if (f && fscanf(f, "%ld", &n) != 1) n = 0;
    if (f) fclose(f);
    return n;
}

/* A zombie that nobody has collected has an empty command line. */
static bool runs(pid_t pid)
{
    char *path = mem_printf("/proc/%ld/cmdline", (long)pid);
    FILE *f = fopen(path, "r");
    bool any = f && fgetc(f) != EOF;
    if (f) fclose(f);
    mem_free(path);
    return any;
}

/* The caller is killed: the program and what it started must go too. */
static void test_child_dies_with_caller(void **state)
{
    char *path = path_join(folder, "pid"), *script = mem_printf("sleep 100 & echo $! > %s; wait", path);
    pid_t caller = fork();
    if (caller == 0) {
        struct strbuf out = {0};
        int code;
        char *argv[] = {"/bin/sh", "-c", script, NULL};
        host_child_run(argv, NULL, 0, &out, &code, NULL);
        _exit(0);
    }
    double start = clock_seconds();
    pid_t sleeper = 0;
    while (!(sleeper && runs(sleeper)) && clock_seconds() - start < 10) {
        clock_sleep(0.01);
        sleeper = (pid_t)number_in(path);
    }
    assert_true(sleeper > 0 && runs(sleeper));
    kill(caller, SIGKILL);
    waitpid(caller, NULL, 0);
    start = clock_seconds();
    while (runs(sleeper) && clock_seconds() - start < 10) clock_sleep(0.01);
    assert_false(runs(sleeper));
    unlink(path);
    mem_free(script);
    mem_free(path);
}

static pid_t await_sleeper(const char *path)
{
    double start = clock_seconds();
    pid_t sleeper = 0;
    while (!sleeper && clock_seconds() - start < 10) {
        sleeper = (pid_t)number_in(path);
        if (!sleeper) clock_sleep(0.01);
    }
    return sleeper;
}

/* A program that ended, though what it started holds its output open: that is ended too, unless it has a session of its
 * own, as a server has. */
static void test_child_leaves_something(void **state)
{
    char *path = path_join(folder, "pid");
    static char *const scripts[] = {"echo said; sleep 100 & echo $! > $0; exit 5",
                                    "echo said; setsid sleep 100 & echo $! > $0; exit 5"};
    for (int server = 0; server < 2; server++) {
        char *argv[] = {"/bin/sh", "-c", scripts[server], path, NULL};
        struct strbuf out = {0};
        struct err e = {0};
        int code;
        double start = clock_seconds();
        assert_int_equal(host_child_run(argv, NULL, 20, &out, &code, &e), LATHE_OK);
        assert_true(clock_seconds() - start < 10);
        assert_int_equal(code, 5);
        assert_string_equal(sb_str(&out), "said\n");
        pid_t sleeper = await_sleeper(path);
        assert_true(sleeper > 0);
        start = clock_seconds();
        while (!server && runs(sleeper) && clock_seconds() - start < 10) clock_sleep(0.01);
        if (server) kill(sleeper, SIGKILL);
        else assert_false(runs(sleeper));
        unlink(path);
        sb_free(&out);
    }
    mem_free(path);
}

/* A program that hangs, and one that has closed its outputs and hangs: ended in time, with all that they started. */
static void test_child_in_time(void **state)
{
    char *path = path_join(folder, "pid");
    static char *const scripts[] = {"sleep 100 & echo $! > $0; wait",
                                    "exec >&- 2>&-; sleep 100 & echo $! > $0; wait"};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        char *argv[] = {"/bin/sh", "-c", scripts[i], path, NULL};
        struct strbuf out = {0};
        struct err e = {0};
        int code;
        double start = clock_seconds();
        assert_int_equal(host_child_run(argv, NULL, 0.5, &out, &code, &e), LATHE_COMPILER);
        must_say(e.text, "/bin/sh did not end within 0.5 s");
        assert_true(clock_seconds() - start < 20);
        pid_t sleeper = await_sleeper(path);
        start = clock_seconds();
        while (runs(sleeper) && clock_seconds() - start < 10) clock_sleep(0.01);
        assert_true(sleeper > 0 && !runs(sleeper));
        unlink(path);
        sb_free(&out);
    }
    char *quick[] = {"/bin/sh", "-c", "echo out; exit 3", NULL};
    struct strbuf out = {0};
    struct err e = {0};
    int code;
    if (host_child_run(quick, NULL, 30, &out, &code, &e)) fail_msg("%s", e.text);
    assert_int_equal(code, 3);
    assert_string_equal(sb_str(&out), "out\n");
    sb_free(&out);
    mem_free(path);
}

static void test_compiler_that_hangs(void **state)
{
    char version[200], *path = path_join(folder, "c++");
    struct err e = {0};
    FILE *f = fopen(path, "w");
    fputs("#!/bin/sh\nsleep 100\n", f);
    fchmod(fileno(f), 0700);
    fclose(f);
    char *cxx = change("CXX", path);
    assert_int_equal(host_compiler_version(version, sizeof version, &e), LATHE_COMPILER);
    must_say(e.text, "c++ --version': ");
    must_say(e.text, "did not end within 10 s; set CXX to a working C++ compiler");
    restore("CXX", cxx);
    unlink(path);
    mem_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_overloaded),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_folder),
        cmocka_unit_test(test_which_compiler),
        cmocka_unit_test(test_toolchain),
        cmocka_unit_test(test_scan),
        cmocka_unit_test(test_child),
        cmocka_unit_test(test_child_dies_with_caller),
        cmocka_unit_test(test_child_leaves_something),
        cmocka_unit_test(test_child_in_time),
        cmocka_unit_test(test_compiler_that_hangs),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
