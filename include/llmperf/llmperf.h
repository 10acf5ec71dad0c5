/* SPDX-License-Identifier: Apache-2.0 */
/** The stable API: everything that libllmperf promises to keep (docs/explanation/abi.md). */
#ifndef LLMPERF_LLMPERF_H
#define LLMPERF_LLMPERF_H

#include "llmperf/api.h"
#include "llmperf/findings.h"
#include "llmperf/hardware.h"
#include "llmperf/model.h"
#include "llmperf/output.h"
#include "llmperf/profile.h"
#include "llmperf/region.h"
#include "llmperf/request.h"
#include "llmperf/roofline.h"
#include "llmperf/rows.h"
#include "llmperf/session.h"

#endif
