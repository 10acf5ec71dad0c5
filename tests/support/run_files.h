/* SPDX-License-Identifier: Apache-2.0 */
/** What tests of run files share: profiles whose fields all have values of their own, and runs made
 * of them. A check that fails ends the test. */
#ifndef TESTS_SUPPORT_RUN_FILES_H
#define TESTS_SUPPORT_RUN_FILES_H

#include <stdbool.h>

#include "lib/profile/data.h"
#include "lib/profile/profile.h"

/** Folder of a test, and two run files in it. */
extern char run_folder[64], run_path[96], other_path[96];

/** Setup and teardown. */
int make_run_folder(void **state);
int remove_run_folder(void **state);

void assert_ok(int status);
void assert_error_has(const char *part);

/** A region or kernel row whose values follow from `number`. */
struct lp_region_row *add_region_row(llmperf_profile *profile, unsigned number);
struct lp_kernel_row *add_kernel_row(llmperf_profile *profile, unsigned number);

/** Yours: llmperf_profile_free(). The second has a region, a kernel and a ledger of which nothing
 * is known. */
llmperf_profile *make_numbered_profile(unsigned rows);
llmperf_profile *make_unknown_profile(unsigned rows);

void assert_profiles_equal(const llmperf_profile *left, const llmperf_profile *right);
void assert_run_holds(const char *path, const llmperf_profile *expected);
void assert_not_opened(const char *path, int status, const char *part);

void save_rows(const char *path, unsigned rows);

/** A store at run_path. Yours. */
struct lp_store *create_run_store(void);

/** A run whose program was killed after its commit: the log is still there. */
void leave_killed_run(unsigned rows);

/** Is there a file run_path + suffix? */
bool run_file_exists(const char *suffix);

/** Plain SQL, as users write it. */
void run_sql(const char *path, const char *sql);
void assert_sql_gives(const char *sql, const char *expected);

#endif
