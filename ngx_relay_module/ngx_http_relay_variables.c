
/*
 * The embedded variables.  They say what was decided and are empty until then.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_http_relay_module.h"


typedef enum {
    NGX_HTTP_RELAY_VAR_DECISION = 0,
    NGX_HTTP_RELAY_VAR_REASON,
    NGX_HTTP_RELAY_VAR_ID,
    NGX_HTTP_RELAY_VAR_VERSION,
    NGX_HTTP_RELAY_VAR_VIEW,
    NGX_HTTP_RELAY_VAR_PERMISSION,
    NGX_HTTP_RELAY_VAR_GRANT,
    NGX_HTTP_RELAY_VAR_READER,
    NGX_HTTP_RELAY_VAR_RECEIPT
} ngx_http_relay_variable_e;


static ngx_int_t ngx_http_relay_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static void ngx_http_relay_variable_decision(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, ngx_str_t *value);
static ngx_int_t ngx_http_relay_variable_version(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, ngx_str_t *value);
static ngx_int_t ngx_http_relay_variable_reader(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, ngx_str_t *value);


static ngx_http_variable_t  ngx_http_relay_vars[] = {

    { ngx_string("relay_decision"), NULL, ngx_http_relay_variable,
      NGX_HTTP_RELAY_VAR_DECISION, 0, 0 },

    { ngx_string("relay_reason"), NULL, ngx_http_relay_variable,
      NGX_HTTP_RELAY_VAR_REASON, 0, 0 },

    { ngx_string("relay_id"), NULL, ngx_http_relay_variable,
      NGX_HTTP_RELAY_VAR_ID, 0, 0 },

    { ngx_string("relay_version"), NULL, ngx_http_relay_variable,
      NGX_HTTP_RELAY_VAR_VERSION, 0, 0 },

    { ngx_string("relay_view"), NULL, ngx_http_relay_variable,
      NGX_HTTP_RELAY_VAR_VIEW, 0, 0 },

    { ngx_string("relay_permission"), NULL, ngx_http_relay_variable,
      NGX_HTTP_RELAY_VAR_PERMISSION, 0, 0 },

    { ngx_string("relay_grant"), NULL, ngx_http_relay_variable,
      NGX_HTTP_RELAY_VAR_GRANT, 0, 0 },

    { ngx_string("relay_reader"), NULL, ngx_http_relay_variable,
      NGX_HTTP_RELAY_VAR_READER, 0, 0 },

    { ngx_string("relay_receipt"), NULL, ngx_http_relay_variable,
      NGX_HTTP_RELAY_VAR_RECEIPT, 0, 0 },

      ngx_http_null_variable
};


/*
 * A value is marked neither valid nor not found, so that nginx never keeps it:
 * what "set" or an access rule saw while the request was undecided must not be
 * what the access log prints, and subrequests, which are decided for
 * themselves, share the values of their main request.
 */

static ngx_int_t
ngx_http_relay_variable(ngx_http_request_t *r, ngx_http_variable_value_t *v,
    uintptr_t data)
{
    ngx_int_t              rc;
    ngx_str_t              value;
    ngx_http_relay_ctx_t  *ctx;

    ctx = ngx_http_relay_get_ctx(r);

    rc = NGX_OK;
    ngx_str_null(&value);

    if (data == NGX_HTTP_RELAY_VAR_DECISION) {
        ngx_http_relay_variable_decision(r, ctx, &value);
        goto done;
    }

    if (ctx == NULL || ctx->outcome == NGX_HTTP_RELAY_UNDECIDED) {
        goto done;
    }

    switch (data) {

    case NGX_HTTP_RELAY_VAR_REASON:
        *ngx_http_relay_str(&value) = *relay_reason_name(ctx->decision.reason);
        break;

    case NGX_HTTP_RELAY_VAR_ID:
        value = ctx->relay;
        break;

    case NGX_HTTP_RELAY_VAR_VERSION:
        rc = ngx_http_relay_variable_version(r, ctx, &value);
        break;

    case NGX_HTTP_RELAY_VAR_VIEW:

        if (ctx->outcome == NGX_HTTP_RELAY_ALLOWED
            && ctx->decision.view != RELAY_VIEW_NONE)
        {
            *ngx_http_relay_str(&value) = *relay_view_name(ctx->decision.view);
        }

        break;

    case NGX_HTTP_RELAY_VAR_PERMISSION:

        if (ctx->outcome == NGX_HTTP_RELAY_ALLOWED
            && ctx->decision.permission != RELAY_PERMISSION_NONE)
        {
            *ngx_http_relay_str(&value) =
                               *relay_permission_name(ctx->decision.permission);
        }

        break;

    case NGX_HTTP_RELAY_VAR_GRANT:
        value = ctx->grant;
        break;

    case NGX_HTTP_RELAY_VAR_READER:
        rc = ngx_http_relay_variable_reader(r, ctx, &value);
        break;

    case NGX_HTTP_RELAY_VAR_RECEIPT:
        value = ctx->receipt;
        break;

    default:
        break;
    }

    if (rc != NGX_OK) {
        return NGX_ERROR;
    }

done:

    v->valid = 0;
    v->no_cacheable = 1;
    v->not_found = 0;
    v->len = value.len;
    v->data = value.len ? value.data : (u_char *) "";

    return NGX_OK;
}


/* Until PREACCESS has run there is no state yet, in a location with a link. */

static void
ngx_http_relay_variable_decision(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, ngx_str_t *value)
{
    ngx_http_relay_loc_conf_t  *rlcf;

    if (ctx == NULL) {
        rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

        if (rlcf->link != NULL) {
            ngx_str_set(value, "undecided");
        }

        return;
    }

    switch (ctx->outcome) {

    case NGX_HTTP_RELAY_UNDECIDED:
        ngx_str_set(value, "undecided");
        break;

    case NGX_HTTP_RELAY_ALLOWED:
        ngx_str_set(value, "allowed");
        break;

    default: /* NGX_HTTP_RELAY_DENIED */
        ngx_str_set(value, "denied");
        break;
    }
}


static ngx_int_t
ngx_http_relay_variable_version(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, ngx_str_t *value)
{
    if (ctx->outcome != NGX_HTTP_RELAY_ALLOWED || ctx->decision.version <= 0) {
        return NGX_OK;
    }

    value->data = ngx_pnalloc(r->pool, NGX_INT64_LEN);
    if (value->data == NULL) {
        return NGX_ERROR;
    }

    value->len = ngx_sprintf(value->data, "%L", ctx->decision.version)
                 - value->data;

    return NGX_OK;
}


/* The confirmed address, else issuer and subject with a space between. */

static ngx_int_t
ngx_http_relay_variable_reader(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, ngx_str_t *value)
{
    u_char            *p;
    relay_identity_t  *id;

    if (!ctx->has_identity) {
        return NGX_OK;
    }

    id = &ctx->identity;

    if (relay_identity_confirmed(id)) {

        value->data = ngx_pnalloc(r->pool, RELAY_EMAIL_MAX);
        if (value->data == NULL) {
            return NGX_ERROR;
        }

        if (relay_email_normalize(&id->email, value->data, &value->len)
            == RELAY_OK)
        {
            return NGX_OK;
        }
    }

    value->data = ngx_pnalloc(r->pool, id->issuer.len + 1 + id->subject.len);
    if (value->data == NULL) {
        return NGX_ERROR;
    }

    p = ngx_cpymem(value->data, id->issuer.data, id->issuer.len);
    *p++ = ' ';
    p = ngx_cpymem(p, id->subject.data, id->subject.len);

    value->len = p - value->data;

    return NGX_OK;
}


ngx_int_t
ngx_http_relay_add_variables(ngx_conf_t *cf)
{
    ngx_http_variable_t  *var, *v;

    for (v = ngx_http_relay_vars; v->name.len; v++) {
        var = ngx_http_add_variable(cf, &v->name, v->flags);
        if (var == NULL) {
            return NGX_ERROR;
        }

        var->get_handler = v->get_handler;
        var->data = v->data;
    }

    return NGX_OK;
}
