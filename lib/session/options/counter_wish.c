/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/session/options/counter_wish.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/session/options/counter_presets.h"
#include "llmperf/session.h"
#include "llmperf/sys/counters.h"
#include "lib/counters/counters.h"

#define INCLUDES_MOST 64u

/* The words; all text is in `copy`. */
struct wish {
    char *copy;
    const char *preset;
    const char *includes[INCLUDES_MOST];
    size_t include_count;
    uint32_t replay, passes, group, budget;
    uint64_t interval_us;
};

static int read_number(const char *word, const char *value, uint64_t most, uint64_t *number_out)
{
    char *end;
    unsigned long long number = strtoull(value, &end, 10);

    if (*value < '0' || *value > '9' || *end || number == 0 || number > most)
        return lp_error(LLMPERF_EINVAL, "counters: \"%s\" needs a number from 1 to %" PRIu64, word,
                        most);
    *number_out = number;
    return 0;
}

static int read_replay(struct wish *wish, const char *value)
{
    static const char *const names[] = { "none", "user", "kernel" };

    for (uint32_t i = 0; i < 3; i++)
        if (strcmp(value, names[i]) == 0) {
            wish->replay = i;
            return 0;
        }
    return lp_error(LLMPERF_EINVAL, "counters: unknown replay=%s; use none, user or kernel", value);
}

static int read_word(struct wish *wish, const char *word)
{
    uint64_t number;
    int status;

    if (strncmp(word, "replay=", 7) == 0)
        return read_replay(wish, word + 7);
    if (strncmp(word, "include=", 8) == 0) {
        if (wish->include_count == INCLUDES_MOST)
            return lp_error(LLMPERF_EINVAL, "counters: more than %u patterns", INCLUDES_MOST);
        wish->includes[wish->include_count++] = word + 8;
        return 0;
    }
    if (strncmp(word, "passes=", 7) == 0) {
        if ((status = read_number(word, word + 7, 1000, &number)) == 0)
            wish->passes = (uint32_t)number;
        return status;
    }
    if (strncmp(word, "group=", 6) == 0) {
        if ((status = read_number(word, word + 6, 1000, &number)) == 0)
            wish->group = (uint32_t)number;
        return status;
    }
    if (strncmp(word, "budget=", 7) == 0) {
        if ((status = read_number(word, word + 7, 1000, &number)) == 0)
            wish->budget = (uint32_t)number;
        return status;
    }
    if (strncmp(word, "interval_us=", 12) == 0)
        return read_number(word, word + 12, 1000000, &wish->interval_us);
    if (strchr(word, '=') || wish->preset)
        return lp_error(LLMPERF_EINVAL,
                        "counters: unknown word \"%s\"; give one preset, then replay=, include=, "
                        "passes=, group=, budget= or interval_us=",
                        word);
    wish->preset = word;
    return 0;
}

static int read_wish(struct wish *wish, const char *words)
{
    char *rest = NULL;
    int status = 0;

    *wish = (struct wish){ .copy = lp_text_copy(words ? words : "") };
    if (!wish->copy)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    for (char *word = strtok_r(wish->copy, " \t\n", &rest); word && status == 0;
         word = strtok_r(NULL, " \t\n", &rest))
        status = read_word(wish, word);
    if (wish->include_count == 0)
        wish->includes[wish->include_count++] = "LLM@*";
    return status;
}

static int check(const struct wish *wish, const struct lp_counter_preset *preset, uint32_t tier)
{
    bool pm = preset->method == LP_COUNTER_PM;

    if (pm && wish->replay != LP_REPLAY_NONE)
        return lp_error(
            LLMPERF_EINVAL,
            "counters: preset %s uses PM sampling: replay= is for presets with range profiling",
            preset->name);
    if (!pm && wish->interval_us)
        return lp_error(LLMPERF_EINVAL,
                        "counters: preset %s uses range profiling: interval_us= is for sampled "
                        "presets (pm, live)",
                        preset->name);
    if (wish->budget && (pm || wish->replay == LP_REPLAY_KERNEL))
        return lp_error(LLMPERF_EINVAL, "counters: budget= is for range profiling; %s",
                        pm ? "sampling costs the program no time"
                           : "with replay=kernel choose fewer regions with include=");
    if (!pm && tier == LLMPERF_TIER_LIGHT)
        return lp_error(LLMPERF_EINVAL,
                        "counters: preset %s stops the program at each region, which tier light "
                        "does not allow; use preset live, or tier counters",
                        preset->name);
    return 0;
}

static int find_preset(const struct wish *wish, const llmperf_config *config,
                       struct lp_counter_preset **preset_out)
{
    static const char key[] = "pipeline.counters";
    char *text;
    int status;

    if (wish->preset)
        return lp_counter_preset_find(wish->preset, preset_out);
    if (!config)
        return lp_counter_preset_find("light", preset_out);
    if ((status = llmperf_config_document(config, key, LLMPERF_CONFIG_YAML, &text)) < 0)
        return status;
    status = lp_counter_preset_parse(text, key, preset_out);
    llmperf_text_free(text);
    return status;
}

static int keep(const struct wish *wish, const llmperf_config *config, uint32_t tier,
                struct lp_counter_request *request)
{
    int status = find_preset(wish, config, &request->preset);

    if (status < 0)
        return status;
    request->replay = (enum lp_counter_replay)wish->replay;
    request->passes = wish->passes;
    request->group = wish->group;
    request->budget = wish->budget;
    request->interval_ns = wish->interval_us * 1000;
    if ((status = check(wish, request->preset, tier)) < 0)
        return status;
    return lp_patterns_open(wish->includes, wish->include_count, &request->include);
}

int lp_counter_request_read(const char *words, const llmperf_config *config, uint32_t tier,
                            struct lp_counter_request *request)
{
    bool counters = tier == LLMPERF_TIER_COUNTERS;
    struct wish wish;
    int status;

    *request = (struct lp_counter_request){ 0 };
    if (!counters && (tier != LLMPERF_TIER_LIGHT || (!words && !config)))
        return 0;
    status = read_wish(&wish, words);
    if (status == 0 && (wish.preset || config || counters))
        status = keep(&wish, config, tier, request);
    else if (status == 0 && words && *words)
        status = lp_error(
            LLMPERF_EINVAL,
            "counters: \"%s\" contains no preset; tier light accepts sampled presets, such as live",
            words);
    if (status < 0)
        lp_counter_request_clear(request);
    free(wish.copy);
    return status;
}

void lp_counter_request_clear(struct lp_counter_request *request)
{
    lp_patterns_free(request->include);
    lp_counter_preset_free(request->preset);
    *request = (struct lp_counter_request){ 0 };
}
