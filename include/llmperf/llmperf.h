/* SPDX-License-Identifier: Apache-2.0 */
/** The whole public API. */
#ifndef LLMPERF_LLMPERF_H
#define LLMPERF_LLMPERF_H

#include "llmperf/activity.h"
#include "llmperf/analysis.h"
#include "llmperf/api.h"
#include "llmperf/config.h"
#include "llmperf/counters.h"
#include "llmperf/floor.h"
#include "llmperf/hardware.h"
#include "llmperf/import.h"
#include "llmperf/inject.h"
#include "llmperf/job.h"
#include "llmperf/model.h"
#include "llmperf/output.h"
#include "llmperf/profile.h"
#include "llmperf/region.h"
#include "llmperf/session.h"
#include "llmperf/tools.h"
#include "llmperf/trace.h"
#include "llmperf/version.h"

#endif
