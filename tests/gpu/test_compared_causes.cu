/* SPDX-License-Identifier: Apache-2.0 */
/* Slow-downs planted into the steps of a loop: the comparison with the loop without them names each
 * first, with about the time that it costs without a session. */
#include <time.h>
#include <unistd.h>

#include "tests/gpu/check.h"

#define STEPS  40
#define LAYERS 4
#define CYCLES 200000 /* about 0.1 ms */
#define BYTES  (32 << 20)

struct plant {
    const char *name; /* in the first cause */
    long long attention_cycles;
    unsigned sleep_us;
    bool copies;
};

static void *memory, *pinned;

static __global__ void attention_kernel(long long cycles)
{
    long long start = clock64();

    while (clock64() - start < cycles)
        ;
}

static double now_ms()
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Mean time of a step. */
static double run_steps(const struct plant &plant)
{
    double begin_ms = now_ms();

    for (int i = 0; i < STEPS; i++) {
        llmperf_decode_step_begin(1, 100);
        usleep(plant.sleep_us);
        for (int layer = 0; layer < LAYERS; layer++) {
            spin<<<1, 1>>>(CYCLES);
            attention_kernel<<<1, 1>>>(plant.attention_cycles);
        }
        if (plant.copies)
            CUDA(cudaMemcpyAsync(pinned, memory, BYTES, cudaMemcpyDeviceToHost));
        CUDA(cudaDeviceSynchronize());
        llmperf_decode_step_end();
    }
    return (now_ms() - begin_ms) / STEPS;
}

static llmperf_profile *record(const struct plant &plant)
{
    llmperf_session *session = start_session(LLMPERF_TIER_DEEP, 0);
    llmperf_profile *profile;

    run_steps(plant);
    profile = stop_session(session);
    expect_complete(profile);
    return profile;
}

/* The number of a key after a place in a JSON text. */
static double number_after(const char *text, const char *key)
{
    const char *found = text ? strstr(text, key) : NULL;

    return found ? atof(strchr(found + strlen(key), ':') + 1) : NAN;
}

static void check_plant(const struct plant &plain, const struct plant &plant)
{
    double gain_ms = -run_steps(plain), cause_ms;
    llmperf_profile *base = record(plain), *fresh = record(plant);
    char *text = NULL;
    const char *causes, *first;

    gain_ms += run_steps(plant);
    CHECK(llmperf_runs_compare(&base, 1, &fresh, 1, 5, LLMPERF_TEXT_PLAIN, &text, NULL) == 0, "%s",
          llmperf_last_error());
    printf("%.*s\n", text ? (int)strcspn(text + 20, "\n") + 20 : 0, text);
    llmperf_text_free(text);
    CHECK(llmperf_runs_compare(&base, 1, &fresh, 1, 5, LLMPERF_TEXT_JSON, &text, NULL) == 0, "%s",
          llmperf_last_error());
    causes = text ? strstr(text, "\"causes\"") : NULL;
    first = causes ? strstr(causes, plant.name) : NULL;
    cause_ms = number_after(causes, "\"change_ms\"");
    printf("%s: %.4f ms in the comparison, %.4f ms without a session\n", plant.name, cause_ms,
           gain_ms);
    CHECK(first && first < strstr(causes, "\"change_ms\""), "the first cause is not %s",
          plant.name);
    CHECK(cause_ms > 0.75 * gain_ms && cause_ms < 1.33 * gain_ms, "%f ms of %f ms", cause_ms,
          gain_ms);
    llmperf_text_free(text);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

int main(void)
{
    const struct plant plain = { "", CYCLES, 0, false };

    need_device(1);
    CUDA(cudaMalloc(&memory, BYTES));
    CUDA(cudaMallocHost(&pinned, BYTES));
    run_steps({ "", CYCLES, 0, true }); /* warm */
    check_plant(plain, { "attention_kernel", 3 * CYCLES, 0, false });
    check_plant(plain, { "host time before the first kernel", CYCLES, 1000, false });
    check_plant(plain, { "[memcpy DtoH]", CYCLES, 0, true });
    return finish();
}
