
/*
 * relay_jwt: verification of a compact JWS (RFC 7515) bearer token over a key
 * set (RFC 7517).  The algorithm is chosen by the key, never by the header.
 */

#ifndef _RELAY_JWT_H_INCLUDED_
#define _RELAY_JWT_H_INCLUDED_


#include "relay.h"
#include "relay_buf.h"
#include "relay_identity.h"


typedef struct relay_jwt_keys_s  relay_jwt_keys_t;


typedef struct {
    relay_str_t         issuer;         /* required "iss" */
    const relay_str_t  *audiences;      /* one of them must be in "aud" */
    size_t              naudiences;
    relay_str_t         typ;            /* required "typ" header, empty: any */
    const char         *isolation;      /* claim that says how the caller is
                                           isolated; NULL: none does */
    int64_t             leeway;         /* ms, on exp and nbf */
    unsigned            email_trusted:1;
} relay_jwt_policy_t;


typedef struct {
    relay_identity_t    identity;       /* points into mem */
    int64_t             exp;            /* epoch ms */
    int64_t             nbf;            /* epoch ms, 0: absent */
    relay_buf_t         mem;
} relay_jwt_claims_t;


/*
 * Parses a key set.  Keys: RSA of 2048 bits or more, EC P-256, P-384, P-521,
 * oct of 32 bytes or more.  A key of another type or use is passed over; a set
 * without a usable key, with a duplicate "kid" or too large (64 KiB, 64 keys)
 * is an error.  NULL then, err holds a sentence.
 */
relay_jwt_keys_t *relay_jwt_keys_parse(const relay_str_t *json,
    relay_buf_t *err);
void relay_jwt_keys_free(relay_jwt_keys_t *keys);

/* How many keys of the set can verify a token. */
size_t relay_jwt_keys_count(const relay_jwt_keys_t *keys);

/*
 * The "kid" of the first RSA, EC or OKP key that came with its private part,
 * be it of use here or not; "" when that key has none that can be printed.
 * NULL: the set holds public keys and shared secrets (oct) alone.
 */
const char *relay_jwt_keys_private(const relay_jwt_keys_t *keys);

/*
 * The unverified "iss" of a token, to choose the policy with.  Appended to
 * out.  RELAY_DECLINED when the token is malformed.
 */
relay_int_t relay_jwt_issuer(const relay_str_t *token, relay_buf_t *out);

/*
 * Verifies a token at the time now (epoch ms).  RELAY_OK: claims are filled in
 * and freed by relay_jwt_claims_free().  RELAY_DECLINED: *why is a static
 * sentence for the log ("signature does not match", "token has expired", ...).
 * RELAY_ERROR: a library failed.
 *
 * Refused: more than RELAY_JWT_MAX bytes, "none" in any spelling, an "alg" that
 * the key's type (and "alg" member) does not allow, an unknown "kid", no "kid"
 * where the set has several keys that would fit, "crit", duplicate members in
 * header or claims, a missing exp, iss, sub or aud.  "jwk", "jku", "x5u", "x5c"
 * in the header are ignored.  RFC 8725.
 */
relay_int_t relay_jwt_verify(const relay_jwt_keys_t *keys,
    const relay_jwt_policy_t *policy, const relay_str_t *token, int64_t now,
    relay_jwt_claims_t *claims, const char **why);
void relay_jwt_claims_free(relay_jwt_claims_t *claims);

/*
 * What relay_jwt_verify() says of a token whose "kid" no key of the set has,
 * this very pointer: a newer set may have it.
 */
extern const char  relay_jwt_unknown_kid[];

/*
 * Signs claims (a JSON object) with the first key of the set that has a
 * private part or is symmetric; header alg and kid come from the key.  For
 * development tokens and, later, assertions.  Appended to out.
 */
relay_int_t relay_jwt_sign(const relay_jwt_keys_t *keys,
    const relay_str_t *claims, relay_buf_t *out, const char **why);

/*
 * Generates a key and appends it as a JWK with its private part.  kty is
 * "RSA", "EC" (P-256) or "oct".
 */
relay_int_t relay_jwt_generate(const char *kty, const char *kid,
    relay_buf_t *out);

/* Appends the public half of a key set as a key set; oct keys are left out. */
relay_int_t relay_jwt_public(const relay_jwt_keys_t *keys, relay_buf_t *out);


#endif /* _RELAY_JWT_H_INCLUDED_ */
