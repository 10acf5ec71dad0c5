/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "lib/record/paths.h"
#include "llmperf/api.h"

void take_fact_host(void *context, uint32_t thread, const struct lp_record *records, size_t count)
{
    struct facts *facts = context;

    facts->calls_back++;
    if (facts->last_activity_call == facts->calls && facts->activities.count > 0)
        facts->host_after_activities = true;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(lp_vector_push(&facts->host, records[i]), 0);
        assert_int_equal(lp_vector_push(&facts->host_thread, thread), 0);
        assert_int_equal(lp_vector_push(&facts->host_call, facts->calls), 0);
    }
}

void take_fact_activities(void *context, struct lp_activity *activities, size_t count)
{
    struct facts *facts = context;

    facts->calls_back++;
    facts->last_activity_call = facts->calls;
    assert_in_range(count, 1, 512);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(lp_vector_push(&facts->activities, activities[i]), 0);
        assert_int_equal(lp_vector_push(&facts->activity_call, facts->calls), 0);
        activities[i].node = LP_PATH_UNKNOWN; /* Attribution writes into batches. */
    }
}

void clear_facts(struct facts *facts)
{
    lp_names_clear(&facts->names);
    lp_vector_clear(&facts->host);
    lp_vector_clear(&facts->host_thread);
    lp_vector_clear(&facts->host_call);
    lp_vector_clear(&facts->activities);
    lp_vector_clear(&facts->activity_call);
    memset(facts, 0, sizeof(*facts));
}

const char *fact_name(const struct facts *facts, size_t activity)
{
    return lp_names_text(&facts->names, facts->activities.items[activity].name);
}

size_t count_host_records(const struct facts *facts, uint16_t kind)
{
    size_t count = 0;

    for (size_t i = 0; i < facts->host.count; i++)
        count += facts->host.items[i].kind == kind;
    return count;
}
