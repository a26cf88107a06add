
/*
 * Unit tests of lib/relay_text.c.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#include "relay_text.h"


static relay_buf_t  out, map;
static char         line[4096];


static relay_str_t
str(const char *s)
{
    relay_str_t  text;

    text.data = (unsigned char *) s;
    text.len = strlen(s);

    return text;
}


static int
setup(void **state)
{
    relay_buf_init(&out, 16 * RELAY_DOCUMENT_MAX);
    relay_buf_init(&map, 16 * RELAY_DOCUMENT_MAX);

    return 0;
}


static int
teardown(void **state)
{
    relay_buf_free(&out);
    relay_buf_free(&map);

    return 0;
}


static const char *
z(relay_buf_t *b)
{
    assert_true(b->len < sizeof(line));

    if (b->len != 0) {
        memcpy(line, b->data, b->len);
    }

    line[b->len] = '\0';

    return line;
}


static const char *
normal(const char *s)
{
    relay_str_t  text;

    text = str(s);

    relay_buf_reset(&out);
    assert_int_equal(relay_text_normalize(&text, &out), RELAY_OK);

    return z(&out);
}


/* A text of n bytes that repeats a piece. */

static relay_str_t
repeated(const char *piece, size_t n)
{
    size_t       i, len;
    relay_str_t  text;

    len = strlen(piece);
    text.data = malloc(n);
    text.len = n - n % len;

    assert_non_null(text.data);

    for (i = 0; i < text.len; i++) {
        text.data[i] = (unsigned char) piece[i % len];
    }

    return text;
}


static void
test_cp(void **state)
{
    size_t    i, n;
    uint32_t  cp;

    static const struct {
        const char  *text;
        size_t       n;
        uint32_t     cp;
    } cases[] = {
        { "a", 1, 'a' },
        { "\x7f", 1, 0x7f },
        { "\xc3\xa9", 2, 0xe9 },
        { "\xe2\x80\x8b", 3, 0x200b },
        { "\xf0\x9f\x8f\xb4", 4, 0x1f3f4 },
        { "\xf4\x8f\xbf\xbf", 4, 0x10ffff },
        { "\x80", 1, 0xfffd },
        { "\xc0\xaf", 1, 0xfffd },
        { "\xc3", 1, 0xfffd },
        { "\xe0\x80\x80", 1, 0xfffd },
        { "\xed\xa0\x80", 1, 0xfffd },
        { "\xe2\x80", 1, 0xfffd },
        { "\xe2\x28\x80", 1, 0xfffd },
        { "\xf0\x80\x80\x80", 1, 0xfffd },
        { "\xf4\x90\x80\x80", 1, 0xfffd },
        { "\xf5\x80\x80\x80", 1, 0xfffd },
        { "\xff", 1, 0xfffd }
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        n = relay_text_cp((unsigned char *) cases[i].text,
                          (unsigned char *) cases[i].text
                          + strlen(cases[i].text), &cp);

        assert_int_equal(n, cases[i].n);
        assert_int_equal(cp, cases[i].cp);
    }
}


static void
test_normalize(void **state)
{
    assert_string_equal(normal(""), "");
    assert_string_equal(normal(" \t\r\n..!"), "");
    assert_string_equal(normal("Who pays, and for what?"),
                        "who pays and for what");
    assert_string_equal(normal("snake_case-and.dots"), "snake case and dots");

    /* apostrophes of all kinds */

    assert_string_equal(normal("Don't DON\xe2\x80\x99T don\xca\xbct 'dont'"),
                        "dont dont dont dont");

    /* full width, ligature, mathematical letters, sharp s, accents */

    assert_string_equal(normal("\xef\xbc\xa9\xef\xbd\x87nore"), "ignore");
    assert_string_equal(normal("o\xef\xac\x83" "ce"), "office");
    assert_string_equal(normal("\xf0\x9d\x90\x88\xf0\x9d\x90\xa0nore"),
                        "ignore");
    assert_string_equal(normal("Stra\xc3\x9f" "e"), "strasse");
    assert_string_equal(normal("Tom\xc3\xa1s Toma\xcc\x81s"), "tomas tomas");

    /* what nobody sees does not part a word, and does not stay in it */

    assert_string_equal(normal("ig\xe2\x80\x8bno\xc2\xadre\xef\xb8\x8f"),
                        "ignore");
    assert_string_equal(normal("i\xf3\xa0\x81\xa7g"), "ig");

    /* other scripts stay, case folded, their marks kept */

    assert_string_equal(normal("\xd0\x9c\xd0\x98\xd0\xa0"),
                        "\xd0\xbc\xd0\xb8\xd1\x80");
    assert_string_equal(normal("\xe0\xa4\x95\xe0\xa4\xbf"),
                        "\xe0\xa4\x95\xe0\xa4\xbf");

    /* a look-alike of another script is another letter */

    assert_string_not_equal(normal("\xd1\x96gnore"), "ignore");

    /* one character that is several, with a space between them */

    assert_string_equal(normal("\xe3\x8f\x82"), "a m");

    /* one that would be eighteen, four words, stays */

    assert_string_equal(normal("\xef\xb7\xba"), "\xef\xb7\xba");

    /* Hangul in one piece and in three */

    assert_int_equal(strlen(normal("\xea\xb0\x81")), 9);
    assert_string_equal(normal("\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8"),
                        "\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8");
}


static void
test_words(void **state)
{
    relay_str_t         text;
    relay_text_words_t  w;

    text = str("  Do   not\ttell. System: a_b \xf0\x9f\x8e\x89x");

    relay_text_words_init(&w, &text);

    assert_true(relay_text_words_next(&w));
    assert_memory_equal(w.word, "do", 2);
    assert_int_equal(w.len, 2);
    assert_int_equal(w.off, 2);
    assert_int_equal(w.end, 4);
    assert_int_equal(w.at, 0);
    assert_int_equal(w.at_end, 2);
    assert_true(w.line);

    /* three spaces are one character */

    assert_true(relay_text_words_next(&w));
    assert_memory_equal(w.word, "not", 3);
    assert_int_equal(w.off, 7);
    assert_int_equal(w.at, 3);
    assert_int_equal(w.sep, 0);
    assert_false(w.line);
    assert_false(w.stop);

    assert_true(relay_text_words_next(&w));
    assert_memory_equal(w.word, "tell", 4);
    assert_int_equal(w.sep, ' ');
    assert_int_equal(w.at, 7);

    assert_true(relay_text_words_next(&w));
    assert_memory_equal(w.word, "system", 6);
    assert_true(w.stop);
    assert_int_equal(w.at, 13);

    assert_true(relay_text_words_next(&w));
    assert_memory_equal(w.word, "a", 1);

    assert_true(relay_text_words_next(&w));
    assert_memory_equal(w.word, "b", 1);
    assert_int_equal(w.sep, '_');

    assert_true(relay_text_words_next(&w));
    assert_memory_equal(w.word, "x", 1);
    assert_int_equal(w.end, text.len);

    assert_false(relay_text_words_next(&w));
    assert_false(relay_text_words_next(&w));

    text = str("a\nb\r\nc d");

    relay_text_words_init(&w, &text);
    assert_true(relay_text_words_next(&w) && w.line);
    assert_true(relay_text_words_next(&w) && w.line);
    assert_true(relay_text_words_next(&w) && w.line);
    assert_true(relay_text_words_next(&w) && !w.line);
}


/* A word that is too long is cut, and told apart all the same. */

static void
test_words_long(void **state)
{
    uint64_t            hash;
    relay_str_t         text;
    relay_text_words_t  w;

    text = repeated("a", 100);

    relay_text_words_init(&w, &text);
    assert_true(relay_text_words_next(&w));
    assert_int_equal(w.len, RELAY_TEXT_WORD_MAX);
    assert_int_equal(w.chars, 100);
    hash = w.hash;

    text.data[99] = 'b';

    relay_text_words_init(&w, &text);
    assert_true(relay_text_words_next(&w));
    assert_true(w.hash != hash);

    free(text.data);
}


/* "CLASS@OFFSET+LENGTH", "i" for informative, "!" for inside of a word. */

static const char *
hidden(const char *s)
{
    relay_str_t          text;
    relay_text_hidden_t  h;

    text = str(s);

    relay_buf_reset(&out);
    relay_text_hidden_init(&h, &text);

    while (relay_text_hidden_next(&h)) {
        assert_int_equal(
            relay_buf_printf(&out, "%s%s@%zu+%zu%s%s", out.len ? " " : "",
                             relay_text_hidden_name(h.class), h.off, h.len,
                             h.info ? "i" : "", h.inside ? "!" : ""),
            RELAY_OK);
    }

    return z(&out);
}


#define ZWSP    "\xe2\x80\x8b"
#define ZWNJ    "\xe2\x80\x8c"
#define ZWJ     "\xe2\x80\x8d"
#define LRM     "\xe2\x80\x8e"
#define RLO     "\xe2\x80\xae"
#define RLE     "\xe2\x80\xab"
#define PDF     "\xe2\x80\xac"
#define RLI     "\xe2\x81\xa7"
#define PDI     "\xe2\x81\xa9"
#define BOM     "\xef\xbb\xbf"
#define VS16    "\xef\xb8\x8f"
#define VS17    "\xf3\xa0\x84\x80"
#define FLAG    "\xf0\x9f\x8f\xb4"
#define TAG(c)  "\xf3\xa0\x81" c
#define ALEF    "\xd8\xa7"
#define WOMAN   "\xf0\x9f\x91\xa9"
#define LAPTOP  "\xf0\x9f\x92\xbb"
#define SKIN    "\xf0\x9f\x8f\xbd"
#define HEART   "\xe2\x9d\xa4"
#define FIRE    "\xf0\x9f\x94\xa5"
#define CAT     "\xf0\x9f\x90\x88"
#define BLACK   "\xe2\xac\x9b"
#define KA      "\xe0\xa4\x95"
#define VIRAMA  "\xe0\xa5\x8d"


/* What text needs is not reported. */

static void
test_hidden_fine(void **state)
{
    size_t  i;

    static const char *const  texts[] = {
        "", "plain", "tab\there\r\n", "Tom\xc3\xa1s, \xe2\x82\xac" "38,500",
        BOM "at the start",

        /* a woman at a laptop, with a skin tone; a heart on fire; a black
           cat; a woman walking; a pirate's flag */

        WOMAN ZWJ LAPTOP, WOMAN SKIN ZWJ LAPTOP, HEART VS16 ZWJ FIRE,
        CAT ZWJ BLACK, WOMAN ZWJ "\xe2\x99\x80" VS16,
        FLAG ZWJ "\xe2\x98\xa0" VS16,

        /* a keycap; England and Wales */

        "1" VS16 "\xe2\x83\xa3", "#" VS16 "\xe2\x83\xa3",
        FLAG TAG("\xa7") TAG("\xa2") TAG("\xa5") TAG("\xae") TAG("\xa7")
        TAG("\xbf"),
        FLAG TAG("\xa7") TAG("\xa2") TAG("\xb7") TAG("\xac") TAG("\xb3")
        TAG("\xbf"),

        /* Persian, also after a Latin word and before a full stop */

        ALEF ZWNJ ALEF, "PDF" ZWNJ ALEF, ALEF ZWJ ".", ALEF ZWJ,

        /* Devanagari */

        KA VIRAMA ZWJ KA, KA VIRAMA ZWNJ KA, KA VIRAMA ZWJ " ",

        /* balanced, and there is something to turn */

        RLE ALEF PDF, "a" RLI ALEF PDI "b", ALEF " \xe2\x81\xa6" "abc" PDI,

        /* ideographs with their variants; Braille; Mongolian */

        "\xe8\x91\x9b" VS17, "\xe2\xa0\x81\xe2\xa0\x80\xe2\xa0\x83",
        "\xe1\xa0\xa0\xe1\xa0\x8b"
    };

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_string_equal(hidden(texts[i]), "");
    }
}


static void
test_hidden(void **state)
{
    size_t  i;

    static const struct {
        const char  *text;
        const char  *hidden;
    } cases[] = {
        { "a" ZWSP "b", "zero-width@1+3!" },
        { "a " ZWSP ZWSP "b", "zero-width@2+6" },
        { "a" BOM "b", "zero-width@1+3!" },
        { BOM BOM, "zero-width@3+3" },
        { "\xe2\x81\xa0x", "zero-width@0+3" },
        { "\xe2\x81\xa2x", "zero-width@0+3" },
        { "\xe2\x81\xaax", "zero-width@0+3" },
        { "\xe1\xa0\x8ex", "zero-width@0+3" },

        /* orphans */

        { "a" ZWNJ "b", "joiner@1+3!" },
        { "a" ZWJ "b", "joiner@1+3!" },
        { "a " ZWJ WOMAN, "joiner@2+3" },
        { WOMAN ZWJ "x", "joiner@4+3" },
        { ALEF ZWNJ ZWJ ALEF, "joiner@2+6" },
        { WOMAN ZWJ ZWJ LAPTOP, "joiner@4+6" },
        { VS16 "x", "variation@0+3" },
        { "a" VS16, "variation@1+3" },
        { " " VS16, "variation@1+3" },
        { HEART VS16 VS16 VS16, "variation@6+6" },
        { HEART VS17, "variation@3+4" },
        { "\xe8\x91\x9b" VS17 VS17, "variation@7+4" },

        /* tags: no flag, two of them only, no end, too many, no letter */

        { TAG("\xa7") TAG("\xa2"), "tag@0+8" },
        { "a" TAG("\xa7") "b", "tag@1+4!" },
        { FLAG TAG("\xa7") TAG("\xa2") TAG("\xbf"), "tag@4+12" },
        { FLAG TAG("\xa7") TAG("\xa2") TAG("\xa5"), "tag@4+12" },
        { FLAG TAG("\xa7") TAG("\xa2") TAG("\xa5") TAG("\xa5") TAG("\xa5")
          TAG("\xa5") TAG("\xa5") TAG("\xbf"), "tag@4+32" },
        { FLAG TAG("\xa7") TAG("\xa2") "\xf3\xa0\x80\xa0" TAG("\xbf"),
          "tag@4+16" },
        { FLAG TAG("\xa7") TAG("\xa2") TAG("\xa5") TAG("\xbf") TAG("\xa7"),
          "tag@20+4" },

        /* nothing to turn, never ended, ended only */

        { "a" RLO "b" PDF, "bidi@1+3! bidi@5+3" },
        { RLO ALEF, "bidi@0+3" },
        { ALEF PDI, "bidi@2+3" },
        { ALEF PDF RLE, "bidi@2+6" },

        { ALEF LRM, "bidi-mark@2+3i" },
        { "a" LRM "b", "bidi-mark@1+3!" },
        { "a " LRM " b", "bidi-mark@2+3i" },
        { "\xee\x80\x80", "private@0+3i" },
        { "\xf4\x80\x80\x80", "private@0+4i" },

        { "a\xc2\xad" "b", "blank@1+2!" },
        { "\xcd\x8f", "blank@0+2" },
        { "\xe1\x85\x9f\xe1\x85\xa0", "blank@0+6" },
        { "\xe1\x9e\xb4", "blank@0+3" },
        { "\xe3\x85\xa4", "blank@0+3" },
        { "\xef\xbe\xa0", "blank@0+3" },
        { "\xe2\xa0\x80", "blank@0+3" },
        { "\x1b[0m", "control@0+1" },
        { "a\x7f", "control@1+1" },
        { "a\xc2\x9b", "control@1+2" },
        { "a\xc2\x85", "control@1+2" },
        { "\xef\xbf\xb9x", "annotation@0+3" },

        /* one class after another */

        { "a" ZWSP "\xc2\xad" ZWSP "b",
          "zero-width@1+3 blank@4+2 zero-width@6+3!" }
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_string_equal(hidden(cases[i].text), cases[i].hidden);
    }
}


static const char *
unnest(const char *s)
{
    relay_str_t  text;

    text = str(s);

    return relay_text_unnest(&text, NULL, &out, &map) == RELAY_OK ? z(&out)
                                                                  : NULL;
}


static void
test_unnest(void **state)
{
    size_t       i;
    uint32_t    *offs;
    relay_buf_t  small, map2, out2;
    relay_str_t  text;

    static const char *const  none[] = {
        "", "{", "text with \\u200b", "{\"a\":1}", "{\\u0041]", "[a\\n] b"
    };

    for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        assert_null(unnest(none[i]));
    }

    assert_string_equal(unnest(" {\"a\":\"\\u0069\\u200B\\/\"}\n"),
                        " {\"a\":\"i\xe2\x80\x8b/\"}\n");

    /* the place of every byte, a surrogate pair's four included */

    assert_string_equal(unnest("[\"\\ud83d\\ude00x\"]"),
                        "[\"\xf0\x9f\x98\x80x\"]");

    offs = (uint32_t *) map.data;
    assert_int_equal(map.len, (out.len + 1) * sizeof(uint32_t));
    assert_int_equal(offs[1], 1);
    assert_int_equal(offs[2], 2);
    assert_int_equal(offs[5], 2);
    assert_int_equal(offs[6], 14);
    assert_int_equal(offs[out.len], 17);

    /* what no parser of ours takes is still looked into */

    assert_string_equal(unnest("[\"\\ud83d \\udc00\\x\\u12\\"
                               "u12g4\\\\\\b\\f\\n\\r\\t\\\"\"]"),
                        "[\"\xef\xbf\xbd \xef\xbf\xbd\\x\\u12\\"
                        "u12g4\\\b\f\n\r\t\"\"]");

    /* a layer in a layer */

    assert_non_null(unnest("[\"[\\\"\\\\u200b\\\"]\"]"));

    relay_buf_init(&out2, 1024);
    relay_buf_init(&map2, 1024);
    relay_buf_str(&out, &text);

    assert_int_equal(relay_text_unnest(&text, (uint32_t *) map.data, &out2,
                                       &map2),
                     RELAY_OK);
    assert_string_equal(z(&out2), "[\"[\"\xe2\x80\x8b\"]\"]");
    assert_int_equal(((uint32_t *) map2.data)[4], 5);
    assert_int_equal(((uint32_t *) map2.data)[7], 12);

    relay_buf_free(&out2);
    relay_buf_free(&map2);

    relay_buf_init(&small, 3);
    text = str("[\"\\n\"]");
    assert_int_equal(relay_text_unnest(&text, NULL, &small, &map),
                     RELAY_ERROR);
    relay_buf_free(&small);
}


static void
test_decode(void **state)
{
    relay_str_t         doc, text;
    relay_json_tape_t   tape;
    relay_json_error_t  err;

    doc = str("[\"as it is\",\"\\u0061\\n\"]");

    relay_json_tape_init(&tape);
    assert_int_equal(relay_json_parse(&tape, &doc, &relay_json_default_limits,
                                      &err),
                     RELAY_OK);

    assert_int_equal(relay_text_decode(&tape, &doc, 1, &out, &text), RELAY_OK);
    assert_ptr_equal(text.data, doc.data + 2);
    assert_int_equal(text.len, 8);

    assert_int_equal(relay_text_decode(&tape, &doc, 2, &out, &text), RELAY_OK);
    assert_int_equal(text.len, 2);
    assert_memory_equal(text.data, "a\n", 2);

    relay_json_tape_free(&tape);
}


static size_t
shared(const char *a, const char *b, size_t n, const char *run)
{
    size_t                 words, off, len;
    relay_str_t            text;
    relay_text_shingles_t  s;

    text = str(a);
    assert_int_equal(relay_text_shingles_init(&s, &text, n), RELAY_OK);

    text = str(b);
    words = relay_text_shingles_shared(&s, &text, &off, &len);

    if (words != 0) {
        assert_non_null(run);
        assert_int_equal(len, strlen(run));
        assert_memory_equal(b + off, run, len);
    }

    relay_text_shingles_free(&s);

    return words;
}


static void
test_shingles(void **state)
{
    static const char  a[] = "one two three four five six one two three seven";

    assert_int_equal(shared(a, "One, two; THREE!", 3, "One, two; THREE"), 3);
    assert_int_equal(shared(a, "x two three four five y", 3,
                            "two three four five"), 4);
    assert_int_equal(shared(a, "six one two three seven", 5,
                            "six one two three seven"), 5);
    assert_int_equal(shared(a, a, 10, a), 10);

    /* fewer than n, in another order, with a word between them */

    assert_int_equal(shared(a, "one two", 3, NULL), 0);
    assert_int_equal(shared(a, "three two one", 3, NULL), 0);
    assert_int_equal(shared(a, "one two and three", 3, NULL), 0);
    assert_int_equal(shared(a, "five six seven", 3, NULL), 0);
    assert_int_equal(shared("one two", "one two", 3, NULL), 0);
    assert_int_equal(shared("", "", 3, NULL), 0);
    assert_int_equal(shared(a, "", 3, NULL), 0);

    /* hidden characters and full width do not part what is the same */

    assert_int_equal(shared(a, "t" ZWSP "wo \xef\xbd\x94hree four", 3,
                            "t" ZWSP "wo \xef\xbd\x94hree four"), 3);
}


/* Hostile texts as long as a string may be: all of them end, and soon. */

#define LARGE  (1024 * 1024)


static void
test_large(void **state)
{
    size_t                 i, n, off, len;
    relay_str_t            text;
    relay_text_words_t     w;
    relay_text_hidden_t    h;
    relay_text_shingles_t  s;

    static const char *const  pieces[] = {
        "a ", ZWSP, ZWSP "a", "\xe3\x8c\x80", FLAG TAG("\xa7"), RLO ALEF,
        "\\u200b", "'", HEART VS16 ZWJ
    };

    for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {

        text = repeated(pieces[i], LARGE);

        n = 0;
        relay_text_words_init(&w, &text);

        while (relay_text_words_next(&w)) {
            n++;
        }

        assert_true(n <= text.len);

        n = 0;
        relay_text_hidden_init(&h, &text);

        while (relay_text_hidden_next(&h)) {
            n += h.len;
        }

        assert_true(n <= text.len);

        free(text.data);
    }

    text = repeated("a b ", LARGE);

    assert_int_equal(relay_text_shingles_init(&s, &text, 12), RELAY_OK);
    assert_int_equal(relay_text_shingles_shared(&s, &text, &off, &len),
                     text.len / 2);

    relay_text_shingles_free(&s);

    text.data[0] = '{';
    text.data[text.len - 1] = '}';
    text.data[1] = '\\';

    assert_int_equal(relay_text_unnest(&text, NULL, &out, &map), RELAY_OK);
    assert_int_equal(out.len, text.len - 1);

    free(text.data);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_cp),
        cmocka_unit_test(test_normalize),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_words_long),
        cmocka_unit_test(test_hidden_fine),
        cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_unnest),
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_shingles),
        cmocka_unit_test(test_large)
    };

    return cmocka_run_group_tests_name("relay_text", tests, setup, teardown);
}
