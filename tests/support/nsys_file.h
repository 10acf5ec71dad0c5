/* SPDX-License-Identifier: Apache-2.0 */
/** Exports of nsys, made row by row: the tables and columns of five versions of its schema, of
 * which only the rows that a test adds. */
#ifndef LP_TEST_NSYS_FILE_H
#define LP_TEST_NSYS_FILE_H

#include <stdint.h>

#include <sqlite3.h>

#include "llmperf/llmperf.h"

enum nsys_schema { SCHEMA_2_9, SCHEMA_3_13, SCHEMA_3_16, SCHEMA_3_24, SCHEMA_3_25, SCHEMAS };

struct nsys_file {
    char path[512];
    sqlite3 *db;
};

/** Keys as nsys writes them, signed. */
int64_t nsys_process(uint32_t pid);
int64_t nsys_thread(uint32_t pid, uint32_t tid);

/** A new export "export.sqlite" in the test's folder (play.h), with texts "kernel_a" (1),
 * "kernel_b" (2), "cudaLaunchKernel_v7000" (3), "cudaMemcpyAsync_v3020" (4),
 * "cudaGraphLaunch_v10000" (5). */
void nsys_create(struct nsys_file *file, enum nsys_schema schema);

/** Run SQL; the test fails if SQLite does not like it. */
void nsys_sql(struct nsys_file *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** A kernel of device 0, stream 7; a call, which launched a kernel; a range of the default domain.
 */
void nsys_kernel(struct nsys_file *file, uint32_t pid, int64_t start, int64_t end,
                 uint32_t correlation, int name);
void nsys_call(struct nsys_file *file, uint32_t pid, uint32_t tid, int64_t start, int64_t end,
               uint32_t correlation);
void nsys_range(struct nsys_file *file, uint32_t pid, uint32_t tid, int64_t start, int64_t end,
                const char *text);

/** Close the file and import it; it must work. */
llmperf_profile *nsys_import(struct nsys_file *file);

/** Close the file and import it; what came of it, the error's text in llmperf_last_error(). */
int nsys_status(struct nsys_file *file);

/** Import one file; it must work. */
llmperf_profile *import_file(const char *path, uint32_t flags);

#endif
