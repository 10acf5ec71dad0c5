/* SPDX-License-Identifier: Apache-2.0 */
/** Recordings: the facts of a session in a file, exactly as they reached the pipeline, so that it
 * can be played again anywhere.
 *
 * File: "LLMPREC" and a version byte, then chunks { type u32, payload bytes u32, CRC-32C of the
 * payload u32, payload }, little endian. Numbers in payloads are varints (varint.h); times and ids
 * are differences to the record before within the chunk. */
#ifndef LP_SOURCES_REPLAY_RECORDING_H
#define LP_SOURCES_REPLAY_RECORDING_H

#include "lib/device/device.h"

#define LP_RECORDING_MAGIC   "LLMPREC"
#define LP_RECORDING_VERSION 3 /* 2: graph events, and graphs in launch records; 3: START, FULL */
#define LP_RECORDING_OLDEST  1 /* that can still be read */

enum lp_chunk_type {
    LP_CHUNK_ORIGIN =
        1, /* JSON: where the recording was made (the env.json of that session), near the end */
    LP_CHUNK_NAMES = 2,     /* first id, count, then length and bytes of each */
    LP_CHUNK_PATHS = 3,     /* first node, count, then parent, label length and label of each */
    LP_CHUNK_HOST = 4,      /* thread, count, then records */
    LP_CHUNK_ACTIVITY = 5,  /* count, then records */
    LP_CHUNK_KINDS = 6,     /* count, then node and LLMPERF_REGION_… of each that is not AUTO */
    LP_CHUNK_END = 7,       /* struct lp_device_stats; a recording without it was cut */
    LP_CHUNK_GRAPH = 8,     /* count, then graph events */
    LP_CHUNK_PLAN = 9,      /* struct lp_counter_plan: texts, numbers, columns */
    LP_CHUNK_COUNTERS = 10, /* count, then facts, each with a double a column unless it is a skip */
    LP_CHUNK_START = 11,    /* time of records, ns since 1970 at the same moment, process; 0: not
                               known.    The first chunk */
    LP_CHUNK_FULL = 12      /* time from which on facts are missing: the size limit was reached */
};

struct lp_chunk_header {
    uint32_t type, size, crc;
};

struct lp_recorder;

struct lp_recorder_options {
    uint64_t limit_bytes; /* what happens once so much is written is left out; 0: no limit */
    bool own_time;        /* facts are of this process, on its clock */
    bool own_file;        /* the library chose the name: no link of that name is followed */
};

/** Start a recording. @param names  Outlives the recorder. 0, LLMPERF_EIO, LLMPERF_ENOMEM. @threads
 * collector only, all functions */
int lp_recorder_open(const char *path, const struct lp_names *names,
                     const struct lp_recorder_options *options, struct lp_recorder **recorder_out);

/** A sink that records and passes on to `next`. Valid until close. */
struct lp_device_sink lp_recorder_sink(struct lp_recorder *recorder,
                                       const struct lp_device_sink *next);

/** Hand all that was recorded to the system: a killed process loses nothing of it. A NULL recorder
 * is fine. */
void lp_recorder_flush(struct lp_recorder *recorder);

/** Were facts left out because of the limit? @param after_ns_out  The first of them, from the first
 * fact that was recorded. */
bool lp_recorder_full(const struct lp_recorder *recorder, uint64_t *after_ns_out);

/** Finish the file. @param origin  JSON, Borrowed for the call. 0 or LLMPERF_EIO if any write
 * failed. A NULL recorder is fine. */
int lp_recorder_close(struct lp_recorder *recorder, const struct lp_device_stats *stats,
                      const char *origin);

#endif
