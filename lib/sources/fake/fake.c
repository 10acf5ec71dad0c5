/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a script statement by statement, and delivers the records of its threads and device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/file.h"
#include "lib/base/status.h"
#include "lib/sources/fake/fake.h"
#include "lib/sources/fake/player.h"
#include "llmperf/profile.h"

#define OPS_A_CALL        2000
#define ACTIVITIES_A_CALL 65536u /* a graph makes many for one statement */
#define CLOCK_START       UINT64_C(1000000)
#define STATEMENT_NS      1000u

/* The thread of a statement; NULL: out of memory, with the error text. */
static struct lp_fake_thread *find_thread(struct lp_fake_player *player)
{
    struct lp_fake_thread **thread = &player->threads[player->thread];

    if (!*thread && !(*thread = calloc(1, sizeof(**thread))))
        lp_error(LLMPERF_ENOMEM, "out of memory");
    return *thread;
}

static int play_host(struct lp_fake_player *player, struct lp_fake_thread *thread,
                     const struct lp_fake_op *op)
{
    switch (op->verb) {
    case LP_FAKE_BEGIN:
        return lp_fake_thread_begin(thread, player->now_ns,
                                    player->script.names.items[op->first_name], op);
    case LP_FAKE_END:
        return lp_fake_thread_end(thread, player->now_ns);
    case LP_FAKE_COUNT:
        return lp_fake_thread_count(thread, player->now_ns, op->choice, op->number);
    case LP_FAKE_LAUNCH:
        return lp_fake_play_kernel(player, thread, op);
    case LP_FAKE_GRAPH:
        return lp_fake_play_graph(player, thread, op);
    case LP_FAKE_COPY:
    case LP_FAKE_SET:
        return lp_fake_play_memory(player, thread, op);
    case LP_FAKE_HOST_CALL:
        return lp_fake_play_host_call(player, thread, op);
    case LP_FAKE_LAUNCH_FAIL:
    case LP_FAKE_CAPTURE:
        return lp_fake_play_failed(player, thread);
    case LP_FAKE_NODE:
    case LP_FAKE_NODE_CLONE:
    case LP_FAKE_INSTANTIATE:
    case LP_FAKE_NODE_REMOVE:
    case LP_FAKE_NODE_UPDATE:
    case LP_FAKE_GRAPH_INLINE:
    case LP_FAKE_GRAPH_UPDATE:
    case LP_FAKE_GRAPH_DESTROY:
        return lp_fake_play_graph_event(player, thread, op);
    case LP_FAKE_REQUEST:
        return lp_fake_thread_request(thread, player->now_ns, op);
    case LP_FAKE_LOST:
        return lp_fake_thread_report(thread, player->now_ns, LP_RECORD_LOST, 0, op->number);
    default:
        return lp_fake_thread_exit(thread, player->now_ns);
    }
}

static void go_round(struct lp_fake_player *player, const struct lp_fake_op *op)
{
    if (--player->left[player->depth - 1] > 0)
        player->at = op->partner + 1;
    else
        player->depth--;
}

static int play_nvml(struct lp_fake_player *player, const struct lp_fake_op *op)
{
    struct lp_gpu_sample sample = { .time_ns = player->now_ns,
                                    .device = (uint16_t)op->values[LP_FAKE_DEVICE] };

    for (uint32_t i = 0; i < LP_GPU_VALUES; i++)
        sample.values[i] = op->keys_set >> (LP_FAKE_GPU_VALUE + i) & 1
                               ? op->values[LP_FAKE_GPU_VALUE + i]
                               : LLMPERF_UNKNOWN;
    return lp_vector_push(&player->samples, sample);
}

/* Statements without a thread. false: `op` has a thread. */
static bool play_control(struct lp_fake_player *player, const struct lp_fake_op *op)
{
    switch (op->verb) {
    case LP_FAKE_THREAD:
        player->thread = (uint32_t)op->number;
        return true;
    case LP_FAKE_AT:
        player->now_ns = op->number;
        return true;
    case LP_FAKE_WAIT:
        player->now_ns = lp_fake_add_time(player->now_ns, op->number);
        return true;
    case LP_FAKE_REPEAT:
        player->left[player->depth++] = op->number;
        return true;
    case LP_FAKE_DONE:
        go_round(player, op);
        return true;
    case LP_FAKE_FAULT:
        lp_fake_device_set_fault(&player->device, op);
        return true;
    case LP_FAKE_DRIVER_DROP:
        player->stats.records_dropped += op->number;
        return true;
    case LP_FAKE_INCOMPLETE:
        player->stats.records_incomplete += op->number;
        return true;
    case LP_FAKE_GRAPH_LOST:
        player->status = lp_fake_play_graphs_lost(player, op->number);
        return true;
    case LP_FAKE_NVML:
        player->status = play_nvml(player, op);
        return true;
    case LP_FAKE_FOREIGN:
        player->stats.records_foreign += op->number;
        return true;
    case LP_FAKE_REFUSED:
        player->stats.errors += op->number;
        return true;
    case LP_FAKE_DEVICE_LOST:
        player->status = lp_error(LLMPERF_ENODEVICE, "the device was lost");
        return true;
    case LP_FAKE_OVERHEAD:
        player->stats.overhead_ns += op->number;
        player->stats.has_overhead = true;
        return true;
    default:
        return false;
    }
}

static int play_op(struct lp_fake_player *player)
{
    const struct lp_fake_op *op = &player->script.ops.items[player->at++];
    struct lp_fake_thread *thread;
    int status;

    if (play_control(player, op))
        return 0;
    thread = find_thread(player);
    if (!thread)
        return LLMPERF_ENOMEM;
    status = play_host(player, thread, op);
    player->now_ns = lp_fake_add_time(player->now_ns, STATEMENT_NS);
    return status;
}

static int play_some(struct lp_fake_player *player)
{
    int status = 0;

    for (int i = 0;
         status == 0 && i < OPS_A_CALL && player->device.activities.count < ACTIVITIES_A_CALL;
         i++) {
        if (player->at == player->script.ops.count)
            break;
        if ((status = play_op(player)) == 0)
            status = player->status;
    }
    return status;
}

static void send_host(struct lp_fake_player *player, const struct lp_device_sink *sink)
{
    for (uint32_t i = 0; i < LP_FAKE_THREADS; i++)
        if (player->threads[i])
            lp_fake_thread_send(player->threads[i], i, sink);
}

static void send_graphs(struct lp_fake_player *player, const struct lp_device_sink *sink)
{
    if (player->graphs.count > 0)
        sink->graphs(sink->context, player->graphs.items, player->graphs.count);
    player->graphs.count = 0;
}

static void send_samples(struct lp_fake_player *player, const struct lp_device_sink *sink)
{
    for (size_t i = 0; sink->gpu && i < player->samples.count; i++)
        sink->gpu(sink->context, &player->samples.items[i]);
    player->samples.count = 0;
}

static bool is_over(const struct lp_fake_player *player)
{
    for (uint32_t i = 0; i < LP_FAKE_THREADS; i++)
        if (player->threads[i] && player->threads[i]->records.count > 0)
            return false;
    return player->at == player->script.ops.count;
}

static int deliver(struct lp_device_source *source, const struct lp_device_sink *sink)
{
    struct lp_fake_player *player = (struct lp_fake_player *)(void *)source;

    if (player->status == 0)
        player->status = play_some(player);
    send_graphs(player, sink);
    send_host(player, sink);
    send_samples(player, sink);
    lp_fake_device_send(&player->device, player->status == 0 && is_over(player), sink);
    if (player->status < 0)
        return player->status;
    return !is_over(player);
}

static void read_stats(const struct lp_device_source *source, struct lp_device_stats *stats)
{
    *stats = ((const struct lp_fake_player *)(const void *)source)->stats;
}

static void close_player(struct lp_device_source *source)
{
    struct lp_fake_player *player = (struct lp_fake_player *)(void *)source;

    for (uint32_t i = 0; i < LP_FAKE_THREADS; i++) {
        if (!player->threads[i])
            continue;
        lp_fake_thread_clear(player->threads[i]);
        free(player->threads[i]);
    }
    lp_fake_device_clear(&player->device);
    lp_vector_clear(&player->graphs);
    lp_vector_clear(&player->samples);
    lp_fake_script_clear(&player->script);
    free(player);
}

static int read_script(struct lp_fake_player *player, const char *path)
{
    char *bytes = NULL;
    size_t size = 0;
    int status = lp_file_read(path, &bytes, &size);

    if (status == 0)
        status = lp_fake_script_read(&player->script, path, bytes, size);
    free(bytes);
    return status;
}

/* The player is not needed for rules; the live source takes the script. */
static int follow_program(struct lp_fake_player *player, const struct lp_device_options *options,
                          struct lp_device_source **source_out)
{
    int status = lp_fake_live_open(options, &player->script, source_out);

    player->script = (struct lp_fake_script){ .follows = true };
    if (status == 0)
        memcpy((*source_out)->gpu, player->head.gpu, sizeof(player->head.gpu));
    return status;
}

int lp_device_open_fake(const struct lp_device_options *options,
                        struct lp_device_source **source_out)
{
    static const struct lp_device_ops ops = { "fake",
                                              false,
                                              lp_finite_start,
                                              lp_finite_nothing,
                                              NULL,
                                              lp_finite_flush,
                                              lp_finite_nothing,
                                              deliver,
                                              read_stats,
                                              close_player,
                                              NULL };
    struct lp_fake_player *player;
    int status;

    if (!options->path)
        return lp_fake_live_open(options, NULL, source_out);
    player = calloc(1, sizeof(*player));
    if (!player)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    player->head.ops = &ops;
    player->head.names = options->names;
    player->memory_activities = options->memory_activities;
    player->graph_level = options->graph_level;
    player->now_ns = CLOCK_START;
    lp_fake_device_init(&player->device, options->names);
    status = read_script(player, options->path);
    snprintf(player->head.gpu, sizeof(player->head.gpu), "%s",
             player->script.gpu ? player->script.gpu : "");
    if (status == 0 && player->script.follows)
        status = follow_program(player, options, source_out);
    else if (status == 0)
        *source_out = &player->head;
    if (status < 0 || *source_out != &player->head)
        close_player(&player->head);
    return status;
}
