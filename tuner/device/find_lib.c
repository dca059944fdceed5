/* find_lib.c: the search of find_lib.h.
 *
 * Invariant: places after the loader are only computed when LATHE_CUDA_PATH and the loader had nothing, so the common
 * case costs one dlopen.
 */
#include "device/find_lib.h"
#include "device/places.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void remember_path(struct lib *out, const char *asked)
{
    struct link_map *map = NULL;
    const char *path = asked;
    if (dlinfo(out->handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name && *map->l_name)
        path = map->l_name;
    snprintf(out->path, sizeof out->path, "%s", path);
}

/* Tries every name in one place (dir NULL: by the loader). A file that is there and does not open is worth telling. */
static bool try_place(const char *const *names, const char *dir, struct lib *out, struct strbuf *tried)
{
    for (int i = 0; names && names[i]; i++) {
        char path[PATH_MAX];
        if (snprintf(path, sizeof path, "%s%s%s", dir ? dir : "", dir ? "/" : "", names[i]) >= (int)sizeof path)
            continue;
        if (dir && !file_exists(path))
            continue;
        out->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (out->handle) {
            remember_path(out, path);
            return true;
        }
        const char *why = dlerror();
        if (dir && tried)
            sb_addf(tried, " %s does not open (%s);", path, why ? why : "unknown reason");
    }
    return false;
}

static void describe(struct strbuf *tried, const struct lib_query *q, const struct places *p)
{
    sb_add(tried, " looked for ");
    for (int i = 0; q->names[i]; i++)
        sb_addf(tried, "%s%s", i ? ", " : "", q->names[i]);
    sb_add(tried, " by the loader");
    const char *wanted = getenv("LATHE_CUDA_PATH");
    if (!q->driver && (!wanted || !*wanted))
        sb_add(tried, "; LATHE_CUDA_PATH is not set");
    const size_t limit = 900;                   /* a message has room for so much */
    for (int i = 0; i < p->n; i++) {
        if (tried->len > limit) {
            sb_addf(tried, "; and %d more places", p->n - i);
            break;
        }
        const struct place *at = &p->v[i];
        sb_addf(tried, "; %s", at->dir);
        if (at->variable)
            sb_addf(tried, " (%s%s)", at->variable, places_is_dir(at->dir) ? "" : ", no such directory");
    }
}

static bool search_places(const struct lib_query *q, struct places *p, struct lib *out, struct strbuf *tried)
{
    const char *wanted = getenv("LATHE_CUDA_PATH");
    if (!q->driver && wanted && *wanted)
        places_add_toolkit(p, wanted, "LATHE_CUDA_PATH");
    for (int i = 0; i < p->n; i++)
        if (try_place(q->names, p->v[i].dir, out, tried))
            return true;
    if (try_place(q->names, NULL, out, tried))
        return true;
    int done = p->n;
    if (q->driver)
        places_driver(p);
    else
        places_toolkit(p);
    for (int i = done; i < p->n; i++)
        if (try_place(q->names, p->v[i].dir, out, tried))
            return true;
    return false;
}

bool find_lib(const struct lib_query *q, struct lib *out, struct strbuf *tried)
{
    struct places p = {0};
    *out = (struct lib){0};
    bool found = search_places(q, &p, out, tried);
    if (!found && tried) {
        struct lib old = {0};
        bool there = try_place(q->too_old, NULL, &old, NULL);
        for (int i = 0; !there && i < p.n; i++)
            there = try_place(q->too_old, p.v[i].dir, &old, NULL);
        if (there)
            sb_addf(tried, " %s is too old: CUDA 12 or 13 is needed;", old.path);
        describe(tried, q, &p);
    }
    places_free(&p);
    return found;
}

const char *lib_bind(void *handle, const struct lib_symbol *symbols, int count, void *table)
{
    const char *missing = NULL;
    for (int i = 0; i < count; i++) {
        void *function = dlsym(handle, symbols[i].name);
        memcpy((char *)table + symbols[i].offset, &function, sizeof function);
        if (!function && !symbols[i].optional && !missing)
            missing = symbols[i].name;
    }
    return missing;
}

struct build_id_search {
    ElfW(Addr) address;
    char *out;
};

/* Looks through the notes of the object that was loaded at the wanted address. */
static int build_id_of(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct build_id_search *s = ctx;
    if (info->dlpi_addr != s->address)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_NOTE)
            continue;
        const char *at = (const char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        const char *end = at + info->dlpi_phdr[i].p_memsz;
        while (end - at >= (ptrdiff_t)sizeof(ElfW(Nhdr))) {
            ElfW(Nhdr) note;
            memcpy(&note, at, sizeof note);
            const char *name = at + sizeof note;
            const unsigned char *id = (const unsigned char *)name + ((note.n_namesz + 3u) & ~3u);
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(name, "GNU", 4) && note.n_descsz >= 4) {
                snprintf(s->out, 9, "%02x%02x%02x%02x", id[0], id[1], id[2], id[3]);
                return 1;
            }
            at = (const char *)id + ((note.n_descsz + 3u) & ~3u);
        }
    }
    return 1;
}

void lib_build_id(const struct lib *lib, char out[9])
{
    struct link_map *map = NULL;
    out[0] = 0;
    if (dlinfo(lib->handle, RTLD_DI_LINKMAP, &map) || !map)
        return;
    struct build_id_search s = {map->l_addr, out};
    dl_iterate_phdr(build_id_of, &s);
}
