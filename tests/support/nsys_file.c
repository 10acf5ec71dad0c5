/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/nsys_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/play.h"
#include "llmperf/sys/vendor.h"

/* Columns that versions brought, oldest first; a table has those of its schema and of all before.
 */
static const struct {
    const char *table;
    const char *columns[SCHEMAS];
} tables[] = {
    { "CUPTI_ACTIVITY_KIND_KERNEL",
      { "start, \"end\", deviceId, contextId, streamId, correlationId, globalPid, demangledName, "
        "shortName, mangledName, launchType, gridX, gridY, gridZ, blockX, blockY, blockZ, "
        "gridId, graphNodeId",
        "greenContextId", NULL, "graphId, clusterX, clusterY, clusterZ, qmdBulkReleaseDone",
        "tensorSizeMinusOneElements TEXT" } },
    { "CUPTI_ACTIVITY_KIND_MEMCPY",
      { "start, \"end\", deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind, "
        "srcKind, dstKind, graphNodeId, virtualAddress",
        "greenContextId", NULL, "copyCount", NULL } },
    { "CUPTI_ACTIVITY_KIND_MEMSET",
      { "start, \"end\", deviceId, contextId, streamId, correlationId, globalPid, value, bytes, "
        "graphNodeId, memKind",
        "greenContextId", NULL, NULL, NULL } },
    { "CUPTI_ACTIVITY_KIND_RUNTIME",
      { "start, \"end\", eventClass, globalTid, correlationId, nameId, returnValue, callchainId",
        NULL, NULL, NULL, NULL } },
    { "NVTX_EVENTS",
      { "start, \"end\", eventType, rangeId, category, color, text TEXT, globalTid, endGlobalTid, "
        "textId, domainId, uint64Value, int64Value, doubleValue, uint32Value, int32Value, "
        "floatValue, jsonTextId, jsonText TEXT",
        NULL, "binaryData", NULL, NULL } },
    { "TARGET_INFO_GPU",
      { "vmId, id, name TEXT, busLocation TEXT, isDiscrete, l2CacheSize, totalMemory, "
        "memoryBandwidth, clockRate, smCount, cuDevice, computeMajor, computeMinor",
        NULL, NULL, NULL, NULL } },
};

static const char *const versions[] = { "2.9.1", "3.13.2", "3.16.1", "3.24.14", "3.25.0" };

int64_t nsys_process(uint32_t pid)
{
    return (int64_t)(UINT64_C(1) << 48 | (uint64_t)pid << 24);
}

int64_t nsys_thread(uint32_t pid, uint32_t tid)
{
    return nsys_process(pid) | tid;
}

void nsys_sql(struct nsys_file *file, const char *format, ...)
{
    char sql[4096], *message = NULL;
    va_list args;

    va_start(args, format);
    vsnprintf(sql, sizeof(sql), format, args);
    va_end(args);
    if (sqlite3_exec(file->db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
}

static void create_tables(struct nsys_file *file, enum nsys_schema schema)
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        char columns[2048] = "";

        for (int version = 0; version <= (int)schema; version++)
            if (tables[i].columns[version]) {
                strcat(columns, *columns ? ", " : "");
                strcat(columns, tables[i].columns[version]);
            }
        nsys_sql(file, "CREATE TABLE %s(%s)", tables[i].table, columns);
    }
}

void nsys_create(struct nsys_file *file, enum nsys_schema schema)
{
    static const char *const texts[] = { "kernel_a", "kernel_b", "cudaLaunchKernel_v7000",
                                         "cudaMemcpyAsync_v3020", "cudaGraphLaunch_v10000" };

    snprintf(file->path, sizeof(file->path), "%s", in_test_folder("export.sqlite"));
    unlink(file->path);
    assert_int_equal(sqlite3_open(file->path, &file->db), SQLITE_OK);
    nsys_sql(file, "PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY");
    nsys_sql(file,
             "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
             "CREATE TABLE %s(name TEXT, value TEXT);"
             "INSERT INTO %s VALUES('EXPORT_SCHEMA_VERSION', '%s')",
             schema == SCHEMA_2_9 ? "EXPORT_META_DATA" : "META_DATA_EXPORT",
             schema == SCHEMA_2_9 ? "EXPORT_META_DATA" : "META_DATA_EXPORT", versions[schema]);
    create_tables(file, schema);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        nsys_sql(file, "INSERT INTO StringIds VALUES(%zu, '%s')", i + 1, texts[i]);
}

void nsys_kernel(struct nsys_file *file, uint32_t pid, int64_t start, int64_t end,
                 uint32_t correlation, int name)
{
    nsys_sql(
        file,
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, \"end\", deviceId, contextId, streamId, "
        "correlationId, globalPid, demangledName, shortName) "
        "VALUES(%lld, %lld, 0, 1, 7, %u, %lld, %d, %d)",
        (long long)start, (long long)end, correlation, (long long)nsys_process(pid), name, name);
}

void nsys_call(struct nsys_file *file, uint32_t pid, uint32_t tid, int64_t start, int64_t end,
               uint32_t correlation)
{
    nsys_sql(file,
             "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(start, \"end\", eventClass, globalTid, "
             "correlationId, nameId, returnValue) VALUES(%lld, %lld, 0, %lld, %u, 3, 0)",
             (long long)start, (long long)end, (long long)nsys_thread(pid, tid), correlation);
}

void nsys_range(struct nsys_file *file, uint32_t pid, uint32_t tid, int64_t start, int64_t end,
                const char *text)
{
    nsys_sql(file,
             "INSERT INTO NVTX_EVENTS(start, \"end\", eventType, text, globalTid, domainId) "
             "VALUES(%lld, %lld, 59, '%s', %lld, 0)",
             (long long)start, (long long)end, text, (long long)nsys_thread(pid, tid));
}

static void close_file(struct nsys_file *file)
{
    sqlite3_close(file->db);
    file->db = NULL;
}

llmperf_profile *import_file(const char *path, uint32_t flags)
{
    llmperf_import_options options = LLMPERF_IMPORT_OPTIONS_INIT;
    llmperf_profile *profile = NULL;

    options.flags = flags;
    if (llmperf_import(&path, 1, &options, &profile) < 0)
        fail_msg("%s: %s", path, llmperf_last_error());
    return profile;
}

llmperf_profile *nsys_import(struct nsys_file *file)
{
    close_file(file);
    return import_file(file->path, 0);
}

int nsys_status(struct nsys_file *file)
{
    const char *path = file->path;
    llmperf_profile *profile = NULL;
    int status;

    close_file(file);
    status = llmperf_import(&path, 1, NULL, &profile);
    llmperf_profile_free(profile);
    return status;
}
