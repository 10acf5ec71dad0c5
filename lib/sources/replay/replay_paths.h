/* SPDX-License-Identifier: Apache-2.0 */
/** Paths of a recording in this process. A recording has the names of ranges for which there was no
 * rule when it was made: the rules of today are applied to them. Internal to lib/sources/replay. */
#ifndef LP_SOURCES_REPLAY_PATHS_H
#define LP_SOURCES_REPLAY_PATHS_H

#include "lib/record/range_rules.h"
#include "lib/record/record.h"

struct lp_path_use {
    bool hidden; /* no region of its own: the node is its parent's */
    struct lp_range_work work;
};

/** By recorded path. */
struct lp_replay_paths {
    LP_VECTOR(uint32_t) nodes;
    LP_VECTOR(struct lp_path_use) uses;
};

struct lp_host_records {
    struct lp_record *items;
    size_t count, capacity;
};

/** @param parent  Recorded path; ignored for the first two, which are fixed. 0 or LLMPERF_ENOMEM.
 */
int lp_replay_paths_add(struct lp_replay_paths *paths, uint64_t parent, const char *label);

/** Append what the recorded host record is in this process: one record, none, or a begin and its
 * counts. 0 or LLMPERF_ENOMEM. */
int lp_replay_paths_pass(const struct lp_replay_paths *paths, const struct lp_record *recorded,
                         struct lp_host_records *records);

#endif
