/* SPDX-License-Identifier: Apache-2.0 */
/* What PC sampling has read, added up by region, kernel and instruction. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/counters/pc.h"
#include "lib/cupti/cubins.h"

#define RECORDS      4096u /* instructions in one call */
#define SOURCE_SHARE 64    /* an instruction with less of its kernel's samples gets no line */

int lp_pc_data_make(struct lp_cupti_pc_data *data, size_t reasons)
{
    struct lp_cupti_pc_reason *all = calloc(RECORDS * reasons, sizeof(*all));

    *data = (struct lp_cupti_pc_data){ .struct_size = sizeof(*data), .most = RECORDS };
    data->records = calloc(RECORDS, sizeof(*data->records));
    if (!data->records || !all) {
        free(all);
        return lp_out_of_memory();
    }
    for (size_t i = 0; i < RECORDS; i++) {
        data->records[i].struct_size = sizeof(data->records[i]);
        data->records[i].reasons = all + i * reasons;
    }
    return 0;
}

void lp_pc_data_free(struct lp_cupti_pc_data *data)
{
    if (data->records)
        free(data->records[0].reasons);
    free(data->records);
}

static struct lp_pc_kernel *find_kernel(struct lp_pc *pc, uint32_t node, uint32_t name)
{
    uint32_t kernel = lp_hashmap_get(&pc->kernel_index, node, name);

    if (kernel != LP_HASHMAP_NONE)
        return &pc->kernels.items[kernel];
    kernel = (uint32_t)pc->kernels.count;
    if (lp_vector_push(&pc->kernels, (struct lp_pc_kernel){ 0 }) < 0 ||
        lp_hashmap_put(&pc->kernel_index, node, name, kernel) < 0)
        return NULL;
    return &pc->kernels.items[kernel];
}

static uint32_t find_column(const struct lp_counters *counters, uint32_t index)
{
    uint32_t column = 0;

    while (column < counters->set->columns.count && counters->pc->indices[column] != index)
        column++;
    return column;
}

static int take_record(struct lp_counters *counters, const struct lp_cupti_pc_record *record)
{
    struct lp_pc *pc = counters->pc;
    struct lp_counter_fact fact = {
        .kind = LP_COUNTER_STALL,
        .node = pc->node,
        .name = lp_names_intern(counters->options.names, record->name ? record->name : ""),
        .offset = record->offset,
        .device = (uint16_t)counters->device.ordinal,
    };
    struct lp_pc_kernel *kernel = find_kernel(pc, fact.node, fact.name);
    double values[LP_PC_REASONS_MOST] = { 0 };

    if (!kernel)
        return LLMPERF_ENOMEM;
    kernel->cubin_crc = record->cubin_crc;
    for (size_t i = 0; i < record->reason_count; i++) {
        uint32_t column = find_column(counters, record->reasons[i].index);

        if (column == counters->set->columns.count)
            continue;
        values[column] += record->reasons[i].samples;
        kernel->samples += record->reasons[i].samples;
        pc->samples += record->reasons[i].samples;
    }
    return lp_stall_sums_add(&pc->sums, &fact, values);
}

void lp_pc_take(struct lp_counters *counters)
{
    struct lp_pc *pc = counters->pc;

    pc->lost += pc->data.dropped;
    pc->unknown += pc->data.other_samples;
    pc->full = pc->full || pc->data.buffer_full;
    for (size_t i = 0; i < pc->data.count && !pc->spoilt; i++)
        if (take_record(counters, &pc->data.records[i]) < 0) {
            lp_out_of_memory();
            lp_counters_fail(counters);
        }
}

static const struct lp_cubin *find_cubin(const struct lp_counters *counters, uint64_t crc)
{
    struct lp_cubin *cubin;

    for (size_t i = 0; (cubin = lp_cubins_at(i)); i++) {
        struct lp_cupti_cubin_crc params = { sizeof(params), cubin->size, cubin->bytes, 0 };

        if (cubin->crc == 0 && counters->calls->GetCubinCrc(&params) == 0)
            cubin->crc = params.crc;
        if (cubin->crc == crc)
            return cubin;
    }
    return NULL;
}

/* "file:line"; "": the program's code has no lines, or was loaded before CUPTI was there. */
static uint32_t find_source(const struct lp_counters *counters, uint64_t crc,
                            const struct lp_stall_sum *row)
{
    struct lp_names *names = counters->options.names;
    const struct lp_cubin *cubin = find_cubin(counters, crc);
    struct lp_cupti_source_line line = { .struct_size = sizeof(line),
                                         .function = lp_names_text(names, row->name),
                                         .offset = row->offset };
    char text[1024] = "";

    if (cubin) {
        line.cubin = cubin->bytes;
        line.cubin_size = cubin->size;
        if (counters->calls->GetSassToSourceCorrelation(&line) == 0 && line.file && line.line > 0)
            snprintf(text, sizeof(text), "%s%s%s:%u",
                     line.folder && line.file[0] != '/' ? line.folder : "",
                     line.folder && *line.folder && line.file[0] != '/' ? "/" : "", line.file,
                     line.line);
    }
    free(line.file);
    free(line.folder);
    return lp_names_intern(names, text);
}

/* Looked up once, and not at all for an instruction that was never hot. */
static uint32_t source_of(struct lp_counters *counters, const struct lp_stall_sum *row)
{
    struct lp_pc *pc = counters->pc;
    const struct lp_pc_kernel *kernel = find_kernel(pc, row->node, row->name);
    uint64_t key = (uint64_t)row->node << 32 | row->name;
    uint32_t source = lp_hashmap_get(&pc->sources, key, row->offset);

    if (source != LP_HASHMAP_NONE)
        return source;
    if (!kernel || counters->driver_gone || row->offset == LP_COUNTER_NO_OFFSET ||
        row->samples * SOURCE_SHARE < (double)kernel->samples)
        return lp_names_intern(counters->options.names, "");
    source = find_source(counters, kernel->cubin_crc, row);
    lp_hashmap_put(&pc->sources, key, row->offset, source);
    return source;
}

void lp_pc_pass(struct lp_counters *counters, const struct lp_device_sink *sink)
{
    struct lp_pc *pc = counters->pc;

    for (size_t i = 0; i < pc->sums.rows.count; i++) {
        const struct lp_stall_sum *row = &pc->sums.rows.items[i];
        struct lp_counter_fact fact = { .kind = LP_COUNTER_STALL,
                                        .node = row->node,
                                        .name = row->name,
                                        .offset = row->offset,
                                        .device = row->device,
                                        .source = source_of(counters, row) };

        sink->counter(sink->context, &fact, pc->sums.values.items + row->values);
    }
    lp_stall_sums_reset(&pc->sums);
    lp_hashmap_reset(&pc->kernel_index);
    pc->kernels.count = 0;
}
