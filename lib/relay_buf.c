
/*
 * relay_buf: a growable buffer that cannot be created without a maximum.
 */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "relay_buf.h"


#define RELAY_BUF_FIRST  128    /* bytes of the first allocation */


static size_t relay_buf_utf8(const unsigned char *p, const unsigned char *last);


void
relay_buf_init(relay_buf_t *b, size_t max)
{
    b->data = NULL;
    b->len = 0;
    b->size = 0;
    b->max = max;
    b->failed = 0;
}


void
relay_buf_free(relay_buf_t *b)
{
    free(b->data);
    relay_buf_init(b, b->max);
}


void
relay_buf_reset(relay_buf_t *b)
{
    b->len = 0;
    b->failed = 0;
}


unsigned char *
relay_buf_reserve(relay_buf_t *b, size_t len)
{
    size_t          size;
    unsigned char  *data;

    if (b->failed) {
        return NULL;
    }

    if (b->len > b->max || len > b->max - b->len) {
        b->failed = 1;
        return NULL;
    }

    if (b->data != NULL && len <= b->size - b->len) {
        return b->data + b->len;
    }

    if (b->max < RELAY_BUF_FIRST) {
        size = b->max;

    } else {
        size = b->size < RELAY_BUF_FIRST ? RELAY_BUF_FIRST : b->size;

        while (size - b->len < len) {
            size = size > b->max / 2 ? b->max : size * 2;
        }
    }

    if (size == SIZE_MAX) {
        b->failed = 1;
        return NULL;
    }

    /* one byte more than size: relay_buf_printf() ends its output with a 0 */

    data = realloc(b->data, size + 1);
    if (data == NULL) {
        b->failed = 1;
        return NULL;
    }

    b->data = data;
    b->size = size;

    return data + b->len;
}


relay_int_t
relay_buf_append(relay_buf_t *b, const void *data, size_t len)
{
    unsigned char  *p;

    p = relay_buf_reserve(b, len);
    if (p == NULL) {
        return RELAY_ERROR;
    }

    if (len) {
        memcpy(p, data, len);
        b->len += len;
    }

    return RELAY_OK;
}


relay_int_t
relay_buf_append_str(relay_buf_t *b, const relay_str_t *s)
{
    return relay_buf_append(b, s->data, s->len);
}


relay_int_t
relay_buf_append_z(relay_buf_t *b, const char *s)
{
    return relay_buf_append(b, s, strlen(s));
}


relay_int_t
relay_buf_append_c(relay_buf_t *b, unsigned char c)
{
    unsigned char  *p;

    p = relay_buf_reserve(b, 1);
    if (p == NULL) {
        return RELAY_ERROR;
    }

    *p = c;
    b->len++;

    return RELAY_OK;
}


relay_int_t
relay_buf_append_int(relay_buf_t *b, int64_t n)
{
    uint64_t        u;
    unsigned char  *p, buf[20];

    p = buf + sizeof(buf);
    u = n < 0 ? 0 - (uint64_t) n : (uint64_t) n;

    do {
        *--p = (unsigned char) ('0' + u % 10);
        u /= 10;
    } while (u);

    if (n < 0) {
        *--p = '-';
    }

    return relay_buf_append(b, p, buf + sizeof(buf) - p);
}


relay_int_t
relay_buf_printf(relay_buf_t *b, const char *fmt, ...)
{
    int             n;
    va_list         args;
    unsigned char  *p;

    if (b->failed) {
        return RELAY_ERROR;
    }

    va_start(args, fmt);
    n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);

    if (n < 0) {
        b->failed = 1;
        return RELAY_ERROR;
    }

    p = relay_buf_reserve(b, (size_t) n);
    if (p == NULL) {
        return RELAY_ERROR;
    }

    va_start(args, fmt);
    vsnprintf((char *) p, (size_t) n + 1, fmt, args);
    va_end(args);

    b->len += (size_t) n;

    return RELAY_OK;
}


/* The length of the well-formed UTF-8 sequence at p, 0 if there is none. */

static size_t
relay_buf_utf8(const unsigned char *p, const unsigned char *last)
{
    size_t         i, n;
    unsigned char  low, high;

    low = 0x80;
    high = 0xbf;

    if (*p < 0x80) {
        return 1;

    } else if (*p >= 0xc2 && *p <= 0xdf) {
        n = 2;

    } else if (*p >= 0xe0 && *p <= 0xef) {
        n = 3;

        if (*p == 0xe0) {
            low = 0xa0;

        } else if (*p == 0xed) {
            high = 0x9f;            /* no surrogates */
        }

    } else if (*p >= 0xf0 && *p <= 0xf4) {
        n = 4;

        if (*p == 0xf0) {
            low = 0x90;

        } else if (*p == 0xf4) {
            high = 0x8f;            /* nothing beyond U+10FFFF */
        }

    } else {
        return 0;
    }

    if ((size_t) (last - p) < n || p[1] < low || p[1] > high) {
        return 0;
    }

    for (i = 2; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }

    return n;
}


relay_int_t
relay_buf_append_json(relay_buf_t *b, const relay_str_t *s)
{
    size_t                n;
    unsigned char         esc[6];
    const unsigned char  *p, *last, *run;

    static const char  hex[] = "0123456789abcdef";

    relay_buf_append_c(b, '"');

    if (s->len == 0) {
        return relay_buf_append_c(b, '"');
    }

    p = s->data;
    last = p + s->len;
    run = p;

    while (p < last) {

        if (*p >= 0x20 && *p < 0x7f && *p != '"' && *p != '\\') {
            p++;
            continue;
        }

        if (*p >= 0x80) {
            n = relay_buf_utf8(p, last);

            if (n == 2 && *p == 0xc2 && p[1] < 0xa0) {

                /* C1 controls, which a terminal obeys */

                relay_buf_append(b, run, p - run);
                relay_buf_printf(b, "\\u%04x", (unsigned) p[1]);

                p += n;
                run = p;
                continue;
            }

            if (n) {
                p += n;
                continue;
            }

            relay_buf_append(b, run, p - run);
            relay_buf_append(b, "\xef\xbf\xbd", 3);

            run = ++p;
            continue;
        }

        relay_buf_append(b, run, p - run);

        esc[0] = '\\';
        n = 2;

        switch (*p) {

        case '"':
        case '\\':
            esc[1] = *p;
            break;

        case '\b':
            esc[1] = 'b';
            break;

        case '\f':
            esc[1] = 'f';
            break;

        case '\n':
            esc[1] = 'n';
            break;

        case '\r':
            esc[1] = 'r';
            break;

        case '\t':
            esc[1] = 't';
            break;

        default:
            esc[1] = 'u';
            esc[2] = '0';
            esc[3] = '0';
            esc[4] = (unsigned char) hex[*p >> 4];
            esc[5] = (unsigned char) hex[*p & 0xf];
            n = 6;
        }

        relay_buf_append(b, esc, n);

        run = ++p;
    }

    relay_buf_append(b, run, p - run);

    return relay_buf_append_c(b, '"');
}
