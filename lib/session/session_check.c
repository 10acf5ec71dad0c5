/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the options of a session without starting it. */
#include <stdlib.h>

#include "lib/base/status.h"
#include "lib/base/variable.h"
#include "lib/session/options/options.h"
#include "lib/session/options/rule.h"
#include "lib/session/sampling.h"
#include "llmperf/session.h"
#include "lib/base/dtype.h"

static int check_model(const struct lp_options *options)
{
    struct lp_stage_work *work;
    int status = lp_options_model(options, &work);

    if (status == 0)
        lp_stage_work_free(work);
    return status;
}

static int check_counters(const struct lp_options *options)
{
    struct lp_counter_request request;
    int status = lp_options_counters(options, &request);

    if (status == 0)
        lp_counter_request_clear(&request);
    return status;
}

static int check_regions(const struct lp_options *options)
{
    struct lp_sampling sampling;
    int status =
        lp_sampling_init(&sampling, options->sample_regions, options->overhead_budget_permille);

    lp_sampling_clear(&sampling);
    return status;
}

static int check_rules(const struct lp_options *options)
{
    struct lp_rule rules[LP_RULES];
    size_t count;
    int status = options->rules ? lp_rules_read(options->rules, rules, &count) : 0;

    if (status == 0)
        return 0;
    return lp_error(status, "%s: %s", options->rules_name, llmperf_last_error());
}

/* Reports use this dtype if nothing else gives one. */
static int check_dtype(void)
{
    const char *word = lp_variable("LLMPERF_DTYPE");

    if (!word || !*word || lp_peak_read(word) >= 0)
        return 0;
    return lp_error(LLMPERF_EINVAL, "LLMPERF_DTYPE=%.80s: %s", word, llmperf_last_error());
}

int llmperf_session_check(const llmperf_session_options *inputs, uint32_t *tier_out)
{
    struct lp_options options;
    int status = lp_options_init(&options, inputs);

    if (status == 0 && (status = check_dtype()) == 0 && (status = check_model(&options)) == 0 &&
        (status = check_rules(&options)) == 0 && (status = check_regions(&options)) == 0)
        status = check_counters(&options);
    if (status == 0 && tier_out)
        *tier_out = options.tier;
    lp_options_clear(&options);
    return status;
}
