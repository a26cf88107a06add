
/*
 * What relay_redis declares of the server's durability, compared with what the
 * server says: once per process, on the connection of the documents, so that no
 * decision waits for it.
 */

#include <ngx_config.h>
#include <ngx_core.h>

#include "ngx_http_relay_redis.h"


#define NGX_HTTP_RELAY_DURABILITY_TRIES  3


static ngx_int_t ngx_http_relay_durability_submit(
    ngx_http_relay_redis_conf_t *conf, ngx_uint_t argc,
    const relay_str_t *argv, ngx_http_relay_redis_handler_pt handler);
static void ngx_http_relay_durability_config_reply(void *data, ngx_int_t rc,
    relay_resp_reply_t *reply);
static void ngx_http_relay_durability_info_reply(void *data, ngx_int_t rc,
    relay_resp_reply_t *reply);
static void ngx_http_relay_durability_again(ngx_http_relay_redis_conf_t *conf);
static void ngx_http_relay_durability_log(ngx_http_relay_redis_conf_t *conf,
    relay_durability_t *d);


void
ngx_http_relay_durability_check(ngx_http_relay_redis_conf_t *conf)
{
    relay_str_t  argv[5];

    if (conf->checked || ngx_exiting || conf->documents == NULL) {
        return;
    }

    conf->checked = 1;
    conf->tries++;

    relay_str_set(&argv[0], "CONFIG");
    relay_str_set(&argv[1], "GET");
    relay_str_set(&argv[2], "appendonly");
    relay_str_set(&argv[3], "appendfsync");
    relay_str_set(&argv[4], "maxmemory-policy");

    if (ngx_http_relay_durability_submit(conf, 5, argv,
                                        ngx_http_relay_durability_config_reply)
        != NGX_OK)
    {
        ngx_http_relay_durability_again(conf);
    }
}


static ngx_int_t
ngx_http_relay_durability_submit(ngx_http_relay_redis_conf_t *conf,
    ngx_uint_t argc, const relay_str_t *argv,
    ngx_http_relay_redis_handler_pt handler)
{
    ngx_http_relay_redis_cmd_t  *cmd;

    cmd = ngx_http_relay_redis_submit(conf->documents, argc, argv, handler,
                                      conf);
    if (cmd == NULL) {
        return NGX_ERROR;
    }

    ngx_http_relay_redis_optional(cmd);

    return NGX_OK;
}


static void
ngx_http_relay_durability_config_reply(void *data, ngx_int_t rc,
    relay_resp_reply_t *reply)
{
    ngx_http_relay_redis_conf_t *conf = data;

    relay_str_t         argv[1];
    relay_durability_t  d;

    if (rc != NGX_OK) {
        ngx_http_relay_durability_again(conf);
        return;
    }

    if (relay_durability_config(reply, &d) == RELAY_OK) {
        ngx_http_relay_durability_log(conf, &d);
        return;
    }

    /* CONFIG is not for everybody; INFO knows whether there is a file at all */

    relay_str_set(&argv[0], "INFO");

    if (ngx_http_relay_durability_submit(conf, 1, argv,
                                         ngx_http_relay_durability_info_reply)
        != NGX_OK)
    {
        ngx_http_relay_durability_again(conf);
    }
}


static void
ngx_http_relay_durability_info_reply(void *data, ngx_int_t rc,
    relay_resp_reply_t *reply)
{
    ngx_http_relay_redis_conf_t *conf = data;

    relay_durability_t  d;

    if (rc != NGX_OK) {
        ngx_http_relay_durability_again(conf);
        return;
    }

    ngx_memzero(&d, sizeof(relay_durability_t));

    if (reply->type == RELAY_RESP_BULK) {
        (void) relay_durability_info(&reply->str, &d);
    }

    ngx_http_relay_durability_log(conf, &d);
}


/*
 * No answer: with the next connection, but not for ever.  What closes the
 * connection on such a command would never let a document through.
 */

static void
ngx_http_relay_durability_again(ngx_http_relay_redis_conf_t *conf)
{
    relay_durability_t  unknown;

    if (conf->tries < NGX_HTTP_RELAY_DURABILITY_TRIES) {
        conf->checked = 0;
        return;
    }

    ngx_memzero(&unknown, sizeof(relay_durability_t));

    ngx_http_relay_durability_log(conf, &unknown);
}


static void
ngx_http_relay_durability_log(ngx_http_relay_redis_conf_t *conf,
    relay_durability_t *d)
{
    u_char       policy[32];
    size_t       len;
    ngx_log_t   *log;
    relay_str_t  none;
    const char  *declared, *promised;

    log = ngx_cycle->log;
    declared = conf->durability ? relay_durability_name(conf->durability)
                                : "nothing";
    promised = relay_durability_name(d->durability);

    if (d->durability == RELAY_DURABILITY_UNKNOWN) {
        ngx_log_error(NGX_LOG_NOTICE, log, 0,
                      "Redis \"%V\": durability of receipts cannot be "
                      "checked, relay_redis declares %s%s; +config|get in the "
                      "user's ACL would tell", &conf->url, declared,
                      d->appendonly ? ", appendonly is yes" : "");

    } else if (d->durability < conf->durability) {
        ngx_log_error(NGX_LOG_WARN, log, 0,
                      "Redis \"%V\": durability of receipts is %s, but "
                      "relay_redis declares %s: appendonly yes and "
                      "appendfsync %s are needed", &conf->url, promised,
                      declared, declared);

    } else {
        ngx_log_error(NGX_LOG_NOTICE, log, 0,
                      "Redis \"%V\": durability of receipts is %s, "
                      "relay_redis declares %s", &conf->url, promised,
                      declared);
    }

    relay_str_set(&none, "");

    if (d->eviction.len && !relay_str_is(&d->eviction, "noeviction")) {

        len = relay_resp_error_text(&d->eviction, &none, policy,
                                    sizeof(policy));

        ngx_log_error(NGX_LOG_WARN, log, 0,
                      "Redis \"%V\": maxmemory-policy is %*s: it may drop "
                      "records and receipts, noeviction is needed",
                      &conf->url, len, policy);
    }
}
