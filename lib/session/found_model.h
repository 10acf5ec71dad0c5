/* SPDX-License-Identifier: Apache-2.0 */
/** The model of a program whose user gave none: announced by the program, or found in its command
 * line by `llmperf run`. For lib/session only. */
#ifndef LP_SESSION_FOUND_MODEL_H
#define LP_SESSION_FOUND_MODEL_H

struct llmperf_session;

/** Use the found model in a session without a model, if there is a new one. One that cannot be used
 * leaves a note. @threads collector only, or before it starts */
void lp_found_model_take(struct llmperf_session *session);

#endif
