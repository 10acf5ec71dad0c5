/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/device/launch_ids.h"

/* Ids above the newest one reported may exist: of other threads, and of unreported calls. */
#define APART 4096u

_Atomic uint32_t lp_launch_base, lp_launch_newest;

void lp_launch_ids_renew(void)
{
    atomic_fetch_add(&lp_launch_base, atomic_exchange(&lp_launch_newest, 0) + APART);
}
