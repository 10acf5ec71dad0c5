/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/record/paths.h"
#include "lib/sources/replay/replay_paths.h"

int lp_replay_paths_add(struct lp_replay_paths *paths, uint64_t recorded_parent, const char *label)
{
    bool fixed = paths->nodes.count <= LP_PATH_OTHER;
    uint32_t parent = fixed ? LP_PATH_ROOT : paths->nodes.items[recorded_parent];
    uint32_t node = fixed ? (uint32_t)paths->nodes.count : parent;
    struct lp_path_use use = { .hidden = false };
    struct lp_range range;

    if (!fixed && lp_range_find_label(label, &range)) {
        use = (struct lp_path_use){ lp_range_is_part(&range, parent), range.work };
        node = use.hidden ? parent : lp_range_intern(&range, parent);
    } else if (!fixed) {
        node = lp_path_intern(parent, label);
    }
    return lp_vector_push(&paths->uses, use) < 0 ? LLMPERF_ENOMEM
                                                 : lp_vector_push(&paths->nodes, node);
}

int lp_replay_paths_pass(const struct lp_replay_paths *paths, const struct lp_record *recorded,
                         struct lp_host_records *records)
{
    bool begin = recorded->kind == LP_RECORD_REGION_BEGIN;
    const struct lp_path_use *use;
    struct lp_record record = *recorded;
    int status;

    if (record.kind == LP_RECORD_REQUEST)
        return lp_vector_push(records, record);
    use = &paths->uses.items[record.node];
    if (use->hidden &&
        (begin || record.kind == LP_RECORD_REGION_END || record.kind == LP_RECORD_RANGE))
        return 0;
    record.node = paths->nodes.items[record.node];
    status = lp_vector_push(records, record);
    if (!begin || record.detail == LP_BEGIN_BEFORE)
        return status;
    for (uint32_t i = 0; i < use->work.count && status == 0; i++)
        status = lp_vector_push(records, (struct lp_record){ record.time_ns, use->work.amounts[i],
                                                             record.node, LP_RECORD_COUNT,
                                                             (uint16_t)use->work.quantities[i] });
    return status;
}
