/* test_linear_ceilings.c: the kernels of kernels/linear say which units multiply in each of their formats, and how
 * many products an element takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "model/ceiling.h"
#include "model/config.h"
#include "search/spec/spec.h"

#include <stdio.h>
#include <string.h>

static struct problem *open_problem(const char *spec)
{
    static const char *const include_dirs[] = {"kernels/common", NULL};
    struct problem *p = NULL;
    struct err e = {0};
    json_t *j;
    if (spec_read(spec, &j, &e) || problem_from_json(j, spec, include_dirs, &p, &e))
        fail_msg("%s", e.text);
    json_decref(j);
    return p;
}

/* "bf16 3, by its specification", of the first values but that of FORMAT; format NULL: there is no such parameter. */
static void ceiling_text(const struct problem *p, const struct kernel *k, const char *format, char out[64])
{
    config_choice *choice = mem_zalloc((size_t)k->nparams + 1, sizeof *choice);
    struct value *slots = mem_zalloc((size_t)k->scope.count + 1, sizeof *slots);
    struct target t;
    struct ceiling c;
    struct err e = {0};
    for (int i = 0; format && i < k->nparams; i++)
        if (strcmp(k->params[i].name, "FORMAT") == 0)
            choice[i] = (config_choice)param_find_value(&k->params[i], value_string(format));
    if (target_named("sm_90a", &t, &e))
        fail_msg("%s", e.text);
    kernel_slots_fixed(p, k, &t, slots);
    if (kernel_slots_config(k, choice, slots, &e) || ceiling_of(p, k, &t, slots, &c, &e))
        fail_msg("%s", e.text);
    snprintf(out, 64, "%s %g, by %s", unit_name(c.unit), c.products, ceiling_from_name(c.from));
    mem_free(slots);
    mem_free(choice);
}

/* What a format's name says: "bf16x3" is bf16, three times; an s behind it: with fewer bits. */
static void text_of_format(const char *format, char out[64])
{
    const char *unit = strncmp(format, "fp16", 4) == 0 ? "f16" : strncmp(format, "bf16", 4) == 0 ? "bf16" : "tf32";
    snprintf(out, 64, "%s %c, by specification", unit, format[5]);
}

static int check_formats(const struct problem *p, const struct kernel *k)
{
    char got[64], wanted[64];
    for (int i = 0; i < k->nparams; i++) {
        const struct param *format = &k->params[i];
        if (strcmp(format->name, "FORMAT") != 0)
            continue;
        for (int v = 0; v < format->nvalues; v++) {
            ceiling_text(p, k, format->values[v].s, got);
            text_of_format(format->values[v].s, wanted);
            if (strcmp(got, wanted) != 0)
                fail_msg("%s, %s: %s, not %s", k->name, format->values[v].s, got, wanted);
        }
        return format->nvalues;
    }
    return 0;
}

static void formats_of_float32(void **state)
{
    (void)state;
    struct problem *p = open_problem("kernels/linear/spec.lua");
    char got[64];
    int formats = 0;
    for (int i = 0; i < p->nkernels; i++)
        formats += check_formats(p, &p->kernels[i]);
    assert_int_equal(formats, 15);                  /* mma 5, wgmma 5, wgmma_shared 5 */
    ceiling_text(p, &p->kernels[problem_find_kernel(p, "simt")], NULL, got);
    assert_string_equal(got, "f32 1, by specification");
    ceiling_text(p, &p->kernels[problem_find_kernel(p, "epilogue")], NULL, got);
    assert_string_equal(got, "f32 1, by gemm");
    ceiling_text(p, &p->kernels[problem_find_kernel(p, "sgemm_bf16")], NULL, got);
    assert_string_equal(got, "bf16 1, by gemm");
    problem_free(p);
}

static void sixteen_bits(void **state)
{
    (void)state;
    static const char *const types[] = {"f16", "bf16"};
    for (int t = 0; t < 2; t++) {
        char path[64], got[64], wanted[64];
        snprintf(path, sizeof path, "kernels/linear_%s/spec.lua", types[t]);
        struct problem *p = open_problem(path);
        for (int i = 0; i < p->nkernels; i++) {
            bool own = strcmp(p->kernels[i].name, "mma") == 0 || strcmp(p->kernels[i].name, "wgmma_shared") == 0;
            ceiling_text(p, &p->kernels[i], NULL, got);
            snprintf(wanted, sizeof wanted, "%s 1, by %s", types[t], own ? "specification" : "gemm");
            assert_string_equal(got, wanted);
        }
        problem_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_of_float32),
        cmocka_unit_test(sixteen_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
