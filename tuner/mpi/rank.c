/* rank.c: see ranks.h: a process with a device. Its worker is a child (trial/child.h), as the coordinator has them
 * for devices of its own machine: what a kernel breaks, ends that child. Requests have no time limit here: the
 * coordinator's relay is killed when theirs is over, and then the hub sends FRAME_KILL. */
#include "base/clock.h"
#include "base/mem.h"
#include "mpi/link.h"
#include "mpi/package.h"
#include "mpi/ranks.h"
#include "trial/cache.h"
#include "trial/child.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POLL_MS = 1, HUB = 0 };
/* NOTE: longer than the hub's patience with a rank, so that both never give one another up for one hold-up. */
enum { PATIENCE = 3 };

struct rank {
    struct link *link;
    uv_loop_t loop;
    uv_timer_t poll;
    struct child *child;
    char *dir;                  /* the cache; NULL: `failure` says why there is none */
    struct err failure;
    uint32_t session;           /* of the worker that lives, or lived last */
    bool lives;                 /* as far as the hub was told */
    double heard, turned;       /* clock_seconds: of the hub; of the last turn here */
    double silence;
    bool over;
};

static void say(struct rank *r, enum frame_kind kind, const char *text)
{
    link_send(r->link, HUB, kind, r->session, text, strlen(text));
}

static void refuse(struct rank *r, const struct err *e)
{
    json_t *j = json_pack("{s:b, s:i, s:s}", "ok", 0, "status", (int)e->code, "error", e->text);
    char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;
    say(r, FRAME_REPLY, text ? text : "{\"ok\":false}");
    mem_free(text);
    json_decref(j);
}

static void say_died(struct rank *r, const char *how)
{
    r->lives = false;
    say(r, FRAME_DIED, how);
}

static void on_done(void *ctx, const struct child_answer *a)
{
    struct rank *r = ctx;
    if (!a->reply) {
        say_died(r, a->text);
        return;
    }
    char *text = json_dumps(a->reply, JSON_COMPACT);
    say(r, FRAME_REPLY, text);
    mem_free(text);
}

static void end_worker(struct rank *r)
{
    child_kill(r->child);
    r->lives = false;
}

/* A session that is not the last one's begins with a fresh worker. */
static status fresh_worker(struct rank *r, uint32_t session, struct err *e)
{
    if (session == r->session) return LATHE_OK;
    end_worker(r);
    r->session = session;
    status s = child_start(r->child, e);
    r->lives = !s;
    return s;
}

static void take_request(struct rank *r, const struct frame *f)
{
    json_t *request = NULL;
    struct err e = r->failure;
    if (!r->dir) r->session = f->session;
    status s = r->dir ? fresh_worker(r, f->session, &e) : e.code;
    if (!s && !r->lives) return;        /* the relay is told, or was killed */
    if (!s) s = package_read(f->body, f->len, r->dir, &request, &e);
    if (s)
        refuse(r, &e);
    else if (child_alive(r->child))
        child_send(r->child, request, 0, on_done, r);
    else
        json_decref(request);           /* on_poll tells */
}

static void take(void *ctx, int from, const struct frame *f)
{
    struct rank *r = ctx;
    if (from != HUB) return;
    r->heard = clock_seconds();
    switch (f->kind) {
    case FRAME_REQUEST: take_request(r, f); break;
    case FRAME_KILL:
        if (f->session == r->session) end_worker(r);
        break;
    case FRAME_PING: say(r, FRAME_PONG, ""); break;
    case FRAME_QUIT: r->over = true; break;
    default: break;
    }
}

static void on_poll(uv_timer_t *timer)
{
    struct rank *r = timer->data;
    double now = clock_seconds();
    if (now - r->turned > 1) r->heard = now;    /* it was this process that was held up */
    r->turned = now;
    link_poll(r->link, take, r);
    if (r->lives && !child_busy(r->child) && !child_alive(r->child)) say_died(r, "the worker had ended");
    if (now - r->heard < PATIENCE * r->silence) return;
    child_kill(r->child);
    fprintf(stderr, "lathe: no word from rank 0 for %.0f s: this process ends\n", now - r->heard);
    _exit(1);                   /* MPI_Finalize would wait for who is not there */
}

void rank_run(struct link *l, int number, const struct rank_identity *me, const char *self)
{
    /* mpirun ends a job by signals to all; a rank ends when the hub says so, which asked the coordinator first */
    const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
    char name[96];
    snprintf(name, sizeof name, "rank %d of %s", number, me->host);
    const char *args[] = {"device", me->device, name, NULL};
    struct rank r = {.link = l, .heard = clock_seconds(), .turned = clock_seconds(), .silence = ranks_silence()};
    if (!cache_open(&r.dir, &r.failure)) cache_trim(r.dir);
    struct err none;
    if (child_loop_open(&r.loop, &none)) {
        fprintf(stderr, "lathe: rank %d on %s: %s\n", number, me->host, none.text);
        link_abort(status_exit_code(LATHE_IO));
    }
    uv_timer_init(&r.loop, &r.poll);
    r.poll.data = &r;
    r.child = child_new(&r.loop, self, args);
    uv_timer_start(&r.poll, on_poll, POLL_MS, POLL_MS);
    while (!r.over) uv_run(&r.loop, UV_RUN_ONCE);
    child_free(r.child);
    say(&r, FRAME_BYE, "");
    link_flush(l, 2);
    uv_close((uv_handle_t *)&r.poll, NULL);
    while (uv_loop_close(&r.loop)) uv_run(&r.loop, UV_RUN_NOWAIT);
    mem_free(r.dir);
}
