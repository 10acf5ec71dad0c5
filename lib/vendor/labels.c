/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lib/vendor/timeline.h"
#include "lib/vendor/vendor.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* The labels must be equal to those of live NVTX ranges (lib/regions/nvtx_names.c), so that
 * imported and live runs can be compared. */
#define DEFAULT_DOMAIN "default"
#define OUR_DOMAIN     "LLM"

/* Suffix that torch.autograd.profiler.emit_nvtx() appends to an operator's name. */
static size_t length_without_counters(const char *name)
{
    static const char *const counters[] = { ", op_id = ", ", seq = ", ", sizes = ", ", stashed seq",
                                            ", input_op_ids = " };
    size_t length = strlen(name);

    for (size_t i = 0; i < LENGTH(counters); i++) {
        const char *at = strstr(name, counters[i]);

        if (at && at > name && (size_t)(at - name) < length)
            length = (size_t)(at - name);
    }
    return length;
}

static bool has_domain(const char *name, const char *domain)
{
    size_t length = strlen(domain);

    return strncmp(name, domain, length) == 0 && name[length] == '@';
}

/* "LLM@prefill" in domain LLM or in the default domain is LLM's "prefill": Python programs write it
 * like that. The first '@' of a label ends its domain. */
void lp_range_label(struct lp_text *label, const char *domain, const char *name, uint32_t flags)
{
    domain = domain && *domain              ? domain
             : has_domain(name, OUR_DOMAIN) ? OUR_DOMAIN
                                            : DEFAULT_DOMAIN;
    if (has_domain(name, domain))
        name += strlen(domain) + 1;
    for (; *domain; domain++)
        lp_text_add(label, *domain == '@' ? "_" : domain, 1);
    lp_text_puts(label, "@");
    lp_text_add(label, name,
                flags & LLMPERF_IMPORT_EXACT_NAMES ? strlen(name) : length_without_counters(name));
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

    for (size_t i = 0; i < LENGTH(launches); i++)
        if (starts_with(name, launches[i]))
            return LP_CALL_KERNEL;
    if (starts_with(name, "cudaGraphLaunch") || starts_with(name, "cuGraphLaunch"))
        return LP_CALL_GRAPH;
    return strstr(name, "emcpy") || strstr(name, "emset") ? LP_CALL_MEMORY : LP_CALL_OTHER;
}
