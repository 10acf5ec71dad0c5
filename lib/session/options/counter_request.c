/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/session/options/counter_request.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/session/options/counter_presets.h"
#include "llmperf/session.h"
#include "lib/counters/counters.h"

#define INCLUDES_MOST 64u

/* Parsed words; their text is in `copy`. */
struct parsed {
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

static int read_replay(struct parsed *parsed, const char *value)
{
    static const char *const names[] = { "none", "user", "kernel" };

    for (uint32_t i = 0; i < 3; i++)
        if (strcmp(value, names[i]) == 0) {
            parsed->replay = i;
            return 0;
        }
    return lp_error(LLMPERF_EINVAL, "counters: unknown replay=%s; use none, user or kernel", value);
}

static int read_word(struct parsed *parsed, const char *word)
{
    uint64_t number;
    int status;

    if (strncmp(word, "replay=", 7) == 0)
        return read_replay(parsed, word + 7);
    if (strncmp(word, "include=", 8) == 0) {
        if (parsed->include_count == INCLUDES_MOST)
            return lp_error(LLMPERF_EINVAL, "counters: more than %u patterns", INCLUDES_MOST);
        parsed->includes[parsed->include_count++] = word + 8;
        return 0;
    }
    if (strncmp(word, "passes=", 7) == 0) {
        if ((status = read_number(word, word + 7, 1000, &number)) == 0)
            parsed->passes = (uint32_t)number;
        return status;
    }
    if (strncmp(word, "group=", 6) == 0) {
        if ((status = read_number(word, word + 6, 1000, &number)) == 0)
            parsed->group = (uint32_t)number;
        return status;
    }
    if (strncmp(word, "budget=", 7) == 0) {
        if ((status = read_number(word, word + 7, 1000, &number)) == 0)
            parsed->budget = (uint32_t)number;
        return status;
    }
    if (strncmp(word, "interval_us=", 12) == 0)
        return read_number(word, word + 12, 1000000, &parsed->interval_us);
    if (strchr(word, '=') || parsed->preset)
        return lp_error(LLMPERF_EINVAL,
                        "counters: unknown word \"%s\"; give one preset, then replay=, include=, "
                        "passes=, group=, budget= or interval_us=",
                        word);
    parsed->preset = word;
    return 0;
}

static int read_words(struct parsed *parsed, const char *words)
{
    char *rest = NULL;
    int status = 0;

    *parsed = (struct parsed){ .copy = lp_text_copy(words ? words : "") };
    if (!parsed->copy)
        return lp_out_of_memory();
    for (char *word = strtok_r(parsed->copy, " \t\n", &rest); word && status == 0;
         word = strtok_r(NULL, " \t\n", &rest))
        status = read_word(parsed, word);
    if (parsed->include_count == 0)
        parsed->includes[parsed->include_count++] = "LLM@*";
    return status;
}

static int check(const struct parsed *parsed, const struct lp_counter_preset *preset, uint32_t tier)
{
    bool pm = preset->method == LP_COUNTER_PM, pc = preset->method == LP_COUNTER_PC;

    if ((pm && parsed->replay != LP_REPLAY_NONE) ||
        (pc && (parsed->replay != LP_REPLAY_NONE || parsed->passes || parsed->group)))
        return lp_error(LLMPERF_EINVAL,
                        "counters: preset %s samples: %s for presets with range profiling",
                        preset->name, pm ? "replay= is" : "replay=, passes= and group= are");
    if (!pm && parsed->interval_us)
        return lp_error(LLMPERF_EINVAL,
                        "counters: preset %s uses %s: interval_us= is for presets pm and live",
                        preset->name, pc ? "PC sampling" : "range profiling");
    if (parsed->budget && (pm || parsed->replay == LP_REPLAY_KERNEL))
        return lp_error(LLMPERF_EINVAL, "counters: budget= is for range profiling; %s",
                        pm ? "sampling costs the program no time"
                           : "with replay=kernel choose fewer regions with include=");
    if (!pm && tier == LLMPERF_TIER_LIGHT)
        return lp_error(LLMPERF_EINVAL,
                        "counters: preset %s %s, which tier light does not allow; use preset live, "
                        "or tier counters",
                        preset->name,
                        pc ? "needs the records of all kernels"
                           : "stops the program at each region");
    return 0;
}

static int find_preset(const struct parsed *parsed, const llmperf_config *config,
                       struct lp_counter_preset **preset_out)
{
    static const char key[] = "pipeline.counters";
    char *text;
    int status;

    if (parsed->preset)
        return lp_counter_preset_find(parsed->preset, preset_out);
    if (!config)
        return lp_counter_preset_find("light", preset_out);
    if ((status = llmperf_config_document(config, key, LLMPERF_CONFIG_YAML, &text)) < 0)
        return status;
    status = lp_counter_preset_parse(text, key, preset_out);
    llmperf_text_free(text);
    return status;
}

static int keep(const struct parsed *parsed, const llmperf_config *config, uint32_t tier,
                struct lp_counter_request *request)
{
    int status = find_preset(parsed, config, &request->preset);

    if (status < 0)
        return status;
    request->replay = (enum lp_counter_replay)parsed->replay;
    request->passes = parsed->passes;
    request->group = parsed->group;
    request->budget = parsed->budget;
    request->interval_ns = parsed->interval_us * 1000;
    if ((status = check(parsed, request->preset, tier)) < 0)
        return status;
    return lp_patterns_open(parsed->includes, parsed->include_count, &request->include);
}

int lp_counter_request_read(const char *words, const llmperf_config *config, uint32_t tier,
                            struct lp_counter_request *request)
{
    bool counters = tier == LLMPERF_TIER_COUNTERS;
    struct parsed parsed;
    int status;

    *request = (struct lp_counter_request){ 0 };
    if (!counters && (tier != LLMPERF_TIER_LIGHT || (!words && !config)))
        return 0;
    status = read_words(&parsed, words);
    if (status == 0 && (parsed.preset || config || counters))
        status = keep(&parsed, config, tier, request);
    else if (status == 0 && words && *words)
        status = lp_error(
            LLMPERF_EINVAL,
            "counters: \"%s\" contains no preset; tier light accepts sampled presets, such as live",
            words);
    if (status < 0)
        lp_counter_request_clear(request);
    free(parsed.copy);
    return status;
}

void lp_counter_request_clear(struct lp_counter_request *request)
{
    lp_patterns_free(request->include);
    lp_counter_preset_free(request->preset);
    *request = (struct lp_counter_request){ 0 };
}
