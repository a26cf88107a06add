
/*
 * relay_keys: names of keys, what decoders refuse, fingerprints.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "relay_keys.h"
#include "relay_link.h"


#define D  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP0"      /* a digest */


static const relay_str_t  prefix = relay_string(RELAY_KEYS_PREFIX);


static relay_str_t
str(const char *z)
{
    relay_str_t  s;

    s.data = (unsigned char *) z;
    s.len = strlen(z);

    return s;
}


static void
is(relay_buf_t *b, const char *expected)
{
    assert_int_equal(b->len, strlen(expected));
    assert_memory_equal(b->data, expected, b->len);
    relay_buf_reset(b);
}


/* a reply to HGETALL of NULL-terminated names and values */

#define REPLY_MAX  300

static relay_resp_reply_t   elts[REPLY_MAX], *ptrs[REPLY_MAX], reply;


static relay_resp_reply_t *
bulks(const char *const *z)
{
    size_t  i;

    memset(elts, 0, sizeof(elts));

    for (i = 0; z[i] != NULL; i++) {
        elts[i].type = RELAY_RESP_BULK;
        elts[i].str = str(z[i]);
        ptrs[i] = &elts[i];
    }

    memset(&reply, 0, sizeof(reply));
    reply.type = RELAY_RESP_ARRAY;
    reply.n = i;
    reply.elts = ptrs;

    return &reply;
}


/* the same, with one field replaced, added, or (NULL) left out */

static relay_resp_reply_t *
with(const char *const *z, const char *name, const char *value)
{
    size_t              i, n;
    static const char  *copy[REPLY_MAX + 1];

    n = 0;

    for (i = 0; z[i] != NULL; i += 2) {

        if (strcmp(z[i], name) != 0) {
            copy[n++] = z[i];
            copy[n++] = z[i + 1];
        }
    }

    if (value != NULL) {
        copy[n++] = name;
        copy[n++] = value;
    }

    copy[n] = NULL;

    return bulks(copy);
}


static const char *const  head_fields[] = {
    "schema", "relay.context-package.v1", "version", "3", "state", "active",
    "mode", "snapshot", "access", "named", "email", "alice@example.com",
    "owner_iss", "https://id.example", "owner_sub", "o-1",
    "owner_email", "owner@example.com", "exp", "1700000000000",
    "permission", "suggest", "epoch", "7", "title", "A title", NULL
};

static const char *const  link_fields[] = {
    "state", "active", "epoch", "2", "view", "pass-on", "access", "named",
    "permission", "read", "exp", "5", NULL
};

static const char *const  grant_fields[] = {
    "id", "g1", "link", D, "view", "recipient", "permission", "edit",
    "state", "active", "exp", "0", "iss", "https://id.example", "sub", "alice",
    "email", "alice@example.com", "name", "Alice", "accepted_at", "1600000000",
    "accepted_version", "2", "epoch", "4", NULL
};

static const char *const  block_fields[] = {
    "state", "active", "since", "12", "reason", "why", "epoch", "1", NULL
};


static void
test_names(void **state)
{
    relay_str_t  id, d, v;
    relay_buf_t  b;

    relay_buf_init(&b, 2 * RELAY_KEY_MAX);

    id = str("acme:1.a_b-c");
    d = str(D);

    assert_int_equal(relay_key_link(&b, &prefix, &d), RELAY_OK);
    is(&b, "relay:link:" D);

    assert_int_equal(relay_key_head(&b, &prefix, &id), RELAY_OK);
    is(&b, "relay:{acme:1.a_b-c}");

    assert_int_equal(relay_key_link_record(&b, &prefix, &id, &d), RELAY_OK);
    is(&b, "relay:{acme:1.a_b-c}:l:" D);

    assert_int_equal(relay_key_grant(&b, &prefix, &id, &d), RELAY_OK);
    is(&b, "relay:{acme:1.a_b-c}:g:" D);

    assert_int_equal(relay_key_document(&b, &prefix, &id, 12), RELAY_OK);
    is(&b, "relay:doc:{acme:1.a_b-c}:12");

    assert_int_equal(relay_key_receipts(&b, &prefix, &id), RELAY_OK);
    is(&b, "relay:receipts:{acme:1.a_b-c}");

    /* H("") is known */

    v = str("");
    assert_int_equal(relay_key_head(&b, &prefix, &v), RELAY_OK);
    is(&b, "relay:{47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU}");

    assert_int_equal(relay_key_block_domains(&b, &prefix), RELAY_OK);
    is(&b, "relay:block:domain:*");

    assert_int_equal(relay_key_revocations(&b, &prefix), RELAY_OK);
    is(&b, "relay:revocations");

    /* H("abc") is FIPS 180-4's first example */

    v = str("abc");
    assert_int_equal(relay_key_block(&b, &prefix, RELAY_BLOCK_SUBJECT, &v),
                     RELAY_OK);
    is(&b, "relay:block:subject:ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
    assert_int_equal(relay_key_block(&b, &prefix, RELAY_BLOCK_EMAIL, &v),
                     RELAY_OK);
    is(&b, "relay:block:email:ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
    assert_int_equal(relay_key_block(&b, &prefix, RELAY_BLOCK_DOMAIN, &v),
                     RELAY_OK);
    is(&b, "relay:block:domain:ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
    assert_int_equal(relay_key_block(&b, &prefix, RELAY_BLOCK_ISSUER, &v),
                     RELAY_OK);
    is(&b, "relay:block:issuer:ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");

    relay_buf_free(&b);
}


static void
test_names_refused(void **state)
{
    char         longest[RELAY_PREFIX_MAX + 1];
    size_t       i;
    relay_str_t  id, d, p, empty;
    relay_buf_t  b;

    static const char *const  digests[] = {
        "", "short", D "x", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP}",
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP\n", NULL
    };

    static const char *const  prefixes[] = {
        "", "a b:", "a\n", "\x7f", "\xc3\xa9:", "{", "a}", NULL
    };

    relay_buf_init(&b, 2 * RELAY_KEY_MAX);

    id = str("a");
    d = str(D);
    empty = str("");

    for (i = 0; digests[i] != NULL; i++) {
        p = str(digests[i]);
        assert_int_equal(relay_key_link(&b, &prefix, &p), RELAY_DECLINED);
        assert_int_equal(relay_key_link_record(&b, &prefix, &id, &p),
                         RELAY_DECLINED);
        assert_int_equal(relay_key_grant(&b, &prefix, &id, &p),
                         RELAY_DECLINED);
    }

    /* a brace in the prefix would move the hash tag */

    p = str("a{b}:");
    assert_int_equal(relay_key_head(&b, &p, &id), RELAY_DECLINED);
    p = str("}");
    assert_int_equal(relay_key_receipts(&b, &p, &id), RELAY_DECLINED);

    for (i = 0; prefixes[i] != NULL; i++) {
        p = str(prefixes[i]);
        assert_int_equal(relay_prefix_check(&p), RELAY_DECLINED);
        assert_int_equal(relay_key_head(&b, &p, &id), RELAY_DECLINED);
    }

    memset(longest, 'p', sizeof(longest));
    p.data = (unsigned char *) longest;
    p.len = RELAY_PREFIX_MAX;
    assert_int_equal(relay_prefix_check(&p), RELAY_OK);
    assert_int_equal(relay_key_grant(&b, &p, &d, &d), RELAY_OK);
    p.len++;
    assert_int_equal(relay_prefix_check(&p), RELAY_DECLINED);

    assert_int_equal(relay_key_document(&b, &prefix, &id, 0), RELAY_DECLINED);
    assert_int_equal(relay_key_document(&b, &prefix, &id, -1),
                     RELAY_DECLINED);
    assert_int_equal(relay_key_document(&b, &prefix, &id, INT64_MAX),
                     RELAY_DECLINED);
    assert_int_equal(relay_key_block(&b, &prefix, RELAY_BLOCK_ISSUER + 1, &d),
                     RELAY_DECLINED);
    assert_int_equal(relay_key_block(&b, &prefix, RELAY_BLOCK_EMAIL, &empty),
                     RELAY_DECLINED);

    relay_buf_free(&b);

    /* no room is no key */

    relay_buf_init(&b, 20);
    assert_int_equal(relay_key_grant(&b, &prefix, &id, &d), RELAY_ERROR);
    relay_buf_free(&b);
}


/* No id may leave its braces, and two ids never share a key. */

static void
test_id(void **state)
{
    int            c;
    char           id[2], longest[RELAY_ID_MAX + 2], expected[64];
    relay_str_t    s;
    relay_buf_t    b;
    unsigned char  h[RELAY_DIGEST_LEN];

    relay_buf_init(&b, 2 * RELAY_KEY_MAX);

    for (c = 1; c < 256; c++) {
        id[0] = (char) c;
        id[1] = '\0';
        s = str(id);

        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
            || (c >= '0' && c <= '9') || strchr("._:-", c) != NULL)
        {
            assert_int_equal(relay_id_check(&s), RELAY_OK);
            snprintf(expected, sizeof(expected), "relay:{%c}", c);

        } else {
            assert_int_equal(relay_id_check(&s), RELAY_DECLINED);
            relay_digest(&s, h);
            snprintf(expected, sizeof(expected), "relay:{%.*s}",
                     RELAY_DIGEST_LEN, h);
        }

        assert_int_equal(relay_key_head(&b, &prefix, &s), RELAY_OK);
        is(&b, expected);
    }

    s.data = (unsigned char *) "a\0b";
    s.len = 3;
    assert_int_equal(relay_id_check(&s), RELAY_DECLINED);

    memset(longest, 'x', sizeof(longest));
    s.data = (unsigned char *) longest;
    s.len = RELAY_ID_MAX;
    assert_int_equal(relay_id_check(&s), RELAY_OK);
    assert_int_equal(relay_key_head(&b, &prefix, &s), RELAY_OK);
    assert_int_equal(b.len, RELAY_ID_MAX + 8);
    relay_buf_reset(&b);

    s.len = RELAY_ID_MAX + 1;
    assert_int_equal(relay_id_check(&s), RELAY_DECLINED);
    assert_int_equal(relay_key_head(&b, &prefix, &s), RELAY_OK);
    assert_int_equal(b.len, RELAY_DIGEST_LEN + 8);

    relay_buf_free(&b);
}


static void
test_head(void **state)
{
    const char    *field;
    relay_head_t   h;

    assert_int_equal(relay_head_decode(bulks(head_fields), &h, &field),
                     RELAY_OK);
    assert_null(field);
    assert_true(h.found);
    assert_true(relay_str_is(&h.schema, "relay.context-package.v1"));
    assert_true(relay_str_is(&h.email, "alice@example.com"));
    assert_true(relay_str_is(&h.title, "A title"));
    assert_true(relay_str_is(&h.owner_iss, "https://id.example"));
    assert_true(relay_str_is(&h.owner_sub, "o-1"));
    assert_true(relay_str_is(&h.owner_email, "owner@example.com"));
    assert_int_equal(h.state, RELAY_STATE_ACTIVE);
    assert_int_equal(h.mode, RELAY_MODE_SNAPSHOT);
    assert_int_equal(h.access, RELAY_ACCESS_NAMED);
    assert_int_equal(h.permission, RELAY_PERMISSION_SUGGEST);
    assert_int_equal(h.version, 3);
    assert_int_equal(h.exp, 1700000000000);
    assert_int_equal(h.epoch, 7);
    assert_int_equal(h.isolation.len, 0);

    assert_int_equal(relay_head_decode(with(head_fields, "isolation",
                                            "manual_packet_only"), &h,
                                       &field), RELAY_OK);
    assert_true(relay_str_is(&h.isolation, "manual_packet_only"));

    assert_int_equal(relay_head_decode(with(head_fields, "isolation", "a\nb"),
                                       &h, &field), RELAY_DECLINED);
    assert_string_equal(field, "isolation");

    assert_int_equal(relay_head_decode(with(head_fields, "exp", ""), &h,
                                       &field), RELAY_OK);
    assert_int_equal(h.exp, 0);

    assert_int_equal(relay_head_decode(with(head_fields, "unknown", "\n"), &h,
                                       &field), RELAY_OK);
}


static void
test_link(void **state)
{
    const char    *field;
    relay_link_t   l;

    static const char *const  least[] = {
        "state", "revoked", "epoch", "1", NULL
    };

    assert_int_equal(relay_link_decode(bulks(link_fields), &l, &field),
                     RELAY_OK);
    assert_true(l.found);
    assert_int_equal(l.state, RELAY_STATE_ACTIVE);
    assert_int_equal(l.view, RELAY_VIEW_PASS_ON);
    assert_int_equal(l.access, RELAY_ACCESS_NAMED);
    assert_int_equal(l.permission, RELAY_PERMISSION_READ);
    assert_int_equal(l.exp, 5);
    assert_int_equal(l.epoch, 2);

    assert_int_equal(relay_link_decode(bulks(least), &l, &field), RELAY_OK);
    assert_int_equal(l.state, RELAY_STATE_REVOKED);
    assert_int_equal(l.view, RELAY_VIEW_NONE);
    assert_int_equal(l.access, RELAY_ACCESS_NONE);
    assert_int_equal(l.permission, RELAY_PERMISSION_NONE);
}


static void
test_grant(void **state)
{
    char           name[RELAY_NAME_MAX + 8];
    const char    *field;
    relay_grant_t  g;

    assert_int_equal(relay_grant_decode(bulks(grant_fields), &g, &field),
                     RELAY_OK);
    assert_true(g.found);
    assert_true(relay_str_is(&g.id, "g1"));
    assert_true(relay_str_is(&g.link, D));
    assert_true(relay_str_is(&g.iss, "https://id.example"));
    assert_true(relay_str_is(&g.sub, "alice"));
    assert_true(relay_str_is(&g.email, "alice@example.com"));
    assert_true(relay_str_is(&g.name, "Alice"));
    assert_int_equal(g.view, RELAY_VIEW_RECIPIENT);
    assert_int_equal(g.permission, RELAY_PERMISSION_EDIT);
    assert_int_equal(g.state, RELAY_STATE_ACTIVE);
    assert_int_equal(g.exp, 0);
    assert_int_equal(g.accepted_at, 1600000000);
    assert_int_equal(g.accepted_version, 2);
    assert_int_equal(g.epoch, 4);

    /* a name is cut before the character that does not fit */

    memset(name, 'n', sizeof(name));
    memcpy(name + RELAY_NAME_MAX - 1, "\xc3\xa9z", 4);
    assert_int_equal(relay_grant_decode(with(grant_fields, "name", name), &g,
                                        &field), RELAY_OK);
    assert_int_equal(g.name.len, RELAY_NAME_MAX - 1);
}


static void
test_block(void **state)
{
    const char     *field;
    relay_block_t   b;

    assert_int_equal(relay_block_decode(bulks(block_fields), &b, &field),
                     RELAY_OK);
    assert_true(b.found);
    assert_true(b.active);
    assert_int_equal(b.since, 12);
    assert_int_equal(b.epoch, 1);
    assert_true(relay_str_is(&b.reason, "why"));

    assert_int_equal(relay_block_decode(with(block_fields, "state", "lifted"),
                                        &b, &field), RELAY_OK);
    assert_true(b.found);
    assert_false(b.active);

    /* whoever overlooks the result has a block, not a hole */

    assert_int_equal(relay_block_decode(with(block_fields, "state", "off"),
                                        &b, &field), RELAY_DECLINED);
    assert_true(b.active);
}


static void
test_absent(void **state)
{
    const char     *field;
    relay_head_t    h;
    relay_link_t    l;
    relay_grant_t   g;
    relay_block_t   b;

    static const char *const  none[] = { NULL };

    assert_int_equal(relay_head_decode(bulks(none), &h, &field), RELAY_OK);
    assert_false(h.found);
    assert_int_equal(relay_link_decode(bulks(none), &l, &field), RELAY_OK);
    assert_false(l.found);
    assert_int_equal(relay_grant_decode(bulks(none), &g, &field), RELAY_OK);
    assert_false(g.found);
    assert_int_equal(relay_block_decode(bulks(none), &b, &field), RELAY_OK);
    assert_false(b.found);
    assert_false(b.active);
}


typedef struct {
    char         record;        /* h, l, g, b */
    const char  *field;
    const char  *value;         /* NULL: left out */
} bad_t;


static const bad_t  bad[] = {
    { 'h', "schema", NULL }, { 'h', "version", NULL }, { 'h', "state", NULL },
    { 'h', "access", NULL }, { 'h', "permission", NULL },
    { 'h', "mode", NULL }, { 'h', "epoch", NULL },
    { 'h', "schema", "" }, { 'h', "schema", "a\nb" },
    { 'h', "version", "0" }, { 'h', "version", "-1" },
    { 'h', "version", "1.5" }, { 'h', "version", "01" },
    { 'h', "version", " 1" }, { 'h', "version", "1 " },
    { 'h', "version", "0x1" }, { 'h', "version", "9007199254740992" },
    { 'h', "version", "18446744073709551617" },
    { 'h', "state", "Active" }, { 'h', "state", "lifted" },
    { 'h', "access", "everyone" }, { 'h', "permission", "write" },
    { 'h', "mode", "Live" }, { 'h', "epoch", "0" }, { 'h', "epoch", "x" },
    { 'h', "exp", "soon" }, { 'h', "exp", "-1" },
    { 'h', "email", "alice" }, { 'h', "email", "a b@example.com" },
    { 'h', "email", "a@b@c" }, { 'h', "owner_email", "@" },
    { 'h', "owner_iss", "https://\nid" }, { 'h', "owner_sub", "a\tb" },

    { 'l', "state", NULL }, { 'l', "epoch", NULL }, { 'l', "state", "on" },
    { 'l', "view", "everything" }, { 'l', "access", "all" },
    { 'l', "permission", "READ" }, { 'l', "exp", "1e9" },

    { 'g', "state", NULL }, { 'g', "epoch", NULL }, { 'g', "id", NULL },
    { 'g', "id", "a b" }, { 'g', "iss", NULL }, { 'g', "sub", NULL },
    { 'g', "sub", "" }, { 'g', "sub", "a\nb" }, { 'g', "email", "nobody" },
    { 'g', "link", "short" },
    { 'g', "link", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP+" },
    { 'g', "view", "x" }, { 'g', "permission", "x" },
    { 'g', "exp", "never" }, { 'g', "accepted_at", "yes" },
    { 'g', "accepted_version", "latest" }, { 'g', "accepted_version", NULL },
    { 'g', "accepted_version", "0" },

    { 'b', "state", NULL }, { 'b', "epoch", NULL }, { 'b', "state", "" },
    { 'b', "since", "x" }
};


static relay_int_t
decode(char record, const relay_resp_reply_t *r, const char **field)
{
    relay_head_t   h;
    relay_link_t   l;
    relay_grant_t  g;
    relay_block_t  b;

    switch (record) {

    case 'h':
        return relay_head_decode(r, &h, field);

    case 'l':
        return relay_link_decode(r, &l, field);

    case 'g':
        return relay_grant_decode(r, &g, field);

    default:
        return relay_block_decode(r, &b, field);
    }
}


static const char *const *
fields_of(char record)
{
    return record == 'h' ? head_fields
           : record == 'l' ? link_fields
           : record == 'g' ? grant_fields : block_fields;
}


static void
test_malformed(void **state)
{
    size_t       i;
    relay_int_t  rc;
    const char  *field;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {

        field = NULL;
        rc = decode(bad[i].record, with(fields_of(bad[i].record),
                                        bad[i].field, bad[i].value), &field);

        if (rc != RELAY_DECLINED || field == NULL
            || strcmp(field, bad[i].field) != 0)
        {
            fail_msg("%c %s \"%s\": %d, field %s", bad[i].record,
                     bad[i].field, bad[i].value ? bad[i].value : "(absent)",
                     (int) rc, field ? field : "(none)");
        }
    }
}


static void
test_limits(void **state)
{
    size_t       i;
    char         long_text[2048];
    const char  *field;

    static const char *const  exact[][2] = {
        { "h", "schema" }, { "h", "owner_iss" }, { "h", "owner_sub" },
        { "h", "email" }, { "h", "version" }, { "g", "id" }, { "g", "iss" },
        { "g", "sub" }, { "g", "link" }
    };

    memset(long_text, '1', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';

    for (i = 0; i < sizeof(exact) / sizeof(exact[0]); i++) {
        assert_int_equal(decode(exact[i][0][0],
                                with(fields_of(exact[i][0][0]), exact[i][1],
                                     long_text), &field), RELAY_DECLINED);
        assert_string_equal(field, exact[i][1]);
    }
}


/* Tombstones: what was revoked needs nothing else. */

static void
test_tombstone(void **state)
{
    const char    *field;
    relay_head_t   h;
    relay_grant_t  g;

    static const char *const  tomb[] = {
        "epoch", "1", "state", "revoked", "revoked_at", "17",
        "revoked_by", "owner", "revoked_reason", "why", NULL
    };

    assert_int_equal(relay_head_decode(bulks(tomb), &h, &field), RELAY_OK);
    assert_true(h.found);
    assert_int_equal(h.state, RELAY_STATE_REVOKED);
    assert_int_equal(h.access, RELAY_ACCESS_NONE);

    assert_int_equal(relay_grant_decode(bulks(tomb), &g, &field), RELAY_OK);
    assert_true(g.found);
    assert_int_equal(g.state, RELAY_STATE_REVOKED);

    /* what is there must still be right */

    assert_int_equal(relay_head_decode(with(tomb, "version", "x"), &h,
                                       &field), RELAY_DECLINED);
}


/* Replies that are no hash. */

static void
test_no_hash(void **state)
{
    size_t              i;
    relay_resp_reply_t  r;
    const char         *field, *records, *p;
    relay_buf_t         out;
    static const char  *many[REPLY_MAX];

    static const relay_resp_type_e  types[] = {
        RELAY_RESP_NIL, RELAY_RESP_INTEGER, RELAY_RESP_STATUS, RELAY_RESP_BULK,
        RELAY_RESP_ERROR
    };

    records = "hlgb";
    relay_buf_init(&out, 8192);

    for (p = records; *p; p++) {

        for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
            memset(&r, 0, sizeof(r));
            r.type = types[i];
            assert_int_equal(decode(*p, &r, &field), RELAY_DECLINED);
            assert_string_equal(field, "record");
            assert_int_equal(relay_keys_fingerprint(&r, &out),
                             RELAY_DECLINED);
        }

        assert_int_equal(decode(*p, NULL, &field), RELAY_DECLINED);

        bulks(fields_of(*p));
        reply.n--;
        assert_int_equal(decode(*p, &reply, &field), RELAY_DECLINED);

        bulks(fields_of(*p));
        elts[1].type = RELAY_RESP_ARRAY;
        assert_int_equal(decode(*p, &reply, &field), RELAY_DECLINED);

        bulks(fields_of(*p));
        elts[0].type = RELAY_RESP_NIL;
        assert_int_equal(decode(*p, &reply, &field), RELAY_DECLINED);
    }

    for (i = 0; i < REPLY_MAX - 1; i++) {
        many[i] = "x";
    }

    many[REPLY_MAX - 2] = NULL;
    assert_int_equal(decode('l', bulks(many), &field), RELAY_DECLINED);

    relay_buf_free(&out);
}


static void
test_fingerprint(void **state)
{
    size_t       i;
    relay_buf_t  a, b;

    static const char *const  none[] = { NULL };

    relay_buf_init(&a, 8192);
    relay_buf_init(&b, 8192);

    assert_int_equal(relay_keys_fingerprint(bulks(none), &a), RELAY_OK);
    is(&a, "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n");

    assert_int_equal(relay_keys_fingerprint(bulks(head_fields), &a),
                     RELAY_OK);
    is(&a, "7\nactive\n1700000000000\nnamed\nsuggest\n\n3\nsnapshot\n"
           "alice@example.com\n\n\n\n\n\nhttps://id.example\no-1\n"
           "relay.context-package.v1\n\n");

    assert_int_equal(relay_keys_fingerprint(bulks(grant_fields), &a),
                     RELAY_OK);
    is(&a, "4\nactive\n0\n\nedit\nrecipient\n\n\nalice@example.com\n"
           "https://id.example\nalice\n" D "\n1600000000\n2\n\n\n\n\n");

    /* each guarded field shows, whatever the epoch says */

    assert_int_equal(relay_keys_nguarded, 19);
    assert_int_equal(relay_keys_fingerprint(bulks(grant_fields), &a),
                     RELAY_OK);

    for (i = 0; i < relay_keys_nguarded; i++) {
        relay_buf_reset(&b);
        assert_int_equal(relay_keys_fingerprint(
                             with(grant_fields, relay_keys_guarded[i], "?"),
                             &b), RELAY_OK);
        assert_false(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
    }

    relay_buf_free(&a);
    relay_buf_free(&b);

    relay_buf_init(&a, 10);
    assert_int_equal(relay_keys_fingerprint(bulks(head_fields), &a),
                     RELAY_ERROR);
    relay_buf_free(&a);
}


/* The scripts name the guarded fields in the same order. */

static void
test_scripts(void **state)
{
    FILE    *f;
    char     text[65536], list[1024], *p, *q;
    size_t   i, n;

    static const char *const  files[] = {
        "schema/redis/serve.lua", "schema/redis/accept.lua"
    };

    for (i = 0; i < 2; i++) {

        f = fopen(files[i], "r");
        assert_non_null(f);
        n = fread(text, 1, sizeof(text) - 1, f);
        fclose(f);
        text[n] = '\0';

        p = strstr(text, "local guarded = {");
        assert_non_null(p);
        p = strchr(p, '{') + 1;
        q = strchr(p, '}');
        assert_non_null(q);

        /* without the white space */

        n = 0;

        for ( /* void */ ; p < q; p++) {
            if (*p != ' ' && *p != '\n') {
                assert_true(n < sizeof(list) - 1);
                list[n++] = *p;
            }
        }

        list[n] = '\0';

        p = list;

        for (n = 0; n < relay_keys_nguarded; n++) {
            assert_int_equal(*p++, '"');
            assert_memory_equal(p, relay_keys_guarded[n],
                                strlen(relay_keys_guarded[n]));
            p += strlen(relay_keys_guarded[n]);
            assert_int_equal(*p++, '"');

            if (n + 1 < relay_keys_nguarded) {
                assert_int_equal(*p++, ',');
            }
        }

        assert_int_equal(*p, '\0');
    }
}


static void
test_words(void **state)
{
    relay_int_t  i;
    relay_str_t  s;

    for (i = RELAY_ACCESS_NAMED; i <= RELAY_ACCESS_ANYONE; i++) {
        assert_int_equal(relay_access_by_name(relay_access_name(i)), i);
    }

    for (i = RELAY_PERMISSION_READ; i <= RELAY_PERMISSION_EDIT; i++) {
        assert_int_equal(relay_permission_by_name(relay_permission_name(i)),
                         i);
    }

    for (i = RELAY_MODE_SNAPSHOT; i <= RELAY_MODE_LIVE; i++) {
        assert_int_equal(relay_mode_by_name(relay_mode_name(i)), i);
    }

    s = str("revoked");
    assert_int_equal(relay_state_by_name(&s), RELAY_STATE_REVOKED);
    s = str("active");
    assert_int_equal(relay_state_by_name(&s), RELAY_STATE_ACTIVE);

    s = str("");
    assert_int_equal(relay_state_by_name(&s), RELAY_STATE_NONE);
    assert_int_equal(relay_access_by_name(&s), RELAY_ACCESS_NONE);
    assert_int_equal(relay_permission_by_name(&s), RELAY_PERMISSION_NONE);
    assert_int_equal(relay_mode_by_name(&s), RELAY_MODE_NONE);

    assert_int_equal(relay_access_name(17)->len, 0);
    assert_int_equal(relay_permission_name(17)->len, 0);
    assert_int_equal(relay_mode_name(17)->len, 0);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_names_refused),
        cmocka_unit_test(test_id),
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_link),
        cmocka_unit_test(test_grant),
        cmocka_unit_test(test_block),
        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_tombstone),
        cmocka_unit_test(test_no_hash),
        cmocka_unit_test(test_fingerprint),
        cmocka_unit_test(test_scripts),
        cmocka_unit_test(test_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
