/* open.c: from a file to a recording: what format it is, and the way through its first level.
 *
 * What a reader of entries must know may stand behind them in the file: then they are passed over, and the file is read
 * a second time. */
#include "replay/gzip_rest.h"
#include "replay/kernel_tuner.h"
#include "replay/read_csv.h"

#include "base/mem.h"
#include "base/temporary.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

struct source {                 /* a file, compressed or not, or a text */
    gzFile file;
    const char *path;
    const char *text;
    size_t at, len, most;       /* most: bytes a time; 0: any */
};

static long read_source(void *ctx, char *buf, size_t n, struct err *e)
{
    struct source *s = ctx;
    if (!s->file) {
        size_t got = s->len - s->at < n ? s->len - s->at : n;
        if (s->most && got > s->most)
            got = s->most;
        memcpy(buf, s->text + s->at, got);
        s->at += got;
        return (long)got;
    }
    int got = gzread(s->file, buf, n < (1u << 30) ? (unsigned)n : 1u << 30), code = 0;
    const char *why = gzerror(s->file, &code);
    if (got > 0 || (got == 0 && code == Z_OK) || code == Z_STREAM_END)
        return got;
    size_t named = strlen(s->path);     /* zlib puts the file's name before what it says */
    if (!strncmp(why, s->path, named) && !strncmp(why + named, ": ", 2))
        why += named + 2;
    err_set(e, LATHE_IO, "%s: %s", s->path,
            code == Z_ERRNO ? strerror(errno)
            : code == Z_BUF_ERROR ? "the compressed data end in the middle: the file was cut off" : why);
    return -1;
}

struct format {
    const char *name, *entries; /* the key that holds them */
    char opens;
    const char *needs[2];       /* head's keys that its reader must have: one of them */
    status (*read)(struct json_stream *s, const json_t *head, struct builder *b);
};

static const struct format formats[] = {
    {"Kernel Tuner cache", "cache", '{', {"tune_params_keys", "tune_params"}, read_kernel_tuner},
    {"T4", "results", '[', {"metadata"}, read_t4},
    {"KTT", "Results", '[', {"Metadata"}, read_ktt},
};
enum { FORMATS = sizeof formats / sizeof *formats };

static const struct format *format_of(const char *key, int opens)
{
    for (int i = 0; i < FORMATS; i++)
        if (opens == formats[i].opens && strcmp(key, formats[i].entries) == 0)
            return &formats[i];
    return NULL;
}

static bool is_ready(const struct format *f, const json_t *head)
{
    for (int i = 0; i < 2 && f->needs[i]; i++)
        if (json_object_get(head, f->needs[i]))
            return true;
    return false;
}

/* What is looked at besides the entries; all else is passed over. */
static bool is_head(const char *key)
{
    static const char *const keys[] = {"device_name", "kernel_name", "problem_size", "tune_params_keys",
                                       "tune_params", "objective",   "metadata",     "Metadata"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

struct pass {
    struct json_stream s;
    json_t *head;
    const struct format *format;    /* of the entries met; NULL: none yet */
    bool last;                      /* read them now, whatever is known */
    struct builder *builder;        /* NULL: they were not read */
};

static status member(struct pass *p, const char *key)
{
    const struct format *f = format_of(key, json_stream_peek(&p->s));
    if (f && p->format)
        return json_stream_fail(&p->s, "a second list of configurations, \"%s\"", key);
    if (f) {
        p->format = f;
        if (!p->last && !is_ready(f, p->head))
            return json_stream_skip(&p->s);
        p->builder = builder_new(f->name);
        return f->read(&p->s, p->head, p->builder);
    }
    json_t *value;
    if (!is_head(key))
        return json_stream_skip(&p->s);
    status st = json_stream_value(&p->s, &value);
    if (!st)
        json_object_set_new(p->head, key, value);
    return st;
}

static status run_pass(struct pass *p)
{
    bool first = true;
    char *key;
    status st = json_stream_take(&p->s, '{');
    while (!st && !(st = json_stream_key(&p->s, &first, &key)) && key) {
        st = member(p, key);
        mem_free(key);
    }
    if (st && p->s.cut && p->format == &formats[0]) {   /* Kernel Tuner closes its file when it is done */
        if (p->builder)
            builder_recording(p->builder)->cut = true;
        return p->s.e->code = LATHE_OK;
    }
    if (!st && json_stream_peek(&p->s) >= 0)
        st = json_stream_fail(&p->s, "text after the end of the JSON");
    return st ? st : p->s.e->code;
}

static status no_format(struct pass *p)
{
    return json_stream_fail(
        &p->s, "no recording that is known: expected a Kernel Tuner cache (\"cache\"), T4 results "
               "(\"results\"), KTT's output (\"Results\"), CSV with a column time_ms, or a lathe database");
}

static void keep_head(const struct pass *p)
{
    struct recording *r = builder_recording(p->builder);
    builder_set(&r->device, json_object_get(p->head, "device_name"));
    builder_set(&r->kernel, json_object_get(p->head, "kernel_name"));
    builder_set(&r->size, json_object_get(p->head, "problem_size"));
    const json_t *objective = json_object_get(p->head, "objective");
    r->by_energy |= json_is_string(objective) && !strcmp(json_string_value(objective), KERNEL_TUNER_ENERGY);
    builder_set(&r->device, json_object_get(json_object_get(p->head, "Metadata"), "Device"));
    const json_t *t4 = json_object_get(p->head, "metadata");    /* "device" as KTT writes it, too */
    if (json_is_string(json_object_get(t4, "device")))
        builder_set(&r->device, json_object_get(t4, "device"));
    if (json_is_string(json_object_get(t4, "kernel")))
        builder_set(&r->kernel, json_object_get(t4, "kernel"));
    if (json_is_string(json_object_get(t4, "size")))
        builder_set(&r->size, json_object_get(t4, "size"));
}

static status rewind_source(void *ctx, struct err *e)
{
    struct source *s = ctx;
    s->at = 0;
    return !s->file || !gzrewind(s->file) ? LATHE_OK
                                          : err_set(e, LATHE_IO, "%s: cannot be read a second time", s->path);
}

static status finish(struct builder *b, const char *name, struct recording **out, struct err *e)
{
    builder_path(b, name);
    status st = builder_end(b, out, e);
    if (st)
        err_prefix(e, "%s", name);
    return st;
}

static status read_table(const struct csv_source *csv, struct recording **out, struct err *e)
{
    struct builder *b = NULL;
    status st = read_csv(csv, &b, e);
    if (!st)
        return finish(b, csv->name, out, e);
    builder_free(b);
    return st;
}

static status read_all(struct source *source, const char *name, struct recording **out, struct err *e)
{
    struct pass p = {.head = json_object()};
    const struct csv_source csv = {.read = read_source, .rewind = rewind_source, .ctx = source, .name = name};
    bool table = looks_like_csv(&csv);
    status st = rewind_source(source, e);
    if (table || st) {
        json_decref(p.head);
        return st ? st : read_table(&csv, out, e);
    }
    for (int i = 0; i < 2 && !st && !p.builder; i++) {
        p.last = i == 1;
        p.format = NULL;
        st = rewind_source(source, e);
        json_stream_open(&p.s, read_source, source, name, e);
        if (!st)
            st = run_pass(&p);
        if (!st && !p.format)
            st = no_format(&p);
        json_stream_close(&p.s);
    }
    if (!st) {
        keep_head(&p);
        st = finish(p.builder, name, out, e);
        p.builder = NULL;
    }
    builder_free(p.builder);
    json_decref(p.head);
    return st;
}

status read_text_by(const char *text, size_t len, size_t most, const char *name, struct recording **out, struct err *e)
{
    struct source source = {.text = text, .len = len, .most = most};
    *out = NULL;
    return read_all(&source, name, out, e);
}

status recording_read_text(const char *text, size_t len, const char *name, struct recording **out, struct err *e)
{
    return read_text_by(text, len, 0, name, out, e);
}

/* --- files --- */

static const char SQLITE_MAGIC[16] = "SQLite format 3";

/* A compressed database is read from a copy, which is gone afterwards. */
static status read_compressed_store(gzFile file, const char *path, const char *place, long long campaign,
                                    const char *kernel, struct recording **out, struct err *e)
{
    struct temporary folder;
    status s = temporary_make(NULL, "recording", &folder, e);
    if (s)
        return s;
    char *copy = path_join(folder.path, "recording.db"), buf[1 << 16];
    struct source source = {.file = file, .path = path};
    int fd = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        s = err_set(e, LATHE_IO, "%s: %s", copy, strerror(errno));
    for (long n = 1; !s && n > 0;) {
        n = read_source(&source, buf, sizeof buf, e);
        if (n < 0)
            s = e->code;
        else if (n > 0 && write(fd, buf, (size_t)n) != n)
            s = err_set(e, LATHE_IO, "%s: %s", copy, strerror(errno));
    }
    if (!s)
        s = read_store(copy, place, campaign, kernel, out, e);
    if (fd >= 0)
        close(fd);
    temporary_remove(&folder);
    mem_free(copy);
    return s;
}

static status read_file(const char *path, const char *place, long long campaign, const char *kernel,
                        struct recording **out, struct err *e)
{
    status s = file_check_regular(path, "a recording", e);
    if (s != LATHE_OK)
        return s;
    struct stat st;
    if (stat(path, &st) == 0 && st.st_size == 0)
        return err_set(e, LATHE_IO, "%s: is empty, expected a recording", path);
    struct source source = {.file = gzopen(path, "rb"), .path = path};
    if (!source.file)
        return err_set(e, LATHE_IO, "%s: %s", path, errno ? strerror(errno) : "cannot be opened");
    gzbuffer(source.file, 1 << 17);
    char head[sizeof SQLITE_MAGIC] = {0};
    bool store = gzread(source.file, head, sizeof head) == sizeof head && !memcmp(head, SQLITE_MAGIC, sizeof head);
    if (gzrewind(source.file))
        s = err_set(e, LATHE_IO, "%s: cannot be read a second time: expected a file", path);
    else if (store && gzdirect(source.file))
        s = read_store(path, place, campaign, kernel, out, e);
    else if (store)
        s = read_compressed_store(source.file, path, place, campaign, kernel, out, e);
    else if (campaign)
        s = err_set(e, LATHE_USAGE, "%s: only a lathe database has campaigns to choose from, and %s is none", place,
                    path);
    else
        s = read_all(&source, path, out, e);
    if (!s)
        (*out)->rest = !gzdirect(source.file) && gzip_has_rest(path);
    gzclose(source.file);
    return s;
}

status recording_of_campaign(const char *db, int64_t campaign, const char *kernel, struct recording **out,
                             struct err *e)
{
    *out = NULL;
    return read_store(db, db, campaign, kernel, out, e);
}

status recording_open(const char *place, const char *kernel, struct recording **out, struct err *e)
{
    const char *hash = strrchr(place, '#');
    char *end = NULL;
    errno = 0;
    long long campaign = hash && hash[1] >= '1' && hash[1] <= '9' ? strtoll(hash + 1, &end, 10) : 0;
    *out = NULL;
    if (!campaign || *end || errno || file_exists(place))   /* a file may be called so */
        return read_file(place, place, 0, kernel, out, e);
    char *path = mem_strdup(place);
    path[hash - place] = 0;
    status s = read_file(path, place, campaign, kernel, out, e);
    mem_free(path);
    return s;
}
