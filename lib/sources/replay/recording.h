/* SPDX-License-Identifier: Apache-2.0 */
/** Recordings: the facts of a session, exactly as the pipeline received them, so that they can be
 * replayed anywhere.
 *
 * File: "LLMPREC" and a version byte, then chunks { type u32, payload bytes u32, CRC-32C of the
 * payload u32, payload }, little endian. Numbers in payloads are varints (varint.h); times and ids
 * are differences to the previous record in the chunk. */
#ifndef LP_SOURCES_REPLAY_RECORDING_H
#define LP_SOURCES_REPLAY_RECORDING_H

#include "lib/device/device.h"

#define LP_RECORDING_MAGIC "LLMPREC"
/* 2: graph events, and graphs in launch records; 3: START, FULL; 4: SHAPES, requests; 5: host
 * calls, memory, GPU, and the version also in START, which has a checksum. */
#define LP_RECORDING_VERSION 5
#define LP_RECORDING_OLDEST  1 /* oldest version that can be read */

enum lp_chunk_type {
    LP_CHUNK_ORIGIN =
        1, /* JSON: the machine of the recording (env.json of the session), near the end */
    LP_CHUNK_NAMES = 2,    /* first id, count, then length and bytes of each */
    LP_CHUNK_PATHS = 3,    /* first node, count, then parent, label length and label of each */
    LP_CHUNK_HOST = 4,     /* thread, count, then records */
    LP_CHUNK_ACTIVITY = 5, /* count, then records */
    LP_CHUNK_KINDS = 6,    /* count, then node and LLMPERF_REGION_… of each that is not AUTO */
    LP_CHUNK_END = 7,      /* struct lp_device_stats; missing if the recording was truncated */
    LP_CHUNK_GRAPH = 8,    /* count, then graph events */
    LP_CHUNK_PLAN = 9,     /* struct lp_counter_plan: texts, numbers, columns */
    LP_CHUNK_COUNTERS =
        10,               /* count, then facts; each has a double per column, unless it is a skip */
    LP_CHUNK_START = 11,  /* one moment: time of the records, ns since 1970, and the process; 0: not
                          known; then the version. The first chunk */
    LP_CHUNK_FULL = 12,   /* the size limit was reached: facts from this time on are missing */
    LP_CHUNK_SHAPES = 13, /* first id, count, then the numbers of each */
    /* State of a GPU: time, device, count, then so many values + 1 (0: not known). The number
     * differs from the others in two bits: no checksum covers it. */
    LP_CHUNK_GPU = 60
};

struct lp_chunk_header {
    uint32_t type, size, crc;
};

struct lp_recorder;

struct lp_recorder_options {
    uint64_t limit_bytes; /* facts above it are left out; 0: no limit */
    bool own_time;        /* facts are of this process, with its clock */
    bool own_file;        /* the library chose the name: links with this name are not followed */
};

/** Start a recording. 0, LLMPERF_EIO, LLMPERF_ENOMEM.
 * @param names  Must outlive the recorder.
 * @threads collector only, all functions */
int lp_recorder_open(const char *path, const struct lp_names *names,
                     const struct lp_recorder_options *options, struct lp_recorder **recorder_out);

/** A sink that records and passes everything on to `next`. Valid until close. */
struct lp_device_sink lp_recorder_sink(struct lp_recorder *recorder,
                                       const struct lp_device_sink *next);

/** Write everything recorded so far, so that it survives if the process is killed. NULL is
 * allowed. */
void lp_recorder_flush(struct lp_recorder *recorder);

/** Were facts left out because of the limit?
 * @param after_ns_out  Time of the first of them, since the first recorded fact. */
bool lp_recorder_full(const struct lp_recorder *recorder, uint64_t *after_ns_out);

/** Complete and close the file. 0, or LLMPERF_EIO if a write failed. NULL is allowed.
 * @param origin  JSON, borrowed for the call. */
int lp_recorder_close(struct lp_recorder *recorder, const struct lp_device_stats *stats,
                      const char *origin);

#endif
