
/*
 * Answers: the view that was allowed, and one fixed answer for each refusal.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_http_relay_module.h"


static ngx_int_t ngx_http_relay_send(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, ngx_uint_t status, ngx_str_t *type,
    u_char *data, size_t len);
static ngx_int_t ngx_http_relay_add_header(ngx_http_request_t *r, char *name,
    size_t name_len, u_char *value, size_t value_len);
static ngx_int_t ngx_http_relay_denial_headers(ngx_http_request_t *r,
    ngx_uint_t status, relay_reason_e reason);


#define ngx_http_relay_header(r, name, value)                                 \
    ngx_http_relay_add_header(r, name, sizeof(name) - 1,                      \
                              (u_char *) value, sizeof(value) - 1)


static ngx_str_t  ngx_http_relay_json_type = ngx_string("application/json");
static ngx_str_t  ngx_http_relay_text_type =
    ngx_string("text/plain; charset=utf-8");


ngx_int_t
ngx_http_relay_content_handler(ngx_http_request_t *r)
{
    ngx_int_t              rc;
    ngx_http_relay_ctx_t  *ctx;

    ctx = ngx_http_relay_get_ctx(r);

    if (ctx == NULL
        || ctx->outcome != NGX_HTTP_RELAY_ALLOWED
        || ctx->body == NULL
        || ctx->emitted)
    {
        /* the filter replaces this by a fixed answer */
        return NGX_HTTP_FORBIDDEN;
    }

    rc = ngx_http_discard_request_body(r);

    if (rc != NGX_OK) {
        return rc;
    }

    return ngx_http_relay_send(r, ctx, NGX_HTTP_OK, &ngx_http_relay_json_type,
                               ctx->body->data, ctx->body->len);
}


/*
 * Sends a header and one buffer.  "emitting" tells the filter that the header
 * which passes now is ours.
 */

static ngx_int_t
ngx_http_relay_send(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx,
    ngx_uint_t status, ngx_str_t *type, u_char *data, size_t len)
{
    ngx_int_t     rc;
    ngx_buf_t    *b;
    ngx_chain_t   out;

    r->headers_out.status = status;
    r->headers_out.status_line.len = 0;
    r->headers_out.content_length_n = len;
    r->headers_out.content_type = *type;
    r->headers_out.content_type_len = type->len;
    r->headers_out.content_type_lowcase = NULL;

    ngx_http_clear_accept_ranges(r);
    ngx_http_clear_last_modified(r);
    ngx_http_clear_etag(r);

    r->allow_ranges = 0;
    r->disable_not_modified = 1;

    if (ngx_http_relay_answer_headers(r) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ctx->emitting = 1;

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    b = ngx_calloc_buf(r->pool);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->pos = data;
    b->last = data + len;
    b->memory = len ? 1 : 0;
    b->last_buf = (r == r->main) ? 1 : 0;
    b->last_in_chain = 1;

    out.buf = b;
    out.next = NULL;

    return ngx_http_output_filter(r, &out);
}


ngx_int_t
ngx_http_relay_send_denial(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx)
{
    ngx_int_t                   rc;
    ngx_str_t                   type, body;
    ngx_uint_t                  status;
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

    rc = ngx_http_discard_request_body(r);

    if (rc != NGX_OK) {
        return rc;
    }

    status = ctx->decision.status;

    if (status == NGX_HTTP_UNAUTHORIZED
        && rlcf->sign_in.len
        && ngx_http_relay_navigation(r))
    {
        status = NGX_HTTP_MOVED_TEMPORARILY;

        ngx_http_clear_location(r);

        r->headers_out.location = ngx_list_push(&r->headers_out.headers);
        if (r->headers_out.location == NULL) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        r->headers_out.location->hash = 1;
        ngx_http_relay_header_end(r->headers_out.location);
        ngx_str_set(&r->headers_out.location->key, "Location");
        r->headers_out.location->value = rlcf->sign_in;

    } else if (ngx_http_relay_denial_headers(r, status, ctx->decision.reason)
               != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_http_relay_denial_body(r, status, ctx->decision.reason, &type, &body);

    rc = ngx_http_relay_send(r, ctx, status, &type, body.data, body.len);

    if (rc >= NGX_HTTP_SPECIAL_RESPONSE) {
        return rc;
    }

    /* a phase handler's NGX_OK would go on to the content */

    ngx_http_finalize_request(r, rc);

    return NGX_DONE;
}


static ngx_int_t
ngx_http_relay_denial_headers(ngx_http_request_t *r, ngx_uint_t status,
    relay_reason_e reason)
{
    ngx_table_elt_t  *h;

    switch (status) {

    case NGX_HTTP_UNAUTHORIZED:

        h = ngx_list_push(&r->headers_out.headers);
        if (h == NULL) {
            return NGX_ERROR;
        }

        h->hash = 1;
        ngx_http_relay_header_end(h);
        ngx_str_set(&h->key, "WWW-Authenticate");

        if (reason == RELAY_REASON_BAD_TOKEN) {
            ngx_str_set(&h->value,
                        "Bearer realm=\"relay\", error=\"invalid_token\"");
        } else {
            ngx_str_set(&h->value, "Bearer realm=\"relay\"");
        }

        r->headers_out.www_authenticate = h;

        return NGX_OK;

    case NGX_HTTP_NOT_ALLOWED:
        return ngx_http_relay_header(r, "Allow", "GET, HEAD, POST");

    case NGX_HTTP_SERVICE_UNAVAILABLE:
        return ngx_http_relay_header(r, "Retry-After", "1");

    default:
        return NGX_OK;
    }
}


/* An empty body stands for "no memory": the status alone is sent. */

void
ngx_http_relay_denial_body(ngx_http_request_t *r, ngx_uint_t status,
    relay_reason_e reason, ngx_str_t *type, ngx_str_t *body)
{
    size_t              len;
    const relay_str_t  *word, *sentence;

    word = relay_reason_name(reason);
    sentence = relay_reason_sentence(reason);

    /* with relay_conceal: as if the link were not there */

    if (reason == RELAY_REASON_NOT_NAMED && status == NGX_HTTP_NOT_FOUND) {
        word = relay_reason_name(RELAY_REASON_UNKNOWN_LINK);
        sentence = relay_reason_sentence(RELAY_REASON_UNKNOWN_LINK);
    }

    body->len = 0;

    if (ngx_http_relay_navigation(r)) {
        *type = ngx_http_relay_text_type;

        body->data = ngx_pnalloc(r->pool, sentence->len + 1);
        if (body->data == NULL) {
            return;
        }

        body->len = ngx_sprintf(body->data, "%V\n",
                                ngx_http_ngx_str(sentence))
                    - body->data;
        return;
    }

    *type = ngx_http_relay_json_type;

    len = sizeof("{\"error\":{\"status\":,\"reason\":\"\",\"message\":\"\"}}\n")
          + NGX_INT_T_LEN + word->len + sentence->len;

    body->data = ngx_pnalloc(r->pool, len);
    if (body->data == NULL) {
        return;
    }

    body->len = ngx_sprintf(body->data,
                            "{\"error\":{\"status\":%ui,\"reason\":\"%V\","
                            "\"message\":\"%V\"}}\n",
                            status, ngx_http_ngx_str(word),
                            ngx_http_ngx_str(sentence))
                - body->data;
}


ngx_int_t
ngx_http_relay_answer_headers(ngx_http_request_t *r)
{
    if (ngx_http_relay_header(r, "Cache-Control", "private, no-store")
        != NGX_OK
        || ngx_http_relay_header(r, "Referrer-Policy", "no-referrer")
           != NGX_OK
        || ngx_http_relay_header(r, "X-Content-Type-Options", "nosniff")
           != NGX_OK
        || ngx_http_relay_header(r, "Content-Security-Policy",
                                 "default-src 'none'; frame-ancestors 'none'")
           != NGX_OK
        || ngx_http_relay_header(r, "Vary", "Authorization, Cookie")
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_relay_add_header(ngx_http_request_t *r, char *name, size_t name_len,
    u_char *value, size_t value_len)
{
    ngx_table_elt_t  *h;

    h = ngx_list_push(&r->headers_out.headers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    h->hash = 1;
    ngx_http_relay_header_end(h);
    h->key.data = (u_char *) name;
    h->key.len = name_len;
    h->value.data = value;
    h->value.len = value_len;

    return NGX_OK;
}
