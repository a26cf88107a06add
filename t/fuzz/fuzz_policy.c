
/*
 * relay_view_compile() on arbitrary policies.  What compiles is tried on a
 * few documents: whatever a policy says, a view is JSON.
 */

#include "fuzz.h"
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
project(const relay_view_policy_t *policy, const relay_str_t *doc,
    const relay_json_tape_t *tape, relay_view_e view, int64_t now,
    relay_permission_e permission)
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
    }

    relay_buf_free(&text);
    relay_json_tape_free(&again);
    relay_view_out_free(&out);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int                   view;
    size_t                i, n;
    relay_buf_t           err, doc;
    relay_str_t           text, s;
    relay_json_tape_t     tape;
    relay_json_error_t    jerr;
    relay_view_policy_t  *policy;
    unsigned char         digest[RELAY_DIGEST_LEN];

    text.data = (unsigned char *) data;
    text.len = size;

    relay_buf_init(&err, 65536);

    policy = relay_view_compile(&text, &err);

    if (policy == NULL) {
        fuzz_assert(err.len != 0);
        relay_buf_free(&err);
        return 0;
    }

    fuzz_assert(err.len == 0);

    relay_digest(&text, digest);
    fuzz_assert(relay_view_policy_digest(policy)->len == RELAY_DIGEST_LEN);
    fuzz_assert(memcmp(relay_view_policy_digest(policy)->data, digest,
                       RELAY_DIGEST_LEN)
                == 0);
    fuzz_assert(relay_view_policy_schema(policy)->len != 0);

    relay_buf_init(&doc, RELAY_DOCUMENT_MAX);
    relay_json_tape_init(&tape);

    for (n = 0; n < DOCUMENTS; n++) {

        s.data = (unsigned char *) documents[n];
        s.len = strlen(documents[n]);

        fuzz_assert(relay_json_parse(&tape, &s, &relay_json_default_limits,
                                     &jerr)
                    == RELAY_OK);

        for (view = 0; view <= RELAY_VIEW_MAX; view++) {
            for (i = 0; i < 2; i++) {
                project(policy, &s, &tape, view,
                        i ? INT64_C(4102444800000) : 0,
                        i ? RELAY_PERMISSION_EDIT : RELAY_PERMISSION_READ);
            }
        }
    }

    relay_json_tape_free(&tape);
    relay_buf_free(&doc);
    relay_view_policy_free(policy);
    relay_buf_free(&err);

    return 0;
}
