/* SPDX-License-Identifier: Apache-2.0 */
/** Sizes of messages in the payloads of NVTX ranges, as NCCL attaches them: a schema describes the
 * layout of a payload and is registered before its first use. Internal to lib/regions. */
#ifndef LP_REGIONS_NVTX_PAYLOAD_H
#define LP_REGIONS_NVTX_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "lib/regions/nvtx_abi.h"

/** Remember where payloads of this schema hold the size of a message, if they do.
 * @param domain  Handle of the domain; schema ids are unique within it.
 * @return id of the schema; 0: none. @threads any thread */
uint64_t lp_nvtx_schema_register(const void *domain, const struct lp_nvtx_schema *schema);

/** Size of the message in the payloads of a range; 0: they do not say. @threads any thread */
uint64_t lp_nvtx_message_bytes(const void *domain, const struct lp_nvtx_attributes *attributes);

#endif
