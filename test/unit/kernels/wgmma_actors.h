/* wgmma_actors.h: who does what in wgmma_model.h, line by line as kernels/linear/wgmma.cu has it. */
#ifndef LATHE_TEST_WGMMA_ACTORS_H
#define LATHE_TEST_WGMMA_ACTORS_H

enum outcome { RAN, BLOCKED, ENDED };

/* An actor's function is entered again where it returned, between BEGIN and END; its variables are lost meanwhile. */
#define BEGIN(a) switch ((a)->pc) { case 0:
#define END(a) } (a)->ended = true; return ENDED
#define STEP(a) do { (a)->pc = __LINE__; return RAN; case __LINE__:; } while (0)
#define WAIT(m, a, barrier, parity, meant)                                                                           \
    do {                                                                                                             \
        (a)->pc = __LINE__;                                                                                          \
        return RAN;                                                                                                  \
        case __LINE__:                                                                                               \
        if (!passes(m, &(barrier), parity, meant, #barrier)) return BLOCKED;                                         \
    } while (0)

static inline void ring_next(const struct sim *m, struct actor *a)
{
    if (++a->stage == m->s.stages) {
        a->stage = 0;
        a->round++;
    }
}

/* ---- the threads that copy */

static inline void issue(struct sim *m, int from, int operand, int stage, int tag)
{
    bool all = is_shared(m, operand);
    for (int to = all ? 0 : from; to < (all ? m->blocks : from + 1); to++) {
        struct tile *t = &m->block[to].tile[operand][stage];
        int slice = all ? from : 0;
        if (t->reading) broken(m, "a stage is overwritten that a warp reads");
        if (t->tag[slice] >= 0 && t->read[slice] != (1u << warps(m)) - 1)
            broken(m, "a stage is overwritten that not all have read");
        if (t->flight[slice] >= 0) broken(m, "two copies to one place");
        t->tag[slice] = -1;
        t->flight[slice] = tag;
    }
}

/* A copy is complete, all of it at once. */
static inline void land(struct sim *m, int rank, int operand, int stage, int slice)
{
    struct tile *t = &m->block[rank].tile[operand][stage];
    t->tag[slice] = t->flight[slice];
    t->flight[slice] = -1;
    t->read[slice] = 0;
    m->block[rank].full[stage].tx--;
    settle(&m->block[rank].full[stage]);
}

static inline enum outcome copy(struct sim *m, struct actor *a, int operand)
{
    struct block *b = &m->block[a->rank];
    BEGIN(a);
    for (a->u = 0; a->u < m->s.units; a->u++)
        for (a->chunk = 0; a->chunk < chunks_of(m, a->rank); a->chunk++, ring_next(m, a)) {
            WAIT(m, a, b->free[operand][a->stage], a->round ^ 1, a->round - 1);
            b->full[a->stage].tx += slices(m, operand);
            arrive(m, &b->full[a->stage]);
            STEP(a);
            issue(m, a->rank, operand, a->stage, a->u * chunks_of(m, a->rank) + a->chunk);
        }
    END(a);
}

static inline int staging_barrier(const struct sim *m, int stream)
{
    return m->s.fault == ONE_STAGING_BARRIER ? 0 : stream;
}

static inline enum outcome add_sums(struct sim *m, struct actor *a)
{
    struct block *b = &m->block[a->rank];
    const int all = all_promotions(m, a->rank), n = streams(m);
    BEGIN(a);
    for (a->u = 0; a->u < m->s.units; a->u++) {
        for (a->i = 0; a->i < all; a->i++) {
            WAIT(m, a, b->staged, a->k, a->k);
            a->k++;
            if (b->staging_written != (1u << m->s.warps) - 1) broken(m, "sums are added before all have staged theirs");
            STEP(a);                            /* the copy engine reads */
            const int stream = stream_at(m, a->rank, a->i % n);
            struct range *kept = &b->kept[stream];
            if (b->staging_owner != stream)
                broken(m, "sums of stream %d are added to those of %d", b->staging_owner, stream);
            if (b->staging_written != (1u << m->s.warps) - 1) broken(m, "sums are overwritten while they are added");
            if (b->kept_readers[stream]) broken(m, "sums in workspace are changed while they are read");
            if (a->i < (m->s.fault == ADDED_TOO_LATE ? 0 : n))
                *kept = b->staging;
            else if (kept->unit != b->staging.unit || kept->to != b->staging.from)
                broken(m, "sums of other products are added");
            else
                kept->to = b->staging.to;
            b->staging_owner = -1;
            b->staging_written = 0;
            STEP(a);
            const int next = stream_at(m, a->rank, a->i + 1 < all ? (a->i + 1) % n : 0);
            arrive(m, &b->staging_free[staging_barrier(m, next)]);
        }
        STEP(a);
        arrive(m, &b->promoted);
    }
    END(a);
}

/* ---- a warp that multiplies */

static inline int tag_of(const struct sim *m, const struct actor *a) { return a->u * chunks_of(m, a->rank) + a->chunk; }

static inline void see(struct sim *m, int rank, int operand, int stage, int tag)
{
    for (int slice = 0; slice < slices(m, operand); slice++)
        if (m->block[rank].tile[operand][stage].tag[slice] != tag)
            broken(m, "chunk %d is read where chunk %d is meant", m->block[rank].tile[operand][stage].tag[slice], tag);
}

/* 16 of k, of the chunk in the current stage. */
static inline void read_step(struct sim *m, struct actor *a, int step, int tag)
{
    struct tile *t = &m->block[a->rank].tile[STREAMED][a->stage];
    unsigned me = 1u << a->warp;
    see(m, a->rank, STREAMED, a->stage, tag);
    if (step == 0 && (t->read[0] & me)) broken(m, "a chunk is read twice");
    t->reading |= me;
}

static inline void split(struct sim *m, struct actor *a, int buffer)
{
    for (int i = 0; i < a->npending; i++)
        if (a->pending[i].step == buffer) broken(m, "operands are overwritten while they are multiplied");
}

static inline void multiply(struct sim *m, struct actor *a, unsigned tiles, int step, bool always_add)
{
    struct tile *t = &m->block[a->rank].tile[SHARED][a->stage];
    const int at = 2 * a->chunk + step;
    if (a->npending == MAX_PENDING) {
        broken(m, "too many products under way");
        return;
    }
    see(m, a->rank, SHARED, a->stage, tag_of(m, a));
    t->reading |= 1u << a->warp;
    for (int i = 0; i < m->s.tiles; i++)
        if (tiles & 1u << i) {
            struct range *sum = &a->sum[i];
            if ((always_add || a->add[i]) == (sum->from == sum->to))
                broken(m, "a sum is begun anew, or is not, at the wrong time");
            if (sum->to != at) broken(m, "products are not summed in turn");
            sum->to = at + 1;
        }
    a->pending[a->npending++] = (struct product){a->stage, tag_of(m, a), step, tiles};
}

static inline void wgmma_wait(struct sim *m, struct actor *a, int left)
{
    while (a->npending > left) {
        struct product *p = &a->pending[0];
        see(m, a->rank, SHARED, p->stage, p->tag);
        memmove(p, p + 1, sizeof *p * (size_t)--a->npending);
    }
}

static inline void give_back(struct sim *m, struct actor *a, int operand, int stage)
{
    struct tile *t = &m->block[a->rank].tile[operand][stage];
    t->reading &= ~(1u << a->warp);
    for (int slice = 0; slice < slices(m, operand); slice++) t->read[slice] |= 1u << a->warp;
}

static inline void take(struct sim *m, struct actor *a, int i)
{
    struct block *b = &m->block[a->rank];
    const int stream = i * m->s.groups + a->group;
    const unsigned me = 1u << a->warp % m->s.warps;
    for (int p = 0; p < a->npending; p++)
        if (a->pending[p].tiles & 1u << i) broken(m, "sums are taken before they are done");
    if (b->staging_owner != -1 && b->staging_owner != stream)
        broken(m, "staged sums are overwritten by another stream");
    if (b->staging_owner == stream &&
        (b->staging_written & me || memcmp(&b->staging, &a->sum[i], sizeof b->staging)))
        broken(m, "staged sums are overwritten");
    b->staging_owner = stream;
    b->staging_written |= me;
    b->staging = a->sum[i];
    a->sum[i].from = a->sum[i].to;
    a->add[i] = 0;
    a->promote_after[i] += m->s.every;
}

/* The phase of staging_free that stream i of a waits for; -1: it need not. */
static inline int staging_phase(const struct sim *m, const struct actor *a, int i)
{
    if (m->s.fault != ONE_STAGING_BARRIER) return a->stagings[i];
    const int place = place_of(m, a->rank, i * m->s.groups + a->group), rounds = a->promote_after[i] / m->s.every;
    return a->u * all_promotions(m, a->rank) + rounds * streams(m) + place - 1;
}

static inline void choose_stop(const struct sim *m, struct actor *a)
{
    const int last = m->s.tiles - 1, chunks = chunks_of(m, a->rank);
    a->chosen = m->s.tiles == 1 || a->promote_after[0] < a->promote_after[last] ? 0 : last;
    a->stop = a->promote_after[a->chosen] < chunks - 1 ? a->promote_after[a->chosen] : chunks - 1;
}

/* Begins (or ends) to read what is kept of tile i by block `other`; all of it before the sum must be there. */
static inline void read_kept(struct sim *m, struct actor *a, int other, int i, bool begin)
{
    struct block *b = &m->block[other];
    const int stream = i * m->s.groups + a->group;
    const unsigned me = 1u << (a->rank * MAX_WARPS + a->warp);
    struct range *kept = &b->kept[stream];
    if (begin) b->kept_readers[stream] |= me;
    else b->kept_readers[stream] &= ~me;
    if (other != a->rank && b->handed[a->warp] != a->units) broken(m, "sums of another unit are taken over");
    if (other == a->rank && m->s.every &&
        (kept->unit != a->u || kept->from != 0 || kept->to != a->sum[i].from ||
         a->sum[i].to != 2 * chunks_of(m, a->rank)))
        broken(m, "sums are finished, but not all are there");
}

static inline enum outcome multiply_all(struct sim *m, struct actor *a)
{
    struct block *b = &m->block[a->rank];
    const int chunks = chunks_of(m, a->rank), n = m->s.tiles;
    BEGIN(a);
    for (a->u = 0; a->u < m->s.units; a->u++) {
        for (int i = 0; i < n; i++) {
            a->add[i] = 0;
            a->promote_after[i] = m->s.every ? first_promotion(m, a->rank, i * m->s.groups + a->group) - 1 : chunks;
            a->sum[i] = (struct range){a->u, 0, 0};
        }
        a->units++;
        a->chunk = 0;
        choose_stop(m, a);
        WAIT(m, a, b->full[a->stage], a->round, a->round);
        read_step(m, a, 0, tag_of(m, a));
        split(m, a, 0);
        for (;;) {
            /* first_half */
            multiply(m, a, (1u << n) - 1, 0, false);
            STEP(a);
            read_step(m, a, 1, tag_of(m, a));
            wgmma_wait(m, a, 1);
            if (a->chunk > 0 || m->s.fault == RELEASED_EARLY) {
                a->i = m->s.fault == RELEASED_EARLY ? a->stage : a->stage == 0 ? m->s.stages - 1 : a->stage - 1;
                give_back(m, a, SHARED, a->i);
                for (a->k = 0; a->k < slices(m, SHARED); a->k++) {
                    STEP(a);
                    arrive(m, &m->block[is_shared(m, SHARED) ? a->k : a->rank].free[SHARED][a->i]);
                }
            }
            split(m, a, 1);
            give_back(m, a, STREAMED, a->stage);
            for (a->k = 0; a->k < slices(m, STREAMED); a->k++) {
                STEP(a);
                arrive(m, &m->block[is_shared(m, STREAMED) ? a->k : a->rank].free[STREAMED][a->stage]);
            }
            a->add[0] = a->add[1] = 1;
            if (a->chunk == chunks - 1) break;
            /* second_half and second_half_first */
            if (a->chunk < a->stop) {
                multiply(m, a, (1u << n) - 1, 1, true);
            } else {
                multiply(m, a, 1u << a->chosen, 1, true);
                if (n == 2) multiply(m, a, 2u >> a->chosen, 1, true);
            }
            ring_next(m, a);
            WAIT(m, a, b->full[a->stage], a->round, a->round);
            read_step(m, a, 0, tag_of(m, a) + 1);
            wgmma_wait(m, a, a->chunk < a->stop ? 1 : n);
            split(m, a, 0);
            if (a->chunk == a->stop) {
                wgmma_wait(m, a, n - 1);
                if (staging_phase(m, a, a->chosen) >= 0)
                    WAIT(m, a, b->staging_free[staging_barrier(m, a->chosen * m->s.groups + a->group)],
                         staging_phase(m, a, a->chosen), staging_phase(m, a, a->chosen));
                a->stagings[a->chosen]++;
                take(m, a, a->chosen);
                STEP(a);
                arrive(m, &b->staged);
                choose_stop(m, a);
            }
            a->chunk++;
        }
        multiply(m, a, (1u << n) - 1, 1, true);
        STEP(a);
        wgmma_wait(m, a, 0);
        give_back(m, a, SHARED, a->stage);
        for (a->k = 0; a->k < slices(m, SHARED); a->k++) {
            STEP(a);
            arrive(m, &m->block[is_shared(m, SHARED) ? a->k : a->rank].free[SHARED][a->stage]);
        }
        ring_next(m, a);
        /* finish */
        if (m->s.every && m->s.fault != NOT_PROMOTED) WAIT(m, a, b->promoted, a->units - 1, a->units - 1);
        if (m->s.split_k > 1) {
            for (int i = 0; i < n; i++) read_kept(m, a, a->rank, i, true);
            STEP(a);
            for (int i = 0; i < n; i++) {
                read_kept(m, a, a->rank, i, false);
                if (b->kept_readers[i * m->s.groups + a->group] & ~(((1u << MAX_WARPS) - 1) << a->rank * MAX_WARPS))
                    broken(m, "what was handed over is overwritten while another block reads it");
            }
            b->handed[a->warp] = a->units;
            for (a->k = 0; a->k < m->s.split_k; a->k++)
                if (a->k != a->rank) {
                    STEP(a);
                    arrive(m, &m->block[a->k].exchanged);
                }
            WAIT(m, a, b->exchanged, a->units - 1, a->units - 1);
        }
        for (a->k = 0; a->k < m->s.split_k; a->k++)
            for (int i = 0; i < n; i++) read_kept(m, a, (a->rank + a->k) % m->blocks, i, true);
        STEP(a);
        for (a->k = 0; a->k < m->s.split_k; a->k++)
            for (int i = 0; i < n; i++) read_kept(m, a, (a->rank + a->k) % m->blocks, i, false);
        if (m->s.split_k > 1 && m->s.fault != NO_EXCHANGE_FREE) {
            for (a->k = 0; a->k < m->s.split_k; a->k++)
                if (a->k != a->rank) {
                    STEP(a);
                    arrive(m, &m->block[a->k].exchange_free);
                }
            WAIT(m, a, b->exchange_free, a->units - 1, a->units - 1);
        }
    }
    END(a);
}

static inline enum outcome sim_step(struct sim *m, struct actor *a)
{
    switch (a->role) {
    case COPY_STREAMED: return copy(m, a, STREAMED);
    case COPY_SHARED: return copy(m, a, SHARED);
    case ADD_SUMS: return add_sums(m, a);
    default: return multiply_all(m, a);
    }
}

#endif
