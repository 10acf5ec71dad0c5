/* SPDX-License-Identifier: Apache-2.0 */
/* A small network under the profiler: open a device, warm up, run a session, check the result,
 * print where the run is. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "check.h"
#include "forward.h"
#include "llmperf/llmperf.h"
#include "options.h"

/* What one run has; freed in main(). */
struct run {
    const struct options *options;
    const struct plan *plan;
    struct model *model;
    struct device *device;
    llmperf_session *session;
    llmperf_profile *profile;
    double ms_per_iteration;
    uint64_t launches; /* in the session */
};

static int environment(const char *what)
{
    fprintf(stderr, "dummy_resnet: %s\n", what);
    return EXIT_ENVIRONMENT;
}

static int open_device(struct run *run)
{
    char reason[512] = "";
    enum device_choice choice = run->options->device;

    if (choice != DEVICE_CPU)
        run->device = cuda_open(run->model, reason, sizeof(reason));
    if (!run->device && choice == DEVICE_CUDA)
        return environment(reason);
    if (run->device) {
        printf("device: %s (%s)\n", run->device->name,
               choice == DEVICE_AUTO ? "auto: the first GPU" : "asked for");
        return 0;
    }
    run->device = cpu_open(run->model, 0, run->model->shape.batch, PRECISION_FLOAT);
    if (!run->device)
        return environment("out of memory");
    printf("device: cpu (%s%s)\n", choice == DEVICE_AUTO ? "auto: " : "asked for", reason);
    return 0;
}

static void print_work(const struct model *model)
{
    const struct shape *shape = &model->shape;
    struct work work = work_of_forward(model);

    printf("model: input %zux%zux%zux%zu, %zu channels, %zu blocks, %zu classes, fp32\n",
           shape->batch, shape->in_channels, shape->height, shape->width, shape->channels,
           shape->blocks, shape->classes);
    printf("work: %llu flops, %llu bytes per iteration\n", (unsigned long long)work.flops,
           (unsigned long long)work.bytes);
}

static int iterate(struct run *run, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        forward(run->device, run->model, 1);
    return run->device->synchronise(run->device) < 0 ? environment(run->device->error) : 0;
}

static int warm_up(struct run *run)
{
    int code = iterate(run, run->plan->warmup);

    /* After the warm-up, which is not timed. */
    if (code == 0 && run->options->check_times &&
        run->device->time_iterations(run->device, (size_t)run->plan->iterations) < 0)
        code = environment(run->device->error);
    return code;
}

static int start_session(struct run *run)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;

    options.tier = run->options->tier;
    /* If the CPU was requested, no GPU is opened; otherwise the library reports why there is none.
     */
    options.device_source =
        run->options->device == DEVICE_CPU ? LLMPERF_SOURCE_NONE : LLMPERF_SOURCE_AUTO;
    options.out_dir = run->options->out_dir;
    if (!options.out_dir && !getenv("LLMPERF_OUT"))
        options.out_dir = "runs";
    options.record_path = run->options->record_path;
    options.config_path = run->plan->infer_path;
    options.model_path = run->plan->arch_path;
    return llmperf_session_start(&options, &run->session) < 0 ? environment(llmperf_last_error())
                                                              : 0;
}

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int profile_iterations(struct run *run)
{
    uint64_t launches_before = run->device->launches;
    double start_ms;
    int code = start_session(run);

    if (code)
        return code;
    start_ms = now_ms();
    if ((code = iterate(run, run->plan->iterations)) != 0)
        return code;
    run->ms_per_iteration = (now_ms() - start_ms) / (double)run->plan->iterations;
    run->launches = run->device->launches - launches_before;
    if (llmperf_session_stop(run->session, &run->profile) < 0)
        return environment(llmperf_last_error());
    return 0;
}

static int print_ledger(const struct run *run)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    const char *line;

    if (llmperf_profile_ledger(run->profile, &ledger) < 0)
        return environment(llmperf_last_error());
    printf("time: %.4f ms per iteration (%llu iterations after %llu of warm-up)\n",
           run->ms_per_iteration, (unsigned long long)run->plan->iterations,
           (unsigned long long)run->plan->warmup);
    printf("launches: %llu\n", (unsigned long long)run->launches);
    printf("ledger: %s, kernels seen %llu of %llu expected\n",
           llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict),
           (unsigned long long)ledger.kernels_seen,
           (unsigned long long)(ledger.launches_expected == LLMPERF_UNKNOWN
                                    ? 0
                                    : ledger.launches_expected));
    for (size_t i = 0; (line = llmperf_profile_problem(run->profile, i)); i++)
        printf("problem: %s\n", line);
    return 0;
}

/* Every check is made and printed, also after one has failed. */
static int check_all(struct run *run)
{
    int result = check_result(run->device, run->model, run->options->tolerance);
    int times = 1, code;

    if (result < 0)
        return EXIT_ENVIRONMENT;
    if ((code = print_ledger(run)) != 0)
        return code;
    if (run->options->check_times)
        times = check_times(run->device, run->profile, run->options->time_limit);
    return result && times ? EXIT_SUCCESS : EXIT_CHECK_FAILED;
}

static int run_all(struct run *run)
{
    const char *run_dir;
    int code;

    run->model = model_create(&run->plan->shape, run->plan->seed);
    if (!run->model)
        return environment("out of memory");
    if ((code = open_device(run)) != 0)
        return code;
    print_work(run->model);
    if ((code = warm_up(run)) != 0 || (code = profile_iterations(run)) != 0)
        return code;
    code = check_all(run);
    run_dir = llmperf_session_run_dir(run->session);
    if (run_dir)
        puts(run_dir);
    return code;
}

int main(int count, char **arguments)
{
    struct options options;
    struct plan plan;
    struct run run = { .options = &options, .plan = &plan };
    int code;

    if ((code = options_parse(&options, count, arguments)) != GO_ON)
        return code;
    if ((code = plan_make(&plan, &options)) != 0)
        return code;
    code = run_all(&run);
    llmperf_profile_free(run.profile);
    llmperf_session_free(run.session);
    if (run.device)
        run.device->destroy(run.device);
    model_free(run.model);
    return code;
}
