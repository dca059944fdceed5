/* dev_launch.c: a launch of a plan as devices take it. */
#include "device/dev.h"

#include <string.h>

void dev_launch_of(const struct plan *plan, const struct plan_step *step, const dev_ptr *address,
                   struct dev_launch *out)
{
    const struct plan_window *w = &step->window;
    *out = (struct dev_launch){.shared = step->shared, .programmatic = step->programmatic};
    memcpy(out->grid, step->grid, sizeof out->grid);
    memcpy(out->block, step->block, sizeof out->block);
    memcpy(out->cluster, step->cluster, sizeof out->cluster);
    if (!w->on)
        return;
    out->window = address[w->buffer];
    out->window_bytes = (uint64_t)plan_buffer_bytes(&plan->buffers[w->buffer]);
    out->hit = w->hit;
    out->miss = w->miss;
    out->ratio = (float)w->ratio;
}
