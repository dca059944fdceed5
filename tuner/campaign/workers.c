/* workers.c: the loop and the processes of a campaign: device workers (devices.c), compilers. */
#include "base/clock.h"
#include "base/mem.h"
#include "campaign/internal.h"
#include "model/scalars.h"
#include <string.h>
#include <unistd.h>

enum { TICK_MS = 200, COMPILE_SECONDS = 120 };

static void on_tick(uv_timer_t *timer)
{
    struct campaign *c = timer->data;
    if (c->id) campaign_emit(c, &(struct campaign_event){.kind = CAMPAIGN_TICK});
}

/* The tensors and the exact outputs, on the check values too, are the least that a problem needs. */
static status check_memory(const struct campaign *c, struct err *e)
{
    struct plan plan;
    status s = plan_tensors(c->problem, &plan, e);
    if (s) return s;
    double references = problem_has_check(c->problem) ? 2 : 1;
    double bytes = (double)plan_bytes(&plan), have = (double)c->target.limit[LIMIT_memory_bytes];
    for (int i = 0; i < plan.ntensors; i++)
        if (plan.buffers[i].role == PLAN_OUTPUT) bytes += (double)plan.buffers[i].count * references * sizeof(double);
    plan_free(&plan);
    if (have <= 0 || bytes <= have) return LATHE_OK;
    struct strbuf size = {0};
    problem_size_text(c->problem, &size);
    err_set(e, LATHE_USAGE,
            "%s needs %.3g GiB of device memory at least, and %s allows %.3g GiB: choose a smaller size", sb_str(&size),
            bytes / 1073741824.0, c->target.device, have / 1073741824.0);
    sb_free(&size);
    return e->code;
}

int campaign_compilers(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 2 ? (int)cores - 1 : 1;
}

/* Three quarters of the machine's memory, shared by the compilers; no less than any needs, as far as is known. */
static int64_t memory_share(int workers)
{
    const int64_t LEAST = INT64_C(2) << 30;
    int64_t bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 4 * 3 / workers;
    return bytes > LEAST ? bytes : LEAST;
}

status campaign_open_workers(struct campaign *c, struct err *e)
{
    const struct campaign_request *r = c->request;
    status s = child_loop_open(&c->loop, e);
    if (s) return s;
    uv_timer_init(&c->loop, &c->tick);
    c->tick.data = c;
    uv_timer_start(&c->tick, on_tick, TICK_MS, TICK_MS);
    c->loop_open = true;
    s = devices_open(c, e);
    if (s) return s;
    int workers = r->compile_workers > 0 ? r->compile_workers : campaign_compilers();
    struct compile_limits limits = {.cores_kept = devices_here(c) + r->devices_beside,
                                    .seconds = r->compile_seconds > 0 ? r->compile_seconds : COMPILE_SECONDS,
                                    .memory = r->compile_memory > 0 ? r->compile_memory
                                                                    : memory_share(workers + r->compilers_beside)};
    c->progress.devices = c->ndevices;
    s = compile_farm_open(&c->loop, r->self, workers, c->target.arch, r->sanitize, limits, &c->farm, e);
    if (s) return s;
    snprintf(c->target.toolchain, sizeof c->target.toolchain, "%s", compile_farm_toolchain(c->farm));
    for (int i = 0; i < c->ndevices; i++)
        memcpy(c->devices[i].target.toolchain, c->target.toolchain, sizeof c->target.toolchain);
    return check_memory(c, e);
}

static void close_loop(struct campaign *c)
{
    if (!c->loop_open) return;
    uv_close((uv_handle_t *)&c->tick, NULL);
    /* killed workers are reaped; one that cannot be (a hung driver) is left behind after two seconds */
    for (double start = clock_seconds(); uv_loop_close(&c->loop) && clock_seconds() - start < 2;) {
        uv_run(&c->loop, UV_RUN_NOWAIT);
        clock_sleep(0.001);
    }
}

void campaign_close_workers(struct campaign *c)
{
    devices_close(c);
    compile_farm_close(c->farm);
    close_loop(c);
    bench_setup_free(&c->setup);
    scalars_free(&c->varied);
}
