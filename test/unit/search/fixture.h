/* fixture.h: problems with kernels made of a few lines of Lua, for the tests of spaces and strategies. */
#ifndef LATHE_TEST_SEARCH_FIXTURE_H
#define LATHE_TEST_SEARCH_FIXTURE_H

#include "base/mem.h"
#include "model/problem.h"
#include "search/space/space_impl.h"
#include "search/spec/spec.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define assert_contains(text, part)                                                                                    \
    do {                                                                                                               \
        if (!strstr(text, part))                                                                                       \
            fail_msg("'%s' does not contain '%s'", text, part);                                                        \
    } while (0)

static struct err fixture_err;

/* kernels: the text of each kernel's own fields, "params = { ... }, constraints = { ... }"; they are named k1, k2, ...
 */
static inline struct problem *fixture_problem(const char *const *kernels, int n)
{
    struct strbuf b = {0};
    struct problem *p = NULL;
    json_t *j = NULL;
    sb_add(&b, "local source = [[extern \"C\" __global__ void f(const float *X, float *Y) {}]]\n"
               "local steps = { launch { 'f', grid = 1, block = 1, args = { 'X', 'Y' } } }\n"
               "return problem { name = 't', dims = { { 'M', 64 } },"
               "tensors = { { 'X', 'f32', { 'M' }, fill = uniform(0, 1) }, { 'Y', 'f32', { 'M' }, output = true } },"
               "tolerance = { atol = 1e-4, rtol = 1e-4 }, reference = kernel { source_text = source, steps = steps }, "
               "kernels = {\n");
    for (int i = 0; i < n; i++)
        sb_addf(&b, "{ 'k%d', source_text = source, steps = steps, %s },\n", i + 1, kernels[i]);
    sb_add(&b, "} }");
    status s = spec_read_text(sb_str(&b), b.len, "fixture.lua", 10, &j, &fixture_err);
    if (!s)
        s = problem_from_json(j, "fixture.lua", NULL, &p, &fixture_err);
    if (s)
        fail_msg("%s", fixture_err.text);
    json_decref(j);
    sb_free(&b);
    return p;
}

static inline struct target fixture_target(void)
{
    struct target t;
    struct err e;
    if (target_named("sm_90a", &t, &e))
        fail_msg("%s", e.text);
    return t;
}

static inline struct space *fixture_space(const struct problem *p, int kernel)
{
    struct space *s = NULL;
    struct target t = fixture_target();
    if (space_open(p, &p->kernels[kernel], &t, &s, &fixture_err))
        fail_msg("%s", fixture_err.text);
    return s;
}

#endif
