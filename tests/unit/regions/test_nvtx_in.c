/* SPDX-License-Identifier: Apache-2.0 */
/** NVTX ranges of other people's code, through a table like the one that NVTX shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include <cmocka.h>

#include "lib/regions/capture.h"
#include "lib/regions/nvtx_abi.h"
#include "lib/regions/region_stack.h"
#include "lib/record/paths.h"
#include "llmperf/sys/inject.h"
#include "tests/support/play.h"
#include "lib/device/device.h"
#include "lib/regions/sampler.h"

/* What a program that uses NVTX calls. */
static struct {
    uint64_t (*range_start_ex)(const struct lp_nvtx_attributes *attributes);
    uint64_t (*range_start_a)(const char *text);
    uint64_t (*range_start_w)(const wchar_t *text);
    void (*range_end)(uint64_t id);
    int (*range_push_ex)(const struct lp_nvtx_attributes *attributes);
    int (*range_push_a)(const char *text);
    int (*range_push_w)(const wchar_t *text);
    int (*range_pop)(void);
    uint64_t (*domain_range_start)(const void *domain, const struct lp_nvtx_attributes *attributes);
    void (*domain_range_end)(const void *domain, uint64_t id);
    int (*domain_range_push)(const void *domain, const struct lp_nvtx_attributes *attributes);
    int (*domain_range_pop)(const void *domain);
    const void *(*register_string_a)(const void *domain, const char *text);
    const void *(*register_string_w)(const void *domain, const wchar_t *text);
    const void *(*domain_create_a)(const char *name);
    const void *(*domain_create_w)(const wchar_t *name);
} nvtx;

static unsigned core_size, core2_size;

static int show_module(int module, lp_nvtx_function ***table_out, unsigned *size_out)
{
    static lp_nvtx_function *core[16], *core2[16];

    core[LP_NVTX_RANGE_START_EX] = (lp_nvtx_function *)(void *)&nvtx.range_start_ex;
    core[LP_NVTX_RANGE_START_A] = (lp_nvtx_function *)(void *)&nvtx.range_start_a;
    core[LP_NVTX_RANGE_START_W] = (lp_nvtx_function *)(void *)&nvtx.range_start_w;
    core[LP_NVTX_RANGE_END] = (lp_nvtx_function *)(void *)&nvtx.range_end;
    core[LP_NVTX_RANGE_PUSH_EX] = (lp_nvtx_function *)(void *)&nvtx.range_push_ex;
    core[LP_NVTX_RANGE_PUSH_A] = (lp_nvtx_function *)(void *)&nvtx.range_push_a;
    core[LP_NVTX_RANGE_PUSH_W] = (lp_nvtx_function *)(void *)&nvtx.range_push_w;
    core[LP_NVTX_RANGE_POP] = (lp_nvtx_function *)(void *)&nvtx.range_pop;
    core2[LP_NVTX_DOMAIN_RANGE_START_EX] = (lp_nvtx_function *)(void *)&nvtx.domain_range_start;
    core2[LP_NVTX_DOMAIN_RANGE_END] = (lp_nvtx_function *)(void *)&nvtx.domain_range_end;
    core2[LP_NVTX_DOMAIN_RANGE_PUSH_EX] = (lp_nvtx_function *)(void *)&nvtx.domain_range_push;
    core2[LP_NVTX_DOMAIN_RANGE_POP] = (lp_nvtx_function *)(void *)&nvtx.domain_range_pop;
    core2[LP_NVTX_DOMAIN_REGISTER_STRING_A] = (lp_nvtx_function *)(void *)&nvtx.register_string_a;
    core2[LP_NVTX_DOMAIN_REGISTER_STRING_W] = (lp_nvtx_function *)(void *)&nvtx.register_string_w;
    core2[LP_NVTX_DOMAIN_CREATE_A] = (lp_nvtx_function *)(void *)&nvtx.domain_create_a;
    core2[LP_NVTX_DOMAIN_CREATE_W] = (lp_nvtx_function *)(void *)&nvtx.domain_create_w;
    if (module != LP_NVTX_MODULE_CORE && module != LP_NVTX_MODULE_CORE2)
        return 0;
    *table_out = module == LP_NVTX_MODULE_CORE ? core : core2;
    *size_out = module == LP_NVTX_MODULE_CORE ? core_size : core2_size;
    return 1;
}

static const void *export_table(uint32_t id)
{
    static const struct lp_nvtx_callbacks callbacks = { sizeof(callbacks), show_module };

    return id == LP_NVTX_TABLE_CALLBACKS ? &callbacks : NULL;
}

static int listen_to_nvtx(void **state)
{
    (void)state;
    core_size = core2_size = 16;
    return lp_nvtx_listen(export_table);
}

static llmperf_session *start(void)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;

    options.device_source = LLMPERF_SOURCE_NONE;
    if (llmperf_session_start(&options, &session) < 0)
        fail_msg("%s", llmperf_last_error());
    return session;
}

static struct lp_nvtx_attributes named(const char *text)
{
    struct lp_nvtx_attributes attributes = { .version = 3, .size = sizeof(attributes) };

    attributes.message_type = LP_NVTX_MESSAGE_ASCII;
    attributes.message.ascii = text;
    return attributes;
}

static void expect_instances(const llmperf_profile *profile, const char *path, uint64_t count)
{
    if (find_region(profile, path, -1).instances != count)
        fail_msg("%s: %lu instances, not %lu", path,
                 (unsigned long)find_region(profile, path, -1).instances, (unsigned long)count);
}

static void ranges_of_every_kind_become_regions(void **state)
{
    struct lp_nvtx_attributes ascii = named("in a domain"), wide = named(NULL),
                              string = named(NULL);
    llmperf_session *session = start();
    const void *domain = nvtx.domain_create_a("engine");
    llmperf_profile *profile;

    (void)state;
    wide.message_type = LP_NVTX_MESSAGE_WIDE;
    wide.message.wide = L"br\u00fccke \u6ce8 \U0001F600";
    string.message_type = LP_NVTX_MESSAGE_REGISTERED;
    string.message.registered = nvtx.register_string_a(domain, "registered");
    assert_int_equal(nvtx.range_push_a("plain"), 0);
    assert_int_equal(nvtx.domain_range_push(domain, &ascii), 0);
    assert_int_equal(nvtx.domain_range_push(domain, &string), 1);
    assert_int_equal(nvtx.domain_range_pop(domain), 1);
    assert_int_equal(nvtx.domain_range_pop(domain), 0);
    assert_int_equal(nvtx.range_push_w(L"wide"), 1);
    assert_int_equal(nvtx.range_pop(), 1);
    assert_int_equal(nvtx.range_push_ex(&wide), 1);
    assert_int_equal(nvtx.range_pop(), 1);
    assert_int_equal(nvtx.range_pop(), 0);
    profile = stop_session(session);
    expect_instances(profile, "default@plain", 1);
    expect_instances(profile, "default@plain/engine@in a domain", 1);
    expect_instances(profile, "default@plain/engine@in a domain/engine@registered", 1);
    expect_instances(profile, "default@plain/default@wide", 1);
    expect_instances(profile,
                     "default@plain/default@br\xc3\xbc"
                     "cke \xe6\xb3\xa8 \xf0\x9f\x98\x80",
                     1);
    assert_int_equal(ledger_of(profile).regions_unbalanced, 0);
    llmperf_profile_free(profile);
}

static void names_that_say_llm_are_llm_labels(void **state)
{
    struct lp_nvtx_attributes full = named("LLM@prefill"), bare = named("prefill");
    llmperf_session *session = start();
    const void *llm = nvtx.domain_create_a("LLM");
    llmperf_profile *profile;

    (void)state;
    assert_ptr_equal(llm, nvtx.domain_create_w(L"LLM"));
    nvtx.domain_range_push(llm, &full);
    nvtx.domain_range_pop(llm);
    nvtx.domain_range_push(llm, &bare);
    nvtx.domain_range_pop(llm);
    nvtx.range_push_a("LLM@prefill");
    nvtx.range_pop();
    llmperf_region_begin("prefill");
    llmperf_region_end();
    nvtx.range_push_a("prefill"); /* Somebody's prefill, without the domain. */
    nvtx.range_pop();
    profile = stop_session(session);
    expect_instances(profile, "LLM@prefill", 4);
    assert_int_equal(find_region(profile, "LLM@prefill", -1).kind, LLMPERF_REGION_STAGE);
    expect_instances(profile, "default@prefill", 1);
    llmperf_profile_free(profile);
}

static void numbers_of_pytorch_calls_make_no_new_names(void **state)
{
    static const char *const tails[] = { "", ", seq = %d", ", op_id = %d",
                                         ", seq = %d, op_id = 3, sizes = [[2, 3], []]",
                                         ", sizes = [[%d]]" };
    llmperf_session *session = start();
    llmperf_profile *profile;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        char text[128] = "aten::mm";

        snprintf(text + 8, sizeof(text) - 8, tails[i % 5], i);
        nvtx.range_push_a(text);
        nvtx.range_pop();
    }
    nvtx.range_push_a("a, b, c");
    nvtx.range_pop();
    profile = stop_session(session);
    expect_instances(profile, "default@aten::mm", 1000);
    expect_instances(profile, "default@a, b, c", 1);
    assert_int_equal(find_operator(profile, "default@aten::mm", NULL).calls, 1000);
    llmperf_profile_free(profile);
}

static void payloads_in_the_llm_domain_are_tokens(void **state)
{
    struct lp_nvtx_attributes attributes = named("prefill");
    llmperf_session *session = start();
    const void *llm = nvtx.domain_create_a("LLM"), *other = nvtx.domain_create_a("other");
    llmperf_profile *profile;

    (void)state;
    attributes.payload_type = LP_NVTX_PAYLOAD_UINT64;
    attributes.payload.u64 = 512;
    nvtx.domain_range_push(llm, &attributes);
    nvtx.domain_range_pop(llm);
    attributes.payload_type = LP_NVTX_PAYLOAD_INT32;
    attributes.payload.u64 = 0xffffffff00000007u; /* Of four bytes the rest means nothing. */
    nvtx.domain_range_push(llm, &attributes);
    nvtx.domain_range_pop(llm);
    attributes.payload.i32 = -1;
    nvtx.domain_range_push(llm, &attributes);
    nvtx.domain_range_pop(llm);
    attributes.payload.i32 = 9;
    nvtx.domain_range_push(other, &attributes);
    nvtx.domain_range_pop(other);
    profile = stop_session(session);
    assert_int_equal(find_region(profile, "LLM@prefill", -1).tokens, 519);
    assert_true(find_region(profile, "other@prefill", -1).tokens == LLMPERF_UNKNOWN);
    llmperf_profile_free(profile);
}

static void a_pop_drops_ranges_of_other_domains_above_it(void **state)
{
    struct lp_nvtx_attributes a = named("a"), b = named("b");
    llmperf_session *session = start();
    const void *one = nvtx.domain_create_a("one"), *two = nvtx.domain_create_a("two");
    llmperf_profile *profile;

    (void)state;
    nvtx.domain_range_push(one, &a);
    nvtx.domain_range_push(two, &b);
    assert_int_equal(nvtx.domain_range_pop(one), 0); /* b was opened in it. */
    assert_true(nvtx.domain_range_pop(one) < 0);
    llmperf_region_end(); /* Not ours to close. */
    nvtx.range_push_a("between");
    nvtx.range_pop();
    assert_int_equal(nvtx.domain_range_pop(two), 0); /* It is known that b was open. */
    assert_true(nvtx.domain_range_pop(two) < 0);
    profile = stop_session(session);
    expect_instances(profile, "one@a", 1);
    expect_instances(profile, "one@a/two@b", 0);
    assert_int_equal(find_region(profile, "one@a/two@b", -1).truncated, 1);
    expect_instances(profile, "default@between", 1);
    assert_int_equal(ledger_of(profile).regions_unbalanced, 3);
    assert_int_equal(ledger_of(profile).regions_abandoned, 1);
    assert_int_equal(ledger_of(profile).regions_truncated, 0);
    assert_true(has_note(profile, "1 regions or NVTX ranges were still open"));
    llmperf_profile_free(profile);
}

static void own_regions_and_foreign_ranges_drop_one_another(void **state)
{
    llmperf_session *session = start();
    llmperf_profile *profile;

    (void)state;
    llmperf_region_begin("own");
    nvtx.range_push_a("left open");
    llmperf_region_end();
    nvtx.range_push_a("around");
    llmperf_region_begin("too long");
    nvtx.range_pop();
    llmperf_region_begin("next");
    llmperf_region_count(LLMPERF_QUANTITY_TOKENS, 7);
    llmperf_region_end();
    llmperf_region_end();                             /* of "too long" */
    llmperf_region_count(LLMPERF_QUANTITY_TOKENS, 9); /* Nothing is open. */
    profile = stop_session(session);
    expect_instances(profile, "LLM@own", 1);
    expect_instances(profile, "default@around", 1);
    assert_int_equal(find_region(profile, "LLM@own/default@left open", -1).truncated, 1);
    assert_int_equal(find_region(profile, "default@around/LLM@too long", -1).truncated, 1);
    expect_instances(profile, "LLM@next", 1);
    assert_int_equal(find_region(profile, "LLM@next", -1).tokens, 7);
    assert_int_equal(ledger_of(profile).regions_abandoned, 2);
    assert_int_equal(ledger_of(profile).regions_unbalanced, 0);
    llmperf_profile_free(profile);
}

static void a_range_that_is_never_popped_ends_with_the_one_around_it(void **state)
{
    struct lp_nvtx_attributes init = named("init"), work = named("work");
    const int count = 1000; /* far more than levels of a stack */
    llmperf_session *session = start();
    const void *library = nvtx.domain_create_a("library");
    llmperf_profile *profile;

    (void)state;
    for (int i = 0; i < count; i++) {
        nvtx.range_push_a("call");
        nvtx.domain_range_push(library, &work);
        nvtx.domain_range_pop(library);
        nvtx.domain_range_push(library, &init);
        if (i == 0)
            usleep(2000);
        nvtx.range_pop();
    }
    nvtx.range_push_a("after");
    nvtx.range_pop();
    profile = stop_session(session);
    expect_instances(profile, "default@call", (uint64_t)count);
    assert_true(find_region(profile, "default@call", -1).wall_max_ms >= 2);
    expect_instances(profile, "default@call/library@work", (uint64_t)count);
    assert_int_equal(find_region(profile, "default@call/library@init", -1).truncated, count);
    expect_instances(profile, "default@after", 1);
    assert_int_equal(ledger_of(profile).regions_abandoned, count);
    assert_int_equal(llmperf_profile_region_count(profile), 4);
    llmperf_profile_free(profile);
    while (nvtx.domain_range_pop(library) >= 0)
        ;
}

static void a_session_that_starts_later_knows_nothing_of_dropped_ranges(void **state)
{
    llmperf_session *session;
    llmperf_profile *profile;

    (void)state;
    nvtx.range_push_a("around");
    llmperf_region_begin("dropped");
    nvtx.range_pop();
    session = start();
    nvtx.range_push_a("inside");
    nvtx.range_pop();
    llmperf_region_end();
    profile = stop_session(session);
    expect_instances(profile, "default@inside", 1);
    assert_int_equal(llmperf_profile_region_count(profile), 1);
    assert_int_equal(ledger_of(profile).regions_unbalanced, 0);
    assert_int_equal(ledger_of(profile).regions_truncated, 0);
    llmperf_profile_free(profile);
}

static enum lp_collect collected;

static void switch_records(enum lp_collect what)
{
    collected = what;
}

static void a_sampling_window_ends_with_its_region_however_that_ends(void **state)
{
    static const char *const labels[] = { "LLM@sampled" };
    llmperf_session *session;

    (void)state;
    llmperf_region_begin("around");
    nvtx.range_push_a("dropped");
    llmperf_region_end();
    session = start();
    lp_sampler_begin(labels, 1, 1, switch_records, NULL);
    lp_sampler_go();
    llmperf_region_begin("sampled");
    assert_int_equal(collected, LP_COLLECT_KERNELS);
    nvtx.range_pop(); /* of "dropped": the level of the window moves down. */
    llmperf_region_begin("within");
    llmperf_region_end();
    assert_int_equal(collected, LP_COLLECT_KERNELS);
    llmperf_region_end();
    assert_int_equal(collected, LP_COLLECT_NOTHING);
    nvtx.range_push_a("around");
    llmperf_region_begin("sampled");
    assert_int_equal(collected, LP_COLLECT_KERNELS);
    nvtx.range_pop();
    assert_int_equal(collected, LP_COLLECT_NOTHING);
    llmperf_region_end();
    lp_sampler_end();
    llmperf_profile_free(stop_session(session));
}

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
    struct lp_nvtx_attributes attributes = named(name);

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
    llmperf_session *session = start();
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

static void ranges_that_are_closed_with_a_payload_are_closed(void **state)
{
    int (*push_payload)(const void *, const void *, size_t);
    int (*pop_payload)(const void *, const void *, size_t);
    uint64_t (*start_payload)(const void *, const void *, size_t);
    void (*end_payload)(const void *, uint64_t, const void *, size_t);
    intptr_t slots[63] = { 0 };
    struct lp_nvtx_segment segment = { 0, 63, slots };
    struct lp_nvtx_extension extension = {
        3, sizeof(extension), LP_NVTX_EXTENSION_PAYLOAD, 0x0104, 1, &segment, NULL, NULL
    };
    struct lp_nvtx_attributes init = named("init");
    llmperf_session *session = start();
    const void *domain = nvtx.domain_create_a("library");
    llmperf_profile *profile;

    (void)state;
    assert_int_equal(InitializeInjectionNvtxExtension(&extension), 1);
    push_payload = (int (*)(const void *, const void *, size_t))slots[LP_NVTX_RANGE_PUSH_PAYLOAD];
    pop_payload = (int (*)(const void *, const void *, size_t))slots[LP_NVTX_RANGE_POP_PAYLOAD];
    start_payload =
        (uint64_t(*)(const void *, const void *, size_t))slots[LP_NVTX_RANGE_START_PAYLOAD];
    end_payload =
        (void (*)(const void *, uint64_t, const void *, size_t))slots[LP_NVTX_RANGE_END_PAYLOAD];
    nvtx.domain_range_push(domain, &init);
    assert_int_equal(pop_payload(domain, NULL, 0), 0);
    assert_int_equal(push_payload(domain, NULL, 0), 0);
    nvtx.range_push_a("inside");
    nvtx.range_pop();
    assert_int_equal(pop_payload(domain, NULL, 0), 0);
    end_payload(domain, start_payload(NULL, NULL, 0), NULL, 0);
    profile = stop_session(session);
    expect_instances(profile, "library@init", 1);
    expect_instances(profile, "library@(empty)/default@inside", 1);
    expect_instances(profile, "default@(empty)", 1);
    assert_int_equal(ledger_of(profile).regions_unbalanced, 0);
    assert_int_equal(ledger_of(profile).regions_truncated, 0);
    llmperf_profile_free(profile);
}

static void other_extensions_and_shorter_ones_are_left_alone(void **state)
{
    intptr_t slots[5] = { 0 };
    struct lp_nvtx_segment segment = { 0, 5, slots };
    struct lp_nvtx_extension extension = {
        3, sizeof(extension), LP_NVTX_EXTENSION_PAYLOAD + 1, 0x0104, 1, &segment, NULL, NULL
    };

    (void)state;
    assert_int_equal(InitializeInjectionNvtxExtension(NULL), 0);
    assert_int_equal(InitializeInjectionNvtxExtension(&extension), 0);
    extension.module = LP_NVTX_EXTENSION_PAYLOAD;
    extension.struct_size = 8;
    assert_int_equal(InitializeInjectionNvtxExtension(&extension), 0);
    extension.struct_size = sizeof(extension);
    extension.segment_count = 0;
    assert_int_equal(InitializeInjectionNvtxExtension(&extension), 0);
    assert_int_equal(slots[LP_NVTX_RANGE_POP_PAYLOAD], 0);
    extension.segment_count = 1;
    assert_int_equal(InitializeInjectionNvtxExtension(&extension), 1); /* without start and end */
    assert_int_not_equal(slots[LP_NVTX_RANGE_POP_PAYLOAD], 0);
}

static void *end_range(void *id)
{
    nvtx.range_end(*(uint64_t *)id);
    return NULL;
}

static void start_and_end_need_no_order_and_no_thread(void **state)
{
    struct lp_nvtx_attributes request = named("request");
    llmperf_session *session;
    const void *domain = nvtx.domain_create_a("server");
    uint64_t before = nvtx.range_start_a("before the session"), first, second;
    llmperf_profile *profile;
    pthread_t thread;

    (void)state;
    session = start();
    nvtx.range_end(before);
    nvtx.range_push_a("pushed");
    first = nvtx.domain_range_start(domain, &request);
    second = nvtx.domain_range_start(domain, &request);
    assert_int_not_equal(first, second);
    nvtx.range_pop();
    nvtx.domain_range_end(domain, first);
    pthread_create(&thread, NULL, end_range, &second);
    pthread_join(thread, NULL);
    nvtx.range_end(second); /* Twice. */
    nvtx.range_end(0);
    nvtx.range_end(UINT64_MAX);
    nvtx.range_end(nvtx.range_start_w(L"wide"));
    nvtx.range_end(nvtx.range_start_ex(&request));
    profile = stop_session(session);
    expect_instances(profile, "server@request", 2);
    expect_instances(profile, "default@pushed", 1);
    expect_instances(profile, "default@wide", 1);
    expect_instances(profile, "default@request", 1);
    assert_int_equal(find_region(profile, "default@before the session", -1).truncated, 1);
    assert_int_equal(ledger_of(profile).regions_unbalanced, 3);
    assert_true(has_note(profile, "start/end ranges"));
    llmperf_profile_free(profile);
}

static void too_many_open_ranges_are_refused_not_lost(void **state)
{
    static uint64_t ids[20000];
    unsigned refused = 0;

    (void)state;
    for (unsigned i = 0; i < 20000; i++)
        refused += (ids[i] = nvtx.range_start_a("open")) == 0;
    assert_true(refused > 0 && refused < 20000);
    for (unsigned i = 0; i < 20000; i++)
        nvtx.range_end(ids[i]);
    assert_true(nvtx.range_start_a("again") != 0);
}

static void deeper_than_the_limit_stays_balanced(void **state)
{
    llmperf_session *session = start();
    llmperf_profile *profile;

    (void)state;
    for (int i = 0; i < LLMPERF_REGION_DEPTH + 50; i++)
        nvtx.range_push_a("deep");
    for (int i = 0; i < LLMPERF_REGION_DEPTH + 50; i++)
        assert_true(nvtx.range_pop() >= 0);
    assert_true(nvtx.range_pop() < 0);
    nvtx.range_push_a("shallow");
    nvtx.range_pop();
    profile = stop_session(session);
    expect_instances(profile, "default@shallow", 1);
    assert_int_equal(ledger_of(profile).regions_unbalanced, 1);
    llmperf_profile_free(profile);
}

static void nonsense_is_taken(void **state)
{
    struct lp_nvtx_attributes strange = named(NULL);
    llmperf_session *session = start();
    const void *odd = nvtx.domain_create_a("a@b\n");
    llmperf_profile *profile;

    (void)state;
    assert_ptr_equal(nvtx.domain_create_a(NULL), nvtx.domain_create_a(""));
    nvtx.range_push_a(NULL);
    nvtx.range_pop();
    nvtx.range_push_ex(NULL);
    nvtx.range_pop();
    strange.message_type = 77;
    nvtx.domain_range_push(odd, &strange);
    nvtx.domain_range_pop(odd);
    strange.message_type = LP_NVTX_MESSAGE_REGISTERED;
    nvtx.domain_range_push(odd, &strange);
    nvtx.domain_range_pop(odd);
    strange.message.registered = nvtx.register_string_w(odd, NULL);
    nvtx.domain_range_push(odd, &strange);
    nvtx.domain_range_pop(odd);
    profile = stop_session(session);
    expect_instances(profile, "default@(empty)", 2);
    expect_instances(profile, "a_b @(empty)", 3);
    llmperf_profile_free(profile);
}

static void an_older_nvtx_gets_what_it_has(void **state)
{
    (void)state;
    core_size = LP_NVTX_RANGE_POP; /* Places below it only. */
    core2_size = 0;
    nvtx.range_pop = NULL;
    nvtx.domain_create_a = NULL;
    assert_int_equal(lp_nvtx_listen(export_table), 0);
    assert_null(nvtx.range_pop);
    assert_null(nvtx.domain_create_a);
    assert_non_null(nvtx.range_push_a);
    assert_int_equal(lp_nvtx_listen(NULL), LLMPERF_ENOTSUP);
    listen_to_nvtx(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_of_every_kind_become_regions),
        cmocka_unit_test(names_that_say_llm_are_llm_labels),
        cmocka_unit_test(numbers_of_pytorch_calls_make_no_new_names),
        cmocka_unit_test(payloads_in_the_llm_domain_are_tokens),
        cmocka_unit_test(a_pop_drops_ranges_of_other_domains_above_it),
        cmocka_unit_test(own_regions_and_foreign_ranges_drop_one_another),
        cmocka_unit_test(a_range_that_is_never_popped_ends_with_the_one_around_it),
        cmocka_unit_test(a_session_that_starts_later_knows_nothing_of_dropped_ranges),
        cmocka_unit_test(a_sampling_window_ends_with_its_region_however_that_ends),
        cmocka_unit_test(any_order_of_pushes_and_pops_is_what_the_rule_says),
        cmocka_unit_test(ranges_that_are_closed_with_a_payload_are_closed),
        cmocka_unit_test(other_extensions_and_shorter_ones_are_left_alone),
        cmocka_unit_test(start_and_end_need_no_order_and_no_thread),
        cmocka_unit_test(too_many_open_ranges_are_refused_not_lost),
        cmocka_unit_test(deeper_than_the_limit_stays_balanced),
        cmocka_unit_test(nonsense_is_taken),
        cmocka_unit_test(an_older_nvtx_gets_what_it_has),
    };

    return cmocka_run_group_tests(tests, listen_to_nvtx, NULL);
}
