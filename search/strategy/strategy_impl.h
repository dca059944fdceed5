/* strategy_impl.h: what the files of the strategy share: strategy.c (ask and tell), strategy_load.c (scripts and their
 * options), strategy_tune.c (the script's `tune` and results), strategy_ask.c (how it asks for them), strategy_space.c (its `space`), strategy_config.c (its
 * configurations), strategy_earlier.c (what its `tune` knows of earlier campaigns), strategy_model.c (its `model`). */
#ifndef LATHE_SEARCH_STRATEGY_IMPL_H
#define LATHE_SEARCH_STRATEGY_IMPL_H

#include "base/strbuf.h"
#include "search/lua/lua_host.h"
#include "search/strategy/strategy.h"
#include <lauxlib.h>

struct strategy {
    struct lua_host *host;
    lua_State *co;              /* the script's run(), kept alive by the registry */
    struct space *const *spaces; /* borrowed; the array is a copy */
    int nspaces;
    uint64_t *first;            /* where each space begins in the union; first[nspaces] is the union's size */
    char *name, *text, *options_text;
    char *chunk;                /* the script's file, as messages name it */
    struct proposal *batch;     /* made since the script was last resumed */
    int count, cap;
    struct asked *asked;        /* what became of proposals, by number: of `first_asked` and on */
    int nasked, cap_asked, nover;   /* nover: the first that are over */
    int64_t first_asked;
    int waiting;                /* answers that the script waits for */
    int outstanding;            /* submitted and not collected */
    bool started, ended;
    int parallel;               /* tune.parallel; 0: not set */
    bool from_tune;             /* the last yield came from `tune` */
    uint64_t made;              /* objects made so far: their order as keys */
    int models;                 /* that live */
    struct value *slots;        /* scratch, as many as the largest kernel needs */
    struct strbuf scratch;      /* texts on their way to Lua: here, so that a Lua error leaks nothing */
};

/* A proposal that the script has not taken the result of. */
struct asked {
    struct answer answer;
    bool told;
    bool wanted;                /* the script waits for it */
    bool submitted;             /* it is to be collected */
    bool over;                  /* its result was taken */
};

/* Keys of objects begin with their kind, so that tables with mixed keys have an order too. */
enum object_kind { OBJECT_MEMBER, OBJECT_OUTSIDER, OBJECT_RESULT, OBJECT_OTHER };
static inline uint64_t object_order(enum object_kind kind, uint64_t n)
{
    return (uint64_t)kind << 62 | (n & (UINT64_MAX >> 2));
}

/* A configuration in Lua: immutable. The same member is always the same object, so it can be a key. */
struct config_object {
    struct lua_object object;
    int space;
    int64_t index;              /* in its space; -1: not a member */
    config_choice choice[];
};

struct strategy *strategy_of(lua_State *L);
/* The scratch buffer, emptied. */
struct strbuf *strategy_scratch(struct strategy *s);

/* All below may raise Lua errors. */
void config_open(lua_State *L);                     /* creates the metatable */
void config_push_member(lua_State *L, struct strategy *s, int space, uint64_t index);
struct config_object *config_test(lua_State *L, int at);    /* NULL if it is none */
/* Reads a table { kernel = ..., NAME = value, ... } and pushes the configuration it means, a member or not. False, with
 * nothing pushed and what is wrong in the scratch buffer, if it means none. */
bool config_from_table(lua_State *L, struct strategy *s, int at);
/* The same, of a combination that may be no configuration: the values' places by parameter, -1 where none is given; a
 * number that is no value counts as the nearest one. Gives the space, or -1. */
int config_wishes(lua_State *L, struct strategy *s, int at, int *wanted);
/* Why a configuration is no member; in the scratch buffer. */
const char *config_why(struct strategy *s, const struct config_object *c);
void config_push_value(lua_State *L, struct value v);

/* Raises: unknown `what` 'name', with the nearest of the candidates. */
int strategy_unknown(lua_State *L, const char *what, const char *name, const char *const *candidates, int n);
/* The place of a name among words; raises what strategy_unknown does if it is none of them. */
int strategy_word(lua_State *L, const char *what, const char *name, const char *const *words, int n);
/* The place of the kernel of that name; raises if there is none. */
int strategy_kernel(lua_State *L, const struct strategy *s, const char *name);
/* An object's __index: pushes the method that argument 2 names, returns 1; raises: `what` 'name'. */
enum { METHODS_MAX = 16 };
int strategy_method(lua_State *L, const char *what, const luaL_Reg *methods, int n);
/* "nil", "a table", "the string 'x'": in the scratch buffer. */
const char *strategy_describe(lua_State *L, struct strategy *s, int at);

void space_object_push(lua_State *L);
void tune_object_push(lua_State *L);
/* stack: ..., configuration -> ..., result. Keeps the best. */
void result_push(lua_State *L, struct strategy *s, const struct answer *a);
/* tune.evaluate, evaluate_all, submit and collect. */
int tune_evaluate(lua_State *L);
int tune_evaluate_all(lua_State *L);
int tune_submit(lua_State *L);
int tune_collect(lua_State *L);
/* Makes what they need; for lua_host_call. */
void asking_open(lua_State *L);
/* What was given to the host is no longer needed. Raises nothing. */
void asking_clear_batch(struct strategy *s);
/* tune.here and tune.earlier. */
void earlier_push_here(lua_State *L);
void earlier_push(lua_State *L);
/* Makes the global `model`; for lua_host_call. */
int model_open(lua_State *L);
/* What argument `arg`, a result, says; pushes its configuration. */
void result_check(lua_State *L, int arg, struct answer *out);

/* A script, loaded: its host, with the prelude's module and the strategy's table on the stack. */
struct script {
    struct lua_host *host;
    char *text, *chunk;
};
/* text: the script itself; NULL: the one that is called so. */
status script_load(const char *name_or_file, const char *text, size_t memory, double seconds, uint64_t seed,
                   struct script *out, struct err *e);
void script_free(struct script *s);
/* stack: module, strategy -> module, strategy, options' values. */
status script_resolve(struct script *s, char *const *options, int noptions, int compilers, char **options_text,
                      struct err *e);

#endif
