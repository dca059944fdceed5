/* cuda_graph.c: what was queued, as one CUDA graph: a stream capture, instantiated once and launched again and again.
 * See the driver API's "Stream Management" (cuStreamBeginCapture) and "Graph Management".
 *
 * While a stream captures nothing runs. A call that may not be captured makes the capture invalid; the stream is usable
 * again after cuda_graph_end. */
#include "base/mem.h"
#include "device/cuda/cuda_dev.h"

struct dev_graph {
    CUgraphExec exec;
};

status cuda_graph_begin(struct dev *d, struct err *e)
{
    return cuda_check(d, d->cu.cuStreamBeginCapture(d->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), e,
                      "beginning a graph on cuda:%d", d->number);
}

status cuda_graph_end(struct dev *d, struct dev_graph **out, struct err *e)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    *out = NULL;
    status s = cuda_check(d, d->cu.cuStreamEndCapture(d->stream, &graph), e, "ending a graph on cuda:%d", d->number);
    if (!s && graph)
        s = cuda_check(d, d->cu.cuGraphInstantiate(&exec, graph, 0), e, "making a graph on cuda:%d", d->number);
    if (graph)
        d->cu.cuGraphDestroy(graph);
    if (s || !exec)
        return s;
    *out = mem_zalloc(1, sizeof **out);
    (*out)->exec = exec;
    return LATHE_OK;
}

status cuda_graph_launch(struct dev *d, struct dev_graph *g, struct err *e)
{
    return cuda_check(d, d->cu.cuGraphLaunch(g->exec, d->stream), e, "launching a graph on cuda:%d", d->number);
}

void cuda_graph_free(struct dev *d, struct dev_graph *g)
{
    d->cu.cuGraphExecDestroy(g->exec);
    mem_free(g);
}
