/* spec.h: a specification file to a JSON tree, by running it in the sandbox.
 *
 * A specification returns problem { ... }. Lua tables become JSON: a sequence an array; named keys an object; a table
 * with both an object whose "#" is the array of its positional items. Functions, userdata, cycles, NaN and other keys are
 * errors that name the path. prelude.lua (embedded) gives problem, launch, gemm, uniform, normal, i32, i64, f32, f64:
 * constructors that only tag tables. docs/specification.md describes the fields. */
#ifndef LATHE_SEARCH_SPEC_H
#define LATHE_SEARCH_SPEC_H

#include "base/err.h"
#include <jansson.h>

/* path: a .lua file. New reference in *out. */
status spec_read(const char *path, json_t **out, struct err *e);

#endif
