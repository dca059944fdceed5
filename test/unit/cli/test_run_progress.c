/* test_run_progress.c: the line that shows how far `lathe compare` is. */
#include "cli/compare/compare_args.h"

#include "base/clock.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What the line says after the lines that there were. */
static void shows(FILE *out, struct run_progress *p, const char *what, int done, int n, const char *wanted)
{
    char line[200] = "";
    long at = ftell(out);
    p->drawn -= 60;
    run_progress_show(p, what, done, n);
    fseek(out, at, SEEK_SET);
    assert_non_null(fgets(line, sizeof line, out));
    if (strncmp(line, wanted, strlen(wanted)) != 0)
        fail_msg("got %s, wanted %s", line, wanted);
    fseek(out, 0, SEEK_END);
}

static void time_left_is_of_what_is_shown(void **state)
{
    struct run_progress p;
    FILE *out = tmpfile();
    assert_non_null(out);
    run_progress_init(&p, out, false);
    p.started -= 100;           /* so long ago */
    shows(out, &p, "runs", 1, 3, "1/3 runs  1 min 40 s, about 3 min 20 s left");
    shows(out, &p, "runs", 2, 3, "2/3 runs  1 min 40 s, about 50 s left");
    /* what comes next has taken no time yet */
    shows(out, &p, "pairs tested", 0, 9, "0/9 pairs tested  0.0 s\n");
    p.started -= 3;
    shows(out, &p, "pairs tested", 1, 9, "1/9 pairs tested  3.0 s, about 24 s left");
    run_progress_end(&p);
    fclose(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(time_left_is_of_what_is_shown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
