
/*
 * relay_quality_safety: nine kinds of text that reads like instructions to an
 * agent.  Each text is looked at three times: for characters that nobody sees;
 * then, without these, byte by byte for images and blobs, and word by word for
 * phrases.  Every look goes forward only.
 */

#include <stdlib.h>

#include "relay_quality_look.h"


#define RELAY_SAFETY_CUTS       65536   /* of one string */
#define RELAY_SAFETY_ROUNDS     4       /* of cutting, then it is empty */
#define RELAY_SAFETY_QUOTE      80      /* bytes of a text in a note */


static const struct {
    const char  *id;
    const char  *name;
    const char  *text;
} relay_safety_kinds[RELAY_SAFETY_KINDS] = {
    { "S1k", "ignore-rules", "ignore your rules" },
    { "S2k", "change-role", "change role" },
    { "S3k", "send-to-address", "send something to an address" },
    { "S4k", "call-tool", "call a tool" },
    { "S5k", "hide-from-user", "hide something from the user" },
    { "S6k", "reveal-secrets", "reveal secrets" },
    { "S7k", "image-parameters", "an image link with parameters" },
    { "S8k", "encoded-blob", "a long encoded blob" },
    { "S9k", "hidden-characters", "hidden characters" }
};


void
relay_safety_found(relay_safety_ctx_t *ctx, const relay_safety_layer_t *layer,
    unsigned kind, size_t off)
{
    size_t  i;

    if (ctx->found & kind) {
        return;
    }

    for (i = 0; (kind >> i) != 1; i++) { /* void */ }

    ctx->found |= kind;
    ctx->at[i] = layer->map ? layer->map[off] : off;
}


void
relay_safety_cut(relay_safety_ctx_t *ctx, const relay_safety_layer_t *layer,
    size_t from, size_t to, unsigned space)
{
    void                *p;
    size_t               size;
    relay_safety_cut_t  *cut;

    if (ctx->out == NULL) {
        return;
    }

    if (ctx->ncuts == ctx->cuts_size) {

        if (ctx->ncuts == RELAY_SAFETY_CUTS) {
            ctx->full = 1;
            return;
        }

        size = ctx->cuts_size ? ctx->cuts_size * 2 : 64;

        p = realloc(ctx->cuts, size * sizeof(relay_safety_cut_t));
        if (p == NULL) {
            ctx->failed = 1;
            return;
        }

        ctx->cuts = p;
        ctx->cuts_size = size;
    }

    cut = &ctx->cuts[ctx->ncuts++];

    cut->from = layer->map ? layer->map[from] : from;
    cut->to = layer->map ? layer->map[to] : to;
    cut->space = space;
}


/*
 * S9k.  What is hidden is reported and, for the looks to come, taken out of
 * the text: the layer is then another one.
 */

static void
relay_safety_hidden(relay_safety_ctx_t *ctx, relay_safety_layer_t *layer)
{
    size_t               i, off;
    uint32_t             at;
    relay_text_hidden_t  h;

    off = 0;

    relay_text_hidden_init(&h, &layer->text);

    while (relay_text_hidden_next(&h)) {

        if (h.info) {
            continue;
        }

        if (!(ctx->found & RELAY_SAFETY_HIDDEN)) {
            ctx->hidden = h.cp;
        }

        if (off == 0) {
            relay_buf_reset(&ctx->clean);
            relay_buf_reset(&ctx->clean_map);
        }

        relay_safety_found(ctx, layer, RELAY_SAFETY_HIDDEN, h.off);
        relay_safety_cut(ctx, layer, h.off, h.off + h.len, 0);

        relay_buf_append(&ctx->clean, layer->text.data + off, h.off - off);

        for (i = off; i < h.off; i++) {
            at = layer->map ? layer->map[i] : (uint32_t) i;
            relay_buf_append(&ctx->clean_map, &at, sizeof(uint32_t));
        }

        off = h.off + h.len;
    }

    if (off == 0) {
        return;
    }

    relay_buf_append(&ctx->clean, layer->text.data + off,
                     layer->text.len - off);

    for (i = off; i <= layer->text.len; i++) {
        at = layer->map ? layer->map[i] : (uint32_t) i;
        relay_buf_append(&ctx->clean_map, &at, sizeof(uint32_t));
    }

    if (ctx->clean.failed || ctx->clean_map.failed) {
        ctx->failed = 1;
        return;
    }

    relay_buf_str(&ctx->clean, &layer->text);
    layer->map = (uint32_t *) ctx->clean_map.data;
}


/* All looks at one text, and at the JSON in it. */

static void
relay_safety_look(relay_safety_ctx_t *ctx, const relay_str_t *text)
{
    size_t                i;
    relay_int_t           rc;
    relay_buf_t          *layer, *map;
    relay_safety_layer_t  raw, clean;

    ctx->found = 0;
    ctx->ncuts = 0;
    ctx->full = 0;

    raw.text = *text;
    raw.map = NULL;
    raw.nested = 0;

    for (i = 0; /* void */; i++) {
        clean = raw;

        relay_safety_hidden(ctx, &clean);
        relay_safety_markup(ctx, &clean);
        relay_safety_blobs(ctx, &clean);
        relay_safety_phrases(ctx, &clean);

        if (ctx->failed || i == RELAY_TEXT_LAYERS) {
            return;
        }

        layer = &ctx->layer[i & 1];
        map = &ctx->layer_map[i & 1];

        /* what is hidden after its end makes it no other text */

        rc = relay_text_unnest(&clean.text, clean.map, layer, map);

        if (rc != RELAY_OK) {
            ctx->failed = (rc == RELAY_ERROR);
            return;
        }

        relay_buf_str(layer, &raw.text);
        raw.map = (uint32_t *) map->data;
        raw.nested = 1;
    }
}


static int
relay_safety_cut_cmp(const void *one, const void *two)
{
    const relay_safety_cut_t  *a = one, *b = two;

    if (a->from != b->from) {
        return a->from < b->from ? -1 : 1;
    }

    return 0;
}


/* Appends a text less the cuts. */

static void
relay_safety_emit(relay_safety_ctx_t *ctx, const relay_str_t *text,
    relay_buf_t *out)
{
    size_t               i, off;
    relay_safety_cut_t  *cut;

    if (ctx->full) {
        ctx->result->cut += text->len;
        return;
    }

    if (ctx->ncuts != 0) {
        qsort(ctx->cuts, ctx->ncuts, sizeof(relay_safety_cut_t),
              relay_safety_cut_cmp);
    }

    off = 0;

    for (i = 0; i < ctx->ncuts; i++) {
        cut = &ctx->cuts[i];

        if (cut->from >= off) {
            relay_buf_append(out, text->data + off, cut->from - off);

            if (cut->space) {
                relay_buf_append_c(out, ' ');
            }
        }

        if (cut->to > off) {
            ctx->result->cut += cut->to - (cut->from > off ? cut->from : off);
            off = cut->to;
        }
    }

    relay_buf_append(out, text->data + off, text->len - off);
}


/*
 * The text that was looked at, less the cuts.  What is left may be hidden, an
 * image or a blob only now, where a part of it was what it stood beside: it is
 * looked at again until it is none.
 */

static void
relay_safety_strip(relay_safety_ctx_t *ctx, relay_str_t *text)
{
    size_t        i;
    relay_buf_t  *b;

    for (i = 0; ctx->ncuts != 0 || ctx->full; i++) {

        if (i == RELAY_SAFETY_ROUNDS) {
            ctx->result->cut += text->len;
            relay_str_set(text, "");
            return;
        }

        b = &ctx->strip[i & 1];

        relay_buf_reset(b);
        relay_safety_emit(ctx, text, b);
        relay_buf_str(b, text);

        if (b->failed) {
            ctx->failed = 1;
            return;
        }

        relay_safety_look(ctx, text);
    }
}


/* The text around a finding, without what nobody sees. */

static void
relay_safety_quote(relay_buf_t *b, const relay_str_t *text, size_t off)
{
    size_t                n;
    uint32_t              cp;
    const unsigned char  *p, *last;

    p = text->data + off;
    last = text->data + text->len;

    relay_buf_append_z(b, ": \"");

    for (n = 0; p < last && n < RELAY_SAFETY_QUOTE; p += n) {

        if ((size_t) (p - (text->data + off)) >= RELAY_SAFETY_QUOTE) {
            break;
        }

        n = relay_text_cp(p, last, &cp);

        if (relay_safety_is_space(*p)) {
            relay_buf_append_c(b, ' ');

        } else if (relay_text_hidden_class(cp) == RELAY_TEXT_VISIBLE) {
            relay_buf_append(b, p, n);
        }
    }

    relay_buf_append_z(b, p < last ? "...\"" : "\"");
}


static relay_int_t
relay_safety_notes(relay_safety_ctx_t *ctx, const relay_str_t *text)
{
    size_t                i;
    relay_int_t           rc;
    relay_buf_t          *b;
    relay_quality_note_t  note;

    b = &ctx->sentence;

    for (i = 0; i < RELAY_SAFETY_KINDS; i++) {

        if (!(ctx->found & (1u << i))) {
            continue;
        }

        relay_buf_reset(b);

        relay_buf_append_z(b, i < 6 ? "Text that reads like instructions to "
                                      "an agent: "
                                    : "Text for an agent, not for a reader: ");
        relay_buf_append_z(b, relay_safety_kinds[i].text);

        if (1u << i == RELAY_SAFETY_HIDDEN) {
            relay_buf_printf(b, ": U+%04X (%s)", ctx->hidden,
                             relay_text_hidden_name(
                                     relay_text_hidden_class(ctx->hidden)));

        } else {
            relay_safety_quote(b, text, ctx->at[i]);
        }

        relay_buf_append_c(b, '.');

        if (b->failed) {
            return RELAY_ERROR;
        }

        memset(&note, 0, sizeof(relay_quality_note_t));

        note.id = relay_safety_kinds[i].id;
        note.area = RELAY_QUALITY_SAFETY;
        note.severity = (RELAY_SAFETY_BLOCKED & (1u << i))
                        ? RELAY_QUALITY_BLOCK : RELAY_QUALITY_FLAG;
        note.node = ctx->node;
        note.off = ctx->at[i];

        relay_buf_str(b, &note.text);

        rc = ctx->note(ctx->data, &note);
        if (rc != RELAY_OK) {
            return rc;
        }
    }

    return RELAY_OK;
}


static void
relay_safety_init(relay_safety_ctx_t *ctx, relay_buf_t *out,
    relay_quality_safety_t *result)
{
    size_t  i, max;

    memset(ctx, 0, sizeof(relay_safety_ctx_t));
    memset(result, 0, sizeof(relay_quality_safety_t));

    ctx->out = out;
    ctx->result = result;

    relay_safety_phrases_init(ctx);

    /* four bytes of map a byte of text, and one more */

    max = 4 * (RELAY_DOCUMENT_MAX + 1);

    relay_buf_init(&ctx->base, max);
    relay_buf_init(&ctx->clean, max);
    relay_buf_init(&ctx->clean_map, max);
    relay_buf_init(&ctx->sentence, 4096);

    for (i = 0; i < 2; i++) {
        relay_buf_init(&ctx->layer[i], max);
        relay_buf_init(&ctx->layer_map[i], max);
        relay_buf_init(&ctx->strip[i], max);
        relay_buf_init(&ctx->own[i], max);
    }
}


static void
relay_safety_free(relay_safety_ctx_t *ctx)
{
    size_t  i;

    relay_buf_free(&ctx->base);
    relay_buf_free(&ctx->clean);
    relay_buf_free(&ctx->clean_map);
    relay_buf_free(&ctx->sentence);

    for (i = 0; i < 2; i++) {
        relay_buf_free(&ctx->layer[i]);
        relay_buf_free(&ctx->layer_map[i]);
        relay_buf_free(&ctx->strip[i]);
        relay_buf_free(&ctx->own[i]);
    }

    free(ctx->cuts);
}


/* Where the owner is reached is where things may be sent. */

static void
relay_safety_exempt(relay_safety_ctx_t *ctx, const char *object,
    const char *member, relay_buf_t *mem)
{
    size_t       v, off;
    relay_str_t  text, address;

    v = relay_json_get(ctx->tape, ctx->doc, 0, object, strlen(object));

    if (v == 0 || ctx->tape->nodes[v].type != RELAY_JSON_OBJECT) {
        return;
    }

    v = relay_json_get(ctx->tape, ctx->doc, v, member, strlen(member));

    if (v == 0 || ctx->tape->nodes[v].type != RELAY_JSON_STRING) {
        return;
    }

    if (relay_text_decode(ctx->tape, ctx->doc, v, mem, &text) != RELAY_OK) {
        ctx->failed = 1;
        return;
    }

    off = 0;

    while (ctx->nexempt < RELAY_SAFETY_EXEMPT
           && relay_safety_address(&text, off, &address))
    {
        ctx->exempt[ctx->nexempt++] = address;
        off = (size_t) (address.data + address.len - text.data);
    }
}


static void
relay_safety_rules(relay_safety_ctx_t *ctx)
{
    size_t  i, v;

    static const char *const  names[RELAY_SAFETY_RULES] = {
        "may", "mustAskOwner", "mustNot", "passOn", "speaksAs"
    };

    v = relay_json_get(ctx->tape, ctx->doc, 0, "representation", 14);

    if (v == 0 || ctx->tape->nodes[v].type != RELAY_JSON_OBJECT) {
        return;
    }

    for (i = 0; i < RELAY_SAFETY_RULES; i++) {
        ctx->rules[i] = relay_json_get(ctx->tape, ctx->doc, v, names[i],
                                       strlen(names[i]));
    }
}


static unsigned
relay_safety_is_rule(const relay_safety_ctx_t *ctx, size_t node)
{
    size_t  i;

    for (i = 0; i < RELAY_SAFETY_RULES; i++) {

        if (ctx->rules[i] != 0 && node >= ctx->rules[i]
            && node < ctx->tape->nodes[ctx->rules[i]].next)
        {
            return 1;
        }
    }

    return 0;
}


static void
relay_safety_record(relay_safety_ctx_t *ctx)
{
    size_t                    i;
    relay_quality_safety_t   *result;

    result = ctx->result;

    for (i = 0; i < RELAY_SAFETY_KINDS; i++) {

        if ((ctx->found & ~result->kinds) & (1u << i)) {
            result->node[i] = (uint32_t) ctx->node;
            result->off[i] = ctx->at[i];
        }
    }

    result->kinds |= ctx->found;
}


relay_int_t
relay_quality_safety(const relay_json_tape_t *tape, const relay_str_t *doc,
    relay_quality_note_pt note, void *data, relay_buf_t *out,
    relay_quality_safety_t *result)
{
    size_t                    i, off;
    relay_int_t               rc;
    relay_str_t               text;
    relay_safety_ctx_t        ctx;
    const relay_json_node_t  *node;

    relay_safety_init(&ctx, out, result);

    ctx.tape = tape;
    ctx.doc = doc;
    ctx.note = note;
    ctx.data = data;

    if (tape->n != 0 && tape->nodes[0].type == RELAY_JSON_OBJECT) {
        relay_safety_exempt(&ctx, "owner", "contact", &ctx.own[0]);
        relay_safety_exempt(&ctx, "interaction", "returnChannel",
                            &ctx.own[1]);
        relay_safety_rules(&ctx);
    }

    rc = RELAY_OK;
    off = 0;

    for (i = 0; i < tape->n && rc == RELAY_OK; i++) {
        node = &tape->nodes[i];

        if (node->type != RELAY_JSON_STRING || node->len == 2) {
            continue;
        }

        if (relay_text_decode(tape, doc, i, &ctx.base, &text) != RELAY_OK) {
            rc = RELAY_ERROR;
            break;
        }

        ctx.node = i;
        ctx.rule = relay_safety_is_rule(&ctx, i) & 1;

        relay_safety_look(&ctx, &text);

        if (ctx.failed) {
            rc = RELAY_ERROR;
            break;
        }

        if (ctx.found == 0) {
            continue;
        }

        relay_safety_record(&ctx);

        if (note != NULL) {
            rc = relay_safety_notes(&ctx, &text);
        }

        if (out != NULL && (ctx.ncuts != 0 || ctx.full)) {
            relay_safety_strip(&ctx, &text);

            relay_buf_append(out, doc->data + off, node->off - off);
            relay_buf_append_json(out, &text);

            off = node->off + node->len;

            if (ctx.failed) {
                rc = RELAY_ERROR;
            }
        }
    }

    if (out != NULL && rc == RELAY_OK
        && relay_buf_append(out, doc->data + off, doc->len - off) != RELAY_OK)
    {
        rc = RELAY_ERROR;
    }

    relay_safety_free(&ctx);

    return rc;
}


relay_int_t
relay_quality_safety_text(const relay_str_t *text, relay_buf_t *out,
    relay_quality_safety_t *result)
{
    relay_int_t         rc;
    relay_str_t         s;
    relay_safety_ctx_t  ctx;

    relay_safety_init(&ctx, out, result);

    relay_safety_look(&ctx, text);
    relay_safety_record(&ctx);

    if (out != NULL) {
        s = *text;

        relay_safety_strip(&ctx, &s);
        relay_buf_append_str(out, &s);
    }

    rc = (ctx.failed || (out != NULL && out->failed)) ? RELAY_ERROR : RELAY_OK;

    relay_safety_free(&ctx);

    return rc;
}


relay_int_t
relay_quality_kinds(uint32_t kinds, relay_buf_t *out)
{
    size_t    i;
    unsigned  comma;

    comma = 0;

    for (i = 0; i < RELAY_SAFETY_KINDS; i++) {

        if (kinds & (1u << i)) {

            if (comma) {
                relay_buf_append_c(out, ',');
            }

            relay_buf_append_z(out, relay_safety_kinds[i].name);
            comma = 1;
        }
    }

    return out->failed ? RELAY_ERROR : RELAY_OK;
}
