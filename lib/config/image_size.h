/* SPDX-License-Identifier: Apache-2.0 */
/** Width and height of an image file, from its header; nothing is decoded. @threads any thread */
#ifndef LP_CONFIG_IMAGE_SIZE_H
#define LP_CONFIG_IMAGE_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/** Pixels as stored in a PNG, JPEG or WebP file (orientation in EXIF is not applied). false: the
 * file cannot be read, is none of these, or its header is damaged. */
bool lp_image_size(const char *path, uint32_t *width_out, uint32_t *height_out);

#endif
