
/*
 * relay_keys: names of Redis keys, and the records under them.
 */

#include "relay_keys.h"

#include "relay_identity.h"
#include "relay_link.h"
#include "relay_view.h"


#define RELAY_KEYS_FIELDS_MAX    128    /* fields of one record */
#define RELAY_KEYS_SCHEMA_MAX    128
#define RELAY_KEYS_TEXT_MAX      1024   /* a title, a reason: cut beyond */

/* the greatest integer that a script's double holds exactly: 2^53 - 1 */

#define RELAY_KEYS_INTEGER_MAX   INT64_C(9007199254740991)
#define RELAY_KEYS_INTEGER_LEN   16


typedef enum {
    RELAY_KEYS_OPTIONAL = 0,
    RELAY_KEYS_REQUIRED
} relay_keys_need_e;


typedef relay_int_t (*relay_keys_word_pt)(const relay_str_t *name);


/*
 * One decoding: the first field at fault is kept in *field, what follows it is
 * not looked at.
 */

typedef struct {
    const relay_resp_reply_t  *reply;
    const char                *field;
} relay_keys_decode_t;


static relay_int_t relay_keys_start(relay_buf_t *out,
    const relay_str_t *prefix, const char *rest);
static relay_int_t relay_keys_tag(relay_buf_t *out, const relay_str_t *id);
static relay_int_t relay_keys_digest(relay_buf_t *out,
    const relay_str_t *digest);
static relay_int_t relay_keys_end(relay_buf_t *out, size_t start);
static relay_int_t relay_keys_is_digest(const relay_str_t *s);
static relay_int_t relay_keys_is_plain(const relay_str_t *s);
static relay_int_t relay_keys_record(const relay_resp_reply_t *reply,
    relay_uint_t *found);
static const relay_str_t *relay_keys_field(relay_keys_decode_t *dc,
    const char *name, relay_keys_need_e need);
static void relay_keys_integer(relay_keys_decode_t *dc, const char *name,
    relay_keys_need_e need, int64_t min, int64_t *value);
static void relay_keys_plain(relay_keys_decode_t *dc, const char *name,
    relay_keys_need_e need, size_t max, relay_str_t *value);
static void relay_keys_text(relay_keys_decode_t *dc, const char *name,
    size_t max, relay_str_t *value);
static void relay_keys_email(relay_keys_decode_t *dc, const char *name,
    relay_str_t *value);
static relay_int_t relay_keys_word(relay_keys_decode_t *dc, const char *name,
    relay_keys_need_e need, relay_keys_word_pt by_name);
static relay_int_t relay_keys_done(relay_keys_decode_t *dc,
    const char **field);
static relay_int_t relay_keys_state_word(const relay_str_t *name);
static relay_int_t relay_keys_access_word(const relay_str_t *name);
static relay_int_t relay_keys_permission_word(const relay_str_t *name);
static relay_int_t relay_keys_mode_word(const relay_str_t *name);
static relay_int_t relay_keys_view_word(const relay_str_t *name);
static relay_int_t relay_keys_block_word(const relay_str_t *name);
static relay_uint_t relay_keys_lookup(const relay_str_t *words, size_t n,
    const relay_str_t *name);


const char *const  relay_keys_guarded[] = {
    "epoch", "state", "exp", "access", "permission", "view", "version", "mode",
    "email", "iss", "sub", "link", "accepted_at", "accepted_version",
    "owner_iss", "owner_sub"
};

const size_t  relay_keys_nguarded =
    sizeof(relay_keys_guarded) / sizeof(relay_keys_guarded[0]);


static const char *const  relay_keys_kinds[] = {
    "subject", "email", "domain", "issuer"
};


static const relay_str_t  relay_keys_none = relay_null_string;

static const relay_str_t  relay_keys_states[] = {
    relay_null_string,
    relay_string("active"),
    relay_string("revoked")
};

static const relay_str_t  relay_keys_accesses[] = {
    relay_null_string,
    relay_string("named"),
    relay_string("anyone")
};

static const relay_str_t  relay_keys_permissions[] = {
    relay_null_string,
    relay_string("read"),
    relay_string("suggest"),
    relay_string("edit")
};

static const relay_str_t  relay_keys_modes[] = {
    relay_null_string,
    relay_string("snapshot"),
    relay_string("live")
};


#define relay_keys_nelts(a)  (sizeof(a) / sizeof(a[0]))


relay_int_t
relay_id_check(const relay_str_t *id)
{
    size_t         i;
    unsigned char  c;

    if (id->len == 0 || id->len > RELAY_ID_MAX) {
        return RELAY_DECLINED;
    }

    for (i = 0; i < id->len; i++) {
        c = id->data[i];

        if ((c >= 'a' && c <= 'z')
            || (c >= 'A' && c <= 'Z')
            || (c >= '0' && c <= '9')
            || c == '.' || c == '_' || c == ':' || c == '-')
        {
            continue;
        }

        return RELAY_DECLINED;
    }

    return RELAY_OK;
}


relay_int_t
relay_prefix_check(const relay_str_t *s)
{
    size_t  i;

    if (s->len == 0 || s->len > RELAY_PREFIX_MAX) {
        return RELAY_DECLINED;
    }

    for (i = 0; i < s->len; i++) {

        if (s->data[i] <= 0x20 || s->data[i] >= 0x7f
            || s->data[i] == '{' || s->data[i] == '}')
        {
            return RELAY_DECLINED;
        }
    }

    return RELAY_OK;
}


static relay_int_t
relay_keys_start(relay_buf_t *out, const relay_str_t *prefix, const char *rest)
{
    if (relay_prefix_check(prefix) != RELAY_OK) {
        return RELAY_DECLINED;
    }

    relay_buf_append_str(out, prefix);

    return relay_buf_append_z(out, rest);
}


/* "{<id>}", or "{H(id)}" for an id that may not stand in a key. */

static relay_int_t
relay_keys_tag(relay_buf_t *out, const relay_str_t *id)
{
    unsigned char  digest[RELAY_DIGEST_LEN];

    relay_buf_append_c(out, '{');

    if (relay_id_check(id) == RELAY_OK) {
        relay_buf_append_str(out, id);

    } else {
        relay_digest(id, digest);
        relay_buf_append(out, digest, RELAY_DIGEST_LEN);
    }

    return relay_buf_append_c(out, '}');
}


static relay_int_t
relay_keys_is_digest(const relay_str_t *s)
{
    size_t         i;
    unsigned char  c;

    if (s->len != RELAY_DIGEST_LEN) {
        return RELAY_DECLINED;
    }

    for (i = 0; i < s->len; i++) {
        c = s->data[i];

        if ((c >= 'a' && c <= 'z')
            || (c >= 'A' && c <= 'Z')
            || (c >= '0' && c <= '9')
            || c == '_' || c == '-')
        {
            continue;
        }

        return RELAY_DECLINED;
    }

    return RELAY_OK;
}


static relay_int_t
relay_keys_digest(relay_buf_t *out, const relay_str_t *digest)
{
    if (relay_keys_is_digest(digest) != RELAY_OK) {
        return RELAY_DECLINED;
    }

    return relay_buf_append_str(out, digest);
}


static relay_int_t
relay_keys_end(relay_buf_t *out, size_t start)
{
    if (out->failed || out->len - start > RELAY_KEY_MAX) {
        return RELAY_ERROR;
    }

    return RELAY_OK;
}


relay_int_t
relay_key_link(relay_buf_t *out, const relay_str_t *prefix,
    const relay_str_t *digest)
{
    size_t       start;
    relay_int_t  rc;

    start = out->len;

    rc = relay_keys_start(out, prefix, "link:");

    if (rc == RELAY_OK) {
        rc = relay_keys_digest(out, digest);
    }

    return rc == RELAY_OK ? relay_keys_end(out, start) : rc;
}


relay_int_t
relay_key_head(relay_buf_t *out, const relay_str_t *prefix,
    const relay_str_t *id)
{
    size_t       start;
    relay_int_t  rc;

    start = out->len;

    rc = relay_keys_start(out, prefix, "");

    if (rc == RELAY_OK) {
        rc = relay_keys_tag(out, id);
    }

    return rc == RELAY_OK ? relay_keys_end(out, start) : rc;
}


relay_int_t
relay_key_link_record(relay_buf_t *out, const relay_str_t *prefix,
    const relay_str_t *id, const relay_str_t *digest)
{
    size_t       start;
    relay_int_t  rc;

    start = out->len;

    rc = relay_key_head(out, prefix, id);

    if (rc == RELAY_OK) {
        relay_buf_append_z(out, ":l:");
        rc = relay_keys_digest(out, digest);
    }

    return rc == RELAY_OK ? relay_keys_end(out, start) : rc;
}


relay_int_t
relay_key_grant(relay_buf_t *out, const relay_str_t *prefix,
    const relay_str_t *id, const relay_str_t *digest)
{
    size_t       start;
    relay_int_t  rc;

    start = out->len;

    rc = relay_key_head(out, prefix, id);

    if (rc == RELAY_OK) {
        relay_buf_append_z(out, ":g:");
        rc = relay_keys_digest(out, digest);
    }

    return rc == RELAY_OK ? relay_keys_end(out, start) : rc;
}


relay_int_t
relay_key_document(relay_buf_t *out, const relay_str_t *prefix,
    const relay_str_t *id, int64_t version)
{
    size_t       start;
    relay_int_t  rc;

    if (version < 1 || version > RELAY_KEYS_INTEGER_MAX) {
        return RELAY_DECLINED;
    }

    start = out->len;

    rc = relay_keys_start(out, prefix, "doc:");

    if (rc == RELAY_OK) {
        relay_keys_tag(out, id);
        relay_buf_append_c(out, ':');
        rc = relay_buf_append_int(out, version);
    }

    return rc == RELAY_OK ? relay_keys_end(out, start) : rc;
}


relay_int_t
relay_key_receipts(relay_buf_t *out, const relay_str_t *prefix,
    const relay_str_t *id)
{
    size_t       start;
    relay_int_t  rc;

    start = out->len;

    rc = relay_keys_start(out, prefix, "receipts:");

    if (rc == RELAY_OK) {
        rc = relay_keys_tag(out, id);
    }

    return rc == RELAY_OK ? relay_keys_end(out, start) : rc;
}


relay_int_t
relay_key_block(relay_buf_t *out, const relay_str_t *prefix,
    relay_block_kind_e kind, const relay_str_t *value)
{
    size_t         start;
    relay_int_t    rc;
    unsigned char  digest[RELAY_DIGEST_LEN];

    if ((size_t) kind >= relay_keys_nelts(relay_keys_kinds)
        || value->len == 0)
    {
        return RELAY_DECLINED;
    }

    start = out->len;

    rc = relay_keys_start(out, prefix, "block:");

    if (rc == RELAY_OK) {
        relay_digest(value, digest);

        relay_buf_append_z(out, relay_keys_kinds[kind]);
        relay_buf_append_c(out, ':');
        rc = relay_buf_append(out, digest, RELAY_DIGEST_LEN);
    }

    return rc == RELAY_OK ? relay_keys_end(out, start) : rc;
}


relay_int_t
relay_key_block_domains(relay_buf_t *out, const relay_str_t *prefix)
{
    size_t       start;
    relay_int_t  rc;

    start = out->len;

    rc = relay_keys_start(out, prefix, "block:domain:*");

    return rc == RELAY_OK ? relay_keys_end(out, start) : rc;
}


relay_int_t
relay_key_revocations(relay_buf_t *out, const relay_str_t *prefix)
{
    size_t       start;
    relay_int_t  rc;

    start = out->len;

    rc = relay_keys_start(out, prefix, "revocations");

    return rc == RELAY_OK ? relay_keys_end(out, start) : rc;
}


/* Whether the reply is one to HGETALL, and whether the key exists. */

static relay_int_t
relay_keys_record(const relay_resp_reply_t *reply, relay_uint_t *found)
{
    size_t  i;

    *found = 0;

    if (reply == NULL
        || reply->type != RELAY_RESP_ARRAY
        || reply->n % 2 != 0
        || reply->n / 2 > RELAY_KEYS_FIELDS_MAX)
    {
        return RELAY_DECLINED;
    }

    for (i = 0; i < reply->n; i++) {
        if (reply->elts[i]->type != RELAY_RESP_BULK) {
            return RELAY_DECLINED;
        }
    }

    *found = reply->n != 0;

    return RELAY_OK;
}


/*
 * NULL: absent, or an earlier field was at fault.  An empty value is an absent
 * one, as it is for the fingerprint.
 */

static const relay_str_t *
relay_keys_field(relay_keys_decode_t *dc, const char *name,
    relay_keys_need_e need)
{
    const relay_str_t  *value;

    if (dc->field != NULL) {
        return NULL;
    }

    value = relay_resp_field(dc->reply, name, strlen(name));

    if (value != NULL && value->len) {
        return value;
    }

    if (need == RELAY_KEYS_REQUIRED) {
        dc->field = name;
    }

    return NULL;
}


/* Digits only, as the scripts write them; up to 2^53 - 1. */

static void
relay_keys_integer(relay_keys_decode_t *dc, const char *name,
    relay_keys_need_e need, int64_t min, int64_t *value)
{
    size_t              i;
    int64_t             n;
    const relay_str_t  *s;

    *value = 0;

    s = relay_keys_field(dc, name, need);

    if (s == NULL) {
        return;
    }

    if (s->len > RELAY_KEYS_INTEGER_LEN
        || (s->len > 1 && s->data[0] == '0'))
    {
        dc->field = name;
        return;
    }

    n = 0;

    for (i = 0; i < s->len; i++) {

        if (s->data[i] < '0' || s->data[i] > '9') {
            dc->field = name;
            return;
        }

        n = n * 10 + (s->data[i] - '0');
    }

    if (n < min || n > RELAY_KEYS_INTEGER_MAX) {
        dc->field = name;
        return;
    }

    *value = n;
}


/* No control characters: a line feed would blur two fields' fingerprints. */

static relay_int_t
relay_keys_is_plain(const relay_str_t *s)
{
    size_t  i;

    for (i = 0; i < s->len; i++) {
        if (s->data[i] < 0x20 || s->data[i] == 0x7f) {
            return RELAY_DECLINED;
        }
    }

    return RELAY_OK;
}


static void
relay_keys_plain(relay_keys_decode_t *dc, const char *name,
    relay_keys_need_e need, size_t max, relay_str_t *value)
{
    const relay_str_t  *s;

    *value = relay_keys_none;

    s = relay_keys_field(dc, name, need);

    if (s == NULL) {
        return;
    }

    if (s->len > max || relay_keys_is_plain(s) != RELAY_OK) {
        dc->field = name;
        return;
    }

    *value = *s;
}


/* What is shown and never compared: cut at a character's boundary. */

static void
relay_keys_text(relay_keys_decode_t *dc, const char *name, size_t max,
    relay_str_t *value)
{
    const relay_str_t  *s;

    *value = relay_keys_none;

    s = relay_keys_field(dc, name, RELAY_KEYS_OPTIONAL);

    if (s == NULL) {
        return;
    }

    *value = *s;

    if (value->len > max) {
        value->len = max;

        while (value->len && (value->data[value->len] & 0xc0) == 0x80) {
            value->len--;
        }
    }
}


static void
relay_keys_email(relay_keys_decode_t *dc, const char *name, relay_str_t *value)
{
    size_t              len;
    unsigned char       buf[RELAY_EMAIL_MAX];
    const relay_str_t  *s;

    *value = relay_keys_none;

    s = relay_keys_field(dc, name, RELAY_KEYS_OPTIONAL);

    if (s == NULL) {
        return;
    }

    if (relay_email_normalize(s, buf, &len) != RELAY_OK) {
        dc->field = name;
        return;
    }

    *value = *s;
}


static relay_int_t
relay_keys_word(relay_keys_decode_t *dc, const char *name,
    relay_keys_need_e need, relay_keys_word_pt by_name)
{
    relay_int_t         word;
    const relay_str_t  *s;

    s = relay_keys_field(dc, name, need);

    if (s == NULL) {
        return 0;
    }

    word = by_name(s);

    if (word == 0) {
        dc->field = name;
    }

    return word;
}


static relay_int_t
relay_keys_done(relay_keys_decode_t *dc, const char **field)
{
    *field = dc->field;

    return dc->field == NULL ? RELAY_OK : RELAY_DECLINED;
}


static relay_int_t
relay_keys_state_word(const relay_str_t *name)
{
    return relay_state_by_name(name);
}


static relay_int_t
relay_keys_access_word(const relay_str_t *name)
{
    return relay_access_by_name(name);
}


static relay_int_t
relay_keys_permission_word(const relay_str_t *name)
{
    return relay_permission_by_name(name);
}


static relay_int_t
relay_keys_mode_word(const relay_str_t *name)
{
    return relay_mode_by_name(name);
}


static relay_int_t
relay_keys_view_word(const relay_str_t *name)
{
    return relay_view_by_name(name);
}


static relay_int_t
relay_keys_block_word(const relay_str_t *name)
{
    if (relay_str_is(name, "active")) {
        return 1;
    }

    if (relay_str_is(name, "lifted")) {
        return 2;
    }

    return 0;
}


relay_int_t
relay_head_decode(const relay_resp_reply_t *reply, relay_head_t *head,
    const char **field)
{
    relay_uint_t         found;
    relay_keys_need_e    need;
    relay_keys_decode_t  dc;

    memset(head, 0, sizeof(relay_head_t));

    dc.reply = reply;
    dc.field = NULL;

    if (relay_keys_record(reply, &found) != RELAY_OK) {
        dc.field = "record";
        return relay_keys_done(&dc, field);
    }

    if (!found) {
        return relay_keys_done(&dc, field);
    }

    head->state = relay_keys_word(&dc, "state", RELAY_KEYS_REQUIRED,
                                  relay_keys_state_word);
    relay_keys_integer(&dc, "epoch", RELAY_KEYS_REQUIRED, 1, &head->epoch);

    /* a tombstone has neither content nor owner */

    need = head->state == RELAY_STATE_REVOKED ? RELAY_KEYS_OPTIONAL
                                              : RELAY_KEYS_REQUIRED;

    relay_keys_plain(&dc, "schema", need, RELAY_KEYS_SCHEMA_MAX,
                     &head->schema);
    relay_keys_integer(&dc, "version", need, 1, &head->version);
    head->access = relay_keys_word(&dc, "access", need,
                                   relay_keys_access_word);
    head->permission = relay_keys_word(&dc, "permission", need,
                                       relay_keys_permission_word);
    head->mode = relay_keys_word(&dc, "mode", need, relay_keys_mode_word);
    relay_keys_integer(&dc, "exp", RELAY_KEYS_OPTIONAL, 0, &head->exp);
    relay_keys_email(&dc, "email", &head->email);
    relay_keys_email(&dc, "owner_email", &head->owner_email);
    relay_keys_plain(&dc, "digest", RELAY_KEYS_OPTIONAL, RELAY_DIGEST_LEN,
                     &head->digest);
    relay_keys_plain(&dc, "owner_iss", RELAY_KEYS_OPTIONAL, RELAY_ISSUER_MAX,
                     &head->owner_iss);
    relay_keys_plain(&dc, "owner_sub", RELAY_KEYS_OPTIONAL, RELAY_SUBJECT_MAX,
                     &head->owner_sub);
    relay_keys_text(&dc, "title", RELAY_KEYS_TEXT_MAX, &head->title);

    head->found = 1;

    return relay_keys_done(&dc, field);
}


relay_int_t
relay_link_decode(const relay_resp_reply_t *reply, relay_link_t *link,
    const char **field)
{
    relay_uint_t         found;
    relay_keys_decode_t  dc;

    memset(link, 0, sizeof(relay_link_t));

    dc.reply = reply;
    dc.field = NULL;

    if (relay_keys_record(reply, &found) != RELAY_OK) {
        dc.field = "record";
        return relay_keys_done(&dc, field);
    }

    if (!found) {
        return relay_keys_done(&dc, field);
    }

    link->state = relay_keys_word(&dc, "state", RELAY_KEYS_REQUIRED,
                                  relay_keys_state_word);
    relay_keys_integer(&dc, "epoch", RELAY_KEYS_REQUIRED, 1, &link->epoch);
    link->view = relay_keys_word(&dc, "view", RELAY_KEYS_OPTIONAL,
                                 relay_keys_view_word);
    link->access = relay_keys_word(&dc, "access", RELAY_KEYS_OPTIONAL,
                                   relay_keys_access_word);
    link->permission = relay_keys_word(&dc, "permission", RELAY_KEYS_OPTIONAL,
                                       relay_keys_permission_word);
    relay_keys_integer(&dc, "exp", RELAY_KEYS_OPTIONAL, 0, &link->exp);

    link->found = 1;

    return relay_keys_done(&dc, field);
}


relay_int_t
relay_grant_decode(const relay_resp_reply_t *reply, relay_grant_t *grant,
    const char **field)
{
    relay_uint_t         found;
    relay_keys_need_e    need;
    relay_keys_decode_t  dc;

    memset(grant, 0, sizeof(relay_grant_t));

    dc.reply = reply;
    dc.field = NULL;

    if (relay_keys_record(reply, &found) != RELAY_OK) {
        dc.field = "record";
        return relay_keys_done(&dc, field);
    }

    if (!found) {
        return relay_keys_done(&dc, field);
    }

    grant->state = relay_keys_word(&dc, "state", RELAY_KEYS_REQUIRED,
                                   relay_keys_state_word);
    relay_keys_integer(&dc, "epoch", RELAY_KEYS_REQUIRED, 1, &grant->epoch);

    need = grant->state == RELAY_STATE_REVOKED ? RELAY_KEYS_OPTIONAL
                                               : RELAY_KEYS_REQUIRED;

    relay_keys_plain(&dc, "id", need, RELAY_ID_MAX, &grant->id);

    if (dc.field == NULL
        && grant->id.len
        && relay_id_check(&grant->id) != RELAY_OK)
    {
        dc.field = "id";
    }

    relay_keys_plain(&dc, "link", RELAY_KEYS_OPTIONAL, RELAY_DIGEST_LEN,
                     &grant->link);

    if (dc.field == NULL
        && grant->link.len
        && relay_keys_is_digest(&grant->link) != RELAY_OK)
    {
        dc.field = "link";
    }

    relay_keys_plain(&dc, "iss", RELAY_KEYS_OPTIONAL, RELAY_ISSUER_MAX,
                     &grant->iss);
    relay_keys_plain(&dc, "sub", RELAY_KEYS_OPTIONAL, RELAY_SUBJECT_MAX,
                     &grant->sub);
    relay_keys_email(&dc, "email", &grant->email);
    relay_keys_text(&dc, "name", RELAY_NAME_MAX, &grant->name);

    grant->view = relay_keys_word(&dc, "view", RELAY_KEYS_OPTIONAL,
                                  relay_keys_view_word);
    grant->permission = relay_keys_word(&dc, "permission",
                                        RELAY_KEYS_OPTIONAL,
                                        relay_keys_permission_word);
    relay_keys_integer(&dc, "exp", RELAY_KEYS_OPTIONAL, 0, &grant->exp);
    relay_keys_integer(&dc, "accepted_at", RELAY_KEYS_OPTIONAL, 0,
                       &grant->accepted_at);
    relay_keys_integer(&dc, "accepted_version", RELAY_KEYS_OPTIONAL, 0,
                       &grant->accepted_version);

    if (dc.field == NULL && grant->state == RELAY_STATE_ACTIVE) {

        /* a subject is an issuer's; a grant is somebody's */

        if ((grant->iss.len == 0) != (grant->sub.len == 0)) {
            dc.field = grant->iss.len ? "sub" : "iss";

        } else if (grant->iss.len == 0 && grant->email.len == 0) {
            dc.field = "email";

        } else if (grant->accepted_at && grant->accepted_version == 0) {
            dc.field = "accepted_version";
        }
    }

    grant->found = 1;

    return relay_keys_done(&dc, field);
}


relay_int_t
relay_block_decode(const relay_resp_reply_t *reply, relay_block_t *block,
    const char **field)
{
    relay_int_t          state;
    relay_uint_t         found;
    relay_keys_decode_t  dc;

    memset(block, 0, sizeof(relay_block_t));

    dc.reply = reply;
    dc.field = NULL;

    if (relay_keys_record(reply, &found) != RELAY_OK) {
        dc.field = "record";
        return relay_keys_done(&dc, field);
    }

    if (!found) {
        return relay_keys_done(&dc, field);
    }

    state = relay_keys_word(&dc, "state", RELAY_KEYS_REQUIRED,
                            relay_keys_block_word);
    relay_keys_integer(&dc, "epoch", RELAY_KEYS_REQUIRED, 1, &block->epoch);
    relay_keys_integer(&dc, "since", RELAY_KEYS_OPTIONAL, 0, &block->since);
    relay_keys_text(&dc, "reason", RELAY_KEYS_TEXT_MAX, &block->reason);

    /* what cannot be read blocks */

    block->active = state != 2;
    block->found = 1;

    return relay_keys_done(&dc, field);
}


relay_int_t
relay_keys_fingerprint(const relay_resp_reply_t *reply, relay_buf_t *out)
{
    size_t              i;
    relay_uint_t        found;
    const relay_str_t  *value;

    if (relay_keys_record(reply, &found) != RELAY_OK) {
        return RELAY_DECLINED;
    }

    for (i = 0; i < relay_keys_nguarded; i++) {

        if (i) {
            relay_buf_append_c(out, '\n');
        }

        if (!found) {
            continue;
        }

        value = relay_resp_field(reply, relay_keys_guarded[i],
                                 strlen(relay_keys_guarded[i]));
        if (value != NULL) {
            relay_buf_append_str(out, value);
        }
    }

    return out->failed ? RELAY_ERROR : RELAY_OK;
}


static relay_uint_t
relay_keys_lookup(const relay_str_t *words, size_t n, const relay_str_t *name)
{
    size_t  i;

    for (i = 1; i < n; i++) {
        if (relay_str_eq(&words[i], name)) {
            return i;
        }
    }

    return 0;
}


relay_state_e
relay_state_by_name(const relay_str_t *name)
{
    return relay_keys_lookup(relay_keys_states,
                             relay_keys_nelts(relay_keys_states), name);
}


relay_access_e
relay_access_by_name(const relay_str_t *name)
{
    return relay_keys_lookup(relay_keys_accesses,
                             relay_keys_nelts(relay_keys_accesses), name);
}


relay_permission_e
relay_permission_by_name(const relay_str_t *name)
{
    return relay_keys_lookup(relay_keys_permissions,
                             relay_keys_nelts(relay_keys_permissions), name);
}


relay_mode_e
relay_mode_by_name(const relay_str_t *name)
{
    return relay_keys_lookup(relay_keys_modes,
                             relay_keys_nelts(relay_keys_modes), name);
}


const relay_str_t *
relay_access_name(relay_access_e access)
{
    if ((size_t) access >= relay_keys_nelts(relay_keys_accesses)) {
        return &relay_keys_none;
    }

    return &relay_keys_accesses[access];
}


const relay_str_t *
relay_permission_name(relay_permission_e permission)
{
    if ((size_t) permission >= relay_keys_nelts(relay_keys_permissions)) {
        return &relay_keys_none;
    }

    return &relay_keys_permissions[permission];
}


const relay_str_t *
relay_mode_name(relay_mode_e mode)
{
    if ((size_t) mode >= relay_keys_nelts(relay_keys_modes)) {
        return &relay_keys_none;
    }

    return &relay_keys_modes[mode];
}
