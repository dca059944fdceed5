/* choices.h: configurations of kernels/linear that were tuned at two sizes and on four devices, and which of them
 * serves where: for the export in C and for liblathe alike (docs/export.md). */
#ifndef FAKE_CHOICES_H
#define FAKE_CHOICES_H

#include "exported.h"

#define TILE(bm, bn) "TRANSPOSED=false BM=" bm " BN=" bn " TM=4 TN=4 LANES_M=8 BK=8 UNROLL=8 FRAGMENTS=1 "             \
                     "LAYOUT=transposed FILL=register STAGES=1 VEC=4 SPLIT_K=1 SCHEDULE=tiles MIN_BLOCKS=1 "           \
                     "STORE=direct GROUP=1"

static const struct tuned {
    const char *arch, *config, *cubin, *ptx;
    int64_t dim[3];
} tuned[] = {
    {"sm_80", TILE("32", "32"), "small for 80", "small for 80 and later", {64, 1024, 1024}},
    {"sm_80", TILE("64", "64"), "large for 80", "large for 80 and later", {4096, 4096, 4096}},
    {"sm_90a", TILE("32", "64"), "small for 90a", "small for 90 and later", {64, 1024, 2048}},
    {"sm_89", TILE("64", "32"), "large for 89", "bad", {4096, 4096, 4096}},
    {"sm_86", TILE("32", "64"), "bad", "small for 86 and later", {64, 1024, 1024}},
};
enum { TUNED = sizeof tuned / sizeof *tuned };

/* On a device, at a size: what the text of NAME_choice has; NULL: there is none. */
static const struct choice_case {
    const char *arch;
    int sm;                             /* another capability of that device; 0: its own */
    int64_t dim[3];
    const char *wanted;
} cases[] = {
    {"sm_80", 0, {64, 1024, 1024}, "BM=32 BN=32"},              /* exact */
    {"sm_80", 0, {4096, 4096, 4096}, "BM=64 BN=64"},
    {"sm_80", 0, {128, 2048, 1024}, "BM=32 BN=32"},             /* nearest */
    {"sm_80", 0, {2048, 4096, 1024}, "BM=64 BN=64"},
    {"sm_80", 0, {64, 1024, 1023}, "plain kernel"},             /* rows of a multiple of 4 floats */
    {"sm_86", 85, {64, 1024, 1024}, "BM=32 BN=32"},             /* the 80's cubin: the 86's are for later ones */
    {"sm_86", 87, {64, 1024, 1024}, "BM=32 BN=64"},             /* as near: the newer's PTX, not the first's cubin */
    {"sm_86", 0, {64, 1024, 1024}, "BM=32 BN=64"},              /* its own PTX: the driver does not take the cubin */
    {"sm_89", 0, {64, 1024, 1024}, "BM=64 BN=32"},              /* its own, though of another size */
    {"sm_90a", 0, {4096, 4096, 4096}, "BM=32 BN=64"},
    {"sm_100a", 0, {4096, 4096, 4096}, "BM=64 BN=64"},          /* PTX */
    {"sm_100a", 0, {64, 1024, 2048}, "N=1024 K=2048"},          /* the 90a's PTX */
    {"sm_100a", 0, {64, 1024, 1024}, "BM=32 BN=64"},            /* as near: the newer's PTX, not the first's */
    {"sm_90a", 0, {64, 1024, 2048}, "N=1024 K=2048"},
    {"sm_89", 0, {64, 1024, 2048}, "BM=64 BN=32"},              /* neither runs there */
    {"sm_100a", 0, {4096, 4096, 4097}, "plain kernel"},
    {"sm_80", 0, {0, 1024, 1024}, NULL},
    {"sm_80", 0, {64, 1024, INT64_C(1) << 40}, NULL},
    {"sm_80", 75, {64, 1024, 1024}, NULL},                      /* nothing to open */
};

struct choices {
    struct export_input in[TUNED];
    struct export_variant v[TUNED + 1];
    struct export_fallback fallback;
    struct problem *p[TUNED];
    struct target t[TUNED];
    config_choice choice[TUNED][64];
    json_t *provenance;
};

/* Must stay where it is. */
static inline void choices_open(struct choices *c)
{
    struct err e = {0};
    *c = (struct choices){.provenance = json_object()};
    for (int i = 0; i < TUNED; i++) {
        c->p[i] = program_problem(program_tree("kernels/linear/spec.lua"), "kernels/linear/spec.lua");
        const struct kernel *k = &c->p[i]->kernels[problem_find_kernel(c->p[i], "simt")];
        if (target_named(tuned[i].arch, &c->t[i], &e) || config_from_text(k, tuned[i].config, c->choice[i], &e))
            fail_msg("%s", e.text);
        for (int d = 0; d < 3; d++)
            c->p[i]->dims[d].value = tuned[i].dim[d];
        c->in[i] = (struct export_input){c->p[i], k, c->choice[i], &c->t[i], c->provenance, NULL};
        c->v[i] = (struct export_variant){.in = &c->in[i],
                                          .cubin = {.data = tuned[i].cubin, .len = strlen(tuned[i].cubin)},
                                          .ptx_sm = (int)c->t[i].limit[LIMIT_sm]};
        if (tuned[i].ptx)
            c->v[i].ptx = (struct export_image){.data = tuned[i].ptx, .len = strlen(tuned[i].ptx)};
    }
    if (export_fallback_open(&c->in[0], &c->fallback, &e))
        fail_msg("%s", e.text);
    c->v[TUNED] = (struct export_variant){.in = &c->fallback.in, .fallback = true, .ptx = {.data = "plain", .len = 5},
                                          .ptx_sm = 80};
}

static inline void choices_close(struct choices *c)
{
    export_fallback_close(&c->fallback);
    json_decref(c->provenance);
    for (int i = 0; i < TUNED; i++)
        problem_free(c->p[i]);
}

static inline void choice_device(const struct choice_case *c, struct target *out)
{
    struct err e = {0};
    if (target_named(c->arch, out, &e))
        fail_msg("%s", e.text);
    if (c->sm)
        out->limit[LIMIT_sm] = c->sm;
}

#endif
