/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of jobs: which runs they hold, and what becomes of them together. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/file.h"
#include "lib/profile/data.h"
#include "lib/profile/profile.h"
#include "llmperf/sys.h"

static char root[64];

static int make_root(void **state)
{
    (void)state;
    snprintf(root, sizeof(root), "/tmp/llmperf-job-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int drop_root(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", root);
    return system(command);
}

static const char *at(const char *name)
{
    static char paths[8][256];
    static int next;
    char *path = paths[next++ % 8];

    snprintf(path, sizeof(paths[0]), "%s/%s", root, name);
    return path;
}

/* A run of `kernels` kernels, all accounted for; without a device if there are none. */
static void put_run(const char *folder, const char *run_id, uint32_t kernels, const char *duration)
{
    llmperf_profile *profile = lp_profile_create();
    llmperf_ledger *ledger = lp_profile_ledger_edit(profile);
    char path[300];

    *ledger = (llmperf_ledger)LLMPERF_LEDGER_INIT;
    ledger->kernels_seen = ledger->launches_expected = ledger->kernels_attributed = kernels;
    ledger->verdict = kernels ? LLMPERF_VERDICT_COMPLETE : LLMPERF_VERDICT_NO_DEVICE;
    assert_int_equal(lp_profile_set_fact(profile, "run_id", run_id), 0);
    assert_int_equal(lp_profile_set_fact(profile, "duration_ms", duration), 0);
    assert_int_equal(lp_profile_set_fact(profile, "gpu_busy_ms", "5.0"), 0);
    if (kernels == 0)
        assert_int_equal(lp_profile_set_fact(profile, "source_reason", LP_REASON_NO_CUDA), 0);
    assert_int_equal(lp_profile_set_fact(profile, "source", kernels ? "cupti" : "none"), 0);
    assert_int_equal(lp_profile_finish(profile), 0);
    assert_int_equal(lp_folder_make(folder), 0);
    snprintf(path, sizeof(path), "%s/run.llmperf", folder);
    assert_int_equal(llmperf_profile_save(profile, path), 0);
    llmperf_profile_free(profile);
}

static void put_file(const char *path, const char *text)
{
    assert_int_equal(lp_file_write(path, text, strlen(text)), 0);
}

static llmperf_profile *merge_job(const char *folder, llmperf_ledger *ledger)
{
    llmperf_profile *profile = NULL;
    llmperf_job *job = NULL;

    assert_int_equal(llmperf_job_find(folder, &job), LLMPERF_OK);
    assert_int_equal(llmperf_job_merge(job, &profile), LLMPERF_OK);
    llmperf_job_free(job);
    *ledger = (llmperf_ledger)LLMPERF_LEDGER_INIT;
    assert_int_equal(llmperf_profile_ledger(profile, ledger), LLMPERF_OK);
    return profile;
}

static void runs_of_a_job_in_their_order(void **state)
{
    llmperf_job *job = NULL;

    (void)state;
    put_run(at("a"), "a", 1, "1.5");
    put_run(at("a/processes/2"), "2", 1, "1.5");
    put_run(at("a/processes/1"), "1", 1, "1.5");
    put_run(at("a/merged"), "a", 3, "1.5");
    put_run(at("elsewhere"), "x", 1, "1.5");
    put_file(at("a/run-77"), at("elsewhere"));
    put_file(at("a/run-78"), at("nothing there"));
    put_file(at("a/forked-79"), "");
    assert_int_equal(lp_folder_make(at("a/processes/empty")), 0);
    assert_int_equal(llmperf_job_find(at("a//"), &job), LLMPERF_OK);
    assert_int_equal(llmperf_job_run_count(job), 4);
    assert_string_equal(llmperf_job_run(job, 0), at("a"));
    assert_string_equal(llmperf_job_run(job, 1), at("elsewhere"));
    assert_string_equal(llmperf_job_run(job, 2), at("a/processes/1"));
    assert_string_equal(llmperf_job_run(job, 3), at("a/processes/2"));
    assert_null(llmperf_job_run(job, 4));
    assert_int_equal(llmperf_job_forked_count(job), 1);
    llmperf_job_free(job);
}

/* A process of the job in `folder`; it runs once this returns. */
static pid_t start_process(const char *folder)
{
    char variable[300], *environment[] = { variable, NULL }, byte;
    int started[2];
    pid_t child;

    snprintf(variable, sizeof(variable), "LLMPERF_RUN_DIR=%s", folder);
    assert_int_equal(pipe2(started, O_CLOEXEC), 0);
    child = fork();
    if (child == 0) {
        execle("/bin/sleep", "sleep", "60", (char *)NULL, environment);
        _exit(127);
    }
    close(started[1]);
    assert_int_equal(read(started[0], &byte, 1), 0); /* closed when it executes */
    close(started[0]);
    return child;
}

static void end_process(pid_t child)
{
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void processes_of_a_job_that_still_run_are_found(void **state)
{
    llmperf_job *job = NULL;
    uint32_t pids[2] = { 0, 7 };
    pid_t first, other, second;

    (void)state;
    assert_int_equal(lp_folder_make(at("live")), 0);
    assert_int_equal(llmperf_job_find(at("live"), &job), LLMPERF_OK);
    assert_int_equal(llmperf_job_processes(job, pids, 2), 0);
    first = start_process(at("live"));
    other = start_process(at("live2"));
    assert_int_equal(llmperf_job_processes(job, pids, 2), 1);
    assert_int_equal(pids[0], first);
    second = start_process(at("live"));
    assert_int_equal(llmperf_job_processes(job, NULL, 0), 2);
    pids[1] = 7;
    assert_int_equal(llmperf_job_processes(job, pids, 1), 2);
    assert_int_equal(pids[1], 7);
    kill(second, SIGKILL);
    while (waitid(P_PID, (id_t)second, &(siginfo_t){ 0 }, WEXITED | WNOWAIT) < 0) {
    }
    assert_int_equal(llmperf_job_processes(job, pids, 2), 1); /* a zombie runs no more */
    end_process(second);
    end_process(first);
    end_process(other);
    assert_int_equal(llmperf_job_processes(job, pids, 2), 0);
    assert_int_equal(llmperf_job_processes(NULL, pids, 2), 0);
    llmperf_job_free(job);
}

static void put_open_run(const char *folder, const char *run_id, pid_t process, bool open)
{
    char path[300], pid[16];
    llmperf_profile *profile = NULL;

    put_run(folder, run_id, 5, "1.5");
    snprintf(path, sizeof(path), "%s/run.llmperf", folder);
    snprintf(pid, sizeof(pid), "%ld", (long)process);
    assert_int_equal(llmperf_profile_open(path, &profile), 0);
    assert_int_equal(lp_profile_set_fact(profile, "process_id", pid), 0);
    if (open)
        assert_int_equal(lp_profile_problem(profile, LP_PROBLEM_OPEN), 0);
    assert_int_equal(llmperf_profile_save(profile, path), 0);
    llmperf_profile_free(profile);
}

static size_t count_lines(const llmperf_profile *profile, bool problems, const char *part)
{
    const char *line;
    size_t count = 0;

    for (size_t i = 0;
         (line = problems ? llmperf_profile_problem(profile, i) : llmperf_profile_note(profile, i));
         i++)
        count += strstr(line, part) != NULL;
    return count;
}

static void a_process_that_still_runs_is_told(void **state)
{
    pid_t open, done, without;
    llmperf_profile *profile;
    llmperf_ledger ledger;
    char text[400];

    (void)state;
    assert_int_equal(lp_folder_make(at("daemon")), 0);
    open = start_process(at("daemon"));
    done = start_process(at("daemon"));
    without = start_process(at("daemon"));
    put_open_run(at("daemon/processes/1"), "1", open, true);
    put_open_run(at("daemon/processes/2"), "2", done, false);
    profile = merge_job(at("daemon"), &ledger);
    assert_int_equal(ledger.verdict, LLMPERF_VERDICT_INCOMPLETE);
    assert_int_equal(count_lines(profile, true, "was still running"), 1);
    snprintf(text, sizeof(text), "process %ld was still running when the runs were merged",
             (long)open);
    assert_int_equal(count_lines(profile, true, text), 1);
    assert_int_equal(count_lines(profile, true, "its run continues in "), 1);
    assert_int_equal(count_lines(profile, false, "was still running"), 1);
    snprintf(text, sizeof(text), "process %ld was still running and had no run", (long)without);
    assert_int_equal(count_lines(profile, false, text), 1);
    llmperf_profile_free(profile);
    end_process(open);
    end_process(done);
    end_process(without);
    profile = merge_job(at("daemon"), &ledger);
    assert_int_equal(count_lines(profile, true, "was still running"), 0);
    assert_int_equal(count_lines(profile, false, "was still running"), 0);
    llmperf_profile_free(profile);
}

static void a_run_that_cannot_be_read_is_named(void **state)
{
    llmperf_ledger ledger;
    llmperf_profile *profile;

    (void)state;
    put_run(at("b/processes/1"), "1", 10, "7.5");
    put_run(at("b/processes/2"), "2", 5, "30.25");
    assert_int_equal(lp_folder_make(at("b/processes/3")), 0);
    put_file(at("b/processes/3/run.llmperf"), "no run at all, no run at all");
    profile = merge_job(at("b"), &ledger);
    assert_int_equal(ledger.kernels_seen, 15);
    assert_int_equal(ledger.verdict, LLMPERF_VERDICT_INCOMPLETE);
    assert_non_null(strstr(llmperf_profile_problem(profile, 0), "b/processes/3"));
    assert_null(llmperf_profile_problem(profile, 1));
    assert_string_equal(llmperf_profile_fact(profile, "run_id"), "b");
    assert_string_equal(llmperf_profile_fact(profile, "merged_from"), "1 2");
    assert_string_equal(llmperf_profile_fact(profile, "duration_ms"), "30.25");
    assert_null(llmperf_profile_fact(profile, "gpu_busy_ms"));
    llmperf_profile_free(profile);
}

static void a_launcher_without_cuda_spoils_no_verdict(void **state)
{
    llmperf_ledger ledger;
    llmperf_profile *profile;

    (void)state;
    put_run(at("c"), "c", 0, "99.5");
    put_run(at("c/processes/1"), "1", 10, "7.5");
    profile = merge_job(at("c"), &ledger);
    assert_int_equal(ledger.verdict, LLMPERF_VERDICT_COMPLETE);
    assert_int_equal(ledger.launches_expected, 10);
    assert_string_equal(llmperf_profile_fact(profile, "source"), "cupti");
    assert_non_null(strstr(llmperf_profile_note(profile, 0), "1 of 2 processes did not use CUDA"));
    llmperf_profile_free(profile);
    put_run(at("c/processes/1"), "1", 0, "7.5");
    profile = merge_job(at("c"), &ledger);
    assert_int_equal(ledger.verdict, LLMPERF_VERDICT_NO_DEVICE);
    llmperf_profile_free(profile);
}

static void a_folder_stands_for_its_only_run(void **state)
{
    llmperf_profile *profile = NULL;

    (void)state;
    put_run(at("d/processes/1"), "1", 10, "7.5");
    assert_int_equal(llmperf_profile_open(at("d"), &profile), LLMPERF_OK);
    assert_string_equal(llmperf_profile_fact(profile, "run_id"), "1");
    llmperf_profile_free(profile);
    put_run(at("d/processes/2"), "2", 10, "7.5");
    assert_int_equal(llmperf_profile_open(at("d"), &profile), LLMPERF_ENOENT);
    assert_non_null(strstr(llmperf_last_error(), "contains 2 runs of processes; give one of them"));
    put_run(at("d/merged"), "d", 20, "7.5");
    assert_int_equal(llmperf_profile_open(at("d"), &profile), LLMPERF_OK);
    assert_string_equal(llmperf_profile_fact(profile, "run_id"), "d");
    llmperf_profile_free(profile);
}

static void wrong_arguments(void **state)
{
    llmperf_profile *profile = NULL;
    llmperf_job *job = NULL;

    (void)state;
    assert_int_equal(llmperf_job_find(NULL, &job), LLMPERF_EINVAL);
    assert_int_equal(llmperf_job_find("", &job), LLMPERF_EINVAL);
    assert_int_equal(llmperf_job_find(at("a"), NULL), LLMPERF_EINVAL);
    assert_int_equal(llmperf_job_find(at("absent"), &job), LLMPERF_ENOENT);
    assert_int_equal(llmperf_job_merge(NULL, &profile), LLMPERF_EINVAL);
    assert_int_equal(lp_folder_make(at("e")), 0);
    assert_int_equal(llmperf_job_find(at("e"), &job), LLMPERF_OK);
    assert_int_equal(llmperf_job_run_count(job), 0);
    assert_int_equal(llmperf_job_merge(job, &profile), LLMPERF_ENOENT);
    assert_non_null(strstr(llmperf_last_error(), "contains no readable run"));
    llmperf_job_free(job);
    llmperf_job_free(NULL);
    assert_int_equal(llmperf_job_run_count(NULL), 0);
    assert_null(llmperf_job_run(NULL, 0));
    assert_int_equal(llmperf_profile_open(at("e"), &profile), LLMPERF_ENOENT);
    assert_non_null(strstr(llmperf_last_error(), "no run.llmperf and no processes/"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_a_job_in_their_order),
        cmocka_unit_test(processes_of_a_job_that_still_run_are_found),
        cmocka_unit_test(a_process_that_still_runs_is_told),
        cmocka_unit_test(a_run_that_cannot_be_read_is_named),
        cmocka_unit_test(a_launcher_without_cuda_spoils_no_verdict),
        cmocka_unit_test(a_folder_stands_for_its_only_run),
        cmocka_unit_test(wrong_arguments),
    };

    return cmocka_run_group_tests(tests, make_root, drop_root);
}
