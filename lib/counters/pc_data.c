/* SPDX-License-Identifier: Apache-2.0 */
/* What PC sampling has read, added up by region, kernel and instruction. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/counters/pc.h"
#include "lib/cupti/cubins.h"

#define RECORDS           4096u /* instructions in one call */
#define INSTRUCTIONS_MOST 65536u
#define SOURCE_SHARE                                                                               \
    64 /* an instruction with a smaller part of its kernel's samples gets no line */

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

static uint32_t find_kernel(struct lp_pc *pc, uint32_t node, uint32_t name)
{
    uint32_t kernel = lp_hashmap_get(&pc->kernel_index, node, name);

    if (kernel != LP_HASHMAP_NONE)
        return kernel;
    kernel = (uint32_t)pc->kernels.count;
    return lp_vector_push(&pc->kernels, 0) == 0 &&
                   lp_hashmap_put(&pc->kernel_index, node, name, kernel) == 0
               ? kernel
               : LP_HASHMAP_NONE;
}

static struct lp_pc_instruction *add_instruction(struct lp_counters *counters,
                                                 const struct lp_pc_instruction *wanted)
{
    struct lp_pc *pc = counters->pc;
    struct lp_pc_instruction fresh = *wanted;
    size_t columns = counters->set->columns.count;
    uint32_t index = (uint32_t)pc->instructions.count;

    fresh.kernel = find_kernel(pc, fresh.node, fresh.name);
    fresh.values = pc->values.count;
    fresh.source = LP_HASHMAP_NONE;
    if (fresh.kernel == LP_HASHMAP_NONE || lp_vector_reserve(&pc->values, columns) < 0 ||
        lp_vector_push(&pc->instructions, fresh) < 0 ||
        lp_hashmap_put(&pc->instruction_index, (uint64_t)fresh.node << 32 | fresh.name,
                       fresh.offset, index) < 0)
        return NULL;
    memset(pc->values.items + pc->values.count, 0, columns * sizeof(*pc->values.items));
    pc->values.count += columns;
    return &pc->instructions.items[index];
}

static struct lp_pc_instruction *find_instruction(struct lp_counters *counters,
                                                  struct lp_pc_instruction *wanted)
{
    struct lp_pc *pc = counters->pc;
    uint64_t key = (uint64_t)wanted->node << 32 | wanted->name;
    uint32_t index = lp_hashmap_get(&pc->instruction_index, key, wanted->offset);

    if (index == LP_HASHMAP_NONE && pc->instructions.count >= INSTRUCTIONS_MOST) {
        wanted->offset = LP_COUNTER_NO_OFFSET;
        index = lp_hashmap_get(&pc->instruction_index, key, wanted->offset);
    }
    return index == LP_HASHMAP_NONE ? add_instruction(counters, wanted)
                                    : &pc->instructions.items[index];
}

static uint32_t find_column(const struct lp_counters *counters, uint32_t index)
{
    uint32_t column = 0;

    while (column < counters->set->columns.count && counters->pc->indices[column] != index)
        column++;
    return column;
}

static void take_record(struct lp_counters *counters, const struct lp_cupti_pc_record *record)
{
    struct lp_pc *pc = counters->pc;
    struct lp_pc_instruction wanted = {
        .offset = record->offset,
        .cubin_crc = record->cubin_crc,
        .node = pc->node,
        .name = lp_names_intern(counters->options.names, record->name ? record->name : ""),
    };
    struct lp_pc_instruction *instruction = find_instruction(counters, &wanted);

    if (!instruction) {
        lp_out_of_memory();
        lp_counters_fail(counters);
        return;
    }
    for (size_t i = 0; i < record->reason_count; i++) {
        uint32_t column = find_column(counters, record->reasons[i].index);

        if (column == counters->set->columns.count)
            continue;
        pc->values.items[instruction->values + column] += record->reasons[i].samples;
        instruction->samples += record->reasons[i].samples;
        pc->kernels.items[instruction->kernel] += record->reasons[i].samples;
        pc->samples += record->reasons[i].samples;
    }
}

void lp_pc_take(struct lp_counters *counters)
{
    struct lp_pc *pc = counters->pc;

    pc->lost += pc->data.dropped;
    pc->overflows += pc->data.buffer_full != 0;
    for (size_t i = 0; i < pc->data.count && !pc->spoilt; i++)
        take_record(counters, &pc->data.records[i]);
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
static uint32_t find_source(const struct lp_counters *counters,
                            const struct lp_pc_instruction *instruction)
{
    struct lp_names *names = counters->options.names;
    const struct lp_cubin *cubin = find_cubin(counters, instruction->cubin_crc);
    struct lp_cupti_source_line line = { .struct_size = sizeof(line),
                                         .function = lp_names_text(names, instruction->name),
                                         .offset = instruction->offset };
    char text[1024] = "";

    if (cubin && instruction->offset != LP_COUNTER_NO_OFFSET) {
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

static void pass_instruction(struct lp_counters *counters, struct lp_pc_instruction *instruction,
                             const struct lp_device_sink *sink)
{
    struct lp_pc *pc = counters->pc;
    double *values = pc->values.items + instruction->values;
    size_t columns = counters->set->columns.count;
    struct lp_counter_fact fact = { .kind = LP_COUNTER_STALL,
                                    .node = instruction->node,
                                    .name = instruction->name,
                                    .offset = instruction->offset,
                                    .device = (uint16_t)counters->device.ordinal };
    bool hot = instruction->samples * SOURCE_SHARE >= pc->kernels.items[instruction->kernel];

    if (hot && instruction->source == LP_HASHMAP_NONE && !counters->driver_gone)
        instruction->source = find_source(counters, instruction);
    fact.source = instruction->source == LP_HASHMAP_NONE
                      ? lp_names_intern(counters->options.names, "")
                      : instruction->source;
    sink->counter(sink->context, &fact, values);
    memset(values, 0, columns * sizeof(*values));
}

static bool has_news(const struct lp_counters *counters,
                     const struct lp_pc_instruction *instruction)
{
    for (size_t i = 0; i < counters->set->columns.count; i++)
        if (counters->pc->values.items[instruction->values + i] > 0)
            return true;
    return false;
}

void lp_pc_pass(struct lp_counters *counters, const struct lp_device_sink *sink)
{
    struct lp_pc *pc = counters->pc;

    for (size_t i = 0; i < pc->instructions.count; i++)
        if (has_news(counters, &pc->instructions.items[i]))
            pass_instruction(counters, &pc->instructions.items[i], sink);
}
