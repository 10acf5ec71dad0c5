/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <strings.h>

#include "lib/base/secret.h"

#include "lib/base/vector.h"

#define NAME                                                                                       \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"                                         \
    "0123456789_-."
#define VALUE_END  " \t\r\n\"'`,;&|)}]" /* ends a value without quotes */
#define TOKEN_MOST 16                   /* longest prefix of a token */

/* Last words of secret names: "hf_token", "PGPASSWORD", "apikey". */
static const char *const secret_words[] = {
    "token",      "password",    "passwd",        "passphrase", "secret",
    "credential", "credentials", "apikey",        "accesskey",  "privatekey",
    "secretkey",  "authkey",     "authorization", "cookie",     "basicauth",
};
/* Only as whole words. */
static const char *const short_words[] = { "pass", "pwd", "auth", "pat", "dsn" };
/* Words that make a "key" a secret. */
static const char *const key_words[] = {
    "api",     "access",  "secret",       "private", "auth",   "account", "encryption",
    "signing", "license", "subscription", "service", "master", "shared",  "storage",
};
/* Before "token": not a secret, but of a model. */
static const char *const model_words[] = {
    "eos",   "bos",  "pad",  "unk",   "sep",     "cls", "mask", "stop", "start", "end", "image",
    "audio", "next", "last", "first", "special", "per", "max",  "min",  "new",   "num", "text",
};

/* Prefixes of tokens of well-known services. */
static const char *const beginnings[] = {
    "hf_",   "sk-",   "ghp_", "gho_", "ghs_", "github_pat_", "glpat-",
    "xoxb-", "xoxp-", "AKIA", "ASIA", "AIza", "eyJ",         "nvapi-",
};

struct word {
    const char *text;
    size_t length;
};

static bool is_one_of(struct word word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(list[i]) == word.length && strncasecmp(list[i], word.text, word.length) == 0)
            return true;
    return false;
}

static bool ends_secret(struct word word)
{
    for (size_t i = 0; i < LP_LENGTH(secret_words); i++) {
        size_t length = strlen(secret_words[i]);

        if (length <= word.length &&
            strncasecmp(secret_words[i], word.text + word.length - length, length) == 0)
            return true;
    }
    return false;
}

/* The word that ends at `*end`, which is moved to its start. */
static struct word take_word(const char *name, size_t *end)
{
    struct word word = { name, 0 };

    while (*end > 0 && strchr("-_.", name[*end - 1]))
        (*end)--;
    while (*end > 0 && !strchr("-_.", name[*end - 1])) {
        (*end)--;
        word.length++;
    }
    word.text = name + *end;
    return word;
}

bool lp_secret_is_name(const char *name, size_t length)
{
    struct word last = take_word(name, &length), before = take_word(name, &length);

    if (is_one_of(last, (const char *const[]){ "token" }, 1))
        return !is_one_of(before, model_words, LP_LENGTH(model_words));
    if (is_one_of(last, (const char *const[]){ "key" }, 1))
        return is_one_of(before, key_words, LP_LENGTH(key_words));
    return ends_secret(last) || is_one_of(last, short_words, LP_LENGTH(short_words));
}

/* Length of a value: up to its closing quote, or to a character that ends a word. */
static size_t value_length(const char *value, char quote)
{
    const char *end = quote ? strchr(value, quote) : NULL;

    return end ? (size_t)(end - value) : quote ? strlen(value) : strcspn(value, VALUE_END);
}

/* Add what precedes a value (sign, blanks, quote) and the mask. Returns the position after the
 * value. */
static const char *mask_value(struct lp_text *out, const char *at, const char *value, bool rest)
{
    char quote = *value == '"' || *value == '\'' ? *value++ : '\0';

    lp_text_add(out, at, (size_t)(value - at));
    if (!*value)
        return value;
    lp_text_puts(out, LP_SECRET_MASK);
    return value + (rest ? strlen(value) : value_length(value, quote));
}

/* The value of "Authorization: Bearer X" has several words. */
static const char *mask_field(struct lp_text *out, const char *at, const char *value)
{
    char quote = *value == '"' || *value == '\'' ? *value++ : '\0';
    size_t length = quote ? value_length(value, quote) : strcspn(value, "\r\n\"'");

    lp_text_add(out, at, (size_t)(value - at));
    if (length > 0)
        lp_text_puts(out, LP_SECRET_MASK);
    return value + length;
}

/* Add what follows a secret's name, with its value masked.
 * @param first  The name is at the start of the argument. */
static const char *mask_after(struct lp_text *out, const char *at, bool first, bool option,
                              bool *next)
{
    const char *sign = at + (*at == '"' || *at == '\'');

    sign += strspn(sign, " \t");
    if (*sign == '=')
        return mask_value(out, at, sign + 1, first);
    if (*sign == ':' && strncmp(sign, "://", 3) != 0)
        return mask_field(out, at, sign + 1 + strspn(sign + 1, " \t"));
    if (option && first && !*at)
        *next = true;
    if (option && sign > at && *sign != '-')
        return mask_value(out, at, sign, false);
    return at;
}

static bool is_token(struct word word)
{
    for (size_t i = 0; i < LP_LENGTH(beginnings); i++)
        if (word.length > TOKEN_MOST &&
            strncmp(word.text, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* "://user:password@host"; a user without password is a token if it is long. Returns the position
 * after it. */
static const char *mask_url(struct lp_text *out, const char *at)
{
    const char *user = at + 3;
    size_t length = strcspn(user, "/?# \t\r\n\"'"), name;

    lp_text_add(out, at, 3);
    while (length > 0 && user[length - 1] != '@')
        length--;
    if (length == 0)
        return user;
    name = strcspn(user, ":@");
    if (user[name] == ':')
        lp_text_add(out, user, name + 1);
    else if (name <= TOKEN_MOST)
        return user;
    lp_text_puts(out, LP_SECRET_MASK);
    return user + length - 1;
}

static const char *mask_word(struct lp_text *out, const char *argument, const char *at, bool *next)
{
    struct word word = { at, strspn(at, NAME) };
    const char *behind = at + word.length;

    if (is_token(word)) {
        lp_text_puts(out, LP_SECRET_MASK);
        return behind;
    }
    lp_text_add(out, at, word.length);
    if (lp_secret_is_name(at, word.length))
        return mask_after(out, behind, at == argument, *at == '-', next);
    if (word.length == 6 && strncasecmp(at, "bearer", 6) == 0 && *behind == ' ')
        return mask_value(out, behind, behind + 1, false);
    return behind;
}

void lp_secret_mask(struct lp_text *out, const char *argument, bool *next)
{
    bool is_value = *next && *argument != '-';

    *next = false;
    if (is_value) {
        lp_text_puts(out, LP_SECRET_MASK);
        return;
    }
    for (const char *at = argument; *at;) {
        if (strncmp(at, "://", 3) == 0) {
            at = mask_url(out, at);
        } else if (strchr(NAME, *at)) {
            at = mask_word(out, argument, at, next);
        } else {
            lp_text_add(out, at++, 1);
        }
    }
}
