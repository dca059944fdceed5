/* main.h: after wgmma.cu in one text: a pipeline on small random matrices, against double arithmetic. Arguments: M N K,
 * blocks of the grid, seed, and what is in the last row of the streamed matrix: `random`; `zero`; or `small`, `nan`,
 * `inf` (against zeros), which must raise the guard. */
static float machine_uniform(uint64_t i, uint64_t seed)
{
    uint64_t h = (i + 1) * 0x9e3779b97f4a7c15ull + seed * 0xbf58476d1ce4e5b9ull;
    h = (h ^ h >> 31) * 0x94d049bb133111ebull;
    return static_cast<float>(static_cast<double>(h >> 11) * 0x1p-52 - 1.0);
}

int main(int argc, char **argv)
{
    const int M = atoi(argv[1]), N = atoi(argv[2]), K = atoi(argv[3]), grid = atoi(argv[4]), seed = atoi(argv[5]);
    const int chunks = lathe_ceil_div(K, CHUNK), streamed_rows = STREAM_X ? M : N, shared_rows = STREAM_X ? N : M;
    const int unit = COLUMNS * (SHARE_ROWS ? CLUSTER : 1), padded = lathe_ceil_div(shared_rows, unit) * unit;
    std::vector<float> X(static_cast<size_t>(M) * K), W(static_cast<size_t>(N) * K), Y(static_cast<size_t>(M) * N, NAN);
    std::vector<float> sums(static_cast<size_t>(grid) * STREAMS * TILE_FLOATS, NAN);
    std::vector<unsigned char> tiles(static_cast<size_t>(padded) * chunks * SHARED_ROW + 16, 0xff);
    unsigned guard[2] = {0, 0};
    int exponent = 12345;
    lathe_host_bound.wait = machine_wait;
    machine.random_state = seed;
    for (size_t i = 0; i < X.size(); i++) X[i] = machine_uniform(i, 2 * seed);
    for (size_t i = 0; i < W.size(); i++) W[i] = machine_uniform(i, 2 * seed + 1) * 0.01f;
    float *streamed = STREAM_X ? X.data() : W.data(), *other = STREAM_X ? W.data() : X.data();
    const char *last = argv[6];
    for (int k = 0; k < K; k++) {
        float &x = streamed[static_cast<size_t>(streamed_rows - 1) * K + k];
        x *= !strcmp(last, "zero") ? 0.0f : !strcmp(last, "small") ? 1e-38f : 1.0f;
        if (!strcmp(last, "nan") && k == K / 2) x = NAN;
        if (!strcmp(last, "inf") && k == K / 2) x = INFINITY;
    }
    for (int r = 0; r < shared_rows && !strcmp(last, "inf"); r++) other[static_cast<size_t>(r) * K + K / 2] = 0.0f;
    unsigned char *to = tiles.data() + (16 - reinterpret_cast<uintptr_t>(tiles.data()) % 16) % 16;

    const int split_blocks = lathe_ceil_div(padded / 8 * lathe_ceil_div(K, SPLIT_PART), 8);
    for (int b = 0; b < split_blocks; b++)
        machine.run(split_blocks, 256, b, 1,
                    [&] { linear_wgmma_split(other, to, &exponent, guard, shared_rows, padded, K); });
    LatheTensorMap map;
    const MachineMap m = {streamed, streamed_rows, K, MY_ROWS, 4};
    memcpy(&map, &m, sizeof m);
    machine.cluster = BLOCKS;
    machine.run(grid, (GROUPS + 1) * 128, 0, grid, [&] {
        linear_wgmma(map, streamed, to, &exponent, sums.data(), guard, Y.data(), M, N, K, LatheEpilogue{0.5f});
    });

    const bool raised = !strcmp(last, "small") || !strcmp(last, "nan") || !strcmp(last, "inf");
    if (guard[0] != raised || guard[1]) MACHINE_FAIL("the guard is %u %u", guard[0], guard[1]);
    if (raised) return 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0, size = 0;
            for (int k = 0; k < K; k++) {
                const double p = (double)X[(size_t)i * K + k] * W[(size_t)j * K + k];
                sum += p;
                size += fabs(p);
            }
            sum = 0.5 * sum + i - j;
            const double limit = ldexp(size, PARTS == 1 ? -8 : SHORT ? -17 : FP16 ? -20 : -15) + ldexp(fabs(sum), -23);
            if (!(fabs(Y[(size_t)i * N + j] - sum) <= limit))
                MACHINE_FAIL("Y[%d][%d] is %g, not %g", i, j, (double)Y[(size_t)i * N + j], sum);
        }
    return 0;
}
