/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile means is worked out once, whoever asks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/findings/findings.h"
#include "llmperf/llmperf.h"
#include "tests/support/play.h"
#include "tests/support/sample.h"

#define FOLDERS_MOST 8

struct watch {
    int inotify;
    char folders[FOLDERS_MOST + 1][64]; /* by the number of the watch */
};

static void watch_folder(struct watch *watch, const char *conf, const char *name)
{
    char path[600];
    int number;

    snprintf(path, sizeof(path), "%s/%s", conf, name);
    number = inotify_add_watch(watch->inotify, path, IN_OPEN);
    assert_in_range(number, 1, FOLDERS_MOST);
    snprintf(watch->folders[number], sizeof(watch->folders[number]), "%s", name);
}

/* A copy, so that nobody else opens its files. */
static void watch_configuration(struct watch *watch)
{
    const char *conf = in_test_folder("conf");
    char command[1200];

    snprintf(command, sizeof(command), "cp -r '%s' '%s'", getenv("LLMPERF_CONFIG_DIR"), conf);
    assert_int_equal(system(command), 0);
    assert_int_equal(setenv("LLMPERF_CONFIG_DIR", conf, 1), 0);
    assert_true((watch->inotify = inotify_init1(IN_NONBLOCK)) >= 0);
    watch_folder(watch, conf, ".");
    watch_folder(watch, conf, "hardware");
}

/* Fails if a file was opened twice; returns how often `wanted` was. */
static unsigned count_opens(const struct watch *watch, const char *wanted)
{
    char bytes[1 << 16] __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t size = read(watch->inotify, bytes, sizeof(bytes));
    char seen[64][128];
    size_t count = 0;
    unsigned found = 0;

    assert_true(size > 0);
    for (char *at = bytes; at < bytes + size;) {
        const struct inotify_event *event = (const struct inotify_event *)at;
        char name[128];

        at += sizeof(*event) + event->len;
        if (event->mask & IN_ISDIR || event->len == 0)
            continue;
        snprintf(name, sizeof(name), "%s/%.60s", watch->folders[event->wd], event->name);
        for (size_t i = 0; i < count; i++)
            if (strcmp(seen[i], name) == 0)
                fail_msg("%s was read twice", name);
        assert_true(count < 64);
        memcpy(seen[count++], name, sizeof(name));
        found += strcmp(event->name, wanted) == 0;
    }
    return found;
}

static void a_run_directory_reads_each_configuration_file_once(void **state)
{
    llmperf_profile *profile = sample_profile();
    struct watch watch = { .inotify = -1 };
    char bytes[1 << 16];
    const char *runs[] = { in_test_folder("run"), in_test_folder("again") };

    (void)state;
    assert_int_equal(mkdir(runs[0], 0755) + mkdir(runs[1], 0755), 0);
    watch_configuration(&watch);
    assert_int_equal(llmperf_artifacts_write(profile, runs[0]), 0);
    assert_int_equal(count_opens(&watch, "kernel_classes.yaml"), 1);
    /* The same profile again reads nothing. */
    assert_int_equal(llmperf_artifacts_write(profile, runs[1]), 0);
    assert_true(read(watch.inotify, bytes, sizeof(bytes)) < 0);
    close(watch.inotify);
    llmperf_profile_free(profile);
}

static void a_profile_that_changes_has_new_findings(void **state)
{
    llmperf_profile *profile = sample_profile();
    const struct lp_findings *findings, *same;

    (void)state;
    assert_int_equal(lp_findings_of(profile, &findings), 0);
    assert_int_equal(lp_findings_of(profile, &same), 0);
    assert_ptr_equal(findings, same);
    assert_int_equal(lp_profile_set_fact(profile, LP_DTYPE_FACT, "fp8"), 0);
    assert_int_equal(lp_findings_of(profile, &findings), 0);
    assert_string_equal(findings->limits.dtype, "fp8");
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_profile_that_changes_has_new_findings),
        cmocka_unit_test(a_run_directory_reads_each_configuration_file_once),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
