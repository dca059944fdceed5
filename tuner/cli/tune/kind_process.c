/* kind_process.c: see kind_process.h. Its lines are {"event": ...} as for --json; {"begun": campaign}; {"line": text,
 * "shade": n}; {"counts": text}; and the last one {"end": status, "text": error, ...}. One that ends without the last
 * one was killed, or crashed. */
#include "cli/tune/kind_process.h"
#include "cli/output/report.h"
#include "cli/progress/signals.h"
#include "console/output.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- that process --- */

/* A reader that is gone is this process's end as well: nothing is done about it. */
static void put(json_t *j)
{
    struct strbuf b = {0};
    struct err ignored = {0};
    json_line(&b, j);
    sb_add(&b, "\n");
    (void)out_buffer(&b, &ignored);
    json_decref(j);
}

static void put_begun(void *ctx, int64_t campaign)
{
    put(json_pack("{s:I}", "begun", (json_int_t)campaign));
}

static void put_line(void *ctx, enum progress_shade shade, const char *text)
{
    put(json_pack("{s:o, s:i}", "line", out_string(text), "shade", (int)shade));
}

static void put_counts(void *ctx, const char *text)
{
    put(json_pack("{s:o}", "counts", out_string(text)));
}

static void put_end(status s, const struct err *e, const struct campaign_summary *summary)
{
    put(json_pack("{s:i, s:o, s:I, s:I, s:b, s:b, s:b}", "end", (int)s, "text", out_string(s ? e->text : ""), "campaign",
                  (json_int_t)summary->id, "winner", (json_int_t)summary->winner_trial, "interrupted",
                  (int)summary->interrupted, "measured", (int)summary->measured,
                  "elsewhere", (int)summary->elsewhere));
}

/* NOTE: it ends by _exit: what the other process has in its buffers, or would do at its end, is not done twice. */
_Noreturn static void be_kind(pid_t parent, int to, const sigset_t *signals, const struct tune_args *args,
                              const struct campaign_request *request)
{
    static const struct tune_sink sink = {{put_line, put_counts, NULL}, put_begun};
    struct campaign_summary summary = {0};
    struct err e = {0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(to, STDOUT_FILENO) < 0)
        _exit(status_exit_code(LATHE_IO));
    close(to);
    signals_obey();
    sigprocmask(SIG_SETMASK, signals, NULL);
    status s = tune_run_campaign(args, request, &sink, &summary, &e);
    put_end(s, &e, &summary);
    _exit(0);
}

/* --- this one --- */

status kind_process_start(struct kind_process *p, const struct tune_args *args,
                          const struct campaign_request *request, struct err *e)
{
    int ends[2];
    sigset_t all, before;
    *p = (struct kind_process){0};
    if (pipe2(ends, O_CLOEXEC))
        return p->code = err_set(e, LATHE_IO, "no pipe to the process of its campaign: %s", strerror(errno));
    fflush(NULL);
    sigfillset(&all);           /* until it handles them by itself */
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t parent = getpid();
    p->pid = fork();
    int why = errno;
    if (p->pid == 0)
        be_kind(parent, ends[1], &before, args, request);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    p->from = ends[0];
    if (p->pid > 0)
        return LATHE_OK;
    p->pid = 0;
    close(ends[0]);
    return p->code = err_set(e, LATHE_IO, "no process for its campaign: %s", strerror(why));
}

void kind_process_ask(const struct kind_process *p)
{
    if (p->pid)
        kill(p->pid, SIGUSR1);
}

static void take_end(struct kind_process *p, const json_t *j)
{
    int code = (int)tree_int(j, "end");
    p->told = true;
    p->code = code >= 0 && code < STATUS_COUNT ? (status)code : LATHE_INTERNAL;
    if (p->code)
        err_set(&p->err, p->code, "%s", tree_text(j, "text"));
    p->summary.id = tree_int(j, "campaign");
    p->summary.winner_trial = tree_int(j, "winner");
    p->summary.interrupted = json_is_true(json_object_get(j, "interrupted"));
    p->summary.measured = json_is_true(json_object_get(j, "measured"));
    p->summary.elsewhere = json_is_true(json_object_get(j, "elsewhere"));
}

static void take_line(struct kind_process *p, const char *line, size_t len, const struct kind_shown *shown)
{
    static const char EVENT[] = "{\"event\":";
    if (len >= sizeof EVENT - 1 && !memcmp(line, EVENT, sizeof EVENT - 1)) {
        shown->event(shown->ctx, line, len);
        return;
    }
    json_t *j = json_loadb(line, len, 0, NULL);
    if (json_object_get(j, "line"))
        shown->line(shown->ctx, (enum progress_shade)tree_int(j, "shade"), tree_text(j, "line"));
    else if (json_object_get(j, "counts"))
        shown->counts(shown->ctx, tree_text(j, "counts"));
    else if (json_object_get(j, "begun"))
        p->summary.id = tree_int(j, "begun");
    else if (json_object_get(j, "end"))
        take_end(p, j);
    json_decref(j);
}

static void take_lines(struct kind_process *p, const struct kind_shown *shown)
{
    const char *at = sb_str(&p->in), *end = at + p->in.len, *newline;
    while ((newline = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        take_line(p, at, (size_t)(newline + 1 - at), shown);
        at = newline + 1;
    }
    struct strbuf rest = {0};
    sb_addn(&rest, at, (size_t)(end - at));
    sb_free(&p->in);
    p->in = rest;
}

/* Of a process that did not tell. One that was killed is as a campaign that was interrupted: it can go on; one that ran
 * out of memory has said so. */
static void take_death(struct kind_process *p, int how)
{
    if (WIFEXITED(how))
        p->code = err_set(&p->err, WEXITSTATUS(how) == status_exit_code(LATHE_NOMEM) ? LATHE_NOMEM : LATHE_INTERNAL,
                          "its process ended with exit code %d", WEXITSTATUS(how));
    else
        p->code = err_set(&p->err, WTERMSIG(how) == SIGKILL ? LATHE_INTERRUPTED : LATHE_INTERNAL,
                          "its process was killed by signal %d (%s)", WTERMSIG(how), strsignal(WTERMSIG(how)));
    p->summary.measured = true; /* as far as can be told */
}

bool kind_process_read(struct kind_process *p, const struct kind_shown *shown)
{
    char buffer[65536];
    int how = 0;
    ssize_t n = read(p->from, buffer, sizeof buffer);
    if (n > 0) {
        sb_addn(&p->in, buffer, (size_t)n);
        take_lines(p, shown);
    }
    if (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)))
        return true;
    close(p->from);
    sb_free(&p->in);
    while (waitpid(p->pid, &how, 0) < 0 && errno == EINTR)
        ;
    p->pid = 0;
    if (!p->told)
        take_death(p, how);
    return false;
}
