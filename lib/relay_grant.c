
/*
 * relay_grant: the decision.
 */

#include "relay_grant.h"

#include "relay_time.h"


/* What the decision derives from its input, once per call. */

typedef struct {
    relay_access_e   access;        /* the narrower of head's and link's */
    unsigned         confirmed:1;   /* the reader's address counts */
    unsigned         own_email:1;   /* by_email is bound to this subject */
    unsigned         other:1;       /* by_email is bound to another one */
    unsigned         named_email:1;
    unsigned         named_subject:1;
    unsigned         held:1;        /* the reader holds or held a grant */
} relay_grant_facts_t;


typedef struct {
    relay_uint_t     status;
    relay_str_t      name;
    relay_str_t      sentence;
} relay_grant_reason_t;


static void relay_grant_deny(relay_decision_t *d, relay_reason_e reason);
static relay_uint_t relay_grant_sane(const relay_grant_input_t *in);
static relay_uint_t relay_grant_record_sane(const relay_grant_t *grant);
static relay_uint_t relay_grant_views_sane(const relay_grant_input_t *in);
static relay_uint_t relay_grant_is_subject(const relay_identity_t *id,
    const relay_str_t *iss, const relay_str_t *sub);
static void relay_grant_facts(const relay_grant_input_t *in,
    relay_grant_facts_t *f);
static relay_uint_t relay_grant_listed(const relay_grant_input_t *in);
static relay_uint_t relay_grant_blocked(const relay_grant_input_t *in);
static relay_uint_t relay_grant_revoked(const relay_grant_input_t *in);
static void relay_grant_terms(const relay_grant_input_t *in,
    const relay_grant_facts_t *f, relay_decision_t *d);
static relay_uint_t relay_grant_rebound(const relay_grant_input_t *in,
    const relay_grant_facts_t *f);
static const relay_grant_t *relay_grant_accepted(
    const relay_grant_input_t *in, const relay_grant_facts_t *f);
static void relay_grant_target(const relay_grant_input_t *in,
    const relay_grant_facts_t *f, relay_decision_t *d);


/* in the order of relay_reason_e */

static const relay_grant_reason_t  relay_grant_reasons[RELAY_REASON_MAX] = {

    { 500, relay_string("undecided"),
      relay_string("This request could not be decided.") },

    { 404, relay_string("unknown_link"),
      relay_string("This link leads nowhere.") },

    { 401, relay_string("sign_in"),
      relay_string("Sign in to open this link.") },

    { 401, relay_string("bad_token"),
      relay_string("Your sign-in is not valid here or has ended. "
                   "Sign in again.") },

    { 503, relay_string("keys_unavailable"),
      relay_string("Your sign-in cannot be checked just now. "
                   "Try again shortly.") },

    { 503, relay_string("store_unavailable"),
      relay_string("This cannot be checked just now. Try again shortly.") },

    { 403, relay_string("blocked"),
      relay_string("You have no access here.") },

    { 200, relay_string("owner"),
      relay_string("This relay is yours.") },

    { 410, relay_string("revoked"),
      relay_string("The owner has ended this access.") },

    { 410, relay_string("expired"),
      relay_string("This access has expired.") },

    { 403, relay_string("not_named"),
      relay_string("This relay is meant for somebody else. If it is meant for "
                   "you, sign in with the address that it was sent to.") },

    { 403, relay_string("rebound"),
      relay_string("This address has opened the relay with another account. "
                   "Use that account, or ask the owner.") },

    { 403, relay_string("permission"),
      relay_string("You may read this relay, but not do this with it.") },

    { 200, relay_string("preview"),
      relay_string("Accept this relay to read it.") },

    { 409, relay_string("conflict"),
      relay_string("The relay has a newer version than the one you accepted. "
                   "Look at it and accept again.") },

    { 503, relay_string("receipt_unavailable"),
      relay_string("This read cannot be recorded just now, so it is not "
                   "served. Try again shortly.") },

    { 200, relay_string("served"),
      relay_string("Served.") },

    { 200, relay_string("accepted"),
      relay_string("Accepted.") },

    { 503, relay_string("bad_record"),
      relay_string("What is stored about this relay is damaged. "
                   "The operator has been told.") },

    { 502, relay_string("withheld"),
      relay_string("This relay cannot be shown to you safely.") },

    { 502, relay_string("safety"),
      relay_string("This relay holds text that is not passed on here: an image "
                   "that calls home, encoded or hidden characters.") },

    { 405, relay_string("method"),
      relay_string("This method is not allowed here.") },

    { 403, relay_string("cross_site"),
      relay_string("Another site made this request. Open the link itself.") },

    { 403, relay_string("prefetch"),
      relay_string("A relay is not loaded ahead of time.") },

    { 425, relay_string("early_data"),
      relay_string("Send this request again after the handshake.") },

    { 415, relay_string("media_type"),
      relay_string("Send application/json.") },

    { 400, relay_string("bad_request"),
      relay_string("The request's body is not what is expected here.") },

    { 500, relay_string("internal"),
      relay_string("Something failed here. Try again shortly.") }
};


void
relay_grant_decide(const relay_grant_input_t *in, relay_decision_t *d)
{
    relay_uint_t             explicit, rebound;
    const relay_grant_t     *accepted;
    relay_grant_facts_t      f;
    const relay_identity_t  *id;

    memset(d, 0, sizeof(relay_decision_t));

    d->verdict = RELAY_VERDICT_DENY;
    d->reason = RELAY_REASON_UNDECIDED;
    d->status = relay_reason_status(RELAY_REASON_UNDECIDED);

    if (in->malformed) {
        relay_grant_deny(d, RELAY_REASON_UNKNOWN_LINK);
        return;
    }

    id = in->identity;

    if (in->bad_identity) {
        relay_grant_deny(d, RELAY_REASON_BAD_TOKEN);
        return;
    }

    if (id == NULL) {
        relay_grant_deny(d, RELAY_REASON_SIGN_IN);
        return;
    }

    if (id->issuer.len == 0 || id->subject.len == 0) {
        relay_grant_deny(d, RELAY_REASON_BAD_TOKEN);
        return;
    }

    if (in->store_failed) {
        relay_grant_deny(d, RELAY_REASON_STORE_UNAVAILABLE);
        return;
    }

    /* who is blocked shall not learn which links there are, either */

    if (in->conceal && relay_grant_listed(in)) {
        d->known = in->link_found && in->head != NULL && in->head->found;
        relay_grant_deny(d, RELAY_REASON_BLOCKED);
        return;
    }

    if (!in->link_found
        || in->head == NULL
        || !in->head->found
        || in->link == NULL
        || !in->link->found)
    {
        /* a known relay under a link without a record is still known */

        d->known = in->link_found && in->head != NULL && in->head->found;
        relay_grant_deny(d, RELAY_REASON_UNKNOWN_LINK);
        return;
    }

    d->known = 1;
    d->version = in->head->version;

    if (in->by_email == NULL
        || in->by_subject == NULL
        || (in->blocks == NULL && in->nblocks)
        || in->now <= 0
        || in->view >= RELAY_VIEW_MAX
        || in->anyone_view >= RELAY_VIEW_MAX)
    {
        relay_grant_deny(d, RELAY_REASON_INTERNAL);
        return;
    }

    if (!relay_grant_sane(in)) {
        relay_grant_deny(d, RELAY_REASON_BAD_RECORD);
        return;
    }

    if (relay_grant_blocked(in)) {
        relay_grant_deny(d, RELAY_REASON_BLOCKED);
        return;
    }

    if (relay_grant_is_subject(id, &in->head->owner_iss,
                               &in->head->owner_sub))
    {
        if (in->head->version < 1) {
            relay_grant_deny(d, RELAY_REASON_BAD_RECORD);
            return;
        }

        d->owner = 1;
        d->permission = RELAY_PERMISSION_EDIT;

        if (in->needed > RELAY_PERMISSION_EDIT) {
            relay_grant_deny(d, RELAY_REASON_PERMISSION);
            return;
        }

        d->verdict = RELAY_VERDICT_ALLOW;
        d->reason = RELAY_REASON_OWNER;
        d->status = relay_reason_status(RELAY_REASON_OWNER);
        d->view = in->view > RELAY_VIEW_OWNER ? in->view : RELAY_VIEW_OWNER;
        return;
    }

    relay_grant_facts(in, &f);
    relay_grant_terms(in, &f, d);

    if (f.held) {
        d->grant = in->by_email->found && (f.confirmed || f.own_email)
                   ? in->by_email : in->by_subject;
    }

    if (relay_grant_revoked(in)) {
        relay_grant_deny(d, f.held ? RELAY_REASON_REVOKED
                                   : RELAY_REASON_UNKNOWN_LINK);
        return;
    }

    if (relay_time_expired(d->exp, in->now)) {
        relay_grant_deny(d, f.held ? RELAY_REASON_EXPIRED
                                   : RELAY_REASON_UNKNOWN_LINK);
        return;
    }

    if (f.access != RELAY_ACCESS_ANYONE
        && !f.named_email
        && !f.named_subject)
    {
        relay_grant_deny(d, RELAY_REASON_NOT_NAMED);

        if (in->conceal) {
            d->status = relay_reason_status(RELAY_REASON_UNKNOWN_LINK);
        }

        return;
    }

    rebound = relay_grant_rebound(in, &f);

    if (rebound) {
        d->rebound = 1;
        d->grant = NULL;

        if (in->bind_subject) {
            relay_grant_deny(d, RELAY_REASON_REBOUND);
            return;
        }
    }

    if (d->permission < RELAY_PERMISSION_READ || in->needed > d->permission) {
        relay_grant_deny(d, RELAY_REASON_PERMISSION);
        return;
    }

    accepted = rebound ? NULL : relay_grant_accepted(in, &f);

    if (accepted != NULL) {

        if (in->act != RELAY_ACT_READ && in->act != RELAY_ACT_ACCEPT) {
            relay_grant_deny(d, RELAY_REASON_INTERNAL);
            return;
        }

        d->verdict = RELAY_VERDICT_ALLOW;
        d->reason = RELAY_REASON_SERVED;
        d->status = relay_reason_status(RELAY_REASON_SERVED);
        d->grant = accepted;

        if (in->head->mode != RELAY_MODE_LIVE) {
            d->version = accepted->accepted_version;
        }

        return;
    }

    relay_grant_target(in, &f, d);

    switch (in->act) {

    case RELAY_ACT_ACCEPT:

        if (in->accept_version != in->head->version) {
            relay_grant_deny(d, RELAY_REASON_CONFLICT);
            return;
        }

        break;

    case RELAY_ACT_READ:

        explicit = rebound
                   || (in->accept != RELAY_ACCEPT_ON_READ
                       && (in->accept != RELAY_ACCEPT_AUTO || id->ambient));

        if (explicit) {
            d->verdict = RELAY_VERDICT_ALLOW;
            d->reason = RELAY_REASON_PREVIEW;
            d->status = relay_reason_status(RELAY_REASON_PREVIEW);
            d->view = RELAY_VIEW_PREVIEW;
            return;
        }

        break;

    default:
        relay_grant_deny(d, RELAY_REASON_INTERNAL);
        return;
    }

    d->verdict = RELAY_VERDICT_ACCEPT;
    d->reason = RELAY_REASON_ACCEPTED;
    d->status = relay_reason_status(RELAY_REASON_ACCEPTED);
}


static void
relay_grant_deny(relay_decision_t *d, relay_reason_e reason)
{
    d->verdict = RELAY_VERDICT_DENY;
    d->reason = reason;
    d->status = relay_reason_status(reason);
    d->view = RELAY_VIEW_NONE;
    d->permission = RELAY_PERMISSION_NONE;
    d->by_email = 0;
}


/*
 * Whether every record that was found says what a decision needs.  Decoders
 * refuse such records before; this holds for a caller that did not ask them.
 */

static relay_uint_t
relay_grant_sane(const relay_grant_input_t *in)
{
    const relay_head_t  *head;
    const relay_link_t  *link;

    head = in->head;
    link = in->link;

    if (head->state == RELAY_STATE_ACTIVE) {

        if (head->version < 1
            || head->permission < RELAY_PERMISSION_READ
            || head->permission > RELAY_PERMISSION_EDIT
            || (head->access != RELAY_ACCESS_NAMED
                && head->access != RELAY_ACCESS_ANYONE)
            || (head->mode != RELAY_MODE_SNAPSHOT
                && head->mode != RELAY_MODE_LIVE))
        {
            return 0;
        }

    } else if (head->state != RELAY_STATE_REVOKED) {
        return 0;
    }

    if ((link->state != RELAY_STATE_ACTIVE
         && link->state != RELAY_STATE_REVOKED)
        || link->view >= RELAY_VIEW_MAX
        || link->access > RELAY_ACCESS_ANYONE
        || link->permission > RELAY_PERMISSION_EDIT)
    {
        return 0;
    }

    if (!relay_grant_record_sane(in->by_email)
        || !relay_grant_record_sane(in->by_subject)
        || !relay_grant_views_sane(in))
    {
        return 0;
    }

    /* what lies under a subject's key is that subject's or nobody's */

    if (in->by_subject->found
        && (in->by_subject->iss.len || in->by_subject->sub.len)
        && !relay_grant_is_subject(in->identity, &in->by_subject->iss,
                                   &in->by_subject->sub))
    {
        return 0;
    }

    return 1;
}


static relay_uint_t
relay_grant_record_sane(const relay_grant_t *grant)
{
    if (!grant->found || grant->state == RELAY_STATE_REVOKED) {
        return 1;
    }

    return grant->state == RELAY_STATE_ACTIVE
           && grant->view < RELAY_VIEW_MAX
           && grant->permission <= RELAY_PERMISSION_EDIT
           && grant->accepted_at >= 0
           && (grant->accepted_at == 0 || grant->accepted_version >= 1);
}


/*
 * A packet is not passed on and has no preview: a record that says so and one
 * that gives the responder's view have no view in common, and neither is the
 * narrower one.
 */

static relay_uint_t
relay_grant_views_sane(const relay_grant_input_t *in)
{
    size_t        i;
    unsigned      views;
    relay_view_e  all[4];

    all[0] = in->view;
    all[1] = in->link->view;
    all[2] = in->by_email->found ? in->by_email->view : RELAY_VIEW_NONE;
    all[3] = in->by_subject->found ? in->by_subject->view : RELAY_VIEW_NONE;

    views = 0;

    for (i = 0; i < 4; i++) {
        if (all[i] < RELAY_VIEW_MAX) {
            views |= 1u << all[i];
        }
    }

    return (views & (1u << RELAY_VIEW_RESPONDER)) == 0
           || (views & ((1u << RELAY_VIEW_PASS_ON)
                        |(1u << RELAY_VIEW_PREVIEW))) == 0;
}


/* Byte for byte; an empty issuer or subject is nobody's. */

static relay_uint_t
relay_grant_is_subject(const relay_identity_t *id, const relay_str_t *iss,
    const relay_str_t *sub)
{
    return iss->len
           && sub->len
           && relay_str_eq(&id->issuer, iss)
           && relay_str_eq(&id->subject, sub);
}


static void
relay_grant_facts(const relay_grant_input_t *in, relay_grant_facts_t *f)
{
    relay_uint_t             bound;
    const relay_grant_t     *by_email, *by_subject;
    const relay_identity_t  *id;

    id = in->identity;
    by_email = in->by_email;
    by_subject = in->by_subject;

    f->access = in->head->access;

    if (in->link->access != RELAY_ACCESS_NONE
        && in->link->access < f->access)
    {
        f->access = in->link->access;
    }

    f->confirmed = relay_identity_confirmed(id) ? 1 : 0;

    bound = by_email->found && (by_email->iss.len || by_email->sub.len);

    f->own_email = bound
                   && relay_grant_is_subject(id, &by_email->iss,
                                             &by_email->sub);
    f->other = bound && !f->own_email;

    f->named_email = f->confirmed
                     && in->head->email.len
                     && relay_email_equal(&id->email, &in->head->email);

    /*
     * A grant that came through a link names nobody: every reader of an anyone
     * relay has one, and narrowing the relay ends it.  One without a link was
     * issued to this subject.
     */

    f->named_subject = by_subject->found
                       && by_subject->state == RELAY_STATE_ACTIVE
                       && by_subject->link.len == 0;

    /* an address that nobody confirmed shows nothing of its owner's grant */

    f->held = by_subject->found
              || (by_email->found && (f->confirmed || f->own_email));
}


static relay_uint_t
relay_grant_listed(const relay_grant_input_t *in)
{
    size_t  i;

    for (i = 0; in->blocks != NULL && i < in->nblocks; i++) {
        if (in->blocks[i].found && in->blocks[i].active) {
            return 1;
        }
    }

    return 0;
}


/*
 * Where domains are blocked, a reader of an anyone relay must be of one that
 * can be looked at.
 */

static relay_uint_t
relay_grant_blocked(const relay_grant_input_t *in)
{
    return relay_grant_listed(in)
           || (in->domains_blocked
               && in->identity->email.len == 0
               && in->head->access == RELAY_ACCESS_ANYONE);
}


static relay_uint_t
relay_grant_revoked(const relay_grant_input_t *in)
{
    return in->head->state != RELAY_STATE_ACTIVE
           || in->link->state != RELAY_STATE_ACTIVE
           || (in->by_email->found
               && in->by_email->state != RELAY_STATE_ACTIVE)
           || (in->by_subject->found
               && in->by_subject->state != RELAY_STATE_ACTIVE);
}


/*
 * The strictest of all records: those under both reader keys are judged,
 * whichever of them is used.  serve.lua looks at the same expiries.
 */

static void
relay_grant_terms(const relay_grant_input_t *in, const relay_grant_facts_t *f,
    relay_decision_t *d)
{
    size_t                i;
    const relay_grant_t  *grants[2];

    grants[0] = in->by_email;
    grants[1] = in->by_subject;

    d->exp = relay_time_earlier(in->head->exp, in->link->exp);
    d->permission = in->head->permission;

    if (in->link->permission != RELAY_PERMISSION_NONE
        && in->link->permission < d->permission)
    {
        d->permission = in->link->permission;
    }

    if (f->access == RELAY_ACCESS_ANYONE) {
        d->view = in->anyone_view >= RELAY_VIEW_RECIPIENT ? in->anyone_view
                                                          : RELAY_VIEW_LINK;
    } else {
        d->view = RELAY_VIEW_RECIPIENT;
    }

    if (in->link->view > d->view) {
        d->view = in->link->view;
    }

    if (in->view > d->view) {
        d->view = in->view;
    }

    for (i = 0; i < 2; i++) {

        if (!grants[i]->found) {
            continue;
        }

        d->exp = relay_time_earlier(d->exp, grants[i]->exp);

        if (grants[i]->permission != RELAY_PERMISSION_NONE
            && grants[i]->permission < d->permission)
        {
            d->permission = grants[i]->permission;
        }

        if (grants[i]->view > d->view) {
            d->view = grants[i]->view;
        }
    }
}


/*
 * The reader's address has a grant of another subject.  A grant issued to this
 * subject does not rest on the address; one of its own, accepted before, is
 * not new.  With bind_subject the address stays with its first subject, so
 * that only a relay open to anyone lets the reader's own grant do.
 */

static relay_uint_t
relay_grant_rebound(const relay_grant_input_t *in,
    const relay_grant_facts_t *f)
{
    if (!f->other || f->named_subject) {
        return 0;
    }

    if (in->by_subject->found
        && in->by_subject->accepted_at
        && (f->access == RELAY_ACCESS_ANYONE || !in->bind_subject))
    {
        return 0;
    }

    return 1;
}


/*
 * The accepted grant that this read stands on.  Both are active here.  One
 * under the address is the reader's when it is bound to the subject, or to
 * nobody and the address is confirmed.
 */

static const relay_grant_t *
relay_grant_accepted(const relay_grant_input_t *in,
    const relay_grant_facts_t *f)
{
    if (in->by_email->found
        && in->by_email->accepted_at
        && !f->other
        && (f->own_email || f->confirmed))
    {
        return in->by_email;
    }

    if (in->by_subject->found && in->by_subject->accepted_at) {
        return in->by_subject;
    }

    return NULL;
}


/*
 * Where the grant is made: an issued one is filled in; else under the address
 * when the reader was named by it, else under the subject.
 */

static void
relay_grant_target(const relay_grant_input_t *in, const relay_grant_facts_t *f,
    relay_decision_t *d)
{
    d->by_email = 0;
    d->grant = NULL;

    if (f->confirmed && !f->other) {

        if (in->by_email->found) {
            d->by_email = f->named_email || !in->by_subject->found;

        } else {
            d->by_email = f->named_email
                          && f->access == RELAY_ACCESS_NAMED
                          && !in->by_subject->found;
        }
    }

    if (d->by_email) {
        if (in->by_email->found) {
            d->grant = in->by_email;
        }

    } else if (in->by_subject->found) {
        d->grant = in->by_subject;
    }
}


const relay_str_t *
relay_reason_name(relay_reason_e reason)
{
    if (reason >= RELAY_REASON_MAX) {
        reason = RELAY_REASON_UNDECIDED;
    }

    return &relay_grant_reasons[reason].name;
}


relay_uint_t
relay_reason_status(relay_reason_e reason)
{
    if (reason >= RELAY_REASON_MAX) {
        reason = RELAY_REASON_UNDECIDED;
    }

    return relay_grant_reasons[reason].status;
}


const relay_str_t *
relay_reason_sentence(relay_reason_e reason)
{
    if (reason >= RELAY_REASON_MAX) {
        reason = RELAY_REASON_UNDECIDED;
    }

    return &relay_grant_reasons[reason].sentence;
}
