/* test_source_epilogue.c: the generated epilogues, compiled by the system's C++ compiler and run. */
#include "source_fixture.h"

#include "model/source.h"
#include <dlfcn.h>
#include <math.h>

enum { ROWS = 3, COLS = 4, DEPTH = 5 };
static float bias[COLS], residual[ROWS * COLS], cube[ROWS * COLS * DEPTH];
static int steps[COLS];
static uint16_t half_rows[ROWS], brain_columns[COLS];

static double element(void *ctx, int slot, const int64_t *index, int rank)
{
    const struct problem *p = ctx;
    const char *name = p->epilogue_scope.names[slot].name;
    if (strcmp(name, "R") == 0)
        return residual[index[0] * COLS + index[1]];
    if (strcmp(name, "C3") == 0)
        return cube[(index[0] * COLS + index[1]) * DEPTH + index[2]];
    if (strcmp(name, "I") == 0)
        return steps[index[0]];
    if (strcmp(name, "H") == 0)
        return f16_to_float(half_rows[index[0]]);
    if (strcmp(name, "B") == 0)
        return bf16_to_float(brain_columns[index[0]]);
    return bias[index[0]];
}

/* What the specification means by it, from the language's own evaluator. */
static double wanted(const struct problem *p, double acc, int m, int n)
{
    struct value slots[64], v;
    struct err e = {0};
    double z = acc + (p->reference.bias >= 0 ? bias[n] : 0), out = 0;
    problem_slots(p, slots);
    slots[p->epilogue_z] = value_float(z);
    slots[p->epilogue_index] = value_int(m);
    slots[p->epilogue_index + 1] = value_int(n);
    if (!p->epilogue)
        return z;
    if (expr_eval_with(p->epilogue, slots, element, (void *)p, &v, &e) || !value_as_double(v, &out))
        fail_msg("%s", e.text);
    return out;
}

static const char *const epilogues[] = {
    NULL,
    "z",
    "s * z * sigmoid(z)",
    "max(z, 0)",
    "z * sigmoid(1.702 * z) + R[m, n]",
    "select(z > 0, z, s * expm1(z)) - b[n]",
    "z + C3[m, n, (m + n) % K] * C3[m, n, 0]",
    "0.5 * z * (1 + erf(z / sqrt(2)))",
    "clamp(z, -1, 1) + select(n >= m, 0, -10) + m",
    "z + I[n] / I[0] + I[n] % 2",
    "N - m",
    "tanh(z) / (M * 1.0 + n // 2)",
    "z * B[n] + H[m]",
};
enum { EPILOGUES = sizeof epilogues / sizeof epilogues[0] };

static struct problem *epilogue_problem(int i)
{
    json_t *tree = fixture_tree();
    fixture_set(tree, "dims", "[[\"M\", 3], [\"N\", 4], [\"K\", 5]]");
    fixture_set(tree, "kernels/0/constraints", "[]");
    fixture_set(tree, "tensors/4", "[\"R\", \"f32\", [\"M\", \"N\"]]");
    fixture_set(tree, "tensors/5", "[\"C3\", \"f32\", [\"M\", \"N\", \"K\"]]");
    fixture_set(tree, "tensors/6", "[\"I\", \"i32\", [\"N\"]]");
    fixture_set(tree, "tensors/7", "[\"H\", \"f16\", [\"M\"]]");
    fixture_set(tree, "tensors/8", "[\"B\", \"bf16\", [\"N\"]]");
    char *text = epilogues[i] ? mem_printf("\"%s\"", epilogues[i]) : NULL;
    fixture_set(tree, "epilogue", text);
    mem_free(text);
    if (i % 2)
        fixture_set(tree, "reference/bias", NULL);
    return fixture_problem(tree);
}

/* One C++ file with both structs of every epilogue in a namespace, and a C function for each. */
static char *epilogue_library(void)
{
    struct strbuf b = {0};
    struct err e = {0};
    sb_add(&b, "#include <math.h>\n#include <stddef.h>\n#include <string.h>\n#define __device__\n"
               "#define __forceinline__ inline\n#include \"kernels/common/types.cuh\"\n");
    sb_add(&b, expr_c_helpers());
    for (int i = 0; i < EPILOGUES; i++) {
        struct problem *p = epilogue_problem(i);
        sb_addf(&b, "namespace e%d {\n", i);
        if (source_epilogue(p, &b, &e) || source_epilogue_reference(p, &b, &e))
            fail_msg("%s: %s", epilogues[i], e.text);
        sb_addf(&b, "}\nextern \"C\" void run%d(const void *args, double acc, int m, int n, double out[2]) {\n"
                    "e%d::LatheEpilogue f; e%d::LatheEpilogueRef d;\nstatic_assert(sizeof f == sizeof d, \"\");\n"
                    "memcpy((void *)&f, args, sizeof f); memcpy((void *)&d, args, sizeof d);\n"
                    "out[0] = f((float)acc, m, n); out[1] = d(acc, m, n);\n}\n", i, i, i);
        problem_free(p);
    }
    return sb_take(&b);
}

/* The bytes of the struct, as a launcher packs them from the fields. */
static void pack(const struct problem *p, unsigned char *bytes)
{
    struct field *f;
    int n, at = 0;
    epilogue_fields(p, &f, &n);
    for (int i = 0; i < n; i++) {
        const void *pointer = NULL;
        float scalar;
        int dim;
        if (f[i].kind == FIELD_TENSOR) {
            const char *name = p->tensors[f[i].index].name;
            pointer = !strcmp(name, "R") ? (void *)residual : !strcmp(name, "C3") ? (void *)cube
                    : !strcmp(name, "I") ? (void *)steps : !strcmp(name, "H") ? (void *)half_rows
                    : !strcmp(name, "B") ? (void *)brain_columns : (void *)bias;
            memcpy(bytes + at, &pointer, sizeof pointer);
            at += 8;
        } else if (f[i].kind == FIELD_DIM) {
            dim = (int)p->dims[f[i].index].value;
            memcpy(bytes + at, &dim, 4);
            at += 4;
        } else {
            scalar = (float)p->scalars[f[i].index].value;
            memcpy(bytes + at, &scalar, 4);
            at += 4;
        }
    }
    mem_free(f);
}

static void check_epilogue(void *library, int i)
{
    char name[24];
    unsigned char args[128] = {0};
    double out[2];
    struct problem *p = epilogue_problem(i);
    snprintf(name, sizeof name, "run%d", i);
    void (*run)(const void *, double, int, int, double *);
    *(void **)&run = dlsym(library, name);
    assert_non_null(run);
    pack(p, args);
    for (int m = 0; m < ROWS; m++)
        for (int n = 0; n < COLS; n++)
            for (int k = 0; k < 5; k++) {
                double acc = (k - 2) * 0.75 + 0.125 * m, want = wanted(p, acc, m, n);
                run(args, acc, m, n, out);
                if (!(fabs(out[0] - want) <= 2e-6 * (1 + fabs(want))) ||
                    !(fabs(out[1] - want) <= 1e-14 * (1 + fabs(want))))
                    fail_msg("%s at acc=%g m=%d n=%d: float %.9g, double %.17g, wanted %.17g",
                             epilogues[i] ? epilogues[i] : "(none)", acc, m, n, out[0], out[1], want);
            }
    problem_free(p);
}

static void epilogues_compute(void **state)
{
    (void)state;
    if (system("c++ --version > /dev/null 2>&1") != 0)
        skip();
    for (int i = 0; i < ROWS * COLS * DEPTH; i++)
        cube[i] = (float)(i % 7) * 0.25f;
    for (int i = 0; i < ROWS * COLS; i++)
        residual[i] = (float)(i % 5) - 1.5f;
    for (int i = 0; i < COLS; i++) {
        bias[i] = 0.5f * (float)i - 0.75f;
        steps[i] = 4 - 3 * i;
        brain_columns[i] = bf16_from_float(1.7f - 0.9f * (float)i);
    }
    for (int i = 0; i < ROWS; i++)
        half_rows[i] = f16_from_float(0.3f * (float)i - 0.2f);
    char *text = epilogue_library(), *path = put("epilogues.cc", text), command[300];
    snprintf(command, sizeof command,
             "c++ -std=c++17 -O1 -Wall -Wextra -Wno-unused-parameter -Wno-unused-function -Werror "
             "-I. -shared -fPIC -o %s/epilogues.so %s",
             dir, path);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "%s/epilogues.so", dir);
    void *library = dlopen(command, RTLD_NOW);
    assert_non_null(library);
    for (int i = 0; i < EPILOGUES; i++)
        check_epilogue(library, i);
    dlclose(library);
    mem_free(text);
    mem_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(epilogues_compute),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
