/* nvml.c: see nvml.h. Invariant: device is NULL unless open. */
#include "device/nvml.h"
#include "device/find_lib.h"

#include <math.h>
#include <stdio.h>

static const struct lib_symbol symbols[] = {
#define X(symbol, args, optional) {#symbol, offsetof(struct nvml_api, symbol), optional},
    NVML_FUNCTIONS(X)
#undef X
};

static bool load(struct nvml_api *api, char *why, size_t size)
{
    static const char *const names[] = {"libnvidia-ml.so.1", NULL};
    const struct lib_query query = {.names = names, .driver = true};
    struct lib lib;
    if (!find_lib(&query, &lib, NULL)) {
        snprintf(why, size, "libnvidia-ml.so.1 could not be opened");
        return false;
    }
    const char *missing = lib_bind(lib.handle, symbols, sizeof symbols / sizeof *symbols, api);
    if (missing) {
        snprintf(why, size, "%.200s has no %s", lib.path, missing);
        return false;
    }
    snprintf(api->path, sizeof api->path, "%s", lib.path);
    return true;
}

bool nvml_open(struct nvml *n, const struct nvml_api *with, const char *pci, const char *uuid, char *why, size_t size)
{
    char unread[1];
    if (!why) {
        why = unread;
        size = sizeof unread;
    }
    n->device = NULL;
    n->open = false;
    if (with)
        n->api = *with;
    else if (!load(&n->api, why, size))
        return false;
    nvmlReturn_t r = n->api.nvmlInit_v2();
    if (r) {
        snprintf(why, size, "nvmlInit_v2 failed with %d", r);
        return false;
    }
    n->open = true;
    if ((!pci || n->api.nvmlDeviceGetHandleByPciBusId_v2(pci, &n->device)) &&
        (!uuid || n->api.nvmlDeviceGetHandleByUUID(uuid, &n->device)))
        n->device = NULL;
    return true;
}

void nvml_close(struct nvml *n)
{
    if (n->open)
        n->api.nvmlShutdown();
    n->open = false;
    n->device = NULL;
}

bool nvml_driver(const struct nvml *n, char *out, size_t size)
{
    return n->open && !n->api.nvmlSystemGetDriverVersion(out, (unsigned int)size);
}

static double clock_mhz(const struct nvml *n, unsigned int type)
{
    unsigned int mhz = 0;
    return n->device && !n->api.nvmlDeviceGetClockInfo(n->device, type, &mhz) ? mhz : NAN;
}

void nvml_read(const struct nvml *n, struct telemetry *out)
{
    *out = (struct telemetry){.sm_mhz = clock_mhz(n, NVML_CLOCK_SM), .mem_mhz = clock_mhz(n, NVML_CLOCK_MEM),
                              .power_w = NAN, .temperature_c = NAN};
    out->sm_mhz_low = out->sm_mhz;
    if (!n->device)
        return;
    unsigned int value = 0;
    unsigned long long reasons = 0;
    if (!n->api.nvmlDeviceGetPowerUsage(n->device, &value))
        out->power_w = value / 1000.0;
    if (n->api.nvmlDeviceGetTemperature &&
        !n->api.nvmlDeviceGetTemperature(n->device, NVML_TEMPERATURE_GPU, &value))
        out->temperature_c = value;
    if (nvml_reasons(n, &reasons)) {
        out->throttle_reasons = reasons;
        out->throttle_known = true;
    }
}

bool nvml_reasons(const struct nvml *n, unsigned long long *out)
{
    if (!n->device)
        return false;
    if (n->api.nvmlDeviceGetCurrentClocksEventReasons)              /* the newer name of the next */
        return !n->api.nvmlDeviceGetCurrentClocksEventReasons(n->device, out);
    return n->api.nvmlDeviceGetCurrentClocksThrottleReasons &&
           !n->api.nvmlDeviceGetCurrentClocksThrottleReasons(n->device, out);
}

double nvml_energy_mj(const struct nvml *n)
{
    unsigned long long mj = 0;
    bool known = n->device && n->api.nvmlDeviceGetTotalEnergyConsumption &&
                 !n->api.nvmlDeviceGetTotalEnergyConsumption(n->device, &mj);
    return known ? (double)mj : NAN;
}

int nvml_processes(const struct nvml *n, int *pids, int max)
{
    enum { MOST = 256 };                            /* more are refused, and then not told */
    nvmlProcessInfo_t list[MOST];
    unsigned int count = MOST;
    int filled = 0;
    if (!n->device || !n->api.nvmlDeviceGetComputeRunningProcesses_v3 ||
        n->api.nvmlDeviceGetComputeRunningProcesses_v3(n->device, &count, list))
        return 0;
    for (unsigned int i = 0; i < count && i < MOST && filled < max; i++)
        if (list[i].pid > 0)                        /* 0: of a container that this one does not see */
            pids[filled++] = (int)list[i].pid;
    return filled;
}

double nvml_sm_mhz(const struct nvml *n)
{
    return clock_mhz(n, NVML_CLOCK_SM);
}

static double max_mhz(const struct nvml *n, unsigned int type)
{
    unsigned int mhz = 0;
    return n->device && !n->api.nvmlDeviceGetMaxClockInfo(n->device, type, &mhz) ? mhz : 0;
}

double nvml_max_sm_mhz(const struct nvml *n)
{
    return max_mhz(n, NVML_CLOCK_SM);
}

double nvml_max_mem_mhz(const struct nvml *n)
{
    return max_mhz(n, NVML_CLOCK_MEM);
}

double nvml_bus_bits(const struct nvml *n)
{
    unsigned int bits = 0;
    bool known = n->device && n->api.nvmlDeviceGetMemoryBusWidth &&
                 !n->api.nvmlDeviceGetMemoryBusWidth(n->device, &bits);
    return known ? bits : 0;
}
