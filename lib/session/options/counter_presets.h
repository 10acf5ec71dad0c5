/* SPDX-License-Identifier: Apache-2.0 */
/** Presets by name. For lib/session only. */
#ifndef LP_SESSION_OPTIONS_COUNTER_PRESETS_H
#define LP_SESSION_OPTIONS_COUNTER_PRESETS_H

#include "lib/counters/counters.h"

/** Open a preset by the name of a data file, by the path of a file (it contains a '/'), or from
 * metrics separated by ',' (they contain "__"). 0 and *preset_out, or the errors of
 * llmperf_counters_open(). @threads any thread */
int lp_counter_preset_find(const char *name, struct lp_counter_preset **preset_out);

#endif
