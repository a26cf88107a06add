
/*
 * relay_view: the projection of a document to a view, from outside: names,
 * the spans' memory, what is looked up once before the walk.
 *
 * A projection walks the tape and the policy's tree of rules together; the
 * depth of its recursion is that of the tree, never that of the document.
 * What stays is not touched: the walk (relay_view_walk.c) only cuts out what
 * goes and puts in what replaces it, so that everything between two cuts is
 * one span of the original bytes.
 *
 * Where a view withholds by name, the document is walked once before, to
 * collect the names (relay_view_judge.c); that first walk checks the type of
 * every mark, too.
 */

#include <stdlib.h>

#include "relay_view_rule.h"


static const relay_str_t  relay_view_names[] = {
    relay_null_string,
    relay_string("owner"),
    relay_string("recipient"),
    relay_string("link"),
    relay_string("pass-on"),
    relay_string("preview"),
    relay_string("responder")
};


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


int
relay_view_withhold(relay_view_ctx_t *ctx, size_t v, const char *why)
{
    ctx->why = why;
    ctx->out->fault = v;

    return RELAY_VIEW_STOP;
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
            return relay_view_withhold(ctx, v,
                                       "the private text is no string");
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
            return relay_view_withhold(ctx, v, "a mark has the wrong type");
        }
    }

    if (policy->asked.n != 0 && relay_view_ask(ctx) < 0) {
        return RELAY_VIEW_STOP;
    }

    /* where nothing is asked by name, the walk itself checks the marks */

    if ((policy->naming & (1u << ctx->view)) == 0) {
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
    out->fault = 0;
    *why = NULL;

    memset(&ctx, 0, offsetof(relay_view_ctx_t, odd));

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
        return relay_view_whole(&ctx);
    }

    if (view <= RELAY_VIEW_NONE || view >= RELAY_VIEW_MAX
        || (policy->known & (1u << view)) == 0)
    {
        *why = "the policy has no such view";
        return RELAY_DECLINED;
    }

    rc = relay_view_prepare(&ctx);

    if (rc == 0) {
        rc = relay_view_walk_root(&ctx);
    }

    if (rc == 0 && policy->least != NULL && view != RELAY_VIEW_PREVIEW
        && ctx.left < policy->least->least)
    {
        rc = relay_view_withhold(&ctx, 0, "no section is left");
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
