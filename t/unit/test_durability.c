
/*
 * Unit tests of lib/relay_durability.c.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#include "relay_durability.h"


static relay_durability_t  d;
static relay_resp_reply_t *reply;


static relay_str_t
str(const char *text)
{
    relay_str_t  s;

    s.data = (unsigned char *) text;
    s.len = strlen(text);

    return s;
}


/* What the server would have answered, through our own reader. */

static relay_int_t
config(const char *wire)
{
    relay_int_t           rc;
    const char           *why;
    relay_resp_reader_t  *r;

    r = relay_resp_reader_create(4096);
    assert_non_null(r);

    assert_int_equal(relay_resp_feed(r, wire, strlen(wire)), RELAY_OK);
    assert_int_equal(relay_resp_next(r, &reply, &why), RELAY_OK);

    rc = relay_durability_config(reply, &d);

    relay_resp_reader_free(r);

    return rc;
}


#define ONLY   "$10\r\nappendonly\r\n"
#define FSYNC  "$11\r\nappendfsync\r\n"
#define EVICT  "$16\r\nmaxmemory-policy\r\n"


static void
test_config(void **state)
{
    size_t  i;

    static const struct {
        const char          *wire;
        relay_int_t          rc;
        relay_durability_e   durability;
        const char          *eviction;
    } cases[] = {
        { "*6\r\n" ONLY "$3\r\nyes\r\n" FSYNC "$6\r\nalways\r\n"
          EVICT "$10\r\nnoeviction\r\n",
          RELAY_OK, RELAY_DURABILITY_ALWAYS, "noeviction" },
        { "*6\r\n" EVICT "$11\r\nallkeys-lru\r\n" FSYNC "$8\r\neverysec\r\n"
          ONLY "$3\r\nyes\r\n",
          RELAY_OK, RELAY_DURABILITY_EVERYSEC, "allkeys-lru" },
        { "*4\r\n" ONLY "$3\r\nyes\r\n" FSYNC "$2\r\nno\r\n",
          RELAY_OK, RELAY_DURABILITY_NONE, "" },
        { "*4\r\n" ONLY "$2\r\nno\r\n" FSYNC "$6\r\nalways\r\n",
          RELAY_OK, RELAY_DURABILITY_NONE, "" },
        { "*4\r\n" ONLY "$3\r\nyes\r\n" FSYNC "$5\r\nmaybe\r\n",
          RELAY_DECLINED, RELAY_DURABILITY_UNKNOWN, "" },
        { "*4\r\n" ONLY "$3\r\nyes\r\n" FSYNC "$7\r\nunknown\r\n",
          RELAY_DECLINED, RELAY_DURABILITY_UNKNOWN, "" },
        { "*2\r\n" ONLY "$3\r\nyes\r\n",
          RELAY_DECLINED, RELAY_DURABILITY_UNKNOWN, "" },
        { "*0\r\n", RELAY_DECLINED, RELAY_DURABILITY_UNKNOWN, "" },
        { "*2\r\n:1\r\n:2\r\n", RELAY_DECLINED, RELAY_DURABILITY_UNKNOWN,
          "" },
        { "*1\r\n" ONLY, RELAY_DECLINED, RELAY_DURABILITY_UNKNOWN, "" },
        { ":1\r\n", RELAY_DECLINED, RELAY_DURABILITY_UNKNOWN, "" },
        { "$-1\r\n", RELAY_DECLINED, RELAY_DURABILITY_UNKNOWN, "" },
        { "-NOPERM x\r\n", RELAY_DECLINED, RELAY_DURABILITY_UNKNOWN, "" },
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(config(cases[i].wire), cases[i].rc);
        assert_int_equal(d.durability, cases[i].durability);
        assert_int_equal(d.eviction.len, strlen(cases[i].eviction));
        assert_memory_equal(d.eviction.data, cases[i].eviction,
                            d.eviction.len);
        relay_resp_reply_free(reply);
    }
}


static void
test_info(void **state)
{
    size_t       i;
    relay_str_t  s, copy;

    static const struct {
        const char          *text;
        relay_int_t          rc;
        relay_durability_e   durability;
        unsigned             appendonly;
        const char          *eviction;
    } cases[] = {
        { "# Memory\r\nmaxmemory_policy:noeviction\r\n\r\n# Persistence\r\n"
          "aof_enabled:0\r\n",
          RELAY_OK, RELAY_DURABILITY_NONE, 0, "noeviction" },
        { "aof_enabled:1\r\nmaxmemory_policy:volatile-ttl\r\n",
          RELAY_OK, RELAY_DURABILITY_UNKNOWN, 1, "volatile-ttl" },
        { "aof_enabled:1\n", RELAY_OK, RELAY_DURABILITY_UNKNOWN, 1, "" },
        { "aof_enabled:1", RELAY_DECLINED, RELAY_DURABILITY_UNKNOWN, 0, "" },
        { "aof_enabled:\r\n", RELAY_DECLINED, RELAY_DURABILITY_UNKNOWN, 0,
          "" },
        { "x_aof_enabled:0\r\n", RELAY_DECLINED, RELAY_DURABILITY_UNKNOWN, 0,
          "" },
        { "\r\n", RELAY_DECLINED, RELAY_DURABILITY_UNKNOWN, 0, "" },
        { "", RELAY_DECLINED, RELAY_DURABILITY_UNKNOWN, 0, "" },
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        s = str(cases[i].text);
        copy.len = s.len;
        copy.data = malloc(s.len + 1);
        assert_non_null(copy.data);
        memcpy(copy.data, s.data, s.len);

        assert_int_equal(relay_durability_info(&copy, &d), cases[i].rc);
        assert_int_equal(d.durability, cases[i].durability);
        assert_int_equal(d.appendonly, cases[i].appendonly);
        assert_int_equal(d.eviction.len, strlen(cases[i].eviction));
        assert_memory_equal(d.eviction.data, cases[i].eviction,
                            d.eviction.len);

        free(copy.data);
    }
}


static void
test_names(void **state)
{
    int          i;
    relay_str_t  s;

    for (i = RELAY_DURABILITY_NONE; i <= RELAY_DURABILITY_ALWAYS; i++) {
        s = str(relay_durability_name(i));
        assert_int_equal(relay_durability_by_name(&s), i);
    }

    s = str("unknown");
    assert_int_equal(relay_durability_by_name(&s), RELAY_DURABILITY_UNKNOWN);
    s = str("");
    assert_int_equal(relay_durability_by_name(&s), RELAY_DURABILITY_UNKNOWN);

    assert_true(RELAY_DURABILITY_NONE < RELAY_DURABILITY_EVERYSEC);
    assert_true(RELAY_DURABILITY_EVERYSEC < RELAY_DURABILITY_ALWAYS);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_config),
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
