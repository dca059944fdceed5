/* host_fixture.h: what the host device's tests share: the device with a test's kernels loaded. HOST_KERNELS, defined
 * before it is included, names their file. */
#ifndef LATHE_TEST_HOST_FIXTURE_H
#define LATHE_TEST_HOST_FIXTURE_H

#include "base/mem.h"
#include "base/strbuf.h"
#include "device/dev.h"
#include "device/host/host_compile.h"
#include "device/host/host_context.h"
#include "model/source.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#ifndef HOST_KERNELS
#define HOST_KERNELS "host_kernels.cu"
#endif

extern const struct dev_ops host_ops;

struct fixture {
    char dir[64], *image;
    struct dev *dev;
    struct target target;
    struct dev_module *module;
};

static const struct dev_ops *const ops = &host_ops;
static struct fixture *fx;      /* cmocka's group state, for brevity in the tests */

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        struct err e = {0};                                                                                            \
        if (call) fail_msg("%s: %s", #call, e.text);                                                                   \
    } while (0)

static inline void must_say(const struct err *e, const char *words)
{
    if (!strstr(e->text, words)) fail_msg("message '%s' does not say '%s'", e->text, words);
}

static int setup(void **state)
{
    fx = mem_zalloc(1, sizeof *fx);
    snprintf(fx->dir, sizeof fx->dir, "/tmp/lathe-host-XXXXXX");
    assert_non_null(mkdtemp(fx->dir));
    fx->image = path_join(fx->dir, "kernels.so");
    char *folder = path_dirname(__FILE__), *path = path_join(folder, HOST_KERNELS), *source;
    static const char *const include_dirs[] = {"kernels/common", NULL};
    OK(source_assemble(path, include_dirs, &source, &e));
    char *defines[] = {"LATHE_NUMBER=17", "LATHE_OFF=0"};
    struct jit_request r = {.source = source, .name = HOST_KERNELS, .defines = defines, .ndefines = 2,
                            .arch = "host", .image_path = fx->image, .sanitize = HOST_ASAN};
    struct jit_outcome out;
    OK(host_compile(&r, &out, &e));
    if (!out.ok) fail_msg("%s", out.log);
    assert_null(out.log);
    mem_free(source);
    mem_free(path);
    mem_free(folder);
    OK(ops->open(0, &fx->dev, &fx->target, &e));
    OK(ops->load(fx->dev, fx->image, &fx->module, &e));
    return 0;
}

static int teardown(void **state)
{
    ops->unload(fx->dev, fx->module);
    ops->close(fx->dev);
    unlink(fx->image);
    rmdir(fx->dir);
    mem_free(fx->image);
    mem_free(fx);
    return 0;
}

static struct dev_function *function(const char *name)
{
    struct dev_function *f = NULL;
    OK(ops->function(fx->dev, fx->module, name, &f, &e));
    return f;
}

struct shape {
    uint32_t grid[3], block[3], shared;
};

static status try(const char *name, struct shape s, void **args, struct err *e)
{
    struct dev_launch how = {.shared = s.shared};
    memcpy(how.grid, s.grid, sizeof how.grid);
    memcpy(how.block, s.block, sizeof how.block);
    return ops->launch(fx->dev, function(name), &how, args, e);
}

static inline void run(const char *name, struct shape s, void **args)
{
    OK(try(name, s, args, &e));
    OK(ops->sync(fx->dev, &e));
}

#define ARGS(...) ((void *[]){__VA_ARGS__})
#define LINE(g, b) ((struct shape){{g, 1, 1}, {b, 1, 1}, 0})

static dev_ptr buffer(uint64_t bytes, uint32_t word)
{
    dev_ptr p;
    OK(ops->alloc(fx->dev, bytes, &p, &e));
    assert_int_equal(p % 256, 0);
    OK(ops->fill(fx->dev, p, word, bytes / 4 * 4, &e));
    return p;
}

static void take(void *to, dev_ptr p, uint64_t bytes)
{
    OK(ops->copy_out(fx->dev, to, p, bytes, &e));
    ops->release(fx->dev, p);
}

#endif
