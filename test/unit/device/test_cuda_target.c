/* test_cuda_target.c: what the CUDA device says of itself, and why one cannot be opened, against a driver in memory. */
#include "cuda_fixture.h"
#include "device/others.h"
#include "device/probe.h"

#include <signal.h>
#include <sys/wait.h>

/* --- what the device is --- */

static void test_target(void **state)
{
    struct target t;
    struct dev *d = open_fake(&t);
    assert_string_equal(t.device, "cuda:0");
    assert_string_equal(t.name, "FAKE H200 0");
    assert_string_equal(t.uuid, "GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff");
    assert_string_equal(t.arch, "sm_90a");
    assert_string_equal(t.driver, "580.159.04");
    assert_true(t.host[0]);
    assert_int_equal(t.limit[LIMIT_sm], 90);
    assert_int_equal(t.limit[LIMIT_sm_count], 132);
    assert_int_equal(t.limit[LIMIT_warp_size], 32);
    assert_int_equal(t.limit[LIMIT_max_threads_per_block], 1024);
    assert_int_equal(t.limit[LIMIT_max_threads_per_sm], 2048);
    assert_int_equal(t.limit[LIMIT_max_shared_per_block], 232448);
    assert_int_equal(t.limit[LIMIT_max_shared_per_sm], 233472);
    assert_int_equal(t.limit[LIMIT_max_registers_per_sm], 65536);
    assert_int_equal(t.limit[LIMIT_max_registers_per_thread], 255);
    assert_int_equal(t.limit[LIMIT_l2_bytes], 62914560);
    assert_int_equal(t.limit[LIMIT_memory_bytes], 1 << 30);
    assert_true(fabs(t.peak_tflops_f32 - 66.908) < 0.01);
    assert_true(fabs(t.peak_gbps - 4916.7) < 1);
    assert_int_equal(fake.context_flags, CU_CTX_SCHED_SPIN);
    assert_int_equal(fake.stream_flags, CU_STREAM_NON_BLOCKING);
    ops->close(d);
    assert_true(fake_nothing_alive());
}

static void test_peaks_without_clock_attributes(void **state)
{
    struct target t;
    fake.no_clocks = true;
    ops->close(open_fake(&t));
    assert_true(fabs(t.peak_tflops_f32 - 66.908) < 0.01);           /* NVML's clocks */
    assert_true(fabs(t.peak_gbps - 4916.7) < 1);
}

static void test_without_nvml(void **state)
{
    struct target t;
    struct telemetry telemetry;
    fake.no_nvml = fake.no_clocks = true;
    struct dev *d = open_fake(&t);
    assert_string_equal(t.driver, "CUDA 13.0");
    assert_true(t.peak_tflops_f32 == 0 && t.peak_gbps == 0);
    ops->telemetry(d, &telemetry);
    assert_true(isnan(telemetry.sm_mhz) && isnan(telemetry.mem_mhz) && isnan(telemetry.power_w) &&
                isnan(telemetry.temperature_c) && telemetry.throttle_reasons == 0);
    ops->close(d);
    assert_true(fake_nothing_alive());
}

static void check_others(const char *want)
{
    struct cuda_tables tables = fake_tables();
    struct dev *d = open_fake(NULL);
    const int *pids;
    struct probe p;
    char who[200] = "";
    int n = ops->others(d, &pids);
    if (n)
        others_say(pids, n, "cuda:0", who, sizeof who);
    assert_string_equal(who, want);
    ops->close(d);
    probe_gpu(tables.cuda, tables.nvml, 0, &p);         /* as doctor has it */
    assert_true(p.found);
    const char *said = strstr(p.detail, "cuda:0"), *end = strstr(want, " cuda:0");
    assert_non_null(said);
    snprintf(who, sizeof who, "cuda:0%s%.*s%s", end ? "; " : "", end ? (int)(end - want) : 0, want, end ? " it" : "");
    assert_string_equal(said, who);
}

/* Processes that compute on the GPU; this one is lathe's own. */
static void test_others(void **state)
{
    char want[100];
    pid_t child = fork();                               /* no sibling */
    if (child == 0) {
        pause();
        _exit(0);
    }
    check_others("");
    fake.processes[0] = getpid();
    check_others("");
    fake.processes[1] = 999999999;
    check_others("another process (pid 999999999) uses cuda:0");
    fake.processes[2] = (int)child;
    snprintf(want, sizeof want, "2 other processes (pids 999999999, %d) use cuda:0", (int)child);
    check_others(want);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    fake.no_processes = true;
    check_others("");
    fake.no_processes = false;
    fake.no_nvml = true;
    check_others("");
    assert_true(fake_nothing_alive());
}

/* A worker's siblings are of the same campaign. */
static void test_siblings(void **state)
{
    pid_t first = fork(), second;
    if (first == 0) {
        pause();
        _exit(0);
    }
    if ((second = fork()) == 0) {
        const int *pids;
        fake.processes[0] = (int)first;
        fake.processes[1] = 999999999;
        struct dev *d = open_fake(NULL);
        _exit(ops->others(d, &pids) == 1 && pids[0] == 999999999 ? 0 : 1);
    }
    int how = 0;
    waitpid(second, &how, 0);
    kill(first, SIGKILL);
    waitpid(first, NULL, 0);
    assert_int_equal(how, 0);
}

static void test_telemetry(void **state)
{
    struct telemetry t;
    struct dev *d = open_fake(NULL);
    ops->telemetry(d, &t);
    assert_true(t.sm_mhz == 1755 && t.mem_mhz == 3201 && t.power_w == 698.5 && t.temperature_c == 61);
    assert_int_equal(t.throttle_reasons, 4);
    ops->close(d);
}

static void test_arch_names(void **state)
{
    static const struct {
        int major, minor;
        const char *name;
    } rows[] = {{7, 5, "sm_75"},   {8, 0, "sm_80"},    {8, 9, "sm_89"},   {9, 0, "sm_90a"},
                {10, 0, "sm_100a"}, {10, 3, "sm_103a"}, {12, 0, "sm_120a"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char out[24];
        cuda_arch(rows[i].major, rows[i].minor, out);
        assert_string_equal(out, rows[i].name);
    }
}

static void test_open_says_why(void **state)
{
    static const struct {
        CUresult init;
        const char *parts[2];
    } rows[] = {
        {CUDA_ERROR_NO_DEVICE, {"CUDA_ERROR_NO_DEVICE (in the driver's words)", "CUDA_VISIBLE_DEVICES"}},
        {CUDA_ERROR_STUB_LIBRARY, {"stub", "LD_LIBRARY_PATH"}},
        {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, {"different versions", "restart"}},
        {CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, {"cuda-compat", "LD_LIBRARY_PATH"}},
        {CUDA_ERROR_SYSTEM_NOT_READY, {"fabric manager", "libcuda.fake"}},
        {CUDA_ERROR_UNKNOWN, {"CUDA_ERROR_UNKNOWN", "nvidia-smi"}},
        {(CUresult)4711, {"CUDA error 4711", "nvidia-smi"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e = {0};
        fake_reset();
        fake.init = rows[i].init;
        assert_int_equal(open_fails(0, &e), LATHE_DEVICE);
        says(&e, rows[i].parts[0]);
        says(&e, rows[i].parts[1]);
    }
}

static void test_no_such_gpu(void **state)
{
    struct err e = {0};
    assert_int_equal(open_fails(3, &e), LATHE_DEVICE);
    assert_string_equal(e.text, "cuda:3: there is one GPU here, cuda:0");
    fake.gpus = 2;
    assert_int_equal(open_fails(2, &e), LATHE_DEVICE);
    assert_string_equal(e.text, "cuda:2: there are 2 GPUs here, cuda:0 to cuda:1");
    fake.gpus = 0;
    assert_int_equal(open_fails(0, &e), LATHE_DEVICE);
    says(&e, "no GPU");
    says(&e, "--device host");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_target),
        TEST(test_peaks_without_clock_attributes),
        TEST(test_without_nvml),
        TEST(test_others),
        TEST(test_siblings),
        TEST(test_telemetry),
        TEST(test_arch_names),
        TEST(test_open_says_why),
        TEST(test_no_such_gpu),
    };
    return cmocka_run_group_tests(tests, make_image, remove_image);
}
