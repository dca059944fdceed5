/* export_code.c: see export_code.h. */
#include "cli/export_code.h"
#include "base/mem.h"
#include "cli/report.h"
#include "device/jit.h"
#include "export/export.h"
#include "model/source.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static status set_dims(struct problem *p, const json_t *size, struct err *e)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)size, name, value)
    {
        status s = problem_set_dim(p, name, json_integer_value(value), e);
        if (s != LATHE_OK)
            return s;
    }
    return LATHE_OK;
}

/* The winner compiled for its device, into memory; why_not (mem_free it) says why it is not there. */
static void compile_image(const struct export_input *in, char **image, size_t *len, char **why_not)
{
    char dir[] = "/tmp/lathe-export-XXXXXX", *path = NULL, **defines = NULL;
    struct strbuf source = {0};
    struct value *slots = mem_zalloc((size_t)in->kernel->scope.count + 1, sizeof *slots);
    struct jit_outcome outcome = {0};
    struct err e = {0};
    int ndefines = 0;
    kernel_slots_fixed(in->problem, in->kernel, in->target, slots);
    status s = kernel_slots_config(in->kernel, in->choice, slots, &e);
    if (s == LATHE_OK)
        s = source_defines(in->kernel, slots, &defines, &ndefines, &e);
    if (s == LATHE_OK)
        s = source_epilogue(in->problem, &source, &e);
    if (s == LATHE_OK && !mkdtemp(dir))
        s = err_set(&e, LATHE_IO, "%s: %s", dir, strerror(errno));
    if (s == LATHE_OK) {
        sb_add(&source, in->kernel->source ? in->kernel->source : "");
        path = path_join(dir, "image");
        struct jit_request r = {.source = sb_str(&source), .name = in->kernel->name, .defines = defines,
                                .ndefines = ndefines, .arch = in->target->arch, .image_path = path};
        s = jit_compile(&r, &outcome, &e);
        if (s == LATHE_OK && outcome.ok)
            s = file_read(path, image, len, &e);
        unlink(path);
        rmdir(dir);
    }
    if (s != LATHE_OK)
        *why_not = mem_strdup(e.text);
    else if (!outcome.ok)
        *why_not = mem_printf("it did not compile: %.400s", outcome.log ? outcome.log : "");
    source_defines_free(defines, ndefines);
    mem_free(outcome.log);
    mem_free(path);
    mem_free(slots);
    sb_free(&source);
}

static status make_torch(const struct export_input *in, struct strbuf *out, struct err *e)
{
    char *data = NULL, *why_not = NULL;
    size_t len = 0;
    const char *cannot = export_torch_no_image(in);
    if (cannot)
        why_not = mem_strdup(cannot);
    else
        compile_image(in, &data, &len, &why_not);
    if (why_not)
        fprintf(stderr, "no cubin in the file: %s\n", why_not);
    struct export_image image = {.data = data, .len = len, .why_not = why_not};
    status s = export_torch(in, &image, out, e);
    mem_free(data);
    mem_free(why_not);
    return s;
}

status export_code(const json_t *provenance, const char *db, bool torch, struct strbuf *out, struct err *e)
{
    const json_t *trial = json_object_get(provenance, "trial");
    struct problem *p = NULL;
    config_choice *choice = NULL;
    struct target target;
    status s = problem_from_json(json_object_get(provenance, "spec"), tree_text(trial, "problem"), NULL, &p, e);
    if (s == LATHE_OK)
        s = problem_needs_kernels(p, "an export", e);
    if (s == LATHE_OK)
        s = set_dims(p, json_object_get(trial, "size"), e);
    if (s == LATHE_OK)
        s = tolerance_from_json(json_object_get(trial, "tolerance"), &p->tolerance, e);
    if (s == LATHE_OK)
        s = target_from_json(json_object_get(provenance, "target"), &target, e);
    int k = s == LATHE_OK ? problem_find_kernel(p, tree_text(trial, "kernel")) : -1;
    if (s == LATHE_OK && k < 0)
        s = err_set(e, LATHE_STORE, "its specification has no kernel '%s'", tree_text(trial, "kernel"));
    if (s == LATHE_OK) {
        const struct kernel *kernel = &p->kernels[k];
        choice = mem_zalloc((size_t)kernel->nparams + 1, sizeof *choice);
        s = config_from_json(kernel, json_object_get(trial, "configuration"), choice, e);
        struct export_input in = {p, kernel, choice, &target, provenance};
        if (s == LATHE_OK)
            s = torch ? make_torch(&in, out, e) : export_cu(&in, out, e);
    }
    if (s != LATHE_OK)
        err_prefix(e, "%.200s, trial %lld", db, (long long)tree_int(trial, "id"));
    mem_free(choice);
    if (p)
        problem_free(p);
    return s;
}
