
/*
 * relay_packet_rule: what the files of relay_packet share: where the members
 * are that rules rest on, and the forms in which texts are compared.
 */

#ifndef _RELAY_PACKET_RULE_H_INCLUDED_
#define _RELAY_PACKET_RULE_H_INCLUDED_


#include "relay_packet.h"


/* members, each after the object that holds it */

typedef enum {
    RELAY_PACKET_ROOT = 0,
    RELAY_PACKET_VERSION,
    RELAY_PACKET_ID,
    RELAY_PACKET_STATUS,
    RELAY_PACKET_COORDINATOR_REF,
    RELAY_PACKET_CONTEXT_REF,
    RELAY_PACKET_RESPONDER,
    RELAY_PACKET_LANE,
    RELAY_PACKET_LORE,
    RELAY_PACKET_LORE_MODE,
    RELAY_PACKET_LORE_SCOPE,
    RELAY_PACKET_LORE_PROVENANCE,
    RELAY_PACKET_LORE_INSTRUCTIONS,
    RELAY_PACKET_TRAVERSAL,
    RELAY_PACKET_TRAVERSAL_DEPTH,
    RELAY_PACKET_TRAVERSAL_PREFIXES,
    RELAY_PACKET_TRAVERSAL_SEEDS,
    RELAY_PACKET_TRAVERSAL_CLASSES,
    RELAY_PACKET_TRAVERSAL_STOPS,
    RELAY_PACKET_VISIBLE,
    RELAY_PACKET_LOCAL,
    RELAY_PACKET_EVENT,
    RELAY_PACKET_EVENT_ACTION,
    RELAY_PACKET_EVENT_SPOKEN,
    RELAY_PACKET_LABELS,
    RELAY_PACKET_EXCERPTS,
    RELAY_PACKET_OUTPUT,
    RELAY_PACKET_OUTPUT_FIELDS,
    RELAY_PACKET_OUTPUT_RULES,
    RELAY_PACKET_AUDIT,
    RELAY_PACKET_OMITTED,
    RELAY_PACKET_FORBIDDEN,
    RELAY_PACKET_ABSENCES,
    RELAY_PACKET_ISOLATION,
    RELAY_PACKET_ISOLATION_METHOD,
    RELAY_PACKET_ISOLATION_PACKET,
    RELAY_PACKET_ISOLATION_REPO,
    RELAY_PACKET_ISOLATION_TALK,
    RELAY_PACKET_ISOLATION_HIDDEN,
    RELAY_PACKET_PROMPT,
    RELAY_PACKET_REVIEW,
    RELAY_PACKET_REVIEW_ACCEPTED,
    RELAY_PACKET_REVIEW_FAILURES,
    RELAY_PACKET_MEMBERS
} relay_packet_member_e;


/* where they are, and the values of the enumerations among them */

typedef struct {
    size_t                    at[RELAY_PACKET_MEMBERS];     /* 0: absent */
    relay_packet_status_e     status;
    relay_packet_lane_e       lane;
    relay_packet_lore_e       lore;
    relay_packet_isolation_e  isolation;

    /* when it is not as it must be */
    relay_packet_member_e     member;
    size_t                    node;         /* what holds it, or itself */
    unsigned                  rule;
    const char               *text;
} relay_packet_place_t;


/* relay_packet.c */

/* RELAY_OK, or RELAY_DECLINED with the last four members filled in. */
relay_int_t relay_packet_locate(const relay_str_t *doc,
    const relay_json_tape_t *tape, relay_packet_place_t *place);

/* Whether a label is one of the actions that there are. */
relay_uint_t relay_packet_label(const relay_str_t *label);


/* relay_packet_rules.c */

/* What a rule leads to; some always refuse, whatever the rules say. */
relay_packet_action_e relay_packet_action(const relay_packet_rules_t *rules,
    unsigned rule);


/* relay_packet_text.c */

/*
 * Appends a UTF-8 text as it is compared: case-folded, compatibility
 * characters resolved, without marks and without characters that nobody sees.
 * With words, each run of whatever is no letter and no digit is one space, at
 * both ends none.  RELAY_DECLINED: this is no UTF-8, or out is full;
 * RELAY_ERROR.
 */
relay_int_t relay_packet_fold(const relay_str_t *s, relay_uint_t words,
    relay_buf_t *out);

/* Whether nothing of a text can be seen. */
relay_uint_t relay_packet_blank(const relay_str_t *s);


#endif /* _RELAY_PACKET_RULE_H_INCLUDED_ */
