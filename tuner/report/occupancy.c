/* occupancy.c: see occupancy.h. */
#include "report/occupancy.h"

#include <limits.h>

enum { REGISTERS_UNIT = 256, THREAD_REGISTERS_UNIT = 8, SHARED_UNIT = 128, SHARED_TAKEN = 1024, PARTS = 4 };

static const struct { const char *name, *text; } LIMITS[] = {
#define X(name, text) {#name, text},
    OCCUPANCY_LIMIT_TABLE(X)
#undef X
};

const char *occupancy_limit_name(enum occupancy_limit l) { return LIMITS[l].name; }
const char *occupancy_limit_text(enum occupancy_limit l) { return LIMITS[l].text; }

/* Resident blocks an SM may have, by compute capability. */
static int most_blocks(int64_t sm)
{
    switch (sm) {
    case 75:
    case 86:
    case 87: return 16;
    case 89:
    case 120:
    case 121: return 24;
    default: return 32;
    }
}

static int64_t round_up(int64_t x, int64_t unit) { return (x + unit - 1) / unit * unit; }

bool occupancy_of(const struct target *t, int threads, int registers, int64_t shared, struct occupancy *out)
{
    int64_t sm = t->limit[LIMIT_sm], warp = t->limit[LIMIT_warp_size], most = t->limit[LIMIT_max_threads_per_sm];
    if (sm < 50 || warp < 1 || most < 1 || threads < 1 || t->limit[LIMIT_max_registers_per_sm] < 1)
        return false;
    int64_t warps = (threads + warp - 1) / warp;
    int64_t of_warp = round_up(round_up(registers, THREAD_REGISTERS_UNIT) * warp, REGISTERS_UNIT);
    int64_t in_part = of_warp ? t->limit[LIMIT_max_registers_per_sm] / PARTS / of_warp : INT_MAX;
    int64_t of_block = round_up(shared + (sm >= 80 ? SHARED_TAKEN : 0), SHARED_UNIT);
    out->by[OCCUPANCY_threads] = (int)(most / warp / warps);
    out->by[OCCUPANCY_blocks] = most_blocks(sm);
    out->by[OCCUPANCY_registers] = of_warp ? (int)(in_part * PARTS / warps) : INT_MAX;
    out->by[OCCUPANCY_shared] = of_block ? (int)(t->limit[LIMIT_max_shared_per_sm] / of_block) : INT_MAX;
    out->limiter = OCCUPANCY_threads;
    for (int l = 0; l < OCCUPANCY_LIMITS; l++)
        if (out->by[l] < out->by[out->limiter])
            out->limiter = (enum occupancy_limit)l;
    out->blocks = out->by[out->limiter];
    out->share = (double)(out->blocks * warps) / (double)(most / warp);
    return true;
}
