/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/secret.h"

static void names_of_secrets_are_known(void **state)
{
    static const char *const secret[] = {
        "--api-key",     "OPENAI_API_KEY", "--token",
        "HF_TOKEN",      "hf-token",       "password",
        "--db.password", "PGPASSWORD",     "AWS_SECRET_ACCESS_KEY",
        "apiKey",        "authToken",      "--secret",
        "Authorization", "X-Api-Key",      "--auth",
        "client_secret", "DB_PASS",        "AWS_SESSION_TOKEN",
    };
    static const char *const plain[] = {
        "--max-tokens",  "max_token", "--eos-token", "tokenizer",  "--tokenizer-path",
        "prompt_tokens", "--key",     "keys",        "--sort-key", "passes",
        "compass",       "author",    "--bypass",    "",           "-",
        "---",           "key",       "monkey",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(secret) / sizeof(secret[0]); i++)
        if (!lp_secret_is_name(secret[i], strlen(secret[i])))
            fail_msg("%s is a secret", secret[i]);
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        if (lp_secret_is_name(plain[i], strlen(plain[i])))
            fail_msg("%s is no secret", plain[i]);
}

static void check(const char *argument, const char *expected)
{
    struct lp_text out = { NULL, 0, 0, false };
    bool next = false;

    lp_secret_mask(&out, argument, &next);
    assert_string_equal(out.bytes ? out.bytes : "", expected);
    assert_false(next);
    lp_text_clear(&out);
}

static void secrets_within_an_argument_are_masked(void **state)
{
    (void)state;
    check("--token=a,b c", "--token=***");
    check("HF_TOKEN=abc", "HF_TOKEN=***");
    check("--token=", "--token=");
    check("--env-var=A=b,HF_TOKEN=x,C=d", "--env-var=A=b,HF_TOKEN=***,C=d");
    check("export HF_TOKEN=x; run --api-key k --steps 3",
          "export HF_TOKEN=***; run --api-key *** --steps 3");
    check("run --password 'a b' --token", "run --password '***' --token");
    check("Authorization: Bearer abc.def", "Authorization: ***");
    check("X-Api-Key:abc", "X-Api-Key:***");
    check("{\"api_key\": \"a b\", \"n\": 1}", "{\"api_key\": \"***\", \"n\": 1}");
    check("use bearer abc now", "use bearer *** now");
    check("https://user:pass@host/path", "https://user:***@host/path");
    check("https://abcdefghijklmnopqrst@host", "https://***@host");
    check("ssh://git@host/a:b@c", "ssh://git@host/a:b@c");
    check("hf_abcdefghijklmnopqrstuvwxyz", "***");
    check("--hub=ghp_abcdefghijklmnopqrstuvwxyz,2", "--hub=***,2");
}

static void other_arguments_stay(void **state)
{
    static const char *const plain[] = {
        "--max-tokens=100",
        "--tokenizer=/models/a",
        "sk-1",
        "a=b=c",
        "https://host:80/a@b",
        "key: value",
        "--trace=cuda,nvtx",
        "hf_small",
        "",
        "tokens: 5, mask",
        "1 '2 3'",
        "print(\"password\", tokens)",
        "://@",
        "://",
        "a://:@",
    };

    (void)state;
    for (size_t i = 0; i + 1 < sizeof(plain) / sizeof(plain[0]); i++)
        check(plain[i], plain[i]);
}

static void the_value_after_an_option_is_masked(void **state)
{
    static const char *const arguments[][2] = {
        { "engine", "engine" },
        { "--api-key", "--api-key" },
        { "sk-1 2", "***" },
        { "--token", "--token" },
        { "--steps", "--steps" },
        { "3", "3" },
        { "--password", "--password" },
        { "x", "***" },
        { "y", "y" },
    };
    struct lp_text out = { NULL, 0, 0, false };
    bool next = false;

    (void)state;
    for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
        out.length = 0;
        lp_secret_mask(&out, arguments[i][0], &next);
        assert_string_equal(out.bytes, arguments[i][1]);
    }
    lp_text_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_secrets_are_known),
        cmocka_unit_test(secrets_within_an_argument_are_masked),
        cmocka_unit_test(other_arguments_stay),
        cmocka_unit_test(the_value_after_an_option_is_masked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
