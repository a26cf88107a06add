
/*
 * relay_view_compile() on arbitrary policies.  What compiles is tried on a
 * few documents: whatever a policy says, a view is JSON, and what the naive
 * implementation makes of that policy.
 *
 * An input is a policy, or {"policy": ..., "document": ...}: the document is
 * then tried as well.
 */

#include <jansson.h>

#include "fuzz.h"
#include "naive.h"
#include "relay_data.h"
#include "relay_json.h"
#include "relay_link.h"
#include "relay_view.h"


static const char *const  documents[] = {

    "{\"schema\":\"t\"}",

    "{ \"schema\" : \"t\" , \"a\" : \"x\" , \"b\" : { \"v\" : \"s\" } ,"
    " \"c\" : [ ] , \"d\" : [ 1 , \"x y\" , { } , [ ] , null ] }",

    "{\"d\":[{\"v\":\"s\",\"t\":\"\\u0041\",\"i\":\"n1\",\"u\":\"2030-01-01\"},"
    "{\"v\":\"o\",\"t\":\"secret text\",\"i\":\"n-2\",\"w\":[\"n1\",\"n-2\"]},"
    "{\"t\":\"about n1\",\"q\":\"What?\",\"b\":true}],\"b\":\"secret text\","
    "\"p\":{\"t\":\" secret text \",\"l\":true,\"q\":[\"what\"]},"
    "\"e\":{\"a\":{\"a\":{\"a\":\"secret text\"}},\"c\":[[\"v\"]]},"
    "\"schema\":\"t\",\"a\":\"n-2 is named\",\"c\":{\"v\":\"s\",\"w\":[\"x\"]}}"
};


#define DOCUMENTS  (sizeof(documents) / sizeof(documents[0]))


FUZZ_JSON_MUTATOR


static void
compare(json_t *naive, const relay_str_t *doc, const relay_str_t *text,
    relay_view_e view, const relay_view_params_t *p)
{
    char    *a, *b;
    json_t  *value, *expected, *got;

    value = json_loadb((char *) doc->data, doc->len, 0, NULL);
    fuzz_assert(value != NULL);

    expected = naive_project(naive, value,
                             (char *) relay_view_name(view)->data, p->now,
                             p->permission);
    got = json_loadb((char *) text->data, text->len, JSON_ALLOW_NUL, NULL);

    a = json_dumps(expected, JSON_COMPACT);
    b = json_dumps(got, JSON_COMPACT);

    if ((a == NULL) != (b == NULL) || (a != NULL && strcmp(a, b) != 0)) {
        fprintf(stderr, "%s at %lld of: %.*s\nexpected: %s\n     got: %s\n",
                relay_view_name(view)->data, (long long) p->now,
                (int) doc->len, doc->data, a ? a : "withheld",
                b ? b : "withheld");
        fuzz_assert(!"both projections agree");
    }

    free(a);
    free(b);
    json_decref(expected);
    json_decref(got);
    json_decref(value);
}


/* Whether it is a view of the policy, and not the owner's. */

static int
is_view(json_t *naive, relay_view_e view)
{
    size_t   i;
    json_t  *name;

    json_array_foreach(json_object_get(naive, "views"), i, name) {
        if (view > RELAY_VIEW_NONE && view < RELAY_VIEW_MAX
            && strcmp(json_string_value(name),
                      (char *) relay_view_name(view)->data) == 0)
        {
            return 1;
        }
    }

    return 0;
}


static void
project(const relay_view_policy_t *policy, json_t *naive,
    const relay_str_t *doc, const relay_json_tape_t *tape, relay_view_e view,
    int64_t now, relay_permission_e permission)
{
    size_t                i, len;
    const char           *why;
    relay_buf_t           text;
    relay_int_t           rc;
    relay_str_t           s;
    relay_json_tape_t     again;
    relay_json_error_t    err;
    relay_view_out_t      out;
    relay_view_params_t   params;

    params.now = now;
    params.permission = permission;

    relay_view_out_init(&out);
    relay_json_tape_init(&again);
    relay_buf_init(&text, RELAY_DOCUMENT_MAX);

    why = NULL;
    rc = relay_view_project(policy, doc, tape, view, &params, &out, &why);

    if (rc == RELAY_OK) {

        len = 0;

        for (i = 0; i < out.n; i++) {
            relay_buf_append_str(&text, &out.spans[i]);
            len += out.spans[i].len;
        }

        fuzz_assert(len == out.len);

        relay_buf_str(&text, &s);
        fuzz_assert(relay_json_parse(&again, &s, &relay_json_default_limits,
                                     &err)
                    == RELAY_OK);

        if (view == RELAY_VIEW_OWNER) {
            fuzz_assert(relay_str_eq(&s, doc));
        }

    } else {
        fuzz_assert(rc == RELAY_DECLINED && why != NULL && out.n == 0);

        relay_str_set(&s, "");
    }

    if (is_view(naive, view)) {
        compare(naive, doc, &s, view, &params);
    }

    relay_buf_free(&text);
    relay_json_tape_free(&again);
    relay_view_out_free(&out);
}


/* The text of a member of the input. */

static relay_str_t
member(fuzz_in_t *in, const relay_str_t *input, const relay_json_tape_t *tape,
    const char *name)
{
    size_t       v;
    relay_str_t  none;

    v = relay_json_get(tape, input, 0, name, strlen(name));

    if (v == 0) {
        none.len = 0;
        none.data = NULL;
        return none;
    }

    return fuzz_copy(in, input->data + tape->nodes[v].off,
                     tape->nodes[v].len);
}


static void
try(const relay_view_policy_t *policy, json_t *naive, const relay_str_t *doc)
{
    int                  view;
    relay_json_tape_t    tape;
    relay_json_error_t   err;

    relay_json_tape_init(&tape);

    if (relay_json_parse(&tape, doc, &relay_json_default_limits, &err)
        == RELAY_OK)
    {
        for (view = 0; view <= RELAY_VIEW_MAX; view++) {
            project(policy, naive, doc, &tape, view, 0, RELAY_PERMISSION_READ);
            project(policy, naive, doc, &tape, view, INT64_C(4102444800000),
                    RELAY_PERMISSION_EDIT);
        }
    }

    relay_json_tape_free(&tape);
}


/* As jansson writes it, and how long a text is written is its own. */

static void
try_written(fuzz_in_t *in, const relay_view_policy_t *policy, json_t *naive,
    const relay_str_t *doc)
{
    char         *plain;
    json_t       *value;
    relay_str_t   s;

    value = json_loadb((char *) doc->data, doc->len, 0, NULL);
    plain = json_dumps(value, JSON_COMPACT);

    if (plain != NULL) {
        s = fuzz_copy(in, plain, strlen(plain));
        try(policy, naive, &s);
    }

    free(plain);
    json_decref(value);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t                n;
    json_t               *naive;
    fuzz_in_t             in;
    relay_buf_t           err;
    relay_str_t           input, text, doc, s;
    relay_json_tape_t     tape;
    relay_json_error_t    jerr;
    relay_view_policy_t  *policy;
    unsigned char         digest[RELAY_DIGEST_LEN];

    fuzz_in_init(&in, data, size);
    input = fuzz_rest(&in);

    doc.len = 0;
    text = input;

    relay_json_tape_init(&tape);

    if (relay_json_parse(&tape, &input, &relay_json_default_limits, &jerr)
        == RELAY_OK
        && relay_json_get(&tape, &input, 0, "policy", 6) != 0)
    {
        text = member(&in, &input, &tape, "policy");
        doc = member(&in, &input, &tape, "document");
    }

    relay_json_tape_free(&tape);
    relay_buf_init(&err, 65536);

    policy = relay_view_compile(&text, &err);

    if (policy == NULL) {
        fuzz_assert(err.len != 0);
        relay_buf_free(&err);
        fuzz_in_free(&in);
        return 0;
    }

    fuzz_assert(err.len == 0);

    relay_digest(&text, digest);
    fuzz_assert(relay_view_policy_digest(policy)->len == RELAY_DIGEST_LEN);
    fuzz_assert(memcmp(relay_view_policy_digest(policy)->data, digest,
                       RELAY_DIGEST_LEN)
                == 0);
    fuzz_assert(relay_view_policy_schema(policy)->len != 0);

    /* NULL: a text holds NUL, which the naive one does not look beyond */

    naive = json_loadb((char *) text.data, text.len, 0, NULL);

    if (doc.len != 0) {
        try_written(&in, policy, naive, &doc);

    } else {
        for (n = 0; n < DOCUMENTS; n++) {
            s.data = (unsigned char *) documents[n];
            s.len = strlen(documents[n]);
            try(policy, naive, &s);
        }
    }

    json_decref(naive);
    relay_view_policy_free(policy);
    relay_buf_free(&err);
    fuzz_in_free(&in);

    return 0;
}
