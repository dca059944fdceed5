/* failure.h: how a configuration ended and why, as one text: what formats that tell fewer outcomes apart than lathe can
 * hold. Private to replay/. */
#ifndef LATHE_REPLAY_FAILURE_H
#define LATHE_REPLAY_FAILURE_H

#include "base/strbuf.h"
#include "model/outcome.h"

/* Appends "crash: signal 11"; the reason alone where it says as much, since `usual` is what a reader takes the outcome
 * for anyway. */
void failure_print(struct strbuf *b, enum outcome o, const char *reason, enum outcome usual);
/* The reason in such a text, behind the outcome's name, if it begins with one: then *o is that outcome; else it
 * stays. */
const char *failure_read(const char *text, enum outcome *o);

/* Of T4's `invalidity`: the one of an outcome, and the outcome of one, -1: there is none of that name. */
const char *t4_invalidity(enum outcome o);
int t4_outcome(const char *invalidity);
/* The same of the names that Kernel Tuner's caches have instead of a time; what has none of its own is
 * "RuntimeFailedConfig". */
const char *kernel_tuner_error(enum outcome o);
enum outcome kernel_tuner_outcome(const char *error);

#endif
