
/*
 * relay_schema_format: the formats that are asserted, each as ajv-formats in
 * its full mode judges it.
 */

#include "relay_schema_rule.h"


#define relay_schema_digit(c)  ((c) >= '0' && (c) <= '9')
#define relay_schema_alnum(c)                                                 \
    (relay_schema_digit(c) || (((c) | 0x20) >= 'a' && ((c) | 0x20) <= 'z'))


static size_t relay_schema_separator(const unsigned char *p, size_t len);
static relay_uint_t relay_schema_date(const unsigned char *p, size_t len);
static relay_uint_t relay_schema_time(const unsigned char *p, size_t len);


static inline int
relay_schema_two(const unsigned char *p)
{
    return (p[0] - '0') * 10 + (p[1] - '0');
}


/*
 * RFC 3339's date-time; what ECMA-262 calls white space may stand in place of
 * the "T".
 */

relay_int_t
relay_schema_date_time(const unsigned char *p, size_t len)
{
    size_t  n;

    /* the date alone has ten bytes, or is none */

    if (len <= 10) {
        return RELAY_DECLINED;
    }

    n = relay_schema_separator(p + 10, len - 10);

    if (n == 0 || !relay_schema_date(p, 10)
        || !relay_schema_time(p + 10 + n, len - 10 - n))
    {
        return RELAY_DECLINED;
    }

    return RELAY_OK;
}


/* The bytes of what separates date and time; 0: something else. */

static size_t
relay_schema_separator(const unsigned char *p, size_t len)
{
    size_t  i;

    static const relay_str_t  wide[] = {
        relay_string("\xc2\xa0"),
        relay_string("\xe1\x9a\x80"),
        relay_string("\xe2\x80\xa8"),
        relay_string("\xe2\x80\xa9"),
        relay_string("\xe2\x80\xaf"),
        relay_string("\xe2\x81\x9f"),
        relay_string("\xe3\x80\x80"),
        relay_string("\xef\xbb\xbf")
    };

    if (*p == 'T' || *p == 't' || *p == ' ' || (*p >= '\t' && *p <= '\r')) {
        return 1;
    }

    for (i = 0; i < sizeof(wide) / sizeof(wide[0]); i++) {
        if (len > wide[i].len && memcmp(p, wide[i].data, wide[i].len) == 0) {
            return wide[i].len;
        }
    }

    /* U+2000 to U+200A */

    if (len > 3 && p[0] == 0xe2 && p[1] == 0x80 && p[2] <= 0x8a) {
        return 3;
    }

    return 0;
}


static relay_uint_t
relay_schema_date(const unsigned char *p, size_t len)
{
    int     year, month, day, days;
    size_t  i;

    static const unsigned char  of[] = {
        31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
    };

    for (i = 0; i < len; i++) {
        if (i == 4 || i == 7) {
            if (p[i] != '-') {
                return 0;
            }

        } else if (!relay_schema_digit(p[i])) {
            return 0;
        }
    }

    year = relay_schema_two(p) * 100 + relay_schema_two(p + 2);
    month = relay_schema_two(p + 5);
    day = relay_schema_two(p + 8);

    if (month < 1 || month > 12) {
        return 0;
    }

    days = of[month - 1];

    if (month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)) {
        days = 29;
    }

    return day >= 1 && day <= days;
}


static relay_uint_t
relay_schema_time(const unsigned char *p, size_t len)
{
    int                   hour, minute, second, sign, zone_hour, zone_minute;
    const unsigned char  *last;

    last = p + len;

    if (len < 9
        || !relay_schema_digit(p[0]) || !relay_schema_digit(p[1])
        || p[2] != ':'
        || !relay_schema_digit(p[3]) || !relay_schema_digit(p[4])
        || p[5] != ':'
        || !relay_schema_digit(p[6]) || !relay_schema_digit(p[7]))
    {
        return 0;
    }

    hour = relay_schema_two(p);
    minute = relay_schema_two(p + 3);
    second = relay_schema_two(p + 6);
    p += 8;

    if (*p == '.') {
        p++;

        if (p == last || !relay_schema_digit(*p)) {
            return 0;
        }

        while (p < last && relay_schema_digit(*p)) {
            p++;
        }

        if (p == last) {
            return 0;
        }
    }

    sign = 1;
    zone_hour = 0;
    zone_minute = 0;

    if (*p == 'Z' || *p == 'z') {
        p++;

    } else if (*p == '+' || *p == '-') {

        sign = (*p == '-') ? -1 : 1;
        p++;

        if (last - p < 2
            || !relay_schema_digit(p[0]) || !relay_schema_digit(p[1]))
        {
            return 0;
        }

        zone_hour = relay_schema_two(p);
        p += 2;

        if (p < last) {
            p += (*p == ':');

            if (last - p < 2
                || !relay_schema_digit(p[0]) || !relay_schema_digit(p[1]))
            {
                return 0;
            }

            zone_minute = relay_schema_two(p);
            p += 2;
        }

    } else {
        return 0;
    }

    if (p != last || zone_hour > 23 || zone_minute > 59) {
        return 0;
    }

    if (hour <= 23 && minute <= 59 && second < 60) {
        return 1;
    }

    /*
     * A leap second is the one after 23:59:59 UTC.  Whether the local hour and
     * minute are in range is not asked then, there as here.
     */

    minute -= zone_minute * sign;
    hour -= zone_hour * sign + (minute < 0);

    return (hour == 23 || hour == -1) && (minute == 59 || minute == -1)
           && second < 61;
}


/*
 * A dot-atom, and a domain of two labels at least.  Neither has a maximum
 * here, nor are there quoted local parts, address literals or Unicode.
 */

relay_int_t
relay_schema_email(const unsigned char *p, size_t len)
{
    size_t                labels;
    const unsigned char  *last, *start;

    last = p + len;

    for ( ;; ) {

        for (start = p; p < last; p++) {
            if (!relay_schema_alnum(*p)
                && (*p == '\0' || strchr("!#$%&'*+/=?^_`{|}~-", *p) == NULL))
            {
                break;
            }
        }

        if (p == start || p == last) {
            return RELAY_DECLINED;
        }

        if (*p == '@') {
            break;
        }

        if (*p++ != '.') {
            return RELAY_DECLINED;
        }
    }

    labels = 0;

    do {
        start = ++p;

        while (p < last && (relay_schema_alnum(*p) || *p == '-')) {
            p++;
        }

        if (p == start || *start == '-' || p[-1] == '-') {
            return RELAY_DECLINED;
        }

        labels++;

    } while (p < last && *p == '.');

    return (p == last && labels > 1) ? RELAY_OK : RELAY_DECLINED;
}
