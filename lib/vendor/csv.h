/* SPDX-License-Identifier: Apache-2.0 */
/** Lines and CSV records of a file: UTF-8 with or without BOM, UTF-16 with BOM, LF or CRLF. Memory
 * is bounded by the longest record, which is limited.
 * @threads one at a time per object */
#ifndef LP_VENDOR_CSV_H
#define LP_VENDOR_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/vector.h"

/** A field: NUL-terminated, without quotes, doubled quotes made single. Valid until the next
 * call. */
struct lp_field {
    char *text;
    size_t length;
    size_t at; /* start, while the record is being read */
};

struct lp_csv {
    const char *path;
    int file;
    int wide; /* 0: bytes are UTF-8, 1: UTF-16LE, 2: UTF-16BE */
    bool eof;
    char *bytes; /* unread bytes are [begin, end) */
    size_t begin, end, capacity;
    uint8_t odd; /* first byte of an incomplete UTF-16 unit */
    bool has_odd;
    uint32_t high;   /* first half of a surrogate pair; 0: none */
    uint64_t record; /* number of the last record */
    bool cut;        /* the file ended in a quoted field */
    LP_VECTOR(struct lp_field) fields;
};

/** 0, LLMPERF_ENOENT, LLMPERF_EIO or LLMPERF_ENOMEM.
 * @param path  Must outlive the object. */
int lp_csv_open(struct lp_csv *csv, const char *path);
void lp_csv_close(struct lp_csv *csv);

/** The next line without its end, not consumed. Very long lines are cut.
 * @return 1; 0 at the end of the file; or an error. */
int lp_csv_peek(struct lp_csv *csv, const char **line_out, size_t *length_out);

/** Consume that line. 0 or an error. */
int lp_csv_skip(struct lp_csv *csv);

/** Read the next record into csv->fields; quoted fields may contain line ends.
 * @return 1; 0 at the end of the file; LLMPERF_EFORMAT (longer than allowed), LLMPERF_EIO,
 * LLMPERF_ENOMEM. */
int lp_csv_record(struct lp_csv *csv);

/** A field of the last record; "" if it has no such column. */
const struct lp_field *lp_csv_field(const struct lp_csv *csv, size_t column);

#endif
