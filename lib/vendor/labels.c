/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lib/record/paths.h"
#include "lib/record/range_rules.h"
#include "lib/vendor/timeline.h"
#include "lib/vendor/vendor.h"

/* The labels must be equal to those of live NVTX ranges (lib/regions/nvtx_names.c), so that
 * imported and live runs can be compared. */
#define DEFAULT_DOMAIN "default"
#define OUR_DOMAIN     "LLM"

static bool has_domain(const char *name, const char *domain)
{
    size_t length = strlen(domain);

    return strncmp(name, domain, length) == 0 && name[length] == '@';
}

/* "LLM@prefill" in domain LLM or in the default domain is LLM's "prefill": Python programs write it
 * like that. The first '@' of a label ends its domain. */
void lp_range_label(struct lp_text *label, const char *domain, const char *name, uint32_t flags)
{
    struct lp_range range;
    size_t start = label->length;

    domain = domain && *domain              ? domain
             : has_domain(name, OUR_DOMAIN) ? OUR_DOMAIN
                                            : DEFAULT_DOMAIN;
    if (has_domain(name, domain))
        name += strlen(domain) + 1;
    for (; *domain; domain++)
        lp_text_add(label, *domain == '@' ? "_" : domain, 1);
    lp_text_puts(label, "@");
    lp_text_puts(label, name);
    /* What is more than another name is applied with the path: lp_range_node(). */
    if (!label->failed && !(flags & LLMPERF_IMPORT_EXACT_NAMES) &&
        lp_range_find_label(label->bytes + start, &range) && range.work.count == 0 &&
        range.rule->kind == LLMPERF_REGION_OPERATOR && !range.rule->once) {
        label->length = start;
        lp_text_puts(label, range.label);
    }
}

uint32_t lp_range_node(uint32_t parent, const char *label, uint32_t flags)
{
    struct lp_range range;

    if (flags & LLMPERF_IMPORT_EXACT_NAMES || !lp_range_find_label(label, &range))
        return lp_path_intern(parent, label);
    return lp_range_is_part(&range, parent) ? parent : lp_range_intern(&range, parent);
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

uint8_t lp_nsys_call_kind(const char *name)
{
    static const char *const launches[] = { "cudaLaunchKernel", "cudaLaunchCooperative",
                                            "cuLaunchKernel",   "cuLaunchCooperative",
                                            "cudaLaunch_v",     "cuLaunch_v" };

    for (size_t i = 0; i < LP_LENGTH(launches); i++)
        if (starts_with(name, launches[i]))
            return LP_CALL_KERNEL;
    if (starts_with(name, "cudaGraphLaunch") || starts_with(name, "cuGraphLaunch"))
        return LP_CALL_GRAPH;
    return strstr(name, "emcpy") || strstr(name, "emset") ? LP_CALL_MEMORY : LP_CALL_OTHER;
}
