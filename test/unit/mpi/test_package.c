/* test_package.c: frames and packed requests arrive as they were sent, and what is cut short or forged is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "mpi/frame.h"
#include "mpi/package.h"
#include "trial/cache.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char here[] = "/tmp/lathe-test-here-XXXXXX", there[] = "/tmp/lathe-test-there-XXXXXX";
static const char IMAGE[] = "0123abcd.image", SUPPORT[] = "ff.image";

static int make_dirs(void **state) { return mkdtemp(here) && mkdtemp(there) ? 0 : -1; }

static int remove_dirs(void **state)
{
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s %s", here, there);
    return system(command);
}

static void test_frames(void **state)
{
    struct strbuf b = {0};
    struct frame f;
    frame_add(&b, FRAME_REQUEST, 7, "a\0b", 3);
    frame_add(&b, FRAME_PING, 0, NULL, 0);
    for (size_t n = 0; n < FRAME_HEADER + 3; n++) assert_int_equal(frame_read(b.s, n, &f), 0);
    long used = frame_read(b.s, b.len, &f);
    assert_int_equal(used, FRAME_HEADER + 3);
    assert_int_equal(f.kind, FRAME_REQUEST);
    assert_int_equal(f.session, 7);
    assert_int_equal(f.len, 3);
    assert_memory_equal(f.body, "a\0b", 3);
    assert_int_equal(frame_read(b.s + used, b.len - (size_t)used, &f), FRAME_HEADER);
    assert_int_equal(f.kind, FRAME_PING);
    b.s[15] = 1;                    /* a length beyond any */
    assert_int_equal(frame_read(b.s, b.len, &f), -1);
    b.s[15] = 0;
    b.s[0] = 99;                    /* no kind */
    assert_int_equal(frame_read(b.s, b.len, &f), -1);
    sb_free(&b);
}

static void put(const char *dir, const char *name, const char *text)
{
    char *path = path_join(dir, name);
    struct err e;
    assert_int_equal(file_write_atomic(path, text, strlen(text), &e), LATHE_OK);
    cache_seal(path);
    mem_free(path);
}

static void assert_same_file(const char *name)
{
    struct err e;
    char *a, *b, *from = path_join(here, name), *to = path_join(there, name);
    size_t na, nb;
    assert_int_equal(file_read(from, &a, &na, &e), LATHE_OK);
    assert_int_equal(file_read(to, &b, &nb, &e), LATHE_OK);
    assert_int_equal(na, nb);
    assert_memory_equal(a, b, na);
    assert_true(cache_has(to));
    mem_free(a);
    mem_free(b);
    mem_free(from);
    mem_free(to);
}

/* A request that names images in `here`; its numbers have to come through whole. */
static void pack(struct strbuf *out)
{
    char *line = mem_printf("{\"op\":\"x\",\"seed\":9007199254740993,\"v\":0.10000000000000001,"
                            "\"evaluation\":{\"image\":\"%s/%s\"},\"setup\":{\"support_image\":\"%s/%s\"}}",
                            here, IMAGE, here, SUPPORT);
    struct err e;
    put(here, IMAGE, "code of a kernel");
    put(here, SUPPORT, "verifier");
    assert_int_equal(package_write(line, strlen(line), out, &e), LATHE_OK);
    mem_free(line);
}

static void test_images_travel(void **state)
{
    struct strbuf b = {0};
    struct err e;
    json_t *request;
    pack(&b);
    for (int turn = 0; turn < 2; turn++) {          /* not there; there, and damaged */
        assert_int_equal(package_read(b.s, b.len, there, &request, &e), LATHE_OK);
        char *path = path_join(there, IMAGE);
        assert_string_equal(json_string_value(json_object_get(json_object_get(request, "evaluation"), "image")), path);
        assert_int_equal(json_integer_value(json_object_get(request, "seed")), 9007199254740993);
        assert_true(json_real_value(json_object_get(request, "v")) == 0.1);
        assert_null(json_object_get(request, "files"));
        json_decref(request);
        assert_same_file(IMAGE);
        assert_same_file(SUPPORT);
        FILE *f = fopen(path, "r+");
        assert_non_null(f);
        fputs("damage", f);
        fclose(f);
        mem_free(path);
    }
    sb_free(&b);
}

/* Gone here: where the other cache has it that one is taken, else the path is of what the worker there will miss. */
static void test_gone(void **state)
{
    struct strbuf b = {0};
    struct err e;
    json_t *request;
    char *from = path_join(here, IMAGE), *to = path_join(there, IMAGE), *line;
    pack(&b);
    assert_int_equal(package_read(b.s, b.len, there, &request, &e), LATHE_OK);
    json_decref(request);
    assert_int_equal(unlink(from), 0);
    line = mem_printf("{\"evaluation\":{\"image\":\"%s\"},\"setup\":{\"support_image\":\"%s/%s\"}}", from, here,
                      SUPPORT);
    for (int turn = 0; turn < 2; turn++) {
        if (turn) unlink(to);
        b.len = 0;
        assert_int_equal(package_write(line, strlen(line), &b, &e), LATHE_OK);
        assert_int_equal(package_read(b.s, b.len, there, &request, &e), LATHE_OK);
        assert_string_equal(json_string_value(json_object_get(json_object_get(request, "evaluation"), "image")), to);
        assert_int_equal(cache_has(to), !turn);
        assert_same_file(SUPPORT);
        json_decref(request);
    }
    b.len = 0;
    char *command = mem_printf("rm -rf %s", there);     /* the whole of it, while a rank runs */
    assert_int_equal(system(command), 0);
    pack(&b);
    assert_int_equal(package_read(b.s, b.len, there, &request, &e), LATHE_OK);
    json_decref(request);
    assert_same_file(IMAGE);
    mem_free(command);
    mem_free(line);
    mem_free(from);
    mem_free(to);
    sb_free(&b);
}

static void test_cut_short(void **state)
{
    struct strbuf b = {0};
    struct err e = {0};
    json_t *request;
    pack(&b);
    for (size_t n = 0; n < b.len; n++)
        assert_int_equal(package_read(b.s, n, there, &request, &e), LATHE_INTERNAL);
    sb_add(&b, "more");
    assert_int_equal(package_read(b.s, b.len, there, &request, &e), LATHE_INTERNAL);
    sb_free(&b);
}

static void assert_refused(const char *text, status want)
{
    struct err e = {0};
    json_t *request;
    char *bytes = mem_printf("%s%c%s", text, 1, "data");
    bytes[strlen(text)] = 0;
    assert_int_equal(package_read(bytes, strlen(text) + 5, there, &request, &e), want);
    assert_true(*e.text);
    mem_free(bytes);
}

static void test_forged(void **state)
{
    assert_refused("{\"evaluation\":{\"image\":\"x\"},\"files\":[[\"../evil.image\",4]]}", LATHE_INTERNAL);
    assert_refused("{\"evaluation\":{\"image\":\"x\"},\"files\":[[\"/etc/passwd\",4]]}", LATHE_INTERNAL);
    assert_refused("{\"evaluation\":{\"image\":\"x\"},\"files\":[[\"0a.image\",5]]}", LATHE_INTERNAL);
    assert_refused("{\"evaluation\":{\"image\":\"x\"},\"files\":[[\"0a.image\",-1]]}", LATHE_INTERNAL);
    assert_refused("{\"evaluation\":{\"image\":\"x\"}}", LATHE_INTERNAL);
    assert_refused("[1]", LATHE_INTERNAL);
}

static void test_refused_here(void **state)
{
    struct strbuf b = {0};
    struct err e = {0};
    char *folder = path_join(here, "0a.image"), *line = mem_printf("{\"evaluation\":{\"image\":\"%s\"}}", folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(package_write(line, strlen(line), &b, &e), LATHE_IO);
    assert_non_null(strstr(e.text, "0a.image"));
    mem_free(line);
    mem_free(folder);
    assert_int_equal(package_write("[", 1, &b, &e), LATHE_INTERNAL);
    assert_int_equal(package_write("[1]", 3, &b, &e), LATHE_INTERNAL);
    sb_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames),    cmocka_unit_test(test_images_travel), cmocka_unit_test(test_gone),
        cmocka_unit_test(test_cut_short), cmocka_unit_test(test_forged),        cmocka_unit_test(test_refused_here),
    };
    return cmocka_run_group_tests(tests, make_dirs, remove_dirs);
}
