
/*
 * What the files that talk to Redis for one request share: its commands
 * (ngx_http_relay_store.c), the records that a decision rests on
 * (ngx_http_relay_records.c), and documents (ngx_http_relay_document.c).
 */

#ifndef _NGX_HTTP_RELAY_STORE_H_INCLUDED_
#define _NGX_HTTP_RELAY_STORE_H_INCLUDED_


#include "ngx_http_relay_module.h"

#include "relay_data.h"


#define NGX_HTTP_RELAY_BLOCKS   12
#define NGX_HTTP_RELAY_RECORDS  4
#define NGX_HTTP_RELAY_KEY_BUF  (2 * RELAY_KEY_MAX + RELAY_EMAIL_MAX           \
                                 + RELAY_ISSUER_MAX + RELAY_SUBJECT_MAX)


/* records of one relay, in the order in which the scripts take them */

enum {
    NGX_HTTP_RELAY_HEAD = 0,
    NGX_HTTP_RELAY_LINK,
    NGX_HTTP_RELAY_BY_SUBJECT,
    NGX_HTTP_RELAY_BY_EMAIL
};


/* what of the block lists concerns one reader */

struct ngx_http_relay_blocks_s {
    relay_block_t                blocks[NGX_HTTP_RELAY_BLOCKS];
    ngx_uint_t                   n;
    ngx_msec_t                   asked;     /* monotonic, before Redis was */
    unsigned                     domains_blocked:1;
};


/*
 * The records of one reader on one link, as they were read.  Counted: a
 * request holds one, and so does the worker's cache once serve.lua has found
 * it true.  Its strings are its pool's; nothing but "blocks" is
 * written once it is complete.
 */

struct ngx_http_relay_snapshot_s {
    ngx_str_node_t               sn;        /* of the cache; the first */
    ngx_queue_t                  queue;
    ngx_pool_t                  *pool;
    ngx_uint_t                   refs;

    ngx_str_t                    email;     /* normalised and confirmed */
    ngx_str_t                    relay;     /* id */

    relay_head_t                 head;
    relay_link_t                 link;
    relay_grant_t                by_email;
    relay_grant_t                by_subject;
    ngx_http_relay_blocks_t      blocks;

    relay_str_t                  keys[NGX_HTTP_RELAY_RECORDS];
    relay_str_t                  fingerprints[NGX_HTTP_RELAY_RECORDS];
    ngx_uint_t                   nrecords;  /* 4, or 3 without an address */
    relay_str_t                  stream;    /* key of the receipts */

    unsigned                     cached:1;
    unsigned                     link_found:1;
    unsigned                     stored_blocks:1;   /* of by_subject.email */
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


/*
 * Sends one command of a request, which is resumed when all of its commands
 * were answered.  A handler sees no error reply.  argv lives as long as the
 * request where a script is given.
 */
ngx_int_t ngx_http_relay_store_submit(ngx_http_relay_ctx_t *ctx,
    ngx_http_relay_redis_t *redis, ngx_http_relay_reply_pt handler,
    ngx_uint_t n, const relay_script_t *script, ngx_uint_t argc,
    relay_str_t *argv);

/* Copies a string into a pool; an empty one becomes NULL. */
ngx_int_t ngx_http_relay_store_copy(ngx_pool_t *pool, relay_str_t *s);

/* Epoch milliseconds: our clock, or Redis's where that was ahead. */
int64_t ngx_http_relay_store_now(ngx_http_relay_ctx_t *ctx);


#endif /* _NGX_HTTP_RELAY_STORE_H_INCLUDED_ */
