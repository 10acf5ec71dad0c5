/* SPDX-License-Identifier: Apache-2.0 */
/* Compares our declarations of CUPTI's profiling interfaces with the toolkit's headers. Compiled
 * where the build finds them; generates no code. Headers before 13.0 have fewer names. */
#include <assert.h>

#include "lib/counters/abi.h"
#include "lib/cupti/cbids.h"

#include <cupti.h>

#if CUPTI_API_VERSION >= 130000
#include <cupti_pcsampling.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#define SAME_MEMBER(type, field, their_field)                                                      \
    static_assert(offsetof(ours_type, field) == offsetof(their_type, their_field) &&               \
                      sizeof(((ours_type *)0)->field) == sizeof(((their_type *)0)->their_field),   \
                  #field);
/* The last field decides the size given to CUPTI. Newer headers have more fields after it, which
 * CUPTI does not access, by that size. */
#define SAME_SIZED(ours, theirs, bytes)                                                            \
    __attribute__((unused)) static void check_##theirs(void)                                       \
    {                                                                                              \
        typedef struct ours ours_type;                                                             \
        typedef theirs their_type;                                                                 \
        static_assert(offsetof(ours_type, tail) <= (bytes), #ours);                                \
        SAME_MEMBER(void *, priv, pPriv)
#define SAME_STRUCT(ours, theirs)    SAME_SIZED(ours, theirs, theirs##_STRUCT_SIZE)
#define SAME_PC_STRUCT(ours, theirs) SAME_SIZED(ours, theirs, theirs##Size)
#define SAME_LAST(type, field, their_field)                                                        \
    SAME_MEMBER(type, field, their_field)                                                          \
    }
#define SAME_NUMBER(ours, number, theirs) static_assert((int)(ours) == (int)(theirs), #ours);
#define SAME_ATTRIBUTE(ours, number, theirs)                                                       \
    SAME_NUMBER(LP_CUPTI_PC_##ours, number, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_##theirs)

LP_CUPTI_PROFILER_NUMBERS(SAME_NUMBER)
LP_CUPTI_PC_ATTRIBUTES(SAME_ATTRIBUTE)
LP_CUPTI_PROFILER_STRUCTS(SAME_STRUCT, SAME_MEMBER, SAME_LAST)
LP_CUPTI_PC_STRUCTS(SAME_PC_STRUCT, SAME_MEMBER, SAME_LAST)

/* Structs without that head: all of them is given to CUPTI. */
#define SAME_WHOLE(ours, theirs)                                                                   \
    __attribute__((unused)) static void check_##theirs(void)                                       \
    {                                                                                              \
        typedef struct ours ours_type;                                                             \
        typedef theirs their_type;                                                                 \
        static_assert(sizeof(ours_type) == sizeof(their_type), #ours);
#define WHOLE_STRUCTS(STRUCT, FIELD, LAST)                                                         \
    STRUCT(lp_cupti_pc_attribute, CUpti_PCSamplingConfigurationInfo)                               \
    FIELD(, type, attributeType)                                                                   \
    FIELD(, status, attributeStatus)                                                               \
    FIELD(, value, attributeData)                                                                  \
    FIELD(, value.number, attributeData.samplingPeriodData.samplingPeriod)                         \
    FIELD(, value.reasons.count, attributeData.stallReasonData.stallReasonCount)                   \
    LAST(, value.reasons.indices, attributeData.stallReasonData.pStallReasonIndex)                 \
    STRUCT(lp_cupti_pc_reason, CUpti_PCSamplingStallReason)                                        \
    FIELD(, index, pcSamplingStallReasonIndex)                                                     \
    LAST(, samples, samples)                                                                       \
    STRUCT(lp_cupti_pc_record, CUpti_PCSamplingPCData)                                             \
    FIELD(, cubin_crc, cubinCrc)                                                                   \
    FIELD(, offset, pcOffset)                                                                      \
    FIELD(, name, functionName)                                                                    \
    FIELD(, reason_count, stallReasonCount)                                                        \
    FIELD(, reasons, stallReason)                                                                  \
    LAST(, correlation, correlationId)                                                             \
    STRUCT(lp_cupti_pc_data, CUpti_PCSamplingData)                                                 \
    FIELD(, most, collectNumPcs)                                                                   \
    FIELD(, samples, totalSamples)                                                                 \
    FIELD(, dropped, droppedSamples)                                                               \
    FIELD(, count, totalNumPcs)                                                                    \
    FIELD(, remaining, remainingNumPcs)                                                            \
    FIELD(, records, pPcData)                                                                      \
    FIELD(, other_samples, nonUsrKernelsTotalSamples)                                              \
    LAST(, buffer_full, hardwareBufferFull)                                                        \
    STRUCT(lp_cupti_source_line, CUpti_GetSassToSourceCorrelationParams)                           \
    FIELD(, cubin, cubin)                                                                          \
    FIELD(, function, functionName)                                                                \
    FIELD(, cubin_size, cubinSize)                                                                 \
    FIELD(, line, lineNumber)                                                                      \
    FIELD(, offset, pcOffset)                                                                      \
    FIELD(, file, fileName)                                                                        \
    LAST(, folder, dirName)                                                                        \
    STRUCT(lp_cupti_cubin_crc, CUpti_GetCubinCrcParams)                                            \
    FIELD(, size, cubinSize)                                                                       \
    FIELD(, cubin, cubin)                                                                          \
    LAST(, crc, cubinCrc)
WHOLE_STRUCTS(SAME_WHOLE, SAME_MEMBER, SAME_LAST)

/* Other calls that take the same structs. */
#define SHARED_PC_STRUCTS(STRUCT, FIELD, LAST)                                                     \
    STRUCT(lp_cupti_pc, CUpti_PCSamplingDisableParams)                                             \
    LAST(void *, context, ctx)                                                                     \
    STRUCT(lp_cupti_pc, CUpti_PCSamplingStartParams)                                               \
    LAST(void *, context, ctx)                                                                     \
    STRUCT(lp_cupti_pc, CUpti_PCSamplingStopParams)                                                \
    LAST(void *, context, ctx)
SHARED_PC_STRUCTS(SAME_PC_STRUCT, SAME_MEMBER, SAME_LAST)
#define SHARED_STRUCTS(STRUCT, FIELD, LAST)                                                        \
    STRUCT(lp_cupti_range, CUpti_RangeProfiler_Start_Params)                                       \
    LAST(lp_cupti_object, object, pRangeProfilerObject)                                            \
    STRUCT(lp_cupti_range, CUpti_RangeProfiler_PopRange_Params)                                    \
    LAST(lp_cupti_object, object, pRangeProfilerObject)                                            \
    STRUCT(lp_cupti_pm, CUpti_PmSampling_Start_Params)                                             \
    LAST(lp_cupti_object, object, pPmSamplingObject)                                               \
    STRUCT(lp_cupti_pm, CUpti_PmSampling_Stop_Params)                                              \
    LAST(lp_cupti_object, object, pPmSamplingObject)                                               \
    STRUCT(lp_cupti_data_init, CUpti_PmSampling_CounterDataImage_Initialize_Params)                \
    FIELD(lp_cupti_object, object, pPmSamplingObject)                                              \
    FIELD(size_t, size, counterDataSize)                                                           \
    LAST(uint8_t *, data, pCounterData)                                                            \
    STRUCT(lp_cupti_profiler, CUpti_Profiler_Initialize_Params)                                    \
    LAST(void *, priv, pPriv)                                                                      \
    STRUCT(lp_cupti_profiler, CUpti_Profiler_DeInitialize_Params)                                  \
    LAST(void *, priv, pPriv)
SHARED_STRUCTS(SAME_STRUCT, SAME_MEMBER, SAME_LAST)

#endif
