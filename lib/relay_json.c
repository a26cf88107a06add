
/*
 * relay_json: a strict one-pass tokenizer that writes a flat tape.
 *
 * The nodes of open containers serve as the parser's stack: until a container
 * is closed, its "next" holds the index of the container around it, and its
 * "len" the place where its names begin on the stack of names.  That stack, in
 * the scratch memory, holds the hash and the node of every name of every open
 * object, the innermost on top, so that one object's names are contiguous.
 */

#include <stdlib.h>

#include "relay_json.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#define RELAY_JSON_SSE2  1
#endif


#define RELAY_JSON_ROOT        0xffffffffu  /* the container around the root */
#define RELAY_JSON_NODES_MAX   ((1u << 27) - 1)
#define RELAY_JSON_BYTES_MAX   0xfffffff0u

/*
 * An object of at most so many members is checked name by name, a larger one
 * when it ends: by a table of hashes, and by sorting where two of them are the
 * same or lie too close.  The cost never exceeds n log n, whatever the names
 * hash to.
 */
#define RELAY_JSON_SMALL       32
#define RELAY_JSON_PROBES      64

#define relay_json_likely(x)    __builtin_expect(!!(x), 1)
#define relay_json_unlikely(x)  __builtin_expect(!!(x), 0)


typedef struct {
    relay_json_tape_t    *tape;
    const unsigned char  *start;
    const unsigned char  *end;
    const unsigned char  *block;    /* 16 bytes may be read up to here */
    relay_json_limits_t   limits;
    const unsigned char  *at;       /* the byte at fault */
    const char           *text;
} relay_json_parser_t;


/* The decoded bytes of a string, one by one. */

typedef struct {
    const unsigned char  *pos;
    const unsigned char  *last;
    unsigned              n;        /* bytes left in buf */
    unsigned              i;
    unsigned char         buf[4];
} relay_json_reader_t;


const relay_json_limits_t  relay_json_default_limits = {
    RELAY_DOCUMENT_MAX,     /* bytes */
    64,                     /* depth */
    1024 * 1024,            /* nodes */
    4096,                   /* keys */
    1024,                   /* key_len */
    1024 * 1024,            /* string_len */
    256                     /* number_len */
};


/*
 * What a byte is inside of a string: 0 for one that stands for itself.
 * The lead bytes of UTF-8 sequences are told apart by relay_json_utf8().
 */

static const unsigned char  relay_json_special[256] = {
    [0 ... 0x1f] = 1,
    ['"'] = 1,
    ['\\'] = 1,
    [0x80 ... 0xff] = 1
};

/* The value of a hexadecimal digit, or -1. */

static inline int
relay_json_hex(unsigned c)
{
    if (c - '0' < 10) {
        return (int) (c - '0');
    }

    c |= 0x20;

    return (c - 'a' < 6) ? (int) (c - 'a' + 10) : -1;
}


static inline uint64_t
relay_json_load8(const unsigned char *p)
{
    uint64_t  w;

    memcpy(&w, p, 8);

    return w;
}


static inline uint64_t
relay_json_mix(uint64_t h, uint64_t w)
{
    h = (h ^ w) * 0x9fb21c651e98df25ull;

    return h ^ (h >> 29);
}


static inline uint32_t
relay_json_mix_end(uint64_t h, size_t len)
{
    h = (h ^ len) * 0xc2b2ae3d27d4eb4full;

    return (uint32_t) (h >> 32);
}


/* A word of the first len bytes at p, which may be fewer than eight. */

static inline uint64_t
relay_json_word(const unsigned char *p, size_t len)
{
    size_t    i;
    uint64_t  w;

    w = 0;

    for (i = 0; i < len; i++) {
        w |= (uint64_t) p[i] << (8 * i);
    }

    return w;
}


static inline uint64_t
relay_json_native(uint64_t w)
{
#if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
    return __builtin_bswap64(w);
#else
    return w;
#endif
}


uint32_t
relay_json_hash(const unsigned char *p, size_t len)
{
    size_t    n;
    uint64_t  h;

    h = 0;

    for (n = len; n >= 8; n -= 8) {
        h = relay_json_mix(h, relay_json_native(relay_json_load8(p)));
        p += 8;
    }

    h = relay_json_mix(h, relay_json_word(p, n));

    return relay_json_mix_end(h, len);
}


/* The same hash, where eight bytes may be read at the last word. */

static inline uint32_t
relay_json_hash_in(const unsigned char *p, size_t len)
{
    size_t    n;
    uint64_t  h, w;

    h = 0;

    for (n = len; n >= 8; n -= 8) {
        h = relay_json_mix(h, relay_json_native(relay_json_load8(p)));
        p += 8;
    }

    w = relay_json_native(relay_json_load8(p)) & ~(~0ull << (8 * n));
    h = relay_json_mix(h, w);

    return relay_json_mix_end(h, len);
}


static inline unsigned
relay_json_hex4(const unsigned char *p)
{
    return ((unsigned) relay_json_hex(p[0]) << 12)
           | ((unsigned) relay_json_hex(p[1]) << 8)
           | ((unsigned) relay_json_hex(p[2]) << 4)
           | (unsigned) relay_json_hex(p[3]);
}


static inline void
relay_json_reader_init(relay_json_reader_t *r, const unsigned char *doc,
    const relay_json_node_t *node)
{
    r->pos = doc + node->off + 1;
    r->last = doc + node->off + node->len - 1;
    r->n = 0;
    r->i = 0;
}


/* Decodes the escape sequence at the position; it is known to be valid. */

static void
relay_json_unescape(relay_json_reader_t *r)
{
    unsigned  c;

    r->i = 0;
    r->n = 1;

    switch (r->pos[1]) {

    case 'b':
        c = '\b';
        break;

    case 'f':
        c = '\f';
        break;

    case 'n':
        c = '\n';
        break;

    case 'r':
        c = '\r';
        break;

    case 't':
        c = '\t';
        break;

    case 'u':
        c = relay_json_hex4(r->pos + 2);
        r->pos += 4;

        if (c >= 0xd800 && c <= 0xdbff) {
            c = 0x10000 + ((c - 0xd800) << 10)
                + (relay_json_hex4(r->pos + 4) - 0xdc00);
            r->pos += 6;
        }

        break;

    default:
        c = r->pos[1];
    }

    r->pos += 2;

    if (c < 0x80) {
        r->buf[0] = (unsigned char) c;
        return;
    }

    if (c < 0x800) {
        r->buf[0] = (unsigned char) (0xc0 | (c >> 6));
        r->buf[1] = (unsigned char) (0x80 | (c & 0x3f));
        r->n = 2;
        return;
    }

    if (c < 0x10000) {
        r->buf[0] = (unsigned char) (0xe0 | (c >> 12));
        r->buf[1] = (unsigned char) (0x80 | ((c >> 6) & 0x3f));
        r->buf[2] = (unsigned char) (0x80 | (c & 0x3f));
        r->n = 3;
        return;
    }

    r->buf[0] = (unsigned char) (0xf0 | (c >> 18));
    r->buf[1] = (unsigned char) (0x80 | ((c >> 12) & 0x3f));
    r->buf[2] = (unsigned char) (0x80 | ((c >> 6) & 0x3f));
    r->buf[3] = (unsigned char) (0x80 | (c & 0x3f));
    r->n = 4;
}


/* The next decoded byte, or -1 at the end. */

static int
relay_json_read(relay_json_reader_t *r)
{
    if (r->n > 0) {
        r->n--;
        return r->buf[r->i++];
    }

    if (r->pos == r->last) {
        return -1;
    }

    if (*r->pos != '\\') {
        return *r->pos++;
    }

    relay_json_unescape(r);

    r->n--;

    return r->buf[r->i++];
}


static uint32_t
relay_json_hash_escaped(const unsigned char *doc, const relay_json_node_t *node)
{
    int                  c;
    size_t               len;
    uint64_t             h, w;
    relay_json_reader_t  r;

    relay_json_reader_init(&r, doc, node);

    h = 0;
    w = 0;
    len = 0;

    while ((c = relay_json_read(&r)) != -1) {
        w |= (uint64_t) c << (8 * (len & 7));

        if ((++len & 7) == 0) {
            h = relay_json_mix(h, w);
            w = 0;
        }
    }

    h = relay_json_mix(h, w);

    return relay_json_mix_end(h, len);
}


/* Compares two strings once unescaped, byte by byte. */

static int
relay_json_compare(const unsigned char *doc, const relay_json_node_t *a,
    const relay_json_node_t *b)
{
    int                  ca, cb, rc;
    size_t               len;
    relay_json_reader_t  ra, rb;

    if (!a->escaped && !b->escaped) {
        len = (a->len < b->len) ? a->len : b->len;
        rc = memcmp(doc + a->off + 1, doc + b->off + 1, len - 2);

        if (rc != 0) {
            return rc;
        }

        return (a->len > b->len) - (a->len < b->len);
    }

    relay_json_reader_init(&ra, doc, a);
    relay_json_reader_init(&rb, doc, b);

    do {
        ca = relay_json_read(&ra);
        cb = relay_json_read(&rb);
    } while (ca == cb && ca != -1);

    return ca - cb;
}


void
relay_json_tape_init(relay_json_tape_t *tape)
{
    memset(tape, 0, sizeof(relay_json_tape_t));
}


void
relay_json_tape_free(relay_json_tape_t *tape)
{
    free(tape->nodes);
    free(tape->scratch);

    memset(tape, 0, sizeof(relay_json_tape_t));
}


static __attribute__((noinline)) relay_int_t
relay_json_grow_nodes(relay_json_tape_t *tape, size_t size, size_t max)
{
    relay_json_node_t  *nodes;

    if (size > max) {
        size = max;
    }

    nodes = realloc(tape->nodes, size * sizeof(relay_json_node_t));
    if (nodes == NULL) {
        return RELAY_ERROR;
    }

    tape->nodes = nodes;
    tape->size = size;

    return RELAY_OK;
}


/*
 * The scratch memory is six arrays of the same size: the hashes of the names
 * of open objects, their nodes, and four as room for finding duplicates.
 */

static __attribute__((noinline)) relay_int_t
relay_json_grow_keys(relay_json_tape_t *tape, size_t size)
{
    size_t     used;
    uint32_t  *keys;

    keys = malloc(size * 6 * sizeof(uint32_t));
    if (keys == NULL) {
        return RELAY_ERROR;
    }

    used = tape->scratch_size;

    if (used != 0) {
        memcpy(keys, tape->scratch, used * sizeof(uint32_t));
        memcpy(keys + size, (uint32_t *) tape->scratch + used,
               used * sizeof(uint32_t));
    }

    free(tape->scratch);

    tape->scratch = keys;
    tape->scratch_size = size;

    return RELAY_OK;
}


/*
 * Whether n hashes are all different, as far as a table tells that is at most
 * half full; room holds 4n.
 */

static unsigned
relay_json_distinct(const uint32_t *hashes, uint32_t *room, size_t n)
{
    size_t    i, slot, size, probes;
    uint32_t  hash;

    for (size = 2 * RELAY_JSON_SMALL; size <= 2 * n; size *= 2) { /* void */ }

    memset(room, 0, size * sizeof(uint32_t));

    for (i = 0; i < n; i++) {

        /* 0 is a free slot */

        hash = hashes[i] | (hashes[i] == 0);
        slot = hash & (size - 1);

        for (probes = 0; room[slot] != 0; probes++) {

            if (room[slot] == hash || probes == RELAY_JSON_PROBES) {
                return 0;
            }

            slot = (slot + 1) & (size - 1);
        }

        room[slot] = hash;
    }

    return 1;
}


/*
 * Whether a name occurs twice among n; a merge sort from the bottom up.
 * Returns the node of the later one, or 0.
 */

static uint32_t
relay_json_duplicate(const relay_json_node_t *nodes, const unsigned char *doc,
    uint32_t *keys, uint32_t *room, size_t n)
{
    int       rc;
    size_t    width, left, mid, right, a, b, i;
    uint32_t *swap;

    for (width = 1; width < n; width *= 2) {

        for (left = 0; left < n; left += 2 * width) {
            mid = (n - left > width) ? left + width : n;
            right = (n - left > 2 * width) ? left + 2 * width : n;

            a = left;
            b = mid;

            for (i = left; i < right; i++) {

                if (a == mid) {
                    room[i] = keys[b++];
                    continue;
                }

                if (b == right) {
                    room[i] = keys[a++];
                    continue;
                }

                if (nodes[keys[a]].next != nodes[keys[b]].next) {
                    rc = (nodes[keys[a]].next < nodes[keys[b]].next) ? -1 : 1;

                } else {
                    rc = relay_json_compare(doc, &nodes[keys[a]],
                                            &nodes[keys[b]]);
                    if (rc == 0) {
                        return (keys[a] > keys[b]) ? keys[a] : keys[b];
                    }
                }

                room[i] = (rc < 0) ? keys[a++] : keys[b++];
            }
        }

        swap = keys;
        keys = room;
        room = swap;
    }

    return 0;
}


/* One multi-byte sequence of UTF-8; NULL when it is not well-formed. */

static inline const unsigned char *
relay_json_utf8(const unsigned char *p, const unsigned char *end)
{
    unsigned  c;

    c = *p;

    if (c < 0xe0) {
        if (c < 0xc2 || end - p < 2 || (p[1] & 0xc0) != 0x80) {
            return NULL;
        }

        return p + 2;
    }

    if (c < 0xf0) {
        if (end - p < 3 || (p[1] & 0xc0) != 0x80 || (p[2] & 0xc0) != 0x80
            || (c == 0xe0 && p[1] < 0xa0) || (c == 0xed && p[1] > 0x9f))
        {
            return NULL;
        }

        return p + 3;
    }

    if (c > 0xf4 || end - p < 4
        || (p[1] & 0xc0) != 0x80 || (p[2] & 0xc0) != 0x80
        || (p[3] & 0xc0) != 0x80
        || (c == 0xf0 && p[1] < 0x90) || (c == 0xf4 && p[1] > 0x8f))
    {
        return NULL;
    }

    return p + 4;
}


/* The escape sequence at p; NULL with text and place set when it is wrong. */

static __attribute__((noinline)) const unsigned char *
relay_json_escape(relay_json_parser_t *ps, const unsigned char *p)
{
    unsigned              c, i, pair;
    const unsigned char  *q;

    ps->at = p;

    if (ps->end - p < 2) {
        ps->text = "the string does not end";
        return NULL;
    }

    switch (p[1]) {

    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return p + 2;

    case 'u':
        break;

    default:
        ps->text = "no such escape sequence";
        return NULL;
    }

    q = p;
    pair = 0;

    for ( ;; ) {

        if (ps->end - q < 6) {
            ps->text = "the escape sequence does not end";
            return NULL;
        }

        for (i = 2; i < 6; i++) {
            if (relay_json_hex(q[i]) < 0) {
                ps->at = q + i;
                ps->text = "four hexadecimal digits are needed after \\u";
                return NULL;
            }
        }

        c = relay_json_hex4(q + 2);
        q += 6;

        if (pair) {
            if (c < 0xdc00 || c > 0xdfff) {
                ps->text = "unpaired surrogate in an escape sequence";
                return NULL;
            }

            return q;
        }

        if (c < 0xd800 || c > 0xdfff) {
            return q;
        }

        if (c >= 0xdc00 || ps->end - q < 2 || q[0] != '\\' || q[1] != 'u') {
            ps->text = "unpaired surrogate in an escape sequence";
            return NULL;
        }

        pair = 1;
    }
}


#if (RELAY_JSON_SSE2)

/*
 * The place of the first byte among sixteen that does not stand for itself,
 * as a bit in the mask; *quote is the mask of quotes.  As signed bytes, all
 * from 0x80 on are below the space, too.
 */

static inline unsigned
relay_json_block(const unsigned char *p, unsigned *quote)
{
    __m128i  x, q, other;

    x = _mm_loadu_si128((const __m128i *) p);
    q = _mm_cmpeq_epi8(x, _mm_set1_epi8('"'));
    other = _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('\\')),
                         _mm_cmplt_epi8(x, _mm_set1_epi8(0x20)));

    *quote = (unsigned) _mm_movemask_epi8(q);

    return (unsigned) _mm_movemask_epi8(other);
}

#endif


/*
 * Reads a string from the byte after its opening quote.  Returns the place
 * after the closing one, or NULL.
 */

static __attribute__((noinline)) const unsigned char *
relay_json_string_long(relay_json_parser_t *ps, const unsigned char *p,
    unsigned *escaped)
{
    const unsigned char  *end, *next;

    end = ps->end;

    for ( ;; ) {

#if (RELAY_JSON_SSE2)
        {
        unsigned  quote, other;

        while (p <= ps->block) {
            other = relay_json_block(p, &quote);

            if ((quote | other) != 0) {

                /* a quote, and no other such byte before it */

                if (((quote - 1) & ~quote & other) == 0 && quote != 0) {
                    return p + __builtin_ctz(quote) + 1;
                }

                p += __builtin_ctz(quote | other);
                goto special;
            }

            p += 16;
        }
        }
#endif

        while (p < end && !relay_json_special[*p]) {
            p++;
        }

        if (p == end) {
            ps->at = end;
            ps->text = "the string does not end";
            return NULL;
        }

#if (RELAY_JSON_SSE2)
    special:
#endif

        if (*p == '"') {
            return p + 1;
        }

        if (*p == '\\') {
            p = relay_json_escape(ps, p);
            if (p == NULL) {
                return NULL;
            }

            *escaped = 1;
            continue;
        }

        if (*p < 0x20) {
            ps->at = p;
            ps->text = "a control character in a string must be escaped";
            return NULL;
        }

        do {
            next = relay_json_utf8(p, end);
            if (next == NULL) {
                ps->at = p;
                ps->text = "the string is not valid UTF-8";
                return NULL;
            }

            p = next;

        } while (p < end && *p >= 0x80);
    }
}


static inline const unsigned char *
relay_json_string(relay_json_parser_t *ps, const unsigned char *p,
    unsigned *escaped)
{
#if (RELAY_JSON_SSE2)
    unsigned  quote, other;

    if (relay_json_likely(p <= ps->block)) {
        other = relay_json_block(p, &quote);

        if (relay_json_likely(quote != 0
                              && ((quote - 1) & ~quote & other) == 0))
        {
            return p + __builtin_ctz(quote) + 1;
        }

        if ((quote | other) == 0) {
            p += 16;
        }
    }
#endif

    return relay_json_string_long(ps, p, escaped);
}


static const unsigned char *
relay_json_number(relay_json_parser_t *ps, const unsigned char *p)
{
    const unsigned char  *end;

    end = ps->end;

    if (*p == '-') {
        p++;
    }

    if (p == end || *p < '0' || *p > '9') {
        ps->at = p;
        ps->text = "a digit is needed here";
        return NULL;
    }

    if (*p == '0') {
        p++;

        if (p < end && *p >= '0' && *p <= '9') {
            ps->at = p;
            ps->text = "a number must not start with a zero";
            return NULL;
        }

    } else {
        do {
            p++;
        } while (p < end && *p >= '0' && *p <= '9');
    }

    if (p < end && *p == '.') {
        p++;

        if (p == end || *p < '0' || *p > '9') {
            ps->at = p;
            ps->text = "a digit is needed after the decimal point";
            return NULL;
        }

        do {
            p++;
        } while (p < end && *p >= '0' && *p <= '9');
    }

    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;

        if (p < end && (*p == '+' || *p == '-')) {
            p++;
        }

        if (p == end || *p < '0' || *p > '9') {
            ps->at = p;
            ps->text = "a digit is needed in the exponent";
            return NULL;
        }

        do {
            p++;
        } while (p < end && *p >= '0' && *p <= '9');
    }

    return p;
}


static inline const unsigned char *
relay_json_space(const relay_json_parser_t *ps, const unsigned char *p)
{
    const unsigned char  *end;

    end = ps->end;

    if (p < end && *p > 0x20) {
        return p;
    }

#if (RELAY_JSON_SSE2)
    {
    unsigned       mask;
    __m128i        x, hit;
    const __m128i  nl = _mm_set1_epi8('\n');
    const __m128i  sp = _mm_set1_epi8(' ');
    const __m128i  tab = _mm_set1_epi8('\t');
    const __m128i  cr = _mm_set1_epi8('\r');

    if (p < ps->block && p[1] > 0x20) {
        return p + (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r');
    }

    while (p <= ps->block) {
        x = _mm_loadu_si128((const __m128i *) p);
        hit = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(x, sp),
                                        _mm_cmpeq_epi8(x, nl)),
                           _mm_or_si128(_mm_cmpeq_epi8(x, tab),
                                        _mm_cmpeq_epi8(x, cr)));
        mask = (unsigned) _mm_movemask_epi8(hit) ^ 0xffff;

        if (mask != 0) {
            return p + __builtin_ctz(mask);
        }

        p += 16;
    }
    }
#endif

    while (p < end
           && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'))
    {
        p++;
    }

    return p;
}


/* All of a node at once: bit-fields written one by one are slow to read. */

static inline void
relay_json_node(relay_json_node_t *node, size_t off, size_t len, size_t next,
    unsigned type, unsigned escaped)
{
    relay_json_node_t  value;

    value.off = (uint32_t) off;
    value.len = (uint32_t) len;
    value.next = (uint32_t) next;
    value.type = type & 0xf;
    value.escaped = escaped & 1;
    value.count = 0;

    *node = value;
}


/*
 * Looks a name up among those of its object so far, of which there are few.
 * Returns the node of one that is the same, or 0.
 */

static inline uint32_t
relay_json_seen(const relay_json_node_t *nodes, const unsigned char *doc,
    const uint32_t *hashes, const uint32_t *keys, size_t base, size_t top,
    const relay_json_node_t *key, uint32_t hash)
{
    size_t  i;

    for (i = base; i < top; i++) {
        if (relay_json_unlikely(hashes[i] == hash)
            && relay_json_compare(doc, &nodes[keys[i]], key) == 0)
        {
            return keys[i];
        }
    }

    return 0;
}


static void
relay_json_where(const relay_json_parser_t *ps, relay_json_error_t *err)
{
    const unsigned char  *p, *line;

    err->text = ps->text;
    err->offset = ps->at - ps->start;
    err->line = 1;

    line = ps->start;

    for (p = ps->start; p < ps->at; p++) {
        if (*p == '\n') {
            err->line++;
            line = p + 1;
        }
    }

    err->column = ps->at - line + 1;
}


relay_int_t
relay_json_parse(relay_json_tape_t *tape, const relay_str_t *doc,
    const relay_json_limits_t *limits, relay_json_error_t *err)
{
    size_t                max, room, n, count, depth, top, keys_max, size;
    unsigned              escaped, type;
    uint32_t              cur, dup, hash, *hashes, *keys;
    relay_json_node_t    *node, *nodes;
    relay_json_parser_t   ps;
    const unsigned char  *p, *q, *end, *start;

    start = doc->data;
    end = start + doc->len;

    ps.tape = tape;
    ps.start = start;
    ps.end = end;
    ps.block = (doc->len >= 16) ? end - 16 : NULL;
    ps.limits = *limits;
    ps.at = start;
    ps.text = NULL;

    tape->n = 0;

    if (doc->len == 0) {
        ps.text = "the document ends where a value is needed";
        goto declined;
    }

    if (doc->len > limits->bytes || doc->len > RELAY_JSON_BYTES_MAX) {
        ps.text = "the document is too long";
        goto declined;
    }

    if (doc->len >= 3 && memcmp(start, "\xef\xbb\xbf", 3) == 0) {
        ps.text = "the document starts with a byte order mark";
        goto declined;
    }

    max = (limits->nodes < RELAY_JSON_NODES_MAX) ? limits->nodes
                                                 : RELAY_JSON_NODES_MAX;
    keys_max = limits->keys;

    if (max == 0) {
        ps.text = "the document has too many values";
        goto declined;
    }

    if (tape->size == 0
        && relay_json_grow_nodes(tape, doc->len / 12 + 64, max) != RELAY_OK)
    {
        return RELAY_ERROR;
    }

    room = (tape->size < max) ? tape->size : max;

    if (tape->scratch_size == 0
        && relay_json_grow_keys(tape, 256) != RELAY_OK)
    {
        return RELAY_ERROR;
    }

    hashes = tape->scratch;
    keys = hashes + tape->scratch_size;

    nodes = tape->nodes;
    p = start;
    n = 0;
    top = 0;
    depth = 0;
    count = 0;
    cur = RELAY_JSON_ROOT;

value:

    p = relay_json_space(&ps, p);

value_here:

    if (relay_json_unlikely(p == end)) {
        ps.at = end;
        ps.text = "the document ends where a value is needed";
        goto declined;
    }

    if (relay_json_unlikely(n == room)) {

        if (n == max) {
            ps.at = p;
            ps.text = "the document has too many values";
            goto declined;
        }

        if (relay_json_grow_nodes(tape, tape->size * 2, max) != RELAY_OK) {
            return RELAY_ERROR;
        }

        nodes = tape->nodes;
        room = tape->size;
    }

    escaped = 0;

    switch (*p) {

    case '"':
        q = relay_json_string(&ps, p + 1, &escaped);
        if (relay_json_unlikely(q == NULL)) {
            goto declined;
        }

        if (relay_json_unlikely((size_t) (q - p) - 2 > ps.limits.string_len)) {
            ps.at = p;
            ps.text = "the string is too long";
            goto declined;
        }

        type = RELAY_JSON_STRING;
        break;

    case '{':
    case '[':
        if (relay_json_unlikely(depth == ps.limits.depth)) {
            ps.at = p;
            ps.text = "the document is nested too deeply";
            goto declined;
        }

        depth++;

        type = (*p == '{') ? RELAY_JSON_OBJECT : RELAY_JSON_ARRAY;

        relay_json_node(&nodes[n], p - start, top, cur, type, 0);

        if (cur != RELAY_JSON_ROOT) {
            nodes[cur].count = count;
        }

        cur = n++;
        count = 0;

        q = relay_json_space(&ps, p + 1);

        if (*p == '{') {
            p = q;

            if (p < end && *p == '}') {
                goto close;
            }

            goto key;
        }

        p = q;

        if (p < end && *p == ']') {
            goto close;
        }

        goto value_here;

    case 't':
        if (end - p < 4 || memcmp(p, "true", 4) != 0) {
            goto unexpected;
        }

        q = p + 4;
        type = RELAY_JSON_TRUE;
        break;

    case 'f':
        if (end - p < 5 || memcmp(p, "false", 5) != 0) {
            goto unexpected;
        }

        q = p + 5;
        type = RELAY_JSON_FALSE;
        break;

    case 'n':
        if (end - p < 4 || memcmp(p, "null", 4) != 0) {
            goto unexpected;
        }

        q = p + 4;
        type = RELAY_JSON_NULL;
        break;

    case '-':
    case '0': case '1': case '2': case '3': case '4':
    case '5': case '6': case '7': case '8': case '9':

        q = relay_json_number(&ps, p);
        if (q == NULL) {
            goto declined;
        }

        if ((size_t) (q - p) > ps.limits.number_len) {
            ps.at = p;
            ps.text = "the number is too long";
            goto declined;
        }

        type = RELAY_JSON_NUMBER;
        break;

    default:
        goto unexpected;
    }

    relay_json_node(&nodes[n], p - start, q - p, n + 1, type, escaped);

    n++;
    p = q;

after:

    p = relay_json_space(&ps, p);

    if (relay_json_unlikely(cur == RELAY_JSON_ROOT)) {

        if (p != end) {
            ps.at = p;
            ps.text = "nothing may follow the document's value";
            goto declined;
        }

        tape->n = n;

        return RELAY_OK;
    }

    count++;

    if (relay_json_unlikely(p == end)) {
        ps.at = end;
        ps.text = (nodes[cur].type == RELAY_JSON_OBJECT)
                  ? "the object does not end" : "the array does not end";
        goto declined;
    }

    if (nodes[cur].type == RELAY_JSON_ARRAY) {

        if (*p == ',') {
            p++;
            goto value;
        }

        if (*p == ']') {
            goto close;
        }

        ps.at = p;
        ps.text = "a comma or a closing bracket is needed here";
        goto declined;
    }

    if (*p == '}') {

        if (relay_json_unlikely(count > RELAY_JSON_SMALL)) {
            dup = 0;

            if (!relay_json_distinct(hashes + nodes[cur].len,
                                     keys + tape->scratch_size, count))
            {
                dup = relay_json_duplicate(nodes, start,
                                           keys + nodes[cur].len,
                                           keys + tape->scratch_size, count);
            }

            if (dup != 0) {
                ps.at = start + nodes[dup].off;
                ps.text = "the name occurs twice in this object";
                goto declined;
            }
        }

        goto close;
    }

    if (relay_json_unlikely(*p != ',')) {
        ps.at = p;
        ps.text = "a comma or a closing brace is needed here";
        goto declined;
    }

    p = relay_json_space(&ps, p + 1);

key:

    if (relay_json_unlikely(p == end || *p != '"')) {
        ps.at = p;
        ps.text = "a member's name in quotes is needed here";
        goto declined;
    }

    if (relay_json_unlikely(count == keys_max)) {
        ps.at = p;
        ps.text = "the object has too many members";
        goto declined;
    }

    if (relay_json_unlikely(n == room)) {

        if (n == max) {
            ps.at = p;
            ps.text = "the document has too many values";
            goto declined;
        }

        if (relay_json_grow_nodes(tape, tape->size * 2, max) != RELAY_OK) {
            return RELAY_ERROR;
        }

        nodes = tape->nodes;
        room = tape->size;
    }

    node = &nodes[n];
    escaped = 0;

    q = relay_json_string(&ps, p + 1, &escaped);
    if (relay_json_unlikely(q == NULL)) {
        goto declined;
    }

    size = q - p - 2;

    if (relay_json_unlikely(size > ps.limits.key_len)) {
        ps.at = p;
        ps.text = "the member's name is too long";
        goto declined;
    }

    if (relay_json_unlikely(escaped)) {
        relay_json_node(node, p - start, q - p, 0, RELAY_JSON_KEY, 1);
        hash = relay_json_hash_escaped(start, node);

    } else if (relay_json_likely(end - q >= 8)) {
        hash = relay_json_hash_in(p + 1, size);

    } else {
        hash = relay_json_hash(p + 1, size);
    }

    relay_json_node(node, p - start, q - p, hash, RELAY_JSON_KEY, escaped);

    if (relay_json_likely(count < RELAY_JSON_SMALL)) {

        dup = relay_json_seen(nodes, start, hashes, keys, nodes[cur].len, top,
                              node, hash);
        if (relay_json_unlikely(dup != 0)) {
            ps.at = p;
            ps.text = "the name occurs twice in this object";
            goto declined;
        }
    }

    if (relay_json_unlikely(top == tape->scratch_size)) {

        if (relay_json_grow_keys(tape, top * 2) != RELAY_OK) {
            return RELAY_ERROR;
        }

        hashes = tape->scratch;
        keys = hashes + tape->scratch_size;
    }

    hashes[top] = hash;
    keys[top++] = (uint32_t) n++;

    p = relay_json_space(&ps, q);

    if (relay_json_unlikely(p == end || *p != ':')) {
        ps.at = p;
        ps.text = "a colon is needed here";
        goto declined;
    }

    p++;

    goto value;

close:

    node = &nodes[cur];

    p++;
    top = node->len;
    cur = node->next;

    node->len = (uint32_t) (p - start) - node->off;
    node->next = (uint32_t) n;
    node->count = count;

    depth--;

    if (cur != RELAY_JSON_ROOT) {
        count = nodes[cur].count;
    }

    goto after;

unexpected:

    ps.at = p;
    ps.text = "no JSON value starts like this";

declined:

    relay_json_where(&ps, err);
    tape->n = 0;

    return RELAY_DECLINED;
}


relay_uint_t
relay_json_str_is(const relay_json_tape_t *tape, const relay_str_t *doc,
    size_t i, const char *s, size_t len)
{
    int                       c;
    size_t                    n;
    relay_json_reader_t       r;
    const relay_json_node_t  *node;

    node = &tape->nodes[i];

    if (node->type != RELAY_JSON_STRING && node->type != RELAY_JSON_KEY) {
        return 0;
    }

    if (!node->escaped) {
        return node->len - 2 == len
               && memcmp(doc->data + node->off + 1, s, len) == 0;
    }

    relay_json_reader_init(&r, doc->data, node);

    for (n = 0; n < len; n++) {
        c = relay_json_read(&r);

        if (c != (unsigned char) s[n]) {
            return 0;
        }
    }

    return relay_json_read(&r) == -1;
}


relay_uint_t
relay_json_str_same(const relay_str_t *doc1, const relay_json_node_t *node1,
    const relay_str_t *doc2, const relay_json_node_t *node2)
{
    int                  c1, c2;
    relay_json_reader_t  r1, r2;

    if (!node1->escaped && !node2->escaped) {
        return node1->len == node2->len
               && memcmp(doc1->data + node1->off, doc2->data + node2->off,
                         node1->len)
                  == 0;
    }

    relay_json_reader_init(&r1, doc1->data, node1);
    relay_json_reader_init(&r2, doc2->data, node2);

    do {
        c1 = relay_json_read(&r1);
        c2 = relay_json_read(&r2);
    } while (c1 == c2 && c1 != -1);

    return c1 == c2;
}


uint32_t
relay_json_str_hash(const relay_str_t *doc, const relay_json_node_t *node)
{
    if (node->escaped) {
        return relay_json_hash_escaped(doc->data, node);
    }

    return relay_json_hash(doc->data + node->off + 1, node->len - 2);
}


size_t
relay_json_get(const relay_json_tape_t *tape, const relay_str_t *doc,
    size_t obj, const char *name, size_t len)
{
    size_t    i, n;
    uint32_t  hash;

    if (tape->nodes[obj].type != RELAY_JSON_OBJECT) {
        return 0;
    }

    hash = relay_json_hash((const unsigned char *) name, len);
    i = obj + 1;

    for (n = tape->nodes[obj].count; n > 0; n--) {

        if (tape->nodes[i].next == hash
            && relay_json_str_is(tape, doc, i, name, len))
        {
            return i + 1;
        }

        i = tape->nodes[i + 1].next;
    }

    return 0;
}


relay_int_t
relay_json_str_decode(const relay_json_tape_t *tape, const relay_str_t *doc,
    size_t i, relay_buf_t *out)
{
    relay_json_reader_t       r;
    const unsigned char      *p;
    const relay_json_node_t  *node;

    node = &tape->nodes[i];

    if (node->type != RELAY_JSON_STRING && node->type != RELAY_JSON_KEY) {
        return RELAY_ERROR;
    }

    relay_json_reader_init(&r, doc->data, node);

    if (!node->escaped) {
        return relay_buf_append(out, r.pos, r.last - r.pos);
    }

    while (r.pos < r.last) {

        p = memchr(r.pos, '\\', r.last - r.pos);
        if (p == NULL) {
            p = r.last;
        }

        if (relay_buf_append(out, r.pos, p - r.pos) != RELAY_OK) {
            return RELAY_ERROR;
        }

        r.pos = p;

        if (p == r.last) {
            break;
        }

        relay_json_unescape(&r);

        if (relay_buf_append(out, r.buf, r.n) != RELAY_OK) {
            return RELAY_ERROR;
        }
    }

    return RELAY_OK;
}


relay_int_t
relay_json_int(const relay_json_tape_t *tape, const relay_str_t *doc,
    size_t i, int64_t *value)
{
    int                       negative, exp_negative;
    int64_t                   exp, e;
    uint64_t                  v, limit;
    const unsigned char      *p, *q, *last, *digit;
    const relay_json_node_t  *node;

    node = &tape->nodes[i];

    if (node->type != RELAY_JSON_NUMBER) {
        return RELAY_DECLINED;
    }

    p = doc->data + node->off;
    last = p + node->len;

    negative = (*p == '-');
    p += negative;

    /* the exponent first: it says which digits count */

    e = 0;

    for (digit = p; digit < last; digit++) {
        if (*digit == 'e' || *digit == 'E') {
            break;
        }
    }

    if (digit < last) {
        q = digit + 1;
        exp_negative = (*q == '-');
        q += (*q == '-' || *q == '+');

        for (/* void */; q < last; q++) {
            if (e < 100000) {
                e = e * 10 + (*q - '0');
            }
        }

        if (exp_negative) {
            e = -e;
        }

        last = digit;
    }

    /* zeros at the end, before or after the point, only move the exponent */

    exp = e;

    for (digit = p; digit < last; digit++) {
        if (*digit == '.') {
            exp -= last - digit - 1;
            break;
        }
    }

    while (last > p && (last[-1] == '0' || last[-1] == '.')) {

        exp += (last[-1] == '0');
        last--;
    }

    if (last == p) {
        *value = 0;
        return RELAY_OK;
    }

    if (exp < 0) {
        return RELAY_DECLINED;
    }

    limit = negative ? (uint64_t) INT64_MAX + 1 : (uint64_t) INT64_MAX;
    v = 0;

    for (/* void */; p < last; p++) {

        if (*p == '.') {
            continue;
        }

        if (v > (limit - (*p - '0')) / 10) {
            return RELAY_DECLINED;
        }

        v = v * 10 + (*p - '0');
    }

    for (/* void */; exp > 0; exp--) {

        if (v > limit / 10) {
            return RELAY_DECLINED;
        }

        v *= 10;
    }

    *value = negative ? (int64_t) (0 - v) : (int64_t) v;

    return RELAY_OK;
}
