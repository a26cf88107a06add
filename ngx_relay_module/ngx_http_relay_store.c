
/*
 * The store as one request sees it: the records that a decision rests on, the
 * scripts that guard it, the document and its view.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_http_relay_module.h"

#include "relay_data.h"
#include "relay_package.h"

#include <sys/random.h>


#define NGX_HTTP_RELAY_BLOCKS   12
#define NGX_HTTP_RELAY_RECORDS  4
#define NGX_HTTP_RELAY_KEY_BUF  (2 * RELAY_KEY_MAX + RELAY_EMAIL_MAX           \
                                 + RELAY_ISSUER_MAX + RELAY_SUBJECT_MAX)


/* records of one slot, in the order in which the scripts take them */

enum {
    NGX_HTTP_RELAY_HEAD = 0,
    NGX_HTTP_RELAY_LINK,
    NGX_HTTP_RELAY_BY_SUBJECT,
    NGX_HTTP_RELAY_BY_EMAIL
};


typedef struct ngx_http_relay_slot_s  ngx_http_relay_slot_t;

typedef void (*ngx_http_relay_reply_pt)(ngx_http_relay_slot_t *slot,
    relay_resp_reply_t *reply);

/* one command of one request */

struct ngx_http_relay_slot_s {
    ngx_http_relay_ctx_t        *ctx;
    ngx_http_relay_reply_pt      handler;
    ngx_http_relay_redis_t      *redis;
    ngx_uint_t                   index;     /* in ctx->cmds */
    ngx_uint_t                   n;         /* which record, which block */
    ngx_uint_t                   argc;
    relay_str_t                 *argv;
    const relay_script_t        *script;    /* to send whole on NOSCRIPT */
};


struct ngx_http_relay_snapshot_s {
    relay_head_t                 head;
    relay_link_t                 link;
    relay_grant_t                by_email;
    relay_grant_t                by_subject;
    relay_block_t                blocks[NGX_HTTP_RELAY_BLOCKS];
    ngx_uint_t                   nblocks;

    relay_str_t                  keys[NGX_HTTP_RELAY_RECORDS];
    relay_str_t                  fingerprints[NGX_HTTP_RELAY_RECORDS];
    ngx_uint_t                   nrecords;  /* 4, or 3 without an address */

    ngx_str_t                    email;     /* normalised and confirmed */
    relay_str_t                  document;
    int64_t                      now;       /* Redis's time, when it is later */

    ngx_str_t                    word;      /* a script's answer */

    unsigned                     link_found:1;
    unsigned                     domains_blocked:1;
    unsigned                     bad_record:1;
    unsigned                     stored_blocks:1;   /* third round was made */
    unsigned                     asked:1;           /* for the document */
};


static ngx_int_t ngx_http_relay_store_submit(ngx_http_relay_ctx_t *ctx,
    ngx_http_relay_redis_t *redis, ngx_http_relay_reply_pt handler,
    ngx_uint_t n, const relay_script_t *script, ngx_uint_t argc,
    relay_str_t *argv);
static void ngx_http_relay_store_reply(void *data, ngx_int_t rc,
    relay_resp_reply_t *reply);
static void ngx_http_relay_store_resume(ngx_http_relay_ctx_t *ctx);
static void ngx_http_relay_store_bad(ngx_http_relay_ctx_t *ctx,
    relay_str_t *key, const char *field);
static ngx_int_t ngx_http_relay_store_hgetall(ngx_http_relay_ctx_t *ctx,
    ngx_http_relay_reply_pt handler, ngx_uint_t n, relay_buf_t *key);
static ngx_int_t ngx_http_relay_store_block(ngx_http_relay_ctx_t *ctx,
    relay_block_kind_e kind, const relay_str_t *value);
static ngx_int_t ngx_http_relay_store_address_blocks(ngx_http_relay_ctx_t *ctx,
    const relay_str_t *email);
static void ngx_http_relay_store_link_reply(ngx_http_relay_slot_t *slot,
    relay_resp_reply_t *reply);
static void ngx_http_relay_store_record_reply(ngx_http_relay_slot_t *slot,
    relay_resp_reply_t *reply);
static void ngx_http_relay_store_block_reply(ngx_http_relay_slot_t *slot,
    relay_resp_reply_t *reply);
static void ngx_http_relay_store_domains_reply(ngx_http_relay_slot_t *slot,
    relay_resp_reply_t *reply);
static void ngx_http_relay_store_document_reply(ngx_http_relay_slot_t *slot,
    relay_resp_reply_t *reply);
static ngx_int_t ngx_http_relay_store_receipt(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, relay_receipt_kind_e kind, relay_str_t *stream,
    relay_str_t *receipt);
static ngx_int_t ngx_http_relay_store_run(ngx_http_relay_ctx_t *ctx,
    const relay_script_t *script, ngx_uint_t argc, relay_str_t *argv);
static void ngx_http_relay_store_script_reply(ngx_http_relay_slot_t *slot,
    relay_resp_reply_t *reply);
static ngx_int_t ngx_http_relay_store_records(ngx_http_relay_ctx_t *ctx);
static ngx_int_t ngx_http_relay_store_stored(ngx_http_relay_ctx_t *ctx);
static ngx_int_t ngx_http_relay_store_copy(ngx_pool_t *pool, relay_str_t *s);
static ngx_http_relay_body_t *ngx_http_relay_store_project(
    ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx);
static int64_t ngx_http_relay_store_now(ngx_http_relay_ctx_t *ctx);


/* scratch of this process, reused from document to document */

static relay_json_tape_t  ngx_http_relay_tape;
static relay_view_out_t   ngx_http_relay_out;


static int64_t
ngx_http_relay_store_now(ngx_http_relay_ctx_t *ctx)
{
    int64_t      now;
    ngx_time_t  *tp;

    tp = ngx_timeofday();
    now = (int64_t) tp->sec * 1000 + tp->msec;

    if (ctx->snapshot != NULL && ctx->snapshot->now > now) {
        return ctx->snapshot->now;
    }

    return now;
}


ngx_int_t
ngx_http_relay_store_lookup(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx)
{
    size_t                      len;
    int64_t                     now;
    u_char                      email[RELAY_EMAIL_MAX];
    relay_buf_t                 key;
    relay_str_t                 digest, argv[2];
    ngx_http_relay_snapshot_t  *ss;
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

    now = ctx->snapshot ? ctx->snapshot->now : 0;

    ss = ngx_pcalloc(r->pool, sizeof(ngx_http_relay_snapshot_t));
    if (ss == NULL) {
        return NGX_ERROR;
    }

    ss->now = now;
    ctx->snapshot = ss;

    if (ctx->identity.email.len
        && relay_email_normalize(&ctx->identity.email, email, &len)
           == RELAY_OK
        && relay_identity_confirmed(&ctx->identity))
    {
        ss->email.data = ngx_pnalloc(r->pool, len);
        if (ss->email.data == NULL) {
            return NGX_ERROR;
        }

        ngx_memcpy(ss->email.data, email, len);
        ss->email.len = len;
    }

    relay_buf_init(&key, NGX_HTTP_RELAY_KEY_BUF);

    digest.data = ctx->link;
    digest.len = RELAY_DIGEST_LEN;

    (void) relay_key_link(&key, ngx_http_relay_str(&rlcf->prefix), &digest);

    if (key.failed) {
        goto failed;
    }

    relay_str_set(&argv[0], "GET");
    relay_buf_str(&key, &argv[1]);

    if (ngx_http_relay_store_submit(ctx, rlcf->redis->decisions,
                                    ngx_http_relay_store_link_reply, 0, NULL,
                                    2, argv)
        != NGX_OK)
    {
        goto failed;
    }

    /* blocks: of the subject, the issuer, the address, confirmed or not */

    relay_buf_reset(&key);

    if (relay_reader_key_subject(&ctx->identity.issuer, &ctx->identity.subject,
                                 &key)
        != RELAY_OK)
    {
        goto failed;
    }

    relay_buf_str(&key, &digest);

    if (ngx_http_relay_store_block(ctx, RELAY_BLOCK_SUBJECT, &digest) != NGX_OK
        || ngx_http_relay_store_block(ctx, RELAY_BLOCK_ISSUER,
                                      &ctx->identity.issuer)
           != NGX_OK)
    {
        goto failed;
    }

    if (ctx->identity.email.len
        && ngx_http_relay_store_address_blocks(ctx, &ctx->identity.email)
           != NGX_OK)
    {
        goto failed;
    }

    relay_buf_reset(&key);

    (void) relay_key_block_domains(&key, ngx_http_relay_str(&rlcf->prefix));

    if (ngx_http_relay_store_hgetall(ctx, ngx_http_relay_store_domains_reply,
                                     0, &key)
        != NGX_OK)
    {
        goto failed;
    }

    relay_buf_free(&key);

    return NGX_AGAIN;

failed:

    relay_buf_free(&key);
    ngx_http_relay_store_cleanup(ctx);

    return NGX_ERROR;
}


static ngx_int_t
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
            ngx_log_error(NGX_LOG_ERR, ctx->request->connection->log, 0,
                          "Redis refused: \"%V\"",
                          ngx_http_ngx_str(&reply->str));
        }

        ctx->failed = 1;

    } else if (!ctx->failed) {
        slot->handler(slot, reply);
    }

    if (ctx->pending == 0) {
        ngx_http_relay_store_resume(ctx);
    }
}


static void
ngx_http_relay_store_resume(ngx_http_relay_ctx_t *ctx)
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


void
ngx_http_relay_store_cleanup(ngx_http_relay_ctx_t *ctx)
{
    ngx_uint_t  i;

    for (i = 0; i < ngx_http_relay_ncmds(ctx); i++) {
        if (ctx->cmds[i] != NULL) {
            ngx_http_relay_redis_cancel(ctx->cmds[i]);
            ctx->cmds[i] = NULL;
        }
    }

    ctx->pending = 0;

    if (ctx->body != NULL) {
        ngx_http_relay_body_release(ctx->body);
        ctx->body = NULL;
    }
}


static void
ngx_http_relay_store_bad(ngx_http_relay_ctx_t *ctx, relay_str_t *key,
    const char *field)
{
    ctx->snapshot->bad_record = 1;

    ngx_log_error(NGX_LOG_ERR, ctx->request->connection->log, 0,
                  "bad record in Redis: key \"%V\", field \"%s\"",
                  ngx_http_ngx_str(key), field);
}


static ngx_int_t
ngx_http_relay_store_hgetall(ngx_http_relay_ctx_t *ctx,
    ngx_http_relay_reply_pt handler, ngx_uint_t n, relay_buf_t *key)
{
    relay_str_t                 argv[2];
    ngx_http_relay_loc_conf_t  *rlcf;

    if (key->failed) {
        return NGX_ERROR;
    }

    rlcf = ngx_http_get_module_loc_conf(ctx->request, ngx_http_relay_module);

    relay_str_set(&argv[0], "HGETALL");
    relay_buf_str(key, &argv[1]);

    return ngx_http_relay_store_submit(ctx, rlcf->redis->decisions, handler,
                                       n, NULL, 2, argv);
}


static ngx_int_t
ngx_http_relay_store_block(ngx_http_relay_ctx_t *ctx, relay_block_kind_e kind,
    const relay_str_t *value)
{
    ngx_int_t                   rc;
    relay_buf_t                 key;
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(ctx->request, ngx_http_relay_module);

    relay_buf_init(&key, NGX_HTTP_RELAY_KEY_BUF);

    (void) relay_key_block(&key, ngx_http_relay_str(&rlcf->prefix), kind,
                           value);

    rc = ngx_http_relay_store_hgetall(ctx, ngx_http_relay_store_block_reply,
                                      kind, &key);
    relay_buf_free(&key);

    return rc;
}


static ngx_int_t
ngx_http_relay_store_address_blocks(ngx_http_relay_ctx_t *ctx,
    const relay_str_t *email)
{
    size_t       len;
    u_char       buf[RELAY_EMAIL_MAX];
    relay_str_t  address, domain;

    if (relay_email_normalize(email, buf, &len) != RELAY_OK) {
        return NGX_OK;
    }

    address.data = buf;
    address.len = len;

    relay_email_domain(&address, &domain);

    if (ngx_http_relay_store_block(ctx, RELAY_BLOCK_EMAIL, &address)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_relay_store_block(ctx, RELAY_BLOCK_DOMAIN, &domain);
}


static void
ngx_http_relay_store_block_reply(ngx_http_relay_slot_t *slot,
    relay_resp_reply_t *reply)
{
    relay_str_t                 key;
    const char                 *field;
    relay_block_t              *block;
    ngx_http_relay_snapshot_t  *ss;

    ss = slot->ctx->snapshot;

    if (ss->nblocks == NGX_HTTP_RELAY_BLOCKS) {
        ss->bad_record = 1;
        return;
    }

    block = &ss->blocks[ss->nblocks++];

    if (relay_block_decode(reply, block, &field) != RELAY_OK) {
        relay_str_set(&key, "block");
        ngx_http_relay_store_bad(slot->ctx, &key, field);
        return;
    }

    block->reason.len = 0;
    block->reason.data = NULL;
}


static void
ngx_http_relay_store_domains_reply(ngx_http_relay_slot_t *slot,
    relay_resp_reply_t *reply)
{
    ngx_int_t           n;
    const relay_str_t  *count;

    count = relay_resp_field(reply, "count", sizeof("count") - 1);

    if (count == NULL) {
        return;
    }

    n = ngx_atoi(count->data, count->len);

    /* what is no number counts as blocked domains */

    slot->ctx->snapshot->domains_blocked = (n != 0);
}


static void
ngx_http_relay_store_link_reply(ngx_http_relay_slot_t *slot,
    relay_resp_reply_t *reply)
{
    size_t                 i;
    relay_str_t            key;
    ngx_http_relay_ctx_t  *ctx;

    ctx = slot->ctx;

    if (reply->type == RELAY_RESP_NIL) {
        return;
    }

    /* an id is logged: no control character */

    for (i = 0; i < reply->str.len; i++) {
        if (reply->str.data[i] < 0x20 || reply->str.data[i] == 0x7f) {
            break;
        }
    }

    if (reply->type != RELAY_RESP_BULK || reply->str.len == 0
        || reply->str.len > RELAY_KEY_MAX || i < reply->str.len)
    {
        relay_str_set(&key, "link");
        ngx_http_relay_store_bad(ctx, &key, "value");
        return;
    }

    ctx->relay.data = ngx_pstrdup(ctx->request->pool,
                                  ngx_http_ngx_str(&reply->str));
    if (ctx->relay.data == NULL) {
        ctx->failed = 1;
        return;
    }

    ctx->relay.len = reply->str.len;
    ctx->snapshot->link_found = 1;

    if (ngx_http_relay_store_records(ctx) != NGX_OK) {
        ctx->failed = 1;
    }
}


static ngx_int_t
ngx_http_relay_store_records(ngx_http_relay_ctx_t *ctx)
{
    ngx_uint_t                  i;
    relay_buf_t                 key, reader;
    relay_str_t                 digest, *id, *prefix, s, email;
    u_char                      hash[RELAY_DIGEST_LEN];
    ngx_http_relay_snapshot_t  *ss;
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(ctx->request, ngx_http_relay_module);

    ss = ctx->snapshot;
    id = ngx_http_relay_str(&ctx->relay);
    prefix = ngx_http_relay_str(&rlcf->prefix);

    ss->nrecords = ss->email.len ? 4 : 3;

    relay_buf_init(&key, NGX_HTTP_RELAY_KEY_BUF);
    relay_buf_init(&reader, NGX_HTTP_RELAY_KEY_BUF);

    for (i = 0; i < ss->nrecords; i++) {

        relay_buf_reset(&key);
        relay_buf_reset(&reader);

        digest.data = hash;
        digest.len = RELAY_DIGEST_LEN;

        switch (i) {

        case NGX_HTTP_RELAY_HEAD:
            (void) relay_key_head(&key, prefix, id);
            break;

        case NGX_HTTP_RELAY_LINK:
            digest.data = ctx->link;
            (void) relay_key_link_record(&key, prefix, id, &digest);
            break;

        case NGX_HTTP_RELAY_BY_SUBJECT:
            if (relay_reader_key_subject(&ctx->identity.issuer,
                                         &ctx->identity.subject, &reader)
                != RELAY_OK)
            {
                goto failed;
            }

            relay_buf_str(&reader, &s);
            relay_digest(&s, hash);
            (void) relay_key_grant(&key, prefix, id, &digest);
            break;

        default: /* NGX_HTTP_RELAY_BY_EMAIL */
            email.data = ss->email.data;
            email.len = ss->email.len;

            if (relay_reader_key_email(&email, &reader) != RELAY_OK) {
                goto failed;
            }

            relay_buf_str(&reader, &s);
            relay_digest(&s, hash);
            (void) relay_key_grant(&key, prefix, id, &digest);
        }

        if (key.failed) {
            goto failed;
        }

        relay_buf_str(&key, &ss->keys[i]);

        if (ngx_http_relay_store_copy(ctx->request->pool, &ss->keys[i])
            != NGX_OK
            || ngx_http_relay_store_hgetall(ctx,
                                           ngx_http_relay_store_record_reply,
                                           i, &key)
               != NGX_OK)
        {
            goto failed;
        }
    }

    relay_buf_free(&key);
    relay_buf_free(&reader);

    return NGX_OK;

failed:

    relay_buf_free(&key);
    relay_buf_free(&reader);

    return NGX_ERROR;
}


static ngx_int_t
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


/* Decodes a record and copies what outlives the reply. */

static void
ngx_http_relay_store_record_reply(ngx_http_relay_slot_t *slot,
    relay_resp_reply_t *reply)
{
    ngx_uint_t                  i, n;
    relay_buf_t                 buf;
    relay_int_t                 rc;
    relay_str_t                *strings[7];
    const char                 *field;
    relay_grant_t              *grant;
    ngx_http_relay_ctx_t       *ctx;
    ngx_http_relay_snapshot_t  *ss;

    ctx = slot->ctx;
    ss = ctx->snapshot;
    n = 0;

    switch (slot->n) {

    case NGX_HTTP_RELAY_HEAD:
        rc = relay_head_decode(reply, &ss->head, &field);

        strings[n++] = &ss->head.schema;
        strings[n++] = &ss->head.email;
        strings[n++] = &ss->head.title;
        strings[n++] = &ss->head.digest;
        strings[n++] = &ss->head.owner_iss;
        strings[n++] = &ss->head.owner_sub;
        strings[n++] = &ss->head.owner_email;
        break;

    case NGX_HTTP_RELAY_LINK:
        rc = relay_link_decode(reply, &ss->link, &field);
        break;

    default:
        grant = (slot->n == NGX_HTTP_RELAY_BY_EMAIL) ? &ss->by_email
                                                     : &ss->by_subject;
        rc = relay_grant_decode(reply, grant, &field);

        strings[n++] = &grant->id;
        strings[n++] = &grant->link;
        strings[n++] = &grant->iss;
        strings[n++] = &grant->sub;
        strings[n++] = &grant->email;
        strings[n++] = &grant->name;
    }

    if (rc != RELAY_OK) {
        ngx_http_relay_store_bad(ctx, &ss->keys[slot->n], field);
        return;
    }

    for (i = 0; i < n; i++) {
        if (ngx_http_relay_store_copy(ctx->request->pool, strings[i])
            != NGX_OK)
        {
            ctx->failed = 1;
            return;
        }
    }

    relay_buf_init(&buf, RELAY_DOCUMENT_MAX);

    if (relay_keys_fingerprint(reply, &buf) != RELAY_OK) {
        ctx->failed = 1;
        relay_buf_free(&buf);
        return;
    }

    relay_buf_str(&buf, &ss->fingerprints[slot->n]);

    if (ngx_http_relay_store_copy(ctx->request->pool,
                                  &ss->fingerprints[slot->n])
        != NGX_OK)
    {
        ctx->failed = 1;
    }

    relay_buf_free(&buf);

    if (slot->n == NGX_HTTP_RELAY_BY_SUBJECT && !ctx->failed
        && ngx_http_relay_store_stored(ctx) != NGX_OK)
    {
        ctx->failed = 1;
    }
}


/*
 * A grant by subject may remember an address that the identity does not show:
 * a block of it holds as well.
 */

static ngx_int_t
ngx_http_relay_store_stored(ngx_http_relay_ctx_t *ctx)
{
    ngx_http_relay_snapshot_t  *ss;

    ss = ctx->snapshot;

    if (ss->stored_blocks || !ss->by_subject.found
        || ss->by_subject.email.len == 0
        || relay_email_equal(&ss->by_subject.email, &ctx->identity.email))
    {
        return NGX_OK;
    }

    ss->stored_blocks = 1;

    return ngx_http_relay_store_address_blocks(ctx, &ss->by_subject.email);
}


ngx_int_t
ngx_http_relay_store_input(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx,
    relay_grant_input_t *in)
{
    ngx_http_relay_snapshot_t  *ss;
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

    ss = ctx->snapshot;

    if (!ctx->failed && ss->bad_record) {
        return NGX_DECLINED;
    }

    ngx_memzero(in, sizeof(relay_grant_input_t));

    in->now = ngx_http_relay_store_now(ctx);
    in->identity = &ctx->identity;
    in->store_failed = ctx->failed;
    in->link_found = ss->link_found;
    in->head = &ss->head;
    in->link = &ss->link;
    in->by_email = &ss->by_email;
    in->by_subject = &ss->by_subject;
    in->blocks = ss->blocks;
    in->nblocks = ss->nblocks;
    in->domains_blocked = ss->domains_blocked;
    in->act = ctx->act;
    in->accept_version = ctx->accept_version;
    in->needed = RELAY_PERMISSION_READ;
    in->accept = rlcf->accept;
    in->bind_subject = rlcf->bind_subject;
    in->conceal = rlcf->conceal;
    in->anyone_view = rlcf->anyone_view;
    in->view = rlcf->view;

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


/* The receipt of this request and the name of its stream, in r->pool. */

static ngx_int_t
ngx_http_relay_store_receipt(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx,
    relay_receipt_kind_e kind, relay_str_t *stream, relay_str_t *receipt)
{
    ngx_int_t                   rc;
    relay_buf_t                 buf, key;
    relay_receipt_t             rec;
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

    relay_buf_init(&buf, RELAY_RECEIPT_MAX);
    relay_buf_init(&key, NGX_HTTP_RELAY_KEY_BUF);

    rc = NGX_ERROR;

    if (ngx_http_relay_receipt_fill(r, ctx, kind, &rec) == NGX_OK
        && relay_receipt_encode(&rec, &buf) == RELAY_OK
        && relay_key_receipts(&key, ngx_http_relay_str(&rlcf->prefix),
                              ngx_http_relay_str(&ctx->relay))
           == RELAY_OK)
    {
        relay_buf_str(&buf, receipt);
        relay_buf_str(&key, stream);

        if (ngx_http_relay_store_copy(r->pool, receipt) == NGX_OK) {
            rc = ngx_http_relay_store_copy(r->pool, stream);
        }
    }

    relay_buf_free(&buf);
    relay_buf_free(&key);

    return rc;
}


static ngx_int_t
ngx_http_relay_store_run(ngx_http_relay_ctx_t *ctx,
    const relay_script_t *script, ngx_uint_t argc, relay_str_t *argv)
{
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(ctx->request, ngx_http_relay_module);

    ctx->snapshot->word.len = 0;

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
    relay_str_t                *argv, stream, receipt;
    const relay_script_t       *script;
    ngx_http_relay_snapshot_t  *ss;

    ss = ctx->snapshot;
    script = relay_script("serve");

    argv = ngx_palloc(r->pool, 16 * sizeof(relay_str_t));
    p = ngx_pnalloc(r->pool, NGX_INT_T_LEN);

    if (script == NULL || argv == NULL || p == NULL
        || ngx_http_relay_store_receipt(r, ctx,
               ctx->decision.reason == RELAY_REASON_PREVIEW
               ? RELAY_RECEIPT_PREVIEW : RELAY_RECEIPT_READ, &stream, &receipt)
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

    ngx_http_relay_arg(argv, n, stream);
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
    relay_str_t                *argv, stream, receipt, link;
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

    if (ngx_http_relay_store_receipt(r, ctx, RELAY_RECEIPT_ACCEPT, &stream,
                                     &receipt)
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

    ngx_http_relay_arg(argv, n, stream);
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
    int64_t                     now;
    relay_str_t                 word;
    ngx_http_relay_ctx_t       *ctx;
    ngx_http_relay_snapshot_t  *ss;

    ctx = slot->ctx;
    ss = ctx->snapshot;

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

    ss->word.len = word.len;
    ss->word.data = word.data;

    if (relay_str_is(&word, "expired") && reply->n > 1) {

        now = 0;

        if (reply->elts[1]->type == RELAY_RESP_INTEGER) {
            now = reply->elts[1]->integer;

        } else if (reply->elts[1]->type == RELAY_RESP_BULK) {
            now = ngx_atoof(reply->elts[1]->str.data, reply->elts[1]->str.len);
        }

        /* Redis's clock is ahead of ours: its word on expiry holds */

        if (now > ss->now) {
            ss->now = now;
        }
    }
}


void
ngx_http_relay_store_word(ngx_http_relay_ctx_t *ctx, ngx_str_t *word)
{
    *word = ctx->snapshot->word;
}


ngx_int_t
ngx_http_relay_store_view(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx)
{
    relay_buf_t                  buf, key;
    ngx_int_t                    rc;
    relay_str_t                  argv[2], id;
    ngx_uint_t                   cached;
    ngx_http_relay_snapshot_t   *ss;
    ngx_http_relay_loc_conf_t   *rlcf;
    ngx_http_relay_main_conf_t  *rmcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);
    rmcf = ngx_http_get_module_main_conf(r, ngx_http_relay_module);

    ss = ctx->snapshot;

    relay_buf_init(&buf, NGX_HTTP_RELAY_KEY_BUF);
    relay_buf_init(&key, NGX_HTTP_RELAY_KEY_BUF);

    rc = NGX_ERROR;

    if (!relay_str_eq(&ss->head.schema,
                      relay_view_policy_schema(rmcf->policy)))
    {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "no view policy for document type \"%V\" of relay "
                      "\"%V\"", ngx_http_ngx_str(&ss->head.schema),
                      &ctx->relay);
        rc = NGX_DECLINED;
        goto done;
    }

    if (relay_key_document(&key, ngx_http_relay_str(&rlcf->prefix),
                           ngx_http_relay_str(&ctx->relay),
                           ctx->decision.version)
        != RELAY_OK)
    {
        goto done;
    }

    /*
     * Endpoint, document (prefix, relay, version, digest), epoch of the head,
     * view.  The head knows the digest of its current version alone; without
     * it a relay that was wiped and published anew could not be told apart.
     */

    cached = rmcf->zone != NULL && ss->head.digest.len
             && ctx->decision.version == ss->head.version;

    relay_buf_printf(&buf, "%.*s\n%.*s\n%.*s\n%lld\n%d\n%d\n%.*s",
                     (int) rlcf->redis->url.len, rlcf->redis->url.data,
                     (int) key.len, key.data,
                     (int) ss->head.digest.len, ss->head.digest.data,
                     (long long) ss->head.epoch,
                     (int) ctx->decision.view, (int) ctx->decision.permission,
                     RELAY_DIGEST_LEN,
                     relay_view_policy_digest(rmcf->policy)->data);

    if (buf.failed) {
        goto done;
    }

    relay_buf_str(&buf, &id);

    if (!ss->asked) {

        if (cached) {
            ctx->body = ngx_http_relay_cache_get(rmcf->zone,
                                                 ngx_http_ngx_str(&id),
                                                 ngx_http_relay_store_now(ctx),
                                                 r->connection->log);
            if (ctx->body != NULL) {
                rc = NGX_OK;
                goto done;
            }
        }

        relay_str_set(&argv[0], "GET");
        relay_buf_str(&key, &argv[1]);

        ss->asked = 1;

        rc = ngx_http_relay_store_submit(ctx, rlcf->redis->documents,
                                         ngx_http_relay_store_document_reply,
                                         0, NULL, 2, argv);
        if (rc == NGX_OK) {
            rc = NGX_AGAIN;
        }

        goto done;
    }

    if (ss->document.len == 0) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "document \"%*s\" is not in Redis", key.len, key.data);
        rc = NGX_DECLINED;
        goto done;
    }

    ctx->body = ngx_http_relay_store_project(r, ctx);

    if (ctx->body == NULL) {
        rc = NGX_DECLINED;
        goto done;
    }

    if (cached) {
        ngx_http_relay_cache_put(rmcf->zone, ngx_http_ngx_str(&id), ctx->body);
    }

    rc = NGX_OK;

done:

    relay_buf_free(&buf);
    relay_buf_free(&key);

    return rc;
}


static void
ngx_http_relay_store_document_reply(ngx_http_relay_slot_t *slot,
    relay_resp_reply_t *reply)
{
    ngx_http_relay_ctx_t  *ctx;

    ctx = slot->ctx;

    if (reply->type != RELAY_RESP_BULK) {
        return;
    }

    ctx->snapshot->document = reply->str;

    if (ngx_http_relay_store_copy(ctx->request->pool,
                                  &ctx->snapshot->document)
        != NGX_OK)
    {
        ctx->failed = 1;
    }
}


/* NULL: withheld; the cause was logged. */

static ngx_http_relay_body_t *
ngx_http_relay_store_project(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx)
{
    size_t                       i;
    u_char                      *p;
    int64_t                      version;
    relay_str_t                 *doc, s;
    const char                  *why;
    relay_json_error_t           err;
    relay_view_params_t          params;
    ngx_http_relay_body_t       *body;
    ngx_http_relay_main_conf_t  *rmcf;

    rmcf = ngx_http_get_module_main_conf(r, ngx_http_relay_module);

    doc = &ctx->snapshot->document;

    if (relay_json_parse(&ngx_http_relay_tape, doc,
                         &relay_json_default_limits, &err)
        != RELAY_OK)
    {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "document of relay \"%V\" withheld: line %uz, "
                      "column %uz: %s", &ctx->relay, err.line, err.column,
                      err.text ? err.text : "no memory");
        return NULL;
    }

    /* a document under another's key, or another version, is nobody's */

    why = "its id is not the relay's";

    i = relay_json_get(&ngx_http_relay_tape, doc, 0, "id", 2);

    if (i == 0 || !relay_json_str_is(&ngx_http_relay_tape, doc, i,
                                     (char *) ctx->relay.data, ctx->relay.len))
    {
        goto withheld;
    }

    why = "its version is not the one it is stored under";

    i = relay_json_get(&ngx_http_relay_tape, doc, 0, "version", 7);

    if (i == 0
        || relay_json_int(&ngx_http_relay_tape, doc, i, &version) != RELAY_OK
        || version != ctx->decision.version)
    {
        goto withheld;
    }

    params.now = ngx_http_relay_store_now(ctx);
    params.permission = ctx->decision.permission;

    why = "no memory";

    if (relay_view_project(rmcf->policy, doc, &ngx_http_relay_tape,
                           ctx->decision.view, &params, &ngx_http_relay_out,
                           &why)
        != RELAY_OK)
    {
        goto withheld;
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

    s.data = body->data;
    s.len = body->len;

    relay_digest(&s, body->digest);

    return body;

withheld:

    ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                  "document of relay \"%V\" withheld: %s", &ctx->relay, why);

    return NULL;
}
