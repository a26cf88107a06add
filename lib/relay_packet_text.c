
/*
 * relay_packet_text: the forms in which texts of a packet are compared, so
 * that neither case nor compatibility characters, accents or characters that
 * nobody sees make two texts differ.
 *
 * What is compared is decomposed (NFKD) without its marks, not composed
 * (NFKC): texts that are equal composed are equal so, one that hides behind a
 * struck-through letter is found, and no run of marks has to be sorted.
 */

#include <utf8proc.h>

#include "relay_packet_rule.h"


#define RELAY_PACKET_EXPANDED  32   /* code points that one can become */


typedef enum {
    RELAY_PACKET_WORD = 0,
    RELAY_PACKET_SPACE,
    RELAY_PACKET_OTHER,             /* punctuation, symbols */
    RELAY_PACKET_HIDDEN
} relay_packet_class_e;


static relay_packet_class_e relay_packet_class(utf8proc_int32_t c);


static relay_packet_class_e
relay_packet_class(utf8proc_int32_t c)
{
    const utf8proc_property_t  *property;

    if (c >= 'a' && c <= 'z') {
        return RELAY_PACKET_WORD;
    }

    property = utf8proc_get_property(c);

    if (property->ignorable) {
        return RELAY_PACKET_HIDDEN;
    }

    switch (property->category) {

    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return RELAY_PACKET_WORD;

    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return RELAY_PACKET_SPACE;

    case UTF8PROC_CATEGORY_CC:
        return ((c >= 0x09 && c <= 0x0d) || c == 0x85) ? RELAY_PACKET_SPACE
                                                       : RELAY_PACKET_HIDDEN;

    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
        return RELAY_PACKET_HIDDEN;

    default:
        return RELAY_PACKET_OTHER;
    }
}


relay_int_t
relay_packet_fold(const relay_str_t *s, relay_uint_t words, relay_buf_t *out)
{
    int                    boundary;
    size_t                 start, len;
    unsigned               gap;
    utf8proc_int32_t       c, cps[RELAY_PACKET_EXPANDED];
    utf8proc_ssize_t       n, i;
    const unsigned char   *p, *last;
    relay_packet_class_e   class;
    utf8proc_uint8_t       utf8[5 * RELAY_PACKET_EXPANDED];

    start = out->len;
    p = s->data;
    last = p + s->len;
    gap = 0;

    while (p < last) {

        if (*p < 0x80) {
            cps[0] = (*p >= 'A' && *p <= 'Z') ? *p | 0x20 : *p;
            n = 1;
            p++;

        } else {
            n = utf8proc_iterate(p, last - p, &c);
            if (n <= 0) {
                return RELAY_DECLINED;
            }

            p += n;
            boundary = 0;

            n = utf8proc_decompose_char(c, cps, RELAY_PACKET_EXPANDED,
                                        UTF8PROC_COMPAT|UTF8PROC_DECOMPOSE
                                        |UTF8PROC_CASEFOLD, &boundary);

            if (n < 0 || n > RELAY_PACKET_EXPANDED) {
                return RELAY_DECLINED;
            }
        }

        len = 0;

        for (i = 0; i < n; i++) {

            class = relay_packet_class(cps[i]);

            if (class == RELAY_PACKET_HIDDEN) {
                continue;
            }

            if (words && class != RELAY_PACKET_WORD) {
                gap = 1;
                continue;
            }

            if (gap && out->len + len > start) {
                utf8[len++] = ' ';
            }

            gap = 0;

            if (cps[i] < 0x80) {
                utf8[len++] = (utf8proc_uint8_t) cps[i];

            } else {
                len += utf8proc_encode_char(cps[i], utf8 + len);
            }
        }

        if (len > out->max - out->len) {
            return RELAY_DECLINED;
        }

        if (len != 0 && relay_buf_append(out, utf8, len) != RELAY_OK) {
            return RELAY_ERROR;
        }
    }

    return RELAY_OK;
}


relay_uint_t
relay_packet_blank(const relay_str_t *s)
{
    size_t                 i;
    utf8proc_int32_t       c;
    utf8proc_ssize_t       n;
    relay_packet_class_e   class;

    for (i = 0; i < s->len; i += n) {

        if (s->data[i] > 0x20 && s->data[i] < 0x7f) {
            return 0;
        }

        n = utf8proc_iterate(s->data + i, s->len - i, &c);
        if (n <= 0) {
            return 1;
        }

        class = relay_packet_class(c);

        if (class == RELAY_PACKET_WORD || class == RELAY_PACKET_OTHER) {
            return 0;
        }
    }

    return 1;
}
