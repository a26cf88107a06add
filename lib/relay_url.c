
/*
 * relay_url: the address of a Redis server.
 */

#include "relay_url.h"


#define RELAY_URL_SHOWN  16             /* bytes of what is at fault, at most */


/*
 * Offsets into the buffer, which moves while it grows, until all of it is
 * there.
 */

typedef struct {
    size_t  start;
    size_t  len;
} relay_url_span_t;


static void relay_url_address(const relay_url_t *url, relay_buf_t *out);
static relay_int_t relay_url_error(relay_buf_t *why, const char *text);
static void relay_url_unknown(const relay_str_t *s, relay_buf_t *why);
static relay_uint_t relay_url_scheme(relay_str_t *s, const char *scheme);
static relay_int_t relay_url_number(const relay_str_t *s, int min, int max,
    int *value);
static relay_int_t relay_url_socket(relay_str_t *rest, relay_url_t *url,
    relay_buf_t *why);
static relay_int_t relay_url_host(relay_str_t *rest, relay_url_t *url,
    relay_buf_t *why);
static relay_int_t relay_url_userinfo(const relay_str_t *s,
    relay_url_span_t *user, relay_url_span_t *password, relay_buf_t *mem,
    relay_buf_t *why);
static relay_int_t relay_url_unescape(const relay_str_t *s,
    relay_url_span_t *span, relay_buf_t *mem);
static int relay_url_hex(unsigned char c);
static relay_uint_t relay_url_plain(const relay_str_t *s);
static void relay_url_end(relay_buf_t *mem, size_t start,
    relay_url_span_t *span);
static void relay_url_set(const relay_buf_t *mem, const relay_url_span_t *span,
    relay_str_t *s);


relay_int_t
relay_url_parse(const relay_str_t *s, relay_url_t *url, relay_buf_t *mem,
    relay_buf_t *why)
{
    size_t             i, start;
    relay_int_t        rc;
    relay_str_t        rest, userinfo;
    relay_url_span_t   name, address, host, path, user, password;

    memset(url, 0, sizeof(relay_url_t));

    relay_buf_reset(mem);
    relay_buf_reset(why);

    rest = *s;

    if (s->len == 0 || s->len > RELAY_URL_MAX) {
        return relay_url_error(why, "it is empty or too long");
    }

    memset(&user, 0, sizeof(relay_url_span_t));
    memset(&password, 0, sizeof(relay_url_span_t));

    if (relay_url_scheme(&rest, "unix:")) {
        rc = relay_url_socket(&rest, url, why);

    } else if (relay_url_scheme(&rest, "redis://")) {

        /* the last one: whoever forgot to encode a password shows none of it */

        for (i = rest.len; i && rest.data[i - 1] != '@'; i--) {
            /* void */
        }

        rc = RELAY_OK;

        if (i) {
            userinfo.data = rest.data;
            userinfo.len = i - 1;

            rest.data += i;
            rest.len -= i;

            rc = relay_url_userinfo(&userinfo, &user, &password, mem, why);
        }

        if (rc == RELAY_OK) {
            rc = relay_url_host(&rest, url, why);
        }

    } else if (relay_url_scheme(&rest, "rediss://")) {
        return relay_url_error(why, "rediss:// (TLS to Redis) is not supported "
                               "yet: use a unix socket, or redis:// to a local "
                               "TLS tunnel such as stunnel");

    } else {
        relay_url_unknown(s, why);

        return relay_url_error(why, "it must begin with \"redis://\" or "
                               "\"unix:\": " RELAY_URL_SYNTAX);
    }

    if (rc != RELAY_OK) {
        return rc;
    }

    start = mem->len;
    relay_buf_append_str(mem, &url->host);
    relay_url_end(mem, start, &host);

    start = mem->len;
    relay_buf_append_str(mem, &url->path);
    relay_url_end(mem, start, &path);

    start = mem->len;
    relay_url_address(url, mem);
    relay_url_end(mem, start, &address);

    start = mem->len;

    if (url->path.len == 0) {
        relay_buf_append_z(mem, "redis://");
    }

    relay_url_address(url, mem);

    if (url->db) {
        relay_buf_printf(mem, "%c%d", url->path.len ? ':' : '/', url->db);
    }

    relay_url_end(mem, start, &name);

    if (mem->failed) {
        return RELAY_ERROR;
    }

    relay_url_set(mem, &name, &url->name);
    relay_url_set(mem, &address, &url->address);
    relay_url_set(mem, &host, &url->host);
    relay_url_set(mem, &path, &url->path);
    relay_url_set(mem, &user, &url->user);
    relay_url_set(mem, &password, &url->password);

    return RELAY_OK;
}


/* While host and path still point into what was parsed. */

static void
relay_url_address(const relay_url_t *url, relay_buf_t *out)
{
    relay_uint_t  v6;

    if (url->path.len) {
        relay_buf_append_z(out, "unix:");
        relay_buf_append_str(out, &url->path);
        return;
    }

    v6 = memchr(url->host.data, ':', url->host.len) != NULL;

    relay_buf_append_z(out, v6 ? "[" : "");
    relay_buf_append_str(out, &url->host);
    relay_buf_printf(out, "%s:%d", v6 ? "]" : "", url->port);
}


static relay_int_t
relay_url_error(relay_buf_t *why, const char *text)
{
    relay_buf_append_z(why, text);

    return why->failed ? RELAY_ERROR : RELAY_DECLINED;
}


/* Names a scheme (RFC 3986, 3.1) and nothing that only may be one. */

static void
relay_url_unknown(const relay_str_t *s, relay_buf_t *why)
{
    size_t         i;
    unsigned char  c;

    for (i = 0; i < s->len && i < RELAY_URL_SHOWN; i++) {
        c = s->data[i];

        if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
            && !(i && ((c >= '0' && c <= '9')
                       || c == '+' || c == '-' || c == '.')))
        {
            break;
        }
    }

    if (i && s->len - i >= 3 && memcmp(s->data + i, "://", 3) == 0) {
        relay_buf_printf(why, "\"%.*s\" is not a scheme of it: ", (int) i,
                         (char *) s->data);
    }
}


/* Takes the scheme off; it has no case (RFC 3986, 3.1). */

static relay_uint_t
relay_url_scheme(relay_str_t *s, const char *scheme)
{
    size_t         i, len;
    unsigned char  c;

    len = strlen(scheme);

    if (s->len < len) {
        return 0;
    }

    for (i = 0; i < len; i++) {
        c = s->data[i];

        if (c >= 'A' && c <= 'Z') {
            c |= 0x20;
        }

        if (c != (unsigned char) scheme[i]) {
            return 0;
        }
    }

    s->data += len;
    s->len -= len;

    return 1;
}


static relay_int_t
relay_url_number(const relay_str_t *s, int min, int max, int *value)
{
    int     n;
    size_t  i;

    if (s->len == 0 || s->len > 9) {
        return RELAY_DECLINED;
    }

    n = 0;

    for (i = 0; i < s->len; i++) {

        if (s->data[i] < '0' || s->data[i] > '9') {
            return RELAY_DECLINED;
        }

        n = n * 10 + (s->data[i] - '0');
    }

    if (n < min || n > max) {
        return RELAY_DECLINED;
    }

    *value = n;

    return RELAY_OK;
}


static relay_int_t
relay_url_socket(relay_str_t *rest, relay_url_t *url, relay_buf_t *why)
{
    relay_str_t     db;
    unsigned char  *p;

    url->path = *rest;

    p = rest->len ? memchr(rest->data, ':', rest->len) : NULL;

    if (p != NULL) {
        url->path.len = (size_t) (p - rest->data);

        db.data = p + 1;
        db.len = rest->len - url->path.len - 1;

        if (relay_url_number(&db, 0, RELAY_URL_DB_MAX, &url->db) != RELAY_OK) {
            return relay_url_error(why, "after the socket's path and a colon "
                                   "stands the number of the database: "
                                   "unix:/path[:db]");
        }
    }

    if (url->path.len == 0 || url->path.data[0] != '/') {
        return relay_url_error(why, "the path of a socket begins with \"/\": "
                               "unix:/path[:db]");
    }

    if (memchr(url->path.data, '?', url->path.len) != NULL) {
        return relay_url_error(why, "the database is written after a colon: "
                               "unix:/path[:db]");
    }

    if (url->path.len > RELAY_URL_PATH_MAX || !relay_url_plain(&url->path)) {
        return relay_url_error(why, "the path of a socket has at most 107 "
                               "bytes and no control characters");
    }

    return RELAY_OK;
}


/*
 * Where "@" was forgotten, a user stands in the host's place and a password in
 * that of port and database: none of them is repeated.
 */

static relay_int_t
relay_url_host(relay_str_t *rest, relay_url_t *url, relay_buf_t *why)
{
    size_t          i;
    relay_str_t     port, db;
    unsigned char  *p;

    url->port = RELAY_URL_PORT;

    p = rest->len ? memchr(rest->data, '/', rest->len) : NULL;

    if (p != NULL) {
        db.data = p + 1;
        db.len = rest->len - (size_t) (p + 1 - rest->data);

        rest->len = (size_t) (p - rest->data);

        if (db.len
            && relay_url_number(&db, 0, RELAY_URL_DB_MAX, &url->db) != RELAY_OK)
        {
            if ((rest->len == 0 || memchr(rest->data, ':', rest->len) == NULL)
                && db.len <= RELAY_URL_SHOWN && relay_url_plain(&db))
            {
                relay_buf_printf(why, "bad database \"/%.*s\": ", (int) db.len,
                                 (char *) db.data);
            }

            return relay_url_error(why, "after the slash stands the number of "
                                   "the database: redis://host[:port][/db]");
        }
    }

    url->host = *rest;

    if (rest->len && rest->data[0] == '[') {

        p = memchr(rest->data, ']', rest->len);

        if (p == NULL) {
            return relay_url_error(why, "\"[\" without \"]\" around an IPv6 "
                                   "address");
        }

        url->host.data++;
        url->host.len = (size_t) (p - url->host.data);

        if (url->host.len == 0
            || memchr(url->host.data, ':', url->host.len) == NULL)
        {
            return relay_url_error(why, "what stands in brackets is an IPv6 "
                                   "address");
        }

        i = (size_t) (p + 1 - rest->data);

    } else {
        p = rest->len ? memchr(rest->data, ':', rest->len) : NULL;
        i = p ? (size_t) (p - rest->data) : rest->len;

        url->host.len = i;
    }

    if (i < rest->len) {
        port.data = rest->data + i + 1;
        port.len = rest->len - i - 1;

        if (rest->data[i] != ':'
            || relay_url_number(&port, 1, 65535, &url->port) != RELAY_OK)
        {
            return relay_url_error(why, "after the host and a colon stands a "
                                   "port from 1 to 65535 (an IPv6 address "
                                   "stands in brackets)");
        }
    }

    if (url->host.len == 0 || url->host.len > RELAY_URL_HOST_MAX
        || memchr(url->host.data, ' ', url->host.len) != NULL
        || !relay_url_plain(&url->host))
    {
        return relay_url_error(why, "a host of 1 to 255 bytes is needed: "
                               "redis://host[:port][/db]");
    }

    return RELAY_OK;
}


static relay_int_t
relay_url_userinfo(const relay_str_t *s, relay_url_span_t *user,
    relay_url_span_t *password, relay_buf_t *mem, relay_buf_t *why)
{
    relay_int_t     rc;
    relay_str_t     part, name;
    unsigned char  *p;

    part = *s;

    p = s->len ? memchr(s->data, ':', s->len) : NULL;

    if (p != NULL) {
        part.len = (size_t) (p - s->data);
    }

    rc = relay_url_unescape(&part, user, mem);

    if (rc == RELAY_OK && p != NULL) {
        part.data = p + 1;
        part.len = s->len - part.len - 1;

        rc = relay_url_unescape(&part, password, mem);
    }

    if (rc == RELAY_ERROR) {
        return rc;
    }

    if (rc != RELAY_OK) {
        return relay_url_error(why, "a \"%\" of user or password is not "
                               "followed by two hexadecimal digits");
    }

    relay_url_set(mem, user, &name);

    if (name.len > RELAY_URL_USER_MAX || !relay_url_plain(&name)) {
        return relay_url_error(why, "a user has at most 128 bytes and no "
                               "control characters");
    }

    if (password->len > RELAY_URL_SECRET_MAX) {
        return relay_url_error(why, "the password is longer than 4096 bytes");
    }

    if (p != NULL && password->len == 0) {
        return relay_url_error(why, "the password is empty: leave out the "
                               "colon");
    }

    if (user->len == 0 && password->len == 0) {
        return relay_url_error(why, "\"@\" without a user before it");
    }

    return RELAY_OK;
}


static relay_int_t
relay_url_unescape(const relay_str_t *s, relay_url_span_t *span,
    relay_buf_t *mem)
{
    int            high, low;
    size_t         i, start;
    unsigned char  c;

    start = mem->len;

    for (i = 0; i < s->len; i++) {
        c = s->data[i];

        if (c == '%') {

            if (s->len - i < 3) {
                return RELAY_DECLINED;
            }

            high = relay_url_hex(s->data[i + 1]);
            low = relay_url_hex(s->data[i + 2]);

            if (high < 0 || low < 0) {
                return RELAY_DECLINED;
            }

            c = (unsigned char) (high << 4 | low);
            i += 2;
        }

        relay_buf_append_c(mem, c);
    }

    relay_url_end(mem, start, span);

    return mem->failed ? RELAY_ERROR : RELAY_OK;
}


static int
relay_url_hex(unsigned char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }

    c |= 0x20;

    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}


static relay_uint_t
relay_url_plain(const relay_str_t *s)
{
    size_t  i;

    for (i = 0; i < s->len; i++) {
        if (s->data[i] < 0x20 || s->data[i] == 0x7f) {
            return 0;
        }
    }

    return 1;
}


static void
relay_url_end(relay_buf_t *mem, size_t start, relay_url_span_t *span)
{
    span->start = start;
    span->len = mem->len - start;

    relay_buf_append_c(mem, '\0');
}


static void
relay_url_set(const relay_buf_t *mem, const relay_url_span_t *span,
    relay_str_t *s)
{
    s->len = span->len;
    s->data = span->len ? mem->data + span->start : (unsigned char *) "";
}
