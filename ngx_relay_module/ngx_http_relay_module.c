
/*
 * Directives, configuration, and what a process needs when it starts and ends.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_http_relay_module.h"

#include "relay_data.h"
#include "relay_package.h"


#define NGX_HTTP_RELAY_HOSTNAME_MAX  60         /* bytes in a receipt's id */
#define NGX_HTTP_RELAY_BOOT_LEN      8          /* digits in a receipt's id */
#define NGX_HTTP_RELAY_ENUM_MAX      256        /* bytes that list its words */

#define NGX_HTTP_RELAY_BOOT_ID       "/proc/sys/kernel/random/boot_id"


_Static_assert(sizeof(ngx_str_t) == sizeof(relay_str_t)
               && offsetof(ngx_str_t, len) == offsetof(relay_str_t, len)
               && offsetof(ngx_str_t, data) == offsetof(relay_str_t, data),
               "ngx_str_t and relay_str_t differ");


typedef struct {
    ngx_str_t                   name;       /* with its "=" */
    size_t                      offset;     /* in ngx_http_relay_vouched_t */
} ngx_http_relay_param_t;


typedef struct {
    ngx_http_phases             phase;
    ngx_http_handler_pt         handler;
} ngx_http_relay_phase_t;


static char *ngx_http_relay_set_redis(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
static ngx_uint_t ngx_http_relay_redis_same(ngx_http_relay_redis_conf_t *a,
    ngx_http_relay_redis_conf_t *b);
static char *ngx_http_relay_set_zone(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
static char *ngx_http_relay_set_link(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
static char *ngx_http_relay_set_identity(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
static char *ngx_http_relay_set_enum(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
static char *ngx_http_relay_set_sign_in(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
static char *ngx_http_relay_check_prefix(ngx_conf_t *cf, void *post,
    void *data);
static ngx_http_complex_value_t *ngx_http_relay_complex_value(ngx_conf_t *cf,
    ngx_str_t *value);

static ngx_int_t ngx_http_relay_preconfiguration(ngx_conf_t *cf);
static ngx_int_t ngx_http_relay_init(ngx_conf_t *cf);
static ngx_int_t ngx_http_relay_init_policies(ngx_conf_t *cf,
    ngx_http_relay_main_conf_t *rmcf);
static void ngx_http_relay_policy_cleanup(void *data);
static void *ngx_http_relay_create_main_conf(ngx_conf_t *cf);
static void *ngx_http_relay_create_loc_conf(ngx_conf_t *cf);
static char *ngx_http_relay_merge_loc_conf(ngx_conf_t *cf, void *parent,
    void *child);
static char *ngx_http_relay_check_loc_conf(ngx_conf_t *cf,
    ngx_http_relay_loc_conf_t *conf, ngx_flag_t package);

static ngx_int_t ngx_http_relay_init_process(ngx_cycle_t *cycle);
static ngx_int_t ngx_http_relay_process_name(ngx_cycle_t *cycle,
    ngx_str_t *name);
static u_char *ngx_http_relay_boot(ngx_cycle_t *cycle, u_char *p);
static void ngx_http_relay_exit_process(ngx_cycle_t *cycle);


static ngx_conf_post_t  ngx_http_relay_prefix_post = {
    ngx_http_relay_check_prefix
};


static ngx_conf_enum_t  ngx_http_relay_views[] = {
    { ngx_string("recipient"), RELAY_VIEW_RECIPIENT },
    { ngx_string("link"), RELAY_VIEW_LINK },
    { ngx_string("pass-on"), RELAY_VIEW_PASS_ON },
    { ngx_string("preview"), RELAY_VIEW_PREVIEW },
    { ngx_string("off"), RELAY_VIEW_NONE },
    { ngx_null_string, 0 }
};


static ngx_conf_enum_t  ngx_http_relay_anyone_views[] = {
    { ngx_string("link"), RELAY_VIEW_LINK },
    { ngx_string("recipient"), RELAY_VIEW_RECIPIENT },
    { ngx_null_string, 0 }
};


static ngx_conf_enum_t  ngx_http_relay_safeties[] = {
    { ngx_string("off"), NGX_HTTP_RELAY_SAFETY_OFF },
    { ngx_string("annotate"), NGX_HTTP_RELAY_SAFETY_ANNOTATE },
    { ngx_string("strip"), NGX_HTTP_RELAY_SAFETY_STRIP },
    { ngx_string("block"), NGX_HTTP_RELAY_SAFETY_BLOCK },
    { ngx_null_string, 0 }
};


static ngx_conf_enum_t  ngx_http_relay_accepts[] = {
    { ngx_string("auto"), RELAY_ACCEPT_AUTO },
    { ngx_string("explicit"), RELAY_ACCEPT_EXPLICIT },
    { ngx_string("on-read"), RELAY_ACCEPT_ON_READ },
    { ngx_null_string, 0 }
};


static ngx_conf_enum_t  ngx_http_relay_receipts[] = {
    { ngx_string("all"), NGX_HTTP_RELAY_RECEIPTS_ALL },
    { ngx_string("served"), NGX_HTTP_RELAY_RECEIPTS_SERVED },
    { ngx_null_string, 0 }
};


static ngx_conf_enum_t  ngx_http_relay_consistencies[] = {
    { ngx_string("linearizable"), 0 },
    { ngx_null_string, 0 }
};


static ngx_http_relay_param_t  ngx_http_relay_identity_params[] = {
    { ngx_string("issuer="), offsetof(ngx_http_relay_vouched_t, issuer) },
    { ngx_string("subject="), offsetof(ngx_http_relay_vouched_t, subject) },
    { ngx_string("email="), offsetof(ngx_http_relay_vouched_t, email) },
    { ngx_string("email_verified="),
      offsetof(ngx_http_relay_vouched_t, email_verified) },
    { ngx_string("name="), offsetof(ngx_http_relay_vouched_t, name) },
    { ngx_null_string, 0 }
};


static ngx_http_relay_phase_t  ngx_http_relay_phases[] = {
    { NGX_HTTP_PREACCESS_PHASE, ngx_http_relay_preaccess_handler },
    { NGX_HTTP_PRECONTENT_PHASE, ngx_http_relay_precontent_handler },
    { NGX_HTTP_LOG_PHASE, ngx_http_relay_log_handler }
};


static ngx_command_t  ngx_http_relay_commands[] = {

    { ngx_string("relay_redis"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_1MORE,
      ngx_http_relay_set_redis,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("relay_prefix"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_str_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_relay_loc_conf_t, prefix),
      &ngx_http_relay_prefix_post },

    { ngx_string("relay_zone"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_http_relay_set_zone,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("relay_link"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_relay_set_link,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("relay_jwt_keys"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_1MORE,
      ngx_http_relay_set_jwt_keys,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("relay_identity"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_1MORE,
      ngx_http_relay_set_identity,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("relay_bind_subject"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_relay_loc_conf_t, bind_subject),
      NULL },

    { ngx_string("relay_package"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_relay_loc_conf_t, package),
      NULL },

    { ngx_string("relay_metrics"),
      NGX_HTTP_LOC_CONF|NGX_CONF_NOARGS|NGX_CONF_TAKE1,
      ngx_http_relay_set_metrics,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("relay_packet_rules"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_1MORE,
      ngx_http_relay_set_packet_rules,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("relay_view"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_relay_set_enum,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_relay_loc_conf_t, view),
      &ngx_http_relay_views },

    { ngx_string("relay_anyone_view"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_relay_set_enum,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_relay_loc_conf_t, anyone_view),
      &ngx_http_relay_anyone_views },

    { ngx_string("relay_safety"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_relay_set_enum,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_relay_loc_conf_t, safety),
      &ngx_http_relay_safeties },

    { ngx_string("relay_accept"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_relay_set_enum,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_relay_loc_conf_t, accept),
      &ngx_http_relay_accepts },

    { ngx_string("relay_conceal"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_relay_loc_conf_t, conceal),
      NULL },

    { ngx_string("relay_receipts"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_relay_set_enum,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_relay_loc_conf_t, receipts),
      &ngx_http_relay_receipts },

    { ngx_string("relay_receipt_ip"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_relay_loc_conf_t, receipt_ip),
      NULL },

    { ngx_string("relay_dry_run"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_relay_loc_conf_t, dry_run),
      NULL },

    { ngx_string("relay_consistency"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_relay_set_enum,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_relay_loc_conf_t, consistency),
      &ngx_http_relay_consistencies },

    { ngx_string("relay_block_bound"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_msec_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_relay_loc_conf_t, block_bound),
      NULL },

    { ngx_string("relay_sign_in"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_relay_set_sign_in,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

      ngx_null_command
};


static ngx_http_module_t  ngx_http_relay_module_ctx = {
    ngx_http_relay_preconfiguration,       /* preconfiguration */
    ngx_http_relay_init,                   /* postconfiguration */

    ngx_http_relay_create_main_conf,       /* create main configuration */
    NULL,                                  /* init main configuration */

    NULL,                                  /* create server configuration */
    NULL,                                  /* merge server configuration */

    ngx_http_relay_create_loc_conf,        /* create location configuration */
    ngx_http_relay_merge_loc_conf          /* merge location configuration */
};


ngx_module_t  ngx_http_relay_module = {
    NGX_MODULE_V1,
    &ngx_http_relay_module_ctx,            /* module context */
    ngx_http_relay_commands,               /* module directives */
    NGX_HTTP_MODULE,                       /* module type */
    NULL,                                  /* init master */
    NULL,                                  /* init module */
    ngx_http_relay_init_process,           /* init process */
    NULL,                                  /* init thread */
    NULL,                                  /* exit thread */
    ngx_http_relay_exit_process,           /* exit process */
    NULL,                                  /* exit master */
    NGX_MODULE_V1_PADDING
};


/*
 * An internal redirect wipes the contexts of all modules.  The cleanup of the
 * pool is still there; subrequests share the pool, so that each looks for its
 * own.
 */

ngx_http_relay_ctx_t *
ngx_http_relay_get_ctx(ngx_http_request_t *r)
{
    ngx_pool_cleanup_t    *cln;
    ngx_http_relay_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_relay_module);

    if (ctx != NULL) {
        return ctx;
    }

    for (cln = r->pool->cleanup; cln; cln = cln->next) {

        if (cln->handler != ngx_http_relay_cleanup) {
            continue;
        }

        ctx = cln->data;

        if (ctx->request == r) {
            ngx_http_set_ctx(r, ctx, ngx_http_relay_module);
            return ctx;
        }
    }

    return NULL;
}


ngx_http_relay_ctx_t *
ngx_http_relay_create_ctx(ngx_http_request_t *r)
{
    ngx_pool_cleanup_t    *cln;
    ngx_http_relay_ctx_t  *ctx;

    cln = ngx_pool_cleanup_add(r->pool, sizeof(ngx_http_relay_ctx_t));
    if (cln == NULL) {
        return NULL;
    }

    ctx = cln->data;

    ngx_memzero(ctx, sizeof(ngx_http_relay_ctx_t));

    ctx->request = r;

    cln->handler = ngx_http_relay_cleanup;

    ngx_http_set_ctx(r, ctx, ngx_http_relay_module);

    return ctx;
}


static void *
ngx_http_relay_create_main_conf(ngx_conf_t *cf)
{
    ngx_http_relay_main_conf_t  *conf;

    conf = ngx_pcalloc(cf->pool, sizeof(ngx_http_relay_main_conf_t));
    if (conf == NULL) {
        return NULL;
    }

    /*
     * set by ngx_pcalloc():
     *
     *     conf->zone = NULL;
     *     conf->metrics = NULL;
     *     conf->policies = NULL;
     *     conf->packet = NULL;
     *     conf->process = { 0, NULL };
     *     conf->sequence = 0;
     *     conf->enabled = 0;
     */

    if (ngx_array_init(&conf->redis, cf->pool, 2,
                       sizeof(ngx_http_relay_redis_conf_t *))
        != NGX_OK)
    {
        return NULL;
    }

    if (ngx_array_init(&conf->jwks, cf->pool, 1,
                       sizeof(ngx_http_relay_jwks_conf_t *))
        != NGX_OK)
    {
        return NULL;
    }

    return conf;
}


static void *
ngx_http_relay_create_loc_conf(ngx_conf_t *cf)
{
    ngx_http_relay_loc_conf_t  *conf;

    conf = ngx_pcalloc(cf->pool, sizeof(ngx_http_relay_loc_conf_t));
    if (conf == NULL) {
        return NULL;
    }

    /*
     * set by ngx_pcalloc():
     *
     *     conf->prefix = { 0, NULL };
     *     conf->metrics = NGX_HTTP_RELAY_METRICS_OFF;  (not inherited)
     *     conf->sign_in = { 0, NULL };
     */

    conf->link = NGX_CONF_UNSET_PTR;
    conf->redis = NGX_CONF_UNSET_PTR;
    conf->jwt = NGX_CONF_UNSET_PTR;
    conf->vouched = NGX_CONF_UNSET_PTR;
    conf->packet = NGX_CONF_UNSET_PTR;
    conf->accept = NGX_CONF_UNSET_UINT;
    conf->anyone_view = NGX_CONF_UNSET_UINT;
    conf->view = NGX_CONF_UNSET_UINT;
    conf->receipts = NGX_CONF_UNSET_UINT;
    conf->safety = NGX_CONF_UNSET_UINT;
    conf->consistency = NGX_CONF_UNSET_UINT;
    conf->block_bound = NGX_CONF_UNSET_MSEC;
    conf->package = NGX_CONF_UNSET;
    conf->bind_subject = NGX_CONF_UNSET;
    conf->conceal = NGX_CONF_UNSET;
    conf->receipt_ip = NGX_CONF_UNSET;
    conf->dry_run = NGX_CONF_UNSET;

    return conf;
}


static char *
ngx_http_relay_merge_loc_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_http_relay_loc_conf_t *prev = parent;
    ngx_http_relay_loc_conf_t *conf = child;

    ngx_flag_t  package;

    package = conf->package;

    ngx_conf_merge_ptr_value(conf->link, prev->link, NULL);
    ngx_conf_merge_ptr_value(conf->redis, prev->redis, NULL);
    ngx_conf_merge_str_value(conf->prefix, prev->prefix, RELAY_KEYS_PREFIX);
    ngx_conf_merge_ptr_value(conf->jwt, prev->jwt, NULL);
    ngx_conf_merge_ptr_value(conf->vouched, prev->vouched, NULL);
    ngx_conf_merge_ptr_value(conf->packet, prev->packet, NULL);
    ngx_conf_merge_uint_value(conf->accept, prev->accept, RELAY_ACCEPT_AUTO);
    ngx_conf_merge_uint_value(conf->anyone_view, prev->anyone_view,
                              RELAY_VIEW_LINK);
    ngx_conf_merge_uint_value(conf->view, prev->view, RELAY_VIEW_NONE);
    ngx_conf_merge_uint_value(conf->receipts, prev->receipts,
                              NGX_HTTP_RELAY_RECEIPTS_ALL);
    ngx_conf_merge_uint_value(conf->safety, prev->safety,
                              NGX_HTTP_RELAY_SAFETY_ANNOTATE);
    ngx_conf_merge_uint_value(conf->consistency, prev->consistency, 0);
    ngx_conf_merge_msec_value(conf->block_bound, prev->block_bound, 1000);
    ngx_conf_merge_value(conf->package, prev->package, 0);
    ngx_conf_merge_value(conf->bind_subject, prev->bind_subject, 0);
    ngx_conf_merge_value(conf->conceal, prev->conceal, 0);
    ngx_conf_merge_value(conf->receipt_ip, prev->receipt_ip, 0);
    ngx_conf_merge_value(conf->dry_run, prev->dry_run, 0);
    ngx_conf_merge_str_value(conf->sign_in, prev->sign_in, "");

    return ngx_http_relay_check_loc_conf(cf, conf, package);
}


/* What does not fit together; package is relay_package as set at this level. */

static char *
ngx_http_relay_check_loc_conf(ngx_conf_t *cf, ngx_http_relay_loc_conf_t *conf,
    ngx_flag_t package)
{
    ngx_str_t                   *name;
    const char                  *level;
    ngx_http_core_srv_conf_t    *cscf;
    ngx_http_core_loc_conf_t    *clcf;
    ngx_http_relay_main_conf_t  *rmcf;

    cscf = ngx_http_conf_get_module_srv_conf(cf, ngx_http_core_module);
    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if (clcf->name.len) {
        level = "location";
        name = &clcf->name;

    } else {
        level = "server";
        name = &cscf->server_name;
    }

    if (conf->link == NULL) {

        /* a server may leave the link to its locations */

        if (package == 1 && clcf->name.len) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"relay_package\" in %s \"%V\" serves nothing "
                               "without \"relay_link\": set it there",
                               level, name);
            return NGX_CONF_ERROR;
        }

        return NGX_CONF_OK;
    }

    if (conf->redis == NULL) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"relay_link\" in %s \"%V\" requires "
                           "\"relay_redis\": name the server of the records, "
                           "or set \"relay_link off\"", level, name);
        return NGX_CONF_ERROR;
    }

    if (conf->jwt == NULL && conf->vouched == NULL) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"relay_link\" in %s \"%V\" could identify "
                           "nobody: set \"relay_jwt_keys\" or "
                           "\"relay_identity\", or \"relay_link off\"",
                           level, name);
        return NGX_CONF_ERROR;
    }

    if (conf->package && conf->dry_run) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"relay_dry_run on\" in %s \"%V\" would let "
                           "\"relay_package\" serve a relay to anybody: "
                           "set one of them off", level, name);
        return NGX_CONF_ERROR;
    }

    if (!conf->package && !conf->dry_run) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"relay_link\" in %s \"%V\" guards relays "
                           "from the store only: set \"relay_package on\", "
                           "\"relay_dry_run on\", or \"relay_link off\"",
                           level, name);
        return NGX_CONF_ERROR;
    }

    rmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_relay_module);

    rmcf->enabled = 1;

    if (!conf->package) {
        return NGX_CONF_OK;
    }

    if (clcf->handler != NULL
        && clcf->handler != ngx_http_relay_content_handler)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"relay_package\" in %s \"%V\" stands beside "
                           "another content handler (as \"proxy_pass\" is): "
                           "remove that, or set \"relay_package off\"",
                           level, name);
        return NGX_CONF_ERROR;
    }

    clcf->handler = ngx_http_relay_content_handler;

    return NGX_CONF_OK;
}


static char *
ngx_http_relay_set_redis(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_relay_loc_conf_t *rlcf = conf;

    ngx_uint_t                     i;
    ngx_http_relay_main_conf_t    *rmcf;
    ngx_http_relay_redis_conf_t   *redis, **known;

    if (rlcf->redis != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    redis = ngx_http_relay_redis_parse(cf, cf->args->elts, cf->args->nelts);
    if (redis == NULL) {
        return NGX_CONF_ERROR;
    }

    rmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_relay_module);

    /* locations that say the same share a connection */

    known = rmcf->redis.elts;

    for (i = 0; i < rmcf->redis.nelts; i++) {

        if (ngx_http_relay_redis_same(known[i], redis)) {
            rlcf->redis = known[i];
            return NGX_CONF_OK;
        }
    }

    known = ngx_array_push(&rmcf->redis);
    if (known == NULL) {
        return NGX_CONF_ERROR;
    }

    *known = redis;
    rlcf->redis = redis;

    return NGX_CONF_OK;
}


static ngx_uint_t
ngx_http_relay_redis_same(ngx_http_relay_redis_conf_t *a,
    ngx_http_relay_redis_conf_t *b)
{
    return relay_str_eq(&a->url, &b->url)
           && relay_str_eq(&a->user, &b->user)
           && relay_str_eq(&a->password, &b->password)
           && a->durability == b->durability
           && a->db == b->db
           && a->connect_timeout == b->connect_timeout
           && a->command_timeout == b->command_timeout
           && a->backoff_cap == b->backoff_cap
           && a->queue == b->queue
           && a->reply_max == b->reply_max;
}


static char *
ngx_http_relay_set_zone(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_relay_main_conf_t *rmcf = conf;

    u_char     *p;
    ssize_t     size;
    ngx_str_t  *value, name, s;

    if (rmcf->zone != NULL) {
        return "is duplicate";
    }

    value = cf->args->elts;

    p = ngx_strlchr(value[1].data, value[1].data + value[1].len, ':');

    if (p == NULL || p == value[1].data) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid zone \"%V\": write it as name:size",
                           &value[1]);
        return NGX_CONF_ERROR;
    }

    name.data = value[1].data;
    name.len = p - value[1].data;

    s.data = p + 1;
    s.len = value[1].data + value[1].len - s.data;

    size = ngx_parse_size(&s);

    if (size == NGX_ERROR) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid size in zone \"%V\"", &value[1]);
        return NGX_CONF_ERROR;
    }

    if (size < (ssize_t) (8 * ngx_pagesize)) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "zone \"%V\" is too small: %uzk is the least",
                           &value[1], (size_t) (8 * ngx_pagesize / 1024));
        return NGX_CONF_ERROR;
    }

    rmcf->zone = ngx_shared_memory_add(cf, &name, size,
                                       &ngx_http_relay_module);
    if (rmcf->zone == NULL) {
        return NGX_CONF_ERROR;
    }

    rmcf->zone->init = ngx_http_relay_cache_init_zone;

    return NGX_CONF_OK;
}


static char *
ngx_http_relay_set_link(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_relay_loc_conf_t *rlcf = conf;

    ngx_str_t  *value;

    if (rlcf->link != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (ngx_strcmp(value[1].data, "off") == 0) {
        rlcf->link = NULL;
        return NGX_CONF_OK;
    }

    if (value[1].len == 0) {
        return "requires the link token, or \"off\"";
    }

    rlcf->link = ngx_http_relay_complex_value(cf, &value[1]);
    if (rlcf->link == NULL) {
        return NGX_CONF_ERROR;
    }

    if (rlcf->link->lengths == NULL) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"relay_link %V\" is the same for every request: "
                           "it must hold a variable, as in \"relay_link "
                           "$relay_token\"", &value[1]);
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


static char *
ngx_http_relay_set_identity(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_relay_loc_conf_t *rlcf = conf;

    ngx_str_t                  *value, s;
    ngx_uint_t                  i;
    ngx_http_relay_param_t     *param;
    ngx_http_relay_vouched_t   *vouched;
    ngx_http_complex_value_t  **cv;

    if (rlcf->vouched != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (cf->args->nelts == 2 && ngx_strcmp(value[1].data, "off") == 0) {
        rlcf->vouched = NULL;
        return NGX_CONF_OK;
    }

    vouched = ngx_pcalloc(cf->pool, sizeof(ngx_http_relay_vouched_t));
    if (vouched == NULL) {
        return NGX_CONF_ERROR;
    }

    for (i = 1; i < cf->args->nelts; i++) {

        if (ngx_strcmp(value[i].data, "email_trust=on") == 0) {
            vouched->email_trusted = 1;
            continue;
        }

        if (ngx_strcmp(value[i].data, "email_trust=off") == 0) {
            vouched->email_trusted = 0;
            continue;
        }

        for (param = ngx_http_relay_identity_params; param->name.len; param++) {

            if (value[i].len > param->name.len
                && ngx_strncmp(value[i].data, param->name.data,
                               param->name.len)
                   == 0)
            {
                break;
            }
        }

        if (param->name.len == 0) {
            goto invalid;
        }

        cv = (ngx_http_complex_value_t **) ((char *) vouched + param->offset);

        if (*cv != NULL) {
            goto invalid;
        }

        s.data = value[i].data + param->name.len;
        s.len = value[i].len - param->name.len;

        *cv = ngx_http_relay_complex_value(cf, &s);
        if (*cv == NULL) {
            return NGX_CONF_ERROR;
        }
    }

    if (vouched->issuer == NULL) {
        return "requires \"issuer=\": a constant that tells this source of "
               "identities from others";
    }

    if (vouched->subject == NULL) {
        return "requires \"subject=\": the variable that names the reader";
    }

    rlcf->vouched = vouched;

    return NGX_CONF_OK;

invalid:

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "invalid parameter \"%V\" in \"relay_identity\": it is "
                       "one of \"issuer=\", \"subject=\", \"email=\", "
                       "\"email_verified=\", \"name=\" and "
                       "\"email_trust=on\" or \"email_trust=off\"",
                       &value[i]);

    return NGX_CONF_ERROR;
}


/* As ngx_conf_set_enum_slot(), and says what it takes. */

static char *
ngx_http_relay_set_enum(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    char  *p = conf;

    u_char            text[NGX_HTTP_RELAY_ENUM_MAX], *last;
    ngx_str_t        *value;
    ngx_uint_t       *np;
    ngx_conf_enum_t  *e;

    np = (ngx_uint_t *) (p + cmd->offset);

    if (*np != NGX_CONF_UNSET_UINT) {
        return "is duplicate";
    }

    value = cf->args->elts;
    last = text;

    for (e = cmd->post; e->name.len; e++) {

        if (e->name.len == value[1].len
            && ngx_strcasecmp(e->name.data, value[1].data) == 0)
        {
            *np = e->value;
            return NGX_CONF_OK;
        }

        last = ngx_slprintf(last, text + sizeof(text), "%s\"%V\"",
                            e == cmd->post ? ""
                            : e[1].name.len ? ", " : " or ", &e->name);
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "invalid value \"%V\" in \"%V\": it takes %*s",
                       &value[1], &cmd->name, (size_t) (last - text), text);

    return NGX_CONF_ERROR;
}


static char *
ngx_http_relay_set_sign_in(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_relay_loc_conf_t *rlcf = conf;

    size_t      i;
    ngx_str_t  *value;

    if (rlcf->sign_in.data != NULL) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (ngx_strcmp(value[1].data, "off") == 0) {
        ngx_str_set(&rlcf->sign_in, "");
        return NGX_CONF_OK;
    }

    if (ngx_strncmp(value[1].data, "https://", 8) != 0
        && ngx_strncmp(value[1].data, "http://", 7) != 0
        && (value[1].data[0] != '/' || value[1].data[1] == '/'))
    {
        goto invalid;
    }

    for (i = 0; i < value[1].len; i++) {

        if (value[1].data[i] <= 0x20 || value[1].data[i] >= 0x7f) {
            goto invalid;
        }
    }

    rlcf->sign_in = value[1];

    return NGX_CONF_OK;

invalid:

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "invalid URL \"%V\" in \"relay_sign_in\": it starts "
                       "with \"https://\", \"http://\" or \"/\" and is "
                       "percent-encoded", &value[1]);

    return NGX_CONF_ERROR;
}


/* The hash tag of a key is the relay's: the prefix must not bring another. */

static char *
ngx_http_relay_check_prefix(ngx_conf_t *cf, void *post, void *data)
{
    ngx_str_t *prefix = data;

    if (relay_prefix_check(ngx_http_relay_str(prefix)) != RELAY_OK) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid prefix \"%V\" in \"relay_prefix\": "
                           RELAY_KEYS_PREFIX_SYNTAX, prefix);
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


static ngx_http_complex_value_t *
ngx_http_relay_complex_value(ngx_conf_t *cf, ngx_str_t *value)
{
    ngx_http_complex_value_t          *cv;
    ngx_http_compile_complex_value_t   ccv;

    cv = ngx_pcalloc(cf->pool, sizeof(ngx_http_complex_value_t));
    if (cv == NULL) {
        return NULL;
    }

    ngx_memzero(&ccv, sizeof(ngx_http_compile_complex_value_t));

    ccv.cf = cf;
    ccv.value = value;
    ccv.complex_value = cv;

    if (ngx_http_compile_complex_value(&ccv) != NGX_OK) {
        return NULL;
    }

    return cv;
}


static ngx_int_t
ngx_http_relay_preconfiguration(ngx_conf_t *cf)
{
    return ngx_http_relay_add_variables(cf);
}


/*
 * Handlers of a phase run last registered first: this module stands behind
 * those of nginx itself, so that nothing logs before PREACCESS has redacted,
 * and nothing in PRECONTENT answers before the decision.
 */

static ngx_int_t
ngx_http_relay_init(ngx_conf_t *cf)
{
    ngx_uint_t                   i;
    ngx_http_handler_pt         *h;
    ngx_http_relay_phase_t      *phase;
    ngx_http_core_main_conf_t   *cmcf;
    ngx_http_relay_main_conf_t  *rmcf;

    rmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_relay_module);

    if (!rmcf->enabled) {
        return NGX_OK;
    }

    cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);

    phase = ngx_http_relay_phases;

    for (i = 0;
         i < sizeof(ngx_http_relay_phases) / sizeof(ngx_http_relay_phase_t);
         i++)
    {
        h = ngx_array_push(&cmcf->phases[phase[i].phase].handlers);
        if (h == NULL) {
            return NGX_ERROR;
        }

        *h = phase[i].handler;
    }

    if (ngx_http_relay_metrics_init(cf, rmcf) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_relay_init_policies(cf, rmcf);
}


/* One view policy for each document type. */

static ngx_int_t
ngx_http_relay_init_policies(ngx_conf_t *cf, ngx_http_relay_main_conf_t *rmcf)
{
    ngx_uint_t             i, n;
    relay_buf_t            err;
    const relay_str_t     *text;
    ngx_pool_cleanup_t    *cln;
    relay_view_policy_t  **policy;

    static const char  *schemas[] = {
        RELAY_PACKAGE_SCHEMA,
        RELAY_PACKET_SCHEMA
    };

    n = sizeof(schemas) / sizeof(schemas[0]);

    rmcf->policies = ngx_array_create(cf->pool, n,
                                      sizeof(relay_view_policy_t *));
    if (rmcf->policies == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < n; i++) {

        text = relay_view_policy_text(schemas[i]);

        if (text == NULL) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "no view policy of \"%s\" is built in",
                               schemas[i]);
            return NGX_ERROR;
        }

        policy = ngx_array_push(rmcf->policies);
        cln = ngx_pool_cleanup_add(cf->pool, 0);

        if (policy == NULL || cln == NULL) {
            return NGX_ERROR;
        }

        relay_buf_init(&err, NGX_HTTP_RELAY_ERROR_MAX);

        *policy = relay_view_compile(text, &err);

        if (*policy == NULL) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "the view policy of \"%s\" cannot be used: %*s",
                               schemas[i], err.len, err.data);
        }

        relay_buf_free(&err);

        if (*policy == NULL) {
            return NGX_ERROR;
        }

        cln->handler = ngx_http_relay_policy_cleanup;
        cln->data = *policy;
    }

    return ngx_http_relay_packet_init(cf, rmcf);
}


static void
ngx_http_relay_policy_cleanup(void *data)
{
    relay_view_policy_free(data);
}


static ngx_int_t
ngx_http_relay_init_process(ngx_cycle_t *cycle)
{
    ngx_uint_t                     i;
    ngx_http_relay_jwks_conf_t   **jwks;
    ngx_http_relay_main_conf_t    *rmcf;
    ngx_http_relay_redis_conf_t  **redis;

    /* the cache manager and loader serve nobody */

    if (ngx_process != NGX_PROCESS_WORKER && ngx_process != NGX_PROCESS_SINGLE)
    {
        return NGX_OK;
    }

    rmcf = ngx_http_cycle_get_module_main_conf(cycle, ngx_http_relay_module);

    if (rmcf == NULL || !rmcf->enabled) {
        return NGX_OK;
    }

    if (ngx_http_relay_process_name(cycle, &rmcf->process) != NGX_OK) {
        return NGX_ERROR;
    }

    redis = rmcf->redis.elts;

    for (i = 0; i < rmcf->redis.nelts; i++) {

        redis[i]->decisions = ngx_http_relay_redis_create(cycle, redis[i]);
        redis[i]->documents = ngx_http_relay_redis_create(cycle, redis[i]);

        if (redis[i]->decisions == NULL || redis[i]->documents == NULL) {
            return NGX_ERROR;
        }
    }

    jwks = rmcf->jwks.elts;

    for (i = 0; i < rmcf->jwks.nelts; i++) {

        jwks[i]->jwks = ngx_http_relay_jwks_create(cycle, jwks[i]);

        if (jwks[i]->jwks == NULL) {
            return NGX_ERROR;
        }
    }

    if (ngx_http_relay_jwt_init_process(cycle) != NGX_OK
        || ngx_http_relay_records_init_process(cycle) != NGX_OK
        || ngx_http_relay_cache_init_process(cycle) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_relay_receipt_init_process(cycle);
}


/*
 * What no other process of any edge is called: the host, its boot, and the
 * start and pid within that boot.
 */

static ngx_int_t
ngx_http_relay_process_name(ngx_cycle_t *cycle, ngx_str_t *name)
{
    u_char      *p, c;
    size_t       i, len;
    ngx_time_t  *tp;

    len = ngx_min(cycle->hostname.len, NGX_HTTP_RELAY_HOSTNAME_MAX);

    name->data = ngx_pnalloc(cycle->pool, NGX_HTTP_RELAY_HOSTNAME_MAX + 1
                                          + NGX_HTTP_RELAY_BOOT_LEN + 1
                                          + NGX_INT64_LEN + 1 + NGX_INT64_LEN);
    if (name->data == NULL) {
        return NGX_ERROR;
    }

    p = name->data;

    for (i = 0; i < len; i++) {
        c = cycle->hostname.data[i];

        *p++ = ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
                || (c >= '0' && c <= '9') || c == '.' || c == '_')
               ? c : '-';
    }

    *p++ = '-';

    p = ngx_http_relay_boot(cycle, p);

    ngx_time_update();
    tp = ngx_timeofday();

    p = ngx_sprintf(p, "-%L-%P", (int64_t) tp->sec * 1000 + tp->msec, ngx_pid);

    name->len = p - name->data;

    return NGX_OK;
}


/* The first digits of the boot's random id; zeros where there is no /proc. */

static u_char *
ngx_http_relay_boot(ngx_cycle_t *cycle, u_char *p)
{
    u_char      buf[NGX_HTTP_RELAY_BOOT_LEN];
    ssize_t     n, i;
    ngx_fd_t    fd;

    n = 0;

    fd = ngx_open_file((u_char *) NGX_HTTP_RELAY_BOOT_ID, NGX_FILE_RDONLY,
                       NGX_FILE_OPEN, 0);

    if (fd != NGX_INVALID_FILE) {
        n = ngx_read_fd(fd, buf, NGX_HTTP_RELAY_BOOT_LEN);

        if (ngx_close_file(fd) == NGX_FILE_ERROR) {
            ngx_log_error(NGX_LOG_ALERT, cycle->log, ngx_errno,
                          ngx_close_file_n " \"%s\" failed",
                          NGX_HTTP_RELAY_BOOT_ID);
        }
    }

    if (n == NGX_HTTP_RELAY_BOOT_LEN) {

        for (i = 0; i < n; i++) {

            if (!((buf[i] >= '0' && buf[i] <= '9')
                  || (buf[i] >= 'a' && buf[i] <= 'f')))
            {
                n = 0;
            }
        }
    }

    if (n != NGX_HTTP_RELAY_BOOT_LEN) {
        ngx_memset(buf, '0', NGX_HTTP_RELAY_BOOT_LEN);
    }

    return ngx_cpymem(p, buf, NGX_HTTP_RELAY_BOOT_LEN);
}


/* Receipts first: what they still submit is failed, and so logged, by close. */

static void
ngx_http_relay_exit_process(ngx_cycle_t *cycle)
{
    ngx_uint_t                     i;
    ngx_http_relay_jwks_conf_t   **jwks;
    ngx_http_relay_main_conf_t    *rmcf;
    ngx_http_relay_redis_conf_t  **redis;

    rmcf = ngx_http_cycle_get_module_main_conf(cycle, ngx_http_relay_module);

    if (rmcf == NULL || rmcf->process.len == 0) {
        /* never started here */
        return;
    }

    ngx_http_relay_receipt_exit_process(cycle);

    redis = rmcf->redis.elts;

    for (i = 0; i < rmcf->redis.nelts; i++) {

        if (redis[i]->decisions != NULL) {
            ngx_http_relay_redis_close(redis[i]->decisions);
            redis[i]->decisions = NULL;
        }

        if (redis[i]->documents != NULL) {
            ngx_http_relay_redis_close(redis[i]->documents);
            redis[i]->documents = NULL;
        }
    }

    jwks = rmcf->jwks.elts;

    for (i = 0; i < rmcf->jwks.nelts; i++) {

        if (jwks[i]->jwks != NULL) {
            ngx_http_relay_jwks_close(jwks[i]->jwks);
            jwks[i]->jwks = NULL;
        }
    }

    ngx_http_relay_jwt_exit_process(cycle);
    ngx_http_relay_records_exit_process(cycle);
    ngx_http_relay_cache_exit_process(cycle);
}
