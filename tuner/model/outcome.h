/* outcome.h: how a trial can end. A failed candidate is data, never an error. */
#ifndef LATHE_MODEL_OUTCOME_H
#define LATHE_MODEL_OUTCOME_H

/* name as stored and printed, what it means */
#define OUTCOME_TABLE(X)                                                                                               \
    X(ok, "compiled, verified and timed")                                                                              \
    X(constraint, "not a member of the space: a constraint refuses it")                                                \
    X(compile, "the compiler refused the source")                                                                      \
    X(resources, "needs more registers, shared memory, threads or memory than the device has")                         \
    X(launch, "the driver refused or failed the launch")                                                               \
    X(timeout, "took longer than the time limit")                                                                      \
    X(crash, "the worker died or the device faulted (illegal address, trap, signal)")                                  \
    X(wrong, "ran, but the result or the memory around it is not right")                                               \
    X(inaccurate, "ran and was timed, but rounds more than the tolerance allows; it may not win")                      \
    X(unstable, "its times vary too much to be believed")                                                              \
    X(missing, "replay: the recording has no such configuration")                                                      \
    X(skipped, "not run: the campaign ended first")

enum outcome {
#define X(name, text) OUTCOME_##name,
    OUTCOME_TABLE(X)
#undef X
        OUTCOME_COUNT
};

const char *outcome_name(enum outcome o);
const char *outcome_text(enum outcome o);
int outcome_parse(const char *name);                /* -1 if unknown */

#endif
