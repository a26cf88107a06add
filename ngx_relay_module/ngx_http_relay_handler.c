
/*
 * The gate.  PREACCESS takes the link token out of everything that a log could
 * print and opens the state as undecided; PRECONTENT asks the store, decides
 * and records; LOG says what was not delivered.  A request becomes "allowed" in
 * ngx_http_relay_allow() alone.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_http_relay_module.h"


#define NGX_HTTP_RELAY_ROUNDS    3      /* look-ups that one read may need */
#define NGX_HTTP_RELAY_BODY_MAX  1024   /* of {"version": n} */


static ngx_http_relay_ctx_t *ngx_http_relay_open(ngx_http_request_t *r,
    ngx_http_relay_loc_conf_t *rlcf);
static ngx_uint_t ngx_http_relay_same_conf(ngx_http_relay_loc_conf_t *a,
    ngx_http_relay_loc_conf_t *b);
static ngx_int_t ngx_http_relay_start(ngx_http_request_t *r,
    ngx_http_relay_loc_conf_t *rlcf, ngx_http_relay_ctx_t *ctx);
static ngx_int_t ngx_http_relay_read_body(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx);
static void ngx_http_relay_body_handler(ngx_http_request_t *r);
static ngx_int_t ngx_http_relay_parse_body(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx);
static ngx_int_t ngx_http_relay_lookup(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, ngx_uint_t fresh);
static ngx_int_t ngx_http_relay_decide(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx);
static ngx_int_t ngx_http_relay_accepted(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx);
static ngx_int_t ngx_http_relay_view(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx);
static ngx_int_t ngx_http_relay_served(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx);
static ngx_int_t ngx_http_relay_wait(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, ngx_http_relay_state_e state);
static ngx_int_t ngx_http_relay_allow(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx);
static ngx_int_t ngx_http_relay_refuse(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, relay_reason_e reason);
static ngx_int_t ngx_http_relay_deny(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx);


ngx_int_t
ngx_http_relay_preaccess_handler(ngx_http_request_t *r)
{
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

    if (rlcf->link == NULL || ngx_http_relay_get_ctx(r) != NULL) {
        return NGX_DECLINED;
    }

    if (ngx_http_relay_open(r, rlcf) == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return NGX_DECLINED;
}


static ngx_http_relay_ctx_t *
ngx_http_relay_open(ngx_http_request_t *r, ngx_http_relay_loc_conf_t *rlcf)
{
    ngx_str_t              token;
    ngx_http_relay_ctx_t  *ctx;

    ctx = ngx_http_relay_create_ctx(r);
    if (ctx == NULL) {
        return NULL;
    }

    ctx->request = r;
    ctx->dry_run = rlcf->dry_run;

    if (ngx_http_complex_value(r, rlcf->link, &token) != NGX_OK) {
        return NULL;
    }

    if (token.len) {
        ctx->token.data = ngx_pstrdup(r->pool, &token);
        if (ctx->token.data == NULL) {
            return NULL;
        }

        ctx->token.len = token.len;
    }

    ngx_http_relay_redact(r, &ctx->token);

    relay_digest(ngx_http_relay_str(&ctx->token), ctx->link);

    return ctx;
}


ngx_int_t
ngx_http_relay_precontent_handler(ngx_http_request_t *r)
{
    ngx_http_relay_ctx_t       *ctx;
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

    if (rlcf->link == NULL) {
        return NGX_DECLINED;
    }

    ctx = ngx_http_relay_get_ctx(r);

    if (ctx == NULL) {
        ctx = ngx_http_relay_open(r, rlcf);
        if (ctx == NULL) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    if (ctx->waiting) {

        /*
         * A body that could not be read has come back as an error page's
         * request: nobody else will wake it.
         */

        if (ctx->state != NGX_HTTP_RELAY_BODY) {
            return NGX_AGAIN;
        }

        ctx->waiting = 0;

        return ngx_http_relay_refuse(r, ctx, RELAY_REASON_BAD_REQUEST);
    }

    switch (ctx->state) {

    case NGX_HTTP_RELAY_START:
        return ngx_http_relay_start(r, rlcf, ctx);

    case NGX_HTTP_RELAY_BODY:
        return ngx_http_relay_parse_body(r, ctx);

    case NGX_HTTP_RELAY_LOOKUP:
        return ngx_http_relay_decide(r, ctx);

    case NGX_HTTP_RELAY_ACCEPTING:
        return ngx_http_relay_accepted(r, ctx);

    case NGX_HTTP_RELAY_DOCUMENT:
        return ngx_http_relay_view(r, ctx);

    case NGX_HTTP_RELAY_SERVING:
        return ngx_http_relay_served(r, ctx);

    default: /* NGX_HTTP_RELAY_DONE */

        /* an internal redirect brings a decided request back */

        if (ctx->outcome == NGX_HTTP_RELAY_ALLOWED
            && !ngx_http_relay_same_conf(rlcf, ctx->conf))
        {
            ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                          "relay allowed in one location was redirected to "
                          "another that has other relay directives");

            return ngx_http_relay_refuse(r, ctx, RELAY_REASON_INTERNAL);
        }

        if (ctx->outcome == NGX_HTTP_RELAY_ALLOWED || ctx->dry_run) {
            return NGX_DECLINED;
        }

        return ngx_http_relay_send_denial(r, ctx);
    }
}


/* Whether what was decided in one location is what another would decide on. */

static ngx_uint_t
ngx_http_relay_same_conf(ngx_http_relay_loc_conf_t *a,
    ngx_http_relay_loc_conf_t *b)
{
    return a == b
           || (b != NULL
               && a->link == b->link
               && a->redis == b->redis
               && relay_str_eq(ngx_http_relay_str(&a->prefix),
                               ngx_http_relay_str(&b->prefix))
               && a->jwt == b->jwt
               && a->vouched == b->vouched
               && a->packet == b->packet
               && a->accept == b->accept
               && a->anyone_view == b->anyone_view
               && a->view == b->view
               && a->safety == b->safety
               && a->bind_subject == b->bind_subject
               && a->conceal == b->conceal);
}


static ngx_int_t
ngx_http_relay_start(ngx_http_request_t *r, ngx_http_relay_loc_conf_t *rlcf,
    ngx_http_relay_ctx_t *ctx)
{
    ngx_int_t       rc;
    ngx_str_t      *type;
    relay_reason_e  reason;

    ctx->conf = rlcf;

    if (ngx_http_relay_sanitize(r) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (relay_link_parse(ngx_http_relay_str(&ctx->token)) != RELAY_OK) {
        return ngx_http_relay_refuse(r, ctx, RELAY_REASON_UNKNOWN_LINK);
    }

    if (!(r->method & (NGX_HTTP_GET|NGX_HTTP_HEAD|NGX_HTTP_POST))) {
        return ngx_http_relay_refuse(r, ctx, RELAY_REASON_METHOD);
    }

    rc = ngx_http_relay_identify(r, rlcf, &ctx->identity, &ctx->identity_why);

    if (rc == NGX_ERROR) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (rc == NGX_AGAIN) {
        return ngx_http_relay_wait(r, ctx, NGX_HTTP_RELAY_START);
    }

    if (rc == NGX_BUSY) {
        return ngx_http_relay_refuse(r, ctx, RELAY_REASON_KEYS_UNAVAILABLE);
    }

    if (rc == NGX_ABORT) {
        return ngx_http_relay_refuse(r, ctx, RELAY_REASON_BAD_TOKEN);
    }

    if (rc != NGX_OK) {
        return ngx_http_relay_refuse(r, ctx, RELAY_REASON_SIGN_IN);
    }

    ctx->has_identity = 1;

    reason = ngx_http_relay_request_check(r, ctx->identity.ambient);

    if (reason != RELAY_REASON_UNDECIDED) {
        return ngx_http_relay_refuse(r, ctx, reason);
    }

    if (r->method != NGX_HTTP_POST) {
        return ngx_http_relay_lookup(r, ctx, ctx->dry_run);
    }

    /* a POST accepts; only JSON, which no form of another site can send */

    type = ngx_http_relay_header_in(r, "content-type");

    if (type == NULL
        || type->len < sizeof("application/json") - 1
        || ngx_strncasecmp(type->data, (u_char *) "application/json",
                           sizeof("application/json") - 1)
           != 0
        || (type->len > sizeof("application/json") - 1
            && type->data[sizeof("application/json") - 1] != ';'
            && type->data[sizeof("application/json") - 1] != ' '))
    {
        return ngx_http_relay_refuse(r, ctx, RELAY_REASON_MEDIA_TYPE);
    }

    ctx->act = RELAY_ACT_ACCEPT;

    return ngx_http_relay_read_body(r, ctx);
}


static ngx_int_t
ngx_http_relay_read_body(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx)
{
    ngx_int_t  rc;

    if (r->headers_in.content_length_n > NGX_HTTP_RELAY_BODY_MAX) {
        return ngx_http_relay_refuse(r, ctx, RELAY_REASON_BAD_REQUEST);
    }

    ctx->state = NGX_HTTP_RELAY_BODY;
    ctx->waiting = 1;

    r->request_body_in_single_buf = 1;
    r->request_body_in_file_only = 0;

    rc = ngx_http_read_client_request_body(r, ngx_http_relay_body_handler);

    if (rc >= NGX_HTTP_SPECIAL_RESPONSE) {
        ctx->waiting = 0;
        return rc;
    }

    ngx_http_finalize_request(r, NGX_DONE);

    return NGX_DONE;
}


static void
ngx_http_relay_body_handler(ngx_http_request_t *r)
{
    ngx_http_relay_ctx_t  *ctx;

    ctx = ngx_http_relay_get_ctx(r);

    if (ctx != NULL) {
        ctx->waiting = 0;
    }

    r->preserve_body = 1;
    r->write_event_handler = ngx_http_core_run_phases;

    ngx_http_core_run_phases(r);
}


static ngx_int_t
ngx_http_relay_parse_body(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx)
{
    size_t               i, len;
    u_char               buf[NGX_HTTP_RELAY_BODY_MAX];
    ngx_buf_t           *b;
    ngx_chain_t         *cl;
    relay_int_t          rc;
    relay_str_t          text;
    relay_json_tape_t    tape;
    relay_json_error_t   err;
    relay_json_limits_t  limits;

    if (r->request_body == NULL) {
        return ngx_http_relay_refuse(r, ctx, RELAY_REASON_BAD_REQUEST);
    }

    text.data = buf;
    text.len = 0;

    for (cl = r->request_body->bufs; cl; cl = cl->next) {

        b = cl->buf;
        len = b->last - b->pos;

        if (b->in_file || len > sizeof(buf) - text.len) {
            return ngx_http_relay_refuse(r, ctx, RELAY_REASON_BAD_REQUEST);
        }

        if (len) {
            ngx_memcpy(buf + text.len, b->pos, len);
            text.len += len;
        }
    }

    limits = relay_json_default_limits;
    limits.bytes = NGX_HTTP_RELAY_BODY_MAX;
    limits.depth = 1;

    relay_json_tape_init(&tape);

    rc = relay_json_parse(&tape, &text, &limits, &err);

    if (rc == RELAY_OK) {
        rc = RELAY_DECLINED;

        if (tape.nodes[0].type == RELAY_JSON_OBJECT
            && tape.nodes[0].count == 1)
        {
            i = relay_json_get(&tape, &text, 0, "version",
                               sizeof("version") - 1);

            if (i != 0) {
                rc = relay_json_int(&tape, &text, i, &ctx->accept_version);
            }
        }
    }

    relay_json_tape_free(&tape);

    if (rc != RELAY_OK) {
        return ngx_http_relay_refuse(r, ctx, RELAY_REASON_BAD_REQUEST);
    }

    return ngx_http_relay_lookup(r, ctx, 1);
}


/*
 * A read may start from what this process remembers, since serve.lua judges it;
 * whatever else is decided, is decided on records read afresh.
 */

static ngx_int_t
ngx_http_relay_lookup(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx,
    ngx_uint_t fresh)
{
    ngx_int_t  rc;

    if (fresh
        && ctx->rounds++ >= (ngx_uint_t) NGX_HTTP_RELAY_ROUNDS + ctx->accepted)
    {
        ngx_log_error(NGX_LOG_WARN, r->connection->log, 0,
                      "relay records changed %ui times under one read",
                      ctx->rounds - 1);

        return ngx_http_relay_refuse(r, ctx, RELAY_REASON_STORE_UNAVAILABLE);
    }

    ngx_http_relay_body_release(ctx->body);

    ctx->body = NULL;
    ctx->document_asked = 0;
    ctx->document.len = 0;
    ctx->safety = 0;
    ctx->text = 0;

    ngx_memzero(&ctx->fault, sizeof(ngx_http_relay_fault_t));
    ctx->fault.offset = -1;
    ctx->view_key.len = 0;

    ctx->failed = 0;

    rc = ngx_http_relay_records_lookup(r, ctx, fresh);

    if (rc == NGX_OK) {
        return ngx_http_relay_decide(r, ctx);
    }

    if (rc != NGX_AGAIN) {
        return ngx_http_relay_refuse(r, ctx, RELAY_REASON_STORE_UNAVAILABLE);
    }

    return ngx_http_relay_wait(r, ctx, NGX_HTTP_RELAY_LOOKUP);
}


static ngx_int_t
ngx_http_relay_decide(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx)
{
    ngx_int_t            rc;
    relay_grant_input_t  in;

    rc = ngx_http_relay_records_input(r, ctx, &in);

    if (rc == NGX_DECLINED) {
        return ngx_http_relay_refuse(r, ctx, RELAY_REASON_BAD_RECORD);
    }

    relay_grant_decide(&in, &ctx->decision);

    if (ctx->remembered && !ctx->failed
        && ctx->decision.verdict != RELAY_VERDICT_ALLOW)
    {
        return ngx_http_relay_lookup(r, ctx, 1);
    }

    if (ctx->dry_run && ctx->decision.verdict != RELAY_VERDICT_DENY) {

        /* neither a grant nor a receipt is made */

        return ngx_http_relay_allow(r, ctx);
    }

    switch (ctx->decision.verdict) {

    case RELAY_VERDICT_ALLOW:

        if (ctx->accepted && ctx->decision.reason == RELAY_REASON_SERVED) {
            ctx->decision.reason = RELAY_REASON_ACCEPTED;
        }

        return ngx_http_relay_view(r, ctx);

    case RELAY_VERDICT_ACCEPT:

        if (ctx->accepted) {
            /* made, yet not there: somebody else's writes are at work */
            return ngx_http_relay_refuse(r, ctx,
                                         RELAY_REASON_STORE_UNAVAILABLE);
        }

        if (ngx_http_relay_store_accept(r, ctx) != NGX_AGAIN) {
            return ngx_http_relay_refuse(r, ctx,
                                         RELAY_REASON_RECEIPT_UNAVAILABLE);
        }

        return ngx_http_relay_wait(r, ctx, NGX_HTTP_RELAY_ACCEPTING);

    default: /* RELAY_VERDICT_DENY */
        return ngx_http_relay_deny(r, ctx);
    }
}


static ngx_int_t
ngx_http_relay_accepted(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx)
{
    if (ctx->failed) {
        return ngx_http_relay_refuse(r, ctx, RELAY_REASON_RECEIPT_UNAVAILABLE);
    }

    if (relay_str_is(&ctx->word, "ok")) {
        ctx->accepted = 1;
    }

    /* "exists", "stale", "expired": decided afresh on what is there now */

    return ngx_http_relay_lookup(r, ctx, 1);
}


static ngx_int_t
ngx_http_relay_view(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx)
{
    ngx_int_t  rc;

    if (ctx->failed) {
        return ngx_http_relay_refuse(r, ctx, RELAY_REASON_STORE_UNAVAILABLE);
    }

    rc = ngx_http_relay_document_view(r, ctx);

    if (rc == NGX_AGAIN) {
        return ngx_http_relay_wait(r, ctx, NGX_HTTP_RELAY_DOCUMENT);
    }

    /* there may be another version since */

    if (rc == NGX_DECLINED && ctx->remembered) {
        return ngx_http_relay_lookup(r, ctx, 1);
    }

    if (rc == NGX_DECLINED) {
        return ngx_http_relay_refuse(r, ctx,
                                     ctx->safety ? RELAY_REASON_SAFETY
                                                 : RELAY_REASON_WITHHELD);
    }

    if (rc != NGX_OK) {
        return ngx_http_relay_refuse(r, ctx, RELAY_REASON_STORE_UNAVAILABLE);
    }

    if (ngx_http_relay_store_serve(r, ctx) != NGX_AGAIN) {
        return ngx_http_relay_refuse(r, ctx, RELAY_REASON_RECEIPT_UNAVAILABLE);
    }

    return ngx_http_relay_wait(r, ctx, NGX_HTTP_RELAY_SERVING);
}


static ngx_int_t
ngx_http_relay_served(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx)
{
    ngx_http_relay_main_conf_t  *rmcf;

    if (ctx->failed) {
        return ngx_http_relay_refuse(r, ctx, RELAY_REASON_RECEIPT_UNAVAILABLE);
    }

    rmcf = ngx_http_get_module_main_conf(r, ngx_http_relay_module);

    if (relay_str_is(&ctx->word, "ok")) {
        ctx->recorded = 1;

        if (ctx->remembered) {
            ngx_http_relay_count(rmcf, NGX_HTTP_RELAY_EVENT_REMEMBERED);
        }

        ngx_http_relay_records_remember(ctx);
        ngx_http_relay_document_keep(r, ctx);

        return ngx_http_relay_allow(r, ctx);
    }

    /* "stale", "expired": decided afresh on what is there now */

    ngx_http_relay_count(rmcf, NGX_HTTP_RELAY_EVENT_STALE);

    return ngx_http_relay_lookup(r, ctx, 1);
}


/*
 * Suspends the request.  A client that goes away is noticed meanwhile, unless
 * others wait for the keys that this request fetches; the timer of the command
 * or fetch, which is not cancelable, keeps a worker that shuts down until the
 * answer or the deadline is there.
 */

static ngx_int_t
ngx_http_relay_wait(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx,
    ngx_http_relay_state_e state)
{
    ctx->state = state;
    ctx->waiting = 1;

    r->write_event_handler = ngx_http_core_run_phases;

    if (r == r->main && ctx->fetch == NULL
        && r->headers_in.content_length_n <= 0
        && !r->headers_in.chunked)
    {
        r->read_event_handler = ngx_http_test_reading;

        if (r->connection->read->ready) {
            ngx_post_event(r->connection->read, &ngx_posted_events);

        } else if (ngx_handle_read_event(r->connection->read, 0) != NGX_OK) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    return NGX_AGAIN;
}


void
ngx_http_relay_resume(ngx_http_relay_ctx_t *ctx)
{
    ngx_connection_t    *c;
    ngx_http_request_t  *r;

    r = ctx->request;
    c = r->connection;

    ctx->waiting = 0;

    if (ngx_http_post_request(r, NULL) != NGX_OK) {
        ngx_http_finalize_request(r, NGX_ERROR);
    }

    ngx_http_run_posted_requests(c);
}


static ngx_int_t
ngx_http_relay_allow(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx)
{
    ctx->state = NGX_HTTP_RELAY_DONE;
    ctx->outcome = NGX_HTTP_RELAY_ALLOWED;
    ctx->allowed = ngx_http_relay_monotonic();

    ngx_http_relay_count_decision(r, ctx);

    r->read_event_handler = ngx_http_block_reading;

    ngx_log_debug2(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "relay allowed: \"%V\" receipt \"%V\"",
                   relay_reason_name(ctx->decision.reason), &ctx->receipt);

    return NGX_DECLINED;
}


/* A refusal that is not relay_grant_decide()'s. */

static ngx_int_t
ngx_http_relay_refuse(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx,
    relay_reason_e reason)
{
    ctx->decision.verdict = RELAY_VERDICT_DENY;
    ctx->decision.reason = reason;
    ctx->decision.status = relay_reason_status(reason);

    return ngx_http_relay_deny(r, ctx);
}


static ngx_int_t
ngx_http_relay_deny(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx)
{
    ngx_uint_t                  level;
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

    ctx->state = NGX_HTTP_RELAY_DONE;
    ctx->outcome = NGX_HTTP_RELAY_DENIED;

    ngx_http_relay_count_decision(r, ctx);

    switch (ctx->decision.reason) {

    case RELAY_REASON_KEYS_UNAVAILABLE:
    case RELAY_REASON_STORE_UNAVAILABLE:
    case RELAY_REASON_RECEIPT_UNAVAILABLE:
    case RELAY_REASON_BAD_RECORD:
    case RELAY_REASON_WITHHELD:
    case RELAY_REASON_SAFETY:
    case RELAY_REASON_INTERNAL:
        level = NGX_LOG_ERR;
        break;

    default:
        level = NGX_LOG_INFO;
    }

    ngx_log_error(level, r->connection->log, 0,
                  "relay %s: %V%s%s, link \"%*s\"",
                  ctx->dry_run ? "would deny" : "denied",
                  relay_reason_name(ctx->decision.reason),
                  ctx->identity_why ? ": " : "",
                  ctx->identity_why ? ctx->identity_why : "",
                  (size_t) 12, ctx->link);

    if (ctx->dry_run) {
        r->read_event_handler = ngx_http_block_reading;
        return NGX_DECLINED;
    }

    if (ctx->decision.known && rlcf->receipts == NGX_HTTP_RELAY_RECEIPTS_ALL) {
        ngx_http_relay_receipt_denial(r, ctx);
    }

    return ngx_http_relay_send_denial(r, ctx);
}


ngx_int_t
ngx_http_relay_log_handler(ngx_http_request_t *r)
{
    off_t                  sent;
    ngx_http_relay_ctx_t  *ctx;

    ctx = ngx_http_relay_get_ctx(r);

    if (ctx == NULL || !ctx->recorded || ctx->logged) {
        return NGX_OK;
    }

    ctx->logged = 1;

    sent = r->connection->sent - (off_t) r->header_size;

    if (!ctx->emitted
        || ctx->outcome != NGX_HTTP_RELAY_ALLOWED
        || r->connection->error
        || r->connection->sent == 0
        || (r->method != NGX_HTTP_HEAD && ctx->body != NULL
            && sent < (off_t) ctx->body->len))
    {
        ngx_http_relay_count(ngx_http_get_module_main_conf(r,
                                                       ngx_http_relay_module),
                             NGX_HTTP_RELAY_EVENT_UNDELIVERED);

        ngx_http_relay_receipt_undelivered(r, ctx);
    }

    return NGX_OK;
}


void
ngx_http_relay_cleanup(void *data)
{
    ngx_http_relay_ctx_t *ctx = data;

    ngx_http_relay_store_cancel(ctx);
    ngx_http_relay_body_release(ctx->body);
    ngx_http_relay_snapshot_release(ctx->snapshot);
    ngx_http_relay_jwks_cleanup(ctx);

    if (ctx->token.len) {
        ngx_explicit_memzero(ctx->token.data, ctx->token.len);
    }
}
