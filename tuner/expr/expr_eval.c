/* expr_eval.c: the machine that runs an expression's code, and what each operation does.
 *
 * Invariants: nothing is allocated, except for the message of a failure. Every operation checks the types of what it
 * reads, because slots are filled by others; so a slot without a value is a failure, never a wrong result. A temporary
 * is written before it is read. */
#include "base/mem.h"
#include "expr/expr_ast.h"

#include <math.h>
#include <string.h>

const char *expr_fault_text(enum expr_fault f)
{
    switch (f) {
    case FAULT_NONE: return "no failure";
    case FAULT_ZERO: return "division by zero";
    case FAULT_OVERFLOW: return "the result does not fit in a 64-bit integer";
    case FAULT_LOG2: return "log2 takes a power of two";
    case FAULT_DIVISOR: return "ceil_div takes a divisor above 0";
    case FAULT_TYPE: return "a name has no value, or one of the wrong type";
    case FAULT_ELEMENT: return "the elements of tensors have no value here";
    }
    return "unknown failure";
}

/* Both are at least 0 and below 2^32: their division is several times as fast in 32 bits. */
static inline bool both_small(int64_t a, int64_t b)
{
    return ((uint64_t)a | (uint64_t)b) >> 32 == 0;
}

static inline enum expr_fault floor_div(int64_t a, int64_t b, int64_t *out)
{
    if (b == 0)
        return FAULT_ZERO;
    if (both_small(a, b)) {
        *out = (uint32_t)a / (uint32_t)b;
        return FAULT_NONE;
    }
    if (a == INT64_MIN && b == -1)
        return FAULT_OVERFLOW;
    int64_t q = a / b;
    *out = q - (a % b != 0 && (a < 0) != (b < 0));
    return FAULT_NONE;
}

static inline enum expr_fault floor_mod(int64_t a, int64_t b, int64_t *out)
{
    if (b == 0)
        return FAULT_ZERO;
    if (both_small(a, b)) {
        *out = (uint32_t)a % (uint32_t)b;
        return FAULT_NONE;
    }
    int64_t r = b == -1 ? 0 : a % b;                /* INT64_MIN % -1 traps */
    *out = r != 0 && (r < 0) != (b < 0) ? r + b : r;
    return FAULT_NONE;
}

static inline enum expr_fault ceil_div(int64_t a, int64_t b, int64_t *out)
{
    if (b <= 0)
        return FAULT_DIVISOR;
    if (both_small(a, b)) {
        *out = ((int64_t)(uint32_t)a + b - 1) / b;
        return FAULT_NONE;
    }
    *out = a / b + (a % b > 0);
    return FAULT_NONE;
}

static double float_mod(double a, double b)
{
    double r = fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* A NaN stays one: a kernel that left its output unwritten must not be hidden by max(z, 0). */
static inline double float_min(double a, double b)
{
    return a < b || a != a ? a : b;
}

static inline double float_max(double a, double b)
{
    return a > b || a != a ? a : b;
}

/* x tanh(log(1 + exp(x))): see expr_c_helpers.c. */
static double mish(double x)
{
    double e = exp(fmin(x, 20)), n = e * (e + 2);
    return x * (n / (n + 2));
}

static enum expr_fault to_int(double f, struct value *out)
{
    if (!(f >= -0x1p63 && f < 0x1p63))
        return FAULT_OVERFLOW;
    *out = value_int((int64_t)f);
    return FAULT_NONE;
}

static inline bool is_pow2(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

static inline enum expr_fault apply_int(enum expr_op op, int64_t a, int64_t b, struct value *out)
{
    int64_t r = 0;
    enum expr_fault fault = FAULT_NONE;
    switch (op) {
    case OP_LT_I: *out = value_bool(a < b); return FAULT_NONE;
    case OP_LE_I: *out = value_bool(a <= b); return FAULT_NONE;
    case OP_GT_I: *out = value_bool(a > b); return FAULT_NONE;
    case OP_GE_I: *out = value_bool(a >= b); return FAULT_NONE;
    case OP_EQ_I: *out = value_bool(a == b); return FAULT_NONE;
    case OP_NE_I: *out = value_bool(a != b); return FAULT_NONE;
    case OP_IS_POW2: *out = value_bool(is_pow2(a)); return FAULT_NONE;
    case OP_ADD_I: fault = __builtin_add_overflow(a, b, &r) ? FAULT_OVERFLOW : FAULT_NONE; break;
    case OP_SUB_I: fault = __builtin_sub_overflow(a, b, &r) ? FAULT_OVERFLOW : FAULT_NONE; break;
    case OP_MUL_I: fault = __builtin_mul_overflow(a, b, &r) ? FAULT_OVERFLOW : FAULT_NONE; break;
    case OP_NEG_I: fault = __builtin_sub_overflow((int64_t)0, a, &r) ? FAULT_OVERFLOW : FAULT_NONE; break;
    case OP_ABS_I: fault = a == INT64_MIN ? FAULT_OVERFLOW : FAULT_NONE; r = a < 0 && !fault ? -a : a; break;
    case OP_FLOOR_DIV_I: fault = floor_div(a, b, &r); break;
    case OP_MOD_I: fault = floor_mod(a, b, &r); break;
    case OP_CEIL_DIV: fault = ceil_div(a, b, &r); break;
    case OP_MIN_I: r = a < b ? a : b; break;
    case OP_MAX_I: r = a > b ? a : b; break;
    case OP_LOG2: fault = is_pow2(a) ? FAULT_NONE : FAULT_LOG2; r = fault ? 0 : __builtin_ctzll((uint64_t)a); break;
    default: fault = FAULT_TYPE; break;
    }
    *out = value_int(r);
    return fault;
}

static inline enum expr_fault apply_float(enum expr_op op, double a, double b, bool ieee, struct value *out)
{
    double r;
    switch (op) {
    case OP_LT_F: *out = value_bool(a < b); return FAULT_NONE;
    case OP_LE_F: *out = value_bool(a <= b); return FAULT_NONE;
    case OP_GT_F: *out = value_bool(a > b); return FAULT_NONE;
    case OP_GE_F: *out = value_bool(a >= b); return FAULT_NONE;
    case OP_EQ_F: *out = value_bool(a == b); return FAULT_NONE;
    case OP_NE_F: *out = value_bool(a != b); return FAULT_NONE;
    case OP_FLOOR: return to_int(floor(a), out);
    case OP_CEIL: return to_int(ceil(a), out);
    case OP_ROUND: return to_int(round(a), out);
    case OP_DIV_F: case OP_FLOOR_DIV_F: case OP_MOD_F:
        if (b == 0 && !ieee)
            return FAULT_ZERO;
        r = op == OP_DIV_F ? a / b : op == OP_FLOOR_DIV_F ? floor(a / b) : float_mod(a, b);
        break;
    case OP_ADD_F: r = a + b; break;
    case OP_SUB_F: r = a - b; break;
    case OP_MUL_F: r = a * b; break;
    case OP_NEG_F: r = -a; break;
    case OP_ABS_F: r = fabs(a); break;
    case OP_MIN_F: r = float_min(a, b); break;
    case OP_MAX_F: r = float_max(a, b); break;
    case OP_POW: r = pow(a, b); break;
    case OP_SQRT: r = sqrt(a); break;
    case OP_RSQRT: r = 1 / sqrt(a); break;
    case OP_EXP: r = exp(a); break;
    case OP_EXPM1: r = expm1(a); break;
    case OP_LOG: r = log(a); break;
    case OP_LOG1P: r = log1p(a); break;
    case OP_TANH: r = tanh(a); break;
    case OP_ERF: r = erf(a); break;
    case OP_SIGMOID: r = 1 / (1 + exp(-a)); break;
    case OP_GELU: r = 0.5 * a * (1 + erf(a * 0.7071067811865476)); break;
    case OP_MISH: r = mish(a); break;
    case OP_SIN: r = sin(a); break;
    case OP_COS: r = cos(a); break;
    default: return FAULT_TYPE;
    }
    *out = value_float(r);
    return FAULT_NONE;
}

static inline enum expr_fault apply_other(enum expr_op op, const struct value *a, const struct value *b,
                                          struct value *out)
{
    bool strings = op == OP_EQ_S || op == OP_NE_S;
    enum value_type type = strings ? VALUE_STRING : VALUE_BOOL;
    if (a->type != type || b->type != type)
        return FAULT_TYPE;
    bool equal = strings ? a->s == b->s || !strcmp(a->s, b->s) : a->b == b->b;
    *out = value_bool(op == OP_NOT ? !a->b : equal == (op == OP_EQ_S || op == OP_EQ_B));
    return FAULT_NONE;
}

static inline bool number(const struct value *v, double *out)
{
    if (v->type == VALUE_FLOAT)
        *out = v->f;
    else if (v->type == VALUE_INT)
        *out = (double)v->i;
    else
        return false;
    return true;
}

static inline enum expr_fault apply(enum expr_op op, const struct value *a, const struct value *b, bool ieee,
                                    struct value *out)
{
    if (op <= OP_NE_I) {
        if (a->type != VALUE_INT || b->type != VALUE_INT)
            return FAULT_TYPE;
        return apply_int(op, a->i, b->i, out);
    }
    if (op <= OP_ROUND) {
        double x, y;
        if (!number(a, &x) || !number(b, &y))
            return FAULT_TYPE;
        return apply_float(op, x, y, ieee, out);
    }
    return apply_other(op, a, b, out);
}

enum expr_fault expr_apply(enum expr_op op, const struct value *a, const struct value *b, bool ieee, struct value *out)
{
    return apply(op, a, b, ieee, out);
}

struct elements {
    expr_element_fn get;                            /* NULL: none */
    void *ctx;
};

static enum expr_fault read_element(const struct expr_instruction *in, const struct elements *elements,
                                    struct value *temps)
{
    int64_t index[EXPR_MAX_RANK];
    if (!elements->get)
        return FAULT_ELEMENT;
    for (int i = 0; i < in->b; i++) {
        if (temps[in->dst + i].type != VALUE_INT)
            return FAULT_TYPE;
        index[i] = temps[in->dst + i].i;
    }
    temps[in->dst] = value_float(elements->get(elements->ctx, in->a, index, in->b));
    return FAULT_NONE;
}

static enum expr_fault run(const struct expr_program *p, const struct value *slots, const struct elements *elements,
                           struct value *out)
{
    struct value temps[EXPR_MAX_TEMPS];
    const struct value *const base[] = {[OPERAND_SLOT] = slots, [OPERAND_CONST] = p->consts, [OPERAND_TEMP] = temps};
    const struct expr_instruction *code = p->code, *end = p->ncode ? code + p->ncode : code;
    bool ieee = elements->get != NULL;
    for (const struct expr_instruction *in = code; in < end; in++) {
        enum expr_fault fault = FAULT_NONE;
        if (in->op == OP_ELEMENT) {                 /* its operands are no values */
            if ((fault = read_element(in, elements, temps)))
                return fault;
            continue;
        }
        const struct value *a = base[in->a_kind] + in->a, *b = base[in->b_kind] + in->b;
        if (in->op < OP_MOVE) {
            if ((fault = apply((enum expr_op)in->op, a, b, ieee, &temps[in->dst])))
                return fault;
        } else if (in->op == OP_MOVE) {
            temps[in->dst] = *a;
        } else if (in->op == OP_JUMP) {
            in = code + in->dst - 1;
        } else {
            if (a->type != VALUE_BOOL)
                return FAULT_TYPE;
            if (a->b == (in->op == OP_JUMP_TRUE))
                in = code + in->dst - 1;
        }
    }
    *out = base[p->result.kind][p->result.index];
    return FAULT_NONE;
}

/* The first slot that does not hold what the scope promised, as part of the message. */
static void explain_type_fault(struct strbuf *b, const struct expr *x, const struct value *slots)
{
    for (int i = 0; i < x->count; i++) {
        const struct expr_node *n = &x->nodes[i];
        if (n->form != FORM_NAME || slots[n->slot].type == n->type ||
            (n->type == VALUE_FLOAT && slots[n->slot].type == VALUE_INT))
            continue;
        sb_addf(b, "`%.*s` holds %s, expected a value of type %s", n->at_len, x->text + n->at,
                value_type_name(slots[n->slot].type), value_type_name(n->type));
        return;
    }
    sb_add(b, expr_fault_text(FAULT_TYPE));
}

static status report(const struct expr *x, const struct value *slots, enum expr_fault fault, struct err *e)
{
    if (!e)
        return LATHE_SPEC;
    struct strbuf b = {0};
    expr_explain(&b, x, slots);
    sb_add(&b, ": ");
    if (fault == FAULT_TYPE)
        explain_type_fault(&b, x, slots);
    else
        sb_add(&b, expr_fault_text(fault));
    status s = err_set(e, LATHE_SPEC, "%s", sb_str(&b));
    sb_free(&b);
    return s;
}

status expr_eval_with(const struct expr *x, const struct value *slots, expr_element_fn element, void *ctx,
                      struct value *out, struct err *e)
{
    if (!x->bound)
        return err_set(e, LATHE_INTERNAL, "`%s` is evaluated before it is bound to a scope", x->text);
    struct elements elements = {.get = element, .ctx = ctx};
    enum expr_fault fault = run(&x->program, slots, &elements, out);
    enum value_type type = x->nodes[x->count - 1].type;
    if (!fault && out->type != type) {              /* a slot as it stands, or an integer branch of a float select */
        if (type == VALUE_FLOAT && out->type == VALUE_INT)
            *out = value_float((double)out->i);
        else
            fault = FAULT_TYPE;
    }
    return fault ? report(x, slots, fault, e) : LATHE_OK;
}

status expr_eval(const struct expr *x, const struct value *slots, struct value *out, struct err *e)
{
    return expr_eval_with(x, slots, NULL, NULL, out, e);
}
