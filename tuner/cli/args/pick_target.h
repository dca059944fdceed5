/* pick_target.h: the target that a question about a space is asked for, without this process touching a device. */
#ifndef LATHE_CLI_PICK_TARGET_H
#define LATHE_CLI_PICK_TARGET_H

#include "model/target.h"

/* name: a device ("cuda:0", "host"), an architecture ("sm_90a"), or NULL: the default device. A CUDA device is opened
 * in a child process that ends again; "host" has the documented limits of the host device whether or not there is a
 * compiler. */
status pick_target(const char *name, struct target *out, struct err *e);

#endif
