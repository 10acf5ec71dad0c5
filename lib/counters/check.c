/* SPDX-License-Identifier: Apache-2.0 */
/* Compares our declarations of CUPTI's profiling interfaces with the toolkit's headers. Compiled
 * where the build finds them; generates no code. Headers before 13.0 have fewer names. */
#include <assert.h>

#include "lib/counters/abi.h"
#include "lib/cupti/cbids.h"

#include <cupti.h>

#if CUPTI_API_VERSION >= 130000
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
#define SAME_STRUCT(ours, theirs)                                                                  \
    __attribute__((unused)) static void check_##theirs(void)                                       \
    {                                                                                              \
        typedef struct ours ours_type;                                                             \
        typedef theirs their_type;                                                                 \
        static_assert(offsetof(ours_type, tail) <= theirs##_STRUCT_SIZE, #ours);                   \
        SAME_MEMBER(void *, priv, pPriv)
#define SAME_LAST(type, field, their_field)                                                        \
    SAME_MEMBER(type, field, their_field)                                                          \
    }
#define SAME_NUMBER(ours, number, theirs) static_assert((int)(ours) == (int)(theirs), #ours);

LP_CUPTI_PROFILER_NUMBERS(SAME_NUMBER)
LP_CUPTI_PROFILER_STRUCTS(SAME_STRUCT, SAME_MEMBER, SAME_LAST)

/* Other calls that take the same structs. */
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
