/* test_cache.c: keys tell apart everything that makes an image; trimming takes the least recently used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "trial/cache.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char dir[] = "/tmp/lathe-test-cache-XXXXXX";

static int make_dir(void **state) { return mkdtemp(dir) ? 0 : -1; }

static int remove_dir(void **state)
{
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

static void test_key_sees_every_input(void **state)
{
    char *a[] = {(char *)"LATHE_A=1", (char *)"LATHE_B=2"}, *b[] = {(char *)"LATHE_A=12", (char *)"LATHE_B="};
    char base[HASH_HEX], other[HASH_HEX];
    cache_key("source", a, 2, "sm_90a", "NVRTC 13.0", false, base);
    cache_key("source", a, 2, "sm_90a", "NVRTC 13.0", false, other);
    assert_string_equal(base, other);
    cache_key("source ", a, 2, "sm_90a", "NVRTC 13.0", false, other);
    assert_string_not_equal(base, other);
    cache_key("source", b, 2, "sm_90a", "NVRTC 13.0", false, other);
    assert_string_not_equal(base, other);
    cache_key("source", a, 1, "sm_90a", "NVRTC 13.0", false, other);
    assert_string_not_equal(base, other);
    cache_key("source", a, 2, "sm_80", "NVRTC 13.0", false, other);
    assert_string_not_equal(base, other);
    cache_key("source", a, 2, "sm_90a", "NVRTC 12.4", false, other);
    assert_string_not_equal(base, other);
    cache_key("source", a, 2, "sm_90a", "NVRTC 13.0", true, other);
    assert_string_not_equal(base, other);
}

static void put(const char *key, size_t bytes, long age_seconds)
{
    char *path = cache_path(dir, key), *data = mem_zalloc(1, bytes);
    struct err e;
    assert_int_equal(file_write_atomic(path, data, bytes, &e), LATHE_OK);
    cache_seal(path);
    struct timespec now, times[2];
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec -= age_seconds;
    times[0] = times[1] = now;
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    mem_free(path);
    mem_free(data);
}

static bool has(const char *key)
{
    char *path = cache_path(dir, key);
    bool there = file_exists(path);
    mem_free(path);
    return there;
}

static void test_trim_drops_the_least_recently_used(void **state)
{
    setenv("LATHE_CACHE_SIZE", "2", 1);     /* MiB */
    put("old", 900 << 10, 300);
    put("middle", 900 << 10, 200);
    put("new", 900 << 10, 100);
    char *path = cache_path(dir, "old");
    assert_true(cache_has(path));           /* a hit makes it the newest */
    mem_free(path);
    cache_trim(dir);
    assert_true(has("old"));
    assert_true(has("new"));
    assert_false(has("middle"));
    cache_trim(dir);
    assert_true(has("new"));                /* within the limit: nothing more goes */
    unsetenv("LATHE_CACHE_SIZE");
}

static void put_file(const char *name, long age_seconds)
{
    char *path = path_join(dir, name);
    struct err e;
    struct timespec now, times[2];
    assert_int_equal(file_write_atomic(path, "x", 1, &e), LATHE_OK);
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec -= age_seconds;
    times[0] = times[1] = now;
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    mem_free(path);
}

static bool has_file(const char *name)
{
    char *path = path_join(dir, name);
    bool there = file_exists(path);
    mem_free(path);
    return there;
}

static void test_trim_drops_what_killed_compilers_left(void **state)
{
    static const char *const left[] = {"key.image.123.cu", "key.image.123.ii-0a1b2c.o", "ccA1b2C3.s", "ccZZZZZZ.o"},
                             *const others[] = {"cc.s", "ccnotes.txt", "README", "ccA1b2C3"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) put_file(left[i], 0);
    cache_trim(dir);                        /* may be in use */
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) assert_true(has_file(left[i]));
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) put_file(left[i], 4000);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) put_file(others[i], 4000);
    cache_trim(dir);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) assert_false(has_file(left[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_true(has_file(others[i]));
}

static void test_a_limit_that_is_no_size_is_refused(void **state)
{
    static const char *const bad[] = {"2G", "0", "-1", "many", "1.5", "99999999999999999999"};
    struct err e;
    char *opened;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("LATHE_CACHE_SIZE", bad[i], 1);
        assert_int_equal(cache_open(&opened, &e), LATHE_USAGE);
        assert_non_null(strstr(e.text, bad[i]));
    }
    setenv("LATHE_CACHE_SIZE", "", 1);      /* as if it were not set */
    assert_int_equal(cache_open(&opened, &e), LATHE_OK);
    mem_free(opened);
    unsetenv("LATHE_CACHE_SIZE");
}

/* The image as it is on disk; mem_free it. */
static char *image(const char *path, size_t *len)
{
    char *data;
    struct err e;
    assert_int_equal(file_read(path, &data, len, &e), LATHE_OK);
    return data;
}

static void replace(const char *path, const char *data, size_t len)
{
    struct err e;
    assert_int_equal(file_write_atomic(path, data, len, &e), LATHE_OK);
}

static void test_an_image_that_is_not_whole_is_absent(void **state)
{
    char *path = cache_path(dir, "sealed");
    assert_false(cache_has(path));
    replace(path, "bytes of an image", 17);
    assert_false(cache_has(path));          /* never sealed */
    cache_seal(path);
    assert_true(cache_has(path));
    size_t len;
    char *data = image(path, &len);
    assert_memory_equal(data, "bytes of an image", 17);     /* what a loader reads is as it was */
    for (size_t n = 0; n < len; n++) {
        replace(path, data, n);
        assert_false(cache_has(path));
        data[n] ^= 1;
        replace(path, data, len);
        assert_false(cache_has(path));
        data[n] ^= 1;
    }
    replace(path, data, len);
    assert_true(cache_has(path));
    cache_seal(path);                       /* by another campaign too */
    assert_true(cache_has(path));
    mem_free(data);
    mem_free(path);
    cache_seal("/proc/no/such/image");
    assert_false(cache_has("/proc/no/such/image"));
    assert_false(cache_has(dir));
}

static void test_open_refuses_a_directory_that_cannot_be_written(void **state)
{
    char *found = NULL;
    struct err e = {0};
    setenv("LATHE_CACHE", "/proc/self", 1);
    assert_int_equal(cache_open(&found, &e), LATHE_IO);
    assert_non_null(strstr(e.text, "/proc/self: cannot write there: "));
    assert_non_null(strstr(e.text, "LATHE_CACHE"));
    assert_null(found);
    unsetenv("LATHE_CACHE");
}

static void test_open_names_the_directory_that_cannot_be_made(void **state)
{
    char *found = NULL;
    struct err e = {0};
    setenv("LATHE_CACHE", "/proc/no/such/place", 1);
    assert_int_equal(cache_open(&found, &e), LATHE_IO);
    assert_non_null(strstr(e.text, "/proc/no"));
    assert_non_null(strstr(e.text, "LATHE_CACHE"));
    assert_null(found);
    unsetenv("LATHE_CACHE");
}

/* Images are named to workers in JSON. */
static void test_open_refuses_a_directory_that_is_no_text(void **state)
{
    char *found = NULL, *place = mem_printf("%s/caf\xe9", dir);
    struct err e = {0};
    setenv("LATHE_CACHE", place, 1);
    assert_int_equal(cache_open(&found, &e), LATHE_IO);
    assert_non_null(strstr(e.text, "not UTF-8"));
    assert_non_null(strstr(e.text, "LATHE_CACHE"));
    assert_null(found);
    assert_int_not_equal(access(place, F_OK), 0);
    unsetenv("LATHE_CACHE");
    mem_free(place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key_sees_every_input),
        cmocka_unit_test(test_trim_drops_the_least_recently_used),
        cmocka_unit_test(test_trim_drops_what_killed_compilers_left),
        cmocka_unit_test(test_a_limit_that_is_no_size_is_refused),
        cmocka_unit_test(test_an_image_that_is_not_whole_is_absent),
        cmocka_unit_test(test_open_refuses_a_directory_that_cannot_be_written),
        cmocka_unit_test(test_open_names_the_directory_that_cannot_be_made),
        cmocka_unit_test(test_open_refuses_a_directory_that_is_no_text),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
