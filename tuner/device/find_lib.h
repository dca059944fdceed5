/* find_lib.h: where CUDA's libraries and headers are looked for, and what to say when they are not there.
 *
 * Order for a toolkit library: the directory that LATHE_CUDA_PATH names; the loader (LD_LIBRARY_PATH, ldconfig);
 * CUDA_HOME; CUDA_PATH; CONDA_PREFIX; the toolkit of an nvcc in PATH; /usr/local/cuda, then /usr/local/cuda-*, newest
 * first; /opt/cuda; the distribution's library directories; the nvidia packages of Python (VIRTUAL_ENV, every python3
 * in PATH, the user's and the system's). A library of the driver is looked for by the loader, then where
 * drivers put it.
 *
 * A library once opened is never closed: NVRTC costs a second to load, the driver keeps threads, and opening it again
 * only adds to the loader's count. So a struct lib owns nothing that needs freeing.
 */
#ifndef LATHE_DEVICE_FIND_LIB_H
#define LATHE_DEVICE_FIND_LIB_H

#include "base/strbuf.h"

struct lib_query {
    const char *const *names;       /* sonames, best first, NULL at the end */
    const char *const *too_old;     /* sonames that would only be told of; NULL: none */
    bool driver;                    /* comes with the driver, not with the toolkit */
};

struct lib {
    void *handle;                   /* for dlsym */
    char path[4096];                /* the file that was opened */
};

/* false: not found, and `tried` says where it was looked for and what was wrong there. tried may be NULL. */
bool find_lib(const struct lib_query *q, struct lib *out, struct strbuf *tried);

/* The directory of CUDA's headers (the one with cuda_bf16.h) that belongs to a library found at lib_path, else any that
 * can be found; false if there is none. */
bool find_cuda_include(const char *lib_path, char *out, size_t size);

/* CUDA_VERSION of the headers in `include` (13000), 0 if it cannot be read. */
int cuda_include_version(const char *include);

/* An nvcc: in PATH, else in the toolkits above. */
bool find_nvcc(char *out, size_t size);

/* The first 8 hex digits of the file's build ID: which build of a version this is. "" if it has none. */
void lib_build_id(const struct lib *lib, char out[9]);

/* Functions of a library as a table: where each one's pointer goes in it. */
struct lib_symbol {
    const char *name;
    size_t offset;
    bool optional;                  /* left NULL if missing */
};

/* Fills the pointers; the name of the first one missing, or NULL when all are there. */
const char *lib_bind(void *handle, const struct lib_symbol *symbols, int count, void *table);

#endif
