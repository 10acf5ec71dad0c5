/* SPDX-License-Identifier: Apache-2.0 */
/* Linear layers that a checkpoint stores in different formats. */
#include <ctype.h>
#include <fnmatch.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/model/desc.h"

lp_u128 lp_part_bytes(const struct llmperf_model *model, enum lp_linear_part part, uint32_t dtype,
                      lp_u128 elements, uint64_t first, uint64_t count, int kind)
{
    const struct lp_decoder *decoder = &model->decoder;
    uint64_t kinds[LP_LAYER_KINDS], layers[LP_FORMATS] = { 0 };
    lp_u128 bytes = 0;

    if (!lp_stores_parts(model, dtype)) {
        lp_decoder_kinds(decoder, first, count, kinds);
        return lp_dtype_bytes(dtype, elements * kinds[kind]);
    }
    for (uint64_t i = first; i < first + count; i++)
        if (decoder->kinds[i] == kind)
            layers[decoder->formats[i][part]]++;
    for (uint32_t i = 0; i < LP_FORMATS; i++)
        if (layers[i])
            bytes += lp_dtype_bytes(i ? i : model->base_dtype, elements * layers[i]);
    return bytes;
}

/* Names of linear layers below "layers.N."; `main`: the part's largest one. */
static const struct {
    const char *name;
    enum lp_linear_part part;
    bool main;
} modules[] = {
    { "self_attn.q_proj", LP_PART_ATTENTION_IN, true },
    { "self_attn.q_b_proj", LP_PART_ATTENTION_IN, true },
    { "self_attn.qkv_proj", LP_PART_ATTENTION_IN, true },
    { "self_attn.k_proj", LP_PART_ATTENTION_IN, false },
    { "self_attn.v_proj", LP_PART_ATTENTION_IN, false },
    { "self_attn.q_a_proj", LP_PART_ATTENTION_IN, false },
    { "self_attn.kv_a_proj_with_mqa", LP_PART_ATTENTION_IN, false },
    { "self_attn.kv_b_proj", LP_PART_ATTENTION_IN, false },
    { "self_attn.o_proj", LP_PART_ATTENTION_OUT, true },
    { "mlp.up_proj", LP_PART_MLP, true },
    { "mlp.gate_proj", LP_PART_MLP, false },
    { "mlp.down_proj", LP_PART_MLP, false },
    { "mlp.shared_experts.up_proj", LP_PART_SHARED, true },
    { "mlp.shared_expert.up_proj", LP_PART_SHARED, true },
    { "mlp.experts.0.up_proj", LP_PART_EXPERTS, true },
    { "block_sparse_moe.experts.0.w1", LP_PART_EXPERTS, true },
};

/* Decoders of multimodal models are below another module. */
static const char *const prefixes[] = { "model.", "language_model.model.",
                                        "model.language_model." };

/* Nested or large bounds take the memory of a machine, references back take exponential time. */
static bool is_modest(const char *expression)
{
    const char *bound = strchr(expression, '{'), *escape = strchr(expression, '\\');

    for (; escape && escape[1]; escape = strchr(escape + 2, '\\'))
        if (isdigit((unsigned char)escape[1]))
            return false;
    return !bound || (strcspn(bound, "}") < 6 && !strchr(bound + 1, '{'));
}

/* POSIX has no \d. */
static bool compile(const char *expression, regex_t *regex)
{
    char text[1024];
    size_t used = 0;

    if (!is_modest(expression))
        return false;
    text[used++] = '^';
    text[used++] = '('; /* all alternatives begin at the name's start */
    for (const char *at = expression; *at; at++) {
        if (used + 8 > sizeof(text))
            return false;
        if (at[0] == '\\' && at[1] == 'd') {
            memcpy(text + used, "[0-9]", 5);
            used += 5;
            at++;
        } else {
            text[used++] = *at;
        }
    }
    text[used++] = ')';
    text[used] = '\0';
    return regcomp(regex, text, REG_EXTENDED | REG_NOSUB) == 0;
}

bool lp_parts_is_pattern(const char *entry)
{
    return strncmp(entry, "re:", 3) == 0 || strpbrk(entry, "*?[");
}

/* A module, also by a part of its path, or one above it. */
static bool is_within(const char *name, const char *entry)
{
    size_t length = strlen(entry);

    for (const char *at = name; length && (at = strstr(at, entry)); at++)
        if ((at == name || at[-1] == '.') && (at[length] == '.' || at[length] == '\0'))
            return true;
    return false;
}

static bool is_named(const char *name, const char *entry, const regex_t *regex)
{
    char below[512];

    if (regex)
        return regexec(regex, name, 0, NULL, 0) == 0;
    if (!lp_parts_is_pattern(entry))
        return is_within(name, entry);
    snprintf(below, sizeof(below), "%s.*", entry);
    return fnmatch(entry, name, 0) == 0 || fnmatch(below, name, 0) == 0;
}

static void mark(const char *entry, const regex_t *regex, uint64_t layer, unsigned char *out,
                 unsigned char *some)
{
    char name[160];

    for (size_t i = 0; i < LP_LENGTH(modules); i++)
        for (size_t j = 0; j < LP_LENGTH(prefixes); j++) {
            snprintf(name, sizeof(name), "%slayers.%u.%s", prefixes[j], (unsigned)layer,
                     modules[i].name);
            if (is_named(name, entry, regex))
                *(modules[i].main ? out : some) |= (unsigned char)(1 << modules[i].part);
        }
}

bool lp_parts_named(const char *entry, uint64_t layers, unsigned char *out, unsigned char *some)
{
    const char *number = strstr(entry, "layers.");
    uint64_t first = 0, end = layers;
    bool expression = strncmp(entry, "re:", 3) == 0;
    unsigned char smaller = 0;
    regex_t regex;
    char *after;

    if (expression && !compile(entry + 3, &regex))
        return false;
    if (!expression && number && isdigit((unsigned char)number[7])) {
        first = strtoull(number + 7, &after, 10);
        if (*after == '.' || *after == '\0')
            end = first < layers ? first + 1 : first;
        else
            first = 0;
    }
    for (uint64_t i = first; i < end; i++) {
        if (strcmp(entry, "Linear") == 0) {
            out[i] = (1 << LP_PARTS) - 1;
        } else if (i == first || lp_parts_is_pattern(entry)) {
            smaller = 0;
            mark(entry, expression ? &regex : NULL, i, &out[i], &smaller);
        } else { /* a name is the same in each layer */
            out[i] = out[first];
        }
        some[i] |= smaller;
    }
    if (expression)
        regfree(&regex);
    return true;
}
