/* export_campaign.c: see export_campaign.h. */
#include "cli/export/export_campaign.h"

#include "console/output.h"
#include <string.h>

int export_form(const char *format)
{
    for (int f = 0; f < RECORDING_FORMS; f++)
        if (strcmp(format, recording_form_name((enum recording_form)f)) == 0)
            return f;
    return -1;
}

static status check_options(const struct selection *sel, int64_t trial, const char *name, bool into_database,
                            enum recording_form form, struct err *e)
{
    const struct {
        const char *option;
        bool given;
    } wrong[] = {{"trial", trial != 0},
                 {"name", name != NULL},
                 {"into-database", into_database},
                 {"problem", sel->problem != NULL},
                 {"size", sel->sizes.count > 0},
                 {"device", sel->device != NULL},
                 {"tolerance", sel->tolerances.count > 0},
                 {"inputs", sel->inputs != NULL}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (wrong[i].given)
            return err_set(
                e, LATHE_USAGE,
                "export: --%s: --format %s writes all trials of a campaign\nname it with --campaign N (default: "
                "the newest), and with --kernel NAME one of its kernels",
                wrong[i].option, recording_form_name(form));
    return LATHE_OK;
}

static void tell(const struct recording *r, int64_t campaign, const char *output)
{
    struct strbuf which = {0};
    if (campaign)
        sb_addf(&which, "campaign %lld, ", (long long)campaign);
    note_line("wrote %s: %s%llu trials of %s on %s", output, sb_str(&which), (unsigned long long)r->nconfigs,
              *r->kernel ? r->kernel : "a kernel", *r->device ? r->device : "an unknown device");
    sb_free(&which);
}

status export_campaign(const struct selection *sel, int64_t trial, const char *name, bool into_database,
                       enum recording_form form, const char *output, struct err *e)
{
    struct recording *r = NULL;
    struct strbuf text = {0};
    status s = check_options(sel, trial, name, into_database, form, e);
    if (s == LATHE_OK)
        s = recording_of_campaign(sel->db, sel->campaign, sel->kernel, &r, e);
    if (s == LATHE_OK && output && strcmp(output, "-") != 0) {
        s = recording_write(r, form, output, e);
        if (s == LATHE_OK)
            tell(r, sel->campaign, output);
    } else if (s == LATHE_OK) {
        s = recording_print(r, form, &text, e);
        if (s == LATHE_OK)
            s = out_text(sb_str(&text), text.len, e);
    }
    sb_free(&text);
    recording_free(r);
    return s;
}
