/* SPDX-License-Identifier: Apache-2.0 */
/** Our regions as NVTX ranges (domain and registered string), so that nsys and ncu can select them.
 */
#ifndef LP_REGIONS_NVTX_OUT_H
#define LP_REGIONS_NVTX_OUT_H

#include <stdint.h>

/** Open and close the NVTX range of a path node on this thread. Almost free if no tool is attached
 * or the build has no NVTX. */
void lp_nvtx_push(uint32_t node);
void lp_nvtx_pop(uint32_t node);

#endif
