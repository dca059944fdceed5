/* frame.c: see frame.h. Header: kind, session (32 bits each), length of the body (64 bits), of one byte order: a job's
 * processes run the same binary. */
#include "mpi/frame.h"
#include <string.h>

void frame_add(struct strbuf *b, enum frame_kind kind, uint32_t session, const void *body, size_t len)
{
    char header[FRAME_HEADER];
    uint32_t k = kind;
    uint64_t n = len;
    memcpy(header, &k, 4);
    memcpy(header + 4, &session, 4);
    memcpy(header + 8, &n, 8);
    sb_addn(b, header, sizeof header);
    if (len) sb_addn(b, body, len);
}

long frame_read(const char *bytes, size_t n, struct frame *out)
{
    uint32_t kind;
    uint64_t len;
    if (n < FRAME_HEADER) return 0;
    memcpy(&kind, bytes, 4);
    memcpy(&out->session, bytes + 4, 4);
    memcpy(&len, bytes + 8, 8);
    if (kind < FRAME_HELLO || kind >= FRAME_KINDS || len > FRAME_LIMIT) return -1;
    if (n - FRAME_HEADER < len) return 0;
    out->kind = (enum frame_kind)kind;
    out->body = bytes + FRAME_HEADER;
    out->len = (size_t)len;
    return FRAME_HEADER + (long)len;
}
