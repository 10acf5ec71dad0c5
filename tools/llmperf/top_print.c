/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "llmperf/llmperf.h"
#include "top.h"

#define PATH_WIDTH 44

static void print_rate(double value)
{
    if (isnan(value))
        print(" %10s", "-");
    else if (value < 10)
        print(" %10.4f", value);
    else if (value < 1000)
        print(" %10.1f", value);
    else
        print(" %10.0f", value);
}

static double difference(uint64_t now, uint64_t before)
{
    return now == LLMPERF_UNKNOWN || before == LLMPERF_UNKNOWN || now < before
               ? (double)NAN
               : (double)(now - before);
}

static const struct top_row *find_row(const struct top_state *state, const char *path)
{
    for (size_t i = 0; state && i < state->row_count; i++)
        if (strcmp(state->rows[i].path, path) == 0)
            return &state->rows[i];
    return NULL;
}

/* The last label, indented by its depth; only the end of a long label. */
static void print_path(const struct top_row *row)
{
    const char *slash = strrchr(row->path, '/'), *label = slash ? slash + 1 : row->path;
    int indent = row->depth < 10 ? (int)row->depth * 2 : 20, room = PATH_WIDTH - indent;
    size_t length = strlen(label);

    print("%*s%-*s", indent, "", room,
          length > (size_t)room ? label + length - (size_t)room : label);
}

static void print_row(const struct top_row *row, const struct top_row *before, double seconds)
{
    static const struct top_row none = { .path = NULL };
    const struct top_row *since = before ? before : &none;
    double instances = difference(row->instances, since->instances);
    double tokens = row->tokens == LLMPERF_UNKNOWN     ? (double)NAN
                    : since->tokens == LLMPERF_UNKNOWN ? (double)row->tokens
                                                       : difference(row->tokens, since->tokens);
    double kernels = row->kernels == LLMPERF_UNKNOWN     ? (double)NAN
                     : since->kernels == LLMPERF_UNKNOWN ? (double)row->kernels
                                                         : difference(row->kernels, since->kernels);
    double busy = row->busy_ms - (isnan(since->busy_ms) ? 0 : since->busy_ms);

    print_path(row);
    print(" %10" PRIu64, row->instances);
    print_rate(instances / seconds);
    print_rate(instances > 0 ? (row->wall_ms - since->wall_ms) / instances : (double)NAN);
    print_rate(busy / 10 / seconds);
    print_rate(tokens / seconds);
    print_rate(kernels / seconds);
    print("\n");
}

static void print_count(const char *name, uint64_t value)
{
    if (value == LLMPERF_UNKNOWN)
        print(", %s -", name);
    else
        print(", %s %" PRIu64, name, value);
}

static void print_totals(const struct top_state *state, const struct top_state *before,
                         double seconds)
{
    double kernels = difference(state->kernels, before ? before->kernels : 0);
    double busy = state->busy_ms - (before && !isnan(before->busy_ms) ? before->busy_ms : 0);

    print("kernels/s");
    print_rate(state->sampled ? (double)NAN : kernels / seconds);
    print("   GPU busy %%");
    print_rate(state->sampled ? (double)NAN : busy / 10 / seconds);
    print("   records so far: %s", state->verdict);
    print_count("launches", state->launches);
    print_count("kernels", state->kernels);
    print_count("dropped", state->dropped);
    print_count("invalid", state->invalid);
    print_count("unattributed", state->unattributed);
    print("\n");
}

void top_print(const char *folder, const struct top_state *state, const struct top_state *before,
               size_t most)
{
    double seconds = (state->duration_ms - (before ? before->duration_ms : 0)) / 1e3;
    size_t shown = state->row_count < most ? state->row_count : most;

    seconds = seconds > 0 ? seconds : (double)NAN;
    print("%s: %.1f s, %u of %u processes running\n", folder, state->duration_ms / 1e3,
          state->running, state->runs);
    if (state->unreadable > 0)
        print("not shown: %u unreadable runs, the first: %s\n", state->unreadable, state->problem);
    if (state->runs == 0)
        return;
    print_totals(state, before, seconds);
    print("%-*s %10s %10s %10s %10s %10s %10s\n", PATH_WIDTH, "REGION", "COUNT", "RATE/s",
          "MEAN ms", "BUSY %", "TOKENS/s", "KERNELS/s");
    for (size_t i = 0; i < shown; i++)
        print_row(&state->rows[i], find_row(before, state->rows[i].path), seconds);
    if (shown < state->row_count)
        print("%zu more regions\n", state->row_count - shown);
    if (state->sampled)
        print("sampled: BUSY and KERNELS/s are extrapolated from the collected calls\n");
}
