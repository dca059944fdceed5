/* problem_json_space.c: a specification that is a space alone, `space { name = ..., params = ..., constraints = ...
 * }`: a problem of one kernel of the same name that has nothing to run. Names may be what C++ or a device has words
 * for. */
#include "model/problem/problem_read.h"

#include "base/mem.h"

status read_space(struct reader *r)
{
    static const char *const keys[] = {"name", "summary", "params", "let", "constraints", NULL};
    static const struct table_form form = {"space { name = ..., params = ..., ... }", "space", 0, 0, keys};
    struct problem *p = r->p;
    struct table t;
    p->space_alone = true;
    p->output = -1;
    TRY(read_table(r, p->json, &form, &t));
    if (!table_get(&t, "name"))
        return read_fail(r, "missing field 'name'");
    size_t mark = at_enter(r, ".name");
    TRY(read_identifier(r, table_get(&t, "name"), "a space", MAX_NAME, &p->name));
    at_leave(r, mark);
    TRY(read_text(r, &t, "summary", &p->summary));
    struct kernel *k = p->kernels = mem_zalloc(1, sizeof *p->kernels);
    p->nkernels = 1;
    k->name = mem_strdup(p->name);
    k->eligible = k->checked = k->usual = true;
    TRY(read_params(r, k, table_get(&t, "params")));
    k->first_let = k->scope.count;
    TRY(read_lets(r, k, table_get(&t, "let")));
    mark = at_enter(r, ".constraints");
    TRY(read_constraints(r, k, table_get(&t, "constraints"), false, &k->constraints, &k->nconstraints));
    at_leave(r, mark);
    return LATHE_OK;
}
