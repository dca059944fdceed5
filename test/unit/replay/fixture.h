/* fixture.h: recordings made of a few lines, for the tests of their readers. */
#ifndef LATHE_TEST_REPLAY_FIXTURE_H
#define LATHE_TEST_REPLAY_FIXTURE_H

#include "base/mem.h"
#include "replay/recording.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static inline struct recording *opened(const char *path)
{
    struct recording *r = NULL;
    struct err e = {0};
    if (recording_open(path, NULL, &r, &e))
        fail_msg("%s (run the tests from the repository's root)", e.text);
    return r;
}

static inline struct recording *from_text(const char *text)
{
    struct recording *r = NULL;
    struct err e = {0};
    if (recording_read_text(text, strlen(text), "r.json", &r, &e))
        fail_msg("%s", e.text);
    return r;
}

/* The text is refused with this status, and the message has the fragment. */
static inline void refused(const char *text, status wanted, const char *fragment)
{
    struct recording *r = NULL;
    struct err e = {0};
    status s = recording_read_text(text, strlen(text), "r.json", &r, &e);
    if (!s) {
        recording_free(r);
        fail_msg("accepted, and not refused with \"%s\": %.300s", fragment, text);
    }
    if (!strstr(e.text, fragment))
        fail_msg("\"%s\" does not contain \"%s\"", e.text, fragment);
    if (strncmp(e.text, "r.json", 6) != 0)
        fail_msg("\"%s\" does not name the file", e.text);
    assert_int_equal(s, wanted);
    assert_int_equal(e.code, wanted);
    assert_null(r);
}

#endif
