
/*
 * relay_view: the projection of a tape.
 *
 * A projection walks the tape and the policy's tree of rules together; the
 * depth of its recursion is that of the tree, never that of the document.
 * What stays is not touched: the walk only cuts out what goes and puts in what
 * replaces it, so that everything between two cuts is one span of the original
 * bytes.
 *
 * The views in which something can be withheld by name are walked once before,
 * to collect the names; that first walk checks the type of every mark, too.
 */

#include <stdlib.h>

#include "relay_view_rule.h"
#include "relay_time.h"


#define RELAY_VIEW_CODE        40       /* bytes up to which a code is one */


static const relay_str_t  relay_view_names[] = {
    relay_null_string,
    relay_string("owner"),
    relay_string("recipient"),
    relay_string("link"),
    relay_string("pass-on"),
    relay_string("preview")
};


static int relay_view_walk(relay_view_ctx_t *ctx,
    const relay_view_rule_t *rule, size_t v, unsigned marked);


relay_view_e
relay_view_by_name(const relay_str_t *name)
{
    int  i;

    for (i = RELAY_VIEW_OWNER; i < RELAY_VIEW_MAX; i++) {
        if (relay_str_eq(name, &relay_view_names[i])) {
            return (relay_view_e) i;
        }
    }

    return RELAY_VIEW_NONE;
}


const relay_str_t *
relay_view_name(relay_view_e view)
{
    if (view <= RELAY_VIEW_NONE || view >= RELAY_VIEW_MAX) {
        return &relay_view_names[RELAY_VIEW_NONE];
    }

    return &relay_view_names[view];
}


const relay_str_t *
relay_view_policy_schema(const relay_view_policy_t *policy)
{
    return &policy->schema;
}


const relay_str_t *
relay_view_policy_digest(const relay_view_policy_t *policy)
{
    return &policy->digest;
}


relay_view_member_t *
relay_view_member(const relay_view_rule_t *rule, const relay_str_t *name)
{
    size_t  i;

    for (i = 0; i < rule->n; i++) {
        if (relay_str_eq(&rule->members[i].name.str, name)) {
            return &rule->members[i];
        }
    }

    return NULL;
}


void
relay_view_out_init(relay_view_out_t *out)
{
    memset(out, 0, sizeof(relay_view_out_t));
}


void
relay_view_out_free(relay_view_out_t *out)
{
    free(out->spans);
    free(out->scratch);

    memset(out, 0, sizeof(relay_view_out_t));
}


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


int
relay_view_withhold(relay_view_ctx_t *ctx, const char *why)
{
    ctx->why = why;

    return RELAY_VIEW_STOP;
}


static inline unsigned
relay_view_same(const unsigned char *p, const unsigned char *last,
    const relay_str_t *name)
{
    size_t                n;
    uint64_t              a, b;
    const unsigned char  *q;

    n = name->len;

    if ((size_t) (last - p) < n + 8) {
        return memcmp(p, name->data, n) == 0;
    }

    q = name->data;

    for (/* void */; n >= 8; n -= 8) {
        memcpy(&a, p, 8);
        memcpy(&b, q, 8);

        if (a != b) {
            return 0;
        }

        p += 8;
        q += 8;
    }

    memcpy(&a, p, 8);
    memcpy(&b, q, 8);

#if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
    return n == 0 || ((a ^ b) >> (64 - 8 * n)) == 0;
#else
    return ((a ^ b) & ~(~0ull << (8 * n))) == 0;
#endif
}


/* The rule of the member whose name is at index i; NULL: none knows it. */

static inline const relay_view_member_t *
relay_view_lookup(const relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    size_t i)
{
    const relay_json_node_t    *node;
    const relay_view_member_t  *member;

    node = &ctx->nodes[i];
    member = rule->slots[(uint32_t) (node->next * rule->seed) >> rule->shift];

    if (member == NULL || member->name.hash != node->next) {
        return NULL;
    }

    if (__builtin_expect(node->escaped, 0)) {
        return relay_json_str_is(ctx->tape, ctx->doc, i,
                                 (const char *) member->name.str.data,
                                 member->name.str.len)
               ? member : NULL;
    }

    if (node->len - 2 != member->name.str.len
        || !relay_view_same(ctx->doc->data + node->off + 1,
                            ctx->doc->data + ctx->doc->len, &member->name.str))
    {
        return NULL;
    }

    return member;
}


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
    if ((cs->action & RELAY_VIEW_LABELLED) && !ctx->labelled) {
        return RELAY_VIEW_DROP;
    }

    if ((cs->action & RELAY_VIEW_SUGGEST)
        && ctx->params->permission < RELAY_PERMISSION_SUGGEST)
    {
        return RELAY_VIEW_DROP;
    }

    if ((cs->action & RELAY_VIEW_EDIT)
        && ctx->params->permission < RELAY_PERMISSION_EDIT)
    {
        return RELAY_VIEW_DROP;
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

    m = relay_view_find(ctx, by->own ? v : parent, &by->member);

    if (m == 0) {
        return relay_view_case_action(ctx, &by->missing, parent);
    }

    if (ctx->nodes[m].type != RELAY_JSON_STRING) {
        return relay_view_withhold(ctx, "a mark has the wrong type");
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
        return relay_view_withhold(ctx, "a mark has the wrong type");
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
        return relay_view_withhold(ctx, "a mark has the wrong type");
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


static int relay_view_decide(relay_view_ctx_t *ctx,
    const relay_view_rule_t *rule, size_t v, size_t parent, unsigned marked);


/* Whether an array had elements and has lost them all. */

static int
relay_view_emptied(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    size_t v, unsigned marked)
{
    int                       act;
    size_t                    i, m, n;
    const relay_view_rule_t  *array;

    m = relay_view_find(ctx, v, &rule->left);

    if (m == 0 || ctx->nodes[m].type != RELAY_JSON_ARRAY
        || ctx->nodes[m].count == 0)
    {
        return 0;
    }

    array = relay_view_member(rule, &rule->left.str)->rule;
    i = m + 1;

    for (n = ctx->nodes[m].count; n > 0; n--) {

        act = relay_view_decide(ctx, array->each, i, m, marked);

        if (act != RELAY_VIEW_DROP) {
            return (act < 0) ? act : 0;
        }

        i = ctx->nodes[i].next;
    }

    return 1;
}


/* The conditions of a rule, and then its action. */

static __attribute__((noinline)) int
relay_view_conditions(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    unsigned bits, size_t v, size_t parent, unsigned marked)
{
    int  rc;

    if ((bits & RELAY_VIEW_SUGGEST)
        && ctx->params->permission < RELAY_PERMISSION_SUGGEST)
    {
        return RELAY_VIEW_DROP;
    }

    if ((bits & RELAY_VIEW_EDIT)
        && ctx->params->permission < RELAY_PERMISSION_EDIT)
    {
        return RELAY_VIEW_DROP;
    }

    if ((bits & RELAY_VIEW_LABELLED) && !ctx->labelled) {
        return RELAY_VIEW_DROP;
    }

    if (bits & RELAY_VIEW_MARKED) {
        rc = relay_view_marked(ctx, rule, v, marked);

        if (rc != 1) {
            return (rc < 0) ? rc : RELAY_VIEW_DROP;
        }
    }

    if (bits & RELAY_VIEW_FRESH) {
        rc = relay_view_fresh(ctx, rule, v);

        if (rc != 1) {
            return (rc < 0) ? rc : RELAY_VIEW_DROP;
        }
    }

    /* while names are being collected, none is known yet */

    if ((bits & RELAY_VIEW_UNNAMED) && !ctx->naming) {
        rc = relay_view_naming_any(ctx, v);

        if (rc != 0) {
            return (rc < 0) ? rc : RELAY_VIEW_DROP;
        }
    }

    if ((bits & RELAY_VIEW_LEFT) && !ctx->naming && ctx->names_n != 0) {
        rc = relay_view_emptied(ctx, rule, v, marked);

        if (rc != 0) {
            return (rc < 0) ? rc : RELAY_VIEW_DROP;
        }
    }

    if (bits & RELAY_VIEW_UNASKED) {
        rc = relay_view_asked(ctx, rule, v);

        if (rc != 0) {
            return (rc < 0) ? rc : RELAY_VIEW_DROP;
        }
    }

    if ((bits & RELAY_VIEW_ACTION) == RELAY_VIEW_BY) {
        return relay_view_by_action(ctx, rule->by, v, parent);
    }

    return (int) (bits & RELAY_VIEW_ACTION);
}


/* What becomes of a value that a rule is for. */

static int
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
            return relay_view_withhold(ctx, "a mark has the wrong type");
        }
    }

    act = (bits > RELAY_VIEW_JOINED)
          ? relay_view_conditions(ctx, rule, bits, v, parent, marked)
          : (int) bits;

    if (act != RELAY_VIEW_KEEP && act != RELAY_VIEW_JOINED) {

        if (act == RELAY_VIEW_TAKE
            && ctx->nodes[ctx->take].len - 2 >= ctx->private_len)
        {
            rc = relay_view_repeats(ctx, ctx->take);

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
            && node->len - 2 >= ctx->private_len
            && (rule->type == 0 || node->len - 2 > RELAY_VIEW_CODE))
        {
            rc = relay_view_repeats(ctx, v);

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

static int
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


/*
 * A text that stands for elements beside it: when one of them is withheld, the
 * texts of the others are put in its place, as they are escaped.
 */

static int
relay_view_join(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    size_t v, size_t parent, unsigned marked)
{
    int                         act;
    size_t                      array, i, n, t, end, texts;
    unsigned                    whole;
    const relay_json_node_t    *node;
    const relay_view_member_t  *member;
    const relay_view_rule_t    *each;

    node = &ctx->nodes[v];
    end = node->off + node->len;
    each = rule->join_rule->each;
    array = relay_view_find(ctx, parent, &rule->join_array);

    if (array == 0) {

        if (node->type == RELAY_JSON_STRING
            && node->len - 2 >= ctx->private_len)
        {
            act = relay_view_repeats(ctx, v);

            if (act < 0) {
                return act;
            }

            if (act == 1) {
                ctx->out->withheld++;

                return relay_view_replace(ctx, node->off, end,
                                          (const unsigned char *) "\"\"", 2)
                       == RELAY_OK ? 0 : RELAY_VIEW_STOP;
            }
        }

        return 0;
    }

    whole = (ctx->nodes[array].type == RELAY_JSON_ARRAY);

    if (whole && node->len - 2 >= ctx->private_len
        && node->type == RELAY_JSON_STRING)
    {
        act = relay_view_repeats(ctx, v);

        if (act < 0) {
            return act;
        }

        whole = !act;
    }

    if (whole) {
        i = array + 1;

        for (n = ctx->nodes[array].count; n > 0; n--) {

            act = relay_view_decide(ctx, each, i, array, marked);

            if (act < 0) {
                return act;
            }

            if (act != RELAY_VIEW_KEEP) {
                whole = 0;
                break;
            }

            i = ctx->nodes[i].next;
        }
    }

    if (whole) {
        return 0;
    }

    ctx->out->withheld++;

    if (relay_view_replace(ctx, node->off, end,
                           (const unsigned char *) "\"", 1)
        != RELAY_OK)
    {
        return RELAY_VIEW_STOP;
    }

    texts = 0;
    i = array + 1;
    n = (ctx->nodes[array].type == RELAY_JSON_ARRAY) ? ctx->nodes[array].count
                                                     : 0;

    for (/* void */; n > 0; n--, i = ctx->nodes[i].next) {

        act = relay_view_decide(ctx, each, i, array, marked);

        if (act < 0) {
            return act;
        }

        if (act != RELAY_VIEW_KEEP) {
            continue;
        }

        t = relay_view_find(ctx, i, &rule->join_member);
        member = relay_view_member(each, &rule->join_member.str);

        if (t == 0 || member == NULL || ctx->nodes[t].len == 2
            || ctx->nodes[t].type != RELAY_JSON_STRING)
        {
            continue;
        }

        act = relay_view_decide(ctx, member->rule, t, i, marked);

        if (act < 0) {
            return act;
        }

        if (act != RELAY_VIEW_KEEP) {
            continue;
        }

        if (texts++ != 0
            && relay_view_push(ctx, rule->join_by.data, rule->join_by.len)
               != RELAY_OK)
        {
            return RELAY_VIEW_STOP;
        }

        if (relay_view_push(ctx, ctx->doc->data + ctx->nodes[t].off + 1,
                            ctx->nodes[t].len - 2)
            != RELAY_OK)
        {
            return RELAY_VIEW_STOP;
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
        return relay_view_withhold(ctx, "the policy has no such action");
    }

    if (rc != RELAY_OK) {
        return RELAY_VIEW_STOP;
    }

    ctx->out->withheld++;

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
            ctx->out->withheld++;

            if (!ctx->checked && each->judged
                && relay_view_collect(ctx, each, i, v, marked, 1) < 0)
            {
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
        ctx->out->withheld++;

        if (!ctx->checked && rule->judged) {
            return relay_view_collect(ctx, rule, moved, v, marked, 1);
        }

        return 0;
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
            ctx->out->withheld++;

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

            if (act == RELAY_VIEW_DROP) {
                ctx->out->withheld++;

                if (!ctx->checked && member->rule->judged
                    && relay_view_collect(ctx, member->rule, i + 1, v, marked,
                                          1)
                       < 0)
                {
                    return RELAY_VIEW_STOP;
                }
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


static int
relay_view_prepare(relay_view_ctx_t *ctx)
{
    size_t                      v;
    relay_str_t                 s;
    const relay_view_policy_t  *policy;

    policy = ctx->policy;

    /* the private text, which nothing that is kept may repeat */

    ctx->private_len = SIZE_MAX;

    v = relay_view_point(ctx, &policy->private);

    if (v != 0) {

        if (ctx->nodes[v].type != RELAY_JSON_STRING) {
            return relay_view_withhold(ctx, "the private text is no string");
        }

        if (relay_view_decode(ctx, v, &s) != RELAY_OK) {
            return RELAY_VIEW_STOP;
        }

        relay_view_trim(&s);

        if (s.len != 0) {
            ctx->private = s.data;
            ctx->private_len = s.len;
            ctx->private_copied = ctx->nodes[v].escaped;
            ctx->private_whole = (s.len < policy->private_least);

            if (ctx->private_copied) {
                ctx->private_off = s.data
                                   - (unsigned char *) ctx->out->scratch;
            }
        }
    }

    v = relay_view_point(ctx, &policy->labelled);

    if (v != 0) {
        switch (ctx->nodes[v].type) {

        case RELAY_JSON_TRUE:
            ctx->labelled = 1;
            break;

        case RELAY_JSON_FALSE:
            break;

        default:
            return relay_view_withhold(ctx, "a mark has the wrong type");
        }
    }

    if (policy->asked.n != 0 && relay_view_ask(ctx) < 0) {
        return RELAY_VIEW_STOP;
    }

    if (ctx->view == RELAY_VIEW_RECIPIENT) {
        return 0;
    }

    ctx->naming = 1;

    if (relay_view_collect(ctx, policy->root, 0, 0, 0, 0) < 0) {
        return RELAY_VIEW_STOP;
    }

    ctx->naming = 0;
    ctx->checked = 1;

    return relay_view_index(ctx);
}


relay_int_t
relay_view_project(const relay_view_policy_t *policy, const relay_str_t *doc,
    const relay_json_tape_t *tape, relay_view_e view,
    const relay_view_params_t *params, relay_view_out_t *out,
    const char **why)
{
    int               rc;
    size_t            v;
    relay_view_ctx_t  ctx;

    out->n = 0;
    out->len = 0;
    out->withheld = 0;
    out->valid_until = 0;
    *why = NULL;

    memset(&ctx, 0, offsetof(relay_view_ctx_t, odd));

    ctx.odd_n = 0;
    ctx.asked = 0;
    ctx.asked_n = 0;
    ctx.policy = policy;
    ctx.doc = doc;
    ctx.tape = tape;
    ctx.nodes = tape->nodes;
    ctx.params = params;
    ctx.out = out;
    ctx.view = view;

    if (tape->n == 0 || ctx.nodes[0].type != RELAY_JSON_OBJECT) {
        *why = "the document is not an object";
        return RELAY_DECLINED;
    }

    v = relay_view_find(&ctx, 0, &policy->schema_name);

    if (v == 0
        || !relay_json_str_is(tape, doc, v, (const char *) policy->schema.data,
                              policy->schema.len)
        || ctx.nodes[v].type != RELAY_JSON_STRING)
    {
        *why = "the document is not of the policy's type";
        return RELAY_DECLINED;
    }

    if (view == RELAY_VIEW_OWNER) {
        return relay_view_push(&ctx, doc->data, doc->len);
    }

    if (view <= RELAY_VIEW_NONE || view >= RELAY_VIEW_MAX
        || (policy->known & (1u << view)) == 0)
    {
        *why = "the policy has no such view";
        return RELAY_DECLINED;
    }

    rc = relay_view_prepare(&ctx);

    if (rc == 0) {
        ctx.from = ctx.nodes[0].off;
        rc = relay_view_walk(&ctx, policy->root, 0, 0);
    }

    if (rc == 0) {
        v = ctx.nodes[0].off + ctx.nodes[0].len;

        if (relay_view_cut(&ctx, v, v) != RELAY_OK) {
            rc = RELAY_VIEW_STOP;

        } else if (policy->least != NULL && view != RELAY_VIEW_PREVIEW
                   && ctx.left < policy->least->least)
        {
            rc = relay_view_withhold(&ctx, "no section is left");
        }
    }

    if (rc == 0) {
        return RELAY_OK;
    }

    out->n = 0;
    out->len = 0;
    out->withheld = 0;
    out->valid_until = 0;

    if (ctx.why == NULL) {
        return RELAY_ERROR;
    }

    *why = ctx.why;

    return RELAY_DECLINED;
}
