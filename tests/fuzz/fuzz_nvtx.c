/* SPDX-License-Identifier: Apache-2.0 */
/* Names of NVTX ranges: a domain, a text and a wide text, each up to a NUL. The label is clean
 * UTF-8 of bounded length with a domain and a name, whatever they hold. */
#include <string.h>

#include "lib/base/utf8.h"
#include "lib/regions/nvtx_in.h"
#include "lib/record/paths.h"
#include "tests/fuzz/fuzz.h"

#define TEXT_MOST 4096

static void check_label(uint32_t node)
{
    const char *label = lp_path_get(node)->label, *at = strchr(label, '@');
    char clean[2 * LLMPERF_LABEL_BYTES];

    if (!at || at == label || !at[1] || strlen(label) > LLMPERF_LABEL_BYTES + 32 ||
        strcmp(lp_path_get(node)->name, at + 1) != 0)
        abort();
    lp_text_sanitise(clean, sizeof(clean), label);
    if (strcmp(clean, label) != 0)
        abort();
}

static void check_range(const char *domain_name, const char *text)
{
    const struct lp_nvtx_domain *domain = lp_nvtx_domain_of(domain_name);
    const struct lp_nvtx_string *string = lp_nvtx_string_of(domain, text);
    struct lp_range range;
    uint32_t node;

    if (!string || strcmp(string->text, text) != 0 || lp_nvtx_domain_of(domain->name) != domain)
        abort();
    node = lp_nvtx_node(lp_thread_get(), LP_PATH_ROOT, &domain, text, NULL, &range);
    if (node != LP_PATH_UNKNOWN)
        check_label(node);
    check_label(lp_path_intern(LP_PATH_ROOT, text));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char text[TEXT_MOST + 1], narrow[TEXT_MOST], *name, *wide;
    wchar_t characters[TEXT_MOST / sizeof(wchar_t) + 1] = { 0 };

    if (size > TEXT_MOST)
        return 0;
    memcpy(text, bytes, size);
    text[size] = '\0';
    name = text + strnlen(text, size);
    name += name < text + size;
    check_range(text, name);
    wide = name + strlen(name);
    if (wide < text + size)
        memcpy(characters, wide + 1, (size_t)(text + size - wide - 1));
    check_range(lp_nvtx_narrow(narrow, sizeof(narrow), characters), name);
    check_range(text, narrow);
    return 0;
}
