/* definition.h: search spaces as the community writes them, in JSON, to the tree of a specification that is a space
 * alone (docs/specification.md). Two forms:
 *
 *   a definition: {"name"?, "parameters": {name: [values]}, "constraints"?: [text], "cartesian"?, "valid"?}
 *   a T1 input:   {"General"?: {"BenchmarkName"?}, "ConfigurationSpace": {"TuningParameters": [{"Name", "Type"?,
 *                 "Values"}], "Conditions"?: [{"Expression"}]}, ...}; Values is a list, or the text of one
 *
 * Constraints and T1's lists are in Python's syntax: python.h. A parameter whose values are integers and floats takes
 * all of them as floats. */
#ifndef LATHE_SEARCH_DEFINITION_H
#define LATHE_SEARCH_DEFINITION_H

#include "base/err.h"
#include <jansson.h>

/* path: a .json file. New reference in *out. LATHE_IO: the file; LATHE_SPEC: what it says; the message names the
 * file. */
status definition_read(const char *path, json_t **out, struct err *e);

/* The same for a text; `name` stands for the file in messages, and names the space where the text does not. */
status definition_read_text(const char *text, size_t len, const char *name, json_t **out, struct err *e);

/* The file's constraints over parameters that are known from elsewhere: those of the definition are not needed, and not
 * looked at. parameters: an array of [name, [values]], as in the tree. */
status definition_read_over(const char *path, const json_t *parameters, json_t **out, struct err *e);

#endif
