/* host_context.c: see host_context.h. Two ways to switch: x86-64 by hand (the registers that a call preserves, and the
 * stack pointer), others by ucontext. The floating-point control registers are not switched: host_image.c restores
 * them after each launch. */
#include "device/host/host_context.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if HOST_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

/* First function of a context; it has no caller to return to. */
static void begin(struct host_context *c);

#if HOST_CONTEXT_ASM

void lathe_host_switch_stack(void **save, void *load);
void lathe_host_first_frame(void);

__asm__(".text\n"
        ".p2align 4\n"
        ".globl lathe_host_switch_stack\n"
        ".hidden lathe_host_switch_stack\n"
        ".type lathe_host_switch_stack, @function\n"
        "lathe_host_switch_stack:\n" /* rdi: where to leave the stack pointer; rsi: the one to take */
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size lathe_host_switch_stack, . - lathe_host_switch_stack\n"
        ".p2align 4\n"
        ".globl lathe_host_first_frame\n"
        ".hidden lathe_host_first_frame\n"
        ".type lathe_host_first_frame, @function\n"
        "lathe_host_first_frame:\n" /* r12: the context, r13: begin */
        ".cfi_startproc\n"
        ".cfi_undefined rip\n"
        "    movq %r12, %rdi\n"
        "    callq *%r13\n"
        "    ud2\n"
        ".cfi_endproc\n"
        ".size lathe_host_first_frame, . - lathe_host_first_frame\n");

/* What lathe_host_switch_stack pops, in its order. */
struct frame {
    uint64_t r15, r14, r13, r12, rbx, rbp, return_to;
};

static void prepare(struct host_context *c)
{
    uintptr_t top = ((uintptr_t)c->low + c->size) & ~(uintptr_t)15;
    struct frame *f = (struct frame *)(top - 16 - sizeof *f);   /* once popped, the stack is 16-byte aligned */
    memset(f, 0, sizeof *f);
    f->r12 = (uintptr_t)c;
    f->r13 = (uintptr_t)begin;
    f->return_to = (uintptr_t)lathe_host_first_frame;
    c->sp = f;
}

static void swap(struct host_context *from, struct host_context *to)
{
    lathe_host_switch_stack(&from->sp, to->sp);
}

#else

static void begin_halves(unsigned high, unsigned low)
{
    begin((struct host_context *)(uintptr_t)((uint64_t)high << 32 | low));
}

static void prepare(struct host_context *c)
{
    uint64_t self = (uintptr_t)c;
    getcontext(&c->registers);
    c->registers.uc_stack.ss_sp = (void *)c->low;
    c->registers.uc_stack.ss_size = c->size;
    c->registers.uc_link = NULL;
    makecontext(&c->registers, (void (*)(void))begin_halves, 2, (unsigned)(self >> 32), (unsigned)self);
}

static void swap(struct host_context *from, struct host_context *to) { swapcontext(&from->registers, &to->registers); }

#endif

void host_context_make(struct host_context *c, void *low, size_t size, void (*entry)(void *), void *arg)
{
    memset(c, 0, sizeof *c);
    c->entry = entry;
    c->arg = arg;
    c->low = low;
    c->size = size;
    prepare(c);
}

void host_context_switch(struct host_context *from, struct host_context *to)
{
#if HOST_ASAN
    if (!to->came_from) to->came_from = from;
    __sanitizer_start_switch_fiber(&from->fake_stack, to->low, to->size);
#endif
    swap(from, to);
#if HOST_ASAN
    __sanitizer_finish_switch_fiber(from->fake_stack, NULL, NULL);
#endif
}

void host_context_leave(struct host_context *from, struct host_context *to)
{
#if HOST_ASAN
    __sanitizer_start_switch_fiber(NULL, to->low, to->size);
#endif
    swap(from, to);
    abort();
}

/* Runs on the new stack; the sanitizer says here where the one that was left lies. */
static void begin(struct host_context *c)
{
#if HOST_ASAN
    __sanitizer_finish_switch_fiber(NULL, &c->came_from->low, &c->came_from->size);
#endif
    c->entry(c->arg);
    abort();
}
