
/*
 * Configuration and per-request state of the relay edge, and the functions
 * that its files call in each other.
 */

#ifndef _NGX_HTTP_RELAY_MODULE_H_INCLUDED_
#define _NGX_HTTP_RELAY_MODULE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_http_relay_compat.h"
#include "ngx_http_relay_redis.h"

#include "relay.h"
#include "relay_buf.h"
#include "relay_grant.h"
#include "relay_identity.h"
#include "relay_json.h"
#include "relay_jwt.h"
#include "relay_keys.h"
#include "relay_link.h"
#include "relay_packet.h"
#include "relay_quality.h"
#include "relay_receipt.h"
#include "relay_schema.h"
#include "relay_view.h"


/* nginx's string as librelay's: the same layout, checked when compiled */

#define ngx_http_relay_str(s)  ((relay_str_t *) (s))
#define ngx_http_ngx_str(s)    ((ngx_str_t *) (s))


#define NGX_HTTP_RELAY_ERROR_MAX  1024      /* bytes of librelay's error */
#define NGX_HTTP_RELAY_KEYS_MAX   65536     /* bytes of a key set */


typedef enum {
    NGX_HTTP_RELAY_RECEIPTS_ALL = 0,
    NGX_HTTP_RELAY_RECEIPTS_SERVED
} ngx_http_relay_receipts_e;


typedef enum {
    NGX_HTTP_RELAY_METRICS_OFF = 0,
    NGX_HTTP_RELAY_METRICS_PROMETHEUS,
    NGX_HTTP_RELAY_METRICS_JSON
} ngx_http_relay_metrics_e;


/* what is counted besides decisions */

typedef enum {
    NGX_HTTP_RELAY_EVENT_REMEMBERED = 0,
    NGX_HTTP_RELAY_EVENT_STALE,
    NGX_HTTP_RELAY_EVENT_KEPT,
    NGX_HTTP_RELAY_EVENT_PROJECTED,
    NGX_HTTP_RELAY_EVENT_UNDELIVERED,
    NGX_HTTP_RELAY_EVENT_NOT_RECORDED,
    NGX_HTTP_RELAY_EVENTS
} ngx_http_relay_event_e;


typedef struct ngx_http_relay_jwks_s  ngx_http_relay_jwks_t;
typedef struct ngx_http_relay_jwks_fetch_s  ngx_http_relay_jwks_fetch_t;


/* relay_jwt_keys uri=: a key set behind a location of a server */

typedef struct {
    ngx_str_t                    uri;
    ngx_http_core_srv_conf_t    *server;
    ngx_msec_t                   refresh;   /* age of keys */
    ngx_msec_t                   stale;     /* the same, the last one */
    ngx_msec_t                   cooldown;  /* between two fetches */
    ngx_msec_t                   timeout;   /* of one */
    ngx_http_relay_jwks_t       *jwks;      /* of this process */
} ngx_http_relay_jwks_conf_t;


/* what is done with text for agents in a view; part of its key in the cache */

typedef enum {
    NGX_HTTP_RELAY_SAFETY_OFF = 0,
    NGX_HTTP_RELAY_SAFETY_ANNOTATE,
    NGX_HTTP_RELAY_SAFETY_STRIP,
    NGX_HTTP_RELAY_SAFETY_BLOCK
} ngx_http_relay_safety_e;


/* one relay_jwt_keys: a key set and what its tokens must say */

typedef struct {
    relay_jwt_keys_t            *keys;      /* of a file, or NULL */
    ngx_http_relay_jwks_conf_t  *remote;    /* or NULL */
    relay_jwt_policy_t           policy;
} ngx_http_relay_jwt_t;


/* relay_identity: values that another module vouches for */

typedef struct {
    ngx_http_complex_value_t    *issuer;
    ngx_http_complex_value_t    *subject;
    ngx_http_complex_value_t    *email;
    ngx_http_complex_value_t    *email_verified;    /* NULL: verified */
    ngx_http_complex_value_t    *name;
    unsigned                     email_trusted:1;
} ngx_http_relay_vouched_t;


/* relay_packet_rules: what they lead to, and what tells them from others */

typedef struct {
    relay_packet_rules_t         rules;
    u_char                       digest[RELAY_DIGEST_LEN];
} ngx_http_relay_packet_rules_t;


typedef struct {
    ngx_array_t                  redis;     /* ngx_http_relay_redis_conf_t * */
    ngx_array_t                  jwks;      /* ngx_http_relay_jwks_conf_t * */
    ngx_shm_zone_t              *zone;      /* view cache, or NULL */
    ngx_shm_zone_t              *metrics;   /* counters; NULL: no relay_link */
    ngx_array_t                 *policies;  /* relay_view_policy_t * */
    relay_schema_t              *packet;    /* of responder packets */
    ngx_str_t                    process;   /* receipt ids of this process */
    uint64_t                     sequence;
    ngx_uint_t                   enabled;   /* some location has relay_link */
} ngx_http_relay_main_conf_t;


typedef struct {
    ngx_http_complex_value_t    *link;          /* NULL: off */
    ngx_http_relay_redis_conf_t *redis;
    ngx_str_t                    prefix;
    ngx_array_t                 *jwt;           /* ngx_http_relay_jwt_t */
    ngx_http_relay_vouched_t    *vouched;
    ngx_http_relay_packet_rules_t  *packet;     /* NULL: the defaults */
    ngx_uint_t                   metrics;       /* page of this location */
    ngx_uint_t                   accept;        /* relay_accept_e */
    ngx_uint_t                   anyone_view;   /* relay_view_e */
    ngx_uint_t                   view;          /* relay_view_e, NONE: any */
    ngx_uint_t                   receipts;      /* ngx_http_relay_receipts_e */
    ngx_uint_t                   safety;        /* ngx_http_relay_safety_e */
    ngx_uint_t                   consistency;
    ngx_msec_t                   block_bound;
    ngx_flag_t                   package;
    ngx_flag_t                   bind_subject;
    ngx_flag_t                   conceal;
    ngx_flag_t                   receipt_ip;
    ngx_flag_t                   dry_run;
    ngx_str_t                    sign_in;       /* empty: 401 to browsers too */
} ngx_http_relay_loc_conf_t;


typedef enum {
    NGX_HTTP_RELAY_UNDECIDED = 0,
    NGX_HTTP_RELAY_DENIED,
    NGX_HTTP_RELAY_ALLOWED
} ngx_http_relay_outcome_e;


typedef enum {
    NGX_HTTP_RELAY_START = 0,
    NGX_HTTP_RELAY_BODY,        /* reading {"version": n} */
    NGX_HTTP_RELAY_LOOKUP,      /* link, records, blocks */
    NGX_HTTP_RELAY_ACCEPTING,   /* accept.lua */
    NGX_HTTP_RELAY_DOCUMENT,    /* the document's bytes */
    NGX_HTTP_RELAY_SERVING,     /* serve.lua */
    NGX_HTTP_RELAY_DONE
} ngx_http_relay_state_e;


/*
 * A view ready to be sent: bytes and what the receipt says of them.  Counted,
 * shared by the requests of this process, never in the zone.
 */

typedef struct {
    ngx_uint_t                   refs;
    size_t                       len;
    u_char                      *data;
    size_t                       withheld;
    uint32_t                     safety;    /* RELAY_SAFETY_... kinds */
    int64_t                      valid_until;
    u_char                       digest[RELAY_DIGEST_LEN];
} ngx_http_relay_body_t;


/* why and where a document was withheld, as far as it is known */

typedef struct {
    relay_str_t                  rule;
    relay_str_t                  pointer;
    int64_t                      offset;    /* -1: unknown */
} ngx_http_relay_fault_t;


typedef struct ngx_http_relay_ctx_s  ngx_http_relay_ctx_t;
typedef struct ngx_http_relay_blocks_s  ngx_http_relay_blocks_t;
typedef struct ngx_http_relay_snapshot_s  ngx_http_relay_snapshot_t;

/*
 * Per-request state.  Found through the module's ctx, or, after an internal
 * redirect wiped that, through the cleanup of the pool.
 */

struct ngx_http_relay_ctx_s {
    ngx_http_request_t          *request;
    ngx_http_relay_loc_conf_t   *conf;      /* of the location that decides */
    ngx_http_relay_state_e       state;
    ngx_http_relay_outcome_e     outcome;   /* the gate: set in one place */

    ngx_str_t                    token;     /* a copy; wiped with the pool */
    u_char                       link[RELAY_DIGEST_LEN];    /* H(token) */

    relay_identity_t             identity;  /* points into the pool */
    const char                  *identity_why;
    ngx_http_relay_snapshot_t   *snapshot;  /* records decided on */
    ngx_http_relay_blocks_t     *blocks;    /* asked for by this request */
    relay_decision_t             decision;
    ngx_http_relay_body_t       *body;

    ngx_str_t                    relay;     /* id */
    ngx_str_t                    receipt;   /* id of the receipt */
    ngx_str_t                    grant;     /* id of the grant */
    relay_str_t                  isolation; /* that a packet's head asks for */

    ngx_http_relay_redis_cmd_t  *cmds[16];  /* outstanding, or NULL */
    ngx_uint_t                   pending;
    ngx_uint_t                   rounds;    /* of look-up */
    int64_t                      accept_version;

    int64_t                      redis_now; /* where Redis's clock is ahead */
    relay_str_t                  document;
    ngx_http_relay_fault_t       fault;     /* of the document */
    ngx_str_t                    view_key;  /* to keep the view under, or "" */
    uint32_t                     safety;    /* why it is not passed on */
    ngx_str_t                    word;      /* a script's answer: "ok", ... */
    ngx_msec_t                   allowed;   /* monotonic: when it was */

    ngx_queue_t                  keys;      /* among those who wait for keys */
    ngx_http_relay_jwks_fetch_t *fetch;     /* this request's, or NULL */

    relay_act_e                  act;
    unsigned                     keys_queued:1;
    unsigned                     keys_awaited:1;    /* once in a request */
    unsigned                     has_identity:1;
    unsigned                     accepted:1;    /* this read made the grant */
    unsigned                     failed:1;      /* a command found no answer */
    unsigned                     bad_record:1;  /* one cannot be decoded */
    unsigned                     remembered:1;  /* the snapshot was not asked
                                                   for by this request */
    unsigned                     document_asked:1;
    unsigned                     waiting:1;
    unsigned                     recorded:1;    /* serve.lua took the receipt */
    unsigned                     dry_run:1;     /* nothing is enforced */
    unsigned                     text:1;        /* the view is plain text */
    unsigned                     emitting:1;    /* our header is on its way */
    unsigned                     emitted:1;     /* our header was sent */
    unsigned                     logged:1;
};


#define ngx_http_relay_ncmds(ctx)                                             \
    (sizeof((ctx)->cmds) / sizeof((ctx)->cmds[0]))


/* ngx_http_relay_module.c */

extern ngx_module_t  ngx_http_relay_module;
extern ngx_module_t  ngx_http_relay_filter_module;

ngx_http_relay_ctx_t *ngx_http_relay_get_ctx(ngx_http_request_t *r);
ngx_http_relay_ctx_t *ngx_http_relay_create_ctx(ngx_http_request_t *r);


/* ngx_http_relay_handler.c: the phases, and the only place that allows */

ngx_int_t ngx_http_relay_preaccess_handler(ngx_http_request_t *r);
ngx_int_t ngx_http_relay_precontent_handler(ngx_http_request_t *r);
ngx_int_t ngx_http_relay_log_handler(ngx_http_request_t *r);
void ngx_http_relay_cleanup(void *data);    /* pool cleanup of the ctx */

/* Runs a request on that one of the module's handlers has suspended. */
void ngx_http_relay_resume(ngx_http_relay_ctx_t *ctx);


/* ngx_http_relay_request.c */

/*
 * Masks the token wherever a log could print it: request line, URI, arguments,
 * unparsed URI, Referer.
 */
void ngx_http_relay_redact(ngx_http_request_t *r, ngx_str_t *token);

/* URI and arguments alone, with relay_dry_run too, which a backend sees. */
void ngx_http_relay_redact_uri(ngx_http_request_t *r, ngx_str_t *token);

/*
 * Removes from headers_in what would make a part or an oracle of the answer:
 * Range, If-Range, If-None-Match, If-Match, If-Modified-Since,
 * If-Unmodified-Since, Accept-Encoding, Upgrade, TE.
 */
ngx_int_t ngx_http_relay_sanitize(ngx_http_request_t *r);

/* The value of a request header, all spellings' first; NULL: absent. */
ngx_str_t *ngx_http_relay_header_in(ngx_http_request_t *r, const char *name);

/*
 * What a request with an ambient identity may not be: RELAY_REASON_UNDECIDED
 * when nothing is wrong, else CROSS_SITE, PREFETCH, EARLY_DATA.  Prefetch and
 * early data are refused for bearer tokens too.
 */
relay_reason_e ngx_http_relay_request_check(ngx_http_request_t *r,
    ngx_uint_t ambient);

/* Whether a browser navigates: Sec-Fetch-Mode, else Accept with text/html. */
ngx_uint_t ngx_http_relay_navigation(ngx_http_request_t *r);


/* ngx_http_relay_identity.c */

/*
 * Who asks: a bearer token, else relay_identity's values.  NGX_OK: *id is
 * filled in from r->pool; NGX_DECLINED: nobody; NGX_ABORT: presented and
 * invalid, *why is a static sentence; NGX_AGAIN: the request is to wait, and
 * resumed when there are keys to verify the token with; NGX_BUSY: there are
 * none; NGX_ERROR.
 */
ngx_int_t ngx_http_relay_identify(ngx_http_request_t *r,
    ngx_http_relay_loc_conf_t *rlcf, relay_identity_t *id, const char **why);


/* ngx_http_relay_jwt_conf.c */

char *ngx_http_relay_set_jwt_keys(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);


/* ngx_http_relay_jwt.c */

/* The identity in a bearer token; returns as ngx_http_relay_identify(). */
ngx_int_t ngx_http_relay_jwt_identity(ngx_http_request_t *r,
    ngx_http_relay_loc_conf_t *rlcf, ngx_str_t *token, relay_identity_t *id,
    const char **why);

/* Forgets the tokens that were verified with other keys of this set. */
void ngx_http_relay_jwt_forget(ngx_http_relay_jwks_conf_t *remote);

ngx_int_t ngx_http_relay_jwt_init_process(ngx_cycle_t *cycle);
void ngx_http_relay_jwt_exit_process(ngx_cycle_t *cycle);


/* ngx_http_relay_jwks.c: key sets that are fetched */

/*
 * The keys of a set, fetched when they are not there or too old.  NGX_OK: *keys
 * is good until control returns to the event loop; NGX_AGAIN: the request is to
 * wait and is resumed; NGX_BUSY: there are none.
 */
ngx_int_t ngx_http_relay_jwks_get(ngx_http_request_t *r,
    ngx_http_relay_jwks_conf_t *jkcf, relay_jwt_keys_t **keys);

/*
 * Asks for newer keys than those.  NGX_AGAIN: the request is to wait and is
 * resumed; NGX_DECLINED: it has waited, or it is too soon.
 */
ngx_int_t ngx_http_relay_jwks_renew(ngx_http_request_t *r,
    ngx_http_relay_jwks_conf_t *jkcf);

/* Takes the body of a fetch; NGX_DECLINED: r is none. */
ngx_int_t ngx_http_relay_jwks_body_filter(ngx_http_request_t *r,
    ngx_chain_t *in);

/* Detaches a request that ends. */
void ngx_http_relay_jwks_cleanup(ngx_http_relay_ctx_t *ctx);

ngx_http_relay_jwks_t *ngx_http_relay_jwks_create(ngx_cycle_t *cycle,
    ngx_http_relay_jwks_conf_t *jkcf);
void ngx_http_relay_jwks_close(ngx_http_relay_jwks_t *jwks);


/* ngx_http_relay_content.c */

/* The content handler of a location with relay_package. */
ngx_int_t ngx_http_relay_content_handler(ngx_http_request_t *r);

/*
 * Sends the fixed answer for ctx->decision (status, reason), JSON or plain
 * text for a browser.  What a phase handler returns.
 */
ngx_int_t ngx_http_relay_send_denial(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx);

/* The fixed body for a status and reason; the filter uses it too. */
void ngx_http_relay_denial_body(ngx_http_request_t *r, ngx_uint_t status,
    relay_reason_e reason, ngx_str_t *type, ngx_str_t *body);

/* What a refusal tells: WWW-Authenticate, Allow, Retry-After. */
ngx_int_t ngx_http_relay_denial_headers(ngx_http_request_t *r,
    ngx_uint_t status, relay_reason_e reason);

/* Cache-Control, Referrer-Policy, X-Content-Type-Options and the like. */
ngx_int_t ngx_http_relay_answer_headers(ngx_http_request_t *r);


/* ngx_http_relay_filter_module.c has no exports */


/* ngx_http_relay_records.c: what a decision rests on */

/*
 * Finds ctx->snapshot and what of the blocks concerns this reader.  NGX_OK: all
 * is there; NGX_AGAIN: Redis was asked, the request is resumed when all is
 * there; NGX_ERROR: the store is unavailable.  fresh: what this process
 * remembers is forgotten and not looked at.
 */
ngx_int_t ngx_http_relay_records_lookup(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, ngx_uint_t fresh);

/*
 * The inputs of the decision.  NGX_OK; NGX_DECLINED: a record cannot be
 * decoded, which was logged.
 */
ngx_int_t ngx_http_relay_records_input(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, relay_grant_input_t *in);

/* serve.lua found the snapshot true: the next read may start from it. */
void ngx_http_relay_records_remember(ngx_http_relay_ctx_t *ctx);
void ngx_http_relay_records_forget(ngx_http_relay_snapshot_t *ss);

/* Lets a snapshot go that a request or the cache holds; NULL is ignored. */
void ngx_http_relay_snapshot_release(ngx_http_relay_snapshot_t *ss);

ngx_int_t ngx_http_relay_records_init_process(ngx_cycle_t *cycle);
void ngx_http_relay_records_exit_process(ngx_cycle_t *cycle);


/* ngx_http_relay_document.c */

/*
 * The view of the decision.  NGX_OK: ctx->body is set; NGX_AGAIN: asked;
 * NGX_DECLINED: cannot be projected, or, with ctx->safety, is not to be passed
 * on; NGX_ERROR: unavailable.
 */
ngx_int_t ngx_http_relay_document_view(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx);


/* serve.lua found the records true: the view may be kept under their digest. */
void ngx_http_relay_document_keep(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx);

/*
 * Notes in ctx->fault what the receipt of a withheld document says: the rule
 * that refuses it, or NULL, and the node at fault.
 */
void ngx_http_relay_document_fault(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, const relay_str_t *rule,
    const relay_json_tape_t *tape, const relay_str_t *doc, size_t node);


/* ngx_http_relay_store.c: commands of a request, scripts */

/*
 * serve.lua: guard and receipt; accept.lua: the grant of the decision.
 * NGX_AGAIN: sent, ctx->word is the answer when the request is resumed;
 * NGX_ERROR.
 */
ngx_int_t ngx_http_relay_store_serve(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx);
ngx_int_t ngx_http_relay_store_accept(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx);

/* Detaches from all commands that were not answered yet. */
void ngx_http_relay_store_cancel(ngx_http_relay_ctx_t *ctx);

/* Milliseconds of a clock that is never set back, read afresh. */
ngx_msec_t ngx_http_relay_monotonic(void);


/* ngx_http_relay_packet.c */

ngx_int_t ngx_http_relay_packet_init(ngx_conf_t *cf,
    ngx_http_relay_main_conf_t *rmcf);
char *ngx_http_relay_set_packet_rules(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/* Appends to the key of a cached view what a packet's depends on besides. */
void ngx_http_relay_packet_key(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, relay_buf_t *key);

/*
 * The rules, and P26.  NGX_OK; NGX_DECLINED: refused, the rules were logged;
 * NGX_ERROR: no memory.
 */
ngx_int_t ngx_http_relay_packet_check(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, relay_str_t *doc, relay_json_tape_t *tape);

/* Whether the client gets the prompt as text, not the packet as JSON. */
ngx_uint_t ngx_http_relay_packet_text(ngx_http_request_t *r);


/* ngx_http_relay_cache.c: the shared view cache */

ngx_int_t ngx_http_relay_cache_init_zone(ngx_shm_zone_t *zone, void *data);

/*
 * A view that is still right at the time now, or NULL: this process's copy, or
 * one made of what is in the zone.  The caller releases it.
 */
ngx_http_relay_body_t *ngx_http_relay_cache_get(ngx_shm_zone_t *zone,
    ngx_str_t *key, int64_t now, ngx_log_t *log);

/* The body must not change afterwards; the caller still releases its own. */
void ngx_http_relay_cache_put(ngx_shm_zone_t *zone, ngx_str_t *key,
    ngx_http_relay_body_t *body);

/* One reference, the caller's; NULL without memory. */
ngx_http_relay_body_t *ngx_http_relay_body_create(size_t len, ngx_log_t *log);
void ngx_http_relay_body_release(ngx_http_relay_body_t *body);

ngx_int_t ngx_http_relay_cache_init_process(ngx_cycle_t *cycle);
void ngx_http_relay_cache_exit_process(ngx_cycle_t *cycle);


/* ngx_http_relay_receipt.c */

/* Fills *rc from the request and its decision; assigns ctx->receipt. */
ngx_int_t ngx_http_relay_receipt_fill(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, relay_receipt_kind_e kind,
    relay_receipt_t *rc);

/* Records a denial of a known reader: aggregated, never waited for. */
void ngx_http_relay_receipt_denial(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx);

/* Records that a served body was not delivered whole; not waited for. */
void ngx_http_relay_receipt_undelivered(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx);

ngx_int_t ngx_http_relay_receipt_init_process(ngx_cycle_t *cycle);
void ngx_http_relay_receipt_exit_process(ngx_cycle_t *cycle);


/* ngx_http_relay_metrics.c */

ngx_int_t ngx_http_relay_metrics_init(ngx_conf_t *cf,
    ngx_http_relay_main_conf_t *rmcf);
char *ngx_http_relay_set_metrics(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/* Count the decision of a request, by its reason; something that happened. */
void ngx_http_relay_count_decision(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx);
void ngx_http_relay_count(ngx_http_relay_main_conf_t *rmcf,
    ngx_http_relay_event_e event);


/* ngx_http_relay_variables.c */

ngx_int_t ngx_http_relay_add_variables(ngx_conf_t *cf);


#endif /* _NGX_HTTP_RELAY_MODULE_H_INCLUDED_ */
