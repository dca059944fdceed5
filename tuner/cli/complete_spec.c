/* complete_spec.c: the values that the specification on the command line knows: its kernels, dimensions, settings and
 * parameters. It is run for it; one that fails offers nothing. */
#include "base/mem.h"
#include "cli/args/find_spec.h"
#include "cli/complete.h"
#include <string.h>

static struct problem *problem(struct completion *c)
{
    struct spec_args args = {.name = c->spec, .settings = c->settings};
    struct problem *p = NULL;
    struct err none = {0};
    return c->spec && spec_load(&args, c->cli->self, &p, &none) == LATHE_OK ? p : NULL;
}

static void kernels_of(struct completion *c, bool candidates, bool baselines)
{
    struct problem *p = problem(c);
    for (int i = 0; p && i < p->nkernels; i++)
        if (p->kernels[i].baseline ? baselines : candidates)
            complete_offer(c, p->kernels[i].name, p->kernels[i].summary);
    if (p)
        problem_free(p);
}

void complete_kernels(struct completion *c)
{
    bool any = !strcmp(c->command->name, "check") || !strcmp(c->command->name, "verify");
    kernels_of(c, true, any);
}

void complete_baselines(struct completion *c)
{
    kernels_of(c, false, true);
}

/* Has the word a value for it already, in what stands before the last comma? */
static bool is_given(const char *word, size_t len, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = word, *end = word + len; at < end; at += strcspn(at, ",") + 1)
        if (!strncmp(at, name, n) && at[n] == '=')
            return true;
    return false;
}

void complete_sizes(struct completion *c)
{
    struct problem *p = problem(c);
    const char *whole = c->word;
    complete_behind(c, ',');
    for (int i = 0; p && i < p->ndims; i++) {
        if (is_given(whole, (size_t)(c->word - whole), p->dims[i].name))
            continue;
        char *name = mem_printf("%s=", p->dims[i].name), *text = mem_printf("it is %lld", (long long)p->dims[i].value);
        complete_offer(c, name, text);
        mem_free(name);
        mem_free(text);
    }
    if (p)
        problem_free(p);
}

/* NAME=V of the specification's settings */
void complete_settings(struct completion *c)
{
    struct spec_args args = {.name = c->spec, .settings = c->settings};
    struct err none = {0};
    char *asked = NULL;
    const char *equals = strchr(c->word, '=');
    if (!c->spec || spec_settings_asked(&args, c->cli->self, &asked, &none) != LATHE_OK)
        return;
    for (char *line = asked, *next; *line; line = next) {
        size_t len = strcspn(line, "\n"), name = strcspn(line, "=") + 1;
        next = line + len + 1;
        line[len] = 0;
        char *begin = mem_printf("%.*s", (int)name, line); /* "type=" */
        bool is_typed = equals && !strncmp(c->word, begin, name);
        if (is_typed) {
            complete_behind(c, '=');
            complete_words(c, line + name);
        } else if (!equals) {
            complete_offer(c, begin, line + name);
        }
        mem_free(begin);
        if (is_typed)
            break;
    }
    mem_free(asked);
}

static void values_of(struct completion *c, const struct param *p)
{
    for (int v = 0; v < p->nvalues; v++) {
        struct strbuf b = {0};
        value_print(&b, p->values[v]);
        complete_offer(c, sb_str(&b), NULL);
        sb_free(&b);
    }
}

/* A=1,B=...: of the kernel that --kernel names, or of all, each once */
void complete_parameters(struct completion *c)
{
    struct problem *p = problem(c);
    const char *whole = c->word;
    complete_behind(c, ',');
    size_t before = (size_t)(c->word - whole), len = strcspn(c->word, "=");
    bool value = c->word[len] == '=';
    char *name = mem_printf("%.*s", (int)len, c->word);
    struct strbuf offered = {0};
    if (value)
        complete_behind(c, '=');
    for (int i = 0; p && i < p->nkernels; i++)
        for (int k = 0; k < p->kernels[i].nparams; k++) {
            const struct param *x = &p->kernels[i].params[k];
            if (c->kernel && strcmp(c->kernel, p->kernels[i].name) != 0)
                continue;
            if (value && !strcmp(x->name, name)) {
                values_of(c, x);
                i = p->nkernels - 1; /* another kernel's may have other values: the first one's do */
                break;
            }
            char *begin = mem_printf("%s=", x->name);
            if (!value && !is_given(whole, before, x->name) && !is_given(sb_str(&offered), offered.len, x->name)) {
                complete_offer(c, begin, NULL);
                sb_addf(&offered, "%s,", begin);
            }
            mem_free(begin);
        }
    sb_free(&offered);
    mem_free(name);
    problem_free(p);
}
