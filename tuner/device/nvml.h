/* nvml.h: the GPU's clocks, power, temperature and throttle reasons by libnvidia-ml.so.1. Reads only: nothing is ever
 * set. It comes with the driver; where it is missing, everything here is "not known" and nothing fails.
 *
 * A struct nvml is the caller's; nvml_open and nvml_close pair, also when nothing was found.
 */
#ifndef LATHE_DEVICE_NVML_H
#define LATHE_DEVICE_NVML_H

#include "model/result.h"
#include <stdbool.h>
#include <stddef.h>

typedef int nvmlReturn_t;                           /* NVML_SUCCESS is 0 */
typedef struct nvmlDevice_st *nvmlDevice_t;         /* newer headers wrap the pointer in a struct: the same to call */
enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2 };     /* nvmlClockType_t */
enum { NVML_TEMPERATURE_GPU = 0 };                  /* nvmlTemperatureSensors_t */

typedef struct {
    unsigned int pid;
    unsigned long long usedGpuMemory;
    unsigned int gpuInstanceId, computeInstanceId;
} nvmlProcessInfo_t;                                /* of the second version on */

/* symbol, parameters, whether a driver may lack it */
#define NVML_FUNCTIONS(X)                                                                                              \
    X(nvmlInit_v2, (void), false)                                                                                      \
    X(nvmlShutdown, (void), false)                                                                                     \
    X(nvmlSystemGetDriverVersion, (char *text, unsigned int size), false)                                              \
    X(nvmlDeviceGetHandleByPciBusId_v2, (const char *id, nvmlDevice_t *device), false)                                 \
    X(nvmlDeviceGetHandleByUUID, (const char *uuid, nvmlDevice_t *device), false)                                      \
    X(nvmlDeviceGetClockInfo, (nvmlDevice_t device, unsigned int type, unsigned int *mhz), false)                      \
    X(nvmlDeviceGetMaxClockInfo, (nvmlDevice_t device, unsigned int type, unsigned int *mhz), false)                   \
    X(nvmlDeviceGetPowerUsage, (nvmlDevice_t device, unsigned int *milliwatts), false)                                 \
    X(nvmlDeviceGetTemperature, (nvmlDevice_t device, unsigned int sensor, unsigned int *celsius), true)               \
    X(nvmlDeviceGetTotalEnergyConsumption, (nvmlDevice_t device, unsigned long long *millijoules), true)               \
    X(nvmlDeviceGetMemoryBusWidth, (nvmlDevice_t device, unsigned int *bits), true)                                    \
    X(nvmlDeviceGetComputeRunningProcesses_v3, (nvmlDevice_t device, unsigned int *n, nvmlProcessInfo_t *list), true)  \
    X(nvmlDeviceGetCurrentClocksEventReasons, (nvmlDevice_t device, unsigned long long *reasons), true)                \
    X(nvmlDeviceGetCurrentClocksThrottleReasons, (nvmlDevice_t device, unsigned long long *reasons), true)

struct nvml_api {
#define X(symbol, args, optional) nvmlReturn_t(*symbol) args;
    NVML_FUNCTIONS(X)
#undef X
    char path[4096];
};

struct nvml {
    struct nvml_api api;
    nvmlDevice_t device;                            /* NULL: no telemetry */
    bool open;                                      /* nvmlInit_v2 succeeded */
};

/* `with` is a table to use instead of the library (tests), or NULL. The device is found by its PCI bus ID, else by its
 * UUID; both may be NULL: then only nvml_driver can answer. Returns n->open; why may be NULL. */
bool nvml_open(struct nvml *n, const struct nvml_api *with, const char *pci, const char *uuid, char *why, size_t size);
void nvml_close(struct nvml *n);

bool nvml_driver(const struct nvml *n, char *out, size_t size);             /* "580.159.04" */
void nvml_read(const struct nvml *n, struct telemetry *out);                /* NaN where not known */
double nvml_sm_mhz(const struct nvml *n);                                   /* now; NaN where not known */
/* Why the clock is what it is, as bits; false: not known. */
bool nvml_reasons(const struct nvml *n, unsigned long long *out);
/* Energy that the GPU took since the driver was loaded, millijoules; NaN: not known (before Volta). The counter moves
 * in steps, some tens of milliseconds apart. */
double nvml_energy_mj(const struct nvml *n);
/* The processes that have a context on the device: their numbers, at most max of them. Gives how many were filled in; 0
 * also where that is not known. */
int nvml_processes(const struct nvml *n, int *pids, int max);
double nvml_max_sm_mhz(const struct nvml *n);                               /* 0 where not known, as the next two */
double nvml_max_mem_mhz(const struct nvml *n);
double nvml_bus_bits(const struct nvml *n);

#endif
