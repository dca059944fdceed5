/* serve.h: answers over HTTP, by GNU libmicrohttpd, which is opened when it is needed: the program starts without it.
 *
 * Only GET and HEAD are answered. A request whose Host is not this machine's own name for itself is refused, so that no
 * page of another site can read what is served (DNS rebinding). */
#ifndef LATHE_REPORT_SERVE_H
#define LATHE_REPORT_SERVE_H

#include "base/strbuf.h"

struct serve_answer {
    int code;                   /* HTTP status, 200 from the start */
    const char *type;           /* content type, static */
    char tag[80];               /* ETag without quotes; "": none. With the code 304 there is no body */
    struct strbuf body;         /* freed by serve_run */
};

struct serve_request {
    const char *address;        /* numeric IPv4 to listen on */
    int port;                   /* 0: any that is free */
    bool others;                /* an address beyond 127.0.0.0/8 may be listened on, and any Host is answered */
    /* Fills the answer for a path; known: the ETag that the client has, or "". Called from one other thread, one call
     * at a time. */
    void (*answer)(void *ctx, const char *path, const char *known, struct serve_answer *out);
    void *ctx;
    void (*started)(void *ctx, int port);   /* it listens */
    bool (*stop)(void);         /* asked a few times a second */
};

/* Serves until stop() says so. LATHE_USAGE: the address is not allowed; LATHE_IO: the library is missing (the message
 * says what to install), or the port is taken. */
status serve_run(const struct serve_request *r, struct err *e);

/* Whether the library is here, and what to do if not. */
bool serve_has_library(void);
extern const char serve_library_advice[];

/* Whether a Host header names this machine itself: localhost, 127.x.x.x, [::1], with or without a port. NULL: false. */
bool serve_host_is_own(const char *host);

#endif
