/* export_image.c: a configuration compiled for an export. */
#include "base/mem.h"
#include "cli/export/export_trials.h"
#include "device/jit.h"
#include "model/signature.h"
#include "model/source.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

status export_image(const struct export_input *in, const char *arch, char **image, size_t *len, char **why,
                    struct err *e)
{
    const char *tmp = getenv("TMPDIR");
    char *dir = mem_printf("%s/lathe-export-XXXXXX", tmp && *tmp ? tmp : "/tmp"), *path = NULL, **defines = NULL;
    struct strbuf source = {0};
    struct value *slots = mem_zalloc((size_t)in->kernel->scope.count + 1, sizeof *slots);
    struct jit_outcome outcome = {0};
    int ndefines = 0;
    kernel_slots_fixed(in->problem, in->kernel, in->target, slots);
    status s = kernel_slots_config(in->kernel, in->choice, slots, e);
    if (s == LATHE_OK)
        s = source_defines(in->kernel, slots, &defines, &ndefines, e);
    if (s == LATHE_OK)
        s = source_epilogue(in->problem, &source, e);
    if (s == LATHE_OK && !mkdtemp(dir))
        s = err_set(e, LATHE_IO, "%s: cannot make a folder: %s", dir, strerror(errno));
    if (s == LATHE_OK) {
        sb_add(&source, in->kernel->source ? in->kernel->source : "");
        signature_ask(in->problem, in->kernel, slots, &source);
        path = path_join(dir, "image");
        struct jit_request r = {.source = sb_str(&source), .name = in->kernel->name, .defines = defines,
                                .ndefines = ndefines, .arch = arch, .image_path = path};
        s = jit_compile(&r, &outcome, e);
        if (s == LATHE_OK && outcome.ok)
            s = file_read(path, image, len, e);
        unlink(path);
        rmdir(dir);
    }
    struct err unfit = {0};
    if (s == LATHE_OK && !outcome.ok && signature_answer(in->problem, in->kernel, outcome.log, &unfit))
        *why = mem_strdup(unfit.text);
    else if (s == LATHE_OK && !outcome.ok)
        *why = mem_printf("it did not compile: %.400s", outcome.log ? outcome.log : "");
    source_defines_free(defines, ndefines);
    mem_free(outcome.log);
    mem_free(path);
    mem_free(dir);
    mem_free(slots);
    sb_free(&source);
    return s;
}
