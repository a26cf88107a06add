
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


#define NGX_HTTP_RELAY_REDIS_PORT       6379
#define NGX_HTTP_RELAY_REDIS_DB_MAX     1000000
#define NGX_HTTP_RELAY_REDIS_TIMEOUT    1000        /* ms, both timeouts */
#define NGX_HTTP_RELAY_REDIS_BACKOFF    1000        /* ms, the cap */
#define NGX_HTTP_RELAY_REDIS_BASE       50          /* ms, the first ceiling */
#define NGX_HTTP_RELAY_REDIS_TIME_MAX   3600000     /* ms, of any time */
#define NGX_HTTP_RELAY_REDIS_QUEUE      16384
#define NGX_HTTP_RELAY_REDIS_QUEUE_MAX  1000000
#define NGX_HTTP_RELAY_REDIS_REPLY      (RELAY_DOCUMENT_MAX + 65536)
#define NGX_HTTP_RELAY_REDIS_REPLY_MIN  4096
#define NGX_HTTP_RELAY_REDIS_REPLY_MAX  (256 * 1024 * 1024)
#define NGX_HTTP_RELAY_REDIS_SECRET_MAX 4096        /* bytes of a password */

#define NGX_HTTP_RELAY_REDIS_OUT        (64 * 1024 * 1024)  /* bytes not sent */
#define NGX_HTTP_RELAY_REDIS_OUT_KEEP   (256 * 1024)
#define NGX_HTTP_RELAY_REDIS_HELLO      (16 * 1024)
#define NGX_HTTP_RELAY_REDIS_RECV       (64 * 1024)
#define NGX_HTTP_RELAY_REDIS_TEXT       160         /* of an error, logged */

#define NGX_HTTP_RELAY_REDIS_FULL       60000       /* ms, between its logs */

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

    unsigned                          full:1;       /* logged: queue is full */
};


static ngx_int_t ngx_http_relay_redis_parse_url(ngx_conf_t *cf,
    ngx_http_relay_redis_conf_t *conf, ngx_str_t *value);
static ngx_int_t ngx_http_relay_redis_parse_userinfo(ngx_conf_t *cf,
    ngx_http_relay_redis_conf_t *conf, u_char *p, u_char *last);
static ngx_int_t ngx_http_relay_redis_parse_param(ngx_conf_t *cf,
    ngx_http_relay_redis_conf_t *conf, ngx_str_t *param);
static ngx_int_t ngx_http_relay_redis_parse_time(ngx_conf_t *cf,
    ngx_msec_t *time, ngx_str_t *param, ngx_str_t *value);
static ngx_int_t ngx_http_relay_redis_read_password(ngx_conf_t *cf,
    ngx_http_relay_redis_conf_t *conf, ngx_str_t *path);
static ngx_int_t ngx_http_relay_redis_unescape(ngx_conf_t *cf, ngx_str_t *dst,
    u_char *p, u_char *last);

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
    relay_str_t *text, ngx_str_t *out, u_char *buf);
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


ngx_http_relay_redis_conf_t *
ngx_http_relay_redis_parse(ngx_conf_t *cf, ngx_str_t *value, ngx_uint_t n)
{
    ngx_uint_t                    i;
    ngx_http_relay_redis_conf_t  *conf;

    if (n < 2) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" needs a URL: redis://host[:port][/db] or "
                           "unix:/path[:db]", &value[0]);
        return NULL;
    }

    conf = ngx_pcalloc(cf->pool, sizeof(ngx_http_relay_redis_conf_t));
    if (conf == NULL) {
        return NULL;
    }

    conf->connect_timeout = NGX_CONF_UNSET_MSEC;
    conf->command_timeout = NGX_CONF_UNSET_MSEC;
    conf->backoff_cap = NGX_CONF_UNSET_MSEC;
    conf->queue = NGX_CONF_UNSET_UINT;
    conf->reply_max = NGX_CONF_UNSET_SIZE;

    if (ngx_http_relay_redis_parse_url(cf, conf, &value[1]) != NGX_OK) {
        return NULL;
    }

    for (i = 2; i < n; i++) {
        if (ngx_http_relay_redis_parse_param(cf, conf, &value[i]) != NGX_OK) {
            return NULL;
        }
    }

    ngx_conf_init_msec_value(conf->connect_timeout,
                             NGX_HTTP_RELAY_REDIS_TIMEOUT);
    ngx_conf_init_msec_value(conf->command_timeout,
                             NGX_HTTP_RELAY_REDIS_TIMEOUT);
    ngx_conf_init_msec_value(conf->backoff_cap, NGX_HTTP_RELAY_REDIS_BACKOFF);
    ngx_conf_init_uint_value(conf->queue, NGX_HTTP_RELAY_REDIS_QUEUE);
    ngx_conf_init_size_value(conf->reply_max, NGX_HTTP_RELAY_REDIS_REPLY);

    if (conf->user.len && conf->password.len == 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "user \"%V\" of Redis \"%V\" has no password: "
                           "add password_file=path", &conf->user, &conf->url);
        return NULL;
    }

    return conf;
}


/*
 * Until the user part is cut off, the value may hold a password and is never
 * printed: conf->url is what the log sees.
 */

static ngx_int_t
ngx_http_relay_redis_parse_url(ngx_conf_t *cf,
    ngx_http_relay_redis_conf_t *conf, ngx_str_t *value)
{
    u_char     *p, *at, *db, *last, *colon;
    size_t      scheme;
    ngx_url_t   u;

    p = value->data;
    last = p + value->len;

    if (value->len >= sizeof("redis://") - 1
        && ngx_strncasecmp(p, (u_char *) "redis://", sizeof("redis://") - 1)
           == 0)
    {
        scheme = sizeof("redis://") - 1;

    } else if (value->len >= sizeof("unix:") - 1
               && ngx_strncasecmp(p, (u_char *) "unix:", sizeof("unix:") - 1)
                  == 0)
    {
        scheme = 0;

    } else if (value->len >= sizeof("rediss://") - 1
               && ngx_strncasecmp(p, (u_char *) "rediss://",
                                  sizeof("rediss://") - 1)
                  == 0)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"rediss://\": TLS to Redis is not supported; use "
                           "a unix socket, or redis:// to a local TLS tunnel "
                           "such as stunnel");
        return NGX_ERROR;

    } else {
        at = ngx_strlchr(p, last, ':');
        scheme = at ? (size_t) (at - p) : 0;

        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid scheme \"%*s\" in the URL of Redis: it "
                           "must begin with \"redis://\" or \"unix:\", as in "
                           "redis://127.0.0.1:6379/0 or "
                           "unix:/run/redis/redis.sock", scheme, p);
        return NGX_ERROR;
    }

    at = NULL;

    if (scheme) {
        for (p = last; p > value->data + scheme; p--) {
            if (p[-1] == '@') {
                at = p - 1;
                break;
            }
        }
    }

    p = at ? at + 1 : value->data + scheme;

    conf->url.len = scheme + (last - p);
    conf->url.data = ngx_pnalloc(cf->pool, conf->url.len + 1);
    if (conf->url.data == NULL) {
        return NGX_ERROR;
    }

    (void) ngx_cpystrn(ngx_cpymem(conf->url.data, value->data, scheme), p,
                       last - p + 1);

    if (at
        && ngx_http_relay_redis_parse_userinfo(cf, conf, value->data + scheme,
                                               at)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    /* the address, then the number of the database */

    p = conf->url.data + scheme;
    last = conf->url.data + conf->url.len;

    if (scheme) {
        db = ngx_strlchr(p, last, '/');

    } else {
        db = ngx_strlchr(p + sizeof("unix:") - 1, last, ':');

        if (p + sizeof("unix:") - 1 == last || p[sizeof("unix:") - 1] != '/') {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "the path of the Redis socket in \"%V\" must "
                               "begin with \"/\"", &conf->url);
            return NGX_ERROR;
        }
    }

    ngx_memzero(&u, sizeof(ngx_url_t));

    u.url.data = p;
    u.url.len = (db ? db : last) - p;
    u.default_port = NGX_HTTP_RELAY_REDIS_PORT;

    if (ngx_parse_url(cf->pool, &u) != NGX_OK) {

        /* where "@" was forgotten, a password is in the port's place */

        colon = (scheme && *p != '[') ? ngx_strlchr(p, last, ':') : NULL;

        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "%s in the URL of Redis \"%*s\"",
                           u.err ? u.err : "no memory for the addresses",
                           (size_t) ((colon ? colon : last) - conf->url.data),
                           conf->url.data);
        return NGX_ERROR;
    }

    if (db && db + 1 < last) {
        conf->db = ngx_atoi(db + 1, last - db - 1);

        if (conf->db == NGX_ERROR || conf->db > NGX_HTTP_RELAY_REDIS_DB_MAX) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid database \"%*s\" in \"%V\": it must "
                               "be a number, 0 if left out",
                               (size_t) (last - db - 1), db + 1, &conf->url);
            return NGX_ERROR;
        }
    }

    conf->addrs = u.addrs;
    conf->naddrs = u.naddrs;

    return NGX_OK;
}


static ngx_int_t
ngx_http_relay_redis_parse_userinfo(ngx_conf_t *cf,
    ngx_http_relay_redis_conf_t *conf, u_char *p, u_char *last)
{
    u_char  *colon;

    colon = ngx_strlchr(p, last, ':');

    if (colon == NULL) {
        return ngx_http_relay_redis_unescape(cf, &conf->user, p, last);
    }

    if (ngx_http_relay_redis_unescape(cf, &conf->user, p, colon) != NGX_OK
        || ngx_http_relay_redis_unescape(cf, &conf->password, colon + 1, last)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (conf->password.len == 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "empty password in the URL of Redis \"%V\": leave "
                           "out the colon, or use password_file=path",
                           &conf->url);
        return NGX_ERROR;
    }

    ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                       "password in the URL of Redis \"%V\" is readable by "
                       "all who may read the configuration; "
                       "password_file=path is safer", &conf->url);

    return NGX_OK;
}


static ngx_int_t
ngx_http_relay_redis_unescape(ngx_conf_t *cf, ngx_str_t *dst, u_char *p,
    u_char *last)
{
    u_char  *d;

    if (last - p > NGX_HTTP_RELAY_REDIS_SECRET_MAX) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "user or password in the URL of Redis is longer "
                           "than %d bytes", NGX_HTTP_RELAY_REDIS_SECRET_MAX);
        return NGX_ERROR;
    }

    d = ngx_pnalloc(cf->pool, last - p + 1);
    if (d == NULL) {
        return NGX_ERROR;
    }

    dst->data = d;

    ngx_unescape_uri(&d, &p, last - p, 0);

    dst->len = d - dst->data;

    return NGX_OK;
}


static ngx_int_t
ngx_http_relay_redis_parse_param(ngx_conf_t *cf,
    ngx_http_relay_redis_conf_t *conf, ngx_str_t *param)
{
    u_char      *p;
    ssize_t      size;
    ngx_int_t    n;
    ngx_str_t    name, value;

    p = ngx_strlchr(param->data, param->data + param->len, '=');

    name.data = param->data;
    name.len = p ? (size_t) (p - param->data) : param->len;

    value.data = p ? p + 1 : NULL;
    value.len = p ? param->len - name.len - 1 : 0;

#define ngx_http_relay_redis_is(s)                                            \
    (name.len == sizeof(s) - 1                                                \
     && ngx_strncmp(name.data, s, sizeof(s) - 1) == 0)

    if (p && value.len == 0) {
        goto invalid;
    }

    if (p && ngx_http_relay_redis_is("connect_timeout")) {
        return ngx_http_relay_redis_parse_time(cf, &conf->connect_timeout,
                                               &name, &value);
    }

    if (p && ngx_http_relay_redis_is("command_timeout")) {
        return ngx_http_relay_redis_parse_time(cf, &conf->command_timeout,
                                               &name, &value);
    }

    if (p && ngx_http_relay_redis_is("backoff")) {
        return ngx_http_relay_redis_parse_time(cf, &conf->backoff_cap,
                                               &name, &value);
    }

    if (p && ngx_http_relay_redis_is("queue")) {

        if (conf->queue != NGX_CONF_UNSET_UINT) {
            goto duplicate;
        }

        n = ngx_atoi(value.data, value.len);

        if (n < 1 || n > NGX_HTTP_RELAY_REDIS_QUEUE_MAX) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid \"queue=%V\": it must be a number of "
                               "commands from 1 to %d", &value,
                               NGX_HTTP_RELAY_REDIS_QUEUE_MAX);
            return NGX_ERROR;
        }

        conf->queue = n;

        return NGX_OK;
    }

    if (p && ngx_http_relay_redis_is("reply_max")) {

        if (conf->reply_max != NGX_CONF_UNSET_SIZE) {
            goto duplicate;
        }

        size = ngx_parse_size(&value);

        if (size < NGX_HTTP_RELAY_REDIS_REPLY_MIN
            || size > NGX_HTTP_RELAY_REDIS_REPLY_MAX)
        {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid \"reply_max=%V\": it must be a size "
                               "from 4k to 256m", &value);
            return NGX_ERROR;
        }

        conf->reply_max = size;

        return NGX_OK;
    }

    if (p && ngx_http_relay_redis_is("user")) {

        if (conf->user.len) {
            goto duplicate;
        }

        conf->user = value;

        return NGX_OK;
    }

    if (p && ngx_http_relay_redis_is("password_file")) {

        if (conf->password.len) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"password_file\" is a second password for "
                               "Redis \"%V\": leave out all but one",
                               &conf->url);
            return NGX_ERROR;
        }

        return ngx_http_relay_redis_read_password(cf, conf, &value);
    }

    if (p && ngx_http_relay_redis_is("durability")) {

        if (conf->durability.len) {
            goto duplicate;
        }

        if ((value.len != 6 || ngx_strncmp(value.data, "always", 6) != 0)
            && (value.len != 8 || ngx_strncmp(value.data, "everysec", 8) != 0)
            && (value.len != 4 || ngx_strncmp(value.data, "none", 4) != 0))
        {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid \"durability=%V\": it must be "
                               "\"always\", \"everysec\" or \"none\"", &value);
            return NGX_ERROR;
        }

        conf->durability = value;

        return NGX_OK;
    }

    if (ngx_http_relay_redis_is("password")) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"password\" is not a parameter: write the "
                           "password in a file and use password_file=path");
        return NGX_ERROR;
    }

    /* only the name: what follows may be a secret */

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "unknown parameter \"%V\" for Redis \"%V\": it must be "
                       "connect_timeout=, command_timeout=, backoff=, queue=, "
                       "reply_max=, user=, password_file= or durability=",
                       &name, &conf->url);

    return NGX_ERROR;

invalid:

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "parameter \"%V=\" has no value", &name);

    return NGX_ERROR;

duplicate:

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"%V\" is given twice for Redis \"%V\": leave out all "
                       "but one", &name, &conf->url);

    return NGX_ERROR;

#undef ngx_http_relay_redis_is
}


static ngx_int_t
ngx_http_relay_redis_parse_time(ngx_conf_t *cf, ngx_msec_t *time,
    ngx_str_t *param, ngx_str_t *value)
{
    ngx_int_t  ms;

    if (*time != NGX_CONF_UNSET_MSEC) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is given twice: leave out all but one",
                           param);
        return NGX_ERROR;
    }

    ms = ngx_parse_time(value, 0);

    if (ms < 1 || ms > NGX_HTTP_RELAY_REDIS_TIME_MAX) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid \"%V=%V\": it must be a time from 1ms to "
                           "1h, as in 300ms or 2s", param, value);
        return NGX_ERROR;
    }

    *time = ms;

    return NGX_OK;
}


static ngx_int_t
ngx_http_relay_redis_read_password(ngx_conf_t *cf,
    ngx_http_relay_redis_conf_t *conf, ngx_str_t *path)
{
    u_char     *p, *last;
    ssize_t     n;
    ngx_fd_t    fd;
    ngx_str_t   name;
    u_char      buf[NGX_HTTP_RELAY_REDIS_SECRET_MAX + 2];

    name = *path;

    if (ngx_conf_full_name(cf->cycle, &name, 1) != NGX_OK) {
        return NGX_ERROR;
    }

    fd = ngx_open_file(name.data, NGX_FILE_RDONLY, NGX_FILE_OPEN, 0);

    if (fd == NGX_INVALID_FILE) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           ngx_open_file_n " \"%V\" of \"password_file\" "
                           "failed", &name);
        return NGX_ERROR;
    }

    n = ngx_read_fd(fd, buf, sizeof(buf));

    if (n == -1) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           ngx_read_fd_n " \"%V\" failed", &name);
    }

    if (ngx_close_file(fd) == NGX_FILE_ERROR) {
        ngx_conf_log_error(NGX_LOG_ALERT, cf, ngx_errno,
                           ngx_close_file_n " \"%V\" failed", &name);
    }

    if (n == -1) {
        return NGX_ERROR;
    }

    last = buf + n;

    p = ngx_strlchr(buf, last, '\n');
    if (p) {
        last = p;
    }

    if (last > buf && last[-1] == '\r') {
        last--;
    }

    if (last == buf || last - buf > NGX_HTTP_RELAY_REDIS_SECRET_MAX) {
        ngx_explicit_memzero(buf, sizeof(buf));

        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "the first line of \"%V\" must be a password of 1 "
                           "to %d bytes", &name,
                           NGX_HTTP_RELAY_REDIS_SECRET_MAX);
        return NGX_ERROR;
    }

    conf->password.len = last - buf;
    conf->password.data = ngx_pnalloc(cf->pool, conf->password.len);

    if (conf->password.data) {
        ngx_memcpy(conf->password.data, buf, conf->password.len);
    }

    ngx_explicit_memzero(buf, sizeof(buf));

    return conf->password.data ? NGX_OK : NGX_ERROR;
}


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
        || ngx_current_msec - redis->full_since > NGX_HTTP_RELAY_REDIS_FULL)
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

            ngx_log_error(level, c->log, 0, "Redis refused %s: \"%V\"",
                          ngx_http_relay_redis_steps[step], &text);

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


/*
 * An error as it may be logged.  A server or a proxy that does not know AUTH
 * repeats the arguments in its error: then only its first word remains.
 */

static void
ngx_http_relay_redis_error_text(ngx_http_relay_redis_t *redis,
    relay_str_t *text, ngx_str_t *out, u_char *buf)
{
    size_t      i, len, secret;
    ngx_str_t  *password;

    password = &redis->conf->password;
    secret = ngx_min(password->len, 8);

    len = text->len;

    for (i = 0; secret && i + secret <= text->len; i++) {

        if (ngx_memcmp(text->data + i, password->data, secret) == 0) {

            for (len = 0; len < i; len++) {
                if (text->data[len] == ' ') {
                    break;
                }
            }

            break;
        }
    }

    len = ngx_min(len, NGX_HTTP_RELAY_REDIS_TEXT);

    for (i = 0; i < len; i++) {
        buf[i] = (text->data[i] < 0x20 || text->data[i] > 0x7e)
                 ? '?' : text->data[i];
    }

    out->len = len;
    out->data = buf;
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
