
/*
 * The request as the rest of nginx may see it: without the link token, without
 * what would make a part or an oracle of the answer.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_http_relay_module.h"


static ngx_uint_t ngx_http_relay_mask(u_char *p, size_t len,
    ngx_str_t *token);
static void ngx_http_relay_mask_target(ngx_str_t *line);
static ngx_int_t ngx_http_relay_remove_header(ngx_http_request_t *r,
    ngx_str_t *name);
static ngx_uint_t ngx_http_relay_contains(ngx_str_t *value, char *word);
static ngx_uint_t ngx_http_relay_same_origin(ngx_http_request_t *r,
    ngx_str_t *origin);


static ngx_str_t  ngx_http_relay_removed[] = {
    ngx_string("Range"),
    ngx_string("If-Range"),
    ngx_string("If-Match"),
    ngx_string("If-None-Match"),
    ngx_string("If-Modified-Since"),
    ngx_string("If-Unmodified-Since"),
    ngx_string("Accept-Encoding"),
    ngx_string("Upgrade"),
    ngx_string("TE"),
    ngx_null_string
};


void
ngx_http_relay_redact(ngx_http_request_t *r, ngx_str_t *token)
{
    ngx_uint_t        n;
    ngx_table_elt_t  *h;

    /* the two may be the same bytes */

    n = ngx_http_relay_mask(r->request_line.data, r->request_line.len, token);
    n += ngx_http_relay_mask(r->unparsed_uri.data, r->unparsed_uri.len, token);

    /* a subrequest has its target from its parent: it names no token of ours */

    if (n == 0 && r == r->main) {
        ngx_http_relay_mask_target(&r->request_line);
        ngx_memset(r->unparsed_uri.data, '*', r->unparsed_uri.len);
    }

    (void) ngx_http_relay_mask(r->uri.data, r->uri.len, token);
    (void) ngx_http_relay_mask(r->args.data, r->args.len, token);
    (void) ngx_http_relay_mask(r->exten.data, r->exten.len, token);

    h = r->headers_in.referer;

    if (h != NULL) {
        (void) ngx_http_relay_mask(h->value.data, h->value.len, token);
    }
}


static ngx_uint_t
ngx_http_relay_mask(u_char *p, size_t len, ngx_str_t *token)
{
    u_char      *last;
    ngx_uint_t   n;

    if (token->len == 0 || len < token->len) {
        return 0;
    }

    n = 0;
    last = p + len - token->len;

    while (p <= last) {

        if (*p == token->data[0]
            && ngx_memcmp(p, token->data, token->len) == 0)
        {
            ngx_memset(p, '*', token->len);
            p += token->len;
            n++;
            continue;
        }

        p++;
    }

    return n;
}


/* The token stands there in another spelling: nothing of the target stays. */

static void
ngx_http_relay_mask_target(ngx_str_t *line)
{
    u_char  *p, *last;

    p = line->data;
    last = line->data + line->len;

    while (p < last && *p != ' ') {
        p++;
    }

    while (p < last && *p == ' ') {
        p++;
    }

    while (p < last && *p != ' ') {
        *p++ = '*';
    }
}


ngx_int_t
ngx_http_relay_sanitize(ngx_http_request_t *r)
{
    ngx_uint_t  i;

    for (i = 0; ngx_http_relay_removed[i].len; i++) {
        if (ngx_http_relay_remove_header(r, &ngx_http_relay_removed[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    r->headers_in.range = NULL;
    r->headers_in.if_range = NULL;
    r->headers_in.if_match = NULL;
    r->headers_in.if_none_match = NULL;
    r->headers_in.if_modified_since = NULL;
    r->headers_in.if_unmodified_since = NULL;
    r->headers_in.upgrade = NULL;
    r->headers_in.te = NULL;

#if (NGX_HTTP_GZIP)
    r->headers_in.accept_encoding = NULL;
    r->gzip_tested = 1;
    r->gzip_ok = 0;
#endif

    r->allow_ranges = 0;

    return NGX_OK;
}


/*
 * Takes every header of this name out of the list.  Elements stay where they
 * are, since headers_in points at them: a part is cut short or split in two.
 */

static ngx_int_t
ngx_http_relay_remove_header(ngx_http_request_t *r, ngx_str_t *name)
{
    ngx_uint_t        i;
    ngx_list_t       *list;
    ngx_list_part_t  *part, *tail;
    ngx_table_elt_t  *h;

    list = &r->headers_in.headers;
    part = &list->part;
    i = 0;

    for ( ;; ) {

        if (i >= part->nelts) {

            if (part->next == NULL) {
                return NGX_OK;
            }

            part = part->next;
            i = 0;
            continue;
        }

        h = part->elts;

        if (h[i].key.len != name->len
            || ngx_strncasecmp(h[i].key.data, name->data, name->len) != 0)
        {
            i++;
            continue;
        }

        if (i == part->nelts - 1) {
            part->nelts--;
            continue;
        }

        /* the rest becomes a part of its own, which is full */

        tail = ngx_palloc(r->pool, sizeof(ngx_list_part_t));
        if (tail == NULL) {
            return NGX_ERROR;
        }

        tail->elts = &h[i + 1];
        tail->nelts = part->nelts - i - 1;
        tail->next = part->next;

        if (list->last == part) {
            list->last = tail;
            list->nalloc = tail->nelts;
        }

        part->nelts = i;
        part->next = tail;

        part = tail;
        i = 0;
    }
}


ngx_str_t *
ngx_http_relay_header_in(ngx_http_request_t *r, const char *name)
{
    size_t            len;
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    len = ngx_strlen(name);
    part = &r->headers_in.headers.part;

    while (part != NULL) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {
            if (h[i].key.len == len
                && ngx_strncasecmp(h[i].key.data, (u_char *) name, len) == 0)
            {
                return &h[i].value;
            }
        }

        part = part->next;
    }

    return NULL;
}


relay_reason_e
ngx_http_relay_request_check(ngx_http_request_t *r, ngx_uint_t ambient)
{
    ngx_str_t  *value;

    value = ngx_http_relay_header_in(r, "Early-Data");

    if (value != NULL && value->len == 1 && value->data[0] == '1') {
        return RELAY_REASON_EARLY_DATA;
    }

#if (NGX_HTTP_SSL && defined SSL_READ_EARLY_DATA_SUCCESS)

    if (r->connection->ssl != NULL
        && !SSL_is_init_finished(r->connection->ssl->connection))
    {
        return RELAY_REASON_EARLY_DATA;
    }

#endif

    if (ngx_http_relay_contains(ngx_http_relay_header_in(r, "Sec-Purpose"),
                                "prefetch")
        || ngx_http_relay_contains(ngx_http_relay_header_in(r, "Sec-Purpose"),
                                   "prerender")
        || ngx_http_relay_contains(ngx_http_relay_header_in(r, "Purpose"),
                                   "prefetch")
        || ngx_http_relay_contains(ngx_http_relay_header_in(r, "X-Purpose"),
                                   "preview")
        || ngx_http_relay_contains(ngx_http_relay_header_in(r, "X-Moz"),
                                   "prefetch"))
    {
        return RELAY_REASON_PREFETCH;
    }

    if (!ambient) {
        return RELAY_REASON_UNDECIDED;
    }

    value = ngx_http_relay_header_in(r, "Sec-Fetch-Site");

    if (value != NULL) {

        if (value->len == sizeof("same-origin") - 1
            && ngx_strncmp(value->data, "same-origin", value->len) == 0)
        {
            return RELAY_REASON_UNDECIDED;
        }

        if (value->len == sizeof("none") - 1
            && ngx_strncmp(value->data, "none", value->len) == 0)
        {
            return RELAY_REASON_UNDECIDED;
        }

        if (r->method != NGX_HTTP_POST
            && value->len == sizeof("same-site") - 1
            && ngx_strncmp(value->data, "same-site", value->len) == 0)
        {
            return RELAY_REASON_UNDECIDED;
        }

        return RELAY_REASON_CROSS_SITE;
    }

    /* a browser without Sec-Fetch-Site names the origin of a POST */

    value = ngx_http_relay_header_in(r, "Origin");

    if (value != NULL && !ngx_http_relay_same_origin(r, value)) {
        return RELAY_REASON_CROSS_SITE;
    }

    return RELAY_REASON_UNDECIDED;
}


static ngx_uint_t
ngx_http_relay_contains(ngx_str_t *value, char *word)
{
    return value != NULL
           && ngx_strlcasestrn(value->data, value->data + value->len,
                               (u_char *) word, ngx_strlen(word) - 1)
              != NULL;
}


static ngx_uint_t
ngx_http_relay_same_origin(ngx_http_request_t *r, ngx_str_t *origin)
{
    u_char     *p;
    ngx_str_t   host;

    if (r->headers_in.host == NULL) {
        return 0;
    }

    p = ngx_strlchr(origin->data, origin->data + origin->len, ':');

    if (p == NULL || origin->data + origin->len - p < 4
        || p[1] != '/' || p[2] != '/')
    {
        return 0;
    }

    host.data = p + 3;
    host.len = origin->data + origin->len - host.data;

    return host.len == r->headers_in.host->value.len
           && ngx_strncasecmp(host.data, r->headers_in.host->value.data,
                              host.len)
              == 0;
}


ngx_uint_t
ngx_http_relay_navigation(ngx_http_request_t *r)
{
    ngx_str_t  *value;

    value = ngx_http_relay_header_in(r, "Sec-Fetch-Mode");

    if (value != NULL) {
        return value->len == sizeof("navigate") - 1
               && ngx_strncmp(value->data, "navigate", value->len) == 0;
    }

    return ngx_http_relay_contains(ngx_http_relay_header_in(r, "Accept"),
                                   "text/html");
}
