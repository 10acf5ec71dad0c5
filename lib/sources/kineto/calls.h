/* SPDX-License-Identifier: Apache-2.0 */
/** What calls of the CUDA API, and of HIP, do, from their names. @threads any thread */
#ifndef LP_SOURCES_KINETO_CALLS_H
#define LP_SOURCES_KINETO_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct lp_kineto_call {
    uint8_t launch;     /* enum lp_launch_kind; 0: launches nothing */
    uint8_t host_call;  /* number of lib/record/host_calls.h; 0: none of these */
    bool begin, ending; /* of a stream capture */
};

struct lp_kineto_call lp_kineto_call_of(const char *name);

#endif
