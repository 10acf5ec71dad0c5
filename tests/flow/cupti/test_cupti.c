/* SPDX-License-Identifier: Apache-2.0 */
/** The CUPTI source from end to end, over stand-ins for libcupti and libcuda. Each session gives
 * CUPTI up at its end. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/device/device.h"
#include "lib/device/driver.h"
#include "lib/device/launch_ids.h"
#include "lib/record/graph_event.h"
#include "lib/sources/cupti/cupti.h"
#include "tests/support/at_once.h"
#include "tests/support/driver.h"

/* Calls and records */

static void work_is_charged_to_the_regions_that_launched_it(void **state)
{
    static const struct mock_call memory[] = {
        { .id = MEMCPY_HTOD, .kind = LP_CUPTI_KIND_MEMCPY, .records = 1, .bytes = 100 },
        { .id = MEMSET_D8, .kind = LP_CUPTI_KIND_MEMSET, .records = 1, .bytes = 20 },
        { .id = MEMCPY_PEER, .kind = LP_CUPTI_KIND_MEMCPY2, .records = 1, .bytes = 3 },
        { .id = MEMCPY_HTOD, .kind = LP_CUPTI_KIND_MEMCPY }, /* of zero bytes */
    };
    static const struct mock_call overhead = { .kind = LP_CUPTI_KIND_OVERHEAD, .records = 3 };
    const llmperf_ledger expected = { .launches_expected = 10,
                                      .memory_calls = 4,
                                      .kernels_seen = 10,
                                      .memory_seen = 3,
                                      .kernels_attributed = 10,
                                      .kernels_outside = 1,
                                      .memory_missing = 1,
                                      .sampled_fraction = 1,
                                      .verdict = LLMPERF_VERDICT_COMPLETE };
    llmperf_session *session = start_deep();
    llmperf_profile *profile;

    (void)state;
    llmperf_region_begin("LLM@prefill");
    launch(2);
    llmperf_region_begin("attention");
    launch(7);
    llmperf_region_end();
    for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
        driver->call(&memory[i]);
    llmperf_region_end();
    launch(1);
    driver->call(&overhead);
    profile = stop_session(session);
    check_ledger(profile, &expected);
    assert_string_equal(llmperf_profile_fact(profile, "source"), "cupti");
    assert_int_equal(find_region(profile, "LLM@prefill", 0).kernel_count, 9);
    assert_int_equal(find_region(profile, "LLM@prefill/LLM@attention", 0).kernel_count, 7);
    assert_int_equal(find_kernel(profile, "kernel", "LLM@prefill/LLM@attention").calls, 7);
    assert_int_equal(find_kernel(profile, "kernel", "").calls, 1);
    assert_int_equal(find_kernel(profile, "[memcpy HtoD]", "LLM@prefill").bytes, 100);
    assert_int_equal(find_kernel(profile, "[memset]", "LLM@prefill").bytes, 20);
    assert_int_equal(find_kernel(profile, "[memcpy PtoP]", "LLM@prefill").bytes, 3);
    check_close(ledger_of(profile).tracing_overhead_ms, 0.003);
    llmperf_profile_free(profile);
}

static llmperf_kernel_shape find_shape(const llmperf_profile *profile, const char *name,
                                       const char *region)
{
    llmperf_kernel_shape shape = LLMPERF_KERNEL_SHAPE_INIT;

    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_KERNEL_SHAPES); i++) {
        assert_int_equal(llmperf_profile_kernel_shape(profile, i, &shape), 0);
        if (strcmp(shape.name, name) == 0 && strcmp(shape.region, region) == 0)
            return shape;
    }
    fail_msg("no shape of %s in %s", name, region);
    return shape;
}

static void check_memory(const llmperf_profile *profile, const char *name, const char *source,
                         const char *call)
{
    llmperf_kernel_shape shape = find_shape(profile, name, "LLM@prefill");

    if (source)
        assert_string_equal(shape.source, source);
    else
        assert_null(shape.source);
    assert_string_equal(shape.destination, "device");
    assert_string_equal(shape.call, call);
    assert_true(shape.grid_x == LLMPERF_UNKNOWN && shape.registers == LLMPERF_UNKNOWN);
}

static void records_say_the_shape_of_kernels_and_copies(void **state)
{
    static const struct mock_call memory[] = {
        { .id = MEMCPY_HTOD, .kind = LP_CUPTI_KIND_MEMCPY, .records = 1, .bytes = 100 },
        { .id = MEMSET_D8, .kind = LP_CUPTI_KIND_MEMSET, .records = 1, .bytes = 20 },
        { .id = MEMCPY_PEER, .kind = LP_CUPTI_KIND_MEMCPY2, .records = 1, .bytes = 3 },
    };
    llmperf_session *session = start_deep();
    llmperf_kernel_shape shape;
    llmperf_profile *profile;

    (void)state;
    llmperf_region_begin("LLM@prefill");
    launch(7);
    for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
        driver->call(&memory[i]);
    llmperf_region_end();
    profile = stop_session(session);
    shape = find_shape(profile, "kernel", "LLM@prefill");
    assert_true(shape.grid_x == 4 && shape.grid_y == 2 && shape.grid_z == 1);
    assert_true(shape.block_x == 128 && shape.block_y == 1 && shape.block_z == 1);
    assert_true(shape.registers == 32 && shape.static_shared_bytes == 16 &&
                shape.dynamic_shared_bytes == 1024);
    assert_int_equal(shape.calls, 7);
    assert_int_equal(shape.timed_launches, 7); /* each callback came when the call returned */
    assert_true(shape.launch_ms > 0);
    check_memory(profile, "[memcpy HtoD]", "pageable", "sync");
    check_memory(profile, "[memcpy PtoP]", "device", "async");
    check_memory(profile, "[memset]", NULL, "async");
    llmperf_profile_free(profile);
}

static void calls_that_start_no_kernel_are_not_waited_for(void **state)
{
    static const struct mock_resource node = { LP_CUPTI_RESOURCE_GRAPHNODE_CREATED,
                                               { .node = (void *)LP_GRAPH_NODE(1, 1) } };
    struct mock_call failed = kernel, captured = kernel, unknown = { .id = 1000 };
    llmperf_session *session = start_deep();

    (void)state;
    failed.result = 1;
    captured.records = 0;
    captured.resources = &node;
    captured.resource_count = 1;
    driver->call(&failed);
    driver->call(&captured);
    driver->call(&unknown);
    driver->tell(&unknown, LP_CUPTI_SITE_ENTER, 77);
    driver->tell_resource(LP_CUPTI_RESOURCE_CONTEXT_CREATED, NULL);
    driver->tell_resource(node.id, &node.graph); /* made by a call that is no launch */
    launch(1);
    check_complete(session, 1);
}

/* A callback that went on or off in the middle of a call. */
static void half_told_calls_leave_the_others_alone(void **state)
{
    llmperf_session *session = start_deep();
    llmperf_profile *profile;

    (void)state;
    driver->tell(&kernel, LP_CUPTI_SITE_EXIT, 500);
    launch(3);
    driver->tell(&kernel, LP_CUPTI_SITE_ENTER, 501); /* Its thread never comes back. */
    launch(4);
    profile = stop_session(session);
    assert_int_equal(ledger_of(profile).launches_expected, 8);
    assert_int_equal(ledger_of(profile).kernels_attributed, 7);
    assert_int_equal(ledger_of(profile).launches_missing, 1);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_INCOMPLETE);
    llmperf_profile_free(profile);
}

static void records_of_others_and_half_records_are_counted(void **state)
{
    struct lp_cupti_kernel record = { .kind = LP_CUPTI_KIND_CONCURRENT_KERNEL };
    const struct lp_cupti_overhead half = { .kind = 0 };
    llmperf_session *session = start_deep();
    llmperf_profile *profile;

    (void)state;
    launch(2);
    driver->put_record(LP_CUPTI_KIND_CONCURRENT_KERNEL, &record); /* without times */
    driver->put_record(0, &half); /* What lies behind it in its buffer cannot be read. */
    profile = stop_session(session);
    assert_int_equal(ledger_of(profile).kernels_attributed, 2);
    assert_int_equal(ledger_of(profile).records_incomplete, 2);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_INCOMPLETE);
    llmperf_profile_free(profile);
}

#define THREADS  4
#define LAUNCHES 2000

static void *launch_on_thread(void *label)
{
    for (int i = 0; i < LAUNCHES; i++) {
        llmperf_region_begin(label);
        launch(1);
        llmperf_region_end();
    }
    return NULL;
}

static void threads_that_launch_at_once_keep_their_kernels(void **state)
{
    static char labels[THREADS][8] = { "a", "b", "c", "d" };
    llmperf_session *session = start_deep();
    llmperf_profile *profile;
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_on_thread, labels[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    profile = stop_session(session);
    for (int i = 0; i < THREADS; i++) {
        char path[64];

        snprintf(path, sizeof(path), "LLM@%s", labels[i]);
        assert_int_equal(find_kernel(profile, "kernel", path).calls, LAUNCHES);
    }
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    llmperf_profile_free(profile);
}

static void what_runs_while_paused_is_not_counted(void **state)
{
    llmperf_session *session = start_deep();

    (void)state;
    launch(3);
    assert_int_equal(llmperf_session_pause(session), 0);
    assert_false(driver->is_on(LP_CUPTI_DOMAIN_DRIVER_API, LAUNCH_KERNEL));
    assert_false(driver->is_on(0, LP_CUPTI_KIND_CONCURRENT_KERNEL));
    launch(50);
    assert_int_equal(llmperf_session_resume(session), 0);
    launch(4);
    check_complete(session, 7);
}

/* Losses */

static void dropped_records_are_counted(void **state)
{
    llmperf_session *session = start_deep();
    llmperf_profile *profile;

    (void)state;
    launch(3);
    driver->drop(5);
    profile = stop_session(session);
    assert_int_equal(ledger_of(profile).records_dropped, 5);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_INCOMPLETE);
    llmperf_profile_free(profile);
}

/* More records than two buffers hold, faster than they are read. An older CUPTI crashes where it
 * gets no buffer, so it gets them all. */
static void a_full_pool_drops_records_or_grows(void **state)
{
    struct mock_call many = { .id = MEMCPY_HTOD, .kind = LP_CUPTI_KIND_MEMCPY, .records = 60000 };
    llmperf_session_options options = deep_options();

    (void)state;
    options.pool_bytes = 1;
    for (int old = 0; old < 2; old++) {
        llmperf_session *session;
        llmperf_profile *profile;
        llmperf_ledger ledger;

        driver->set_version(old ? LP_CUPTI_VERSION_12_9 - 1 : 130000);
        session = start_with(&options);
        driver->call(&many);
        profile = stop_session(session);
        ledger = ledger_of(profile);
        assert_int_equal(ledger.memory_seen + ledger.records_dropped, many.records);
        if (old)
            assert_int_equal(ledger.records_dropped, 0);
        llmperf_profile_free(profile);
    }
}

static void a_refused_flush_is_an_error_of_the_source(void **state)
{
    llmperf_session *session = start_deep();
    llmperf_profile *profile;

    (void)state;
    launch(1);
    cupti->set_failure("ActivityFlushAll", 999);
    profile = stop_session(session);
    assert_true(ledger_of(profile).source_errors > 0);
    assert_true(has_problem(profile, "flush calls of CUPTI failed"));
    llmperf_profile_free(profile);
}

/* Starting */

static void what_cupti_refuses_is_said(void **state)
{
    static const struct {
        const char *call;
        int status;
        const char *part;
    } cases[] = {
        { "Subscribe", LLMPERF_ENODEVICE, "CUPTI refused to start: the mock's text (999)" },
        { "ActivityRegisterCallbacks", LLMPERF_ENODEVICE, "CUPTI cannot deliver activity records" },
        { "ActivityEnable", LLMPERF_ENODEVICE, "CUPTI cannot record kernels" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        reset_driver(state);
        cupti->set_failure(cases[i].call, 999);
        refuse(cases[i].status, cases[i].part);
    }
    reset_driver(state);
    cupti->set_failure("ActivitySetAttribute", 999); /* An older one does not know it. */
    llmperf_profile_free(stop_session(start_deep()));
    driver->set_version(140000);
    refuse(LLMPERF_ENOENT, "is for CUDA 14, but the driver supports CUDA 13");
}

static void a_profiler_that_has_cupti_is_named(void **state)
{
    llmperf_session_options options = deep_options();
    llmperf_profile *profile;
    char path[512], holder[64];
    uint32_t version;

    (void)state;
    driver->hold("CUPTI for somebody");
    refuse(LLMPERF_EBUSY, "CUPTI is in use by CUPTI for somebody");
    assert_int_equal(lp_cupti_probe(path, sizeof(path), &version, holder, sizeof(holder)),
                     LLMPERF_EBUSY);
    assert_string_equal(holder, "CUPTI for somebody");
    options.device_source = LLMPERF_SOURCE_AUTO;
    profile = play_options(&options);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_NO_DEVICE);
    assert_true(has_note(profile, "in use by CUPTI for somebody"));
    llmperf_profile_free(profile);
    driver->hold(NULL);
    assert_int_equal(lp_cupti_probe(path, sizeof(path), &version, holder, sizeof(holder)), 0);
    assert_non_null(strstr(path, "libcupti.so.13"));
    assert_int_equal(version, 130000);
    assert_string_equal(holder, "");
}

static void a_session_that_keeps_cupti_starts_the_next_without_a_subscription(void **state)
{
    llmperf_session_options options = deep_options();

    (void)state;
    options.flags = 0;
    assert_int_equal(llmperf_prewarm(), 0);
    for (int i = 0; i < 3; i++) {
        llmperf_session *session = start_with(&options);

        launch(5);
        check_complete(session, 5);
        launch(2); /* between sessions: nobody's */
    }
    assert_int_equal(cupti->count("Subscribe"), 1);
    llmperf_profile_free(stop_session(start_deep())); /* gives it up */
    assert_int_equal(cupti->count("Unsubscribe"), 1);
}

/* Sampling */

static void records_are_on_in_sampled_instances_only(void **state)
{
    llmperf_session_options options = deep_options();
    llmperf_session *session;
    llmperf_profile *profile;
    uint64_t launched = 0, with_records = 0;

    (void)state;
    options.tier = LLMPERF_TIER_LIGHT;
    options.sample_regions = "step";
    session = start_with(&options);
    usleep(20000); /* The collector lets sampling begin. */
    for (int i = 0; i < 200; i++) {
        llmperf_region_begin("step");
        with_records += driver->is_on(0, LP_CUPTI_KIND_CONCURRENT_KERNEL) ? 5 : 0;
        launch(5);
        launched += 5;
        llmperf_region_end();
        assert_false(driver->is_on(0, LP_CUPTI_KIND_CONCURRENT_KERNEL));
        usleep(1000);
    }
    profile = stop_session(session);
    assert_in_range(with_records, 5, launched);
    assert_int_equal(find_shape(profile, "kernel", "LLM@step").calls, with_records);
    assert_int_equal(find_shape(profile, "kernel", "LLM@step").timed_launches, 0);
    assert_int_equal(ledger_of(profile).kernels_seen, with_records);
    assert_int_equal(ledger_of(profile).kernels_attributed, with_records);
    assert_int_equal(ledger_of(profile).launches_missing, 0);
    llmperf_profile_free(profile);
}

/* Out of the process and back */

static struct lp_names names;

static struct lp_device_source *open_source(void)
{
    const struct lp_device_options options = {
        .pool_bytes = 1 << 24, .sampled = true, .detached = true, .release = true, .names = &names
    };
    struct lp_device_source *source;

    if (lp_device_open_cupti(&options, &source) < 0 || source->ops->start(source) < 0)
        fail_msg("%s", llmperf_last_error());
    return source;
}

static void close_source(struct lp_device_source *source)
{
    source->ops->pause(source);
    source->ops->close(source);
}

/* It is the first time in its process that CUPTI comes, else it does not leave. */
static void cupti_leaves_the_process_and_comes_back(void **state)
{
    const struct mock_call begins = { .id = CAPTURE_BEGIN }, ends = { .id = CAPTURE_END };
    struct mock_call fails = begins;
    const struct mock_cuda two = { .gpus = 2, .active = 2 }, own = { .gpus = 2, .active = 1 },
                           stuck = { .gpus = 1, .synchronize_result = 1 };
    struct lp_device_source *source = open_source();
    const struct lp_device_detach *detach = source->ops->detach;
    uint32_t before;

    assert_false(detach->ready()); /* This thread has no context. */
    set_context(source);
    assert_true(detach->ready());
    set_cuda(&two);
    assert_false(detach->ready()); /* Another GPU is in use. */
    set_cuda(&own);
    assert_true(detach->ready());
    reset_driver(state);
    set_context(source);
    driver->call(&begins);
    assert_false(detach->ready()); /* A stream is captured. */
    driver->call(&ends);
    fails.result = 1;
    driver->call(&fails);
    assert_true(detach->ready());
    assert_true(detach->idle());
    set_cuda(&stuck);
    assert_false(detach->idle());
    before = lp_launch_id(driver->call(&kernel));
    driver->tell(&kernel, LP_CUPTI_SITE_ENTER, 99);
    assert_int_equal(detach->leave(source), LLMPERF_ESTATE);
    check_error("a thread was inside a launch");
    driver->tell(&kernel, LP_CUPTI_SITE_EXIT, 99);
    assert_int_equal(detach->leave(source), 0);
    assert_int_equal(cupti->count("Finalize"), 1);
    source->ops->flush(source, false); /* Each call would bring it back. */
    source->ops->collect(LP_COLLECT_KERNELS);
    source->ops->pause(source);
    assert_int_equal(source->ops->start(source), 0);
    assert_int_equal(cupti->count("ActivityFlushAll"), 0);
    assert_int_equal(detach->join(source), 0);
    assert_true(driver->is_on(0, LP_CUPTI_KIND_CONCURRENT_KERNEL));
    assert_true(lp_launch_id(driver->call(&kernel)) > before); /* CUPTI's own begin anew. */
    assert_int_equal(detach->leave(source), 0);
    cupti->set_failure("Subscribe", 999);
    assert_int_equal(detach->join(source), LLMPERF_ENODEVICE);
    cupti->set_failure(NULL, 0);
    assert_int_equal(detach->join(source), 0);
    close_source(source);
}

/* The same in a session: out between samples, in for each of them. */
static void samples_are_whole_where_cupti_leaves_between_them(void **state)
{
    llmperf_session_options options = deep_options();
    llmperf_session *session;
    llmperf_profile *profile;

    (void)state;
    options.tier = LLMPERF_TIER_LIGHT;
    options.sample_regions = "step";
    options.flags |= LLMPERF_SESSION_DETACH;
    options.overhead_budget_permille = 900;
    set_context(&options);
    session = start_with(&options);
    for (int i = 0; i < 100000 && cupti->count("Finalize") < 2; i++) {
        llmperf_region_begin("step");
        launch(5);
        llmperf_region_end();
        usleep(100);
    }
    assert_true(cupti->count("Finalize") >= 2);
    profile = stop_session(session);
    assert_true(ledger_of(profile).kernels_seen > 0);
    assert_int_equal(ledger_of(profile).kernels_attributed, ledger_of(profile).kernels_seen);
    assert_int_equal(ledger_of(profile).kernels_seen % 5, 0);
    assert_int_equal(ledger_of(profile).launches_missing, 0);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_SAMPLED);
    llmperf_profile_free(profile);
}

static void cupti_stays_where_leaving_was_seen_to_fail(void **state)
{
    struct lp_device_source *source;

    (void)state;
    driver->set_version(LP_CUPTI_VERSION_12_9 - 1);
    source = open_source();
    assert_int_equal(source->ops->detach->leave(source), LLMPERF_ESTATE);
    check_error("before 12.9");
    close_source(source);
    driver->set_version(130000);
    source = open_source();
    assert_int_equal(source->ops->detach->leave(source), LLMPERF_ESTATE);
    check_error("CUPTI was attached before this session");
    close_source(source);
}

/* The driver */

static void gpus_are_what_the_driver_says(void **state)
{
    struct mock_cuda wanted = { .gpus = 2 };
    llmperf_hardware *hardware = NULL;
    struct lp_gpu gpu;
    int32_t count = 0;
    char reason[256];

    (void)state;
    set_cuda(&wanted);
    assert_true(lp_driver_available(reason, sizeof(reason)));
    assert_string_equal(reason, "");
    assert_int_equal(lp_driver_version(), 13000);
    assert_int_equal(lp_driver_gpu_count(&count), 0);
    assert_int_equal(count, 2);
    assert_int_equal(lp_driver_gpu(1, &gpu), 0);
    assert_string_equal(gpu.name, "Mock GPU 1");
    assert_string_equal(gpu.uuid, "GPU-a1a1a1a1-a1a1-a1a1-a1a1-a1a1a1a1a1a1");
    assert_int_equal(gpu.clock_khz, 13); /* the mock answers with the attribute's number */
    assert_int_equal(gpu.sm_count, 16);
    assert_int_equal(gpu.memory_clock_khz, 36);
    assert_int_equal(gpu.bus_width_bits, 37);
    assert_int_equal(gpu.l2_bytes, 38);
    assert_int_equal(gpu.cc_major * 100 + gpu.cc_minor, 7576);
    assert_int_equal(gpu.memory_bytes, 1 << 30);
    assert_int_equal(lp_driver_gpu(2, &gpu), LLMPERF_ENODEVICE);
    check_error("cuDeviceGet failed with 101");
    assert_int_equal(llmperf_hardware_local(2, NULL, &hardware), LLMPERF_ENOENT);
    assert_false(lp_driver_has_context());
    wanted.active = 2;
    set_cuda(&wanted);
    assert_true(lp_driver_has_context());
    wanted.init_result = 100;
    set_cuda(&wanted);
    assert_int_equal(lp_driver_gpu_count(&count), LLMPERF_ENODEVICE);
    check_error("cuInit failed with 100 (no CUDA-capable device is detected)");
    wanted.init_result = 0;
    wanted.count_result = 3;
    set_cuda(&wanted);
    assert_int_equal(lp_driver_gpu_count(&count), LLMPERF_ENODEVICE);
    check_error("cuDeviceGetCount failed with 3");
    assert_false(lp_driver_has_context());
    wanted.count_result = wanted.gpus = 0;
    set_cuda(&wanted);
    assert_int_equal(llmperf_hardware_local(0, NULL, &hardware), LLMPERF_ENODEVICE);
    check_error("CUDA_VISIBLE_DEVICES");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(work_is_charged_to_the_regions_that_launched_it, reset_driver),
        cmocka_unit_test_setup(records_say_the_shape_of_kernels_and_copies, reset_driver),
        cmocka_unit_test_setup(calls_that_start_no_kernel_are_not_waited_for, reset_driver),
        cmocka_unit_test_setup(half_told_calls_leave_the_others_alone, reset_driver),
        cmocka_unit_test_setup(records_of_others_and_half_records_are_counted, reset_driver),
        cmocka_unit_test_setup(threads_that_launch_at_once_keep_their_kernels, reset_driver),
        cmocka_unit_test_setup(what_runs_while_paused_is_not_counted, reset_driver),
        cmocka_unit_test_setup(dropped_records_are_counted, reset_driver),
        cmocka_unit_test_setup(a_full_pool_drops_records_or_grows, reset_driver),
        cmocka_unit_test_setup(a_refused_flush_is_an_error_of_the_source, reset_driver),
        cmocka_unit_test_setup(what_cupti_refuses_is_said, reset_driver),
        cmocka_unit_test_setup(a_profiler_that_has_cupti_is_named, reset_driver),
        cmocka_unit_test_setup(a_session_that_keeps_cupti_starts_the_next_without_a_subscription,
                               reset_driver),
        cmocka_unit_test_setup(records_are_on_in_sampled_instances_only, reset_driver),
        cmocka_unit_test_setup(cupti_leaves_the_process_and_comes_back, reset_driver),
        cmocka_unit_test_setup(samples_are_whole_where_cupti_leaves_between_them, reset_driver),
        cmocka_unit_test_setup(cupti_stays_where_leaving_was_seen_to_fail, reset_driver),
        cmocka_unit_test_setup(gpus_are_what_the_driver_says, reset_driver),
    };

    load_driver();
    return run_cases_at_once(argc, argv, tests, NULL, NULL);
}
