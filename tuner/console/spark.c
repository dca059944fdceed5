/* spark.c: see spark.h. Bars are Unicode's block elements: U+2581 to U+2588 grow upwards, U+258F to U+2588 to the
 * right. */
#include "console/spark.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { EIGHTHS = 8 };

bool spark_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (!value || !*value)
            continue;
        const char *dot = strchr(value, '.');
        return dot && (!strncasecmp(dot + 1, "utf-8", 5) || !strncasecmp(dot + 1, "utf8", 4));
    }
    return false;
}

/* One of U+2580 .. U+259F */
static void block(struct strbuf *b, int n)
{
    const char bytes[] = {(char)0xe2, (char)0x96, (char)(0x80 + n)};
    sb_addn(b, bytes, sizeof bytes);
}

void spark_bar(struct strbuf *b, double share, int width, const char *rest, bool utf8)
{
    double x = share > 0 ? share < 1 ? share : 1 : 0;
    int parts = (int)floor(x * width * (utf8 ? EIGHTHS : 1) + 0.5), whole = utf8 ? parts / EIGHTHS : parts,
        used = whole;
    for (int i = 0; i < whole; i++) {
        if (utf8)
            block(b, 8);
        else
            sb_add(b, "#");
    }
    if (utf8 && parts % EIGHTHS) {
        block(b, 16 - parts % EIGHTHS); /* U+258F is one eighth */
        used++;
    }
    for (int i = used; i < width; i++) sb_add(b, rest);
}

void spark_line(struct strbuf *b, const double *values, int n, bool utf8)
{
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < n; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    if (!utf8 || !(most > least))
        return;
    bool logs = least > 0;
    double low = logs ? log(least) : least, high = logs ? log(most) : most;
    for (int i = 0; i < n; i++) {
        if (isnan(values[i])) {
            sb_add(b, " ");
            continue;
        }
        double share = ((logs ? log(values[i]) : values[i]) - low) / (high - low);
        block(b, 1 + (int)floor(share * (EIGHTHS - 1) + 0.5));
    }
}
