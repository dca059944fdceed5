/* builder.h: a recording in the making: what the readers of formats fill, entry by entry. Private to replay/. */
#ifndef LATHE_REPLAY_BUILDER_H
#define LATHE_REPLAY_BUILDER_H

#include "replay/json_stream.h"
#include "replay/recording.h"

enum {
    RECORDING_VALUES_MAX = 4096,        /* of one parameter: as many as a specification may have */
    RECORDING_NAME_MAX = 200,           /* bytes of a parameter's name, or of a value */
};
#define RECORDING_BYTES_MAX (UINT64_C(2) << 30)     /* kept of one recording: choices, facts, samples */
#define MUCH_MS 1e10            /* 115 days: a failure's number, 1e20 or the largest double */
#define MUCH_MJ 1e15            /* a gigawatt for a quarter of an hour */
#define CHOICE_ABSENT UINT16_MAX        /* until the end: a parameter that does not apply there */

struct builder;

struct builder *builder_new(const char *format);
void builder_free(struct builder *b);

/* Parameters, before the first entry. listed: its values are given in their order by builder_value. LATHE_IO: too many,
 * a name twice or empty. */
status builder_param(struct builder *b, const char *name, bool listed, struct err *e);
int builder_nparams(const struct builder *b);
int builder_find_param(const struct builder *b, const char *name);      /* -1 */
const char *builder_param_name(const struct builder *b, int param);
/* The place of a value (JSON: a number, a text, true or false), which is added if it is new. LATHE_IO. */
status builder_value(struct builder *b, int param, const json_t *value, config_choice *out, struct err *e);

void builder_set(char **text, const json_t *value); /* a text, or another value's JSON; what is no value leaves it */
void builder_path(struct builder *b, const char *path);    /* for people: made valid UTF-8 */
struct recording *builder_recording(struct builder *b); /* its kernel, device, size, cut and counts may be set */

/* Starts an entry; its outcome is ok. *choice: nparams places, to be filled, CHOICE_ABSENT as they are. Valid until the
 * next call. LATHE_IO: the recording has become too large. */
status builder_entry(struct builder *b, struct recorded **entry, config_choice **choice, struct err *e);
void builder_sample(struct builder *b, struct recorded *entry, double ms); /* what is no time is left out */
/* When it was tried, as a text; what is no moment is left out, as is what is no energy. */
void builder_moment(struct recorded *entry, const json_t *text);
void builder_energy(struct recorded *entry, double mj);
const char *builder_text(struct builder *b, const char *text);  /* one copy each, cut where it is long; for reasons */
/* A cost in seconds: negative ones and those that are no number are counted and become 0. j NULL: 0. unit: seconds. */
double builder_cost(struct builder *b, const json_t *j, double unit);
/* The entry's value: the outcome becomes unstable unless it is a positive number below MUCH_MS. */
void builder_success(struct builder *b, struct recorded *entry, double ms);
void builder_failure(struct builder *b, struct recorded *entry, enum outcome outcome, const char *reason);

/* Ends: values of one type a parameter, choices in order, duplicates settled. Gives the recording away and frees b. */
status builder_end(struct builder *b, struct recording **out, struct err *e);

/* A time in units of so many seconds as milliseconds: one in milliseconds stays exactly what it is. */
static inline double to_ms(double time, double unit)
{
    return time * (unit / 1e-3);
}
/* Seconds in a unit's name ("ms", "milliseconds", also "miliseconds"); 0: not known. */
double unit_seconds(const char *name);
bool are_numbers(enum value_type a, enum value_type b);     /* each an integer or a float */
/* A number, and not a text or true; NaN otherwise. */
double json_double(const json_t *j);

/* Readers of formats: the stream stands at the value that holds the entries; head is what the file says before it and
 * after it. */
status read_kernel_tuner(struct json_stream *s, const json_t *head, struct builder *b);
status read_t4(struct json_stream *s, const json_t *head, struct builder *b);
status read_ktt(struct json_stream *s, const json_t *head, struct builder *b);

/* recording_read_text, with at most so many bytes read at a time: what a slow source gives. */
status read_text_by(const char *text, size_t len, size_t most, const char *name, struct recording **out, struct err *e);
/* path: a lathe database. campaign 0: the newest. kernel NULL: the only one. place: for messages. */
status read_store(const char *path, const char *place, long long campaign, const char *kernel, struct recording **out,
                  struct err *e);

#endif
