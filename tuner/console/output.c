/* output.c: see output.h. */
#include "console/output.h"
#include "base/mem.h"
#include "console/table.h"
#include "console/wrap.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Set once EPIPE was met, or a reader that stands still was given up. Global because stdout is. */
static bool reader_gone;
static bool (*may_give_up)(void);   /* NULL: readers are waited for */

enum { PATIENCE_MS = 2000 };

void out_give_up(bool (*when)(void))
{
    may_give_up = when;
}

/* Whether there is room for PIPE_BUF bytes; else the reader took nothing for a while, and may be given up. */
static bool wait_for_room(void)
{
    struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};
    for (;;) {
        int n = poll(&p, 1, PATIENCE_MS);
        if (n > 0 || (n < 0 && errno != EINTR))
            return true;            /* what is wrong with it, writing tells */
        if (n == 0 && may_give_up())
            return false;
    }
}

status out_text(const char *text, size_t len, struct err *e)
{
    while (len > 0 && !reader_gone) {
        if (may_give_up && !wait_for_room()) {
            reader_gone = true;
            break;
        }
        ssize_t n = write(STDOUT_FILENO, text, may_give_up && len > PIPE_BUF ? PIPE_BUF : len);
        if (n >= 0) {
            text += n;
            len -= (size_t)n;
        } else if (errno == EPIPE) {
            reader_gone = true;
        } else if (errno != EINTR && errno != EAGAIN) {
            return err_set(e, LATHE_IO, "cannot write the result to standard output: %s", strerror(errno));
        }
    }
    return LATHE_OK;
}

status out_buffer(struct strbuf *b, struct err *e)
{
    status s = out_text(sb_str(b), b->len, e);
    sb_free(b);
    return s;
}

status out_report(struct strbuf *b, struct err *e)
{
    struct strbuf clean = {0}, lines = {0};
    text_escape(&clean, sb_str(b));
    sb_free(b);
    wrap_all(&lines, sb_str(&clean), text_columns(stdout));
    sb_free(&clean);
    return out_buffer(&lines, e);
}

void note_line(const char *format, ...)
{
    va_list args, again;
    struct strbuf clean = {0}, lines = {0};
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *text = mem_alloc(n > 0 ? (size_t)n + 1 : 1);
    *text = 0;
    if (n > 0)
        vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    va_end(args);
    text_escape(&clean, text);
    wrap_all(&lines, sb_str(&clean), text_columns(stderr));
    fprintf(stderr, "%s\n", sb_str(&lines));
    sb_free(&clean);
    sb_free(&lines);
    mem_free(text);
}

/* 15 digits: every decimal text of up to 15 digits (0.1, 4.9132) is printed as it was written. */
enum { JSON_STYLE = JSON_REAL_PRECISION(15) | JSON_ENCODE_ANY };

static int append(const char *s, size_t n, void *ctx)
{
    sb_addn(ctx, s, n);
    return 0;
}

json_t *out_string(const char *text)
{
    json_t *j = json_string(text);
    if (j)
        return j;
    char *clean = utf8_copy(text);
    j = json_string(clean);
    mem_free(clean);
    return j;
}

json_t *out_number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

void json_line(struct strbuf *b, const json_t *j)
{
    json_dump_callback(j, append, b, JSON_STYLE);
}

status json_pretty(struct strbuf *b, const json_t *j, struct err *e)
{
    if (json_dump_callback(j, append, b, JSON_STYLE | JSON_INDENT(2)) != 0)
        return err_set(e, LATHE_INTERNAL, "a result cannot be printed as JSON");
    sb_add(b, "\n");
    return LATHE_OK;
}

status out_json(const json_t *j, struct err *e)
{
    struct strbuf b = {0};
    status s = json_pretty(&b, j, e);
    if (s == LATHE_OK)
        return out_buffer(&b, e);
    sb_free(&b);
    return s;
}

bool out_reader_gone(void)
{
    return reader_gone;
}

bool is_terminal(FILE *f)
{
    const char *term = getenv("TERM");
    return isatty(fileno(f)) && term && *term && strcmp(term, "dumb") != 0;
}

bool wants_colour(FILE *f)
{
    const char *no = getenv("NO_COLOR");
    return is_terminal(f) && !(no && *no);
}

int text_columns(FILE *f)
{
    struct winsize w;
    return is_terminal(f) && ioctl(fileno(f), TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;
}

int terminal_columns(FILE *f)
{
    struct winsize w;
    if (ioctl(fileno(f), TIOCGWINSZ, &w) == 0 && w.ws_col > 0)
        return w.ws_col;
    return 80;
}

int terminal_rows(FILE *f)
{
    struct winsize w;
    return ioctl(fileno(f), TIOCGWINSZ, &w) == 0 ? w.ws_row : 0;
}
