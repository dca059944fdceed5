/* lib_context.c: the contexts that kernels were selected in, and the modules that were loaded into them. */
#include "lib/lib_impl.h"

#include "base/mem.h"

static struct context *find(struct lathe *l, const struct guest_context *current)
{
    for (struct context *c = l->contexts; c; c = c->next) {
        if (c->gone || c->guest.handle != current->handle)
            continue;
        if (c->guest.id == current->id)
            return c;
        c->gone = true;
    }
    return NULL;
}

lathe_result lib_context(struct lathe *l, struct context **out)
{
    struct err e = {0};
    struct guest_context current = {0};
    size_t images = (size_t)l->bundle.nimages + 1;
    status s = guest_open(&e);
    if (s)
        return lib_fail(LATHE_ERROR_DRIVER, "%s", e.text);
    s = guest_current(&current, &e);
    if (s)
        return lib_fail(s == LATHE_NOTHING ? LATHE_ERROR_CONTEXT : LATHE_ERROR_CUDA, "%s", e.text);
    *out = find(l, &current);
    if (*out)
        return LATHE_SUCCESS;
    if (guest_describe(&current, &e))
        return lib_fail(LATHE_ERROR_CUDA, "%s", e.text);
    struct context *c = mem_zalloc(1, sizeof *c);
    c->guest = current;
    c->modules = mem_zalloc(images, sizeof *c->modules);
    c->refused = mem_zalloc(images, sizeof *c->refused);
    c->next = l->contexts;
    l->contexts = c;
    *out = c;
    return LATHE_SUCCESS;
}

status lib_module(struct lathe *l, struct context *c, int image, void **out, struct err *e)
{
    status s = LATHE_OK;
    if (c->refused[image])
        return err_set(e, LATHE_NOTHING, "%s", c->refused[image]);
    if (!c->modules[image])
        s = guest_load(l->bundle.images[image].data, &c->modules[image], e);
    if (s == LATHE_NOTHING)         /* nor will it the next time */
        c->refused[image] = mem_strdup(e->text);
    if (s)
        c->modules[image] = NULL;
    *out = c->modules[image];
    return s;
}

void lib_contexts_free(struct lathe *l)
{
    while (l->contexts) {
        struct context *c = l->contexts;
        l->contexts = c->next;
        for (int i = 0; i < l->bundle.nimages; i++) {
            if (c->modules[i] && !c->gone)
                guest_unload(&c->guest, c->modules[i]);
            mem_free(c->refused[i]);
        }
        mem_free(c->modules);
        mem_free(c->refused);
        mem_free(c);
    }
}
