/* process.h: which process this is, in words that another process can judge later: does it still run? */
#ifndef LATHE_BASE_PROCESS_H
#define LATHE_BASE_PROCESS_H

#include "base/strbuf.h"

/* "HOST BOOT NAMESPACE PID START": host name, boot id, PID namespace, process id, and the moment it started (clock
 * ticks since the boot, proc(5)); "-" for what the system does not tell. */
void process_identity(struct strbuf *b);

/* This process and its children stay off the last n of the cores that it may use, if `least` or more are left. How many
 * it may use from then on; 0: the system does not tell. */
int process_leave_cores(int n, int least);

/* The parent of a process; 0: there is no such process here, or the system does not tell. */
long process_parent(long pid);

enum process_state {
    PROCESS_RUNS,
    PROCESS_GONE,               /* certainly: another process has its number, none has, or the machine was started
                                   anew */
    PROCESS_UNKNOWN,            /* it cannot be told from here: another machine, another container */
};
enum process_state process_state(const char *identity);

#endif
