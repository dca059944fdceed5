/* cuda_error.c: what a call of the driver that failed means for the device, and says. */
#include "device/cuda/cuda_dev.h"

#include <stdarg.h>
#include <stdio.h>

status cuda_check(struct dev *d, CUresult r, struct err *e, const char *fmt, ...)
{
    if (r == CUDA_SUCCESS)
        return LATHE_OK;
    char text[300], operation[600];
    va_list args;
    va_start(args, fmt);
    vsnprintf(operation, sizeof operation, fmt, args);
    va_end(args);
    d->fault = cuda_fault(r);
    cuda_error_text(&d->cu, r, text, sizeof text);
    return err_set(e, LATHE_DEVICE, "%s: %s", operation, text);
}
