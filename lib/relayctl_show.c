
/*
 * relayctl_show: the commands that read the store: show, receipts.
 */

#include <stdio.h>
#include <stdlib.h>

#include "relayctl.h"


#define RELAYCTL_SCAN       1000            /* keys a step */
#define RELAYCTL_KEYS       100000          /* links or grants of a relay */
#define RELAYCTL_PAGE       500             /* receipts a step */
#define RELAYCTL_BLOCK      1000            /* ms that --follow waits */


typedef enum {
    RELAYCTL_SHOW_TEXT = 0,
    RELAYCTL_SHOW_NUMBER,
    RELAYCTL_SHOW_TIME
} relayctl_show_e;


typedef struct {
    const char          *name;
    relayctl_show_e      as;
} relayctl_show_t;


typedef struct {
    relay_str_t         *keys;
    size_t               n;
    size_t               size;
} relayctl_list_t;


static void relayctl_show_value(relayctl_t *ctl, relay_buf_t *out,
    const relay_resp_reply_t *reply, const relayctl_show_t *f);
static void relayctl_show_record(relayctl_t *ctl, relay_buf_t *out,
    const relay_resp_reply_t *reply);
static int64_t relayctl_show_number(const relay_str_t *s);
static int relayctl_compare(const void *one, const void *two);
static int relayctl_scan(relayctl_t *ctl, const relay_str_t *head,
    const char *kind, relayctl_list_t *list);
static int relayctl_list_add(relayctl_t *ctl, relayctl_list_t *list,
    const relay_str_t *key);
static int relayctl_show_list(relayctl_t *ctl, const relay_str_t *head,
    const char *kind, relay_buf_t *out);
static int relayctl_entry_ok(const char *s);
static void relayctl_entry_before(const char *s, relay_buf_t *out);
static int relayctl_print_entry(relayctl_t *ctl,
    const relay_resp_reply_t *entry, relay_buf_t *out);
static int relayctl_print_entries(relayctl_t *ctl,
    const relay_resp_reply_t *entries, int reverse, relay_buf_t *last);
static int relayctl_receipts_range(relayctl_t *ctl, const relay_str_t *key,
    const char *from, int64_t count, relay_buf_t *last);
static int relayctl_receipts_last(relayctl_t *ctl, const relay_str_t *key,
    int64_t count, relay_buf_t *last);
static int relayctl_receipts_follow(relayctl_t *ctl, const relay_str_t *key,
    relay_buf_t *last);


/* every other field follows, as text */

static const relayctl_show_t  relayctl_shown[] = {
    { "state", RELAYCTL_SHOW_TEXT },
    { "schema", RELAYCTL_SHOW_TEXT },
    { "title", RELAYCTL_SHOW_TEXT },
    { "version", RELAYCTL_SHOW_NUMBER },
    { "id", RELAYCTL_SHOW_TEXT },
    { "mode", RELAYCTL_SHOW_TEXT },
    { "access", RELAYCTL_SHOW_TEXT },
    { "view", RELAYCTL_SHOW_TEXT },
    { "permission", RELAYCTL_SHOW_TEXT },
    { "email", RELAYCTL_SHOW_TEXT },
    { "iss", RELAYCTL_SHOW_TEXT },
    { "sub", RELAYCTL_SHOW_TEXT },
    { "name", RELAYCTL_SHOW_TEXT },
    { "link", RELAYCTL_SHOW_TEXT },
    { "owner_iss", RELAYCTL_SHOW_TEXT },
    { "owner_sub", RELAYCTL_SHOW_TEXT },
    { "owner_email", RELAYCTL_SHOW_TEXT },
    { "exp", RELAYCTL_SHOW_TIME },
    { "accepted_at", RELAYCTL_SHOW_TIME },
    { "accepted_version", RELAYCTL_SHOW_NUMBER },
    { "revoked_at", RELAYCTL_SHOW_TIME },
    { "revoked_by", RELAYCTL_SHOW_TEXT },
    { "revoked_reason", RELAYCTL_SHOW_TEXT },
    { "epoch", RELAYCTL_SHOW_NUMBER },
    { NULL, RELAYCTL_SHOW_TEXT }
};


/* -1: no number, shown as it stands. */

static int64_t
relayctl_show_number(const relay_str_t *s)
{
    size_t   i;
    int64_t  n;

    if (s->len == 0 || s->len > 15) {
        return -1;
    }

    n = 0;

    for (i = 0; i < s->len; i++) {

        if (s->data[i] < '0' || s->data[i] > '9') {
            return -1;
        }

        n = n * 10 + (s->data[i] - '0');
    }

    return n;
}


static void
relayctl_show_value(relayctl_t *ctl, relay_buf_t *out,
    const relay_resp_reply_t *reply, const relayctl_show_t *f)
{
    int64_t             n;
    const relay_str_t  *value;

    value = relay_resp_field(reply, f->name, strlen(f->name));

    if (value == NULL || value->len == 0) {
        return;
    }

    n = f->as == RELAYCTL_SHOW_TEXT ? -1 : relayctl_show_number(value);

    if (n < 0) {
        relayctl_field(ctl, out, f->name, value);

    } else if (f->as == RELAYCTL_SHOW_NUMBER) {

        if (n > 0) {
            relayctl_field_int(ctl, out, f->name, n);
        }

    } else {
        relayctl_field_time(ctl, out, f->name, n);
    }
}


void
relayctl_show_field(relayctl_t *ctl, relay_buf_t *out,
    const relay_resp_reply_t *reply, const char *name)
{
    const relayctl_show_t  *f;

    for (f = relayctl_shown; f->name != NULL; f++) {
        if (strcmp(f->name, name) == 0) {
            relayctl_show_value(ctl, out, reply, f);
            return;
        }
    }
}


static void
relayctl_show_record(relayctl_t *ctl, relay_buf_t *out,
    const relay_resp_reply_t *reply)
{
    size_t                     i;
    relay_buf_t               *name;
    const relay_str_t         *key;
    const relayctl_show_t     *f;

    for (f = relayctl_shown; f->name != NULL; f++) {
        relayctl_show_value(ctl, out, reply, f);
    }

    for (i = 0; reply->type == RELAY_RESP_ARRAY && i + 1 < reply->n; i += 2) {

        key = &reply->elts[i]->str;

        for (f = relayctl_shown; f->name != NULL; f++) {
            if (key->len == strlen(f->name)
                && memcmp(key->data, f->name, key->len) == 0)
            {
                break;
            }
        }

        /* somebody else's field: only with a name that needs no quoting */

        if (f->name == NULL && relay_id_check(key) == RELAY_OK) {
            name = relayctl_buf(ctl, RELAY_ID_MAX + 1);

            relay_buf_append_str(name, key);

            if (relay_buf_append_c(name, '\0') == RELAY_OK) {
                relayctl_field(ctl, out, (char *) name->data,
                               &reply->elts[i + 1]->str);
            }
        }
    }
}


static int
relayctl_compare(const void *one, const void *two)
{
    int                 rc;
    size_t              len;
    const relay_str_t  *a, *b;

    a = one;
    b = two;
    len = a->len < b->len ? a->len : b->len;

    rc = memcmp(a->data, b->data, len);

    if (rc != 0) {
        return rc;
    }

    return a->len < b->len ? -1 : a->len > b->len;
}


static int
relayctl_list_add(relayctl_t *ctl, relayctl_list_t *list,
    const relay_str_t *key)
{
    size_t        size;
    relay_str_t  *grown;

    if (list->n == RELAYCTL_KEYS) {
        return relayctl_fail(ctl, RELAYCTL_STORE,
                             "more than %d records: too many to show",
                             RELAYCTL_KEYS);
    }

    if (list->n == list->size) {
        size = list->size ? list->size * 2 : 64;
        grown = realloc(list->keys, size * sizeof(relay_str_t));

        if (grown == NULL) {
            return relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
        }

        list->keys = grown;
        list->size = size;
    }

    list->keys[list->n++] = *key;

    return RELAYCTL_OK;
}


/* The keys of a relay's links (kind ":l:") or grants (":g:"), in order. */

static int
relayctl_scan(relayctl_t *ctl, const relay_str_t *head, const char *kind,
    relayctl_list_t *list)
{
    int                  rc;
    size_t               i, n;
    relay_buf_t         *pattern;
    relay_str_t          argv[6], cursor;
    relay_resp_reply_t  *reply;

    pattern = relayctl_buf(ctl, 2 * RELAY_KEY_MAX);

    for (i = 0; i < head->len; i++) {

        if (strchr("*?[]\\^", head->data[i]) != NULL) {
            relay_buf_append_c(pattern, '\\');
        }

        relay_buf_append_c(pattern, head->data[i]);
    }

    relay_buf_append_z(pattern, kind);

    if (relay_buf_append_c(pattern, '*') != RELAY_OK) {
        return relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
    }

    relay_str_set(&cursor, "0");

    do {
        relay_str_set(&argv[0], "SCAN");
        argv[1] = cursor;
        relay_str_set(&argv[2], "MATCH");
        relay_buf_str(pattern, &argv[3]);
        relay_str_set(&argv[4], "COUNT");
        argv[5] = relayctl_int_str(ctl, RELAYCTL_SCAN);

        rc = relayctl_call(ctl, 6, argv, 0, &reply);
        if (rc != RELAYCTL_OK) {
            return rc;
        }

        if (reply->type != RELAY_RESP_ARRAY || reply->n != 2
            || reply->elts[1]->type != RELAY_RESP_ARRAY)
        {
            return relayctl_fail(ctl, RELAYCTL_STORE,
                                 "redis: not an answer of SCAN");
        }

        cursor = reply->elts[0]->str;

        for (i = 0; i < reply->elts[1]->n; i++) {
            rc = relayctl_list_add(ctl, list, &reply->elts[1]->elts[i]->str);
            if (rc != RELAYCTL_OK) {
                return rc;
            }
        }

    } while (!relay_str_is(&cursor, "0"));

    if (list->n == 0) {
        return RELAYCTL_OK;
    }

    /* SCAN may name a key twice */

    qsort(list->keys, list->n, sizeof(relay_str_t), relayctl_compare);

    for (i = 1, n = 1; i < list->n; i++) {
        if (!relay_str_eq(&list->keys[i], &list->keys[n - 1])) {
            list->keys[n++] = list->keys[i];
        }
    }

    list->n = n;

    return RELAYCTL_OK;
}


static int
relayctl_show_list(relayctl_t *ctl, const relay_str_t *head, const char *kind,
    relay_buf_t *out)
{
    int                  rc, any;
    size_t               i;
    const char          *field, *name;
    relay_buf_t         *record;
    relay_str_t          digest, s;
    relay_link_t         link;
    relay_grant_t        grant;
    relay_int_t          decoded;
    relayctl_list_t      list;
    relay_resp_reply_t  *reply;

    memset(&list, 0, sizeof(relayctl_list_t));
    name = kind[1] == 'l' ? "link" : "grant";

    rc = relayctl_scan(ctl, head, kind, &list);

    if (ctl->json) {
        relay_buf_printf(out, ",\"%ss\":[", name);
    }

    any = 0;

    for (i = 0; rc == RELAYCTL_OK && i < list.n; i++) {
        rc = relayctl_record(ctl, &list.keys[i], &reply);

        if (rc != RELAYCTL_OK || reply->n == 0) {
            continue;
        }

        digest.data = list.keys[i].data + head->len + strlen(kind);
        digest.len = list.keys[i].len - head->len - strlen(kind);

        record = relayctl_buf(ctl, 256 * 1024);
        relayctl_field(ctl, record, kind[1] == 'l' ? "link" : "reader",
                       &digest);

        field = NULL;
        decoded = kind[1] == 'l' ? relay_link_decode(reply, &link, &field)
                                 : relay_grant_decode(reply, &grant, &field);

        if (decoded != RELAY_OK) {
            s = relayctl_str(field ? field : "?");
            relayctl_field(ctl, record, "bad_record", &s);
        }

        relayctl_show_record(ctl, record, reply);

        if (ctl->json) {
            relay_buf_append_z(out, any ? "," : "");
            relay_buf_append(out, record->data, record->len);
            relay_buf_append_c(out, '}');

        } else {
            relay_buf_append_c(out, '\n');
            relay_buf_append(out, record->data, record->len);
        }

        any = 1;
    }

    if (ctl->json) {
        relay_buf_append_c(out, ']');
    }

    free(list.keys);

    return rc;
}


int
relayctl_show(relayctl_t *ctl)
{
    int                  rc;
    const char          *field;
    relay_buf_t         *out;
    relay_str_t          id, head, s;
    relay_head_t         decoded;
    relay_resp_reply_t  *reply;

    if (relayctl_get_id(ctl, 0, &id) != RELAYCTL_OK) {
        return RELAYCTL_USAGE;
    }

    rc = relayctl_connect(ctl);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    head = relayctl_key_head(ctl, &id);

    rc = relayctl_record(ctl, &head, &reply);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    if (reply->n == 0) {
        return relayctl_fail(ctl, RELAYCTL_NOT_FOUND, "%s: %s",
                             ctl->operands[0], relayctl_no_relay(ctl));
    }

    out = relayctl_buf(ctl, 64 * 1024 * 1024);

    relayctl_field(ctl, out, "relay", &id);
    field = NULL;

    if (relay_head_decode(reply, &decoded, &field) != RELAY_OK) {
        s = relayctl_str(field ? field : "?");
        relayctl_field(ctl, out, "bad_record", &s);
    }

    relayctl_show_record(ctl, out, reply);

    rc = relayctl_show_list(ctl, &head, ":l:", out);

    if (rc == RELAYCTL_OK) {
        rc = relayctl_show_list(ctl, &head, ":g:", out);
    }

    return rc != RELAYCTL_OK ? rc : relayctl_print(ctl, out);
}


/* "1700000000000-0", the second half optional. */

static int
relayctl_entry_ok(const char *s)
{
    size_t  n;

    n = strspn(s, "0123456789");

    if (n == 0 || n > 19) {
        return 0;
    }

    s += n;

    if (*s == '\0') {
        return 1;
    }

    if (*s++ != '-') {
        return 0;
    }

    n = strspn(s, "0123456789");

    return n > 0 && n < 20 && s[n] == '\0';
}


/* The greatest id below s, which --follow then starts behind. */

static void
relayctl_entry_before(const char *s, relay_buf_t *out)
{
    const char          *p;
    unsigned long long   ms, n;

    ms = strtoull(s, NULL, 10);
    p = strchr(s, '-');
    n = p != NULL ? strtoull(p + 1, NULL, 10) : 0;

    relay_buf_reset(out);

    if (n) {
        relay_buf_printf(out, "%llu-%llu", ms, n - 1);

    } else if (ms) {
        relay_buf_printf(out, "%llu-%llu", ms - 1,
                         (unsigned long long) UINT64_MAX);

    } else {
        relay_buf_append_z(out, "0-0");
    }
}


static int
relayctl_print_entry(relayctl_t *ctl, const relay_resp_reply_t *entry,
    relay_buf_t *out)
{
    relay_int_t          rc;
    relay_str_t          s;
    relay_json_tape_t    tape;
    relay_json_error_t   err;
    const relay_str_t   *id, *receipt;

    id = &entry->elts[0]->str;
    receipt = relay_resp_field(entry->elts[1], "r", 1);

    if (receipt == NULL) {
        relayctl_warn(ctl, "%.*s: no receipt", (int) id->len,
                      (char *) id->data);
        return RELAYCTL_OK;
    }

    relay_buf_reset(out);

    if (ctl->json) {
        relay_json_tape_init(&tape);
        rc = relay_json_parse(&tape, receipt, &relay_json_default_limits,
                              &err);
        relay_json_tape_free(&tape);

        relayctl_field(ctl, out, "entry", id);
        relay_buf_append_z(out, ",\"receipt\":");

        if (rc == RELAY_OK) {
            relay_buf_append_str(out, receipt);

        } else {
            relay_buf_append_json(out, receipt);
        }

        relay_buf_append_z(out, "}\n");

    } else {
        relayctl_append_safe(out, id);
        relay_buf_append_c(out, ' ');
        relayctl_append_safe(out, receipt);
        relay_buf_append_c(out, '\n');
    }

    if (out->failed) {
        return relayctl_fail(ctl, RELAYCTL_STORE, "%.*s: too large",
                             (int) id->len, (char *) id->data);
    }

    relay_buf_str(out, &s);

    return relayctl_write(ctl, &s);
}


/* Prints the entries of a reply and remembers the last one's id. */

static int
relayctl_print_entries(relayctl_t *ctl, const relay_resp_reply_t *entries,
    int reverse, relay_buf_t *last)
{
    int                   rc;
    size_t                i, n;
    relay_buf_t          *out;
    relay_resp_reply_t   *entry;

    if (entries->type != RELAY_RESP_ARRAY) {
        return relayctl_fail(ctl, RELAYCTL_STORE, "redis: not a stream");
    }

    out = relayctl_buf(ctl, 1024 * 1024);

    for (i = 0; i < entries->n; i++) {
        n = reverse ? entries->n - 1 - i : i;
        entry = entries->elts[n];

        if (entry->type != RELAY_RESP_ARRAY || entry->n != 2) {
            return relayctl_fail(ctl, RELAYCTL_STORE, "redis: not a stream");
        }

        rc = relayctl_print_entry(ctl, entry, out);
        if (rc != RELAYCTL_OK) {
            return rc;
        }

        relay_buf_reset(last);
        relay_buf_append_str(last, &entry->elts[0]->str);
    }

    return RELAYCTL_OK;
}


/* From an entry on; count 0: all. */

static int
relayctl_receipts_range(relayctl_t *ctl, const relay_str_t *key,
    const char *from, int64_t count, relay_buf_t *last)
{
    int                  rc;
    int64_t              left, page;
    relay_buf_t         *start;
    relay_str_t          argv[6];
    relayctl_memory_t   *mark;
    relay_resp_reply_t  *reply;

    start = relayctl_buf(ctl, 64);
    relay_buf_append_z(start, from);

    mark = relayctl_mark(ctl);
    left = count;

    for ( ;; ) {
        page = count && left < RELAYCTL_PAGE ? left : RELAYCTL_PAGE;

        relay_str_set(&argv[0], "XRANGE");
        argv[1] = *key;
        relay_buf_str(start, &argv[2]);
        relay_str_set(&argv[3], "+");
        relay_str_set(&argv[4], "COUNT");
        argv[5] = relayctl_int_str(ctl, page);

        rc = relayctl_call(ctl, 6, argv, 0, &reply);

        if (rc == RELAYCTL_OK) {
            rc = relayctl_print_entries(ctl, reply, 0, last);
        }

        if (rc != RELAYCTL_OK) {
            return rc;
        }

        left -= (int64_t) reply->n;

        if ((int64_t) reply->n < page || (count && left == 0)) {
            relayctl_release(ctl, mark);
            return RELAYCTL_OK;
        }

        /* without the last one itself */

        relay_buf_reset(start);
        relay_buf_append_c(start, '(');
        relay_buf_append(start, last->data, last->len);

        relayctl_release(ctl, mark);
    }
}


static int
relayctl_receipts_last(relayctl_t *ctl, const relay_str_t *key, int64_t count,
    relay_buf_t *last)
{
    int                  rc;
    relay_str_t          argv[6];
    relay_resp_reply_t  *reply;

    relay_str_set(&argv[0], "XREVRANGE");
    argv[1] = *key;
    relay_str_set(&argv[2], "+");
    relay_str_set(&argv[3], "-");
    relay_str_set(&argv[4], "COUNT");
    argv[5] = relayctl_int_str(ctl, count);

    rc = relayctl_call(ctl, 6, argv, 0, &reply);

    return rc != RELAYCTL_OK ? rc
                             : relayctl_print_entries(ctl, reply, 1, last);
}


static int
relayctl_receipts_follow(relayctl_t *ctl, const relay_str_t *key,
    relay_buf_t *last)
{
    int                  rc;
    relay_str_t          argv[8];
    relayctl_memory_t   *mark;
    relay_resp_reply_t  *reply, *stream;

    mark = relayctl_mark(ctl);

    for ( ;; ) {
        relay_str_set(&argv[0], "XREAD");
        relay_str_set(&argv[1], "COUNT");
        argv[2] = relayctl_int_str(ctl, RELAYCTL_PAGE);
        relay_str_set(&argv[3], "BLOCK");
        argv[4] = relayctl_int_str(ctl, RELAYCTL_BLOCK);
        relay_str_set(&argv[5], "STREAMS");
        argv[6] = *key;
        relay_buf_str(last, &argv[7]);

        rc = relayctl_call(ctl, 8, argv, RELAYCTL_BLOCK, &reply);
        if (rc != RELAYCTL_OK) {
            return rc;
        }

        if (reply->type == RELAY_RESP_ARRAY && reply->n == 1) {
            stream = reply->elts[0];

            if (stream->type != RELAY_RESP_ARRAY || stream->n != 2) {
                return relayctl_fail(ctl, RELAYCTL_STORE,
                                     "redis: not a stream");
            }

            rc = relayctl_print_entries(ctl, stream->elts[1], 0, last);
            if (rc != RELAYCTL_OK) {
                return rc;
            }
        }

        relayctl_release(ctl, mark);
    }
}


int
relayctl_receipts(relayctl_t *ctl)
{
    int           rc;
    int64_t       count;
    const char   *from;
    relay_buf_t  *last;
    relay_str_t   id, key, head;
    relay_uint_t  exists;

    count = 0;

    if (relayctl_get_id(ctl, 0, &id) != RELAYCTL_OK
        || relayctl_get_number(ctl, "count", 1, 100000, &count)
           != RELAYCTL_OK)
    {
        return RELAYCTL_USAGE;
    }

    from = relayctl_option(ctl, "from");

    if (from != NULL && !relayctl_entry_ok(from)) {
        return relayctl_fail(ctl, RELAYCTL_USAGE,
                             "--from: an entry like 1700000000000-0");
    }

    rc = relayctl_connect(ctl);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    key = relayctl_key_receipts(ctl, &id);
    head = relayctl_key_head(ctl, &id);

    rc = relayctl_exists(ctl, &key, &exists);

    if (rc == RELAYCTL_OK && !exists) {
        rc = relayctl_exists(ctl, &head, &exists);
    }

    if (rc != RELAYCTL_OK) {
        return rc;
    }

    if (!exists) {
        return relayctl_fail(ctl, RELAYCTL_NOT_FOUND, "%s: %s",
                             ctl->operands[0], relayctl_no_relay(ctl));
    }

    last = relayctl_buf(ctl, 64);
    relayctl_entry_before(from ? from : "0-0", last);

    if (from == NULL && count) {
        rc = relayctl_receipts_last(ctl, &key, count, last);

    } else {
        rc = relayctl_receipts_range(ctl, &key, from ? from : "-", count,
                                     last);
    }

    if (rc == RELAYCTL_OK && relayctl_option(ctl, "follow") != NULL) {
        rc = relayctl_receipts_follow(ctl, &key, last);
    }

    return rc;
}
