
/*
 * Unit tests of lib/relay_schema*.c, keyword by keyword.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#include "relay_pointer.h"
#include "relay_schema.h"


/* faults: "POINTER KEYWORD", those of one document joined by ", " */

typedef struct {
    const char  *schema;        /* NULL: that of the line before */
    const char  *doc;
    const char  *faults;        /* NULL: it is valid */
} test_case_t;


typedef struct {
    const char  *schema;
    const char  *err;
} test_refused_t;


static relay_json_tape_t   tape;
static relay_schema_run_t  run;
static relay_buf_t         err, out;


static relay_str_t
str(const char *s)
{
    relay_str_t  r;

    r.data = (unsigned char *) s;
    r.len = strlen(s);

    return r;
}


static const char *
text(relay_buf_t *b)
{
    assert_int_equal(relay_buf_append_c(b, '\0'), RELAY_OK);

    return (const char *) b->data;
}


static relay_schema_t *
compile(const char *json)
{
    relay_str_t      s;
    relay_schema_t  *schema;

    s = str(json);
    schema = relay_schema_compile(&s, &err);

    if (schema == NULL) {
        fail_msg("%s: %s", json, text(&err));
    }

    assert_int_equal(err.len, 0);

    return schema;
}


static void
parse(const relay_str_t *doc, size_t depth)
{
    relay_json_error_t   jerr;
    relay_json_limits_t  limits;

    limits = relay_json_default_limits;
    limits.depth = depth;

    if (relay_json_parse(&tape, doc, &limits, &jerr) != RELAY_OK) {
        fail_msg("%.64s: %s", doc->data, jerr.text);
    }
}


/* The faults of the last run. */

static const char *
faults(const relay_str_t *doc)
{
    size_t  i;

    relay_buf_reset(&out);

    for (i = 0; i < run.n; i++) {

        if (i > 0) {
            assert_true(run.errors[i].offset >= run.errors[i - 1].offset);
            assert_int_equal(relay_buf_append_z(&out, ", "), RELAY_OK);
        }

        assert_int_equal(relay_pointer_append(&tape, doc, run.errors[i].node,
                                              &out),
                         RELAY_OK);
        assert_int_equal(relay_buf_append_c(&out, ' '), RELAY_OK);
        assert_int_equal(relay_buf_append_z(&out, run.errors[i].keyword),
                         RELAY_OK);
    }

    return text(&out);
}


static void
run_cases(const test_case_t *c)
{
    relay_int_t      rc;
    relay_str_t      doc;
    relay_schema_t  *schema;

    schema = NULL;

    for (/* void */; c->doc != NULL; c++) {

        if (c->schema != NULL) {

            if (schema != NULL) {
                relay_schema_free(schema);
            }

            schema = compile(c->schema);
        }

        doc = str(c->doc);
        parse(&doc, 64);

        rc = relay_schema_validate(schema, &doc, &tape, &run);

        if (c->faults == NULL) {

            if (rc != RELAY_OK) {
                fail_msg("%s is not valid: %s", c->doc, faults(&doc));
            }

            continue;
        }

        if (rc != RELAY_DECLINED) {
            fail_msg("%s is valid", c->doc);
        }

        assert_string_equal(faults(&doc), c->faults);
    }

    relay_schema_free(schema);
}


static int
setup(void **state)
{
    relay_json_tape_init(&tape);
    relay_schema_run_init(&run, 8);
    relay_buf_init(&err, 4096);
    relay_buf_init(&out, 65536);

    return 0;
}


static int
teardown(void **state)
{
    relay_json_tape_free(&tape);
    relay_schema_run_free(&run);
    relay_buf_free(&err);
    relay_buf_free(&out);

    return 0;
}


static void
test_type(void **state)
{
    static const test_case_t  cases[] = {
        { "{\"type\":\"null\"}", "null", NULL },
        { NULL, "0", " type" },
        { "{\"type\":\"boolean\"}", "true", NULL },
        { NULL, "false", NULL },
        { NULL, "null", " type" },
        { "{\"type\":\"integer\"}", "3.0", NULL },
        { NULL, "30e-1", NULL },
        { NULL, "-0.0", NULL },
        { NULL, "1e400", NULL },
        { NULL, "0e999999999999999999999999", NULL },
        { NULL, "10e-2", " type" },
        { NULL, "1e-99999999999999999999999", " type" },
        { NULL, "9007199254740993.5", " type" },
        { NULL, "\"3\"", " type" },
        { "{\"type\":\"number\"}", "1.5", NULL },
        { NULL, "true", " type" },
        { "{\"type\":[\"string\",\"null\"]}", "\"\"", NULL },
        { NULL, "null", NULL },
        { NULL, "[]", " type" },
        { "{\"type\":[\"integer\",\"number\"]}", "1.5", NULL },
        { "{\"type\":[\"integer\",\"object\"]}", "{}", NULL },
        { NULL, "1.5", " type" },
        { "{\"type\":\"array\"}", "[]", NULL },
        { NULL, "{}", " type" },
        { NULL, NULL, NULL }
    };

    (void) state;

    run_cases(cases);
}


static void
test_values(void **state)
{
    static const test_case_t  cases[] = {
        { "{\"const\":1}", "1.0", NULL },
        { NULL, "10e-1", NULL },
        { NULL, "true", " const" },
        { NULL, "\"1\"", " const" },
        { NULL, "-1", " const" },
        { "{\"const\":9007199254740993}", "9007199254740993", NULL },
        { NULL, "9007199254740992", " const" },
        { "{\"const\":0}", "-0e7", NULL },
        { NULL, "false", " const" },
        { NULL, "1e-400", " const" },
        { "{\"const\":\"a\\u00e9/\"}", "\"a\xc3\xa9\\/\"", NULL },
        { NULL, "\"\\u0061\\u00E9\\u002f\"", NULL },
        { NULL, "\"a\xc3\xa9\"", " const" },
        { "{\"const\":\"\"}", "\"\"", NULL },
        { NULL, "\"\\u0000\"", " const" },
        { NULL, "null", " const" },
        { "{\"const\":{\"a\":[1,{\"b\":null}],\"c\":2}}",
          "{\"c\":2e0,\"\\u0061\":[1.00,{\"b\":null}]}", NULL },
        { NULL, "{\"c\":2,\"a\":[1,{\"b\":null,\"d\":0}]}", " const" },
        { NULL, "{\"c\":2,\"a\":[1]}", " const" },
        { NULL, "{\"c\":2,\"A\":[1,{\"b\":null}]}", " const" },
        { "{\"enum\":[1,\"x\",[],null]}", "\"x\"", NULL },
        { NULL, "[]", NULL },
        { NULL, "{}", " enum" },
        { NULL, "[[]]", " enum" },
        { "{\"enum\":[]}", "0", " enum" },
        { "{\"enum\":[\"a\",\"b\"],\"const\":\"c\"}", "\"c\"", " enum" },
        { NULL, "\"d\"", " const" },
        { NULL, NULL, NULL }
    };

    (void) state;

    run_cases(cases);
}


static void
test_numbers(void **state)
{
    static const test_case_t  cases[] = {
        { "{\"minimum\":1.1}", "1.10", NULL },
        { NULL, "1.09999999999999999999999999999", " minimum" },
        { NULL, "-2", " minimum" },
        { NULL, "1e99999999999999999999", NULL },
        { NULL, "\"0\"", NULL },
        { "{\"maximum\":-0.5}", "-0.5", NULL },
        { NULL, "-0.49", " maximum" },
        { NULL, "0", " maximum" },
        { NULL, "-1e2", NULL },
        { "{\"exclusiveMinimum\":0}", "1e-400", NULL },
        { NULL, "-0.0", " exclusiveMinimum" },
        { "{\"exclusiveMaximum\":18446744073709551616}",
          "18446744073709551615", NULL },
        { NULL, "184467440737095516.16e2", " exclusiveMaximum" },
        { "{\"minimum\":100}", "1e2", NULL },
        { NULL, "99.9", " minimum" },
        { "{\"minimum\":0,\"maximum\":1}", "0.5", NULL },
        { NULL, "10e-1", NULL },
        { NULL, "-1", " minimum" },
        { "{\"multipleOf\":0.01}", "19.99", NULL },
        { NULL, "0.075", " multipleOf" },
        { NULL, "0", NULL },
        { NULL, "-3", NULL },
        { "{\"multipleOf\":1e-8}", "12391239123", NULL },
        { "{\"multipleOf\":0.123456789}", "1e308", " multipleOf" },
        { "{\"multipleOf\":7}", "7000000000000000000000000000000000000007",
          NULL },
        { NULL, "7000000000000000000000000000000000000008", " multipleOf" },
        { NULL, "7e100000000000000000000", NULL },
        { NULL, "8e100000000000000000000", " multipleOf" },
        { "{\"multipleOf\":1e2}", "1.5e3", NULL },
        { NULL, "150", " multipleOf" },
        { "{\"multipleOf\":999999999999999999}", "1999999999999999998",
          NULL },
        { NULL, "1999999999999999997", " multipleOf" },
        { NULL, NULL, NULL }
    };

    (void) state;

    run_cases(cases);
}


static void
test_strings(void **state)
{
    static const test_case_t  cases[] = {
        { "{\"minLength\":2}", "\"ab\"", NULL },
        { NULL, "\"\xf0\x9f\x92\xa9\"", " minLength" },
        { NULL, "\"\xf0\x9f\x92\xa9\xf0\x9f\x92\xa9\"", NULL },
        { NULL, "\"\\ud83d\\udca9\"", " minLength" },
        { NULL, "\"\\ud7ff\\udbff\\udfff\"", NULL },
        { NULL, "\"\\n\"", " minLength" },
        { NULL, "\"\\\\\\u0041\"", NULL },
        { NULL, "1", NULL },
        { "{\"maxLength\":2}", "\"\xc3\xa9\xe2\x82\xac\"", NULL },
        { NULL, "\"\\ud83d\\udca9\\ue000\"", NULL },
        { NULL, "\"abc\"", " maxLength" },
        { NULL, "\"a\\u0062\\\"\"", " maxLength" },
        { "{\"maxLength\":0}", "\"\"", NULL },
        { NULL, "\"a\"", " maxLength" },
        { "{\"minLength\":1,\"maxLength\":2.0}", "\"\"", " minLength" },
        { NULL, NULL, NULL }
    };

    (void) state;

    run_cases(cases);
}


static void
test_patterns(void **state)
{
    static const test_case_t  cases[] = {
        { "{\"pattern\":\"b+\"}", "\"abc\"", NULL },
        { NULL, "\"a\\u0062c\"", NULL },
        { NULL, "\"ac\"", " pattern" },
        { NULL, "5", NULL },
        { "{\"pattern\":\"^a$\"}", "\"a\"", NULL },
        { NULL, "\"a\\n\"", " pattern" },
        { NULL, "\"b\\na\"", " pattern" },
        { "{\"pattern\":\"^.$\"}", "\"\xf0\x9f\x92\xa9\"", NULL },
        { NULL, "\"\\u0085\"", NULL },
        { NULL, "\"\\u2028\"", " pattern" },
        { NULL, "\"\\r\"", " pattern" },
        { "{\"pattern\":\"^\\\\d\\\\w\\\\s\\\\S$\"}", "\"1a\\ufeffx\"", NULL },
        { NULL, "\"\\u0661a x\"", " pattern" },
        { NULL, "\"1\xc3\xa9 x\"", " pattern" },
        { "{\"pattern\":\"^[\\\\s\\\\d[:alpha]+$\"}", "\" 1[:ahpl\"", NULL },
        { NULL, "\"b\"", " pattern" },
        { "{\"pattern\":\"^\\\\p{Letter}\\\\p{Lu}\\\\P{Script=Latin}$\"}",
          "\"\xc3\xa9\xc3\x89\xd0\x96\"", NULL },
        { NULL, "\"aaA\"", " pattern" },
        { "{\"pattern\":\"^\\\\ud83d\\\\udca9\\\\u{1F4A9}\\\\x41\\\\cA$\"}",
          "\"\xf0\x9f\x92\xa9\xf0\x9f\x92\xa9" "A\\u0001\"", NULL },
        { "{\"pattern\":\"^(?<q>['x])a*?(?=b)(?:b|c)"
          "{1,2}\\\\k<q>\\\\1$\"}",
          "\"xabcxx\"", NULL },
        { NULL, "\"xabc'\"", " pattern" },
        { "{\"pattern\":\"[^]\"}", "\"\\n\"", NULL },
        { NULL, "\"\"", " pattern" },
        { "{\"pattern\":\"[]\"}", "\"a\"", " pattern" },
        { "{\"pattern\":\"^\\\\0\\\\v[\\\\b\\\\-\\\\]]$\"}",
          "\"\\u0000\\u000b\\b\"", NULL },
        { "{\"pattern\":\"\"}", "\"\"", NULL },
        { "{\"pattern\":\"\\\\bfoo\\\\B\"}", "\"a food\"", NULL },
        { NULL, "\"a foo\"", " pattern" },
        { NULL, NULL, NULL }
    };

    static const test_refused_t  refused[] = {
        { "(", "/pattern: not a pattern: missing closing parenthesis" },
        { "[a", "/pattern: not a pattern: a class does not end" },
        { "a**", "/pattern: not a pattern: nothing to repeat" },
        { "a++", "/pattern: not a pattern: nothing to repeat" },
        { "^*", "/pattern: not a pattern: nothing to repeat" },
        { "(*ACCEPT)", "/pattern: not a pattern: nothing to repeat" },
        { "a{1", "/pattern: not a pattern: a count does not end" },
        { "a{,1}", "/pattern: not a pattern: a count does not end" },
        { "}", "/pattern: not a pattern: a bracket without another must be "
          "escaped" },
        { "(?i)a", "/pattern: not a pattern: no such group" },
        { "(?>a)", "/pattern: not a pattern: no such group" },
        { "(?#a)", "/pattern: not a pattern: no such group" },
        { "\\\\", "/pattern: not a pattern: it ends in a backslash" },
        { "\\\\Qa\\\\E", "/pattern: not a pattern: no such escape sequence" },
        { "\\\\h", "/pattern: not a pattern: no such escape sequence" },
        { "\\\\A", "/pattern: not a pattern: no such escape sequence" },
        { "\\\\012", "/pattern: not a pattern: no such escape sequence" },
        { "\\\\12", "/pattern: not a pattern: no such escape sequence" },
        { "[\\\\1]", "/pattern: not a pattern: no such escape sequence" },
        { "\\\\x4", "/pattern: not a pattern: no such character" },
        { "\\\\ud800", "/pattern: not a pattern: no such character" },
        { "\\\\u{110000}", "/pattern: not a pattern: no such character" },
        { "\\\\p{Foo}", "/pattern: a property of this name is not "
          "supported" },
        { "\\\\pL", "/pattern: not a pattern: a property is needed after "
          "\\p" },
        { "[\\\\S]", "/pattern: \\S in a class is not supported" },
        { NULL, NULL }
    };

    char                   json[256];
    relay_str_t            s;
    const test_refused_t  *r;

    (void) state;

    run_cases(cases);

    for (r = refused; r->schema != NULL; r++) {
        snprintf(json, sizeof(json), "{\"pattern\":\"%s\"}", r->schema);
        s = str(json);

        assert_null(relay_schema_compile(&s, &err));
        assert_string_equal(text(&err), r->err);
    }
}


static void
test_formats(void **state)
{
    static const test_case_t  cases[] = {
        { "{\"format\":\"date-time\"}", "\"2026-02-27T16:42:10Z\"", NULL },
        { NULL, "\"2026-02-27t16:42:10.5z\"", NULL },
        { NULL, "\"2026-02-27 16:42:10+01:30\"", NULL },
        { NULL, "\"2026-02-27\\u00a016:42:10-2359\"", NULL },
        { NULL, "\"2026-02-27\\u200a16:42:10-23\"", NULL },
        { NULL, "\"2024-02-29T00:00:00Z\"", NULL },
        { NULL, "\"2000-02-29T00:00:00Z\"", NULL },
        { NULL, "\"2016-12-31T23:59:60Z\"", NULL },
        { NULL, "\"2016-12-31T23:59:60.9Z\"", NULL },
        { NULL, "\"1998-12-31T15:59:60-08:00\"", NULL },
        { NULL, "\"1999-01-01T00:29:60+00:30\"", NULL },
        { NULL, "\"1998-12-31T22:59:60Z\"", " format" },
        { NULL, "\"1998-12-31T23:58:60Z\"", " format" },
        { NULL, "\"1998-12-31T23:59:61Z\"", " format" },
        { NULL, "\"1900-02-29T00:00:00Z\"", " format" },
        { NULL, "\"2026-02-29T00:00:00Z\"", " format" },
        { NULL, "\"2026-13-01T00:00:00Z\"", " format" },
        { NULL, "\"2026-00-01T00:00:00Z\"", " format" },
        { NULL, "\"2026-01-00T00:00:00Z\"", " format" },
        { NULL, "\"2026-01-32T00:00:00Z\"", " format" },
        { NULL, "\"2026-01-01T24:00:00Z\"", " format" },
        { NULL, "\"2026-01-01T00:60:00Z\"", " format" },
        { NULL, "\"2026-01-01T00:00:00\"", " format" },
        { NULL, "\"2026-01-01T00:00:00.\"", " format" },
        { NULL, "\"2026-01-01T00:00:00.Z\"", " format" },
        { NULL, "\"2026-01-01T00:00:00.5\"", " format" },
        { NULL, "\"2026-01-01T00:00:00+24:00\"", " format" },
        { NULL, "\"2026-01-01T00:00:00+01:60\"", " format" },
        { NULL, "\"2026-01-01T00:00:00+1\"", " format" },
        { NULL, "\"2026-01-01T00:00:00+01:\"", " format" },
        { NULL, "\"2026-01-01T00:00:00+010\"", " format" },
        { NULL, "\"2026-01-01T00:00:00ZZ\"", " format" },
        { NULL, "\"2026-01-01TT00:00:00Z\"", " format" },
        { NULL, "\"2026-01-01X00:00:00Z\"", " format" },
        { NULL, "\"2026-1-01T00:00:00Z\"", " format" },
        { NULL, "\"+2026-01-01T00:00:00Z\"", " format" },
        { NULL, "\"2026-01-01\"", " format" },
        { NULL, "\"\"", " format" },
        { NULL, "\"202\xd9\xa4-01-01T00:00:00Z\"", " format" },
        { NULL, "12", NULL },
        { "{\"format\":\"email\"}", "\"a@b.c\"", NULL },
        { NULL, "\"A.b+c/d=e?f^g_h`i{j|k}l~m!n#o$p%q&r's*t-u@x-y.Z0\"",
          NULL },
        { NULL, "\"a\\u0040b.c\"", NULL },
        { NULL, "\"a@b\"", " format" },
        { NULL, "\"a\"", " format" },
        { NULL, "\"@b.c\"", " format" },
        { NULL, "\"a@\"", " format" },
        { NULL, "\".a@b.c\"", " format" },
        { NULL, "\"a.@b.c\"", " format" },
        { NULL, "\"a..b@c.d\"", " format" },
        { NULL, "\"a@b..c\"", " format" },
        { NULL, "\"a@b.c.\"", " format" },
        { NULL, "\"a@-b.c\"", " format" },
        { NULL, "\"a@b-.c\"", " format" },
        { NULL, "\"a@b.c d\"", " format" },
        { NULL, "\"a b@c.d\"", " format" },
        { NULL, "\"a@b@c.d\"", " format" },
        { NULL, "\"a\\u0000@b.c\"", " format" },
        { NULL, "\"\xc3\xa9@b.c\"", " format" },
        { NULL, "\"a@b_c.d\"", " format" },
        { "{\"format\":\"uri\"}", "\"not at all\"", NULL },
        { NULL, NULL, NULL }
    };

    (void) state;

    run_cases(cases);
}


static void
test_arrays(void **state)
{
    static const test_case_t  cases[] = {
        { "{\"minItems\":1,\"maxItems\":2}", "[0]", NULL },
        { NULL, "[]", " minItems" },
        { NULL, "[0,0,0]", " maxItems" },
        { NULL, "{}", NULL },
        { "{\"items\":{\"type\":\"string\"}}", "[\"a\",1,\"b\",2]",
          "/1 type, /3 type" },
        { "{\"items\":false}", "[]", NULL },
        { NULL, "[1]", " items" },
        { "{\"prefixItems\":[true,{\"type\":\"null\"}],\"items\":"
          "{\"type\":\"string\"}}", "[1,null,\"a\"]", NULL },
        { NULL, "[1]", NULL },
        { NULL, "[1,2,3]", "/1 type, /2 type" },
        { "{\"prefixItems\":[false]}", "[1]", "/0 false schema" },
        { "{\"contains\":{\"const\":1}}", "[0,1]", NULL },
        { NULL, "[]", " contains" },
        { "{\"contains\":{\"const\":1},\"minContains\":2,\"maxContains\":3}",
          "[1,1]", NULL },
        { NULL, "[1]", " minContains" },
        { NULL, "[1,1,1,1]", " maxContains" },
        { "{\"contains\":{\"const\":1},\"minContains\":0}", "[]", NULL },
        { "{\"minContains\":5,\"maxContains\":0}", "[1]", NULL },
        { "{\"uniqueItems\":true}", "[1,true,\"1\",[1],{\"a\":1},null]",
          NULL },
        { NULL, "[1,2,1.0]", " uniqueItems" },
        { NULL, "[{\"a\":1,\"b\":[2]},{\"b\":[2.0],\"\\u0061\":1}]",
          " uniqueItems" },
        { NULL, "[{\"a\":1,\"b\":2},{\"a\":2,\"b\":1}]", NULL },
        { NULL, "[\"a\",\"\\u0061\"]", " uniqueItems" },
        { NULL, "[[[]],[[]]]", " uniqueItems" },
        { NULL, "[0,-0.0]", " uniqueItems" },
        { NULL, "[false,0,null,\"\",[],{}]", NULL },
        { "{\"uniqueItems\":false}", "[1,1]", NULL },
        { "{\"prefixItems\":[true],\"contains\":{\"type\":\"string\"},"
          "\"unevaluatedItems\":{\"type\":\"null\"}}", "[1,\"a\",null]", NULL },
        { NULL, "[1,\"a\",2]", "/2 type" },
        { "{\"anyOf\":[{\"prefixItems\":[{\"const\":1}]},{\"prefixItems\":"
          "[true,{\"const\":2}]}],\"unevaluatedItems\":false}", "[1]", NULL },
        { NULL, "[1,2]", NULL },
        { NULL, "[1,3]", " unevaluatedItems" },
        { NULL, "[1,2,3]", " unevaluatedItems" },
        { NULL, NULL, NULL }
    };

    (void) state;

    run_cases(cases);
}


static void
test_objects(void **state)
{
    static const test_case_t  cases[] = {
        { "{\"minProperties\":1,\"maxProperties\":2}", "{\"a\":1}", NULL },
        { NULL, "{}", " minProperties" },
        { NULL, "{\"a\":1,\"b\":1,\"c\":1}", " maxProperties" },
        { NULL, "[]", NULL },
        { "{\"required\":[\"a\",\"b\",\"a\"]}", "{\"\\u0062\":0,\"a\":0}",
          NULL },
        { NULL, "{}", " required,  required,  required" },
        { "{\"properties\":{\"a\":{\"type\":\"null\"},\"b/~\":false},"
          "\"required\":[\"c\"]}", "{\"c\":1,\"a\":null}", NULL },
        { NULL, "{\"a\":1,\"b/~\":1}",
          " required, /a type, /b~1~0 false schema" },
        { "{\"properties\":{\"a\":true},\"patternProperties\":{\"^x\":"
          "{\"type\":\"string\"}},\"additionalProperties\":false}",
          "{\"a\":1,\"xy\":\"\"}", NULL },
        { NULL, "{\"a\":1,\"xy\":1,\"yx\":\"\"}",
          "/xy type,  additionalProperties" },
        { "{\"additionalProperties\":{\"type\":\"null\"}}", "{\"a\":null}",
          NULL },
        { NULL, "{\"\":1}", "/ type" },
        { "{\"required\":[\"a\"],\"additionalProperties\":false}",
          "{\"a\":1}", " additionalProperties" },
        { "{\"propertyNames\":{\"maxLength\":1,\"enum\":[\"a\",\"b\"]}}",
          "{\"a\":1,\"\\u0062\":{}}", NULL },
        { NULL, "{\"a\":1,\"c\":1,\"aa\":1}",
          " propertyNames,  propertyNames" },
        { "{\"propertyNames\":{\"type\":\"string\",\"not\":"
          "{\"const\":\"x\"}}}", "{\"y\":1}", NULL },
        { NULL, "{\"x\":1}", " propertyNames" },
        { "{\"dependentRequired\":{\"a\":[\"b\",\"c\"],\"d\":[]}}",
          "{\"d\":1,\"b\":1}", NULL },
        { NULL, "{\"a\":1,\"b\":1,\"c\":1}", NULL },
        { NULL, "{\"a\":1,\"b\":1}", " dependentRequired" },
        { "{\"dependentSchemas\":{\"a\":{\"required\":[\"b\"]}}}", "{}",
          NULL },
        { NULL, "{\"a\":1}", " required" },
        { "{\"properties\":{\"a\":true},\"allOf\":[{\"patternProperties\":"
          "{\"^x\":true}},{\"$ref\":\"#/$defs/b\"}],\"$defs\":{\"b\":"
          "{\"properties\":{\"b\":true}}},\"unevaluatedProperties\":false}",
          "{\"a\":1,\"x1\":1,\"b\":1}", NULL },
        { NULL, "{\"a\":1,\"c\":1}", " unevaluatedProperties" },
        { "{\"allOf\":[{\"unevaluatedProperties\":true}],"
          "\"unevaluatedProperties\":false}", "{\"a\":1}", NULL },
        { "{\"allOf\":[{\"properties\":{\"a\":true}},"
          "{\"unevaluatedProperties\":false}]}", "{\"a\":1}",
          " unevaluatedProperties" },
        { "{\"if\":{\"properties\":{\"a\":{\"const\":1}},\"required\":[\"a\"]},"
          "\"then\":{\"properties\":{\"b\":true}},\"else\":{\"properties\":"
          "{\"c\":true}},\"unevaluatedProperties\":false}",
          "{\"a\":1,\"b\":1}", NULL },
        { NULL, "{\"a\":1,\"c\":1}", " unevaluatedProperties" },
        { NULL, "{\"c\":1}", NULL },
        { NULL, "{\"a\":2,\"c\":1}", " unevaluatedProperties" },
        { "{\"not\":{\"not\":{\"properties\":{\"a\":true}}},"
          "\"unevaluatedProperties\":{\"type\":\"null\"}}", "{\"a\":null}",
          NULL },
        { NULL, "{\"a\":1}", "/a type" },
        { NULL, NULL, NULL }
    };

    (void) state;

    run_cases(cases);
}


static void
test_logic(void **state)
{
    static const test_case_t  cases[] = {
        { "{\"allOf\":[{\"type\":\"integer\"},{\"minimum\":3}]}", "3", NULL },
        { NULL, "2.5", " type,  minimum" },
        { "{\"anyOf\":[{\"type\":\"string\"},{\"minimum\":3}]}", "\"\"",
          NULL },
        { NULL, "2", " anyOf" },
        { "{\"oneOf\":[{\"multipleOf\":2},{\"multipleOf\":3}]}", "4", NULL },
        { NULL, "5", " oneOf" },
        { NULL, "6", " oneOf" },
        { "{\"not\":{\"type\":\"string\"}}", "1", NULL },
        { NULL, "\"\"", " not" },
        { "{\"if\":{\"minimum\":10},\"then\":{\"multipleOf\":10},\"else\":"
          "{\"multipleOf\":3}}", "20", NULL },
        { NULL, "21", " multipleOf" },
        { NULL, "3", NULL },
        { NULL, "4", " multipleOf" },
        { "{\"then\":false,\"else\":false}", "1", NULL },
        { "true", "[1]", NULL },
        { "false", "[1]", " false schema" },
        { "{}", "[1]", NULL },
        { "{\"allOf\":[{\"anyOf\":[{\"items\":{\"oneOf\":[{\"minimum\":1},"
          "{\"not\":{\"maximum\":5}}]}}]}]}", "[1,2]", NULL },
        { NULL, "[1,7]", " anyOf" },
        { NULL, NULL, NULL }
    };

    (void) state;

    run_cases(cases);
}


static void
test_references(void **state)
{
    static const test_case_t  cases[] = {
        { "{\"$defs\":{\"a/b%~\":{\"type\":\"null\"}},"
          "\"$ref\":\"#/$defs/a~1b%25~0\"}", "null", NULL },
        { NULL, "1", " type" },
        { "{\"$ref\":\"#x.1\",\"minimum\":2,\"$defs\":{\"y\":"
          "{\"$anchor\":\"x.1\",\"maximum\":3}}}", "2.5", NULL },
        { NULL, "1", " minimum" },
        { NULL, "4", " maximum" },
        { "{\"properties\":{\"next\":{\"$ref\":\"#\"},\"v\":"
          "{\"type\":\"integer\"}},\"required\":[\"v\"]}",
          "{\"v\":1,\"next\":{\"v\":2,\"next\":{\"v\":3}}}", NULL },
        { NULL, "{\"v\":1,\"next\":{\"v\":2,\"next\":{\"v\":\"\"}}}",
          "/next/next/v type" },
        { "{\"$id\":\"https://a.example/s#\",\"$defs\":{\"a\":"
          "{\"$ref\":\"https://a.example/s#/$defs/b\"},\"b\":"
          "{\"type\":\"null\"}},\"items\":{\"$ref\":\"#/$defs/a\"},"
          "\"contains\":{\"$ref\":\"https://a.example/s#/items\"}}",
          "[null]", NULL },
        { NULL, "[1]", " contains, /0 type" },
        { "{\"properties\":{\"$ref\":{\"type\":\"string\"}}}",
          "{\"$ref\":1}", "/$ref type" },
        { NULL, NULL, NULL }
    };

    relay_schema_t  *schema;

    (void) state;

    schema = compile("{\"$id\":\"https://a.example/s#\"}");
    assert_true(relay_str_is(relay_schema_id(schema), "https://a.example/s"));
    relay_schema_free(schema);

    schema = compile("{}");
    assert_int_equal(relay_schema_id(schema)->len, 0);
    relay_schema_free(schema);

    run_cases(cases);
}


/* What a schema must not be, and where its fault is. */

static void
test_refused(void **state)
{
    static const test_refused_t  refused[] = {
        { "", "line 1, column 1: the document ends where a value is needed" },
        { "{\"a\":1,\"a\":1}", "line 1, column 8: the name occurs twice in "
          "this object" },
        { "1", ": a schema is an object, true or false" },
        { "{\"items\":[true]}",
          "/items: a schema is an object, true or false" },
        { "{\"properties\":{\"a\":{\"foo\":1}}}",
          "/properties/a/foo: the keyword is not supported" },
        { "{\"$dynamicRef\":\"#\"}",
          "/$dynamicRef: the keyword is not supported" },
        { "{\"dependencies\":{}}",
          "/dependencies: the keyword is not supported" },
        { "{\"$defs\":{\"a\":{\"items\":{\"$id\":\"x\"}}}}",
          "/$defs/a/items/$id: supported at the root only" },
        { "{\"$id\":1}", "/$id: a string is needed here" },
        { "{\"$id\":\"https://a.example/#x\"}", "/$id: it has a fragment" },
        { "{\"$schema\":\"http://json-schema.org/draft-07/schema#\"}",
          "/$schema: only draft 2020-12 is supported" },
        { "{\"$anchor\":\"1a\"}", "/$anchor: not an anchor" },
        { "{\"$ref\":\"\"}", "/$ref: the reference is empty" },
        { "{\"$ref\":\"#/$defs/a\"}",
          "/$ref: the reference leads to no schema" },
        { "{\"$ref\":\"#/type\",\"type\":\"null\"}",
          "/$ref: the reference leads to no schema" },
        { "{\"$ref\":\"#a\"}", "/$ref: the reference leads to no schema" },
        { "{\"$ref\":\"#a\",\"$defs\":{\"x\":{\"$anchor\":\"a\"},\"y\":"
          "{\"$anchor\":\"a\"}}}", "/$defs/x/$anchor: the anchor is there "
          "twice" },
        { "{\"$ref\":\"#%4\"}", "/$ref: not a reference" },
        { "{\"$ref\":\"other.json\"}", "/$ref: a reference to another "
          "document is not supported" },
        { "{\"$ref\":\"#\"}", ": the schema refers to itself for the same "
          "value" },
        { "{\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},\"b\":{\"allOf\":"
          "[{\"not\":{\"$ref\":\"#/$defs/a\"}}]}}}",
          "/$defs/b/allOf/0/not: the schema refers to itself for the same "
          "value" },
        { "{\"dependentSchemas\":{\"a\":{\"if\":{\"$ref\":\"#\"}}}}",
          "/dependentSchemas/a/if: the schema refers to itself for the same "
          "value" },
        { "{\"type\":\"text\"}", "/type: no such type" },
        { "{\"type\":[]}", "/type: a type is needed here" },
        { "{\"type\":[\"null\",\"null\"]}",
          "/type/1: the type is there already" },
        { "{\"enum\":1}", "/enum: an array is needed here" },
        { "{\"minimum\":\"1\"}", "/minimum: a number is needed here" },
        { "{\"multipleOf\":0}",
          "/multipleOf: a number above zero is needed here" },
        { "{\"multipleOf\":-1}",
          "/multipleOf: a number above zero is needed here" },
        { "{\"multipleOf\":1234567890123456789}",
          "/multipleOf: it has too many digits" },
        { "{\"minLength\":-1}",
          "/minLength: an integer from zero on is needed here" },
        { "{\"maxItems\":1.5}",
          "/maxItems: an integer from zero on is needed here" },
        { "{\"pattern\":1}", "/pattern: a string is needed here" },
        { "{\"format\":1}", "/format: a string is needed here" },
        { "{\"uniqueItems\":1}", "/uniqueItems: true or false is needed "
          "here" },
        { "{\"anyOf\":[]}", "/anyOf: an array of schemas is needed here" },
        { "{\"oneOf\":{}}", "/oneOf: an array of schemas is needed here" },
        { "{\"required\":\"a\"}", "/required: an array is needed here" },
        { "{\"required\":[1]}", "/required/0: a string is needed here" },
        { "{\"properties\":[]}", "/properties: an object is needed here" },
        { "{\"$defs\":[]}", "/$defs: an object is needed here" },
        { "{\"patternProperties\":1}",
          "/patternProperties: an object is needed here" },
        { "{\"dependentRequired\":{\"a\":1}}",
          "/dependentRequired/a: an array is needed here" },
        { "{\"dependentSchemas\":1}",
          "/dependentSchemas: an object is needed here" },
        { NULL, NULL }
    };

    relay_str_t            s;
    relay_schema_t        *schema;
    const test_refused_t  *r;

    (void) state;

    for (r = refused; r->schema != NULL; r++) {
        s = str(r->schema);
        schema = relay_schema_compile(&s, &err);

        if (schema != NULL) {
            fail_msg("%s is accepted", r->schema);
        }

        assert_string_equal(text(&err), r->err);
    }
}


/* What is passed over, whatever its value is. */

static void
test_annotations(void **state)
{
    static const test_case_t  cases[] = {
        { "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
          "\"$comment\":\"\",\"title\":\"\",\"description\":\"\","
          "\"default\":{\"type\":\"x\"},\"examples\":[1],\"deprecated\":true,"
          "\"readOnly\":true,\"writeOnly\":true,\"contentEncoding\":\"base64\","
          "\"contentMediaType\":\"application/json\",\"contentSchema\":false,"
          "\"minimum\":1}", "1", NULL },
        { NULL, "0", " minimum" },
        { NULL, NULL, NULL }
    };

    (void) state;

    run_cases(cases);
}


/* Names beyond those that have a bit of their own. */

static void
test_many_required(void **state)
{
    int              i;
    relay_buf_t      doc;
    relay_str_t      s;
    relay_schema_t  *schema;

    (void) state;

    relay_buf_init(&doc, 65536);

    relay_buf_append_z(&doc, "{\"required\":[");

    for (i = 0; i < 200; i++) {
        relay_buf_printf(&doc, "%s\"m%d\"", i ? "," : "", i);
    }

    relay_buf_append_z(&doc, "]}");
    schema = compile(text(&doc));

    relay_buf_reset(&doc);
    relay_buf_append_z(&doc, "{\"extra\":0");

    for (i = 199; i >= 0; i--) {
        relay_buf_printf(&doc, ",\"m%d\":%d", i, i);
    }

    relay_buf_append_c(&doc, '}');
    relay_buf_str(&doc, &s);
    parse(&s, 64);

    assert_int_equal(relay_schema_validate(schema, &s, &tape, &run), RELAY_OK);

    relay_buf_reset(&doc);
    relay_buf_append_z(&doc, "{\"extra\":0");

    for (i = 0; i < 200; i++) {
        if (i != 63 && i != 64 && i != 199) {
            relay_buf_printf(&doc, ",\"m%d\":%d", i, i);
        }
    }

    relay_buf_append_c(&doc, '}');
    relay_buf_str(&doc, &s);
    parse(&s, 64);

    assert_int_equal(relay_schema_validate(schema, &s, &tape, &run),
                     RELAY_DECLINED);
    assert_int_equal(run.n, 3);
    assert_int_equal(run.errors[0].index, 63);
    assert_int_equal(run.errors[1].index, 64);
    assert_int_equal(run.errors[2].index, 199);

    relay_buf_free(&doc);
    relay_schema_free(schema);
}


/* Schema pointers and sentences. */

static void
test_sentences(void **state)
{
    static const struct {
        const char  *schema;
        const char  *doc;
        const char  *text;
    } cases[] = {
        { "false", "1", ": nothing may stand here" },
        { "{\"type\":[\"null\",\"string\",\"integer\"]}", "[]",
          "/type: must be a string, an integer or null" },
        { "{\"type\":[\"boolean\",\"object\"]}", "[]",
          "/type: must be true or false or an object" },
        { "{\"const\":\"a\\u0020b\"}", "1",
          "/const: must be \"a\\u0020b\"" },
        { "{\"enum\":[\"a\",1]}", "2", "/enum: must be one of \"a\", 1" },
        { "{\"multipleOf\":0.10}", "0.15",
          "/multipleOf: must be a multiple of 0.10" },
        { "{\"minimum\":1}", "0", "/minimum: must be at least 1" },
        { "{\"maximum\":1}", "2", "/maximum: must be at most 1" },
        { "{\"exclusiveMinimum\":1}", "1",
          "/exclusiveMinimum: must be more than 1" },
        { "{\"exclusiveMaximum\":1}", "1",
          "/exclusiveMaximum: must be less than 1" },
        { "{\"minLength\":1}", "\"\"",
          "/minLength: must have at least 1 character" },
        { "{\"maxLength\":2}", "\"abc\"",
          "/maxLength: must have at most 2 characters" },
        { "{\"pattern\":\"^a\\\"\"}", "\"b\"",
          "/pattern: must match the pattern \"^a\\\"\"" },
        { "{\"format\":\"email\"}", "\"b\"",
          "/format: must be an e-mail address" },
        { "{\"format\":\"date-time\"}", "\"b\"",
          "/format: must be a date and time with a zone (RFC 3339)" },
        { "{\"minItems\":2}", "[]",
          "/minItems: must have at least 2 elements" },
        { "{\"maxItems\":0}", "[1]",
          "/maxItems: must have at most 0 elements" },
        { "{\"uniqueItems\":true}", "[1,1]",
          "/uniqueItems: two elements must not be equal" },
        { "{\"prefixItems\":[true],\"items\":false}", "[1,1]",
          "/items: must have at most 1 element" },
        { "{\"contains\":false,\"minContains\":2}", "[]",
          "/minContains: must have at least 2 elements of the kind that "
          "\"contains\" asks for" },
        { "{\"unevaluatedItems\":false}", "[1]",
          "/unevaluatedItems: an element that no schema is for is not "
          "allowed" },
        { "{\"properties\":{\"o\":{\"additionalProperties\":false}}}",
          "{\"o\":{\"a\\u0000\\\"\":1}}",
          "/properties/o/additionalProperties: the member \"a\\u0000\\\"\" is "
          "not allowed" },
        { "{\"unevaluatedProperties\":false}", "{\"a\":1}",
          "/unevaluatedProperties: the member \"a\" is not allowed" },
        { "{\"propertyNames\":false}", "{\"a\":1}",
          "/propertyNames: no member may have the name \"a\"" },
        { "{\"required\":[\"x\"]}", "{}",
          "/required: the member \"x\" is missing" },
        { "{\"dependentRequired\":{\"a\":[\"b\",\"c\",\"d\"]}}",
          "{\"a\":1,\"b\":1,\"d\":1}", "/dependentRequired: the member \"c\" "
          "is missing, which \"a\" needs" },
        { "{\"minProperties\":1}", "{}",
          "/minProperties: must have at least 1 member" },
        { "{\"anyOf\":[false]}", "1", "/anyOf: must be valid against one of "
          "several schemas at least, and is against none" },
        { "{\"oneOf\":[true,true]}", "1", "/oneOf: must be valid against "
          "exactly one of several schemas, and is against more" },
        { "{\"not\":true}", "1",
          "/not: must not be valid against the schema of \"not\"" },
        { "{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"minimum\":1}}}", "0",
          "/$defs/a/minimum: must be at least 1" }
    };

    size_t           i;
    relay_str_t      doc;
    relay_schema_t  *schema;

    (void) state;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {

        schema = compile(cases[i].schema);
        doc = str(cases[i].doc);
        parse(&doc, 64);

        assert_int_equal(relay_schema_validate(schema, &doc, &tape, &run),
                         RELAY_DECLINED);
        assert_int_equal(run.n, 1);

        relay_buf_reset(&out);

        assert_int_equal(relay_schema_error_schema(schema, &run.errors[0],
                                                   &out), RELAY_OK);
        assert_int_equal(relay_buf_append_z(&out, ": "), RELAY_OK);
        assert_int_equal(relay_schema_error_text(schema, &run.errors[0], &doc,
                                                 &tape, &out), RELAY_OK);
        assert_string_equal(text(&out), cases[i].text);

        relay_schema_free(schema);
    }
}


/* Where a fault is: that of a member that may not be is at its name. */

static void
test_places(void **state)
{
    relay_str_t         doc;
    relay_schema_t     *schema;
    relay_schema_run_t  one;

    (void) state;

    schema = compile("{\"properties\":{\"a\":{\"type\":\"null\"}},"
                     "\"additionalProperties\":false,\"required\":[\"b\"]}");
    doc = str(" { \"a\": 1, \"c\": 2 }");
    parse(&doc, 64);

    assert_int_equal(relay_schema_validate(schema, &doc, &tape, &run),
                     RELAY_DECLINED);
    assert_int_equal(run.n, 3);

    assert_string_equal(run.errors[0].keyword, "required");
    assert_int_equal(run.errors[0].offset, 1);
    assert_string_equal(run.errors[1].keyword, "type");
    assert_int_equal(run.errors[1].offset, 8);
    assert_string_equal(run.errors[2].keyword, "additionalProperties");
    assert_int_equal(run.errors[2].node, 0);
    assert_int_equal(run.errors[2].offset, 11);

    /* the first is enough where only one is wanted */

    relay_schema_run_init(&one, 0);
    assert_int_equal(one.max, 1);
    assert_int_equal(relay_schema_validate(schema, &doc, &tape, &one),
                     RELAY_DECLINED);
    assert_int_equal(one.n, 1);
    assert_string_equal(one.errors[0].keyword, "type");

    /* and nothing is left of it when the next document is valid */

    doc = str("{\"b\":null}");
    parse(&doc, 64);
    assert_int_equal(relay_schema_validate(schema, &doc, &tape, &one),
                     RELAY_DECLINED);
    assert_string_equal(one.errors[0].keyword, "additionalProperties");

    relay_schema_run_free(&one);
    relay_schema_free(schema);
}


static void
nested(relay_buf_t *doc, size_t depth)
{
    size_t  i;

    relay_buf_reset(doc);

    for (i = 0; i < depth; i++) {
        relay_buf_append_c(doc, '[');
    }

    for (i = 0; i < depth; i++) {
        relay_buf_append_c(doc, ']');
    }
}


static void
test_depth(void **state)
{
    relay_buf_t      doc, deep;
    relay_str_t      s;
    relay_schema_t  *schema;

    (void) state;

    relay_buf_init(&doc, 1024 * 1024);
    relay_buf_init(&deep, 1024 * 1024);
    schema = compile("{\"type\":\"array\",\"items\":{\"$ref\":\"#\"}}");

    nested(&doc, RELAY_SCHEMA_DEPTH);
    relay_buf_str(&doc, &s);
    parse(&s, 100000);
    assert_int_equal(relay_schema_validate(schema, &s, &tape, &run), RELAY_OK);

    nested(&doc, 100000);
    relay_buf_str(&doc, &s);
    parse(&s, 100000);
    assert_int_equal(relay_schema_validate(schema, &s, &tape, &run),
                     RELAY_DECLINED);
    assert_int_equal(run.n, 1);
    assert_string_equal(run.errors[0].keyword, "limit");

    relay_schema_free(schema);

    /* a value as deep as a document may be is still compared */

    nested(&deep, RELAY_SCHEMA_DEPTH - 1);
    relay_buf_reset(&doc);
    relay_buf_append_z(&doc, "{\"const\":");
    relay_buf_append(&doc, deep.data, RELAY_SCHEMA_DEPTH - 1);
    relay_buf_append_z(&doc, "7");
    relay_buf_append(&doc, deep.data + RELAY_SCHEMA_DEPTH - 1,
                     RELAY_SCHEMA_DEPTH - 1);
    relay_buf_append_c(&doc, '}');
    schema = compile(text(&doc));
    s.data = doc.data + 9;
    s.len = 2 * RELAY_SCHEMA_DEPTH - 1;
    parse(&s, 64);
    assert_int_equal(relay_schema_validate(schema, &s, &tape, &run), RELAY_OK);
    relay_schema_free(schema);

    nested(&doc, 100000);
    relay_buf_str(&doc, &s);
    parse(&s, 100000);

    /* "not" does not turn it round, nor does equality go deeper */

    schema = compile("{\"$defs\":{\"a\":{\"items\":{\"$ref\":\"#/$defs/a\"}}},"
                     "\"not\":{\"$ref\":\"#/$defs/a\"}}");
    assert_int_equal(relay_schema_validate(schema, &s, &tape, &run),
                     RELAY_DECLINED);
    assert_string_equal(run.errors[0].keyword, "limit");
    relay_schema_free(schema);

    nested(&deep, 10000);
    relay_buf_reset(&doc);
    schema = compile("{\"not\":{\"uniqueItems\":true}}");
    relay_buf_append_c(&doc, '[');
    relay_buf_append(&doc, deep.data, deep.len);
    relay_buf_append_c(&doc, ',');
    relay_buf_append(&doc, deep.data, deep.len);
    relay_buf_append_c(&doc, ']');
    relay_buf_str(&doc, &s);
    parse(&s, 100000);
    assert_int_equal(relay_schema_validate(schema, &s, &tape, &run),
                     RELAY_DECLINED);
    assert_string_equal(run.errors[0].keyword, "limit");
    relay_schema_free(schema);

    relay_buf_free(&deep);
    relay_buf_free(&doc);
}


/* Chains of schemas for one value, and what doubles at each level. */

static void
test_cost(void **state)
{
    int              i;
    relay_buf_t      doc;
    relay_str_t      s;
    relay_schema_t  *schema;

    (void) state;

    relay_buf_init(&doc, 8 * 1024 * 1024);

    for (i = 0; i < 40; i++) {
        relay_buf_printf(&doc, "%s\"a%d\":{\"$ref\":\"#/$defs/a%d\"}",
                         i ? "," : "{\"$defs\":{", i, i + 1);
    }

    relay_buf_append_z(&doc, ",\"a40\":{}}}");
    relay_buf_str(&doc, &s);

    assert_null(relay_schema_compile(&s, &err));
    assert_non_null(strstr(text(&err), "too many schemas apply"));

    schema = compile("{\"anyOf\":[{\"items\":{\"$ref\":\"#\"},"
                     "\"contains\":false},{\"items\":{\"$ref\":\"#\"},"
                     "\"contains\":false}]}");
    nested(&doc, 60);
    relay_buf_str(&doc, &s);
    parse(&s, 64);

    assert_int_equal(relay_schema_validate(schema, &s, &tape, &run),
                     RELAY_DECLINED);
    assert_int_equal(run.n, 1);
    assert_string_equal(run.errors[0].keyword, "limit");
    relay_schema_free(schema);

    /* a pattern that backtracks without end is no verdict either */

    schema = compile("{\"not\":{\"pattern\":\"^(a+)+$\"}}");
    s = str("\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"");
    parse(&s, 64);

    assert_int_equal(relay_schema_validate(schema, &s, &tape, &run),
                     RELAY_DECLINED);
    assert_string_equal(run.errors[0].keyword, "limit");
    relay_schema_free(schema);

    relay_buf_free(&doc);
}


static uint64_t
mix(uint64_t h)
{
    h *= 0x9fb21c651e98df25ull;

    return h ^ (h >> 29);
}


/* Strings that hash to the same: the second word makes up for the first. */

static void
colliding(relay_buf_t *doc, unsigned n)
{
    char           name[17];
    size_t         k;
    unsigned       i, found;
    uint64_t       word, target;
    unsigned char  c;

    relay_buf_reset(doc);
    target = mix(0x4242424242424242ull) ^ 0x4343434343434343ull;

    for (i = 0, found = 0; found < n; i++) {

        snprintf(name, sizeof(name), "%08x", i);
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

        relay_buf_printf(doc, "%s\"%.16s\"", found ? "," : "[", name);
        found++;
    }

    relay_buf_append_c(doc, ']');
}


/*
 * uniqueItems: many elements; and many that hash to the same, which are too
 * many to be compared with each other.
 */

static void
test_unique(void **state)
{
    int              i;
    size_t           same;
    relay_buf_t      doc;
    relay_str_t      s;
    relay_schema_t  *schema;

    (void) state;

    relay_buf_init(&doc, 8 * 1024 * 1024);
    schema = compile("{\"uniqueItems\":true}");

    relay_buf_append_c(&doc, '[');

    for (i = 0; i < 200000; i++) {
        relay_buf_printf(&doc, "%s{\"a\":%d,\"b\":\"%d\"}", i ? "," : "", i,
                         i % 7);
    }

    relay_buf_append_c(&doc, ']');
    relay_buf_str(&doc, &s);
    parse(&s, 64);
    assert_int_equal(relay_schema_validate(schema, &s, &tape, &run), RELAY_OK);

    doc.len--;
    same = doc.len + 1;
    relay_buf_append_z(&doc, ",{\"b\":\"5\",\"a\":5.0}]");
    relay_buf_str(&doc, &s);
    parse(&s, 64);
    assert_int_equal(relay_schema_validate(schema, &s, &tape, &run),
                     RELAY_DECLINED);
    assert_string_equal(run.errors[0].keyword, "uniqueItems");
    assert_int_equal(run.errors[0].offset, same);

    colliding(&doc, 1000);
    relay_buf_str(&doc, &s);
    parse(&s, 64);
    assert_int_equal(relay_schema_validate(schema, &s, &tape, &run), RELAY_OK);

    colliding(&doc, 4000);
    relay_buf_str(&doc, &s);
    parse(&s, 64);
    assert_int_equal(relay_schema_validate(schema, &s, &tape, &run),
                     RELAY_DECLINED);
    assert_string_equal(run.errors[0].keyword, "limit");

    relay_schema_free(schema);
    relay_buf_free(&doc);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_type),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_objects),
        cmocka_unit_test(test_logic),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_annotations),
        cmocka_unit_test(test_many_required),
        cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_cost),
        cmocka_unit_test(test_unique)
    };

    return cmocka_run_group_tests_name("relay_schema", tests, setup, teardown);
}
