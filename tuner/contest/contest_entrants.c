/* contest_entrants.c: see contest.h: the recordings and the strategies of a contest. */
#include "contest/contest.h"

#include "base/mem.h"
#include <string.h>

/* "x/gemm-RTX_3090.t4.json.gz#3" is gemm-RTX_3090#3. */
static char *short_name(const char *place)
{
    static const char *const formats[] = {".gz", ".json", ".t4", ".ktt", ".db"};
    const char *slash = strrchr(place, '/'), *from = slash ? slash + 1 : place;
    size_t end = strcspn(from, "#"), n = end;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        size_t f = strlen(formats[i]);
        if (n > f && !memcmp(from + n - f, formats[i], f))
            n -= f;
    }
    return mem_printf("%.*s%s", (int)n, from, from + end);
}

status contest_space_open(struct contest_space *s, const char *place, const char *kernel, double cutoff, struct err *e)
{
    char *name = short_name(place);
    *s = (struct contest_space){.name = utf8_copy(name)};
    mem_free(name);
    status st = recording_open(place, kernel, &s->recording, e);
    if (!st) {
        recording_summarise(s->recording, &s->summary);
        st = score_space_init(&s->score, &s->summary, cutoff, place, e);
    }
    if (!st)
        st = replay_problem(s->recording, &s->problem, e);
    if (!st)
        st = replay_open(s->recording, &s->problem->kernels[0], &s->replay, e);
    if (!st) {
        s->target = s->recording->target;
        st = space_of_list(s->problem, &s->problem->kernels[0], &s->target, s->recording->choices,
                           s->recording->nconfigs, &s->space, e);
    }
    if (st)
        contest_space_close(s);
    return st;
}

void contest_space_close(struct contest_space *s)
{
    space_close(s->space);
    replay_close(s->replay);
    problem_free(s->problem);
    recording_summary_free(&s->summary);
    recording_free(s->recording);
    mem_free(s->name);
    *s = (struct contest_space){0};
}

static void add_option(struct contestant *c, const char *text, size_t len)
{
    MEM_GROW(c->options, c->noptions, c->cap);
    c->options[c->noptions++] = mem_printf("%.*s", (int)len, text);
}

/* One strategy of the list, up to its end; *end: the comma after it, or the text's end. */
static void read_one(const char *text, struct contestant *c, const char **end)
{
    size_t name = strcspn(text, ",:");
    *c = (struct contestant){.name = mem_printf("%.*s", (int)name, text)};
    const char *at = text + name;
    while (*at) {
        size_t n = strcspn(at + 1, ","), equals = strcspn(at + 1, "=,"), colon = strcspn(at + 1, ":,");
        bool option = *at == ':' || (equals < n && equals < colon);
        if (!option)
            break;
        add_option(c, at + 1, n);
        at += 1 + n;
    }
    struct strbuf label = {0};
    utf8_clean(&label, text, (size_t)(at - text));
    c->label = sb_take(&label);
    *end = at;
}

status contestants_read(const char *list, struct contestant **all, int *n, int *cap, struct err *e)
{
    for (const char *at = list;; at++) {
        MEM_GROW(*all, *n, *cap);
        struct contestant *c = &(*all)[(*n)++];
        read_one(at, c, &at);
        if (!*c->name)
            return err_set(e, LATHE_USAGE, "'%.300s': a strategy's name is empty\nexpected NAME[:OPTION=V,...],...",
                           list);
        for (int i = 0; i < *n - 1; i++)
            if (!strcmp((*all)[i].label, c->label))
                return err_set(e, LATHE_USAGE, "the strategy %.200s is there twice", c->label);
        if (!*at)
            return LATHE_OK;
    }
}

void contestants_free(struct contestant *all, int n)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < all[i].noptions; k++)
            mem_free(all[i].options[k]);
        mem_free(all[i].options);
        mem_free(all[i].name);
        mem_free(all[i].label);
    }
    mem_free(all);
}
