/* fuzz_spec_json.c: any JSON text through problem_from_json: no crash, no leak, and what is accepted can be used: its
 * sizes, its plans, its generated code, and its own tree read back. A libFuzzer target; seeds: test/data/model. */
#include "use_problem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *tree = json_loadb((const char *)data, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    if (tree) use_tree(tree);
    json_decref(tree);
    return 0;
}
