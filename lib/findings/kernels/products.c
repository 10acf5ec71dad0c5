/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/kernels/products.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"

#define KERNELS_MOST  32 /* of one match */
#define PRODUCTS_MOST 32
#define FORMS_MOST    8      /* operators with several forms */
#define STEPS_MOST    200000 /* of a search */
#define SPLITS_MOST   64
#define TILE_LEAST    8
#define TILE_MOST     512

#define TILE_WASTE  4
#define TILE_NARROW 32

/* Of the peak of the model's dtype, in case that the engine computes in a smaller one. */
#define FASTEST 2.5

/* SMs that clusters of more than 2 blocks may leave empty. */
#define CLUSTER_LOSS 16

static const char unaccounted[] =
    "the model's matrix products do not account for the kernels launched here";
static const char ambiguous[] = "more than one of the model's matrix products fits it";
static const char differs[] = "calls of the stage differ in batch, tokens or context";

/* Tiles */

struct tile {
    uint64_t a, b;
    uint64_t cluster; /* grids are padded to a multiple of it; 0: unknown */
};

static bool has(const char *text, const char *word)
{
    return strcasestr(text, word) != NULL;
}

/* 128x64 or 128x64x32 at *at; *at is then behind it. */
static bool read_extent(const char **at, uint64_t *a, uint64_t *b)
{
    char *end;

    *a = strtoull(*at, &end, 10);
    *at = end;
    if (end[0] != 'x' || !isdigit((unsigned char)end[1]))
        return false;
    *b = strtoull(end + 1, &end, 10);
    if (end[0] == 'x' && isdigit((unsigned char)end[1]))
        strtoull(end + 1, &end, 10);
    *at = end;
    return true;
}

/* nvjet_tst_128x8_64x12_2x1_…: tile, depth x stages, cluster. …_s64x128x16gemm_…_128x128x64_…: the
 * instruction's extent is first. …_tilesize64x256x8_… */
static bool read_tile(const char *name, struct tile *tile)
{
    uint64_t a, b, extents = 0;

    *tile = (struct tile){ 0, 0, 0 };
    for (const char *at = name; *at;) {
        if (!isdigit((unsigned char)*at)) {
            at++;
        } else if (read_extent(&at, &a, &b) && *at != 'g') {
            extents++;
            if (extents == 3 && has(name, "nvjet"))
                tile->cluster = a > b ? a : b;
            if (tile->a == 0 && a >= TILE_LEAST && a <= TILE_MOST && b >= TILE_LEAST &&
                b <= TILE_MOST) {
                tile->a = a;
                tile->b = b;
            }
        }
    }
    return tile->a > 0;
}

static uint64_t up(uint64_t value, uint64_t step)
{
    return (value + step - 1) / step * step;
}

/* Tiles along one side, padded to clusters or swizzled in groups of up to 8. */
static uint64_t pad(uint64_t tiles, uint64_t cluster)
{
    if (tiles <= 2)
        return tiles;
    return up(tiles, cluster > 0 ? cluster : tiles < 6 ? 4 : 8);
}

/* Blocks that take one tile after the other: as many as fit on the GPU. */
static bool is_persistent(const struct lp_gemm_kernel *kernel, uint64_t cluster, uint64_t sms)
{
    if (!has(kernel->name, "nvjet") && !has(kernel->name, "sm90") &&
        !has(kernel->name, "cutlass3x"))
        return false;
    if (sms == 0)
        return true;
    cluster = cluster > 0 ? cluster : 1;
    return kernel->blocks <= sms &&
           kernel->blocks + (cluster > 2 ? CLUSTER_LOSS : 0) >= sms / cluster * cluster;
}

/* CUTLASS has the products of a batch, or the parts of a split one, along z. */
static bool fits_cutlass(const struct lp_gemm_kernel *kernel, uint64_t least, uint64_t most,
                         uint64_t batch)
{
    uint64_t plane = kernel->blocks / kernel->grid_z;

    return kernel->grid_z % batch == 0 && plane >= least && plane <= most;
}

static bool fits_tiles(const struct lp_gemm_kernel *kernel, uint64_t least, uint64_t most,
                       uint64_t cluster, uint64_t sms)
{
    bool jet = has(kernel->name, "nvjet"), split = has(kernel->name, "split");
    uint64_t splits = split ? SPLITS_MOST : jet ? 1 : kernel->grid_z;

    if (kernel->blocks < least && is_persistent(kernel, cluster, sms))
        return true;
    for (uint64_t i = 1; i <= splits; i++)
        if (kernel->blocks >= least * i && kernel->blocks <= most * i)
            return true;
    return false;
}

/* No heuristic chooses a tile mostly without tokens, or a narrow one where wide ones fill the GPU.
 */
static bool is_wasteful(const struct lp_gemm *product, uint64_t tokens, uint64_t features,
                        uint64_t tiles, uint64_t sms)
{
    bool narrow = (tokens <= TILE_NARROW && product->m > TILE_WASTE * tokens) ||
                  (features <= TILE_NARROW && product->n > TILE_WASTE * features);

    return (tokens > 64 && tokens > TILE_WASTE * product->m) ||
           (narrow && sms > 0 && tiles >= TILE_WASTE * sms);
}

/* Can a grid of this kernel compute the product? True if the kernel's name has no tile. */
static bool fits(const struct lp_gemm *product, const struct lp_gemm_kernel *kernel, uint64_t sms)
{
    struct tile tile;

    if (product->differs)
        return true;
    if (kernel->mean_ms < product->least_ms)
        return false;
    if (has(kernel->name, "gemv") && product->m > TILE_LEAST)
        return false;
    if (!read_tile(kernel->name, &tile))
        return true;
    for (int turned = 0; turned < 2; turned++) {
        uint64_t tokens = turned ? tile.b : tile.a, features = turned ? tile.a : tile.b;
        uint64_t rows = up(product->m, tokens) / tokens;
        uint64_t columns = up(product->n, features) / features, least, most;

        least = rows * columns;
        most = pad(rows, tile.cluster) * pad(columns, tile.cluster);
        if (has(kernel->name, "nvjet") && is_wasteful(product, tokens, features, least, sms))
            continue;
        if (has(kernel->name, "cutlass") && !has(kernel->name, "cutlass3x")
                ? fits_cutlass(kernel, least, most, product->batch)
                : fits_tiles(kernel, least * product->batch, most * product->batch, tile.cluster,
                             sms))
            return true;
    }
    return false;
}

bool lp_gemm_is_sum(const char *name)
{
    return has(name, "split") && has(name, "reduce");
}

static bool has_shape(const struct lp_gemm *a, const struct lp_gemm *b)
{
    return a->m == b->m && a->n == b->n && a->k == b->k && a->batch == b->batch;
}

static int add_gemm(struct lp_gemms *gemms, const struct lp_gemm *gemm)
{
    for (size_t i = 0; i < gemms->items.count; i++) {
        struct lp_gemm *other = &gemms->items.items[i];

        if (strcmp(other->name, gemm->name) != 0 || other->form != gemm->form ||
            (other->kinds & gemm->kinds) || other->differs != gemm->differs ||
            !has_shape(other, gemm))
            continue;
        other->kinds |= gemm->kinds;
        other->calls += gemm->calls;
        return 0;
    }
    return lp_vector_push(&gemms->items, *gemm);
}

/* FORM:COUNT*BATCHxMxNxK … */
int lp_gemms_read(struct lp_gemms *gemms, const struct lp_gemm *like, uint64_t layers,
                  double peak_tflops, const char *text)
{
    struct lp_gemm gemm = *like;
    uint32_t count;
    int length = 0;

    for (;
         text &&
         sscanf(text, "%" SCNu32 ":%" SCNu32 "*%" SCNu32 "x%" SCNu64 "x%" SCNu64 "x%" SCNu64 " %n",
                &gemm.form, &count, &gemm.batch, &gemm.m, &gemm.n, &gemm.k, &length) == 6;
         text += length) {
        gemm.calls = count * layers;
        if (gemm.m == 0 || gemm.n == 0 || gemm.k == 0 || gemm.batch == 0 || gemm.calls == 0)
            return 0;
        gemm.least_ms = 2.0 * (double)gemm.m * (double)gemm.n * (double)gemm.k * gemm.batch /
                        (peak_tflops * 1e9 * FASTEST);
        if (!(gemm.least_ms > 0))
            gemm.least_ms = 0;
        if (add_gemm(gemms, &gemm) < 0)
            return LLMPERF_ENOMEM;
    }
    return 0;
}

/* The search */

struct search {
    const struct lp_gemms *gemms;
    bool fits[PRODUCTS_MOST][KERNELS_MOST];
    const struct lp_gemm *products[PRODUCTS_MOST]; /* of the forms chosen */
    size_t product_count;
    struct lp_gemm_kernel *kernels;
    size_t count;
    uint64_t steps, least_calls;
    size_t home[PRODUCTS_MOST]; /* kernel of each product */
    uint64_t left[KERNELS_MOST];
    /* Over the solutions that explain each launch of kernels of every layer, else over all. */
    struct answers {
        bool found, exact;
        const struct lp_gemm *of[KERNELS_MOST];
        bool doubtful[KERNELS_MOST];
    } answers;
};

static bool same_shape(const struct lp_gemm *a, const struct lp_gemm *b)
{
    return a && b && (a == b || (!a->differs && !b->differs && has_shape(a, b)));
}

/* Router and shared experts read the same input. */
static bool are_parallel(const struct lp_gemm *a, const struct lp_gemm *b)
{
    return (strcmp(a->name, "router") == 0 && strncmp(b->name, "shared", 6) == 0) ||
           (strcmp(b->name, "router") == 0 && strncmp(a->name, "shared", 6) == 0) ||
           (a->place == b->place && strcmp(a->name, "qkv") == 0);
}

/* Does b need a's result, in each kind of layer that has b? Products are in the order of
 * computation. */
static bool is_before(const struct lp_gemm *a, const struct lp_gemm *b)
{
    return a < b && (b->kinds & ~a->kinds) == 0 && !are_parallel(a, b);
}

/* Is the first launch of the product's kernel the product's own? */
static bool opens_kernel(const struct search *search, size_t product)
{
    const struct lp_gemm *own = search->products[product];

    for (size_t i = 0; i < search->product_count; i++)
        if (search->home[i] == search->home[product] && i != product &&
            (search->products[i]->kinds != own->kinds || is_before(search->products[i], own)))
            return false;
    return true;
}

static bool is_in_order(const struct search *search)
{
    for (size_t b = 0; b < search->product_count; b++) {
        uint64_t first = search->kernels[search->home[b]].first_ns;

        if (first == UINT64_MAX || !opens_kernel(search, b))
            continue;
        for (size_t a = 0; a < search->product_count; a++) {
            uint64_t other = search->kernels[search->home[a]].first_ns;

            if (search->home[a] != search->home[b] && other != UINT64_MAX && other > first &&
                is_before(search->products[a], search->products[b]))
                return false;
        }
    }
    return true;
}

static void take(struct answers *answers, const struct search *search,
                 const struct lp_gemm *const *of, const bool *doubtful)
{
    for (size_t i = 0; i < search->count; i++) {
        if (!answers->found)
            answers->of[i] = of[i];
        else if (!same_shape(answers->of[i], of[i]) && (answers->of[i] || of[i]))
            answers->doubtful[i] = true;
        answers->doubtful[i] |= doubtful[i];
    }
    answers->found = true;
}

static void take_solution(struct search *search)
{
    const struct lp_gemm *of[KERNELS_MOST] = { NULL };
    bool doubtful[KERNELS_MOST] = { false };
    bool exact = true;

    for (size_t i = 0; i < search->product_count; i++) {
        size_t home = search->home[i];

        if (of[home] && !same_shape(of[home], search->products[i]))
            doubtful[home] = true; /* computes both */
        of[home] = search->products[i];
    }
    for (size_t i = 0; i < search->count; i++) {
        if (of[i] && search->left[i] > 0)
            return;
        exact &= search->left[i] == 0 || search->kernels[i].calls < search->least_calls;
    }
    if (!is_in_order(search) || (search->answers.exact && !exact))
        return;
    if (exact && !search->answers.exact)
        memset(&search->answers, 0, sizeof(search->answers));
    search->answers.exact = exact;
    take(&search->answers, search, of, doubtful);
}

static void place(struct search *search, size_t product)
{
    if (product == search->product_count) {
        take_solution(search);
        return;
    }
    for (size_t i = 0; i < search->count && search->steps < STEPS_MOST; i++) {
        const struct lp_gemm *own = search->products[product];

        search->steps++;
        if (search->left[i] < own->calls || !search->fits[own - search->gemms->items.items][i])
            continue;
        search->home[product] = i;
        search->left[i] -= own->calls;
        place(search, product + 1);
        search->left[i] += own->calls;
    }
}

/* Operators whose form is free, and the forms that they have. */
struct form {
    const char *operator_name;
    uint32_t least, most, chosen; /* 0: none of them, for attention, which has kernels of its own */
};

static size_t find_forms(const struct lp_gemms *gemms, struct form forms[FORMS_MOST])
{
    size_t count = 0;

    for (size_t i = 0; i < gemms->items.count; i++) {
        const struct lp_gemm *gemm = &gemms->items.items[i];
        size_t k = 0;

        while (k < count && strcmp(forms[k].operator_name, gemm->name) != 0)
            k++;
        if (gemm->form == 0 || (k == count && count == FORMS_MOST))
            continue;
        if (k == count) {
            uint32_t least = strcmp(gemm->name, "attention") == 0 ? 0 : 1;

            forms[count++] = (struct form){ gemm->name, least, 0, least };
        }
        if (gemm->form > forms[k].most)
            forms[k].most = gemm->form;
    }
    return count;
}

static bool next_forms(struct form *forms, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (forms[i].chosen < forms[i].most) {
            forms[i].chosen++;
            return true;
        }
        forms[i].chosen = forms[i].least;
    }
    return false;
}

static bool is_chosen(const struct lp_gemm *gemm, const struct form *forms, size_t count)
{
    for (size_t i = 0; i < count && gemm->form > 0; i++)
        if (strcmp(forms[i].operator_name, gemm->name) == 0)
            return forms[i].chosen == gemm->form;
    return gemm->form == 0;
}

static int compare_calls(const void *left, const void *right)
{
    const struct lp_gemm *a = *(const struct lp_gemm *const *)left;
    const struct lp_gemm *b = *(const struct lp_gemm *const *)right;

    return a->calls != b->calls ? LP_ORDER(b->calls, a->calls) : LP_ORDER(a, b);
}

static void try_forms(struct search *search, const struct form *forms, size_t form_count)
{
    const struct lp_gemms *gemms = search->gemms;

    search->product_count = 0;
    search->least_calls = UINT64_MAX;
    for (size_t i = 0; i < gemms->items.count; i++) {
        const struct lp_gemm *gemm = &gemms->items.items[i];

        if (!is_chosen(gemm, forms, form_count))
            continue;
        search->products[search->product_count++] = gemm;
        if (gemm->calls < search->least_calls)
            search->least_calls = gemm->calls;
    }
    /* Those with most launches fit the fewest kernels. */
    if (search->product_count > 0)
        qsort(search->products, search->product_count, sizeof(search->products[0]), compare_calls);
    for (size_t i = 0; i < search->count; i++)
        search->left[i] = search->kernels[i].calls;
    if (search->product_count > 0)
        place(search, 0);
}

static void answer(struct search *search)
{
    const struct answers *answers = &search->answers;
    bool complete = answers->found && search->steps < STEPS_MOST;

    for (size_t i = 0; i < search->count; i++) {
        struct lp_gemm_kernel *kernel = &search->kernels[i];

        kernel->product = complete && !answers->doubtful[i] ? answers->of[i] : NULL;
        kernel->reason = kernel->product ? (kernel->product->differs ? differs : NULL)
                         : complete && answers->doubtful[i] ? ambiguous
                                                            : unaccounted;
    }
}

void lp_gemms_match(const struct lp_gemms *gemms, struct lp_gemm_kernel *kernels, size_t count,
                    uint64_t sms)
{
    struct search search = { .gemms = gemms, .kernels = kernels, .count = count };
    struct form forms[FORMS_MOST];
    size_t form_count = find_forms(gemms, forms);

    for (size_t i = 0; i < count; i++)
        kernels[i].reason = unaccounted;
    if (count > KERNELS_MOST || gemms->items.count > PRODUCTS_MOST)
        return;
    for (size_t i = 0; i < gemms->items.count; i++)
        for (size_t k = 0; k < count; k++)
            search.fits[i][k] = fits(&gemms->items.items[i], &kernels[k], sms);
    do {
        try_forms(&search, forms, form_count);
    } while (next_forms(forms, form_count));
    answer(&search);
}
