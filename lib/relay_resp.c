
/*
 * relay_resp: the RESP2 codec.  hiredis parses; the objects, and the limits on
 * them, are ours.
 */

#include <limits.h>
#include <stdlib.h>

#include <hiredis/hiredis.h>

#include "relay_resp.h"


#define RELAY_RESP_DEPTH     7              /* arrays within one another */
#define RELAY_RESP_ELEMENTS  (256 * 1024)   /* of all arrays of one reply */
#define RELAY_RESP_LINE      (64 * 1024)    /* bytes of a line */
#define RELAY_RESP_MAX       (256 * 1024 * 1024)
#define RELAY_RESP_SECRET    8              /* bytes that tell a secret */


/* hiredis counted the elements of an array with an int before 1.0 */

#if (HIREDIS_MAJOR > 0)
typedef size_t  relay_resp_count_t;
#else
typedef int     relay_resp_count_t;
#endif


struct relay_resp_reader_s {
    redisReader                *reader;
    redisReplyObjectFunctions   functions;
    size_t                      max;        /* bytes of one reply */
    size_t                      taken;      /* bytes of this one, parsed */
    size_t                      elements;   /* of this one, announced */
    const char                 *why;        /* set once it is of no use */
};


static void *relay_resp_create_string(const redisReadTask *task, char *data,
    size_t len);
static void *relay_resp_create_array(const redisReadTask *task,
    relay_resp_count_t n);
static void *relay_resp_create_integer(const redisReadTask *task,
    long long value);
static void *relay_resp_create_nil(const redisReadTask *task);
#if (HIREDIS_MAJOR > 0)
static void *relay_resp_create_double(const redisReadTask *task, double value,
    char *data, size_t len);
static void *relay_resp_create_bool(const redisReadTask *task, int value);
#endif
static void relay_resp_free_object(void *object);
static void *relay_resp_refuse(const redisReadTask *task, const char *why);
static relay_resp_reply_t *relay_resp_create(const redisReadTask *task,
    relay_resp_type_e type, size_t extra);
static size_t relay_resp_number_len(size_t n);
static unsigned char *relay_resp_head(unsigned char *p, unsigned char type,
    size_t n, size_t len);


static size_t
relay_resp_number_len(size_t n)
{
    size_t  len;

    for (len = 1; n >= 10; len++) {
        n /= 10;
    }

    return len;
}


/* "*2\r\n", "$5\r\n": the digits are known to be len. */

static unsigned char *
relay_resp_head(unsigned char *p, unsigned char type, size_t n, size_t len)
{
    size_t  i;

    *p++ = type;

    for (i = len; i; i--) {
        p[i - 1] = (unsigned char) ('0' + n % 10);
        n /= 10;
    }

    p += len;
    *p++ = '\r';
    *p++ = '\n';

    return p;
}


relay_int_t
relay_resp_format(relay_buf_t *out, size_t argc, const relay_str_t *argv)
{
    size_t          i, len, size;
    unsigned char  *p;

    if (out->failed || argc == 0 || out->len > out->max) {
        return RELAY_ERROR;
    }

    len = 1 + relay_resp_number_len(argc) + 2;

    for (i = 0; i < argc; i++) {

        if (argv[i].len > RELAY_RESP_MAX) {
            return RELAY_ERROR;
        }

        size = 1 + relay_resp_number_len(argv[i].len) + 2 + argv[i].len + 2;

        if (len > out->max || size > out->max - len) {
            return RELAY_ERROR;
        }

        len += size;
    }

    if (len > out->max - out->len) {
        return RELAY_ERROR;
    }

    p = relay_buf_reserve(out, len);

    if (p == NULL) {

        /* no memory: what is in the buffer is still good */

        out->failed = 0;

        return RELAY_ERROR;
    }

    p = relay_resp_head(p, '*', argc, relay_resp_number_len(argc));

    for (i = 0; i < argc; i++) {
        p = relay_resp_head(p, '$', argv[i].len,
                            relay_resp_number_len(argv[i].len));

        if (argv[i].len) {
            memcpy(p, argv[i].data, argv[i].len);
            p += argv[i].len;
        }

        *p++ = '\r';
        *p++ = '\n';
    }

    out->len += len;

    return RELAY_OK;
}


relay_resp_reader_t *
relay_resp_reader_create(size_t max)
{
    relay_resp_reader_t  *r;

    r = calloc(1, sizeof(relay_resp_reader_t));
    if (r == NULL) {
        return NULL;
    }

    r->functions = (redisReplyObjectFunctions) {
        .createString = relay_resp_create_string,
        .createArray = relay_resp_create_array,
        .createInteger = relay_resp_create_integer,
        .createNil = relay_resp_create_nil,
#if (HIREDIS_MAJOR > 0)
        .createDouble = relay_resp_create_double,
        .createBool = relay_resp_create_bool,
#endif
        .freeObject = relay_resp_free_object
    };

    r->reader = redisReaderCreateWithFunctions(&r->functions);
    if (r->reader == NULL) {
        free(r);
        return NULL;
    }

    r->reader->privdata = r;
    r->max = max < RELAY_RESP_MAX ? max : RELAY_RESP_MAX;

    return r;
}


void
relay_resp_reader_free(relay_resp_reader_t *r)
{
    if (r == NULL) {
        return;
    }

    redisReaderFree(r->reader);
    free(r);
}


relay_int_t
relay_resp_feed(relay_resp_reader_t *r, const void *data, size_t len)
{
    if (r->why != NULL) {
        return RELAY_ERROR;
    }

    /*
     * Several replies may wait here, and one read may end a long one and bring
     * the next: only what lay here before counts.
     */

    if (r->reader->len - r->reader->pos > r->max || len > RELAY_RESP_MAX) {
        r->why = "more replies than may wait";
        return RELAY_ERROR;
    }

    if (len == 0) {
        return RELAY_OK;
    }

    if (redisReaderFeed(r->reader, data, len) != REDIS_OK) {
        r->why = "no memory for a reply";
        return RELAY_ERROR;
    }

    return RELAY_OK;
}


relay_int_t
relay_resp_next(relay_resp_reader_t *r, relay_resp_reply_t **reply,
    const char **why)
{
    void    *object;
    size_t   before, rest;

    *reply = NULL;

    if (r->why != NULL) {
        goto declined;
    }

    before = r->reader->len - r->reader->pos;
    object = NULL;

    if (redisReaderGetReply(r->reader, &object) != REDIS_OK) {

        if (r->why == NULL) {
            r->why = r->reader->errstr[0] ? r->reader->errstr
                                          : "not a RESP2 reply";
        }

        goto declined;
    }

    rest = r->reader->len - r->reader->pos;
    r->taken += before - rest;

    if (object != NULL) {

        if (r->taken > r->max) {
            relay_resp_reply_free(object);
            r->why = "reply is too large";
            goto declined;
        }

        r->taken = 0;
        r->elements = 0;

        *reply = object;

        return RELAY_OK;
    }

    if (r->taken > r->max || rest > r->max - r->taken) {
        r->why = "reply is too large";
        goto declined;
    }

    /*
     * hiredis looks for the end of a line from its start each time, which an
     * endless line would make quadratic.
     */

    if (rest > RELAY_RESP_LINE
        && memchr(r->reader->buf + r->reader->pos, '\r', RELAY_RESP_LINE)
           == NULL)
    {
        r->why = "line is too long";
        goto declined;
    }

    return RELAY_AGAIN;

declined:

    *why = r->why;

    return RELAY_DECLINED;
}


void
relay_resp_reply_free(relay_resp_reply_t *reply)
{
    size_t  i;

    if (reply == NULL) {
        return;
    }

    /* recursion ends at RELAY_RESP_DEPTH, which the reader enforces */

    for (i = 0; i < reply->n; i++) {
        relay_resp_reply_free(reply->elts[i]);
    }

    free(reply);
}


const relay_str_t *
relay_resp_field(const relay_resp_reply_t *hash, const char *name, size_t len)
{
    size_t                     i;
    const relay_resp_reply_t  *key, *value;

    if (hash == NULL || hash->type != RELAY_RESP_ARRAY) {
        return NULL;
    }

    for (i = 0; i + 1 < hash->n; i += 2) {
        key = hash->elts[i];
        value = hash->elts[i + 1];

        if (key->type == RELAY_RESP_BULK
            && key->str.len == len
            && memcmp(key->str.data, name, len) == 0)
        {
            return value->type == RELAY_RESP_BULK ? &value->str : NULL;
        }
    }

    return NULL;
}


static void *
relay_resp_refuse(const redisReadTask *task, const char *why)
{
    relay_resp_reader_t  *r;

    r = task->privdata;
    r->why = why;

    return NULL;
}


/* The object and what belongs to it are one allocation. */

static relay_resp_reply_t *
relay_resp_create(const redisReadTask *task, relay_resp_type_e type,
    size_t extra)
{
    relay_resp_reply_t  *reply, *parent;

    reply = calloc(1, sizeof(relay_resp_reply_t) + extra);
    if (reply == NULL) {
        return relay_resp_refuse(task, "no memory for a reply");
    }

    reply->type = type;

    if (task->parent != NULL) {
        parent = task->parent->obj;
        parent->elts[task->idx] = reply;
    }

    return reply;
}


static void *
relay_resp_create_string(const redisReadTask *task, char *data, size_t len)
{
    relay_resp_type_e     type;
    relay_resp_reader_t  *r;
    relay_resp_reply_t   *reply;

    r = task->privdata;

    switch (task->type) {

    case REDIS_REPLY_STRING:
        type = RELAY_RESP_BULK;

        /* hiredis skips two bytes after a bulk string, whatever they are */

        if (data[len] != '\r' || data[len + 1] != '\n') {
            return relay_resp_refuse(task, "bulk string is not ended by CRLF");
        }

        break;

    case REDIS_REPLY_STATUS:
        type = RELAY_RESP_STATUS;
        break;

    case REDIS_REPLY_ERROR:
        type = RELAY_RESP_ERROR;
        break;

    default:
        return relay_resp_refuse(task, "not a RESP2 reply");
    }

    if (len > r->max) {
        return relay_resp_refuse(task, "reply is too large");
    }

    reply = relay_resp_create(task, type, len + 1);
    if (reply == NULL) {
        return NULL;
    }

    reply->str.data = (unsigned char *) (reply + 1);
    reply->str.len = len;

    if (len) {
        memcpy(reply->str.data, data, len);
    }

    return reply;
}


static void *
relay_resp_create_array(const redisReadTask *task, relay_resp_count_t n)
{
    size_t                count, depth;
    relay_resp_reader_t  *r;
    relay_resp_reply_t   *reply;
    const redisReadTask  *t;

    r = task->privdata;

    if (task->type != REDIS_REPLY_ARRAY) {
        return relay_resp_refuse(task, "not a RESP2 reply");
    }

    depth = 0;

    for (t = task; t != NULL; t = t->parent) {
        depth++;
    }

    if (depth > RELAY_RESP_DEPTH) {
        return relay_resp_refuse(task, "arrays are nested too deep");
    }

    /*
     * An array is announced before it is sent: three bytes at least for each
     * element must fit in what one reply may take.
     */

    count = (size_t) n;

    if (count > RELAY_RESP_ELEMENTS - r->elements
        || r->elements + count > r->max / 3)
    {
        return relay_resp_refuse(task, "array is too large");
    }

    r->elements += count;

    reply = relay_resp_create(task, RELAY_RESP_ARRAY,
                              count * sizeof(relay_resp_reply_t *));
    if (reply == NULL) {
        return NULL;
    }

    reply->n = count;
    reply->elts = (relay_resp_reply_t **) (reply + 1);

    return reply;
}


static void *
relay_resp_create_integer(const redisReadTask *task, long long value)
{
    relay_resp_reply_t  *reply;

    if (task->type != REDIS_REPLY_INTEGER) {
        return relay_resp_refuse(task, "not a RESP2 reply");
    }

    reply = relay_resp_create(task, RELAY_RESP_INTEGER, 0);
    if (reply == NULL) {
        return NULL;
    }

    reply->integer = value;

    return reply;
}


static void *
relay_resp_create_nil(const redisReadTask *task)
{
    /* "$-1" and "*-1"; RESP3 has a null of its own */

    if (task->type != REDIS_REPLY_STRING && task->type != REDIS_REPLY_ARRAY) {
        return relay_resp_refuse(task, "not a RESP2 reply");
    }

    return relay_resp_create(task, RELAY_RESP_NIL, 0);
}


#if (HIREDIS_MAJOR > 0)

static void *
relay_resp_create_double(const redisReadTask *task, double value, char *data,
    size_t len)
{
    return relay_resp_refuse(task, "not a RESP2 reply");
}


static void *
relay_resp_create_bool(const redisReadTask *task, int value)
{
    return relay_resp_refuse(task, "not a RESP2 reply");
}

#endif


static void
relay_resp_free_object(void *object)
{
    relay_resp_reply_free(object);
}


relay_uint_t
relay_resp_denied(const relay_str_t *error)
{
    size_t              i;
    const relay_str_t  *start;

    static const relay_str_t  starts[] = {
        relay_string("NOPERM"),
        relay_string("NOAUTH"),
        relay_string("WRONGPASS"),
        relay_string("ERR The user executing the script")
    };

    for (i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        start = &starts[i];

        if (error->len >= start->len
            && memcmp(error->data, start->data, start->len) == 0)
        {
            return 1;
        }
    }

    return 0;
}


size_t
relay_resp_error_text(const relay_str_t *error, const relay_str_t *secret,
    unsigned char *buf, size_t max)
{
    size_t  i, len, n;

    len = error->len;
    n = secret->len < RELAY_RESP_SECRET ? secret->len : RELAY_RESP_SECRET;

    for (i = 0; n && i + n <= error->len; i++) {

        if (memcmp(error->data + i, secret->data, n) == 0) {

            for (len = 0; len < i && error->data[len] != ' '; len++) {
                /* void */
            }

            break;
        }
    }

    len = len < max ? len : max;

    for (i = 0; i < len; i++) {
        buf[i] = error->data[i] < 0x20 || error->data[i] > 0x7e
                 ? '?' : error->data[i];
    }

    return len;
}
