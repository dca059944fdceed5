/* clock.h: time. Durations come from the monotonic clock, which no clock change moves; wall time is only for labels. */
#ifndef LATHE_BASE_CLOCK_H
#define LATHE_BASE_CLOCK_H

double clock_seconds(void);                         /* monotonic, seconds, arbitrary origin */
double clock_thread_seconds(void);                  /* processor time of the calling thread */
void clock_iso8601(char out[32]);                   /* wall time now, UTC, "2026-11-30T04:16:00.123Z" */
void clock_sleep(double seconds);

#endif
