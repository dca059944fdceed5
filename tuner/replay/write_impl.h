/* write_impl.h: what the writers of formats share. Private to replay/. */
#ifndef LATHE_REPLAY_WRITE_IMPL_H
#define LATHE_REPLAY_WRITE_IMPL_H

#include "replay/recording.h"

/* Each appends the whole text. order: recording_order. */
status print_t4(const struct recording *r, const uint64_t *order, struct strbuf *b, struct err *e);
status print_kernel_tuner(const struct recording *r, const uint64_t *order, struct strbuf *b, struct err *e);
status print_csv(const struct recording *r, const uint64_t *order, struct strbuf *b, struct err *e);

void print_number(struct strbuf *b, double v);      /* finite; the shortest text that reads back the same */
/* Seconds as milliseconds that a reader makes the same seconds of, if there are such. */
void print_ms(struct strbuf *b, double seconds);
void print_json(struct strbuf *b, json_t *j);       /* compact; takes the reference */
void print_json_text(struct strbuf *b, const char *text);
void print_samples(struct strbuf *b, const struct recording *r, const struct recorded *c, const char *between);
/* The value of a configuration's parameter. */
struct value value_at(const struct recording *r, uint64_t config, int param);

#endif
