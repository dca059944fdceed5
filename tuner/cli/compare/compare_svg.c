/* compare_svg.c: see compare_view.h: the aggregate curves, drawn. */
#include "cli/compare/compare_view.h"

#include "base/mem.h"
#include <math.h>
#include <string.h>

enum { LEGEND = 60, LETTER = 7, LEFT = 60, TOP = 20, PLOT_WIDTH = 560, PLOT_HEIGHT = 400, ROW = 18, COLOURS = 10 };
#define LOWEST -1.0             /* of the drawing: curves below are cut off there */

/* Told apart by people of any colour vision: Paul Tol's "bright" and "muted", then dashed. */
static const char *const colours[COLOURS] = {"#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee",
                                             "#aa3377", "#332288", "#999933", "#882255", "#777777"};

static void escaped(struct strbuf *b, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&': sb_add(b, "&amp;"); break;
        case '<': sb_add(b, "&lt;"); break;
        case '>': sb_add(b, "&gt;"); break;
        default: sb_addn(b, (unsigned char)*text < ' ' ? " " : text, 1); break;
        }
}

static double y_of(double score, double lowest)
{
    double inside = score < lowest ? lowest : score > 1 ? 1 : score;
    return TOP + PLOT_HEIGHT * (1 - inside) / (1 - lowest);
}

static void axes(struct strbuf *b, double lowest)
{
    for (int tenth = (int)nearbyint(lowest * 10); tenth <= 10; tenth += 2) {
        double y = y_of(tenth / 10.0, lowest);
        sb_addf(b, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"%s\"/>\n", LEFT, y, LEFT + PLOT_WIDTH, y,
                tenth ? "#ddd" : "#888");
        sb_addf(b, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.1f</text>\n", LEFT - 6, y + 4, tenth / 10.0);
    }
    for (int percent = 0; percent <= 100; percent += 20)
        sb_addf(b, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%d %%</text>\n", LEFT + PLOT_WIDTH * percent / 100,
                TOP + PLOT_HEIGHT + 18, percent);
    sb_addf(b, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">time, of each space's range</text>\n",
            LEFT + PLOT_WIDTH / 2, TOP + PLOT_HEIGHT + 38);
    sb_addf(b, "<text transform=\"translate(16,%d) rotate(-90)\" text-anchor=\"middle\">score: 0 random search, 1 the "
               "optimum</text>\n", TOP + PLOT_HEIGHT / 2);
}

static void curve(const struct comparison *c, int strategy, int place, double lowest, struct strbuf *b)
{
    const struct contest_standing *s = &c->result->standings[strategy];
    const char *colour = colours[place % COLOURS], *dash = place / COLOURS % 2 ? " stroke-dasharray=\"6 3\"" : "";
    double y = TOP + ROW * (place + 0.5);
    sb_addf(b, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"%s points=\"", colour, dash);
    for (int i = 0; i < SCORE_POSITIONS; i++)
        sb_addf(b, "%s%.1f,%.1f", i ? " " : "", LEFT + PLOT_WIDTH * (double)i / (SCORE_POSITIONS - 1),
                y_of(s->curve[i], lowest));
    sb_add(b, "\"/>\n");
    sb_addf(b, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"2\"%s/>\n",
            LEFT + PLOT_WIDTH + 14, y, LEFT + PLOT_WIDTH + 40, y, colour, dash);
    sb_addf(b, "<text x=\"%d\" y=\"%.1f\">", LEFT + PLOT_WIDTH + 46, y + 4);
    escaped(b, c->contest->strategies[strategy].label);
    sb_addf(b, " %.3f</text>\n", s->summary.mean);
}

void comparison_svg(const struct comparison *c, struct strbuf *b)
{
    int *order = comparison_order(c);
    double lowest = 0;
    for (int k = 0; k < c->result->nstandings; k++)
        for (int i = 0; c->result->standings[k].whole && i < SCORE_POSITIONS; i++)
            lowest = fmin(lowest, c->result->standings[k].curve[i]);
    lowest = fmax(floor(lowest * 5) / 5, LOWEST);
    size_t longest = 0;
    for (int k = 0; k < c->contest->nstrategies; k++)
        longest = longest > strlen(c->contest->strategies[k].label) ? longest : strlen(c->contest->strategies[k].label);
    int width = LEFT + PLOT_WIDTH + LEGEND + LETTER * ((int)longest + 8);
    int list = TOP + ROW * c->result->nstandings + ROW, plot = TOP + PLOT_HEIGHT + 50;
    sb_addf(b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
               "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n", width,
            list > plot ? list : plot);
    axes(b, lowest);
    for (int place = 0; place < c->result->nstandings; place++)
        if (c->result->standings[order[place]].whole)
            curve(c, order[place], place, lowest, b);
    sb_add(b, "</svg>\n");
    mem_free(order);
}
