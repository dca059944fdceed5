/* test_export_names.c: a specification may name things as the generated code does: every word of an exported file that
 * no specification is refused is made the name of a tensor, a scalar, a let and workspace in turn, and the file must
 * still launch what the plan says; as CUDA and as Python. */
#include "runtime/program.h"

#include "device/find_lib.h"
#include "model/c_names.h"
#include "model/problem/problem_read.h"
#include <ctype.h>

static const char spec[] = "test/specs/names.lua";
static const char config[] = "TILE=8 EARLY=true";

enum { TENSORS = 20, SCALARS = 24, LETS = 100, WORKSPACE = 20, MOST_WORDS = 1000 };

struct words {
    char *word[MOST_WORDS];
    int n;
};

/* Names that the specification has already, indices included. */
static bool is_own(const char *word)
{
    static const char *const own[] = {"M", "N", "K",    "m",     "n",    "a",    "b",     "X", "W",       "V",
                                      "R", "Y", "TILE", "EARLY", "rows", "wide", "scale", "Z", "tickets", "sums"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(word, own[i]) == 0)
            return true;
    return false;
}

static void add_word(struct words *w, const char *at, size_t n)
{
    char *word = mem_printf("%.*s", (int)n, at);
    bool known = n > MAX_NAME || reserved_name(word) || c_name_is_macro(word) || is_own(word) ||
                 dtype_parse(word) >= 0; /* LATHE_DTYPE_f16 */
    for (int i = 0; i < w->n && !known; i++)
        known = strcmp(w->word[i], word) == 0;
    if (!known && w->n < MOST_WORDS)
        w->word[w->n++] = word;
    else
        mem_free(word);
}

static void find_words(struct words *w, const char *text)
{
    w->n = 0;
    while (*text) {
        size_t n = 0;
        while (isalnum((unsigned char)text[n]) || text[n] == '_')
            n++;
        if (n && !isdigit((unsigned char)*text))
            add_word(w, text, n);
        text += n ? n : 1;
    }
}

static void free_words(struct words *w)
{
    for (int i = 0; i < w->n; i++)
        mem_free(w->word[i]);
}

/* The specification with words as names, from word `first` on. */
static struct problem *named(const struct words *w, int first)
{
    json_t *tree = program_tree(spec), *kernel = json_array_get(json_object_get(tree, "kernels"), 0);
    json_t *tensors = json_object_get(tree, "tensors"), *scalars = json_object_get(tree, "scalars");
    json_t *lets = json_object_get(kernel, "let"), *workspace = json_object_get(kernel, "workspace");
    struct strbuf epilogue = {0};
    sb_add(&epilogue, json_string_value(json_object_get(tree, "epilogue")));
    for (int i = 0; i < TENSORS + SCALARS + LETS + WORKSPACE && i < w->n; i++) {
        const char *word = w->word[(first + i) % w->n];
        if (i < TENSORS) {
            json_array_insert_new(tensors, 0, json_pack("[s, s, [s]]", word, "f32", "N"));
            sb_addf(&epilogue, " + %s[n]", word);
        } else if (i < TENSORS + SCALARS) {
            json_array_append_new(scalars, json_pack("[s, f]", word, i * 0.25));
            sb_addf(&epilogue, " + %s", word);
        } else if (i < TENSORS + SCALARS + LETS) {
            json_t *formula = json_sprintf("M + %d", i);
            json_array_append_new(lets, json_pack("[s, o]", word, formula));
        } else {
            json_array_append_new(workspace, json_pack("[s, s, [s]]", word, "f32", "M"));
        }
    }
    json_object_set_new(tree, "epilogue", json_string(sb_str(&epilogue)));
    sb_free(&epilogue);
    return program_problem(tree, spec);
}

static void choose(const struct kernel *k, struct target *t, config_choice *choice)
{
    struct err e = {0};
    if (target_named("sm_90a", t, &e) || config_from_text(k, config, choice, &e))
        fail_msg("%s", e.text);
}

static void test_cuda(void **state)
{
    static const struct sizes sizes = {4, {{40, 24, 16}, {2, 8, 6}, {100, 16, 6}, {1000000, 24, 16}}};
    struct words none = {.n = 0}, words;
    struct problem *p = named(&none, 0);
    struct target t;
    config_choice choice[4];
    struct strbuf text = {0};
    bool compiled;
    if (system("command -v ${CXX:-c++} >/dev/null"))
        skip();
    choose(&p->kernels[0], &t, choice);
    stub_source(&p->kernels[0]);
    add_export(&text, p, &p->kernels[0], &t, choice);
    find_words(&words, sb_str(&text));
    sb_free(&text);
    problem_free(p);
    assert_in_range(words.n, 100, MOST_WORDS - 1);
    for (int first = 0; first < words.n; first += TENSORS) {
        int served;
        p = named(&words, first);
        stub_source(&p->kernels[0]);
        char *wanted = plans_say(p, &p->kernels[0], &t, choice, &sizes, &served);
        char *got = program_says(p, &p->kernels[0], &t, choice, &sizes);
        assert_int_equal(served, 3);
        same_text(got, wanted, "names of the generator's", &sizes, 3);
        mem_free(wanted);
        mem_free(got);
        add_export(&text, p, &p->kernels[0], &t, choice);
        add_support(&text, p, &p->kernels[0]);
        char *said = program_run(sb_str(&text), "-DLATHE_SELFTEST", &compiled);     /* FAIL: nothing is computed */
        if (!compiled)
            fail_msg("%s", said);
        assert_non_null(strstr(said, "WRONG"));
        mem_free(said);
        sb_free(&text);
        problem_free(p);
    }
    free_words(&words);
}

/* nvcc, with CUDA's own headers: the first words only, for it takes its time. */
static void test_nvcc(void **state)
{
    char nvcc[4096];
    struct words none = {.n = 0}, words;
    struct problem *p = named(&none, 0);
    struct target t;
    config_choice choice[4];
    struct strbuf text = {0};
    struct err e = {0};
    if (!find_nvcc(nvcc, sizeof nvcc))
        skip();
    choose(&p->kernels[0], &t, choice);
    stub_source(&p->kernels[0]);
    add_export(&text, p, &p->kernels[0], &t, choice);
    find_words(&words, strstr(sb_str(&text), "lathe_names_layout("));
    sb_free(&text);
    problem_free(p);
    p = named(&words, 0);
    stub_source(&p->kernels[0]);
    add_export(&text, p, &p->kernels[0], &t, choice);
    char *path = path_join(program_dir, "w.cu");
    char *command = mem_printf(
        "'%s' -std=c++17 -gencode arch=compute_90a,code=sm_90a -DLATHE_SELFTEST -c -o %s.o %s 2>&1", nvcc, path, path);
    assert_int_equal(file_write_atomic(path, sb_str(&text), text.len, &e), LATHE_OK);
    if (system(command))
        fail_msg("nvcc refuses names of the generator's");
    mem_free(command);
    mem_free(path);
    sb_free(&text);
    free_words(&words);
    problem_free(p);
}

static void exported_python(const struct problem *p, struct strbuf *text)
{
    const struct export_image image = {.why_not = "there is none"};
    struct target t;
    config_choice choice[4];
    struct err e = {0};
    choose(&p->kernels[0], &t, choice);
    json_t *provenance = json_object();
    const struct export_input in = {p, &p->kernels[0], choice, &t, provenance, NULL};
    if (export_torch(&in, &image, text, &e))
        fail_msg("%s", e.text);
    json_decref(provenance);
}

static void test_python(void **state)
{
    struct words none = {.n = 0}, words;
    struct problem *p = named(&none, 0);
    struct strbuf text = {0};
    struct err e = {0};
    if (system("command -v python3 >/dev/null"))
        skip();
    exported_python(p, &text);
    find_words(&words, strstr(sb_str(&text), "\n# What is computed"));
    sb_free(&text);
    problem_free(p);
    assert_in_range(words.n, 50, MOST_WORDS - 1);
    for (int first = 0; first < words.n; first += TENSORS) {
        p = named(&words, first);
        exported_python(p, &text);
        char *path = path_join(program_dir, "w.py");
        char *command = mem_printf("python3 -B test/torch/names.py %s 2>&1", path);
        assert_int_equal(file_write_atomic(path, sb_str(&text), text.len, &e), LATHE_OK);
        if (system(command))
            fail_msg("names of the generated Python's");
        mem_free(path);
        mem_free(command);
        sb_free(&text);
        problem_free(p);
    }
    free_words(&words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cuda), cmocka_unit_test(test_nvcc),
                                       cmocka_unit_test(test_python)};
    return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
