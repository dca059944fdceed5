/* progress_several.c: see progress_several.h. How often counts come is their sender's choice, but the block is drawn at
 * most ten times a second, whatever the number of campaigns. */
#include "cli/progress/progress_several.h"
#include "base/mem.h"
#include "console/table.h"
#include <string.h>

enum { NAME_COLUMNS = 24, ROWS_LEFT = 4 };
#define BETWEEN_SECONDS 0.1

static int same_before(const char *const *names, int at)
{
    int same = 0;
    for (int i = 0; i < at; i++) same += !strcmp(names[i], names[at]);
    return same;
}

void several_init(struct progress_several *s, FILE *out, bool quiet, const char *const *names, int count)
{
    *s = (struct progress_several){.count = count, .parts = mem_zalloc((size_t)count, sizeof *s->parts)};
    progress_init(&s->screen, out, quiet);
    for (int i = 0; i < count; i++) {
        struct strbuf name = {0};
        int same = same_before(names, i);
        text_cut(&name, names[i], NAME_COLUMNS);
        if (same)
            sb_addf(&name, " (%d)", same + 1);
        s->parts[i].name = sb_take(&name);
    }
}

/* The names stand in a column. */
static void add_part(const struct progress_several *s, int i, struct strbuf *b)
{
    int widest = 0;
    for (int k = 0; k < s->count; k++)
        if (text_width(s->parts[k].name) > widest)
            widest = text_width(s->parts[k].name);
    sb_addf(b, "%s%*s  %s", s->parts[i].name, widest - text_width(s->parts[i].name), "",
            s->parts[i].counts ? s->parts[i].counts : "setting up");
}

/* A terminal that is low shows the first of them. */
static void draw(struct progress_several *s)
{
    struct progress *p = &s->screen;
    struct strbuf *lines = mem_zalloc((size_t)s->count, sizeof *lines);
    const char **shades = mem_zalloc((size_t)s->count, sizeof *shades);
    progress_look(p);
    int fit = p->rows > 0 ? p->rows - ROWS_LEFT : s->count;
    for (int i = 0; i < s->count; i++) {
        shades[i] = "";
        add_part(s, i, &lines[i]);
    }
    progress_block(p, lines, shades, fit < 1 ? 1 : fit < s->count ? fit : s->count);
    p->drawn_at = p->now();
    for (int i = 0; i < s->count; i++) sb_free(&lines[i]);
    mem_free(shades);
    mem_free(lines);
}

static void say(struct progress_several *s, int i, enum progress_shade shade, const char *text)
{
    char *line = mem_printf("%s: %s", s->parts[i].name, text);
    progress_say(&s->screen, shade, line);
    mem_free(line);
}

void several_line(struct progress_several *s, int i, enum progress_shade shade, const char *text)
{
    if (s->screen.quiet)
        return;
    say(s, i, shade, text);
    if (s->screen.live)
        draw(s);
}

void several_counts(struct progress_several *s, int i, const char *text)
{
    struct progress *p = &s->screen;
    if (p->quiet)
        return;
    mem_free(s->parts[i].counts);
    s->parts[i].counts = mem_strdup(text);
    if (!p->live)
        say(s, i, PROGRESS_PLAIN, text);
    else if (!p->lines_open || p->now() - p->drawn_at >= BETWEEN_SECONDS)
        draw(s);
}

void several_end(struct progress_several *s)
{
    progress_end(&s->screen);
    for (int i = 0; i < s->count; i++) {
        mem_free(s->parts[i].name);
        mem_free(s->parts[i].counts);
    }
    mem_free(s->parts);
}
