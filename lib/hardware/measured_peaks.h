/* SPDX-License-Identifier: Apache-2.0 */
/** Peaks measured on one GPU, and the file that stores them.
 * @threads one at a time per object */
#ifndef LP_HARDWARE_MEASURED_PEAKS_H
#define LP_HARDWARE_MEASURED_PEAKS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/dtype.h"
#include "lib/hardware/sweep.h"

/** llmperf_measured_peak_name(): "copy", "read", the dtypes, and what a session of tier deep adds
 * to a launch and to a graph node, us. */
enum {
    LP_PEAK_COPY,
    LP_PEAK_READ,
    LP_PEAK_DTYPE,
    LP_COST_LAUNCH = LP_PEAK_DTYPE + LP_PEAKS,
    LP_COST_NODE,
    LP_MEASURED_PEAKS
};

struct lp_measured_peak {
    double best, median, clock_mhz; /* NaN: not known */
    uint64_t repeats;
    char how[128], reason[160]; /* one of them is "" */
};

struct lp_measured_peaks {
    char uuid[64], driver[64], gpu[128];
    char measured_at[32]; /* UTC; "": nothing was measured */
    struct lp_measured_peak items[LP_MEASURED_PEAKS];
    struct lp_sweep sweep; /* empty: not measured */
};

/** No measured peaks, with the `reason`. */
void lp_measured_peaks_init(struct lp_measured_peaks *measured_peaks, const char *reason);

/** The file for a GPU under a driver, malloc'ed. 0; LLMPERF_EINVAL: unusable in a file name;
 * LLMPERF_ENOENT: neither XDG_CACHE_HOME nor HOME is set; LLMPERF_ENOMEM. */
int lp_measured_peaks_path(const char *uuid, const char *driver, char **path_out);

/** 0, LLMPERF_ENOENT, LLMPERF_EFORMAT, LLMPERF_ENOMEM. */
int lp_measured_peaks_read(const char *path, struct lp_measured_peaks *peaks_out);

/** Creates the directory, too. 0, LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_measured_peaks_write(const char *path, const struct lp_measured_peaks *measured_peaks);

/** Index of a peak by name or dtype; -1: none. */
int lp_measured_peak_index(const char *what);

#endif
