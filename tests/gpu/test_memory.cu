/* SPDX-License-Identifier: Apache-2.0 */
/* Known allocations: exact counts and bytes by region, peaks of stages, and each way to allocate:
 * cudaMalloc, pitched, from a pool, and virtual memory. Allocations that are captured into a graph
 * allocate nothing yet. */
#include <cuda.h>
#include <dlfcn.h>

#include "tests/gpu/check.h"

#define MIB   UINT64_C(1048576)
#define STEPS 10

/* A member of the row of metrics.json about this region, quoted, or null. */
static uint64_t number_of(const char *json, const char *region, const char *member)
{
    char wanted[160];
    const char *at = strstr(json, "\"memory\": ["), *end;

    snprintf(wanted, sizeof(wanted), "\"region\": %s,", region);
    if (!at || !(at = strstr(at, wanted)) || !(end = strchr(at, '}'))) {
        CHECK(false, "no memory of %s", region);
        return 0;
    }
    snprintf(wanted, sizeof(wanted), "\"%s\": ", member);
    at = strstr(at, wanted);
    CHECK(at && at < end, "%s has no %s", region, member);
    return at && at < end ? strtoull(at + strlen(wanted), NULL, 10) : 0;
}

static void expect(const char *json, const char *region, const char *member, uint64_t expected)
{
    uint64_t found = number_of(json, region, member);

    printf("%-20s %-16s %llu\n", region, member, (unsigned long long)found);
    CHECK(found == expected, "%s %s is %llu, not %llu", region, member, (unsigned long long)found,
          (unsigned long long)expected);
}

/* As PyTorch's expandable segments: handles of physical memory. */
static uint64_t use_virtual_memory(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    auto create = (decltype(&cuMemCreate))dlsym(library, "cuMemCreate");
    auto release = (decltype(&cuMemRelease))dlsym(library, "cuMemRelease");
    CUmemAllocationProp wanted = {};
    CUmemGenericAllocationHandle handles[3];

    wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    wanted.location.id = 0;
    for (CUmemGenericAllocationHandle &handle : handles)
        CHECK(create(&handle, 2 * MIB, &wanted, 0) == CUDA_SUCCESS, "cuMemCreate");
    CHECK(release(handles[0]) == CUDA_SUCCESS, "cuMemRelease");
    return 3 * 2 * MIB;
}

/* An allocation node, a kernel and a free node. */
static void capture_allocation(cudaStream_t stream)
{
    cudaGraph_t graph;
    void *block;

    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CUDA(cudaMallocAsync(&block, 7 * MIB, stream));
    spin<<<1, 1, 0, stream>>>(1000);
    CUDA(cudaFreeAsync(block, stream));
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphDestroy(graph));
}

/* A pool of the program beside that of the device; both keep what was freed. */
static void use_pools(cudaStream_t stream)
{
    cudaMemPoolProps wanted = {};
    uint64_t keep = UINT64_MAX;
    cudaMemPool_t pool;
    void *block, *other;

    wanted.allocType = cudaMemAllocationTypePinned;
    wanted.location.type = cudaMemLocationTypeDevice;
    CUDA(cudaMemPoolCreate(&pool, &wanted));
    CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    CUDA(cudaMallocFromPoolAsync(&block, 100 * MIB, pool, stream));
    CUDA(cudaMallocAsync(&other, 50 * MIB, stream));
    CUDA(cudaFreeAsync(block, stream));
    CUDA(cudaFreeAsync(other, stream));
    CUDA(cudaStreamSynchronize(stream));
}

static void check_rows(const char *json, uint64_t virtual_bytes, size_t pitch)
{
    uint64_t used = number_of(json, "null", "pool_used_bytes");
    uint64_t reserved = number_of(json, "null", "pool_reserved_bytes");

    expect(json, "\"\"", "allocations", 1);
    expect(json, "\"\"", "live_bytes", 64 * MIB);
    expect(json, "\"LLM@prefill\"", "allocated_bytes", 32 * MIB);
    expect(json, "\"LLM@prefill\"", "peak_bytes", 96 * MIB);
    expect(json, "\"LLM@decode_step\"", "allocations", STEPS);
    expect(json, "\"LLM@decode_step\"", "frees", STEPS);
    expect(json, "\"LLM@decode_step\"", "allocated_bytes", STEPS * 5 * MIB);
    expect(json, "\"LLM@decode_step\"", "live_bytes", 0);
    expect(json, "\"LLM@decode_step\"", "peak_bytes", 101 * MIB);
    expect(json, "\"LLM@kv_cache\"", "held_bytes", 150 * MIB);
    expect(json, "null", "cache_allocated_bytes", 150 * MIB);
    expect(json, "null", "largest_bytes", 100 * MIB);
    CHECK(used >= 150 * MIB && used <= 250 * MIB, "%llu bytes of pools in use",
          (unsigned long long)used);
    CHECK(reserved >= used && reserved <= used + 128 * MIB, "%llu bytes of pools reserved",
          (unsigned long long)reserved);
    expect(json, "\"LLM@captured\"", "allocations", 0);
    expect(json, "\"LLM@virtual\"", "allocated_bytes", virtual_bytes);
    expect(json, "\"LLM@virtual\"", "live_bytes", virtual_bytes - 2 * MIB);
    expect(json, "\"LLM@pitched\"", "allocated_bytes", pitch * 7);
    expect(json, "\"LLM@pitched\"", "freed_bytes", pitch * 7);
    expect(json, "\"LLM@other\"", "allocations", 0);
    expect(json, "\"LLM@other\"", "unmatched", 1);
    expect(json, "null", "unmatched", 2); /* with the captured free */
    expect(json, "null", "kept_bytes", 64 * MIB);
    expect(json, "null", "live_bytes", 96 * MIB + virtual_bytes - 2 * MIB);
}

int main(void)
{
    void *old, *weights, *cache, *block, *pitched, *none = NULL;
    llmperf_session *session;
    llmperf_profile *profile;
    cudaStream_t stream;
    uint64_t virtual_bytes;
    char *json = NULL;
    size_t pitch;

    need_device(1);
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaMalloc(&old, 3 * MIB));
    CUDA(cudaMallocAsync(&block, MIB, stream));
    CUDA(cudaFreeAsync(block, stream));
    spin<<<1, 1, 0, stream>>>(1000);
    CUDA(cudaStreamSynchronize(stream));
    session = start_session(LLMPERF_TIER_DEEP, 0);
    CUDA(cudaMalloc(&weights, 64 * MIB));
    llmperf_prefill_begin(5);
    CUDA(cudaMalloc(&cache, 32 * MIB));
    spin<<<1, 1, 0, stream>>>(1000);
    llmperf_prefill_end();
    for (int i = 0; i < STEPS; i++) {
        llmperf_decode_step_begin(1, 5);
        CUDA(cudaMallocAsync(&block, 5 * MIB, stream));
        spin<<<1, 1, 0, stream>>>(1000);
        CUDA(cudaFreeAsync(block, stream));
        llmperf_decode_step_end();
    }
    llmperf_region_begin("captured");
    capture_allocation(stream);
    llmperf_region_end();
    llmperf_region_begin("kv_cache");
    use_pools(stream);
    llmperf_region_end();
    llmperf_region_begin("virtual");
    virtual_bytes = use_virtual_memory();
    llmperf_region_end();
    llmperf_region_begin("pitched");
    CUDA(cudaMallocPitch(&pitched, &pitch, 1000, 7));
    CUDA(cudaFree(pitched));
    llmperf_region_end();
    llmperf_region_begin("other");
    CHECK(cudaMalloc(&none, (size_t)1 << 60) != cudaSuccess, "2^60 bytes");
    cudaGetLastError();
    CUDA(cudaFree(old));
    CUDA(cudaFree(NULL));
    llmperf_region_end();
    CUDA(cudaStreamSynchronize(stream));
    profile = stop_session(session);
    expect_complete(profile);
    CHECK(llmperf_document_text(profile, LLMPERF_DOCUMENT_METRICS_JSON, &json) == LLMPERF_OK, "%s",
          llmperf_last_error());
    check_rows(json, virtual_bytes, pitch);
    llmperf_text_free(json);
    llmperf_profile_free(profile);
    return finish();
}
