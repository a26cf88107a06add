
/*
 * What relay_jwt_keys says: a key set and what its tokens must say, read and
 * checked when nginx starts.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_http_relay_module.h"


#define NGX_HTTP_RELAY_LEEWAY        60000      /* ms */
#define NGX_HTTP_RELAY_LEEWAY_MAX    600000     /* ms */


static ngx_int_t ngx_http_relay_jwt_params(ngx_conf_t *cf,
    ngx_http_relay_jwt_t *jwt);
static relay_jwt_keys_t *ngx_http_relay_jwt_read(ngx_conf_t *cf,
    ngx_str_t *file);
static relay_jwt_keys_t *ngx_http_relay_jwt_parse(ngx_conf_t *cf,
    ngx_str_t *name, ngx_fd_t fd);
static void ngx_http_relay_jwt_cleanup(void *data);


char *
ngx_http_relay_set_jwt_keys(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_relay_loc_conf_t *rlcf = conf;

    ngx_str_t             *value;
    ngx_uint_t             i;
    ngx_http_relay_jwt_t   jwt, *set;

    value = cf->args->elts;

    if (ngx_strcmp(value[1].data, "off") == 0) {

        if (rlcf->jwt != NGX_CONF_UNSET_PTR) {
            return "is duplicate";
        }

        if (cf->args->nelts != 2) {
            return "has parameters after \"off\"";
        }

        rlcf->jwt = NULL;
        return NGX_CONF_OK;
    }

    if (rlcf->jwt == NULL) {
        return "stands beside \"relay_jwt_keys off\"";
    }

    if (rlcf->jwt == NGX_CONF_UNSET_PTR) {
        rlcf->jwt = ngx_array_create(cf->pool, 1,
                                     sizeof(ngx_http_relay_jwt_t));
        if (rlcf->jwt == NULL) {
            return NGX_CONF_ERROR;
        }
    }

    ngx_memzero(&jwt, sizeof(ngx_http_relay_jwt_t));

    if (ngx_http_relay_jwt_params(cf, &jwt) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    set = rlcf->jwt->elts;

    for (i = 0; i < rlcf->jwt->nelts; i++) {

        if (relay_str_eq(&set[i].policy.issuer, &jwt.policy.issuer)) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "duplicate issuer \"%V\" in \"relay_jwt_keys\": "
                               "put its keys into one file and name all "
                               "audiences there",
                               ngx_http_ngx_str(&jwt.policy.issuer));
            return NGX_CONF_ERROR;
        }
    }

    jwt.keys = ngx_http_relay_jwt_read(cf, &value[1]);
    if (jwt.keys == NULL) {
        return NGX_CONF_ERROR;
    }

    set = ngx_array_push(rlcf->jwt);
    if (set == NULL) {
        return NGX_CONF_ERROR;
    }

    *set = jwt;

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_relay_jwt_params(ngx_conf_t *cf, ngx_http_relay_jwt_t *jwt)
{
    ngx_int_t     leeway;
    ngx_str_t    *value, s;
    ngx_uint_t    i;
    relay_str_t  *audience;

    value = cf->args->elts;

    audience = ngx_pcalloc(cf->pool, cf->args->nelts * sizeof(relay_str_t));
    if (audience == NULL) {
        return NGX_ERROR;
    }

    jwt->policy.audiences = audience;
    jwt->policy.leeway = NGX_HTTP_RELAY_LEEWAY;

    for (i = 2; i < cf->args->nelts; i++) {

        if (value[i].len > 7
            && ngx_strncmp(value[i].data, "issuer=", 7) == 0)
        {
            if (jwt->policy.issuer.len || value[i].len - 7 > RELAY_ISSUER_MAX) {
                goto invalid;
            }

            jwt->policy.issuer.data = value[i].data + 7;
            jwt->policy.issuer.len = value[i].len - 7;

            continue;
        }

        if (value[i].len > 9
            && ngx_strncmp(value[i].data, "audience=", 9) == 0)
        {
            audience[jwt->policy.naudiences].data = value[i].data + 9;
            audience[jwt->policy.naudiences].len = value[i].len - 9;
            jwt->policy.naudiences++;

            continue;
        }

        if (ngx_strncmp(value[i].data, "leeway=", 7) == 0) {
            s.data = value[i].data + 7;
            s.len = value[i].len - 7;

            leeway = ngx_parse_time(&s, 0);

            if (leeway == NGX_ERROR) {
                goto invalid;
            }

            if (leeway > NGX_HTTP_RELAY_LEEWAY_MAX) {
                ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                                   "\"%V\" is too long: 10m is the most",
                                   &value[i]);
                return NGX_ERROR;
            }

            jwt->policy.leeway = leeway;

            continue;
        }

        if (value[i].len > 4 && ngx_strncmp(value[i].data, "typ=", 4) == 0) {

            if (jwt->policy.typ.len) {
                goto invalid;
            }

            jwt->policy.typ.data = value[i].data + 4;
            jwt->policy.typ.len = value[i].len - 4;

            continue;
        }

        if (ngx_strcmp(value[i].data, "email=trusted") == 0) {
            jwt->policy.email_trusted = 1;
            continue;
        }

        if (ngx_strcmp(value[i].data, "email=untrusted") == 0) {
            jwt->policy.email_trusted = 0;
            continue;
        }

        goto invalid;
    }

    if (jwt->policy.issuer.len == 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"relay_jwt_keys\" requires \"issuer=\": the "
                           "\"iss\" of the tokens that \"%V\" verifies",
                           &value[1]);
        return NGX_ERROR;
    }

    if (jwt->policy.naudiences == 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"relay_jwt_keys\" requires \"audience=\": the "
                           "\"aud\" by which tokens name this edge");
        return NGX_ERROR;
    }

    return NGX_OK;

invalid:

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "invalid parameter \"%V\" in \"relay_jwt_keys\"",
                       &value[i]);

    return NGX_ERROR;
}


static relay_jwt_keys_t *
ngx_http_relay_jwt_read(ngx_conf_t *cf, ngx_str_t *file)
{
    ngx_fd_t             fd;
    ngx_str_t            name;
    relay_jwt_keys_t    *keys;
    ngx_pool_cleanup_t  *cln;

    name = *file;

    if (ngx_conf_full_name(cf->cycle, &name, 1) != NGX_OK) {
        return NULL;
    }

    cln = ngx_pool_cleanup_add(cf->pool, 0);
    if (cln == NULL) {
        return NULL;
    }

    /* a pipe must not stop the start */

    fd = ngx_open_file(name.data, NGX_FILE_RDONLY|NGX_FILE_NONBLOCK,
                       NGX_FILE_OPEN, 0);

    if (fd == NGX_INVALID_FILE) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           ngx_open_file_n " \"%V\" of \"relay_jwt_keys\" "
                           "failed", &name);
        return NULL;
    }

    keys = ngx_http_relay_jwt_parse(cf, &name, fd);

    if (keys != NULL) {
        cln->handler = ngx_http_relay_jwt_cleanup;
        cln->data = keys;
    }

    if (ngx_close_file(fd) == NGX_FILE_ERROR) {
        ngx_conf_log_error(NGX_LOG_ALERT, cf, ngx_errno,
                           ngx_close_file_n " \"%V\" failed", &name);
    }

    return keys;
}


static relay_jwt_keys_t *
ngx_http_relay_jwt_parse(ngx_conf_t *cf, ngx_str_t *name, ngx_fd_t fd)
{
    off_t              size;
    u_char            *buf;
    ssize_t            n;
    relay_buf_t        err;
    relay_str_t        text;
    ngx_file_info_t    fi;
    relay_jwt_keys_t  *keys;

    if (ngx_fd_info(fd, &fi) == NGX_FILE_ERROR) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           ngx_fd_info_n " \"%V\" of \"relay_jwt_keys\" "
                           "failed", name);
        return NULL;
    }

    if (!ngx_is_file(&fi)) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" of \"relay_jwt_keys\" is not a file", name);
        return NULL;
    }

    size = ngx_file_size(&fi);

    if (size > NGX_HTTP_RELAY_KEYS_MAX) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" of \"relay_jwt_keys\" is too large: "
                           "%dk is the most", name,
                           NGX_HTTP_RELAY_KEYS_MAX / 1024);
        return NULL;
    }

    buf = ngx_alloc((size_t) size + 1, cf->log);
    if (buf == NULL) {
        return NULL;
    }

    keys = NULL;

    text.data = buf;
    text.len = 0;

    while (text.len < (size_t) size) {
        n = ngx_read_fd(fd, buf + text.len, (size_t) size - text.len);

        if (n == -1) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                               ngx_read_fd_n " \"%V\" of \"relay_jwt_keys\" "
                               "failed", name);
            goto done;
        }

        if (n == 0) {
            break;
        }

        text.len += n;
    }

    relay_buf_init(&err, NGX_HTTP_RELAY_ERROR_MAX);

    keys = relay_jwt_keys_parse(&text, &err);

    if (keys == NULL) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "key set \"%V\" of \"relay_jwt_keys\" cannot be "
                           "used: %*s", name, err.len, err.data);
    }

    relay_buf_free(&err);

done:

    /* keys may be secret */

    ngx_explicit_memzero(buf, (size_t) size);
    ngx_free(buf);

    return keys;
}


static void
ngx_http_relay_jwt_cleanup(void *data)
{
    relay_jwt_keys_free(data);
}
