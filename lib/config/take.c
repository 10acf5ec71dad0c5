/* SPDX-License-Identifier: Apache-2.0 */
/* Reading values that may be missing. */
#include "lib/config/options.h"
#include "lib/config/config.h"

/* 1: there is a value, and its key takes it. */
static int check_value(const llmperf_config *config, const char *key)
{
    const struct lp_option *option = lp_option_find(key);
    int status = option ? lp_option_check(config, option) : 0;

    return status < 0 ? status : llmperf_config_has(config, key);
}

int lp_config_take_text(const llmperf_config *config, const char *key, const char **value_out)
{
    int status = check_value(config, key);

    return status > 0 ? llmperf_config_text(config, key, value_out) : status;
}

int lp_config_take_integer(const llmperf_config *config, const char *key, int64_t *value_out)
{
    int status = check_value(config, key);

    return status > 0 ? llmperf_config_integer(config, key, value_out) : status;
}

int lp_config_take_truth(const llmperf_config *config, const char *key, bool *value_out)
{
    int32_t truth = *value_out;
    int status = check_value(config, key);

    status = status > 0 ? llmperf_config_boolean(config, key, &truth) : status;
    *value_out = truth != 0;
    return status;
}
