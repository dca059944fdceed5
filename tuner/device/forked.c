/* forked.c: see forked.h. Invariants: the child never returns into the caller's code, and is always reaped. */
#include "device/forked.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void be_child(void (*work)(void *ctx, int fd), void *ctx, int fd, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
        _exit(1);
    work(ctx, fd);
    _exit(0);
}

/* Reads to the end, or to the deadline: false then. */
static bool collect(int fd, double deadline, char *out, size_t cap, size_t *len)
{
    for (;;) {
        double left = deadline - clock_seconds();
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ready = left > 0 ? poll(&p, 1, (int)(left * 1000) + 1) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return false;
        char chunk[4096];
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0;
        size_t room = cap - *len, keep = (size_t)n < room ? (size_t)n : room;
        memcpy(out + *len, chunk, keep);
        *len += keep;
    }
}

bool forked(void (*work)(void *ctx, int fd), void *ctx, double seconds, void *out, size_t cap, size_t *len, char *why,
            size_t why_size)
{
    int pipe_fd[2], wait_status = 0;
    *len = 0;
    if (pipe2(pipe_fd, O_CLOEXEC)) {
        snprintf(why, why_size, "no pipe: %s", strerror(errno));
        return false;
    }
    pid_t parent = getpid(), child = fork();
    if (child < 0) {
        snprintf(why, why_size, "no child process: %s", strerror(errno));
        close(pipe_fd[0]);
        close(pipe_fd[1]);
        return false;
    }
    if (child == 0) {
        close(pipe_fd[0]);
        be_child(work, ctx, pipe_fd[1], parent);
    }
    close(pipe_fd[1]);
    bool whole = collect(pipe_fd[0], clock_seconds() + seconds, out, cap, len);
    close(pipe_fd[0]);
    if (!whole)
        kill(child, SIGKILL);
    while (waitpid(child, &wait_status, 0) < 0 && errno == EINTR)
        ;
    if (!whole)
        snprintf(why, why_size, "took longer than %.0f s", seconds);
    else if (WIFSIGNALED(wait_status))
        snprintf(why, why_size, "ended by signal %d (%s)", WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
    else if (WEXITSTATUS(wait_status))
        snprintf(why, why_size, "ended with exit code %d", WEXITSTATUS(wait_status));
    else
        return true;
    return false;
}
