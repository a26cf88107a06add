
/*
 * relay_time against a second, naive reading of RFC 3339 that counts days one
 * month after the other.
 */

#include "fuzz.h"
#include "relay_time.h"


#define FIRST  INT64_C(-62167219200000)     /* 0000-01-01T00:00:00.000Z */
#define LAST   INT64_C(253402300799999)     /* 9999-12-31T23:59:59.999Z */


/* "0" in a pattern stands for a digit, anything else for itself. */

static int
matches(const char *pattern, const unsigned char *p)
{
    for (/* void */; *pattern != '\0'; pattern++, p++) {

        if (*pattern == '0' ? (*p < '0' || *p > '9')
                            : (*p | 0x20) != (*pattern | 0x20)
                              || ((*p ^ *pattern) != 0 && *pattern != 'T'))
        {
            return 0;
        }
    }

    return 1;
}


static int
number(const unsigned char *p, int n)
{
    int  v;

    for (v = 0; n > 0; n--) {
        v = v * 10 + (*p++ - '0');
    }

    return v;
}


static int
length_of(int year, int month)
{
    if (month == 2) {
        return (year % 400 == 0 || (year % 4 == 0 && year % 100 != 0)) ? 29
                                                                       : 28;
    }

    return (month == 4 || month == 6 || month == 9 || month == 11) ? 30 : 31;
}


/* Days from 0000-01-01. */

static int
days_of(const unsigned char *p, int64_t *days)
{
    int  y, m, d, year, month;

    if (!matches("0000-00-00", p)) {
        return 0;
    }

    year = number(p, 4);
    month = number(p + 5, 2);
    d = number(p + 8, 2);

    if (month < 1 || month > 12 || d < 1 || d > length_of(year, month)) {
        return 0;
    }

    *days = d - 1;

    for (y = 0; y < year; y++) {
        *days += (length_of(y, 2) == 29) ? 366 : 365;
    }

    for (m = 1; m < month; m++) {
        *days += length_of(year, m);
    }

    return 1;
}


static int
naive(const relay_str_t *in, int64_t *ms)
{
    int                   h, m, s, fraction, digits, sign, oh, om;
    char                  zone;
    int64_t               days, t;
    const unsigned char  *p, *last;

    if (in->len < 20 || in->len > 64) {
        return 0;
    }

    p = in->data;
    last = p + in->len;

    if (!days_of(p, &days) || !matches("T00:00:00", p + 10)) {
        return 0;
    }

    h = number(p + 11, 2);
    m = number(p + 14, 2);
    s = number(p + 17, 2);

    if (h > 23 || m > 59 || s > 60) {
        return 0;
    }

    p += 19;
    fraction = 0;

    if (*p == '.') {
        digits = 0;

        for (p++; p < last && *p >= '0' && *p <= '9'; p++) {
            if (digits++ < 3) {
                fraction = fraction * 10 + (*p - '0');
            }
        }

        if (digits == 0 || p == last) {
            return 0;
        }

        for (/* void */; digits < 3; digits++) {
            fraction *= 10;
        }
    }

    zone = (char) *p;
    sign = 0;
    oh = 0;
    om = 0;

    if (zone == 'Z' || zone == 'z') {
        if (last - p != 1) {
            return 0;
        }

    } else {
        if (last - p != 6 || (zone != '+' && zone != '-')
            || !matches("00:00", p + 1))
        {
            return 0;
        }

        oh = number(p + 1, 2);
        om = number(p + 4, 2);
        sign = (zone == '-') ? -1 : 1;

        if (oh > 23 || om > 59) {
            return 0;
        }
    }

    t = days * 86400 + h * 3600 + m * 60 + s - sign * (oh * 3600 + om * 60);

    /* a leap second is the last of a day in UTC */

    if (s == 60 && t % 86400 != 0) {
        return 0;
    }

    t = FIRST + t * 1000 + fraction;

    if (t < FIRST || t > LAST) {
        return 0;
    }

    *ms = t;

    return 1;
}


static void
round_trip(int64_t ms)
{
    int64_t        again;
    relay_str_t    s;
    unsigned char  out[24];

    relay_time_format(ms, out);

    s.data = out;
    s.len = sizeof(out);

    if (ms < FIRST) {
        ms = FIRST;
    }

    if (ms > LAST) {
        ms = LAST;
    }

    fuzz_assert(naive(&s, &again) && again == ms);
    fuzz_assert(relay_time_parse(&s, &again) == RELAY_OK && again == ms);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t      a, b, expected, ms, days;
    fuzz_in_t    in;
    relay_str_t  s;

    fuzz_in_init(&in, data, size);

    s = fuzz_rest(&in);

    if (naive(&s, &expected)) {
        fuzz_assert(relay_time_parse(&s, &ms) == RELAY_OK && ms == expected);
        fuzz_assert(relay_time_parse_end(&s, &ms) == RELAY_OK
                    && ms == expected);
        round_trip(ms);

    } else {
        fuzz_assert(relay_time_parse(&s, &ms) == RELAY_DECLINED);

        if (s.len == 10 && days_of(s.data, &days)) {
            fuzz_assert(relay_time_parse_end(&s, &ms) == RELAY_OK);
            fuzz_assert(ms == FIRST + (days + 1) * 86400000 - 1);
            round_trip(ms);

        } else {
            fuzz_assert(relay_time_parse_end(&s, &ms) == RELAY_DECLINED);
        }
    }

    fuzz_in_free(&in);
    fuzz_in_init(&in, data, size);

    a = (int64_t) fuzz_u64(&in);
    b = (int64_t) fuzz_u64(&in);

    round_trip(a);
    round_trip(a % LAST);

    /* 0 is never */

    fuzz_assert(relay_time_earlier(a, b) == relay_time_earlier(b, a));
    fuzz_assert(relay_time_earlier(a, 0) == a);
    fuzz_assert(!relay_time_expired((int64_t) 0, a));
    fuzz_assert(a == 0 || relay_time_expired(a, a));

    if (a != 0 && b != 0) {
        fuzz_assert(relay_time_earlier(a, b) == (a < b ? a : b));
    }

    return 0;
}
