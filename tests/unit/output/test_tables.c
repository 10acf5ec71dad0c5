/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of documents: columns and rows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/output/md/table.h"
#include "tests/support/text.h"

struct row {
    const char *name;
    uint64_t bytes, calls;
    double ms, never;
    int32_t device;
};

static const struct row rows[] = {
    { "a|b", 3 << 20, 4, 2, NAN, 0 },
    { NULL, LLMPERF_UNKNOWN, 2, 1500, NAN, -1 },
    { "c", 1 << 20, 1, 1, NAN, 1 },
};

static const struct lp_column columns[] = {
    LP_COLUMN_CODE("Name", struct row, name),
    LP_COLUMN_TIMES("MiB", struct row, bytes, 1.0 / 1048576),
    LP_COLUMN("Never", struct row, never),
    LP_COLUMN("GPU", struct row, device),
    LP_COLUMN_DURATION("Time", struct row, ms),
    LP_COLUMN_PER("us a call", struct row, ms, 1e3, calls),
};

static bool is_named(const struct lp_findings *findings, const void *row)
{
    (void)findings;
    return ((const struct row *)row)->name != NULL;
}

static void columns_without_a_known_value_are_left_out(void **state)
{
    const struct lp_table table = { LP_TABLE_COLUMNS(columns), .rows = rows,
                                    .row_size = sizeof(rows[0]), .row_count = 3 };
    struct lp_text out = { 0 };

    (void)state;
    lp_table_add(NULL, &table, &out);
    assert_string_equal(out.bytes, "| Name | MiB | GPU | Time | us a call |\n"
                                   "| --- | ---: | ---: | ---: | ---: |\n"
                                   "| `a\\|b` | 3.000 | 0 | 2.00 ms | 500.0 |\n"
                                   "| – | – | – | 1.50 s | 750000 |\n"
                                   "| `c` | 1.000 | 1 | 1.00 ms | 1000 |\n");
    lp_text_clear(&out);
}

static void rows_beyond_the_limit_are_counted(void **state)
{
    struct lp_table table = {
        LP_TABLE_COLUMNS(columns), .rows = rows, .row_size = sizeof(rows[0]), .row_count = 3,
        .has = is_named,           .limit = 1,   .all_in = "metrics.json"
    };
    struct lp_text out = { 0 };

    (void)state;
    lp_table_add(NULL, &table, &out);
    assert_text_has(out.bytes, "| `a\\|b` |");
    assert_text_lacks(out.bytes, "| `c` |");
    assert_text_has(out.bytes, "\n\n1 more in metrics.json.\n");
    lp_text_clear(&out);
    table.row_count = 0;
    lp_table_add(NULL, &table, &out);
    assert_int_equal(out.length, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_without_a_known_value_are_left_out),
        cmocka_unit_test(rows_beyond_the_limit_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
