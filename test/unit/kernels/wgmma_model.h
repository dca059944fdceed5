/* wgmma_model.h: the pipeline of kernels/linear/wgmma.cu as a discrete simulation of one cluster: its barriers, who
 * waits and arrives, and what is in each buffer. No arithmetic. What a function of the source does is done by the
 * function of the same name here: if two places must change together, it is these two.
 *
 * Actors are the threads that copy, the warps that multiply, and each copy that is under way (it lands when it likes).
 * One step of one actor at a time; which one, the test decides. A warp acts as one: its lanes do the same. What an
 * actor wrote, all others see at once: whether fences stand where memory needs them, this cannot tell.
 *
 * A run is broken, with a reason, if a buffer is overwritten that somebody reads or has yet to read, if anything else
 * than what was meant is read or added, or if a wait lets through, or holds, for another phase than the one meant. */
#ifndef LATHE_TEST_WGMMA_MODEL_H
#define LATHE_TEST_WGMMA_MODEL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MAX_BLOCKS = 4, MAX_STAGES = 4, MAX_STREAMS = 6, MAX_WARPS = 6, MAX_PENDING = 4 };
enum { STREAMED, SHARED, OPERANDS };

/* Mistakes that the simulation must find. */
enum fault {
    NO_FAULT,
    ONE_STAGING_BARRIER,        /* one staging_free for all streams */
    RELEASED_EARLY,             /* a shared tile is given back while it may still be multiplied */
    FREED_BY_OWN_BLOCK,         /* who copies to all blocks waits for its own only */
    NOT_PROMOTED,               /* sums are finished without a wait for what was added elsewhere */
    NO_EXCHANGE_FREE,           /* what was handed over is not waited for before it is written again */
    ADDED_TOO_LATE              /* the first sums of a unit are added to what is there */
};

struct shape {
    int stages, chunks, every;                  /* every: chunks between promotions to workspace; 0: none */
    int groups, tiles, cluster, split_k, units;
    bool share_streamed;                        /* cluster > 1: the streamed matrix is shared, else the other */
    int warps;                                  /* of a warpgroup */
    int first_block;
    enum fault fault;
    bool effects_only;                          /* a wrong wait is no failure, only what comes of it */
};

/* Small, since every order of a small pipeline is a million of them. */
struct barrier {
    short count, pending, tx, phase;
};

struct tile {                                   /* one operand's part of a stage */
    short tag[MAX_BLOCKS], flight[MAX_BLOCKS];  /* by slice: chunk that is there, and that is coming; -1: none */
    unsigned reading, read[MAX_BLOCKS];         /* warps */
};

struct range {                                  /* half chunks of a unit, [from, to) */
    short unit, from, to;
};

struct block {
    struct barrier full[MAX_STAGES], free[OPERANDS][MAX_STAGES];
    struct barrier staged, promoted, exchanged, exchange_free, staging_free[MAX_STREAMS];
    struct tile tile[OPERANDS][MAX_STAGES];
    short staging_owner;                        /* stream, or -1 */
    unsigned staging_written;                   /* by warps of the owner */
    struct range staging, kept[MAX_STREAMS];
    unsigned kept_readers[MAX_STREAMS];         /* bit block * MAX_WARPS + warp */
    short handed[MAX_WARPS];                    /* units that this warp handed over */
};

struct product {                                /* a committed group */
    short stage, tag, step;
    unsigned tiles;
};

enum role { COPY_STREAMED, COPY_SHARED, ADD_SUMS, MULTIPLY };

struct actor {
    enum role role;
    short rank, warp, group, pc;
    bool ended;
    short u, chunk, stage, round, i, k;         /* round: of the ring; its parity is what the source keeps */
    /* MULTIPLY */
    struct range sum[2];
    short add[2], promote_after[2], stagings[2], units, stop, chosen;
    struct product pending[MAX_PENDING];
    short npending;
};

struct sim {
    struct shape s;
    struct block block[MAX_BLOCKS];
    struct actor actor[MAX_BLOCKS * (MAX_WARPS + 3)];
    int nactors, blocks;
    bool failed;
    char reason[240];
};

static inline void broken(struct sim *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void broken(struct sim *m, const char *format, ...)
{
    va_list list;
    if (m->failed) return;
    m->failed = true;
    va_start(list, format);
    vsnprintf(m->reason, sizeof m->reason, format, list);
    va_end(list);
}

/* ---- barriers, as mbarrier is */

static inline void settle(struct barrier *b)
{
    if (b->pending == 0 && b->tx == 0) {
        b->phase++;
        b->pending = b->count;
    }
}

static inline void arrive(struct sim *m, struct barrier *b)
{
    if (b->pending == 0) broken(m, "more arrivals than a phase takes");
    b->pending--;
    settle(b);
}

/* mbarrier.try_wait.parity: true iff the phase of that parity is not the current one. `meant`: the phase whose end is
 * waited for, -1 for the one before the first. */
static inline bool passes(struct sim *m, const struct barrier *b, int parity, int meant, const char *name)
{
    bool through = (b->phase & 1) != (parity & 1);
    if (m->s.effects_only) return through;
    if (through != (b->phase > meant))
        broken(m, "%s: a wait for phase %d %s in phase %d", name, meant, through ? "lets through" : "holds", b->phase);
    else if (b->phase < meant || b->phase > meant + 1)
        broken(m, "%s: a wait for phase %d in phase %d", name, meant, b->phase);
    return through;
}

/* ---- sizes */

static inline int streams(const struct sim *m) { return m->s.groups * m->s.tiles; }
static inline int warps(const struct sim *m) { return m->s.groups * m->s.warps; }
static inline int chunks_of(const struct sim *m, int rank)
{
    int part = m->s.split_k > 1 ? rank : 0;
    return m->s.chunks * (part + 1) / m->s.split_k - m->s.chunks * part / m->s.split_k;
}
static inline bool is_shared(const struct sim *m, int operand)  /* between the blocks of the cluster */
{
    return m->s.cluster > 1 && (operand == STREAMED) == m->s.share_streamed;
}
static inline int slices(const struct sim *m, int operand) { return is_shared(m, operand) ? m->s.cluster : 1; }
static inline int first_promotion(const struct sim *m, int rank, int stream)
{
    return 1 + (m->s.first_block + rank + stream * (m->s.every / streams(m))) % m->s.every;
}
static inline int promotions(const struct sim *m, int rank, int stream)
{
    int first = first_promotion(m, rank, stream), chunks = chunks_of(m, rank);
    return first > chunks - 1 ? 0 : (chunks - 1 - first) / m->s.every + 1;
}
static inline int all_promotions(const struct sim *m, int rank)
{
    int all = 0;
    for (int s = 0; s < streams(m); s++) all += promotions(m, rank, s);
    return all;
}
static inline int place_of(const struct sim *m, int rank, int stream)
{
    int place = 0;
    for (int s = 0; s < streams(m); s++) place += first_promotion(m, rank, s) < first_promotion(m, rank, stream);
    return place;
}
static inline int stream_at(const struct sim *m, int rank, int place)
{
    int stream = 0;
    for (int s = 0; s < streams(m); s++) stream = place_of(m, rank, s) == place ? s : stream;
    return stream;
}

static inline void sim_init(struct sim *m, const struct shape *s)
{
    memset(m, 0, sizeof *m);
    m->s = *s;
    m->blocks = s->cluster * s->split_k;
    for (int r = 0; r < m->blocks; r++) {
        struct block *b = &m->block[r];
#define INIT(barrier, n) ((barrier).count = (barrier).pending = (n))
        for (int i = 0; i < s->stages; i++) {
            INIT(b->full[i], 2);
            for (int o = 0; o < OPERANDS; o++) {
                INIT(b->free[o][i], warps(m) * (s->fault == FREED_BY_OWN_BLOCK ? 1 : slices(m, o)));
                for (int slice = 0; slice < MAX_BLOCKS; slice++)
                    b->tile[o][i].tag[slice] = b->tile[o][i].flight[slice] = -1;
            }
        }
        INIT(b->staged, s->warps);
        INIT(b->promoted, 1);
        INIT(b->exchanged, (s->split_k - 1) * warps(m));
        INIT(b->exchange_free, (s->split_k - 1) * warps(m));
        for (int i = 0; i < streams(m); i++) INIT(b->staging_free[i], 1);
#undef INIT
        b->staging_owner = -1;
        for (int w = 0; w < warps(m) + 3; w++)
            if (w != ADD_SUMS || s->every)
                m->actor[m->nactors++] = (struct actor){
                    .role = w < MULTIPLY ? (enum role)w : MULTIPLY, .rank = r, .warp = w - MULTIPLY,
                    .group = w < MULTIPLY ? 0 : (w - MULTIPLY) / s->warps};
    }
    for (int i = 0; i < m->nactors; i++)
        for (int t = 0; s->every && t < s->tiles; t++) {
            struct actor *a = &m->actor[i];
            a->stagings[t] = place_of(m, a->rank, t * s->groups + a->group) == 0 ? -1 : 0;
        }
}

#include "wgmma_actors.h"

#endif
