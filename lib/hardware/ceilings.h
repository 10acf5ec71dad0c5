/* SPDX-License-Identifier: Apache-2.0 */
/** Peaks measured on one GPU, and the file that stores them.
 * @threads one at a time per object */
#ifndef LP_HARDWARE_CEILINGS_H
#define LP_HARDWARE_CEILINGS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/dtype.h"

/** llmperf_ceiling_name(): "copy", "read", then the dtypes. */
enum { LP_CEILING_COPY, LP_CEILING_READ, LP_CEILING_DTYPE };
#define LP_CEILINGS (LP_CEILING_DTYPE + LP_PEAKS)

struct lp_ceiling {
    double best, median, clock_mhz; /* NaN: not known */
    uint64_t repeats;
    char how[128], reason[160]; /* one of them is "" */
};

struct lp_ceilings {
    char uuid[64], driver[64], gpu[128];
    char measured_at[32]; /* UTC; "": nothing was measured */
    struct lp_ceiling items[LP_CEILINGS];
};

/** No measured peaks, with the `reason`. */
void lp_ceilings_init(struct lp_ceilings *ceilings, const char *reason);

/** The file for a GPU under a driver, malloc'ed. 0; LLMPERF_EINVAL: unusable in a file name;
 * LLMPERF_ENOENT: neither XDG_CACHE_HOME nor HOME is set; LLMPERF_ENOMEM. */
int lp_ceilings_path(const char *uuid, const char *driver, char **path_out);

/** 0, LLMPERF_ENOENT, LLMPERF_EFORMAT, LLMPERF_ENOMEM. */
int lp_ceilings_read(const char *path, struct lp_ceilings *ceilings_out);

/** Creates the directory, too. 0, LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_ceilings_write(const char *path, const struct lp_ceilings *ceilings);

/** Index of a ceiling by name or dtype; -1: none. */
int lp_ceiling_index(const char *what);

#endif
