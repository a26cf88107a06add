
/*
 * Unit tests of lib/relay_packet*.c: the example packet, which meets every
 * rule, and what each rule says of it when one thing is changed.
 */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "relay_packet_rule.h"
#include "relay_pointer.h"
#include "packet_example.h"


#define ZWSP         "\\u200b"


static relay_buf_t             mem, err;
static relay_packet_t          head;
static relay_packet_rules_t    rules;
static relay_packet_result_t   result;


static void
load(void)
{
    example();
    relay_packet_rules_init(&rules);
}


static void
research(void)
{
    example_research();
    relay_packet_rules_init(&rules);
}


static relay_int_t
gate(relay_uint_t schema_valid)
{
    relay_str_t  s;

    relay_buf_str(&doc, &s);

    return relay_packet_gate(&rules, &s, &tape, schema_valid, &result);
}


static void
action(const char *name, relay_packet_action_e a)
{
    relay_str_t  s;

    s.data = (unsigned char *) name;
    s.len = strlen(name);

    assert_int_equal(relay_packet_rules_set(&rules, &s, a), RELAY_OK);
}


static void
check_pointer(const relay_packet_finding_t *f, const char *pointer)
{
    relay_str_t  s;

    relay_buf_str(&doc, &s);
    relay_buf_reset(&err);

    assert_int_equal(relay_pointer_append(&tape, &s, f->node, &err), RELAY_OK);
    assert_int_equal(err.len, strlen(pointer));
    assert_memory_equal(err.len ? err.data : (void *) "", pointer, err.len);
    assert_int_equal(f->offset, tape.nodes[node_at(pointer)].off);
}


/* One rule refuses, and no other. */

static void
refused(unsigned rule, const char *pointer)
{
    size_t  i;

    assert_int_equal(gate(1), RELAY_DECLINED);
    assert_int_equal(result.rule, rule);
    assert_true(result.refused > 0);

    for (i = 0; i < result.n; i++) {
        if (result.findings[i].action == RELAY_PACKET_REFUSE) {
            assert_int_equal(result.findings[i].rule, rule);
        }
    }

    for (i = 0; i < result.n; i++) {
        if (result.findings[i].rule == rule) {
            check_pointer(&result.findings[i], pointer);
            break;
        }
    }
}


/* One rule warns, no other does, and none refuses. */

static void
warned(unsigned rule, const char *pointer)
{
    assert_int_equal(gate(1), RELAY_OK);
    assert_int_equal(result.refused, 0);
    assert_int_equal(result.warned, 1);
    assert_int_equal(result.n, 1);
    assert_int_equal(result.findings[0].rule, rule);
    assert_int_equal(result.findings[0].action, RELAY_PACKET_WARN);
    check_pointer(&result.findings[0], pointer);
}


static void
clean(void)
{
    assert_int_equal(gate(1), RELAY_OK);
    assert_int_equal(result.n, 0);
    assert_int_equal(result.refused + result.warned, 0);
    assert_int_equal(result.rule, 0);
}


static int
setup(void **state)
{
    example_init();
    relay_buf_init(&mem, ROOM);
    relay_buf_init(&err, ROOM);

    return 0;
}


static int
teardown(void **state)
{
    example_free();
    relay_buf_free(&mem);
    relay_buf_free(&err);

    return 0;
}


static relay_int_t
read_head(void)
{
    relay_str_t  s;

    relay_buf_str(&doc, &s);

    return relay_packet_head(&s, &tape, &head, &mem, &err);
}


static void
declined(const char *sentence)
{
    assert_int_equal(read_head(), RELAY_DECLINED);
    assert_int_equal(err.len, strlen(sentence));
    assert_memory_equal(err.data, sentence, err.len);
}


static void
test_head(void **state)
{
    load();

    assert_int_equal(read_head(), RELAY_OK);
    assert_true(relay_str_is(&head.packet_id,
                             "packet.sorrel_quay.gatehouse.003"));
    assert_true(relay_str_is(&head.responder, "ines_varga"));
    assert_int_equal(head.status, RELAY_PACKET_ACCEPTED);
    assert_int_equal(head.lane, RELAY_PACKET_ONLY);
    assert_int_equal(head.lore, RELAY_PACKET_LORE_CURATED);
    assert_int_equal(head.isolation, RELAY_PACKET_MANUAL);
    assert_int_equal(head.accepted, 1);

    set("/packet_id", "\"p\\u00e9\"");
    set("/responder_agent_id", "\"\\u0069nes\"");
    set("/review_status", "\"super\\u0073eded\"");
    set("/review/accepted_for_sandbox_use", "false");
    set("/isolation_requirements/isolation_method", "\"subagent_no_fork\"");
    set("/lore_access/mode", "\"coordinator_scoped_retrieval\"");
    set("/generation_lane", "\"retrieval_augmented\"");

    assert_int_equal(read_head(), RELAY_OK);
    assert_true(relay_str_is(&head.packet_id, "p\xc3\xa9"));
    assert_true(relay_str_is(&head.responder, "ines"));
    assert_int_equal(head.status, RELAY_PACKET_SUPERSEDED);
    assert_int_equal(head.lane, RELAY_PACKET_RETRIEVAL);
    assert_int_equal(head.lore, RELAY_PACKET_LORE_COORDINATOR);
    assert_int_equal(head.isolation, RELAY_PACKET_SUBAGENT);
    assert_int_equal(head.accepted, 0);
}


static void
test_head_declined(void **state)
{
    load();
    set("/packet_id", "\"\"");
    declined("/packet_id: it is empty");

    load();
    set("/responder_agent_id", "\"\"");
    declined("/responder_agent_id: it is empty");

    load();
    set("/responder_agent_id", "null");
    declined("/responder_agent_id: a string is needed here");

    load();
    set("/review_status", "\"Accepted\"");
    declined("/review_status: the schema has no such value");

    load();
    set("/schema_version", "\"ghostlight.responder_packet.v1\"");
    declined("/schema_version: it is not ghostlight.responder_packet.v0");

    load();
    set("/review", "{\"failure_labels\":[]}");
    declined("/review/accepted_for_sandbox_use: it is missing");

    load();
    set("/visible_context/source_excerpts/1", "{\"ref_id\":\"r\"}");
    declined("/visible_context/source_excerpts/1: ref_id, source_ref and text"
             " are needed here, as strings");

    load();
    set("", "[]");
    declined("the document is not an object");
}


/* Every member that a rule rests on, gone or of another type. */

static void
test_types(void **state)
{
    size_t  i;

    static const char *const  pointers[] = {
        "/schema_version", "/packet_id", "/review_status",
        "/coordinator_artifact_ref", "/projected_context_ref",
        "/responder_agent_id", "/generation_lane", "/lore_access",
        "/lore_access/mode", "/lore_access/allowed_scope",
        "/lore_access/required_provenance", "/visible_context",
        "/visible_context/local_context_prompt",
        "/visible_context/observed_event",
        "/visible_context/observed_event/observable_action",
        "/visible_context/observed_event/spoken_text",
        "/visible_context/allowed_action_labels",
        "/visible_context/allowed_action_labels/0",
        "/visible_context/source_excerpts",
        "/visible_context/source_excerpts/0", "/output_contract",
        "/output_contract/required_fields",
        "/output_contract/required_fields/2",
        "/output_contract/response_rules", "/hidden_context_audit",
        OMITTED, OMITTED "/1", FORBIDDEN, FORBIDDEN "/0",
        "/hidden_context_audit/known_absences", "/isolation_requirements",
        "/isolation_requirements/isolation_method",
        "/isolation_requirements/packet_only",
        "/isolation_requirements/no_repo_access",
        "/isolation_requirements/no_conversation_context",
        "/isolation_requirements/no_hidden_state_refs",
        PROMPT, "/review", "/review/accepted_for_sandbox_use",
        "/review/failure_labels"
    };

    static const char *const  values[] = {
        "null", "1", "[1]", "{\"a\":1}", "\"true\""
    };

    size_t  j, type;

    for (i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {

        for (j = 0; j < sizeof(values) / sizeof(values[0]); j++) {

            load();
            type = tape.nodes[node_at(pointers[i])].type;

            if (type == RELAY_JSON_STRING && values[j][0] == '"') {
                continue;
            }

            set(pointers[i], values[j]);

            assert_int_equal(gate(1), RELAY_DECLINED);
            assert_int_equal(result.rule, 1);
            assert_int_equal(result.n, 1);
            assert_int_equal(read_head(), RELAY_DECLINED);
        }
    }

    /* excerpts */

    load();
    set("/visible_context/source_excerpts/0/source_ref", "7");
    refused(1, "/visible_context/source_excerpts/0");
}


/* P1: without the schema's word nothing passes. */

static void
test_schema(void **state)
{
    load();

    assert_int_equal(gate(0), RELAY_DECLINED);
    assert_int_equal(result.rule, 1);
    assert_int_equal(result.n, 1);

    rules.action[1] = RELAY_PACKET_OFF;
    assert_int_equal(gate(0), RELAY_DECLINED);

    clean();
}


static void
test_accepted(void **state)
{
    load();
    clean();

    /* all that is configurable, at its strictest */

    action("P8", RELAY_PACKET_REFUSE);
    action("P9", RELAY_PACKET_REFUSE);
    action("P13", RELAY_PACKET_REFUSE);
    action("P19", RELAY_PACKET_REFUSE);
    action("P22", RELAY_PACKET_REFUSE);
    action("P23", RELAY_PACKET_REFUSE);
    action("P24", RELAY_PACKET_REFUSE);
    action("P25", RELAY_PACKET_REFUSE);
    action("P27", RELAY_PACKET_REFUSE);
    clean();
}


static void
test_rules_set(void **state)
{
    size_t       i;
    relay_str_t  s;
    char         name[8];

    static const char *const  fixed[] = { "P1", "P3", "P14", "P16" };
    static const char *const  words[] = { "", "=", "P17", "P17=", "=off",
                                          "P1=off", "P17=Off", "P17=off ",
                                          "P17=off=off", "P20=off" };
    static const char *const  none[] = { "", "P", "P0", "P20", "P26", "P28",
                                         "p17", "P017", "17" };

    load();

    for (i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
        s.data = (unsigned char *) fixed[i];
        s.len = strlen(fixed[i]);

        assert_int_equal(relay_packet_rules_set(&rules, &s, RELAY_PACKET_OFF),
                         RELAY_DECLINED);
        assert_int_equal(relay_packet_rules_set(&rules, &s, RELAY_PACKET_WARN),
                         RELAY_DECLINED);
        assert_int_equal(relay_packet_rules_set(&rules, &s,
                                                RELAY_PACKET_REFUSE),
                         RELAY_OK);
    }

    for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        s.data = (unsigned char *) none[i];
        s.len = strlen(none[i]);

        assert_int_equal(relay_packet_rules_set(&rules, &s,
                                                RELAY_PACKET_REFUSE),
                         RELAY_DECLINED);
    }

    for (i = 1; i < RELAY_PACKET_RULES; i++) {
        if (i != 20 && i != 26) {
            snprintf(name, sizeof(name), "P%zu", i);
            assert_int_equal(relay_packet_rule_name(i)->len, strlen(name));
            assert_memory_equal(relay_packet_rule_name(i)->data, name,
                                strlen(name));
        }
    }

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        s.data = (unsigned char *) words[i];
        s.len = strlen(words[i]);
        assert_int_equal(relay_packet_rules_word(&rules, &s), RELAY_DECLINED);
    }

    clean();
    relay_str_set(&s, "P27=refuse");
    assert_int_equal(relay_packet_rules_word(&rules, &s), RELAY_OK);
    assert_int_equal(rules.action[27], RELAY_PACKET_REFUSE);
    relay_str_set(&s, "P27=off");
    assert_int_equal(relay_packet_rules_word(&rules, &s), RELAY_OK);
    assert_int_equal(rules.action[27], RELAY_PACKET_OFF);

    assert_true(relay_str_is(relay_packet_action_name(RELAY_PACKET_WARN),
                             "warn"));

    assert_int_equal(relay_packet_rule_name(20)->len, 0);
    assert_int_equal(relay_packet_rule_name(4711)->len, 0);
}


/* P2 */

static void
test_blank(void **state)
{
    static const char *const  blank[] = {
        "\" \"", "\"\\u00a0\\u2003\\t\\n\"", "\"" ZWSP ZWSP "\"",
        "\"\\u0000\"", "\"\\u00ad\\u2060 \\ufeff\"", "\"\xe2\x80\x8b\""
    };
    size_t  i;

    for (i = 0; i < sizeof(blank) / sizeof(blank[0]); i++) {
        load();
        set("/review/reviewer", blank[i]);
        refused(2, "/review/reviewer");
    }

    load();
    set("/visible_context/observed_event/spoken_text", "\"\"");
    set("/review/reviewer", "\" . \"");
    clean();

    load();
    set("/review/reviewer", "\"\\u00e9\"");
    clean();

    load();
    set("/review/reviewer", "\" \"");
    action("P2", RELAY_PACKET_WARN);
    warned(2, "/review/reviewer");
    action("P2", RELAY_PACKET_OFF);
    clean();
}


static void
test_filled(void **state)
{
    size_t  i;

    static const char *const  arrays[] = {
        "/lore_access/research_instructions",
        "/lore_access/traversal_policy/allowed_prefixes",
        "/lore_access/traversal_policy/required_seed_refs",
        "/lore_access/traversal_policy/follow_link_classes",
        "/lore_access/traversal_policy/stop_conditions"
    };

    research();
    clean();

    for (i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        research();
        set(arrays[i], "[]");
        refused(2, arrays[i]);
    }
}


/* P3 */

static void
test_depth(void **state)
{
    size_t  i;

    static const char *const  wrong[] = { "true", "-1", "1.5", "\"2\"", "null",
                                          "1e99" };

    for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        research();
        set("/lore_access/traversal_policy/max_link_depth", wrong[i]);
        refused(3, "/lore_access/traversal_policy/max_link_depth");
    }

    research();
    set("/lore_access/traversal_policy/max_link_depth", "0");
    clean();

    research();
    set("/lore_access/traversal_policy/max_link_depth", "3.0");
    clean();
}


/* P4 to P7 */

static void
test_lanes(void **state)
{
    size_t  i;

    static const char *const  always[] = {
        "/lore_access/required_provenance",
        "/isolation_requirements/packet_only",
        "/isolation_requirements/no_conversation_context",
        "/isolation_requirements/no_hidden_state_refs"
    };

    load();
    set("/lore_access/mode", "\"coordinator_scoped_retrieval\"");
    refused(4, "/lore_access/mode");

    load();
    set("/generation_lane", "\"retrieval_augmented\"");
    refused(5, "/lore_access/mode");

    load();
    set("/generation_lane", "\"retrieval_augmented\"");
    set("/lore_access/mode", "\"coordinator_scoped_retrieval\"");
    clean();

    load();
    set("/isolation_requirements/no_repo_access", "false");
    refused(6, "/isolation_requirements/no_repo_access");

    research();
    set("/isolation_requirements/no_repo_access", "true");
    refused(6, "/isolation_requirements/no_repo_access");

    research();
    set("/lore_access/allowed_scope", "[]");
    refused(6, "/lore_access/allowed_scope");

    research();
    set("/lore_access",
        "{\"mode\":\"" RESEARCH "\",\"allowed_scope\":[\"lore/mill/\"],"
        "\"required_provenance\":true}");
    refused(6, "/lore_access");
    assert_int_equal(result.refused, 2);

    for (i = 0; i < sizeof(always) / sizeof(always[0]); i++) {
        load();
        set(always[i], "false");
        refused(7, always[i]);
    }
}


/* P8, P9 */

static void
test_markers(void **state)
{
    size_t  i;

    static const char *const  state_words[] = {
        "current_activation", "Plasticity", "CANONICAL_STATE",
        "raw state variable", "Raw Numeric State", "dimension score",
        "canon" ZWSP "ical_state", "\\uff50lasticity",
        "pl\\u0061sticity", "pla\xcc\xb6sticity"
    };

    static const relay_str_t  markers[] = {
        relay_string("Harbour.Thread"), relay_string("never_say")
    };

    for (i = 0; i < sizeof(state_words) / sizeof(state_words[0]); i++) {
        load();
        add(PROMPT, state_words[i]);
        warned(8, PROMPT);
        action("P8", RELAY_PACKET_REFUSE);
        refused(8, PROMPT);
        action("P8", RELAY_PACKET_OFF);
        clean();
    }

    load();
    add(PROMPT, " current activation, canonical state, raw state.");
    clean();

    load();
    add(PROMPT, " future_branch_plans");
    warned(9, PROMPT);

    load();
    add(PROMPT, " Coordinator_Decision.Rationale");
    warned(9, PROMPT);

    rules.markers = markers;
    rules.nmarkers = 2;
    clean();

    add(PROMPT, " harbour.thread");
    warned(9, PROMPT);

    load();
    rules.nmarkers = 0;
    add(PROMPT, " future_branch_plans");
    clean();
}


/* P10, P11 */

static void
test_contained(void **state)
{
    load();
    set("/visible_context/local_context_prompt", "\"you are Ines Varga\"");
    refused(10, "/visible_context/local_context_prompt");

    load();
    set("/visible_context/local_context_prompt",
        "\"You are Ines Varg\\u0061\"");
    clean();

    load();
    set("/visible_context/local_context_prompt", "\"\"");
    refused(10, "/visible_context/local_context_prompt");

    load();
    set("/visible_context/observed_event/observable_action",
        "\"Bram Oke sets a wrapped  iron pin\"");
    refused(11, "/visible_context/observed_event/observable_action");

    load();
    set("/visible_context/observed_event/observable_action",
        "\"Bram Oke sets a wrapped iron pin\"");
    clean();

    load();
    set("/visible_context/local_context_prompt", "\"nowhere\"");
    action("P10", RELAY_PACKET_WARN);
    warned(10, "/visible_context/local_context_prompt");
}


/* P12 */

static void
test_research(void **state)
{
    research();
    set("/lore_access/allowed_scope", "[\"lore/mill/\",\"lore/quay/\"]");
    refused(12, "/lore_access/allowed_scope/1");

    research();
    set("/lore_access/traversal_policy/allowed_prefixes", "[\"Lore/tides/\"]");
    refused(12, "/lore_access/traversal_policy/allowed_prefixes/0");

    load();
    research();
    set(PROMPT, "\"x\"");
    action("P10", RELAY_PACKET_OFF);
    action("P11", RELAY_PACKET_OFF);
    assert_int_equal(gate(1), RELAY_DECLINED);
    assert_int_equal(result.rule, 12);
    check_pointer(&result.findings[0], PROMPT);

    /* in other modes the section is not asked for */

    load();
    set("/lore_access/allowed_scope", "[\"lore/quay/\"]");
    clean();
}


/* P13, off unless it is asked for */

static void
test_references(void **state)
{
    size_t  i;

    static const char *const  wrong[] = {
        "\"/a/b.json\"", "\"a/../b.json\"", "\"../b.json\"", "\"a//b.json\"",
        "\"a\\\\b.json\"", "\"https://a.example/b.json\"", "\"c:b.json\"",
        "\"a/b.JSON\"", "\"a/b.json/\"", "\".json\"", "\"a\"", "\"a/..\""
    };

    for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        load();
        set("/projected_context_ref", wrong[i]);
        action("P21", RELAY_PACKET_OFF);
        clean();
        action("P13", RELAY_PACKET_REFUSE);
        refused(13, "/projected_context_ref");
    }

    load();
    action("P13", RELAY_PACKET_REFUSE);
    set("/coordinator_artifact_ref", "\"a..b/c.d/e..json\"");
    clean();
}


/* P14 to P16 */

static void
test_review(void **state)
{
    size_t  i;

    static const char *const  never[] = {
        "\"rejected\"", "\"superseded\"", "\"useful_needs_revision\""
    };

    load();
    set("/review/accepted_for_sandbox_use", "false");
    refused(14, "/review/accepted_for_sandbox_use");

    load();
    set("/review/failure_labels", "[\"too long\"]");
    refused(15, "/review/failure_labels");
    action("P15", RELAY_PACKET_WARN);
    warned(15, "/review/failure_labels");

    for (i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
        load();
        set("/review_status", never[i]);
        refused(16, "/review_status");
        rules.allow_draft = 1;
        refused(16, "/review_status");
        rules.action[16] = RELAY_PACKET_OFF;
        refused(16, "/review_status");
    }

    load();
    set("/review_status", "\"draft\"");
    refused(16, "/review_status");
    rules.allow_draft = 1;
    clean();

    load();
    set("/review_status", "\"accepted_as_draft\"");
    clean();
}


/* P17 */

static void
test_omitted(void **state)
{
    size_t  i;

    /* second_boat.cargo_manifest, as it may be written */

    static const char *const  leaks[] = {
        "second_boat.cargo_manifest",
        "The SECOND boat's cargo manifest, second boat cargo manifest",
        "Second Boat: Cargo Manifest",
        "second\\u005fboat\\u002ecargo\\u005fmanifest",
        "sec" ZWSP "ond boat car\\u00adgo mani\\u2060fest",
        "\\uff53\\uff45\\uff43\\uff4f\\uff4e\\uff44 boat cargo manifest",
        "\xef\xbc\xb3" "ECOND\\u3000BOAT\\u2014CARGO\\nMANIFEST",
        "\\ud835\\udc2c\\u0065cond boat cargo manifest",
        "s\\u0336e\\u0336cond boat cargo manifest",
        "se\\u0301cond boat c\\u00e0rgo manifest",
        "second ... boat --- cargo (manifest)",
        "seconD BOAT\\u0008 CARGO\\u0000 MANI\\ufb01EST second boat cargo"
        " mani\\ufb00est second boat cargo mani\\u0066est",
        "presecond boat cargo manifests"
    };

    static const char *const  near[] = {
        "second boat", "second boat cargo", "boat cargo manifest",
        "second boat and cargo manifest", "secondboat cargomanifest",
        "manifest cargo boat second", "second boat c argo manifest"
    };

    for (i = 0; i < sizeof(leaks) / sizeof(leaks[0]); i++) {
        load();
        add(PROMPT, " ");
        add(PROMPT, leaks[i]);
        refused(17, OMITTED "/1");
    }

    for (i = 0; i < sizeof(near) / sizeof(near[0]); i++) {
        load();
        add(PROMPT, " ");
        add(PROMPT, near[i]);
        clean();
    }

    /* the entry may hide as well */

    load();
    set(OMITTED "/0", "\"CHO\\u004fSE" ZWSP "_exactly.one::spe\\uff41k\"");
    refused(17, OMITTED "/0");

    /* one word is too little to be told from others */

    load();
    set(OMITTED "/0", "\"__lamp__\"");
    set(OMITTED "/1", "\"...\"");
    clean();

    /* what is said not to be known is said on purpose: no P20 */

    load();
    set("/hidden_context_audit/known_absences/0", "\"You are Ines Varga\"");
    clean();

    load();
    add(PROMPT, " second boat cargo manifest");
    action("P17", RELAY_PACKET_WARN);
    warned(17, OMITTED "/1");
    action("P17", RELAY_PACKET_OFF);
    clean();

    /* one that holds another one */

    load();
    add(OMITTED, ",\"boat cargo\",\"cargo manifest of\"");
    add(PROMPT, " second boat cargo manifest");
    assert_int_equal(gate(1), RELAY_DECLINED);
    assert_int_equal(result.refused, 2);
    check_pointer(&result.findings[0], OMITTED "/1");
    check_pointer(&result.findings[1], OMITTED "/2");
}


/* P18 */

static void
test_visible(void **state)
{
    size_t  i;

    static const char *const  strings[] = {
        "/visible_context/observed_event/event_id",
        "/visible_context/observed_event/actor_agent_id",
        "/visible_context/observed_event/visible_object_refs/0",
        "/visible_context/observed_event/visibility_notes/0",
        "/visible_context/source_excerpts/0/ref_id",
        "/visible_context/source_excerpts/1/source_ref",
        "/visible_context/source_excerpts/1/text",
        "/output_contract/response_schema",
        "/output_contract/response_rules/2"
    };

    for (i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
        load();
        set(strings[i], "\"Of SECOND BOAT" ZWSP "/cargo.manifest\"");
        refused(18, strings[i]);

        /* whether or not the prompt is looked at */

        action("P17", RELAY_PACKET_OFF);
        refused(18, strings[i]);
        action("P18", RELAY_PACKET_WARN);
        warned(18, strings[i]);
        action("P18", RELAY_PACKET_OFF);
        clean();
    }

    load();
    set(strings[3], "\"second boat\"");
    set(strings[6], "\"cargo manifest\"");
    clean();
}


/* P19 */

static void
test_forbidden(void **state)
{
    load();
    add(PROMPT, " Do not guess the outcome of a LATER scene.");
    warned(19, FORBIDDEN "/1");

    load();
    add(PROMPT, " Do not guess the outcome of a scene.");
    clean();
}


/* P21 */

static void
test_leaked_references(void **state)
{
    size_t  i;

    static const char *const  leaks[] = {
        "see examples/a.json", "see repo/experiments/x", "STATE/x",
        "(state/private.json)", "ex" ZWSP "amples/a", "\\uff53tate/x",
        "examples/*.json", "state/.hidden",
        "coordination/sorrel_quay/gatehouse_003.json",
        "Projections/sorrel_quay/ines_gatehouse_003.json",
        "lore/sorrel_quay/mill_rules.md", "xlore/sorrel_quay/ferry_customs.mdx"
    };

    static const char *const  near[] = {
        "an estate/house", "solid-state/x", "state / country", "state/",
        "for example/s", "lore/sorrel_quay/mill_rules", "my_examples/x",
        "experiments"
    };

    for (i = 0; i < sizeof(leaks) / sizeof(leaks[0]); i++) {
        load();
        add(PROMPT, " ");
        add(PROMPT, leaks[i]);
        assert_int_equal(gate(1), RELAY_DECLINED);
        assert_int_equal(result.rule, 21);
        assert_int_equal(result.n, 1);
    }

    for (i = 0; i < sizeof(near) / sizeof(near[0]); i++) {
        load();
        add(PROMPT, " ");
        add(PROMPT, near[i]);
        clean();
    }

    load();
    add(PROMPT, " lore/sorrel_quay/mill_rules.md");
    refused(21, "/visible_context/source_excerpts/0/source_ref");

    load();
    add(PROMPT, " estate/x state/x");
    refused(21, PROMPT);

    /* who searches must cite */

    research();
    add(PROMPT, " lore/sorrel_quay/mill_rules.md");
    clean();

    add(PROMPT, " coordination/sorrel_quay/gatehouse_003.json");
    refused(21, "/coordinator_artifact_ref");
}


/* P22 */

static void
test_raw_state(void **state)
{
    size_t  i;

    static const char *const  raw[] = {
        "0.35", "(0.5)", "trust=0.75.", "1.0.5", "0.1", "-0.25", "0.0.x",
        "\\u20140.5", "\\uff10.\\uff15", "{\\\"mean\\\": 1}",
        "Selected_Current_Activation_x"
    };

    static const char *const  near[] = {
        "10.35", "x0.35", "_0.35", "0.x", "0.", "0", "0.35x", "0.5_",
        "0,35", "1.35", "mean", "'mean'", "selected current activation"
    };

    for (i = 0; i < sizeof(raw) / sizeof(raw[0]); i++) {
        load();
        action("P8", RELAY_PACKET_OFF);
        add(PROMPT, " ");
        add(PROMPT, raw[i]);
        warned(22, PROMPT);
    }

    for (i = 0; i < sizeof(near) / sizeof(near[0]); i++) {
        load();
        add(PROMPT, " ");
        add(PROMPT, near[i]);
        clean();
    }

    load();
    set(PROMPT, "\"0.5\"");
    action("P10", RELAY_PACKET_OFF);
    action("P11", RELAY_PACKET_OFF);
    action("P23", RELAY_PACKET_OFF);
    action("P24", RELAY_PACKET_OFF);
    warned(22, PROMPT);
}


/* P23, P24 */

static void
test_rendered(void **state)
{
    load();
    set("/visible_context/allowed_action_labels/0", "\"attack\"");
    warned(23, "/visible_context/allowed_action_labels/0");

    load();
    add("/visible_context/allowed_action_labels", ",\"sing\"");
    add(PROMPT, " sing");
    warned(23, "/visible_context/allowed_action_labels/5");

    load();
    add("/visible_context/allowed_action_labels", ",\"Speak\"");
    add(PROMPT, " Speak");
    warned(23, "/visible_context/allowed_action_labels/5");

    load();
    add("/visible_context/allowed_action_labels", ",\"gestur\\u0065\"");
    add(PROMPT, " gesture");
    clean();

    load();
    add("/output_contract/required_fields", ",\"Action_label\"");
    warned(24, "/output_contract/required_fields/3");

    load();
    set("/visible_context/observed_event/spoken_text", "\"The pin you lent"
                                                       " them\"");
    warned(24, "/visible_context/observed_event/spoken_text");

    load();
    set("/visible_context/observed_event/spoken_text", "\"\"");
    clean();
}


/* P25 */

static void
test_owner(void **state)
{
    load();
    set(OMITTED "/0", "\"Ines-Varga.private_state\"");
    warned(25, OMITTED "/0");

    load();
    set(OMITTED "/0", "\"ines_varga\"");
    action("P17", RELAY_PACKET_OFF);
    action("P18", RELAY_PACKET_OFF);
    warned(25, OMITTED "/0");

    load();
    set(OMITTED "/0", "\"ines_vargas.private_state\"");
    clean();

    load();
    set(OMITTED "/0", "\"of_ines_varga.private_state\"");
    clean();

    load();
    set("/responder_agent_id", "\"...\"");
    clean();
}


/* P26 */

static void
test_isolated(void **state)
{
    relay_str_t  claim;

    load();
    assert_int_equal(read_head(), RELAY_OK);

    assert_int_equal(relay_packet_isolated(&head, NULL), RELAY_DECLINED);

    relay_str_set(&claim, "manual_packet_only");
    assert_int_equal(relay_packet_isolated(&head, &claim), RELAY_OK);

    relay_str_set(&claim, "manual_packet_onl");
    assert_int_equal(relay_packet_isolated(&head, &claim), RELAY_DECLINED);

    relay_str_set(&claim, "Manual_packet_only");
    assert_int_equal(relay_packet_isolated(&head, &claim), RELAY_DECLINED);

    relay_str_set(&claim, "subagent_no_fork");
    assert_int_equal(relay_packet_isolated(&head, &claim), RELAY_DECLINED);

    assert_int_equal(relay_packet_isolation_by_name(&claim),
                     RELAY_PACKET_SUBAGENT);

    claim.len = 0;
    assert_int_equal(relay_packet_isolated(&head, &claim), RELAY_DECLINED);
    assert_int_equal(relay_packet_isolation_by_name(&claim),
                     RELAY_PACKET_ISOLATION_NONE);

    head.isolation = RELAY_PACKET_ISOLATION_NONE;
    assert_int_equal(relay_packet_isolated(&head, &claim), RELAY_DECLINED);
}


/* P27, off unless it is asked for */

static void
test_verbatim(void **state)
{
    load();
    set("/visible_context/source_excerpts/1/text", "\"A crew that brings\"");
    set("/visible_context/source_excerpts/0/text", "\"The Keeper\"");
    clean();
    action("P27", RELAY_PACKET_WARN);
    warned(27, "/visible_context/source_excerpts/0/text");

    load();
    action("P27", RELAY_PACKET_REFUSE);
    add("/output_contract/response_rules", ",\"Be brief.\"");
    refused(27, "/output_contract/response_rules/3");
}


/* A rule is told once or a few times, and counted always. */

static void
test_many(void **state)
{
    size_t       i;
    relay_buf_t  text;

    load();
    relay_buf_init(&text, ROOM);

    for (i = 0; i < 300; i++) {
        relay_buf_printf(&text, ",\"on the quay\"");
    }

    relay_buf_append_c(&text, '\0');
    assert_int_equal(text.failed, 0);

    add(OMITTED, (char *) text.data);
    assert_int_equal(gate(1), RELAY_DECLINED);
    assert_int_equal(result.rule, 17);
    assert_int_equal(result.kept[17], RELAY_PACKET_REPORTED);
    assert_int_equal(result.kept[18], 1);
    assert_int_equal(result.refused, 301);
    assert_int_equal(result.n, RELAY_PACKET_REPORTED + 1);

    relay_buf_free(&text);
}


/* What no packet needs must cost little, and be refused. */

static void __attribute__((format(printf, 2, 0)))
fill(const char *pointer, const char *format, size_t n)
{
    size_t       i;
    relay_buf_t  text;

    relay_buf_init(&text, ROOM);

    for (i = 0; i < n; i++) {
        relay_buf_printf(&text, format, i);
    }

    relay_buf_append_c(&text, '\0');
    assert_int_equal(text.failed, 0);

    add(pointer, (char *) text.data);

    relay_buf_free(&text);
}


static void
test_hostile(void **state)
{
    size_t  i;

    char    pointer[64];

    static const char  many[] = ",\"%06zu of many words that nobody needs\"";
    static const char  as[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

    /* more to look for than there may be */

    load();
    fill(OMITTED, many, 5000);
    assert_int_equal(gate(1), RELAY_DECLINED);
    assert_int_equal(result.rule, 17);
    assert_true(result.refused > 2000 && result.refused < 5000);

    action("P17", RELAY_PACKET_WARN);
    assert_int_equal(gate(1), RELAY_DECLINED);
    assert_int_equal(result.rule, 18);
    assert_int_equal(result.refused, 1);

    load();
    fill(FORBIDDEN, many, 5000);
    assert_int_equal(gate(1), RELAY_OK);
    assert_int_equal(result.kept[19], RELAY_PACKET_REPORTED);

    load();
    fill("/output_contract/required_fields", many, 5000);
    assert_int_equal(gate(1), RELAY_OK);
    assert_int_equal(result.kept[24], RELAY_PACKET_REPORTED);

    /* a prompt that each entry is nearly in, at each byte */

    load();
    fill(PROMPT, as, 20000);

    for (i = 0; i < 40; i++) {
        add(OMITTED, ",\"b c\"");
        snprintf(pointer, sizeof(pointer), OMITTED "/%zu", i + 2);
        fill(pointer, as, i);
        add(pointer, " b c");
    }

    clean();

    /* marks that would have to be sorted, and what grows most when folded */

    load();
    fill(PROMPT, "\xcc\x96\xcc\x80", 200000);
    clean();

    load();
    fill(PROMPT, "\xef\xb7\xba", 100000);
    clean();

    load();
    fill(PROMPT, "\xef\xb7\xba", 300000);
    assert_int_equal(gate(1), RELAY_DECLINED);
    assert_int_equal(result.rule, 1);
    assert_int_equal(result.refused, 1);

    load();

    for (i = 0; i < 12; i++) {
        add("/visible_context/observed_event/visibility_notes", ",\"x\"");
        snprintf(pointer, sizeof(pointer),
                 "/visible_context/observed_event/visibility_notes/%zu", i + 1);
        fill(pointer, "\xef\xb7\xba", 40000);
    }

    clean();

    for (i = 0; i < 12; i++) {
        snprintf(pointer, sizeof(pointer),
                 "/visible_context/observed_event/visibility_notes/%zu", i + 1);
        fill(pointer, "\xef\xb7\xba", 10000);
    }

    assert_int_equal(gate(1), RELAY_DECLINED);
    assert_int_equal(result.rule, 1);
    assert_int_equal(result.refused, 1);

    /* very many strings, each looked at */

    load();
    fill("/visible_context/observed_event/visibility_notes", ",\"a\"", 900000);
    clean();

    fill("/visible_context/observed_event/visibility_notes",
         ",\"second boat, cargo manifest\"", 20);
    refused(18, "/visible_context/observed_event/visibility_notes/900001");
    assert_int_equal(result.refused, 20);
}


/* the forms in which texts are compared */

static void
folded(const char *text, relay_uint_t words, const char *expected)
{
    relay_str_t  s;

    s.data = (unsigned char *) text;
    s.len = strlen(text);

    relay_buf_reset(&mem);
    assert_int_equal(relay_packet_fold(&s, words, &mem), RELAY_OK);
    assert_int_equal(mem.len, strlen(expected));
    assert_memory_equal(mem.len ? mem.data : (void *) "", expected, mem.len);
}


static void
test_fold(void **state)
{
    relay_buf_t  small;
    relay_str_t  s;

    folded("", 1, "");
    folded("  __ ..", 1, "");
    folded("A", 1, "a");
    folded(" A_b-C  d ", 1, "a b c d");
    folded(" A_b-C  d ", 0, " a_b-c  d ");
    folded("Stra\xc3\x9f" "e", 1, "strasse");
    folded("\xce\xa3\xcf\x83\xcf\x82", 1, "\xcf\x83\xcf\x83\xcf\x83");
    folded("\xc4\xb0", 1, "i");
    folded("\xe2\x84\xaa", 1, "k");
    folded("e\xcc\x81" "E\xc3\xa9", 1, "eee");
    folded("\xef\xbc\xa1\xef\xbc\xbf\xef\xbc\xa2", 1, "a b");
    folded("a\xc2\xa0" "b\xe3\x80\x80" "c\xe2\x80\xa8" "d", 1, "a b c d");
    folded("a\xe2\x80\x8b" "b\xef\xbb\xbf" "c\xc2\xad" "d", 1, "abcd");
    folded("a\xf3\xa0\x81\xa2" "b\xef\xb8\x8f" "c\xe2\x80\xae" "d", 0, "abcd");
    folded("a\x01" "b\x7f" "c\td", 1, "abc d");
    folded("a\xe2\x80\x99" "b", 1, "a b");
    folded("\xf0\x9d\x90\x80", 1, "a");
    folded("\xea\xb0\x80", 1, "\xe1\x84\x80\xe1\x85\xa1");
    folded("x\xc2\xb2", 1, "x2");

    relay_buf_init(&small, 3);
    relay_str_set(&s, "abcd");
    assert_int_equal(relay_packet_fold(&s, 1, &small), RELAY_DECLINED);
    relay_buf_free(&small);

    s.data = (unsigned char *) "a\xff";
    s.len = 2;
    assert_int_equal(relay_packet_fold(&s, 1, &mem), RELAY_DECLINED);
}


int
main(void)
{
    static const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_head_declined),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_schema),
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_rules_set),
        cmocka_unit_test(test_blank),
        cmocka_unit_test(test_filled),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_markers),
        cmocka_unit_test(test_contained),
        cmocka_unit_test(test_research),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_review),
        cmocka_unit_test(test_omitted),
        cmocka_unit_test(test_visible),
        cmocka_unit_test(test_forbidden),
        cmocka_unit_test(test_leaked_references),
        cmocka_unit_test(test_raw_state),
        cmocka_unit_test(test_rendered),
        cmocka_unit_test(test_owner),
        cmocka_unit_test(test_isolated),
        cmocka_unit_test(test_verbatim),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_fold)
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
