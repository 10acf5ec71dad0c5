/* SPDX-License-Identifier: Apache-2.0 */
/** NVTX ranges of other people's code. */
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
#include "lib/regions/region_stack.h"
#include "lib/record/paths.h"
#include "llmperf/sys/inject.h"
#include "tests/support/nvtx_calls.h"
#include "tests/support/play.h"
#include "lib/device/device.h"
#include "lib/regions/sampler.h"

static void ranges_of_every_kind_become_regions(void **state)
{
    struct lp_nvtx_attributes ascii = nvtx_named("in a domain"), wide = nvtx_named(NULL),
                              string = nvtx_named(NULL);
    llmperf_session *session = start_without_device();
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
    struct lp_nvtx_attributes full = nvtx_named("LLM@prefill"), bare = nvtx_named("prefill");
    llmperf_session *session = start_without_device();
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
    llmperf_session *session = start_without_device();
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

static void steps_of_engines_are_stages_with_their_work(void **state)
{
    llmperf_session *session = start_without_device();
    llmperf_region_stats step;
    llmperf_profile *profile;

    (void)state;
    for (int i = 0; i < 10; i++) {
        char text[128];

        snprintf(text, sizeof(text),
                 "execute_%d_context_0(sq0sk0sqsq0sqsk0)_generation_%d(sq%dsk%dsqsq1sqsk2)", i + 1,
                 i + 1, i + 1, 100 * (i + 1));
        nvtx.range_push_a(text);
        nvtx.range_push_a("gpu_model_runner: forward");
        nvtx.range_pop();
        nvtx.range_pop();
    }
    profile = stop_session(session);
    expect_instances(profile, "vllm@decode_step", 10);
    expect_instances(profile, "vllm@decode_step/vllm@forward", 10);
    step = find_region(profile, "vllm@decode_step", -1);
    assert_int_equal(step.kind, LLMPERF_REGION_STAGE);
    assert_int_equal(step.tokens, 55);
    assert_int_equal(step.sequences, 55);
    assert_int_equal(step.context, 5500);
    assert_int_equal(find_region(profile, "vllm@decode_step/vllm@forward", -1).kind,
                     LLMPERF_REGION_OPERATOR);
    llmperf_profile_free(profile);
}

static void ranges_inside_their_like_are_part_of_it(void **state)
{
    struct lp_nvtx_attributes compile = nvtx_named("XlaCompile:#module=a#"),
                              pass = nvtx_named("XlaPass:#name=cse,module=a#");
    llmperf_session *session = start_without_device();
    const void *tsl = nvtx.domain_create_a("TSL");
    llmperf_profile *profile;

    (void)state;
    assert_int_equal(nvtx.domain_range_push(tsl, &compile), 0);
    assert_int_equal(nvtx.domain_range_push(tsl, &pass), 1);
    for (int i = 0; i < 40; i++) /* more than dropped levels that are kept */
        assert_int_equal(nvtx.domain_range_push(tsl, &pass), 2 + i);
    assert_int_equal(nvtx.range_push_a("inside"), 0);
    assert_int_equal(nvtx.range_pop(), 0);
    for (int i = 40; i-- > 0;)
        assert_int_equal(nvtx.domain_range_pop(tsl), 2 + i);
    assert_int_equal(nvtx.domain_range_pop(tsl), 1);
    assert_int_equal(nvtx.domain_range_pop(tsl), 0);
    nvtx.domain_range_end(tsl, nvtx.domain_range_start(tsl, &pass));
    profile = stop_session(session);
    expect_instances(profile, "xla@compile", 2);
    expect_instances(profile, "xla@compile/default@inside", 1);
    assert_int_equal(ledger_of(profile).regions_unbalanced, 0);
    assert_int_equal(ledger_of(profile).regions_abandoned, 0);
    llmperf_profile_free(profile);
}

/* Their last path is kept with the string, also after the session in which it was made. */
static void registered_names_have_a_path_below_each_parent(void **state)
{
    const void *tsl = nvtx.domain_create_a("TSL");
    struct lp_nvtx_attributes thunk = nvtx_named(NULL), compile = nvtx_named(NULL);

    (void)state;
    thunk.message_type = compile.message_type = LP_NVTX_MESSAGE_REGISTERED;
    thunk.message.registered = nvtx.register_string_a(tsl, "Thunk:#hlo_op=copy.48#");
    compile.message.registered = nvtx.register_string_a(tsl, "XlaCompile:#module=a#");
    for (int round = 0; round < 3; round++) {
        llmperf_session *session = start_without_device();
        llmperf_profile *profile;

        for (int i = 0; i < 6; i++) {
            nvtx.range_push_a(i % 2 ? "odd" : "even");
            nvtx.domain_range_push(tsl, &compile);
            nvtx.domain_range_push(tsl, &compile); /* part of the one around it */
            nvtx.domain_range_push(tsl, &thunk);
            for (int open = 0; open < 3; open++)
                nvtx.domain_range_pop(tsl);
            nvtx.domain_range_push(tsl, &thunk);
            nvtx.domain_range_pop(tsl);
            nvtx.range_pop();
        }
        profile = stop_session(session);
        expect_instances(profile, "default@odd/xla@compile", 3);
        expect_instances(profile, "default@even/xla@compile/xla@copy", 3);
        expect_instances(profile, "default@odd/xla@compile/xla@copy", 3);
        expect_instances(profile, "default@odd/xla@copy", 3);
        assert_int_equal(ledger_of(profile).regions_unbalanced, 0);
        llmperf_profile_free(profile);
    }
}

/* Without a session: paths are not limited then. */
static void a_million_names_of_steps_make_one_path(void **state)
{
    uint32_t before;
    char text[96];

    (void)state;
    nvtx.range_push_a("execute_context_0(0)_generation_1(1)");
    nvtx.range_pop();
    before = lp_path_count();
    for (int i = 0; i < 1000000; i++) {
        snprintf(text, sizeof(text), "execute_context_0(0)_generation_%d(%d)", i + 1, i + 1);
        nvtx.range_push_a(text);
        nvtx.range_pop();
    }
    assert_int_equal(lp_path_count(), before);
}

static void payloads_in_the_llm_domain_are_tokens(void **state)
{
    struct lp_nvtx_attributes attributes = nvtx_named("prefill");
    llmperf_session *session = start_without_device();
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
    struct lp_nvtx_attributes a = nvtx_named("a"), b = nvtx_named("b");
    llmperf_session *session = start_without_device();
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
    llmperf_session *session = start_without_device();
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
    struct lp_nvtx_attributes init = nvtx_named("init"), work = nvtx_named("work");
    const int count = 1000; /* far more than levels of a stack */
    llmperf_session *session = start_without_device();
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
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_REGIONS), 4);
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
    session = start_without_device();
    nvtx.range_push_a("inside");
    nvtx.range_pop();
    llmperf_region_end();
    profile = stop_session(session);
    expect_instances(profile, "default@inside", 1);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_REGIONS), 1);
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
    session = start_without_device();
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
    struct lp_nvtx_attributes init = nvtx_named("init");
    llmperf_session *session = start_without_device();
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

/* As NCCL does it: a schema with an id of its own, then a range with that payload. */
static void the_message_of_a_collective_is_counted(void **state)
{
    static const struct lp_nvtx_schema_entry entries[] = {
        { .type = 18, .name = "NCCL communicator ID" },
        { .type = 16, .name = "Root" },
        { .type = 22, .name = "Message size [bytes]" }, /* offset 16, as in C */
    };
    const struct lp_nvtx_schema schema = {
        .fields = LP_NVTX_SCHEMA_HAS_ID, .entries = entries, .entry_count = 3, .id = (1 << 24) + 5
    };
    const uint64_t data[] = { 7, 1, 4096 };
    struct lp_nvtx_payload payload = { schema.id, sizeof(data), data };
    struct lp_nvtx_attributes range = nvtx_named("ncclAllReduce");
    intptr_t slots[63] = { 0 };
    struct lp_nvtx_segment segment = { 0, 63, slots };
    struct lp_nvtx_extension extension = {
        3, sizeof(extension), LP_NVTX_EXTENSION_PAYLOAD, 0x0104, 1, &segment, NULL, NULL
    };
    llmperf_session *session = start_without_device();
    const void *domain = nvtx.domain_create_a("NCCL"), *other = nvtx.domain_create_a("other");
    llmperf_profile *profile;

    (void)state;
    assert_int_equal(InitializeInjectionNvtxExtension(&extension), 1);
    assert_int_equal(
        ((uint64_t(*)(const void *, const struct lp_nvtx_schema *))slots[LP_NVTX_SCHEMA_REGISTER])(
            domain, &schema),
        schema.id);
    range.payload_type = LP_NVTX_PAYLOAD_EXTENDED;
    range.reserved = 1;
    range.payload.pointer = &payload;
    for (int i = 0; i < 2; i++) {
        nvtx.domain_range_push(domain, &range);
        nvtx.domain_range_pop(domain);
    }
    nvtx.domain_range_push(other, &range); /* its schemas are others */
    nvtx.domain_range_pop(other);
    payload.size = 16; /* ends before the entry */
    nvtx.domain_range_push(domain, &range);
    nvtx.domain_range_pop(domain);
    profile = stop_session(session);
    assert_int_equal(find_region(profile, "NCCL@ncclAllReduce", -1).message_bytes, 8192);
    assert_int_equal(find_region(profile, "other@ncclAllReduce", -1).message_bytes,
                     LLMPERF_UNKNOWN);
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
    struct lp_nvtx_attributes request = nvtx_named("request");
    llmperf_session *session;
    const void *domain = nvtx.domain_create_a("server");
    uint64_t before = nvtx.range_start_a("before the session"), first, second;
    llmperf_profile *profile;
    pthread_t thread;

    (void)state;
    session = start_without_device();
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
    llmperf_session *session = start_without_device();
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
    struct lp_nvtx_attributes strange = nvtx_named(NULL);
    llmperf_session *session = start_without_device();
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
    nvtx_core_size = LP_NVTX_RANGE_POP; /* Places below it only. */
    nvtx_core2_size = 0;
    nvtx.range_pop = NULL;
    nvtx.domain_create_a = NULL;
    assert_int_equal(lp_nvtx_listen(nvtx_export_table), 0);
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
        cmocka_unit_test(steps_of_engines_are_stages_with_their_work),
        cmocka_unit_test(ranges_inside_their_like_are_part_of_it),
        cmocka_unit_test(registered_names_have_a_path_below_each_parent),
        cmocka_unit_test(a_million_names_of_steps_make_one_path),
        cmocka_unit_test(payloads_in_the_llm_domain_are_tokens),
        cmocka_unit_test(a_pop_drops_ranges_of_other_domains_above_it),
        cmocka_unit_test(own_regions_and_foreign_ranges_drop_one_another),
        cmocka_unit_test(a_range_that_is_never_popped_ends_with_the_one_around_it),
        cmocka_unit_test(a_session_that_starts_later_knows_nothing_of_dropped_ranges),
        cmocka_unit_test(a_sampling_window_ends_with_its_region_however_that_ends),
        cmocka_unit_test(ranges_that_are_closed_with_a_payload_are_closed),
        cmocka_unit_test(the_message_of_a_collective_is_counted),
        cmocka_unit_test(other_extensions_and_shorter_ones_are_left_alone),
        cmocka_unit_test(start_and_end_need_no_order_and_no_thread),
        cmocka_unit_test(too_many_open_ranges_are_refused_not_lost),
        cmocka_unit_test(deeper_than_the_limit_stays_balanced),
        cmocka_unit_test(nonsense_is_taken),
        cmocka_unit_test(an_older_nvtx_gets_what_it_has),
    };

    return cmocka_run_group_tests(tests, listen_to_nvtx, NULL);
}
