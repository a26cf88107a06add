
/*
 * relayctl_store: the commands that make something: publish, link, grant.
 */

#include "relayctl.h"


/* What makes a link or a grant. */

typedef struct {
    const char          *script;
    relay_str_t          record;            /* its key */
    relay_receipt_t      receipt;
    relayctl_pairs_t     pairs;
    unsigned             revoked:1;
    unsigned             present:1;         /* there was one already */
} relayctl_put_t;


static int relayctl_put(relayctl_t *ctl, relayctl_put_t *put,
    const char **why);
static void relayctl_pair_words(relayctl_pairs_t *p, relay_view_e view,
    relay_access_e access, relay_permission_e permission);
static int relayctl_base_ok(const char *base);
static int relayctl_narrow(relayctl_t *ctl, relay_view_e view);
static int relayctl_publish_check(relayctl_t *ctl, relayctl_document_t *d);
static int relayctl_publish_owner(relayctl_t *ctl, relayctl_pairs_t *p);
static int relayctl_publish_store(relayctl_t *ctl, relayctl_document_t *d,
    relayctl_pairs_t *head);


/* A link or a grant narrows what there is: it has no use for "owner". */

static int
relayctl_narrow(relayctl_t *ctl, relay_view_e view)
{
    if (view == RELAY_VIEW_OWNER) {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "--view: recipient, link, "
                             "pass-on or preview: nobody is made an owner");
    }

    return RELAYCTL_OK;
}


static int
relayctl_publish_check(relayctl_t *ctl, relayctl_document_t *d)
{
    size_t                len;
    const char           *by;
    relay_buf_t          *out, *why;
    relay_str_t           s;
    unsigned char         email[RELAY_EMAIL_MAX];
    relay_package_t      *pkg;
    relay_view_params_t   params;

    pkg = &d->package;

    if (!relay_str_eq(&pkg->approved_by, &pkg->owner_name)
        && (pkg->owner_id.len == 0
            || !relay_str_eq(&pkg->approved_by, &pkg->owner_id)))
    {
        return relayctl_fail_in(ctl, RELAYCTL_REFUSED, d, "/approvedBy",
                                "/approvedBy: only the owner can approve: it "
                                "is neither owner.name nor owner.id");
    }

    by = relayctl_option(ctl, "approved-by");

    if (by != NULL) {
        s = relayctl_str(by);

        if (!relay_str_eq(&pkg->approved_by, &s)) {
            return relayctl_fail_in(ctl, RELAYCTL_REFUSED, d, "/approvedBy",
                                    "/approvedBy: not who --approved-by "
                                    "names");
        }
    }

    if (pkg->email.len
        && relay_email_normalize(&pkg->email, email, &len) != RELAY_OK)
    {
        return relayctl_fail_in(ctl, RELAYCTL_REFUSED, d, "/audience/email",
                                "/audience/email: not an address");
    }

    if (pkg->access == RELAY_ACCESS_NAMED && pkg->email.len == 0) {
        return relayctl_fail_in(ctl, RELAYCTL_REFUSED, d, "/audience/email",
                                "/audience/email: a named relay needs its "
                                "reader's address");
    }

    params.now = ctl->started;
    params.permission = pkg->permission;

    out = relayctl_buf(ctl, 2 * RELAY_DOCUMENT_MAX);
    why = relayctl_buf(ctl, 4096);

    if (relayctl_project(ctl, d, RELAY_VIEW_RECIPIENT, &params, out, why)
        != RELAYCTL_OK)
    {
        relay_buf_append_c(why, '\0');

        return relayctl_fail_at(ctl, RELAYCTL_REFUSED, d->file, 0, 0,
                                "the edge would withhold it: %s",
                                why->failed ? "" : (char *) why->data);
    }

    if (pkg->access == RELAY_ACCESS_ANYONE) {
        relay_buf_reset(out);
        relay_buf_reset(why);

        if (relayctl_project(ctl, d, RELAY_VIEW_LINK, &params, out, why)
            != RELAYCTL_OK)
        {
            relay_buf_append_c(why, '\0');
            relayctl_warn(ctl, "anyone with the link gets nothing: %s",
                          why->failed ? "" : (char *) why->data);
        }
    }

    return relayctl_warn_repeats(ctl, d);
}


static int
relayctl_publish_owner(relayctl_t *ctl, relayctl_pairs_t *p)
{
    size_t          len;
    relay_str_t     iss, sub, email, none, reader;
    unsigned char   buf[RELAY_EMAIL_MAX];

    relay_str_set(&iss, "");
    relay_str_set(&sub, "");
    relay_str_set(&email, "");
    relay_str_set(&none, "");

    if (relayctl_get_text(ctl, "owner-iss", &iss) != RELAYCTL_OK
        || relayctl_get_text(ctl, "owner-sub", &sub) != RELAYCTL_OK
        || relayctl_get_text(ctl, "owner-email", &email) != RELAYCTL_OK)
    {
        return RELAYCTL_USAGE;
    }

    if (relayctl_reader(ctl, &none, &iss, &sub, &reader) != RELAY_OK) {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "--owner-iss and --owner-sub "
                             "are required: at most %d and %d bytes",
                             RELAY_ISSUER_MAX, RELAY_SUBJECT_MAX);
    }

    if (email.len) {

        if (relay_email_normalize(&email, buf, &len) != RELAY_OK) {
            return relayctl_fail(ctl, RELAYCTL_USAGE,
                                 "--owner-email: not an address");
        }

        email.data = buf;
        email.len = len;
        email = relayctl_copy(ctl, &email);
    }

    relayctl_pair(p, "owner_iss", &iss);
    relayctl_pair(p, "owner_sub", &sub);
    relayctl_pair(p, "owner_email", &email);

    return RELAYCTL_OK;
}


int
relayctl_publish(relayctl_t *ctl)
{
    int                  rc;
    size_t               len;
    relay_str_t          email, exp;
    unsigned char        buf[RELAY_EMAIL_MAX];
    relay_package_t     *pkg;
    relayctl_pairs_t     head;
    relayctl_document_t  d;

    head.n = 0;

    rc = relayctl_publish_owner(ctl, &head);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    rc = relayctl_load_package(ctl, ctl->operands[0], &d);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    rc = relayctl_publish_check(ctl, &d);

    if (rc == RELAYCTL_OK) {
        pkg = &d.package;

        /* every field each time: one of the last version must not linger */

        relay_str_set(&email, "");

        if (pkg->email.len
            && relay_email_normalize(&pkg->email, buf, &len) == RELAY_OK)
        {
            email.data = buf;
            email.len = len;
        }

        exp = relayctl_int_str(ctl, pkg->expires_at > 0 ? pkg->expires_at : 0);

        relayctl_pair(&head, "schema", &pkg->schema);
        relayctl_pair(&head, "mode", relay_mode_name(pkg->mode));
        relayctl_pair(&head, "access", relay_access_name(pkg->access));
        relayctl_pair(&head, "permission",
                      relay_permission_name(pkg->permission));
        relayctl_pair(&head, "email", &email);
        relayctl_pair(&head, "exp", &exp);
        relayctl_pair(&head, "title", &pkg->title);

        rc = relayctl_publish_store(ctl, &d, &head);
    }

    relayctl_unload(&d);

    return rc;
}


static int
relayctl_publish_store(relayctl_t *ctl, relayctl_document_t *d,
    relayctl_pairs_t *head)
{
    int                  rc;
    size_t               i, n;
    relay_buf_t         *b;
    relay_str_t          keys[3], args[4 + 2 * RELAYCTL_PAIRS], word;
    relay_package_t     *pkg;
    relay_receipt_t      receipt;
    relay_resp_reply_t  *reply;

    pkg = &d->package;
    b = relayctl_buf(ctl, RELAY_KEY_MAX);

    rc = relayctl_connect(ctl);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    if (relay_key_document(b, &ctl->prefix, &pkg->id, pkg->version)
        != RELAY_OK)
    {
        return relayctl_fail_in(ctl, RELAYCTL_REFUSED, d, "/version",
                                "/version: out of range");
    }

    keys[0] = relayctl_key_head(ctl, &pkg->id);
    relay_buf_str(b, &keys[1]);
    keys[2] = relayctl_key_receipts(ctl, &pkg->id);

    memset(&receipt, 0, sizeof(relay_receipt_t));
    receipt.relay = pkg->id;
    receipt.version = pkg->version;
    receipt.permission = pkg->permission;
    relay_str_set(&receipt.method, "publish");

    n = 0;
    args[n++] = relayctl_int_str(ctl, pkg->version);
    args[n++] = d->text;
    args[n++] = relayctl_receipt(ctl, &receipt);
    args[n++] = relayctl_int_str(ctl, (int64_t) head->n / 2);

    for (i = 0; i < head->n; i++) {
        args[n++] = head->args[i];
    }

    rc = relayctl_script(ctl, "publish", 3, keys, n, args, &reply, &word);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    if (relay_str_is(&word, "version")) {

        word = reply->n > 1 ? reply->elts[1]->str : relayctl_str("?");

        return relayctl_fail_in(ctl, RELAYCTL_REFUSED, d, "/version",
                                "/version: %lld does not follow %.*s, the "
                                "stored one", (long long) pkg->version,
                                (int) word.len, (char *) word.data);
    }

    if (relay_str_is(&word, "owner")) {
        return relayctl_fail_in(ctl, RELAYCTL_REFUSED, d, "/id",
                                "/id: the relay has another owner");
    }

    if (relay_str_is(&word, "revoked")) {
        return relayctl_fail_in(ctl, RELAYCTL_REFUSED, d, "/id",
                                "/id: the relay is revoked");
    }

    if (relay_str_is(&word, "exists")) {
        return relayctl_fail_in(ctl, RELAYCTL_REFUSED, d, "/version",
                                "/version: a document of this version is "
                                "stored already");
    }

    if (relay_str_is(&word, "email")) {
        return relayctl_fail_in(ctl, RELAYCTL_REFUSED, d, "/audience/email",
                                "/audience/email: a named relay needs its "
                                "reader's address");
    }

    if (!relay_str_is(&word, "ok") || reply->n < 2) {
        return relayctl_fail(ctl, RELAYCTL_STORE,
                             "script \"publish\" answers in another way");
    }

    b = relayctl_buf(ctl, 64 * 1024);

    relayctl_field(ctl, b, "relay", &pkg->id);
    relayctl_field_int(ctl, b, "version", pkg->version);
    relayctl_field(ctl, b, "receipt", &reply->elts[1]->str);

    return relayctl_print(ctl, b);
}


/*
 * The record of a link or a grant, active by the script of that name, or
 * revoked: then it is never active, not for a moment.
 */

static int
relayctl_put(relayctl_t *ctl, relayctl_put_t *put, const char **why)
{
    int                  rc;
    size_t               i, n;
    relay_str_t          head, state, id, word;
    relay_str_t          keys[3], args[2 + 2 * RELAYCTL_PAIRS];
    relay_uint_t         exists;
    relayctl_act_t       act;
    relay_resp_reply_t  *reply;

    put->present = 0;

    head = relayctl_key_head(ctl, &put->receipt.relay);

    if (!put->revoked) {
        keys[0] = head;
        keys[1] = put->record;
        keys[2] = relayctl_key_receipts(ctl, &put->receipt.relay);

        n = 0;
        args[n++] = relayctl_receipt(ctl, &put->receipt);
        args[n++] = relayctl_int_str(ctl, (int64_t) put->pairs.n / 2);

        for (i = 0; i < put->pairs.n; i++) {
            args[n++] = put->pairs.args[i];
        }

        rc = relayctl_script(ctl, put->script, 3, keys, n, args, &reply,
                             &word);
        if (rc != RELAYCTL_OK) {
            return rc;
        }

        if (relay_str_is(&word, "missing")) {
            *why = relayctl_no_relay(ctl);
            return RELAYCTL_NOT_FOUND;
        }

        if (relay_str_is(&word, "revoked")) {
            *why = "the relay is revoked, and stays so: nobody could read it";
            return RELAYCTL_REFUSED;
        }

        if (relay_str_is(&word, "exists")) {
            put->present = 1;

        } else if (!relay_str_is(&word, "ok")) {
            return relayctl_fail(ctl, RELAYCTL_STORE,
                                 "script \"%s\" answers in another way",
                                 put->script);
        }

        return RELAYCTL_OK;
    }

    rc = relayctl_exists(ctl, &head, &exists);

    if (rc == RELAYCTL_OK && !exists) {
        *why = relayctl_no_relay(ctl);
        return RELAYCTL_NOT_FOUND;
    }

    if (rc == RELAYCTL_OK) {
        rc = relayctl_state(ctl, &put->record, &state, &id);
    }

    if (rc != RELAYCTL_OK) {
        return rc;
    }

    if (relay_str_is(&state, "revoked")) {
        put->present = 1;
        return RELAYCTL_OK;
    }

    rc = relayctl_get_act(ctl, &act);

    if (rc == RELAYCTL_OK) {
        rc = relayctl_tombstone(ctl, &put->receipt.relay, &put->record,
                                &put->receipt, &act, &reply);
    }

    return rc;
}


int
relayctl_put_link(relayctl_t *ctl, relayctl_link_t *l, const char *method,
    const char **why)
{
    int                  rc;
    relay_str_t          argv[4], exp;
    relayctl_put_t       put;
    relay_resp_reply_t  *reply;

    relay_str_set(&argv[0], "GET");
    argv[1] = relayctl_key_link(ctl, &l->digest);

    rc = relayctl_call(ctl, 2, argv, 0, &reply);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    if (reply->type != RELAY_RESP_NIL
        && !relay_str_eq(&reply->str, &l->relay))
    {
        *why = "the link leads to another relay";
        return RELAYCTL_REFUSED;
    }

    memset(&put, 0, sizeof(relayctl_put_t));

    put.script = "link";
    put.record = relayctl_key_link_record(ctl, &l->relay, &l->digest);
    put.revoked = l->revoked;

    put.receipt.relay = l->relay;
    put.receipt.link = l->digest;
    put.receipt.view = l->view;
    put.receipt.permission = l->permission;
    put.receipt.method = relayctl_str(method);

    exp = relayctl_int_str(ctl, l->exp);

    relayctl_pair_words(&put.pairs, l->view, l->access, l->permission);
    relayctl_pair(&put.pairs, "exp", &exp);

    rc = relayctl_put(ctl, &put, why);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    l->present = put.present;

    /* last: a link that leads nowhere yet is no link */

    relay_str_set(&argv[0], "SET");
    argv[2] = l->relay;
    relay_str_set(&argv[3], "NX");

    rc = relayctl_call(ctl, 4, argv, 0, &reply);
    if (rc != RELAYCTL_OK || reply->type != RELAY_RESP_NIL) {
        return rc;
    }

    relay_str_set(&argv[0], "GET");

    rc = relayctl_call(ctl, 2, argv, 0, &reply);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    if (!relay_str_eq(&reply->str, &l->relay)) {
        *why = "the link leads to another relay";
        return RELAYCTL_REFUSED;
    }

    return RELAYCTL_OK;
}


int
relayctl_put_grant(relayctl_t *ctl, relayctl_grant_t *g, const char *method,
    const char **why)
{
    int              rc;
    relay_str_t      state, exp, at, version;
    unsigned char    random[16], text[32];
    relayctl_put_t   put;

    if (g->id.len == 0) {
        relayctl_random(random, sizeof(random));
        g->id.data = text;
        g->id.len = relay_base64url_encode(random, sizeof(random), text);
        g->id = relayctl_copy(ctl, &g->id);
    }

    memset(&put, 0, sizeof(relayctl_put_t));

    put.script = "grant";
    put.record = relayctl_key_grant(ctl, &g->relay, &g->reader);
    put.revoked = g->revoked;

    put.receipt.relay = g->relay;
    put.receipt.link = g->link;
    put.receipt.grant = g->id;
    put.receipt.view = g->view;
    put.receipt.permission = g->permission;
    put.receipt.version = g->accepted_version;
    put.receipt.method = relayctl_str(method);

    exp = relayctl_int_str(ctl, g->exp);
    at = relayctl_int_str(ctl, g->accepted_at);
    version = relayctl_int_str(ctl, g->accepted_version);
    relay_str_set(&state, "active");

    relayctl_pair(&put.pairs, "id", &g->id);
    relayctl_pair(&put.pairs, "state", &state);
    relayctl_pair(&put.pairs, "exp", &exp);
    relayctl_pair(&put.pairs, "link", &g->link);
    relayctl_pair(&put.pairs, "email", &g->email);
    relayctl_pair(&put.pairs, "iss", &g->iss);
    relayctl_pair(&put.pairs, "sub", &g->sub);
    relayctl_pair(&put.pairs, "name", &g->name);
    relayctl_pair(&put.pairs, "accepted_at", &at);
    relayctl_pair(&put.pairs, "accepted_version", &version);
    relayctl_pair_words(&put.pairs, g->view, RELAY_ACCESS_NONE, g->permission);

    rc = relayctl_put(ctl, &put, why);

    g->present = put.present;

    return rc;
}


/* What is not said narrows nothing and is left out. */

static void
relayctl_pair_words(relayctl_pairs_t *p, relay_view_e view,
    relay_access_e access, relay_permission_e permission)
{
    if (view != RELAY_VIEW_NONE) {
        relayctl_pair(p, "view", relay_view_name(view));
    }

    if (access != RELAY_ACCESS_NONE) {
        relayctl_pair(p, "access", relay_access_name(access));
    }

    if (permission != RELAY_PERMISSION_NONE) {
        relayctl_pair(p, "permission", relay_permission_name(permission));
    }
}


/* With a host; without a fragment, which no browser sends. */

static int
relayctl_base_ok(const char *base)
{
    size_t       scheme;
    relay_str_t  s;

    s = relayctl_str(base);

    if (!relayctl_text_ok(&s, RELAYCTL_TEXT_MAX)
        || strpbrk(base, " #\"<>\\") != NULL)
    {
        return 0;
    }

    scheme = strncmp(base, "https://", 8) == 0 ? 8
             : strncmp(base, "http://", 7) == 0 ? 7 : 0;

    return scheme && strcspn(base + scheme, "/?:") != 0;
}


int
relayctl_link(relayctl_t *ctl)
{
    int               rc;
    const char       *base, *why;
    relay_buf_t      *out, *url;
    relay_str_t       s, token;
    unsigned char     random[32], text[RELAY_DIGEST_LEN], h[RELAY_DIGEST_LEN];
    relayctl_link_t   l;

    memset(&l, 0, sizeof(relayctl_link_t));

    if (relayctl_get_id(ctl, 0, &l.relay) != RELAYCTL_OK
        || relayctl_get_view(ctl, "view", &l.view) != RELAYCTL_OK
        || relayctl_narrow(ctl, l.view) != RELAYCTL_OK
        || relayctl_get_access(ctl, "access", &l.access) != RELAYCTL_OK
        || relayctl_get_permission(ctl, "permission", &l.permission)
           != RELAYCTL_OK
        || relayctl_get_expiry(ctl, "expires", &l.exp) != RELAYCTL_OK)
    {
        return RELAYCTL_USAGE;
    }

    base = relayctl_option(ctl, "base-url");

    if (base != NULL && !relayctl_base_ok(base)) {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "--base-url: what the token "
                             "is put after, as https://HOST/r/: not "
                             "\"%.128s\"", base);
    }

    relayctl_random(random, sizeof(random));
    relay_link_mint(random, text);

    token.data = text;
    token.len = sizeof(text);
    relay_digest(&token, h);
    l.digest.data = h;
    l.digest.len = sizeof(h);

    rc = relayctl_connect(ctl);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    why = "";
    rc = relayctl_put_link(ctl, &l, "link", &why);

    if (rc == RELAYCTL_REFUSED || rc == RELAYCTL_NOT_FOUND) {
        return relayctl_fail(ctl, rc, "%s: %s", ctl->operands[0], why);
    }

    if (rc != RELAYCTL_OK) {
        return rc;
    }

    out = relayctl_buf(ctl, 4096);
    url = relayctl_buf(ctl, 4096);

    if (base != NULL) {
        relay_buf_append_z(url, base);

        if (base[strlen(base) - 1] != '/' && base[strlen(base) - 1] != '=') {
            relay_buf_append_c(url, '/');
        }
    }

    relay_buf_append_str(url, &token);
    relay_buf_str(url, &s);

    if (ctl->json) {
        relayctl_field(ctl, out, "relay", &l.relay);
        relayctl_field(ctl, out, "token", &token);
        relayctl_field(ctl, out, "link", &l.digest);

        if (base != NULL) {
            relayctl_field(ctl, out, "url", &s);
        }

        relayctl_field_time(ctl, out, "expires", l.exp);

    } else {
        relay_buf_append_str(out, &s);
        relay_buf_append_c(out, '\n');
    }

    return relayctl_print(ctl, out);
}


int
relayctl_grant(relayctl_t *ctl)
{
    int                rc;
    size_t             len;
    const char        *why;
    relay_buf_t       *out;
    unsigned char      email[RELAY_EMAIL_MAX];
    relayctl_grant_t   g;

    memset(&g, 0, sizeof(relayctl_grant_t));

    if (relayctl_get_id(ctl, 0, &g.relay) != RELAYCTL_OK
        || relayctl_get_text(ctl, "email", &g.email) != RELAYCTL_OK
        || relayctl_get_text(ctl, "iss", &g.iss) != RELAYCTL_OK
        || relayctl_get_text(ctl, "sub", &g.sub) != RELAYCTL_OK
        || relayctl_get_text(ctl, "name", &g.name) != RELAYCTL_OK
        || relayctl_get_view(ctl, "view", &g.view) != RELAYCTL_OK
        || relayctl_narrow(ctl, g.view) != RELAYCTL_OK
        || relayctl_get_permission(ctl, "permission", &g.permission)
           != RELAYCTL_OK
        || relayctl_get_expiry(ctl, "expires", &g.exp) != RELAYCTL_OK)
    {
        return RELAYCTL_USAGE;
    }

    if ((g.email.len != 0) == (g.iss.len || g.sub.len)) {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "either --email, or --iss "
                             "and --sub");
    }

    if (g.email.len) {

        if (relay_email_normalize(&g.email, email, &len) != RELAY_OK) {
            return relayctl_fail(ctl, RELAYCTL_USAGE,
                                 "--email: not an address");
        }

        g.email.data = email;
        g.email.len = len;
    }

    if (relayctl_reader(ctl, &g.email, &g.iss, &g.sub, &g.reader)
        != RELAY_OK)
    {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "--iss and --sub: at most "
                             "%d and %d bytes", RELAY_ISSUER_MAX,
                             RELAY_SUBJECT_MAX);
    }

    rc = relayctl_connect(ctl);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    why = "";
    rc = relayctl_put_grant(ctl, &g, "grant", &why);

    if (rc == RELAYCTL_OK && g.present) {
        why = "this reader holds or held a grant already";
        rc = RELAYCTL_REFUSED;
    }

    if (rc == RELAYCTL_REFUSED || rc == RELAYCTL_NOT_FOUND) {
        return relayctl_fail(ctl, rc, "%s: %s", ctl->operands[0], why);
    }

    if (rc != RELAYCTL_OK) {
        return rc;
    }

    out = relayctl_buf(ctl, 8192);

    relayctl_field(ctl, out, "relay", &g.relay);
    relayctl_field(ctl, out, "grant", &g.id);
    relayctl_field(ctl, out, "email", &g.email);
    relayctl_field(ctl, out, "iss", &g.iss);
    relayctl_field(ctl, out, "sub", &g.sub);
    relayctl_field_time(ctl, out, "expires", g.exp);

    return relayctl_print(ctl, out);
}
