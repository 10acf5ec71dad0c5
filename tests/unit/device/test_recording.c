/* SPDX-License-Identifier: Apache-2.0 */
/** Recordings: what was recorded plays again as it was, and a damaged file is told, never believed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/file.h"
#include "lib/base/varint.h"
#include "lib/profile/fields.h"
#include "lib/sources/fake/fake.h"
#include "lib/sources/replay/recording.h"
#include "tests/support/play.h"

static const char small[] = "begin LLM@prefill tokens=4\nlaunch k\ncopy htod bytes=3\ngraph a,b\n"
                            "node graph=5 index=0 nodes=2\ninstantiate graph=6 from=5 nodes=2\n"
                            "graph_update graph=6 from=5\ngraph a,b graph=6 index=0\n"
                            "launch k stream=9 device=1\nend\nbegin odd kind=stage\nend\n";

struct bytes {
    char *at;
    size_t size;
};

/* Record a script; *profile_out, if it is not NULL, is of the session that was recorded. */
static struct bytes record(const char *script, llmperf_profile **profile_out)
{
    llmperf_session_options options = script_options(script);
    struct bytes bytes = { NULL, 0 };
    llmperf_profile *profile;

    options.record_path = in_test_folder("recorded");
    profile = play_options(&options);
    assert_int_equal(lp_file_read(options.record_path, &bytes.at, &bytes.size), 0);
    if (profile_out)
        *profile_out = profile;
    else
        llmperf_profile_free(profile);
    return bytes;
}

/* Play a file. @return the first status that was not 0; *profile_out is NULL if start refused it.
 */
static int replay(const void *bytes, size_t size, llmperf_profile **profile_out)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;
    int status;

    options.tier = LLMPERF_TIER_DEEP;
    options.device_source = LLMPERF_SOURCE_REPLAY;
    options.device_path = write_test_file("replayed", bytes, size);
    *profile_out = NULL;
    if ((status = llmperf_session_start(&options, &session)) < 0)
        return status;
    status = llmperf_session_stop(session, profile_out);
    llmperf_session_free(session);
    return status;
}

static void check_same(const llmperf_profile *a, const llmperf_profile *b)
{
    char *metrics[2] = { lasting_metrics(a), lasting_metrics(b) };

    assert_string_equal(metrics[0], metrics[1]);
    free(metrics[0]);
    free(metrics[1]);
}

/* A damaged file is refused, or what is left of it is called incomplete. */
static void check_told(const void *bytes, size_t size, const char *what, size_t where)
{
    llmperf_profile *profile = NULL;
    int status = replay(bytes, size, &profile);

    if (status != 0 && status != LLMPERF_EFORMAT)
        fail_msg("%s at %zu: %s", what, where, llmperf_status_name(status));
    if (status != 0)
        check_error("record");
    if (status == 0 && !profile)
        fail_msg("%s at %zu: no profile", what, where);
    if (profile && ledger_of(profile).verdict != LLMPERF_VERDICT_INCOMPLETE)
        fail_msg("%s at %zu: %s", what, where,
                 llmperf_name(LLMPERF_NAME_VERDICT, ledger_of(profile).verdict));
    llmperf_profile_free(profile);
}

static void a_recording_plays_as_it_was(void **state)
{
    static const char *const scripts[] = {
        small,
        "",
        "launch k\n",
        "begin LLM@decode_all\nrepeat 3000\nbegin LLM@decode_step sequences=3 context=9\n"
        "launch \"void f<int>(float*)\" stream=3\ngraph a,b,c graph=77 device=2 context=5\nend\n"
        "done\nend\n",
        "thread 5\nbegin a\nthread 900\nbegin b\nlaunch k\nthread 5\nlaunch k\nexit\nthread 900\n"
        "count flops 1000000000000000000\n",
        "begin a\nend\nend\nlaunch_fail k\ncapture k\nset bytes=12\ndriver_drop 5\nincomplete 6\n"
        "overhead 700\n",
        "begin a\nfault drop every=3\nrepeat 20\nlaunch k\ndone\nfault duplicate\nlaunch k\n"
        "fault zero_time\nlaunch k\nfault reversed_time\nlaunch k\nfault far_future\nlaunch k\n"
        "fault unknown_correlation\nlaunch k\nfault late_launch\nlaunch k\nfault late\nlaunch k\n",
        "at 1000000000000000000\nbegin \"\xc3\xa4 / b\"\nlaunch k delay=5\nwait 1\nend\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        llmperf_profile *live = NULL, *replayed = NULL;
        struct bytes bytes = record(scripts[i], &live);

        if (replay(bytes.at, bytes.size, &replayed) < 0)
            fail_msg("script %zu: %s", i, llmperf_last_error());
        check_same(live, replayed);
        assert_string_equal(llmperf_profile_fact(replayed, "source"), "replay");
        assert_non_null(llmperf_profile_fact(replayed, "recorded_from"));
        assert_string_equal(llmperf_profile_fact(live, "env"),
                            llmperf_profile_fact(replayed, "env"));
        llmperf_profile_free(live);
        llmperf_profile_free(replayed);
        free(bytes.at);
    }
}

static void a_recording_of_running_threads_plays_as_it_was(void **state)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;
    llmperf_profile *live = NULL, *replayed = NULL;
    struct bytes bytes;

    (void)state;
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.tier = LLMPERF_TIER_DEEP;
    options.record_path = in_test_folder("live");
    llmperf_region_begin("open before");
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    for (int i = 0; i < 2000; i++) {
        llmperf_decode_step_begin(2, 50);
        lp_fake_launch(i % 2 ? "odd" : "even", (uint32_t)(i % 3), 70);
        llmperf_decode_step_end();
    }
    assert_int_equal(llmperf_session_pause(session), 0);
    llmperf_region_begin("in the pause");
    llmperf_region_end();
    assert_int_equal(llmperf_session_resume(session), 0);
    llmperf_region_end();
    lp_fake_launch("outside", 1, 70);
    assert_int_equal(llmperf_session_stop(session, &live), 0);
    llmperf_session_free(session);
    assert_int_equal(lp_file_read(options.record_path, &bytes.at, &bytes.size), 0);
    assert_int_equal(replay(bytes.at, bytes.size, &replayed), 0);
    check_same(live, replayed);
    llmperf_profile_free(live);
    llmperf_profile_free(replayed);
    free(bytes.at);
}

static void a_replay_can_be_recorded_again(void **state)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    struct bytes first = record(small, NULL), second;

    (void)state;
    options.tier = LLMPERF_TIER_DEEP;
    options.device_source = LLMPERF_SOURCE_REPLAY;
    options.device_path = in_test_folder("recorded");
    options.record_path = in_test_folder("again");
    llmperf_profile_free(play_options(&options));
    assert_int_equal(lp_file_read(options.record_path, &second.at, &second.size), 0);
    assert_true(first.size > 8 && second.size > 8);
    {
        llmperf_profile *a = NULL, *b = NULL;

        assert_int_equal(replay(first.at, first.size, &a), 0);
        assert_int_equal(replay(second.at, second.size, &b), 0);
        check_same(a, b);
        llmperf_profile_free(a);
        llmperf_profile_free(b);
    }
    free(first.at);
    free(second.at);
}

static void another_kind_or_version_of_file_is_refused(void **state)
{
    struct bytes bytes = record(small, NULL);
    llmperf_profile *profile;

    (void)state;
    assert_int_equal(replay("", 0, &profile), LLMPERF_EFORMAT);
    check_error("is not an llmperf recording");
    assert_int_equal(replay("LLMPREC", 7, &profile), LLMPERF_EFORMAT);
    assert_int_equal(replay("begin LLM@prefill\n", 18, &profile), LLMPERF_EFORMAT);
    check_error("is not an llmperf recording");
    bytes.at[7]++;
    assert_int_equal(replay(bytes.at, bytes.size, &profile), LLMPERF_EFORMAT);
    check_error("is a recording of version 6; this version of llmperf reads versions 1 to 5");
    free(bytes.at);
}

/* Versions before 4 had no flag for the shape beside a name. Names are few: a byte each. */
static void drop_shape_flags(uint8_t *payload, size_t size)
{
    struct lp_varint_reader reader = { payload, payload + size, false };

    for (uint64_t left = lp_varint_get(&reader); left > 0; left--) {
        uint8_t *word = payload + (reader.at - payload);
        uint64_t flags = lp_varint_get(&reader);
        int more = 3 + (flags & 4 ? 3 : 0) + (flags & 2 ? 2 : 0) + (flags & 1 ? 2 : 0);

        assert_true(flags < 128 && !(flags & 8));
        *word = (uint8_t)(flags >> 4 << 3 | (flags & 7));
        for (int i = 0; i < more; i++)
            lp_varint_get(&reader);
    }
    assert_ptr_equal(reader.at, reader.end);
}

/* The version at its end, one byte. */
static void shorten_start(struct bytes *bytes)
{
    struct lp_chunk_header header;
    char *payload = (char *)bytes->at + 8 + sizeof(header);

    memcpy(&header, bytes->at + 8, sizeof(header));
    assert_int_equal(header.type, LP_CHUNK_START);
    bytes->size--;
    header.size--;
    memmove(payload + header.size, payload + header.size + 1,
            bytes->size - 8 - sizeof(header) - header.size);
    header.crc = lp_crc32c(payload, header.size);
    memcpy(bytes->at + 8, &header, sizeof(header));
}

static void drop_shapes(struct bytes *bytes)
{
    struct lp_chunk_header header;

    for (size_t at = 8; at < bytes->size; at += sizeof(header) + header.size) {
        memcpy(&header, bytes->at + at, sizeof(header));
        if (header.type != LP_CHUNK_ACTIVITY)
            continue;
        drop_shape_flags((uint8_t *)bytes->at + at + sizeof(header), header.size);
        header.crc = lp_crc32c(bytes->at + at + sizeof(header), header.size);
        memcpy(bytes->at + at, &header, sizeof(header));
    }
}

/* As versions before 3 were: they had no first chunk. */
static struct bytes without_start(struct bytes bytes)
{
    struct lp_chunk_header header;

    drop_shapes(&bytes);

    memcpy(&header, bytes.at + 8, sizeof(header));
    assert_int_equal(header.type, LP_CHUNK_START);
    bytes.size -= sizeof(header) + header.size;
    memmove(bytes.at + 8, bytes.at + 8 + sizeof(header) + header.size, bytes.size - 8);
    bytes.at[7] = 2;
    return bytes;
}

static void version_2_plays_as_it_was(void **state)
{
    llmperf_profile *live = NULL, *replayed = NULL;
    struct bytes bytes = without_start(record(small, &live));

    (void)state;
    assert_int_equal(replay(bytes.at, bytes.size, &replayed), 0);
    check_same(live, replayed);
    llmperf_profile_free(live);
    llmperf_profile_free(replayed);
    free(bytes.at);
}

static const char shapes[] = "gpu \"NVIDIA H100 80GB HBM3\"\nbegin LLM@prefill\n"
                             "repeat 3\nlaunch k grid=16x8 block=128 registers=40 host=5000\n"
                             "launch k grid=33 block=96 static_shared=1024 dynamic_shared=512\n"
                             "launch k\ndone\nlaunch j grid=2x3x4 block=8x4x2\n"
                             "copy htod bytes=9 reads=pinned writes=device call=async host=640\n"
                             "set bytes=5 writes=managed call=sync\nend\n";

static bool is_any(const struct lp_row_field *field)
{
    return field->name != NULL;
}

static void shapes_and_lengths_of_calls_are_recorded(void **state)
{
    llmperf_profile *live = NULL, *replayed = NULL;
    struct bytes bytes = record(shapes, &live);
    size_t count = llmperf_profile_count(live, LLMPERF_ROWS_KERNEL_SHAPES);

    (void)state;
    assert_int_equal(replay(bytes.at, bytes.size, &replayed), 0);
    check_same(live, replayed);
    assert_int_equal(count, 5); /* a launch without a shape has no row */
    assert_int_equal(llmperf_profile_count(replayed, LLMPERF_ROWS_KERNEL_SHAPES), count);
    for (size_t i = 0; i < count; i++)
        assert_true(
            lp_row_hash(LP_ROW_KERNEL_SHAPE, lp_row_at(live, LP_ROW_KERNEL_SHAPE, i), is_any) ==
            lp_row_hash(LP_ROW_KERNEL_SHAPE, lp_row_at(replayed, LP_ROW_KERNEL_SHAPE, i), is_any));
    llmperf_profile_free(live);
    llmperf_profile_free(replayed);
    free(bytes.at);
}

static void version_3_has_no_shapes(void **state)
{
    llmperf_profile *live = NULL, *replayed = NULL;
    struct bytes bytes = record(small, &live);

    (void)state;
    drop_shapes(&bytes);
    shorten_start(&bytes);
    bytes.at[7] = 3;
    assert_int_equal(replay(bytes.at, bytes.size, &replayed), 0);
    check_same(live, replayed);
    assert_int_equal(llmperf_profile_count(replayed, LLMPERF_ROWS_KERNEL_SHAPES), 0);
    llmperf_profile_free(live);
    llmperf_profile_free(replayed);
    free(bytes.at);
}

static void version_1_says_that_captures_were_not_recorded(void **state)
{
    struct bytes bytes = without_start(record("graph a graph=3\n", NULL));
    llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;
    llmperf_profile *profile;

    (void)state;
    bytes.at[7] = 1;
    assert_int_equal(replay(bytes.at, bytes.size, &profile), 0);
    assert_int_equal(llmperf_profile_kernel(profile, 0, &kernel), 0);
    assert_string_equal(kernel.captured_in, "LLM@(capture not recorded)/LLM@graph 3 node 1");
    llmperf_profile_free(profile);
    free(bytes.at);
}

/* Does the byte stand in the head of the file or of a chunk? All others of a chunk are under one
 * checksum, so that some of them speak for all. */
static bool is_head(const struct bytes *bytes, size_t place)
{
    struct lp_chunk_header header;
    size_t at = 8;

    while (at + sizeof(header) <= place) {
        memcpy(&header, bytes->at + at, sizeof(header));
        if (place < at + sizeof(header) + header.size)
            return false;
        at += sizeof(header) + header.size;
    }
    return true;
}

static void a_cut_recording_is_incomplete(void **state)
{
    struct bytes bytes = record(small, NULL);
    llmperf_profile *profile;

    (void)state;
    for (size_t size = 8; size < bytes.size; size += (size_t)scaled(1, 13))
        if (is_head(&bytes, size) || size % 7 == 0)
            check_told(bytes.at, size, "cut", size);
    assert_int_equal(replay(bytes.at, bytes.size - 1, &profile), 0);
    assert_true(has_problem(profile, "the recording ends early"));
    llmperf_profile_free(profile);
    free(bytes.at);
}

static void a_recording_cut_between_chunks_is_incomplete(void **state)
{
    struct bytes bytes = record(small, NULL);
    struct lp_chunk_header header;
    size_t chunks = 0;

    (void)state;
    for (size_t at = 8; at < bytes.size; at += sizeof(header) + header.size) {
        check_told(bytes.at, at, "cut before a chunk", at);
        memcpy(&header, bytes.at + at, sizeof(header));
        chunks++;
    }
    assert_in_range(chunks, 6, 20);
    free(bytes.at);
}

static void each_flipped_bit_is_told(void **state)
{
    struct bytes bytes = record(small, NULL);

    (void)state;
    for (size_t bit = 0; bit < 8 * bytes.size; bit += (size_t)scaled(1, 17)) {
        if (!is_head(&bytes, bit / 8) && bit % 29 != 0)
            continue;
        bytes.at[bit / 8] = (char)(bytes.at[bit / 8] ^ 1 << bit % 8);
        check_told(bytes.at, bytes.size, "flipped bit", bit);
        bytes.at[bit / 8] = (char)(bytes.at[bit / 8] ^ 1 << bit % 8);
    }
    free(bytes.at);
}

static void bytes_behind_the_end_are_told(void **state)
{
    struct bytes bytes = record(small, NULL);
    char *longer = calloc(1, bytes.size + 40);

    (void)state;
    assert_non_null(longer);
    memcpy(longer, bytes.at, bytes.size);
    check_told(longer, bytes.size + 1, "one byte more at", bytes.size);
    check_told(longer, bytes.size + 40, "zero bytes at", bytes.size);
    free(longer);
    free(bytes.at);
}

/* A recording of one chunk with a good checksum. */
static void check_chunk(uint32_t type, const uint64_t *numbers, size_t count)
{
    uint8_t file[512] = "LLMPREC\1";
    uint8_t *payload = file + 8 + sizeof(struct lp_chunk_header), *end = payload;
    struct lp_chunk_header header = { type, 0, 0 };

    for (size_t i = 0; i < count; i++)
        end = lp_varint_put(end, numbers[i]);
    header.size = (uint32_t)(end - payload);
    header.crc = lp_crc32c(payload, header.size);
    memcpy(file + 8, &header, sizeof(header));
    check_told(file, (size_t)(end - file), "chunk", type);
}

static void numbers_out_of_range_are_told(void **state)
{
    static const uint64_t no_numbers[] = { 0 }, far_gap[] = { 7, 1 }, many[] = { 0, UINT64_MAX },
                          thread[] = { UINT32_MAX, 0 }, records[] = { 0, UINT64_MAX },
                          node[] = { 0, 1, 1, 0, 99, 0 }, paths[] = { 0, 3, 0, 0, 0, 0, 900, 0 },
                          activity[] = { 1, 800, 0, 0, 0 }, kinds[] = { 1, 5, 1 },
                          long_name[] = { 0, 1, UINT64_MAX };

    (void)state;
#define CHECK(type, numbers) check_chunk(type, numbers, sizeof(numbers) / sizeof(numbers[0]))
    for (uint32_t type = 0; type < 10; type++)
        check_chunk(type, no_numbers, 0);
    CHECK(LP_CHUNK_NAMES, far_gap);
    CHECK(LP_CHUNK_PATHS, far_gap);
    CHECK(LP_CHUNK_NAMES, many);
    CHECK(LP_CHUNK_PATHS, many);
    CHECK(LP_CHUNK_PATHS, paths);
    CHECK(LP_CHUNK_NAMES, long_name);
    CHECK(LP_CHUNK_HOST, thread);
    CHECK(LP_CHUNK_HOST, records);
    CHECK(LP_CHUNK_HOST, node);
    check_chunk(LP_CHUNK_ACTIVITY, many + 1, 1);
    CHECK(LP_CHUNK_ACTIVITY, activity);
    CHECK(LP_CHUNK_KINDS, kinds);
    CHECK(LP_CHUNK_END, no_numbers);
    CHECK(UINT32_MAX, no_numbers);
#undef CHECK
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_plays_as_it_was),
        cmocka_unit_test(a_recording_of_running_threads_plays_as_it_was),
        cmocka_unit_test(a_replay_can_be_recorded_again),
        cmocka_unit_test(another_kind_or_version_of_file_is_refused),
        cmocka_unit_test(shapes_and_lengths_of_calls_are_recorded),
        cmocka_unit_test(version_3_has_no_shapes),
        cmocka_unit_test(version_2_plays_as_it_was),
        cmocka_unit_test(version_1_says_that_captures_were_not_recorded),
        cmocka_unit_test(a_cut_recording_is_incomplete),
        cmocka_unit_test(a_recording_cut_between_chunks_is_incomplete),
        cmocka_unit_test(each_flipped_bit_is_told),
        cmocka_unit_test(bytes_behind_the_end_are_told),
        cmocka_unit_test(numbers_out_of_range_are_told),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
