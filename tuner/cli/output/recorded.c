/* recorded.c: see recorded.h. */
#include "cli/output/recorded.h"

#include "console/output.h"
#include <string.h>

void recorded_add_notes(struct strbuf *b, const struct recording *r)
{
    struct strbuf notes = {0};
    recording_notes(r, &notes);
    for (char *line = notes.s, *end; line && (end = strchr(line, '\n')); line = end + 1)
        sb_addf(b, "%snote: %s: %.*s", b->len ? "\n" : "", r->path, (int)(end - line), line);
    sb_free(&notes);
}

void recorded_tell_notes(const struct recording *r)
{
    struct strbuf notes = {0};
    recorded_add_notes(&notes, r);
    if (notes.len)
        note_line("%s", sb_str(&notes));
    sb_free(&notes);
}
