
/*
 * relay_backoff: the range of every attempt, and the extremes.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "relay_backoff.h"


static void
test_range(void **state)
{
    relay_uint_t     n;
    relay_backoff_t  b = { 100, 5000 };

    static const uint64_t  ceilings[] = {
        100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000
    };

    for (n = 0; n < sizeof(ceilings) / sizeof(ceilings[0]); n++) {
        assert_int_equal(relay_backoff_next(&b, n, 0), 1);
        assert_int_equal(relay_backoff_next(&b, n, UINT32_MAX), ceilings[n]);
        assert_int_equal(relay_backoff_next(&b, n, 0x80000000),
                         1 + ceilings[n] / 2);
    }

    assert_int_equal(relay_backoff_next(&b, 1000000, UINT32_MAX), 5000);
    assert_int_equal(relay_backoff_next(&b, UINTPTR_MAX, UINT32_MAX), 5000);
}


static void
test_full_jitter(void **state)
{
    size_t           i;
    uint32_t         r;
    uint64_t         d, seen[4];
    relay_backoff_t  b = { 1, 4 };

    memset(seen, 0, sizeof(seen));

    for (i = 0, r = 0; i < 4096; i++, r += 1U << 20) {
        d = relay_backoff_next(&b, 2, r);
        assert_in_range(d, 1, 4);
        seen[d - 1]++;
    }

    /* every delay equally often */

    for (i = 0; i < 4; i++) {
        assert_int_equal(seen[i], 1024);
    }
}


static void
test_extremes(void **state)
{
    relay_backoff_t  zero = { 0, 5000 };
    relay_backoff_t  capped = { 900, 300 };
    relay_backoff_t  none = { 0, 0 };
    relay_backoff_t  huge = { UINT64_MAX / 2 + 1, UINT64_MAX };
    relay_backoff_t  one = { 1, UINT64_MAX };

    assert_int_equal(relay_backoff_next(&zero, 5, UINT32_MAX), 1);
    assert_int_equal(relay_backoff_next(&none, 5, UINT32_MAX), 1);
    assert_int_equal(relay_backoff_next(&capped, 0, UINT32_MAX), 300);
    assert_int_equal(relay_backoff_next(&capped, 3, 0), 1);

    assert_int_equal(relay_backoff_next(&huge, 0, 0), 1);
    assert_true(relay_backoff_next(&huge, 0, UINT32_MAX)
                <= UINT64_MAX / 2 + 1);
    assert_true(relay_backoff_next(&huge, 7, UINT32_MAX)
                > UINT64_MAX / 2 + 1);

    assert_int_equal(relay_backoff_next(&one, 0, UINT32_MAX), 1);
    assert_int_equal(relay_backoff_next(&one, 40, 0x80000000),
                     1 + (UINT64_C(1) << 39));
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_range),
        cmocka_unit_test(test_full_jitter),
        cmocka_unit_test(test_extremes)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
