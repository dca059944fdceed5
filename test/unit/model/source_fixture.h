/* source_fixture.h: a folder of a test's own, and files in it. */
#ifndef LATHE_TEST_SOURCE_FIXTURE_H
#define LATHE_TEST_SOURCE_FIXTURE_H

#include "spec_fixture.h"

#include <stdio.h>
#include <unistd.h>

static char dir[64];

static int make_dir(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/lathe-source-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

static char *put(const char *name, const char *text)
{
    struct err e = {0};
    char *path = path_join(dir, name), *parent = path_dirname(path);
    if (dir_make(parent, &e) || file_write_atomic(path, text, strlen(text), &e))
        fail_msg("%s", e.text);
    mem_free(parent);
    return path;
}

#endif
