/* config_value.c: which of a parameter's values is meant by one that comes from elsewhere. */
#include "model/config.h"

#include <math.h>
#include <string.h>

struct value param_read_value(const struct param *p, const char *text)
{
    return p->type == VALUE_STRING ? value_string(text) : value_read(text);
}

int param_find_value(const struct param *p, struct value v)
{
    int found = -1;
    for (int i = 0; i < p->nvalues && found < 0; i++)
        if (value_equal(p->values[i], v))
            found = i;
    struct strbuf wanted = {0};
    if (found < 0 && v.type != VALUE_NONE)
        value_print(&wanted, v);
    for (int i = 0; i < p->nvalues && found < 0 && wanted.len; i++) {
        struct strbuf text = {0};
        value_print(&text, p->values[i]);
        if (strcmp(sb_str(&text), sb_str(&wanted)) == 0)
            found = i;
        sb_free(&text);
    }
    sb_free(&wanted);
    return found;
}

int param_nearest_number(const struct param *p, double wanted)
{
    double v, low = HUGE_VAL, high = -HUGE_VAL, best = 0;
    int nearest = -1;
    if (isnan(wanted))
        return -1;
    for (int i = 0; i < p->nvalues && value_as_double(p->values[i], &v); i++) {
        low = fmin(low, v);
        high = fmax(high, v);
    }
    wanted = fmin(fmax(wanted, low), high);         /* so that no difference drowns in a large number */
    for (int i = 0; i < p->nvalues && value_as_double(p->values[i], &v); i++) {
        double away = fabs(v - wanted), before = fabs(best - wanted);
        if (nearest < 0 || away < before || (away == before && v < best)) {
            nearest = i;
            best = v;
        }
    }
    return nearest;
}
