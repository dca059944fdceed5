// y[n] = 2 x[n], and a reference that does what BUG says (9: nothing wrong).
static __device__ int launches;

extern "C" __global__ void unfit(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

// w[64]: workspace
extern "C" __global__ void unfit_reference(const float *x, float *y, float *w, int n, int bug)
{
    __shared__ float nobodys[64];   // written if a condition holds that never does, which no compiler knows
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (n < 0) nobodys[threadIdx.x] = x[0];
    if (i == 3) launches++;         // blocks and threads come in any order
    const float old = y[i];
    y[i] = 2.0f * x[i];
    switch (bug) {
    case 1: if (i == 0) y[n + 10] = 1.0f; break;
    case 2: if (i == 0) w[-1] = 1.0f; break;
    case 3: if (i == 7) const_cast<float *>(x)[7] = 3.0f; break;
    case 5: if (i == 3) y[i] += (float)launches; break;
    case 6: if (i == 3) y[i] += w[5] > 0.5f ? 1.0f : 0.0f; break;
    case 7: if (i == 3) y[i] *= 1.0f + (float)(launches % 2) * 0x1p-22f; break;    // within the tolerance
    case 8: if (i == 3) ((unsigned *)y)[i] = 0xffffffffu; break;                   // a NaN of the reference's own
    case 10: if (i == 3 && x[n] > 0.5f) y[i] = 1.0f; break;                        // reads what is not its own
    case 11: if (i == 3) y[i] += x[n + 2]; break;
    case 12: if (i == 3) y[i] = nobodys[5]; break;
    case 13: if (i == 3) y[i] = w[5]; break;
    case 14: if (i == 3 && old < 1.0f) y[i] = 1.0f; break;
    default: break;
    }
}

// the same, but for y[3] and the elements from 990 on
extern "C" __global__ void unfit_partly(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i != 3 && i < 990 && i < n) y[i] = 2.0f * x[i];
}
