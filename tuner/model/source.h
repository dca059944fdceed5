/* source.h: from a kernel's .cu file and a configuration to the one text that the compiler, the cache key and the
 * exporter see.
 *
 * source_assemble inlines every `#include "x"` (found beside the including file, then in include_dirs, then in
 * source_common) and leaves `#include <x>` alone; so the text is self-contained and its hash is its identity. Each file
 * appears once, where it is first included, as if it said #pragma once (those lines are dropped): so include at the top
 * of a file, not under an #if. A comment marks where each file begins and ends, and #line directives tell the compiler
 * the file (as the include wrote it; its base name for an absolute one) and the line. Nothing in the text depends on
 * where the files lie.
 *
 * What stands before it for one configuration:
 *   - parameters as macros: LATHE_BM 128; booleans 0/1; floats as (double) literals; a string parameter as the index of
 *     its value, with LATHE_REDUCE_last_block = that value's index for every value (characters outside [A-Za-z0-9_]
 *     become _); inactive parameters have their first value. The prefix keeps them out of the way of included headers.
 *   - lets of integer or boolean type likewise, LATHE_LET_smem.
 *   - kernels/common/types.cuh; LATHE_DTYPE_f32 and so on, a number for each type; for each tensor X of the problem the
 *     macro LATHE_DTYPE_X, one of these, and the type LatheType_X of its elements.
 *   - struct LatheEpilogue: one member a scalar (float) and one a input tensor that the epilogue names or that is the
 *     bias (const T *), the dims it needs (int), and
 *         __device__ __forceinline__ float operator()(float acc, int m, int n) const
 *     that adds the bias and evaluates the epilogue in float.
 * source_epilogue_reference gives `struct LatheEpilogueRef` with the same members, whose operator() takes and returns
 * double, for the verifier.
 * The members' order is epilogue_fields(): the same list builds the kernel argument and the exporter's initialiser.
 */
#ifndef LATHE_MODEL_SOURCE_H
#define LATHE_MODEL_SOURCE_H

#include "model/config.h"

status source_assemble(const char *path, const char *const *include_dirs /* NULL-terminated */, char **text,
                       struct err *e);
/* A header of kernels/common as this program has it, by its name; NULL: none. */
const char *source_common(const char *name);
/* An assembled text whose warps pause at random on a GPU (kernels/common/delays.cuh), to find races; mem_free it. */
char *source_with_delays(const char *source);
/* Whether `word` stands in the text as a whole identifier; not in NULL. */
bool source_has_word(const char *source, const char *word);
/* The text without its #line directives, for a person. */
void source_print_plain(struct strbuf *b, const char *source);
/* A text of the specification's within a comment of C, C++ or Python: with blanks where it would end the comment or its
 * line, begin another, or spell a trigraph. */
void source_comment(struct strbuf *b, const char *text);

enum field_kind { FIELD_SCALAR, FIELD_TENSOR, FIELD_DIM };
struct field {
    enum field_kind kind;
    int index;                  /* into scalars, tensors or dims */
};
/* Tensors first (8-byte pointers), then dims (int), then scalars (float): no padding inside. mem_free the list. */
void epilogue_fields(const struct problem *p, struct field **fields, int *count);

/* As -D options ("LATHE_BM=128", one string each) and as text. */
status source_defines(const struct kernel *k, const struct value *slots, char ***defines, int *count, struct err *e);
void source_defines_free(char **defines, int count);
/* The types, then the struct. */
status source_epilogue(const struct problem *p, struct strbuf *b, struct err *e);
status source_epilogue_reference(const struct problem *p, struct strbuf *b, struct err *e);

#endif
