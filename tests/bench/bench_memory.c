/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that 100 million kernel records leave behind in aggregate mode: launches and kernels of
 * endless decode steps go through attribution and totals, in rounds as the collector makes them. */
#include <string.h>

#include "lib/attribution/attribution.h"
#include "lib/record/paths.h"
#include "lib/profile/profile.h"
#include "llmperf/profile.h"
#include "tests/bench/bench.h"
#include "tests/bench/memory.h"

#define RECORDS   UINT64_C(100000000)
#define LAYERS    24u
#define OPERATORS 6u
#define NAMES     12u
#define KERNELS   (LAYERS * OPERATORS * 2u) /* of a step */
#define STEPS     16u                       /* of a round: 4,608 kernels, one driver buffer */
#define TARGET    64.0

struct engine {
    struct lp_names names;
    struct lp_attribution *attribution;
    struct lp_totals *totals;
    uint32_t step_node, nodes[LAYERS * OPERATORS], name_ids[NAMES];
    uint32_t correlation;
    uint64_t host_ns, stream_ns[2];
    size_t records, activities;
    struct lp_record host[STEPS * (KERNELS * 2 + 2)];
    struct lp_activity device[STEPS * KERNELS];
};

static struct engine *make_engine(void)
{
    struct engine *engine = calloc(1, sizeof(*engine));
    struct lp_attribution_sink results;
    char label[64];

    if (!engine || !(engine->totals = lp_totals_create(&engine->names)))
        exit(1);
    results = lp_totals_sink(engine->totals);
    if (!(engine->attribution = lp_attribution_create(&results)))
        exit(1);
    engine->host_ns = 1000000;
    engine->step_node = lp_path_intern(LP_PATH_ROOT, "LLM@decode_step");
    for (uint32_t i = 0; i < LAYERS * OPERATORS; i++) {
        snprintf(label, sizeof(label), "LLM@layer_%u_operator_%u", i / OPERATORS, i % OPERATORS);
        engine->nodes[i] = lp_path_intern(engine->step_node, label);
    }
    for (uint32_t i = 0; i < NAMES; i++) {
        snprintf(label, sizeof(label), "kernel_%u", i);
        engine->name_ids[i] = lp_names_intern(&engine->names, label);
    }
    return engine;
}

static void add_host(struct engine *engine, uint16_t kind, uint32_t node, uint64_t value)
{
    engine->host_ns += 700;
    engine->host[engine->records++] =
        (struct lp_record){ engine->host_ns, value, node, kind,
                            kind == LP_RECORD_LAUNCH ? (uint16_t)LP_LAUNCH_KERNEL : (uint16_t)0 };
}

static void add_kernel(struct engine *engine, uint32_t node, uint32_t number)
{
    uint64_t *free_ns = &engine->stream_ns[number % 2];
    uint64_t ready_ns = engine->host_ns + 2000;
    uint64_t start_ns = *free_ns + 400 > ready_ns ? *free_ns + 400 : ready_ns;

    *free_ns = start_ns + 500 + 173 * (number % 13);
    if (++engine->correlation == 0)
        engine->correlation = 1;
    add_host(engine, LP_RECORD_LAUNCH, node, engine->correlation);
    engine->device[engine->activities++] =
        (struct lp_activity){ .start_ns = start_ns,
                              .end_ns = *free_ns,
                              .correlation = engine->correlation,
                              .name = engine->name_ids[number * 7 % NAMES],
                              .context = 1,
                              .stream = 7 + number % 2,
                              .kind = LLMPERF_ACTIVITY_KERNEL };
}

static void add_step(struct engine *engine)
{
    add_host(engine, LP_RECORD_REGION_BEGIN, engine->step_node, 0);
    for (uint32_t i = 0; i < LAYERS * OPERATORS; i++) {
        add_host(engine, LP_RECORD_REGION_BEGIN, engine->nodes[i], 0);
        add_kernel(engine, engine->nodes[i], i * 2);
        add_kernel(engine, engine->nodes[i], i * 2 + 1);
        add_host(engine, LP_RECORD_REGION_END, engine->nodes[i], 0);
    }
    add_host(engine, LP_RECORD_REGION_END, engine->step_node, 0);
}

static void run_round(struct engine *engine)
{
    engine->records = engine->activities = 0;
    for (uint32_t i = 0; i < STEPS; i++)
        add_step(engine);
    lp_attribution_host(engine->attribution, 0, engine->host, engine->records);
    lp_attribution_activities(engine->attribution, engine->device, engine->activities);
    lp_attribution_settle(engine->attribution, 0, false);
}

int main(void)
{
    struct engine *engine = make_engine();
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    double before, now = 0, most = 0;
    uint64_t done = 0, next = RECORDS / 100, shown = RECORDS / 100;
    char measured[120];

    memset(engine->host, 1, sizeof(engine->host)); /* Ours, resident before the start. */
    memset(engine->device, 1, sizeof(engine->device));
    before = bench_resident_mib();
    printf("million kernels: MiB above the start\n");
    while (done < RECORDS) {
        run_round(engine);
        done += STEPS * KERNELS;
        if (done < next)
            continue;
        next += RECORDS / 100;
        now = bench_resident_mib() - before;
        most = now > most ? now : most;
        if (done >= shown) {
            printf("  %5.0f: %6.1f\n", (double)done / 1e6, now);
            shown = done < RECORDS / 10 ? shown * 3 : shown + RECORDS / 5;
        }
    }
    lp_attribution_ledger(engine->attribution, &ledger);
    snprintf(measured, sizeof(measured), "%.1f MiB at most, %.1f at the end", most, now);
    bench_row("memory above the start after 100 million kernels", measured,
              ledger.kernels_attributed == done ? "all attributed" : "RECORDS LOST", "<= 64 MiB",
              most <= TARGET && ledger.kernels_attributed == done);
    lp_attribution_free(engine->attribution);
    lp_totals_free(engine->totals);
    lp_names_clear(&engine->names);
    free(engine);
    return 0;
}
