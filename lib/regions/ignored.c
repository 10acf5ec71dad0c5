/* SPDX-License-Identifier: Apache-2.0 */
/* While a recording or script is replayed, regions of this process are not collected. The first one
 * is noted; later ones cost nothing. */
#include <stdatomic.h>

#include "lib/regions/capture.h"
#include "lib/regions/region_hook.h"

static _Atomic bool seen;

static void begin(const struct lp_thread *thread, uint32_t node);

static const struct lp_region_hook hook = { .begin = begin };

/* Remove only our own hook: counters have one too. */
static void unhook(void)
{
    const struct lp_region_hook *ours = &hook;

    atomic_compare_exchange_strong(&lp_region_hook, &ours, NULL);
}

static void begin(const struct lp_thread *thread, uint32_t node)
{
    (void)thread;
    (void)node;
    atomic_store(&seen, true);
    unhook();
}

void lp_capture_ignore_begin(void)
{
    const struct lp_region_hook *none = NULL;

    atomic_store(&seen, false);
    atomic_compare_exchange_strong(&lp_region_hook, &none, &hook);
}

void lp_capture_ignore_end(void)
{
    unhook();
}

bool lp_capture_ignored(void)
{
    return atomic_load(&seen);
}
