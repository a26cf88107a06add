
/*
 * relay_text: decoded text, its words, what is hidden in it.
 */

#include <stdlib.h>
#include <utf8proc.h>

#include "relay_text.h"


#define RELAY_TEXT_FNV      0xcbf29ce484222325ull
#define RELAY_TEXT_PRIME    0x100000001b3ull

#define RELAY_TEXT_RUN_MAX  64      /* words of a shingle */
#define RELAY_TEXT_PROBES   64      /* in the table of shingles */

#define RELAY_TEXT_FLAG     0x1f3f4 /* what an emoji tag sequence starts with */


typedef struct {
    uint32_t             first;
    uint32_t             last;
    relay_text_hidden_e  class;
} relay_text_range_t;


/* in order */

static const relay_text_range_t  relay_text_ranges[] = {
    { 0x0000, 0x0008, RELAY_TEXT_CONTROL },
    { 0x000b, 0x000c, RELAY_TEXT_CONTROL },
    { 0x000e, 0x001f, RELAY_TEXT_CONTROL },
    { 0x007f, 0x009f, RELAY_TEXT_CONTROL },
    { 0x00ad, 0x00ad, RELAY_TEXT_BLANK },
    { 0x034f, 0x034f, RELAY_TEXT_BLANK },
    { 0x061c, 0x061c, RELAY_TEXT_BIDI_MARK },
    { 0x115f, 0x1160, RELAY_TEXT_BLANK },
    { 0x17b4, 0x17b5, RELAY_TEXT_BLANK },
    { 0x180b, 0x180d, RELAY_TEXT_VARIATION },
    { 0x180e, 0x180e, RELAY_TEXT_ZERO_WIDTH },
    { 0x180f, 0x180f, RELAY_TEXT_VARIATION },
    { 0x200b, 0x200b, RELAY_TEXT_ZERO_WIDTH },
    { 0x200c, 0x200d, RELAY_TEXT_JOINER },
    { 0x200e, 0x200f, RELAY_TEXT_BIDI_MARK },
    { 0x202a, 0x202e, RELAY_TEXT_BIDI },
    { 0x2060, 0x2065, RELAY_TEXT_ZERO_WIDTH },
    { 0x2066, 0x2069, RELAY_TEXT_BIDI },
    { 0x206a, 0x206f, RELAY_TEXT_ZERO_WIDTH },
    { 0x2800, 0x2800, RELAY_TEXT_BLANK },
    { 0x3164, 0x3164, RELAY_TEXT_BLANK },
    { 0xe000, 0xf8ff, RELAY_TEXT_PRIVATE },
    { 0xfe00, 0xfe0f, RELAY_TEXT_VARIATION },
    { 0xfeff, 0xfeff, RELAY_TEXT_ZERO_WIDTH },
    { 0xffa0, 0xffa0, RELAY_TEXT_BLANK },
    { 0xfff0, 0xfff8, RELAY_TEXT_ZERO_WIDTH },
    { 0xfff9, 0xfffb, RELAY_TEXT_ANNOTATION },
    { 0x1bca0, 0x1bca3, RELAY_TEXT_ZERO_WIDTH },
    { 0x1d173, 0x1d17a, RELAY_TEXT_ZERO_WIDTH },
    { 0xe0000, 0xe007f, RELAY_TEXT_TAG },
    { 0xe0080, 0xe00ff, RELAY_TEXT_ZERO_WIDTH },
    { 0xe0100, 0xe01ef, RELAY_TEXT_VARIATION },
    { 0xe01f0, 0xe0fff, RELAY_TEXT_ZERO_WIDTH },
    { 0xf0000, 0xffffd, RELAY_TEXT_PRIVATE },
    { 0x100000, 0x10fffd, RELAY_TEXT_PRIVATE }
};

#define RELAY_TEXT_RANGES                                                     \
    (sizeof(relay_text_ranges) / sizeof(relay_text_ranges[0]))


/* whether any of 256 code points is one of these, a bit for each */

static const unsigned char  relay_text_pages[32] = {
    [0x00 / 8] = 1 << 0 | 1 << 3 | 1 << 6,
    [0x11 / 8] = 1 << 1 | 1 << 7,
    [0x18 / 8] = 1 << 0,
    [0x20 / 8] = 1 << 0,
    [0x28 / 8] = 1 << 0,
    [0x31 / 8] = 1 << 1,
    [0xe0 / 8 ... 0xef / 8] = 0xff,
    [0xf0 / 8] = 0xff,
    [0xf8 / 8] = 1 << 0 | 1 << 6 | 1 << 7
};

/* letters and digits of ASCII, in lower case */

static const unsigned char  relay_text_lower[256] = {
    ['0'] = '0', ['1'] = '1', ['2'] = '2', ['3'] = '3', ['4'] = '4',
    ['5'] = '5', ['6'] = '6', ['7'] = '7', ['8'] = '8', ['9'] = '9',
    ['a'] = 'a', ['b'] = 'b', ['c'] = 'c', ['d'] = 'd', ['e'] = 'e',
    ['f'] = 'f', ['g'] = 'g', ['h'] = 'h', ['i'] = 'i', ['j'] = 'j',
    ['k'] = 'k', ['l'] = 'l', ['m'] = 'm', ['n'] = 'n', ['o'] = 'o',
    ['p'] = 'p', ['q'] = 'q', ['r'] = 'r', ['s'] = 's', ['t'] = 't',
    ['u'] = 'u', ['v'] = 'v', ['w'] = 'w', ['x'] = 'x', ['y'] = 'y',
    ['z'] = 'z',
    ['A'] = 'a', ['B'] = 'b', ['C'] = 'c', ['D'] = 'd', ['E'] = 'e',
    ['F'] = 'f', ['G'] = 'g', ['H'] = 'h', ['I'] = 'i', ['J'] = 'j',
    ['K'] = 'k', ['L'] = 'l', ['M'] = 'm', ['N'] = 'n', ['O'] = 'o',
    ['P'] = 'p', ['Q'] = 'q', ['R'] = 'r', ['S'] = 's', ['T'] = 't',
    ['U'] = 'u', ['V'] = 'v', ['W'] = 'w', ['X'] = 'x', ['Y'] = 'y',
    ['Z'] = 'z'
};


static const char *const  relay_text_names[] = {
    "visible", "tag", "bidi", "bidi-mark", "zero-width", "joiner",
    "variation", "blank", "control", "annotation", "private"
};


relay_int_t
relay_text_decode(const relay_json_tape_t *tape, const relay_str_t *doc,
    size_t i, relay_buf_t *mem, relay_str_t *text)
{
    const relay_json_node_t  *node;

    node = &tape->nodes[i];

    if (!node->escaped) {
        text->data = doc->data + node->off + 1;
        text->len = node->len - 2;
        return RELAY_OK;
    }

    relay_buf_reset(mem);

    if (relay_json_str_decode(tape, doc, i, mem) != RELAY_OK) {
        return RELAY_ERROR;
    }

    relay_buf_str(mem, text);

    return RELAY_OK;
}


size_t
relay_text_cp(const unsigned char *p, const unsigned char *last, uint32_t *cp)
{
    size_t    i, n;
    uint32_t  c, min;

    c = *p;

    if (c < 0x80) {
        *cp = c;
        return 1;
    }

    if (c >= 0xc2 && c <= 0xdf) {
        n = 2;
        min = 0x80;
        c &= 0x1f;

    } else if (c >= 0xe0 && c <= 0xef) {
        n = 3;
        min = 0x800;
        c &= 0x0f;

    } else if (c >= 0xf0 && c <= 0xf4) {
        n = 4;
        min = 0x10000;
        c &= 0x07;

    } else {
        goto invalid;
    }

    if ((size_t) (last - p) < n) {
        goto invalid;
    }

    for (i = 1; i < n; i++) {

        if ((p[i] & 0xc0) != 0x80) {
            goto invalid;
        }

        c = (c << 6) | (p[i] & 0x3f);
    }

    if (c < min || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) {
        goto invalid;
    }

    *cp = c;

    return n;

invalid:

    *cp = 0xfffd;

    return 1;
}


static relay_int_t
relay_text_append_cp(relay_buf_t *b, uint32_t c)
{
    size_t         n;
    unsigned char  p[4];

    if (c < 0x80) {
        p[0] = (unsigned char) c;
        n = 1;

    } else if (c < 0x800) {
        p[0] = (unsigned char) (0xc0 | (c >> 6));
        p[1] = (unsigned char) (0x80 | (c & 0x3f));
        n = 2;

    } else if (c < 0x10000) {
        p[0] = (unsigned char) (0xe0 | (c >> 12));
        p[1] = (unsigned char) (0x80 | ((c >> 6) & 0x3f));
        p[2] = (unsigned char) (0x80 | (c & 0x3f));
        n = 3;

    } else {
        p[0] = (unsigned char) (0xf0 | (c >> 18));
        p[1] = (unsigned char) (0x80 | ((c >> 12) & 0x3f));
        p[2] = (unsigned char) (0x80 | ((c >> 6) & 0x3f));
        p[3] = (unsigned char) (0x80 | (c & 0x3f));
        n = 4;
    }

    return relay_buf_append(b, p, n);
}


/* The four hexadecimal digits at p; false where there are fewer. */

static int
relay_text_hex4(const unsigned char *p, const unsigned char *last, uint32_t *v)
{
    size_t    i;
    unsigned  c;

    if (last - p < 4) {
        return 0;
    }

    *v = 0;

    for (i = 0; i < 4; i++) {
        c = p[i];

        if (c - '0' < 10) {
            c -= '0';

        } else if ((c | 0x20) - 'a' < 6) {
            c = (c | 0x20) - 'a' + 10;

        } else {
            return 0;
        }

        *v = (*v << 4) | c;
    }

    return 1;
}


/* The escape sequence at p, a backslash; returns its bytes, 0: it is none. */

static size_t
relay_text_escape(const unsigned char *p, const unsigned char *last,
    uint32_t *cp)
{
    uint32_t  low;

    if (last - p < 2) {
        return 0;
    }

    switch (p[1]) {

    case '"':
    case '\\':
    case '/':
        *cp = p[1];
        return 2;

    case 'b':
        *cp = '\b';
        return 2;

    case 'f':
        *cp = '\f';
        return 2;

    case 'n':
        *cp = '\n';
        return 2;

    case 'r':
        *cp = '\r';
        return 2;

    case 't':
        *cp = '\t';
        return 2;

    case 'u':
        break;

    default:
        return 0;
    }

    if (!relay_text_hex4(p + 2, last, cp)) {
        return 0;
    }

    if (*cp < 0xd800 || *cp > 0xdfff) {
        return 6;
    }

    if (*cp <= 0xdbff && last - p >= 12 && p[6] == '\\' && p[7] == 'u'
        && relay_text_hex4(p + 8, last, &low) && low >= 0xdc00 && low <= 0xdfff)
    {
        *cp = 0x10000 + ((*cp - 0xd800) << 10) + (low - 0xdc00);
        return 12;
    }

    *cp = 0xfffd;

    return 6;
}


static int
relay_text_is_json(const relay_str_t *text)
{
    unsigned              first, end;
    const unsigned char  *p, *last;

    p = text->data;
    last = p + text->len;

    while (p < last && (*p == ' ' || (*p >= '\t' && *p <= '\r'))) {
        p++;
    }

    while (p < last && (last[-1] == ' '
                        || (last[-1] >= '\t' && last[-1] <= '\r')))
    {
        last--;
    }

    if (last - p < 2) {
        return 0;
    }

    first = p[0];
    end = last[-1];

    return ((first == '{' && end == '}') || (first == '[' && end == ']')
            || (first == '"' && end == '"'))
           && memchr(p, '\\', last - p) != NULL;
}


relay_int_t
relay_text_unnest(const relay_str_t *text, const uint32_t *from,
    relay_buf_t *out, relay_buf_t *map)
{
    size_t                len, n;
    uint32_t              cp, off;
    const unsigned char  *p, *last;

    if (!relay_text_is_json(text)) {
        return RELAY_DECLINED;
    }

    relay_buf_reset(out);
    relay_buf_reset(map);

    p = text->data;
    last = p + text->len;

    while (p < last) {
        len = out->len;
        off = (uint32_t) (p - text->data);
        n = (*p == '\\') ? relay_text_escape(p, last, &cp) : 0;

        if (n != 0) {
            (void) relay_text_append_cp(out, cp);

        } else {
            (void) relay_buf_append_c(out, *p);
            n = 1;
        }

        p += n;

        if (from != NULL) {
            off = from[off];
        }

        for (n = out->len - len; n > 0; n--) {
            (void) relay_buf_append(map, &off, sizeof(uint32_t));
        }
    }

    off = (uint32_t) text->len;

    if (from != NULL) {
        off = from[off];
    }

    (void) relay_buf_append(map, &off, sizeof(uint32_t));

    return (out->failed || map->failed) ? RELAY_ERROR : RELAY_OK;
}


relay_text_hidden_e
relay_text_hidden_class(uint32_t cp)
{
    size_t  low, high, mid;

    if ((cp >= 0x20 && cp < 0x7f)
        || (cp < 0x10000
            && !(relay_text_pages[cp >> 11] & (1 << ((cp >> 8) & 7)))))
    {
        return RELAY_TEXT_VISIBLE;
    }

    low = 0;
    high = RELAY_TEXT_RANGES;

    while (low < high) {
        mid = (low + high) / 2;

        if (cp > relay_text_ranges[mid].last) {
            low = mid + 1;

        } else if (cp < relay_text_ranges[mid].first) {
            high = mid;

        } else {
            return relay_text_ranges[mid].class;
        }
    }

    return RELAY_TEXT_VISIBLE;
}


const char *
relay_text_hidden_name(relay_text_hidden_e class)
{
    return relay_text_names[class];
}


size_t
relay_text_fold(uint32_t cp, uint32_t *out)
{
    int                          last;
    size_t                       i, n;
    utf8proc_int32_t             buf[RELAY_TEXT_FOLD_MAX];
    utf8proc_ssize_t             rc;
    relay_text_hidden_e          class;
    const utf8proc_property_t   *property;

    if (cp < 0x80) {

        if (cp - 'A' < 26) {
            cp |= 0x20;
        }

        out[0] = cp;

        return (cp >= 0x20 && cp != 0x7f) || (cp >= '\t' && cp <= '\r');
    }

    class = relay_text_hidden_class(cp);

    if (class != RELAY_TEXT_VISIBLE && class != RELAY_TEXT_PRIVATE
        && cp != 0x85)
    {
        return 0;
    }

    /* most letters are their own form; Hangul is decomposed by computing */

    property = utf8proc_get_property((utf8proc_int32_t) cp);

    if ((property->decomp_seqindex == UINT16_MAX
         && property->casefold_seqindex == UINT16_MAX
         && !property->ignorable
         && (cp < 0x300 || cp > 0x36f) && (cp < 0xac00 || cp > 0xd7a3))
        || (cp >= 0xfdf0 && cp <= 0xfdfb))
    {
        out[0] = cp;
        return 1;
    }

    last = UTF8PROC_BOUNDCLASS_START;

    rc = utf8proc_decompose_char((utf8proc_int32_t) cp, buf,
                                 RELAY_TEXT_FOLD_MAX,
                                 UTF8PROC_DECOMPOSE|UTF8PROC_COMPAT
                                 |UTF8PROC_CASEFOLD|UTF8PROC_IGNORE, &last);

    if (rc < 0 || rc > RELAY_TEXT_FOLD_MAX) {
        out[0] = cp;
        return 1;
    }

    for (i = 0, n = 0; i < (size_t) rc; i++) {

        if (buf[i] >= 0x300 && buf[i] <= 0x36f) {
            continue;
        }

        out[n++] = (uint32_t) buf[i];
    }

    return n;
}


relay_uint_t
relay_text_is_word(uint32_t cp)
{
    utf8proc_category_t  category;

    if (cp < 0x80) {
        return (cp | 0x20) - 'a' < 26 || cp - '0' < 10;
    }

    category = utf8proc_category((utf8proc_int32_t) cp);

    return category >= UTF8PROC_CATEGORY_LU
           && category <= UTF8PROC_CATEGORY_NO;
}


static int
relay_text_is_space(uint32_t cp)
{
    return cp == ' ' || (cp >= '\t' && cp <= '\r') || cp == 0x85
           || cp == 0x2028 || cp == 0x2029;
}


static int
relay_text_is_apostrophe(uint32_t cp)
{
    return cp == '\'' || cp == 0x2019 || cp == 0x2bc;
}


void
relay_text_words_init(relay_text_words_t *w, const relay_str_t *text)
{
    memset(w, 0, sizeof(relay_text_words_t));

    w->start = text->data;
    w->pos = text->data;
    w->last = text->data + text->len;
    w->space = 1;
}


static void
relay_text_word_add(relay_text_words_t *w, uint32_t c)
{
    size_t         i, n;
    unsigned char  p[4];
    relay_buf_t    b;

    if (c < 0x80) {
        w->hash = (w->hash ^ c) * RELAY_TEXT_PRIME;

        if (w->len < RELAY_TEXT_WORD_MAX) {
            w->word[w->len++] = (unsigned char) c;
        }

        return;
    }

    memset(&b, 0, sizeof(relay_buf_t));
    b.data = p;
    b.size = sizeof(p);
    b.max = sizeof(p);

    (void) relay_text_append_cp(&b, c);

    n = b.len;

    for (i = 0; i < n; i++) {
        w->hash = (w->hash ^ p[i]) * RELAY_TEXT_PRIME;
    }

    if (w->len + n <= RELAY_TEXT_WORD_MAX) {
        memcpy(w->word + w->len, p, n);
        w->len += n;
    }
}


/* What stands between two words. */

static void
relay_text_words_gap(relay_text_words_t *w, uint32_t c, size_t *gap)
{
    if (relay_text_is_space(c)) {

        if (c != ' ' && c != '\t') {
            w->line = 1;
        }

        if (!w->space) {
            w->space = 1;
            w->chars_seen++;
        }

        if (++*gap == 1) {
            w->sep = ' ';
        }

        return;
    }

    if (c == '.' || c == '!' || c == '?' || c == 0x3002) {
        w->stop = 1;
    }

    w->space = 0;
    w->chars_seen++;

    if (++*gap == 1) {
        w->sep = c < 0x80 ? (unsigned char) c : 0;
    }
}


/* A piece of a word in ASCII. */

static void
relay_text_words_ascii(relay_text_words_t *w)
{
    size_t                len, n;
    unsigned              c;
    uint64_t              hash;
    const unsigned char  *p;

    if (w->chars == 0) {
        w->off = (size_t) (w->pos - w->start);
        w->at = w->chars_seen;
    }

    p = w->pos;
    len = w->len;
    hash = w->hash;

    while (p < w->last && (c = relay_text_lower[*p]) != 0) {
        hash = (hash ^ c) * RELAY_TEXT_PRIME;

        if (len < RELAY_TEXT_WORD_MAX) {
            w->word[len++] = (unsigned char) c;
        }

        p++;
    }

    n = (size_t) (p - w->pos);

    w->len = len;
    w->hash = hash;
    w->pos = p;
    w->end = (size_t) (p - w->start);
    w->chars += n;
    w->chars_seen += n;
    w->space = 0;
}


relay_uint_t
relay_text_words_next(relay_text_words_t *w)
{
    size_t    gap;
    uint32_t  c, cp;

    gap = 0;

    w->hash = RELAY_TEXT_FNV;
    w->len = 0;
    w->chars = 0;
    w->sep = 0;
    w->stop = 0;
    w->line = (w->chars_seen == 0);

    for ( ;; ) {

        if (w->next == w->n) {

            if (w->pos == w->last) {
                break;
            }

            c = *w->pos;

            if (c < 0x80) {

                if (relay_text_lower[c]) {
                    relay_text_words_ascii(w);
                    continue;
                }

                if (c == 0x7f || (c < ' ' && !relay_text_is_space(c))
                    || (c == '\'' && w->chars != 0))
                {
                    w->pos++;
                    continue;
                }

                if (w->chars != 0) {
                    break;
                }

                relay_text_words_gap(w, c, &gap);
                w->pos++;

                continue;
            }

            w->from = (size_t) (w->pos - w->start);
            w->pos += relay_text_cp(w->pos, w->last, &cp);
            w->n = relay_text_fold(cp, w->queue);
            w->next = 0;

            continue;
        }

        c = w->queue[w->next];

        if (relay_text_is_word(c) && !relay_text_is_apostrophe(c)) {

            if (w->chars == 0) {
                w->off = w->from;
                w->at = w->chars_seen;
            }

            relay_text_word_add(w, c);

            w->chars++;
            w->chars_seen++;
            w->space = 0;
            w->end = (size_t) (w->pos - w->start);

        } else if (w->chars == 0) {
            relay_text_words_gap(w, c, &gap);

        } else if (!relay_text_is_apostrophe(c)) {

            /* left in the queue: it belongs to the next gap */

            break;
        }

        w->next++;
    }

    w->at_end = w->chars_seen;

    if (gap != 1) {
        w->sep = 0;
    }

    return w->chars != 0;
}


relay_int_t
relay_text_normalize(const relay_str_t *text, relay_buf_t *out)
{
    size_t                i, n, start;
    uint32_t              c, cp;
    unsigned              gap;
    uint32_t              folded[RELAY_TEXT_FOLD_MAX];
    const unsigned char  *p, *last;

    start = out->len;
    gap = 0;

    p = text->data;
    last = p + text->len;

    while (p < last) {
        p += relay_text_cp(p, last, &cp);
        n = relay_text_fold(cp, folded);

        for (i = 0; i < n; i++) {
            c = folded[i];

            if (relay_text_is_apostrophe(c)) {
                continue;
            }

            if (!relay_text_is_word(c)) {
                gap = 1;
                continue;
            }

            if (gap && out->len != start) {
                (void) relay_buf_append_c(out, ' ');
            }

            gap = 0;

            (void) relay_text_append_cp(out, c);
        }
    }

    return out->failed ? RELAY_ERROR : RELAY_OK;
}


static int
relay_text_is_rtl(uint32_t cp)
{
    return (cp >= 0x590 && cp <= 0x8ff && cp != 0x61c)
           || (cp >= 0xfb1d && cp <= 0xfdff)
           || (cp >= 0xfe70 && cp <= 0xfefc)
           || (cp >= 0x10800 && cp <= 0x10fff)
           || (cp >= 0x1e800 && cp <= 0x1efff);
}


/* Scripts whose letters a joiner may stand beside. */

static int
relay_text_is_joining(uint32_t cp)
{
    return (cp >= 0x600 && cp <= 0xdff && cp != 0x61c)
           || (cp >= 0xf00 && cp <= 0x109f)
           || (cp >= 0x1780 && cp <= 0x18af && cp != 0x17b4 && cp != 0x17b5
               && (cp < 0x180b || cp > 0x180f))
           || (cp >= 0x1b00 && cp <= 0x1bff)
           || (cp >= 0xa840 && cp <= 0xa9df)
           || (cp >= 0xfb50 && cp <= 0xfdff)
           || (cp >= 0xfe70 && cp <= 0xfefc)
           || (cp >= 0x10a00 && cp <= 0x10fff)
           || (cp >= 0x11000 && cp <= 0x1147f)
           || (cp >= 0x1e900 && cp <= 0x1e95f);
}


static int
relay_text_is_emoji(uint32_t cp)
{
    return cp >= 0xa9
           && utf8proc_get_property((utf8proc_int32_t) cp)->boundclass
              == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}


static int
relay_text_is_ideograph(uint32_t cp)
{
    return (cp >= 0x3400 && cp <= 0x4dbf) || (cp >= 0x4e00 && cp <= 0x9fff)
           || (cp >= 0xf900 && cp <= 0xfaff)
           || (cp >= 0x20000 && cp <= 0x3ffff);
}


static int
relay_text_is_ascii_letter(uint32_t cp)
{
    return cp < 0x80 && (cp | 0x20) - 'a' < 26;
}


void
relay_text_hidden_init(relay_text_hidden_t *h, const relay_str_t *text)
{
    memset(h, 0, sizeof(relay_text_hidden_t));

    h->start = text->data;
    h->pos = text->data;
    h->last = text->data + text->len;
}


/*
 * Whether the bidirectional controls of the text are in order: 2, or 1 when
 * they are not.
 */

static unsigned
relay_text_bidi(const relay_text_hidden_t *h)
{
    long                  embedded, isolated;
    uint32_t              cp;
    unsigned              rtl;
    const unsigned char  *p;

    embedded = 0;
    isolated = 0;
    rtl = 0;

    for (p = h->start; p < h->last; /* void */) {

        if (*p < 0xd0) {
            p++;
            continue;
        }

        p += relay_text_cp(p, h->last, &cp);

        if (cp >= 0x2066 && cp <= 0x2068) {
            isolated++;

        } else if (cp == 0x2069) {
            isolated--;

        } else if (cp == 0x202c) {
            embedded--;

        } else if (cp >= 0x202a && cp <= 0x202e) {
            embedded++;

        } else if (relay_text_is_rtl(cp)) {
            rtl = 1;
        }

        if (embedded < 0 || isolated < 0) {
            return 1;
        }
    }

    return rtl && embedded == 0 && isolated == 0 ? 2 : 1;
}


/* The end of the emoji tag sequence whose flag ends at p; NULL: none. */

static const unsigned char *
relay_text_tags(const unsigned char *p, const unsigned char *last)
{
    size_t    n;
    uint32_t  cp;

    for (n = 0; p < last; n++) {
        p += relay_text_cp(p, last, &cp);

        if (cp == 0xe007f) {
            return n >= 3 ? p : NULL;
        }

        if (n == 6 || !((cp >= 0xe0030 && cp <= 0xe0039)
                        || (cp >= 0xe0061 && cp <= 0xe007a)))
        {
            break;
        }
    }

    return NULL;
}


static int
relay_text_variation_fine(const relay_text_hidden_t *h, uint32_t cp)
{
    if (h->prev == 0 || relay_text_is_space(h->prev)
        || relay_text_hidden_class(h->prev) != RELAY_TEXT_VISIBLE)
    {
        return 0;
    }

    if (cp >= 0xe0100) {
        return relay_text_is_ideograph(h->prev);
    }

    if (cp < 0x2000) {
        return h->prev >= 0x1800 && h->prev <= 0x18af;
    }

    return !relay_text_is_ascii_letter(h->prev);
}


static int
relay_text_joiner_fine(const relay_text_hidden_t *h, uint32_t cp,
    uint32_t next)
{
    uint32_t             prev;
    relay_text_hidden_e  class;

    class = relay_text_hidden_class(next);

    if (next != 0 && class != RELAY_TEXT_VISIBLE) {
        return 0;
    }

    prev = h->prev;

    if (cp == 0x200d && relay_text_is_emoji(next)) {

        /* after the emoji, its selector, its skin tone or its tags */

        return relay_text_is_emoji(prev)
               || (prev >= 0x1f3fb && prev <= 0x1f3ff)
               || (prev == 0xfe0f && relay_text_is_emoji(h->seen))
               || (h->tags != NULL && prev == 0xe007f);
    }

    if (prev != 0 && relay_text_hidden_class(prev) != RELAY_TEXT_VISIBLE) {
        return 0;
    }

    return relay_text_is_joining(prev) || relay_text_is_joining(next);
}


/* Whether a hidden character is where text needs it; q is what follows it. */

static int
relay_text_fine(relay_text_hidden_t *h, relay_text_hidden_e class,
    uint32_t cp, const unsigned char *q)
{
    uint32_t  next;

    switch (class) {

    case RELAY_TEXT_TAG:
        return h->tags != NULL && q <= h->tags;

    case RELAY_TEXT_BIDI:

        if (h->bidi == 0) {
            h->bidi = relay_text_bidi(h) & 3;
        }

        return h->bidi == 2;

    case RELAY_TEXT_VARIATION:
        return relay_text_variation_fine(h, cp);

    case RELAY_TEXT_ZERO_WIDTH:
        return cp == 0xfeff && h->pos == h->start;

    case RELAY_TEXT_JOINER:
    case RELAY_TEXT_BLANK:
        break;

    default:
        return 0;
    }

    next = 0;

    if (q < h->last) {
        (void) relay_text_cp(q, h->last, &next);
    }

    if (class == RELAY_TEXT_JOINER) {
        return relay_text_joiner_fine(h, cp, next);
    }

    return cp == 0x2800
           && ((h->prev > 0x2800 && h->prev <= 0x28ff)
               || (next > 0x2800 && next <= 0x28ff));
}


relay_uint_t
relay_text_hidden_next(relay_text_hidden_t *h)
{
    size_t                n;
    uint32_t              cp;
    relay_text_hidden_e   class;
    const unsigned char  *q;

    h->len = 0;
    h->class = RELAY_TEXT_VISIBLE;

    while (h->pos < h->last) {

        if (*h->pos >= 0x20 && *h->pos < 0x7f) {

            if (h->len != 0) {
                break;
            }

            do {
                h->pos++;
            } while (h->pos < h->last && *h->pos >= 0x20 && *h->pos < 0x7f);

            h->prev = h->pos[-1];
            h->seen = h->prev;

            continue;
        }

        n = relay_text_cp(h->pos, h->last, &cp);
        class = relay_text_hidden_class(cp);
        q = h->pos + n;

        if (h->len != 0 && class != h->class) {
            break;
        }

        if (class == RELAY_TEXT_VISIBLE) {
            h->prev = cp;
            h->seen = cp;
            h->pos = q;

            if (cp == RELAY_TEXT_FLAG) {
                h->tags = relay_text_tags(q, h->last);
            }

            continue;
        }

        if (relay_text_fine(h, class, cp, q)) {

            if (h->len != 0) {
                break;
            }

        } else {

            if (h->len == 0) {
                h->off = (size_t) (h->pos - h->start);
                h->class = class;
                h->cp = cp;
            }

            h->len += n;
        }

        h->prev = cp;
        h->pos = q;
    }

    if (h->len == 0) {
        return 0;
    }

    h->inside = 0;

    if (relay_text_is_ascii_letter(h->seen) && h->pos < h->last
        && relay_text_is_ascii_letter(*h->pos))
    {
        h->inside = 1;
    }

    h->info = h->class == RELAY_TEXT_PRIVATE
              || (h->class == RELAY_TEXT_BIDI_MARK && !h->inside);

    return 1;
}


/*
 * Where in the first text n words stand, from 1 on; 0: nowhere, and slot is
 * where they would go in the table, beyond its end where there is no room.
 */

static size_t
relay_text_shingles_find(const relay_text_shingles_t *s, const uint64_t *words,
    size_t *slot)
{
    size_t    i;
    uint64_t  hash;

    hash = 0;

    for (i = 0; i < s->n; i++) {
        hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 29;
    }

    *slot = hash & (s->table_size - 1);

    for (i = 0; i < RELAY_TEXT_PROBES; i++) {

        if (s->table[*slot] == 0) {
            return 0;
        }

        if (memcmp(&s->words[s->table[*slot] - 1], words,
                   s->n * sizeof(uint64_t))
            == 0)
        {
            return s->table[*slot];
        }

        *slot = (*slot + 1) & (s->table_size - 1);
    }

    *slot = s->table_size;

    return 0;
}


relay_int_t
relay_text_shingles_init(relay_text_shingles_t *s, const relay_str_t *text,
    size_t n)
{
    void                *p;
    size_t               i, size, slot;
    relay_text_words_t   w;

    memset(s, 0, sizeof(relay_text_shingles_t));

    s->n = (n == 0 || n > RELAY_TEXT_RUN_MAX) ? RELAY_TEXT_RUN_MAX : n;

    size = 0;
    relay_text_words_init(&w, text);

    while (relay_text_words_next(&w)) {

        if (s->words_n == size) {
            size = size ? size * 2 : 256;

            p = realloc(s->words, size * sizeof(uint64_t));
            if (p == NULL) {
                goto failed;
            }

            s->words = p;
        }

        s->words[s->words_n++] = w.hash;
    }

    if (s->words_n < s->n) {
        return RELAY_OK;
    }

    s->table_size = 64;

    while (s->table_size < s->words_n * 2) {
        s->table_size *= 2;
    }

    s->table = calloc(s->table_size, sizeof(uint32_t));
    if (s->table == NULL) {
        goto failed;
    }

    /* a run that stands in the table already need not do so twice */

    for (i = 0; i + s->n <= s->words_n; i++) {

        if (relay_text_shingles_find(s, &s->words[i], &slot) == 0
            && slot < s->table_size)
        {
            s->table[slot] = (uint32_t) (i + 1);
        }
    }

    return RELAY_OK;

failed:

    relay_text_shingles_free(s);

    return RELAY_ERROR;
}


void
relay_text_shingles_free(relay_text_shingles_t *s)
{
    free(s->words);
    free(s->table);

    memset(s, 0, sizeof(relay_text_shingles_t));
}


size_t
relay_text_shingles_shared(const relay_text_shingles_t *s,
    const relay_str_t *text, size_t *off, size_t *len)
{
    size_t              i, n, slot, found, next;
    size_t              offs[RELAY_TEXT_RUN_MAX];
    uint64_t            last[RELAY_TEXT_RUN_MAX];
    relay_text_words_t  w;

    if (s->table == NULL) {
        return 0;
    }

    n = 0;
    found = 0;
    next = 0;

    relay_text_words_init(&w, text);

    while (relay_text_words_next(&w)) {

        if (found != 0) {

            /* the run goes on for as long as the first text does so too */

            if (next == s->words_n || s->words[next] != w.hash) {
                break;
            }

            next++;
            found++;
            *len = w.end - *off;

            continue;
        }

        if (n == s->n) {

            for (i = 1; i < n; i++) {
                last[i - 1] = last[i];
                offs[i - 1] = offs[i];
            }

            n--;
        }

        last[n] = w.hash;
        offs[n++] = w.off;

        if (n < s->n) {
            continue;
        }

        next = relay_text_shingles_find(s, last, &slot);

        if (next != 0) {
            next += s->n - 1;
            found = s->n;
            *off = offs[0];
            *len = w.end - offs[0];
        }
    }

    return found;
}
