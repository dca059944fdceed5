/* test_export_launch.c: the exported launcher of launches that say all they can (test/specs/launch.lua): what it calls,
 * and that it builds, self-test included, where nvcc is. */
#include "base/mem.h"
#include "device/find_lib.h"
#include "export/export.h"
#include "search/spec/spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static const char plain[] = "ROWS=8 COLS=16 SWIZZLE=0 L2=0 CLUSTER=1 PREPARE=false STORE=tma VIEW=false PERSIST=false";
static const char all[] =
    "ROWS=64 COLS=32 SWIZZLE=128 L2=256 CLUSTER=2 PREPARE=true OVERLAP=true STORE=threads VIEW=true "
    "PERSIST=true";

/* `when` replaces the first step's condition; NULL: none does. Free the text with mem_free. */
static char *exported(const char *config, const char *when)
{
    static const char *const include[] = {"kernels/common", NULL};
    struct err e = {0};
    json_t *tree = NULL, *provenance = json_object();
    struct problem *p = NULL;
    struct target target;
    struct strbuf text = {0};
    config_choice choice[16];
    if (spec_read("test/specs/launch.lua", &tree, &e))
        fail_msg("%s (run the tests from the repository's root)", e.text);
    json_t *kernel = json_array_get(json_object_get(tree, "kernels"), 0);
    if (when)
        json_object_set_new(json_array_get(json_object_get(kernel, "steps"), 0), "when", json_string(when));
    if (!json_object_get(kernel, "let"))      /* one that divides by a dimension, and is looked at */
        json_object_set_new(kernel, "let", json_pack("[[s, s]]", "share", "1000 % M"));
    json_array_append_new(json_object_get(kernel, "constraints"), json_pack("[s, s]", "share >= 0", "a remainder"));
    if (problem_from_json(tree, "test/specs/launch.lua", include, &p, &e) || target_named("sm_90a", &target, &e) ||
        config_from_text(&p->kernels[0], config, choice, &e))
        fail_msg("%s", e.text);
    const struct export_input in = {p, &p->kernels[0], choice, &target, provenance, NULL};
    if (export_cu(&in, &text, &e))
        fail_msg("%s", e.text);
    json_decref(provenance);
    json_decref(tree);
    problem_free(p);
    return sb_take(&text);
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("the export lacks '%s':\n%s", part, text);
}

static void lacks(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("the export has '%s':\n%s", part, text);
}

static void test_plain(void **state)
{
    char *text = exported(plain, NULL);
    has(text, "lathe_tensor_map(&lathe_map_2_1, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4,");
    has(text, "lathe_cluster(");
    lacks(text, "lathe_programmatic(");
    lacks(text, "lathe_window(");
    lacks(text, "lathe_begun");
    lacks(text, "lathe_launch(::lathe_boxes_code::launch_factor");      /* never runs here */
    mem_free(text);
}

static void test_all(void **state)
{
    char *text = exported(all, NULL);
    has(text, "LatheTensorMap lathe_map_2_2 = {};");
    /* the first step always runs */
    has(text, "        lathe_attribute[lathe_attributes++] = lathe_programmatic();");
    has(text, "        lathe_attributes += lathe_window(&lathe_attribute[lathe_attributes], const_cast<float *>(x),");
    has(text, "cudaAccessPropertyPersisting, cudaAccessPropertyStreaming);");
    has(text, "lathe_error = lathe_launch(::lathe_boxes_code::launch_scale, lathe_grid, lathe_block, lathe_shared, "
              "lathe_attribute, "
              "lathe_attributes, stream,\n            lathe_map_2_1,\n            lathe_map_2_2,");
    has(text, "lathe_error = lathe_launch(::lathe_boxes_code::launch_factor, lathe_grid, lathe_block, lathe_shared, 0, "
              "0, stream,");
    lacks(text, "lathe_begun");
    /* every map is made before anything runs */
    assert_true(strstr(text, "lathe_tensor_map(&lathe_map_2_2") <
                strstr(text, "lathe_launch(::lathe_boxes_code::launch_factor"));
    mem_free(text);
}

/* Where the size decides whether there is a step before it. */
static void test_first_step_by_size(void **state)
{
    char *text = exported(all, "M > 10");
    has(text, "        if (lathe_begun) lathe_attribute[lathe_attributes++] = lathe_programmatic();");
    has(text, "        lathe_begun = true;");
    mem_free(text);
}

/* Runs nvcc; fails with its words. */
static void builds(const char *nvcc, char *text, const char *how)
{
    char name[64], command[5000], words[8000] = "";
    snprintf(name, sizeof name, "/tmp/lathe-export-%d", (int)getpid());
    snprintf(command, sizeof command, "%s.cu", name);
    assert_int_equal(file_write_atomic(command, text, strlen(text), NULL), LATHE_OK);
    snprintf(command, sizeof command, "'%s' -std=c++17 -gencode arch=compute_90a,code=sm_90a -Xcompiler -Wall,-Wextra "
             "-Werror all-warnings %s -o %s.out %s.cu 2>&1", nvcc, how, name, name);
    FILE *p = popen(command, "r");
    assert_non_null(p);
    size_t n = fread(words, 1, sizeof words - 1, p);
    words[n] = 0;
    int code = pclose(p);
    snprintf(command, sizeof command, "%s.cu", name);
    unlink(command);
    snprintf(command, sizeof command, "%s.out", name);
    unlink(command);
    mem_free(text);
    if (code)
        fail_msg("%s", words);
}

static void test_builds(void **state)
{
    char nvcc[4096];
    if (!find_nvcc(nvcc, sizeof nvcc))
        skip();
    builds(nvcc, exported(plain, NULL), "-c");
    builds(nvcc, exported(all, NULL), "-DLATHE_SELFTEST");      /* linked without -lcuda */
    builds(nvcc, exported(all, "M > 10"), "-c");
}

/* A formula may divide by a dimension: none is computed before all are known to be at least 1. */
static void test_sizes_come_first(void **state)
{
    char *text = exported(all, NULL), *launcher = strstr(text, "extern \"C\" cudaError_t lathe_");
    assert_non_null(launcher);
    char *check = strstr(launcher, "    if (M < 1 || M > INT_MAX) return cudaErrorInvalidValue;"),
         *let = strstr(launcher, "    const int64_t ");
    if (!check || !let || let < check)
        fail_msg("the launcher begins:\n%.1500s", launcher);
    mem_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_first_step_by_size),
        cmocka_unit_test(test_sizes_come_first),
        cmocka_unit_test(test_builds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
