
/*
 * relay_jwt: verification of a compact JWS bearer token over a key set.
 *
 * libcjose takes the algorithm from the token's header, cuts an ECDSA signature
 * of any length in halves, and reads a whole HMAC from a shorter signature.
 * Everything that an attacker can choose is therefore settled here before it is
 * asked: the key, whether the key allows the algorithm, and the length of the
 * signature.
 */

#include <math.h>
#include <stdlib.h>

#include <cjose/cjose.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <openssl/err.h>

#include "relay_jwt.h"
#include "relay_link.h"


#define RELAY_JWT_SET_MAX      65536    /* bytes of a key set */
#define RELAY_JWT_KEYS_MAX     64
#define RELAY_JWT_KID_MAX      128
#define RELAY_JWT_DEPTH_MAX    16       /* nested containers in a token */
#define RELAY_JWT_MEMBER_MAX   1024     /* bytes of n, k ..., decoded */
#define RELAY_JWT_RSA_MIN      2048     /* bits */
#define RELAY_JWT_RSA_MAX      8192
#define RELAY_JWT_OCT_MIN      32       /* bytes */

/* NumericDate of 9999-12-31T23:59:59Z; what lies beyond counts as this */

#define RELAY_JWT_SECONDS_MAX  INT64_C(253402300799)


typedef enum {
    RELAY_JWT_RSA = 0,
    RELAY_JWT_EC,
    RELAY_JWT_OCT
} relay_jwt_kty_e;


typedef struct {
    const char       *name;
    relay_jwt_kty_e   kty;
    size_t            size;     /* EC: bytes of a coordinate;
                                   oct: least bytes of a key */
    size_t            sig_len;  /* 0: as long as the modulus */
} relay_jwt_alg_t;


typedef struct {
    cjose_jwk_t      *jwk;
    size_t            kid_len;  /* 0: none */
    char              kid[RELAY_JWT_KID_MAX + 1];
    uint32_t          algs;     /* allowed, bits by index in relay_jwt_algs */
    size_t            modulus;  /* RSA: bytes */
    relay_jwt_kty_e   kty;
    unsigned          private:1;
    unsigned          pinned:1; /* has an "alg" of its own */
} relay_jwt_key_t;


struct relay_jwt_keys_s {
    size_t            n;
    relay_jwt_key_t   keys[RELAY_JWT_KEYS_MAX];
    relay_uint_t      exposed;  /* some key came with its private part */
    char              exposed_kid[RELAY_JWT_KID_MAX + 1];
};


typedef struct {
    relay_str_t       header;   /* decoded */
    relay_str_t       claims;
    size_t            sig_len;
    unsigned char    *mem;
} relay_jwt_parts_t;


/* of each key type the first that fits is what relay_jwt_sign() takes */

static const relay_jwt_alg_t  relay_jwt_algs[] = {
    { "RS256", RELAY_JWT_RSA, 0, 0 },
    { "RS384", RELAY_JWT_RSA, 0, 0 },
    { "RS512", RELAY_JWT_RSA, 0, 0 },
    { "PS256", RELAY_JWT_RSA, 0, 0 },
    { "PS384", RELAY_JWT_RSA, 0, 0 },
    { "PS512", RELAY_JWT_RSA, 0, 0 },
    { "ES256", RELAY_JWT_EC, 32, 64 },
    { "ES384", RELAY_JWT_EC, 48, 96 },
    { "ES512", RELAY_JWT_EC, 66, 132 },
    { "HS256", RELAY_JWT_OCT, 32, 32 },
    { "HS384", RELAY_JWT_OCT, 48, 48 },
    { "HS512", RELAY_JWT_OCT, 64, 64 }
};

#define RELAY_JWT_NALGS  (sizeof(relay_jwt_algs) / sizeof(relay_jwt_algs[0]))


const char  relay_jwt_unknown_kid[] = "token's kid is unknown";


static relay_int_t relay_jwt_key_init(relay_jwt_key_t *key, json_t *jwk);
static relay_int_t relay_jwt_key_kid(relay_jwt_key_t *key, json_t *jwk);
static void relay_jwt_key_exposed(relay_jwt_keys_t *keys, json_t *jwk);
static relay_uint_t relay_jwt_key_verifies(json_t *jwk);
static relay_int_t relay_jwt_key_material(relay_jwt_key_t *key, json_t *jwk,
    size_t *size);
static relay_int_t relay_jwt_member(json_t *jwk, const char *name,
    unsigned char *out, size_t *len);
static relay_int_t relay_jwt_alg(const char *name, size_t len, size_t *alg);
static relay_uint_t relay_jwt_kid_valid(const char *kid, size_t len);
static relay_int_t relay_jwt_split(const relay_str_t *token,
    relay_jwt_parts_t *parts, const char **why);
static json_t *relay_jwt_object(const relay_str_t *in);
static relay_int_t relay_jwt_header(const relay_jwt_keys_t *keys,
    const relay_jwt_policy_t *policy, json_t *header,
    const relay_jwt_key_t **key, size_t *alg, const char **why);
static relay_uint_t relay_jwt_typ_equal(const relay_str_t *typ,
    const char *value, size_t len);
static relay_int_t relay_jwt_signature(const relay_jwt_key_t *key,
    const relay_str_t *token, const char **why);
static relay_int_t relay_jwt_claims(const relay_jwt_policy_t *policy,
    json_t *object, int64_t now, relay_jwt_claims_t *claims, const char **why);
static relay_int_t relay_jwt_audience(const relay_jwt_policy_t *policy,
    json_t *aud, const char **why);
static relay_int_t relay_jwt_date(json_t *value, int64_t *ms);
static relay_int_t relay_jwt_identity(const relay_jwt_policy_t *policy,
    json_t *object, relay_jwt_claims_t *claims, const char **why);
static json_t *relay_jwt_text(json_t *object, const char *name);
static relay_int_t relay_jwt_dump(json_t *value, relay_buf_t *out);


relay_jwt_keys_t *
relay_jwt_keys_parse(const relay_str_t *json, relay_buf_t *err)
{
    size_t             i, n;
    json_t            *set, *list;
    json_error_t       error;
    relay_jwt_key_t   *key;
    relay_jwt_keys_t  *keys;

    if (json->len == 0) {
        relay_buf_append_z(err, "key set is empty");
        return NULL;
    }

    if (json->len > RELAY_JWT_SET_MAX) {
        relay_buf_printf(err, "key set is larger than %d bytes",
                         RELAY_JWT_SET_MAX);
        return NULL;
    }

    /* the parser's own message quotes the input, which may be a secret */

    set = json_loadb((const char *) json->data, json->len,
                     JSON_REJECT_DUPLICATES, &error);
    if (set == NULL) {
        relay_buf_printf(err, "key set is not valid JSON, line %d",
                         error.line);
        return NULL;
    }

    keys = NULL;
    list = json_object_get(set, "keys");

    if (!json_is_array(list)) {
        relay_buf_append_z(err, "key set has no \"keys\" array");
        goto failed;
    }

    if (json_array_size(list) > RELAY_JWT_KEYS_MAX) {
        relay_buf_printf(err, "key set has more than %d keys",
                         RELAY_JWT_KEYS_MAX);
        goto failed;
    }

    keys = calloc(1, sizeof(relay_jwt_keys_t));
    if (keys == NULL) {
        relay_buf_append_z(err, "no memory for a key set");
        goto failed;
    }

    for (n = 0; n < json_array_size(list); n++) {

        key = &keys->keys[keys->n];
        memset(key, 0, sizeof(relay_jwt_key_t));

        relay_jwt_key_exposed(keys, json_array_get(list, n));

        if (relay_jwt_key_init(key, json_array_get(list, n)) != RELAY_OK) {
            continue;
        }

        keys->n++;

        for (i = 0; key->kid_len && i < keys->n - 1; i++) {

            if (strcmp(keys->keys[i].kid, key->kid) == 0) {
                relay_buf_printf(err, "key set has two keys with \"kid\" "
                                 "\"%s\"", key->kid);
                goto failed;
            }
        }
    }

    ERR_clear_error();

    if (keys->n == 0) {
        relay_buf_append_z(err, "key set has no usable key (RSA of 2048 bits "
                           "or more, EC P-256, P-384 or P-521, oct of 32 bytes "
                           "or more, for signatures)");
        goto failed;
    }

    json_decref(set);

    return keys;

failed:

    ERR_clear_error();
    json_decref(set);
    relay_jwt_keys_free(keys);

    return NULL;
}


void
relay_jwt_keys_free(relay_jwt_keys_t *keys)
{
    size_t  i;

    if (keys == NULL) {
        return;
    }

    for (i = 0; i < keys->n; i++) {
        (void) cjose_jwk_release(keys->keys[i].jwk);
    }

    free(keys);
}


size_t
relay_jwt_keys_count(const relay_jwt_keys_t *keys)
{
    return keys->n;
}


const char *
relay_jwt_keys_private(const relay_jwt_keys_t *keys)
{
    return keys->exposed ? keys->exposed_kid : NULL;
}


/* RELAY_DECLINED: not a key for us, which RFC 7517 5 has us pass over. */

static relay_int_t
relay_jwt_key_init(relay_jwt_key_t *key, json_t *jwk)
{
    size_t      i, size, pinned;
    json_t     *alg;
    cjose_err   error;

    if (!json_is_object(jwk)
        || relay_jwt_key_kid(key, jwk) != RELAY_OK
        || !relay_jwt_key_verifies(jwk)
        || relay_jwt_key_material(key, jwk, &size) != RELAY_OK)
    {
        return RELAY_DECLINED;
    }

    for (i = 0; i < RELAY_JWT_NALGS; i++) {

        if (relay_jwt_algs[i].kty != key->kty) {
            continue;
        }

        if (key->kty == RELAY_JWT_EC && relay_jwt_algs[i].size != size) {
            continue;
        }

        /* RFC 7518 3.2: an HMAC key is no shorter than the digest */

        if (key->kty == RELAY_JWT_OCT && relay_jwt_algs[i].size > size) {
            continue;
        }

        key->algs |= (uint32_t) 1 << i;
    }

    alg = json_object_get(jwk, "alg");

    if (alg != NULL) {

        if (!json_is_string(alg)
            || relay_jwt_alg(json_string_value(alg), json_string_length(alg),
                             &pinned)
               != RELAY_OK)
        {
            return RELAY_DECLINED;
        }

        key->algs &= (uint32_t) 1 << pinned;
        key->pinned = 1;
    }

    if (key->algs == 0) {
        return RELAY_DECLINED;
    }

    /* its error does not tell a point off the curve from a lack of memory */

    key->jwk = cjose_jwk_import_json((cjose_header_t *) jwk, &error);

    return key->jwk == NULL ? RELAY_DECLINED : RELAY_OK;
}


static relay_int_t
relay_jwt_key_kid(relay_jwt_key_t *key, json_t *jwk)
{
    json_t  *kid;

    kid = json_object_get(jwk, "kid");

    if (kid == NULL) {
        return RELAY_OK;
    }

    if (!json_is_string(kid)
        || !relay_jwt_kid_valid(json_string_value(kid),
                                json_string_length(kid)))
    {
        return RELAY_DECLINED;
    }

    key->kid_len = json_string_length(kid);
    memcpy(key->kid, json_string_value(kid), key->kid_len);
    key->kid[key->kid_len] = '\0';

    return RELAY_OK;
}


/* Keys that are passed over count: what they expose is no less exposed. */

static void
relay_jwt_key_exposed(relay_jwt_keys_t *keys, json_t *jwk)
{
    json_t           *kty;
    relay_jwt_key_t   key;

    kty = json_object_get(jwk, "kty");

    if (keys->exposed
        || json_object_get(jwk, "d") == NULL
        || (json_is_string(kty) && strcmp(json_string_value(kty), "oct") == 0))
    {
        return;
    }

    keys->exposed = 1;

    memset(&key, 0, sizeof(relay_jwt_key_t));

    if (relay_jwt_key_kid(&key, jwk) == RELAY_OK) {
        memcpy(keys->exposed_kid, key.kid, key.kid_len + 1);
    }
}


/* Whether "use" and "key_ops" leave the key to signatures. */

static relay_uint_t
relay_jwt_key_verifies(json_t *jwk)
{
    size_t   i;
    json_t  *use, *ops, *op;

    use = json_object_get(jwk, "use");

    if (use != NULL
        && (!json_is_string(use) || strcmp(json_string_value(use), "sig") != 0))
    {
        return 0;
    }

    ops = json_object_get(jwk, "key_ops");

    if (ops == NULL) {
        return 1;
    }

    for (i = 0; i < json_array_size(ops); i++) {

        op = json_array_get(ops, i);

        if (json_is_string(op)
            && (strcmp(json_string_value(op), "verify") == 0
                || strcmp(json_string_value(op), "sign") == 0))
        {
            return 1;
        }
    }

    return 0;
}


/*
 * Checks type and strength.  *size is the bytes of a coordinate of an EC key,
 * of a symmetric key.
 */

static relay_int_t
relay_jwt_key_material(relay_jwt_key_t *key, json_t *jwk, size_t *size)
{
    size_t          i, len, bits;
    json_t         *kty, *crv;
    unsigned char   c, buf[RELAY_JWT_MEMBER_MAX];

    static const char  *curves[] = { "P-256", "P-384", "P-521" };
    static const size_t  sizes[] = { 32, 48, 66 };

    *size = 0;

    kty = json_object_get(jwk, "kty");

    if (!json_is_string(kty)) {
        return RELAY_DECLINED;
    }

    if (strcmp(json_string_value(kty), "oct") == 0) {

        key->kty = RELAY_JWT_OCT;
        key->private = 1;

        if (relay_jwt_member(jwk, "k", buf, size) != RELAY_OK) {
            return RELAY_DECLINED;
        }

        OPENSSL_cleanse(buf, sizeof(buf));

        return *size < RELAY_JWT_OCT_MIN ? RELAY_DECLINED : RELAY_OK;
    }

    key->private = json_is_string(json_object_get(jwk, "d"));

    if (strcmp(json_string_value(kty), "EC") == 0) {

        key->kty = RELAY_JWT_EC;
        crv = json_object_get(jwk, "crv");

        if (!json_is_string(crv)) {
            return RELAY_DECLINED;
        }

        for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            if (strcmp(json_string_value(crv), curves[i]) == 0) {
                *size = sizes[i];
            }
        }

        if (*size == 0
            || relay_jwt_member(jwk, "x", buf, &len) != RELAY_OK
            || len != *size
            || relay_jwt_member(jwk, "y", buf, &len) != RELAY_OK
            || len != *size)
        {
            return RELAY_DECLINED;
        }

        return RELAY_OK;
    }

    if (strcmp(json_string_value(kty), "RSA") != 0) {
        return RELAY_DECLINED;
    }

    key->kty = RELAY_JWT_RSA;

    /* an exponent of 1 makes every signature its own message */

    if (relay_jwt_member(jwk, "e", buf, &len) != RELAY_OK
        || len > 8
        || (buf[len - 1] & 1) == 0)
    {
        return RELAY_DECLINED;
    }

    for (i = 0; i < len - 1 && buf[i] == 0; i++) { /* void */ }

    if (i == len - 1 && buf[i] < 3) {
        return RELAY_DECLINED;
    }

    if (relay_jwt_member(jwk, "n", buf, &len) != RELAY_OK) {
        return RELAY_DECLINED;
    }

    for (i = 0; i < len && buf[i] == 0; i++) { /* void */ }

    if (i == len || (buf[len - 1] & 1) == 0) {
        return RELAY_DECLINED;
    }

    bits = (len - i) * 8;

    for (c = buf[i]; (c & 0x80) == 0; c = (unsigned char) (c << 1)) {
        bits--;
    }

    if (bits < RELAY_JWT_RSA_MIN || bits > RELAY_JWT_RSA_MAX) {
        return RELAY_DECLINED;
    }

    key->modulus = len - i;

    return RELAY_OK;
}


/* Decodes a member of a key; at least one byte. */

static relay_int_t
relay_jwt_member(json_t *jwk, const char *name, unsigned char *out,
    size_t *len)
{
    json_t       *value;
    relay_str_t   s;

    value = json_object_get(jwk, name);

    if (!json_is_string(value)) {
        return RELAY_DECLINED;
    }

    s.data = (unsigned char *) json_string_value(value);
    s.len = json_string_length(value);

    *len = RELAY_JWT_MEMBER_MAX;

    if (s.len == 0 || relay_base64url_decode(&s, out, len) != RELAY_OK) {
        return RELAY_DECLINED;
    }

    return RELAY_OK;
}


static relay_int_t
relay_jwt_alg(const char *name, size_t len, size_t *alg)
{
    size_t  i;

    *alg = 0;

    for (i = 0; i < RELAY_JWT_NALGS; i++) {

        if (len == strlen(relay_jwt_algs[i].name)
            && memcmp(name, relay_jwt_algs[i].name, len) == 0)
        {
            *alg = i;
            return RELAY_OK;
        }
    }

    return RELAY_DECLINED;
}


static relay_uint_t
relay_jwt_kid_valid(const char *kid, size_t len)
{
    size_t  i;

    if (len == 0 || len > RELAY_JWT_KID_MAX) {
        return 0;
    }

    for (i = 0; i < len; i++) {
        if (kid[i] < 0x20 || kid[i] > 0x7e) {
            return 0;
        }
    }

    return 1;
}


relay_int_t
relay_jwt_issuer(const relay_str_t *token, relay_buf_t *out)
{
    json_t             *object, *iss;
    const char         *why;
    relay_int_t         rc;
    relay_jwt_parts_t   parts;

    rc = relay_jwt_split(token, &parts, &why);

    if (rc != RELAY_OK) {
        return rc;
    }

    rc = RELAY_DECLINED;

    object = relay_jwt_object(&parts.claims);
    iss = json_object_get(object, "iss");

    if (json_is_string(iss)
        && json_string_length(iss) > 0
        && json_string_length(iss) <= RELAY_ISSUER_MAX)
    {
        rc = relay_buf_append(out, json_string_value(iss),
                              json_string_length(iss));
    }

    json_decref(object);
    free(parts.mem);

    return rc;
}


/* RELAY_OK: parts->mem is to be freed by the caller. */

static relay_int_t
relay_jwt_split(const relay_str_t *token, relay_jwt_parts_t *parts,
    const char **why)
{
    size_t          i, n, len;
    relay_str_t     in[3];
    unsigned char  *p, *last;

    parts->mem = NULL;

    if (token->len > RELAY_JWT_MAX) {
        *why = "token is too long";
        return RELAY_DECLINED;
    }

    *why = "token is malformed";

    if (token->len == 0) {
        return RELAY_DECLINED;
    }

    p = token->data;
    last = p + token->len;

    in[0].data = p;
    n = 0;

    for ( /* void */ ; p < last; p++) {

        if (*p != '.') {
            continue;
        }

        if (n == 2) {
            return RELAY_DECLINED;
        }

        in[n].len = p - in[n].data;
        in[++n].data = p + 1;
    }

    if (n != 2) {
        return RELAY_DECLINED;
    }

    in[2].len = last - in[2].data;

    p = malloc(token->len);
    if (p == NULL) {
        *why = "no memory for a token";
        return RELAY_ERROR;
    }

    parts->mem = p;

    for (i = 0; i < 3; i++) {

        len = token->len - (p - parts->mem);

        if (in[i].len == 0
            || relay_base64url_decode(&in[i], p, &len) != RELAY_OK)
        {
            free(parts->mem);
            parts->mem = NULL;
            return RELAY_DECLINED;
        }

        in[i].data = p;
        in[i].len = len;
        p += len;
    }

    parts->header = in[0];
    parts->claims = in[1];
    parts->sig_len = in[2].len;

    return RELAY_OK;
}


/* A JSON object of bounded depth without duplicate members, or NULL. */

static json_t *
relay_jwt_object(const relay_str_t *in)
{
    size_t         i, depth;
    json_t        *object;
    json_error_t   error;
    relay_uint_t   quoted;

    depth = 0;
    quoted = 0;

    for (i = 0; i < in->len; i++) {

        switch (in->data[i]) {

        case '"':
            quoted = !quoted;
            break;

        case '\\':
            if (quoted) {
                i++;
            }

            break;

        case '{':
        case '[':
            if (!quoted && ++depth > RELAY_JWT_DEPTH_MAX) {
                return NULL;
            }

            break;

        case '}':
        case ']':
            if (!quoted && depth) {
                depth--;
            }

            break;
        }
    }

    object = json_loadb((const char *) in->data, in->len,
                        JSON_REJECT_DUPLICATES, &error);

    if (object != NULL && !json_is_object(object)) {
        json_decref(object);
        return NULL;
    }

    return object;
}


relay_int_t
relay_jwt_verify(const relay_jwt_keys_t *keys, const relay_jwt_policy_t *policy,
    const relay_str_t *token, int64_t now, relay_jwt_claims_t *claims,
    const char **why)
{
    size_t                  alg, sig_len;
    json_t                 *object;
    relay_int_t             rc;
    relay_jwt_parts_t       parts;
    const relay_jwt_key_t  *key;

    memset(claims, 0, sizeof(relay_jwt_claims_t));
    relay_buf_init(&claims->mem, RELAY_JWT_MAX);

    rc = relay_jwt_split(token, &parts, why);

    if (rc != RELAY_OK) {
        return rc;
    }

    object = relay_jwt_object(&parts.header);

    if (object == NULL) {
        *why = "token's header is malformed";
        rc = RELAY_DECLINED;
        goto done;
    }

    rc = relay_jwt_header(keys, policy, object, &key, &alg, why);

    json_decref(object);
    object = NULL;

    if (rc != RELAY_OK) {
        goto done;
    }

    sig_len = relay_jwt_algs[alg].sig_len;

    if (parts.sig_len != (sig_len ? sig_len : key->modulus)) {
        *why = "signature has the wrong length";
        rc = RELAY_DECLINED;
        goto done;
    }

    rc = relay_jwt_signature(key, token, why);

    if (rc != RELAY_OK) {
        goto done;
    }

    object = relay_jwt_object(&parts.claims);

    if (object == NULL) {
        *why = "token's claims are malformed";
        rc = RELAY_DECLINED;
        goto done;
    }

    rc = relay_jwt_claims(policy, object, now, claims, why);

done:

    json_decref(object);
    free(parts.mem);

    if (rc != RELAY_OK) {
        relay_jwt_claims_free(claims);
    }

    return rc;
}


/* Chooses the key, and makes sure that it allows the algorithm. */

static relay_int_t
relay_jwt_header(const relay_jwt_keys_t *keys, const relay_jwt_policy_t *policy,
    json_t *header, const relay_jwt_key_t **key, size_t *alg, const char **why)
{
    size_t        i, len;
    json_t       *name, *kid, *typ;
    const char   *id;
    relay_int_t   known;

    if (json_object_get(header, "crit") != NULL) {
        *why = "token has a critical extension";
        return RELAY_DECLINED;
    }

    typ = json_object_get(header, "typ");

    if (typ != NULL && !json_is_string(typ)) {
        *why = "token's typ is malformed";
        return RELAY_DECLINED;
    }

    if (policy->typ.len
        && (typ == NULL
            || !relay_jwt_typ_equal(&policy->typ, json_string_value(typ),
                                    json_string_length(typ))))
    {
        *why = "token is of another typ";
        return RELAY_DECLINED;
    }

    name = json_object_get(header, "alg");

    if (!json_is_string(name)) {
        *why = "token has no alg";
        return RELAY_DECLINED;
    }

    known = relay_jwt_alg(json_string_value(name), json_string_length(name),
                          alg);

    *key = NULL;

    kid = json_object_get(header, "kid");

    if (kid != NULL) {

        if (!json_is_string(kid)
            || !relay_jwt_kid_valid(json_string_value(kid),
                                    json_string_length(kid)))
        {
            *why = "token's kid is malformed";
            return RELAY_DECLINED;
        }

        id = json_string_value(kid);
        len = json_string_length(kid);

        for (i = 0; i < keys->n; i++) {

            if (keys->keys[i].kid_len == len
                && memcmp(keys->keys[i].kid, id, len) == 0)
            {
                *key = &keys->keys[i];
                break;
            }
        }

        if (*key == NULL) {
            *why = relay_jwt_unknown_kid;
            return RELAY_DECLINED;
        }

        if (known != RELAY_OK || ((*key)->algs & (uint32_t) 1 << *alg) == 0) {
            *why = "token's alg is not allowed for its key";
            return RELAY_DECLINED;
        }

        return RELAY_OK;
    }

    if (known == RELAY_OK) {

        for (i = 0; i < keys->n; i++) {

            if ((keys->keys[i].algs & (uint32_t) 1 << *alg) == 0) {
                continue;
            }

            if (*key != NULL) {
                *why = "token has no kid, and several keys fit";
                return RELAY_DECLINED;
            }

            *key = &keys->keys[i];
        }
    }

    if (*key == NULL) {
        *why = "token's alg is not allowed for any key";
        return RELAY_DECLINED;
    }

    return RELAY_OK;
}


/*
 * Media types are compared without case, and "application/" may be left out
 * (RFC 7515 4.1.9).
 */

static relay_uint_t
relay_jwt_typ_equal(const relay_str_t *typ, const char *value, size_t len)
{
    size_t          i, n;
    relay_uint_t    same;
    unsigned char   a, b;
    relay_str_t     s[2];

    static const char  prefix[] = "application/";

    s[0] = *typ;
    s[1].data = (unsigned char *) value;
    s[1].len = len;

    for (n = 0; n < 2; n++) {

        if (s[n].len < sizeof(prefix)) {
            continue;
        }

        same = 1;

        for (i = 0; i < sizeof(prefix) - 1; i++) {
            a = s[n].data[i];
            same &= ((a >= 'A' && a <= 'Z' ? a | 0x20 : a) == prefix[i]);
        }

        if (same) {
            s[n].data += sizeof(prefix) - 1;
            s[n].len -= sizeof(prefix) - 1;
        }
    }

    if (s[0].len != s[1].len) {
        return 0;
    }

    for (i = 0; i < s[0].len; i++) {
        a = s[0].data[i];
        b = s[1].data[i];

        if ((a >= 'A' && a <= 'Z' ? a | 0x20 : a)
            != (b >= 'A' && b <= 'Z' ? b | 0x20 : b))
        {
            return 0;
        }
    }

    return 1;
}


static relay_int_t
relay_jwt_signature(const relay_jwt_key_t *key, const relay_str_t *token,
    const char **why)
{
    cjose_err     error;
    relay_int_t   rc;
    cjose_jws_t  *jws;

    memset(&error, 0, sizeof(cjose_err));

    rc = RELAY_OK;
    jws = cjose_jws_import((const char *) token->data, token->len, &error);

    if (jws == NULL || !cjose_jws_verify(jws, key->jwk, &error)) {

        if (error.code == CJOSE_ERR_NO_MEMORY) {
            *why = "no memory for a signature";
            rc = RELAY_ERROR;

        } else {
            *why = "signature does not match";
            rc = RELAY_DECLINED;
        }
    }

    if (jws != NULL) {
        cjose_jws_release(jws);
    }

    /* errors that stay queued would be taken for those of a TLS connection */

    ERR_clear_error();

    return rc;
}


static relay_int_t
relay_jwt_claims(const relay_jwt_policy_t *policy, json_t *object, int64_t now,
    relay_jwt_claims_t *claims, const char **why)
{
    json_t       *iss, *exp, *nbf, *iat;
    int64_t       unused;
    relay_str_t   issuer;

    iss = json_object_get(object, "iss");

    if (!json_is_string(iss)) {
        *why = "token has no iss";
        return RELAY_DECLINED;
    }

    issuer.data = (unsigned char *) json_string_value(iss);
    issuer.len = json_string_length(iss);

    if (policy->issuer.len == 0 || !relay_str_eq(&issuer, &policy->issuer)) {
        *why = "token is of another issuer";
        return RELAY_DECLINED;
    }

    if (relay_jwt_audience(policy, json_object_get(object, "aud"), why)
        != RELAY_OK)
    {
        return RELAY_DECLINED;
    }

    exp = json_object_get(object, "exp");

    if (exp == NULL) {
        *why = "token has no exp";
        return RELAY_DECLINED;
    }

    nbf = json_object_get(object, "nbf");
    iat = json_object_get(object, "iat");

    if (relay_jwt_date(exp, &claims->exp) != RELAY_OK
        || (nbf != NULL && relay_jwt_date(nbf, &claims->nbf) != RELAY_OK)
        || (iat != NULL && relay_jwt_date(iat, &unused) != RELAY_OK))
    {
        *why = "token's exp, nbf or iat is not a number";
        return RELAY_DECLINED;
    }

    /* an exp of 0 would mean never to those who read claims->exp */

    if (claims->exp <= 0 || now - claims->exp >= policy->leeway) {
        *why = "token has expired";
        return RELAY_DECLINED;
    }

    if (claims->nbf - now > policy->leeway) {
        *why = "token is not valid yet";
        return RELAY_DECLINED;
    }

    return relay_jwt_identity(policy, object, claims, why);
}


static relay_int_t
relay_jwt_audience(const relay_jwt_policy_t *policy, json_t *aud,
    const char **why)
{
    size_t         i, n, size;
    json_t        *value;
    relay_str_t    s;
    relay_uint_t   found;

    if (aud == NULL) {
        *why = "token has no aud";
        return RELAY_DECLINED;
    }

    found = 0;
    size = json_is_array(aud) ? json_array_size(aud) : 1;

    for (i = 0; i < size; i++) {

        value = json_is_array(aud) ? json_array_get(aud, i) : aud;

        if (!json_is_string(value)) {
            *why = "token's aud is malformed";
            return RELAY_DECLINED;
        }

        s.data = (unsigned char *) json_string_value(value);
        s.len = json_string_length(value);

        for (n = 0; s.len && n < policy->naudiences; n++) {
            if (relay_str_eq(&s, &policy->audiences[n])) {
                found = 1;
            }
        }
    }

    if (!found) {
        *why = "token is for another audience";
        return RELAY_DECLINED;
    }

    return RELAY_OK;
}


/* A NumericDate; what is out of range is brought to its end. */

static relay_int_t
relay_jwt_date(json_t *value, int64_t *ms)
{
    double   d;
    int64_t  n;

    if (json_is_integer(value)) {
        n = json_integer_value(value);

        if (n > RELAY_JWT_SECONDS_MAX) {
            n = RELAY_JWT_SECONDS_MAX;

        } else if (n < 0) {
            n = 0;
        }

        *ms = n * 1000;

        return RELAY_OK;
    }

    if (json_is_real(value)) {
        d = json_real_value(value);

        if (!isfinite(d)) {
            return RELAY_DECLINED;
        }

        if (d > (double) RELAY_JWT_SECONDS_MAX) {
            d = (double) RELAY_JWT_SECONDS_MAX;

        } else if (d < 0) {
            d = 0;
        }

        *ms = (int64_t) (d * 1000);

        return RELAY_OK;
    }

    return RELAY_DECLINED;
}


static relay_int_t
relay_jwt_identity(const relay_jwt_policy_t *policy, json_t *object,
    relay_jwt_claims_t *claims, const char **why)
{
    size_t             i;
    json_t            *value[6], *email, *verified;
    relay_str_t       *to[6];
    unsigned char     *p;
    relay_identity_t  *id;

    id = &claims->identity;

    value[0] = json_object_get(object, "iss");
    to[0] = &id->issuer;

    value[1] = json_object_get(object, "sub");
    to[1] = &id->subject;

    if (!json_is_string(value[1])) {
        *why = "token has no sub";
        return RELAY_DECLINED;
    }

    email = json_object_get(object, "email");

    if (email != NULL && !json_is_string(email) && !json_is_null(email)) {
        *why = "token's email is malformed";
        return RELAY_DECLINED;
    }

    value[2] = relay_jwt_text(object, "email");
    to[2] = &id->email;

    value[3] = relay_jwt_text(object, "name");
    to[3] = &id->name;

    value[4] = relay_jwt_text(object, "client_name");
    to[4] = &id->client;

    if (value[4] == NULL) {
        value[4] = relay_jwt_text(object, "azp");
    }

    if (value[4] == NULL) {
        value[4] = relay_jwt_text(object, "client_id");
    }

    value[5] = (policy->isolation == NULL)
               ? NULL : relay_jwt_text(object, policy->isolation);
    to[5] = &id->isolation;

    if (value[5] != NULL && json_string_length(value[5]) > RELAY_NAME_MAX) {
        value[5] = NULL;
    }

    for (i = 0; i < 6; i++) {

        if (value[i] != NULL) {
            to[i]->len = json_string_length(value[i]);
            relay_buf_append(&claims->mem, json_string_value(value[i]),
                             to[i]->len);
        }
    }

    if (claims->mem.failed) {
        *why = "no memory for claims";
        return RELAY_ERROR;
    }

    p = claims->mem.data;

    for (i = 0; i < 6; i++) {

        if (to[i]->len) {
            to[i]->data = p;
            p += to[i]->len;
        }
    }

    /* some issuers write the string; nothing else means true */

    verified = json_object_get(object, "email_verified");

    id->email_verified = json_is_true(verified)
                         || (json_is_string(verified)
                             && json_string_length(verified) == 4
                             && memcmp(json_string_value(verified), "true", 4)
                                == 0);

    id->email_trusted = policy->email_trusted;
    id->ambient = 0;

    return relay_identity_check(id, why);
}


/* A member that is a string and not empty, or NULL. */

static json_t *
relay_jwt_text(json_t *object, const char *name)
{
    json_t  *value;

    value = json_object_get(object, name);

    if (!json_is_string(value) || json_string_length(value) == 0) {
        return NULL;
    }

    return value;
}


void
relay_jwt_claims_free(relay_jwt_claims_t *claims)
{
    relay_buf_free(&claims->mem);
    memset(&claims->identity, 0, sizeof(relay_identity_t));
    claims->exp = 0;
    claims->nbf = 0;
}


relay_int_t
relay_jwt_sign(const relay_jwt_keys_t *keys, const relay_str_t *claims,
    relay_buf_t *out, const char **why)
{
    size_t                  i;
    json_t                 *object;
    cjose_err               error;
    const char             *compact;
    cjose_jws_t            *jws;
    relay_int_t             rc;
    cjose_header_t         *header;
    const relay_jwt_key_t  *key;

    object = relay_jwt_object(claims);

    if (object == NULL) {
        *why = "claims are not a JSON object";
        return RELAY_DECLINED;
    }

    json_decref(object);

    key = NULL;

    for (i = 0; i < keys->n; i++) {

        if (keys->keys[i].private) {
            key = &keys->keys[i];
            break;
        }
    }

    if (key == NULL) {
        *why = "key set has no private key";
        return RELAY_DECLINED;
    }

    for (i = 0; (key->algs & (uint32_t) 1 << i) == 0; i++) { /* void */ }

    *why = "token could not be signed";

    rc = RELAY_ERROR;
    jws = NULL;

    header = cjose_header_new(&error);

    if (header != NULL
        && cjose_header_set(header, "alg", relay_jwt_algs[i].name, &error)
        && (key->kid_len == 0
            || cjose_header_set(header, "kid", key->kid, &error)))
    {
        jws = cjose_jws_sign(key->jwk, header, claims->data, claims->len,
                             &error);

        if (jws != NULL && cjose_jws_export(jws, &compact, &error)) {

            if (strlen(compact) > RELAY_JWT_MAX) {
                *why = "token would be too long";
                rc = RELAY_DECLINED;

            } else {
                rc = relay_buf_append_z(out, compact);
            }
        }
    }

    if (jws != NULL) {
        cjose_jws_release(jws);
    }

    if (header != NULL) {
        cjose_header_release(header);
    }

    ERR_clear_error();

    return rc;
}


relay_int_t
relay_jwt_generate(const char *kty, const char *kid, relay_buf_t *out)
{
    char         *json;
    json_t       *value;
    cjose_err     error;
    const char   *alg;
    relay_int_t   rc;
    cjose_jwk_t  *jwk;

    if (!relay_jwt_kid_valid(kid, strlen(kid))) {
        return RELAY_DECLINED;
    }

    if (strcmp(kty, "RSA") == 0) {
        jwk = cjose_jwk_create_RSA_random(RELAY_JWT_RSA_MIN,
                                          (const uint8_t *) "\x01\x00\x01", 3,
                                          &error);
        alg = "RS256";

    } else if (strcmp(kty, "EC") == 0) {
        jwk = cjose_jwk_create_EC_random(CJOSE_JWK_EC_P_256, &error);
        alg = "ES256";

    } else if (strcmp(kty, "oct") == 0) {
        jwk = cjose_jwk_create_oct_random(RELAY_JWT_OCT_MIN * 8, &error);
        alg = "HS256";

    } else {
        return RELAY_DECLINED;
    }

    rc = RELAY_ERROR;
    json = NULL;
    value = NULL;

    if (jwk != NULL) {
        json = cjose_jwk_to_json(jwk, true, &error);
        (void) cjose_jwk_release(jwk);
    }

    if (json != NULL) {
        value = json_loads(json, 0, NULL);
        OPENSSL_cleanse(json, strlen(json));
        cjose_get_dealloc()(json);
    }

    if (value != NULL
        && json_object_set_new(value, "kid", json_string(kid)) == 0
        && json_object_set_new(value, "use", json_string("sig")) == 0
        && json_object_set_new(value, "alg", json_string(alg)) == 0)
    {
        rc = relay_jwt_dump(value, out);
    }

    json_decref(value);
    ERR_clear_error();

    return rc;
}


relay_int_t
relay_jwt_public(const relay_jwt_keys_t *keys, relay_buf_t *out)
{
    char                   *json;
    size_t                  i, alg;
    json_t                 *value;
    cjose_err               error;
    relay_uint_t            n;
    const relay_jwt_key_t  *key;

    n = 0;

    relay_buf_append_z(out, "{\"keys\":[");

    for (i = 0; i < keys->n; i++) {

        key = &keys->keys[i];

        if (key->kty == RELAY_JWT_OCT) {
            continue;
        }

        json = cjose_jwk_to_json(key->jwk, false, &error);
        if (json == NULL) {
            goto failed;
        }

        value = json_loads(json, 0, NULL);
        cjose_get_dealloc()(json);

        if (value == NULL
            || json_object_set_new(value, "use", json_string("sig")) != 0)
        {
            json_decref(value);
            goto failed;
        }

        if (key->pinned) {

            for (alg = 0; (key->algs & (uint32_t) 1 << alg) == 0; alg++) {
                /* void */
            }

            if (json_object_set_new(value, "alg",
                                    json_string(relay_jwt_algs[alg].name))
                != 0)
            {
                json_decref(value);
                goto failed;
            }
        }

        if (n++) {
            relay_buf_append_c(out, ',');
        }

        (void) relay_jwt_dump(value, out);

        json_decref(value);
    }

    return relay_buf_append_z(out, "]}");

failed:

    ERR_clear_error();
    out->failed = 1;

    return RELAY_ERROR;
}


static relay_int_t
relay_jwt_dump(json_t *value, relay_buf_t *out)
{
    char         *text;
    relay_int_t   rc;

    text = json_dumps(value, JSON_COMPACT);
    if (text == NULL) {
        return RELAY_ERROR;
    }

    rc = relay_buf_append_z(out, text);

    OPENSSL_cleanse(text, strlen(text));
    free(text);

    return rc;
}
