
/*
 * Ways to get something past a projection: spellings of names, contradictory
 * marks, bytes that are no text, numbers, nesting, collisions, what surrounds
 * a document.  Each one is withheld, or its view is right to the byte.
 */

#include <dirent.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#include <jansson.h>

#include "relay_data.h"
#include "relay_view.h"
#include "view_fixture.h"


#define NAME      "relay.context-package.v1"
#define CORPUS    "../shared/corpus/json/test_parsing"

#define NOW       1780272000000LL       /* 2026-06-01T00:00:00Z */
#define MIB       (1024 * 1024)

#define SECRET    "SALT of the sea"

/* a package with a place in its one section that can be passed on */

#define BEFORE    "{\"schema\":\"" NAME "\",\"context\":{\"sections\":["      \
                  "{\"id\":\"a\",\"visibility\":\"shareable\""
#define AFTER     "}]}}"


static const relay_view_e  views[] = {
    RELAY_VIEW_RECIPIENT, RELAY_VIEW_LINK, RELAY_VIEW_PASS_ON,
    RELAY_VIEW_PREVIEW
};

#define VIEWS  (sizeof(views) / sizeof(views[0]))


static const char           *why;


/* The view as text of the caller's; NULL: withheld. */

static char *
project(const char *text, size_t len, relay_view_e view)
{
    char                 *result;
    size_t                i, n;
    relay_int_t           rc;
    relay_str_t           s;
    relay_json_error_t    err;
    relay_view_params_t   params;

    s.data = (unsigned char *) text;
    s.len = len;
    params.now = NOW;
    params.permission = RELAY_PERMISSION_READ;

    rc = relay_json_parse(&tape, &s, &relay_json_default_limits, &err);
    assert_int_not_equal(rc, RELAY_ERROR);

    if (rc != RELAY_OK) {
        why = err.text;
        return NULL;
    }

    rc = relay_view_project(policy, &s, &tape, view, &params, &out, &why);
    assert_int_not_equal(rc, RELAY_ERROR);

    if (rc != RELAY_OK) {
        assert_int_equal(out.n, 0);
        return NULL;
    }

    result = malloc(out.len + 1);
    assert_non_null(result);
    n = 0;

    for (i = 0; i < out.n; i++) {
        memcpy(result + n, out.spans[i].data, out.spans[i].len);
        n += out.spans[i].len;
    }

    result[n] = '\0';

    return result;
}


/* No view of it, not even the owner's. */

static void
assert_refused(const char *text, size_t len)
{
    char    *view;
    size_t   v;

    for (v = RELAY_VIEW_OWNER; v < RELAY_VIEW_MAX; v++) {
        view = project(text, len, (relay_view_e) v);

        if (view != NULL) {
            fail_msg("%.60s ... (%zu bytes) has a view", text, len);
        }
    }
}


/* No view of it but the owner's. */

static void
assert_withheld(const char *text)
{
    char    *view;
    size_t   v;

    for (v = 0; v < VIEWS; v++) {
        view = project(text, strlen(text), views[v]);

        if (view != NULL) {
            fail_msg("%s has a view: %s", text, view);
        }
    }
}


static int
occurs(json_t *json, const char *needle)
{
    int          found;
    size_t       i;
    json_t      *value;
    const char  *key;

    if (json_is_string(json)) {
        return strstr(json_string_value(json), needle) != NULL;
    }

    found = 0;

    json_array_foreach(json, i, value) {
        found |= occurs(value, needle);
    }

    json_object_foreach(json, key, value) {
        found |= (strstr(key, needle) != NULL) | occurs(value, needle);
    }

    return found;
}


/* The view exists, and neither its bytes nor another parser find the secret. */

static void
assert_without(const char *text, relay_view_e view)
{
    char    *result;
    json_t  *json;

    result = project(text, strlen(text), view);

    if (result == NULL) {
        fail_msg("withheld: %s: %s", why, text);
    }

    json = json_loads(result, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);

    if (strstr(result, SECRET) != NULL || occurs(json, SECRET)) {
        fail_msg("%s leaves %s", text, result);
    }

    json_decref(json);
    free(result);
}


static void
assert_view(const char *text, relay_view_e view, const char *expected)
{
    char  *result;

    result = project(text, strlen(text), view);

    if (result == NULL) {
        fail_msg("withheld: %s: %s", why, text);
    }

    assert_string_equal(result, expected);
    free(result);
}


/* A withheld member, its name written in every way, and names like it. */

static void
test_names(void **state)
{
    char    text[512];
    size_t  i;

    static const char  *same[] = {
        "purpose", "\\u0070urpose", "purpos\\u0065", "p\\u0075rpose",
        "\\u0070\\u0075\\u0072\\u0070\\u006f\\u0073\\u0065",
        "\\u0070\\u0075\\u0072\\u0070\\u006F\\u0073\\u0065"
    };

    static const char  *others[] = {
        "Purpose", "PURPOSE", "purpose ", " purpose", "purpose\\u0000",
        "\\u0000purpose", "purpose\\n", "pu\\/rpose", "pur/pose", "purpos",
        "purposes", "", "__proto__", "constructor", "\\ufeffpurpose",
        "pur\\u200bpose", "purpos\xd0\xb5", "\xef\xbd\x90urpose",
        "purpose\xcc\x81", "purpos\xc3\xa9", "purpose\\ud83d\\ude00",
        "purpose\xf0\x9f\x98\x80", "\\u00700urpose", "visibilit\xd1\x83",
        "Visibility", "visibility ", "visibility\\u0000", "$ref",
        "agentReading", "x-note"
    };

    for (i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        snprintf(text, sizeof(text), BEFORE ",\"%s\":\"" SECRET "\"" AFTER,
                 same[i]);

        assert_without(text, RELAY_VIEW_PASS_ON);
        assert_without(text, RELAY_VIEW_PREVIEW);
        assert_view(text, RELAY_VIEW_RECIPIENT, text);
        assert_view(text, RELAY_VIEW_OWNER, text);
    }

    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        snprintf(text, sizeof(text), BEFORE ",\"%s\":\"" SECRET "\"" AFTER,
                 others[i]);

        assert_view(text, RELAY_VIEW_RECIPIENT, BEFORE AFTER);
        assert_view(text, RELAY_VIEW_LINK, BEFORE AFTER);
        assert_view(text, RELAY_VIEW_PASS_ON, BEFORE AFTER);
        assert_view(text, RELAY_VIEW_OWNER, text);
    }
}


/* A name twice: in either order, however it is written, wherever it stands. */

static void
test_duplicates(void **state)
{
    char    text[1024];
    size_t  i, k;

    static const char  *places[] = {
        "{\"schema\":\"" NAME "\",%s,\"context\":{\"sections\":[{\"id\":\"a\","
            "\"visibility\":\"shareable\"}]}}",
        BEFORE ",\"claims\":[{\"id\":\"c\",\"visibility\":\"shareable\",%s}]"
            AFTER,
        BEFORE ",%s" AFTER,
        BEFORE ",\"x\":{%s}" AFTER,
        BEFORE ",\"x\":[[{\"y\":{%s}}]]" AFTER
    };

    static const char  *pairs[] = {
        "\"title\":\"t\",\"title\":\"" SECRET "\"",
        "\"title\":\"" SECRET "\",\"title\":\"t\"",
        "\"title\":\"t\",\"titl\\u0065\":\"" SECRET "\"",
        "\"\\u0074itle\":\"" SECRET "\",\"title\":\"t\"",
        "\"\\u0074itle\":1,\"t\\u0069tle\":2",
        "\"a\\/b\":1,\"a/b\":2", "\"\":1,\"\":2",
        "\"\\ud83d\\ude00\":1,\"\xf0\x9f\x98\x80\":2",
        "\"\\u00e9\":1,\"\xc3\xa9\":1", "\"\\u0000\":1,\"\\u0000\":2",
        "\"q\":1,\"r\":2,\"s\":3,\"q\":1"
    };

    static const char  *contradictions[] = {
        "\"visibility\":\"recipient-only\"",
        "\"v\\u0069sibility\":\"recipient-only\"",
        "\"visibility\":\"shareable\"", "\"visibilit\\u0079\":null"
    };

    for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        for (k = 0; k < sizeof(pairs) / sizeof(pairs[0]); k++) {
            snprintf(text, sizeof(text), places[i], pairs[k]);
            assert_refused(text, strlen(text));
            assert_string_equal(why, "the name occurs twice in this object");
        }
    }

    for (i = 0; i < sizeof(contradictions) / sizeof(contradictions[0]); i++) {

        snprintf(text, sizeof(text), BEFORE ",%s,\"body\":\"" SECRET "\""
                 AFTER, contradictions[i]);
        assert_refused(text, strlen(text));

        snprintf(text, sizeof(text), "{\"schema\":\"" NAME "\",\"context\":{"
                 "\"sections\":[{\"id\":\"a\",%s,\"body\":\"" SECRET "\","
                 "\"visibility\":\"shareable\"}]}}", contradictions[i]);
        assert_refused(text, strlen(text));
    }
}


/* Marks: after what they are for, elsewhere, disagreeing, huge, disguised. */

static void
test_marks(void **state)
{
    char    *text;
    size_t   i;

#define SECTIONS(s)  "{\"schema\":\"" NAME "\",\"context\":{\"sections\":["   \
                     s ",{\"id\":\"z\",\"visibility\":\"shareable\"}]}}"

    static const char  *docs[] = {

        /* before, after and between what it is for */

        SECTIONS("{\"visibility\":\"recipient-only\",\"body\":\"" SECRET
                 "\"}"),
        SECTIONS("{\"body\":\"" SECRET "\",\"visibility\":\"recipient-only\"}"),
        SECTIONS("{\"body\":\"" SECRET "\",\"claims\":[{\"text\":\"" SECRET
                 "\"},{\"text\":\"" SECRET "\",\"visibility\":\"shareable\"}],"
                 "\"visibility\":\"recipient-only\",\"title\":\"" SECRET
                 "\"}"),
        SECTIONS("{\"body\":\"" SECRET "\"}"),

        /* a claim's own, wherever it stands in it */

        SECTIONS("{\"body\":\"" SECRET "\",\"claims\":[{\"text\":\"" SECRET
                 "\",\"visibility\":\"recipient-only\"}],"
                 "\"visibility\":\"shareable\"}"),
        SECTIONS("{\"visibility\":\"shareable\",\"claims\":[{\"visibility\":"
                 "\"recipient-only\",\"text\":\"" SECRET "\"}],\"body\":\""
                 SECRET "\"}"),
        SECTIONS("{\"claims\":[{\"text\":\"" SECRET "\",\"visib\\u0069lity\":"
                 "\"recipient\\u002donly\"}],\"visibility\":\"shareable\"}"),

        /* a mark of something else, or one that only looks like it */

        SECTIONS("{\"body\":\"" SECRET "\",\"Visibility\":\"shareable\"}"),
        SECTIONS("{\"body\":\"" SECRET "\",\"visibility \":\"shareable\"}"),
        SECTIONS("{\"body\":\"" SECRET "\",\"x\":{\"visibility\":"
                 "\"shareable\"}}"),
        SECTIONS("{\"body\":\"" SECRET "\",\"claims\":[{\"id\":\"c\","
                 "\"visibility\":\"shareable\"}]}"),
        SECTIONS("{\"body\":\"" SECRET "\",\"visibility\":\"Shareable\"}"),
        SECTIONS("{\"body\":\"" SECRET "\",\"visibility\":\"shareable \"}"),
        SECTIONS("{\"body\":\"" SECRET "\",\"visibility\":"
                 "\"shareable\\u0000\"}"),
        SECTIONS("{\"body\":\"" SECRET "\",\"visibility\":\"\"}"),
        SECTIONS("{\"body\":\"" SECRET "\",\"visibility\":"
                 "\"recipient-only, shareable\"}")
    };

    static const char  *types[] = {
        "1", "true", "false", "null", "[\"shareable\"]", "[]",
        "{\"is\":\"shareable\"}", "-0", "1e400"
    };

    char  wrong[512];

    for (i = 0; i < sizeof(docs) / sizeof(docs[0]); i++) {
        assert_without(docs[i], RELAY_VIEW_LINK);
        assert_without(docs[i], RELAY_VIEW_PASS_ON);
        assert_without(docs[i], RELAY_VIEW_PREVIEW);
    }

    for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        snprintf(wrong, sizeof(wrong),
                 SECTIONS("{\"body\":\"" SECRET "\",\"visibility\":%s}"),
                 types[i]);
        assert_withheld(wrong);

        snprintf(wrong, sizeof(wrong),
                 SECTIONS("{\"visibility\":\"recipient-only\",\"claims\":["
                          "{\"text\":\"" SECRET "\",\"visibility\":%s}]}"),
                 types[i]);
        assert_withheld(wrong);
    }

    /* a megabyte of a mark, and one byte more than a string may have */

    text = malloc(2 * MIB);
    assert_non_null(text);

    for (i = 0; i < 2; i++) {
        strcpy(text, "{\"schema\":\"" NAME "\",\"context\":{\"sections\":["
                     "{\"id\":\"z\",\"visibility\":\"shareable\"},"
                     "{\"body\":\"" SECRET "\",\"visibility\":\"shareable");
        memset(text + strlen(text), 'e', MIB - 9 + i);
        strcpy(strrchr(text, 'e') + 1, "\"}]}}");

        if (i == 0) {
            assert_without(text, RELAY_VIEW_PASS_ON);

        } else {
            assert_refused(text, strlen(text));
        }

        memset(text, 0, 2 * MIB);
    }

    free(text);
}


/* Bytes that are no UTF-8, byte order marks, other encodings. */

static void
test_bytes(void **state)
{
    char    text[1024], wide[4096];
    size_t  i, k, n;

    static const char  *bad[] = {
        "\xff", "\xfe", "\x80", "\xbf", "\xe9", "caf\xe9", "\xc0\x80",
        "\xc0\xaf", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf",
        "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf", "\xed\xa0\x80", "\xed\xbf\xbf",
        "\xed\xa0\xbd\xed\xb8\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xf8\x88\x80\x80\x80", "\xc3", "\xe2\x82", "\xf0\x9f\x98",
        "\xc3\x28", "\xe2\x28\xa1", "\\ud800", "\\udc00", "\\ud800\\ud800",
        "\\udc00\\ud800", "\\ud83d\\u0041", "\\ud83dx", "\\u12", "\\u123g",
        "\\x41", "\\", "\\u", "\x01", "\x1f", "\n", "\t", "\\U0041",
        "\\'", "\\0"
    };

    static const char  *good[] = {
        "\\u0000", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80",
        "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf", "\xef\xbb\xbf",
        "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "\\ud83d\\ude00",
        "\\uD83D\\uDE00", "\\uFFFF", "\\\"\\\\\\/\\b\\f\\n\\r\\t",
        "\xe2\x80\xa8", "<script>", "</script>"
    };

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {

        snprintf(text, sizeof(text), BEFORE ",\"body\":\"%s\"" AFTER, bad[i]);
        assert_refused(text, strlen(text));

        snprintf(text, sizeof(text), BEFORE ",\"x\":\"0123456789abcdef%s"
                 "-123456789abcdef\"" AFTER, bad[i]);
        assert_refused(text, strlen(text));

        snprintf(text, sizeof(text), BEFORE ",\"%s\":1" AFTER, bad[i]);
        assert_refused(text, strlen(text));
    }

    /* what is text goes out as it came in */

    for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        snprintf(text, sizeof(text), BEFORE ",\"body\":\"%s\"" AFTER, good[i]);
        assert_view(text, RELAY_VIEW_PASS_ON, text);
        assert_view(text, RELAY_VIEW_RECIPIENT, text);
    }

    /* a mark in front, a NUL behind, UTF-16 and UTF-32 of either order */

    snprintf(text, sizeof(text), "\xef\xbb\xbf" BEFORE AFTER);
    assert_refused(text, strlen(text));

    snprintf(text, sizeof(text), BEFORE AFTER);
    assert_refused(text, strlen(text) + 1);

    for (k = 2; k <= 4; k += 2) {
        for (i = 0; i < 2; i++) {
            memset(wide, 0, sizeof(wide));

            for (n = 0; text[n] != '\0'; n++) {
                wide[n * k + (i ? k - 1 : 0)] = text[n];
            }

            assert_refused(wide, n * k);
        }
    }
}


static void
nest(char *text, size_t levels)
{
    size_t  n;

    n = (size_t) sprintf(text, BEFORE ",\"x\":");
    memset(text + n, '[', levels);
    n += levels;
    memset(text + n, ']', levels);
    strcpy(text + n + levels, AFTER);
}


/* Nesting, and numbers of names. */

static void
test_sizes(void **state)
{
    char    *text, *p;
    size_t   i, k, n;

    static const size_t  levels[] = { 61, 1000, 100000, 1000000 };
    static const size_t  keys[] = { 5000, 100000 };

    text = malloc(4 * MIB);
    assert_non_null(text);

    /* root, context, sections and the section are four of 64 levels */

    nest(text, 60);
    assert_view(text, RELAY_VIEW_RECIPIENT, BEFORE AFTER);

    for (i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        nest(text, levels[i]);
        assert_refused(text, strlen(text));

        /* the same that never ends */

        text[strlen(BEFORE) + 5 + levels[i]] = '\0';
        assert_refused(text, strlen(text));
    }

    /* as many names as an object may have; then more */

    p = text + sprintf(text, BEFORE ",\"x\":{\"k\":1");

    for (i = 1; i < 4096; i++) {
        p += sprintf(p, ",\"prefix-prefix-prefix-%zu\":%zu", i, i);
    }

    sprintf(p, "}" AFTER);
    assert_view(text, RELAY_VIEW_PASS_ON, BEFORE AFTER);

    /* and the last of them the first once more, spelled otherwise */

    p = strstr(text, "\"prefix-prefix-prefix-4095\"");
    n = sprintf(p, "\"\\u006b\":0");
    strcpy(p + n, "}" AFTER);
    assert_refused(text, strlen(text));

    for (k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
        p = text + sprintf(text, BEFORE);

        for (i = 0; i < keys[k]; i++) {
            p += sprintf(p, ",\"prefix-%zu\":0", i);
        }

        strcpy(p, AFTER);
        assert_refused(text, strlen(text));
    }

    /* a name of a kilobyte, and of a megabyte */

    for (i = 0; i < 2; i++) {
        n = i ? MIB : 1024;
        p = text + sprintf(text, BEFORE ",\"");
        memset(p, 'k', n);
        strcpy(p + n, "\":\"" SECRET "\"" AFTER);

        if (i) {
            assert_refused(text, strlen(text));

        } else {
            assert_without(text, RELAY_VIEW_RECIPIENT);
        }
    }

    free(text);
}


/*
 * Sixteen bytes of printable ASCII, a new name each time, whose hash is that
 * of the sixteen at like.
 */

static void
collide(const char *like, char *name, uint64_t *serial)
{
    size_t    i;
    uint64_t  a, b, h, state;

    /* the state after a word is (state ^ word) times a number, folded */

#define FOLD(x)  ((x) * 0x9fb21c651e98df25ull                                 \
                  ^ ((x) * 0x9fb21c651e98df25ull) >> 29)

    memcpy(&a, like, 8);
    memcpy(&b, like + 8, 8);
    state = FOLD(a) ^ b;

    for ( ;; ) {
        snprintf(name, 9, "%08llx",
                 (unsigned long long) (*serial)++ & 0xffffffff);
        memcpy(&a, name, 8);
        h = FOLD(a);
        b = h ^ state;
        memcpy(name + 8, &b, 8);

        for (i = 8; i < 16; i++) {
            if (name[i] < 0x21 || name[i] > 0x7e || name[i] == '"'
                || name[i] == '\\')
            {
                break;
            }
        }

        if (i == 16) {
            name[16] = '\0';
            return;
        }
    }
}


static void
test_collisions(void **state)
{
    char      name[32], known[32], *text, *p;
    size_t    i;
    uint64_t  serial;

    text = malloc(MIB);
    assert_non_null(text);
    serial = 0;

    collide("restatementVerdict", name, &serial);
    strcpy(known, name);
    strcat(known, "ct");

    if (relay_json_hash((unsigned char *) known, 18)
        != relay_json_hash((unsigned char *) "restatementVerdict", 18))
    {
        /* words of the other byte order */

        free(text);
        skip();
    }

    /* a name that only its hash knows */

    sprintf(text, "{\"schema\":\"" NAME "\",\"interpretation\":{\"%s\":\""
            SECRET "\"},\"context\":{\"sections\":[{\"id\":\"a\"}]}}", known);
    assert_without(text, RELAY_VIEW_RECIPIENT);
    assert_non_null(strstr(text, SECRET));

    /* thousands of one hash, and then one of them twice */

    p = text + sprintf(text, BEFORE ",\"x\":{\"first-of-them-all\":0");

    for (i = 1; i < 4095; i++) {
        collide("first-of-them-all", name, &serial);
        p += sprintf(p, ",\"%sl\":%zu", name, i);
    }

    sprintf(p, "}" AFTER);
    assert_view(text, RELAY_VIEW_LINK, BEFORE AFTER);

    sprintf(p, ",\"first-of-them\\u002dall\":1}" AFTER);
    assert_refused(text, strlen(text));

    /* and as the names of what is withheld: not searched, but withheld */

    p = text + sprintf(text, BEFORE ",\"claims\":[{\"id\":\"c\"}");

    for (i = 0; i < 1000; i++) {
        collide("first-of-them-all", name, &serial);
        p += sprintf(p, ",{\"id\":\"%s\",\"visibility\":\"recipient-only\"}",
                     name);
    }

    sprintf(p, "]" AFTER);

    assert_null(project(text, strlen(text), RELAY_VIEW_PASS_ON));
    assert_string_equal(why, "too many names are withheld");
    assert_without(text, RELAY_VIEW_RECIPIENT);

    free(text);
}


/* Numbers go out as they are written, or the document does not. */

static void
test_numbers(void **state)
{
    char    text[2048], digits[300];
    size_t  i;

    static const char  *good[] = {
        "0", "-0", "-0.0", "1e400", "-1E+400", "1E-999", "9007199254740993",
        "12345678901234567890123456789", "0.1", "1.0", "3e0", "100e-2",
        "1.7976931348623157e309", "5e-324", "0e0", "0E+00"
    };

    static const char  *bad[] = {
        "01", "-01", "+1", ".5", "5.", "-.5", "1.e1", "1e", "1e+", "-",
        "NaN", "nan", "Infinity", "-Infinity", "inf", "0x1F", "1_000",
        "1,5", "1 000", "\xef\xbc\x91", "--1", "1e1.5", "1f", "0b1", "TRUE",
        "True", "undefined", "nul", "nulll", "falsee"
    };

    for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        snprintf(text, sizeof(text), BEFORE ",\"version\":%s" AFTER, good[i]);
        assert_view(text, RELAY_VIEW_RECIPIENT, text);
        assert_view(text, RELAY_VIEW_PASS_ON, text);
    }

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        snprintf(text, sizeof(text), BEFORE ",\"version\":%s" AFTER, bad[i]);
        assert_refused(text, strlen(text));
    }

    for (i = 256; i <= 257; i++) {
        memset(digits, '7', i);
        digits[i] = '\0';
        snprintf(text, sizeof(text), BEFORE ",\"version\":%s" AFTER, digits);

        if (i == 256) {
            assert_view(text, RELAY_VIEW_PASS_ON, text);

        } else {
            assert_refused(text, strlen(text));
        }
    }
}


/* What is around a document, and what is none. */

static void
test_around(void **state)
{
    char    text[1024];
    size_t  i;

    static const char  *before[] = {
        "", " \n", ")]}'\n", ")]}',", "throw 1;", "callback(", "//x\n",
        "/*x*/", "#x\n", "{}", "[", "\x0b", "\x0c", "\xc2\xa0", "null,",
        "\x1e", "data: "
    };

    static const char  *after[] = {
        "", " \t\r\n", "x", "{}", "\n{\"schema\":\"" NAME "\"}", ",", "]",
        ")", ");", "//x", "/*x*/", "#x", "}", "\x0b", "\xc2\xa0", "\x1a",
        "\xff"
    };

    static const char  *none[] = {
        "", " ", "\n", "null", "true", "7", "\"" SECRET "\"", "[]", "{}",
        "[" BEFORE AFTER "]", "{\"a\":" BEFORE AFTER "}",
        "{'schema':'" NAME "'}", "{schema:\"" NAME "\"}",
        BEFORE ",}]}}", BEFORE "},]}}", BEFORE ",,\"a\":1" AFTER,
        BEFORE ",\"a\":[1,]" AFTER, BEFORE ",\"a\":[,1]" AFTER,
        BEFORE ",\"a\" \"b\"" AFTER, BEFORE ",\"a\":" AFTER,
        BEFORE ",\"a\":/*x*/1" AFTER, BEFORE ",\"a\":'x'" AFTER,
        BEFORE ",\"a\":\"x\ny\"" AFTER, BEFORE ",\"a\":1;\"b\":2" AFTER,
        BEFORE ",\"a\":(1)" AFTER, BEFORE ",\"a\":[1 2]" AFTER,
        BEFORE ",1:2" AFTER, BEFORE ",\"a\"" AFTER, BEFORE ",null" AFTER,
        BEFORE, BEFORE "}]}", BEFORE "}]]}", BEFORE "]}}", BEFORE "}]}]",
        "{\"schema\":\"relay.context-package.v2\",\"context\":{\"sections\":"
        "[{\"id\":\"a\"}]}}",
        "{\"schema\":[\"" NAME "\"],\"context\":{\"sections\":[{}]}}",
        "{\"Schema\":\"" NAME "\",\"context\":{\"sections\":[{}]}}",
        "{\"schema\":\"" NAME "\\u0000\",\"context\":{\"sections\":[{}]}}"
    };

    for (i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
        snprintf(text, sizeof(text), "%s" BEFORE AFTER, before[i]);

        if (i < 2) {
            assert_view(text, RELAY_VIEW_PASS_ON, BEFORE AFTER);

        } else {
            assert_refused(text, strlen(text));
        }
    }

    for (i = 0; i < sizeof(after) / sizeof(after[0]); i++) {
        snprintf(text, sizeof(text), BEFORE AFTER "%s", after[i]);

        if (i < 2) {
            assert_view(text, RELAY_VIEW_PASS_ON, BEFORE AFTER);

        } else {
            assert_refused(text, strlen(text));
        }
    }

    for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        assert_refused(none[i], strlen(none[i]));
    }
}


/* JSON inside of strings: a copy of what is private is private there, too. */

static void
test_nested(void **state)
{
    char    text[2048];
    size_t  i;

#define PRIVATE  "\"intent\":{\"statement\":\"" SECRET "\"}"

    static const char  *places[] = {
        "\"title\":\"{\\\"intent\\\":{\\\"statement\\\":\\\"" SECRET
            "\\\"}}\"",
        "\"summary\":\"{\\\\\\\"a\\\\\\\":\\\\\\\"" SECRET "\\\\\\\"}\"",
        "\"changeNote\":\"```json\\n{\\\"x\\\":\\\"" SECRET "\\\"}\\n```\"",
        "\"id\":\"SALT\\u0020of the sea\"",
        "\"title\":\"\\u0053\\u0041\\u004c\\u0054 of the \\u0073ea\"",
        "\"owner\":{\"name\":\"<" SECRET ">\"}",
        "\"judgement\":{\"redLines\":[\"" SECRET "\"]}",
        "\"representation\":{\"mustNot\":[\"say " SECRET "\"]}"
    };

    for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {

        snprintf(text, sizeof(text), "{\"schema\":\"" NAME "\"," PRIVATE ",%s,"
                 "\"context\":{\"sections\":[{\"id\":\"a\",\"visibility\":"
                 "\"shareable\"}]}}", places[i]);

        assert_without(text, RELAY_VIEW_RECIPIENT);
        assert_without(text, RELAY_VIEW_LINK);
        assert_without(text, RELAY_VIEW_PASS_ON);
        assert_without(text, RELAY_VIEW_PREVIEW);
    }

    /* in base64 it is another text: no rule knows that */

    snprintf(text, sizeof(text), "{\"schema\":\"" NAME "\"," PRIVATE ","
             "\"context\":{\"sections\":[{\"id\":\"a\",\"visibility\":"
             "\"shareable\"}]},\"title\":\"U0FMVCBvZiB0aGUgc2Vh\"}");
    assert_without(text, RELAY_VIEW_RECIPIENT);
}


/*
 * Every text of the test suite of parsers as a value that is withheld: where
 * the document is read at all, nothing of it is left.
 */

static void
test_suite(void **state)
{
    DIR            *dir;
    char            path[1024], *value, *text, *view;
    FILE           *fp;
    size_t          len, n, v, read, refused;
    json_t         *json, *expected;
    struct dirent  *entry;

    static const char  *places[] = {
        BEFORE ",\"x\":%s,\"body\":\"b\"" AFTER,
        BEFORE ",\"purpose\":%s,\"body\":\"b\"" AFTER,
        BEFORE ",\"purpose\":{\"" SECRET "\":%s},\"body\":\"b\"" AFTER,
        BEFORE ",\"x\":[\"" SECRET "\",%s],\"body\":\"b\"" AFTER
    };

    dir = opendir(CORPUS);

    if (dir == NULL) {
        print_message(CORPUS " is not there\n");
        skip();
    }

    value = malloc(MIB);
    text = malloc(2 * MIB);
    assert_non_null(value);
    assert_non_null(text);

    expected = json_loads(BEFORE ",\"body\":\"b\"" AFTER, 0, NULL);
    read = 0;
    refused = 0;

    while ((entry = readdir(dir)) != NULL) {

        if (entry->d_name[0] == '.') {
            continue;
        }

        snprintf(path, sizeof(path), CORPUS "/%s", entry->d_name);

        fp = fopen(path, "rb");
        assert_non_null(fp);
        n = fread(value, 1, MIB - 1, fp);
        fclose(fp);

        for (v = 0; v < sizeof(places) / sizeof(places[0]); v++) {

            len = strstr(places[v], "%s") - places[v];
            memcpy(text, places[v], len);
            memcpy(text + len, value, n);
            strcpy(text + len + n, places[v] + len + 2);
            len += n + strlen(places[v] + len + 2);

            view = project(text, len, RELAY_VIEW_PASS_ON);

            if (view == NULL) {
                refused++;
                continue;
            }

            read++;

            json = json_loads(view, JSON_REJECT_DUPLICATES, NULL);
            assert_non_null(json);

            if (!json_equal(json, expected)) {
                fail_msg("%s: %s", entry->d_name, view);
            }

            json_decref(json);
            free(view);
        }
    }

    closedir(dir);

    print_message("%zu documents read, %zu refused\n", read, refused);
    assert_true(read > 300);
    assert_true(refused > 600);

    json_decref(expected);
    free(value);
    free(text);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_collisions),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_around),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_suite)
    };

    return cmocka_run_group_tests_name("relay_view, leaks", tests, setup,
                                       teardown);
}
