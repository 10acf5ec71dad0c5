/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/model/fields.h"
#include "lib/base/status.h"

#define WARNINGS_MAX 100

/* Keys of config.json without influence on weights or work: names, token ids, training, sampling,
 * and position encoding. */
static const char *const harmless[] = {
    "_attn_implementation",
    "_name_or_path",
    "activation_function",
    "add_cross_attention",
    "architectures",
    "attention_dropout",
    "attn_implementation",
    "attn_logit_softcapping",
    "attention_probs_dropout_prob",
    "attn_pdrop",
    "auto_map",
    "aux_loss_alpha",
    "boi_token_index",
    "bos_token_id",
    "cache_implementation",
    "candidate_resolutions",
    "drop_path_rate",
    "dropout",
    "dtype",
    "embd_pdrop",
    "encoder_stride",
    "eoi_token_index",
    "eos_token_id",
    "ep_size",
    "final_logit_softcapping",
    "global_view_pos",
    "hidden_act",
    "hidden_activation",
    "hidden_dropout_prob",
    "id2label",
    "image_token_id",
    "image_token_index",
    "initializer_factor",
    "initializer_range",
    "input_jitter_noise",
    "is_decoder",
    "is_encoder_decoder",
    "label2id",
    "layer_norm_eps",
    "lm_head",
    "layer_norm_epsilon",
    "logit_scale_init_value",
    "max_length",
    "max_position_embeddings",
    "mm_tokens_per_image",
    "model_name",
    "n_ctx",
    "n_group",
    "norm_topk_prob",
    "num_hidden_groups",
    "output_attentions",
    "output_hidden_states",
    "output_router_logits",
    "out_features",
    "out_indices",
    "pad_token_id",
    "partial_rotary_factor",
    "pretraining_tp",
    "problem_type",
    "projection_dim",
    "qk_head_dim",
    "query_pre_attn_scalar",
    "reorder_and_upcast_attn",
    "resid_pdrop",
    "return_dict",
    "rms_norm_eps",
    "rm_head",
    "rope_interleave",
    "rope_local_base_freq",
    "rope_parameters",
    "rope_scaling",
    "rope_theta",
    "routed_scaling_factor",
    "router_aux_loss_coef",
    "router_jitter_noise",
    "scale_attn_by_inverse_layer_idx",
    "scale_attn_weights",
    "scoring_func",
    "seq_aux",
    "sliding_window_size",
    "stage_names",
    "summary_activation",
    "summary_first_dropout",
    "summary_proj_to_labels",
    "summary_type",
    "summary_use_proj",
    "task_specific_params",
    "tile_tag",
    "topk_group",
    "topk_method",
    "torch_dtype",
    "transformers_version",
    "unsloth_fixed",
    "use_bfloat16",
    "use_cache",
    "use_mrope",
};

static const char *keep(struct lp_reader *reader, const char *format, va_list args)
{
    char line[512];

    vsnprintf(line, sizeof(line), format, args);
    return lp_strings_add(&reader->model->texts, line);
}

int lp_reader_fail(struct lp_reader *reader, int status, const char *format, ...)
{
    char line[512];
    va_list args;

    if (reader->status < 0)
        return reader->status;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    return reader->status = lp_error(status, "%s", line);
}

int lp_reader_memory(struct lp_reader *reader)
{
    return lp_reader_fail(reader, LLMPERF_ENOMEM, "out of memory while reading %s", reader->file);
}

int lp_field_fail(const struct lp_fields *fields, const char *format, ...)
{
    char line[512];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    return lp_reader_fail(fields->reader, LLMPERF_EFORMAT, "%s:%u: %s%s", fields->reader->file,
                          fields->line, fields->path, line);
}

void lp_reader_warn(struct lp_reader *reader, const char *format, ...)
{
    const char *line;
    va_list args;

    if (reader->status < 0 || reader->model->warnings.count > WARNINGS_MAX)
        return;
    va_start(args, format);
    line = reader->model->warnings.count < WARNINGS_MAX
               ? keep(reader, format, args)
               : "further messages of this kind are not shown";
    va_end(args);
    if (!line || lp_vector_push(&reader->model->warnings, line) < 0)
        lp_reader_memory(reader);
}

void lp_reader_assume(struct lp_reader *reader, const char *format, ...)
{
    const char *line;
    va_list args;

    if (reader->status < 0)
        return;
    va_start(args, format);
    line = keep(reader, format, args);
    va_end(args);
    if (!line || lp_vector_push(&reader->model->assumptions, line) < 0)
        lp_reader_memory(reader);
}

/* Entry of a key that is not null, marked as read; NULL: missing, null, or an earlier error. */
static const struct lp_yaml_entry *use(const struct lp_fields *fields, const char *key)
{
    struct lp_reader *reader = fields->reader;
    const struct lp_yaml_entry *entry;

    if (reader->status < 0 || !fields->map)
        return NULL;
    entry = lp_yaml_get(fields->map, key, strlen(key));
    if (!entry)
        return NULL;
    if (lp_vector_push(&reader->used, entry) < 0)
        lp_reader_memory(reader);
    return lp_yaml_is_null(entry->value) ? NULL : entry;
}

static int refuse(const struct lp_fields *fields, const char *key,
                  const struct lp_yaml_entry *entry, const char *wanted)
{
    static const char *const kinds[] = { "a text", "a list", "a map" };
    const struct lp_yaml_node *node = entry->value;
    const char *file = fields->reader->file;

    if (node->kind != LP_YAML_TEXT)
        return lp_reader_fail(fields->reader, LLMPERF_EFORMAT, "%s:%u: %s%s is %s; it must be %s",
                              file, entry->line, fields->path, key, kinds[node->kind], wanted);
    return lp_reader_fail(fields->reader, LLMPERF_EFORMAT,
                          "%s:%u: %s%s is %s%.60s%s; it must be %s", file, entry->line,
                          fields->path, key, node->is_string ? "\"" : "", node->text,
                          node->is_string ? "\"" : "", wanted);
}

static bool is_digits(const char *text)
{
    size_t digits = strspn(text, "0123456789");

    return digits > 0 && digits < 20 && text[digits] == '\0' && (digits == 1 || text[0] != '0');
}

static uint64_t whole(const struct lp_fields *fields, const char *key,
                      const struct lp_yaml_entry *entry, uint64_t least, uint64_t limit)
{
    const struct lp_yaml_node *node = entry->value;
    char wanted[80];
    uint64_t value = 0;
    bool ok = node->kind == LP_YAML_TEXT && !node->is_string && is_digits(node->text);

    if (ok) {
        errno = 0;
        value = strtoull(node->text, NULL, 10);
        ok = errno == 0 && value >= least && value <= limit;
    }
    if (ok)
        return value;
    snprintf(wanted, sizeof(wanted), "an integer between %" PRIu64 " and %" PRIu64, least, limit);
    refuse(fields, key, entry, wanted);
    return 0;
}

bool lp_field_is_absent(const struct lp_fields *fields, const char *key)
{
    return !fields->map || !lp_yaml_get(fields->map, key, strlen(key));
}

bool lp_field_is_set(const struct lp_fields *fields, const char *key)
{
    return use(fields, key) != NULL;
}

uint64_t lp_field_need(const struct lp_fields *fields, const char *key, uint64_t limit)
{
    const struct lp_yaml_entry *entry = use(fields, key);

    if (entry)
        return whole(fields, key, entry, 1, limit);
    lp_field_fail(fields, "%s is missing; add it", key);
    return 0;
}

uint64_t lp_field_or(const struct lp_fields *fields, const char *key, uint64_t fallback,
                     uint64_t limit, const char *why)
{
    const struct lp_yaml_entry *entry = use(fields, key);

    if (entry)
        return whole(fields, key, entry, 0, limit);
    if (why)
        lp_reader_assume(fields->reader, "%s%s is absent: %" PRIu64 " (%s)", fields->path, key,
                         fallback, why);
    return fallback;
}

bool lp_field_flag(const struct lp_fields *fields, const char *key, bool fallback, const char *why)
{
    const struct lp_yaml_entry *entry = use(fields, key);
    const char *text = entry && entry->value->kind == LP_YAML_TEXT ? entry->value->text : NULL;

    if (!entry) {
        if (why)
            lp_reader_assume(fields->reader, "%s%s is absent: %s (%s)", fields->path, key,
                             fallback ? "true" : "false", why);
        return fallback;
    }
    if (text && !entry->value->is_string && strcmp(text, "true") == 0)
        return true;
    if (!text || entry->value->is_string || strcmp(text, "false") != 0)
        refuse(fields, key, entry, "true or false");
    return false;
}

const char *lp_field_word(const struct lp_fields *fields, const char *key)
{
    const struct lp_yaml_entry *entry = use(fields, key);

    if (!entry)
        return NULL;
    if (entry->value->kind == LP_YAML_TEXT && entry->value->text[0])
        return entry->value->text;
    refuse(fields, key, entry, "a text");
    return NULL;
}

size_t lp_field_length(const struct lp_fields *fields, const char *key)
{
    const struct lp_yaml_entry *entry = use(fields, key);

    if (!entry)
        return 0;
    if (entry->value->kind == LP_YAML_LIST)
        return entry->value->count;
    refuse(fields, key, entry, "a list");
    return 0;
}

uint64_t lp_field_element(const struct lp_fields *fields, const char *key, size_t index,
                          uint64_t limit)
{
    const struct lp_yaml_entry *entry = use(fields, key);

    return entry && fields->reader->status == 0
               ? whole(fields, key, &entry->value->entries[index], 0, limit)
               : 0;
}

const char *lp_field_element_word(const struct lp_fields *fields, const char *key, size_t index)
{
    const struct lp_yaml_entry *entry = use(fields, key), *element;

    if (!entry || fields->reader->status < 0)
        return NULL;
    element = &entry->value->entries[index];
    if (element->value->kind == LP_YAML_TEXT)
        return element->value->text;
    refuse(fields, key, element, "a text");
    return NULL;
}

bool lp_field_map(const struct lp_fields *fields, const char *key, struct lp_fields *out)
{
    const struct lp_yaml_entry *entry = use(fields, key);
    char path[256];
    const char *kept;

    if (!entry)
        return false;
    if (entry->value->kind != LP_YAML_MAP) {
        refuse(fields, key, entry, "a map");
        return false;
    }
    snprintf(path, sizeof(path), "%s%s.", fields->path, key);
    kept = lp_strings_add(&fields->reader->model->texts, path);
    if (!kept) {
        lp_reader_memory(fields->reader);
        return false;
    }
    *out = (struct lp_fields){ fields->reader, entry->value, kept, entry->line };
    return true;
}

void lp_field_skip(const struct lp_fields *fields, const char *key)
{
    (void)use(fields, key);
}

static bool is_known(const struct lp_fields *fields, const struct lp_yaml_entry *entry)
{
    const struct lp_reader *reader = fields->reader;

    for (size_t i = 0; i < reader->used.count; i++)
        if (reader->used.items[i] == entry)
            return true;
    for (size_t i = 0; i < LP_LENGTH(harmless); i++)
        if (strcmp(entry->key, harmless[i]) == 0)
            return true;
    return lp_yaml_is_null(entry->value);
}

void lp_fields_report_unknown(const struct lp_fields *fields)
{
    struct lp_reader *reader = fields->reader;

    for (size_t i = 0; i < fields->map->count && reader->status == 0; i++) {
        const struct lp_yaml_entry *entry = &fields->map->entries[i];

        if (reader->model->warnings.count > WARNINGS_MAX)
            return;
        if (!is_known(fields, entry))
            lp_reader_warn(reader, "%s:%u: unknown key %s%.80s was ignored", reader->file,
                           entry->line, fields->path, entry->key);
    }
}
