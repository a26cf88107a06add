
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
#define RELAYCTL_ERROR_MAX  512             /* bytes of one, shown */


struct relayctl_redis_s {
    redisContext         *context;
    relay_resp_reader_t  *reader;
    relay_buf_t           memory;           /* of the URL's strings */
    relay_url_t           url;
    relay_str_t           user;             /* "": the default one */
    relay_str_t           password;
};


static int relayctl_parse_url(relayctl_t *ctl);
static int relayctl_unreachable(relayctl_t *ctl);
static int relayctl_get_password(relayctl_t *ctl, const char *file);
static int relayctl_login(relayctl_t *ctl);
static int relayctl_deadline(relayctl_t *ctl, int64_t ms);
static int relayctl_send(relayctl_t *ctl, const relay_buf_t *out);
static int relayctl_receive(relayctl_t *ctl, relay_resp_reply_t **reply);
static int relayctl_exchange(relayctl_t *ctl, size_t argc,
    const relay_str_t *argv, int64_t timeout, relay_resp_reply_t **reply);
static int relayctl_error(relayctl_t *ctl, const relay_str_t *error,
    const char *what, const relay_str_t *name);
static relay_str_t relayctl_key(relayctl_t *ctl, relay_buf_t *b,
    relay_int_t rc);


/* Other users of the machine can read a command line: no password there. */

static int
relayctl_parse_url(relayctl_t *ctl)
{
    int                rc;
    const char        *value, *name;
    relay_buf_t       *why;
    relay_int_t        parsed;
    relay_str_t        s;
    relayctl_redis_t  *r;

    r = ctl->redis;

    name = "--redis";
    value = relayctl_option(ctl, "redis");

    if (value == NULL) {
        name = "RELAY_REDIS";
        value = getenv("RELAY_REDIS");
    }

    if (value == NULL || value[0] == '\0') {
        value = "redis://127.0.0.1:6379";
    }

    s = relayctl_str(value);
    why = relayctl_buf(ctl, 1024);

    parsed = relay_url_parse(&s, &r->url, &r->memory, why);

    if (parsed == RELAY_DECLINED) {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "%s: %.*s", name,
                             (int) why->len, (char *) why->data);
    }

    if (parsed != RELAY_OK) {
        return relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
    }

    if (r->url.password.len && strcmp(name, "--redis") == 0) {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "--redis: no password here, "
                             "where others can read it: use --password-file, "
                             "or RELAY_REDIS");
    }

    r->user = r->url.user;
    r->password = r->url.password;

    value = relayctl_option(ctl, "user");

    if (value != NULL) {
        r->user = relayctl_str(value);

        if (!relayctl_text_ok(&r->user, RELAY_URL_USER_MAX)) {
            return relayctl_fail(ctl, RELAYCTL_USAGE, "--user: 1 to %d bytes, "
                                 "no control characters", RELAY_URL_USER_MAX);
        }
    }

    value = relayctl_option(ctl, "password-file");

    if (value != NULL) {

        if (r->password.len) {
            return relayctl_fail(ctl, RELAYCTL_USAGE, "--password-file is a "
                                 "second password: %s has one", name);
        }

        rc = relayctl_get_password(ctl, value);
        if (rc != RELAYCTL_OK) {
            return rc;
        }
    }

    if (r->user.len && r->password.len == 0) {
        return relayctl_fail(ctl, RELAYCTL_USAGE,
                             "a user needs --password-file");
    }

    return RELAYCTL_OK;
}


static int
relayctl_get_password(relayctl_t *ctl, const char *file)
{
    int             rc;
    relay_str_t    *secret;
    unsigned char  *end;

    secret = &ctl->redis->password;

    rc = relayctl_read(ctl, file, RELAY_URL_SECRET_MAX + 2, secret);
    if (rc != RELAYCTL_OK) {
        return rc == RELAYCTL_NOT_FOUND ? RELAYCTL_USAGE : rc;
    }

    end = secret->len ? memchr(secret->data, '\n', secret->len) : NULL;

    if (end != NULL) {
        secret->len = (size_t) (end - secret->data);
    }

    if (secret->len && secret->data[secret->len - 1] == '\r') {
        secret->len--;
    }

    if (secret->len == 0 || secret->len > RELAY_URL_SECRET_MAX) {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "%s: its first line is the "
                             "password: 1 to %d bytes", file,
                             RELAY_URL_SECRET_MAX);
    }

    return RELAYCTL_OK;
}


int
relayctl_connect(relayctl_t *ctl)
{
    int                rc;
    redisContext      *c;
    struct timeval     tv;
    relayctl_redis_t  *r;

    r = calloc(1, sizeof(relayctl_redis_t));

    if (r == NULL) {
        return relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
    }

    relay_buf_init(&r->memory, 3 * RELAY_URL_MAX);
    ctl->redis = r;

    rc = relayctl_parse_url(ctl);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    tv.tv_sec = RELAYCTL_CONNECT / 1000;
    tv.tv_usec = RELAYCTL_CONNECT % 1000 * 1000;

    if (r->url.path.len == 0) {
        c = redisConnectWithTimeout((char *) r->url.host.data, r->url.port, tv);

    } else {
        c = redisConnectUnixWithTimeout((char *) r->url.path.data, tv);
    }

    r->context = c;

    if (c == NULL || c->err) {
        return relayctl_unreachable(ctl);
    }

    r->reader = relay_resp_reader_create(RELAYCTL_REPLY_MAX);

    if (r->reader == NULL) {
        return relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
    }

    return relayctl_login(ctl);
}


static int
relayctl_unreachable(relayctl_t *ctl)
{
    int                err;
    const char        *hint;
    relayctl_redis_t  *r;

    err = errno;
    r = ctl->redis;

    if (r->context == NULL) {
        return relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
    }

    hint = "is Redis running there? --redis or RELAY_REDIS names another "
           "server";

    if (r->context->err == REDIS_ERR_IO && err == EACCES) {
        hint = "this user may not open the socket";
    }

    return relayctl_fail(ctl, RELAYCTL_STORE, "%.*s: %s: %s",
                         (int) r->url.address.len,
                         (char *) r->url.address.data, r->context->errstr,
                         hint);
}


static int
relayctl_login(relayctl_t *ctl)
{
    int                  rc;
    size_t               n;
    relay_str_t          argv[3];
    relayctl_redis_t    *r;
    relay_resp_reply_t  *reply;

    r = ctl->redis;

    if (r->password.len) {
        n = 0;
        relay_str_set(&argv[n], "AUTH");
        n++;

        if (r->user.len) {
            argv[n++] = r->user;
        }

        argv[n++] = r->password;

        rc = relayctl_call(ctl, n, argv, 0, &reply);
        if (rc != RELAYCTL_OK) {
            return rc;
        }
    }

    if (r->url.db) {
        relay_str_set(&argv[0], "SELECT");
        argv[1] = relayctl_int_str(ctl, r->url.db);

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

    if (r->context != NULL) {
        redisFree(r->context);
    }

    relay_buf_free(&r->memory);
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


/* what, name: what was asked for, as "" and "GET", "script " and "publish". */

static int
relayctl_error(relayctl_t *ctl, const relay_str_t *error, const char *what,
    const relay_str_t *name)
{
    size_t             len;
    const char        *hint;
    relay_str_t        user;
    relayctl_redis_t  *r;
    unsigned char      text[RELAYCTL_ERROR_MAX];

    r = ctl->redis;

    len = relay_resp_error_text(error, &r->password, text, sizeof(text));

    if (!relay_resp_denied(error)) {
        return relayctl_fail(ctl, RELAYCTL_STORE, "redis: %.*s", (int) len,
                             (char *) text);
    }

    user = r->user.len ? r->user : relayctl_str("default");
    hint = "\"Access control\" in schema/redis/README.md has each role's ACL";

    if (r->password.len == 0) {
        hint = "give --user and --password-file";

    } else if (relay_str_is(name, "AUTH")) {
        hint = "is it in Redis's ACL, with this password?";
    }

    return relayctl_fail(ctl, RELAYCTL_STORE, "redis: %.*s: user \"%.*s\", "
                         "%s%.*s, at %.*s: %s", (int) len, (char *) text,
                         (int) user.len, (char *) user.data, what,
                         (int) name->len, (char *) name->data,
                         (int) r->url.address.len,
                         (char *) r->url.address.data, hint);
}


int
relayctl_call(relayctl_t *ctl, size_t argc, const relay_str_t *argv,
    int64_t timeout, relay_resp_reply_t **reply)
{
    int  rc;

    rc = relayctl_exchange(ctl, argc, argv, timeout, reply);

    if (rc == RELAYCTL_OK && (*reply)->type == RELAY_RESP_ERROR) {
        return relayctl_error(ctl, &(*reply)->str, "", &argv[0]);
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
        argv[0] = relayctl_str(name);
        return relayctl_error(ctl, &(*reply)->str, "script ", &argv[0]);
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


const char *
relayctl_no_relay(relayctl_t *ctl)
{
    relay_buf_t  *b;
    relay_url_t  *url;

    url = &ctl->redis->url;
    b = relayctl_buf(ctl, 1024);

    relay_buf_printf(b, "no such relay under prefix \"%.*s\" in database %d "
                     "of %.*s", (int) ctl->prefix.len,
                     (char *) ctl->prefix.data, url->db,
                     (int) url->address.len, (char *) url->address.data);

    if (relay_buf_append_c(b, '\0') != RELAY_OK) {
        return "no such relay";
    }

    return (char *) b->data;
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
    r->offset = -1;

    if (relay_receipt_encode(r, out) != RELAY_OK) {
        exit(relayctl_fail(ctl, RELAYCTL_STORE, "a receipt cannot be made"));
    }

    relay_buf_str(out, &s);

    return s;
}
