/* compare.h: what launches, against the plan, over random configurations and sizes of a specification. */
#ifndef LATHE_TEST_COMPARE_H
#define LATHE_TEST_COMPARE_H

#include "base/rng.h"
#include "program.h"
#include "search/space/space.h"

typedef char *says_fn(const struct problem *p, const struct kernel *k, const struct target *t,
                      const config_choice *choice, const struct sizes *sizes);

/* Random configurations of each kernel that --format c serves, each at sizes of its own: says what the plan has? */
static inline void compare_kernels(const char *path, int configurations, uint64_t seed, says_fn *says)
{
    struct problem *p = program_problem(program_tree(path), path);
    struct target t;
    struct err e = {0};
    struct rng r;
    rng_seed(&r, seed);
    if (target_named("sm_90a", &t, &e))
        fail_msg("%s", e.text);
    for (int i = 0; i < p->nkernels; i++) {
        struct kernel *k = &p->kernels[i];
        struct space *space;
        int served = 0;
        if (k->baseline || !export_c_serves(k))
            continue;
        if (space_open(p, k, &t, &space, &e))
            fail_msg("%s", e.text);
        config_choice *choice = mem_zalloc((size_t)k->nparams + 1, sizeof *choice);
        for (int c = 0; c < configurations; c++) {
            struct sizes sizes;
            int some;
            choose_sizes(p, &r, &sizes);
            space_at(space, space_random(space, &r), choice);
            char *wanted = plans_say(p, k, &t, choice, &sizes, &some), *got = says(p, k, &t, choice, &sizes);
            same_text(got, wanted, k->name, &sizes, p->ndims);
            served += some;
            mem_free(wanted);
            mem_free(got);
        }
        if (served < 2 * configurations)
            fail_msg("%s: kernel %s: %d configurations ran at %d sizes in all", path, k->name, configurations, served);
        mem_free(choice);
        space_close(space);
    }
    problem_free(p);
}

#endif
