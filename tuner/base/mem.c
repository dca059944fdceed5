/* mem.c: allocation that does not return NULL.
 *
 * The two globals belong to the process, as memory does: the handler is set once by main before any thread starts, and
 * the countdown of mem_fail_after is atomic, so that worker threads may allocate while a test counts. */
#include "base/mem.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void (*on_failure)(size_t bytes);
static atomic_long fail_countdown = -1;             /* < 0: no failure is planned; 0: the next allocation fails */

_Noreturn static void give_up(size_t bytes)
{
    if (on_failure)
        on_failure(bytes);
    abort();
}

/* Counts one allocation; true if it is the one that a test wants to fail. */
static int planned_failure(void)
{
    long left = atomic_load_explicit(&fail_countdown, memory_order_relaxed);
    while (left >= 0)
        if (atomic_compare_exchange_weak(&fail_countdown, &left, left - 1))
            return left == 0;
    return 0;
}

void *mem_alloc(size_t bytes)
{
    void *p = planned_failure() ? NULL : malloc(bytes ? bytes : 1);
    if (!p)
        give_up(bytes);
    return p;
}

void *mem_zalloc(size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        give_up(SIZE_MAX);
    size_t bytes = count * size;
    void *p = planned_failure() ? NULL : calloc(1, bytes ? bytes : 1);
    if (!p)
        give_up(bytes);
    return p;
}

void *mem_resize(void *p, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        give_up(SIZE_MAX);
    size_t bytes = count * size;
    void *q = planned_failure() ? NULL : realloc(p, bytes ? bytes : 1);
    if (!q)
        give_up(bytes);
    return q;
}

char *mem_strdup(const char *s)
{
    if (!s)
        return NULL;
    size_t bytes = strlen(s) + 1;
    return memcpy(mem_alloc(bytes), s, bytes);
}

char *mem_printf(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (len < 0)
        give_up(SIZE_MAX);                          /* longer than INT_MAX: no memory for that */
    char *s = mem_alloc((size_t)len + 1);
    va_start(args, fmt);
    vsnprintf(s, (size_t)len + 1, fmt, args);
    va_end(args);
    return s;
}

void mem_free(void *p)
{
    free(p);
}

void mem_on_failure(void (*handler)(size_t bytes))
{
    on_failure = handler;
}

void mem_fail_after(long n)
{
    atomic_store(&fail_countdown, n > 0 ? n - 1 : n);
}
