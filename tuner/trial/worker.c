/* worker.c: see worker.h. A worker keeps no file but what its requests name, and owns nothing that outlives it. */
#include "trial/worker.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/process.h"
#include "device/jit.h"
#include "trial/evaluate.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* --- lines --- */

struct reader {
    FILE *in;
    char *line;
    size_t cap;
};

/* NULL at the end of the input, or when a line is not a JSON object. */
static json_t *next_request(struct reader *r)
{
    ssize_t n = getline(&r->line, &r->cap, r->in);
    return n <= 0 ? NULL : json_loadb(r->line, (size_t)n, 0, NULL);
}

static bool send_reply(json_t *reply)
{
    char *text = json_dumps(reply, JSON_COMPACT);
    json_decref(reply);
    if (!text) return false;
    size_t n = strlen(text), at = 0;
    text[n++] = '\n';           /* in place of the NUL: only n bytes are written */
    while (at < n) {
        ssize_t w = write(WORKER_FD_OUT, text + at, n - at);
        if (w < 0 && errno == EINTR) continue;
        if (w <= 0) break;
        at += (size_t)w;
    }
    free(text);
    return at == n;
}

static json_t *failure(const struct err *e)
{
    return json_pack("{s:b, s:i, s:s}", "ok", 0, "status", (int)e->code, "error", e->text);
}

static const char *text_of(const json_t *j, const char *key)
{
    const char *s = json_string_value(json_object_get(j, key));
    return s ? s : "";
}

/* --- compile worker --- */

static json_t *do_toolchain(const json_t *request)
{
    char toolchain[256];
    struct err e = {0};
    if (jit_toolchain(text_of(request, "arch"), toolchain, sizeof toolchain, &e)) return failure(&e);
    return json_pack("{s:b, s:s}", "ok", 1, "toolchain", toolchain);
}

/* What a compiler may allocate, this process's own and the ones it starts. Private writable memory counts and address
 * space does not: CUDA's compiler maps a lot that it never uses. */
static void limit_memory(const json_t *request)
{
#ifndef __SANITIZE_ADDRESS__    /* its shadow memory alone would be over any limit */
    json_int_t bytes = json_integer_value(json_object_get(request, "memory"));
    struct rlimit limit;
    if (bytes <= 0 || getrlimit(RLIMIT_DATA, &limit)) return;
    limit.rlim_cur = limit.rlim_max < (rlim_t)bytes ? limit.rlim_max : (rlim_t)bytes;
    setrlimit(RLIMIT_DATA, &limit);
#endif
}

static json_t *do_compile(const json_t *request)
{
    limit_memory(request);
    const json_t *list = json_object_get(request, "defines");
    int n = (int)json_array_size(list);
    char **defines = mem_zalloc((size_t)n + 1, sizeof *defines);
    for (int i = 0; i < n; i++) defines[i] = (char *)json_string_value(json_array_get(list, (size_t)i));
    struct jit_request jit = {.source = text_of(request, "source"),
                              .name = text_of(request, "name"),
                              .defines = defines,
                              .ndefines = n,
                              .arch = text_of(request, "arch"),
                              .image_path = text_of(request, "image"),
                              .sanitize = json_is_true(json_object_get(request, "sanitize"))};
    struct jit_outcome out = {0};
    struct err e = {0};
    double start = clock_seconds();
    status s = jit_compile(&jit, &out, &e);
    json_t *reply =
        s ? failure(&e)
          : json_pack("{s:b, s:b, s:b, s:f, s:s%}", "ok", 1, "compiled", out.ok, "died", out.died, "seconds",
                      clock_seconds() - start, "log", out.log ? out.log : "", out.log ? strlen(out.log) : (size_t)0);
    if (!reply) {               /* a log that is not UTF-8 */
        err_set(&e, LATHE_COMPILER, "the compiler's log cannot be read as text");
        reply = json_pack("{s:b, s:b, s:b, s:f, s:s}", "ok", 1, "compiled", out.ok, "died", out.died, "seconds",
                          clock_seconds() - start, "log", e.text);
    }
    mem_free(out.log);
    mem_free(defines);
    return reply;
}

static int compile_worker(struct reader *r)
{
    json_t *request;
    while ((request = next_request(r))) {
        const char *op = text_of(request, "op");
        struct err e = {0};
        json_t *reply;
        if (!strcmp(op, "toolchain")) {
            reply = do_toolchain(request);
        } else if (!strcmp(op, "compile")) {
            reply = do_compile(request);
        } else {
            err_set(&e, LATHE_INTERNAL, "compile worker: unknown request \"%s\"", op);
            reply = failure(&e);
        }
        json_decref(request);
        if (!send_reply(reply)) return 1;
    }
    return 0;
}

/* --- device worker --- */

struct device_worker {
    const struct dev_ops *ops;
    struct dev *dev;
    struct target target;
    struct bench bench;
    bool ready, lost;
};

static json_t *do_open(struct device_worker *w, const char *device)
{
    int number = 0;
    struct err e = {0};
    status s = dev_find(device, &w->ops, &number, &e);
    if (!s) s = w->ops->open(number, &w->dev, &w->target, &e);
    if (s) return failure(&e);
    const int *pids = NULL;
    int n = w->ops->others ? w->ops->others(w->dev, &pids) : 0;
    json_t *others = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(others, json_integer(pids[i]));
    return json_pack("{s:b, s:o, s:o}", "ok", 1, "target", target_to_json(&w->target), "others", others);
}

static json_t *nan_or_real(double v) { return isfinite(v) ? json_real(v) : json_null(); }

static json_t *do_inputs(struct device_worker *w, const json_t *request)
{
    struct err e = {0};
    struct bench *b = &w->bench;
    int inputs = inputs_parse(text_of(request, "inputs"));
    status s =
        inputs >= 0 ? LATHE_OK : err_set(&e, LATHE_INTERNAL, "unknown inputs \"%s\"", text_of(request, "inputs"));
    uint64_t seed = (uint64_t)json_integer_value(json_object_get(request, "seed"));
    if (!s) s = bench_inputs(b, (enum inputs)inputs, seed, &e);
    if (s) return failure(&e);
    const struct answers *a = &b->timed;
    char blind[160], lax[48];
    bench_blind(b, blind, sizeof blind);
    bench_lax(b, lax, sizeof lax);
    bool energy = w->ops->energy_mj && isfinite(w->ops->energy_mj(w->dev));
    return json_pack("{s:b, s:b, s:s, s:o, s:f, s:o, s:o, s:s, s:s}", "ok", 1, "energy", (int)energy, "reference",
                     a->reference, "sgemm_error", nan_or_real(a->sgemm_error), "frobenius_limit", a->frobenius_limit,
                     "sgemm_scaled", nan_or_real(a->sgemm_scaled), "scaled_limit", nan_or_real(a->scaled_limit),
                     "blind", blind, "lax", lax);
}

/* After the inputs, and apart: a reference that was written for the specification's scalars may fail here. */
static json_t *do_vary(struct device_worker *w)
{
    struct err e = {0};
    status s = w->ready ? bench_vary(&w->bench, &e) : err_set(&e, LATHE_INTERNAL, "vary before setup");
    return s ? failure(&e) : json_pack("{s:b, s:s}", "ok", 1, "unvaried", w->bench.unvaried);
}

static json_t *do_setup(struct device_worker *w, const json_t *request)
{
    struct err e = {0};
    struct bench_setup setup;
    status s = w->dev ? LATHE_OK : err_set(&e, LATHE_INTERNAL, "setup before open");
    if (!s) s = bench_setup_from_json(json_object_get(request, "setup"), &setup, &e);
    if (!s) s = bench_open(w->ops, w->dev, &w->target, &setup, &w->bench, &e);
    uint64_t hash;
    if (!s) s = bench_hash(&w->bench, 0, &hash, &e);    /* lathe's own kernels run: what fails next is the reference's
                                                           fault */
    if (s) return failure(&e);
    w->ready = true;
    return json_pack("{s:b}", "ok", 1);
}

static json_t *do_evaluate(struct device_worker *w, const json_t *request)
{
    struct err e = {0};
    struct evaluation v;
    status s = w->ready ? LATHE_OK : err_set(&e, LATHE_INTERNAL, "evaluate before setup");
    if (!s) s = evaluation_from_json(json_object_get(request, "evaluation"), &v, &e);
    if (s) return failure(&e);
    struct result r;
    w->lost = !evaluate(&w->bench, &v, &r);
    json_t *reply = json_pack("{s:b, s:o, s:b}", "ok", 1, "result", result_to_json(&r), "lost", w->lost);
    result_free(&r);
    evaluation_free(&v);
    return reply;
}

static int device_worker(struct reader *r, const char *device)
{
    struct device_worker w = {0};
    json_t *request;
    bool sent = true;
    while (sent && !w.lost && (request = next_request(r))) {
        const char *op = text_of(request, "op");
        struct err e = {0};
        json_t *reply;
        if (!strcmp(op, "open")) {
            reply = do_open(&w, device);
        } else if (!strcmp(op, "setup")) {
            reply = do_setup(&w, request);
        } else if (!strcmp(op, "inputs")) {
            reply = do_inputs(&w, request);
        } else if (!strcmp(op, "vary")) {
            reply = do_vary(&w);
        } else if (!strcmp(op, "evaluate")) {
            reply = do_evaluate(&w, request);
        } else {
            err_set(&e, LATHE_INTERNAL, "device worker: unknown request \"%s\"", op);
            reply = failure(&e);
        }
        json_decref(request);
        sent = send_reply(reply);
    }
    if (w.lost) _exit(0);       /* its memory and context are not to be touched again */
    if (w.ready) bench_close(&w.bench);
    if (w.dev) w.ops->close(w.dev);
    return sent ? 0 : 1;
}

int worker_main(int argc, char **argv)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    fcntl(WORKER_FD_IN, F_SETFD, FD_CLOEXEC);       /* not for the compilers that a worker starts */
    fcntl(WORKER_FD_OUT, F_SETFD, FD_CLOEXEC);
    struct reader r = {.in = fdopen(WORKER_FD_IN, "r")};
    if (!r.in || argc < 1) return 2;
    int code = 2;
    if (!strcmp(argv[0], "compile") && argc >= 2) {
        enum { COMPILERS_CORES = 3 };       /* fewer than these are too few to be divided */
        process_leave_cores(atoi(argv[1]), COMPILERS_CORES);
        code = compile_worker(&r);
    } else if (!strcmp(argv[0], "device") && argc >= 2)
        code = device_worker(&r, argv[1]);
    fclose(r.in);
    free(r.line);
    return code;
}
