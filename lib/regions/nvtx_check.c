/* SPDX-License-Identifier: Apache-2.0 */
/* Our picture of NVTX's binary interface against NVIDIA's headers. Compiled where the build finds
 * them; holds no code. */
#include <assert.h>

#include "lib/regions/nvtx_abi.h"

#include <nvtx3/nvToolsExt.h>
#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExtPayload.h>
#define HAVE_PAYLOAD
#endif

#define SAME_FIELD(our_field, their_field)                                                         \
    static_assert(offsetof(struct lp_nvtx_attributes, our_field) ==                                \
                          offsetof(nvtxEventAttributes_t, their_field) &&                          \
                      sizeof(((struct lp_nvtx_attributes *)0)->our_field) ==                       \
                          sizeof(((nvtxEventAttributes_t *)0)->their_field),                       \
                  "attributes." #our_field)
#define SAME_NUMBER(ours, theirs) static_assert((int)(ours) == (int)(theirs), #ours)

SAME_FIELD(version, version);
SAME_FIELD(size, size);
SAME_FIELD(payload_type, payloadType);
SAME_FIELD(payload, payload);
SAME_FIELD(message_type, messageType);
SAME_FIELD(message, message);
static_assert(sizeof(struct lp_nvtx_attributes) == sizeof(nvtxEventAttributes_t), "attributes");
static_assert(offsetof(struct lp_nvtx_callbacks, module_table) ==
                      offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable) &&
                  sizeof(struct lp_nvtx_callbacks) == sizeof(NvtxExportTableCallbacks),
              "callbacks");

SAME_NUMBER(LP_NVTX_TABLE_CALLBACKS, NVTX_ETID_CALLBACKS);
SAME_NUMBER(LP_NVTX_MODULE_CORE, NVTX_CB_MODULE_CORE);
SAME_NUMBER(LP_NVTX_MODULE_CORE2, NVTX_CB_MODULE_CORE2);
SAME_NUMBER(LP_NVTX_RANGE_START_EX, NVTX_CBID_CORE_RangeStartEx);
SAME_NUMBER(LP_NVTX_RANGE_START_A, NVTX_CBID_CORE_RangeStartA);
SAME_NUMBER(LP_NVTX_RANGE_START_W, NVTX_CBID_CORE_RangeStartW);
SAME_NUMBER(LP_NVTX_RANGE_END, NVTX_CBID_CORE_RangeEnd);
SAME_NUMBER(LP_NVTX_RANGE_PUSH_EX, NVTX_CBID_CORE_RangePushEx);
SAME_NUMBER(LP_NVTX_RANGE_PUSH_A, NVTX_CBID_CORE_RangePushA);
SAME_NUMBER(LP_NVTX_RANGE_PUSH_W, NVTX_CBID_CORE_RangePushW);
SAME_NUMBER(LP_NVTX_RANGE_POP, NVTX_CBID_CORE_RangePop);
SAME_NUMBER(LP_NVTX_DOMAIN_RANGE_START_EX, NVTX_CBID_CORE2_DomainRangeStartEx);
SAME_NUMBER(LP_NVTX_DOMAIN_RANGE_END, NVTX_CBID_CORE2_DomainRangeEnd);
SAME_NUMBER(LP_NVTX_DOMAIN_RANGE_PUSH_EX, NVTX_CBID_CORE2_DomainRangePushEx);
SAME_NUMBER(LP_NVTX_DOMAIN_RANGE_POP, NVTX_CBID_CORE2_DomainRangePop);
SAME_NUMBER(LP_NVTX_DOMAIN_REGISTER_STRING_A, NVTX_CBID_CORE2_DomainRegisterStringA);
SAME_NUMBER(LP_NVTX_DOMAIN_REGISTER_STRING_W, NVTX_CBID_CORE2_DomainRegisterStringW);
SAME_NUMBER(LP_NVTX_DOMAIN_CREATE_A, NVTX_CBID_CORE2_DomainCreateA);
SAME_NUMBER(LP_NVTX_DOMAIN_CREATE_W, NVTX_CBID_CORE2_DomainCreateW);
SAME_NUMBER(LP_NVTX_MESSAGE_ASCII, NVTX_MESSAGE_TYPE_ASCII);
SAME_NUMBER(LP_NVTX_MESSAGE_WIDE, NVTX_MESSAGE_TYPE_UNICODE);
SAME_NUMBER(LP_NVTX_MESSAGE_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED);
SAME_NUMBER(LP_NVTX_PAYLOAD_UINT64, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64);
SAME_NUMBER(LP_NVTX_PAYLOAD_INT64, NVTX_PAYLOAD_TYPE_INT64);
SAME_NUMBER(LP_NVTX_PAYLOAD_UINT32, NVTX_PAYLOAD_TYPE_UNSIGNED_INT32);
SAME_NUMBER(LP_NVTX_PAYLOAD_INT32, NVTX_PAYLOAD_TYPE_INT32);

#ifdef HAVE_PAYLOAD
SAME_NUMBER(LP_NVTX_EXTENSION_PAYLOAD, NVTX_EXT_PAYLOAD_MODULEID);
SAME_NUMBER(LP_NVTX_RANGE_PUSH_PAYLOAD, NVTX3EXT_CBID_nvtxRangePushPayload);
SAME_NUMBER(LP_NVTX_RANGE_POP_PAYLOAD, NVTX3EXT_CBID_nvtxRangePopPayload);
SAME_NUMBER(LP_NVTX_RANGE_START_PAYLOAD, NVTX3EXT_CBID_nvtxRangeStartPayload);
SAME_NUMBER(LP_NVTX_RANGE_END_PAYLOAD, NVTX3EXT_CBID_nvtxRangeEndPayload);
static_assert(sizeof(struct lp_nvtx_segment) == sizeof(nvtxExtModuleSegment_t) &&
                  offsetof(struct lp_nvtx_segment, slot_count) ==
                      offsetof(nvtxExtModuleSegment_t, slotCount) &&
                  offsetof(struct lp_nvtx_segment, slots) ==
                      offsetof(nvtxExtModuleSegment_t, functionSlots),
              "segment");
static_assert(sizeof(struct lp_nvtx_extension) == sizeof(nvtxExtModuleInfo_t) &&
                  offsetof(struct lp_nvtx_extension, struct_size) ==
                      offsetof(nvtxExtModuleInfo_t, structSize) &&
                  offsetof(struct lp_nvtx_extension, module) ==
                      offsetof(nvtxExtModuleInfo_t, moduleId) &&
                  offsetof(struct lp_nvtx_extension, segment_count) ==
                      offsetof(nvtxExtModuleInfo_t, segmentsCount) &&
                  offsetof(struct lp_nvtx_extension, segments) ==
                      offsetof(nvtxExtModuleInfo_t, segments),
              "extension");
#endif
