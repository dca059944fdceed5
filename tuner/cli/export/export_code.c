/* export_code.c: see export_code.h. */
#include "cli/export/export_code.h"
#include "cli/export/export_trials.h"

status export_code(const json_t *provenance, const char *db, struct strbuf *out, struct err *e)
{
    struct export_trial t;
    status s = export_trial_read((json_t *)provenance, db, NULL, &t, e);
    if (s != LATHE_OK)
        return s;
    s = export_cu(&t.in, out, e);
    export_trial_close(&t);
    return s;
}
