/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/measure/matrix.h"

#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/progress.h"
#include "lib/base/status.h"
#include "lib/device/symbol.h"
#include "lib/base/variable.h"
#include "lib/base/vector.h"
#include "lib/measure/blaslt_abi.h"
#include "llmperf/api.h"
#include "lib/hardware/measured_peaks.h"

#define WORKSPACE_BYTES ((size_t)64 << 20)
#define PROPOSALS       6

/* A product that takes longer is not tried at larger sizes. */
#define SLOW_MS 60

/* The search leaves the GPU at the clock that its power limit allows; after a pause the first
 * repeats run at the full clock, and the median gives the sustained rate. */
#define PAUSE_US 200000

/* cublasStatus_t is an int; handles and descriptors are pointers. 0 is success. */
struct blas {
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*desc_create)(void **desc, int compute, int scale);
    int (*desc_set)(void *desc, int attribute, const void *value, size_t bytes);
    int (*desc_destroy)(void *desc);
    int (*layout_create)(void **layout, int type, uint64_t rows, uint64_t columns, int64_t leading);
    int (*layout_destroy)(void *layout);
    int (*preference_create)(void **preference);
    int (*preference_set)(void *preference, int attribute, const void *value, size_t bytes);
    int (*preference_destroy)(void *preference);
    int (*propose)(void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference,
                   int wanted, struct lp_blas_proposal *proposals, int *count);
    int (*multiply)(void *handle, void *desc, const void *alpha, lp_device_address a,
                    void *a_layout, lp_device_address b, void *b_layout, const void *beta,
                    lp_device_address c, void *c_layout, lp_device_address d, void *d_layout,
                    const struct lp_blas_algorithm *algorithm, lp_device_address workspace,
                    size_t workspace_bytes, void *stream);
    void *handle, *preference;
    lp_device_address workspace;
};

/* Random words become numbers of the format from 0.5 to below 2, with both signs. */
static const struct product {
    const char *dtype;
    int in, out, compute;
    uint32_t and_mask, or_mask;
    uint32_t element_bytes, least_capability;
    bool in_sweep;
} products[] = {
    { "bf16", LP_BLAS_R_16BF, LP_BLAS_R_16BF, LP_BLAS_COMPUTE_32F, 0x80ff80ff, 0x3f003f00, 2, 80,
      true },
    { "fp16", LP_BLAS_R_16F, LP_BLAS_R_16F, LP_BLAS_COMPUTE_32F, 0x83ff83ff, 0x38003800, 2, 70,
      false },
    { "fp8", LP_BLAS_R_8F_E4M3, LP_BLAS_R_16BF, LP_BLAS_COMPUTE_32F, 0x87878787, 0x30303030, 1, 89,
      true },
    { "tf32", LP_BLAS_R_32F, LP_BLAS_R_32F, LP_BLAS_COMPUTE_32F_FAST_TF32, 0x807fffff, 0x3f000000,
      4, 80, false },
    { "fp32", LP_BLAS_R_32F, LP_BLAS_R_32F, LP_BLAS_COMPUTE_32F, 0x807fffff, 0x3f000000, 4, 50,
      false },
};

/* Large products: small ones leave multiprocessors idle. */
static const struct shape {
    uint64_t m, n, k;
} shapes[] = {
    { 4096, 4096, 4096 },
    { 8192, 8192, 8192 },
    { 8192, 8192, 16384 },
    { 16384, 8192, 8192 },
};
#define SHAPES LP_LENGTH(shapes)

/* The sweep: tokens, and weights n x k of linear layers. Smaller weights would measure launches. */
static const uint64_t sweep_rows[] = { 1, 8, 64, 512, 4096 };
static const struct {
    uint64_t n, k;
} sweep_weights[] = {
    { 4096, 4096 },
    { 4096, 14336 },
    { 16384, 4096 },
    { 65536, 8192 },
};
#define SWEEP_ROWS    LP_LENGTH(sweep_rows)
#define SWEEP_WEIGHTS LP_LENGTH(sweep_weights)

/* A repeat of the sweep lasts this long, or has so many products: events take a microsecond. */
#define SWEEP_REPEAT_MS   0.2
#define SWEEP_REPEAT_MOST 32

/* One product, ready to run. */
struct multiplication {
    const struct blas *blas;
    const struct product *product;
    struct shape shape;
    void *desc, *a, *b, *d;
    struct lp_blas_algorithm algorithm;
    uint64_t count;             /* products of a repeat */
    uint64_t slots, slot_bytes; /* places of the weights: one after the other, past the caches */
};

static const char *const sonames[] = { "libcublasLt.so.13", "libcublasLt.so.12",
                                       "libcublasLt.so.11" };
#define SONAMES LP_LENGTH(sonames)

static void *open_in(const char *folder, const char *below)
{
    char path[1024];
    void *library = NULL;

    for (size_t i = 0; folder && *folder && !library && i < SONAMES; i++) {
        snprintf(path, sizeof(path), "%s%s/%s", folder, below, sonames[i]);
        library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    }
    return library;
}

/* In order: given by the user, loaded in the process, the system's, a toolkit's. */
static void *open_library(void)
{
    const char *said = lp_variable("LLMPERF_CUBLASLT_PATH");
    void *library = said && *said ? dlopen(said, RTLD_LAZY | RTLD_LOCAL) : NULL;

    if (!library)
        library = open_in(said, "");
    for (size_t i = 0; !library && i < SONAMES; i++)
        library = dlopen(sonames[i], RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    for (size_t i = 0; !library && i < SONAMES; i++)
        library = dlopen(sonames[i], RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        library = open_in(lp_variable("CUDA_HOME"), "/lib64");
    return library ? library : open_in("/usr/local/cuda", "/lib64");
}

static int find_functions(struct blas *blas, void *library)
{
    const struct lp_symbol functions[] = {
        { "cublasLtCreate", &blas->create },
        { "cublasLtDestroy", &blas->destroy },
        { "cublasLtMatmulDescCreate", &blas->desc_create },
        { "cublasLtMatmulDescSetAttribute", &blas->desc_set },
        { "cublasLtMatmulDescDestroy", &blas->desc_destroy },
        { "cublasLtMatrixLayoutCreate", &blas->layout_create },
        { "cublasLtMatrixLayoutDestroy", &blas->layout_destroy },
        { "cublasLtMatmulPreferenceCreate", &blas->preference_create },
        { "cublasLtMatmulPreferenceSetAttribute", &blas->preference_set },
        { "cublasLtMatmulPreferenceDestroy", &blas->preference_destroy },
        { "cublasLtMatmulAlgoGetHeuristic", &blas->propose },
        { "cublasLtMatmul", &blas->multiply },
    };
    const char *missing = lp_symbols_find(library, functions, LP_LENGTH(functions));

    return missing ? lp_error(LLMPERF_ENOTSUP, "libcublasLt has no %s; use one of CUDA 11 or newer",
                              missing)
                   : 0;
}

static void close_blas(struct blas *blas, const struct lp_bench *bench)
{
    if (blas->workspace)
        bench->cuda.memory_free(blas->workspace);
    if (blas->preference)
        blas->preference_destroy(blas->preference);
    if (blas->handle)
        blas->destroy(blas->handle);
}

/* The library is never closed: its threads and handlers would outlive it. */
static int open_blas(struct blas *blas, const struct lp_bench *bench)
{
    const size_t bytes = WORKSPACE_BYTES;
    void *library = open_library();
    int status, result;

    if (!library)
        return lp_error(LLMPERF_ENOENT, "libcublasLt was not found; set LLMPERF_CUBLASLT_PATH to "
                                        "its folder or install the CUDA toolkit");
    if ((status = find_functions(blas, library)) < 0)
        return status;
    if ((result = bench->cuda.memory_alloc(&blas->workspace, bytes)) != 0)
        return lp_cuda_error(&bench->cuda, "cuMemAlloc", result);
    if ((result = blas->create(&blas->handle)) == 0 &&
        (result = blas->preference_create(&blas->preference)) == 0)
        result = blas->preference_set(blas->preference, LP_BLAS_PREFERENCE_WORKSPACE, &bytes,
                                      sizeof(bytes));
    return result == 0 ? 0 : lp_error(LLMPERF_ENODEVICE, "cublasLtCreate failed with %d", result);
}

static void clear_multiplication(struct multiplication *work)
{
    if (work->desc)
        work->blas->desc_destroy(work->desc);
    if (work->a)
        work->blas->layout_destroy(work->a);
    if (work->b)
        work->blas->layout_destroy(work->b);
    if (work->d)
        work->blas->layout_destroy(work->d);
}

/* Both factors lie along k, as weights and activations of a linear layer do; fp8 supports no other
 * layout. */
static int describe(struct multiplication *work)
{
    const int32_t turned = LP_BLAS_OP_T, plain = LP_BLAS_OP_N;
    const struct product *product = work->product;
    const struct blas *blas = work->blas;
    const struct shape *s = &work->shape;
    const int8_t fast = 1;
    int result;

    if ((result = blas->desc_create(&work->desc, product->compute, LP_BLAS_R_32F)) != 0 ||
        (result = blas->desc_set(work->desc, LP_BLAS_DESC_TRANSA, &turned, sizeof(turned))) != 0 ||
        (result = blas->desc_set(work->desc, LP_BLAS_DESC_TRANSB, &plain, sizeof(plain))) != 0 ||
        (result = blas->layout_create(&work->a, product->in, s->k, s->m, (int64_t)s->k)) != 0 ||
        (result = blas->layout_create(&work->b, product->in, s->k, s->n, (int64_t)s->k)) != 0)
        return result;
    if (product->in == LP_BLAS_R_8F_E4M3 &&
        (result = blas->desc_set(work->desc, LP_BLAS_DESC_FAST_ACCUM, &fast, sizeof(fast))) != 0)
        return result;
    return blas->layout_create(&work->d, product->out, s->m, s->n, (int64_t)s->m);
}

static int start(struct lp_bench *bench, void *context, uint64_t turn)
{
    const struct multiplication *work = context;
    const float one = 1, zero = 0;
    int result = 0;

    for (uint64_t i = turn * work->count; i < (turn + 1) * work->count && result == 0; i++)
        result = work->blas->multiply(work->blas->handle, work->desc, &one,
                                      bench->buffers[0] + i % work->slots * work->slot_bytes,
                                      work->a, bench->buffers[1], work->b, &zero, bench->buffers[2],
                                      work->d, bench->buffers[2], work->d, &work->algorithm,
                                      work->blas->workspace, WORKSPACE_BYTES, bench->stream);
    return result;
}

/* The proposal that is fastest in a short trial; *best_ms, infinite if none ran. */
static int find_algorithm(struct multiplication *work, struct lp_bench *bench, double *best_ms)
{
    struct lp_blas_proposal proposals[PROPOSALS];
    const struct blas *blas = work->blas;
    struct lp_blas_algorithm best = { { 0 } };
    int count = 0, result;

    *best_ms = INFINITY;
    result = blas->propose(blas->handle, work->desc, work->a, work->b, work->d, work->d,
                           blas->preference, PROPOSALS, proposals, &count);
    if (result != 0 || count == 0)
        return lp_error(LLMPERF_ENOTSUP,
                        "cuBLASLt has no %s matrix product for this GPU (status %d)",
                        work->product->dtype, result);
    for (int i = 0; i < count; i++) {
        struct lp_times times;

        work->algorithm = proposals[i].algorithm;
        if (proposals[i].status != 0 ||
            lp_bench_repeat(bench, start, work, bench->seconds / 50, &times) < 0 ||
            times.median_ms >= *best_ms)
            continue;
        *best_ms = times.median_ms;
        best = work->algorithm;
    }
    work->algorithm = best;
    return isinf(*best_ms) ? LLMPERF_ENODEVICE : 0;
}

static double flops_of(const struct shape *shape)
{
    return 2.0 * (double)shape->m * (double)shape->n * (double)shape->k;
}

static uint64_t largest_matrix(const struct product *product, const struct shape *shape)
{
    uint64_t a = shape->m * shape->k, b = shape->k * shape->n, d = shape->m * shape->n;
    uint64_t in = (a > b ? a : b) * product->element_bytes;
    uint64_t out = d * (product->element_bytes == 1 ? 2 : product->element_bytes);

    return in > out ? in : out;
}

/* Ready to run with its fastest algorithm; clear it in any case. */
static int prepare(struct multiplication *work, struct lp_bench *bench, double *ms)
{
    int result = describe(work);

    return result == 0 ? find_algorithm(work, bench, ms)
                       : lp_error(LLMPERF_ENOTSUP,
                                  "cuBLASLt does not support %s matrix products (status %d)",
                                  work->product->dtype, result);
}

/* One size: a short trial selects those for a long measurement. */
static int measure_shape(const struct blas *blas, const struct product *product,
                         const struct shape *shape, struct lp_bench *bench,
                         struct lp_measured_peak *measured_peak, double *ms)
{
    struct multiplication work = {
        .blas = blas, .product = product, .shape = *shape, .count = 1, .slots = 1
    };
    int status = prepare(&work, bench, ms);
    struct lp_times times;
    char how[128];

    if (status == 0 && !(flops_of(shape) / (*ms * 1e9) < 0.9 * measured_peak->median)) {
        usleep(PAUSE_US);
        status = lp_bench_repeat(bench, start, &work, bench->seconds / 2, &times);
        snprintf(how, sizeof(how), "cuBLASLt, %llu x %llu x %llu, random numbers%s",
                 (unsigned long long)shape->m, (unsigned long long)shape->n,
                 (unsigned long long)shape->k,
                 product->in == LP_BLAS_R_8F_E4M3 ? " of E4M3, fast accumulation" : "");
        if (status == 0)
            lp_measured_peak_take(measured_peak, flops_of(shape), 1e9, &times, how);
    }
    clear_multiplication(&work);
    return status;
}

/* y = x w: column-major, so that weights are the first factor and the numbers of a token lie
 * together. A size that fails is left out. */
static void sweep_shape(const struct blas *blas, const struct product *product,
                        const struct shape *shape, struct lp_bench *bench, struct lp_sweep *sweep)
{
    uint64_t bytes = shape->m * shape->k * product->element_bytes;
    struct multiplication work = { .blas = blas,
                                   .product = product,
                                   .shape = *shape,
                                   .count = 1,
                                   .slots = bench->buffer_bytes / bytes,
                                   .slot_bytes = bytes };
    struct lp_times times;
    double ms;

    if (prepare(&work, bench, &ms) == 0) {
        work.count = (uint64_t)fmin(ceil(SWEEP_REPEAT_MS / ms), SWEEP_REPEAT_MOST);
        if (lp_bench_repeat(bench, start, &work, bench->seconds / 10, &times) == 0)
            lp_sweep_add(sweep, product->dtype, shape->n, shape->m, shape->k,
                         (uint64_t)llround(times.median_ms * 1e6 / (double)work.count));
    }
    clear_multiplication(&work);
}

static void sweep_product(const struct blas *blas, const struct product *product,
                          struct lp_bench *bench, struct lp_sweep *sweep)
{
    for (size_t i = 0; i < SWEEP_ROWS * SWEEP_WEIGHTS; i++) {
        const struct shape shape = { sweep_weights[i % SWEEP_WEIGHTS].n,
                                     sweep_rows[i / SWEEP_WEIGHTS],
                                     sweep_weights[i % SWEEP_WEIGHTS].k };

        if (largest_matrix(product, &shape) <= bench->buffer_bytes)
            sweep_shape(blas, product, &shape, bench, sweep);
    }
}

static void measure_product(const struct blas *blas, const struct product *product,
                            const struct lp_kernels *kernels, struct lp_bench *bench,
                            struct lp_measured_peak *measured_peak)
{
    int status = lp_kernels_fill(kernels, bench, product->and_mask, product->or_mask);
    double ms = 0;

    if (status == 0 && largest_matrix(product, &shapes[0]) > bench->buffer_bytes)
        status = lp_error(LLMPERF_ENOMEM, "too little memory is free on the GPU");
    for (size_t i = 0; i < SHAPES && status == 0 && ms < SLOW_MS; i++)
        if (largest_matrix(product, &shapes[i]) <= bench->buffer_bytes)
            status = measure_shape(blas, product, &shapes[i], bench, measured_peak, &ms);
    if (status < 0)
        lp_measured_peak_fail(measured_peak);
}

void lp_measure_matrix(const struct lp_kernels *kernels, struct lp_bench *bench, int32_t capability,
                       struct lp_measured_peaks *measured_peaks)
{
    struct blas blas = { .handle = NULL };
    int status = open_blas(&blas, bench);

    for (size_t i = 0; i < LP_LENGTH(products); i++) {
        const struct product *product = &products[i];
        struct lp_measured_peak *measured_peak =
            &measured_peaks->items[lp_measured_peak_index(product->dtype)];

        lp_progress("measuring matrix products", i, LP_LENGTH(products));
        if (status < 0)
            lp_measured_peak_fail(measured_peak);
        else if ((uint32_t)capability < product->least_capability)
            snprintf(measured_peak->reason, sizeof(measured_peak->reason),
                     "compute capability %d.%d has no %s unit", capability / 10, capability % 10,
                     product->dtype);
        else
            measure_product(&blas, product, kernels, bench, measured_peak);
        if (product->in_sweep && isfinite(measured_peak->best))
            sweep_product(&blas, product, bench, &measured_peaks->sweep);
    }
    close_blas(&blas, bench);
}
