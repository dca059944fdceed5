/* clock.h: time. Durations come from the monotonic clock, which no clock change moves; wall time is only for labels. */
#ifndef LATHE_BASE_CLOCK_H
#define LATHE_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

double clock_seconds(void);                         /* monotonic, seconds, arbitrary origin */
double clock_thread_seconds(void);                  /* processor time of the calling thread */
void clock_iso8601(char out[32]);                   /* wall time now, UTC, "2026-11-30T04:16:00.123Z" */
/* A moment in microseconds since 1970, UTC, and back. Read are "2026-11-30T04:16:00.123Z" and what Python prints,
 * "2026-11-30 04:16:00.123456+01:00"; without a zone it is UTC. False: it is neither, or before the year 1 or after
 * 9999. */
bool clock_read_moment(const char *text, int64_t *us);
void clock_print_moment(int64_t us, char out[32]);   /* "2026-11-30T04:16:00.123456Z" */
void clock_sleep(double seconds);

#endif
