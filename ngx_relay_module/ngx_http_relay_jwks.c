
/*
 * Key sets behind a location of the server, which is where an operator says how
 * they are reached: proxy_pass, TLS, a cache.  Each process asks for a set by a
 * subrequest, when a token is to be verified and the keys are not there, are
 * older than "refresh", or do not know the token's "kid"; the requests that
 * need the answer wait for it, those that the old keys will do for do not.
 *
 * The subrequest is one in the background: it neither holds back the output of
 * the request that it belongs to, nor ends with a client that goes away.  It
 * carries nothing of that request, neither headers nor variables; only
 * $request_method is the client's, as in every subrequest.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_http_relay_module.h"


struct ngx_http_relay_jwks_s {
    ngx_http_relay_jwks_conf_t   *conf;
    relay_jwt_keys_t             *keys;     /* NULL: none yet */
    ngx_msec_t                    fetched;  /* when they were asked for */
    ngx_msec_t                    started;  /* the latest fetch */
    ngx_http_relay_jwks_fetch_t  *fetch;    /* in progress, or NULL */
    ngx_queue_t                   waiting;  /* ngx_http_relay_ctx_t */
    ngx_queue_t                   woken;    /* the same, of past fetches */
    ngx_event_t                   event;    /* deadline; posted: run woken */
    u_char                        digest[RELAY_DIGEST_LEN]; /* of the set */
    unsigned                      failed:1; /* the latest fetch has */
};


/* of the request that the subrequest belongs to, and as long as that lives */

struct ngx_http_relay_jwks_fetch_s {
    ngx_http_relay_jwks_t        *jwks;     /* NULL: nobody waits any more */
    ngx_http_relay_ctx_t         *ctx;
    ngx_http_request_t           *sr;
    relay_buf_t                   body;
    unsigned                      last:1;   /* the body is complete */
};


static ngx_uint_t ngx_http_relay_jwks_cools(ngx_http_relay_jwks_t *jwks);
static ngx_int_t ngx_http_relay_jwks_wait(ngx_http_relay_ctx_t *ctx,
    ngx_http_relay_jwks_t *jwks);
static ngx_int_t ngx_http_relay_jwks_fetch(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, ngx_http_relay_jwks_t *jwks);
static ngx_int_t ngx_http_relay_jwks_done(ngx_http_request_t *sr, void *data,
    ngx_int_t rc);
static const char *ngx_http_relay_jwks_check(ngx_http_request_t *sr,
    ngx_http_relay_jwks_fetch_t *fetch);
static void ngx_http_relay_jwks_take(ngx_http_relay_jwks_t *jwks,
    relay_str_t *text, ngx_log_t *log);
static void ngx_http_relay_jwks_fail(ngx_http_relay_jwks_t *jwks,
    ngx_log_t *log, ngx_uint_t status, const char *why, size_t len);
static void ngx_http_relay_jwks_end(ngx_http_relay_jwks_t *jwks);
static void ngx_http_relay_jwks_handler(ngx_event_t *ev);
static void ngx_http_relay_jwks_timeout(ngx_http_relay_jwks_t *jwks);
static void ngx_http_relay_jwks_wake(ngx_http_relay_jwks_t *jwks);


/*
 * The first request after "refresh" waits, and so do those that come while it
 * does: keys that are gone are not used once more for want of an answer that is
 * on its way.  Once that has failed, only who asks again waits.
 */

ngx_int_t
ngx_http_relay_jwks_get(ngx_http_request_t *r,
    ngx_http_relay_jwks_conf_t *jkcf, relay_jwt_keys_t **keys)
{
    ngx_int_t               rc;
    ngx_msec_t              age;
    ngx_http_relay_ctx_t   *ctx;
    ngx_http_relay_jwks_t  *jwks;

    ctx = ngx_http_relay_get_ctx(r);
    jwks = jkcf->jwks;

    rc = NGX_BUSY;

    if (jwks->keys != NULL) {
        age = ngx_current_msec - jwks->fetched;

        if (age < jkcf->stale) {
            *keys = jwks->keys;
            rc = NGX_OK;
        }

        if (age < jkcf->refresh) {
            return NGX_OK;
        }
    }

    if (ctx->keys_awaited) {
        return rc;
    }

    if (jwks->fetch != NULL) {

        if (rc == NGX_OK && jwks->failed) {
            return NGX_OK;
        }

        return ngx_http_relay_jwks_wait(ctx, jwks);
    }

    if ((jwks->failed && ngx_http_relay_jwks_cools(jwks))
        || ngx_http_relay_jwks_fetch(r, ctx, jwks) != NGX_OK)
    {
        return rc;
    }

    return ngx_http_relay_jwks_wait(ctx, jwks);
}


ngx_int_t
ngx_http_relay_jwks_renew(ngx_http_request_t *r,
    ngx_http_relay_jwks_conf_t *jkcf)
{
    ngx_http_relay_ctx_t   *ctx;
    ngx_http_relay_jwks_t  *jwks;

    ctx = ngx_http_relay_get_ctx(r);
    jwks = jkcf->jwks;

    if (ctx->keys_awaited) {
        return NGX_DECLINED;
    }

    if (jwks->fetch == NULL
        && (ngx_http_relay_jwks_cools(jwks)
            || ngx_http_relay_jwks_fetch(r, ctx, jwks) != NGX_OK))
    {
        return NGX_DECLINED;
    }

    return ngx_http_relay_jwks_wait(ctx, jwks);
}


static ngx_uint_t
ngx_http_relay_jwks_cools(ngx_http_relay_jwks_t *jwks)
{
    return ngx_current_msec - jwks->started < jwks->conf->cooldown;
}


static ngx_int_t
ngx_http_relay_jwks_wait(ngx_http_relay_ctx_t *ctx,
    ngx_http_relay_jwks_t *jwks)
{
    ctx->keys_awaited = 1;
    ctx->keys_queued = 1;

    ngx_queue_insert_tail(&jwks->waiting, &ctx->keys);

    return NGX_AGAIN;
}


/*
 * Whatever could fail stands before the subrequest: from then on it will run,
 * and must not run with what is the client's.  It belongs to the main request,
 * since r may be a subrequest whose output is kept in memory, and such a one
 * can have none.
 */

static ngx_int_t
ngx_http_relay_jwks_fetch(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx,
    ngx_http_relay_jwks_t *jwks)
{
    ngx_list_t                    headers;
    ngx_http_request_t           *sr;
    ngx_http_request_body_t      *body;
    ngx_http_variable_value_t    *variables;
    ngx_http_core_main_conf_t    *cmcf;
    ngx_http_post_subrequest_t   *ps;
    ngx_http_relay_jwks_fetch_t  *fetch;

    cmcf = ngx_http_get_module_main_conf(r, ngx_http_core_module);

    jwks->started = ngx_current_msec;

    fetch = ngx_pcalloc(r->pool, sizeof(ngx_http_relay_jwks_fetch_t));
    ps = ngx_palloc(r->pool, sizeof(ngx_http_post_subrequest_t));
    body = ngx_pcalloc(r->pool, sizeof(ngx_http_request_body_t));
    variables = ngx_pcalloc(r->pool, cmcf->variables.nelts
                                     * sizeof(ngx_http_variable_value_t));

    if (fetch == NULL || ps == NULL || body == NULL || variables == NULL
        || ngx_list_init(&headers, r->pool, 1, sizeof(ngx_table_elt_t))
           != NGX_OK)
    {
        goto failed;
    }

    ps->handler = ngx_http_relay_jwks_done;
    ps->data = fetch;

    if (ngx_http_subrequest(r->main, &jwks->conf->uri, NULL, &sr, ps,
                            NGX_HTTP_SUBREQUEST_BACKGROUND)
        != NGX_OK)
    {
        goto failed;
    }

    /* as a cache or a backend sees it, nobody has asked */

    ngx_memzero(&sr->headers_in, sizeof(ngx_http_headers_in_t));

    sr->headers_in.headers = headers;
    sr->headers_in.headers.last = &sr->headers_in.headers.part;
    sr->headers_in.content_length_n = -1;
    sr->headers_in.keep_alive_n = -1;

    sr->unparsed_uri = sr->uri;
    sr->request_line = sr->uri;
    sr->variables = variables;
    sr->request_body = body;
    sr->filter_need_in_memory = 1;

    relay_buf_init(&fetch->body, NGX_HTTP_RELAY_KEYS_MAX);

    fetch->jwks = jwks;
    fetch->ctx = ctx;
    fetch->sr = sr;

    ctx->fetch = fetch;
    jwks->fetch = fetch;

    /* not cancelable: a worker that shuts down lets those who wait finish */

    ngx_add_timer(&jwks->event, jwks->conf->timeout);

    return NGX_OK;

failed:

    jwks->failed = 1;

    return NGX_ERROR;
}


ngx_int_t
ngx_http_relay_jwks_body_filter(ngx_http_request_t *r, ngx_chain_t *in)
{
    ngx_buf_t                    *b;
    ngx_http_relay_jwks_fetch_t  *fetch;

    if (r->post_subrequest == NULL
        || r->post_subrequest->handler != ngx_http_relay_jwks_done)
    {
        return NGX_DECLINED;
    }

    fetch = r->post_subrequest->data;

    for ( /* void */ ; in; in = in->next) {
        b = in->buf;

        if (fetch->jwks != NULL && ngx_buf_in_memory(b)) {
            (void) relay_buf_append(&fetch->body, b->pos, b->last - b->pos);
        }

        if (b->last_buf || b->last_in_chain) {
            fetch->last = 1;
        }

        b->pos = b->last;

        if (b->in_file) {
            b->file_pos = b->file_last;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_relay_jwks_done(ngx_http_request_t *sr, void *data, ngx_int_t rc)
{
    ngx_http_relay_jwks_fetch_t *fetch = data;

    const char             *why;
    relay_str_t             text;
    ngx_http_relay_jwks_t  *jwks;

    switch (rc) {

    case NGX_HTTP_CLOSE:
    case NGX_HTTP_REQUEST_TIME_OUT:
    case NGX_HTTP_CLIENT_CLOSED_REQUEST:
        break;

    default:

        /* an error's page is not made yet, and may be another location's */

        if (rc >= NGX_HTTP_SPECIAL_RESPONSE
            || rc == NGX_HTTP_CREATED
            || rc == NGX_HTTP_NO_CONTENT)
        {
            return rc;
        }
    }

    jwks = fetch->jwks;

    if (jwks == NULL) {
        return rc;
    }

    why = ngx_http_relay_jwks_check(sr, fetch);

    if (why == NULL) {
        relay_buf_str(&fetch->body, &text);
        ngx_http_relay_jwks_take(jwks, &text, sr->connection->log);

    } else {
        ngx_http_relay_jwks_fail(jwks, sr->connection->log,
                                 sr->headers_out.status, why, ngx_strlen(why));
    }

    ngx_http_relay_jwks_end(jwks);

    return rc;
}


/* Why an answer is none, or NULL. */

static const char *
ngx_http_relay_jwks_check(ngx_http_request_t *sr,
    ngx_http_relay_jwks_fetch_t *fetch)
{
    ngx_table_elt_t            *encoding;
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(sr, ngx_http_relay_module);

    if (rlcf->link != NULL) {
        return "the location is gated itself, set \"relay_link off\" there";
    }

    if (sr->headers_out.status != NGX_HTTP_OK) {
        return "the answer is not 200";
    }

    encoding = sr->headers_out.content_encoding;

    if (encoding != NULL && encoding->value.len) {
        return "the answer is compressed";
    }

    if (fetch->body.failed) {
        return "the answer is larger than 64k";
    }

    if (!fetch->last) {
        return "the answer is cut short";
    }

    return NULL;
}


/* A set that cannot be used never takes the place of one that can. */

static void
ngx_http_relay_jwks_take(ngx_http_relay_jwks_t *jwks, relay_str_t *text,
    ngx_log_t *log)
{
    u_char             digest[RELAY_DIGEST_LEN];
    const char        *kid;
    relay_buf_t        err;
    relay_jwt_keys_t  *keys;

    relay_digest(text, digest);

    if (jwks->keys != NULL
        && ngx_memcmp(digest, jwks->digest, RELAY_DIGEST_LEN) == 0)
    {
        goto done;
    }

    relay_buf_init(&err, NGX_HTTP_RELAY_ERROR_MAX);

    keys = relay_jwt_keys_parse(text, &err);

    if (keys == NULL) {
        ngx_http_relay_jwks_fail(jwks, log, NGX_HTTP_OK, (char *) err.data,
                                 err.len);
        relay_buf_free(&err);
        return;
    }

    relay_buf_free(&err);

    ngx_log_error(NGX_LOG_NOTICE, log, 0,
                  "relay key set \"%V\" %s: %uz keys",
                  &jwks->conf->uri, jwks->keys ? "has changed" : "is there",
                  relay_jwt_keys_count(keys));

    kid = relay_jwt_keys_private(keys);

    if (kid != NULL) {
        ngx_log_error(NGX_LOG_WARN, log, 0,
                      "relay key set \"%V\" holds the private part of key "
                      "\"%s\": whoever reads it can sign as the issuer, it "
                      "should hold public keys only", &jwks->conf->uri, kid);
    }

    /* whom an old key has vouched for is asked again */

    ngx_http_relay_jwt_forget(jwks->conf);

    relay_jwt_keys_free(jwks->keys);

    jwks->keys = keys;
    ngx_memcpy(jwks->digest, digest, RELAY_DIGEST_LEN);

done:

    jwks->fetched = jwks->started;
    jwks->failed = 0;
}


/* Nothing of a body is logged, but for the "kid" that a set has twice. */

static void
ngx_http_relay_jwks_fail(ngx_http_relay_jwks_t *jwks, ngx_log_t *log,
    ngx_uint_t status, const char *why, size_t len)
{
    jwks->failed = 1;

    if (jwks->keys == NULL) {
        ngx_log_error(NGX_LOG_ERR, log, 0,
                      "relay key set \"%V\" is not there: %*s (status %ui)",
                      &jwks->conf->uri, len, why, status);
        return;
    }

    ngx_log_error(NGX_LOG_ERR, log, 0,
                  "relay key set \"%V\" is not renewed: %*s (status %ui), "
                  "the keys are %Ms old and good for %Ms",
                  &jwks->conf->uri, len, why, status,
                  (ngx_current_msec - jwks->fetched) / 1000,
                  jwks->conf->stale / 1000);
}


/*
 * The fetch is over, whatever its subrequest does from now on.  Those who wait
 * run from the event loop: this is called out of the midst of a request.
 */

static void
ngx_http_relay_jwks_end(ngx_http_relay_jwks_t *jwks)
{
    ngx_http_relay_jwks_fetch_t  *fetch;

    fetch = jwks->fetch;
    jwks->fetch = NULL;

    fetch->jwks = NULL;
    fetch->ctx->fetch = NULL;

    relay_buf_free(&fetch->body);

    if (jwks->event.timer_set) {
        ngx_del_timer(&jwks->event);
    }

    if (!ngx_queue_empty(&jwks->waiting)) {
        ngx_queue_add(&jwks->woken, &jwks->waiting);
        ngx_queue_init(&jwks->waiting);

        ngx_post_event(&jwks->event, &ngx_posted_events);
    }
}


static void
ngx_http_relay_jwks_handler(ngx_event_t *ev)
{
    if (ev->timedout) {
        ev->timedout = 0;
        ngx_http_relay_jwks_timeout(ev->data);
        return;
    }

    ngx_http_relay_jwks_wake(ev->data);
}


/*
 * A subrequest that goes on would hold its request's connection, and a worker
 * that shuts down, as long as the provider likes: nginx's upstream is ended the
 * way in which a request that is terminated ends it.
 */

static void
ngx_http_relay_jwks_timeout(ngx_http_relay_jwks_t *jwks)
{
    ngx_http_request_t   *sr;
    ngx_http_upstream_t  *u;

    static const char  late[] = "no answer in time";

    sr = jwks->fetch->sr;
    u = sr->upstream;

    ngx_http_relay_jwks_fail(jwks, sr->connection->log, 0, late,
                             sizeof(late) - 1);
    ngx_http_relay_jwks_end(jwks);

    if (u != NULL && u->cleanup != NULL && *u->cleanup != NULL) {
        (*u->cleanup)(sr);
    }
}


static void
ngx_http_relay_jwks_wake(ngx_http_relay_jwks_t *jwks)
{
    ngx_queue_t           *q;
    ngx_http_relay_ctx_t  *ctx;

    while (!ngx_queue_empty(&jwks->woken)) {
        q = ngx_queue_head(&jwks->woken);
        ctx = ngx_queue_data(q, ngx_http_relay_ctx_t, keys);

        ngx_queue_remove(q);
        ctx->keys_queued = 0;

        ngx_http_relay_resume(ctx);
    }
}


void
ngx_http_relay_jwks_cleanup(ngx_http_relay_ctx_t *ctx)
{
    ngx_http_relay_jwks_t  *jwks;

    static const char  gone[] = "the request that asked for it has ended";

    if (ctx->keys_queued) {
        ngx_queue_remove(&ctx->keys);
        ctx->keys_queued = 0;
    }

    if (ctx->fetch != NULL) {
        jwks = ctx->fetch->jwks;

        ngx_http_relay_jwks_fail(jwks, ngx_cycle->log, 0, gone,
                                 sizeof(gone) - 1);
        ngx_http_relay_jwks_end(jwks);
    }
}


ngx_http_relay_jwks_t *
ngx_http_relay_jwks_create(ngx_cycle_t *cycle,
    ngx_http_relay_jwks_conf_t *jkcf)
{
    ngx_http_relay_jwks_t  *jwks;

    jwks = ngx_pcalloc(cycle->pool, sizeof(ngx_http_relay_jwks_t));
    if (jwks == NULL) {
        return NULL;
    }

    jwks->conf = jkcf;

    ngx_queue_init(&jwks->waiting);
    ngx_queue_init(&jwks->woken);

    jwks->event.handler = ngx_http_relay_jwks_handler;
    jwks->event.data = jwks;
    jwks->event.log = cycle->log;

    return jwks;
}


void
ngx_http_relay_jwks_close(ngx_http_relay_jwks_t *jwks)
{
    if (jwks->event.timer_set) {
        ngx_del_timer(&jwks->event);
    }

    if (jwks->event.posted) {
        ngx_delete_posted_event(&jwks->event);
    }

    relay_jwt_keys_free(jwks->keys);
    jwks->keys = NULL;
}
