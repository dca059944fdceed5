/* serve.c: see serve.h. The library's functions are looked up in it, as CUDA's are (tuner/device/), so that the binary
 * needs nothing installed to start. */
#include "report/serve.h"

#include "base/clock.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MHD_TABLE(X)                                                                                                   \
    X(start_daemon)                                                                                                    \
    X(stop_daemon)                                                                                                     \
    X(get_daemon_info)                                                                                                 \
    X(lookup_connection_value)                                                                                         \
    X(create_response_from_buffer)                                                                                     \
    X(add_response_header)                                                                                             \
    X(queue_response)                                                                                                  \
    X(destroy_response)

struct library {
#define X(name) __typeof__(MHD_##name) *name;
    MHD_TABLE(X)
#undef X
};

struct server {
    const struct serve_request *request;
    struct library mhd;
};

const char serve_library_advice[] =
    "install it (Debian: apt-get install libmicrohttpd12), or write a file with `lathe report`";

/* NOTE: it stays open: a library that has had threads is not unloaded safely. */
static status open_library(struct library *out, struct err *e)
{
    void *handle = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
    bool whole = handle != NULL;
#define X(name) whole = whole && (out->name = (__typeof__(out->name))dlsym(handle, "MHD_" #name)) != NULL;
    MHD_TABLE(X)
#undef X
    if (whole)
        return LATHE_OK;
    return err_set(e, LATHE_IO,
                   "serving needs GNU libmicrohttpd, which is not here (libmicrohttpd.so.12)\n%s",
                   serve_library_advice);
}

bool serve_has_library(void)
{
    struct library mhd;
    struct err ignored = {0};
    return open_library(&mhd, &ignored) == LATHE_OK;
}

static bool is_port(const char *text)
{
    return !*text || (*text == ':' && text[1] && strspn(text + 1, "0123456789") == strlen(text + 1));
}

bool serve_host_is_own(const char *host)
{
    static const char *const names[] = {"localhost", "[::1]"};
    struct in_addr a;
    char name[32] = "";
    if (!host)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncasecmp(host, names[i], strlen(names[i])) == 0 && is_port(host + strlen(names[i])))
            return true;
    size_t len = strcspn(host, ":");
    if (len >= sizeof name || !is_port(host + len))
        return false;
    memcpy(name, host, len);
    return inet_pton(AF_INET, name, &a) == 1 && ntohl(a.s_addr) >> 24 == 127;
}

static void plain(struct serve_answer *a, int code, const char *text)
{
    a->code = code;
    a->type = "text/plain; charset=utf-8";
    sb_add(&a->body, text);
}

static enum MHD_Result send_answer(struct server *s, struct MHD_Connection *c, struct serve_answer *a)
{
    static const char *const headers[][2] = {
        {"Cache-Control", "no-store"},      {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Referrer-Policy", "no-referrer"},
    };
    struct MHD_Response *r =
        s->mhd.create_response_from_buffer(a->body.len, (void *)sb_str(&a->body), MHD_RESPMEM_MUST_COPY);
    if (!r)
        return MHD_NO;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        s->mhd.add_response_header(r, headers[i][0], headers[i][1]);
    s->mhd.add_response_header(r, "Content-Type", a->type);
    if (a->code == MHD_HTTP_METHOD_NOT_ALLOWED)
        s->mhd.add_response_header(r, "Allow", "GET, HEAD");
    if (*a->tag) {
        char tag[sizeof a->tag + 2];
        snprintf(tag, sizeof tag, "\"%s\"", a->tag);
        s->mhd.add_response_header(r, "ETag", tag);
    }
    enum MHD_Result done = s->mhd.queue_response(c, (unsigned)a->code, r);
    s->mhd.destroy_response(r);
    return done;
}

/* A client's "tag" without the quotes. */
static void known_tag(const char *header, char *out, size_t size)
{
    size_t len = header ? strlen(header) : 0;
    out[0] = 0;
    if (len >= 2 && len - 2 < size && header[0] == '"' && header[len - 1] == '"') {
        memcpy(out, header + 1, len - 2);
        out[len - 2] = 0;
    }
}

/* Called by the library, first with the headers alone (*seen NULL), then when the request is complete. */
static enum MHD_Result handle(void *ctx, struct MHD_Connection *c, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **seen)
{
    struct server *s = ctx;
    struct serve_answer a = {.code = MHD_HTTP_OK, .type = "text/plain; charset=utf-8"};
    char known[sizeof a.tag];
    if (!*seen) {
        *seen = s;
        return MHD_YES;
    }
    if (*upload_size) {
        *upload_size = 0; /* dropped */
        return MHD_YES;
    }
    known_tag(s->mhd.lookup_connection_value(c, MHD_HEADER_KIND, "If-None-Match"), known, sizeof known);
    if (!s->request->others && !serve_host_is_own(s->mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Host")))
        plain(&a, MHD_HTTP_FORBIDDEN, "This server answers to localhost only.\n");
    else if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        plain(&a, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET and HEAD: this server only reads.\n");
    else
        s->request->answer(s->request->ctx, url, known, &a);
    enum MHD_Result done = send_answer(s, c, &a);
    sb_free(&a.body);
    return done;
}

status serve_run(const struct serve_request *r, struct err *e)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)r->port)};
    struct server s = {.request = r};
    if (inet_pton(AF_INET, r->address, &to.sin_addr) != 1)
        return err_set(e, LATHE_USAGE, "--listen %.100s: expected a numeric IPv4 address, such as 127.0.0.1",
                       r->address);
    if (!r->others && ntohl(to.sin_addr.s_addr) >> 24 != 127)
        return err_set(e, LATHE_USAGE,
                       "--listen %.100s: others could reach that address, and read the whole database\n"
                       "listen on 127.0.0.1 (through ssh -L from elsewhere), or add --allow-others", r->address);
    status st = open_library(&s.mhd, e);
    if (st)
        return st;
    errno = 0;
    struct MHD_Daemon *d = s.mhd.start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD, (uint16_t)r->port, NULL, NULL, handle, &s, MHD_OPTION_SOCK_ADDR,
        (struct sockaddr *)&to, MHD_OPTION_CONNECTION_LIMIT, 64u, MHD_OPTION_CONNECTION_TIMEOUT, 60u, MHD_OPTION_END);
    if (!d)
        return err_set(e, LATHE_IO, "cannot listen on %.100s, port %d: %s\n--port chooses another, 0 any that is free",
                       r->address, r->port, errno ? strerror(errno) : "refused");
    const union MHD_DaemonInfo *info = s.mhd.get_daemon_info(d, MHD_DAEMON_INFO_BIND_PORT);
    r->started(r->ctx, info ? info->port : r->port);
    while (!r->stop())
        clock_sleep(0.1);
    s.mhd.stop_daemon(d);
    return LATHE_OK;
}
