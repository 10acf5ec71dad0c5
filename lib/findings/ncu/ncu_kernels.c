/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/ncu/ncu_kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/base/status.h"
#include "lib/findings/ncu/ncu_table.h"
#include "lib/profile/profile.h"

/* Thresholds of rule SOLBottleneck of ncu 2025.3, in percent. */
#define LATENCY_BELOW 60
#define HIGH_FROM     80
#define BALANCED      10

const char *lp_ncu_bound(double sm_percent, double memory_percent)
{
    double most = fmax(sm_percent, memory_percent);

    if (isnan(sm_percent) || isnan(memory_percent))
        return NULL;
    if (most < LATENCY_BELOW)
        return "latency";
    if (most < HIGH_FROM && fabs(sm_percent - memory_percent) < BALANCED)
        return "compute and memory";
    return sm_percent > memory_percent ? "compute" : "memory";
}

/* Rows */

static bool is_of(const struct lp_ncu_kernel *row, const llmperf_metric_stats *metric)
{
    return row->device == metric->device && row->process_id == metric->process_id &&
           lp_text_same(row->name, metric->kernel) && lp_text_same(row->region, metric->region);
}

static int add_row(struct lp_ncu_kernels *kernels, const llmperf_metric_stats *metric, size_t index)
{
    struct lp_ncu_kernel row;

    memset(&row, 0, sizeof(row));
    lp_row_forget(LP_ROW_NCU_KERNEL, &row);
    row.limit_blocks = row.limit_registers = row.limit_shared = row.limit_warps = NAN;
    row.name = metric->kernel;
    row.region = metric->region;
    row.device = metric->device;
    row.process_id = metric->process_id;
    row.results = 0;
    row.first_metric = index;
    if (row.name && lp_kernel_names(&kernels->pool, row.name, &row.demangled, &row.short_name) < 0)
        return LLMPERF_ENOMEM;
    return lp_vector_push(&kernels->rows, row) < 0 ? lp_out_of_memory() : 0;
}

static void add_state(struct lp_ncu_kernel *row, const struct lp_stall_reason *reason,
                      double cycles)
{
    struct lp_ncu_stall stall = { reason, cycles };

    row->stalls_cycles += cycles;
    for (size_t i = 0; reason && reason->remedy && i < LP_NCU_STALLS; i++) {
        struct lp_ncu_stall next = row->top[i];

        if (!(stall.cycles > next.cycles))
            continue;
        row->top[i] = stall;
        stall = next;
    }
}

/* Metrics of a kernel in a region are adjacent. */
static int add_metrics(struct lp_ncu_kernels *kernels, const llmperf_profile *profile)
{
    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_METRIC); i++) {
        const llmperf_metric_stats *metric = lp_row_at(profile, LP_ROW_METRIC, i);
        const struct lp_ncu_metric_row *known = lp_ncu_row_of(metric);
        const struct lp_stall_reason *reason;
        bool state = !known && lp_ncu_warp_state(metric, &reason);
        struct lp_ncu_kernel *row;

        if ((!known || metric->count == 0) && !state)
            continue;
        if ((kernels->rows.count == 0 ||
             !is_of(&kernels->rows.items[kernels->rows.count - 1], metric)) &&
            add_row(kernels, metric, i) < 0)
            return LLMPERF_ENOMEM;
        row = &kernels->rows.items[kernels->rows.count - 1];
        row->end_metric = i + 1;
        row->results = metric->count > row->results ? metric->count : row->results;
        if (state)
            add_state(row, reason, metric->mean);
        else if (known->column && isnan(*(double *)((char *)row + known->column)))
            *(double *)((char *)row + known->column) = metric->mean * known->factor;
    }
    return 0;
}

/* Texts of rows */

/* "long scoreboard 62 %, barrier 12 %" */
static void put_stalls(const struct lp_ncu_kernel *row, struct lp_text *text)
{
    for (size_t i = 0; i < LP_NCU_STALLS && row->top[i].cycles > 0; i++) {
        lp_text_puts(text, i ? ", " : "");
        for (const char *at = row->top[i].reason->name; *at; at++)
            lp_text_add(text, *at == '_' ? " " : at, 1);
        lp_text_printf(text, " %s %%", LP_NUMBER(100 * row->top[i].cycles / row->stalls_cycles, 2));
    }
}

static void put_missing(const struct lp_ncu_kernel *row, struct lp_text *text)
{
    const struct {
        const char *section;
        bool has;
    } sections[] = { { "SpeedOfLight", row->bound && !isnan(row->duration_ms) },
                     { "MemoryWorkloadAnalysis", !isnan(row->l1_hit_percent) &&
                                                     !isnan(row->l2_hit_percent) &&
                                                     !isnan(row->dram_gbs) },
                     { "Occupancy", !isnan(row->occupancy_percent) },
                     { "WarpStateStats", row->top[0].cycles > 0 },
                     { "LaunchStats", !isnan(row->registers) && !isnan(row->waves) } };
    bool any = false;

    for (size_t i = 0; i < LP_LENGTH(sections); i++) {
        if (sections[i].has)
            continue;
        lp_text_printf(text, "%s%s", any ? ", " : "sections not collected: ", sections[i].section);
        any = true;
    }
}

static int set_text(struct lp_ncu_kernels *kernels, const struct lp_ncu_kernel *row,
                    void (*put)(const struct lp_ncu_kernel *row, struct lp_text *text),
                    const char **text_out)
{
    struct lp_text text = { NULL, 0, 0, false };
    int status;

    put(row, &text);
    if (text.length > 0 && !text.failed)
        *text_out = lp_strings_add(&kernels->pool, text.bytes);
    status = text.failed || (text.length > 0 && !*text_out) ? lp_out_of_memory() : 0;
    lp_text_clear(&text);
    return status;
}

static int finish_row(struct lp_ncu_kernels *kernels, struct lp_ncu_kernel *row)
{
    int status;

    row->duration_ms /= 1e3; /* ncu_table.c has it in us */
    row->total_ms = row->duration_ms * (double)row->results;
    row->bound = lp_ncu_bound(row->sm_percent, row->memory_percent);
    if (isnan(row->dram_gbs)) /* MB / ms is GB/s */
        row->dram_gbs = (row->dram_read_mb + row->dram_write_mb) / row->duration_ms;
    if (isnan(row->issue_cycles) && row->stalls_cycles > 0)
        row->issue_cycles = row->stalls_cycles;
    status = set_text(kernels, row, put_stalls, &row->stalls);
    return status < 0 ? status : set_text(kernels, row, put_missing, &row->reason);
}

static int compare_rows(const void *left, const void *right)
{
    const struct lp_ncu_kernel *a = left, *b = right;
    double x = isnan(a->total_ms) ? -1 : a->total_ms, y = isnan(b->total_ms) ? -1 : b->total_ms;

    if (!a->name != !b->name)
        return a->name ? -1 : 1;
    if (x < y || x > y)
        return x < y ? 1 : -1;
    return strcmp(a->name ? a->name : "", b->name ? b->name : "");
}

static void set_shares(struct lp_ncu_kernels *kernels)
{
    double all_ms = 0;

    for (size_t i = 0; i < kernels->rows.count; i++)
        if (kernels->rows.items[i].name && kernels->rows.items[i].total_ms > 0)
            all_ms += kernels->rows.items[i].total_ms;
    for (size_t i = 0; i < kernels->rows.count; i++)
        if (kernels->rows.items[i].name && all_ms > 0)
            kernels->rows.items[i].share = kernels->rows.items[i].total_ms / all_ms;
}

int lp_ncu_kernels_read(struct lp_ncu_kernels *kernels, const llmperf_profile *profile)
{
    int status = add_metrics(kernels, profile);

    for (size_t i = 0; i < kernels->rows.count && status == 0; i++)
        status = finish_row(kernels, &kernels->rows.items[i]);
    lp_vector_sort(&kernels->rows, compare_rows);
    set_shares(kernels);
    return status;
}

void lp_ncu_kernels_clear(struct lp_ncu_kernels *kernels)
{
    lp_vector_clear(&kernels->rows);
    lp_strings_clear(&kernels->pool);
}
