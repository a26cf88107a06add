
/*
 * relay_quality_value: what the rules look at: members, lists, texts, sets of
 * hashes, figures; and how they say what they found.
 */

#include <stdlib.h>

#include "relay_quality_rule.h"


#define RELAY_QUALITY_EXCERPT   120     /* bytes quoted in a note */


size_t
relay_quality_get(const relay_quality_ctx_t *ctx, size_t obj,
    const char *name, unsigned type)
{
    size_t  v;

    if (ctx->nodes[obj].type != RELAY_JSON_OBJECT) {
        return 0;
    }

    v = relay_json_get(ctx->tape, ctx->doc, obj, name, strlen(name));

    return (v != 0 && ctx->nodes[v].type == type) ? v : 0;
}


size_t
relay_quality_value(const relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule, unsigned type)
{
    size_t  obj;

    obj = 0;

    if (rule->object != NULL) {
        obj = relay_quality_get(ctx, 0, rule->object, RELAY_JSON_OBJECT);

        if (obj == 0) {
            return 0;
        }
    }

    return relay_quality_get(ctx, obj, rule->member, type);
}


unsigned
relay_quality_is(const relay_quality_ctx_t *ctx, size_t obj, const char *name,
    const char *value)
{
    size_t  v;

    v = relay_quality_get(ctx, obj, name, RELAY_JSON_STRING);

    return v != 0
           && relay_json_str_is(ctx->tape, ctx->doc, v, value, strlen(value));
}


void
relay_quality_str(relay_quality_ctx_t *ctx, size_t v, relay_str_t *s)
{
    relay_str_set(s, "");

    if (v != 0 && ctx->nodes[v].type == RELAY_JSON_STRING
        && relay_text_decode(ctx->tape, ctx->doc, v, &ctx->mem, s)
           != RELAY_OK)
    {
        ctx->rc = RELAY_ERROR;
        relay_str_set(s, "");
    }
}


unsigned
relay_quality_blank(relay_quality_ctx_t *ctx, size_t v)
{
    size_t                n;
    uint32_t              cp;
    uint32_t              folded[RELAY_TEXT_FOLD_MAX];
    relay_str_t           s;
    const unsigned char  *p, *last;

    relay_quality_str(ctx, v, &s);

    p = s.data;
    last = p + s.len;

    while (p < last) {
        p += relay_text_cp(p, last, &cp);
        n = relay_text_fold(cp, folded);

        if (n != 0 && folded[0] != ' '
            && (folded[0] < '\t' || folded[0] > '\r'))
        {
            return 0;
        }
    }

    return 1;
}


unsigned
relay_quality_filled(relay_quality_ctx_t *ctx, size_t v)
{
    size_t                    i, n;
    const relay_json_node_t  *node;

    node = &ctx->nodes[v];

    if (v == 0) {
        return 0;
    }

    if (node->type == RELAY_JSON_STRING) {
        return !relay_quality_blank(ctx, v);
    }

    if (node->type != RELAY_JSON_ARRAY) {
        return node->type == RELAY_JSON_OBJECT && node->count != 0;
    }

    i = v + 1;

    for (n = node->count; n > 0; n--) {

        if (ctx->nodes[i].type != RELAY_JSON_STRING
            || !relay_quality_blank(ctx, i))
        {
            return 1;
        }

        i = ctx->nodes[i].next;
    }

    return 0;
}


unsigned
relay_quality_each(const relay_quality_ctx_t *ctx, size_t list, size_t *i)
{
    if (list == 0) {
        return 0;
    }

    *i = (*i == 0) ? list + 1 : ctx->nodes[*i].next;

    return *i < ctx->nodes[list].next;
}


void
relay_quality_say(relay_quality_ctx_t *ctx, const relay_quality_rule_t *rule,
    size_t node, const char *member)
{
    relay_int_t           rc;
    relay_quality_note_t  note;

    if (ctx->rc != RELAY_OK) {
        return;
    }

    if (ctx->sentence.failed) {
        ctx->rc = RELAY_ERROR;
        return;
    }

    note.id = rule->id;
    note.area = rule->area;
    note.severity = rule->severity;
    note.node = node;
    note.member = member;
    note.off = 0;

    relay_buf_str(&ctx->sentence, &note.text);

    rc = ctx->note(ctx->data, &note);

    if (rc != RELAY_OK) {
        ctx->rc = rc;
    }
}


void
relay_quality_plain(relay_quality_ctx_t *ctx, const relay_quality_rule_t *rule,
    size_t node, const char *member)
{
    relay_buf_reset(&ctx->sentence);
    relay_buf_append_z(&ctx->sentence, rule->text);

    relay_quality_say(ctx, rule, node, member);
}


void
relay_quality_quoted(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule, size_t node, const char *member,
    const relay_str_t *quoted, const char *more)
{
    size_t  len;

    len = quoted->len;

    if (len > RELAY_QUALITY_EXCERPT) {
        len = RELAY_QUALITY_EXCERPT;

        while (len > 0 && (quoted->data[len] & 0xc0) == 0x80) {
            len--;
        }
    }

    relay_buf_reset(&ctx->sentence);
    relay_buf_append_z(&ctx->sentence, rule->text);
    relay_buf_append_z(&ctx->sentence, ": \"");
    relay_buf_append(&ctx->sentence, quoted->data, len);
    relay_buf_append_z(&ctx->sentence, len < quoted->len ? "...\"." : "\".");
    relay_buf_append_z(&ctx->sentence, more);

    relay_quality_say(ctx, rule, node, member);
}


void
relay_quality_quoted_node(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule, size_t node, const char *member,
    size_t v, const char *more)
{
    relay_str_t  s;

    relay_quality_str(ctx, v, &s);
    relay_quality_quoted(ctx, rule, node, member, &s, more);
}


void
relay_quality_absent(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule)
{
    size_t  obj, v;

    obj = 0;

    if (rule->object != NULL) {
        obj = relay_json_get(ctx->tape, ctx->doc, 0, rule->object,
                             strlen(rule->object));

        if (obj == 0) {
            relay_quality_plain(ctx, rule, 0, rule->object);
            return;
        }
    }

    if (ctx->nodes[obj].type != RELAY_JSON_OBJECT) {
        relay_quality_plain(ctx, rule, obj, NULL);
        return;
    }

    v = relay_json_get(ctx->tape, ctx->doc, obj, rule->member,
                       strlen(rule->member));

    if (v != 0) {
        relay_quality_plain(ctx, rule, v, NULL);

    } else {
        relay_quality_plain(ctx, rule, obj, rule->member);
    }
}


static uint64_t
relay_quality_mix(uint64_t hash, uint64_t n)
{
    hash = (hash ^ n) * RELAY_QUALITY_PRIME;

    return hash ^ (hash >> 29);
}


uint64_t
relay_quality_hash(const relay_str_t *s)
{
    uint64_t            hash;
    relay_text_words_t  w;

    hash = RELAY_QUALITY_FNV;

    relay_text_words_init(&w, s);

    while (relay_text_words_next(&w)) {
        hash = relay_quality_mix(hash, w.hash);
    }

    return hash;
}


void
relay_quality_set_add(relay_quality_ctx_t *ctx, uint64_t hash)
{
    void                 *p;
    size_t                size;
    relay_quality_set_t  *set;

    set = &ctx->set;

    if (set->n == set->size) {
        size = set->size ? set->size * 2 : 64;

        p = realloc(set->data, size * sizeof(uint64_t));
        if (p == NULL) {
            ctx->rc = RELAY_ERROR;
            return;
        }

        set->data = p;
        set->size = size;
    }

    set->data[set->n++] = hash;
}


static int
relay_quality_cmp(const void *one, const void *two)
{
    const uint64_t  *a = one, *b = two;

    return (*a > *b) - (*a < *b);
}


void
relay_quality_set_sort(relay_quality_ctx_t *ctx)
{
    if (ctx->set.n != 0) {
        qsort(ctx->set.data, ctx->set.n, sizeof(uint64_t), relay_quality_cmp);
    }
}


unsigned
relay_quality_set_has(const relay_quality_ctx_t *ctx, uint64_t hash)
{
    return ctx->set.n != 0
           && bsearch(&hash, ctx->set.data, ctx->set.n, sizeof(uint64_t),
                      relay_quality_cmp)
              != NULL;
}


unsigned
relay_quality_figure(const relay_str_t *s, size_t *off, relay_str_t *figure,
    uint64_t *hash)
{
    uint32_t              cp, prev;
    const unsigned char  *p, *q, *last;

    p = s->data + *off;
    last = s->data + s->len;
    prev = 0;

    while (p < last) {

        if ((unsigned) (*p - '0') >= 10) {
            p += relay_text_cp(p, last, &prev);
            continue;
        }

        *hash = RELAY_QUALITY_FNV;

        for (q = p; q < last; q++) {

            if ((unsigned) (*q - '0') >= 10) {

                if ((*q != '.' && *q != ',') || last - q < 2
                    || (unsigned) (q[1] - '0') >= 10)
                {
                    break;
                }

                if (*q == ',' && last - q >= 4
                    && (unsigned) (q[2] - '0') < 10
                    && (unsigned) (q[3] - '0') < 10
                    && (last - q == 4 || (unsigned) (q[4] - '0') >= 10))
                {
                    continue;
                }
            }

            *hash = (*hash ^ *q) * RELAY_QUALITY_PRIME;
        }

        cp = 0;

        if (q < last) {
            (void) relay_text_cp(q, last, &cp);
        }

        figure->data = (unsigned char *) p;
        figure->len = (size_t) (q - p);

        if (!relay_text_is_word(prev) && !relay_text_is_word(cp)) {
            *off = (size_t) (q - s->data);
            return 1;
        }

        /* what is glued to a letter goes to the end of it */

        p = q;
        prev = '0';

        while (p < last && relay_text_is_word(prev)) {
            p += relay_text_cp(p, last, &prev);
        }
    }

    return 0;
}
