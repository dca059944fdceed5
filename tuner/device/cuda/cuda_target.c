/* cuda_target.c: what a CUDA device is, as a struct target. Limits come from the driver; clocks too, or from NVML where
 * the driver no longer tells them. */
#include "device/cuda/cuda_calls.h"
#include "device/cuda/cuda_dev.h"
#include "model/ceiling.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void cuda_uuid_text(const CUuuid *uuid, char out[64])
{
    int at = snprintf(out, 64, "GPU-");
    for (int i = 0; i < 16; i++)
        at += snprintf(out + at, (size_t)(64 - at), "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                       (unsigned char)uuid->bytes[i]);
}

static status limits(struct dev *d, struct target *t, int *major, int *minor, struct err *e)
{
    CUdevice_attribute asked = 0;
    CUresult r = cuda_limits(d->cu.cuDeviceGetAttribute, d->device, t->limit, major, minor, &asked);
    return cuda_check(d, r, e, "asking cuda:%d for its attribute %d", d->number, (int)asked);
}

/* An attribute that a driver may lack: 0 then. */
static double optional(struct dev *d, CUdevice_attribute attribute)
{
    int value = 0;
    return d->cu.cuDeviceGetAttribute(&value, attribute, d->device) == CUDA_SUCCESS ? value : 0;
}

static void peaks(struct dev *d, struct target *t)
{
    int flops = unit_flops_per_clock((int)t->limit[LIMIT_sm], t->name, UNIT_f32);
    double sm_khz = optional(d, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    if (sm_khz <= 0)
        sm_khz = nvml_max_sm_mhz(&d->nvml) * 1e3;
    double mem_khz = optional(d, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
    if (mem_khz <= 0)
        mem_khz = nvml_max_mem_mhz(&d->nvml) * 1e3;
    double bits = optional(d, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    if (bits <= 0)
        bits = nvml_bus_bits(&d->nvml);
    t->peak_tflops_f32 = (double)t->limit[LIMIT_sm_count] * flops * sm_khz * 1e3 / 1e12;
    t->peak_gbps = mem_khz * 1e3 * 2 * bits / 8 / 1e9;  /* two transfers a clock */
}

/* "name, CPU": the CPU matters to what a launch costs. */
static void host_text(char *out, size_t size)
{
    char name[48] = "", line[256], cpu[76] = "";
    if (gethostname(name, sizeof name - 1))
        name[0] = 0;
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && !cpu[0] && fgets(line, sizeof line, f))
        if (!strncmp(line, "model name", 10) && strchr(line, ':'))
            snprintf(cpu, sizeof cpu, "%.75s", strchr(line, ':') + 2);
    if (f)
        fclose(f);
    cpu[strcspn(cpu, "\n")] = 0;
    snprintf(out, size, "%s%s%s", name, cpu[0] ? ", " : "", cpu);
    for (char *c = out; *c; c++)                    /* it becomes JSON: keep to ASCII */
        if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
            *c = '?';
}

status cuda_describe(struct dev *d, struct target *t, struct err *e)
{
    int major = 0, minor = 0;
    size_t memory = 0;
    CUuuid uuid;
    *t = (struct target){0};
    snprintf(t->device, sizeof t->device, "cuda:%d", d->number);
    status s = cuda_check(d, d->cu.cuDeviceGetName(t->name, (int)sizeof t->name, d->device), e,
                          "asking cuda:%d for its name", d->number);
    if (!s)
        s = cuda_check(d, d->cu.cuDeviceGetUuid(&uuid, d->device), e, "asking cuda:%d for its UUID", d->number);
    if (!s)
        s = cuda_check(d, d->cu.cuDeviceTotalMem(&memory, d->device), e, "asking cuda:%d for its memory", d->number);
    if (!s)
        s = limits(d, t, &major, &minor, e);
    if (s)
        return s;
    cuda_uuid_text(&uuid, t->uuid);
    cuda_arch(major, minor, t->arch);
    t->limit[LIMIT_memory_bytes] = (int64_t)memory;
    if (!nvml_driver(&d->nvml, t->driver, sizeof t->driver)) {
        char version[16];
        cuda_version_text(d->driver_version, version);
        snprintf(t->driver, sizeof t->driver, "CUDA %s", version);
    }
    d->max_window = (int64_t)optional(d, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
    d->max_persisting = (int64_t)optional(d, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
    peaks(d, t);
    host_text(t->host, sizeof t->host);
    return LATHE_OK;
}
