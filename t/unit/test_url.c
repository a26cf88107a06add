
/*
 * Unit tests of lib/relay_url.c.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#include "relay_url.h"


typedef struct {
    const char  *text;
    const char  *name;
    const char  *address;
    const char  *host;
    const char  *path;
    const char  *user;
    const char  *password;
    int          port;
    int          db;
} good_t;


typedef struct {
    const char  *text;
    const char  *says;
} bad_t;


static relay_buf_t  mem, why;
static relay_url_t  url;


static relay_int_t
parse(const char *text)
{
    relay_int_t   rc;
    relay_str_t   s;

    /* a copy without a NUL: a sanitizer sees a byte too far */

    s.len = strlen(text);
    s.data = malloc(s.len ? s.len : 1);
    assert_non_null(s.data);
    memcpy(s.data, text, s.len);

    rc = relay_url_parse(&s, &url, &mem, &why);

    free(s.data);

    return rc;
}


static int
setup(void **state)
{
    relay_buf_init(&mem, 3 * RELAY_URL_MAX);
    relay_buf_init(&why, 512);

    return 0;
}


static int
teardown(void **state)
{
    relay_buf_free(&mem);
    relay_buf_free(&why);

    return 0;
}


static void
test_good(void **state)
{
    size_t  i;

    static const good_t  good[] = {
        { "redis://localhost", "redis://localhost:6379", "localhost:6379",
          "localhost", "", "", "", 6379, 0 },
        { "REDIS://localhost/", "redis://localhost:6379", "localhost:6379",
          "localhost", "", "", "", 6379, 0 },
        { "redis://10.0.0.1:1/0", "redis://10.0.0.1:1", "10.0.0.1:1",
          "10.0.0.1", "", "", "", 1, 0 },
        { "redis://h:65535/1000000", "redis://h:65535/1000000", "h:65535",
          "h", "", "", "", 65535, 1000000 },
        { "redis://[::1]/2", "redis://[::1]:6379/2", "[::1]:6379",
          "::1", "", "", "", 6379, 2 },
        { "redis://edge@[fe80::1]:7", "redis://[fe80::1]:7", "[fe80::1]:7",
          "fe80::1", "", "edge", "", 7, 0 },
        { "redis://edge:secret@h:7/3", "redis://h:7/3", "h:7",
          "h", "", "edge", "secret", 7, 3 },
        { "redis://:secret@h", "redis://h:6379", "h:6379",
          "h", "", "", "secret", 6379, 0 },
        { "redis://a%40b:p%3A%2f%25%00x@h", "redis://h:6379", "h:6379",
          "h", "", "a@b", "p:/%", 6379, 0 },
        { "redis://e:p@ss/w:rd@h/1", "redis://h:6379/1", "h:6379",
          "h", "", "e", "p@ss/w:rd", 6379, 1 },
        { "unix:/run/redis.sock", "unix:/run/redis.sock",
          "unix:/run/redis.sock", "", "/run/redis.sock", "", "", 0, 0 },
        { "Unix:/run/redis.sock:0", "unix:/run/redis.sock",
          "unix:/run/redis.sock", "", "/run/redis.sock", "", "", 0, 0 },
        { "unix:/a b:12", "unix:/a b:12", "unix:/a b", "", "/a b", "", "", 0,
          12 },
        { "unix:/run/a@b", "unix:/run/a@b", "unix:/run/a@b", "", "/run/a@b",
          "", "", 0, 0 },
    };

    for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(parse(good[i].text), RELAY_OK);
        assert_int_equal(why.len, 0);
        assert_string_equal((char *) url.name.data, good[i].name);
        assert_string_equal((char *) url.address.data, good[i].address);
        assert_string_equal((char *) url.host.data, good[i].host);
        assert_string_equal((char *) url.path.data, good[i].path);
        assert_string_equal((char *) url.user.data, good[i].user);
        assert_string_equal((char *) url.password.data, good[i].password);
        assert_int_equal(url.name.len, strlen(good[i].name));
        assert_int_equal(url.address.len, strlen(good[i].address));
        assert_int_equal(url.port, good[i].port);
        assert_int_equal(url.db, good[i].db);
    }

    /* a password may hold anything; its length counts, not a NUL */

    assert_int_equal(parse("redis://u:p%00x@h"), RELAY_OK);
    assert_int_equal(url.password.len, 3);
    assert_memory_equal(url.password.data, "p\0x", 3);
}


static void
test_bad(void **state)
{
    size_t  i;
    char    text[513];

    static const bad_t  bad[] = {
        { "", "empty" },
        { "localhost", "must begin with" },
        { "http://localhost", "\"http\" is not a scheme" },
        { "hunter2:6379", "it must begin with" },
        { "hunter2@host://", "it must begin with" },
        { "h", "it must begin with" },
        { "rediss://u:hunter2@localhost", "not supported yet" },
        { "REDISS://localhost", "not supported yet" },
        { "redis:", "must begin with" },
        { "redis://", "a host" },
        { "redis://:1", "a host" },
        { "redis://a b", "a host" },
        { "redis://a\x01", "a host" },
        { "redis://@h", "without a user" },
        { "redis://u:@h", "password is empty" },
        { "redis://:@h", "password is empty" },
        { "redis://u%zz:hunter2@h", "hexadecimal" },
        { "redis://u:hunter2%4@h", "hexadecimal" },
        { "redis://u:hunter2%@h", "hexadecimal" },
        { "redis://u%0a:hunter2@h", "control characters" },
        { "redis://u:hunter2", "port" },
        { "redis://u:hunter2/0", "port" },
        { "redis://h:0", "port" },
        { "redis://h:65536", "port" },
        { "redis://h:-1", "port" },
        { "redis://h: 1", "port" },
        { "redis://h:", "port" },
        { "redis://::1", "port" },
        { "redis://[::1", "without" },
        { "redis://[h]", "brackets" },
        { "redis://[]", "brackets" },
        { "redis://[::1]x", "port" },
        { "redis://u:1/hunter2", "number of the database" },
        { "redis://h/x", "bad database \"/x\"" },
        { "redis://h/x\n", "the number of the database" },
        { "redis://h/-1", "number of the database" },
        { "redis://h/1000001", "number of the database" },
        { "redis://h/0/", "number of the database" },
        { "unix:", "begins with" },
        { "unix:run/x", "begins with" },
        { "unix::1", "begins with" },
        { "unix:/x:", "number of the database" },
        { "unix:/x:y", "number of the database" },
        { "unix:/x:1:2", "number of the database" },
        { "unix:/x?db=1", "after a colon" },
        { "unix:/x\n", "control characters" },
    };

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(parse(bad[i].text), RELAY_DECLINED);
        assert_false(why.failed);
        assert_true(why.len > 0 && why.len < sizeof(text));

        memcpy(text, why.data, why.len);
        text[why.len] = '\0';

        if (strstr(text, bad[i].says) == NULL) {
            fail_msg("\"%s\": %s", bad[i].text, text);
        }

        assert_null(strstr(text, "hunter2"));
    }
}


/* A string of n times c between two others; the caller frees it. */

static char *
repeat(const char *before, char c, size_t n, const char *after)
{
    char    *s;
    size_t   len;

    len = strlen(before);

    s = malloc(len + n + strlen(after) + 1);
    assert_non_null(s);

    memcpy(s, before, len);
    memset(s + len, c, n);
    strcpy(s + len + n, after);

    return s;
}


static void
test_limits(void **state)
{
    char    *s;
    size_t   i;

    static const struct {
        const char  *before;
        size_t       max;
        const char  *after;
    } limits[] = {
        { "redis://", RELAY_URL_HOST_MAX, "" },
        { "unix:/", RELAY_URL_PATH_MAX - 1, "" },
        { "redis://", RELAY_URL_USER_MAX, ":p@h" },
        { "redis://u:", RELAY_URL_SECRET_MAX, "@h" },
    };

    for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        s = repeat(limits[i].before, 'x', limits[i].max, limits[i].after);
        assert_int_equal(parse(s), RELAY_OK);
        free(s);

        s = repeat(limits[i].before, 'x', limits[i].max + 1, limits[i].after);
        assert_int_equal(parse(s), RELAY_DECLINED);
        free(s);
    }

    s = repeat("redis://u:", 'x', RELAY_URL_MAX, "@h");
    assert_int_equal(parse(s), RELAY_DECLINED);
    free(s);
}


static void
test_small_buffers(void **state)
{
    size_t       i;
    relay_str_t  s;
    relay_buf_t  small;

    relay_str_set(&s, "redis://edge:secret@host:1/2");

    for (i = 0; i < 42; i++) {
        relay_buf_init(&small, i);
        assert_int_equal(relay_url_parse(&s, &url, &small, &why), RELAY_ERROR);
        relay_buf_free(&small);
    }

    relay_buf_init(&small, 42);
    assert_int_equal(relay_url_parse(&s, &url, &small, &why), RELAY_OK);
    relay_buf_free(&small);

    relay_str_set(&s, "http://");
    relay_buf_init(&small, 4);
    assert_int_equal(relay_url_parse(&s, &url, &mem, &small), RELAY_ERROR);
    relay_buf_free(&small);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_small_buffers),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
