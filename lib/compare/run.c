/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a run into the table of a comparison. */
#include "lib/compare/run.h"

#include "lib/base/status.h"
#include "lib/compare/reader.h"

static int report_ranks(const struct lp_members *members, struct lp_compare_ranks *ranks)
{
    for (size_t i = 0; i < members->with_gpu; i++)
        if (lp_vector_push(&ranks->processes, members->processes.items[i].number) < 0)
            return LLMPERF_ENOMEM;
    ranks->gpus = members->gpus.count;
    ranks->one_gpu_each = members->one_gpu_each;
    ranks->several = members->with_gpu > 1 || members->gpus.count > 1;
    return 0;
}

static int read_all(struct lp_compare_reader *reader, struct lp_compare_ranks *ranks)
{
    int status = lp_findings_of(reader->profile, &reader->findings);

    if (status == 0)
        status = lp_members_find(&reader->members, reader->profile);
    if (status == 0)
        status = report_ranks(&reader->members, ranks);
    if (status == 0)
        status = lp_compare_push_zeros(&reader->process_ms, reader->members.processes.count);
    if (status == 0)
        status = lp_compare_push_zeros(&reader->gpu_ms, reader->members.gpus.count);
    if (status == 0)
        status = lp_compare_read_regions(reader);
    if (status == 0)
        status = lp_compare_read_kernels(reader);
    if (status == 0)
        status = lp_compare_put_walls(reader, ranks->several);
    if (status == 0)
        status = lp_compare_put_kernels(reader, ranks->several);
    if (status == 0)
        status = lp_compare_put_iterations(reader);
    if (status == 0)
        status = lp_compare_put_requests(reader);
    return status == 0 && ranks->several ? lp_compare_put_stages(reader) : status;
}

int lp_compare_read(struct lp_compare_table *table, size_t run, const llmperf_profile *profile,
                    struct lp_compare_ranks *ranks)
{
    struct lp_compare_reader reader = { .table = table, .run = run, .profile = profile };
    int status = read_all(&reader, ranks);

    lp_members_clear(&reader.members);
    lp_vector_clear(&reader.places);
    lp_vector_clear(&reader.shares);
    lp_vector_clear(&reader.walls);
    lp_vector_clear(&reader.process_ms);
    lp_vector_clear(&reader.gpu_ms);
    lp_vector_clear(&reader.rows);
    lp_vector_clear(&reader.sums);
    lp_hashmap_clear(&reader.place_keys);
    lp_hashmap_clear(&reader.row_keys);
    lp_hashmap_clear(&reader.wall_keys);
    return status < 0 ? lp_out_of_memory() : 0;
}
