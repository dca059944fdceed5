/* link.c: see link.h. Everything is sent and received without blocking: a peer that was stopped in the middle of a
 * large message would hold whoever waits for it. One thread; a message is one frame. */
#include "mpi/link.h"
#include "base/clock.h"
#include "base/mem.h"
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 1 };

struct message {
    struct message *next;
    MPI_Request request;
    int rank;
    struct strbuf bytes;
    bool there;                 /* received, and those of its rank before it are to be handed over first */
};

struct link {
    struct message *sent, *coming, **last_coming;   /* not yet done; the latter in the order they began to come */
    int rank, size;
};

bool link_launched(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMIX_RANK") || getenv("PMI_RANK");
}

struct link *link_open(int *rank, int *size)
{
    struct link *l = mem_zalloc(1, sizeof *l);
    l->last_coming = &l->coming;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);     /* a lost rank is told by its silence */
    MPI_Comm_rank(MPI_COMM_WORLD, &l->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &l->size);
    *rank = l->rank;
    *size = l->size;
    return l;
}

char *link_share(struct link *l, const void *mine, int size)
{
    char *all = mem_zalloc((size_t)l->size, (size_t)size);
    MPI_Allgather(mine, size, MPI_BYTE, all, size, MPI_BYTE, MPI_COMM_WORLD);
    return all;
}

static void message_free(struct message *m)
{
    sb_free(&m->bytes);
    mem_free(m);
}

void link_send(struct link *l, int rank, enum frame_kind kind, uint32_t session, const void *body, size_t len)
{
    struct message *m = mem_zalloc(1, sizeof *m);
    frame_add(&m->bytes, kind, session, body, len);
    m->rank = rank;
    if (MPI_Isend(m->bytes.s, (int)m->bytes.len, MPI_BYTE, rank, TAG, MPI_COMM_WORLD, &m->request)) {
        message_free(m);
        return;
    }
    m->next = l->sent;
    l->sent = m;
}

/* Done, well or not. */
static bool is_over(struct message *m, bool *failed)
{
    int over = 0;
    *failed = MPI_Test(&m->request, &over, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    return over || *failed;
}

static void drop_sent(struct link *l)
{
    bool failed;
    for (struct message **at = &l->sent, *m; (m = *at);) {
        if (is_over(m, &failed)) {
            *at = m->next;
            message_free(m);
        } else {
            at = &m->next;
        }
    }
}

/* Begins to receive what has been announced. */
static void begin_coming(struct link *l)
{
    for (;;) {
        int flag = 0, count = 0;
        MPI_Message handle;
        MPI_Status from;
        if (MPI_Improbe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &flag, &handle, &from) || !flag) return;
        MPI_Get_count(&from, MPI_BYTE, &count);
        struct message *m = mem_zalloc(1, sizeof *m);
        m->rank = from.MPI_SOURCE;
        m->bytes.s = mem_zalloc(1, (size_t)count + 1);
        m->bytes.len = (size_t)count;
        m->bytes.cap = (size_t)count + 1;
        if (MPI_Imrecv(m->bytes.s, count, MPI_BYTE, &handle, &m->request)) {
            message_free(m);
            return;
        }
        *l->last_coming = m;
        l->last_coming = &m->next;
    }
}

static bool is_first_of_its_rank(const struct link *l, const struct message *m)
{
    for (const struct message *before = l->coming; before != m; before = before->next)
        if (before->rank == m->rank) return false;
    return true;
}

static void unlink_coming(struct link *l, struct message *m)
{
    struct message **at = &l->coming;
    while (*at != m) at = &(*at)->next;
    *at = m->next;
    if (l->last_coming == &m->next) l->last_coming = at;
}

void link_poll(struct link *l, void (*take)(void *ctx, int rank, const struct frame *f), void *ctx)
{
    drop_sent(l);
    begin_coming(l);
    for (struct message *m = l->coming, *next; m; m = next) {
        next = m->next;
        bool failed = false;
        if (!m->there && !is_over(m, &failed)) continue;
        m->there = true;
        if (!failed && !is_first_of_its_rank(l, m)) continue;
        unlink_coming(l, m);
        struct frame f;
        if (!failed && frame_read(m->bytes.s, m->bytes.len, &f) > 0) take(ctx, m->rank, &f);
        message_free(m);
    }
}

void link_flush(struct link *l, double seconds)
{
    double start = clock_seconds();
    for (drop_sent(l); l->sent && clock_seconds() - start < seconds; drop_sent(l)) clock_sleep(0.001);
}

void link_close(struct link *l)
{
    MPI_Finalize();
    for (struct message *m; (m = l->sent);) {
        l->sent = m->next;
        message_free(m);
    }
    for (struct message *m; (m = l->coming);) {
        l->coming = m->next;
        message_free(m);
    }
    mem_free(l);
}

void link_abort(int code)
{
    MPI_Abort(MPI_COMM_WORLD, code);
    _Exit(code);
}
