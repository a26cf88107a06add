
/*
 * Every row of the field table, and every condition in it, against the policy
 * of the package: a document that has each field once, and what is left of it.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE             /* strndup() */
#endif

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include <jansson.h>

#include "relay_data.h"
#include "relay_pointer.h"
#include "relay_view.h"
#include "view_fixture.h"
#include "view_table.h"


#define SCHEMA     "schema/relay.context-package.v1.json"
#define NAME       "relay.context-package.v1"

#define NOW        1780272000000LL      /* 2026-06-01T00:00:00Z */
#define DEPTH      16


typedef struct {
    const char  *path;          /* of the document; NULL: no more of them */
    const char  *json;          /* NULL: the member is removed */
} edit_t;


/*
 * What a case says: once the document is edited so, whether the text at path
 * is in a view (Y) or not (-), or the view is withheld (W); and which text is
 * there instead.
 */

typedef struct {
    edit_t       edits[4];
    const char  *path;
    const char  *gets;          /* recipient, link, pass-on, preview */
    const char  *instead;       /* in the views where it is not; NULL */
} case_t;


static const relay_view_e  views[] = {
    RELAY_VIEW_RECIPIENT, RELAY_VIEW_LINK, RELAY_VIEW_PASS_ON,
    RELAY_VIEW_PREVIEW
};

#define VIEWS  (sizeof(views) / sizeof(views[0]))


static const char           *why;


/* The steps of a path; returns how many. */

static size_t
steps(const char *path, char **names)
{
    size_t       n;
    const char  *end;

    for (n = 0; *path != '\0'; n++) {
        assert_true(n < DEPTH);
        end = strchrnul(path, '/');
        names[n] = strndup(path, end - path);
        path = (*end) ? end + 1 : end;
    }

    return n;
}


/* The value at a path; "*" is the first element. */

static json_t *
at(json_t *json, const char *path)
{
    char    *names[DEPTH];
    size_t   i, n;

    n = steps(path, names);

    for (i = 0; i < n; i++) {
        json = json_is_array(json)
               ? json_array_get(json, *names[i] == '*' ? 0 : atoi(names[i]))
               : json_object_get(json, names[i]);
        free(names[i]);
    }

    return json;
}


static void
put(json_t *doc, const char *path, json_t *value)
{
    char         up[256];
    json_t      *in;
    const char  *name;

    name = strrchr(path, '/');
    name = (name == NULL) ? path : name + 1;

    assert_true(strlen(path) < sizeof(up));
    memcpy(up, path, name - path);
    up[name - path - (name != path)] = '\0';

    in = at(doc, up);

    if (json_is_array(in)) {
        assert_int_equal(json_array_append_new(in, value), 0);

    } else if (value == NULL) {
        json_object_del(in, name);

    } else {
        assert_int_equal(json_object_set_new(in, name, value), 0);
    }
}


static const char *
last(const char *path)
{
    const char  *name;

    name = strrchr(path, '/');

    return (name == NULL) ? path : name + 1;
}


/* A value for a row with which every condition holds. */

static json_t *
value_for(const view_row_t *row)
{
    size_t   i;
    char     text[300];
    json_t  *value;

    static const struct {
        const char  *name;
        const char  *value;
    } marks[] = {
        { "provenance", "stated" }, { "visibility", "shareable" },
        { "verdict", "confirmed" }, { "restatementVerdict", "confirmed" },
        { "validUntil", "2099-12-31" }
    };

    switch (row->kind) {

    case 'o':
        return json_object();

    case 'a':
        return json_array();

    case 'f':
        return json_true();

    case 'm':
        for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
            if (strcmp(last(row->path), marks[i].name) == 0) {
                return json_string(marks[i].value);
            }
        }

        fail_msg("no mark for %s", row->path);
    }

    if (strcmp(row->path, "schema") == 0) {
        return json_string(NAME);
    }

    /* words of their own, so that no text names another */

    snprintf(text, sizeof(text), "probe of %s", row->path);
    value = json_string(text);

    return value;
}


/* The document that has every field once, and something beside it. */

static json_t *
everything(void)
{
    size_t   i;
    json_t  *doc, *list;

    doc = json_object();

    for (i = 1; i < VIEW_ROWS; i++) {
        put(doc, view_table[i].path, value_for(&view_table[i]));
    }

    list = at(doc, "context/sections");
    json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:i,s:s}",
        "id", "s-two", "title", "Second section", "body", "Second body",
        "version", 1, "visibility", "shareable"));

    list = at(doc, "context/sections/0/claims");
    json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:s}",
        "id", "c-two", "text", "Second claim.", "provenance", "stated",
        "visibility", "shareable"));

    json_object_set_new(at(doc, "context/sections/0"), "id",
                        json_string("s-one"));
    json_object_set_new(at(doc, "context/sections/0/claims/0"), "id",
                        json_string("c-one"));
    json_object_set_new(at(doc, "reasoning/variables/0"), "name",
                        json_string("start week"));

    return doc;
}


/* The view as text of the caller's; NULL: withheld. */

static char *
project_text(const char *text, relay_view_e view)
{
    char                 *result;
    size_t                i, n;
    relay_int_t           rc;
    relay_str_t           s;
    relay_json_error_t    err;
    relay_view_params_t   params;

    s.data = (unsigned char *) text;
    s.len = strlen(text);
    params.now = NOW;
    params.permission = RELAY_PERMISSION_READ;

    assert_int_equal(relay_json_parse(&tape, &s, &relay_json_default_limits,
                                      &err),
                     RELAY_OK);

    rc = relay_view_project(policy, &s, &tape, view, &params, &out, &why);

    if (rc != RELAY_OK) {
        assert_int_equal(rc, RELAY_DECLINED);
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


static json_t *
project(json_t *doc, relay_view_e view)
{
    char    *text, *result;
    json_t  *json;

    text = json_dumps(doc, JSON_COMPACT);
    result = project_text(text, view);
    json = NULL;

    if (result != NULL) {
        json = json_loads(result, JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(json);
    }

    free(result);
    free(text);

    return json;
}


static int
occurs(json_t *json, const char *needle)
{
    int          found;
    size_t       i;
    json_t      *value;
    const char  *key;

    if (json_is_string(json)) {
        return strcmp(json_string_value(json), needle) == 0;
    }

    found = 0;

    json_array_foreach(json, i, value) {
        found |= occurs(value, needle);
    }

    json_object_foreach(json, key, value) {
        found |= (strcmp(key, needle) == 0) | occurs(value, needle);
    }

    return found;
}


static const view_row_t *
row_of(const char *path)
{
    size_t  i;

    for (i = 0; i < VIEW_ROWS; i++) {
        if (strcmp(view_table[i].path, path) == 0) {
            return &view_table[i];
        }
    }

    return NULL;
}


/* Whether something around a row's value is withheld or made constant. */

static int
covered(const view_row_t *row, size_t view)
{
    char               up[256];
    char              *slash;
    const view_row_t  *above;

    snprintf(up, sizeof(up), "%s", row->path);

    while (*up != '\0') {
        slash = strrchr(up, '/');
        *(slash != NULL ? slash : up) = '\0';

        above = row_of(up);
        assert_non_null(above);

        if (strchr("-K", above->gets[view]) != NULL) {
            return 1;
        }
    }

    return 0;
}


/* The schema, written out as paths. */

static void
schema_paths(json_t *schema, json_t *node, const char *path, json_t *paths)
{
    char         below[256];
    json_t      *ref, *value;
    const char  *key;

    ref = json_object_get(node, "$ref");

    if (ref != NULL) {
        node = json_object_get(json_object_get(schema, "$defs"),
                               strrchr(json_string_value(ref), '/') + 1);
    }

    assert_non_null(node);
    json_object_set_new(paths, path, json_true());

    json_object_foreach(json_object_get(node, "properties"), key, value) {
        snprintf(below, sizeof(below), "%s%s%.60s", path, *path ? "/" : "",
                 key);
        schema_paths(schema, value, below, paths);
    }

    value = json_object_get(node, "items");

    if (value != NULL) {
        snprintf(below, sizeof(below), "%.250s/*", path);
        schema_paths(schema, value, below, paths);
    }
}


static void
test_schema(void **state)
{
    size_t       i;
    json_t      *schema, *paths, *value;
    const char  *path;

    schema = json_load_file(SCHEMA, 0, NULL);
    assert_non_null(schema);

    paths = json_object();
    schema_paths(schema, schema, "", paths);

    json_object_foreach(paths, path, value) {
        if (row_of(path) == NULL) {
            fail_msg("the table has no row for %s", path);
        }
    }

    for (i = 0; i < VIEW_ROWS; i++) {
        if (json_object_get(paths, view_table[i].path) == NULL) {
            fail_msg("the schema has no %s", view_table[i].path);
        }
    }

    assert_int_equal(json_object_size(paths), VIEW_ROWS);

    json_decref(paths);
    json_decref(schema);
}


/* Each row, while every condition holds. */

static void
test_rows(void **state)
{
    size_t             i, v;
    json_t            *doc, *view, *is, *expected;
    const view_row_t  *row;

    doc = everything();

    view = project(doc, RELAY_VIEW_OWNER);
    assert_true(json_equal(view, doc));
    json_decref(view);

    for (v = 0; v < VIEWS; v++) {

        view = project(doc, views[v]);
        assert_non_null(view);

        for (i = 0; i < VIEW_ROWS; i++) {
            row = &view_table[i];

            if (covered(row, v)) {
                continue;
            }

            is = at(view, row->path);

            switch (row->gets[v]) {

            case '-':
            case 'x':       /* nothing is corrected here */
                if (is != NULL) {
                    fail_msg("%s in %s", row->path,
                             relay_view_name(views[v])->data);
                }

                break;

            case '0':
                assert_non_null(is);
                assert_string_equal(json_string_value(is), "");
                break;

            case 'K':
                expected = json_loads(row->constant, JSON_DECODE_ANY, NULL);
                assert_true(json_equal(is, expected));
                json_decref(expected);
                break;

            default:
                if (is == NULL
                    || (row->kind != 'o' && row->kind != 'a'
                        && !json_equal(is, at(doc, row->path))))
                {
                    fail_msg("%s not in %s", row->path,
                             relay_view_name(views[v])->data);
                }
            }
        }

        json_decref(view);
    }

    json_decref(doc);
}


/* A mark of a type that cannot be read withholds the document from all. */

static void
test_marks(void **state)
{
    size_t             i, k, v;
    json_t            *doc, *view;
    const view_row_t  *row;

    static const char  *types[] = {
        "null", "1", "[]", "{}", "[\"shareable\"]", "{\"a\":true}", "0.5"
    };

    for (i = 0; i < VIEW_ROWS; i++) {
        row = &view_table[i];

        if (row->kind != 'm' && row->kind != 'f') {
            continue;
        }

        for (k = 0; k <= sizeof(types) / sizeof(types[0]); k++) {

            doc = everything();
            put(doc, row->path,
                k < sizeof(types) / sizeof(types[0])
                ? json_loads(types[k], JSON_DECODE_ANY, NULL)
                : row->kind == 'm' ? json_true() : json_string("true"));

            for (v = 0; v < VIEWS; v++) {
                if (project(doc, views[v]) != NULL) {
                    fail_msg("%s of type %zu in %s", row->path, k,
                             relay_view_name(views[v])->data);
                }

                assert_string_equal(why, "a mark has the wrong type");
            }

            view = project(doc, RELAY_VIEW_OWNER);
            assert_true(json_equal(view, doc));
            json_decref(view);
            json_decref(doc);
        }
    }
}


/* What no row is for, and values of another shape than their row's. */

static void
test_shapes(void **state)
{
    size_t             i, v;
    json_t            *doc, *view, *value;
    const view_row_t  *row;

    for (i = 1; i < VIEW_ROWS; i++) {
        row = &view_table[i];

        if (strchr(row->path, '*') == row->path + strlen(row->path) - 1
            || row->kind == 'm' || row->kind == 'f'
            || strcmp(row->path, "schema") == 0)
        {
            continue;
        }

        doc = everything();
        value = (row->kind == 'o' || row->kind == 'a')
                ? json_string("SALT")
                : json_pack("[s,{s:s,s:s}]", "SALT", "text", "SALT", "SALT",
                            "id");

        /* the statement cannot be sought when it is no text */

        put(doc, row->path, value);

        for (v = 0; v < VIEWS; v++) {
            view = project(doc, views[v]);

            if (view != NULL && occurs(view, "SALT")) {
                fail_msg("%s of another shape in %s", row->path,
                         relay_view_name(views[v])->data);
            }

            if (view == NULL && strcmp(row->path, "intent/statement") != 0
                && strncmp(row->path, "context", 7) != 0)
            {
                fail_msg("%s of another shape: withheld: %s", row->path, why);
            }

            json_decref(view);
        }

        json_decref(doc);
    }

    for (i = 0; i < VIEW_ROWS; i++) {
        row = &view_table[i];

        if (row->kind != 'o') {
            continue;
        }

        doc = everything();
        json_object_set_new(at(doc, row->path), "x-note",
                            json_string("SALT"));
        json_object_set_new(at(doc, row->path), "SALT", json_object());
        json_object_set_new(at(doc, row->path), "Visibility",
                            json_string("SALT"));

        for (v = 0; v < VIEWS; v++) {
            view = project(doc, views[v]);
            assert_non_null(view);

            if (occurs(view, "SALT")) {
                fail_msg("an unknown member of %s in %s", row->path,
                         relay_view_name(views[v])->data);
            }

            json_decref(view);
        }

        json_decref(doc);
    }
}


#define LABELS       "representation/fidelity/labelInterpretations"
#define VERDICT      "interpretation/restatementVerdict"
#define INFERENCE    "interpretation/inferences/0/"
#define SECTION      "context/sections/0/"
#define CLAIM        "context/sections/0/claims/0/"
#define VARIABLE     "reasoning/variables/0/"
#define SLIDE        "attachments/0/slides/0/"
#define CHECK        "representation/fidelityChecks/0/"

#define INFERRED     "\"inferred\""
#define ONLY         "\"recipient-only\""


static const case_t  cases[] = {

    /* the private statement is nobody's, and nothing repeats it */

    { {{ "title", "\"It is: probe of intent/statement.\"" }},
      "title", "----", "" },
    { {{ "intent/statement", "\" short \\n\"" }, { "title", "\"short\"" }},
      "title", "----", "" },
    { {{ "intent/statement", "\"short\"" }, { "title", "\"a short one\"" }},
      "title", "YY-Y", NULL },
    { {{ "intent/statement", "\"  \"" }}, "summary", "YY-Y", NULL },
    { {{ "intent/statement", NULL }}, "summary", "YY-Y", NULL },

    /* a restatement that the owner has neither confirmed nor corrected */

    { {{ VERDICT, "\"corrected\"" }}, "interpretation/restatement", "YY--",
      NULL },
    { {{ VERDICT, "\"rejected\"" }}, "interpretation/restatement", "----",
      "" },
    { {{ VERDICT, "\"unreviewed\"" }}, "interpretation/restatement", "----",
      "" },
    { {{ VERDICT, NULL }}, "interpretation/restatement", "----", "" },
    { {{ VERDICT, "\"Confirmed\"" }}, "interpretation/restatement", "----",
      "" },
    { {{ VERDICT, "\"rejected\"" }}, VERDICT, "----", NULL },

    /* inferences by verdict, and the reading of a corrected one */

    { {{ INFERENCE "verdict", "\"unreviewed\"" }}, INFERENCE "reading",
      "YY--", NULL },
    { {{ INFERENCE "verdict", "\"unreviewed\"" }, { LABELS, "false" }},
      INFERENCE "reading", "----", NULL },
    { {{ INFERENCE "verdict", "\"unreviewed\"" }, { LABELS, NULL }},
      INFERENCE "reading", "----", NULL },
    { {{ LABELS, "false" }}, INFERENCE "reading", "YY--", NULL },
    { {{ INFERENCE "verdict", "\"rejected\"" }}, INFERENCE "reading", "----",
      NULL },
    { {{ INFERENCE "verdict", "\"rejected\"" }}, INFERENCE "id", "----",
      NULL },
    { {{ INFERENCE "verdict", NULL }}, INFERENCE "reading", "----", NULL },
    { {{ INFERENCE "verdict", "\"CONFIRMED\"" }}, INFERENCE "reading", "----",
      NULL },
    { {{ INFERENCE "verdict", "\"corrected\"" }}, INFERENCE "reading", "----",
      NULL },
    { {{ INFERENCE "verdict", "\"corrected\"" }}, INFERENCE "correction",
      "YY--", NULL },
    { {{ INFERENCE "verdict", "\"corrected\"" }}, INFERENCE "confidence",
      "----", NULL },
    { {{ INFERENCE "verdict", "\"corrected\"" },
       { INFERENCE "correction", NULL }}, INFERENCE "reading", "----", "" },
    { {{ INFERENCE "verdict", "\"corrected\"" },
       { INFERENCE "correction", "\"So: probe of intent/statement\"" }},
      INFERENCE "correction", "----", "" },

    /* inferred values that are not required, where nothing is labelled */

    { {{ "intent/whyNow/provenance", INFERRED }}, "intent/whyNow/text",
      "YY--", NULL },
    { {{ "intent/whyNow/provenance", INFERRED }, { LABELS, "false" }},
      "intent/whyNow/text", "----", NULL },
    { {{ "intent/whyNow/provenance", NULL }, { LABELS, "false" }},
      "intent/whyNow/text", "----", NULL },
    { {{ "intent/whyThisAudience/provenance", INFERRED },
       { LABELS, "false" }}, "intent/whyThisAudience/text", "----", NULL },
    { {{ "intent/interests/0/provenance", INFERRED }, { LABELS, "false" }},
      "intent/interests/0/text", "----", NULL },
    { {{ "intent/priorities/0/provenance", INFERRED }, { LABELS, "false" }},
      "intent/priorities/0/text", "----", NULL },
    { {{ "intent/nonGoals/0/provenance", INFERRED }, { LABELS, "false" }},
      "intent/nonGoals/0/text", "----", NULL },
    { {{ "intent/successLooksLike/0/provenance", INFERRED },
       { LABELS, "false" }}, "intent/successLooksLike/0/text", "----", NULL },
    { {{ "intent/outcome/provenance", INFERRED }, { LABELS, "false" }},
      "intent/outcome/text", "YY--", NULL },
    { {{ "intent/ask/detail/provenance", INFERRED }, { LABELS, "false" }},
      "intent/ask/detail/text", "YY--", NULL },
    { {{ "reasoning/decisions/0/rationale/provenance", INFERRED },
       { LABELS, "false" }}, "reasoning/decisions/0/rationale/text", "----",
      NULL },
    { {{ "reasoning/decisions/0/options/0/ownerView/provenance", INFERRED },
       { LABELS, "false" }},
      "reasoning/decisions/0/options/0/ownerView/text", "----", NULL },
    { {{ "reasoning/counterarguments/0/ownerResponse/provenance", INFERRED },
       { LABELS, "false" }},
      "reasoning/counterarguments/0/ownerResponse/text", "----", NULL },
    { {{ "reasoning/assumptions/0/provenance", NULL }, { LABELS, "false" }},
      "reasoning/assumptions/0/statement", "----", NULL },
    { {{ "reasoning/assumptions/0/provenance", NULL }},
      "reasoning/assumptions/0/statement", "YY--", NULL },
    { {{ VARIABLE "provenance", NULL }, { LABELS, "false" }},
      VARIABLE "value", "--Y-", NULL },
    { {{ VARIABLE "provenance", INFERRED }, { LABELS, "false" }},
      VARIABLE "value", "--Y-", NULL },

    /* sections, claims and variables: no mark is a strict one */

    { {{ SECTION "visibility", NULL }}, SECTION "title", "Y---", NULL },
    { {{ SECTION "visibility", ONLY }}, SECTION "title", "Y---", NULL },
    { {{ SECTION "visibility", "\"Shareable\"" }}, SECTION "title", "Y---",
      NULL },
    { {{ SECTION "visibility", "\"shareable \"" }}, SECTION "title", "Y---",
      NULL },
    { {{ SECTION "visibility", "\"\"" }}, SECTION "title", "Y---", NULL },
    { {{ SECTION "visibility", ONLY },
       { "context/sections/1/visibility", ONLY }}, SECTION "title", "YWW-",
      NULL },
    { {{ "context/sections", "[]" }}, "title", "WWWY", NULL },
    { {{ "context", NULL }}, "title", "WWWY", NULL },
    { {{ VARIABLE "visibility", NULL }}, VARIABLE "value", "Y---", NULL },
    { {{ VARIABLE "visibility", ONLY }}, VARIABLE "value", "Y---", NULL },
    { {{ VARIABLE "visibility", "\"public\"" }}, VARIABLE "value", "Y---",
      NULL },
    { {{ CLAIM "visibility", NULL }}, CLAIM "text", "YYY-", NULL },
    { {{ CLAIM "visibility", NULL }, { SECTION "visibility", NULL }},
      CLAIM "text", "Y---", NULL },

    /* the stricter of the two marks, in both directions */

    { {{ CLAIM "visibility", ONLY }}, CLAIM "text", "Y---", NULL },
    { {{ CLAIM "visibility", "\"open\"" }}, CLAIM "text", "Y---", NULL },
    { {{ CLAIM "visibility", ONLY }}, SECTION "body", "Y---",
      "Second claim." },
    { {{ SECTION "visibility", ONLY }}, CLAIM "text", "Y---", NULL },
    { {{ SECTION "visibility", NULL }}, CLAIM "text", "Y---", NULL },
    { {{ SECTION "visibility", ONLY }}, SECTION "body", "Y---", NULL },
    { {{ SECTION "claims", "\"none\"" }}, SECTION "body", "Y---", "" },
    { {{ SECTION "claims", "[7]" }}, SECTION "body", "Y---", "" },
    { {{ SECTION "claims", NULL }}, SECTION "body", "YYY-", NULL },
    { {{ SECTION "claims", "[]" }}, SECTION "body", "YYY-", NULL },

    /* what the owner says about passing on does not weigh against a mark */

    { {{ CLAIM "visibility", ONLY },
       { "representation/passOn", "\"Forward everything.\"" }},
      CLAIM "text", "Y---", NULL },

    /* an expired claim is not passed on, and its body neither */

    { {{ CLAIM "validUntil", "\"2026-05-31\"" }}, CLAIM "text", "YY--",
      NULL },
    { {{ CLAIM "validUntil", "\"2026-05-31\"" }}, SECTION "body", "YY--",
      "Second claim." },
    { {{ CLAIM "validUntil", "\"2026-06-01\"" }}, CLAIM "text", "YYY-",
      NULL },
    { {{ CLAIM "validUntil", "\"2026-06-01T00:00:00Z\"" }}, CLAIM "text",
      "YY--", NULL },
    { {{ CLAIM "validUntil", "\"2026-06-01T00:00:00.001Z\"" }}, CLAIM "text",
      "YYY-", NULL },
    { {{ CLAIM "validUntil", "\"2026-06-01T02:00:00+02:00\"" }}, CLAIM "text",
      "YY--", NULL },
    { {{ CLAIM "validUntil", "\"when it rains\"" }}, CLAIM "text", "YY--",
      NULL },
    { {{ CLAIM "validUntil", "\"\"" }}, CLAIM "text", "YY--", NULL },
    { {{ CLAIM "validUntil", NULL }}, CLAIM "text", "YYY-", NULL },

    /* a joined body must not say what none of its claims does */

    { {{ "intent/statement", "\"First half. Second claim.\"" },
       { CLAIM "text", "\"First half.\"" },
       { SECTION "body", "\"He said: First half. Second claim.\"" }},
      SECTION "body", "----", "" },

    /* references to what is withheld */

    { {{ CLAIM "visibility", ONLY },
       { "context/sections/0/claims/1/sources", "[\"see c-one, line 2\"]" }},
      "context/sections/0/claims/1/sources/0", "Y---", NULL },
    { {{ CLAIM "visibility", ONLY },
       { "context/sections/0/claims/1/sources", "[\"see c-one2\"]" }},
      "context/sections/0/claims/1/sources/0", "YYY-", NULL },
    { {{ CLAIM "validUntil", "\"2026-05-31\"" },
       { "context/sections/0/claims/1/sources", "[\"(c-one)\"]" }},
      "context/sections/0/claims/1/sources/0", "YY--", NULL },
    { {{ SECTION "visibility", ONLY },
       { SLIDE "supports", "[\"s-one\", \"s-two\"]" }},
      SLIDE "supports/0", "Y---", NULL },
    { {{ SECTION "visibility", ONLY },
       { SLIDE "supports", "[\"s-one\", \"s-two\"]" }},
      SLIDE "title", "YY--", NULL },
    { {{ SECTION "visibility", ONLY }, { SLIDE "supports", "[\"s-one\"]" }},
      SLIDE "title", "Y---", NULL },
    { {{ SLIDE "supports", "[]" }}, SLIDE "title", "YY--", NULL },
    { {{ SLIDE "supports", "[[\"s-two\"]]" }}, SLIDE "title", "Y---", NULL },
    { {{ SECTION "visibility", ONLY },
       { "lifecycle/staleSections", "[\"s-one\", \"s-two\"]" }},
      "lifecycle/staleSections/0", "Y---", NULL },
    { {{ SECTION "visibility", ONLY },
       { "reasoning/evidence/0/supports", "\"c-one\"" }},
      "reasoning/evidence/0/pointer", "Y---", NULL },
    { {{ SECTION "visibility", ONLY },
       { "reasoning/evidence/0/pointer", "\"page 3 of s-one\"" }},
      "reasoning/evidence/0/pointer", "Y---", NULL },
    { {{ SECTION "visibility", ONLY },
       { "reasoning/evidence/0/x-note", "\"s-one\"" }},
      "reasoning/evidence/0/pointer", "YY--", NULL },
    { {{ VARIABLE "visibility", ONLY },
       { "reasoning/variables", "[{\"name\":\"fee\",\"gate\":\"hard\","
         "\"visibility\":\"shareable\",\"provenance\":\"stated\","
         "\"tradesAgainst\":[\"the start week\"]},"
         "{\"name\":\"start week\",\"gate\":\"soft\"}]" }},
      "reasoning/variables/0/tradesAgainst/0", "Y---", NULL },

    /* a rehearsed answer to what only the owner answers */

    { {{ "representation/mustAskOwner", "[\"Fees\"]" },
       { CHECK "question", "\"fees?\"" }},
      CHECK "approvedAnswer", "----", NULL },
    { {{ "representation/mustAskOwner", "[\"x\", \" The  total-FEE ... \"]" },
       { CHECK "question", "\"the total fee\"" }},
      CHECK "approvedAnswer", "----", NULL },
    { {{ "representation/mustAskOwner", "[\"The fees\"]" },
       { CHECK "question", "\"fees?\"" }},
      CHECK "approvedAnswer", "Y---", NULL },
    { {{ "representation/mustAskOwner", "\"fees\"" },
       { CHECK "question", "\"fees?\"" }},
      CHECK "approvedAnswer", "----", NULL },
    { {{ "representation/mustAskOwner", "[{\"topic\":\"fees\"}]" }},
      CHECK "approvedAnswer", "----", NULL },
    { {{ CHECK "question", NULL }}, CHECK "approvedAnswer", "----", NULL },
    { {{ CHECK "question", NULL },
       { "representation/mustAskOwner", "[]" }},
      CHECK "approvedAnswer", "Y---", NULL }
};


static void
test_cases(void **state)
{
    size_t         i, k, v;
    json_t        *doc, *view;
    const char    *text;
    const case_t  *c;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        c = &cases[i];

        doc = everything();

        for (k = 0; k < 4 && c->edits[k].path != NULL; k++) {
            put(doc, c->edits[k].path,
                c->edits[k].json == NULL ? NULL
                : json_loads(c->edits[k].json, JSON_DECODE_ANY, NULL));
        }

        text = json_string_value(at(doc, c->path));

        for (v = 0; v < VIEWS; v++) {
            view = project(doc, views[v]);

            if ((c->gets[v] == 'W') != (view == NULL)) {
                fail_msg("case %zu, %s %s: %s withheld", i, c->edits[0].path,
                         relay_view_name(views[v])->data,
                         view == NULL ? "is" : "is not");
            }

            if (view == NULL) {
                continue;
            }

            if (text != NULL && occurs(view, text) != (c->gets[v] == 'Y')) {
                fail_msg("case %zu, %s %s: \"%s\" %s", i, c->edits[0].path,
                         relay_view_name(views[v])->data, text,
                         c->gets[v] == 'Y' ? "is missing" : "is there");
            }

            if (c->instead != NULL && c->gets[v] == '-'
                && at(view, c->path) != NULL)
            {
                assert_string_equal(json_string_value(at(view, c->path)),
                                    c->instead);
            }

            /* where a text is emptied, the recipient's view has the member */

            if (c->instead != NULL && *c->instead == '\0' && v == 0
                && c->gets[v] == '-')
            {
                assert_non_null(at(view, c->path));
            }

            json_decref(view);
        }

        json_decref(doc);
    }
}


/* Notes: one for each thing that is left out or changed. */

typedef struct {
    json_t             *pointers;
    const relay_str_t  *doc;
    size_t              n;
    size_t              written;
} notes_t;


static void
take_note(void *data, const relay_view_note_t *note)
{
    notes_t      *notes;
    relay_buf_t   buf;
    char          text[4096];

    notes = data;
    relay_buf_init(&buf, 4096);

    assert_int_equal(relay_pointer_append(&tape, notes->doc, note->node, &buf),
                     RELAY_OK);
    assert_int_equal(relay_buf_append_c(&buf, '\0'), RELAY_OK);

    snprintf(text, sizeof(text), "%s|%.*s|%.*s|%.*s", note->what,
             (int) note->word.len, note->word.data,
             (int) note->place.len, note->place.data,
             (int) note->because.len, note->because.data);

    json_object_set_new(notes->pointers, (char *) buf.data,
                        json_string(text));

    relay_buf_free(&buf);

    notes->n++;
    notes->written += (strcmp(note->what, "given a mark") == 0);

    assert_true(strlen(note->what) > 0);
    assert_true(note->place.len > 0 || note->because.len > 0);
}


static void
test_notes(void **state)
{
    char               *text, *a, *b, pointer[300];
    size_t              i, k, v, plain;
    json_t             *doc;
    notes_t             notes;
    relay_str_t         s;
    const view_row_t   *row;

    static const struct {
        size_t       view;
        const char  *pointer;
        const char  *note;
    } expected[] = {
        { 0, "/intent/statement", "blanked|blank|/fields/intent/statement|" },
        { 0, "/intent/outcome/agentReading",
          "dropped|drop|/defs/value/agentReading|" },
        { 0, "/x~1note", "dropped|||no rule knows this name" },
        { 0, "/changeNote", "dropped|keep|/fields/changeNote|it is of another"
                            " shape than the rule" },
        { 0, "/title", "blanked|keep|/fields/title|it repeats the private"
                       " text" },
        { 0, "/interpretation/inferences/0",
          "dropped|by|/fields/interpretation/inferences/$each|"
          "verdict is \"rejected\"" },
        { 0, "/representation/fidelityChecks/0",
          "dropped|unasked|/fields/representation/fidelityChecks/$each|"
          "the owner alone answers this" },
        { 1, "/reasoning/evidence/0",
          "dropped|unnamed|/fields/reasoning/evidence/$each|"
          "it names \"c-one\", which is withheld" },
        { 1, "/attachments/0/slides/0",
          "dropped|left|/fields/attachments/$each/slides/$each|"
          "nothing is left in supports" },
        { 1, "/reasoning/variables/0",
          "dropped|marked+by|/fields/reasoning/variables/$each|"
          "there is no visibility" },
        { 1, "/context/sections/0/claims/0",
          "dropped|marked|/fields/context/sections/$each/claims/$each|"
          "visibility is \"recipient-only\"" },
        { 1, "/context/sections/0/body",
          "joined|joined|/fields/context/sections/$each/body|"
          "one of claims is withheld" },
        { 2, "/context/sections/0/claims/1",
          "dropped|marked+fresh|/fields/context/sections/$each/claims/$each|"
          "validUntil is \"2026-01-01\", which is over or no time" },
        { 2, "/context/sections/0/claims/2",
          "given a mark|marked+fresh|/fields/context/sections/$each/claims/"
          "$each|it has that of what is around it" },
        { 2, "/depth", "made constant|constant|/fields/depth|" },
        { 3, "/context", "dropped|drop|/fields/context|" }
    };

    /* where every condition holds: the words of the policy alone */

    doc = everything();
    text = json_dumps(doc, JSON_COMPACT);
    s.data = (unsigned char *) text;
    s.len = strlen(text);

    for (v = 0; v < VIEWS; v++) {

        a = project_text(text, views[v]);
        plain = out.withheld;

        notes.pointers = json_object();
        notes.doc = &s;
        notes.n = 0;
        notes.written = 0;
        out.note = take_note;
        out.note_data = &notes;

        b = project_text(text, views[v]);
        out.note = NULL;

        /* that somebody listens changes nothing */

        assert_string_equal(a, b);
        assert_int_equal(out.withheld, plain);
        assert_int_equal(notes.n, plain);
        assert_int_equal(json_object_size(notes.pointers), notes.n);

        for (i = 0; i < VIEW_ROWS; i++) {
            row = &view_table[i];

            if (covered(row, v) || strchr("-0Kx", row->gets[v]) == NULL) {
                continue;
            }

            pointer[0] = '/';

            for (k = 0; row->path[k] != '\0'; k++) {
                pointer[k + 1] = row->path[k] == '*' ? '0' : row->path[k];
            }

            pointer[k + 1] = '\0';

            if (json_object_get(notes.pointers, pointer) == NULL) {
                fail_msg("no note for %s in %s", pointer,
                         relay_view_name(views[v])->data);
            }
        }

        json_decref(notes.pointers);
        free(a);
        free(b);
    }

    free(text);

    /* and what each condition says where it does not */

    json_object_set_new(doc, "x/note", json_integer(1));
    put(doc, "changeNote", json_array());
    put(doc, "title", json_string("probe of intent/statement"));
    put(doc, INFERENCE "verdict", json_string("rejected"));
    put(doc, "representation/mustAskOwner",
        json_pack("[s]", "Probe of representation fidelitychecks QUESTION"));
    put(doc, CHECK "question",
        json_string("probe of representation/fidelityChecks/question"));
    put(doc, CLAIM "visibility", json_string("recipient-only"));
    put(doc, "context/sections/0/claims/1/validUntil",
        json_string("2026-01-01"));
    json_array_append_new(at(doc, "context/sections/0/claims"),
                          json_pack("{s:s}", "text", "Third claim."));
    put(doc, "reasoning/evidence/0/supports", json_string("c-one"));
    put(doc, SLIDE "supports", json_pack("[s]", "c-one"));
    put(doc, VARIABLE "visibility", NULL);

    text = json_dumps(doc, JSON_COMPACT);
    s.data = (unsigned char *) text;
    s.len = strlen(text);

    for (v = 0; v < VIEWS; v++) {

        notes.pointers = json_object();
        notes.n = 0;
        notes.written = 0;
        out.note = take_note;
        free(project_text(text, views[v]));
        out.note = NULL;

        assert_int_equal(notes.n, out.withheld);
        assert_int_equal(notes.written, v == 2);

        for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
            if (expected[i].view == v) {
                assert_non_null(json_object_get(notes.pointers,
                                                expected[i].pointer));
                assert_string_equal(
                    json_string_value(json_object_get(notes.pointers,
                                                      expected[i].pointer)),
                    expected[i].note);
            }
        }

        json_decref(notes.pointers);
    }

    free(text);
    json_decref(doc);
}


/* The place of a withheld document's fault. */

static void
test_fault(void **state)
{
    char         *text;
    size_t        v;
    json_t       *doc;
    relay_buf_t   buf;
    relay_str_t   s;

    doc = everything();
    put(doc, "context/sections/0/claims/1/visibility", json_null());
    text = json_dumps(doc, JSON_COMPACT);
    s.data = (unsigned char *) text;
    s.len = strlen(text);

    relay_buf_init(&buf, 4096);

    for (v = 0; v < VIEWS; v++) {
        assert_null(project_text(text, views[v]));

        relay_buf_reset(&buf);
        assert_int_equal(relay_pointer_append(&tape, &s, out.fault, &buf),
                         RELAY_OK);
        assert_int_equal(relay_buf_append_c(&buf, '\0'), RELAY_OK);
        assert_string_equal(buf.data,
                            "/context/sections/0/claims/1/visibility");
    }

    relay_buf_free(&buf);
    free(text);
    json_decref(doc);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_schema),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_fault)
    };

    return cmocka_run_group_tests_name("relay_view, rows", tests, setup,
                                       teardown);
}
