/* SPDX-License-Identifier: Apache-2.0 */
/* Public functions that compare runs. */
#include "lib/compare/text.h"

#include "lib/base/status.h"
#include "llmperf/output.h"

static int write_text(const struct lp_compared *compared, uint32_t format, char **text_out)
{
    struct lp_text text = { NULL, 0, 0, false };

    int status = 0;

    if (format == LLMPERF_TEXT_HTML)
        status = lp_compare_html(compared, &text);
    else if (format == LLMPERF_TEXT_JSON)
        lp_compare_json(compared, &text);
    else
        lp_compare_md(compared, &text);
    if (status < 0) {
        lp_text_clear(&text);
        return status;
    }
    return lp_text_take(&text, text_out);
}

static int check_runs(const struct lp_compare_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++)
        if (!runs->profiles[i])
            return lp_error(LLMPERF_EINVAL, "profile %zu is NULL", i);
    return 0;
}

int llmperf_runs_compare(const llmperf_profile *const *base, size_t base_count,
                         const llmperf_profile *const *fresh, size_t fresh_count,
                         double threshold_percent, uint32_t format, char **text_out,
                         uint64_t *slower_out)
{
    const struct lp_compare_runs sides[] = { { base, base_count }, { fresh, fresh_count } };
    struct lp_comparison comparison = { .reason = "" };
    int status;

    if (!base || base_count == 0 || !fresh || fresh_count == 0 || !text_out)
        return lp_error(LLMPERF_EINVAL, "profiles of both sides and text_out are required");
    if (!(threshold_percent >= 0) || format > LLMPERF_TEXT_HTML)
        return lp_error(
            LLMPERF_EINVAL,
            "the threshold must be a percentage, 0 or more, and the format one of LLMPERF_TEXT_");
    if ((status = check_runs(&sides[0])) < 0 || (status = check_runs(&sides[1])) < 0)
        return status;
    status = lp_compare(&sides[0], &sides[1], threshold_percent / 100, &comparison);
    if (status == 0)
        status = write_text(&(struct lp_compared){ &comparison, &sides[0], &sides[1] }, format,
                            text_out);
    if (status == 0 && slower_out)
        *slower_out = comparison.slower;
    if (status == 0 && comparison.reason[0])
        status = lp_error(LLMPERF_ENOTCOMPARABLE, "not comparable: %s", comparison.reason);
    lp_compare_clear(&comparison);
    return status;
}
