
/*
 * relay_jwt: every rule with a right and a wrong token, and the forgeries.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <cjose/cjose.h>
#include <jansson.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/core_names.h>
#include <openssl/pem.h>

#include "relay_jwt.h"
#include "relay_link.h"


#define NOW     INT64_C(1800000000000)
#define ISS     "https://issuer.example"
#define AUD     "https://relay.example"

#define HEAD    "\"iss\":\"" ISS "\",\"sub\":\"s-1\",\"aud\":\"" AUD "\""
#define CLAIMS  "{" HEAD ",\"exp\":1800000600}"

#define OCT_K   "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
#define OCT     "{\"kty\":\"oct\",\"kid\":\"o\",\"k\":\"" OCT_K "\"}"
#define HS256   "{\"alg\":\"HS256\",\"kid\":\"o\"}"

#define NONE           "token's alg is not allowed for any key"
#define NOT_ALLOWED    "token's alg is not allowed for its key"
#define NO_MATCH       "signature does not match"
#define WRONG_LENGTH   "signature has the wrong length"
#define MALFORMED      "token is malformed"
#define BAD_HEADER     "token's header is malformed"
#define BAD_CLAIMS     "token's claims are malformed"
#define BAD_DATE       "token's exp, nbf or iat is not a number"


static const relay_str_t  audience = relay_string(AUD);
static relay_jwt_policy_t  policy;

static char  *rsa;              /* a JWK each, private part included */
static char  *other_rsa;
static char  *ec;
static char  *other_ec;


static relay_str_t
str(const char *z)
{
    relay_str_t  s;

    s.data = (unsigned char *) z;
    s.len = strlen(z);

    return s;
}


static char *
generate(const char *kty, const char *kid)
{
    char         *z;
    relay_buf_t   b;

    relay_buf_init(&b, 8192);
    assert_int_equal(relay_jwt_generate(kty, kid, &b), RELAY_OK);
    z = strndup((char *) b.data, b.len);
    assert_non_null(z);
    relay_buf_free(&b);

    return z;
}


static relay_jwt_keys_t *
keys_of(const char *a, const char *b)
{
    char              *z;
    relay_str_t        s;
    relay_buf_t        err;
    relay_jwt_keys_t  *keys;

    z = malloc(strlen(a) + (b ? strlen(b) : 0) + 32);
    assert_non_null(z);
    sprintf(z, "{\"keys\":[%s%s%s]}", a, b ? "," : "", b ? b : "");

    relay_buf_init(&err, 1000);
    s = str(z);
    keys = relay_jwt_keys_parse(&s, &err);

    if (keys == NULL) {
        fail_msg("%.*s", (int) err.len, (char *) err.data);
    }

    assert_int_equal(err.len, 0);
    relay_buf_free(&err);
    free(z);

    return keys;
}


/* A JWK with one member replaced, or taken out (value NULL). */

static char *
jwk_with(const char *jwk, const char *name, const char *value)
{
    char    *z;
    json_t  *j;

    j = json_loads(jwk, 0, NULL);
    assert_non_null(j);

    if (value != NULL) {
        json_object_set_new(j, name, json_string(value));

    } else {
        json_object_del(j, name);
    }

    z = json_dumps(j, 0);
    json_decref(j);

    return z;
}


static char *
encode(const char *data, size_t len)
{
    size_t  n;
    char   *z;

    z = malloc(4 * len / 3 + 4);
    assert_non_null(z);
    n = relay_base64url_encode((const unsigned char *) data, len,
                               (unsigned char *) z);
    z[n] = '\0';

    return z;
}


/* A token of any header and payload with an HMAC over it. */

static char *
hmac_raw(const char *header, size_t hlen, const char *claims, size_t clen,
    const void *key, size_t key_len, const char *md)
{
    char           *h, *c, *s, *z;
    unsigned        n;
    unsigned char   mac[EVP_MAX_MD_SIZE];

    h = encode(header, hlen);
    c = encode(claims, clen);

    z = malloc(strlen(h) + strlen(c) + 2 * EVP_MAX_MD_SIZE);
    assert_non_null(z);
    sprintf(z, "%s.%s", h, c);

    assert_non_null(HMAC(EVP_get_digestbyname(md), key, (int) key_len,
                         (unsigned char *) z, strlen(z), mac, &n));
    s = encode((char *) mac, n);
    strcat(z, ".");
    strcat(z, s);

    free(h);
    free(c);
    free(s);

    return z;
}


static char *
hmac(const char *header, const char *claims)
{
    size_t         i;
    unsigned char  k[32];

    for (i = 0; i < sizeof(k); i++) {
        k[i] = (unsigned char) i;
    }

    return hmac_raw(header, strlen(header), claims, strlen(claims), k,
                    sizeof(k), "SHA256");
}


/* A token that libcjose signs, of any header that it takes. */

static char *
sign_with(const char *jwk, const char *header, const char *claims)
{
    char         *z;
    json_t       *h;
    cjose_err     err;
    const char   *compact;
    cjose_jwk_t  *key;
    cjose_jws_t  *jws;

    key = cjose_jwk_import(jwk, strlen(jwk), &err);
    assert_non_null(key);
    h = json_loads(header, 0, NULL);
    assert_non_null(h);

    jws = cjose_jws_sign(key, (cjose_header_t *) h, (const uint8_t *) claims,
                         strlen(claims), &err);
    assert_non_null(jws);
    assert_true(cjose_jws_export(jws, &compact, &err));
    z = strdup(compact);
    assert_non_null(z);

    cjose_jws_release(jws);
    cjose_jwk_release(key);
    json_decref(h);

    return z;
}


/* A token of any header and signature bytes. */

static char *
forge(const char *header, const char *claims, const char *sig, size_t len)
{
    char  *h, *c, *s, *z;

    h = encode(header, strlen(header));
    c = encode(claims, strlen(claims));
    s = encode(sig, len);

    z = malloc(strlen(h) + strlen(c) + strlen(s) + 3);
    assert_non_null(z);
    sprintf(z, "%s.%s.%s", h, c, s);

    free(h);
    free(c);
    free(s);

    return z;
}


static relay_int_t
verify_len(relay_jwt_keys_t *keys, const char *token, size_t len, int64_t now,
    relay_jwt_claims_t *claims, const char **why)
{
    relay_int_t   rc;
    relay_str_t   s;

    /* memory of its own size, so that a sanitizer sees a byte too many */

    s.len = len;
    s.data = malloc(len ? len : 1);
    assert_non_null(s.data);
    memcpy(s.data, token, len);

    *why = "";
    rc = relay_jwt_verify(keys, &policy, &s, now, claims, why);

    free(s.data);

    /* a queued error would be blamed on somebody's TLS connection */

    assert_int_equal(ERR_peek_error(), 0);

    if (rc != RELAY_OK) {
        assert_null(claims->mem.data);
        assert_int_equal(claims->identity.subject.len, 0);
        assert_int_equal(claims->exp, 0);
    }

    return rc;
}


static void
good(relay_jwt_keys_t *keys, char *token)
{
    const char          *why;
    relay_jwt_claims_t   claims;

    if (verify_len(keys, token, strlen(token), NOW, &claims, &why)
        != RELAY_OK)
    {
        fail_msg("%s: %s", why, token);
    }

    assert_true(relay_str_is(&claims.identity.issuer, ISS));
    assert_true(relay_str_is(&claims.identity.subject, "s-1"));

    relay_jwt_claims_free(&claims);
    free(token);
}


static void
bad(relay_jwt_keys_t *keys, char *token, const char *reason)
{
    const char          *why;
    relay_int_t          rc;
    relay_jwt_claims_t   claims;

    rc = verify_len(keys, token, strlen(token), NOW, &claims, &why);

    if (rc != RELAY_DECLINED) {
        fail_msg("%ld: %s", (long) rc, token);
    }

    assert_string_equal(why, reason);

    /* callers ask for a newer set when, and only when, it is this pointer */

    assert_int_equal(why == relay_jwt_unknown_kid,
                     strcmp(why, "token's kid is unknown") == 0);

    relay_jwt_claims_free(&claims);
    free(token);
}


/* Claims signed as they should be, with members added or in place of HEAD. */

static void
claims_good(const char *claims)
{
    relay_jwt_keys_t  *keys;

    keys = keys_of(OCT, NULL);
    good(keys, hmac(HS256, claims));
    relay_jwt_keys_free(keys);
}


static void
claims_bad(const char *claims, const char *reason)
{
    relay_jwt_keys_t  *keys;

    keys = keys_of(OCT, NULL);
    bad(keys, hmac(HS256, claims), reason);
    relay_jwt_keys_free(keys);
}


static void
header_good(const char *header)
{
    relay_jwt_keys_t  *keys;

    keys = keys_of(OCT, NULL);
    good(keys, hmac(header, CLAIMS));
    relay_jwt_keys_free(keys);
}


static void
header_bad(const char *header, const char *reason)
{
    relay_jwt_keys_t  *keys;

    keys = keys_of(OCT, NULL);
    bad(keys, hmac(header, CLAIMS), reason);
    relay_jwt_keys_free(keys);
}


static void
test_sign_and_verify(void **state)
{
    size_t               i, n;
    char                *jwk;
    relay_str_t          s;
    const char          *why;
    relay_buf_t          b, pub;
    relay_jwt_keys_t    *keys, *public;
    relay_jwt_claims_t   claims;

    static const char  *types[] = { "RSA", "EC", "oct" };

    s = str("{" HEAD ",\"exp\":1800000600.5,\"nbf\":1799999999,\"iat\":1,"
            "\"email\":\"Maria@Example.com\",\"email_verified\":true,"
            "\"name\":\"Maria \\u00d6\",\"azp\":\"agent\"}");

    relay_buf_init(&b, RELAY_JWT_MAX);
    relay_buf_init(&pub, 65536);

    for (i = 0; i < 3; i++) {

        jwk = generate(types[i], "key 1");
        keys = keys_of(jwk, NULL);
        free(jwk);

        relay_buf_reset(&b);
        assert_int_equal(relay_jwt_sign(keys, &s, &b, &why), RELAY_OK);

        assert_int_equal(verify_len(keys, (char *) b.data, b.len, NOW,
                                    &claims, &why),
                         RELAY_OK);

        assert_true(relay_str_is(&claims.identity.issuer, ISS));
        assert_true(relay_str_is(&claims.identity.subject, "s-1"));
        assert_true(relay_str_is(&claims.identity.email,
                                 "Maria@Example.com"));
        assert_true(relay_str_is(&claims.identity.name, "Maria \xc3\x96"));
        assert_true(relay_str_is(&claims.identity.client, "agent"));
        assert_int_equal(claims.identity.email_verified, 1);
        assert_int_equal(claims.identity.email_trusted, 1);
        assert_int_equal(claims.identity.ambient, 0);
        assert_true(claims.exp == INT64_C(1800000600500));
        assert_true(claims.nbf == INT64_C(1799999999000));
        relay_jwt_claims_free(&claims);

        /* the public half verifies and does not sign; oct has none */

        relay_buf_reset(&pub);
        assert_int_equal(relay_jwt_public(keys, &pub), RELAY_OK);
        relay_buf_append_c(&pub, '\0');

        if (i == 2) {
            assert_string_equal((char *) pub.data, "{\"keys\":[]}");
            relay_jwt_keys_free(keys);
            continue;
        }

        assert_null(strstr((char *) pub.data, "\"d\""));
        assert_null(strstr((char *) pub.data, "\"p\""));
        assert_null(strstr((char *) pub.data, "\"qi\""));
        assert_non_null(strstr((char *) pub.data, "\"kid\":\"key 1\""));
        assert_non_null(strstr((char *) pub.data, "\"use\":\"sig\""));
        assert_non_null(strstr((char *) pub.data,
                               i ? "\"alg\":\"ES256\"" : "\"alg\":\"RS256\""));

        {
            relay_str_t  set;

            set = str((char *) pub.data);
            public = relay_jwt_keys_parse(&set, &b);
            assert_non_null(public);
        }

        assert_int_equal(verify_len(public, (char *) b.data, b.len, NOW,
                                    &claims, &why),
                         RELAY_OK);
        relay_jwt_claims_free(&claims);

        n = b.len;
        assert_int_equal(relay_jwt_sign(public, &s, &b, &why),
                         RELAY_DECLINED);
        assert_string_equal(why, "key set has no private key");
        assert_int_equal(b.len, n);

        relay_jwt_keys_free(public);
        relay_jwt_keys_free(keys);
    }

    relay_buf_free(&b);
    relay_buf_free(&pub);
}


static void
test_sign_refused(void **state)
{
    char              *big;
    relay_str_t        s;
    const char        *why;
    relay_buf_t        b;
    relay_jwt_keys_t  *keys;

    keys = keys_of(OCT, NULL);
    relay_buf_init(&b, 100000);

#define unsigned_bad(z)                                                       \
    s = str(z);                                                               \
    assert_int_equal(relay_jwt_sign(keys, &s, &b, &why), RELAY_DECLINED);     \
    assert_string_equal(why, "claims are not a JSON object");                 \
    assert_int_equal(b.len, 0)

    unsigned_bad("");
    unsigned_bad("[]");
    unsigned_bad("\"x\"");
    unsigned_bad("{");
    unsigned_bad("{\"a\":1,\"a\":2}");

    big = malloc(20001);
    assert_non_null(big);
    memset(big, ' ', 20000);
    big[0] = '{';
    big[19999] = '}';
    big[20000] = '\0';
    s = str(big);
    assert_int_equal(relay_jwt_sign(keys, &s, &b, &why), RELAY_DECLINED);
    assert_string_equal(why, "token would be too long");
    assert_int_equal(b.len, 0);
    free(big);

    relay_buf_free(&b);
    relay_buf_init(&b, 20);
    s = str("{}");
    assert_int_equal(relay_jwt_sign(keys, &s, &b, &why), RELAY_ERROR);
    assert_int_equal(b.failed, 1);

    relay_buf_free(&b);
    relay_jwt_keys_free(keys);

    relay_buf_init(&b, 8192);
    assert_int_equal(relay_jwt_generate("DSA", "k", &b), RELAY_DECLINED);
    assert_int_equal(relay_jwt_generate("rsa", "k", &b), RELAY_DECLINED);
    assert_int_equal(relay_jwt_generate("oct", "", &b), RELAY_DECLINED);
    assert_int_equal(relay_jwt_generate("oct", "k\n", &b), RELAY_DECLINED);
    assert_int_equal(b.len, 0);
    relay_buf_free(&b);
}


/* RFC 7515, A.1 (HS256), A.2 (RS256) and A.3 (ES256). */

#define A_CLAIMS                                                              \
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLm"  \
    "NvbS9pc19yb290Ijp0cnVlfQ"

#define A2_N                                                                  \
    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw"    \
    "-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690"   \
    "r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UT"  \
    "o7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXF"  \
    "vUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"

#define A2_TOKEN                                                              \
    "eyJhbGciOiJSUzI1NiJ9." A_CLAIMS                                          \
    ".cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuH"   \
    "Im4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiu"   \
    "B--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN938"  \
    "3LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOY"  \
    "EUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"

#define A1_KEY                                                                \
    "{\"kty\":\"oct\",\"k\":\"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-"  \
    "1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow\"}"

#define A3_KEY                                                                \
    "{\"kty\":\"EC\",\"crv\":\"P-256\","                                      \
    "\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","                  \
    "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}"


static void
vector(const char *jwk, const char *token)
{
    char                *altered;
    size_t               i;
    const char          *why;
    relay_jwt_keys_t    *keys;
    relay_jwt_policy_t   saved;
    relay_jwt_claims_t   claims;

    saved = policy;
    policy.issuer = str("joe");

    keys = keys_of(jwk, NULL);

    /* their claims have no audience, which is looked at after the signature */

    assert_int_equal(verify_len(keys, token, strlen(token),
                                INT64_C(1300819000000), &claims, &why),
                     RELAY_DECLINED);
    assert_string_equal(why, "token has no aud");

    /* one bit of the claims, one of the signature */

    altered = strdup(token);
    assert_non_null(altered);
    i = strchr(token, '.') - token + 5;
    altered[i] = altered[i] == 'A' ? 'B' : 'A';
    assert_int_equal(verify_len(keys, altered, strlen(altered),
                                INT64_C(1300819000000), &claims, &why),
                     RELAY_DECLINED);
    assert_string_equal(why, NO_MATCH);

    strcpy(altered, token);
    i = strrchr(token, '.') - token + 5;
    altered[i] = altered[i] == 'A' ? 'B' : 'A';
    assert_int_equal(verify_len(keys, altered, strlen(altered),
                                INT64_C(1300819000000), &claims, &why),
                     RELAY_DECLINED);
    assert_string_equal(why, NO_MATCH);

    free(altered);
    relay_jwt_keys_free(keys);
    policy = saved;
}


static void
test_rfc7515(void **state)
{
    vector(A1_KEY,
           "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9." A_CLAIMS
           ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");

    vector("{\"kty\":\"RSA\",\"n\":\"" A2_N "\",\"e\":\"AQAB\"}", A2_TOKEN);

    vector(A3_KEY,
           "eyJhbGciOiJFUzI1NiJ9." A_CLAIMS
           ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISl"
           "SApmWQxfKTUJqPP3-Kg6NU1Q");
}


static char *
ec_jwk(cjose_jwk_ec_curve curve, const char *kid)
{
    char         *z;
    cjose_err     err;
    cjose_jwk_t  *jwk;

    jwk = cjose_jwk_create_EC_random(curve, &err);
    assert_non_null(jwk);
    assert_true(cjose_jwk_set_kid(jwk, kid, strlen(kid), &err));
    z = cjose_jwk_to_json(jwk, true, &err);
    assert_non_null(z);
    cjose_jwk_release(jwk);

    return z;
}


static void
test_algorithms(void **state)
{
    char              *plain, *header, *p384, *p521, *pinned;
    char               h[64], k64[64];
    size_t             i, n;
    relay_jwt_keys_t  *keys;

    static const char  *algs[] = {
        "RS256", "RS384", "RS512", "PS256", "PS384", "PS512",
        "ES256", "ES384", "ES512", "HS256", "HS384", "HS512"
    };

    /* an RSA key takes its six, and where it names one, that one */

    plain = jwk_with(rsa, "alg", NULL);
    keys = keys_of(plain, NULL);

    for (i = 0; i < 6; i++) {
        snprintf(h, sizeof(h), "{\"alg\":\"%s\",\"kid\":\"r\"}", algs[i]);
        good(keys, sign_with(rsa, h, CLAIMS));

        pinned = jwk_with(rsa, "alg", algs[i]);

        for (n = 0; n < 6; n++) {
            relay_jwt_keys_t  *one;

            one = keys_of(pinned, NULL);
            snprintf(h, sizeof(h), "{\"alg\":\"%s\",\"kid\":\"r\"}", algs[n]);

            if (n == i) {
                good(one, sign_with(rsa, h, CLAIMS));

            } else {
                bad(one, sign_with(rsa, h, CLAIMS), NOT_ALLOWED);
            }

            relay_jwt_keys_free(one);
        }

        free(pinned);
    }

    for (i = 6; i < 12; i++) {
        snprintf(h, sizeof(h), "{\"alg\":\"%s\",\"kid\":\"r\"}", algs[i]);
        bad(keys, forge(h, CLAIMS, k64, sizeof(k64)), NOT_ALLOWED);
    }

    relay_jwt_keys_free(keys);
    free(plain);

    /* a curve takes the one of its size */

    p384 = ec_jwk(CJOSE_JWK_EC_P_384, "p384");
    p521 = ec_jwk(CJOSE_JWK_EC_P_521, "p521");
    keys = keys_of(p384, p521);

    good(keys, sign_with(p384, "{\"alg\":\"ES384\",\"kid\":\"p384\"}", CLAIMS));
    good(keys, sign_with(p521, "{\"alg\":\"ES512\",\"kid\":\"p521\"}", CLAIMS));
    bad(keys, sign_with(p384, "{\"alg\":\"ES256\",\"kid\":\"p384\"}", CLAIMS),
        NOT_ALLOWED);
    bad(keys, sign_with(p384, "{\"alg\":\"ES512\",\"kid\":\"p384\"}", CLAIMS),
        NOT_ALLOWED);
    bad(keys, sign_with(p521, "{\"alg\":\"ES256\",\"kid\":\"p521\"}", CLAIMS),
        NOT_ALLOWED);
    bad(keys, sign_with(p384, "{\"alg\":\"ES384\",\"kid\":\"p521\"}", CLAIMS),
        NOT_ALLOWED);

    /* without a kid the one key that fits is taken */

    good(keys, sign_with(p384, "{\"alg\":\"ES384\"}", CLAIMS));
    bad(keys, sign_with(p384, "{\"alg\":\"ES256\"}", CLAIMS), NONE);

    relay_jwt_keys_free(keys);
    free(p384);
    free(p521);

    keys = keys_of(ec, NULL);
    good(keys, sign_with(ec, "{\"alg\":\"ES256\",\"kid\":\"e\"}", CLAIMS));
    bad(keys, sign_with(ec, "{\"alg\":\"ES384\",\"kid\":\"e\"}", CLAIMS),
        NOT_ALLOWED);
    bad(keys, sign_with(rsa, "{\"alg\":\"RS256\",\"kid\":\"e\"}", CLAIMS),
        NOT_ALLOWED);
    relay_jwt_keys_free(keys);

    /* an HMAC key is as long as the digest (RFC 7518 3.2) */

    memset(k64, 7, sizeof(k64));

    for (i = 0; i < 3; i++) {

        static const size_t  sizes[] = { 32, 48, 64 };
        static const char   *mds[] = { "SHA256", "SHA384", "SHA512" };

        char  jwk[200];

        plain = encode(k64, sizes[i]);
        snprintf(jwk, sizeof(jwk),
                 "{\"kty\":\"oct\",\"kid\":\"o\",\"k\":\"%s\"}", plain);
        free(plain);
        keys = keys_of(jwk, NULL);

        for (n = 0; n < 3; n++) {
            snprintf(h, sizeof(h), "{\"alg\":\"%s\",\"kid\":\"o\"}",
                     algs[9 + n]);
            header = hmac_raw(h, strlen(h), CLAIMS, strlen(CLAIMS), k64,
                              sizes[i], mds[n]);

            if (n <= i) {
                good(keys, header);

            } else {
                bad(keys, header, NOT_ALLOWED);
            }
        }

        relay_jwt_keys_free(keys);
    }
}


static void
test_none(void **state)
{
    char               h[100], *z;
    size_t             i;
    relay_jwt_keys_t  *keys;

    static const char  *names[] = {
        "none", "None", "NONE", "nOnE", "none ", " none", "\\u006eone",
        "n\\u006fne", "", "null", "RS256 ", "rs256", "Rs256", "hs256",
        "HS256\\n", "RS1", "HS1", "ES256K", "EdDSA", "A128KW", "RSA-OAEP",
        "dir", "PBES2-HS256+A128KW", "RS256,none"
    };

    keys = keys_of(rsa, OCT);

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {

        snprintf(h, sizeof(h), "{\"alg\":\"%s\"}", names[i]);
        bad(keys, forge(h, CLAIMS, "x", 1), NONE);

        snprintf(h, sizeof(h), "{\"alg\":\"%s\",\"kid\":\"r\"}", names[i]);
        bad(keys, forge(h, CLAIMS, "x", 1), NOT_ALLOWED);

        /* an empty signature, as RFC 7518 3.6 has it */

        z = forge(h, CLAIMS, "", 0);
        assert_int_equal(z[strlen(z) - 1], '.');
        bad(keys, z, MALFORMED);
    }

    relay_jwt_keys_free(keys);

    /* no alg, an alg that is no string, a NUL in it */

    header_bad("{\"kid\":\"o\"}", "token has no alg");
    header_bad("{\"alg\":null,\"kid\":\"o\"}", "token has no alg");
    header_bad("{\"alg\":256,\"kid\":\"o\"}", "token has no alg");
    header_bad("{\"alg\":[\"HS256\"],\"kid\":\"o\"}", "token has no alg");
    header_bad("{\"ALG\":\"HS256\",\"kid\":\"o\"}", "token has no alg");
    header_bad("{\"alg\":\"HS256\\u0000\",\"kid\":\"o\"}", BAD_HEADER);
    header_good("{\"alg\":\"\\u0048S256\",\"kid\":\"o\"}");
}


static EVP_PKEY *
rsa_pkey(const char *jwk, unsigned char *n, size_t *n_len)
{
    size_t           len;
    json_t          *j;
    BIGNUM          *bn, *be;
    EVP_PKEY        *pkey;
    OSSL_PARAM      *params;
    relay_str_t      s;
    EVP_PKEY_CTX    *ctx;
    OSSL_PARAM_BLD  *bld;

    j = json_loads(jwk, 0, NULL);
    assert_non_null(j);
    s = str(json_string_value(json_object_get(j, "n")));
    len = 512;
    assert_int_equal(relay_base64url_decode(&s, n, &len), RELAY_OK);
    *n_len = len;
    json_decref(j);

    bn = BN_bin2bn(n, (int) len, NULL);
    be = BN_new();
    BN_set_word(be, 65537);
    bld = OSSL_PARAM_BLD_new();
    OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_N, bn);
    OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_E, be);
    params = OSSL_PARAM_BLD_to_param(bld);
    ctx = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);

    pkey = NULL;
    assert_int_equal(EVP_PKEY_fromdata_init(ctx), 1);
    assert_int_equal(EVP_PKEY_fromdata(ctx, &pkey, EVP_PKEY_PUBLIC_KEY,
                                       params),
                     1);

    EVP_PKEY_CTX_free(ctx);
    OSSL_PARAM_free(params);
    OSSL_PARAM_BLD_free(bld);
    BN_free(bn);
    BN_free(be);

    return pkey;
}


/* HS256 with what everybody knows of an RSA key as the secret. */

static void
test_confusion(void **state)
{
    BIO                *bio;
    char               *pem, *public;
    size_t              i, n_len;
    long                pem_len;
    EVP_PKEY           *pkey;
    relay_buf_t         set;
    unsigned char      *der, *p, n[512];
    int                 der_len;
    relay_jwt_keys_t   *keys, *both;

    static const char  with_kid[] = "{\"alg\":\"HS256\",\"kid\":\"r\"}";
    static const char  without[] = "{\"alg\":\"HS256\"}";

    keys = keys_of(rsa, NULL);
    both = keys_of(rsa, OCT);

    pkey = rsa_pkey(rsa, n, &n_len);

    bio = BIO_new(BIO_s_mem());
    assert_int_equal(PEM_write_bio_PUBKEY(bio, pkey), 1);
    pem_len = BIO_get_mem_data(bio, &pem);

    der_len = i2d_PUBKEY(pkey, NULL);
    der = malloc((size_t) der_len);
    assert_non_null(der);
    p = der;
    assert_int_equal(i2d_PUBKEY(pkey, &p), der_len);

    relay_buf_init(&set, 65536);
    assert_int_equal(relay_jwt_public(keys, &set), RELAY_OK);
    relay_buf_append_c(&set, '\0');
    public = (char *) set.data;

    {
        const struct {
            const void  *data;
            size_t       len;
        } secrets[] = {
            { pem, (size_t) pem_len },
            { pem, (size_t) pem_len - 1 },
            { der, (size_t) der_len },
            { public, strlen(public) },
            { public + 9, strlen(public) - 11 },
            { n, n_len },
            { "\x01\x00\x01", 3 },
            { "", 0 }
        };

        for (i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {

            bad(keys, hmac_raw(with_kid, sizeof(with_kid) - 1, CLAIMS,
                               sizeof(CLAIMS) - 1, secrets[i].data,
                               secrets[i].len, "SHA256"),
                NOT_ALLOWED);

            bad(keys, hmac_raw(without, sizeof(without) - 1, CLAIMS,
                               sizeof(CLAIMS) - 1, secrets[i].data,
                               secrets[i].len, "SHA256"),
                NONE);

            /* with a symmetric key in the set it is that one's turn */

            bad(both, hmac_raw(without, sizeof(without) - 1, CLAIMS,
                               sizeof(CLAIMS) - 1, secrets[i].data,
                               secrets[i].len, "SHA256"),
                NO_MATCH);
        }
    }

    EVP_PKEY_free(pkey);
    BIO_free(bio);
    free(der);
    relay_buf_free(&set);
    relay_jwt_keys_free(keys);
    relay_jwt_keys_free(both);
}


static void
test_embedded_keys(void **state)
{
    json_t             *h, *jwk;
    char               *header, *public;
    relay_jwt_keys_t   *keys;

    keys = keys_of(ec, NULL);

    /* another key's signature, its key in the header, our kid */

    public = jwk_with(other_ec, "d", NULL);
    jwk = json_loads(public, 0, NULL);
    free(public);

    h = json_pack("{s:s, s:s, s:O}", "alg", "ES256", "kid", "e", "jwk", jwk);
    assert_non_null(h);
    header = json_dumps(h, 0);
    bad(keys, sign_with(other_ec, header, CLAIMS), NO_MATCH);

    /* ignored, not refused, where the signature is ours */

    good(keys, sign_with(ec, header, CLAIMS));

    free(header);
    json_decref(h);

    h = json_pack("{s:s, s:O}", "alg", "ES256", "jwk", jwk);
    header = json_dumps(h, 0);
    bad(keys, sign_with(other_ec, header, CLAIMS), NO_MATCH);
    free(header);
    json_decref(h);
    json_decref(jwk);

    bad(keys, sign_with(other_ec, "{\"alg\":\"ES256\",\"kid\":\"e\","
                        "\"jku\":\"https://evil.example/keys\","
                        "\"x5u\":\"https://evil.example/cert\","
                        "\"x5c\":[\"MIIB\"]}", CLAIMS),
        NO_MATCH);

    good(keys, sign_with(ec, "{\"alg\":\"ES256\",\"kid\":\"e\","
                         "\"jku\":\"https://evil.example/keys\","
                         "\"x5u\":\"https://evil.example/cert\","
                         "\"x5c\":[\"MIIB\"]}", CLAIMS));

    relay_jwt_keys_free(keys);

    keys = keys_of(rsa, NULL);
    bad(keys, sign_with(other_rsa, "{\"alg\":\"RS256\",\"kid\":\"r\"}",
                        CLAIMS),
        NO_MATCH);
    bad(keys, sign_with(other_rsa, "{\"alg\":\"RS256\"}", CLAIMS), NO_MATCH);
    good(keys, sign_with(rsa, "{\"alg\":\"RS256\"}", CLAIMS));
    relay_jwt_keys_free(keys);
}


static void
test_kid(void **state)
{
    char               kid[RELAY_JWT_MAX], h[RELAY_JWT_MAX + 64], *z;
    size_t             i;
    relay_jwt_keys_t  *keys;

    static const char  *unknown[] = {
        "x", "O", "oo", "o ", "../../etc/passwd", "o' OR '1'='1",
        "https://evil.example/key", "/dev/null", "o\\\"", "%00"
    };

    static const char  *malformed[] = {
        "\"\"", "\"o\\n\"", "\"\\u00e9\"", "\"\\u007f\"", "null", "1",
        "[\"o\"]", "{}", "true"
    };

    for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        snprintf(h, sizeof(h), "{\"alg\":\"HS256\",\"kid\":\"%s\"}",
                 unknown[i]);
        header_bad(h, "token's kid is unknown");
    }

    for (i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
        snprintf(h, sizeof(h), "{\"alg\":\"HS256\",\"kid\":%s}",
                 malformed[i]);
        header_bad(h, "token's kid is malformed");
    }

    memset(kid, 'k', 129);
    kid[128] = '\0';
    snprintf(h, sizeof(h), "{\"alg\":\"HS256\",\"kid\":\"%s\"}", kid);
    header_bad(h, "token's kid is unknown");

    z = jwk_with(OCT, "kid", kid);
    keys = keys_of(z, NULL);
    good(keys, hmac(h, CLAIMS));
    relay_jwt_keys_free(keys);
    free(z);

    kid[128] = 'k';
    kid[129] = '\0';
    snprintf(h, sizeof(h), "{\"alg\":\"HS256\",\"kid\":\"%s\"}", kid);
    header_bad(h, "token's kid is malformed");

    header_bad("{\"alg\":\"HS256\",\"kid\":\"o\\u0000\"}", BAD_HEADER);

    /* no kid: one key that fits is enough, two are too many */

    header_good("{\"alg\":\"HS256\"}");

    z = jwk_with(OCT, "kid", "second");
    keys = keys_of(OCT, z);
    bad(keys, hmac("{\"alg\":\"HS256\"}", CLAIMS),
        "token has no kid, and several keys fit");
    good(keys, hmac("{\"alg\":\"HS256\",\"kid\":\"second\"}", CLAIMS));
    relay_jwt_keys_free(keys);
    free(z);

    keys = keys_of(rsa, OCT);
    good(keys, hmac("{\"alg\":\"HS256\"}", CLAIMS));
    relay_jwt_keys_free(keys);

    /* a key without a kid is not found under any */

    z = jwk_with(OCT, "kid", NULL);
    keys = keys_of(z, NULL);
    good(keys, hmac("{\"alg\":\"HS256\"}", CLAIMS));
    bad(keys, hmac(HS256, CLAIMS), "token's kid is unknown");
    relay_jwt_keys_free(keys);
    free(z);
}


static void
test_header(void **state)
{
    relay_jwt_policy_t  saved;

    header_good(HS256);
    header_good("{\"alg\":\"HS256\",\"kid\":\"o\",\"typ\":\"JWT\"}");
    header_good("{\"alg\":\"HS256\",\"kid\":\"o\",\"x\":{\"y\":[1,2]}}");

    /* extensions that must be understood */

    header_bad("{\"alg\":\"HS256\",\"kid\":\"o\",\"crit\":[\"exp\"],"
               "\"exp\":1}", "token has a critical extension");
    header_bad("{\"alg\":\"HS256\",\"kid\":\"o\",\"crit\":[]}",
               "token has a critical extension");
    header_bad("{\"alg\":\"HS256\",\"kid\":\"o\",\"crit\":null}",
               "token has a critical extension");
    header_bad("{\"alg\":\"HS256\",\"kid\":\"o\",\"crit\":[\"b64\"],"
               "\"b64\":false}", "token has a critical extension");

    /* duplicates, in any spelling */

    header_bad("{\"alg\":\"none\",\"alg\":\"HS256\",\"kid\":\"o\"}",
               BAD_HEADER);
    header_bad("{\"alg\":\"HS256\",\"kid\":\"x\",\"kid\":\"o\"}", BAD_HEADER);
    header_bad("{\"alg\":\"HS256\",\"k\\u0069d\":\"x\",\"kid\":\"o\"}",
               BAD_HEADER);
    header_bad("{\"alg\":\"HS256\",\"kid\":\"o\",\"x\":{\"y\":1,\"y\":2}}",
               BAD_HEADER);

    /* no object, no JSON, more than JSON, not UTF-8 */

    header_bad("[]", BAD_HEADER);
    header_bad("\"HS256\"", BAD_HEADER);
    header_bad("null", BAD_HEADER);
    header_bad("{", BAD_HEADER);
    header_bad(HS256 "x", BAD_HEADER);
    header_bad(HS256 HS256, BAD_HEADER);
    header_bad("\xef\xbb\xbf" HS256, BAD_HEADER);
    header_bad("{\"alg\":\"HS256\",\"kid\":\"o\",\"x\":\"\xff\"}", BAD_HEADER);
    header_bad("{\"alg\":\"HS256\",\"kid\":\"o\",}", BAD_HEADER);
    header_bad("{'alg':'HS256','kid':'o'}", BAD_HEADER);

    /* depth: 16, no more; brackets in strings do not count */

    header_good("{\"alg\":\"HS256\",\"kid\":\"o\",\"x\":"
                "[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]}");
    header_bad("{\"alg\":\"HS256\",\"kid\":\"o\",\"x\":"
               "[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]}", BAD_HEADER);
    header_good("{\"alg\":\"HS256\",\"kid\":\"o\",\"x\":"
                "\"\\\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\\\"}");

    /* typ, which a policy may ask for */

    header_bad("{\"alg\":\"HS256\",\"kid\":\"o\",\"typ\":1}",
               "token's typ is malformed");
    header_bad("{\"alg\":\"HS256\",\"kid\":\"o\",\"typ\":null}",
               "token's typ is malformed");

    saved = policy;
    policy.typ = str("at+jwt");

#define typ(t)  "{\"alg\":\"HS256\",\"kid\":\"o\",\"typ\":\"" t "\"}"

    header_good(typ("at+jwt"));
    header_good(typ("AT+JWT"));
    header_good(typ("application/at+jwt"));
    header_good(typ("Application/AT+jwt"));
    header_bad(HS256, "token is of another typ");
    header_bad(typ("JWT"), "token is of another typ");
    header_bad(typ("at+jw"), "token is of another typ");
    header_bad(typ("at+jwtx"), "token is of another typ");
    header_bad(typ(""), "token is of another typ");
    header_bad(typ("application/"), "token is of another typ");
    header_bad(typ("application/application/at+jwt"),
               "token is of another typ");
    header_bad(typ("text/at+jwt"), "token is of another typ");

    policy.typ = str("application/at+jwt");
    header_good(typ("at+jwt"));
    header_bad(typ("JWT"), "token is of another typ");

    policy = saved;
}


static void
test_shape(void **state)
{
    char                *z, *t, *dot, *last;
    size_t               i, len;
    const char          *why;
    relay_jwt_keys_t    *keys;
    relay_jwt_claims_t   claims;

    keys = keys_of(OCT, NULL);

    bad(keys, strdup(""), MALFORMED);
    bad(keys, strdup("."), MALFORMED);
    bad(keys, strdup(".."), MALFORMED);
    bad(keys, strdup("..."), MALFORMED);
    bad(keys, strdup("x"), MALFORMED);
    bad(keys, strdup("e30.e30."), MALFORMED);
    bad(keys, strdup(".e30.AAAA"), MALFORMED);
    bad(keys, strdup("e30..AAAA"), MALFORMED);
    bad(keys, strdup("e30.e30"), MALFORMED);
    bad(keys, strdup("e30.e30.AAAA.AAAA"), MALFORMED);
    bad(keys, strdup("e30.AAAA.AAAA.AAAA.AAAA"), MALFORMED);
    bad(keys, strdup("e30.e30.AAAA"), "token has no alg");

    z = hmac(HS256, CLAIMS);
    dot = strchr(z, '.');
    last = strrchr(z, '.');

    /* cut short anywhere */

    for (i = 0; i < strlen(z); i++) {
        assert_int_equal(verify_len(keys, z, i, NOW, &claims, &why),
                         RELAY_DECLINED);
    }

    /* any byte changed: within the alphabet, and to what is not in it */

    t = strdup(z);

    for (i = 0; i < strlen(z); i++) {

        t[i] = z[i] == 'A' ? 'B' : 'A';
        assert_int_equal(verify_len(keys, t, strlen(t), NOW, &claims, &why),
                         RELAY_DECLINED);

        t[i] = '=';
        assert_int_equal(verify_len(keys, t, strlen(t), NOW, &claims, &why),
                         RELAY_DECLINED);

        t[i] = '\0';
        assert_int_equal(verify_len(keys, t, strlen(z), NOW, &claims, &why),
                         RELAY_DECLINED);

        t[i] = z[i];
    }

    free(t);

    /*
     * the same bytes spelled differently: 32 bytes leave two bits in the last
     * character, which are zero in a signature that is well-formed
     */

    t = strdup(z);
    len = strlen(t);
    assert_non_null(strchr("AEIMQUYcgkosw048", t[len - 1]));
    t[len - 1]++;
    bad(keys, t, MALFORMED);

    t = malloc(len + 2);
    sprintf(t, "%s=", z);
    bad(keys, t, MALFORMED);

    t = malloc(len + 2);
    sprintf(t, "%s\n", z);
    bad(keys, t, MALFORMED);

    t = malloc(len + 2);
    sprintf(t, " %s", z);
    bad(keys, t, MALFORMED);

    /* header and claims of two tokens, signature of one */

    t = malloc(2 * len);
    sprintf(t, "%.*s.%s%s", (int) (dot - z), z, "eyJzdWIiOiJ4In0", last);
    bad(keys, t, NO_MATCH);

    /* a signature shorter or longer than the digest, itself correct */

    t = strdup(z);
    t[last - z + 1 + 40] = '\0';
    bad(keys, t, WRONG_LENGTH);

    t = malloc(len + 100);
    sprintf(t, "%.*sAAAAAAAA%s", (int) (last - z + 1), z, last + 1);
    bad(keys, t, WRONG_LENGTH);

    free(z);

    /* the longest, and one byte more */

    t = malloc(RELAY_JWT_MAX + 2);
    assert_non_null(t);
    memset(t, 'A', RELAY_JWT_MAX + 1);
    t[RELAY_JWT_MAX] = '\0';
    bad(keys, t, MALFORMED);

    t = malloc(RELAY_JWT_MAX + 2);
    assert_non_null(t);
    memset(t, 'A', RELAY_JWT_MAX + 1);
    t[RELAY_JWT_MAX + 1] = '\0';
    bad(keys, t, "token is too long");

    relay_jwt_keys_free(keys);
}


static void
test_signature_lengths(void **state)
{
    char               *z, *sig, *dot;
    size_t              i, len;
    relay_str_t         s;
    unsigned char       raw[600], wide[600];
    relay_jwt_keys_t   *keys;

    /* an ECDSA signature with zero bytes before both halves */

    keys = keys_of(ec, NULL);
    z = sign_with(ec, "{\"alg\":\"ES256\",\"kid\":\"e\"}", CLAIMS);
    dot = strrchr(z, '.');
    s = str(dot + 1);
    len = sizeof(raw);
    assert_int_equal(relay_base64url_decode(&s, raw, &len), RELAY_OK);
    assert_int_equal(len, 64);
    *dot = '\0';

    for (i = 0; i < 4; i++) {
        memset(wide, 0, sizeof(wide));
        memcpy(wide + i, raw, 32);
        memcpy(wide + 32 + 2 * i, raw + 32, 32);
        sig = encode((char *) wide, 64 + 2 * i);
        dot = malloc(strlen(z) + strlen(sig) + 2);
        sprintf(dot, "%s.%s", z, sig);
        free(sig);

        if (i == 0) {
            good(keys, dot);

        } else {
            bad(keys, dot, WRONG_LENGTH);
        }
    }

    free(z);

    /* r and s of nothing */

    memset(wide, 0, sizeof(wide));
    bad(keys, forge("{\"alg\":\"ES256\",\"kid\":\"e\"}", CLAIMS, (char *) wide,
                    64),
        NO_MATCH);
    relay_jwt_keys_free(keys);

    keys = keys_of(rsa, NULL);

    for (i = 255; i <= 257; i++) {
        bad(keys, forge("{\"alg\":\"RS256\",\"kid\":\"r\"}", CLAIMS,
                        (char *) wide, i),
            i == 256 ? NO_MATCH : WRONG_LENGTH);
    }

    relay_jwt_keys_free(keys);

    z = jwk_with(rsa, "alg", NULL);
    keys = keys_of(z, NULL);
    free(z);

    bad(keys, forge("{\"alg\":\"PS256\",\"kid\":\"r\"}", CLAIMS, (char *) wide,
                    256),
        NO_MATCH);

    memset(wide, 0xff, sizeof(wide));
    bad(keys, forge("{\"alg\":\"PS256\",\"kid\":\"r\"}", CLAIMS, (char *) wide,
                    256),
        NO_MATCH);
    bad(keys, forge("{\"alg\":\"RS256\",\"kid\":\"r\"}", CLAIMS, (char *) wide,
                    256),
        NO_MATCH);
    relay_jwt_keys_free(keys);

    /* halves with a leading zero byte: one in 128 signatures has one */

    keys = keys_of(ec, NULL);

    for (i = 0; i < 400; i++) {
        good(keys, sign_with(ec, "{\"alg\":\"ES256\",\"kid\":\"e\"}", CLAIMS));
    }

    relay_jwt_keys_free(keys);
}


static void
test_issuer_and_audience(void **state)
{
    relay_str_t         two[2];
    relay_jwt_policy_t  saved;

#define with(iss, aud)                                                        \
    "{\"iss\":" iss ",\"sub\":\"s-1\",\"aud\":" aud ",\"exp\":1800000600}"

    claims_good(with("\"" ISS "\"", "\"" AUD "\""));
    claims_bad(with("\"" ISS "/\"", "\"" AUD "\""),
               "token is of another issuer");
    claims_bad(with("\"HTTPS://issuer.example\"", "\"" AUD "\""),
               "token is of another issuer");
    claims_bad(with("\"\"", "\"" AUD "\""), "token is of another issuer");
    claims_bad(with("null", "\"" AUD "\""), "token has no iss");
    claims_bad(with("[\"" ISS "\"]", "\"" AUD "\""), "token has no iss");
    claims_bad("{\"sub\":\"s-1\",\"aud\":\"" AUD "\",\"exp\":1800000600}",
               "token has no iss");

    claims_good(with("\"" ISS "\"", "[\"" AUD "\"]"));
    claims_good(with("\"" ISS "\"", "[\"x\",\"" AUD "\",\"y\"]"));

    claims_bad(with("\"" ISS "\"", "\"https://other.example\""),
               "token is for another audience");
    claims_bad(with("\"" ISS "\"", "\"" AUD "/\""),
               "token is for another audience");
    claims_bad(with("\"" ISS "\"", "\"" AUD " x\""),
               "token is for another audience");
    claims_bad(with("\"" ISS "\"", "\"\""), "token is for another audience");
    claims_bad(with("\"" ISS "\"", "[]"), "token is for another audience");
    claims_bad(with("\"" ISS "\"", "[\"x\",\"y\"]"),
               "token is for another audience");
    claims_bad(with("\"" ISS "\"", "null"), "token's aud is malformed");
    claims_bad(with("\"" ISS "\"", "1"), "token's aud is malformed");
    claims_bad(with("\"" ISS "\"", "{\"" AUD "\":1}"),
               "token's aud is malformed");
    claims_bad(with("\"" ISS "\"", "[\"" AUD "\",1]"),
               "token's aud is malformed");
    claims_bad(with("\"" ISS "\"", "[[\"" AUD "\"]]"),
               "token's aud is malformed");
    claims_bad("{\"iss\":\"" ISS "\",\"sub\":\"s-1\",\"exp\":1800000600}",
               "token has no aud");

    saved = policy;

    two[0] = str("https://first.example");
    two[1] = str(AUD);
    policy.audiences = two;
    policy.naudiences = 2;
    claims_good(with("\"" ISS "\"", "\"" AUD "\""));
    claims_good(with("\"" ISS "\"", "\"https://first.example\""));

    /* a policy that names nothing lets nothing through */

    policy.naudiences = 0;
    claims_bad(with("\"" ISS "\"", "\"" AUD "\""),
               "token is for another audience");

    two[0].len = 0;
    policy.naudiences = 1;
    claims_bad(with("\"" ISS "\"", "\"\""), "token is for another audience");

    policy = saved;
    policy.issuer.len = 0;
    claims_bad(with("\"\"", "\"" AUD "\""), "token is of another issuer");

    policy = saved;
}


static int64_t
exp_of(const char *claims_json)
{
    char                *z;
    int64_t              exp;
    const char          *why;
    relay_jwt_keys_t    *keys;
    relay_jwt_claims_t   claims;

    keys = keys_of(OCT, NULL);
    z = hmac(HS256, claims_json);

    if (verify_len(keys, z, strlen(z), NOW, &claims, &why) != RELAY_OK) {
        fail_msg("%s: %s", why, claims_json);
    }

    exp = claims.exp;
    relay_jwt_claims_free(&claims);
    relay_jwt_keys_free(keys);
    free(z);

    return exp;
}


static void
test_times(void **state)
{
    relay_jwt_policy_t  saved;

    saved = policy;

#define times(t)  "{" HEAD "," t "}"

    assert_true(exp_of(times("\"exp\":1800000001")) == NOW + 1000);
    assert_true(exp_of(times("\"exp\":1800000000.001")) == NOW + 1);
    assert_true(exp_of(times("\"exp\":1.8000006e9")) == NOW + 600000);

    claims_bad(times("\"exp\":1800000000"), "token has expired");
    claims_bad(times("\"exp\":1799999999.999"), "token has expired");
    claims_bad(times("\"exp\":1"), "token has expired");
    claims_bad(times("\"iat\":1"), "token has no exp");

    /* neither "never" nor a wrap-around */

    claims_bad(times("\"exp\":0"), "token has expired");
    claims_bad(times("\"exp\":0.0"), "token has expired");
    claims_bad(times("\"exp\":-1"), "token has expired");
    claims_bad(times("\"exp\":-9223372036854775808"), "token has expired");
    claims_bad(times("\"exp\":-1e300"), "token has expired");
    claims_bad(times("\"exp\":0.0001"), "token has expired");

    assert_true(exp_of(times("\"exp\":9223372036854775807"))
                == INT64_C(253402300799000));
    assert_true(exp_of(times("\"exp\":9223372036854776"))
                == INT64_C(253402300799000));
    assert_true(exp_of(times("\"exp\":1e300")) == INT64_C(253402300799000));
    assert_true(exp_of(times("\"exp\":1e19")) == INT64_C(253402300799000));
    claims_bad(times("\"exp\":99999999999999999999"), BAD_CLAIMS);
    claims_bad(times("\"exp\":1e400"), BAD_CLAIMS);

    claims_bad(times("\"exp\":\"1800000600\""), BAD_DATE);
    claims_bad(times("\"exp\":null"), BAD_DATE);
    claims_bad(times("\"exp\":true"), BAD_DATE);
    claims_bad(times("\"exp\":[1800000600]"), BAD_DATE);

    /* nbf, and iat whose type alone matters */

    claims_good(times("\"exp\":1800000600,\"nbf\":1800000000"));
    claims_good(times("\"exp\":1800000600,\"nbf\":0"));
    claims_good(times("\"exp\":1800000600,\"nbf\":-5"));
    claims_bad(times("\"exp\":1800000600,\"nbf\":1800000001"),
               "token is not valid yet");
    claims_bad(times("\"exp\":1800000600,\"nbf\":1800000000.002"),
               "token is not valid yet");
    claims_bad(times("\"exp\":1800000600,\"nbf\":9223372036854775807"),
               "token is not valid yet");
    claims_bad(times("\"exp\":1800000600,\"nbf\":1e300"),
               "token is not valid yet");
    claims_bad(times("\"exp\":1800000600,\"nbf\":\"0\""), BAD_DATE);
    claims_bad(times("\"exp\":1800000600,\"nbf\":null"), BAD_DATE);
    claims_good(times("\"exp\":1800000600,\"iat\":1799999000.5"));
    claims_bad(times("\"exp\":1800000600,\"iat\":\"x\""), BAD_DATE);

    /* leeway on both */

    policy.leeway = 30000;
    claims_good(times("\"exp\":1799999971"));
    claims_bad(times("\"exp\":1799999970"), "token has expired");
    claims_bad(times("\"exp\":0"), "token has expired");
    claims_good(times("\"exp\":1800000600,\"nbf\":1800000030"));
    claims_bad(times("\"exp\":1800000600,\"nbf\":1800000031"),
               "token is not valid yet");

    /* also at a time that the leeway reaches back from */

    {
        char                *z;
        const char          *why;
        relay_jwt_keys_t    *keys;
        relay_jwt_claims_t   claims;

        keys = keys_of(OCT, NULL);
        z = hmac(HS256, times("\"exp\":0"));
        assert_int_equal(verify_len(keys, z, strlen(z), 1000, &claims, &why),
                         RELAY_DECLINED);
        assert_string_equal(why, "token has expired");
        relay_jwt_keys_free(keys);
        free(z);
    }

    policy = saved;
}


static void
test_claims(void **state)
{
    relay_jwt_keys_t  *keys;

    keys = keys_of(OCT, NULL);

#define EXP  "\"exp\":1800000600"
#define DUP  "{" HEAD "," EXP ","

    claims_bad(DUP "\"sub\":\"s-2\"}", BAD_CLAIMS);
    claims_bad(DUP "\"s\\u0075b\":\"s-2\"}", BAD_CLAIMS);
    claims_bad(DUP "\"exp\":1900000000}", BAD_CLAIMS);
    claims_bad(DUP "\"x\":{\"y\":1,\"y\":1}}", BAD_CLAIMS);
    claims_good(DUP "\"x\":{\"sub\":\"s-2\"},\"SUB\":\"s-3\"}");

    claims_bad("[" CLAIMS "]", BAD_CLAIMS);
    claims_bad("null", BAD_CLAIMS);
    claims_bad("Payload", BAD_CLAIMS);
    claims_bad(CLAIMS CLAIMS, BAD_CLAIMS);
    claims_bad(DUP "\"x\":NaN}", BAD_CLAIMS);
    claims_bad(DUP "\"x\":\"\xff\"}", BAD_CLAIMS);
    claims_bad(DUP "\"x\":\"\\ud800\"}", BAD_CLAIMS);

    bad(keys, hmac_raw(HS256, strlen(HS256), CLAIMS, sizeof(CLAIMS),
                       "\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17"
                       "\20\21\22\23\24\25\26\27\30\31\32\33\34\35\36\37",
                       32, "SHA256"),
        BAD_CLAIMS);

    claims_good(DUP "\"x\":[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]}");
    claims_bad(DUP "\"x\":[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]}", BAD_CLAIMS);

    /* sub */

#define SUB  "{\"iss\":\"" ISS "\",\"aud\":\"" AUD "\"," EXP

    claims_bad(SUB "}", "token has no sub");
    claims_bad(SUB ",\"sub\":null}", "token has no sub");
    claims_bad(SUB ",\"sub\":1}", "token has no sub");
    claims_bad(SUB ",\"sub\":[\"s-1\"]}", "token has no sub");
    claims_bad(SUB ",\"sub\":\"\"}", "identity has no subject");
    claims_bad(SUB ",\"sub\":\"a\\nb\"}",
               "subject has a control character or is not UTF-8");
    claims_bad(SUB ",\"sub\":\"s-1\\u0000\"}", BAD_CLAIMS);

    relay_jwt_keys_free(keys);
}


static void
identity_of(const char *members, relay_jwt_claims_t *claims)
{
    char              *z, json[2048];
    const char        *why;
    relay_jwt_keys_t  *keys;

    snprintf(json, sizeof(json), "{" HEAD "," EXP ",%s}", members);

    keys = keys_of(OCT, NULL);
    z = hmac(HS256, json);

    if (verify_len(keys, z, strlen(z), NOW, claims, &why) != RELAY_OK) {
        fail_msg("%s: %s", why, json);
    }

    relay_jwt_keys_free(keys);
    free(z);
}


static void
test_email(void **state)
{
    size_t               i;
    char                 m[200];
    relay_jwt_claims_t   claims;
    relay_jwt_policy_t   saved;

    static const char  *yes[] = { "true", "\"true\"", "\"\\u0074rue\"" };

    static const char  *no[] = {
        "false", "\"false\"", "\"True\"", "\"TRUE\"", "\"true \"", "\" true\"",
        "\"truee\"", "\"tru\"", "\"\"", "1", "\"1\"", "\"yes\"", "null",
        "[true]", "{\"true\":true}", "1.0"
    };

#define MAIL  "\"email\":\"maria@example.com\""

    for (i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        snprintf(m, sizeof(m), MAIL ",\"email_verified\":%s", yes[i]);
        identity_of(m, &claims);
        assert_int_equal(claims.identity.email_verified, 1);
        assert_true(relay_identity_confirmed(&claims.identity));
        relay_jwt_claims_free(&claims);
    }

    for (i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
        snprintf(m, sizeof(m), MAIL ",\"email_verified\":%s", no[i]);
        identity_of(m, &claims);
        assert_int_equal(claims.identity.email_verified, 0);
        assert_true(relay_str_is(&claims.identity.email,
                                 "maria@example.com"));
        assert_false(relay_identity_confirmed(&claims.identity));
        relay_jwt_claims_free(&claims);
    }

    identity_of(MAIL, &claims);
    assert_false(relay_identity_confirmed(&claims.identity));
    relay_jwt_claims_free(&claims);

    identity_of(MAIL ",\"Email_verified\":true", &claims);
    assert_false(relay_identity_confirmed(&claims.identity));
    relay_jwt_claims_free(&claims);

    /* an issuer that is not trusted for addresses */

    saved = policy;
    policy.email_trusted = 0;
    identity_of(MAIL ",\"email_verified\":true", &claims);
    assert_int_equal(claims.identity.email_verified, 1);
    assert_int_equal(claims.identity.email_trusted, 0);
    assert_false(relay_identity_confirmed(&claims.identity));
    relay_jwt_claims_free(&claims);
    policy = saved;

    /* none, or one that is no address */

    identity_of("\"email_verified\":true", &claims);
    assert_int_equal(claims.identity.email.len, 0);
    assert_false(relay_identity_confirmed(&claims.identity));
    relay_jwt_claims_free(&claims);

    identity_of("\"email\":null,\"email_verified\":true", &claims);
    assert_false(relay_identity_confirmed(&claims.identity));
    relay_jwt_claims_free(&claims);

    identity_of("\"email\":\"maria@a@b\",\"email_verified\":true", &claims);
    assert_int_equal(claims.identity.email.len, 0);
    assert_int_equal(claims.identity.email_verified, 0);
    relay_jwt_claims_free(&claims);

    claims_bad("{" HEAD "," EXP ",\"email\":[\"maria@example.com\"]}",
               "token's email is malformed");
    claims_bad("{" HEAD "," EXP ",\"email\":1}",
               "token's email is malformed");
    claims_bad("{" HEAD "," EXP "," MAIL ",\"email\":\"eve@example.com\"}",
               BAD_CLAIMS);
    claims_bad("{" HEAD "," EXP "," MAIL ",\"email_verified\":false,"
               "\"email_verified\":true}", BAD_CLAIMS);
}


static void
test_names(void **state)
{
    relay_jwt_claims_t  claims;

#define client_is(members, expected)                                          \
    identity_of(members, &claims);                                            \
    assert_true(relay_str_is(&claims.identity.client, expected));             \
    relay_jwt_claims_free(&claims)

    client_is("\"client_name\":\"N\",\"azp\":\"A\",\"client_id\":\"C\"", "N");
    client_is("\"azp\":\"A\",\"client_id\":\"C\"", "A");
    client_is("\"client_id\":\"C\"", "C");
    client_is("\"client_name\":\"\",\"azp\":1,\"client_id\":\"C\"", "C");
    identity_of("\"x\":1", &claims);
    assert_int_equal(claims.identity.client.len, 0);
    relay_jwt_claims_free(&claims);

    /* the claim that an operator names for isolation, and no other */

    identity_of("\"isolation\":\"manual_packet_only\"", &claims);
    assert_int_equal(claims.identity.isolation.len, 0);
    relay_jwt_claims_free(&claims);

    policy.isolation = "https://id.example/isolation";

    identity_of("\"https://id.example/isolation\":\"manual_packet_only\","
                "\"isolation\":\"subagent_no_fork\"", &claims);
    assert_true(relay_str_is(&claims.identity.isolation,
                             "manual_packet_only"));
    relay_jwt_claims_free(&claims);

    identity_of("\"https://id.example/isolation\":[\"manual_packet_only\"]",
                &claims);
    assert_int_equal(claims.identity.isolation.len, 0);
    relay_jwt_claims_free(&claims);

    identity_of("\"isolation\":\"manual_packet_only\"", &claims);
    assert_int_equal(claims.identity.isolation.len, 0);
    relay_jwt_claims_free(&claims);

    policy.isolation = NULL;

    identity_of("\"client_name\":\"a\\nb\"", &claims);
    assert_int_equal(claims.identity.client.len, 0);
    relay_jwt_claims_free(&claims);

    identity_of("\"name\":\"Maria\",\"client_id\":\"C\"," MAIL, &claims);
    assert_true(relay_str_is(&claims.identity.name, "Maria"));
    assert_true(relay_str_is(&claims.identity.client, "C"));
    assert_true(relay_str_is(&claims.identity.email, "maria@example.com"));
    assert_true(claims.nbf == 0);
    relay_jwt_claims_free(&claims);

    /* freed twice is freed once */

    relay_jwt_claims_free(&claims);

    identity_of("\"name\":[\"Maria\"]", &claims);
    assert_int_equal(claims.identity.name.len, 0);
    relay_jwt_claims_free(&claims);
}


static void
set_bad(const char *json, const char *reason)
{
    relay_str_t        s;
    relay_buf_t        err;

    relay_buf_init(&err, 1000);

    s = str(json);

    if (relay_jwt_keys_parse(&s, &err) != NULL) {
        fail_msg("accepted: %s", json);
    }

    relay_buf_append_c(&err, '\0');
    assert_non_null(strstr((char *) err.data, reason));
    assert_int_equal(ERR_peek_error(), 0);

    relay_buf_free(&err);
}


/* The set has this key and a usable one: it is passed over. */

static void
passed_over(const char *jwk)
{
    char              *z;
    size_t             len;
    relay_jwt_keys_t  *keys;

    len = strlen(jwk) + 32;
    z = malloc(len);
    assert_non_null(z);
    snprintf(z, len, "{\"keys\":[%s]}", jwk);
    set_bad(z, "no usable key");
    free(z);

    keys = keys_of(jwk, OCT);
    good(keys, hmac("{\"alg\":\"HS256\"}", CLAIMS));
    relay_jwt_keys_free(keys);
}


static void
passed_over_with(const char *jwk, const char *name, const char *value)
{
    char  *z;

    z = jwk_with(jwk, name, value);
    passed_over(z);
    free(z);
}


static void
usable_with(const char *jwk, const char *name, const char *value)
{
    char  *z;

    z = jwk_with(jwk, name, value);
    relay_jwt_keys_free(keys_of(z, NULL));
    free(z);
}


static void
test_sets(void **state)
{
    size_t             i;
    char              *z, *one, *tail;
    relay_jwt_keys_t  *keys;

    set_bad("", "empty");
    set_bad("x", "not valid JSON, line 1");
    set_bad("{\n\n\"keys\":[}", "not valid JSON, line 3");
    set_bad("{\"keys\":[" OCT "],\"keys\":[" OCT "]}", "not valid JSON");
    set_bad("[" OCT "]", "no \"keys\" array");
    set_bad(OCT, "no \"keys\" array");
    set_bad("{}", "no \"keys\" array");
    set_bad("{\"keys\":{}}", "no \"keys\" array");
    set_bad("{\"keys\":" OCT "}", "no \"keys\" array");
    set_bad("{\"keys\":[]}", "no usable key");
    set_bad("{\"keys\":[1,null,\"x\",[]]}", "no usable key");
    set_bad("{\"keys\":[" OCT "," OCT "]}", "two keys with \"kid\" \"o\"");
    set_bad("{\"keys\":[{\"kty\":\"oct\",\"k\":\"" OCT_K "\",\"k\":\"" OCT_K
            "\"}]}", "not valid JSON");

    /* what is wrong is told without a byte of the set */

    {
        relay_str_t  s;
        relay_buf_t  err;

        relay_buf_init(&err, 1000);
        s = str("{\"keys\":[{\"kty\":\"oct\",\"k\":\"" OCT_K "\" x}]}");
        assert_null(relay_jwt_keys_parse(&s, &err));
        relay_buf_append_c(&err, '\0');
        assert_null(strstr((char *) err.data, "AAECAw"));
        relay_buf_free(&err);
    }

    /* two keys without a kid are no duplicates */

    one = jwk_with(OCT, "kid", NULL);
    relay_jwt_keys_free(keys_of(one, one));

    /* 64 keys, no more */

    z = malloc(70 * (strlen(one) + 1) + 32);
    assert_non_null(z);
    tail = z + sprintf(z, "{\"keys\":[%s", one);

    for (i = 1; i < 64; i++) {
        tail += sprintf(tail, ",%s", one);
    }

    strcpy(tail, "]}");

    {
        relay_str_t  s;
        relay_buf_t  err;

        relay_buf_init(&err, 1000);
        s = str(z);
        keys = relay_jwt_keys_parse(&s, &err);
        assert_non_null(keys);
        bad(keys, hmac("{\"alg\":\"HS256\"}", CLAIMS),
            "token has no kid, and several keys fit");
        relay_jwt_keys_free(keys);
        relay_buf_free(&err);
    }

    sprintf(tail, ",%s]}", one);
    set_bad(z, "more than 64 keys");
    free(z);
    free(one);

    /* 64 KiB, no more */

    z = malloc(65538);
    assert_non_null(z);
    memset(z, ' ', 65537);
    memcpy(z, "{\"keys\":[" OCT "]", sizeof("{\"keys\":[" OCT "]") - 1);
    z[65535] = '}';
    z[65536] = '\0';

    {
        relay_str_t  s;
        relay_buf_t  err;

        relay_buf_init(&err, 1000);
        s = str(z);
        keys = relay_jwt_keys_parse(&s, &err);
        assert_non_null(keys);
        relay_jwt_keys_free(keys);
        relay_buf_free(&err);
    }

    z[65535] = ' ';
    z[65536] = '}';
    z[65537] = '\0';
    set_bad(z, "larger than 65536 bytes");
    free(z);

    relay_jwt_keys_free(NULL);
}


static void
test_key_members(void **state)
{
    char    big[3000], *z, *w;
    size_t  i;

    /* type and use */

    passed_over("{}");
    passed_over("{\"kty\":1}");
    passed_over("{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"" OCT_K "\"}");
    passed_over("{\"kty\":\"OCT\",\"k\":\"" OCT_K "\"}");
    passed_over_with(rsa, "use", "enc");
    passed_over_with(rsa, "use", "SIG");
    passed_over_with(rsa, "alg", "RSA-OAEP");
    passed_over_with(rsa, "alg", "none");
    passed_over_with(rsa, "alg", "HS256");
    passed_over_with(rsa, "alg", "ES256");
    passed_over_with(ec, "alg", "ES384");
    passed_over_with(ec, "alg", "RS256");
    passed_over_with(OCT, "alg", "HS512");
    passed_over_with(OCT, "alg", "RS256");
    passed_over("{\"kty\":\"oct\",\"alg\":1,\"k\":\"" OCT_K "\"}");
    passed_over("{\"kty\":\"oct\",\"use\":1,\"k\":\"" OCT_K "\"}");
    passed_over("{\"kty\":\"oct\",\"key_ops\":[\"encrypt\"],\"k\":\"" OCT_K
                "\"}");
    passed_over("{\"kty\":\"oct\",\"key_ops\":[],\"k\":\"" OCT_K "\"}");
    passed_over("{\"kty\":\"oct\",\"key_ops\":\"verify\",\"k\":\"" OCT_K
                "\"}");
    passed_over("{\"kty\":\"oct\",\"kid\":1,\"k\":\"" OCT_K "\"}");
    passed_over("{\"kty\":\"oct\",\"kid\":\"\",\"k\":\"" OCT_K "\"}");
    passed_over("{\"kty\":\"oct\",\"kid\":\"a\\nb\",\"k\":\"" OCT_K "\"}");

    memset(big, 'k', 129);
    big[129] = '\0';
    passed_over_with(OCT, "kid", big);
    big[128] = '\0';
    usable_with(OCT, "kid", big);

    usable_with(rsa, "use", "sig");
    usable_with(rsa, "use", NULL);
    usable_with(OCT, "alg", "HS256");
    relay_jwt_keys_free(keys_of("{\"kty\":\"oct\",\"key_ops\":[\"sign\","
                                "\"verify\"],\"k\":\"" OCT_K "\"}", NULL));

    /* oct: 32 bytes, in base64url */

    passed_over("{\"kty\":\"oct\"}");
    passed_over("{\"kty\":\"oct\",\"k\":\"\"}");
    passed_over("{\"kty\":\"oct\",\"k\":1}");
    passed_over("{\"kty\":\"oct\",\"k\":\"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBka"
                "GxwdHg\"}");
    passed_over("{\"kty\":\"oct\",\"k\":\"" OCT_K "=\"}");
    passed_over("{\"kty\":\"oct\",\"k\":\"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBka"
                "Gxwd+/8\"}");

    memset(big, 'A', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    passed_over_with(OCT, "k", big);

    /* RSA: 2048 bits to 8192, an odd exponent of 3 or more */

    passed_over_with(rsa, "n", NULL);
    passed_over_with(rsa, "e", NULL);
    passed_over_with(rsa, "n", "");
    passed_over_with(rsa, "e", "");
    passed_over_with(rsa, "e", "AQ");
    passed_over_with(rsa, "e", "AAE");
    passed_over_with(rsa, "e", "AA");
    passed_over_with(rsa, "e", "AQAA");
    passed_over_with(rsa, "e", "AQAAAAAAAAAB");

#define MODULUS  "{\"kty\":\"RSA\",\"e\":\"AQAB\",\"n\":\"%s\"}"

    for (i = 0; i < 5; i++) {

        static const struct {
            size_t         len;
            unsigned char  first;
            unsigned char  last;
            unsigned       usable:1;
        } moduli[] = {
            { 256, 0x80, 0x01, 1 },
            { 256, 0x7f, 0x01, 0 },
            { 256, 0x80, 0x02, 0 },
            { 1024, 0xff, 0x01, 1 },
            { 1025, 0x01, 0x01, 0 }
        };

        memset(big, 0x55, sizeof(big));
        big[0] = (char) moduli[i].first;
        big[moduli[i].len - 1] = (char) moduli[i].last;

        z = encode(big, moduli[i].len);
        w = malloc(strlen(z) + 100);
        assert_non_null(w);
        sprintf(w, MODULUS, z);

        if (moduli[i].usable) {
            relay_jwt_keys_free(keys_of(w, NULL));

        } else {
            passed_over(w);
        }

        free(w);
        free(z);
    }

    memset(big, 0, 256);
    z = encode(big, 256);
    passed_over_with(rsa, "n", z);
    free(z);

    /* EC: a curve of ours, full coordinates, a point on it */

    passed_over_with(ec, "crv", NULL);
    passed_over_with(ec, "crv", "secp256k1");
    passed_over_with(ec, "crv", "P-384");
    passed_over_with(ec, "x", NULL);
    passed_over_with(ec, "y", NULL);
    passed_over_with(ec, "y", "AAECAw");
    z = jwk_with(ec, "d", NULL);
    passed_over_with(z, "x", OCT_K);
    passed_over_with(z, "y", OCT_K);
    passed_over_with(z, "y",
                     "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
    relay_jwt_keys_free(keys_of(z, NULL));
    free(z);
}


static void
issuer_is(const char *claims, const char *expected)
{
    char         *z;
    relay_str_t   s;
    relay_buf_t   b;

    relay_buf_init(&b, RELAY_ISSUER_MAX);

    z = forge("{}", claims, "x", 1);
    s = str(z);

    if (expected == NULL) {
        assert_int_equal(relay_jwt_issuer(&s, &b), RELAY_DECLINED);
        assert_int_equal(b.len, 0);

    } else {
        assert_int_equal(relay_jwt_issuer(&s, &b), RELAY_OK);
        assert_int_equal(b.len, strlen(expected));
        assert_memory_equal(b.data, expected, b.len);
    }

    relay_buf_free(&b);
    free(z);
}


static void
test_issuer(void **state)
{
    char          json[RELAY_ISSUER_MAX + 100], iss[RELAY_ISSUER_MAX + 2];
    relay_str_t   s;
    relay_buf_t   b;

    issuer_is(CLAIMS, ISS);
    issuer_is("{\"iss\":\"a\\u0062c\"}", "abc");
    issuer_is("{\"iss\":\"\"}", NULL);
    issuer_is("{\"iss\":1}", NULL);
    issuer_is("{\"iss\":[\"x\"]}", NULL);
    issuer_is("{}", NULL);
    issuer_is("[\"iss\"]", NULL);
    issuer_is("{\"iss\":\"a\",\"iss\":\"b\"}", NULL);
    issuer_is("{\"iss\":\"a\"", NULL);
    issuer_is("{\"iss\":\"a\",\"x\":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}", NULL);

    memset(iss, 'i', sizeof(iss));
    iss[RELAY_ISSUER_MAX] = '\0';
    snprintf(json, sizeof(json), "{\"iss\":\"%s\"}", iss);
    issuer_is(json, iss);

    iss[RELAY_ISSUER_MAX] = 'i';
    iss[RELAY_ISSUER_MAX + 1] = '\0';
    snprintf(json, sizeof(json), "{\"iss\":\"%s\"}", iss);
    issuer_is(json, NULL);

    relay_buf_init(&b, 10);
    s = str("e30.e30");
    assert_int_equal(relay_jwt_issuer(&s, &b), RELAY_DECLINED);
    s = str("");
    assert_int_equal(relay_jwt_issuer(&s, &b), RELAY_DECLINED);
    relay_buf_free(&b);
}


/* Private parts are told, of keys that are passed over as well. */

static void
test_private(void **state)
{
    size_t             i;
    relay_buf_t        b;
    relay_str_t        set;
    relay_jwt_keys_t  *keys, *public;

    static const struct {
        const char  *key;
        const char  *kid;
    } others[] = {
        { OCT, NULL },
        { "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"x\",\"x\":\"AA\","
          "\"d\":\"AA\"}", "x" },
        { "{\"kty\":\"RSA\",\"use\":\"enc\",\"n\":\"AA\",\"e\":\"AQAB\","
          "\"d\":\"AA\"}", "" },
        { "{\"kty\":\"EC\",\"kid\":\"\\n\",\"d\":1}", "" },
        { "{\"kty\":\"EC\",\"kid\":\"public\"}", NULL },
        { "7", NULL }
    };

    keys = keys_of(rsa, ec);
    assert_string_equal(relay_jwt_keys_private(keys), "r");
    assert_int_equal(relay_jwt_keys_count(keys), 2);

    relay_buf_init(&b, 65536);
    assert_int_equal(relay_jwt_public(keys, &b), RELAY_OK);
    relay_jwt_keys_free(keys);

    relay_buf_str(&b, &set);
    public = relay_jwt_keys_parse(&set, &b);
    assert_non_null(public);
    assert_null(relay_jwt_keys_private(public));
    relay_jwt_keys_free(public);
    relay_buf_free(&b);

    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        keys = keys_of(others[i].key,
                       "{\"kty\":\"oct\",\"k\":\"" OCT_K "\"}");

        if (others[i].kid == NULL) {
            assert_null(relay_jwt_keys_private(keys));

        } else {
            assert_string_equal(relay_jwt_keys_private(keys), others[i].kid);
        }

        relay_jwt_keys_free(keys);
    }
}


static int
reset(void **state)
{
    memset(&policy, 0, sizeof(policy));
    policy.issuer = str(ISS);
    policy.audiences = &audience;
    policy.naudiences = 1;
    policy.email_trusted = 1;

    ERR_clear_error();

    return 0;
}


static int
setup(void **state)
{
    rsa = generate("RSA", "r");
    other_rsa = generate("RSA", "r");
    ec = generate("EC", "e");
    other_ec = generate("EC", "e");

    return 0;
}


static int
teardown(void **state)
{
    free(rsa);
    free(other_rsa);
    free(ec);
    free(other_ec);

    return 0;
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test_setup(test_sign_and_verify, reset),
        cmocka_unit_test_setup(test_sign_refused, reset),
        cmocka_unit_test_setup(test_rfc7515, reset),
        cmocka_unit_test_setup(test_algorithms, reset),
        cmocka_unit_test_setup(test_none, reset),
        cmocka_unit_test_setup(test_confusion, reset),
        cmocka_unit_test_setup(test_embedded_keys, reset),
        cmocka_unit_test_setup(test_kid, reset),
        cmocka_unit_test_setup(test_header, reset),
        cmocka_unit_test_setup(test_shape, reset),
        cmocka_unit_test_setup(test_signature_lengths, reset),
        cmocka_unit_test_setup(test_issuer_and_audience, reset),
        cmocka_unit_test_setup(test_times, reset),
        cmocka_unit_test_setup(test_claims, reset),
        cmocka_unit_test_setup(test_email, reset),
        cmocka_unit_test_setup(test_names, reset),
        cmocka_unit_test_setup(test_sets, reset),
        cmocka_unit_test_setup(test_key_members, reset),
        cmocka_unit_test_setup(test_private, reset),
        cmocka_unit_test_setup(test_issuer, reset)
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
