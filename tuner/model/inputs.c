/* inputs.c: names and texts of the classes of inputs, all from INPUTS_TABLE. */
#include "model/inputs.h"
#include <stddef.h>
#include <string.h>

static const struct {
    const char *name, *text;
    int plain;
} classes[INPUTS_COUNT] = {
#define X(name, plain, text) {#name, text, plain},
    INPUTS_TABLE(X)
#undef X
};

const char *inputs_name(enum inputs i)
{
    return (unsigned)i < INPUTS_COUNT ? classes[i].name : "unknown";
}

const char *inputs_text(enum inputs i)
{
    return (unsigned)i < INPUTS_COUNT ? classes[i].text : "unknown inputs";
}

int inputs_plain(enum inputs i)
{
    return (unsigned)i < INPUTS_COUNT && classes[i].plain;
}

int inputs_specified(enum inputs i)
{
    return i == INPUTS_default || i == INPUTS_check;
}

int inputs_parse(const char *name)
{
    for (int i = 0; name && i < INPUTS_COUNT; i++)
        if (strcmp(classes[i].name, name) == 0)
            return i;
    return -1;
}
