
/*
 * Answers: the view that was allowed, and one fixed answer for each refusal.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_http_relay_module.h"


#define NGX_HTTP_RELAY_AGE  1000    /* ms, of a decision that is acted on */


typedef struct {
    ngx_str_t  name;
    ngx_str_t  value;
} ngx_http_relay_header_t;


static ngx_int_t ngx_http_relay_answer(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx);
static ngx_int_t ngx_http_relay_safety_header(ngx_http_request_t *r,
    uint32_t kinds);
static ngx_int_t ngx_http_relay_redirect(ngx_http_request_t *r,
    ngx_str_t *url);
static ngx_int_t ngx_http_relay_send(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, ngx_str_t *type, u_char *data, size_t len);
static ngx_table_elt_t *ngx_http_relay_add_header(ngx_http_request_t *r,
    ngx_str_t *name, ngx_str_t *value);


/* of every answer; on those of a location "expires" and "add_header" follow */

static ngx_http_relay_header_t  ngx_http_relay_headers[] = {

    { ngx_string("Cache-Control"),
      ngx_string("private, no-store") },

    { ngx_string("Vary"),
      ngx_string("Authorization, Cookie") },

    { ngx_string("Referrer-Policy"),
      ngx_string("no-referrer") },

    { ngx_string("X-Content-Type-Options"),
      ngx_string("nosniff") },

    { ngx_string("Content-Security-Policy"),
      ngx_string("default-src 'none'; frame-ancestors 'none'") },

    { ngx_null_string, ngx_null_string }
};


static ngx_http_relay_header_t  ngx_http_relay_sign_in_header = {
    ngx_string("WWW-Authenticate"),
    ngx_string("Bearer realm=\"relay\"")
};

static ngx_http_relay_header_t  ngx_http_relay_bad_token_header = {
    ngx_string("WWW-Authenticate"),
    ngx_string("Bearer realm=\"relay\", error=\"invalid_token\"")
};

static ngx_http_relay_header_t  ngx_http_relay_method_header = {
    ngx_string("Allow"),
    ngx_string("GET, HEAD, POST")
};

static ngx_http_relay_header_t  ngx_http_relay_retry_header = {
    ngx_string("Retry-After"),
    ngx_string("1")
};

static ngx_str_t  ngx_http_relay_location_name = ngx_string("Location");
static ngx_str_t  ngx_http_relay_safety_name = ngx_string("Relay-Safety");

static ngx_str_t  ngx_http_relay_json_type = ngx_string("application/json");
static ngx_str_t  ngx_http_relay_text_type =
    ngx_string("text/plain; charset=utf-8");
static ngx_str_t  ngx_http_relay_html_type =
    ngx_string("text/html; charset=utf-8");


/*
 * A person who followed a link in a mail, or comes back from signing in: the
 * click makes the request one of this site, and no other page can make it.
 */

static ngx_str_t  ngx_http_relay_cross_site_body = ngx_string(
    "<!doctype html>\n"
    "<meta name=viewport content=\"width=device-width\">\n"
    "<title>Open the relay</title>\n"
    "<p>Another site led here. <a href=\"\">Open the relay</a></p>\n"
);


ngx_int_t
ngx_http_relay_content_handler(ngx_http_request_t *r)
{
    ngx_int_t              rc;
    ngx_http_relay_ctx_t  *ctx;

    ctx = ngx_http_relay_get_ctx(r);

    if (ctx == NULL) {

        /* the filter gives it its body */

        return NGX_HTTP_FORBIDDEN;
    }

    rc = ngx_http_discard_request_body(r);

    if (rc != NGX_OK) {
        return rc;
    }

    if (ctx->outcome == NGX_HTTP_RELAY_DENIED) {
        return ngx_http_relay_answer(r, ctx);
    }

    /* what stood between phase and content may have taken its time */

    if (ctx->outcome == NGX_HTTP_RELAY_ALLOWED
        && ngx_http_relay_monotonic() - ctx->allowed > NGX_HTTP_RELAY_AGE)
    {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "relay content was asked for %M ms after its decision",
                      ngx_http_relay_monotonic() - ctx->allowed);

        ctx->outcome = NGX_HTTP_RELAY_DENIED;
        ctx->decision.verdict = RELAY_VERDICT_DENY;
        ctx->decision.reason = RELAY_REASON_STORE_UNAVAILABLE;
        ctx->decision.status = NGX_HTTP_SERVICE_UNAVAILABLE;

        return ngx_http_relay_answer(r, ctx);
    }

    if (ctx->outcome != NGX_HTTP_RELAY_ALLOWED
        || ctx->body == NULL
        || ctx->dry_run)
    {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "relay content was asked for without a decision");

        ctx->outcome = NGX_HTTP_RELAY_DENIED;
        ctx->decision.verdict = RELAY_VERDICT_DENY;
        ctx->decision.reason = RELAY_REASON_INTERNAL;
        ctx->decision.status = NGX_HTTP_FORBIDDEN;

        return ngx_http_relay_answer(r, ctx);
    }

    if (ctx->body->safety
        && ngx_http_relay_safety_header(r, ctx->body->safety) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    r->headers_out.status = NGX_HTTP_OK;

    return ngx_http_relay_send(r, ctx, ctx->text ? &ngx_http_relay_text_type
                                                 : &ngx_http_relay_json_type,
                               ctx->body->data, ctx->body->len);
}


ngx_int_t
ngx_http_relay_send_denial(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx)
{
    ngx_int_t  rc;

    rc = ngx_http_discard_request_body(r);

    if (rc == NGX_OK) {
        rc = ngx_http_relay_answer(r, ctx);
    }

    if (rc >= NGX_HTTP_SPECIAL_RESPONSE) {
        return rc;
    }

    /* a phase handler's NGX_OK would go on to the content */

    ngx_http_finalize_request(r, rc);

    return NGX_DONE;
}


/* The fixed answer for ctx->decision. */

static ngx_int_t
ngx_http_relay_answer(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx)
{
    ngx_int_t                   rc;
    ngx_str_t                   type, body;
    ngx_uint_t                  status;
    relay_reason_e              reason;
    ngx_http_relay_loc_conf_t  *rlcf;

    if (r->header_sent) {
        return NGX_ERROR;
    }

    /* what other modules have added until now is not of this answer */

    ngx_http_clean_header(r);

    status = ctx->decision.status;
    reason = ctx->decision.reason;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

    if (status == NGX_HTTP_UNAUTHORIZED
        && rlcf->sign_in.len
        && r == r->main
        && ngx_http_relay_navigation(r))
    {
        status = NGX_HTTP_MOVED_TEMPORARILY;
        rc = ngx_http_relay_redirect(r, &rlcf->sign_in);

    } else {
        rc = ngx_http_relay_denial_headers(r, status, reason);
    }

    if (rc != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_http_relay_denial_body(r, status, reason, &type, &body);

    r->headers_out.status = status;

    return ngx_http_relay_send(r, ctx, &type, body.data, body.len);
}


/* The kinds of text for agents that the view holds, or held. */

static ngx_int_t
ngx_http_relay_safety_header(ngx_http_request_t *r, uint32_t kinds)
{
    ngx_int_t    rc;
    ngx_str_t    value;
    relay_buf_t  buf;

    relay_buf_init(&buf, 1024);

    rc = NGX_ERROR;

    if (relay_quality_kinds(kinds, &buf) == RELAY_OK) {
        value.len = buf.len;
        value.data = ngx_pnalloc(r->pool, buf.len);

        if (value.data != NULL) {
            ngx_memcpy(value.data, buf.data, buf.len);

            if (ngx_http_relay_add_header(r, &ngx_http_relay_safety_name,
                                          &value)
                != NULL)
            {
                rc = NGX_OK;
            }
        }
    }

    relay_buf_free(&buf);

    return rc;
}


static ngx_int_t
ngx_http_relay_redirect(ngx_http_request_t *r, ngx_str_t *url)
{
    ngx_table_elt_t  *h;

    h = ngx_http_relay_add_header(r, &ngx_http_relay_location_name, url);
    if (h == NULL) {
        return NGX_ERROR;
    }

    r->headers_out.location = h;

    return NGX_OK;
}


/*
 * Sends a header and one buffer.  "emitting" tells the filter that the header
 * which passes now is ours.
 */

static ngx_int_t
ngx_http_relay_send(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx,
    ngx_str_t *type, u_char *data, size_t len)
{
    ngx_int_t     rc;
    ngx_buf_t    *b;
    ngx_chain_t   out;

    if (r->header_sent) {
        return NGX_ERROR;
    }

    r->headers_out.status_line.len = 0;
    r->headers_out.content_length_n = len;
    r->headers_out.content_type = *type;
    r->headers_out.content_type_len = type->len;
    r->headers_out.content_type_lowcase = NULL;
    r->headers_out.charset.len = 0;

    if (ngx_http_relay_answer_headers(r) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    /* the status of an error_page that led here would take ours over */

    r->err_status = 0;

    ctx->emitting = 1;

    rc = ngx_http_send_header(r);

    ctx->emitting = 0;

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    b = ngx_calloc_buf(r->pool);
    if (b == NULL) {
        return NGX_ERROR;
    }

    if (len) {
        b->pos = data;
        b->last = data + len;
        b->memory = 1;
    }

    b->last_buf = (r == r->main) ? 1 : 0;
    b->last_in_chain = 1;

    out.buf = b;
    out.next = NULL;

    return ngx_http_output_filter(r, &out);
}


/*
 * The body is a sentence to a browser (to one that another site sent here, a
 * link to go on), else JSON.  Without memory it is empty:
 * the status says enough.
 */

void
ngx_http_relay_denial_body(ngx_http_request_t *r, ngx_uint_t status,
    relay_reason_e reason, ngx_str_t *type, ngx_str_t *body)
{
    size_t              len;
    const relay_str_t  *word, *sentence;

    /* with relay_conceal: as if the link were not there */

    if (status == NGX_HTTP_NOT_FOUND && reason != RELAY_REASON_UNDECIDED) {
        reason = RELAY_REASON_UNKNOWN_LINK;
    }

    word = relay_reason_name(reason);
    sentence = relay_reason_sentence(reason);

    ngx_str_null(body);

    if (ngx_http_relay_navigation(r)) {

        if (reason == RELAY_REASON_CROSS_SITE) {
            *type = ngx_http_relay_html_type;
            *body = ngx_http_relay_cross_site_body;
            return;
        }

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
          - 1 + NGX_INT_T_LEN + word->len + sentence->len;

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
ngx_http_relay_denial_headers(ngx_http_request_t *r, ngx_uint_t status,
    relay_reason_e reason)
{
    ngx_http_relay_header_t  *add;

    switch (status) {

    case NGX_HTTP_UNAUTHORIZED:
        add = (reason == RELAY_REASON_BAD_TOKEN)
              ? &ngx_http_relay_bad_token_header
              : &ngx_http_relay_sign_in_header;
        break;

    case NGX_HTTP_NOT_ALLOWED:
        add = &ngx_http_relay_method_header;
        break;

    case NGX_HTTP_SERVICE_UNAVAILABLE:
        add = &ngx_http_relay_retry_header;
        break;

    default:
        return NGX_OK;
    }

    if (ngx_http_relay_add_header(r, &add->name, &add->value) == NULL) {
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_int_t
ngx_http_relay_answer_headers(ngx_http_request_t *r)
{
    ngx_http_relay_header_t  *h;

    for (h = ngx_http_relay_headers; h->name.len; h++) {
        if (ngx_http_relay_add_header(r, &h->name, &h->value) == NULL) {
            return NGX_ERROR;
        }
    }

    ngx_http_clear_accept_ranges(r);
    ngx_http_clear_last_modified(r);
    ngx_http_clear_etag(r);

    r->allow_ranges = 0;
    r->disable_not_modified = 1;
    r->expect_trailers = 0;

#if (NGX_HTTP_GZIP)

    /* a compressed length tells of what was compressed */

    r->gzip_tested = 1;
    r->gzip_ok = 0;

#endif

    return NGX_OK;
}


static ngx_table_elt_t *
ngx_http_relay_add_header(ngx_http_request_t *r, ngx_str_t *name,
    ngx_str_t *value)
{
    ngx_table_elt_t  *h;

    h = ngx_list_push(&r->headers_out.headers);
    if (h == NULL) {
        return NULL;
    }

    h->hash = 1;
    ngx_http_relay_header_end(h);
    h->key = *name;
    h->value = *value;

    return h;
}
