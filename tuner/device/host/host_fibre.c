/* host_fibre.c: see host_fibre.h. The scheduler runs in the caller's context; a fibre goes back to it when it waits or
 * ends.
 *
 * A thread is NEW, READY, WAITING or ENDED. It becomes WAITING only by its own host_block_wait and READY only by
 * release_warp or release_block, which also set its result; so nobody can overtake another in a shuffle.
 * A stack belongs to one thread from its first turn to its end; the last one freed is the next one used, so threads
 * that never wait share a single, warm stack.
 * Threads that ended are not waited for, neither at a barrier nor in a warp operation. */
#include "device/host/host_fibre.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "device/host/host_context.h"
#include "device/host/host_shim.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if HOST_ASAN
#include <sanitizer/asan_interface.h>
#endif

enum {
    WARP = 32,
    STACK_BYTES = HOST_ASAN ? 256 * 1024 : 64 * 1024,
    STACK_STAGGER = 128,        /* lanes begin at different offsets, lest their frames meet in the same cache lines */
};
enum scope { BLOCK_SCOPE, WARP_SCOPE };
enum state { NEW, READY, WAITING, ENDED };

static const struct {
    const char *name;
    enum scope scope;
} waits[LATHE_HOST_WAIT_COUNT] = {
#define X(id, name, scope) [LATHE_HOST_WAIT_##id] = {name, scope##_SCOPE},
    LATHE_HOST_WAITS(X)
#undef X
};

struct thread {
    uint32_t index[3];          /* threadIdx */
    enum state state;
    int kind;                   /* the rest: while WAITING; what was asked for */
    uint32_t mask, source;
    uint64_t value;
    uint64_t result;
    void *stack;                /* NULL when NEW or ENDED */
    struct host_context context;
};

struct host_block {
    struct host_context scheduler;
    const struct host_threads *run;
    uint32_t count;             /* threads */
    uint32_t current;           /* the one that runs */
    uint32_t ended;
    uint32_t live[HOST_MAX_THREADS / WARP];     /* a warp's lanes that exist and have not ended */
    bool misused;               /* `current` waits with a mask without its own lane */
    void *free_stack[HOST_MAX_THREADS];
    int free_stacks;
    struct thread thread[HOST_MAX_THREADS];
};

/* --- stacks: a guard page, then STACK_BYTES --- */

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static void *stack_take(struct host_block *b)
{
    if (b->free_stacks) return b->free_stack[--b->free_stacks];
    size_t guard = page_bytes();
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char *p = mmap(NULL, guard + STACK_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (p == MAP_FAILED) return NULL;
    if (mprotect(p, guard, PROT_NONE)) {
        munmap(p, guard + STACK_BYTES);
        return NULL;
    }
    return p + guard;
}

static void stack_give(struct host_block *b, struct thread *t)
{
#if HOST_ASAN
    if (t->state != ENDED) __asan_unpoison_memory_region(t->stack, STACK_BYTES);    /* frames left in the middle */
#endif
    b->free_stack[b->free_stacks++] = t->stack;
    t->stack = NULL;
}

struct host_block *host_block_new(void) { return mem_zalloc(1, sizeof(struct host_block)); }

void host_block_free(struct host_block *b)
{
    if (!b) return;
    for (int i = 0; i < b->free_stacks; i++)
        munmap((char *)b->free_stack[i] - page_bytes(), page_bytes() + STACK_BYTES);
    mem_free(b);
}

/* --- a thread's own side --- */

static void thread_main(void *arg)
{
    struct host_block *b = arg;
    b->run->body(b->run->arg);
    struct thread *t = &b->thread[b->current];
    t->state = ENDED;
    host_context_leave(&t->context, &b->scheduler);
}

uint64_t host_block_wait(void *block, int kind, uint32_t mask, uint64_t value, uint32_t source)
{
    struct host_block *b = block;
    struct thread *t = &b->thread[b->current];
    t->kind = kind;
    t->mask = mask;
    t->value = value;
    t->source = source;
    t->state = WAITING;
    b->misused = waits[kind].scope == WARP_SCOPE && !(mask >> b->current % WARP & 1);
    host_context_switch(&t->context, &b->scheduler);
    return t->result;
}

uint32_t host_block_active(void *block)
{
    const struct host_block *b = block;
    return b->live[b->current / WARP];
}

/* --- messages --- */

static void thread_name(const struct host_block *b, uint32_t i, struct strbuf *text)
{
    const uint32_t *index = b->thread[i].index;
    sb_addf(text, "(%u,%u,%u)", index[0], index[1], index[2]);
}

static bool same_wait(const struct thread *a, const struct thread *b)
{
    return a->state == b->state && (a->state != WAITING || (a->kind == b->kind && a->mask == b->mask));
}

/* "threads (0,0,0) to (15,0,0) wait at __syncthreads; ..." */
static void describe_waits(const struct host_block *b, struct strbuf *text)
{
    enum { MAX_GROUPS = 12 };
    int groups = 0;
    for (uint32_t i = 0, next; i < b->count; i = next) {
        const struct thread *t = &b->thread[i];
        for (next = i + 1; next < b->count && same_wait(t, &b->thread[next]); next++)
            ;
        if (groups++ == MAX_GROUPS) {
            sb_add(text, "; ...");
            return;
        }
        sb_add(text, i ? "; " : "");
        sb_add(text, next - i > 1 ? "threads " : "thread ");
        thread_name(b, i, text);
        if (next - i > 1) {
            sb_add(text, " to ");
            thread_name(b, next - 1, text);
        }
        const char *plural = next - i > 1 ? "" : "s";
        if (t->state == ENDED) {
            sb_add(text, next - i > 1 ? " have ended" : " has ended");
        } else if (waits[t->kind].scope == BLOCK_SCOPE) {
            sb_addf(text, " wait%s at %s", plural, waits[t->kind].name);
        } else {
            sb_addf(text, " wait%s at %s with mask 0x%08x", plural, waits[t->kind].name, t->mask);
        }
    }
}

static status stuck(const struct host_block *b, struct err *e)
{
    struct strbuf text = {0};
    describe_waits(b, &text);
    err_set(e, LATHE_DEVICE, "deadlock: no thread of the block can go on: %s", sb_str(&text));
    sb_free(&text);
    return LATHE_DEVICE;
}

static status misused_mask(const struct host_block *b, struct err *e)
{
    const struct thread *t = &b->thread[b->current];
    struct strbuf name = {0};
    thread_name(b, b->current, &name);
    err_set(e, LATHE_DEVICE, "thread %s calls %s with mask 0x%08x, which leaves out its own lane %u", sb_str(&name),
            waits[t->kind].name, t->mask, b->current % WARP);
    sb_free(&name);
    return LATHE_DEVICE;
}

/* --- scheduling --- */

/* Gives thread i its turn until it waits or ends. */
static status resume(struct host_block *b, uint32_t i, struct err *e)
{
    struct thread *t = &b->thread[i];
    if (t->state == NEW) {
        t->stack = stack_take(b);
        if (!t->stack)
            return err_set(e, LATHE_NOMEM, "no memory for the stacks of a block of %u threads (%d KiB each)", b->count,
                           STACK_BYTES / 1024);
        host_context_make(&t->context, t->stack, STACK_BYTES - i % WARP * STACK_STAGGER, thread_main, b);
    }
    b->current = i;
    memcpy(b->run->index, t->index, sizeof t->index);
    t->state = READY;
    host_context_switch(&b->scheduler, &t->context);
    if (t->state == ENDED) {
        stack_give(b, t);
        b->live[i / WARP] &= ~(1u << i % WARP);
        b->ended++;
    }
    return b->misused ? misused_mask(b, e) : LATHE_OK;
}

/* Does what the lanes of `group` have come for together: code of the image, on the scheduler's stack. */
static void run_together(struct thread *warp, uint32_t group)
{
    struct lathe_host_together *lanes[WARP] = {0};
    for (uint32_t lane = 0; lane < WARP; lane++)
        if (group >> lane & 1) lanes[lane] = (struct lathe_host_together *)(uintptr_t)warp[lane].value;
    lanes[__builtin_ctz(group)]->run(lanes);
}

/* Results of a warp operation that all lanes of `group` have reached. */
static void finish_warp_operation(struct thread *warp, uint32_t group)
{
    uint32_t votes = 0;
    for (uint32_t lane = 0; lane < WARP; lane++)
        if (group >> lane & 1 && warp[lane].value) votes |= 1u << lane;
    if (warp[__builtin_ctz(group)].kind == LATHE_HOST_WAIT_TOGETHER) run_together(warp, group);
    for (uint32_t lane = 0; lane < WARP; lane++) {
        if (!(group >> lane & 1)) continue;
        struct thread *t = &warp[lane];
        switch (t->kind) {
        case LATHE_HOST_WAIT_SYNCWARP:
        case LATHE_HOST_WAIT_TOGETHER: t->result = 0; break;
        case LATHE_HOST_WAIT_BALLOT: t->result = votes; break;
        case LATHE_HOST_WAIT_ANY: t->result = votes != 0; break;
        case LATHE_HOST_WAIT_ALL: t->result = votes == group; break;
        default:                /* a lane that is not there gives what the hardware leaves undefined: here a NaN */
            t->result = t->source < WARP && group >> t->source & 1 ? warp[t->source].value : UINT64_MAX;
        }
        t->state = READY;
    }
}

/* Lets every group of lanes go on that has met in the same operation with the same mask. */
static bool release_warp(struct host_block *b, uint32_t first)
{
    struct thread *warp = &b->thread[first];
    uint32_t live = b->live[first / WARP], waiting = 0;
    bool released = false;
    for (uint32_t lane = 0; lane < WARP; lane++)
        if (live >> lane & 1 && warp[lane].state == WAITING && waits[warp[lane].kind].scope == WARP_SCOPE)
            waiting |= 1u << lane;
    while (waiting) {
        const struct thread *leader = &warp[__builtin_ctz(waiting)];
        uint32_t group = leader->mask & live, here = 0;
        for (uint32_t lane = 0; lane < WARP; lane++)
            if (waiting >> lane & 1 && same_wait(leader, &warp[lane])) here |= 1u << lane;
        if ((group & here) == group) {
            finish_warp_operation(warp, group);
            released = true;
        }
        waiting &= ~here;
    }
    return released;
}

/* The block's barrier, once every thread that has not ended waits at the same one. */
static bool release_block(struct host_block *b)
{
    uint32_t waiting = 0, votes = 0;
    int kind = -1;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct thread *t = &b->thread[i];
        if (t->state == ENDED) continue;
        if (t->state != WAITING || waits[t->kind].scope != BLOCK_SCOPE || (kind >= 0 && kind != t->kind)) return false;
        kind = t->kind;
        waiting++;
        votes += t->value != 0;
    }
    uint64_t result = kind == LATHE_HOST_WAIT_SYNCTHREADS_COUNT ? votes
                      : kind == LATHE_HOST_WAIT_SYNCTHREADS_AND ? votes == waiting
                                                                : votes != 0;
    for (uint32_t i = 0; i < b->count; i++)
        if (b->thread[i].state == WAITING) {
            b->thread[i].result = result;
            b->thread[i].state = READY;
        }
    return true;
}

/* Runs a warp until its lanes have ended or wait for other warps. */
static status run_warp(struct host_block *b, uint32_t first, struct err *e)
{
    uint32_t lanes = b->count - first < WARP ? b->count - first : WARP;
    do {
        for (uint32_t n = 0; n < lanes; n++) {
            uint32_t i = first + (b->run->backwards ? lanes - 1 - n : n);
            if (b->thread[i].state != NEW && b->thread[i].state != READY) continue;
            status s = resume(b, i, e);
            if (s) return s;
        }
    } while (release_warp(b, first));
    return LATHE_OK;
}

static status run_warps(struct host_block *b, struct err *e)
{
    uint32_t warps = (b->count + WARP - 1) / WARP;
    for (;;) {
        for (uint32_t n = 0; n < warps; n++) {
            status s = run_warp(b, (b->run->backwards ? warps - 1 - n : n) * WARP, e);
            if (s) return s;
        }
        if (b->ended == b->count) return LATHE_OK;
        if (!release_block(b)) return stuck(b, e);
    }
}

static void begin_block(struct host_block *b, const struct host_threads *t)
{
    b->run = t;
    b->count = t->dim[0] * t->dim[1] * t->dim[2];
    b->ended = 0;
    b->misused = false;
    memset(b->live, 0, sizeof b->live);
    struct thread *next = b->thread;
    for (uint32_t z = 0; z < t->dim[2]; z++)
        for (uint32_t y = 0; y < t->dim[1]; y++)
            for (uint32_t x = 0; x < t->dim[0]; x++, next++) {
                next->index[0] = x;
                next->index[1] = y;
                next->index[2] = z;
                next->state = NEW;
            }
    for (uint32_t i = 0; i < b->count; i++) b->live[i / WARP] |= 1u << i % WARP;
}

status host_block_run(struct host_block *b, const struct host_threads *t, struct err *e)
{
    begin_block(b, t);
    status s = run_warps(b, e);
    for (uint32_t i = 0; s && i < b->count; i++)
        if (b->thread[i].stack) stack_give(b, &b->thread[i]);
    b->run = NULL;
    return s;
}
