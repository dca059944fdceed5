/* cuda_api.c: opens the driver, and knows what its results mean. No state. */
#include "device/cuda/cuda_api.h"
#include "device/find_lib.h"

#include <stdio.h>
#include <stdlib.h>

static const struct lib_symbol symbols[] = {
#define X(name, symbol, args) {#symbol, offsetof(struct cuda_api, name), false},
    CUDA_FUNCTIONS(X)
#undef X
#define X(name, symbol, args) {#symbol, offsetof(struct cuda_api, name), true},
    CUDA_OPTIONAL_FUNCTIONS(X)
#undef X
};

status cuda_api_open(struct cuda_api *api, struct err *e)
{
    static const char *const names[] = {"libcuda.so.1", NULL};
    const struct lib_query query = {.names = names, .driver = true};
    struct lib lib;
    struct strbuf tried = {0};
    if (!find_lib(&query, &lib, &tried)) {
        err_set(e, LATHE_DEVICE,
                "no CUDA driver: libcuda.so.1 could not be opened (%s). Install the NVIDIA driver, or use "
                "--device host",
                sb_str(&tried)[0] == ' ' ? sb_str(&tried) + 1 : sb_str(&tried));
        sb_free(&tried);
        return LATHE_DEVICE;
    }
    sb_free(&tried);
    const char *missing = lib_bind(lib.handle, symbols, sizeof symbols / sizeof *symbols, api);
    if (missing)
        return err_set(e, LATHE_DEVICE, "the CUDA driver %s has no %s: it is older than CUDA 12. Install NVIDIA driver "
                       "525 or later, or use --device host", lib.path, missing);
    snprintf(api->path, sizeof api->path, "%s", lib.path);
    return LATHE_OK;
}

void cuda_error_text(const struct cuda_api *api, CUresult r, char *out, size_t size)
{
    const char *name = NULL, *text = NULL;
    api->cuGetErrorName(r, &name);
    api->cuGetErrorString(r, &text);
    if (name)
        snprintf(out, size, "%s (%s)", name, text ? text : "no description");
    else
        snprintf(out, size, "CUDA error %d, which this driver cannot name", (int)r);
}

static const char *init_advice(CUresult r)
{
    switch (r) {
    case CUDA_ERROR_NO_DEVICE:
        return "The driver finds no GPU: check nvidia-smi and CUDA_VISIBLE_DEVICES; in a container, start it with "
               "access to the GPU (--gpus all). Or use --device host";
    case CUDA_ERROR_STUB_LIBRARY:
        return "This is the toolkit's stub for linking, not a driver: take its directory out of LD_LIBRARY_PATH and "
               "install the NVIDIA driver, or use --device host";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
        return "The driver's library and its kernel module have different versions: restart the machine (or reload the "
               "nvidia modules) after a driver update";
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
        return "The forward compatibility library (cuda-compat) does not serve this GPU: take it out of "
               "LD_LIBRARY_PATH";
    case CUDA_ERROR_SYSTEM_NOT_READY:
        return "The system is not ready: on a machine with NVSwitch, start the fabric manager (nvidia-fabricmanager)";
    default:
        return "Check that nvidia-smi works, or use --device host";
    }
}

status cuda_init(const struct cuda_api *api, struct err *e)
{
    CUresult r = api->cuInit(0);
    if (r == CUDA_SUCCESS)
        return LATHE_OK;
    char text[300];
    cuda_error_text(api, r, text, sizeof text);
    return err_set(e, LATHE_DEVICE, "the CUDA driver %s does not start: %s. %s", api->path, text, init_advice(r));
}

enum dev_fault cuda_fault(CUresult r)
{
    switch ((int)r) {
    case CUDA_SUCCESS:
        return DEV_FAULT_NONE;
    case CUDA_ERROR_OUT_OF_MEMORY:
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
        return DEV_FAULT_RESOURCES;
    case CUDA_ERROR_NOT_INITIALIZED:                /* driver, device or the way to it: no kernel does that */
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
    case CUDA_ERROR_DEVICE_NOT_LICENSED:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case 226:                                       /* CUDA_ERROR_CONTAINED, CUDA 13: errors of the hardware */
    case CUDA_ERROR_OPERATING_SYSTEM:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    case CUDA_ERROR_MPS_CONNECTION_FAILED:
    case CUDA_ERROR_MPS_RPC_FAILURE:
    case CUDA_ERROR_MPS_SERVER_NOT_READY:
    case CUDA_ERROR_MPS_MAX_CLIENTS_REACHED:
    case CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED:
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:          /* perhaps for another client's fault */
    case CUDA_ERROR_EXTERNAL_DEVICE:
    case 916:                                       /* CUDA_ERROR_KEY_ROTATION, CUDA 13 */
        return DEV_FAULT_LOST;
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case 721:                                       /* CUDA_ERROR_TENSOR_MEMORY_LEAK, CUDA 13 */
    case CUDA_ERROR_UNKNOWN:
        return DEV_FAULT_CRASH;
    default:                                        /* refused before anything ran */
        return DEV_FAULT_LAUNCH;
    }
}

void cuda_arch(int major, int minor, char out[24])
{
    snprintf(out, 24, "sm_%d%d%s", major, minor, major >= 9 ? "a" : "");
}

void cuda_version_text(int version, char out[16])
{
    snprintf(out, 16, "%d.%d", version / 1000, version % 1000 / 10);
}
