/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the first calls of a stage are warm-up: of series of times, and of those that are not.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lib/statistics/warm_up.h"

static uint64_t seed = 20260801;

static double random_unit(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (double)(seed >> 11) * 0x1p-53;
}

/* Log-normal, with this standard deviation of the logarithm. */
static double noise(double sigma)
{
    double u = random_unit() + 1e-300, v = random_unit();

    return exp(sigma * sqrt(-2 * log(u)) * cos(2 * 3.14159265358979 * v));
}

struct shape {
    double (*at)(const struct shape *shape, size_t call);
    size_t calls, slow; /* slow: at the begin */
    double factor, sigma;
};

static double prefix(const struct shape *shape, size_t call)
{
    return call < shape->slow ? 10 * shape->factor : 10;
}

/* Each call of the warm-up is faster than the one before, from 5 to 2 times the later ones. */
static double falling_prefix(const struct shape *shape, size_t call)
{
    return call < shape->slow ? 50 - 30 * (double)call / (double)shape->slow : 10;
}

static double growing(const struct shape *shape, size_t call)
{
    return 10 + shape->factor * 10 * (double)call / (double)shape->calls;
}

/* To 1 / factor in the end. */
static double falling(const struct shape *shape, size_t call)
{
    return 100 - 100 * (1 - 1 / shape->factor) * (double)call / (double)shape->calls;
}

/* Requests: a prefill, then decode steps. */
static double mixture(const struct shape *shape, size_t call)
{
    return call % (shape->slow + 1) == 0 ? 10 * shape->factor : 10;
}

/* Slow and fast calls by chance, one in `slow` is slow. */
static double bimodal(const struct shape *shape, size_t call)
{
    (void)call;
    return random_unit() * (double)shape->slow < 1 ? 10 * shape->factor : 10;
}

/* As many slow calls as fast ones, again and again. */
static double phases(const struct shape *shape, size_t call)
{
    return call / shape->slow % 2 == 0 ? 10 * shape->factor : 10;
}

static size_t warm_up_of(const struct shape *shape)
{
    struct lp_distribution later = { 0 };
    double first_ms[LP_WARM_UP_HELD];
    size_t held = 0, found;

    for (size_t i = 0; i < shape->calls; i++) {
        double ms = shape->at(shape, i) * noise(shape->sigma);

        if (held < LP_WARM_UP_HELD)
            first_ms[held++] = ms;
        else
            assert_int_equal(lp_distribution_add(&later, (uint64_t)(ms * 1e6)), 0);
    }
    found = lp_warm_up_calls(first_ms, held, &later);
    lp_distribution_clear(&later);
    return found;
}

static void slow_first_calls_are_warm_up(void **state)
{
    static const struct shape shapes[] = {
        { prefix, 2, 1, 10, 0 },      { prefix, 3, 1, 10, 0 },
        { prefix, 10, 1, 2.4, 0.02 }, { prefix, 92, 1, 50, 0.2 },
        { prefix, 12, 5, 3, 0.05 },   { prefix, 100, 5, 3, 0.1 },
        { prefix, 92, 31, 2.4, 0.1 }, { prefix, 5000, 31, 2.4, 0.1 },
        { prefix, 400, 63, 2, 0.05 }, { falling_prefix, 100, 31, 0, 0.05 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
        if (warm_up_of(&shapes[i]) != shapes[i].slow)
            fail_msg("series %zu: %zu calls of %zu", i, warm_up_of(&shapes[i]), shapes[i].slow);
}

/* Decode steps of transformers, eager, on an H100: three requests of which the first compiles. */
static void the_first_request_of_a_program_is_warm_up(void **state)
{
    static const double first_ms[] = { 530.4, 83.7, 74.9, 73.9, 73.7, 75.0, 74.0, 59.9, 53.4, 53.3,
                                       72.6,  73.6, 75.2, 75.3, 75.7, 76.6, 77.4, 76.5, 75.7, 82.9,
                                       81.3,  82.7, 79.8, 19.3, 17.8, 17.3, 17.8, 17.6, 17.6, 14.0,
                                       15.0,  16.6, 16.3, 14.7, 16.5, 15.9, 13.7, 13.3, 12.0, 15.8,
                                       13.3,  16.7, 15.6, 17.4, 16.9, 17.1, 14.3, 15.1, 12.7, 15.7,
                                       13.2,  11.5, 15.1, 12.1, 12.6, 15.1, 12.2, 12.7, 14.7, 11.9,
                                       11.3,  12.5, 15.5, 16.2 };
    static const double later_ms[] = { 12.4, 12.5, 14.6, 14.2, 12.4, 13.2, 14.6, 14.4, 14.9, 14.2,
                                       12.0, 11.2, 11.2, 11.2, 10.8, 10.8, 10.7, 10.6, 11.2, 11.6,
                                       11.4, 10.9, 10.9, 10.7, 10.9, 10.9, 10.8, 10.8 };
    struct lp_distribution later = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof(later_ms) / sizeof(*later_ms); i++)
        assert_int_equal(lp_distribution_add(&later, (uint64_t)(later_ms[i] * 1e6)), 0);
    assert_int_equal(lp_warm_up_calls(first_ms, LP_WARM_UP_HELD, &later), 24);
    lp_distribution_clear(&later);
}

/* A false claim is worse than a missed one: 200 runs of each, none may be claimed. Of a random
 * first call alone nobody can tell. */
static void other_changes_are_no_warm_up(void **state)
{
    static const struct shape shapes[] = {
        { prefix, 100, 0, 1, 0 },       { prefix, 100, 0, 1, 0.3 },
        { prefix, 3, 0, 1, 0.3 },       { prefix, 8, 0, 1, 0.2 },
        { prefix, 1000, 0, 1, 0.3 },    { growing, 100, 0, 3, 0.05 },
        { growing, 2000, 0, 9, 0.1 },   { falling, 100, 0, 3, 0.02 },
        { falling, 200, 0, 3, 0.05 },   { falling, 1000, 0, 2, 0.05 },
        { mixture, 100, 1, 20, 0.05 },  { mixture, 130, 31, 20, 0.05 },
        { mixture, 90, 8, 5, 0.05 },    { bimodal, 200, 3, 4, 0.05 },
        { bimodal, 1000, 10, 4, 0.05 }, { bimodal, 1000, 25, 10, 0.05 },
        { phases, 200, 31, 2.4, 0.05 }, { phases, 130, 31, 2.4, 0.05 },
        { phases, 128, 64, 3, 0.05 },   { prefix, 3, 1, 4, 0 },
        { prefix, 1, 1, 9, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
        for (size_t run = 0; run < 200; run++) {
            size_t found = warm_up_of(&shapes[i]);

            if (found)
                fail_msg("series %zu, run %zu: %zu calls", i, run, found);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_first_calls_are_warm_up),
        cmocka_unit_test(the_first_request_of_a_program_is_warm_up),
        cmocka_unit_test(other_changes_are_no_warm_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
