/* ceiling.c: see ceiling.h. Peaks in TFLOP/s of f16, dense, with the multiprocessors and the clock that they are at.
 *
 * NVIDIA publishes peak rates, numbers of multiprocessors and clocks; a row is what follows from them:
 *   70  Tesla V100 architecture whitepaper (8 tensor cores of 64 FMA a clock)
 *   75  Turing architecture whitepaper (8 of 64 FMA; GeForce: half of it where sums are float32)
 *   80  A100 Tensor Core GPU architecture whitepaper (312, 108, 1.41 GHz)
 *   86  Ampere GA102 architecture whitepaper (RTX A6000: 154.8, 84, 1.80 GHz; GeForce RTX 3090: 71, 82, 1.695 GHz)
 *   89  Ada architecture whitepaper, L40S data sheet (362, 142, 2.49 GHz; GeForce RTX 4090: 165.2, 128, 2.52 GHz)
 *   90  H100 Tensor Core GPU architecture whitepaper (SXM: 989.4, 132, 1.83 GHz)
 *   100 Blackwell architecture technical brief (B200: 2250, 148, 1.85 GHz)
 *   120 RTX Blackwell architecture whitepapers (RTX PRO 6000: 503.8, 188, 2.617 GHz; GeForce RTX 5090: 209.5, 170,
 *       2.407 GHz)
 * float32 lanes: the CUDA C++ Programming Guide's table of arithmetic throughput. */
#include "model/ceiling.h"

#include "model/problem/problem_internal.h"
#include <string.h>

static const struct rates {
    int sm, tf32, half;                         /* half: f16, and bf16 where there is tf32 */
    bool geforce_half;                          /* of the tensor cores' rate, on what is sold as GeForce */
} known_rates[] = {
    {70, 0, 1024, false},    {75, 0, 1024, true},     {80, 1024, 2048, false},   {86, 512, 1024, true},
    {89, 512, 1024, true},   {90, 2048, 4096, false}, {100, 4096, 8192, false}, {120, 512, 1024, true},
};

/* float32 multiply-add units of a multiprocessor */
static int lanes(int sm) { return sm == 60 || sm / 10 == 7 || sm == 80 ? 64 : 128; }

int unit_flops_per_clock(int sm, const char *name, enum unit u)
{
    if (sm <= 0)
        return 0;
    if (u == UNIT_f32)
        return 2 * lanes(sm);
    for (size_t i = 0; i < sizeof known_rates / sizeof *known_rates; i++) {
        const struct rates *r = &known_rates[i];
        if (r->sm != sm)
            continue;
        int full = u == UNIT_tf32 || (u == UNIT_bf16 && !r->tf32) ? r->tf32 : r->half;
        return r->geforce_half && strstr(name, "GeForce") ? full / 2 : full;
    }
    return 0;
}

double unit_peak_tflops(const struct target *t, enum unit u)
{
    int sm = (int)t->limit[LIMIT_sm], own = unit_flops_per_clock(sm, t->name, UNIT_f32);
    return own && t->peak_tflops_f32 > 0 ? t->peak_tflops_f32 * unit_flops_per_clock(sm, t->name, u) / own : 0;
}

const char *unit_text(enum unit u)
{
    static const char *const texts[UNIT_COUNT] = {[UNIT_f32] = "the float32 units",
                                                  [UNIT_tf32] = "the tensor cores in tf32",
                                                  [UNIT_f16] = "the tensor cores in f16",
                                                  [UNIT_bf16] = "the tensor cores in bf16"};
    return (unsigned)u < UNIT_COUNT ? texts[u] : "unknown units";
}

const char *ceiling_from_name(enum ceiling_from f)
{
    static const char *const names[] = {"specification", "gemm", "assumed", "unknown"};
    return names[f];
}

static status find_entry(const struct kernel *k, const struct value *slots, const struct computes **entry,
                         double *products, struct err *e)
{
    bool holds = false;
    *entry = NULL;
    *products = 1;
    for (int i = 0; i < k->ncomputes && !holds; i++) {
        *entry = &k->computes[i];
        status s = (*entry)->when ? expr_eval_bool((*entry)->when, slots, &holds, e) : LATHE_OK;
        if (s)
            return s;
        holds |= !(*entry)->when;
    }
    if (!holds)
        *entry = NULL;
    return holds && (*entry)->products ? expr_eval_double((*entry)->products, slots, products, e) : LATHE_OK;
}

status kernel_computes(const struct kernel *k, const struct value *slots, const struct computes **entry,
                       double *products, struct err *e)
{
    status s = find_entry(k, slots, entry, products, e);
    if (!s && !(*products > 0))
        s = err_set(e, LATHE_SPEC, "`%.200s` gives %.4g products, and it takes more than 0",
                    expr_text((*entry)->products), *products);
    if (s)
        err_prefix(e, "kernel %s: computes", k->name);
    return s;
}

/* False: none of these. */
static bool gemm_unit(enum dtype matrices, enum gemm_compute compute, enum unit *u)
{
    if (matrices == DTYPE_f16 || matrices == DTYPE_bf16)
        *u = matrices == DTYPE_f16 ? UNIT_f16 : UNIT_bf16;
    else if (compute == GEMM_F64)
        return false;
    else
        *u = compute == GEMM_TF32 ? UNIT_tf32
             : compute == GEMM_BF16 ? UNIT_bf16 : compute == GEMM_F16 ? UNIT_f16 : UNIT_f32;
    return true;
}

/* Of the gemm steps that run: CEILING_ASSUMED if there is none. */
static status from_gemms(const struct problem *p, const struct kernel *k, const struct value *slots,
                         struct ceiling *out, struct err *e)
{
    out->from = CEILING_ASSUMED;
    for (int i = 0; i < k->nsteps; i++) {
        const struct step *s = &k->steps[i];
        enum unit u = UNIT_f32;
        bool runs = s->kind == STEP_GEMM;
        status st = runs && s->when ? expr_eval_bool(s->when, slots, &runs, e) : LATHE_OK;
        if (st)
            return st;
        if (!runs)
            continue;
        bool known = gemm_unit(problem_buffer(p, k, s->gemm.a)->dtype, s->gemm.compute, &u);
        if (!known || (out->from == CEILING_GEMM && out->unit != u)) {
            out->from = CEILING_UNKNOWN;
            return LATHE_OK;
        }
        out->from = CEILING_GEMM;
        out->unit = u;
    }
    return LATHE_OK;
}

status ceiling_of(const struct problem *p, const struct kernel *k, const struct target *t, const struct value *slots,
                  struct ceiling *out, struct err *e)
{
    const struct computes *entry;
    *out = (struct ceiling){.unit = UNIT_f32};
    status s = kernel_computes(k, slots, &entry, &out->products, e);
    if (!s && entry)
        out->unit = entry->unit;
    else if (!s)
        s = from_gemms(p, k, slots, out, e);
    if (s)
        return s;
    out->unit_tflops = out->from == CEILING_UNKNOWN ? 0 : unit_peak_tflops(t, out->unit);
    out->tflops = out->unit_tflops / out->products;
    return LATHE_OK;
}

void ceiling_measured(struct ceiling *c, double tflops)
{
    if (c->from == CEILING_ASSUMED && c->tflops > 0 && tflops > c->tflops)
        *c = (struct ceiling){.from = CEILING_UNKNOWN, .products = 1};
}
