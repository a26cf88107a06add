
/*
 * What relay_redis says: a URL and parameters, checked when nginx starts.
 */

#include <ngx_config.h>
#include <ngx_core.h>

#include "ngx_http_relay_redis.h"

#include "relay_url.h"


#define ngx_http_relay_redis_str(s)     ((relay_str_t *) (s))


#define NGX_HTTP_RELAY_REDIS_TIMEOUT    1000        /* ms, both timeouts */
#define NGX_HTTP_RELAY_REDIS_BACKOFF    1000        /* ms, the cap */
#define NGX_HTTP_RELAY_REDIS_TIME_MAX   3600000     /* ms, of any time */
#define NGX_HTTP_RELAY_REDIS_QUEUE      16384
#define NGX_HTTP_RELAY_REDIS_QUEUE_MAX  1000000
#define NGX_HTTP_RELAY_REDIS_REPLY      (RELAY_DOCUMENT_MAX + 65536)
#define NGX_HTTP_RELAY_REDIS_REPLY_MIN  4096
#define NGX_HTTP_RELAY_REDIS_REPLY_MAX  (256 * 1024 * 1024)


static ngx_int_t ngx_http_relay_redis_parse_url(ngx_conf_t *cf,
    ngx_http_relay_redis_conf_t *conf, ngx_str_t *value);
static ngx_int_t ngx_http_relay_redis_copy(ngx_conf_t *cf, ngx_str_t *dst,
    const relay_str_t *src);
static ngx_int_t ngx_http_relay_redis_parse_param(ngx_conf_t *cf,
    ngx_http_relay_redis_conf_t *conf, ngx_str_t *param);
static ngx_int_t ngx_http_relay_redis_parse_time(ngx_conf_t *cf,
    ngx_msec_t *time, ngx_str_t *param, ngx_str_t *value);
static ngx_int_t ngx_http_relay_redis_read_password(ngx_conf_t *cf,
    ngx_http_relay_redis_conf_t *conf, ngx_str_t *path);


ngx_http_relay_redis_conf_t *
ngx_http_relay_redis_parse(ngx_conf_t *cf, ngx_str_t *value, ngx_uint_t n)
{
    ngx_uint_t                    i;
    ngx_http_relay_redis_conf_t  *conf;

    if (n < 2) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" needs a URL: " RELAY_URL_SYNTAX, &value[0]);
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


/* The value may hold a password and is never printed: conf->url is. */

static ngx_int_t
ngx_http_relay_redis_parse_url(ngx_conf_t *cf,
    ngx_http_relay_redis_conf_t *conf, ngx_str_t *value)
{
    ngx_int_t     rc;
    ngx_url_t     u;
    relay_buf_t   mem, why;
    relay_int_t   parsed;
    relay_url_t   url;

    relay_buf_init(&mem, 3 * RELAY_URL_MAX);
    relay_buf_init(&why, NGX_MAX_CONF_ERRSTR);

    rc = NGX_ERROR;
    parsed = relay_url_parse(ngx_http_relay_redis_str(value), &url, &mem,
                             &why);

    if (parsed == RELAY_DECLINED) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid URL of Redis: %*s", why.len, why.data);
    }

    if (parsed != RELAY_OK
        || ngx_http_relay_redis_copy(cf, &conf->url, &url.name) != NGX_OK
        || ngx_http_relay_redis_copy(cf, &conf->user, &url.user) != NGX_OK
        || ngx_http_relay_redis_copy(cf, &conf->password, &url.password)
           != NGX_OK)
    {
        goto done;
    }

    conf->db = url.db;

    if (conf->password.len) {
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                           "password in the URL of Redis \"%V\" is readable "
                           "by all who may read the configuration; "
                           "password_file=path is safer", &conf->url);
    }

    ngx_memzero(&u, sizeof(ngx_url_t));

    /* ngx_parse_url() keeps pointers into the address */

    if (ngx_http_relay_redis_copy(cf, &u.url, &url.address) != NGX_OK) {
        goto done;
    }

    if (ngx_parse_url(cf->pool, &u) != NGX_OK) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "%s in the URL of Redis \"%V\"",
                           u.err ? u.err : "no memory for the addresses",
                           &conf->url);
        goto done;
    }

    conf->addrs = u.addrs;
    conf->naddrs = u.naddrs;

    rc = NGX_OK;

done:

    if (mem.data) {
        ngx_explicit_memzero(mem.data, mem.len);
    }

    relay_buf_free(&mem);
    relay_buf_free(&why);

    return rc;
}


/* Terminated as well, which ngx_parse_url() needs of a socket's path. */

static ngx_int_t
ngx_http_relay_redis_copy(ngx_conf_t *cf, ngx_str_t *dst,
    const relay_str_t *src)
{
    dst->data = ngx_pnalloc(cf->pool, src->len + 1);
    if (dst->data == NULL) {
        return NGX_ERROR;
    }

    dst->len = src->len;

    *ngx_cpymem(dst->data, src->data, src->len) = '\0';

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

        if (conf->durability != RELAY_DURABILITY_UNKNOWN) {
            goto duplicate;
        }

        conf->durability =
                     relay_durability_by_name(ngx_http_relay_redis_str(&value));

        if (conf->durability == RELAY_DURABILITY_UNKNOWN) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid \"durability=%V\": it must be "
                               "\"always\", \"everysec\" or \"none\"", &value);
            return NGX_ERROR;
        }

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
    u_char      buf[RELAY_URL_SECRET_MAX + 2];

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

    if (last == buf || last - buf > RELAY_URL_SECRET_MAX) {
        ngx_explicit_memzero(buf, sizeof(buf));

        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "the first line of \"%V\" must be a password of 1 "
                           "to %d bytes", &name,
                           RELAY_URL_SECRET_MAX);
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
