/* SPDX-License-Identifier: Apache-2.0 */
/** The one clock of the library: CLOCK_MONOTONIC, nanoseconds. Regions read it, and CUPTI is set to
 * use it, so that host and device times compare without conversion. It is slewed by NTP but never
 * jumps, unlike CUPTI's default CLOCK_REALTIME.
 * @threads any thread */
#ifndef LP_BASE_CLOCK_H
#define LP_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t lp_clock_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/** UTC as "2026-11-21T04:00:06Z" in `text` of at least 21 bytes. */
void lp_clock_utc(char *text, size_t size);

/** Name for a new run: UTC "YYYYMMDD-HHMMSS-PID". */
void lp_clock_run_id(char *text, size_t size);

#endif
