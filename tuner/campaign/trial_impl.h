/* trial_impl.h: one trial on its way: trials.c takes it through its stages, trial_end.c ends it: stores, counts,
 * tells; stream.c has many of them at once. */
#ifndef LATHE_CAMPAIGN_TRIAL_IMPL_H
#define LATHE_CAMPAIGN_TRIAL_IMPL_H

#include "campaign/internal.h"

/* held: it waits until all others that were begun have ended */
enum trial_state { TRIAL_HELD, TRIAL_COMPILING, TRIAL_READY, TRIAL_RUNNING, TRIAL_ENDED };

struct trial {
    struct trial *next;
    struct campaign *c;
    enum trial_state state;
    int64_t id, number, slot;
    const struct entrant *entrant;
    config_choice *choice;
    struct value *slots;
    char *text;                 /* canonical */
    struct evaluation evaluation;
    struct result result;
    double begun, compile_seconds, strategy_seconds;
    double limit;               /* seconds that it may take on the device */
    double on_device, device_seconds;   /* since when it has the device; how long it had it, all attempts together */
    bool compile_cached, retried;
    bool suspect;               /* it was on the device when the campaign was cut off */
    struct pool_device *only;   /* NULL: it may run on any */
    struct pool_device *device; /* where it runs or ran, as the store knows; NULL: nowhere yet */
};

/* Begins it: a row in the store, and its compile job. *out NULL: it had ended before the campaign was resumed, and is
 * counted and told as it was. */
status trial_begin(struct campaign *c, const struct trial_item *item, struct trial **out, struct err *e);
/* One that is held goes on. */
void trial_set_out(struct trial *t);
/* One that is ready, on a device that is free. NOTE: the store knows which trial is on which device before it is: if the
 * machine goes down, it is a suspect. */
status trial_start(struct trial *t, struct pool_device *d, struct err *e);
void trial_end_as(struct trial *t, enum outcome outcome, const char *reason);
/* Stores how it ended, counts it, tells it. */
status trial_close(struct trial *t, struct err *e);
/* If the trial was recorded before the campaign was resumed, takes its row over. *over: it had ended, and is counted
 * and told as it was. One that was on the device twice when the campaign was cut off ends here, and is to be closed. */
status trial_recall(struct trial *t, bool *over, struct err *e);
void trial_free(struct trial *t);

#endif
