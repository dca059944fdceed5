/* test_linear.c: the constraints of kernels/linear, for float and for 16-bit tensors, say exactly what the static
 * assertions of its sources say.
 *
 * Random combinations of all parameter values, valid or not, are written into one C++ text, each in a namespace of its
 * own and under a file name of its own, so that one run of the compiler tells which of them it refuses. That must be
 * those that fail one of the constraints listed below as asserted, and no others.
 *
 * LATHE_SAMPLE=N takes N combinations of each kind instead of a few. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "model/source.h"
#include "search/space/space.h"
#include "search/spec/spec.h"

enum { MAX_ASSERTED = 12, TRIES = 200000, BATCH = 40 };
static struct problem *problem;
static struct target target;

/* Constraints that stand in a source as static assertions, as the specification writes them. */
struct asserted {
    const char *kernel;
    const char *formula[MAX_ASSERTED];
};
static const struct asserted simt = {
    "simt",
    {"BM % warp_m == 0 and BN % warp_n == 0", "threads <= max_threads_per_block",
     "BK % UNROLL == 0 and UNROLL % step == 0", "FRAGMENTS == 1 or UNROLL // step % 2 == 0",
     "LAYOUT == 'padded' or threads % (4 * BK) == 0", "LAYOUT == 'transposed' or threads % (BK // VEC) == 0",
     "LAYOUT == 'padded' or FILL == 'register' or VEC == 1", "select(FILL == 'async', STAGES >= 2, STAGES <= 2)"}};
static const struct asserted mma = {
    "mma",
    {"BM % WM == 0 and BN % WN == 0", "threads <= max_threads_per_block", "not TRANSPOSED or WN % 32 == 0",
     "row_words % 32 == 0", "threads % max(1, row_words // vec_words) == 0", "PROMOTE_K % BK == 0",
     "not pre_x or not tf32 or not three", "pre_x == pre_w or three"}};
static const struct asserted wgmma = {
    "wgmma",
    {"in_registers or not in_workspace or PROMOTE_K // 32 % streams == 0", "COLUMNS % (8 * SPLIT_K) == 0",
     "rows // share_rows % 8 == 0 and COLUMNS // share_columns % 8 == 0 and COLUMNS % share_columns == 0",
     "rows // share_rows <= 256"}};
static const struct asserted wgmma_shared = {
    "wgmma_shared",
    {"SCHEDULE == 'cooperative' or WARPGROUPS == 2", "COLUMNS // slab % SPLIT_K == 0",
     "rows // share_a % 8 == 0 and COLUMNS // share_b % 8 == 0", "rows // share_a <= 256", "VEC <= widest"}};
static const struct asserted epilogue = {
    "epilogue", {"BLOCK <= max_threads_per_block", "not TRANSPOSED or TILE_M * TILE_N % (BLOCK * VEC) == 0"}};

struct combination {
    config_choice choice[32];
    bool refused;               /* by an asserted constraint */
    bool seen;                  /* the compiler found an error in it */
};

struct sample {
    const struct kernel *k;
    const struct constraint *asserted[MAX_ASSERTED];
    int nasserted;
    struct value *slots;
    struct rng rng;
    struct combination *list;
    int count, cap;
};

static void open_problem(const char *spec, const char *arch)
{
    static const char *const include_dirs[] = {"kernels/common", NULL};
    struct err e = {0};
    json_t *j;
    if (spec_read(spec, &j, &e) || problem_from_json(j, spec, include_dirs, &problem, &e) ||
        target_named(arch, &target, &e))
        fail_msg("%s", e.text);
    json_decref(j);
    assert_int_equal(problem_set_dim(problem, "N", 32768, &e), LATHE_OK);
}

static void open_sample(struct sample *s, const struct asserted *a)
{
    *s = (struct sample){.k = &problem->kernels[problem_find_kernel(problem, a->kernel)]};
    assert_true(s->k->nparams <= 32);
    s->slots = mem_zalloc((size_t)s->k->scope.count, sizeof *s->slots);
    kernel_slots_fixed(problem, s->k, &target, s->slots);
    rng_seed(&s->rng, 7);
    for (int i = 0; i < MAX_ASSERTED && a->formula[i]; i++) {
        for (int c = 0; c < s->k->nconstraints; c++)
            if (strcmp(expr_text(s->k->constraints[c].expr), a->formula[i]) == 0)
                s->asserted[s->nasserted++] = &s->k->constraints[c];
        if (s->nasserted != i + 1)
            fail_msg("%s has no constraint '%s': change it here and in the source too", a->kernel, a->formula[i]);
    }
}

static void close_sample(struct sample *s)
{
    mem_free(s->slots);
    mem_free(s->list);
}

static void evaluate(struct sample *s, struct combination *c)
{
    struct err e = {0};
    if (kernel_slots_config(s->k, c->choice, s->slots, &e))
        fail_msg("%s", e.text);
    config_normalise(s->k, s->slots, c->choice);
    if (kernel_slots_config(s->k, c->choice, s->slots, &e))
        fail_msg("%s", e.text);
}

/* Which asserted constraints a combination fails, as bits. */
static unsigned failed(struct sample *s, struct combination *c)
{
    unsigned bits = 0;
    evaluate(s, c);
    for (int i = 0; i < s->nasserted; i++) {
        struct err e = {0};
        bool yes;
        if (expr_eval_bool(s->asserted[i]->expr, s->slots, &yes, &e))
            fail_msg("%s", e.text);
        bits |= (unsigned)!yes << i;
    }
    return bits;
}

static void random_combination(struct sample *s, struct combination *c)
{
    memset(c, 0, sizeof *c);
    for (int i = 0; i < s->k->nparams; i++)
        c->choice[i] = (config_choice)rng_below(&s->rng, (uint64_t)s->k->params[i].nvalues);
}

static void add(struct sample *s, struct combination c)
{
    c.refused = failed(s, &c) != 0;
    MEM_GROW(s->list, s->count, s->cap);
    s->list[s->count++] = c;
}

/* Members, then members with one parameter changed, then anything; and for each asserted constraint one that fails it
 * alone, where there is such a combination. */
static void draw(struct sample *s, int each)
{
    struct err e = {0};
    struct space *space;
    struct combination c;
    unsigned alone = 0;
    if (space_open(problem, s->k, &target, &space, &e))
        fail_msg("%s", e.text);
    for (int i = 0; i < each; i++) {
        memset(&c, 0, sizeof c);
        space_at(space, space_random(space, &s->rng), c.choice);
        add(s, c);
        assert_false(s->list[s->count - 1].refused);
        int p = (int)rng_below(&s->rng, (uint64_t)s->k->nparams);
        c.choice[p] = (config_choice)rng_below(&s->rng, (uint64_t)s->k->params[p].nvalues);
        add(s, c);
        random_combination(s, &c);
        add(s, c);
    }
    for (int i = 0; i < TRIES; i++) {
        memset(&c, 0, sizeof c);
        space_at(space, space_random(space, &s->rng), c.choice);
        for (int n = 0; n < 4; n++) {
            int p = (int)rng_below(&s->rng, (uint64_t)s->k->nparams);
            c.choice[p] = (config_choice)rng_below(&s->rng, (uint64_t)s->k->params[p].nvalues);
        }
        unsigned bits = failed(s, &c);
        if (bits && !(bits & (bits - 1)) && !(alone & bits)) {
            alone |= bits;
            add(s, c);
        }
    }
    space_close(space);
    print_message("%s: %d combinations, %d of %d constraints failed alone\n", s->k->name, s->count,
                  __builtin_popcount(alone), s->nasserted);
}

/* A source may be there more than once in one text only if its kernels have C++ names. */
static void add_source(struct strbuf *b, const char *source)
{
    static const char c_name[] = "extern \"C\" ";
    struct strbuf plain = {0};
    source_print_plain(&plain, source);     /* errors must be of combination_N, not of the kernel's file */
    const char *text = sb_str(&plain);
    for (const char *at; (at = strstr(text, c_name)); text = at + sizeof c_name - 1)
        sb_addn(b, text, (size_t)(at - text));
    sb_add(b, text);
    sb_free(&plain);
}

static void write_text(struct sample *s, int first, int count, const char *path)
{
    struct strbuf b = {0}, source = {0};
    struct err e = {0};
    assert_int_equal(source_epilogue(problem, &source, &e), LATHE_OK);
    add_source(&source, s->k->source);
    sb_add(&b, "#include \"tuner/device/host/host_shim.h\"\n");
    /* A kernel for GPUs only: `asm volatile(...);` is in no language of this machine. */
    sb_add(&b, "size_t __cvta_generic_to_shared(const void *);\n#define asm\n#define volatile(...)\n");
    for (int i = first; i < first + count; i++) {
        char **defines;
        int n;
        evaluate(s, &s->list[i]);
        assert_int_equal(source_defines(s->k, s->slots, &defines, &n, &e), LATHE_OK);
        for (int d = 0; d < n; d++) {
            char *equals = strchr(defines[d], '=');
            *equals = ' ';
            sb_addf(&b, "#define %s\n", defines[d]);
            *equals = '=';
        }
        sb_addf(&b, "namespace combination_%d {\n#line 1 \"combination_%d\"\n%s\n}\n", i, i, sb_str(&source));
        for (int d = 0; d < n; d++)
            sb_addf(&b, "#undef %.*s\n", (int)strcspn(defines[d], "="), defines[d]);
        sb_add(&b, "#undef LATHE_DYNAMIC_SHARED\n#undef LATHE_TYPES\n"   /* each namespace has its own of all */
                   "#undef LATHE_EXPR_HELPERS\n#undef LATHE_EXPR_FN\n");
        source_defines_free(defines, n);
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(sb_str(&b), 1, b.len, f), b.len);
    assert_int_equal(fclose(f), 0);
    sb_free(&source);
    sb_free(&b);
}

/* Notes which combinations the compiler refuses. */
static void compile_all(struct sample *s, const char *path)
{
    static const char flags[] = "-std=c++17 -fsyntax-only -w -I. -DLATHE_HOST_SANITIZE=0 -Dlathe_host_global__=";
    bool clang = system("${CXX:-c++} --version | grep -qi clang") == 0;
    char line[4096], *command = mem_printf("${CXX:-c++} %s %s %s 2>&1", flags, clang ? "-ferror-limit=0" : "", path);
    FILE *p = popen(command, "r");
    int errors = 0;
    assert_non_null(p);
    while (fgets(line, sizeof line, p)) {
        int which = -1;
        if (!strstr(line, "error:"))
            continue;
        errors++;
        if (sscanf(line, "combination_%d:", &which) != 1 || which < 0 || which >= s->count)
            fail_msg("%s: %s", command, line);
        s->list[which].seen = true;
    }
    int rc = pclose(p);
    if ((rc != 0) != (errors > 0))
        fail_msg("%s: exit %d with %d errors", command, rc, errors);
    mem_free(command);
}

static void agree(const char *spec, const char *arch, const struct asserted *a)
{
    char path[] = "/tmp/lathe-linear-XXXXXX.cpp";
    const char *each = getenv("LATHE_SAMPLE");
    struct sample s;
    int refused = 0;
    if (system("${CXX:-c++} --version >/dev/null 2>&1"))
        skip();
    open_problem(spec, arch);
    open_sample(&s, a);
    draw(&s, each ? atoi(each) : 6);
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    close(fd);
    for (int i = 0; i < s.count; i += BATCH) {
        write_text(&s, i, s.count - i < BATCH ? s.count - i : BATCH, path);
        compile_all(&s, path);
    }
    for (int i = 0; i < s.count; i++) {
        struct strbuf text = {0};
        evaluate(&s, &s.list[i]);
        config_print(&text, s.k, s.slots, s.list[i].choice);
        refused += s.list[i].refused;
        if (s.list[i].refused != s.list[i].seen)
            fail_msg("the specification %s, the source %s: %s (%s, combination_%d)",
                     s.list[i].refused ? "refuses" : "accepts", s.list[i].seen ? "refuses" : "accepts", sb_str(&text),
                     path, i);
        sb_free(&text);
    }
    assert_true(refused > 0 && refused < s.count);
    unlink(path);
    close_sample(&s);
    problem_free(problem);
}

static void simt_agrees(void **state) { agree("kernels/linear/spec.lua", "host", &simt); }
static void mma_agrees(void **state) { agree("kernels/linear/spec.lua", "host", &mma); }
static void mma_agrees_in_bf16(void **state) { agree("kernels/linear_bf16/spec.lua", "host", &mma); }
static void wgmma_agrees(void **state) { agree("kernels/linear/spec.lua", "sm_90a", &wgmma); }
static void wgmma_shared_agrees(void **state) { agree("kernels/linear/spec.lua", "sm_90a", &wgmma_shared); }
static void wgmma_shared_agrees_in_f16(void **state) { agree("kernels/linear_f16/spec.lua", "sm_90a", &wgmma_shared); }
static void epilogue_agrees(void **state) { agree("kernels/linear/spec.lua", "host", &epilogue); }
static void epilogue_agrees_in_f16(void **state) { agree("kernels/linear_f16/spec.lua", "host", &epilogue); }

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(simt_agrees), cmocka_unit_test(mma_agrees),
                                       cmocka_unit_test(mma_agrees_in_bf16),
                                       cmocka_unit_test(wgmma_agrees), cmocka_unit_test(wgmma_shared_agrees),
                                       cmocka_unit_test(wgmma_shared_agrees_in_f16), cmocka_unit_test(epilogue_agrees),
                                       cmocka_unit_test(epilogue_agrees_in_f16)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
