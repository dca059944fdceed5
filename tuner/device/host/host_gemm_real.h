/* host_gemm_real.h: the GEMM for one type; host_gemm.c includes it once a type. Expects REAL, ROUND(g, x) for inputs,
 * and NAME(x), the name x has for that type.
 *
 * Tiles of A (TILE_M x TILE_K) and B (TILE_K x TILE_N) are copied into panels that the innermost loop reads in order,
 * padded with zeros to whole panels. Each C element is one running sum over k in ascending order, as cuBLAS SGEMM and
 * any plain kernel have it, so that its error is the yardstick that a float32 kernel can be held to. */

enum {
    NAME(ROWS) = 4,                             /* of C at once: they and COLS stay in registers */
    NAME(COLS) = 32 / (int)sizeof(REAL),
};

/* panel[row / ROWS][kk][row % ROWS] = op(A)[m0 + row][k0 + kk] */
static void NAME(pack_a)(const struct host_gemm *g, const REAL *a, int64_t m0, int rows, int64_t k0, int depth,
                         REAL *panel)
{
    int padded = (rows + NAME(ROWS) - 1) / NAME(ROWS) * NAME(ROWS);
    for (int i = 0; i < padded; i++) {
        REAL *to = panel + (size_t)(i / NAME(ROWS)) * NAME(ROWS) * depth + i % NAME(ROWS);
        for (int kk = 0; kk < depth; kk++) {
            int64_t row = m0 + i, col = k0 + kk;
            to[kk * NAME(ROWS)] = i < rows ? ROUND(g, a[g->trans_a ? col * g->m + row : row * g->k + col]) : 0;
        }
    }
}

/* panel[col / COLS][kk][col % COLS] = op(B)[k0 + kk][n0 + col] */
static void NAME(pack_b)(const struct host_gemm *g, const REAL *b, int64_t n0, int cols, int64_t k0, int depth,
                         REAL *panel)
{
    int padded = (cols + NAME(COLS) - 1) / NAME(COLS) * NAME(COLS);
    for (int j = 0; j < padded; j++) {
        REAL *to = panel + (size_t)(j / NAME(COLS)) * NAME(COLS) * depth + j % NAME(COLS);
        for (int kk = 0; kk < depth; kk++) {
            int64_t row = k0 + kk, col = n0 + j;
            to[kk * NAME(COLS)] = j < cols ? ROUND(g, b[g->trans_b ? col * g->k + row : row * g->n + col]) : 0;
        }
    }
}

/* Goes on with the sums. Written out, since compilers keep arrays of sums in memory. */
static void NAME(multiply)(const REAL *a, const REAL *b, int depth, REAL sum[NAME(ROWS)][NAME(COLS)])
{
    typedef REAL vector __attribute__((vector_size(16), aligned(sizeof(REAL)), may_alias));
    vector rows[NAME(ROWS)][2];
    memcpy(rows, sum, sizeof rows);
    vector l0 = rows[0][0], l1 = rows[1][0], l2 = rows[2][0], l3 = rows[3][0];
    vector r0 = rows[0][1], r1 = rows[1][1], r2 = rows[2][1], r3 = rows[3][1];
    for (int kk = 0; kk < depth; kk++, a += NAME(ROWS), b += NAME(COLS)) {
        vector left = ((const vector *)b)[0], right = ((const vector *)b)[1];
        l0 += a[0] * left, r0 += a[0] * right;
        l1 += a[1] * left, r1 += a[1] * right;
        l2 += a[2] * left, r2 += a[2] * right;
        l3 += a[3] * left, r3 += a[3] * right;
    }
    const vector end[NAME(ROWS)][2] = {{l0, r0}, {l1, r1}, {l2, r2}, {l3, r3}};
    memcpy(sum, end, sizeof end);
}

/* Goes on with C's sums (from zero in the first block of k) over two panels' tile. */
static void NAME(tile)(const struct host_gemm *g, const REAL *a, const REAL *b, int64_t m0, int rows, int64_t n0,
                       int cols, int depth, bool first, REAL *c)
{
    for (int i = 0; i < rows; i += NAME(ROWS))
        for (int j = 0; j < cols; j += NAME(COLS)) {
            REAL sum[NAME(ROWS)][NAME(COLS)] = {{0}};
            int height = at_most(rows - i, NAME(ROWS)), width = at_most(cols - j, NAME(COLS));
            REAL *at = c + (m0 + i) * g->n + n0 + j;
            for (int r = 0; r < height && !first; r++)
                for (int s = 0; s < width; s++) sum[r][s] = at[r * g->n + s];
            NAME(multiply)(a + (size_t)i * depth, b + (size_t)j * depth, depth, sum);
            for (int r = 0; r < height; r++)
                for (int s = 0; s < width; s++) at[r * g->n + s] = sum[r][s];
        }
}

void NAME(host_gemm)(const struct host_gemm *g, const REAL *a, const REAL *b, REAL *c)
{
    REAL *panel_a = mem_alloc(sizeof(REAL) * TILE_M * TILE_K), *panel_b = mem_alloc(sizeof(REAL) * TILE_N * TILE_K);
    for (int64_t n0 = 0; n0 < g->n; n0 += TILE_N)
        for (int64_t k0 = 0; k0 < g->k; k0 += TILE_K) {
            int cols = at_most(g->n - n0, TILE_N), depth = at_most(g->k - k0, TILE_K);
            NAME(pack_b)(g, b, n0, cols, k0, depth, panel_b);
            for (int64_t m0 = 0; m0 < g->m; m0 += TILE_M) {
                int rows = at_most(g->m - m0, TILE_M);
                NAME(pack_a)(g, a, m0, rows, k0, depth, panel_a);
                NAME(tile)(g, panel_a, panel_b, m0, rows, n0, cols, depth, k0 == 0, c);
            }
        }
    mem_free(panel_a);
    mem_free(panel_b);
}
