/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ops.h"
#include "ranks.h"
#include "streams.h"

int complain(const char *what, int code)
{
    fprintf(stderr, "dsocr_profile: %s\n", what);
    return code;
}

int run_has_images(const struct run *run)
{
    return run->shape.vision.sam.layers > 0;
}

int run_is_network(const struct run *run)
{
    return run->shape.resnet.blocks > 0;
}

struct request run_request(const struct run *run, size_t page)
{
    struct request request = { .text_tokens = run->options->prompt_tokens, .text = run->text };
    const struct page_views *views = run->views ? &run->views[page] : NULL;

    if (!views)
        return request;
    request.whole = (struct views){ 1, views->tiling.whole_pixels };
    request.tiles =
        (struct views){ views->tiling.rows * views->tiling.columns, views->tiling.tile_pixels };
    request.tile_rows = views->tiling.rows;
    request.tile_columns = views->tiling.columns;
    request.tile_pixels = views->tiles;
    request.whole_pixels = views->whole;
    return request;
}

size_t run_positions(const struct run *run, size_t page)
{
    struct request request = run_request(run, page);

    return run_is_network(run)
               ? 0
               : engine_image_positions(&run->shape, &request) + request.text_tokens;
}

static int read_pages(struct run *run)
{
    const struct options *options = run->options;
    struct sampling sampling = { .epochs = 1 };
    int status;

    if (!run_has_images(run)) { /* one prompt, whose length is all that there is to it */
        run->pages.items = calloc(1, sizeof(struct page));
        run->pages.count = run->pages.items ? 1 : 0;
        status = run->pages.items && (run->pages.items[0].name = strdup("prompt")) &&
                         (run->pages.items[0].category = strdup("text"))
                     ? 0
                     : -1;
    } else if (options->inputs) {
        status = pages_read_list(&run->pages, options->inputs, run->problem, sizeof(run->problem));
    } else {
        status = pages_read_dataset(&run->pages, options->dataset, &sampling, run->problem,
                                    sizeof(run->problem));
    }
    if (status < 0)
        return complain(run->problem, EXIT_ENVIRONMENT);
    if (!run_has_images(run))
        sampling.epochs = options->streams; /* one prompt for each */
    sampling.epochs = options->epochs_given ? options->sampling.epochs : sampling.epochs;
    sampling.samples = options->samples_given ? options->sampling.samples : sampling.samples;
    sampling.random = options->random_given ? options->sampling.random : sampling.random;
    sampling.seed = options->seed_given ? options->sampling.seed : sampling.seed;
    return pages_sample(&run->pages, &sampling) < 0 ? complain("out of memory", EXIT_ENVIRONMENT)
                                                    : 0;
}

/* The model's file with fewer layers, so that the analysis counts what runs. */
static int write_shorter_model(struct run *run, FILE *from, FILE *to, const char *name)
{
    char line[4096], *key;
    int changed = 0;

    fprintf(to, "name: %s_%zu_layers\n", name, run->options->layers);
    while (fgets(line, sizeof(line), from)) {
        if (strncmp(line, "parameters_total:", 17) == 0 || strncmp(line, "name:", 5) == 0)
            continue;
        if ((key = strstr(line, "num_hidden_layers:"))) {
            fprintf(to, "%.*snum_hidden_layers: %zu\n", (int)(key - line), line,
                    run->options->layers);
            changed++;
        } else {
            fputs(line, to);
        }
    }
    return changed == 1 ? 0 : -1;
}

static int shorten_model(struct run *run, const char *out)
{
    size_t length = strlen(run->shape.source);
    char path[4096];
    FILE *from, *to;
    int status;

    if (run->options->layers >= run->shape.decoder.layers ||
        (length > 5 && strcmp(run->shape.source + length - 5, ".json") == 0))
        return complain("layers must be fewer than the model's, and its file YAML", EXIT_USAGE);
    snprintf(path, sizeof(path), "%.3800s/%.100s_%zu_layers.yaml", out, run->shape.name,
             run->options->layers);
    from = fopen(run->shape.source, "r");
    to = fopen(path, "w");
    status = from && to ? write_shorter_model(run, from, to, run->shape.name) : -1;
    if (from)
        fclose(from);
    if (to)
        fclose(to);
    if (status < 0) {
        snprintf(run->problem, sizeof(run->problem), "cannot write %.400s with fewer layers", path);
        return complain(run->problem, EXIT_ENVIRONMENT);
    }
    printf("layers: %zu of %zu, in %s\n", run->options->layers, run->shape.decoder.layers, path);
    return shape_read(&run->shape, path, run->problem, sizeof(run->problem)) < 0
               ? complain(run->problem, EXIT_USAGE)
               : 0;
}

static const char *out_folder(const struct run *run)
{
    const char *environment = getenv("LLMPERF_OUT");

    return run->options->out ? run->options->out : environment ? environment : "runs";
}

static int read_shape(struct run *run)
{
    if (shape_read(&run->shape, run->options->model, run->problem, sizeof(run->problem)) < 0)
        return complain(run->problem, EXIT_ENVIRONMENT);
    if (mkdir(out_folder(run), 0777) < 0 && errno != EEXIST) {
        snprintf(run->problem, sizeof(run->problem), "cannot make %.400s: %s", out_folder(run),
                 strerror(errno));
        return complain(run->problem, EXIT_ENVIRONMENT);
    }
    return run->options->layers ? shorten_model(run, out_folder(run)) : 0;
}

static int make_inputs(struct run *run)
{
    size_t count = run->options->prompt_tokens, steps = run->options->new_tokens;
    size_t requests = run->options->repeats * run->pages.runs;

    run->text = calloc(count, sizeof(*run->text));
    run->times = calloc(requests + 1, sizeof(*run->times));
    run->step_ms = calloc(requests * steps + 1, sizeof(*run->step_ms));
    if (run_has_images(run))
        run->views = calloc(run->pages.count, sizeof(*run->views));
    if (!run->text || !run->times || !run->step_ms || (run_has_images(run) && !run->views))
        return complain("out of memory", EXIT_ENVIRONMENT);
    for (size_t i = 0; i < requests; i++)
        run->times[i].step_ms = run->step_ms + i * steps;
    for (size_t i = 0; i < count && run->shape.decoder.vocabulary; i++)
        run->text[i] =
            (int32_t)(random_bits(run->options->seed, i) % run->shape.decoder.vocabulary);
    for (size_t i = 0; run->views && i < run->pages.count; i++)
        views_plan(&run->views[i], &run->pages.items[i], run->options->mode);
    return 0;
}

/* A plan for ranks is made where there are none. */
static size_t rank_of(const struct options *options)
{
    return options->rank == RANK_NONE ? 0 : options->rank;
}

static struct engine_options largest(const struct run *run)
{
    struct engine_options options = { .model = run->shape.source,
                                      .seed = run->options->seed,
                                      .batch = run->options->batch,
                                      .new_tokens = run->options->new_tokens,
                                      .graphs = run->options->graphs,
                                      .no_regions = run->options->no_session };

    if (run->options->ranks > 1 && !run->options->replicas) {
        options.rank = rank_of(run->options);
        options.world = run->options->ranks;
    }

    for (size_t i = 0; i < run->pages.runs; i++) {
        struct request request = run_request(run, run->pages.order[i]);
        size_t positions = run_positions(run, run->pages.order[i]);

        options.prompt = positions > options.prompt ? positions : options.prompt;
        options.whole = request.whole;
        if (request.tiles.count > options.tiles.count)
            options.tiles = request.tiles;
    }
    return options;
}

struct ops *run_open_ops(struct run *run)
{
    struct ops *ops = run->options->on_cpu ? ops_cpu_open()
                                           : ops_cuda_open(rank_of(run->options), run->problem,
                                                           sizeof(run->problem));

    if (!ops)
        fprintf(
            stderr,
            "dsocr_profile: %s\n"
            "Without a GPU: `dsocr_profile --recorded` makes the report of a recorded run on an "
            "H200; `llmperf model %s`\n"
            "says what the model's work is; --device cpu runs models of a few megabytes.\n",
            run->problem, run->shape.name);
    return ops;
}

int run_plan(struct run *run)
{
    size_t bytes = 0;
    uint64_t parameters = 0;
    int code;

    if ((code = read_shape(run)) || (code = read_pages(run)) || (code = make_inputs(run)))
        return code;
    run->engine_options = largest(run);
    if (engine_measure(&run->engine_options, run->options->streams, &bytes, &parameters,
                       run->problem, sizeof(run->problem)) < 0)
        return complain(run->problem, EXIT_USAGE);
    printf("model: %s, %llu random weights, %.2f GB with cache and buffers\n", run->shape.name,
           (unsigned long long)parameters, (double)bytes / 1e9);
    return 0;
}

static int make_pixels(struct run *run)
{
    for (size_t i = 0; run->views && i < run->pages.runs; i++) {
        size_t page = run->pages.order[i];

        if (!run->views[page].whole && views_make(&run->views[page], &run->pages.items[page],
                                                  run->options->seed + 1000 * page) < 0)
            return complain("out of memory for pixels", EXIT_ENVIRONMENT);
    }
    return 0;
}

int run_prepare(struct run *run)
{
    struct ops *ops = run_open_ops(run);
    int code;

    if (!ops)
        return EXIT_ENVIRONMENT;
    printf("device: %s\n", ops->name);
    if ((code = ranks_join(run, ops)) != 0) {
        ops->destroy(ops);
        return code;
    }
    fflush(stdout);
    code = streams_open(run, ops);
    return code ? code : make_pixels(run);
}

/* Warm up all pages: each number of tiles has other shapes, and libraries select kernels for each
 * shape. */
static int warm_up(struct run *run)
{
    size_t tokens = run->options->new_tokens < 8 ? run->options->new_tokens : 8;
    int code = 0;

    for (size_t w = 0; w < run->options->warmup && code == 0; w++)
        code = streams_run(run, tokens, run->times); /* overwritten later */
    return code;
}

static int has_tier_counters(const struct options *options)
{
    const char *environment = getenv("LLMPERF_TIER");

    return options->tier ? options->tier == LLMPERF_TIER_COUNTERS
                         : environment && strcmp(environment, "counters") == 0;
}

/* Stages, not the hundreds of regions below them: the GPU is drained at both ends of each. */
static const char *counters_of(const struct options *options)
{
    if (options->counters || getenv("LLMPERF_COUNTERS") || !has_tier_counters(options))
        return options->counters;
    return "light include=LLM@vision include=LLM@prefill include=LLM@decode_step "
           "include=LLM@forward";
}

static int start_session(struct run *run)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    char config[4096];
    int status;

    snprintf(config, sizeof(config), "%.4000s/.dsocr_profile-%ld.yaml", out_folder(run),
             (long)getpid());
    if (report_options(run, config) < 0)
        return complain("cannot write the configuration beside the runs", EXIT_ENVIRONMENT);
    options.tier = run->options->tier;
    options.device_source = run->options->on_cpu ? LLMPERF_SOURCE_NONE : LLMPERF_SOURCE_AUTO;
    options.out_dir = out_folder(run);
    options.record_path = run->options->record;
    options.counters = counters_of(run->options);
    options.config_path = config;
    options.model_path = run->shape.source;
    if (!run->options->replicas && run->options->ranks > 1)
        options.tensor_parallel = (uint32_t)run->options->ranks;
    status = llmperf_session_start(&options, &run->session);
    unlink(config);
    return status < 0 ? complain(llmperf_last_error(), EXIT_ENVIRONMENT) : 0;
}

static void print_streams(const struct run *run, double seconds)
{
    const struct options *options = run->options;
    size_t requests = options->repeats * run->pages.runs;

    printf("streams: %zu at once, %zu requests in %.3f s, %.1f new tokens/s together\n",
           options->streams, requests, seconds,
           (double)(requests * options->new_tokens * options->batch) / seconds);
}

static int wait_for_turn(void)
{
    int byte;

    do
        byte = getchar();
    while (byte != '\n' && byte != EOF);
    return byte == EOF
               ? complain("standard input ended before each repeat had its turn", EXIT_ENVIRONMENT)
               : 0;
}

static int measure(struct run *run)
{
    double start = engine_now_ms();
    int code = 0;

    for (size_t r = 0; r < run->options->repeats && code == 0; r++) {
        if (run->options->turns && (code = wait_for_turn()) != 0)
            return code;
        code = streams_run(run, run->options->new_tokens, &run->times[r * run->pages.runs]);
        if (run->options->turns && code == 0)
            report_turn(run, r);
    }
    if (code == 0 && run->options->streams > 1 && !run_is_network(run))
        print_streams(run, (engine_now_ms() - start) / 1e3);
    return code;
}

int run_measure(struct run *run)
{
    int code = warm_up(run);

    if (code == 0 && !run->options->no_session)
        code = start_session(run);
    if (code == 0)
        code = streams_capture(run);
    if (code == 0)
        ranks_meet(run);
    if (code == 0 && run->options->turns)
        puts("ready");
    fflush(stdout);
    if (code == 0)
        code = measure(run);
    if (code == 0 && run->session && llmperf_session_stop(run->session, &run->profile) < 0)
        code = complain(llmperf_last_error(), EXIT_ENVIRONMENT);
    return code;
}

void run_clear(struct run *run)
{
    llmperf_profile_free(run->profile);
    llmperf_session_free(run->session);
    streams_close(run);
    ranks_leave(run);
    for (size_t i = 0; run->views && i < run->pages.count; i++)
        views_clear(&run->views[i]);
    free(run->views);
    free(run->text);
    free(run->times);
    free(run->step_ms);
    pages_clear(&run->pages);
}
