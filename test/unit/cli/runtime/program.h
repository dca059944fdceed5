/* program.h: an exported launcher compiled against the runtime beside this file (cuda_runtime.h), and run: what it
 * would launch at some sizes; and the same from the plan. The kernels themselves are left out: functions of their names
 * take what the plan passes. nvcc, elsewhere, shows that this is what they take. */
#ifndef LATHE_TEST_PROGRAM_H
#define LATHE_TEST_PROGRAM_H

#include "base/mem.h"
#include "export/export.h"
#include "model/source.h"
#include "search/spec/spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { MOST_SIZES = 16 };
struct sizes {
    int n;
    int64_t dim[MOST_SIZES][16];
};

static char program_dir[] = "/tmp/lathe-program-XXXXXX";

static inline int program_setup(void **state)
{
    return mkdtemp(program_dir) ? 0 : -1;
}

static inline int program_teardown(void **state)
{
    char *command = mem_printf("rm -rf %s", program_dir);
    int failed = system(command);
    mem_free(command);
    return failed;
}

/* Addresses that no memory has: a tensor's, and the workspace's. */
static inline unsigned long long tensor_at(int i)
{
    return (unsigned long long)(i + 1) << 42;
}
static const unsigned long long workspace_at = 1ull << 50;

static inline json_t *program_tree(const char *path)
{
    struct err e = {0};
    json_t *tree = NULL;
    if (spec_read(path, &tree, &e))
        fail_msg("%s (run the tests from the repository's root)", e.text);
    return tree;
}

/* Takes the tree. */
static inline struct problem *program_problem(json_t *tree, const char *path)
{
    static const char *const include[] = {"kernels/common", NULL};
    struct err e = {0};
    struct problem *p = NULL;
    if (problem_from_json(tree, path, include, &p, &e))
        fail_msg("%s", e.text);
    json_decref(tree);
    return p;
}

/* --- what is compiled --- */

static inline void add_arg_type(struct strbuf *b, const struct arg *a)
{
    static const char *const types[] = {[ARG_I32] = "int", [ARG_I64] = "long long", [ARG_F32] = "float",
                                        [ARG_F64] = "double"};
    switch (a->kind) {
    case ARG_TENSOR: sb_add(b, "void *"); break;
    case ARG_EPILOGUE: sb_add(b, "LatheEpilogue"); break;
    case ARG_TENSOR_MAP: sb_add(b, "LatheTensorMap"); break;
    case ARG_EXPR: sb_add(b, types[a->type]); break;
    }
}

static inline bool launched_before(const struct kernel *k, int step)
{
    for (int i = 0; i < step; i++)
        if (k->steps[i].kind == STEP_LAUNCH && strcmp(k->steps[i].launch.function, k->steps[step].launch.function) == 0)
            return true;
    return false;
}

/* Takes the place of the kernel's source. */
static inline void stub_source(struct kernel *k)
{
    struct strbuf b = {0};
    sb_add(&b, "struct LatheTensorMap { alignas(64) char bytes[128]; };\n");
    for (int i = 0; i < k->nsteps; i++) {
        const struct launch *l = &k->steps[i].launch;
        if (k->steps[i].kind != STEP_LAUNCH || launched_before(k, i))
            continue;
        sb_addf(&b, "extern \"C\" __global__ void %s(", l->function);
        for (int a = 0; a < l->nargs; a++) {
            sb_add(&b, a ? ", " : "");
            add_arg_type(&b, &l->args[a]);
        }
        sb_add(&b, ") {}\n");
    }
    mem_free(k->source);
    k->source = sb_take(&b);
}

/* Of the epilogue's members, by name; of a tensor map, what it was made of. */
static inline void add_putters(struct strbuf *b, const struct problem *p)
{
    struct field *fields;
    int n;
    epilogue_fields(p, &fields, &n);
    sb_add(b, "inline void stub_put(const LatheEpilogue &e)\n{\n    printf(\" {\");\n");
    for (int i = 0; i < n; i++) {
        const char *const names[] = {
            [FIELD_TENSOR] = p->tensors[fields[i].kind == FIELD_TENSOR ? fields[i].index : 0].name,
            [FIELD_DIM] = p->dims[fields[i].kind == FIELD_DIM ? fields[i].index : 0].name,
            [FIELD_SCALAR] = fields[i].kind == FIELD_SCALAR ? p->scalars[fields[i].index].name : ""};
        sb_addf(b, "    stub_put(e.%s);\n", names[fields[i].kind]);
    }
    sb_add(b, "    printf(\" }\");\n}\n#ifdef STUB_CUDA\n"
              "inline void stub_put(const LatheTensorMap &map) { stub_put_map(&map); }\n#endif\n");
    mem_free(fields);
}

static inline void add_names(struct strbuf *b, const struct kernel *k)
{
    sb_add(b, "const char *stub_name(const void *kernel)\n{\n");
    for (int i = 0; i < k->nsteps; i++)
        if (k->steps[i].kind == STEP_LAUNCH && !launched_before(k, i))
            sb_addf(b, "    if (kernel == (const void *)%s) return \"%s\";\n", k->steps[i].launch.function,
                    k->steps[i].launch.function);
    sb_add(b, "    return \"?\";\n}\n");
}

static inline void add_main(struct strbuf *b, const struct problem *p, const struct sizes *sizes)
{
    sb_add(b, "int main()\n{\n    size_t bytes;\n");
    for (int i = 0; i < sizes->n; i++) {
        struct strbuf dims = {0};
        for (int d = 0; d < p->ndims; d++)
            sb_addf(&dims, "%s%lld", d ? ", " : "", (long long)sizes->dim[i][d]);
        sb_addf(b, "    bytes = lathe_%s_workspace(%s);\n    puts(lathe_%s(", p->name, sb_str(&dims), p->name);
        for (int t = 0; t < p->ntensors; t++)
            sb_addf(b, "(%s *)0x%llx, ", dtype_public_type(p->tensors[t].dtype), tensor_at(t));
        sb_add(b, sb_str(&dims));
        for (int s = 0; s < p->nscalars; s++)
            sb_addf(b, ", (float)%.17g", p->scalars[s].value);
        sb_addf(b, ", (void *)0x%llx, bytes, 0) == cudaSuccess ? \"done\" : \"refused\");\n", workspace_at);
        sb_free(&dims);
    }
    sb_add(b, "}\n");
}

/* Compiles text with the options and runs it; what it says, or the compiler does, is to be freed with mem_free. */
static inline char *program_run(const char *text, const char *options, bool *compiled)
{
    struct strbuf said = {0};
    char *source = path_join(program_dir, "w.cpp");
    char *command =
        mem_printf("${CXX:-c++} -std=c++17 -O0 -Wall -Wextra -Wno-unused -Wno-unknown-pragmas -Wno-psabi -Werror "
                   "-Itest/unit/cli/runtime %s -o %s/w %s/w.cpp 2>&1 && echo compiled && %s/w",
                   options, program_dir, program_dir, program_dir);
    char part[4096];
    assert_int_equal(file_write_atomic(source, text, strlen(text), NULL), LATHE_OK);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
        sb_addn(&said, part, n);
    pclose(f);
    mem_free(command);
    mem_free(source);
    *compiled = strncmp(sb_str(&said), "compiled\n", 9) == 0;
    char *out = mem_strdup(sb_str(&said) + (*compiled ? 9 : 0));
    sb_free(&said);
    return out;
}

/* The exported file. target: whose configuration it is. */
static inline void add_export(struct strbuf *text, const struct problem *p, const struct kernel *k,
                              const struct target *t, const config_choice *choice)
{
    struct err e = {0};
    json_t *provenance = json_object();
    const struct export_input in = {p, k, choice, t, provenance, NULL};
    if (export_cu(&in, text, &e))
        fail_msg("%s", e.text);
    json_decref(provenance);
}

/* What the exported file needs of the program that includes the runtime. */
static inline void add_support(struct strbuf *text, const struct problem *p, const struct kernel *k)
{
    /* where the export's own types are */
    sb_addf(text, "namespace lathe_%s_code {\nusing ::stub_put;\n", p->name);
    add_putters(text, p);
    sb_addf(text, "}\nusing namespace lathe_%s_code;\n", p->name);
    add_names(text, k);
}

/* What the launcher does at these sizes. */
static inline char *program_says(const struct problem *p, const struct kernel *k, const struct target *t,
                                 const config_choice *choice, const struct sizes *sizes)
{
    struct strbuf text = {0};
    bool compiled;
    add_export(&text, p, k, t, choice);
    add_support(&text, p, k);
    add_main(&text, p, sizes);
    /* what C leaves undefined ends the program */
    char *said = program_run(sb_str(&text), "-fsanitize=signed-integer-overflow,integer-divide-by-zero,"
                             "float-cast-overflow -fsanitize-undefined-trap-on-error", &compiled);
    if (!compiled)
        fail_msg("%s", said);
    sb_free(&text);
    return said;
}

/* --- what the plan says --- */

static inline unsigned long long buffer_at(const struct plan *plan, int buffer)
{
    unsigned long long at = workspace_at;
    if (buffer < plan->ntensors)
        return tensor_at(buffer);
    if (!plan->buffers[buffer].count)
        return 0;
    for (int i = plan->ntensors; i < buffer; i++)
        at += (unsigned long long)(plan_buffer_bytes(&plan->buffers[i]) + 255) / 256 * 256;
    return at;
}

static inline void say_map(struct strbuf *b, const struct plan *plan, const struct plan_arg *a)
{
    static const int types[DTYPE_COUNT] = {[DTYPE_f32] = 7, [DTYPE_f64] = 8, [DTYPE_i32] = 3, [DTYPE_u32] = 2,
                                           [DTYPE_f16] = 6, [DTYPE_bf16] = 9, [DTYPE_u8] = 0};
    const struct plan_tensor_map *m = &a->map;
    enum dtype type = plan->buffers[a->buffer].dtype;
    unsigned long long pitch = (unsigned long long)dtype_bytes(type);
    sb_add(b, " map(");
    if (m->rank)
        sb_addf(b, "%llx type %d swizzle %d l2 %d", buffer_at(plan, a->buffer), types[type],
                m->swizzle == 128 ? 3 : m->swizzle / 32, m->l2 == 256 ? 3 : m->l2 / 64);
    for (int i = m->rank - 1; i >= 0; i--) {
        pitch *= (unsigned long long)m->shape[i];
        sb_addf(b, " %lld:%llu/%d", (long long)m->shape[i], i ? pitch : 0, m->box[i]);
    }
    sb_add(b, ")");
}

static inline void say_arg(struct strbuf *b, const struct plan *plan, const struct plan_arg *a)
{
    switch (a->kind) {
    case PLAN_BUFFER: sb_addf(b, " at=%llx", buffer_at(plan, a->buffer)); break;
    case PLAN_I32: sb_addf(b, " i32=%lld", (long long)a->i); break;
    case PLAN_I64: sb_addf(b, " i64=%lld", (long long)a->i); break;
    case PLAN_F32: sb_addf(b, " f32=%a", (double)(float)a->f); break;
    case PLAN_F64: sb_addf(b, " f64=%a", a->f); break;
    case PLAN_TENSOR_MAP: say_map(b, plan, a); break;
    case PLAN_STRUCT:
        sb_add(b, " {");
        for (int i = 0; i < a->nfields; i++)
            say_arg(b, plan, &a->fields[i]);
        sb_add(b, " }");
        break;
    }
}

static inline void say_launch(struct strbuf *b, const struct plan *plan, const struct plan_step *s)
{
    sb_addf(b, "launch %s grid %u %u %u block %u %u %u cluster %u %u %u shared %u%s", s->function, s->grid[0],
            s->grid[1], s->grid[2], s->block[0], s->block[1], s->block[2], s->cluster[0], s->cluster[1], s->cluster[2],
            s->shared, s->programmatic ? " programmatic" : "");
    if (s->window.on) {
        long long bytes = (long long)plan_buffer_bytes(&plan->buffers[s->window.buffer]);
        sb_addf(b, " window %llx %lld %a %d %d", buffer_at(plan, s->window.buffer),
                bytes < INT32_MAX ? bytes : INT32_MAX, (double)(float)s->window.ratio, s->window.hit, s->window.miss);
    }
    for (int i = 0; i < s->nargs; i++)
        say_arg(b, plan, &s->args[i]);
    sb_add(b, "\n");
}

static inline void say_gemm(struct strbuf *b, const struct plan *plan, const struct plan_step *s)
{
    static const int types[DTYPE_COUNT] = {[DTYPE_f32] = 0, [DTYPE_f64] = 1, [DTYPE_f16] = 2, [DTYPE_bf16] = 14};
    static const int computes[] = {
        [GEMM_F32] = 68, [GEMM_F64] = 70, [GEMM_F16] = 74, [GEMM_BF16] = 75, [GEMM_TF32] = 77};
    int from = types[plan->buffers[s->a].dtype];
    sb_addf(b, "gemm %lld %lld %lld, %llx %d of %d:%lld, %llx %d of %d:%lld, %llx %d:%lld, %d\n", (long long)s->m,
            (long long)s->n, (long long)s->k, buffer_at(plan, s->a), s->trans_a, from,
            (long long)(s->trans_a ? s->m : s->k), buffer_at(plan, s->b), s->trans_b, from,
            (long long)(s->trans_b ? s->k : s->n), buffer_at(plan, s->c), types[plan->buffers[s->c].dtype],
            (long long)s->n, computes[s->compute]);
}

/* The lines of one call; false where the configuration refuses. slots are complete. */
static inline bool plan_says(struct strbuf *b, const struct problem *p, const struct kernel *k,
                             const struct value *slots)
{
    struct plan plan;
    struct err ignored = {0};
    bool allowed = true;
    for (int i = 0; i < k->nconstraints; i++) {         /* the search's rules are no concern of an export */
        bool holds = false;
        allowed = allowed && (k->constraints[i].search ||
                              (!expr_eval_bool(k->constraints[i].expr, slots, &holds, &ignored) && holds));
    }
    if (!allowed || plan_build(p, k, slots, &plan, &ignored)) {
        sb_add(b, "refused\n");
        return false;
    }
    for (int i = plan.ntensors; i < plan.nbuffers; i++)
        if (plan.buffers[i].zero != ZERO_NEVER && plan.buffers[i].count)
            sb_addf(b, "set %llx to 0, %lld bytes\n", buffer_at(&plan, i),
                    (long long)plan_buffer_bytes(&plan.buffers[i]));
    for (int i = 0; i < plan.nsteps; i++)
        if (plan.steps[i].kind == STEP_LAUNCH)
            say_launch(b, &plan, &plan.steps[i]);
        else
            say_gemm(b, &plan, &plan.steps[i]);
    sb_add(b, "done\n");
    plan_free(&plan);
    return true;
}

/* The same at each size, with the parameters as `choice` has them at the problem's size, which they were tuned for and
 * which it has again at the end. *served: at how many of the sizes it runs. */
static inline char *plans_say(struct problem *p, const struct kernel *k, const struct target *t,
                              const config_choice *choice, const struct sizes *sizes, int *served)
{
    struct strbuf b = {0};
    struct err e = {0};
    int64_t tuned[16];
    struct value *slots = mem_zalloc((size_t)k->scope.count, sizeof *slots);
    struct value *fixed = mem_zalloc((size_t)k->scope.count, sizeof *fixed);
    kernel_slots_fixed(p, k, t, fixed);
    if (kernel_slots_config(k, choice, fixed, &e))
        fail_msg("%s", e.text);
    for (int d = 0; d < p->ndims; d++)
        tuned[d] = p->dims[d].value;
    *served = 0;
    for (int i = 0; i < sizes->n; i++) {
        bool can = true;
        for (int d = 0; d < p->ndims; d++)
            p->dims[d].value = sizes->dim[i][d];
        memcpy(slots, fixed, (size_t)k->scope.count * sizeof *slots);
        kernel_slots_fixed(p, k, t, slots);
        for (int l = 0; l < k->nlets; l++)
            can = can && !expr_eval(k->lets[l].expr, slots, &slots[k->first_let + l], &e);
        if (can && plan_says(&b, p, k, slots))
            ++*served;
        else if (!can)
            sb_add(&b, "refused\n");
    }
    for (int d = 0; d < p->ndims; d++)
        p->dims[d].value = tuned[d];
    mem_free(slots);
    mem_free(fixed);
    return sb_take(&b);
}

/* Fails with the first line that differs, and the size that it is of. */
static inline void same_text(const char *got, const char *wanted, const char *what, const struct sizes *sizes,
                             int ndims)
{
    size_t n = 0, line = 0;
    int size = 0;
    struct strbuf text = {0};
    for (; got[n] && got[n] == wanted[n]; n++) {
        line = got[n] == '\n' ? n + 1 : line;
        size += !strncmp(got + n, "\ndone", 5) || !strncmp(got + n, "\nrefused", 8);
    }
    if (got[n] == wanted[n])
        return;
    for (int d = 0; d < ndims; d++)
        sb_addf(&text, " %lld", (long long)sizes->dim[size][d]);
    fail_msg("%s\nat size%s\nthe launcher has  %.*s\nbut the plan has  %.*s", what, sb_str(&text),
             (int)strcspn(got + line, "\n"), got + line, (int)strcspn(wanted + line, "\n"), wanted + line);
}

#endif
