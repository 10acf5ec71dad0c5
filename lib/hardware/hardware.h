/* SPDX-License-Identifier: Apache-2.0 */
/** Internals of llmperf_hardware, for lib/hardware only.
 * @threads one at a time per object */
#ifndef LP_HARDWARE_HARDWARE_H
#define LP_HARDWARE_HARDWARE_H

#include <stdbool.h>

#include "lib/hardware/measured_peaks.h"
#include "lib/base/dtype.h"
#include "lib/base/strings.h"
#include "lib/base/vector.h"
#include "llmperf/hardware.h"

#define LP_QUANTITIES 7

struct llmperf_hardware {
    const char *name;
    int32_t capability;
    bool failed; /* out of memory */
    llmperf_hardware_value peaks[LP_PEAKS];
    llmperf_hardware_value quantities[LP_QUANTITIES]; /* LLMPERF_HARDWARE_… - 1 */
    struct lp_measured_peaks measured_peaks;
    const char *measured; /* when and with what; NULL: no measured peaks */
    /* Measured on this GPU, else on another one of its model; sources: which of the two; NULL:
     * neither. */
    struct lp_sweep sweep;
    double read_gbs;
    const char *sweep_source, *read_source;
    LP_VECTOR(const char *) warnings;
    struct lp_strings pool;
};

/** Copy of a text that lives as long as the hardware; NULL for NULL, and when out of memory, which
 * sets `failed`. */
const char *lp_hardware_text(llmperf_hardware *hardware, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void lp_hardware_warn(llmperf_hardware *hardware, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** An object without any values; NULL: out of memory. */
llmperf_hardware *lp_hardware_create(void);

/** Set a value; text is lp_hardware_text() or static. */
void lp_hardware_set(llmperf_hardware_value *value, double number, uint32_t origin,
                     uint32_t confidence, const char *source);
void lp_hardware_unset(llmperf_hardware_value *value, const char *reason);

#endif
