
/*
 * relay_packet: responder packets (ghostlight.responder_packet.v0): the head,
 * the rules that a packet must meet before its prompt is served, who may be
 * served, and what may come back.
 *
 * Rules are numbered, P1 to P27.  P1 to P3 are about the packet's form, P4 to
 * P7 about its lane, P8 to P12 and P17 to P27 about its prompt, P13 about its
 * references, P14 to P16 about its review, P26 about the caller.  The number
 * P20 is not used: prompts say on purpose what they do not tell.
 */

#ifndef _RELAY_PACKET_H_INCLUDED_
#define _RELAY_PACKET_H_INCLUDED_


#include "relay.h"
#include "relay_buf.h"
#include "relay_json.h"


#define RELAY_PACKET_SCHEMA    "ghostlight.responder_packet.v0"

#define RELAY_PACKET_RULES     28   /* 1 to 27, by number */
#define RELAY_PACKET_REPORTED  8    /* findings kept of one rule */

/* bytes of all that one rule looks for in a prompt; more is a finding */
#define RELAY_PACKET_SOUGHT      (64 * 1024)

/* bytes of one text as it is compared, and of all; more does not pass (P1) */
#define RELAY_PACKET_FOLDED      (4 * 1024 * 1024)
#define RELAY_PACKET_FOLDED_ALL  (16 * 1024 * 1024)


typedef enum {
    RELAY_PACKET_STATUS_NONE = 0,
    RELAY_PACKET_DRAFT,
    RELAY_PACKET_ACCEPTED,
    RELAY_PACKET_ACCEPTED_AS_DRAFT,
    RELAY_PACKET_NEEDS_REVISION,
    RELAY_PACKET_REJECTED,
    RELAY_PACKET_SUPERSEDED
} relay_packet_status_e;


typedef enum {
    RELAY_PACKET_LANE_NONE = 0,
    RELAY_PACKET_ONLY,
    RELAY_PACKET_RETRIEVAL
} relay_packet_lane_e;


typedef enum {
    RELAY_PACKET_LORE_NONE = 0,
    RELAY_PACKET_LORE_CURATED,
    RELAY_PACKET_LORE_COORDINATOR,
    RELAY_PACKET_LORE_RESPONDER     /* the responder searches itself */
} relay_packet_lore_e;


typedef enum {
    RELAY_PACKET_ISOLATION_NONE = 0,
    RELAY_PACKET_SUBAGENT,
    RELAY_PACKET_MANUAL,
    RELAY_PACKET_EXTERNAL
} relay_packet_isolation_e;


typedef enum {
    RELAY_PACKET_OFF = 0,
    RELAY_PACKET_WARN,
    RELAY_PACKET_REFUSE
} relay_packet_action_e;


/* decoded strings; they point into the buffer given to relay_packet_head() */

typedef struct {
    relay_str_t               packet_id;
    relay_str_t               responder;        /* responder_agent_id */
    relay_packet_status_e     status;
    relay_packet_lane_e       lane;
    relay_packet_lore_e       lore;
    relay_packet_isolation_e  isolation;
    unsigned                  accepted:1;       /* for_sandbox_use */
} relay_packet_t;


/* What each rule leads to.  Filled in by relay_packet_rules_init(). */

typedef struct {
    relay_packet_action_e     action[RELAY_PACKET_RULES];
    const relay_str_t        *markers;          /* P9: what no prompt holds */
    size_t                    nmarkers;
    unsigned                  allow_draft:1;    /* P16 */
} relay_packet_rules_t;


typedef struct {
    unsigned                  rule;             /* 17: P17 */
    relay_packet_action_e     action;           /* WARN or REFUSE */
    size_t                    node;             /* of the packet's tape */
    size_t                    offset;           /* its first byte */
    const char               *text;             /* a sentence, static */
} relay_packet_finding_t;


typedef struct {
    relay_packet_finding_t    findings[RELAY_PACKET_RULES
                                       * RELAY_PACKET_REPORTED];
    size_t                    n;                /* those kept */
    size_t                    refused;          /* all that refuse */
    size_t                    warned;           /* all that warn */
    unsigned                  rule;             /* the first that refuses, 0 */
    uint8_t                   kept[RELAY_PACKET_RULES];
} relay_packet_result_t;


/*
 * Reads the head.  RELAY_OK; RELAY_DECLINED: a member that some rule rests on
 * is missing or has the wrong type or value, err holds a sentence that starts
 * with its JSON pointer; RELAY_ERROR: no memory.  mem owns the decoded
 * strings.  Both buffers are emptied first.
 */
relay_int_t relay_packet_head(const relay_str_t *doc,
    const relay_json_tape_t *tape, relay_packet_t *packet, relay_buf_t *mem,
    relay_buf_t *err);

/*
 * The defaults: P1 to P7, P10 to P12, P14 to P18 and P21 refuse; P8, P9, P19
 * and P22 to P25 warn; P13 and P27 are off.  Drafts are refused.  P9 looks for
 * the coordinator's own member names.
 */
void relay_packet_rules_init(relay_packet_rules_t *rules);

/*
 * Sets what the rule of that name ("P17") leads to.  RELAY_DECLINED: there is
 * no such rule, or it always refuses: the packet's form (P1, P3) and its
 * review (P14, P16).
 */
relay_int_t relay_packet_rules_set(relay_packet_rules_t *rules,
    const relay_str_t *name, relay_packet_action_e action);

/* The same from one word, "P19=refuse"; RELAY_DECLINED: not such a word. */
relay_int_t relay_packet_rules_word(relay_packet_rules_t *rules,
    const relay_str_t *word);

/* "off", "warn", "refuse" */
const relay_str_t *relay_packet_action_name(relay_packet_action_e action);

/* "P17"; empty for what is no rule. */
const relay_str_t *relay_packet_rule_name(unsigned rule);

/*
 * Judges a packet.  schema_valid is the caller's word that the packet meets
 * its JSON Schema: without it no packet passes (P1).  What the rules rest on
 * is checked here as well; when that fails, nothing else is looked at.
 *
 * RELAY_OK: it may be served; RELAY_DECLINED: it may not, result->rule is why;
 * RELAY_ERROR: no memory, it may not either.  *result is filled in completely
 * in each case.  Of one rule, RELAY_PACKET_REPORTED findings are kept.
 *
 * The time is linear in the packet's bytes; the memory that it takes for the
 * while is bounded by that of two folded texts and 10 MiB for what is looked
 * for in them.
 */
relay_int_t relay_packet_gate(const relay_packet_rules_t *rules,
    const relay_str_t *doc, const relay_json_tape_t *tape,
    relay_uint_t schema_valid, relay_packet_result_t *result);

/*
 * P26: whether a caller may be served, by what its verified token says of its
 * isolation; NULL: nothing.  RELAY_OK, or RELAY_DECLINED unless that is exactly
 * the packet's isolation_method.
 */
relay_int_t relay_packet_isolated(const relay_packet_t *packet,
    const relay_str_t *claim);

/* "manual_packet_only"; empty for NONE, NONE for what is no name. */
const relay_str_t *relay_packet_isolation_name(relay_packet_isolation_e i);
relay_packet_isolation_e relay_packet_isolation_by_name(
    const relay_str_t *name);

/*
 * Appends the decoded packet_prompt_text: the responder view as text, byte for
 * byte.  RELAY_DECLINED: the packet has none.
 */
relay_int_t relay_packet_prompt(const relay_str_t *doc,
    const relay_json_tape_t *tape, relay_buf_t *out);


/* relay_packet_response.c: what a responder sends back */

#define RELAY_PACKET_FAULTS    32


typedef struct {
    const char               *name;     /* "label": which check */
    const char               *text;     /* a sentence, static */
    size_t                    node;     /* of the response's tape */
    size_t                    offset;
} relay_packet_fault_t;


typedef struct {
    relay_packet_fault_t      faults[RELAY_PACKET_FAULTS];
    size_t                    n;
} relay_packet_response_t;


/*
 * Judges a response to a packet: it is an object with the nine members of a
 * response, of the right types ("members"), names the packet's responder
 * ("responder"), chooses an action that there is ("label") and that this
 * packet allows ("allowed"), and holds no marker of hidden state ("marker").
 *
 * RELAY_OK; RELAY_DECLINED: *result says why; RELAY_ERROR: no memory.
 * Both documents were tokenized before: one that is no JSON has no tape.
 */
relay_int_t relay_packet_response(const relay_str_t *packet,
    const relay_json_tape_t *packet_tape, const relay_str_t *response,
    const relay_json_tape_t *response_tape, relay_packet_response_t *result);


#endif /* _RELAY_PACKET_H_INCLUDED_ */
