/* target.c: the limits' names, a target's JSON form, and the figures of known chips.
 *
 * The figures are a chip's published ones (compute capability tables of the CUDA C++ Programming Guide, data sheets,
 * what the driver reports): they serve to reason without the device. A campaign always uses what the device itself
 * reports. */
#include "model/target.h"

#include "base/strbuf.h"
#include "model/record.h"
#include <stdio.h>
#include <string.h>

const char *limit_name(enum limit l)
{
    static const char *const names[LIMIT_COUNT] = {
#define X(name) #name,
        LIMIT_TABLE(X)
#undef X
    };
    return (unsigned)l < LIMIT_COUNT ? names[l] : "unknown";
}

json_t *target_to_json(const struct target *t)
{
    json_t *limits = json_object();
    for (int i = 0; i < LIMIT_COUNT; i++)
        json_object_set_new(limits, limit_name(i), json_integer(t->limit[i]));
    json_t *j = json_object();
    json_object_set_new(j, "device", record_string(t->device));
    json_object_set_new(j, "name", record_string(t->name));
    json_object_set_new(j, "uuid", record_string(t->uuid));
    json_object_set_new(j, "arch", record_string(t->arch));
    json_object_set_new(j, "driver", record_string(t->driver));
    json_object_set_new(j, "toolchain", record_string(t->toolchain));
    json_object_set_new(j, "host", record_string(t->host));
    json_object_set_new(j, "limits", limits);
    json_object_set_new(j, "peak_tflops_f32", record_number(t->peak_tflops_f32));
    json_object_set_new(j, "peak_gbps", record_number(t->peak_gbps));
    return j;
}

status target_from_json(const json_t *j, struct target *t, struct err *e)
{
    struct target new = {0};
    struct record r, limits;
    record_open(&r, j, "target", e);
    record_text(&r, "device", new.device, sizeof new.device);
    record_text(&r, "name", new.name, sizeof new.name);
    record_text(&r, "uuid", new.uuid, sizeof new.uuid);
    record_text(&r, "arch", new.arch, sizeof new.arch);
    record_text(&r, "driver", new.driver, sizeof new.driver);
    record_text(&r, "toolchain", new.toolchain, sizeof new.toolchain);
    record_text(&r, "host", new.host, sizeof new.host);
    record_sub(&r, "limits", &limits);
    for (int i = 0; i < LIMIT_COUNT; i++)
        record_int(&limits, limit_name(i), 0, INT64_MAX, &new.limit[i]);
    record_close(&r, &limits);
    record_double(&r, "peak_tflops_f32", &new.peak_tflops_f32);
    record_double(&r, "peak_gbps", &new.peak_gbps);
    if (!r.failed)
        *t = new;
    return r.failed;
}

#define KIB 1024LL
#define MIB (1024LL * 1024)

struct chip {
    const char *archs[2];       /* the second may be NULL */
    const char *name;
    int sm, sm_count, threads_per_sm;
    int64_t shared_per_block, shared_per_sm, l2_bytes, memory_bytes;
    double peak_tflops_f32, peak_gbps;
};

/* The host's numbers are those of its CUDA shim: the largest block and shared memory of any known chip, so that every
 * configuration can be tried there; no rates. */
static const struct chip chips[] = {
    {{"sm_80"}, "NVIDIA A100-SXM4-80GB", 80, 108, 2048, 163 * KIB, 164 * KIB, 40 * MIB, 81153 * MIB, 19.5, 2039},
    {{"sm_86"}, "NVIDIA GeForce RTX 3090", 86, 82, 1536, 99 * KIB, 100 * KIB, 6 * MIB, 24257 * MIB, 35.6, 936},
    {{"sm_89"}, "NVIDIA GeForce RTX 4090", 89, 128, 1536, 99 * KIB, 100 * KIB, 72 * MIB, 24217 * MIB, 82.6, 1008},
    {{"sm_90a", "sm_90"}, "NVIDIA H200", 90, 132, 2048, 227 * KIB, 228 * KIB, 60 * MIB, 143156 * MIB, 66.9, 4800},
    {{"sm_100a", "sm_100"}, "NVIDIA B200", 100, 148, 2048, 227 * KIB, 228 * KIB, 126 * MIB, 182642 * MIB, 74.4, 7700},
    {{"host"}, "host", 0, 1, 1024, 227 * KIB, 228 * KIB, 32 * MIB, 8192 * MIB, 0, 0},
};
enum { CHIPS = sizeof chips / sizeof chips[0] };

const char *target_known(int i)
{
    for (int c = 0; c < CHIPS; c++)
        for (int a = 0; a < 2; a++)
            if (chips[c].archs[a] && i-- == 0)
                return chips[c].archs[a];
    return NULL;
}

static status unknown_target(const char *arch, struct err *e)
{
    const char *names[2 * CHIPS];
    struct strbuf list = {0};
    int n = 0;
    for (int i = 0; i < CHIPS; i++)
        for (int a = 1; a >= 0; a--)
            if (chips[i].archs[a]) {
                sb_addf(&list, "%s%s", n ? ", " : "", chips[i].archs[a]);
                names[n++] = chips[i].archs[a];
            }
    const char *near = nearest_word(arch, names, n);
    err_set(e, LATHE_USAGE, "unknown target '%.60s'%s%s%s; known are %s", arch, near ? " (did you mean '" : "",
            near ? near : "", near ? "'?)" : "", sb_str(&list));
    sb_free(&list);
    return LATHE_USAGE;
}

status target_named(const char *arch, struct target *t, struct err *e)
{
    const struct chip *c = NULL;
    for (int i = 0; i < CHIPS && !c; i++)
        for (int a = 0; a < 2; a++)
            if (chips[i].archs[a] && strcmp(chips[i].archs[a], arch) == 0)
                c = &chips[i];
    if (!c)
        return unknown_target(arch, e);
    *t = (struct target){.peak_tflops_f32 = c->peak_tflops_f32, .peak_gbps = c->peak_gbps};
    snprintf(t->device, sizeof t->device, "%s", arch);
    snprintf(t->arch, sizeof t->arch, "%s", arch);
    snprintf(t->name, sizeof t->name, "%s", c->name);
    t->limit[LIMIT_sm] = c->sm;
    t->limit[LIMIT_sm_count] = c->sm_count;
    t->limit[LIMIT_warp_size] = 32;
    t->limit[LIMIT_max_threads_per_block] = 1024;
    t->limit[LIMIT_max_threads_per_sm] = c->threads_per_sm;
    t->limit[LIMIT_max_shared_per_block] = c->shared_per_block;
    t->limit[LIMIT_max_shared_per_sm] = c->shared_per_sm;
    t->limit[LIMIT_max_registers_per_sm] = 65536;
    t->limit[LIMIT_max_registers_per_thread] = 255;
    t->limit[LIMIT_l2_bytes] = c->l2_bytes;
    t->limit[LIMIT_memory_bytes] = c->memory_bytes;
    return LATHE_OK;
}
