/* SPDX-License-Identifier: Apache-2.0 */
/* No run counts twice in a merged one, by whatever way it comes into it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/profile/profile.h"
#include "llmperf/sys.h"
#include "tests/support/play.h"

#define RUNS 4

/* "a" to "d", the same but for the time of their kernel, as sessions write them. */
static llmperf_profile *runs[RUNS];

static llmperf_profile *make_run(const char *run_id, const char *key, double total_ms)
{
    llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;
    llmperf_profile *profile = lp_profile_create();

    kernel.name = "gemm";
    kernel.region = "";
    kernel.calls = 1;
    kernel.total_ms = total_ms;
    assert_int_equal(lp_profile_add_kernel(profile, &kernel, NULL, 0), 0);
    assert_int_equal(lp_profile_set_fact(profile, "run_id", run_id), 0);
    assert_int_equal(lp_profile_set_fact(profile, LP_RUN_KEY_FACT, key), 0);
    assert_int_equal(lp_profile_finish(profile), 0);
    return profile;
}

static int make_runs(void **state)
{
    (void)state;
    for (int i = 0; i < RUNS; i++) {
        char name[2] = { (char)('a' + i), '\0' }, key[17];

        snprintf(key, sizeof(key), "%016x", 0xff00u + (unsigned)i);
        runs[i] = make_run(name, key, 1 + i);
    }
    return 0;
}

static int free_runs(void **state)
{
    (void)state;
    for (int i = 0; i < RUNS; i++)
        llmperf_profile_free(runs[i]);
    return 0;
}

static llmperf_profile *merge(const llmperf_profile *a, const llmperf_profile *b)
{
    const llmperf_profile *const both[] = { a, b };
    llmperf_profile *merged = NULL;

    if (llmperf_profile_merge(both, 2, &merged) < 0)
        fail_msg("%s", llmperf_last_error());
    return merged;
}

static void check_refused(const llmperf_profile *a, const llmperf_profile *b, const char *part)
{
    const llmperf_profile *const both[] = { a, b };
    llmperf_profile *merged = NULL;

    assert_int_equal(llmperf_profile_merge(both, 2, &merged), LLMPERF_EINVAL);
    assert_null(merged);
    check_error(part);
    check_error("input 1 and input 2 both contain it");
}

static llmperf_profile *reopen(const llmperf_profile *profile)
{
    llmperf_profile *read = NULL;

    assert_int_equal(llmperf_profile_save(profile, in_test_folder("run.llmperf")), 0);
    assert_int_equal(llmperf_profile_open(in_test_folder("run.llmperf"), &read), 0);
    return read;
}

static void one_run_is_not_merged_with_itself(void **state)
{
    llmperf_profile *copy = reopen(runs[0]), *three = NULL;
    const llmperf_profile *const list[] = { runs[1], runs[0], runs[2], copy };

    (void)state;
    check_refused(runs[0], runs[0], "the run a would be counted twice");
    check_refused(runs[0], copy, "the run a would be counted twice");
    assert_int_equal(llmperf_profile_merge(list, 4, &three), LLMPERF_EINVAL);
    check_error("input 2 and input 4");
    assert_int_equal(llmperf_profile_merge(list, 3, &three), 0);
    llmperf_profile_free(three);
    llmperf_profile_free(copy);
}

static void a_merged_run_is_not_merged_with_its_part(void **state)
{
    llmperf_profile *both = merge(runs[0], runs[1]), *read = reopen(both);

    (void)state;
    check_refused(both, runs[0], "the run a would be counted twice");
    check_refused(runs[1], both, "the run b would be counted twice");
    check_refused(read, runs[1], "the run b would be counted twice");
    check_refused(both, read, "the run a would be counted twice");
    llmperf_profile_free(read);
    llmperf_profile_free(both);
}

static void parts_are_known_through_all_merges(void **state)
{
    llmperf_profile *both = merge(runs[0], runs[1]), *three = merge(runs[2], both);
    llmperf_profile *other = merge(runs[3], runs[1]), *all = merge(three, runs[3]);

    (void)state;
    assert_string_equal(llmperf_profile_fact(three, "merged_from"), "c a b");
    assert_string_equal(llmperf_profile_fact(all, "merged_from"), "c a b d");
    assert_string_equal(llmperf_profile_fact(all, "run_id"), "c and 3 more");
    assert_null(llmperf_profile_fact(all, LP_RUN_KEY_FACT));
    check_refused(three, runs[0], "the run a would be counted twice");
    check_refused(other, three, "the run b would be counted twice");
    check_refused(all, other, "the run d would be counted twice");
    llmperf_profile_free(all);
    llmperf_profile_free(other);
    llmperf_profile_free(three);
    llmperf_profile_free(both);
}

/* Ranks in containers have one name, if they start in one second. */
static void a_name_makes_no_run(void **state)
{
    llmperf_profile *same = make_run("a", "00000000000000ab", 1), *both = merge(runs[0], same);

    (void)state;
    assert_string_equal(llmperf_profile_fact(both, "merged_from"), "a a");
    check_refused(both, same, "the run a would be counted twice");
    llmperf_profile_free(both);
    llmperf_profile_free(same);
}

static void a_run_that_has_gone_on_is_the_same_run(void **state)
{
    llmperf_profile *later = make_run("a", "000000000000ff00", 77);

    (void)state;
    check_refused(runs[0], later, "the run a would be counted twice");
    llmperf_profile_free(later);
}

static void a_run_without_a_key_is_known_by_what_it_holds(void **state)
{
    llmperf_profile *a = make_run("x", NULL, 5), *again = make_run("y", NULL, 5);
    llmperf_profile *other = make_run("x", NULL, 6), *both = merge(a, other), *read = reopen(a);

    (void)state;
    check_refused(a, again, "the run y would be counted twice");
    check_refused(both, again, "the run y would be counted twice");
    check_refused(both, read, "the run x would be counted twice");
    llmperf_profile_free(read);
    llmperf_profile_free(both);
    llmperf_profile_free(other);
    llmperf_profile_free(again);
    llmperf_profile_free(a);
}

static void a_name_may_hold_anything(void **state)
{
    llmperf_profile *odd = make_run("first of\n00 two", "00000000000000cd", 1);
    llmperf_profile *both = merge(odd, runs[0]);

    (void)state;
    check_refused(both, odd, "the run first of 00 two would be counted twice");
    check_refused(both, runs[0], "the run a would be counted twice");
    llmperf_profile_free(both);
    llmperf_profile_free(odd);
}

/* Profiles of the counters of several runs have everything else of the first. */
static void counters_of_several_runs_count_as_the_first_of_them(void **state)
{
    llmperf_profile *counters = NULL, *both;

    (void)state;
    assert_int_equal(llmperf_profile_merge_counters((const llmperf_profile *const *)runs, 2, "k",
                                                    NULL, &counters),
                     0);
    check_refused(counters, runs[0], "would be counted twice");
    both = merge(counters, runs[1]);
    llmperf_profile_free(both);
    llmperf_profile_free(counters);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_runs, free_runs)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(one_run_is_not_merged_with_itself),
        CASE(a_merged_run_is_not_merged_with_its_part),
        CASE(parts_are_known_through_all_merges),
        CASE(a_name_makes_no_run),
        CASE(a_run_that_has_gone_on_is_the_same_run),
        CASE(a_run_without_a_key_is_known_by_what_it_holds),
        CASE(a_name_may_hold_anything),
        CASE(counters_of_several_runs_count_as_the_first_of_them),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
