/* SPDX-License-Identifier: Apache-2.0 */
/** Presets by name. For lib/session only. */
#ifndef LP_SESSION_OPTIONS_COUNTER_PRESETS_H
#define LP_SESSION_OPTIONS_COUNTER_PRESETS_H

#include "lib/counters/counters.h"

/** `name`: a preset of the data files, the path of one (it holds a '/'), or metrics joined by ','
 * (they hold "__"). 0 and *preset_out, or the errors of llmperf_counters_open(). @threads any
 * thread */
int lp_counter_preset_find(const char *name, struct lp_counter_preset **preset_out);

#endif
