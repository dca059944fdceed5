/* nvrtc.c: the NVRTC compiler.
 *
 * Options are the same for every kernel, and what they are is in nvrtc_toolchain, so that they are part of a cubin's
 * identity: change OPTIONS or add one, and the text changes with it. No debug information, no fast-math: a kernel that
 * wants approximate functions calls them by name. NVRTC's own cache is off where it has one: lathe keeps a cache of
 * cubins, and the compile worker must not load the CUDA driver, which that cache lives in.
 */
#include "device/cuda/nvrtc.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "device/find_lib.h"

#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_LIMIT = 16 * 1024 };

static const char *const OPTIONS[] = {"-std=c++17"};
enum { NOPTIONS = sizeof OPTIONS / sizeof *OPTIONS };

static const struct lib_symbol symbols[] = {
#define X(symbol, args) {#symbol, offsetof(struct nvrtc, symbol), false},
    NVRTC_FUNCTIONS(X)
#undef X
};

#define INSTALL                                                                                                        \
    "Install NVRTC of CUDA 12 or 13 (NVIDIA's package cuda-nvrtc-13-0, or pip install nvidia-cuda-nvrtc "              \
    "nvidia-cuda-runtime), or set LATHE_CUDA_PATH to a CUDA toolkit"

/* --- the library --- */

/* NVRTC opens its builtins by name alone when it compiles; loading them here first, from beside it, makes that work
 * wherever it was found, and tells plainly if they are missing. */
static status open_builtins(const struct nvrtc *n, struct err *e)
{
    char name[64], real[PATH_MAX];
    const char *beside[] = {n->path, realpath(n->path, real) ? real : n->path};
    snprintf(name, sizeof name, "libnvrtc-builtins.so.%d.%d", n->major, n->minor);
    for (int i = 0; i < 2; i++) {
        char *dir = path_dirname(beside[i]), *file = path_join(dir, name);
        bool opened = file_exists(file) && dlopen(file, RTLD_NOW | RTLD_LOCAL);
        mem_free(dir);
        mem_free(file);
        if (opened)
            return LATHE_OK;
    }
    if (dlopen(name, RTLD_NOW | RTLD_LOCAL))
        return LATHE_OK;
    const char *why = dlerror();
    return err_set(e, LATHE_COMPILER, "NVRTC %d.%d (%s) needs %s, which is not beside it (%s). Its installation is not "
                   "whole. " INSTALL, n->major, n->minor, n->path, name, why ? why : "not found");
}

static status load(struct nvrtc *n, struct err *e)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", NULL};
    static const char *const old[] = {"libnvrtc.so.11.2", "libnvrtc.so.11.1", "libnvrtc.so.11.0", NULL};
    const struct lib_query query = {.names = names, .too_old = old};
    struct lib lib;
    struct strbuf tried = {0};
    if (!find_lib(&query, &lib, &tried)) {
        err_set(e, LATHE_COMPILER, "no NVRTC, the CUDA compiler:%s. " INSTALL ", or use --device host", sb_str(&tried));
        sb_free(&tried);
        return LATHE_COMPILER;
    }
    sb_free(&tried);
    const char *missing = lib_bind(lib.handle, symbols, sizeof symbols / sizeof *symbols, n);
    if (missing)
        return err_set(e, LATHE_COMPILER, "%s has no %s: it is no NVRTC of CUDA 12 or 13. " INSTALL, lib.path, missing);
    snprintf(n->path, sizeof n->path, "%s", lib.path);
    lib_build_id(&lib, n->build);
    if (n->nvrtcVersion(&n->major, &n->minor))
        return err_set(e, LATHE_COMPILER, "%s does not tell its version. " INSTALL, lib.path);
    return LATHE_OK;
}

status nvrtc_open(struct nvrtc *n, struct err *e)
{
    memset(n, 0, sizeof *n);
    status s = load(n, e);
    if (!s)
        s = open_builtins(n, e);
    if (s)
        return s;
    if (!find_cuda_include(n->path, n->include, sizeof n->include))
        n->include[0] = 0;
    return LATHE_OK;
}

/* The supported architectures' numbers; *count entries, mem_free. NULL if NVRTC does not tell. */
static int *archs(const struct nvrtc *n, int *count)
{
    *count = 0;
    int known = 0;
    if (n->nvrtcGetNumSupportedArchs(&known) || known < 1)
        return NULL;
    int *list = mem_zalloc((size_t)known, sizeof *list);
    if (n->nvrtcGetSupportedArchs(list)) {
        mem_free(list);
        return NULL;
    }
    *count = known;
    return list;
}

void nvrtc_archs_text(const struct nvrtc *n, char *out, size_t size)
{
    int count;
    int *list = archs(n, &count);
    size_t at = 0;
    out[0] = 0;
    for (int i = 0; i < count && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%d", i ? " " : "", list[i]);
    mem_free(list);
}

int nvrtc_version(void)
{
    struct nvrtc *n = mem_alloc(sizeof *n);
    int version = nvrtc_open(n, NULL) ? 0 : n->major * 1000 + n->minor * 10;
    mem_free(n);
    return version;
}

/* --- options --- */

static status unknown_arch(const struct nvrtc *n, const char *arch, struct err *e)
{
    char list[400];
    nvrtc_archs_text(n, list, sizeof list);
    return err_set(
        e, LATHE_COMPILER,
        "NVRTC %d.%d (%s) cannot compile for '%s': expected sm_N (compute_N: PTX), N one of %s; "
        "from 90 on also with the suffix a (sm_90a). For another GPU, set LATHE_CUDA_PATH to a newer CUDA toolkit",
        n->major, n->minor, n->path, arch, list);
}

/* PTX is asked for. */
static bool is_virtual(const char *arch)
{
    return !strncmp(arch, "compute_", 8);
}

/* sm_N, sm_Na, sm_Nf, or compute_ for sm_, N in NVRTC's list. Whether it knows the suffix, NVRTC says itself. */
static status check_arch(const struct nvrtc *n, const char *arch, struct err *e)
{
    char *end = NULL;
    long number = 0;
    const char *digits = is_virtual(arch) ? arch + strlen("compute_") : !strncmp(arch, "sm_", 3) ? arch + 3 : "";
    if (isdigit((unsigned char)*digits))
        number = strtol(digits, &end, 10);
    if (!end || (*end && strcmp(end, "a") && strcmp(end, "f")) || (*end && number < 90))
        return unknown_arch(n, arch, e);
    int count;
    int *list = archs(n, &count);
    bool known = count == 0;
    for (int i = 0; i < count; i++)
        known = known || list[i] == number;
    mem_free(list);
    return known ? LATHE_OK : unknown_arch(n, arch, e);
}

struct options {
    char **v;
    int n, cap;
};

static void add_option(struct options *o, char *owned)
{
    MEM_GROW(o->v, o->n, o->cap);
    o->v[o->n++] = owned;
}

static bool has_own_cache(const struct nvrtc *n)
{
    return n->major > 12 || (n->major == 12 && n->minor >= 9);
}

static void build_options(struct options *o, const struct nvrtc *n, const struct jit_request *r)
{
    add_option(o, mem_printf("--gpu-architecture=%s", r->arch));
    for (int i = 0; i < NOPTIONS; i++)
        add_option(o, mem_strdup(OPTIONS[i]));
    if (has_own_cache(n))
        add_option(o, mem_strdup("--no-cache"));
    if (n->include[0]) {
        add_option(o, mem_printf("--include-path=%s", n->include));
        add_option(o, mem_printf("--include-path=%s/cccl", n->include));    /* <cuda/...> since CUDA 13 */
    }
    for (int i = 0; i < r->ndefines; i++)
        add_option(o, mem_printf("--define-macro=%s", r->defines[i]));
}

static void free_options(struct options *o)
{
    for (int i = 0; i < o->n; i++)
        mem_free(o->v[i]);
    mem_free(o->v);
}

/* --- compiling --- */

/* The program's log, at most LOG_LIMIT bytes of it, cut between characters; NULL if empty. */
static char *take_log(const struct nvrtc *n, nvrtcProgram program)
{
    size_t size = 0;
    if (n->nvrtcGetProgramLogSize(program, &size) || size < 2)
        return NULL;
    char *log = mem_zalloc(size + 1, 1);
    if (n->nvrtcGetProgramLog(program, log)) {
        mem_free(log);
        return NULL;
    }
    size_t length = strlen(log), keep = LOG_LIMIT - 64;
    if (length > LOG_LIMIT) {
        while (keep > 0 && ((unsigned char)log[keep] & 0xC0) == 0x80)
            keep--;
        char *cut = mem_printf("%.*s\n... (%zu more bytes)\n", (int)keep, log, length - keep);
        mem_free(log);
        return cut;
    }
    if (length)
        return log;
    mem_free(log);
    return NULL;
}

static status write_image(const struct nvrtc *n, nvrtcProgram program, const struct jit_request *request, struct err *e)
{
    bool ptx = is_virtual(request->arch);
    const char *what = ptx ? "PTX" : "cubin";
    size_t size = 0;
    nvrtcResult r = ptx ? n->nvrtcGetPTXSize(program, &size) : n->nvrtcGetCUBINSize(program, &size);
    if (r || size == 0)
        return err_set(e, LATHE_COMPILER, "NVRTC %d.%d compiled but gave no %s (result %d, %zu bytes)", n->major,
                       n->minor, what, (int)r, size);
    char *image = mem_alloc(size);
    r = ptx ? n->nvrtcGetPTX(program, image) : n->nvrtcGetCUBIN(program, image);
    status s = r ? err_set(e, LATHE_COMPILER, "NVRTC %d.%d compiled but did not hand out its %s (result %d)",
                           n->major, n->minor, what, (int)r)
                 : file_write_atomic(request->image_path, image, size, e);
    mem_free(image);
    return s;
}

/* A failure that is not the source's. */
static status compiler_failed(const struct nvrtc *n, const struct jit_request *r, nvrtcResult result, const char *log,
                              struct err *e)
{
    switch (result) {
    case NVRTC_ERROR_BUILTIN_OPERATION_FAILURE:
        return err_set(e, LATHE_COMPILER, "NVRTC %d.%d (%s) cannot use its builtins library: %.600s. " INSTALL,
                       n->major, n->minor, n->path, log ? log : "no log");
    case NVRTC_ERROR_OUT_OF_MEMORY:
        return err_set(e, LATHE_COMPILER, "NVRTC %d.%d ran out of memory compiling %s", n->major, n->minor, r->name);
    default:
        return err_set(e, LATHE_COMPILER, "NVRTC %d.%d (%s) did not compile %s (result %d): %.900s", n->major, n->minor,
                       n->path, r->name, (int)result, log ? log : "no log");
    }
}

static status compile(const struct nvrtc *n, const struct jit_request *r, struct jit_outcome *out, struct err *e)
{
    nvrtcProgram program = NULL;
    nvrtcResult result = n->nvrtcCreateProgram(&program, r->source, r->name, 0, NULL, NULL);
    if (result)
        return compiler_failed(n, r, result, NULL, e);
    struct options o = {0};
    build_options(&o, n, r);
    result = n->nvrtcCompileProgram(program, o.n, (const char *const *)o.v);
    free_options(&o);
    out->log = take_log(n, program);
    status s = LATHE_OK;
    if (result == NVRTC_SUCCESS) {
        s = write_image(n, program, r, e);
        out->ok = !s;
    } else if (result == NVRTC_ERROR_COMPILATION && out->log && !strncmp(out->log, "Command-line error", 18)) {
        s = unknown_arch(n, r->arch, e);            /* how NVRTC refuses a suffix that it does not know */
    } else if (result == NVRTC_ERROR_INTERNAL_ERROR) {
        if (!out->log)                              /* this source crashed the compiler; another may not */
            out->log = mem_strdup("NVRTC failed with an internal error");
    } else if (result != NVRTC_ERROR_COMPILATION) {
        s = compiler_failed(n, r, result, out->log, e);
    }
    n->nvrtcDestroyProgram(&program);
    if (s) {
        mem_free(out->log);
        out->log = NULL;
    }
    return s;
}

status nvrtc_compile(const struct jit_request *r, struct jit_outcome *out, struct err *e)
{
    *out = (struct jit_outcome){0};
    struct nvrtc *n = mem_alloc(sizeof *n);
    status s = nvrtc_open(n, e);
    if (!s)
        s = check_arch(n, r->arch, e);
    if (!s)
        s = compile(n, r, out, e);
    mem_free(n);
    return s;
}

status nvrtc_toolchain(char *out, int size, struct err *e)
{
    struct nvrtc *n = mem_alloc(sizeof *n);
    status s = nvrtc_open(n, e);
    if (!s) {
        struct strbuf b = {0};
        sb_addf(&b, "NVRTC %d.%d", n->major, n->minor);
        if (n->build[0])
            sb_addf(&b, " (%s)", n->build);
        int headers = n->include[0] ? cuda_include_version(n->include) : 0;
        if (headers)
            sb_addf(&b, " headers %d.%d", headers / 1000, headers % 1000 / 10);
        for (int i = 0; i < NOPTIONS; i++)
            sb_addf(&b, " %s", OPTIONS[i]);
        const char *append = getenv("NVRTC_APPEND_FLAGS");
        if (append && *append)
            sb_addf(&b, " append %s", append);
        snprintf(out, (size_t)size, "%s", sb_str(&b));
        sb_free(&b);
    }
    mem_free(n);
    return s;
}
