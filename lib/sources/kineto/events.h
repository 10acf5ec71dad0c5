/* SPDX-License-Identifier: Apache-2.0 */
/** Reads the events of a Kineto trace (torch.profiler, also of vLLM and SGLang) and of Chrome
 * traces of this library.
 * @threads one at a time per object */
#ifndef LP_SOURCES_KINETO_EVENTS_H
#define LP_SOURCES_KINETO_EVENTS_H

#include <stdbool.h>

#include "lib/device/device.h"
#include "lib/sources/kineto/facts.h"
#include "lib/sources/kineto/json.h"

struct lp_kineto_call {
    uint8_t launch;     /* enum lp_launch_kind; 0: launches nothing */
    uint8_t host_call;  /* number of lib/record/host_calls.h; 0: none of these */
    bool begin, ending; /* of a stream capture */
};

/** Zero-initialised except for `names`. */
struct lp_kineto_events {
    struct lp_names *names;        /* receives names and shapes of kernels; outlives this */
    struct lp_names words;         /* labels of regions, names of calls */
    struct lp_hashmap known_words; /* hash of a raw text -> its id */
    struct lp_hashmap known_names;
    LP_VECTOR(struct lp_kineto_call) calls; /* by word */
    struct lp_hashmap threads;              /* hashes of process and thread -> number */
    struct lp_hashmap groups;               /* hash of a prefix of process ids -> number, from 1 */
    struct lp_kineto_facts facts;
    uint64_t count;            /* events so far */
    int64_t first_ns, last_ns; /* times of facts; none: first > last */
    struct lp_device_stats stats;
    bool wide;         /* some correlation ids have more than 32 bits */
    char program[256]; /* name of the process; "": not known */
};

/** What calls of the CUDA API, and of HIP, do, from their names. @threads any thread */
struct lp_kineto_call lp_kineto_call_of(const char *name);

/** 0, LLMPERF_ENOMEM, LLMPERF_EIO. Damaged events are counted. */
int lp_kineto_event(struct lp_kineto_events *events, struct lp_json_text text);

void lp_kineto_events_clear(struct lp_kineto_events *events);

#endif
