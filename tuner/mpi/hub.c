/* hub.c: see ranks.h: rank 0. The coordinator is a child, so that what MPI does when a process is lost cannot end it;
 * its relays come to a socket that only this user can reach. The hub decides nothing about trials: it hands frames
 * on, and finds out who is lost, by silence.
 *
 * Invariant: rank K's `visitor` is the relay of its session, or NULL; a visitor of no rank has not said hello, or was
 * told that the rank is gone. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/temporary.h"
#include "mpi/link.h"
#include "mpi/ranks.h"
#include "trial/child.h"
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

enum { POLL_MS = 1, BYE_SECONDS = 10 };
#define PING_SECONDS 1.0

struct hub;

struct visitor {                /* a relay's connection */
    struct hub *hub;
    uv_pipe_t pipe;
    struct strbuf in;
    int rank;                   /* 0: none */
    char buffer[65536];
};

struct peer {                   /* a rank */
    struct visitor *visitor;
    uint32_t session;
    double heard;
    bool bye;
    char *lost;                 /* why it cannot be had any more */
};

struct hub {
    struct link *link;
    uv_loop_t loop;
    uv_timer_t poll;
    uv_pipe_t door;
    uv_process_t coordinator;
    uv_signal_t signals[4];
    struct peer *peers;         /* by rank; the first is not used */
    const struct rank_identity *everyone;
    int size;
    uint32_t sessions;
    double turned, pinged, forwarded, silence;
    struct temporary folder;
    char address[96];
    bool over;                  /* the coordinator has ended */
    int code;
};

/* --- relays --- */

struct writing {
    uv_write_t write;
    struct strbuf bytes;
};

static void on_written(uv_write_t *w, int result)
{
    (void)result;               /* a relay that is gone closes its connection, or has */
    struct writing *writing = w->data;
    sb_free(&writing->bytes);
    mem_free(writing);
}

static void tell(struct visitor *v, enum frame_kind kind, const char *body, size_t len)
{
    struct writing *w = mem_zalloc(1, sizeof *w);
    frame_add(&w->bytes, kind, 0, body, len);
    w->write.data = w;
    uv_buf_t buf = uv_buf_init(w->bytes.s, (unsigned)w->bytes.len);
    if (uv_write(&w->write, (uv_stream_t *)&v->pipe, &buf, 1, on_written)) on_written(&w->write, -1);
}

static void on_visitor_closed(uv_handle_t *h)
{
    struct visitor *v = h->data;
    sb_free(&v->in);
    mem_free(v);
}

static void part(struct visitor *v)
{
    if (v->rank) {
        struct peer *p = &v->hub->peers[v->rank];
        p->visitor = NULL;
        if (!p->lost) link_send(v->hub->link, v->rank, FRAME_KILL, p->session, NULL, 0);
    }
    v->rank = 0;
    if (!uv_is_closing((uv_handle_t *)&v->pipe)) uv_close((uv_handle_t *)&v->pipe, on_visitor_closed);
}

static void take_hello(struct visitor *v, uint32_t rank)
{
    struct hub *h = v->hub;
    if (v->rank || rank < 1 || rank >= (uint32_t)h->size) {
        part(v);
        return;
    }
    struct peer *p = &h->peers[rank];
    if (p->lost) {
        tell(v, FRAME_GONE, p->lost, strlen(p->lost));
        return;
    }
    if (p->visitor) part(p->visitor);   /* it was killed, and its end is not yet seen */
    v->rank = (int)rank;
    p->visitor = v;
    p->session = ++h->sessions;
}

static void take_from_relay(struct visitor *v, const struct frame *f)
{
    if (f->kind == FRAME_HELLO)
        take_hello(v, f->session);
    else if (f->kind == FRAME_REQUEST && v->rank)
        link_send(v->hub->link, v->rank, FRAME_REQUEST, v->hub->peers[v->rank].session, f->body, f->len);
}

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
    (void)suggested;
    struct visitor *v = h->data;
    *buf = uv_buf_init(v->buffer, sizeof v->buffer);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct visitor *v = stream->data;
    if (n < 0) {
        part(v);
        return;
    }
    sb_addn(&v->in, buf->base, (size_t)n);
    struct frame f;
    long used;
    while ((used = frame_read(sb_str(&v->in), v->in.len, &f)) > 0) {
        take_from_relay(v, &f);
        memmove(v->in.s, v->in.s + used, v->in.len - (size_t)used);
        v->in.len -= (size_t)used;
    }
    if (used < 0) part(v);
}

static void on_visit(uv_stream_t *door, int result)
{
    struct hub *h = door->data;
    if (result < 0) return;
    struct visitor *v = mem_zalloc(1, sizeof *v);
    v->hub = h;
    uv_pipe_init(&h->loop, &v->pipe, 0);
    v->pipe.data = v;
    if (uv_accept(door, (uv_stream_t *)&v->pipe))
        part(v);
    else
        uv_read_start((uv_stream_t *)&v->pipe, on_alloc, on_read);
}

/* --- ranks --- */

static void take_from_rank(void *ctx, int rank, const struct frame *f)
{
    struct hub *h = ctx;
    struct peer *p = &h->peers[rank];
    if (rank < 1 || p->lost) return;    /* one that comes back is not taken in again: its device is taken out */
    p->heard = clock_seconds();
    if (f->kind == FRAME_BYE)
        p->bye = true;
    else if ((f->kind == FRAME_REPLY || f->kind == FRAME_DIED) && f->session == p->session && p->visitor)
        tell(p->visitor, f->kind, f->body, f->len);
}

static void lose(struct hub *h, int rank)
{
    struct peer *p = &h->peers[rank];
    p->lost = mem_printf("rank %d on %s has been silent for %.3g s", rank, h->everyone[rank].host, h->silence);
    if (p->visitor) tell(p->visitor, FRAME_GONE, p->lost, strlen(p->lost));
}

static void look_after_ranks(struct hub *h, double now)
{
    bool ping = now - h->pinged >= PING_SECONDS;
    if (ping) h->pinged = now;
    for (int k = 1; k < h->size; k++) {
        struct peer *p = &h->peers[k];
        if (p->lost || p->bye) continue;
        if (now - h->turned > PING_SECONDS) p->heard = now;     /* it was this process that was held up */
        if (ping) link_send(h->link, k, FRAME_PING, 0, NULL, 0);
        if (now - p->heard > h->silence) lose(h, k);
    }
}

static void on_poll(uv_timer_t *timer)
{
    struct hub *h = timer->data;
    double now = clock_seconds();
    link_poll(h->link, take_from_rank, h);
    look_after_ranks(h, now);
    h->turned = now;
}

/* --- the coordinator --- */

static void on_coordinator_exit(uv_process_t *process, int64_t code, int sig)
{
    struct hub *h = process->data;
    h->over = true;
    h->code = sig ? 128 + sig : (int)code;
}

/* mpirun tells every process of a job, and may do so more than once; the coordinator takes a second signal for
 * impatience. */
static void on_signal(uv_signal_t *s, int number)
{
    struct hub *h = s->data;
    (void)number;
    double now = clock_seconds();
    if (h->over || now - h->forwarded < 1) return;
    h->forwarded = now;
    uv_process_kill(&h->coordinator, SIGTERM);
}

static char *ranks_text(const struct hub *h)
{
    struct strbuf b = {0};
    sb_addf(&b, "%s", h->address);
    for (int k = 1; k < h->size; k++) sb_addf(&b, "\n%s %s", h->everyone[k].host, h->everyone[k].device);
    return sb_take(&b);
}

/* mpirun binds a process to a core or a socket; compile workers are to have them all. */
static void use_all_cores(void)
{
    cpu_set_t *all = CPU_ALLOC(4096);
    size_t bytes = CPU_ALLOC_SIZE(4096);
    if (!all) return;
    memset(all, 0xff, bytes);
    sched_setaffinity(0, bytes, all);       /* the system takes those that there are; else all stays as it is */
    CPU_FREE(all);
}

/* Open MPI's mpirun ends the job with the first rank that dies, unless it is told not to. */
static void say_recovery(char **argv)
{
    const char *recovery = getenv("OMPI_MCA_orte_enable_recovery");
    if (!getenv("OMPI_COMM_WORLD_SIZE") || (recovery && strcmp(recovery, "0"))) return;
    for (int i = 1; argv[i]; i++)
        if (!strcmp(argv[i], "--quiet") || !strcmp(argv[i], "-q")) return;
    fprintf(stderr, "a rank that dies ends this job: with mpirun --enable-recovery it would cost its trial alone\n");
}

static int start_coordinator(struct hub *h, char **argv, const char *self)
{
    char *text = ranks_text(h);
    bool tunes = !strcmp(argv[1], "tune");  /* other commands have no use for ranks */
    setenv("LATHE_RANKS", tunes ? text : "", 1);
    if (tunes) say_recovery(argv);
    mem_free(text);
    use_all_cores();
    uv_stdio_container_t stdio[3];
    for (int i = 0; i < 3; i++) stdio[i] = (uv_stdio_container_t){.flags = UV_INHERIT_FD, .data.fd = i};
    uv_process_options_t options = {.file = self, .args = argv, .stdio = stdio, .stdio_count = 3,
                                    .flags = UV_PROCESS_DETACHED, .exit_cb = on_coordinator_exit};
    h->coordinator.data = h;
    int r = uv_spawn(&h->loop, &h->coordinator, &options);
    if (r) fprintf(stderr, "lathe: cannot start the coordinator (%s): %s\n", self, uv_strerror(r));
    return r;
}

/* --- life --- */

static int open_door(struct hub *h)
{
    struct err none;
    const char *place = temporary_place();      /* the address of a socket has room for so much */
    uv_pipe_init(&h->loop, &h->door, 0);
    h->door.data = h;
    if (temporary_make(strlen(place) <= 40 ? place : "/tmp", "mpi", &h->folder, &none)) {
        fprintf(stderr, "lathe: the relays' socket: %s\n", none.text);
        return -1;
    }
    snprintf(h->address, sizeof h->address, "%s/hub", h->folder.path);
    int r = uv_pipe_bind(&h->door, h->address);
    if (!r) r = uv_listen((uv_stream_t *)&h->door, 64, on_visit);
    if (r) fprintf(stderr, "lathe: cannot listen at %s: %s\n", h->address, uv_strerror(r));
    return r;
}

static bool all_said_bye(const struct hub *h)
{
    for (int k = 1; k < h->size; k++)
        if (!h->peers[k].bye) return false;
    return true;
}

/* True: every rank has said good-bye. */
static bool part_from_ranks(struct hub *h)
{
    for (int k = 1; k < h->size; k++) {
        if (h->peers[k].visitor) part(h->peers[k].visitor);
        if (!h->peers[k].lost) link_send(h->link, k, FRAME_QUIT, 0, NULL, 0);
    }
    double start = clock_seconds();
    bool waiting = true;
    while (waiting && clock_seconds() - start < BYE_SECONDS) {
        uv_run(&h->loop, UV_RUN_ONCE);
        waiting = false;
        for (int k = 1; k < h->size; k++) waiting = waiting || (!h->peers[k].bye && !h->peers[k].lost);
    }
    return all_said_bye(h);
}

static void close_handle(uv_handle_t *handle, void *ctx)
{
    struct hub *h = ctx;
    if (uv_is_closing(handle)) return;
    if (handle->type == UV_NAMED_PIPE && handle != (uv_handle_t *)&h->door)
        part(handle->data);
    else
        uv_close(handle, NULL);
}

int hub_run(struct link *l, int size, const struct rank_identity *everyone, char **argv, const char *self,
            bool *all_here)
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
    struct hub h = {.link = l, .size = size, .everyone = everyone, .silence = ranks_silence(), .code = 1};
    double now = h.turned = clock_seconds();
    h.peers = mem_zalloc((size_t)size, sizeof *h.peers);
    for (int k = 1; k < size; k++) h.peers[k].heard = now;
    struct err none;
    if (child_loop_open(&h.loop, &none)) {
        fprintf(stderr, "lathe: rank 0: %s\n", none.text);
        link_abort(status_exit_code(LATHE_IO));
    }
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
        uv_signal_init(&h.loop, &h.signals[i]);
        h.signals[i].data = &h;
        uv_signal_start(&h.signals[i], on_signal, caught[i]);
    }
    uv_timer_init(&h.loop, &h.poll);
    h.poll.data = &h;
    uv_timer_start(&h.poll, on_poll, POLL_MS, POLL_MS);
    if (!open_door(&h) && !start_coordinator(&h, argv, self))
        while (!h.over) uv_run(&h.loop, UV_RUN_ONCE);
    temporary_remove(&h.folder);    /* now: mpirun may end this process while it waits for ranks */
    *all_here = part_from_ranks(&h);
    uv_walk(&h.loop, close_handle, &h);
    while (uv_loop_close(&h.loop)) uv_run(&h.loop, UV_RUN_NOWAIT);
    for (int k = 1; k < size; k++) mem_free(h.peers[k].lost);
    mem_free(h.peers);
    return h.code;
}
