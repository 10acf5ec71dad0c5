/* SPDX-License-Identifier: Apache-2.0 */
/** Calls of the CUDA driver and device memory from CUPTI's callbacks, over stand-ins for libcupti
 * and libcuda. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/profile/data.h"
#include "lib/profile/fields.h"
#include "tests/support/driver.h"

enum { MEM_ALLOC_V2 = 243, STREAM_SYNCHRONIZE_PTSZ = 440, LIBRARY_LOAD = 678 };

static bool find_call(const llmperf_profile *profile, const char *call, llmperf_host_call *row)
{
    *row = (llmperf_host_call)LLMPERF_HOST_CALL_INIT;
    for (size_t i = 0; llmperf_profile_host_call(profile, i, row) == 0; i++)
        if (strcmp(row->call, call) == 0 && strcmp(row->region, "LLM@decode_step") == 0)
            return true;
    return false;
}

static void callbacks_give_the_calls_of_a_program(void **state)
{
    static const struct mock_call calls[] = {
        { .id = MEM_ALLOC_V2 },
        { .id = MEM_ALLOC_V2, .result = 2 }, /* out of memory */
        { .id = STREAM_SYNCHRONIZE_PTSZ },
        { .id = INSTANTIATE },
        { .id = MEMCPY_HTOD, .kind = LP_CUPTI_KIND_MEMCPY, .records = 1, .bytes = 100 },
        { .id = MEMSET_D8, .kind = LP_CUPTI_KIND_MEMSET, .records = 1, .bytes = 20 },
    };
    static const struct mock_call half = { .id = LIBRARY_LOAD };
    llmperf_session *session = start_deep();
    llmperf_host_call row;
    llmperf_profile *profile;

    (void)state;
    llmperf_region_begin("LLM@decode_step");
    driver->tell(&half, LP_CUPTI_SITE_EXIT, 500); /* its enter was before the session */
    launch(2);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        driver->call(&calls[i]);
    llmperf_region_end();
    profile = stop_session(session);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_HOST_CALLS), 4);
    assert_true(find_call(profile, "cuMemAlloc", &row));
    assert_int_equal(row.calls, 2);
    assert_true(row.total_ms > 0 && row.max_ms <= row.total_ms);
    assert_true(find_call(profile, "cuStreamSynchronize", &row));
    assert_true(find_call(profile, "cuGraphInstantiateWithFlags", &row));
    assert_true(find_call(profile, "cuMemcpyHtoDAsync", &row));
    assert_int_equal(row.calls, 1);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    llmperf_profile_free(profile);
}

static void callbacks_are_off_outside_of_tier_deep(void **state)
{
    llmperf_session_options options = deep_options();
    llmperf_session *session = start_deep();

    (void)state;
    assert_true(driver->is_on(LP_CUPTI_DOMAIN_DRIVER_API, MEM_ALLOC_V2));
    llmperf_session_pause(session);
    assert_false(driver->is_on(LP_CUPTI_DOMAIN_DRIVER_API, MEM_ALLOC_V2));
    llmperf_session_resume(session);
    assert_true(driver->is_on(LP_CUPTI_DOMAIN_DRIVER_API, MEM_ALLOC_V2));
    llmperf_profile_free(stop_session(session));
    assert_false(driver->is_on(LP_CUPTI_DOMAIN_DRIVER_API, MEM_ALLOC_V2));
    options.tier = LLMPERF_TIER_LIGHT;
    session = start_with(&options);
    llmperf_region_begin("LLM@decode_step");
    assert_false(driver->is_on(LP_CUPTI_DOMAIN_DRIVER_API, MEM_ALLOC_V2));
    llmperf_region_end();
    llmperf_profile_free(stop_session(session));
}

/* Callbacks of graphs are always on. */
static void tier_light_leaves_calls_of_graphs_out(void **state)
{
    static const struct mock_call instantiate = { .id = INSTANTIATE };
    llmperf_session_options options = deep_options();
    llmperf_session *session;
    llmperf_profile *profile;

    (void)state;
    options.tier = LLMPERF_TIER_LIGHT;
    session = start_with(&options);
    driver->call(&instantiate);
    profile = stop_session(session);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_HOST_CALLS), 0);
    llmperf_profile_free(profile);
}

/* Sizes and addresses come from the parameters of the calls. */
static void callbacks_give_the_memory_of_a_program(void **state)
{
    static const uint64_t address = 4096, pooled = 8192, pitched = 12288, handle = 7, pitch = 512;
    static const uint64_t pool = 16384, other = 20480;
    static const struct mock_resource captured = { .id = LP_CUPTI_RESOURCE_GRAPHNODE_CREATED };
    static const int on_device[4] = { 1, 0, 1, 1 }, on_host[4] = { 1, 0, 3, 0 };
    void *const first = (void *)1, *const second = (void *)2; /* contexts of devices 0 and 1 */
    const struct mock_call calls[] = {
        { .id = MEM_ALLOC_V2, .context = first, .parameters = { &address, (void *)1000 } },
        { .id = MEM_ALLOC_V2,
          .result = 2,
          .context = first,
          .parameters = { &address, (void *)9 } },
        { .id = 599, .context = second, .parameters = { &pooled, (void *)200 } },
        { .id = 611, .context = first, .parameters = { &pool, (void *)30, (void *)7 } },
        { .id = 598, .context = first, .parameters = { &other, (void *)5 } },
        { .id = 598,
          .context = first,
          .parameters = { &pooled, (void *)60 },
          .resources = &captured,
          .resource_count = 1 }, /* a node of a graph: allocates at its launch */
        { .id = 244, .context = first, .parameters = { &pitched, &pitch, (void *)500, (void *)3 } },
        { .id = 549, .parameters = { &handle, (void *)40, on_device } },
        { .id = 549, .parameters = { &handle, (void *)50, on_host } },
        { .id = 29, .context = first, .parameters = { &address, (void *)1 } }, /* of 32 bits */
        { .id = 245, .context = first, .parameters = { (void *)address } },
        { .id = 245, .context = first },
        { .id = 565, .context = second, .parameters = { &handle } },
        { .id = 550, .context = second, .parameters = { (void *)handle } },
        { .id = 550, .context = second, .parameters = { (void *)handle } },
        { .id = 550, .context = second, .parameters = { (void *)77 } }, /* imported */
    };
    llmperf_session *session = start_deep();
    llmperf_profile *profile;

    (void)state;
    llmperf_region_begin("LLM@decode_step");
    launch(1);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        driver->call(&calls[i]);
    llmperf_region_end();
    profile = stop_session(session);
    assert_int_equal(profile->memory.count, 4);
    assert_int_equal(profile->memory.items[0].allocations, 4);
    assert_int_equal(profile->memory.items[0].frees, 1);
    assert_int_equal(profile->memory.items[0].unmatched, 0);
    assert_int_equal(profile->memory.items[0].peak_bytes, 1000 + 3 * 512 + 35);
    assert_int_equal(profile->memory.items[0].pool_reserved_bytes, 7000 + 1000000);
    assert_int_equal(profile->memory.items[0].pool_used_bytes, 14 + 2000);
    assert_int_equal(profile->memory.items[0].live_bytes, 3 * 512 + 35);
    assert_int_equal(profile->memory.items[1].device, 1);
    assert_int_equal(profile->memory.items[1].allocated_bytes, 240);
    assert_int_equal(profile->memory.items[1].live_bytes, 200);
    assert_int_equal(profile->memory.items[1].frees, 2);
    assert_int_equal(profile->memory.items[1].unmatched, 1);
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(callbacks_give_the_calls_of_a_program, reset_driver),
        cmocka_unit_test_setup(callbacks_give_the_memory_of_a_program, reset_driver),
        cmocka_unit_test_setup(callbacks_are_off_outside_of_tier_deep, reset_driver),
        cmocka_unit_test_setup(tier_light_leaves_calls_of_graphs_out, reset_driver),
    };

    load_driver();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
