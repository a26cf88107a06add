
/*
 * What relay_jwt_keys says: a key set, in a file or behind a location of the
 * server, and what its tokens must say.  Checked when nginx starts.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_http_relay_module.h"


#define NGX_HTTP_RELAY_LEEWAY         60000     /* ms */
#define NGX_HTTP_RELAY_LEEWAY_MAX     600000
#define NGX_HTTP_RELAY_JWKS_REFRESH   300000    /* ms, defaults */
#define NGX_HTTP_RELAY_JWKS_STALE     3600000
#define NGX_HTTP_RELAY_JWKS_COOLDOWN  10000
#define NGX_HTTP_RELAY_JWKS_TIMEOUT   5000
#define NGX_HTTP_RELAY_JWKS_TIME_MAX  86400000  /* ms, of any of these */


typedef struct {
    ngx_str_t                   name;       /* with its "=" */
    size_t                      offset;     /* in ngx_http_relay_jwks_conf_t */
} ngx_http_relay_jwks_time_t;


static ngx_int_t ngx_http_relay_jwt_source(ngx_conf_t *cf,
    ngx_http_relay_jwks_conf_t *remote);
static ngx_int_t ngx_http_relay_jwt_params(ngx_conf_t *cf,
    ngx_http_relay_jwt_t *jwt, ngx_http_relay_jwks_conf_t *remote);
static ngx_int_t ngx_http_relay_jwt_param(ngx_conf_t *cf,
    ngx_http_relay_jwt_t *jwt, ngx_http_relay_jwks_conf_t *remote,
    ngx_str_t *param);
static ngx_int_t ngx_http_relay_jwt_invalid(ngx_conf_t *cf, ngx_str_t *param,
    const char *allowed);
static ngx_uint_t ngx_http_relay_jwt_is(ngx_str_t *param, const char *name,
    relay_str_t *value);
static ngx_http_relay_jwks_conf_t *ngx_http_relay_jwt_remote(ngx_conf_t *cf,
    ngx_http_relay_jwks_conf_t *remote);
static relay_jwt_keys_t *ngx_http_relay_jwt_read(ngx_conf_t *cf,
    ngx_str_t *file);
static relay_jwt_keys_t *ngx_http_relay_jwt_parse(ngx_conf_t *cf,
    ngx_str_t *name, ngx_fd_t fd);
static void ngx_http_relay_jwt_cleanup(void *data);


static ngx_http_relay_jwks_time_t  ngx_http_relay_jwks_times[] = {
    { ngx_string("refresh="), offsetof(ngx_http_relay_jwks_conf_t, refresh) },
    { ngx_string("stale="), offsetof(ngx_http_relay_jwks_conf_t, stale) },
    { ngx_string("cooldown="), offsetof(ngx_http_relay_jwks_conf_t, cooldown) },
    { ngx_string("timeout="), offsetof(ngx_http_relay_jwks_conf_t, timeout) },
    { ngx_null_string, 0 }
};


char *
ngx_http_relay_set_jwt_keys(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_relay_loc_conf_t *rlcf = conf;

    ngx_str_t                   *value;
    ngx_uint_t                   i;
    ngx_http_relay_jwt_t         jwt, *set;
    ngx_http_relay_jwks_conf_t   remote;

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
    ngx_memzero(&remote, sizeof(ngx_http_relay_jwks_conf_t));

    if (ngx_http_relay_jwt_source(cf, &remote) != NGX_OK
        || ngx_http_relay_jwt_params(cf, &jwt, &remote) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    set = rlcf->jwt->elts;

    for (i = 0; i < rlcf->jwt->nelts; i++) {

        if (relay_str_eq(&set[i].policy.issuer, &jwt.policy.issuer)) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "duplicate issuer \"%V\" in \"relay_jwt_keys\": "
                               "put its keys into one set and name all "
                               "audiences there",
                               ngx_http_ngx_str(&jwt.policy.issuer));
            return NGX_CONF_ERROR;
        }
    }

    if (remote.uri.len) {
        jwt.remote = ngx_http_relay_jwt_remote(cf, &remote);
        if (jwt.remote == NULL) {
            return NGX_CONF_ERROR;
        }

    } else {
        jwt.keys = ngx_http_relay_jwt_read(cf, &value[1]);
        if (jwt.keys == NULL) {
            return NGX_CONF_ERROR;
        }
    }

    set = ngx_array_push(rlcf->jwt);
    if (set == NULL) {
        return NGX_CONF_ERROR;
    }

    *set = jwt;

    return NGX_CONF_OK;
}


/* Where the keys are: remote->uri stays empty for a file. */

static ngx_int_t
ngx_http_relay_jwt_source(ngx_conf_t *cf, ngx_http_relay_jwks_conf_t *remote)
{
    size_t      i;
    ngx_str_t  *value;

    value = cf->args->elts;

    if (ngx_strncmp(value[1].data, "https://", 8) == 0
        || ngx_strncmp(value[1].data, "http://", 7) == 0)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"relay_jwt_keys\" does not fetch \"%V\" by "
                           "itself: set \"proxy_pass %V\" in an internal "
                           "location, and name that one, as in "
                           "\"relay_jwt_keys uri=/_jwks\"",
                           &value[1], &value[1]);
        return NGX_ERROR;
    }

    if (ngx_strncmp(value[1].data, "uri=", 4) != 0) {
        return NGX_OK;
    }

    remote->uri.data = value[1].data + 4;
    remote->uri.len = value[1].len - 4;

    if (remote->uri.len == 0 || remote->uri.data[0] != '/') {
        goto invalid;
    }

    for (i = 0; i < remote->uri.len; i++) {

        if (remote->uri.data[i] <= 0x20
            || remote->uri.data[i] >= 0x7f
            || remote->uri.data[i] == '?'
            || remote->uri.data[i] == '#')
        {
            goto invalid;
        }
    }

    /* what is fetched for one server says nothing of another's location */

    if (cf->cmd_type == NGX_HTTP_MAIN_CONF) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" of \"relay_jwt_keys\" is a location of one "
                           "server: set it in a server or location block",
                           &value[1]);
        return NGX_ERROR;
    }

    remote->server = ngx_http_conf_get_module_srv_conf(cf,
                                                       ngx_http_core_module);
    remote->refresh = NGX_CONF_UNSET_MSEC;
    remote->stale = NGX_CONF_UNSET_MSEC;
    remote->cooldown = NGX_CONF_UNSET_MSEC;
    remote->timeout = NGX_CONF_UNSET_MSEC;

    return NGX_OK;

invalid:

    return ngx_http_relay_jwt_invalid(cf, &value[1],
                                      "the path of an internal location of "
                                      "this server, without arguments, as in "
                                      "\"uri=/_jwks\"");
}


static ngx_int_t
ngx_http_relay_jwt_params(ngx_conf_t *cf, ngx_http_relay_jwt_t *jwt,
    ngx_http_relay_jwks_conf_t *remote)
{
    ngx_str_t   *value;
    ngx_uint_t   i;

    value = cf->args->elts;

    jwt->policy.audiences = ngx_pcalloc(cf->pool, cf->args->nelts
                                                  * sizeof(relay_str_t));
    if (jwt->policy.audiences == NULL) {
        return NGX_ERROR;
    }

    jwt->policy.leeway = NGX_HTTP_RELAY_LEEWAY;

    for (i = 2; i < cf->args->nelts; i++) {
        if (ngx_http_relay_jwt_param(cf, jwt, remote, &value[i]) != NGX_OK) {
            return NGX_ERROR;
        }
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

    if (remote->uri.len == 0) {
        return NGX_OK;
    }

    ngx_conf_init_msec_value(remote->refresh, NGX_HTTP_RELAY_JWKS_REFRESH);
    ngx_conf_init_msec_value(remote->stale, NGX_HTTP_RELAY_JWKS_STALE);
    ngx_conf_init_msec_value(remote->cooldown, NGX_HTTP_RELAY_JWKS_COOLDOWN);
    ngx_conf_init_msec_value(remote->timeout, NGX_HTTP_RELAY_JWKS_TIMEOUT);

    if (remote->stale < remote->refresh) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"relay_jwt_keys\" would drop the keys of \"%V\" "
                           "before it refreshes them: make \"stale=\" (%Ms) "
                           "at least as long as \"refresh=\" (%Ms)",
                           &remote->uri, remote->stale / 1000,
                           remote->refresh / 1000);
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_relay_jwt_param(ngx_conf_t *cf, ngx_http_relay_jwt_t *jwt,
    ngx_http_relay_jwks_conf_t *remote, ngx_str_t *param)
{
    ngx_int_t                    time;
    ngx_msec_t                  *msp;
    relay_str_t                  value, *audience;
    ngx_http_relay_jwks_time_t  *t;

    if (ngx_http_relay_jwt_is(param, "issuer=", &value)) {

        if (value.len == 0
            || value.len > RELAY_ISSUER_MAX
            || jwt->policy.issuer.len)
        {
            return ngx_http_relay_jwt_invalid(cf, param,
                                              "once, the \"iss\" of the "
                                              "tokens, of 1 to 512 bytes");
        }

        jwt->policy.issuer = value;

        return NGX_OK;
    }

    if (ngx_http_relay_jwt_is(param, "audience=", &value)) {

        if (value.len == 0) {
            return ngx_http_relay_jwt_invalid(cf, param,
                                              "an \"aud\" of the tokens; more "
                                              "of them, one parameter each");
        }

        audience = (relay_str_t *) jwt->policy.audiences;
        audience[jwt->policy.naudiences++] = value;

        return NGX_OK;
    }

    if (ngx_http_relay_jwt_is(param, "leeway=", &value)) {

        time = ngx_parse_time(ngx_http_ngx_str(&value), 0);

        if (time == NGX_ERROR || time > NGX_HTTP_RELAY_LEEWAY_MAX) {
            return ngx_http_relay_jwt_invalid(cf, param,
                                              "a time from 0 to 10m, granted "
                                              "on \"exp\" and \"nbf\"");
        }

        jwt->policy.leeway = time;

        return NGX_OK;
    }

    if (ngx_http_relay_jwt_is(param, "typ=", &value)) {

        if (value.len == 0 || jwt->policy.typ.len) {
            return ngx_http_relay_jwt_invalid(cf, param,
                                              "once, the \"typ\" that a "
                                              "token's header must have, as "
                                              "in \"typ=at+jwt\"");
        }

        jwt->policy.typ = value;

        return NGX_OK;
    }

    if (ngx_http_relay_jwt_is(param, "isolation=", &value)) {

        if (value.len == 0 || jwt->policy.isolation != NULL) {
            return ngx_http_relay_jwt_invalid(cf, param,
                                              "once, the claim that says how "
                                              "the caller is isolated, as in "
                                              "\"isolation=isolation\"");
        }

        jwt->policy.isolation = (char *) value.data;

        return NGX_OK;
    }

    if (ngx_http_relay_jwt_is(param, "email=", &value)) {

        if (!relay_str_is(&value, "trusted")
            && !relay_str_is(&value, "untrusted"))
        {
            return ngx_http_relay_jwt_invalid(cf, param, "\"email=trusted\" "
                                              "or \"email=untrusted\"");
        }

        jwt->policy.email_trusted = relay_str_is(&value, "trusted");

        return NGX_OK;
    }

    for (t = ngx_http_relay_jwks_times; t->name.len; t++) {

        if (!ngx_http_relay_jwt_is(param, (char *) t->name.data, &value)) {
            continue;
        }

        if (remote->uri.len == 0) {
            return ngx_http_relay_jwt_invalid(cf, param,
                                              "for keys behind a location, "
                                              "\"uri=\"; a file is read when "
                                              "nginx starts");
        }

        msp = (ngx_msec_t *) ((char *) remote + t->offset);

        time = ngx_parse_time(ngx_http_ngx_str(&value), 0);

        if (time == NGX_ERROR
            || time == 0
            || time > NGX_HTTP_RELAY_JWKS_TIME_MAX
            || *msp != NGX_CONF_UNSET_MSEC)
        {
            return ngx_http_relay_jwt_invalid(cf, param,
                                              "once, a time from 1ms to 24h");
        }

        *msp = time;

        return NGX_OK;
    }

    if (ngx_strncmp(param->data, "alg", 3) == 0) {
        return ngx_http_relay_jwt_invalid(cf, param,
                                          "the key that decides on the "
                                          "algorithm: RSA (RS256, RS384, "
                                          "RS512, PS256, PS384, PS512), EC "
                                          "(ES256, ES384, ES512) or oct "
                                          "(HS256, HS384, HS512)");
    }

    return ngx_http_relay_jwt_invalid(cf, param,
                                      "one of \"issuer=\", \"audience=\", "
                                      "\"leeway=\", \"typ=\", \"email=\" and "
                                      "\"isolation=\", which judge \"iss\", "
                                      "\"aud\", \"exp\", \"nbf\", \"typ\", "
                                      "\"email_verified\" and a claim of "
                                      "yours, or with \"uri=\" "
                                      "of \"refresh=\", \"stale=\", "
                                      "\"cooldown=\" and \"timeout=\"");
}


static ngx_int_t
ngx_http_relay_jwt_invalid(ngx_conf_t *cf, ngx_str_t *param,
    const char *allowed)
{
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "invalid parameter \"%V\" in \"relay_jwt_keys\": it is "
                       "%s", param, allowed);

    return NGX_ERROR;
}


static ngx_uint_t
ngx_http_relay_jwt_is(ngx_str_t *param, const char *name, relay_str_t *value)
{
    size_t  len;

    len = ngx_strlen(name);

    if (param->len < len || ngx_strncmp(param->data, name, len) != 0) {
        return 0;
    }

    value->data = param->data + len;
    value->len = param->len - len;

    return 1;
}


/* Directives of a server that say the same share what is fetched. */

static ngx_http_relay_jwks_conf_t *
ngx_http_relay_jwt_remote(ngx_conf_t *cf, ngx_http_relay_jwks_conf_t *remote)
{
    ngx_uint_t                    i;
    ngx_http_relay_main_conf_t   *rmcf;
    ngx_http_relay_jwks_conf_t  **known, *jkcf;

    rmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_relay_module);

    known = rmcf->jwks.elts;

    for (i = 0; i < rmcf->jwks.nelts; i++) {

        if (known[i]->server == remote->server
            && relay_str_eq(&known[i]->uri, &remote->uri)
            && known[i]->refresh == remote->refresh
            && known[i]->stale == remote->stale
            && known[i]->cooldown == remote->cooldown
            && known[i]->timeout == remote->timeout)
        {
            return known[i];
        }
    }

    jkcf = ngx_palloc(cf->pool, sizeof(ngx_http_relay_jwks_conf_t));
    if (jkcf == NULL) {
        return NULL;
    }

    *jkcf = *remote;

    known = ngx_array_push(&rmcf->jwks);
    if (known == NULL) {
        return NULL;
    }

    *known = jkcf;

    return jkcf;
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
    const char        *kid;
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

    } else {
        kid = relay_jwt_keys_private(keys);

        if (kid != NULL) {
            ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                               "key set \"%V\" of \"relay_jwt_keys\" holds "
                               "the private part of key \"%s\": whoever reads "
                               "it can sign as the issuer, it should hold "
                               "public keys only (see \"relayctl keygen "
                               "--public\")", name, kid);
        }
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
