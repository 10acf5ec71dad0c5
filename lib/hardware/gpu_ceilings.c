/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hardware/hardware.h"
#include "lib/hardware/gpu_ceilings.h"
#include "lib/base/sized.h"
#include "lib/base/status.h"
#include "llmperf/sys/hardware.h"

void lp_hardware_take_ceilings(llmperf_hardware *hardware, const struct lp_ceilings *ceilings,
                               const char *source)
{
    hardware->ceilings = *ceilings;
    hardware->measured = lp_hardware_text(hardware, "measured %s with driver %s, %s",
                                          ceilings->measured_at, ceilings->driver, source);
}

static const char *const not_measured = "not measured on this GPU with this driver; see llmperf "
                                        "hardware --measure";

void lp_hardware_read_ceilings(llmperf_hardware *hardware, const char *uuid, const char *driver)
{
    struct lp_ceilings ceilings;
    char *path = NULL;
    int status;

    lp_ceilings_init(&hardware->ceilings, not_measured);
    if (!uuid || !driver || lp_ceilings_path(uuid, driver, &path) < 0)
        return;
    if ((status = lp_ceilings_read(path, &ceilings)) == 0)
        lp_hardware_take_ceilings(hardware, &ceilings, path);
    else if (status != LLMPERF_ENOENT) {
        lp_ceilings_init(&hardware->ceilings, "the file of measured peaks is damaged");
        lp_hardware_warn(hardware, "%s", llmperf_last_error());
    }
    free(path);
}

const char *llmperf_hardware_measured(const llmperf_hardware *hardware)
{
    return hardware ? hardware->measured : NULL;
}

int llmperf_hardware_ceiling(const llmperf_hardware *hardware, const char *what,
                             llmperf_ceiling *ceiling_out)
{
    llmperf_ceiling ceiling = LLMPERF_CEILING_INIT;
    const struct lp_ceiling *item;
    int index;

    if (!hardware || !what)
        return lp_error(LLMPERF_EINVAL, "hardware and what are required");
    if ((index = lp_ceiling_index(what)) < 0)
        return lp_error(LLMPERF_EINVAL,
                        "unknown quantity %.40s; use copy, read, or a dtype of llmperf hardware",
                        what);
    item = &hardware->ceilings.items[index];
    ceiling.best = item->best;
    ceiling.median = item->median;
    ceiling.clock_mhz = item->clock_mhz;
    ceiling.repeats = item->repeats;
    ceiling.how = isnan(item->best) ? NULL : item->how;
    ceiling.reason = isnan(item->best) ? item->reason : NULL;
    return lp_sized_out(ceiling_out, &ceiling, sizeof(ceiling));
}
