
/*
 * Deny by replacement.  Whatever a location with relay_link would answer, only
 * two things leave it: what the content handler or a denial emitted, and
 * answers that nginx made before the decision, stripped to their status, the
 * headers that a client needs and a fixed body.  Everything else is replaced
 * by one fixed answer, with no special response, so that error_page,
 * X-Accel-Redirect, 304, 206 and the like do not walk round it.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_http_relay_module.h"


typedef struct {
    ngx_str_t  body;
    unsigned   replace:1;
    unsigned   sent:1;
} ngx_http_relay_filter_ctx_t;


static ngx_int_t ngx_http_relay_header_filter(ngx_http_request_t *r);
static ngx_int_t ngx_http_relay_body_filter(ngx_http_request_t *r,
    ngx_chain_t *in);
static ngx_int_t ngx_http_relay_replace(ngx_http_request_t *r,
    ngx_http_relay_filter_ctx_t *fctx, ngx_uint_t status,
    relay_reason_e reason);
static void ngx_http_relay_strip_headers(ngx_http_request_t *r);
static ngx_uint_t ngx_http_relay_keeps(ngx_table_elt_t *h);
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


/* what an answer that nginx made itself may keep */

static ngx_str_t  ngx_http_relay_kept[] = {
    ngx_string("WWW-Authenticate"),
    ngx_string("Location"),
    ngx_string("Set-Cookie"),
    ngx_string("Retry-After"),
    ngx_null_string
};


static ngx_int_t
ngx_http_relay_header_filter(ngx_http_request_t *r)
{
    ngx_uint_t                    status;
    relay_reason_e                reason;
    ngx_http_relay_ctx_t         *ctx;
    ngx_http_relay_loc_conf_t    *rlcf;
    ngx_http_relay_filter_ctx_t  *fctx;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);
    ctx = ngx_http_relay_get_ctx(r);

    if (ctx == NULL && (rlcf->link == NULL || rlcf->dry_run)) {
        return ngx_http_next_header_filter(r);
    }

    if (ctx != NULL && ctx->dry_run) {
        return ngx_http_next_header_filter(r);
    }

    if (ctx != NULL && ctx->emitting) {

        /* ours: sent by this very call */

        ctx->emitting = 0;
        ctx->emitted = 1;

        return ngx_http_next_header_filter(r);
    }

    fctx = ngx_pcalloc(r->pool, sizeof(ngx_http_relay_filter_ctx_t));
    if (fctx == NULL) {
        return NGX_ERROR;
    }

    ngx_http_set_ctx(r, fctx, ngx_http_relay_filter_module);

    status = r->headers_out.status;

    if (status == NGX_HTTP_SWITCHING_PROTOCOLS) {

        /* the upstream code would go on to tunnel */

        return ngx_http_filter_finalize_request(r, &ngx_http_relay_module,
                                                NGX_HTTP_BAD_GATEWAY);
    }

    if (ctx != NULL && ctx->outcome == NGX_HTTP_RELAY_DENIED) {
        return ngx_http_relay_replace(r, fctx, ctx->decision.status,
                                      ctx->decision.reason);
    }

    if (ctx != NULL && ctx->outcome == NGX_HTTP_RELAY_ALLOWED) {

        /* allowed, yet not what the content handler made of it */

        return ngx_http_relay_replace(r, fctx,
                                      NGX_HTTP_INTERNAL_SERVER_ERROR,
                                      RELAY_REASON_INTERNAL);
    }

    /* undecided: what nginx itself answers keeps its status */

    reason = RELAY_REASON_UNDECIDED;

    if (status < NGX_HTTP_SPECIAL_RESPONSE
        || status == NGX_HTTP_NOT_MODIFIED
        || r->upstream != NULL)
    {
        status = NGX_HTTP_FORBIDDEN;
    }

    return ngx_http_relay_replace(r, fctx, status, reason);
}


static ngx_int_t
ngx_http_relay_replace(ngx_http_request_t *r,
    ngx_http_relay_filter_ctx_t *fctx, ngx_uint_t status,
    relay_reason_e reason)
{
    ngx_str_t  type;

    ngx_http_relay_strip_headers(r);

    ngx_http_relay_denial_body(r, status, reason, &type, &fctx->body);

    fctx->replace = 1;

    r->headers_out.status = status;
    r->headers_out.status_line.len = 0;
    r->headers_out.content_type = type;
    r->headers_out.content_type_len = type.len;
    r->headers_out.content_type_lowcase = NULL;
    r->headers_out.charset.len = 0;
    r->headers_out.content_length_n = fctx->body.len;
    r->headers_out.last_modified_time = -1;

    r->allow_ranges = 0;
    r->chunked = 0;
    r->expect_trailers = 0;
    r->disable_not_modified = 1;
    r->main_filter_need_in_memory = 1;

    if (ngx_http_relay_answer_headers(r) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_next_header_filter(r);
}


static void
ngx_http_relay_strip_headers(ngx_http_request_t *r)
{
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    part = &r->headers_out.headers.part;

    while (part != NULL) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {
            if (!ngx_http_relay_keeps(&h[i])) {
                h[i].hash = 0;
            }
        }

        part = part->next;
    }

    r->headers_out.server = NULL;
    r->headers_out.date = NULL;
    r->headers_out.content_length = NULL;
    r->headers_out.content_encoding = NULL;
    r->headers_out.refresh = NULL;
    r->headers_out.last_modified = NULL;
    r->headers_out.content_range = NULL;
    r->headers_out.accept_ranges = NULL;
    r->headers_out.expires = NULL;
    r->headers_out.etag = NULL;

    ngx_memzero(&r->headers_out.trailers.part.nelts, sizeof(ngx_uint_t));

    if (r->headers_out.location != NULL
        && r->headers_out.location->hash == 0)
    {
        r->headers_out.location = NULL;
    }
}


static ngx_uint_t
ngx_http_relay_keeps(ngx_table_elt_t *h)
{
    ngx_uint_t  i;

    for (i = 0; ngx_http_relay_kept[i].len; i++) {
        if (h->key.len == ngx_http_relay_kept[i].len
            && ngx_strncasecmp(h->key.data, ngx_http_relay_kept[i].data,
                               h->key.len)
               == 0)
        {
            return 1;
        }
    }

    return 0;
}


static ngx_int_t
ngx_http_relay_body_filter(ngx_http_request_t *r, ngx_chain_t *in)
{
    ngx_buf_t                    *b;
    ngx_uint_t                    last;
    ngx_chain_t                   out;
    ngx_http_relay_filter_ctx_t  *fctx;

    fctx = ngx_http_get_module_ctx(r, ngx_http_relay_filter_module);

    if (fctx == NULL || !fctx->replace) {
        return ngx_http_next_body_filter(r, in);
    }

    last = 0;

    for ( /* void */ ; in; in = in->next) {

        b = in->buf;

        last |= b->last_buf || b->last_in_chain;

        b->pos = b->last;

        if (b->in_file) {
            b->file_pos = b->file_last;
        }
    }

    if (!last || fctx->sent) {
        return ngx_http_next_body_filter(r, NULL);
    }

    fctx->sent = 1;

    b = ngx_calloc_buf(r->pool);
    if (b == NULL) {
        return NGX_ERROR;
    }

    if (fctx->body.len && !r->header_only) {
        b->pos = fctx->body.data;
        b->last = fctx->body.data + fctx->body.len;
        b->memory = 1;
    }

    b->last_buf = (r == r->main) ? 1 : 0;
    b->last_in_chain = 1;

    out.buf = b;
    out.next = NULL;

    return ngx_http_next_body_filter(r, &out);
}


static ngx_int_t
ngx_http_relay_filter_init(ngx_conf_t *cf)
{
    ngx_http_next_header_filter = ngx_http_top_header_filter;
    ngx_http_top_header_filter = ngx_http_relay_header_filter;

    ngx_http_next_body_filter = ngx_http_top_body_filter;
    ngx_http_top_body_filter = ngx_http_relay_body_filter;

    return NGX_OK;
}
