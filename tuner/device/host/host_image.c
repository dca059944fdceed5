/* host_image.c: see host_image.h. An image's static shared memory is its thread-local block (host_shim.h): this
 * thread's instance of it is filled with garbage before each block, as is the dynamic part.
 * Neither opening an image nor a launch leaves the floating-point environment changed: gcc 12 and clang may link a
 * constructor into an image that turns denormals off for all that runs after it, and a kernel may call fesetround. */
#include "device/host/host_image.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "device/host/host_context.h"
#include "device/host/host_shim.h"
#include <dlfcn.h>
#include <fenv.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if HOST_ASAN
#include <sanitizer/asan_interface.h>
#endif

/* What shared memory holds before a block. NaN, -1, no address; in launches that go backwards a number in every float
 * type, 0.75, which a kernel that handles NaN does not notice. */
enum { GARBAGE = 0xff, GARBAGE_NUMBERS = 0x3f, SHARED_ALIGN = 128 };

struct dev_function {
    struct dev_module *module;
    struct dev_function *next;
    lathe_host_call_fn call;
    uint32_t launches;
    char name[];
};

struct dev_module {
    void *handle;
    struct host_block *block;
    struct lathe_host_image image;
    unsigned char *static_shared;   /* NULL if it has none */
    size_t static_bytes;
    struct dev_function *functions;
    char *path;
};

/* --- dynamic shared memory --- */

status host_shared_open(struct host_shared *s, struct err *e)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (HOST_MAX_SHARED + page - 1) / page * page;
    void *map = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || mprotect((char *)map + bytes, page, PROT_NONE))
        return err_set(e, LATHE_NOMEM, "no memory for the shared memory of a block (%d bytes)", HOST_MAX_SHARED);
    *s = (struct host_shared){map, bytes};
    return LATHE_OK;
}

void host_shared_close(struct host_shared *s)
{
    if (!s->map) return;
#if HOST_ASAN
    __asan_unpoison_memory_region(s->map, s->bytes);
#endif
    munmap(s->map, s->bytes + (size_t)sysconf(_SC_PAGESIZE));
    *s = (struct host_shared){0};
}

/* The last `bytes` of it; the rest is out of bounds. */
static unsigned char *shared_part(const struct host_shared *s, uint32_t bytes)
{
    unsigned char *at = s->map + s->bytes - (bytes + SHARED_ALIGN - 1) / SHARED_ALIGN * SHARED_ALIGN;
#if HOST_ASAN
    __asan_poison_memory_region(s->map, s->bytes);
    __asan_unpoison_memory_region(at, bytes);
#endif
    return at;
}

/* --- loading --- */

/* A sanitized image ends a process without the sanitizer as soon as it is opened, so its file is looked at first. */
static status check_sanitizer(const char *path, struct err *e)
{
    if (HOST_ASAN) return LATHE_OK;
    char *data;
    size_t len;
    status s = file_read(path, &data, &len, e);
    if (s) return err_set(e, LATHE_DEVICE, "%s cannot be opened: no such image", path);
    static const char mark[] = "__asan_init";
    bool found = memmem(data, len, mark, sizeof mark - 1) != NULL;
    mem_free(data);
    return found ? err_set(e, LATHE_DEVICE, "%s is built with the address sanitizer and this program is not: compile "
                           "it without, or build lathe with SAN=-fsanitize=address,undefined", path)
                 : LATHE_OK;
}

struct tls_search {
    ElfW(Addr) base;
    struct dev_module *module;
};

static int find_tls(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct tls_search *search = arg;
    if (info->dlpi_addr != search->base) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS) search->module->static_bytes = info->dlpi_phdr[i].p_memsz;
    return 1;
}

static status find_static_shared(struct dev_module *m, struct err *e)
{
    struct link_map *map = NULL;
    void *tls = NULL;
    if (dlinfo(m->handle, RTLD_DI_LINKMAP, &map) || dlinfo(m->handle, RTLD_DI_TLS_DATA, &tls))
        return err_set(e, LATHE_DEVICE, "%s: %s", m->path, dlerror());
    struct tls_search search = {map->l_addr, m};
    dl_iterate_phdr(find_tls, &search);
    m->static_shared = tls;
    if (!tls) m->static_bytes = 0;
    return LATHE_OK;
}

static status bind_image(struct dev_module *m, struct err *e)
{
    lathe_host_bind_fn bind;
    *(void **)&bind = dlsym(m->handle, LATHE_HOST_BIND);
    if (!bind)
        return err_set(e, LATHE_DEVICE, "%s is not an image that lathe compiled for the host device", m->path);
    struct lathe_host_runtime runtime = {LATHE_HOST_ABI, m->block, host_block_wait, host_block_active};
    bind(&runtime, &m->image);
    if (m->image.abi != LATHE_HOST_ABI)
        return err_set(e, LATHE_DEVICE, "%s was compiled by another version of lathe (%u, this one needs %d): delete "
                       "it", m->path, m->image.abi, LATHE_HOST_ABI);
    return find_static_shared(m, e);
}

status host_image_open(const char *path, struct host_block *block, struct dev_module **out, struct err *e)
{
    status s = check_sanitizer(path, e);
    if (s) return s;
    struct dev_module *m = mem_zalloc(1, sizeof *m);
    m->block = block;
    m->path = strchr(path, '/') ? mem_strdup(path) : mem_printf("./%s", path);
    fenv_t before;
    fegetenv(&before);
    m->handle = dlopen(m->path, RTLD_NOW | RTLD_LOCAL);
    fesetenv(&before);
    if (!m->handle) s = err_set(e, LATHE_DEVICE, "%s cannot be opened: %s", path, dlerror());
    if (!s) s = bind_image(m, e);
    if (s) {
        host_image_close(m);
        return s;
    }
    *out = m;
    return LATHE_OK;
}

void host_image_close(struct dev_module *m)
{
    if (!m) return;
    for (struct dev_function *f = m->functions, *next; f; f = next) {
        next = f->next;
        mem_free(f);
    }
    if (m->handle) dlclose(m->handle);
    mem_free(m->path);
    mem_free(m);
}

status host_image_function(struct dev_module *m, const char *name, struct dev_function **out, struct err *e)
{
    for (struct dev_function *f = m->functions; f; f = f->next)
        if (!strcmp(f->name, name)) {
            *out = f;
            return LATHE_OK;
        }
    char *symbol = mem_printf(LATHE_HOST_CALL "%s", name);
    void *call = dlsym(m->handle, symbol);
    mem_free(symbol);
    if (!call)
        return err_set(e, LATHE_DEVICE, "the image has no kernel '%s': named symbol not found; a kernel is defined as "
                       "extern \"C\" __global__ void %s(...), outside of namespaces", name, name);
    struct dev_function *f = mem_zalloc(1, sizeof *f + strlen(name) + 1);
    f->module = m;
    *(void **)&f->call = call;
    memcpy(f->name, name, strlen(name) + 1);
    f->next = m->functions;
    m->functions = f;
    *out = f;
    return LATHE_OK;
}

/* --- launching --- */

struct call {
    lathe_host_call_fn function;
    void **args;
};

static void call_kernel(void *arg)
{
    const struct call *c = arg;
    c->function(c->args);
}

static status launch_block(struct dev_function *f, const struct host_threads *threads, const uint32_t index[3],
                           uint32_t bytes, struct err *e)
{
    struct dev_module *m = f->module;
    memcpy(m->image.block_idx, index, 3 * sizeof *index);
    const int garbage = threads->backwards ? GARBAGE_NUMBERS : GARBAGE;
    if (bytes) memset(*m->image.shared, garbage, bytes);
    if (m->static_bytes) memset(m->static_shared, garbage, m->static_bytes);
    status s = host_block_run(m->block, threads, e);
    return s ? err_prefix(e, "kernel %s, block (%u,%u,%u)", f->name, index[0], index[1], index[2]) : LATHE_OK;
}

status host_image_launch(struct dev_function *f, const struct host_shared *shared, const uint32_t grid[3],
                         const uint32_t block[3], uint32_t bytes, void **args, struct err *e)
{
    const struct lathe_host_image *image = &f->module->image;
    struct call call = {f->call, args};
    struct host_threads threads = {block, image->thread_idx, call_kernel, &call, f->launches++ % 2 != 0};
    memcpy(image->grid_dim, grid, 3 * sizeof *grid);
    memcpy(image->block_dim, block, 3 * sizeof *block);
    *image->shared = shared_part(shared, bytes);
    const uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2];
    status s = LATHE_OK;
    fenv_t before;
    fegetenv(&before);
    for (uint64_t n = 0; !s && n < blocks; n++) {
        const uint64_t b = threads.backwards ? blocks - 1 - n : n;
        const uint32_t at[3] = {(uint32_t)(b % grid[0]), (uint32_t)(b / grid[0] % grid[1]),
                                (uint32_t)(b / grid[0] / grid[1])};
        s = launch_block(f, &threads, at, bytes, e);
    }
    fesetenv(&before);
    return s;
}
