/* space_tables.h: the two tables that building a space needs: states that were searched, and nodes by content. */
#ifndef LATHE_SEARCH_SPACE_TABLES_H
#define LATHE_SEARCH_SPACE_TABLES_H

#include "search/space/space_impl.h"

/* The states of one level: key words to a node and what was refused below it. Forgets everything when it grows beyond
 * 64 MiB. Starts as zeroes but for nkeys and nrefused. */
struct state_table {
    int nkeys, nrefused;
    uint32_t *places, mask;     /* entry + 1, 0: free; open addressing */
    uint32_t count, cap;
    uint64_t *keys;             /* nkeys an entry */
    uint32_t *nodes;
    double *refused;            /* nrefused an entry */
};
/* True if the state is known: fills node and refused. */
bool state_find(const struct state_table *t, const uint64_t *key, uint32_t *node, double *refused);
/* key is not in the table. */
void state_add(struct state_table *t, const uint64_t *key, uint32_t node, const double *refused);
void state_table_free(struct state_table *t);

/* Finds nodes by content. Starts as zeroes. */
struct node_table {
    uint32_t *places, mask;     /* node + 1, 0: free; open addressing */
};
/* The node with these edges, which have `members` below them: an equal one if there is one. n > 0. */
uint32_t node_make(struct node_table *t, struct space *s, const struct edge *edges, uint32_t n, uint64_t members);
void node_table_free(struct node_table *t);

#endif
