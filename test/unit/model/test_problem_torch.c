/* test_problem_torch.c: a specification's `torch`: what is read, and what is refused. */
#include "spec_fixture.h"

#include "model/problem.h"

static const char GOOD[] = "{\"init\": [[\"in_features\", \"K\"], [\"out_features\", \"N\"], "
                           "{\"#\": [\"scaling_factor\", \"s\"], \"default\": 2}, "
                           "{\"#\": [\"bias\"], \"bias\": \"b\", \"default\": true}], "
                           "\"forward\": [[\"x\", \"X\"]], "
                           "\"parameters\": [{\"#\": [\"matmul\"], \"linear\": \"W\", \"bias\": \"b\"}]}";

static void fields(void **state)
{
    (void)state;
    struct problem *p = fixture_changed("torch", GOOD);
    const struct torch_model *m = p->torch;
    assert_non_null(m);
    assert_int_equal(m->ninit, 4);
    assert_string_equal(m->init[0].name, "in_features");
    assert_true(m->init[0].kind == TORCH_DIM && m->init[0].index == 2 && !m->init[0].has_initial);
    assert_true(m->init[2].kind == TORCH_SCALAR && m->init[2].index == 0 && m->init[2].has_initial);
    assert_true(m->init[2].initial == 2.0);
    assert_true(m->init[3].kind == TORCH_BIAS && m->init[3].index == 2 && m->init[3].initial == 1);
    assert_true(m->nforward == 1 && m->forward[0].tensor == 0);
    assert_true(m->nparameters == 1 && m->parameters[0].linear);
    assert_true(m->parameters[0].weight == 1 && m->parameters[0].bias == 2);
    problem_free(p);
    p = fixture_changed(NULL, NULL);
    assert_null(p->torch);
    problem_free(p);
}

static void generic(void **state)
{
    (void)state;
    struct problem *p = fixture_changed("dims/3", "[\"Q\", 7]");
    struct torch_model *m = torch_model_generic(p);
    int tensor = -1, axis = -1;
    assert_int_equal(m->ninit, 2);
    assert_true(m->init[0].kind == TORCH_DIM && m->init[0].index == 3 && m->init[0].initial == 7);
    assert_true(m->init[1].kind == TORCH_SCALAR && m->init[1].has_initial && m->init[1].initial == 2.0);
    assert_int_equal(m->nforward, 3);
    assert_string_equal(m->forward[2].name, "b");
    assert_int_equal(m->nparameters, 0);
    assert_true(torch_model_axis(p, m, 1, &tensor, &axis) && tensor == 1 && axis == 0);
    assert_false(torch_model_axis(p, m, 3, &tensor, &axis));
    torch_model_free(m);
    problem_free(p);
}

/* A parameter of its own, whose shape or value is an argument. */
static void own_parameters(void **state)
{
    (void)state;
    json_t *tree = fixture_tree();
    fixture_set(tree, "torch", GOOD);
    fixture_set(tree, "torch/init/3", "{\"#\": [\"bias_shape\"], \"shape\": \"b\"}");
    fixture_set(tree, "torch/init/2", "[\"scaling_factor\", \"s\"]");
    fixture_set(tree, "torch/parameters", "[{\"#\": [\"matmul\"], \"linear\": \"W\"}, [\"bias\", \"b\"]]");
    struct problem *p = fixture_problem(tree);
    assert_int_equal(p->torch->init[3].kind, TORCH_SHAPE);
    assert_true(!p->torch->parameters[1].linear && p->torch->parameters[1].weight == 2);
    assert_int_equal(p->torch->parameters[0].bias, -1);
    problem_free(p);
}

static void refusals(void **state)
{
    static const struct {
        const char *path, *value, *expected;
    } cases[] = {
        {"torch", "[1]",
         "torch: expected { init = ..., forward = ..., parameters = ..., formula = ... }, got 1 positional item"},
        {"torch/forwards", "[]", "torch: unknown key 'forwards' (did you mean 'forward'?)"},
        {"torch/init/0", "[\"in_features\", \"Q\"]",
         "torch.init[1]: expected the name of a dimension or a scalar, got the text 'Q'"},
        {"torch/init/0", "[\"in_features\"]", "torch.init[1]: expected what 'in_features' is, once"},
        {"torch/init/0", "{\"#\": [\"bias\", \"K\"], \"shape\": \"b\"}",
         "torch.init[1]: expected what 'bias' is, once"},
        {"torch/init/0", "[\"lambda\", \"K\"]", "torch.init[1]: 'lambda' cannot be an argument's name"},
        {"torch/init/0", "[\"requires_grad_\", \"K\"]",
         "torch.init[1]: 'requires_grad_' cannot be an argument's name"},
        {"torch/init/1", "[\"in_features\", \"N\"]", "torch.init[2]: there is another 'in_features'"},
        {"torch/init/1", "[\"out_features\", \"K\"]", "torch.init[2]: 'out_features' is the same as 'in_features'"},
        {"torch/init/0", "{\"#\": [\"in_features\", \"K\"], \"default\": 4}",
         "torch.init[2]: 'out_features' has no default"},
        {"torch/init/2", "{\"#\": [\"s\", \"s\"], \"default\": true}",
         "torch.init[3].default: expected a number that a float32"},
        {"torch/init/3/default", "1", "torch.init[4].default: expected true or false, got the number 1"},
        {"torch/init/3/bias", "\"W\"", "torch: init: 'bias' is of W, which is not the bias of one with linear ="},
        {"torch/init/3", "{\"#\": [\"shape\"], \"shape\": \"Y\"}",
         "torch.init[4].shape: Y is an output, expected an input"},
        {"torch/init/1", "{\"#\": [\"value\"], \"value\": \"b\"}",
         "torch: init: 'value' is of b, which is not a parameter of its own"},
        {"torch/init", "[[\"in_features\", \"K\"]]", "torch: W needs N, which is no argument of init"},
        {"torch/forward", "[]", "torch.forward: expected at least one { \"x\", \"X\" }"},
        {"torch/forward", "[[\"x\", \"Y\"]]", "torch.forward[1]: Y is an output, expected an input"},
        {"torch/forward/1", "[\"x\", \"W\"]", "torch.forward[2]: there is another 'x'"},
        {"torch/forward/1", "[\"w\", \"W\"]", "torch: the input W is named twice"},
        {"torch/parameters/0/bias", NULL, "torch: the input b is not named"},
        {"torch/parameters/0/linear", "\"b\"", "torch.parameters[1]: b is not a matrix, as an nn.Linear's weight is"},
        {"torch/parameters/0/bias", "\"X\"", "torch.parameters[1]: X is not a vector of W's rows"},
        {"torch/parameters/0/linear", NULL, "torch.parameters[1]: expected { \"matmul\", linear"},
        {"torch/parameters/0/#/0", "\"forward\"", "torch.parameters[1]: 'forward' cannot be a parameter's name"},
        {"torch/parameters/0/#/0", "\"scaling_factor\"", "torch: parameters[1]: there is another 'scaling_factor'"},
        {"torch/formula", "\"torch.mm(X, W)\"", "torch.formula: the reference is a gemm, which says it already"},
        {"torch/formula", "7", "torch.formula: expected a text: a Python expression of the inputs"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *tree = fixture_tree();
        struct problem *p = NULL;
        struct err e = {0};
        fixture_set(tree, "torch", GOOD);
        fixture_set(tree, cases[i].path, cases[i].value);
        if (problem_from_json(tree, "spec.lua", NULL, &p, &e) != LATHE_SPEC)
            fail_msg("%s = %s is not refused", cases[i].path, cases[i].value);
        assert_has(e.text, cases[i].expected);
        json_decref(tree);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fields), cmocka_unit_test(own_parameters),
                                       cmocka_unit_test(generic),
                                       cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
