/* SPDX-License-Identifier: Apache-2.0 */
/* Texts, device operations and calls of the CUDA API from an nsys export. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/vendor/nsys/sqlite.h"
#include "llmperf/profile.h"

/* Calls with a backtrace have a second row with the same name and times; only the first counts. */
#define CLASS_BACKTRACE 67

/* Texts, which tables refer to by id */

struct lp_nsys_string *lp_nsys_string(struct lp_nsys *nsys, int64_t id)
{
    uint32_t row = lp_hashmap_get(&nsys->string_rows, (uint64_t)id, 0);

    return row == LP_HASHMAP_NONE ? NULL : &nsys->strings.items[row];
}

static int visit_string(void *user, const struct lp_cell *cells)
{
    struct lp_nsys *nsys = user;
    struct lp_nsys_string string = { NULL, LP_HASHMAP_NONE, UINT8_MAX };

    if (cells[0].null || !cells[1].text)
        return 0;
    if (!(string.text = lp_strings_add(&nsys->pool, cells[1].text)))
        return lp_error(LLMPERF_ENOMEM, "out of memory (texts of %s)", nsys->path);
    if (lp_hashmap_put(&nsys->string_rows, (uint64_t)cells[0].number, 0,
                       (uint32_t)nsys->strings.count) < 0)
        return LLMPERF_ENOMEM;
    return lp_vector_push(&nsys->strings, string);
}

int lp_nsys_read_strings(struct lp_nsys *nsys)
{
    static const struct lp_want wants[] = { { "id", false }, { "value", true } };

    return lp_database_rows(nsys->database, "StringIds", wants, 2, visit_string, nsys);
}

/* Operations */

enum op_column {
    OP_START,
    OP_END,
    OP_DEVICE,
    OP_CONTEXT,
    OP_STREAM,
    OP_CORRELATION,
    OP_PROCESS,
    OP_NODE,
    OP_NAME,
    OP_MANGLED,
    OP_SHORT,
    OP_BYTES,
    OP_COPY,
    OP_SOURCE,
    OP_DESTINATION,
    OP_MEMORY, /* of a memset */
    OP_REGISTERS,
    OP_GRID,
    OP_BLOCK = OP_GRID + 3,
    OP_STATIC_SHARED = OP_BLOCK + 3,
    OP_DYNAMIC_SHARED,
    OP_COLUMNS
};

static const struct lp_want op_wants[OP_COLUMNS] = {
    { "start", false },
    { "end", false },
    { "deviceId", false },
    { "contextId", false },
    { "streamId", false },
    { "correlationId", false },
    { "globalPid", false },
    { "graphNodeId", false },
    { "demangledName", false },
    { "mangledName", false },
    { "shortName", false },
    { "bytes", false },
    { "copyKind", false },
    { "srcKind", false },
    { "dstKind", false },
    { "memKind", false },
    { "registersPerThread", false },
    { "gridX", false },
    { "gridY", false },
    { "gridZ", false },
    { "blockX", false },
    { "blockY", false },
    { "blockZ", false },
    { "staticSharedMemory", false },
    { "dynamicSharedMemory", false },
};

static uint64_t process_of(const struct lp_nsys *nsys, const struct lp_cell *cell)
{
    return cell->null ? 0 : (uint64_t)cell->number & nsys->timeline.process_mask;
}

/* Devices of contexts: rows of graphs may lack the device. */
static int note_context(struct lp_nsys *nsys, uint64_t process, uint64_t context, uint16_t device)
{
    if (nsys->last_context[0] == process && nsys->last_context[1] == context)
        return 0;
    nsys->last_context[0] = process;
    nsys->last_context[1] = context;
    return lp_hashmap_put(&nsys->contexts, process, context, device);
}

static bool find_device(const struct lp_nsys *nsys, const struct lp_cell *cells, uint64_t process,
                        uint16_t *device_out)
{
    uint32_t device;

    *device_out = (uint16_t)cells[OP_DEVICE].number;
    if (!cells[OP_DEVICE].null && cells[OP_DEVICE].number >= 0 &&
        cells[OP_DEVICE].number <= UINT16_MAX)
        return true;
    if (cells[OP_CONTEXT].null)
        return false;
    device = lp_hashmap_get(&nsys->contexts, process, (uint64_t)cells[OP_CONTEXT].number);
    *device_out = (uint16_t)device;
    return device != LP_HASHMAP_NONE;
}

static bool has_times(const struct lp_cell *cells)
{
    return !cells[OP_START].null && !cells[OP_END].null &&
           (cells[OP_START].number != 0 || cells[OP_END].number != 0);
}

static uint32_t intern(struct lp_nsys *nsys, const char *text)
{
    return lp_names_intern(&nsys->timeline.names, text);
}

static uint32_t kernel_name(struct lp_nsys *nsys, const struct lp_cell *cells)
{
    for (int column = OP_NAME; column <= OP_SHORT; column++) {
        struct lp_nsys_string *string =
            cells[column].null ? NULL : lp_nsys_string(nsys, cells[column].number);

        if (!string || !*string->text)
            continue;
        if (string->name == LP_HASHMAP_NONE)
            string->name = intern(nsys, string->text);
        return string->name;
    }
    nsys->nameless++;
    return intern(nsys, "[kernel without a name]");
}

static uint32_t copy_name(struct lp_nsys *nsys, const struct lp_cell *cell)
{
    static const char *const names[] = {
        "[memcpy]",          "[memcpy HtoD]",    "[memcpy DtoH]", "[memcpy HtoA]",
        "[memcpy AtoH]",     "[memcpy AtoA]",    "[memcpy AtoD]", "[memcpy DtoA]",
        "[memcpy DtoD]",     "[memcpy HtoH]",    "[memcpy PtoP]", "[memcpy UVM HtoD]",
        "[memcpy UVM DtoH]", "[memcpy UVM DtoD]"
    };
    bool known = !cell->null && cell->number > 0 && cell->number < (int64_t)LP_LENGTH(names);

    return intern(nsys, names[known ? cell->number : 0]);
}

static uint32_t number_of(const struct lp_cell *cell, uint32_t unknown)
{
    return cell->null || cell->number < 0 || cell->number >= UINT32_MAX ? unknown
                                                                        : (uint32_t)cell->number;
}

/* nsys numbers kinds of memory from 0, CUPTI from 1. */
static uint8_t memory_kind(const struct lp_cell *cell)
{
    return cell->null || cell->number < 0 || cell->number + 1 >= (int64_t)LP_MEMORY_KINDS
               ? LP_MEMORY_UNKNOWN
               : (uint8_t)(cell->number + 1);
}

/* LP_SHAPE_NONE: the file does not say. */
static uint32_t op_shape(struct lp_nsys *nsys, uint8_t kind, const struct lp_cell *cells)
{
    static const struct lp_shape none = { .registers = 0 };
    struct lp_shape shape = none;

    if (kind == LLMPERF_ACTIVITY_KERNEL) {
        for (size_t i = 0; i < 3; i++) {
            shape.grid[i] = number_of(&cells[OP_GRID + i], 0);
            shape.block[i] = number_of(&cells[OP_BLOCK + i], 0);
        }
        if (shape.grid[0] == 0)
            return LP_SHAPE_NONE;
        shape.registers = number_of(&cells[OP_REGISTERS], LP_SHAPE_UNKNOWN);
        shape.static_shared = number_of(&cells[OP_STATIC_SHARED], LP_SHAPE_UNKNOWN);
        shape.dynamic_shared = number_of(&cells[OP_DYNAMIC_SHARED], LP_SHAPE_UNKNOWN);
    } else {
        shape.source = memory_kind(&cells[OP_SOURCE]);
        shape.destination =
            memory_kind(&cells[kind == LLMPERF_ACTIVITY_MEMSET ? OP_MEMORY : OP_DESTINATION]);
    }
    return memcmp(&shape, &none, sizeof(shape)) == 0
               ? LP_SHAPE_NONE
               : lp_shapes_intern(&nsys->timeline.names.shapes, &shape);
}

static uint32_t op_name(struct lp_nsys *nsys, const struct lp_op *op, const struct lp_cell *cells)
{
    if (op->graph == LP_OP_GRAPH)
        return intern(nsys, "[CUDA graph]");
    if (op->kind == LLMPERF_ACTIVITY_MEMCPY)
        return copy_name(nsys, &cells[OP_COPY]);
    return op->kind == LLMPERF_ACTIVITY_MEMSET ? intern(nsys, "[memset]")
                                               : kernel_name(nsys, cells);
}

static int take_op(struct lp_nsys *nsys, const struct lp_cell *cells, bool whole_graph)
{
    struct lp_op op = { .process = process_of(nsys, &cells[OP_PROCESS]), .kind = nsys->kind };
    int64_t correlation = cells[OP_CORRELATION].number;

    if (!has_times(cells) || !find_device(nsys, cells, op.process, &op.device))
        return lp_timeline_incomplete(&nsys->timeline, op.process);
    op.start = cells[OP_START].number;
    op.end = cells[OP_END].number;
    op.stream = (uint32_t)cells[OP_STREAM].number;
    op.correlation = correlation > 0 && correlation <= UINT32_MAX ? (uint32_t)correlation : 0;
    op.graph_node = cells[OP_NODE].null ? 0 : (uint64_t)cells[OP_NODE].number;
    op.bytes =
        cells[OP_BYTES].null || cells[OP_BYTES].number < 0 ? 0 : (uint64_t)cells[OP_BYTES].number;
    op.graph = whole_graph ? LP_OP_GRAPH : op.graph_node ? LP_OP_NODE : LP_OP_SINGLE;
    op.name = op_name(nsys, &op, cells);
    op.shape = whole_graph ? LP_SHAPE_NONE : op_shape(nsys, op.kind, cells);
    if (op.end > nsys->last_time)
        nsys->last_time = op.end;
    if (op.name == LP_HASHMAP_NONE || op.shape == LP_HASHMAP_NONE ||
        (!cells[OP_CONTEXT].null && !whole_graph &&
         note_context(nsys, op.process, (uint64_t)cells[OP_CONTEXT].number, op.device) < 0))
        return lp_out_of_memory();
    return lp_vector_push(&nsys->timeline.ops, op);
}

static int visit_op(void *user, const struct lp_cell *cells)
{
    return take_op(user, cells, false);
}

static int visit_graph(void *user, const struct lp_cell *cells)
{
    struct lp_nsys *nsys = user;

    nsys->graph_rows++;
    return take_op(nsys, cells, true);
}

int lp_nsys_read_ops(struct lp_nsys *nsys)
{
    static const struct {
        const char *table;
        uint8_t kind;
        int (*visit)(void *user, const struct lp_cell *cells);
    } tables[] = {
        { "CUPTI_ACTIVITY_KIND_KERNEL", LLMPERF_ACTIVITY_KERNEL, visit_op },
        { "CUPTI_ACTIVITY_KIND_MEMCPY", LLMPERF_ACTIVITY_MEMCPY, visit_op },
        { "CUPTI_ACTIVITY_KIND_MEMSET", LLMPERF_ACTIVITY_MEMSET, visit_op },
        { "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", LLMPERF_ACTIVITY_KERNEL, visit_graph },
    };
    int status = 0;

    /* Match calls and operations by process only if both have a process id. */
    nsys->timeline.process_mask =
        lp_database_has_column(nsys->database, tables[0].table, "globalPid") ||
                !lp_database_has(nsys->database, tables[0].table)
            ? LP_THREAD_PROCESS
            : 0;
    nsys->last_context[0] = nsys->last_context[1] = UINT64_MAX;
    for (size_t i = 0; i < LP_LENGTH(tables) && status == 0; i++) {
        nsys->kind = tables[i].kind;
        status = lp_database_rows(nsys->database, tables[i].table, op_wants, OP_COLUMNS,
                                  tables[i].visit, nsys);
    }
    return status < 0 ? status : lp_timeline_index(&nsys->timeline);
}

/* Calls */

static uint8_t kind_of_call(struct lp_nsys *nsys, const struct lp_cell *name)
{
    struct lp_nsys_string *string = name->null ? NULL : lp_nsys_string(nsys, name->number);

    if (!string)
        return LP_CALL_OTHER;
    if (string->call == UINT8_MAX)
        string->call = lp_nsys_call_kind(string->text);
    return string->call;
}

/* start, end, class, thread, correlation, name, result */
static int visit_call(void *user, const struct lp_cell *cells)
{
    struct lp_nsys *nsys = user;
    struct lp_host_call call = { .start = cells[0].number,
                                 .end = cells[1].null ? INT64_MAX : cells[1].number,
                                 .thread = (uint64_t)cells[3].number,
                                 .correlation = (uint32_t)cells[4].number,
                                 .failed = !cells[6].null && cells[6].number != 0 };

    if (cells[0].null || cells[3].null || cells[4].number <= 0 || cells[4].number > UINT32_MAX)
        return 0;
    call.process = call.thread & nsys->timeline.process_mask;
    call.rank = cells[2].number == CLASS_BACKTRACE;
    call.kind = kind_of_call(nsys, &cells[5]);
    return lp_timeline_call(&nsys->timeline, &call);
}

/* start, end, thread, node, original */
static int visit_node(void *user, const struct lp_cell *cells)
{
    struct lp_nsys *nsys = user;
    struct lp_node_event event = { .start = cells[0].number,
                                   .end = cells[1].null ? cells[0].number : cells[1].number,
                                   .thread = (uint64_t)cells[2].number,
                                   .graph_node = (uint64_t)cells[3].number,
                                   .original = cells[4].null ? 0 : (uint64_t)cells[4].number };

    return cells[0].null || cells[2].null || cells[3].null
               ? 0
               : lp_vector_push(&nsys->timeline.node_events, event);
}

int lp_nsys_read_calls(struct lp_nsys *nsys)
{
    static const struct lp_want calls[] = { { "start", false },         { "end", false },
                                            { "eventClass", false },    { "globalTid", false },
                                            { "correlationId", false }, { "nameId", false },
                                            { "returnValue", false } };
    static const struct lp_want nodes[] = { { "start", false },
                                            { "end", false },
                                            { "globalTid", false },
                                            { "graphNodeId", false },
                                            { "originalGraphNodeId", false } };
    int status;

    nsys->timeline.calls_known = lp_database_has(nsys->database, "CUPTI_ACTIVITY_KIND_RUNTIME");
    if ((status = lp_database_rows(nsys->database, "CUPTI_ACTIVITY_KIND_RUNTIME", calls,
                                   LP_LENGTH(calls), visit_call, nsys)) < 0)
        return status;
    if (lp_database_has(nsys->database, "CUDA_GRAPH_NODE_EVENTS"))
        return lp_database_rows(nsys->database, "CUDA_GRAPH_NODE_EVENTS", nodes, LP_LENGTH(nodes),
                                visit_node, nsys);
    /* Node events of 2022 are in the other table. */
    return lp_database_has_column(nsys->database, "CUDA_GRAPH_EVENTS", "graphNodeId")
               ? lp_database_rows(nsys->database, "CUDA_GRAPH_EVENTS", nodes, LP_LENGTH(nodes),
                                  visit_node, nsys)
               : 0;
}
