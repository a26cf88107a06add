
/*
 * The store as one request sees it: its commands, and the scripts that guard
 * the records decided on and make the receipt.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_http_relay_store.h"

#include <sys/random.h>


static void ngx_http_relay_store_reply(void *data, ngx_int_t rc,
    relay_resp_reply_t *reply);
static ngx_int_t ngx_http_relay_store_receipt(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, relay_receipt_kind_e kind,
    relay_str_t *receipt);
static ngx_int_t ngx_http_relay_store_run(ngx_http_relay_ctx_t *ctx,
    const relay_script_t *script, ngx_uint_t argc, relay_str_t *argv);
static void ngx_http_relay_store_script_reply(ngx_http_relay_slot_t *slot,
    relay_resp_reply_t *reply);


/* scratch of this process, for one receipt at a time */

static relay_buf_t  ngx_http_relay_receipt_buf = { .max = RELAY_RECEIPT_MAX };


int64_t
ngx_http_relay_store_now(ngx_http_relay_ctx_t *ctx)
{
    int64_t      now;
    ngx_time_t  *tp;

    tp = ngx_timeofday();
    now = (int64_t) tp->sec * 1000 + tp->msec;

    return ngx_max(now, ctx->redis_now);
}


/* Never set back, whatever happens to the time of day. */

ngx_msec_t
ngx_http_relay_monotonic(void)
{
    struct timespec  ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);

    return (ngx_msec_t) ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}


ngx_int_t
ngx_http_relay_store_submit(ngx_http_relay_ctx_t *ctx,
    ngx_http_relay_redis_t *redis, ngx_http_relay_reply_pt handler,
    ngx_uint_t n, const relay_script_t *script, ngx_uint_t argc,
    relay_str_t *argv)
{
    ngx_uint_t              i;
    ngx_http_relay_slot_t  *slot;

    for (i = 0; i < ngx_http_relay_ncmds(ctx); i++) {
        if (ctx->cmds[i] == NULL) {
            break;
        }
    }

    if (i == ngx_http_relay_ncmds(ctx)) {
        ngx_log_error(NGX_LOG_ALERT, ctx->request->connection->log, 0,
                      "too many Redis commands for one request");
        return NGX_ERROR;
    }

    slot = ngx_palloc(ctx->request->pool, sizeof(ngx_http_relay_slot_t));
    if (slot == NULL) {
        return NGX_ERROR;
    }

    slot->ctx = ctx;
    slot->handler = handler;
    slot->redis = redis;
    slot->index = i;
    slot->n = n;
    slot->argc = argc;
    slot->argv = script ? argv : NULL;
    slot->script = script;

    ctx->cmds[i] = ngx_http_relay_redis_submit(redis, argc, argv,
                                               ngx_http_relay_store_reply,
                                               slot);
    if (ctx->cmds[i] == NULL) {
        return NGX_ERROR;
    }

    ctx->pending++;

    return NGX_OK;
}


static void
ngx_http_relay_store_reply(void *data, ngx_int_t rc, relay_resp_reply_t *reply)
{
    relay_str_t            *argv;
    ngx_uint_t              i;
    ngx_http_relay_ctx_t   *ctx;
    ngx_http_relay_slot_t  *slot = data;

    ctx = slot->ctx;

    ctx->cmds[slot->index] = NULL;
    ctx->pending--;

    if (rc == NGX_ABORT) {
        /* the process exits: the request is left as it is */
        return;
    }

    if (rc != NGX_OK || reply == NULL) {
        ctx->failed = 1;

    } else if (reply->type == RELAY_RESP_ERROR) {

        if (slot->script != NULL && slot->argv != NULL
            && reply->str.len >= sizeof("NOSCRIPT") - 1
            && ngx_strncmp(reply->str.data, "NOSCRIPT", sizeof("NOSCRIPT") - 1)
               == 0)
        {
            argv = slot->argv;

            relay_str_set(&argv[0], "EVAL");
            argv[1] = slot->script->text;

            i = slot->argc;

            /* once: with NULL for argv the next NOSCRIPT is an error */

            if (ngx_http_relay_store_submit(ctx, slot->redis, slot->handler,
                                            slot->n, NULL, i, argv)
                == NGX_OK)
            {
                return;
            }

        } else {
            ngx_http_relay_redis_refused(slot->redis, &reply->str,
                                         ctx->request->connection->log);
        }

        ctx->failed = 1;

    } else if (!ctx->failed) {
        slot->handler(slot, reply);
    }

    if (ctx->pending == 0) {
        ngx_http_relay_resume(ctx);
    }
}


void
ngx_http_relay_store_cancel(ngx_http_relay_ctx_t *ctx)
{
    ngx_uint_t  i;

    for (i = 0; i < ngx_http_relay_ncmds(ctx); i++) {
        if (ctx->cmds[i] != NULL) {
            ngx_http_relay_redis_cancel(ctx->cmds[i]);
            ctx->cmds[i] = NULL;
        }
    }

    ctx->pending = 0;
}


ngx_int_t
ngx_http_relay_store_copy(ngx_pool_t *pool, relay_str_t *s)
{
    u_char  *p;

    if (s->len == 0) {
        s->data = NULL;
        return NGX_OK;
    }

    p = ngx_pnalloc(pool, s->len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(p, s->data, s->len);
    s->data = p;

    return NGX_OK;
}


/* Appends one argument to a script's argv. */

#define ngx_http_relay_arg(argv, n, value)                                    \
    (argv)[(n)++] = (value)

#define ngx_http_relay_arg_literal(argv, n, s)                                \
    (argv)[n].len = sizeof(s) - 1;                                            \
    (argv)[(n)++].data = (u_char *) s

#define ngx_http_relay_arg_str(argv, n, s)                                    \
    (argv)[n].len = (s)->len;                                                 \
    (argv)[(n)++].data = (s)->data


/* The receipt of this request, in r->pool. */

static ngx_int_t
ngx_http_relay_store_receipt(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx,
    relay_receipt_kind_e kind, relay_str_t *receipt)
{
    relay_buf_t      *buf;
    relay_receipt_t   rec;

    buf = &ngx_http_relay_receipt_buf;

    relay_buf_reset(buf);

    if (ngx_http_relay_receipt_fill(r, ctx, kind, &rec) != NGX_OK
        || relay_receipt_encode(&rec, buf) != RELAY_OK)
    {
        return NGX_ERROR;
    }

    relay_buf_str(buf, receipt);

    return ngx_http_relay_store_copy(r->pool, receipt);
}


static ngx_int_t
ngx_http_relay_store_run(ngx_http_relay_ctx_t *ctx,
    const relay_script_t *script, ngx_uint_t argc, relay_str_t *argv)
{
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(ctx->request, ngx_http_relay_module);

    ctx->word.len = 0;

    if (ngx_http_relay_store_submit(ctx, rlcf->redis->decisions,
                                    ngx_http_relay_store_script_reply, 0,
                                    script, argc, argv)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return NGX_AGAIN;
}


ngx_int_t
ngx_http_relay_store_serve(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx)
{
    u_char                     *p;
    ngx_uint_t                  i, n;
    relay_str_t                *argv, receipt;
    const relay_script_t       *script;
    ngx_http_relay_snapshot_t  *ss;

    ss = ctx->snapshot;
    script = relay_script("serve");

    argv = ngx_palloc(r->pool, 16 * sizeof(relay_str_t));
    p = ngx_pnalloc(r->pool, NGX_INT_T_LEN);

    if (script == NULL || argv == NULL || p == NULL
        || ngx_http_relay_store_receipt(r, ctx,
               ctx->decision.reason == RELAY_REASON_PREVIEW
               ? RELAY_RECEIPT_PREVIEW : RELAY_RECEIPT_READ, &receipt)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    n = 0;

    ngx_http_relay_arg_literal(argv, n, "EVALSHA");
    ngx_http_relay_arg(argv, n, script->sha1);

    argv[n].data = p;
    argv[n++].len = ngx_sprintf(p, "%ui", ss->nrecords + 1) - p;

    for (i = 0; i < ss->nrecords; i++) {
        ngx_http_relay_arg(argv, n, ss->keys[i]);
    }

    ngx_http_relay_arg(argv, n, ss->stream);
    ngx_http_relay_arg(argv, n, receipt);

    if (ctx->decision.owner) {
        ngx_http_relay_arg_literal(argv, n, "0");

    } else {
        ngx_http_relay_arg_literal(argv, n, "1");
    }

    for (i = 0; i < ss->nrecords; i++) {
        ngx_http_relay_arg(argv, n, ss->fingerprints[i]);
    }

    return ngx_http_relay_store_run(ctx, script, n, argv);
}


ngx_int_t
ngx_http_relay_store_accept(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx)
{
    u_char                     *p;
    u_char                      random[16];
    ngx_str_t                   numbers[2];
    ngx_uint_t                  i, n, made, other;
    relay_str_t                *argv, receipt, link;
    const relay_script_t       *script;
    ngx_http_relay_snapshot_t  *ss;

    ss = ctx->snapshot;
    script = relay_script("accept");

    made = ctx->decision.by_email ? NGX_HTTP_RELAY_BY_EMAIL
                                  : NGX_HTTP_RELAY_BY_SUBJECT;

    if (script == NULL || made >= ss->nrecords) {
        return NGX_ERROR;
    }

    other = (made == NGX_HTTP_RELAY_BY_EMAIL) ? NGX_HTTP_RELAY_BY_SUBJECT
                                              : NGX_HTTP_RELAY_BY_EMAIL;
    if (other >= ss->nrecords) {
        other = made;
    }

    if (getrandom(random, sizeof(random), 0) != sizeof(random)) {
        ngx_log_error(NGX_LOG_CRIT, r->connection->log, ngx_errno,
                      "getrandom() failed");
        return NGX_ERROR;
    }

    /* "grt_" and 22 digits */

    p = ngx_pnalloc(r->pool, 4 + 24);
    argv = ngx_palloc(r->pool, 48 * sizeof(relay_str_t));

    if (p == NULL || argv == NULL) {
        return NGX_ERROR;
    }

    ctx->grant.data = p;
    p = ngx_cpymem(p, "grt_", 4);
    ctx->grant.len = 4 + relay_base64url_encode(random, sizeof(random), p);

    /* an issued grant keeps its id */

    if (ctx->decision.grant != NULL && ctx->decision.grant->id.len) {
        ctx->grant.len = ctx->decision.grant->id.len;
        ctx->grant.data = ctx->decision.grant->id.data;
    }

    for (i = 0; i < 2; i++) {
        numbers[i].data = ngx_pnalloc(r->pool, NGX_INT64_LEN);
        if (numbers[i].data == NULL) {
            return NGX_ERROR;
        }
    }

    numbers[0].len = ngx_sprintf(numbers[0].data, "%L",
                                 ngx_http_relay_store_now(ctx))
                     - numbers[0].data;
    numbers[1].len = ngx_sprintf(numbers[1].data, "%L",
                                 (int64_t) ss->head.version)
                     - numbers[1].data;

    if (ngx_http_relay_store_receipt(r, ctx, RELAY_RECEIPT_ACCEPT, &receipt)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    link.data = ctx->link;
    link.len = RELAY_DIGEST_LEN;

    n = 0;

    ngx_http_relay_arg_literal(argv, n, "EVALSHA");
    ngx_http_relay_arg(argv, n, script->sha1);
    ngx_http_relay_arg_literal(argv, n, "5");

    ngx_http_relay_arg(argv, n, ss->keys[NGX_HTTP_RELAY_HEAD]);
    ngx_http_relay_arg(argv, n, ss->keys[NGX_HTTP_RELAY_LINK]);
    ngx_http_relay_arg(argv, n, ss->keys[made]);
    ngx_http_relay_arg(argv, n, ss->keys[other]);

    ngx_http_relay_arg(argv, n, ss->stream);
    ngx_http_relay_arg(argv, n, receipt);
    ngx_http_relay_arg(argv, n, ss->fingerprints[NGX_HTTP_RELAY_HEAD]);
    ngx_http_relay_arg(argv, n, ss->fingerprints[NGX_HTTP_RELAY_LINK]);
    ngx_http_relay_arg(argv, n, ss->fingerprints[made]);
    ngx_http_relay_arg(argv, n, ss->fingerprints[other]);

    ngx_http_relay_arg_literal(argv, n, "12");
    ngx_http_relay_arg_literal(argv, n, "id");
    ngx_http_relay_arg_str(argv, n, &ctx->grant);
    ngx_http_relay_arg_literal(argv, n, "link");
    ngx_http_relay_arg(argv, n, link);
    ngx_http_relay_arg_literal(argv, n, "view");
    ngx_http_relay_arg_literal(argv, n, "");
    ngx_http_relay_arg_literal(argv, n, "permission");
    ngx_http_relay_arg_literal(argv, n, "");
    ngx_http_relay_arg_literal(argv, n, "state");
    ngx_http_relay_arg_literal(argv, n, "active");
    ngx_http_relay_arg_literal(argv, n, "exp");
    ngx_http_relay_arg_literal(argv, n, "0");
    ngx_http_relay_arg_literal(argv, n, "iss");
    ngx_http_relay_arg(argv, n, ctx->identity.issuer);
    ngx_http_relay_arg_literal(argv, n, "sub");
    ngx_http_relay_arg(argv, n, ctx->identity.subject);
    ngx_http_relay_arg_literal(argv, n, "email");
    ngx_http_relay_arg_str(argv, n, &ss->email);
    ngx_http_relay_arg_literal(argv, n, "name");
    ngx_http_relay_arg(argv, n, ctx->identity.name);
    ngx_http_relay_arg_literal(argv, n, "accepted_at");
    ngx_http_relay_arg_str(argv, n, &numbers[0]);
    ngx_http_relay_arg_literal(argv, n, "accepted_version");
    ngx_http_relay_arg_str(argv, n, &numbers[1]);

    return ngx_http_relay_store_run(ctx, script, n, argv);
}


static void
ngx_http_relay_store_script_reply(ngx_http_relay_slot_t *slot,
    relay_resp_reply_t *reply)
{
    int64_t                now;
    relay_str_t            word;
    ngx_http_relay_ctx_t  *ctx;

    ctx = slot->ctx;

    if (reply->type != RELAY_RESP_ARRAY || reply->n == 0
        || (reply->elts[0]->type != RELAY_RESP_BULK
            && reply->elts[0]->type != RELAY_RESP_STATUS))
    {
        ngx_log_error(NGX_LOG_ERR, ctx->request->connection->log, 0,
                      "unexpected answer of a Redis script");
        ctx->failed = 1;
        return;
    }

    word = reply->elts[0]->str;

    if (ngx_http_relay_store_copy(ctx->request->pool, &word) != NGX_OK) {
        ctx->failed = 1;
        return;
    }

    *ngx_http_relay_str(&ctx->word) = word;

    if (relay_str_is(&word, "expired") && reply->n > 1) {

        now = 0;

        if (reply->elts[1]->type == RELAY_RESP_INTEGER) {
            now = reply->elts[1]->integer;

        } else if (reply->elts[1]->type == RELAY_RESP_BULK) {
            now = ngx_atoof(reply->elts[1]->str.data, reply->elts[1]->str.len);
        }

        /* Redis's clock is ahead of ours: its word on expiry holds */

        ctx->redis_now = ngx_max(now, ctx->redis_now);
    }
}
