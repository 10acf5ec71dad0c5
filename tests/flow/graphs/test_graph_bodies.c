/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels in the bodies of conditional nodes name no launch: it is found by time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/graphs.h"
#include "tests/support/play.h"

/* Kernels in the body of a conditional node name no launch. */
#define CONDITIONAL                                                                                \
    "begin head\nnode graph=1 index=0 nodes=2\nend\nbegin body\nnode graph=2 index=0\nend\n"       \
    "node_clone graph=5 index=0 from=1 source=0 nodes=2\n"                                         \
    "node_clone graph=6 index=0 from=2 source=0\ngraph_inline graph=5 from=6\n"                    \
    "instantiate graph=5 from=1 nodes=2\n"

static void kernels_of_conditional_bodies_find_their_launch(void **state)
{
    llmperf_profile *profile = play_script(
        CONDITIONAL "begin step\nrepeat 50\ngraph h,c,b graph=5 index=0 body=1\ndone\nend\n");

    (void)state;
    assert_int_equal(captured_calls(profile, "h", "LLM@step", "LLM@head"), 50);
    assert_int_equal(captured_calls(profile, "b", "LLM@step", "LLM@body"), 50);
    assert_int_equal(ledger_of(profile).kernels_unattributed, 0);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    llmperf_profile_free(profile);
}

static void conditional_bodies_go_to_the_launch_that_ran_them(void **state)
{
    (void)state;
    check_captured(
        CONDITIONAL "repeat 20\nbegin one\ngraph h,c,b graph=5 index=0 body=1\nend\n"
                    "begin two\ngraph h,c,b graph=5 index=0 body=1\n"
                    "graph h,c,b graph=5 index=0 body=1\nend\ndone\n",
        0, CAPTURED({ "b", "LLM@one", "LLM@body", 20 }, { "b", "LLM@two", "LLM@body", 40 }));
}

static void a_graph_of_bodies_only_is_in_the_region_of_its_launches(void **state)
{
    llmperf_profile *profile = play_script(
        CONDITIONAL "begin step\nrepeat 5\ngraph b graph=5 index=2 body=1\ndone\nend\n");

    (void)state;
    assert_int_equal(captured_calls(profile, "b", "LLM@step", "LLM@body"), 5);
    llmperf_profile_free(profile);
}

static void bodies_of_an_unclear_launch_are_not_guessed(void **state)
{
    llmperf_profile *profile =
        play_script(CONDITIONAL "begin one\ngraph b graph=5 index=2 body=1\nend\n"
                                "begin two\ngraph b graph=5 index=2 body=1\nend\n");

    (void)state;
    assert_int_equal(ledger_of(profile).kernels_unattributed, 2);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_INCOMPLETE);
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_of_conditional_bodies_find_their_launch),
        cmocka_unit_test(conditional_bodies_go_to_the_launch_that_ran_them),
        cmocka_unit_test(a_graph_of_bodies_only_is_in_the_region_of_its_launches),
        cmocka_unit_test(bodies_of_an_unclear_launch_are_not_guessed),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
