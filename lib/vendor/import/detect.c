/* SPDX-License-Identifier: Apache-2.0 */
/* Detects file formats by content. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/file.h"
#include "lib/base/status.h"
#include "lib/sources/kineto/input.h"
#include "lib/vendor/csv.h"
#include "lib/vendor/ncu/ncu.h"
#include "lib/vendor/nsys/csv.h"

#define HEAD_BYTES 256
#define RUN_ID     "LLMP" /* application id in SQLite's header, at byte 68 */

static bool begins(const char *head, size_t size, const char *with, size_t length)
{
    return size >= length && memcmp(head, with, length) == 0;
}

/* Binary files. */
static uint32_t binary_format(const char *path, const char *head, size_t size)
{
    if (begins(head, size, "SQLite format 3", 16))
        return size >= 72 && memcmp(head + 68, RUN_ID, 4) == 0 ? LLMPERF_FORMAT_RUN
                                                               : LLMPERF_FORMAT_NSYS_SQLITE;
    if (begins(head, size, "LLMPREC", 7))
        return LLMPERF_FORMAT_RECORDING;
    if (begins(head, size, "NVR\0", 4) || begins(head, size, "\x28\xb5\x2f\xfd", 4))
        return LLMPERF_FORMAT_NCU_REPORT;  /* the second one is .ncu-repz (zstd) */
    if (begins(head, size, "\x1f\x8b", 2)) /* gzip */
        return lp_kineto_is_trace(path) ? LLMPERF_FORMAT_TRACE : LLMPERF_FORMAT_UNKNOWN;
    if (begins(head, size, "NVIDIA Tegra Profiler Report", 28))
        return LLMPERF_FORMAT_NSYS_REPORT;
    return LLMPERF_FORMAT_UNKNOWN;
}

static bool is_text(const char *head, size_t size)
{
    bool wide = begins(head, size, "\xff\xfe", 2) || begins(head, size, "\xfe\xff", 2);

    return wide || !memchr(head, '\0', size);
}

static bool is_json(const char *head, size_t size)
{
    size_t at = 0;

    while (at < size && isspace((unsigned char)head[at]))
        at++;
    return at < size && (head[at] == '{' || head[at] == '[');
}

static int read_head(const char *path, char head[HEAD_BYTES], size_t *size_out)
{
    FILE *file;
    int status = lp_file_open_stream(path, &file);

    if (status < 0)
        return status;
    *size_out = fread(head, 1, HEAD_BYTES, file);
    if (ferror(file))
        status = lp_error(LLMPERF_EIO, "cannot read %s: %s", path, strerror(errno));
    fclose(file);
    return status;
}

static bool has_mark(const char *line, size_t length)
{
    return begins(line, length, "==PROF==", 8) || begins(line, length, "==ERROR==", 9) ||
           begins(line, length, "==WARNING==", 11);
}

/* The first table decides; without tables, lines that only ncu prints. */
static int find_table(struct lp_csv *csv, uint32_t *format_out)
{
    const char *line;
    size_t length;
    int status;

    while ((status = lp_csv_peek(csv, &line, &length)) > 0) {
        if (lp_ncu_is_header(line, length) || lp_nsys_csv_is_header(line, length)) {
            *format_out =
                lp_ncu_is_header(line, length) ? LLMPERF_FORMAT_NCU_CSV : LLMPERF_FORMAT_NSYS_CSV;
            return 0;
        }
        if (has_mark(line, length))
            *format_out = LLMPERF_FORMAT_NCU_CSV;
        else if (begins(line, length, "SKIPPED:", 8) || begins(line, length, " ** ", 4))
            *format_out = LLMPERF_FORMAT_NSYS_CSV;
        if ((status = lp_csv_skip(csv)) < 0)
            return status;
    }
    return status;
}

int llmperf_format_detect(const char *path, uint32_t *format_out)
{
    char head[HEAD_BYTES];
    struct lp_csv csv;
    size_t size = 0;
    int status;

    if (!path || !format_out)
        return lp_error(LLMPERF_EINVAL, "path and format_out are required");
    *format_out = LLMPERF_FORMAT_UNKNOWN;
    if (lp_path_is_folder(path)) {
        *format_out = LLMPERF_FORMAT_RUN;
        return 0;
    }
    if ((status = read_head(path, head, &size)) < 0)
        return status;
    *format_out = binary_format(path, head, size);
    if (*format_out != LLMPERF_FORMAT_UNKNOWN || !is_text(head, size))
        return 0;
    if (is_json(head, size)) {
        *format_out = lp_kineto_is_trace(path) ? LLMPERF_FORMAT_TRACE : LLMPERF_FORMAT_UNKNOWN;
        return 0;
    }
    if ((status = lp_csv_open(&csv, path)) < 0)
        return status;
    status = find_table(&csv, format_out);
    lp_csv_close(&csv);
    return status;
}
