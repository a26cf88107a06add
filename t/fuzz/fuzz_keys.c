
/*
 * relay_keys: the names of keys, the decoders of records over arbitrary
 * replies to HGETALL, and the fingerprint.
 */

#include "fuzz.h"
#include "relay_identity.h"
#include "relay_keys.h"
#include "relay_link.h"


#define FIELDS  40
#define SAFE    INT64_C(9007199254740991)


/* fields and values that reach further than arbitrary ones */

static const char *const  words[] = {
    "state", "epoch", "schema", "version", "access", "permission", "mode",
    "exp", "email", "owner_email", "digest", "owner_iss", "owner_sub", "title",
    "view", "id", "link", "iss", "sub", "name", "accepted_at",
    "accepted_version", "since", "reason", "active", "revoked", "lifted",
    "named", "anyone", "read", "suggest", "edit", "snapshot", "live", "1", "0",
    "9007199254740991", "9007199254740992", "owner", "recipient", "pass-on",
    "preview", "a@b.example", "https://id.example", "rly_1", "01", "-1", ""
};

#define WORDS  (sizeof(words) / sizeof(words[0]))


static relay_str_t
value(fuzz_in_t *in)
{
    unsigned  n;

    n = fuzz_byte(in);

    if (n < WORDS) {
        return fuzz_copy(in, words[n], strlen(words[n]));
    }

    if (n < WORDS + 8) {
        return fuzz_copy(in, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopq",
                         43);
    }

    return fuzz_str(in);
}


static const relay_str_t *
field(const relay_resp_reply_t *reply, const char *name)
{
    size_t  i;

    for (i = 0; i + 1 < reply->n; i += 2) {
        if (reply->elts[i]->str.len == strlen(name)
            && memcmp(reply->elts[i]->str.data, name, strlen(name)) == 0)
        {
            return &reply->elts[i + 1]->str;
        }
    }

    return NULL;
}


/* A string of a record is the value of that field, or a part of its start. */

static void
is_field(const relay_resp_reply_t *reply, const char *name,
    const relay_str_t *s, size_t max, int plain)
{
    size_t              i;
    const relay_str_t  *f;

    if (s->len == 0) {
        return;
    }

    f = field(reply, name);

    fuzz_assert(f != NULL && s->data == f->data && s->len <= f->len);
    fuzz_assert(s->len <= max);

    if (!plain) {
        return;
    }

    fuzz_assert(s->len == f->len);

    for (i = 0; i < s->len; i++) {
        fuzz_assert(s->data[i] >= ' ' && s->data[i] != 0x7f);
    }
}


static void
is_number(const relay_resp_reply_t *reply, const char *name, int64_t n)
{
    char                text[32];
    const relay_str_t  *f;

    fuzz_assert(n >= 0 && n <= SAFE);

    f = field(reply, name);

    if (f == NULL || f->len == 0) {
        fuzz_assert(n == 0);
        return;
    }

    snprintf(text, sizeof(text), "%lld", (long long) n);
    fuzz_assert(f->len == strlen(text) && memcmp(f->data, text, f->len) == 0);
}


static void
is_email(const relay_resp_reply_t *reply, const char *name,
    const relay_str_t *s)
{
    size_t         len;
    unsigned char  normal[RELAY_EMAIL_MAX];

    is_field(reply, name, s, 1024 * 1024, 0);

    fuzz_assert(s->len == 0
                || relay_email_normalize(s, normal, &len) == RELAY_OK);
}


static void
is_word(const relay_resp_reply_t *reply, const char *name,
    const relay_str_t *word, int there)
{
    const relay_str_t  *f;

    f = field(reply, name);

    if (!there) {
        fuzz_assert(f == NULL || f->len == 0);
        return;
    }

    fuzz_assert(f != NULL && relay_str_eq(f, word));
}


static void
decoded_head(const relay_resp_reply_t *r)
{
    int           active;
    const char   *at;
    relay_head_t  h;

    at = NULL;

    if (relay_head_decode(r, &h, &at) != RELAY_OK) {
        fuzz_assert(at != NULL);
        return;
    }

    fuzz_assert(at == NULL && h.found == (r->n != 0));

    if (!h.found) {
        return;
    }

    active = (h.state == RELAY_STATE_ACTIVE);

    fuzz_assert(active || h.state == RELAY_STATE_REVOKED);
    fuzz_assert(h.epoch >= 1);
    fuzz_assert(!active || h.version >= 1);
    fuzz_assert(!active || (h.schema.len && h.access && h.permission
                            && h.mode));

    is_number(r, "epoch", h.epoch);
    is_number(r, "version", h.version);
    is_number(r, "exp", h.exp);
    is_word(r, "access", relay_access_name(h.access), h.access);
    is_word(r, "permission", relay_permission_name(h.permission),
            h.permission);
    is_word(r, "mode", relay_mode_name(h.mode), h.mode);
    is_field(r, "schema", &h.schema, 128, 1);
    is_field(r, "digest", &h.digest, RELAY_DIGEST_LEN, 1);
    is_field(r, "owner_iss", &h.owner_iss, RELAY_ISSUER_MAX, 1);
    is_field(r, "owner_sub", &h.owner_sub, RELAY_SUBJECT_MAX, 1);
    is_field(r, "title", &h.title, 1024, 0);
    is_email(r, "email", &h.email);
    is_email(r, "owner_email", &h.owner_email);
}


static void
decoded_link(const relay_resp_reply_t *r)
{
    const char   *at;
    relay_link_t  l;

    at = NULL;

    if (relay_link_decode(r, &l, &at) != RELAY_OK) {
        fuzz_assert(at != NULL);
        return;
    }

    fuzz_assert(at == NULL && l.found == (r->n != 0));

    if (!l.found) {
        return;
    }

    fuzz_assert(l.state == RELAY_STATE_ACTIVE
                || l.state == RELAY_STATE_REVOKED);
    fuzz_assert(l.epoch >= 1);

    is_number(r, "epoch", l.epoch);
    is_number(r, "exp", l.exp);
    is_word(r, "access", relay_access_name(l.access), l.access);
    is_word(r, "permission", relay_permission_name(l.permission),
            l.permission);
}


static void
decoded_grant(const relay_resp_reply_t *r)
{
    int            active;
    const char    *at;
    relay_grant_t  g;

    at = NULL;

    if (relay_grant_decode(r, &g, &at) != RELAY_OK) {
        fuzz_assert(at != NULL);
        return;
    }

    fuzz_assert(at == NULL && g.found == (r->n != 0));

    if (!g.found) {
        return;
    }

    active = (g.state == RELAY_STATE_ACTIVE);

    fuzz_assert(active || g.state == RELAY_STATE_REVOKED);
    fuzz_assert(g.epoch >= 1);

    /* an active one is somebody's, and says what was accepted */

    fuzz_assert(!active || relay_id_check(&g.id) == RELAY_OK);
    fuzz_assert(!active || (g.iss.len && g.sub.len) || g.email.len);
    fuzz_assert(!active || !g.iss.len == !g.sub.len);
    fuzz_assert(!active || g.accepted_at == 0 || g.accepted_version >= 1);

    is_number(r, "epoch", g.epoch);
    is_number(r, "exp", g.exp);
    is_number(r, "accepted_at", g.accepted_at);
    is_number(r, "accepted_version", g.accepted_version);
    is_field(r, "id", &g.id, RELAY_ID_MAX, 1);
    is_field(r, "link", &g.link, RELAY_DIGEST_LEN, 1);
    is_field(r, "iss", &g.iss, RELAY_ISSUER_MAX, 1);
    is_field(r, "sub", &g.sub, RELAY_SUBJECT_MAX, 1);
    is_field(r, "name", &g.name, RELAY_NAME_MAX, 0);
    is_email(r, "email", &g.email);
    is_word(r, "permission", relay_permission_name(g.permission),
            g.permission);
}


static void
decoded_block(const relay_resp_reply_t *r)
{
    const char         *at;
    relay_block_t       b;
    const relay_str_t  *state;

    at = NULL;

    if (relay_block_decode(r, &b, &at) != RELAY_OK) {
        fuzz_assert(at != NULL);
        return;
    }

    fuzz_assert(at == NULL && b.found == (r->n != 0));

    if (!b.found) {
        return;
    }

    state = field(r, "state");

    fuzz_assert(b.epoch >= 1 && state != NULL);
    fuzz_assert(b.active ? relay_str_is(state, "active")
                         : relay_str_is(state, "lifted"));

    is_number(r, "epoch", b.epoch);
    is_number(r, "since", b.since);
    is_field(r, "reason", &b.reason, 1024, 0);
}


static void
fingerprint(const relay_resp_reply_t *r)
{
    size_t              i;
    relay_buf_t         a, b;
    const relay_str_t  *f;

    relay_buf_init(&a, 1024 * 1024);
    relay_buf_init(&b, 1024 * 1024);

    if (relay_keys_fingerprint(r, &a) == RELAY_OK) {

        for (i = 0; i < relay_keys_nguarded; i++) {
            f = field(r, relay_keys_guarded[i]);

            if (i != 0) {
                relay_buf_append_c(&b, '\n');
            }

            if (f != NULL) {
                relay_buf_append_str(&b, f);
            }
        }

        fuzz_assert(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
    }

    relay_buf_free(&a);
    relay_buf_free(&b);
}


/* All of a key's name that must be one slot's is between its first braces. */

static void
names(fuzz_in_t *in)
{
    size_t          i;
    relay_buf_t     key;
    relay_int_t     rc;
    relay_str_t     id, digest, tag, prefix;
    unsigned char  *p, *q, hash[RELAY_DIGEST_LEN];

    static const relay_str_t  usual = relay_string("relay:");

    prefix = (fuzz_byte(in) & 1) ? fuzz_str(in) : usual;
    id = fuzz_str(in);
    digest = value(in);

    tag = id;

    if (relay_id_check(&id) != RELAY_OK) {
        relay_digest(&id, hash);
        tag.data = hash;
        tag.len = sizeof(hash);
    }

    relay_buf_init(&key, 4096);

    for (i = 0; i < 5; i++) {
        relay_buf_reset(&key);

        switch (i) {

        case 0:
            rc = relay_key_head(&key, &prefix, &id);
            break;

        case 1:
            rc = relay_key_link_record(&key, &prefix, &id, &digest);
            break;

        case 2:
            rc = relay_key_grant(&key, &prefix, &id, &digest);
            break;

        case 3:
            rc = relay_key_receipts(&key, &prefix, &id);
            break;

        default:
            rc = relay_key_document(&key, &prefix, &id,
                                    (int64_t) fuzz_u64(in));
        }

        if (rc != RELAY_OK) {
            continue;
        }

        fuzz_assert(key.len <= RELAY_KEY_MAX && key.len > prefix.len);
        fuzz_assert(memcmp(key.data, prefix.data, prefix.len) == 0);

        p = memchr(key.data + prefix.len, '{', key.len - prefix.len);
        fuzz_assert(p != NULL);

        q = memchr(p, '}', key.data + key.len - p);
        fuzz_assert(q != NULL && (size_t) (q - p - 1) == tag.len);
        fuzz_assert(memcmp(p + 1, tag.data, tag.len) == 0);
    }

    relay_buf_reset(&key);
    (void) relay_key_block(&key, &prefix, fuzz_byte(in) % 4, &digest);
    relay_buf_reset(&key);
    (void) relay_key_link(&key, &prefix, &digest);

    relay_buf_free(&key);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t               i, n;
    unsigned             flags;
    fuzz_in_t            in;
    relay_resp_reply_t   reply, elts[2 * FIELDS], *list[2 * FIELDS], **exact;

    fuzz_in_init(&in, data, size);

    memset(&reply, 0, sizeof(reply));
    memset(elts, 0, sizeof(elts));

    flags = fuzz_byte(&in);
    n = (flags & 1) ? fuzz_byte(&in) % (2 * FIELDS)
                    : fuzz_byte(&in) % FIELDS * 2;

    for (i = 0; i < n && fuzz_in_left(&in) != 0; i++) {
        elts[i].type = RELAY_RESP_BULK;
        elts[i].str = value(&in);
        list[i] = &elts[i];
    }

    if (!(flags & 1)) {
        i &= ~(size_t) 1;
    }

    if ((flags & 6) == 6 && i != 0) {
        elts[i - 1].type = fuzz_byte(&in) % (RELAY_RESP_ERROR + 1);
        elts[i - 1].str.len = 0;
    }

    exact = malloc(i * sizeof(relay_resp_reply_t *));
    fuzz_assert(exact != NULL || i == 0);

    if (i != 0) {
        memcpy(exact, list, i * sizeof(relay_resp_reply_t *));
    }

    reply.type = ((flags & 24) == 24) ? RELAY_RESP_ERROR : RELAY_RESP_ARRAY;
    reply.n = i;
    reply.elts = exact;

    decoded_head(&reply);
    decoded_link(&reply);
    decoded_grant(&reply);
    decoded_block(&reply);
    fingerprint(&reply);
    names(&in);

    free(exact);
    fuzz_in_free(&in);

    return 0;
}
