/* options.c: parses a command's arguments by its table.
 *
 * Accepted: --name VALUE, --name=VALUE, --flag, -x VALUE, -xVALUE, and "--" after which everything is positional; a
 * list as --name VALUE VALUE ...
 * Options and positional arguments may be mixed. An option's value may begin with a dash (a negative number gets its
 * own message), but not be another option of the command: that is a forgotten value. */
#include "console/options.h"
#include "base/mem.h"
#include "console/parse.h"
#include <stdio.h>
#include <string.h>

enum { MAX_ROWS = 32 };

bool option_positional(const struct option_row *r)
{
    return r->kind == OPTION_NEEDED || r->kind == OPTION_WANTED || r->kind == OPTION_REST;
}

static void *field(void *args, const struct option_row *r)
{
    return (char *)args + r->offset;
}

void text_list_free(struct text_list *l)
{
    for (int i = 0; i < l->count; i++)
        mem_free(l->items[i]);
    mem_free(l->items);
    *l = (struct text_list){0};
}

static void list_add(struct text_list *l, const char *s, size_t len)
{
    MEM_GROW(l->items, l->count, l->cap);
    struct strbuf b = {0};
    sb_addn(&b, s, len);
    l->items[l->count++] = sb_take(&b);
}

/* Of two values of one name, one would be forgotten silently. */
static status check_name_once(const char *what, const struct text_list *l, struct err *e)
{
    const char *last = l->items[l->count - 1];
    size_t len = strcspn(last, "=");
    for (int i = 0; i < l->count - 1; i++)
        if (last[len] && !strncmp(l->items[i], last, len + 1))
            return err_set(e, LATHE_USAGE, "%s: %.*s is given twice: %.200s, and %.200s\ngive one of them", what,
                           (int)len, last, l->items[i], last);
    return LATHE_OK;
}

/* "M=1,N=2": each part checked, then kept as text. */
static status add_sizes(const char *what, const char *text, struct text_list *l, struct err *e)
{
    for (;;) {
        size_t len = strcspn(text, ",");
        list_add(l, text, len);
        char name[MAX_DIM_NAME];
        int64_t value;
        status s = parse_dim(what, l->items[l->count - 1], name, &value, e);
        if (s == LATHE_OK)
            s = check_name_once(what, l, e);
        if (s != LATHE_OK || !text[len])
            return s;
        text += len + 1;
    }
}

/* Puts one value into its field. what: the option as the user knows it. */
static status set_value(const struct option_row *r, const char *what, const char *text, void *args, struct err *e)
{
    if (!*text)
        return err_set(e, LATHE_USAGE, "%s: the value is empty\nexpected %s", what, r->arg ? r->arg : r->name);
    switch (r->kind) {
    case OPTION_TEXT:
    case OPTION_NEEDED:
    case OPTION_WANTED:
        *(const char **)field(args, r) = text;
        return LATHE_OK;
    case OPTION_DATABASE:
        mem_free(*(char **)field(args, r));
        *(char **)field(args, r) = strcmp(text, "none") ? file_resolve(text) : mem_strdup(text);
        return LATHE_OK;
    case OPTION_TEXTS:
    case OPTION_LIST:
    case OPTION_REST:
        list_add(field(args, r), text, strlen(text));
        return LATHE_OK;
    case OPTION_PAIRS:
        list_add(field(args, r), text, strlen(text));
        return check_name_once(what, field(args, r), e);
    case OPTION_SIZES:
        return add_sizes(what, text, field(args, r), e);
    case OPTION_COUNT:
        return parse_count(what, text, r->min, r->max ? r->max : INT64_MAX, field(args, r), e);
    case OPTION_SECONDS:
        return parse_seconds(what, text, field(args, r), e);
    case OPTION_FLAG:
        break;
    }
    *(bool *)field(args, r) = true;
    return LATHE_OK;
}

static const struct option_row *find_long(const struct option_row *rows, const char *name, size_t len)
{
    for (const struct option_row *r = rows; r->name; r++)
        if (!option_positional(r) && strlen(r->name) == len && !memcmp(r->name, name, len))
            return r;
    return NULL;
}

static const struct option_row *find_letter(const struct option_row *rows, char letter)
{
    for (const struct option_row *r = rows; r->name; r++)
        if (letter && r->letter == letter)
            return r;
    return NULL;
}

/* Is this argument, as a whole, an option of the command? */
static bool is_option(const struct option_row *rows, const char *a)
{
    if (!strcmp(a, "--") || !strcmp(a, "--help"))
        return true;
    if (!strncmp(a, "--", 2))
        return find_long(rows, a + 2, strcspn(a + 2, "=")) != NULL;
    return a[0] == '-' && a[1] && !a[2] && find_letter(rows, a[1]);
}

static status unknown(const char *command, const struct option_row *rows, const char *a, struct err *e)
{
    const char *names[MAX_ROWS + 1];
    int n = 0;
    for (const struct option_row *r = rows; r->name && n < MAX_ROWS; r++)
        if (!option_positional(r))
            names[n++] = r->name;
    names[n++] = "help";
    char name[64] = "";
    strncpy(name, a + strspn(a, "-"), sizeof name - 1);
    name[strcspn(name, "=")] = 0;
    const char *near = nearest_word(name, names, n);
    if (near)
        return err_set(e, LATHE_USAGE, "%s: unknown option %.200s\ndid you mean --%s? `lathe help %s` lists all",
                       command, a, near, command);
    return err_set(e, LATHE_USAGE, "%s: unknown option %.200s\n`lathe help %s` lists the options", command, a, command);
}

struct parser {
    const char *command;
    const struct option_row *rows;
    int argc, at; /* argv[at] is the next to be read */
    char *const *argv;
    void *args;
};

/* argv[at - 1] was an option of row r; attached is the text after "=" or after the letter, or NULL. */
static status take_option(struct parser *p, const struct option_row *r, const char *attached, struct err *e)
{
    char what[80];
    if (r->given)
        *(bool *)((char *)p->args + r->given) = true;
    if (p->argv[p->at - 1][1] == '-')
        snprintf(what, sizeof what, "--%s", r->name);
    else
        snprintf(what, sizeof what, "-%c", r->letter);
    if (r->kind == OPTION_FLAG) {
        if (attached)
            return err_set(e, LATHE_USAGE, "%s: takes no value, but was given '%.200s'", what, attached);
        return set_value(r, what, "true", p->args, e);
    }
    if (attached)
        return set_value(r, what, attached, p->args, e);
    if (p->at >= p->argc)
        return err_set(e, LATHE_USAGE, "%s: needs a value\nexpected %s %s", what, what, r->arg);
    const char *value = p->argv[p->at++];
    if (is_option(p->rows, value))
        return err_set(e, LATHE_USAGE, "%s: needs a value, but is followed by the option %.200s\nexpected %s %s", what,
                       value, what, r->arg);
    status s = set_value(r, what, value, p->args, e);
    while (s == LATHE_OK && r->kind == OPTION_LIST && p->at < p->argc && p->argv[p->at][0] != '-')
        s = set_value(r, what, p->argv[p->at++], p->args, e);
    return s;
}

static status take_positional(struct parser *p, int index, const char *text, struct err *e)
{
    for (const struct option_row *r = p->rows; r->name; r++)
        if (option_positional(r) && (index-- == 0 || r->kind == OPTION_REST))
            return set_value(r, r->name, text, p->args, e);
    struct strbuf b = {0};
    options_usage(&b, p->command, p->rows);
    err_set(e, LATHE_USAGE, "%s: unexpected argument '%.200s'\n%s", p->command, text, sb_str(&b));
    sb_free(&b);
    return LATHE_USAGE;
}

static status take_dashed(struct parser *p, const char *a, struct err *e)
{
    const struct option_row *r;
    const char *attached = NULL;
    if (a[1] == '-') {
        size_t len = strcspn(a + 2, "=");
        r = find_long(p->rows, a + 2, len);
        if (a[2 + len])
            attached = a + 2 + len + 1;
    } else {
        r = find_letter(p->rows, a[1]);
        if (a[2])
            attached = a + 2;
    }
    return r ? take_option(p, r, attached, e) : unknown(p->command, p->rows, a, e);
}

static bool wants_help(int argc, char *const *argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--"); i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            return true;
    return false;
}

static status check_needed(const struct parser *p, int given, struct err *e)
{
    for (const struct option_row *r = p->rows; r->name; r++) {
        if (!option_positional(r) || given-- > 0)
            continue;
        if (r->kind == OPTION_NEEDED) {
            struct strbuf b = {0};
            options_usage(&b, p->command, p->rows);
            err_set(e, LATHE_USAGE, "%s: %s is missing: %s\n%s", p->command, r->name, r->help, sb_str(&b));
            sb_free(&b);
            return LATHE_USAGE;
        }
    }
    return LATHE_OK;
}

status options_parse(const char *command, const struct option_row *rows, int argc, char *const *argv, void *args,
                     bool *help, struct err *e)
{
    struct parser p = {command, rows, argc, 0, argv, args};
    *help = wants_help(argc, argv);
    if (*help)
        return LATHE_OK;
    for (const struct option_row *r = rows; r->name; r++)
        if (r->initial && set_value(r, r->name, r->initial, args, e) != LATHE_OK)
            return err_set(e, LATHE_INTERNAL, "%s: the default of --%s is wrong", command, r->name);
    int given = 0;
    bool ended = false; /* "--" was seen */
    while (p.at < argc) {
        const char *a = argv[p.at++];
        status s = LATHE_OK;
        if (!ended && !strcmp(a, "--"))
            ended = true;
        else if (!ended && a[0] == '-' && a[1])
            s = take_dashed(&p, a, e);
        else
            s = take_positional(&p, given++, a, e);
        if (s != LATHE_OK)
            return s;
    }
    return check_needed(&p, given, e);
}

void options_free(const struct option_row *rows, void *args)
{
    for (const struct option_row *r = rows; r->name; r++)
        if (r->kind == OPTION_TEXTS || r->kind == OPTION_LIST || r->kind == OPTION_REST || r->kind == OPTION_SIZES ||
            r->kind == OPTION_PAIRS)
            text_list_free(field(args, r));
        else if (r->kind == OPTION_DATABASE)
            mem_free(*(char **)field(args, r));
}
