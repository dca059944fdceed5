/* spec.h: a specification file to a JSON tree, by running it in the sandbox; a .json file is read by definition.h.
 *
 * A specification returns problem { ... }, or space { ... } where there is nothing to run. Lua tables become JSON: a
 * sequence an array; named keys an object, sorted; a table with both an object whose "#" is the array of its
 * positional items; an empty table an empty array. Functions, objects, cycles, holes, NaN, infinities, other keys and
 * tables with a metatable are errors that name the path ("kernels.simt.params.BM[3]": items that begin with a string
 * go by it). prelude.lua (embedded) gives problem, space, launch, gemm, kernel, tensor_map, uniform, normal, i32, i64,
 * f32, f64: constructors that only tag tables, with their name under the key "tag": uniform(0, 1) is {"#": [0, 1],
 * "tag": "uniform"}, i64("M * N") is {"#": ["M * N"], "tag": "i64"}. `setting` gives what the command line says.
 * spec_include.h has the words for files. docs/specification.md describes the fields. */
#ifndef LATHE_SEARCH_SPEC_H
#define LATHE_SEARCH_SPEC_H

#include "base/err.h"
#include <jansson.h>

/* path: a .lua or .json file. New reference in *out. Failures: LATHE_IO (the file), LATHE_SPEC (what it says or does),
 * LATHE_INTERRUPTED; the message names the file. */
status spec_read(const char *path, json_t **out, struct err *e);

/* What the specification's `setting` gives: "type=f16". */
struct spec_settings {
    char *const *texts;
    int count;
};
/* LATHE_USAGE also: a text that is no NAME=VALUE, a name that the specification does not ask for. A value that it does
 * not take is LATHE_SPEC. */
status spec_read_with(const char *path, const struct spec_settings *settings, json_t **out, struct err *e);
/* What it asks for: a line for each, by name, with its values, "type=f32|f16|bf16\n"; "" for nothing. mem_free *out. */
status spec_read_settings(const char *path, const struct spec_settings *settings, char **out, struct err *e);

/* The same for a text that is at hand, which can include no file; `name` stands for the file in messages. seconds: how
 * long it may run. */
status spec_read_text(const char *text, size_t len, const char *name, double seconds, json_t **out, struct err *e);

#endif
