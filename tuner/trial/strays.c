/* strays.c: see strays.h. */
#include "trial/strays.h"
#include "base/mem.h"
#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Until a look finds none: one may be forked while the others are ended. */
enum { LOOKS = 20 };

static const char NAME[] = "LATHE_WORKER=";

void strays_mark(char mark[STRAYS_MARK])
{
    static unsigned long count;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(mark, STRAYS_MARK, "%s%ld-%lld.%09ld-%lu", NAME, (long)getpid(), (long long)now.tv_sec, now.tv_nsec,
             count++);
}

char **strays_environment(char *mark)
{
    size_t n = 0, kept = 0;
    while (environ && environ[n]) n++;
    char **list = mem_zalloc(n + 2, sizeof *list);
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], NAME, sizeof NAME - 1)) list[kept++] = environ[i];
    list[kept] = mark;
    return list;
}

/* Whether the process's environment has that variable. */
static bool has_mark(const char *pid, const char *mark)
{
    char path[64], *line = NULL;
    size_t cap = 0;
    bool has = false;
    snprintf(path, sizeof path, "/proc/%.20s/environ", pid);
    FILE *f = fopen(path, "re");
    while (f && !has && getdelim(&line, &cap, 0, f) > 0) has = !strcmp(line, mark);
    if (f) fclose(f);
    free(line);
    return has;
}

/* By a handle that is had before the look: its number may be another's by then. */
static bool end_if_marked(const char *pid, const char *mark)
{
    int handle = (int)syscall(SYS_pidfd_open, (pid_t)atol(pid), 0);
    bool ended = handle >= 0 && has_mark(pid, mark) && !syscall(SYS_pidfd_send_signal, handle, SIGKILL, NULL, 0);
    if (handle >= 0) close(handle);
    return ended;
}

void strays_end(const char *mark)
{
    bool any = true;
    for (int look = 0; any && look < LOOKS; look++) {
        DIR *d = opendir("/proc");
        any = false;
        for (struct dirent *f; d && (f = readdir(d));)
            if (isdigit((unsigned char)*f->d_name) && end_if_marked(f->d_name, mark)) any = true;
        if (d) closedir(d);
    }
}
