/* SPDX-License-Identifier: Apache-2.0 */
/** Reads the keys of a model file. After the first error later calls do nothing and return 0, so a
 * reader checks `status` once at the end. Keys that were never read are reported.
 * @threads one at a time per object */
#ifndef LP_MODEL_FIELDS_H
#define LP_MODEL_FIELDS_H

#include "lib/model/desc.h"
#include "lib/base/yaml_tree.h"

struct lp_fields;

struct lp_reader {
    struct llmperf_model *model;
    const struct lp_fields *root; /* whole file */
    const char *file;
    int status;
    LP_VECTOR(const struct lp_yaml_entry *) used;
};

/** A map of the file; `path` is the prefix of its keys in messages ("text_config."). */
struct lp_fields {
    struct lp_reader *reader;
    const struct lp_yaml_node *map;
    const char *path;
    uint32_t line;
};

/** Is the key missing? (With an explicit null the framework's default does not apply.) */
bool lp_field_is_absent(const struct lp_fields *fields, const char *key);

/** Is the key there and not null? Marks it as read. */
bool lp_field_is_set(const struct lp_fields *fields, const char *key);

/** Required integer from 1 to `limit`. */
uint64_t lp_field_need(const struct lp_fields *fields, const char *key, uint64_t limit);

/** Integer from 0 to `limit`; missing or null: `fallback`, which is an assumption if `why` is not
 * NULL. */
uint64_t lp_field_or(const struct lp_fields *fields, const char *key, uint64_t fallback,
                     uint64_t limit, const char *why);

bool lp_field_flag(const struct lp_fields *fields, const char *key, bool fallback, const char *why);

/** Text; NULL if missing or null. */
const char *lp_field_word(const struct lp_fields *fields, const char *key);

/** Number of elements of a list, 0 if missing or null; element `index`. */
size_t lp_field_length(const struct lp_fields *fields, const char *key);
uint64_t lp_field_element(const struct lp_fields *fields, const char *key, size_t index,
                          uint64_t limit);
const char *lp_field_element_word(const struct lp_fields *fields, const char *key, size_t index);

/** Map at `key`. False: missing or null. */
bool lp_field_map(const struct lp_fields *fields, const char *key, struct lp_fields *out);

/** Mark everything below `key` as read: it does not affect the work. */
void lp_field_skip(const struct lp_fields *fields, const char *key);

/** Warn about keys that were not read, also in nested maps that were opened. */
void lp_fields_report_unknown(const struct lp_fields *fields);

/** Fail with the line of a map and its path. */
int lp_field_fail(const struct lp_fields *fields, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** Fail: out of memory. */
int lp_reader_memory(struct lp_reader *reader);
int lp_reader_fail(struct lp_reader *reader, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void lp_reader_warn(struct lp_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void lp_reader_assume(struct lp_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Readers of families (text.c, vision.c). */
int lp_read_decoder(const struct lp_fields *fields, const char *family);
/** Decoder family of a model_type or an entry of "architectures"; NULL: not known. */
const char *lp_decoder_family(const char *type_or_architecture);
/** Family without decoder; NULL: not known. */
const char *lp_vision_family(const char *type);
int lp_read_vision(const struct lp_fields *fields, const char *family);
/** Encoder of a model with decoder, from vision_config and projector_config. An unknown kind gives
 * a warning. */
int lp_read_encoder(const struct lp_fields *root);
/** Formats of weights, from dtype and quantization_config. */
void lp_read_formats(const struct lp_fields *fields);

#endif
