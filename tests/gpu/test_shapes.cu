/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of known geometry, copies between known kinds of memory: the rows of kernel shapes say
 * the same, and their occupancy is what the CUDA runtime computes. */
#include "tests/gpu/check.h"

#define SHARED_FLOATS 256
#define BYTES         (1 << 20)
#define LIMIT         64 /* shapes of a kernel that have rows of their own */

static __global__ void tile(float *out, int rounds)
{
    __shared__ float fixed[SHARED_FLOATS];
    extern __shared__ float asked[];
    int i = threadIdx.x + threadIdx.y * blockDim.x;

    fixed[i % SHARED_FLOATS] = i;
    __syncthreads();
    for (int round = 0; round < rounds; round++)
        out[blockIdx.x] += fixed[(i + round) % SHARED_FLOATS] + (rounds > 100 ? asked[0] : 0);
}

static __global__ void many(int *out)
{
    out[0] = 1;
}

struct wanted {
    const char *region;
    dim3 grid, block;
    unsigned dynamic;
    uint64_t calls;
};

static bool is_shape(const llmperf_kernel_shape *row, const struct wanted *wanted)
{
    return strstr(row->name, "tile") && strcmp(row->region, wanted->region) == 0 &&
           row->grid_x == wanted->grid.x && row->grid_y == wanted->grid.y &&
           row->grid_z == wanted->grid.z && row->block_x == wanted->block.x &&
           row->block_y == wanted->block.y && row->block_z == wanted->block.z &&
           row->dynamic_shared_bytes == wanted->dynamic;
}

static void check_kernel(const llmperf_profile *profile, const struct wanted *wanted)
{
    llmperf_kernel_shape row = LLMPERF_KERNEL_SHAPE_INIT;
    int threads = (int)(wanted->block.x * wanted->block.y * wanted->block.z), blocks = 0, sms = 0;
    cudaFuncAttributes attributes;
    size_t found = 0;

    CUDA(cudaFuncGetAttributes(&attributes, tile));
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tile, threads, wanted->dynamic));
    CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_KERNEL_SHAPES); i++) {
        llmperf_profile_kernel_shape(profile, i, &row);
        if (!is_shape(&row, wanted))
            continue;
        found++;
        printf("%s grid %u: %llu calls, %llu registers, %llu + %llu bytes, %llu blocks per SM, "
               "occupancy %.3f, %.3f waves, tail %.3f, launch call %.3f us\n",
               row.region, wanted->grid.x, (unsigned long long)row.calls,
               (unsigned long long)row.registers, (unsigned long long)row.static_shared_bytes,
               (unsigned long long)row.dynamic_shared_bytes, (unsigned long long)row.blocks_per_sm,
               row.occupancy, row.waves, row.tail_share,
               row.launch_ms * 1e3 / (double)row.timed_launches);
        CHECK(row.calls == wanted->calls, "%llu calls", (unsigned long long)row.calls);
        CHECK(row.registers == (uint64_t)attributes.numRegs, "the runtime says %d",
              attributes.numRegs);
        CHECK(row.static_shared_bytes == attributes.sharedSizeBytes, "the runtime says %zu",
              attributes.sharedSizeBytes);
        CHECK(row.blocks_per_sm == (uint64_t)blocks, "the runtime says %d", blocks);
        CHECK(fabs(row.waves - (double)wanted->grid.x * wanted->grid.y * wanted->grid.z /
                                   ((double)sms * blocks)) < 1e-9,
              "%d SMs", sms);
        CHECK(row.total_ms > 0 && row.min_ms <= row.mean_ms + 1e-9 &&
                  row.mean_ms <= row.max_ms + 1e-9,
              "%f ms in all", row.total_ms);
        if (!row.captured_in) {
            CHECK(row.timed_launches == row.calls, "%llu", (unsigned long long)row.timed_launches);
            CHECK(row.launch_ms > 0, "%f ms", row.launch_ms);
        } else {
            CHECK(row.timed_launches == 0 && isnan(row.launch_ms), "%f ms", row.launch_ms);
        }
    }
    CHECK(found == 1, "%zu rows of the shape in %s", found, wanted->region);
}

static void check_copy(const llmperf_profile *profile, const char *name, const char *source,
                       const char *destination, const char *call)
{
    llmperf_kernel_shape row = LLMPERF_KERNEL_SHAPE_INIT;

    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_KERNEL_SHAPES); i++) {
        llmperf_profile_kernel_shape(profile, i, &row);
        if (strcmp(row.name, name) != 0 || strcmp(row.region, "LLM@copies") != 0)
            continue;
        printf("%s: %s to %s, %s, %llu bytes\n", name, row.source ? row.source : "?",
               row.destination ? row.destination : "?", row.call ? row.call : "?",
               (unsigned long long)row.bytes);
        CHECK(!source || (row.source && strcmp(row.source, source) == 0), "%s", name);
        CHECK(row.destination && strcmp(row.destination, destination) == 0, "%s", name);
        CHECK(row.call && strcmp(row.call, call) == 0, "%s", name);
        CHECK(row.bytes == BYTES, "%s", name);
        return;
    }
    CHECK(false, "no row of %s", name);
}

static void check_limit(const llmperf_profile *profile, uint64_t calls)
{
    llmperf_kernel_shape row = LLMPERF_KERNEL_SHAPE_INIT;
    uint64_t own = 0, others = 0;

    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_KERNEL_SHAPES); i++) {
        llmperf_profile_kernel_shape(profile, i, &row);
        if (!strstr(row.name, "many"))
            continue;
        *(row.others ? &others : &own) += row.calls;
        CHECK(!row.others || row.grid_x == LLMPERF_UNKNOWN, "the others have a grid");
    }
    CHECK(own == LIMIT && own + others == calls, "%llu and %llu calls", (unsigned long long)own,
          (unsigned long long)others);
}

static void copy_all(cudaStream_t stream, void *device, void *other, void *pageable, void *pinned)
{
    llmperf_region_begin("copies");
    CUDA(cudaMemcpy(device, pageable, BYTES, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaMemcpyAsync(other, device, BYTES, cudaMemcpyDeviceToDevice, stream));
    CUDA(cudaMemsetAsync(other, 0, BYTES, stream));
    CUDA(cudaStreamSynchronize(stream));
    llmperf_region_end();
}

static cudaGraphExec_t make_graph(cudaStream_t stream, float *out, const struct wanted *wanted)
{
    cudaGraphExec_t exec;
    cudaGraph_t graph;

    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    tile<<<wanted->grid, wanted->block, wanted->dynamic, stream>>>(out, 1);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphDestroy(graph));
    return exec;
}

int main(void)
{
    const struct wanted wanted[] = { { "LLM@a", dim3(16, 8, 2), dim3(64, 2, 1), 2048, 10 },
                                     { "LLM@a", dim3(33, 1, 1), dim3(96, 1, 1), 0, 5 },
                                     { "LLM@a", dim3(300, 1, 1), dim3(256, 1, 1), 40960, 2 },
                                     { "LLM@graph", dim3(7, 1, 1), dim3(32, 1, 1), 0, 3 } };
    void *device, *other, *pinned, *pageable = calloc(1, BYTES);
    llmperf_session *session;
    llmperf_profile *profile;
    cudaGraphExec_t exec;
    cudaStream_t stream;

    need_device(1);
    CUDA(cudaMalloc(&device, BYTES));
    CUDA(cudaMalloc(&other, BYTES));
    CUDA(cudaMallocHost(&pinned, BYTES));
    CUDA(cudaStreamCreate(&stream));
    tile<<<1, 32, 0, stream>>>((float *)device, 1); /* loaded before the session */
    many<<<1, 1, 0, stream>>>((int *)device);
    CUDA(cudaStreamSynchronize(stream));
    session = start_session(LLMPERF_TIER_DEEP, 0);
    llmperf_region_begin("a");
    for (int shape = 0; shape < 3; shape++)
        for (uint64_t i = 0; i < wanted[shape].calls; i++)
            tile<<<wanted[shape].grid, wanted[shape].block, wanted[shape].dynamic, stream>>>(
                (float *)device, 10);
    llmperf_region_end();
    exec = make_graph(stream, (float *)device, &wanted[3]);
    llmperf_region_begin("graph");
    for (uint64_t i = 0; i < wanted[3].calls; i++)
        CUDA(cudaGraphLaunch(exec, stream));
    llmperf_region_end();
    llmperf_region_begin("many");
    for (unsigned i = 1; i <= LIMIT + 6; i++)
        many<<<i, 1, 0, stream>>>((int *)device);
    llmperf_region_end();
    copy_all(stream, device, other, pageable, pinned);
    profile = stop_session(session);
    expect_complete(profile);
    for (const struct wanted &one : wanted)
        check_kernel(profile, &one);
    check_limit(profile, LIMIT + 6);
    check_copy(profile, "[memcpy HtoD]", "pageable", "device", "sync");
    check_copy(profile, "[memcpy DtoH]", "device", "pinned", "async");
    check_copy(profile, "[memcpy DtoD]", "device", "device", "async");
    check_copy(profile, "[memset]", NULL, "device", "async");
    llmperf_profile_free(profile);
    return finish();
}
