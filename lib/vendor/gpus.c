/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/vendor/gpus.h"

#define YEAR_10000 INT64_C(253402300800) /* in seconds since 1970 */

static void put_text(struct lp_text *json, const char *key, const char *text)
{
    lp_text_printf(json, ", \"%s\": ", key);
    lp_text_json(json, *text ? text : NULL);
}

static void put_positive(struct lp_text *json, const char *key, int64_t value)
{
    lp_text_printf(json, ", \"%s\": ", key);
    if (value > 0)
        lp_text_printf(json, "%" PRId64, value);
    else
        lp_text_puts(json, "null");
}

static void put_gpu(struct lp_text *json, const struct lp_gpu_fact *gpu)
{
    char capability[48] = "";

    if (gpu->major > 0)
        snprintf(capability, sizeof(capability), "%" PRId64 ".%" PRId64, gpu->major, gpu->minor);
    lp_text_printf(json, "{\"device\": %" PRId64, gpu->ordinal);
    put_text(json, "name", gpu->name);
    put_text(json, "compute_capability", capability);
    put_positive(json, "sm_count", gpu->sm_count);
    put_positive(json, "clock_khz", gpu->clock_hz / 1000);
    put_positive(json, "l2_bytes", gpu->l2_bytes);
    put_positive(json, "memory_bytes", gpu->memory_bytes);
    lp_text_puts(json, "}");
}

int lp_set_time_fact(llmperf_profile *profile, int64_t seconds)
{
    time_t time = (time_t)seconds;
    char text[40];
    struct tm utc;

    if (seconds <= 0 || seconds >= YEAR_10000 || !gmtime_r(&time, &utc))
        return 0;
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return lp_profile_set_fact(profile, "created_at", text);
}

int lp_gpus_set(llmperf_profile *profile, const struct lp_gpu_fact *gpus, size_t count,
                const char *reason)
{
    struct lp_text json = { NULL, 0, 0, false };
    int status;

    lp_text_puts(&json, "{\"schema_version\": 1, \"gpus\": [");
    for (size_t i = 0; i < count; i++) {
        lp_text_puts(&json, i ? ", " : "");
        put_gpu(&json, &gpus[i]);
    }
    lp_text_puts(&json, "]");
    if (count == 0)
        put_text(&json, "gpus_reason", reason);
    lp_text_puts(&json, "}\n");
    status = json.failed ? lp_out_of_memory() : lp_profile_set_fact(profile, "env", json.bytes);
    lp_text_clear(&json);
    return status;
}
