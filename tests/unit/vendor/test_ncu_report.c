/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of ncu (.ncu-rep): the same as their tables, and whatever may be wrong with them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/file.h"
#include "lib/base/text.h"
#include "lib/vendor/ncu/report.h"
#include "llmperf/llmperf.h"
#include "tests/support/nsys_file.h"
#include "tests/support/play.h"

/* A report while it is written: messages are texts that hold any bytes. */

static void put_varint(struct lp_text *out, uint64_t value)
{
    for (; value > 127; value >>= 7)
        lp_text_add(out, (const char[]){ (char)((value & 127) | 128) }, 1);
    lp_text_add(out, (const char[]){ (char)value }, 1);
}

static void put_number(struct lp_text *out, uint32_t field, uint64_t value)
{
    put_varint(out, (uint64_t)field << 3);
    put_varint(out, value);
}

static void put_bytes(struct lp_text *out, uint32_t field, const char *bytes, size_t size)
{
    put_varint(out, (uint64_t)field << 3 | 2);
    put_varint(out, size);
    lp_text_add(out, bytes, size);
}

static void put_string(struct lp_text *out, uint32_t field, const char *text)
{
    put_bytes(out, field, text, strlen(text));
}

/* Takes the message. */
static void put_message(struct lp_text *out, uint32_t field, struct lp_text *message)
{
    put_bytes(out, field, message->bytes ? message->bytes : "", message->length);
    lp_text_clear(message);
    *message = (struct lp_text){ NULL, 0, 0, false };
}

static void put_size(struct lp_text *out, size_t size)
{
    const char raw[4] = { (char)size, (char)(size >> 8), (char)(size >> 16), (char)(size >> 24) };

    lp_text_add(out, raw, sizeof(raw));
}

static void put_double(struct lp_text *out, uint32_t field, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    put_varint(out, (uint64_t)field << 3 | 1);
    for (int i = 0; i < 8; i++)
        lp_text_add(out, (const char[]){ (char)(bits >> (8 * i)) }, 1);
}

static struct lp_text text_none(void)
{
    return (struct lp_text){ NULL, 0, 0, false };
}

static void put_metric(struct lp_text *result, uint32_t field, uint64_t name, double number)
{
    struct lp_text metric = text_none(), value = text_none();

    put_double(&value, 3, number);
    put_number(&metric, 1, name);
    put_message(&metric, 2, &value);
    put_message(result, field, &metric);
}

static void begin_report(struct lp_text *report, uint64_t version)
{
    struct lp_text header = text_none();

    lp_text_add(report, "NVR", 4);
    put_number(&header, 1, version);
    put_size(report, header.length);
    lp_text_add(report, header.bytes, header.length);
    lp_text_clear(&header);
}

/* A block with one result, of a field of the header that counts results. Takes the result. */
static void put_block(struct lp_text *report, uint32_t kind, struct lp_text *result,
                      const char *const *names, const char *command)
{
    struct lp_text header = text_none(), table = text_none(), process = text_none(),
                   session = text_none();

    put_number(&header, kind, 1);
    put_number(&header, 5, result->length + 4);
    put_number(&process, 1, 77);
    put_message(&header, 6, &process);
    for (; names && *names; names++)
        put_string(&table, 1, *names);
    put_message(&header, 4, &table);
    if (command) {
        put_string(&session, 11, command);
        put_message(&header, 3, &session);
    }
    put_size(report, header.length);
    lp_text_add(report, header.bytes, header.length);
    put_size(report, result->length);
    lp_text_add(report, result->bytes, result->length);
    lp_text_clear(&header);
    lp_text_clear(result);
}

static const char *const usual_names[] = { "gpu__time_duration.sum", "dram__bytes.sum.per_second",
                                           "launch__device_id", NULL };

/* A kernel of `ns`, in `state` unless that holds nothing, which is taken. */
static struct lp_text make_kernel(const char *name, double ns, struct lp_text *state)
{
    struct lp_text result = text_none();

    put_number(&result, 1, 5); /* thread */
    put_string(&result, 7, name);
    put_metric(&result, 13, 0, ns);
    put_metric(&result, 13, 0, ns + 1); /* once more: does not count */
    put_metric(&result, 13, 1, 2e9);
    put_metric(&result, 13, 2, 3);
    if (state)
        put_message(&result, 21, state);
    return result;
}

static void put_domain(struct lp_text *state, uint64_t id, const char *name)
{
    struct lp_text domain = text_none();

    put_number(&domain, 1, id);
    put_string(&domain, 2, name);
    put_message(state, 1, &domain);
}

/* Ranges of a thread (or started ones: thread 0) in a domain; names up to NULL. */
static void put_ranges(struct lp_text *state, uint64_t thread, uint64_t domain,
                       const char *const *names)
{
    struct lp_text stack = text_none(), message = text_none();

    put_number(&stack, 1, domain);
    for (uint64_t id = 0; *names; names++, id++) {
        struct lp_text range = text_none();

        if (thread == 0)
            put_number(&range, 1, id);
        put_string(&range, thread == 0 ? 2 : 1, *names);
        put_message(&stack, 3, &range);
    }
    if (thread == 0) {
        put_message(state, 3, &stack);
        return;
    }
    put_number(&message, 1, thread);
    put_message(&message, 2, &stack);
    put_message(state, 2, &message);
}

static int import_report(struct lp_text *report, size_t size, llmperf_profile **profile)
{
    const char *path = write_test_file("report.ncu-rep", report->bytes, size);

    *profile = NULL;
    return llmperf_import(&path, 1, NULL, profile);
}

static llmperf_profile *import_whole(struct lp_text *report)
{
    llmperf_profile *profile;

    if (import_report(report, report->length, &profile) < 0)
        fail_msg("%s", llmperf_last_error());
    lp_text_clear(report);
    return profile;
}

static void refused(struct lp_text *report, size_t size, const char *why)
{
    llmperf_profile *profile;

    assert_int_equal(import_report(report, size, &profile), LLMPERF_EFORMAT);
    if (!strstr(llmperf_last_error(), why) || strchr(llmperf_last_error(), '\n'))
        fail_msg("\"%s\" lacks \"%s\"", llmperf_last_error(), why);
}

/* Samples of a real tool */

static llmperf_profile *import_sample(const char *name)
{
    char path[512];
    const char *paths[] = { path };
    llmperf_profile *profile = NULL;

    snprintf(path, sizeof(path), "%s/ncu/%s", getenv("LLMPERF_TEST_DATA"), name);
    if (llmperf_import(paths, 1, NULL, &profile) < 0)
        fail_msg("%s", llmperf_last_error());
    return profile;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Reports say "scale<(int)2>", as nsys does, and ncu prints "scale<2>". */
static bool same_kernel(const char *report, const char *table)
{
    static const char cast[] = "(int)";

    if (!report || !table)
        return report == table;
    for (; *report; report++, table++) {
        if (strncmp(report, cast, strlen(cast)) == 0)
            report += strlen(cast);
        if (*report != *table)
            return false;
    }
    return !*table;
}

/* ncu printed two decimals. */
static bool near(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 0.0051 + 1e-9 * fabs(b);
}

static void compare_metric(const llmperf_profile *report, const llmperf_metric_stats *cell)
{
    for (size_t i = 0; i < llmperf_profile_count(report, LLMPERF_ROWS_METRICS); i++) {
        llmperf_metric_stats value = LLMPERF_METRIC_STATS_INIT;

        llmperf_profile_metric(report, i, &value);
        if (!same_text(value.name, cell->name) || !same_text(value.region, cell->region) ||
            !same_kernel(value.kernel, cell->kernel))
            continue;
        if (value.count != cell->count || value.device != cell->device ||
            value.process_id != cell->process_id || !near(value.mean, cell->mean) ||
            !near(value.min, cell->min) || !near(value.max, cell->max) ||
            !same_text(value.text, cell->text) || !same_text(value.unit, cell->unit))
            fail_msg("%s of %s: %g %s, the table says %g %s", cell->name,
                     cell->kernel ? cell->kernel : cell->region, value.mean, value.unit, cell->mean,
                     cell->unit);
        return;
    }
    fail_msg("%s of %s is missing", cell->name, cell->kernel ? cell->kernel : cell->region);
}

static void compare_sample(const char *name, size_t metrics)
{
    char file[64];
    llmperf_profile *report, *table;

    snprintf(file, sizeof(file), "%s.ncu-rep", name);
    report = import_sample(file);
    snprintf(file, sizeof(file), "%s.csv", name);
    table = import_sample(file);
    assert_int_equal(llmperf_profile_count(table, LLMPERF_ROWS_METRICS), metrics);
    assert_int_equal(llmperf_profile_count(report, LLMPERF_ROWS_METRICS), metrics);
    for (size_t i = 0; i < metrics; i++) {
        llmperf_metric_stats cell = LLMPERF_METRIC_STATS_INIT;

        llmperf_profile_metric(table, i, &cell);
        compare_metric(report, &cell);
    }
    assert_int_equal(llmperf_profile_count(report, LLMPERF_ROWS_KERNELS),
                     llmperf_profile_count(table, LLMPERF_ROWS_KERNELS));
    assert_int_equal(llmperf_profile_count(report, LLMPERF_ROWS_REGIONS),
                     llmperf_profile_count(table, LLMPERF_ROWS_REGIONS));
    for (size_t i = 0; i < llmperf_profile_count(table, LLMPERF_ROWS_REGIONS); i++) {
        llmperf_region_stats a = LLMPERF_REGION_STATS_INIT, b = a;

        llmperf_profile_region(report, i, &a);
        llmperf_profile_region(table, i, &b);
        assert_string_equal(a.path, b.path);
        assert_int_equal(a.instances, b.instances);
        assert_int_equal(a.kernel_count, b.kernel_count);
        assert_true(near(a.kernel_ms, b.kernel_ms));
    }
    assert_string_equal(llmperf_profile_fact(report, "env"), llmperf_profile_fact(table, "env"));
    llmperf_profile_free(report);
    llmperf_profile_free(table);
}

static void kernels_and_graphs_are_those_of_the_table(void **state)
{
    (void)state;
    compare_sample("kernels", 1286);
}

static void ranges_are_those_of_the_table(void **state)
{
    llmperf_profile *profile;

    (void)state; /* A range that is replayed lies in the ranges around it. */
    compare_sample("ranges", 1623);
    profile = import_sample("ranges.ncu-rep");
    assert_int_equal(find_region(profile, "LLM@forward/LLM@stem", 0).instances, 1);
    assert_int_equal(find_region(profile, "LLM@forward/LLM@head", 0).instances, 1);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_REGIONS), 3);
    llmperf_profile_free(profile);
}

static void a_table_beside_its_report_is_left_out(void **state)
{
    char report[512], table[512];
    const char *paths[] = { table, report };
    llmperf_profile *profile = NULL;

    (void)state;
    snprintf(report, sizeof(report), "%s/ncu/kernels.ncu-rep", getenv("LLMPERF_TEST_DATA"));
    snprintf(table, sizeof(table), "%s/ncu/kernels.csv", getenv("LLMPERF_TEST_DATA"));
    assert_int_equal(llmperf_import(paths, 2, NULL, &profile), LLMPERF_OK);
    assert_int_equal(ledger_of(profile).kernels_seen, 5);
    assert_true(has_note(profile, "ncu tables were skipped"));
    llmperf_profile_free(profile);
}

/* Made ones */

static void results_have_their_names_values_and_units(void **state)
{
    struct lp_text report = text_none(), nvtx = text_none(), result;
    llmperf_profile *profile;
    llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;

    (void)state;
    put_domain(&nvtx, 4, "LLM");
    put_ranges(&nvtx, 6, 4, (const char *const[]){ "other thread", NULL });
    put_ranges(&nvtx, 5, 4, (const char *const[]){ "prefill", "mlp", NULL });
    result = make_kernel("void a::k<(int)4>(float *)", 1500, &nvtx);
    begin_report(&report, 7);
    put_block(&report, 2, &result, usual_names, NULL);
    result = make_kernel("void a::k<(int)4>(float *)", 500, NULL); /* names go on */
    put_block(&report, 2, &result, NULL, NULL);
    profile = import_whole(&report);
    assert_int_equal(ledger_of(profile).kernels_seen, 2);
    assert_int_equal(ledger_of(profile).kernels_unattributed, 1);
    check_close(find_region(profile, "LLM@prefill/LLM@mlp", 3).kernel_ms, 0.0015);
    assert_int_equal(find_region(profile, "LLM@prefill", 3).kernel_count, 1);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_METRICS), 6);
    llmperf_profile_metric(profile, 0, &metric);
    assert_string_equal(metric.kernel, "void a::k<(int)4>(float *)");
    assert_int_equal(metric.count, 1);
    assert_int_equal(metric.process_id, 77);
    llmperf_profile_free(profile);
}

static void names_are_numbered_through_the_file(void **state)
{
    struct lp_text report = text_none(), result = make_kernel("a", 1, NULL);
    llmperf_profile *profile;
    size_t found = 0;

    (void)state;
    begin_report(&report, 7);
    put_block(&report, 2, &result, usual_names, NULL);
    result = make_kernel("b", 2, NULL);
    put_metric(&result, 13, 3, 8);
    put_block(&report, 2, &result, (const char *const[]){ "new__bytes.sum", NULL }, NULL);
    profile = import_whole(&report);
    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_METRICS); i++) {
        llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;

        llmperf_profile_metric(profile, i, &metric);
        if (strcmp(metric.name, "new__bytes.sum") != 0)
            continue;
        found++;
        assert_string_equal(metric.unit, "byte");
        check_close(metric.mean, 8);
    }
    assert_int_equal(found, 1);
    llmperf_profile_free(profile);
}

static struct lp_text make_range(struct lp_text *nvtx)
{
    struct lp_text result = text_none();

    put_number(&result, 1, 5);
    put_metric(&result, 4, 1, 100);
    put_metric(&result, 4, 2, 0);
    put_message(&result, 10, nvtx);
    return result;
}

static void the_mode_of_replay_says_which_range_was_measured(void **state)
{
    static const char *const modes[] = { "ncu --replay-mode range ./a",
                                         "ncu --replay-mode app-range ./a" };
    static const char *const paths[] = { "LLM@prefill/LLM@mlp", "LLM@prefill" };

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct lp_text report = text_none(), nvtx = text_none(), result;
        llmperf_profile *profile;

        put_domain(&nvtx, 4, "LLM");
        put_ranges(&nvtx, 5, 4, (const char *const[]){ "prefill", "mlp", NULL });
        result = make_range(&nvtx);
        begin_report(&report, 7);
        put_block(&report, 7, &result, usual_names, modes[i]);
        profile = import_whole(&report);
        assert_int_equal(find_region(profile, paths[i], 0).instances, 1);
        assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_REGIONS), 1);
        llmperf_profile_free(profile);
    }
}

static void started_ranges_count_where_none_was_pushed(void **state)
{
    struct lp_text report = text_none(), nvtx = text_none(), result;
    llmperf_profile *profile;

    (void)state;
    put_domain(&nvtx, 0, "<default domain>");
    put_domain(&nvtx, 4, "LLM");
    put_ranges(&nvtx, 5, 4, (const char *const[]){ NULL });
    put_ranges(&nvtx, 0, 4, (const char *const[]){ "request:1", NULL });
    result = make_kernel("k", 5, &nvtx);
    begin_report(&report, 7);
    put_block(&report, 2, &result, usual_names, NULL);
    profile = import_whole(&report);
    assert_int_equal(find_region(profile, "LLM@request:1", 3).kernel_count, 1);
    llmperf_profile_free(profile);
}

static void a_domain_that_is_not_told_and_a_range_without_a_name(void **state)
{
    struct lp_text report = text_none(), nvtx = text_none(), result;
    llmperf_profile *profile;

    (void)state;
    put_domain(&nvtx, 4, "LLM");
    put_ranges(&nvtx, 5, 9, (const char *const[]){ "a", "", NULL });
    result = make_kernel("k", 5, &nvtx);
    begin_report(&report, 7);
    put_block(&report, 2, &result, usual_names, NULL);
    profile = import_whole(&report);
    assert_int_equal(find_region(profile, "default@a", 3).kernel_count, 1);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_REGIONS), 2);
    llmperf_profile_free(profile);
}

/* Wrong ones */

static void case_41_other_versions_and_compressed_reports_are_refused(void **state)
{
    struct lp_text report = text_none(), result = make_kernel("k", 5, NULL);

    (void)state;
    begin_report(&report, 8);
    put_block(&report, 2, &result, usual_names, NULL);
    refused(&report, report.length,
            "version 8 of ncu's report format; only version 7 is supported; export it as CSV");
    lp_text_clear(&report);
    lp_text_add(&report, "\x28\xb5\x2f\xfd and so on", 14);
    refused(&report, report.length, "compressed ncu report");
    lp_text_clear(&report);
}

static void case_41_a_report_cut_anywhere_is_refused_or_says_so(void **state)
{
    struct lp_text report = text_none(), result = make_kernel("k", 5, NULL);
    size_t first, whole;

    (void)state;
    begin_report(&report, 7);
    put_block(&report, 2, &result, usual_names, NULL);
    first = report.length;
    result = make_kernel("k", 6, NULL);
    put_block(&report, 2, &result, NULL, NULL);
    whole = report.length;
    for (size_t size = 4; size < whole; size++) {
        llmperf_profile *profile;
        int status = import_report(&report, size, &profile);

        if (size < first) {
            assert_int_equal(status, LLMPERF_EFORMAT);
            continue;
        }
        assert_int_equal(status, LLMPERF_OK);
        assert_int_equal(ledger_of(profile).kernels_seen, 1);
        assert_int_equal(llmperf_profile_problem(profile, 1) != NULL, size > first);
        llmperf_profile_free(profile);
    }
    lp_text_clear(&report);
}

static void case_41_a_damaged_result_is_left_out_and_told(void **state)
{
    struct lp_text report = text_none(), result = make_kernel("k", 5, NULL);
    llmperf_profile *profile;

    (void)state;
    begin_report(&report, 7);
    put_block(&report, 2, &result, usual_names, NULL);
    result = make_kernel("beyond the table of names", 6, NULL);
    put_metric(&result, 13, 99, 1);
    put_block(&report, 2, &result, NULL, NULL);
    lp_text_add(&result, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12); /* no varint */
    put_block(&report, 2, &result, NULL, NULL);
    result = make_kernel("k", 7, NULL);
    put_block(&report, 2, &result, NULL, NULL);
    profile = import_whole(&report);
    assert_int_equal(ledger_of(profile).kernels_seen, 2);
    assert_non_null(strstr(llmperf_profile_problem(profile, 1), "2 report results were cut"));
    llmperf_profile_free(profile);
}

static void case_41_sizes_beyond_the_end_are_refused(void **state)
{
    struct lp_text report = text_none(), header = text_none();

    (void)state;
    begin_report(&report, 7);
    refused(&report, report.length, "holds no results");
    put_size(&report, 0xffffffff);
    lp_text_add(&report, "abc", 3);
    refused(&report, report.length, "a message size exceeds the file");
    lp_text_clear(&report);
    begin_report(&report, 7);
    put_number(&header, 2, UINT64_MAX);
    put_number(&header, 5, UINT64_MAX);
    put_size(&report, header.length);
    lp_text_add(&report, header.bytes, header.length);
    refused(&report, report.length, "the file ends early");
    lp_text_clear(&header);
    lp_text_clear(&report);
}

static void a_table_stands_in_for_a_report_that_cannot_be_read(void **state)
{
    struct lp_text report = text_none(), result = make_kernel("k", 5, NULL);
    char table[512];
    const char *paths[2] = { NULL, table };
    llmperf_profile *profile = NULL;

    (void)state;
    begin_report(&report, 8);
    put_block(&report, 2, &result, usual_names, NULL);
    paths[0] = write_test_file("report.ncu-rep", report.bytes, report.length);
    snprintf(table, sizeof(table), "%s/ncu/kernels.csv", getenv("LLMPERF_TEST_DATA"));
    assert_int_equal(llmperf_import(paths, 2, NULL, &profile), LLMPERF_OK);
    assert_int_equal(ledger_of(profile).kernels_seen, 5);
    assert_true(has_note(profile, "version 8 of ncu's report format"));
    llmperf_profile_free(profile);
    lp_text_clear(&report);
}

static void units_follow_from_names(void **state)
{
    static const char *const units[][2] = {
        { "gpu__time_duration.sum", "ns" },
        { "dram__bytes_read.sum", "byte" },
        { "dram__bytes.sum.per_second", "byte/s" },
        { "dram__bytes.sum.peak_sustained", "byte/cycle" },
        { "sm__cycles_elapsed.avg.per_second", "hz" },
        { "sm__throughput.avg.pct_of_peak_sustained_elapsed", "%" },
        { "lts__t_sector_hit_rate.pct", "%" },
        { "smsp__inst_executed.avg.per_cycle_active", "inst/cycle" },
        { "launch__shared_mem_per_block_static", "byte/block" },
        { "device__attribute_warp_size", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        assert_string_equal(lp_ncu_unit(units[i][0]), units[i][1]);
    assert_null(lp_ncu_unit("idc__requests.sum"));
    assert_null(lp_ncu_unit("no name of ncu"));
    assert_null(lp_ncu_unit(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_and_graphs_are_those_of_the_table),
        cmocka_unit_test(ranges_are_those_of_the_table),
        cmocka_unit_test(a_table_beside_its_report_is_left_out),
        cmocka_unit_test(results_have_their_names_values_and_units),
        cmocka_unit_test(names_are_numbered_through_the_file),
        cmocka_unit_test(the_mode_of_replay_says_which_range_was_measured),
        cmocka_unit_test(started_ranges_count_where_none_was_pushed),
        cmocka_unit_test(a_domain_that_is_not_told_and_a_range_without_a_name),
        cmocka_unit_test(case_41_other_versions_and_compressed_reports_are_refused),
        cmocka_unit_test(case_41_a_report_cut_anywhere_is_refused_or_says_so),
        cmocka_unit_test(case_41_a_damaged_result_is_left_out_and_told),
        cmocka_unit_test(case_41_sizes_beyond_the_end_are_refused),
        cmocka_unit_test(a_table_stands_in_for_a_report_that_cannot_be_read),
        cmocka_unit_test(units_follow_from_names),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
