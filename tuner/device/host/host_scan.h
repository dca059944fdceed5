/* host_scan.h: the kernels that a preprocessed .cu text defines. C++ is parsed no further than that needs. */
#ifndef LATHE_DEVICE_HOST_SCAN_H
#define LATHE_DEVICE_HOST_SCAN_H

#include "base/strbuf.h"

/* Blanks every mark that the shim's __global__ left in `text` (in place, so that columns stay), and appends to `calls`
 * one function lathe_call_NAME for each kernel defined at file scope with C linkage. Gives how many. */
int host_scan(char *text, struct strbuf *calls);

#endif
