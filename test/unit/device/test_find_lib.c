/* test_find_lib.c: where libraries are found, in which order, and what is said when they are not. The libraries are
 * copies of the C library's libm under other names, in directories of the test. */
#include "device/find_lib.h"
#include "base/mem.h"

#include <dlfcn.h>
#include <link.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char root[64];
static char *libm;
static size_t libm_size;
static const char *const names[] = {"libwanted.so.13", "libwanted.so.12", NULL};
static const char *const old[] = {"libwanted.so.11", NULL};
static const struct lib_query query = {.names = names, .too_old = old};

/* root/under, in one of four buffers */
static const char *at(const char *under)
{
    static char buffers[4][512];
    static int next;
    char *out = buffers[next++ % 4];
    snprintf(out, sizeof buffers[0], "%s/%s", root, under);
    return out;
}

static void put(const char *under, const void *data, size_t size)
{
    char *dir = path_dirname(at(under));
    assert_int_equal(dir_make(dir, NULL), LATHE_OK);
    mem_free(dir);
    assert_int_equal(file_write_atomic(at(under), data, size, NULL), LATHE_OK);
}

static void put_lib(const char *under)
{
    put(under, libm, libm_size);
}

static int read_libm(void **state)
{
    void *handle = dlopen("libm.so.6", RTLD_NOW);
    struct link_map *map = NULL;
    if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map))
        return -1;
    return file_read(map->l_name, &libm, &libm_size, NULL) ? -1 : 0;
}

static int free_libm(void **state)
{
    mem_free(libm);
    return 0;
}

/* A directory of its own and an environment without CUDA for every test. */
static int before_each(void **state)
{
    static const char *const unset[] = {"LATHE_CUDA_PATH", "CUDA_HOME",   "CUDA_PATH",
                                        "CONDA_PREFIX",    "VIRTUAL_ENV", "HOME"};
    for (size_t i = 0; i < sizeof unset / sizeof *unset; i++)
        unsetenv(unset[i]);
    setenv("PATH", "/usr/bin:/bin", 1);
    snprintf(root, sizeof root, "/tmp/lathe-find-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int after_each(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static void found_at(const char *under)
{
    struct lib lib;
    struct strbuf tried = {0};
    if (!find_lib(&query, &lib, &tried))
        fail_msg("not found:%s", sb_str(&tried));
    assert_string_equal(lib.path, at(under));
    double (*cosine)(double) = NULL;
    const struct lib_symbol symbol = {"cos", 0, false};
    assert_null(lib_bind(lib.handle, &symbol, 1, &cosine));
    assert_true(cosine(0) == 1);
    sb_free(&tried);
}

static void not_found(const struct lib_query *q, struct strbuf *tried)
{
    struct lib lib;
    assert_false(find_lib(q, &lib, tried));
}

static void says(struct strbuf *b, const char *part)
{
    if (!strstr(sb_str(b), part))
        fail_msg("message lacks '%s':%s", part, sb_str(b));
}

static void test_lathe_cuda_path(void **state)
{
    put_lib("a/lib64/libwanted.so.12");
    setenv("LATHE_CUDA_PATH", at("a"), 1);
    found_at("a/lib64/libwanted.so.12");
}

static void test_newest_name_first(void **state)
{
    put_lib("a/lib/libwanted.so.12");
    put_lib("a/lib/libwanted.so.13");
    setenv("CUDA_HOME", at("a"), 1);
    found_at("a/lib/libwanted.so.13");
}

static void test_order_of_variables(void **state)
{
    put_lib("path/lib64/libwanted.so.13");
    put_lib("home/targets/x86_64-linux/lib/libwanted.so.12");
    put_lib("mine/libwanted.so.12");                /* LATHE_CUDA_PATH may be the libraries' directory itself */
    setenv("CUDA_PATH", at("path"), 1);
    found_at("path/lib64/libwanted.so.13");
    setenv("CUDA_HOME", at("home"), 1);
    found_at("home/targets/x86_64-linux/lib/libwanted.so.12");
    setenv("LATHE_CUDA_PATH", at("mine"), 1);
    found_at("mine/libwanted.so.12");
    setenv("LATHE_CUDA_PATH", "", 1);               /* empty is as unset */
    found_at("home/targets/x86_64-linux/lib/libwanted.so.12");
}

static void test_nvcc_in_path(void **state)
{
    put_lib("kit/lib64/libwanted.so.13");
    put("kit/bin/nvcc", "#!/bin/sh\n", 10);
    chmod(at("kit/bin/nvcc"), 0755);
    assert_int_equal(dir_make(at("links"), NULL), LATHE_OK);
    assert_int_equal(symlink(at("kit/bin/nvcc"), at("links/nvcc")), 0);
    char path[600];
    snprintf(path, sizeof path, "relative::%s:/usr/bin:/bin", at("links"));
    setenv("PATH", path, 1);
    found_at("kit/lib64/libwanted.so.13");
    char nvcc[600];
    assert_true(find_nvcc(nvcc, sizeof nvcc));
    assert_string_equal(nvcc, at("links/nvcc"));
}

static void test_python_packages(void **state)
{
    put_lib("venv/lib/python3.12/site-packages/nvidia/cublas/lib/libwanted.so.12");
    setenv("VIRTUAL_ENV", at("venv"), 1);
    found_at("venv/lib/python3.12/site-packages/nvidia/cublas/lib/libwanted.so.12");
    unsetenv("VIRTUAL_ENV");
    put("other/bin/python3", "#!/bin/sh\n", 10);
    chmod(at("other/bin/python3"), 0755);
    put_lib("other/lib/python3.9/site-packages/nvidia/cu13/lib/libwanted.so.13");
    char path[600];
    snprintf(path, sizeof path, "%s:/usr/bin:/bin", at("other/bin"));
    setenv("PATH", path, 1);
    found_at("other/lib/python3.9/site-packages/nvidia/cu13/lib/libwanted.so.13");
    setenv("PATH", "/usr/bin:/bin", 1);
    setenv("HOME", at("user"), 1);
    put_lib("user/.local/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libwanted.so.12");
    found_at("user/.local/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libwanted.so.12");
}

static void test_loader(void **state)
{
    static const char *const libc_names[] = {"libm.so.6", NULL};
    const struct lib_query q = {.names = libc_names};
    struct lib lib;
    put("a/lib64/libm.so.6", "not a library", 13);  /* CUDA_HOME comes after the loader */
    setenv("CUDA_HOME", at("a"), 1);
    assert_true(find_lib(&q, &lib, NULL));
    assert_true(lib.path[0] == '/' && strstr(lib.path, "libm.so.6"));
    assert_null(strstr(lib.path, root));
}

static void test_not_found_says_where(void **state)
{
    struct strbuf tried = {0};
    assert_int_equal(dir_make(at("kit/lib64"), NULL), LATHE_OK);
    setenv("CUDA_HOME", at("kit"), 1);
    setenv("CUDA_PATH", at("nowhere"), 1);
    not_found(&query, &tried);
    says(&tried, "looked for libwanted.so.13, libwanted.so.12 by the loader");
    says(&tried, "LATHE_CUDA_PATH is not set");
    says(&tried, at("kit/lib64 (CUDA_HOME)"));
    says(&tried, at("nowhere (CUDA_PATH, no such directory)"));
    assert_in_range(tried.len, 1, 1400);
    sb_free(&tried);
    setenv("LATHE_CUDA_PATH", at("typo"), 1);
    not_found(&query, &tried);
    says(&tried, at("typo (LATHE_CUDA_PATH, no such directory)"));
    assert_null(strstr(tried.s, "is not set"));
    sb_free(&tried);
}

static void test_many_places_are_cut(void **state)
{
    struct strbuf tried = {0};
    char under[64];
    for (int i = 0; i < 60; i++) {
        snprintf(under, sizeof under, "kit/targets/a%02d-linux/lib", i);
        assert_int_equal(dir_make(at(under), NULL), LATHE_OK);
    }
    setenv("CUDA_HOME", at("kit"), 1);
    not_found(&query, &tried);
    says(&tried, " more places");
    assert_in_range(tried.len, 900, 1100);
    sb_free(&tried);
}

static void test_broken_library(void **state)
{
    struct strbuf tried = {0};
    put("a/lib64/libwanted.so.13", "this is no ELF file", 19);
    setenv("LATHE_CUDA_PATH", at("a"), 1);
    not_found(&query, &tried);
    says(&tried, at("a/lib64/libwanted.so.13 does not open ("));
    sb_free(&tried);
    put_lib("b/lib64/libwanted.so.12");             /* and the search goes on */
    setenv("CUDA_HOME", at("b"), 1);
    found_at("b/lib64/libwanted.so.12");
}

static void test_too_old(void **state)
{
    struct strbuf tried = {0};
    put_lib("a/lib64/libwanted.so.11");
    setenv("CUDA_HOME", at("a"), 1);
    not_found(&query, &tried);
    says(&tried, at("a/lib64/libwanted.so.11 is too old: CUDA 12 or 13 is needed"));
    sb_free(&tried);
}

static void test_driver_is_not_in_a_toolkit(void **state)
{
    static const char *const driver_names[] = {"libwanted.so.1", NULL};
    const struct lib_query q = {.names = driver_names, .driver = true};
    struct strbuf tried = {0};
    put_lib("a/lib64/libwanted.so.1");
    setenv("LATHE_CUDA_PATH", at("a"), 1);
    setenv("CUDA_HOME", at("a"), 1);
    not_found(&q, &tried);
    assert_null(strstr(tried.s, root));
    sb_free(&tried);
}

static void test_bind(void **state)
{
    struct {
        double (*sine)(double);
        void *none;
        double (*cosine)(double);
    } table;
    const struct lib_symbol symbols[] = {
        {"sin", 0, false}, {"no_such_function", sizeof(void *), true}, {"cos", 2 * sizeof(void *), false}};
    void *handle = dlopen("libm.so.6", RTLD_NOW);
    assert_null(lib_bind(handle, symbols, 3, &table));
    assert_true(table.sine(0) == 0 && table.cosine(0) == 1 && !table.none);
    const struct lib_symbol wanted[] = {{"sin", 0, false}, {"no_such_function", sizeof(void *), false}};
    assert_string_equal(lib_bind(handle, wanted, 2, &table), "no_such_function");
    dlclose(handle);
}

static void test_include(void **state)
{
    char out[512];
    put("kit/include/cuda_bf16.h", "", 0);
    put("kit/include/cuda.h", "/* */\n#define CUDA_VERSION 12040\n", 32);
    put_lib("kit/targets/x86_64-linux/lib/libwanted.so.12");
    put("kit/targets/x86_64-linux/include/cuda_bf16.h", "", 0);
    assert_true(find_cuda_include(at("kit/lib64/libnvrtc.so.12"), out, sizeof out));
    assert_string_equal(out, at("kit/include"));
    assert_int_equal(cuda_include_version(out), 12040);
    assert_int_equal(cuda_include_version(at("nowhere")), 0);
    assert_true(find_cuda_include(at("kit/targets/x86_64-linux/lib/libnvrtc.so.12"), out, sizeof out));
    assert_string_equal(out, at("kit/targets/x86_64-linux/include"));
    put("site/nvidia/cuda_runtime/include/cuda_bf16.h", "", 0);     /* a sibling package of Python's */
    assert_true(find_cuda_include(at("site/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"), out, sizeof out));
    assert_string_equal(out, at("site/nvidia/cuda_runtime/include"));
    setenv("LATHE_CUDA_PATH", at("kit"), 1);        /* not beside the library */
    assert_true(find_cuda_include(at("elsewhere/libnvrtc.so.12"), out, sizeof out));
    assert_string_equal(out, at("kit/include"));
}

static void test_build_id(void **state)
{
    struct lib lib = {.handle = dlopen("libm.so.6", RTLD_NOW)};
    char id[9] = "?";
    lib_build_id(&lib, id);
    assert_true(strlen(id) == 8 || strlen(id) == 0);
    assert_int_equal(strspn(id, "0123456789abcdef"), strlen(id));
    dlclose(lib.handle);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, before_each, after_each)
    const struct CMUnitTest tests[] = {
        TEST(test_lathe_cuda_path),
        TEST(test_newest_name_first),
        TEST(test_order_of_variables),
        TEST(test_nvcc_in_path),
        TEST(test_python_packages),
        TEST(test_loader),
        TEST(test_not_found_says_where),
        TEST(test_many_places_are_cut),
        TEST(test_broken_library),
        TEST(test_too_old),
        TEST(test_driver_is_not_in_a_toolkit),
        TEST(test_bind),
        TEST(test_include),
        TEST(test_build_id),
    };
    return cmocka_run_group_tests(tests, read_libm, free_libm);
}
