/* fuzz_spec_lua.c: any text as a specification file: run in the sandbox, its table read as a problem, the problem used.
 * No crash, no leak, no run beyond its time. A libFuzzer target; seeds: the specifications of kernels/ and test/. */
#include "base/clock.h"
#include "search/spec/spec.h"
#include "use_problem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *tree = NULL;
    struct err e = {0};
    double start = clock_seconds();
    if (!spec_read_text((const char *)data, size, "fuzz.lua", 0.2, &tree, &e))
        use_tree(tree);
    else if (tree || e.code != LATHE_SPEC || !e.text[0])
        abort();
    json_decref(tree);
    if (clock_seconds() - start > 10) abort();      /* a shared machine, a sanitized program: far above the limit */
    return 0;
}
