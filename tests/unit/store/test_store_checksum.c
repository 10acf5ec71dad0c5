/* SPDX-License-Identifier: Apache-2.0 */
/* A finished run that changed, by a bit of a bad disk or by hand, is not read as if it had not. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/file.h"
#include "lib/store/columns.h"
#include "tests/support/run_files.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define CHANGED       "changed after it was written"
#ifndef FLIP_STEP
#define FLIP_STEP 151 /* bits from one flip to the next: at all places of a byte */
#endif
#define SWITCH "LLMPERF_OPEN_CHANGED"

static int begin(void **state)
{
    unsetenv(SWITCH);
    return make_run_folder(state);
}

static int end(void **state)
{
    unsetenv(SWITCH);
    return remove_run_folder(state);
}

/* Two rows or more in each table. */
static llmperf_profile *make_full_profile(void)
{
    llmperf_profile *profile = make_numbered_profile(6);

    for (uint32_t i = 1; i <= 2; i++) {
        llmperf_iteration iteration = LLMPERF_ITERATION_INIT;
        struct lp_iteration_stats_row spread = { .stats = LLMPERF_ITERATION_STATS_INIT };
        llmperf_window_stats window = LLMPERF_WINDOW_STATS_INIT;
        llmperf_window_kernel kernel = LLMPERF_WINDOW_KERNEL_INIT;
        llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;
        struct lp_stage_operator operator= { .stage = "LLM@decode_step",
                                             .name = i == 1 ? "qkv" : "mlp",
                                             .layer_kind = "dense",
                                             .dtype = "bf16",
                                             .layers = 32,
                                             .flops = 4.5 * i,
                                             .bytes = 8.5 * i };
        struct lp_device_time device = {
            .process_id = 7, .device = (int32_t)i, .activities = i, .busy_ms = 1.5 * i
        };
        llmperf_memory memory = { .region = "LLM@decode_step",
                                  .device = (int32_t)i,
                                  .peak_bytes = 1000 * i };
        struct lp_memory_point point = { .time_ns = i, .bytes = 1000 * i };
        struct lp_stall stall = { .region = "LLM@decode_step",
                                  .name = "kernel",
                                  .reason = i == 1 ? "wait" : "barrier",
                                  .samples = i };
        struct lp_hot_instruction hot = { .region = "LLM@decode_step",
                                          .name = "kernel",
                                          .reason = "wait",
                                          .samples = i,
                                          .offset = 16 * i };
        llmperf_requests requests = LLMPERF_REQUESTS_INIT;
        struct lp_collective_row collective = {
            .stats = { .name = "nccl", .process_id = i, .calls = i, .total_ms = 2.5 * i }
        };
        struct lp_latency_row latency = { .stats = LLMPERF_LATENCY_INIT };
        llmperf_slow_request slow = LLMPERF_SLOW_REQUEST_INIT;
        llmperf_load load = LLMPERF_LOAD_INIT;
        llmperf_energy energy = LLMPERF_ENERGY_INIT;

        iteration.region = spread.stats.region = window.region = kernel.region = "LLM@decode_step";
        iteration.sequence = window.number = kernel.window = metric.count = i;
        iteration.wall_ms = spread.stats.sum_ms = window.value = kernel.total_ms = 1.5 * i;
        spread.stats.quantity = i == 1 ? "wall" : "busy";
        kernel.name = metric.name = i == 1 ? "flops" : "bytes";
        metric.source = "range_profiler";
        metric.unit = "1";
        metric.mean = 2.5 * i;
        requests.requests = latency.stats.count = slow.request = load.begin_ns = i;
        latency.stats.quantity = slow.slow_in = i == 1 ? "ttft" : "tpot";
        requests.duration_ms = slow.ttft_ms = slow.tpot_ms = slow.e2e_ms = 3 * i;
        assert_ok(lp_vector_push(&profile->requests, requests));
        assert_ok(lp_vector_push(&profile->latencies, latency));
        assert_ok(lp_vector_push(&profile->slow_requests, slow));
        energy.device = (int32_t)i;
        energy.energy_j = 4 * i;
        assert_ok(lp_vector_push(&profile->load, load));
        assert_ok(lp_vector_push(&profile->energy, energy));
        assert_ok(lp_vector_push(&profile->iterations, iteration));
        assert_ok(lp_vector_push(&profile->iteration_stats, spread));
        assert_ok(lp_vector_push(&profile->windows, window));
        assert_ok(lp_vector_push(&profile->window_kernels, kernel));
        assert_ok(lp_profile_add_metric(profile, &metric));
        assert_ok(lp_vector_push(&profile->stage_operators, operator));
        assert_ok(lp_vector_push(&profile->devices, device));
        assert_ok(lp_vector_push(&profile->collectives, collective));
        assert_ok(lp_vector_push(&profile->memory, memory));
        assert_ok(lp_vector_push(&profile->memory_points, point));
        assert_ok(lp_vector_push(&profile->stalls, stall));
        assert_ok(lp_vector_push(&profile->hot_instructions, hot));
    }
    assert_ok(lp_profile_note(profile, "another note"));
    return profile;
}

static void save_full(const char *path)
{
    llmperf_profile *profile = make_full_profile();

    assert_ok(llmperf_profile_save(profile, path));
    llmperf_profile_free(profile);
}

/* All that a file keeps, in order. */

static bool is_any(const struct lp_row_field *field)
{
    return field != NULL;
}

static uint64_t hash_profile(const llmperf_profile *profile)
{
    uint64_t hash = 1;

    for (enum lp_row_id id = LP_ROW_LEDGER; id < LP_ROW_KINDS; id++) {
        hash = hash * 31 + lp_row_count(profile, id);
        for (size_t i = 0; lp_row_kinds[id].table && i < lp_row_count(profile, id); i++)
            hash = hash * 31 + lp_row_hash(id, lp_row_at(profile, id, i), is_any);
    }
    return hash;
}

static uint64_t hash_run(const char *path)
{
    llmperf_profile *profile = NULL;
    uint64_t hash;

    assert_ok(llmperf_profile_open(path, &profile));
    hash = hash_profile(profile);
    llmperf_profile_free(profile);
    return hash;
}

static void flip(int fd, uint64_t bit)
{
    unsigned char byte;

    assert_int_equal(pread(fd, &byte, 1, (off_t)(bit / 8)), 1);
    byte ^= (unsigned char)(1u << bit % 8);
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)(bit / 8)), 1);
}

/* Refused, or not changed in anything that a file keeps. */
static void every_flipped_bit_is_told_or_changes_nothing(void **state)
{
    size_t told = 0, refused = 0;
    uint64_t whole, bits;
    char *bytes = NULL;
    size_t size = 0;
    int fd;

    (void)state;
    save_full(run_path);
    whole = hash_run(run_path);
    assert_ok(lp_file_read(run_path, &bytes, &size));
    free(bytes);
    bits = (uint64_t)size * 8;
    assert_true((fd = open(run_path, O_RDWR | O_CLOEXEC)) >= 0);
    for (uint64_t bit = 0; bit < bits; bit += FLIP_STEP) {
        llmperf_profile *profile = NULL;

        flip(fd, bit);
        if (llmperf_profile_open(run_path, &profile) == 0) {
            if (hash_profile(profile) != whole)
                fail_msg("bit %llu changes what is read, and nobody is told",
                         (unsigned long long)bit);
        } else {
            refused++;
            told += strstr(llmperf_last_error(), CHANGED) != NULL;
        }
        llmperf_profile_free(profile);
        flip(fd, bit);
    }
    close(fd);
    assert_int_equal(hash_run(run_path), whole);
    assert_true(told > 50);
    assert_true(refused > told);
    print_message("%zu refused, %zu of them by a checksum\n", refused, told);
}

static const char *const other_values[] = {
    [LP_FIELD_NAME] = "'other'", [LP_FIELD_TEXT] = "'other'", [LP_FIELD_WORD] = "77",
    [LP_FIELD_DEVICE] = "77",    [LP_FIELD_COUNT] = "77",     [LP_FIELD_NUMBER] = "77.25",
    [LP_FIELD_BLOB] = "x'77'",
};

/* Files of tests need not survive a power cut. */
static void change_run(const char *sql)
{
    char whole[400];

    snprintf(whole, sizeof(whole), "PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF; %s", sql);
    run_sql(run_path, whole);
}

static void save_copy_and_change(const char *sql)
{
    char *bytes = NULL;
    size_t size = 0;

    if (!run_file_exists("")) /* the first one */
        save_full(other_path);
    assert_ok(lp_file_read(other_path, &bytes, &size));
    assert_ok(lp_file_write(run_path, bytes, size));
    free(bytes);
    change_run(sql);
}

static void assert_change_is_told(const char *sql)
{
    save_copy_and_change(sql);
    assert_not_opened(run_path, LLMPERF_EFORMAT, CHANGED);
    assert_error_has(run_path);
    assert_error_has(SWITCH "=1");
}

static void a_value_that_changed_is_told_in_each_column(void **state)
{
    char sql[200];

    (void)state;
    for (size_t i = 0; i < LP_ROW_KINDS; i++)
        for (size_t k = 0; lp_row_kinds[i].table && k < lp_store_column_count(&lp_row_kinds[i]);
             k++) {
            const struct lp_row_field *field = &lp_row_kinds[i].fields[k];

            snprintf(sql, sizeof(sql), "UPDATE %s SET %s=%s", lp_row_kinds[i].table,
                     lp_store_column_name(field), other_values[field->type]);
            assert_change_is_told(sql);
            assert_error_has(lp_row_kinds[i].table);
        }
}

static void rows_that_go_come_or_change_places_are_told(void **state)
{
    char sql[300];

    (void)state;
    for (size_t i = 0; i < LP_ROW_KINDS; i++) {
        const char *table = lp_row_kinds[i].table, *key = lp_store_id_name(&lp_row_kinds[i]);

        if (!table)
            continue;
        snprintf(sql, sizeof(sql), "DELETE FROM %s WHERE %s=1", table, key);
        assert_change_is_told(sql);
        snprintf(sql, sizeof(sql),
                 "CREATE TEMP TABLE copy AS SELECT * FROM %s WHERE %s=1;"
                 "UPDATE copy SET %s=1000; INSERT INTO %s SELECT * FROM copy",
                 table, key, key, table);
        assert_change_is_told(sql);
        if (i == LP_ROW_LEDGER)
            continue;
        snprintf(sql, sizeof(sql), "UPDATE %s SET %s=1001 WHERE %s=1", table, key, key);
        assert_change_is_told(sql);
    }
    save_copy_and_change("DROP TABLE metric");
    assert_not_opened(run_path, LLMPERF_EFORMAT, "metric is not an ordinary table");
}

static void a_checksum_that_changed_or_went_is_told(void **state)
{
    static const char *const changes[] = {
        "UPDATE checksum SET crc32c=crc32c+1 WHERE of_table='note'",
        "UPDATE checksum SET crc32c='x' WHERE of_table='note'",
        "UPDATE checksum SET of_table='nota' WHERE of_table='note'",
        "DELETE FROM checksum WHERE of_table='note'",
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(changes); i++) {
        assert_change_is_told(changes[i]);
        assert_error_has("rows of note ");
    }
}

static void a_changed_run_can_be_read_as_it_is(void **state)
{
    llmperf_profile *profile = NULL;

    (void)state;
    save_full(run_path);
    run_sql(run_path, "UPDATE region SET flops=7; DELETE FROM note;"
                      "UPDATE ledger SET verdict=1");
    setenv(SWITCH, "1", 1);
    assert_ok(llmperf_profile_open(run_path, &profile));
    assert_int_equal(profile->regions.items[0].stats.flops, 7);
    assert_int_equal(profile->ledger.verdict, LLMPERF_VERDICT_INCOMPLETE);
    assert_int_equal(profile->problems.count, 3);
    assert_non_null(
        strstr(profile->problems.items[2], CHANGED ": rows of ledger, region, note do not match"));
    /* What is made of it says so too, to everybody. */
    assert_ok(llmperf_profile_save(profile, other_path));
    llmperf_profile_free(profile);
    unsetenv(SWITCH);
    assert_ok(llmperf_profile_open(other_path, &profile));
    assert_non_null(strstr(profile->problems.items[2], CHANGED));
    llmperf_profile_free(profile);
    setenv(SWITCH, "0", 1);
    assert_not_opened(run_path, LLMPERF_EFORMAT, CHANGED);
}

static void a_run_that_goes_on_or_was_killed_has_none_and_a_closed_one_has(void **state)
{
    llmperf_profile *profile = make_full_profile();
    struct lp_store *store = create_run_store();

    (void)state;
    assert_ok(lp_store_write(store, profile));
    assert_run_holds(run_path, profile);
    assert_sql_gives("SELECT count(*) FROM checksum", "0");
    profile->ledger.kernels_seen++;
    assert_ok(lp_store_write(store, profile));
    assert_ok(lp_store_close(store));
    assert_run_holds(run_path, profile);
    assert_sql_gives("SELECT count(*) FROM checksum", "25");
    run_sql(run_path, "UPDATE ledger SET kernels_seen=kernels_seen+1");
    assert_not_opened(run_path, LLMPERF_EFORMAT, CHANGED);
    llmperf_profile_free(profile);

    profile = make_numbered_profile(3);
    leave_killed_run(3);
    assert_run_holds(run_path, profile);
    assert_sql_gives("SELECT count(*) FROM checksum", "0");
    llmperf_profile_free(profile);
}

static void a_run_without_checksums_opens(void **state)
{
    static const char *const changes[] = {
        "DROP TABLE checksum",
        "DELETE FROM checksum",
        "DROP TABLE checksum; UPDATE note SET line='other'",
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(changes); i++) {
        llmperf_profile *profile = NULL;

        save_full(run_path);
        run_sql(run_path, changes[i]);
        assert_ok(llmperf_profile_open(run_path, &profile));
        assert_int_equal(profile->problems.count, 2);
        llmperf_profile_free(profile);
    }
}

/* Other pages, the same rows. A table of a later version is none of ours. */
static void what_does_not_change_the_rows_is_fine(void **state)
{
    llmperf_profile *profile = make_full_profile();

    (void)state;
    save_full(run_path);
    run_sql(run_path, "PRAGMA page_size=8192; VACUUM");
    run_sql(run_path, "CREATE TABLE later(x); INSERT INTO later VALUES(1);"
                      "INSERT INTO checksum(of_table, crc32c) VALUES('later', 5)");
    run_sql(run_path, "UPDATE region SET flops=flops; CREATE INDEX quick ON kernel(name)");
    assert_run_holds(run_path, profile);
    llmperf_profile_free(profile);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(every_flipped_bit_is_told_or_changes_nothing),
        CASE(a_value_that_changed_is_told_in_each_column),
        CASE(rows_that_go_come_or_change_places_are_told),
        CASE(a_checksum_that_changed_or_went_is_told),
        CASE(a_changed_run_can_be_read_as_it_is),
        CASE(a_run_that_goes_on_or_was_killed_has_none_and_a_closed_one_has),
        CASE(a_run_without_checksums_opens),
        CASE(what_does_not_change_the_rows_is_fine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
