
/*
 * The document of an allowed read, and its view: out of the shared cache, else
 * asked of Redis and projected.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_http_relay_store.h"

#include "relay_package.h"
#include "relay_pointer.h"


#define NGX_HTTP_RELAY_DOCUMENT_ID  8192    /* bytes, of a view in the cache */
#define NGX_HTTP_RELAY_PLACE        1024    /* bytes of a place in a document */


static relay_view_policy_t *ngx_http_relay_document_policy(
    ngx_http_relay_main_conf_t *rmcf, relay_str_t *schema);
static void ngx_http_relay_document_responder(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx);
static void ngx_http_relay_document_reply(ngx_http_relay_slot_t *slot,
    relay_resp_reply_t *reply);
static ngx_http_relay_body_t *ngx_http_relay_document_project(
    ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx,
    relay_view_policy_t *policy);
static const char *ngx_http_relay_document_misplaced(
    ngx_http_relay_ctx_t *ctx, relay_view_policy_t *policy, relay_str_t *doc);
static ngx_http_relay_body_t *ngx_http_relay_document_prompt(
    ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx, relay_str_t *doc);


static ngx_http_relay_body_t *ngx_http_relay_document_safety(
    ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx,
    ngx_http_relay_body_t *body);
static void ngx_http_relay_document_found(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, relay_str_t *view,
    relay_quality_safety_t *found);


/* scratch of this process, reused from document to document */

static relay_json_tape_t  ngx_http_relay_tape;
static relay_json_tape_t  ngx_http_relay_view_tape;
static relay_view_out_t   ngx_http_relay_out;

static relay_buf_t        ngx_http_relay_document_key = {
    .max = NGX_HTTP_RELAY_KEY_BUF
};

static relay_buf_t        ngx_http_relay_document_id = {
    .max = NGX_HTTP_RELAY_DOCUMENT_ID
};


ngx_int_t
ngx_http_relay_document_view(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx)
{
    ngx_str_t                    name;
    ngx_uint_t                   cached;
    relay_buf_t                 *key, *id;
    relay_str_t                  argv[2];
    relay_view_policy_t         *policy;
    ngx_http_relay_snapshot_t   *ss;
    ngx_http_relay_loc_conf_t   *rlcf;
    ngx_http_relay_main_conf_t  *rmcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);
    rmcf = ngx_http_get_module_main_conf(r, ngx_http_relay_module);

    ss = ctx->snapshot;

    policy = ngx_http_relay_document_policy(rmcf, &ss->head.schema);

    if (policy == NULL) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "no view policy for document type \"%V\" of relay "
                      "\"%V\"", ngx_http_ngx_str(&ss->head.schema),
                      &ctx->relay);
        return NGX_DECLINED;
    }

    if (relay_str_is(&ss->head.schema, RELAY_PACKET_SCHEMA)) {
        ngx_http_relay_document_responder(r, ctx);
    }

    key = &ngx_http_relay_document_key;
    id = &ngx_http_relay_document_id;

    relay_buf_reset(key);
    relay_buf_reset(id);

    if (relay_key_document(key, ngx_http_relay_str(&rlcf->prefix),
                           ngx_http_relay_str(&ctx->relay),
                           ctx->decision.version)
        != RELAY_OK)
    {
        return NGX_ERROR;
    }

    /*
     * Endpoint, document (prefix, relay, version, digest), epoch of the head,
     * view.  The head knows the digest of its current version alone; without
     * it a relay that was wiped and published anew could not be told apart.
     */

    cached = rmcf->zone != NULL && ss->head.digest.len
             && ctx->decision.version == ss->head.version;

    relay_buf_append_str(id, ngx_http_relay_str(&rlcf->redis->url));
    relay_buf_append_c(id, '\n');
    relay_buf_append(id, key->data, key->len);
    relay_buf_append_c(id, '\n');
    relay_buf_append_str(id, &ss->head.digest);
    relay_buf_append_c(id, '\n');
    relay_buf_append_int(id, ss->head.epoch);
    relay_buf_append_c(id, '\n');
    relay_buf_append_c(id, (u_char) ('0' + ctx->decision.view));
    relay_buf_append_c(id, (u_char) ('0' + ctx->decision.permission));
    relay_buf_append_c(id, (u_char) ('0' + rlcf->safety));
    relay_buf_append_str(id, relay_view_policy_digest(policy));

    if (ctx->decision.view == RELAY_VIEW_RESPONDER) {
        ngx_http_relay_packet_key(r, ctx, id);
    }

    if (id->failed) {
        return NGX_ERROR;
    }

    name.len = id->len;
    name.data = id->data;

    if (!ctx->document_asked) {

        if (cached) {
            ctx->body = ngx_http_relay_cache_get(rmcf->zone, &name,
                                                 ngx_http_relay_store_now(ctx),
                                                 r->connection->log);
            if (ctx->body != NULL) {
                ngx_http_relay_count(rmcf, NGX_HTTP_RELAY_EVENT_KEPT);
                return NGX_OK;
            }
        }

        relay_str_set(&argv[0], "GET");
        relay_buf_str(key, &argv[1]);

        ctx->document_asked = 1;

        if (ngx_http_relay_store_submit(ctx, rlcf->redis->documents,
                                        ngx_http_relay_document_reply, 0,
                                        NULL, 2, argv)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        return NGX_AGAIN;
    }

    if (ctx->document.len == 0) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "document \"%*s\" is not in Redis", key->len, key->data);
        return NGX_DECLINED;
    }

    ctx->body = ngx_http_relay_document_project(r, ctx, policy);

    if (ctx->body == NULL) {
        return NGX_DECLINED;
    }

    ngx_http_relay_count(rmcf, NGX_HTTP_RELAY_EVENT_PROJECTED);

    if (cached) {
        ctx->view_key.len = name.len;
        ctx->view_key.data = ngx_pstrdup(r->pool, &name);

        if (ctx->view_key.data == NULL) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/*
 * Not before: the key's digest is that of the records, and only serve.lua knows
 * whether they were still true when the document was read.
 */

void
ngx_http_relay_document_keep(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx)
{
    ngx_http_relay_main_conf_t  *rmcf;

    rmcf = ngx_http_get_module_main_conf(r, ngx_http_relay_module);

    if (ctx->view_key.len) {
        ngx_http_relay_cache_put(rmcf->zone, &ctx->view_key, ctx->body);
    }
}


static void
ngx_http_relay_document_reply(ngx_http_relay_slot_t *slot,
    relay_resp_reply_t *reply)
{
    ngx_http_relay_ctx_t  *ctx;

    ctx = slot->ctx;

    if (reply->type != RELAY_RESP_BULK) {
        return;
    }

    ctx->document = reply->str;

    if (ngx_http_relay_store_copy(ctx->request->pool,
                                  &ctx->document)
        != NGX_OK)
    {
        ctx->failed = 1;
    }
}


static relay_view_policy_t *
ngx_http_relay_document_policy(ngx_http_relay_main_conf_t *rmcf,
    relay_str_t *schema)
{
    ngx_uint_t             i;
    relay_view_policy_t  **policy;

    policy = rmcf->policies->elts;

    for (i = 0; i < rmcf->policies->nelts; i++) {
        if (relay_str_eq(schema, relay_view_policy_schema(policy[i]))) {
            return policy[i];
        }
    }

    return NULL;
}


/*
 * Who may read a packet reads it as its responder; a packet has no view for
 * those it is passed on to, and no preview.
 */

static void
ngx_http_relay_document_responder(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx)
{
    if (ctx->decision.view == RELAY_VIEW_RECIPIENT
        || ctx->decision.view == RELAY_VIEW_LINK)
    {
        ctx->decision.view = RELAY_VIEW_RESPONDER;
    }

    ctx->isolation = ctx->snapshot->head.isolation;
    ctx->text = (ctx->decision.view == RELAY_VIEW_RESPONDER)
                && ngx_http_relay_packet_text(r);
}


/* NULL: withheld; the cause was logged. */

static ngx_http_relay_body_t *
ngx_http_relay_document_project(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, relay_view_policy_t *policy)
{
    size_t                  i;
    u_char                 *p;
    relay_str_t            *doc, s;
    const char             *why;
    relay_json_error_t      err;
    relay_view_params_t     params;
    ngx_http_relay_body_t  *body;

    doc = &ctx->document;

    if (relay_json_parse(&ngx_http_relay_tape, doc, &relay_json_default_limits,
                         &err)
        != RELAY_OK)
    {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "document of relay \"%V\" withheld: line %uz, "
                      "column %uz: %s", &ctx->relay, err.line, err.column,
                      err.text ? err.text : "no memory");

        ctx->fault.offset = err.text ? (int64_t) err.offset : -1;

        return NULL;
    }

    why = ngx_http_relay_document_misplaced(ctx, policy, doc);

    if (why != NULL) {
        goto withheld;
    }

    if (ctx->decision.view == RELAY_VIEW_RESPONDER
        && relay_str_is(relay_view_policy_schema(policy), RELAY_PACKET_SCHEMA))
    {
        switch (ngx_http_relay_packet_check(r, ctx, doc, &ngx_http_relay_tape))
        {

        case NGX_OK:
            break;

        case NGX_DECLINED:
            why = "a rule refuses it";
            goto withheld;

        default:
            why = "no memory";
            goto withheld;
        }

        if (ctx->text) {
            return ngx_http_relay_document_prompt(r, ctx, doc);
        }
    }

    params.now = ngx_http_relay_store_now(ctx);
    params.permission = ctx->decision.permission;

    why = "no memory";

    if (relay_view_project(policy, doc, &ngx_http_relay_tape,
                           ctx->decision.view, &params, &ngx_http_relay_out,
                           &why)
        != RELAY_OK)
    {
        /* names that the policy knows, and numbers: no content */

        ngx_http_relay_document_fault(r, ctx, NULL, &ngx_http_relay_tape, doc,
                                      ngx_http_relay_out.fault);

        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "document of relay \"%V\" withheld: %V%s%s, byte %L",
                      &ctx->relay, ngx_http_ngx_str(&ctx->fault.pointer),
                      ctx->fault.pointer.len ? ": " : "", why,
                      ctx->fault.offset);

        return NULL;
    }

    why = "no memory";

    body = ngx_http_relay_body_create(ngx_http_relay_out.len,
                                      r->connection->log);
    if (body == NULL) {
        goto withheld;
    }

    p = body->data;

    for (i = 0; i < ngx_http_relay_out.n; i++) {
        p = ngx_cpymem(p, ngx_http_relay_out.spans[i].data,
                       ngx_http_relay_out.spans[i].len);
    }

    body->withheld = ngx_http_relay_out.withheld;
    body->valid_until = ngx_http_relay_out.valid_until;

    body = ngx_http_relay_document_safety(r, ctx, body);

    if (body == NULL) {
        return NULL;
    }

    s.data = body->data;
    s.len = body->len;

    relay_digest(&s, body->digest);

    return body;

withheld:

    ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                  "document of relay \"%V\" withheld: %s", &ctx->relay, why);

    return NULL;
}


void
ngx_http_relay_document_fault(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx,
    const relay_str_t *rule, const relay_json_tape_t *tape,
    const relay_str_t *doc, size_t node)
{
    relay_buf_t              place;
    ngx_http_relay_fault_t  *fault;

    fault = &ctx->fault;

    if (rule != NULL) {
        fault->rule = *rule;
    }

    fault->offset = tape->nodes[node].off;

    relay_buf_init(&place, NGX_HTTP_RELAY_PLACE);

    if (relay_pointer_append(tape, doc, node, &place) == RELAY_OK) {
        relay_buf_str(&place, &fault->pointer);

        if (ngx_http_relay_store_copy(r->pool, &fault->pointer) != NGX_OK) {
            fault->pointer.len = 0;
        }
    }

    relay_buf_free(&place);
}


/* A document under another's key, or another version, is nobody's. */

static const char *
ngx_http_relay_document_misplaced(ngx_http_relay_ctx_t *ctx,
    relay_view_policy_t *policy, relay_str_t *doc)
{
    size_t      i;
    int64_t     version;
    ngx_uint_t  packet;

    packet = relay_str_is(relay_view_policy_schema(policy),
                          RELAY_PACKET_SCHEMA);

    i = packet ? relay_json_get(&ngx_http_relay_tape, doc, 0, "packet_id", 9)
               : relay_json_get(&ngx_http_relay_tape, doc, 0, "id", 2);

    if (i == 0 || !relay_json_str_is(&ngx_http_relay_tape, doc, i,
                                     (char *) ctx->relay.data, ctx->relay.len))
    {
        return "its id is not the relay's";
    }

    /* a packet is never changed: it does not say which version it is */

    if (packet) {
        return NULL;
    }

    i = relay_json_get(&ngx_http_relay_tape, doc, 0, "version", 7);

    if (i == 0
        || relay_json_int(&ngx_http_relay_tape, doc, i, &version) != RELAY_OK
        || version != ctx->decision.version)
    {
        return "its version is not the one it is stored under";
    }

    return NULL;
}


/*
 * The responder's view as text: all else is withheld, whatever it is.  The
 * prompt is what the packet's owner had it be: it is searched, never changed.
 */

static ngx_http_relay_body_t *
ngx_http_relay_document_prompt(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, relay_str_t *doc)
{
    relay_buf_t                 prompt;
    relay_str_t                 s;
    relay_quality_safety_t      found;
    ngx_http_relay_body_t      *body;
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

    relay_buf_init(&prompt, RELAY_DOCUMENT_MAX);

    body = NULL;
    ngx_memzero(&found, sizeof(relay_quality_safety_t));

    if (relay_packet_prompt(doc, &ngx_http_relay_tape, &prompt) != RELAY_OK) {
        goto failed;
    }

    relay_buf_str(&prompt, &s);

    if (rlcf->safety != NGX_HTTP_RELAY_SAFETY_OFF
        && relay_quality_safety_text(&s, NULL, &found) != RELAY_OK)
    {
        goto failed;
    }

    if (rlcf->safety == NGX_HTTP_RELAY_SAFETY_BLOCK
        && (found.kinds & RELAY_SAFETY_BLOCKED))
    {
        ctx->safety = found.kinds;
        goto done;
    }

    body = ngx_http_relay_body_create(prompt.len, r->connection->log);
    if (body == NULL) {
        goto failed;
    }

    ngx_memcpy(body->data, prompt.data, prompt.len);

    body->withheld = ngx_http_relay_tape.nodes[0].count - 1;
    body->safety = found.kinds;

    relay_digest(&s, body->digest);

    goto done;

failed:

    ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                  "document of relay \"%V\" withheld: no memory for its "
                  "prompt", &ctx->relay);

done:

    relay_buf_free(&prompt);

    return body;
}


/*
 * relay_safety: what the view says to agents rather than to a reader.  The
 * owner's view stays as it is, byte for byte.  Gives the body, or another one
 * in its place; NULL: it is not passed on, which was logged.
 */

static ngx_http_relay_body_t *
ngx_http_relay_document_safety(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, ngx_http_relay_body_t *body)
{
    relay_int_t                 rc;
    relay_buf_t                 buf, *out;
    relay_str_t                 view;
    ngx_uint_t                  i, safety;
    relay_json_error_t          err;
    ngx_http_relay_body_t      *stripped;
    relay_quality_safety_t      found;
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

    safety = rlcf->safety;

    if (safety == NGX_HTTP_RELAY_SAFETY_OFF) {
        return body;
    }

    if (ctx->decision.view == RELAY_VIEW_OWNER) {
        safety = NGX_HTTP_RELAY_SAFETY_ANNOTATE;
    }

    view.len = body->len;
    view.data = body->data;

    relay_buf_init(&buf, 2 * RELAY_DOCUMENT_MAX);

    out = (safety == NGX_HTTP_RELAY_SAFETY_STRIP) ? &buf : NULL;

    rc = relay_json_parse(&ngx_http_relay_view_tape, &view,
                          &relay_json_default_limits, &err);

    if (rc == RELAY_OK) {
        rc = relay_quality_safety(&ngx_http_relay_view_tape, &view, NULL, NULL,
                                  out, &found);
    }

    if (rc != RELAY_OK) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "document of relay \"%V\" withheld: its view cannot be "
                      "searched", &ctx->relay);
        goto withheld;
    }

    body->safety = found.kinds;

    if (found.kinds) {
        ngx_http_relay_document_found(r, ctx, &view, &found);
    }

    if (safety == NGX_HTTP_RELAY_SAFETY_BLOCK
        && (found.kinds & RELAY_SAFETY_BLOCKED))
    {
        ctx->safety = found.kinds;

        for (i = 0; !(found.kinds & RELAY_SAFETY_BLOCKED & (1u << i)); i++) {
            /* void */
        }

        ngx_http_relay_document_fault(r, ctx, NULL, &ngx_http_relay_view_tape,
                                      &view, found.node[i]);
        goto withheld;
    }

    if (found.cut) {
        stripped = ngx_http_relay_body_create(buf.len, r->connection->log);
        if (stripped == NULL) {
            goto withheld;
        }

        ngx_memcpy(stripped->data, buf.data, buf.len);

        stripped->withheld = body->withheld;
        stripped->safety = body->safety;
        stripped->valid_until = body->valid_until;

        ngx_http_relay_body_release(body);

        body = stripped;
    }

    relay_buf_free(&buf);

    return body;

withheld:

    relay_buf_free(&buf);
    ngx_http_relay_body_release(body);

    return NULL;
}


/* The log has kinds and places, never what stands there. */

static void
ngx_http_relay_document_found(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx,
    relay_str_t *view, relay_quality_safety_t *found)
{
    size_t       len;
    ngx_uint_t   i;
    relay_buf_t  name, pointer;

    relay_buf_init(&name, 256);
    relay_buf_init(&pointer, RELAY_DOCUMENT_MAX);

    for (i = 0; i < RELAY_SAFETY_KINDS; i++) {

        if (!(found->kinds & (1u << i))) {
            continue;
        }

        relay_buf_reset(&name);
        relay_buf_reset(&pointer);

        if (relay_quality_kinds(1u << i, &name) != RELAY_OK
            || relay_quality_pointer(&ngx_http_relay_view_tape, view,
                                     found->node[i], NULL, &pointer)
               != RELAY_OK)
        {
            continue;
        }

        /* an owner's own members may have any name */

        for (len = 0; len < pointer.len && len < 256; len++) {
            if (pointer.data[len] < 0x20 || pointer.data[len] >= 0x7f) {
                pointer.data[len] = '?';
            }
        }

        ngx_log_error(NGX_LOG_WARN, r->connection->log, 0,
                      "relay \"%V\", version %L: %*s at \"%*s\"",
                      &ctx->relay, ctx->decision.version, name.len, name.data,
                      len, pointer.data);
    }

    relay_buf_free(&name);
    relay_buf_free(&pointer);
}
