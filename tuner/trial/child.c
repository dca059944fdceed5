/* child.c: see child.h.
 *
 * States: no process (proc NULL); alive and idle; alive and busy (done set). A process and its pipes live in one
 * struct proc, which is freed when the process was reaped and its handles are closed: a late callback of a dead process
 * never sees a new one. Invariant: `done` is cleared before it is called.
 *
 * A time limit is counted in steps of this process's own life: where it was stopped, or its machine slept, or it was
 * busy otherwise, the time that passed counts as one step. And timers come before what is to be read in a turn of the
 * loop (libuv before 1.45), so a limit that is over ends nothing before one look at what the child may have written. */
#include "trial/child.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "trial/strays.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LAST_WORDS = 1200, LINE_LIMIT = 256 * 1024 * 1024 };
#define STEP_SECONDS 0.25       /* twice that without a turn of the loop is a hold-up */
#define LOOK_SECONDS 0.001

struct proc {
    struct child *owner;        /* NULL once abandoned */
    uv_process_t process;
    uv_pipe_t to, from, words;
    int open_handles;
    bool exited, spawned;
    char mark[STRAYS_MARK];     /* "": its kernels run on no host */
    int64_t exit_code;
    int signal;
    char buffer[65536];
    struct strbuf line;
    char last[LAST_WORDS + 1];
    size_t last_len;
    char broken[120];           /* why it was of no use any more, "" else */
};

struct child {
    uv_loop_t *loop;
    char *self;
    bool same;                  /* self is this program */
    bool on_host;               /* what it runs may start processes */
    char **args;
    struct proc *proc;
    uv_timer_t timer;
    bool timer_closed;
    double limit, left;         /* seconds; of them still */
    double counted;             /* clock_seconds when `left` was found */
    bool looked;                /* the limit is over, and what may have been written meanwhile is looked at */
    child_done done;
    void *ctx;
};

/* Whatever the process began is ended with it: it leads a session of its own. Left alone, a child of a crashed worker
 * would hold the pipes open, and what measures beside it would be slower. */
static void end_all(const struct proc *p) { kill(-p->process.pid, SIGKILL); }

/* NOTE: libuv aborts where it gets no pipe for its signals, so there is to be room for what it opens. */
status child_loop_open(uv_loop_t *loop, struct err *e)
{
    enum { OPENS = 10 };
    int files[OPENS], n = 0;
    while (n < OPENS && (files[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) n++;
    int failed = n < OPENS ? uv_translate_sys_error(errno) : 0;
    while (n > 0) close(files[--n]);
    if (!failed) failed = uv_loop_init(loop);
    return failed ? err_set(e, LATHE_IO, "cannot start workers: %s", uv_strerror(failed)) : LATHE_OK;
}

/* --- closing --- */

static void on_handle_closed(uv_handle_t *h)
{
    struct proc *p = h->data;
    if (--p->open_handles) return;
    sb_free(&p->line);
    mem_free(p);
}

static void abandon(struct proc *p)
{
    p->owner = NULL;
    uv_handle_t *handles[] = {(uv_handle_t *)&p->to, (uv_handle_t *)&p->from, (uv_handle_t *)&p->words};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        if (!uv_is_closing(handles[i])) uv_close(handles[i], on_handle_closed);
    /* A process that still runs keeps its handle until it is reaped: on_process_exit closes it. */
    if (p->spawned && !p->exited)
        end_all(p);
    else
        uv_close((uv_handle_t *)&p->process, on_handle_closed);
}

static void finish(struct child *c, const struct child_answer *a)
{
    child_done done = c->done;
    c->done = NULL;
    uv_timer_stop(&c->timer);
    if (done) done(c->ctx, a);
}

static void describe_end(const struct proc *p, char *text, size_t size)
{
    size_t at = p->signal ? (size_t)snprintf(text, size, "killed by signal %d (%s)", p->signal, strsignal(p->signal))
                          : (size_t)snprintf(text, size, "exited with code %d", (int)p->exit_code);
    if (at < size) at += (size_t)snprintf(text + at, size - at, "%s", p->broken);
    if (p->last_len && at < size) snprintf(text + at, size - at, "; it said: %s", p->last);
}

/* The process is gone and its output read to the end: whoever waits is told. */
static void on_gone(struct proc *p)
{
    struct child *c = p->owner;
    if (!c) return;
    char text[LAST_WORDS + 400];
    describe_end(p, text, sizeof text);
    c->proc = NULL;
    abandon(p);
    finish(c, &(struct child_answer){.end = CHILD_DIED, .text = text});
}

/* What cannot be asked or heard is of no use: it is ended, and on_process_exit tells. One that dies by itself, whose
 * pipe is closed for that, is given no other end by this. */
static void on_broken_pipe(struct proc *p, const char *doing, int error)
{
    if (!p->owner || p->exited) return;
    snprintf(p->broken, sizeof p->broken, "; %s its pipe: %s", doing, uv_strerror(error));
    end_all(p);
}

/* --- reading --- */

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
    struct proc *p = h->data;
    *buf = uv_buf_init(p->buffer, sizeof p->buffer);
}

/* Keeps the end of what the process printed, control characters and bytes beyond ASCII made visible as '?'. */
static void on_words(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct proc *p = stream->data;
    if (n <= 0) return;
    size_t more = n < LAST_WORDS ? (size_t)n : LAST_WORDS, kept = LAST_WORDS - more;
    if (kept > p->last_len) kept = p->last_len;
    memmove(p->last, p->last + p->last_len - kept, kept);
    for (size_t i = 0; i < more; i++) {
        char ch = buf->base[(size_t)n - more + i];
        if (ch == '\n' || ch == '\t') ch = ' ';
        if (ch < 32 || ch > 126) ch = '?';
        p->last[kept + i] = ch;
    }
    p->last_len = kept + more;
    p->last[p->last_len] = 0;
}

static void take_line(struct proc *p, const char *line, size_t n)
{
    struct child *c = p->owner;
    json_t *reply = c && c->done ? json_loadb(line, n, 0, NULL) : NULL;
    if (!reply) return;         /* noise: nobody asked, or not JSON; a silent worker runs into its time limit */
    finish(c, &(struct child_answer){.end = CHILD_REPLIED, .reply = reply});
    json_decref(reply);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct proc *p = stream->data;
    if (n < 0) {
        uv_read_stop(stream);
        if (n != UV_EOF) on_broken_pipe(p, "reading", (int)n);
        if (p->exited) on_gone(p);
        return;
    }
    const char *at = buf->base, *end = buf->base + n, *newline;
    while (p->owner && (newline = memchr(at, '\n', (size_t)(end - at)))) {
        sb_addn(&p->line, at, (size_t)(newline - at));
        char *line = sb_take(&p->line);
        size_t len = strlen(line);
        take_line(p, line, len);
        mem_free(line);
        at = newline + 1;
    }
    if (p->owner && p->line.len < LINE_LIMIT) sb_addn(&p->line, at, (size_t)(end - at));
}

static void on_process_exit(uv_process_t *process, int64_t code, int sig)
{
    struct proc *p = process->data;
    p->exited = true;
    p->exit_code = code;
    p->signal = sig;
    end_all(p);
    if (*p->mark) strays_end(p->mark);
    if (!p->owner) {
        uv_close((uv_handle_t *)process, on_handle_closed);
        return;
    }
    /* A reply written before the end is still in the pipe: on_read sees it, then the end of file. */
    if (!uv_is_active((uv_handle_t *)&p->from)) on_gone(p);
}

/* --- life --- */

static bool is_this_program(const char *path)
{
    struct stat a, b;
    return !stat(path, &a) && !stat("/proc/self/exe", &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

struct child *child_new(uv_loop_t *loop, const char *self, const char *const *args)
{
    struct child *c = mem_zalloc(1, sizeof *c);
    c->loop = loop;
    c->self = mem_strdup(self);
    c->same = is_this_program(self);
    int n = 0;
    while (args[n]) n++;
    c->args = mem_zalloc((size_t)n + 3, sizeof *c->args);
    c->args[0] = c->self;
    c->args[1] = mem_strdup("worker");
    for (int i = 0; i < n; i++) c->args[i + 2] = mem_strdup(args[i]);
    c->on_host = n >= 2 && !strcmp(args[0], "device") && !strcmp(args[1], "host");
    uv_timer_init(loop, &c->timer);
    c->timer.data = c;
    return c;
}

bool child_alive(const struct child *c) { return c->proc && !c->proc->exited; }
bool child_busy(const struct child *c) { return c->done != NULL; }

static void init_pipe(struct child *c, struct proc *p, uv_pipe_t *pipe)
{
    uv_pipe_init(c->loop, pipe, 0);
    pipe->data = p;
    p->open_handles++;
}

status child_start(struct child *c, struct err *e)
{
    if (child_alive(c)) return LATHE_OK;
    if (c->proc) abandon(c->proc);
    struct proc *p = c->proc = mem_zalloc(1, sizeof *p);
    p->owner = c;
    p->process.data = p;
    init_pipe(c, p, &p->to);
    init_pipe(c, p, &p->from);
    init_pipe(c, p, &p->words);
    uv_stdio_container_t stdio[5] = {
        {.flags = UV_IGNORE},
        {.flags = UV_IGNORE},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&p->words},
        {.flags = UV_CREATE_PIPE | UV_READABLE_PIPE, .data.stream = (uv_stream_t *)&p->to},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&p->from},
    };
    /* Detached: its own session, so that Ctrl-C reaches the coordinator alone. It dies with us all the same:
     * PDEATHSIG. */
    /* NOTE: the file may be deleted or built anew while a campaign runs; its workers are the program that runs it. */
    uv_process_options_t options = {.file = c->same ? "/proc/self/exe" : c->self,
                                    .args = c->args,
                                    .stdio = stdio,
                                    .stdio_count = 5,
                                    .flags = UV_PROCESS_DETACHED,
                                    .exit_cb = on_process_exit};
    if (c->on_host) {
        strays_mark(p->mark);
        options.env = strays_environment(p->mark);
    }
    int r = uv_spawn(c->loop, &p->process, &options);
    mem_free(options.env);
    p->open_handles++;
    p->process.data = p;
    if (r) {
        c->proc = NULL;
        abandon(p);
        return err_set(e, LATHE_IO, "cannot start a worker (%s worker): %s", c->self, uv_strerror(r));
    }
    p->spawned = true;
    uv_read_start((uv_stream_t *)&p->from, on_alloc, on_read);
    uv_read_start((uv_stream_t *)&p->words, on_alloc, on_words);
    return LATHE_OK;
}

struct writing {
    uv_write_t write;
    struct proc *to;            /* is there until its pipe is closed, which comes after this */
    char *text;
};

static void on_written(uv_write_t *w, int result)
{
    struct writing *writing = w->data;
    if (result < 0) on_broken_pipe(writing->to, "writing to", result);
    free(writing->text);
    mem_free(writing);
}

static void count_limit(uv_timer_t *timer);

static void wait_on(struct child *c, double seconds)
{
    uv_timer_start(&c->timer, count_limit, (uint64_t)(seconds * 1000) + 1, 0);
}

/* Since `left` was found. */
static double passed_since(const struct child *c, bool *held_up)
{
    double passed = clock_seconds() - c->counted;
    *held_up = passed > 2 * STEP_SECONDS;
    return *held_up ? STEP_SECONDS : passed;
}

double child_spent(const struct child *c)
{
    bool held_up;
    return c->limit > 0 ? c->limit - c->left + passed_since(c, &held_up) : 0;
}

static void count_limit(uv_timer_t *timer)
{
    struct child *c = timer->data;
    bool held_up;
    c->left -= passed_since(c, &held_up);
    c->counted = clock_seconds();
    if (c->left > 0) {
        wait_on(c, c->left < STEP_SECONDS ? c->left : STEP_SECONDS);
        return;
    }
    if (!c->looked) {           /* after a hold-up the child may have been held up as well, or its answer be half
                                   written */
        c->looked = true;
        wait_on(c, held_up ? STEP_SECONDS : LOOK_SECONDS);
        return;
    }
    struct proc *p = c->proc;
    c->proc = NULL;
    if (p) abandon(p);
    finish(c, &(struct child_answer){.end = CHILD_TIMED_OUT, .text = "time limit"});
}

void child_send(struct child *c, json_t *request, double seconds, child_done done, void *ctx)
{
    c->done = done;
    c->ctx = ctx;
    char *text = json_dumps(request, JSON_COMPACT);
    json_decref(request);
    size_t n = strlen(text);
    text[n] = '\n';
    struct writing *w = mem_zalloc(1, sizeof *w);
    w->text = text;
    w->to = c->proc;
    w->write.data = w;
    uv_buf_t buf = uv_buf_init(text, (unsigned)n + 1);
    int failed = uv_write(&w->write, (uv_stream_t *)&c->proc->to, &buf, 1, on_written);
    if (failed) on_written(&w->write, failed);
    c->limit = c->left = seconds;
    c->counted = clock_seconds();
    c->looked = false;
    if (seconds > 0) wait_on(c, seconds < STEP_SECONDS ? seconds : STEP_SECONDS);
}

void child_kill(struct child *c)
{
    c->done = NULL;
    uv_timer_stop(&c->timer);
    if (c->proc) abandon(c->proc);
    c->proc = NULL;
}

static void on_timer_closed(uv_handle_t *h) { ((struct child *)h->data)->timer_closed = true; }

void child_free(struct child *c)
{
    if (!c) return;
    child_kill(c);
    uv_close((uv_handle_t *)&c->timer, on_timer_closed);
    while (!c->timer_closed) uv_run(c->loop, UV_RUN_NOWAIT);
    for (int i = 1; c->args[i]; i++) mem_free(c->args[i]);
    mem_free(c->args);
    mem_free(c->self);
    mem_free(c);
}
