/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products by cuBLASLt, which is opened at run time: without it the program starts and
 * reports what is missing. */
#include <cublasLt.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "gpu.cuh"

#define TEXT_OF(value) #value
#define TEXT(value)    TEXT_OF(value)
#define LIBRARY        "libcublasLt.so." TEXT(CUBLAS_VER_MAJOR)

#define PLANS_MAX       1024
#define WORKSPACE_BYTES (32u << 20)

namespace
{

/* A product that was asked for once: pointers aside, everything that decides how it is done. */
struct plan {
    struct product key;
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t a, b, d;
    cublasLtMatmulAlgo_t algorithm;
};

struct lt {
    decltype(&cublasLtCreate) create;
    decltype(&cublasLtDestroy) destroy;
    decltype(&cublasLtMatmul) matmul;
    decltype(&cublasLtMatmulDescCreate) operation_create;
    decltype(&cublasLtMatmulDescDestroy) operation_destroy;
    decltype(&cublasLtMatmulDescSetAttribute) operation_set;
    decltype(&cublasLtMatrixLayoutCreate) layout_create;
    decltype(&cublasLtMatrixLayoutDestroy) layout_destroy;
    decltype(&cublasLtMatrixLayoutSetAttribute) layout_set;
    decltype(&cublasLtMatmulPreferenceCreate) preference_create;
    decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy;
    decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set;
    decltype(&cublasLtMatmulAlgoGetHeuristic) choose;
};

} // namespace

struct products {
    struct lt lt;
    cublasLtHandle_t handle;
    void *workspace;
    struct plan *plans;
    size_t count;
};

namespace
{

template <typename F> bool find(void *library, F *function, const char *name)
{
    *function = (F)dlsym(library, name);
    return *function != NULL;
}

bool find_all(void *library, struct lt *lt)
{
    return find(library, &lt->create, "cublasLtCreate") &&
           find(library, &lt->destroy, "cublasLtDestroy") &&
           find(library, &lt->matmul, "cublasLtMatmul") &&
           find(library, &lt->operation_create, "cublasLtMatmulDescCreate") &&
           find(library, &lt->operation_destroy, "cublasLtMatmulDescDestroy") &&
           find(library, &lt->operation_set, "cublasLtMatmulDescSetAttribute") &&
           find(library, &lt->layout_create, "cublasLtMatrixLayoutCreate") &&
           find(library, &lt->layout_destroy, "cublasLtMatrixLayoutDestroy") &&
           find(library, &lt->layout_set, "cublasLtMatrixLayoutSetAttribute") &&
           find(library, &lt->preference_create, "cublasLtMatmulPreferenceCreate") &&
           find(library, &lt->preference_destroy, "cublasLtMatmulPreferenceDestroy") &&
           find(library, &lt->preference_set, "cublasLtMatmulPreferenceSetAttribute") &&
           find(library, &lt->choose, "cublasLtMatmulAlgoGetHeuristic");
}

void *open_library()
{
    static const char *const places[] = { LIBRARY, "/usr/local/cuda/lib64/" LIBRARY };
    void *library = NULL;

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && !library; i++)
        library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

bool good(struct ops *ops, cublasStatus_t status, const char *what)
{
    if (status != CUBLAS_STATUS_SUCCESS && !ops->error[0])
        snprintf(ops->error, sizeof(ops->error), "%s failed with cuBLAS status %d", what,
                 (int)status);
    return status == CUBLAS_STATUS_SUCCESS;
}

bool make_layout(struct ops *ops, const struct lt *lt, cublasLtMatrixLayout_t *layout,
                 cudaDataType type, size_t rows, size_t columns, size_t stride, size_t batch,
                 size_t batch_stride)
{
    int32_t count = (int32_t)batch;
    int64_t offset = (int64_t)batch_stride;

    return good(ops, lt->layout_create(layout, type, rows, columns, (int64_t)stride),
                "cublasLtMatrixLayoutCreate") &&
           good(ops,
                lt->layout_set(*layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count)),
                "batch count") &&
           good(ops,
                lt->layout_set(*layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &offset,
                               sizeof(offset)),
                "batch stride");
}

bool make_operation(struct ops *ops, const struct lt *lt, struct plan *plan)
{
    cublasOperation_t transpose = plan->key.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;

    if (!good(ops, lt->operation_create(&plan->operation, CUBLAS_COMPUTE_32F, CUDA_R_32F),
              "cublasLtMatmulDescCreate") ||
        !good(ops,
              lt->operation_set(plan->operation, CUBLASLT_MATMUL_DESC_TRANSA, &transpose,
                                sizeof(transpose)),
              "transpose"))
        return false;
    return !plan->key.bias ||
           (good(ops,
                 lt->operation_set(plan->operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                   sizeof(epilogue)),
                 "epilogue") &&
            good(ops,
                 lt->operation_set(plan->operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                   &plan->key.bias, sizeof(plan->key.bias)),
                 "bias"));
}

bool choose(struct ops *ops, struct products *products, struct plan *plan)
{
    const struct lt *lt = &products->lt;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t result;
    size_t bytes = WORKSPACE_BYTES;
    int found = 0;
    bool done;

    if (!good(ops, lt->preference_create(&preference), "cublasLtMatmulPreferenceCreate"))
        return false;
    lt->preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof(bytes));
    done = good(ops,
                lt->choose(products->handle, plan->operation, plan->a, plan->b, plan->d, plan->d,
                           preference, 1, &result, &found),
                "cublasLtMatmulAlgoGetHeuristic");
    lt->preference_destroy(preference);
    plan->algorithm = result.algo;
    return done && found > 0;
}

bool make_plan(struct ops *ops, struct products *products, struct plan *plan)
{
    const struct lt *lt = &products->lt;
    const struct product *key = &plan->key;
    size_t rows = key->transpose_a ? key->k : key->m, columns = key->transpose_a ? key->m : key->k;

    return make_operation(ops, lt, plan) &&
           make_layout(ops, lt, &plan->a, CUDA_R_16BF, rows, columns, key->lda, key->batch,
                       key->stride_a) &&
           make_layout(ops, lt, &plan->b, CUDA_R_16BF, key->k, key->n, key->ldb, key->batch,
                       key->stride_b) &&
           make_layout(ops, lt, &plan->d, key->d_is_float ? CUDA_R_32F : CUDA_R_16BF, key->m,
                       key->n, key->ldd, key->batch, key->stride_d) &&
           choose(ops, products, plan);
}

/* With pointers left out, but whether there is a bias. */
struct product key_of(const struct product *product)
{
    /* Its alignment counts when a way is chosen; a tensor begins at a multiple of 256. */
    static const bf16 *const some_bias = (const bf16 *)256;
    struct product key;

    memset(&key, 0, sizeof(key)); /* padding too: keys are compared byte by byte */
    key.bias = product->bias ? some_bias : NULL;
    key.m = product->m;
    key.n = product->n;
    key.k = product->k;
    key.lda = product->lda;
    key.ldb = product->ldb;
    key.ldd = product->ldd;
    key.batch = product->batch;
    key.stride_a = product->stride_a;
    key.stride_b = product->stride_b;
    key.stride_d = product->stride_d;
    key.alpha = product->alpha;
    key.beta = product->beta;
    key.transpose_a = product->transpose_a;
    key.d_is_float = product->d_is_float;
    return key;
}

struct plan *find_plan(struct ops *ops, struct products *products, const struct product *product)
{
    struct product key = key_of(product);
    struct plan *plan;

    for (size_t i = 0; i < products->count; i++)
        if (memcmp(&products->plans[i].key, &key, sizeof(key)) == 0)
            return &products->plans[i];
    if (products->count == PLANS_MAX) {
        snprintf(ops->error, sizeof(ops->error), "more than %d shapes of products", PLANS_MAX);
        return NULL;
    }
    plan = &products->plans[products->count];
    plan->key = key;
    if (!make_plan(ops, products, plan)) {
        if (!ops->error[0])
            snprintf(ops->error, sizeof(ops->error), "cuBLASLt has no way for %zu x %zu x %zu",
                     key.m, key.n, key.k);
        return NULL;
    }
    products->count++;
    return plan;
}

/* One warp for each number: for widths that cuBLASLt's fast ways do not take. */
__global__ void linear_kernel(struct linear a)
{
    size_t at = thread_index() / 32;
    size_t row = at / a.out, column = at % a.out;
    float sum = 0;

    if (row >= a.rows)
        return;
    for (size_t i = threadIdx.x % 32; i < a.in; i += 32)
        sum += load(a.x + row * a.in + i) * load(a.w + column * a.in + i);
    sum = warp_sum(sum) + (a.bias ? load(a.bias + column) : 0);
    if (threadIdx.x % 32 > 0)
        return;
    if (a.y_float)
        a.y_float[at] = sum;
    else
        store(a.y + at, sum + (a.add ? load(a.y + at) : 0));
}

void multiply(struct ops *ops, struct linear a)
{
    struct product product = {};

    if (a.in % 8 || a.out % 8 || (a.y_float && a.bias)) {
        linear_kernel<<<blocks_for(a.rows * a.out * 32), THREADS, 0, gpu_of(ops)->stream>>>(a);
        gpu_launched(ops, "linear");
        return;
    }
    /* Row-major x and w are column-major in x rows and in x out; so y comes out as out x rows. */
    product.a = a.w;
    product.b = a.x;
    product.bias = a.bias;
    product.d = a.y_float ? (void *)a.y_float : (void *)a.y;
    product.m = product.ldd = a.out;
    product.n = a.rows;
    product.k = product.lda = product.ldb = a.in;
    product.batch = 1;
    product.alpha = 1;
    product.beta = a.add ? 1 : 0;
    product.transpose_a = 1;
    product.d_is_float = a.y_float != NULL;
    gpu_product(ops, &product);
}

} // namespace

struct products *products_open(char *reason, size_t reason_size)
{
    struct products *products = (struct products *)calloc(1, sizeof(*products));
    void *library = open_library();

    if (!library || !products || !find_all(library, &products->lt)) {
        snprintf(
            reason, reason_size,
            "%s not found; add the folder of the CUDA toolkit that holds it to LD_LIBRARY_PATH",
            LIBRARY);
        free(products);
        return NULL;
    }
    products->plans = (struct plan *)calloc(PLANS_MAX, sizeof(struct plan));
    if (products->plans && products->lt.create(&products->handle) == CUBLAS_STATUS_SUCCESS &&
        cudaMalloc(&products->workspace, WORKSPACE_BYTES) == cudaSuccess)
        return products;
    snprintf(reason, reason_size, "cuBLASLt does not start on this GPU");
    products_free(products);
    return NULL;
}

void products_free(struct products *products)
{
    if (!products)
        return;
    for (size_t i = 0; i < products->count; i++) {
        struct plan *plan = &products->plans[i];

        products->lt.operation_destroy(plan->operation);
        products->lt.layout_destroy(plan->a);
        products->lt.layout_destroy(plan->b);
        products->lt.layout_destroy(plan->d);
    }
    if (products->handle)
        products->lt.destroy(products->handle);
    cudaFree(products->workspace);
    free(products->plans);
    free(products);
}

void gpu_product(struct ops *ops, const struct product *product)
{
    struct products *products = gpu_of(ops)->products;
    struct plan *plan = find_plan(ops, products, product);

    if (!plan)
        return;
    if (product->bias)
        products->lt.operation_set(plan->operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                   &product->bias, sizeof(product->bias));
    if (good(ops,
             products->lt.matmul(products->handle, plan->operation, &product->alpha, product->a,
                                 plan->a, product->b, plan->b, &product->beta, product->d, plan->d,
                                 product->d, plan->d, &plan->algorithm, products->workspace,
                                 WORKSPACE_BYTES, gpu_of(ops)->stream),
             "cublasLtMatmul"))
        ops->launches++;
}

void gpu_add_products(struct ops *ops)
{
    ops->linear = multiply;
}
