/* SPDX-License-Identifier: Apache-2.0 */
/** NVTX ranges and regions opened and closed in any order, compared with a model of the rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/text.h"
#include "lib/record/paths.h"
#include "lib/regions/region_stack.h"
#include "tests/support/nvtx_calls.h"
#include "tests/support/play.h"

/* What the rule says, in the plainest way: a list of what was not ended, oldest first. */

#define MODEL_OPEN  4 /* live ones */
#define MODEL_NODES 4096

enum { OWN, DEFAULT, OTHER, DOMAINS };

static struct {
    struct {
        int domain;
        bool live;
        uint32_t node;
        char label[16];
    } list[MODEL_OPEN + LP_STACK_DROPPED + 1];
    int count, live;
    uint64_t abandoned, unbalanced;
    uint64_t ended[MODEL_NODES], dropped[MODEL_NODES];
} model;

static const void *other_domain;

static void remove_from_model(int at)
{
    model.live -= model.list[at].live;
    model.count--;
    memmove(&model.list[at], &model.list[at + 1],
            (size_t)(model.count - at) * sizeof(model.list[0]));
}

static void drop_in_model(int at)
{
    model.list[at].live = false;
    model.live--;
    model.abandoned++;
    model.dropped[model.list[at].node]++;
}

static void forget_in_model(void)
{
    int oldest = 0;

    while (model.list[oldest].live)
        oldest++;
    remove_from_model(oldest);
}

static void pop_in_model(int domain)
{
    int at = model.count - 1;

    while (at >= 0 && model.list[at].domain != domain)
        at--;
    if (at < 0) {
        model.unbalanced++;
        return;
    }
    if (model.list[at].live) {
        model.ended[model.list[at].node]++;
        for (int newer = at + 1; newer < model.count; newer++)
            if (model.list[newer].live)
                drop_in_model(newer);
    }
    remove_from_model(at);
    while (model.count - model.live > (int)LP_STACK_DROPPED)
        forget_in_model();
}

static void push(int domain, const char *name)
{
    struct lp_nvtx_attributes attributes = nvtx_named(name);

    if (domain == OWN)
        llmperf_region_begin(name);
    else if (domain == DEFAULT)
        nvtx.range_push_a(name);
    else
        nvtx.domain_range_push(other_domain, &attributes);
}

static void push_in_model(int domain, const char *name)
{
    static const char *const names[] = { "LLM", "default", "other" };

    snprintf(model.list[model.count].label, sizeof(model.list[0].label), "%s@%s", names[domain],
             name);
    model.list[model.count].domain = domain;
    model.list[model.count].live = true;
    model.list[model.count].node = lp_thread_get()->node;
    assert_true(model.list[model.count].node < MODEL_NODES);
    model.count++;
    model.live++;
}

static void pop(int domain)
{
    if (domain == OWN)
        llmperf_region_end();
    else if (domain == DEFAULT)
        nvtx.range_pop();
    else
        nvtx.domain_range_pop(other_domain);
}

static void compare_paths(int step)
{
    struct lp_text is = { 0 };
    char wanted[128] = "";

    for (int i = 0; i < model.count; i++)
        if (model.list[i].live)
            snprintf(wanted + strlen(wanted), sizeof(wanted) - strlen(wanted), "%s%s",
                     *wanted ? "/" : "", model.list[i].label);
    lp_path_print(&is, lp_thread_get()->node);
    if (strcmp(is.bytes ? is.bytes : "", wanted) != 0)
        fail_msg("step %d: %s, not %s", step, is.bytes ? is.bytes : "", wanted);
    lp_text_clear(&is);
}

static void compare_counts(const llmperf_profile *profile)
{
    for (uint32_t node = 1; node < MODEL_NODES && node < lp_path_bound(); node++) {
        llmperf_region_stats region;
        struct lp_text path = { 0 };

        if (model.ended[node] + model.dropped[node] == 0)
            continue;
        lp_path_print(&path, node);
        region = find_region(profile, path.bytes, -1);
        if (region.instances != model.ended[node] || region.truncated != model.dropped[node])
            fail_msg("%s: %lu ended and %lu dropped, not %lu and %lu", path.bytes,
                     (unsigned long)region.instances, (unsigned long)region.truncated,
                     (unsigned long)model.ended[node], (unsigned long)model.dropped[node]);
        lp_text_clear(&path);
    }
}

static void any_order_of_pushes_and_pops_is_what_the_rule_says(void **state)
{
    static const char *const names[] = { "a", "b" };
    llmperf_session *session = start_without_device();
    llmperf_profile *profile;
    uint32_t random = 1;

    (void)state;
    other_domain = nvtx.domain_create_a("other");
    for (int step = 0; step < 20000; step++) {
        int domain = (int)((random = random * 1664525u + 1013904223u) >> 16) % DOMAINS;
        const char *name = names[random >> 30 & 1];

        if (random >> 8 & 1 && model.live < MODEL_OPEN) {
            push(domain, name);
            push_in_model(domain, name);
        } else {
            pop(domain);
            pop_in_model(domain);
        }
        compare_paths(step);
    }
    for (int domain = OWN; domain < DOMAINS; domain++)
        for (int i = 0; i < MODEL_OPEN + (int)LP_STACK_DROPPED; i++) {
            pop(domain);
            pop_in_model(domain);
        }
    assert_int_equal(lp_thread_get()->depth, 0);
    profile = stop_session(session);
    assert_true(model.abandoned > 100);
    assert_int_equal(ledger_of(profile).regions_abandoned, model.abandoned);
    assert_int_equal(ledger_of(profile).regions_unbalanced, model.unbalanced);
    assert_int_equal(ledger_of(profile).regions_truncated, 0);
    compare_counts(profile);
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order_of_pushes_and_pops_is_what_the_rule_says),
    };

    return cmocka_run_group_tests(tests, listen_to_nvtx, NULL);
}
