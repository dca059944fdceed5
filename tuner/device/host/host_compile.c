/* host_compile.c: see host_compile.h. Two runs of the compiler: preprocess (the shim, then the source), and compile the
 * result with a calling function for each kernel added (host_scan.c), so that the kernels' names are read where macros
 * and #if have done their work. Diagnostics name the source as the request does.
 *
 * The options keep to what a GPU does: no contraction of a*b+c (a kernel that wants an FMA says so), no type-based
 * aliasing, and whatever $CXX brings along nothing that lets the compiler assume away NaN, or reorder sums: lathe's own
 * verification is compiled here too. AVX2 and FMA instructions are used where the processor has them; they change speed
 * and no result. */
#include "device/host/host_compile.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "device/host/host_child.h"
#include "device/host/host_scan.h"
#include "device/host/host_shim.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char shim[] = {
#include "tuner/device/host/host_shim.h.inc"
    , 0};

static const char *const language[] = {"-std=c++17", NULL};
static const char *const code[] = {"-std=c++17", "-O2", "-fPIC", "-shared", "-fno-strict-aliasing", "-fno-math-errno",
                                   "-fno-exceptions", "-fvisibility=hidden", "-w", NULL};
/* Last of the options, for the preprocessor too, whose <math.h> asks for them: they undo -ffast-math and what it is
 * made of. -funsafe-math-optimizations and each part has to be named: gcc lets a part given on its own outlive the whole.
 * That -O2 above comes after $CXX undoes -Ofast. */
static const char *const exact[] = {"-fno-fast-math", "-fno-unsafe-math-optimizations", "-fno-finite-math-only",
                                    "-fno-associative-math", "-fno-reciprocal-math", "-fsigned-zeros",
                                    "-fno-single-precision-constant", "-ffp-contract=off", NULL};
/* Where the compiler has it (the shim says): a local variable that nobody wrote is read as garbage, always the same. */
static const char *const filled[] = {"-ftrivial-auto-var-init=pattern", NULL};
static const char *const plain[] = {"-Wl,-z,defs", NULL}; /* sanitized images take symbols from the program */
/* Of the undefined-behaviour checks those that gcc and clang share and that need no C++ runtime library. */
static const char *const sanitized[] = {
    "-fsanitize=address,alignment,bool,bounds,enum,integer-divide-by-zero,null,object-size,pointer-overflow,return,"
    "shift,signed-integer-overflow,unreachable,vla-bound",
    "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-g", NULL};
static const char *const fast[] = {"-mavx2", "-mfma", NULL};
static const char *const none[] = {NULL};

static const char *const *processor_options(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return fast;
#endif
    return none;
}

/* --- command lines --- */

struct command {
    char **argv;                /* NULL-terminated, each its own */
    size_t count, cap;
};

static void add(struct command *c, const char *word)
{
    if (c->count + 1 >= c->cap) {
        c->cap = c->cap ? c->cap * 2 : 32;
        c->argv = mem_resize(c->argv, c->cap, sizeof *c->argv);
    }
    c->argv[c->count++] = mem_strdup(word);
    c->argv[c->count] = NULL;
}

static void add_all(struct command *c, const char *const *words)
{
    for (; *words; words++) add(c, *words);
}

static void command_free(struct command *c)
{
    for (size_t i = 0; i < c->count; i++) mem_free(c->argv[i]);
    mem_free(c->argv);
    memset(c, 0, sizeof *c);
}

/* --- the compiler --- */

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* mem_free it; NULL if there is none. */
static char *find_program(const char *name)
{
    if (strchr(name, '/')) return is_program(name) ? mem_strdup(name) : NULL;
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t n = strcspn(path, ":");
        char *file = n ? mem_printf("%.*s/%s", (int)n, path, name) : mem_printf("./%s", name);
        if (is_program(file)) return file;
        mem_free(file);
        path += n + (path[n] == ':');
    }
    return NULL;
}

static status add_from_environment(struct command *c, const char *words, struct err *e)
{
    while (*words) {
        while (isspace((unsigned char)*words)) words++;
        size_t n = strcspn(words, " \t\n");
        if (!n) break;
        char *word = mem_printf("%.*s", (int)n, words);
        char *program = c->count ? NULL : find_program(word);
        bool missing = !c->count && !program;
        if (!missing) add(c, program ? program : word);
        if (missing)
            err_set(e, LATHE_COMPILER, "CXX names '%.200s', and there is no such program: set CXX to a C++ compiler, "
                    "or unset it to use c++, g++ or clang++ from PATH", word);
        mem_free(program);
        mem_free(word);
        if (missing) return LATHE_COMPILER;
        words += n;
    }
    return LATHE_OK;
}

/* The words with which the compiler's command line begins. */
static status find_compiler(struct command *c, struct err *e)
{
    static const char *const names[] = {"c++", "g++", "clang++"};
    const char *cxx = getenv("CXX"), *path = getenv("PATH");
    status s = add_from_environment(c, cxx ? cxx : "", e);
    if (s || c->count) return s;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *program = find_program(names[i]);
        if (!program) continue;
        add(c, program);
        mem_free(program);
        return LATHE_OK;
    }
    return err_set(e, LATHE_COMPILER, "the host device needs a C++ compiler, and none of c++, g++, clang++ is in PATH "
                   "(%.600s): install one (Debian, Ubuntu: apt install g++) or set CXX to one",
                   path ? path : "not set");
}

status host_compiler_path(char *out, int size, struct err *e)
{
    struct command c = {0};
    status s = find_compiler(&c, e);
    if (!s) snprintf(out, (size_t)size, "%s", c.argv[0]);
    command_free(&c);
    return s;
}

status host_compiler_version(char *out, int size, struct err *e)
{
    struct command c = {0};
    struct strbuf text = {0};
    struct err why = {0};
    int result = 0;
    status s = find_compiler(&c, e);
    if (!s) {
        add(&c, "--version");
        s = host_child_run(c.argv, NULL, CHILD_VERSION_SECONDS, &text, &result, &why);
        if (s) err_set(e, s, "'%s --version': %s; set CXX to a working C++ compiler", c.argv[0], why.text);
    }
    int n = (int)strcspn(sb_str(&text), "\r\n");
    if (!s && (result || !n))
        s = err_set(e, LATHE_COMPILER, "'%s --version' failed (exit code %d): %.300s; set CXX to a working C++ "
                    "compiler", c.argv[0], result, sb_str(&text));
    if (!s) snprintf(out, (size_t)size, "%.*s", n, sb_str(&text));
    sb_free(&text);
    command_free(&c);
    return s;
}

static void hash_options(struct hasher *h, const char *const *options)
{
    for (; *options; options++) hasher_add_str(h, *options);
}

status host_toolchain(char *out, int size, struct err *e)
{
    char version[200], hex[HASH_HEX];
    status s = host_compiler_version(version, sizeof version, e);
    if (s) return s;
    struct hasher *h = hasher_new();
    const char *cxx = getenv("CXX");
    hasher_add_str(h, version);
    hasher_add_str(h, cxx ? cxx : ""); /* it may hold options */
    hash_options(h, code);
    hash_options(h, processor_options());
    hash_options(h, exact);
    hash_options(h, filled);
    hasher_add(h, shim, sizeof shim);
    hasher_end(h, hex);
    int room = size - (int)sizeof ", options 0123456789abcdef";
    if (room < 1) return err_set(e, LATHE_INTERNAL, "host_toolchain: no room for the compiler's name");
    snprintf(out, (size_t)size, "%.*s, options %.16s", room, version, hex);
    return LATHE_OK;
}

/* --- files --- */

static status write_file(const char *path, const char *a, const char *b, const char *c, struct err *e)
{
    FILE *f = fopen(path, "w");
    bool ok = f && fputs(a, f) >= 0 && fputs(b, f) >= 0 && fputs(c, f) >= 0;
    int problem = errno;
    if (f && fclose(f)) {
        if (ok) problem = errno;
        ok = false;
    }
    return ok ? LATHE_OK : err_set(e, LATHE_IO, "%s cannot be written: %s", path, strerror(problem));
}

/* Makes a finished file the image: on disk first, then under its name, whole or not at all. */
static status publish(const char *made, const char *image, struct err *e)
{
    int fd = open(made, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    int problem = errno;
    if (fd >= 0) close(fd);
    if (ok && rename(made, image)) {
        ok = false;
        problem = errno;
    }
    return ok ? LATHE_OK : err_set(e, LATHE_IO, "%s cannot be written: %s", image, strerror(problem));
}

/* --- compiling --- */

struct job {
    const struct jit_request *request;
    char *source, *expanded, *image;    /* temporary files */
    char *folder;                       /* of these, and of the compiler's own */
    struct command compiler;
    struct strbuf log;
    bool refused, died;
    bool fills_locals;          /* the compiler knows the option `filled` */
};

static void job_open(struct job *j, const struct jit_request *r)
{
    *j = (struct job){.request = r};
    const char *slash = strrchr(r->image_path, '/');
    j->folder = slash ? mem_printf("%.*s", (int)(slash + 1 - r->image_path), r->image_path) : mem_strdup("./");
    j->source = mem_printf("%s.%ld.cu", r->image_path, (long)getpid());
    j->expanded = mem_printf("%s.%ld.ii", r->image_path, (long)getpid());
    j->image = mem_printf("%s.%ld.so", r->image_path, (long)getpid());
}

static void job_close(struct job *j)
{
    unlink(j->source);
    unlink(j->expanded);
    unlink(j->image);
    mem_free(j->source);
    mem_free(j->expanded);
    mem_free(j->image);
    mem_free(j->folder);
    command_free(&j->compiler);
    sb_free(&j->log);
}

/* The shim and the source in one file, whose diagnostics say the request's name. */
static status write_source(struct job *j, struct err *e)
{
    struct strbuf name = {0}, head = {0};
    for (const char *p = j->request->name ? j->request->name : "kernel.cu"; *p; p++)
        sb_addn(&name, *p == '"' || *p == '\\' || *p == '\n' ? "_" : p, 1);
    sb_addf(&head, "#line 1 \"host_shim.h\"\n%s\n#line 1 \"%s\"\n", shim, sb_str(&name));
    status s = write_file(j->source, sb_str(&head), j->request->source, "\n", e);
    sb_free(&name);
    sb_free(&head);
    return s;
}

/* By a signal itself, or a program that it runs: GCC's and Clang's words for that. */
static bool compiler_died(int result, const char *said)
{
    return result > 128 || strstr(said, " signal terminated program ") || strstr(said, "command failed due to signal");
}

static status run_step(struct job *j, struct command *c, const char *output, const char *input, struct err *e)
{
    int result = 0;
    add(c, "-o");
    add(c, output);
    add(c, input);
    status s = host_child_run(c->argv, j->folder, 0 /* whoever asked limits it */, &j->log, &result, e);
    if (!s && result && strstr(sb_str(&j->log), "No space left on device")) {   /* says nothing of the source */
        s = err_set(e, LATHE_IO, "%s: the compiler found no space left on the device: %.300s\nfree some, or set "
                    "LATHE_CACHE to a folder that has it", output, sb_str(&j->log));
    } else if (!s && result) {
        j->refused = true;
        j->died = compiler_died(result, sb_str(&j->log));
        if (!j->log.len) sb_addf(&j->log, "%s ended with code %d and said nothing\n", c->argv[0], result);
    } else if (!s && !file_exists(output)) {
        s = err_set(e, LATHE_COMPILER, "%s ended without an error, but wrote nothing: is it a C++ compiler? set CXX to "
                    "one", c->argv[0]);
    }
    command_free(c);
    return s;
}

static void begin_command(struct job *j, struct command *c)
{
    for (size_t i = 0; i < j->compiler.count; i++) add(c, j->compiler.argv[i]);
}

static status preprocess(struct job *j, struct err *e)
{
    struct command c = {0};
    begin_command(j, &c);
    add_all(&c, language);
    add_all(&c, processor_options());
    add_all(&c, exact);
    if (j->request->sanitize) add_all(&c, sanitized);
    add(&c, j->request->sanitize ? "-DLATHE_HOST_SANITIZE=1" : "-DLATHE_HOST_SANITIZE=0");
    for (int i = 0; i < j->request->ndefines; i++) {
        char *define = mem_printf("-D%s", j->request->defines[i]);
        add(&c, define);
        mem_free(define);
    }
    add(&c, "-w");
    add(&c, "-E");
    add(&c, "-x");
    add(&c, "c++");
    return run_step(j, &c, j->expanded, j->source, e);
}

static status add_calls(struct job *j, struct err *e)
{
    char *text;
    struct strbuf calls = {0};
    status s = file_read(j->expanded, &text, NULL, e);
    if (s) return s;
    j->fills_locals = strstr(text, LATHE_HOST_FILLS_LOCALS) != NULL;
    host_scan(text, &calls);
    s = write_file(j->expanded, text, "\n# 1 \"(calls of the kernels)\"\n", sb_str(&calls), e);
    mem_free(text);
    sb_free(&calls);
    return s;
}

static status compile(struct job *j, struct err *e)
{
    struct command c = {0};
    begin_command(j, &c);
    add_all(&c, code);
    add_all(&c, processor_options());
    if (j->fills_locals) add_all(&c, filled);
    add_all(&c, j->request->sanitize ? sanitized : plain);
    add_all(&c, exact);
    add(&c, "-x");
    add(&c, "c++-cpp-output");
    return run_step(j, &c, j->image, j->expanded, e);
}

status host_compile(const struct jit_request *r, struct jit_outcome *out, struct err *e)
{
    struct job j;
    memset(out, 0, sizeof *out);
    job_open(&j, r);
    status s = find_compiler(&j.compiler, e);
    if (!s) s = write_source(&j, e);
    if (!s) s = preprocess(&j, e);
    if (!s && !j.refused) s = add_calls(&j, e);
    if (!s && !j.refused) s = compile(&j, e);
    if (!s && !j.refused) s = publish(j.image, r->image_path, e);
    if (!s) {
        if (j.refused && strstr(r->source, "extern __shared__"))
            sb_add(&j.log, "note: on the host, dynamic shared memory is had by LATHE_DYNAMIC_SHARED(name) or "
                           "lathe_host_shared(), not by extern __shared__\n");
        out->ok = !j.refused;
        out->died = j.died;
        if (j.log.len) out->log = sb_take(&j.log);
    }
    job_close(&j);
    return s;
}
