
/*
 * relay_url: the address of a Redis server,
 *
 *     redis://[user[:password]@]host[:port][/db]      or      unix:/path[:db]
 *
 * User and password are percent-encoded (RFC 3986, 2.1) where they hold one of
 * ":@/%"; an IPv6 address stands in brackets.
 */

#ifndef _RELAY_URL_H_INCLUDED_
#define _RELAY_URL_H_INCLUDED_


#include "relay.h"
#include "relay_buf.h"


#define RELAY_URL_SYNTAX                                                      \
    "redis://[user[:password]@]host[:port][/db] or unix:/path[:db]"

#define RELAY_URL_MAX         8192      /* bytes of the whole */
#define RELAY_URL_HOST_MAX    255       /* RFC 1035 2.3.4 */
#define RELAY_URL_PATH_MAX    107       /* sun_path, less its NUL */
#define RELAY_URL_USER_MAX    128
#define RELAY_URL_SECRET_MAX  4096      /* bytes of a password */
#define RELAY_URL_DB_MAX      1000000
#define RELAY_URL_PORT        6379


/* Strings lie in the caller's buffer; each is followed by a NUL. */

typedef struct {
    relay_str_t  name;          /* the URL as it may be shown: no user, no
                                   password, the port always, the database
                                   where it is not 0 */
    relay_str_t  address;       /* "host:port", "[v6]:port" or "unix:/path" */
    relay_str_t  host;          /* without brackets; "": a socket's path */
    relay_str_t  path;
    relay_str_t  user;          /* decoded; "": none */
    relay_str_t  password;      /* decoded; "": none; never to be shown */
    int          port;
    int          db;
} relay_url_t;


/*
 * Parses s.  mem is reset and holds the strings of *url, why a sentence when
 * the result is RELAY_DECLINED: it repeats nothing that could be a password.
 * RELAY_ERROR: no memory, or one of the buffers is too small (mem never needs
 * more than 3 * RELAY_URL_MAX, why no more than 512).
 */
relay_int_t relay_url_parse(const relay_str_t *s, relay_url_t *url,
    relay_buf_t *mem, relay_buf_t *why);


#endif /* _RELAY_URL_H_INCLUDED_ */
