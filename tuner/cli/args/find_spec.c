/* find_spec.c: where specifications and their includes are. */
#include "cli/args/find_spec.h"
#include "base/mem.h"
#include "console/parse.h"
#include "search/spec/spec.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SPEC_FILE "spec.lua"

static bool is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* What a newcomer gives in a specification's place, and would get Lua's complaints of. */
static const char *other_kind(const char *path)
{
    static const char source[] = "a kernel's source, and no specification\n"
                                 "give the .lua file that names it (docs/tutorial.md writes one)";
    static const struct {
        const char *ending, *what;
    } kinds[] = {
        {".cu", source},
        {".cuh", source},
        {".db", "a database, and no specification\n"
                "`lathe show --db FILE` lists its campaigns, `lathe tune --resume N --db FILE` goes on with one"},
        {".gz", "compressed, and no specification\na recording is given as --device replay:FILE"},
    };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(dot, kinds[i].ending))
            return kinds[i].what;
    return NULL;
}

/* What is there and cannot be a specification is told, rather than taken for absent. */
static status check_path(const char *path, struct err *e)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? LATHE_OK
                   : err_set(e, LATHE_USAGE, "%.300s: cannot open: %s", path, strerror(errno));
    const char *other = S_ISREG(st.st_mode) ? other_kind(path) : NULL;
    if (other)
        return err_set(e, LATHE_USAGE, "%.300s: %s", path, other);
    if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
        return LATHE_OK;
    return err_set(e, LATHE_USAGE,
                   "%.300s: is no regular file\nSPEC is a .lua or .json file, a folder with a " SPEC_FILE
                   ", or the name of one in a kernels directory",
                   path);
}

static bool same_directory(const char *a, const char *b)
{
    struct stat sa, sb;
    return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* Takes path over. */
static void add_directory(struct text_list *l, char *path)
{
    bool known = !is_directory(path);
    for (int i = 0; i < l->count && !known; i++)
        known = same_directory(l->items[i], path);
    if (known) {
        mem_free(path);
        return;
    }
    MEM_GROW(l->items, l->count, l->cap);
    l->items[l->count++] = path;
}

void spec_directories(const char *self, struct text_list *out)
{
    const char *set = getenv("LATHE_KERNELS");
    while (set && *set) {
        size_t len = strcspn(set, ":");
        if (len > 0)
            add_directory(out, mem_printf("%.*s", (int)len, set));
        set += len + (set[len] == ':');
    }
    add_directory(out, mem_strdup("kernels"));
    char *bin = path_dirname(self);
    add_directory(out, path_join(bin, "../kernels"));
    add_directory(out, path_join(bin, "../share/lathe/kernels"));
    mem_free(bin);
}

static int by_number(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* A folder that is a specification by itself: other .lua files in it are its parts. */
static bool has_spec(const char *folder)
{
    char *path = path_join(folder, SPEC_FILE);
    bool yes = is_file(path);
    mem_free(path);
    return yes;
}

/* The names in one folder. prefix: "" or "GROUP/"; groups: whether its folders may hold specifications. */
static void add_names(const char *directory, const char *prefix, bool groups, struct text_list *out)
{
    char *folder = path_join(directory, prefix);
    DIR *d = opendir(folder);
    for (struct dirent *entry; d && (entry = readdir(d));) {
        const char *name = entry->d_name;
        size_t len = strlen(name);
        if (*name == '.')
            continue;
        char *path = path_join(folder, name);
        bool lua = len > 4 && !strcmp(name + len - 4, ".lua") && is_file(path), spec = has_spec(path);
        if (lua || spec) {
            MEM_GROW(out->items, out->count, out->cap);
            out->items[out->count++] = mem_printf("%s%.*s", prefix, (int)(lua ? len - 4 : len), name);
        } else if (groups && is_directory(path)) {
            char *inner = mem_printf("%s/", name);
            add_names(directory, inner, false, out);
            mem_free(inner);
        }
        mem_free(path);
    }
    if (d)
        closedir(d);
    mem_free(folder);
}

void spec_names(const char *directory, struct text_list *out)
{
    int first = out->count;
    add_names(directory, "", true, out);
    if (out->count - first > 1)
        qsort(out->items + first, (size_t)(out->count - first), sizeof *out->items, by_number);
}

/* *out: the specification's file if `name` is a path to one, or NULL. */
static status as_path(const char *name, char **out, struct err *e)
{
    char *inside = path_join(name, SPEC_FILE);
    status s = check_path(name, e);
    if (s == LATHE_OK)
        s = check_path(inside, e);
    *out = s != LATHE_OK ? NULL : is_file(name) ? mem_strdup(name) : is_file(inside) ? mem_strdup(inside) : NULL;
    mem_free(inside);
    return s;
}

/* One or two words with a slash between, none of which begins with a dot. */
static bool is_name(const char *name)
{
    const char *slash = strchr(name, '/');
    if (*name == 0 || *name == '.' || *name == '/')
        return false;
    return !slash || (slash[1] && slash[1] != '.' && !strchr(slash + 1, '/'));
}

/* The file of `name` in one kernels directory, or NULL. */
static char *in_directory(const char *name, const char *directory)
{
    char *folder = path_join(directory, name), *parent = path_dirname(folder), *path = NULL;
    if (has_spec(folder))
        path = path_join(folder, SPEC_FILE);
    else if (!has_spec(parent))
        path = mem_printf("%s.lua", folder);
    if (path && !is_file(path)) {
        mem_free(path);
        path = NULL;
    }
    mem_free(parent);
    mem_free(folder);
    return path;
}

static char *in_directories(const char *name, const struct text_list *dirs)
{
    char *path = NULL;
    for (int i = 0; is_name(name) && !path && i < dirs->count; i++)
        path = in_directory(name, dirs->items[i]);
    return path;
}

static bool contains(const struct text_list *l, const char *s)
{
    for (int i = 0; i < l->count; i++)
        if (!strcmp(l->items[i], s))
            return true;
    return false;
}

static status not_found(const char *name, const struct text_list *dirs, struct err *e)
{
    if (is_directory(name))
        return err_set(e, LATHE_USAGE,
                       "%.300s: the folder has no " SPEC_FILE
                       "\nSPEC is a .lua or .json file, a folder with a " SPEC_FILE
                       ", or the name of one in a kernels directory",
                       name);
    const char *dot = strrchr(name, '.');
    if (!strncmp(name, "replay:", 7))
        return err_set(e, LATHE_USAGE, "%.300s: a recording is a device, and no specification\n"
                       "give it as --device %.300s", name, name);
    if (!is_name(name) || (dot && (!strcmp(dot, ".lua") || !strcmp(dot, ".json"))))
        return err_set(e, LATHE_USAGE, "%.300s: no such specification file", name);
    struct text_list names = {0};
    for (int i = 0; i < dirs->count; i++)
        spec_names(dirs->items[i], &names);
    struct strbuf known = {0};
    for (int i = 0; i < names.count; i++) {
        struct text_list before = {names.items, i, i};
        if (!contains(&before, names.items[i]))
            sb_addf(&known, "%s%s", known.len ? ", " : "", names.items[i]);
    }
    const char *near = nearest_word(name, (const char *const *)names.items, names.count);
    if (!names.count)
        err_set(e, LATHE_USAGE,
                "there is no specification '%.200s'\nno kernels directory was found: set LATHE_KERNELS to one, "
                "or give the path of a .lua file",
                name);
    else if (near)
        err_set(e, LATHE_USAGE, "there is no specification '%.200s'\ndid you mean '%s'? There are: %.1000s", name, near,
                sb_str(&known));
    else
        err_set(e, LATHE_USAGE,
                "there is no specification '%.200s'\nthere are: %.1000s; or give the path of a .lua file", name,
                sb_str(&known));
    sb_free(&known);
    text_list_free(&names);
    return LATHE_USAGE;
}

/* kernels/common beside the specification's own folder first, then that of every kernels directory. */
static char **find_includes(const char *path, const struct text_list *dirs)
{
    struct text_list found = {0};
    char *folder = path_dirname(path);
    add_directory(&found, mem_printf("%s/../common", folder));
    mem_free(folder);
    for (int i = 0; i < dirs->count; i++)
        add_directory(&found, path_join(dirs->items[i], "common"));
    MEM_GROW(found.items, found.count, found.cap);
    found.items[found.count] = NULL;
    return found.items;
}

status spec_find(const char *name, const char *self, struct spec_place *out, struct err *e)
{
    struct text_list dirs = {0};
    spec_directories(self, &dirs);
    *out = (struct spec_place){0};
    char *path;
    status s = as_path(name, &path, e);
    if (s == LATHE_OK && !path)
        path = in_directories(name, &dirs);
    if (path)
        *out = (struct spec_place){path, find_includes(path, &dirs)};
    else if (s == LATHE_OK)
        s = not_found(name, &dirs, e);
    text_list_free(&dirs);
    return s;
}

void spec_place_free(struct spec_place *place)
{
    for (char **d = place->include_dirs; d && *d; d++)
        mem_free(*d);
    mem_free(place->include_dirs);
    mem_free(place->path);
    *place = (struct spec_place){0};
}

static status set_sizes(struct problem *p, const struct text_list *sizes, struct err *e)
{
    for (int i = 0; i < sizes->count; i++) {
        char name[MAX_DIM_NAME];
        int64_t value;
        status s = parse_dim("--size", sizes->items[i], name, &value, e);
        if (s == LATHE_OK && (s = problem_set_dim(p, name, value, e)) != LATHE_OK)
            err_prefix(e, "--size %s", sizes->items[i]);
        if (s != LATHE_OK)
            return s;
    }
    return problem_check_size(p, e);
}

static status restrict_all(struct problem *p, const struct text_list *formulas, struct err *e)
{
    status s = LATHE_OK;
    for (int i = 0; i < formulas->count && s == LATHE_OK; i++)
        if ((s = problem_restrict(p, formulas->items[i], e)) != LATHE_OK)
            err_prefix(e, "--where");
    return s;
}

status spec_load(const struct spec_args *args, const char *self, struct problem **out, struct err *e)
{
    struct spec_place place;
    *out = NULL;
    status s = spec_find(args->name, self, &place, e);
    if (s != LATHE_OK)
        return s;
    json_t *json = NULL;
    struct spec_settings settings = {args->settings.items, args->settings.count};
    s = spec_read_with(place.path, &settings, &json, e);
    if (s == LATHE_OK)
        s = problem_from_json(json, place.path, (const char *const *)place.include_dirs, out, e);
    if (s == LATHE_OK && ((s = set_sizes(*out, &args->sizes, e)) != LATHE_OK ||
                          (s = restrict_all(*out, &args->wheres, e)) != LATHE_OK)) {
        problem_free(*out);
        *out = NULL;
    }
    json_decref(json);
    spec_place_free(&place);
    return s;
}

status spec_settings_asked(const struct spec_args *args, const char *self, char **out, struct err *e)
{
    struct spec_place place;
    status s = spec_find(args->name, self, &place, e);
    if (s != LATHE_OK)
        return s;
    struct spec_settings settings = {args->settings.items, args->settings.count};
    s = spec_read_settings(place.path, &settings, out, e);
    spec_place_free(&place);
    return s;
}
