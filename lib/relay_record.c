
/*
 * relay_record: the records of the keyspace (schema/redis/README.md), declared
 * in relay_keys.h; each is a table of its fields.
 */

#include "relay_keys.h"

#include "relay_identity.h"
#include "relay_link.h"
#include "relay_view.h"


#define RELAY_RECORD_FIELDS_MAX   128   /* of one record */
#define RELAY_RECORD_SCHEMA_MAX   128
#define RELAY_RECORD_TEXT_MAX     1024  /* a title, a reason: cut beyond */
#define RELAY_RECORD_INTEGER_LEN  16    /* digits of RELAY_INTEGER_MAX */


#define relay_record_nelts(a)  (sizeof(a) / sizeof(a[0]))


typedef enum {
    RELAY_RECORD_WORD = 0,      /* an enumeration's */
    RELAY_RECORD_INTEGER,
    RELAY_RECORD_PLAIN,         /* no control characters */
    RELAY_RECORD_TEXT,          /* shown and never compared: cut */
    RELAY_RECORD_EMAIL,
    RELAY_RECORD_ID,
    RELAY_RECORD_DIGEST
} relay_record_kind_e;


typedef enum {
    RELAY_RECORD_OPTIONAL = 0,
    RELAY_RECORD_REQUIRED,
    RELAY_RECORD_LIVING         /* required unless the record is revoked */
} relay_record_need_e;


typedef relay_uint_t (*relay_record_word_pt)(const relay_str_t *name);


/* One field of a record. */

typedef struct {
    const char            *name;
    size_t                 len;         /* of the name */
    relay_record_kind_e    kind;
    relay_record_need_e    need;
    size_t                 offset;      /* of the member */
    size_t                 limit;       /* the least integer, the most bytes */
    relay_record_word_pt   by_name;
} relay_record_field_t;


#define relay_record_f(name, kind, need, type, limit, by_name)                \
    { #name, sizeof(#name) - 1, RELAY_RECORD_##kind, RELAY_RECORD_##need,     \
      offsetof(type, name), limit, by_name }

#define relay_record_end_f  { NULL, 0, 0, 0, 0, 0, NULL }


/* A block's state is a word of its own. */

typedef struct {
    int64_t                epoch;
    int64_t                since;
    relay_str_t            reason;
    unsigned               state;
} relay_record_block_t;


static relay_int_t relay_record_check(const relay_resp_reply_t *reply,
    relay_uint_t *found);
static relay_int_t relay_record_decode(const relay_resp_reply_t *reply,
    const relay_record_field_t *fields, void *record, relay_uint_t *found,
    const char **field);
static relay_int_t relay_record_value(const relay_record_field_t *f,
    const relay_str_t *s, void *member);
static relay_int_t relay_record_is_plain(const relay_str_t *s);
static relay_int_t relay_record_integer(const relay_str_t *s, int64_t min,
    int64_t *value);
static relay_int_t relay_record_cut(const relay_str_t *s, size_t max,
    relay_str_t *value);
static relay_uint_t relay_record_state_word(const relay_str_t *name);
static relay_uint_t relay_record_access_word(const relay_str_t *name);
static relay_uint_t relay_record_permission_word(const relay_str_t *name);
static relay_uint_t relay_record_mode_word(const relay_str_t *name);
static relay_uint_t relay_record_view_word(const relay_str_t *name);
static relay_uint_t relay_record_block_word(const relay_str_t *name);
static relay_uint_t relay_record_lookup(const relay_str_t *words, size_t n,
    const relay_str_t *name);


const char *const  relay_keys_guarded[] = {
    "epoch", "state", "exp", "access", "permission", "view", "version", "mode",
    "email", "iss", "sub", "link", "accepted_at", "accepted_version",
    "owner_iss", "owner_sub", "schema", "digest", "isolation"
};

const size_t  relay_keys_nguarded =
    sizeof(relay_keys_guarded) / sizeof(relay_keys_guarded[0]);


static const relay_str_t  relay_record_none = relay_null_string;

static const relay_str_t  relay_record_states[] = {
    relay_null_string,
    relay_string("active"),
    relay_string("revoked")
};

static const relay_str_t  relay_record_accesses[] = {
    relay_null_string,
    relay_string("named"),
    relay_string("anyone")
};

static const relay_str_t  relay_record_permissions[] = {
    relay_null_string,
    relay_string("read"),
    relay_string("suggest"),
    relay_string("edit")
};

static const relay_str_t  relay_record_modes[] = {
    relay_null_string,
    relay_string("snapshot"),
    relay_string("live")
};


static const relay_str_t  relay_record_blocks[] = {
    relay_null_string,
    relay_string("active"),
    relay_string("lifted")
};


/* The state first: it says whether the others are needed. */

#define head_f(name, kind, need, limit, by_name)                              \
    relay_record_f(name, kind, need, relay_head_t, limit, by_name)

static const relay_record_field_t  relay_record_head[] = {
    head_f(state, WORD, REQUIRED, 0, relay_record_state_word),
    head_f(epoch, INTEGER, REQUIRED, 1, NULL),
    head_f(schema, PLAIN, LIVING, RELAY_RECORD_SCHEMA_MAX, NULL),
    head_f(version, INTEGER, LIVING, 1, NULL),
    head_f(access, WORD, LIVING, 0, relay_record_access_word),
    head_f(permission, WORD, LIVING, 0, relay_record_permission_word),
    head_f(mode, WORD, LIVING, 0, relay_record_mode_word),
    head_f(exp, INTEGER, OPTIONAL, 0, NULL),
    head_f(email, EMAIL, OPTIONAL, 0, NULL),
    head_f(owner_email, EMAIL, OPTIONAL, 0, NULL),
    head_f(digest, PLAIN, OPTIONAL, RELAY_DIGEST_LEN, NULL),
    head_f(owner_iss, PLAIN, OPTIONAL, RELAY_ISSUER_MAX, NULL),
    head_f(owner_sub, PLAIN, OPTIONAL, RELAY_SUBJECT_MAX, NULL),
    head_f(isolation, PLAIN, OPTIONAL, RELAY_RECORD_SCHEMA_MAX, NULL),
    head_f(title, TEXT, OPTIONAL, RELAY_RECORD_TEXT_MAX, NULL),
    relay_record_end_f
};

#undef head_f

#define link_f(name, kind, need, limit, by_name)                              \
    relay_record_f(name, kind, need, relay_link_t, limit, by_name)

static const relay_record_field_t  relay_record_link[] = {
    link_f(state, WORD, REQUIRED, 0, relay_record_state_word),
    link_f(epoch, INTEGER, REQUIRED, 1, NULL),
    link_f(view, WORD, OPTIONAL, 0, relay_record_view_word),
    link_f(access, WORD, OPTIONAL, 0, relay_record_access_word),
    link_f(permission, WORD, OPTIONAL, 0, relay_record_permission_word),
    link_f(exp, INTEGER, OPTIONAL, 0, NULL),
    relay_record_end_f
};

#undef link_f

#define grant_f(name, kind, need, limit, by_name)                             \
    relay_record_f(name, kind, need, relay_grant_t, limit, by_name)

static const relay_record_field_t  relay_record_grant[] = {
    grant_f(state, WORD, REQUIRED, 0, relay_record_state_word),
    grant_f(epoch, INTEGER, REQUIRED, 1, NULL),
    grant_f(id, ID, LIVING, 0, NULL),
    grant_f(link, DIGEST, OPTIONAL, 0, NULL),
    grant_f(iss, PLAIN, OPTIONAL, RELAY_ISSUER_MAX, NULL),
    grant_f(sub, PLAIN, OPTIONAL, RELAY_SUBJECT_MAX, NULL),
    grant_f(email, EMAIL, OPTIONAL, 0, NULL),
    grant_f(name, TEXT, OPTIONAL, RELAY_NAME_MAX, NULL),
    grant_f(view, WORD, OPTIONAL, 0, relay_record_view_word),
    grant_f(permission, WORD, OPTIONAL, 0, relay_record_permission_word),
    grant_f(exp, INTEGER, OPTIONAL, 0, NULL),
    grant_f(accepted_at, INTEGER, OPTIONAL, 0, NULL),
    grant_f(accepted_version, INTEGER, OPTIONAL, 0, NULL),
    relay_record_end_f
};

#undef grant_f

#define block_f(name, kind, need, limit, by_name)                             \
    relay_record_f(name, kind, need, relay_record_block_t, limit, by_name)

static const relay_record_field_t  relay_record_block[] = {
    block_f(state, WORD, REQUIRED, 0, relay_record_block_word),
    block_f(epoch, INTEGER, REQUIRED, 1, NULL),
    block_f(since, INTEGER, OPTIONAL, 0, NULL),
    block_f(reason, TEXT, OPTIONAL, RELAY_RECORD_TEXT_MAX, NULL),
    relay_record_end_f
};

#undef block_f


/* Whether the reply is one to HGETALL, and whether the key exists. */

static relay_int_t
relay_record_check(const relay_resp_reply_t *reply, relay_uint_t *found)
{
    size_t  i;

    *found = 0;

    if (reply == NULL
        || reply->type != RELAY_RESP_ARRAY
        || reply->n % 2 != 0
        || reply->n / 2 > RELAY_RECORD_FIELDS_MAX)
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
 * Decodes into a record that was zeroed.  The first field at fault is named in
 * *field; what follows it stays zero.  An empty value is an absent one, as for
 * the fingerprint.
 */

static relay_int_t
relay_record_decode(const relay_resp_reply_t *reply,
    const relay_record_field_t *fields, void *record, relay_uint_t *found,
    const char **field)
{
    void                      *member;
    relay_uint_t               living;
    const relay_str_t         *value;
    const relay_record_field_t  *f;

    *field = NULL;

    if (relay_record_check(reply, found) != RELAY_OK) {
        *field = "record";
        return RELAY_DECLINED;
    }

    if (!*found) {
        return RELAY_OK;
    }

    living = 1;

    for (f = fields; f->name != NULL; f++) {
        value = relay_resp_field(reply, f->name, f->len);

        if (value == NULL || value->len == 0) {

            if (f->need == RELAY_RECORD_REQUIRED
                || (f->need == RELAY_RECORD_LIVING && living))
            {
                *field = f->name;
                return RELAY_DECLINED;
            }

            continue;
        }

        member = (unsigned char *) record + f->offset;

        if (relay_record_value(f, value, member) != RELAY_OK) {
            *field = f->name;
            return RELAY_DECLINED;
        }

        /* a tombstone has neither content nor owner */

        if (f == fields) {
            living = !relay_str_is(value, "revoked");
        }
    }

    return RELAY_OK;
}


static relay_int_t
relay_record_value(const relay_record_field_t *f, const relay_str_t *s,
    void *member)
{
    size_t         len;
    unsigned       word;
    unsigned char  buf[RELAY_EMAIL_MAX];

    switch (f->kind) {

    case RELAY_RECORD_WORD:

        /* the enumerations have no negative member: they are unsigned */

        word = (unsigned) f->by_name(s);
        memcpy(member, &word, sizeof(unsigned));

        return word ? RELAY_OK : RELAY_DECLINED;

    case RELAY_RECORD_INTEGER:
        return relay_record_integer(s, (int64_t) f->limit, member);

    case RELAY_RECORD_TEXT:
        return relay_record_cut(s, f->limit, member);

    case RELAY_RECORD_PLAIN:

        if (s->len > f->limit || relay_record_is_plain(s) != RELAY_OK) {
            return RELAY_DECLINED;
        }

        break;

    case RELAY_RECORD_EMAIL:

        if (relay_email_normalize(s, buf, &len) != RELAY_OK) {
            return RELAY_DECLINED;
        }

        break;

    case RELAY_RECORD_ID:

        if (relay_id_check(s) != RELAY_OK) {
            return RELAY_DECLINED;
        }

        break;

    case RELAY_RECORD_DIGEST:

        if (s->len != RELAY_DIGEST_LEN || relay_link_parse(s) != RELAY_OK) {
            return RELAY_DECLINED;
        }

        break;
    }

    *(relay_str_t *) member = *s;

    return RELAY_OK;
}


/* Digits only, as the scripts write them; up to 2^53 - 1. */

static relay_int_t
relay_record_integer(const relay_str_t *s, int64_t min, int64_t *value)
{
    size_t   i;
    int64_t  n;

    if (s->len > RELAY_RECORD_INTEGER_LEN
        || (s->len > 1 && s->data[0] == '0'))
    {
        return RELAY_DECLINED;
    }

    n = 0;

    for (i = 0; i < s->len; i++) {

        if (s->data[i] < '0' || s->data[i] > '9') {
            return RELAY_DECLINED;
        }

        n = n * 10 + (s->data[i] - '0');
    }

    if (n < min || n > RELAY_INTEGER_MAX) {
        return RELAY_DECLINED;
    }

    *value = n;

    return RELAY_OK;
}


/* No control characters: a line feed would blur two fields' fingerprints. */

static relay_int_t
relay_record_is_plain(const relay_str_t *s)
{
    size_t  i;

    for (i = 0; i < s->len; i++) {
        if (s->data[i] < 0x20 || s->data[i] == 0x7f) {
            return RELAY_DECLINED;
        }
    }

    return RELAY_OK;
}


/* At a character's boundary. */

static relay_int_t
relay_record_cut(const relay_str_t *s, size_t max, relay_str_t *value)
{
    *value = *s;

    if (value->len > max) {
        value->len = max;

        while (value->len && (value->data[value->len] & 0xc0) == 0x80) {
            value->len--;
        }
    }

    return RELAY_OK;
}


static relay_uint_t
relay_record_state_word(const relay_str_t *name)
{
    return relay_state_by_name(name);
}


static relay_uint_t
relay_record_access_word(const relay_str_t *name)
{
    return relay_access_by_name(name);
}


static relay_uint_t
relay_record_permission_word(const relay_str_t *name)
{
    return relay_permission_by_name(name);
}


static relay_uint_t
relay_record_mode_word(const relay_str_t *name)
{
    return relay_mode_by_name(name);
}


static relay_uint_t
relay_record_view_word(const relay_str_t *name)
{
    return relay_view_by_name(name);
}


static relay_uint_t
relay_record_block_word(const relay_str_t *name)
{
    return relay_record_lookup(relay_record_blocks,
                               relay_record_nelts(relay_record_blocks), name);
}


relay_int_t
relay_head_decode(const relay_resp_reply_t *reply, relay_head_t *head,
    const char **field)
{
    relay_int_t   rc;
    relay_uint_t  found;

    memset(head, 0, sizeof(relay_head_t));

    rc = relay_record_decode(reply, relay_record_head, head, &found, field);

    head->found = found;

    return rc;
}


relay_int_t
relay_link_decode(const relay_resp_reply_t *reply, relay_link_t *link,
    const char **field)
{
    relay_int_t   rc;
    relay_uint_t  found;

    memset(link, 0, sizeof(relay_link_t));

    rc = relay_record_decode(reply, relay_record_link, link, &found, field);

    link->found = found;

    return rc;
}


relay_int_t
relay_grant_decode(const relay_resp_reply_t *reply, relay_grant_t *grant,
    const char **field)
{
    relay_int_t   rc;
    relay_uint_t  found;

    memset(grant, 0, sizeof(relay_grant_t));

    rc = relay_record_decode(reply, relay_record_grant, grant, &found, field);

    grant->found = found;

    if (rc != RELAY_OK || grant->state != RELAY_STATE_ACTIVE) {
        return rc;
    }

    /* a subject is an issuer's; a grant is somebody's */

    if ((grant->iss.len == 0) != (grant->sub.len == 0)) {
        *field = grant->iss.len ? "sub" : "iss";

    } else if (grant->iss.len == 0 && grant->email.len == 0) {
        *field = "email";

    } else if (grant->accepted_at && grant->accepted_version == 0) {
        *field = "accepted_version";
    }

    return *field == NULL ? RELAY_OK : RELAY_DECLINED;
}


relay_int_t
relay_block_decode(const relay_resp_reply_t *reply, relay_block_t *block,
    const char **field)
{
    relay_int_t         rc;
    relay_uint_t        found;
    relay_record_block_t  b;

    memset(block, 0, sizeof(relay_block_t));
    memset(&b, 0, sizeof(relay_record_block_t));

    rc = relay_record_decode(reply, relay_record_block, &b, &found, field);

    if (!found) {
        return rc;
    }

    block->epoch = b.epoch;
    block->since = b.since;
    block->reason = b.reason;

    /* what cannot be read blocks */

    block->active = b.state != 2;
    block->found = 1;

    return rc;
}


relay_int_t
relay_keys_fingerprint(const relay_resp_reply_t *reply, relay_buf_t *out)
{
    size_t              i;
    relay_uint_t        found;
    const relay_str_t  *value;

    if (relay_record_check(reply, &found) != RELAY_OK) {
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
relay_record_lookup(const relay_str_t *words, size_t n, const relay_str_t *name)
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
    return relay_record_lookup(relay_record_states,
                               relay_record_nelts(relay_record_states), name);
}


relay_access_e
relay_access_by_name(const relay_str_t *name)
{
    return relay_record_lookup(relay_record_accesses,
                               relay_record_nelts(relay_record_accesses), name);
}


relay_permission_e
relay_permission_by_name(const relay_str_t *name)
{
    return relay_record_lookup(relay_record_permissions,
                               relay_record_nelts(relay_record_permissions),
                               name);
}


relay_mode_e
relay_mode_by_name(const relay_str_t *name)
{
    return relay_record_lookup(relay_record_modes,
                               relay_record_nelts(relay_record_modes), name);
}


const relay_str_t *
relay_access_name(relay_access_e access)
{
    if ((size_t) access >= relay_record_nelts(relay_record_accesses)) {
        return &relay_record_none;
    }

    return &relay_record_accesses[access];
}


const relay_str_t *
relay_permission_name(relay_permission_e permission)
{
    if ((size_t) permission >= relay_record_nelts(relay_record_permissions)) {
        return &relay_record_none;
    }

    return &relay_record_permissions[permission];
}


const relay_str_t *
relay_mode_name(relay_mode_e mode)
{
    if ((size_t) mode >= relay_record_nelts(relay_record_modes)) {
        return &relay_record_none;
    }

    return &relay_record_modes[mode];
}
