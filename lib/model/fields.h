/* SPDX-License-Identifier: Apache-2.0 */
/** Reading the keys of a model file. The first failure sticks: later calls do nothing and return 0,
 * so that a reader requests all it needs and checks `status` once. Keys that were not requested are
 * reported at the end.
 * @threads one at a time per object */
#ifndef LP_MODEL_FIELDS_H
#define LP_MODEL_FIELDS_H

#include "lib/model/desc.h"
#include "lib/base/yaml_tree.h"

struct lp_fields;

struct lp_reader {
    struct llmperf_model *model;
    const struct lp_fields *root; /* of the file */
    const char *file;
    int status;
    LP_VECTOR(const struct lp_yaml_entry *) used;
};

/** A map of the file; `path` precedes its keys in messages ("text_config."). */
struct lp_fields {
    struct lp_reader *reader;
    const struct lp_yaml_node *map;
    const char *path;
    uint32_t line;
};

/** Is the key not in the map at all? (An explicit null is something else: the framework's default
 * does not apply.) */
bool lp_field_is_absent(const struct lp_fields *fields, const char *key);

/** Is the key there, and not null? Marks it as known. */
bool lp_field_is_set(const struct lp_fields *fields, const char *key);

/** Whole number from 1 to `limit` that must be there. */
uint64_t lp_field_need(const struct lp_fields *fields, const char *key, uint64_t limit);

/** Whole number from 0 to `limit`; absent or null: `fallback`. `why` (may be NULL) makes that an
 * assumption. */
uint64_t lp_field_or(const struct lp_fields *fields, const char *key, uint64_t fallback,
                     uint64_t limit, const char *why);

bool lp_field_flag(const struct lp_fields *fields, const char *key, bool fallback, const char *why);

/** Text, NULL if absent or null. */
const char *lp_field_word(const struct lp_fields *fields, const char *key);

/** Elements of a list, 0 if absent or null; element `index`. */
size_t lp_field_length(const struct lp_fields *fields, const char *key);
uint64_t lp_field_element(const struct lp_fields *fields, const char *key, size_t index,
                          uint64_t limit);
const char *lp_field_element_word(const struct lp_fields *fields, const char *key, size_t index);

/** A map below `key`. False if it is absent or null. */
bool lp_field_map(const struct lp_fields *fields, const char *key, struct lp_fields *out);

/** The whole subtree of `key` is known and does not affect the work. */
void lp_field_skip(const struct lp_fields *fields, const char *key);

/** Warn about keys that were not requested, including those in nested maps that were opened. */
void lp_fields_report_unknown(const struct lp_fields *fields);

/** Fail at the line of a map; the text goes on after the path of its keys. */
int lp_field_fail(const struct lp_fields *fields, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** Fail without memory. */
int lp_reader_memory(struct lp_reader *reader);
int lp_reader_fail(struct lp_reader *reader, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void lp_reader_warn(struct lp_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void lp_reader_assume(struct lp_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Readers of families (model_text.c, model_vision.c). */
int lp_read_decoder(const struct lp_fields *fields, const char *family);
/** Name of the decoder family of a model_type, or of an entry of "architectures"; NULL: not known.
 */
const char *lp_decoder_family(const char *type_or_architecture);
/** Name of a family that has no decoder; NULL: not known. */
const char *lp_vision_family(const char *type);
int lp_read_vision(const struct lp_fields *fields, const char *family);
/** Encoder of a model with a decoder: vision_config and projector_config. A kind that is not known
 * is a warning. */
int lp_read_encoder(const struct lp_fields *root);
/** Formats of the weights: dtype, quantization_config. */
void lp_read_formats(const struct lp_fields *fields);

#endif
