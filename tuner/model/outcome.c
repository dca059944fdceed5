/* outcome.c: names and texts of the ways a trial can end, all from OUTCOME_TABLE. */
#include "model/outcome.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name, *text;
} outcomes[OUTCOME_COUNT] = {
#define X(name, text) {#name, text},
    OUTCOME_TABLE(X)
#undef X
};

const char *outcome_name(enum outcome o)
{
    return (unsigned)o < OUTCOME_COUNT ? outcomes[o].name : "unknown";
}

const char *outcome_text(enum outcome o)
{
    return (unsigned)o < OUTCOME_COUNT ? outcomes[o].text : "unknown outcome";
}

int outcome_parse(const char *name)
{
    for (int i = 0; name && i < OUTCOME_COUNT; i++)
        if (strcmp(outcomes[i].name, name) == 0)
            return i;
    return -1;
}
