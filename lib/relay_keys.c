
/*
 * relay_keys: names of Redis keys.
 */

#include "relay_keys.h"

#include "relay_link.h"


static relay_int_t relay_keys_start(relay_buf_t *out,
    const relay_str_t *prefix, const char *rest);
static relay_int_t relay_keys_tag(relay_buf_t *out, const relay_str_t *id);
static relay_int_t relay_keys_digest(relay_buf_t *out,
    const relay_str_t *digest);
static relay_int_t relay_keys_end(relay_buf_t *out, size_t start);


static const char *const  relay_keys_kinds[] = {
    "subject", "email", "domain", "issuer"
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
relay_keys_digest(relay_buf_t *out, const relay_str_t *digest)
{
    if (digest->len != RELAY_DIGEST_LEN || relay_link_parse(digest) != RELAY_OK)
    {
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

    if (version < 1 || version > RELAY_INTEGER_MAX) {
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
