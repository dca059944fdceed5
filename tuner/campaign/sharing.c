/* sharing.c: other processes on the campaign's GPUs when it begins: said, and kept as its note, since nobody can tell
 * from the times alone what was theirs. */
#include "campaign/internal.h"
#include "device/others.h"

status sharing_say(struct campaign *c, struct err *e)
{
    status s = LATHE_OK;
    for (int i = 0; i < c->ndevices && !s; i++) {
        const struct pool_device *d = &c->devices[i];
        const int *pids;
        char who[600], note[700];
        int n = executor_others(d->executor, &pids);
        if (!n) continue;
        others_say(pids, n, d->name, who, sizeof who);
        snprintf(note, sizeof note, "%s: its times may suffer", who);
        campaign_note(c, "warning: %s", note);
        s = store_campaign_note(c->store, c->id, note, e);
    }
    return s;
}
