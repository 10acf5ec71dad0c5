/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "lib/hardware/hardware.h"
#include "lib/hardware/gpu_peaks.h"
#include "lib/base/sized.h"
#include "lib/base/status.h"
#include "llmperf/sys/hardware.h"

static const char measured_here[] = "measured on this GPU";

void lp_hardware_take_peaks(llmperf_hardware *hardware,
                            const struct lp_measured_peaks *measured_peaks, const char *source)
{
    hardware->measured_peaks = *measured_peaks;
    hardware->measured =
        lp_hardware_text(hardware, "measured %s with driver %s, %s", measured_peaks->measured_at,
                         measured_peaks->driver, source);
    if (measured_peaks->sweep.count > 0) {
        hardware->sweep = measured_peaks->sweep;
        hardware->sweep_source = measured_here;
    }
    if (!isnan(measured_peaks->items[LP_PEAK_READ].best)) {
        hardware->read_gbs = measured_peaks->items[LP_PEAK_READ].best;
        hardware->read_source = measured_here;
    }
}

static const char *const not_measured = "not measured on this GPU with this driver; see llmperf "
                                        "hardware --measure";

void lp_hardware_read_peaks(llmperf_hardware *hardware, const char *uuid, const char *driver)
{
    struct lp_measured_peaks measured_peaks;
    char *path = NULL;
    int status;

    lp_measured_peaks_init(&hardware->measured_peaks, not_measured);
    if (!uuid || !driver || lp_measured_peaks_path(uuid, driver, &path) < 0)
        return;
    if ((status = lp_measured_peaks_read(path, &measured_peaks)) == 0)
        lp_hardware_take_peaks(hardware, &measured_peaks, path);
    else if (status != LLMPERF_ENOENT) {
        lp_measured_peaks_init(&hardware->measured_peaks, "the file of measured peaks is damaged");
        lp_hardware_warn(hardware, "%s", llmperf_last_error());
    }
    free(path);
}

const char *llmperf_hardware_measured(const llmperf_hardware *hardware)
{
    return hardware ? hardware->measured : NULL;
}

int llmperf_hardware_measured_peak(const llmperf_hardware *hardware, const char *what,
                                   llmperf_measured_peak *peak_out)
{
    llmperf_measured_peak measured_peak = LLMPERF_MEASURED_PEAK_INIT;
    const struct lp_measured_peak *item;
    int index;

    if (!hardware || !what)
        return lp_error(LLMPERF_EINVAL, "hardware and what are required");
    if ((index = lp_measured_peak_index(what)) < 0)
        return lp_error(LLMPERF_EINVAL,
                        "unknown quantity %.40s; use copy, read, or a dtype of llmperf hardware",
                        what);
    item = &hardware->measured_peaks.items[index];
    measured_peak.best = item->best;
    measured_peak.median = item->median;
    measured_peak.clock_mhz = item->clock_mhz;
    measured_peak.repeats = item->repeats;
    measured_peak.how = isnan(item->best) ? NULL : item->how;
    measured_peak.reason = isnan(item->best) ? item->reason : NULL;
    return lp_sized_out(peak_out, &measured_peak, sizeof(measured_peak));
}
