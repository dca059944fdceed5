/* lib_launch.c: a selected kernel launched. All that could be refused is, before anything is queued. */
#include "lib/lib_impl.h"

#include "base/mem.h"

enum { ALIGNMENT = 256 };           /* what kernels were verified at, and cuMemAlloc gives */

static lathe_result check_arguments(const lathe_kernel *k, const uint64_t *tensors, int ntensors, uint64_t workspace,
                                    size_t workspace_bytes)
{
    const struct plan *plan = &k->plan;
    if (!tensors || ntensors != plan->ntensors)
        return lib_fail(LATHE_ERROR_ARGUMENT, "lathe_launch: %s has %d tensors, and %d were given", k->lathe->name,
                        plan->ntensors, tensors ? ntensors : 0);
    for (int i = 0; i < ntensors; i++)
        if (!tensors[i] || tensors[i] % ALIGNMENT)
            return lib_fail(LATHE_ERROR_ARGUMENT, "lathe_launch: %s is at %#llx, and a tensor lies at a multiple of %d",
                            plan->buffers[i].name, (unsigned long long)tensors[i], ALIGNMENT);
    if (workspace_bytes < k->workspace || (k->workspace && (!workspace || workspace % ALIGNMENT)))
        return lib_fail(LATHE_ERROR_ARGUMENT,
                        "lathe_launch: %zu bytes of workspace at %#llx, and %llu at a multiple of %d are "
                        "needed (lathe_workspace)",
                        workspace_bytes, (unsigned long long)workspace, (unsigned long long)k->workspace, ALIGNMENT);
    return LATHE_SUCCESS;
}

static lathe_result check_context(const lathe_kernel *k)
{
    struct err e = {0};
    struct guest_context current = {0};
    status s = guest_current(&current, &e);
    if (s)
        return lib_fail(s == LATHE_NOTHING ? LATHE_ERROR_CONTEXT : LATHE_ERROR_CUDA, "%s", e.text);
    if (current.handle != k->context->guest.handle || current.id != k->context->guest.id)
        return lib_fail(LATHE_ERROR_CONTEXT,
                        "lathe_launch: the calling thread's context is not the one that the kernel was "
                        "selected in");
    return LATHE_SUCCESS;
}

static status make_maps(const struct plan *plan, const struct plan_step *step, const uint64_t *address,
                        const struct plan_args *args, struct err *e)
{
    status s = LATHE_OK;
    for (int i = 0; i < step->nargs && !s; i++) {
        const struct plan_arg *a = &step->args[i];
        if (a->kind == PLAN_TENSOR_MAP && a->map.rank)
            s = guest_tensor_map(&a->map, plan->buffers[a->buffer].dtype, address[a->buffer], args->args[i], e);
    }
    return s;
}

static status zero_workspace(const struct plan *plan, const uint64_t *address, void *stream, struct err *e)
{
    status s = LATHE_OK;
    for (int i = plan->ntensors; i < plan->nbuffers && !s; i++)
        if (plan->buffers[i].zero != ZERO_NEVER && plan->buffers[i].count)
            s = guest_zero(address[i], (uint64_t)plan_buffer_bytes(&plan->buffers[i]), stream, e);
    return s;
}

/* Tensor maps first, since the driver may refuse one. */
static status run(const lathe_kernel *k, const uint64_t *address, void *stream, struct err *e)
{
    const struct plan *plan = &k->plan;
    struct plan_args *args = mem_zalloc((size_t)plan->nsteps + 1, sizeof *args);
    status s = LATHE_OK;
    for (int i = 0; i < plan->nsteps && !s; i++) {
        plan_args_make(&plan->steps[i], address, &args[i]);
        s = make_maps(plan, &plan->steps[i], address, &args[i], e);
    }
    if (!s)
        s = zero_workspace(plan, address, stream, e);
    for (int i = 0; i < plan->nsteps && !s; i++) {
        struct dev_launch how;
        dev_launch_of(plan, &plan->steps[i], address, &how);
        s = guest_launch(&k->context->guest, &k->functions[i], &how, args[i].args, stream, e);
        if (s)
            err_prefix(e, "%s", plan->steps[i].function);
    }
    for (int i = 0; i < plan->nsteps; i++)
        plan_args_free(&args[i]);
    mem_free(args);
    return s;
}

lathe_result lathe_launch(const lathe_kernel *k, const uint64_t *tensors, int ntensors, uint64_t workspace,
                          size_t workspace_bytes, void *stream)
{
    struct err e = {0};
    if (!k)
        return lib_fail(LATHE_ERROR_ARGUMENT, "lathe_launch: the kernel is NULL");
    lathe_result r = check_arguments(k, tensors, ntensors, workspace, workspace_bytes);
    if (!r)
        r = check_context(k);
    if (r)
        return r;
    const struct plan *plan = &k->plan;
    uint64_t *address = mem_zalloc((size_t)plan->nbuffers + 1, sizeof *address);
    for (int i = 0; i < plan->nbuffers; i++)
        address[i] = i < ntensors ? tensors[i] : plan->buffers[i].count ? workspace + k->start[i - ntensors] : 0;
    status s = run(k, address, stream, &e);
    mem_free(address);
    return s ? lib_fail(LATHE_ERROR_CUDA, "lathe_launch: %s", e.text) : LATHE_SUCCESS;
}
