/* test_cuda_fake.c: the CUDA device against a driver in memory: what it asks, what it says, and that nothing stays
 * alive whichever call fails. */
#include "fake_cuda.c"
#include "device/nvrtc.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

static const struct dev_ops *ops = &cuda_ops;
static char image[64];
static const uint32_t no_cluster[3] = {0};

static struct dev *open_fake(struct target *t)
{
    struct cuda_tables tables = fake_tables();
    struct target unread;
    struct dev *d = NULL;
    struct err e = {0};
    assert_int_equal(cuda_open_with(&tables, 0, &d, t ? t : &unread, &e), LATHE_OK);
    return d;
}

static status open_fails(int number, struct err *e)
{
    struct cuda_tables tables = fake_tables();
    struct target t;
    struct dev *d = NULL;
    status s = cuda_open_with(&tables, number, &d, &t, e);
    assert_null(d);
    assert_true(fake_nothing_alive());
    return s;
}

static void says(const struct err *e, const char *part)
{
    if (!strstr(e->text, part))
        fail_msg("message lacks '%s': %s", part, e->text);
}

static int before_each(void **state)
{
    fake_reset();
    return 0;
}

static int make_image(void **state)
{
    snprintf(image, sizeof image, "/tmp/lathe-fake-%d.cubin", (int)getpid());
    return file_write_atomic(image, "image of a fake", 15, NULL) ? -1 : 0;
}

static int remove_image(void **state)
{
    return unlink(image);
}

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

/* --- memory --- */

static void test_memory(void **state)
{
    struct err e = {0};
    struct dev *d = open_fake(NULL);
    dev_ptr p = 0;
    uint32_t words[5] = {1, 2, 3, 4, 5}, back[5];
    assert_int_equal(ops->alloc(d, sizeof words, &p, &e), LATHE_OK);
    assert_int_equal(p % 256, 0);
    assert_int_equal(ops->copy_in(d, p, words, sizeof words, &e), LATHE_OK);
    assert_int_equal(ops->fill(d, p + 4, 0x7fc00000, 8, &e), LATHE_OK);
    assert_int_equal(ops->copy_out(d, back, p, sizeof back, &e), LATHE_OK);
    assert_memory_equal(back, ((uint32_t[]){1, 0x7fc00000, 0x7fc00000, 4, 5}), sizeof back);
    assert_int_equal(ops->fill(d, p, 0, 6, &e), LATHE_INTERNAL);
    says(&e, "multiples of 4");
    assert_int_equal(ops->fault(d), DEV_FAULT_NONE);
    ops->release(d, p);
    assert_int_equal(ops->alloc(d, 0, &p, &e), LATHE_OK);           /* no bytes still have an address */
    ops->release(d, p);
    ops->release(d, 0);
    ops->close(d);
    assert_true(fake_nothing_alive());
}

static void test_out_of_memory(void **state)
{
    struct err e = {0};
    struct dev *d = open_fake(NULL);
    dev_ptr p = 0;
    fake.used = (size_t)1 << 29;
    assert_int_equal(ops->alloc(d, (uint64_t)3 << 30, &p, &e), LATHE_DEVICE);
    assert_int_equal(ops->fault(d), DEV_FAULT_RESOURCES);
    says(&e, "CUDA_ERROR_OUT_OF_MEMORY");
    says(&e, "3221225472 bytes (3.00 GiB; 536870912 bytes, 0.50 GiB, of 1.00 GiB are free on cuda:0)");
    ops->close(d);
}

/* --- modules and launches --- */

static struct dev_function *get_function(struct dev *d, const char *name, struct dev_module **m)
{
    struct dev_function *f = NULL;
    struct err e = {0};
    assert_int_equal(ops->load(d, image, m, &e), LATHE_OK);
    assert_int_equal(ops->function(d, *m, name, &f, &e), LATHE_OK);
    return f;
}

static status launch(struct dev *d, struct dev_function *f, const uint32_t grid[3], const uint32_t block[3],
                     const uint32_t cluster[3], uint32_t shared, void **args, struct err *e)
{
    struct dev_launch how = {.shared = shared};
    memcpy(how.grid, grid, sizeof how.grid);
    memcpy(how.block, block, sizeof how.block);
    memcpy(how.cluster, cluster, sizeof how.cluster);
    return ops->launch(d, f, &how, args, e);
}

static void test_launch(void **state)
{
    struct err e = {0};
    struct resources r;
    struct dev *d = open_fake(NULL);
    struct dev_module *m;
    struct dev_function *f = get_function(d, "linear_simt", &m);
    assert_int_equal(fake.raised_shared, 232448 - 1024);
    assert_int_equal(ops->resources(d, f, 256, 65536, &r, &e), LATHE_OK);
    assert_int_equal(r.registers, 128);
    assert_int_equal(r.local_bytes, 16);
    assert_int_equal(r.shared_static, 1024);
    assert_int_equal(r.shared_dynamic, 65536);
    assert_true(r.occupancy == 2 * 256 / 2048.0);
    void *args[1] = {&r};
    assert_int_equal(launch(d, f, (uint32_t[]){256, 2, 3}, (uint32_t[]){16, 16, 1}, no_cluster, 65536, args, &e),
                     LATHE_OK);
    assert_memory_equal(fake.last_grid, ((unsigned int[]){256, 2, 3}), sizeof fake.last_grid);
    assert_memory_equal(fake.last_block, ((unsigned int[]){16, 16, 1}), sizeof fake.last_block);
    assert_int_equal(fake.last_shared, 65536);
    assert_ptr_equal(fake.last_args, args);
    assert_int_equal(fake.last_cluster[0], 0);
    assert_int_equal(ops->sync(d, &e), LATHE_OK);
    ops->unload(d, m);
    assert_int_equal(fake.modules, 0);
    ops->close(d);
    assert_true(fake_nothing_alive());
}

static void test_cluster_launch(void **state)
{
    struct err e = {0};
    struct dev *d = open_fake(NULL);
    struct dev_module *m;
    struct dev_function *f = get_function(d, "linear_simt", &m);
    const uint32_t block[3] = {128, 1, 1};
    assert_int_equal(launch(d, f, (uint32_t[]){32, 4, 1}, block, (uint32_t[]){4, 2, 1}, 256, NULL, &e), LATHE_OK);
    assert_memory_equal(fake.last_cluster, ((unsigned int[]){4, 2, 1}), sizeof fake.last_cluster);
    assert_memory_equal(fake.last_grid, ((unsigned int[]){32, 4, 1}), sizeof fake.last_grid);
    assert_int_equal(fake.last_shared, 256);
    assert_int_equal(fake.non_portable, 0);
    assert_int_equal(launch(d, f, (uint32_t[]){32, 4, 1}, block, (uint32_t[]){16, 1, 1}, 0, NULL, &e), LATHE_OK);
    assert_int_equal(fake.non_portable, 1);
    assert_int_equal(launch(d, f, (uint32_t[]){33, 4, 1}, block, (uint32_t[]){4, 1, 1}, 0, NULL, &e),
                     LATHE_DEVICE);
    assert_int_equal(ops->fault(d), DEV_FAULT_LAUNCH);
    assert_string_equal(e.text, "launch linear_simt grid 33x4x1 block 128 cluster 4x1x1 shared 0: "
                                "CUDA_ERROR_INVALID_CLUSTER_SIZE (in the driver's words)");
    ops->close(d);                                                  /* unloads m */
    assert_true(fake_nothing_alive());
}

static void test_launch_attributes(void **state)
{
    struct err e = {0};
    struct dev *d = open_fake(NULL);
    struct dev_module *m;
    struct dev_function *f = get_function(d, "linear_simt", &m);
    struct dev_launch how = {.grid = {32, 1, 1}, .block = {128, 1, 1}, .programmatic = true};
    assert_int_equal(ops->launch(d, f, &how, NULL, &e), LATHE_OK);
    assert_int_equal(fake.last_programmatic, 1);
    assert_true(fake.last_cluster[0] == 0 && fake.last_window.num_bytes == 0);
    how.programmatic = false;
    how.window = 0x1000;
    how.window_bytes = 5000;
    how.hit = L2_persisting;
    how.miss = L2_streaming;
    how.ratio = 0.75f;
    assert_int_equal(ops->launch(d, f, &how, NULL, &e), LATHE_OK);
    const CUaccessPolicyWindow *w = &fake.last_window;
    assert_true(w->base_ptr == (void *)0x1000 && w->num_bytes == 5000 && w->hitRatio == 0.75f);
    assert_true(w->hitProp == CU_ACCESS_PROPERTY_PERSISTING && w->missProp == CU_ACCESS_PROPERTY_STREAMING);
    assert_int_equal(fake.last_programmatic, 0);
    how.window_bytes = (uint64_t)1 << 40;           /* cut to the device's largest */
    how.cluster[0] = how.cluster[1] = how.cluster[2] = 1;
    how.programmatic = true;
    assert_int_equal(ops->launch(d, f, &how, NULL, &e), LATHE_OK);
    assert_int_equal(w->num_bytes, FAKE_WINDOW);
    assert_true(fake.last_programmatic == 1 && fake.last_cluster[0] == 1);
    how.grid[0] = 33;
    how.cluster[0] = 2;
    assert_int_equal(ops->launch(d, f, &how, NULL, &e), LATHE_DEVICE);
    assert_string_equal(e.text, "launch linear_simt grid 33x1x1 block 128 cluster 2x1x1 programmatic with an L2 window "
                                "shared 0: CUDA_ERROR_INVALID_CLUSTER_SIZE (in the driver's words)");
    ops->close(d);
}

static void test_no_windows(void **state)
{
    struct err e = {0};
    fake.no_windows = true;                         /* a device before sm_80 */
    struct dev *d = open_fake(NULL);
    struct dev_module *m;
    struct dev_function *f = get_function(d, "linear_simt", &m);
    struct dev_launch how = {.grid = {32, 1, 1}, .block = {128, 1, 1}, .window = 0x1000, .window_bytes = 5000};
    assert_int_equal(ops->launch(d, f, &how, NULL, &e), LATHE_OK);
    assert_int_equal(fake.last_window.num_bytes, 0);
    assert_int_equal(ops->persist(d, true, &e), LATHE_OK);
    assert_int_equal(ops->persist(d, false, &e), LATHE_OK);
    assert_int_equal(fake.persisting_resets, 0);
    ops->close(d);
}

static void test_persist(void **state)
{
    struct err e = {0};
    struct dev *d = open_fake(NULL);
    assert_int_equal(ops->persist(d, true, &e), LATHE_OK);
    assert_int_equal(fake.persisting, FAKE_PERSISTING);
    assert_int_equal(fake.persisting_resets, 0);
    assert_int_equal(ops->persist(d, false, &e), LATHE_OK);
    assert_int_equal(fake.persisting, 0);
    assert_int_equal(fake.persisting_resets, 1);
    ops->close(d);
}

/* The driver wants the innermost axis first, lathe has it last. */
static void test_tensor_map(void **state)
{
    struct err e = {0};
    struct dev *d = open_fake(NULL);
    cuuint64_t bytes[17] = {[16] = 77};
    struct plan_tensor_map m = {.rank = 3, .shape = {3, 100, 64}, .box = {1, 32, 16}, .swizzle = 64, .l2 = 256};
    assert_int_equal(ops->tensor_map(d, &m, DTYPE_f32, 0x1000, (char *)bytes, &e), LATHE_OK);
    const struct fake_map *f = &fake.last_map;
    assert_true(f->type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 && f->rank == 3 && f->address == (void *)0x1000);
    assert_true(f->extents[0] == 64 && f->extents[1] == 100 && f->extents[2] == 3);
    assert_true(f->strides[0] == 256 && f->strides[1] == 25600);
    assert_true(f->box[0] == 16 && f->box[1] == 32 && f->box[2] == 1);
    assert_true(f->swizzle == CU_TENSOR_MAP_SWIZZLE_64B && f->promotion == CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
    assert_true(bytes[0] == 0x1000 && bytes[15] == 1 && bytes[16] == 77);

    static const struct {
        enum dtype dtype;
        CUtensorMapDataType type;
    } types[] = {{DTYPE_f64, 8}, {DTYPE_i32, 3}, {DTYPE_u32, 2}, {DTYPE_f16, 6}, {DTYPE_bf16, 9}, {DTYPE_u8, 0}};
    m = (struct plan_tensor_map){.rank = 1, .shape = {64}, .box = {32}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        assert_int_equal(ops->tensor_map(d, &m, types[i].dtype, 0x1000, bytes, &e), LATHE_OK);
        assert_int_equal(f->type, types[i].type);
        assert_true(f->swizzle == CU_TENSOR_MAP_SWIZZLE_NONE && f->promotion == CU_TENSOR_MAP_L2_PROMOTION_NONE);
    }
    assert_int_equal(ops->tensor_map(d, &m, DTYPE_f32, 0x1008, bytes, &e), LATHE_DEVICE);
    assert_int_equal(ops->fault(d), DEV_FAULT_LAUNCH);
    says(&e, "making a tensor map of rank 1 for f32 elements at 0x1008");
    ops->close(d);
}

static void test_driver_without_tensor_maps(void **state)
{
    struct err e = {0};
    fake.no_tensor_maps = true;
    struct dev *d = open_fake(NULL);
    cuuint64_t bytes[16];
    const struct plan_tensor_map m = {.rank = 1, .shape = {64}, .box = {32}};
    assert_int_equal(ops->tensor_map(d, &m, DTYPE_f32, 0x1000, bytes, &e), LATHE_DEVICE);
    assert_int_equal(ops->fault(d), DEV_FAULT_LAUNCH);
    says(&e, "libcuda.fake has no cuTensorMapEncodeTiled");
    ops->close(d);
}

static void test_too_large_launches(void **state)
{
    struct err e = {0};
    struct resources r;
    struct dev *d = open_fake(NULL);
    struct dev_module *m;
    struct dev_function *f = get_function(d, "linear_simt", &m);
    const uint32_t grid[3] = {256, 1, 1};
    assert_int_equal(launch(d, f, grid, (uint32_t[]){256, 1, 1}, no_cluster, 231425, NULL, &e), LATHE_DEVICE);
    assert_int_equal(ops->fault(d), DEV_FAULT_RESOURCES);
    assert_string_equal(e.text, "launch linear_simt grid 256x1x1 block 256 shared 231425: needs 231425 bytes of "
                                "dynamic shared memory a block beside 1024 static; cuda:0 allows this kernel 231424, "
                                "and any block 232448");
    assert_int_equal(launch(d, f, grid, (uint32_t[]){256, 2, 2}, no_cluster, 0, NULL, &e), LATHE_DEVICE);
    assert_int_equal(ops->fault(d), DEV_FAULT_RESOURCES);
    says(&e, "block 256x2x2");
    says(&e, "1024 threads a block");
    says(&e, "this kernel can have 512");
    assert_int_equal(fake.launches, 0);
    assert_int_equal(ops->resources(d, f, 1024, 0, &r, &e), LATHE_OK);
    assert_true(r.occupancy == 0);
    assert_int_equal(launch(d, f, grid, (uint32_t[]){512, 1, 1}, no_cluster, 231424, NULL, &e), LATHE_OK);
    ops->close(d);
}

static void test_static_shared(void **state)
{
    struct err e = {0};
    const uint32_t grid[3] = {1, 1, 1}, block[3] = {32, 1, 1};
    struct dev *d = open_fake(NULL);
    struct dev_module *m;
    fake.static_shared = 232448;                    /* all that there is */
    struct dev_function *f = get_function(d, "linear_simt", &m);
    assert_int_equal(launch(d, f, grid, block, no_cluster, 0, NULL, &e), LATHE_OK);
    assert_int_equal(launch(d, f, grid, block, no_cluster, 4, NULL, &e), LATHE_DEVICE);
    assert_int_equal(ops->fault(d), DEV_FAULT_RESOURCES);
    ops->unload(d, m);
    fake.static_shared = 232452;                    /* more */
    f = get_function(d, "linear_simt", &m);
    assert_int_equal(launch(d, f, grid, block, no_cluster, 0, NULL, &e), LATHE_DEVICE);
    assert_int_equal(ops->fault(d), DEV_FAULT_RESOURCES);
    says(&e, "beside 232452 static");
    assert_int_equal(fake.launches, 1);
    ops->close(d);
}

static void test_shared_limit_not_raised(void **state)
{
    struct err e = {0};
    const uint32_t grid[3] = {1, 1, 1}, block[3] = {32, 1, 1};
    struct dev *d = open_fake(NULL);
    struct dev_module *m = NULL;
    struct dev_function *f = NULL;
    assert_int_equal(ops->load(d, image, &m, &e), LATHE_OK);
    fake.fail_at = fake.calls + 6;                  /* after the name and four attributes */
    fake.fail_with = CUDA_ERROR_INVALID_VALUE;
    assert_int_equal(ops->function(d, m, "linear_simt", &f, &e), LATHE_OK);
    assert_string_equal(fake.failed, "cuFuncSetAttribute");
    assert_int_equal(launch(d, f, grid, block, no_cluster, 48 * 1024 + 4, NULL, &e), LATHE_DEVICE);
    assert_int_equal(ops->fault(d), DEV_FAULT_RESOURCES);
    assert_int_equal(launch(d, f, grid, block, no_cluster, 48 * 1024, NULL, &e), LATHE_OK);
    ops->close(d);
}

static void test_unknown_kernel_and_image(void **state)
{
    struct err e = {0};
    struct dev *d = open_fake(NULL);
    struct dev_module *m = NULL;
    struct dev_function *f = NULL;
    assert_int_equal(ops->load(d, "/nonexistent/k.cubin", &m, &e), LATHE_IO);
    says(&e, "/nonexistent/k.cubin");
    assert_int_equal(ops->fault(d), DEV_FAULT_NONE);
    assert_int_equal(ops->load(d, image, &m, &e), LATHE_OK);
    assert_int_equal(ops->function(d, m, "linear_sint", &f, &e), LATHE_DEVICE);
    assert_int_equal(ops->fault(d), DEV_FAULT_LAUNCH);
    says(&e, "finding kernel linear_sint");
    says(&e, "CUDA_ERROR_NOT_FOUND");
    ops->close(d);
    assert_true(fake_nothing_alive());
}

static void test_driver_too_old_for_image(void **state)
{
    struct err e = {0};
    fake.driver_version = 12040;
    struct dev *d = open_fake(NULL);
    struct dev_module *m = NULL;
    fake.load = CUDA_ERROR_NO_BINARY_FOR_GPU;
    assert_int_equal(ops->load(d, image, &m, &e), LATHE_DEVICE);
    assert_int_equal(ops->fault(d), DEV_FAULT_LAUNCH);
    says(&e, image);
    says(&e, "CUDA_ERROR_NO_BINARY_FOR_GPU");
    int nvrtc = nvrtc_version();
    if (nvrtc > 12040) {
        char version[16];
        cuda_version_text(nvrtc, version);
        says(&e, "The driver supports CUDA 12.4");
        says(&e, version);
        says(&e, "LATHE_CUDA_PATH");
    }
    ops->close(d);
}

static void test_crash_is_sticky(void **state)
{
    struct err e = {0};
    struct dev *d = open_fake(NULL);
    struct dev_module *m;
    struct dev_function *f = get_function(d, "crash", &m), *other = NULL;
    dev_ptr p = 0;
    uint32_t word;
    assert_int_equal(ops->function(d, m, "linear_simt", &other, &e), LATHE_OK);
    assert_int_equal(ops->alloc(d, 4, &p, &e), LATHE_OK);
    assert_int_equal(launch(d, f, (uint32_t[]){2, 1, 1}, (uint32_t[]){64, 1, 1}, no_cluster, 0, NULL, &e),
                     LATHE_OK);
    assert_int_equal(ops->sync(d, &e), LATHE_DEVICE);
    assert_int_equal(ops->fault(d), DEV_FAULT_CRASH);
    says(&e, "waiting for the queue of cuda:0 (last: launch crash grid 2x1x1 block 64 shared 0): "
             "CUDA_ERROR_ILLEGAL_ADDRESS (in the driver's words)");
    assert_int_equal(launch(d, other, (uint32_t[]){7, 1, 1}, (uint32_t[]){32, 1, 1}, no_cluster, 0, NULL, &e),
                     LATHE_DEVICE);
    says(&e, "launch linear_simt grid 7x1x1 block 32 shared 0, after launch crash grid 2x1x1 block 64 shared 0: "
             "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_int_equal(ops->fault(d), DEV_FAULT_CRASH);
    assert_int_equal(ops->copy_out(d, &word, p, 4, &e), LATHE_DEVICE);
    assert_int_equal(ops->alloc(d, 4, &p, &e), LATHE_DEVICE);
    ops->mark(d, 0);
    ops->mark(d, 1);
    assert_true(isnan(ops->elapsed_ms(d, 0, 1)));
    ops->unload(d, m);
    assert_int_equal(ops->sync(d, &e), LATHE_DEVICE);               /* the launch's name is gone with its module */
    says(&e, "(last: nothing)");
    ops->release(d, p);
    ops->close(d);
    assert_true(fake_nothing_alive());
}

static void test_fault_kinds(void **state)
{
    static const int crash[] = {201, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 999};
    static const int refused[] = {1, 98, 101, 200, 209, 218, 222, 400, 500, 720, 801, 912};
    for (size_t i = 0; i < sizeof crash / sizeof *crash; i++)
        assert_int_equal(cuda_fault((CUresult)crash[i]), DEV_FAULT_CRASH);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_int_equal(cuda_fault((CUresult)refused[i]), DEV_FAULT_LAUNCH);
    assert_int_equal(cuda_fault(CUDA_ERROR_OUT_OF_MEMORY), DEV_FAULT_RESOURCES);
    assert_int_equal(cuda_fault(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES), DEV_FAULT_RESOURCES);
    assert_int_equal(cuda_fault(CUDA_SUCCESS), DEV_FAULT_NONE);
}

/* --- marks --- */

static void test_marks(void **state)
{
    struct dev *d = open_fake(NULL);
    ops->mark(d, 0);
    ops->mark(d, DEV_MARKS - 1);
    assert_int_equal(fake.events, 2);
    assert_true(ops->elapsed_ms(d, 0, DEV_MARKS - 1) == 0.25);
    ops->mark(d, 0);                                                /* used again, not made again */
    assert_int_equal(fake.events, 2);
    assert_true(isnan(ops->elapsed_ms(d, 0, 5)));                   /* never marked */
    assert_true(isnan(ops->elapsed_ms(d, -1, DEV_MARKS)));
    ops->mark(d, DEV_MARKS);
    ops->mark(d, -1);
    assert_int_equal(fake.events, 2);
    fake.fail_at = fake.calls + 1;
    fake.fail_with = CUDA_ERROR_OUT_OF_MEMORY;
    ops->mark(d, 7);
    assert_int_equal(ops->fault(d), DEV_FAULT_RESOURCES);
    assert_true(isnan(ops->elapsed_ms(d, 0, 7)));
    ops->close(d);
    assert_true(fake_nothing_alive());
}

/* --- GEMM --- */

enum { GM = 3, GN = 5, GK = 7 };

static void put_number(enum dtype t, void *array, int i, double x)
{
    switch (t) {
    case DTYPE_f64: ((double *)array)[i] = x; break;
    case DTYPE_f32: ((float *)array)[i] = (float)x; break;
    case DTYPE_f16: ((uint16_t *)array)[i] = f16_from_float((float)x); break;
    default: ((uint16_t *)array)[i] = bf16_from_float((float)x); break;
    }
}

/* Row-major C[m,n] = op(A) op(B) of small integers, exact in every type; called: what cuBLAS was told. */
static void check_gemm(enum dtype from, enum dtype to, enum gemm_compute compute, int trans, int called)
{
    struct err e = {0};
    struct dev *d = open_fake(NULL);
    double a[GM * GK], b[GK * GN], c[GM * GN];      /* room for any type */
    bool trans_a = trans & 1, trans_b = trans & 2;
    for (int i = 0; i < GM * GK; i++)
        put_number(from, a, i, i % 11 - 5);
    for (int i = 0; i < GK * GN; i++)
        put_number(from, b, i, i % 7 - 3);
    struct plan_step step = {.kind = STEP_GEMM, .trans_a = trans_a, .trans_b = trans_b, .compute = compute,
                             .m = GM, .n = GN, .k = GK};
    if (ops->gemm(d, &step, from, to, (dev_ptr)(uintptr_t)a, (dev_ptr)(uintptr_t)b, (dev_ptr)(uintptr_t)c, &e))
        fail_msg("%s", e.text);
    for (int m = 0; m < GM; m++)
        for (int n = 0; n < GN; n++) {
            double want = 0;
            for (int k = 0; k < GK; k++)
                want += dtype_read(from, a, trans_a ? k * GM + m : m * GK + k) *
                        dtype_read(from, b, trans_b ? n * GK + k : k * GN + n);
            assert_true(dtype_read(to, c, m * GN + n) == want);
        }
    assert_int_equal(fake.math_mode, CUBLAS_DEFAULT_MATH);
    assert_int_equal(fake.gemm_compute, called);
    ops->close(d);
    assert_true(fake_nothing_alive());
}

static void test_gemm(void **state)
{
    for (int trans = 0; trans < 4; trans++) {
        check_gemm(DTYPE_f32, DTYPE_f32, GEMM_F32, trans, FAKE_SGEMM);
        check_gemm(DTYPE_f32, DTYPE_f32, GEMM_TF32, trans, CUBLAS_COMPUTE_32F_FAST_TF32);
        check_gemm(DTYPE_f32, DTYPE_f32, GEMM_BF16, trans, CUBLAS_COMPUTE_32F_FAST_16BF);
        check_gemm(DTYPE_f32, DTYPE_f32, GEMM_F16, trans, CUBLAS_COMPUTE_32F_FAST_16F);
        check_gemm(DTYPE_f64, DTYPE_f64, GEMM_F64, trans, FAKE_DGEMM);
        check_gemm(DTYPE_f16, DTYPE_f16, GEMM_F32, trans, CUBLAS_COMPUTE_32F);
        check_gemm(DTYPE_f16, DTYPE_f32, GEMM_F32, trans, CUBLAS_COMPUTE_32F);
        check_gemm(DTYPE_bf16, DTYPE_bf16, GEMM_F32, trans, CUBLAS_COMPUTE_32F);
        check_gemm(DTYPE_bf16, DTYPE_f32, GEMM_F32, trans, CUBLAS_COMPUTE_32F);
    }
}

static void test_gemm_refusals(void **state)
{
    struct err e = {0};
    struct dev *d = open_fake(NULL);
    struct plan_step step = {.kind = STEP_GEMM, .m = 3, .n = (int64_t)1 << 31, .k = 7};
    assert_int_equal(ops->gemm(d, &step, DTYPE_f32, DTYPE_f32, 256, 256, 256, &e), LATHE_DEVICE);
    assert_string_equal(e.text, "gemm 3x2147483648x7: each dimension must be 1 to 2147483647");
    assert_int_equal(ops->fault(d), DEV_FAULT_LAUNCH);
    step.n = 5;
    assert_int_equal(ops->gemm(d, &step, DTYPE_bf16, DTYPE_f16, 256, 256, 256, &e), LATHE_DEVICE);
    says(&e, "only f32");
    step.compute = GEMM_F64;
    assert_int_equal(ops->gemm(d, &step, DTYPE_f32, DTYPE_f32, 256, 256, 256, &e), LATHE_DEVICE);
    step.compute = GEMM_F32;
    fake.fail_at = fake.calls + 1;
    fake.cublas_fail_with = CUBLAS_STATUS_EXECUTION_FAILED;
    assert_int_equal(ops->gemm(d, &step, DTYPE_f32, DTYPE_f32, 256, 256, 256, &e), LATHE_DEVICE);
    assert_string_equal(e.text, "cublasSgemm 3x5x7: CUBLAS_STATUS_EXECUTION_FAILED (13)");
    assert_int_equal(ops->fault(d), DEV_FAULT_CRASH);
    ops->close(d);
    assert_true(fake_nothing_alive());
}

/* --- graphs, clock, energy --- */

static void test_clock_and_energy(void **state)
{
    double mhz;
    uint64_t reasons;
    struct dev *d = open_fake(NULL);
    assert_true(ops->pulse(d, &mhz, &reasons));
    assert_true(mhz == 1755 && reasons == 4 && ops->energy_mj(d) == 123456789);
    ops->close(d);
    fake_reset();
    fake.no_nvml = true;
    d = open_fake(NULL);
    assert_false(ops->pulse(d, &mhz, &reasons));
    assert_true(isnan(mhz) && reasons == 0 && isnan(ops->energy_mj(d)));
    ops->close(d);
}

/* What is recorded runs when the graph is launched, as often; what may not be recorded leaves a queue that works. */
static void test_graphs(void **state)
{
    struct dev *d = open_fake(NULL);
    struct dev_module *m;
    struct dev_function *f;
    struct dev_graph *g = NULL;
    struct err e = {0};
    const uint32_t one[3] = {1, 1, 1}, block[3] = {64, 1, 1};
    assert_int_equal(ops->load(d, image, &m, &e), LATHE_OK);
    assert_int_equal(ops->function(d, m, "linear_simt", &f, &e), LATHE_OK);
    assert_int_equal(ops->graph_begin(d, &e), LATHE_OK);
    for (int i = 0; i < 3; i++) assert_int_equal(launch(d, f, one, block, no_cluster, 0, NULL, &e), LATHE_OK);
    assert_int_equal(ops->graph_end(d, &g, &e), LATHE_OK);
    assert_non_null(g);
    assert_int_equal(fake.launches, 0);
    for (int i = 0; i < 2; i++) assert_int_equal(ops->graph_launch(d, g, &e), LATHE_OK);
    assert_int_equal(fake.launches, 6);
    ops->graph_free(d, g);

    assert_int_equal(ops->graph_begin(d, &e), LATHE_OK);
    assert_int_equal(ops->sync(d, &e), LATHE_DEVICE);
    assert_int_equal(ops->graph_end(d, &g, &e), LATHE_DEVICE);
    says(&e, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED");
    assert_null(g);
    assert_int_equal(launch(d, f, one, block, no_cluster, 0, NULL, &e), LATHE_OK);
    assert_int_equal(fake.launches, 7);
    assert_int_equal(ops->sync(d, &e), LATHE_OK);
    ops->close(d);
    assert_true(fake_nothing_alive());
}

/* --- every call fails once --- */

/* A graph of one launch, launched. */
static status use_graph(struct dev *d, struct dev_function *f, struct err *e)
{
    const uint32_t one[3] = {1, 1, 1}, block[3] = {64, 1, 1};
    struct dev_graph *g = NULL;
    status s = ops->graph_begin(d, e);
    if (s) return s;
    s = launch(d, f, one, block, no_cluster, 0, NULL, e);
    status ended = ops->graph_end(d, &g, s ? NULL : e);
    if (!s) s = ended;
    if (!s) s = ops->graph_launch(d, g, e);
    if (g) ops->graph_free(d, g);
    return s;
}

/* All that a trial does; the first failure's status. */
static status use(struct dev *d, struct err *e)
{
    dev_ptr p = 0, q = 0;
    struct dev_module *m = NULL;
    struct dev_function *f = NULL;
    struct resources r;
    struct telemetry t;
    float data[64] = {1};
    const uint32_t one[3] = {1, 1, 1}, block[3] = {64, 1, 1}, cluster[3] = {1, 1, 1};
    struct plan_step gemm = {.kind = STEP_GEMM, .m = 2, .n = 2, .k = 2};
    const struct plan_tensor_map map = {.rank = 1, .shape = {64}, .box = {32}};
    status s = ops->alloc(d, sizeof data, &p, e);
    if (!s) s = ops->alloc(d, sizeof data, &q, e);
    if (!s) s = ops->copy_in(d, p, data, sizeof data, e);
    if (!s) s = ops->fill(d, q, 0, sizeof data, e);
    if (!s) s = ops->load(d, image, &m, e);
    if (!s) s = ops->function(d, m, "linear_simt", &f, e);
    if (!s) s = ops->resources(d, f, 64, 0, &r, e);
    if (!s) ops->mark(d, 0);
    if (!s) s = launch(d, f, one, block, no_cluster, 0, NULL, e);
    if (!s) s = launch(d, f, one, block, cluster, 0, NULL, e);
    if (!s) s = ops->tensor_map(d, &map, DTYPE_f32, p, data, e);
    if (!s) s = ops->persist(d, true, e);
    if (!s) s = ops->persist(d, false, e);
    if (!s) s = ops->gemm(d, &gemm, DTYPE_f32, DTYPE_f32, p, p, q, e);
    if (!s) s = use_graph(d, f, e);
    if (!s) ops->mark(d, 1);
    if (!s) s = ops->sync(d, e);
    if (!s && isnan(ops->elapsed_ms(d, 0, 1)))
        s = err_set(e, LATHE_DEVICE, "no time");
    if (!s) ops->telemetry(d, &t);
    if (!s) s = ops->copy_out(d, data, q, sizeof data, e);
    ops->release(d, p);
    ops->release(d, q);
    return s;
}

/* Calls whose failure a device lives with. */
static bool may_fail(const char *call, CUresult with)
{
    static const char *const calls[] = {"cuDeviceGetPCIBusId", "cuDeviceGetUuid", "cuDeviceGetAttribute"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(call, calls[i]))
            return true;
    return !strncmp(call, "nvml", 4) || (!strcmp(call, "cuFuncSetAttribute") && cuda_fault(with) != DEV_FAULT_CRASH);
}

static int fail_each_call(CUresult with, int cublas_with, enum dev_fault fault)
{
    struct cuda_tables tables = fake_tables();
    int failures = 0;
    for (int n = 1;; n++) {
        struct err e = {0};
        struct target t;
        struct dev *d = NULL;
        fake_reset();
        fake.fail_at = n;
        fake.fail_with = with;
        fake.cublas_fail_with = cublas_with;
        status s = cuda_open_with(&tables, 0, &d, &t, &e);
        if (!s) {
            s = use(d, &e);
            if (s)
                assert_int_equal(ops->fault(d), fault);
            ops->close(d);
        } else {
            assert_null(d);
        }
        assert_true(fake_nothing_alive());
        if (!fake.failed) {
            assert_int_equal(s, LATHE_OK);
            return failures;
        }
        if (!s && !may_fail(fake.failed, with))
            fail_msg("call %d, %s, failed and nobody noticed", n, fake.failed);
        if (s) {
            assert_int_equal(s, LATHE_DEVICE);
            assert_true(strstr(e.text, "no time") || strstr(e.text, "CUDA_ERROR_") || strstr(e.text, "CUBLAS_STATUS_"));
            failures++;
        }
    }
}

static void test_every_call_fails_once(void **state)
{
    int n = fail_each_call(CUDA_ERROR_OUT_OF_MEMORY, CUBLAS_STATUS_ALLOC_FAILED, DEV_FAULT_RESOURCES);
    assert_in_range(n, 40, 60);
    assert_in_range(fail_each_call(CUDA_ERROR_ILLEGAL_ADDRESS, CUBLAS_STATUS_EXECUTION_FAILED, DEV_FAULT_CRASH), n,
                    n + 1);
    assert_int_equal(fail_each_call(CUDA_ERROR_INVALID_VALUE, CUBLAS_STATUS_INVALID_VALUE, DEV_FAULT_LAUNCH), n);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, before_each)
    const struct CMUnitTest tests[] = {
        TEST(test_target),
        TEST(test_peaks_without_clock_attributes),
        TEST(test_without_nvml),
        TEST(test_telemetry),
        TEST(test_clock_and_energy),
        TEST(test_graphs),
        TEST(test_arch_names),
        TEST(test_open_says_why),
        TEST(test_no_such_gpu),
        TEST(test_memory),
        TEST(test_out_of_memory),
        TEST(test_launch),
        TEST(test_cluster_launch),
        TEST(test_launch_attributes),
        TEST(test_no_windows),
        TEST(test_persist),
        TEST(test_tensor_map),
        TEST(test_driver_without_tensor_maps),
        TEST(test_too_large_launches),
        TEST(test_static_shared),
        TEST(test_shared_limit_not_raised),
        TEST(test_unknown_kernel_and_image),
        TEST(test_driver_too_old_for_image),
        TEST(test_crash_is_sticky),
        TEST(test_fault_kinds),
        TEST(test_marks),
        TEST(test_gemm),
        TEST(test_gemm_refusals),
        TEST(test_every_call_fails_once),
    };
    return cmocka_run_group_tests(tests, make_image, remove_image);
}
