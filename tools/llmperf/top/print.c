/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "json.h"
#include "llmperf/llmperf.h"
#include "terminal.h"
#include "top/top.h"

/* Widths of the table of regions. */
struct layout {
    int path, number;
    bool kernels; /* column KERNELS/s */
};

static const struct layout plain = { 44, 10, true };

/* Of an interval. NaN: not known. */
struct rates {
    double calls_per_s, time_ms, busy_percent, tokens_per_s, kernels_per_s;
};

static double difference(uint64_t now, uint64_t before)
{
    return now == LLMPERF_UNKNOWN                     ? (double)NAN
           : before == LLMPERF_UNKNOWN || before == 0 ? (double)now
           : now < before                             ? (double)NAN
                                                      : (double)(now - before);
}

static double difference_ms(double now, double before)
{
    return now - (isnan(before) ? 0 : before);
}

static double seconds_since(const struct top_state *state, const struct top_state *before)
{
    double seconds = (state->duration_ms - (before ? before->duration_ms : 0)) / 1e3;

    return seconds > 0 ? seconds : (double)NAN;
}

/* The row in an earlier state, if its times are on the same clock. */
static const struct top_row *find_row(const struct top_state *state, const struct top_row *row)
{
    for (size_t i = 0; state && i < state->row_count; i++)
        if (strcmp(state->rows[i].path, row->path) == 0)
            return state->rows[i].on_device == row->on_device ? &state->rows[i] : NULL;
    return NULL;
}

static struct rates rates_of(const struct top_row *row, const struct top_state *state,
                             const struct top_state *before)
{
    static const struct top_row none = { .path = NULL };
    const struct top_row *since = find_row(before, row);
    double seconds = seconds_since(state, since ? before : NULL), calls;

    since = since ? since : &none;
    calls = difference(row->instances, since->instances);
    return (struct rates){ calls / seconds,
                           calls > 0 ? (row->time_ms - since->time_ms) / calls : (double)NAN,
                           difference_ms(row->busy_ms, since->busy_ms) / 10 / seconds,
                           difference(row->tokens, since->tokens) / seconds,
                           difference(row->kernels, since->kernels) / seconds };
}

/* Of the whole job: tokens of decode steps, else of the first region that counts tokens. */
static struct rates rates_of_all(const struct top_state *state, const struct top_state *before)
{
    double seconds = seconds_since(state, before), tokens = NAN, decode = NAN;

    for (size_t i = 0; i < state->row_count && isnan(decode); i++) {
        double rate = rates_of(&state->rows[i], state, before).tokens_per_s;

        tokens = isnan(tokens) ? rate : tokens;
        decode = strstr(state->rows[i].path, "@decode_step") ? rate : decode;
    }
    return (struct rates){
        .tokens_per_s = isnan(decode) ? tokens : decode,
        .busy_percent =
            state->sampled ? (double)NAN
                           : difference_ms(state->busy_ms, before ? before->busy_ms : (double)NAN) /
                                 10 / seconds,
        .kernels_per_s = state->sampled
                             ? (double)NAN
                             : difference(state->kernels, before ? before->kernels : 0) / seconds
    };
}

/* Text */

static void print_rate(int width, double value)
{
    if (isnan(value))
        print(" %*s", width, "-");
    else
        print(" %*.*f", width, value < 10 ? 4 : value < 1000 ? 1 : 0, value);
}

/* The last label, indented by its depth; the beginning of a long one. */
static void print_row(const struct layout *layout, const struct top_row *row,
                      const struct rates *rates)
{
    const char *slash = strrchr(row->path, '/');
    int indent = row->depth < 10 ? (int)row->depth * 2 : 20;
    int room = layout->path > indent ? layout->path - indent : 1;

    print("%*s%-*.*s", indent, "", room, room, slash ? slash + 1 : row->path);
    print(" %*" PRIu64, layout->number, row->instances);
    print_rate(layout->number, rates->calls_per_s);
    print_rate(layout->number, rates->time_ms);
    print_rate(layout->number, rates->busy_percent);
    print_rate(layout->number, rates->tokens_per_s);
    if (layout->kernels)
        print_rate(layout->number, rates->kernels_per_s);
    print(" %6s\n", row->on_device ? "GPU" : "host");
}

static void print_heading(const struct layout *layout)
{
    static const char *const headings[] = { "COUNT",  "RATE/s",   "MEAN ms",
                                            "BUSY %", "TOKENS/s", "KERNELS/s" };

    print("%-*s", layout->path, "REGION");
    for (size_t i = 0; i < 5u + layout->kernels; i++)
        print(" %*s", layout->number, headings[i]);
    print(" %6s\n", "CLOCK");
}

static void print_regions(const struct layout *layout, const struct top_state *state,
                          const struct top_state *before, size_t most)
{
    size_t shown = state->row_count < most ? state->row_count : most;

    for (size_t i = 0; i < shown; i++) {
        struct rates rates = rates_of(&state->rows[i], state, before);

        print_row(layout, &state->rows[i], &rates);
    }
    if (shown < state->row_count)
        print("%zu more regions\n", state->row_count - shown);
}

/* @param faults  also numbers of faults that are 0 */
static void print_records(const struct top_state *state, bool faults)
{
    const struct {
        const char *name;
        uint64_t value;
        bool fault;
    } counts[] = { { "launches", state->launches, false },
                   { "kernels", state->kernels, false },
                   { "dropped", state->dropped, true },
                   { "invalid", state->invalid, true },
                   { "unattributed", state->unattributed, true } };

    print("records so far: ");
    terminal_print_word(state->verdict);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        if (counts[i].value == LLMPERF_UNKNOWN)
            print(", %s -", counts[i].name);
        else if (faults || !counts[i].fault || counts[i].value > 0)
            print(", %s %" PRIu64, counts[i].name, counts[i].value);
    print("\n");
}

static void print_head(const char *folder, const struct top_state *state)
{
    print("%s: %.1f s, %u of %u processes running\n", folder, state->duration_ms / 1e3,
          state->running, state->runs);
    if (state->unreadable > 0)
        print("not shown: %u unreadable runs, the first: %s\n", state->unreadable, state->problem);
}

void top_print(const char *folder, const struct top_state *state, const struct top_state *before)
{
    struct rates all = rates_of_all(state, before);

    print_head(folder, state);
    if (state->runs == 0)
        return;
    print("kernels/s");
    print_rate(plain.number, all.kernels_per_s);
    print("   GPU busy %%");
    print_rate(plain.number, all.busy_percent);
    print("   ");
    print_records(state, true);
    print_heading(&plain);
    print_regions(&plain, state, before, SIZE_MAX);
    if (state->sampled)
        print("sampled: BUSY and KERNELS/s are extrapolated from the collected calls\n");
}

/* The screen */

void top_remember(struct top_history *history, const struct top_state *state,
                  const struct top_state *before)
{
    struct rates all = rates_of_all(state, before);

    if (history->count == TOP_HISTORY) {
        size_t bytes = (TOP_HISTORY - 1) * sizeof(double);

        memmove(history->tokens_per_s, history->tokens_per_s + 1, bytes);
        memmove(history->busy_percent, history->busy_percent + 1, bytes);
        history->count--;
    }
    history->tokens_per_s[history->count] = all.tokens_per_s;
    history->busy_percent[history->count++] = all.busy_percent;
}

/* The last values, as bars from 0 to the largest. */
static void print_sparkline(const double *values, size_t count, size_t width)
{
    static const char *const bars[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    static const char *const letters[] = { "_", ".", ":", "-", "=", "+", "*", "#" };
    const char *const *marks = terminal_has_unicode() ? bars : letters;
    double most = 0;

    for (size_t i = count > width ? count - width : 0; i < count; i++)
        most = fmax(most, values[i]);
    for (size_t i = count > width ? count - width : 0; i < count; i++)
        print("%s", isnan(values[i]) || !(most > 0) ? " " : marks[(int)(values[i] / most * 7)]);
}

static void print_gauge(const char *name, double value, const double *values, size_t count,
                        size_t columns)
{
    print("%-11s", name);
    print_rate(9, value);
    print("  ");
    print_sparkline(values, count, columns > 30 ? columns - 30 : 0);
    print("\n");
}

static void print_kernels(const struct top_state *state, size_t most, size_t columns)
{
    int width = (int)columns - 32;

    terminal_style(STYLE_HEADING);
    print("%-*s %9s %11s %8s\n", width, "KERNEL, since the start", "CALLS", "TOTAL ms", "SHARE");
    terminal_style(STYLE_NONE);
    for (size_t i = 0; i < state->kernel_count && i < most; i++) {
        const struct top_kernel *kernel = &state->kernel_rows[i];

        print("%-*.*s %9" PRIu64, width, width, kernel->name, kernel->calls);
        print_rate(11, kernel->total_ms);
        print(" %6.1f %%\n", 100 * kernel->total_ms / state->kernel_ms);
    }
}

void top_draw(const char *folder, const struct top_state *state, const struct top_state *before,
              const struct top_history *history, size_t rows, size_t columns)
{
    bool wide = columns >= 110;
    struct layout layout = { (int)columns - (wide ? 67 : 52), wide ? 9 : 8, wide };
    size_t used = 7 + (state->unreadable > 0), left = rows > used + 4 ? rows - used : 4;
    size_t kernels = state->kernel_count < left / 2 - 1 ? state->kernel_count : left / 2 - 1;
    struct rates all = rates_of_all(state, before);

    terminal_style(STYLE_HEADING);
    print_head(folder, state);
    terminal_style(STYLE_NONE);
    print_gauge("tokens/s", all.tokens_per_s, history->tokens_per_s, history->count, columns);
    print_gauge("GPU busy %", all.busy_percent, history->busy_percent, history->count, columns);
    print_records(state, false);
    terminal_style(STYLE_HEADING);
    print_heading(&layout);
    terminal_style(STYLE_NONE);
    print_regions(&layout, state, before, left - kernels - 2);
    print_kernels(state, kernels, columns);
    print("q: quit%s",
          state->sampled ? "; sampled: BUSY is extrapolated from collected calls" : "");
}

/* JSON */

static json_t *region_of(const struct top_row *row, const struct top_state *state)
{
    struct rates rates = rates_of(row, state, NULL);

    return json_object_of("path:t depth:i calls:u calls_per_s:d time_ms:d clock:t busy_percent:d "
                          "tokens:u tokens_per_s:d kernels_per_s:d",
                          row->path, (int)row->depth, row->instances, rates.calls_per_s,
                          rates.time_ms, row->on_device ? "gpu" : "host", rates.busy_percent,
                          row->tokens, rates.tokens_per_s, rates.kernels_per_s);
}

int top_print_json(const char *folder, const struct top_state *state)
{
    struct rates all = rates_of_all(state, NULL);
    json_t *regions = json_array(), *kernels = json_array();
    json_t *records =
        json_object_of("launches:u kernels:u dropped:u invalid:u unattributed:u", state->launches,
                       state->kernels, state->dropped, state->invalid, state->unattributed);

    for (size_t i = 0; i < state->row_count; i++)
        json_array_append_new(regions, region_of(&state->rows[i], state));
    for (size_t i = 0; i < state->kernel_count; i++) {
        const struct top_kernel *kernel = &state->kernel_rows[i];

        json_array_append_new(kernels, json_object_of("name:t calls:u total_ms:d share:d",
                                                      kernel->name, kernel->calls, kernel->total_ms,
                                                      kernel->total_ms / state->kernel_ms));
    }
    return json_output(json_object_of(
        "schema_version:i path:t duration_ms:d processes:i running:i unreadable:i sampled:b "
        "verdict:t tokens_per_s:d busy_percent:d kernels_per_s:d records:o regions:o kernels:o",
        1, folder, state->duration_ms, (int)state->runs, (int)state->running,
        (int)state->unreadable, state->sampled, state->runs ? state->verdict : NULL,
        all.tokens_per_s, all.busy_percent, all.kernels_per_s, records, regions, kernels));
}
