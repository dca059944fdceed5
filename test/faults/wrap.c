/* wrap.c: the program's calls of the system, of SQLite and of a device, of which the Nth fails. Linked into
 * build/lathe-faults alone (`make faults`, ld's --wrap): nothing of it is in the program. The static libraries' calls
 * of malloc and of files are wrapped too.
 *
 * LATHE_FAULT=KIND:N:PROCESS, where KIND is alloc, file, sqlite, spawn or device and PROCESS is coordinator, compile or
 * device: the Nth call of that kind in such a process fails. LATHE_FAULT_MARK=FILE: it is made when that happens, and
 * where it is there nothing fails any more, so that a campaign meets one fault and not one in each worker. */
#include "device/dev.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uv.h>

enum kind { ALLOC, FILES, SQLITE, SPAWN, DEVICE, KINDS };
static const char *const names[KINDS] = {"alloc", "file", "sqlite", "spawn", "device"};

static struct {
    atomic_int ready;               /* 0: not looked; 1: looking; 2: looked */
    int kind;                       /* -1: nothing fails here */
    atomic_long left;
} plan;

/* "compile" or "device" of `lathe worker ...`, else "coordinator"; without allocating. */
static const char *process(char *text, size_t size)
{
    long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY);
    long n = fd < 0 ? 0 : syscall(SYS_read, fd, text, size - 2);
    if (fd >= 0)
        syscall(SYS_close, fd);
    if (n < 0)
        n = 0;
    text[n] = text[n + 1] = 0;
    const char *second = text + strlen(text) + 1;
    return second < text + n && !strcmp(second, "worker") ? second + strlen(second) + 1 : "coordinator";
}

static void look(void)
{
    int expected = 0;
    if (!atomic_compare_exchange_strong(&plan.ready, &expected, 1))
        return;
    const char *fault = getenv("LATHE_FAULT"), *mark = getenv("LATHE_FAULT_MARK");
    char text[4096];
    plan.kind = -1;
    if (fault && (!mark || syscall(SYS_faccessat, AT_FDCWD, mark, F_OK))) {
        size_t n = strcspn(fault, ":");
        for (int k = 0; k < KINDS; k++)
            if (strlen(names[k]) == n && !memcmp(names[k], fault, n))
                plan.kind = k;
        char *end;
        long count = strtol(fault + n + (fault[n] == ':'), &end, 10);
        atomic_store(&plan.left, count);
        if (*end == ':' && strcmp(end + 1, process(text, sizeof text)))
            plan.kind = -1;
    }
    atomic_store(&plan.ready, 2);
}

/* Whether this call is the one that fails. */
static bool fails(enum kind kind)
{
    if (atomic_load(&plan.ready) != 2)
        look();
    if (plan.kind != (int)kind || atomic_load(&plan.left) <= 0 || atomic_fetch_sub(&plan.left, 1) != 1)
        return false;
    const char *mark = getenv("LATHE_FAULT_MARK");
    long fd = mark ? syscall(SYS_openat, AT_FDCWD, mark, O_CREAT | O_WRONLY, 0600) : -1;
    if (fd >= 0)
        syscall(SYS_close, fd);
    return true;
}

#define WRAP(result, name, params, args, kind, code, bad)                                                              \
    result __real_##name params;                                                                                       \
    result __wrap_##name params;                                                                                       \
    result __wrap_##name params                                                                                        \
    {                                                                                                                  \
        if (fails(kind)) {                                                                                             \
            errno = code;                                                                                              \
            return bad;                                                                                                \
        }                                                                                                              \
        return __real_##name args;                                                                                     \
    }

WRAP(void *, malloc, (size_t n), (n), ALLOC, ENOMEM, NULL)
WRAP(void *, calloc, (size_t n, size_t size), (n, size), ALLOC, ENOMEM, NULL)
WRAP(void *, realloc, (void *p, size_t n), (p, n), ALLOC, ENOMEM, NULL)

WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode), FILES, EMFILE, NULL)
WRAP(int, fclose, (FILE * f), (f), FILES, EIO, (__real_fclose(f), EOF))
WRAP(int, fsync, (int fd), (fd), FILES, EIO, -1)
WRAP(int, fdatasync, (int fd), (fd), FILES, EIO, -1)
WRAP(int, ftruncate64, (int fd, off64_t n), (fd, n), FILES, EIO, -1)
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode), FILES, EACCES, -1)
WRAP(int, rename, (const char *a, const char *b), (a, b), FILES, EIO, -1)
WRAP(int, unlink, (const char *path), (path), FILES, EBUSY, -1)
/* libuv's own pipes and events, by which it tells itself of signals: where one fails it aborts, by its design. Pipes to
 * workers are sockets. */
static bool is_inner(int fd)
{
    struct stat s;
    return !fstat(fd, &s) && !S_ISREG(s.st_mode) && !S_ISSOCK(s.st_mode);
}

#define WRAP_FD(result, name, type)                                                                                    \
    result __real_##name(int fd, type p, size_t n);                                                                    \
    result __wrap_##name(int fd, type p, size_t n);                                                                    \
    result __wrap_##name(int fd, type p, size_t n)                                                                     \
    {                                                                                                                  \
        if (!is_inner(fd) && fails(FILES)) {                                                                           \
            errno = EIO;                                                                                               \
            return -1;                                                                                                 \
        }                                                                                                              \
        return __real_##name(fd, p, n);                                                                                \
    }

WRAP_FD(ssize_t, read, void *)
WRAP_FD(ssize_t, write, const void *)
WRAP(ssize_t, pread64, (int fd, void *p, size_t n, off64_t at), (fd, p, n, at), FILES, EIO, -1)
WRAP(ssize_t, pwrite64, (int fd, const void *p, size_t n, off64_t at), (fd, p, n, at), FILES, ENOSPC, -1)

#define WRAP_OPEN(name)                                                                                                \
    int __real_##name(const char *path, int flags, ...);                                                               \
    int __wrap_##name(const char *path, int flags, ...);                                                               \
    int __wrap_##name(const char *path, int flags, ...)                                                                \
    {                                                                                                                  \
        va_list args;                                                                                                  \
        va_start(args, flags);                                                                                         \
        mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;                                                      \
        va_end(args);                                                                                                  \
        if (fails(FILES)) {                                                                                            \
            errno = EACCES;                                                                                            \
            return -1;                                                                                                 \
        }                                                                                                              \
        return __real_##name(path, flags, mode);                                                                       \
    }
WRAP_OPEN(open)
WRAP_OPEN(open64)

static int give_up(void *unused) { return 1; }

/* A step that is ended from inside: the connection has the error as with any other. */
int __real_sqlite3_step(sqlite3_stmt *st);
int __wrap_sqlite3_step(sqlite3_stmt *st);
int __wrap_sqlite3_step(sqlite3_stmt *st)
{
    if (!fails(SQLITE))
        return __real_sqlite3_step(st);
    sqlite3_progress_handler(sqlite3_db_handle(st), 1, give_up, NULL);
    int rc = __real_sqlite3_step(st);
    sqlite3_progress_handler(sqlite3_db_handle(st), 0, NULL, NULL);
    return rc;
}

/* A program that is not there: the handle is what it is after any other failure. */
int __real_uv_spawn(uv_loop_t *loop, uv_process_t *p, const uv_process_options_t *options);
int __wrap_uv_spawn(uv_loop_t *loop, uv_process_t *p, const uv_process_options_t *options);
int __wrap_uv_spawn(uv_loop_t *loop, uv_process_t *p, const uv_process_options_t *options)
{
    uv_process_options_t none = *options;
    if (fails(SPAWN))
        none.file = "/nowhere/at/all";
    return __real_uv_spawn(loop, p, &none);
}

/* --- the device's operations --- */

static const struct dev_ops *real;
static bool faulted;

static status planted(struct err *e)
{
    faulted = true;
    return err_set(e, LATHE_DEVICE, "planted");
}

#define OP(name, params, args)                                                                                         \
    static status op_##name params { return fails(DEVICE) ? planted(e) : real->name args; }

OP(open, (int number, struct dev **out, struct target *t, struct err *e), (number, out, t, e))
OP(alloc, (struct dev * d, uint64_t n, dev_ptr *out, struct err *e), (d, n, out, e))
OP(copy_in, (struct dev * d, dev_ptr to, const void *from, uint64_t n, struct err *e), (d, to, from, n, e))
OP(copy_out, (struct dev * d, void *to, dev_ptr from, uint64_t n, struct err *e), (d, to, from, n, e))
OP(fill, (struct dev * d, dev_ptr p, uint32_t word, uint64_t n, struct err *e), (d, p, word, n, e))
OP(forbid, (struct dev * d, dev_ptr p, uint64_t n, bool on, struct err *e), (d, p, n, on, e))
OP(load, (struct dev * d, const char *path, struct dev_module **out, struct err *e), (d, path, out, e))
OP(function, (struct dev * d, struct dev_module *m, const char *name, struct dev_function **out, struct err *e),
   (d, m, name, out, e))
OP(resources,
   (struct dev * d, struct dev_function *f, uint32_t threads, uint32_t shared, struct resources *out, struct err *e),
   (d, f, threads, shared, out, e))
OP(persist, (struct dev * d, bool on, struct err *e), (d, on, e))
OP(launch, (struct dev * d, struct dev_function *f, const struct dev_launch *how, void **args, struct err *e),
   (d, f, how, args, e))
OP(gemm, (struct dev * d, const struct plan_step *step, enum dtype from, enum dtype to, dev_ptr a, dev_ptr b, dev_ptr c,
          struct err *e), (d, step, from, to, a, b, c, e))
OP(sync, (struct dev * d, struct err *e), (d, e))

static double op_elapsed_ms(struct dev *d, int from, int to)
{
    return fails(DEVICE) ? __builtin_nan("") : real->elapsed_ms(d, from, to);
}

static enum dev_fault op_fault(struct dev *d) { return faulted ? DEV_FAULT_CRASH : real->fault(d); }

status __real_dev_find(const char *device, const struct dev_ops **ops, int *number, struct err *e);
status __wrap_dev_find(const char *device, const struct dev_ops **ops, int *number, struct err *e);
status __wrap_dev_find(const char *device, const struct dev_ops **ops, int *number, struct err *e)
{
    static struct dev_ops wrapped;
    status s = __real_dev_find(device, &real, number, e);
    if (s)
        return s;
    wrapped = *real;
    wrapped.open = op_open;
    wrapped.alloc = op_alloc;
    wrapped.copy_in = op_copy_in;
    wrapped.copy_out = op_copy_out;
    wrapped.fill = op_fill;
    wrapped.forbid = real->forbid ? op_forbid : NULL;
    wrapped.load = op_load;
    wrapped.function = op_function;
    wrapped.resources = op_resources;
    wrapped.persist = real->persist ? op_persist : NULL;
    wrapped.launch = op_launch;
    wrapped.gemm = op_gemm;
    wrapped.sync = op_sync;
    wrapped.elapsed_ms = op_elapsed_ms;
    wrapped.fault = op_fault;
    *ops = &wrapped;
    return LATHE_OK;
}
