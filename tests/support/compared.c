/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/compared.h"
#include "llmperf/output.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct lp_comparison compare_profiles_at(const llmperf_profile *base, const llmperf_profile *fresh,
                                         double threshold)
{
    const struct lp_compare_runs sides[] = { { &base, 1 }, { &fresh, 1 } };
    struct lp_comparison comparison = { .reason = "" };

    assert_int_equal(lp_compare(&sides[0], &sides[1], threshold, &comparison), 0);
    return comparison;
}

struct lp_comparison compare_profiles(const llmperf_profile *base, const llmperf_profile *fresh)
{
    return compare_profiles_at(base, fresh, 0.05);
}

struct lp_compare_row compared_row(const struct lp_comparison *comparison, const char *region,
                                   const char *quantity)
{
    for (size_t i = 0; i < comparison->rows.count; i++)
        if (strcmp(comparison->rows.items[i].key.region, region) == 0 &&
            strcmp(comparison->rows.items[i].key.quantity, quantity) == 0)
            return comparison->rows.items[i];
    fail_msg("no row %s of %s", quantity, region);
    return (struct lp_compare_row){ .change = NAN };
}

int compare_pair(const llmperf_profile *base, const llmperf_profile *fresh,
                 double threshold_percent, uint32_t format, char **text_out, uint64_t *slower_out)
{
    return llmperf_runs_compare(&base, 1, &fresh, 1, threshold_percent, format, text_out,
                                slower_out);
}
