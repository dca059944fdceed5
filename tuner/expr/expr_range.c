/* expr_range.c: between which two integers a node certainly lies, and which operation of it may leave 64 bits, so that
 * printed code asks only there.
 *
 * Invariants: the bounds hold wherever expr_eval gives a value. Where the operation itself may leave 64 bits they hold
 * 1 too, which is what printed code goes on with there (expr_c_guards). */
#include "base/mem.h"
#include "expr/expr_ast.h"

static const struct expr_range full = {INT64_MIN, INT64_MAX};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static struct expr_range hull(struct expr_range a, struct expr_range b)
{
    return (struct expr_range){least(a.low, b.low), most(a.high, b.high)};
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);                     /* b > 0 */
}

/* The corners of a op b, of which op is monotonic in each. */
static struct expr_range corners(enum expr_op op, struct expr_range a, struct expr_range b, bool *overflows)
{
    const int64_t x[4] = {a.low, a.low, a.high, a.high}, y[4] = {b.low, b.high, b.low, b.high};
    struct expr_range r = {INT64_MAX, INT64_MIN};
    for (int i = 0; i < 4; i++) {
        struct value v, left = value_int(x[i]), right = value_int(y[i]);
        if (expr_apply(op, &left, &right, false, &v)) {
            *overflows = true;
            return full;
        }
        r = hull(r, (struct expr_range){v.i, v.i});
    }
    return r;
}

static struct expr_range divided(struct expr_range a, struct expr_range b, bool *overflows)
{
    if (b.low > 0)
        return (struct expr_range){least(floor_div(a.low, b.low), floor_div(a.low, b.high)),
                                   most(floor_div(a.high, b.low), floor_div(a.high, b.high))};
    *overflows = a.low == INT64_MIN && b.low <= -1 && b.high >= -1;
    if (a.low == INT64_MIN)
        return full;
    int64_t far = most(a.low < 0 ? -a.low : a.low, a.high < 0 ? -a.high : a.high);
    return (struct expr_range){-far, far};
}

static struct expr_range remainder_of(struct expr_range a, struct expr_range b, bool *overflows)
{
    *overflows = a.low == INT64_MIN && b.low <= -1 && b.high >= -1;      /* C's own % ends the program there */
    if (b.low <= 0)
        return full;
    return (struct expr_range){0, a.low >= 0 ? least(a.high, b.high - 1) : b.high - 1};
}

static struct expr_range negative(struct expr_range a, bool *overflows)
{
    *overflows = a.low == INT64_MIN;
    return *overflows ? full : (struct expr_range){-a.high, -a.low};
}

static struct expr_range magnitude(struct expr_range a, bool *overflows)
{
    struct expr_range n = negative(a, overflows);
    if (*overflows)
        return (struct expr_range){0, INT64_MAX};
    return a.low >= 0 ? a : a.high <= 0 ? n : (struct expr_range){0, most(a.high, n.high)};
}

/* Of the arguments from `first` on: their least bounds, their largest, or both. */
static struct expr_range of_all(const struct expr *x, int first, const struct expr_fact *facts, enum expr_form form)
{
    struct expr_range r = facts[first].range;
    for (int i = x->nodes[first].next; i >= 0; i = x->nodes[i].next) {
        struct expr_range next = facts[i].range;
        r.low = form == FORM_MAX ? most(r.low, next.low) : least(r.low, next.low);
        r.high = form == FORM_MIN ? least(r.high, next.high) : most(r.high, next.high);
    }
    return r;
}

static struct expr_range clamped(struct expr_range a, struct expr_range low, struct expr_range high)
{
    return (struct expr_range){least(most(a.low, low.low), high.low), least(most(a.high, low.high), high.high)};
}

static struct expr_range operated(const struct expr *x, const struct expr_node *n, const struct expr_fact *facts,
                                  bool *overflows)
{
    struct expr_range a = facts[n->first].range, b = a;
    int second = x->nodes[n->first].next;
    if (second >= 0)
        b = facts[second].range;
    switch (n->form) {
    case FORM_ADD: case FORM_SUB: case FORM_MUL: return corners(n->op, a, b, overflows);
    case FORM_FLOOR_DIV: return divided(a, b, overflows);
    case FORM_MOD: return remainder_of(a, b, overflows);
    case FORM_NEG: return negative(a, overflows);
    case FORM_ABS: return magnitude(a, overflows);
    case FORM_MIN: case FORM_MAX: return of_all(x, n->first, facts, n->form);
    case FORM_SELECT: return of_all(x, second, facts, n->form);
    case FORM_CLAMP: return clamped(a, b, facts[x->nodes[second].next].range);
    case FORM_CEIL_DIV:
        b = (struct expr_range){most(b.low, 1), most(b.high, 1)};
        return corners(OP_CEIL_DIV, a, b, overflows);
    case FORM_LOG2: return (struct expr_range){0, 62};
    case FORM_FLOOR: case FORM_CEIL: case FORM_ROUND:
        *overflows = n->op != OP_NONE;
        return *overflows ? full : a;
    default: return full;
    }
}

void expr_find_range(const struct expr *x, int node, const struct expr_range *ranges, struct expr_fact *facts)
{
    const struct expr_node *n = &x->nodes[node];
    struct expr_fact *f = &facts[node];
    f->range = full;
    if (n->type != VALUE_INT)
        return;
    if (f->value.type == VALUE_INT)
        f->range = (struct expr_range){f->value.i, f->value.i};
    else if (n->form == FORM_NAME && ranges)
        f->range = ranges[n->slot];
    else if (n->first >= 0)
        f->range = operated(x, n, facts, &f->overflows);
    if (f->overflows)
        f->range = hull(f->range, (struct expr_range){1, 1});
}

struct expr_range expr_range_of(const struct expr *x, const struct value *known, const struct expr_range *ranges)
{
    struct expr_fact *facts = expr_facts(x, known, ranges);
    struct expr_range r = facts[x->count - 1].range;
    mem_free(facts);
    return r;
}
