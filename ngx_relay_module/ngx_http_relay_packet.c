
/*
 * Responder packets: the rules that one must meet before it is served, whom it
 * is served to, and in which of its two forms.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_http_relay_module.h"

#include "relay_data.h"
#include "relay_pointer.h"


#define NGX_HTTP_RELAY_PACKET_PLACE  1024   /* bytes of a place in a packet */


static void ngx_http_relay_packet_cleanup(void *data);
static ngx_int_t ngx_http_relay_packet_valid(ngx_http_request_t *r,
    ngx_http_relay_ctx_t *ctx, relay_str_t *doc, relay_json_tape_t *tape);
static ngx_uint_t ngx_http_relay_packet_asked(ngx_http_relay_loc_conf_t *rlcf,
    relay_str_t *isolation);
static ngx_uint_t ngx_http_relay_quality(ngx_str_t *accept, ngx_str_t *type);
static ngx_uint_t ngx_http_relay_range(u_char *p, u_char *last,
    ngx_str_t *type);
static ngx_uint_t ngx_http_relay_weight(u_char *p, u_char *last);


/* scratch of this process */

static relay_schema_run_t  ngx_http_relay_packet_run;

static ngx_str_t  ngx_http_relay_type_json = ngx_string("application/json");
static ngx_str_t  ngx_http_relay_type_text = ngx_string("text/plain");


ngx_int_t
ngx_http_relay_packet_init(ngx_conf_t *cf, ngx_http_relay_main_conf_t *rmcf)
{
    relay_buf_t          err;
    const relay_str_t   *text;
    ngx_pool_cleanup_t  *cln;

    static const relay_str_t  type = relay_string(RELAY_PACKET_SCHEMA);

    cln = ngx_pool_cleanup_add(cf->pool, 0);
    if (cln == NULL) {
        return NGX_ERROR;
    }

    relay_buf_init(&err, NGX_HTTP_RELAY_ERROR_MAX);

    text = relay_document_schema(&type);

    if (text != NULL) {
        rmcf->packet = relay_schema_compile(text, &err);
    }

    if (rmcf->packet == NULL) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "the schema of \"%s\" cannot be used: %*s",
                           RELAY_PACKET_SCHEMA, err.len, err.data);
        relay_buf_free(&err);
        return NGX_ERROR;
    }

    relay_buf_free(&err);

    cln->handler = ngx_http_relay_packet_cleanup;
    cln->data = rmcf->packet;

    return NGX_OK;
}


static void
ngx_http_relay_packet_cleanup(void *data)
{
    relay_schema_free(data);
}


/*
 * relay_packet_rules [P19=refuse ...] [drafts] [marker=text ...], or default
 */

char *
ngx_http_relay_set_packet_rules(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_relay_loc_conf_t *rlcf = conf;

    u_char                         *p;
    size_t                          len;
    ngx_str_t                      *value, s;
    ngx_uint_t                      i;
    relay_str_t                    *markers;
    ngx_http_relay_packet_rules_t  *packet;

    if (rlcf->packet != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (cf->args->nelts == 2 && ngx_strcmp(value[1].data, "default") == 0) {
        rlcf->packet = NULL;
        return NGX_CONF_OK;
    }

    packet = ngx_pcalloc(cf->pool, sizeof(ngx_http_relay_packet_rules_t));
    markers = ngx_pcalloc(cf->pool, cf->args->nelts * sizeof(relay_str_t));

    if (packet == NULL || markers == NULL) {
        return NGX_CONF_ERROR;
    }

    relay_packet_rules_init(&packet->rules);

    len = 0;

    for (i = 1; i < cf->args->nelts; i++) {
        len += value[i].len + 1;

        if (ngx_strcmp(value[i].data, "drafts") == 0) {
            packet->rules.allow_draft = 1;
            continue;
        }

        if (value[i].len > 7
            && ngx_strncmp(value[i].data, "marker=", 7) == 0)
        {
            if (packet->rules.markers != markers) {
                packet->rules.markers = markers;
                packet->rules.nmarkers = 0;
            }

            s.data = value[i].data + 7;
            s.len = value[i].len - 7;

            markers[packet->rules.nmarkers++] = *ngx_http_relay_str(&s);
            continue;
        }

        if (relay_packet_rules_word(&packet->rules,
                                    ngx_http_relay_str(&value[i]))
            != RELAY_OK)
        {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid parameter \"%V\" of "
                               "\"relay_packet_rules\": use \"default\", or "
                               "\"drafts\", \"marker=\" and rules such as "
                               "\"P19=refuse\"; P1, P3, P14 and P16 always "
                               "refuse", &value[i]);
            return NGX_CONF_ERROR;
        }
    }

    /* a view that was made under other rules is not this location's */

    s.data = ngx_pnalloc(cf->temp_pool, len);
    if (s.data == NULL) {
        return NGX_CONF_ERROR;
    }

    p = s.data;

    for (i = 1; i < cf->args->nelts; i++) {
        p = ngx_cpymem(p, value[i].data, value[i].len);
        *p++ = '\n';
    }

    s.len = len;

    relay_digest(ngx_http_relay_str(&s), packet->digest);

    rlcf->packet = packet;

    return NGX_CONF_OK;
}


/* What of the request and its location decides on a packet's view. */

void
ngx_http_relay_packet_key(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx,
    relay_buf_t *key)
{
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

    (void) relay_buf_printf(key, "\n%d\n%d\n%.*s", (int) ctx->text,
               ngx_http_relay_packet_asked(rlcf, &ctx->isolation)
               ? (int) relay_packet_isolation_by_name(&ctx->identity.isolation)
               : -1,
               rlcf->packet ? RELAY_DIGEST_LEN : 0,
               rlcf->packet ? rlcf->packet->digest : (u_char *) "");
}


/*
 * Whether readers have to say how they are isolated: the relay's head asks for
 * it, or the operator has named the claim that says so.
 */

static ngx_uint_t
ngx_http_relay_packet_asked(ngx_http_relay_loc_conf_t *rlcf,
    relay_str_t *isolation)
{
    ngx_uint_t             i;
    ngx_http_relay_jwt_t  *jwt;

    if (isolation->len) {
        return 1;
    }

    if (rlcf->jwt == NULL) {
        return 0;
    }

    jwt = rlcf->jwt->elts;

    for (i = 0; i < rlcf->jwt->nelts; i++) {
        if (jwt[i].policy.isolation != NULL) {
            return 1;
        }
    }

    return 0;
}


/*
 * P1: NGX_OK, NGX_DECLINED or NGX_ERROR.  Of a fault the place and the keyword
 * are logged: both are the schema's words, but for names that it does not know.
 */

static ngx_int_t
ngx_http_relay_packet_valid(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx,
    relay_str_t *doc, relay_json_tape_t *tape)
{
    relay_int_t                  rc;
    relay_buf_t                  place;
    relay_schema_error_t        *error;
    ngx_http_relay_main_conf_t  *rmcf;

    rmcf = ngx_http_get_module_main_conf(r, ngx_http_relay_module);

    if (ngx_http_relay_packet_run.max == 0) {
        relay_schema_run_init(&ngx_http_relay_packet_run, 1);
    }

    rc = relay_schema_validate(rmcf->packet, doc, tape,
                               &ngx_http_relay_packet_run);

    if (rc != RELAY_DECLINED) {
        return (rc == RELAY_OK) ? NGX_OK : NGX_ERROR;
    }

    error = ngx_http_relay_packet_run.errors;

    relay_buf_init(&place, NGX_HTTP_RELAY_PACKET_PLACE);

    (void) relay_pointer_append(tape, doc, error->node, &place);

    ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                  "packet of relay \"%V\": P1: \"%*s\": \"%s\" of its schema, "
                  "byte %uz", &ctx->relay, place.len, place.data,
                  error->keyword, error->offset);

    relay_buf_free(&place);

    return NGX_DECLINED;
}


ngx_int_t
ngx_http_relay_packet_check(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx,
    relay_str_t *doc, relay_json_tape_t *tape)
{
    size_t                      i;
    ngx_int_t                   valid;
    ngx_uint_t                  level;
    relay_int_t                 rc;
    relay_buf_t                 mem, err;
    relay_packet_t              packet;
    relay_packet_rules_t        rules;
    relay_packet_result_t      *result;
    relay_packet_finding_t     *f;
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

    if (rlcf->packet != NULL) {
        rules = rlcf->packet->rules;

    } else {
        relay_packet_rules_init(&rules);
    }

    result = ngx_palloc(r->pool, sizeof(relay_packet_result_t));
    if (result == NULL) {
        return NGX_ERROR;
    }

    valid = ngx_http_relay_packet_valid(r, ctx, doc, tape);

    if (valid == NGX_ERROR) {
        return NGX_ERROR;
    }

    rc = relay_packet_gate(&rules, doc, tape, valid == NGX_OK, result);

    for (i = 0; i < result->n; i++) {
        f = &result->findings[i];

        level = (f->action == RELAY_PACKET_REFUSE) ? NGX_LOG_ERR
                                                   : NGX_LOG_WARN;

        ngx_log_error(level, r->connection->log, 0,
                      "packet of relay \"%V\": %V: %s, byte %uz", &ctx->relay,
                      ngx_http_ngx_str(relay_packet_rule_name(f->rule)),
                      f->text, f->offset);

        if (f->rule == result->rule && ctx->fault.offset == -1) {
            ngx_http_relay_document_fault(r, ctx,
                                          relay_packet_rule_name(f->rule),
                                          tape, doc, f->node);
        }
    }

    if (rc != RELAY_OK) {
        return (rc == RELAY_DECLINED) ? NGX_DECLINED : NGX_ERROR;
    }

    if (!ngx_http_relay_packet_asked(rlcf, &ctx->isolation)) {
        return NGX_OK;
    }

    relay_buf_init(&mem, RELAY_DOCUMENT_MAX);
    relay_buf_init(&err, RELAY_DOCUMENT_MAX);

    rc = relay_packet_head(doc, tape, &packet, &mem, &err);

    if (rc == RELAY_OK) {
        rc = relay_packet_isolated(&packet, &ctx->identity.isolation);
    }

    if (rc == RELAY_OK && ctx->isolation.len
        && !relay_str_eq(&ctx->isolation, &ctx->identity.isolation))
    {
        rc = RELAY_DECLINED;
    }

    relay_buf_free(&mem);
    relay_buf_free(&err);

    if (rc == RELAY_DECLINED) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "packet of relay \"%V\": P26: the caller does not claim "
                      "the isolation that is needed", &ctx->relay);

        relay_str_set(&ctx->fault.rule, "P26");

        return NGX_DECLINED;
    }

    return (rc == RELAY_OK) ? NGX_OK : NGX_ERROR;
}


/* As text unless the client prefers JSON (RFC 9110, 12.5.1). */

ngx_uint_t
ngx_http_relay_packet_text(ngx_http_request_t *r)
{
    ngx_str_t  *accept;

    accept = ngx_http_relay_header_in(r, "Accept");

    if (accept == NULL) {
        return 1;
    }

    return ngx_http_relay_quality(accept, &ngx_http_relay_type_json)
           <= ngx_http_relay_quality(accept, &ngx_http_relay_type_text);
}


/* The weight of a type in thousandths: that of the range that fits best. */

static ngx_uint_t
ngx_http_relay_quality(ngx_str_t *accept, ngx_str_t *type)
{
    u_char      *p, *q, *last;
    ngx_uint_t   fit, best, weight;

    p = accept->data;
    last = p + accept->len;
    best = 0;
    weight = 0;

    while (p < last) {

        for (q = p; q < last && *q != ','; q++) { /* void */ }

        fit = ngx_http_relay_range(p, q, type);

        if (fit > best) {
            best = fit;
            weight = ngx_http_relay_weight(p, q);
        }

        p = q + 1;
    }

    return weight;
}


/* 3: the type itself, 2: any of its kind, 1: any at all, 0: another one. */

static ngx_uint_t
ngx_http_relay_range(u_char *p, u_char *last, ngx_str_t *type)
{
    u_char  *q;
    size_t   len, major;

    while (p < last && (*p == ' ' || *p == '\t')) {
        p++;
    }

    for (q = p; q < last && *q != ';' && *q != ' ' && *q != '\t'; q++) {
        /* void */
    }

    len = q - p;

    if (len == type->len && ngx_strncasecmp(p, type->data, len) == 0) {
        return 3;
    }

    if (len == 3 && ngx_strncmp(p, "*/*", 3) == 0) {
        return 1;
    }

    major = ngx_strlchr(type->data, type->data + type->len, '/') - type->data;

    if (len == major + 2 && p[len - 1] == '*'
        && ngx_strncasecmp(p, type->data, major + 1) == 0)
    {
        return 2;
    }

    return 0;
}


static ngx_uint_t
ngx_http_relay_weight(u_char *p, u_char *last)
{
    ngx_uint_t  weight, unit;

    for (/* void */; p < last; p++) {

        if (*p != ';') {
            continue;
        }

        do {
            p++;
        } while (p < last && (*p == ' ' || *p == '\t'));

        if (last - p < 2 || (*p != 'q' && *p != 'Q') || p[1] != '=') {
            p--;
            continue;
        }

        p += 2;

        if (p == last || *p != '0') {
            return (p < last && *p == '1') ? 1000 : 0;
        }

        weight = 0;

        if (++p < last && *p == '.') {

            for (p++, unit = 100;
                 p < last && unit && *p >= '0' && *p <= '9';
                 p++, unit /= 10)
            {
                weight += (*p - '0') * unit;
            }
        }

        return weight;
    }

    return 1000;
}
