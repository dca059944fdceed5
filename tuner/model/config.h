/* config.h: one point of a kernel's space: which value each parameter has. */
#ifndef LATHE_MODEL_CONFIG_H
#define LATHE_MODEL_CONFIG_H

#include "model/problem.h"

/* choice[i] indexes kernel->params[i].values; an inactive parameter has 0. A config is plain memory of
 * kernel->nparams entries; config_copy/mem_free. */
typedef uint16_t config_choice;

config_choice *config_copy(const struct kernel *k, const config_choice *c);
bool config_equal(const struct kernel *k, const config_choice *a, const config_choice *b);

/* Canonical text: "BM=128 BN=128 REDUCE=last_block", the kernel's parameter order, inactive parameters left out. */
void config_print(struct strbuf *b, const struct kernel *k, const struct value *slots, const config_choice *c);

json_t *value_to_json(struct value v);      /* new reference */
/* A number, truth or text; a text is borrowed from j. False: it is none of them. */
bool value_from_json(const json_t *j, struct value *v);

/* What a text is as a value of the parameter: as value_read has it, but a text where the values are texts. Borrows. */
struct value param_read_value(const struct param *p, const char *text);
/* The place among a parameter's values of one that is equal or has the same text; -1. */
int param_find_value(const struct param *p, struct value v);
/* The place of the value nearest to a number, the smaller of two; -1: the values are no numbers, or `wanted` is NaN. */
int param_nearest_number(const struct param *p, double wanted);

/* {"BM": 128, ...}; inactive parameters left out. New reference. */
json_t *config_to_json(const struct kernel *k, const struct value *slots, const config_choice *c);

/* From name/value pairs in JSON or text ("BM=128,BN=64"; spaces or commas). Unknown name or value not in the list, a
 * name given twice: LATHE_USAGE naming it and the choices; a missing active parameter likewise. Does not check
 * constraints. Whether a parameter is active is decided here only where its `when` uses nothing but parameters: one
 * known to be inactive gets 0. One whose `when` uses sizes or limits may be missing, and gets 0; config_normalise
 * settles those once the slots are known. */
status config_from_json(const struct kernel *k, const json_t *j, config_choice *c, struct err *e);
status config_from_text(const struct kernel *k, const char *text, config_choice *c, struct err *e);

/* Fills the kernel scope's slots (dims, scalars, limits, params, lets) for this configuration. slots must hold
 * k->scope.count values. kernel_slots_fixed fills the part that no configuration changes; kernel_slots_config the rest
 * (params with inactive ones at their first value, then lets in order). */
void kernel_slots_fixed(const struct problem *p, const struct kernel *k, const struct target *t, struct value *slots);
status kernel_slots_config(const struct kernel *k, const config_choice *c, struct value *slots, struct err *e);
/* Sets every inactive parameter's choice to 0, as members of a space have it. slots are complete for c. */
void config_normalise(const struct kernel *k, const struct value *slots, config_choice *c);

/* Whether a parameter takes part in a configuration. Only slots before the parameter's own are looked at; where the
 * condition cannot be evaluated (kernel_slots_config reports that) the answer is false. */
bool param_active(const struct kernel *k, int param, const struct value *slots);

/* Appends a constraint's reason, if it has one: " (rows would begin unaligned)"; one of the search's says that it
 * is. */
void constraint_reason(struct strbuf *b, const struct constraint *c);

/* First requirement or constraint that refuses: returns false and appends an explanation with the values put in. One
 * that cannot be evaluated (a division by zero) refuses too. `requires` come first. slots are complete. */
bool kernel_allows(const struct kernel *k, const struct value *slots, struct strbuf *why);
/* The same of its requirements alone, which no configuration changes: whether the device can run it at this size. */
bool kernel_runs_on(const struct problem *p, const struct kernel *k, const struct target *t, struct strbuf *why);

#endif
