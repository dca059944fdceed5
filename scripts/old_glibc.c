/* old_glibc.c: what a program that is linked by scripts/old-glibc needs and older versions of glibc do not have.
 * x86-64, where the kernel's struct stat is glibc's. */
#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

struct stat;

#define STAT(suffix)                                                                                                   \
    int stat##suffix(const char *path, struct stat *s);                                                                \
    int lstat##suffix(const char *path, struct stat *s);                                                               \
    int fstat##suffix(int fd, struct stat *s);                                                                         \
    int stat##suffix(const char *path, struct stat *s)                                                                 \
    {                                                                                                                  \
        return (int)syscall(SYS_newfstatat, AT_FDCWD, path, s, 0);                                                     \
    }                                                                                                                  \
    int lstat##suffix(const char *path, struct stat *s)                                                                \
    {                                                                                                                  \
        return (int)syscall(SYS_newfstatat, AT_FDCWD, path, s, AT_SYMLINK_NOFOLLOW);                                   \
    }                                                                                                                  \
    int fstat##suffix(int fd, struct stat *s)                                                                          \
    {                                                                                                                  \
        return (int)syscall(SYS_fstat, fd, s);                                                                         \
    }
STAT()
STAT(64)

/* Of Linux 5.9; before, each descriptor for itself. */
int close_range(unsigned first, unsigned last, int flags)
{
    if (syscall(SYS_close_range, first, last, flags) == 0)
        return 0;
    long open = sysconf(_SC_OPEN_MAX);
    for (unsigned fd = first; fd <= last && (long)fd < open; fd++)
        close((int)fd);
    return 0;
}

/* Up to 2.33 it is the program that runs its constructors, from a function that it gives to the C library; since then
 * the C library does, unless it is given one. */
extern void (*const __init_array_start[])(int, char **, char **) __attribute__((visibility("hidden")));
extern void (*const __init_array_end[])(int, char **, char **) __attribute__((visibility("hidden")));

static void construct(int argc, char **argv, char **envp)
{
    ptrdiff_t n = __init_array_end - __init_array_start;
    for (ptrdiff_t i = 0; i < n; i++)
        __init_array_start[i](argc, argv, envp);
}

typedef int main_function(int, char **, char **);
int __real___libc_start_main(main_function *, int, char **, void (*)(int, char **, char **), void (*)(void),
                             void (*)(void), void *);
int __wrap___libc_start_main(main_function *, int, char **, void (*)(int, char **, char **), void (*)(void),
                             void (*)(void), void *);
int __wrap___libc_start_main(main_function *program, int argc, char **argv, void (*init)(int, char **, char **),
                             void (*fini)(void), void (*loader_fini)(void), void *stack_end)
{
    return __real___libc_start_main(program, argc, argv, construct, NULL, loader_fini, stack_end);
}
