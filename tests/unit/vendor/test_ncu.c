/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of ncu. Case numbers are those of the list of edge cases in docs/reference/import.md. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/text.h"
#include "llmperf/sys.h"
#include "tests/support/nsys_file.h"
#include "tests/support/play.h"

#define NVTX_HEADER                                                                                \
    "\"thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg\","               \
    "\"Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg\","
#define RAW_HEADER                                                                                 \
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\"," NVTX_HEADER                            \
    "\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\","       \
    "\"gpu__time_duration.sum\",\"dram__bytes.sum\",\"launch__policy\"\n"                          \
    "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"us\",\"Mbyte\",\"\"\n"
#define DETAILS_HEADER                                                                             \
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\"," \
    "\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\","             \
    "\"Metric Unit\",\"Metric Value\",\"Rule Name\",\"Rule Type\",\"Rule Description\","           \
    "\"Estimated Speedup Type\",\"Estimated Speedup\"\n"

static const char prefill[] = "916  \"\"LLM:prefill:none:none:none:none:ASCII:prefill\"\" ";

static llmperf_profile *import_text(const char *text)
{
    return import_file(write_test_file("ncu.csv", text, strlen(text)), 0);
}

static int import_status(const char *text)
{
    const char *path = write_test_file("ncu.csv", text, strlen(text));
    llmperf_profile *profile = NULL;
    int status = llmperf_import(&path, 1, NULL, &profile);

    llmperf_profile_free(profile);
    return status;
}

/* A row of page raw. */
static void add_raw(struct lp_text *table, int id, int pid, const char *nvtx, const char *kernel,
                    const char *values)
{
    lp_text_printf(table,
                   "\"%d\",\"%d\",\"nv\",\"127.0.0.1\",\"%s\",\"\",\"%s\",\"1\",\"7\","
                   "\"(128, 1, 1)\",\"(1, 1, 1)\",\"0\",\"9.0\",%s\n",
                   id, pid, nvtx, kernel, values);
}

static void add_detail(struct lp_text *table, int id, int pid, const char *section,
                       const char *name, const char *unit, const char *value)
{
    lp_text_printf(table,
                   "\"%d\",\"%d\",\"nv\",\"127.0.0.1\",\"gemm(float *, int)\",\"1\",\"7\","
                   "\"(128, 1, 1)\",\"(1, 1, 1)\",\"0\",\"9.0\",\"%s\",\"%s\",\"%s\",\"%s\",\n",
                   id, pid, section, name, unit, value);
}

/* The metric of that name, group and place; fails if there is none. */
static llmperf_metric_stats find(const llmperf_profile *profile, const char *name,
                                 const char *group, const char *region, const char *kernel)
{
    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_METRICS); i++) {
        llmperf_metric_stats stats = LLMPERF_METRIC_STATS_INIT;

        llmperf_profile_metric(profile, i, &stats);
        if (strcmp(stats.name, name) == 0 && (!group || strcmp(stats.group, group) == 0) &&
            (!region || (stats.region && strcmp(stats.region, region) == 0)) &&
            (!kernel || (stats.kernel && strcmp(stats.kernel, kernel) == 0)))
            return stats;
    }
    fail_msg("no metric %s", name);
    return (llmperf_metric_stats)LLMPERF_METRIC_STATS_INIT;
}

static void results_stand_under_kernels_and_ranges(void **state)
{
    struct lp_text table = { NULL, 0, 0, false };
    llmperf_profile *profile;

    (void)state;
    lp_text_puts(&table, RAW_HEADER);
    add_raw(&table, 0, 916, "", "warm(int)", "\"5\",\"1\",\"PolicySpread\"");
    add_raw(&table, 1, 916, prefill, "gemm(int)", "\"10\",\"2.5\",\"PolicySpread\"");
    add_raw(&table, 2, 916, prefill, "gemm(int)", "\"30\",\"3.5\",\"PolicyOther\"");
    profile = import_text(table.bytes);
    assert_int_equal(find_kernel(profile, "gemm(int)", "LLM@prefill").calls, 2);
    check_close(find_kernel(profile, "gemm(int)", "LLM@prefill").total_ms, 0.04);
    check_close(find_kernel(profile, "gemm(int)", "LLM@prefill").max_ms, 0.03);
    assert_int_equal(find_kernel(profile, "warm(int)", "").calls, 1);
    check_close(find(profile, "dram__bytes.sum", NULL, "LLM@prefill", "gemm(int)").mean, 3e6);
    check_close(find(profile, "dram__bytes.sum", NULL, "LLM@prefill", "gemm(int)").std,
                sqrt(0.5) * 1e6);
    assert_string_equal(find(profile, "dram__bytes.sum", NULL, "", NULL).unit, "byte");
    assert_string_equal(find(profile, "launch__policy", NULL, "", NULL).text, "PolicySpread");
    assert_null(find(profile, "launch__policy", NULL, "LLM@prefill", NULL).text);
    assert_int_equal(ledger_of(profile).kernels_seen, 3);
    assert_int_equal(ledger_of(profile).kernels_outside, 1);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_INCOMPLETE);
    assert_int_equal(ledger_of(profile).launches_expected, LLMPERF_UNKNOWN);
    assert_true(isnan(find_region(profile, "LLM@prefill", 0).wall_sum_ms));
    /* Kernels run one at a time under ncu. */
    assert_float_equal(find_region(profile, "LLM@prefill", 0).gpu_busy_ms,
                       find_region(profile, "LLM@prefill", 0).kernel_ms, 1e-9f);
    llmperf_profile_free(profile);
    lp_text_clear(&table);
}

static void case_1_metric_rows_are_shorter_than_the_header(void **state)
{
    struct lp_text table = { NULL, 0, 0, false };
    llmperf_profile *profile;

    (void)state; /* Rows of rules are whole and have no metric. */
    lp_text_puts(&table, DETAILS_HEADER);
    add_detail(&table, 0, 1, "GPU Speed Of Light Throughput", "Duration", "us", "6.46");
    lp_text_puts(&table, "\"0\",\"1\",\"nv\",\"127.0.0.1\",\"gemm(float *, int)\",\"1\",\"7\","
                         "\"(128, 1, 1)\",\"(1, 1, 1)\",\"0\",\"9.0\",\"SpeedOfLight\",\"\",\"\","
                         "\"\",\"SOLBottleneck\",\"OPT\",\"Too \"\"small\"\", 50% of it, see "
                         "https://x\",\"global\",\"96\"\n"
                         "\"0\",\"1\",\"nv\"\n");
    profile = import_text(table.bytes);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_METRICS), 1);
    check_close(find(profile, "Duration", NULL, NULL, NULL).mean, 6460);
    assert_true(has_problem(profile, "ncu: 1 table rows were cut"));
    llmperf_profile_free(profile);
    lp_text_clear(&table);
}

static void case_3_other_output_stands_around_the_table(void **state)
{
    struct lp_text table = { NULL, 0, 0, false };
    llmperf_profile *profile;

    (void)state;
    lp_text_puts(&table, "==PROF== Connected to process 819 (./nv)\n\"quoted\" output, \"ID\"\n\"\n"
                         "==WARNING== Note: Running with unmodified GPU clocks.\n");
    lp_text_puts(&table, RAW_HEADER);
    add_raw(&table, 0, 916, prefill, "gemm", "\"10\",\"2\",\"x\"");
    lp_text_puts(&table, "==PROF== Disconnected\n2208 \"x\"\n");
    profile = import_text(table.bytes);
    assert_int_equal(ledger_of(profile).kernels_seen, 1);
    llmperf_profile_free(profile);
    lp_text_clear(&table);
}

static void case_4_no_table_gives_the_reason_of_ncu(void **state)
{
    (void)state;
    assert_int_equal(import_status("==PROF== Connected to process 1 (x)\n"
                                   "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission"
                                   "\n==WARNING== No kernels were profiled.\n"),
                     LLMPERF_EFORMAT);
    check_error("ERR_NVGPUCTRPERM");
    assert_int_equal(import_status("==PROF== Connected\n==WARNING== No kernels were profiled.\n"),
                     LLMPERF_EFORMAT);
    check_error("No kernels were profiled");
    assert_int_equal(import_status("==PROF== Connected to process 1 (x)\n"), LLMPERF_EFORMAT);
    check_error("ncu was killed");
}

static void case_5_units_alone_are_no_results(void **state)
{
    (void)state;
    assert_int_equal(import_status(RAW_HEADER), LLMPERF_EFORMAT);
    check_error("hold no results");
}

static void case_7_decimal_commas_are_not_guessed(void **state)
{
    struct lp_text table = { NULL, 0, 0, false };
    llmperf_profile *profile;

    (void)state;
    lp_text_puts(&table, RAW_HEADER);
    add_raw(&table, 0, 1, "", "k", "\"24,13\",\"1,234,567.5\",\"x\"");
    profile = import_text(table.bytes);
    assert_true(has_problem(profile, "LC_ALL=C"));
    check_close(find(profile, "dram__bytes.sum", NULL, NULL, NULL).mean, 1234567.5e6);
    assert_string_equal(find(profile, "gpu__time_duration.sum", NULL, NULL, NULL).text, "24,13");
    llmperf_profile_free(profile);
    lp_text_clear(&table);
}

static void case_8_units_are_those_of_the_row(void **state)
{
    struct lp_text table = { NULL, 0, 0, false };
    llmperf_profile *profile;

    (void)state;
    lp_text_puts(&table, DETAILS_HEADER);
    add_detail(&table, 0, 1, "S", "Duration", "us", "500");
    add_detail(&table, 1, 1, "S", "Duration", "ms", "1.5");
    add_detail(&table, 2, 1, "S", "Duration", "second", "0.004");
    profile = import_text(table.bytes);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_METRICS), 1);
    check_close(find(profile, "Duration", "S", NULL, NULL).mean, 2e6);
    assert_int_equal(find(profile, "Duration", "S", NULL, NULL).count, 3);
    check_close(find_kernel(profile, "gemm(float *, int)", NULL).total_ms, 6);
    llmperf_profile_free(profile);
    lp_text_clear(&table);
}

static void case_9_cells_without_a_value_count_nothing(void **state)
{
    static const char *const nothing[] = { "n/a", "", "no data", "nan", "inf" };
    struct lp_text table = { NULL, 0, 0, false };
    llmperf_profile *profile;

    (void)state;
    lp_text_puts(&table, RAW_HEADER);
    for (int i = 0; i < 5; i++) {
        char values[64];

        snprintf(values, sizeof(values), "\"%s\",\"%d\",\"(148, 1, 1)\"", nothing[i], i);
        add_raw(&table, i, 1, "", "k", values);
    }
    profile = import_text(table.bytes);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_METRICS), 2);
    assert_int_equal(find(profile, "dram__bytes.sum", NULL, NULL, NULL).count, 5);
    assert_string_equal(find(profile, "launch__policy", NULL, NULL, NULL).text, "(148, 1, 1)");
    assert_true(isnan(find_kernel(profile, "k", "").total_ms)); /* never 0 */
    llmperf_profile_free(profile);
    lp_text_clear(&table);
}

static void case_10_names_with_unbalanced_brackets_stay_whole(void **state)
{
    static const char *const names[] = { "void unnamed>::k<32>(const float *, int)", "<unnamed>::k",
                                         "(anonymous namespace)::k(int)", "k [clone .constprop.0]",
                                         "f()::{lambda(int)#1}" };
    struct lp_text table = { NULL, 0, 0, false };
    llmperf_profile *profile;

    (void)state;
    lp_text_puts(&table, RAW_HEADER);
    for (int i = 0; i < 5; i++)
        add_raw(&table, i, 1, "", names[i], "\"1\",\"1\",\"\"");
    profile = import_text(table.bytes);
    for (int i = 0; i < 5; i++)
        assert_int_equal(find_kernel(profile, names[i], "").calls, 1);
    llmperf_profile_free(profile);
    lp_text_clear(&table);
}

static void case_13_a_second_header_begins_a_second_table(void **state)
{
    struct lp_text table = { NULL, 0, 0, false };
    llmperf_profile *profile;

    (void)state; /* Of another page, and directly behind the first. */
    lp_text_puts(&table, RAW_HEADER);
    add_raw(&table, 0, 1, "", "gemm(float *, int)", "\"7\",\"1\",\"\"");
    lp_text_puts(&table, DETAILS_HEADER);
    add_detail(&table, 0, 2, "S", "Duration", "ns", "9000");
    lp_text_puts(&table, RAW_HEADER);
    add_raw(&table, 0, 1, "", "gemm(float *, int)", "\"11\",\"1\",\"\"");
    profile = import_text(table.bytes);
    assert_int_equal(ledger_of(profile).kernels_seen, 3);
    check_close(find_kernel(profile, "gemm(float *, int)", "").total_ms, 0.018);
    llmperf_profile_free(profile);
    lp_text_clear(&table);
}

static void case_14_sections_tell_metrics_of_one_name_apart(void **state)
{
    struct lp_text table = { NULL, 0, 0, false };
    llmperf_profile *profile;

    (void)state;
    lp_text_puts(&table, DETAILS_HEADER);
    add_detail(&table, 0, 1, "Speed", "SM Frequency", "Ghz", "1.99");
    add_detail(&table, 0, 1, "Clocks", "SM Frequency", "Ghz", "2.15");
    profile = import_text(table.bytes);
    check_close(find(profile, "SM Frequency", "Speed", NULL, NULL).mean, 1.99e9);
    check_close(find(profile, "SM Frequency", "Clocks", NULL, NULL).mean, 2.15e9);
    assert_int_equal(ledger_of(profile).kernels_seen, 1);
    llmperf_profile_free(profile);
    lp_text_clear(&table);
}

static void case_15_processes_and_runs_repeat_ids(void **state)
{
    struct lp_text table = { NULL, 0, 0, false };
    llmperf_profile *profile;

    (void)state;
    lp_text_puts(&table, RAW_HEADER);
    add_raw(&table, 0, 1, "", "k", "\"1\",\"1\",\"\"");
    add_raw(&table, 0, 2, "", "k", "\"2\",\"1\",\"\"");
    add_raw(&table, 0, 1, "", "k", "\"4\",\"1\",\"\""); /* ids begin anew */
    profile = import_text(table.bytes);
    assert_int_equal(ledger_of(profile).kernels_seen, 3);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_KERNELS),
                     2); /* of two processes */
    llmperf_profile_free(profile);
    lp_text_clear(&table);
}

/* With one more metric, by which it is known how ranges were replayed. */
#define RANGE_TABLE(metric)                                                                        \
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\"," NVTX_HEADER                            \
    "\"Kernel Name\",\"Context\",\"Stream\",\"Device\",\"CC\",\"dram__bytes.sum\",\"" metric       \
    "\"\n"                                                                                         \
    "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"byte\",\"\"\n"                       \
    "\"0\",\"1489\",\"nv\",\"h\","                                                                 \
    "\"1489  \"\"LLM:prefill:none:none:none:none:ASCII:prefill\"\"  "                              \
    "\"\"LLM:mlp:none:none:none:none:ASCII:mlp\"\" \",\"\",\"range\",\"1\",\"n/a\",\"0\",\"9.0\"," \
    "\"100\",\"1\"\n"                                                                              \
    "\"1\",\"1489\",\"nv\",\"h\","                                                                 \
    "\"1489  \"\"LLM:prefill:none:none:none:none:ASCII:prefill\"\" \","                            \
    "\"\",\"range\",\"1\",\"n/a\",\"0\",\"9.0\",\"300\",\"1\"\n"

static void case_16_results_of_a_range_are_of_the_region(void **state)
{
    llmperf_profile *profile = import_text(RANGE_TABLE("launch__waves_per_multiprocessor"));

    (void)state; /* The last range of the cell is the one that was replayed. */
    assert_int_equal(find_region(profile, "LLM@prefill/LLM@mlp", 0).instances, 1);
    assert_int_equal(find_region(profile, "LLM@prefill", 0).instances, 1);
    assert_int_equal(find_region(profile, "LLM@prefill", 0).kernel_count, LLMPERF_UNKNOWN);
    /* The parts of amounts that are unknown are unknown too. */
    assert_int_equal(find_region(profile, "LLM@prefill", 0).window_flops, LLMPERF_UNKNOWN);
    assert_null(find(profile, "dram__bytes.sum", NULL, "LLM@prefill", NULL).kernel);
    check_close(find(profile, "dram__bytes.sum", NULL, "LLM@prefill", NULL).mean, 300);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_KERNELS), 0);
    llmperf_profile_free(profile);
}

static void case_16_replay_of_the_application_adds_inner_ranges(void **state)
{
    llmperf_profile *profile = import_text(RANGE_TABLE("launch__grid_size"));

    (void)state; /* The first one was measured. */
    assert_int_equal(find_region(profile, "LLM@prefill", 0).instances, 2);
    check_close(find(profile, "dram__bytes.sum", NULL, "LLM@prefill", NULL).mean, 200);
    llmperf_profile_free(profile);
}

static void case_16_a_table_without_launches_says_nothing_of_the_replay(void **state)
{
    llmperf_profile *profile = import_text(RANGE_TABLE("sm__cycles_elapsed.max"));

    (void)state; /* The last range of the cell is taken, as where the range was replayed. */
    assert_int_equal(find_region(profile, "LLM@prefill/LLM@mlp", 0).instances, 1);
    assert_int_equal(find_region(profile, "LLM@prefill", 0).instances, 1);
    llmperf_profile_free(profile);
}

static void case_17_names_of_ranges_hold_anything(void **state)
{
    static const char *const cells[][2] = {
        { "7  \"\"CCCL:cub::DeviceReduce::Reduce:none:none:none:none:ASCII:cub::DeviceReduce::"
          "Reduce\"\" ",
          "CCCL@cub::DeviceReduce::Reduce" },
        { "7  \"\"LLM:LLM@prefill:none:none:none:none:REGISTERED:LLM@prefill\"\" ", "LLM@prefill" },
        { "7  \"\"<default domain>:plain:none:none:none:none:none:none\"\" ", "default@plain" },
        { "7  \"\"D:a:ASCII:b:none:none:none:none:UNICODE:a:ASCII:b\"\" ", "D@a:ASCII:b" },
        { "7  \"\"D:x\"\"  y/z:none:none:none:none:ASCII:x\"\"  y/z\"\" ", "D@x\"  y/z" },
        { "7  \"\"<default domain>:aten::mm, op_id = 3:none:none:none:none:ASCII:aten::mm, op_id = "
          "3\"\" ",
          "default@aten::mm" },
        { "7  \"\"odd\"\" ", "default@odd" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
        struct lp_text table = { NULL, 0, 0, false };
        llmperf_profile *profile;

        lp_text_puts(&table, RAW_HEADER);
        add_raw(&table, 0, 1, cells[i][0], "k", "\"1\",\"1\",\"\"");
        profile = import_text(table.bytes);
        assert_int_equal(find_kernel(profile, "k", cells[i][1]).calls, 1);
        llmperf_profile_free(profile);
        lp_text_clear(&table);
    }
}

static void a_summary_keeps_its_bounds(void **state)
{
    llmperf_profile *profile = import_text(
        "\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Block Size\",\"Grid "
        "Size\",\"Device\",\"CC\",\"Invocations\",\"Section Name\",\"Metric Name\",\"Metric "
        "Unit\",\"Minimum\",\"Maximum\",\"Average\"\n"
        "\"1\",\"nv\",\"h\",\"k\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"0\",\"9.0\",\"4\",\"S\","
        "\"Duration\",\"us\",\"1\",\"7\",\"2.5\"\n");
    llmperf_metric_stats stats = find(profile, "Duration", "S", NULL, NULL);

    (void)state;
    assert_int_equal(stats.count, 4);
    check_close(stats.mean, 2500);
    check_close(stats.min, 1000);
    check_close(stats.max, 7000);
    assert_true(isnan(stats.std));
    assert_int_equal(find_kernel(profile, "k", NULL).calls, 4);
    check_close(find_kernel(profile, "k", NULL).total_ms, 0.01);
    llmperf_profile_free(profile);
}

static void pages_of_one_report_count_results_once(void **state)
{
    struct lp_text raw = { NULL, 0, 0, false }, details = { NULL, 0, 0, false };
    const char *paths[2];
    llmperf_profile *profile;

    (void)state; /* And times are those of page raw, which are not rounded. */
    lp_text_puts(&raw, RAW_HEADER);
    lp_text_puts(&details, DETAILS_HEADER);
    for (int i = 0; i < 3; i++) {
        add_raw(&raw, i, 1, "", "gemm(float *, int)", "\"24.128\",\"1\",\"\"");
        add_detail(&details, i, 1, "S", "Duration", "us", "24.13");
    }
    paths[0] = write_test_file("details.csv", details.bytes, details.length);
    paths[1] = write_test_file("raw.csv", raw.bytes, raw.length);
    assert_int_equal(llmperf_import(paths, 2, NULL, &profile), 0);
    /* Page details has no NVTX columns here, so its kernel is of no known region. */
    check_close(find_kernel(profile, "gemm(float *, int)", "").total_ms, 3 * 0.024128);
    llmperf_profile_free(profile);
    paths[0] = paths[1];
    assert_int_equal(llmperf_import(paths, 2, NULL, &profile), 0);
    assert_int_equal(ledger_of(profile).kernels_seen, 3);
    assert_int_equal(find(profile, "dram__bytes.sum", NULL, NULL, NULL).count, 3);
    llmperf_profile_free(profile);
    lp_text_clear(&raw);
    lp_text_clear(&details);
}

static void metrics_join_the_timeline_of_nsys(void **state)
{
    struct lp_text table = { NULL, 0, 0, false };
    struct nsys_file file;
    llmperf_profile *profile;
    const char *paths[2];

    (void)
        state; /* ncu prints no namespaces, and of nested ranges only the one that was asked for. */
    nsys_create(&file, SCHEMA_3_25);
    nsys_sql(&file, "INSERT INTO StringIds VALUES(9, 'void ns::inner::gemm<(int)4>(float *)')");
    nsys_range(&file, 10, 11, 0, 1000, "LLM@prefill");
    nsys_range(&file, 10, 11, 50, 900, "LLM@mlp");
    nsys_call(&file, 10, 11, 100, 110, 1);
    nsys_kernel(&file, 10, 2000, 5000, 1, 9);
    sqlite3_close(file.db);
    lp_text_puts(&table, RAW_HEADER);
    add_raw(&table, 0, 77, "7  \"\"LLM:mlp:none:none:none:none:ASCII:mlp\"\" ",
            "void gemm<4>(float *)", "\"99\",\"2\",\"x\"");
    add_raw(&table, 1, 77, "7  \"\"X:y:none:none:none:none:ASCII:y\"\" ", "other",
            "\"1\",\"1\",\"x\"");
    paths[0] = write_test_file("ncu.csv", table.bytes, table.length);
    paths[1] = file.path;
    assert_int_equal(llmperf_import(paths, 2, NULL, &profile), 0);
    assert_string_equal(llmperf_profile_fact(profile, "source"), "nsys, ncu");
    assert_int_equal(ledger_of(profile).kernels_seen, 1); /* those of ncu ran in another run */
    check_close(find_kernel(profile, "void ns::inner::gemm<(int)4>(float *)", "LLM@prefill/LLM@mlp")
                    .total_ms,
                0.003);
    check_close(find(profile, "dram__bytes.sum", NULL, "LLM@prefill/LLM@mlp",
                     "void ns::inner::gemm<(int)4>(float *)")
                    .mean,
                2e6);
    assert_true(has_note(profile, "1 kernels and 1 ranges could not be matched"));
    llmperf_profile_free(profile);
    lp_text_clear(&table);
}

static void case_41_reports_of_the_tools_are_refused_with_advice(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *advice;
    } files[] = {
        { "NVR\0\x02\0\0\0\x08\x06", 10, "ncu --import" },
        { "\x28\xb5\x2f\xfd....", 8, "ncu --import" },
        { "NVIDIA Tegra Profiler Report 1.", 31, "nsys export --type=sqlite" },
        { "{\"schemaVersion\": 1, \"traceEvents\": [", 36, "has no known format" },
        { "", 0, "has no known format" },
        { "\0\0\0", 3, "has no known format" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        const char *path = write_test_file("file", files[i].bytes, files[i].size);
        llmperf_profile *profile = NULL;

        assert_int_equal(llmperf_import(&path, 1, NULL, &profile), LLMPERF_EFORMAT);
        check_error(files[i].advice);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_stand_under_kernels_and_ranges),
        cmocka_unit_test(case_1_metric_rows_are_shorter_than_the_header),
        cmocka_unit_test(case_3_other_output_stands_around_the_table),
        cmocka_unit_test(case_4_no_table_gives_the_reason_of_ncu),
        cmocka_unit_test(case_5_units_alone_are_no_results),
        cmocka_unit_test(case_7_decimal_commas_are_not_guessed),
        cmocka_unit_test(case_8_units_are_those_of_the_row),
        cmocka_unit_test(case_9_cells_without_a_value_count_nothing),
        cmocka_unit_test(case_10_names_with_unbalanced_brackets_stay_whole),
        cmocka_unit_test(case_13_a_second_header_begins_a_second_table),
        cmocka_unit_test(case_14_sections_tell_metrics_of_one_name_apart),
        cmocka_unit_test(case_15_processes_and_runs_repeat_ids),
        cmocka_unit_test(case_16_results_of_a_range_are_of_the_region),
        cmocka_unit_test(case_16_replay_of_the_application_adds_inner_ranges),
        cmocka_unit_test(case_16_a_table_without_launches_says_nothing_of_the_replay),
        cmocka_unit_test(case_17_names_of_ranges_hold_anything),
        cmocka_unit_test(a_summary_keeps_its_bounds),
        cmocka_unit_test(pages_of_one_report_count_results_once),
        cmocka_unit_test(metrics_join_the_timeline_of_nsys),
        cmocka_unit_test(case_41_reports_of_the_tools_are_refused_with_advice),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
