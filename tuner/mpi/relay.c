/* relay.c: see relay.h. One request, one answer, in turn; what the hub says unasked is an end. */
#include "mpi/relay.h"
#include "base/mem.h"
#include "mpi/frame.h"
#include "mpi/package.h"
#include "trial/worker.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct relay {
    struct sockaddr_un address;
    int hub;                    /* a socket; -1: not there any more */
    struct strbuf in;           /* of the hub, not yet read */
    char *gone;                 /* why the rank cannot be had; NULL: it can */
};

static bool write_all(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t w = write(fd, bytes, n);
        if (w < 0 && errno == EINTR) continue;
        if (w <= 0) return false;
        bytes += w;
        n -= (size_t)w;
    }
    return true;
}

static void lose(struct relay *r, const char *why, size_t n)
{
    if (r->gone) return;
    struct strbuf b = {0};
    sb_addn(&b, why, n);
    r->gone = sb_take(&b);
    if (r->hub >= 0) close(r->hub);
    r->hub = -1;
}

/* The address is a socket in a folder of its own, which a hub that was killed leaves behind. */
static void lose_hub(struct relay *r)
{
    static const char why[] = "the process that reaches the other ranks has ended: mpirun ended the job?";
    char *slash = strrchr(r->address.sun_path, '/');
    if (!r->gone && slash) {
        unlink(r->address.sun_path);
        *slash = 0;
        rmdir(r->address.sun_path);
    }
    lose(r, why, sizeof why - 1);
}

static void reach_hub(struct relay *r)
{
    const char *ranks = getenv("LATHE_RANKS");
    size_t n = ranks ? strcspn(ranks, "\n") : 0;
    r->address.sun_family = AF_UNIX;
    r->hub = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (n && n < sizeof r->address.sun_path) memcpy(r->address.sun_path, ranks, n);
    if (!n || r->hub < 0 || connect(r->hub, (struct sockaddr *)&r->address, sizeof r->address)) lose_hub(r);
}

static void tell(struct relay *r, enum frame_kind kind, uint32_t session, const struct strbuf *body)
{
    struct strbuf b = {0};
    frame_add(&b, kind, session, body ? body->s : NULL, body ? body->len : 0);
    if (!r->gone && !write_all(r->hub, b.s, b.len)) lose_hub(r);
    sb_free(&b);
}

/* The hub's next frame; false: there is none, and r->gone is set. *used: its bytes of r->in, to be dropped. */
static bool hear(struct relay *r, struct frame *f, size_t *used)
{
    while (!r->gone) {
        long n = frame_read(sb_str(&r->in), r->in.len, f);
        *used = n > 0 ? (size_t)n : 0;
        if (n > 0) return true;
        char bytes[65536];
        ssize_t got = n < 0 ? 0 : read(r->hub, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0)
            lose_hub(r);
        else
            sb_addn(&r->in, bytes, (size_t)got);
    }
    return false;
}

static bool answer(const char *text, size_t n)
{
    return write_all(WORKER_FD_OUT, text, n) && write_all(WORKER_FD_OUT, "\n", 1);
}

static bool answer_failure(status code, const char *why, bool gone)
{
    json_t *j = json_pack("{s:b, s:i, s:s, s:b}", "ok", 0, "status", (int)code, "error", why, "gone", (int)gone);
    char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;
    bool sent = text && answer(text, strlen(text));
    mem_free(text);
    json_decref(j);
    return sent;
}

/* False: this worker's life is over. */
static bool serve(struct relay *r, const char *line, size_t n)
{
    struct strbuf body = {0};
    struct err e = {0};
    if (package_write(line, n, &body, &e)) {
        sb_free(&body);
        return answer_failure(e.code, e.text, false);
    }
    tell(r, FRAME_REQUEST, 0, &body);
    sb_free(&body);
    struct frame f;
    size_t used;
    if (!hear(r, &f, &used)) return answer_failure(LATHE_DEVICE, r->gone, true);
    bool alive = true;
    if (f.kind == FRAME_REPLY) {
        alive = answer(f.body, f.len);
    } else if (f.kind == FRAME_GONE) {
        lose(r, f.body, f.len);
        alive = answer_failure(LATHE_DEVICE, r->gone, true);
    } else {                    /* what its worker printed last, and how it ended, is what this one prints last */
        fprintf(stderr, "%.*s", (int)f.len, f.body);
        alive = false;
    }
    memmove(r->in.s, r->in.s + used, r->in.len - used);
    r->in.len -= used;
    return alive;
}

/* Waits for a request. False: the worker there ended while nothing was asked of it; the coordinator starts another
 * relay then, which costs no trial. Where it is the rank, or the hub, that ended, the next request is told.
 * NOTE: a request is read whole before it is answered, so `in` holds no second one. */
static bool wait_for_request(struct relay *r)
{
    struct frame f;
    size_t used;
    while (!r->gone) {
        struct pollfd fds[] = {{.fd = WORKER_FD_IN, .events = POLLIN}, {.fd = r->hub, .events = POLLIN}};
        if (poll(fds, 2, -1) < 0 && errno != EINTR) return true;
        if (fds[0].revents) return true;
        if (!fds[1].revents || !hear(r, &f, &used)) continue;
        if (f.kind != FRAME_GONE) return false;
        lose(r, f.body, f.len);
    }
    return true;
}

bool relay_wanted(int argc, char **argv)
{
    return argc >= 2 && !strcmp(argv[0], "device") && !strncmp(argv[1], "mpi:", 4);
}

int relay_main(int argc, char **argv)
{
    (void)argc;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_IGN);
    fcntl(WORKER_FD_IN, F_SETFD, FD_CLOEXEC);
    fcntl(WORKER_FD_OUT, F_SETFD, FD_CLOEXEC);
    FILE *in = fdopen(WORKER_FD_IN, "r");
    if (!in) return 2;
    struct relay r = {.hub = -1};
    reach_hub(&r);
    tell(&r, FRAME_HELLO, (uint32_t)atoi(argv[1] + 4), NULL);
    char *line = NULL;
    size_t cap = 0;
    bool alive = true;
    for (ssize_t n; alive && (alive = wait_for_request(&r)) && (n = getline(&line, &cap, in)) > 0;)
        alive = serve(&r, line, (size_t)n);
    free(line);
    fclose(in);
    if (r.hub >= 0) close(r.hub);
    mem_free(r.gone);
    sb_free(&r.in);
    return alive ? 0 : 1;
}
