/* places.c: the directories of places.h.
 *
 * Invariant: a directory is in a list once, where it was first added.
 */
#include "device/places.h"
#include "base/mem.h"
#include "device/find_lib.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool places_is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

void places_add(struct places *p, const char *dir, const char *variable)
{
    for (int i = 0; i < p->n; i++)
        if (!strcmp(p->v[i].dir, dir))
            return;
    MEM_GROW(p->v, p->n, p->cap);
    p->v[p->n++] = (struct place){mem_strdup(dir), variable};
}

void places_free(struct places *p)
{
    for (int i = 0; i < p->n; i++)
        mem_free(p->v[i].dir);
    mem_free(p->v);
    *p = (struct places){0};
}

/* Every directory that matches, in reverse order, so that cuda-13.0 comes before cuda-12.4. */
static void places_glob(struct places *p, const char *pattern)
{
    glob_t g;
    if (glob(pattern, GLOB_BRACE | GLOB_ONLYDIR, NULL, &g))
        return;
    for (size_t i = g.gl_pathc; i-- > 0;)
        if (places_is_dir(g.gl_pathv[i]))
            places_add(p, g.gl_pathv[i], NULL);
    globfree(&g);
}

/* Runs each(ctx, directory) over the directories of PATH, until it returns true. */
static bool each_in_path(bool (*each)(void *ctx, const char *dir), void *ctx)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t n = strcspn(path, ":");
        char dir[PATH_MAX];
        if (n && n < sizeof dir && *path == '/') {
            memcpy(dir, path, n);
            dir[n] = 0;
            if (each(ctx, dir))
                return true;
        }
        path += n + (path[n] == ':');
    }
    return false;
}

static bool nvcc_in(void *ctx, const char *dir)
{
    return snprintf(ctx, PATH_MAX, "%s/nvcc", dir) < PATH_MAX && access(ctx, X_OK) == 0;
}

/* --- toolkits: directories with lib64 and include in them --- */

static void roots_from_environment(struct places *roots)
{
    static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *dir = getenv(variables[i]);
        if (dir && *dir)
            places_add(roots, dir, variables[i]);
    }
}

static void roots_installed(struct places *roots)
{
    char nvcc[PATH_MAX], real[PATH_MAX];
    if (each_in_path(nvcc_in, nvcc) && realpath(nvcc, real)) {
        char *bin = path_dirname(real), *root = path_dirname(bin);
        if (strcmp(root, "/usr"))               /* a distribution's nvcc: its libraries are the loader's */
            places_add(roots, root, NULL);
        mem_free(bin);
        mem_free(root);
    }
    if (places_is_dir("/usr/local/cuda"))
        places_add(roots, "/usr/local/cuda", NULL);
    places_glob(roots, "/usr/local/cuda-*");
    if (places_is_dir("/opt/cuda"))
        places_add(roots, "/opt/cuda", NULL);
}

/* The library directories of a toolkit; a directory that was named but has none stands for itself. */
void places_add_toolkit(struct places *p, const char *root, const char *variable)
{
    static const char *const under[] = {"lib64", "lib"};
    char path[PATH_MAX];
    int before = p->n;
    for (size_t i = 0; i < sizeof under / sizeof *under; i++)
        if (snprintf(path, sizeof path, "%s/%s", root, under[i]) < (int)sizeof path && places_is_dir(path))
            places_add(p, path, variable);
    if (snprintf(path, sizeof path, "%s/targets/*-linux/lib", root) < (int)sizeof path)
        places_glob(p, path);
    if (variable || p->n == before)
        places_add(p, root, variable);
}

/* --- Python's nvidia packages: PREFIX/lib/python3.x/site-packages/nvidia/... --- */

static void python_prefix_libs(struct places *p, const char *prefix)
{
    char pattern[PATH_MAX + 128];
    snprintf(pattern, sizeof pattern,
             "%s/{lib,lib64}/python3*/{site,dist}-packages/nvidia/{cu13,cuda_nvrtc,cublas}/lib", prefix);
    places_glob(p, pattern);
}

static bool python_in(void *ctx, const char *dir)
{
    char python[PATH_MAX + 16];
    snprintf(python, sizeof python, "%s/python3", dir);
    if (access(python, X_OK) == 0) {
        char *prefix = path_dirname(dir);       /* a virtual environment's own, so links are not followed */
        python_prefix_libs(ctx, prefix);
        mem_free(prefix);
    }
    return false;
}

static void places_python(struct places *p)
{
    const char *venv = getenv("VIRTUAL_ENV"), *home = getenv("HOME");
    if (venv && *venv)
        python_prefix_libs(p, venv);
    each_in_path(python_in, p);
    if (home && *home) {
        char local[PATH_MAX];
        snprintf(local, sizeof local, "%s/.local", home);
        python_prefix_libs(p, local);
    }
    python_prefix_libs(p, "/usr/local");
    python_prefix_libs(p, "/usr");
}

void places_toolkit(struct places *p)
{
    struct places roots = {0};
    roots_from_environment(&roots);
    roots_installed(&roots);
    for (int i = 0; i < roots.n; i++)
        places_add_toolkit(p, roots.v[i].dir, roots.v[i].variable);
    places_free(&roots);
    places_glob(p, "/usr/lib/*-linux-gnu");
    places_python(p);
}

void places_driver(struct places *p)
{
    static const char *const dirs[] = {"/usr/local/nvidia/lib64", "/usr/lib/wsl/lib", "/run/opengl-driver/lib",
                                       "/usr/lib64", "/usr/local/cuda/compat"};
    places_glob(p, "/usr/lib/*-linux-gnu/nvidia/current");
    places_glob(p, "/usr/lib/*-linux-gnu");
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
        if (places_is_dir(dirs[i]))
            places_add(p, dirs[i], NULL);
}

/* --- headers and nvcc --- */

/* The toolkit that the user wants first. */
static void roots_in_order(struct places *roots)
{
    const char *wanted = getenv("LATHE_CUDA_PATH");
    if (wanted && *wanted)
        places_add(roots, wanted, NULL);
    roots_from_environment(roots);
    roots_installed(roots);
}

static bool include_at(const char *dir, const char *under, char *out, size_t size)
{
    char header[PATH_MAX];
    if (snprintf(header, sizeof header, "%s%s/cuda_bf16.h", dir, under) >= (int)sizeof header || !file_exists(header))
        return false;
    return snprintf(out, size, "%s%s", dir, under) < (int)size;
}

/* lib_path is .../lib/libX.so: the headers are beside lib, or in a sibling package of Python's. */
static bool include_beside(const char *lib_path, char *out, size_t size)
{
    char *lib = path_dirname(lib_path), *up = path_dirname(lib), *top = path_dirname(up);
    bool found = include_at(up, "/include", out, size) || include_at(top, "/cuda_runtime/include", out, size) ||
                 include_at(top, "/cu13/include", out, size) || include_at(top, "/../include", out, size);
    mem_free(lib);
    mem_free(up);
    mem_free(top);
    return found;
}

bool find_cuda_include(const char *lib_path, char *out, size_t size)
{
    char real[PATH_MAX];
    if (include_beside(lib_path, out, size) || (realpath(lib_path, real) && include_beside(real, out, size)))
        return true;
    struct places roots = {0};
    roots_in_order(&roots);
    bool found = false;
    for (int i = 0; i < roots.n && !found; i++)
        found = include_at(roots.v[i].dir, "/include", out, size);
    places_free(&roots);
    if (found)
        return true;
    struct places python = {0};
    places_python(&python);
    for (int i = 0; i < python.n && !found; i++) {
        char *package = path_dirname(python.v[i].dir), *nvidia = path_dirname(package);
        found = include_at(package, "/include", out, size) || include_at(nvidia, "/cuda_runtime/include", out, size);
        mem_free(package);
        mem_free(nvidia);
    }
    places_free(&python);
    return found || include_at("/usr", "/include", out, size);
}

int cuda_include_version(const char *include)
{
    char *text = NULL, *path = path_join(include, "cuda.h");
    int version = 0;
    if (!file_read(path, &text, NULL, NULL)) {
        const char *at = strstr(text, "#define CUDA_VERSION ");
        if (at)
            version = atoi(at + strlen("#define CUDA_VERSION "));
    }
    mem_free(text);
    mem_free(path);
    return version;
}

bool find_nvcc(char *out, size_t size)
{
    char path[PATH_MAX];
    bool found = each_in_path(nvcc_in, path);
    struct places roots = {0};
    roots_in_order(&roots);
    for (int i = 0; i < roots.n && !found; i++) {
        char *bin = path_join(roots.v[i].dir, "bin");
        found = nvcc_in(path, bin);
        mem_free(bin);
    }
    places_free(&roots);
    return found && snprintf(out, size, "%s", path) < (int)size;
}
