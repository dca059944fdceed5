/* test_problem_refused.c: each of many bad specifications gets its message. */
#include "spec_fixture.h"

#include "model/problem.h"
#include <stdio.h>

struct bad {
    const char *path, *value, *expected;
};

static void refused(const struct bad *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        json_t *tree = fixture_tree();
        struct problem *p = NULL;
        struct err e = {0};
        fixture_set(tree, cases[i].path, cases[i].value);
        status s = problem_from_json(tree, "spec.lua", NULL, &p, &e);
        if (s != LATHE_SPEC || e.code != LATHE_SPEC || p)
            fail_msg("%s = %s: status %s, expected SPEC", cases[i].path, cases[i].value, status_name(s));
        if (strncmp(e.text, "spec.lua: ", 10) != 0 || !strstr(e.text, cases[i].expected))
            fail_msg("%s = %s:\n  got    %s\n  wanted %s", cases[i].path, cases[i].value, e.text, cases[i].expected);
        json_decref(tree);
    }
}
#define REFUSED(cases) refused(cases, sizeof cases / sizeof cases[0])

static void bad_problems(void **state)
{
    static const struct bad cases[] = {
        {"tag", "\"launch\"", "spec.lua: expected problem { name = ..., dims = ..., ... }, got launch { ... }"},
        {"tag", NULL, "expected problem { name"},
        {"#", "[1]", "got 1 positional item"},
        {"kernel", "[]", "unknown key 'kernel' (did you mean 'kernels'?)"},
        {"colour", "1", "unknown key 'colour'; known are name, summary, dims"},
        {"name", NULL, "missing field 'name'"},
        {"dims", NULL, "missing field 'dims'"},
        {"tensors", NULL, "missing field 'tensors'"},
        {"reference", NULL, "missing field 'reference'"},
        {"tolerance", NULL, "missing field 'tolerance'"},
        {"kernels", NULL, "missing field 'kernels'"},
        {"name", "3", "name: expected a problem's name (a letter, then letters, digits and _), got the number 3"},
        {"name", "\"my problem\"", "got the text 'my problem'"},
        {"summary", "[]", "summary: expected a text, got a list of 0"},
        {"dims", "[]", "dims: expected at least one { \"M\", 128 }"},
        {"dims", "\"M\"", "dims: expected a list of { \"M\", 128 }, got the text 'M'"},
        {"dims", "{\"M\": 128}", "dims: expected a list of { \"M\", 128 }, got the named key 'M' (order matters here"},
        {"dims/0", "[\"M\"]", "dims[1]: expected { \"M\", 128 }, got 1 positional item"},
        {"dims/0", "[\"M\", 0]", "dims.M: expected an integer, 1 or more, got the number 0"},
        {"dims/0", "[\"M\", 1.5]", "dims.M: expected an integer, 1 or more, got the number 1.5"},
        {"dims/0", "[\"M\", \"128\"]", "dims.M: expected an integer, 1 or more, got the text '128'"},
        {"dims/1", "[\"M\", 3]", "dims[2]: 'M' cannot be a dimension's name: it is a dimension already"},
        {"dims/1", "[\"int64_t\", 3]",
         "'int64_t' cannot be a dimension's name: it is a name of C's library that generated"},
        {"dims/1", "[\"expf\", 3]", "'expf' cannot be a dimension's name: it is a name of C's library"},
        {"dims/1", "[\"cudaSuccess\", 3]", "reserved (a name may not begin as CUDA's do: cuda, cublas or CU_)"},
        {"dims/1", "[\"const_cast\", 3]", "it is a word of C++"},
        {"dims/1", "[\"1N\", 3]", "got the text '1N'"},
        {"dims/1", "[\"sm\", 3]", "'sm' cannot be a dimension's name: it is a limit of the device"},
        {"dims/1", "[\"max\", 3]", "'max' cannot be a dimension's name: it is a function of formulas"},
        {"dims/1", "[\"and\", 3]", "it is a word of formulas"},
        {"dims/1", "[\"int\", 3]", "it is a word of C++"},
        {"dims/1", "[\"typeof\", 3]", "it is a word of C, which exports are written in too"},
        {"dims/1", "[\"_Complex\", 3]", "may not begin with _ and a capital"},
        {"dims/1", "[\"EOF\", 3]", "'EOF' cannot be a dimension's name: it is a macro of C's library"},
        {"dims/1", "[\"linux\", 3]", "it is a macro of C's library"},
        {"dims/1", "[\"z\", 3]", "it is used by the code that lathe generates"},
        {"dims/1", "[\"LATHE_N\", 3]", "it is reserved"},
        {"dims/1", "[\"a_name_that_is_far_too_long_to_be_kept_anywhere_in_lathe\", 3]", "at most 47 are allowed"},
        {"scalars/0", "[\"M\", 2.0]", "scalars[1]: 'M' cannot be a scalar's name: it is a dimension already"},
        {"scalars/0", "[\"s\", \"2\"]", "scalars.s: expected a number that a float32 can hold, got the text '2'"},
        {"scalars/0", "[\"s\", 1e300]", "scalars.s: expected a number that a float32 can hold"},
        {"tensors", "[]", "tensors: expected at least one { \"X\""},
        {"tensors/0/#/0", "\"s\"", "tensors[1]: 's' cannot be a tensor's name: it is a scalar already"},
        {"tensors/0/#/1", "\"float\"",
         "tensors[1]: expected one of f32, f64, i32, u32, f16, bf16, u8, got the text 'float'"},
        {"tensors/0/#/2", "[]", "tensors[1].shape: expected at least one formula"},
        {"tensors/0/#/2", "[\"M\",1,1,1,1]", "tensors[1].shape: 5 entries, and at most 4 are allowed"},
        {"tensors/0/#/2", "\"M\"", "tensors[1].shape: expected a list of formulas"},
        {"tensors/0/#/2", "[\"M\", \"Q\"]", "tensors[1].shape[2]: "},
        {"tensors/0/#/2", "[\"M\", \"K/2\"]", "`K/2` is of type float (`/` gives a float: use `//` or ceil_div)"},
        {"tensors/2/#/2", "[\"K - 512\"]", "spec.lua: b: shape[1]: K - 512 is 0, expected 1 or more"},
        {"tensors/0/#/2", "[\"M\", \"K *\"]", "tensors[1].shape[2]: "},
        {"tensors/0/#/2", "[\"M\", {\"x\": 1}]", "shape[2]: expected a formula (a text, a number, true or false)"},
        {"tensors/0/filll", "1", "tensors[1]: unknown key 'filll' (did you mean 'fill'?)"},
        {"tensors/0/fill", "3",
         "tensors.X.fill: expected uniform(low, high) or normal(mean, deviation), got the number 3"},
        {"tensors/0/fill/#", "[1]", "tensors.X.fill: expected uniform(low, high)"},
        {"tensors/0/fill/#", "[1, 0]", "X: fill: uniform(1, 0): expected finite bounds, the lower first"},
        {"tensors/0/fill/#", "[\"1/0\", 1]", "X: fill: "},
        {"tensors/2/fill/#", "[0, -1]", "b: fill: normal(0, -1): expected a finite mean and a deviation of 0 or more"},
        {"tensors/0/fill/#", "[0, 1e39]",
         "X: fill: uniform(0, 1e+39): values up to 1e+39 do not fit f32, whose largest is 3.40"},
        {"tensors/2/fill/#", "[0, 1e38]", "b: fill: normal(0, 1e+38): values up to 7e+38 do not fit f32"},
        {"tensors/0/check", "3",
         "tensors.X.check: expected uniform(low, high) or normal(mean, deviation), got the num"},
        {"tensors/0/check", "{\"tag\": \"uniform\", \"#\": [1, 0]}", "X: check: uniform(1, 0): expected finite bounds"},
        {"tensors/0/check", "{\"tag\": \"normal\", \"#\": [0, \"-1.0*K\"]}", "X: check: normal(0, -"},
        {"tensors/0/check", "{\"tag\": \"normal\", \"#\": [0, \"Q\"]}", "tensors.X.check: "},
        {"tensors/3/check", "{\"tag\": \"uniform\", \"#\": [0, 1]}", "tensors.Y.check: an output has no check"},
        {"tensors/3/fill", "{\"tag\": \"uniform\", \"#\": [0, 1]}", "tensors.Y.fill: an output has no fill"},
        {"tensors/3/output", "1", "tensors.Y.output: expected true or false, got the number 1"},
        {"tensors/3/output", "false", "tensors: none of the tensors is an output"},
        {"tolerance", "{\"rtol\": 1}", "tolerance.atol: expected a number, 0 or more, got nothing"},
        {"tolerance/rtol", "-1", "tolerance.rtol: expected a number, 0 or more, got the number -1"},
        {"tolerance/epsilon", "1", "tolerance: unknown key 'epsilon'"},
        {"flops", "true", "flops: expected a number, but `true` is of type boolean"},
        {"flops", "\"BM\"", "flops: "},
        {"bytes", "\"-1.0\"", "bytes: -1.0 is -1, expected a finite number, 0 or more"},
        {"dims/0", "[\"M\", 4611686018427387904]", "more than 2^60 bytes"},
    };
    (void)state;
    REFUSED(cases);
}

static void bad_references(void **state)
{
    static const struct bad cases[] = {
        {"reference", "\"gemm\"", "reference: expected gemm { ... } or kernel { source = ..., steps = { ... } }"},
        {"reference/#", "[\"X\", \"W\"]", "reference: expected gemm { \"X\""},
        {"reference/#/0", "\"Z\"", "reference[1]: expected the name of a tensor, got 'Z'"},
        {"reference/#/0", "\"b\"", "reference[1]: b has 1 dimension, and a gemm works on matrices of 2"},
        {"reference/#/2", "\"W\"", "reference: a gemm cannot write W, which it reads"},
        {"reference/#/1", "\"X\"", "the shapes do not match: axis 2 of Y is N"}, /* replaced below by what is said */
        {"reference/trans_b", "false",
         "reference: the shapes do not match: axis 2 of X is K = 512, axis 1 of W is N = 1024"},
        {"reference/trans_a", "true", "(trans_a = true, trans_b = true: is one of them the other way?)"},
        {"reference/trans_a", "1", "reference.trans_a: expected true or false"},
        {"reference/compute", "\"tf32\"", "reference: unknown key 'compute'"},
        {"reference/bias", "\"B\"", "reference.bias: expected the name of a tensor, got 'B'"},
        {"reference/bias", "\"X\"", "reference.bias: X is not of one dimension"},
        {"reference/bias", "\"Y\"", "reference.bias: Y is an output"},
        {"tensors/2/#/2", "[\"K\"]", "reference: bias: b has 512 elements, expected 1024, one for each column of Y"},
        {"tensors/0/#/1", "\"i32\"", "expected matrices of floats, X and W of one type; they are i32, f32 and f32"},
        {"tensors/4", "{\"#\": [\"V\", \"f32\", [1]], \"output\": true}", "an epilogue needs exactly one output"},
        {"reference", "{\"source_text\": \"void f();\", \"steps\": []}",
         "reference.steps: expected at least one launch"},
        {"reference", "{\"params\": []}", "reference: unknown key 'params'"},
    };
    static const struct bad epilogues[] = {
        {"epilogue", "\"s * y\"", "epilogue: "},
        {"epilogue", "\"s * R[m, n]\"",
         "an epilogue may use z, the output's indices, dimensions, scalars and input tensors"},
        {"epilogue", "\"X[m]\"", "epilogue: "},
        {"epilogue", "\"z > 0\"", "epilogue: expected a number, but `z > 0` is of type boolean"},
        {"epilogue", "[]", "epilogue: expected a formula"},
        {"epilogue", "\"z + Y[m, n]\"", "epilogue: "},
        {"tensors/3/#/2", "[\"M\", \"N*1\"]", "`N*1` is not the plain name of a dimension"},
        {"tensors/3/#/2", "[\"M\", \"M\"]", "m, the index along M, is another index already"},
        {"scalars/1", "[\"n\", 1]",
         "epilogue: an epilogue needs exactly one output, whose shape is of distinct "
         "dimensions: n, the index along N, is a scalar already: rename the dimension"},
        {"tensors/0/#/1", "\"f16\"", "X and W of one type; they are f16, f32"},
    };
    struct bad own[sizeof cases / sizeof cases[0]];
    (void)state;
    memcpy(own, cases, sizeof cases);
    own[5].expected = "reference: the shapes do not match: axis 1 of X is M = 128, axis 2 of Y is N = 1024";
    REFUSED(own);
    REFUSED(epilogues);
}

/* Changes of two places: an epilogue that cannot index a tensor. */
static void bad_epilogue_tensors(void **state)
{
    (void)state;
    static const struct bad cases[] = {
        {"tensors/4", "[\"R\", \"f16\", [\"M\", \"2*N\"]]", "epilogue: R: `2*N` is not the plain name of a dimension"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *tree = fixture_tree();
        struct problem *p;
        struct err e;
        fixture_set(tree, "epilogue", "\"z + R[m, n]\"");
        fixture_set(tree, cases[i].path, cases[i].value);
        assert_int_equal(problem_from_json(tree, "spec.lua", NULL, &p, &e), LATHE_SPEC);
        assert_has(e.text, cases[i].expected);
        json_decref(tree);
    }
}

static void bad_kernels(void **state)
{
    static const struct bad cases[] = {
        {"kernels", "[]", "kernels: expected at least one { \"name\""},
        {"kernels", "{\"simt\": {}}", "kernels: expected a list of { \"name\", source"},
        {"kernels/0", "3", "kernels[1]: expected { \"name\", source = ..., steps = { ... }, ... }, got the number 3"},
        {"kernels/0/#/0", "\"a-b\"", "kernels[1]: expected a kernel's name"},
        {"kernels/0/sorce", "1", "kernels[1]: unknown key 'sorce' (did you mean 'source'?)"},
        {"kernels/0/checked", "false", "kernels[1]: unknown key 'checked'"},
        {"baselines/1/#/0", "\"simt\"", "baselines[2]: there is another kernel or baseline named 'simt'"},
        {"baselines/0/eligible", "true", "baselines[1]: unknown key 'eligible'"},
        {"baselines/0/params", "[[\"V\", [1, 2]]]", "baselines.cublas_tf32.params.V: a baseline is one configuration"},
        {"kernels/0/usual", "false", "kernels[1]: unknown key 'usual'"},
        {"kernels/0/computes", "[\"bf16\"]",
         "kernels.simt.computes[1]: expected { \"bf16\", products = ..., when = ... }, got the text 'bf16'"},
        {"kernels/0/computes", "[[3]]",
         "kernels.simt.computes[1][1]: expected a unit: 'f32', 'tf32', 'f16' or 'bf16', got the number 3"},
        {"kernels/0/computes", "[[\"fp16\"]]",
         "kernels.simt.computes[1][1]: expected a unit: 'f32', 'tf32', 'f16' or 'bf16', got 'fp16' (did you mean"},
        {"kernels/0/computes", "[{\"#\": [\"f16\"], \"products\": \"PADDED\"}]",
         "kernels.simt.computes[1].products: expected a number, but `PADDED` is of type boolean"},
        {"kernels/0/computes", "[{\"#\": [\"f16\"], \"when\": 1}]", "kernels.simt.computes[1].when: "},
        {"kernels/0/computes", "[{\"#\": [\"f16\"], \"product\": 3}]", "(did you mean 'products'?)"},
        {"kernels/0/eligible", "0", "kernels.simt.eligible: expected true or false"},
        {"kernels/0/source", "5", "kernels.simt.source: expected a text"},
        {"kernels/0/source_text", "5", "kernels.simt.source_text: expected a text"},
        {"kernels/0/requires", "\"sm >= 70\"", "kernels.simt.requires: expected a list of formulas"},
        {"kernels/0/requires", "[{\"#\": [\"sm > 3\", \"new\"], \"search\": true}]",
         "requires[1]: unknown key 'search'"},
        {"kernels/0/constraints", "[{\"#\": [\"BM > 3\", \"big\"], \"search\": 1}]",
         "constraints[1].search: expected true or false, got the number 1"},
        {"kernels/0/requires", "[\"M > 3\"]",
         "kernels.simt.requires[1]: `M > 3` uses M: `requires` may use the device's limits only"},
        {"kernels/0/requires", "[\"BM > 3\"]", "(`requires` may use the device's limits only)"},
        {"kernels/0/constraints/1", "\"smem <= max_shared_per_blok\"", "kernels.simt.constraints[2]: "},
        {"kernels/0/constraints/1", "\"smem <= max_shared_per_blok\"", "max_shared_per_block"},
        {"kernels/0/constraints/1", "\"smem + 1\"", "expected true or false, but `smem + 1` is of type integer"},
        {"kernels/0/constraints/0", "[\"BM > 1\"]",
         "kernels.simt.constraints[1]: expected { formula, \"reason\" }, got 1"},
        {"kernels/0/constraints/0", "[\"BM > 1\", 3]", "kernels.simt.constraints[1]: expected a reason, as text"},
        {"kernels/0/let/0", "[\"threads\"]", "kernels.simt.let[1]: expected { \"name\", formula }"},
        {"kernels/0/let/0", "[\"BM\", 1]",
         "kernels.simt.let[1]: 'BM' cannot be a let's name: it is a parameter already"},
        {"kernels/0/let/0", "[\"threads\", \"smem\"]", "kernels.simt.let.threads: "},
        {"kernels/0/workspace/0/#/0", "\"X\"", "'X' cannot be a workspace buffer's name: it is a tensor already"},
        {"kernels/0/workspace/1/#/0", "\"partial\"", "it is a workspace buffer already"},
        {"kernels/0/workspace/1/zero", "\"always\"",
         "kernels.simt.workspace.tickets.zero: expected 'never', 'once' or 'each'"},
        {"kernels/0/workspace/1/when", "\"SPLIT_K\"", "kernels.simt.workspace.tickets.when: expected true or false"},
        {"kernels/0/workspace/1/fill", "1", "kernels.simt.workspace[2]: unknown key 'fill'"},
        {"kernels/0/workspace/0/#/2/0", "\"SPLIT\"", "kernels.simt.workspace[1].shape[1]: "},
    };
    (void)state;
    REFUSED(cases);
}

static void bad_params(void **state)
{
    static const struct bad cases[] = {
        {"kernels/0/params", "{\"BM\": [1]}", "kernels.simt.params: expected a list of { \"BM\", { 32, 64 }"},
        {"kernels/0/params/0/#/1", "[]", "kernels.simt.params.BM: expected at least one value"},
        {"kernels/0/params/0/#/1", "32", "kernels.simt.params.BM: expected a list of value, got the number 32"},
        {"kernels/0/params/0/#/1", "[32, \"x\"]",
         "kernels.simt.params.BM[2]: the values are of different types: this "
         "one is string, the first is integer"},
        {"kernels/0/params/0/#/1", "[32, 0.5]", "this one is float, the first is integer (write a float as 1.0)"},
        {"kernels/0/params/0/#/1", "[32, 64, 32]", "kernels.simt.params.BM[3]: the value is there already, at [1]"},
        {"kernels/0/params/0/#/1", "[[32]]", "kernels.simt.params.BM[1]: expected an integer, a float, a text"},
        {"kernels/0/params/2/#/1", "[\"a b\"]", "params.REDUCE[1]: 'a b' cannot be a value"},
        {"kernels/0/params/2/#/1", "[\"\"]", "params.REDUCE[1]: '' cannot be a value"},
        {"kernels/0/params/2/#/1", "[\"32\"]", "params.REDUCE[1]: '32' reads as integer: write it without quotes"},
        {"kernels/0/params/2/#/1", "[\"second_kernel\", \"true\"]", "'true' reads as boolean"},
        {"kernels/0/params/2/#/1", "[\"second_kernel\", \"a-b\", \"a.b\"]",
         "kernels.simt: the macro LATHE_REDUCE_a_b would be defined twice"},
        {"kernels/0/params/3/0", "\"HOST\"", "kernels.simt: the macro LATHE_HOST would be defined twice"},
        {"kernels/0/params/3/0", "\"LET_smem\"", "kernels.simt: the macro LATHE_LET_smem would be defined twice"},
        {"kernels/0/params/3/0", "\"DTYPE_X\"", "kernels.simt: the macro LATHE_DTYPE_X would be defined twice"},
        {"kernels/0/params/3/0", "\"DTYPE_bf16\"", "kernels.simt: the macro LATHE_DTYPE_bf16 would be defined twice"},
        {"tensors/4", "[\"f16\", \"f32\", [1]]",
         "kernels.simt: the macro LATHE_DTYPE_f16 would be defined twice: rename a "
         "tensor, a parameter, a let or a value"},
        {"kernels/0/params/1/0", "\"BM\"",
         "kernels.simt.params[2]: 'BM' cannot be a parameter's name: it is a parameter"},
        {"kernels/0/params/1/0", "\"K\"", "it is a dimension already"},
        {"kernels/0/params/1/0", "\"Y\"", "it is a tensor already"},
        {"kernels/0/params/1/0", "\"warp_size\"", "it is a limit of the device"},
        {"kernels/0/params/1/0", "\"epilogue\"", "it is a word of formulas"},
        {"kernels/0/params/2/when", "\"PADDED\"", "kernels.simt.params.REDUCE.when: "},
        {"kernels/0/params/2/when", "\"PADDED\"", "may use dimensions, limits and the parameters before it"},
        {"kernels/0/params/2/when", "\"s > 1\"", "`s > 1` uses s: a parameter's `when` may use dimensions, limits"},
        {"kernels/0/params/2/when", "\"SPLIT_K\"", "expected true or false, but `SPLIT_K` is of type integer"},
        {"kernels/0/params/2/help", "3", "kernels.simt.params.REDUCE.help: expected a text"},
        {"kernels/0/params/0/wen", "3", "kernels.simt.params[1]: unknown key 'wen' (did you mean 'when'?)"},
    };
    (void)state;
    REFUSED(cases);
}

static void bad_steps(void **state)
{
    static const struct bad cases[] = {
        {"kernels/0/steps", NULL, "kernels.simt.steps: expected at least one launch { ... } or gemm { ... }"},
        {"kernels/0/steps", "[]", "kernels.simt.steps: expected at least one"},
        {"kernels/0/steps/0", "[\"f\"]",
         "kernels.simt.steps[1]: expected launch { ... } or gemm { ... }, got a list of 1"},
        {"kernels/0/steps/0/tag", "\"lunch\"", "expected launch { ... } or gemm { ... }, got lunch { ... }"},
        {"kernels/0/steps/0/#", "[]", "kernels.simt.steps[1]: expected launch { \"function\""},
        {"kernels/0/steps/0/#/0", "\"linear\"", "kernels.simt.steps[1][1]: simt.cu has no function 'linear'"},
        {"kernels/0/steps/0/#/0", "\"a b\"", "expected a __global__ function's name"},
        {"kernels/0/source_text", "\"nothing\"", "simt.cu has no function 'linear_simt'"},
        {"kernels/0/steps/0/grid", NULL,
         "kernels.simt.steps[1].grid: missing: expected one formula, or a list of up to 3"},
        {"kernels/0/steps/0/block", NULL, "kernels.simt.steps[1].block: missing"},
        {"kernels/0/steps/0/grid", "[]", "kernels.simt.steps[1].grid: expected at least one formula"},
        {"kernels/0/steps/0/grid", "[1,1,1,1]", "kernels.simt.steps[1].grid: 4 entries, and at most 3"},
        {"kernels/0/steps/0/grid/1", "\"half\"",
         "kernels.simt.steps[1].grid[2]: expected an integer, but `half` is of type "
         "float"},
        {"kernels/0/steps/0/block", "2.5",
         "kernels.simt.steps[1].block: expected an integer, but `2.5` is of type float"},
        {"kernels/0/steps/0/cluster", "\"'a'\"", "kernels.simt.steps[1].cluster: expected an integer"},
        {"kernels/0/steps/0/shard", "1", "kernels.simt.steps[1]: unknown key 'shard' (did you mean 'shared'?)"},
        {"kernels/0/steps/0/when", "1",
         "kernels.simt.steps[1].when: expected true or false, but `1` is of type integer"},
        {"kernels/0/steps/0/args", "\"X\"", "kernels.simt.steps[1].args: expected a list of arguments"},
        {"kernels/0/steps/0/args/0", "\"XX\"",
         "(an argument is a tensor, a workspace buffer, epilogue, tensor_map, or "
         "a formula)"},
        {"kernels/0/steps/0/args/0", "\"PADDED\"", "args[1]: expected a number, but `PADDED` is of type boolean"},
        {"kernels/0/steps/0/args/0", "{\"tag\": \"i16\", \"#\": [1]}",
         "expected a name, a formula, i32, i64, f32 or f64 "
         "of one, or tensor_map, got i16 { ... }"},
        {"kernels/0/steps/0/args/0", "{\"tag\": \"i32\", \"#\": [\"s\"]}",
         "args[1]: expected an integer, but `s` is of type "
         "float"},
        {"kernels/0/steps/0/args/0", "{\"tag\": \"i32\", \"#\": []}",
         "args[1]: expected one formula, got 0 positional"},
        {"kernels/0/steps/0/args",
         "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,"
         "31,32,33]",
         "kernels.simt.steps[1].args: 33 entries, and at most 32 are allowed"},
        {"baselines/0/steps/1/args/1", "\"Z\"", "baselines.cublas_tf32: no step has the output Y among its arguments"},
        {"baselines/1/checked", NULL, "baselines.cublas_alone: no step has the output Y among its arguments"},
        {"baselines/0/source_text", NULL, "baselines.cublas_tf32.source: epilogue.cu: cannot open"},
        {"baselines/0/steps/0/compute", "\"f64\"",
         "steps[1].compute: expected 'f32', 'tf32', 'bf16' or 'f16', got the "
         "text 'f64'"},
        {"baselines/0/steps/0/bias", "\"b\"", "baselines.cublas_tf32.steps[1]: unknown key 'bias'"},
        {"baselines/0/steps/0/trans_b", "false",
         "baselines.cublas_tf32.steps[1]: the shapes do not match: axis 2 of X is K"},
        {"baselines/0/steps/0/#/2", "\"ZZ\"",
         "steps[1][3]: expected the name of a tensor or workspace buffer, got 'ZZ' (did "
         "you mean 'Z'?)"},
        {"baselines/0/workspace/0/1", "\"f64\"",
         "a gemm step works on matrices of one type, f32, f64, f16 or bf16, and may "
         "write f32 where it reads f16 or bf16; X, W and Z are f32, f32 and f64"},
        {"baselines/0/workspace/0/1", "\"bf16\"", "X, W and Z are f32, f32 and bf16"},
    };
    (void)state;
    REFUSED(cases);
}

/* The entry with its %d replaced by n. */
static void entry_text(char *out, size_t size, const char *entry, int n)
{
    const char *at = strstr(entry, "%d");
    snprintf(out, size, "%.*s%d%s", (int)(at - entry), entry, n, at + 2);
}

/* Counts are bounded: one more entry than allowed, each of them fine by itself. */
static void bounds(void **state)
{
    static const struct {
        const char *path, *entry;
        int count;
        const char *expected;
    } cases[] = {
        {"dims", "[\"D%d\", 1]", 17, "spec.lua: dims: 17 entries, and at most 16 are allowed"},
        {"scalars", "[\"c%d\", 1]", 33, "scalars: 33 entries, and at most 32"},
        {"tensors", "[\"T%d\", \"f32\", [1]]", 33, "tensors: 33 entries, and at most 32"},
        {"kernels/0/params", "[\"P%d\", [1]]", 65, "kernels.simt.params: 65 entries, and at most 64"},
        {"kernels/0/params/0/#/1", "%d", 4097, "kernels.simt.params.BM: 4097 entries, and at most 4096"},
        {"kernels/0/let", "[\"l%d\", 1]", 129, "kernels.simt.let: 129 entries, and at most 128"},
        {"kernels/0/constraints", "\"BM != %d\"", 257, "kernels.simt.constraints: 257 entries, and at most 256"},
        {"kernels/0/workspace", "[\"w%d\", \"f32\", [1]]", 33, "kernels.simt.workspace: 33 entries, and at most 32"},
        {"kernels/0/steps", "%d", 65, "kernels.simt.steps: 65 entries, and at most 64"},
        {"baselines", "[\"b%d\"]", 64, "baselines: 64 entries, and at most 63"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct strbuf list = {0};
        for (int n = 0; n < cases[i].count; n++) {
            char entry[80];
            entry_text(entry, sizeof entry, cases[i].entry, n);
            sb_addf(&list, "%s%s", n ? "," : "[", entry);
        }
        sb_add(&list, "]");
        const struct bad one = {cases[i].path, sb_str(&list), cases[i].expected};
        refused(&one, 1);
        sb_free(&list);
    }
}

static void most_values(void **state)
{
    (void)state;
    struct strbuf list = {0};
    for (int n = 0; n < 4096; n++)
        sb_addf(&list, "%s%d", n ? "," : "[", n);
    sb_add(&list, "]");
    struct problem *p = fixture_changed("kernels/0/params/0/#/1", sb_str(&list));
    assert_int_equal(p->kernels[0].params[0].nvalues, 4096);
    problem_free(p);
    sb_free(&list);
}

/* A launch of a kernel without any source, and a GEMM that would write an input. */
static void bad_combinations(void **state)
{
    (void)state;
    json_t *tree = fixture_tree();
    struct problem *p;
    struct err e;
    fixture_set(tree, "kernels/0/source_text", NULL);
    fixture_set(tree, "kernels/0/source", NULL);
    assert_int_equal(problem_from_json(tree, "spec.lua", NULL, &p, &e), LATHE_SPEC);
    assert_has(e.text, "kernels.simt.steps[1][1]: a launch needs a source: add source = \"FILE.cu\" to the kernel");
    json_decref(tree);
    tree = fixture_tree();
    fixture_set(tree, "tensors/4", "[\"V\", \"f32\", [\"M\", \"N\"]]");
    fixture_set(tree, "baselines/1/steps/0/#/2", "\"V\"");
    assert_int_equal(problem_from_json(tree, "spec.lua", NULL, &p, &e), LATHE_SPEC);
    assert_has(e.text, "baselines.cublas_alone.steps[1]: a gemm cannot write V, which is an input");
    json_decref(tree);
    assert_int_equal(problem_from_json(NULL, "spec.lua", NULL, &p, NULL), LATHE_SPEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_problems),
        cmocka_unit_test(bad_references),
        cmocka_unit_test(bad_epilogue_tensors),
        cmocka_unit_test(bad_kernels),
        cmocka_unit_test(bad_params),
        cmocka_unit_test(bad_steps),
        cmocka_unit_test(bounds),
        cmocka_unit_test(most_values),
        cmocka_unit_test(bad_combinations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
