
/*
 * relay_link: the grammar of link tokens, minting, digests.
 */

#ifndef _RELAY_LINK_H_INCLUDED_
#define _RELAY_LINK_H_INCLUDED_


#include "relay.h"


/*
 * A link token is RELAY_TOKEN_MIN to RELAY_TOKEN_MAX bytes of the base64url
 * alphabet (A-Z a-z 0-9 - _): at least 128 bits.  RELAY_OK or RELAY_DECLINED.
 */
relay_int_t relay_link_parse(const relay_str_t *token);

/*
 * Makes a token of 32 random bytes (base64url, 43 bytes) that the caller took
 * from the system's generator.
 */
void relay_link_mint(const unsigned char random[32],
    unsigned char token[RELAY_DIGEST_LEN]);

/* H(x): base64url(SHA-256(x)) without padding. */
void relay_digest(const relay_str_t *in, unsigned char out[RELAY_DIGEST_LEN]);

/* base64url (RFC 4648 5) without padding; out has room for 4 * len / 3 + 3. */
size_t relay_base64url_encode(const unsigned char *in, size_t len,
    unsigned char *out);

/*
 * Decodes base64url without padding; *len is room on entry, bytes on return.
 * RELAY_DECLINED for any byte outside of the alphabet, a wrong length, or
 * non-zero trailing bits.
 */
relay_int_t relay_base64url_decode(const relay_str_t *in, unsigned char *out,
    size_t *len);


#endif /* _RELAY_LINK_H_INCLUDED_ */
