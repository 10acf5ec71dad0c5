/* SPDX-License-Identifier: Apache-2.0 */
/** The door of analysis. */
#ifndef LP_ANALYSIS_ANALYSIS_H
#define LP_ANALYSIS_ANALYSIS_H

#include "lib/analysis/ceilings.h"
#include "lib/analysis/hardware_ceilings.h"
#include "lib/analysis/kernel_class.h"
#include "lib/analysis/recommend.h"

#endif
