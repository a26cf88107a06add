
/*
 * relay_view_judge: what becomes of one value: the conditions of its rule and
 * the action that they lead to.
 */

#include "relay_view_rule.h"
#include "relay_time.h"



/* The value of a member; 0: there is none. */

size_t
relay_view_find(const relay_view_ctx_t *ctx, size_t obj,
    const relay_view_name_t *name)
{
    size_t  i, n;

    if (ctx->nodes[obj].type != RELAY_JSON_OBJECT) {
        return 0;
    }

    i = obj + 1;

    for (n = ctx->nodes[obj].count; n > 0; n--) {

        if (ctx->nodes[i].next == name->hash
            && relay_json_str_is(ctx->tape, ctx->doc, i,
                                 (const char *) name->str.data, name->str.len))
        {
            return i + 1;
        }

        i = ctx->nodes[i + 1].next;
    }

    return 0;
}


size_t
relay_view_point(const relay_view_ctx_t *ctx, const relay_view_pointer_t *ptr)
{
    size_t  i, v;

    v = 0;

    for (i = 0; i < ptr->n; i++) {
        v = relay_view_find(ctx, v, &ptr->names[i]);

        if (v == 0) {
            return 0;
        }
    }

    return v;
}


static int
relay_view_case_action(relay_view_ctx_t *ctx, const relay_view_case_t *cs,
    size_t parent)
{
    unsigned  rest;

    rest = cs->action & ~(unsigned) RELAY_VIEW_ACTION;

    for (/* void */; rest != 0; rest &= rest - 1) {
        if (relay_view_condition(ctx, NULL, rest & -rest, 0, 0) != 1) {
            return RELAY_VIEW_DROP;
        }
    }

    if ((cs->action & RELAY_VIEW_ACTION) == RELAY_VIEW_TAKE) {

        ctx->take = relay_view_find(ctx, parent, &cs->take);

        if (ctx->take == 0
            || ctx->nodes[ctx->take].type != RELAY_JSON_STRING)
        {
            return RELAY_VIEW_BLANK;
        }
    }

    return (int) (cs->action & RELAY_VIEW_ACTION);
}


static int
relay_view_by_action(relay_view_ctx_t *ctx, const relay_view_by_t *by,
    size_t v, size_t parent)
{
    size_t  i, m;

    m = (by->at.n != 0)
        ? relay_view_point(ctx, &by->at)
        : relay_view_find(ctx, by->own ? v : parent, &by->member);

    if (m == 0) {
        return relay_view_case_action(ctx, &by->missing, parent);
    }

    if (ctx->nodes[m].type != RELAY_JSON_STRING) {
        return relay_view_withhold(ctx, m, "a mark has the wrong type");
    }

    for (i = 0; i < by->n; i++) {
        if (relay_json_str_is(ctx->tape, ctx->doc, m,
                              (const char *) by->cases[i].value.str.data,
                              by->cases[i].value.str.len))
        {
            return relay_view_case_action(ctx, &by->cases[i], parent);
        }
    }

    return relay_view_case_action(ctx, &by->other, parent);
}


static int
relay_view_marked(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    size_t v, unsigned marked)
{
    size_t  m;

    m = relay_view_find(ctx, v, &rule->mark);

    if (m == 0) {
        ctx->inherited = (rule->inherit && marked);
        return ctx->inherited;
    }

    if (ctx->nodes[m].type != RELAY_JSON_STRING) {
        return relay_view_withhold(ctx, m, "a mark has the wrong type");
    }

    return (int) relay_json_str_is(ctx->tape, ctx->doc, m,
                                   (const char *) rule->mark_value.data,
                                   rule->mark_value.len);
}


static int
relay_view_fresh(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    size_t v)
{
    size_t       m, used;
    int64_t      until;
    relay_int_t  rc;
    relay_str_t  s;

    m = relay_view_find(ctx, v, &rule->until);

    if (m == 0) {
        return 1;
    }

    if (ctx->nodes[m].type != RELAY_JSON_STRING) {
        return relay_view_withhold(ctx, m, "a mark has the wrong type");
    }

    used = ctx->used;

    if (relay_view_decode(ctx, m, &s) != RELAY_OK) {
        return RELAY_VIEW_STOP;
    }

    rc = relay_time_parse_end(&s, &until);
    ctx->used = used;

    if (rc != RELAY_OK || until <= ctx->params->now) {
        return 0;
    }

    ctx->out->valid_until = relay_time_earlier(ctx->out->valid_until, until);

    return 1;
}


/* Whether an array had elements and has lost them all. */

static int
relay_view_emptied(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    size_t v, unsigned marked)
{
    int     act;
    size_t  i, m, n;

    m = relay_view_find(ctx, v, &rule->left);

    if (m == 0 || ctx->nodes[m].type != RELAY_JSON_ARRAY
        || ctx->nodes[m].count == 0)
    {
        return 0;
    }

    i = m + 1;

    for (n = ctx->nodes[m].count; n > 0; n--) {

        act = relay_view_decide(ctx, rule->left_rule->each, i, m,
                                marked);

        if (act != RELAY_VIEW_DROP) {
            return (act < 0) ? act : 0;
        }

        i = ctx->nodes[i].next;
    }

    return 1;
}


int
relay_view_condition(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    unsigned bit, size_t v, unsigned marked)
{
    int  rc;

    switch (bit) {

    case RELAY_VIEW_SUGGEST:
        return ctx->params->permission >= RELAY_PERMISSION_SUGGEST;

    case RELAY_VIEW_EDIT:
        return ctx->params->permission >= RELAY_PERMISSION_EDIT;

    case RELAY_VIEW_LABELLED:
        return (int) ctx->labelled;

    case RELAY_VIEW_MARKED:
        return relay_view_marked(ctx, rule, v, marked);

    case RELAY_VIEW_FRESH:
        return relay_view_fresh(ctx, rule, v);

    /* while names are being collected, none is known yet */

    case RELAY_VIEW_UNNAMED:
        rc = ctx->naming ? 0 : relay_view_naming_any(ctx, rule, v);
        break;

    case RELAY_VIEW_LEFT:
        rc = ctx->naming ? 0 : relay_view_emptied(ctx, rule, v, marked);
        break;

    case RELAY_VIEW_UNASKED:
        rc = relay_view_asked(ctx, rule, v);
        break;

    default:
        return 0;
    }

    return (rc < 0) ? rc : !rc;
}


/* The conditions of a rule, and then its action. */

static __attribute__((noinline)) int
relay_view_conditions(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    unsigned bits, size_t v, size_t parent, unsigned marked)
{
    int       rc;
    unsigned  rest;

    rest = bits & ~(unsigned) RELAY_VIEW_ACTION;

    for (/* void */; rest != 0; rest &= rest - 1) {

        rc = relay_view_condition(ctx, rule, rest & -rest, v, marked);

        if (rc != 1) {
            return (rc < 0) ? rc : RELAY_VIEW_DROP;
        }
    }

    if ((bits & RELAY_VIEW_ACTION) == RELAY_VIEW_BY) {
        return relay_view_by_action(ctx, rule->by, v, parent);
    }

    return (int) (bits & RELAY_VIEW_ACTION);
}


/* What becomes of a value that a rule is for. */

int
relay_view_decide(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    size_t v, size_t parent, unsigned marked)
{
    int                       act, rc;
    unsigned                  bits;
    const relay_json_node_t  *node;

    node = &ctx->nodes[v];
    bits = rule->act[ctx->view];

    ctx->inherited = 0;

    if (rule->type & (RELAY_VIEW_IS_MARK|RELAY_VIEW_IS_FLAG)) {

        if ((rule->type & RELAY_VIEW_IS_MARK)
            ? node->type != RELAY_JSON_STRING
            : (node->type != RELAY_JSON_TRUE && node->type != RELAY_JSON_FALSE))
        {
            return relay_view_withhold(ctx, v, "a mark has the wrong type");
        }
    }

    act = (bits > RELAY_VIEW_JOINED)
          ? relay_view_conditions(ctx, rule, bits, v, parent, marked)
          : (int) bits;

    if (act != RELAY_VIEW_KEEP && act != RELAY_VIEW_JOINED) {

        if (act == RELAY_VIEW_TAKE
            && ctx->nodes[ctx->take].len - 2 >= ctx->private_len)
        {
            rc = relay_view_repeats(ctx, ctx->take, 0);

            return (rc < 0) ? rc : (rc == 1) ? RELAY_VIEW_BLANK : act;
        }

        return act;
    }

    /* a value of another shape than the policy knows cannot be judged */

    if (rule->kind == RELAY_VIEW_SCALAR) {

        if (node->type >= RELAY_JSON_ARRAY) {
            return RELAY_VIEW_DROP;
        }

        if (node->type == RELAY_JSON_STRING
            && node->len - 2 >= ctx->private_len)
        {
            rc = relay_view_repeats(ctx, v, rule->type);

            if (rc != 0) {
                return (rc < 0) ? rc
                       : (act == RELAY_VIEW_JOINED) ? act : RELAY_VIEW_BLANK;
            }
        }

        return act;
    }

    if (node->type != ((rule->kind == RELAY_VIEW_OBJECT) ? RELAY_JSON_OBJECT
                                                         : RELAY_JSON_ARRAY))
    {
        return RELAY_VIEW_DROP;
    }

    return act;
}


/*
 * Walks whatever holds marks or gives names: checks the type of every mark,
 * and collects the names of what the view withholds.
 */

int
relay_view_collect(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    size_t v, size_t parent, unsigned marked, unsigned dropped)
{
    int                         act;
    size_t                      i, k, n;
    const relay_view_member_t  *member;

    if (rule->type & (RELAY_VIEW_IS_MARK|RELAY_VIEW_IS_FLAG)) {
        ctx->inherited = 0;
        act = relay_view_decide(ctx, rule, v, parent, marked);
        return (act < 0) ? act : 0;
    }

    if (!rule->judged && !rule->named) {
        return 0;
    }

    if (!dropped) {
        act = relay_view_decide(ctx, rule, v, parent, marked);

        if (act < 0) {
            return act;
        }

        dropped = (act != RELAY_VIEW_KEEP);
    }

    if (rule->kind == RELAY_VIEW_ARRAY) {

        if (ctx->nodes[v].type != RELAY_JSON_ARRAY) {
            return 0;
        }

        i = v + 1;

        for (n = ctx->nodes[v].count; n > 0; n--) {

            if (relay_view_collect(ctx, rule->each, i, v, marked, dropped)
                < 0)
            {
                return RELAY_VIEW_STOP;
            }

            i = ctx->nodes[i].next;
        }

        return 0;
    }

    if (rule->kind != RELAY_VIEW_OBJECT
        || ctx->nodes[v].type != RELAY_JSON_OBJECT)
    {
        return 0;
    }

    if (rule->mark.str.data != NULL) {
        marked = !dropped;
    }

    if (dropped && ctx->naming) {

        for (i = 0; i < rule->names_n; i++) {
            k = relay_view_find(ctx, v, &rule->names[i]);

            if (k != 0 && ctx->nodes[k].type == RELAY_JSON_STRING
                && ctx->nodes[k].len > 2
                && relay_view_name_add(ctx, k) != RELAY_OK)
            {
                return RELAY_VIEW_STOP;
            }
        }
    }

    i = v + 1;

    for (n = ctx->nodes[v].count; n > 0; n--) {

        member = relay_view_lookup(ctx, rule, i);

        if (member != NULL
            && relay_view_collect(ctx, member->rule, i + 1, v, marked, dropped)
               < 0)
        {
            return RELAY_VIEW_STOP;
        }

        i = ctx->nodes[i + 1].next;
    }

    return 0;
}
