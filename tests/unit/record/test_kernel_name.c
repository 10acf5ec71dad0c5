/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/profile/profile.h"

static void check_short(const char *name, const char *expected)
{
    struct lp_text text = { NULL, 0, 0, false };

    lp_kernel_shorten(&text, name);
    assert_string_equal(text.bytes, expected);
    lp_text_clear(&text);
}

static void check_demangled(const char *name, const char *expected)
{
    struct lp_text text = { NULL, 0, 0, false };

    lp_kernel_demangle(&text, name);
    assert_string_equal(text.bytes, expected);
    lp_text_clear(&text);
}

static void mangled_names_become_cpp_and_others_stay(void **state)
{
    (void)state;
    check_demangled("_Z4gemmIfEvT_", "void gemm<float>(float)");
    check_demangled("_ZN12_GLOBAL__N_11fEi", "(anonymous namespace)::f(int)");
    check_demangled("gemm", "gemm");
    check_demangled("_Znothing", "_Znothing");
    check_demangled("_Z", "_Z");
    check_demangled("", "");
}

static void types_arguments_and_parameters_are_cut(void **state)
{
    (void)state;
    check_short("void gemm<float, 4>(int)", "gemm");
    check_short("a::b::f(int*)", "a::b::f");
    check_short("unsigned long a<int>::f<char>(int)", "a::f");
    check_short("void f<(Kind)1, g<int>>(int (*)(int))", "f");
    check_short("plain_c_kernel", "plain_c_kernel");
    check_short("[memcpy HtoD]", "[memcpy HtoD]");
    check_short("", "");
}

static void anonymous_namespaces_and_lambdas_stay(void **state)
{
    (void)state;
    check_short("(anonymous namespace)::f(int)", "(anonymous namespace)::f");
    check_short("void a::(anonymous namespace)::f<int>(int)", "a::(anonymous namespace)::f");
    check_short("{lambda(int)#1}::operator()(int) const", "{lambda(int)#1}::operator()");
    check_short("void run<f(int)::{lambda(char)#2}>(int)", "run");
}

static void operators_keep_their_brackets(void **state)
{
    (void)state;
    check_short("a::operator()(int) const", "a::operator()");
    check_short("std::ostream& operator<< <char>(std::ostream&, char)", "operator<<");
    check_short("bool a::operator< <int>(int)", "a::operator<");
    check_short("A operator<<(A, int)", "operator<<");
    check_short("f<&a::operator->>(int)", "f");
    check_short("void my_operator<int>(int)", "my_operator");
    check_short("operators<int>(int)", "operators");
}

static void unbalanced_names_give_something(void **state)
{
    static const char *const names[] = {
        "void f<int, g<float", "f>", "f<a>>(x)", "<", ">", "(", "((((", "{lambda(", "operator",
        "operator<",           " ",  "a b c "
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct lp_text text = { NULL, 0, 0, false };

        lp_kernel_shorten(&text, names[i]);
        assert_true(text.length > 0 && strlen(text.bytes) == text.length);
        lp_text_clear(&text);
    }
    check_short("void f<int, g<float", "f");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mangled_names_become_cpp_and_others_stay),
        cmocka_unit_test(types_arguments_and_parameters_are_cut),
        cmocka_unit_test(anonymous_namespaces_and_lambdas_stay),
        cmocka_unit_test(operators_keep_their_brackets),
        cmocka_unit_test(unbalanced_names_give_something),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
