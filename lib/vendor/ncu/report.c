/* SPDX-License-Identifier: Apache-2.0 */
/* Container format: "NVR\0", the size of a header, the header, then blocks. A block is the size of
 * its header, the header, and a payload of entries, each preceded by its size: first sources of
 * kernels, then results by kind. Sources, sections and advice are skipped. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/file.h"
#include "lib/base/progress.h"
#include "lib/base/status.h"
#include "lib/vendor/ncu/report.h"

#define MAGIC       "NVR"
#define MAGIC_BYTES 4
#define VERSION     7
#define HEADER_MOST (UINT32_C(256) << 20) /* of a header or result */
#define AS_CSV      "export it as CSV: ncu --import FILE --csv --page raw --print-units base --print-fp"
#define NAMES_MOST  (UINT32_C(1) << 20)

/* Fields of a block's header. */
enum {
    BLOCK_SOURCES = 1,
    BLOCK_RESULTS = 2,
    BLOCK_SESSION = 3,
    BLOCK_STRINGS = 4,
    BLOCK_PAYLOAD = 5,
    BLOCK_PROCESS = 6,
    BLOCK_RANGES = 7,
    BLOCK_COMMANDS = 8,
    BLOCK_GRAPHS = 9
};

enum { SESSION_COMMAND = 11 };

struct container {
    struct lp_ncu_report report;
    const char *path;
    FILE *file;
    uint64_t size, at; /* of the file; bytes read so far */
    LP_VECTOR(uint8_t) bytes;
};

/* What a header says about its payload. */
struct block {
    uint64_t sources, payload;
    uint64_t results[LP_NCU_KINDS];
};

static int damaged(const struct container *container, const char *what)
{
    return lp_error(LLMPERF_EFORMAT, "%s is damaged at byte %" PRIu64 " (%s); " AS_CSV,
                    container->path, container->at, what);
}

static int read_bytes(struct container *container, void *to, size_t size)
{
    if (size > container->size - container->at)
        return damaged(container, "the file ends early");
    if (size > 0 && fread(to, 1, size, container->file) != size)
        return lp_error(LLMPERF_EIO, "cannot read %s: %s", container->path,
                        ferror(container->file) ? strerror(errno)
                                                : "the file became shorter while it was read");
    container->at += size;
    return 0;
}

static int skip_bytes(struct container *container, uint64_t size)
{
    if (size > container->size - container->at)
        return damaged(container, "the file ends early");
    if (fseeko(container->file, (off_t)size, SEEK_CUR) < 0)
        return lp_error(LLMPERF_EIO, "cannot read %s: %s", container->path, strerror(errno));
    container->at += size;
    return 0;
}

static int read_size(struct container *container, uint32_t *size_out)
{
    uint8_t raw[4];
    int status = read_bytes(container, raw, sizeof(raw));

    if (status == 0)
        *size_out = (uint32_t)raw[0] | (uint32_t)raw[1] << 8 | (uint32_t)raw[2] << 16 |
                    (uint32_t)raw[3] << 24;
    return status;
}

/* Read a size and a message of that size; valid until the next one. */
static int read_message(struct container *container, struct lp_wire *message_out)
{
    uint32_t size = 0;
    int status = read_size(container, &size);

    if (status < 0)
        return status;
    if (size > HEADER_MOST || size > container->size - container->at)
        return damaged(container, "a message size exceeds the file");
    container->bytes.count = 0;
    if (lp_vector_reserve(&container->bytes, (size_t)size + 1) < 0)
        return lp_out_of_memory();
    *message_out = (struct lp_wire){ container->bytes.items, size };
    return read_bytes(container, container->bytes.items, size);
}

static int read_file_header(struct container *container)
{
    struct lp_wire_field version;
    struct lp_wire header;
    char magic[MAGIC_BYTES];
    int status;

    if ((status = read_bytes(container, magic, sizeof(magic))) < 0)
        return status;
    if (memcmp(magic, MAGIC, sizeof(magic)) != 0)
        return lp_error(LLMPERF_EFORMAT,
                        "%s is a compressed ncu report, which only ncu can read; " AS_CSV,
                        container->path);
    if ((status = read_message(container, &header)) < 0)
        return status;
    if (lp_wire_find(header, 1, LP_WIRE_VARINT, &version) <= 0)
        return damaged(container, "the format version is missing");
    if (version.value != VERSION)
        return lp_error(LLMPERF_EFORMAT,
                        "%s has version %" PRIu64
                        " of ncu's report format; only version %d is supported; " AS_CSV,
                        container->path, version.value, VERSION);
    return 0;
}

/* Headers of blocks */

/* Names are numbered through the whole file; each block has those that are new. */
static int take_names(struct lp_ncu_report *report, struct lp_wire table)
{
    struct lp_wire_field name;
    int status;

    while ((status = lp_wire_next(&table, &name)) > 0) {
        if (name.number != 1 || name.type != LP_WIRE_BYTES)
            continue;
        if (report->names.count >= NAMES_MOST)
            return LLMPERF_EFORMAT;
        if (lp_vector_push(&report->names, report->text.count) < 0 ||
            lp_vector_push(&report->metrics, LP_HASHMAP_NONE) < 0 ||
            lp_vector_reserve(&report->text, name.bytes.size + 1) < 0)
            return lp_out_of_memory();
        if (name.bytes.size > 0)
            memcpy(report->text.items + report->text.count, name.bytes.at, name.bytes.size);
        report->text.count += name.bytes.size;
        report->text.items[report->text.count++] = '\0';
    }
    return status;
}

/* The process id is field 1, in the block's process and in the session. */
static int take_process(struct lp_ncu_report *report, struct lp_wire message)
{
    struct lp_wire_field id;
    int status = lp_wire_find(message, 1, LP_WIRE_VARINT, &id);

    if (status > 0 && id.value < UINT32_MAX)
        report->process_id = (uint32_t)id.value;
    return status < 0 ? status : 0;
}

static int take_block_field(struct lp_ncu_report *report, const struct lp_wire_field *field,
                            struct block *block)
{
    if (field->type == LP_WIRE_BYTES && field->number == BLOCK_STRINGS)
        return take_names(report, field->bytes);
    if (field->type == LP_WIRE_BYTES)
        return field->number == BLOCK_PROCESS || field->number == BLOCK_SESSION
                   ? take_process(report, field->bytes)
                   : 0;
    if (field->type != LP_WIRE_VARINT)
        return 0;
    switch (field->number) {
    case BLOCK_SOURCES:
        block->sources = field->value;
        break;
    case BLOCK_PAYLOAD:
        block->payload = field->value;
        break;
    case BLOCK_RESULTS:
        block->results[LP_NCU_KERNEL] = field->value;
        break;
    case BLOCK_RANGES:
        block->results[LP_NCU_RANGE] = field->value;
        break;
    case BLOCK_COMMANDS:
        block->results[LP_NCU_COMMANDS] = field->value;
        break;
    case BLOCK_GRAPHS:
        block->results[LP_NCU_GRAPH] = field->value;
        break;
    default:
        break;
    }
    return 0;
}

/* Application replay stores ranges differently, and the command line that has the replay mode may
 * follow the results. Unreadable data is reported later. */
static int look_for_mode(struct container *container)
{
    static const char app_range[] = "--replay-mode app-range";
    struct lp_wire_field session, command, payload;
    uint64_t begin = container->at;
    struct lp_wire header;

    while (container->at < container->size && read_message(container, &header) == 0) {
        if (lp_wire_find(header, BLOCK_SESSION, LP_WIRE_BYTES, &session) > 0 &&
            lp_wire_find(session.bytes, SESSION_COMMAND, LP_WIRE_BYTES, &command) > 0 &&
            command.bytes.size > 0 &&
            memmem(command.bytes.at, command.bytes.size, app_range, sizeof(app_range) - 1))
            container->report.app_range = true;
        if (lp_wire_find(header, BLOCK_PAYLOAD, LP_WIRE_VARINT, &payload) > 0 &&
            skip_bytes(container, payload.value) < 0)
            break;
    }
    container->at = begin;
    if (fseeko(container->file, (off_t)begin, SEEK_SET) < 0)
        return lp_error(LLMPERF_EIO, "cannot read %s: %s", container->path, strerror(errno));
    return 0;
}

static int read_block_header(struct container *container, struct block *block)
{
    struct lp_wire_field field;
    struct lp_wire header;
    int status = read_message(container, &header);

    if (status < 0)
        return status;
    while ((status = lp_wire_next(&header, &field)) > 0)
        if ((status = take_block_field(&container->report, &field, block)) < 0)
            break;
    return status == LLMPERF_EFORMAT ? damaged(container, "an invalid header") : status;
}

/* Payloads */

static int read_results(struct container *container, enum lp_ncu_kind kind, uint64_t count,
                        uint64_t end)
{
    struct lp_wire result;
    int status = 0;

    for (uint64_t i = 0; i < count && status == 0; i++) {
        if (container->at >= end)
            return damaged(container, "results are missing");
        if ((status = read_message(container, &result)) < 0)
            return status;
        lp_progress("reading an ncu report", container->at, container->size);
        status = lp_ncu_report_result(&container->report, kind, result);
        if (status == LLMPERF_EFORMAT) { /* the position of the next entry is known */
            container->report.ncu->results_cut++;
            status = 0;
        }
    }
    return status;
}

static int read_payload(struct container *container, const struct block *block)
{
    uint64_t end = container->at + block->payload;
    uint32_t size = 0;
    int status = 0;

    if (block->payload > container->size - container->at)
        return damaged(container, "the file ends early");
    for (uint64_t i = 0; i < block->sources && status == 0; i++) {
        if (container->at >= end)
            return damaged(container, "kernel sources are missing");
        if ((status = read_size(container, &size)) == 0)
            status = skip_bytes(container, size);
    }
    for (int kind = 0; kind < LP_NCU_KINDS && status == 0; kind++)
        status = read_results(container, (enum lp_ncu_kind)kind, block->results[kind], end);
    if (status == 0 && container->at > end)
        return damaged(container, "a block is larger than its header says");
    return status < 0 ? status : skip_bytes(container, end - container->at);
}

static int read_blocks(struct container *container)
{
    int status = 0;

    while (status == 0 && container->at < container->size) {
        struct block block = { 0 };

        if ((status = read_block_header(container, &block)) == 0)
            status = read_payload(container, &block);
    }
    /* Results before the truncated or damaged part count: ncu may have been killed. */
    if (status == LLMPERF_EFORMAT && container->report.results > 0) {
        container->report.ncu->results_cut++;
        status = 0;
    }
    return status;
}

static int open_file(struct container *container)
{
    struct stat info = { .st_size = 0 };
    int status = lp_file_open_stream(container->path, &container->file);

    if (status < 0)
        return status;
    fstat(fileno(container->file), &info);
    container->size = info.st_size > 0 ? (uint64_t)info.st_size : 0;
    return 0;
}

int lp_ncu_report_read(struct lp_ncu *ncu, const char *path)
{
    struct container container = { .report = { .ncu = ncu }, .path = path };
    int status;

    ncu->file++;
    if ((status = open_file(&container)) == 0 && (status = read_file_header(&container)) == 0 &&
        (status = look_for_mode(&container)) == 0)
        status = read_blocks(&container);
    if (status == 0 && container.report.results == 0)
        status = lp_error(
            LLMPERF_EFORMAT,
            "%s holds no results: no kernel matched ncu's filters, or ncu was stopped early", path);
    ncu->units_missing += container.report.units_missing;
    if (container.file)
        fclose(container.file);
    lp_vector_clear(&container.bytes);
    lp_vector_clear(&container.report.text);
    lp_vector_clear(&container.report.names);
    lp_vector_clear(&container.report.metrics);
    lp_vector_clear(&container.report.seen);
    lp_vector_clear(&container.report.word);
    return status;
}
