
/*
 * relay_packet: the head of a ghostlight.responder_packet.v0 document, its
 * prompt, and whom it may be served to.
 */

#include "relay_packet_rule.h"
#include "relay_pointer.h"


#define RELAY_PACKET_OPTIONAL  1
#define RELAY_PACKET_COUNTED   2    /* a whole number from 0 on, P3 */
#define RELAY_PACKET_BOOLEAN   4


typedef struct {
    relay_packet_member_e  object;      /* what holds it */
    const char            *name;
    relay_json_type_e      type;
    unsigned               flags;
} relay_packet_type_t;


typedef struct {
    const char            *name;
    int                    value;
} relay_packet_enum_t;


static size_t relay_packet_type(const relay_str_t *doc,
    const relay_json_tape_t *tape, const relay_packet_type_t *type, size_t v,
    relay_packet_place_t *place);
static size_t relay_packet_excerpts(const relay_str_t *doc,
    const relay_json_tape_t *tape, size_t v, relay_packet_place_t *place);
static relay_int_t relay_packet_enum(const relay_str_t *doc,
    const relay_json_tape_t *tape, const relay_packet_enum_t *values,
    relay_packet_member_e member, relay_packet_place_t *place, int *value);
static relay_int_t relay_packet_misplaced(relay_packet_place_t *place,
    relay_packet_member_e member, size_t node, const char *text);


/* in the order of relay_packet_member_e; an array is one of strings */

static const relay_packet_type_t  relay_packet_types[RELAY_PACKET_MEMBERS] = {
    { 0, NULL, RELAY_JSON_OBJECT, 0 },
    { 0, "schema_version", RELAY_JSON_STRING, 0 },
    { 0, "packet_id", RELAY_JSON_STRING, 0 },
    { 0, "review_status", RELAY_JSON_STRING, 0 },
    { 0, "coordinator_artifact_ref", RELAY_JSON_STRING, 0 },
    { 0, "projected_context_ref", RELAY_JSON_STRING, 0 },
    { 0, "responder_agent_id", RELAY_JSON_STRING, 0 },
    { 0, "generation_lane", RELAY_JSON_STRING, 0 },

    { 0, "lore_access", RELAY_JSON_OBJECT, 0 },
    { RELAY_PACKET_LORE, "mode", RELAY_JSON_STRING, 0 },
    { RELAY_PACKET_LORE, "allowed_scope", RELAY_JSON_ARRAY, 0 },
    { RELAY_PACKET_LORE, "required_provenance", RELAY_JSON_TRUE,
      RELAY_PACKET_BOOLEAN },
    { RELAY_PACKET_LORE, "research_instructions", RELAY_JSON_ARRAY,
      RELAY_PACKET_OPTIONAL },
    { RELAY_PACKET_LORE, "traversal_policy", RELAY_JSON_OBJECT,
      RELAY_PACKET_OPTIONAL },
    { RELAY_PACKET_TRAVERSAL, "max_link_depth", RELAY_JSON_NUMBER,
      RELAY_PACKET_COUNTED },
    { RELAY_PACKET_TRAVERSAL, "allowed_prefixes", RELAY_JSON_ARRAY,
      0 },
    { RELAY_PACKET_TRAVERSAL, "required_seed_refs", RELAY_JSON_ARRAY,
      0 },
    { RELAY_PACKET_TRAVERSAL, "follow_link_classes", RELAY_JSON_ARRAY,
      0 },
    { RELAY_PACKET_TRAVERSAL, "stop_conditions", RELAY_JSON_ARRAY,
      0 },

    { 0, "visible_context", RELAY_JSON_OBJECT, 0 },
    { RELAY_PACKET_VISIBLE, "local_context_prompt", RELAY_JSON_STRING, 0 },
    { RELAY_PACKET_VISIBLE, "observed_event", RELAY_JSON_OBJECT, 0 },
    { RELAY_PACKET_EVENT, "observable_action", RELAY_JSON_STRING, 0 },
    { RELAY_PACKET_EVENT, "spoken_text", RELAY_JSON_STRING, 0 },
    { RELAY_PACKET_VISIBLE, "allowed_action_labels", RELAY_JSON_ARRAY, 0 },
    { RELAY_PACKET_VISIBLE, "source_excerpts", RELAY_JSON_ARRAY, 0 },

    { 0, "output_contract", RELAY_JSON_OBJECT, 0 },
    { RELAY_PACKET_OUTPUT, "required_fields", RELAY_JSON_ARRAY, 0 },
    { RELAY_PACKET_OUTPUT, "response_rules", RELAY_JSON_ARRAY, 0 },

    { 0, "hidden_context_audit", RELAY_JSON_OBJECT, 0 },
    { RELAY_PACKET_AUDIT, "omitted_context_refs", RELAY_JSON_ARRAY, 0 },
    { RELAY_PACKET_AUDIT, "forbidden_inference_classes", RELAY_JSON_ARRAY, 0 },
    { RELAY_PACKET_AUDIT, "known_absences", RELAY_JSON_ARRAY, 0 },

    { 0, "isolation_requirements", RELAY_JSON_OBJECT, 0 },
    { RELAY_PACKET_ISOLATION, "isolation_method", RELAY_JSON_STRING, 0 },
    { RELAY_PACKET_ISOLATION, "packet_only", RELAY_JSON_TRUE,
      RELAY_PACKET_BOOLEAN },
    { RELAY_PACKET_ISOLATION, "no_repo_access", RELAY_JSON_TRUE,
      RELAY_PACKET_BOOLEAN },
    { RELAY_PACKET_ISOLATION, "no_conversation_context", RELAY_JSON_TRUE,
      RELAY_PACKET_BOOLEAN },
    { RELAY_PACKET_ISOLATION, "no_hidden_state_refs", RELAY_JSON_TRUE,
      RELAY_PACKET_BOOLEAN },

    { 0, "packet_prompt_text", RELAY_JSON_STRING, 0 },

    { 0, "review", RELAY_JSON_OBJECT, 0 },
    { RELAY_PACKET_REVIEW, "accepted_for_sandbox_use", RELAY_JSON_TRUE,
      RELAY_PACKET_BOOLEAN },
    { RELAY_PACKET_REVIEW, "failure_labels", RELAY_JSON_ARRAY, 0 }
};

static const relay_packet_enum_t  relay_packet_statuses[] = {
    { "draft", RELAY_PACKET_DRAFT },
    { "accepted", RELAY_PACKET_ACCEPTED },
    { "accepted_as_draft", RELAY_PACKET_ACCEPTED_AS_DRAFT },
    { "useful_needs_revision", RELAY_PACKET_NEEDS_REVISION },
    { "rejected", RELAY_PACKET_REJECTED },
    { "superseded", RELAY_PACKET_SUPERSEDED },
    { NULL, 0 }
};

static const relay_packet_enum_t  relay_packet_lanes[] = {
    { "packet_only", RELAY_PACKET_ONLY },
    { "retrieval_augmented", RELAY_PACKET_RETRIEVAL },
    { NULL, 0 }
};

static const relay_packet_enum_t  relay_packet_lores[] = {
    { "curated_excerpts_only", RELAY_PACKET_LORE_CURATED },
    { "coordinator_scoped_retrieval", RELAY_PACKET_LORE_COORDINATOR },
    { "responder_scoped_repository_search", RELAY_PACKET_LORE_RESPONDER },
    { NULL, 0 }
};

static const relay_packet_enum_t  relay_packet_isolations[] = {
    { "subagent_no_fork", RELAY_PACKET_SUBAGENT },
    { "manual_packet_only", RELAY_PACKET_MANUAL },
    { "external_model_packet_only", RELAY_PACKET_EXTERNAL },
    { NULL, 0 }
};

/* in the order of relay_packet_isolation_e */

static const relay_str_t  relay_packet_isolation_names[] = {
    relay_null_string,
    relay_string("subagent_no_fork"),
    relay_string("manual_packet_only"),
    relay_string("external_model_packet_only")
};

static const relay_str_t  relay_packet_labels[] = {
    relay_string("speak"),
    relay_string("silence"),
    relay_string("gesture"),
    relay_string("movement"),
    relay_string("inspect_object"),
    relay_string("show_object"),
    relay_string("withhold_object"),
    relay_string("transfer_object"),
    relay_string("set_condition"),
    relay_string("refuse"),
    relay_string("wait"),
    relay_string("withdraw"),
    relay_string("attack"),
    relay_null_string
};


static relay_int_t
relay_packet_misplaced(relay_packet_place_t *place,
    relay_packet_member_e member, size_t node, const char *text)
{
    place->member = member;
    place->node = node;
    place->rule = (relay_packet_types[member].flags & RELAY_PACKET_COUNTED)
                  ? 3 : 1;
    place->text = text;

    return RELAY_DECLINED;
}


/* The node at fault, and place->text; 0 when the value is of its type. */

static size_t
relay_packet_type(const relay_str_t *doc, const relay_json_tape_t *tape,
    const relay_packet_type_t *type, size_t v, relay_packet_place_t *place)
{
    size_t                    i, n;
    int64_t                   count;
    const relay_json_node_t  *nodes;

    nodes = tape->nodes;

    if (type->flags & RELAY_PACKET_BOOLEAN) {
        place->text = "true or false is needed here";

        return (nodes[v].type == RELAY_JSON_TRUE
                || nodes[v].type == RELAY_JSON_FALSE) ? 0 : v;
    }

    if (type->flags & RELAY_PACKET_COUNTED) {
        place->text = "a whole number from 0 on is needed here";

        return (relay_json_int(tape, doc, v, &count) == RELAY_OK && count >= 0)
               ? 0 : v;
    }

    if (nodes[v].type != type->type) {
        place->text = (type->type == RELAY_JSON_STRING)
                      ? "a string is needed here"
                      : (type->type == RELAY_JSON_ARRAY)
                        ? "an array is needed here"
                        : "an object is needed here";
        return v;
    }

    if (type == &relay_packet_types[RELAY_PACKET_EXCERPTS]) {
        return relay_packet_excerpts(doc, tape, v, place);
    }

    if (type->type == RELAY_JSON_ARRAY) {

        place->text = "a string is needed here";
        i = v + 1;

        for (n = nodes[v].count; n > 0; n--) {

            if (nodes[i].type != RELAY_JSON_STRING) {
                return i;
            }

            i = nodes[i].next;
        }
    }

    return 0;
}


static size_t
relay_packet_excerpts(const relay_str_t *doc, const relay_json_tape_t *tape,
    size_t v, relay_packet_place_t *place)
{
    size_t                    i, n, m, s;
    const relay_json_node_t  *nodes;

    static const char *const  names[] = { "ref_id", "source_ref", "text" };

    nodes = tape->nodes;
    i = v + 1;

    for (n = nodes[v].count; n > 0; n--) {

        if (nodes[i].type != RELAY_JSON_OBJECT) {
            place->text = "an object is needed here";
            return i;
        }

        for (m = 0; m < sizeof(names) / sizeof(names[0]); m++) {

            s = relay_json_get(tape, doc, i, names[m], strlen(names[m]));

            if (s == 0 || nodes[s].type != RELAY_JSON_STRING) {
                place->text = "ref_id, source_ref and text are needed here,"
                              " as strings";
                return i;
            }
        }

        i = nodes[i].next;
    }

    return 0;
}


static relay_int_t
relay_packet_enum(const relay_str_t *doc, const relay_json_tape_t *tape,
    const relay_packet_enum_t *values, relay_packet_member_e member,
    relay_packet_place_t *place, int *value)
{
    size_t  v;

    v = place->at[member];

    for (/* void */; values->name != NULL; values++) {
        if (relay_json_str_is(tape, doc, v, values->name,
                              strlen(values->name)))
        {
            *value = values->value;
            return RELAY_OK;
        }
    }

    return relay_packet_misplaced(place, member, v,
                                  "the schema has no such value");
}


relay_int_t
relay_packet_locate(const relay_str_t *doc, const relay_json_tape_t *tape,
    relay_packet_place_t *place)
{
    int                         status, lane, lore, isolation;
    size_t                      i, v, fault, object;
    const relay_packet_type_t  *type;

    memset(place, 0, sizeof(relay_packet_place_t));

    if (tape->n == 0 || tape->nodes[0].type != RELAY_JSON_OBJECT) {
        return relay_packet_misplaced(place, RELAY_PACKET_ROOT, 0,
                                      "the document is not an object");
    }

    for (i = 1; i < RELAY_PACKET_MEMBERS; i++) {

        type = &relay_packet_types[i];
        object = place->at[type->object];

        if (object == 0 && type->object != RELAY_PACKET_ROOT) {

            /* what may be absent is absent whole */

            continue;
        }

        v = relay_json_get(tape, doc, object, type->name, strlen(type->name));

        if (v == 0) {

            if (type->flags & RELAY_PACKET_OPTIONAL) {
                continue;
            }

            return relay_packet_misplaced(place, (relay_packet_member_e) i,
                                          object, "it is missing");
        }

        fault = relay_packet_type(doc, tape, type, v, place);

        if (fault != 0) {
            return relay_packet_misplaced(place, (relay_packet_member_e) i,
                                          fault, place->text);
        }

        place->at[i] = v;
    }

    if (!relay_json_str_is(tape, doc, place->at[RELAY_PACKET_VERSION],
                           RELAY_PACKET_SCHEMA,
                           sizeof(RELAY_PACKET_SCHEMA) - 1))
    {
        return relay_packet_misplaced(place, RELAY_PACKET_VERSION,
                                      place->at[RELAY_PACKET_VERSION],
                                      "it is not " RELAY_PACKET_SCHEMA);
    }

    if (relay_packet_enum(doc, tape, relay_packet_statuses,
                          RELAY_PACKET_STATUS, place, &status)
        != RELAY_OK
        || relay_packet_enum(doc, tape, relay_packet_lanes, RELAY_PACKET_LANE,
                             place, &lane)
           != RELAY_OK
        || relay_packet_enum(doc, tape, relay_packet_lores,
                             RELAY_PACKET_LORE_MODE, place, &lore)
           != RELAY_OK
        || relay_packet_enum(doc, tape, relay_packet_isolations,
                             RELAY_PACKET_ISOLATION_METHOD, place, &isolation)
           != RELAY_OK)
    {
        return RELAY_DECLINED;
    }

    place->status = (relay_packet_status_e) status;
    place->lane = (relay_packet_lane_e) lane;
    place->lore = (relay_packet_lore_e) lore;
    place->isolation = (relay_packet_isolation_e) isolation;

    return RELAY_OK;
}


relay_int_t
relay_packet_head(const relay_str_t *doc, const relay_json_tape_t *tape,
    relay_packet_t *packet, relay_buf_t *mem, relay_buf_t *err)
{
    size_t                      len;
    const char                 *name;
    relay_packet_place_t        place;
    const relay_packet_type_t  *type;

    memset(packet, 0, sizeof(relay_packet_t));

    relay_buf_reset(mem);
    relay_buf_reset(err);

    if (relay_packet_locate(doc, tape, &place) != RELAY_OK) {

        type = &relay_packet_types[place.member];

        (void) relay_pointer_append(tape, doc, place.node, err);

        /* a missing member is in no tape */

        if (type->name != NULL && place.node == place.at[type->object]) {
            (void) relay_buf_printf(err, "/%s", type->name);
        }

        (void) relay_buf_append_z(err, err->len ? ": " : "");
        (void) relay_buf_append_z(err, place.text);

        return err->failed ? RELAY_ERROR : RELAY_DECLINED;
    }

    if (relay_json_str_decode(tape, doc, place.at[RELAY_PACKET_ID], mem)
        != RELAY_OK)
    {
        return RELAY_ERROR;
    }

    len = mem->len;

    if (relay_json_str_decode(tape, doc, place.at[RELAY_PACKET_RESPONDER], mem)
        != RELAY_OK)
    {
        return RELAY_ERROR;
    }

    name = NULL;

    if (len == 0) {
        name = relay_packet_types[RELAY_PACKET_ID].name;

    } else if (mem->len == len) {
        name = relay_packet_types[RELAY_PACKET_RESPONDER].name;
    }

    if (name != NULL) {
        (void) relay_buf_printf(err, "/%s: it is empty", name);
        return err->failed ? RELAY_ERROR : RELAY_DECLINED;
    }

    packet->packet_id.data = mem->data;
    packet->packet_id.len = len;
    packet->responder.data = mem->data + len;
    packet->responder.len = mem->len - len;
    packet->status = place.status;
    packet->lane = place.lane;
    packet->lore = place.lore;
    packet->isolation = place.isolation;
    packet->accepted = (tape->nodes[place.at[RELAY_PACKET_REVIEW_ACCEPTED]].type
                        == RELAY_JSON_TRUE);

    return RELAY_OK;
}


relay_int_t
relay_packet_isolated(const relay_packet_t *packet, const relay_str_t *claim)
{
    const relay_str_t  *name;

    name = relay_packet_isolation_name(packet->isolation);

    if (claim == NULL || name->len == 0 || !relay_str_eq(claim, name)) {
        return RELAY_DECLINED;
    }

    return RELAY_OK;
}


relay_packet_isolation_e
relay_packet_isolation_by_name(const relay_str_t *name)
{
    unsigned  i;

    for (i = RELAY_PACKET_SUBAGENT; i <= RELAY_PACKET_EXTERNAL; i++) {
        if (relay_str_eq(name, &relay_packet_isolation_names[i])) {
            return (relay_packet_isolation_e) i;
        }
    }

    return RELAY_PACKET_ISOLATION_NONE;
}


const relay_str_t *
relay_packet_isolation_name(relay_packet_isolation_e i)
{
    if (i <= RELAY_PACKET_ISOLATION_NONE || i > RELAY_PACKET_EXTERNAL) {
        return &relay_packet_isolation_names[RELAY_PACKET_ISOLATION_NONE];
    }

    return &relay_packet_isolation_names[i];
}


relay_int_t
relay_packet_prompt(const relay_str_t *doc, const relay_json_tape_t *tape,
    relay_buf_t *out)
{
    size_t                      v;
    const relay_packet_type_t  *type;

    if (tape->n == 0 || tape->nodes[0].type != RELAY_JSON_OBJECT) {
        return RELAY_DECLINED;
    }

    type = &relay_packet_types[RELAY_PACKET_PROMPT];

    v = relay_json_get(tape, doc, 0, type->name, strlen(type->name));

    if (v == 0 || tape->nodes[v].type != RELAY_JSON_STRING) {
        return RELAY_DECLINED;
    }

    return relay_json_str_decode(tape, doc, v, out);
}


relay_uint_t
relay_packet_label(const relay_str_t *label)
{
    size_t  i;

    for (i = 0; relay_packet_labels[i].len != 0; i++) {
        if (relay_str_eq(label, &relay_packet_labels[i])) {
            return 1;
        }
    }

    return 0;
}
