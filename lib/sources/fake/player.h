/* SPDX-License-Identifier: Apache-2.0 */
/** State of a running script: position, threads and device.
 * @threads collector only */
#ifndef LP_SOURCES_FAKE_PLAYER_H
#define LP_SOURCES_FAKE_PLAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/vector.h"
#include "lib/device/device.h"
#include "lib/sources/fake/device.h"
#include "lib/sources/fake/script.h"
#include "lib/sources/fake/thread.h"

struct lp_fake_player {
    struct lp_device_source head;
    bool memory_activities, graph_level;
    struct lp_fake_script script;
    size_t at;                      /* next op */
    uint64_t left[LP_FAKE_NESTING]; /* rounds left in the open repeats, with the current one */
    uint32_t depth;
    uint64_t now_ns;
    uint32_t thread, correlation;
    struct lp_fake_thread *threads[LP_FAKE_THREADS];
    struct lp_fake_device device;
    LP_VECTOR(struct lp_graph_event) graphs;
    LP_VECTOR(struct lp_gpu_sample) samples;
    struct lp_device_stats stats;
    int status; /* the error that ended it */
};

/** Statements of a thread. 0, LLMPERF_ENOMEM; for launches also LLMPERF_EFORMAT: too many. */
int lp_fake_play_kernel(struct lp_fake_player *player, struct lp_fake_thread *thread,
                        const struct lp_fake_op *op);
int lp_fake_play_graph(struct lp_fake_player *player, struct lp_fake_thread *thread,
                       const struct lp_fake_op *op);
int lp_fake_play_memory(struct lp_fake_player *player, struct lp_fake_thread *thread,
                        const struct lp_fake_op *op);
/** A call that launches nothing: LP_RECORD_HOST_CALL. */
int lp_fake_play_host_call(struct lp_fake_player *player, struct lp_fake_thread *thread,
                           const struct lp_fake_op *op);
/** A cancelled launch without device work. */
int lp_fake_play_failed(struct lp_fake_player *player, struct lp_fake_thread *thread);

/** An event of a graph. An instantiation first clones the nodes. */
int lp_fake_play_graph_event(struct lp_fake_player *player, const struct lp_fake_thread *thread,
                             const struct lp_fake_op *op);
/** `number` graph events are lost. */
int lp_fake_play_graphs_lost(struct lp_fake_player *player, uint64_t number);

#endif
