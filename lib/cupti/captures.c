/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/cupti/captures.h"

#include <stdatomic.h>
#include <stddef.h>

#include "lib/cupti/cbids.h"

#define COUNT(ids) (sizeof(ids) / sizeof((ids)[0]))

static const uint32_t capture_begins[] = { LP_CUPTI_CAPTURE_BEGINS };
static const uint32_t capture_ends[] = { LP_CUPTI_CAPTURE_ENDS };

static _Atomic int captures; /* number of streams under capture */

void lp_cupti_captures_watch(const struct lp_cupti *cupti, lp_cupti_subscriber subscriber)
{
    for (size_t i = 0; i < COUNT(capture_begins); i++)
        cupti->EnableCallback(1, subscriber, LP_CUPTI_DOMAIN_DRIVER_API, capture_begins[i]);
    for (size_t i = 0; i < COUNT(capture_ends); i++)
        cupti->EnableCallback(1, subscriber, LP_CUPTI_DOMAIN_DRIVER_API, capture_ends[i]);
}

static bool is_among(const uint32_t *ids, size_t count, uint32_t id)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* Counted before the call and undone if it fails, so that no capture is missed. */
void lp_cupti_captures_call(uint32_t id, const struct lp_cupti_callback_data *data)
{
    bool begin = is_among(capture_begins, COUNT(capture_begins), id),
         enter = data->site == LP_CUPTI_SITE_ENTER;
    bool failed =
        !enter && data->function_return_value && *(const int *)data->function_return_value != 0;

    if (begin && enter)
        atomic_fetch_add(&captures, 1);
    else if ((begin && failed) || (!begin && !enter && atomic_load(&captures) > 0))
        atomic_fetch_sub(&captures, 1);
}

void lp_cupti_captures_forget(void)
{
    atomic_store(&captures, 0);
}

bool lp_cupti_capturing(void)
{
    return atomic_load(&captures) > 0;
}
