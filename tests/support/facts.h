/* SPDX-License-Identifier: Apache-2.0 */
/** A sink that keeps all facts that a device source brings. */
#ifndef TESTS_SUPPORT_FACTS_H
#define TESTS_SUPPORT_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/device/device.h"

/* All facts that a source brings, with the call of deliver() that brought each. */
struct facts {
    struct lp_names names;
    LP_VECTOR(struct lp_record) host;
    LP_VECTOR(uint32_t) host_thread, host_call;
    LP_VECTOR(struct lp_activity) activities;
    LP_VECTOR(uint32_t) activity_call;
    uint32_t calls;
    size_t calls_back;          /* of the sink */
    bool host_after_activities; /* within one call of deliver() */
    uint32_t last_activity_call;
    struct lp_device_stats stats;
};

/** Members of a sink whose context is a struct facts. */
void take_fact_host(void *context, uint32_t thread, const struct lp_record *records, size_t count);
void take_fact_activities(void *context, struct lp_activity *activities, size_t count);

void clear_facts(struct facts *facts);

/** Name of an activity. */
const char *fact_name(const struct facts *facts, size_t activity);

/** Host records of a kind, LP_RECORD_…. */
size_t count_host_records(const struct facts *facts, uint16_t kind);

#endif
