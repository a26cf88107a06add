
/*
 * relay_time: RFC 3339 and the expiry rule.
 */

#include "relay_time.h"


#define RELAY_TIME_IN_MAX   64              /* bytes of a date-time */
#define RELAY_TIME_DAY      INT64_C(86400000)

/* 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z */

#define RELAY_TIME_FIRST    INT64_C(-62167219200000)
#define RELAY_TIME_LAST     INT64_C(253402300799999)


static relay_int_t relay_time_digits(const unsigned char *p, size_t n,
    relay_uint_t *value);
static relay_int_t relay_time_date(const unsigned char *p, int64_t *days);


static relay_int_t
relay_time_digits(const unsigned char *p, size_t n, relay_uint_t *value)
{
    relay_uint_t  v;

    for (v = 0; n; n--, p++) {

        if (*p < '0' || *p > '9') {
            return RELAY_DECLINED;
        }

        v = v * 10 + (*p - '0');
    }

    *value = v;

    return RELAY_OK;
}


/* The ten bytes of "YYYY-MM-DD" at p to days since 1970-01-01. */

static relay_int_t
relay_time_date(const unsigned char *p, int64_t *days)
{
    int64_t       y, era, yoe, doy, doe;
    relay_uint_t  year, month, day, length;

    static const unsigned char  lengths[12] = {
        31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
    };

    if (relay_time_digits(p, 4, &year) != RELAY_OK
        || p[4] != '-'
        || relay_time_digits(p + 5, 2, &month) != RELAY_OK
        || p[7] != '-'
        || relay_time_digits(p + 8, 2, &day) != RELAY_OK)
    {
        return RELAY_DECLINED;
    }

    if (month < 1 || month > 12) {
        return RELAY_DECLINED;
    }

    length = lengths[month - 1];

    if (month == 2
        && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0))
    {
        length++;
    }

    if (day < 1 || day > length) {
        return RELAY_DECLINED;
    }

    /* a year that starts in March has its leap day last; 400 years repeat */

    y = (int64_t) year - (month <= 2 ? 1 : 0);
    era = (y >= 0 ? y : y - 399) / 400;
    yoe = y - era * 400;
    doy = (153 * ((int64_t) month + (month > 2 ? -3 : 9)) + 2) / 5
          + (int64_t) day - 1;
    doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;

    *days = era * 146097 + doe - 719468;

    return RELAY_OK;
}


relay_int_t
relay_time_parse(const relay_str_t *in, int64_t *ms)
{
    int64_t               t, days, fraction, scale, offset;
    relay_uint_t          hour, minute, second, leap, oh, om;
    const unsigned char  *p, *last;

    /* 20 bytes: "2027-12-31T23:59:59Z" */

    if (in->len < 20 || in->len > RELAY_TIME_IN_MAX) {
        return RELAY_DECLINED;
    }

    p = in->data;
    last = p + in->len;

    if (relay_time_date(p, &days) != RELAY_OK
        || (p[10] != 'T' && p[10] != 't')
        || relay_time_digits(p + 11, 2, &hour) != RELAY_OK
        || p[13] != ':'
        || relay_time_digits(p + 14, 2, &minute) != RELAY_OK
        || p[16] != ':'
        || relay_time_digits(p + 17, 2, &second) != RELAY_OK)
    {
        return RELAY_DECLINED;
    }

    if (hour > 23 || minute > 59 || second > 60) {
        return RELAY_DECLINED;
    }

    p += 19;
    fraction = 0;

    if (*p == '.') {
        p++;
        scale = 100;

        if (p == last || *p < '0' || *p > '9') {
            return RELAY_DECLINED;
        }

        /* digits below a millisecond are cut */

        while (p < last && *p >= '0' && *p <= '9') {
            fraction += (*p++ - '0') * scale;
            scale /= 10;
        }

        if (p == last) {
            return RELAY_DECLINED;
        }
    }

    if (*p == 'Z' || *p == 'z') {
        offset = 0;
        p++;

    } else {

        if (last - p != 6
            || (p[0] != '+' && p[0] != '-')
            || relay_time_digits(p + 1, 2, &oh) != RELAY_OK
            || p[3] != ':'
            || relay_time_digits(p + 4, 2, &om) != RELAY_OK
            || oh > 23 || om > 59)
        {
            return RELAY_DECLINED;
        }

        offset = (int64_t) (oh * 60 + om) * 60000;

        if (p[0] == '-') {
            offset = -offset;
        }

        p += 6;
    }

    if (p != last) {
        return RELAY_DECLINED;
    }

    leap = (second == 60);

    if (leap) {
        second = 59;
    }

    t = days * RELAY_TIME_DAY
        + (int64_t) ((hour * 60 + minute) * 60 + second) * 1000
        - offset;

    if (leap) {

        /*
         * the last second of a UTC day; epoch time has no such second, it
         * counts as the first of the next day
         */

        t += 1000;

        if (t % RELAY_TIME_DAY != 0) {
            return RELAY_DECLINED;
        }
    }

    t += fraction;

    if (t < RELAY_TIME_FIRST || t > RELAY_TIME_LAST) {
        return RELAY_DECLINED;
    }

    *ms = t;

    return RELAY_OK;
}


relay_int_t
relay_time_parse_end(const relay_str_t *in, int64_t *ms)
{
    int64_t  days;

    if (in->len != 10) {
        return relay_time_parse(in, ms);
    }

    if (relay_time_date(in->data, &days) != RELAY_OK) {
        return RELAY_DECLINED;
    }

    *ms = days * RELAY_TIME_DAY + RELAY_TIME_DAY - 1;

    return RELAY_OK;
}


void
relay_time_format(int64_t ms, unsigned char out[24])
{
    int64_t         days, rest, era, doe, yoe, y, doy, mp, d, m;
    unsigned char  *p;

    if (ms < RELAY_TIME_FIRST) {
        ms = RELAY_TIME_FIRST;

    } else if (ms > RELAY_TIME_LAST) {
        ms = RELAY_TIME_LAST;
    }

    days = ms / RELAY_TIME_DAY;
    rest = ms % RELAY_TIME_DAY;

    if (rest < 0) {
        rest += RELAY_TIME_DAY;
        days--;
    }

    days += 719468;

    era = (days >= 0 ? days : days - 146096) / 146097;
    doe = days - era * 146097;
    yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    mp = (5 * doy + 2) / 153;
    d = doy - (153 * mp + 2) / 5 + 1;
    m = mp < 10 ? mp + 3 : mp - 9;
    y = yoe + era * 400 + (m <= 2 ? 1 : 0);

    p = out;

#define relay_time_put2(v)                                                    \
    *p++ = (unsigned char) ('0' + (v) / 10 % 10);                             \
    *p++ = (unsigned char) ('0' + (v) % 10)

    relay_time_put2(y / 100);
    relay_time_put2(y % 100);
    *p++ = '-';
    relay_time_put2(m);
    *p++ = '-';
    relay_time_put2(d);
    *p++ = 'T';
    relay_time_put2(rest / 3600000);
    *p++ = ':';
    relay_time_put2(rest / 60000 % 60);
    *p++ = ':';
    relay_time_put2(rest / 1000 % 60);
    *p++ = '.';
    *p++ = (unsigned char) ('0' + rest % 1000 / 100);
    relay_time_put2(rest % 100);
    *p++ = 'Z';

#undef relay_time_put2
}


int64_t
relay_time_earlier(int64_t a, int64_t b)
{
    if (a == 0) {
        return b;
    }

    if (b == 0) {
        return a;
    }

    return a < b ? a : b;
}
