/* powercap.c: see powercap.h. A package is a folder intel-rapl:N with energy_uj, microjoules, which wraps round at
 * max_energy_range_uj (Linux, Documentation/power/powercap/powercap.rst); AMD's processors have the same. */
#include "device/powercap.h"
#include "base/mem.h"
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct package {
    char *counter;              /* path */
    double range_uj, last_uj, wrapped_uj;
};

struct powercap {
    struct package *packages;
    int count, cap;
};

static double read_number(const char *path)
{
    double x;
    FILE *f = fopen(path, "re");
    if (!f) return NAN;
    if (fscanf(f, "%lf", &x) != 1) x = NAN;
    fclose(f);
    return x;
}

/* "intel-rapl:0" is a package, "intel-rapl:0:1" a part of one. */
static int is_package(const char *name)
{
    static const char prefix[] = "intel-rapl:";
    const char *number = name + sizeof prefix - 1;
    return !strncmp(name, prefix, sizeof prefix - 1) && *number && !number[strspn(number, "0123456789")];
}

struct powercap *powercap_open(void)
{
    struct powercap *p = mem_zalloc(1, sizeof *p);
    const char *folder = getenv("LATHE_POWERCAP");
    if (!folder) folder = "/sys/class/powercap";
    DIR *d = opendir(folder);
    for (struct dirent *x; d && (x = readdir(d));) {
        if (!is_package(x->d_name)) continue;
        char *range = mem_printf("%s/%s/max_energy_range_uj", folder, x->d_name);
        MEM_GROW(p->packages, p->count, p->cap);
        p->packages[p->count++] = (struct package){.counter = mem_printf("%s/%s/energy_uj", folder, x->d_name),
                                                   .range_uj = read_number(range)};
        mem_free(range);
    }
    if (d) closedir(d);
    return p;
}

void powercap_close(struct powercap *p)
{
    for (int i = 0; i < p->count; i++) mem_free(p->packages[i].counter);
    mem_free(p->packages);
    mem_free(p);
}

double powercap_energy_mj(struct powercap *p)
{
    double uj = 0;
    for (int i = 0; i < p->count; i++) {
        struct package *x = &p->packages[i];
        double now = read_number(x->counter);
        if (now < x->last_uj) x->wrapped_uj += isnan(x->range_uj) ? NAN : x->range_uj;
        x->last_uj = now;
        uj += now + x->wrapped_uj;
    }
    return p->count ? uj / 1000 : NAN;
}
