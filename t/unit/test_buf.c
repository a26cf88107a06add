
/*
 * relay_buf: growth, the maximum, sticky failure, JSON strings.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "relay_buf.h"


#define assert_content(b, s)                                                  \
    assert_int_equal((b)->len, sizeof(s) - 1);                                \
    assert_memory_equal((b)->data, s, sizeof(s) - 1)


static void
test_append(void **state)
{
    relay_buf_t  b;
    relay_str_t  s = relay_string("two");

    relay_buf_init(&b, 1000);

    assert_int_equal(b.len, 0);
    assert_int_equal(relay_buf_append(&b, "one\0", 4), RELAY_OK);
    assert_int_equal(relay_buf_append_str(&b, &s), RELAY_OK);
    assert_int_equal(relay_buf_append_z(&b, "three"), RELAY_OK);
    assert_int_equal(relay_buf_append_c(&b, '!'), RELAY_OK);
    assert_content(&b, "one\0twothree!");

    relay_buf_str(&b, &s);
    assert_int_equal(s.len, 13);
    assert_ptr_equal(s.data, b.data);

    relay_buf_reset(&b);
    assert_int_equal(b.len, 0);
    assert_int_equal(relay_buf_append_z(&b, "x"), RELAY_OK);
    assert_content(&b, "x");

    relay_buf_free(&b);
    assert_null(b.data);
    assert_int_equal(b.max, 1000);

    /* reusable after a free, and an empty append is none */

    assert_int_equal(relay_buf_append(&b, NULL, 0), RELAY_OK);
    assert_int_equal(b.len, 0);
    assert_int_equal(relay_buf_append_z(&b, "again"), RELAY_OK);
    assert_content(&b, "again");

    relay_buf_free(&b);
}


static void
test_growth(void **state)
{
    size_t       i;
    relay_buf_t  b;

    relay_buf_init(&b, 100000);

    for (i = 0; i < 100000; i++) {
        assert_int_equal(relay_buf_append_c(&b, (unsigned char) (i * 7)),
                         RELAY_OK);
    }

    for (i = 0; i < 100000; i++) {
        if (b.data[i] != (unsigned char) (i * 7)) {
            fail_msg("byte %zu is wrong", i);
        }
    }

    assert_true(b.size <= b.max);
    assert_int_equal(relay_buf_append_c(&b, 'x'), RELAY_ERROR);
    assert_int_equal(b.len, 100000);

    relay_buf_free(&b);
}


static void
test_maximum(void **state)
{
    relay_buf_t  b;

    relay_buf_init(&b, 5);

    assert_int_equal(relay_buf_append_z(&b, "12345"), RELAY_OK);
    assert_int_equal(b.failed, 0);
    assert_int_equal(relay_buf_append(&b, "", 0), RELAY_OK);
    assert_int_equal(relay_buf_append_c(&b, '6'), RELAY_ERROR);
    assert_int_equal(b.failed, 1);
    assert_int_equal(b.len, 5);

    /* nothing succeeds until the reset, not even what would fit */

    b.len = 0;
    assert_int_equal(relay_buf_append_c(&b, 'x'), RELAY_ERROR);
    assert_int_equal(relay_buf_append(&b, "", 0), RELAY_ERROR);
    assert_int_equal(relay_buf_append_int(&b, 1), RELAY_ERROR);
    assert_int_equal(relay_buf_printf(&b, "%d", 1), RELAY_ERROR);
    assert_int_equal(b.len, 0);

    relay_buf_reset(&b);
    assert_int_equal(relay_buf_append_c(&b, 'x'), RELAY_OK);
    assert_int_equal(relay_buf_append_z(&b, "12345"), RELAY_ERROR);

    relay_buf_free(&b);
    assert_int_equal(b.failed, 0);

    /* a length that wraps around */

    assert_int_equal(relay_buf_append_c(&b, 'x'), RELAY_OK);
    assert_int_equal(relay_buf_append(&b, "x", SIZE_MAX), RELAY_ERROR);
    relay_buf_free(&b);

    /* a maximum of nothing */

    relay_buf_init(&b, 0);
    assert_int_equal(relay_buf_append(&b, "", 0), RELAY_OK);
    assert_int_equal(relay_buf_append_c(&b, 'x'), RELAY_ERROR);
    relay_buf_free(&b);

    /* no maximum worth the name */

    relay_buf_init(&b, SIZE_MAX);
    assert_int_equal(relay_buf_append_z(&b, "x"), RELAY_OK);
    assert_int_equal(b.size, 128);
    assert_int_equal(relay_buf_append(&b, "x", SIZE_MAX - 1), RELAY_ERROR);
    assert_int_equal(b.failed, 1);
    relay_buf_free(&b);
}


static void
test_int(void **state)
{
    relay_buf_t  b;

    relay_buf_init(&b, 200);

    relay_buf_append_int(&b, 0);
    relay_buf_append_c(&b, ' ');
    relay_buf_append_int(&b, -1);
    relay_buf_append_c(&b, ' ');
    relay_buf_append_int(&b, 1234567890);
    relay_buf_append_c(&b, ' ');
    relay_buf_append_int(&b, INT64_MAX);
    relay_buf_append_c(&b, ' ');
    relay_buf_append_int(&b, INT64_MIN);

    assert_content(&b, "0 -1 1234567890 9223372036854775807 "
                       "-9223372036854775808");

    relay_buf_free(&b);
}


static void
test_printf(void **state)
{
    size_t       i;
    relay_buf_t  b;

    relay_buf_init(&b, 10);

    /* exactly the maximum: the terminator does not count */

    assert_int_equal(relay_buf_printf(&b, "%s-%05d", "abcd", 42), RELAY_OK);
    assert_content(&b, "abcd-00042");
    assert_int_equal(relay_buf_printf(&b, "%s", ""), RELAY_OK);
    assert_int_equal(relay_buf_printf(&b, "%c", 'x'), RELAY_ERROR);
    assert_int_equal(b.len, 10);
    relay_buf_free(&b);

    relay_buf_init(&b, 5000);

    for (i = 0; i < 1000; i++) {
        assert_int_equal(relay_buf_printf(&b, "%04zu.", i), RELAY_OK);
    }

    assert_int_equal(b.len, 5000);
    assert_memory_equal(b.data + 4990, "0998.0999.", 10);

    relay_buf_free(&b);
}


static void
json(const char *in, size_t len, const char *expected)
{
    relay_buf_t  b;
    relay_str_t  s;

    relay_buf_init(&b, 10000);

    /* memory of its own size, so that a sanitizer sees a byte too many */

    s.len = len;
    s.data = malloc(len ? len : 1);
    assert_non_null(s.data);
    memcpy(s.data, in, len);

    assert_int_equal(relay_buf_append_json(&b, &s), RELAY_OK);
    assert_int_equal(relay_buf_append_c(&b, '\0'), RELAY_OK);
    assert_string_equal((char *) b.data, expected);

    free(s.data);
    relay_buf_free(&b);
}


static void
test_json(void **state)
{
    relay_buf_t  b;
    relay_str_t  s = relay_string("\x01\x01");
    relay_str_t  null = relay_null_string;

#define j(in, out)  json(in, sizeof(in) - 1, out)

    j("", "\"\"");
    j("plain", "\"plain\"");
    j("a\"b\\c/", "\"a\\\"b\\\\c/\"");
    j("\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\"");
    j("\0\x01\x1f\x7f ", "\"\\u0000\\u0001\\u001f\\u007f \"");
    j("\xc2\x80 \xc2\x9b \xc2\x9f\xc2\xa0",
      "\"\\u0080 \\u009b \\u009f\xc2\xa0\"");

    /* well-formed UTF-8 stays as it is */

    j("\xc2\xa0\xdf\xbf", "\"\xc2\xa0\xdf\xbf\"");
    j("\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf",
      "\"\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\"");
    j("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
      "\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"");

    /* overlong, surrogate, beyond U+10FFFF, stray, cut short */

    j("\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\"");
    j("\xc1\xbf", "\"\xef\xbf\xbd\xef\xbf\xbd\"");
    j("\xe0\x9f\xbf", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    j("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    j("\xf0\x8f\xbf\xbf",
      "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    j("\xf4\x90\x80\x80",
      "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    j("\xf5", "\"\xef\xbf\xbd\"");
    j("\xff", "\"\xef\xbf\xbd\"");
    j("a\x80z", "\"a\xef\xbf\xbdz\"");
    j("a\xc3", "\"a\xef\xbf\xbd\"");
    j("a\xc3\"", "\"a\xef\xbf\xbd\\\"\"");
    j("a\xe2\x82", "\"a\xef\xbf\xbd\xef\xbf\xbd\"");
    j("a\xf0\x9f\x98", "\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");

    relay_buf_init(&b, 10);
    assert_int_equal(relay_buf_append_json(&b, &null), RELAY_OK);
    assert_content(&b, "\"\"");

    /* the maximum within an escape */

    assert_int_equal(relay_buf_append_json(&b, &s), RELAY_ERROR);
    assert_int_equal(b.failed, 1);

    relay_buf_free(&b);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_append),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_maximum),
        cmocka_unit_test(test_int),
        cmocka_unit_test(test_printf),
        cmocka_unit_test(test_json)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
