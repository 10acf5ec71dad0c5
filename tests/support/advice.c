/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/advice.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct lp_stage_facts plain_stage(void)
{
    struct lp_stage_facts stage = { .region = "LLM@decode_all/LLM@decode_step",
                                    .label = "LLM@decode_step",
                                    .decode = true,
                                    .instances = 100,
                                    .steady_calls = 100,
                                    .steady_ms = 10,
                                    .wall_ms = 1000,
                                    .busy_ms = 900,
                                    .dtype = "bf16" };
    double *const unknown[] = {
        &stage.wall_p50_ms,     &stage.wall_p99_ms,
        &stage.step_ms,         &stage.before_ms,
        &stage.after_ms,        &stage.elapsed_ms,
        &stage.span_ms,         &stage.idle_ms,
        &stage.idle_launch_ms,  &stage.idle_wait_ms,
        &stage.floor_ms,        &stage.floor_ratio,
        &stage.wall_ratio,      &stage.mbu,
        &stage.batch,           &stage.compute_floor_ms,
        &stage.memory_floor_ms, &stage.critical_batch,
        &stage.kernel_ms,       &stage.kernel_count,
        &stage.memcpy_ms,       &stage.memcpy_count,
        &stage.device_ms,       &stage.top_class_ms,
        &stage.top_kernel_ms,   &stage.copy_cast_ms,
        &stage.small_ms,        &stage.waiting_ms,
        &stage.tokens_per_s,    &stage.cheap_batch,
        &stage.layers,          &stage.narrow_loss_ms,
    };

    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        *unknown[i] = NAN;
    return stage;
}

const struct lp_run_facts good_run = {
    .device_usable = true, .host_usable = true, .marked = true, .device_ms = 900
};

struct lp_recommendations of_stage(const struct lp_stage_facts *stage)
{
    struct lp_recommendations out;

    assert_int_equal(lp_recommend(&good_run, stage, 1, &out), 0);
    return out;
}

double evidence(const struct lp_recommendation *row, const char *name)
{
    for (size_t i = 0; i < row->advice.evidence; i++)
        if (strcmp(row->evidence[i].name, name) == 0)
            return row->evidence[i].value;
    fail_msg("%s has no evidence %s", row->advice.id, name);
    return NAN;
}

void assert_says(const struct lp_stage_facts *stage, const char *id, double saving_ms,
                 const char *words)
{
    struct lp_recommendations out = of_stage(stage);
    const struct lp_recommendation *row = out.rows.items;

    assert_int_equal(out.rows.count, 1);
    assert_string_equal(row->advice.id, id);
    assert_string_equal(row->advice.stage, stage->region);
    if (isnan(saving_ms) ? !isnan(row->advice.saving_ms)
                         : !(fabs(row->advice.saving_ms - saving_ms) < 1e-9))
        fail_msg("%s: %g ms saving", id, row->advice.saving_ms);
    if (!strstr(row->text, words))
        fail_msg("\"%s\" is not in: %s", words, row->text);
    lp_recommendations_clear(&out);
}

void assert_silent(const struct lp_stage_facts *stage)
{
    struct lp_recommendations out = of_stage(stage);

    if (out.rows.count > 0)
        fail_msg("%s: %s", out.rows.items[0].advice.id, out.rows.items[0].text);
    lp_recommendations_clear(&out);
}
