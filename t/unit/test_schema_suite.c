
/*
 * lib/relay_schema.c against collections of others: the JSON Schema Test Suite,
 * draft 2020-12, and documents of both types with one fault each.
 */

#include <dirent.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <unistd.h>
#include <cmocka.h>

#include "relay_pointer.h"
#include "relay_schema.h"


#define CORPUS   "../shared/corpus/json-schema/tests/draft2020-12"
#define MUTANTS  "../shared/corpus/schema-mutants.jsonl"
#define TEXT     (1024 * 1024)


typedef struct {
    const char  *file;
    const char  *group;     /* NULL: any */
    const char  *test;      /* NULL: any */
    const char  *why;
} test_exception_t;


/* Tests that are not run. */

static const test_exception_t  skipped[] = {
    { "format.json", "email format",
      "invalid email string is only an annotation by default",
      "it is asserted here" },
    { "format.json", "date-time format",
      "invalid date-time string is only an annotation by default",
      "it is asserted here" },
    { "refOfUnknownKeyword.json",
      "reference internals of known non-applicator", NULL,
      "a reference to what is not at a schema's place is not supported" },
    { NULL, NULL, NULL, NULL }
};


/* Those that turn out the other way. */

static const test_exception_t  otherwise[] = {
    { "date-time.json", "validation of date-time strings",
      "a numeric offset without minutes is invalid", "as in ajv-formats" },
    { "date-time.json", "validation of date-time strings",
      "hour 24 is invalid even with a leap second", "as in ajv-formats" },
    { "email.json", "validation of e-mail addresses",
      "a quoted string with a space in the local part is valid",
      "as in ajv-formats" },
    { "email.json", "validation of e-mail addresses",
      "a quoted string with a double dot in the local part is valid",
      "as in ajv-formats" },
    { "email.json", "validation of e-mail addresses",
      "a quoted string with a @ in the local part is valid",
      "as in ajv-formats" },
    { "email.json", "validation of e-mail addresses",
      "an IPv4-address-literal after the @ is valid", "as in ajv-formats" },
    { "email.json", "validation of e-mail addresses",
      "an IPv6-address-literal after the @ is valid", "as in ajv-formats" },
    { NULL, NULL, NULL, NULL }
};


static relay_json_tape_t   suite, tape;
static relay_schema_run_t  run, fast;
static relay_buf_t         err, name;
static unsigned            passed, left_out;


static relay_str_t
slice(const relay_str_t *text, const relay_json_tape_t *t, size_t i)
{
    relay_str_t  s;

    s.data = text->data + t->nodes[i].off;
    s.len = t->nodes[i].len;

    return s;
}


static const char *
string(const relay_str_t *text, size_t obj, const char *member)
{
    size_t  i;

    i = relay_json_get(&suite, text, obj, member, strlen(member));
    assert_int_not_equal(i, 0);

    relay_buf_reset(&name);
    assert_int_equal(relay_json_str_decode(&suite, text, i, &name), RELAY_OK);
    assert_int_equal(relay_buf_append_c(&name, '\0'), RELAY_OK);

    return (const char *) name.data;
}


static size_t
member(const relay_str_t *text, size_t obj, const char *m)
{
    size_t  i;

    i = relay_json_get(&suite, text, obj, m, strlen(m));
    assert_int_not_equal(i, 0);

    return i;
}


static relay_str_t
slurp(const char *path)
{
    FILE         *fp;
    relay_str_t   text;

    fp = fopen(path, "rb");
    assert_non_null(fp);

    text.data = malloc(TEXT);
    assert_non_null(text.data);

    text.len = fread(text.data, 1, TEXT, fp);
    fclose(fp);

    assert_true(text.len > 0 && text.len < TEXT);

    return text;
}


static const char *
exception(const test_exception_t *e, const char *file, const char *group,
    const char *test)
{
    for (/* void */; e->file != NULL; e++) {
        if (strcmp(e->file, file) == 0
            && (e->group == NULL || strcmp(e->group, group) == 0)
            && (e->test == NULL || strcmp(e->test, test) == 0))
        {
            return e->why;
        }
    }

    return NULL;
}


/* Every fault has a place in the schema and a sentence. */

static void
check_errors(const relay_schema_t *schema, const relay_str_t *doc)
{
    size_t  i, len;

    assert_int_equal(fast.n, 1);
    assert_true(run.n >= 1);

    for (i = 0; i < run.n; i++) {

        relay_buf_reset(&name);

        assert_int_equal(relay_schema_error_schema(schema, &run.errors[i],
                                                   &name),
                         RELAY_OK);

        len = name.len;

        assert_int_equal(relay_schema_error_text(schema, &run.errors[i], doc,
                                                 &tape, &name),
                         RELAY_OK);
        assert_true(name.len > len);
        assert_true(run.errors[i].offset < doc->len);
    }
}


static int
setup(void **state)
{
    relay_json_tape_init(&suite);
    relay_json_tape_init(&tape);
    relay_schema_run_init(&run, 32);
    relay_schema_run_init(&fast, 1);
    relay_buf_init(&err, 4096);
    relay_buf_init(&name, 65536);

    return 0;
}


static int
teardown(void **state)
{
    relay_json_tape_free(&suite);
    relay_json_tape_free(&tape);
    relay_schema_run_free(&run);
    relay_schema_run_free(&fast);
    relay_buf_free(&err);
    relay_buf_free(&name);

    return 0;
}


static void
suite_group(const char *file, const relay_str_t *text, size_t g)
{
    char                 group[512];
    size_t               i, n, tests;
    relay_int_t          rc, expected;
    relay_str_t          s, doc;
    const char          *why;
    relay_schema_t      *schema;
    relay_json_error_t   jerr;

    snprintf(group, sizeof(group), "%s", string(text, g, "description"));

    tests = member(text, g, "tests");
    s = slice(text, &suite, member(text, g, "schema"));

    schema = relay_schema_compile(&s, &err);

    if (schema == NULL) {
        assert_int_equal(relay_buf_append_c(&err, '\0'), RELAY_OK);

        /* only for what is said to be missing, never for another reason */

        why = exception(skipped, file, group, "");

        if (why == NULL) {
            why = (const char *) err.data;

            if (strstr(why, "supported") == NULL) {
                fail_msg("%s: %s: %s", file, group, why);
            }
        }

        print_message("skipped %2u of %s: %s: %s\n",
                      (unsigned) suite.nodes[tests].count, file, group, why);
        left_out += suite.nodes[tests].count;
        return;
    }

    i = tests + 1;

    for (n = suite.nodes[tests].count; n > 0; n--) {

        why = exception(skipped, file, group, string(text, i, "description"));

        if (why != NULL) {
            print_message("skipped  1 of %s: %s: %s: %s\n", file, group,
                          string(text, i, "description"), why);
            left_out++;
            goto next;
        }

        doc = slice(text, &suite, member(text, i, "data"));
        expected = (suite.nodes[member(text, i, "valid")].type
                    == RELAY_JSON_TRUE) ? RELAY_OK : RELAY_DECLINED;

        why = exception(otherwise, file, group,
                        string(text, i, "description"));

        if (why != NULL) {
            print_message("otherwise  of %s: %s: %s: %s\n", file, group,
                          string(text, i, "description"), why);
            expected = (expected == RELAY_OK) ? RELAY_DECLINED : RELAY_OK;
        }

        assert_int_equal(relay_json_parse(&tape, &doc,
                                          &relay_json_default_limits, &jerr),
                         RELAY_OK);

        rc = relay_schema_validate(schema, &doc, &tape, &run);

        if (rc != expected
            || rc != relay_schema_validate(schema, &doc, &tape, &fast))
        {
            fail_msg("%s: %s: %s: %d", file, group,
                     string(text, i, "description"), (int) rc);
        }

        if (rc == RELAY_DECLINED) {
            check_errors(schema, &doc);
        }

        passed++;

    next:

        i = suite.nodes[i].next;
    }

    relay_schema_free(schema);
}


static void
suite_file(const char *folder, const char *file)
{
    char                 path[512];
    size_t               i, n;
    relay_str_t          text;
    relay_json_error_t   jerr;
    relay_json_limits_t  limits;

    snprintf(path, sizeof(path), "%s/%s", folder, file);
    text = slurp(path);

    limits = relay_json_default_limits;

    assert_int_equal(relay_json_parse(&suite, &text, &limits, &jerr),
                     RELAY_OK);

    i = 1;

    for (n = suite.nodes[0].count; n > 0; n--) {
        suite_group(file, &text, i);
        i = suite.nodes[i].next;
    }

    free(text.data);
}


static void
suite_folder(const char *folder)
{
    int              i, n;
    size_t           len;
    struct dirent  **entries;

    n = scandir(folder, &entries, NULL, alphasort);
    assert_true(n > 0);

    for (i = 0; i < n; i++) {
        len = strlen(entries[i]->d_name);

        if (len > 5 && strcmp(entries[i]->d_name + len - 5, ".json") == 0) {
            suite_file(folder, entries[i]->d_name);
        }

        free(entries[i]);
    }

    free(entries);
}


static void
test_suite(void **state)
{
    (void) state;

    if (access(CORPUS, R_OK) != 0) {
        print_message("%s is not there: not run\n", CORPUS);
        skip();
    }

    passed = 0;
    left_out = 0;

    suite_folder(CORPUS);
    suite_folder(CORPUS "/optional");

    /* of the formats the two that are asserted */

    suite_file(CORPUS "/optional/format", "date-time.json");
    suite_file(CORPUS "/optional/format", "email.json");

    print_message("%u tests of the suite passed, %u skipped\n", passed,
                  left_out);

    /* none is left out without somebody having looked at it */

    assert_int_equal(passed, 1340);
    assert_int_equal(left_out, 181);
}


static relay_schema_t *
compile(const char *path)
{
    relay_str_t      text;
    relay_schema_t  *schema;

    text = slurp(path);
    schema = relay_schema_compile(&text, &err);
    free(text.data);

    if (schema == NULL) {
        fail_msg("%s: %.*s", path, (int) err.len, err.data);
    }

    return schema;
}


/* The first fault of a run is the one that the line names. */

static void
mutant_error(const relay_str_t *text, const relay_str_t *doc,
    const relay_schema_run_t *r)
{
    size_t       first;
    const char  *p;

    first = member(text, 0, "first_error");
    p = string(text, first, "keyword");

    if (strcmp(r->errors[0].keyword, p) != 0) {
        fail_msg("%s: %s", r->errors[0].keyword, string(text, 0, "name"));
    }

    relay_buf_reset(&err);

    assert_int_equal(relay_pointer_append(&tape, doc, r->errors[0].node, &err),
                     RELAY_OK);
    assert_int_equal(relay_buf_append_c(&err, '\0'), RELAY_OK);
    assert_string_equal((char *) err.data, string(text, first, "pointer"));
}


static void
test_mutants(void **state)
{
    char                *line;
    FILE                *fp;
    size_t               size, valid, invalid;
    ssize_t              n;
    relay_int_t          rc;
    relay_str_t          text, doc;
    relay_schema_t      *relay, *packet, *schema;
    relay_json_error_t   jerr;

    (void) state;

    fp = fopen(MUTANTS, "rb");

    if (fp == NULL) {
        print_message("%s is not there: not run\n", MUTANTS);
        skip();
    }

    relay = compile("schema/relay.context-package.v1.json");
    packet = compile("schema/ghostlight.responder_packet.v0.json");

    line = NULL;
    size = 0;
    valid = 0;
    invalid = 0;

    while ((n = getline(&line, &size, fp)) > 1) {

        text.data = (unsigned char *) line;
        text.len = (size_t) n;

        assert_int_equal(relay_json_parse(&suite, &text,
                                          &relay_json_default_limits, &jerr),
                         RELAY_OK);

        schema = strcmp(string(&text, 0, "schema"), "relay") == 0 ? relay
                                                                  : packet;
        doc = slice(&text, &suite, member(&text, 0, "doc"));

        assert_int_equal(relay_json_parse(&tape, &doc,
                                          &relay_json_default_limits, &jerr),
                         RELAY_OK);

        rc = relay_schema_validate(schema, &doc, &tape, &run);

        assert_int_equal(relay_schema_validate(schema, &doc, &tape, &fast),
                         rc);

        if (strcmp(string(&text, 0, "expect"), "valid") == 0) {

            if (rc != RELAY_OK) {
                fail_msg("%s is not valid", string(&text, 0, "name"));
            }

            valid++;

        } else {

            if (rc != RELAY_DECLINED) {
                fail_msg("%s is valid", string(&text, 0, "name"));
            }

            mutant_error(&text, &doc, &run);
            mutant_error(&text, &doc, &fast);
            check_errors(schema, &doc);

            invalid++;
        }
    }

    print_message("%zu valid, %zu not\n", valid, invalid);

    assert_true(valid > 0);
    assert_true(invalid > 0);

    free(line);
    fclose(fp);
    relay_schema_free(relay);
    relay_schema_free(packet);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_suite),
        cmocka_unit_test(test_mutants)
    };

    return cmocka_run_group_tests_name("relay_schema_suite", tests, setup,
                                       teardown);
}
