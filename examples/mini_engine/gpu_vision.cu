/* SPDX-License-Identifier: Apache-2.0 */
/* What images need: neighbourhoods, windows, tables of positions. */
#include "gpu.cuh"

namespace engine
{

/* A thread an element of the output. */
__global__ void unfold_kernel(struct unfold a, size_t rows, size_t columns)
{
    size_t at = thread_index(), i = at % a.y_stride, place = at / a.y_stride;
    size_t column = place % columns, row = place / columns % rows, image = place / columns / rows;
    size_t tap = i / a.channels, y = row * a.stride + tap / a.kernel;
    size_t x = column * a.stride + tap % a.kernel;

    if (image >= a.images)
        return;
    if (tap >= a.kernel * a.kernel || y < a.padding || x < a.padding || y >= a.height + a.padding ||
        x >= a.width + a.padding)
        a.y[at] = 0;
    else
        a.y[at] = a.x[((image * a.height + y - a.padding) * a.width + x - a.padding) * a.channels +
                      i % a.channels];
}

/* A thread an element of the windows, whichever way it goes. */
__global__ void windows_kernel(struct windows a, size_t side)
{
    size_t at = thread_index(), c = at % a.width, square = a.window * a.window;
    size_t in = at / a.width % square, which = at / a.width / square % (side * side);
    size_t image = at / a.width / square / (side * side), flat;
    size_t y = which / side * a.window + in / a.window, x = which % side * a.window + in % a.window;
    bool inside = y < a.grid && x < a.grid;

    if (image >= a.images)
        return;
    flat = ((image * a.grid + y) * a.grid + x) * a.width + c;
    if (!a.merge)
        a.y[at] = inside ? a.x[flat] : 0;
    else if (inside)
        store(a.y + flat, load(a.y + flat) + load(a.x + at));
}

/* Where element i of `to` lies between the elements of `from`; the middle of a pixel is at .5. */
struct between {
    size_t low, high;
    float part;
};

__device__ struct between between_of(size_t i, size_t to, size_t from)
{
    float at = fmaxf(((float)i + 0.5f) * (float)from / (float)to - 0.5f, 0.0f);
    struct between out;

    out.low = (size_t)at < from - 1 ? (size_t)at : from - 1;
    out.high = out.low < from - 1 ? out.low + 1 : out.low;
    out.part = at - (float)out.low;
    return out;
}

__device__ float blend(float low, float high, float part)
{
    return low + (high - low) * part;
}

__global__ void place_kernel(struct place a)
{
    size_t rows = a.skip + a.grid * a.grid, at = thread_index(), c = at % a.width;
    size_t r = at / a.width % rows, cell = r - a.skip;
    const bf16 *table = a.table + a.skip * a.width + c;
    struct between row, column;
    float plus;

    if (at / a.width >= a.images * rows)
        return;
    if (r < a.skip) {
        plus = load(a.table + r * a.width + c);
    } else {
        row = between_of(cell / a.grid, a.grid, a.table_grid);
        column = between_of(cell % a.grid, a.grid, a.table_grid);
        plus = blend(
            blend(load(table + (row.low * a.table_grid + column.low) * a.width),
                  load(table + (row.low * a.table_grid + column.high) * a.width), column.part),
            blend(load(table + (row.high * a.table_grid + column.low) * a.width),
                  load(table + (row.high * a.table_grid + column.high) * a.width), column.part),
            row.part);
    }
    store(a.x + at, load(a.x + at) + plus);
}

/* A block the queries of one line: a row's against distances of rows, or (blockIdx.y 1) a column's
 * against distances of columns. A line's queries share the distances to all of its keys. */
__global__ void relative_kernel(struct relative a)
{
    extern __shared__ float memory[];
    int grid = (int)a.grid, dim = (int)a.dim, pitch = dim + 1; /* odd: no bank conflicts */
    float *q = memory, *distances = memory + grid * pitch;
    int line = (int)(blockIdx.x % a.grid), columns = blockIdx.y;
    const bf16 *table = columns ? a.column_table : a.row_table;
    size_t first = blockIdx.x / a.grid * a.grid * a.grid + (columns ? line : line * grid);
    size_t step = columns ? grid : 1;
    float *out = columns ? a.columns : a.rows;

    for (int e = threadIdx.x; e < grid * dim; e += THREADS) {
        int i = e / dim, c = e % dim;
        struct between at = between_of(line + grid - 1 - i, 2 * a.grid - 1, 2 * a.table_grid - 1);

        q[i * pitch + c] = load(a.q + (first + i * step) * dim + c);
        distances[i * pitch + c] =
            blend(load(table + at.low * dim + c), load(table + at.high * dim + c), at.part);
    }
    __syncthreads();
    for (int o = threadIdx.x; o < grid * grid; o += THREADS) {
        const float *left = q + o / grid * pitch, *right = distances + o % grid * pitch;
        float sum = 0;

        for (int c = 0; c < dim; c++)
            sum += left[c] * right[c];
        out[(first + o / grid * step) * grid + o % grid] = sum;
    }
}

} // namespace engine

using namespace engine;

static void unfold(struct ops *ops, struct unfold a)
{
    size_t rows = (a.height + 2 * a.padding - a.kernel) / a.stride + 1;
    size_t columns = (a.width + 2 * a.padding - a.kernel) / a.stride + 1;
    size_t count = a.images * rows * columns * a.y_stride;

    unfold_kernel<<<blocks_for(count), THREADS, 0, gpu_of(ops)->stream>>>(a, rows, columns);
    gpu_launched(ops, "unfold");
}

static void windows(struct ops *ops, struct windows a)
{
    size_t side = (a.grid + a.window - 1) / a.window;
    size_t count = a.images * side * side * a.window * a.window * a.width;

    windows_kernel<<<blocks_for(count), THREADS, 0, gpu_of(ops)->stream>>>(a, side);
    gpu_launched(ops, "windows");
}

static void place(struct ops *ops, struct place a)
{
    size_t count = a.images * (a.skip + a.grid * a.grid) * a.width;

    place_kernel<<<blocks_for(count), THREADS, 0, gpu_of(ops)->stream>>>(a);
    gpu_launched(ops, "place");
}

static void relative(struct ops *ops, struct relative a)
{
    size_t bytes = 2 * a.grid * (a.dim + 1) * sizeof(float);
    dim3 blocks((unsigned)(a.batch * a.grid), 2);

    if (!gpu_good(ops,
                  cudaFuncSetAttribute(relative_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       (int)bytes),
                  "shared memory of relative positions"))
        return;
    relative_kernel<<<blocks, THREADS, bytes, gpu_of(ops)->stream>>>(a);
    gpu_launched(ops, "relative");
}

void gpu_add_vision(struct ops *ops)
{
    ops->unfold = unfold;
    ops->windows = windows;
    ops->place = place;
    ops->relative = relative;
}
