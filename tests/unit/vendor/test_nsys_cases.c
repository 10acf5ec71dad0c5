/* SPDX-License-Identifier: Apache-2.0 */
/* Exports of nsys: what goes wrong in real files. Numbers of cases are those of the list of edge
 * cases in docs/reference/import.md. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include <cmocka.h>

#include "llmperf/sys.h"
#include "tests/support/nsys_file.h"
#include "tests/support/play.h"

static void case_21_tables_and_columns_may_be_missing(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;

    (void)state;
    nsys_create(&file, SCHEMA_2_9);
    nsys_sql(&file, "DROP TABLE NVTX_EVENTS; DROP TABLE CUPTI_ACTIVITY_KIND_MEMCPY;"
                    "DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME;"
                    "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL;"
                    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, \"end\", deviceId, extra, "
                    "shortName);"
                    "CREATE INDEX odd ON CUPTI_ACTIVITY_KIND_KERNEL(extra);"
                    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(0, 10, 2, 'x', 2)");
    profile = nsys_import(&file);
    assert_int_equal(find_kernel(profile, "kernel_b", NULL).device, 2);
    assert_int_equal(ledger_of(profile).launches_expected, LLMPERF_UNKNOWN);
    assert_int_equal(ledger_of(profile).launches_missing, LLMPERF_UNKNOWN);
    assert_int_equal(ledger_of(profile).kernels_unattributed, 1);
    llmperf_profile_free(profile);
}

static void case_21_a_view_is_not_read(void **state)
{
    struct nsys_file file;

    (void)state; /* It would run the file's own code: this one never ends. */
    nsys_create(&file, SCHEMA_3_25);
    nsys_sql(&file,
             "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL;"
             "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE r(start) AS (SELECT 1 "
             "UNION ALL SELECT start + 1 FROM r) SELECT start, start AS \"end\" FROM r");
    assert_int_equal(nsys_status(&file), LLMPERF_EFORMAT);
    check_error("holds no kernels, memory copies or NVTX ranges");
}

static void case_23_the_first_row_of_a_call_counts(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;

    (void)state; /* A second row of class 67 holds a backtrace of the same call. */
    nsys_create(&file, SCHEMA_2_9);
    nsys_range(&file, 10, 11, 0, 100, "right");
    nsys_range(&file, 10, 12, 0, 100, "wrong");
    nsys_sql(&file,
             "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(start, \"end\", eventClass, globalTid, "
             "correlationId, nameId, returnValue) VALUES(5, 9, 67, %lld, 1, 3, 0)",
             (long long)nsys_thread(10, 12));
    nsys_call(&file, 10, 11, 10, 20, 1);
    nsys_kernel(&file, 10, 200, 300, 1, 1);
    profile = nsys_import(&file);
    assert_int_equal(find_region(profile, "default@right", 0).kernel_count, 1);
    assert_int_equal(ledger_of(profile).launches_expected, 1);
    llmperf_profile_free(profile);
}

static void case_24_processes_have_correlations_of_their_own(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;

    (void)state;
    nsys_create(&file, SCHEMA_3_25);
    nsys_range(&file, 10, 11, 0, 100, "of 10");
    nsys_call(&file, 10, 11, 10, 20, 7);
    nsys_kernel(&file, 20, 200, 300, 7, 1); /* the same id in another process: no pair */
    profile = nsys_import(&file);
    assert_int_equal(ledger_of(profile).kernels_unattributed, 1);
    assert_int_equal(ledger_of(profile).launches_missing, 1);
    assert_int_equal(find_kernel(profile, "kernel_a", NULL).calls, 1);
    assert_true(has_problem(profile, "process 20: 1 kernels ran whose launch was not seen"));
    assert_true(has_problem(profile, "nsys profile --trace=cuda,nvtx"));
    assert_false(has_problem(profile, "llmperf_prewarm")); /* there is no session to prepare */
    assert_false(has_problem(profile, "start the session"));
    llmperf_profile_free(profile);
}

static void case_25_a_kernel_without_a_call_is_unattributed(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;

    (void)state; /* Never guessed by time: the range is open all along. */
    nsys_create(&file, SCHEMA_3_25);
    nsys_range(&file, 10, 11, 0, 1000, "range");
    nsys_kernel(&file, 10, 200, 300, 1, 1);
    nsys_kernel(&file, 10, 400, 500, 0, 1);
    profile = nsys_import(&file);
    assert_int_equal(ledger_of(profile).kernels_unattributed, 2);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_INCOMPLETE);
    check_close(ledger_of(profile).attributed_gpu_time_share, 0);
    assert_int_equal(find_region(profile, "default@range", -1).kernel_count, 0);
    llmperf_profile_free(profile);
}

static void case_26_empty_cells_of_ranges(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;
    long long thread = (long long)nsys_thread(10, 11);

    (void)state;
    nsys_create(&file, SCHEMA_3_16);
    nsys_sql(&file,
             "INSERT INTO NVTX_EVENTS(start, \"end\", eventType, globalTid, domainId, text, "
             "endGlobalTid) VALUES"
             "(0, NULL, 59, %lld, 0, 'open', NULL), (10, 20, 59, %lld, 0, NULL, NULL),"
             "(30, 40, 59, %lld, 0, '', NULL), (50, 60, 59, %lld, 9, 'lost domain', NULL),"
             "(70, 80, 60, %lld, 0, 'elsewhere', %lld), (NULL, 90, 59, %lld, 0, 'x', NULL),"
             "(95, 96, 59, NULL, 0, 'y', NULL)",
             thread, thread, thread, thread, thread, (long long)nsys_thread(10, 12), thread);
    profile = nsys_import(&file);
    assert_int_equal(find_region(profile, "default@open", -1).truncated, 1);
    assert_int_equal(find_region(profile, "default@open", -1).instances, 0);
    assert_int_equal(find_region(profile, "default@open/default@(empty)", -1).instances, 2);
    assert_true(has_region(profile, "default@open/domain 9@lost domain"));
    assert_true(has_region(profile, "default@elsewhere")); /* ended on another thread */
    llmperf_profile_free(profile);
}

static void domains_have_the_name_of_their_own_process(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;

    (void)state;
    nsys_create(&file, SCHEMA_3_25);
    nsys_sql(&file,
             "INSERT INTO NVTX_EVENTS(start, eventType, globalTid, domainId, text) "
             "VALUES(0, 75, %lld, 3, 'NCCL'), (0, 75, %lld, 3, 'LLM');"
             "INSERT INTO NVTX_EVENTS(start, \"end\", eventType, globalTid, domainId, textId) "
             "VALUES(1, 2, 59, %lld, 3, 1), (1, 2, 59, %lld, 3, 331886);"
             "INSERT INTO StringIds VALUES(331886, 'LLM@prefill')",
             (long long)nsys_thread(10, 11), (long long)nsys_thread(20, 21),
             (long long)nsys_thread(10, 11), (long long)nsys_thread(20, 21));
    profile = nsys_import(&file);
    assert_true(has_region(profile, "NCCL@kernel_a"));
    assert_true(has_region(profile, "LLM@prefill")); /* and case 36: ids are sparse */
    llmperf_profile_free(profile);
}

static void case_27_rows_need_no_order(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;

    (void)state;
    nsys_create(&file, SCHEMA_3_25);
    nsys_range(&file, 10, 11, 100, 200, "second");
    nsys_range(&file, 10, 11, 0, 300, "first");
    nsys_kernel(&file, 10, 5000, 6000, 2, 1);
    nsys_kernel(&file, 10, 1000, 2000, 1, 1);
    nsys_call(&file, 10, 11, 150, 160, 2);
    nsys_call(&file, 10, 11, 50, 60, 1);
    profile = nsys_import(&file);
    assert_int_equal(find_region(profile, "default@first", 0).kernel_count, 2);
    assert_int_equal(find_region(profile, "default@first/default@second", 0).kernel_count, 1);
    check_close(find_region(profile, "default@first", 0).gpu_busy_ms, 0.002);
    llmperf_profile_free(profile);
}

static void case_28_impossible_times_are_counted_and_left_out(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;

    (void)state;
    nsys_create(&file, SCHEMA_3_25);
    nsys_kernel(&file, 10, 300, 200, 1, 1); /* ends before it starts */
    nsys_kernel(&file, 10, 0, 0, 2, 1);     /* no time stamps */
    nsys_kernel(&file, 10, 0, 50, 3, 1);    /* 0 alone is a time */
    nsys_kernel(&file, 10, 400, 500, 4, 1);
    nsys_kernel(&file, 10, 400, 500, 4, 1);               /* twice the same */
    nsys_kernel(&file, 10, 1, 3170918996853653760, 5, 1); /* longer than a day */
    for (uint32_t i = 1; i <= 5; i++)
        nsys_call(&file, 10, 11, i, i, i);
    profile = nsys_import(&file);
    assert_int_equal(ledger_of(profile).records_invalid_time, 2);
    assert_int_equal(ledger_of(profile).records_incomplete, 1);
    assert_int_equal(ledger_of(profile).records_duplicate, 1);
    assert_int_equal(ledger_of(profile).kernels_seen, 2);
    check_close(find_kernel(profile, "kernel_a", "").total_ms, 0.00015);
    llmperf_profile_free(profile);
}

static void add_graph_row(struct nsys_file *file, int64_t start, int64_t end, int64_t device,
                          uint32_t correlation)
{
    nsys_sql(file,
             "CREATE TABLE IF NOT EXISTS CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start, \"end\", deviceId, "
             "contextId, greenContextId, streamId, correlationId, globalPid, graphId, graphExecId);"
             "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(%lld, %lld, %lld, 1, 0, 7, %u, "
             "%lld, 1, 2)",
             (long long)start, (long long)end, (long long)device, correlation,
             (long long)nsys_process(10));
}

static void add_graph_call(struct nsys_file *file, int64_t start, int64_t end, uint32_t correlation)
{
    nsys_sql(file,
             "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(start, \"end\", eventClass, globalTid, "
             "correlationId, nameId, returnValue) VALUES(%lld, %lld, 0, %lld, %u, 5, 0)",
             (long long)start, (long long)end, (long long)nsys_thread(10, 11), correlation);
}

static void case_29_a_graph_counts_once(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;

    (void)state; /* As nodes if it has some, else as a whole; without a device, as that of its
                    context. */
    nsys_create(&file, SCHEMA_3_25);
    nsys_range(&file, 10, 11, 0, 100, "launching");
    add_graph_call(&file, 10, 20, 1);
    add_graph_call(&file, 30, 40, 2);
    nsys_kernel(&file, 10, 1000, 1100, 1, 1);
    nsys_kernel(&file, 10, 1100, 1200, 1, 2);
    nsys_sql(&file, "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = 4294967297");
    add_graph_row(&file, 1000, 1200, 0, 1);
    add_graph_row(&file, 2000, 2500, INT32_MAX, 2);
    add_graph_row(&file, 0, 0, INT32_MAX, 3);
    profile = nsys_import(&file);
    assert_int_equal(find_region(profile, "default@launching", 0).kernel_count, 3);
    check_close(find_kernel(profile, "[CUDA graph]", "default@launching").total_ms, 0.0005);
    assert_string_equal(find_kernel(profile, "[CUDA graph]", "default@launching").captured_in,
                        "LLM@(graph traced as a whole)");
    assert_string_equal(find_kernel(profile, "kernel_a", "default@launching").captured_in,
                        "LLM@(capture not recorded)");
    assert_int_equal(ledger_of(profile).graph_launches, 2);
    assert_int_equal(ledger_of(profile).graph_kernels_seen, 3);
    assert_int_equal(ledger_of(profile).records_incomplete, 1);
    assert_true(has_note(profile, "--cuda-graph-trace=node"));
    llmperf_profile_free(profile);
}

static void graph_nodes_know_the_region_that_captured_them(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;

    (void)state; /* The launch in capture brings no kernel, and misses none. */
    nsys_create(&file, SCHEMA_3_25);
    nsys_sql(&file,
             "CREATE TABLE CUDA_GRAPH_NODE_EVENTS(start, \"end\", eventClass, globalTid, nameId, "
             "graphNodeId, originalGraphNodeId);"
             "INSERT INTO CUDA_GRAPH_NODE_EVENTS VALUES(15, 16, 0, %lld, 3, 5, NULL), "
             "(210, 210, 0, %lld, 3, 6, 5)",
             (long long)nsys_thread(10, 11), (long long)nsys_thread(10, 11));
    nsys_range(&file, 10, 11, 0, 100, "capturing");
    nsys_range(&file, 10, 11, 200, 300, "replaying");
    nsys_call(&file, 10, 11, 10, 20, 1);
    add_graph_call(&file, 220, 230, 2);
    nsys_kernel(&file, 10, 1000, 1100, 2, 1);
    nsys_sql(&file, "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = 6");
    profile = nsys_import(&file);
    assert_string_equal(find_kernel(profile, "kernel_a", "default@replaying").captured_in,
                        "default@capturing");
    assert_int_equal(ledger_of(profile).launches_missing, 0);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    llmperf_profile_free(profile);
}

static void case_30_gpus_are_named_as_the_processes_number_them(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;

    (void)state;
    nsys_create(&file, SCHEMA_3_25);
    nsys_kernel(&file, 10, 0, 10, 1, 1);
    nsys_sql(&file, "INSERT INTO TARGET_INFO_GPU(id, name, cuDevice, smCount, computeMajor, "
                    "computeMinor) VALUES(0, 'GPU \"zero\"', 3, 100, 8, 0), (3, 'GPU three', 0, "
                    "132, 9, 0)");
    profile = nsys_import(&file);
    assert_non_null(
        strstr(llmperf_profile_fact(profile, "env"),
               "{\"device\": 3, \"name\": \"GPU \\\"zero\\\"\", \"compute_capability\": "
               "\"8.0\", \"sm_count\": 100"));
    llmperf_profile_free(profile);
    assert_int_equal(sqlite3_open(file.path, &file.db), SQLITE_OK);
    nsys_sql(&file, "CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId, cudaId, pid, uuid);"
                    "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES(3, 0, 10, ''), (3, 0, 11, '')");
    profile = nsys_import(&file);
    assert_non_null(strstr(llmperf_profile_fact(profile, "env"),
                           "\"gpus\": [{\"device\": 0, \"name\": \"GPU three\""));
    llmperf_profile_free(profile);
}

static void case_31_thread_keys_are_signed(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;

    (void)state; /* A machine id from 128 on makes them negative. */
    nsys_create(&file, SCHEMA_3_25);
    nsys_range(&file, 10, 11, 0, 100, "range");
    nsys_call(&file, 10, 11, 10, 20, 1);
    nsys_kernel(&file, 10, 200, 300, 1, 1);
    nsys_sql(&file, "UPDATE NVTX_EVENTS SET globalTid = globalTid | (1 << 63);"
                    "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = globalTid | (1 << 63);"
                    "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = globalPid | (1 << 63)");
    profile = nsys_import(&file);
    assert_int_equal(find_region(profile, "default@range", 0).kernel_count, 1);
    assert_int_equal(find_region(profile, "default@range", 0).process_id, 10);
    llmperf_profile_free(profile);
}

static void case_32_moved_times_are_noted_and_may_be_negative(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;

    (void)state;
    nsys_create(&file, SCHEMA_3_25);
    nsys_sql(&file, "INSERT INTO META_DATA_EXPORT VALUES('EXPORT_PARAM_TIME_SHIFT', '-1000')");
    nsys_range(&file, 10, 11, -1000, -800, "range");
    nsys_call(&file, 10, 11, -900, -890, 1);
    nsys_kernel(&file, 10, -100, 100, 1, 1);
    profile = nsys_import(&file);
    assert_int_equal(find_region(profile, "default@range", 0).kernel_count, 1);
    check_close(find_region(profile, "default@range", 0).gpu_busy_ms, 0.0002);
    assert_true(has_note(profile, "shifted all times"));
    llmperf_profile_free(profile);
}

static void make_companion(const char *path, const char *suffix, bool make)
{
    char name[600];
    FILE *companion;

    snprintf(name, sizeof(name), "%s%s", path, suffix);
    if (!make) {
        unlink(name);
        return;
    }
    companion = fopen(name, "w");
    assert_non_null(companion);
    fputs("not empty", companion);
    fclose(companion);
}

static void case_33_a_file_that_is_being_written_is_refused(void **state)
{
    static const char *const suffixes[] = { "-journal", "-wal" };
    llmperf_profile *profile = NULL;
    struct nsys_file file;
    const char *path = file.path;
    struct stat info;

    (void)state;
    nsys_create(&file, SCHEMA_3_25);
    nsys_kernel(&file, 10, 0, 10, 1, 1);
    llmperf_profile_free(nsys_import(&file));
    for (size_t i = 0; i < 2; i++) {
        make_companion(file.path, suffixes[i], true);
        assert_int_equal(llmperf_import(&path, 1, NULL, &profile), LLMPERF_EFORMAT);
        check_error("open journal");
        make_companion(file.path, suffixes[i], false);
    }
    assert_int_equal(stat(file.path, &info), 0);
    assert_int_equal(truncate(file.path, info.st_size - 4096), 0);
    assert_int_equal(llmperf_import(&path, 1, NULL, &profile), LLMPERF_EFORMAT);
    check_error("is incomplete");
}

static void case_33_an_export_older_than_its_report_is_told_of(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;
    const char *report;
    struct utimbuf old = { 1000, 1000 };

    (void)state;
    nsys_create(&file, SCHEMA_3_25);
    nsys_kernel(&file, 10, 0, 10, 1, 1);
    report = write_test_file("export.nsys-rep", "x", 1);
    sqlite3_close(file.db);
    assert_int_equal(utime(file.path, &old), 0);
    profile = import_file(file.path, 0);
    assert_true(has_problem(profile, "older than the .nsys-rep"));
    llmperf_profile_free(profile);
    assert_int_equal(unlink(report), 0);
}

static void case_34_ranges_cut_by_the_capture_still_hold_calls(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;

    (void)state;
    nsys_create(&file, SCHEMA_3_25);
    nsys_range(&file, 10, 11, 0, 100, "cut");
    nsys_sql(&file, "UPDATE NVTX_EVENTS SET \"end\" = NULL");
    nsys_call(&file, 10, 11, 500, 600, 1);
    nsys_kernel(&file, 10, 700, 800, 1, 1);
    profile = nsys_import(&file);
    assert_int_equal(find_region(profile, "default@cut", 0).kernel_count, 1);
    assert_int_equal(ledger_of(profile).regions_truncated, 1);
    assert_true(isnan(find_region(profile, "default@cut", 0).wall_sum_ms));
    llmperf_profile_free(profile);
}

static void a_gpu_in_use_without_device_work_is_no_complete_export(void **state)
{
    (void)state;
    for (int used = 0; used < 2; used++) {
        struct nsys_file file;
        llmperf_profile *profile;
        llmperf_ledger ledger = LLMPERF_LEDGER_INIT;

        nsys_create(&file, SCHEMA_3_16);
        nsys_range(&file, 10, 11, 100, 200, "step");
        nsys_sql(&file, "DROP TABLE IF EXISTS TARGET_INFO_CUDA_CONTEXT_INFO;"
                        "CREATE TABLE TARGET_INFO_CUDA_CONTEXT_INFO (contextId INTEGER)");
        if (used)
            nsys_sql(&file, "INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO VALUES (1)");
        profile = nsys_import(&file);
        assert_int_equal(llmperf_profile_ledger(profile, &ledger), 0);
        assert_int_equal(ledger.verdict,
                         used ? LLMPERF_VERDICT_INCOMPLETE : LLMPERF_VERDICT_COMPLETE);
        assert_true(has_problem(profile, "no kernel, memcpy or memset") == used);
        llmperf_profile_free(profile);
    }
}

static void secrets_of_the_machine_are_not_copied(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;
    const char *run = in_test_folder("secret.llmperf");
    char *bytes;
    size_t size;
    FILE *in;

    (void)state;
    nsys_create(&file, SCHEMA_3_25);
    nsys_kernel(&file, 10, 0, 10, 1, 1);
    nsys_sql(&file,
             "CREATE TABLE TARGET_INFO_SYSTEM_ENV(name, value);"
             "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES('DeviceEnvironment', "
             "'HF_TOKEN=hf_secret123');"
             "CREATE TABLE META_DATA_CAPTURE(name, value);"
             "INSERT INTO META_DATA_CAPTURE VALUES('COMMAND', 'hf_secret123');"
             "CREATE TABLE DIAGNOSTIC_EVENT(timestamp, timestampType, source, severity, text, "
             "globalPid);"
             "INSERT INTO DIAGNOSTIC_EVENT VALUES(0, 1, 1, 2, 'hf_secret123 failed', 0), "
             "(0, 1, 1, 3, '17 events were dropped hf_secret123', 0);"
             "INSERT INTO StringIds VALUES(99, 'hf_secret123')");
    profile = nsys_import(&file);
    assert_true(has_problem(profile, "nsys lost records: 1"));
    assert_int_equal(llmperf_profile_save(profile, run), 0);
    llmperf_profile_free(profile);
    assert_non_null(in = fopen(run, "rb"));
    bytes = malloc(1 << 20);
    size = fread(bytes, 1, 1 << 20, in);
    assert_true(size > 0 && size < 1 << 20);
    assert_null(memmem(bytes, size, "hf_secret123", 12));
    fclose(in);
    free(bytes);
}

static void deep_nesting_and_many_names_have_limits(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;

    (void)state;
    nsys_create(&file, SCHEMA_3_25);
    for (int i = 0; i < 200; i++)
        nsys_range(&file, 10, 11, i, 1000 - i, "deep");
    profile = nsys_import(&file);
    assert_true(has_note(profile, "72 ranges are nested more than 128 deep"));
    llmperf_profile_free(profile);
}

static void files_of_other_kinds_are_refused_with_advice(void **state)
{
    struct nsys_file file;

    (void)state;
    nsys_create(&file, SCHEMA_3_25);
    nsys_sql(&file, "DROP TABLE StringIds");
    assert_int_equal(nsys_status(&file), LLMPERF_EFORMAT);
    check_error("not an nsys export");
    nsys_create(&file, SCHEMA_3_25);
    assert_int_equal(nsys_status(&file), LLMPERF_EFORMAT);
    check_error("--trace=cuda,nvtx");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(case_21_tables_and_columns_may_be_missing),
        cmocka_unit_test(case_21_a_view_is_not_read),
        cmocka_unit_test(case_23_the_first_row_of_a_call_counts),
        cmocka_unit_test(case_24_processes_have_correlations_of_their_own),
        cmocka_unit_test(case_25_a_kernel_without_a_call_is_unattributed),
        cmocka_unit_test(case_26_empty_cells_of_ranges),
        cmocka_unit_test(domains_have_the_name_of_their_own_process),
        cmocka_unit_test(case_27_rows_need_no_order),
        cmocka_unit_test(case_28_impossible_times_are_counted_and_left_out),
        cmocka_unit_test(case_29_a_graph_counts_once),
        cmocka_unit_test(graph_nodes_know_the_region_that_captured_them),
        cmocka_unit_test(case_30_gpus_are_named_as_the_processes_number_them),
        cmocka_unit_test(case_31_thread_keys_are_signed),
        cmocka_unit_test(case_32_moved_times_are_noted_and_may_be_negative),
        cmocka_unit_test(case_33_a_file_that_is_being_written_is_refused),
        cmocka_unit_test(case_33_an_export_older_than_its_report_is_told_of),
        cmocka_unit_test(case_34_ranges_cut_by_the_capture_still_hold_calls),
        cmocka_unit_test(a_gpu_in_use_without_device_work_is_no_complete_export),
        cmocka_unit_test(secrets_of_the_machine_are_not_copied),
        cmocka_unit_test(deep_nesting_and_many_names_have_limits),
        cmocka_unit_test(files_of_other_kinds_are_refused_with_advice),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
