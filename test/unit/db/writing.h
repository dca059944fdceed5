/* writing.h: the problem and the target of the tests that write a store, in the folder that they are given. */
#ifndef LATHE_TEST_DB_WRITING_H
#define LATHE_TEST_DB_WRITING_H

#include "fixture.h"

static struct problem *problem;
static struct target target;

static inline int set_up(void **state)
{
    problem = toy_problem("__global__ void tile() {}");
    target = toy_target();
    return make_folder(state);
}

static inline int tear_down(void **state)
{
    problem_free(problem);
    return remove_folder(state);
}

static inline struct store *open_store(const char *path)
{
    struct store *s = NULL;
    assert_ok(store_open(path, 0.3, &s, e));
    assert_non_null(s);
    return s;
}

static inline int64_t begin_campaign(struct store *s)
{
    struct campaign_record c = toy_campaign(problem, &target);
    int64_t id = 0;
    assert_ok(store_campaign_begin(s, &c, &id, e));
    assert_true(id > 0);
    return id;
}

#endif
