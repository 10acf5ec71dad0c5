/* SPDX-License-Identifier: Apache-2.0 */
/** Somebody who may write to the folder of a run leaves links and pipes there under the names of
 * its files: nothing is written through them. */
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/file.h"
#include "tests/support/play.h"
#include "llmperf/sys/trace.h"

#define PATH_BYTES 512
#define NAMES_MOST 64

static const char script[] = "begin LLM@decode_step\nlaunch k\nend\n";
static const char secret[] = "not yours";

static char victim[PATH_BYTES];
static char *names[NAMES_MOST]; /* files of a whole run, below its folder */
static int name_count;
static size_t folder_length;

static llmperf_session_options traced(const char *folder)
{
    llmperf_session_options options = script_options(script);

    options.run_dir = in_test_folder(folder);
    options.keep_trace = 1;
    return options;
}

static int keep_name(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)place;
    if (kind == FTW_F && name_count < NAMES_MOST)
        names[name_count++] = strdup(path + folder_length + 1);
    return 0;
}

static int forget_names(void **state)
{
    while (name_count > 0)
        free(names[--name_count]);
    return remove_test_folder(state);
}

static int find_names(void **state)
{
    llmperf_session_options options;

    if (make_test_folder(state) < 0)
        return -1;
    snprintf(victim, sizeof(victim), "%s", write_test_file("victim", secret, strlen(secret)));
    options = traced("whole");
    llmperf_profile_free(play_options(&options));
    folder_length = strlen(options.run_dir);
    return nftw(options.run_dir, keep_name, 8, FTW_PHYS);
}

static void make_parent(const char *path)
{
    char folder[PATH_BYTES];

    snprintf(folder, sizeof(folder), "%s", path);
    *strrchr(folder, '/') = '\0';
    assert_int_equal(lp_folder_make(folder), 0);
}

static void plant_link(const char *path)
{
    make_parent(path);
    assert_int_equal(symlink(victim, path), 0);
}

static void plant_second_name(const char *path)
{
    make_parent(path);
    assert_int_equal(link(victim, path), 0);
}

static void plant_pipe(const char *path)
{
    make_parent(path);
    assert_int_equal(mkfifo(path, 0666), 0);
}

/* run.llmperf itself is what decides whether the folder holds a run. */
static void plant_all(const char *folder, void (*plant)(const char *path), bool temporary)
{
    char path[2 * PATH_BYTES];

    for (int i = 0; i < name_count; i++) {
        if (strcmp(names[i], "run.llmperf") == 0)
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        if (temporary && strcmp(names[i], "trace.llmrec") != 0)
            snprintf(path, sizeof(path), "%s/%s.%ld.tmp", folder, names[i], (long)getpid());
        plant(path);
    }
}

static void assert_victim_unchanged(void)
{
    char *text = NULL;
    size_t size;

    assert_int_equal(lp_file_read(victim, &text, &size), 0);
    assert_string_equal(text, secret);
    free(text);
}

static void assert_run_is_whole(const char *folder)
{
    llmperf_profile *profile;
    char path[2 * PATH_BYTES];
    struct stat info;

    for (int i = 0; i < name_count; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        assert_int_equal(lstat(path, &info), 0);
        if (!S_ISREG(info.st_mode) || info.st_nlink != 1 || info.st_size == 0)
            fail_msg("%s is not a file of its own", path);
    }
    assert_int_equal(llmperf_profile_open(folder, &profile), 0);
    assert_int_equal(ledger_of(profile).kernels_seen, 1);
    llmperf_profile_free(profile);
}

static void play_among(const char *folder, void (*plant)(const char *path), bool temporary)
{
    llmperf_session_options options = traced(folder);

    plant_all(options.run_dir, plant, temporary);
    llmperf_profile_free(play_options(&options));
    assert_victim_unchanged();
    assert_run_is_whole(in_test_folder(folder));
}

static void links_in_place_of_files_are_replaced(void **state)
{
    (void)state;
    assert_true(name_count > 12);
    play_among("links", plant_link, false);
    play_among("second-names", plant_second_name, false);
    play_among("pipes", plant_pipe, false);
}

static void links_in_place_of_temporary_files_are_replaced(void **state)
{
    (void)state;
    play_among("links-tmp", plant_link, true);
    play_among("second-names-tmp", plant_second_name, true);
    play_among("pipes-tmp", plant_pipe, true);
}

static void links_in_place_of_files_of_sqlite_are_replaced(void **state)
{
    static const char *const suffixes[] = { ".new",     "-wal",         "-shm",
                                            "-journal", ".new-journal", ".new-wal" };
    char path[2 * PATH_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        char folder[32];
        llmperf_session_options options;

        snprintf(folder, sizeof(folder), "database%s", suffixes[i]);
        options = traced(folder);
        snprintf(path, sizeof(path), "%s/run.llmperf%s", options.run_dir, suffixes[i]);
        plant_link(path);
        llmperf_profile_free(play_options(&options));
        assert_victim_unchanged();
        assert_run_is_whole(in_test_folder(folder));
    }
}

static void a_link_in_place_of_the_run_file_is_refused(void **state)
{
    llmperf_session_options options = traced("refused");
    llmperf_session *session = NULL;
    char path[2 * PATH_BYTES];

    (void)state;
    snprintf(path, sizeof(path), "%s/run.llmperf", options.run_dir);
    make_parent(path);
    assert_int_equal(symlink("/no/such/place", path), 0);
    assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_EBUSY);
    check_error("already contains a run");
    assert_victim_unchanged();
}

static void a_link_in_place_of_a_folder_is_not_followed(void **state)
{
    llmperf_session_options options = traced("folders");
    llmperf_session *session = NULL;
    char path[2 * PATH_BYTES];

    (void)state;
    assert_int_equal(lp_folder_make(in_test_folder("elsewhere")), 0);
    assert_int_equal(lp_folder_make(options.run_dir), 0);
    snprintf(path, sizeof(path), "%s/regions", options.run_dir);
    assert_int_equal(symlink(in_test_folder("elsewhere"), path), 0);
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    assert_int_equal(llmperf_session_stop(session, NULL), LLMPERF_EIO);
    check_error("symbolic link");
    llmperf_session_free(session);
    options = script_options(script);
    options.out_dir = in_test_folder("");
    options.run_id = "planted";
    assert_int_equal(symlink(in_test_folder("elsewhere"), in_test_folder("planted")), 0);
    assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_EIO);
    check_error("symbolic link");
    assert_int_equal(rmdir(in_test_folder("elsewhere")), 0); /* still empty */
}

static void links_in_place_of_temporary_files_of_exports_are_replaced(void **state)
{
    char path[2 * PATH_BYTES];
    struct stat info;

    (void)state;
    for (uint32_t format = 1; format <= 3; format++) {
        const char *out = in_test_folder(llmperf_trace_file_name(format));

        snprintf(path, sizeof(path), "%s.%ld.tmp", out, (long)getpid());
        plant_link(path);
        assert_int_equal(llmperf_trace_export(in_test_folder("whole"), format, out, NULL), 0);
        assert_victim_unchanged();
        assert_int_equal(lstat(out, &info), 0);
        assert_true(S_ISREG(info.st_mode));
    }
}

static void links_in_place_of_temporary_files_of_saved_runs_are_replaced(void **state)
{
    static const char *const suffixes[] = { "", ".new", "-wal", "-shm", "-journal" };
    llmperf_profile *profile;
    const char *out = in_test_folder("saved");
    char path[2 * PATH_BYTES];

    (void)state;
    assert_int_equal(llmperf_profile_open(in_test_folder("whole"), &profile), 0);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        snprintf(path, sizeof(path), "%s.%ld.tmp%s", out, (long)getpid(), suffixes[i]);
        plant_link(path);
    }
    assert_int_equal(symlink(victim, out), 0);
    assert_int_equal(llmperf_profile_save(profile, out), 0);
    assert_victim_unchanged();
    llmperf_profile_free(profile);
    assert_int_equal(llmperf_profile_open(out, &profile), 0);
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_in_place_of_files_are_replaced),
        cmocka_unit_test(links_in_place_of_temporary_files_are_replaced),
        cmocka_unit_test(links_in_place_of_files_of_sqlite_are_replaced),
        cmocka_unit_test(a_link_in_place_of_the_run_file_is_refused),
        cmocka_unit_test(a_link_in_place_of_a_folder_is_not_followed),
        cmocka_unit_test(links_in_place_of_temporary_files_of_exports_are_replaced),
        cmocka_unit_test(links_in_place_of_temporary_files_of_saved_runs_are_replaced),
    };

    return cmocka_run_group_tests(tests, find_names, forget_names);
}
