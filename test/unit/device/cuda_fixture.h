/* cuda_fixture.h: for tests of the CUDA device against a driver in memory (fake_cuda.c): a device, an image, a
 * launch. */
#ifndef LATHE_TEST_CUDA_FIXTURE_H
#define LATHE_TEST_CUDA_FIXTURE_H

#include "fake_cuda.c"
#include "device/cuda/nvrtc.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

static const struct dev_ops *ops = &cuda_ops;
static char image[64];
static const uint32_t no_cluster[3] = {0};

static inline struct dev *open_fake(struct target *t)
{
    struct cuda_tables tables = fake_tables();
    struct target unread;
    struct dev *d = NULL;
    struct err e = {0};
    assert_int_equal(cuda_open_with(&tables, 0, &d, t ? t : &unread, &e), LATHE_OK);
    return d;
}

static inline status open_fails(int number, struct err *e)
{
    struct cuda_tables tables = fake_tables();
    struct target t;
    struct dev *d = NULL;
    status s = cuda_open_with(&tables, number, &d, &t, e);
    assert_null(d);
    assert_true(fake_nothing_alive());
    return s;
}

static inline void says(const struct err *e, const char *part)
{
    if (!strstr(e->text, part))
        fail_msg("message lacks '%s': %s", part, e->text);
}

static inline int before_each(void **state)
{
    fake_reset();
    return 0;
}

static inline int make_image(void **state)
{
    snprintf(image, sizeof image, "/tmp/lathe-fake-%d.cubin", (int)getpid());
    return file_write_atomic(image, "image of a fake", 15, NULL) ? -1 : 0;
}

static inline int remove_image(void **state)
{
    return unlink(image);
}

static inline struct dev_function *get_function(struct dev *d, const char *name, struct dev_module **m)
{
    struct dev_function *f = NULL;
    struct err e = {0};
    assert_int_equal(ops->load(d, image, m, &e), LATHE_OK);
    assert_int_equal(ops->function(d, *m, name, &f, &e), LATHE_OK);
    return f;
}

static inline status launch(struct dev *d, struct dev_function *f, const uint32_t grid[3], const uint32_t block[3],
                            const uint32_t cluster[3], uint32_t shared, void **args, struct err *e)
{
    struct dev_launch how = {.shared = shared};
    memcpy(how.grid, grid, sizeof how.grid);
    memcpy(how.block, block, sizeof how.block);
    memcpy(how.cluster, cluster, sizeof how.cluster);
    return ops->launch(d, f, &how, args, e);
}

#define TEST(f) cmocka_unit_test_setup(f, before_each)

#endif
