/* SPDX-License-Identifier: Apache-2.0 */
/* Presets in groups of one pass, on chips that are not there. Skipped without libcupti. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/counters/groups.h"
#include "llmperf/sys.h"

static void need_cupti(void)
{
#ifdef SANITIZED
    print_message("skipped: libcupti opens libraries in a way that sanitizers do not take\n");
    skip();
#endif
    if (!llmperf_counters_chip(0)) {
        print_message("skipped: %s\n", llmperf_last_error());
        skip();
    }
}

static struct lp_counter_preset *read_preset(const char *name)
{
    struct lp_counter_preset *preset = NULL;
    char path[4096];

    snprintf(path, sizeof(path), "%s/profiling/counters/%s.yaml", llmperf_config_dir(), name);
    assert_int_equal(lp_counter_preset_read(path, name, &preset), 0);
    return preset;
}

static bool has_column(const struct lp_counter_set *set, const char *quantity)
{
    for (size_t i = 0; i < set->columns.count; i++)
        if (strcmp(set->columns.items[i].quantity, quantity) == 0)
            return true;
    return false;
}

static bool is_missing(const struct lp_counter_set *set, const char *quantity)
{
    for (size_t i = 0; i < set->missing.count; i++)
        if (strcmp(set->missing.items[i].quantity, quantity) == 0)
            return true;
    return false;
}

struct groups {
    struct lp_counter_set *sets[64];
    uint32_t count;
};

static void open_groups(struct groups *groups, const char *chip,
                        const struct lp_counter_preset *preset)
{
    groups->count = 1;
    for (uint32_t group = 1; group <= groups->count; group++)
        assert_int_equal(lp_counter_set_open_group(chip, NULL, preset, group, &groups->count,
                                                   &groups->sets[group - 1]),
                         0);
}

static void free_groups(struct groups *groups)
{
    for (uint32_t i = 0; i < groups->count; i++)
        lp_counter_set_free(groups->sets[i]);
}

/* How many groups have the quantity, whole or the first part of it. */
static size_t holders(const struct groups *groups, const char *quantity)
{
    size_t found = 0;
    char part[300];

    snprintf(part, sizeof(part), "%s (part 1 of ", quantity);
    for (uint32_t i = 0; i < groups->count; i++) {
        const struct lp_counter_set *set = groups->sets[i];

        found += has_column(set, quantity);
        for (size_t c = 0; c < set->columns.count; c++)
            found += strncmp(set->columns.items[c].quantity, part, strlen(part)) == 0;
    }
    return found;
}

/* What is weighted by device time has it beside it. */
static void check_weights(const struct lp_counter_set *set)
{
    for (size_t i = 0; i < set->columns.count; i++)
        if (set->columns.items[i].combine == LP_COUNTER_MEAN)
            assert_true(has_column(set, "gpu_time"));
}

/* Groups of "roofline" on GH100; they take seconds to make. */
static struct lp_counter_preset *roofline;
static struct groups roofline_groups;

static int open_roofline(void **state)
{
    (void)state;
#ifndef SANITIZED
    if (llmperf_counters_chip(0)) {
        roofline = read_preset("roofline");
        open_groups(&roofline_groups, "GH100", roofline);
    }
#endif
    return 0;
}

static int close_roofline(void **state)
{
    (void)state;
    free_groups(&roofline_groups);
    lp_counter_preset_free(roofline);
    return 0;
}

static void every_quantity_is_in_one_group(void **state)
{
    const struct groups *groups = &roofline_groups;

    (void)state;
    need_cupti();
    for (size_t i = 0; i < roofline->quantities.count; i++) {
        const char *quantity = roofline->quantities.items[i].quantity;
        size_t found = holders(groups, quantity);

        if (is_missing(groups->sets[0], quantity))
            assert_int_equal(found, 0);
        else if (strcmp(quantity, "gpu_time") == 0)
            assert_true(found >= 1);
        else
            assert_int_equal(found, 1);
    }
    for (uint32_t i = 0; i < groups->count; i++) {
        assert_int_equal(groups->sets[i]->passes, 1);
        check_weights(groups->sets[i]);
    }
}

static void a_sum_that_needs_more_passes_is_split(void **state)
{
    const struct groups *groups = &roofline_groups;
    bool found = false;

    (void)state;
    need_cupti();
    for (uint32_t i = 0; i < groups->count; i++)
        for (size_t c = 0; c < groups->sets[i]->columns.count; c++) {
            const struct lp_counter_column *column = &groups->sets[i]->columns.items[c];

            if (strcmp(column->quantity, "tensor_flops_fp16 (part 3 of 3)") != 0)
                continue;
            found = true;
            assert_string_equal(column->metric, "sm__ops_path_tensor_op_hgmma_src_fp16.sum");
        }
    assert_true(found);
}

static void ranges_leave_out_what_needs_kernels_repeated(void **state)
{
    struct lp_counter_preset *preset;
    struct lp_counter_set *set = NULL;
    struct groups groups;

    (void)state;
    need_cupti();
    preset = read_preset("roofline");
    preset->ranges = true;
    open_groups(&groups, "GH100", preset);
    assert_int_equal(holders(&groups, "flops_fp32"), 0);
    assert_true(is_missing(groups.sets[0], "flops_fp32"));
    free_groups(&groups);
    assert_int_equal(lp_counter_set_open("GH100", NULL, preset, &set), 0);
    assert_false(has_column(set, "flops_fp32"));
    assert_true(is_missing(set, "flops_fp32"));
    assert_true(has_column(set, "tensor_flops_bf16"));
    for (size_t i = 0; i < set->missing.count; i++)
        if (strcmp(set->missing.items[i].quantity, "flops_fp64") == 0)
            assert_non_null(strstr(set->missing.items[i].reason, "replay=kernel"));
    lp_counter_set_free(set);
    lp_counter_preset_free(preset);
}

static void one_pass_is_one_group(void **state)
{
    struct lp_counter_preset *preset;
    struct groups groups;

    (void)state;
    need_cupti();
    preset = read_preset("light");
    open_groups(&groups, "GH100", preset);
    assert_int_equal(groups.count, 1);
    assert_int_equal(groups.sets[0]->passes, 1);
    free_groups(&groups);
    lp_counter_preset_free(preset);
}

static void a_group_that_is_not_there_is_refused(void **state)
{
    struct lp_counter_preset *preset;
    struct lp_counter_set *set = NULL;
    uint32_t groups = 0;

    (void)state;
    need_cupti();
    preset = read_preset("light");
    assert_int_equal(lp_counter_set_open_group("GH100", NULL, preset, 2, &groups, &set),
                     LLMPERF_EINVAL);
    assert_int_equal(groups, 1);
    assert_null(set);
    assert_int_equal(lp_counter_set_open_group("GX999", NULL, preset, 1, &groups, &set),
                     LLMPERF_EINVAL);
    lp_counter_preset_free(preset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_quantity_is_in_one_group),
        cmocka_unit_test(a_sum_that_needs_more_passes_is_split),
        cmocka_unit_test(ranges_leave_out_what_needs_kernels_repeated),
        cmocka_unit_test(one_pass_is_one_group),
        cmocka_unit_test(a_group_that_is_not_there_is_refused),
    };

    return cmocka_run_group_tests(tests, open_roofline, close_roofline);
}
