/* selftest.h: a campaign over kernels that are meant to end in a known way, one an outcome: does this device, with its
 * driver, compiler and limits, tell them apart? Outcomes that no kernel can be made to have are not among them:
 * `constraint`, `missing` and `skipped` never reach a device. `unstable` is on a GPU alone. Nothing of it is kept. */
#ifndef LATHE_CAMPAIGN_SELFTEST_H
#define LATHE_CAMPAIGN_SELFTEST_H

#include "base/err.h"
#include "model/result.h"

struct selftest {
    const char *device;             /* as struct campaign_request's; NULL: dev_default() */
    double time_limit;              /* seconds after which what never ends is killed */
    const char *self, *version;
    /* One trial: how it was meant to end, and did. r is borrowed. */
    void (*on_trial)(void *ctx, enum outcome meant, const struct result *r);
    void *ctx;
    int meant;                      /* out: how many trials there are to be; 0: it did not come so far */
};

/* LATHE_OK: all were tried, whatever came of them. Else the device cannot be used at all, or nothing can be written for
 * the time being in the folder for temporary files (TMPDIR). */
status selftest_run(struct selftest *t, struct err *e);

#endif
