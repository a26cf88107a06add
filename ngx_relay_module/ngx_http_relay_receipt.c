
/*
 * Receipts of this process: what is in one, and those that nobody waits for.
 * Denials of a known reader are told apart by relay, reader, reason and fault;
 * the first of a minute is sent at once, the others as one record with a count.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_http_relay_store.h"


#define NGX_HTTP_RELAY_DENIALS_MAX     4096     /* entries per process */
#define NGX_HTTP_RELAY_DENIALS_PERIOD  60000    /* ms */
#define NGX_HTTP_RELAY_DENIALS_TICK    1000     /* ms */

#define NGX_HTTP_RELAY_RECEIPT_LINE    1536     /* bytes of one, logged */


typedef struct {
    ngx_str_node_t                sn;
    ngx_queue_t                   queue;    /* oldest first */
    ngx_msec_t                    since;
    ngx_uint_t                    count;    /* not sent yet */
    ngx_http_relay_redis_conf_t  *redis;
    relay_receipt_t               receipt;
    relay_identity_t              reader;
    relay_str_t                   key;      /* of the stream */
    u_char                        link[RELAY_DIGEST_LEN];
    ngx_pool_t                   *pool;     /* owns this entry */
} ngx_http_relay_denial_t;


static void ngx_http_relay_receipt_next_id(ngx_http_relay_main_conf_t *rmcf,
    u_char *buf, ngx_str_t *id);
static ngx_int_t ngx_http_relay_receipt_send(ngx_http_relay_redis_conf_t *conf,
    relay_str_t *key, relay_receipt_t *receipt, ngx_log_t *log);
static void ngx_http_relay_receipt_sent(void *data, ngx_int_t rc,
    relay_resp_reply_t *reply);
static void ngx_http_relay_receipt_log(relay_str_t *text, ngx_log_t *log);
static void ngx_http_relay_denial_flush(ngx_http_relay_denial_t *d);
static void ngx_http_relay_denial_timer(ngx_event_t *ev);


static ngx_rbtree_t                 ngx_http_relay_denials;
static ngx_rbtree_node_t            ngx_http_relay_denials_sentinel;
static ngx_queue_t                  ngx_http_relay_denials_queue;
static ngx_uint_t                   ngx_http_relay_ndenials;
static ngx_event_t                  ngx_http_relay_denials_event;
static ngx_http_relay_main_conf_t  *ngx_http_relay_receipt_rmcf;


#define NGX_HTTP_RELAY_RECEIPT_ID_MAX  (128 + 1 + NGX_INT64_LEN)


/* scratch of this process */

static relay_buf_t  ngx_http_relay_receipt_id = {
    .max = NGX_HTTP_RELAY_RECEIPT_ID_MAX
};


static void
ngx_http_relay_receipt_next_id(ngx_http_relay_main_conf_t *rmcf, u_char *buf,
    ngx_str_t *id)
{
    relay_buf_t  *b;

    b = &ngx_http_relay_receipt_id;

    relay_buf_reset(b);

    id->data = buf;
    id->len = 0;

    if (relay_receipt_id(ngx_http_relay_str(&rmcf->process),
                         ++rmcf->sequence, b)
        == RELAY_OK)
    {
        ngx_memcpy(buf, b->data, b->len);
        id->len = b->len;
    }
}


ngx_int_t
ngx_http_relay_receipt_fill(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx,
    relay_receipt_kind_e kind, relay_receipt_t *rc)
{
    u_char                      *p;
    ngx_str_t                    id;
    ngx_time_t                  *tp;
    ngx_http_relay_loc_conf_t   *rlcf;
    ngx_http_relay_main_conf_t  *rmcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);
    rmcf = ngx_http_get_module_main_conf(r, ngx_http_relay_module);

    p = ngx_pnalloc(r->pool, NGX_HTTP_RELAY_RECEIPT_ID_MAX);
    if (p == NULL) {
        return NGX_ERROR;
    }

    ngx_http_relay_receipt_next_id(rmcf, p, &id);

    if (id.len == 0) {
        return NGX_ERROR;
    }

    tp = ngx_timeofday();

    ngx_memzero(rc, sizeof(relay_receipt_t));

    rc->kind = kind;
    rc->id = *ngx_http_relay_str(&id);
    rc->time = (int64_t) tp->sec * 1000 + tp->msec;
    rc->relay = *ngx_http_relay_str(&ctx->relay);
    rc->version = ctx->decision.version;
    rc->link.data = ctx->link;
    rc->link.len = RELAY_DIGEST_LEN;
    rc->reader = &ctx->identity;
    rc->view = ctx->decision.view;
    rc->permission = ctx->decision.permission;
    rc->reason = ctx->decision.reason;
    rc->rebound = ctx->decision.rebound;
    rc->method = *ngx_http_relay_str(&r->method_name);
    rc->bytes = -1;
    rc->withheld = -1;
    rc->offset = -1;

    relay_str_set(&rc->channel, "http");

    if (kind == RELAY_RECEIPT_ACCEPT) {
        rc->grant = *ngx_http_relay_str(&ctx->grant);

    } else if (ctx->decision.grant != NULL && ctx->decision.grant->found) {
        rc->grant = ctx->decision.grant->id;
        ctx->grant.len = rc->grant.len;
        ctx->grant.data = rc->grant.data;
    }

    if (kind == RELAY_RECEIPT_READ || kind == RELAY_RECEIPT_PREVIEW) {
        rc->status = NGX_HTTP_OK;
        ctx->receipt = id;

    } else if (kind == RELAY_RECEIPT_DENIAL) {
        rc->status = ctx->decision.status;
        ctx->receipt = id;
    }

    if (ctx->body != NULL
        && (kind == RELAY_RECEIPT_READ || kind == RELAY_RECEIPT_PREVIEW))
    {
        rc->bytes = ctx->body->len;
        rc->digest.data = ctx->body->digest;
        rc->digest.len = RELAY_DIGEST_LEN;
        rc->withheld = ctx->body->withheld;
        rc->safety = ctx->body->safety;
    }

    if (rc->reason == RELAY_REASON_WITHHELD
        || rc->reason == RELAY_REASON_SAFETY)
    {
        rc->safety = ctx->safety;
        rc->rule = ctx->fault.rule;
        rc->pointer = ctx->fault.pointer;
        rc->offset = ctx->fault.offset;
    }

    if (rlcf->receipt_ip) {
        rc->ip = *ngx_http_relay_str(&r->connection->addr_text);
    }

    return NGX_OK;
}


void
ngx_http_relay_receipt_denial(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx)
{
    uint32_t                    hash;
    ngx_str_t                   id;
    ngx_pool_t                 *pool;
    relay_buf_t                 key, stream;
    relay_str_t                 name;
    ngx_queue_t                *q;
    relay_receipt_t             rc;
    ngx_http_relay_denial_t    *d;
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

    if (ngx_http_relay_receipt_rmcf == NULL
        || ngx_http_relay_receipt_fill(r, ctx, RELAY_RECEIPT_DENIAL, &rc)
           != NGX_OK)
    {
        return;
    }

    relay_buf_init(&key, 8192);
    relay_buf_init(&stream, 2 * RELAY_KEY_MAX);
    pool = NULL;

    relay_buf_printf(&key, "%p\n%d\n", (void *) rlcf->redis,
                     (int) ctx->decision.reason);
    relay_buf_append_str(&key, ngx_http_relay_str(&rlcf->prefix));
    relay_buf_append_c(&key, '\n');
    relay_buf_append_str(&key, ngx_http_relay_str(&ctx->relay));
    relay_buf_append_c(&key, '\n');
    relay_buf_append_str(&key, &ctx->identity.issuer);
    relay_buf_append_c(&key, '\n');
    relay_buf_append_str(&key, &ctx->identity.subject);
    relay_buf_append_c(&key, '\n');
    relay_buf_append_str(&key, &rc.rule);
    relay_buf_append_str(&key, &rc.pointer);

    if (key.failed
        || relay_key_receipts(&stream, ngx_http_relay_str(&rlcf->prefix),
                              ngx_http_relay_str(&ctx->relay))
           != RELAY_OK)
    {
        goto done;
    }

    id.data = key.data;
    id.len = key.len;

    hash = ngx_crc32_long(id.data, id.len);

    d = (ngx_http_relay_denial_t *)
            ngx_str_rbtree_lookup(&ngx_http_relay_denials, &id, hash);

    if (d != NULL) {
        d->count++;
        d->receipt.time = rc.time;
        ctx->receipt.len = 0;
        goto done;
    }

    /* the first of its minute */

    relay_buf_str(&stream, &name);

    (void) ngx_http_relay_receipt_send(rlcf->redis, &name, &rc,
                                       r->connection->log);

    if (ngx_http_relay_ndenials == NGX_HTTP_RELAY_DENIALS_MAX) {
        q = ngx_queue_head(&ngx_http_relay_denials_queue);
        ngx_http_relay_denial_flush(ngx_queue_data(q, ngx_http_relay_denial_t,
                                                   queue));
    }

    pool = ngx_create_pool(1024, ngx_cycle->log);
    if (pool == NULL) {
        goto done;
    }

    d = ngx_pcalloc(pool, sizeof(ngx_http_relay_denial_t));
    if (d == NULL) {
        goto failed;
    }

    d->pool = pool;
    d->since = ngx_current_msec;
    d->redis = rlcf->redis;
    d->receipt = rc;
    d->reader = ctx->identity;
    d->receipt.reader = &d->reader;

    relay_str_set(&d->reader.isolation, "");

    ngx_memcpy(d->link, ctx->link, RELAY_DIGEST_LEN);
    d->receipt.link.data = d->link;

#define ngx_http_relay_keep(s)                                                \
    if ((s)->len) {                                                           \
        (s)->data = ngx_pstrdup(pool, ngx_http_ngx_str(s));                   \
        if ((s)->data == NULL) {                                              \
            goto failed;                                                      \
        }                                                                     \
    }

    ngx_http_relay_keep(&d->receipt.relay);
    ngx_http_relay_keep(&d->receipt.grant);
    ngx_http_relay_keep(&d->receipt.method);
    ngx_http_relay_keep(&d->receipt.ip);
    ngx_http_relay_keep(&d->receipt.rule);
    ngx_http_relay_keep(&d->receipt.pointer);
    ngx_http_relay_keep(&d->reader.issuer);
    ngx_http_relay_keep(&d->reader.subject);
    ngx_http_relay_keep(&d->reader.email);
    ngx_http_relay_keep(&d->reader.name);
    ngx_http_relay_keep(&d->reader.client);

    d->key = name;
    ngx_http_relay_keep(&d->key);

    d->sn.str.len = id.len;
    d->sn.str.data = ngx_pstrdup(pool, &id);
    if (d->sn.str.data == NULL) {
        goto failed;
    }

    d->sn.node.key = hash;

    ngx_rbtree_insert(&ngx_http_relay_denials, &d->sn.node);
    ngx_queue_insert_tail(&ngx_http_relay_denials_queue, &d->queue);
    ngx_http_relay_ndenials++;

    if (!ngx_http_relay_denials_event.timer_set) {
        ngx_add_timer(&ngx_http_relay_denials_event,
                      NGX_HTTP_RELAY_DENIALS_TICK);
    }

    pool = NULL;
    goto done;

failed:

    ngx_destroy_pool(pool);

done:

    relay_buf_free(&key);
    relay_buf_free(&stream);
}


void
ngx_http_relay_receipt_undelivered(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx)
{
    ngx_str_t        of;
    relay_receipt_t  rc;

    of = ctx->receipt;

    if (ngx_http_relay_receipt_fill(r, ctx, RELAY_RECEIPT_UNDELIVERED, &rc)
        != NGX_OK)
    {
        return;
    }

    rc.of = *ngx_http_relay_str(&of);
    rc.status = r->headers_out.status;
    rc.bytes = ngx_max(r->connection->sent - (off_t) r->header_size, 0);

    /* where the read was recorded, wherever the request has come to since */

    (void) ngx_http_relay_receipt_send(ctx->conf->redis,
                                       &ctx->snapshot->stream, &rc,
                                       r->connection->log);
}


/*
 * Appends a receipt to its stream and does not wait.  What Redis does not take
 * is written to the error log: it is not lost silently.
 */

static ngx_int_t
ngx_http_relay_receipt_send(ngx_http_relay_redis_conf_t *conf,
    relay_str_t *key, relay_receipt_t *receipt, ngx_log_t *log)
{
    relay_buf_t   buf;
    relay_str_t   argv[5], *copy;

    relay_buf_init(&buf, RELAY_RECEIPT_MAX);

    if (relay_receipt_encode(receipt, &buf) != RELAY_OK) {
        relay_buf_free(&buf);
        ngx_log_error(NGX_LOG_ERR, log, 0, "relay receipt is too long");
        return NGX_ERROR;
    }

    relay_str_set(&argv[0], "XADD");
    argv[1] = *key;
    relay_str_set(&argv[2], "*");
    relay_str_set(&argv[3], "r");
    relay_buf_str(&buf, &argv[4]);

    /* the receipt stays with the command until it is answered */

    copy = ngx_alloc(sizeof(relay_str_t) + buf.len, ngx_cycle->log);

    if (copy != NULL) {
        copy->data = (u_char *) copy + sizeof(relay_str_t);
        copy->len = buf.len;
        ngx_memcpy(copy->data, buf.data, buf.len);

        if (ngx_http_relay_redis_submit(conf->decisions, 5, argv,
                                        ngx_http_relay_receipt_sent, copy)
            != NULL)
        {
            relay_buf_free(&buf);
            return NGX_OK;
        }

        ngx_free(copy);
    }

    ngx_http_relay_receipt_log(&argv[4], log);
    relay_buf_free(&buf);

    return NGX_ERROR;
}


static void
ngx_http_relay_receipt_sent(void *data, ngx_int_t rc,
    relay_resp_reply_t *reply)
{
    relay_str_t *receipt = data;

    if (rc != NGX_OK || reply == NULL || reply->type == RELAY_RESP_ERROR) {
        ngx_http_relay_receipt_log(receipt, ngx_cycle->log);
    }

    ngx_free(receipt);
}


/* nginx cuts a line at 2048 bytes, and a receipt must not be cut. */

static void
ngx_http_relay_receipt_log(relay_str_t *text, ngx_log_t *log)
{
    size_t  pos, len;

    ngx_http_relay_count(ngx_http_relay_receipt_rmcf,
                         NGX_HTTP_RELAY_EVENT_NOT_RECORDED);

    for (pos = 0; pos < text->len; pos += len) {
        len = ngx_min(text->len - pos, NGX_HTTP_RELAY_RECEIPT_LINE);

        ngx_log_error(NGX_LOG_ERR, log, 0, "relay receipt not recorded%s: %*s",
                      pos ? ", continued" : "", len, text->data + pos);
    }
}


static void
ngx_http_relay_denial_flush(ngx_http_relay_denial_t *d)
{
    u_char       buf[NGX_HTTP_RELAY_RECEIPT_ID_MAX];
    ngx_str_t    id;
    ngx_pool_t  *pool;

    if (d->count) {
        ngx_http_relay_receipt_next_id(ngx_http_relay_receipt_rmcf, buf, &id);

        d->receipt.id = *ngx_http_relay_str(&id);
        d->receipt.count = d->count;

        (void) ngx_http_relay_receipt_send(d->redis, &d->key, &d->receipt,
                                           ngx_cycle->log);
    }

    ngx_rbtree_delete(&ngx_http_relay_denials, &d->sn.node);
    ngx_queue_remove(&d->queue);
    ngx_http_relay_ndenials--;

    pool = d->pool;
    ngx_destroy_pool(pool);
}


/*
 * Not cancelable: a worker that shuts down waits one tick, in which all is
 * flushed.
 */

static void
ngx_http_relay_denial_timer(ngx_event_t *ev)
{
    ngx_queue_t              *q;
    ngx_http_relay_denial_t  *d;

    while (!ngx_queue_empty(&ngx_http_relay_denials_queue)) {

        q = ngx_queue_head(&ngx_http_relay_denials_queue);
        d = ngx_queue_data(q, ngx_http_relay_denial_t, queue);

        if (!ngx_exiting
            && ngx_current_msec - d->since < NGX_HTTP_RELAY_DENIALS_PERIOD)
        {
            ngx_add_timer(ev, NGX_HTTP_RELAY_DENIALS_TICK);
            return;
        }

        ngx_http_relay_denial_flush(d);
    }
}


ngx_int_t
ngx_http_relay_receipt_init_process(ngx_cycle_t *cycle)
{
    ngx_http_relay_receipt_rmcf =
        ngx_http_cycle_get_module_main_conf(cycle, ngx_http_relay_module);

    ngx_rbtree_init(&ngx_http_relay_denials, &ngx_http_relay_denials_sentinel,
                    ngx_str_rbtree_insert_value);
    ngx_queue_init(&ngx_http_relay_denials_queue);

    ngx_http_relay_ndenials = 0;

    ngx_memzero(&ngx_http_relay_denials_event, sizeof(ngx_event_t));

    ngx_http_relay_denials_event.handler = ngx_http_relay_denial_timer;
    ngx_http_relay_denials_event.log = cycle->log;
    ngx_http_relay_denials_event.data = &ngx_http_relay_denials;

    return NGX_OK;
}


/*
 * What is still counted here can no longer reach Redis: no event fires any
 * more.  It goes to the log.
 */

void
ngx_http_relay_receipt_exit_process(ngx_cycle_t *cycle)
{
    ngx_queue_t  *q;

    if (ngx_http_relay_receipt_rmcf == NULL) {
        return;
    }

    if (ngx_http_relay_denials_event.timer_set) {
        ngx_del_timer(&ngx_http_relay_denials_event);
    }

    while (!ngx_queue_empty(&ngx_http_relay_denials_queue)) {
        q = ngx_queue_head(&ngx_http_relay_denials_queue);
        ngx_http_relay_denial_flush(ngx_queue_data(q, ngx_http_relay_denial_t,
                                                   queue));
    }
}
