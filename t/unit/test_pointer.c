
/*
 * Unit tests of lib/relay_pointer.c.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#include "relay_pointer.h"


static relay_json_tape_t  tape;
static relay_str_t        doc;


static void
parse(const char *text)
{
    relay_json_error_t  err;

    doc.data = (unsigned char *) text;
    doc.len = strlen(text);

    assert_int_equal(relay_json_parse(&tape, &doc, &relay_json_default_limits,
                                      &err),
                     RELAY_OK);
}


static relay_int_t
find(const char *pointer, size_t *i)
{
    relay_str_t  s;

    s.data = (unsigned char *) pointer;
    s.len = strlen(pointer);

    return relay_pointer_find(&tape, &doc, &s, i);
}


static int
setup(void **state)
{
    relay_json_tape_init(&tape);

    return 0;
}


static int
teardown(void **state)
{
    relay_json_tape_free(&tape);

    return 0;
}


/* The pointer of every node leads back to it, or to its value for a name. */

static void
test_both_ways(void **state)
{
    size_t       i, at;
    relay_buf_t  out;
    relay_str_t  s;

    (void) state;

    parse("{\"\":[],\"a/b\":{\"~\\u0031\":[1,[2,{}],\"x\"]},\"\\u00e9\":"
          "{\"0\":null,\"01\":[[[]]]},\"z\":0}");

    relay_buf_init(&out, 1024);

    for (i = 0; i < tape.n; i++) {
        relay_buf_reset(&out);

        assert_int_equal(relay_pointer_append(&tape, &doc, i, &out),
                         RELAY_OK);
        relay_buf_str(&out, &s);

        assert_int_equal(relay_pointer_find(&tape, &doc, &s, &at), RELAY_OK);
        assert_int_equal(at, tape.nodes[i].type == RELAY_JSON_KEY ? i + 1 : i);
    }

    relay_buf_free(&out);
}


/* A walk makes no difference, in whatever order pointers are asked for. */

static void
test_walk(void **state)
{
    size_t                i, n, step;
    relay_buf_t           one, two;
    relay_pointer_walk_t  walk;

    (void) state;

    parse("{\"\":[],\"a\":{\"b\":[1,[2,{}],\"x\"]},\"c\":[[0,1,[2,3]],"
          "[4,{\"d\":5,\"e\":[6]}],7],\"z\":0}");

    relay_buf_init(&one, 1024);
    relay_buf_init(&two, 1024);

    for (step = 1; step < tape.n; step++) {

        memset(&walk, 0, sizeof(relay_pointer_walk_t));

        for (n = 0, i = 0; n < 4 * tape.n; n++, i = (i + step) % tape.n) {
            relay_buf_reset(&one);
            relay_buf_reset(&two);

            assert_int_equal(relay_pointer_append(&tape, &doc, i, &one),
                             RELAY_OK);
            assert_int_equal(relay_pointer_append_next(&tape, &doc, i, &walk,
                                                       &two),
                             RELAY_OK);
            assert_int_equal(one.len, two.len);

            if (one.len != 0) {
                assert_memory_equal(one.data, two.data, one.len);
            }
        }
    }

    relay_buf_free(&one);
    relay_buf_free(&two);
}


static void
test_text(void **state)
{
    size_t       i;
    relay_buf_t  out;

    (void) state;

    parse("{\"a/~b\":[0,{\"\\u0063\":1}]}");

    assert_int_equal(find("/a~1~0b/1/c", &i), RELAY_OK);
    assert_int_equal(tape.nodes[i].off, 21);

    relay_buf_init(&out, 11);
    assert_int_equal(relay_pointer_append(&tape, &doc, i, &out), RELAY_OK);
    assert_int_equal(out.len, 11);
    assert_memory_equal(out.data, "/a~1~0b/1/c", 11);
    relay_buf_free(&out);

    relay_buf_init(&out, 10);
    assert_int_equal(relay_pointer_append(&tape, &doc, i, &out), RELAY_ERROR);
    relay_buf_free(&out);

    relay_buf_init(&out, 10);
    assert_int_equal(relay_pointer_append(&tape, &doc, tape.n, &out),
                     RELAY_DECLINED);
    relay_buf_free(&out);
}


/* Where it leads nowhere, the last value on the way is known. */

static void
test_nowhere(void **state)
{
    static const struct {
        const char  *pointer;
        size_t       i;
    } cases[] = {
        { "a", 0 },
        { "/b", 0 },
        { "/a/2", 2 },
        { "/a/00", 2 },
        { "/a/01", 2 },
        { "/a/-", 2 },
        { "/a/", 2 },
        { "/a/0/x", 3 },
        { "/a/1/c", 4 },
        { "/~2", 0 },
        { "/~", 0 },
        { "/a/99999999999999999999", 2 }
    };

    size_t  k, i;
    char    longer[2000];

    (void) state;

    parse("{\"a\":[0,{\"b\":1}]}");

    for (k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {

        if (find(cases[k].pointer, &i) != RELAY_DECLINED) {
            fail_msg("%s", cases[k].pointer);
        }

        assert_int_equal(i, cases[k].i);
    }

    memset(longer, 'x', sizeof(longer));
    longer[0] = '/';
    longer[sizeof(longer) - 1] = '\0';
    assert_int_equal(find(longer, &i), RELAY_DECLINED);

    assert_int_equal(find("", &i), RELAY_OK);
    assert_int_equal(i, 0);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_walk),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_nowhere)
    };

    return cmocka_run_group_tests_name("relay_pointer", tests, setup,
                                       teardown);
}
