
/*
 * relay_view: view policies, compiled once, and the projection of a tape into
 * spans of the original bytes.
 *
 * A policy (schema/views/NAME.json) says for every field that the schema knows
 * what each view gets.  A field that the policy does not know is dropped for
 * everyone but the owner.
 */

#ifndef _RELAY_VIEW_H_INCLUDED_
#define _RELAY_VIEW_H_INCLUDED_


#include "relay.h"
#include "relay_buf.h"
#include "relay_json.h"


typedef struct relay_view_policy_s  relay_view_policy_t;


typedef struct {
    int64_t             now;         /* epoch milliseconds: expired claims */
    relay_permission_e  permission;  /* the reader's, for conditions on it */
} relay_view_params_t;


/*
 * One thing that a view does not get as it is.  The strings live as long as
 * the call that the note is for.
 */

typedef struct {
    size_t        node;         /* on the document's tape: a value, or the KEY
                                   of a member that no rule knows */
    const char   *what;         /* "dropped", "blanked", "constant", ... */
    relay_str_t   word;         /* the rule's, for this view: "marked+fresh" */
    relay_str_t   place;        /* of the rule: a pointer into the policy */
    relay_str_t   because;      /* what decided on it; empty: the word itself */
    relay_str_t   why;          /* the policy's reason; may be empty */
} relay_view_note_t;


typedef void (*relay_view_note_pt)(void *data, const relay_view_note_t *note);


typedef struct {
    relay_str_t         *spans;        /* into the document or the policy */
    size_t               n;
    size_t               size;         /* spans allocated */
    size_t               len;          /* bytes in all spans together */
    size_t               withheld;     /* members and elements left out or
                                          changed */
    int64_t              valid_until;  /* epoch ms at which a condition would
                                          change the result; 0: never */
    size_t               fault;        /* of a withheld document: the node */
    void                *scratch;
    size_t               scratch_size;
    relay_view_note_pt   note;         /* set by who wants notes; NULL: none */
    void                *note_data;
} relay_view_out_t;


/*
 * Compiles a policy document.  NULL when it is not acceptable; err then holds
 * a sentence with the pointer at fault.  Freed with relay_view_policy_free().
 */
relay_view_policy_t *relay_view_compile(const relay_str_t *json,
    relay_buf_t *err);
void relay_view_policy_free(relay_view_policy_t *policy);

/* The document type that the policy is for ("relay.context-package.v1"). */
const relay_str_t *relay_view_policy_schema(const relay_view_policy_t *policy);

/* base64url(SHA-256) of the policy's text, RELAY_DIGEST_LEN bytes. */
const relay_str_t *relay_view_policy_digest(const relay_view_policy_t *policy);

void relay_view_out_init(relay_view_out_t *out);
void relay_view_out_free(relay_view_out_t *out);

/*
 * Projects a document.  RELAY_OK: the spans of out, in order, are the view; it
 * allocates nothing once out has grown.  RELAY_DECLINED: withheld; nothing of
 * the document may be shown, *why is a static sentence (a wrong-typed mark, no
 * section left, not the policy's document type), out->fault the node at fault.
 * RELAY_ERROR: no memory.  The spans point into doc and policy: both must
 * outlive them.
 *
 * With out->note, it is called for each member or element that is left out or
 * changed, in the order of the view.
 */
relay_int_t relay_view_project(const relay_view_policy_t *policy,
    const relay_str_t *doc, const relay_json_tape_t *tape, relay_view_e view,
    const relay_view_params_t *params, relay_view_out_t *out,
    const char **why);

/* Names: "owner", "recipient", "link", "pass-on", "preview", "responder". */
relay_view_e relay_view_by_name(const relay_str_t *name);
const relay_str_t *relay_view_name(relay_view_e view);


#endif /* _RELAY_VIEW_H_INCLUDED_ */
