/* plan_args.c: see plan_args.h. A struct's members lie one after the other, each at its natural alignment. */
#include "model/plan/plan_args.h"

#include "base/mem.h"
#include <string.h>

static size_t put(unsigned char *bytes, size_t at, const void *value, size_t size)
{
    at = (at + size - 1) / size * size;
    if (bytes)
        memcpy(bytes + at, value, size);
    return at + size;
}

/* Appends one argument at its natural alignment; with bytes NULL only measures. */
static size_t pack(const struct plan_arg *a, const uint64_t *address, unsigned char *bytes, size_t at)
{
    switch (a->kind) {
    case PLAN_BUFFER: return put(bytes, at, bytes ? &address[a->buffer] : NULL, sizeof *address);
    case PLAN_I32: {
        int32_t v = (int32_t)a->i;
        return put(bytes, at, &v, sizeof v);
    }
    case PLAN_I64: return put(bytes, at, &a->i, sizeof a->i);
    case PLAN_F32: {
        float v = (float)a->f;
        return put(bytes, at, &v, sizeof v);
    }
    case PLAN_F64: return put(bytes, at, &a->f, sizeof a->f);
    case PLAN_STRUCT:
        for (int i = 0; i < a->nfields; i++)
            at = pack(&a->fields[i], address, bytes, at);
        return at;
    case PLAN_TENSOR_MAP: return at + PLAN_TENSOR_MAP_BYTES;
    }
    return at;
}

/* The fields' largest alignment, which is their size: none of them is a struct or a map. */
static size_t struct_align(const struct plan_arg *a)
{
    size_t most = 1;
    for (int i = 0; i < a->nfields; i++) {
        size_t bytes = plan_arg_bytes(&a->fields[i]);
        most = bytes > most ? bytes : most;
    }
    return most;
}

size_t plan_arg_bytes(const struct plan_arg *a)
{
    size_t bytes = pack(a, NULL, NULL, 0), align = a->kind == PLAN_STRUCT ? struct_align(a) : 1;
    return bytes ? (bytes + align - 1) / align * align : 1;     /* an empty struct has a byte */
}

enum { ARG_ALIGN = 16 };

static size_t next_arg(size_t at)
{
    return (at + ARG_ALIGN - 1) / ARG_ALIGN * ARG_ALIGN + ARG_ALIGN;
}

void plan_args_make(const struct plan_step *step, const uint64_t *address, struct plan_args *out)
{
    size_t total = 0, at = 0;
    for (int i = 0; i < step->nargs; i++)
        total = next_arg(total + pack(&step->args[i], address, NULL, 0));
    out->bytes = mem_zalloc(1, total + ARG_ALIGN);
    out->args = mem_zalloc((size_t)step->nargs + 1, sizeof *out->args);
    for (int i = 0; i < step->nargs; i++) {
        out->args[i] = out->bytes + at;
        at = next_arg(at + pack(&step->args[i], address, out->bytes + at, 0));
    }
}

void plan_args_free(struct plan_args *a)
{
    mem_free(a->args);
    mem_free(a->bytes);
    *a = (struct plan_args){0};
}
