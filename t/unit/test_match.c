
/*
 * Unit tests of lib/relay_match.c, against the plain way.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE             /* memmem() */
#endif

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "relay_match.h"


static relay_str_t
str(const char *s)
{
    relay_str_t  r;

    r.data = (unsigned char *) s;
    r.len = strlen(s);

    return r;
}


static relay_uint_t
scan(relay_match_t *m, const char *text)
{
    relay_str_t  s;

    s = str(text);

    return relay_match_scan(m, &s);
}


static relay_uint_t
found(relay_match_t *m, const char *pattern)
{
    relay_str_t  s;

    s = str(pattern);

    return relay_match_found(m, &s);
}


static relay_int_t
put(relay_match_t *m, const char *pattern)
{
    relay_str_t  s;

    s = str(pattern);

    return relay_match_add(m, &s);
}


static void
test_words(void **state)
{
    relay_match_t  m;

    relay_match_init(&m, 64);

    assert_int_equal(scan(&m, "nothing is sought"), 0);
    assert_int_equal(found(&m, "he"), 0);

    assert_int_equal(put(&m, "he"), RELAY_OK);
    assert_int_equal(put(&m, "she"), RELAY_OK);
    assert_int_equal(put(&m, "his"), RELAY_OK);
    assert_int_equal(put(&m, "hers"), RELAY_OK);
    assert_int_equal(put(&m, "hers"), RELAY_OK);
    assert_int_equal(put(&m, ""), RELAY_OK);

    assert_int_equal(scan(&m, "h s e"), 0);
    assert_int_equal(found(&m, "he"), 0);
    assert_int_equal(found(&m, ""), 1);

    assert_int_equal(scan(&m, "ushers"), 1);
    assert_int_equal(found(&m, "he"), 1);
    assert_int_equal(found(&m, "she"), 1);
    assert_int_equal(found(&m, "hers"), 1);
    assert_int_equal(found(&m, "his"), 0);

    assert_int_equal(scan(&m, ""), 0);
    assert_int_equal(scan(&m, "hishi"), 1);
    assert_int_equal(found(&m, "his"), 1);

    assert_int_equal(put(&m, "late"), RELAY_ERROR);
    assert_int_equal(found(&m, "late"), 0);

    relay_match_free(&m);
}


/* A byte whose halves are those of two others is not what they are. */

static void
test_halves(void **state)
{
    relay_match_t  m;

    relay_match_init(&m, 64);

    assert_int_equal(put(&m, "\x12\x34"), RELAY_OK);
    assert_int_equal(put(&m, "\xff"), RELAY_OK);

    assert_int_equal(scan(&m, "\x01\x23\x4f"), 0);
    assert_int_equal(scan(&m, "\x51\x23\x45"), 0);
    assert_int_equal(scan(&m, "\x1f\xf1"), 0);
    assert_int_equal(scan(&m, "\x12\x12\x34"), 1);
    assert_int_equal(found(&m, "\xff"), 0);
    assert_int_equal(scan(&m, "\xfe\xff"), 1);

    relay_match_free(&m);
}


static void
test_limit(void **state)
{
    relay_match_t  m;

    relay_match_init(&m, 8);

    assert_int_equal(put(&m, "123456789"), RELAY_DECLINED);
    assert_int_equal(put(&m, "12345"), RELAY_OK);
    assert_int_equal(put(&m, "2345"), RELAY_DECLINED);
    assert_int_equal(put(&m, "345"), RELAY_OK);
    assert_int_equal(put(&m, "x"), RELAY_DECLINED);

    assert_int_equal(scan(&m, "x 2345 x"), 1);
    assert_int_equal(found(&m, "2345"), 0);
    assert_int_equal(found(&m, "x"), 0);
    assert_int_equal(found(&m, "345"), 1);
    assert_int_equal(found(&m, "12345"), 0);

    relay_match_free(&m);
}


/* Few letters, so that patterns overlap in every way. */

static void
test_plainly(void **state)
{
    size_t         i, j, k, n;
    uint32_t       seed;
    relay_str_t    text, patterns[12];
    relay_match_t  m;
    relay_uint_t   any, has;
    unsigned char  bytes[12][6], letters[64];

    seed = 1;

    for (i = 0; i < 20000; i++) {

        relay_match_init(&m, sizeof(bytes));

        for (j = 0; j < 12; j++) {

            seed = seed * 1664525 + 1013904223;
            n = 1 + (seed >> 16) % 6;

            for (k = 0; k < n; k++) {
                seed = seed * 1664525 + 1013904223;
                bytes[j][k] = "\x11\x12\x21"[(seed >> 16) % 3];
            }

            patterns[j].data = bytes[j];
            patterns[j].len = n;

            assert_int_equal(relay_match_add(&m, &patterns[j]), RELAY_OK);
        }

        for (k = 0; k < sizeof(letters); k++) {
            seed = seed * 1664525 + 1013904223;
            letters[k] = "\x11\x12\x21"[(seed >> 16) % 3];
        }

        text.data = letters;
        text.len = i % sizeof(letters);
        any = 0;
        has = relay_match_scan(&m, &text);

        for (j = 0; j < 12; j++) {

            n = (memmem(text.data, text.len, patterns[j].data, patterns[j].len)
                 != NULL);

            any |= n;
            assert_int_equal(relay_match_found(&m, &patterns[j]), n);
        }

        assert_int_equal(has, any);

        relay_match_free(&m);
    }
}


int
main(void)
{
    static const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_plainly)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
