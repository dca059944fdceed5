/* main_shared.h: after wgmma_shared.cu in one text: a pipeline on small integers, of which every sum is exact, against
 * plain arithmetic. SIZE_M, SIZE_N, SIZE_K and the kernel's macros say what; argument: a seed. */
typedef LatheType_X Element;

static LatheTensorMap map_of(const void *matrix, int rows, int columns, int box_rows)
{
    LatheTensorMap map;
    const MachineMap m = {matrix, rows, columns, box_rows, TYPE == LATHE_WGMMA_TF32 ? 4 : 2};
    memcpy(&map, &m, sizeof m);
    return map;
}

int main(int argc, char **argv)
{
    const int M = SIZE_M, N = SIZE_N, K = SIZE_K, grid = LATHE_LET_grid;
    const int pitch = PARTS == 2 ? lathe_ceil_div(K, CHUNK) * BOX : CONVERT ? lathe_ceil_div(K, 8) * 8 : K;
    const LatheEpilogue epilogue = {0.5f};
    lathe_host_bound.wait = machine_wait;
    machine.random_state = atoi(argv[1]);
    std::vector<Element> X((size_t)M * K), W((size_t)N * K);
    for (Element &x : X) x = lathe_from_float<Element>((float)machine.random(9) - 4);
    for (Element &w : W) w = lathe_from_float<Element>((float)machine.random(9) - 4);
    if (PARTS == 2)                         // one of them of numbers that need both parts
        for (Element &v : machine.random(2) ? X : W) v = lathe_from_float<Element>((float)machine.random(8191) - 4095);
    const size_t count = (size_t)M * N, guarded = count + 64;
    std::vector<LatheType_Y> Y(guarded);
    memset(Y.data(), 0xff, guarded * sizeof Y[0]);
    std::vector<float> sums((size_t)grid * STREAMS * TILE_FLOATS, NAN);
    std::vector<lathe_f16> x16((size_t)M * pitch), w16((size_t)N * pitch);
    int exponents[2] = {12345, 12345};
    unsigned guard[2] = {0, 0};

#if LATHE_DTYPE_X == LATHE_DTYPE_f32
    if (CONVERT)
        for (int b = 0; b < 3; b++)
            machine.run(3, 256, b, 1, [&] {
                linear_wgmma_convert(X.data(), W.data(), x16.data(), w16.data(), exponents, guard, M, N, K);
            });
#endif
    const void *const x = CONVERT ? (const void *)x16.data() : X.data();
    const void *const w = CONVERT ? (const void *)w16.data() : W.data();
    const LatheTensorMap a = SWAP ? map_of(w, N, pitch, MY_ROWS) : map_of(x, M, pitch, MY_ROWS);
    const LatheTensorMap b = SWAP ? map_of(x, M, pitch, MY_COLUMNS) : map_of(w, N, pitch, MY_COLUMNS);
    machine.cluster = BLOCKS;
    machine.run(grid, (GROUPS + 1) * 128, 0, grid, [&] {
        linear_wgmma_shared(a, b, exponents, sums.data(), guard, Y.data(), M, N, K, epilogue);
    });

    if (guard[0] || guard[1]) MACHINE_FAIL("the guard is %u %u", guard[0], guard[1]);
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float sum = 0;
            for (int k = 0; k < K; k++)
                sum += lathe_to_float(X[(size_t)m * K + k]) * lathe_to_float(W[(size_t)n * K + k]);
            const LatheType_Y want = lathe_from_float<LatheType_Y>(epilogue(sum, m, n)), got = Y[(size_t)m * N + n];
            if (memcmp(&want, &got, sizeof got) != 0)
                MACHINE_FAIL("Y[%d][%d] is %g, not %g", m, n, lathe_to_float(got), lathe_to_float(want));
        }
    for (size_t i = count; i < guarded; i++)
        if (!isnan(lathe_to_float(Y[i]))) MACHINE_FAIL("something is written behind Y");
    return 0;
}
