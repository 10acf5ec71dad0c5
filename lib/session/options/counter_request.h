/* SPDX-License-Identifier: Apache-2.0 */
/** Counters to collect, parsed from llmperf_session_options.counters. For lib/session only. */
#ifndef LP_SESSION_OPTIONS_COUNTER_REQUEST_H
#define LP_SESSION_OPTIONS_COUNTER_REQUEST_H

#include "lib/base/pattern.h"
#include "llmperf/sys/config.h"
#include "lib/counters/counters.h"

struct lp_counter_request {
    struct lp_counter_preset *preset; /* NULL: no counters */
    struct lp_patterns *include;
    enum lp_counter_replay replay;
    uint32_t passes;      /* 0: default */
    uint32_t group;       /* of the preset; 0: all groups */
    uint32_t budget;      /* percent of the time that ranges may cost; 0: no limit */
    uint64_t interval_ns; /* 0: the session chooses */
};

/** @param words  NULL: the tier's default, which is none except in tier `counters`.
 * @param config  Source of the preset (pipeline.counters) if the words name none; NULL: none.
 * @return 0; LLMPERF_EINVAL, LLMPERF_ENOENT, LLMPERF_EFORMAT, LLMPERF_ENOMEM, with nothing to
 * clear. */
int lp_counter_request_read(const char *words, const llmperf_config *config, uint32_t tier,
                            struct lp_counter_request *request);
void lp_counter_request_clear(struct lp_counter_request *request);

#endif
