
/*
 * Tests of relay_resp.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "relay_resp.h"


#define CAP  (1024 * 1024)


/* Feeds the whole of text and takes one reply. */

static relay_int_t
take(relay_resp_reader_t *r, const char *text, relay_resp_reply_t **reply,
    const char **why)
{
    *why = NULL;

    assert_int_equal(relay_resp_feed(r, text, strlen(text)), RELAY_OK);

    return relay_resp_next(r, reply, why);
}


static void
assert_declined(const char *text, const char *sentence)
{
    const char           *why;
    relay_resp_reply_t   *reply;
    relay_resp_reader_t  *r;

    r = relay_resp_reader_create(CAP);
    assert_non_null(r);

    assert_int_equal(take(r, text, &reply, &why), RELAY_DECLINED);
    assert_null(reply);
    assert_non_null(why);
    assert_true(strlen(why) > 0);

    if (sentence != NULL) {
        assert_string_equal(why, sentence);
    }

    /* it stays so: what follows may be the rest of something else */

    assert_int_equal(relay_resp_feed(r, "+OK\r\n", 5), RELAY_ERROR);
    assert_int_equal(relay_resp_next(r, &reply, &why), RELAY_DECLINED);
    assert_null(reply);
    assert_non_null(why);

    relay_resp_reader_free(r);
}


static void
test_format(void **state)
{
    relay_buf_t  b;
    relay_str_t  argv[3] = {
        relay_string("SET"), relay_string("k\r\n"), relay_null_string
    };

    static const char  wire[] =
        "*3\r\n$3\r\nSET\r\n$3\r\nk\r\n\r\n$0\r\n\r\n";

    relay_buf_init(&b, 1024);

    assert_int_equal(relay_resp_format(&b, 3, argv), RELAY_OK);
    assert_int_equal(b.len, sizeof(wire) - 1);
    assert_memory_equal(b.data, wire, sizeof(wire) - 1);

    assert_int_equal(relay_resp_format(&b, 1, argv), RELAY_OK);
    assert_int_equal(b.len, sizeof(wire) - 1 + 13);
    assert_memory_equal(b.data + sizeof(wire) - 1, "*1\r\n$3\r\nSET\r\n", 13);

    assert_int_equal(relay_resp_format(&b, 0, argv), RELAY_ERROR);

    relay_buf_free(&b);
}


static void
test_format_lengths(void **state)
{
    size_t         i, n;
    char           head[64];
    relay_buf_t    b;
    relay_str_t    arg, argv[101];
    unsigned char  bytes[1001];

    static const size_t  lens[] = { 9, 10, 99, 100, 999, 1000 };

    memset(bytes, 'x', sizeof(bytes));
    relay_buf_init(&b, 64 * 1024);

    for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
        arg.data = bytes;
        arg.len = lens[i];

        relay_buf_reset(&b);
        assert_int_equal(relay_resp_format(&b, 1, &arg), RELAY_OK);

        n = (size_t) snprintf(head, sizeof(head), "*1\r\n$%zu\r\n", lens[i]);
        assert_int_equal(b.len, n + lens[i] + 2);
        assert_memory_equal(b.data, head, n);
        assert_memory_equal(b.data + b.len - 3, "x\r\n", 3);
    }

    for (i = 0; i < 101; i++) {
        argv[i].data = bytes;
        argv[i].len = 1;
    }

    relay_buf_reset(&b);
    assert_int_equal(relay_resp_format(&b, 101, argv), RELAY_OK);
    assert_int_equal(b.len, 6 + 101 * 7);

    relay_buf_free(&b);
}


static void
test_format_cap(void **state)
{
    relay_buf_t  b;
    relay_str_t  ping = relay_string("PING");

    /* 14 bytes a command */

    relay_buf_init(&b, 27);

    assert_int_equal(relay_resp_format(&b, 1, &ping), RELAY_OK);
    assert_int_equal(b.len, 14);

    assert_int_equal(relay_resp_format(&b, 1, &ping), RELAY_ERROR);
    assert_int_equal(b.len, 14);
    assert_false(b.failed);
    assert_memory_equal(b.data, "*1\r\n$4\r\nPING\r\n", 14);

    relay_buf_free(&b);
    relay_buf_init(&b, 28);

    assert_int_equal(relay_resp_format(&b, 1, &ping), RELAY_OK);
    assert_int_equal(relay_resp_format(&b, 1, &ping), RELAY_OK);
    assert_int_equal(b.len, 28);

    /* a buffer that failed before is left alone */

    relay_buf_append_c(&b, 'x');
    assert_true(b.failed);
    assert_int_equal(relay_resp_format(&b, 1, &ping), RELAY_ERROR);

    relay_buf_free(&b);
}


static void
test_types(void **state)
{
    const char           *why;
    relay_resp_reply_t   *reply;
    relay_resp_reader_t  *r;

    r = relay_resp_reader_create(CAP);

    assert_int_equal(relay_resp_next(r, &reply, &why), RELAY_AGAIN);
    assert_null(reply);

    assert_int_equal(take(r, "+OK\r\n", &reply, &why), RELAY_OK);
    assert_int_equal(reply->type, RELAY_RESP_STATUS);
    assert_true(relay_str_is(&reply->str, "OK"));
    assert_int_equal(reply->str.data[2], 0);
    relay_resp_reply_free(reply);

    assert_int_equal(take(r, "-NOSCRIPT No script\r\n", &reply, &why),
                     RELAY_OK);
    assert_int_equal(reply->type, RELAY_RESP_ERROR);
    assert_true(relay_str_is(&reply->str, "NOSCRIPT No script"));
    relay_resp_reply_free(reply);

    assert_int_equal(take(r, ":-9223372036854775808\r\n", &reply, &why),
                     RELAY_OK);
    assert_int_equal(reply->type, RELAY_RESP_INTEGER);
    assert_true(reply->integer == INT64_MIN);
    relay_resp_reply_free(reply);

    assert_int_equal(take(r, "$5\r\na\r\nb\xff\r\n", &reply, &why), RELAY_OK);
    assert_int_equal(reply->type, RELAY_RESP_BULK);
    assert_true(relay_str_is(&reply->str, "a\r\nb\xff"));
    assert_int_equal(reply->str.data[5], 0);
    relay_resp_reply_free(reply);

    assert_int_equal(take(r, "$0\r\n\r\n", &reply, &why), RELAY_OK);
    assert_int_equal(reply->type, RELAY_RESP_BULK);
    assert_int_equal(reply->str.len, 0);
    relay_resp_reply_free(reply);

    assert_int_equal(take(r, "$-1\r\n", &reply, &why), RELAY_OK);
    assert_int_equal(reply->type, RELAY_RESP_NIL);
    relay_resp_reply_free(reply);

    assert_int_equal(take(r, "*-1\r\n", &reply, &why), RELAY_OK);
    assert_int_equal(reply->type, RELAY_RESP_NIL);
    relay_resp_reply_free(reply);

    assert_int_equal(take(r, "*0\r\n", &reply, &why), RELAY_OK);
    assert_int_equal(reply->type, RELAY_RESP_ARRAY);
    assert_int_equal(reply->n, 0);
    relay_resp_reply_free(reply);

    relay_resp_reply_free(NULL);
    relay_resp_reader_free(r);
    relay_resp_reader_free(NULL);
}


static void
test_array(void **state)
{
    const char           *why;
    relay_resp_reply_t   *reply;
    relay_resp_reader_t  *r;

    r = relay_resp_reader_create(CAP);

    assert_int_equal(take(r, "*4\r\n$2\r\nok\r\n*2\r\n:1\r\n*-1\r\n$-1\r\n"
                             "-ERR x\r\n", &reply, &why), RELAY_OK);

    assert_int_equal(reply->type, RELAY_RESP_ARRAY);
    assert_int_equal(reply->n, 4);
    assert_true(relay_str_is(&reply->elts[0]->str, "ok"));
    assert_int_equal(reply->elts[1]->type, RELAY_RESP_ARRAY);
    assert_int_equal(reply->elts[1]->n, 2);
    assert_int_equal(reply->elts[1]->elts[0]->integer, 1);
    assert_int_equal(reply->elts[1]->elts[1]->type, RELAY_RESP_NIL);
    assert_int_equal(reply->elts[2]->type, RELAY_RESP_NIL);
    assert_int_equal(reply->elts[3]->type, RELAY_RESP_ERROR);

    relay_resp_reply_free(reply);
    relay_resp_reader_free(r);
}


static void
test_pieces(void **state)
{
    size_t                i, len;
    const char           *why;
    relay_resp_reply_t   *reply;
    relay_resp_reader_t  *r;

    static const char  wire[] =
        "*3\r\n$3\r\nabc\r\n:12\r\n*1\r\n+x\r\n";

    len = sizeof(wire) - 1;
    r = relay_resp_reader_create(CAP);

    /* byte by byte: never whole before its last byte */

    for (i = 0; i < len; i++) {
        assert_int_equal(relay_resp_feed(r, &wire[i], 1), RELAY_OK);
        assert_int_equal(relay_resp_next(r, &reply, &why),
                         i + 1 < len ? RELAY_AGAIN : RELAY_OK);
    }

    assert_int_equal(reply->n, 3);
    assert_true(relay_str_is(&reply->elts[0]->str, "abc"));
    assert_int_equal(reply->elts[1]->integer, 12);
    assert_true(relay_str_is(&reply->elts[2]->elts[0]->str, "x"));
    relay_resp_reply_free(reply);

    /* a reader freed in the middle of an array frees what it had made */

    assert_int_equal(relay_resp_feed(r, wire, len - 3), RELAY_OK);
    assert_int_equal(relay_resp_next(r, &reply, &why), RELAY_AGAIN);

    relay_resp_reader_free(r);
}


static void
test_pipeline(void **state)
{
    int                   i;
    char                  wire[64], chunk[4096];
    size_t                n;
    const char           *why;
    relay_resp_reply_t   *reply;
    relay_resp_reader_t  *r;

    /* many replies in one read, together larger than the cap of one */

    r = relay_resp_reader_create(128);
    n = 0;

    for (i = 0; i < 300; i++) {
        n += (size_t) snprintf(chunk + n, sizeof(chunk) - n, ":%d\r\n", i);
    }

    assert_int_equal(relay_resp_feed(r, chunk, n), RELAY_OK);

    for (i = 0; i < 300; i++) {
        assert_int_equal(relay_resp_next(r, &reply, &why), RELAY_OK);
        assert_int_equal(reply->integer, i);
        relay_resp_reply_free(reply);
    }

    assert_int_equal(relay_resp_next(r, &reply, &why), RELAY_AGAIN);

    /* and one reply after another, forever, does not wear it out */

    for (i = 0; i < 5000; i++) {
        n = (size_t) snprintf(wire, sizeof(wire), "$4\r\n%04d\r\n", i);
        assert_int_equal(relay_resp_feed(r, wire, n), RELAY_OK);
        assert_int_equal(relay_resp_next(r, &reply, &why), RELAY_OK);
        assert_memory_equal(reply->str.data, wire + 4, 4);
        relay_resp_reply_free(reply);
    }

    relay_resp_reader_free(r);
}


static void
test_cap(void **state)
{
    size_t                i;
    const char           *why;
    relay_resp_reply_t   *reply;
    relay_resp_reader_t  *r;

    /* "$10\r\n" + 10 + "\r\n" is 17 bytes */

    r = relay_resp_reader_create(17);
    assert_int_equal(take(r, "$10\r\n0123456789\r\n", &reply, &why), RELAY_OK);
    relay_resp_reply_free(reply);
    relay_resp_reader_free(r);

    r = relay_resp_reader_create(16);
    assert_int_equal(take(r, "$10\r\n0123456789\r\n", &reply, &why),
                     RELAY_DECLINED);
    assert_string_equal(why, "reply is too large");
    relay_resp_reader_free(r);

    /* refused before it is whole */

    r = relay_resp_reader_create(16);
    assert_int_equal(take(r, "$100\r\n0123456789", &reply, &why), RELAY_AGAIN);
    assert_int_equal(take(r, "0", &reply, &why), RELAY_DECLINED);
    assert_string_equal(why, "reply is too large");
    relay_resp_reader_free(r);

    /* elements of an array that were parsed already count too */

    r = relay_resp_reader_create(64);
    assert_int_equal(take(r, "*20\r\n", &reply, &why), RELAY_AGAIN);

    for (i = 0; i < 10; i++) {
        assert_int_equal(take(r, ":123\r\n", &reply, &why),
                         i < 9 ? RELAY_AGAIN : RELAY_DECLINED);
    }

    assert_string_equal(why, "reply is too large");
    relay_resp_reader_free(r);

    /* bytes fed and never taken */

    r = relay_resp_reader_create(8);
    assert_int_equal(relay_resp_feed(r, "+OK\r\n+OK\r\n", 10), RELAY_OK);
    assert_int_equal(relay_resp_feed(r, "+OK\r\n", 5), RELAY_ERROR);
    assert_int_equal(relay_resp_next(r, &reply, &why), RELAY_DECLINED);
    relay_resp_reader_free(r);
}


static void
test_endless_line(void **state)
{
    int                   i;
    char                  chunk[16 * 1024];
    const char           *why;
    relay_int_t           rc;
    relay_resp_reply_t   *reply;
    relay_resp_reader_t  *r;

    memset(chunk, 'a', sizeof(chunk));

    r = relay_resp_reader_create(64 * 1024 * 1024);
    assert_int_equal(take(r, "+", &reply, &why), RELAY_AGAIN);

    for (i = 0, rc = RELAY_AGAIN; i < 16 && rc == RELAY_AGAIN; i++) {
        assert_int_equal(relay_resp_feed(r, chunk, sizeof(chunk)), RELAY_OK);
        rc = relay_resp_next(r, &reply, &why);
    }

    assert_int_equal(rc, RELAY_DECLINED);
    assert_string_equal(why, "line is too long");
    assert_int_equal(i, 5);

    relay_resp_reader_free(r);

    /* while a long bulk string of the same bytes is none */

    r = relay_resp_reader_create(1024 * 1024);
    assert_int_equal(take(r, "$262144\r\n", &reply, &why), RELAY_AGAIN);

    for (i = 0; i < 16; i++) {
        assert_int_equal(relay_resp_feed(r, chunk, sizeof(chunk)), RELAY_OK);
        assert_int_equal(relay_resp_next(r, &reply, &why), RELAY_AGAIN);
    }

    assert_int_equal(take(r, "\r\n", &reply, &why), RELAY_OK);
    assert_int_equal(reply->str.len, 262144);
    assert_int_equal(reply->str.data[262143], 'a');

    relay_resp_reply_free(reply);
    relay_resp_reader_free(r);
}


static void
test_arrays_announced(void **state)
{
    const char           *why;
    relay_resp_reply_t   *reply;
    relay_resp_reader_t  *r;

    assert_declined("*262145\r\n", "array is too large");
    assert_declined("*2147483647\r\n", "array is too large");
    assert_declined("*4294967295\r\n", NULL);
    assert_declined("*9223372036854775807\r\n", NULL);

    /* many that are nested are counted together */

    assert_declined("*200000\r\n*200000\r\n", "array is too large");

    /* more elements than the cap has room for */

    r = relay_resp_reader_create(30);
    assert_int_equal(take(r, "*11\r\n", &reply, &why), RELAY_DECLINED);
    assert_string_equal(why, "array is too large");
    relay_resp_reader_free(r);

    r = relay_resp_reader_create(30);
    assert_int_equal(take(r, "*10\r\n", &reply, &why), RELAY_AGAIN);
    relay_resp_reader_free(r);

    /* and each reply is counted anew */

    r = relay_resp_reader_create(30);
    assert_int_equal(take(r, "*6\r\n+\r\n+\r\n+\r\n+\r\n+\r\n+\r\n",
                          &reply, &why), RELAY_OK);
    assert_int_equal(reply->n, 6);
    relay_resp_reply_free(reply);
    assert_int_equal(take(r, "*6\r\n+\r\n+\r\n+\r\n+\r\n+\r\n+\r\n",
                          &reply, &why), RELAY_OK);
    relay_resp_reply_free(reply);
    relay_resp_reader_free(r);
}


static void
test_depth(void **state)
{
    const char           *why;
    relay_resp_reply_t   *reply;
    relay_resp_reader_t  *r;

    r = relay_resp_reader_create(CAP);
    assert_int_equal(take(r, "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:7\r\n",
                          &reply, &why), RELAY_OK);
    assert_int_equal(reply->elts[0]->elts[0]->elts[0]->elts[0]->elts[0]
                          ->elts[0]->elts[0]->integer, 7);
    relay_resp_reply_free(reply);
    relay_resp_reader_free(r);

    assert_declined("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:7\r\n",
                    NULL);
}


static void
test_garbage(void **state)
{
    assert_declined("HTTP/1.1 400 Bad Request\r\n", NULL);
    assert_declined("\r\n", NULL);
    assert_declined("OK\r\n", NULL);
    assert_declined(":x\r\n", NULL);
    assert_declined(":\r\n", NULL);
    assert_declined(":9223372036854775808\r\n", NULL);
    assert_declined("$x\r\n", NULL);
    assert_declined("$-2\r\n", NULL);
    assert_declined("*-2\r\n", NULL);
    assert_declined("*2\r\n$3\r\nabc\r\n?\r\n", NULL);
    assert_declined("$3\r\nabcde\r\n", "bulk string is not ended by CRLF");
    assert_declined("*1\r\n$1\r\nab\r\r\n", "bulk string is not ended by CRLF");
}


static void
test_resp3(void **state)
{
    assert_declined("%1\r\n+a\r\n+b\r\n", NULL);
    assert_declined("~1\r\n+a\r\n", NULL);
    assert_declined(">1\r\n+a\r\n", NULL);
    assert_declined("_\r\n", NULL);
    assert_declined("#t\r\n", NULL);
    assert_declined(",1.5\r\n", NULL);
    assert_declined("(12345678901234567890\r\n", NULL);
    assert_declined("=7\r\ntxt:abc\r\n", NULL);
    assert_declined("*1\r\n_\r\n", NULL);
}


static void
test_field(void **state)
{
    const char           *why;
    const relay_str_t    *s;
    relay_resp_reply_t   *reply;
    relay_resp_reader_t  *r;

    r = relay_resp_reader_create(CAP);

    assert_int_equal(take(r, "*7\r\n$5\r\nstate\r\n$6\r\nactive\r\n"
                             "$5\r\nepoch\r\n$1\r\n3\r\n"
                             "$3\r\nnil\r\n$-1\r\n$3\r\nodd\r\n",
                          &reply, &why), RELAY_OK);

    s = relay_resp_field(reply, "epoch", 5);
    assert_non_null(s);
    assert_true(relay_str_is(s, "3"));

    s = relay_resp_field(reply, "state", 5);
    assert_non_null(s);
    assert_true(relay_str_is(s, "active"));

    /* a value is no name, a prefix is no match, the last has no value */

    assert_null(relay_resp_field(reply, "active", 6));
    assert_null(relay_resp_field(reply, "stat", 4));
    assert_null(relay_resp_field(reply, "states", 6));
    assert_null(relay_resp_field(reply, "nil", 3));
    assert_null(relay_resp_field(reply, "odd", 3));
    assert_null(relay_resp_field(NULL, "odd", 3));

    relay_resp_reply_free(reply);

    assert_int_equal(take(r, "$-1\r\n", &reply, &why), RELAY_OK);
    assert_null(relay_resp_field(reply, "state", 5));
    relay_resp_reply_free(reply);

    assert_int_equal(take(r, "*0\r\n", &reply, &why), RELAY_OK);
    assert_null(relay_resp_field(reply, "state", 5));
    relay_resp_reply_free(reply);

    relay_resp_reader_free(r);
}


/* What is formatted is read back as an array of bulk strings. */

static void
test_round_trip(void **state)
{
    size_t                i, j;
    relay_buf_t           b;
    relay_str_t           argv[16];
    const char           *why;
    unsigned char         bytes[256];
    relay_resp_reply_t   *reply;
    relay_resp_reader_t  *r;

    for (i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (unsigned char) i;
    }

    relay_buf_init(&b, CAP);
    r = relay_resp_reader_create(CAP);

    for (i = 1; i <= 16; i++) {

        for (j = 0; j < i; j++) {
            argv[j].data = bytes;
            argv[j].len = (i * 37 + j * 91) % sizeof(bytes);
        }

        relay_buf_reset(&b);
        assert_int_equal(relay_resp_format(&b, i, argv), RELAY_OK);
        assert_int_equal(relay_resp_feed(r, b.data, b.len), RELAY_OK);
        assert_int_equal(relay_resp_next(r, &reply, &why), RELAY_OK);
        assert_int_equal(reply->n, i);

        for (j = 0; j < i; j++) {
            assert_int_equal(reply->elts[j]->type, RELAY_RESP_BULK);
            assert_true(relay_str_eq(&reply->elts[j]->str, &argv[j]));
        }

        relay_resp_reply_free(reply);
    }

    relay_resp_reader_free(r);
    relay_buf_free(&b);
}


static void
test_denied(void **state)
{
    size_t       i;
    relay_str_t  s;

    static const char *const  denied[] = {
        "NOPERM this user has no permissions to run the 'get' command",
        "NOAUTH Authentication required.",
        "WRONGPASS invalid username-password pair or user is disabled.",
        "ERR The user executing the script can't run this command", NULL
    };

    static const char *const  others[] = {
        "", "NOPER", "ERR", "ERR NOPERM", "READONLY x", "NOREPLICAS x", NULL
    };

    for (i = 0; denied[i] != NULL; i++) {
        s.data = (unsigned char *) denied[i];
        s.len = strlen(denied[i]);
        assert_true(relay_resp_denied(&s));
    }

    for (i = 0; others[i] != NULL; i++) {
        s.data = (unsigned char *) others[i];
        s.len = strlen(others[i]);
        assert_false(relay_resp_denied(&s));
    }
}


static void
test_error_text(void **state)
{
    size_t         i, len;
    relay_str_t    s, secret;
    unsigned char  buf[32];

    static const struct {
        const char  *error;
        const char  *secret;
        const char  *text;
    } cases[] = {
        { "ERR x", "", "ERR x" },
        { "", "", "" },
        { "ERR\n\x1b[31m\xc3\xa9 a", "", "ERR??[31m?? a" },
        { "ERR unknown command 'AUTH' 'hunter2'", "hunter2", "ERR" },
        { "ERR hunter2-and-more", "hunter2-and-something else", "ERR" },
        { "ERR hunter2", "hunter2-and-something else", "ERR hunter2" },
        { "hunter2 ERR", "hunter2", "" },
        { "ERRhunter2 x", "hunter2", "ERR" },
        { "ERR a", "hunter2", "ERR a" },
        { "ERR 0123456789012345678901234567890", "",
          "ERR 0123456789012345678901234567" },
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        s.data = (unsigned char *) cases[i].error;
        s.len = strlen(cases[i].error);
        secret.data = (unsigned char *) cases[i].secret;
        secret.len = strlen(cases[i].secret);

        len = relay_resp_error_text(&s, &secret, buf, sizeof(buf));

        assert_int_equal(len, strlen(cases[i].text));
        assert_memory_equal(buf, cases[i].text, len);
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_format_lengths),
        cmocka_unit_test(test_format_cap),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_array),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_pipeline),
        cmocka_unit_test(test_cap),
        cmocka_unit_test(test_endless_line),
        cmocka_unit_test(test_arrays_announced),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_resp3),
        cmocka_unit_test(test_field),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_denied),
        cmocka_unit_test(test_error_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
