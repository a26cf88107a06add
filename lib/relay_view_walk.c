
/*
 * relay_view_walk: the walk that makes the spans: cuts out what goes, puts in
 * what replaces it, moves the mandate to the front.
 */

#include <stdlib.h>

#include "relay_view_rule.h"


static int relay_view_walk(relay_view_ctx_t *ctx,
    const relay_view_rule_t *rule, size_t v, unsigned marked);



static __attribute__((noinline)) relay_int_t
relay_view_grow(relay_view_out_t *out)
{
    size_t        size;
    relay_str_t  *spans;

    size = (out->size == 0) ? 128 : out->size * 2;

    spans = realloc(out->spans, size * sizeof(relay_str_t));
    if (spans == NULL) {
        return RELAY_ERROR;
    }

    out->spans = spans;
    out->size = size;

    return RELAY_OK;
}


static inline relay_int_t
relay_view_push(relay_view_ctx_t *ctx, const unsigned char *data, size_t len)
{
    relay_view_out_t  *out;

    out = ctx->out;

    if (out->n == out->size && relay_view_grow(out) != RELAY_OK) {
        return RELAY_ERROR;
    }

    out->spans[out->n].data = (unsigned char *) data;
    out->spans[out->n].len = len;
    out->n++;
    out->len += len;

    return RELAY_OK;
}


/* Leaves out the document's bytes from start to end. */

static inline relay_int_t
relay_view_cut(relay_view_ctx_t *ctx, size_t start, size_t end)
{
    if (start > ctx->from
        && relay_view_push(ctx, ctx->doc->data + ctx->from, start - ctx->from)
           != RELAY_OK)
    {
        return RELAY_ERROR;
    }

    ctx->from = end;

    return RELAY_OK;
}


static relay_int_t
relay_view_replace(relay_view_ctx_t *ctx, size_t start, size_t end,
    const unsigned char *data, size_t len)
{
    if (relay_view_cut(ctx, start, end) != RELAY_OK) {
        return RELAY_ERROR;
    }

    return relay_view_push(ctx, data, len);
}


/* The texts of the elements that are kept, as they are escaped, as one. */

static int
relay_view_join_texts(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    size_t array, unsigned marked)
{
    int                       act;
    size_t                    i, n, t, first, len;
    relay_view_out_t         *out;
    const relay_view_rule_t  *each;

    out = ctx->out;
    first = out->n;
    len = out->len;
    each = rule->join_rule->each;
    i = array + 1;

    for (n = ctx->nodes[array].count; n > 0; n--, i = ctx->nodes[i].next) {

        act = relay_view_decide(ctx, each, i, array, marked);

        if (act < 0) {
            return act;
        }

        if (act != RELAY_VIEW_KEEP) {
            continue;
        }

        t = relay_view_find(ctx, i, &rule->join_member);

        if (t == 0 || ctx->nodes[t].type != RELAY_JSON_STRING
            || ctx->nodes[t].len == 2)
        {
            continue;
        }

        act = relay_view_decide(ctx, rule->join_text, t, i, marked);

        if (act < 0) {
            return act;
        }

        if (act != RELAY_VIEW_KEEP) {
            continue;
        }

        if ((out->n != first
             && relay_view_push(ctx, rule->join_by.data, rule->join_by.len)
                != RELAY_OK)
            || relay_view_push(ctx, ctx->doc->data + ctx->nodes[t].off + 1,
                               ctx->nodes[t].len - 2)
               != RELAY_OK)
        {
            return RELAY_VIEW_STOP;
        }
    }

    /* together they may say what none of them says */

    act = relay_view_repeats_spans(ctx, first);

    if (act == 1) {
        out->n = first;
        out->len = len;
    }

    return (act < 0) ? act : 0;
}


/*
 * A text that stands for elements beside it: when one of them is withheld, or
 * the text itself cannot be shown, theirs are put in its place.
 */

static int
relay_view_join(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    size_t v, size_t parent, unsigned marked)
{
    int                       act;
    size_t                    array, i, n;
    unsigned                  whole;
    const relay_json_node_t  *node;

    node = &ctx->nodes[v];
    array = relay_view_find(ctx, parent, &rule->join_array);
    whole = (array == 0 || ctx->nodes[array].type == RELAY_JSON_ARRAY);

    if (whole && node->type == RELAY_JSON_STRING
        && node->len - 2 >= ctx->private_len)
    {
        act = relay_view_repeats(ctx, v, 0);

        if (act < 0) {
            return act;
        }

        whole = !act;
    }

    i = array + 1;
    n = (array != 0) ? ctx->nodes[array].count : 0;

    for (/* void */; whole && n > 0; n--) {

        act = relay_view_decide(ctx, rule->join_rule->each, i, array, marked);

        if (act < 0) {
            return act;
        }

        whole = (act == RELAY_VIEW_KEEP);
        i = ctx->nodes[i].next;
    }

    if (whole) {
        return 0;
    }

    relay_view_note(ctx, rule, RELAY_VIEW_JOINED, v, parent, marked);

    if (relay_view_replace(ctx, node->off, node->off + node->len,
                           (const unsigned char *) "\"", 1)
        != RELAY_OK)
    {
        return RELAY_VIEW_STOP;
    }

    if (array != 0 && ctx->nodes[array].type == RELAY_JSON_ARRAY) {
        act = relay_view_join_texts(ctx, rule, array, marked);

        if (act < 0) {
            return act;
        }
    }

    return relay_view_push(ctx, (const unsigned char *) "\"", 1) == RELAY_OK
           ? 0 : RELAY_VIEW_STOP;
}


/* The usual case: a text that is kept, and too short to repeat anything. */

static inline unsigned
relay_view_plain(const relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    size_t v)
{
    return ((rule->plain >> ctx->view) & 1)
           && ctx->nodes[v].type == RELAY_JSON_STRING
           && ctx->nodes[v].len - 2 < ctx->private_len;
}


/* Carries out an action that keeps a value, or puts another in its place. */

static int
relay_view_apply(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    int act, size_t v, size_t parent, unsigned marked)
{
    size_t                    start, end;
    unsigned                  inherited;
    relay_int_t               rc;
    const relay_json_node_t  *node;

    node = &ctx->nodes[v];
    start = node->off;
    end = start + node->len;

    switch (act) {

    case RELAY_VIEW_KEEP:

        if (rule->kind == RELAY_VIEW_SCALAR) {
            return 0;
        }

        inherited = ctx->inherited;

        if (relay_view_walk(ctx, rule, v,
                            rule->mark.str.data != NULL ? 1 : marked)
            < 0)
        {
            return RELAY_VIEW_STOP;
        }

        if (inherited && (rule->written & (1u << ctx->view))) {

            /* the object is kept: its last byte is its closing brace */

            if (relay_view_cut(ctx, end - 1, end - 1) != RELAY_OK
                || (ctx->kept != 0
                    && relay_view_push(ctx, (const unsigned char *) ",", 1)
                       != RELAY_OK)
                || relay_view_push(ctx, rule->mark_text.data,
                                   rule->mark_text.len)
                   != RELAY_OK)
            {
                return RELAY_VIEW_STOP;
            }

            relay_view_note(ctx, rule, RELAY_VIEW_WRITTEN, v, parent, marked);
        }

        return 0;

    case RELAY_VIEW_JOINED:
        return relay_view_join(ctx, rule, v, parent, marked);

    case RELAY_VIEW_BLANK:
        rc = relay_view_replace(ctx, start, end,
                                (const unsigned char *) "\"\"", 2);
        break;

    case RELAY_VIEW_CONSTANT:
        rc = relay_view_replace(ctx, start, end, rule->constant.data,
                                rule->constant.len);
        break;

    case RELAY_VIEW_TAKE:
        rc = relay_view_replace(ctx, start, end,
                                ctx->doc->data + ctx->nodes[ctx->take].off,
                                ctx->nodes[ctx->take].len);
        break;

    default:
        return relay_view_withhold(ctx, v, "the policy has no such action");
    }

    if (rc != RELAY_OK) {
        return RELAY_VIEW_STOP;
    }

    relay_view_note(ctx, rule, act, v, parent, marked);

    if (!ctx->checked && rule->judged) {
        return relay_view_collect(ctx, rule, v, parent, marked, 1);
    }

    return 0;
}


/* Counts what is dropped, and checks the marks in it. */

static int
relay_view_dropped(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    size_t v, size_t parent, unsigned marked)
{
    relay_view_note(ctx, rule, RELAY_VIEW_DROP, v, parent, marked);

    if (!ctx->checked && rule->judged) {
        return relay_view_collect(ctx, rule, v, parent, marked, 1);
    }

    return 0;
}


static int
relay_view_walk_array(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    size_t v, unsigned marked)
{
    int                       act;
    size_t                    i, n, start, end, last, kept;
    unsigned                  plain;
    const relay_view_rule_t  *each;

    each = rule->each;
    start = ctx->nodes[v].off + 1;
    last = start;
    kept = 0;
    i = v + 1;

    for (n = ctx->nodes[v].count; n > 0; n--) {

        end = ctx->nodes[i].off + ctx->nodes[i].len;

        plain = relay_view_plain(ctx, each, i);

        act = plain ? RELAY_VIEW_KEEP
                    : relay_view_decide(ctx, each, i, v, marked);

        if (act == RELAY_VIEW_DROP) {

            if (relay_view_dropped(ctx, each, i, v, marked) < 0) {
                return RELAY_VIEW_STOP;
            }

            if (kept != 0 && relay_view_cut(ctx, last, end) != RELAY_OK) {
                return RELAY_VIEW_STOP;
            }

        } else {

            if (act < 0) {
                return act;
            }

            if (kept == 0 && last != start
                && relay_view_cut(ctx, start, ctx->nodes[i].off) != RELAY_OK)
            {
                return RELAY_VIEW_STOP;
            }

            kept++;

            if (!plain && relay_view_apply(ctx, each, act, i, v, marked) < 0) {
                return RELAY_VIEW_STOP;
            }
        }

        last = end;
        i = ctx->nodes[i].next;
    }

    if (kept == 0 && last != start
        && relay_view_cut(ctx, start, last) != RELAY_OK)
    {
        return RELAY_VIEW_STOP;
    }

    if (rule->least != 0) {
        ctx->left += kept;
    }

    ctx->kept = kept;

    return 0;
}


/* Writes the member that is moved to the front before the one at key. */

static int
relay_view_move(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    size_t v, size_t moved, size_t key, unsigned marked)
{
    int                       act;
    size_t                    start, end;
    const relay_json_node_t  *node;

    act = relay_view_decide(ctx, rule, moved, v, marked);

    if (act < 0) {
        return act;
    }

    if (act == RELAY_VIEW_DROP) {
        return relay_view_dropped(ctx, rule, moved, v, marked);
    }

    node = &ctx->nodes[moved];
    start = ctx->nodes[moved - 1].off;
    end = node->off + node->len;

    if (relay_view_cut(ctx, key, start) != RELAY_OK
        || relay_view_apply(ctx, rule, act, moved, v, marked) < 0
        || relay_view_cut(ctx, end, key) != RELAY_OK
        || relay_view_push(ctx, (const unsigned char *) ",", 1) != RELAY_OK)
    {
        return RELAY_VIEW_STOP;
    }

    return 0;
}


static int
relay_view_walk(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    size_t v, unsigned marked)
{
    int                         act;
    size_t                      i, n, start, end, last, kept, moved;
    unsigned                    plain;
    const relay_view_member_t  *member;

    if (rule->kind == RELAY_VIEW_ARRAY) {
        return relay_view_walk_array(ctx, rule, v, marked);
    }

    start = ctx->nodes[v].off + 1;
    last = start;
    kept = 0;
    moved = (rule->then != NULL) ? relay_view_find(ctx, v, &rule->then->name)
                                 : 0;
    i = v + 1;

    for (n = ctx->nodes[v].count; n > 0; n--) {

        end = ctx->nodes[i + 1].off + ctx->nodes[i + 1].len;

        member = relay_view_lookup(ctx, rule, i);
        plain = 0;

        if (member == NULL) {
            act = RELAY_VIEW_DROP;
            relay_view_note(ctx, NULL, RELAY_VIEW_UNKNOWN, i, v, marked);

        } else if (relay_view_plain(ctx, member->rule, i + 1)) {
            act = RELAY_VIEW_KEEP;
            plain = 1;

        } else if (rule->then != NULL && member == rule->then && moved == 0) {
            act = RELAY_VIEW_DROP;

        } else {
            act = relay_view_decide(ctx, member->rule, i + 1, v, marked);

            if (act < 0) {
                return act;
            }

            if (act == RELAY_VIEW_DROP
                && relay_view_dropped(ctx, member->rule, i + 1, v, marked) < 0)
            {
                return RELAY_VIEW_STOP;
            }
        }

        if (act == RELAY_VIEW_DROP) {

            if (kept != 0 && relay_view_cut(ctx, last, end) != RELAY_OK) {
                return RELAY_VIEW_STOP;
            }

        } else {

            if (kept == 0 && last != start
                && relay_view_cut(ctx, start, ctx->nodes[i].off) != RELAY_OK)
            {
                return RELAY_VIEW_STOP;
            }

            kept++;

            if (moved != 0 && !member->head) {

                if (member != rule->then) {

                    if (relay_view_move(ctx, rule->then->rule, v, moved,
                                        ctx->nodes[i].off, marked)
                        < 0)
                    {
                        return RELAY_VIEW_STOP;
                    }

                    /* moving took another decision since */

                    act = relay_view_decide(ctx, member->rule, i + 1, v,
                                            marked);
                    if (act < 0) {
                        return act;
                    }
                }

                moved = 0;
            }

            if (!plain
                && relay_view_apply(ctx, member->rule, act, i + 1, v, marked)
                   < 0)
            {
                return RELAY_VIEW_STOP;
            }
        }

        last = end;
        i = ctx->nodes[i + 1].next;
    }

    if (kept == 0 && last != start
        && relay_view_cut(ctx, start, last) != RELAY_OK)
    {
        return RELAY_VIEW_STOP;
    }

    ctx->kept = kept;

    return 0;
}


int
relay_view_walk_root(relay_view_ctx_t *ctx)
{
    size_t  end;

    ctx->from = ctx->nodes[0].off;
    end = ctx->from + ctx->nodes[0].len;

    if (relay_view_walk(ctx, ctx->policy->root, 0, 0) < 0) {
        return RELAY_VIEW_STOP;
    }

    return relay_view_cut(ctx, end, end) == RELAY_OK ? 0 : RELAY_VIEW_STOP;
}


relay_int_t
relay_view_whole(relay_view_ctx_t *ctx)
{
    return relay_view_push(ctx, ctx->doc->data, ctx->doc->len);
}
