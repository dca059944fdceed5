// host_linear_mma.cu: for test_host_linear_mma.c: kernels/linear/mma.cu in one configuration: fp16, X split by a
// pre-pass, W in registers, so that both ways of noticing small rows are there.
#define LATHE_BM 32
#define LATHE_BN 64
#define LATHE_WM 16
#define LATHE_WN 32
#define LATHE_BK 32
#define LATHE_STAGES 3
#define LATHE_FRAGMENTS 2
#define LATHE_TRANSPOSED 0
#define LATHE_PROMOTE_K 0
#define LATHE_SPLIT_K 1
#define LATHE_MIN_BLOCKS 1
#define LATHE_GROUP 1
#define LATHE_LET_narrow 0
#define LATHE_LET_scaled 1
#define LATHE_LET_word_k 1
#define LATHE_LET_vec_words 1
#define LATHE_LET_tf32 0
#define LATHE_LET_fp16 1
#define LATHE_LET_three 1
#define LATHE_LET_pre_x 1
#define LATHE_LET_pre_w 0
#define LATHE_LET_last_block 0
#define LATHE_LET_promote_registers 0
#define LATHE_LET_promote_workspace 0

#include "../../../kernels/common/types.cuh"

typedef float LatheType_X, LatheType_W, LatheType_Y;
struct LatheEpilogue {
    float scale;
    __device__ __forceinline__ float operator()(float z, int m, int n) const { return scale * z; }
};

#include "../../../kernels/linear/mma.cu"
