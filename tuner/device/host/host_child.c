/* host_child.c: see host_child.h. Three processes: the caller; a keeper, which leads a process group of its own and
 * gets a signal when the caller is gone; and the program, in that group. A compiler driver starts further programs,
 * which would outlive the death of the driver alone: the keeper ends the whole group, and so does the caller when time
 * is up.
 *
 * NOTE: fork() and not posix_spawn(), which cannot ask for that signal. Between fork and exec only functions run that
 * are safe after a fork of a process with threads. */
#include "device/host/host_child.h"
#include "base/clock.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT_RUN = 127 };

static int exit_code(int wait_status)
{
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

static void run_program(char *const argv[], char *const envp[], const sigset_t *none)
{
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_SETMASK, none, NULL);
    execve(argv[0], argv, envp);
    const char *why = strerror(errno);
    if (write(STDERR_FILENO, why, strlen(why)) < 0) _exit(CANNOT_RUN);
    _exit(CANNOT_RUN);
}

/* Never returns. Its exit code is the program's. */
static void keep(char *const argv[], char *const envp[], pid_t caller, int output)
{
    sigset_t awaited, none;
    sigemptyset(&none);
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, SIGTERM);
    sigprocmask(SIG_SETMASK, &awaited, NULL);
    signal(SIGCHLD, SIG_DFL);
    if (setpgid(0, 0)) _exit(CANNOT_RUN);   /* else the end of the group would be the end of the caller's */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != caller) _exit(CANNOT_RUN);
    int null = open("/dev/null", O_RDONLY);
    if (null < 0 || dup2(null, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) _exit(CANNOT_RUN);
    close_range(3, ~0u, 0);
    pid_t program = fork();
    if (program < 0) _exit(CANNOT_RUN);
    if (program == 0) run_program(argv, envp, &none);
    for (;;) {
        int status_word;
        if (waitpid(program, &status_word, WNOHANG) == program) _exit(exit_code(status_word));
        if (sigwaitinfo(&awaited, NULL) == SIGTERM) kill(0, SIGKILL);
    }
}

static bool is_replaced(const char *variable, const char *tmp)
{
    return !strncmp(variable, "LC_ALL=", 7) || !strncmp(variable, "LANGUAGE=", 9) ||
           (tmp && !strncmp(variable, "TMPDIR=", 7));
}

/* The environment with LC_ALL=C, and with `tmp`, "TMPDIR=..." or NULL; mem_free the list, not the strings. */
static char **child_environment(char *tmp)
{
    size_t n = 0, kept = 0;
    while (environ && environ[n]) n++;
    char **envp = mem_zalloc(n + 3, sizeof *envp);
    for (size_t i = 0; i < n; i++)
        if (!is_replaced(environ[i], tmp)) envp[kept++] = environ[i];
    envp[kept++] = (char *)"LC_ALL=C";
    envp[kept] = tmp;
    return envp;
}

enum waited { READABLE, OVER, LATE };

/* OVER: there is nothing to read, and the keeper is gone; LATE: the moment `end` has come first. */
static enum waited wait_readable(int from, int keeper, double end)
{
    for (;;) {
        double left = end - clock_seconds();
        struct pollfd p[] = {{.fd = from, .events = POLLIN}, {.fd = keeper, .events = POLLIN}};
        int n = left > 0 ? poll(p, 2, isinf(left) ? -1 : (int)(left * 1000) + 1) : 0;
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) return LATE;
        /* it may have been written between the looks at the two */
        return n < 0 || p[0].revents || poll(p, 1, 0) != 0 ? READABLE : OVER;
    }
}

/* To its end (READABLE), to that of the program, for what it left running may hold its output open for ever, or to the
 * moment `end`. keeper: a pidfd; -1: nobody's. */
static enum waited read_output(int from, int keeper, double end, struct strbuf *output)
{
    char buffer[8192];
    size_t kept = 0, dropped = 0;
    enum waited waited;
    while ((waited = wait_readable(from, keeper, end)) == READABLE) {
        ssize_t n = read(from, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        size_t keep_now = CHILD_OUTPUT - kept < (size_t)n ? CHILD_OUTPUT - kept : (size_t)n;
        sb_addn(output, buffer, keep_now);
        kept += keep_now;
        dropped += (size_t)n - keep_now;
    }
    if (dropped) sb_addf(output, "\n... and %zu bytes more\n", dropped);
    return waited;
}

/* Collects the keeper, by the moment `end` or by force: false. It may outlive its program's output, where that is read to its end. */
static bool collect(pid_t keeper, double end, bool in_time, pid_t *ended, int *status_word)
{
    const double A_LOOK = 0.005;
    for (; in_time; in_time = clock_seconds() < end) {
        *ended = waitpid(keeper, status_word, isinf(end) ? 0 : WNOHANG);
        if (*ended > 0 || (*ended < 0 && errno != EINTR)) return true;
        if (!isinf(end)) clock_sleep(A_LOOK);
    }
    kill(-keeper, SIGKILL);             /* its group; itself, should it have died before it led one */
    kill(keeper, SIGKILL);
    do
        *ended = waitpid(keeper, status_word, 0);
    while (*ended < 0 && errno == EINTR);
    return false;
}

status host_child_run(char *const argv[], const char *tmp, double seconds, struct strbuf *output, int *code,
                      struct err *e)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return err_set(e, LATHE_COMPILER, "%s cannot be run: %s", argv[0], strerror(errno));
    char *variable = tmp ? mem_printf("TMPDIR=%s", tmp) : NULL;
    char **envp = child_environment(variable);
    pid_t caller = getpid(), keeper = fork();
    if (keeper == 0) keep(argv, envp, caller, ends[1]);
    int problem = errno;
    mem_free(envp);
    mem_free(variable);
    close(ends[1]);
    if (keeper < 0) {
        close(ends[0]);
        return err_set(e, LATHE_COMPILER, "%s cannot be run: %s", argv[0], strerror(problem));
    }
    size_t before = output->len;
    double end = seconds > 0 ? clock_seconds() + seconds : INFINITY;
    int watched = (int)syscall(SYS_pidfd_open, keeper, 0);
    enum waited waited = read_output(ends[0], watched, end, output);
    if (waited == OVER) kill(-keeper, SIGKILL);         /* what is left of its group; not yet collected, it is there */
    close(ends[0]);
    if (watched >= 0) close(watched);
    int status_word = 0;
    pid_t ended;
    if (!collect(keeper, end, waited != LATE, &ended, &status_word))
        return err_set(e, LATHE_COMPILER, "%s did not end within %g s", argv[0], seconds);
    if (ended < 0) return err_set(e, LATHE_COMPILER, "%s: its end cannot be learnt: %s", argv[0], strerror(errno));
    *code = exit_code(status_word);
    if (*code == CANNOT_RUN)
        return err_set(e, LATHE_COMPILER, "%s cannot be run: %.200s", argv[0], sb_str(output) + before);
    return LATHE_OK;
}
