/* pick_target.c: asks a device for its limits in a child process.
 *
 * The child writes one JSON line to a pipe, {"target": {...}} or {"error": [status, text]}, and ends by _exit, so that
 * none of the parent's exit work runs twice. A child that hangs in a driver is killed after a time limit. */
#include "cli/pick_target.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/output.h"
#include "device/dev.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_SECONDS 60.0

static void write_all(int fd, const char *s, size_t n)
{
    while (n > 0) {
        ssize_t k = write(fd, s, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return; /* the parent has gone: nobody to tell */
        s += k;
        n -= (size_t)k;
    }
}

static void child(int fd, const struct dev_ops *ops, int number)
{
    struct err e = {0};
    struct target t = {0};
    struct dev *d = NULL;
    json_t *answer;
    if (ops->open(number, &d, &t, &e) == LATHE_OK) {
        answer = json_pack("{s:o}", "target", target_to_json(&t));
        ops->close(d);
    } else {
        answer = json_pack("{s:[i,s]}", "error", (int)e.code, e.text);
    }
    struct strbuf b = {0};
    json_line(&b, answer);
    write_all(fd, sb_str(&b), b.len);
    _exit(0);
}

/* Everything that comes until the end of the pipe; false when the time is up. */
static bool read_answer(int fd, struct strbuf *b)
{
    double deadline = clock_seconds() + ANSWER_SECONDS;
    for (;;) {
        double left = deadline - clock_seconds();
        if (left <= 0)
            return false;
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, (int)(left * 1000) + 1) <= 0)
            continue;
        char chunk[4096];
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n == 0)
            return true;
        if (n > 0)
            sb_addn(b, chunk, (size_t)n);
        else if (errno != EINTR)
            return true;
    }
}

static status understand(const char *device, const char *text, struct target *out, struct err *e)
{
    json_t *j = json_loads(text, 0, NULL);
    int code = 0;
    const char *message = "";
    status s;
    if (json_object_get(j, "target"))
        s = target_from_json(json_object_get(j, "target"), out, e);
    else if (json_unpack(j, "{s:[i,s]}", "error", &code, &message) == 0 && code > 0 && code < STATUS_COUNT)
        s = err_set(e, (status)code, "%s", message);
    else
        s = err_set(e, LATHE_DEVICE,
                    "%s: the process that asked for its limits ended without an answer\n`lathe doctor` shows "
                    "what is found here; --target sm_90a needs no device",
                    device);
    json_decref(j);
    return s;
}

static status ask_device(const char *device, struct target *out, struct err *e)
{
    const struct dev_ops *ops;
    int number = 0, pipe_fd[2];
    status s = dev_find(device, &ops, &number, e);
    if (s != LATHE_OK)
        return s;
    if (pipe(pipe_fd) != 0)
        return err_set(e, LATHE_IO, "cannot make a pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        close(pipe_fd[0]);
        child(pipe_fd[1], ops, number);
    }
    close(pipe_fd[1]);
    if (pid < 0) {
        close(pipe_fd[0]);
        return err_set(e, LATHE_IO, "cannot start a process: %s", strerror(errno));
    }
    struct strbuf answer = {0};
    bool complete = read_answer(pipe_fd[0], &answer);
    close(pipe_fd[0]);
    if (!complete)
        kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (complete)
        s = understand(device, sb_str(&answer), out, e);
    else
        s = err_set(e, LATHE_DEVICE, "%s: no answer within %.0f seconds\n--target sm_90a needs no device", device,
                    ANSWER_SECONDS);
    sb_free(&answer);
    return s;
}

status pick_target(const char *name, struct target *out, struct err *e)
{
    char device[24];
    if (!name) {
        dev_default(device);
        name = device;
    }
    if (!strncmp(name, "cuda", 4))
        return ask_device(name, out, e);
    return target_named(name, out, e);
}
