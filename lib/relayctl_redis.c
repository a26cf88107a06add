
/*
 * relayctl_redis: the connection, commands, scripts, names of keys.  hiredis
 * connects; requests and replies go through relay_resp.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/socket.h>

#include <hiredis/hiredis.h>

#include "relayctl.h"


#define RELAYCTL_CONNECT    5000            /* ms */
#define RELAYCTL_DEADLINE   10000           /* ms without a byte */
#define RELAYCTL_REPLY_MAX  (64 * 1024 * 1024)
#define RELAYCTL_SECRET_MAX 1024            /* bytes of a password */


typedef struct {
    char                  host[256];        /* or the path of a socket */
    char                  user[128];
    int                   port;             /* 0: a unix socket */
    int                   db;
} relayctl_url_t;


struct relayctl_redis_s {
    redisContext         *context;
    relay_resp_reader_t  *reader;
};


static int relayctl_parse_url(relayctl_t *ctl, const char *s,
    relayctl_url_t *url);
static int relayctl_parse_number(const char *s, int max, int *value);
static int relayctl_login(relayctl_t *ctl, const relayctl_url_t *url);
static int relayctl_deadline(relayctl_t *ctl, int64_t ms);
static int relayctl_send(relayctl_t *ctl, const relay_buf_t *out);
static int relayctl_receive(relayctl_t *ctl, relay_resp_reply_t **reply);
static int relayctl_exchange(relayctl_t *ctl, size_t argc,
    const relay_str_t *argv, int64_t timeout, relay_resp_reply_t **reply);
static int relayctl_error(relayctl_t *ctl, const relay_resp_reply_t *reply);
static relay_str_t relayctl_key(relayctl_t *ctl, relay_buf_t *b,
    relay_int_t rc);


static int
relayctl_parse_number(const char *s, int max, int *value)
{
    char  *end;
    long   n;

    if (s[0] < '0' || s[0] > '9') {
        return -1;
    }

    errno = 0;
    n = strtol(s, &end, 10);

    if (errno || *end != '\0' || n > max) {
        return -1;
    }

    *value = (int) n;

    return 0;
}


static int
relayctl_parse_url(relayctl_t *ctl, const char *s, relayctl_url_t *url)
{
    char         rest[512], *host, *p;
    const char  *fault;

    memset(url, 0, sizeof(relayctl_url_t));

    if (strncmp(s, "rediss:", 7) == 0) {
        fault = "relayctl does not speak TLS: use a tunnel or a unix socket";
        goto invalid;
    }

    fault = "redis://[USER@]HOST[:PORT][/DB] or unix:PATH[?db=DB]";

    if (strlen(s) >= sizeof(rest)) {
        goto invalid;
    }

    if (strncmp(s, "unix:", 5) == 0) {
        s += 5;

        if (strncmp(s, "//", 2) == 0) {
            s += 2;
        }

        strcpy(rest, s);

        p = strstr(rest, "?db=");

        if (p != NULL) {
            *p = '\0';

            if (relayctl_parse_number(p + 4, 65535, &url->db) != 0) {
                goto invalid;
            }
        }

        if (rest[0] == '\0' || strlen(rest) >= sizeof(url->host)) {
            goto invalid;
        }

        strcpy(url->host, rest);

        return RELAYCTL_OK;
    }

    if (strncmp(s, "redis://", 8) != 0) {
        goto invalid;
    }

    strcpy(rest, s + 8);
    host = rest;
    url->port = 6379;

    p = strchr(host, '/');

    if (p != NULL) {
        *p++ = '\0';

        if (*p && relayctl_parse_number(p, 65535, &url->db) != 0) {
            goto invalid;
        }
    }

    p = strrchr(host, '@');

    if (p != NULL) {
        *p = '\0';

        if (strchr(host, ':') != NULL) {

            /* other users of the machine can read a command line */

            fault = "no password here: give --password-file";
            goto invalid;
        }

        if (strlen(host) >= sizeof(url->user)) {
            goto invalid;
        }

        strcpy(url->user, host);
        host = p + 1;
    }

    if (host[0] == '[') {
        host++;
        p = strchr(host, ']');

        if (p == NULL) {
            goto invalid;
        }

        *p++ = '\0';

        if (*p != '\0' && *p != ':') {
            goto invalid;
        }

    } else {
        p = strchr(host, ':');

        if (p == NULL) {
            p = host + strlen(host);
        }
    }

    if (*p == ':') {
        *p++ = '\0';

        if (relayctl_parse_number(p, 65535, &url->port) != 0
            || url->port == 0)
        {
            goto invalid;
        }
    }

    if (host[0] == '\0' || strlen(host) >= sizeof(url->host)) {
        goto invalid;
    }

    strcpy(url->host, host);

    return RELAYCTL_OK;

invalid:

    return relayctl_fail(ctl, RELAYCTL_USAGE, "--redis: %s", fault);
}


int
relayctl_connect(relayctl_t *ctl)
{
    int                rc;
    const char        *s;
    redisContext      *c;
    relayctl_url_t     url;
    struct timeval     tv;
    relayctl_redis_t  *r;

    s = relayctl_option(ctl, "redis");

    if (s == NULL) {
        s = getenv("RELAY_REDIS");
    }

    if (s == NULL || s[0] == '\0') {
        s = "redis://127.0.0.1:6379";
    }

    rc = relayctl_parse_url(ctl, s, &url);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    tv.tv_sec = RELAYCTL_CONNECT / 1000;
    tv.tv_usec = RELAYCTL_CONNECT % 1000 * 1000;

    if (url.port) {
        c = redisConnectWithTimeout(url.host, url.port, tv);

    } else {
        c = redisConnectUnixWithTimeout(url.host, tv);
    }

    if (c == NULL || c->err) {
        rc = relayctl_fail(ctl, RELAYCTL_STORE, "%s: %s", url.host,
                           c == NULL ? "no memory" : c->errstr);

        if (c != NULL) {
            redisFree(c);
        }

        return rc;
    }

    r = calloc(1, sizeof(relayctl_redis_t));

    if (r == NULL) {
        redisFree(c);
        return relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
    }

    r->context = c;
    ctl->redis = r;

    r->reader = relay_resp_reader_create(RELAYCTL_REPLY_MAX);

    if (r->reader == NULL) {
        return relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
    }

    return relayctl_login(ctl, &url);
}


static int
relayctl_login(relayctl_t *ctl, const relayctl_url_t *url)
{
    int                  rc;
    size_t               n;
    const char          *user, *file;
    relay_str_t          argv[3], secret;
    unsigned char       *end;
    relay_resp_reply_t  *reply;

    file = relayctl_option(ctl, "password-file");
    user = relayctl_option(ctl, "user");

    if (user == NULL && url->user[0]) {
        user = url->user;
    }

    if (user != NULL && file == NULL) {
        return relayctl_fail(ctl, RELAYCTL_USAGE,
                             "a user needs --password-file");
    }

    if (file != NULL) {
        rc = relayctl_read(ctl, file, RELAYCTL_SECRET_MAX, &secret);
        if (rc != RELAYCTL_OK) {
            return rc == RELAYCTL_NOT_FOUND ? RELAYCTL_USAGE : rc;
        }

        end = secret.len ? memchr(secret.data, '\n', secret.len) : NULL;

        if (end != NULL) {
            secret.len = (size_t) (end - secret.data);
        }

        if (secret.len && secret.data[secret.len - 1] == '\r') {
            secret.len--;
        }

        if (secret.len == 0) {
            return relayctl_fail(ctl, RELAYCTL_USAGE,
                                 "%s: its first line is empty", file);
        }

        n = 0;
        relay_str_set(&argv[n], "AUTH");
        n++;

        if (user != NULL) {
            argv[n++] = relayctl_str(user);
        }

        argv[n++] = secret;

        rc = relayctl_call(ctl, n, argv, 0, &reply);
        if (rc != RELAYCTL_OK) {
            return rc;
        }
    }

    if (url->db) {
        relay_str_set(&argv[0], "SELECT");
        argv[1] = relayctl_int_str(ctl, url->db);

        rc = relayctl_call(ctl, 2, argv, 0, &reply);
        if (rc != RELAYCTL_OK) {
            return rc;
        }
    }

    return RELAYCTL_OK;
}


void
relayctl_disconnect(relayctl_t *ctl)
{
    relayctl_redis_t  *r;

    r = ctl->redis;

    if (r == NULL) {
        return;
    }

    relay_resp_reader_free(r->reader);
    redisFree(r->context);
    free(r);

    ctl->redis = NULL;
}


static int
relayctl_deadline(relayctl_t *ctl, int64_t ms)
{
    struct timeval  tv;

    tv.tv_sec = ms / 1000;
    tv.tv_usec = ms % 1000 * 1000;

    if (redisSetTimeout(ctl->redis->context, tv) != REDIS_OK) {
        return relayctl_fail(ctl, RELAYCTL_STORE, "redis: %s",
                             ctl->redis->context->errstr);
    }

    return RELAYCTL_OK;
}


static int
relayctl_send(relayctl_t *ctl, const relay_buf_t *out)
{
    int      fd;
    size_t   sent;
    ssize_t  n;

    fd = ctl->redis->context->fd;

    for (sent = 0; sent < out->len; /* void */) {
        n = send(fd, out->data + sent, out->len - sent, MSG_NOSIGNAL);

        if (n < 0) {

            if (errno == EINTR) {
                continue;
            }

            return relayctl_fail(ctl, RELAYCTL_STORE, "redis: %s",
                                 errno == EAGAIN ? "no answer in time"
                                                 : strerror(errno));
        }

        sent += (size_t) n;
    }

    return RELAYCTL_OK;
}


static int
relayctl_receive(relayctl_t *ctl, relay_resp_reply_t **reply)
{
    int                fd;
    ssize_t            n;
    const char        *why;
    relay_int_t        rc;
    relayctl_redis_t  *r;
    char               chunk[16 * 1024];

    r = ctl->redis;
    fd = r->context->fd;
    why = "no memory";

    for ( ;; ) {
        rc = relay_resp_next(r->reader, reply, &why);

        if (rc == RELAY_OK) {
            break;
        }

        if (rc != RELAY_AGAIN) {
            return relayctl_fail(ctl, RELAYCTL_STORE, "redis: %s", why);
        }

        n = recv(fd, chunk, sizeof(chunk), 0);

        if (n == 0) {
            return relayctl_fail(ctl, RELAYCTL_STORE,
                                 "redis: connection closed");
        }

        if (n < 0) {

            if (errno == EINTR) {
                continue;
            }

            return relayctl_fail(ctl, RELAYCTL_STORE, "redis: %s",
                                 errno == EAGAIN ? "no answer in time"
                                                 : strerror(errno));
        }

        if (relay_resp_feed(r->reader, chunk, (size_t) n) != RELAY_OK) {
            return relayctl_fail(ctl, RELAYCTL_STORE, "redis: no memory");
        }
    }

    relayctl_keep(ctl, *reply);

    return RELAYCTL_OK;
}


static int
relayctl_exchange(relayctl_t *ctl, size_t argc, const relay_str_t *argv,
    int64_t timeout, relay_resp_reply_t **reply)
{
    int           rc;
    relay_buf_t   out;

    *reply = NULL;

    relay_buf_init(&out, 2 * RELAY_DOCUMENT_MAX);

    if (relay_resp_format(&out, argc, argv) != RELAY_OK) {
        relay_buf_free(&out);
        return relayctl_fail(ctl, RELAYCTL_STORE, "the command is too large");
    }

    rc = relayctl_deadline(ctl, RELAYCTL_DEADLINE + timeout);

    if (rc == RELAYCTL_OK) {
        rc = relayctl_send(ctl, &out);
    }

    relay_buf_free(&out);

    if (rc != RELAYCTL_OK) {
        return rc;
    }

    return relayctl_receive(ctl, reply);
}


static int
relayctl_error(relayctl_t *ctl, const relay_resp_reply_t *reply)
{
    return relayctl_fail(ctl, RELAYCTL_STORE, "redis: %.*s",
                         reply->str.len < 512 ? (int) reply->str.len : 512,
                         (char *) reply->str.data);
}


int
relayctl_call(relayctl_t *ctl, size_t argc, const relay_str_t *argv,
    int64_t timeout, relay_resp_reply_t **reply)
{
    int  rc;

    rc = relayctl_exchange(ctl, argc, argv, timeout, reply);

    if (rc == RELAYCTL_OK && (*reply)->type == RELAY_RESP_ERROR) {
        return relayctl_error(ctl, *reply);
    }

    return rc;
}


int
relayctl_script(relayctl_t *ctl, const char *name, size_t nkeys,
    const relay_str_t *keys, size_t nargs, const relay_str_t *args,
    relay_resp_reply_t **reply, relay_str_t *word)
{
    int                    rc;
    size_t                 i, n;
    relay_str_t            argv[RELAYCTL_ARGS_MAX];
    const relay_script_t  *script;

    script = relay_script(name);

    if (script == NULL || 3 + nkeys + nargs > RELAYCTL_ARGS_MAX) {
        return relayctl_fail(ctl, RELAYCTL_STORE,
                             "script \"%s\" is not built in", name);
    }

    n = 0;
    relay_str_set(&argv[n], "EVALSHA");
    n++;
    argv[n++] = script->sha1;
    argv[n++] = relayctl_int_str(ctl, (int64_t) nkeys);

    for (i = 0; i < nkeys; i++) {
        argv[n++] = keys[i];
    }

    for (i = 0; i < nargs; i++) {
        argv[n++] = args[i];
    }

    rc = relayctl_exchange(ctl, n, argv, 0, reply);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    if ((*reply)->type == RELAY_RESP_ERROR
        && (*reply)->str.len >= 8
        && memcmp((*reply)->str.data, "NOSCRIPT", 8) == 0)
    {
        relay_str_set(&argv[0], "EVAL");
        argv[1] = script->text;

        rc = relayctl_exchange(ctl, n, argv, 0, reply);
        if (rc != RELAYCTL_OK) {
            return rc;
        }
    }

    if ((*reply)->type == RELAY_RESP_ERROR) {
        return relayctl_error(ctl, *reply);
    }

    if ((*reply)->type != RELAY_RESP_ARRAY || (*reply)->n == 0
        || (*reply)->elts[0]->type != RELAY_RESP_BULK)
    {
        return relayctl_fail(ctl, RELAYCTL_STORE,
                             "redis: not an answer of script \"%s\"", name);
    }

    *word = (*reply)->elts[0]->str;

    return RELAYCTL_OK;
}


int
relayctl_record(relayctl_t *ctl, const relay_str_t *key,
    relay_resp_reply_t **reply)
{
    relay_str_t  argv[2];

    relay_str_set(&argv[0], "HGETALL");
    argv[1] = *key;

    return relayctl_call(ctl, 2, argv, 0, reply);
}


int
relayctl_exists(relayctl_t *ctl, const relay_str_t *key, relay_uint_t *exists)
{
    int                  rc;
    relay_str_t          argv[2];
    relay_resp_reply_t  *reply;

    relay_str_set(&argv[0], "EXISTS");
    argv[1] = *key;

    rc = relayctl_call(ctl, 2, argv, 0, &reply);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    *exists = (reply->integer == 1);

    return RELAYCTL_OK;
}


int
relayctl_state(relayctl_t *ctl, const relay_str_t *key, relay_str_t *state,
    relay_str_t *id)
{
    int                  rc;
    relay_str_t          argv[4];
    relay_resp_reply_t  *reply;

    relay_str_set(state, "");
    relay_str_set(id, "");

    relay_str_set(&argv[0], "HMGET");
    argv[1] = *key;
    relay_str_set(&argv[2], "state");
    relay_str_set(&argv[3], "id");

    rc = relayctl_call(ctl, 4, argv, 0, &reply);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    if (reply->type == RELAY_RESP_ARRAY && reply->n == 2) {

        if (reply->elts[0]->type == RELAY_RESP_BULK) {
            *state = reply->elts[0]->str;
        }

        if (reply->elts[1]->type == RELAY_RESP_BULK) {
            *id = reply->elts[1]->str;
        }
    }

    return RELAYCTL_OK;
}


void
relayctl_pair(relayctl_pairs_t *p, const char *name, const relay_str_t *value)
{
    if (p->n + 2 > 2 * RELAYCTL_PAIRS) {
        abort();
    }

    p->args[p->n++] = relayctl_str(name);
    p->args[p->n++] = *value;
}


static relay_str_t
relayctl_key(relayctl_t *ctl, relay_buf_t *b, relay_int_t rc)
{
    relay_str_t  key;

    if (rc != RELAY_OK) {
        exit(relayctl_fail(ctl, RELAYCTL_STORE, "a key cannot be made"));
    }

    relay_buf_str(b, &key);

    return key;
}


relay_str_t
relayctl_key_head(relayctl_t *ctl, const relay_str_t *id)
{
    relay_buf_t  *b;

    b = relayctl_buf(ctl, RELAY_KEY_MAX);

    return relayctl_key(ctl, b, relay_key_head(b, &ctl->prefix, id));
}


relay_str_t
relayctl_key_link(relayctl_t *ctl, const relay_str_t *digest)
{
    relay_buf_t  *b;

    b = relayctl_buf(ctl, RELAY_KEY_MAX);

    return relayctl_key(ctl, b, relay_key_link(b, &ctl->prefix, digest));
}


relay_str_t
relayctl_key_link_record(relayctl_t *ctl, const relay_str_t *id,
    const relay_str_t *digest)
{
    relay_buf_t  *b;

    b = relayctl_buf(ctl, RELAY_KEY_MAX);

    return relayctl_key(ctl, b, relay_key_link_record(b, &ctl->prefix, id,
                                                      digest));
}


relay_str_t
relayctl_key_grant(relayctl_t *ctl, const relay_str_t *id,
    const relay_str_t *reader)
{
    relay_buf_t    *b;
    relay_str_t     digest;
    unsigned char   h[RELAY_DIGEST_LEN];

    relay_digest(reader, h);
    digest.data = h;
    digest.len = sizeof(h);

    b = relayctl_buf(ctl, RELAY_KEY_MAX);

    return relayctl_key(ctl, b, relay_key_grant(b, &ctl->prefix, id, &digest));
}


relay_str_t
relayctl_key_receipts(relayctl_t *ctl, const relay_str_t *id)
{
    relay_buf_t  *b;

    b = relayctl_buf(ctl, RELAY_KEY_MAX);

    return relayctl_key(ctl, b, relay_key_receipts(b, &ctl->prefix, id));
}


relay_int_t
relayctl_reader(relayctl_t *ctl, const relay_str_t *email,
    const relay_str_t *iss, const relay_str_t *sub, relay_str_t *reader)
{
    relay_int_t   rc;
    relay_buf_t  *b;

    b = relayctl_buf(ctl, 2048);

    if (email->len) {
        rc = relay_reader_key_email(email, b);

    } else if (iss->len > RELAY_ISSUER_MAX || sub->len > RELAY_SUBJECT_MAX
               || iss->len == 0 || sub->len == 0)
    {
        rc = RELAY_DECLINED;

    } else {
        rc = relay_reader_key_subject(iss, sub, b);
    }

    relay_buf_str(b, reader);

    return rc == RELAY_OK ? RELAY_OK : RELAY_DECLINED;
}


relay_str_t
relayctl_receipt(relayctl_t *ctl, relay_receipt_t *r)
{
    char          host[64], process[128];
    size_t        i;
    relay_buf_t  *id, *out;
    relay_str_t   s;

    if (gethostname(host, sizeof(host)) != 0) {
        strcpy(host, "localhost");
    }

    host[sizeof(host) - 1] = '\0';

    for (i = 0; host[i]; i++) {
        if ((host[i] < 'A' || host[i] > 'Z') && (host[i] < 'a' || host[i] > 'z')
            && (host[i] < '0' || host[i] > '9')
            && host[i] != '.' && host[i] != '-')
        {
            host[i] = '_';
        }
    }

    snprintf(process, sizeof(process), "%s-ctl-%ld-%lld", host,
             (long) getpid(), (long long) ctl->started);

    id = relayctl_buf(ctl, 256);
    out = relayctl_buf(ctl, RELAY_RECEIPT_MAX);
    s = relayctl_str(process);

    if (relay_receipt_id(&s, ctl->sequence++, id) != RELAY_OK) {
        exit(relayctl_fail(ctl, RELAYCTL_STORE, "a receipt cannot be made"));
    }

    relay_buf_str(id, &r->id);

    r->kind = RELAY_RECEIPT_ACT;
    r->time = relayctl_now();
    relay_str_set(&r->channel, "ctl");
    r->bytes = -1;
    r->withheld = -1;

    if (relay_receipt_encode(r, out) != RELAY_OK) {
        exit(relayctl_fail(ctl, RELAYCTL_STORE, "a receipt cannot be made"));
    }

    relay_buf_str(out, &s);

    return s;
}
