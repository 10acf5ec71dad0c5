/* SPDX-License-Identifier: Apache-2.0 */
/** JSON values on standard output. Text of the library and of its data files is UTF-8. */
#ifndef LLMPERF_TOOL_JSON_H
#define LLMPERF_TOOL_JSON_H

/** A string with its quotes; null for NULL. */
void json_string(const char *text);

/** A number; null for NaN and infinity. */
void json_real(double value);

/** "key": number, with neither comma nor line end after it. */
void json_number(const char *key, double value);

#endif
