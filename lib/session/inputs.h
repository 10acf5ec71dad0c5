/* SPDX-License-Identifier: Apache-2.0 */
/** inputs.yaml: what the program read. For lib/session only. */
#ifndef LP_SESSION_INPUTS_H
#define LP_SESSION_INPUTS_H

/** Read a manifest: a list of paths, or of maps with a path and more; or a map with such a list at
 * "inputs". Paths become absolute (relative ones count from the manifest's folder), and the size of
 * each file is added.
 *
 * @param text_out  YAML, free().
 * @return 0; LLMPERF_ENOENT, LLMPERF_EFORMAT (file and line), LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_inputs_read(const char *manifest, char **text_out);

#endif
