/* failure.c: see failure.h. */
#include "replay/failure.h"

#include <string.h>

const char *failure_read(const char *text, enum outcome *o)
{
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        size_t n = strlen(outcome_name((enum outcome)i));
        if (i == OUTCOME_ok || strncmp(text, outcome_name((enum outcome)i), n))
            continue;
        if (!text[n] || !strncmp(text + n, ": ", 2)) {
            *o = (enum outcome)i;
            return text[n] ? text + n + 2 : text + n;
        }
    }
    return text;
}

void failure_print(struct strbuf *b, enum outcome o, const char *reason, enum outcome usual)
{
    enum outcome ignored;
    if (o == usual && *reason && failure_read(reason, &ignored) == reason)
        sb_add(b, reason);
    else
        sb_addf(b, "%s%s%s", outcome_name(o), *reason ? ": " : "", reason);
}

static const struct {
    const char *name;
    enum outcome outcome;
} invalidities[] = {{"correct", OUTCOME_ok},     {"timeout", OUTCOME_timeout},   {"compile", OUTCOME_compile},
                    {"runtime", OUTCOME_launch}, {"correctness", OUTCOME_wrong}, {"constraints", OUTCOME_constraint}},
  errors[] = {{"InvalidConfig", OUTCOME_resources},
              {"CompilationFailedConfig", OUTCOME_compile},
              {"RuntimeFailedConfig", OUTCOME_launch}};

const char *t4_invalidity(enum outcome o)
{
    if (o == OUTCOME_inaccurate)
        o = OUTCOME_wrong;
    for (size_t i = 0; i < sizeof invalidities / sizeof *invalidities; i++)
        if (invalidities[i].outcome == o)
            return invalidities[i].name;
    return "runtime";
}

int t4_outcome(const char *invalidity)
{
    for (size_t i = 0; i < sizeof invalidities / sizeof *invalidities; i++)
        if (strcmp(invalidities[i].name, invalidity) == 0)
            return (int)invalidities[i].outcome;
    return -1;
}

const char *kernel_tuner_error(enum outcome o)
{
    if (o == OUTCOME_constraint)
        o = OUTCOME_resources;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].outcome == o)
            return errors[i].name;
    return "RuntimeFailedConfig";
}

enum outcome kernel_tuner_outcome(const char *error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strcmp(errors[i].name, error) == 0)
            return errors[i].outcome;
    return OUTCOME_launch;
}
