
/*
 * What was decided, counted by all workers in one shared zone, and the page
 * that says so.  Counters begin at 0 when nginx starts and outlive a reload.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_http_relay_module.h"


#define NGX_HTTP_RELAY_METRICS_LINE  128    /* bytes of one, at most */


typedef struct {
    ngx_atomic_t  decisions[2][RELAY_REASON_MAX];   /* 1: relay_dry_run */
    ngx_atomic_t  events[NGX_HTTP_RELAY_EVENTS];
} ngx_http_relay_metrics_t;


static ngx_int_t ngx_http_relay_metrics_init_zone(ngx_shm_zone_t *zone,
    void *data);
static ngx_int_t ngx_http_relay_metrics_handler(ngx_http_request_t *r);
static u_char *ngx_http_relay_metrics_prometheus(
    ngx_http_relay_metrics_t *metrics, u_char *p);
static u_char *ngx_http_relay_metrics_json(ngx_http_relay_metrics_t *metrics,
    u_char *p);


static ngx_str_t  ngx_http_relay_metrics_name = ngx_string("relay_metrics");

static ngx_str_t  ngx_http_relay_metrics_types[] = {
    ngx_string("text/plain; version=0.0.4; charset=utf-8"),
    ngx_string("application/json")
};


/* as ngx_http_relay_event_e */

static struct {
    char  *name;
    char  *help;
} ngx_http_relay_events[] = {

    { "records_remembered",
      "Reads that were decided on records which the worker remembered." },

    { "records_stale",
      "Reads whose records had changed since they were read." },

    { "views_kept",
      "Views that were there already." },

    { "views_projected",
      "Views that were made of a document." },

    { "receipts_undelivered",
      "Served reads that were not delivered whole." },

    { "receipts_not_recorded",
      "Receipts that Redis did not take; each is in the error log." }
};


ngx_int_t
ngx_http_relay_metrics_init(ngx_conf_t *cf, ngx_http_relay_main_conf_t *rmcf)
{
    rmcf->metrics = ngx_shared_memory_add(cf, &ngx_http_relay_metrics_name,
                                          8 * ngx_pagesize,
                                          &ngx_http_relay_module);
    if (rmcf->metrics == NULL) {
        return NGX_ERROR;
    }

    rmcf->metrics->init = ngx_http_relay_metrics_init_zone;

    return NGX_OK;
}


static ngx_int_t
ngx_http_relay_metrics_init_zone(ngx_shm_zone_t *zone, void *data)
{
    ngx_slab_pool_t  *shpool;

    shpool = (ngx_slab_pool_t *) zone->shm.addr;

    if (data != NULL) {
        zone->data = data;
        return NGX_OK;
    }

    if (zone->shm.exists) {
        zone->data = shpool->data;
        return NGX_OK;
    }

    zone->data = ngx_slab_calloc(shpool, sizeof(ngx_http_relay_metrics_t));
    if (zone->data == NULL) {
        return NGX_ERROR;
    }

    shpool->data = zone->data;

    return NGX_OK;
}


void
ngx_http_relay_count_decision(ngx_http_request_t *r, ngx_http_relay_ctx_t *ctx)
{
    ngx_http_relay_metrics_t    *metrics;
    ngx_http_relay_main_conf_t  *rmcf;

    rmcf = ngx_http_get_module_main_conf(r, ngx_http_relay_module);

    if (ctx->decision.reason < RELAY_REASON_MAX) {
        metrics = rmcf->metrics->data;
        (void) ngx_atomic_fetch_add(
             &metrics->decisions[ctx->dry_run][ctx->decision.reason], 1);
    }
}


void
ngx_http_relay_count(ngx_http_relay_main_conf_t *rmcf,
    ngx_http_relay_event_e event)
{
    ngx_http_relay_metrics_t  *metrics;

    metrics = rmcf->metrics->data;

    (void) ngx_atomic_fetch_add(&metrics->events[event], 1);
}


/* relay_metrics [prometheus | json] */

char *
ngx_http_relay_set_metrics(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_relay_loc_conf_t *rlcf = conf;

    ngx_str_t                 *value;
    ngx_http_core_loc_conf_t  *clcf;

    if (rlcf->metrics != NGX_HTTP_RELAY_METRICS_OFF) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (cf->args->nelts == 1
        || ngx_strcmp(value[1].data, "prometheus") == 0)
    {
        rlcf->metrics = NGX_HTTP_RELAY_METRICS_PROMETHEUS;

    } else if (ngx_strcmp(value[1].data, "json") == 0) {
        rlcf->metrics = NGX_HTTP_RELAY_METRICS_JSON;

    } else {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid value \"%V\" in \"relay_metrics\": it is "
                           "\"prometheus\" or \"json\"", &value[1]);
        return NGX_CONF_ERROR;
    }

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    clcf->handler = ngx_http_relay_metrics_handler;

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_relay_metrics_handler(ngx_http_request_t *r)
{
    ngx_int_t                    rc;
    ngx_buf_t                   *b;
    ngx_chain_t                  out;
    ngx_uint_t                   json;
    ngx_http_relay_metrics_t    *metrics;
    ngx_http_relay_loc_conf_t   *rlcf;
    ngx_http_relay_main_conf_t  *rmcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);
    rmcf = ngx_http_get_module_main_conf(r, ngx_http_relay_module);

    if (!(r->method & (NGX_HTTP_GET|NGX_HTTP_HEAD))) {
        return NGX_HTTP_NOT_ALLOWED;
    }

    rc = ngx_http_discard_request_body(r);

    if (rc != NGX_OK) {
        return rc;
    }

    if (rmcf->metrics == NULL) {
        /* no location has relay_link */
        return NGX_HTTP_NOT_FOUND;
    }

    json = (rlcf->metrics == NGX_HTTP_RELAY_METRICS_JSON);
    metrics = rmcf->metrics->data;

    b = ngx_create_temp_buf(r->pool, NGX_HTTP_RELAY_METRICS_LINE
                            * (2 * RELAY_REASON_MAX
                               + 3 * (NGX_HTTP_RELAY_EVENTS + 1)));
    if (b == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    b->last = json ? ngx_http_relay_metrics_json(metrics, b->last)
                   : ngx_http_relay_metrics_prometheus(metrics, b->last);

    b->last_buf = (r == r->main) ? 1 : 0;
    b->last_in_chain = 1;

    r->headers_out.status = NGX_HTTP_OK;
    r->headers_out.content_length_n = b->last - b->pos;
    r->headers_out.content_type = ngx_http_relay_metrics_types[json];
    r->headers_out.content_type_len = r->headers_out.content_type.len;
    r->headers_out.content_type_lowcase = NULL;

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    out.buf = b;
    out.next = NULL;

    return ngx_http_output_filter(r, &out);
}


/* The text format of Prometheus, version 0.0.4. */

static u_char *
ngx_http_relay_metrics_prometheus(ngx_http_relay_metrics_t *metrics, u_char *p)
{
    ngx_uint_t  i, dry;

    p = ngx_sprintf(p, "# HELP relay_decisions_total Decisions by reason.\n"
                       "# TYPE relay_decisions_total counter\n");

    for (dry = 0; dry < 2; dry++) {

        for (i = RELAY_REASON_UNDECIDED + 1; i < RELAY_REASON_MAX; i++) {

            if (dry && metrics->decisions[dry][i] == 0) {
                continue;
            }

            p = ngx_sprintf(p, "relay_decisions_total{reason=\"%V\"%s} %uA\n",
                            ngx_http_ngx_str(relay_reason_name(i)),
                            dry ? ",enforced=\"no\"" : ",enforced=\"yes\"",
                            metrics->decisions[dry][i]);
        }
    }

    for (i = 0; i < NGX_HTTP_RELAY_EVENTS; i++) {
        p = ngx_sprintf(p, "# HELP relay_%s_total %s\n"
                           "# TYPE relay_%s_total counter\n"
                           "relay_%s_total %uA\n",
                        ngx_http_relay_events[i].name,
                        ngx_http_relay_events[i].help,
                        ngx_http_relay_events[i].name,
                        ngx_http_relay_events[i].name, metrics->events[i]);
    }

    return p;
}


static u_char *
ngx_http_relay_metrics_json(ngx_http_relay_metrics_t *metrics, u_char *p)
{
    ngx_uint_t  i, dry;

    *p++ = '{';

    for (dry = 0; dry < 2; dry++) {
        p = ngx_sprintf(p, dry ? "\"not_enforced\":{" : "\"decisions\":{");

        for (i = RELAY_REASON_UNDECIDED + 1; i < RELAY_REASON_MAX; i++) {
            p = ngx_sprintf(p, "\"%V\":%uA,",
                            ngx_http_ngx_str(relay_reason_name(i)),
                            metrics->decisions[dry][i]);
        }

        p[-1] = '}';
        *p++ = ',';
    }

    for (i = 0; i < NGX_HTTP_RELAY_EVENTS; i++) {
        p = ngx_sprintf(p, "\"%s\":%uA,", ngx_http_relay_events[i].name,
                        metrics->events[i]);
    }

    p[-1] = '}';
    *p++ = '\n';

    return p;
}
