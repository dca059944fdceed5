/* page.c: see page.h. page.html is a template: {{name}} stands for a part. */
#include "report/page.h"

#include "base/hash.h"
#include "report/json_text.h"
#include "report/pack.h"

#include <string.h>

static const char template[] = {
#include "tuner/report/web/page.html.inc"
    , 0};
static const char style[] = {
#include "tuner/report/web/style.css.inc"
    , 0};
static const char script[] = {
#include "tuner/report/web/data.js.inc"
    ,
#include "tuner/report/web/dom.js.inc"
    ,
#include "tuner/report/web/charts.js.inc"
    ,
#include "tuner/report/web/charts_time.js.inc"
    ,
#include "tuner/report/web/charts_limits.js.inc"
    ,
#include "tuner/report/web/charts_space.js.inc"
    ,
#include "tuner/report/web/numbers.js.inc"
    ,
#include "tuner/report/web/trial.js.inc"
    ,
#include "tuner/report/web/filter.js.inc"
    ,
#include "tuner/report/web/table.js.inc"
    ,
#include "tuner/report/web/code.js.inc"
    ,
#include "tuner/report/web/summary.js.inc"
    ,
#include "tuner/report/web/sections.js.inc"
    ,
#include "tuner/report/web/parameters.js.inc"
    ,
#include "tuner/report/web/provenance.js.inc"
    ,
#include "tuner/report/web/main.js.inc"
    , 0};
static const char charts[] = {
#include "echarts.inc"
    0};

bool page_has_charts(void)
{
    return charts[0] != 0;
}

const char page_charts_advice[] =
    "install npm (Debian: apt-get install npm), then run `make charts` and `make` in lathe's source";

status page_needs_charts(struct err *e)
{
    return err_set(e, LATHE_IO,
                   "this lathe was built without the chart library (Apache ECharts), so it can't make reports\n%s",
                   page_charts_advice);
}

static void add_escaped(struct strbuf *b, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<': sb_add(b, "&lt;"); break;
        case '>': sb_add(b, "&gt;"); break;
        case '&': sb_add(b, "&amp;"); break;
        case '"': sb_add(b, "&quot;"); break;
        default: sb_addn(b, text, 1);
        }
}

static void add_title(struct strbuf *b, const json_t *document)
{
    const json_t *campaign = json_array_get(json_object_get(document, "campaigns"), 0);
    const char *problem = json_string_value(json_object_get(campaign, "problem"));
    const char *device = json_string_value(json_object_get(campaign, "device"));
    add_escaped(b, problem ? problem : "report");
    if (device) {
        sb_add(b, " on ");
        add_escaped(b, device);
    }
}

void page_make(const json_t *document, const char *live, struct strbuf *out)
{
    struct strbuf data = {0}, title = {0};
    char nonce[HASH_HEX];
    json_t *packed = pack_columns(document);
    json_text(&data, packed);
    json_decref(packed);
    add_title(&title, document);
    hash_hex(sb_str(&data), data.len, nonce);
    const struct { const char *name, *text; size_t len; } parts[] = {
        {"title", sb_str(&title), title.len}, {"nonce", nonce, HASH_HEX - 1},
        {"style", style, sizeof style - 1},   {"charts", charts, sizeof charts - 1},
        {"data", sb_str(&data), data.len},    {"script", script, sizeof script - 1},
        {"live", live ? live : "", live ? strlen(live) : 0},
    };
    for (const char *t = template, *open; *t; ) {
        open = strstr(t, "{{");
        sb_addn(out, t, open ? (size_t)(open - t) : strlen(t));
        if (!open)
            break;
        const char *close = strstr(open, "}}");
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            if (strlen(parts[i].name) == (size_t)(close - open - 2) &&
                strncmp(parts[i].name, open + 2, strlen(parts[i].name)) == 0)
                sb_addn(out, parts[i].text, parts[i].len);
        t = close + 2;
    }
    sb_free(&data);
    sb_free(&title);
}
