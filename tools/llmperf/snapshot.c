/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "snapshot.h"

/* A snapshot of an open session has a problem that says that the session was not stopped. */
bool snapshot_is_open(const llmperf_profile *profile)
{
    const char *problem;

    for (size_t i = 0; (problem = llmperf_profile_problem(profile, i)); i++)
        if (strstr(problem, "without stopping the session"))
            return true;
    return false;
}
