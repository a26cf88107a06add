
/*
 * Who asks: the bearer token that the request carries, else the values that
 * another module vouches for.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_http_relay_module.h"


static ngx_int_t ngx_http_relay_bearer(ngx_http_request_t *r, ngx_str_t *token,
    const char **why);
static ngx_int_t ngx_http_relay_vouched_identity(ngx_http_request_t *r,
    ngx_http_relay_vouched_t *vouched, relay_identity_t *id, const char **why);
static ngx_int_t ngx_http_relay_vouched_value(ngx_http_request_t *r,
    ngx_http_complex_value_t *cv, relay_str_t *value);


/*
 * The Authorization header belongs to relay_jwt_keys where they are set, and to
 * whatever module relay_identity's values come from elsewhere.
 */

ngx_int_t
ngx_http_relay_identify(ngx_http_request_t *r, ngx_http_relay_loc_conf_t *rlcf,
    relay_identity_t *id, const char **why)
{
    ngx_int_t  rc;
    ngx_str_t  token;

    ngx_memzero(id, sizeof(relay_identity_t));

    if (rlcf->jwt != NULL) {
        rc = ngx_http_relay_bearer(r, &token, why);

        if (rc == NGX_OK) {
            return ngx_http_relay_jwt_identity(r, rlcf, &token, id, why);
        }

        if (rc != NGX_DECLINED) {
            return rc;
        }
    }

    if (rlcf->vouched != NULL) {
        return ngx_http_relay_vouched_identity(r, rlcf->vouched, id, why);
    }

    return NGX_DECLINED;
}


/*
 * NGX_OK: *token points into the header; NGX_DECLINED: there is no bearer
 * token; NGX_ABORT: what is there cannot be one.
 */

static ngx_int_t
ngx_http_relay_bearer(ngx_http_request_t *r, ngx_str_t *token,
    const char **why)
{
    u_char           *p, *last;
    ngx_str_t        *value;
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    value = NULL;

    part = &r->headers_in.headers.part;
    h = part->elts;

    for (i = 0; /* void */; i++) {

        if (i >= part->nelts) {
            if (part->next == NULL) {
                break;
            }

            part = part->next;
            h = part->elts;
            i = 0;
        }

        if (h[i].hash == 0
            || h[i].key.len != sizeof("Authorization") - 1
            || ngx_strncasecmp(h[i].key.data, (u_char *) "Authorization",
                               sizeof("Authorization") - 1)
               != 0)
        {
            continue;
        }

        if (value != NULL) {
            *why = "more than one Authorization header";
            return NGX_ABORT;
        }

        value = &h[i].value;
    }

    if (value == NULL
        || value->len < sizeof("Bearer") - 1
        || ngx_strncasecmp(value->data, (u_char *) "Bearer",
                           sizeof("Bearer") - 1)
           != 0)
    {
        return NGX_DECLINED;
    }

    p = value->data + sizeof("Bearer") - 1;
    last = value->data + value->len;

    if (p < last && *p > ' ') {
        /* the name of another scheme only starts like this one */
        return NGX_DECLINED;
    }

    while (p < last && *p == ' ') {
        p++;
    }

    while (last > p && last[-1] == ' ') {
        last--;
    }

    if (p == last) {
        *why = "bearer token is empty";
        return NGX_ABORT;
    }

    if (last - p > RELAY_JWT_MAX) {
        *why = "bearer token is too long";
        return NGX_ABORT;
    }

    token->data = p;
    token->len = last - p;

    return NGX_OK;
}


static ngx_int_t
ngx_http_relay_vouched_identity(ngx_http_request_t *r,
    ngx_http_relay_vouched_t *vouched, relay_identity_t *id, const char **why)
{
    relay_str_t  verified;

    if (ngx_http_relay_vouched_value(r, vouched->subject, &id->subject)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (id->subject.len == 0) {
        return NGX_DECLINED;
    }

    if (ngx_http_relay_vouched_value(r, vouched->issuer, &id->issuer) != NGX_OK
        || ngx_http_relay_vouched_value(r, vouched->email, &id->email)
           != NGX_OK
        || ngx_http_relay_vouched_value(r, vouched->email_verified, &verified)
           != NGX_OK
        || ngx_http_relay_vouched_value(r, vouched->name, &id->name) != NGX_OK)
    {
        return NGX_ERROR;
    }

    id->email_verified = vouched->email_verified == NULL
                         || relay_str_is(&verified, "true");
    id->email_trusted = vouched->email_trusted;
    id->ambient = 1;

    if (relay_identity_check(id, why) != RELAY_OK) {
        return NGX_ABORT;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_relay_vouched_value(ngx_http_request_t *r,
    ngx_http_complex_value_t *cv, relay_str_t *value)
{
    if (cv == NULL) {
        value->len = 0;
        value->data = NULL;
        return NGX_OK;
    }

    return ngx_http_complex_value(r, cv, ngx_http_ngx_str(value));
}
