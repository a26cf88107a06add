
/*
 * relay_grant: the decision.  relay_grant_decide() is a pure function and the
 * only place that says yes.
 */

#ifndef _RELAY_GRANT_H_INCLUDED_
#define _RELAY_GRANT_H_INCLUDED_


#include "relay.h"
#include "relay_identity.h"
#include "relay_keys.h"


typedef enum {
    RELAY_REASON_UNDECIDED = 0,
    RELAY_REASON_UNKNOWN_LINK,
    RELAY_REASON_SIGN_IN,
    RELAY_REASON_BAD_TOKEN,
    RELAY_REASON_KEYS_UNAVAILABLE,      /* to verify a token with */
    RELAY_REASON_STORE_UNAVAILABLE,
    RELAY_REASON_BLOCKED,
    RELAY_REASON_OWNER,
    RELAY_REASON_REVOKED,
    RELAY_REASON_EXPIRED,
    RELAY_REASON_NOT_NAMED,
    RELAY_REASON_REBOUND,
    RELAY_REASON_PERMISSION,
    RELAY_REASON_PREVIEW,
    RELAY_REASON_CONFLICT,              /* accept of a version moved on */
    RELAY_REASON_RECEIPT_UNAVAILABLE,
    RELAY_REASON_SERVED,
    RELAY_REASON_ACCEPTED,
    RELAY_REASON_BAD_RECORD,
    RELAY_REASON_WITHHELD,              /* document cannot be projected */
    RELAY_REASON_SAFETY,                /* its text is not passed on */
    RELAY_REASON_METHOD,                /* method not allowed here */
    RELAY_REASON_CROSS_SITE,            /* ambient identity, another site */
    RELAY_REASON_PREFETCH,
    RELAY_REASON_EARLY_DATA,
    RELAY_REASON_MEDIA_TYPE,            /* body is not application/json */
    RELAY_REASON_BAD_REQUEST,           /* body is not what was asked for */
    RELAY_REASON_INTERNAL,
    RELAY_REASON_MAX
} relay_reason_e;


typedef enum {
    RELAY_VERDICT_DENY = 0,
    RELAY_VERDICT_ALLOW,        /* serve view of version */
    RELAY_VERDICT_ACCEPT        /* make the grant (accept.lua), then decide
                                   again on what is then stored */
} relay_verdict_e;


typedef enum {
    RELAY_ACCEPT_AUTO = 0,      /* bearer: on read; ambient: explicit */
    RELAY_ACCEPT_EXPLICIT,
    RELAY_ACCEPT_ON_READ
} relay_accept_e;


typedef enum {
    RELAY_ACT_READ = 0,
    RELAY_ACT_ACCEPT            /* POST {"version": n} */
} relay_act_e;


typedef struct {
    int64_t                  now;           /* epoch ms */

    const relay_identity_t  *identity;      /* NULL: none presented */
    unsigned                 bad_identity:1;   /* presented and invalid */
    unsigned                 malformed:1;      /* the token's grammar */
    unsigned                 store_failed:1;
    unsigned                 link_found:1;     /* relay:link:<H> exists */

    const relay_head_t      *head;
    const relay_link_t      *link;
    const relay_grant_t     *by_email;      /* never NULL, found may be 0 */
    const relay_grant_t     *by_subject;

    const relay_block_t     *blocks;        /* every block looked at */
    size_t                   nblocks;
    unsigned                 domains_blocked:1;  /* blocks of domains exist */

    relay_act_e              act;
    int64_t                  accept_version;
    relay_permission_e       needed;        /* of the act; READ to read */

    relay_accept_e           accept;
    unsigned                 bind_subject:1;
    unsigned                 conceal:1;
    relay_view_e             anyone_view;   /* LINK or RECIPIENT */
    relay_view_e             view;          /* the location's, NONE: any */
} relay_grant_input_t;


typedef struct {
    relay_verdict_e       verdict;
    relay_reason_e        reason;
    relay_uint_t          status;       /* HTTP */
    relay_view_e          view;
    relay_permission_e    permission;
    int64_t               version;      /* of the document to serve */
    int64_t               exp;          /* earliest expiry that applies, 0 */
    const relay_grant_t  *grant;        /* the grant used, or NULL */
    unsigned              by_email:1;   /* ACCEPT: under which reader key */
    unsigned              rebound:1;    /* another subject held the address */
    unsigned              known:1;      /* a known reader on a known relay: a
                                           denial of it is a receipt */
    unsigned              owner:1;
} relay_decision_t;


/*
 * Decides.  Fills *d completely, whatever the input; anything unforeseen is
 * DENY.  The first case that matches wins.
 */
void relay_grant_decide(const relay_grant_input_t *in, relay_decision_t *d);

/* The word ("not_named") that logs, receipts and $relay_reason carry. */
const relay_str_t *relay_reason_name(relay_reason_e reason);

/* The HTTP status of a reason, conceal taken into account by the caller. */
relay_uint_t relay_reason_status(relay_reason_e reason);

/* One sentence for a person, without anything secret. */
const relay_str_t *relay_reason_sentence(relay_reason_e reason);


#endif /* _RELAY_GRANT_H_INCLUDED_ */
