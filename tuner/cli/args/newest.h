/* newest.h: the problem, size and device that a command means where none is named: those of the newest campaign that
 * has a verified trial. */
#ifndef LATHE_CLI_NEWEST_H
#define LATHE_CLI_NEWEST_H

#include "base/strbuf.h"
#include "db/query.h"

struct newest {
    json_t *places;                     /* query_places's */
    int64_t campaign;                   /* 0: nothing passes the filter */
    char **dims;                        /* "M=128" */
    int ndims;
    int others;                         /* further problems, sizes and devices that pass the filter */
    bool devices;                       /* they are on different devices */
    bool passed_over;                   /* nothing was filtered, and yet a newer campaign has nothing verified */
};

/* Of the campaigns that have a verified trial that passes the filter. Free it if this succeeds. */
status newest_find(struct query *q, const struct query_filter *f, struct newest *out, struct err *e);
/* Narrows the filter to that problem, size and device; what it borrows lives as long as `n`. */
void newest_narrow(const struct newest *n, struct query_filter *f);
/* "linear M=8 N=16 K=32, as campaign 2 is, the newest with a verified result"; " on NVIDIA H200" too where devices
 * differ */
void newest_text(const struct newest *n, struct strbuf *b);
void newest_free(struct newest *n);

/* A size as a filter has it; to be freed by newest_dims_free. */
char **newest_dims(const json_t *size, int *ndims);
void newest_dims_free(char **dims, int ndims);

#endif
