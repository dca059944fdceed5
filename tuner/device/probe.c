/* probe.c: what `lathe doctor` shows, and whether there is a GPU.
 *
 * Invariant: this process never opens one of CUDA's libraries: each look is in a child of its own, and one that crashes
 * or hangs there is told as that. */
#include "device/probe.h"
#include "base/mem.h"
#include "device/cuda/cuda_dev.h"
#include "device/find_lib.h"
#include "device/forked.h"
#include "device/host/host_child.h"
#include "device/host/host_compile.h"
#include "device/cuda/nvrtc.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_FOUND = 40 };
static const double probe_seconds = 60;             /* a first cuInit on a machine of many GPUs takes a few */

static const char driver_advice[] =
    "Install the NVIDIA driver, 525 or later: Debian 12 'apt install nvidia-driver' with contrib and non-free enabled, "
    "Ubuntu 'ubuntu-drivers install'; in a container, start it with access to the GPU (--gpus all). Without: --device "
    "host";
static const char nvrtc_advice[] =
    "Install NVRTC 12 or 13: 'pip install nvidia-cuda-nvrtc nvidia-cuda-runtime', or NVIDIA's apt packages "
    "cuda-nvrtc-13-0 and cuda-cudart-dev-13-0, or Ubuntu 24.04 'apt install nvidia-cuda-toolkit' (Debian 12's is too "
    "old); or set LATHE_CUDA_PATH to a CUDA toolkit";
static const char cublas_advice[] =
    "Needed for baselines and references on a GPU. Install cuBLAS 12 or 13: 'pip install nvidia-cublas', or NVIDIA's "
    "apt package libcublas-13-0; or set LATHE_CUDA_PATH to a CUDA toolkit";
static const char nvml_advice[] =
    "Comes with the NVIDIA driver (Debian and Ubuntu: package libnvidia-ml1 or libnvidia-compute-*). Without it "
    "clocks, power and throttling are not recorded";
static const char nvcc_advice[] =
    "Only needed to build exported kernels. Install the CUDA toolkit (NVIDIA's apt package cuda-nvcc-13-0), or put its "
    "bin directory in PATH";
static const char compiler_advice[] =
    "Needed for --device host. Debian and Ubuntu: 'apt install g++'; or set CXX to a C++17 compiler";

static void entry(struct probe *p, const char *what, bool found, const char *advice)
{
    memset(p, 0, sizeof *p);
    snprintf(p->what, sizeof p->what, "%s", what);
    p->found = found;
    if (!found)
        snprintf(p->advice, sizeof p->advice, "%s", advice);
}

static void say(struct probe *p, const char *text)
{
    struct strbuf b = {0};                          /* cut between words, and say so */
    sb_add(&b, text);
    if (b.len >= sizeof p->detail) {
        size_t end = sizeof p->detail - 4;
        while (end > 0 && b.s[end] != ' ')
            end--;
        b.s[end] = 0;
        snprintf(p->detail, sizeof p->detail, "%s...", b.s);
    } else {
        snprintf(p->detail, sizeof p->detail, "%s", sb_str(&b));
    }
    sb_free(&b);
}

static void send_entry(int fd, const struct probe *p)
{
    if (write(fd, p, sizeof *p) != (ssize_t)sizeof *p)
        _exit(1);
}

/* --- in children --- */

static void add_others(const struct cuda_api *cu, const struct nvml_api *with, CUdevice device, struct probe *p)
{
    struct nvml *nvml = mem_zalloc(1, sizeof *nvml);
    int pids[OTHERS_MOST];
    char pci[64] = "", who[300];
    bool known = cu->cuDeviceGetPCIBusId(pci, (int)sizeof pci, device) == CUDA_SUCCESS &&
                 nvml_open(nvml, with, pci, NULL, NULL, 0);
    int n = known ? others_find(nvml, pids) : 0;
    nvml_close(nvml);
    mem_free(nvml);
    if (!n)
        return;
    others_say(pids, n, "it", who, sizeof who);
    size_t at = strlen(p->detail);
    snprintf(p->detail + at, sizeof p->detail - at, "; %s", who);
}

void probe_gpu(const struct cuda_api *cu, const struct nvml_api *nvml, int number, struct probe *p)
{
    char what[32], name[128] = "", arch[24];
    int major = 0, minor = 0, sms = 0;
    size_t memory = 0;
    CUdevice device;
    snprintf(what, sizeof what, "GPU %d", number);
    CUresult r = cu->cuDeviceGet(&device, number);
    if (r == CUDA_SUCCESS)
        r = cu->cuDeviceGetName(name, (int)sizeof name, device);
    if (r == CUDA_SUCCESS)
        r = cu->cuDeviceTotalMem(&memory, device);
    if (r == CUDA_SUCCESS)
        r = cu->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    if (r == CUDA_SUCCESS)
        r = cu->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    if (r == CUDA_SUCCESS)
        r = cu->cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
    entry(p, what, r == CUDA_SUCCESS, "Check it with nvidia-smi");
    if (r != CUDA_SUCCESS) {
        cuda_error_text(cu, r, p->detail, sizeof p->detail);
        return;
    }
    cuda_arch(major, minor, arch);
    snprintf(p->detail, sizeof p->detail, "%s, %.1f GiB, compute capability %d.%d (%s), %d multiprocessors: cuda:%d",
             name, (double)memory / (1024.0 * 1024 * 1024), major, minor, arch, sms, number);
    add_others(cu, nvml, device, p);
}

static void probe_driver(void *ctx, int fd)
{
    struct cuda_api *cu = mem_zalloc(1, sizeof *cu);
    struct nvml *nvml = mem_zalloc(1, sizeof *nvml);
    struct probe p;
    struct err e = {0};
    int count = 0, version = 0;
    status s = cuda_api_open(cu, &e);
    if (!s)
        s = cuda_init(cu, &e);
    if (s) {
        entry(&p, "CUDA driver", false, driver_advice);
        say(&p, e.text);
        send_entry(fd, &p);
        return;
    }
    char number[64] = "version unknown", cuda[16];
    nvml_open(nvml, NULL, NULL, NULL, NULL, 0);
    nvml_driver(nvml, number, sizeof number);
    nvml_close(nvml);
    cu->cuDriverGetVersion(&version);
    cuda_version_text(version, cuda);
    entry(&p, "CUDA driver", true, "");
    snprintf(p.detail, sizeof p.detail, "%s, CUDA %s (%.300s)", number, cuda, cu->path);
    send_entry(fd, &p);
    if (cu->cuDeviceGetCount(&count) != CUDA_SUCCESS)
        count = 0;
    for (int i = 0; i < count && i + 1 < MAX_FOUND; i++) {
        probe_gpu(cu, NULL, i, &p);
        send_entry(fd, &p);
    }
}

static void probe_nvrtc(void *ctx, int fd)
{
    struct nvrtc *n = mem_alloc(sizeof *n);
    struct probe p;
    struct err e = {0};
    if (nvrtc_open(n, &e)) {
        entry(&p, "NVRTC", false, nvrtc_advice);
        say(&p, e.text);
    } else {
        char archs[200], text[900];
        nvrtc_archs_text(n, archs, sizeof archs);
        int headers = n->include[0] ? cuda_include_version(n->include) : 0;
        entry(&p, "NVRTC", true, "");
        int at =
            snprintf(text, sizeof text, "%d.%d (%.200s), compiles for sm_ %s; ", n->major, n->minor, n->path, archs);
        if (n->include[0])
            snprintf(text + at, sizeof text - (size_t)at, "headers %d.%d in %.150s", headers / 1000,
                     headers % 1000 / 10, n->include);
        else
            snprintf(text + at, sizeof text - (size_t)at,
                     "no CUDA headers (cuda_bf16.h): kernels that include them will "
                     "not compile");
        say(&p, text);
    }
    send_entry(fd, &p);
}

static void probe_cublas(void *ctx, int fd)
{
    struct cublas_api *api = mem_alloc(sizeof *api);
    struct probe p;
    struct err e = {0};
    if (cublas_api_open(api, &e)) {
        entry(&p, "cuBLAS", false, cublas_advice);
        say(&p, e.text);
    } else {
        char version[32];
        cublas_version(api, version);
        entry(&p, "cuBLAS", true, "");
        snprintf(p.detail, sizeof p.detail, "%s (%.300s)", version, api->path);
    }
    send_entry(fd, &p);
}

static void probe_nvml(void *ctx, int fd)
{
    struct nvml *nvml = mem_zalloc(1, sizeof *nvml);
    struct probe p;
    char why[300] = "";
    bool found = nvml_open(nvml, NULL, NULL, NULL, why, sizeof why);
    entry(&p, "NVML", found, nvml_advice);
    if (found)
        snprintf(p.detail, sizeof p.detail, "%.390s", nvml->api.path);
    else
        say(&p, why);
    send_entry(fd, &p);
}

static void count_gpus(void *ctx, int fd)
{
    struct cuda_api *cu = mem_zalloc(1, sizeof *cu);
    int count = 0;
    if (cuda_api_open(cu, NULL) || cuda_init(cu, NULL) || cu->cuDeviceGetCount(&count) != CUDA_SUCCESS)
        count = 0;
    if (write(fd, &count, sizeof count) != (ssize_t)sizeof count)
        _exit(1);
}

/* --- in this process --- */

static int look(void (*work)(void *ctx, int fd), const char *what, const char *advice, struct probe *out, int max)
{
    char why[200];
    size_t len = 0;
    if (max < 1)
        return 0;
    bool ok = forked(work, NULL, probe_seconds, out, (size_t)max * sizeof *out, &len, why, sizeof why);
    int n = (int)(len / sizeof *out);               /* what it found before it died still counts */
    if ((n > 0 && ok) || n == max)
        return n;
    entry(&out[n], what, false, advice);
    snprintf(out[n].detail, sizeof out[n].detail, "looking for it failed: the child process that looked %s",
             ok ? "said nothing" : why);
    return n + 1;
}

static int probe_compiler(struct probe *out, int max)
{
    char version[200], path[300];
    struct err e = {0};
    if (max < 1)
        return 0;
    bool found = !host_compiler_version(version, (int)sizeof version, &e) &&
                 !host_compiler_path(path, (int)sizeof path, &e);
    entry(out, "host compiler", found, compiler_advice);
    if (found)
        snprintf(out->detail, sizeof out->detail, "%.190s (%.190s)", version, path);
    else
        say(out, e.text);
    return 1;
}

static int probe_nvcc(struct probe *out, int max)
{
    char path[4096], release[64] = "version unknown";
    if (max < 1)
        return 0;
    bool found = find_nvcc(path, sizeof path);
    entry(out, "nvcc", found, nvcc_advice);
    if (!found) {
        say(out, "not in PATH, nor in a CUDA toolkit");
        return 1;
    }
    char *argv[] = {path, "--version", NULL};
    struct strbuf words = {0};
    int code = 0;
    bool runs = !host_child_run(argv, NULL, CHILD_VERSION_SECONDS, &words, &code, NULL) && code == 0;
    const char *at = runs ? strstr(sb_str(&words), "release ") : NULL;
    if (at)
        snprintf(release, sizeof release, "%.*s", (int)strcspn(at + 8, ",\n"), at + 8);
    if (!runs)
        entry(out, "nvcc", false, nvcc_advice);
    snprintf(out->detail, sizeof out->detail, runs ? "%s (%.300s)" : "%s: %.300s does not run", release, path);
    sb_free(&words);
    return 1;
}

int probe_all(struct probe *out, int max)
{
    int n = look(probe_driver, "CUDA driver", driver_advice, out, max);
    n += look(probe_nvrtc, "NVRTC", nvrtc_advice, out + n, max - n);
    n += look(probe_cublas, "cuBLAS", cublas_advice, out + n, max - n);
    n += look(probe_nvml, "NVML", nvml_advice, out + n, max - n);
    n += probe_compiler(out + n, max - n);
    n += probe_nvcc(out + n, max - n);
    return n;
}

int dev_gpus(void)
{
    int count = 0;
    size_t len = 0;
    char why[100];
    bool ok = forked(count_gpus, NULL, probe_seconds, &count, sizeof count, &len, why, sizeof why);
    return ok && len == sizeof count && count > 0 ? count : 0;
}

void dev_default(char out[24])
{
    snprintf(out, 24, "%s", dev_gpus() ? "cuda:0" : "host");
}
