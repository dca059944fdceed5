/* export_c_files.c: `lathe export --format c` and `--format bundle`: the files. */
#include "base/mem.h"
#include "cli/export/export_set.h"
#include "console/output.h"
#include "db/store.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The stem: a directory's, or that of one to be made (DIR/), is NAME in it; a .c or .h is cut off. To be freed. */
static status stem_of(const char *output, const char *name, char **out, struct err *e)
{
    struct stat st;
    size_t n = strlen(output);
    if (n >= 2 && (!strcmp(output + n - 2, ".c") || !strcmp(output + n - 2, ".h")))
        n -= 2;
    bool named = n > 0 && output[n - 1] != '/';
    if (named && (stat(output, &st) != 0 || !S_ISDIR(st.st_mode))) {
        *out = mem_printf("%.*s", (int)n, output);
        return LATHE_OK;
    }
    char *dir = named ? mem_strdup(output) : n ? mem_printf("%.*s", (int)n, output) : mem_strdup(".");
    status s = dir_make(dir, e);
    *out = s == LATHE_OK ? path_join(dir, name) : NULL;
    mem_free(dir);
    return s;
}

static status write_files(const struct export_set *set, const char *stem, struct err *e)
{
    struct strbuf header = {0}, source = {0};
    const char *slash = strrchr(stem, '/');
    char *h = mem_printf("%s.h", stem), *c = mem_printf("%s.c", stem),
         *include = mem_printf("%s.h", slash ? slash + 1 : stem);
    char *both = mem_printf("%s and %s", c, h);
    status s = LATHE_OK;
    if (strpbrk(include, "\"\\\n\r"))
        s = err_set(e, LATHE_USAGE, "export: -o %.200s: no C source can include a header of that name", stem);
    if (s == LATHE_OK)
        s = export_c(set->variants, set->nvariants, include, &header, &source, e);
    if (s == LATHE_OK)
        s = file_write_atomic(h, sb_str(&header), header.len, e);
    if (s == LATHE_OK)
        s = file_write_atomic(c, sb_str(&source), source.len, e);
    if (s == LATHE_OK)
        export_set_tell(set, both);
    if (s == LATHE_OK)
        export_set_warn(set);
    mem_free(h);
    mem_free(c);
    mem_free(include);
    mem_free(both);
    sb_free(&header);
    sb_free(&source);
    return s;
}

status export_c_files(struct query *q, const struct selection *sel, int64_t trial, const char *name, const char *output,
                      struct err *e)
{
    struct export_set set;
    if (!output || strcmp(output, "-") == 0)
        return err_set(e, LATHE_USAGE, "export: --format c writes two files\n-o NAME writes NAME.c and NAME.h");
    status s = export_set_open(q, sel, trial, name, &set, e);
    if (s != LATHE_OK)
        return s;
    char *usual = name ? mem_strdup(name) : mem_printf("lathe_%s", set.trials[0]->stored.problem->name);
    char *stem = NULL;
    s = stem_of(output, usual, &stem, e);
    if (s == LATHE_OK)
        s = write_files(&set, stem, e);
    mem_free(usual);
    mem_free(stem);
    export_set_close(&set);
    return s;
}

static status into_database(const struct export_set *set, const struct selection *sel, const struct strbuf *bytes,
                            const char *version, struct err *e)
{
    enum { PATIENCE = 60 };             /* seconds that another writer may take */
    struct store *store = NULL;
    const char *problem = set->trials[0]->stored.problem->name;
    status s = store_open(sel->db, PATIENCE, &store, e);
    if (s == LATHE_OK)
        s = store_bundle(store, problem, bytes->s, bytes->len, version, e);
    store_close(store);
    if (s == LATHE_OK) {
        char *where = mem_printf("the bundle of %s into %s", problem, sel->db);
        export_set_tell(set, where);
        mem_free(where);
    }
    return s;
}

status export_bundle_file(struct query *q, const struct selection *sel, int64_t trial, const char *version,
                          const char *output, struct err *e)
{
    struct export_set set;
    struct strbuf bytes = {0};
    bool to_file = output && strcmp(output, "-") != 0;
    if (output && !to_file && is_terminal(stdout))
        return err_set(e, LATHE_USAGE, "export: --format bundle writes a binary file\n-o FILE.lathe writes it there");
    status s = export_set_open(q, sel, trial, NULL, &set, e);
    if (s != LATHE_OK)
        return s;
    s = export_bundle(set.variants, set.nvariants, version, &bytes, e);
    if (s == LATHE_OK && !output)
        s = into_database(&set, sel, &bytes, version, e);
    else if (s == LATHE_OK)
        s = to_file ? file_write_atomic(output, bytes.s, bytes.len, e) : out_text(bytes.s, bytes.len, e);
    if (s == LATHE_OK && to_file)
        export_set_tell(&set, output);
    if (s == LATHE_OK)
        export_set_warn(&set);
    sb_free(&bytes);
    export_set_close(&set);
    return s;
}
