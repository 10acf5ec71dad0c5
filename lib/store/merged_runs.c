/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hashmap.h"
#include "lib/base/sha256.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/store/merged_runs.h"
#include "lib/profile/profile.h"

/* Hashes of contents are stored in merged runs: their input and its order must not change. */

static void add_word(struct lp_text *bytes, uint64_t word)
{
    lp_text_printf(bytes, "%" PRIx64 " ", word);
}

static void add_number(struct lp_text *bytes, double number)
{
    uint64_t word = UINT64_MAX; /* all NaNs are the same value */

    if (!isnan(number))
        memcpy(&word, &number, sizeof(word));
    add_word(bytes, word);
}

static void add_text(struct lp_text *bytes, const char *text)
{
    lp_text_printf(bytes, "%s\n", text ? text : "");
}

/* Without name and creation time, since a file may be imported twice. */
static void key_of_contents(const llmperf_profile *profile, struct lp_text *bytes)
{
    static const char *const facts[] = { "process_id", "duration_ms", "env" };

    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
        add_text(bytes, llmperf_profile_fact(profile, facts[i]));
    for (size_t i = 0; i < profile->regions.count; i++) {
        const llmperf_region_stats *stats = &profile->regions.items[i].stats;

        add_text(bytes, stats->path);
        add_word(bytes, (uint32_t)stats->device);
        add_word(bytes, stats->process_id);
        add_word(bytes, stats->instances);
        add_number(bytes, stats->wall_sum_ms);
        add_number(bytes, stats->kernel_ms);
    }
    for (size_t i = 0; i < profile->kernels.count; i++) {
        const llmperf_kernel_stats *stats = &profile->kernels.items[i].stats;

        add_text(bytes, stats->name);
        add_text(bytes, stats->region);
        add_word(bytes, (uint32_t)stats->device);
        add_word(bytes, stats->calls);
        add_number(bytes, stats->total_ms);
    }
    for (size_t i = 0; i < profile->iteration_stats.count; i++) {
        const llmperf_iteration_stats *stats = &profile->iteration_stats.items[i].stats;

        add_text(bytes, stats->region);
        add_text(bytes, stats->quantity);
        add_word(bytes, stats->count);
        add_number(bytes, stats->sum_ms);
    }
}

static void put_content_key(const llmperf_profile *profile, struct lp_text *line)
{
    struct lp_text bytes = { NULL, 0, 0, false };
    char digits[65];

    key_of_contents(profile, &bytes);
    line->failed |= bytes.failed;
    if (!bytes.failed) {
        lp_sha256(bytes.bytes, bytes.length, digits);
        lp_text_add(line, digits, LP_RUN_KEY_DIGITS);
    }
    lp_text_clear(&bytes);
}

/* Lines */

static void put_name(const llmperf_profile *profile, struct lp_text *line)
{
    const char *name = llmperf_profile_fact(profile, "run_id");

    if (!name)
        name = llmperf_profile_fact(profile, "imported_from");
    for (name = name ? name : "?"; *name; name++)
        lp_text_add(line, *name == '\n' ? " " : name, 1);
    lp_text_puts(line, "\n");
}

void lp_merged_runs_lines(const llmperf_profile *profile, struct lp_text *lines)
{
    const char *merged = llmperf_profile_fact(profile, LP_MERGED_RUNS_FACT);
    const char *key = llmperf_profile_fact(profile, LP_RUN_KEY_FACT);

    if (merged) {
        lp_text_puts(lines, merged);
        return;
    }
    if (key)
        lp_text_printf(lines, "%.*s", LP_RUN_KEY_DIGITS, key);
    else
        put_content_key(profile, lines);
    lp_text_puts(lines, " ");
    put_name(profile, lines);
}

/* Runs found so far: key -> number of the profile that contains it, from 1. */
struct found {
    struct lp_hashmap holders;
    struct lp_text *names;
    size_t runs, first_length; /* of the first name */
};

static int take_run(struct found *found, const char *line, size_t length, size_t holder)
{
    uint64_t key = strtoull(line, NULL, 16);
    const char *name = length > LP_RUN_KEY_DIGITS ? line + LP_RUN_KEY_DIGITS + 1 : line + length;
    int name_length = (int)(line + length - name);
    uint32_t other = lp_hashmap_get(&found->holders, key, 0);

    if (other != LP_HASHMAP_NONE)
        return lp_error(LLMPERF_EINVAL,
                        "the run %.*s would be counted twice: input %" PRIu32
                        " and input %zu both contain it; give each run once, and no run that a "
                        "given merged run already contains",
                        name_length, name, other, holder);
    lp_text_printf(found->names, "%s%.*s", found->names->length ? " " : "", name_length, name);
    if (found->runs++ == 0)
        found->first_length = found->names->length;
    return lp_hashmap_put(&found->holders, key, 0, (uint32_t)holder);
}

static int take_profile(struct found *found, const llmperf_profile *profile, size_t holder,
                        struct lp_text *lines)
{
    size_t at = lines->length;
    int status = 0;

    lp_merged_runs_lines(profile, lines);
    while (!lines->failed && at < lines->length && status == 0) {
        size_t length = strcspn(lines->bytes + at, "\n");

        status = take_run(found, lines->bytes + at, length, holder);
        at += length + 1;
    }
    return status;
}

/* The name in documents must differ from the first run's. */
static int set_name(const struct found *found, llmperf_profile *out)
{
    struct lp_text name = { NULL, 0, 0, false };
    int status;

    if (found->runs < 2 || found->first_length == 0)
        return 0;
    lp_text_printf(&name, "%.*s and %zu more", (int)found->first_length, found->names->bytes,
                   found->runs - 1);
    status = name.failed ? lp_error(LLMPERF_ENOMEM, "out of memory")
                         : lp_profile_set_fact(out, "run_id", name.bytes);
    lp_text_clear(&name);
    return status;
}

int lp_merged_runs_set(const llmperf_profile *const *profiles, size_t count, llmperf_profile *out)
{
    struct lp_text lines = { NULL, 0, 0, false }, names = { NULL, 0, 0, false };
    struct found found = { .names = &names };
    int status = 0;

    for (size_t i = 0; i < count && status == 0; i++)
        status = take_profile(&found, profiles[i], i + 1, &lines);
    if (status == 0 && (lines.failed || names.failed))
        status = lp_error(LLMPERF_ENOMEM, "out of memory");
    if (status == 0 && (status = lp_profile_set_fact(out, LP_MERGED_RUNS_FACT, lines.bytes)) == 0)
        status = lp_profile_set_fact(out, "merged_from", names.bytes);
    if (status == 0)
        status = set_name(&found, out);
    lp_hashmap_clear(&found.holders);
    lp_text_clear(&lines);
    lp_text_clear(&names);
    return status;
}
