
/*
 * relay_jwt over fixed keys: arbitrary tokens, tokens of arbitrary header and
 * claims whose signature is right, and arbitrary key sets.
 *
 * What is accepted is looked at again: an HMAC is computed, a token of another
 * key must be one of the two that were signed with it, and the claims must be
 * those of the policy.
 */

#include <jansson.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "fuzz.h"
#include "relay_jwt.h"
#include "relay_link.h"


#define NOW     INT64_C(1800000000000)
#define LEEWAY  INT64_C(60000)
#define ISS     "https://issuer.example"
#define AUD     "https://relay.example"


/* the symmetric key: 32 bytes, 0 to 31 */

#define OCT                                                                   \
    "{\"kty\":\"oct\",\"kid\":\"o\","                                         \
    "\"k\":\"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8\"}"

#define RSA_N                                                                 \
    "n9uS-qO7QVjCg9JocUfyOauABigreJqG7vuq08Vd87RamHUVY3T0UoQkYWlk2IZk"        \
    "tI8ZX9fPZSXu1tff65mNRtmDNmskvetvs-gTfnzETmo6xvTBsx2fH7cYEisOqUIy"        \
    "meBRX7uQiVQSfzBPh1erQnf3vDDcnmZJR-BA4-UR_UYjdgX2uxv_0YDqhQ9TLpwE"        \
    "eMc2hByNoKhj_5R5oQcjx3Eb6tuLHATi546Jy1wSx7Pzc62h8tmYCPQgNZVZA8Kg"        \
    "Ist8vXatoPOmMKKXOsDUS9vGgk_rsvZzUgnGujlggxWYM7I6gUPwV_7vYjY58mej"        \
    "xVsdpVM93QCXSi55CCtXIw"

#define SET                                                                   \
    "{\"keys\":["                                                             \
    OCT ","                                                                   \
    "{\"kty\":\"RSA\",\"kid\":\"r\",\"e\":\"AQAB\",\"n\":\"" RSA_N "\"},"     \
    "{\"kty\":\"EC\",\"kid\":\"e\",\"crv\":\"P-256\","                        \
    "\"x\":\"f_fQ5GDJnQEZEsG_w0gfUinulTWR_1B3skypKOc4ULs\","                  \
    "\"y\":\"28jdJ-MZCOia5TIR0232bhQk7tE9q5BnForaYzAXgCQ\"}"                  \
    "]}"


/* signed with the private halves of the other two, which nobody has kept */

static const char  rsa_token[] =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6InIifQ.eyJpYXQiOjE3OTYxMzYxMjAsImV4c"
    "CI6MjExMTQ5NjEyMCwianRpIjoiMXpEaHhiYk1Gb1BjTTlzcHlPTlVjZyIsImlzc"
    "yI6Imh0dHBzOi8vaXNzdWVyLmV4YW1wbGUiLCJzdWIiOiJzLTEiLCJhdWQiOiJod"
    "HRwczovL3JlbGF5LmV4YW1wbGUiLCJlbWFpbCI6ImFAYi5leGFtcGxlIiwibmFtZ"
    "SI6Ik4iLCJlbWFpbF92ZXJpZmllZCI6dHJ1ZX0.kBUrQz4QI4DXK39hzoJMrAgDl"
    "6Dw6W0ohfkjnYcDYmV0RjZswLlmNikMqkOMlg5ADLR2ZVq4KXXUSVEejV8GO_Kt4"
    "vb9br2YRna8QxVCj6EPMW8cIxR47ATxp-Vt4dxPwRFTevkC4wDwjc7Kxh2M0sBdN"
    "C_1dW6OoKFqLPIOva_dsMfnZXQdiSuiTShs1k1NoUK6VYupc6pi6Bd7_QImQIda7"
    "1LZeRtIqjtKXmkBYYB9fHnzYrfMt7q8EusNxDCXWgC7FWisB5f-TbyOCqtIUwglD"
    "GZNJk6MNW6dQCb1hJYUBQavwo0BbBAGg0V3_4DSG5OT2lPLLuxWdpfe2Nj8zQ";

static const char  ec_token[] =
    "eyJhbGciOiJFUzI1NiIsImtpZCI6ImUifQ.eyJpYXQiOjE3OTYxMzYxMjAsImV4c"
    "CI6MjExMTQ5NjEyMCwianRpIjoic29IZ096UUdSTi11alZjYnhuejRJZyIsImlzc"
    "yI6Imh0dHBzOi8vaXNzdWVyLmV4YW1wbGUiLCJzdWIiOiJzLTEiLCJhdWQiOiJod"
    "HRwczovL3JlbGF5LmV4YW1wbGUiLCJlbWFpbCI6ImFAYi5leGFtcGxlIiwibmFtZ"
    "SI6Ik4iLCJlbWFpbF92ZXJpZmllZCI6dHJ1ZX0.XkhnmD7CYsvMIIP3QIOSMrlKD"
    "7-8PkPBnMMVOyBQ3D7bvtNoIWHt9nrsFP1MVTVdOlJctUQbaPu-AoN7Z195vA";


static const relay_str_t  audiences[] = {
    relay_string("urn:other"),
    relay_string(AUD)
};

static relay_jwt_keys_t  *all, *oct;


static relay_jwt_keys_t *
keys_of(const char *text)
{
    relay_buf_t        err;
    relay_str_t        s;
    relay_jwt_keys_t  *keys;

    relay_buf_init(&err, 1024);

    s.data = (unsigned char *) text;
    s.len = strlen(text);

    keys = relay_jwt_keys_parse(&s, &err);
    fuzz_assert(keys != NULL && err.len == 0);

    relay_buf_free(&err);

    return keys;
}


static size_t
hmac(const char *alg, const unsigned char *p, size_t len, unsigned char *out)
{
    size_t          i;
    unsigned        n;
    unsigned char   key[32];
    const EVP_MD   *md;

    for (i = 0; i < sizeof(key); i++) {
        key[i] = (unsigned char) i;
    }

    md = (strcmp(alg, "HS256") == 0) ? EVP_sha256()
         : (strcmp(alg, "HS384") == 0) ? EVP_sha384()
         : (strcmp(alg, "HS512") == 0) ? EVP_sha512() : NULL;

    if (md == NULL) {
        return 0;
    }

    fuzz_assert(HMAC(md, key, sizeof(key), p, len, out, &n) != NULL);

    return n;
}


/* The JSON object of one part of an accepted token. */

static json_t *
part(const unsigned char *p, size_t len)
{
    size_t          n;
    json_t         *object;
    relay_str_t     s;
    unsigned char  *bytes;

    s.data = (unsigned char *) p;
    s.len = len;
    n = len;

    bytes = malloc(n);
    fuzz_assert(bytes != NULL);
    fuzz_assert(relay_base64url_decode(&s, bytes, &n) == RELAY_OK);

    object = json_loadb((char *) bytes, n, JSON_REJECT_DUPLICATES, NULL);
    fuzz_assert(json_is_object(object));

    free(bytes);

    return object;
}


static int
is_text(json_t *value, const relay_str_t *s)
{
    return json_is_string(value) && json_string_length(value) == s->len
           && memcmp(json_string_value(value), s->data, s->len) == 0;
}


static int
signed_as(const char *token, const relay_str_t *s)
{
    size_t  len;

    len = strrchr(token, '.') + 1 - token;

    return s->len > len && memcmp(s->data, token, len) == 0;
}


static void
signature(json_t *header, const relay_str_t *token, const unsigned char *dot)
{
    size_t          n, len;
    const char     *alg;
    relay_str_t     s;
    unsigned char   md[EVP_MAX_MD_SIZE], sig[EVP_MAX_MD_SIZE];

    fuzz_assert(json_object_get(header, "crit") == NULL);

    alg = json_string_value(json_object_get(header, "alg"));
    fuzz_assert(alg != NULL);

    if (strncmp(alg, "HS", 2) != 0) {
        fuzz_assert(signed_as(rsa_token, token) || signed_as(ec_token, token));
        return;
    }

    n = hmac(alg, token->data, dot - token->data, md);
    fuzz_assert(n != 0);

    s.data = (unsigned char *) dot + 1;
    s.len = token->data + token->len - s.data;
    len = sizeof(sig);

    fuzz_assert(relay_base64url_decode(&s, sig, &len) == RELAY_OK);
    fuzz_assert(len == n && memcmp(sig, md, n) == 0);
}


static int64_t
date(json_t *value)
{
    double  d;

    fuzz_assert(json_is_number(value));

    d = json_number_value(value);

    return (d >= 1e15) ? INT64_MAX : (d < 0) ? 0 : (int64_t) (d * 1000);
}


static void
accepted(const relay_str_t *token, const relay_jwt_claims_t *c,
    const relay_jwt_policy_t *policy)
{
    size_t                i, found;
    json_t               *header, *claims, *aud, *value, *verified;
    const unsigned char  *dot, *dot2;

    dot = memchr(token->data, '.', token->len);
    fuzz_assert(dot != NULL);

    dot2 = memchr(dot + 1, '.', token->data + token->len - dot - 1);
    fuzz_assert(dot2 != NULL);

    header = part(token->data, dot - token->data);
    claims = part(dot + 1, dot2 - dot - 1);

    signature(header, token, dot2);

    if (policy->typ.len != 0) {
        fuzz_assert(json_is_string(json_object_get(header, "typ")));
    }

    fuzz_assert(is_text(json_object_get(claims, "iss"), &policy->issuer));
    fuzz_assert(is_text(json_object_get(claims, "iss"), &c->identity.issuer));
    fuzz_assert(is_text(json_object_get(claims, "sub"), &c->identity.subject));

    aud = json_object_get(claims, "aud");
    found = 0;

    for (i = 0; i < policy->naudiences; i++) {
        found |= is_text(aud, &policy->audiences[i]);
    }

    json_array_foreach(aud, i, value) {
        found |= is_text(value, &policy->audiences[0])
                 || is_text(value, &policy->audiences[1]);
    }

    fuzz_assert(found);

    fuzz_assert(date(json_object_get(claims, "exp")) > NOW - LEEWAY);
    fuzz_assert(c->exp > NOW - LEEWAY);

    value = json_object_get(claims, "nbf");
    fuzz_assert(value == NULL || date(value) <= NOW + LEEWAY);

    value = json_object_get(claims, "email");
    fuzz_assert(c->identity.email.len == 0
                || is_text(value, &c->identity.email));

    verified = json_object_get(claims, "email_verified");
    fuzz_assert(!c->identity.email_verified || json_is_true(verified)
                || (json_is_string(verified)
                    && strcmp(json_string_value(verified), "true") == 0));

    fuzz_assert(c->identity.email_trusted == policy->email_trusted);
    fuzz_assert(!c->identity.ambient);

    json_decref(header);
    json_decref(claims);
}


static void
verify(const relay_jwt_keys_t *keys, const relay_str_t *token, unsigned flags)
{
    const char          *why;
    relay_buf_t          iss;
    relay_int_t          rc;
    relay_jwt_claims_t   claims;
    relay_jwt_policy_t   policy;

    memset(&policy, 0, sizeof(relay_jwt_policy_t));

    relay_str_set(&policy.issuer, ISS);
    policy.audiences = audiences;
    policy.naudiences = 2;
    policy.leeway = LEEWAY;
    policy.email_trusted = flags & 1;

    if (flags & 2) {
        relay_str_set(&policy.typ, "at+jwt");
    }

    relay_buf_init(&iss, RELAY_ISSUER_MAX);
    rc = relay_jwt_issuer(token, &iss);
    fuzz_assert(rc == RELAY_OK || iss.len == 0);

    why = NULL;

    switch (relay_jwt_verify(keys, &policy, token, NOW, &claims, &why)) {

    case RELAY_OK:
        fuzz_assert(rc == RELAY_OK);
        fuzz_assert(iss.len == policy.issuer.len
                    && memcmp(iss.data, policy.issuer.data, iss.len) == 0);

        if (keys == all || keys == oct) {
            accepted(token, &claims, &policy);
        }

        relay_jwt_claims_free(&claims);
        break;

    case RELAY_DECLINED:
        fuzz_assert(why != NULL && why[0] != '\0');
        break;

    default:
        fuzz_assert(!"no library fails");
    }

    relay_buf_free(&iss);
}


/* A token that is signed, whatever it says. */

static void
sign(fuzz_in_t *in)
{
    size_t          n;
    unsigned        flags;
    json_t         *object, *alg;
    const char     *name;
    relay_buf_t     token;
    relay_str_t     header, claims, exact;
    unsigned char  *text, md[EVP_MAX_MD_SIZE], sig[2 * EVP_MAX_MD_SIZE];

    flags = fuzz_byte(in);
    header = fuzz_str(in);
    claims = fuzz_rest(in);

    object = json_loadb((char *) header.data, header.len, 0, NULL);
    alg = json_object_get(object, "alg");
    name = json_is_string(alg) ? json_string_value(alg) : "";

    relay_buf_init(&token, 65536);

    text = malloc(4 * (header.len + claims.len) / 3 + 8);
    fuzz_assert(text != NULL);

    n = relay_base64url_encode(header.data, header.len, text);
    relay_buf_append(&token, text, n);
    relay_buf_append_c(&token, '.');

    n = relay_base64url_encode(claims.data, claims.len, text);
    relay_buf_append(&token, text, n);

    n = hmac(*name ? name : "HS256", token.data, token.len, md);

    if (n == 0) {
        n = hmac("HS256", token.data, token.len, md);
    }

    relay_buf_append_c(&token, '.');
    n = relay_base64url_encode(md, n, sig);
    relay_buf_append(&token, sig, n);

    if (!token.failed) {
        exact = fuzz_copy(in, token.data, token.len);
        verify((flags & 4) ? all : oct, &exact, flags);
    }

    relay_buf_free(&token);
    json_decref(object);
    free(text);
}


static void
key_set(fuzz_in_t *in)
{
    size_t             i;
    json_t            *set, *key;
    relay_buf_t        err, out;
    relay_str_t        s;
    relay_jwt_keys_t  *keys, *again;

    static const relay_str_t  tokens[] = {
        { sizeof(rsa_token) - 1, (unsigned char *) rsa_token },
        { sizeof(ec_token) - 1, (unsigned char *) ec_token }
    };

    static const char *const  secrets[] = {
        "d", "p", "q", "dp", "dq", "qi", "k", "oth"
    };

    s = fuzz_rest(in);

    relay_buf_init(&err, 1024);
    relay_buf_init(&out, 1024 * 1024);

    keys = relay_jwt_keys_parse(&s, &err);

    if (keys == NULL) {
        fuzz_assert(err.len != 0);
        goto done;
    }

    fuzz_assert(err.len == 0);

    verify(keys, &tokens[0], 0);
    verify(keys, &tokens[1], 0);

    if (relay_jwt_public(keys, &out) != RELAY_OK) {
        relay_jwt_keys_free(keys);
        goto done;
    }

    relay_jwt_keys_free(keys);

    set = json_loadb((char *) out.data, out.len, JSON_REJECT_DUPLICATES, NULL);
    fuzz_assert(json_is_object(set));

    json_array_foreach(json_object_get(set, "keys"), i, key) {
        size_t  n;

        for (n = 0; n < sizeof(secrets) / sizeof(secrets[0]); n++) {
            fuzz_assert(json_object_get(key, secrets[n]) == NULL);
        }
    }

    if (json_array_size(json_object_get(set, "keys")) != 0) {
        relay_buf_str(&out, &s);
        again = relay_jwt_keys_parse(&s, &err);
        fuzz_assert(again != NULL);
        relay_jwt_keys_free(again);
    }

    json_decref(set);

done:

    relay_buf_free(&err);
    relay_buf_free(&out);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_in_t    in;
    relay_str_t  token;

    if (all == NULL) {
        all = keys_of(SET);
        oct = keys_of("{\"keys\":[" OCT "]}");
    }

    fuzz_in_init(&in, data, size);

    switch (fuzz_byte(&in)) {

    case 's':
        sign(&in);
        break;

    case 'k':
        key_set(&in);
        break;

    default:
        token = fuzz_copy(&in, data, size);
        verify(all, &token, 0);
    }

    fuzz_in_free(&in);

    return 0;
}
