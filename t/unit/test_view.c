
/*
 * Unit tests of lib/relay_view.c, with the policy of the package and the
 * worked examples.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#include <jansson.h>

#include "relay_view.h"


#define POLICY     "schema/views/relay.context-package.v1.json"
#define PILOT      "schema/examples/pilot.relay.json"
#define BRIEF      "schema/examples/brief.relay.json"
#define CANARIES   "schema/examples/pilot.canaries.json"
#define EXAMPLES   "schema/examples/views/"

#define JUNE_2026  1780272000000LL          /* 2026-06-01T00:00:00Z */


static relay_view_policy_t  *policy;
static relay_json_tape_t     tape;
static relay_view_out_t      out;
static const char           *why;

static const relay_view_e  views[] = {
    RELAY_VIEW_RECIPIENT, RELAY_VIEW_LINK, RELAY_VIEW_PASS_ON,
    RELAY_VIEW_PREVIEW
};


static char *
slurp(const char *name, size_t *len)
{
    char  *p;
    long   n;
    FILE  *fp;

    fp = fopen(name, "rb");
    if (fp == NULL) {
        fail_msg("%s is missing", name);
    }

    assert_int_equal(fseek(fp, 0, SEEK_END), 0);
    n = ftell(fp);
    assert_true(n >= 0);
    rewind(fp);

    p = malloc(n + 1);
    assert_non_null(p);
    assert_int_equal(fread(p, 1, n, fp), n);
    p[n] = '\0';
    *len = n;

    fclose(fp);

    return p;
}


/*
 * Projects, and returns the view as one string of the caller's, or NULL when
 * it is withheld.  The document is a copy without a byte to spare, so that a
 * sanitizer sees every read beyond it.
 */

static char *
project_as(const relay_view_policy_t *pl, const char *doc, size_t len,
    relay_view_e view, int64_t now, relay_permission_e permission)
{
    char                 *view_text, *p, *copy;
    size_t                i;
    relay_int_t           rc;
    relay_str_t           s;
    relay_json_error_t    err;
    relay_view_params_t   params;

    copy = malloc(len);
    assert_non_null(copy);
    memcpy(copy, doc, len);

    s.data = (unsigned char *) copy;
    s.len = len;

    rc = relay_json_parse(&tape, &s, &relay_json_default_limits, &err);

    if (rc != RELAY_OK) {
        fail_msg("%s at line %zu, column %zu", err.text, err.line, err.column);
    }

    params.now = now;
    params.permission = permission;

    rc = relay_view_project(pl, &s, &tape, view, &params, &out, &why);

    assert_int_not_equal(rc, RELAY_ERROR);

    if (rc == RELAY_DECLINED) {
        assert_non_null(why);
        assert_int_equal(out.n, 0);
        assert_int_equal(out.len, 0);
        free(copy);
        return NULL;
    }

    assert_null(why);

    view_text = malloc(out.len + 1);
    assert_non_null(view_text);

    p = view_text;

    for (i = 0; i < out.n; i++) {
        assert_true(out.spans[i].len > 0);
        memcpy(p, out.spans[i].data, out.spans[i].len);
        p += out.spans[i].len;
    }

    assert_int_equal(p - view_text, out.len);
    *p = '\0';

    free(copy);

    return view_text;
}


static char *
project(const char *doc, relay_view_e view)
{
    return project_as(policy, doc, strlen(doc), view, JUNE_2026,
                      RELAY_PERMISSION_READ);
}


static json_t *
load(const char *text)
{
    json_t        *json;
    json_error_t   err;

    json = json_loads(text, JSON_REJECT_DUPLICATES, &err);

    if (json == NULL) {
        fail_msg("line %d, column %d: %s in %s", err.line, err.column,
                 err.text, text);
    }

    return json;
}


/* The view of a document that jansson holds, as jansson reads it. */

static json_t *
view_of(json_t *doc, relay_view_e view)
{
    char    *text, *result;
    json_t  *json;

    text = json_dumps(doc, JSON_COMPACT);
    assert_non_null(text);

    result = project(text, view);
    json = (result != NULL) ? load(result) : NULL;

    free(text);
    free(result);

    return json;
}


static json_t *
pilot(void)
{
    char    *text;
    size_t   len;
    json_t  *json;

    text = slurp(PILOT, &len);
    json = load(text);
    free(text);

    return json;
}


/* A value by names and numbers, "context/sections/0/body". */

static json_t *
at(json_t *json, const char *path)
{
    char         name[64];
    size_t       n;
    const char  *p, *end;

    for (p = path; *p != '\0' && json != NULL; p = (*end) ? end + 1 : end) {

        end = strchr(p, '/');
        if (end == NULL) {
            end = p + strlen(p);
        }

        n = end - p;
        assert_true(n < sizeof(name));
        memcpy(name, p, n);
        name[n] = '\0';

        json = json_is_array(json) ? json_array_get(json, atoi(name))
                                   : json_object_get(json, name);
    }

    return json;
}


static const char *
text_at(json_t *json, const char *path)
{
    json_t  *value;

    value = at(json, path);
    assert_non_null(value);
    assert_true(json_is_string(value));

    return json_string_value(value);
}


/* Whether a text occurs in the view, decoded or as it is written. */

static int
occurs(json_t *json, const char *needle)
{
    int      found;
    char    *text;
    size_t   i;
    json_t  *value;

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

    text = json_dumps(json, JSON_ENCODE_ANY);
    found |= (strstr(text, needle) != NULL);
    free(text);

    return found;
}


static int
setup(void **state)
{
    char         *text;
    size_t        len;
    relay_buf_t   err;
    relay_str_t   s;

    text = slurp(POLICY, &len);
    s.data = (unsigned char *) text;
    s.len = len;

    relay_buf_init(&err, 4096);
    policy = relay_view_compile(&s, &err);

    if (policy == NULL) {
        fprintf(stderr, "%.*s\n", (int) err.len, err.data);
    }

    relay_buf_free(&err);
    free(text);

    relay_json_tape_init(&tape);
    relay_view_out_init(&out);

    return policy == NULL;
}


static int
teardown(void **state)
{
    relay_view_policy_free(policy);
    relay_json_tape_free(&tape);
    relay_view_out_free(&out);

    return 0;
}


static void
test_names(void **state)
{
    int          i;
    relay_str_t  s;

    for (i = RELAY_VIEW_OWNER; i < RELAY_VIEW_MAX; i++) {
        assert_int_equal(relay_view_by_name(relay_view_name(i)), i);
    }

    relay_str_set(&s, "pass-on");
    assert_int_equal(relay_view_by_name(&s), RELAY_VIEW_PASS_ON);
    relay_str_set(&s, "Owner");
    assert_int_equal(relay_view_by_name(&s), RELAY_VIEW_NONE);
    relay_str_set(&s, "");
    assert_int_equal(relay_view_by_name(&s), RELAY_VIEW_NONE);
    assert_int_equal(relay_view_name(99)->len, 0);

    assert_true(relay_str_is(relay_view_policy_schema(policy),
                             "relay.context-package.v1"));
    assert_int_equal(relay_view_policy_digest(policy)->len, RELAY_DIGEST_LEN);
}


static void
test_examples(void **state)
{
    char    *doc, *expected, *view;
    size_t   i, len, n;
    json_t  *a, *b;

    static const struct {
        relay_view_e   view;
        const char    *file;
    } cases[] = {
        { RELAY_VIEW_RECIPIENT, EXAMPLES "recipient-agent.json" },
        { RELAY_VIEW_PASS_ON, EXAMPLES "pass-on.json" },
        { RELAY_VIEW_PREVIEW, EXAMPLES "pre-accept.json" }
    };

    doc = slurp(PILOT, &len);

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {

        expected = slurp(cases[i].file, &n);
        view = project(doc, cases[i].view);
        assert_non_null(view);

        a = load(expected);
        b = load(view);

        if (!json_equal(a, b)) {
            fail_msg("not %s: %s", cases[i].file, view);
        }

        json_decref(a);
        json_decref(b);
        free(expected);
        free(view);
    }

    free(doc);
}


static void
test_owner(void **state)
{
    char    *doc, *view;
    size_t   len;

    doc = slurp(PILOT, &len);

    view = project(doc, RELAY_VIEW_OWNER);

    assert_non_null(view);
    assert_int_equal(out.n, 1);
    assert_int_equal(out.withheld, 0);
    assert_int_equal(out.len, len);
    assert_memory_equal(view, doc, len);

    free(view);
    free(doc);
}


/* The order of the root's members, and that of the kept ones among them. */

static void
test_order(void **state)
{
    char        *doc, *view;
    size_t       i, len;
    const char  *p, *last;

    static const char  *names[] = {
        "\"schema\":", "\"id\":", "\"version\":", "\"owner\":",
        "\"producedBy\":", "\"representation\":", "\"audience\":",
        "\"intent\":", "\"interpretation\":", "\"context\":", "\"interaction\":"
    };

    doc = slurp(PILOT, &len);

    view = project(doc, RELAY_VIEW_RECIPIENT);
    last = view;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        p = strstr(view, names[i]);
        assert_non_null(p);
        assert_true(p >= last);
        last = p;
    }

    free(view);
    free(doc);

    /* it is moved from wherever it stands, and stays where it is right */

    view = project("{\"context\":{\"sections\":[{\"id\":\"a\"}]},"
                   "\"schema\":\"relay.context-package.v1\","
                   "\"representation\":{\"role\":\"explain\"}}",
                   RELAY_VIEW_RECIPIENT);
    assert_string_equal(view, "{\"representation\":{\"role\":\"explain\"},"
                              "\"context\":{\"sections\":[{\"id\":\"a\"}]},"
                              "\"schema\":\"relay.context-package.v1\"}");
    free(view);

    view = project("{\"x\":1,\"representation\":{\"role\":\"explain\"},"
                   "\"schema\":\"relay.context-package.v1\","
                   "\"context\":{\"sections\":[{\"id\":\"a\"}]}}",
                   RELAY_VIEW_RECIPIENT);
    assert_string_equal(view, "{\"representation\":{\"role\":\"explain\"},"
                              "\"schema\":\"relay.context-package.v1\","
                              "\"context\":{\"sections\":[{\"id\":\"a\"}]}}");
    free(view);

    view = project("{\"schema\":\"relay.context-package.v1\",\"attachments\":3,"
                   "\"process\":{\"howProduced\":[]},"
                   "\"context\":{\"sections\":[{\"id\":\"a\"}]},"
                   "\"id\":\"r\",\"representation\":{}}",
                   RELAY_VIEW_RECIPIENT);
    assert_string_equal(view, "{\"schema\":\"relay.context-package.v1\","
                              "\"representation\":{},\"process\":{},"
                              "\"context\":{\"sections\":[{\"id\":\"a\"}]},"
                              "\"id\":\"r\"}");
    free(view);
}


/*
 * Every scalar and name of a view stands in the original, byte for byte, or is
 * one of the policy's constants.
 */

static void
test_bytes(void **state)
{
    char                       token[4096], *doc, *view, *constants;
    size_t                     i, v, len, n;
    relay_str_t                s;
    relay_json_tape_t          t;
    relay_json_error_t         err;
    const relay_json_node_t   *node;

    doc = slurp(PILOT, &len);
    constants = slurp(POLICY, &n);

    relay_json_tape_init(&t);

    for (v = 0; v < sizeof(views) / sizeof(views[0]); v++) {

        view = project(doc, views[v]);
        assert_non_null(view);

        s.data = (unsigned char *) view;
        s.len = strlen(view);

        assert_int_equal(relay_json_parse(&t, &s, &relay_json_default_limits,
                                          &err),
                         RELAY_OK);

        for (i = 0; i < t.n; i++) {
            node = &t.nodes[i];

            if (node->type == RELAY_JSON_OBJECT
                || node->type == RELAY_JSON_ARRAY || node->len == 2)
            {
                continue;
            }

            assert_true(node->len < sizeof(token));
            memcpy(token, view + node->off, node->len);
            token[node->len] = '\0';

            if (strstr(doc, token) == NULL && strstr(constants, token) == NULL
                && strncmp(token, "\"The pilot covers Hall 4 only: 2.4 hect",
                           38) != 0)
            {
                fail_msg("%s is not of the document", token);
            }
        }

        free(view);
    }

    relay_json_tape_free(&t);
    free(constants);
    free(doc);
}


/* Numbers, escapes and spaces stay as the owner approved them. */

static void
test_kept_as_written(void **state)
{
    char  *view;

    view = project("{ \"schema\" :\t\"relay.context-package.v1\" ,"
                   " \"title\":\"\\u00e9\\/\\ud83d\\ude00\", \"zz\":1,"
                   " \"version\": 3.0e0,\n"
                   " \"context\": { \"sections\":[ { \"id\": \"a\" ,"
                   "\"version\":1E+2 } ] } }",
                   RELAY_VIEW_RECIPIENT);

    assert_string_equal(view, "{ \"schema\" :\t\"relay.context-package.v1\" ,"
                              " \"title\":\"\\u00e9\\/\\ud83d\\ude00\","
                              " \"version\": 3.0e0,\n"
                              " \"context\": { \"sections\":[ { \"id\": \"a\" ,"
                              "\"version\":1E+2 } ] } }");
    assert_int_equal(out.withheld, 1);
    assert_int_equal(out.n, 2);

    free(view);
}


static void
test_canaries(void **state)
{
    int      may;
    char    *doc, *text, *view;
    size_t   i, k, v, len;
    json_t  *list, *entry, *name, *json;

    const char  *needle, *asked;

    doc = slurp(PILOT, &len);
    text = slurp(CANARIES, &len);
    list = load(text);

    assert_true(json_array_size(list) > 40);

    for (v = 0; v < sizeof(views) / sizeof(views[0]); v++) {

        view = project(doc, views[v]);
        assert_non_null(view);
        json = load(view);

        json_array_foreach(list, i, entry) {
            needle = text_at(entry, "string");
            asked = (views[v] == RELAY_VIEW_LINK)
                    ? "recipient"
                    : (const char *) relay_view_name(views[v])->data;
            may = 0;

            json_array_foreach(at(entry, "may_appear_in"), k, name) {
                may |= strcmp(json_string_value(name), asked) == 0;
            }

            if (!may && occurs(json, needle)) {
                fail_msg("\"%s\" in %s", needle,
                         (const char *) relay_view_name(views[v])->data);
            }

            if (may && views[v] != RELAY_VIEW_LINK && !occurs(json, needle)) {
                fail_msg("\"%s\" not in %s", needle, asked);
            }
        }

        json_decref(json);
        free(view);
    }

    json_decref(list);
    free(text);
    free(doc);
}


/* What a reader by link loses, compared with the recipient. */

static void
test_link(void **state)
{
    size_t   i;
    json_t  *doc, *view;

    static const char  *gone[] = {
        "s_pricing_norrvik", "s_integration", "c_scope_3", "c_price_1",
        "c_int_1", "19% misset rate", "\xe2\x82\xac" "38,500", "Friday",
        "no second pilot within 50 km", "Norrvik price sheet",
        "Not being the first grower", "Runs the Hall 4 crop calendar",
        "Can another grower get the same terms?", "exclusivity radius\""
    };

    doc = pilot();
    view = view_of(doc, RELAY_VIEW_LINK);

    for (i = 0; i < sizeof(gone) / sizeof(gone[0]); i++) {
        if (occurs(view, gone[i])) {
            fail_msg("\"%s\" in link", gone[i]);
        }
    }

    assert_int_equal(json_array_size(at(view, "context/sections")), 3);
    assert_string_equal(text_at(view, "context/sections/2/body"),
                        "The pilot covers Hall 4 only: 2.4 hectares and two "
                        "robot pairs for twelve weeks. Both agronomists count "
                        "40 marked trusses per row each week. A Brackwell "
                        "technician is on site for the first three weeks.");
    assert_string_equal(text_at(view, "context/sections/0/purpose"),
                        "Gives the board a plain description they can repeat.");
    assert_null(at(view, "context/sections/1/claims/2/visibility"));
    assert_string_equal(text_at(view, "audience/name"),
                        "Tom\xc3\xa1s Lindqvist");
    assert_null(at(view, "audience/knowsAlready"));
    assert_string_equal(text_at(view, "representation/role"),
                        "negotiate-within-bounds");
    assert_int_equal(json_array_size(at(view, "attachments/0/slides")), 3);
    assert_int_equal(json_array_size(at(view,
                                        "attachments/0/slides/2/supports")),
                     1);
    assert_int_equal(json_array_size(at(view, "reasoning/evidence")), 2);
    assert_int_equal(json_array_size(at(view, "reasoning/variables")), 2);
    assert_int_equal(json_array_size(
                         at(view, "reasoning/variables/0/tradesAgainst")),
                     0);

    json_decref(view);
    json_decref(doc);
}


static void
test_brief(void **state)
{
    char    *text, *view;
    size_t   len, i;
    json_t  *json;

    text = slurp(BRIEF, &len);

    for (i = 0; i < sizeof(views) / sizeof(views[0]); i++) {

        view = project(text, views[i]);
        assert_non_null(view);
        json = load(view);

        assert_false(occurs(json, "stops asking me"));
        assert_false(occurs(json, "ana@calder.example"));

        if (views[i] == RELAY_VIEW_RECIPIENT) {
            assert_true(occurs(json, "top drawer of Ravi's desk"));
            assert_true(occurs(json, "Spare van key: Ravi's desk"));

        } else {
            assert_false(occurs(json, "top drawer"));
        }

        if (views[i] == RELAY_VIEW_PASS_ON || views[i] == RELAY_VIEW_LINK) {
            assert_string_equal(text_at(json, "context/sections/0/body"),
                                "Dev holds the gate key on weekdays and Ana "
                                "at the weekend.");
        }

        if (views[i] == RELAY_VIEW_PASS_ON) {
            assert_true(json_is_null(at(json, "lifecycle/expiresAt")));
        }

        json_decref(json);
        free(view);
    }

    view = project(text, RELAY_VIEW_OWNER);
    assert_string_equal(view, text);

    free(view);
    free(text);
}


/* A claim's expiry. */

static void
test_valid_until(void **state)
{
    char    *doc, *view;
    size_t   len;

    doc = slurp(PILOT, &len);

    view = project(doc, RELAY_VIEW_PASS_ON);
    assert_int_equal(out.valid_until, 1796083199999LL);
    free(view);

    /* its last moment, and the one after */

    view = project_as(policy, doc, len, RELAY_VIEW_PASS_ON, 1796083199998LL,
                      RELAY_PERMISSION_READ);
    assert_non_null(strstr(view, "\"c_oster_2\""));
    free(view);

    view = project_as(policy, doc, len, RELAY_VIEW_PASS_ON, 1796083199999LL,
                      RELAY_PERMISSION_READ);
    assert_null(strstr(view, "c_oster_2"));
    assert_null(strstr(view, "94.1%"));
    assert_non_null(strstr(view, "\"Oster ran one robot pair in a 1.2 hectare "
                                 "house from June to October 2025. A connector"
                                 " fault on the rail cost nine nights in July "
                                 "2025. Oster renewed the service plan for "
                                 "2026.\""));
    assert_int_equal(out.valid_until, 0);
    free(view);

    view = project(doc, RELAY_VIEW_RECIPIENT);
    assert_int_equal(out.valid_until, 0);
    free(view);

    view = project_as(policy, doc, len, RELAY_VIEW_RECIPIENT, 1796083200000LL,
                      RELAY_PERMISSION_READ);
    assert_non_null(strstr(view, "\"c_oster_2\""));
    free(view);

    free(doc);
}


static void
test_valid_until_bad(void **state)
{
    json_t  *doc, *view;

    doc = pilot();

    json_object_set_new(at(doc, "context/sections/1/claims/1"), "validUntil",
                        json_string("next autumn"));
    view = view_of(doc, RELAY_VIEW_PASS_ON);
    assert_false(occurs(view, "c_oster_2"));
    json_decref(view);

    view = view_of(doc, RELAY_VIEW_RECIPIENT);
    assert_true(occurs(view, "c_oster_2"));
    json_decref(view);

    json_decref(doc);
}


/* Marks of the wrong type withhold the document from everybody but the owner */

static void
test_wrong_types(void **state)
{
    size_t   i, k, v;
    json_t  *doc, *value, *view;

    static const struct {
        const char  *object;
        const char  *member;
    } marks[] = {
        { "context/sections/3", "visibility" },
        { "context/sections/3/claims/1", "visibility" },
        { "context/sections/1/claims/1", "validUntil" },
        { "context/sections/3/claims/0", "validUntil" },
        { "context/sections/0/claims/0", "provenance" },
        { "reasoning/variables/0", "visibility" },
        { "reasoning/variables/0", "provenance" },
        { "reasoning/assumptions/0", "provenance" },
        { "reasoning/decisions/0/options/1/ownerView", "provenance" },
        { "interpretation", "restatementVerdict" },
        { "interpretation/inferences/2", "verdict" },
        { "intent/outcome", "provenance" },
        { "intent/interests/1", "provenance" },
        { "representation/fidelity", "labelInterpretations" }
    };

    static const char  *types[] = {
        "null", "1", "[\"shareable\"]", "{\"a\":\"confirmed\"}"
    };

    for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        for (k = 0; k < sizeof(types) / sizeof(types[0]); k++) {

            doc = pilot();
            value = json_loads(types[k], JSON_DECODE_ANY, NULL);
            json_object_set_new(at(doc, marks[i].object), marks[i].member,
                                value);

            for (v = 0; v < sizeof(views) / sizeof(views[0]); v++) {
                view = view_of(doc, views[v]);

                if (view != NULL) {
                    fail_msg("%s of %s as %s in %s", marks[i].member,
                             marks[i].object, types[k],
                             (const char *) relay_view_name(views[v])->data);
                }
            }

            view = view_of(doc, RELAY_VIEW_OWNER);
            assert_true(json_equal(view, doc));

            json_decref(view);
            json_decref(doc);
        }
    }
}


/* Marks that are missing, unknown, or written with escapes. */

static void
test_strictest(void **state)
{
    char    *text, *view_text;
    json_t  *doc, *view;

    /* an unknown mark is recipient-only; case counts */

    doc = pilot();
    json_object_set_new(at(doc, "context/sections/0"), "visibility",
                        json_string("Shareable"));
    json_object_set_new(at(doc, "context/sections/1/claims/0"), "visibility",
                        json_string("public"));
    view = view_of(doc, RELAY_VIEW_PASS_ON);
    assert_false(occurs(view, "s_bombus_overview"));
    assert_false(occurs(view, "c_oster_1"));
    assert_false(occurs(view, "Fruit set on the robot side"));
    json_decref(view);

    /* no section that is explicitly shareable: an unmarked claim stays */

    json_object_del(at(doc, "context/sections/1"), "visibility");
    view = view_of(doc, RELAY_VIEW_LINK);
    assert_false(occurs(view, "s_oster_results"));
    assert_false(occurs(view, "cost nine nights"));
    json_decref(view);

    /* nothing is left */

    json_object_set_new(at(doc, "context/sections/2"), "visibility",
                        json_string("recipient-only"));
    assert_null(view_of(doc, RELAY_VIEW_PASS_ON));
    assert_string_equal(why, "no section is left");
    assert_null(view_of(doc, RELAY_VIEW_LINK));

    view = view_of(doc, RELAY_VIEW_PREVIEW);
    assert_int_equal(json_object_size(view), 3);
    json_decref(view);
    json_decref(doc);

    /* no verdict, or one that nobody knows */

    doc = pilot();
    json_object_del(at(doc, "interpretation"), "restatementVerdict");
    json_object_del(at(doc, "interpretation/inferences/0"), "verdict");
    json_object_set_new(at(doc, "interpretation/inferences/3"), "verdict",
                        json_string("CONFIRMED"));
    view = view_of(doc, RELAY_VIEW_RECIPIENT);
    assert_string_equal(text_at(view, "interpretation/restatement"), "");
    assert_int_equal(json_array_size(at(view, "interpretation/inferences")),
                     1);
    json_decref(view);

    json_object_set_new(at(doc, "interpretation"), "restatementVerdict",
                        json_string("rejected"));
    view = view_of(doc, RELAY_VIEW_RECIPIENT);
    assert_string_equal(text_at(view, "interpretation/restatement"), "");
    assert_null(at(view, "interpretation/restatementVerdict"));
    json_decref(view);
    json_decref(doc);

    /* names and marks are compared after unescaping */

    text = strdup("{\"\\u0073chema\":\"relay.context-package\\u002ev1\","
                  "\"intent\":{\"st\\u0061tement\":\"keep this to yourself\"},"
                  "\"context\":{\"sections\":[{\"id\":\"a\","
                  "\"v\\u0069sibility\":\"sh\\u0061reable\","
                  "\"purpo\\u0073e\":\"hidden purpose\","
                  "\"cl\\u0061ims\":[{\"id\":\"b\",\"text\":\"hidden claim\","
                  "\"\\u0076isibility\":\"recipient\\u002donly\"},"
                  "{\"id\":\"c\",\"text\":\"open \\\"claim\\\"\"},"
                  "{\"id\":\"d\",\"text\":\"\"},"
                  "{\"id\":\"e\",\"text\":\"more\"}],"
                  "\"body\":\"hidden body\"}]}}");

    view_text = project(text, RELAY_VIEW_PASS_ON);
    assert_null(strstr(view_text, "hidden"));
    assert_null(strstr(view_text, "yourself"));
    assert_non_null(strstr(view_text, "\"body\":\"open \\\"claim\\\" more\""));
    assert_non_null(strstr(view_text, "{\"id\":\"c\",\"text\":\"open \\\"claim"
                                      "\\\"\",\"visibility\":\"shareable\"}"));
    view = load(view_text);
    json_decref(view);
    free(view_text);
    free(text);
}


/* Members that the schema does not know, at every level, and other shapes. */

static void
salt(json_t *json)
{
    void        *next;
    size_t       i;
    json_t      *value;
    const char  *key;

    json_array_foreach(json, i, value) {
        salt(value);
    }

    if (json_is_array(json)) {
        json_array_append_new(json, json_pack("[s]", "SALT in an array"));
        return;
    }

    if (!json_is_object(json)) {
        return;
    }

    json_object_foreach_safe(json, next, key, value) {
        salt(value);
    }

    json_object_set_new(json, "SALT name", json_string("x"));
    json_object_set_new(json, "x", json_string("SALT text"));
    json_object_set_new(json, "Visibility", json_string("SALT mark"));
    json_object_set_new(json, "agentReading", json_string("SALT reading"));
    json_object_set_new(json, "x-nested", json_pack("{s:[s]}", "a", "SALT"));
}


static void
test_unknown(void **state)
{
    size_t   v;
    json_t  *doc, *view;

    doc = pilot();
    salt(doc);

    for (v = 0; v < sizeof(views) / sizeof(views[0]); v++) {
        view = view_of(doc, views[v]);
        assert_non_null(view);
        assert_false(occurs(view, "SALT"));
        json_decref(view);
    }

    json_decref(doc);

    /* a text where an object is expected, an object where a text is */

    doc = pilot();
    json_object_set_new(doc, "owner", json_string("SALT"));
    json_object_set_new(doc, "title", json_pack("{s:s}", "text", "SALT"));
    json_object_set_new(doc, "summary", json_pack("[s]", "SALT"));
    json_object_set_new(doc, "audience", json_pack("[{s:s}]", "name", "SALT"));
    json_object_set_new(at(doc, "context/sections/0"), "claims",
                        json_string("SALT"));
    json_object_set_new(at(doc, "context/sections/1/claims/0"), "sources",
                        json_string("SALT"));
    json_object_set_new(at(doc, "intent"), "outcome", json_string("SALT"));

    for (v = 0; v < sizeof(views) / sizeof(views[0]); v++) {
        view = view_of(doc, views[v]);
        assert_false(occurs(view, "SALT"));

        /* claims that cannot be judged leave nothing of the body */

        if (views[v] == RELAY_VIEW_PASS_ON) {
            assert_string_equal(text_at(view, "context/sections/0/body"), "");
        }

        json_decref(view);
    }

    json_decref(doc);
}


/* Whatever repeats the whole private text is blanked. */

static void
test_statement(void **state)
{
    size_t       i, v;
    char         text[1024];
    json_t      *doc, *view;
    const char  *statement;

    static const struct {
        const char  *object;
        const char  *member;
    } places[] = {
        { "", "title" }, { "", "summary" }, { "", "changeNote" },
        { "", "id" }, { "", "approvedBy" }, { "owner", "name" },
        { "interpretation", "restatement" },
        { "interpretation/inferences/1", "correction" },
        { "interpretation/inferences/0", "reading" },
        { "interpretation/inferences/0", "confidence" },
        { "representation/opening", "greeting" },
        { "representation/fidelityChecks/0", "approvedAnswer" },
        { "representation", "passOn" }, { "intent/outcome", "text" },
        { "intent/whyNow", "provenance" },
        { "context", "subject" }, { "context/sections/0", "body" },
        { "context/sections/0", "title" },
        { "context/sections/0/claims/0", "text" },
        { "context/sections/2", "body" },
        { "context/sections/2/claims/0", "text" },
        { "context/sections/0/claims/0", "asOf" },
        { "context/sections/0/claims/0", "confidence" },
        { "lifecycle", "expiresAt" }, { "audience", "access" },
        { "reasoning/variables/2", "value" }
    };

    for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {

        doc = pilot();
        statement = text_at(doc, "intent/statement");
        snprintf(text, sizeof(text), "Leila said: \"%s\" - so.", statement);
        json_object_set_new(at(doc, places[i].object), places[i].member,
                            json_string(text));

        for (v = 0; v < sizeof(views) / sizeof(views[0]); v++) {
            view = view_of(doc, views[v]);
            assert_non_null(view);

            if (occurs(view, "how short our cash is")) {
                fail_msg("%s of %s in %s", places[i].member, places[i].object,
                         (const char *) relay_view_name(views[v])->data);
            }

            json_decref(view);
        }

        json_decref(doc);
    }

    /* in an array, with escapes on either side, and spaces around */

    doc = pilot();
    json_object_set_new(at(doc, "intent"), "statement",
                        json_string(" \"G\xc3\xa4nse\" sind \\teuer\n"));
    json_array_set_new(at(doc, "representation/mustNot"), 1,
                       json_string("Say: \"G\xc3\xa4nse\" sind \\teuer!"));
    json_object_set_new(doc, "title",
                        json_string("\"G\xc3\xa4nse\" sind teuer"));
    view = view_of(doc, RELAY_VIEW_RECIPIENT);
    assert_string_equal(text_at(view, "representation/mustNot/1"), "");
    assert_int_equal(json_array_size(at(view, "representation/mustNot")), 3);
    assert_string_equal(text_at(view, "title"), "\"G\xc3\xa4nse\" sind teuer");
    json_decref(view);

    /* a short one only as a whole, an empty one never */

    json_object_set_new(at(doc, "intent"), "statement", json_string("Agree"));
    json_object_set_new(doc, "title", json_string(" Agree "));
    view = view_of(doc, RELAY_VIEW_RECIPIENT);
    assert_string_equal(text_at(view, "title"), "");
    assert_string_equal(text_at(view, "intent/ask/detail/text"),
                        "Agree the pilot fee, the start week and the success "
                        "measure for Hall 4.");
    json_decref(view);

    json_object_set_new(at(doc, "intent"), "statement", json_string(" \n"));
    view = view_of(doc, RELAY_VIEW_RECIPIENT);
    assert_string_equal(text_at(view, "title"), " Agree ");
    assert_string_equal(text_at(view, "intent/statement"), "");
    json_decref(view);

    /* what cannot be compared is withheld */

    json_object_set_new(at(doc, "intent"), "statement", json_pack("[s]", "a"));
    assert_null(view_of(doc, RELAY_VIEW_RECIPIENT));
    assert_null(view_of(doc, RELAY_VIEW_PREVIEW));
    json_decref(doc);
}


/* Without labels, no unreviewed inference and no inferred extra. */

static void
test_labels(void **state)
{
    json_t  *doc, *view;

    doc = pilot();
    json_object_set_new(at(doc, "representation/fidelity"),
                        "labelInterpretations", json_false());
    json_object_set_new(at(doc, "intent/outcome"), "provenance",
                        json_string("inferred"));
    json_object_del(at(doc, "intent/whyNow"), "provenance");

    view = view_of(doc, RELAY_VIEW_RECIPIENT);
    assert_false(occurs(view, "joint press note"));
    assert_null(at(view, "intent/whyThisAudience"));
    assert_null(at(view, "intent/whyNow"));
    assert_false(occurs(view, "reporting day"));
    assert_false(occurs(view, "without a members' vote"));
    assert_non_null(at(view, "intent/outcome/text"));
    assert_int_equal(json_array_size(at(view, "interpretation/inferences")),
                     2);
    json_decref(view);

    /* a missing flag is the strictest */

    json_object_del(at(doc, "representation/fidelity"),
                    "labelInterpretations");
    view = view_of(doc, RELAY_VIEW_RECIPIENT);
    assert_false(occurs(view, "joint press note"));
    json_decref(view);
    json_decref(doc);
}


/* A corrected inference without a correction has no reading. */

static void
test_correction(void **state)
{
    json_t  *doc, *view;

    doc = pilot();
    json_object_del(at(doc, "interpretation/inferences/1"), "correction");
    view = view_of(doc, RELAY_VIEW_RECIPIENT);
    assert_string_equal(text_at(view, "interpretation/inferences/1/reading"),
                        "");
    assert_false(occurs(view, "signature on the day"));
    json_decref(view);

    json_object_set_new(at(doc, "interpretation/inferences/1"), "correction",
                        json_pack("[s]", "SALT"));
    json_object_set_new(at(doc, "interpretation/inferences/0"), "correction",
                        json_string("SALT"));
    view = view_of(doc, RELAY_VIEW_RECIPIENT);
    assert_false(occurs(view, "SALT"));
    assert_false(occurs(view, "signature on the day"));
    json_decref(view);
    json_decref(doc);
}


/* A check of a question that only the owner answers. */

static void
test_must_ask(void **state)
{
    json_t  *doc, *view;

    doc = pilot();
    json_array_append_new(at(doc, "representation/mustAskOwner"),
                          json_string(" who OWNS the  flower imagery "));
    view = view_of(doc, RELAY_VIEW_RECIPIENT);
    assert_int_equal(json_array_size(at(view,
                                        "representation/fidelityChecks")),
                     5);
    assert_false(occurs(view, "It stays on the box"));
    assert_true(occurs(view, "who OWNS the  flower imagery"));
    json_decref(view);
    json_decref(doc);
}


/* What names a withheld thing goes with it. */

static void
test_names_withheld(void **state)
{
    size_t   i;
    char     name[64];
    json_t  *doc, *view, *sections;

    doc = pilot();
    json_object_set_new(at(doc, "context/sections/3"), "id",
                        json_string("price table/\xc3\xa9"));
    json_object_set_new(at(doc, "context/sections/0/claims/0"), "sources",
                        json_pack("[s,s,s,s,s]", "see c_scope_3, line 2",
                                  "(c_price_1)", "xc_price_1",
                                  "the price table/\xc3\xa9.", "c_price_11"));
    json_object_set_new(at(doc, "lifecycle"), "staleSections",
                        json_pack("[s,s]", "price table/\xc3\xa9",
                                  "s_oster_results"));

    view = view_of(doc, RELAY_VIEW_PASS_ON);
    assert_int_equal(json_array_size(at(view,
                                   "context/sections/0/claims/0/sources")),
                     2);
    assert_string_equal(text_at(view,
                                "context/sections/0/claims/0/sources/0"),
                        "xc_price_1");
    json_decref(view);

    view = view_of(doc, RELAY_VIEW_LINK);
    assert_int_equal(json_array_size(at(view, "lifecycle/staleSections")), 1);
    json_decref(view);

    view = view_of(doc, RELAY_VIEW_RECIPIENT);
    assert_int_equal(json_array_size(at(view,
                                   "context/sections/0/claims/0/sources")),
                     5);
    json_decref(view);

    /* many names: some searched for, then nothing trusted */

    sections = at(doc, "context/sections");

    for (i = 0; i < 500; i++) {
        snprintf(name, sizeof(name), "withheld name \\ %zu", i);
        json_array_append_new(sections, json_pack("{s:s}", "id", name));
    }

    view = view_of(doc, RELAY_VIEW_PASS_ON);
    assert_int_equal(json_array_size(at(view, "context/sections")), 3);
    assert_int_equal(json_array_size(at(view,
                                   "context/sections/0/claims/0/sources")),
                     0);
    json_decref(view);
    json_decref(doc);
}


static void
test_not_a_package(void **state)
{
    size_t  i, v;

    static const char  *docs[] = {
        "[]", "{}", "null", "\"relay.context-package.v1\"",
        "{\"schema\":\"relay.context-package.v2\"}",
        "{\"schema\":[\"relay.context-package.v1\"]}",
        "{\"Schema\":\"relay.context-package.v1\"}"
    };

    for (i = 0; i < sizeof(docs) / sizeof(docs[0]); i++) {
        for (v = RELAY_VIEW_NONE; v <= RELAY_VIEW_MAX; v++) {
            assert_null(project(docs[i], v));
        }
    }

    assert_null(project("{\"schema\":\"relay.context-package.v1\"}",
                        RELAY_VIEW_NONE));
    assert_null(project("{\"schema\":\"relay.context-package.v1\"}",
                        RELAY_VIEW_MAX));
    assert_null(project("{\"schema\":\"relay.context-package.v1\"}",
                        RELAY_VIEW_RECIPIENT));
}


/*
 * The pilot cut down in every way that one removal or one emptied value makes:
 * whatever comes out is JSON, and no canary of the owner's is in it.
 */

static void
removals(json_t *root, json_t *json, size_t *count)
{
    size_t       i, v;
    json_t      *value, *view;
    const char  *key, **keys;

    keys = NULL;
    i = 0;

    if (json_is_object(json)) {
        keys = malloc((json_object_size(json) + 1) * sizeof(char *));

        json_object_foreach(json, key, value) {
            keys[i++] = key;
        }

        while (i-- > 0) {
            value = json_incref(json_object_get(json, keys[i]));
            key = strdup(keys[i]);
            removals(root, value, count);
            json_object_del(json, key);

            for (v = 0; v < sizeof(views) / sizeof(views[0]); v++) {
                view = view_of(root, views[v]);

                if (view != NULL) {
                    assert_false(occurs(view, "how short our cash is"));
                    assert_false(occurs(view, "grt_5e1a77b0c2"));
                    assert_false(occurs(view, "unpaid pilot if Norrvik"));
                    json_decref(view);
                }
            }

            (*count)++;
            json_object_set_new(json, key, value);
            free((char *) key);
        }

        free(keys);
        return;
    }

    if (json_is_array(json) && json_array_size(json) > 0) {
        value = json_array_get(json, json_array_size(json) - 1);
        removals(root, value, count);
    }
}


static void
test_removals(void **state)
{
    size_t   count;
    json_t  *doc;

    doc = pilot();
    count = 0;
    removals(doc, doc, &count);
    assert_true(count > 150);
    json_decref(doc);
}


static relay_view_policy_t *
compile(const char *text, char *message, size_t size)
{
    relay_buf_t           err;
    relay_str_t           s;
    relay_view_policy_t  *pl;

    s.data = (unsigned char *) text;
    s.len = strlen(text);

    relay_buf_init(&err, size - 1);
    pl = relay_view_compile(&s, &err);

    memcpy(message, err.data == NULL ? (unsigned char *) "" : err.data,
           err.len);
    message[err.len] = '\0';

    relay_buf_free(&err);

    return pl;
}


/* Words that the package's own policy does not need, in one of our own. */

static void
test_permission(void **state)
{
    char                  message[512], *view;
    relay_view_policy_t  *pl;

    static const char  doc[] = "{\"schema\":\"t\",\"a\":\"x\",\"b\":\"y\","
                               "\"c\":{\"d\":[1,\"two\",[3],null]}}";

    pl = compile("{\"schema\":\"t\",\"views\":[\"recipient\",\"preview\"],"
                 "\"fields\":{\"schema\":\"keep\",\"a\":\"suggest drop\","
                 "\"b\":\"edit+blank drop\",\"c\":{\"d\":{\"$each\":\"keep\"}}}"
                 "}", message, sizeof(message));
    assert_string_equal(message, "");
    assert_non_null(pl);

    view = project_as(pl, doc, sizeof(doc) - 1, RELAY_VIEW_RECIPIENT, 0,
                      RELAY_PERMISSION_READ);
    assert_string_equal(view, "{\"schema\":\"t\",\"c\":{\"d\":[1,\"two\","
                              "null]}}");
    assert_int_equal(out.withheld, 3);
    free(view);

    view = project_as(pl, doc, sizeof(doc) - 1, RELAY_VIEW_RECIPIENT, 0,
                      RELAY_PERMISSION_SUGGEST);
    assert_string_equal(view, "{\"schema\":\"t\",\"a\":\"x\",\"c\":{\"d\":"
                              "[1,\"two\",null]}}");
    free(view);

    view = project_as(pl, doc, sizeof(doc) - 1, RELAY_VIEW_RECIPIENT, 0,
                      RELAY_PERMISSION_EDIT);
    assert_string_equal(view, "{\"schema\":\"t\",\"a\":\"x\",\"b\":\"\","
                              "\"c\":{\"d\":[1,\"two\",null]}}");
    free(view);

    /* a view that the policy has no column for */

    assert_null(project_as(pl, doc, sizeof(doc) - 1, RELAY_VIEW_PASS_ON, 0,
                           RELAY_PERMISSION_EDIT));

    relay_view_policy_free(pl);
}


/* A condition on a member elsewhere: a range that is shown to who may move. */

static void
test_at(void **state)
{
    size_t                i;
    char                  message[512], doc[256], *view;
    relay_view_policy_t  *pl;

    static const struct {
        const char  *role;
        const char  *view;
    } roles[] = {
        { "\"bounds\"", "{\"schema\":\"t\",\"m\":{\"role\":\"bounds\"},"
                        "\"v\":[{\"range\":\"5\"}]}" },
        { "\"b\\u006funds\"", "{\"schema\":\"t\",\"m\":{\"role\":"
                              "\"b\\u006funds\"},"
                              "\"v\":[{\"range\":\"5\"}]}" },
        { "\"explain\"", "{\"schema\":\"t\",\"m\":{\"role\":\"explain\"},"
                         "\"v\":[{}]}" },
        { "7", NULL }
    };

    pl = compile("{\"schema\":\"t\",\"views\":[\"recipient\"],"
                 "\"fields\":{\"schema\":\"keep\",\"m\":{\"role\":\"keep\"},"
                 "\"v\":{\"$each\":{\"range\":{\"$views\":\"by\",\"$by\":"
                 "{\"at\":\"/m/role\",\"is\":{\"bounds\":\"keep\"},"
                 "\"else\":\"drop\"}}}}}}", message, sizeof(message));
    assert_string_equal(message, "");
    assert_non_null(pl);

    for (i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {

        snprintf(doc, sizeof(doc), "{\"schema\":\"t\",\"m\":{\"role\":%s},"
                 "\"v\":[{\"range\":\"5\"}]}", roles[i].role);

        view = project_as(pl, doc, strlen(doc), RELAY_VIEW_RECIPIENT, 0,
                          RELAY_PERMISSION_READ);

        if (roles[i].view == NULL) {
            assert_null(view);
            continue;
        }

        assert_string_equal(view, roles[i].view);
        free(view);
    }

    view = project_as(pl, "{\"schema\":\"t\",\"v\":[{\"range\":1}]}", 32,
                      RELAY_VIEW_RECIPIENT, 0, RELAY_PERMISSION_READ);
    assert_string_equal(view, "{\"schema\":\"t\",\"v\":[{}]}");
    free(view);

    relay_view_policy_free(pl);
}


#define HEAD  "{\"schema\":\"t\",\"views\":[\"recipient\",\"pass-on\"],"

static void
test_policy_errors(void **state)
{
    char                  message[512];
    size_t                i;
    relay_view_policy_t  *pl;

    static const struct {
        const char  *text;
        const char  *message;
    } cases[] = {
        { "", "line 1, column 1: the document ends where a value is needed" },
        { "[]", "a policy is an object" },
        { "{\"schema\":\"t\"}",
          "\"schema\", \"views\" and \"fields\" are needed" },
        { HEAD "\"fields\":{\"a\":\"keep\",\"a\":\"drop\"}}",
          "line 1, column 68: the name occurs twice in this object" },
        { HEAD "\"felds\":{}}", "/felds: a name that no policy knows" },
        { HEAD "\"fields\":{\"a\":{\"b\":\"kep\"}}}",
          "/fields/a/b: a word that no policy knows" },
        { HEAD "\"fields\":{\"a\":\"keep+drop\"}}",
          "/fields/a: a word that no policy knows" },
        { HEAD "\"fields\":{\"a\":\"keep drop keep\"}}",
          "/fields/a: more words than there are views" },
        { HEAD "\"fields\":{\"a\":\"\"}}",
          "/fields/a: one word is needed, or one for each view" },
        { HEAD "\"fields\":{\"a\":7}}",
          "/fields/a: a rule is a string or an object" },
        { HEAD "\"fields\":{\"a\":{\"$vews\":\"keep\"}}}",
          "/fields/a/$vews: a directive that no policy knows" },
        { HEAD "\"fields\":{\"a\":\"@b\"}}", "/fields/a: no such definition" },
        { HEAD "\"defs\":{\"b\":{\"c\":\"@b\"}},\"fields\":{\"a\":\"@b\"}}",
          "/defs/b/c: the definition refers to itself" },
        { HEAD "\"fields\":{\"m128184\":\"keep\",\"m273298\":\"keep\"}}",
          "/fields: two names have the same hash" },
        { HEAD "\"fields\":{\"a\":\"constant\"}}",
          "/fields/a: \"constant\" and \"$constant\" need each other" },
        { HEAD "\"fields\":{\"a\":{\"$constant\":1}}}",
          "/fields/a: \"constant\" and \"$constant\" need each other" },
        { HEAD "\"fields\":{\"a\":\"by\"}}",
          "/fields/a: \"by\" and \"$by\" need each other" },
        { HEAD "\"fields\":{\"a\":\"marked\"}}",
          "/fields/a: \"marked\" and \"$mark\" need each other" },
        { HEAD "\"fields\":{\"a\":{\"$views\":\"by\",\"$by\":{\"beside\":"
          "\"b\",\"is\":{\"x\":\"kep\"},\"else\":\"drop\"}}}}",
          "/fields/a/$by/is/x: a word that no \"$by\" knows" },
        { HEAD "\"fields\":{\"a\":{\"$views\":\"by\",\"$by\":{\"beside\":"
          "\"b\"}}}}",
          "/fields/a/$by: \"else\" is needed here" },
        { HEAD "\"fields\":{\"a\":{\"$views\":\"by\",\"$by\":{\"own\":\"b\","
          "\"beside\":\"c\",\"else\":\"drop\"}}}}",
          "/fields/a/$by: a name that no \"$by\" knows, or one too many" },
        { HEAD "\"fields\":{\"a\":{\"$views\":\"by\",\"$by\":{\"else\":"
          "\"drop\"}}}}",
          "/fields/a/$by: \"own\", \"beside\" or \"at\" is needed here" },
        { HEAD "\"fields\":{\"a\":{\"$views\":\"by\",\"$by\":{\"at\":\"b\","
          "\"else\":\"drop\"}}}}",
          "/fields/a/$by/at: a pointer to a member is needed here" },
        { HEAD "\"fields\":{\"a\":{\"$views\":\"by\",\"$by\":{\"at\":\"/b\","
          "\"else\":\"take c\"}}}}",
          "/fields/a/$by/else: \"take\" needs a \"beside\"" },
        { HEAD "\"fields\":{\"a\":{\"$views\":\"joined\",\"$joined\":"
          "{\"from\":\"b\",\"member\":\"c\"}},\"b\":{\"$each\":{\"d\":"
          "\"keep\"}}}}",
          "/fields: \"$joined\" needs a text in the array's objects" },
        { HEAD "\"fields\":{\"a\":{\"$type\":\"keep\"}}}",
          "/fields/a/$type: no such type" },
        { HEAD "\"fields\":{\"a\":\"mark+flag\"}}",
          "/fields/a: a text has one type" },
        { HEAD "\"fields\":{\"a\":{\"$views\":\"by\",\"$by\":{\"own\":\"b\","
          "\"else\":\"drop\"}}}}",
          "/fields/a: the condition is about an object's members" },
        { HEAD "\"fields\":{\"a\":{\"$each\":\"keep\",\"b\":\"keep\"}}}",
          "/fields/a: members and \"$each\" exclude each other" },
        { HEAD "\"fields\":{\"a\":{\"$views\":\"joined\",\"$joined\":"
          "{\"from\":\"b\",\"member\":\"c\"}},\"b\":\"keep\"}}",
          "/fields: \"$joined\" needs an array of objects beside it" },
        { HEAD "\"fields\":{\"d\":{\"$each\":{\"$views\":\"joined\","
          "\"$joined\":{\"from\":\"d\",\"member\":\"t\"}}}}}",
          "/fields/d: \"$joined\" is about a member of an object" },
        { HEAD "\"defs\":{\"j\":{\"$views\":\"joined\",\"$joined\":"
          "{\"from\":\"c\",\"member\":\"t\"}}},\"fields\":{"
          "\"a\":{\"b\":\"@j\",\"c\":{\"$each\":{\"t\":\"keep\"}}},"
          "\"d\":{\"b\":\"@j\",\"c\":{\"$each\":{\"t\":\"drop\"}}}}}",
          "/fields/d: one \"$joined\" beside two different arrays" },
        { HEAD "\"fields\":{\"a\":\"keep\",\"$order\":{\"head\":[],"
          "\"then\":\"a\"}}}",
          "/fields/$order/then: no member of this object, or a text" },
        { HEAD "\"fields\":{\"a\":{\"$each\":\"keep\"},"
          "\"$order\":{\"head\":[\"b\"],\"then\":\"a\"}}}",
          "/fields/$order/0: no other member of this object" },
        { HEAD "\"private\":{\"text\":\"a\",\"within\":8},\"fields\":{}}",
          "/private/text: a pointer to a member is needed here" },
        { HEAD "\"fields\":\"keep\"}", "/fields: a document is an object" },
        { HEAD "\"fields\":{\"a\":\"keep\",\"$views\":\"keep drop\"}}",
          "/fields: a document as a whole is kept" },
        { "{\"schema\":\"t\",\"views\":[\"owner\"],"
          "\"fields\":{\"a\":\"keep\"}}",
          "/views/0: no view, or twice, or the owner's" }
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        pl = compile(cases[i].text, message, sizeof(message));
        assert_null(pl);
        assert_string_equal(message, cases[i].message);
    }
}


/* Definitions that refer to each other, one after the other. */

static relay_view_policy_t *
chain(size_t definitions, size_t depth, char *message, size_t size)
{
    size_t                i, n;
    relay_buf_t           text;
    relay_view_policy_t  *pl;

    relay_buf_init(&text, RELAY_DOCUMENT_MAX);
    relay_buf_append_z(&text, "{\"schema\":\"t\",\"views\":[\"recipient\"],"
                              "\"fields\":{\"a\":\"@0\"},\"defs\":{");

    for (i = 0; i < definitions; i++) {
        relay_buf_printf(&text, "%s\"%zu\":", i ? "," : "", i);

        for (n = 0; n < depth; n++) {
            relay_buf_append_z(&text, "{\"a\":");
        }

        if (i + 1 < definitions) {
            relay_buf_printf(&text, "\"@%zu\"", i + 1);

        } else {
            relay_buf_append_z(&text, "\"keep\"");
        }

        for (n = 0; n < depth; n++) {
            relay_buf_append_c(&text, '}');
        }
    }

    relay_buf_append(&text, "}}", 3);
    assert_false(text.failed);

    pl = compile((char *) text.data, message, size);

    relay_buf_free(&text);

    return pl;
}


static void
test_policy_chain(void **state)
{
    char                  message[1024];
    relay_view_policy_t  *pl;

    pl = chain(32, 0, message, sizeof(message));
    assert_non_null(pl);
    relay_view_policy_free(pl);

    pl = chain(33, 0, message, sizeof(message));
    assert_null(pl);
    assert_string_equal(message,
                        "/defs/31: the rules are nested too deeply");

    /* as deep as one may be, and as many as there may be */

    pl = chain(4000, 58, message, sizeof(message));
    assert_null(pl);
    assert_non_null(strstr(message, ": the rules are nested too deeply"));
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_owner),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_kept_as_written),
        cmocka_unit_test(test_canaries),
        cmocka_unit_test(test_link),
        cmocka_unit_test(test_brief),
        cmocka_unit_test(test_valid_until),
        cmocka_unit_test(test_valid_until_bad),
        cmocka_unit_test(test_wrong_types),
        cmocka_unit_test(test_strictest),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_statement),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_correction),
        cmocka_unit_test(test_must_ask),
        cmocka_unit_test(test_names_withheld),
        cmocka_unit_test(test_not_a_package),
        cmocka_unit_test(test_removals),
        cmocka_unit_test(test_permission),
        cmocka_unit_test(test_at),
        cmocka_unit_test(test_policy_errors),
        cmocka_unit_test(test_policy_chain)
    };

    return cmocka_run_group_tests_name("relay_view", tests, setup, teardown);
}
