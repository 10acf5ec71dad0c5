/* SPDX-License-Identifier: Apache-2.0 */
#include "streams.h"

#include <pthread.h>

#include "ops.h"

struct stream {
    struct run *run;
    size_t index, tokens;
    struct times *times;
    pthread_t thread;
    int started, code;
};

int streams_open(struct run *run, struct ops *ops)
{
    if (engine_open(&run->engines[0], ops, &run->engine_options, run->problem,
                    sizeof(run->problem)) < 0)
        return complain(run->problem, EXIT_ENVIRONMENT);
    for (size_t i = 1; i < run->options->streams; i++) {
        struct ops *more = run_open_ops(run);

        if (!more)
            return EXIT_ENVIRONMENT;
        if (engine_open_beside(&run->engines[i], more, run->engines[0], run->problem,
                               sizeof(run->problem)) < 0)
            return complain(run->problem, EXIT_ENVIRONMENT);
    }
    return 0;
}

int streams_capture(struct run *run)
{
    for (size_t i = 0; i < run->options->streams && !run_is_network(run); i++)
        if (engine_capture(run->engines[i]) < 0)
            return complain(engine_error(run->engines[i]), EXIT_ENVIRONMENT);
    return 0;
}

static int run_page(const struct run *run, struct engine *engine, size_t page, size_t tokens,
                    struct times *times)
{
    struct request request = run_request(run, page);
    double start;
    int status;

    llmperf_region_begin("inputs");
    status = engine_start(engine, &request);
    llmperf_region_end();
    start = engine_now_ms();
    if (status == 0)
        status = engine_prefill(engine, NULL);
    times->prefill_ms = engine_now_ms() - start;
    engine_time_steps(engine, times->step_ms);
    start = engine_now_ms();
    if (status == 0)
        status = engine_decode(engine, tokens, NULL);
    times->decode_ms = engine_now_ms() - start;
    return status;
}

static int run_network(struct engine *engine, size_t passes, struct times *times)
{
    double start = engine_now_ms();
    int status = 0;

    for (size_t i = 0; i < passes && status == 0; i++)
        status = engine_classify(engine, NULL);
    times->decode_ms = engine_now_ms() - start;
    return status;
}

static void *live(void *argument)
{
    struct stream *stream = argument;
    const struct run *run = stream->run;
    struct engine *engine = run->engines[stream->index];
    int status = 0;

    for (size_t i = stream->index; i < run->pages.runs && status == 0; i += run->options->streams)
        status = run_is_network(run) ? run_network(engine, stream->tokens, &stream->times[i])
                                     : run_page(run, engine, run->pages.order[i], stream->tokens,
                                                &stream->times[i]);
    stream->code = status < 0 ? complain(engine_error(engine), EXIT_ENVIRONMENT) : 0;
    return NULL;
}

int streams_run(struct run *run, size_t tokens, struct times *times_out)
{
    struct stream streams[STREAMS_MAX];
    size_t count = run->options->streams;
    int code = 0;

    for (size_t i = 0; i < count; i++)
        streams[i] =
            (struct stream){ .run = run, .index = i, .tokens = tokens, .times = times_out };
    for (size_t i = 1; i < count; i++)
        streams[i].started = pthread_create(&streams[i].thread, NULL, live, &streams[i]) == 0;
    live(&streams[0]);
    for (size_t i = 0; i < count; i++) {
        if (streams[i].started)
            pthread_join(streams[i].thread, NULL);
        else if (i > 0)
            code = complain("cannot start a thread for each stream", EXIT_ENVIRONMENT);
        code = code ? code : streams[i].code;
    }
    return code;
}

void streams_close(struct run *run)
{
    for (size_t i = STREAMS_MAX; i-- > 0;) /* the first holds the weights */
        engine_free(run->engines[i]);
}
