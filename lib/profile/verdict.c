/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/profile/profile.h"
#include "lib/profile/verdict.h"
#include "llmperf/profile.h"

/* Numbers that must be 0 in a complete profile, with a message. Causes first: a lost record also
 * shows in later numbers. */
struct fault {
    size_t offset;
    const char *sentence;
};

static const struct fault faults[] = {
    { offsetof(llmperf_ledger, regions_dropped),
      "%" PRIu64 " host records were dropped because a thread's ring was full (raise "
      "ring_bytes), or graph events were dropped because there were too many" },
    { offsetof(llmperf_ledger, records_dropped),
      "%" PRIu64 " device records were dropped (raise pool_bytes)" },
    { offsetof(llmperf_ledger, source_errors),
      "%" PRIu64 " flush calls of CUPTI failed; is the device lost, or does another tool use "
      "CUPTI?" },
    { offsetof(llmperf_ledger, launches_duplicate),
      "%" PRIu64 " launches had the correlation id of another one: their kernels may be counted in "
      "the wrong region (another tool has reset the ids)" },
    { offsetof(llmperf_ledger, launches_missing),
      "%" PRIu64 " kernel launches have no kernel record (kernels that are loaded while the first "
      "session starts are never recorded: call llmperf_prewarm() before loading them)" },
    { offsetof(llmperf_ledger, graph_records_missing),
      "%" PRIu64 " records of CUDA graphs are missing: some launches of a graph brought fewer "
      "records than others" },
    { offsetof(llmperf_ledger, kernels_unattributed),
      "%" PRIu64 " kernels ran whose launch was not seen; they are counted outside of all regions "
      "(start the session "
      "before the work it measures)" },
    { offsetof(llmperf_ledger, records_invalid_time),
      "%" PRIu64 " device records had impossible times and were skipped" },
    { offsetof(llmperf_ledger, records_incomplete),
      "%" PRIu64 " device records had no start or end time and were skipped" },
    { offsetof(llmperf_ledger, records_duplicate),
      "%" PRIu64 " device records came twice; each launch was counted once" },
    { offsetof(llmperf_ledger, records_before_launch),
      "%" PRIu64 " device records begin before their launch: the clocks of host and device differ; "
      "durations are correct, gaps and idle times are not" },
    { offsetof(llmperf_ledger, regions_over_limit),
      "%" PRIu64
      " regions were above the limit of paths and are counted together in \"LLM@(too many "
      "paths)\": use region names that do not change with every call, or raise path_limit" },
    { offsetof(llmperf_ledger, records_late),
      "%" PRIu64 " device records came too late to be added to the GPU busy time, which is too "
      "short by at most their durations" },
};

/* Of files of another profiler: nothing that a session could have done. */
static const struct fault imported_faults[] = {
    { offsetof(llmperf_ledger, launches_missing),
      "%" PRIu64 " kernel launches have no kernel record: the profiler did not record them" },
    { offsetof(llmperf_ledger, kernels_unattributed),
      "%" PRIu64 " kernels ran whose launch was not seen; they are counted outside of all regions "
      "(record again with nsys profile --trace=cuda,nvtx, from before the work it measures)" },
};

#define FAULTS LP_LENGTH(faults)

static uint64_t value_of(const llmperf_ledger *ledger, const struct fault *fault)
{
    return *(const uint64_t *)(const void *)((const char *)ledger + fault->offset);
}

static const char *sentence_of(size_t index, bool imported)
{
    for (size_t i = 0; imported && i < LP_LENGTH(imported_faults); i++)
        if (imported_faults[i].offset == faults[index].offset)
            return imported_faults[i].sentence;
    return faults[index].sentence;
}

static bool fault_line(const llmperf_ledger *ledger, size_t index, bool imported, char *line,
                       size_t size)
{
    for (size_t i = 0; i < FAULTS; i++) {
        if (value_of(ledger, &faults[i]) == 0 || index-- > 0)
            continue;
        snprintf(line, size, sentence_of(i, imported), value_of(ledger, &faults[i]));
        return true;
    }
    return false;
}

bool lp_ledger_fault(const llmperf_ledger *ledger, size_t index, char *line, size_t size)
{
    return fault_line(ledger, index, false, line, size);
}

static bool has_fault(const llmperf_ledger *ledger)
{
    for (size_t i = 0; i < FAULTS; i++)
        if (value_of(ledger, &faults[i]) > 0)
            return true;
    return false;
}

/* Only graphs were launched and no record arrived. While they still run this is no fault. */
static bool is_silent_of_graphs(const llmperf_ledger *ledger)
{
    return ledger->graph_launches > 0 && ledger->launches_expected == 0 &&
           ledger->graph_records_missing > 0 && ledger->kernels_seen == 0 &&
           ledger->memory_seen == 0;
}

uint32_t lp_ledger_verdict(const llmperf_ledger *ledger)
{
    if (ledger->verdict == LLMPERF_VERDICT_NO_DEVICE || ledger->verdict == LLMPERF_VERDICT_DEAD ||
        ledger->verdict == LLMPERF_VERDICT_INCOMPLETE)
        return ledger->verdict;
    if (ledger->launches_expected > 0 && ledger->kernels_seen == 0 && ledger->launches_missing > 0)
        return LLMPERF_VERDICT_DEAD;
    if (is_silent_of_graphs(ledger))
        return LLMPERF_VERDICT_DEAD;
    if (has_fault(ledger))
        return LLMPERF_VERDICT_INCOMPLETE;
    return ledger->sampled_fraction < 1 ? LLMPERF_VERDICT_SAMPLED : LLMPERF_VERDICT_COMPLETE;
}

static int add_faults(llmperf_profile *profile)
{
    char line[512];

    for (size_t i = 0; fault_line(&profile->ledger, i, profile->imported, line, sizeof(line)); i++)
        if (lp_profile_add_problem(profile, "%s", line) < 0)
            return LLMPERF_ENOMEM;
    return 0;
}

/* Not a fault: the driver also makes memcpys and memsets of its own. */
static uint64_t count_unseen_memory(const llmperf_profile *profile)
{
    uint64_t count = 0;

    for (size_t i = 0; i < profile->kernels.count; i++) {
        const llmperf_kernel_stats *row = &profile->kernels.items[i].stats;

        if (!row->region &&
            (row->kind == LLMPERF_ACTIVITY_MEMCPY || row->kind == LLMPERF_ACTIVITY_MEMSET))
            count += row->calls;
    }
    return count;
}

/* No faults, but numbers that explain others. */
static const struct fault notes[] = {
    { offsetof(llmperf_ledger, regions_truncated),
      "%" PRIu64 " region calls were open at the start or the end of the session, or when "
      "their thread ended; their wall times are unknown and not in the totals" },
    { offsetof(llmperf_ledger, regions_unbalanced),
      "%" PRIu64 " region ends had no begin and were ignored" },
    { offsetof(llmperf_ledger, regions_abandoned),
      "%" PRIu64 " regions or NVTX ranges were still open when an enclosing region ended, "
      "and were closed with it; their wall times are not in the totals" },
    { offsetof(llmperf_ledger, graph_nodes_unmapped),
      "%" PRIu64
      " kernels, memcpys and memsets of CUDA graphs have no known capture region; their time "
      "is assigned to the region that launched the graph, and captured_in gives the reason "
      "(capture the graph during the session to see its regions)" },
    { offsetof(llmperf_ledger, memory_missing),
      "%" PRIu64 " memcpy and memset calls have no record; those of zero bytes never have one" },
    { offsetof(llmperf_ledger, records_foreign),
      "%" PRIu64 " device records were enabled by another tool in the process; they were skipped" },
    { offsetof(llmperf_ledger, names_over_limit),
      "%" PRIu64 " device records have names beyond the limit of 65,536; they are counted together "
      "as [other names]" },
    { offsetof(llmperf_ledger, graphs_device_launchable),
      "%" PRIu64
      " graphs were instantiated for launch from the device; CUPTI reports no kernels of "
      "such launches, so their time is missing" },
};

static int add_notes(llmperf_profile *profile)
{
    llmperf_ledger ledger = profile->ledger;
    uint64_t count = count_unseen_memory(profile);

    if (count > 0 && lp_profile_note(profile,
                                     "%" PRIu64 " memcpys and memsets have no known call; they "
                                     "are counted outside of all regions",
                                     count) < 0)
        return LLMPERF_ENOMEM;
    if (ledger.verdict == LLMPERF_VERDICT_NO_DEVICE)
        ledger.memory_missing = 0;
    for (size_t i = 0; i < LP_LENGTH(notes); i++) {
        count = value_of(&ledger, &notes[i]);
        if (count > 0 && count != LLMPERF_UNKNOWN &&
            lp_profile_note(profile, notes[i].sentence, count) < 0)
            return LLMPERF_ENOMEM;
    }
    return 0;
}

int lp_profile_judge(llmperf_profile *profile)
{
    llmperf_ledger *ledger = &profile->ledger;

    if (add_notes(profile) < 0 || add_faults(profile) < 0)
        return LLMPERF_ENOMEM;
    ledger->verdict = lp_ledger_verdict(ledger);
    if (ledger->verdict == LLMPERF_VERDICT_NO_DEVICE) { /* nothing was counted: unknown, not 0 */
        ledger->launches_expected = ledger->graph_launches = LLMPERF_UNKNOWN;
        ledger->memory_calls = ledger->launches_missing = LLMPERF_UNKNOWN;
        ledger->graphs_device_launchable = LLMPERF_UNKNOWN;
        ledger->sampled_fraction = NAN;
        return 0;
    }
    if (ledger->verdict == LLMPERF_VERDICT_SAMPLED && !(ledger->sampled_fraction > 0) &&
        ledger->kernels_seen == 0)
        return lp_profile_add_problem(
            profile, "no call was collected: tier light samples calls of prefill and decode steps, "
                     "and the program made none. Mark them (llmperf_prefill_begin(), "
                     "llmperf_decode_step_begin(), or NVTX ranges prefill and decode_step), name "
                     "other regions in session.sample_regions, or use tier deep");
    if (ledger->verdict != LLMPERF_VERDICT_DEAD)
        return 0;
    return lp_profile_add_problem(
        profile,
        profile->imported
            ? "%" PRIu64 " %s were launched, but the file has no records of them: record "
              "again with nsys profile --trace=cuda,nvtx"
            : "%" PRIu64 " %s were launched, but no records were received: CUPTI does "
              "not work in this process; restart the program, and start the session "
              "or call llmperf_prewarm() before it loads kernels",
        ledger->launches_expected > 0 ? ledger->launches_expected : ledger->graph_launches,
        ledger->launches_expected > 0 ? "kernels" : "graphs");
}
