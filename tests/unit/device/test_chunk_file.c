/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks of all sizes against the parts of a file that are read at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/status.h"
#include "lib/base/varint.h"
#include "lib/sources/replay/chunk_file.h"
#include "tests/support/play.h"

/* A part is 128 KiB, a head 12 bytes, 64 bytes are read where chunks are passed over. */
static const uint32_t sizes[] = { 0,   1,      40, 52, 53,     64,    65,     131072 - 600,
                                  300, 11,     0,  12, 600000, 70000, 131072, 5,
                                  0,   131060, 3,  2,  100000, 7 };
#define CHUNKS (sizeof(sizes) / sizeof(sizes[0]))

static uint8_t byte_of(size_t chunk, size_t at)
{
    return (uint8_t)(chunk * 31 + at * 7 + (at >> 8));
}

/* @return size of the file */
static size_t make_file(const char **path_out)
{
    size_t size = LP_RECORDING_HEAD, at = LP_RECORDING_HEAD;
    uint8_t *bytes;

    for (size_t i = 0; i < CHUNKS; i++)
        size += sizeof(struct lp_chunk_header) + sizes[i];
    bytes = malloc(size);
    assert_non_null(bytes);
    memcpy(bytes, "LLMPREC\3", LP_RECORDING_HEAD);
    for (size_t i = 0; i < CHUNKS; i++) {
        struct lp_chunk_header header = { (uint32_t)i + 1, sizes[i], 0 };
        uint8_t *payload = bytes + at + sizeof(header);

        for (size_t k = 0; k < sizes[i]; k++)
            payload[k] = byte_of(i, k);
        header.crc = lp_crc32c(payload, sizes[i]);
        memcpy(bytes + at, &header, sizeof(header));
        at += sizeof(header) + sizes[i];
    }
    *path_out = write_test_file("chunks", bytes, size);
    free(bytes);
    return size;
}

static void open_file(struct lp_chunk_file *chunks, const char *path)
{
    char head[LP_RECORDING_HEAD];

    *chunks = (struct lp_chunk_file){ 0 };
    assert_int_equal(lp_chunk_file_open(chunks, path, head), 0);
    assert_memory_equal(head, "LLMPREC\3", LP_RECORDING_HEAD);
}

static void check_payload(struct lp_chunk_file *chunks, size_t chunk)
{
    assert_int_equal(lp_chunk_file_read(chunks), 0);
    for (size_t k = 0; k < sizes[chunk]; k++)
        if (chunks->payload[k] != byte_of(chunk, k))
            fail_msg("chunk %zu differs at byte %zu", chunk, k);
}

/* Read the chunks whose number has a bit of `mask` set, pass over the others. */
static void go_through(struct lp_chunk_file *chunks, size_t mask)
{
    for (size_t i = 0; i < CHUNKS; i++) {
        assert_true(lp_chunk_file_peek(chunks));
        assert_int_equal(chunks->header.type, i + 1);
        assert_int_equal(chunks->header.size, sizes[i]);
        if (i & mask)
            check_payload(chunks, i);
        lp_chunk_file_pass(chunks);
    }
    assert_false(lp_chunk_file_peek(chunks));
}

static void chunks_read_back_in_any_selection(void **state)
{
    const char *path;
    struct lp_chunk_file chunks;

    (void)state;
    make_file(&path);
    open_file(&chunks, path);
    for (size_t mask = 0; mask < 32; mask++) {
        go_through(&chunks, mask);
        lp_chunk_file_rewind(&chunks);
    }
    go_through(&chunks, SIZE_MAX);
    lp_chunk_file_close(&chunks);
    assert_null(chunks.bytes);
}

static void a_file_that_was_cut_ends_before_the_cut_chunk(void **state)
{
    const char *path;
    size_t size = make_file(&path), seen = 0;
    struct lp_chunk_file chunks;

    (void)state;
    assert_int_equal(truncate(path, (off_t)size - 1), 0);
    open_file(&chunks, path);
    while (lp_chunk_file_peek(&chunks)) {
        lp_chunk_file_pass(&chunks);
        seen++;
    }
    assert_int_equal(seen, CHUNKS - 1);
    lp_chunk_file_close(&chunks);
}

static void a_file_that_becomes_shorter_is_told(void **state)
{
    const char *path;
    struct lp_chunk_file chunks;

    (void)state;
    make_file(&path);
    open_file(&chunks, path);
    for (size_t i = 0; i < 12; i++) {
        assert_true(lp_chunk_file_peek(&chunks));
        lp_chunk_file_pass(&chunks);
    }
    assert_true(lp_chunk_file_peek(&chunks));
    assert_int_equal(chunks.header.size, 600000);
    assert_int_equal(truncate(path, (off_t)chunks.at + 1000), 0);
    assert_int_equal(lp_chunk_file_read(&chunks), LLMPERF_EIO);
    assert_non_null(strstr(llmperf_last_error(), "shorter"));
    lp_chunk_file_close(&chunks);
}

static void a_payload_that_changed_is_told(void **state)
{
    const char *path;
    struct lp_chunk_file chunks;

    (void)state;
    make_file(&path);
    open_file(&chunks, path);
    assert_true(lp_chunk_file_peek(&chunks));
    lp_chunk_file_pass(&chunks);
    assert_true(lp_chunk_file_peek(&chunks));
    chunks.header.crc ^= 1;
    assert_int_equal(lp_chunk_file_read(&chunks), LLMPERF_EFORMAT);
    lp_chunk_file_close(&chunks);
}

/* Nobody writes into it. */
static void a_pipe_is_refused_and_not_waited_for(void **state)
{
    const char *path = in_test_folder("pipe");
    struct lp_chunk_file chunks = { 0 };
    char head[LP_RECORDING_HEAD];

    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(lp_chunk_file_open(&chunks, path, head), LLMPERF_EINVAL);
    assert_non_null(strstr(llmperf_last_error(), "is a pipe or a device, not a regular file"));
    lp_chunk_file_close(&chunks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_read_back_in_any_selection),
        cmocka_unit_test(a_file_that_was_cut_ends_before_the_cut_chunk),
        cmocka_unit_test(a_file_that_becomes_shorter_is_told),
        cmocka_unit_test(a_payload_that_changed_is_told),
        cmocka_unit_test(a_pipe_is_refused_and_not_waited_for),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
