
/*
 * relay_packet_response: what a responder sends back, judged by the packet
 * that it answers.
 */

#include "relay_packet_rule.h"
#include "relay_match.h"


typedef struct {
    const relay_str_t        *doc;
    const relay_json_tape_t  *tape;
    relay_packet_response_t  *result;
} relay_packet_answer_t;


typedef struct {
    const char               *name;
    relay_json_type_e         type;     /* of an array: of strings */
    unsigned                  empty;    /* it may be */
} relay_packet_answer_type_t;


static void relay_packet_fault(relay_packet_answer_t *a, const char *name,
    size_t node, const char *text);
static void relay_packet_answer_member(relay_packet_answer_t *a,
    const relay_packet_answer_type_t *type);
static relay_int_t relay_packet_answer_blank(relay_packet_answer_t *a,
    size_t v, relay_uint_t *blank);
static relay_int_t relay_packet_answer_match(relay_packet_answer_t *a,
    const char *name, const relay_str_t *packet,
    const relay_json_tape_t *packet_tape, const relay_packet_place_t *place);
static relay_int_t relay_packet_answer_markers(relay_packet_answer_t *a);


static const relay_packet_answer_type_t  relay_packet_answer_types[] = {
    { "responder_agent_id", RELAY_JSON_STRING, 0 },
    { "action_label", RELAY_JSON_STRING, 0 },
    { "visible_action", RELAY_JSON_STRING, 0 },
    { "spoken_text", RELAY_JSON_STRING, 1 },
    { "private_interpretation", RELAY_JSON_STRING, 0 },
    { "intended_effect", RELAY_JSON_STRING, 0 },
    { "state_update_candidates", RELAY_JSON_ARRAY, 0 },
    { "relationship_update_candidates", RELAY_JSON_ARRAY, 0 },
    { "unresolved_hooks", RELAY_JSON_ARRAY, 0 },
    { NULL, 0, 0 }
};

static const relay_str_t  relay_packet_answer_leaks[] = {
    relay_string("current_activation"),
    relay_string("plasticity"),
    relay_string("canonical_state"),
    relay_string("coordinator rationale"),
    relay_string("author-only"),
    relay_string("future branch"),
    relay_null_string
};


static void
relay_packet_fault(relay_packet_answer_t *a, const char *name, size_t node,
    const char *text)
{
    relay_packet_fault_t  *fault;

    if (a->result->n == RELAY_PACKET_FAULTS) {
        return;
    }

    fault = &a->result->faults[a->result->n++];

    fault->name = name;
    fault->text = text;
    fault->node = node;
    fault->offset = a->tape->nodes[node].off;
}


relay_int_t
relay_packet_response(const relay_str_t *packet,
    const relay_json_tape_t *packet_tape, const relay_str_t *response,
    const relay_json_tape_t *response_tape, relay_packet_response_t *result)
{
    relay_packet_place_t               place;
    relay_packet_answer_t              a;
    const relay_packet_answer_type_t  *type;

    memset(result, 0, sizeof(relay_packet_response_t));

    a.doc = response;
    a.tape = response_tape;
    a.result = result;

    if (response_tape->n == 0) {
        return RELAY_ERROR;
    }

    if (relay_packet_locate(packet, packet_tape, &place) != RELAY_OK) {
        relay_packet_fault(&a, "packet", 0, "the packet itself is none");
        return RELAY_DECLINED;
    }

    if (response_tape->nodes[0].type != RELAY_JSON_OBJECT) {
        relay_packet_fault(&a, "members", 0, "a response is an object");
        return RELAY_DECLINED;
    }

    for (type = relay_packet_answer_types; type->name != NULL; type++) {
        relay_packet_answer_member(&a, type);
    }

    if (relay_packet_answer_match(&a, "responder_agent_id", packet,
                                  packet_tape, &place)
        != RELAY_OK
        || relay_packet_answer_match(&a, "action_label", packet, packet_tape,
                                     &place)
           != RELAY_OK
        || relay_packet_answer_markers(&a) != RELAY_OK)
    {
        return RELAY_ERROR;
    }

    return (result->n == 0) ? RELAY_OK : RELAY_DECLINED;
}


static void
relay_packet_answer_member(relay_packet_answer_t *a,
    const relay_packet_answer_type_t *type)
{
    size_t                    v, i, n;
    relay_uint_t              blank;
    const relay_json_node_t  *nodes;

    nodes = a->tape->nodes;
    blank = 1;

    v = relay_json_get(a->tape, a->doc, 0, type->name, strlen(type->name));

    if (v == 0) {
        relay_packet_fault(a, "members", 0, "one of the nine members is"
                                            " missing");
        return;
    }

    if (nodes[v].type != type->type) {
        relay_packet_fault(a, "members", v,
                           (type->type == RELAY_JSON_STRING)
                           ? "a string is needed here"
                           : "an array is needed here");
        return;
    }

    if (type->type == RELAY_JSON_STRING) {

        if (!type->empty && (relay_packet_answer_blank(a, v, &blank) != RELAY_OK
                             || blank))
        {
            relay_packet_fault(a, "members", v, "this says nothing");
        }

        return;
    }

    i = v + 1;

    for (n = nodes[v].count; n > 0; n--) {

        if (nodes[i].type != RELAY_JSON_STRING
            || relay_packet_answer_blank(a, i, &blank) != RELAY_OK || blank)
        {
            relay_packet_fault(a, "members", i, "a string that says something"
                                                " is needed here");
            return;
        }

        i = nodes[i].next;
    }
}


static relay_int_t
relay_packet_answer_blank(relay_packet_answer_t *a, size_t v,
    relay_uint_t *blank)
{
    relay_buf_t  buf;
    relay_str_t  s;
    relay_int_t  rc;

    relay_buf_init(&buf, RELAY_DOCUMENT_MAX);

    rc = relay_json_str_decode(a->tape, a->doc, v, &buf);

    if (rc == RELAY_OK) {
        relay_buf_str(&buf, &s);
        *blank = relay_packet_blank(&s);
    }

    relay_buf_free(&buf);

    return rc;
}


/* The responder is the packet's; the action is one that the packet allows. */

static relay_int_t
relay_packet_answer_match(relay_packet_answer_t *a, const char *name,
    const relay_str_t *packet, const relay_json_tape_t *packet_tape,
    const relay_packet_place_t *place)
{
    size_t       v, i, n, labels;
    relay_buf_t  buf;
    relay_str_t  s;

    v = relay_json_get(a->tape, a->doc, 0, name, strlen(name));

    if (v == 0 || a->tape->nodes[v].type != RELAY_JSON_STRING) {
        return RELAY_OK;
    }

    relay_buf_init(&buf, RELAY_DOCUMENT_MAX);

    if (relay_json_str_decode(a->tape, a->doc, v, &buf) != RELAY_OK) {
        relay_buf_free(&buf);
        return RELAY_ERROR;
    }

    relay_buf_str(&buf, &s);

    if (strcmp(name, "responder_agent_id") == 0) {

        if (!relay_json_str_is(packet_tape, packet,
                               place->at[RELAY_PACKET_RESPONDER],
                               (char *) s.data, s.len))
        {
            relay_packet_fault(a, "responder", v,
                               "this is not the packet's responder");
        }

    } else {

        if (!relay_packet_label(&s)) {
            relay_packet_fault(a, "label", v, "there is no such action");
        }

        labels = place->at[RELAY_PACKET_LABELS];
        i = labels + 1;

        for (n = packet_tape->nodes[labels].count; n > 0; n--) {

            if (relay_json_str_is(packet_tape, packet, i, (char *) s.data,
                                  s.len))
            {
                break;
            }

            i = packet_tape->nodes[i].next;
        }

        if (n == 0) {
            relay_packet_fault(a, "allowed", v,
                               "the packet does not allow this action");
        }
    }

    relay_buf_free(&buf);

    return RELAY_OK;
}


/* Names and values, as they are and as they read. */

static relay_int_t
relay_packet_answer_markers(relay_packet_answer_t *a)
{
    size_t         i;
    relay_int_t    rc;
    relay_str_t    s;
    relay_buf_t    text, folded;
    relay_match_t  match;

    relay_match_init(&match, 1024);
    relay_buf_init(&text, RELAY_DOCUMENT_MAX);
    relay_buf_init(&folded, RELAY_PACKET_FOLDED);

    rc = RELAY_ERROR;

    for (i = 0; relay_packet_answer_leaks[i].len != 0; i++) {
        if (relay_match_add(&match, &relay_packet_answer_leaks[i])
            != RELAY_OK)
        {
            goto done;
        }
    }

    for (i = 0; i < a->tape->n; i++) {

        if (a->tape->nodes[i].type != RELAY_JSON_STRING
            && a->tape->nodes[i].type != RELAY_JSON_KEY)
        {
            continue;
        }

        relay_buf_reset(&text);
        relay_buf_reset(&folded);

        if (relay_json_str_decode(a->tape, a->doc, i, &text) != RELAY_OK) {
            rc = RELAY_ERROR;
            goto done;
        }

        relay_buf_str(&text, &s);

        rc = relay_packet_fold(&s, 0, &folded);

        if (rc == RELAY_DECLINED) {
            relay_packet_fault(a, "marker", i,
                               "this is too large to be looked at");
            goto done;
        }

        if (rc != RELAY_OK) {
            goto done;
        }

        relay_buf_str(&folded, &s);

        if (relay_match_scan(&match, &s)) {
            relay_packet_fault(a, "marker", i,
                               "this holds a marker of hidden state");
        }
    }

    rc = RELAY_OK;

done:

    relay_match_free(&match);
    relay_buf_free(&text);
    relay_buf_free(&folded);

    /* what was found is in the result */

    return (rc == RELAY_DECLINED) ? RELAY_OK : rc;
}
