/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/machine/program.h"

#define PROGRAM(line) lp_program_of(line "\0", sizeof(line))

static void a_program_is_its_first_argument(void **state)
{
    (void)state;
    assert_string_equal(PROGRAM("/opt/engine\0--key\0secret"), "/opt/engine");
    assert_string_equal(PROGRAM("pythonic\0script.py"), "pythonic");
    assert_null(lp_program_of("", 0));
    assert_null(lp_program_of(NULL, 0));
}

static void a_program_of_python_is_its_script(void **state)
{
    (void)state;
    assert_string_equal(PROGRAM("/usr/bin/python3.12\0serve.py\0--key"), "serve.py");
    assert_string_equal(PROGRAM("python\0-u\0-W\0ignore\0-X\0dev\0/srv/app.py"), "/srv/app.py");
    assert_string_equal(PROGRAM("python3\0-Wignore\0/usr/bin/vllm\0serve"), "/usr/bin/vllm");
    assert_string_equal(PROGRAM("pypy3\0run.py"), "run.py");
}

static void a_program_of_python_is_its_module(void **state)
{
    (void)state;
    assert_string_equal(PROGRAM("python3\0-m\0vllm.entrypoints\0--key"), "vllm.entrypoints");
    assert_string_equal(PROGRAM("python3\0-um\0sglang.launch_server"), "sglang.launch_server");
    assert_string_equal(PROGRAM("python3\0-mtimeit"), "timeit");
}

/* Code on the command line may hold anything. */
static void code_and_input_of_python_are_not_shown(void **state)
{
    (void)state;
    assert_string_equal(PROGRAM("python3\0-c\0print('secret')"), "python3");
    assert_string_equal(PROGRAM("python3\0-Bc\0print('secret')"), "python3");
    assert_string_equal(PROGRAM("python3\0-\0argument"), "python3");
    assert_string_equal(PROGRAM("python3\0-m"), "python3");
    assert_string_equal(PROGRAM("python3"), "python3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_is_its_first_argument),
        cmocka_unit_test(a_program_of_python_is_its_script),
        cmocka_unit_test(a_program_of_python_is_its_module),
        cmocka_unit_test(code_and_input_of_python_are_not_shown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
