/* c_names.h: identifiers that the headers of C's library and of CUDA have already, so that code that includes those
 * cannot have them. */
#ifndef LATHE_MODEL_C_NAMES_H
#define LATHE_MODEL_C_NAMES_H

#include <stdbool.h>

/* A macro, which no code after it can use as a name of any kind: EOF, stdin, linux. */
bool c_name_is_macro(const char *name);
/* A function, a type or a word of the language, which no other function can be called: exp, float4, auto. */
bool c_name_is_declared(const char *name);

#endif
