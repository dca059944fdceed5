/* request.c: a campaign's request as JSON. See resume_impl.h. */
#include "base/mem.h"
#include "campaign/resume_impl.h"
#include "model/record.h"
#include <stdlib.h>
#include <string.h>

static json_t *texts(const char *const *list, int n)
{
    json_t *j = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(j, record_string(list[i]));
    return j;
}

/* A path that means the same in another folder; "FILE#3" too. */
static json_t *absolute(const char *path)
{
    if (!path) return json_null();
    char *here = *path == '/' ? NULL : realpath(".", NULL);
    char *whole = here ? path_join(here, path) : mem_strdup(path);
    json_t *j = record_string(whole);
    mem_free(whole);
    free(here);
    return j;
}

static json_t *text_or_null(const char *s) { return s ? record_string(s) : json_null(); }

char *request_text(const struct campaign_request *r, const char *devices, const json_t *earlier)
{
    json_t *j = json_object();
    json_object_set_new(j, "device", text_or_null(devices));
    json_object_set_new(j, "kernels", texts(r->kernels, r->nkernels));
    json_object_set_new(j, "baselines", texts(r->baselines, r->nbaselines));
    json_object_set_new(j, "strategy", text_or_null(r->strategy));
    json_object_set_new(j, "options", texts((const char *const *)r->options, r->noptions));
    json_object_set_new(j, "compilers", json_integer(r->told_compilers));
    json_object_set_new(j, "objective", json_string(objective_name(r->objective)));
    json_object_set_new(j, "delays", json_string(delays_name(r->delays)));
    json_object_set_new(j, "top", json_integer(r->top));
    json_object_set_new(j, "time_limit", json_real(r->time_limit));
    json_object_set_new(j, "give_up", json_integer(r->give_up));
    json_object_set_new(j, "compile_seconds", json_real(r->compile_seconds));
    json_object_set_new(j, "compile_memory", json_integer(r->compile_memory));
    json_object_set_new(j, "sanitize", json_boolean(r->sanitize));
    json_object_set_new(j, "recording", absolute(r->recording ? r->recording->path : NULL));
    json_object_set_new(j, "recorded_space", json_boolean(r->recorded_space));
    json_object_set_new(j, "specification", absolute(r->spec));
    json_object_set_new(j, "settings", texts((const char *const *)r->settings, r->nsettings));
    json_object_set(j, "earlier", (json_t *)earlier);
    char *text = json_dumps(j, JSON_COMPACT), *own = mem_strdup(text);
    json_decref(j);
    free(text);
    return own;
}
