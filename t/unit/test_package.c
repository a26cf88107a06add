
/*
 * Unit tests of lib/relay_package.c.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#include "relay_package.h"


static relay_json_tape_t  tape;
static relay_buf_t        mem, err;
static relay_package_t    pkg;
static char               message[512];


static relay_int_t
head(const char *text, size_t len)
{
    relay_int_t         rc;
    relay_str_t         doc;
    relay_json_error_t  jerr;

    doc.data = (unsigned char *) text;
    doc.len = len;

    assert_int_equal(relay_json_parse(&tape, &doc, &relay_json_default_limits,
                                      &jerr),
                     RELAY_OK);

    rc = relay_package_head(&doc, &tape, &pkg, &mem, &err);

    assert_true(err.len < sizeof(message));

    if (err.len != 0) {
        memcpy(message, err.data, err.len);
    }

    message[err.len] = '\0';

    return rc;
}


static relay_int_t
head_of(const char *name)
{
    char         text[65536];
    FILE        *fp;
    size_t       n;

    fp = fopen(name, "rb");
    if (fp == NULL) {
        fail_msg("%s is missing", name);
    }

    n = fread(text, 1, sizeof(text), fp);
    fclose(fp);

    return head(text, n);
}


static int
setup(void **state)
{
    relay_json_tape_init(&tape);
    relay_buf_init(&mem, 65536);
    relay_buf_init(&err, 511);

    return 0;
}


static int
teardown(void **state)
{
    relay_json_tape_free(&tape);
    relay_buf_free(&mem);
    relay_buf_free(&err);

    return 0;
}


static void
test_pilot(void **state)
{
    assert_int_equal(head_of("schema/examples/pilot.relay.json"), RELAY_OK);

    assert_true(relay_str_is(&pkg.schema, "relay.context-package.v1"));
    assert_true(relay_str_is(&pkg.id, "rly_7QmX2c9Lw4"));
    assert_true(relay_str_is(&pkg.title, "Norrvik Hall 4 pollination pilot"));
    assert_true(relay_str_is(&pkg.owner_name, "Leila Okafor"));
    assert_true(relay_str_is(&pkg.owner_id, "usr_leila_okafor_01"));
    assert_true(relay_str_is(&pkg.approved_by, "Leila Okafor"));
    assert_true(relay_str_is(&pkg.email, "tomas.lindqvist@norrvik.example"));
    assert_int_equal(pkg.access, RELAY_ACCESS_NAMED);
    assert_int_equal(pkg.permission, RELAY_PERMISSION_SUGGEST);
    assert_int_equal(pkg.mode, RELAY_MODE_LIVE);
    assert_int_equal(pkg.version, 3);
    assert_int_equal(pkg.expires_at, 1830297599000LL);
}


static void
test_brief(void **state)
{
    assert_int_equal(head_of("schema/examples/brief.relay.json"), RELAY_OK);

    assert_true(relay_str_is(&pkg.id, "rly_b2Hn0"));
    assert_int_equal(pkg.owner_id.len, 0);
    assert_int_equal(pkg.access, RELAY_ACCESS_NAMED);
    assert_int_equal(pkg.permission, RELAY_PERMISSION_READ);
    assert_int_equal(pkg.mode, RELAY_MODE_SNAPSHOT);
    assert_int_equal(pkg.version, 1);
    assert_int_equal(pkg.expires_at, 0);
}


#define TYPE       "\"schema\":\"relay.context-package.v1\""
#define OWNER      "\"owner\":{\"name\":\"O\"},\"approvedBy\":\"O\","
#define HEAD       "{\"schema\":\"relay.context-package.v1\",\"id\":\"r\","   \
                   OWNER
#define REST       "\"audience\":{},\"interaction\":{\"permission\":\"edit\"},"
#define LIFE       "\"lifecycle\":{\"mode\":\"live\"}}"


static void
test_values(void **state)
{
    static const char  minimal[] = HEAD "\"version\":1," REST LIFE;
    static const char  escaped[] =
        "{\"\\u0073chema\":\"relay.context-package.v\\u0031\","
        "\"id\":\"r\\u00e9\",\"owner\":{\"n\\u0061me\":\"\\\"O\\\"\"},"
        "\"approvedBy\":\"\",\"version\":2.0e1,"
        "\"audience\":{\"access\":\"any\\u006fne\",\"email\":\"\"},"
        "\"interaction\":{\"permission\":\"read\"},"
        "\"lifecycle\":{\"mode\":\"live\","
        "\"expiresAt\":\"1970-01-01T00:00:00Z\"}}";

    assert_int_equal(head(minimal, sizeof(minimal) - 1), RELAY_OK);
    assert_int_equal(pkg.title.len, 0);
    assert_int_equal(pkg.email.len, 0);
    assert_int_equal(pkg.access, RELAY_ACCESS_NAMED);
    assert_int_equal(pkg.permission, RELAY_PERMISSION_EDIT);

    assert_int_equal(head(escaped, sizeof(escaped) - 1), RELAY_OK);
    assert_true(relay_str_is(&pkg.id, "r\xc3\xa9"));
    assert_true(relay_str_is(&pkg.owner_name, "\"O\""));
    assert_int_equal(pkg.version, 20);
    assert_int_equal(pkg.access, RELAY_ACCESS_ANYONE);

    /* long gone, and not "never" */

    assert_int_equal(pkg.expires_at, 1);
}


static void
test_errors(void **state)
{
    size_t  i;

    static const struct {
        const char  *text;
        const char  *message;
    } cases[] = {
        { "[]", "the document is not an object" },
        { "{}", "/schema: it is missing: relay.context-package.v1 is "
          "expected" },
        { "{\"schema\":null}", "/schema: relay.context-package.v1 is "
          "expected" },
        { "{\"schema\":\"\"}", "/schema: relay.context-package.v1 is "
          "expected, not \"\"" },
        { "{" TYPE ",\"id\":7}", "/id: a string is needed here" },
        { "{" TYPE ",\"id\":\"\"}", "/id: it is empty" },
        { "{" TYPE ",\"id\":\"r\",\"title\":{}}",
          "/title: a string is needed here" },
        { "{" TYPE ",\"id\":\"r\"}", "/owner: it is missing" },
        { "{" TYPE ",\"id\":\"r\",\"owner\":\"O\"}",
          "/owner: an object is needed here" },
        { "{" TYPE ",\"id\":\"r\",\"owner\":{}}",
          "/owner/name: it is missing" },
        { "{" TYPE ",\"id\":\"r\"," OWNER "\"version\":1}",
          "/audience: it is missing" },
        { HEAD REST LIFE, "/version: it is missing" },
        { HEAD "\"version\":0," REST LIFE,
          "/version: a whole number from 1 on is needed here" },
        { HEAD "\"version\":\"1\"," REST LIFE,
          "/version: a whole number from 1 on is needed here" },
        { HEAD "\"version\":1.5," REST LIFE,
          "/version: a whole number from 1 on is needed here" },
        { HEAD "\"version\":1e19," REST LIFE,
          "/version: a whole number from 1 on is needed here" },
        { HEAD "\"version\":1,\"audience\":{\"access\":true}}",
          "/audience/access: a string is needed here" },
        { HEAD "\"version\":1,\"audience\":{\"access\":\"Anyone\"}}",
          "/audience/access: the schema has no such value" },
        { HEAD "\"version\":1,\"audience\":{\"email\":[]}}",
          "/audience/email: a string is needed here" },
        { HEAD "\"version\":1,\"audience\":{}}",
          "/interaction: it is missing" },
        { HEAD "\"version\":1,\"audience\":{},\"interaction\":{}}",
          "/interaction/permission: it is missing" },
        { HEAD "\"version\":1," REST "\"lifecycle\":{\"mode\":\"\"}}",
          "/lifecycle/mode: the schema has no such value" },
        { HEAD "\"version\":1," REST "\"lifecycle\":{}}",
          "/lifecycle/mode: it is missing" },
        { HEAD "\"version\":1," REST
          "\"lifecycle\":{\"mode\":\"live\",\"expiresAt\":0}}",
          "/lifecycle/expiresAt: a time or null is needed here" },
        { HEAD "\"version\":1," REST
          "\"lifecycle\":{\"mode\":\"live\",\"expiresAt\":\"soon\"}}",
          "/lifecycle/expiresAt: this is no RFC 3339 time" },
        { HEAD "\"version\":1," REST
          "\"lifecycle\":{\"mode\":\"live\",\"expiresAt\":\"\"}}",
          "/lifecycle/expiresAt: this is no RFC 3339 time" },
        { "{\"schema\":\"relay.context-package.v2\",\"id\":\"r\"," OWNER
          "\"version\":1," REST LIFE,
          "/schema: relay.context-package.v1 is expected, not "
          "\"relay.context-package.v2\"" },
        { "{\"id\":7,\"schema\":\"x\"}",
          "/schema: relay.context-package.v1 is "
          "expected, not \"x\"" }
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(head(cases[i].text, strlen(cases[i].text)),
                         RELAY_DECLINED);
        assert_string_equal(message, cases[i].message);
    }
}


/* Decoded strings that do not fit in the caller's buffer. */

static void
test_no_room(void **state)
{
    relay_buf_t         small;
    relay_str_t         doc;
    relay_json_error_t  jerr;

    static const char  text[] = HEAD "\"version\":1," REST LIFE;

    doc.data = (unsigned char *) text;
    doc.len = sizeof(text) - 1;

    assert_int_equal(relay_json_parse(&tape, &doc, &relay_json_default_limits,
                                      &jerr),
                     RELAY_OK);

    relay_buf_init(&small, 10);
    assert_int_equal(relay_package_head(&doc, &tape, &pkg, &small, &err),
                     RELAY_ERROR);
    relay_buf_free(&small);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_pilot),
        cmocka_unit_test(test_brief),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_no_room)
    };

    return cmocka_run_group_tests_name("relay_package", tests, setup,
                                       teardown);
}
