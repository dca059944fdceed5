/* report_cells.c: see report_cells.h. */
#include "cli/output/report_cells.h"
#include <math.h>
#include <string.h>

bool cells_uniform(const json_t *rows, const json_t *more, const char *key)
{
    const json_t *first = NULL;
    for (int part = 0; part < 2; part++) {
        const json_t *array = part ? more : rows;
        for (size_t i = 0; i < json_array_size(array); i++) {
            const json_t *v = json_object_get(json_array_get(array, i), key);
            if (first && !json_equal((json_t *)first, (json_t *)v))
                return false;
            first = v;
        }
    }
    return true;
}

int cells_decimals(const json_t *rows, const json_t *more, const char *key)
{
    double least = INFINITY;
    for (int part = 0; part < 2; part++) {
        const json_t *array = part ? more : rows;
        for (size_t i = 0; i < json_array_size(array); i++) {
            double v = tree_number(json_array_get(array, i), key);
            if (v > 0 && v < least)
                least = v;
        }
    }
    if (!isfinite(least))
        return 3;
    int d = 3 - (int)floor(log10(least));
    return d < 1 ? 1 : d <= 7 ? d : least < 1e-5 ? CELLS_POWERS : 7;
}

void cell_scaled(struct table *t, const json_t *row, const char *key, double scale, const char *fmt, int precision)
{
    double v = scale * tree_number(row, key);
    const char *behind = fmt + strlen("%.*f");
    char text[64] = "";
    if (!isnan(v) && precision == CELLS_POWERS)
        snprintf(text, sizeof text, "%.3e%s", v, behind);
    else if (!isnan(v))
        snprintf(text, sizeof text, fmt, precision, v);
    if (v != 0 && *text && !strpbrk(text, "123456789"))
        snprintf(text, sizeof text, "%.1e%s", v, behind);
    table_cell(t, text);
}

void cell_number(struct table *t, const json_t *row, const char *key, const char *fmt, int precision)
{
    cell_scaled(t, row, key, 1, fmt, precision);
}

void cell_size(struct table *t, const json_t *row)
{
    struct strbuf b = {0};
    report_size(&b, json_object_get(row, "size"));
    table_cell(t, sb_str(&b));
    sb_free(&b);
}

void cell_tolerance(struct table *t, const json_t *row)
{
    struct strbuf b = {0};
    if (report_is_recorded(row))
        sb_add(&b, "not verified here");
    else
        report_tolerance(&b, json_object_get(row, "tolerance"));
    table_cell(t, sb_str(&b));
    sb_free(&b);
}

void cell_configuration(struct table *t, const json_t *row, bool tell)
{
    struct strbuf b = {0};
    report_configuration(&b, json_object_get(row, "configuration"));
    if (tell && strcmp(tree_text(row, "outcome"), "ok") != 0 && *tree_text(row, "outcome"))
        sb_addf(&b, "%s(%s)", b.len ? " " : "", tree_text(row, "outcome"));
    table_cell(t, sb_str(&b));
    sb_free(&b);
}
