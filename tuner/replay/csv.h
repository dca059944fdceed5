/* csv.h: the columns of a recording as CSV that are no parameters: reader and writer agree here. */
#ifndef LATHE_REPLAY_CSV_H
#define LATHE_REPLAY_CSV_H

/* time_s, time_us, time_ns and time (milliseconds) are read in place of time_ms. samples_ms: with blanks between. */
#define CSV_TABLE(X)                                                                                                   \
    X(outcome)                                                                                                         \
    X(reason)                                                                                                          \
    X(time_ms)                                                                                                         \
    X(samples_ms)                                                                                                      \
    X(compile_seconds)                                                                                                 \
    X(validation_seconds)                                                                                              \
    X(framework_seconds)                                                                                               \
    X(search_seconds)                                                                                                  \
    X(energy_mj)                                                                                                       \
    X(timestamp)                                                                                                       \
    X(kernel)                                                                                                          \
    X(device)                                                                                                          \
    X(size)

enum csv_fact {
#define X(name) CSV_##name,
    CSV_TABLE(X)
#undef X
        CSV_FACTS
};

const char *csv_fact_name(enum csv_fact f);
/* The fact that a column of this name is, -1: a parameter. *unit: a time's, in seconds. */
int csv_fact_of(const char *name, double *unit);

#endif
