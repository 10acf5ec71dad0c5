/* SPDX-License-Identifier: Apache-2.0 */
/** Not stable: the stable API together with all headers of llmperf/sys/, which serve the llmperf
 * command and may change in any release (docs/explanation/abi.md). */
#ifndef LLMPERF_SYS_H
#define LLMPERF_SYS_H

#include "llmperf/llmperf.h"
#include "llmperf/sys/analysis.h"
#include "llmperf/sys/check.h"
#include "llmperf/sys/config.h"
#include "llmperf/sys/counters.h"
#include "llmperf/sys/hardware.h"
#include "llmperf/sys/inject.h"
#include "llmperf/sys/option.h"
#include "llmperf/sys/run.h"
#include "llmperf/sys/trace.h"
#include "llmperf/sys/vendor.h"

#endif
