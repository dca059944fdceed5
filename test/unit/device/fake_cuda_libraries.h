/* fake_cuda_libraries.h: cuBLAS and NVML of fake_cuda.c, which includes it: they share its state and its counted
 * failures. */

/* --- cuBLAS: column-major, plain loops --- */

#define ENTER_BLAS(call)                                                                                               \
    do {                                                                                                               \
        if (fails(#call))                                                                                              \
            return fake.cublas_fail_with;                                                                              \
    } while (0)

static cublasStatus_t f_cublasCreate_v2(cublasHandle_t *handle)
{
    ENTER_BLAS(cublasCreate_v2);
    *handle = malloc(1);
    fake.blas_handles++;
    return 0;
}

static cublasStatus_t f_cublasDestroy_v2(cublasHandle_t handle)
{
    free(handle);
    fake.blas_handles--;
    return 0;
}

static cublasStatus_t f_cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
    ENTER_BLAS(cublasSetStream_v2);
    return stream ? 0 : 7;
}

static cublasStatus_t f_cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
    ENTER_BLAS(cublasSetMathMode);
    fake.math_mode = mode;
    return 0;
}

#define GEMM(T)                                                                                                        \
    for (int j = 0; j < n; j++)                                                                                        \
        for (int i = 0; i < m; i++) {                                                                                  \
            T sum = 0;                                                                                                 \
            for (int l = 0; l < k; l++)                                                                                \
                sum += a[op_a ? l + (size_t)i * lda : i + (size_t)l * lda] *                                           \
                       b[op_b ? j + (size_t)l * ldb : l + (size_t)j * ldb];                                            \
            c[i + (size_t)j * ldc] = *alpha * sum;                                                                     \
        }

static cublasStatus_t gemm_f32(cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, const float *alpha,
                               const float *a, int lda, const float *b, int ldb, const float *beta, float *c, int ldc)
{
    if (*beta != 0)
        return 7;
    GEMM(float)
    return 0;
}

static cublasStatus_t f_cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                                       int n, int k, const float *alpha, const float *a, int lda, const float *b,
                                       int ldb, const float *beta, float *c, int ldc)
{
    ENTER_BLAS(cublasSgemm_v2);
    fake.gemm_compute = FAKE_SGEMM;
    return gemm_f32(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

static cublasStatus_t f_cublasDgemm_v2(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                                       int n, int k, const double *alpha, const double *a, int lda, const double *b,
                                       int ldb, const double *beta, double *c, int ldc)
{
    ENTER_BLAS(cublasDgemm_v2);
    if (*beta != 0)
        return 7;
    fake.gemm_compute = FAKE_DGEMM;
    GEMM(double)
    return 0;
}

static cublasStatus_t f_cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                                     int n, int k, const void *alpha, const void *a, cudaDataType type_a, int lda,
                                     const void *b, cudaDataType type_b, int ldb, const void *beta, void *c,
                                     cudaDataType type_c, int ldc, cublasComputeType_t compute,
                                     cublasGemmAlgo_t algorithm)
{
    ENTER_BLAS(cublasGemmEx);
    fake.gemm_compute = compute;
    if (type_a != type_b || algorithm != -1)
        return 7;
    if (type_a == CUDA_R_32F && type_c == CUDA_R_32F)
        return gemm_f32(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    if (compute != CUBLAS_COMPUTE_32F || (type_c != type_a && type_c != CUDA_R_32F))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    enum dtype from = type_a == CUDA_R_16F ? DTYPE_f16 : DTYPE_bf16;
    int na = m * k, nb = k * n, nc = m * n;
    float *wide_a = calloc((size_t)na, sizeof *wide_a), *wide_b = calloc((size_t)nb, sizeof *wide_b);
    float *sum = calloc((size_t)nc, sizeof *sum);
    for (int i = 0; i < na; i++)
        wide_a[i] = (float)dtype_read(from, a, i);
    for (int i = 0; i < nb; i++)
        wide_b[i] = (float)dtype_read(from, b, i);
    int r = gemm_f32(op_a, op_b, m, n, k, alpha, wide_a, lda, wide_b, ldb, beta, sum, ldc);
    for (int i = 0; i < nc; i++)
        if (type_c == CUDA_R_32F)
            ((float *)c)[i] = sum[i];
        else
            ((uint16_t *)c)[i] = from == DTYPE_f16 ? f16_from_float(sum[i]) : bf16_from_float(sum[i]);
    free(wide_a);
    free(wide_b);
    free(sum);
    return r;
}

static cublasStatus_t f_cublasGetProperty(libraryPropertyType property, int *value)
{
    *value = 13 - property;
    return 0;
}

/* --- NVML --- */

#define ENTER_NVML(call)                                                                                               \
    do {                                                                                                               \
        if (fails(#call))                                                                                              \
            return 3;                                                                                                  \
    } while (0)

static nvmlReturn_t f_nvmlInit_v2(void)
{
    ENTER_NVML(nvmlInit_v2);
    if (fake.no_nvml)
        return 9;
    fake.nvml_open++;
    return 0;
}

static nvmlReturn_t f_nvmlShutdown(void)
{
    fake.nvml_open--;
    return 0;
}

static nvmlReturn_t f_nvmlSystemGetDriverVersion(char *text, unsigned int size)
{
    ENTER_NVML(nvmlSystemGetDriverVersion);
    snprintf(text, size, "580.159.04");
    return 0;
}

static nvmlReturn_t f_nvmlDeviceGetHandleByPciBusId_v2(const char *id, nvmlDevice_t *device)
{
    ENTER_NVML(nvmlDeviceGetHandleByPciBusId_v2);
    *device = (nvmlDevice_t)&context_object;
    return strcmp(id, "0000:1A:00.0") ? 6 : 0;
}

static nvmlReturn_t f_nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
    ENTER_NVML(nvmlDeviceGetHandleByUUID);
    *device = (nvmlDevice_t)&context_object;
    return strncmp(uuid, "GPU-f0f1f2f3-", 13) ? 6 : 0;
}

static nvmlReturn_t f_nvmlDeviceGetClockInfo(nvmlDevice_t device, unsigned int type, unsigned int *mhz)
{
    ENTER_NVML(nvmlDeviceGetClockInfo);
    *mhz = type == NVML_CLOCK_SM ? 1755 : 3201;
    return 0;
}

static nvmlReturn_t f_nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, unsigned int type, unsigned int *mhz)
{
    ENTER_NVML(nvmlDeviceGetMaxClockInfo);
    *mhz = type == NVML_CLOCK_SM ? 1980 : 3201;
    return 0;
}

static nvmlReturn_t f_nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *milliwatts)
{
    ENTER_NVML(nvmlDeviceGetPowerUsage);
    *milliwatts = 698500;
    return 0;
}

static nvmlReturn_t f_nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long *millijoules)
{
    ENTER_NVML(nvmlDeviceGetTotalEnergyConsumption);
    *millijoules = 123456789;
    return 0;
}

static nvmlReturn_t f_nvmlDeviceGetTemperature(nvmlDevice_t device, unsigned int sensor, unsigned int *celsius)
{
    ENTER_NVML(nvmlDeviceGetTemperature);
    *celsius = 61;
    return sensor == NVML_TEMPERATURE_GPU ? 0 : 2;
}

static nvmlReturn_t f_nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned int *bits)
{
    ENTER_NVML(nvmlDeviceGetMemoryBusWidth);
    *bits = 6144;
    return 0;
}

static nvmlReturn_t f_nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *n,
                                                              nvmlProcessInfo_t *list)
{
    ENTER_NVML(nvmlDeviceGetComputeRunningProcesses_v3);
    unsigned int room = *n;
    for (*n = 0; *n < 4 && fake.processes[*n]; ++*n)
        if (*n < room)
            list[*n] = (nvmlProcessInfo_t){.pid = (unsigned int)fake.processes[*n], .usedGpuMemory = 1 << 20};
    return *n > room ? 7 : 0;
}

static nvmlReturn_t f_nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, unsigned long long *reasons)
{
    ENTER_NVML(nvmlDeviceGetCurrentClocksThrottleReasons);
    *reasons = 4;
    return 0;
}

#define f_nvmlDeviceGetCurrentClocksEventReasons NULL   /* as in a driver before 535 */
