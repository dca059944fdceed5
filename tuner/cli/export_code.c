/* export_code.c: see export_code.h. */
#include "cli/export_code.h"
#include "base/mem.h"
#include "cli/report.h"
#include "cli/stored.h"
#include "device/jit.h"
#include "export/export.h"
#include "model/source.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    struct stored t;
    status s = stored_open(provenance, "an export", &t, e);
    if (s == LATHE_OK) {
        struct export_input in = {t.problem, t.kernel, t.choice, &t.target, provenance};
        s = torch ? make_torch(&in, out, e) : export_cu(&in, out, e);
        stored_free(&t);
    }
    if (s != LATHE_OK)
        err_prefix(e, "%.200s, trial %lld", db, (long long)tree_int(json_object_get(provenance, "trial"), "id"));
    return s;
}
