/* SPDX-License-Identifier: Apache-2.0 */
/** Faults on the way from the driver, one at a time: the ledger names each, and no other number
 * changes but those that the fault explains. The same table stands in docs/explanation/ledger.md.
 */
#include <fnmatch.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/play.h"

/* What may change besides the ledger. Patterns of paths as flatten() writes them. */
enum change { NOTHING, HOST, REGION, KERNELS, GRAPHS, CAPTURES, GAPS, COPIES, DEVICE, CHANGES };

static const struct {
    const char *words;
    const char *patterns[18];
} changes[CHANGES] = {
    [NOTHING] = { "nothing", { "devices/*queued*" } },
    [HOST] = { "host time of that region",
               { "*LLM@prefill*wall*", "*LLM@prefill*idle*", "*LLM@prefill*span*",
                 "*LLM@prefill*tokens_per_s", "*LLM@prefill*elapsed*", "*LLM@prefill*before*",
                 "*LLM@prefill*after*", "*LLM@prefill*active*", "*LLM@prefill*time_ms",
                 "waterfall/*LLM@prefill*", "devices/*queued*", "recommendations*",
                 "aggregates/*elapsed*" } },
    [REGION] = { "a row of the truncated region", { "*LLM@cut*", "devices/*queued*" } },
    [KERNELS] = { "those kernels are in no region",
                  { "*LLM@prefill*", "kernels/*gemm*", "kernels/*share*", "kernel_classes/*",
                    "aggregates/*", "recommendations*", "kernel_roofline/*", "waterfall/*",
                    "devices/*", "iterations/*elapsed*", "iterations/*before*", "*/clock*",
                    "*/time_ms*", "*/bound*" } },
    [GRAPHS] = { "those kernels are in no region",
                 { "*LLM@decode_step*", "kernels/*", "kernel_classes/*", "aggregates/*",
                   "recommendations*", "captures/*", "kernel_roofline/*", "waterfall/*",
                   "devices/*" } },
    [CAPTURES] = { "`captured_in`, which gives the reason",
                   { "kernels/*", "captures/*", "recommendations*", "waterfall/*", "devices/*" } },
    [GAPS] = { "span, idle and elapsed time of that region",
               { "iterations/*LLM@prefill*", "recommendations*", "waterfall/*", "devices/*",
                 "iterations/*elapsed*", "iterations/*before*", "*/clock*", "*/time_ms*",
                 "*LLM@prefill*active_ms*", "*LLM@prefill*idle_ms*", "*LLM@prefill*tokens_per_s*",
                 "*LLM@prefill*_elapsed*", "*LLM@prefill*wall_ratio*", "*LLM@prefill*bound*",
                 "aggregates/*elapsed*" } },
    [COPIES] = { "those memcpys are in no total",
                 { "*LLM@decode_step*", "kernels/*memcpy*", "kernels/*share*", "kernel_classes/*",
                   "aggregates/*", "recommendations*", "waterfall/*", "devices/*" } },
    [DEVICE] = { "all device numbers from then on",
                 { "regions/*", "stages/*", "kernels/*", "kernel_classes/*", "iterations/*",
                   "aggregates/*", "operators/*", "recommendations*", "kernel_roofline/*",
                   "waterfall/*", "devices/*" } },
};

/* Two stages; a fault is planted before, in or behind the first one, or in the second. */
static const char eager[] =
    "at 5000000000\n%s\nbegin LLM@prefill tokens=4\n%s\nrepeat 12\nlaunch gemm "
    "duration=5000\ndone\n"
    "fault none\nend\n%s\nbegin LLM@decode_step\n%s\nrepeat 6\nlaunch gemv duration=700\n"
    "copy dtoh bytes=8\ndone\nend\n";
/* Five launches of a graph and one more; planted at the capture, in the five, at the one. */
static const char graph[] =
    "at 5000000000\nbegin LLM@capture\n%s\nend\nbegin LLM@decode_step\n%s\nrepeat 5\n"
    "graph a,b,c graph=2 index=0\ndone\nfault none\n%s\ngraph a,b,c graph=2 index=0\nend\n%s\n";
#define CAPTURE "node graph=1 index=0 nodes=3\ninstantiate graph=2 from=1 nodes=3"

struct fault {
    const char *name;
    const char *script;
    const char *plant[4];
    const char
        *ledger; /* fields that differ from a run without the fault, and their values; "*": any */
    uint32_t verdict;
    enum change change;
    const char *told; /* part of a problem or a note; NULL: nothing to tell */
};

static const struct fault faults[] = {
    { "a record never arrives",
      eager,
      { "", "fault drop every=4", "", "" },
      "launches_missing=3 kernels_seen=15 kernels_attributed=15",
      LLMPERF_VERDICT_INCOMPLETE,
      KERNELS,
      "3 kernel launches have no" },
    { "the driver drops buffers",
      eager,
      { "driver_drop 7", "", "", "" },
      "records_dropped=7",
      LLMPERF_VERDICT_INCOMPLETE,
      NOTHING,
      "7 device records were dropped" },
    { "a buffer ends with half a record",
      eager,
      { "incomplete 2", "", "", "" },
      "records_incomplete=2",
      LLMPERF_VERDICT_INCOMPLETE,
      NOTHING,
      "no start or end time" },
    { "a record has zero times",
      eager,
      { "", "fault zero_time every=4", "", "" },
      "records_incomplete=3 kernels_seen=15 kernels_attributed=15",
      LLMPERF_VERDICT_INCOMPLETE,
      KERNELS,
      "no start or end time" },
    { "a record has no end",
      eager,
      { "", "fault no_end every=6", "", "" },
      "records_incomplete=2 kernels_seen=16 kernels_attributed=16",
      LLMPERF_VERDICT_INCOMPLETE,
      KERNELS,
      "no start or end time" },
    { "a record ends before it starts",
      eager,
      { "", "fault reversed_time every=4", "", "" },
      "records_invalid_time=3 kernels_seen=15 kernels_attributed=15",
      LLMPERF_VERDICT_INCOMPLETE,
      KERNELS,
      "impossible times" },
    { "a record is years in the future",
      eager,
      { "", "fault far_future every=4", "", "" },
      "records_invalid_time=3 kernels_seen=15 kernels_attributed=15",
      LLMPERF_VERDICT_INCOMPLETE,
      KERNELS,
      "impossible times" },
    { "the device clock jumps forward",
      eager,
      { "", "fault clock_jump every=4", "", "" },
      "records_invalid_time=3 kernels_seen=15 kernels_attributed=15",
      LLMPERF_VERDICT_INCOMPLETE,
      KERNELS,
      "impossible times" },
    { "a record lasts for days",
      eager,
      { "", "fault huge_duration every=4", "", "" },
      "records_invalid_time=3 kernels_seen=15 kernels_attributed=15",
      LLMPERF_VERDICT_INCOMPLETE,
      KERNELS,
      "impossible times" },
    { "the device clock is behind the host clock",
      eager,
      { "", "fault skew every=4", "", "" },
      "records_before_launch=3",
      LLMPERF_VERDICT_INCOMPLETE,
      GAPS,
      "the clocks of host and device differ" },
    { "a record has an unknown correlation id",
      eager,
      { "", "fault unknown_correlation every=6", "", "" },
      "kernels_unattributed=2 kernels_attributed=16 launches_missing=2 attributed_gpu_time_share=*",
      LLMPERF_VERDICT_INCOMPLETE,
      KERNELS,
      "2 kernels ran whose launch was not seen" },
    { "a record has no correlation id",
      eager,
      { "", "fault no_correlation every=6", "", "" },
      "kernels_unattributed=2 kernels_attributed=16 launches_missing=2 attributed_gpu_time_share=*",
      LLMPERF_VERDICT_INCOMPLETE,
      KERNELS,
      "2 kernels ran whose launch was not seen" },
    { "two launches share a correlation id",
      eager,
      { "", "fault same_correlation every=6", "", "" },
      "launches_duplicate=2 records_duplicate=2 kernels_seen=16 kernels_attributed=16",
      LLMPERF_VERDICT_INCOMPLETE,
      KERNELS,
      "2 launches had the correlation id of another one" },
    { "a record arrives twice",
      eager,
      { "", "fault duplicate every=4", "", "" },
      "records_duplicate=3",
      LLMPERF_VERDICT_INCOMPLETE,
      NOTHING,
      "3 device records came twice" },
    { "a record arrives before its launch",
      eager,
      { "", "fault late_launch every=2", "", "" },
      "",
      LLMPERF_VERDICT_COMPLETE,
      NOTHING,
      NULL },
    { "records arrive late",
      eager,
      { "", "fault late every=2", "", "" },
      "",
      LLMPERF_VERDICT_COMPLETE,
      NOTHING,
      NULL },
    { "records arrive out of order",
      eager,
      { "", "fault reorder", "", "" },
      "",
      LLMPERF_VERDICT_COMPLETE,
      NOTHING,
      NULL },
    { "a launch call fails",
      eager,
      { "", "launch_fail gemm", "", "" },
      "",
      LLMPERF_VERDICT_COMPLETE,
      HOST,
      NULL },
    { "a region has no end",
      eager,
      { "thread 1\nbegin LLM@cut\nthread 0", "", "", "" },
      "regions_truncated=1",
      LLMPERF_VERDICT_COMPLETE,
      REGION,
      "1 region calls were open" },
    { "a thread ends with an open region",
      eager,
      { "thread 1\nbegin LLM@cut\nexit\nthread 0", "", "", "" },
      "regions_truncated=1",
      LLMPERF_VERDICT_COMPLETE,
      REGION,
      "1 region calls were open" },
    { "an end has no begin",
      eager,
      { "thread 1\nend\nthread 0", "", "", "" },
      "regions_unbalanced=1",
      LLMPERF_VERDICT_COMPLETE,
      NOTHING,
      "1 region ends had no begin" },
    { "a thread's ring overflows",
      eager,
      { "thread 1\nlost 5\nthread 0", "", "", "" },
      "regions_dropped=5",
      LLMPERF_VERDICT_INCOMPLETE,
      NOTHING,
      "5 host records were dropped" },
    { "graph events are lost",
      eager,
      { "graph_lost 4", "", "", "" },
      "regions_dropped=4",
      LLMPERF_VERDICT_INCOMPLETE,
      NOTHING,
      "4 host records were dropped" },
    { "another tool's records arrive",
      eager,
      { "foreign 9", "", "", "" },
      "records_foreign=9",
      LLMPERF_VERDICT_COMPLETE,
      NOTHING,
      "9 device records were enabled by another tool" },
    { "the driver refuses a flush",
      eager,
      { "refused 3", "", "", "" },
      "source_errors=3",
      LLMPERF_VERDICT_INCOMPLETE,
      NOTHING,
      "3 flush calls of CUPTI failed" },
    { "memcpys have no record",
      eager,
      { "", "", "", "fault drop every=2" },
      "memory_missing=6 memory_seen=0",
      LLMPERF_VERDICT_COMPLETE,
      COPIES,
      "6 memcpy and memset calls have no record" },
    { "the driver stops reporting",
      eager,
      { "", "", "fault drop", "" },
      "launches_missing=6 kernels_seen=12 kernels_attributed=12 memory_missing=6 memory_seen=0",
      LLMPERF_VERDICT_INCOMPLETE,
      DEVICE,
      "6 kernel launches have no" },
    { "the driver reports nothing",
      eager,
      { "", "fault drop", "fault drop", "" },
      NULL,
      LLMPERF_VERDICT_DEAD,
      DEVICE,
      "no records were received" },
    { "the device is lost",
      eager,
      { "", "", "device_lost", "" },
      NULL,
      LLMPERF_VERDICT_INCOMPLETE,
      DEVICE,
      "the device was lost" },
    { "the capture of a graph node was not seen",
      graph,
      { "node graph=1 index=9 nodes=3\ninstantiate graph=2 from=1 nodes=3", "", "", "" },
      "graph_nodes_unmapped=18",
      LLMPERF_VERDICT_COMPLETE,
      CAPTURES,
      "18 kernels, memcpys and memsets of CUDA graphs" },
    { "a record of a graph never arrives",
      graph,
      { CAPTURE, "fault drop every=7", "", "" },
      "graph_records_missing=2 kernels_seen=16 graph_kernels_seen=16 kernels_attributed=16",
      LLMPERF_VERDICT_INCOMPLETE,
      GRAPHS,
      "2 records of CUDA graphs are missing" },
    { "a graph launch has no record",
      graph,
      { CAPTURE, "", "fault drop", "" },
      "graph_records_missing=3 kernels_seen=15 graph_kernels_seen=15 kernels_attributed=15",
      LLMPERF_VERDICT_INCOMPLETE,
      GRAPHS,
      "3 records of CUDA graphs are missing" },
};
#define FAULTS (sizeof(faults) / sizeof(faults[0]))

/* Metrics as lines "path=value", rows by their names instead of their places. */

struct lines {
    char *items[4096];
    size_t count;
};

static void add_line(struct lines *lines, const char *path, const json_t *value)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY), *line;

    assert_non_null(text);
    assert_true(lines->count < sizeof(lines->items) / sizeof(lines->items[0]));
    line = malloc(strlen(path) + strlen(text) + 2);
    assert_non_null(line);
    sprintf(line, "%s=%s", path, text);
    lines->items[lines->count++] = line;
    free(text);
}

static void name_row(char *name, size_t size, const json_t *row, size_t index)
{
    static const char *const keys[] = { "path",        "region",      "op_name", "name",
                                        "kernel_name", "captured_in", "stage",   "kernel_class" };
    size_t length = 0;

    for (size_t i = 0; json_is_object(row) && i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *text = json_string_value(json_object_get(row, keys[i]));

        if (text && length < size)
            length +=
                (size_t)snprintf(name + length, size - length, "%s%s", length > 0 ? "|" : "", text);
    }
    if (length == 0)
        snprintf(name, size, "%zu", index);
}

static void flatten(struct lines *lines, const char *path, const json_t *value)
{
    char below[1024], name[512];
    const char *key;
    json_t *member;
    size_t index;

    if (json_is_object(value)) {
        json_object_foreach((json_t *)(uintptr_t)value, key, member)
        {
            if (!strcmp(key, "begin_ns")) /* Statements take time: what follows is later. */
                continue;
            snprintf(below, sizeof(below), "%s%s%s", path, *path ? "/" : "", key);
            flatten(lines, below, member);
        }
    } else if (json_is_array(value)) {
        json_array_foreach(value, index, member)
        {
            name_row(name, sizeof(name), member, index);
            snprintf(below, sizeof(below), "%s/%s", path, name);
            flatten(lines, below, member);
        }
    } else {
        add_line(lines, path, value);
    }
}

static int compare_lines(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static void read_lines(struct lines *lines, const llmperf_profile *profile)
{
    char *text = lasting_metrics(profile);
    json_t *metrics = json_loads(text, 0, NULL);

    assert_non_null(metrics);
    lines->count = 0;
    flatten(lines, "", metrics);
    qsort(lines->items, lines->count, sizeof(lines->items[0]), compare_lines);
    json_decref(metrics);
    free(text);
}

static void clear_lines(struct lines *lines)
{
    while (lines->count > 0)
        free(lines->items[--lines->count]);
}

/* Runs */

static llmperf_profile *play(const char *script, const char *const plant[4])
{
    char text[2048];
    llmperf_session_options options;
    llmperf_session *session = NULL;
    llmperf_profile *profile = NULL;

    snprintf(text, sizeof(text), script, plant[0], plant[1], plant[2], plant[3]);
    options = script_options(text);
    if (llmperf_session_start(&options, &session) < 0)
        fail_msg("start: %s", llmperf_last_error());
    (void)llmperf_session_stop(session, &profile); /* A lost device is reported here too. */
    llmperf_session_free(session);
    assert_non_null(profile);
    return profile;
}

static bool is_named(const struct fault *fault, const char *path)
{
    const char *field = path + strlen("ledger/"), *found;
    size_t length = strlen(field);

    if (!strcmp(field, "verdict") || !strncmp(field, "problems", 8) || !fault->ledger)
        return true;
    for (found = fault->ledger; (found = strstr(found, field)); found++)
        if ((found == fault->ledger || found[-1] == ' ') && found[length] == '=')
            return true;
    return false;
}

static bool is_explained(const struct fault *fault, const char *line)
{
    char path[1024];
    const char *const *patterns = changes[fault->change].patterns;

    snprintf(path, sizeof(path), "%.*s", (int)strcspn(line, "="), line);
    if (!strncmp(path, "ledger/", 7))
        return is_named(fault, path);
    if (fault->verdict != LLMPERF_VERDICT_COMPLETE && !strncmp(path, "recommendations", 15))
        return true; /* One says that the ledger is not complete. */
    for (size_t i = 0; patterns[i]; i++)
        if (fnmatch(patterns[i], path, 0) == 0)
            return true;
    return false;
}

/* Both lists are sorted: what stands in one only has changed. */
static void check_changes(const struct fault *fault, const struct lines *sound,
                          const struct lines *faulty)
{
    size_t i = 0, k = 0, wrong = 0;

    while (i < sound->count || k < faulty->count) {
        int order = i == sound->count    ? 1
                    : k == faulty->count ? -1
                                         : strcmp(sound->items[i], faulty->items[k]);
        const char *line = order <= 0 ? sound->items[i] : faulty->items[k];

        if (order != 0 && !is_explained(fault, line)) {
            print_error("%s: %s %s\n", fault->name, order < 0 ? "was" : "is ", line);
            wrong++;
        }
        i += order <= 0;
        k += order >= 0;
    }
    assert_int_equal(wrong, 0);
}

static void check_ledger_lines(const struct fault *fault, const struct lines *faulty)
{
    char wanted[256], *rest = NULL, *text = fault->ledger ? strdup(fault->ledger) : NULL;

    for (char *word = text ? strtok_r(text, " ", &rest) : NULL; word;
         word = strtok_r(NULL, " ", &rest)) {
        bool found = false;

        snprintf(wanted, sizeof(wanted), "ledger/%s", word);
        for (size_t i = 0; i < faulty->count; i++)
            found = found || fnmatch(wanted, faulty->items[i], 0) == 0;
        if (!found)
            fail_msg("%s: no %s", fault->name, wanted);
    }
    free(text);
}

static void check_fault(const struct fault *fault)
{
    static const char *const none[4] = { "", "", "", "" };
    static const char *const captured[4] = { CAPTURE, "", "", "" };
    static struct lines sound_lines, faulty_lines;
    llmperf_profile *sound = play(fault->script, fault->script == eager ? none : captured);
    llmperf_profile *faulty = play(fault->script, fault->plant);

    assert_int_equal(ledger_of(sound).verdict, LLMPERF_VERDICT_COMPLETE);
    assert_null(llmperf_profile_problem(sound, 0));
    if (ledger_of(faulty).verdict != fault->verdict)
        fail_msg("%s: verdict %s", fault->name,
                 llmperf_name(LLMPERF_NAME_VERDICT, ledger_of(faulty).verdict));
    if (fault->told && !has_problem(faulty, fault->told) && !has_note(faulty, fault->told))
        fail_msg("%s: nothing says \"%s\"", fault->name, fault->told);
    read_lines(&sound_lines, sound);
    read_lines(&faulty_lines, faulty);
    check_ledger_lines(fault, &faulty_lines);
    check_changes(fault, &sound_lines, &faulty_lines);
    clear_lines(&sound_lines);
    clear_lines(&faulty_lines);
    llmperf_profile_free(sound);
    llmperf_profile_free(faulty);
}

static void each_fault_is_named_and_changes_no_other_number(void **state)
{
    (void)state;
    assert_true(FAULTS >= 20);
    for (size_t i = 0; i < FAULTS; i++)
        check_fault(&faults[i]);
}

/* Every record that is left counts as it is. */
static void what_is_left_out_takes_nothing_with_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < FAULTS; i++) {
        llmperf_profile *profile;
        llmperf_kernel_stats kernel;

        if (faults[i].change != KERNELS)
            continue;
        profile = play(faults[i].script, faults[i].plant);
        kernel = find_kernel(profile, "gemm", "LLM@prefill");
        assert_int_equal(kernel.calls, ledger_of(profile).kernels_attributed - 6);
        check_close(kernel.total_ms, (double)kernel.calls * 0.005);
        check_close(kernel.max_ms, 0.005);
        check_close(find_region(profile, "LLM@prefill", 0).gpu_busy_ms, kernel.total_ms);
        assert_int_equal(find_kernel(profile, "gemv", "LLM@decode_step").calls, 6);
        llmperf_profile_free(profile);
    }
}

#define MANY_NAMES 66000

static void names_above_the_limit_are_counted_together(void **state)
{
    size_t size = (size_t)MANY_NAMES * 32, length = 0;
    char *script = malloc(size);
    llmperf_session_options options;
    llmperf_profile *profile;
    llmperf_kernel_stats other;

    (void)state;
    assert_non_null(script);
    length += (size_t)sprintf(script, "begin LLM@prefill\n");
    for (int i = 0; i < MANY_NAMES; i++)
        length += (size_t)sprintf(script + length, "launch k%d duration=100\n", i);
    sprintf(script + length, "end\n");
    options = script_options(script);
    profile = play_options(&options);
    other = find_kernel(profile, "[other names]", "LLM@prefill");
    assert_int_equal(other.calls, MANY_NAMES - 65535);
    assert_int_equal(ledger_of(profile).names_over_limit, MANY_NAMES - 65535);
    assert_int_equal(ledger_of(profile).kernels_attributed, MANY_NAMES);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_KERNELS), 65536);
    assert_true(has_note(profile, "names beyond the limit"));
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    llmperf_profile_free(profile);
    free(script);
}

/* docs/explanation/ledger.md */

/* Names of the fields, as the page writes them. */
static void print_fields(char *out, size_t size, const struct fault *fault)
{
    static const char *const follow[] = { "kernels_seen", "kernels_attributed",
                                          "graph_kernels_seen", "memory_seen",
                                          "attributed_gpu_time_share" };
    char *text = strdup(fault->ledger ? fault->ledger : ""), *rest = NULL;
    size_t length = 0;

    out[0] = '\0';
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        bool follows = false;

        word[strcspn(word, "=")] = '\0';
        for (size_t i = 0; i < sizeof(follow) / sizeof(follow[0]); i++)
            follows = follows || !strcmp(word, follow[i]);
        if (!follows)
            length += (size_t)snprintf(out + length, size - length, "%s`%s`",
                                       length > 0 ? ", " : "", word);
    }
    if (length == 0)
        snprintf(out, size, "%s", fault->verdict == LLMPERF_VERDICT_COMPLETE ? "–" : "the verdict");
    free(text);
}

static void the_page_has_the_same_table(void **state)
{
    const char *source = getenv("LLMPERF_SOURCE");
    char path[4096], row[1024], fields[512], *page;
    size_t size, rows = 0;
    FILE *file;

    (void)state;
    snprintf(path, sizeof(path), "%s/docs/explanation/ledger.md", source ? source : ".");
    file = fopen(path, "rb");
    if (!file)
        skip(); /* The tests were carried elsewhere. */
    page = calloc(1, 1 << 20);
    assert_non_null(page);
    size = fread(page, 1, (1 << 20) - 1, file);
    fclose(file);
    assert_true(size > 0);
    for (size_t i = 0; i < FAULTS; i++) {
        print_fields(fields, sizeof(fields), &faults[i]);
        snprintf(row, sizeof(row), "| %s | %s | `%s` | %s |\n", faults[i].name, fields,
                 llmperf_name(LLMPERF_NAME_VERDICT, faults[i].verdict),
                 changes[faults[i].change].words);
        if (!strstr(page, row))
            fail_msg("docs/explanation/ledger.md lacks: %s", row);
    }
    for (const char *at = strstr(page, "| fault | named by |"); at && *at == '|';
         at = strchr(at, '\n') + 1)
        rows++;
    assert_int_equal(rows, FAULTS + 2); /* The head and the line below it. */
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_is_named_and_changes_no_other_number),
        cmocka_unit_test(what_is_left_out_takes_nothing_with_it),
        cmocka_unit_test(names_above_the_limit_are_counted_together),
        cmocka_unit_test(the_page_has_the_same_table),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
