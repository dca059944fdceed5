/* strategy_grid.h: the options that a strategy declares, as parameters of a space: which values of each are worth
 * trying. */
#ifndef LATHE_SEARCH_STRATEGY_GRID_H
#define LATHE_SEARCH_STRATEGY_GRID_H

#include "search/strategy/strategy.h"
#include <jansson.h>

enum { STRATEGY_GRID_MAX = 64 };    /* values of one option that may be given */

/* All values of a boolean and a choice; of a number ascending ones, the default among them, none outside its range: all
 * integers where there are at most eight; the default times 1/8, 1/4, ... 8 where the range has one end at most, or is
 * wide beside the default; seven evenly between both ends where not; -4 .. 4 around 0. New reference: an array. */
json_t *strategy_grid(const struct strategy_option *o);
/* The same of a text "0.5,1,2". LATHE_USAGE: a value is none of the option's type, or is there twice. */
status strategy_grid_given(const struct strategy_option *o, const char *values, json_t **out, struct err *e);

#endif
