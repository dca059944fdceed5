/* mem.h: allocation that does not return NULL.
 *
 * When memory is gone these call the handler that main.c installed (it reports and ends the process with exit code 8);
 * without a handler, abort(). That loses nothing: a measured result is committed to the store before the next trial
 * begins. Everything returned is freed with mem_free(). In test builds mem_fail_after(n) makes the n-th allocation from
 * now fail, once.
 */
#ifndef LATHE_BASE_MEM_H
#define LATHE_BASE_MEM_H

#include <stddef.h>

void *mem_alloc(size_t bytes);                      /* uninitialised; bytes 0 is treated as 1 */
void *mem_zalloc(size_t count, size_t size);        /* zeroed, overflow checked */
void *mem_resize(void *p, size_t count, size_t size);
char *mem_strdup(const char *s);                    /* NULL gives NULL */
char *mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void mem_free(void *p);
void mem_on_failure(void (*handler)(size_t bytes));
void mem_fail_after(long n);                        /* n < 0: never */

/* Makes room for one more element in a growable array: `MEM_GROW(v, n, cap); v[n++] = x;`. */
#define MEM_GROW(vec, count, cap)                                                                                      \
    do {                                                                                                               \
        if ((count) >= (cap)) {                                                                                        \
            (cap) = (cap) ? (cap) * 2 : 8;                                                                             \
            (vec) = mem_resize((vec), (size_t)(cap), sizeof *(vec));                                                   \
        }                                                                                                              \
    } while (0)

#endif
