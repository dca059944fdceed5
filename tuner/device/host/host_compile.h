/* host_compile.h: jit.h for the architecture "host": a .cu text to a shared object, by the system's C++ compiler.
 * The compiler is the first of $CXX (words separated by spaces, the first a program), c++, g++, clang++ in PATH. */
#ifndef LATHE_DEVICE_HOST_COMPILE_H
#define LATHE_DEVICE_HOST_COMPILE_H

#include "device/jit.h"

/* As jit_compile. Temporary files stand beside the image, named after it and the process; only a killed process leaves
 * any behind. LATHE_IO when they or the image cannot be written. */
status host_compile(const struct jit_request *r, struct jit_outcome *out, struct err *e);

/* "g++ (Debian 12.2.0-14) 12.2.0, options 1a2b3c4d5e6f7a8b": the compiler, and a hash of its options and of the shim.
 * Does not tell whether an image is sanitized. */
status host_toolchain(char *out, int size, struct err *e);

/* The first line of the compiler's --version. */
status host_compiler_version(char *out, int size, struct err *e);

/* The compiler's path. */
status host_compiler_path(char *out, int size, struct err *e);

#endif
