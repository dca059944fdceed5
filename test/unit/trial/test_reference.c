/* test_reference.c: the verifier's text compiles for every GPU, the plans use functions that it has, and hashes are
 * what they should be, however many threads there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "device/dev.h"
#include "device/jit.h"
#include "device/cuda/nvrtc.h"
#include "trial/reference.h"
#include <jansson.h>

extern const struct dev_ops host_ops;

static struct problem *problem;

static int open_problem(void **state)
{
    struct err e = {0};
    json_t *j = json_load_file("test/data/model/linear.json", 0, NULL);
    status s = j ? problem_from_json(j, "linear.lua", NULL, &problem, &e) : LATHE_IO;
    json_decref(j);
    return s;
}

static int close_problem(void **state)
{
    problem_free(problem);
    return 0;
}

/* The verifier's image, a file; mem_free its name. */
static char *compile_for(const char *arch)
{
    char *image = mem_strdup("/tmp/lathe-reference-XXXXXX");
    int fd = mkstemp(image);
    assert_true(fd >= 0);
    close(fd);
    struct err e = {0};
    char *text = NULL;
    assert_int_equal(reference_source(problem, &text, &e), LATHE_OK);
    struct jit_request r = {.source = text, .name = "verify.cu", .arch = arch, .image_path = image};
    struct jit_outcome out = {0};
    status s = jit_compile(&r, &out, &e);
    mem_free(text);
    if (s || !out.ok)
        fail_msg("%s: %s", arch, s ? e.text : out.log);
    mem_free(out.log);
    return image;
}

static void compiles_for(const char *arch)
{
    char *image = compile_for(arch);
    remove(image);
    mem_free(image);
}

static void the_verifier_compiles_for_gpus(void **state)
{
    if (!nvrtc_version())
        skip();
    compiles_for("sm_80");
    compiles_for("sm_90a");
    compiles_for("sm_100");
}

static void the_verifier_compiles_for_the_host(void **state) { compiles_for("host"); }

static uint64_t mix(uint64_t x)             /* splitmix64, as in kernels/common/verify.cu */
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t hash_of(const unsigned char *p, int64_t bytes)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i * 4 < bytes; i++) {
        uint32_t word = 0;
        for (int64_t at = i * 4; at < bytes && at < i * 4 + 4; at++) word |= (uint32_t)p[at] << 8 * (at % 4);
        sum += mix(((uint64_t)i << 32 | (uint64_t)i >> 32) ^ mix(word));
    }
    return sum;
}

enum { MOST = 100000, THREADS = 128, MOST_BLOCKS = 20 };

struct hasher_on_device {
    struct dev *dev;
    struct dev_function *hash, *sum;
    dev_ptr bytes, parts, sums;
};

static uint64_t hash_there(const struct hasher_on_device *h, int64_t bytes, uint32_t blocks)
{
    uint64_t sums[2 * THREADS], total = 0;
    struct err e = {0};
    struct dev_launch how = {.grid = {blocks, 1, 1}, .block = {THREADS, 1, 1}};
    int64_t n = blocks * (int64_t)THREADS;
    void *hash[] = {(void *)&h->bytes, &bytes, (void *)&h->parts}, *sum[] = {(void *)&h->parts, &n, (void *)&h->sums};
    assert_int_equal(host_ops.launch(h->dev, h->hash, &how, hash, &e), LATHE_OK);
    how.grid[0] = 2;
    assert_int_equal(host_ops.launch(h->dev, h->sum, &how, sum, &e), LATHE_OK);
    assert_int_equal(host_ops.copy_out(h->dev, sums, h->sums, sizeof sums, &e), LATHE_OK);
    for (int i = 0; i < 2 * THREADS; i++) total += sums[i];
    return total;
}

static void hashes_are_of_all_words(void **state)
{
    static const int64_t sizes[] = {1, 3, 4, 7, 8, 511, 512, 513, 2046, 2048, 2050, 5120, 9999, MOST};
    struct hasher_on_device h;
    struct dev_module *module;
    struct err e = {0};
    struct target target;
    char *image = compile_for("host");
    if (host_ops.open(0, &h.dev, &target, &e) || host_ops.load(h.dev, image, &module, &e)) fail_msg("%s", e.text);
    remove(image);
    mem_free(image);
    assert_int_equal(host_ops.function(h.dev, module, "lathe_hash", &h.hash, &e), LATHE_OK);
    assert_int_equal(host_ops.function(h.dev, module, "lathe_sum", &h.sum, &e), LATHE_OK);
    assert_int_equal(host_ops.alloc(h.dev, MOST, &h.bytes, &e), LATHE_OK);
    assert_int_equal(host_ops.alloc(h.dev, MOST_BLOCKS * THREADS * 8, &h.parts, &e), LATHE_OK);
    assert_int_equal(host_ops.alloc(h.dev, 2 * THREADS * 8, &h.sums, &e), LATHE_OK);
    unsigned char *data = mem_alloc(MOST);
    for (int i = 0; i < MOST; i++) data[i] = (unsigned char)mix((uint64_t)i);
    assert_int_equal(host_ops.copy_in(h.dev, h.bytes, data, MOST, &e), LATHE_OK);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint32_t blocks = 1; blocks <= MOST_BLOCKS; blocks += blocks < 3 ? 1 : 17)
            assert_int_equal(hash_there(&h, sizes[i], blocks), hash_of(data, sizes[i]));
    mem_free(data);
    host_ops.unload(h.dev, module);
    host_ops.close(h.dev);
}

static void check_functions(const struct plan *plan, const char *text)
{
    assert_true(plan->nsteps > 0);
    for (int i = 0; i < plan->nsteps; i++) {
        if (plan->steps[i].kind != STEP_LAUNCH)
            continue;
        char *call = mem_printf("__global__ void %s(", plan->steps[i].function);
        if (!strstr(text, call))
            fail_msg("the verifier has no %s", plan->steps[i].function);
        mem_free(call);
    }
}

static void plans_are_complete(void **state)
{
    struct reference_plans plans;
    struct err e = {0};
    char *text = NULL;
    assert_int_equal(reference_source(problem, &text, &e), LATHE_OK);
    assert_int_equal(reference_plans(problem, NULL, &plans, &e), LATHE_OK);
    struct plan *const all[] = {&plans.reference, &plans.sgemm, &plans.scale};
    for (int i = 0; i < 3; i++) {
        check_functions(all[i], text);
        plan_free(all[i]);
    }
    mem_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_verifier_compiles_for_gpus),
        cmocka_unit_test(the_verifier_compiles_for_the_host),
        cmocka_unit_test(hashes_are_of_all_words),
        cmocka_unit_test(plans_are_complete),
    };
    return cmocka_run_group_tests(tests, open_problem, close_problem);
}
