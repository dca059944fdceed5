/* use_problem.h: what a specification's tree must stand up to, whoever made it: refused with a message, or usable.
 * Shared by the fuzz targets. */
#ifndef LATHE_TEST_FUZZ_USE_PROBLEM_H
#define LATHE_TEST_FUZZ_USE_PROBLEM_H

#include "base/mem.h"
#include "model/plan.h"
#include "model/source.h"
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Gives every kernel a text of its own, so that no input makes the reader open a file. */
static void embed(json_t *entry)
{
    if (json_is_object(entry) && json_object_get(entry, "source") && !json_object_get(entry, "source_text"))
        json_object_set_new(entry, "source_text", json_string("f"));
}

static void embed_all(json_t *list)
{
    size_t i;
    json_t *entry, *items = json_is_object(list) ? json_object_get(list, "#") : list;
    json_array_foreach(items, i, entry)
        embed(entry);
}

static void use_kernel(const struct problem *p, const struct kernel *k)
{
    config_choice *c = mem_zalloc((size_t)k->nparams, sizeof *c);
    struct value *slots = mem_zalloc((size_t)k->scope.count + 1, sizeof *slots);
    struct target t;
    struct plan plan;
    struct strbuf b = {0};
    char **defines;
    int n;
    if (target_named("sm_90a", &t, NULL))
        abort();
    kernel_slots_fixed(p, k, &t, slots);
    if (!kernel_slots_config(k, c, slots, NULL)) {
        config_print(&b, k, slots, c);
        if (config_from_text(k, sb_str(&b), c, NULL))
            abort();                                /* what is printed reads back */
        kernel_allows(k, slots, &b);
        if (!source_defines(k, slots, &defines, &n, NULL))
            source_defines_free(defines, n);
        if (!plan_build(p, k, slots, &plan, NULL)) {
            struct plan back;
            json_t *j = plan_to_json(&plan);
            if (plan_from_json(j, &back, NULL))
                abort();
            json_decref(j);
            plan_free(&back);
            plan_free(&plan);
        }
    }
    sb_free(&b);
    mem_free(slots);
    mem_free(c);
}

/* Changes the tree: kernels get texts. */
static void use_tree(json_t *tree)
{
    embed_all(json_object_get(tree, "kernels"));
    embed_all(json_object_get(tree, "baselines"));
    embed(json_object_get(tree, "reference"));
    struct problem *p, *again;
    struct err e = {0};
    if (!problem_from_json(tree, "fuzz.lua", NULL, &p, &e)) {
        struct strbuf b = {0};
        for (int i = 0; i < p->nkernels && !p->space_alone; i++)
            use_kernel(p, &p->kernels[i]);
        if (!p->space_alone) {
            (void)source_epilogue(p, &b, NULL);
            (void)source_epilogue_reference(p, &b, NULL);
        }
        if (p->ndims)
            (void)problem_set_dim(p, p->dims[0].name, 7, NULL);
        if (problem_from_json(p->json, "fuzz.lua", NULL, &again, &e))
            abort();                                /* its own tree is a good specification */
        problem_free(again);
        sb_free(&b);
        problem_free(p);
    } else if (e.code != LATHE_SPEC || !e.text[0]) {
        abort();
    }
}

#endif
