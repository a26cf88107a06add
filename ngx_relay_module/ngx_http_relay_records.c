
/*
 * The records that a decision rests on: asked of Redis, and remembered by this
 * process once serve.lua has found them true.  A remembered record never
 * decides alone: serve.lua compares it with what is stored in the same step
 * that makes the receipt, and whatever is no plain "yes" is asked afresh.
 * Blocks, which lie in other slots, are remembered for relay_block_bound.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_http_relay_store.h"


#define NGX_HTTP_RELAY_SNAPSHOTS      4096      /* remembered per process */
#define NGX_HTTP_RELAY_SNAPSHOT_POOL  4096

#define NGX_HTTP_RELAY_SNAPSHOT_KEY   (sizeof(ngx_http_relay_redis_conf_t *)  \
                                       + RELAY_DIGEST_LEN                     \
                                       + RELAY_PREFIX_MAX                     \
                                       + RELAY_ISSUER_MAX + RELAY_SUBJECT_MAX \
                                       + RELAY_EMAIL_MAX + 4)


static ngx_http_relay_snapshot_t *ngx_http_relay_snapshot_create(
    ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx, ngx_str_t *key,
    uint32_t hash);
static size_t ngx_http_relay_snapshot_key(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, u_char *key);
static ngx_int_t ngx_http_relay_records_ask(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx);
static ngx_int_t ngx_http_relay_records_blocks(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx);
static ngx_int_t ngx_http_relay_records_hgetall(ngx_http_relay_ctx_t *ctx,
    ngx_http_relay_reply_pt handler, ngx_uint_t n, relay_buf_t *key);
static ngx_int_t ngx_http_relay_records_block(ngx_http_relay_ctx_t *ctx,
    relay_block_kind_e kind, const relay_str_t *value);
static ngx_int_t ngx_http_relay_records_address(ngx_http_relay_ctx_t *ctx,
    const relay_str_t *email);
static ngx_int_t ngx_http_relay_records_relay(ngx_http_relay_ctx_t *ctx,
    ngx_str_t *id);
static void ngx_http_relay_records_link_reply(ngx_http_relay_slot_t *slot,
    relay_resp_reply_t *reply);
static void ngx_http_relay_records_reply(ngx_http_relay_slot_t *slot,
    relay_resp_reply_t *reply);
static void ngx_http_relay_records_block_reply(ngx_http_relay_slot_t *slot,
    relay_resp_reply_t *reply);
static void ngx_http_relay_records_domains_reply(ngx_http_relay_slot_t *slot,
    relay_resp_reply_t *reply);
static ngx_int_t ngx_http_relay_records_stored(ngx_http_relay_ctx_t *ctx);
static void ngx_http_relay_records_bad(ngx_http_relay_ctx_t *ctx,
    relay_str_t *key, const char *field);


/* of this process: most recently used first */

static ngx_rbtree_t       ngx_http_relay_snapshots;
static ngx_rbtree_node_t  ngx_http_relay_snapshots_sentinel;
static ngx_queue_t        ngx_http_relay_snapshots_queue;
static ngx_uint_t         ngx_http_relay_nsnapshots;


ngx_int_t
ngx_http_relay_records_init_process(ngx_cycle_t *cycle)
{
    ngx_rbtree_init(&ngx_http_relay_snapshots,
                    &ngx_http_relay_snapshots_sentinel,
                    ngx_str_rbtree_insert_value);
    ngx_queue_init(&ngx_http_relay_snapshots_queue);

    ngx_http_relay_nsnapshots = 0;

    return NGX_OK;
}


void
ngx_http_relay_records_exit_process(ngx_cycle_t *cycle)
{
    ngx_queue_t  *q;

    while (!ngx_queue_empty(&ngx_http_relay_snapshots_queue)) {
        q = ngx_queue_head(&ngx_http_relay_snapshots_queue);

        ngx_http_relay_records_forget(ngx_queue_data(q,
                                          ngx_http_relay_snapshot_t, queue));
    }
}


ngx_int_t
ngx_http_relay_records_lookup(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx,
    ngx_uint_t fresh)
{
    u_char                      buf[NGX_HTTP_RELAY_SNAPSHOT_KEY];
    uint32_t                    hash;
    ngx_int_t                   rc;
    ngx_str_t                   key;
    ngx_http_relay_snapshot_t  *ss;
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

    /* what was found before is not decided on any more */

    ngx_http_relay_snapshot_release(ctx->snapshot);

    ctx->snapshot = NULL;
    ctx->blocks = NULL;
    ctx->bad_record = 0;
    ctx->remembered = 0;
    ngx_str_null(&ctx->relay);
    ngx_str_null(&ctx->isolation);
    ngx_str_null(&ctx->grant);
    ngx_memzero(&ctx->decision, sizeof(relay_decision_t));

    key.data = buf;
    key.len = ngx_http_relay_snapshot_key(r, ctx, buf);

    hash = ngx_murmur_hash2(key.data, key.len);

    ss = (ngx_http_relay_snapshot_t *)
             ngx_str_rbtree_lookup(&ngx_http_relay_snapshots, &key, hash);

    if (ss != NULL && fresh) {
        ngx_http_relay_records_forget(ss);
        ss = NULL;
    }

    if (ss == NULL) {
        ctx->snapshot = ngx_http_relay_snapshot_create(r, ctx, &key, hash);

        if (ctx->snapshot == NULL) {
            return NGX_ERROR;
        }

        rc = ngx_http_relay_records_ask(r, ctx);

    } else {
        ngx_queue_remove(&ss->queue);
        ngx_queue_insert_head(&ngx_http_relay_snapshots_queue, &ss->queue);

        ss->refs++;

        ctx->snapshot = ss;
        ctx->relay = ss->relay;
        ctx->remembered = 1;

        if (ngx_http_relay_monotonic() - ss->blocks.asked < rlcf->block_bound)
        {
            return NGX_OK;
        }

        rc = ngx_http_relay_records_blocks(r, ctx);

        if (rc == NGX_OK) {
            rc = ngx_http_relay_records_stored(ctx);
        }
    }

    if (rc != NGX_OK) {
        ngx_http_relay_store_cancel(ctx);
        return NGX_ERROR;
    }

    return NGX_AGAIN;
}


static ngx_http_relay_snapshot_t *
ngx_http_relay_snapshot_create(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, ngx_str_t *key, uint32_t hash)
{
    size_t                      len;
    u_char                      email[RELAY_EMAIL_MAX];
    ngx_pool_t                 *pool;
    relay_str_t                 normalized;
    relay_identity_t           *id;
    ngx_http_relay_snapshot_t  *ss;

    pool = ngx_create_pool(NGX_HTTP_RELAY_SNAPSHOT_POOL, ngx_cycle->log);
    if (pool == NULL) {
        return NULL;
    }

    ss = ngx_pcalloc(pool, sizeof(ngx_http_relay_snapshot_t));
    if (ss == NULL) {
        goto failed;
    }

    id = &ctx->identity;

    ss->pool = pool;
    ss->refs = 1;
    ss->sn.node.key = hash;
    ss->sn.str = *key;

    if (ngx_http_relay_store_copy(pool, ngx_http_relay_str(&ss->sn.str))
        != NGX_OK)
    {
        goto failed;
    }

    if (relay_identity_confirmed(id)
        && relay_email_normalize(&id->email, email, &len) == RELAY_OK)
    {
        normalized.data = email;
        normalized.len = len;

        if (ngx_http_relay_store_copy(pool, &normalized) != NGX_OK) {
            goto failed;
        }

        *ngx_http_relay_str(&ss->email) = normalized;
    }

    return ss;

failed:

    ngx_destroy_pool(pool);

    return NULL;
}


void
ngx_http_relay_snapshot_release(ngx_http_relay_snapshot_t *ss)
{
    if (ss != NULL && --ss->refs == 0) {
        ngx_destroy_pool(ss->pool);
    }
}


/*
 * What a snapshot is found by: the address, which may be anything, is last.  0:
 * it cannot be found.
 */

static size_t
ngx_http_relay_snapshot_key(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx,
    u_char *key)
{
    u_char                     *p;
    relay_identity_t           *id;
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

    id = &ctx->identity;

    /* an address may have spaces around it: there is no limit to these */

    if (id->email.len > RELAY_EMAIL_MAX) {
        return 0;
    }

    p = ngx_cpymem(key, &rlcf->redis, sizeof(ngx_http_relay_redis_conf_t *));
    p = ngx_cpymem(p, ctx->link, RELAY_DIGEST_LEN);
    p = ngx_cpymem(p, rlcf->prefix.data, rlcf->prefix.len);
    *p++ = '\n';
    p = ngx_cpymem(p, id->issuer.data, id->issuer.len);
    *p++ = '\n';
    p = ngx_cpymem(p, id->subject.data, id->subject.len);
    *p++ = '\n';
    *p++ = relay_identity_confirmed(id) ? '1' : '0';

    if (id->email.len) {
        p = ngx_cpymem(p, id->email.data, id->email.len);
    }

    return p - key;
}


void
ngx_http_relay_records_remember(ngx_http_relay_ctx_t *ctx)
{
    ngx_queue_t                *q;
    ngx_http_relay_snapshot_t  *ss;

    ss = ctx->snapshot;

    if (ss->cached || ctx->remembered || ss->sn.str.len == 0) {
        return;
    }

    /* another request of this reader may have been faster */

    ngx_http_relay_records_forget((ngx_http_relay_snapshot_t *)
                  ngx_str_rbtree_lookup(&ngx_http_relay_snapshots, &ss->sn.str,
                                        ss->sn.node.key));

    if (ngx_http_relay_nsnapshots >= NGX_HTTP_RELAY_SNAPSHOTS) {
        q = ngx_queue_last(&ngx_http_relay_snapshots_queue);

        ngx_http_relay_records_forget(ngx_queue_data(q,
                                          ngx_http_relay_snapshot_t, queue));
    }

    ss->cached = 1;
    ss->refs++;

    ngx_rbtree_insert(&ngx_http_relay_snapshots, &ss->sn.node);
    ngx_queue_insert_head(&ngx_http_relay_snapshots_queue, &ss->queue);
    ngx_http_relay_nsnapshots++;
}


void
ngx_http_relay_records_forget(ngx_http_relay_snapshot_t *ss)
{
    if (ss == NULL || !ss->cached) {
        return;
    }

    ss->cached = 0;

    ngx_rbtree_delete(&ngx_http_relay_snapshots, &ss->sn.node);
    ngx_queue_remove(&ss->queue);
    ngx_http_relay_nsnapshots--;

    ngx_http_relay_snapshot_release(ss);
}


/* The link, which leads to the records, and meanwhile the blocks. */

static ngx_int_t
ngx_http_relay_records_ask(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx)
{
    ngx_int_t                   rc;
    relay_buf_t                 key;
    relay_str_t                 digest, argv[2];
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

    relay_buf_init(&key, NGX_HTTP_RELAY_KEY_BUF);

    digest.data = ctx->link;
    digest.len = RELAY_DIGEST_LEN;

    rc = NGX_ERROR;

    if (relay_key_link(&key, ngx_http_relay_str(&rlcf->prefix), &digest)
        == RELAY_OK)
    {
        relay_str_set(&argv[0], "GET");
        relay_buf_str(&key, &argv[1]);

        rc = ngx_http_relay_store_submit(ctx, rlcf->redis->decisions,
                                         ngx_http_relay_records_link_reply, 0,
                                         NULL, 2, argv);
    }

    relay_buf_free(&key);

    if (rc != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_relay_records_blocks(r, ctx);
}


/* Blocks of the subject, the issuer, the address, confirmed or not. */

static ngx_int_t
ngx_http_relay_records_blocks(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx)
{
    ngx_int_t                   rc;
    relay_buf_t                 key;
    relay_str_t                 reader;
    relay_identity_t           *id;
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

    id = &ctx->identity;

    ctx->blocks = ngx_pcalloc(r->pool, sizeof(ngx_http_relay_blocks_t));
    if (ctx->blocks == NULL) {
        return NGX_ERROR;
    }

    ctx->blocks->asked = ngx_http_relay_monotonic();

    relay_buf_init(&key, NGX_HTTP_RELAY_KEY_BUF);

    rc = NGX_ERROR;

    if (relay_reader_key_subject(&id->issuer, &id->subject, &key) != RELAY_OK)
    {
        goto done;
    }

    relay_buf_str(&key, &reader);

    if (ngx_http_relay_records_block(ctx, RELAY_BLOCK_SUBJECT, &reader)
        != NGX_OK
        || ngx_http_relay_records_block(ctx, RELAY_BLOCK_ISSUER, &id->issuer)
           != NGX_OK
        || ngx_http_relay_records_address(ctx, &id->email) != NGX_OK)
    {
        goto done;
    }

    relay_buf_reset(&key);

    (void) relay_key_block_domains(&key, ngx_http_relay_str(&rlcf->prefix));

    rc = ngx_http_relay_records_hgetall(ctx,
                                        ngx_http_relay_records_domains_reply,
                                        0, &key);

done:

    relay_buf_free(&key);

    return rc;
}


static ngx_int_t
ngx_http_relay_records_hgetall(ngx_http_relay_ctx_t *ctx,
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
ngx_http_relay_records_block(ngx_http_relay_ctx_t *ctx,
    relay_block_kind_e kind, const relay_str_t *value)
{
    ngx_int_t                   rc;
    relay_buf_t                 key;
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(ctx->request, ngx_http_relay_module);

    relay_buf_init(&key, NGX_HTTP_RELAY_KEY_BUF);

    (void) relay_key_block(&key, ngx_http_relay_str(&rlcf->prefix), kind,
                           value);

    rc = ngx_http_relay_records_hgetall(ctx,
                                        ngx_http_relay_records_block_reply,
                                        kind, &key);
    relay_buf_free(&key);

    return rc;
}


static ngx_int_t
ngx_http_relay_records_address(ngx_http_relay_ctx_t *ctx,
    const relay_str_t *email)
{
    size_t       len;
    u_char       buf[RELAY_EMAIL_MAX];
    relay_str_t  address, domain;

    if (email->len == 0
        || relay_email_normalize(email, buf, &len) != RELAY_OK)
    {
        return NGX_OK;
    }

    address.data = buf;
    address.len = len;

    relay_email_domain(&address, &domain);

    if (ngx_http_relay_records_block(ctx, RELAY_BLOCK_EMAIL, &address)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_relay_records_block(ctx, RELAY_BLOCK_DOMAIN, &domain);
}


static void
ngx_http_relay_records_block_reply(ngx_http_relay_slot_t *slot,
    relay_resp_reply_t *reply)
{
    relay_str_t               key;
    const char               *field;
    relay_block_t            *block;
    ngx_http_relay_blocks_t  *blocks;

    blocks = slot->ctx->blocks;

    if (blocks->n == NGX_HTTP_RELAY_BLOCKS) {
        slot->ctx->bad_record = 1;
        return;
    }

    block = &blocks->blocks[blocks->n++];

    if (relay_block_decode(reply, block, &field) != RELAY_OK) {
        relay_str_set(&key, "block");
        ngx_http_relay_records_bad(slot->ctx, &key, field);
        return;
    }

    block->reason.len = 0;
    block->reason.data = NULL;
}


static void
ngx_http_relay_records_domains_reply(ngx_http_relay_slot_t *slot,
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

    slot->ctx->blocks->domains_blocked = (n != 0);
}


static void
ngx_http_relay_records_link_reply(ngx_http_relay_slot_t *slot,
    relay_resp_reply_t *reply)
{
    size_t                      i;
    ngx_str_t                   id;
    relay_str_t                 key;
    ngx_http_relay_ctx_t       *ctx;
    ngx_http_relay_snapshot_t  *ss;
    ngx_http_relay_loc_conf_t  *rlcf;

    ctx = slot->ctx;
    ss = ctx->snapshot;

    if (reply->type == RELAY_RESP_NIL) {

        rlcf = ngx_http_get_module_loc_conf(ctx->request,
                                            ngx_http_relay_module);

        /*
         * Nobody shall see from the time that it takes whether a link exists:
         * the records of a relay that there is none of are asked for.
         */

        if (rlcf->conceal) {
            id.len = RELAY_DIGEST_LEN;
            id.data = ctx->link;

            if (ngx_http_relay_records_relay(ctx, &id) != NGX_OK) {
                ctx->failed = 1;
            }
        }

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
        ngx_http_relay_records_bad(ctx, &key, "value");
        return;
    }

    if (ngx_http_relay_store_copy(ss->pool, &reply->str) != NGX_OK) {
        ctx->failed = 1;
        return;
    }

    *ngx_http_relay_str(&ss->relay) = reply->str;
    ss->link_found = 1;
    ctx->relay = ss->relay;

    if (ngx_http_relay_records_relay(ctx, &ss->relay) != NGX_OK) {
        ctx->failed = 1;
    }
}


/* Asks for head, link and the reader's grants. */

static ngx_int_t
ngx_http_relay_records_relay(ngx_http_relay_ctx_t *ctx, ngx_str_t *id)
{
    ngx_uint_t                  i;
    relay_buf_t                 key, reader;
    relay_int_t                 rc;
    relay_str_t                 digest, s;
    u_char                      hash[RELAY_DIGEST_LEN];
    const relay_str_t          *prefix, *relay;
    ngx_http_relay_snapshot_t  *ss;
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(ctx->request, ngx_http_relay_module);

    ss = ctx->snapshot;
    relay = ngx_http_relay_str(id);
    prefix = ngx_http_relay_str(&rlcf->prefix);

    ss->nrecords = ss->email.len ? 4 : 3;

    relay_buf_init(&key, NGX_HTTP_RELAY_KEY_BUF);
    relay_buf_init(&reader, NGX_HTTP_RELAY_KEY_BUF);

    rc = relay_key_receipts(&key, prefix, relay);

    if (rc != RELAY_OK) {
        goto done;
    }

    relay_buf_str(&key, &ss->stream);

    rc = ngx_http_relay_store_copy(ss->pool, &ss->stream);

    for (i = 0; rc == RELAY_OK && i < ss->nrecords; i++) {

        relay_buf_reset(&key);
        relay_buf_reset(&reader);

        digest.data = hash;
        digest.len = RELAY_DIGEST_LEN;

        switch (i) {

        case NGX_HTTP_RELAY_HEAD:
            rc = relay_key_head(&key, prefix, relay);
            break;

        case NGX_HTTP_RELAY_LINK:
            digest.data = ctx->link;
            rc = relay_key_link_record(&key, prefix, relay, &digest);
            break;

        default:

            if (i == NGX_HTTP_RELAY_BY_SUBJECT) {
                rc = relay_reader_key_subject(&ctx->identity.issuer,
                                              &ctx->identity.subject, &reader);
            } else {
                rc = relay_reader_key_email(ngx_http_relay_str(&ss->email),
                                            &reader);
            }

            if (rc == RELAY_OK) {
                relay_buf_str(&reader, &s);
                relay_digest(&s, hash);
                rc = relay_key_grant(&key, prefix, relay, &digest);
            }
        }

        if (rc == RELAY_OK) {
            relay_buf_str(&key, &ss->keys[i]);
            rc = ngx_http_relay_store_copy(ss->pool, &ss->keys[i]);
        }

        if (rc == RELAY_OK) {
            rc = ngx_http_relay_records_hgetall(ctx,
                                                ngx_http_relay_records_reply,
                                                i, &key);
        }
    }

done:

    relay_buf_free(&key);
    relay_buf_free(&reader);

    return rc == RELAY_OK ? NGX_OK : NGX_ERROR;
}


/* Decodes a record and copies what outlives the reply. */

static void
ngx_http_relay_records_reply(ngx_http_relay_slot_t *slot,
    relay_resp_reply_t *reply)
{
    ngx_uint_t                  i, n;
    relay_buf_t                 buf;
    relay_int_t                 rc;
    relay_str_t                *strings[9];
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
        strings[n++] = &ss->head.isolation;
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
        ngx_http_relay_records_bad(ctx, &ss->keys[slot->n], field);

        /* what was decoded before points into the reply */

        for (i = 0; i < n; i++) {
            relay_str_set(strings[i], "");
        }

        return;
    }

    relay_buf_init(&buf, RELAY_DOCUMENT_MAX);

    if (relay_keys_fingerprint(reply, &buf) != RELAY_OK) {
        relay_buf_free(&buf);
        ctx->failed = 1;
        return;
    }

    relay_buf_str(&buf, &ss->fingerprints[slot->n]);

    strings[n++] = &ss->fingerprints[slot->n];

    for (i = 0; i < n; i++) {
        if (ngx_http_relay_store_copy(ss->pool, strings[i]) != NGX_OK) {
            ctx->failed = 1;
            break;
        }
    }

    relay_buf_free(&buf);

    if (slot->n == NGX_HTTP_RELAY_BY_SUBJECT && !ctx->failed) {

        ss->stored_blocks = ss->by_subject.found
                            && ss->by_subject.email.len
                            && !relay_email_equal(&ss->by_subject.email,
                                                  &ctx->identity.email);

        if (ngx_http_relay_records_stored(ctx) != NGX_OK) {
            ctx->failed = 1;
        }
    }
}


/*
 * A grant by subject may remember an address that the identity does not show:
 * a block of it holds as well.
 */

static ngx_int_t
ngx_http_relay_records_stored(ngx_http_relay_ctx_t *ctx)
{
    ngx_http_relay_snapshot_t  *ss;

    ss = ctx->snapshot;

    if (!ss->stored_blocks) {
        return NGX_OK;
    }

    return ngx_http_relay_records_address(ctx, &ss->by_subject.email);
}


static void
ngx_http_relay_records_bad(ngx_http_relay_ctx_t *ctx, relay_str_t *key,
    const char *field)
{
    ctx->bad_record = 1;

    ngx_log_error(NGX_LOG_ERR, ctx->request->connection->log, 0,
                  "bad record in Redis: key \"%V\", field \"%s\"",
                  ngx_http_ngx_str(key), field);
}


ngx_int_t
ngx_http_relay_records_input(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx,
    relay_grant_input_t *in)
{
    ngx_http_relay_snapshot_t  *ss;
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

    ss = ctx->snapshot;

    if (!ctx->failed && ctx->bad_record) {
        return NGX_DECLINED;
    }

    if (!ctx->failed && ctx->blocks != NULL) {

        /* another request may have asked for them later than this one */

        if ((ngx_msec_int_t) (ctx->blocks->asked - ss->blocks.asked) >= 0) {
            ss->blocks = *ctx->blocks;
        }

        ctx->blocks = NULL;
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
    in->blocks = ss->blocks.blocks;
    in->nblocks = ss->blocks.n;
    in->domains_blocked = ss->blocks.domains_blocked;
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
