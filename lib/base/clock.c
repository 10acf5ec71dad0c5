/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"

void lp_clock_utc(char *text, size_t size)
{
    time_t now = time(NULL);
    struct tm utc;

    gmtime_r(&now, &utc);
    strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

void lp_clock_run_id(char *text, size_t size)
{
    time_t now = time(NULL);
    struct tm utc;
    char date[32];

    gmtime_r(&now, &utc);
    strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &utc);
    snprintf(text, size, "%s-%ld", date, (long)getpid());
}
