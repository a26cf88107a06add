
/*
 * The view cache: one shared zone for all workers, least recently used first
 * out.  It can always be made again from the store: it holds no truth about
 * grants.  A worker sends from a copy of its own, which its requests share,
 * never from the zone.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_http_relay_module.h"


#define NGX_HTTP_RELAY_CACHE_TRIES  8       /* entries given up for a new one */

#define NGX_HTTP_RELAY_COPIES_SIZE  (8 * 1024 * 1024)   /* of a process */


typedef struct {
    ngx_str_node_t   sn;
    ngx_queue_t      queue;
    size_t           len;
    size_t           withheld;
    uint32_t         safety;
    int64_t          valid_until;
    u_char           digest[RELAY_DIGEST_LEN];
    u_char           data[1];       /* the key, then the view */
} ngx_http_relay_cache_node_t;


typedef struct {
    ngx_rbtree_t       rbtree;
    ngx_rbtree_node_t  sentinel;
    ngx_queue_t        queue;       /* most recently used first */
} ngx_http_relay_cache_t;


typedef struct {
    ngx_str_node_t          sn;         /* must be the first */
    ngx_queue_t             queue;
    size_t                  size;
    ngx_http_relay_body_t  *body;
} ngx_http_relay_copy_t;


static void ngx_http_relay_cache_delete(ngx_http_relay_cache_t *cache,
    ngx_slab_pool_t *shpool, ngx_http_relay_cache_node_t *node);
static void ngx_http_relay_copy_add(ngx_str_t *key, uint32_t hash,
    ngx_http_relay_body_t *body);
static void ngx_http_relay_copy_delete(ngx_http_relay_copy_t *copy);


/* of this process: most recently used first */

static ngx_rbtree_t       ngx_http_relay_copies;
static ngx_rbtree_node_t  ngx_http_relay_copies_sentinel;
static ngx_queue_t        ngx_http_relay_copies_queue;
static size_t             ngx_http_relay_copies_size;


ngx_int_t
ngx_http_relay_cache_init_zone(ngx_shm_zone_t *zone, void *data)
{
    size_t                   len;
    ngx_slab_pool_t         *shpool;
    ngx_http_relay_cache_t  *cache;

    shpool = (ngx_slab_pool_t *) zone->shm.addr;

    if (data != NULL) {
        zone->data = data;
        return NGX_OK;
    }

    if (zone->shm.exists) {
        zone->data = shpool->data;
        return NGX_OK;
    }

    cache = ngx_slab_alloc(shpool, sizeof(ngx_http_relay_cache_t));
    if (cache == NULL) {
        return NGX_ERROR;
    }

    shpool->data = cache;
    zone->data = cache;

    ngx_rbtree_init(&cache->rbtree, &cache->sentinel,
                    ngx_str_rbtree_insert_value);
    ngx_queue_init(&cache->queue);

    len = sizeof(" in relay zone \"\"") + zone->shm.name.len;

    shpool->log_ctx = ngx_slab_alloc(shpool, len);
    if (shpool->log_ctx == NULL) {
        return NGX_ERROR;
    }

    ngx_sprintf(shpool->log_ctx, " in relay zone \"%V\"%Z", &zone->shm.name);

    shpool->log_nomem = 0;

    return NGX_OK;
}


ngx_http_relay_body_t *
ngx_http_relay_cache_get(ngx_shm_zone_t *zone, ngx_str_t *key, int64_t now,
    ngx_log_t *log)
{
    uint32_t                      hash;
    ngx_slab_pool_t              *shpool;
    ngx_http_relay_body_t        *body;
    ngx_http_relay_copy_t        *copy;
    ngx_http_relay_cache_t       *cache;
    ngx_http_relay_cache_node_t  *node;

    hash = ngx_murmur_hash2(key->data, key->len);

    copy = (ngx_http_relay_copy_t *)
               ngx_str_rbtree_lookup(&ngx_http_relay_copies, key, hash);

    if (copy != NULL) {
        body = copy->body;

        if (body->valid_until == 0 || now < body->valid_until) {
            body->refs++;

            ngx_queue_remove(&copy->queue);
            ngx_queue_insert_head(&ngx_http_relay_copies_queue, &copy->queue);

            return body;
        }

        ngx_http_relay_copy_delete(copy);
    }

    cache = zone->data;
    shpool = (ngx_slab_pool_t *) zone->shm.addr;
    body = NULL;

    ngx_shmtx_lock(&shpool->mutex);

    node = (ngx_http_relay_cache_node_t *)
               ngx_str_rbtree_lookup(&cache->rbtree, key, hash);

    if (node == NULL) {
        goto done;
    }

    if (node->valid_until != 0 && now >= node->valid_until) {
        ngx_http_relay_cache_delete(cache, shpool, node);
        goto done;
    }

    body = ngx_http_relay_body_create(node->len, log);
    if (body == NULL) {
        goto done;
    }

    ngx_memcpy(body->data, node->data + node->sn.str.len, node->len);
    ngx_memcpy(body->digest, node->digest, RELAY_DIGEST_LEN);

    body->withheld = node->withheld;
    body->safety = node->safety;
    body->valid_until = node->valid_until;

    ngx_queue_remove(&node->queue);
    ngx_queue_insert_head(&cache->queue, &node->queue);

done:

    ngx_shmtx_unlock(&shpool->mutex);

    if (body != NULL) {
        ngx_http_relay_copy_add(key, hash, body);
    }

    return body;
}


void
ngx_http_relay_cache_put(ngx_shm_zone_t *zone, ngx_str_t *key,
    ngx_http_relay_body_t *body)
{
    size_t                        size;
    uint32_t                      hash;
    ngx_uint_t                    tries;
    ngx_queue_t                  *q;
    ngx_slab_pool_t              *shpool;
    ngx_http_relay_cache_t       *cache;
    ngx_http_relay_cache_node_t  *node, *old;

    cache = zone->data;
    shpool = (ngx_slab_pool_t *) zone->shm.addr;
    hash = ngx_murmur_hash2(key->data, key->len);
    size = offsetof(ngx_http_relay_cache_node_t, data) + key->len + body->len;

    ngx_shmtx_lock(&shpool->mutex);

    old = (ngx_http_relay_cache_node_t *)
              ngx_str_rbtree_lookup(&cache->rbtree, key, hash);

    if (old != NULL) {
        ngx_http_relay_cache_delete(cache, shpool, old);
    }

    node = ngx_slab_alloc_locked(shpool, size);

    for (tries = 0;
         node == NULL && tries < NGX_HTTP_RELAY_CACHE_TRIES
         && !ngx_queue_empty(&cache->queue);
         tries++)
    {
        q = ngx_queue_last(&cache->queue);
        old = ngx_queue_data(q, ngx_http_relay_cache_node_t, queue);

        ngx_http_relay_cache_delete(cache, shpool, old);

        node = ngx_slab_alloc_locked(shpool, size);
    }

    if (node != NULL) {
        node->sn.node.key = hash;
        node->sn.str.len = key->len;
        node->sn.str.data = node->data;
        node->len = body->len;
        node->withheld = body->withheld;
        node->safety = body->safety;
        node->valid_until = body->valid_until;

        ngx_memcpy(node->digest, body->digest, RELAY_DIGEST_LEN);
        ngx_memcpy(node->data, key->data, key->len);
        ngx_memcpy(node->data + key->len, body->data, body->len);

        ngx_rbtree_insert(&cache->rbtree, &node->sn.node);
        ngx_queue_insert_head(&cache->queue, &node->queue);
    }

    ngx_shmtx_unlock(&shpool->mutex);
}


static void
ngx_http_relay_cache_delete(ngx_http_relay_cache_t *cache,
    ngx_slab_pool_t *shpool, ngx_http_relay_cache_node_t *node)
{
    ngx_queue_remove(&node->queue);
    ngx_rbtree_delete(&cache->rbtree, &node->sn.node);
    ngx_slab_free_locked(shpool, node);
}


/*
 * Copies of this process.  A key says all that a view depends on but the time,
 * so that a copy cannot be wrong before its valid_until.
 */

static void
ngx_http_relay_copy_add(ngx_str_t *key, uint32_t hash,
    ngx_http_relay_body_t *body)
{
    size_t                  size;
    ngx_queue_t            *q;
    ngx_http_relay_copy_t  *copy;

    size = sizeof(ngx_http_relay_copy_t) + key->len
           + sizeof(ngx_http_relay_body_t) + body->len;

    if (size > NGX_HTTP_RELAY_COPIES_SIZE / 8) {
        return;
    }

    while (ngx_http_relay_copies_size + size > NGX_HTTP_RELAY_COPIES_SIZE) {
        q = ngx_queue_last(&ngx_http_relay_copies_queue);
        ngx_http_relay_copy_delete(ngx_queue_data(q, ngx_http_relay_copy_t,
                                                  queue));
    }

    copy = ngx_alloc(sizeof(ngx_http_relay_copy_t) + key->len,
                     ngx_cycle->log);
    if (copy == NULL) {
        return;
    }

    copy->sn.str.len = key->len;
    copy->sn.str.data = (u_char *) copy + sizeof(ngx_http_relay_copy_t);
    copy->sn.node.key = hash;
    copy->size = size;
    copy->body = body;

    ngx_memcpy(copy->sn.str.data, key->data, key->len);

    body->refs++;

    ngx_rbtree_insert(&ngx_http_relay_copies, &copy->sn.node);
    ngx_queue_insert_head(&ngx_http_relay_copies_queue, &copy->queue);
    ngx_http_relay_copies_size += size;
}


static void
ngx_http_relay_copy_delete(ngx_http_relay_copy_t *copy)
{
    ngx_rbtree_delete(&ngx_http_relay_copies, &copy->sn.node);
    ngx_queue_remove(&copy->queue);
    ngx_http_relay_copies_size -= copy->size;

    ngx_http_relay_body_release(copy->body);
    ngx_free(copy);
}


ngx_int_t
ngx_http_relay_cache_init_process(ngx_cycle_t *cycle)
{
    ngx_rbtree_init(&ngx_http_relay_copies, &ngx_http_relay_copies_sentinel,
                    ngx_str_rbtree_insert_value);
    ngx_queue_init(&ngx_http_relay_copies_queue);

    ngx_http_relay_copies_size = 0;

    return NGX_OK;
}


void
ngx_http_relay_cache_exit_process(ngx_cycle_t *cycle)
{
    ngx_queue_t  *q;

    while (!ngx_queue_empty(&ngx_http_relay_copies_queue)) {
        q = ngx_queue_head(&ngx_http_relay_copies_queue);
        ngx_http_relay_copy_delete(ngx_queue_data(q, ngx_http_relay_copy_t,
                                                  queue));
    }
}


ngx_http_relay_body_t *
ngx_http_relay_body_create(size_t len, ngx_log_t *log)
{
    ngx_http_relay_body_t  *body;

    body = ngx_alloc(sizeof(ngx_http_relay_body_t) + len, log);
    if (body == NULL) {
        return NULL;
    }

    ngx_memzero(body, sizeof(ngx_http_relay_body_t));

    body->data = (u_char *) body + sizeof(ngx_http_relay_body_t);
    body->len = len;
    body->refs = 1;

    return body;
}


void
ngx_http_relay_body_release(ngx_http_relay_body_t *body)
{
    if (body != NULL && --body->refs == 0) {
        ngx_free(body);
    }
}
