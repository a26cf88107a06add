
/*
 * relay_keys: names of Redis keys, and the records under them
 * (schema/redis/README.md).
 */

#ifndef _RELAY_KEYS_H_INCLUDED_
#define _RELAY_KEYS_H_INCLUDED_


#include "relay.h"
#include "relay_buf.h"
#include "relay_resp.h"


#define RELAY_KEYS_PREFIX         "relay:"
#define RELAY_KEYS_PREFIX_SYNTAX                                              \
    "1 to 128 printable characters other than space and braces"


typedef enum {
    RELAY_BLOCK_SUBJECT = 0,    /* value: <iss>\n<sub> */
    RELAY_BLOCK_EMAIL,          /* value: a normalised address */
    RELAY_BLOCK_DOMAIN,         /* value: a domain, lower case, A-labels */
    RELAY_BLOCK_ISSUER          /* value: an issuer */
} relay_block_kind_e;


/* Decoded records; strings point into the reply that they were read from. */

typedef struct {
    relay_str_t         schema;
    relay_str_t         email;          /* the named reader's; normalised */
    relay_str_t         title;
    relay_str_t         digest;         /* SHA-1 of the current version's
                                           document, hexadecimal, or "" */
    relay_str_t         owner_iss;
    relay_str_t         owner_sub;
    relay_str_t         owner_email;
    relay_str_t         isolation;      /* that readers must claim; packets */
    relay_state_e       state;
    relay_mode_e        mode;
    relay_access_e      access;
    relay_permission_e  permission;
    int64_t             version;        /* current version, 1 or more */
    int64_t             exp;            /* epoch ms, 0: never */
    int64_t             epoch;
    unsigned            found:1;
} relay_head_t;


typedef struct {
    relay_view_e        view;           /* NONE: whatever the access gives */
    relay_access_e      access;         /* NONE: the head's */
    relay_permission_e  permission;     /* NONE: the head's */
    relay_state_e       state;
    int64_t             exp;
    int64_t             epoch;
    unsigned            found:1;
} relay_link_t;


typedef struct {
    relay_str_t         id;
    relay_str_t         link;           /* H(token) it came through, or "" */
    relay_str_t         iss;            /* the subject it is bound to, or "" */
    relay_str_t         sub;
    relay_str_t         email;
    relay_str_t         name;
    relay_view_e        view;           /* NONE: no narrower than the link's */
    relay_permission_e  permission;     /* NONE: the link's */
    relay_state_e       state;
    int64_t             exp;
    int64_t             accepted_at;    /* epoch ms, 0: not accepted yet */
    int64_t             accepted_version;
    int64_t             epoch;
    unsigned            found:1;
} relay_grant_t;


typedef struct {
    relay_str_t         reason;
    int64_t             since;
    int64_t             epoch;
    unsigned            active:1;       /* state is "active" */
    unsigned            found:1;
} relay_block_t;


/*
 * What all keys begin with.  RELAY_OK when s is 1 to RELAY_PREFIX_MAX printable
 * ASCII characters other than space and braces, else RELAY_DECLINED: a brace
 * would move the hash tag, and with it the records of one relay into different
 * slots.
 */
relay_int_t relay_prefix_check(const relay_str_t *s);

/*
 * Key builders: append to out.  RELAY_DECLINED: the prefix, the digest or the
 * value is not one.  id: a relay's id; digest: H(token) or
 * H(reader key).  An id outside of [A-Za-z0-9._:-]{1,128} is used as H(id).
 */
relay_int_t relay_key_link(relay_buf_t *out, const relay_str_t *prefix,
    const relay_str_t *digest);
relay_int_t relay_key_head(relay_buf_t *out, const relay_str_t *prefix,
    const relay_str_t *id);
relay_int_t relay_key_link_record(relay_buf_t *out, const relay_str_t *prefix,
    const relay_str_t *id, const relay_str_t *digest);
relay_int_t relay_key_grant(relay_buf_t *out, const relay_str_t *prefix,
    const relay_str_t *id, const relay_str_t *digest);
relay_int_t relay_key_document(relay_buf_t *out, const relay_str_t *prefix,
    const relay_str_t *id, int64_t version);
relay_int_t relay_key_receipts(relay_buf_t *out, const relay_str_t *prefix,
    const relay_str_t *id);
relay_int_t relay_key_block(relay_buf_t *out, const relay_str_t *prefix,
    relay_block_kind_e kind, const relay_str_t *value);

/*
 * "relay:block:domain:*": its field count says how many domains are blocked.
 */
relay_int_t relay_key_block_domains(relay_buf_t *out,
    const relay_str_t *prefix);
relay_int_t relay_key_revocations(relay_buf_t *out, const relay_str_t *prefix);

/*
 * Decoders of a reply to HGETALL.  RELAY_OK: decoded, or the key does not
 * exist (found is 0).  RELAY_DECLINED: a field is missing or malformed, *field
 * is its name (static): the edge denies with bad_record.  Required: head:
 * schema, version, state, access, permission, mode, epoch; link: state, epoch;
 * grant: state, epoch (id and the rest where state is active); block: state,
 * epoch.  An unknown state, view, access, permission or mode is malformed.
 */
relay_int_t relay_head_decode(const relay_resp_reply_t *reply,
    relay_head_t *head, const char **field);
relay_int_t relay_link_decode(const relay_resp_reply_t *reply,
    relay_link_t *link, const char **field);
relay_int_t relay_grant_decode(const relay_resp_reply_t *reply,
    relay_grant_t *grant, const char **field);
relay_int_t relay_block_decode(const relay_resp_reply_t *reply,
    relay_block_t *block, const char **field);

/*
 * Appends what serve.lua compares a record with: the values of the fields that
 * a decision rests on, in the order of relay_keys_guarded, joined by "\n"; an
 * absent field or record is empty.
 */
extern const char *const  relay_keys_guarded[];
extern const size_t       relay_keys_nguarded;
relay_int_t relay_keys_fingerprint(const relay_resp_reply_t *reply,
    relay_buf_t *out);

/* Words of the records; 0 (NONE) when unknown. */
relay_state_e relay_state_by_name(const relay_str_t *name);
relay_access_e relay_access_by_name(const relay_str_t *name);
relay_permission_e relay_permission_by_name(const relay_str_t *name);
relay_mode_e relay_mode_by_name(const relay_str_t *name);
const relay_str_t *relay_access_name(relay_access_e access);
const relay_str_t *relay_permission_name(relay_permission_e permission);
const relay_str_t *relay_mode_name(relay_mode_e mode);

/* RELAY_OK when id may stand in a key as it is, else RELAY_DECLINED. */
relay_int_t relay_id_check(const relay_str_t *id);


#endif /* _RELAY_KEYS_H_INCLUDED_ */
