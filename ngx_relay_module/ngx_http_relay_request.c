
/*
 * The request as the rest of nginx may see it: without the link token, and
 * without what would make a part or an oracle of the answer.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_http_relay_module.h"


static ngx_uint_t ngx_http_relay_elsewhere(ngx_http_request_t *r,
    ngx_str_t *token);
static ngx_str_t ngx_http_relay_target(ngx_str_t *line);
static ngx_uint_t ngx_http_relay_mask(ngx_str_t *text, ngx_str_t *token);
static ngx_uint_t ngx_http_relay_mask_copy(ngx_http_request_t *r,
    ngx_str_t *text, ngx_str_t *token, ngx_uint_t malformed);
static u_char *ngx_http_relay_find(u_char *p, u_char *last, ngx_str_t *token,
    size_t *len);
static size_t ngx_http_relay_spelled(u_char *p, u_char *last,
    ngx_str_t *token);
static void ngx_http_relay_mask_all(ngx_str_t *text);
static ngx_uint_t ngx_http_relay_listed(ngx_str_t *name, ngx_str_t *list);
static ngx_uint_t ngx_http_relay_equal(ngx_str_t *value, const char *word);
static ngx_uint_t ngx_http_relay_contains(ngx_str_t *value, const char *word);
static ngx_uint_t ngx_http_relay_early_data(ngx_http_request_t *r);
static ngx_uint_t ngx_http_relay_speculative(ngx_http_request_t *r);
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


static ngx_str_t  ngx_http_relay_referers[] = {
    ngx_string("Referer"),
    ngx_null_string
};


/* where browsers and scanners say that nobody has asked yet */

static ngx_str_t  ngx_http_relay_purposes[] = {
    ngx_string("Sec-Purpose"),
    ngx_string("Purpose"),
    ngx_string("X-Purpose"),
    ngx_string("X-Moz"),
    ngx_null_string
};


/*
 * A backend behind relay_dry_run gets the request as it came, and logs get
 * another request line; the rest is done before the access log is written.
 */

void
ngx_http_relay_redact(ngx_http_request_t *r, ngx_str_t *token)
{
    ngx_str_t                   line, target;
    ngx_uint_t                  i, malformed;
    ngx_list_part_t            *part;
    ngx_table_elt_t            *h;
    ngx_http_relay_loc_conf_t  *rlcf;

    malformed = (relay_link_parse(ngx_http_relay_str(token)) != RELAY_OK);

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {

            if (!ngx_http_relay_listed(&h[i].key, ngx_http_relay_referers)) {
                continue;
            }

            if (malformed) {
                ngx_http_relay_mask_all(&h[i].value);

            } else {
                (void) ngx_http_relay_mask(&h[i].value, token);
            }
        }
    }

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

    if (!rlcf->dry_run) {
        ngx_http_relay_redact_uri(r, token);
        return;
    }

    line.len = r->request_line.len;
    line.data = ngx_pstrdup(r->pool, &r->request_line);

    if (line.data == NULL) {
        ngx_str_set(&r->request_line, "");
        return;
    }

    r->request_line = line;

    target = ngx_http_relay_target(&line);

    if (target.len < RELAY_TOKEN_MIN
        || (!malformed && ngx_http_relay_mask(&target, token))
        || ngx_http_relay_elsewhere(r, token))
    {
        return;
    }

    ngx_http_relay_mask_all(&target);
}


/*
 * Bytes are overwritten where they are, since captures and values of variables
 * point at them.  After a redirect or in a subrequest URI and arguments may be
 * strings of the configuration: those are copied first.  What is no token may
 * be more or less than one: then nothing stays.
 */

void
ngx_http_relay_redact_uri(ngx_http_request_t *r, ngx_str_t *token)
{
    ngx_str_t   target;
    ngx_uint_t  found, shared, malformed;

    malformed = (relay_link_parse(ngx_http_relay_str(token)) != RELAY_OK);

    if (r->internal) {

        if (ngx_http_relay_mask_copy(r, &r->uri, token, malformed)) {
            ngx_http_set_exten(r);
        }

        (void) ngx_http_relay_mask_copy(r, &r->args, token, malformed);
    }

    /*
     * A shorter target holds no token, and in HTTP/2 it may be a constant of
     * nginx, "/index.html".
     */

    if (r->unparsed_uri.len < RELAY_TOKEN_MIN) {
        return;
    }

    target = ngx_http_relay_target(&r->request_line);

    shared = (r->unparsed_uri.data >= target.data
              && r->unparsed_uri.data < target.data + target.len);

    found = 0;

    if (!malformed) {
        found = ngx_http_relay_mask(&target, token);

        if (!shared) {
            found |= ngx_http_relay_mask(&r->unparsed_uri, token);
        }

        if (!r->internal) {
            found |= ngx_http_relay_mask(&r->uri, token);
            found |= ngx_http_relay_mask(&r->args, token);
        }
    }

    if (found || ngx_http_relay_elsewhere(r, token)) {
        return;
    }

    /* it stands there in another form, in parts perhaps */

    ngx_http_relay_mask_all(&target);

    if (!shared) {
        ngx_http_relay_mask_all(&r->unparsed_uri);
    }

    if (!r->internal) {
        ngx_http_relay_mask_all(&r->uri);
        ngx_http_relay_mask_all(&r->args);
    }
}


/*
 * Whether a token that the target does not show need not be in it: it is a
 * constant, or a header's, or that of a subrequest.
 */

static ngx_uint_t
ngx_http_relay_elsewhere(ngx_http_request_t *r, ngx_str_t *token)
{
    size_t                      len;
    ngx_str_t                  *value;
    ngx_uint_t                  i;
    ngx_list_part_t            *part;
    ngx_table_elt_t            *h;
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

    if (r != r->main || rlcf->link->lengths == NULL) {
        return 1;
    }

    if (token->len == 0 || token->len > RELAY_TOKEN_MAX) {
        return 0;
    }

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {
            value = &h[i].value;

            if (ngx_http_relay_find(value->data, value->data + value->len,
                                    token, &len)
                != NULL)
            {
                return 1;
            }
        }
    }

    return 0;
}


/* What stands between the method and the end of a request line. */

static ngx_str_t
ngx_http_relay_target(ngx_str_t *line)
{
    u_char     *p, *last;
    ngx_str_t   target;

    p = line->data;
    last = line->data + line->len;

    while (p < last && *p != ' ') {
        p++;
    }

    while (p < last && *p == ' ') {
        p++;
    }

    target.data = p;

    while (p < last && *p != ' ') {
        p++;
    }

    target.len = p - target.data;

    return target;
}


/*
 * Masks the token in every spelling: each byte as it is or percent-encoded.
 * The token is well-formed, thus short: the search takes its length times the
 * text's.
 */

static ngx_uint_t
ngx_http_relay_mask(ngx_str_t *text, ngx_str_t *token)
{
    size_t       len;
    u_char      *p, *last;
    ngx_uint_t   found;

    found = 0;

    p = text->data;
    last = text->data + text->len;

    for ( ;; ) {
        p = ngx_http_relay_find(p, last, token, &len);

        if (p == NULL) {
            return found;
        }

        ngx_memset(p, '*', len);

        p += len;
        found = 1;
    }
}


static ngx_uint_t
ngx_http_relay_mask_copy(ngx_http_request_t *r, ngx_str_t *text,
    ngx_str_t *token, ngx_uint_t malformed)
{
    ngx_str_t  copy;

    if (text->len < RELAY_TOKEN_MIN) {
        return 0;
    }

    copy.len = text->len;
    copy.data = ngx_pstrdup(r->pool, text);

    if (copy.data == NULL) {
        ngx_str_set(text, "/");
        return 1;
    }

    if (malformed) {
        ngx_http_relay_mask_all(&copy);

    } else if (!ngx_http_relay_mask(&copy, token)) {
        return 0;
    }

    *text = copy;

    return 1;
}


static u_char *
ngx_http_relay_find(u_char *p, u_char *last, ngx_str_t *token, size_t *len)
{
    for ( /* void */ ; p < last; p++) {
        *len = ngx_http_relay_spelled(p, last, token);

        if (*len != 0) {
            return p;
        }
    }

    return NULL;
}


/* How many bytes at p spell the token, or 0. */

static size_t
ngx_http_relay_spelled(u_char *p, u_char *last, ngx_str_t *token)
{
    u_char  *start;
    size_t   i;

    start = p;

    for (i = 0; i < token->len; i++) {

        if (p == last) {
            return 0;
        }

        if (*p == token->data[i]) {
            p++;
            continue;
        }

        if (*p != '%'
            || last - p < 3
            || ngx_hextoi(p + 1, 2) != (ngx_int_t) token->data[i])
        {
            return 0;
        }

        p += 3;
    }

    return p - start;
}


/* A slash in front stays: it remains a URI. */

static void
ngx_http_relay_mask_all(ngx_str_t *text)
{
    if (text->len > 1 && text->data[0] == '/') {
        ngx_memset(text->data + 1, '*', text->len - 1);

    } else if (text->len) {
        ngx_memset(text->data, '*', text->len);
    }
}


/*
 * The list is built anew: a subrequest shares the elements of its parent, and
 * pointers of headers_in to those that stay are still good.
 */

ngx_int_t
ngx_http_relay_sanitize(ngx_http_request_t *r)
{
    ngx_uint_t                  i, n;
    ngx_list_t                  list;
    ngx_list_part_t            *part;
    ngx_table_elt_t            *h, *elt;
    ngx_http_relay_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_relay_module);

    if (rlcf->dry_run) {
        return NGX_OK;
    }

    n = 1;

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        n += part->nelts;
    }

    if (ngx_list_init(&list, r->pool, n, sizeof(ngx_table_elt_t)) != NGX_OK) {
        return NGX_ERROR;
    }

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {

            if (ngx_http_relay_listed(&h[i].key, ngx_http_relay_removed)) {
                continue;
            }

            elt = ngx_list_push(&list);
            if (elt == NULL) {
                return NGX_ERROR;
            }

            *elt = h[i];
        }
    }

    /* all of it is in the first part, which is a member of the list */

    r->headers_in.headers = list;
    r->headers_in.headers.last = &r->headers_in.headers.part;

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

    return NGX_OK;
}


ngx_str_t *
ngx_http_relay_header_in(ngx_http_request_t *r, const char *name)
{
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {
            if (ngx_http_relay_equal(&h[i].key, name)) {
                return &h[i].value;
            }
        }
    }

    return NULL;
}


relay_reason_e
ngx_http_relay_request_check(ngx_http_request_t *r, ngx_uint_t ambient)
{
    ngx_str_t  *value;

    if (ngx_http_relay_early_data(r)) {
        return RELAY_REASON_EARLY_DATA;
    }

    if (ngx_http_relay_speculative(r)) {
        return RELAY_REASON_PREFETCH;
    }

    if (!ambient) {
        return RELAY_REASON_UNDECIDED;
    }

    value = ngx_http_relay_header_in(r, "Sec-Fetch-Site");

    if (value != NULL) {

        if (ngx_http_relay_equal(value, "same-origin")
            || ngx_http_relay_equal(value, "none"))
        {
            return RELAY_REASON_UNDECIDED;
        }

        if (r->method != NGX_HTTP_POST
            && ngx_http_relay_equal(value, "same-site"))
        {
            return RELAY_REASON_UNDECIDED;
        }

        return RELAY_REASON_CROSS_SITE;
    }

    /* a browser that does not send it names the origin of a POST */

    value = ngx_http_relay_header_in(r, "Origin");

    if (value != NULL && !ngx_http_relay_same_origin(r, value)) {
        return RELAY_REASON_CROSS_SITE;
    }

    return RELAY_REASON_UNDECIDED;
}


/*
 * Of this connection, or of one that ends before us (RFC 8470); which TLS
 * library it is, nginx's variable knows.
 */

static ngx_uint_t
ngx_http_relay_early_data(ngx_http_request_t *r)
{
    ngx_uint_t                  key;
    ngx_http_variable_value_t  *vv;

    static ngx_str_t  name = ngx_string("ssl_early_data");

    if (ngx_http_relay_header_in(r, "Early-Data") != NULL) {
        return 1;
    }

    key = ngx_hash_key(name.data, name.len);

    vv = ngx_http_get_variable(r, &name, key);

    return vv == NULL || (!vv->not_found && vv->len != 0);
}


static ngx_uint_t
ngx_http_relay_speculative(ngx_http_request_t *r)
{
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {

            if (!ngx_http_relay_listed(&h[i].key, ngx_http_relay_purposes)) {
                continue;
            }

            if (ngx_http_relay_contains(&h[i].value, "prefetch")
                || ngx_http_relay_contains(&h[i].value, "prerender")
                || ngx_http_relay_contains(&h[i].value, "preview"))
            {
                return 1;
            }
        }
    }

    return 0;
}


static ngx_uint_t
ngx_http_relay_same_origin(ngx_http_request_t *r, ngx_str_t *origin)
{
    u_char     *p, *last;
    ngx_str_t  *host;

    if (r->headers_in.host == NULL) {
        return 0;
    }

    host = &r->headers_in.host->value;
    last = origin->data + origin->len;

    p = ngx_strlchr(origin->data, last, ':');

    if (p == NULL || last - p < 3 || p[1] != '/' || p[2] != '/') {
        return 0;
    }

    p += 3;

    return host->len != 0
           && (size_t) (last - p) == host->len
           && ngx_strncasecmp(p, host->data, host->len) == 0;
}


ngx_uint_t
ngx_http_relay_navigation(ngx_http_request_t *r)
{
    ngx_str_t  *value;

    value = ngx_http_relay_header_in(r, "Sec-Fetch-Mode");

    if (value != NULL) {
        return ngx_http_relay_equal(value, "navigate");
    }

    value = ngx_http_relay_header_in(r, "Accept");

    return value != NULL && ngx_http_relay_contains(value, "text/html");
}


static ngx_uint_t
ngx_http_relay_listed(ngx_str_t *name, ngx_str_t *list)
{
    for ( /* void */ ; list->len; list++) {

        if (name->len == list->len
            && ngx_strncasecmp(name->data, list->data, name->len) == 0)
        {
            return 1;
        }
    }

    return 0;
}


static ngx_uint_t
ngx_http_relay_equal(ngx_str_t *value, const char *word)
{
    return value->len == ngx_strlen(word)
           && ngx_strncasecmp(value->data, (u_char *) word, value->len) == 0;
}


static ngx_uint_t
ngx_http_relay_contains(ngx_str_t *value, const char *word)
{
    return ngx_strlcasestrn(value->data, value->data + value->len,
                            (u_char *) word, ngx_strlen(word) - 1)
           != NULL;
}
