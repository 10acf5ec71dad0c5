/* SPDX-License-Identifier: Apache-2.0 */
/** Play scripts and recordings through a whole session, and look rows of profiles up. Each function
 * fails the running test where the header of the library would have it return an error. */
#ifndef TESTS_SUPPORT_PLAY_H
#define TESTS_SUPPORT_PLAY_H

#include <stdbool.h>
#include <stddef.h>

#include "llmperf/llmperf.h"

/** cmocka group fixtures: a folder of this test program's own, removed with all that is in it. */
int make_test_folder(void **state);
int remove_test_folder(void **state);

/** Path of a name in that folder. Valid until the eighth call after. */
const char *in_test_folder(const char *name);

/** Write a file in that folder. @return its path, as in_test_folder(). */
const char *write_test_file(const char *name, const void *bytes, size_t size);

/** Options of a session with source fake and this script. The path in them is as of
 * write_test_file(). */
llmperf_session_options script_options(const char *script);

/** Start, stop, free. @return llmperf_profile_free(). */
llmperf_profile *play_options(const llmperf_session_options *options);
llmperf_profile *play_script(const char *script);

/** Start a session. */
llmperf_session *start_options(const llmperf_session_options *options);

/** Stop a session and free it. */
llmperf_profile *stop_session(llmperf_session *session);

/** Rows by their key. `region` and `path` "": no region; `region` NULL: launch not seen. */
llmperf_region_stats find_region(const llmperf_profile *profile, const char *path, int32_t device);
llmperf_kernel_stats find_kernel(const llmperf_profile *profile, const char *name,
                                 const char *region);
llmperf_operator_stats find_operator(const llmperf_profile *profile, const char *name,
                                     const char *stage);
bool has_region(const llmperf_profile *profile, const char *path);

/** A quantity of the iterations of a stage; `region` NULL: of the first that has it. */
llmperf_iteration_stats find_spread(const llmperf_profile *profile, const char *region,
                                    const char *quantity);

/** The same of all calls, with those of warm-up: their number (`warm_up`), counts, sums, extremes.
 */
llmperf_iteration_stats find_all_calls(const llmperf_profile *profile, const char *region,
                                       const char *quantity);

llmperf_ledger ledger_of(const llmperf_profile *profile);

/** All counters and the verdict are as expected; names each that is not. */
void check_ledger(const llmperf_profile *profile, const llmperf_ledger *expected);

bool has_problem(const llmperf_profile *profile, const char *part);
bool has_note(const llmperf_profile *profile, const char *part);

/** metrics.json without what differs between two runs of the same work: run, source, machine,
 * duration. @return free(). */
char *lasting_metrics(const llmperf_profile *profile);

/** A document of a profile must hold this text. */
void check_document(const llmperf_profile *profile, uint32_t document, const char *part);

/** The recording of a session, and the run file that is saved here, must have its lasting metrics.
 */
void check_lasts(const llmperf_profile *live, const char *recording);

/** The text of this thread's last failure is one line and holds `part`. */
void check_error(const char *part);

/** a and b are equal but for the rounding of a double. */
void check_close(double a, double b);

/** Smaller under a sanitizer, so that the tests stay quick. */
int scaled(int full, int sanitized);

/** Run this program again with one argument; `killed_after_ms` 0: wait for it. @return its wait
 * status. */
int run_self(const char *argument, unsigned killed_after_ms);

#endif
