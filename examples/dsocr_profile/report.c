/* SPDX-License-Identifier: Apache-2.0 */
/* What the library cannot know: which inputs there were, and how far repeats are apart. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

/* Repeats that are further apart than this are named. */
#define SPREAD_MAX 0.10

struct spread {
    double mean, std, range; /* range: (largest - smallest) / mean */
};

static struct spread spread_of(const double *values, size_t count)
{
    struct spread out = { 0, NAN, 0 };
    double squares = 0, low = values[0], high = values[0];

    for (size_t i = 0; i < count; i++) {
        out.mean += values[i] / (double)count;
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - out.mean) * (values[i] - out.mean);
    if (count > 1)
        out.std = sqrt(squares / (double)(count - 1));
    out.range = out.mean > 0 ? (high - low) / out.mean : 0;
    return out;
}

/* Results of run `index` of a repeat; of all runs if index is their number. */
enum figure { PREFILL_MS, DECODE_TOKENS_PER_S, PASS_MS };

static double figure_of(const struct run *run, size_t repeat, size_t index, enum figure figure)
{
    size_t runs = run->pages.runs, first = index == runs ? 0 : index;
    size_t end = index == runs ? runs : index + 1;
    double prefill = 0, decode = 0, count = (double)(end - first);

    for (size_t i = first; i < end; i++) {
        prefill += run->times[repeat * runs + i].prefill_ms;
        decode += run->times[repeat * runs + i].decode_ms;
    }
    if (figure == PREFILL_MS)
        return prefill / count;
    if (figure == PASS_MS)
        return decode / count / (double)run->options->new_tokens;
    return (double)(run->options->new_tokens * run->options->batch) * count / decode * 1e3;
}

static struct spread figure_spread(const struct run *run, size_t index, enum figure figure)
{
    struct spread none = { NAN, NAN, 0 };
    double *values = malloc(run->options->repeats * sizeof(*values));

    if (!values)
        return none;
    for (size_t r = 0; r < run->options->repeats; r++)
        values[r] = figure_of(run, r, index, figure);
    none = spread_of(values, run->options->repeats);
    free(values);
    return none;
}

static void print_spread(FILE *file, struct spread spread)
{
    if (isnan(spread.std))
        fprintf(file, " %.3f |", spread.mean);
    else
        fprintf(file, " %.3f ± %.3f |", spread.mean, spread.std);
}

static void print_page(FILE *file, const struct run *run, size_t page)
{
    const struct page_views *views = run->views ? &run->views[page] : NULL;

    fprintf(file, "| %s |", run->pages.items[page].name);
    if (views && views->tiling.rows)
        fprintf(file, " %zu x %zu | %zu |", views->tiling.rows, views->tiling.columns,
                run_positions(run, page));
    else
        fprintf(file, " | %zu |", run_positions(run, page));
}

void report_plan(const struct run *run)
{
    puts("\n| page | tiles | prompt tokens |\n| --- | --- | --- |");
    for (size_t i = 0; i < run->pages.runs; i++) {
        print_page(stdout, run, run->pages.order[i]);
        putchar('\n');
    }
}

static void print_row(FILE *file, const struct run *run, size_t index)
{
    if (index == run->pages.runs)
        fprintf(file, "| all | | |");
    else
        print_page(file, run, run->pages.order[index]);
    print_spread(file, figure_spread(run, index, PREFILL_MS));
    print_spread(file, figure_spread(run, index, DECODE_TOKENS_PER_S));
    fputc('\n', file);
}

static void print_verdict(FILE *file, const char *what, struct spread spread)
{
    if (spread.range > SPREAD_MAX)
        fprintf(file, "\nRepeats of %s are %.1f %% apart: more than 10 %%.\n", what,
                100 * spread.range);
    else
        fprintf(file, "\nRepeats of %s are within %.1f %%.\n", what, 100 * spread.range);
}

/* Weights and the cache of the mean context, once over, at the device's bandwidth. */
static void print_floor(FILE *file, const struct run *run)
{
    llmperf_step step = LLMPERF_STEP_INIT;
    llmperf_step_floor limit = LLMPERF_STEP_FLOOR_INIT;
    llmperf_hardware *hardware = NULL;
    llmperf_model *model = NULL;
    uint64_t *cached = malloc(run->options->batch * sizeof(*cached)), positions = 0;
    struct spread rate = figure_spread(run, run->pages.runs, DECODE_TOKENS_PER_S);

    for (size_t i = 0; i < run->pages.runs; i++)
        positions += run_positions(run, run->pages.order[i]);
    for (size_t b = 0; cached && b < run->options->batch; b++)
        cached[b] = positions / run->pages.runs + run->options->new_tokens / 2;
    step.phase = LLMPERF_PHASE_DECODE;
    step.tensor_parallel = (uint32_t)run->engine_options.world;
    step.requests = run->options->batch;
    step.cached_tokens = cached;
    if (!run->options->on_cpu && cached && llmperf_model_open(run->shape.source, &model) == 0 &&
        llmperf_hardware_local(0, NULL, &hardware) == 0 &&
        llmperf_model_floor(model, &step, hardware, LLMPERF_LIMITS_IN_USE, &limit) == 0 &&
        limit.tokens_per_s > 0)
        fprintf(
            file,
            "\nDecode: %.1f tokens/s; the memory floor of %.4f ms a step allows %.1f: %.1f times "
            "as many.\n",
            rate.mean, limit.memory_ms, limit.tokens_per_s, limit.tokens_per_s / rate.mean);
    llmperf_hardware_free(hardware);
    llmperf_model_free(model);
    free(cached);
}

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

struct steps {
    double mean, median, p99; /* ms; NAN: out of memory */
};

static struct steps steps_of(const double *step_ms, size_t count)
{
    double *sorted = malloc(count * sizeof(*sorted)), sum = 0;
    struct steps steps = { NAN, NAN, NAN };

    if (!sorted)
        return steps;
    memcpy(sorted, step_ms, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), by_size);
    for (size_t i = 0; i < count; i++)
        sum += sorted[i];
    steps = (struct steps){ sum / (double)count, sorted[count / 2],
                            sorted[(99 * count + 99) / 100 - 1] };
    free(sorted);
    return steps;
}

/* Of all requests together: tier light makes few steps slow, and the median does not show them. */
static void print_steps(FILE *file, const struct run *run)
{
    size_t count = run->options->repeats * run->pages.runs * run->options->new_tokens;
    struct steps steps = steps_of(run->step_ms, count);

    if (!isnan(steps.mean))
        fprintf(file, "\nDecode step: %.4f ms mean, %.4f ms median, %.4f ms p99, of %zu.\n",
                steps.mean, steps.median, steps.p99, count);
}

void report_turn(const struct run *run, size_t repeat)
{
    size_t count = run->pages.runs * run->options->new_tokens;
    struct steps steps = steps_of(run->step_ms + repeat * count, count);

    printf("turn: %.3f us mean, %.3f us median\n", 1e3 * steps.mean, 1e3 * steps.median);
    fflush(stdout);
}

static void print_repeats(FILE *file, const struct run *run)
{
    size_t runs = run->pages.runs;

    fprintf(file, "# Repeats\n\n%s, %zu repeats after %zu of warm-up, host clock.\n\n",
            run->shape.name, run->options->repeats, run->options->warmup);
    if (run_is_network(run)) {
        fprintf(file, "| forward pass, ms |\n| --- |\n|");
        print_spread(file, figure_spread(run, runs, PASS_MS));
        fputc('\n', file);
        print_verdict(file, "a pass", figure_spread(run, runs, PASS_MS));
        return;
    }
    fprintf(file, "| page | tiles | prompt tokens | prefill, ms | decode, tokens/s |\n"
                  "| --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < runs; i++)
        print_row(file, run, i);
    if (runs > 1)
        print_row(file, run, runs);
    if (run->options->repeats > 1) {
        print_verdict(file, "prefill", figure_spread(run, runs, PREFILL_MS));
        print_verdict(file, "decode", figure_spread(run, runs, DECODE_TOKENS_PER_S));
    }
    print_steps(file, run);
    print_floor(file, run);
}

static FILE *open_in_run(const struct run *run, const char *name)
{
    const char *folder = llmperf_session_run_dir(run->session);
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder ? folder : ".", name);
    if (!(file = fopen(path, "w")))
        fprintf(stderr, "dsocr_profile: cannot write %s\n", path);
    return file;
}

int report_repeats(const struct run *run)
{
    FILE *file;

    print_repeats(stdout, run);
    putchar('\n');
    if (!run->session)
        return 0;
    if (!(file = open_in_run(run, "repeats.md")))
        return EXIT_ENVIRONMENT;
    print_repeats(file, run);
    return fclose(file) == 0 ? 0 : complain("cannot write repeats.md", EXIT_ENVIRONMENT);
}

/* A YAML string: any byte but quotes and backslashes as it is. */
static void print_quoted(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

static void print_input(FILE *file, const struct run *run, size_t page)
{
    const struct page *item = &run->pages.items[page];
    const struct page_views *views = run->views ? &run->views[page] : NULL;

    fprintf(file, "  - name: ");
    print_quoted(file, item->name);
    fprintf(file, "\n    path: ");
    if (item->path)
        print_quoted(file, item->path);
    else
        fprintf(file, "null");
    fprintf(file, "\n    category: ");
    print_quoted(file, item->category);
    if (views)
        fprintf(file,
                "\n    width: %zu\n    height: %zu\n    pixels: %s\n    tile_rows: %zu\n"
                "    tile_columns: %zu\n    tile_pixels: %zu\n    whole_pixels: %zu",
                item->width, item->height, views->decoded ? "decoded" : "random",
                views->tiling.rows, views->tiling.columns, views->tiling.tile_pixels,
                views->tiling.whole_pixels);
    fprintf(file, "\n    prompt_tokens: %zu\n", run_positions(run, page));
}

int report_inputs(const struct run *run)
{
    FILE *file = open_in_run(run, "inputs.yaml");

    if (!file)
        return EXIT_ENVIRONMENT;
    fprintf(file, "# In the order in which they ran; one repeat.\ninputs:\n");
    for (size_t i = 0; i < run->pages.runs; i++)
        print_input(file, run, run->pages.order[i]);
    return fclose(file) == 0 ? 0 : complain("cannot write inputs.yaml", EXIT_ENVIRONMENT);
}

int report_options(const struct run *run, const char *path)
{
    const struct options *options = run->options;
    FILE *file = fopen(path, "w");

    if (!file)
        return -1;
    fprintf(file, "run: {dtype: bf16}\n"
                  "dsocr_profile: # options as they were understood\n  model: ");
    print_quoted(file, run->shape.source);
    fprintf(file, "\n  layers: %zu\n  mode: %s\n  prompt_tokens: %zu\n  new_tokens: %zu\n",
            run->shape.decoder.layers, mode_name(options->mode), options->prompt_tokens,
            options->new_tokens);
    fprintf(file, "  repeats: %zu\n  warmup: %zu\n  batch: %zu\n  graphs: %s\n  seed: %llu\n",
            options->repeats, options->warmup, options->batch, options->graphs ? "true" : "false",
            (unsigned long long)options->seed);
    fprintf(file, "  streams: %zu\n  ranks: %zu\n", options->streams, options->ranks);
    if (options->rank != RANK_NONE)
        fprintf(file, "  rank: %zu\n  parallel: %s\n", options->rank,
                run->engine_options.world > 1 ? "tensor" : "replicas");
    fprintf(file, "  device: %s\n", options->on_cpu ? "cpu" : "cuda");
    if (options->inputs) {
        fprintf(file, "  inputs: ");
        print_quoted(file, options->inputs);
    } else {
        fprintf(file, "  dataset: ");
        print_quoted(file, options->dataset);
    }
    fputc('\n', file);
    return fclose(file) == 0 ? 0 : -1;
}

/* Kernels of one; 0 where there are none. */
static double kernels_in_step(const llmperf_profile *profile)
{
    llmperf_region_stats row = LLMPERF_REGION_STATS_INIT;
    uint64_t kernels = 0, steps = 0;

    for (size_t i = 0; llmperf_profile_region(profile, i, &row) == 0; i++)
        if (strcmp(row.label, "LLM@decode_step") == 0) {
            kernels += row.kernel_count;
            steps += row.instances;
        }
    return steps > 0 ? (double)kernels / (double)steps : 0;
}

static void print_collected(const llmperf_profile *profile, const llmperf_ledger *ledger)
{
    if (ledger->verdict == LLMPERF_VERDICT_SAMPLED)
        printf(", %.2f %% of the work collected", 100 * ledger->sampled_fraction);
    else if (ledger->verdict == LLMPERF_VERDICT_COMPLETE && kernels_in_step(profile) > 0)
        printf(", %g in a decode step", kernels_in_step(profile));
    putchar('\n');
}

int report_ledger(const llmperf_profile *profile)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    const char *line;

    if (llmperf_profile_ledger(profile, &ledger) < 0)
        return complain(llmperf_last_error(), EXIT_ENVIRONMENT);
    printf("ledger: %s, %llu kernels seen, %llu attributed",
           llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict),
           (unsigned long long)ledger.kernels_seen, (unsigned long long)ledger.kernels_attributed);
    print_collected(profile, &ledger);
    for (size_t i = 0; (line = llmperf_profile_problem(profile, i)); i++)
        printf("problem: %s\n", line);
    return 0;
}
