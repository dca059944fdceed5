/* test_export_c_choice.c: the exported C of several configurations chooses among sizes and devices as docs/export.md
 * says. */
#include "driver/choices.h"

static void test_choice(void **state)
{
    struct choices c;
    struct strbuf header = {0}, source = {0}, b = {0};
    struct err e = {0};
    needs_compiler();
    choices_open(&c);
    if (export_c(c.v, TUNED + 1, "w.h", &header, &source, &e))
        fail_msg("%s", e.text);
    add_head(&b);
    sb_add(&b, "struct fake_device fake_device;\n");
    const struct kernel *const kernels[] = {c.in[0].kernel, c.fallback.in.kernel};
    add_kinds(&b, c.p[0], kernels, 2);
    sb_add(
        &b,
        "int main(void)\n{\n    struct lathe_linear *w;\n    const char *text;\n    size_t bytes;\n    (void)bytes;\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t *dim = cases[i].dim;
        struct target device;
        choice_device(&cases[i], &device);
        sb_add(&b, "    fake_device = (struct fake_device)");
        add_device(&b, &device);
        sb_addf(&b,
                ";\n    if (lathe_linear_open(&w)) puts(w ? \"left\" : \"none\");\n    else {\n        text = "
                "lathe_linear_choice(w, %lld, %lld, "
                "%lld, 2);\n        puts(text ? text : \"none\");\n        lathe_linear_close(w);\n    }\n",
                (long long)dim[0], (long long)dim[1], (long long)dim[2]);
    }
    /* the workspace that a launch needs must be there, and the fallback launches as its plan says */
    sb_add(&b, "    fake_device = (struct fake_device)");
    add_device(&b, &c.t[0]);
    static const int64_t odd[] = {3, 5, 7};
    sb_add(&b, ";\n    if (lathe_linear_open(&w)) return 1;\n    printf(\"%d\\n\", (int)");
    add_call(&b, c.p[0], odd, "0");
    sb_add(&b,
           ");\n    printf(\"%d\\n\", (int)lathe_linear_workspace(w, 3, 0, 7, &bytes));\n    lathe_linear_close(w);\n"
           "    printf(\"%d\\n\", fake_modules);\n    return 0;\n}\n");
    char *said = run_c(&header, &source, &b), *line = said;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = strcspn(line, "\n");
        const char *wanted = cases[i].wanted ? cases[i].wanted : "none";
        char *got = mem_printf("%.*s", (int)n, line);
        if (!strstr(got, wanted))
            fail_msg("case %zu: wanted %s, got %s", i, wanted, got);
        mem_free(got);
        line += n + 1;
    }
    struct sizes size = {1, {{3, 5, 7}}};
    int served;
    char *plan = plans_say((struct problem *)c.fallback.in.problem, c.fallback.in.kernel, &c.t[0], c.fallback.choice,
                           &size, &served);
    char *wanted = mem_printf("%.*s0\n1\n0\n", (int)(strlen(plan) - strlen("done\n")), plan);
    assert_int_equal(served, 1);
    assert_string_equal(line, wanted);
    mem_free(plan);
    mem_free(wanted);
    mem_free(said);
    sb_free(&header);
    sb_free(&source);
    sb_free(&b);
    choices_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_choice)};
    return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
