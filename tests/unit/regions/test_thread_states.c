/* SPDX-License-Identifier: Apache-2.0 */
/* States of threads are kept in one list: whoever takes one out or puts one back holds the lock. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "lib/regions/threads.h"

#if !defined(SANITIZED) /* sanitizers put themselves in front of these functions */

static _Atomic int taken, given;

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*next)(pthread_mutex_t *);

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "pthread_mutex_lock");
    taken++;
    return next(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    static int (*next)(pthread_mutex_t *);

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    given++;
    return next(mutex);
}

static int taken_for_one;

static void *take_state(void *argument)
{
    struct lp_thread **state_out = argument;

    taken = given = 0;
    *state_out = lp_thread_get();
    taken_for_one = taken;
    taken = given = 0;
    return NULL; /* The state goes back after this. */
}

static void a_state_is_taken_and_given_back_under_the_lock(void **context)
{
    struct lp_thread *states[2] = { NULL, NULL };

    (void)context;
    for (int i = 0; i < 2; i++) {
        pthread_t thread;

        assert_int_equal(pthread_create(&thread, NULL, take_state, &states[i]), 0);
        pthread_join(thread, NULL);
        assert_int_equal(taken_for_one, 1);
        assert_int_equal(taken, 2); /* that of the paths it held, and that of the list */
        assert_int_equal(given, 2);
    }
    assert_non_null(states[0]);
    assert_ptr_equal(states[0], states[1]); /* The second thread goes on with the first one's. */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_is_taken_and_given_back_under_the_lock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    puts("locks are counted without a sanitizer only");
    return 77;
}

#endif
