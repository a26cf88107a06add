
/*
 * Deny by replacement.  Of whatever a request bound to a relay would answer,
 * only two things pass: what the content handler or a refusal emits, and
 * answers that nginx made itself before the decision, cut down to status, a few
 * headers and a fixed body.  Everything else is replaced by one fixed answer.
 * It is not made by a special response, hence error_page, X-Accel-Redirect,
 * 304, 206 and the like do not lead round it.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_http_relay_module.h"


/* stands for a response that is replaced */

typedef struct {
    ngx_str_t  body;
    unsigned   sent:1;
    unsigned   done:1;
} ngx_http_relay_filter_ctx_t;


static ngx_int_t ngx_http_relay_header_filter(ngx_http_request_t *r);
static ngx_int_t ngx_http_relay_body_filter(ngx_http_request_t *r,
    ngx_chain_t *in);
static ngx_uint_t ngx_http_relay_bound(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx);
static ngx_int_t ngx_http_relay_hide_handler(ngx_http_request_t *r);
static ngx_int_t ngx_http_relay_hide(ngx_http_request_t *r);
static ngx_uint_t ngx_http_relay_own_answer(ngx_uint_t status);
static ngx_int_t ngx_http_relay_replace(ngx_http_request_t *r,
    ngx_uint_t status, relay_reason_e reason);
static ngx_int_t ngx_http_relay_strip(ngx_http_request_t *r);
static ngx_uint_t ngx_http_relay_kept_header(ngx_table_elt_t *h);
static ngx_int_t ngx_http_relay_filter_init(ngx_conf_t *cf);


static ngx_http_output_header_filter_pt  ngx_http_next_header_filter;
static ngx_http_output_body_filter_pt    ngx_http_next_body_filter;


static ngx_http_module_t  ngx_http_relay_filter_module_ctx = {
    NULL,                                  /* preconfiguration */
    ngx_http_relay_filter_init,            /* postconfiguration */

    NULL,                                  /* create main configuration */
    NULL,                                  /* init main configuration */

    NULL,                                  /* create server configuration */
    NULL,                                  /* merge server configuration */

    NULL,                                  /* create location configuration */
    NULL                                   /* merge location configuration */
};


ngx_module_t  ngx_http_relay_filter_module = {
    NGX_MODULE_V1,
    &ngx_http_relay_filter_module_ctx,     /* module context */
    NULL,                                  /* module directives */
    NGX_HTTP_MODULE,                       /* module type */
    NULL,                                  /* init master */
    NULL,                                  /* init module */
    NULL,                                  /* init process */
    NULL,                                  /* init thread */
    NULL,                                  /* exit thread */
    NULL,                                  /* exit process */
    NULL,                                  /* exit master */
    NGX_MODULE_V1_PADDING
};


/* what an answer that nginx made itself keeps */

static ngx_str_t  ngx_http_relay_kept_headers[] = {
    ngx_string("WWW-Authenticate"),
    ngx_string("Location"),
    ngx_string("Set-Cookie"),
    ngx_string("Retry-After"),
    ngx_null_string
};


static ngx_int_t
ngx_http_relay_header_filter(ngx_http_request_t *r)
{
    ngx_uint_t             status;
    ngx_http_relay_ctx_t  *ctx;

    ctx = ngx_http_relay_get_ctx(r);

    if (!ngx_http_relay_bound(r, ctx)) {
        return ngx_http_next_header_filter(r);
    }

    status = r->headers_out.status;

    if (ctx != NULL) {

        /* a filter before this one may have made another answer of ours */

        if (ctx->emitting && !r->filter_finalize) {
            ctx->emitting = 0;
            ctx->emitted = 1;

            return ngx_http_next_header_filter(r);
        }

        ctx->emitting = 0;
        ctx->emitted = 0;
    }

    if (status == NGX_HTTP_SWITCHING_PROTOCOLS) {

        /* once its header has passed, the upstream code tunnels */

        return ngx_http_filter_finalize_request(r, &ngx_http_relay_module,
                                                NGX_HTTP_BAD_GATEWAY);
    }

    if (ctx == NULL && ngx_http_relay_hide(r) != NGX_OK) {
        return NGX_ERROR;
    }

    if (ctx == NULL || ctx->outcome == NGX_HTTP_RELAY_UNDECIDED) {

        if (ngx_http_relay_own_answer(status)) {

            if (ngx_http_relay_strip(r) != NGX_OK) {
                return NGX_ERROR;
            }

            return ngx_http_relay_replace(r, status, RELAY_REASON_UNDECIDED);
        }

        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "relay replaced an answer %ui that was not decided on",
                      status);

        ngx_http_clean_header(r);

        return ngx_http_relay_replace(r, NGX_HTTP_FORBIDDEN,
                                      RELAY_REASON_INTERNAL);
    }

    if (ctx->outcome == NGX_HTTP_RELAY_ALLOWED) {

        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "relay replaced an answer %ui that was not its own",
                      status);

        ctx->outcome = NGX_HTTP_RELAY_DENIED;
        ctx->decision.verdict = RELAY_VERDICT_DENY;
        ctx->decision.reason = RELAY_REASON_INTERNAL;

        if (status < NGX_HTTP_BAD_REQUEST
            || !ngx_http_relay_own_answer(status)
            || r->upstream != NULL)
        {
            status = NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        ctx->decision.status = status;
    }

    ngx_http_clean_header(r);

    if (ngx_http_relay_denial_headers(r, ctx->decision.status,
                                      ctx->decision.reason)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_relay_replace(r, ctx->decision.status,
                                  ctx->decision.reason);
}


/*
 * A location with an enforced link, or a request that has been through one: it
 * stays bound wherever an internal redirect takes it.
 */

static ngx_uint_t
ngx_http_relay_bound(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx)
{
    ngx_http_relay_loc_conf_t  *rlcf;

    if (ctx != NULL && !ctx->dry_run) {
        return 1;
    }

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

    return rlcf->link != NULL && !rlcf->dry_run;
}


/*
 * Runs before the access log: what relay_dry_run has left for a backend to see,
 * and requests that end before PREACCESS without an answer, as "return 444".
 */

static ngx_int_t
ngx_http_relay_hide_handler(ngx_http_request_t *r)
{
    ngx_http_relay_ctx_t       *ctx;
    ngx_http_relay_loc_conf_t  *rlcf;

    ctx = ngx_http_relay_get_ctx(r);

    if (ctx != NULL) {

        if (ctx->dry_run) {
            ngx_http_relay_redact_uri(r, &ctx->token);
        }

        return NGX_OK;
    }

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

    if (rlcf->link == NULL
        || ngx_http_get_module_ctx(r, ngx_http_relay_filter_module) != NULL)
    {
        return NGX_OK;
    }

    return ngx_http_relay_hide(r);
}


/* The token of a request without a state. */

static ngx_int_t
ngx_http_relay_hide(ngx_http_request_t *r)
{
    ngx_str_t                   value, token;
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

    if (ngx_http_complex_value(r, rlcf->link, &value) != NGX_OK) {
        return NGX_ERROR;
    }

    token.len = value.len;
    token.data = ngx_pnalloc(r->pool, value.len + 1);

    if (token.data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(token.data, value.data, value.len);

    ngx_http_relay_redact(r, &token);

    if (rlcf->dry_run) {
        ngx_http_relay_redact_uri(r, &token);
    }

    ngx_explicit_memzero(token.data, token.len);

    return NGX_OK;
}


/*
 * Errors and redirects.  The three that are told of a document's validators or
 * length are made of that document.
 */

static ngx_uint_t
ngx_http_relay_own_answer(ngx_uint_t status)
{
    switch (status) {

    case NGX_HTTP_NOT_MODIFIED:
    case NGX_HTTP_PRECONDITION_FAILED:
    case NGX_HTTP_RANGE_NOT_SATISFIABLE:
        return 0;

    default:
        return status >= NGX_HTTP_SPECIAL_RESPONSE;
    }
}


static ngx_int_t
ngx_http_relay_replace(ngx_http_request_t *r, ngx_uint_t status,
    relay_reason_e reason)
{
    ngx_str_t                     type;
    ngx_http_relay_filter_ctx_t  *fctx;

    fctx = ngx_pcalloc(r->pool, sizeof(ngx_http_relay_filter_ctx_t));
    if (fctx == NULL) {
        return NGX_ERROR;
    }

    ngx_http_relay_denial_body(r, status, reason, &type, &fctx->body);

    ngx_http_set_ctx(r, fctx, ngx_http_relay_filter_module);

    r->headers_out.status = status;
    r->headers_out.content_type = type;
    r->headers_out.content_type_len = type.len;
    r->headers_out.content_length_n = fctx->body.len;

    if (ngx_http_relay_answer_headers(r) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_next_header_filter(r);
}


/* Empties the header, but for what an answer of nginx itself keeps. */

static ngx_int_t
ngx_http_relay_strip(ngx_http_request_t *r)
{
    ngx_uint_t        i;
    ngx_array_t       kept;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h, *k;

    if (ngx_array_init(&kept, r->pool, 4, sizeof(ngx_table_elt_t)) != NGX_OK) {
        return NGX_ERROR;
    }

    for (part = &r->headers_out.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {

            if (!ngx_http_relay_kept_header(&h[i])) {
                continue;
            }

            k = ngx_array_push(&kept);
            if (k == NULL) {
                return NGX_ERROR;
            }

            *k = h[i];
        }
    }

    ngx_http_clean_header(r);

    k = kept.elts;

    for (i = 0; i < kept.nelts; i++) {
        h = ngx_list_push(&r->headers_out.headers);
        if (h == NULL) {
            return NGX_ERROR;
        }

        *h = k[i];
        ngx_http_relay_header_end(h);

        /* nginx makes an absolute URL of the one that it knows */

        if (h->key.len == sizeof("Location") - 1) {
            r->headers_out.location = h;
        }
    }

    return NGX_OK;
}


static ngx_uint_t
ngx_http_relay_kept_header(ngx_table_elt_t *h)
{
    ngx_str_t  *name;

    if (h->hash == 0) {
        return 0;
    }

    for (name = ngx_http_relay_kept_headers; name->len; name++) {

        if (h->key.len == name->len
            && ngx_strncasecmp(h->key.data, name->data, name->len) == 0)
        {
            return 1;
        }
    }

    return 0;
}


static ngx_int_t
ngx_http_relay_body_filter(ngx_http_request_t *r, ngx_chain_t *in)
{
    size_t                        len;
    ngx_buf_t                    *b;
    ngx_uint_t                    last;
    ngx_chain_t                   out;
    ngx_http_relay_ctx_t         *ctx;
    ngx_http_relay_filter_ctx_t  *fctx;

    if (ngx_http_relay_jwks_body_filter(r, in) == NGX_OK) {
        return NGX_OK;
    }

    fctx = ngx_http_get_module_ctx(r, ngx_http_relay_filter_module);

    if (fctx == NULL) {
        ctx = ngx_http_relay_get_ctx(r);

        if (!ngx_http_relay_bound(r, ctx) || (ctx != NULL && ctx->emitted)) {
            return ngx_http_next_body_filter(r, in);
        }

        /* a body whose header was not seen: nothing of it goes out */

        fctx = ngx_pcalloc(r->pool, sizeof(ngx_http_relay_filter_ctx_t));
        if (fctx == NULL) {
            return NGX_ERROR;
        }

        ngx_http_set_ctx(r, fctx, ngx_http_relay_filter_module);
    }

    last = 0;

    for ( /* void */ ; in; in = in->next) {
        b = in->buf;

        /* slices of a main request end with last_in_chain, too */

        if (b->last_buf || (b->last_in_chain && r != r->main)) {
            last = 1;
        }

        b->pos = b->last;

        if (b->in_file) {
            b->file_pos = b->file_last;
        }
    }

    /* the body goes out at once, its end with that of what it replaces */

    len = (fctx->sent || r->header_only) ? 0 : fctx->body.len;

    if (fctx->done || (len == 0 && !last)) {
        return ngx_http_next_body_filter(r, NULL);
    }

    b = ngx_calloc_buf(r->pool);
    if (b == NULL) {
        return NGX_ERROR;
    }

    if (len) {
        b->pos = fctx->body.data;
        b->last = fctx->body.data + len;
        b->memory = 1;
        b->flush = 1;

        fctx->sent = 1;
    }

    if (last) {
        b->last_buf = (r == r->main) ? 1 : 0;
        b->last_in_chain = 1;

        /* an upstream's trailers come after its header */

        r->headers_out.trailers.part.nelts = 0;
        r->headers_out.trailers.part.next = NULL;
        r->headers_out.trailers.last = &r->headers_out.trailers.part;

        fctx->done = 1;
    }

    out.buf = b;
    out.next = NULL;

    return ngx_http_next_body_filter(r, &out);
}


static ngx_int_t
ngx_http_relay_filter_init(ngx_conf_t *cf)
{
    ngx_array_t                 *a;
    ngx_http_handler_pt         *h;
    ngx_http_core_main_conf_t   *cmcf;
    ngx_http_relay_main_conf_t  *rmcf;

    rmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_relay_module);

    if (!rmcf->enabled) {
        return NGX_OK;
    }

    /* handlers of the log phase run first registered first */

    cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);

    a = &cmcf->phases[NGX_HTTP_LOG_PHASE].handlers;

    if (ngx_array_push(a) == NULL) {
        return NGX_ERROR;
    }

    h = a->elts;

    ngx_memmove(h + 1, h, (a->nelts - 1) * sizeof(ngx_http_handler_pt));

    *h = ngx_http_relay_hide_handler;

    ngx_http_next_header_filter = ngx_http_top_header_filter;
    ngx_http_top_header_filter = ngx_http_relay_header_filter;

    ngx_http_next_body_filter = ngx_http_top_body_filter;
    ngx_http_top_body_filter = ngx_http_relay_body_filter;

    return NGX_OK;
}
