
/*
 * relay_grant_decide() on records of any content: what must hold of each yes
 * and of each no, whatever the decision's own order of questions is; and what
 * becomes of a yes when one thing is taken away.
 */

#include "fuzz.h"
#include "relay_grant.h"


#define BLOCKS  3


typedef struct {
    relay_grant_input_t  in;
    relay_identity_t     identity;
    relay_head_t         head;
    relay_link_t         link;
    relay_grant_t        by_email;
    relay_grant_t        by_subject;
    relay_block_t        blocks[BLOCKS];
} fuzz_case_t;


/* few, so that they meet */

static relay_str_t  names[] = {
    relay_null_string,
    relay_string("i"),
    relay_string("j"),
    relay_string("ii")
};

static relay_str_t  emails[] = {
    relay_null_string,
    relay_string("a@x.example"),
    relay_string("A@X.EXAMPLE"),
    relay_string("b@x.example"),
    relay_string("no address")
};

static const int64_t  times[] = { 0, 999, 1000, 1001, 2000, INT64_MAX, 1, -1 };

#define NOW  1000


static relay_str_t
name(fuzz_in_t *in)
{
    return names[fuzz_byte(in) % 4];
}


static relay_str_t
email(fuzz_in_t *in)
{
    return emails[fuzz_byte(in) % 5];
}


static int64_t
when(fuzz_in_t *in)
{
    return times[fuzz_byte(in) % 8];
}


/* An enumeration's value: usually one of the first, rarely none of it. */

static unsigned
one_of(fuzz_in_t *in, unsigned n)
{
    unsigned  v;

    v = fuzz_byte(in);

    return (v < 250) ? v % n : v - 250 + n;
}


static void
grant(fuzz_in_t *in, relay_grant_t *g)
{
    g->found = fuzz_byte(in) & 1;
    g->state = one_of(in, 3);
    g->view = one_of(in, RELAY_VIEW_MAX);
    g->permission = one_of(in, 4);
    g->exp = when(in);
    g->accepted_at = when(in);
    g->accepted_version = fuzz_byte(in) % 4;
    g->link = name(in);
    g->iss = name(in);
    g->sub = name(in);
    g->email = email(in);
}


static void
build(fuzz_in_t *in, fuzz_case_t *c)
{
    size_t    i;
    unsigned  flags;

    memset(c, 0, sizeof(fuzz_case_t));

    flags = fuzz_byte(in);

    c->in.bad_identity = ((flags & 3) == 3);
    c->in.malformed = ((flags & 12) == 12);
    c->in.store_failed = ((flags & 48) == 48);
    c->in.link_found = !((flags & 192) == 192);

    flags = fuzz_byte(in);

    c->in.domains_blocked = flags & 1;
    c->in.bind_subject = (flags >> 1) & 1;
    c->in.conceal = (flags >> 2) & 1;
    c->in.identity = (flags & 24) == 24 ? NULL : &c->identity;
    c->in.head = (flags & 96) == 96 ? NULL : &c->head;
    c->in.link = (flags & 160) == 160 ? NULL : &c->link;
    c->in.by_email = (flags & 224) == 224 ? NULL : &c->by_email;
    c->in.by_subject = (flags & 248) == 248 ? NULL : &c->by_subject;

    c->in.act = one_of(in, 2);
    c->in.accept_version = fuzz_byte(in) % 4;
    c->in.needed = one_of(in, 4);
    c->in.accept = one_of(in, 3);
    c->in.anyone_view = one_of(in, RELAY_VIEW_MAX);
    c->in.view = one_of(in, RELAY_VIEW_MAX);
    c->in.now = (fuzz_byte(in) == 255) ? when(in) : NOW;

    c->identity.issuer = name(in);
    c->identity.subject = name(in);
    c->identity.email = email(in);
    flags = fuzz_byte(in);
    c->identity.email_verified = flags & 1;
    c->identity.email_trusted = (flags >> 1) & 1;
    c->identity.ambient = (flags >> 2) & 1;

    c->head.found = fuzz_byte(in) < 240;
    c->head.state = one_of(in, 3);
    c->head.mode = one_of(in, 3);
    c->head.access = one_of(in, 3);
    c->head.permission = one_of(in, 4);
    c->head.version = fuzz_byte(in) % 4;
    c->head.exp = when(in);
    c->head.email = email(in);
    c->head.owner_iss = name(in);
    c->head.owner_sub = name(in);

    c->link.found = fuzz_byte(in) < 240;
    c->link.state = one_of(in, 3);
    c->link.view = one_of(in, RELAY_VIEW_MAX);
    c->link.access = one_of(in, 3);
    c->link.permission = one_of(in, 4);
    c->link.exp = when(in);

    grant(in, &c->by_email);
    grant(in, &c->by_subject);

    c->in.nblocks = fuzz_byte(in) % (BLOCKS + 1);
    c->in.blocks = (c->in.nblocks == 0) ? NULL : c->blocks;

    for (i = 0; i < BLOCKS; i++) {
        flags = fuzz_byte(in);
        c->blocks[i].found = flags & 1;
        c->blocks[i].active = ((flags & 6) == 6);
    }
}


static void
decide(const fuzz_case_t *c, relay_decision_t *d)
{
    relay_decision_t  again;

    /* filled in completely, and the same each time */

    memset(d, 0xff, sizeof(relay_decision_t));
    memset(&again, 0, sizeof(relay_decision_t));

    relay_grant_decide(&c->in, d);
    relay_grant_decide(&c->in, &again);

    fuzz_assert(d->verdict == again.verdict && d->reason == again.reason
                && d->status == again.status && d->view == again.view
                && d->permission == again.permission
                && d->version == again.version && d->exp == again.exp
                && d->grant == again.grant && d->by_email == again.by_email
                && d->rebound == again.rebound && d->known == again.known
                && d->owner == again.owner);
}


static int
is(const relay_identity_t *id, const relay_str_t *iss, const relay_str_t *sub)
{
    return iss->len != 0 && sub->len != 0 && relay_str_eq(&id->issuer, iss)
           && relay_str_eq(&id->subject, sub);
}


/* The two addresses of the pool that are one. */

static int
same_address(const relay_str_t *a, const relay_str_t *b)
{
    return a->len == 11 && b->len == 11
           && (a->data[0] | 0x20) == (b->data[0] | 0x20);
}


static int
confirmed(const relay_identity_t *id)
{
    return id->email.len != 0 && id->email_verified && id->email_trusted;
}


static int
bound(const relay_grant_t *g)
{
    return g->iss.len != 0 || g->sub.len != 0;
}


static int
named(const fuzz_case_t *c)
{
    return c->head.access == RELAY_ACCESS_NAMED
           || c->link.access == RELAY_ACCESS_NAMED;
}


/* Whoever is told that a relay ended must have held it. */

static int
may_know(const fuzz_case_t *c)
{
    return c->by_subject.found
           || (c->by_email.found
               && (confirmed(&c->identity)
                   || is(&c->identity, &c->by_email.iss, &c->by_email.sub)));
}


static int
lives(relay_state_e state, int64_t exp, int64_t now)
{
    return state == RELAY_STATE_ACTIVE && (exp == 0 || exp > now);
}


static void
no(const fuzz_case_t *c, const relay_decision_t *d)
{
    fuzz_assert(d->verdict == RELAY_VERDICT_DENY);
    fuzz_assert(d->view == RELAY_VIEW_NONE);
    fuzz_assert(d->permission == RELAY_PERMISSION_NONE);
    fuzz_assert(!d->by_email);
    fuzz_assert(d->reason != RELAY_REASON_UNDECIDED);
    fuzz_assert(d->status >= 400);

    fuzz_assert(d->status == relay_reason_status(d->reason)
                || (d->reason == RELAY_REASON_NOT_NAMED && c->in.conceal
                    && d->status == 404));

    if (d->status == 410) {
        fuzz_assert(may_know(c));
    }

    if (d->known) {
        fuzz_assert(c->in.identity != NULL && !c->in.bad_identity
                    && !c->in.malformed && c->in.link_found
                    && c->in.head != NULL && c->head.found);
    }

    /* who did not sign in learns nothing and leaves no trace */

    if (c->in.identity == NULL || c->in.bad_identity) {
        fuzz_assert(!d->known && d->version == 0 && d->grant == NULL);
        fuzz_assert(d->status == (c->in.malformed ? 404 : 401));
    }
}


/* The grant that a read stands on is the reader's, and was accepted. */

static void
served(const fuzz_case_t *c, const relay_decision_t *d)
{
    const relay_grant_t  *g;

    g = d->grant;

    fuzz_assert(g == &c->by_email || g == &c->by_subject);
    fuzz_assert(g->found && lives(g->state, g->exp, c->in.now));
    fuzz_assert(g->accepted_at != 0);

    fuzz_assert(!bound(g) || is(&c->identity, &g->iss, &g->sub));

    if (g == &c->by_email && !bound(g)) {
        fuzz_assert(confirmed(&c->identity));
    }

    fuzz_assert(d->version == (c->head.mode == RELAY_MODE_LIVE
                               ? c->head.version : g->accepted_version));
}


static void
accepts(const fuzz_case_t *c, const relay_decision_t *d)
{
    if (c->in.act == RELAY_ACT_ACCEPT) {
        fuzz_assert(c->in.accept_version == c->head.version);

    } else {
        fuzz_assert(c->in.act == RELAY_ACT_READ && !d->rebound);
        fuzz_assert(c->in.accept == RELAY_ACCEPT_ON_READ
                    || (c->in.accept == RELAY_ACCEPT_AUTO
                        && !c->identity.ambient));
    }

    if (d->by_email) {
        fuzz_assert(confirmed(&c->identity));
        fuzz_assert(!c->by_email.found || !bound(&c->by_email)
                    || is(&c->identity, &c->by_email.iss, &c->by_email.sub));
    }

    fuzz_assert(d->grant == NULL
                || (d->grant->found
                    && d->grant == (d->by_email ? &c->by_email
                                                : &c->by_subject)));
}


static void
reader(const fuzz_case_t *c, const relay_decision_t *d)
{
    size_t                i;
    const relay_grant_t  *g[2];

    g[0] = &c->by_email;
    g[1] = &c->by_subject;

    /* everything that is there must live, and narrows */

    fuzz_assert(lives(c->head.state, c->head.exp, c->in.now));
    fuzz_assert(lives(c->link.state, c->link.exp, c->in.now));

    fuzz_assert(d->view >= RELAY_VIEW_RECIPIENT && d->view < RELAY_VIEW_MAX);
    fuzz_assert(d->reason == RELAY_REASON_PREVIEW
                || (d->view >= c->in.view && d->view >= c->link.view));
    fuzz_assert(named(c) || c->in.anyone_view == RELAY_VIEW_RECIPIENT
                || d->view >= RELAY_VIEW_LINK);

    fuzz_assert(d->permission <= c->head.permission);
    fuzz_assert(c->link.permission == 0 || d->permission <= c->link.permission);

    for (i = 0; i < 2; i++) {
        if (!g[i]->found) {
            continue;
        }

        fuzz_assert(lives(g[i]->state, g[i]->exp, c->in.now));
        fuzz_assert(d->reason == RELAY_REASON_PREVIEW
                    || d->view >= g[i]->view);
        fuzz_assert(g[i]->permission == 0
                    || d->permission <= g[i]->permission);
        fuzz_assert(g[i]->exp == 0 || (d->exp != 0 && d->exp <= g[i]->exp));
    }

    fuzz_assert(c->head.exp == 0 || (d->exp != 0 && d->exp <= c->head.exp));
    fuzz_assert(c->link.exp == 0 || (d->exp != 0 && d->exp <= c->link.exp));

    /* a named relay is for the one whom it names */

    if (named(c)) {
        fuzz_assert((confirmed(&c->identity)
                     && same_address(&c->identity.email, &c->head.email))
                    || (c->by_subject.found && c->by_subject.link.len == 0));

    } else {
        fuzz_assert(c->head.access == RELAY_ACCESS_ANYONE);
    }

    /* with bind_subject, an address that is somebody's opens nothing */

    if (c->in.bind_subject && c->by_email.found && bound(&c->by_email)
        && !is(&c->identity, &c->by_email.iss, &c->by_email.sub))
    {
        fuzz_assert(c->by_subject.found);
        fuzz_assert(!named(c) || c->by_subject.link.len == 0);
    }

    /* a snapshot's reader has accepted, or sees the preview of what is new */

    if (d->verdict == RELAY_VERDICT_ACCEPT) {
        fuzz_assert(d->reason == RELAY_REASON_ACCEPTED);
        accepts(c, d);

    } else if (d->reason == RELAY_REASON_PREVIEW) {
        fuzz_assert(d->view == RELAY_VIEW_PREVIEW);
        fuzz_assert(c->in.act == RELAY_ACT_READ);
        fuzz_assert(d->version == c->head.version);

    } else {
        fuzz_assert(d->reason == RELAY_REASON_SERVED);
        served(c, d);
    }
}


static void
yes(const fuzz_case_t *c, const relay_decision_t *d)
{
    size_t  i;

    fuzz_assert(d->verdict == RELAY_VERDICT_ALLOW
                || d->verdict == RELAY_VERDICT_ACCEPT);
    fuzz_assert(d->status == 200 && d->known);

    fuzz_assert(!c->in.malformed && !c->in.bad_identity);
    fuzz_assert(!c->in.store_failed && c->in.link_found);
    fuzz_assert(c->in.identity != NULL);
    fuzz_assert(c->identity.issuer.len != 0 && c->identity.subject.len != 0);
    fuzz_assert(c->in.head != NULL && c->head.found);
    fuzz_assert(c->in.link != NULL && c->link.found);
    fuzz_assert(c->in.by_email != NULL && c->in.by_subject != NULL);
    fuzz_assert(c->in.now > 0 && d->version >= 1);

    for (i = 0; i < c->in.nblocks; i++) {
        fuzz_assert(!c->blocks[i].found || !c->blocks[i].active);
    }

    fuzz_assert(!c->in.domains_blocked || c->identity.email.len != 0
                || c->head.access != RELAY_ACCESS_ANYONE);

    fuzz_assert(d->permission >= RELAY_PERMISSION_READ
                && d->permission <= RELAY_PERMISSION_EDIT
                && d->permission >= c->in.needed);

    if (is(&c->identity, &c->head.owner_iss, &c->head.owner_sub)) {
        fuzz_assert(d->owner && d->reason == RELAY_REASON_OWNER);
        fuzz_assert(d->verdict == RELAY_VERDICT_ALLOW);
        fuzz_assert(d->view >= RELAY_VIEW_OWNER && d->view >= c->in.view);
        fuzz_assert(d->version == c->head.version);
        return;
    }

    fuzz_assert(!d->owner && d->reason != RELAY_REASON_OWNER);

    reader(c, d);
}


/* Decides about a case that was changed, its pointers set right. */

static unsigned
denied(const fuzz_case_t *c, fuzz_case_t *changed)
{
    relay_decision_t  d;

    changed->in.identity = c->in.identity ? &changed->identity : NULL;
    changed->in.head = &changed->head;
    changed->in.link = &changed->link;
    changed->in.by_email = &changed->by_email;
    changed->in.by_subject = &changed->by_subject;
    changed->in.blocks = changed->blocks;

    decide(changed, &d);

    if (d.verdict == RELAY_VERDICT_DENY) {
        no(changed, &d);
        return 1;
    }

    yes(changed, &d);

    return 0;
}


/* One thing less, and a yes becomes a no. */

static void
without(const fuzz_case_t *c, const relay_decision_t *d)
{
    fuzz_case_t  x;

    x = *c;
    x.in.malformed = 1;
    fuzz_assert(denied(c, &x));

    x = *c;
    x.in.bad_identity = 1;
    fuzz_assert(denied(c, &x));

    x = *c;
    x.in.store_failed = 1;
    fuzz_assert(denied(c, &x));

    x = *c;
    x.in.link_found = 0;
    fuzz_assert(denied(c, &x));

    x = *c;
    x.head.found = 0;
    fuzz_assert(denied(c, &x));

    x = *c;
    x.link.found = 0;
    fuzz_assert(denied(c, &x));

    x = *c;
    x.identity.subject.len = 0;
    fuzz_assert(denied(c, &x));

    x = *c;
    x.in.nblocks = 1;
    x.blocks[0].found = 1;
    x.blocks[0].active = 1;
    fuzz_assert(denied(c, &x));

    x = *c;
    x.in.needed = d->permission + 1;
    fuzz_assert(denied(c, &x));

    if (d->owner) {
        return;
    }

    x = *c;
    x.head.state = RELAY_STATE_REVOKED;
    fuzz_assert(denied(c, &x));

    x = *c;
    x.link.state = RELAY_STATE_REVOKED;
    fuzz_assert(denied(c, &x));

    x = *c;
    x.by_email.found = 1;
    x.by_email.state = RELAY_STATE_REVOKED;
    fuzz_assert(denied(c, &x));

    x = *c;
    x.by_subject.found = 1;
    x.by_subject.state = RELAY_STATE_REVOKED;
    fuzz_assert(denied(c, &x));

    x = *c;
    x.head.exp = c->in.now;
    fuzz_assert(denied(c, &x));

    x = *c;
    x.link.exp = c->in.now;
    fuzz_assert(denied(c, &x));

    if (c->by_email.found) {
        x = *c;
        x.by_email.exp = c->in.now;
        fuzz_assert(denied(c, &x));
    }

    if (c->by_subject.found) {
        x = *c;
        x.by_subject.exp = c->in.now;
        fuzz_assert(denied(c, &x));
    }

    /* later it may only be less */

    if (d->exp != 0) {
        x = *c;
        x.in.now = d->exp;
        fuzz_assert(denied(c, &x));
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_in_t         in;
    fuzz_case_t       c;
    relay_decision_t  d;

    fuzz_in_init(&in, data, size);
    build(&in, &c);
    fuzz_in_free(&in);

    decide(&c, &d);

    fuzz_assert(d.reason < RELAY_REASON_MAX);
    fuzz_assert(relay_reason_name(d.reason)->len != 0);

    if (d.verdict == RELAY_VERDICT_DENY) {
        no(&c, &d);

    } else {
        yes(&c, &d);
        without(&c, &d);
    }

    return 0;
}
