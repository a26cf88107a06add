
/*
 * relayctl_revoke: the commands that end something: revoke, block.
 */

#include <unistd.h>
#include <pwd.h>

#include "relayctl.h"


#define RELAYCTL_WAIT       5000            /* ms, for replicas */
#define RELAYCTL_WAIT_MAX   600000


/* What is revoked: the record's key, and what receipt and note call it. */

typedef struct {
    const char          *what;              /* "relay", "link", "grant" */
    relay_str_t          key;
    relay_str_t          link;              /* digest */
    relay_str_t          grant;             /* id, where there is one */
    relay_str_t          reader;            /* reader key */
    unsigned             missing:1;
} relayctl_target_t;


static relay_str_t relayctl_operator(relayctl_t *ctl);
static int relayctl_note(relayctl_t *ctl, relayctl_pairs_t *p,
    const relayctl_act_t *act);
static int relayctl_wait(relayctl_t *ctl, const relayctl_act_t *act,
    int64_t *acknowledged);
static int relayctl_get_target(relayctl_t *ctl, const relay_str_t *id,
    relayctl_target_t *t);
static int relayctl_already(relayctl_t *ctl, const relay_str_t *key,
    relay_buf_t *out);
static int relayctl_get_link(relayctl_t *ctl, const relay_str_t *id,
    const char *value, relayctl_target_t *t);
static int relayctl_block_value(relayctl_t *ctl, relay_block_kind_e kind,
    relay_str_t *value);


/* A name for records: who runs this, and where. */

static relay_str_t
relayctl_operator(relayctl_t *ctl)
{
    char            host[64];
    relay_buf_t    *b;
    relay_str_t     s;
    struct passwd  *pw;

    if (gethostname(host, sizeof(host)) != 0) {
        strcpy(host, "localhost");
    }

    host[sizeof(host) - 1] = '\0';
    pw = getpwuid(getuid());

    b = relayctl_buf(ctl, RELAYCTL_TEXT_MAX);

    if (pw != NULL) {
        relay_buf_append_z(b, pw->pw_name);

    } else {
        relay_buf_append_int(b, (int64_t) getuid());
    }

    relay_buf_append_c(b, '@');

    if (relay_buf_append_z(b, host) != RELAY_OK) {
        return relayctl_str("unknown");
    }

    relay_buf_str(b, &s);

    return s;
}


int
relayctl_get_act(relayctl_t *ctl, relayctl_act_t *act)
{
    memset(act, 0, sizeof(relayctl_act_t));

    act->timeout = RELAYCTL_WAIT;
    act->at = relayctl_now();
    relay_str_set(&act->reason, "");
    act->by = relayctl_operator(ctl);

    if (relayctl_get_text(ctl, "reason", &act->reason) != RELAYCTL_OK
        || relayctl_get_text(ctl, "by", &act->by) != RELAYCTL_OK
        || relayctl_get_number(ctl, "replicas", 1, 1000, &act->replicas)
           != RELAYCTL_OK
        || relayctl_get_number(ctl, "timeout", 1, RELAYCTL_WAIT_MAX,
                               &act->timeout)
           != RELAYCTL_OK)
    {
        return RELAYCTL_USAGE;
    }

    return RELAYCTL_OK;
}


int
relayctl_tombstone(relayctl_t *ctl, const relay_str_t *id,
    const relay_str_t *key, relay_receipt_t *receipt,
    const relayctl_act_t *act, relay_resp_reply_t **reply)
{
    int          rc;
    relay_str_t  keys[2], args[4], word;

    keys[0] = *key;
    keys[1] = relayctl_key_receipts(ctl, id);

    args[0] = relayctl_receipt(ctl, receipt);
    args[1] = relayctl_int_str(ctl, act->at);
    args[2] = act->by;
    args[3] = act->reason;

    rc = relayctl_script(ctl, "revoke", 2, keys, 4, args, reply, &word);

    if (rc == RELAYCTL_OK && !relay_str_is(&word, "ok")) {
        return relayctl_fail(ctl, RELAYCTL_STORE,
                             "script \"revoke\" answers in another way");
    }

    return rc;
}


/* relay:revocations is written after the fact and never judged. */

static int
relayctl_note(relayctl_t *ctl, relayctl_pairs_t *p, const relayctl_act_t *act)
{
    int                  rc;
    size_t               i, n;
    relay_str_t          at, argv[3 + 2 * RELAYCTL_PAIRS];
    relay_buf_t         *b;
    relay_resp_reply_t  *reply;

    at = relayctl_int_str(ctl, act->at);

    relayctl_pair(p, "by", &act->by);
    relayctl_pair(p, "at", &at);

    if (act->reason.len) {
        relayctl_pair(p, "reason", &act->reason);
    }

    b = relayctl_buf(ctl, RELAY_KEY_MAX);

    if (relay_key_revocations(b, &ctl->prefix) != RELAY_OK) {
        return relayctl_fail(ctl, RELAYCTL_STORE, "a key cannot be made");
    }

    n = 0;
    relay_str_set(&argv[n], "XADD");
    n++;
    relay_buf_str(b, &argv[n]);
    n++;
    relay_str_set(&argv[n], "*");
    n++;

    for (i = 0; i < p->n; i++) {
        argv[n++] = p->args[i];
    }

    rc = relayctl_call(ctl, n, argv, 0, &reply);

    if (rc != RELAYCTL_OK) {
        return relayctl_fail(ctl, rc, "it holds, but could not be noted in "
                             "%.*s", (int) b->len, (char *) b->data);
    }

    return RELAYCTL_OK;
}


static int
relayctl_wait(relayctl_t *ctl, const relayctl_act_t *act,
    int64_t *acknowledged)
{
    int                  rc;
    relay_str_t          argv[3];
    relay_resp_reply_t  *reply;

    *acknowledged = 0;

    if (act->replicas == 0) {
        return RELAYCTL_OK;
    }

    relay_str_set(&argv[0], "WAIT");
    argv[1] = relayctl_int_str(ctl, act->replicas);
    argv[2] = relayctl_int_str(ctl, act->timeout);

    rc = relayctl_call(ctl, 3, argv, act->timeout, &reply);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    *acknowledged = reply->integer;

    if (reply->type != RELAY_RESP_INTEGER || reply->integer < act->replicas) {
        return relayctl_fail(ctl, RELAYCTL_STORE, "it holds on the primary, "
                             "but %lld of %lld replicas have confirmed it",
                             (long long) reply->integer,
                             (long long) act->replicas);
    }

    return RELAYCTL_OK;
}


/* A token and a digest look alike: the records tell which one it is. */

static int
relayctl_get_link(relayctl_t *ctl, const relay_str_t *id, const char *value,
    relayctl_target_t *t)
{
    int            rc;
    char           line[256];
    ssize_t        n;
    relay_str_t    s, digest;
    relay_uint_t   exists;
    unsigned char  h[RELAY_DIGEST_LEN];

    if (strcmp(value, "-") == 0) {
        n = read(STDIN_FILENO, line, sizeof(line) - 1);
        line[n > 0 ? n : 0] = '\0';
        line[strcspn(line, "\r\n")] = '\0';
        value = line;
    }

    s = relayctl_str(value);

    if (relay_link_parse(&s) != RELAY_OK) {
        return relayctl_fail(ctl, RELAYCTL_USAGE,
                             "--link: neither a link token nor a digest");
    }

    relay_digest(&s, h);
    digest.data = h;
    digest.len = sizeof(h);

    t->key = relayctl_key_link_record(ctl, id, &digest);

    rc = relayctl_exists(ctl, &t->key, &exists);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    if (!exists && s.len == RELAY_DIGEST_LEN) {
        digest = s;
        t->key = relayctl_key_link_record(ctl, id, &digest);

        rc = relayctl_exists(ctl, &t->key, &exists);
        if (rc != RELAYCTL_OK) {
            return rc;
        }
    }

    if (!exists) {
        return relayctl_fail(ctl, RELAYCTL_NOT_FOUND,
                             "%s: it has no such link", ctl->operands[0]);
    }

    t->what = "link";
    t->link = relayctl_copy(ctl, &digest);

    return RELAYCTL_OK;
}


static int
relayctl_get_target(relayctl_t *ctl, const relay_str_t *id,
    relayctl_target_t *t)
{
    int           rc;
    const char   *link, *alias;
    relay_str_t   email, iss, sub, head, state;
    relay_uint_t  exists;

    memset(t, 0, sizeof(relayctl_target_t));
    relay_str_set(&email, "");
    relay_str_set(&iss, "");
    relay_str_set(&sub, "");

    link = relayctl_option(ctl, "link");
    alias = relayctl_option(ctl, "grant");

    if (relayctl_get_text(ctl, "email", &email) != RELAYCTL_OK
        || relayctl_get_text(ctl, "iss", &iss) != RELAYCTL_OK
        || relayctl_get_text(ctl, "sub", &sub) != RELAYCTL_OK)
    {
        return RELAYCTL_USAGE;
    }

    if ((link != NULL) + (alias != NULL) + (email.len != 0)
        + (iss.len || sub.len) > 1)
    {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "one of --link, --grant, "
                             "and --iss with --sub");
    }

    if (alias != NULL) {
        email = relayctl_str(alias);
    }

    if ((alias != NULL || email.len || iss.len || sub.len)
        && relayctl_reader(ctl, &email, &iss, &sub, &t->reader) != RELAY_OK)
    {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "no reader: an address, or "
                             "--iss with --sub");
    }

    rc = relayctl_connect(ctl);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    head = relayctl_key_head(ctl, id);

    rc = relayctl_exists(ctl, &head, &exists);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    if (!exists) {
        return relayctl_fail(ctl, RELAYCTL_NOT_FOUND, "%s: %s",
                             ctl->operands[0], relayctl_no_relay(ctl));
    }

    if (link != NULL) {
        return relayctl_get_link(ctl, id, link, t);
    }

    if (t->reader.len == 0) {
        t->what = "relay";
        t->key = head;

        return RELAYCTL_OK;
    }

    t->what = "grant";
    t->key = relayctl_key_grant(ctl, id, &t->reader);

    rc = relayctl_state(ctl, &t->key, &state, &t->grant);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    t->missing = (state.len == 0);

    return RELAYCTL_OK;
}


/* Says when, by whom and why a record was revoked before. */

static int
relayctl_already(relayctl_t *ctl, const relay_str_t *key, relay_buf_t *out)
{
    int                  rc;
    relay_str_t          s;
    relay_resp_reply_t  *reply;

    rc = relayctl_record(ctl, key, &reply);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    s = relayctl_str("it was revoked before, and stays so");
    relayctl_field(ctl, out, "already", &s);

    relayctl_show_field(ctl, out, reply, "revoked_at");
    relayctl_show_field(ctl, out, reply, "revoked_by");
    relayctl_show_field(ctl, out, reply, "revoked_reason");

    return RELAYCTL_OK;
}


int
relayctl_revoke(relayctl_t *ctl)
{
    int                  rc, note, waited, already;
    int64_t              acknowledged;
    relay_buf_t         *out;
    relay_str_t          id, s;
    relayctl_act_t       act;
    relay_receipt_t      receipt;
    relayctl_pairs_t     p;
    relayctl_target_t    t;
    relay_resp_reply_t  *reply;

    if (relayctl_get_id(ctl, 0, &id) != RELAYCTL_OK
        || relayctl_get_act(ctl, &act) != RELAYCTL_OK)
    {
        return RELAYCTL_USAGE;
    }

    rc = relayctl_get_target(ctl, &id, &t);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    memset(&receipt, 0, sizeof(relay_receipt_t));
    receipt.relay = id;
    receipt.link = t.link;
    receipt.grant = t.grant;
    relay_str_set(&receipt.method, "revoke");

    rc = relayctl_tombstone(ctl, &id, &t.key, &receipt, &act, &reply);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    s = relayctl_str(t.what);
    already = reply->n > 3;
    note = RELAYCTL_OK;

    if (!already) {
        p.n = 0;
        relayctl_pair(&p, "what", &s);
        relayctl_pair(&p, "relay", &id);

        if (t.link.len) {
            relayctl_pair(&p, "link", &t.link);
        }

        if (t.grant.len) {
            relayctl_pair(&p, "grant", &t.grant);
        }

        if (t.reader.len) {
            relayctl_pair(&p, "reader", &t.reader);
        }

        note = relayctl_note(ctl, &p, &act);
    }

    waited = relayctl_wait(ctl, &act, &acknowledged);

    out = relayctl_buf(ctl, 8192);

    relayctl_field(ctl, out, "revoked", &s);
    relayctl_field(ctl, out, "relay", &id);
    relayctl_field(ctl, out, "link", &t.link);
    relayctl_field(ctl, out, "grant", &t.grant);

    if (already) {
        rc = relayctl_already(ctl, &t.key, out);
        if (rc != RELAYCTL_OK) {
            return rc;
        }
    }

    if (t.missing) {
        s = relayctl_str("there was no such grant: none can be made now");
        relayctl_field(ctl, out, "tombstone", &s);
    }

    if (reply->n > 1) {
        relayctl_field(ctl, out, "receipt", &reply->elts[1]->str);
    }

    if (act.replicas) {
        relayctl_field_int(ctl, out, "replicas", acknowledged);
    }

    rc = relayctl_print(ctl, out);

    return note != RELAYCTL_OK ? note : waited != RELAYCTL_OK ? waited : rc;
}


static int
relayctl_block_value(relayctl_t *ctl, relay_block_kind_e kind,
    relay_str_t *value)
{
    size_t          len;
    relay_buf_t    *b;
    relay_str_t     s, sub, none;
    unsigned char   buf[RELAY_EMAIL_MAX];

    s = relayctl_str(ctl->operands[1]);

    switch (kind) {

    case RELAY_BLOCK_EMAIL:

        if (relay_email_normalize(&s, buf, &len) != RELAY_OK) {
            return relayctl_fail(ctl, RELAYCTL_USAGE, "not an address");
        }

        s.data = buf;
        s.len = len;
        *value = relayctl_copy(ctl, &s);

        return RELAYCTL_OK;

    case RELAY_BLOCK_DOMAIN:

        /* what is a domain in an address is one here */

        b = relayctl_buf(ctl, 2 + RELAYCTL_TEXT_MAX);

        relay_buf_append_z(b, "x@");
        relay_buf_append_str(b, &s);
        relay_buf_str(b, &s);

        if (b->failed || relay_email_normalize(&s, buf, &len) != RELAY_OK) {
            return relayctl_fail(ctl, RELAYCTL_USAGE, "not a domain: letters, "
                                 "digits, hyphens and dots (xn-- for others)");
        }

        s.data = buf;
        s.len = len;
        relay_email_domain(&s, value);
        *value = relayctl_copy(ctl, value);

        return RELAYCTL_OK;

    case RELAY_BLOCK_ISSUER:

        if (!relayctl_text_ok(&s, RELAY_ISSUER_MAX)) {
            return relayctl_fail(ctl, RELAYCTL_USAGE, "an issuer: at most %d "
                                 "bytes, no control characters",
                                 RELAY_ISSUER_MAX);
        }

        *value = s;

        return RELAYCTL_OK;

    case RELAY_BLOCK_SUBJECT:

        sub = relayctl_str(ctl->operands[2]);
        relay_str_set(&none, "");

        if (relayctl_reader(ctl, &none, &s, &sub, value) != RELAY_OK) {
            return relayctl_fail(ctl, RELAYCTL_USAGE, "an issuer and a "
                                 "subject: at most %d and %d bytes",
                                 RELAY_ISSUER_MAX, RELAY_SUBJECT_MAX);
        }

        return RELAYCTL_OK;
    }

    return RELAYCTL_USAGE;
}


int
relayctl_block(relayctl_t *ctl)
{
    int                  rc, note, waited, lift;
    size_t               kind, nkeys;
    int64_t              acknowledged;
    relay_buf_t         *b, *out;
    relay_str_t          keys[2], args[3], value, word, state, id, name;
    relayctl_act_t       act;
    relayctl_pairs_t     p;
    relay_resp_reply_t  *reply;

    /* in the order of relay_block_kind_e */

    static const char *const  kinds[] = {
        "subject", "email", "domain", "issuer"
    };

    for (kind = 0; kind < 4; kind++) {
        if (strcmp(kinds[kind], ctl->operands[0]) == 0) {
            break;
        }
    }

    if (kind == 4
        || ctl->noperands != (kind == RELAY_BLOCK_SUBJECT ? 3 : 2))
    {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "usage: relayctl %s %s",
                             ctl->command->name, ctl->command->synopsis);
    }

    if (relayctl_get_act(ctl, &act) != RELAYCTL_OK
        || relayctl_block_value(ctl, (relay_block_kind_e) kind, &value)
           != RELAYCTL_OK)
    {
        return RELAYCTL_USAGE;
    }

    lift = relayctl_option(ctl, "lift") != NULL;

    b = relayctl_buf(ctl, RELAY_KEY_MAX);

    if (relay_key_block(b, &ctl->prefix, (relay_block_kind_e) kind, &value)
        != RELAY_OK)
    {
        return relayctl_fail(ctl, RELAYCTL_STORE, "a key cannot be made");
    }

    relay_buf_str(b, &keys[0]);
    nkeys = 1;

    if (kind == RELAY_BLOCK_DOMAIN) {
        b = relayctl_buf(ctl, RELAY_KEY_MAX);

        if (relay_key_block_domains(b, &ctl->prefix) != RELAY_OK) {
            return relayctl_fail(ctl, RELAYCTL_STORE, "a key cannot be made");
        }

        relay_buf_str(b, &keys[1]);
        nkeys = 2;
    }

    rc = relayctl_connect(ctl);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    if (lift) {
        rc = relayctl_state(ctl, &keys[0], &state, &id);
        if (rc != RELAYCTL_OK) {
            return rc;
        }

        if (state.len == 0) {
            return relayctl_fail(ctl, RELAYCTL_NOT_FOUND, "no such block");
        }
    }

    args[0] = relayctl_str(lift ? "lifted" : "active");
    args[1] = relayctl_int_str(ctl, act.at);
    args[2] = act.reason;

    rc = relayctl_script(ctl, "block", nkeys, keys, 3, args, &reply, &word);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    if (!relay_str_is(&word, "ok")) {
        return relayctl_fail(ctl, RELAYCTL_STORE,
                             "script \"block\" answers in another way");
    }

    p.n = 0;
    word = relayctl_str(lift ? "lift" : "block");
    name = relayctl_str(kinds[kind]);

    relayctl_pair(&p, "what", &word);
    relayctl_pair(&p, "kind", &name);
    relayctl_pair(&p, "value", &value);

    note = relayctl_note(ctl, &p, &act);
    waited = relayctl_wait(ctl, &act, &acknowledged);

    out = relayctl_buf(ctl, 8192);

    relayctl_field(ctl, out, lift ? "lifted" : "blocked", &name);
    relayctl_field(ctl, out, "value", &value);

    if (act.replicas) {
        relayctl_field_int(ctl, out, "replicas", acknowledged);
    }

    rc = relayctl_print(ctl, out);

    return note != RELAYCTL_OK ? note : waited != RELAYCTL_OK ? waited : rc;
}
