/* err.c: error messages and the table of statuses.
 *
 * Invariant: err.text is always NUL-terminated, and a message that does not fit ends in "...", never in half a UTF-8
 * character. */
#include "base/err.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *text;
    int exit_code;
} statuses[STATUS_COUNT] = {
#define X(name, exit_code, text) {#name, text, exit_code},
    STATUS_TABLE(X)
#undef X
};

/* Cuts text[size] short at a character boundary and marks the cut. `wanted` is the length that vsnprintf asked for. */
static void mark_cut(char *text, size_t size, int wanted)
{
    if (wanted >= 0 && (size_t)wanted < size)
        return;
    size_t end = wanted < 0 ? strlen(text) : size - 1;
    if (end > size - 4)
        end = size - 4;
    while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80)
        end--;
    memcpy(text + end, "...", 4);
}

status err_set(struct err *e, status code, const char *fmt, ...)
{
    if (!e)
        return code;
    char text[sizeof e->text] = "";                 /* an argument may be the old e->text */
    va_list args;
    va_start(args, fmt);
    int wanted = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    mark_cut(text, sizeof text, wanted);
    e->code = code;
    memcpy(e->text, text, sizeof text);
    return code;
}

status err_prefix(struct err *e, const char *fmt, ...)
{
    if (!e)
        return LATHE_INTERNAL;                      /* nobody keeps the code: callers return the one they have */
    char prefix[sizeof e->text] = "";
    va_list args;
    va_start(args, fmt);
    int wanted = vsnprintf(prefix, sizeof prefix, fmt, args);
    va_end(args);
    mark_cut(prefix, sizeof prefix, wanted);
    return err_set(e, e->code, "%s: %s", prefix, e->text);
}

const char *status_name(status s)
{
    return (unsigned)s < STATUS_COUNT ? statuses[s].name : "UNKNOWN";
}

const char *status_text(status s)
{
    return (unsigned)s < STATUS_COUNT ? statuses[s].text : "unknown status";
}

int status_exit_code(status s)
{
    return (unsigned)s < STATUS_COUNT ? statuses[s].exit_code : statuses[LATHE_INTERNAL].exit_code;
}
