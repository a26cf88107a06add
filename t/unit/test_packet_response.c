
/*
 * Unit tests of lib/relay_packet_response.c.
 */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "packet_example.h"


#define MEMBERS                                                               \
    "\"visible_action\":\"Ines lifts the lamp.\","                            \
    "\"spoken_text\":\"\","                                                   \
    "\"private_interpretation\":\"He wants the gate.\","                      \
    "\"intended_effect\":\"He waits.\","                                      \
    "\"state_update_candidates\":[\"warier\"],"                               \
    "\"relationship_update_candidates\":[],"                                  \
    "\"unresolved_hooks\":[\"the pin\"]"

#define WHO       "\"responder_agent_id\":\"ines_varga\""
#define ACT       "\"action_label\":\"wait\""


static relay_packet_response_t  result;


static relay_int_t
answer(const char *text)
{
    relay_int_t         rc;
    relay_str_t         packet, response;
    relay_json_tape_t   response_tape;
    relay_json_error_t  err;

    relay_buf_str(&doc, &packet);

    response.data = (unsigned char *) text;
    response.len = strlen(text);

    relay_json_tape_init(&response_tape);

    assert_int_equal(relay_json_parse(&response_tape, &response,
                                      &relay_json_default_limits, &err),
                     RELAY_OK);

    rc = relay_packet_response(&packet, &tape, &response, &response_tape,
                               &result);

    relay_json_tape_free(&response_tape);

    return rc;
}


static void
refused(const char *text, const char *name, size_t n)
{
    size_t  i;

    assert_int_equal(answer(text), RELAY_DECLINED);
    assert_int_equal(result.n, n);

    for (i = 0; i < n; i++) {
        assert_string_equal(result.faults[i].name, name);
        assert_true(result.faults[i].offset < strlen(text));
    }
}


static int
setup(void **state)
{
    example_init();
    example();

    return 0;
}


static int
teardown(void **state)
{
    example_free();

    return 0;
}


static void
test_accepted(void **state)
{
    assert_int_equal(answer("{" WHO "," ACT "," MEMBERS "}"), RELAY_OK);
    assert_int_equal(result.n, 0);

    /* escapes and more members than nine */

    assert_int_equal(answer("{\"respond\\u0065r_agent_id\":\"in\\u0065s_varga\""
                            ",\"action_label\":\"\\u0077ait\",\"x\":[1],"
                            MEMBERS "}"),
                     RELAY_OK);
}


static void
test_members(void **state)
{
    refused("[]", "members", 1);
    refused("\"{}\"", "members", 1);
    refused("{}", "members", 9);
    refused("{" WHO "," MEMBERS "}", "members", 1);
    refused("{" ACT "," MEMBERS "}", "members", 1);

    refused("{" WHO "," ACT ",\"visible_action\":\"a\",\"spoken_text\":null,"
            "\"private_interpretation\":\" \\u200b\",\"intended_effect\":7,"
            "\"state_update_candidates\":\"a\","
            "\"relationship_update_candidates\":[\"a\",\"\"],"
            "\"unresolved_hooks\":[[\"a\"]]}",
            "members", 6);
}


static void
test_responder(void **state)
{
    refused("{\"responder_agent_id\":\"Ines_varga\"," ACT "," MEMBERS "}",
            "responder", 1);
    refused("{\"responder_agent_id\":\"ines_varga \"," ACT "," MEMBERS "}",
            "responder", 1);
    refused("{\"responder_agent_id\":\"bram_oke\"," ACT "," MEMBERS "}",
            "responder", 1);
}


static void
test_label(void **state)
{
    /* an action that there is, and that this packet does not allow */

    refused("{" WHO ",\"action_label\":\"attack\"," MEMBERS "}", "allowed", 1);

    assert_int_equal(answer("{" WHO ",\"action_label\":\"sing\"," MEMBERS "}"),
                     RELAY_DECLINED);
    assert_int_equal(result.n, 2);
    assert_string_equal(result.faults[0].name, "label");
    assert_string_equal(result.faults[1].name, "allowed");

    assert_int_equal(answer("{" WHO ",\"action_label\":\"Wait\"," MEMBERS "}"),
                     RELAY_DECLINED);

    /* nothing is no action, and says nothing */

    assert_int_equal(answer("{" WHO ",\"action_label\":\"\"," MEMBERS "}"),
                     RELAY_DECLINED);
    assert_int_equal(result.n, 3);

    /* one that the packet allows and nobody knows */

    add("/visible_context/allowed_action_labels", ",\"sing\"");
    refused("{" WHO ",\"action_label\":\"sing\"," MEMBERS "}", "label", 1);
    example();
}


static void
test_markers(void **state)
{
    size_t       i;
    relay_buf_t  text;

    static const char *const  leaks[] = {
        "current_activation", "her Plasticity", "CANONICAL_STATE",
        "the Coordinator Rationale", "author-only", "a future branch",
        "author\\u002donly", "fu\\u200bture branch", "\\uff46uture branch"
    };

    static const char *const  near[] = {
        "current activation", "canonical state", "author only",
        "future  branch", "branch future", "coordinator's rationale"
    };

    relay_buf_init(&text, 65536);

    for (i = 0; i < sizeof(leaks) / sizeof(leaks[0]); i++) {

        relay_buf_reset(&text);
        relay_buf_printf(&text, "{" WHO "," ACT "," MEMBERS ",\"note\":"
                         "{\"a\":[\"%s.\"]}}", leaks[i]);
        relay_buf_append_c(&text, '\0');
        refused((char *) text.data, "marker", 1);

        /* the name of a member is text as well */

        relay_buf_reset(&text);
        relay_buf_printf(&text, "{" WHO "," ACT "," MEMBERS ",\"%s\":1}",
                         leaks[i]);
        relay_buf_append_c(&text, '\0');
        refused((char *) text.data, "marker", 1);
    }

    for (i = 0; i < sizeof(near) / sizeof(near[0]); i++) {

        relay_buf_reset(&text);
        relay_buf_printf(&text, "{" WHO "," ACT "," MEMBERS ",\"note\":\"%s\"}",
                         near[i]);
        relay_buf_append_c(&text, '\0');
        assert_int_equal(answer((char *) text.data), RELAY_OK);
    }

    /* no more faults are kept than there is room for */

    relay_buf_reset(&text);
    relay_buf_append_z(&text, "{" WHO "," ACT "," MEMBERS ",\"note\":[");

    for (i = 0; i < 100; i++) {
        relay_buf_append_z(&text, "\"plasticity\",");
    }

    relay_buf_append(&text, "1]}", 4);
    refused((char *) text.data, "marker", RELAY_PACKET_FAULTS);

    relay_buf_free(&text);
}


static void
test_packet(void **state)
{
    set("/packet_id", "7");
    refused("{" WHO "," ACT "," MEMBERS "}", "packet", 1);
    example();
}


int
main(void)
{
    static const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_responder),
        cmocka_unit_test(test_label),
        cmocka_unit_test(test_markers),
        cmocka_unit_test(test_packet)
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
