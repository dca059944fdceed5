/* jit.c: which compiler serves a target: the system's C++ compiler for "host", NVRTC for everything else. */
#include "device/jit.h"
#include "device/host/host_compile.h"
#include "device/cuda/nvrtc.h"

#include <string.h>

status jit_compile(const struct jit_request *r, struct jit_outcome *out, struct err *e)
{
    return strcmp(r->arch, "host") ? nvrtc_compile(r, out, e) : host_compile(r, out, e);
}

status jit_toolchain(const char *arch, char *out, int size, struct err *e)
{
    return strcmp(arch, "host") ? nvrtc_toolchain(out, size, e) : host_toolchain(out, size, e);
}
