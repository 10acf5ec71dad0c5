/* SPDX-License-Identifier: Apache-2.0 */
/* Compares nvtx_abi.h with NVIDIA's headers. Compiled if the build finds them; contains no code. */
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
#define SAME_NAMED(ours, number, theirs) SAME_NUMBER(ours, theirs);
LP_NVTX_NUMBERS(SAME_NAMED)

#ifdef HAVE_PAYLOAD
SAME_NUMBER(LP_NVTX_EXTENSION_PAYLOAD, NVTX_EXT_PAYLOAD_MODULEID);
SAME_NUMBER(LP_NVTX_SCHEMA_REGISTER, NVTX3EXT_CBID_nvtxPayloadSchemaRegister);
SAME_NUMBER(LP_NVTX_RANGE_PUSH_PAYLOAD, NVTX3EXT_CBID_nvtxRangePushPayload);
SAME_NUMBER(LP_NVTX_RANGE_POP_PAYLOAD, NVTX3EXT_CBID_nvtxRangePopPayload);
SAME_NUMBER(LP_NVTX_RANGE_START_PAYLOAD, NVTX3EXT_CBID_nvtxRangeStartPayload);
SAME_NUMBER(LP_NVTX_RANGE_END_PAYLOAD, NVTX3EXT_CBID_nvtxRangeEndPayload);
SAME_NUMBER(LP_NVTX_PAYLOAD_EXTENDED, NVTX_PAYLOAD_TYPE_EXT);
static_assert(sizeof(struct lp_nvtx_payload) == sizeof(nvtxPayloadData_t) &&
                  offsetof(struct lp_nvtx_payload, bytes) == offsetof(nvtxPayloadData_t, payload),
              "payload");
static_assert(sizeof(struct lp_nvtx_schema_entry) == sizeof(nvtxPayloadSchemaEntry_t) &&
                  offsetof(struct lp_nvtx_schema_entry, name) ==
                      offsetof(nvtxPayloadSchemaEntry_t, name) &&
                  offsetof(struct lp_nvtx_schema_entry, offset) ==
                      offsetof(nvtxPayloadSchemaEntry_t, offset),
              "schema entry");
static_assert(sizeof(struct lp_nvtx_schema) == sizeof(nvtxPayloadSchemaAttr_t) &&
                  offsetof(struct lp_nvtx_schema, entries) ==
                      offsetof(nvtxPayloadSchemaAttr_t, entries) &&
                  offsetof(struct lp_nvtx_schema, id) ==
                      offsetof(nvtxPayloadSchemaAttr_t, schemaId),
              "schema");
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
