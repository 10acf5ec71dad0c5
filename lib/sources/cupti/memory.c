/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sources/cupti/memory.h"

#include "lib/record/host_calls.h"
#include "lib/record/record.h"
#include "lib/regions/threads.h"
#include "lib/device/driver.h"
#include "lib/sources/cupti/calls.h"

/* The first versions of these calls have 32-bit addresses. */
#define MEM_ALLOC       29
#define MEM_ALLOC_PITCH 31
#define MEM_FREE        33

/* Each parameter has 8 bytes. */
static uint64_t parameter(const struct lp_cupti_callback_data *data, size_t index)
{
    return ((const uint64_t *)data->function_parameters)[index];
}

/* What a parameter points to. */
static uint64_t target(const struct lp_cupti_callback_data *data, size_t index)
{
    const uint64_t *pointer = (const uint64_t *)(uintptr_t)parameter(data, index);

    return pointer ? *pointer : 0;
}

static uint32_t device_of(const struct lp_cupti *cupti, const struct lp_cupti_callback_data *data)
{
    uint32_t device = 0;

    if (!data->context || !cupti->GetDeviceId ||
        cupti->GetDeviceId(data->context, &device) != LP_CUPTI_SUCCESS)
        return 0;
    return device;
}

static void allocated(enum lp_memory_space space, uint32_t device, uint64_t value, uint64_t bytes)
{
    if (value == 0 || bytes == 0)
        return;
    lp_thread_memory(lp_memory_detail(LP_MEMORY_BYTES, space, device), bytes);
    lp_thread_memory(lp_memory_detail(LP_MEMORY_ALLOCATED, space, device), value);
}

/* Asked for after the call: CUPTI's own records of pools differ between its versions. */
static void note_pool(uint32_t device, uint64_t pool)
{
    uint64_t reserved, used;

    if (!lp_driver_pool(device, &pool, &reserved, &used))
        return;
    lp_thread_memory(lp_memory_detail(LP_MEMORY_POOL, LP_MEMORY_ADDRESS, device), pool);
    lp_thread_memory(lp_memory_detail(LP_MEMORY_POOL_RESERVED, LP_MEMORY_ADDRESS, device),
                     reserved);
    lp_thread_memory(lp_memory_detail(LP_MEMORY_POOL_USED, LP_MEMORY_ADDRESS, device), used);
}

/* Memory with a handle may also be of the host. */
static void created(const struct lp_cupti_callback_data *data)
{
    const struct lp_cupti_allocation *wanted =
        (const struct lp_cupti_allocation *)(uintptr_t)parameter(data, 2);

    if (wanted && wanted->location_type == LP_CUPTI_LOCATION_DEVICE && wanted->location >= 0)
        allocated(LP_MEMORY_HANDLE, (uint32_t)wanted->location, target(data, 0),
                  parameter(data, 1));
}

static void end_call(const struct lp_cupti *cupti, uint32_t call,
                     const struct lp_cupti_callback_data *data)
{
    const int *result = data->function_return_value;
    uint32_t device = device_of(cupti, data);

    if (!result || *result != 0)
        return;
    if (call == LP_CALL_cuMemCreate)
        created(data);
    else if (call == LP_CALL_cuMemRetainAllocationHandle)
        lp_thread_memory(lp_memory_detail(LP_MEMORY_RETAINED, LP_MEMORY_HANDLE, device),
                         target(data, 0));
    else if (call == LP_CALL_cuMemAllocPitch)
        allocated(LP_MEMORY_ADDRESS, device, target(data, 0), target(data, 1) * parameter(data, 3));
    else
        allocated(LP_MEMORY_ADDRESS, device, target(data, 0), parameter(data, 1));
    if (call == LP_CALL_cuMemAllocAsync || call == LP_CALL_cuMemAllocFromPoolAsync)
        note_pool(device, call == LP_CALL_cuMemAllocFromPoolAsync ? parameter(data, 2) : 0);
}

void lp_cupti_memory_call(const struct lp_cupti *cupti, uint32_t id,
                          const struct lp_cupti_callback_data *data)
{
    uint32_t call = lp_cupti_host_calls[id];
    bool enter = data->site == LP_CUPTI_SITE_ENTER;

    if (id == MEM_ALLOC || id == MEM_ALLOC_PITCH || id == MEM_FREE || !data->function_parameters)
        return;
    /* Another thread may be given the memory before the call returns. */
    if (enter && lp_host_call_purpose(call) == LP_HOST_FREE && parameter(data, 0) != 0)
        lp_thread_memory(
            lp_memory_detail(LP_MEMORY_FREED,
                             call == LP_CALL_cuMemRelease ? LP_MEMORY_HANDLE : LP_MEMORY_ADDRESS,
                             device_of(cupti, data)),
            parameter(data, 0));
    if (!enter && (lp_host_call_purpose(call) == LP_HOST_ALLOCATE ||
                   call == LP_CALL_cuMemRetainAllocationHandle))
        end_call(cupti, call, data);
}
