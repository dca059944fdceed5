/* guest_fixture.h: liblathe in this process, against a driver that runs nothing (test/unit/cli/driver/library.c). */
#ifndef LATHE_TEST_GUEST_FIXTURE_H
#define LATHE_TEST_GUEST_FIXTURE_H

#include "../cli/driver/choices.h"
#include "../cli/driver/driver.h"
#include "../cli/driver/library.h"
#include "lib/lathe.h"
#include "model/bundle.h"

#include <dlfcn.h>

static struct fake_library *library;
static struct fake_device *device;
static char *said;                      /* what was launched since said_begin */
static size_t said_len;
static int (*set_current)(void *context);
static unsigned long long context_a[1] = {11};     /* a context: its own number */

/* Builds and opens it by its path, so that the library's dlopen of "libcuda.so.1" finds it loaded. */
static inline int guest_setup(void **state)
{
    if (program_setup(state))
        return -1;
    char *command = mem_printf("${CC:-cc} -std=c11 -D_GNU_SOURCE -g -O1 -w -fPIC -shared -pthread "
                               "-Itest/unit/cli/driver -Wl,-soname,libcuda.so.1 "
                               "test/unit/cli/driver/library.c -o %s/libcuda.so.1",
                               program_dir);
    char *path = path_join(program_dir, "libcuda.so.1");
    int failed = system(command);
    void *handle = failed ? NULL : dlopen(path, RTLD_NOW);
    if (!handle)
        fprintf(stderr, "%s\n", failed ? "the fake driver does not compile" : dlerror());
    else {
        library = dlsym(handle, "fake_library");
        device = dlsym(handle, "fake_device");
        *(void **)&set_current = dlsym(handle, "cuCtxSetCurrent");
    }
    mem_free(command);
    mem_free(path);
    return handle ? 0 : -1;
}

static inline int guest_before(void **state)
{
    *library = (struct fake_library){.out = open_memstream(&said, &said_len)};
    set_current(context_a);
    return 0;
}

static inline int guest_after(void **state)
{
    fclose(library->out);
    free(said);
    set_current(NULL);
    return library->loads;
}

static inline void guest_device(const struct target *t)
{
    device->name = t->name;
    for (int i = 0; i < LIMIT_COUNT; i++)
        device->limit[i] = (long long)t->limit[i];
}

/* What was launched since the last call; mem_free it. */
static inline char *guest_said(void)
{
    fflush(library->out);
    char *text = mem_printf("%.*s", (int)said_len, said ? said : "");
    fclose(library->out);
    free(said);
    said = NULL;
    library->out = open_memstream(&said, &said_len);
    return text;
}

/* The configurations as a bundle in a file of that name; gives its path, to be freed. */
static inline char *guest_bundle(const struct export_variant *v, int n, const char *name)
{
    struct strbuf bytes = {0};
    struct err e = {0};
    char *path = path_join(program_dir, name);
    if (export_bundle(v, n, "test", &bytes, &e) || file_write_atomic(path, bytes.s, bytes.len, &e))
        fail_msg("%s", e.text);
    sb_free(&bytes);
    return path;
}

/* Ends the test unless the last call of the library succeeded. */
static inline void good(lathe_result r)
{
    if (r != LATHE_SUCCESS)
        fail_msg("%d: %s", (int)r, lathe_error());
}

/* It failed so, with a message that has that in it. */
static inline void bad(lathe_result got, lathe_result wanted, const char *part)
{
    if (got != wanted || !strstr(lathe_error(), part))
        fail_msg("wanted %d and '%s', got %d: %s", (int)wanted, part, (int)got, lathe_error());
}

#endif
