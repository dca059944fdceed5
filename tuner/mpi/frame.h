/* frame.h: what processes of one job say to one another: a kind, a session, bytes. The same on the socket between a
 * relay and the hub, one after the other, and between hub and rank, one an MPI message.
 *
 * A session is one life of a worker: a relay's, which the coordinator started as a device worker. Its number is the
 * hub's. */
#ifndef LATHE_MPI_FRAME_H
#define LATHE_MPI_FRAME_H

#include "base/strbuf.h"
#include <stdint.h>

enum frame_kind {
    FRAME_HELLO = 1,            /* relay to hub: session is the rank that it wants */
    FRAME_REQUEST,              /* onwards to the rank: a request of the worker protocol, packed (package.h) */
    FRAME_REPLY,                /* back: the reply's JSON */
    FRAME_DIED,                 /* back: how the worker there ended, in words */
    FRAME_GONE,                 /* hub to relay: why the rank is not to be had any more */
    FRAME_KILL,                 /* hub to rank: end this session's worker */
    FRAME_PING,                 /* hub to rank, every second; answered by FRAME_PONG */
    FRAME_PONG,
    FRAME_QUIT,                 /* hub to rank: the job ends; answered by FRAME_BYE */
    FRAME_BYE,
    FRAME_KINDS
};

enum { FRAME_HEADER = 16 };
#define FRAME_LIMIT ((uint64_t)1 << 30)     /* bytes of a body: an MPI count is an int */

struct frame {
    enum frame_kind kind;
    uint32_t session;
    const char *body;           /* borrowed */
    size_t len;
};

/* Appends the frame's bytes. */
void frame_add(struct strbuf *b, enum frame_kind kind, uint32_t session, const void *body, size_t len);
/* The frame that the n bytes begin with. Gives its bytes, 0 if it is not all there yet, or -1 if it is none. */
long frame_read(const char *bytes, size_t n, struct frame *out);

#endif
