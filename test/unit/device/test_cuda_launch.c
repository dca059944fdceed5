/* test_cuda_launch.c: modules and launches of the CUDA device, against a driver in memory: what it asks, what it
 * refuses, which fault is which. */
#include "cuda_fixture.h"

/* --- modules and launches --- */

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

/* What is passed: a pointer, an i64, a struct of a pointer and a float, a tensor map, an empty struct. */
static void test_parameters(void **state)
{
    static struct plan_arg fields[] = {{.kind = PLAN_BUFFER}, {.kind = PLAN_F32}};
    static struct plan_arg args[] = {{.kind = PLAN_BUFFER, .buffer = 5},
                                     {.kind = PLAN_I64},
                                     {.kind = PLAN_STRUCT, .fields = fields, .nfields = 2},
                                     {.kind = PLAN_TENSOR_MAP},
                                     {.kind = PLAN_STRUCT}};
    static const struct {
        int nargs;
        size_t parameters[8];
        const char *said;           /* NULL: they fit */
    } cases[] = {
        {5, {8, 8, 16, 128, 1}, NULL},
        {5, {8, 4, 16, 128, 1}, "kernel linear_simt: args[2] has 8 bytes, and the kernel's parameter 4"},
        {5, {8, 8, 12, 128, 1}, "kernel linear_simt: args[3] has 16 bytes, and the kernel's parameter 12"},
        {5, {8, 8, 16, 128, 4}, "kernel linear_simt: args[5] has 1 byte, and the kernel's parameter 4"},
        {5, {8, 8, 16, 128}, "kernel linear_simt: the launch passes 5 arguments, and the kernel has 4 parameters"},
        {1, {8}, NULL},
        {1, {8, 8}, "kernel linear_simt: the launch passes 1 argument, and the kernel has more parameters"},
        {0, {0}, NULL},
        {0, {4}, "kernel linear_simt: the launch passes 0 arguments, and the kernel has more parameters"},
        {2, {0}, NULL},             /* such a driver does not know */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err e = {0};
        struct dev *d = open_fake(NULL);
        struct dev_module *m;
        struct dev_function *f = get_function(d, "linear_simt", &m);
        const struct plan_step step = {.function = "linear_simt", .args = args, .nargs = cases[i].nargs};
        memcpy(fake.parameters, cases[i].parameters, sizeof fake.parameters);
        assert_int_equal(ops->takes(d, f, &step, &e), cases[i].said ? LATHE_DEVICE : LATHE_OK);
        if (cases[i].said) {
            assert_string_equal(e.text, cases[i].said);
            assert_int_equal(ops->fault(d), DEV_FAULT_LAUNCH);
        }
        ops->close(d);
    }
    struct err e = {0};
    struct dev_module *m;
    fake.parameters[0] = 4;
    fake.no_parameters = true;      /* before CUDA 12.4 */
    struct dev *d = open_fake(NULL);
    struct dev_function *f = get_function(d, "linear_simt", &m);
    assert_int_equal(ops->takes(d, f, &(struct plan_step){.args = args, .nargs = 5}, &e), LATHE_OK);
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
    static const int crash[] = {201, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 999};
    static const int lost[] = {3,   4,   34,  46,  100, 101, 102, 214, 220, 226, 304, 802,
                               803, 804, 805, 806, 807, 808, 809, 810, 911, 916};
    /* the rest of CUresult in CUDA 13.0, and one that nobody knows */
    static const int refused[] = {1,   5,   6,   7,   8,   36,  98,  200, 202, 205, 206, 207, 208, 209, 210, 211, 212,
                                  213, 215, 216, 217, 218, 219, 221, 222, 223, 224, 225, 300, 301, 302, 303, 400, 401,
                                  402, 500, 600, 703, 704, 705, 708, 711, 712, 713, 720, 800, 801, 811, 812, 900, 901,
                                  902, 903, 904, 905, 906, 907, 908, 909, 910, 912, 913, 914, 915};
    for (size_t i = 0; i < sizeof crash / sizeof *crash; i++)
        assert_int_equal(cuda_fault((CUresult)crash[i]), DEV_FAULT_CRASH);
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
        assert_int_equal(cuda_fault((CUresult)lost[i]), DEV_FAULT_LOST);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_int_equal(cuda_fault((CUresult)refused[i]), DEV_FAULT_LAUNCH);
    assert_int_equal(cuda_fault(CUDA_ERROR_OUT_OF_MEMORY), DEV_FAULT_RESOURCES);
    assert_int_equal(cuda_fault(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES), DEV_FAULT_RESOURCES);
    assert_int_equal(cuda_fault(CUDA_SUCCESS), DEV_FAULT_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
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
        TEST(test_parameters),
        TEST(test_unknown_kernel_and_image),
        TEST(test_driver_too_old_for_image),
        TEST(test_crash_is_sticky),
        TEST(test_fault_kinds),
    };
    return cmocka_run_group_tests(tests, make_image, remove_image);
}
