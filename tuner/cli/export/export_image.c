/* export_image.c: a configuration compiled for an export. */
#include "base/mem.h"
#include "base/temporary.h"
#include "cli/export/export_trials.h"
#include "device/jit.h"
#include "model/signature.h"
#include "model/source.h"
#include <stdio.h>
#include <string.h>

status export_image(const struct export_input *in, const char *arch, char **image, size_t *len, char **why,
                    struct err *e)
{
    char *path = NULL, **defines = NULL;
    struct temporary folder = {0};
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
    if (s == LATHE_OK)
        s = temporary_make(NULL, "export", &folder, e);
    if (s == LATHE_OK) {
        sb_add(&source, in->kernel->source ? in->kernel->source : "");
        signature_ask(in->problem, in->kernel, slots, &source);
        path = path_join(folder.path, "image");
        struct jit_request r = {.source = sb_str(&source), .name = in->kernel->name, .defines = defines,
                                .ndefines = ndefines, .arch = arch, .image_path = path};
        s = jit_compile(&r, &outcome, e);
        if (s == LATHE_OK && outcome.ok)
            s = file_read(path, image, len, e);
    }
    temporary_remove(&folder);
    struct err unfit = {0};
    if (s == LATHE_OK && !outcome.ok && signature_answer(in->problem, in->kernel, outcome.log, &unfit))
        *why = mem_strdup(unfit.text);
    else if (s == LATHE_OK && !outcome.ok)
        *why = mem_printf("it did not compile: %.400s", outcome.log ? outcome.log : "");
    source_defines_free(defines, ndefines);
    mem_free(outcome.log);
    mem_free(path);
    mem_free(slots);
    sb_free(&source);
    return s;
}

/* The line of PTX that says what it is for; NULL: there is none. */
static const char *target_line(const char *ptx)
{
    const char *line = strncmp(ptx, ".target ", 8) ? strstr(ptx, "\n.target ") : ptx;
    return line && *line == '\n' ? line + 1 : line;
}

/* Whether two texts of PTX, which end in a zero, are the same but for that line. */
static bool same_code(const char *a, const char *b)
{
    const char *at = target_line(a), *bt = target_line(b);
    return at && bt && at - a == bt - b && !memcmp(a, b, (size_t)(at - a)) &&
           !strcmp(at + strcspn(at, "\n"), bt + strcspn(bt, "\n"));
}

/* *why becomes the first error in it. */
static void shorten(char **why)
{
    const char *error = strstr(*why, "error");
    error = error ? error + strlen("error") : "";
    error += strspn(error, " :");
    char *line = *error ? mem_printf("%.*s", (int)strcspn(error, "\n"), error) : NULL;
    if (!line)
        return;
    mem_free(*why);
    *why = line;
}

status export_image_later(const struct export_input *in, int sm, char **image, size_t *len, char **why, struct err *e)
{
    char plain[24], own[24], *text = NULL, *cubin = NULL;
    size_t bytes = 0;
    snprintf(plain, sizeof plain, "compute_%d", sm);
    snprintf(own, sizeof own, "compute_%s", in->target->arch + 3);
    status s = export_image(in, plain, image, len, why, e);
    if (s == LATHE_OK && *image)
        s = export_image(in, own, &text, &bytes, why, e);
    if (s == LATHE_OK && text && !same_code(text, *image))
        *why = mem_printf("for %s its source compiles to other code than for %s, which is what was measured", plain,
                          own);
    if (s == LATHE_OK && !*why) {   /* NVRTC reads no inline PTX: the assembler does */
        snprintf(plain, sizeof plain, "sm_%d", sm);
        s = export_image(in, plain, &cubin, &bytes, why, e);
        if (*why)
            shorten(why);
    }
    if (s != LATHE_OK || *why) {
        mem_free(*image);
        *image = NULL;
    }
    mem_free(text);
    mem_free(cubin);
    return s;
}
