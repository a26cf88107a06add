
/*
 * What a bearer token says of its reader, once it is verified.  Tokens that
 * were verified are remembered until they expire; those that were refused are
 * not.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_http_relay_module.h"


#define NGX_HTTP_RELAY_TOKENS_MAX  1024     /* remembered per process */


typedef struct {
    u_char                   digest[RELAY_DIGEST_LEN];
    u_char                   jwt[sizeof(ngx_http_relay_jwt_t *)];
} ngx_http_relay_token_key_t;


typedef struct {
    ngx_str_node_t               sn;        /* must be the first */
    ngx_queue_t                  queue;
    int64_t                      exp;       /* epoch ms */
    relay_identity_t             identity;  /* strings follow the node */
    ngx_http_relay_token_key_t   key;
} ngx_http_relay_token_t;


static ngx_http_relay_jwt_t *ngx_http_relay_jwt_of_issuer(
    ngx_http_relay_loc_conf_t *rlcf, relay_str_t *issuer);
static ngx_http_relay_token_t *ngx_http_relay_token_find(
    ngx_http_relay_token_key_t *key, ngx_http_relay_jwt_t *jwt, int64_t now);
static void ngx_http_relay_token_add(ngx_http_relay_token_key_t *key,
    ngx_http_relay_jwt_t *jwt, relay_jwt_claims_t *claims);
static void ngx_http_relay_token_delete(ngx_http_relay_token_t *token);
static void ngx_http_relay_token_key(ngx_http_relay_token_key_t *key,
    ngx_http_relay_jwt_t *jwt, ngx_str_t *name);
static void ngx_http_relay_tokens_flush(void);
static size_t ngx_http_relay_identity_len(relay_identity_t *id);
static void ngx_http_relay_identity_copy(relay_identity_t *dst,
    relay_identity_t *src, u_char *p);
static u_char *ngx_http_relay_identity_str(relay_str_t *s, u_char *p);


/* of this process: most recently used first */

static ngx_rbtree_t       ngx_http_relay_tokens;
static ngx_rbtree_node_t  ngx_http_relay_tokens_sentinel;
static ngx_queue_t        ngx_http_relay_tokens_queue;
static ngx_uint_t         ngx_http_relay_ntokens;


ngx_int_t
ngx_http_relay_jwt_identity(ngx_http_request_t *r,
    ngx_http_relay_loc_conf_t *rlcf, ngx_str_t *token, relay_identity_t *id,
    const char **why)
{
    u_char                      *p;
    int64_t                      now;
    ngx_int_t                    rc;
    ngx_time_t                  *tp;
    ngx_uint_t                   i;
    relay_buf_t                  buf;
    relay_str_t                  issuer;
    relay_int_t                  verified;
    const char                  *reason;
    relay_jwt_keys_t            *keys;
    relay_identity_t            *found;
    relay_jwt_claims_t           claims;
    ngx_http_relay_jwt_t        *jwt;
    ngx_http_relay_token_t      *node;
    ngx_http_relay_token_key_t   key;

    reason = "a library failed";

    tp = ngx_timeofday();
    now = (int64_t) tp->sec * 1000 + tp->msec;

    relay_digest(ngx_http_relay_str(token), key.digest);

    ngx_memzero(&claims, sizeof(relay_jwt_claims_t));

    jwt = rlcf->jwt->elts;
    found = NULL;

    for (i = 0; i < rlcf->jwt->nelts; i++) {
        node = ngx_http_relay_token_find(&key, &jwt[i], now);

        if (node != NULL) {
            found = &node->identity;
            jwt = &jwt[i];
            break;
        }
    }

    if (found == NULL) {

        relay_buf_init(&buf, RELAY_ISSUER_MAX);

        verified = relay_jwt_issuer(ngx_http_relay_str(token), &buf);

        if (verified == RELAY_OK) {
            relay_buf_str(&buf, &issuer);
            jwt = ngx_http_relay_jwt_of_issuer(rlcf, &issuer);

        } else {
            jwt = NULL;
        }

        relay_buf_free(&buf);

        if (verified == RELAY_DECLINED) {
            *why = "bearer token is malformed";
            return NGX_ABORT;
        }

        if (verified != RELAY_OK) {
            return NGX_ERROR;
        }

        if (jwt == NULL) {
            *why = "no relay_jwt_keys for the issuer of the bearer token";
            return NGX_ABORT;
        }
    }

    keys = jwt->keys;

    if (jwt->remote != NULL) {

        /* a token is remembered no longer than the keys are good for */

        rc = ngx_http_relay_jwks_get(r, jwt->remote, &keys);

        if (rc == NGX_BUSY) {
            *why = "no keys to verify the bearer token with";
        }

        if (rc != NGX_OK) {
            return rc;
        }
    }

    if (found == NULL) {

        verified = relay_jwt_verify(keys, &jwt->policy,
                                    ngx_http_relay_str(token), now, &claims,
                                    &reason);

        if (verified == RELAY_DECLINED) {

            if (reason == relay_jwt_unknown_kid
                && jwt->remote != NULL
                && ngx_http_relay_jwks_renew(r, jwt->remote) == NGX_AGAIN)
            {
                return NGX_AGAIN;
            }

            *why = reason;
            return NGX_ABORT;
        }

        if (verified != RELAY_OK) {
            ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                          "relay bearer token could not be verified: %s",
                          reason);
            return NGX_ERROR;
        }

        /* within the leeway a token is still good, but verified each time */

        if (now < claims.exp) {
            ngx_http_relay_token_add(&key, jwt, &claims);
        }

        found = &claims.identity;
    }

    ngx_log_debug1(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "relay bearer token: %s",
                   found == &claims.identity ? "verified" : "remembered");

    rc = NGX_ERROR;

    p = ngx_pnalloc(r->pool, ngx_http_relay_identity_len(found) + 1);

    if (p != NULL) {
        ngx_http_relay_identity_copy(id, found, p);
        id->ambient = 0;
        rc = NGX_OK;
    }

    if (found == &claims.identity) {
        relay_jwt_claims_free(&claims);
    }

    return rc;
}


static ngx_http_relay_jwt_t *
ngx_http_relay_jwt_of_issuer(ngx_http_relay_loc_conf_t *rlcf,
    relay_str_t *issuer)
{
    ngx_uint_t             i;
    ngx_http_relay_jwt_t  *jwt;

    jwt = rlcf->jwt->elts;

    for (i = 0; i < rlcf->jwt->nelts; i++) {

        if (relay_str_eq(&jwt[i].policy.issuer, issuer)) {
            return &jwt[i];
        }
    }

    return NULL;
}


/* A token that was verified with these keys and has not expired, or NULL. */

static ngx_http_relay_token_t *
ngx_http_relay_token_find(ngx_http_relay_token_key_t *key,
    ngx_http_relay_jwt_t *jwt, int64_t now)
{
    ngx_str_t                name;
    ngx_http_relay_token_t  *token;

    ngx_http_relay_token_key(key, jwt, &name);

    token = (ngx_http_relay_token_t *)
                ngx_str_rbtree_lookup(&ngx_http_relay_tokens, &name,
                                      ngx_crc32_short(name.data, name.len));

    if (token == NULL) {
        return NULL;
    }

    if (now >= token->exp) {
        ngx_http_relay_token_delete(token);
        return NULL;
    }

    ngx_queue_remove(&token->queue);
    ngx_queue_insert_head(&ngx_http_relay_tokens_queue, &token->queue);

    return token;
}


static void
ngx_http_relay_token_add(ngx_http_relay_token_key_t *key,
    ngx_http_relay_jwt_t *jwt, relay_jwt_claims_t *claims)
{
    ngx_queue_t             *q;
    ngx_http_relay_token_t  *token;

    if (ngx_http_relay_ntokens >= NGX_HTTP_RELAY_TOKENS_MAX) {
        q = ngx_queue_last(&ngx_http_relay_tokens_queue);
        token = ngx_queue_data(q, ngx_http_relay_token_t, queue);

        ngx_http_relay_token_delete(token);
    }

    token = ngx_alloc(sizeof(ngx_http_relay_token_t)
                      + ngx_http_relay_identity_len(&claims->identity),
                      ngx_cycle->log);
    if (token == NULL) {
        /* it is verified again the next time */
        return;
    }

    token->exp = claims->exp;
    token->key = *key;

    ngx_http_relay_identity_copy(&token->identity, &claims->identity,
                             (u_char *) token + sizeof(ngx_http_relay_token_t));

    ngx_http_relay_token_key(&token->key, jwt, &token->sn.str);
    token->sn.node.key = ngx_crc32_short(token->sn.str.data,
                                         token->sn.str.len);

    ngx_rbtree_insert(&ngx_http_relay_tokens, &token->sn.node);
    ngx_queue_insert_head(&ngx_http_relay_tokens_queue, &token->queue);
    ngx_http_relay_ntokens++;
}


static void
ngx_http_relay_token_delete(ngx_http_relay_token_t *token)
{
    ngx_rbtree_delete(&ngx_http_relay_tokens, &token->sn.node);
    ngx_queue_remove(&token->queue);
    ngx_http_relay_ntokens--;

    ngx_free(token);
}


static void
ngx_http_relay_token_key(ngx_http_relay_token_key_t *key,
    ngx_http_relay_jwt_t *jwt, ngx_str_t *name)
{
    ngx_memcpy(key->jwt, &jwt, sizeof(ngx_http_relay_jwt_t *));

    name->data = (u_char *) key;
    name->len = sizeof(ngx_http_relay_token_key_t);
}


static void
ngx_http_relay_tokens_flush(void)
{
    ngx_queue_t  *q;

    while (!ngx_queue_empty(&ngx_http_relay_tokens_queue)) {
        q = ngx_queue_head(&ngx_http_relay_tokens_queue);
        ngx_http_relay_token_delete(ngx_queue_data(q, ngx_http_relay_token_t,
                                                   queue));
    }
}


void
ngx_http_relay_jwt_forget(ngx_http_relay_jwks_conf_t *remote)
{
    ngx_queue_t             *q, *next;
    ngx_http_relay_jwt_t    *jwt;
    ngx_http_relay_token_t  *token;

    for (q = ngx_queue_head(&ngx_http_relay_tokens_queue);
         q != ngx_queue_sentinel(&ngx_http_relay_tokens_queue);
         q = next)
    {
        next = ngx_queue_next(q);

        token = ngx_queue_data(q, ngx_http_relay_token_t, queue);

        ngx_memcpy(&jwt, token->key.jwt, sizeof(ngx_http_relay_jwt_t *));

        if (jwt->remote == remote) {
            ngx_http_relay_token_delete(token);
        }
    }
}


static size_t
ngx_http_relay_identity_len(relay_identity_t *id)
{
    return id->issuer.len + id->subject.len + id->email.len + id->name.len
           + id->client.len + id->isolation.len;
}


static void
ngx_http_relay_identity_copy(relay_identity_t *dst, relay_identity_t *src,
    u_char *p)
{
    *dst = *src;

    p = ngx_http_relay_identity_str(&dst->issuer, p);
    p = ngx_http_relay_identity_str(&dst->subject, p);
    p = ngx_http_relay_identity_str(&dst->email, p);
    p = ngx_http_relay_identity_str(&dst->name, p);
    p = ngx_http_relay_identity_str(&dst->client, p);
    (void) ngx_http_relay_identity_str(&dst->isolation, p);
}


/* Moves a string to p; what follows it is next. */

static u_char *
ngx_http_relay_identity_str(relay_str_t *s, u_char *p)
{
    if (s->len == 0) {
        s->data = NULL;
        return p;
    }

    ngx_memcpy(p, s->data, s->len);
    s->data = p;

    return p + s->len;
}


ngx_int_t
ngx_http_relay_jwt_init_process(ngx_cycle_t *cycle)
{
    ngx_rbtree_init(&ngx_http_relay_tokens, &ngx_http_relay_tokens_sentinel,
                    ngx_str_rbtree_insert_value);
    ngx_queue_init(&ngx_http_relay_tokens_queue);

    ngx_http_relay_ntokens = 0;

    return NGX_OK;
}


void
ngx_http_relay_jwt_exit_process(ngx_cycle_t *cycle)
{
    ngx_http_relay_tokens_flush();
}
