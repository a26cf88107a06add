
/*
 * relay_view_text: what a projection has to know of a document's texts: which
 * repeat the private one, which name something withheld, which are questions
 * that only the owner answers.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE             /* memmem() */
#endif

#include <stdlib.h>

#include "relay_view_rule.h"


#define RELAY_VIEW_CODE        40       /* bytes up to which a code is one */
#define RELAY_VIEW_PROBES      64       /* in the table of names */
#define RELAY_VIEW_ASKED       1024     /* must-ask entries looked at */


/* A place in the table of names; node 0: it is free. */

typedef struct {
    uint32_t  hash;
    uint32_t  node;
} relay_view_slot_t;


/* Room in the scratch memory, as an offset: the memory may move. */

relay_int_t
relay_view_room(relay_view_ctx_t *ctx, size_t size, size_t *off)
{
    void              *p;
    size_t             used, want;
    relay_view_out_t  *out;

    out = ctx->out;
    used = (ctx->used + 7) & ~(size_t) 7;

    if (used + size > out->scratch_size) {
        want = (used + size) * 2;

        p = realloc(out->scratch, want);
        if (p == NULL) {
            return RELAY_ERROR;
        }

        out->scratch = p;
        out->scratch_size = want;
    }

    *off = used;
    ctx->used = used + size;

    return RELAY_OK;
}


/*
 * The decoded bytes of a string: its own, or a copy in the scratch memory,
 * which is given back by setting ctx->used to what it was.
 */

relay_int_t
relay_view_decode(relay_view_ctx_t *ctx, size_t v, relay_str_t *s)
{
    size_t                    off;
    relay_buf_t               buf;
    const relay_json_node_t  *node;

    node = &ctx->nodes[v];

    if (!node->escaped) {
        s->data = ctx->doc->data + node->off + 1;
        s->len = node->len - 2;
        return RELAY_OK;
    }

    /* no string grows by being decoded */

    if (relay_view_room(ctx, node->len, &off) != RELAY_OK) {
        return RELAY_ERROR;
    }

    relay_buf_init(&buf, node->len);

    buf.data = relay_view_scratch(ctx, off);
    buf.size = node->len;

    if (relay_json_str_decode(ctx->tape, ctx->doc, v, &buf) != RELAY_OK) {
        return RELAY_ERROR;
    }

    s->data = buf.data;
    s->len = buf.len;

    return RELAY_OK;
}


static inline unsigned
relay_view_is_space(unsigned c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}


void
relay_view_trim(relay_str_t *s)
{
    while (s->len > 0 && relay_view_is_space(s->data[0])) {
        s->data++;
        s->len--;
    }

    while (s->len > 0 && relay_view_is_space(s->data[s->len - 1])) {
        s->len--;
    }
}


static unsigned
relay_view_contains(const unsigned char *p, size_t len,
    const unsigned char *s, size_t n)
{
    const unsigned char  *last;

    if (len < n) {
        return 0;
    }

    /* the plain way is faster on few places, memmem() linear on many */

    if ((len - n) * n > 65536) {
        return memmem(p, len, s, n) != NULL;
    }

    last = p + (len - n);

    while ((p = memchr(p, s[0], last - p + 1)) != NULL) {

        if (p[n - 1] == s[n - 1] && memcmp(p, s, n) == 0) {
            return 1;
        }

        if (p++ == last) {
            break;
        }
    }

    return 0;
}


/* Whether a decoded text repeats the private one. */

static int
relay_view_repeated(const relay_view_ctx_t *ctx, relay_str_t s)
{
    const unsigned char  *private;

    private = ctx->private_copied ? relay_view_scratch(ctx, ctx->private_off)
                                  : ctx->private;

    if (ctx->private_whole) {
        relay_view_trim(&s);

        return s.len == ctx->private_len
               && memcmp(s.data, private, s.len) == 0;
    }

    return (int) relay_view_contains(s.data, s.len, private, ctx->private_len);
}


/*
 * Whether a string that is long enough repeats the private text.  A short one
 * of a known type does not: that it is the same word means nothing.
 */

int
relay_view_repeats(relay_view_ctx_t *ctx, size_t v, unsigned type)
{
    int          found;
    size_t       used;
    relay_str_t  s;

    used = ctx->used;

    if (relay_view_decode(ctx, v, &s) != RELAY_OK) {
        return RELAY_VIEW_STOP;
    }

    found = (type == 0 || s.len > RELAY_VIEW_CODE)
            && relay_view_repeated(ctx, s);

    ctx->used = used;

    return found;
}


/*
 * The same for a text in pieces: the spans of the view from the one at index
 * n, which are the inside of a string, as it is escaped.
 */

int
relay_view_repeats_spans(relay_view_ctx_t *ctx, size_t n)
{
    int                   found;
    size_t                i, off, len, used;
    relay_buf_t           buf;
    relay_str_t           s, text;
    relay_view_out_t     *out;
    relay_json_tape_t     tape;
    relay_json_node_t     node;

    out = ctx->out;
    len = 2;

    for (i = n; i < out->n; i++) {
        len += out->spans[i].len;
    }

    if (len - 2 < ctx->private_len) {
        return 0;
    }

    used = ctx->used;

    if (relay_view_room(ctx, 2 * len, &off) != RELAY_OK) {
        return RELAY_VIEW_STOP;
    }

    text.data = relay_view_scratch(ctx, off);
    text.len = len;
    len = 1;

    text.data[0] = '"';

    for (i = n; i < out->n; i++) {
        memcpy(text.data + len, out->spans[i].data, out->spans[i].len);
        len += out->spans[i].len;
    }

    text.data[len] = '"';

    memset(&node, 0, sizeof(relay_json_node_t));

    node.type = RELAY_JSON_STRING;
    node.escaped = 1;
    node.len = (uint32_t) text.len;

    tape.nodes = &node;
    tape.n = 1;

    relay_buf_init(&buf, text.len);

    buf.data = text.data + text.len;
    buf.size = text.len;

    found = RELAY_VIEW_STOP;

    if (relay_json_str_decode(&tape, &text, 0, &buf) == RELAY_OK) {
        s.data = buf.data;
        s.len = buf.len;
        found = relay_view_repeated(ctx, s);
    }

    ctx->used = used;

    return found;
}


/* FNV-1a of a text's words in lower case, one space between two of them. */

static relay_int_t
relay_view_words_hash(relay_view_ctx_t *ctx, size_t v, uint64_t *hash)
{
    size_t       i, used;
    unsigned     c, gap;
    uint64_t     h;
    relay_str_t  s;

    used = ctx->used;

    if (relay_view_decode(ctx, v, &s) != RELAY_OK) {
        return RELAY_ERROR;
    }

    h = 0xcbf29ce484222325ull;
    gap = 0;

    for (i = 0; i < s.len; i++) {
        c = s.data[i];

        if (c - 'A' < 26) {
            c |= 0x20;

        } else if (c - 'a' >= 26 && c - '0' >= 10 && c < 0x80) {
            gap = (h != 0xcbf29ce484222325ull);
            continue;
        }

        if (gap) {
            h = (h ^ ' ') * 0x100000001b3ull;
            gap = 0;
        }

        h = (h ^ c) * 0x100000001b3ull;
    }

    ctx->used = used;
    *hash = (h != 0) ? h : 1;

    return RELAY_OK;
}


/* The place of a hash in the table of must-ask topics, or the free one. */

static size_t
relay_view_asked_slot(const relay_view_ctx_t *ctx, uint64_t hash)
{
    size_t           slot;
    const uint64_t  *table;

    table = relay_view_scratch(ctx, ctx->asked);
    slot = hash & (ctx->asked_size - 1);

    while (table[slot] != 0 && table[slot] != hash) {
        slot = (slot + 1) & (ctx->asked_size - 1);
    }

    return slot;
}


/*
 * Whether a question is one of those that only the owner answers; one that
 * cannot be compared is.
 */

int
relay_view_asked(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    size_t v)
{
    size_t     q;
    uint64_t   hash, *table;

    if (ctx->asked_all) {
        return 1;
    }

    if (ctx->asked_n == 0) {
        return 0;
    }

    q = relay_view_find(ctx, v, &rule->question);

    if (q == 0 || ctx->nodes[q].type != RELAY_JSON_STRING) {
        return 1;
    }

    if (relay_view_words_hash(ctx, q, &hash) != RELAY_OK) {
        return RELAY_VIEW_STOP;
    }

    table = relay_view_scratch(ctx, ctx->asked);

    return table[relay_view_asked_slot(ctx, hash)] == hash;
}


static inline unsigned
relay_view_id_byte(unsigned c)
{
    return (c | 0x20) - 'a' < 26 || c - '0' < 10 || c == '_' || c == '-';
}


static unsigned
relay_view_name_known(relay_view_ctx_t *ctx, const unsigned char *p,
    size_t len)
{
    size_t              slot;
    uint32_t            hash;
    relay_view_slot_t  *table;

    table = relay_view_scratch(ctx, ctx->table);
    hash = relay_json_hash(p, len);
    slot = hash & (ctx->table_size - 1);

    while (table[slot].node != 0) {

        if (table[slot].hash == hash
            && relay_json_str_is(ctx->tape, ctx->doc, table[slot].node,
                                 (const char *) p, len))
        {
            ctx->named = table[slot].node;
            return 1;
        }

        slot = (slot + 1) & (ctx->table_size - 1);
    }

    return 0;
}


/*
 * Whether a string names something that is withheld: it is such a name, or one
 * of its words is, or it contains one that is no word.
 */

static int
relay_view_naming(relay_view_ctx_t *ctx, size_t v)
{
    int                   found;
    size_t                i, off, at, used;
    relay_str_t           s, odd;
    const unsigned char  *p, *q, *last;

    ctx->named = 0;

    if (ctx->strict) {
        return 1;
    }

    used = ctx->used;
    found = 0;

    if (relay_view_decode(ctx, v, &s) != RELAY_OK) {
        return RELAY_VIEW_STOP;
    }

    last = s.data + s.len;

    for (p = s.data; p < last; p = q + 1) {

        for (q = p; q < last && relay_view_id_byte(*q); q++) { /* void */ }

        if (q > p && relay_view_name_known(ctx, p, q - p)) {
            found = 1;
            goto done;
        }
    }

    off = 0;

    if (ctx->nodes[v].escaped) {
        off = s.data - (unsigned char *) ctx->out->scratch;
    }

    for (i = 0; i < ctx->odd_n; i++) {

        at = ctx->used;

        if (relay_view_decode(ctx, ctx->odd[i], &odd) != RELAY_OK) {
            return RELAY_VIEW_STOP;
        }

        /* the scratch memory may have moved, and the string with it */

        if (ctx->nodes[v].escaped) {
            s.data = relay_view_scratch(ctx, off);
        }

        found = (int) relay_view_contains(s.data, s.len, odd.data, odd.len);
        ctx->used = at;

        if (found) {
            ctx->named = ctx->odd[i];
            break;
        }
    }

done:

    ctx->used = used;

    return found;
}


/* The same for an object: one of its strings that the rule knows does. */

int
relay_view_naming_any(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    size_t v)
{
    int     rc;
    size_t  i, n;

    if (ctx->names_n == 0) {
        return 0;
    }

    if (ctx->nodes[v].type == RELAY_JSON_STRING) {
        return relay_view_naming(ctx, v);
    }

    if (ctx->nodes[v].type != RELAY_JSON_OBJECT) {
        return 0;
    }

    i = v + 1;

    for (n = ctx->nodes[v].count; n > 0; n--) {

        if (ctx->nodes[i + 1].type == RELAY_JSON_STRING
            && rule->kind == RELAY_VIEW_OBJECT
            && relay_view_lookup(ctx, rule, i) != NULL)
        {
            rc = relay_view_naming(ctx, i + 1);

            if (rc != 0) {
                return rc;
            }
        }

        i = ctx->nodes[i + 1].next;
    }

    return 0;
}


relay_int_t
relay_view_name_add(relay_view_ctx_t *ctx, size_t v)
{
    size_t  off;

    if (ctx->names_n == ctx->names_size) {

        off = ctx->names;
        ctx->names_size = (ctx->names_n == 0) ? 64 : ctx->names_n * 2;

        if (relay_view_room(ctx, ctx->names_size * sizeof(uint32_t),
                            &ctx->names)
            != RELAY_OK)
        {
            return RELAY_ERROR;
        }

        if (ctx->names_n != 0) {
            memcpy(relay_view_scratch(ctx, ctx->names),
                   relay_view_scratch(ctx, off),
                   ctx->names_n * sizeof(uint32_t));
        }
    }

    ((uint32_t *) relay_view_scratch(ctx, ctx->names))[ctx->names_n++]
        = (uint32_t) v;

    return RELAY_OK;
}


/* Puts the collected names in a table. */

int
relay_view_index(relay_view_ctx_t *ctx)
{
    size_t              i, j, slot, probes, used;
    uint32_t            hash, *names;
    relay_str_t         s;
    relay_view_slot_t  *table;

    if (ctx->names_n == 0) {
        return 0;
    }

    ctx->table_size = 128;

    while (ctx->table_size < ctx->names_n * 4) {
        ctx->table_size *= 2;
    }

    if (relay_view_room(ctx, ctx->table_size * sizeof(relay_view_slot_t),
                        &ctx->table)
        != RELAY_OK)
    {
        return RELAY_VIEW_STOP;
    }

    memset(relay_view_scratch(ctx, ctx->table), 0,
           ctx->table_size * sizeof(relay_view_slot_t));

    for (i = 0; i < ctx->names_n; i++) {

        used = ctx->used;
        names = relay_view_scratch(ctx, ctx->names);

        if (relay_view_decode(ctx, names[i], &s) != RELAY_OK) {
            return RELAY_VIEW_STOP;
        }

        names = relay_view_scratch(ctx, ctx->names);
        table = relay_view_scratch(ctx, ctx->table);
        hash = relay_json_hash(s.data, s.len);
        slot = hash & (ctx->table_size - 1);

        for (probes = 0; table[slot].node != 0; probes++) {

            if (table[slot].hash == hash
                && relay_json_str_is(ctx->tape, ctx->doc, table[slot].node,
                                     (const char *) s.data, s.len))
            {
                break;
            }

            if (probes == RELAY_VIEW_PROBES) {
                return relay_view_withhold(ctx, names[i],
                                           "too many names are withheld");
            }

            slot = (slot + 1) & (ctx->table_size - 1);
        }

        if (table[slot].node == 0) {
            table[slot].hash = hash;
            table[slot].node = names[i];

            for (j = 0; j < s.len && relay_view_id_byte(s.data[j]); j++) {
                /* void */
            }

            if (j < s.len) {
                if (ctx->odd_n < RELAY_VIEW_ODD) {
                    ctx->odd[ctx->odd_n++] = names[i];

                } else {
                    ctx->strict = 1;
                }
            }
        }

        ctx->used = used;
    }

    return 0;
}


/* Puts the must-ask topics in a table of hashes. */

int
relay_view_ask(relay_view_ctx_t *ctx)
{
    size_t     i, n, v;
    uint64_t   hash, *table;

    v = relay_view_point(ctx, &ctx->policy->asked);

    if (v == 0) {
        return 0;
    }

    /* topics that cannot be compared may be any */

    n = ctx->nodes[v].count;

    if (ctx->nodes[v].type != RELAY_JSON_ARRAY || n > RELAY_VIEW_ASKED) {
        ctx->asked_all = 1;
        return 0;
    }

    for (ctx->asked_size = 8; ctx->asked_size < 2 * n; /* void */) {
        ctx->asked_size *= 2;
    }

    if (relay_view_room(ctx, ctx->asked_size * sizeof(uint64_t), &ctx->asked)
        != RELAY_OK)
    {
        return RELAY_VIEW_STOP;
    }

    memset(relay_view_scratch(ctx, ctx->asked), 0,
           ctx->asked_size * sizeof(uint64_t));

    i = v + 1;

    for (/* void */; n > 0; n--) {

        if (ctx->nodes[i].type != RELAY_JSON_STRING) {
            ctx->asked_all = 1;
            return 0;
        }

        if (relay_view_words_hash(ctx, i, &hash) != RELAY_OK) {
            return RELAY_VIEW_STOP;
        }

        table = relay_view_scratch(ctx, ctx->asked);
        table[relay_view_asked_slot(ctx, hash)] = hash;
        ctx->asked_n++;

        i = ctx->nodes[i].next;
    }

    return 0;
}
