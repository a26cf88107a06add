
/*
 * A Redis client inside the worker.
 *
 * A connection is opened by the first command and keeps one order: bytes in
 * "out", commands in "queue", replies from the reader.  What breaks that order
 * (no reply in time, bytes that are not a reply, a reply that nobody waits for,
 * the end of the connection) closes it and fails all that waits, since a reply
 * could no longer be told from another.
 */

#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>
#include <ngx_event_connect.h>

#include "ngx_http_relay_redis.h"

#include "relay_backoff.h"
#include "relay_buf.h"
#include "relay_resp.h"


#define NGX_HTTP_RELAY_REDIS_BASE       50          /* ms, the first ceiling */

#define NGX_HTTP_RELAY_REDIS_OUT        (64 * 1024 * 1024)  /* bytes not sent */
#define NGX_HTTP_RELAY_REDIS_OUT_KEEP   (256 * 1024)
#define NGX_HTTP_RELAY_REDIS_HELLO      (16 * 1024)
#define NGX_HTTP_RELAY_REDIS_RECV       (64 * 1024)
#define NGX_HTTP_RELAY_REDIS_TEXT       160         /* of an error, logged */

#define NGX_HTTP_RELAY_REDIS_AGAIN      60000       /* ms, till it is logged
                                                       again */

#define NGX_HTTP_RELAY_REDIS_NAME       "relay-edge"


/* what an incident was logged for: each once, until Redis answers again */

#define NGX_HTTP_RELAY_REDIS_CONNECT    0x01
#define NGX_HTTP_RELAY_REDIS_HANDSHAKE  0x02
#define NGX_HTTP_RELAY_REDIS_LOST       0x04
#define NGX_HTTP_RELAY_REDIS_LATE       0x08
#define NGX_HTTP_RELAY_REDIS_PROTOCOL   0x10
#define NGX_HTTP_RELAY_REDIS_MEMORY     0x20


typedef enum {
    ngx_http_relay_redis_idle = 0,
    ngx_http_relay_redis_connecting,
    ngx_http_relay_redis_handshake,
    ngx_http_relay_redis_ready,
    ngx_http_relay_redis_closed
} ngx_http_relay_redis_state_e;


typedef enum {
    ngx_http_relay_redis_auth = 0,
    ngx_http_relay_redis_select,
    ngx_http_relay_redis_setname
} ngx_http_relay_redis_step_e;


struct ngx_http_relay_redis_cmd_s {
    ngx_queue_t                       queue;
    ngx_http_relay_redis_handler_pt   handler;      /* NULL: cancelled */
    void                             *data;
    ngx_msec_t                        deadline;
    uint64_t                          end;          /* offset of its end */
    unsigned                          optional:1;
};


typedef struct {
    relay_buf_t                       buf;
    size_t                            sent;
} ngx_http_relay_redis_out_t;


struct ngx_http_relay_redis_s {
    ngx_http_relay_redis_conf_t      *conf;
    ngx_connection_t                 *connection;
    relay_resp_reader_t              *reader;

    ngx_queue_t                       queue;        /* oldest first */
    ngx_uint_t                        waiting;
    ngx_event_t                       deadline;

    ngx_http_relay_redis_out_t        hello;
    ngx_http_relay_redis_out_t        out;
    uint64_t                          queued;       /* bytes of all commands */
    uint64_t                          written;      /* of these, sent */

    ngx_http_relay_redis_step_e       steps[3];
    ngx_uint_t                        nsteps;
    ngx_uint_t                        step;

    ngx_uint_t                        addr;
    ngx_uint_t                        tries;        /* addresses, this time */
    ngx_uint_t                        failures;     /* in a row */
    ngx_msec_t                        not_before;
    ngx_msec_t                        ready_since;
    ngx_uint_t                        generation;   /* of the connection */
    ngx_uint_t                        logged;       /* of this incident */

    ngx_log_t                         log;
    ngx_http_relay_redis_state_e      state;
    ngx_msec_t                        full_since;
    ngx_msec_t                        denied_since;

    unsigned                          full:1;       /* logged: queue is full */
    unsigned                          denied:1;     /* logged: no permission */
};


static ngx_int_t ngx_http_relay_redis_connect(ngx_http_relay_redis_t *redis);
static ngx_int_t ngx_http_relay_redis_connected(ngx_http_relay_redis_t *redis);
static void ngx_http_relay_redis_unreachable(ngx_http_relay_redis_t *redis,
    ngx_err_t err);
static ngx_int_t ngx_http_relay_redis_hello(ngx_http_relay_redis_t *redis);
static void ngx_http_relay_redis_write_handler(ngx_event_t *wev);
static void ngx_http_relay_redis_read_handler(ngx_event_t *rev);
static void ngx_http_relay_redis_deadline_handler(ngx_event_t *ev);
static ngx_int_t ngx_http_relay_redis_flush(ngx_http_relay_redis_t *redis,
    ngx_http_relay_redis_out_t *out, uint64_t *written);
static ngx_int_t ngx_http_relay_redis_take(ngx_http_relay_redis_t *redis,
    u_char *data, size_t len);
static ngx_int_t ngx_http_relay_redis_take_step(ngx_http_relay_redis_t *redis,
    relay_resp_reply_t *reply);
static ngx_int_t ngx_http_relay_redis_take_reply(ngx_http_relay_redis_t *redis,
    relay_resp_reply_t *reply);
static void ngx_http_relay_redis_quiesce(ngx_http_relay_redis_t *redis);
static void ngx_http_relay_redis_disconnect(ngx_http_relay_redis_t *redis);
static void ngx_http_relay_redis_fail(ngx_http_relay_redis_t *redis);
static void ngx_http_relay_redis_fail_queue(ngx_http_relay_redis_t *redis,
    ngx_int_t rc);
static ngx_uint_t ngx_http_relay_redis_log_level(ngx_http_relay_redis_t *redis,
    ngx_uint_t reason);
static void ngx_http_relay_redis_error_text(ngx_http_relay_redis_t *redis,
    relay_str_t *error, ngx_str_t *text, u_char *buf);
static ngx_str_t *ngx_http_relay_redis_user(ngx_http_relay_redis_t *redis);
static void ngx_http_relay_redis_denied(ngx_http_relay_redis_t *redis,
    relay_str_t *error);
static u_char *ngx_http_relay_redis_log_error(ngx_log_t *log, u_char *buf,
    size_t len);


/* as ngx_http_relay_redis_step_e */

static const char  *ngx_http_relay_redis_steps[] = {
    "AUTH",
    "SELECT",
    "CLIENT SETNAME"
};


/* all connections of a process read into this, one at a time */

static u_char  ngx_http_relay_redis_buf[NGX_HTTP_RELAY_REDIS_RECV];


ngx_http_relay_redis_t *
ngx_http_relay_redis_create(ngx_cycle_t *cycle,
    ngx_http_relay_redis_conf_t *conf)
{
    ngx_http_relay_redis_t  *redis;

    redis = ngx_pcalloc(cycle->pool, sizeof(ngx_http_relay_redis_t));
    if (redis == NULL) {
        return NULL;
    }

    /*
     * set by ngx_pcalloc():
     *
     *     redis->connection = NULL;
     *     redis->reader = NULL;
     *     redis->state = ngx_http_relay_redis_idle;
     */

    redis->conf = conf;

    ngx_queue_init(&redis->queue);

    relay_buf_init(&redis->hello.buf, NGX_HTTP_RELAY_REDIS_HELLO);
    relay_buf_init(&redis->out.buf, NGX_HTTP_RELAY_REDIS_OUT);

    redis->log = *cycle->log;
    redis->log.handler = ngx_http_relay_redis_log_error;
    redis->log.data = redis;
    redis->log.action = "talking to Redis";

    redis->deadline.handler = ngx_http_relay_redis_deadline_handler;
    redis->deadline.data = redis;
    redis->deadline.log = &redis->log;
    redis->deadline.cancelable = 1;

    return redis;
}


void
ngx_http_relay_redis_close(ngx_http_relay_redis_t *redis)
{
    ngx_http_relay_redis_disconnect(redis);

    redis->state = ngx_http_relay_redis_closed;

    ngx_http_relay_redis_fail_queue(redis, NGX_ABORT);
}


ngx_http_relay_redis_cmd_t *
ngx_http_relay_redis_submit(ngx_http_relay_redis_t *redis, ngx_uint_t argc,
    const relay_str_t *argv, ngx_http_relay_redis_handler_pt handler,
    void *data)
{
    size_t                       len;
    relay_buf_t                 *buf;
    ngx_connection_t            *c;
    ngx_http_relay_redis_cmd_t  *cmd;

    if (redis->state == ngx_http_relay_redis_closed) {
        return NULL;
    }

    if (redis->state == ngx_http_relay_redis_idle
        && redis->failures
        && (ngx_msec_int_t) (redis->not_before - ngx_current_msec) > 0)
    {
        return NULL;
    }

    if (redis->waiting >= redis->conf->queue) {
        goto full;
    }

    cmd = ngx_alloc(sizeof(ngx_http_relay_redis_cmd_t), &redis->log);
    if (cmd == NULL) {
        return NULL;
    }

    buf = &redis->out.buf;

    if (redis->out.sent > buf->len / 2) {

        /* make room where as much was sent as there is left to move */

        buf->len -= redis->out.sent;
        ngx_memmove(buf->data, buf->data + redis->out.sent, buf->len);
        redis->out.sent = 0;
    }

    len = buf->len;

    if (relay_resp_format(buf, argc, argv) != RELAY_OK) {
        ngx_free(cmd);
        goto full;
    }

    if (redis->state == ngx_http_relay_redis_idle) {

        redis->tries = 0;

        if (ngx_http_relay_redis_connect(redis) != NGX_OK) {
            ngx_free(cmd);
            ngx_http_relay_redis_fail(redis);
            return NULL;
        }
    }

    redis->queued += buf->len - len;

    cmd->handler = handler;
    cmd->data = data;
    cmd->deadline = ngx_current_msec + redis->conf->command_timeout;
    cmd->end = redis->queued;
    cmd->optional = 0;

    ngx_queue_insert_tail(&redis->queue, &cmd->queue);
    redis->waiting++;

    c = redis->connection;
    c->idle = 0;

    /*
     * The timer is not moved with each reply: when it fires, it looks for how
     * long the oldest command has waited.  While none waits, it does not keep
     * the worker.
     */

    redis->deadline.cancelable = 0;

    if (!redis->deadline.timer_set) {
        ngx_add_timer(&redis->deadline, redis->conf->command_timeout);
    }

    if (redis->state == ngx_http_relay_redis_ready) {
        ngx_post_event(c->write, &ngx_posted_events);
    }

    return cmd;

full:

    if (!redis->full
        || ngx_current_msec - redis->full_since > NGX_HTTP_RELAY_REDIS_AGAIN)
    {
        redis->full = 1;
        redis->full_since = ngx_current_msec;

        ngx_log_error(NGX_LOG_ERR, &redis->log, 0,
                      "command refused: %ui wait, %uz bytes are not sent",
                      redis->waiting, redis->out.buf.len - redis->out.sent);
    }

    return NULL;
}


void
ngx_http_relay_redis_cancel(ngx_http_relay_redis_cmd_t *cmd)
{
    cmd->handler = NULL;
    cmd->data = NULL;
}


void
ngx_http_relay_redis_optional(ngx_http_relay_redis_cmd_t *cmd)
{
    cmd->optional = 1;
}


/* Tries the addresses that were not tried yet; commands stay in the queue. */

static ngx_int_t
ngx_http_relay_redis_connect(ngx_http_relay_redis_t *redis)
{
    ngx_int_t                     rc;
    ngx_uint_t                    level, last;
    ngx_connection_t             *c;
    ngx_peer_connection_t         pc;
    ngx_http_relay_redis_conf_t  *conf;

    conf = redis->conf;

    redis->reader = relay_resp_reader_create(conf->reply_max);
    if (redis->reader == NULL) {
        level = ngx_http_relay_redis_log_level(redis,
                                               NGX_HTTP_RELAY_REDIS_MEMORY);
        ngx_log_error(level, &redis->log, 0, "no memory for a connection");
        return NGX_ERROR;
    }

    while (redis->tries < conf->naddrs) {

        ngx_memzero(&pc, sizeof(ngx_peer_connection_t));

        pc.sockaddr = conf->addrs[redis->addr].sockaddr;
        pc.socklen = conf->addrs[redis->addr].socklen;
        pc.name = &conf->addrs[redis->addr].name;
        pc.get = ngx_event_get_peer;
        pc.log = &redis->log;
        pc.log_error = NGX_ERROR_INFO;
        pc.so_keepalive = 1;

        last = ++redis->tries == conf->naddrs;

        /* what fails at once is logged there: once in an incident is enough */

        level = redis->log.log_level;

        if (!last || (redis->logged & NGX_HTTP_RELAY_REDIS_CONNECT)) {
            redis->log.log_level = ngx_min(level, NGX_LOG_ALERT);
        }

        rc = ngx_event_connect_peer(&pc);

        redis->log.log_level = level;

        if (rc == NGX_OK || rc == NGX_AGAIN) {
            c = pc.connection;

            c->data = redis;
            c->read->handler = ngx_http_relay_redis_read_handler;
            c->write->handler = ngx_http_relay_redis_write_handler;

            redis->connection = c;
            redis->log.connection = c->number;
            redis->state = ngx_http_relay_redis_connecting;

            ngx_add_timer(c->write, conf->connect_timeout);

            if (rc == NGX_OK) {
                ngx_post_event(c->write, &ngx_posted_events);
            }

            return NGX_OK;
        }

        if (last) {
            redis->logged |= NGX_HTTP_RELAY_REDIS_CONNECT;
        }

        redis->addr = (redis->addr + 1) % conf->naddrs;
    }

    return NGX_ERROR;
}


/*
 * NGX_ERROR: the connection is not there any more, or it is another one.
 */

static ngx_int_t
ngx_http_relay_redis_connected(ngx_http_relay_redis_t *redis)
{
    int                err;
    socklen_t          len;
    ngx_uint_t         level;
    ngx_connection_t  *c;

    c = redis->connection;

    err = 0;
    len = sizeof(int);

    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, (void *) &err, &len) == -1) {
        err = ngx_socket_errno;
    }

    if (err) {
        ngx_http_relay_redis_unreachable(redis, err);
        return NGX_ERROR;
    }

    ngx_log_debug0(NGX_LOG_DEBUG_CORE, c->log, 0, "relay redis connected");

    if (ngx_tcp_nodelay(c) != NGX_OK
        || ngx_http_relay_redis_hello(redis) != NGX_OK)
    {
        level = ngx_http_relay_redis_log_level(redis,
                                               NGX_HTTP_RELAY_REDIS_HANDSHAKE);
        ngx_log_error(level, c->log, 0, "could not begin to talk");

        ngx_http_relay_redis_fail(redis);
        return NGX_ERROR;
    }

    redis->state = ngx_http_relay_redis_handshake;

    ngx_post_event(c->write, &ngx_posted_events);

    return NGX_OK;
}


static void
ngx_http_relay_redis_unreachable(ngx_http_relay_redis_t *redis, ngx_err_t err)
{
    ngx_str_t                    *name;
    ngx_uint_t                    level;
    ngx_http_relay_redis_conf_t  *conf;

    conf = redis->conf;
    name = &conf->addrs[redis->addr].name;

    level = NGX_LOG_INFO;

    if (redis->tries == conf->naddrs) {
        level = ngx_http_relay_redis_log_level(redis,
                                               NGX_HTTP_RELAY_REDIS_CONNECT);
    }

    ngx_log_error(level, &redis->log, err, "connect() to %V failed", name);

    ngx_http_relay_redis_disconnect(redis);

    redis->addr = (redis->addr + 1) % conf->naddrs;

    if (ngx_http_relay_redis_connect(redis) != NGX_OK) {
        ngx_http_relay_redis_fail(redis);
    }
}


/* AUTH, SELECT and CLIENT SETNAME, of which the last is always sent. */

static ngx_int_t
ngx_http_relay_redis_hello(ngx_http_relay_redis_t *redis)
{
    u_char                        db[NGX_INT_T_LEN];
    ngx_uint_t                    n;
    relay_str_t                   argv[3];
    relay_buf_t                  *buf;
    ngx_http_relay_redis_conf_t  *conf;

    conf = redis->conf;
    buf = &redis->hello.buf;

    relay_buf_reset(buf);
    redis->hello.sent = 0;
    redis->nsteps = 0;
    redis->step = 0;

    if (conf->password.len) {
        n = 0;

        relay_str_set(&argv[n], "AUTH");
        n++;

        if (conf->user.len) {
            argv[n].len = conf->user.len;
            argv[n].data = conf->user.data;
            n++;
        }

        argv[n].len = conf->password.len;
        argv[n].data = conf->password.data;
        n++;

        if (relay_resp_format(buf, n, argv) != RELAY_OK) {
            return NGX_ERROR;
        }

        redis->steps[redis->nsteps++] = ngx_http_relay_redis_auth;
    }

    if (conf->db) {
        relay_str_set(&argv[0], "SELECT");

        argv[1].data = db;
        argv[1].len = ngx_sprintf(db, "%i", conf->db) - db;

        if (relay_resp_format(buf, 2, argv) != RELAY_OK) {
            return NGX_ERROR;
        }

        redis->steps[redis->nsteps++] = ngx_http_relay_redis_select;
    }

    relay_str_set(&argv[0], "CLIENT");
    relay_str_set(&argv[1], "SETNAME");
    relay_str_set(&argv[2], NGX_HTTP_RELAY_REDIS_NAME);

    if (relay_resp_format(buf, 3, argv) != RELAY_OK) {
        return NGX_ERROR;
    }

    redis->steps[redis->nsteps++] = ngx_http_relay_redis_setname;

    return NGX_OK;
}


static void
ngx_http_relay_redis_write_handler(ngx_event_t *wev)
{
    ngx_int_t                rc;
    ngx_uint_t               level;
    ngx_connection_t        *c;
    ngx_http_relay_redis_t  *redis;

    c = wev->data;
    redis = c->data;

    ngx_log_debug1(NGX_LOG_DEBUG_CORE, c->log, 0,
                   "relay redis write handler, state:%d", redis->state);

    if (wev->timedout) {
        wev->timedout = 0;

        if (redis->state == ngx_http_relay_redis_connecting) {
            ngx_http_relay_redis_unreachable(redis, NGX_ETIMEDOUT);
            return;
        }

        level = ngx_http_relay_redis_log_level(redis,
                                               NGX_HTTP_RELAY_REDIS_LATE);
        ngx_log_error(level, c->log, 0,
                      "no answer to %s in %M ms, %ui commands failed",
                      ngx_http_relay_redis_steps[redis->steps[redis->step]],
                      redis->conf->connect_timeout, redis->waiting);

        ngx_http_relay_redis_fail(redis);
        return;
    }

    if (redis->state == ngx_http_relay_redis_connecting) {
        if (ngx_http_relay_redis_connected(redis) != NGX_OK) {
            return;
        }
    }

    if (redis->state == ngx_http_relay_redis_handshake) {
        rc = ngx_http_relay_redis_flush(redis, &redis->hello, NULL);

    } else {
        rc = ngx_http_relay_redis_flush(redis, &redis->out, &redis->written);
    }

    if (rc != NGX_OK || ngx_handle_write_event(wev, 0) != NGX_OK) {
        level = ngx_http_relay_redis_log_level(redis,
                                               NGX_HTTP_RELAY_REDIS_LOST);
        ngx_log_error(level, c->log, 0,
                      "connection lost while sending, %ui commands failed",
                      redis->waiting);

        ngx_http_relay_redis_fail(redis);
    }
}


static ngx_int_t
ngx_http_relay_redis_flush(ngx_http_relay_redis_t *redis,
    ngx_http_relay_redis_out_t *out, uint64_t *written)
{
    ssize_t            n;
    ngx_connection_t  *c;

    c = redis->connection;

    while (out->sent < out->buf.len) {

        if (!c->write->ready) {
            return NGX_OK;
        }

        n = c->send(c, out->buf.data + out->sent, out->buf.len - out->sent);

        if (n == NGX_ERROR) {
            return NGX_ERROR;
        }

        if (n == NGX_AGAIN || n == 0) {
            return NGX_OK;
        }

        out->sent += n;

        if (written) {
            *written += n;
        }
    }

    out->sent = 0;

    if (out->buf.size > NGX_HTTP_RELAY_REDIS_OUT_KEEP) {
        relay_buf_free(&out->buf);

    } else {
        relay_buf_reset(&out->buf);
    }

    return NGX_OK;
}


static void
ngx_http_relay_redis_read_handler(ngx_event_t *rev)
{
    ssize_t                  n;
    ngx_uint_t               level;
    ngx_connection_t        *c;
    ngx_http_relay_redis_t  *redis;

    c = rev->data;
    redis = c->data;

    ngx_log_debug1(NGX_LOG_DEBUG_CORE, c->log, 0,
                   "relay redis read handler, state:%d", redis->state);

    if (c->close) {

        /* the worker shuts down: idle, or worker_shutdown_timeout is over */

        if (redis->waiting == 0) {
            ngx_http_relay_redis_disconnect(redis);
            return;
        }

        ngx_log_error(NGX_LOG_INFO, c->log, 0,
                      "worker shuts down, %ui commands failed",
                      redis->waiting);

        ngx_http_relay_redis_fail(redis);
        return;
    }

    if (redis->state == ngx_http_relay_redis_connecting) {
        if (ngx_http_relay_redis_connected(redis) != NGX_OK) {
            return;
        }
    }

    do {
        n = c->recv(c, ngx_http_relay_redis_buf, NGX_HTTP_RELAY_REDIS_RECV);

        if (n == NGX_AGAIN) {
            break;
        }

        if (n == NGX_ERROR || n == 0) {

            if (redis->state == ngx_http_relay_redis_ready
                && redis->waiting == 0)
            {
                /* no harm done: as Redis does with its "timeout" */

                ngx_log_error(NGX_LOG_INFO, c->log, 0,
                              "Redis closed an idle connection");

                ngx_http_relay_redis_disconnect(redis);
                return;
            }

            level = ngx_http_relay_redis_log_level(redis,
                                                   NGX_HTTP_RELAY_REDIS_LOST);
            ngx_log_error(level, c->log, 0,
                          "connection lost, %ui commands failed",
                          redis->waiting);

            ngx_http_relay_redis_fail(redis);
            return;
        }

        if (ngx_http_relay_redis_take(redis, ngx_http_relay_redis_buf, n)
            != NGX_OK)
        {
            return;
        }

    } while (rev->ready);

    if (ngx_handle_read_event(rev, 0) != NGX_OK) {
        level = ngx_http_relay_redis_log_level(redis,
                                               NGX_HTTP_RELAY_REDIS_LOST);
        ngx_log_error(level, c->log, 0,
                      "cannot wait for replies, %ui commands failed",
                      redis->waiting);

        ngx_http_relay_redis_fail(redis);
        return;
    }

    ngx_http_relay_redis_quiesce(redis);
}


/*
 * A handler may submit and cancel, so nothing of a reply or a command is kept
 * over its call but what the generation proves to be still there.  NGX_ERROR:
 * the connection is gone.
 */

static ngx_int_t
ngx_http_relay_redis_take(ngx_http_relay_redis_t *redis, u_char *data,
    size_t len)
{
    ngx_int_t            rc;
    const char          *why;
    ngx_uint_t           level, generation;
    relay_int_t          n;
    relay_resp_reply_t  *reply;

    if (relay_resp_feed(redis->reader, data, len) != RELAY_OK) {
        why = "no room for a reply";
        goto failed;
    }

    generation = redis->generation;

    for ( ;; ) {

        n = relay_resp_next(redis->reader, &reply, &why);

        if (n == RELAY_AGAIN) {
            return NGX_OK;
        }

        if (n != RELAY_OK) {
            goto failed;
        }

        if (redis->state == ngx_http_relay_redis_handshake) {
            rc = ngx_http_relay_redis_take_step(redis, reply);

        } else {
            rc = ngx_http_relay_redis_take_reply(redis, reply);
        }

        relay_resp_reply_free(reply);

        if (rc == NGX_DECLINED) {
            why = "a reply that no command asked for";
            goto failed;
        }

        if (rc != NGX_OK || redis->generation != generation) {
            return NGX_ERROR;
        }
    }

failed:

    level = ngx_http_relay_redis_log_level(redis,
                                           NGX_HTTP_RELAY_REDIS_PROTOCOL);
    ngx_log_error(level, &redis->log, 0,
                  "Redis does not keep to its protocol: %s, "
                  "%ui commands failed", why, redis->waiting);

    ngx_http_relay_redis_fail(redis);

    return NGX_ERROR;
}


static ngx_int_t
ngx_http_relay_redis_take_step(ngx_http_relay_redis_t *redis,
    relay_resp_reply_t *reply)
{
    u_char                        buf[NGX_HTTP_RELAY_REDIS_TEXT];
    ngx_str_t                     text;
    ngx_uint_t                    level;
    ngx_connection_t             *c;
    ngx_http_relay_redis_step_e   step;

    c = redis->connection;

    /* in the middle of what is being sent, nothing can be answered */

    if (redis->hello.buf.len) {

        if (reply->type != RELAY_RESP_ERROR) {
            return NGX_DECLINED;
        }

        redis->step = 0;
    }

    step = redis->steps[redis->step];

    if (reply->type == RELAY_RESP_ERROR) {

        ngx_http_relay_redis_error_text(redis, &reply->str, &text, buf);

        if (step != ngx_http_relay_redis_setname
            || text.len < sizeof("NOPERM") - 1
            || ngx_strncmp(text.data, "NOPERM", sizeof("NOPERM") - 1) != 0)
        {
            level = ngx_http_relay_redis_log_level(redis,
                                               NGX_HTTP_RELAY_REDIS_HANDSHAKE);

            ngx_log_error(level, c->log, 0,
                          "Redis refused %s of user \"%V\": \"%V\"",
                          ngx_http_relay_redis_steps[step],
                          ngx_http_relay_redis_user(redis), &text);

            ngx_http_relay_redis_fail(redis);

            return NGX_ERROR;
        }

        /* the name is for the operator's eyes: an ACL may forbid it */

    } else if (reply->type != RELAY_RESP_STATUS) {
        return NGX_DECLINED;
    }

    if (++redis->step < redis->nsteps) {
        return NGX_OK;
    }

    ngx_log_debug0(NGX_LOG_DEBUG_CORE, c->log, 0, "relay redis ready");

    redis->state = ngx_http_relay_redis_ready;
    redis->ready_since = ngx_current_msec;

    if (c->write->timer_set) {
        ngx_del_timer(c->write);
    }

    ngx_post_event(c->write, &ngx_posted_events);

    ngx_http_relay_durability_check(redis->conf);

    return NGX_OK;
}


static ngx_int_t
ngx_http_relay_redis_take_reply(ngx_http_relay_redis_t *redis,
    relay_resp_reply_t *reply)
{
    void                             *data;
    ngx_queue_t                      *q;
    ngx_http_relay_redis_cmd_t       *cmd;
    ngx_http_relay_redis_handler_pt   handler;

    if (ngx_queue_empty(&redis->queue)) {
        return NGX_DECLINED;
    }

    q = ngx_queue_head(&redis->queue);
    cmd = ngx_queue_data(q, ngx_http_relay_redis_cmd_t, queue);

    /* an answer to what was not sent yet is the answer to something else */

    if (cmd->end > redis->written) {
        return NGX_DECLINED;
    }

    ngx_queue_remove(q);
    redis->waiting--;

    if (redis->waiting == 0) {
        redis->deadline.cancelable = 1;
    }

    /*
     * An incident is over when the connection works and has lasted: one that
     * breaks after each reply is the same incident.
     */

    if (redis->failures
        && reply->type != RELAY_RESP_ERROR
        && ngx_current_msec - redis->ready_since >= redis->conf->backoff_cap)
    {
        redis->failures = 0;
        redis->logged = 0;

        ngx_log_error(NGX_LOG_NOTICE, &redis->log, 0, "Redis answers again");
    }

    if (reply->type == RELAY_RESP_ERROR
        && !cmd->optional
        && relay_resp_denied(&reply->str))
    {
        ngx_http_relay_redis_denied(redis, &reply->str);
    }

    handler = cmd->handler;
    data = cmd->data;

    ngx_free(cmd);

    if (handler) {
        handler(data, NGX_OK, reply);
    }

    return NGX_OK;
}


/* With nothing to wait for, the connection must not keep a worker. */

static void
ngx_http_relay_redis_quiesce(ngx_http_relay_redis_t *redis)
{
    if (redis->state != ngx_http_relay_redis_ready || redis->waiting) {
        return;
    }

    redis->connection->idle = 1;

    if (ngx_exiting) {
        ngx_http_relay_redis_disconnect(redis);
    }
}


static void
ngx_http_relay_redis_deadline_handler(ngx_event_t *ev)
{
    ngx_uint_t                   level;
    ngx_queue_t                 *q;
    ngx_msec_int_t               left;
    ngx_http_relay_redis_t      *redis;
    ngx_http_relay_redis_cmd_t  *cmd;

    redis = ev->data;

    if (ngx_queue_empty(&redis->queue)) {
        return;
    }

    q = ngx_queue_head(&redis->queue);
    cmd = ngx_queue_data(q, ngx_http_relay_redis_cmd_t, queue);

    left = (ngx_msec_int_t) (cmd->deadline - ngx_current_msec);

    if (left > 0) {
        ngx_add_timer(ev, (ngx_msec_t) left);
        return;
    }

    level = ngx_http_relay_redis_log_level(redis, NGX_HTTP_RELAY_REDIS_LATE);

    ngx_log_error(level, &redis->log, 0, "no %s in %M ms, %ui commands failed",
                  redis->state == ngx_http_relay_redis_ready ? "reply"
                                                             : "connection",
                  redis->conf->command_timeout, redis->waiting);

    ngx_http_relay_redis_fail(redis);
}


/* Forgets the connection; commands, and what of them is unsent, stay. */

static void
ngx_http_relay_redis_disconnect(ngx_http_relay_redis_t *redis)
{
    if (redis->connection) {
        ngx_close_connection(redis->connection);
        redis->connection = NULL;
    }

    relay_resp_reader_free(redis->reader);
    redis->reader = NULL;

    relay_buf_free(&redis->hello.buf);
    redis->hello.sent = 0;

    redis->log.connection = 0;
    redis->state = ngx_http_relay_redis_idle;
    redis->generation++;
}


static void
ngx_http_relay_redis_fail(ngx_http_relay_redis_t *redis)
{
    uint64_t         delay;
    relay_backoff_t  backoff;

    if (redis->state == ngx_http_relay_redis_handshake) {
        redis->addr = (redis->addr + 1) % redis->conf->naddrs;
    }

    ngx_http_relay_redis_disconnect(redis);

    backoff.base = NGX_HTTP_RELAY_REDIS_BASE;
    backoff.cap = redis->conf->backoff_cap;

    /* ngx_random() has 31 bits */

    delay = relay_backoff_next(&backoff, redis->failures,
                               (uint32_t) ngx_random() << 1);

    redis->failures++;
    redis->not_before = ngx_current_msec + (ngx_msec_t) delay;

    ngx_http_relay_redis_fail_queue(redis, NGX_ERROR);
}


/*
 * The handlers run on a list of their own: they may submit (which is refused
 * while the backoff lasts) and cancel others of this list.
 */

static void
ngx_http_relay_redis_fail_queue(ngx_http_relay_redis_t *redis, ngx_int_t rc)
{
    void                             *data;
    ngx_queue_t                      *q, failed;
    ngx_http_relay_redis_cmd_t       *cmd;
    ngx_http_relay_redis_handler_pt   handler;

    relay_buf_free(&redis->out.buf);
    redis->out.sent = 0;
    redis->queued = 0;
    redis->written = 0;
    redis->waiting = 0;

    redis->deadline.cancelable = 1;

    if (redis->deadline.timer_set) {
        ngx_del_timer(&redis->deadline);
    }

    ngx_queue_init(&failed);

    if (!ngx_queue_empty(&redis->queue)) {
        ngx_queue_add(&failed, &redis->queue);
        ngx_queue_init(&redis->queue);
    }

    while (!ngx_queue_empty(&failed)) {

        q = ngx_queue_head(&failed);
        ngx_queue_remove(q);

        cmd = ngx_queue_data(q, ngx_http_relay_redis_cmd_t, queue);

        handler = cmd->handler;
        data = cmd->data;

        ngx_free(cmd);

        if (handler) {
            handler(data, rc, NULL);
        }
    }
}


/* An incident is logged once for each reason, the rest at "info". */

static ngx_uint_t
ngx_http_relay_redis_log_level(ngx_http_relay_redis_t *redis,
    ngx_uint_t reason)
{
    if (redis->logged & reason) {
        return NGX_LOG_INFO;
    }

    redis->logged |= reason;

    return NGX_LOG_ERR;
}


static void
ngx_http_relay_redis_error_text(ngx_http_relay_redis_t *redis,
    relay_str_t *error, ngx_str_t *text, u_char *buf)
{
    text->data = buf;
    text->len = relay_resp_error_text(error,
                                      (relay_str_t *) &redis->conf->password,
                                      buf, NGX_HTTP_RELAY_REDIS_TEXT);
}


static ngx_str_t *
ngx_http_relay_redis_user(ngx_http_relay_redis_t *redis)
{
    static ngx_str_t  name = ngx_string("default");

    return redis->conf->user.len ? &redis->conf->user : &name;
}


/*
 * What an ACL refuses, it refuses each time: the operator learns it once a
 * minute, whichever command it was.
 */

static void
ngx_http_relay_redis_denied(ngx_http_relay_redis_t *redis, relay_str_t *error)
{
    u_char     buf[NGX_HTTP_RELAY_REDIS_TEXT];
    ngx_str_t  text;

    if (redis->denied
        && ngx_current_msec - redis->denied_since <= NGX_HTTP_RELAY_REDIS_AGAIN)
    {
        return;
    }

    redis->denied = 1;
    redis->denied_since = ngx_current_msec;

    ngx_http_relay_redis_error_text(redis, error, &text, buf);

    ngx_log_error(NGX_LOG_ERR, &redis->log, 0,
                  "Redis refused a command of user \"%V\": \"%V\"; see "
                  "\"Access control\" in schema/redis/README.md",
                  ngx_http_relay_redis_user(redis), &text);
}


void
ngx_http_relay_redis_refused(ngx_http_relay_redis_t *redis, relay_str_t *error,
    ngx_log_t *log)
{
    u_char      buf[NGX_HTTP_RELAY_REDIS_TEXT];
    ngx_str_t   text;
    ngx_uint_t  level;

    level = relay_resp_denied(error) ? NGX_LOG_INFO : NGX_LOG_ERR;

    ngx_http_relay_redis_error_text(redis, error, &text, buf);

    ngx_log_error(level, log, 0, "Redis \"%V\" refused: \"%V\"",
                  &redis->conf->url, &text);
}


static u_char *
ngx_http_relay_redis_log_error(ngx_log_t *log, u_char *buf, size_t len)
{
    u_char                  *p;
    ngx_http_relay_redis_t  *redis;

    redis = log->data;

    p = ngx_snprintf(buf, len, " while %s, server: \"%V\"", log->action,
                     &redis->conf->url);

    return p;
}
