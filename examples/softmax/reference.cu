// reference.cu: what is right. Softmax of each row in double, rounded once at the end; a block of 64 threads a row.

// X, Y [M, N]
extern "C" __global__ void softmax_reference(const float *X, float *Y, int M, int N) {
    __shared__ double part[64];
    const float *x = X + static_cast<long long>(blockIdx.x) * N;
    float *y = Y + static_cast<long long>(blockIdx.x) * N;
    double most = x[0], sum = 0;
    for (int n = 1; n < N; n++)
        most = fmax(most, static_cast<double>(x[n]));
    for (int n = threadIdx.x; n < N; n += 64)
        sum += exp(x[n] - most);
    part[threadIdx.x] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < 64; i++)
        sum += part[i];
    for (int n = threadIdx.x; n < N; n += 64)
        y[n] = static_cast<float>(exp(x[n] - most) / sum);
}
