/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/store/merge_processes.h"

#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/profile/profile.h"

#define PROCESS_IDS UINT32_C(4194304) /* process ids of Linux are below 2^22 */
#define RANK_DIGITS 9

int lp_merged_process(struct lp_merged_processes *processes, size_t part, uint32_t process_id,
                      uint32_t *merged_out)
{
    uint32_t known = lp_hashmap_get(&processes->ids, process_id, part + 1);

    *merged_out = known != LP_HASHMAP_NONE ? known : process_id;
    if (known != LP_HASHMAP_NONE)
        return 0;
    for (size_t shift = 0; shift < UINT32_MAX / PROCESS_IDS &&
                           lp_hashmap_get(&processes->ids, *merged_out, 0) != LP_HASHMAP_NONE;
         shift++)
        *merged_out += PROCESS_IDS;
    return lp_hashmap_put(&processes->ids, *merged_out, 0, 1) < 0 ||
                   lp_hashmap_put(&processes->ids, process_id, part + 1,
                                  *merged_out == LP_HASHMAP_NONE ? 0 : *merged_out) < 0
               ? LLMPERF_ENOMEM
               : 0;
}

/* Length of the next word of a list; 0 at its end. */
static size_t next_word(const char **list)
{
    *list += strspn(*list, " ");
    return strcspn(*list, " ");
}

static bool is_rank(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isdigit((unsigned char)text[i]))
            return false;
    return length > 0 && length <= RANK_DIGITS;
}

/* Value of the first of these variables (up to NULL) that env.json has as a number; -1: none. */
static int64_t first_number(const llmperf_profile *profile, const char *const *variables,
                            const char **variable_out)
{
    const char *env = llmperf_profile_fact(profile, "env");
    json_t *root = env ? json_loads(env, 0, NULL) : NULL;
    const json_t *values = json_object_get(root, "variables");
    int64_t number = -1;

    for (; *variables && number < 0; variables++) {
        const char *value = json_string_value(json_object_get(values, *variables));

        *variable_out = *variables;
        if (value && is_rank(value, strlen(value)))
            number = strtoll(value, NULL, 10);
    }
    json_decref(root);
    return number;
}

/* Rank from the launcher of a single process; -1: none. Innermost launcher first: a Slurm job may
 * start a launcher that starts the ranks. */
static int64_t launched_as(const llmperf_profile *profile)
{
    static const char *const variables[] = { "RANK",     "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                             "PMI_RANK", "SLURM_PROCID",         NULL };
    const char *variable;

    return first_number(profile, variables, &variable);
}

bool lp_profile_rank_count(const llmperf_profile *profile, struct lp_rank_count *ranks_out)
{
    static const char *const variables[] = { "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                             "SLURM_STEP_NUM_TASKS", NULL };
    int64_t count = first_number(profile, variables, &ranks_out->variable);

    ranks_out->count = count > 0 ? (uint64_t)count : 0;
    return count > 0;
}

int64_t lp_profile_rank(const llmperf_profile *profile, uint32_t process_id)
{
    const char *ids = llmperf_profile_fact(profile, "process_id");
    const char *ranks = llmperf_profile_fact(profile, LP_RANK_FACT);
    size_t length;

    if (!ids || !strchr(ids, ' '))
        return ranks && is_rank(ranks, strlen(ranks)) ? strtoll(ranks, NULL, 10)
                                                      : launched_as(profile);
    for (; ranks && (length = next_word(&ids)) > 0; ids += length) {
        size_t rank_length = next_word(&ranks);

        if (is_rank(ids, length > RANK_DIGITS ? RANK_DIGITS : length) &&
            strtoull(ids, NULL, 10) == process_id)
            return is_rank(ranks, rank_length) ? strtoll(ranks, NULL, 10) : -1;
        ranks += rank_length;
    }
    return -1;
}

/* NULL: it is not known which process it was. */
static char *identity_of(const llmperf_profile *profile, uint32_t id)
{
    const char *env = llmperf_profile_fact(profile, "env");
    json_t *root = env ? json_loads(env, 0, NULL) : NULL;
    const char *boot = json_string_value(json_object_get(json_object_get(root, "host"), "boot_id"));
    const char *started = llmperf_profile_fact(profile, LP_STARTED_FACT);
    struct lp_text text = { 0 };

    if (boot && started)
        lp_text_printf(&text, "%s %" PRIu32 " %s", boot, id, started);
    json_decref(root);
    return text.bytes;
}

/* Is the process of the part one that an earlier part has? Else it is known from now on. */
static int find_known(struct lp_merged_processes *processes, size_t part,
                      const llmperf_profile *profile, uint32_t id, bool *found_out)
{
    struct lp_known_process new = { identity_of(profile, id), 0 };
    int status;

    *found_out = false;
    for (size_t i = 0; new.identity &&i < processes->known.count; i++) {
        if (strcmp(processes->known.items[i].identity, new.identity) != 0)
            continue;
        *found_out = true;
        free(new.identity);
        return lp_hashmap_put(&processes->ids, id, part + 1, processes->known.items[i].merged_id);
    }
    status = lp_merged_process(processes, part, id, &new.merged_id);
    if (!new.identity)
        return status;
    if (status < 0 || lp_vector_push(&processes->known, new) < 0) {
        free(new.identity);
        return LLMPERF_ENOMEM;
    }
    return 0;
}

static void list_process(struct lp_merged_processes *processes, const char *id, int64_t rank)
{
    const char *gap = processes->listed.length ? " " : "";

    lp_text_printf(&processes->listed, "%s%s", gap, id);
    if (rank < 0)
        lp_text_printf(&processes->ranks, "%s?", gap);
    else
        lp_text_printf(&processes->ranks, "%s%" PRId64, gap, rank);
    processes->ranks_known += rank >= 0;
}

int lp_merged_processes_add(struct lp_merged_processes *processes, size_t part,
                            const llmperf_profile *profile)
{
    const char *ids = llmperf_profile_fact(profile, "process_id");
    size_t length;
    int status = 0;

    if (!ids)
        list_process(processes, "?", -1);
    for (; ids && status == 0 && (length = next_word(&ids)) > 0; ids += length) {
        uint32_t id = (uint32_t)strtoul(ids, NULL, 10), merged;
        bool found = false;
        char text[16];

        if (*ids == '?') {
            list_process(processes, "?", -1);
            continue;
        }
        if (!strchr(llmperf_profile_fact(profile, "process_id"), ' '))
            status = find_known(processes, part, profile, id, &found);
        if (status < 0 || found)
            continue;
        status = lp_merged_process(processes, part, id, &merged);
        snprintf(text, sizeof(text), "%" PRIu32, merged);
        list_process(processes, text, lp_profile_rank(profile, id));
    }
    return status;
}

int lp_merged_processes_finish(const struct lp_merged_processes *processes, llmperf_profile *out)
{
    int status;

    if (processes->listed.failed || processes->ranks.failed)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    status = lp_profile_set_fact(out, "process_id", processes->listed.bytes);
    return status < 0 || processes->ranks_known == 0
               ? status
               : lp_profile_set_fact(out, LP_RANK_FACT, processes->ranks.bytes);
}

void lp_merged_processes_clear(struct lp_merged_processes *processes)
{
    for (size_t i = 0; i < processes->known.count; i++)
        free(processes->known.items[i].identity);
    lp_vector_clear(&processes->known);
    lp_hashmap_clear(&processes->ids);
    lp_text_clear(&processes->listed);
    lp_text_clear(&processes->ranks);
}
