/* lib_error.c: the message of a thread's last failure, and versions. */
#include "lib/lib_impl.h"

#include "version.h"
#include <stdarg.h>
#include <stdio.h>

static _Thread_local char text[sizeof((struct err *)0)->text];

lathe_result lib_fail(lathe_result r, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return r;
}

const char *lathe_error(void)
{
    return text;
}

int lathe_api_version(void)
{
    return LATHE_API_VERSION;
}

const char *lathe_version(void)
{
    return LATHE_VERSION;
}
