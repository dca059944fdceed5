// plain.cu: softmax as one writes it first: a block of 256 threads a row, one pass for the maximum, one for the sum,
// one that writes.

// X, Y [M, N]
extern "C" __global__ void softmax_plain(const float *X, float *Y, int M, int N) {
    __shared__ float part[256];
    const float *x = X + static_cast<long long>(blockIdx.x) * N;
    float *y = Y + static_cast<long long>(blockIdx.x) * N;
    const int t = threadIdx.x;
    float most = -3.402823466e38f, sum = 0;
    for (int n = t; n < N; n += 256)
        most = fmaxf(most, x[n]);
    part[t] = most;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half)
            part[t] = fmaxf(part[t], part[t + half]);
        __syncthreads();
    }
    most = part[0];
    __syncthreads();
    for (int n = t; n < N; n += 256)
        sum += expf(x[n] - most);
    part[t] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half)
            part[t] += part[t + half];
        __syncthreads();
    }
    sum = part[0];
    for (int n = t; n < N; n += 256)
        y[n] = expf(x[n] - most) / sum;
}
