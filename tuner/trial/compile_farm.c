/* compile_farm.c: see compile_farm.h. Invariants: a job is in one of the two queues or on exactly one worker; callbacks
 * come from the loop, never from compile_farm_add; two jobs with the same key may both compile (the later rename
 * replaces the same bytes). */
#include "trial/compile_farm.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "trial/cache.h"
#include <ctype.h>
#include <string.h>

struct job {
    struct job *next;
    char *source, *name;
    char **defines;
    int ndefines;
    char key[HASH_HEX];
    char *image;
    bool again;                 /* its compiler died once */
    compile_done done;
    void *ctx;
};

struct queue {
    struct job *first, *last;
};

struct worker {
    struct compile_farm *farm;
    struct child *child;
    struct job *job;
};

struct compile_farm {
    uv_loop_t *loop;
    uv_idle_t idle;             /* active while there may be something to answer or to start */
    bool idle_closed;
    char *arch, *dir;
    char toolchain[256];
    bool sanitize;
    struct compile_limits limits;
    struct worker *workers;
    int nworkers, pending;
    struct queue waiting, cached;   /* to be compiled; found in the cache */
};

static void pump(struct compile_farm *f);

static void job_free(struct job *j)
{
    for (int i = 0; i < j->ndefines; i++) mem_free(j->defines[i]);
    mem_free(j->defines);
    mem_free(j->source);
    mem_free(j->name);
    mem_free(j->image);
    mem_free(j);
}

static void job_end(struct compile_farm *f, struct job *j, enum compile_end end, const char *text, double seconds,
                    bool cached)
{
    f->pending--;
    struct compile_answer a = {.end = end, .image = j->image, .key = j->key, .text = text, .seconds = seconds,
                               .cached = cached};
    j->done(j->ctx, &a);
    job_free(j);
}

static void start(struct worker *w, struct job *j);

/* `how` it died. w has a job again, or the job is at its end. */
static void compiler_died(struct worker *w, struct job *j, const char *how, double seconds)
{
    if (!j->again) {
        j->again = true;
        child_kill(w->child);
        start(w, j);
        return;
    }
    char *text = mem_printf("the compiler died: %s", how);
    job_end(w->farm, j, COMPILE_CRASHED, text, seconds, false);
    mem_free(text);
}

/* Without the line end behind a compiler's last line. mem_free it. */
static char *log_of(const json_t *reply)
{
    const char *log = json_string_value(json_object_get(reply, "log"));
    size_t len = log ? strlen(log) : 0;
    while (len && isspace((unsigned char)log[len - 1])) len--;
    return mem_printf("%.*s", (int)len, log ? log : "");
}

static void on_compiled(void *ctx, const struct child_answer *a)
{
    struct worker *w = ctx;
    struct compile_farm *f = w->farm;
    struct job *j = w->job;
    w->job = NULL;
    if (a->end == CHILD_TIMED_OUT) {
        char text[80];
        snprintf(text, sizeof text, "the compiler took longer than %g s", f->limits.seconds);
        job_end(f, j, COMPILE_TIMED_OUT, text, f->limits.seconds, false);
    } else if (a->end == CHILD_DIED) {
        compiler_died(w, j, a->text, 0);
    } else if (!json_is_true(json_object_get(a->reply, "ok"))) {
        const char *text = json_string_value(json_object_get(a->reply, "error"));
        job_end(f, j, COMPILE_FAILED, text ? text : "the compile worker gave no reason", 0, false);
    } else {
        bool compiled = json_is_true(json_object_get(a->reply, "compiled"));
        char *log = log_of(a->reply);
        double seconds = json_number_value(json_object_get(a->reply, "seconds"));
        if (compiled) cache_seal(j->image);
        if (json_is_true(json_object_get(a->reply, "died")))
            compiler_died(w, j, log, seconds);
        else
            job_end(f, j, compiled ? COMPILE_DONE : COMPILE_REFUSED, log, seconds, false);
        mem_free(log);
    }
    pump(f);
}

static json_t *compile_request(const struct compile_farm *f, const struct job *j)
{
    json_t *defines = json_array();
    for (int i = 0; i < j->ndefines; i++) json_array_append_new(defines, json_string(j->defines[i]));
    return json_pack("{s:s, s:s, s:s, s:o, s:s, s:s, s:b, s:I}", "op", "compile", "source", j->source, "name", j->name,
                     "defines", defines, "arch", f->arch, "image", j->image, "sanitize", f->sanitize,
                     "memory", (json_int_t)f->limits.memory);
}

static void queue_add(struct queue *q, struct job *j)
{
    if (q->last)
        q->last->next = j;
    else
        q->first = j;
    q->last = j;
}

static struct job *queue_take(struct queue *q)
{
    struct job *j = q->first;
    if (!j) return NULL;
    q->first = j->next;
    if (!q->first) q->last = NULL;
    return j;
}

static void start(struct worker *w, struct job *j)
{
    struct compile_farm *f = w->farm;
    struct err e = {0};
    status s = child_start(w->child, &e);
    json_t *request = s ? NULL : compile_request(f, j);
    if (!request) {
        job_end(f, j, COMPILE_FAILED, s ? e.text : "the source is not UTF-8 text", 0, false);
        return;
    }
    w->job = j;
    child_send(w->child, request, f->limits.seconds, on_compiled, w);
}

/* Gives every idle worker a job. */
static void pump(struct compile_farm *f)
{
    for (int i = 0; i < f->nworkers && f->waiting.first; i++) {
        struct worker *w = &f->workers[i];
        if (w->job) continue;
        start(w, queue_take(&f->waiting));
    }
}

static void on_idle(uv_idle_t *idle)
{
    struct compile_farm *f = idle->data;
    uv_idle_stop(idle);
    for (struct job *j; (j = queue_take(&f->cached));) job_end(f, j, COMPILE_DONE, "", 0, true);
    pump(f);
}

/* --- life --- */

struct waiting {
    bool over, died;
    status code;
    struct compile_farm *farm;
    struct err *e;
};

static void on_toolchain(void *ctx, const struct child_answer *a)
{
    struct waiting *w = ctx;
    w->over = true;
    w->died = a->end == CHILD_DIED;
    const char *toolchain = a->reply ? json_string_value(json_object_get(a->reply, "toolchain")) : NULL;
    const char *error = a->reply ? json_string_value(json_object_get(a->reply, "error")) : a->text;
    if (toolchain)
        snprintf(w->farm->toolchain, sizeof w->farm->toolchain, "%s", toolchain);
    else
        w->code = err_set(w->e, LATHE_COMPILER, "%s", error ? error : "the compile worker gave no reason");
}

static status ask_toolchain(struct compile_farm *f, struct err *e)
{
    struct child *c = f->workers[0].child;
    struct waiting w = {0};
    for (int i = 0; i < 2 && (i == 0 || (w.code && w.died)); i++) {     /* it may have been killed from outside */
        status s = child_start(c, e);
        if (s) return s;
        w = (struct waiting){.farm = f, .e = e};
        child_send(c, json_pack("{s:s, s:s}", "op", "toolchain", "arch", f->arch), 60, on_toolchain, &w);
        while (!w.over) uv_run(f->loop, UV_RUN_ONCE);
    }
    return w.code;
}

status compile_farm_open(uv_loop_t *loop, const char *self, int workers, const char *arch, bool sanitize,
                         struct compile_limits limits, struct compile_farm **out, struct err *e)
{
    char kept[12];
    const char *args[] = {"compile", kept, NULL};
    snprintf(kept, sizeof kept, "%d", limits.cores_kept);
    char *dir;
    status s = cache_open(&dir, e);
    if (s) return s;
    struct compile_farm *f = mem_zalloc(1, sizeof *f);
    f->loop = loop;
    f->dir = dir;
    f->arch = mem_strdup(arch);
    f->sanitize = sanitize;
    f->limits = limits;
    f->nworkers = workers < 1 ? 1 : workers;
    f->workers = mem_zalloc((size_t)f->nworkers, sizeof *f->workers);
    for (int i = 0; i < f->nworkers; i++) {
        f->workers[i].farm = f;
        f->workers[i].child = child_new(loop, self, args);
    }
    uv_idle_init(loop, &f->idle);
    f->idle.data = f;
    cache_trim(dir);
    s = ask_toolchain(f, e);
    if (s)
        compile_farm_close(f);
    else
        *out = f;
    return s;
}

void compile_farm_cancel(struct compile_farm *f)
{
    struct queue *queues[] = {&f->waiting, &f->cached};
    for (int q = 0; q < 2; q++)
        for (struct job *j; (j = queue_take(queues[q]));) {
            f->pending--;
            job_free(j);
        }
    for (int i = 0; i < f->nworkers; i++) {
        struct worker *w = &f->workers[i];
        if (!w->job) continue;
        child_kill(w->child);
        job_free(w->job);
        w->job = NULL;
        f->pending--;
    }
}

static void on_idle_closed(uv_handle_t *h) { ((struct compile_farm *)h->data)->idle_closed = true; }

void compile_farm_close(struct compile_farm *f)
{
    if (!f) return;
    compile_farm_cancel(f);
    for (int i = 0; i < f->nworkers; i++) child_free(f->workers[i].child);
    uv_close((uv_handle_t *)&f->idle, on_idle_closed);
    while (!f->idle_closed) uv_run(f->loop, UV_RUN_NOWAIT);
    mem_free(f->workers);
    mem_free(f->arch);
    mem_free(f->dir);
    mem_free(f);
}

const char *compile_farm_toolchain(const struct compile_farm *f) { return f->toolchain; }
int compile_farm_pending(const struct compile_farm *f) { return f->pending; }

void compile_farm_add(struct compile_farm *f, const struct compile_job *job, compile_done done, void *ctx)
{
    struct job *j = mem_zalloc(1, sizeof *j);
    j->source = mem_strdup(job->source);
    j->name = mem_strdup(job->name);
    j->ndefines = job->ndefines;
    j->defines = mem_zalloc((size_t)job->ndefines + 1, sizeof *j->defines);
    for (int i = 0; i < job->ndefines; i++) j->defines[i] = mem_strdup(job->defines[i]);
    cache_key(j->source, j->defines, j->ndefines, f->arch, f->toolchain, f->sanitize, j->key);
    j->image = cache_path(f->dir, j->key);
    j->done = done;
    j->ctx = ctx;
    queue_add(cache_has(j->image) ? &f->cached : &f->waiting, j);
    f->pending++;
    uv_idle_start(&f->idle, on_idle);
}
