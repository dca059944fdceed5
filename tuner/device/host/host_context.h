/* host_context.h: a stack of one's own, and the switch to it: what a fibre is made of.
 *
 * A context belongs to whoever declares it and must not move while it is switched away from. Under the address
 * sanitizer every switch is announced to it. All switches happen on one thread.
 */
#ifndef LATHE_DEVICE_HOST_CONTEXT_H
#define LATHE_DEVICE_HOST_CONTEXT_H

#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define HOST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HOST_ASAN 1
#endif
#endif
#ifndef HOST_ASAN
#define HOST_ASAN 0
#endif

/* The hand-written switch spares two system calls a switch; LATHE_HOST_UCONTEXT asks for the portable one. */
#if defined(__x86_64__) && !defined(LATHE_HOST_UCONTEXT)
#define HOST_CONTEXT_ASM 1
#else
#define HOST_CONTEXT_ASM 0
#include <ucontext.h>
#endif

struct host_context {
#if HOST_CONTEXT_ASM
    void *sp;                   /* where the saved registers are, while switched away from */
#else
    ucontext_t registers;
#endif
    void (*entry)(void *);
    void *arg;
    const void *low;            /* its stack; of the thread's first context known once it was left, under ASan only */
    size_t size;
#if HOST_ASAN
    void *fake_stack;           /* the sanitizer's, of a context switched away from */
    struct host_context *came_from; /* who switched to it first */
#endif
};

/* A context that runs entry(arg) on [low, low + size) when it is first switched to; entry must not return. */
void host_context_make(struct host_context *c, void *low, size_t size, void (*entry)(void *), void *arg);

/* Leaves `from` (the running one; its fields are filled in) for `to`; returns when something switches to `from`. */
void host_context_switch(struct host_context *from, struct host_context *to);

/* Leaves the running context for ever: its stack may be used again as soon as `to` runs. */
void host_context_leave(struct host_context *from, struct host_context *to) __attribute__((noreturn));

#endif
