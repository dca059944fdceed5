/* strays.h: what a worker's kernel started on the host and put into a session of its own (setsid), so that the end of
 * the worker's does not reach it. Every worker that runs kernels on the host has a mark of its own in its environment,
 * which what it forks inherits; the system tells the environment of a process (/proc). */
#ifndef LATHE_TRIAL_STRAYS_H
#define LATHE_TRIAL_STRAYS_H

enum { STRAYS_MARK = 96 };

/* A variable, "NAME=VALUE", that no other worker of any process here has. */
void strays_mark(char mark[STRAYS_MARK]);
/* The environment with that variable; mem_free the list, not the strings. */
char **strays_environment(char *mark);
/* Ends (SIGKILL) every process that has the mark. The worker itself has ended. What replaced its environment is not
 * found. */
void strays_end(const char *mark);

#endif
