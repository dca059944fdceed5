/* memo.h: what is known of configurations already proposed: (space, index) -> a slot number. Open addressing, grows. */
#ifndef LATHE_CAMPAIGN_MEMO_H
#define LATHE_CAMPAIGN_MEMO_H

#include <stdint.h>

struct memo {
    struct memo_entry {
        uint64_t key;           /* 0: empty */
        int64_t slot;
    } *entries;
    uint64_t count, cap;
};

/* The slot kept for (space, index), or -1. */
int64_t memo_find(const struct memo *m, int space, uint64_t index);
void memo_put(struct memo *m, int space, uint64_t index, int64_t slot);
void memo_free(struct memo *m);

#endif
