/* SPDX-License-Identifier: Apache-2.0 */
/* A run is asked to be on the disk: the C library's functions for that are counted here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/run_files.h"

#if !defined(SANITIZED) /* sanitizers put themselves in front of these functions */

static _Atomic unsigned synced;

int fsync(int fd)
{
    atomic_fetch_add(&synced, 1);
    return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    atomic_fetch_add(&synced, 1);
    return (int)syscall(SYS_fdatasync, fd);
}

static void a_run_is_synchronised_when_it_is_closed(void **state)
{
    llmperf_profile *profile = make_numbered_profile(2);
    struct lp_store *store = create_run_store();
    unsigned before;

    (void)state;
    assert_ok(lp_store_write(store, profile));
    before = atomic_load(&synced);
    lp_store_close(store);
    assert_true(atomic_load(&synced) > before);
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_synchronised_when_it_is_closed),
    };

    return cmocka_run_group_tests(tests, make_run_folder, remove_run_folder);
}

#else

int main(void)
{
    puts("synchronisation is counted without a sanitizer only");
    return 77;
}

#endif
