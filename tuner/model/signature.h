/* signature.h: does a launch fit its kernel's C++ signature? The compiler that compiles the kernel is asked, by text
 * behind its source (kernels/common/launches.cuh), so nothing here parses C++; what it says is made a sentence.
 *
 * What fits, for a parameter of a kernel (docs/specification.md#a-kernel--name--):
 *   a tensor      a pointer to numbers of its elements' size, to void, bytes or a structure; lathe_f16 and lathe_bf16
 *                 only of their own; of u8 any pointer
 *   i32, i64      an integer or enumeration of 4, 8 bytes, with a sign or without
 *   f32, f64      float, double
 *   the epilogue  LatheEpilogue
 *   a tensor map  a structure of 128 bytes
 * A name that is no kernel at file scope is not looked at, nor one that several functions have which return nothing; on
 * GPUs the sizes of its parameters are, when it is loaded.
 */
#ifndef LATHE_MODEL_SIGNATURE_H
#define LATHE_MODEL_SIGNATURE_H

#include "model/config.h"

/* Appends the questions about the launches of a configuration: slots as plan_build takes them. Steps whose `when` does
 * not hold, or cannot be evaluated, are left out. They stand at the end of the kernel's source (source.h). Appends
 * nothing where nothing is launched. */
void signature_ask(const struct problem *p, const struct kernel *k, const struct value *slots, struct strbuf *b);

/* log: what the compiler said when it refused such a source. LATHE_SPEC, with the launch, the argument, and what kernel
 * and specification say of it, if a launch does not fit; LATHE_OK if it is about something else. */
status signature_answer(const struct problem *p, const struct kernel *k, const char *log, struct err *e);

#endif
