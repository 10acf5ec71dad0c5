/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of nsys export --type=sqlite (schema 3.16) that its readers join: calls with activities by
 * correlation id and process, ranges with calls by thread and time. Columns that a recording does
 * not have are NULL. Times are since the start of the session, as in an export. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "lib/base/file.h"
#include "lib/base/hashmap.h"
#include "lib/base/status.h"
#include "lib/record/paths.h"
#include "lib/trace/formats.h"
#include "lib/trace/out_file.h"
#include "lib/trace/words.h"
#include "llmperf/api.h"
#include "llmperf/profile.h"

/* Ids as in nsys: machine in the upper bits, virtual machine in bits 48 to 55, process in bits 24
 * to 47, thread in the lower bits. */
#define MACHINE       (UINT64_C(1) << 56)
#define PART_LOW      48
#define PROCESS_LOW   24
#define RANGES_THREAD 0xffffffu /* thread of ranges whose own thread is not recorded */

enum { EVENT_PUSH_POP = 59, EVENT_START_END = 60, EVENT_DOMAIN = 75 };

#define NONE INT64_MIN /* NULL in a row */

static const char schema[] =
    "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
    "BEGIN;"
    "CREATE TABLE StringIds(id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);"
    "CREATE TABLE ThreadNames(nameId INTEGER, priority INTEGER, globalTid INTEGER);"
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);"
    "CREATE TABLE ANALYSIS_DETAILS(globalVid INTEGER, duration INTEGER, startTime INTEGER, "
    "stopTime "
    "INTEGER);"
    "CREATE TABLE TARGET_INFO_GPU(vmId INTEGER, id INTEGER, name TEXT, l2CacheSize INTEGER, "
    "totalMemory INTEGER, memoryBandwidth INTEGER, clockRate INTEGER, smCount INTEGER, cuDevice "
    "INTEGER, computeMajor INTEGER, computeMinor INTEGER);"
    "CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId INTEGER, cudaId INTEGER, pid INTEGER, uuid TEXT, "
    "numMultiprocessors INTEGER);"
    "CREATE TABLE NVTX_EVENTS(start INTEGER, \"end\" INTEGER, eventType INTEGER, rangeId INTEGER, "
    "category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId "
    "INTEGER, domainId INTEGER, uint64Value INTEGER, int64Value INTEGER, doubleValue REAL, "
    "uint32Value INTEGER, int32Value INTEGER, floatValue REAL, jsonTextId INTEGER, jsonText TEXT, "
    "binaryData TEXT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, \"end\" INTEGER, eventClass INTEGER, "
    "globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId "
    "INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, \"end\" INTEGER, deviceId INTEGER, "
    "contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid "
    "INTEGER, demangledName INTEGER, shortName INTEGER, mangledName INTEGER, launchType INTEGER, "
    "cacheConfig INTEGER, registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, "
    "blockX INTEGER, blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, "
    "dynamicSharedMemory INTEGER, localMemoryPerThread INTEGER, localMemoryTotal INTEGER, gridId "
    "INTEGER, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, \"end\" INTEGER, deviceId INTEGER, "
    "contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid "
    "INTEGER, bytes INTEGER, copyKind INTEGER, deprecatedSrcId INTEGER, srcKind INTEGER, dstKind "
    "INTEGER, srcDeviceId INTEGER, srcContextId INTEGER, dstDeviceId INTEGER, dstContextId "
    "INTEGER, "
    "migrationCause INTEGER, graphNodeId INTEGER, virtualAddress INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start INTEGER, \"end\" INTEGER, deviceId INTEGER, "
    "contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid "
    "INTEGER, value INTEGER, bytes INTEGER, graphNodeId INTEGER, memKind INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INTEGER, \"end\" INTEGER, deviceId "
    "INTEGER, "
    "contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid "
    "INTEGER, graphId INTEGER, graphExecId INTEGER);";

/* Frequent rows, with the columns that are known. */
enum row { ROW_RANGE, ROW_CALL, ROW_KERNEL, ROW_COPY, ROW_SET, ROW_GRAPH, ROWS };
static const char *const inserts[ROWS] = {
    "INSERT INTO NVTX_EVENTS(start, \"end\", eventType, globalTid, endGlobalTid, textId, domainId) "
    "VALUES(?,?,?,?,?,?,?)",
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(start, \"end\", eventClass, globalTid, correlationId, "
    "nameId, returnValue) VALUES(?,?,?,?,?,?,?)",
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, \"end\", deviceId, contextId, streamId, "
    "correlationId, globalPid, demangledName, shortName, mangledName, graphNodeId, "
    "registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, "
    "dynamicSharedMemory) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY(start, \"end\", deviceId, contextId, streamId, "
    "correlationId, globalPid, bytes, copyKind, graphNodeId, srcKind, dstKind) "
    "VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET(start, \"end\", deviceId, contextId, streamId, "
    "correlationId, globalPid, bytes, graphNodeId, memKind) VALUES(?,?,?,?,?,?,?,?,?,?)",
    "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start, \"end\", deviceId, contextId, streamId, "
    "correlationId, globalPid, graphExecId) VALUES(?,?,?,?,?,?,?,?)",
};

struct nsys {
    struct lp_trace_writer head;
    char *path, *temporary;
    sqlite3 *db;
    sqlite3_stmt *rows[ROWS], *string;
    struct lp_trace_words words;
    const struct lp_trace_facts *facts;
    struct lp_names texts; /* of StringIds: id - 1 */
    struct lp_names domains;
    struct lp_hashmap threads; /* threads with a written name */
    uint64_t base_ns, last_ns;
    bool has_base, begun, failed, created;
};

static struct nsys *of(struct lp_trace_writer *writer)
{
    return (struct nsys *)(void *)writer;
}

static void check(struct nsys *nsys, int code)
{
    if (code != SQLITE_OK && code != SQLITE_DONE)
        nsys->failed = true;
}

static void put_row(struct nsys *nsys, enum row row, const int64_t *values, int count)
{
    sqlite3_stmt *statement = nsys->rows[row];

    if (nsys->failed)
        return;
    for (int i = 0; i < count; i++)
        check(nsys, values[i] == NONE ? sqlite3_bind_null(statement, i + 1)
                                      : sqlite3_bind_int64(statement, i + 1, values[i]));
    check(nsys, sqlite3_step(statement));
    check(nsys, sqlite3_reset(statement));
}

/* A rare row: texts up to NULL, then numbers. */
static void put_rare(struct nsys *nsys, const char *sql, const char *const *texts, int text_count,
                     const int64_t *values, int count)
{
    sqlite3_stmt *statement = NULL;

    if (nsys->failed)
        return;
    check(nsys, sqlite3_prepare_v2(nsys->db, sql, -1, &statement, NULL));
    for (int i = 0; i < text_count && statement; i++)
        check(nsys, sqlite3_bind_text(statement, i + 1, texts[i], -1, SQLITE_STATIC));
    for (int i = 0; i < count && statement; i++)
        check(nsys, values[i] == NONE
                        ? sqlite3_bind_null(statement, text_count + i + 1)
                        : sqlite3_bind_int64(statement, text_count + i + 1, values[i]));
    if (statement)
        check(nsys, sqlite3_step(statement));
    sqlite3_finalize(statement);
}

static int64_t string_id(struct nsys *nsys, const char *text)
{
    size_t known = nsys->texts.texts.count;
    uint32_t id = lp_names_intern(&nsys->texts, text);

    if (id == LP_HASHMAP_NONE) {
        nsys->failed = true;
        return NONE;
    }
    if (nsys->failed || nsys->texts.texts.count == known)
        return (int64_t)id + 1;
    check(nsys, sqlite3_bind_int64(nsys->string, 1, (int64_t)id + 1));
    check(nsys, sqlite3_bind_text(nsys->string, 2, text, -1, SQLITE_STATIC));
    check(nsys, sqlite3_step(nsys->string));
    check(nsys, sqlite3_reset(nsys->string));
    return (int64_t)id + 1;
}

/* If the start is not known, it is the first event. */
static int64_t since_start(struct nsys *nsys, uint64_t time_ns)
{
    if (!nsys->has_base)
        nsys->base_ns = time_ns;
    nsys->has_base = true;
    if (time_ns > nsys->last_ns)
        nsys->last_ns = time_ns;
    return (int64_t)(time_ns - nsys->base_ns);
}

static int64_t process_key(const struct nsys *nsys)
{
    /* A process id occurs twice if the process called exec(). */
    return (int64_t)(MACHINE | (uint64_t)(nsys->facts->part & 0xff) << PART_LOW |
                     (uint64_t)(nsys->facts->process_id & 0xffffff) << PROCESS_LOW);
}

static int64_t thread_key(struct nsys *nsys, uint32_t thread)
{
    int64_t key = process_key(nsys) | (int64_t)((thread + 1) & 0xffffff);
    char name[32];

    if (lp_hashmap_get(&nsys->threads, thread, 0) != LP_HASHMAP_NONE)
        return key;
    if (lp_hashmap_put(&nsys->threads, thread, 0, 1) < 0)
        nsys->failed = true;
    snprintf(name, sizeof(name), "thread %u", thread);
    put_rare(nsys, "INSERT INTO ThreadNames VALUES(?,?,?)", NULL, 0,
             (const int64_t[]){ string_id(nsys, name), NONE, key }, 3);
    return key;
}

/* Ranges */

/* A label is stored in two columns: "D@name" is range "name" of domain D. */
static int64_t domain_of(struct nsys *nsys, const struct lp_path *path)
{
    char name[256];
    size_t length = (size_t)(path->name - path->label), known = nsys->domains.texts.count;
    uint32_t id;

    length = length > 0 ? length - 1 : 0;
    length = length < sizeof(name) ? length : sizeof(name) - 1;
    memcpy(name, path->label, length);
    name[length] = '\0';
    if (length == 0 || strcmp(name, "default") == 0)
        return 0;
    id = lp_names_intern(&nsys->domains, name);
    if (id == LP_HASHMAP_NONE) {
        nsys->failed = true;
        return 0;
    }
    if (nsys->domains.texts.count > known)
        put_row(nsys, ROW_RANGE,
                (const int64_t[]){ 0, NONE, EVENT_DOMAIN, process_key(nsys) | 1, NONE,
                                   string_id(nsys, name), (int64_t)id + 1 },
                7);
    return (int64_t)id + 1;
}

static void put_range_row(struct nsys *nsys, const struct lp_trace_region *region, int64_t type,
                          int64_t thread, int64_t end_thread)
{
    const struct lp_path *path = lp_path_get(region->node);
    int64_t domain = domain_of(nsys, path), text = string_id(nsys, path->name);

    put_row(nsys, ROW_RANGE,
            (const int64_t[]){ since_start(nsys, region->begin_ns),
                               region->unended ? NONE : since_start(nsys, region->end_ns), type,
                               thread, end_thread, text, domain },
            7);
}

static void put_region_begin(struct lp_trace_writer *writer, const struct lp_trace_region *region)
{
    since_start(of(writer), region->begin_ns);
}

static void put_region_end(struct lp_trace_writer *writer, const struct lp_trace_region *region)
{
    struct nsys *nsys = of(writer);

    put_range_row(nsys, region, EVENT_PUSH_POP, thread_key(nsys, region->thread), NONE);
}

/* Recordings have the thread that ended the range, not the one that began it. */
static void put_range(struct lp_trace_writer *writer, const struct lp_trace_region *range,
                      uint32_t lane)
{
    struct nsys *nsys = of(writer);

    (void)lane;
    put_range_row(nsys, range, EVENT_START_END, process_key(nsys) | RANGES_THREAD,
                  thread_key(nsys, range->thread));
}

/* Calls and activities */

static void put_launch(struct lp_trace_writer *writer, const struct lp_trace_launch *launch)
{
    struct nsys *nsys = of(writer);
    int64_t time = since_start(nsys, launch->time_ns);

    put_row(nsys, ROW_CALL,
            (const int64_t[]){ time, time, 0, thread_key(nsys, launch->thread), launch->correlation,
                               string_id(nsys, lp_trace_launch_function(launch->kind)), 0 },
            7);
}

/* CUpti_ActivityMemcpyKind, by our name of the memcpy. */
static int64_t copy_kind(const char *name)
{
    static const char *const names[] = { "",
                                         "[memcpy HtoD]",
                                         "[memcpy DtoH]",
                                         "[memcpy HtoA]",
                                         "[memcpy AtoH]",
                                         "[memcpy AtoA]",
                                         "[memcpy AtoD]",
                                         "[memcpy DtoA]",
                                         "[memcpy DtoD]",
                                         "[memcpy HtoH]",
                                         "[memcpy PtoP]" };

    for (size_t i = 1; i < LP_LENGTH(names); i++)
        if (strcmp(name, names[i]) == 0)
            return (int64_t)i;
    return 0;
}

static int64_t number_or_none(uint32_t number, uint32_t none)
{
    return number == none ? NONE : number;
}

/* nsys numbers kinds of memory from 0, CUPTI from 1. */
static int64_t memory_or_none(uint8_t kind)
{
    return kind == LP_MEMORY_UNKNOWN ? NONE : kind - 1;
}

/* Nine columns from `row` on. */
static void set_geometry(int64_t *row, const struct lp_shape *shape)
{
    for (int i = 0; i < 9; i++)
        row[i] = NONE;
    if (!shape)
        return;
    row[0] = number_or_none(shape->registers, LP_SHAPE_UNKNOWN);
    for (int i = 0; i < 3; i++) {
        row[1 + i] = number_or_none(shape->grid[i], 0);
        row[4 + i] = number_or_none(shape->block[i], 0);
    }
    row[7] = number_or_none(shape->static_shared, LP_SHAPE_UNKNOWN);
    row[8] = number_or_none(shape->dynamic_shared, LP_SHAPE_UNKNOWN);
}

static void put_activity(struct lp_trace_writer *writer, const struct lp_activity *activity,
                         uint32_t lane, bool linked)
{
    struct nsys *nsys = of(writer);
    const char *name = lp_names_text(nsys->words.names, activity->name);
    int64_t node = activity->graph_node ? (int64_t)activity->graph_node : NONE;
    const struct lp_shape *shape = lp_shapes_get(&nsys->words.names->shapes, activity->shape);
    int64_t row[20] = { since_start(nsys, activity->start_ns),
                        since_start(nsys, activity->end_ns),
                        activity->device,
                        activity->context,
                        activity->stream,
                        activity->correlation,
                        process_key(nsys) };

    (void)lane;
    (void)linked;
    switch (activity->kind) {
    case LLMPERF_ACTIVITY_MEMCPY:
        row[7] = (int64_t)activity->bytes;
        row[8] = copy_kind(name);
        row[9] = node;
        row[10] = shape ? memory_or_none(shape->source) : NONE;
        row[11] = shape ? memory_or_none(shape->destination) : NONE;
        put_row(nsys, ROW_COPY, row, 12);
        break;
    case LLMPERF_ACTIVITY_MEMSET:
        row[7] = (int64_t)activity->bytes;
        row[8] = node;
        row[9] = shape ? memory_or_none(shape->destination) : NONE;
        put_row(nsys, ROW_SET, row, 10);
        break;
    case LLMPERF_ACTIVITY_GRAPH:
        row[7] = activity->graph;
        put_row(nsys, ROW_GRAPH, row, 8);
        break;
    default:
        row[7] = string_id(nsys, lp_trace_full_name(&nsys->words, activity->name));
        row[8] = string_id(nsys, lp_trace_brief_name(&nsys->words, activity->name));
        row[9] = string_id(nsys, name);
        row[10] = node;
        set_geometry(row + 11, shape);
        put_row(nsys, ROW_KERNEL, row, 20);
    }
}

/* In an export sampled counters have their own table, but its metric ids mean nothing here. */
static void put_plan(struct lp_trace_writer *writer, const struct lp_counter_plan *plan)
{
    (void)writer;
    (void)plan;
}

static void put_sample(struct lp_trace_writer *writer, const struct lp_counter_fact *fact,
                       const double *values)
{
    (void)writer;
    (void)fact;
    (void)values;
}

static void put_remark(struct lp_trace_writer *writer, uint64_t time_ns, const char *text)
{
    (void)time_ns;
    put_rare(of(writer), "INSERT INTO META_DATA_EXPORT VALUES('LLMPERF_REMARK',?)", &text, 1, NULL,
             0);
}

/* Whole file */

static void put_gpus(struct nsys *nsys, const struct lp_trace_facts *facts)
{
    for (size_t i = 0; i < facts->gpu_count; i++) {
        const struct lp_trace_gpu *gpu = &facts->gpus[i];
        const char *name = gpu->name;

        /* Further processes may use known GPUs. */
        put_rare(nsys,
                 "INSERT INTO TARGET_INFO_GPU(name, id, l2CacheSize, totalMemory, clockRate, "
                 "smCount, cuDevice, computeMajor, computeMinor) SELECT ?1,?2,?3,?4,?5,?6,?7,?8,?9 "
                 "WHERE NOT EXISTS(SELECT 1 FROM TARGET_INFO_GPU WHERE id = ?2)",
                 &name, 1,
                 (const int64_t[]){ gpu->device, (int64_t)gpu->l2_bytes, (int64_t)gpu->memory_bytes,
                                    (int64_t)gpu->clock_khz * 1000, (int64_t)gpu->sm_count,
                                    gpu->device, gpu->cc_major, gpu->cc_minor },
                 8);
        put_rare(nsys,
                 "INSERT INTO TARGET_INFO_CUDA_DEVICE(gpuId, cudaId, pid, numMultiprocessors) "
                 "VALUES(?,?,?,?)",
                 NULL, 0,
                 (const int64_t[]){ gpu->device, gpu->device, facts->process_id,
                                    (int64_t)gpu->sm_count },
                 4);
    }
}

static void put_facts(struct lp_trace_writer *writer, const struct lp_trace_facts *facts)
{
    static const char *const meta[][2] = { { "EXPORT_SCHEMA_VERSION", "3.16.1" },
                                           { "EXPORT_SCHEMA_VERSION_MAJOR", "3" },
                                           { "EXPORT_SCHEMA_VERSION_MINOR", "16" },
                                           { "EXPORT_SCHEMA_VERSION_MICRO", "1" },
                                           { "EXPORT_PRODUCT_VERSION",
                                             "llmperf " LLMPERF_VERSION_STRING },
                                           { "EXPORT_PARAM_TIME_NORMALIZE", "false" },
                                           { "EXPORT_PARAM_TIME_SHIFT", "0" } };
    struct nsys *nsys = of(writer);

    lp_trace_words_clear(&nsys->words);
    lp_names_clear(&nsys->domains);
    lp_hashmap_reset(&nsys->threads);
    nsys->facts = facts;
    nsys->words.names = facts->names;
    for (size_t i = 0; i < LP_LENGTH(meta) && !nsys->begun; i++)
        put_rare(nsys, "INSERT INTO META_DATA_EXPORT VALUES(?,?)", meta[i], 2, NULL, 0);
    if (!nsys->begun) {
        nsys->has_base = facts->start_ns != 0;
        nsys->base_ns = facts->start_ns;
        if (facts->start_utc_ns)
            put_rare(nsys, "INSERT INTO TARGET_INFO_SESSION_START_TIME(utcEpochNs) VALUES(?)", NULL,
                     0, (const int64_t[]){ (int64_t)facts->start_utc_ns }, 1);
    }
    put_gpus(nsys, facts);
    nsys->begun = true;
}

static int write_error(const struct nsys *nsys)
{
    return lp_error(LLMPERF_EIO, "cannot write %s: %s", nsys->path,
                    nsys->db ? sqlite3_errmsg(nsys->db) : "out of memory");
}

static int close_database(struct nsys *nsys)
{
    for (size_t i = 0; i < ROWS; i++)
        sqlite3_finalize(nsys->rows[i]);
    sqlite3_finalize(nsys->string);
    memset(nsys->rows, 0, sizeof(nsys->rows));
    nsys->string = NULL;
    if (sqlite3_close(nsys->db) != SQLITE_OK)
        return write_error(nsys);
    nsys->db = NULL;
    return 0;
}

static int finish(struct lp_trace_writer *writer)
{
    struct nsys *nsys = of(writer);
    uint64_t seen_ns = nsys->last_ns > nsys->base_ns ? nsys->last_ns - nsys->base_ns : 0;
    uint64_t duration_ns = nsys->facts->duration_ns ? nsys->facts->duration_ns : seen_ns;
    int status;

    put_rare(nsys, "INSERT INTO ANALYSIS_DETAILS VALUES(?,?,?,?)", NULL, 0,
             (const int64_t[]){ (int64_t)MACHINE, (int64_t)duration_ns, 0, (int64_t)duration_ns },
             4);
    if (!nsys->failed)
        check(nsys, sqlite3_exec(nsys->db, "COMMIT", NULL, NULL, NULL));
    if (nsys->failed)
        return write_error(nsys);
    if ((status = close_database(nsys)) < 0)
        return status;
    if (rename(nsys->temporary, nsys->path) < 0)
        return lp_error(LLMPERF_EIO, "cannot write %s", nsys->path);
    nsys->created = false;
    return 0;
}

static void free_writer(struct lp_trace_writer *writer)
{
    struct nsys *nsys = of(writer);

    close_database(nsys);
    if (nsys->created)
        unlink(nsys->temporary);
    lp_trace_words_clear(&nsys->words);
    lp_names_clear(&nsys->texts);
    lp_names_clear(&nsys->domains);
    lp_hashmap_clear(&nsys->threads);
    free(nsys->temporary);
    free(nsys->path);
    free(nsys);
}

static int create_database(struct nsys *nsys)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    int fd = lp_file_create(nsys->temporary);

    if (fd < 0)
        return lp_error(LLMPERF_EIO, "cannot write %s: %s", nsys->path, strerror(errno));
    close(fd);
    nsys->created = true;
    if (sqlite3_open_v2(nsys->temporary, &nsys->db, flags, NULL) != SQLITE_OK)
        return write_error(nsys);
    check(nsys, sqlite3_exec(nsys->db, schema, NULL, NULL, NULL));
    for (size_t i = 0; i < ROWS; i++)
        check(nsys, sqlite3_prepare_v2(nsys->db, inserts[i], -1, &nsys->rows[i], NULL));
    check(nsys, sqlite3_prepare_v2(nsys->db, "INSERT INTO StringIds VALUES(?,?)", -1, &nsys->string,
                                   NULL));
    return nsys->failed ? write_error(nsys) : 0;
}

int lp_trace_open_nsys(const char *path, struct lp_trace_writer **writer_out)
{
    static const struct lp_trace_writer_ops ops = { put_facts, put_region_begin, put_region_end,
                                                    put_range, put_launch,       put_activity,
                                                    put_plan,  put_sample,       put_remark,
                                                    finish,    free_writer };
    struct nsys *nsys;
    int status;

    if (lp_out_file_is_special(path))
        return lp_error(LLMPERF_EIO, "cannot write %s: the database must be a regular file", path);
    if (!(nsys = calloc(1, sizeof(*nsys))))
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    nsys->head.ops = &ops;
    nsys->path = lp_text_copy(path);
    nsys->temporary = lp_out_file_temporary(path);
    if (!nsys->path || !nsys->temporary)
        status = lp_error(LLMPERF_ENOMEM, "out of memory");
    else
        status = create_database(nsys);
    if (status < 0)
        free_writer(&nsys->head);
    else
        *writer_out = &nsys->head;
    return status;
}
