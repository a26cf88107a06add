
/*
 * A Redis client inside the worker: an nginx connection, hiredis's parser
 * (lib/relay_resp), a pipeline with one deadline per command, and a capped,
 * jittered backoff.  It knows nothing about requests.
 */

#ifndef _NGX_HTTP_RELAY_REDIS_H_INCLUDED_
#define _NGX_HTTP_RELAY_REDIS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "relay_durability.h"
#include "relay_resp.h"


typedef struct ngx_http_relay_redis_s      ngx_http_relay_redis_t;
typedef struct ngx_http_relay_redis_cmd_s  ngx_http_relay_redis_cmd_t;


/* one server as relay_redis names it; only what a process adds changes */

typedef struct {
    ngx_str_t                  url;             /* for the log */
    ngx_addr_t                *addrs;
    ngx_uint_t                 naddrs;
    ngx_str_t                  user;
    ngx_str_t                  password;        /* never logged */
    ngx_int_t                  db;
    ngx_msec_t                 connect_timeout;
    ngx_msec_t                 command_timeout;
    ngx_msec_t                 backoff_cap;
    ngx_uint_t                 queue;           /* commands waiting at most */
    size_t                     reply_max;       /* bytes of one reply */
    relay_durability_e         durability;      /* as declared */
    ngx_http_relay_redis_t    *decisions;       /* this process's connection */
    ngx_http_relay_redis_t    *documents;       /* large replies, apart */
    ngx_uint_t                 tries;           /* of this process, to check */
    unsigned                   checked:1;       /* the durability */
} ngx_http_relay_redis_conf_t;


/*
 * rc is NGX_OK with a reply that lives until the handler returns (an error
 * reply of Redis is such a reply), or NGX_ERROR with NULL: no answer came and
 * whether the command ran is unknown.  NGX_ABORT with NULL is the same while
 * the process exits: no event fires any more, so the handler frees or logs what
 * is its own and leaves the request alone.
 */

typedef void (*ngx_http_relay_redis_handler_pt)(void *data, ngx_int_t rc,
    relay_resp_reply_t *reply);


/*
 * Parses the arguments of relay_redis: value[0] is the directive's name,
 * value[1] the URL (redis://[user[:password]@]host[:port][/db],
 * unix:/path[:db]), then parameters connect_timeout=, command_timeout=, queue=,
 * user=, password_file=, durability=, backoff=, reply_max=.  NULL: it was
 * logged what is wrong.
 */
ngx_http_relay_redis_conf_t *ngx_http_relay_redis_parse(ngx_conf_t *cf,
    ngx_str_t *value, ngx_uint_t n);

/* A connection of this process, not opened until the first command. */
ngx_http_relay_redis_t *ngx_http_relay_redis_create(ngx_cycle_t *cycle,
    ngx_http_relay_redis_conf_t *conf);

/*
 * Closes, then gives NGX_ABORT to the handlers of what waits; called when the
 * process exits.  No command is taken afterwards.  After a graceful shutdown
 * nothing waits here: the worker stays until each command has its outcome.
 */
void ngx_http_relay_redis_close(ngx_http_relay_redis_t *redis);

/*
 * Queues one command; it is written at the end of this turn of the event loop
 * together with all others queued until then.  The handler is called exactly
 * once, never from within this call, unless the command is cancelled.  NULL:
 * the store is down and its backoff lasts, the queue is full, or no memory;
 * the handler is not called then.
 */
ngx_http_relay_redis_cmd_t *ngx_http_relay_redis_submit(
    ngx_http_relay_redis_t *redis, ngx_uint_t argc, const relay_str_t *argv,
    ngx_http_relay_redis_handler_pt handler, void *data);

/*
 * Detaches: the command still runs and its reply is still consumed in its
 * order, but the handler is not called.
 */
void ngx_http_relay_redis_cancel(ngx_http_relay_redis_cmd_t *cmd);

/* It may be refused by an ACL without a word in the log. */
void ngx_http_relay_redis_optional(ngx_http_relay_redis_cmd_t *cmd);

/*
 * Logs an error reply to a command of this connection: the server, and its
 * text as far as it may be logged.  What an ACL refused was logged already
 * and is said at "info" only.
 */
void ngx_http_relay_redis_refused(ngx_http_relay_redis_t *redis,
    relay_str_t *error, ngx_log_t *log);

/*
 * Asks the server what it promises for receipts and logs it, once per process;
 * called whenever one of its connections is ready.
 */
void ngx_http_relay_durability_check(ngx_http_relay_redis_conf_t *conf);


#endif /* _NGX_HTTP_RELAY_REDIS_H_INCLUDED_ */
