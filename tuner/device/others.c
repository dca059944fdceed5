/* others.c: see others.h. */
#include "device/others.h"
#include "base/process.h"
#include "base/strbuf.h"

#include <stdio.h>
#include <unistd.h>

int others_find(const struct nvml *n, int pids[OTHERS_MOST])
{
    int all[OTHERS_MOST + 8], found = 0;            /* room for lathe's own */
    int count = nvml_processes(n, all, (int)(sizeof all / sizeof *all));
    for (int i = 0; i < count && found < OTHERS_MOST; i++)
        if (all[i] != getpid() && process_parent(all[i]) != getppid())
            pids[found++] = all[i];
    return found;
}

void others_say(const int *pids, int n, const char *device, char *out, size_t size)
{
    struct strbuf list = {0};
    for (int i = 0; i < n; i++)
        sb_addf(&list, "%s%d", i ? ", " : "", pids[i]);
    if (n == 1)
        snprintf(out, size, "another process (pid %s) uses %s", sb_str(&list), device);
    else
        snprintf(out, size, "%d other processes (pids %s) use %s", n, sb_str(&list), device);
    sb_free(&list);
}
