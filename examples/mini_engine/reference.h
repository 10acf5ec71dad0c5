/* SPDX-License-Identifier: Apache-2.0 */
/** Reference implementation of the models for tests: in double precision, from the definitions,
 * without KV cache, batches or windows. Reads the weights of an engine on the CPU. */
#ifndef MINI_ENGINE_REFERENCE_H
#define MINI_ENGINE_REFERENCE_H

#include "parts.h"

/** Logits after `count` rows of input. @param rows  count x hidden. */
void reference_decoder(const struct engine *engine, const double *rows, size_t count,
                       double *logits_out);

/** The decoder's input rows for a prompt: features of images for the rows in `image_rows`,
 * otherwise the embedding. */
void reference_rows(const struct engine *engine, const int32_t *ids, const int32_t *image_rows,
                    const double *features, size_t count, double *rows_out);

/** One image. @param features_out  side^2 x projector_out. */
void reference_vision(const struct engine *engine, const bf16 *pixels, size_t side_pixels,
                      double *features_out);

/** Logits of image `index`. */
void reference_resnet(const struct engine *engine, size_t index, double *logits_out);

#endif
