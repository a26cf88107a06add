
/*
 * relay_link: the grammar of link tokens, minting, digests.
 */

#include <openssl/sha.h>

#include "relay_link.h"


static const char  relay_base64url[64] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";


/* The value of a byte of the alphabet, or -1. */

static int
relay_base64url_value(unsigned char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }

    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }

    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }

    if (c == '-') {
        return 62;
    }

    if (c == '_') {
        return 63;
    }

    return -1;
}


relay_int_t
relay_link_parse(const relay_str_t *token)
{
    size_t  i;

    if (token->len < RELAY_TOKEN_MIN || token->len > RELAY_TOKEN_MAX) {
        return RELAY_DECLINED;
    }

    for (i = 0; i < token->len; i++) {
        if (relay_base64url_value(token->data[i]) == -1) {
            return RELAY_DECLINED;
        }
    }

    return RELAY_OK;
}


void
relay_link_mint(const unsigned char random[32],
    unsigned char token[RELAY_DIGEST_LEN])
{
    (void) relay_base64url_encode(random, 32, token);
}


void
relay_digest(const relay_str_t *in, unsigned char out[RELAY_DIGEST_LEN])
{
    unsigned char  md[SHA256_DIGEST_LENGTH];

    (void) SHA256(in->len ? in->data : (const unsigned char *) "", in->len, md);
    (void) relay_base64url_encode(md, sizeof(md), out);
}


size_t
relay_base64url_encode(const unsigned char *in, size_t len, unsigned char *out)
{
    unsigned char  *p;

    p = out;

    while (len >= 3) {
        *p++ = relay_base64url[in[0] >> 2];
        *p++ = relay_base64url[(in[0] & 0x03) << 4 | in[1] >> 4];
        *p++ = relay_base64url[(in[1] & 0x0f) << 2 | in[2] >> 6];
        *p++ = relay_base64url[in[2] & 0x3f];

        in += 3;
        len -= 3;
    }

    if (len) {
        *p++ = relay_base64url[in[0] >> 2];

        if (len == 1) {
            *p++ = relay_base64url[(in[0] & 0x03) << 4];

        } else {
            *p++ = relay_base64url[(in[0] & 0x03) << 4 | in[1] >> 4];
            *p++ = relay_base64url[(in[1] & 0x0f) << 2];
        }
    }

    return p - out;
}


relay_int_t
relay_base64url_decode(const relay_str_t *in, unsigned char *out, size_t *len)
{
    int             v;
    size_t          i, n;
    uint32_t        acc, bits;
    unsigned char  *p;

    if (in->len % 4 == 1) {
        return RELAY_DECLINED;
    }

    n = in->len / 4 * 3 + (in->len % 4 ? in->len % 4 - 1 : 0);

    if (n > *len) {
        return RELAY_DECLINED;
    }

    p = out;
    acc = 0;
    bits = 0;

    for (i = 0; i < in->len; i++) {

        v = relay_base64url_value(in->data[i]);
        if (v == -1) {
            return RELAY_DECLINED;
        }

        acc = acc << 6 | (uint32_t) v;
        bits += 6;

        if (bits >= 8) {
            bits -= 8;
            *p++ = (unsigned char) (acc >> bits);
            acc &= (1U << bits) - 1;
        }
    }

    /* one byte string has one encoding only */

    if (acc != 0) {
        return RELAY_DECLINED;
    }

    *len = n;

    return RELAY_OK;
}
