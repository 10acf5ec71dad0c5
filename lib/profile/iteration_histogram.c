/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "lib/base/status.h"
#include "lib/statistics/histogram.h"
#include "lib/profile/data.h"
#include "lib/profile/fields.h"
#include "lib/profile/profile.h"

int lp_profile_row_histogram(const llmperf_profile *profile, unsigned row, size_t index,
                             struct lp_bucket **buckets_out, size_t *count_out)
{
    LP_VECTOR(struct lp_bucket) buckets = { NULL, 0, 0 };
    struct lp_histogram_position position = { 0, 0 };
    struct lp_histogram_bucket bucket;
    const struct lp_blob *blob;
    int status;

    if (index >= lp_row_count(profile, row))
        return lp_error(LLMPERF_EINVAL, "no statistics row %zu", index);
    blob = (const struct lp_blob *)(const void *)((const char *)lp_row_at(profile, row, index) +
                                                  lp_row_kinds[row].size);
    while ((status = lp_histogram_next(blob->bytes, blob->size, &position, &bucket)) > 0) {
        struct lp_bucket found = { (double)bucket.low / 1e6, (double)bucket.high / 1e6,
                                   bucket.count };

        if ((status = lp_vector_push(&buckets, found)) < 0)
            break;
    }
    if (status < 0) {
        lp_vector_clear(&buckets);
        return status;
    }
    *buckets_out = buckets.items;
    *count_out = buckets.count;
    return 0;
}
