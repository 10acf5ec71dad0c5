/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hardware/hardware.h"
#include "lib/base/sized.h"
#include "lib/base/status.h"
#include "llmperf/sys/hardware.h"

static const char *add_text(llmperf_hardware *hardware, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
static const char *add_text(llmperf_hardware *hardware, const char *format, va_list args)
{
    char *text = NULL;
    const char *kept =
        vasprintf(&text, format, args) < 0 ? NULL : lp_strings_add(&hardware->pool, text);

    if (kept)
        free(text);
    hardware->failed |= !kept;
    return kept;
}

const char *lp_hardware_text(llmperf_hardware *hardware, const char *format, ...)
{
    va_list args;
    const char *text;

    va_start(args, format);
    text = add_text(hardware, format, args);
    va_end(args);
    return text;
}

void lp_hardware_warn(llmperf_hardware *hardware, const char *format, ...)
{
    va_list args;
    const char *text;

    va_start(args, format);
    text = add_text(hardware, format, args);
    va_end(args);
    if (text)
        hardware->failed |= lp_vector_push(&hardware->warnings, text) < 0;
}

void lp_hardware_set(llmperf_hardware_value *value, double number, uint32_t origin,
                     uint32_t confidence, const char *source)
{
    *value = (llmperf_hardware_value){ sizeof(*value), number, source, NULL, origin, confidence };
}

void lp_hardware_unset(llmperf_hardware_value *value, const char *reason)
{
    *value =
        (llmperf_hardware_value){ sizeof(*value),         NAN, NULL, reason, LLMPERF_ORIGIN_NONE,
                                  LLMPERF_CONFIDENCE_NONE };
}

llmperf_hardware *lp_hardware_create(void)
{
    llmperf_hardware *hardware = calloc(1, sizeof(*hardware));

    for (size_t i = 0; hardware && i < LP_PEAKS; i++)
        lp_hardware_unset(&hardware->peaks[i], "not published");
    for (size_t i = 0; hardware && i < LP_QUANTITIES; i++)
        lp_hardware_unset(&hardware->quantities[i], "unknown");
    return hardware;
}

void llmperf_hardware_free(llmperf_hardware *hardware)
{
    if (hardware) {
        lp_vector_clear(&hardware->warnings);
        lp_strings_clear(&hardware->pool);
    }
    free(hardware);
}

const char *llmperf_hardware_name(const llmperf_hardware *hardware)
{
    return hardware ? hardware->name : "unknown GPU";
}

int32_t llmperf_hardware_capability(const llmperf_hardware *hardware)
{
    return hardware ? hardware->capability : 0;
}

const char *llmperf_hardware_warning(const llmperf_hardware *hardware, size_t index)
{
    return hardware && index < hardware->warnings.count ? hardware->warnings.items[index] : NULL;
}

int llmperf_hardware_peak(const llmperf_hardware *hardware, const char *dtype,
                          llmperf_hardware_value *value_out)
{
    int index;

    if (!hardware || !dtype || !value_out)
        return lp_error(LLMPERF_EINVAL, "hardware, dtype and value_out are required");
    index = lp_peak_read(dtype);
    return index < 0 ? index : lp_sized_out(value_out, &hardware->peaks[index], sizeof(*value_out));
}

int llmperf_hardware_quantity(const llmperf_hardware *hardware, uint32_t which,
                              llmperf_hardware_value *value_out)
{
    if (!hardware || !value_out)
        return lp_error(LLMPERF_EINVAL, "hardware and value_out are required");
    if (which == 0 || which > LP_QUANTITIES)
        return lp_error(LLMPERF_EINVAL, "unknown quantity %u; use LLMPERF_HARDWARE_…", which);
    return lp_sized_out(value_out, &hardware->quantities[which - 1], sizeof(*value_out));
}
