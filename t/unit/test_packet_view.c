
/*
 * Unit tests of the responder's view: the packet's policy, and the prompt.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE             /* memmem() */
#endif

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "relay_data.h"
#include "relay_view.h"
#include "packet_example.h"


#define VIEW  "schema/examples/views/responder.json"


static relay_view_policy_t  *policy;
static relay_view_out_t      out;
static relay_buf_t           view, prompt;


static relay_int_t
project(relay_view_e v)
{
    size_t               i;
    relay_int_t          rc;
    relay_str_t          s;
    const char          *why;
    relay_view_params_t  params;

    params.now = 1;
    params.permission = RELAY_PERMISSION_READ;

    relay_buf_str(&doc, &s);
    relay_buf_reset(&view);

    rc = relay_view_project(policy, &s, &tape, v, &params, &out, &why);

    assert_true((rc == RELAY_OK) == (why == NULL));

    for (i = 0; i < out.n; i++) {
        relay_buf_append_str(&view, &out.spans[i]);
    }

    assert_int_equal(view.failed, 0);
    assert_int_equal(view.len, out.len);

    return rc;
}


static void
read_prompt(void)
{
    relay_str_t  s;

    relay_buf_str(&doc, &s);
    relay_buf_reset(&prompt);

    assert_int_equal(relay_packet_prompt(&s, &tape, &prompt), RELAY_OK);
}


static int
occurs(const relay_buf_t *b, const char *text)
{
    return memmem(b->data, b->len, text, strlen(text)) != NULL;
}


static int
setup(void **state)
{
    relay_buf_t  err;

    example_init();
    relay_buf_init(&view, ROOM);
    relay_buf_init(&prompt, ROOM);
    relay_buf_init(&err, 4096);
    relay_view_out_init(&out);

    policy = relay_view_compile(relay_view_policy_text(RELAY_PACKET_SCHEMA),
                                &err);
    if (policy == NULL) {
        fail_msg("%.*s", (int) err.len, err.data);
    }

    return 0;
}


static int
teardown(void **state)
{
    example_free();
    relay_buf_free(&view);
    relay_buf_free(&prompt);
    relay_view_out_free(&out);
    relay_view_policy_free(policy);

    return 0;
}


static void
test_example(void **state)
{
    FILE    *fp;
    char     expected[16384];
    size_t   n;

    example();
    assert_int_equal(project(RELAY_VIEW_RESPONDER), RELAY_OK);
    assert_int_equal(out.withheld, 16);
    assert_int_equal(out.valid_until, 0);

    fp = fopen(VIEW, "rb");
    if (fp == NULL) {
        fail_msg("%s is missing", VIEW);
    }

    n = fread(expected, 1, sizeof(expected), fp);
    fclose(fp);

    /* the file ends in a line feed */

    assert_int_equal(view.len, n - 1);
    assert_memory_equal(view.data, expected, n - 1);
}


static void
test_views(void **state)
{
    int                   v;
    relay_str_t           s;
    relay_buf_t           err;
    relay_view_params_t   params;
    const char           *why;
    relay_view_policy_t  *package;

    example();

    assert_int_equal(project(RELAY_VIEW_OWNER), RELAY_OK);
    assert_int_equal(view.len, doc.len);
    assert_memory_equal(view.data, doc.data, doc.len);

    for (v = RELAY_VIEW_NONE; v <= RELAY_VIEW_MAX; v++) {
        if (v != RELAY_VIEW_OWNER && v != RELAY_VIEW_RESPONDER) {
            assert_int_equal(project(v), RELAY_DECLINED);
        }
    }

    /* nor has a package the responder's, nor is a packet one */

    relay_buf_init(&err, 4096);

    package = relay_view_compile(
                       relay_view_policy_text("relay.context-package.v1"),
                       &err);
    assert_non_null(package);

    params.now = 1;
    params.permission = RELAY_PERMISSION_READ;
    relay_buf_str(&doc, &s);

    assert_int_equal(relay_view_project(package, &s, &tape,
                                        RELAY_VIEW_RECIPIENT, &params, &out,
                                        &why),
                     RELAY_DECLINED);

    put(0, doc.len, "{\"schema\":\"relay.context-package.v1\"}");
    relay_buf_str(&doc, &s);

    assert_int_equal(relay_view_project(package, &s, &tape,
                                        RELAY_VIEW_RESPONDER, &params, &out,
                                        &why),
                     RELAY_DECLINED);
    assert_string_equal(why, "the policy has no such view");

    assert_int_equal(project(RELAY_VIEW_RESPONDER), RELAY_DECLINED);

    put(0, doc.len, "{\"schema\":\"" RELAY_PACKET_SCHEMA "\"}");
    assert_int_equal(project(RELAY_VIEW_RESPONDER), RELAY_DECLINED);
    assert_int_equal(project(RELAY_VIEW_OWNER), RELAY_DECLINED);

    relay_view_policy_free(package);
    relay_buf_free(&err);
}


/* Every text that is withheld, marked. */

static void
canaries(void)
{
    set("/coordinator_artifact_ref", "\"CANARY01/a.json\"");
    set("/projected_context_ref", "\"CANARY02/b.json\"");
    set(OMITTED, "[\"CANARY03 refs\", \"C\\u0041NARY04 refs\"]");
    set(FORBIDDEN, "[\"CANARY05 class\"]");
    set("/hidden_context_audit/known_absences", "[\"CANARY06\"]");
    set("/review",
        "{\"reviewer\":\"CANARY07\",\"review_notes\":[\"CANARY08\"],"
        "\"accepted_for_sandbox_use\":true,\"failure_labels\":[\"CANARY09\"]}");
    set("/review_status", "\"CANARY10\"");
    set("/fixture_lane", "\"CANARY11\"");
    set("/canon_status", "\"CANARY12\"");
    set("/generation_lane", "\"CANARY13\"");
    set("/lore_access",
        "{\"mode\":\"CANARY14\",\"allowed_scope\":[\"CANARY15\"],"
        "\"research_instructions\":[\"CANARY16\"],"
        "\"traversal_policy\":{\"allowed_prefixes\":[\"CANARY17\"],"
        "\"required_seed_refs\":\"CANARY18\"},\"required_provenance\":true}");
    set("/visible_context/source_excerpts/0/source_ref", "\"CANARY19\"");
    set("/visible_context/source_excerpts/1/source_ref",
        "{\"a\":[\"CANARY20\"]}");

    /* and what no schema knows */

    add("", ",\"CANARY21\":\"CANARY22\"");
    add("/visible_context", ",\"CANARY23\":{\"x\":\"CANARY24\"}");
    add("/visible_context/observed_event", ",\"secret\":\"CANARY25\"");
    add("/visible_context/source_excerpts/0", ",\"note\":\"CANARY26\"");
    add("/output_contract", ",\"note\":[\"CANARY27\"]");
    add("/isolation_requirements", ",\"note\":\"CANARY28\"");
    add("/hidden_context_audit", ",\"note\":\"CANARY29\"");
    add("/review", ",\"note\":\"CANARY30\"");
}


static void
test_canaries(void **state)
{
    example();
    canaries();

    assert_true(occurs(&doc, "CANARY30"));

    assert_int_equal(project(RELAY_VIEW_RESPONDER), RELAY_OK);
    read_prompt();

    assert_false(occurs(&view, "CANARY"));
    assert_false(occurs(&view, "NARY04"));
    assert_false(occurs(&prompt, "CANARY"));

    /* unless the prompt has it */

    add(PROMPT, " CANARY07");
    assert_int_equal(project(RELAY_VIEW_RESPONDER), RELAY_OK);
    read_prompt();

    assert_true(occurs(&view, "CANARY07"));
    assert_true(occurs(&prompt, "CANARY07"));
    assert_false(occurs(&view, "CANARY08"));
}


/* What is withheld is withheld in whatever shape it comes. */

static void
test_shapes(void **state)
{
    size_t  i, j;

    static const char *const  pointers[] = {
        "/coordinator_artifact_ref", "/projected_context_ref",
        "/hidden_context_audit", OMITTED, FORBIDDEN, "/review",
        "/review/reviewer", "/review/review_notes", "/lore_access",
        "/lore_access/mode", "/lore_access/allowed_scope", "/canon_status",
        "/visible_context/source_excerpts/0/source_ref"
    };

    static const char *const  values[] = {
        "\"CANARY\"", "[\"CANARY\"]", "{\"CANARY\":\"CANARY\"}",
        "[[[\"CANARY\"]]]",
        "{\"reviewer\":{\"CANARY\":1},\"mode\":\"CANARY\"}",
        "{\"omitted_context_refs\":\"CANARY\"}"
    };

    for (i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
        for (j = 0; j < sizeof(values) / sizeof(values[0]); j++) {
            example();
            set(pointers[i], values[j]);
            (void) project(RELAY_VIEW_RESPONDER);
            assert_false(occurs(&view, "CANARY"));
        }
    }
}


/* A responder that searches itself is told what it may read, and cites it. */

static void
test_research(void **state)
{
    static const char  mode[] = "/lore_access/mode";

    example_research();

    assert_int_equal(project(RELAY_VIEW_RESPONDER), RELAY_OK);
    assert_true(occurs(&view, "\"mode\":\"" RESEARCH "\""));
    assert_true(occurs(&view, "\"retrieval_augmented\""));
    assert_true(occurs(&view, "\"allowed_scope\":[\"lore/mill/\"]"));
    assert_true(occurs(&view, "Look up the tide."));
    assert_true(occurs(&view, "\"required_seed_refs\":[\"lore/tides/low.md\"]"
                              ",\"follow_link_classes\""));
    assert_true(occurs(&view, "lore/sorrel_quay/mill_rules.md"));
    assert_false(occurs(&view, "coordination/"));
    assert_false(occurs(&view, "cargo_manifest"));

    /* the mode may be spelled with escapes, and is then the same */

    set(mode, "\"responder_scoped_repository_se\\u0061rch\"");
    assert_int_equal(project(RELAY_VIEW_RESPONDER), RELAY_OK);
    assert_true(occurs(&view, "lore/sorrel_quay/mill_rules.md"));

    set(mode, "\"coordinator_scoped_retrieval\"");
    assert_int_equal(project(RELAY_VIEW_RESPONDER), RELAY_OK);
    assert_true(occurs(&view, "\"mode\":\"curated_excerpts_only\","
                              "\"allowed_scope\":[],"
                              "\"required_provenance\":true}"));
    assert_true(occurs(&view, "\"packet_only\""));
    assert_false(occurs(&view, "lore/sorrel_quay"));
    assert_false(occurs(&view, "low.md"));

    /* a mode that is no text decides nothing */

    set(mode, "7");
    assert_int_equal(project(RELAY_VIEW_RESPONDER), RELAY_DECLINED);

    set("/lore_access", "{}");
    assert_int_equal(project(RELAY_VIEW_RESPONDER), RELAY_OK);
    assert_false(occurs(&view, "lore/sorrel_quay"));
}


static void
test_prompt(void **state)
{
    relay_str_t         s;
    relay_json_error_t  err;

    static const char  expected[] =
        "a\"b\\c/d\b\f\n\r\te\xc3\xa9\xf0\x9f\x98\x80";
    static const char  lone[] = "{\"packet_prompt_text\":\"\\ud83d\"}";

    example();
    set(PROMPT, "\"a\\\"b\\\\c\\/d\\b\\f\\n\\r\\te\\u00e9\\ud83d\\ude00\"");
    read_prompt();
    assert_int_equal(prompt.len, sizeof(expected) - 1);
    assert_memory_equal(prompt.data, expected, prompt.len);

    set(PROMPT, "\"a\\u0000b\"");
    read_prompt();
    assert_int_equal(prompt.len, 3);
    assert_memory_equal(prompt.data, "a\0b", 3);

    /* appended to what is there */

    relay_buf_str(&doc, &s);
    assert_int_equal(relay_packet_prompt(&s, &tape, &prompt), RELAY_OK);
    assert_int_equal(prompt.len, 6);

    set(PROMPT, "[\"a\"]");
    relay_buf_str(&doc, &s);
    assert_int_equal(relay_packet_prompt(&s, &tape, &prompt), RELAY_DECLINED);

    put(0, doc.len, "[]");
    relay_buf_str(&doc, &s);
    assert_int_equal(relay_packet_prompt(&s, &tape, &prompt), RELAY_DECLINED);
    assert_int_equal(prompt.len, 6);

    /* half a character is none: the tokenizer refuses it */

    s.data = (unsigned char *) lone;
    s.len = sizeof(lone) - 1;
    assert_int_equal(relay_json_parse(&tape, &s, &relay_json_default_limits,
                                      &err),
                     RELAY_DECLINED);
}


static void
refused(const char *fields, const char *sentence)
{
    relay_buf_t           text, err;
    relay_str_t           s;
    relay_view_policy_t  *p;

    relay_buf_init(&text, 4096);
    relay_buf_init(&err, 4096);

    relay_buf_printf(&text, "{\"schema\":\"t\",\"member\":\"kind\","
                     "\"views\":[\"responder\"],\"fields\":{\"a\":%s}}",
                     fields);
    relay_buf_str(&text, &s);

    p = relay_view_compile(&s, &err);

    if (sentence == NULL) {
        if (p == NULL) {
            fail_msg("%.*s", (int) err.len, err.data);
        }

    } else {
        assert_null(p);
        relay_buf_append_c(&err, '\0');
        assert_string_equal(err.data, sentence);
    }

    relay_view_policy_free(p);
    relay_buf_free(&text);
    relay_buf_free(&err);
}


/* What the policy of packets needs of the policies' language. */

static void
test_policies(void **state)
{
    refused("{\"$views\":\"by\",\"$by\":{\"at\":\"/m/n\",\"else\":\"drop\"}}",
            NULL);
    refused("{\"$views\":\"by\",\"$constant\":1,"
            "\"$by\":{\"at\":\"/m\",\"else\":\"constant\"}}",
            NULL);
    refused("{\"$views\":\"by\",\"$constant\":1,\"$by\":{\"at\":\"/m\","
            "\"is\":{\"x\":\"constant\"},\"else\":\"drop\"}}",
            NULL);
    refused("{\"$views\":\"by\",\"$constant\":1,\"$by\":{\"at\":\"/m\","
            "\"missing\":\"constant\",\"else\":\"drop\"}}",
            NULL);
    refused("{\"$views\":\"by\",\"$by\":{\"at\":\"/m\",\"else\":\"constant\"}}",
            "/fields/a: \"constant\" and \"$constant\" need each other");
    refused("{\"$views\":\"by\",\"$constant\":1,"
            "\"$by\":{\"at\":\"/m\",\"else\":\"drop\"}}",
            "/fields/a: \"constant\" and \"$constant\" need each other");
    refused("{\"$views\":\"by\",\"$by\":{\"at\":\"m\",\"else\":\"drop\"}}",
            "/fields/a/$by/at: a pointer to a member is needed here");
    refused("{\"$views\":\"by\",\"$by\":{\"at\":\"/m\",\"own\":\"m\","
            "\"else\":\"drop\"}}",
            "/fields/a/$by: a name that no \"$by\" knows, or one too many");
    refused("{\"$views\":\"by\",\"$by\":{\"at\":\"/m\",\"else\":\"take n\"}}",
            "/fields/a/$by/else: \"take\" needs a \"beside\"");
    refused("{\"$views\":\"by\",\"$by\":{\"else\":\"drop\"}}",
            "/fields/a/$by: \"own\", \"beside\" or \"at\" is needed here");
}


int
main(void)
{
    static const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_canaries),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_research),
        cmocka_unit_test(test_prompt),
        cmocka_unit_test(test_policies)
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
