/* host_target.c: see host_target.h. */
#include "device/host/host_target.h"

#include "device/host/host_image.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Value of "name : value" in a file of such lines under /proc; "" if it is not there. */
static void proc_value(const char *path, const char *name, char *out, size_t size)
{
    char line[512];
    FILE *f = fopen(path, "r");
    out[0] = '\0';
    while (f && !out[0] && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, name, strlen(name)) || !colon) continue;
        colon += 1 + strspn(colon + 1, " \t");
        snprintf(out, size, "%.*s", (int)strcspn(colon, "\n"), colon);
    }
    if (f) fclose(f);
}

static int64_t physical_memory(void)
{
    return (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
}

int64_t host_available_memory(void)
{
    char text[64];
    proc_value("/proc/meminfo", "MemAvailable", text, sizeof text);
    int64_t bytes = strtoll(text, NULL, 10) * 1024;
    return bytes > 0 ? bytes : physical_memory();
}

void host_describe(struct target *t, const char *compiler)
{
    struct utsname names;
    if (uname(&names)) memset(&names, 0, sizeof names);
    memset(t, 0, sizeof *t);
    snprintf(t->device, sizeof t->device, "host");
    snprintf(t->arch, sizeof t->arch, "host");
    proc_value("/proc/cpuinfo", "model name", t->name, sizeof t->name);
    if (!t->name[0]) snprintf(t->name, sizeof t->name, "%s processor", names.machine);
    snprintf(t->driver, sizeof t->driver, "%.*s", (int)sizeof t->driver - 1, compiler);
    snprintf(t->toolchain, sizeof t->toolchain, "%.*s", (int)sizeof t->toolchain - 1, compiler);
    snprintf(t->host, sizeof t->host, "%s", names.nodename);
    long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE), processors = sysconf(_SC_NPROCESSORS_ONLN);
    t->limit[LIMIT_sm] = 0;
    t->limit[LIMIT_sm_count] = processors > 0 ? processors : 1;
    t->limit[LIMIT_warp_size] = 32;
    t->limit[LIMIT_max_threads_per_block] = HOST_MAX_THREADS;
    t->limit[LIMIT_max_threads_per_sm] = HOST_MAX_THREADS;
    t->limit[LIMIT_max_shared_per_block] = HOST_MAX_SHARED;
    t->limit[LIMIT_max_shared_per_sm] = HOST_MAX_SHARED + 1024;
    t->limit[LIMIT_max_registers_per_sm] = 65536;
    t->limit[LIMIT_max_registers_per_thread] = 255;
    t->limit[LIMIT_l2_bytes] = l2 > 0 ? l2 : 1024 * 1024;
    /* of the machine, not what is free: a device that describes itself otherwise each time is another each time */
    t->limit[LIMIT_memory_bytes] = physical_memory() / 2;
}
