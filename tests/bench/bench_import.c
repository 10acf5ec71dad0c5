/* SPDX-License-Identifier: Apache-2.0 */
/* Files of other tools: an export of nsys with a million kernels (as many calls, 100,000 ranges in
 * three levels), and tables of ncu, page raw and details. The files are made here.
 *
 *   bench_import           all
 *   bench_import FOLDER    only make the files there: for perf
 *
 * Times are CPU time of the process (it has one thread) with a warm page cache. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "tests/bench/bench.h"
#include "llmperf/sys/vendor.h"

#define ROUNDS       5
#define KERNELS      1000000
#define RANGES       100000
#define TARGET_S     2.0
#define TABLE_BYTES  (200 << 20)
#define TARGET_SPEED 200e6
#define METRICS      400
#define DETAIL_ROWS  50
#define KERNEL_NAMES 24

static void run_sql(sqlite3 *db, const char *sql)
{
    char *message = NULL;

    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
        fprintf(stderr, "bench_import: %s: %s\n", sql, message);
        exit(1);
    }
}

static void fill_rows(sqlite3 *db, const char *sql, int count,
                      void (*bind)(sqlite3_stmt *row, int index))
{
    sqlite3_stmt *row;

    if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) != SQLITE_OK)
        exit(1);
    for (int i = 0; i < count; i++) {
        bind(row, i);
        sqlite3_step(row);
        sqlite3_reset(row);
    }
    sqlite3_finalize(row);
}

#define PROCESS (INT64_C(1) << 48 | INT64_C(4711) << 24)

static void bind_kernel(sqlite3_stmt *row, int i)
{
    sqlite3_bind_int64(row, 1, 5000 + (sqlite3_int64)i * 4000);
    sqlite3_bind_int64(row, 2, 5000 + (sqlite3_int64)i * 4000 + 900 + i % 11 * 317);
    sqlite3_bind_int(row, 3, 7 + i % 2);
    sqlite3_bind_int(row, 4, i + 1);
    sqlite3_bind_int64(row, 5, PROCESS);
    sqlite3_bind_int(row, 6, 10 + i * 7 % KERNEL_NAMES);
}

static void bind_call(sqlite3_stmt *row, int i)
{
    sqlite3_bind_int64(row, 1, (sqlite3_int64)i * 4000 + 100);
    sqlite3_bind_int64(row, 2, (sqlite3_int64)i * 4000 + 2600);
    sqlite3_bind_int64(row, 3, PROCESS | 4712);
    sqlite3_bind_int(row, 4, i + 1);
}

/* Steps of 1000 kernels, layers of 40 in them, operators of 10 in those. */
static void bind_range(sqlite3_stmt *row, int i)
{
    static const int kernels[] = { 1000, 40, 10 };
    int level = i < KERNELS / 1000 ? 0 : i < KERNELS / 1000 + KERNELS / 40 ? 1 : 2;
    int first = level == 0   ? i
                : level == 1 ? i - KERNELS / 1000
                             : i - KERNELS / 1000 - KERNELS / 40;
    sqlite3_int64 start = (sqlite3_int64)first * kernels[level] * 4000;

    sqlite3_bind_int64(row, 1, start + level);
    sqlite3_bind_int64(row, 2, start + (sqlite3_int64)kernels[level] * 4000 - 1 - level);
    sqlite3_bind_int64(row, 3, PROCESS | 4712);
    sqlite3_bind_int(row, 4, level == 0 ? 100 : level == 1 ? 101 + first % 25 : 130 + first % 6);
}

static void fill_export(sqlite3 *db)
{
    run_sql(db,
            "PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF; BEGIN;"
            "CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);"
            "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, \"end\" INTEGER, deviceId "
            "INTEGER, contextId INTEGER, greenContextId INTEGER, streamId INTEGER, "
            "correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName "
            "INTEGER, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER, "
            "registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX "
            "INTEGER, blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, "
            "dynamicSharedMemory INTEGER, localMemoryPerThread INTEGER, localMemoryTotal "
            "INTEGER, gridId INTEGER, sharedMemoryExecuted INTEGER, graphNodeId INTEGER);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, \"end\" INTEGER, "
            "eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER, "
            "returnValue INTEGER, callchainId INTEGER);"
            "CREATE TABLE NVTX_EVENTS(start INTEGER, \"end\" INTEGER, eventType INTEGER, "
            "rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, "
            "endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);"
            "INSERT INTO StringIds VALUES(1, 'cudaLaunchKernel_v7000'), (100, 'LLM@decode_step')");
    for (int i = 0; i < KERNEL_NAMES; i++) {
        char sql[256];

        snprintf(sql, sizeof(sql),
                 "INSERT INTO StringIds VALUES(%d, 'void gemm_kernel_%d<float, (int)128>(float "
                 "const*, float*, int)')",
                 10 + i, i);
        run_sql(db, sql);
    }
    for (int i = 101; i < 136; i++) {
        char sql[128];

        snprintf(sql, sizeof(sql), "INSERT INTO StringIds VALUES(%d, 'layer.%d')", i, i - 101);
        run_sql(db, sql);
    }
    fill_rows(db,
              "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(?1, ?2, 0, 1, 0, ?3, ?4, ?5, ?6, ?6, "
              "?6, 1, 0, 32, 128, 1, 1, 256, 1, 1, 0, 0, 0, 127401984, 1, 32768, NULL)",
              KERNELS, bind_kernel);
    fill_rows(db, "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(?1, ?2, 0, ?3, ?4, 1, 0, NULL)",
              KERNELS, bind_call);
    fill_rows(db,
              "INSERT INTO NVTX_EVENTS VALUES(?1, ?2, 59, NULL, NULL, NULL, NULL, ?3, NULL, ?4, 0)",
              RANGES, bind_range);
    run_sql(db, "COMMIT");
}

static void make_export(const char *path)
{
    sqlite3 *db;

    unlink(path);
    if (sqlite3_open(path, &db) != SQLITE_OK)
        exit(1);
    fill_export(db);
    sqlite3_close(db);
}

static void put_head(FILE *file, bool raw)
{
    fputs("\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"thread "
          "Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg\",\"Kernel Name\","
          "\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\"",
          file);
    if (!raw) {
        fputs(",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n", file);
        return;
    }
    for (int i = 0; i < METRICS; i++)
        fprintf(file, ",\"sm__sass_metric_number_%d.sum\"", i);
    fputs("\n\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\"", file);
    for (int i = 0; i < METRICS; i++)
        fputs(i % 3 ? ",\"byte\"" : ",\"\"", file);
    fputs("\n", file);
}

static void put_result(FILE *file, int id)
{
    fprintf(file,
            "\"%d\",\"916\",\"python3.12\",\"127.0.0.1\",\"916  "
            "\"\"LLM:decode_step:none:none:none:none:ASCII:decode_step\"\" \",\"void gemm_kernel_%d"
            "<float, 128>(float const*, float*, int)\",\"1\",\"7\",\"(256, 1, 1)\",\"(128, 1, "
            "1)\",\"0\",\"9.0\"",
            id, id % KERNEL_NAMES);
}

/* Numbers of the lengths that ncu prints, in base units. */
static void put_number(FILE *file, unsigned seed)
{
    seed = seed * 2654435761u;
    if (seed % 4 == 0)
        fprintf(file, "\"%u\"", seed >> 20);
    else if (seed % 4 == 1)
        fprintf(file, "\"%u,%03u,%03u\"", seed >> 26, seed >> 8 & 511, seed >> 16 & 511);
    else if (seed % 4 == 2)
        fprintf(file, "\"%u.%06u\"", seed >> 22, seed % 1000000);
    else
        fprintf(file, "\"%u.%02u\"", seed >> 25, seed % 100);
}

static void make_table(const char *path, bool raw)
{
    FILE *file = fopen(path, "w");

    if (!file)
        exit(1);
    put_head(file, raw);
    for (int id = 0; ftell(file) < TABLE_BYTES; id++)
        for (int i = 0; i < (raw ? 1 : DETAIL_ROWS); i++) {
            put_result(file, id);
            if (!raw)
                fprintf(file, ",\"GPU Speed Of Light Throughput\",\"Metric number %d\",\"Gbyte/s\"",
                        i);
            for (int k = 0; k < (raw ? METRICS : 1); k++) {
                fputc(',', file);
                put_number(file, (unsigned)(id * METRICS + i * 7 + k));
            }
            fputs(raw ? "\n" : ",\n", file);
        }
    fclose(file);
}

static double import_s(const char *path)
{
    uint64_t start = bench_time_ns(CLOCK_PROCESS_CPUTIME_ID);
    llmperf_profile *profile;

    if (llmperf_import(&path, 1, NULL, &profile) < 0) {
        fprintf(stderr, "bench_import: %s\n", llmperf_last_error());
        exit(1);
    }
    llmperf_profile_free(profile);
    return (double)(bench_time_ns(CLOCK_PROCESS_CPUTIME_ID) - start) / 1e9;
}

static double median_s(const char *path)
{
    struct bench_samples samples = { 0 };

    for (int i = 0; i < ROUNDS; i++)
        bench_add(&samples, import_s(path));
    return bench_median(&samples);
}

static double size_of(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 ? (double)info.st_size : 0;
}

static void report_export(const char *path)
{
    double seconds = median_s(path);
    char measured[64], beside[64];

    snprintf(measured, sizeof(measured), "%.2f s", seconds);
    snprintf(beside, sizeof(beside), "%.0f MB, %.2f million kernels a second", size_of(path) / 1e6,
             KERNELS / seconds / 1e6);
    bench_row("import an nsys export of 1 million kernels", measured, beside, "<= 2 s",
              seconds <= TARGET_S);
}

static void report_table(const char *path, const char *what)
{
    double speed = size_of(path) / median_s(path);
    char measured[64], beside[64];

    snprintf(measured, sizeof(measured), "%.0f MB/s", speed / 1e6);
    snprintf(beside, sizeof(beside), "%.0f MB", size_of(path) / 1e6);
    bench_row(what, measured, beside, ">= 200 MB/s", speed >= TARGET_SPEED);
}

int main(int argc, char **argv)
{
    char folder[64] = "/tmp/llmperf-bench-XXXXXX", paths[3][256];
    const char *where = argc > 1 ? argv[1] : mkdtemp(folder);

    if (!where)
        return 1;
    snprintf(paths[0], sizeof(paths[0]), "%s/export.sqlite", where);
    snprintf(paths[1], sizeof(paths[1]), "%s/raw.csv", where);
    snprintf(paths[2], sizeof(paths[2]), "%s/details.csv", where);
    make_export(paths[0]);
    make_table(paths[1], true);
    make_table(paths[2], false);
    if (argc > 1)
        return 0;
    report_export(paths[0]);
    report_table(paths[1], "import a table of ncu, page raw");
    report_table(paths[2], "import a table of ncu, page details");
    for (int i = 0; i < 3; i++)
        unlink(paths[i]);
    return rmdir(where);
}
