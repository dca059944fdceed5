/* clock.c: time from the system's clocks. */
#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double clock_seconds(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

double clock_thread_seconds(void)
{
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

void clock_iso8601(char out[32])
{
    struct timespec t;
    struct tm tm;
    clock_gettime(CLOCK_REALTIME, &t);
    gmtime_r(&t.tv_sec, &tm);
    size_t n = strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out + n, 32 - n, ".%03dZ", (int)(t.tv_nsec / 1000000));
}

/* "+01:00", "-0530", "+01" as seconds; *text moves behind it. */
static bool read_zone(const char **text, int64_t *seconds)
{
    const char *p = *text;
    int hours, minutes = 0, n = 0;
    if (*p == 'Z' || *p == 'z') {
        (*text)++;
        return true;
    }
    if (*p != '+' && *p != '-')
        return !*p;
    if (sscanf(p + 1, "%2d:%2d%n", &hours, &minutes, &n) != 2 && sscanf(p + 1, "%2d%2d%n", &hours, &minutes, &n) != 2 &&
        sscanf(p + 1, "%2d%n", &hours, &n) != 1)
        return false;
    if (hours < 0 || hours > 24 || minutes < 0 || minutes > 59)
        return false;
    *seconds = (*p == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
    *text = p + 1 + n;
    return true;
}

bool clock_read_moment(const char *text, int64_t *us)
{
    struct tm tm = {0};
    int n = 0;
    int64_t fraction = 0, zone = 0;
    if (sscanf(text, "%4d-%2d-%2d%*1[ T]%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min,
               &tm.tm_sec, &n) != 6 || !n)
        return false;
    if (tm.tm_year < 1 || tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour < 0 ||
        tm.tm_hour > 23 || tm.tm_min < 0 || tm.tm_min > 59 || tm.tm_sec < 0 || tm.tm_sec > 60)
        return false;
    text += n;
    if (*text == '.') {
        text++;
        for (int64_t unit = 100000; *text >= '0' && *text <= '9'; text++, unit /= 10)
            fraction += unit * (*text - '0');
    }
    if (!read_zone(&text, &zone) || *text)
        return false;
    tm.tm_year -= 1900;
    tm.tm_mon--;
    *us = ((int64_t)timegm(&tm) - zone) * 1000000 + fraction;
    return true;
}

void clock_print_moment(int64_t us, char out[32])
{
    struct tm tm;
    time_t seconds = (time_t)(us / 1000000 - (us % 1000000 < 0));
    gmtime_r(&seconds, &tm);
    size_t n = strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out + n, 32 - n, ".%06dZ", (int)(us - (int64_t)seconds * 1000000));
}

void clock_sleep(double seconds)
{
    if (!(seconds > 0))
        return;
    if (seconds > 1e9)
        seconds = 1e9;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)seconds;
    until.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}
