/* fixture.h: a small problem, records and results for the tests of db/, and a folder that is removed at the end. */
#ifndef LATHE_TEST_DB_FIXTURE_H
#define LATHE_TEST_DB_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "db/query.h"
#include "db/store.h"
#include "model/config.h"
#include "model/problem.h"

#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* SOURCE stands for the kernel's text, so that a test can edit it. */
static const char TOY[] =
    "{'tag':'problem','name':'toy','summary':'Y = s z','dims':[['M',4],['N',8],['K',16]],'scalars':[['s',2.0]],"
    "'tensors':[{'#':['X','f32',['M','K']],'fill':{'tag':'uniform','#':[0,1]}},"
    "{'#':['W','f32',['N','K']],'fill':{'tag':'uniform','#':[0,1]}},{'#':['Y','f32',['M','N']],'output':true}],"
    "'epilogue':'s * z','reference':{'tag':'gemm','#':['X','W','Y'],'trans_b':true},"
    "'tolerance':{'atol':1e-4,'rtol':1e-4},"
    "'flops':'2.0*M*N*K','bytes':'4.0*(M*K + N*K + M*N)',"
    "'kernels':[{'#':['tile'],'source':'toy/tile.cu','source_text':'SOURCE','params':[{'#':['BM',[16,32,64,128]]},"
    "{'#':['ALPHA',[0.5,2.0]]},{'#':['TRANSPOSED',[false,true]]},"
    "{'#':['MODE',['fast','safe']],'when':'TRANSPOSED'}],"
    "'steps':[{'tag':'launch','#':['tile'],'grid':1,'block':32,'args':['X','W','Y','M','N','K']}]},"
    "{'#':['shown'],'source':'toy/tile.cu','source_text':'SOURCE','eligible':false,"
    "'steps':[{'tag':'launch','#':['tile'],'grid':1,'block':32,'args':['X','W','Y','M','N','K']}]}],"
    "'baselines':[{'#':['alone'],'checked':false,'steps':[{'tag':'gemm','#':['X','W','Y'],'trans_b':true}]},"
    "{'#':['library'],'steps':[{'tag':'gemm','#':['X','W','Y'],'trans_b':true}]}]}";
enum { TILE, SHOWN, ALONE, LIBRARY };

/* A single quote stands for a double one in JSON written here. */
static inline char *quoted(const char *text)
{
    char *s = mem_strdup(text);
    for (char *p = s; *p; p++)
        if (*p == '\'')
            *p = '"';
    return s;
}

static inline struct problem *toy_problem(const char *source)
{
    struct err e = {0};
    struct problem *p = NULL;
    struct strbuf b = {0};
    char *text = quoted(TOY), *from = text;
    for (char *at; (at = strstr(from, "SOURCE")) != NULL; from = at + strlen("SOURCE")) {
        sb_addn(&b, from, (size_t)(at - from));
        sb_add(&b, source);
    }
    sb_add(&b, from);
    json_t *j = json_loads(sb_str(&b), 0, NULL);
    assert_non_null(j);
    if (problem_from_json(j, "toy.lua", NULL, &p, &e))
        fail_msg("%s", e.text);
    json_decref(j);
    sb_free(&b);
    mem_free(text);
    return p;
}

static inline struct target toy_target(void)
{
    return (struct target){.device = "cuda:0", .name = "Toy GPU", .uuid = "GPU-1", .arch = "sm_90a", .driver = "580",
                           .toolchain = "NVRTC 13.0", .host = "here", .limit = {90, 132, 32}, .peak_gbps = 4800};
}

static inline struct campaign_record toy_campaign(const struct problem *p, const struct target *t)
{
    return (struct campaign_record){.problem = p, .target = t, .strategy = "random", .kernels = "tile", .seed = 7,
                                    .strategy_text = "return strategy {}", .strategy_options = "batch=16",
                                    .budget_trials = 100, .tool_version = "v1.2-3", .command_line = "lathe tune toy",
                                    .space_size = 24};
}

#define assert_ok(call)                                                                                                \
    do {                                                                                                               \
        struct err e_ = {0};                                                                                           \
        struct err *e = &e_;                                                                                           \
        if ((call) != LATHE_OK)                                                                                        \
            fail_msg("%s", e_.text);                                                                                   \
    } while (0)

/* The call fails with this status, and the message has these words. `e` in the call is the error. */
#define assert_fails(code_, words, call)                                                                               \
    do {                                                                                                               \
        struct err e_ = {0};                                                                                           \
        struct err *e = &e_;                                                                                           \
        assert_int_equal((call), code_);                                                                               \
        if (!strstr(e_.text, words))                                                                                   \
            fail_msg("\"%s\" is not in \"%s\"", words, e_.text);                                                       \
    } while (0)

/* Begins a trial of a kernel at these choices. */
static inline status begin_trial(struct store *s, const struct problem *p, const struct target *t, int64_t campaign,
                                 int64_t number, int kernel, const config_choice *choice, int64_t *id, struct err *e)
{
    static const config_choice zeros[8];
    const struct kernel *k = &p->kernels[kernel];
    struct value *slots = mem_zalloc((size_t)k->scope.count + 1, sizeof *slots);
    kernel_slots_fixed(p, k, t, slots);
    status st = kernel_slots_config(k, choice ? choice : zeros, slots, e);
    struct trial_record record = {.campaign = campaign, .number = number, .kernel = k, .slots = slots,
                                  .choice = choice ? choice : zeros, .image_key = "image-1"};
    if (!st)
        st = store_trial_begin(s, &record, id, e);
    mem_free(slots);
    return st;
}

/* A right result of this time; free with result_free. */
static inline struct result good_result(double ms)
{
    struct result r;
    result_init(&r);
    r.outcome = OUTCOME_ok;
    r.time_ms = ms;
    r.samples.regime = REGIME_TRIAL;
    r.samples.count = 3;
    r.samples.ms = mem_zalloc(3, sizeof *r.samples.ms);
    for (int i = 0; i < 3; i++)
        r.samples.ms[i] = ms * (0.99 + 0.01 * i);
    samples_summarise(&r.samples);
    r.verification = (struct verification){.done = true, .reference = "fp64", .seed = UINT64_MAX, .max_abs = 1e-5,
                                           .max_rel = 2e-5, .frobenius = 3e-6, .frobenius_limit = 6e-6, .elements = 32,
                                           .deterministic = true};
    r.resources = (struct resources){.registers = 64, .local_bytes = 8, .shared_static = 1024, .shared_dynamic = 2048,
                                     .occupancy = 0.5};
    r.telemetry.sm_mhz = 1980;
    r.telemetry.throttle_reasons = UINT64_C(0x8000000000000004);
    r.telemetry.throttle_known = true;
    r.stage = (struct stage_seconds){
        0.5, 0.01, 0.1, 0.2, .compile_cached = true, .total = NAN, .strategy = 0.03, .store = 0.02, .device = 0.35};
    return r;
}

/* A whole trial that is right, in one go. */
static inline int64_t put_trial(struct store *s, const struct problem *p, const struct target *t, int64_t campaign,
                                int64_t number, int kernel, const config_choice *choice, double ms)
{
    int64_t id = 0;
    struct result r = good_result(ms);
    assert_ok(begin_trial(s, p, t, campaign, number, kernel, choice, &id, e));
    assert_ok(store_trial_end(s, id, &r, e));
    result_free(&r);
    return id;
}

static inline void put_cold(struct store *s, int64_t trial, enum regime regime, double ms)
{
    struct samples m = {.regime = regime, .ms = &ms, .count = 1};
    struct telemetry t = {.sm_mhz = NAN, .mem_mhz = NAN, .power_w = 700, .temperature_c = 50, .sm_mhz_low = NAN};
    samples_summarise(&m);
    assert_ok(store_measurement(s, trial, 0, &m, &t, e));
}

/* A folder for the test program's files; its name in `folder`. In memory where that can be had: the store syncs twice a
 * trial, and the disk's speed is none of the tests' business. */
static char folder[64];

static inline int make_folder(void **state)
{
    snprintf(folder, sizeof folder, "/dev/shm/lathe-test-db-XXXXXX");
    if (mkdtemp(folder))
        return 0;
    snprintf(folder, sizeof folder, "/tmp/lathe-test-db-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    return remove(path) && errno != ENOENT;
}

static inline int remove_folder(void **state)
{
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* A path of this name in the folder; valid until the eighth next call. */
static inline const char *in_folder(const char *name)
{
    static char paths[8][256];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* One value by SQL over a connection of its own; "NULL" for null. Valid until the next call. */
static inline const char *ask(const char *path, const char *sql)
{
    static char answer[4000];
    sqlite3 *db;
    sqlite3_stmt *st;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK || sqlite3_step(st) != SQLITE_ROW)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    const char *text = (const char *)sqlite3_column_text(st, 0);
    snprintf(answer, sizeof answer, "%s", text ? text : "NULL");
    sqlite3_finalize(st);
    sqlite3_close(db);
    return answer;
}

#define assert_answer(path, sql, wanted) assert_string_equal(ask(path, sql), wanted)

/* Runs SQL that returns nothing, such as what another program would do to the file. */
static inline void meddle(const char *path, const char *sql)
{
    sqlite3 *db;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    sqlite3_close(db);
}

#endif
