
/*
 * Unit tests of lib/relay_json.c.  The texts of JSONTestSuite are run where
 * they are at hand.
 */

#include <dirent.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <setjmp.h>
#include <time.h>
#include <cmocka.h>

#include "relay_json.h"


#define CORPUS     "../shared/corpus/json/test_parsing"
#define TRANSFORM  "../shared/corpus/json/test_transform"


static relay_json_tape_t    tape;
static relay_json_error_t   err;
static relay_json_limits_t  limits;
static relay_str_t          doc;


/*
 * Tokenizes a copy that ends where the memory does, so that a sanitizer sees
 * every read beyond it.
 */

static relay_int_t
parse(const char *text, size_t len)
{
    free(doc.data);

    doc.data = malloc(len);
    doc.len = len;

    if (len != 0) {
        memcpy(doc.data, text, len);
    }

    memset(&err, 0, sizeof(err));

    return relay_json_parse(&tape, &doc, &limits, &err);
}


static relay_int_t
parse_z(const char *text)
{
    return parse(text, strlen(text));
}


/* What a tape must always be, whatever the text. */

static size_t
check_node(size_t i, size_t end)
{
    size_t              n, start;
    relay_json_node_t  *node;

    node = &tape.nodes[i];

    assert_true(node->off < end && node->off + node->len <= end);
    assert_int_not_equal(node->type, RELAY_JSON_KEY);

    if (node->type < RELAY_JSON_ARRAY) {
        assert_int_equal(node->next, i + 1);
        return i + 1;
    }

    end = node->off + node->len - 1;
    start = node->off + 1;
    i++;

    for (n = node->count; n > 0; n--) {

        if (node->type == RELAY_JSON_OBJECT) {
            assert_int_equal(tape.nodes[i].type, RELAY_JSON_KEY);
            assert_true(tape.nodes[i].off >= start);
            start = tape.nodes[i].off + tape.nodes[i].len;
            assert_int_equal(doc.data[start - 1], '"');
            i++;
        }

        assert_true(tape.nodes[i].off >= start);
        start = tape.nodes[i].off + tape.nodes[i].len;
        i = check_node(i, end);
    }

    assert_int_equal(node->next, i);

    return i;
}


static void
check_tape(void)
{
    assert_int_equal(check_node(0, doc.len), tape.n);
}


static void
accept(const char *text)
{
    if (parse_z(text) != RELAY_OK) {
        fail_msg("%s: %s", text, err.text);
    }

    check_tape();
}


static void
refuse(const char *text, const char *reason, size_t offset)
{
    assert_int_equal(parse_z(text), RELAY_DECLINED);
    assert_string_equal(err.text, reason);
    assert_int_equal(err.offset, offset);
    assert_int_equal(tape.n, 0);
}


static int
setup(void **state)
{
    relay_json_tape_init(&tape);
    limits = relay_json_default_limits;

    return 0;
}


static int
teardown(void **state)
{
    relay_json_tape_free(&tape);
    free(doc.data);
    doc.data = NULL;

    return 0;
}


static void
test_tape(void **state)
{
    size_t  i;

    static const struct {
        relay_json_type_e  type;
        size_t             off, len, next, count;
    } nodes[] = {
        { RELAY_JSON_OBJECT, 1, 41, 11, 3 },
        { RELAY_JSON_KEY, 3, 3, 0, 0 },
        { RELAY_JSON_ARRAY, 9, 15, 7, 4 },
        { RELAY_JSON_NUMBER, 10, 1, 4, 0 },
        { RELAY_JSON_TRUE, 12, 4, 5, 0 },
        { RELAY_JSON_NULL, 17, 4, 6, 0 },
        { RELAY_JSON_ARRAY, 22, 1, 7, 0 }
    };

    accept(" { \"a\" : [1,true,null,[]], \"\" :\"x\\ty\",\"b\":{}} ");

    assert_int_equal(tape.n, 11);

    for (i = 0; i < 6; i++) {
        assert_int_equal(tape.nodes[i].type, nodes[i].type);
        assert_int_equal(tape.nodes[i].off, nodes[i].off);

        if (nodes[i].type != RELAY_JSON_KEY) {
            assert_int_equal(tape.nodes[i].next, nodes[i].next);
            assert_int_equal(tape.nodes[i].count, nodes[i].count);
        }
    }

    assert_int_equal(tape.nodes[0].len, doc.len - 2);
    assert_int_equal(tape.nodes[3].len, 1);
    assert_int_equal(tape.nodes[4].len, 4);
    assert_int_equal(tape.nodes[7].len, 2);
    assert_int_equal(tape.nodes[8].escaped, 1);
    assert_int_equal(tape.nodes[7].escaped, 0);
    assert_int_equal(tape.nodes[10].type, RELAY_JSON_OBJECT);

    accept("0");
    assert_int_equal(tape.n, 1);
    accept("\"\"");
    accept("\t[ ]\r\n");
    accept("[-0,-0.0,0e0,1E+2,1e-2,123.456]");
}


static void
test_grammar(void **state)
{
    refuse("", "the document ends where a value is needed", 0);
    refuse(" ", "the document ends where a value is needed", 1);
    refuse("[", "the document ends where a value is needed", 1);
    refuse("[1", "the array does not end", 2);
    refuse("[1,", "the document ends where a value is needed", 3);
    refuse("[1,]", "no JSON value starts like this", 3);
    refuse("[,1]", "no JSON value starts like this", 1);
    refuse("[1 2]", "a comma or a closing bracket is needed here", 3);
    refuse("[1}", "a comma or a closing bracket is needed here", 2);
    refuse("{\"a\":1]", "a comma or a closing brace is needed here", 6);
    refuse("{", "a member's name in quotes is needed here", 1);
    refuse("{a:1}", "a member's name in quotes is needed here", 1);
    refuse("{\"a\":1,}", "a member's name in quotes is needed here", 7);
    refuse("{\"a\" 1}", "a colon is needed here", 5);
    refuse("{\"a\"", "a colon is needed here", 4);
    refuse("{\"a\":1", "the object does not end", 6);
    refuse("1 1", "nothing may follow the document's value", 2);
    refuse("{}]", "nothing may follow the document's value", 2);
    refuse("tru", "no JSON value starts like this", 0);
    refuse("True", "no JSON value starts like this", 0);
    refuse("nul", "no JSON value starts like this", 0);
    refuse("truex", "nothing may follow the document's value", 4);
    refuse("NaN", "no JSON value starts like this", 0);
    refuse("/* */1", "no JSON value starts like this", 0);
    refuse("[1]//", "nothing may follow the document's value", 3);
    refuse("\x0b" "1", "no JSON value starts like this", 0);
    refuse("01", "a number must not start with a zero", 1);
    refuse("-", "a digit is needed here", 1);
    refuse("-a", "a digit is needed here", 1);
    refuse("+1", "no JSON value starts like this", 0);
    refuse("1.", "a digit is needed after the decimal point", 2);
    refuse(".5", "no JSON value starts like this", 0);
    refuse("1e", "a digit is needed in the exponent", 2);
    refuse("1e+", "a digit is needed in the exponent", 3);
    refuse("0x1", "nothing may follow the document's value", 1);
    refuse("\"a", "the string does not end", 2);
    refuse("\"a\\", "the string does not end", 2);
    refuse("\"\\\"", "the string does not end", 3);
    refuse("\"\\x\"", "no such escape sequence", 1);
    refuse("\"\\u12\"", "the escape sequence does not end", 1);
    refuse("\"\\u12g4\"", "four hexadecimal digits are needed after \\u", 5);
    refuse("\"a\nb\"", "a control character in a string must be escaped", 2);
    refuse("\"0123456789abcdef\x1f\"",
           "a control character in a string must be escaped", 17);

    assert_int_equal(parse("\"\0\"", 3), RELAY_DECLINED);
    assert_int_equal(parse("1\0", 2), RELAY_DECLINED);
    assert_int_equal(parse("[1,\0]", 5), RELAY_DECLINED);
}


static void
test_place(void **state)
{
    assert_int_equal(parse_z("{\n  \"a\": 1,\r\n  \"b\": x\n}"),
                     RELAY_DECLINED);
    assert_int_equal(err.offset, 20);
    assert_int_equal(err.line, 3);
    assert_int_equal(err.column, 8);

    assert_int_equal(parse_z("x"), RELAY_DECLINED);
    assert_int_equal(err.line, 1);
    assert_int_equal(err.column, 1);
}


static void
test_unicode(void **state)
{
    size_t       i, pad, n;
    char         text[64];

    static const char  *good[] = {
        "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "\x7f",
        "\xef\xbb\xbf"
    };

    static const char  *bad[] = {
        "\x80", "\xbf", "\xc0\xaf", "\xc1\xbf", "\xc2", "\xc2\x20", "\xc2\xc2",
        "\xe0\x9f\xbf", "\xe0\xa0", "\xed\xa0\x80", "\xed\xbf\xbf",
        "\xef\xbf", "\xf0\x8f\xbf\xbf", "\xf0\x90\x80", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xf8\x88\x80\x80\x80", "\xff", "\xfe",
        "\xe2\x82\x20", "\xf0\x9f\x98\x20"
    };

    /* at every place of a block of sixteen bytes, and at the end */

    for (pad = 0; pad < 20; pad++) {

        for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
            n = snprintf(text, sizeof(text), "\"%.*s%s%.*s\"", (int) pad,
                         "aaaaaaaaaaaaaaaaaaaa", good[i], (int) pad,
                         "bbbbbbbbbbbbbbbbbbbb");
            assert_int_equal(parse(text, n), RELAY_OK);
        }

        for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
            n = snprintf(text, sizeof(text), "\"%.*s%s%.*s\"", (int) pad,
                         "aaaaaaaaaaaaaaaaaaaa", bad[i], (int) pad,
                         "bbbbbbbbbbbbbbbbbbbb");
            assert_int_equal(parse(text, n), RELAY_DECLINED);
            assert_string_equal(err.text, "the string is not valid UTF-8");
            assert_int_equal(err.offset, pad + 1);

            /* in a name, too */

            n = snprintf(text, sizeof(text), "{\"%s\":1}", bad[i]);
            assert_int_equal(parse(text, n), RELAY_DECLINED);
        }
    }

    refuse("\xef\xbb\xbf{}", "the document starts with a byte order mark", 0);
    refuse("[\xef\xbb\xbf]", "no JSON value starts like this", 1);

    accept("\"\\ud800\\udc00\\uDBFF\\uDFFF\\u0000\\ue000\"");
    refuse("\"\\ud800\"", "unpaired surrogate in an escape sequence", 1);
    refuse("\"\\udc00\"", "unpaired surrogate in an escape sequence", 1);
    refuse("\"\\ud800\\u0041\"", "unpaired surrogate in an escape sequence",
           1);
    refuse("\"\\ud800\\ud800\\udc00\"",
           "unpaired surrogate in an escape sequence", 1);
    refuse("\"\\udc00\\ud800\"", "unpaired surrogate in an escape sequence",
           1);
    refuse("\"\\ud800x\"", "unpaired surrogate in an escape sequence", 1);
    refuse("\"\\ud800\\n\"", "unpaired surrogate in an escape sequence", 1);
    refuse("\"\\ud800\\u\"", "the escape sequence does not end", 1);
}


static void
test_duplicates(void **state)
{
    size_t       i, n;
    char        *text, *p;

    static const char  *twice[] = {
        "{\"a\":1,\"a\":2}",
        "{\"a\":1,\"b\":2,\"a\":1}",
        "{\"\":1,\"\":1}",
        "[{\"x\":{\"a\":[{\"b\":1,\"b\":1}]}}]",
        "{\"a\":1,\"\\u0061\":2}",
        "{\"visibility\":1,\"vis\\u0069bility\":2}",
        "{\"\\u0041bcdefgh12345678\":1,\"Abcdefgh12345678\":2}",
        "{\"\\u00e9\":1,\"\xc3\xa9\":2}",
        "{\"\\ud83d\\ude00\":1,\"\xf0\x9f\x98\x80\":2}",
        "{\"a/b\":1,\"a\\/b\":2}",
        "{\"\\n\":1,\"\\u000A\":2}",
        "{\"a\":{\"z\":1},\"b\":[{}],\"a\":1}"
    };

    static const char  *once[] = {
        "{\"a\":1,\"A\":2}", "{\"a\":{\"a\":{\"a\":1}},\"b\":{\"a\":1}}",
        "[{\"a\":1},{\"a\":1}]", "{\"a\":1,\"a\\u0000\":2}",
        "{\"e\\u0301\":1,\"\\u00e9\":2}", "{\"ab\":1,\"a\":2,\"\":3}",
        "{\"12345678\":1,\"1234567\":2,\"123456789\":3}"
    };

    for (i = 0; i < sizeof(twice) / sizeof(twice[0]); i++) {
        if (parse_z(twice[i]) != RELAY_DECLINED) {
            fail_msg("%s is accepted", twice[i]);
        }

        assert_string_equal(err.text, "the name occurs twice in this object");
    }

    for (i = 0; i < sizeof(once) / sizeof(once[0]); i++) {
        accept(once[i]);
    }

    refuse("{\"a\":1,\"b\":2,\"a\":1}", "the name occurs twice in this object",
           13);

    /* objects of every size around the one from which they are sorted */

    text = malloc(4096 * 16);

    for (n = 2; n < 300; n++) {

        p = text;
        p += sprintf(p, "[{");

        for (i = 0; i < n; i++) {
            p += sprintf(p, "%s\"k%zu\":{\"k1\":0}", i ? "," : "", i);
        }

        sprintf(p, "}]");
        accept(text);

        /* the last one repeats one of those before */

        sprintf(p, ",\"k\\u00%02x%s\":0}]", '0' + (int) ((n / 2) % 10),
                n / 2 < 10 ? "" : "x");

        if (n / 2 < 10) {
            assert_int_equal(parse_z(text), RELAY_DECLINED);
            assert_string_equal(err.text,
                                "the name occurs twice in this object");
            assert_int_equal(err.offset, p + 1 - text);

        } else {
            accept(text);
        }
    }

    free(text);
}


/*
 * Names that all hash alike must cost neither correctness nor much time.  The
 * hash is no secret: the second word of a name makes up for the first one.
 */

static uint64_t
mix(uint64_t h)
{
    h *= 0x9fb21c651e98df25ull;

    return h ^ (h >> 29);
}


static void
test_collisions(void **state)
{
    char           *text, *p, name[17];
    size_t          i, k, n, found;
    clock_t         start;
    uint32_t        hash;
    uint64_t        target, word;
    unsigned char   c;

    n = limits.keys;
    text = malloc(n * 24 + 64);
    p = text;
    *p++ = '{';
    found = 0;
    hash = 0;
    target = mix(0x4242424242424242ull) ^ 0x4343434343434343ull;

    for (i = 0; found < n; i++) {

        snprintf(name, sizeof(name), "%08zx", i);
        memcpy(&word, name, 8);
        word = mix(word) ^ target;
        memcpy(name + 8, &word, 8);

        for (k = 8; k < 16; k++) {
            c = (unsigned char) name[k];

            if (c < 0x20 || c > 0x7e || c == '"' || c == '\\') {
                break;
            }
        }

        if (k < 16) {
            continue;
        }

        if (found == 0) {
            hash = relay_json_hash((unsigned char *) name, 16);
        }

        assert_int_equal(relay_json_hash((unsigned char *) name, 16), hash);

        p += sprintf(p, "%s\"%.16s\":0", found ? "," : "", name);
        found++;
    }

    strcpy(p, "}");

    start = clock();

    for (i = 0; i < 5; i++) {
        assert_int_equal(parse_z(text), RELAY_OK);
    }

    assert_true((double) (clock() - start) / CLOCKS_PER_SEC < 2.0);
    check_tape();

    /* the first name once more, in the place of the last */

    memcpy(p - 20, text + 1, 18);
    assert_int_equal(parse_z(text), RELAY_DECLINED);
    assert_string_equal(err.text, "the name occurs twice in this object");
    assert_int_equal(err.offset, p - 20 - text);

    /* among few names, too */

    memcpy(text + 1 + 20 * 21, text + 1, 18);
    strcpy(text + 21 * 21, "}");
    assert_int_equal(parse_z(text), RELAY_DECLINED);
    assert_int_equal(err.offset, 1 + 20 * 21);
    strcpy(text + 20 * 21, "}");
    assert_int_equal(parse_z(text), RELAY_OK);

    free(text);
}


static void
test_limits(void **state)
{
    size_t  i;
    char    text[256];

    limits.depth = 3;
    accept("[[[1]]]");
    accept("[[[]],{\"a\":[]},[[]]]");
    refuse("[[[[]]]]", "the document is nested too deeply", 3);
    refuse("[[{\"a\":{}}]]", "the document is nested too deeply", 7);

    limits = relay_json_default_limits;
    limits.keys = 2;
    accept("{\"a\":{\"a\":1,\"b\":1},\"b\":1}");
    refuse("{\"a\":1,\"b\":1,\"c\":1}", "the object has too many members",
           13);

    limits = relay_json_default_limits;
    limits.key_len = 3;
    accept("{\"abc\":1}");
    refuse("{\"abcd\":1}", "the member's name is too long", 1);

    limits = relay_json_default_limits;
    limits.string_len = 3;
    accept("[\"abc\",\"\"]");
    refuse("[\"abcd\"]", "the string is too long", 1);

    limits = relay_json_default_limits;
    limits.number_len = 3;
    accept("[123,-12]");
    refuse("[1234]", "the number is too long", 1);

    limits = relay_json_default_limits;
    limits.bytes = 4;
    accept("[12]");
    refuse("[123]", "the document is too long", 0);

    /* the tape is large by now, and must not be used beyond the limit */

    limits = relay_json_default_limits;
    limits.nodes = 4;
    accept("[1,2,3]");
    accept("{\"a\":[1]}");
    refuse("[1,2,3,4]", "the document has too many values", 7);
    refuse("{\"a\":1,\"b\":1}", "the document has too many values", 11);
    refuse("[1,{\"a\":{}}]", "the document has too many values", 8);

    limits.nodes = 0;
    refuse("1", "the document has too many values", 0);

    /* and it grows no further than that from a small one */

    relay_json_tape_free(&tape);
    limits.nodes = 100;

    for (i = 0; i < 100; i++) {
        text[2 * i] = (i == 0) ? '[' : ',';
        text[2 * i + 1] = '1';
    }

    memcpy(text + 2 * 99, "]", 2);
    accept(text);
    assert_int_equal(tape.n, 100);
    assert_true(tape.size <= 100);

    memcpy(text + 2 * 99, ",1]", 4);
    refuse(text, "the document has too many values", 199);

    limits = relay_json_default_limits;
}


/* Whatever is cut short is refused, without a read beyond the end. */

static void
test_truncated(void **state)
{
    size_t  i, n;

    static const char  text[] =
        "{\"a long name, more than sixteen bytes\": [1, -2.5e+3, true, null,"
        " false, \"\\u00e9\\ud83d\\ude00 \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"
        " and more\"],\n\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\"b\":"
        "{\"c\":{\"d\":[[],{}]}}}";

    n = sizeof(text) - 1;

    assert_int_equal(parse(text, n), RELAY_OK);
    check_tape();

    for (i = 0; i < n; i++) {
        assert_int_equal(parse(text, i), RELAY_DECLINED);
        assert_true(err.offset <= i);
    }
}


/* Texts with a byte changed, inserted or left out: never a bad tape. */

static void
test_mutations(void **state)
{
    size_t    i, k, n, good;
    unsigned  seed;
    char      text[512];

    static const char  base[] =
        "{\"id\":\"r\\u00e9\",\"n\":[0,-1.5e3,true,false,null,{}],"
        "\"o\":{\"k\":\"\xc3\xa9\\\"\\\\\",\"k2\":[[[]]]},\"z\":\"end\"}";

    static const char  bytes[] = "{}[]:,\"\\ \n019-+.eEutfn/\x80\xc3\xff";

    seed = 12345;
    good = 0;

    for (i = 0; i < 60000; i++) {
        n = sizeof(base) - 1;
        memcpy(text, base, n);

        for (k = 0; k < 1 + i % 3; k++) {
            seed = seed * 1103515245 + 12345;

            switch ((seed >> 8) % 3) {

            case 0:
                text[(seed >> 16) % n] = bytes[(seed >> 10)
                                               % (sizeof(bytes) - 1)];
                break;

            case 1:
                memmove(text + (seed >> 16) % n, text + (seed >> 16) % n + 1,
                        n - (seed >> 16) % n - 1);
                n--;
                break;

            default:
                memmove(text + (seed >> 16) % n + 1, text + (seed >> 16) % n,
                        n - (seed >> 16) % n);
                n++;
            }
        }

        if (parse(text, n) == RELAY_OK) {
            check_tape();
            good++;

        } else {
            assert_non_null(err.text);
            assert_true(err.offset <= n && err.line >= 1 && err.column >= 1);
        }
    }

    assert_true(good > 1000 && good < 59000);
}


static void
test_get(void **state)
{
    size_t       i;
    relay_buf_t  buf;

    accept("{\"a\":1,\"b\":{\"a\":2,\"c\\u0064\":\"x\\u0000\\n\\/\\ud83d"
           "\\ude00\\u20ac\"},\"\":[3]}");

    i = relay_json_get(&tape, &doc, 0, "a", 1);
    assert_int_equal(tape.nodes[i].type, RELAY_JSON_NUMBER);

    i = relay_json_get(&tape, &doc, 0, "", 0);
    assert_int_equal(tape.nodes[i].type, RELAY_JSON_ARRAY);
    assert_int_equal(relay_json_get(&tape, &doc, i, "a", 1), 0);

    assert_int_equal(relay_json_get(&tape, &doc, 0, "cd", 2), 0);
    assert_int_equal(relay_json_get(&tape, &doc, 0, "A", 1), 0);

    i = relay_json_get(&tape, &doc, 0, "b", 1);
    i = relay_json_get(&tape, &doc, i, "cd", 2);
    assert_int_not_equal(i, 0);

    assert_true(relay_json_str_is(&tape, &doc, i - 1, "cd", 2));
    assert_true(relay_json_str_is(&tape, &doc, i,
                                  "x\0\n/\xf0\x9f\x98\x80\xe2\x82\xac", 11));
    assert_false(relay_json_str_is(&tape, &doc, i,
                                   "x\0\n/\xf0\x9f\x98\x80\xe2\x82", 10));
    assert_false(relay_json_str_is(&tape, &doc, i, "x", 1));
    assert_false(relay_json_str_is(&tape, &doc, i, "", 0));
    assert_false(relay_json_str_is(&tape, &doc, 0, "", 0));

    relay_buf_init(&buf, 64);
    assert_int_equal(relay_json_str_decode(&tape, &doc, i, &buf), RELAY_OK);
    assert_int_equal(buf.len, 11);
    assert_memory_equal(buf.data, "x\0\n/\xf0\x9f\x98\x80\xe2\x82\xac", 11);
    assert_int_equal(relay_json_str_decode(&tape, &doc, 0, &buf), RELAY_ERROR);
    relay_buf_free(&buf);

    relay_buf_init(&buf, 5);
    assert_int_equal(relay_json_str_decode(&tape, &doc, i, &buf), RELAY_ERROR);
    relay_buf_free(&buf);
}


/* The hash on the tape is that of the function, whatever the spelling. */

static void
test_hash(void **state)
{
    size_t    len;
    uint32_t  plain;
    char      name[64], text[160];

    for (len = 0; len < 40; len++) {
        memset(name, 'a' + (int) (len % 26), len);
        name[len] = '\0';

        snprintf(text, sizeof(text), "{\"%s\":0}", name);
        accept(text);
        plain = relay_json_hash((unsigned char *) name, len);
        assert_int_equal(tape.nodes[1].next, plain);

        /* where there is room behind it, and where there is none */

        snprintf(text, sizeof(text), "{\"%s\":0              }", name);
        accept(text);
        assert_int_equal(tape.nodes[1].next, plain);

        if (len > 0) {
            snprintf(text, sizeof(text), "{\"%s\\u00%02x\":0}", name + 1,
                     name[0]);
            accept(text);
            assert_int_equal(tape.nodes[1].next, plain);
        }
    }
}


static void
test_int(void **state)
{
    size_t   i;
    int64_t  value;

    static const struct {
        const char  *text;
        int64_t      value;
    } good[] = {
        { "0", 0 }, { "-0", 0 }, { "-0.0", 0 }, { "0e9999999999", 0 },
        { "7", 7 }, { "-7", -7 }, { "3.0", 3 }, { "3e0", 3 }, { "30e-1", 3 },
        { "0.003e3", 3 }, { "1.50E1", 15 }, { "1200e-2", 12 }, { "10", 10 },
        { "100.000", 100 }, { "1e18", 1000000000000000000LL },
        { "9223372036854775807", INT64_MAX },
        { "-9223372036854775808", INT64_MIN },
        { "9223372036854775807.0", INT64_MAX }
    };

    static const char  *bad[] = {
        "0.5", "1e-1", "3.1", "9223372036854775808", "-9223372036854775809",
        "1e19", "1e99999999999999999999", "1e-99999999999999999999", "1.05e1",
        "\"1\"", "true", "null", "[1]"
    };

    for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        accept(good[i].text);
        assert_int_equal(relay_json_int(&tape, &doc, 0, &value), RELAY_OK);
        assert_true(value == good[i].value);
    }

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        accept(bad[i]);
        assert_int_equal(relay_json_int(&tape, &doc, 0, &value),
                         RELAY_DECLINED);
    }
}


static void
test_suite(void **state)
{
    DIR            *dir;
    char            path[1024], *text;
    FILE           *fp;
    size_t          n, accepted, refused;
    relay_int_t     rc;
    struct dirent  *entry;

    dir = opendir(CORPUS);

    if (dir == NULL) {
        print_message(CORPUS " is not there\n");
        skip();
    }

    text = malloc(1024 * 1024);
    accepted = 0;
    refused = 0;

    while ((entry = readdir(dir)) != NULL) {

        if (entry->d_name[0] == '.') {
            continue;
        }

        snprintf(path, sizeof(path), CORPUS "/%s", entry->d_name);

        fp = fopen(path, "rb");
        assert_non_null(fp);
        n = fread(text, 1, 1024 * 1024, fp);
        fclose(fp);

        rc = parse(text, n);

        if (rc == RELAY_OK) {
            check_tape();
        }

        /*
         * Of those that an implementation may take or leave, we take only
         * the ones about the size of a number.  The suite wants duplicate
         * names accepted, which this parser exists to refuse.
         */

        if (strncmp(entry->d_name, "y_object_duplicated_key", 23) == 0) {
            assert_int_equal(rc, RELAY_DECLINED);
            refused++;

        } else if (entry->d_name[0] == 'y'
                   || strncmp(entry->d_name, "i_number_", 9) == 0)
        {
            if (rc != RELAY_OK) {
                fail_msg("%s: %s", entry->d_name, err.text);
            }

            accepted++;

        } else {
            if (rc != RELAY_DECLINED) {
                fail_msg("%s is accepted", entry->d_name);
            }

            refused++;
        }
    }

    closedir(dir);
    free(text);

    assert_int_equal(accepted + refused, 318);
}


/*
 * What parsers make something else of.  This one makes nothing of it: numbers
 * keep their digits, names are not normalized, and what is ambiguous (a name
 * given twice, half a surrogate pair, bytes that are no UTF-8) is refused.
 */

static void
test_transform(void **state)
{
    size_t        i, n;
    char          path[1024], text[1024];
    FILE         *fp;
    relay_int_t   rc;

    static const struct {
        const char   *name;
        relay_int_t   rc;
    } files[] = {
        { "number_-9223372036854775808", RELAY_OK },
        { "number_-9223372036854775809", RELAY_OK },
        { "number_1.0", RELAY_OK },
        { "number_1.000000000000000005", RELAY_OK },
        { "number_1000000000000000", RELAY_OK },
        { "number_10000000000000000999", RELAY_OK },
        { "number_1e-999", RELAY_OK },
        { "number_1e6", RELAY_OK },
        { "number_9223372036854775807", RELAY_OK },
        { "number_9223372036854775808", RELAY_OK },
        { "object_key_nfc_nfd", RELAY_OK },
        { "object_key_nfd_nfc", RELAY_OK },
        { "object_same_key_different_values", RELAY_DECLINED },
        { "object_same_key_same_value", RELAY_DECLINED },
        { "object_same_key_unclear_values", RELAY_DECLINED },
        { "string_1_escaped_invalid_codepoint", RELAY_DECLINED },
        { "string_1_invalid_codepoint", RELAY_DECLINED },
        { "string_2_escaped_invalid_codepoints", RELAY_DECLINED },
        { "string_2_invalid_codepoints", RELAY_DECLINED },
        { "string_3_escaped_invalid_codepoints", RELAY_DECLINED },
        { "string_3_invalid_codepoints", RELAY_DECLINED },
        { "string_with_escaped_NULL", RELAY_OK }
    };

    if (access(TRANSFORM, R_OK) != 0) {
        print_message(TRANSFORM " is not there\n");
        skip();
    }

    for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        snprintf(path, sizeof(path), TRANSFORM "/%s.json", files[i].name);

        fp = fopen(path, "rb");
        assert_non_null(fp);
        n = fread(text, 1, sizeof(text), fp);
        fclose(fp);

        rc = parse(text, n);

        if (rc != files[i].rc) {
            fail_msg("%s: %s", files[i].name,
                     rc == RELAY_OK ? "accepted" : err.text);
        }

        if (rc == RELAY_OK) {
            check_tape();
        }
    }
}


/* Strings that are the same once unescaped, and their hash. */

static void
test_same(void **state)
{
    size_t                    i, k;
    relay_str_t               doc;
    relay_json_tape_t         tape;
    relay_json_error_t        err;
    const relay_json_node_t  *a, *b;

    /* two of each, one after the other */

    relay_str_set(&doc, "[\"ab\",\"\\u0061b\",\"\",\"\",\"\\n\\/x\","
                        "\"\\u000a/x\",\"a\",\"\\u0061\",\"\\ud83d\\udca9\","
                        "\"\xf0\x9f\x92\xa9\"]");

    (void) state;

    relay_json_tape_init(&tape);

    assert_int_equal(relay_json_parse(&tape, &doc, &relay_json_default_limits,
                                      &err),
                     RELAY_OK);

    for (i = 1; i < tape.n; i++) {
        for (k = 1; k < tape.n; k++) {

            a = &tape.nodes[i];
            b = &tape.nodes[k];

            assert_int_equal(relay_json_str_same(&doc, a, &doc, b),
                             (i - 1) / 2 == (k - 1) / 2);
            assert_int_equal(relay_json_str_hash(&doc, a)
                             == relay_json_str_hash(&doc, b),
                             (i - 1) / 2 == (k - 1) / 2);
        }
    }

    assert_int_equal(relay_json_str_hash(&doc, &tape.nodes[2]),
                     relay_json_hash((unsigned char *) "ab", 2));

    relay_json_tape_free(&tape);
}


/* No bytes and nowhere: what an empty request body is. */

static void
test_empty(void **state)
{
    relay_str_t         nothing = relay_null_string;
    relay_json_tape_t   tape;
    relay_json_error_t  err;

    (void) state;

    relay_json_tape_init(&tape);

    assert_int_equal(relay_json_parse(&tape, &nothing,
                                      &relay_json_default_limits, &err),
                     RELAY_DECLINED);
    assert_int_equal(err.offset, 0);
    assert_string_equal(err.text,
                        "the document ends where a value is needed");

    relay_json_tape_free(&tape);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_tape),
        cmocka_unit_test(test_grammar),
        cmocka_unit_test(test_place),
        cmocka_unit_test(test_unicode),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_collisions),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_mutations),
        cmocka_unit_test(test_get),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_int),
        cmocka_unit_test(test_suite),
        cmocka_unit_test(test_transform)
    };

    return cmocka_run_group_tests_name("relay_json", tests, setup, teardown);
}
