/* process.c: see process.h. A process id alone is not enough: ids are given again, and begin anew with each boot. */
#include "base/process.h"

#include "base/mem.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { WORD = 128 };

struct identity {
    char host[WORD], boot[WORD], space[WORD], pid[WORD], start[WORD];
};

/* A word without blanks; "-" if there is none. */
static void set_word(char out[WORD], const char *text)
{
    snprintf(out, WORD, "%s", text);
    out[strcspn(out, " \t\n")] = 0;
    if (!*out)
        snprintf(out, WORD, "-");
}

static void read_word(const char *path, char out[WORD])
{
    char text[WORD] = "";
    FILE *f = fopen(path, "re");
    if (f && !fgets(text, sizeof text, f))
        *text = 0;
    if (f)
        fclose(f);
    set_word(out, text);
}

enum { STAT_STATE = 3, STAT_PARENT = 4, STAT_START = 22 };

/* A field of /proc/PID/stat behind the second: that one, the name, may hold blanks and parentheses. */
static void read_stat(const char *pid, int field, char out[WORD])
{
    char text[2048] = "", path[WORD + 16];
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;
    char *at = strrchr(text, ')');
    for (int i = 2; at && i < field; i++)
        at = strchr(at + 1, ' ');
    set_word(out, at ? at + 1 : "");
}

static void identify(const char *pid, struct identity *out)
{
    struct utsname u = {0};
    char space[WORD] = "";
    uname(&u);
    set_word(out->host, u.nodename);
    read_word("/proc/sys/kernel/random/boot_id", out->boot);
    if (readlink("/proc/self/ns/pid", space, sizeof space - 1) < 0)
        *space = 0;
    set_word(out->space, space);
    set_word(out->pid, pid);
    read_stat(pid, STAT_START, out->start);
}

long process_parent(long pid)
{
    char number[32], parent[WORD];
    snprintf(number, sizeof number, "%ld", pid);
    read_stat(number, STAT_PARENT, parent);
    return atol(parent);
}

/* It has ended, and its parent has not asked for it: nothing of it runs any more. */
static bool is_zombie(const char *pid)
{
    char state[WORD];
    read_stat(pid, STAT_STATE, state);
    return *state == 'Z' || *state == 'X';
}

void process_identity(struct strbuf *b)
{
    struct identity i;
    char pid[32];
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    identify(pid, &i);
    sb_addf(b, "%s %s %s %s %s", i.host, i.boot, i.space, i.pid, i.start);
}

static bool differ(const char *a, const char *b) { return strcmp(a, "-") && strcmp(b, "-") && strcmp(a, b); }

enum process_state process_state(const char *identity)
{
    struct identity was, now;
    if (!identity ||
        sscanf(identity, "%127s %127s %127s %127s %127s", was.host, was.boot, was.space, was.pid, was.start) != 5)
        return PROCESS_UNKNOWN;
    identify(was.pid, &now);
    if (strcmp(was.host, now.host))
        return PROCESS_UNKNOWN;
    if (differ(was.boot, now.boot))
        return PROCESS_GONE;
    if (differ(was.space, now.space))
        return PROCESS_UNKNOWN;
    long pid = atol(was.pid);
    if (pid <= 0 || (kill((pid_t)pid, 0) && errno == ESRCH) || differ(was.start, now.start) ||
        is_zombie(was.pid))
        return PROCESS_GONE;
    return strcmp(was.start, now.start) || !strcmp(was.start, "-") ? PROCESS_UNKNOWN : PROCESS_RUNS;
}

int process_leave_cores(int n, int least)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set))
        return 0;
    int count = CPU_COUNT(&set);
    if (n < 1 || count - n < least)
        return count;
    for (int core = CPU_SETSIZE - 1, left = n; core >= 0 && left > 0; core--) {
        left -= CPU_ISSET((size_t)core, &set) != 0;
        CPU_CLR((size_t)core, &set);
    }
    return sched_setaffinity(0, sizeof set, &set) ? count : count - n;
}
