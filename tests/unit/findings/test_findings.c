/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile means is worked out once, whoever asks. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/findings/findings.h"
#include "lib/statistics/student.h"
#include "llmperf/llmperf.h"
#include "tests/support/play.h"
#include "tests/support/sample.h"

#define FOLDERS_MOST 8

struct watch {
    int inotify;
    char folders[FOLDERS_MOST + 1][64]; /* by the number of the watch */
};

static void watch_folder(struct watch *watch, const char *conf, const char *name)
{
    char path[600];
    int number;

    snprintf(path, sizeof(path), "%s/%s", conf, name);
    number = inotify_add_watch(watch->inotify, path, IN_OPEN);
    assert_in_range(number, 1, FOLDERS_MOST);
    snprintf(watch->folders[number], sizeof(watch->folders[number]), "%s", name);
}

/* A copy, so that nobody else opens its files. */
static void watch_configuration(struct watch *watch)
{
    const char *conf = in_test_folder("conf");
    char command[1200];

    snprintf(command, sizeof(command), "cp -r '%s' '%s'", getenv("LLMPERF_CONFIG_DIR"), conf);
    assert_int_equal(system(command), 0);
    assert_int_equal(setenv("LLMPERF_CONFIG_DIR", conf, 1), 0);
    assert_true((watch->inotify = inotify_init1(IN_NONBLOCK)) >= 0);
    watch_folder(watch, conf, ".");
    watch_folder(watch, conf, "hardware");
}

/* Fails if a file was opened twice; returns how often `wanted` was. */
static unsigned count_opens(const struct watch *watch, const char *wanted)
{
    char bytes[1 << 16] __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t size = read(watch->inotify, bytes, sizeof(bytes));
    char seen[64][128];
    size_t count = 0;
    unsigned found = 0;

    assert_true(size > 0);
    for (char *at = bytes; at < bytes + size;) {
        const struct inotify_event *event = (const struct inotify_event *)at;
        char name[128];

        at += sizeof(*event) + event->len;
        if (event->mask & IN_ISDIR || event->len == 0)
            continue;
        snprintf(name, sizeof(name), "%s/%.60s", watch->folders[event->wd], event->name);
        for (size_t i = 0; i < count; i++)
            if (strcmp(seen[i], name) == 0)
                fail_msg("%s was read twice", name);
        assert_true(count < 64);
        memcpy(seen[count++], name, sizeof(name));
        found += strcmp(event->name, wanted) == 0;
    }
    return found;
}

static void a_run_directory_reads_each_configuration_file_once(void **state)
{
    llmperf_profile *profile = sample_profile();
    struct watch watch = { .inotify = -1 };
    char bytes[1 << 16];
    const char *runs[] = { in_test_folder("run"), in_test_folder("again") };

    (void)state;
    assert_int_equal(mkdir(runs[0], 0755) + mkdir(runs[1], 0755), 0);
    watch_configuration(&watch);
    assert_int_equal(llmperf_artifacts_write(profile, runs[0]), 0);
    assert_int_equal(count_opens(&watch, "kernel_classes.yaml"), 1);
    /* The same profile again reads nothing. */
    assert_int_equal(llmperf_artifacts_write(profile, runs[1]), 0);
    assert_true(read(watch.inotify, bytes, sizeof(bytes)) < 0);
    close(watch.inotify);
    llmperf_profile_free(profile);
}

static void a_profile_that_changes_has_new_findings(void **state)
{
    llmperf_profile *profile = sample_profile();
    const struct lp_findings *findings, *same;

    (void)state;
    assert_int_equal(lp_findings_of(profile, &findings), 0);
    assert_int_equal(lp_findings_of(profile, &same), 0);
    assert_ptr_equal(findings, same);
    assert_int_equal(lp_profile_set_fact(profile, LP_DTYPE_FACT, "fp8"), 0);
    assert_int_equal(lp_findings_of(profile, &findings), 0);
    assert_string_equal(findings->limits.dtype, "fp8");
    llmperf_profile_free(profile);
}

#define THREADS 8

static void *ask(void *profile)
{
    const struct lp_findings *findings = NULL;

    return lp_findings_of(profile, &findings) == 0 ? (void *)findings->regions.items : NULL;
}

static void threads_share_the_findings_of_a_profile(void **state)
{
    llmperf_profile *profile = sample_profile();
    pthread_t threads[THREADS];
    void *found[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, profile), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], &found[i]), 0);
    for (int i = 0; i < THREADS; i++)
        assert_true(found[i] && found[i] == found[0]);
    llmperf_profile_free(profile);
}

static llmperf_stage stage_at(const llmperf_profile *profile, const char *path, size_t *index)
{
    llmperf_stage stage = LLMPERF_STAGE_INIT;

    for (*index = 0; *index < llmperf_profile_count(profile, LLMPERF_ROWS_STAGES); ++*index) {
        assert_int_equal(llmperf_profile_stage(profile, *index, &stage), 0);
        if (strcmp(stage.path, path) == 0)
            return stage;
    }
    fail_msg("no stage %s", path);
    return stage;
}

/* Steps in a half of which device work was collected: in four of five milliseconds of it the device
 * was busy. */
static void a_stage_says_how_fast_it_was_and_could_be(void **state)
{
    llmperf_profile *profile = sample_profile();
    llmperf_region_stats *step = sample_find(profile, SAMPLE_STEP);
    llmperf_stage stage;
    size_t at;

    (void)state;
    step->skipped_fraction = 0.5;
    step->gpu_busy_ms = 0.4 * step->wall_sum_ms;
    step->idle_ms = 0.1 * step->wall_sum_ms;
    stage = stage_at(profile, SAMPLE_STEP, &at);
    assert_int_equal(stage.calls, 300);
    check_close(stage.call_ms, 10);
    check_close(stage.wall_ms, 3000);
    check_close(stage.tokens_per_s, 800);
    check_close(stage.busy_ms, 2400);
    check_close(stage.idle_ms, 600);
    check_close(stage.collected, 0.5);
    check_close(stage.busy_ms / stage.floor_ms, stage.floor_ratio);
    check_close(stage.wall_ms / stage.floor_ms, stage.wall_ratio);
    check_close(stage.mfu_elapsed, 0.8 * stage.mfu);
    check_close(stage.mbu_elapsed, 0.8 * stage.mbu);
    assert_int_equal(stage.bound, LLMPERF_BOUND_LAUNCH); /* of the iterations */
    assert_int_equal(stage.confidence, LLMPERF_CONFIDENCE_HIGH);
    assert_int_equal(stage.rate, LLMPERF_RATE_STAGE);
    assert_null(llmperf_profile_stage_reason(profile, at, "mbu"));
    assert_null(llmperf_profile_stage_reason(profile, at, "busy_ms"));
    llmperf_profile_free(profile);
}

static void what_is_not_known_has_a_reason(void **state)
{
    static const char *const fields[] = { "tokens",       "tokens_per_s", "mfu",     "mbu",
                                          "mfu_elapsed",  "mbu_elapsed",  "busy_ms", "busy_low_ms",
                                          "busy_high_ms", "idle_ms",      "device",  "floor_ms",
                                          "floor_ratio",  "bound" };
    llmperf_profile *profile = sample_profile();
    llmperf_region_stats *step = sample_find(profile, SAMPLE_STEP);
    llmperf_stage stage;
    size_t at;

    (void)state;
    step->tokens = step->flops = step->bytes = LLMPERF_UNKNOWN;
    step->skipped_fraction = 1;
    step->device = -1;
    stage = stage_at(profile, SAMPLE_STEP, &at);
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (!llmperf_profile_stage_reason(profile, at, fields[i]))
            fail_msg("no reason for %s", fields[i]);
    assert_null(llmperf_profile_stage_reason(profile, at, "wall_ms"));
    assert_null(llmperf_profile_stage_reason(profile, at, "no_field"));
    assert_null(llmperf_profile_stage_reason(profile, 1000, "mfu"));
    assert_null(llmperf_profile_stage_reason(NULL, 0, "mfu"));
    assert_true(isnan(stage.tokens_per_s) && isnan(stage.mfu) && isnan(stage.mbu));
    assert_true(isnan(stage.busy_ms) && isnan(stage.busy_high_ms) && isnan(stage.idle_ms));
    assert_true(isnan(stage.floor_ms) && isnan(stage.floor_ratio));
    assert_int_equal(stage.bound, LLMPERF_BOUND_UNKNOWN);
    llmperf_profile_free(profile);
}

static void advice_has_its_evidence(void **state)
{
    llmperf_profile *profile = sample_profile();
    llmperf_advice advice = LLMPERF_ADVICE_INIT;
    llmperf_evidence evidence = LLMPERF_EVIDENCE_INIT;

    (void)state;
    assert_true(llmperf_profile_count(profile, LLMPERF_ROWS_ADVICE) > 0);
    assert_int_equal(llmperf_profile_advice(profile, 0, &advice), 0);
    assert_string_equal(advice.id, "launch_bound");
    assert_string_equal(advice.stage, SAMPLE_STEP);
    check_close(advice.saving_ms, 1200);
    assert_int_equal(advice.severity, LLMPERF_SEVERITY_HIGH);
    assert_int_equal(llmperf_profile_evidence(profile, 0, 0, &evidence), 0);
    assert_string_equal(evidence.name, "wall_ratio");
    assert_string_equal(evidence.unit, "");
    assert_true(evidence.value > 1 && !evidence.text);
    assert_int_equal(llmperf_profile_evidence(profile, 0, (size_t)advice.evidence, &evidence),
                     LLMPERF_EINVAL);
    check_error("evidence");
    llmperf_profile_free(profile);
}

/* Prefill is busy for 46 ms, 300 steps for 1200 ms; vision is part of prefill, decode_all is its
 * steps. */
static void stages_together_use_the_gpu_by_their_work(void **state)
{
    static const double peak = 989.4e12, bandwidth = 4800e9;
    const double flops = 29688401494016.0 + SAMPLE_STEPS * 128664469504.0;
    const double bytes = 15278424064.0 + SAMPLE_STEPS * 17158447104.0;
    llmperf_overall overall = LLMPERF_OVERALL_INIT;
    llmperf_profile *profile = sample_profile();

    (void)state;
    assert_int_equal(llmperf_profile_overall(profile, NULL), LLMPERF_EINVAL);
    assert_int_equal(llmperf_profile_overall(profile, &overall), 0);
    check_close(overall.busy_ms, 1246);
    check_close(overall.elapsed_ms, 3050);
    check_close(overall.mfu, flops / (1.246 * peak));
    check_close(overall.mbu, bytes / (1.246 * bandwidth));
    check_close(overall.mfu_elapsed, flops / (3.050 * peak));
    check_close(overall.mbu_elapsed, bytes / (3.050 * bandwidth));
    assert_true(!overall.mfu_reason && !overall.mbu_reason && !overall.elapsed_reason);
    llmperf_profile_free(profile);
}

static void without_the_work_of_a_stage_the_whole_is_unknown(void **state)
{
    llmperf_overall overall = LLMPERF_OVERALL_INIT;
    llmperf_profile *profile = sample_profile();

    (void)state;
    sample_find(profile, "LLM@prefill")->flops = LLMPERF_UNKNOWN;
    assert_int_equal(llmperf_profile_overall(profile, &overall), 0);
    assert_true(isnan(overall.mfu) && isnan(overall.mfu_elapsed) && !isnan(overall.mbu));
    assert_string_equal(overall.mfu_reason, "LLM@prefill: the FLOPs of the work are unknown or 0");
    llmperf_profile_free(profile);
    profile = sample_profile();
    profile->ledger.verdict = LLMPERF_VERDICT_NO_DEVICE;
    assert_int_equal(llmperf_profile_overall(profile, &overall), 0);
    assert_true(isnan(overall.mfu) && isnan(overall.busy_ms) && isnan(overall.elapsed_ms));
    assert_string_equal(overall.mbu_reason,
                        "no GPU was observed, or no record of its work was received");
    llmperf_profile_free(profile);
}

static void a_title_names_program_model_gpu_batch_and_dtype(void **state)
{
    llmperf_about about = LLMPERF_ABOUT_INIT;
    llmperf_profile *profile = sample_rows();

    (void)state;
    assert_int_equal(
        lp_profile_set_fact(profile, "env",
                            "{\"program\": \"/opt/engine/serve\", \"gpus\": "
                            "[{\"device\": 0, \"name\": \"NVIDIA H200\"}, {\"device\": 0}]}"),
        0);
    assert_int_equal(lp_profile_set_fact(profile, "model_name", "llama_3_8b"), 0);
    sample_region(profile, "LLM@prefill", NULL, 1, 50, 46)->process_id = 8; /* its own GPU 0 */
    assert_int_equal(lp_profile_finish(profile), 0);
    assert_int_equal(llmperf_profile_about(profile, &about), 0);
    assert_string_equal(about.title, "serve · llama_3_8b · NVIDIA H200 × 2 · batch 8 · bf16");
    assert_string_equal(about.program, "serve");
    assert_int_equal(about.gpus, 2);
    llmperf_profile_free(profile);
    profile = play_script("begin LLM@prefill\nend\n");
    assert_int_equal(llmperf_profile_about(profile, &about), 0);
    assert_null(about.model);
    assert_true(isnan(about.batch) && about.title[0]);
    assert_int_equal(llmperf_profile_about(profile, NULL), LLMPERF_EINVAL);
    llmperf_profile_free(profile);
}

static void rows_that_are_not_there_are_refused(void **state)
{
    llmperf_profile *profile = sample_profile();
    llmperf_stage stage = LLMPERF_STAGE_INIT;
    llmperf_gpu gpu = LLMPERF_GPU_INIT;

    (void)state;
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_GPUS), 1);
    assert_int_equal(llmperf_profile_gpu(profile, 0, &gpu), 0);
    assert_string_equal(gpu.name, "NVIDIA H200");
    assert_int_equal(llmperf_profile_gpu(profile, 1, &gpu), LLMPERF_EINVAL);
    check_error("row 1 of 1 does not exist");
    assert_int_equal(llmperf_profile_stage(profile, 0, NULL), LLMPERF_EINVAL);
    assert_int_equal(llmperf_profile_stage(NULL, 0, &stage), LLMPERF_EINVAL);
    assert_int_equal(llmperf_profile_count(NULL, LLMPERF_ROWS_STAGES), 0);
    assert_int_equal(llmperf_profile_count(NULL, LLMPERF_ROWS_ADVICE), 0);
    llmperf_profile_free(profile);
}

static void a_script_names_the_gpu_that_its_numbers_are_of(void **state)
{
    llmperf_profile *profile = play_script("gpu \"NVIDIA H200\"\n"
                                           "begin LLM@decode_step bytes=4800000000\n"
                                           "launch gemv duration=2000000\nwait 2100000\nend\n");
    llmperf_gpu gpu = LLMPERF_GPU_INIT;
    size_t at;

    (void)state;
    assert_int_equal(llmperf_profile_gpu(profile, 0, &gpu), 0);
    assert_string_equal(gpu.name, "NVIDIA H200");
    check_close(stage_at(profile, "LLM@decode_step", &at).mbu, 0.5);
    llmperf_profile_free(profile);
}

static void students_t_of_95_percent_is_that_of_the_tables(void **state)
{
    (void)state;
    assert_float_equal(lp_student_95(1), 12.706, 1e-3);
    assert_float_equal(lp_student_95(7), 2.365, 1e-3);
    assert_float_equal(lp_student_95(20), 2.086, 1e-3);
    assert_float_equal(lp_student_95(60), 2.000, 0.01);
    assert_float_equal(lp_student_95(1e9), 1.960, 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stage_says_how_fast_it_was_and_could_be),
        cmocka_unit_test(what_is_not_known_has_a_reason),
        cmocka_unit_test(advice_has_its_evidence),
        cmocka_unit_test(stages_together_use_the_gpu_by_their_work),
        cmocka_unit_test(without_the_work_of_a_stage_the_whole_is_unknown),
        cmocka_unit_test(a_title_names_program_model_gpu_batch_and_dtype),
        cmocka_unit_test(rows_that_are_not_there_are_refused),
        cmocka_unit_test(a_script_names_the_gpu_that_its_numbers_are_of),
        cmocka_unit_test(students_t_of_95_percent_is_that_of_the_tables),
        cmocka_unit_test(threads_share_the_findings_of_a_profile),
        cmocka_unit_test(a_profile_that_changes_has_new_findings),
        cmocka_unit_test(a_run_directory_reads_each_configuration_file_once),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
