
/*
 * relay_receipt: the canonical form, and what it is when everything is as long
 * as it may be.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

#include "relay_quality.h"
#include "relay_receipt.h"


#define D  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP0"


static relay_str_t
str(const char *z)
{
    relay_str_t  s;

    s.data = (unsigned char *) z;
    s.len = strlen(z);

    return s;
}


/* memory of its own size, so that a sanitizer sees a byte too many */

static relay_str_t
filled(size_t len, const char *unit)
{
    size_t       i, n;
    relay_str_t  s;

    n = strlen(unit);
    s.data = malloc(len);
    assert_non_null(s.data);

    for (i = 0; i < len; i++) {
        s.data[i] = (unsigned char) unit[i % n];
    }

    s.len = len;

    return s;
}


static void
whole(relay_receipt_t *r, relay_identity_t *id)
{
    memset(id, 0, sizeof(relay_identity_t));

    id->issuer = str("https://id.example");
    id->subject = str("alice-1");
    id->email = str("alice@example.com");
    id->name = str("Al\"ice");
    id->client = str("agent/1");
    id->email_verified = 1;
    id->email_trusted = 1;

    memset(r, 0, sizeof(relay_receipt_t));

    r->kind = RELAY_RECEIPT_READ;
    r->id = str("edge-1");
    r->time = 1700000000123;
    r->relay = str("acme.1");
    r->version = 3;
    r->link = str(D);
    r->grant = str("g1");
    r->reader = id;
    r->view = RELAY_VIEW_PASS_ON;
    r->permission = RELAY_PERMISSION_SUGGEST;
    r->channel = str("http");
    r->method = str("GET");
    r->reason = RELAY_REASON_SERVED;
    r->status = 200;
    r->bytes = 0;
    r->digest = str(D);
    r->withheld = 4;
    r->safety = RELAY_SAFETY_ROLE|RELAY_SAFETY_HIDDEN;
    r->rule = str("P17");
    r->pointer = str("/a/0");
    r->offset = 7;
    r->count = 2;
    r->of = str("edge-0");
    r->ip = str("192.0.2.1");
    r->rebound = 1;
}


static void
is(relay_buf_t *b, const char *expected)
{
    if (b->len != strlen(expected)
        || memcmp(b->data, expected, b->len) != 0)
    {
        fail_msg("%.*s\nexpected\n%s", (int) b->len, b->data, expected);
    }
}


static void
test_whole(void **state)
{
    relay_buf_t       b;
    relay_receipt_t   r;
    relay_identity_t  id;

    relay_buf_init(&b, 65536);
    whole(&r, &id);

    assert_int_equal(relay_receipt_encode(&r, &b), RELAY_OK);
    is(&b, "{\"kind\":\"read\",\"id\":\"edge-1\",\"time\":1700000000123,"
           "\"relay\":\"acme.1\",\"version\":3,\"link\":\"" D "\","
           "\"grant\":\"g1\",\"reader\":{\"issuer\":\"https://id.example\","
           "\"subject\":\"alice-1\",\"email\":\"alice@example.com\","
           "\"confirmed\":true,\"name\":\"Al\\\"ice\"},"
           "\"client\":\"agent/1\",\"view\":\"pass-on\","
           "\"permission\":\"suggest\",\"channel\":\"http\","
           "\"method\":\"GET\",\"reason\":\"served\",\"status\":200,"
           "\"bytes\":0,\"digest\":\"" D "\",\"withheld\":4,"
           "\"safety\":\"change-role,hidden-characters\","
           "\"rule\":\"P17\",\"pointer\":\"/a/0\",\"offset\":7,"
           "\"count\":2,"
           "\"of\":\"edge-0\",\"ip\":\"192.0.2.1\",\"rebound\":true}");

    /* appended: what was there stays */

    relay_buf_reset(&b);
    relay_buf_append_c(&b, 'x');
    assert_int_equal(relay_receipt_encode(&r, &b), RELAY_OK);
    assert_int_equal(b.data[0], 'x');
    assert_int_equal(b.data[1], '{');

    relay_buf_free(&b);
}


static void
test_absent(void **state)
{
    relay_buf_t       b;
    relay_receipt_t   r;
    relay_identity_t  id;

    relay_buf_init(&b, 65536);
    memset(&r, 0, sizeof(r));
    r.kind = RELAY_RECEIPT_ACT;
    r.id = str("x-1");
    r.time = 5;
    r.bytes = -1;
    r.withheld = -1;
    r.offset = -1;

    assert_int_equal(relay_receipt_encode(&r, &b), RELAY_OK);
    is(&b, "{\"kind\":\"act\",\"id\":\"x-1\",\"time\":5}");

    /* an address that is not confirmed says so */

    whole(&r, &id);
    id.email_verified = 0;
    relay_buf_reset(&b);
    assert_int_equal(relay_receipt_encode(&r, &b), RELAY_OK);
    relay_buf_append_c(&b, '\0');
    assert_non_null(strstr((char *) b.data, "\"confirmed\":false"));

    relay_buf_free(&b);
}


static void
test_kinds(void **state)
{
    size_t       i;
    relay_str_t  s;

    static const char *const  names[] = {
        "read", "preview", "accept", "denial", "undelivered", "act", "unknown"
    };

    for (i = 0; i <= RELAY_RECEIPT_ACT + 1; i++) {
        s = str(names[i]);
        assert_true(relay_str_eq(relay_receipt_kind_name(i), &s));
    }
}


/*
 * Every input at its limit and at its worst: quotes where a quote may be,
 * bytes that are no UTF-8 elsewhere.  It is one JSON object below the limit,
 * and names are cut before a character that does not fit.
 */

static void
test_longest(void **state)
{
    size_t            i, j;
    json_t           *root, *reader;
    relay_buf_t       b;
    const char       *name;
    relay_str_t       texts[3], ids[3];
    relay_receipt_t   r;
    relay_identity_t  id;

    static const char *const  units[] = { "\xff", "\"\\", "\xe2\x82\xac" };
    static const char *const  words[] = { "\x01", "\"", "\xf0\x9f\x98\x80" };

    for (i = 0; i < 3; i++) {

        relay_buf_init(&b, 65536);
        whole(&r, &id);

        ids[0] = filled(RELAY_ISSUER_MAX, units[i]);
        ids[1] = filled(RELAY_SUBJECT_MAX, units[i]);
        ids[2] = filled(RELAY_EMAIL_MAX, units[i]);

        id.issuer = ids[0];
        id.subject = ids[1];
        id.email = ids[2];

        texts[0] = filled(4 * RELAY_NAME_MAX, words[i]);
        texts[1] = filled(RELAY_NAME_MAX + 1, words[i]);
        texts[2] = filled(5000, words[i]);

        id.name = texts[0];
        id.client = texts[1];
        r.method = texts[2];
        r.channel = texts[2];
        r.ip = texts[2];

        r.relay = texts[2];
        r.id = filled(149, "x");
        r.of = r.id;
        r.grant = filled(RELAY_ID_MAX, "g");
        r.time = INT64_MAX;
        r.version = INT64_MAX;
        r.bytes = INT64_MAX;
        r.withheld = INT64_MAX;
        r.safety = (1 << RELAY_SAFETY_KINDS) - 1;
        r.rule = texts[2];
        r.pointer = texts[2];
        r.offset = INT64_MAX;
        r.count = INT64_MAX;
        r.status = 599;
        r.reason = RELAY_REASON_RECEIPT_UNAVAILABLE;

        assert_int_equal(relay_receipt_encode(&r, &b), RELAY_OK);
        assert_true(b.len <= RELAY_RECEIPT_MAX);

        for (j = 0; j < b.len; j++) {
            assert_true(b.data[j] >= 0x20);
        }

        root = json_loadb((char *) b.data, b.len, JSON_REJECT_DUPLICATES,
                          NULL);
        assert_non_null(root);

        reader = json_object_get(root, "reader");
        name = json_string_value(json_object_get(reader, "name"));
        assert_non_null(name);

        if (i == 1) {
            assert_int_equal(strlen(name), RELAY_NAME_MAX);

        } else if (i == 2) {

            /* four bytes each: 64 whole ones, and none is half */

            assert_int_equal(strlen(name), RELAY_NAME_MAX);
            assert_memory_equal(name, texts[0].data, RELAY_NAME_MAX);
            name = json_string_value(json_object_get(root, "client"));
            assert_int_equal(strlen(name), RELAY_NAME_MAX);
            assert_null(strstr((char *) name, "\xef\xbf\xbd"));

        } else {
            assert_true(strlen(name) > 0 && strlen(name) <= RELAY_NAME_MAX);
        }

        /* as in the keys */

        assert_int_equal(json_string_length(json_object_get(root, "relay")),
                         RELAY_DIGEST_LEN);

        json_decref(root);

        for (j = 0; j < 3; j++) {
            free(ids[j].data);
            free(texts[j].data);
        }

        free(r.id.data);
        free(r.grant.data);
        relay_buf_free(&b);
    }
}


/* Cut at every place that a character can straddle. */

static void
test_cut(void **state)
{
    size_t            i, len, expected;
    json_t           *root;
    const char       *name;
    relay_str_t       s;
    relay_buf_t       b;
    relay_receipt_t   r;
    relay_identity_t  id;

    for (i = 0; i < 6; i++) {
        len = RELAY_NAME_MAX + 10;
        s = filled(len, "n");
        memcpy(s.data + RELAY_NAME_MAX - i, "\xf0\x9f\x98\x80", 4);

        whole(&r, &id);
        id.name = s;
        relay_buf_init(&b, 65536);
        assert_int_equal(relay_receipt_encode(&r, &b), RELAY_OK);

        root = json_loadb((char *) b.data, b.len, 0, NULL);
        assert_non_null(root);
        name = json_string_value(json_object_get(
                                     json_object_get(root, "reader"),
                                     "name"));

        expected = i == 0 || i >= 4 ? RELAY_NAME_MAX : RELAY_NAME_MAX - i;
        assert_int_equal(strlen(name), expected);
        assert_memory_equal(name, s.data, expected);

        json_decref(root);
        free(s.data);
        relay_buf_free(&b);
    }
}


static void
test_too_long(void **state)
{
    relay_buf_t       b;
    relay_receipt_t   r;
    relay_identity_t  id;

    /* what is compared is not cut: there is no receipt, and nothing is added */

    whole(&r, &id);
    id.issuer = filled(RELAY_RECEIPT_MAX, "x");
    relay_buf_init(&b, 65536);
    relay_buf_append_z(&b, "before");

    assert_int_equal(relay_receipt_encode(&r, &b), RELAY_ERROR);
    assert_int_equal(b.len, 6);
    assert_false(b.failed);

    free(id.issuer.data);
    relay_buf_free(&b);

    whole(&r, &id);
    relay_buf_init(&b, 100);
    assert_int_equal(relay_receipt_encode(&r, &b), RELAY_ERROR);
    assert_true(b.failed);
    assert_int_equal(relay_receipt_encode(&r, &b), RELAY_ERROR);
    relay_buf_free(&b);
}


static void
test_id(void **state)
{
    size_t       i;
    relay_str_t  p;
    relay_buf_t  b;

    static const char *const  bad[] = { "", "a b", "a/b", "a\"", "\xc3\xa9" };

    relay_buf_init(&b, 1024);

    p = str("edge.b1.1700.42");
    assert_int_equal(relay_receipt_id(&p, 0, &b), RELAY_OK);
    is(&b, "edge.b1.1700.42-0");

    relay_buf_reset(&b);
    assert_int_equal(relay_receipt_id(&p, UINT64_MAX, &b), RELAY_OK);
    is(&b, "edge.b1.1700.42-18446744073709551615");

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        p = str(bad[i]);
        assert_int_equal(relay_receipt_id(&p, 1, &b), RELAY_DECLINED);
    }

    p = filled(129, "x");
    assert_int_equal(relay_receipt_id(&p, 1, &b), RELAY_DECLINED);
    p.len = 128;
    relay_buf_reset(&b);
    assert_int_equal(relay_receipt_id(&p, 1, &b), RELAY_OK);
    assert_int_equal(b.len, 130);
    free(p.data);

    relay_buf_free(&b);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_longest),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_id),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
