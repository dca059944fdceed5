/* A specification's Lua table as JSON, and what it may not hold. */
#include "search/spec/spec.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct err err;
static double seconds = 60;

static void assert_gives(const char *text, const char *wanted)
{
    json_t *j = NULL;
    if (spec_read_text(text, strlen(text), "t.lua", 5, &j, &err) != LATHE_OK)
        fail_msg("'%s' failed: %s", text, err.text);
    char *got = json_dumps(j, JSON_COMPACT | JSON_ENCODE_ANY);
    assert_string_equal(got, wanted);
    free(got);
    json_decref(j);
}

static void assert_fails_as(status wanted, const char *text, const char *message)
{
    json_t *j = NULL;
    status s = spec_read_text(text, strlen(text), "t.lua", seconds, &j, &err);
    if (s != wanted)
        fail_msg("'%s' gave %s: %s", text, status_name(s), err.text);
    if (!strstr(err.text, message))
        fail_msg("'%s' gave '%s', not '%s'", text, err.text, message);
    assert_ptr_equal(strstr(err.text, "t.lua"), err.text);
    assert_null(j);
}

static void assert_fails(const char *text, const char *message)
{
    assert_fails_as(LATHE_SPEC, text, message);
}

static void test_tables_become_json(void **state)
{
    assert_gives("return problem { name = 'x' }", "{\"name\":\"x\",\"tag\":\"problem\"}");
    assert_gives("return problem { 1, 2.5, true, 'a', {} }", "{\"tag\":\"problem\",\"#\":[1,2.5,true,\"a\",[]]}");
    assert_gives("return problem { a = { 1, { 2 } }, b = { x = 1, 'y' } }",
                 "{\"a\":[1,[2]],\"b\":{\"x\":1,\"#\":[\"y\"]},\"tag\":\"problem\"}");
    assert_gives("return problem { t = { 'X', 'f32', { 'M' }, fill = uniform(0, '1/sqrt(K)') } }",
                 "{\"t\":{\"fill\":{\"tag\":\"uniform\",\"#\":[0,\"1/sqrt(K)\"]},\"#\":[\"X\",\"f32\",[\"M\"]]},"
                 "\"tag\":\"problem\"}");
    assert_gives(
        "return problem { i64 'M * N', f32 { 2 }, normal(0, 1), gemm { 'A' }, launch { 'f' }, kernel { s = 1 } }",
        "{\"tag\":\"problem\",\"#\":[{\"tag\":\"i64\",\"#\":[\"M * N\"]},{\"tag\":\"f32\",\"#\":[2]},"
        "{\"tag\":\"normal\",\"#\":[0,1]},{\"tag\":\"gemm\",\"#\":[\"A\"]},{\"tag\":\"launch\",\"#\":[\"f\"]},"
        "{\"s\":1,\"tag\":\"kernel\"}]}");
    assert_gives("return problem { v = tensor_map { 'W', box = { 8, 'BM' }, l2 = 128 } }",
                 "{\"tag\":\"problem\",\"v\":{\"box\":[8,\"BM\"],\"l2\":128,\"tag\":\"tensor_map\",\"#\":[\"W\"]}}");
    assert_gives("local shared = { 1 } return problem { shared, shared }", "{\"tag\":\"problem\",\"#\":[[1],[1]]}");
    assert_gives("local list = {} for i = 1, 3 do list[i] = 2 ^ i // 1 | 0 end return problem { v = list }",
                 "{\"tag\":\"problem\",\"v\":[2,4,8]}");
}

static void test_keys_are_sorted_in_every_run(void **state)
{
    for (int run = 0; run < 5; run++)
        assert_gives("local t = {} for c in ('qwertyuiop'):gmatch('.') do t[c] = 1 end return problem { t = t }",
                     "{\"t\":{\"e\":1,\"i\":1,\"o\":1,\"p\":1,\"q\":1,\"r\":1,\"t\":1,\"u\":1,\"w\":1,\"y\":1},"
                     "\"tag\":\"problem\"}");
}

static void test_values_that_are_no_data(void **state)
{
    assert_fails("return problem { f = function() end }", "t.lua: f: a function can't be part of a specification");
    assert_fails("return problem { kernels = { { 'simt', params = { { 'BM', { 1, 0 / 0 } } } } } }",
                 "t.lua: kernels.simt.params.BM[2][2]: not a number");
    assert_fails("return problem { v = { 1, math.huge } }", "t.lua: v[2]: infinite");
    assert_fails("return problem { v = coroutine.create(function() end) }", "v: this kind of value");
    assert_fails("return problem { s = '\\xff' }", "s: the string is not valid UTF-8");
    assert_fails("return problem { v = { 1, nil, 3 } }", "v: item 2 of the list is missing (nil), and item 3 is there");
    assert_fails("return problem { v = { [0] = 1 } }",
                 "v: a key must be a name of at most 40 characters or a position from 1, "
                 "not a number");
    assert_fails("return problem { v = { [1.5] = 1 } }", "v: a key must be a name");
    assert_fails("return problem { v = { [true] = 1 } }", "not a boolean");
    assert_fails("return problem { v = { ['#'] = 1 } }", "not the text #");
    assert_fails("return problem { v = { ['a\\0b'] = 1 } }", "v: a key must be a name");
    assert_fails("return problem { v = { ['\\xff'] = 1 } }", "v: a key is not valid UTF-8");
    assert_fails("return problem { v = { [('k'):rep(41)] = 1 } }", "v: a key must be a name of at most 40");
    assert_fails("return problem { v = setmetatable({}, {}) }", "v: a table with a metatable");
    assert_fails("local t = {} t.t = t return problem { t = t }",
                 "tables nested more than 32 deep; does one contain itself?");
    assert_fails("local t = { 1 } for i = 1, 30 do t = { t, t } end return problem { t = t }",
                 "more than 1000000 values");
    assert_fails("local s, t = ('x'):rep(1e6), {} for i = 1, 100 do t[i] = s end return problem { t = t }",
                 "more than 64 MiB of text");
}

static void test_what_a_script_must_return(void **state)
{
    const char *must = "a specification ends with `return problem { ... }`; this one returned ";
    char message[200];
    snprintf(message, sizeof message, "%snothing", must);
    assert_fails("local x = 1", message);
    assert_fails("", message);
    snprintf(message, sizeof message, "%sa number", must);
    assert_fails("return 3", message);
    snprintf(message, sizeof message, "%sanother table", must);
    assert_fails("return { name = 'x' }", message);
    assert_fails("return launch { 'f' }", message);
    assert_fails("return setmetatable({}, { __index = { tag = 'problem' } })", message);
}

static void test_words_check_their_arguments(void **state)
{
    assert_fails("local p = problem 'x'\nreturn p",
                 "t.lua:1: problem takes a table, problem { ... }, but was given the string");
    assert_fails("local p = { launch }\nlocal l = launch()\nreturn p", "t.lua:2: launch takes a table");
    assert_fails("local l = launch(launch {})\nreturn l", "t.lua:1: launch: the table is already a launch");
    assert_fails("local u = uniform(0)\nreturn u",
                 "t.lua:1: uniform: a number or a formula was expected, but was given nothing");
    assert_fails("local u = uniform(0, 1, 2)\nreturn u", "t.lua:1: uniform takes two arguments");
    assert_fails("local u = i32({ 1, 2 })\nreturn u",
                 "t.lua:1: i32: a number or a formula was expected, but was given a table");
    assert_fails("local u = f64(1, 2)\nreturn u", "t.lua:1: f64 takes one argument");
}

static void test_scripts_that_fail(void **state)
{
    assert_fails("return problem {\n  name = \n}", "t.lua:3: unexpected symbol near '}'");
    assert_fails("\n\nreturn problm {}", "t.lua:3: unknown name 'problm'; did you mean 'problem'?");
    assert_fails("return strategy {}", "unknown name 'strategy'");
    seconds = 0.2;
    assert_fails("while true do end", "t.lua:1: the script ran for more than 0.2 s");
    seconds = 60;
    assert_fails("local t = {} while true do t[#t + 1] = ('x'):rep(1000000) .. #t end",
                 "the script used more than 256 MiB of memory");
    assert_fails("error('own words')", "t.lua:1: own words");
    assert_fails("\x1bLua", "this is compiled Lua");
}

static char dir[] = "/tmp/lathe-test-spec-XXXXXX";

static void test_files(void **state)
{
    json_t *j = NULL;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(spec_read("/nonexistent/spec.lua", &j, &err), LATHE_IO);
    assert_non_null(strstr(err.text, "/nonexistent/spec.lua"));
    assert_int_equal(spec_read(dir, &j, &err), LATHE_IO);
    char *name = mem_printf("%s/a_rather_long_name_so_that_lua_would_cut_it_short/", dir);
    assert_int_equal(dir_make(name, &err), LATHE_OK);
    char *path = path_join(name, "spec.lua");
    const char good[] = "return problem { name = 'x' }", bad[] = "\nreturn problem { name = }";
    assert_int_equal(file_write_atomic(path, good, sizeof good - 1, &err), LATHE_OK);
    assert_int_equal(spec_read(path, &j, &err), LATHE_OK);
    assert_string_equal(json_string_value(json_object_get(j, "name")), "x");
    json_decref(j);
    assert_int_equal(file_write_atomic(path, bad, sizeof bad - 1, &err), LATHE_OK);
    assert_int_equal(spec_read(path, &j, &err), LATHE_SPEC);
    assert_ptr_equal(strstr(err.text, path), err.text);
    assert_non_null(strstr(err.text, "spec.lua:2: unexpected symbol near '}'"));
    unlink(path);
    rmdir(name);
    rmdir(dir);
    mem_free(path);
    mem_free(name);
}

static void test_settings(void **state)
{
    char folder[] = "/tmp/lathe-test-spec-XXXXXX";
    static const char script[] = "local a, b = setting { 'kind', { 'x', 'y' } }, setting { 'kind', { 'x', 'y' } }\n"
                                 "return problem { name = a .. b .. setting { 'other', { 'o' } } }";
    static const char *const malformed[][2] = {
        {"setting { 'kind', 'x' }", "setting: write setting { "},
        {"setting { 'kind', { 'x' }, hlep = 'y' }", "setting kind: unknown key 'hlep'"},
        {"setting { 'kind', { 'x', nil, 'y' } }", "setting kind: value 2 must be a text"},
        {"setting { 'kind', { 'x', y = 'z' } }", "setting kind: value 2 must be a text"},
        {"setting { 'kind', { 'x, y' } }", "setting kind: value 1 must be a text"},
        {"setting { 'kind', { 'x', 'x' } }", "setting kind: the value 'x' is there already"},
        {"setting { 'kind', { 'x' } } .. setting { 'kind', { 'z' } }",
         "setting kind: has the values x elsewhere, and here z"},
    };
    static const struct {
        char *texts[2];
        int count;
        status want;
        const char *found;          /* the name, or a part of the message */
    } cases[] = {
        {{0}, 0, LATHE_OK, "xxo"},
        {{"kind=y", "other=o"}, 2, LATHE_OK, "yyo"},
        {{"kind=z"}, 1, LATHE_SPEC, "--set kind=z: kind is one of x, y"},
        {{"kin=x"},
         1,
         LATHE_USAGE,
         "there is no setting 'kin' (did you mean 'kind'?); there are: kind (x, y); other (o)"},
        {{"kind"}, 1, LATHE_USAGE, "'kind' is not a name and a value"},
        {{"kind="}, 1, LATHE_USAGE, "'kind=' is not a name and a value"},
        {{"kind=x", "kind=x"}, 2, LATHE_USAGE, "kind is given twice"},
    };
    assert_non_null(mkdtemp(folder));
    char *path = path_join(folder, "spec.lua");
    assert_int_equal(file_write_atomic(path, script, sizeof script - 1, &err), LATHE_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *j = NULL;
        struct spec_settings settings = {cases[i].texts, cases[i].count};
        assert_int_equal(spec_read_with(path, &settings, &j, &err), cases[i].want);
        if (cases[i].want == LATHE_OK)
            assert_string_equal(json_string_value(json_object_get(j, "name")), cases[i].found);
        else
            assert_non_null(strstr(err.text, cases[i].found));
        json_decref(j);
    }
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        json_t *j = NULL;
        char *text = mem_printf("return problem { name = %s }", malformed[i][0]);
        assert_int_equal(file_write_atomic(path, text, strlen(text), &err), LATHE_OK);
        assert_int_equal(spec_read(path, &j, &err), LATHE_SPEC);
        assert_non_null(strstr(err.text, "spec.lua:1: "));
        assert_non_null(strstr(err.text, malformed[i][1]));
        mem_free(text);
    }
    unlink(path);
    rmdir(folder);
    mem_free(path);
}

/* What the specification dir/own/spec.lua may include. */
static const struct {
    const char *path, *text;
} files[] = {
    {"own/parts/list.lua", "return { 1, 2 }"},
    {"own/parts/made.lua", "local list = include 'list.lua'\nlist[1] = list[1] + 1\n"
                           "return { list = list, file = beside 'x.cu', up = beside '../x.cu' }"},
    {"shared/family.lua", "local made = include '../own/parts/made.lua'\n"
                          "return function(name) return problem { name = name, list = made.list, file = made.file,\n"
                          "  own = beside 'y.cu', again = include '../own/parts/made.lua'.list[1] } end"},
    {"own/bad.lua", "local x = 1\nreturn nosuch"},
    {"own/fails.lua", "return function()\n\n  error('no good') end"},
    {"own/syntax.lua", "\nreturn {"},
    {"own/nothing.lua", "local x = 1"},
    {"own/global.lua", "\nlist = 1"},
    {"own/words.lua", "\n_G.include = 1"},
    {"own/self.lua", "return include 'self.lua'"},
    {"own/back.lua", "return include 'spec.lua'"},
    {"own/large.lua", "local t = {}\nwhile true do t[#t + 1] = ('x'):rep(1000000) .. #t end"},
    {"own/again.lua", "return { include 'parts/list.lua'[1], n = 1 }"},
    {"own/data.txt", "1"},
    {"own/code.lua", "\x1bLua"},
};

/* The specification with this text: what it gives as compact JSON, or "" with the message in err. mem_free it. */
static char *gives(const char *text)
{
    json_t *j = NULL;
    char *path = mem_printf("%s/own/spec.lua", dir);
    assert_int_equal(file_write_atomic(path, text, strlen(text), &err), LATHE_OK);
    status s = spec_read(path, &j, &err);
    assert_true(s == LATHE_OK || s == LATHE_SPEC);
    if (s)
        assert_ptr_equal(strstr(err.text, path), err.text);
    char *got = s ? strdup("") : json_dumps(j, JSON_COMPACT), *copy = mem_strdup(got);
    free(got);
    json_decref(j);
    unlink(path);
    mem_free(path);
    return copy;
}

static void assert_include_gives(const char *text, const char *wanted)
{
    char *got = gives(text);
    if (strcmp(got, wanted) != 0)
        fail_msg("'%s' gave '%s' (%s), not '%s'", text, got, *got ? "" : err.text, wanted);
    mem_free(got);
}

static void assert_include_fails(const char *text, const char *message)
{
    char *got = gives(text);
    if (*got || !strstr(err.text, message))
        fail_msg("'%s' gave '%s' and '%s', not '%s'", text, got, err.text, message);
    mem_free(got);
}

static void write_files(bool there)
{
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char *path = path_join(dir, files[i].path);
        if (there)
            assert_int_equal(file_write_atomic(path, files[i].text, strlen(files[i].text), &err), LATHE_OK);
        else
            unlink(path);
        mem_free(path);
    }
}

static int include_setup(void **state)
{
    strcpy(dir, "/tmp/lathe-test-spec-XXXXXX");
    if (!mkdtemp(dir))
        return 1;
    static const char *const folders[] = {"own/parts", "shared"};
    for (int i = 0; i < 2; i++) {
        char *folder = path_join(dir, folders[i]);
        assert_int_equal(dir_make(folder, &err), LATHE_OK);
        mem_free(folder);
    }
    write_files(true);
    return 0;
}

static int include_teardown(void **state)
{
    write_files(false);
    static const char *const folders[] = {"own/parts", "own", "shared", ""};
    for (int i = 0; i < 4; i++) {
        char *folder = path_join(dir, folders[i]);
        rmdir(folder);
        mem_free(folder);
    }
    return 0;
}

static void test_includes(void **state)
{
    assert_include_gives("return problem { v = include 'parts/list.lua' }", "{\"tag\":\"problem\",\"v\":[1,2]}");
    /* run once, whatever path leads there; a path counts from the file that says it, whoever calls */
    assert_include_gives("local f = include '../shared/family.lua'\nreturn f 'x'",
                         "{\"again\":2,\"file\":\"../shared/../own/parts/x.cu\",\"list\":[2,2],\"name\":\"x\","
                         "\"own\":\"../shared/y.cu\",\"tag\":\"problem\"}");
    assert_include_gives("return problem { f = beside 'a.cu', g = beside '../b.cu' }",
                         "{\"f\":\"a.cu\",\"g\":\"../b.cu\",\"tag\":\"problem\"}");
    assert_include_gives("return problem { a = include 'parts/made.lua'.up, b = include 'again.lua' }",
                         "{\"a\":\"parts/../x.cu\",\"b\":{\"n\":1,\"#\":[2]},\"tag\":\"problem\"}");
}

static void test_includes_that_fail(void **state)
{
    assert_include_fails("return include 'bad.lua'", "own/bad.lua:2: unknown name 'nosuch'");
    assert_include_fails("\nlocal f = include 'fails.lua'\nf()", "fails.lua:3: no good");
    assert_include_fails("\nlocal f = include 'fails.lua'\nf()", "spec.lua:3: in main chunk");
    assert_include_fails("return include 'syntax.lua'", "own/syntax.lua:2: unexpected symbol near <eof>");
    assert_include_fails("return include 'nothing.lua'",
                         "spec.lua:1: include \"nothing.lua\": the file returned nothing");
    assert_include_fails("return include 'global.lua'", "own/global.lua:2: 'list' is not a local variable");
    assert_include_fails("return include 'words.lua'", "own/words.lua:2: 'include' is not a local variable");
    assert_include_fails("return include 'self.lua'",
                         "own/self.lua:1: include \"self.lua\": that file is running already");
    assert_include_fails("return include 'back.lua'",
                         "own/back.lua:1: include \"spec.lua\": that file is running already");
    assert_include_fails("return include 'gone.lua'", "include \"gone.lua\": ");
    assert_include_fails("return include 'gone.lua'", "own/gone.lua: cannot open: No such file");
    assert_include_fails("return include 'data.txt'", "include \"data.txt\": expected a .lua file");
    assert_include_fails("return include 'code.lua'", "own/code.lua: this is compiled Lua");
    assert_include_fails("return include '/etc/x.lua'", "include \"/etc/x.lua\": an absolute path");
    assert_include_fails("return include ''", "include takes the name of a file: include \"FILE.lua\"");
    assert_include_fails("return include('a.lua', 1)", "include takes the name of a file");
    assert_include_fails("return include(12)", "include takes the name of a file");
    assert_include_fails("return include 'a\\0.lua'", "include takes the name of a file");
    assert_include_fails("return beside()", "beside takes the name of a file: beside \"FILE.cu\"");
    assert_include_fails("return beside '/x.cu'", "beside \"/x.cu\": an absolute path");
    assert_fails("return include 'x.lua'", "t.lua:1: include \"x.lua\": this specification is no file");
    assert_fails("return require 'x'", "a specification may include \"FILE.lua\"");
    /* what has failed may be tried again, and fails in the same way */
    assert_include_gives("local a, x = pcall(include, 'bad.lua')\nlocal b, y = pcall(include, 'bad.lua')\n"
                         "return problem { a, b, x == y, include 'parts/list.lua' }",
                         "{\"tag\":\"problem\",\"#\":[false,false,true,[1,2]]}");
}

/* An included file has the limits of the whole, which nothing catches, and nests no deeper than C calls do. */
static void test_includes_are_bounded(void **state)
{
    char *path = NULL;
    assert_include_fails("pcall(include, 'large.lua')", "the script used more than 256 MiB of memory");
    for (int i = 0; i < 300; i++) {
        char *text = mem_printf("return include 'deep%d.lua'", i + 1);
        path = mem_printf("%s/own/deep%d.lua", dir, i);
        assert_int_equal(file_write_atomic(path, text, strlen(text), &err), LATHE_OK);
        mem_free(text);
        mem_free(path);
    }
    assert_include_fails("return include 'deep0.lua'", "stack overflow");
    for (int i = 0; i < 300; i++) {
        path = mem_printf("%s/own/deep%d.lua", dir, i);
        unlink(path);
        mem_free(path);
    }
    path = mem_printf("%s/own/pipe.lua", dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_include_fails("return include 'pipe.lua'", "own/pipe.lua: is no regular file");
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_include_fails("return include 'pipe.lua'", "own/pipe.lua: is no regular file");
    rmdir(path);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(ftruncate(fileno(f), (16 << 20) + 1), 0);
    fclose(f);
    assert_include_fails("return include 'pipe.lua'", "own/pipe.lua: larger than 16 MiB");
    unlink(path);
    mem_free(path);
}

static void test_the_message_may_go_unheard(void **state)
{
    json_t *j = NULL;
    assert_int_equal(spec_read_text("x", 1, "t.lua", 1, &j, NULL), LATHE_SPEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables_become_json),
        cmocka_unit_test(test_keys_are_sorted_in_every_run),
        cmocka_unit_test(test_values_that_are_no_data),
        cmocka_unit_test(test_what_a_script_must_return),
        cmocka_unit_test(test_words_check_their_arguments),
        cmocka_unit_test(test_scripts_that_fail),
        cmocka_unit_test(test_files),
        cmocka_unit_test_setup_teardown(test_includes, include_setup, include_teardown),
        cmocka_unit_test_setup_teardown(test_includes_that_fail, include_setup, include_teardown),
        cmocka_unit_test_setup_teardown(test_includes_are_bounded, include_setup, include_teardown),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_the_message_may_go_unheard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
