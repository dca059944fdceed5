/* test_probe.c: what doctor shows on any machine, devices by name, and functions run in forked children. */
#include "device/probe.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/mem.h"
#include "device/cuda/cuda_api.h"
#include "device/dev.h"
#include "device/find_lib.h"
#include "device/forked.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* --- forked --- */

static void write_text(void *ctx, int fd)
{
    if (write(fd, ctx, strlen(ctx)) < 0)
        _exit(9);
    puts("not seen by anyone");
}

static void write_much(void *ctx, int fd)
{
    char chunk[1000];
    memset(chunk, 'x', sizeof chunk);
    for (int i = 0; i < 300; i++)
        if (write(fd, chunk, sizeof chunk) < 0)
            _exit(9);
}

static void crash(void *ctx, int fd)
{
    if (write(fd, "ab", 2) < 0)
        _exit(9);
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static void leave(void *ctx, int fd)
{
    _exit(7);
}

static void hang(void *ctx, int fd)
{
    for (;;)
        pause();
}

static void test_forked(void **state)
{
    char out[16], why[100] = "";
    size_t len = 0;
    assert_true(forked(write_text, "hello", 10, out, sizeof out, &len, why, sizeof why));
    assert_int_equal(len, 5);
    assert_memory_equal(out, "hello", 5);
    assert_true(forked(write_much, NULL, 10, out, sizeof out, &len, why, sizeof why));
    assert_int_equal(len, sizeof out);              /* what is too much is read and dropped */
    assert_false(forked(crash, NULL, 10, out, sizeof out, &len, why, sizeof why));
    assert_non_null(strstr(why, "ended by signal 11"));
    assert_int_equal(len, 2);
    assert_false(forked(leave, NULL, 10, out, sizeof out, &len, why, sizeof why));
    assert_string_equal(why, "ended with exit code 7");
    double start = clock_seconds();
    assert_false(forked(hang, NULL, 0.2, out, sizeof out, &len, why, sizeof why));
    assert_true(clock_seconds() - start < 5);
    assert_non_null(strstr(why, "took longer"));
}

/* --- probes --- */

static bool mapped(const char *library)
{
    char *maps = NULL;
    assert_int_equal(file_read("/proc/self/maps", &maps, NULL, NULL), LATHE_OK);
    bool found = strstr(maps, library) != NULL;
    mem_free(maps);
    return found;
}

static const struct probe *find(const struct probe *p, int n, const char *what)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(p[i].what, what))
            return &p[i];
    fail_msg("no entry '%s'", what);
    return NULL;
}

static void test_probe_all(void **state)
{
    static const char *const always[] = {"CUDA driver", "NVRTC", "cuBLAS", "NVML", "host compiler", "nvcc"};
    struct probe p[48];
    int n = probe_all(p, 48);
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        find(p, n, always[i]);
    for (int i = 0; i < n; i++) {
        assert_true(p[i].what[0] && p[i].detail[0]);
        assert_int_equal(p[i].found, p[i].advice[0] == 0);
        for (const char *c = p[i].detail; *c; c++)
            assert_true(*c >= ' ');
    }
    assert_true(find(p, n, "host compiler")->found);                /* it built this test */
    assert_false(mapped("libcuda.so") || mapped("libnvrtc") || mapped("libcublas") || mapped("libnvidia-ml"));
}

static void test_probe_few(void **state)
{
    struct probe p[3];
    memset(p, 0x55, sizeof p);
    assert_int_equal(probe_all(p, 2), 2);
    assert_string_equal(p[0].what, "CUDA driver");
    assert_int_equal(p[2].what[0], 0x55);
    assert_int_equal(probe_all(p, 0), 0);
}

static void test_default(void **state)
{
    char device[24];
    const struct dev_ops *ops = NULL;
    struct err e = {0};
    dev_default(device);
    assert_true(!strcmp(device, "host") || !strcmp(device, "cuda:0"));
    assert_int_equal(dev_find(device, &ops, NULL, &e), LATHE_OK);
    assert_false(mapped("libcuda.so"));
}

/* --- devices by name --- */

static void test_find(void **state)
{
    static const char *const wrong[] = {"cuda",      "cuda:", "cuda:x", "cuda:0x", "cuda:-1", "cuda:01",
                                        "cuda:1000", "gpu",   "",       "host:0",  "Host"};
    const struct dev_ops *ops = NULL;
    struct err e = {0};
    int number = -1;
    assert_int_equal(dev_find("cuda:0", &ops, &number, &e), LATHE_OK);
    assert_string_equal(ops->kind, "cuda");
    assert_int_equal(number, 0);
    assert_int_equal(dev_find("cuda:17", &ops, &number, &e), LATHE_OK);
    assert_int_equal(number, 17);
    assert_int_equal(dev_find("host", &ops, &number, &e), LATHE_OK);
    assert_string_equal(ops->kind, "host");
    assert_int_equal(number, 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char quoted[40];
        assert_int_equal(dev_find(wrong[i], &ops, &number, &e), LATHE_USAGE);
        snprintf(quoted, sizeof quoted, "'%s'", wrong[i]);
        assert_non_null(strstr(e.text, quoted));
        assert_non_null(strstr(e.text, "cuda:N"));
        assert_non_null(strstr(e.text, "host"));
    }
}

static void look_for_driver(void *ctx, int fd)
{
    static const char *const names[] = {"libcuda.so.1", NULL};
    const struct lib_query query = {.names = names, .driver = true};
    struct lib lib;
    char answer = find_lib(&query, &lib, NULL) ? 'y' : 'n';
    if (write(fd, &answer, 1) != 1)
        _exit(9);
}

static void test_no_driver(void **state)
{
    char answer = 0, why[100];
    size_t len = 0;
    assert_true(forked(look_for_driver, NULL, 30, &answer, 1, &len, why, sizeof why));
    if (answer != 'n')
        skip();                                     /* this machine has one */
    const struct dev_ops *ops = NULL;
    struct err e = {0};
    struct dev *d = NULL;
    struct target t;
    int number = 0;
    char device[24];
    assert_int_equal(dev_find("cuda:0", &ops, &number, &e), LATHE_OK);
    assert_int_equal(ops->open(number, &d, &t, &e), LATHE_DEVICE);
    assert_null(d);
    assert_non_null(strstr(e.text, "no CUDA driver: libcuda.so.1 could not be opened (looked for libcuda.so.1 by the "
                                   "loader"));
    assert_non_null(strstr(e.text, "). Install the NVIDIA driver, or use --device host"));
    dev_default(device);
    assert_string_equal(device, "host");
    struct probe p[48];
    int n = probe_all(p, 48);
    assert_false(find(p, n, "CUDA driver")->found);
    assert_non_null(strstr(find(p, n, "CUDA driver")->advice, "apt install nvidia-driver"));
}

/* --- drivers that are not right, as libcuda.so.1 in LD_LIBRARY_PATH of another process --- */

static char dir[64];

/* What opening cuda:0 says there. */
static void open_says(const char *const *parts)
{
    char self[512] = "", command[800], words[2100] = "";
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    snprintf(command, sizeof command, "LD_LIBRARY_PATH=%s %s open", dir, self);
    FILE *p = popen(command, "r");
    assert_non_null(p);
    words[fread(words, 1, sizeof words - 1, p)] = 0;
    assert_int_equal(pclose(p), 0);
    for (int i = 0; parts[i]; i++)
        if (!strstr(words, parts[i]))
            fail_msg("message lacks '%s': %s", parts[i], words);
}

static int open_and_tell(void)
{
    const struct dev_ops *ops = NULL;
    struct dev *d = NULL;
    struct target t;
    struct err e = {0};
    int number = 0;
    if (dev_find("cuda:0", &ops, &number, &e) || ops->open(number, &d, &t, &e) != LATHE_DEVICE)
        return 1;
    puts(e.text);
    return 0;
}

static void test_wrong_drivers(void **state)
{
    static const char stub[] = "/usr/local/cuda/lib64/stubs/libcuda.so";
    char command[400];
    snprintf(dir, sizeof dir, "/tmp/lathe-probe-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(command, sizeof command,
             "echo 'int cuInit(unsigned f) { return 0; }' | cc -shared -fPIC -x c -o %s/libcuda.so.1 -", dir);
    assert_int_equal(system(command), 0);
    open_says((const char *const[]){"/libcuda.so.1 has no cuDriverGetVersion", "older than CUDA 12", "525", NULL});
    if (file_exists(stub)) {                        /* a real one's symbols, all of them, and no driver behind */
        snprintf(command, sizeof command, "ln -sf %s %s/libcuda.so.1", stub, dir);
        assert_int_equal(system(command), 0);
        open_says((const char *const[]){"does not start", "34", "stub for linking", NULL});
    }
    snprintf(command, sizeof command, "rm -rf %s", dir);
    assert_int_equal(system(command), 0);
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "open"))
        return open_and_tell();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forked), cmocka_unit_test(test_probe_all), cmocka_unit_test(test_probe_few),
        cmocka_unit_test(test_default), cmocka_unit_test(test_find),     cmocka_unit_test(test_no_driver),
        cmocka_unit_test(test_wrong_drivers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
