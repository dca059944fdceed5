/* test_lib_refused.c: what liblathe refuses, and says: files, arguments, contexts, and a driver that fails. */
#include "guest_fixture.h"

#include "db/store.h"

#include <sys/stat.h>
#include <unistd.h>

static unsigned long long context_b[1] = {22};
static const int64_t small[] = {64, 1024, 1024};

static struct choices made;
static char *path;                      /* of a good bundle */
static char *bytes;
static size_t len;

static int files_setup(void **state)
{
    struct err e = {0};
    if (guest_setup(state))
        return -1;
    choices_open(&made);
    path = guest_bundle(made.v, TUNED + 1, "good.lathe");
    return file_read(path, &bytes, &len, &e) ? -1 : 0;
}

static int files_teardown(void **state)
{
    choices_close(&made);
    mem_free(path);
    mem_free(bytes);
    return program_teardown(state);
}

static void opens(const char *data, size_t n, lathe_result wanted, const char *part)
{
    char *other = path_join(program_dir, "other.lathe");
    lathe *l = (lathe *)&l;
    struct err e = {0};
    if (file_write_atomic(other, data, n, &e))
        fail_msg("%s", e.text);
    lathe_result r = lathe_open(other, NULL, &l);
    if (wanted)
        bad(r, wanted, part);
    else
        good(r);
    if (wanted && (l || !strstr(lathe_error(), other)))
        fail_msg("%p: %s", (void *)l, lathe_error());
    lathe_close(l);
    mem_free(other);
}

/* --- files --- */

/* A program's thread must not wait for a pipe's writer, or read a device that has no end. */
static void test_no_file(void **state)
{
    lathe *l = (lathe *)&l;
    char *fifo = path_join(program_dir, "fifo");
    assert_int_equal(mkfifo(fifo, 0666), 0);
    bad(lathe_open(fifo, NULL, &l), LATHE_ERROR_FILE, "is a pipe, expected a file");
    assert_null(l);
    bad(lathe_open("/dev/zero", NULL, &l), LATHE_ERROR_FILE, "is a device, expected a file");
    bad(lathe_open(program_dir, NULL, &l), LATHE_ERROR_FILE, "is a directory, expected a file");
    unlink(fifo);
    mem_free(fifo);
}

static void test_cut_off(void **state)
{
    opens(bytes, len, LATHE_SUCCESS, "");
    opens(bytes, 0, LATHE_ERROR_FORMAT, "no file of lathe export");
    opens(bytes, 7, LATHE_ERROR_FORMAT, "no file of lathe export");
    for (size_t n = 8; n < 64; n += 5)
        opens(bytes, n, LATHE_ERROR_FORMAT, "damaged");
    for (size_t n = 64; n < len; n += 1 + len / 50)
        opens(bytes, n, LATHE_ERROR_FORMAT, "its end is missing");
    char *longer = mem_printf("%.*s", 0, "");
    longer = mem_resize(longer, len + 3, 1);
    memcpy(longer, bytes, len);
    memcpy(longer + len, "abc", 3);
    opens(longer, len + 3, LATHE_ERROR_FORMAT, "something follows its end");
    mem_free(longer);
}

/* Whichever byte is another one, it is seen. */
static void test_damaged(void **state)
{
    for (size_t at = 0; at < len; at += at < 64 ? 1 : 1 + len / 200) {
        bytes[at] ^= 0x20;
        bool version = at >= 8 && at < 12;
        opens(bytes, len, version ? LATHE_ERROR_VERSION : LATHE_ERROR_FORMAT, version ? "of version" : "");
        bytes[at] ^= 0x20;
    }
    opens(bytes, len, LATHE_SUCCESS, "");
}

static void test_foreign(void **state)
{
    lathe *l;
    opens("{\"format\": \"lathe-export\"}", 26, LATHE_ERROR_FORMAT, "no file of lathe export");
    opens("SQLite format 2: something else", 31, LATHE_ERROR_FORMAT, "no file of lathe export");
    bad(lathe_open("/nowhere/x.lathe", NULL, &l), LATHE_ERROR_FILE, "/nowhere/x.lathe");
    bad(lathe_open(program_dir, NULL, &l), LATHE_ERROR_FILE, program_dir);
    bad(lathe_open(path, "softmax", &l), LATHE_ERROR_NOT_FOUND, "linear, and not for softmax");
    assert_null(l);
    bad(lathe_open(NULL, NULL, &l), LATHE_ERROR_ARGUMENT, "path is NULL");
    bad(lathe_open(path, NULL, NULL), LATHE_ERROR_ARGUMENT, "out is NULL");
    lathe_close(NULL);
}

/* A database: nothing in it, one bundle, several, a damaged one. */
static void test_database(void **state)
{
    struct err e = {0};
    struct store *store;
    lathe *l;
    char *db = path_join(program_dir, "lathe.db");
    if (store_open(db, 1, &store, &e))
        fail_msg("%s", e.text);
    bad(lathe_open(db, NULL, &l), LATHE_ERROR_NOT_FOUND, "lathe export --format bundle --into-database --db ");
    assert_null(l);
    assert_int_equal(store_bundle(store, "linear", bytes, len, "v1", &e), LATHE_OK);
    good(lathe_open(db, NULL, &l));
    assert_string_equal(lathe_problem(l), "linear");
    lathe_close(l);
    good(lathe_open(db, "linear", &l));
    lathe_close(l);
    bad(lathe_open(db, "softmax", &l), LATHE_ERROR_NOT_FOUND, "no bundle of softmax; of those there are: linear");
    assert_int_equal(store_bundle(store, "other", bytes, len - 1, "v1", &e), LATHE_OK);
    bad(lathe_open(db, NULL, &l), LATHE_ERROR_NOT_FOUND, "linear, other: say which");
    bad(lathe_open(db, "other", &l), LATHE_ERROR_FORMAT, "its end is missing");
    assert_null(l);
    good(lathe_open(db, "linear", &l));
    lathe_close(l);
    store_close(store);
    FILE *newer = fopen(db, "r+b");             /* PRAGMA user_version, where SQLite's files have it */
    assert_non_null(newer);
    assert_int_equal(fseek(newer, 63, SEEK_SET) | (fputc(99, newer) != 99) | fclose(newer), 0);
    bad(lathe_open(db, "linear", &l), LATHE_ERROR_VERSION, "written by a newer lathe");
    char *wrong = path_join(program_dir, "wrong.db");
    if (file_write_atomic(wrong, "SQLite format 3", 16, &e))
        fail_msg("%s", e.text);
    bad(lathe_open(wrong, NULL, &l), LATHE_ERROR_FORMAT, wrong);
    mem_free(wrong);
    mem_free(db);
}

/* A checksum that fits what is not what it must be: made so on purpose. */
static void made_with(const char *json, const char *part)
{
    struct strbuf out = {0};
    struct err e = {0};
    json_t *manifest = json_loads(json, 0, NULL);
    struct bundle_image images[16];
    for (int i = 0; i < 16; i++)
        images[i] = (struct bundle_image){"image", 5};
    assert_non_null(manifest);
    assert_int_equal(bundle_encode(manifest, images, 16, &out, &e), LATHE_OK);
    opens(out.s, out.len, LATHE_ERROR_FORMAT, part);
    json_decref(manifest);
    sb_free(&out);
}

/* The good manifest, with one variant's member changed. */
static void variant_with(const char *key, json_t *value, const char *part)
{
    struct bundle b;
    struct err e = {0};
    assert_int_equal(bundle_decode(bytes, len, &b, &e), LATHE_OK);
    json_t *variants = json_object_get(b.manifest, "variants");
    json_object_set_new(json_array_get(variants, 0), key, value);
    char *text = json_dumps(b.manifest, 0);
    made_with(text, part);
    free(text);
    bundle_free(&b);
}

static void test_made_up(void **state)
{
    made_with("{}", "does not say which problem");
    made_with("{\"problem\": 3}", "does not say which problem");
    made_with("{\"problem\": \"p\"}", "no configurations");
    made_with("{\"problem\": \"p\", \"variants\": [{}]}", "no specifications");
    made_with("{\"problem\": \"p\", \"variants\": [{}], \"specifications\": [3]}", "");
    made_with("{\"problem\": \"p\", \"variants\": [{}], \"specifications\": [{\"kernels\": [{\"source\": \"x.cu\"}]}]}",
              "lacks its source");
    variant_with("specification", json_integer(99), "lacks its parts");
    variant_with("specification", json_string("x"), "lacks its parts");
    variant_with("cubin", json_integer(16), "lacks its parts");
    variant_with("ptx", json_integer(-2), "lacks its parts");
    variant_with("text", json_null(), "lacks its parts");
    variant_with("kernel", json_string("gone"), "does not have");
    variant_with("kernel", json_integer(1), "does not have");
    variant_with("size", json_object(), "no size");
    variant_with("size", json_pack("{s:i, s:i, s:i}", "M", 1, "N", 0, "K", 1), "no size");
    variant_with("configuration", json_object(), "");
    variant_with("configuration", json_pack("{s:i}", "BM", -1), "");
    variant_with("target", json_null(), "");
}

/* --- arguments --- */

static void test_arguments(void **state)
{
    lathe *l;
    lathe_kernel *k;
    uint64_t tensors[] = {tensor_at(0), tensor_at(1), tensor_at(2), tensor_at(3)};
    guest_device(&made.t[0]);
    good(lathe_open(path, NULL, &l));
    bad(lathe_select(NULL, small, 3, NULL, 0, &k), LATHE_ERROR_ARGUMENT, "NULL");
    assert_null(k);
    bad(lathe_select(l, small, 3, NULL, 0, NULL), LATHE_ERROR_ARGUMENT, "out is NULL");
    bad(lathe_select(l, NULL, 3, NULL, 0, &k), LATHE_ERROR_ARGUMENT, "has 3 dimensions, and 0 were given");
    bad(lathe_select(l, small, 2, NULL, 0, &k), LATHE_ERROR_ARGUMENT, "has 3 dimensions, and 2 were given");
    bad(lathe_select(l, small, 3, (float[]){1, 2}, 2, &k), LATHE_ERROR_ARGUMENT, "has 1 scalars, and 2 were given");
    bad(lathe_select(l, small, 3, NULL, 1, &k), LATHE_ERROR_ARGUMENT, "has 1 scalars, and 0 were given");
    bad(lathe_select(l, (int64_t[]){64, -1, 1024}, 3, NULL, 0, &k), LATHE_ERROR_ARGUMENT, "N is -1");
    bad(lathe_select(l, (int64_t[]){64, 1024, INT64_MAX}, 3, NULL, 0, &k), LATHE_ERROR_NOT_SERVED,
        "sizes go from 1 to");
    good(lathe_select(l, (int64_t[]){64, 1024, 1024}, 3, NULL, 0, &k));
    bad(lathe_launch(NULL, tensors, 4, 0, 0, NULL), LATHE_ERROR_ARGUMENT, "the kernel is NULL");
    bad(lathe_launch(k, NULL, 4, 0, 0, NULL), LATHE_ERROR_ARGUMENT, "has 4 tensors, and 0 were given");
    bad(lathe_launch(k, tensors, 3, 0, 0, NULL), LATHE_ERROR_ARGUMENT, "has 4 tensors, and 3 were given");
    tensors[1] += 16;
    bad(lathe_launch(k, tensors, 4, 0, 0, NULL), LATHE_ERROR_ARGUMENT, "W is at 0x80000000010");
    tensors[1] = 0;
    bad(lathe_launch(k, tensors, 4, 0, 0, NULL), LATHE_ERROR_ARGUMENT, "W is at 0");
    lathe_release(k);
    lathe_close(l);
    lathe_release(NULL);
    assert_int_equal(lathe_workspace(NULL), 0);
    assert_null(lathe_choice(NULL));
    assert_null(lathe_problem(NULL));
    assert_int_equal(lathe_tensors(NULL) + lathe_dims(NULL) + lathe_scalars(NULL), 0);
    assert_null(lathe_dim_name(NULL, 0));
    assert_int_equal(lathe_api_version(), LATHE_API_VERSION);
    assert_true(lathe_version()[0]);
    char *lines = guest_said();
    assert_string_equal(lines, "");     /* nothing was launched */
    mem_free(lines);
}

/* With split K, whose partial sums need memory. */
static void test_workspace(void **state)
{
    config_choice choice[64];
    struct err e = {0};
    lathe *l;
    lathe_kernel *k;
    const uint64_t tensors[] = {tensor_at(0), tensor_at(1), tensor_at(2), tensor_at(3)};
    struct export_input in = made.in[0];
    memcpy(choice, in.choice, sizeof choice);
    struct value *slots = mem_zalloc((size_t)in.kernel->scope.count + 1, sizeof *slots);
    kernel_slots_fixed(in.problem, in.kernel, in.target, slots);
    assert_int_equal(kernel_slots_config(in.kernel, choice, slots, &e), LATHE_OK);
    json_t *configuration = config_to_json(in.kernel, slots, choice);
    json_object_set_new(configuration, "SPLIT_K", json_integer(2));
    json_object_set_new(configuration, "REDUCE", json_string("second_kernel"));
    if (config_from_json(in.kernel, configuration, choice, &e))
        fail_msg("%s", e.text);
    in.choice = choice;
    const struct export_variant v = {.in = &in, .cubin = {.data = "image", .len = 5}};
    char *split = guest_bundle(&v, 1, "split.lathe");
    guest_device(&made.t[0]);
    good(lathe_open(split, NULL, &l));
    good(lathe_select(l, small, 3, NULL, 0, &k));
    size_t need = lathe_workspace(k);
    assert_true(need >= 64 * 1024 * 4);
    bad(lathe_launch(k, tensors, 4, workspace_at, need - 1, NULL), LATHE_ERROR_ARGUMENT, "bytes of workspace");
    bad(lathe_launch(k, tensors, 4, 0, need, NULL), LATHE_ERROR_ARGUMENT, "bytes of workspace");
    bad(lathe_launch(k, tensors, 4, workspace_at + 8, need, NULL), LATHE_ERROR_ARGUMENT, "at a multiple of 256");
    char *lines = guest_said();
    assert_string_equal(lines, "");
    mem_free(lines);
    good(lathe_launch(k, tensors, 4, workspace_at, need, NULL));
    lathe_release(k);
    lathe_close(l);
    json_decref(configuration);
    mem_free(slots);
    mem_free(split);
}

/* --- contexts --- */

static void test_contexts(void **state)
{
    lathe *l;
    lathe_kernel *a, *b;
    const uint64_t tensors[] = {tensor_at(0), tensor_at(1), tensor_at(2), tensor_at(3)};
    guest_device(&made.t[0]);
    good(lathe_open(path, NULL, &l));
    good(lathe_select(l, small, 3, NULL, 0, &a));
    assert_int_equal(library->loads, 1);
    good(lathe_select(l, small, 3, NULL, 0, &b));       /* what is loaded serves again */
    assert_int_equal(library->loads, 1);
    lathe_release(b);
    set_current(context_b);
    bad(lathe_launch(a, tensors, 4, 0, 0, NULL), LATHE_ERROR_CONTEXT, "not the one");
    good(lathe_select(l, small, 3, NULL, 0, &b));
    assert_int_equal(library->loads, 2);
    good(lathe_launch(b, tensors, 4, 0, 0, NULL));
    set_current(NULL);
    bad(lathe_launch(a, tensors, 4, 0, 0, NULL), LATHE_ERROR_CONTEXT, "no current CUDA context");
    lathe_release(b);
    bad(lathe_select(l, small, 3, NULL, 0, &b), LATHE_ERROR_CONTEXT, "no current CUDA context");
    set_current(context_a);
    good(lathe_launch(a, tensors, 4, 0, 0, NULL));
    context_a[0] = 33;                  /* it was destroyed, and another one has its address */
    bad(lathe_launch(a, tensors, 4, 0, 0, NULL), LATHE_ERROR_CONTEXT, "not the one");
    good(lathe_select(l, small, 3, NULL, 0, &b));
    good(lathe_launch(b, tensors, 4, 0, 0, NULL));
    lathe_release(a);
    lathe_release(b);
    lathe_close(l);
    assert_int_equal(library->loads, 1);                /* the destroyed one's went with it */
    library->loads = 0;
    context_a[0] = 11;
}

/* --- the driver --- */

static void test_driver_fails(void **state)
{
    static const struct {
        const char *function;
        int code;
        lathe_result wanted;
        const char *part;
    } failures[] = {
        {"cuCtxGetCurrent", 999, LATHE_ERROR_CUDA, "cuCtxGetCurrent: CUDA_ERROR_FAKE 999 (as was asked)"},
        {"cuCtxGetCurrent", 3, LATHE_ERROR_CONTEXT, "no current CUDA context"},     /* before cuInit */
        {"cuModuleLoadData", 2, LATHE_ERROR_CUDA, "cuModuleLoadData"},
        {"cuModuleLoadData", 222, LATHE_ERROR_NOT_SERVED, "cuModuleLoadData: CUDA_ERROR_FAKE 222"},
        {"cuModuleGetFunction", 500, LATHE_ERROR_CUDA, "linear_simt"},
    };
    lathe *l;
    lathe_kernel *k;
    const uint64_t tensors[] = {tensor_at(0), tensor_at(1), tensor_at(2), tensor_at(3)};
    guest_device(&made.t[0]);
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        good(lathe_open(path, NULL, &l));
        library->fail = failures[i].function;
        library->fail_with = failures[i].code;
        bad(lathe_select(l, small, 3, NULL, 0, &k), failures[i].wanted, failures[i].part);
        assert_null(k);
        library->fail = NULL;
        lathe_close(l);
    }
    good(lathe_open(path, NULL, &l));
    good(lathe_select(l, small, 3, NULL, 0, &k));
    library->fail = "cuLaunchKernelEx";
    library->fail_with = 700;
    bad(lathe_launch(k, tensors, 4, 0, 0, NULL), LATHE_ERROR_CUDA,
        "lathe_launch: linear_simt: cuLaunchKernelEx: CUDA_ERROR_FAKE 700");
    library->fail = NULL;
    good(lathe_launch(k, tensors, 4, 0, 0, NULL));
    lathe_release(k);
    lathe_close(l);
}

/* --- kernels that are not what the file says of them --- */

static const char *kinds_now;
static const char *kinds_of(const char *kernel) { return kinds_now; }

static void test_parameters(void **state)
{
    /* X, W, Y, partial, tickets, M, N, K, and the epilogue's b and s */
    static const struct {
        const char *kinds, *part;       /* NULL: it serves */
    } kernels[] = {
        {"pppppiii[pf]", NULL},
        {"", NULL},                     /* a driver that does not know */
        {"pppppiii[pf]i", "linear_simt: the launch passes 9 arguments, and the kernel has more parameters"},
        {"pppppiii", "linear_simt: the launch passes 9 arguments, and the kernel has 8 parameters"},
        {"pppppiqi[pf]", "linear_simt: args[7] has 4 bytes, and the kernel's parameter 8"},
        {"pppppiii[pff]i", "the kernel has more parameters"},       /* [pff] has the size of [pf] */
        {"pppppiii[pp]f", "the kernel has more parameters"},
        {"pppppiii[p]", "linear_simt: args[9] has 16 bytes, and the kernel's parameter 8"},
    };
    lathe *l;
    lathe_kernel *k;
    guest_device(&made.t[0]);
    library->kinds = kinds_of;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        kinds_now = kernels[i].kinds;
        good(lathe_open(path, NULL, &l));
        if (kernels[i].part)
            bad(lathe_select(l, small, 3, NULL, 0, &k), LATHE_ERROR_NOT_SERVED, kernels[i].part);
        else
            good(lathe_select(l, small, 3, NULL, 0, &k));
        lathe_release(k);
        lathe_close(l);
    }
    library->fail = "cuFuncGetParamInfo";
    library->fail_with = 801;
    good(lathe_open(path, NULL, &l));
    good(lathe_select(l, small, 3, NULL, 0, &k));
    lathe_release(k);
    lathe_close(l);
    library->fail = NULL;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, guest_before, guest_after)
    const struct CMUnitTest tests[] = {
        TEST(test_no_file), TEST(test_cut_off), TEST(test_damaged), TEST(test_foreign), TEST(test_database),
        TEST(test_made_up), TEST(test_arguments),
        TEST(test_workspace), TEST(test_contexts), TEST(test_driver_fails), TEST(test_parameters),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
