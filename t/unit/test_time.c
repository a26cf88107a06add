
/*
 * relay_time: RFC 3339 both ways, ends of days, the expiry rule.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "relay_time.h"


#define DAY  INT64_C(86400000)


static relay_int_t
parse_with(relay_int_t (*handler)(const relay_str_t *, int64_t *),
    const char *s, size_t len, int64_t *ms)
{
    relay_int_t  rc;
    relay_str_t  in;

    /* memory of its own size, so that a sanitizer sees a byte too many */

    in.len = len;
    in.data = malloc(len ? len : 1);
    assert_non_null(in.data);
    memcpy(in.data, s, len);

    rc = handler(&in, ms);

    free(in.data);

    return rc;
}


static void
good(const char *s, int64_t expected)
{
    int64_t  ms;

    ms = -1;

    if (parse_with(relay_time_parse, s, strlen(s), &ms) != RELAY_OK) {
        fail_msg("\"%s\" was declined", s);
    }

    if (ms != expected) {
        fail_msg("\"%s\" is %lld, not %lld", s, (long long) ms,
                 (long long) expected);
    }

    ms = -1;
    assert_int_equal(parse_with(relay_time_parse_end, s, strlen(s), &ms),
                     RELAY_OK);
    assert_true(ms == expected);
}


static void
bad(const char *s)
{
    int64_t  ms;

    ms = 77;

    if (parse_with(relay_time_parse, s, strlen(s), &ms) != RELAY_DECLINED) {
        fail_msg("\"%s\" was accepted", s);
    }

    assert_int_equal(ms, 77);
}


static void
bad_end(const char *s)
{
    int64_t  ms;

    ms = 77;

    if (parse_with(relay_time_parse_end, s, strlen(s), &ms)
        != RELAY_DECLINED)
    {
        fail_msg("\"%s\" was accepted", s);
    }

    assert_int_equal(ms, 77);
}


static void
test_parse(void **state)
{
    good("1970-01-01T00:00:00Z", 0);
    good("1970-01-01T00:00:00.001Z", 1);
    good("1969-12-31T23:59:59.999Z", -1);
    good("2000-02-29T12:34:56Z", INT64_C(951827696000));
    good("2027-12-31T23:59:59.5+01:00", INT64_C(1830293999500));
    good("1985-04-12T23:20:50.52Z", INT64_C(482196050520));
    good("1996-12-19T16:39:57-08:00", INT64_C(851042397000));
    good("1937-01-01T12:00:27.87+00:20", INT64_C(-1041337172130));

    /* letters of either case (RFC 3339 5.6) */

    good("1985-04-12t23:20:50.52z", INT64_C(482196050520));
    good("1985-04-12t23:20:50z", INT64_C(482196050000));

    /* fractions of any length, cut at the millisecond */

    good("1970-01-01T00:00:00.0Z", 0);
    good("1970-01-01T00:00:00.1Z", 100);
    good("1970-01-01T00:00:00.12Z", 120);
    good("1970-01-01T00:00:00.0019Z", 1);
    good("1970-01-01T00:00:00.9999999Z", 999);
    good("1970-01-01T00:00:00.12345678901234567890123456789012345Z", 123);
    good("1969-12-31T23:59:59.0009Z", -1000);

    bad("1970-01-01T00:00:00."
        "1234567890123456789012345678901234567890123456789012345Z");
}


static void
test_offset(void **state)
{
    good("1970-01-01T00:00:00+00:00", 0);
    good("1970-01-01T00:00:00-00:00", 0);
    good("1970-01-01T23:59:00+23:59", 0);
    good("1969-12-31T00:01:00-23:59", 0);
    good("1970-01-01T05:45:00+05:45", 0);
    good("1970-01-01T00:00:00.25-00:01", 60250);

    bad("1970-01-01T00:00:00+24:00");
    bad("1970-01-01T00:00:00+00:60");
    bad("1970-01-01T00:00:00+0000");
    bad("1970-01-01T00:00:00+00");
    bad("1970-01-01T00:00:00+00:0");
    bad("1970-01-01T00:00:00+00:000");
    bad("1970-01-01T00:00:00+ 0:00");
    bad("1970-01-01T00:00:00 00:00");
    bad("1970-01-01T00:00:00Z+00:00");
    bad("1970-01-01T00:00:00\xe2\x88\x92" "00:00");
}


static void
test_calendar(void **state)
{
    char          s[32];
    int64_t       ms;
    relay_uint_t  m, y;

    static const unsigned  lengths[12] = {
        31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
    };

    for (m = 0; m < 12; m++) {
        snprintf(s, sizeof(s), "2027-%02u-%02uT00:00:00Z",
                 (unsigned) m + 1, lengths[m]);
        assert_int_equal(parse_with(relay_time_parse, s, strlen(s), &ms),
                         RELAY_OK);

        snprintf(s, sizeof(s), "2027-%02u-%02uT00:00:00Z",
                 (unsigned) m + 1, lengths[m] + 1);
        bad(s);
    }

    /* leap years: by 4, not by 100, by 400 */

    for (y = 1896; y <= 2104; y++) {
        snprintf(s, sizeof(s), "%04u-02-29T00:00:00Z", (unsigned) y);

        if (y % 4 == 0 && y != 1900 && y != 2100) {
            assert_int_equal(parse_with(relay_time_parse, s, strlen(s), &ms),
                             RELAY_OK);

        } else {
            bad(s);
        }
    }

    bad("2027-00-10T00:00:00Z");
    bad("2027-13-10T00:00:00Z");
    bad("2027-01-00T00:00:00Z");

    /* the first year and the last */

    good("0000-01-01T00:00:00Z", INT64_C(-62167219200000));
    good("0000-02-29T00:00:00Z", INT64_C(-62167219200000) + 59 * DAY);
    good("0000-03-01T00:00:00Z", INT64_C(-62167219200000) + 60 * DAY);
    good("0001-01-01T00:00:00Z", INT64_C(-62135596800000));
    good("9999-12-31T23:59:59.999Z", INT64_C(253402300799999));

    bad("0000-01-01T00:00:00+00:01");
    bad("9999-12-31T23:59:59-00:01");
    good("0000-01-01T00:01:00+00:01", INT64_C(-62167219200000));

    bad("10000-01-01T00:00:00Z");
    bad("-001-01-01T00:00:00Z");
    bad("+2027-01-01T00:00:00Z");
    bad("202-001-01T00:00:00Z");
}


static void
test_leap_second(void **state)
{
    good("1990-12-31T23:59:60Z", INT64_C(662688000000));
    good("1990-12-31T15:59:60-08:00", INT64_C(662688000000));
    good("1991-01-01T05:29:60+05:30", INT64_C(662688000000));
    good("1990-12-31T23:59:60.25Z", INT64_C(662688000250));

    bad("1990-12-31T23:58:60Z");
    bad("1990-12-31T22:59:60Z");
    bad("1990-12-31T23:59:60-08:00");
    bad("1990-12-31T23:59:60+00:01");
    bad("1990-12-31T23:59:61Z");
    bad("9999-12-31T23:59:60Z");
}


static void
test_malformed(void **state)
{
    size_t         i;
    int64_t        ms;
    char           s[] = "2027-12-31T23:59:59.5+01:00";
    unsigned char  c;

    bad("");
    bad("2027-12-31");
    bad("2027-12-31T23:59:59");
    bad("2027-12-31T23:59Z");
    bad("2027-12-31 23:59:59Z");
    bad("2027-12-31_23:59:59Z");
    bad("2027-12-31T24:00:00Z");
    bad("2027-12-31T23:60:00Z");
    bad("2027-12-31T23:59:59.Z");
    bad("2027-12-31T23:59:59,5Z");
    bad("2027-12-31T23:59:59.5");
    bad("2027-12-31T23:59:59.5.5Z");
    bad("2027-12-31T23:59:59.-5Z");
    bad(" 2027-12-31T23:59:59Z");
    bad("2027-12-31T23:59:59Z ");
    bad("2027-12-31T23:59:59ZZ");
    bad("2027-12-31T23:59:59Zulu");
    bad("2027-W52-5T23:59:59Z");
    bad("20271231T235959.0000Z");
    bad("2027-1-31T23:59:59.0Z");
    bad("\xd9\xa2\xd9\xa0" "27-12-31T23:59:59Z");
    bad("2027-12-31T23:59:59 GMT");

    assert_int_equal(parse_with(relay_time_parse, "2027-12-31T23:59:59\0Z", 21,
                                &ms),
                     RELAY_DECLINED);

    /* every prefix of a good one, and a wrong byte at each place */

    for (i = 0; i < sizeof(s) - 1; i++) {

        assert_int_equal(parse_with(relay_time_parse, s, i, &ms),
                         RELAY_DECLINED);

        c = (unsigned char) s[i];

        s[i] = ';';
        bad(s);

        s[i] = (char) (c | 0x80);
        bad(s);

        s[i] = (char) c;
    }

    good(s, INT64_C(1830293999500));
}


static void
test_parse_end(void **state)
{
    int64_t  ms;

    assert_int_equal(parse_with(relay_time_parse_end, "2027-12-31", 10, &ms),
                     RELAY_OK);
    assert_true(ms == INT64_C(1830297599999));

    assert_int_equal(parse_with(relay_time_parse_end, "1970-01-01", 10, &ms),
                     RELAY_OK);
    assert_true(ms == DAY - 1);

    assert_int_equal(parse_with(relay_time_parse_end, "9999-12-31", 10, &ms),
                     RELAY_OK);
    assert_true(ms == INT64_C(253402300799999));

    assert_int_equal(parse_with(relay_time_parse_end, "2028-02-29", 10, &ms),
                     RELAY_OK);
    assert_true(ms == INT64_C(1835481599999));

    /* a date-time is taken at its word */

    assert_int_equal(parse_with(relay_time_parse_end, "2027-12-31T00:00:00Z",
                                20, &ms),
                     RELAY_OK);
    assert_true(ms == INT64_C(1830211200000));

    bad_end("2027-02-29");
    bad_end("2027-13-01");
    bad_end("2027-12-32");
    bad_end("2027-12-3");
    bad_end("2027/12/31");
    bad_end("20271231..");
    bad_end("2027-12-31Z");
    bad_end("2027-12-31T");
    bad_end("");
    bad_end("tomorrow..");
}


static void
format(int64_t ms, const char *expected)
{
    int64_t        back;
    unsigned char  out[24 + 1];

    out[24] = 0x5a;
    relay_time_format(ms, out);
    assert_int_equal(out[24], 0x5a);
    assert_memory_equal(out, expected, 24);

    if (ms >= INT64_C(-62167219200000) && ms <= INT64_C(253402300799999)) {
        assert_int_equal(parse_with(relay_time_parse, (char *) out, 24, &back),
                         RELAY_OK);
        assert_true(back == ms);
    }
}


static void
test_format(void **state)
{
    int64_t        day, ms;
    unsigned char  out[24];

    format(0, "1970-01-01T00:00:00.000Z");
    format(-1, "1969-12-31T23:59:59.999Z");
    format(INT64_C(951827696789), "2000-02-29T12:34:56.789Z");
    format(INT64_C(1830297599000), "2027-12-31T23:59:59.000Z");
    format(INT64_C(4107542400000), "2100-03-01T00:00:00.000Z");
    format(INT64_C(-62167219200000), "0000-01-01T00:00:00.000Z");
    format(INT64_C(253402300799999), "9999-12-31T23:59:59.999Z");

    /* what has no four-digit year is brought to its end */

    format(INT64_C(253402300800000), "9999-12-31T23:59:59.999Z");
    format(INT64_MAX, "9999-12-31T23:59:59.999Z");
    format(INT64_MIN, "0000-01-01T00:00:00.000Z");

    /* there and back, every day of some 800 years that follow each other */

    for (day = -400 * 366; day < 400 * 366; day++) {

        ms = day * DAY + (day * 7919 % DAY + DAY) % DAY;

        relay_time_format(ms, out);

        if (parse_with(relay_time_parse, (char *) out, 24, &ms) != RELAY_OK
            || ms != day * DAY + (day * 7919 % DAY + DAY) % DAY)
        {
            fail_msg("day %lld", (long long) day);
        }
    }
}


static void
test_expired(void **state)
{
    assert_false(relay_time_expired(1000, 999));
    assert_true(relay_time_expired(1000, 1000));
    assert_true(relay_time_expired(1000, 1001));
    assert_false(relay_time_expired(0, 1000));
    assert_true(relay_time_expired(-1, 0));

    assert_int_equal(relay_time_earlier(0, 0), 0);
    assert_int_equal(relay_time_earlier(0, 5), 5);
    assert_int_equal(relay_time_earlier(5, 0), 5);
    assert_int_equal(relay_time_earlier(5, 6), 5);
    assert_int_equal(relay_time_earlier(6, 5), 5);
    assert_int_equal(relay_time_earlier(5, 5), 5);
    assert_true(relay_time_earlier(-5, 0) == -5);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_offset),
        cmocka_unit_test(test_calendar),
        cmocka_unit_test(test_leap_second),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_parse_end),
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_expired)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
