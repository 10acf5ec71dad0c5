/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/measure/kernels.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "llmperf/api.h"
#include "lib/hardware/measured_peaks.h"

#define THREADS     512
#define UNROLL      4  /* 16-byte loads of a thread in flight */
#define PIECE_BYTES 16 /* bytes of a load */
#define MOST_BLOCKS 32 /* per multiprocessor */

/* %r4: this thread, %r5: threads of the grid. */
#define PTX_THREAD                                                                                 \
    "    mov.u32 %r0, %ctaid.x;\n"                                                                 \
    "    mov.u32 %r1, %ntid.x;\n"                                                                  \
    "    mov.u32 %r2, %tid.x;\n"                                                                   \
    "    mov.u32 %r3, %nctaid.x;\n"                                                                \
    "    mad.lo.u32 %r4, %r0, %r1, %r2;\n"                                                         \
    "    mul.lo.u32 %r5, %r3, %r1;\n"

/* Parameters: source, number of loads, destination. A thread does four loads, one grid apart, and
 * advances by four grids. It combines the values and writes only if the result has one improbable
 * value, so that the compiler keeps the loads. */
static const char read_ptx[] =
    ".visible .entry lp_read(.param .u64 from, .param .u64 pieces, .param .u64 to)\n"
    "{\n"
    "    .reg .pred %p<2>;\n"
    "    .reg .b32 %r<24>;\n"
    "    .reg .b64 %d<12>;\n"
    "    ld.param.u64 %d0, [from];\n"
    "    ld.param.u64 %d1, [pieces];\n"
    "    ld.param.u64 %d2, [to];\n"
    "    cvta.to.global.u64 %d0, %d0;\n"
    "    cvta.to.global.u64 %d2, %d2;\n" PTX_THREAD "    cvt.u64.u32 %d3, %r4;\n"
    "    mul.wide.u32 %d4, %r5, 16;\n"
    "    shl.b64 %d5, %d3, 4;\n"
    "    add.u64 %d6, %d0, %d5;\n"
    "    add.u64 %d7, %d6, %d4;\n"
    "    add.u64 %d8, %d7, %d4;\n"
    "    add.u64 %d9, %d8, %d4;\n"
    "    shl.b64 %d10, %d4, 2;\n"
    "    mul.wide.u32 %d11, %r5, 4;\n"
    "    mov.u32 %r6, 0;\n"
    "read_loop:\n"
    "    setp.ge.u64 %p0, %d3, %d1;\n"
    "    @%p0 bra read_done;\n"
    "    ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%d6];\n"
    "    ld.global.v4.u32 {%r12, %r13, %r14, %r15}, [%d7];\n"
    "    ld.global.v4.u32 {%r16, %r17, %r18, %r19}, [%d8];\n"
    "    ld.global.v4.u32 {%r20, %r21, %r22, %r23}, [%d9];\n"
    "    add.u64 %d6, %d6, %d10;\n"
    "    add.u64 %d7, %d7, %d10;\n"
    "    add.u64 %d8, %d8, %d10;\n"
    "    add.u64 %d9, %d9, %d10;\n"
    "    add.u64 %d3, %d3, %d11;\n"
    "    xor.b32 %r8, %r8, %r9;\n"
    "    xor.b32 %r10, %r10, %r11;\n"
    "    xor.b32 %r12, %r12, %r13;\n"
    "    xor.b32 %r14, %r14, %r15;\n"
    "    xor.b32 %r16, %r16, %r17;\n"
    "    xor.b32 %r18, %r18, %r19;\n"
    "    xor.b32 %r20, %r20, %r21;\n"
    "    xor.b32 %r22, %r22, %r23;\n"
    "    xor.b32 %r8, %r8, %r10;\n"
    "    xor.b32 %r12, %r12, %r14;\n"
    "    xor.b32 %r16, %r16, %r18;\n"
    "    xor.b32 %r20, %r20, %r22;\n"
    "    xor.b32 %r8, %r8, %r12;\n"
    "    xor.b32 %r16, %r16, %r20;\n"
    "    xor.b32 %r6, %r6, %r8;\n"
    "    add.u32 %r6, %r6, %r16;\n"
    "    bra read_loop;\n"
    "read_done:\n"
    "    setp.ne.u32 %p1, %r6, 0x5bd1e995;\n"
    "    @%p1 bra read_end;\n"
    "    st.global.u32 [%d2], %r6;\n"
    "read_end:\n"
    "    ret;\n"
    "}\n";

/* Parameters: destination, words, seed, and, or. A word is a hash of its index. */
static const char fill_ptx[] =
    ".visible .entry lp_fill(.param .u64 to, .param .u64 words, .param .u32 seed,\n"
    "                        .param .u32 keep, .param .u32 put)\n"
    "{\n"
    "    .reg .pred %p<1>;\n"
    "    .reg .b32 %r<16>;\n"
    "    .reg .b64 %d<8>;\n"
    "    ld.param.u64 %d0, [to];\n"
    "    ld.param.u64 %d1, [words];\n"
    "    ld.param.u32 %r8, [seed];\n"
    "    ld.param.u32 %r9, [keep];\n"
    "    ld.param.u32 %r10, [put];\n"
    "    cvta.to.global.u64 %d0, %d0;\n" PTX_THREAD "    cvt.u64.u32 %d2, %r4;\n"
    "    cvt.u64.u32 %d3, %r5;\n"
    "fill_loop:\n"
    "    setp.ge.u64 %p0, %d2, %d1;\n"
    "    @%p0 bra fill_end;\n"
    "    cvt.u32.u64 %r11, %d2;\n"
    "    mad.lo.u32 %r11, %r11, 0x9e3779b1, %r8;\n"
    "    shr.u32 %r12, %r11, 16;\n"
    "    xor.b32 %r11, %r11, %r12;\n"
    "    mul.lo.u32 %r11, %r11, 0x7feb352d;\n"
    "    shr.u32 %r12, %r11, 15;\n"
    "    xor.b32 %r11, %r11, %r12;\n"
    "    mul.lo.u32 %r11, %r11, 0x846ca68b;\n"
    "    shr.u32 %r12, %r11, 16;\n"
    "    xor.b32 %r11, %r11, %r12;\n"
    "    and.b32 %r11, %r11, %r9;\n"
    "    or.b32 %r11, %r11, %r10;\n"
    "    shl.b64 %d4, %d2, 2;\n"
    "    add.u64 %d4, %d0, %d4;\n"
    "    st.global.u32 [%d4], %r11;\n"
    "    add.u64 %d2, %d2, %d3;\n"
    "    bra fill_loop;\n"
    "fill_end:\n"
    "    ret;\n"
    "}\n";

/* PTX of 2017, which every driver since compiles for every GPU since. */
#define PTX_HEAD ".version 6.0\n.target sm_70\n.address_size 64\n"

int lp_kernels_open(struct lp_kernels *kernels, struct lp_bench *bench)
{
    char ptx[sizeof(PTX_HEAD) + sizeof(read_ptx) + sizeof(fill_ptx)];
    int result;

    snprintf(ptx, sizeof(ptx), PTX_HEAD "%s%s", read_ptx, fill_ptx);
    if ((result = bench->cuda.module_load(&bench->module, ptx)) != 0)
        return lp_cuda_error(&bench->cuda, "cuModuleLoadData", result);
    if ((result = bench->cuda.module_function(&kernels->read, bench->module, "lp_read")) != 0 ||
        (result = bench->cuda.module_function(&kernels->fill, bench->module, "lp_fill")) != 0)
        return lp_cuda_error(&bench->cuda, "cuModuleGetFunction", result);
    return 0;
}

static int launch(struct lp_bench *bench, void *function, unsigned blocks, void **parameters)
{
    return bench->cuda.launch(function, blocks, 1, 1, THREADS, 1, 1, 0, bench->stream, parameters,
                              NULL);
}

int lp_kernels_fill(const struct lp_kernels *kernels, struct lp_bench *bench, uint32_t and_mask,
                    uint32_t or_mask)
{
    uint64_t words = bench->buffer_bytes / 4;
    int result = 0;

    for (uint32_t i = 0; i < LP_BENCH_BUFFERS && result == 0; i++) {
        uint32_t seed = 0x2545f491 * (i + 1);
        void *parameters[] = { &bench->buffers[i], &words, &seed, &and_mask, &or_mask };

        result = launch(bench, kernels->fill, 8 * (unsigned)bench->sm_count, parameters);
    }
    if (result == 0)
        result = bench->cuda.stream_synchronize(bench->stream);
    return result == 0 ? 0 : lp_cuda_error(&bench->cuda, "filling the buffers", result);
}

/* Reading or copying. */
struct memory_work {
    void *function; /* NULL: the driver's copy */
    unsigned blocks;
    uint64_t pieces;
};

/* Buffers alternate, so that cached data of the previous one is not reused. */
static int start(struct lp_bench *bench, void *context, uint64_t turn)
{
    struct memory_work *work = context;
    lp_device_address *from = &bench->buffers[turn % LP_BENCH_BUFFERS];
    lp_device_address *to = &bench->buffers[(turn + 1) % LP_BENCH_BUFFERS];
    void *parameters[] = { from, &work->pieces, to };

    if (!work->function)
        return bench->cuda.copy(*to, *from, (size_t)work->pieces * PIECE_BYTES, bench->stream);
    return launch(bench, work->function, work->blocks, parameters);
}

void lp_measured_peak_take(struct lp_measured_peak *measured_peak, double work, double scale,
                           const struct lp_times *times, const char *how)
{
    if (work / (times->best_ms * scale) <= measured_peak->best)
        return;
    measured_peak->best = work / (times->best_ms * scale);
    measured_peak->median = work / (times->median_ms * scale);
    measured_peak->clock_mhz = times->clock_mhz;
    measured_peak->repeats = times->repeats;
    measured_peak->reason[0] = '\0';
    snprintf(measured_peak->how, sizeof(measured_peak->how), "%s", how);
}

void lp_measured_peak_fail(struct lp_measured_peak *measured_peak)
{
    if (isnan(measured_peak->best))
        snprintf(measured_peak->reason, sizeof(measured_peak->reason), "%s", llmperf_last_error());
}

/* A whole number of grid rounds: the kernels do not handle a remainder. */
static uint64_t pieces_of(const struct lp_bench *bench, unsigned blocks)
{
    uint64_t round = (uint64_t)blocks * THREADS * UNROLL;

    return bench->buffer_bytes / PIECE_BYTES / round * round;
}

/* The number of blocks that is fastest in a short trial. */
static int find_blocks(struct lp_bench *bench, struct memory_work *work)
{
    double best = 0;
    unsigned best_blocks = 0;

    for (unsigned blocks = 1; blocks <= MOST_BLOCKS; blocks *= 2) {
        struct lp_times times;
        int status;

        work->blocks = blocks * (unsigned)bench->sm_count;
        work->pieces = pieces_of(bench, work->blocks);
        if (work->pieces == 0)
            break;
        if ((status = lp_bench_repeat(bench, start, work, bench->seconds / 20, &times)) < 0)
            return status;
        if ((double)work->pieces / times.median_ms > best) {
            best = (double)work->pieces / times.median_ms;
            best_blocks = work->blocks;
        }
    }
    work->blocks = best_blocks;
    work->pieces = pieces_of(bench, best_blocks);
    return 0;
}

static void measure(struct lp_bench *bench, void *function, double factor,
                    struct lp_measured_peak *measured_peak)
{
    struct memory_work work = { function, 0, bench->buffer_bytes / PIECE_BYTES };
    struct lp_times times;
    char how[128];

    if ((function && find_blocks(bench, &work) < 0) ||
        lp_bench_repeat(bench, start, &work, bench->seconds, &times) < 0) {
        lp_measured_peak_fail(measured_peak);
        return;
    }
    if (function)
        snprintf(how, sizeof(how), "kernel of %u blocks x %d threads, %" PRIu64 " MB per repeat",
                 work.blocks, THREADS, work.pieces * PIECE_BYTES / 1000000);
    else
        snprintf(how, sizeof(how), "the driver's copy, %" PRIu64 " MB per repeat",
                 work.pieces * PIECE_BYTES / 1000000);
    lp_measured_peak_take(measured_peak, factor * (double)work.pieces * PIECE_BYTES, 1e6, &times,
                          how);
}

void lp_measure_memory(const struct lp_kernels *kernels, struct lp_bench *bench,
                       struct lp_measured_peaks *measured_peaks)
{
    measure(bench, kernels->read, 1, &measured_peaks->items[LP_PEAK_READ]);
    /* Read and written bytes. */
    measure(bench, NULL, 2, &measured_peaks->items[LP_PEAK_COPY]);
}
