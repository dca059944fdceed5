/* final_impl.h: what the files of the final share: its entries, and one entry evaluated on every device. */
#ifndef LATHE_CAMPAIGN_FINAL_IMPL_H
#define LATHE_CAMPAIGN_FINAL_IMPL_H

#include "campaign/internal.h"

/* What one device measured of an entry. */
struct figures {
    struct leader *leader;      /* whose trial they go to; NULL: the device does not measure it */
    struct samples pooled[REGIME_COUNT];
    struct telemetry telemetry[REGIME_COUNT];
};

struct entry {
    struct leader *leader;      /* a baseline's: that of the first device that has it */
    struct evaluation evaluation;
    struct delayed delayed;
    struct figures *on;         /* one a device of the pool */
};

/* What a device answered. */
struct answer_of {
    bool wanted, there;         /* the device measures it; r is there, and to be freed */
    int tries;
    struct pool_device *device;
    struct result r;
};

/* Limits that a burst may take, which is up to 51 launches, taken again with those: a trial verifies by 5, which are
 * within one. */
enum { LAUNCHES_PER_LIMIT = 11 };

/* final_entry.c */
/* The budget of seconds is the search's: only the user ends a final early. */
bool final_interrupted(struct campaign *c);
status final_entry_open(struct campaign *c, struct entry *x, struct err *e);
void final_entry_close(const struct campaign *c, struct entry *x);
/* The answers are one a device, and to be given to final_answers_free. A device that is lost is taken out. */
status final_evaluate(struct campaign *c, struct entry *x, double seconds, struct answer_of *answers, struct err *e);
void final_answers_free(const struct campaign *c, struct answer_of *answers);
/* Takes a leader out of the final; the store is told why, so that it stands in no list of the best. Of a baseline, the
 * campaign's note tells why it has no times of the final. */
status final_refuse(struct campaign *c, struct entry *x, struct result *r, struct err *e);

/* final_sort.c: the leaders among the entries, best first. */
void final_sort(struct entry *list, int n, enum objective o);

/* final_verify.c: opens and verifies leaders, best first, on the inputs that the devices have now, and with delays too
 * where they are wanted, until request->top of them are right or all n were tried: the first *tried were, before the
 * call and after it, and of these the ones that are not right are refused. */
status final_verify(struct campaign *c, struct entry *list, int n, int *tried, struct err *e);

#endif
