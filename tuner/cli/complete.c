/* complete.c: see complete.h. The words are walked as options.c walks them, up to the one that is being typed. */
#include "cli/complete.h"
#include "base/mem.h"
#include "cli/args/find_spec.h"
#include "console/output.h"
#include <string.h>

void complete_offer(struct completion *c, const char *value, const char *text)
{
    if (strncmp(value, c->word, strlen(c->word)) != 0)
        return;
    sb_addn(&c->out, c->before, c->before_len);
    sb_addf(&c->out, "%s\t", value);
    size_t len = text ? strcspn(text, "\n\t") : 0;
    sb_addn(&c->out, text ? text : "", len);
    sb_add(&c->out, "\n");
}

static const struct option_row *find(const struct option_row *rows, const char *a, const char **attached)
{
    size_t len = a[1] == '-' ? strcspn(a + 2, "=") : 1;
    *attached = NULL;
    for (const struct option_row *r = rows; r->name; r++) {
        if (option_positional(r))
            continue;
        if (a[1] == '-' ? strlen(r->name) == len && !memcmp(r->name, a + 2, len) : r->letter && r->letter == a[1]) {
            if (a[1] == '-' && a[2 + len])
                *attached = a + 2 + len + 1;
            else if (a[1] != '-' && a[2])
                *attached = a + 2;
            return r;
        }
    }
    return NULL;
}

static const struct option_row *positional_at(const struct option_row *rows, int index)
{
    for (const struct option_row *r = rows; r->name; r++)
        if (option_positional(r) && (index-- == 0 || r->kind == OPTION_REST))
            return r;
    return NULL;
}

/* What later words depend on. */
static void note(struct completion *c, const struct option_row *r, const char *value)
{
    if (!strcmp(r->name, "SPEC"))
        c->spec = value;
    else if (!strcmp(r->name, "kernel"))
        c->kernel = value;
    else if (!strcmp(r->name, "strategy"))
        c->strategy = value;
    else if (!strcmp(r->name, "db"))
        c->db = value;
    else if (!strcmp(r->name, "set")) {
        MEM_GROW(c->settings.items, c->settings.count, c->settings.cap);
        c->settings.items[c->settings.count++] = mem_strdup(value);
    }
}

static void offer_options(struct completion *c, const struct option_row *rows)
{
    for (const struct option_row *r = rows; r->name; r++) {
        if (option_positional(r))
            continue;
        struct strbuf name = {0};
        sb_addf(&name, "--%s", r->name);
        complete_offer(c, sb_str(&name), r->help);
        sb_free(&name);
    }
    complete_offer(c, "--help", "what there is to say");
}

static void offer_commands(struct completion *c)
{
    for (const struct command *const *all = cli_commands(); *all; all++)
        complete_offer(c, (*all)->name, (*all)->summary);
    if (*c->word == '-') {
        complete_offer(c, "--help", "the commands");
        complete_offer(c, "--version", "the version");
    }
}

static void at_cursor(struct completion *c, const struct option_row *pending, bool in_list, bool ended, int given)
{
    const struct option_row *rows = c->command->options, *r;
    const char *word = c->word, *attached = NULL;
    if (pending && !(in_list && *word == '-')) {
        complete_option_value(c, pending);
        if (!in_list) /* a list may be over, and an argument follow */
            return;
    }
    bool dashed = !ended && *word == '-';
    r = dashed && word[1] ? find(rows, word, &attached) : NULL;
    if (r && attached && r->kind != OPTION_FLAG) {
        c->before = word;
        c->before_len = (size_t)(attached - word);
        c->word = attached;
        complete_option_value(c, r);
    } else if (dashed) {
        offer_options(c, rows);
    } else if ((r = positional_at(rows, given))) {
        complete_option_value(c, r);
    } else if (!ended && !*word && !pending) {
        offer_options(c, rows);
    }
}

static void walk(struct completion *c, int argc, char *const *argv)
{
    const struct option_row *rows = c->command->options, *pending = NULL, *r;
    bool ended = false, in_list = false; /* in_list: pending has a value already */
    int given = 0;
    for (int i = 0; i < argc; i++) {
        const char *a = argv[i], *attached = NULL;
        if (pending && !(in_list && *a == '-')) {
            note(c, pending, a);
            in_list = pending->kind == OPTION_LIST;
            pending = in_list ? pending : NULL;
        } else if (!ended && !strcmp(a, "--")) {
            ended = true;
            pending = NULL;
        } else if (!ended && a[0] == '-' && a[1]) {
            r = find(rows, a, &attached);
            in_list = false;
            pending = r && r->kind != OPTION_FLAG && !attached ? r : NULL;
            if (r && attached)
                note(c, r, attached);
        } else if ((r = positional_at(rows, given++))) {
            note(c, r, a);
        }
    }
    at_cursor(c, pending, in_list, ended, given);
}

status complete_run(const struct cli *cli, int argc, char *const *argv, struct err *e)
{
    if (argc < 2 || strcmp(argv[0], "--") != 0)
        return err_set(e, LATHE_USAGE, "complete: expected `lathe complete -- WORD...`\n"
                       "`lathe help completion` tells of completion");
    struct completion c = {.cli = cli, .word = argv[argc - 1], .before = ""};
    struct err none = {0};
    if (argc == 2)
        offer_commands(&c);
    else if (cli_find(argv[1], &c.command, &none) == LATHE_OK)
        walk(&c, argc - 3, argv + 2);
    text_list_free(&c.settings);
    return out_buffer(&c.out, e);
}
