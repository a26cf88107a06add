
/*
 * relay_receipt: whatever the fields hold, a receipt is one line of JSON with
 * just those values.
 */

#include <jansson.h>

#include "fuzz.h"
#include "relay_keys.h"
#include "relay_link.h"
#include "relay_receipt.h"
#include "relay_view.h"


#define REPLACEMENT  "\xef\xbf\xbd"


/*
 * The text that JSON can hold of some bytes: jansson says what is UTF-8; each
 * other byte becomes U+FFFD.
 */

static void
readable(const relay_str_t *s, relay_buf_t *out)
{
    size_t   i, n, want;
    json_t  *text;

    for (i = 0; i < s->len; i += n) {
        n = 1;

        if (s->data[i] < 0x80) {
            relay_buf_append_c(out, s->data[i]);
            continue;
        }

        want = (s->data[i] >= 0xf0) ? 4 : (s->data[i] >= 0xe0) ? 3 : 2;
        text = NULL;

        if (s->len - i >= want) {
            text = json_stringn((char *) s->data + i, want);
        }

        if (text == NULL) {
            relay_buf_append_z(out, REPLACEMENT);
            continue;
        }

        json_decref(text);
        relay_buf_append(out, s->data + i, want);
        n = want;
    }

    fuzz_assert(!out->failed);
}


/* Takes a member out of the receipt, so that what is left was not expected. */

static json_t *
take(json_t *object, const char *name)
{
    json_t  *value;

    value = json_incref(json_object_get(object, name));

    if (value != NULL) {
        json_object_del(object, name);
    }

    return value;
}


static void
exact(json_t *object, const char *name, const relay_str_t *s)
{
    json_t       *value;
    relay_buf_t   text;

    value = take(object, name);

    if (s->len == 0) {
        fuzz_assert(value == NULL);
        return;
    }

    relay_buf_init(&text, 1024 * 1024);
    readable(s, &text);

    fuzz_assert(json_is_string(value));
    fuzz_assert(json_string_length(value) == text.len);
    fuzz_assert(memcmp(json_string_value(value), text.data, text.len) == 0);

    relay_buf_free(&text);
    json_decref(value);
}


/* What is shown may be cut; what is short must not be. */

static void
shown(json_t *object, const char *name, const relay_str_t *s, size_t max)
{
    size_t        n;
    json_t       *value;
    relay_buf_t   text;

    value = take(object, name);

    if (value == NULL) {
        fuzz_assert(s->len == 0 || s->len * 6 > max * 3);
        return;
    }

    relay_buf_init(&text, 1024 * 1024);
    readable(s, &text);

    n = json_string_length(value);

    fuzz_assert(n != 0 && n <= text.len && n <= 3 * max);
    fuzz_assert(memcmp(json_string_value(value), text.data, n) == 0);
    fuzz_assert(n == text.len || s->len * 6 > max * 3);

    relay_buf_free(&text);
    json_decref(value);
}


static void
integer(json_t *object, const char *name, int64_t n, int there)
{
    json_t  *value;

    value = take(object, name);

    if (!there) {
        fuzz_assert(value == NULL);
        return;
    }

    fuzz_assert(json_is_integer(value) && json_integer_value(value) == n);
    json_decref(value);
}


static void
word(json_t *object, const char *name, const relay_str_t *s, int there)
{
    static const relay_str_t  none = relay_null_string;

    exact(object, name, there ? s : &none);
}


static void
reader(json_t *object, const relay_identity_t *id)
{
    json_t  *value, *confirmed;

    value = take(object, "reader");

    if (id == NULL) {
        fuzz_assert(value == NULL);
        return;
    }

    fuzz_assert(json_is_object(value));

    if (id->issuer.len == 0) {
        confirmed = take(value, "issuer");
        fuzz_assert(json_is_string(confirmed)
                    && json_string_length(confirmed) == 0);
        json_decref(confirmed);

    } else {
        exact(value, "issuer", &id->issuer);
    }

    exact(value, "subject", &id->subject);
    exact(value, "email", &id->email);
    shown(value, "name", &id->name, RELAY_NAME_MAX);

    confirmed = take(value, "confirmed");

    if (id->email.len == 0) {
        fuzz_assert(confirmed == NULL);

    } else {
        fuzz_assert(json_is_boolean(confirmed));
        fuzz_assert(json_is_true(confirmed)
                    == (id->email_verified && id->email_trusted));
        json_decref(confirmed);
    }

    fuzz_assert(json_object_size(value) == 0);

    json_decref(value);

    shown(object, "client", &id->client, RELAY_NAME_MAX);
}


static void
compare(const relay_receipt_t *r, const relay_str_t *text)
{
    size_t          i;
    json_t         *object, *rebound;
    relay_str_t     s;
    unsigned char   digest[RELAY_DIGEST_LEN];

    fuzz_assert(text->len <= RELAY_RECEIPT_MAX);

    for (i = 0; i < text->len; i++) {
        fuzz_assert(text->data[i] >= ' ' && text->data[i] != 0x7f);
    }

    object = json_loadb((char *) text->data, text->len,
                        JSON_REJECT_DUPLICATES|JSON_ALLOW_NUL, NULL);
    fuzz_assert(json_is_object(object));

    word(object, "kind", relay_receipt_kind_name(r->kind), 1);
    exact(object, "id", &r->id);
    integer(object, "time", r->time, 1);

    if (r->relay.len != 0 && relay_id_check(&r->relay) != RELAY_OK) {
        relay_digest(&r->relay, digest);
        s.data = digest;
        s.len = sizeof(digest);
        exact(object, "relay", &s);

    } else {
        exact(object, "relay", &r->relay);
    }

    integer(object, "version", r->version, r->version > 0);
    exact(object, "link", &r->link);
    exact(object, "grant", &r->grant);
    reader(object, r->reader);
    word(object, "view", relay_view_name(r->view), r->view != 0);
    word(object, "permission", relay_permission_name(r->permission),
         r->permission != 0);
    shown(object, "channel", &r->channel, 64);
    shown(object, "method", &r->method, 128);
    word(object, "reason", relay_reason_name(r->reason), r->reason != 0);
    integer(object, "status", (int64_t) r->status, r->status != 0);
    integer(object, "bytes", r->bytes, r->bytes >= 0);
    exact(object, "digest", &r->digest);
    integer(object, "withheld", r->withheld, r->withheld >= 0);
    integer(object, "offset", r->offset, r->offset >= 0);
    integer(object, "count", r->count, r->count > 0);
    exact(object, "of", &r->of);
    shown(object, "ip", &r->ip, 64);

    rebound = take(object, "rebound");
    fuzz_assert(r->rebound ? json_is_true(rebound) : rebound == NULL);

    fuzz_assert(json_object_size(object) == 0);

    json_decref(object);
}


static void
id(fuzz_in_t *in)
{
    uint64_t      seq;
    relay_buf_t   out;
    relay_int_t   rc;
    relay_str_t   process, text;
    char          expected[256];

    seq = fuzz_u64(in);
    process = fuzz_str(in);

    relay_buf_init(&out, 256);

    rc = relay_receipt_id(&process, seq, &out);

    fuzz_assert((rc == RELAY_OK) == (relay_id_check(&process) == RELAY_OK));

    if (rc == RELAY_OK) {
        snprintf(expected, sizeof(expected), "%.*s-%llu", (int) process.len,
                 (char *) process.data, (unsigned long long) seq);

        relay_buf_str(&out, &text);
        fuzz_assert(text.len == strlen(expected)
                    && memcmp(text.data, expected, text.len) == 0);

    } else {
        fuzz_assert(out.len == 0);
    }

    relay_buf_free(&out);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned           flags;
    fuzz_in_t          in;
    relay_buf_t        out;
    relay_str_t        text;
    relay_receipt_t    r;
    relay_identity_t   identity;

    fuzz_in_init(&in, data, size);

    memset(&r, 0, sizeof(relay_receipt_t));
    memset(&identity, 0, sizeof(relay_identity_t));

    flags = fuzz_byte(&in);

    r.kind = fuzz_byte(&in) % 8;
    r.view = fuzz_byte(&in) % RELAY_VIEW_MAX;
    r.permission = fuzz_byte(&in) % (RELAY_PERMISSION_EDIT + 1);
    r.reason = fuzz_byte(&in) % RELAY_REASON_MAX;
    r.rebound = flags & 1;

    r.id = fuzz_str(&in);
    r.relay = fuzz_str(&in);
    r.link = fuzz_str(&in);
    r.grant = fuzz_str(&in);
    r.channel = fuzz_str(&in);
    r.method = fuzz_str(&in);
    r.digest = fuzz_str(&in);
    r.of = fuzz_str(&in);
    r.ip = fuzz_str(&in);

    if (flags & 2) {
        r.reader = &identity;
        identity.issuer = fuzz_str(&in);
        identity.subject = fuzz_str(&in);
        identity.email = fuzz_str(&in);
        identity.name = fuzz_str(&in);
        identity.client = fuzz_str(&in);
        identity.email_verified = (flags >> 2) & 1;
        identity.email_trusted = (flags >> 3) & 1;
    }

    if (flags & 16) {
        r.time = (int64_t) fuzz_u64(&in);
        r.version = (int64_t) fuzz_u64(&in);
        r.status = fuzz_byte(&in);
        r.bytes = (int64_t) fuzz_u64(&in);
        r.withheld = (int64_t) fuzz_u64(&in);
        r.offset = (int64_t) fuzz_u64(&in);
        r.count = (int64_t) fuzz_u64(&in);
    }

    relay_buf_init(&out, (flags & 32) ? 512 : 1024 * 1024);
    relay_buf_append(&out, "before", 6);

    if (relay_receipt_encode(&r, &out) == RELAY_OK) {
        relay_buf_str(&out, &text);

        fuzz_assert(memcmp(text.data, "before", 6) == 0);

        text.data += 6;
        text.len -= 6;

        compare(&r, &text);

    } else if (!(flags & 32)) {
        fuzz_assert(out.len == 6 && !out.failed);

        /* what readers and clients send cannot make a receipt too long */

        fuzz_assert(r.id.len > 160 || r.relay.len > 128 || r.link.len > 43
                    || r.grant.len > 128 || r.digest.len > 43
                    || r.of.len > 160
                    || identity.issuer.len > RELAY_ISSUER_MAX
                    || identity.subject.len > RELAY_SUBJECT_MAX
                    || identity.email.len > RELAY_EMAIL_MAX);
    }

    relay_buf_free(&out);

    id(&in);

    fuzz_in_free(&in);

    return 0;
}
