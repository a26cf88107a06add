
/*
 * relay_view_explain: why a value is left out or changed.  Called for notes
 * only, after the decision: it looks for the first condition that did not
 * hold, in the order in which they were asked.
 */

#include "relay_view_rule.h"


#define RELAY_VIEW_QUOTED      64       /* bytes shown of a value */
#define RELAY_VIEW_BECAUSE     1024     /* bytes of one reason */


static const char  *relay_view_did[] = {
    "kept", "dropped", "blanked", "made constant", "replaced", "joined", "",
    "", "dropped", "given a mark"
};


/* A string of the document, in quotes, its beginning. */

static void
relay_view_quote(relay_view_ctx_t *ctx, size_t v, relay_buf_t *buf)
{
    size_t       used;
    relay_str_t  s;

    used = ctx->used;

    if (ctx->nodes[v].type == RELAY_JSON_STRING
        && relay_view_decode(ctx, v, &s) == RELAY_OK)
    {
        if (s.len > RELAY_VIEW_QUOTED) {

            /* not in the middle of a character */

            s.len = RELAY_VIEW_QUOTED;

            while (s.len > 0 && (s.data[s.len] & 0xc0) == 0x80) {
                s.len--;
            }
        }

        (void) relay_buf_append_json(buf, &s);
    }

    ctx->used = used;
}


static void
relay_view_member_is(relay_view_ctx_t *ctx, size_t object,
    const relay_view_name_t *name, relay_buf_t *buf)
{
    size_t  m;

    m = relay_view_find(ctx, object, name);

    if (m == 0) {
        (void) relay_buf_append_z(buf, "there is no ");
        (void) relay_buf_append_str(buf, &name->str);
        return;
    }

    (void) relay_buf_append_str(buf, &name->str);
    (void) relay_buf_append_z(buf, " is ");
    relay_view_quote(ctx, m, buf);
}


static void
relay_view_because(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    unsigned bit, size_t v, relay_buf_t *buf)
{
    switch (bit) {

    case RELAY_VIEW_SUGGEST:
        (void) relay_buf_append_z(buf, "the reader may not suggest");
        break;

    case RELAY_VIEW_EDIT:
        (void) relay_buf_append_z(buf, "the reader may not edit");
        break;

    case RELAY_VIEW_LABELLED:
        (void) relay_buf_append_z(buf, "interpretations are not labelled");
        break;

    case RELAY_VIEW_MARKED:
        relay_view_member_is(ctx, v, &rule->mark, buf);

        if (rule->inherit && relay_view_find(ctx, v, &rule->mark) == 0) {
            (void) relay_buf_append_z(buf, ", and none to inherit");
        }

        break;

    case RELAY_VIEW_FRESH:
        relay_view_member_is(ctx, v, &rule->until, buf);
        (void) relay_buf_append_z(buf, ", which is over or no time");
        break;

    case RELAY_VIEW_UNNAMED:
        (void) relay_buf_append_z(buf, "it names ");

        if (ctx->named != 0) {
            relay_view_quote(ctx, ctx->named, buf);
            (void) relay_buf_append_z(buf, ", which is withheld");

        } else {
            (void) relay_buf_append_z(buf, "one of too many that are"
                                           " withheld");
        }

        break;

    case RELAY_VIEW_LEFT:
        (void) relay_buf_append_z(buf, "nothing is left in ");
        (void) relay_buf_append_str(buf, &rule->left.str);
        break;

    case RELAY_VIEW_UNASKED:
        (void) relay_buf_append_z(buf, "the owner alone answers this");
        break;
    }
}


/* The value that a $by looked at. */

static void
relay_view_by_because(relay_view_ctx_t *ctx, const relay_view_by_t *by,
    size_t v, size_t parent, relay_buf_t *buf)
{
    size_t  i, m;

    if (by->at.n == 0) {
        relay_view_member_is(ctx, by->own ? v : parent, &by->member, buf);
        return;
    }

    for (i = 0; i < by->at.n; i++) {
        (void) relay_buf_append_c(buf, '/');
        (void) relay_buf_append_str(buf, &by->at.names[i].str);
    }

    m = relay_view_point(ctx, &by->at);

    if (m == 0) {
        (void) relay_buf_append_z(buf, " is missing");
        return;
    }

    (void) relay_buf_append_z(buf, " is ");
    relay_view_quote(ctx, m, buf);
}


/* What the decision on a value came from; nothing: from the word alone. */

static void
relay_view_reason(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    int act, size_t v, size_t parent, unsigned marked, relay_buf_t *buf)
{
    unsigned                  bits, rest;
    const relay_json_node_t  *node;

    node = &ctx->nodes[v];
    bits = rule->act[ctx->view];

    if (act == RELAY_VIEW_WRITTEN) {
        (void) relay_buf_append_z(buf, "it has that of what is around it");
        return;
    }

    rest = bits & ~(unsigned) RELAY_VIEW_ACTION;

    for (/* void */; rest != 0; rest &= rest - 1) {

        if (relay_view_condition(ctx, rule, rest & -rest, v, marked) != 1) {
            relay_view_because(ctx, rule, rest & -rest, v, buf);
            return;
        }
    }

    switch (bits & RELAY_VIEW_ACTION) {

    case RELAY_VIEW_KEEP:
        break;

    case RELAY_VIEW_BY:
        relay_view_by_because(ctx, rule->by, v, parent, buf);
        break;

    case RELAY_VIEW_JOINED:
        (void) relay_buf_append_z(buf, "one of ");
        (void) relay_buf_append_str(buf, &rule->join_array.str);
        (void) relay_buf_append_z(buf, " is withheld");
        break;

    default:
        return;
    }

    if (act == RELAY_VIEW_DROP
        && (rule->kind == RELAY_VIEW_SCALAR
            ? node->type >= RELAY_JSON_ARRAY
            : node->type != ((rule->kind == RELAY_VIEW_OBJECT)
                             ? RELAY_JSON_OBJECT : RELAY_JSON_ARRAY)))
    {
        if ((bits & RELAY_VIEW_ACTION) != RELAY_VIEW_BY) {
            buf->len = 0;
            (void) relay_buf_append_z(buf, "it is of another shape than the"
                                           " rule");
        }

        return;
    }

    if ((act == RELAY_VIEW_BLANK || act == RELAY_VIEW_JOINED)
        && node->type == RELAY_JSON_STRING
        && node->len - 2 >= ctx->private_len
        && relay_view_repeats(ctx, v, rule->type) == 1)
    {
        buf->len = 0;
        (void) relay_buf_append_z(buf, "it repeats the private text");
    }
}


void
relay_view_explain(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    int act, size_t v, size_t parent, unsigned marked)
{
    size_t              take;
    int64_t             until;
    unsigned            inherited;
    relay_buf_t         buf;
    relay_view_note_t   note;

    memset(&note, 0, sizeof(relay_view_note_t));

    note.node = v;
    note.what = relay_view_did[act];

    if (rule == NULL) {
        relay_str_set(&note.because, "no rule knows this name");
        ctx->out->note(ctx->out->note_data, &note);
        return;
    }

    /* looking again must change nothing */

    take = ctx->take;
    until = ctx->out->valid_until;
    inherited = ctx->inherited;

    relay_buf_init(&buf, RELAY_VIEW_BECAUSE);
    relay_view_reason(ctx, rule, act, v, parent, marked, &buf);

    ctx->take = take;
    ctx->out->valid_until = until;
    ctx->inherited = inherited;

    note.word = rule->source->words[ctx->view];
    note.place = rule->source->place;
    note.why = rule->source->why;
    note.because.data = buf.data;
    note.because.len = buf.failed ? 0 : buf.len;

    ctx->out->note(ctx->out->note_data, &note);

    relay_buf_free(&buf);
}
