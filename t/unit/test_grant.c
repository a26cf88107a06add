
/*
 * relay_grant: the table of the decision row by row, then properties that hold
 * over every combination of records, written without looking at how the
 * decision is made.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "relay_grant.h"


#define NOW    INT64_C(1700000000000)
#define PAST   (NOW - 1)
#define LATER  (NOW + 1)

#define LINK1  relay_string("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP0")
#define LINK2  relay_string("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP1")


static const relay_str_t  link1 = LINK1;
static const relay_str_t  link2 = LINK2;
static const relay_str_t  id_example = relay_string("https://id.example");
static const relay_str_t  other_iss = relay_string("https://other.example");
static const relay_str_t  alice = relay_string("alice-1");
static const relay_str_t  bob = relay_string("bob-2");
static const relay_str_t  owner = relay_string("owner-0");
static const relay_str_t  alice_mail = relay_string("alice@example.com");
static const relay_str_t  bob_mail = relay_string("bob@example.org");
static const relay_str_t  none = relay_null_string;


typedef struct {
    relay_grant_input_t  in;
    relay_identity_t     id;
    relay_head_t         head;
    relay_link_t         link;
    relay_grant_t        by_email;
    relay_grant_t        by_subject;
    relay_block_t        blocks[4];
    relay_decision_t     d;
} case_t;


/* Alice, named and confirmed, with a bearer token, who comes first. */

static void
setup(case_t *c)
{
    memset(c, 0, sizeof(case_t));

    c->id.issuer = id_example;
    c->id.subject = alice;
    c->id.email = alice_mail;
    c->id.email_verified = 1;
    c->id.email_trusted = 1;

    c->head.found = 1;
    c->head.state = RELAY_STATE_ACTIVE;
    c->head.mode = RELAY_MODE_SNAPSHOT;
    c->head.access = RELAY_ACCESS_NAMED;
    c->head.permission = RELAY_PERMISSION_EDIT;
    c->head.version = 3;
    c->head.epoch = 1;
    c->head.email = alice_mail;
    c->head.owner_iss = id_example;
    c->head.owner_sub = owner;

    c->link.found = 1;
    c->link.state = RELAY_STATE_ACTIVE;
    c->link.epoch = 1;

    c->in.now = NOW;
    c->in.identity = &c->id;
    c->in.link_found = 1;
    c->in.head = &c->head;
    c->in.link = &c->link;
    c->in.by_email = &c->by_email;
    c->in.by_subject = &c->by_subject;
    c->in.blocks = c->blocks;
    c->in.nblocks = 4;
    c->in.needed = RELAY_PERMISSION_READ;
    c->in.anyone_view = RELAY_VIEW_LINK;
}


/* a grant that was made by reading through the first link */

static void
accepted(relay_grant_t *g, const relay_str_t *iss, const relay_str_t *sub)
{
    memset(g, 0, sizeof(relay_grant_t));

    g->found = 1;
    g->state = RELAY_STATE_ACTIVE;
    g->epoch = 1;
    g->id = link1;
    g->link = link1;
    g->iss = *iss;
    g->sub = *sub;
    g->email = alice_mail;
    g->accepted_at = NOW - 1000;
    g->accepted_version = 2;
}


/* a grant that was issued, by no link, and waits */

static void
issued(relay_grant_t *g, const relay_str_t *iss, const relay_str_t *sub)
{
    accepted(g, iss, sub);

    g->link = none;
    g->accepted_at = 0;
    g->accepted_version = 0;
}


static void
tombstone(relay_grant_t *g)
{
    memset(g, 0, sizeof(relay_grant_t));

    g->found = 1;
    g->state = RELAY_STATE_REVOKED;
    g->epoch = 1;
}


static void
stranger(case_t *c)
{
    c->id.subject = bob;
    c->id.email = bob_mail;
}


static void
check_(case_t *c, relay_verdict_e verdict, relay_reason_e reason,
    relay_uint_t status, int line)
{
    /* filled completely, whatever was there before */

    memset(&c->d, 0xff, sizeof(relay_decision_t));

    relay_grant_decide(&c->in, &c->d);

    if (c->d.verdict != verdict || c->d.reason != reason
        || c->d.status != status)
    {
        fail_msg("line %d: verdict %d, %s, %d", line, (int) c->d.verdict,
                 (char *) relay_reason_name(c->d.reason)->data,
                 (int) c->d.status);
    }

    if (verdict == RELAY_VERDICT_DENY) {
        assert_int_equal(c->d.view, RELAY_VIEW_NONE);
        assert_int_equal(c->d.permission, RELAY_PERMISSION_NONE);
    }
}

#define check(c, verdict, reason, status)                                     \
    check_(c, RELAY_VERDICT_##verdict, RELAY_REASON_##reason, status, __LINE__)


static void
test_strangers(void **state)
{
    case_t  c;

    /* a malformed token is told nothing else, signed in or not */

    setup(&c);
    c.in.malformed = 1;
    check(&c, DENY, UNKNOWN_LINK, 404);
    assert_false(c.d.known);
    c.in.identity = NULL;
    check(&c, DENY, UNKNOWN_LINK, 404);

    /* without an identity everything looks the same */

    setup(&c);
    c.in.identity = NULL;
    check(&c, DENY, SIGN_IN, 401);
    assert_false(c.d.known);
    c.in.store_failed = 1;
    check(&c, DENY, SIGN_IN, 401);
    c.in.store_failed = 0;
    c.in.link_found = 0;
    check(&c, DENY, SIGN_IN, 401);
    c.head.state = RELAY_STATE_REVOKED;
    check(&c, DENY, SIGN_IN, 401);
    c.in.head = NULL;
    c.in.link = NULL;
    c.in.by_email = NULL;
    c.in.by_subject = NULL;
    check(&c, DENY, SIGN_IN, 401);

    setup(&c);
    c.in.bad_identity = 1;
    check(&c, DENY, BAD_TOKEN, 401);
    c.in.identity = NULL;
    check(&c, DENY, BAD_TOKEN, 401);
    assert_false(c.d.known);

    setup(&c);
    c.id.subject = none;
    check(&c, DENY, BAD_TOKEN, 401);
    setup(&c);
    c.id.issuer = none;
    check(&c, DENY, BAD_TOKEN, 401);
}


static void
test_store(void **state)
{
    case_t  c;

    setup(&c);
    c.in.store_failed = 1;
    check(&c, DENY, STORE_UNAVAILABLE, 503);
    assert_false(c.d.known);

    /* what did not arrive may not be looked at */

    c.in.head = NULL;
    c.in.link = NULL;
    c.in.by_email = NULL;
    c.in.by_subject = NULL;
    check(&c, DENY, STORE_UNAVAILABLE, 503);
    c.in.store_failed = 0;
    check(&c, DENY, UNKNOWN_LINK, 404);

    setup(&c);
    c.in.link_found = 0;
    check(&c, DENY, UNKNOWN_LINK, 404);
    assert_false(c.d.known);

    setup(&c);
    c.head.found = 0;
    check(&c, DENY, UNKNOWN_LINK, 404);
    assert_false(c.d.known);

    setup(&c);
    c.link.found = 0;
    check(&c, DENY, UNKNOWN_LINK, 404);
    assert_true(c.d.known);

    /* a caller that errs */

    setup(&c);
    c.in.by_subject = NULL;
    check(&c, DENY, INTERNAL, 500);
    setup(&c);
    c.in.by_email = NULL;
    check(&c, DENY, INTERNAL, 500);
    setup(&c);
    c.in.blocks = NULL;
    check(&c, DENY, INTERNAL, 500);
    setup(&c);
    c.in.now = 0;
    check(&c, DENY, INTERNAL, 500);
    setup(&c);
    c.in.view = RELAY_VIEW_MAX;
    check(&c, DENY, INTERNAL, 500);
    setup(&c);
    c.in.act = RELAY_ACT_ACCEPT + 1;
    check(&c, DENY, INTERNAL, 500);
    accepted(&c.by_email, &id_example, &alice);
    check(&c, DENY, INTERNAL, 500);
}


static void
test_bad_record(void **state)
{
    size_t  i;
    case_t  c;

    for (i = 0; i < 15; i++) {
        setup(&c);
        accepted(&c.by_email, &id_example, &alice);
        check(&c, ALLOW, SERVED, 200);

        switch (i) {
        case 0: c.head.state = RELAY_STATE_NONE; break;
        case 1: c.head.state = RELAY_STATE_REVOKED + 1; break;
        case 2: c.head.version = 0; break;
        case 3: c.head.access = RELAY_ACCESS_NONE; break;
        case 4: c.head.permission = RELAY_PERMISSION_NONE; break;
        case 5: c.head.permission = RELAY_PERMISSION_EDIT + 1; break;
        case 6: c.head.mode = RELAY_MODE_NONE; break;
        case 7: c.link.state = RELAY_STATE_NONE; break;
        case 8: c.link.view = RELAY_VIEW_MAX; break;
        case 9: c.link.access = RELAY_ACCESS_ANYONE + 1; break;
        case 10: c.by_email.state = RELAY_STATE_NONE; break;
        case 11: c.by_email.accepted_version = 0; break;
        case 12: c.by_email.permission = RELAY_PERMISSION_EDIT + 1; break;
        case 13: issued(&c.by_subject, &id_example, &bob); break;
        case 14: issued(&c.by_subject, &other_iss, &alice); break;
        }

        check(&c, DENY, BAD_RECORD, 503);
        assert_true(c.d.known);

        /* not even to the owner */

        c.id.subject = owner;

        if (i < 13) {
            check(&c, DENY, BAD_RECORD, 503);
        }
    }
}


static void
test_blocked(void **state)
{
    size_t  i;
    case_t  c;

    for (i = 0; i < 4; i++) {
        setup(&c);
        accepted(&c.by_email, &id_example, &alice);
        c.blocks[i].found = 1;
        check(&c, ALLOW, SERVED, 200);          /* lifted */
        c.blocks[i].active = 1;
        check(&c, DENY, BLOCKED, 403);
        assert_true(c.d.known);
        c.id.subject = owner;
        check(&c, DENY, BLOCKED, 403);
    }

    /* blocked before revoked, expired or not named is told */

    setup(&c);
    c.blocks[0].found = 1;
    c.blocks[0].active = 1;
    c.head.state = RELAY_STATE_REVOKED;
    tombstone(&c.by_email);
    check(&c, DENY, BLOCKED, 403);

    /* concealed: one answer, whether there is such a link or not */

    setup(&c);
    c.in.conceal = 1;
    c.blocks[0].found = 1;
    c.blocks[0].active = 1;
    check(&c, DENY, BLOCKED, 403);
    assert_true(c.d.known);
    c.in.link_found = 0;
    c.head.found = 0;
    c.link.found = 0;
    check(&c, DENY, BLOCKED, 403);
    assert_false(c.d.known);
    c.in.conceal = 0;
    check(&c, DENY, UNKNOWN_LINK, 404);

    /* a domain that cannot be looked at */

    setup(&c);
    c.head.access = RELAY_ACCESS_ANYONE;
    c.id.email = none;
    check(&c, ACCEPT, ACCEPTED, 200);
    c.in.domains_blocked = 1;
    check(&c, DENY, BLOCKED, 403);
    c.link.access = RELAY_ACCESS_NAMED;
    check(&c, DENY, BLOCKED, 403);

    c.link.access = RELAY_ACCESS_NONE;
    c.id.email = bob_mail;
    c.id.email_verified = 0;
    check(&c, ACCEPT, ACCEPTED, 200);

    /* on a named relay the subject was chosen */

    setup(&c);
    c.in.domains_blocked = 1;
    c.id.email = none;
    issued(&c.by_subject, &id_example, &alice);
    check(&c, ACCEPT, ACCEPTED, 200);
}


static void
test_owner(void **state)
{
    case_t  c;

    setup(&c);
    c.id.subject = owner;
    c.id.email = none;
    check(&c, ALLOW, OWNER, 200);
    assert_true(c.d.owner);
    assert_int_equal(c.d.view, RELAY_VIEW_OWNER);
    assert_int_equal(c.d.permission, RELAY_PERMISSION_EDIT);
    assert_int_equal(c.d.version, 3);
    assert_int_equal(c.d.exp, 0);
    assert_null(c.d.grant);

    /* expired, so that it can be renewed */

    c.head.exp = PAST;
    c.link.exp = PAST;
    check(&c, ALLOW, OWNER, 200);
    assert_int_equal(c.d.exp, 0);

    c.in.needed = RELAY_PERMISSION_EDIT;
    check(&c, ALLOW, OWNER, 200);
    c.in.needed = RELAY_PERMISSION_EDIT + 1;
    check(&c, DENY, PERMISSION, 403);
    c.in.needed = RELAY_PERMISSION_READ;

    /* a location may show less, never more */

    c.in.view = RELAY_VIEW_RECIPIENT;
    check(&c, ALLOW, OWNER, 200);
    assert_int_equal(c.d.view, RELAY_VIEW_RECIPIENT);

    /* neither the owner's address nor the subject of another issuer counts */

    setup(&c);
    c.id.subject = bob;
    c.head.owner_email = alice_mail;
    c.head.email = bob_mail;
    check(&c, DENY, NOT_NAMED, 403);

    setup(&c);
    c.id.subject = owner;
    c.id.issuer = other_iss;
    c.id.email = bob_mail;
    check(&c, DENY, NOT_NAMED, 403);

    /* a relay without an owner has none */

    setup(&c);
    stranger(&c);
    c.head.owner_iss = none;
    c.head.owner_sub = none;
    check(&c, DENY, NOT_NAMED, 403);

    /* a tombstone has nothing to show */

    setup(&c);
    c.id.subject = owner;
    c.head.state = RELAY_STATE_REVOKED;
    check(&c, ALLOW, OWNER, 200);
    c.head.version = 0;
    check(&c, DENY, BAD_RECORD, 503);
}


static void
test_revoked(void **state)
{
    size_t  i;
    case_t  c;

    for (i = 0; i < 4; i++) {

        setup(&c);
        accepted(&c.by_email, &id_example, &alice);

        switch (i) {
        case 0: c.head.state = RELAY_STATE_REVOKED; break;
        case 1: c.link.state = RELAY_STATE_REVOKED; break;
        case 2: c.by_email.state = RELAY_STATE_REVOKED; break;
        case 3: tombstone(&c.by_subject); break;
        }

        check(&c, DENY, REVOKED, 410);
        assert_true(c.d.known);

        /* before its expiry is told */

        c.head.exp = PAST;
        check(&c, DENY, REVOKED, 410);
    }

    /* for anyone else the link leads nowhere, a named one too */

    for (i = 0; i < 2; i++) {
        setup(&c);

        if (i == 0) {
            c.head.state = RELAY_STATE_REVOKED;

        } else {
            c.link.state = RELAY_STATE_REVOKED;
        }

        check(&c, DENY, UNKNOWN_LINK, 404);
        assert_true(c.d.known);
        stranger(&c);
        check(&c, DENY, UNKNOWN_LINK, 404);
    }

    /* a grant that was never there, revoked ahead */

    setup(&c);
    tombstone(&c.by_email);
    check(&c, DENY, REVOKED, 410);
    setup(&c);
    c.head.access = RELAY_ACCESS_ANYONE;
    tombstone(&c.by_subject);
    check(&c, DENY, REVOKED, 410);

    /* one active, one revoked */

    setup(&c);
    tombstone(&c.by_email);
    accepted(&c.by_subject, &id_example, &alice);
    check(&c, DENY, REVOKED, 410);
    setup(&c);
    accepted(&c.by_email, &id_example, &alice);
    tombstone(&c.by_subject);
    check(&c, DENY, REVOKED, 410);

    /* a revoked link is not saved by the grant that it made */

    setup(&c);
    accepted(&c.by_email, &id_example, &alice);
    c.link.state = RELAY_STATE_REVOKED;
    check(&c, DENY, REVOKED, 410);

    /* a grant that came through another link, by the one that is there */

    setup(&c);
    accepted(&c.by_email, &id_example, &alice);
    c.by_email.link = link2;
    check(&c, ALLOW, SERVED, 200);

    /*
     * An address that nobody confirmed: the tombstone refuses, and does not say
     * that there was a grant.
     */

    setup(&c);
    stranger(&c);
    c.head.access = RELAY_ACCESS_ANYONE;
    c.id.email = alice_mail;
    c.id.email_verified = 0;
    tombstone(&c.by_email);
    check(&c, DENY, UNKNOWN_LINK, 404);
}


static void
test_expired(void **state)
{
    size_t   i;
    case_t   c;
    int64_t  *exp[4];

    for (i = 0; i < 4; i++) {
        setup(&c);
        accepted(&c.by_email, &id_example, &alice);
        accepted(&c.by_subject, &id_example, &alice);

        exp[0] = &c.head.exp;
        exp[1] = &c.link.exp;
        exp[2] = &c.by_email.exp;
        exp[3] = &c.by_subject.exp;

        *exp[i] = LATER;
        check(&c, ALLOW, SERVED, 200);
        assert_int_equal(c.d.exp, LATER);

        *exp[i] = NOW;                  /* at the instant itself */
        check(&c, DENY, EXPIRED, 410);
        *exp[i] = PAST;
        check(&c, DENY, EXPIRED, 410);
        *exp[i] = -1;
        check(&c, DENY, EXPIRED, 410);

        /* the earliest counts, wherever it stands */

        *exp[i] = LATER;
        *exp[(i + 1) % 4] = LATER + 5;
        check(&c, ALLOW, SERVED, 200);
        assert_int_equal(c.d.exp, LATER);
    }

    setup(&c);
    c.head.exp = PAST;
    check(&c, DENY, UNKNOWN_LINK, 404);
    setup(&c);
    c.link.exp = PAST;
    stranger(&c);
    check(&c, DENY, UNKNOWN_LINK, 404);
}


static void
test_named(void **state)
{
    size_t       i;
    case_t       c;
    relay_str_t  s;

    static const relay_str_t  same[] = {
        relay_string("Alice@Example.COM"), relay_string("ALICE@EXAMPLE.COM")
    };

    static const relay_str_t  not_same[] = {
        relay_string("al\xc4\xb1" "ce@example.com"),     /* dotless i */
        relay_string("alice@example.com."), relay_string("a.lice@example.com"),
        relay_string("alice+x@example.com"), relay_string("alice@example.co"),
        relay_string("xalice@example.com"),
        relay_string("alice@exampl\xd0\xb5.com"), relay_string("alice"),
        relay_null_string
    };

    setup(&c);
    check(&c, ACCEPT, ACCEPTED, 200);
    assert_true(c.d.by_email);
    assert_int_equal(c.d.view, RELAY_VIEW_RECIPIENT);

    for (i = 0; i < 2; i++) {
        setup(&c);
        c.id.email = same[i];
        check(&c, ACCEPT, ACCEPTED, 200);
        assert_true(c.d.by_email);
    }

    for (i = 0; i < sizeof(not_same) / sizeof(not_same[0]); i++) {
        setup(&c);
        c.id.email = not_same[i];
        check(&c, DENY, NOT_NAMED, 403);
        assert_true(c.d.known);
        c.in.conceal = 1;
        check(&c, DENY, NOT_NAMED, 404);
    }

    setup(&c);
    c.id.email_verified = 0;
    check(&c, DENY, NOT_NAMED, 403);
    setup(&c);
    c.id.email_trusted = 0;
    check(&c, DENY, NOT_NAMED, 403);

    /* a head that names nobody is not met by a reader without an address */

    setup(&c);
    c.head.email = none;
    c.id.email = none;
    check(&c, DENY, NOT_NAMED, 403);

    /* an app without an address, by the subject it was issued to */

    setup(&c);
    s = none;
    c.id.email = s;
    issued(&c.by_subject, &id_example, &alice);
    check(&c, ACCEPT, ACCEPTED, 200);
    assert_false(c.d.by_email);
    assert_ptr_equal(c.d.grant, &c.by_subject);
    assert_int_equal(c.d.view, RELAY_VIEW_RECIPIENT);
    c.by_subject.accepted_at = NOW;
    c.by_subject.accepted_version = 3;
    check(&c, ALLOW, SERVED, 200);
    assert_int_equal(c.d.view, RELAY_VIEW_RECIPIENT);

    /* a grant of an address that is not the named one names nobody */

    setup(&c);
    stranger(&c);
    accepted(&c.by_email, &id_example, &bob);
    check(&c, DENY, NOT_NAMED, 403);
    issued(&c.by_email, &none, &none);
    check(&c, DENY, NOT_NAMED, 403);

    /* a link may narrow the relay to the one who is named, never widen it */

    setup(&c);
    stranger(&c);
    c.head.access = RELAY_ACCESS_ANYONE;
    check(&c, ACCEPT, ACCEPTED, 200);
    c.link.access = RELAY_ACCESS_NAMED;
    check(&c, DENY, NOT_NAMED, 403);
    c.head.access = RELAY_ACCESS_NAMED;
    c.link.access = RELAY_ACCESS_ANYONE;
    check(&c, DENY, NOT_NAMED, 403);
}


/* Anyone, narrowed to named, and back. */

static void
test_narrowed(void **state)
{
    case_t  c;

    setup(&c);
    stranger(&c);
    c.head.access = RELAY_ACCESS_ANYONE;
    check(&c, ACCEPT, ACCEPTED, 200);
    assert_false(c.d.by_email);
    assert_int_equal(c.d.view, RELAY_VIEW_LINK);

    accepted(&c.by_subject, &id_example, &bob);
    check(&c, ALLOW, SERVED, 200);

    c.head.access = RELAY_ACCESS_NAMED;
    check(&c, DENY, NOT_NAMED, 403);
    c.in.conceal = 1;
    check(&c, DENY, NOT_NAMED, 404);

    c.head.access = RELAY_ACCESS_ANYONE;
    check(&c, ALLOW, SERVED, 200);

    /* nor is the named address named where anyone may read */

    setup(&c);
    c.head.access = RELAY_ACCESS_ANYONE;
    check(&c, ACCEPT, ACCEPTED, 200);
    assert_false(c.d.by_email);

    /* a grant bound to its reader is hers, confirmed address or not */

    accepted(&c.by_email, &id_example, &alice);
    c.id.email_verified = 0;
    check(&c, ALLOW, SERVED, 200);
    assert_ptr_equal(c.d.grant, &c.by_email);
    c.head.access = RELAY_ACCESS_NAMED;
    check(&c, DENY, NOT_NAMED, 403);

    /* the one who is named goes on with the grant of before */

    setup(&c);
    accepted(&c.by_subject, &id_example, &alice);
    check(&c, ALLOW, SERVED, 200);
    assert_ptr_equal(c.d.grant, &c.by_subject);

    /* renamed: the grant of the first one ends */

    setup(&c);
    accepted(&c.by_email, &id_example, &alice);
    c.head.email = bob_mail;
    check(&c, DENY, NOT_NAMED, 403);
}


static void
test_rebound(void **state)
{
    case_t  c;

    /* alice's address has a new subject */

    setup(&c);
    accepted(&c.by_email, &id_example, &bob);
    c.in.bind_subject = 1;
    check(&c, DENY, REBOUND, 403);
    assert_true(c.d.rebound);

    c.in.bind_subject = 0;
    check(&c, ALLOW, PREVIEW, 200);
    assert_true(c.d.rebound);
    assert_int_equal(c.d.view, RELAY_VIEW_PREVIEW);
    assert_null(c.d.grant);

    /* explicitly, even where reading accepts */

    c.in.accept = RELAY_ACCEPT_ON_READ;
    check(&c, ALLOW, PREVIEW, 200);

    c.in.act = RELAY_ACT_ACCEPT;
    c.in.accept_version = 3;
    check(&c, ACCEPT, ACCEPTED, 200);
    assert_true(c.d.rebound);
    assert_false(c.d.by_email);         /* never over the other's grant */

    c.in.accept_version = 2;
    check(&c, DENY, CONFLICT, 409);

    /* the grant of her own that this makes */

    accepted(&c.by_subject, &id_example, &alice);
    c.in.act = RELAY_ACT_READ;
    check(&c, ALLOW, SERVED, 200);
    assert_ptr_equal(c.d.grant, &c.by_subject);
    assert_false(c.d.rebound);

    /* is not enough where an address stays with its first subject */

    c.in.bind_subject = 1;
    check(&c, DENY, REBOUND, 403);

    /* unless the owner issued one to her */

    c.by_subject.link = none;
    check(&c, ALLOW, SERVED, 200);
    issued(&c.by_subject, &id_example, &alice);
    check(&c, ACCEPT, ACCEPTED, 200);
    assert_false(c.d.by_email);

    /* the same subject at another issuer is another one */

    setup(&c);
    c.in.bind_subject = 1;
    accepted(&c.by_email, &other_iss, &alice);
    check(&c, DENY, REBOUND, 403);
    accepted(&c.by_email, &id_example, &none);
    check(&c, DENY, REBOUND, 403);

    /* a grant that is bound already but waits */

    issued(&c.by_email, &id_example, &bob);
    check(&c, DENY, REBOUND, 403);

    /* revoked goes before rebound */

    accepted(&c.by_email, &id_example, &bob);
    c.by_email.state = RELAY_STATE_REVOKED;
    check(&c, DENY, REVOKED, 410);

    /* where anyone may read, a grant of her own does */

    setup(&c);
    c.in.bind_subject = 1;
    c.head.access = RELAY_ACCESS_ANYONE;
    accepted(&c.by_email, &id_example, &bob);
    check(&c, DENY, REBOUND, 403);
    accepted(&c.by_subject, &id_example, &alice);
    check(&c, ALLOW, SERVED, 200);
}


static void
test_permission(void **state)
{
    size_t               i;
    case_t               c;
    relay_permission_e  *p[4];

    for (i = 0; i < 4; i++) {
        setup(&c);
        accepted(&c.by_email, &id_example, &alice);
        accepted(&c.by_subject, &id_example, &alice);

        p[0] = &c.head.permission;
        p[1] = &c.link.permission;
        p[2] = &c.by_email.permission;
        p[3] = &c.by_subject.permission;

        check(&c, ALLOW, SERVED, 200);
        assert_int_equal(c.d.permission, RELAY_PERMISSION_EDIT);

        *p[i] = RELAY_PERMISSION_SUGGEST;
        check(&c, ALLOW, SERVED, 200);
        assert_int_equal(c.d.permission, RELAY_PERMISSION_SUGGEST);

        c.in.needed = RELAY_PERMISSION_SUGGEST;
        check(&c, ALLOW, SERVED, 200);
        c.in.needed = RELAY_PERMISSION_EDIT;
        check(&c, DENY, PERMISSION, 403);
        c.in.needed = RELAY_PERMISSION_READ;
    }

    /* none of them raises the relay's */

    setup(&c);
    accepted(&c.by_email, &id_example, &alice);
    c.head.permission = RELAY_PERMISSION_READ;
    c.link.permission = RELAY_PERMISSION_EDIT;
    c.by_email.permission = RELAY_PERMISSION_EDIT;
    check(&c, ALLOW, SERVED, 200);
    assert_int_equal(c.d.permission, RELAY_PERMISSION_READ);
    c.in.needed = RELAY_PERMISSION_SUGGEST;
    check(&c, DENY, PERMISSION, 403);
}


static void
test_acceptance(void **state)
{
    size_t  i;
    case_t  c;

    static const struct {
        relay_accept_e  accept;
        unsigned        ambient;
        unsigned        explicit;
    } modes[] = {
        { RELAY_ACCEPT_AUTO, 0, 0 },
        { RELAY_ACCEPT_AUTO, 1, 1 },
        { RELAY_ACCEPT_EXPLICIT, 0, 1 },
        { RELAY_ACCEPT_EXPLICIT, 1, 1 },
        { RELAY_ACCEPT_ON_READ, 0, 0 },
        { RELAY_ACCEPT_ON_READ, 1, 0 },
        { RELAY_ACCEPT_ON_READ + 1, 0, 1 }
    };

    for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        setup(&c);
        c.in.accept = modes[i].accept;
        c.id.ambient = modes[i].ambient;

        if (modes[i].explicit) {
            check(&c, ALLOW, PREVIEW, 200);
            assert_int_equal(c.d.view, RELAY_VIEW_PREVIEW);
            assert_int_equal(c.d.version, 3);

        } else {
            check(&c, ACCEPT, ACCEPTED, 200);
        }

        /* a grant that was issued waits all the same */

        issued(&c.by_email, &none, &none);

        if (modes[i].explicit) {
            check(&c, ALLOW, PREVIEW, 200);

        } else {
            check(&c, ACCEPT, ACCEPTED, 200);
            assert_true(c.d.by_email);
            assert_ptr_equal(c.d.grant, &c.by_email);
        }

        c.in.act = RELAY_ACT_ACCEPT;
        c.in.accept_version = 3;
        check(&c, ACCEPT, ACCEPTED, 200);
        c.in.accept_version = 2;
        check(&c, DENY, CONFLICT, 409);
        c.in.accept_version = 4;
        check(&c, DENY, CONFLICT, 409);
        c.in.accept_version = 0;
        check(&c, DENY, CONFLICT, 409);

        /* again: served, whatever it says */

        accepted(&c.by_email, &id_example, &alice);
        check(&c, ALLOW, SERVED, 200);
        c.in.act = RELAY_ACT_READ;
        check(&c, ALLOW, SERVED, 200);
    }

    /* a stranger accepts nothing */

    setup(&c);
    stranger(&c);
    c.in.act = RELAY_ACT_ACCEPT;
    c.in.accept_version = 3;
    check(&c, DENY, NOT_NAMED, 403);
}


static void
test_versions(void **state)
{
    case_t  c;

    setup(&c);
    accepted(&c.by_email, &id_example, &alice);
    check(&c, ALLOW, SERVED, 200);
    assert_int_equal(c.d.version, 2);
    c.head.mode = RELAY_MODE_LIVE;
    check(&c, ALLOW, SERVED, 200);
    assert_int_equal(c.d.version, 3);

    setup(&c);
    check(&c, ACCEPT, ACCEPTED, 200);
    assert_int_equal(c.d.version, 3);

    setup(&c);
    c.id.subject = owner;
    accepted(&c.by_email, &id_example, &owner);
    check(&c, ALLOW, OWNER, 200);
    assert_int_equal(c.d.version, 3);
}


static void
test_views(void **state)
{
    size_t         i;
    case_t         c;
    relay_view_e  *v[4];

    setup(&c);
    accepted(&c.by_email, &id_example, &alice);
    check(&c, ALLOW, SERVED, 200);
    assert_int_equal(c.d.view, RELAY_VIEW_RECIPIENT);

    /* on an anyone relay the named one reads what anyone reads */

    c.head.access = RELAY_ACCESS_ANYONE;
    check(&c, ALLOW, SERVED, 200);
    assert_int_equal(c.d.view, RELAY_VIEW_LINK);
    c.in.anyone_view = RELAY_VIEW_RECIPIENT;
    check(&c, ALLOW, SERVED, 200);
    assert_int_equal(c.d.view, RELAY_VIEW_RECIPIENT);
    c.in.anyone_view = RELAY_VIEW_OWNER;
    check(&c, ALLOW, SERVED, 200);
    assert_int_equal(c.d.view, RELAY_VIEW_LINK);
    c.in.anyone_view = RELAY_VIEW_NONE;
    check(&c, ALLOW, SERVED, 200);
    assert_int_equal(c.d.view, RELAY_VIEW_LINK);

    for (i = 0; i < 4; i++) {
        setup(&c);
        accepted(&c.by_email, &id_example, &alice);
        accepted(&c.by_subject, &id_example, &alice);

        v[0] = &c.link.view;
        v[1] = &c.by_email.view;
        v[2] = &c.by_subject.view;
        v[3] = &c.in.view;

        *v[i] = RELAY_VIEW_PASS_ON;
        check(&c, ALLOW, SERVED, 200);
        assert_int_equal(c.d.view, RELAY_VIEW_PASS_ON);

        /* a packet's view is no package's, but it is as wide */

        *v[i] = RELAY_VIEW_RESPONDER;
        check(&c, ALLOW, SERVED, 200);
        assert_int_equal(c.d.view, RELAY_VIEW_RESPONDER);

        *v[(i + 1) % 4] = RELAY_VIEW_LINK;
        check(&c, ALLOW, SERVED, 200);
        assert_int_equal(c.d.view, RELAY_VIEW_RESPONDER);

        *v[(i + 1) % 4] = RELAY_VIEW_PASS_ON;
        check(&c, DENY, BAD_RECORD, 503);

        *v[(i + 1) % 4] = RELAY_VIEW_PREVIEW;
        check(&c, DENY, BAD_RECORD, 503);

        *v[(i + 1) % 4] = RELAY_VIEW_NONE;

        *v[i] = RELAY_VIEW_OWNER;       /* widens nothing */
        check(&c, ALLOW, SERVED, 200);
        assert_int_equal(c.d.view, RELAY_VIEW_RECIPIENT);

        c.head.access = RELAY_ACCESS_ANYONE;
        *v[i] = RELAY_VIEW_RECIPIENT;
        check(&c, ALLOW, SERVED, 200);
        assert_int_equal(c.d.view, RELAY_VIEW_LINK);
    }
}


static void
test_words(void **state)
{
    relay_uint_t        i, j;
    const relay_str_t  *s;

    static const char *const  words[RELAY_REASON_MAX] = {
        "undecided", "unknown_link", "sign_in", "bad_token",
        "keys_unavailable", "store_unavailable", "blocked", "owner",
        "revoked", "expired",
        "not_named", "rebound", "permission", "preview", "conflict",
        "receipt_unavailable", "served", "accepted", "bad_record", "withheld",
        "safety", "method", "cross_site", "prefetch", "early_data",
        "media_type", "bad_request", "internal"
    };

    static const relay_uint_t  status[RELAY_REASON_MAX] = {
        500, 404, 401, 401, 503, 503, 403, 200, 410, 410, 403, 403, 403, 200,
        409, 503, 200, 200, 503, 502, 502, 405, 403, 403, 425, 415, 400, 500
    };

    for (i = 0; i < RELAY_REASON_MAX; i++) {
        s = relay_reason_name(i);
        assert_int_equal(s->len, strlen(words[i]));
        assert_memory_equal(s->data, words[i], s->len);
        assert_int_equal(relay_reason_status(i), status[i]);

        /* a sentence of plain text that needs no escaping anywhere */

        s = relay_reason_sentence(i);
        assert_true(s->len > 1 && s->data[s->len - 1] == '.');

        for (j = 0; j < s->len; j++) {
            assert_true(s->data[j] >= ' ' && s->data[j] < 0x7f
                        && strchr("\"\\<>&", s->data[j]) == NULL);
        }
    }

    assert_ptr_equal(relay_reason_name(RELAY_REASON_MAX),
                     relay_reason_name(RELAY_REASON_UNDECIDED));
    assert_int_equal(relay_reason_status(-1), 500);
}


/* -------------------------------------------------------------------------
 * Properties over all combinations.
 */

#define EMAIL_KINDS    10
#define SUBJECT_KINDS  8
#define READERS        7
#define BLOCKS         4
#define MANNERS        4


static uint32_t  seed;


/* The terms vary by a fixed sequence, so that each run tries the same ones. */

static uint32_t
any(uint32_t n)
{
    seed = seed * 1664525 + 1013904223;

    return (seed >> 16) % n;
}


/* Before acceptance there is nothing of a packet. */

static int
narrow(const relay_decision_t *d, relay_view_e view)
{
    return d->view >= view
           || (view == RELAY_VIEW_RESPONDER && d->view == RELAY_VIEW_PREVIEW
               && d->reason == RELAY_REASON_PREVIEW);
}


static void
vary(relay_view_e *view, relay_permission_e *permission)
{
    *view = any(3) ? RELAY_VIEW_NONE : any(RELAY_VIEW_MAX);
    *permission = any(3) ? RELAY_PERMISSION_NONE
                         : any(RELAY_PERMISSION_EDIT + 1);
}


static void
email_grant(relay_grant_t *g, int kind)
{
    memset(g, 0, sizeof(relay_grant_t));

    switch (kind) {
    case 0: return;
    case 1: tombstone(g); return;
    case 2: issued(g, &none, &none); break;
    case 3: issued(g, &id_example, &alice); break;
    case 4: issued(g, &id_example, &bob); break;
    case 5: accepted(g, &none, &none); break;
    case 6: accepted(g, &id_example, &alice); break;
    case 7: accepted(g, &id_example, &bob); break;
    case 8: accepted(g, &id_example, &alice); g->exp = PAST; break;
    case 9: accepted(g, &id_example, &alice);
            g->state = RELAY_STATE_REVOKED; return;
    }

    vary(&g->view, &g->permission);
}


static void
subject_grant(relay_grant_t *g, int kind)
{
    memset(g, 0, sizeof(relay_grant_t));

    switch (kind) {
    case 0: return;
    case 1: tombstone(g); return;
    case 2: issued(g, &id_example, &alice); break;
    case 3: issued(g, &id_example, &alice); g->link = link1; break;
    case 4: accepted(g, &id_example, &alice); break;
    case 5: accepted(g, &id_example, &alice); g->link = none; break;
    case 6: accepted(g, &id_example, &alice); g->exp = PAST; break;
    case 7: accepted(g, &id_example, &alice);
            g->state = RELAY_STATE_REVOKED; return;
    }

    g->accepted_version = g->accepted_at ? 1 : 0;
    vary(&g->view, &g->permission);
}


static void
reader(case_t *c, int kind)
{
    switch (kind) {
    case 0: break;                                          /* named */
    case 1: c->id.email = bob_mail; break;
    case 2: c->id.email_verified = 0; break;
    case 3: c->id.email_trusted = 0; break;
    case 4: c->id.email = none; break;
    case 5: c->head.owner_sub = alice; break;               /* the owner */
    case 6: c->in.identity = NULL; break;
    }
}


static void
blocks(case_t *c, int kind)
{
    switch (kind) {
    case 0: break;
    case 1: c->blocks[any(4)].found = 1; break;
    case 2: c->blocks[3].found = 1; c->blocks[3].active = 1; break;
    case 3: c->in.domains_blocked = 1; break;
    }
}


static void
manner(case_t *c, int kind)
{
    c->in.accept = kind == 3 ? RELAY_ACCEPT_ON_READ
                   : kind == 2 ? RELAY_ACCEPT_EXPLICIT : RELAY_ACCEPT_AUTO;
    c->id.ambient = kind == 1;
}


#define hold(expr)                                                            \
    if (!(expr)) {                                                            \
        fail_msg("%s: email %d subject %d reader %d state %d access %d/%d "   \
                 "link %d block %d accept %d act %d bind %d: %d %s %d",       \
                 #expr, key[0], key[1], key[2], (int) c->head.state,          \
                 (int) c->head.access, (int) c->link.access, key[3], key[4],  \
                 key[5], (int) c->in.act, (int) c->in.bind_subject,           \
                 (int) d->verdict,                                            \
                 (char *) relay_reason_name(d->reason)->data,                 \
                 (int) d->status);                                            \
    }


/* What accept.lua stores for a verdict of ACCEPT. */

static void
store(case_t *c)
{
    relay_grant_t  *g;

    g = c->d.by_email ? &c->by_email : &c->by_subject;

    if (!g->found) {
        memset(g, 0, sizeof(relay_grant_t));
        g->link = link1;
        g->state = RELAY_STATE_ACTIVE;
        g->found = 1;
    }

    g->iss = c->id.issuer;
    g->sub = c->id.subject;
    g->accepted_at = c->in.now;
    g->accepted_version = c->head.version;
    g->epoch++;
}


static void
properties(case_t *c, const int *key, size_t *counts)
{
    int                   yes, is_owner, confirmed, mine, addressed;
    int                   issued_here, anyone, stopped, rule, mail_other;
    int64_t               exp[4], first;
    size_t                i;
    unsigned              views;
    relay_decision_t     *d, again;
    const relay_grant_t  *g;

    d = &c->d;

    relay_grant_decide(&c->in, d);

    yes = d->verdict != RELAY_VERDICT_DENY;
    counts[d->verdict]++;

    hold(d->reason != RELAY_REASON_UNDECIDED);
    hold(yes == (d->status == 200));

    /* nobody, no store, no link, no relay, a block: no */

    if (c->in.identity == NULL) {
        hold(!yes && d->status == 401 && !d->known);
        return;
    }

    if (c->in.store_failed) {
        hold(!yes && d->status == 503 && !d->known);
        return;
    }

    if (!c->in.link_found || !c->link.found || !c->head.found) {
        hold(!yes
             && (d->status == 404
                 || (c->in.conceal && d->reason == RELAY_REASON_BLOCKED)));
        return;
    }

    for (i = 0; i < c->in.nblocks; i++) {
        hold(!yes || !c->blocks[i].active);
    }

    /* no view is both a packet's and one that no packet has */

    views = (1u << c->link.view)|(1u << c->in.view)
            |(1u << c->by_email.view)|(1u << c->by_subject.view);

    if ((views & (1u << RELAY_VIEW_RESPONDER))
        && (views & ((1u << RELAY_VIEW_PASS_ON)|(1u << RELAY_VIEW_PREVIEW))))
    {
        hold(!yes && (d->reason == RELAY_REASON_BAD_RECORD
                      || (c->in.conceal
                          && d->reason == RELAY_REASON_BLOCKED)));
        return;
    }

    is_owner = relay_str_eq(&c->head.owner_sub, &c->id.subject)
               && relay_str_eq(&c->head.owner_iss, &c->id.issuer);

    hold(d->owner == (unsigned) (is_owner
                                 && d->reason == RELAY_REASON_OWNER));
    hold((d->reason == RELAY_REASON_OWNER) == (is_owner && yes));

    if (is_owner) {
        hold(!yes || d->view == RELAY_VIEW_OWNER
             || d->view == c->in.view);
        return;
    }

    hold(d->view != RELAY_VIEW_OWNER);

    /* one revoked or expired record is enough, under either key */

    exp[0] = c->head.exp;
    exp[1] = c->link.exp;
    exp[2] = c->by_email.found ? c->by_email.exp : 0;
    exp[3] = c->by_subject.found ? c->by_subject.exp : 0;

    first = 0;
    stopped = c->head.state != RELAY_STATE_ACTIVE
              || c->link.state != RELAY_STATE_ACTIVE
              || (c->by_email.found
                  && c->by_email.state != RELAY_STATE_ACTIVE)
              || (c->by_subject.found
                  && c->by_subject.state != RELAY_STATE_ACTIVE);

    for (i = 0; i < 4; i++) {

        if (exp[i] != 0 && exp[i] <= c->in.now) {
            stopped = 1;
        }

        if (exp[i] != 0 && (first == 0 || exp[i] < first)) {
            first = exp[i];
        }
    }

    hold(!yes || !stopped);
    hold(!yes || d->exp == first);

    confirmed = c->id.email.len && c->id.email_verified
                && c->id.email_trusted;
    mine = relay_str_eq(&c->by_email.sub, &c->id.subject)
           && relay_str_eq(&c->by_email.iss, &c->id.issuer);
    mail_other = c->by_email.found && c->by_email.sub.len && !mine;

    /* 410 only to who holds or held one; never an oracle of other addresses */

    if (d->status == 410) {
        hold(stopped);
        hold(c->by_subject.found
             || (c->by_email.found && (confirmed || mine)));
    }

    if (d->reason == RELAY_REASON_UNKNOWN_LINK) {
        hold(d->status == 404 && stopped);
    }

    hold(d->known);

    /* who may read at all */

    anyone = c->head.access == RELAY_ACCESS_ANYONE
             && c->link.access != RELAY_ACCESS_NAMED;
    addressed = confirmed && relay_str_eq(&c->id.email, &c->head.email);
    issued_here = c->by_subject.found
                  && c->by_subject.state == RELAY_STATE_ACTIVE
                  && c->by_subject.link.len == 0;

    hold(!yes || anyone || addressed || issued_here);

    if (yes && c->in.bind_subject && mail_other && !anyone) {
        hold(issued_here);
    }

    /* terms: never more than any record allows */

    if (yes) {
        hold(d->permission >= RELAY_PERMISSION_READ);
        hold(d->permission >= c->in.needed);
        hold(d->permission <= c->head.permission);
        hold(c->link.permission == 0 || d->permission <= c->link.permission);
        hold(c->by_email.permission == 0
             || d->permission <= c->by_email.permission);
        hold(c->by_subject.permission == 0
             || d->permission <= c->by_subject.permission);

        hold(d->view >= RELAY_VIEW_RECIPIENT && d->view < RELAY_VIEW_MAX);
        hold(!anyone || d->view >= c->in.anyone_view);
        hold(narrow(d, c->link.view) && narrow(d, c->in.view));
        hold(narrow(d, c->by_email.view) && narrow(d, c->by_subject.view));
    }

    switch (d->verdict) {

    case RELAY_VERDICT_ALLOW:

        if (d->reason == RELAY_REASON_PREVIEW) {
            hold(d->view == RELAY_VIEW_PREVIEW);
            hold(c->in.act == RELAY_ACT_READ);
            hold(d->version == c->head.version);
            break;
        }

        /* content stands on an accepted grant of this reader, and no other */

        hold(d->reason == RELAY_REASON_SERVED);
        g = d->grant;
        hold(g != NULL && g->found && g->accepted_at
             && g->state == RELAY_STATE_ACTIVE);
        hold(g == &c->by_subject
             || (g == &c->by_email && (mine || (confirmed && !mail_other))));
        hold(d->version == (c->head.mode == RELAY_MODE_LIVE
                            ? c->head.version : g->accepted_version));
        break;

    case RELAY_VERDICT_ACCEPT:

        /* made where there is none yet, and under a key that is the reader's */

        hold(d->reason == RELAY_REASON_ACCEPTED);
        g = d->by_email ? &c->by_email : &c->by_subject;
        hold(!g->found || (g->accepted_at == 0
                           && g->state == RELAY_STATE_ACTIVE));
        hold(d->grant == (g->found ? g : NULL));
        hold(!d->by_email || (confirmed && !mail_other));

        if (c->in.act == RELAY_ACT_READ) {
            hold(!d->rebound && c->in.accept != RELAY_ACCEPT_EXPLICIT);
            hold(c->in.accept == RELAY_ACCEPT_ON_READ || !c->id.ambient);

        } else {
            hold(c->in.accept_version == c->head.version);
        }

        break;

    default:
        break;
    }

    /* and whoever fulfils all of it is not refused */

    rule = !stopped && key[4] < 2
           && (anyone || addressed || issued_here) && !mail_other
           && c->in.needed == RELAY_PERMISSION_READ
           && (c->in.act == RELAY_ACT_READ
               || c->in.accept_version == c->head.version);

    hold(!rule || yes);

    /* what an acceptance stores is then served */

    if (d->verdict == RELAY_VERDICT_ACCEPT) {
        store(c);
        relay_grant_decide(&c->in, &again);
        hold(again.verdict == RELAY_VERDICT_ALLOW);
        hold(again.reason == RELAY_REASON_SERVED);
        hold(again.view == d->view && again.permission == d->permission);
        hold(again.version == c->head.version);
        hold(again.exp == d->exp);
    }
}


static void
test_properties(void **state)
{
    int     key[6], access, st, act, bind;
    case_t  c;
    size_t  counts[3];

    memset(counts, 0, sizeof(counts));
    seed = 1;

    for (key[0] = 0; key[0] < EMAIL_KINDS; key[0]++)
    for (key[1] = 0; key[1] < SUBJECT_KINDS; key[1]++)
    for (key[2] = 0; key[2] < READERS; key[2]++)
    for (key[3] = 0; key[3] < 4; key[3]++)
    for (key[4] = 0; key[4] < BLOCKS; key[4]++)
    for (key[5] = 0; key[5] < MANNERS; key[5]++)
    for (access = 0; access < 6; access++)
    for (st = 0; st < 3; st++)
    for (act = 0; act < 2; act++)
    for (bind = 0; bind < 2; bind++) {

        /* what is refused anyhow need not meet every manner of accepting */

        if ((st || key[3] == 1 || key[3] == 2 || key[4] == 2)
            && (key[5] || act))
        {
            continue;
        }

        setup(&c);
        email_grant(&c.by_email, key[0]);
        subject_grant(&c.by_subject, key[1]);
        reader(&c, key[2]);

        vary(&c.link.view, &c.link.permission);

        switch (key[3]) {
        case 0: break;
        case 1: c.link.state = RELAY_STATE_REVOKED; break;
        case 2: c.link.exp = NOW; break;
        case 3:
            switch (any(8)) {
            case 0: c.in.link_found = 0; break;
            case 1: c.link.found = 0; break;
            case 2: c.in.store_failed = 1; break;
            default: c.link.exp = LATER; break;
            }
        }

        blocks(&c, key[4]);
        manner(&c, key[5]);

        c.head.access = access & 1 ? RELAY_ACCESS_ANYONE : RELAY_ACCESS_NAMED;
        c.link.access = access >> 1;
        c.head.mode = any(2) ? RELAY_MODE_LIVE : RELAY_MODE_SNAPSHOT;
        c.head.permission = 1 + any(3);
        c.head.email = any(8) ? alice_mail : bob_mail;

        if (st == 1) {
            c.head.state = RELAY_STATE_REVOKED;

        } else if (st == 2) {
            c.head.exp = PAST;
        }

        c.in.act = act;
        c.in.accept_version = any(4) ? c.head.version : any(6);
        c.in.bind_subject = bind;
        c.in.conceal = any(2);
        c.in.needed = any(2) ? RELAY_PERMISSION_READ : any(4);
        c.in.anyone_view = any(2) ? RELAY_VIEW_LINK : RELAY_VIEW_RECIPIENT;
        c.in.view = any(4) ? RELAY_VIEW_NONE : any(RELAY_VIEW_MAX);

        properties(&c, key, counts);
    }

    /* all three verdicts were met often enough to mean something */

    assert_true(counts[RELAY_VERDICT_DENY] > 10000);
    assert_true(counts[RELAY_VERDICT_ALLOW] > 10000);
    assert_true(counts[RELAY_VERDICT_ACCEPT] > 1000);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_store),
        cmocka_unit_test(test_bad_record),
        cmocka_unit_test(test_blocked),
        cmocka_unit_test(test_owner),
        cmocka_unit_test(test_revoked),
        cmocka_unit_test(test_expired),
        cmocka_unit_test(test_named),
        cmocka_unit_test(test_narrowed),
        cmocka_unit_test(test_rebound),
        cmocka_unit_test(test_permission),
        cmocka_unit_test(test_acceptance),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_properties),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
