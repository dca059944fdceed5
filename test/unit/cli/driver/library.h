/* library.h: what library.c's libcuda.so.1 is told, by the symbols fake_library and fake_device of it. */
#ifndef FAKE_LIBRARY_H
#define FAKE_LIBRARY_H

#include <stdio.h>

struct fake_library {
    FILE *out;                          /* launches and fills, a line each */
    const char *(*kinds)(const char *kernel);
    const char *fail;                   /* a function that fails ... */
    int fail_with;                      /* ... with this code */
    int loads;                          /* modules that are loaded */
};

#endif
