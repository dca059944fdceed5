/* test_reference.c: the verifier's text compiles for every GPU, and the plans use functions that it has. */
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
#include "device/jit.h"
#include "device/cuda/nvrtc.h"
#include "trial/reference.h"
#include <jansson.h>

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

static void compiles_for(const char *arch)
{
    char image[] = "/tmp/lathe-reference-XXXXXX";
    int fd = mkstemp(image);
    assert_true(fd >= 0);
    close(fd);
    struct err e = {0};
    char *text = NULL;
    assert_int_equal(reference_source(problem, &text, &e), LATHE_OK);
    struct jit_request r = {.source = text, .name = "verify.cu", .arch = arch, .image_path = image};
    struct jit_outcome out = {0};
    status s = jit_compile(&r, &out, &e);
    remove(image);
    mem_free(text);
    if (s || !out.ok)
        fail_msg("%s: %s", arch, s ? e.text : out.log);
    mem_free(out.log);
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
        cmocka_unit_test(plans_are_complete),
    };
    return cmocka_run_group_tests(tests, open_problem, close_problem);
}
