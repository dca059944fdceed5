/* test_sharing.c: what a worker's answer says of other processes on its device becomes a warning and the campaign's
 * note. The worker is this program, with answers of its own. */
#include "../db/fixture.h"
#include "campaign/internal.h"
#include "trial/worker.h"

static char self[512];

/* A worker that answers to `open` alone; "cuda:N" is used by N other processes. */
static int worker(const char *device)
{
    FILE *in = fdopen(WORKER_FD_IN, "r");
    struct target t = toy_target();
    char line[4096];
    snprintf(t.device, sizeof t.device, "%s", device);
    while (fgets(line, sizeof line, in)) {
        json_t *others = json_array();
        for (int i = 0; i < atoi(device + strlen("cuda:")); i++) json_array_append_new(others, json_integer(7 + i));
        json_t *reply = json_pack("{s:b, s:o, s:o}", "ok", 1, "target", target_to_json(&t), "others", others);
        char *text = json_dumps(reply, JSON_COMPACT);
        dprintf(WORKER_FD_OUT, "%s\n", text);
        free(text);
        json_decref(reply);
    }
    return 0;
}

static void on_event(void *ctx, const struct campaign_event *ev)
{
    if (ev->kind == CAMPAIGN_NOTE) sb_addf(ctx, "%s\n", ev->text);
}

static void test_note(void **state)
{
    const char *path = in_folder("sharing.db");
    struct problem *p = toy_problem("__global__ void tile() {}");
    struct target t = toy_target();
    struct campaign_record record = toy_campaign(p, &t);
    struct strbuf said = {0};
    struct campaign_request request = {.on_event = on_event, .ctx = &said};
    struct campaign *c = mem_zalloc(1, sizeof *c);
    uv_loop_init(&c->loop);
    c->request = &request;
    c->ndevices = 3;
    c->devices = mem_zalloc(3, sizeof *c->devices);
    for (int i = 0; i < c->ndevices; i++) {
        struct pool_device *d = &c->devices[i];
        snprintf(d->name, sizeof d->name, "cuda:%d", i);
        d->executor = executor_open(&c->loop, self, d->name, d->name);
        assert_ok(executor_wait(d->executor, NULL, NULL, e));
    }
    assert_ok(store_open(path, 5, &c->store, e));
    assert_ok(store_campaign_begin(c->store, &record, &c->id, e));
    assert_ok(sharing_say(c, e));
    assert_string_equal(sb_str(&said), "warning: another process (pid 7) uses cuda:1: its times may suffer\n"
                                       "warning: 2 other processes (pids 7, 8) use cuda:2: its times may suffer\n");
    assert_answer(path, "SELECT note FROM campaign", "another process (pid 7) uses cuda:1: its times may suffer; "
                                                     "2 other processes (pids 7, 8) use cuda:2: its times may suffer");
    for (int i = 0; i < c->ndevices; i++) executor_close(c->devices[i].executor);
    while (uv_loop_close(&c->loop)) uv_run(&c->loop, UV_RUN_ONCE);
    store_close(c->store);
    mem_free(c->devices);
    mem_free(c);
    problem_free(p);
    sb_free(&said);
}

int main(int argc, char **argv)
{
    if (argc > 3 && !strcmp(argv[1], "worker")) return worker(argv[3]);
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 1;
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_note)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
