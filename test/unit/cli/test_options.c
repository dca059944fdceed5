/* test_options.c: numbers, option tables, help text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "console/options.h"
#include "console/parse.h"
#include "base/quote.h"

#include <string.h>

struct args {
    const char *spec, *more, *db, *out;
    struct text_list kernels, sizes, files, sets;
    int64_t trials;
    double seconds;
    bool json, quiet;
};

#define AT(member) .offset = offsetof(struct args, member)
static const struct option_row rows[] = {
    {"SPEC", .kind = OPTION_NEEDED, AT(spec), .help = "what to do it to"},
    {"MORE", .kind = OPTION_WANTED, AT(more), .help = "more of it"},
    {"kernel", .arg = "NAME", .kind = OPTION_TEXTS, AT(kernels), .help = "this kernel"},
    {"size", .arg = "DIM=N", .kind = OPTION_SIZES, AT(sizes), .help = "a size"},
    {"set", .arg = "NAME=VALUE", .kind = OPTION_PAIRS, AT(sets), .help = "a setting"},
    {"files", .letter = 'f', .arg = "FILE...", .kind = OPTION_LIST, AT(files), .help = "these files"},
    {"trials", .arg = "N", .kind = OPTION_COUNT, AT(trials), .min = 1, .max = 1000, .help = "how many"},
    {"seconds", .arg = "S", .kind = OPTION_SECONDS, AT(seconds), .help = "how long"},
    {"db", .arg = "FILE", .kind = OPTION_TEXT, AT(db), .initial = "lathe.db", .help = "the database"},
    {"output", .letter = 'o', .arg = "FILE", .kind = OPTION_TEXT, AT(out), .help = "where to"},
    {"json", .kind = OPTION_FLAG, AT(json), .help = "as JSON"},
    {"quiet", .letter = 'q', .kind = OPTION_FLAG, AT(quiet), .help = "say nothing"},
    {0},
};

/* Splits at blanks; '_' stands for an empty argument. */
static status parse(const char *line, struct args *a, struct err *e, bool *help)
{
    static char copy[500];
    char *argv[40];
    int argc = 0;
    *a = (struct args){0};
    *e = (struct err){0};
    strncpy(copy, line, sizeof copy - 1);
    for (char *w = strtok(copy, " "); w; w = strtok(NULL, " "))
        argv[argc++] = !strcmp(w, "_") ? "" : w;
    return options_parse("test", rows, argc, argv, a, help, e);
}

static void lists(void **state)
{
    struct args a;
    struct err e;
    bool help;
    assert_int_equal(parse("--files a b c --json linear -f d --files=e more", &a, &e, &help), LATHE_OK);
    const char *const want[] = {"a", "b", "c", "d", "e"};
    assert_int_equal(a.files.count, 5);
    for (int i = 0; i < 5; i++)
        assert_string_equal(a.files.items[i], want[i]);
    assert_true(a.json);
    assert_string_equal(a.spec, "linear");
    assert_string_equal(a.more, "more");
    options_free(rows, &a);
    assert_int_equal(parse("linear --files", &a, &e, &help), LATHE_USAGE);
    assert_non_null(strstr(e.text, "--files: needs a value"));
    assert_int_equal(parse("linear --files a _", &a, &e, &help), LATHE_USAGE);
    assert_non_null(strstr(e.text, "--files: the value is empty"));
    options_free(rows, &a);
    assert_int_equal(parse("--files a b -- linear", &a, &e, &help), LATHE_OK);
    assert_int_equal(a.files.count, 2);
    assert_string_equal(a.spec, "linear");
    options_free(rows, &a);
}

static void good_lines(void **state)
{
    struct args a;
    struct err e;
    bool help;
    assert_int_equal(parse("linear", &a, &e, &help), LATHE_OK);
    assert_string_equal(a.spec, "linear");
    assert_string_equal(a.db, "lathe.db");
    assert_null(a.more);
    assert_false(a.json);
    options_free(rows, &a);

    assert_int_equal(parse("--trials 12 linear --json --db=x=y.db --kernel simt -o out.cu --kernel=epi -q second "
                           "--seconds 2m", &a, &e, &help), LATHE_OK);
    assert_int_equal(a.trials, 12);
    assert_string_equal(a.spec, "linear");
    assert_string_equal(a.more, "second");
    assert_string_equal(a.db, "x=y.db");
    assert_string_equal(a.out, "out.cu");
    assert_int_equal(a.kernels.count, 2);
    assert_string_equal(a.kernels.items[1], "epi");
    assert_true(a.json && a.quiet);
    assert_true(a.seconds == 120);
    options_free(rows, &a);
    assert_int_equal(a.kernels.count, 0);

    assert_int_equal(parse("x -oy.cu --size M=1,N=2 --size K=3", &a, &e, &help), LATHE_OK);
    assert_string_equal(a.out, "y.cu");
    assert_int_equal(a.sizes.count, 3);
    assert_string_equal(a.sizes.items[1], "N=2");
    options_free(rows, &a);

    assert_int_equal(parse("x --set a=1,b=2 --set ab=1 --set a", &a, &e, &help), LATHE_OK);
    assert_int_equal(a.sets.count, 3);
    assert_string_equal(a.sets.items[0], "a=1,b=2");
    options_free(rows, &a);

    assert_int_equal(parse("-- --json -q", &a, &e, &help), LATHE_OK);
    assert_string_equal(a.spec, "--json");
    assert_string_equal(a.more, "-q");
    assert_false(a.json || a.quiet);
    options_free(rows, &a);

    assert_int_equal(parse("- --db a --db b", &a, &e, &help), LATHE_OK);     /* "-" is a name; the last one wins */
    assert_string_equal(a.spec, "-");
    assert_string_equal(a.db, "b");
    options_free(rows, &a);
}

static void bad_lines(void **state)
{
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"", "test: SPEC is missing: what to do it to\nusage: lathe test [options] SPEC [MORE]"},
        {"a b c", "test: unexpected argument 'c'\nusage: lathe test [options] SPEC [MORE]"},
        {"a --trails 3", "test: unknown option --trails\ndid you mean --trials? `lathe help test` lists all"},
        {"a --trails=3", "test: unknown option --trails=3\ndid you mean --trials? `lathe help test` lists all"},
        {"a --bogus", "test: unknown option --bogus\n`lathe help test` lists the options"},
        {"a --trial 3", "test: unknown option --trial\ndid you mean --trials? `lathe help test` lists all"},
        {"a -x", "test: unknown option -x\n`lathe help test` lists the options"},
        {"a --json=1", "--json: takes no value, but was given '1'"},
        {"a -qx", "-q: takes no value, but was given 'x'"},
        {"a --db", "--db: needs a value\nexpected --db FILE"},
        {"a --db --json", "--db: needs a value, but is followed by the option --json\nexpected --db FILE"},
        {"a -o -q", "-o: needs a value, but is followed by the option -q\nexpected -o FILE"},
        {"a --db=", "--db: the value is empty\nexpected FILE"},
        {"a --db _", "--db: the value is empty\nexpected FILE"},
        {"_", "SPEC: the value is empty\nexpected SPEC"},
        {"a --trials 0", "--trials: 0 is too small\nexpected 1 or more"},
        {"a --trials -5", "--trials: -5 is too small\nexpected 1 or more"},
        {"a --trials 1001", "--trials: 1001 is too large\nexpected 1 to 1000"},
        {"a --trials 99999999999999999999", "--trials: 99999999999999999999 is too large\nexpected 1 to 1000"},
        {"a --trials -99999999999999999999", "--trials: -99999999999999999999 is too small\nexpected 1 or more"},
        {"a --trials 12x", "--trials: '12x' is not a whole number\nexpected 1 or more"},
        {"a --trials 1.5", "--trials: '1.5' is not a whole number\nexpected 1 or more"},
        {"a --trials 0x10", "--trials: '0x10' is not a whole number\nexpected 1 or more"},
        {"a --trials -", "--trials: '-' is not a whole number\nexpected 1 or more"},
        {"a --size M", "--size: 'M' is not a dimension and its size\nexpected DIM=N, for example M=256"},
        {"a --size =3", "--size: '=3' is not a dimension and its size\nexpected DIM=N, for example M=256"},
        {"a --size M=1,", "--size: '' is not a dimension and its size\nexpected DIM=N, for example M=256"},
        {"a --size M=0", "--size M: 0 is too small\nexpected 1 or more"},
        {"a --size K=2,M=-1", "--size M: -1 is too small\nexpected 1 or more"},
        {"a --size M=12k", "--size M: '12k' is not a whole number\nexpected 1 or more"},
        {"a --size M=9223372036854775808",
         "--size M: 9223372036854775808 is too large\nexpected 1 to 9223372036854775807"},
        {"a --size M=4,M=5", "--size: M is given twice: M=4, and M=5\ngive one of them"},
        {"a --size M=4 --size N=1,M=4", "--size: M is given twice: M=4, and M=4\ngive one of them"},
        {"a --set type=f16 --set type=f32", "--set: type is given twice: type=f16, and type=f32\ngive one of them"},
        {"a --seconds 0", "--seconds: 0 is too short\nexpected more than 0 seconds"},
        {"a --seconds 1e3",
         "--seconds: '1e3' is not a duration\nexpected seconds, or a number with s, m or h: 90, 1.5, 2m, 1h"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct args a;
        struct err e;
        bool help;
        assert_int_equal(parse(cases[i].line, &a, &e, &help), LATHE_USAGE);
        assert_string_equal(e.text, cases[i].message);
        options_free(rows, &a);
    }
}

static void help_wins(void **state)
{
    static const char *const lines[] = {"--help", "-h", "a b c --help", "--bogus -h", "--trials 0 --help"};
    struct args a;
    struct err e;
    bool help;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        help = false;
        assert_int_equal(parse(lines[i], &a, &e, &help), LATHE_OK);
        assert_true(help);
        options_free(rows, &a);
    }
    assert_int_equal(parse("a -- --help", &a, &e, &help), LATHE_OK);
    assert_false(help);
    assert_string_equal(a.more, "--help");
    options_free(rows, &a);
}

static void durations(void **state)
{
    static const struct {
        const char *text;
        double seconds;         /* 0: refused */
    } cases[] = {
        {"90", 90}, {"1.5", 1.5}, {"30s", 30}, {"2m", 120}, {"1h", 3600}, {"0.5h", 1800}, {".5", 0.5}, {"5.", 5},
        {"", 0}, {"s", 0}, {".", 0}, {"1.2.3", 0}, {"-1", 0}, {"+1", 0}, {" 1", 0}, {"1 ", 0}, {"1 m", 0}, {"1hm", 0},
        {"inf", 0}, {"nan", 0}, {"0x10", 0}, {"1e9", 0}, {"0", 0}, {"0.0m", 0}, {"100000001", 0}, {"99999999h", 0},
        {"1d", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err e = {0};
        double got = -1;
        status s = parse_seconds("--seconds", cases[i].text, &got, &e);
        if (cases[i].seconds > 0) {
            assert_int_equal(s, LATHE_OK);
            assert_true(got == cases[i].seconds);
        } else {
            assert_int_equal(s, LATHE_USAGE);
            assert_non_null(strstr(e.text, "--seconds: "));
        }
    }
}

static void long_input(void **state)
{
    char lots[5000];
    memset(lots, 'M', sizeof lots - 3);
    strcpy(lots + sizeof lots - 3, "=1");
    char name[MAX_DIM_NAME];
    int64_t v;
    struct err e = {0};
    assert_int_equal(parse_dim("--size", lots, name, &v, &e), LATHE_USAGE);
    assert_non_null(strstr(e.text, "is too long"));
    lots[0] = '9';
    assert_int_equal(parse_count("--trials", lots, 1, 10, &v, &e), LATHE_USAGE);
    assert_true(strlen(e.text) < 400);
}

static void help_text(void **state)
{
    struct strbuf b = {0};
    struct help h = {.b = &b};
    options_help(&b, rows);
    assert_non_null(strstr(b.s, "  SPEC                  what to do it to\n"));
    assert_non_null(strstr(b.s, "  --db FILE             the database (default lathe.db)\n"));
    assert_non_null(strstr(b.s, "  -o, --output FILE     where to\n"));
    assert_non_null(strstr(b.s, "  -h, --help            this text\n"));
    sb_free(&b);
    help_row(&h, "--x", "many words, more than fit on a single line of eighty columns, so that the text goes on below");
    assert_string_equal(b.s, "  --x                   many words, more than fit on a single line of eighty\n"
                             "                        columns, so that the text goes on below\n");
    sb_free(&b);
    help_row(&h, "--c", "one of: aaaaaaaaaaaaaaaaaaa|bbbbbbbbbbbbbbbbbbb|cccccccccccccccccccc|dd and so on");
    assert_string_equal(b.s, "  --c                   one of: aaaaaaaaaaaaaaaaaaa|bbbbbbbbbbbbbbbbbbb|\n"
                             "                        cccccccccccccccccccc|dd and so on\n");
    sb_free(&b);
    help_row(&h, "--a-long-option VALUE-OF-IT", "text");
    assert_string_equal(b.s, "  --a-long-option VALUE-OF-IT\n                        text\n");
    sb_free(&b);
}

/* Every command's help: present, at most 80 columns, only printable ASCII, every option in it. */
static void all_help(void **state)
{
    for (const struct command *const *c = cli_commands(); *c; c++) {
        struct strbuf b = {0};
        cli_command_help(&b, *c);
        size_t column = 0;
        for (const char *s = b.s; *s; s++) {
            assert_true(*s == '\n' || (*s >= 32 && *s < 127));
            column = *s == '\n' ? 0 : column + 1;
            assert_true(column <= 80);
        }
        for (const struct option_row *r = (*c)->options; r->name; r++)
            assert_non_null(strstr(b.s, r->name));
        sb_free(&b);
    }
}

static void quoting(void **state)
{
    char *argv[] = {"lathe", "query", "SELECT 'a'", "", "x.db"};
    char *line = quote_words(5, argv);
    assert_string_equal(line, "lathe query 'SELECT '\\''a'\\''' '' x.db");
    mem_free(line);
    line = quote_words(0, argv);
    assert_string_equal(line, "");
    mem_free(line);
}

static void commands(void **state)
{
    const struct command *c;
    struct err e = {0};
    assert_int_equal(cli_find("tune", &c, &e), LATHE_OK);
    assert_string_equal(c->name, "tune");
    assert_int_equal(cli_find("tine", &c, &e), LATHE_USAGE);
    assert_string_equal(e.text, "unknown command 'tine'\ndid you mean 'tune'? `lathe help` lists the commands");
    assert_int_equal(cli_find("frobnicate", &c, &e), LATHE_USAGE);
    assert_string_equal(e.text, "unknown command 'frobnicate'\n`lathe help` lists the commands");
    struct strbuf b = {0};
    cli_help(&b);
    assert_non_null(strstr(b.s, "\n  2                     wrong command line, or a specification is wrong\n"));
    assert_non_null(strstr(b.s, "\n  130                   interrupted\n"));
    sb_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_lines), cmocka_unit_test(lists), cmocka_unit_test(bad_lines), cmocka_unit_test(help_wins),
        cmocka_unit_test(durations),  cmocka_unit_test(long_input), cmocka_unit_test(help_text),
        cmocka_unit_test(all_help),   cmocka_unit_test(quoting),   cmocka_unit_test(commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
