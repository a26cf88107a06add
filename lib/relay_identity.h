
/*
 * relay_identity: who a reader is, and whether two addresses are the same.
 */

#ifndef _RELAY_IDENTITY_H_INCLUDED_
#define _RELAY_IDENTITY_H_INCLUDED_


#include "relay.h"
#include "relay_buf.h"


typedef struct {
    relay_str_t  issuer;
    relay_str_t  subject;
    relay_str_t  email;             /* as the issuer wrote it; may be empty */
    relay_str_t  name;
    relay_str_t  client;            /* client name, for the receipt */
    relay_str_t  isolation;         /* how the caller is isolated, by its token;
                                       empty: nobody says so */
    unsigned     email_verified:1;  /* the issuer says so: true or "true" */
    unsigned     email_trusted:1;   /* the operator trusts this issuer for
                                       addresses */
    unsigned     ambient:1;         /* came with the browser (a cookie, another
                                       module), not with a bearer token */
} relay_identity_t;


/*
 * Checks issuer, subject and address: lengths, no control characters, a subject
 * present.  An address that is no address (see below) is emptied, not refused.
 * RELAY_OK; RELAY_DECLINED with *why, a static sentence.
 */
relay_int_t relay_identity_check(relay_identity_t *id, const char **why);

/*
 * Normalises an address: surrounding ASCII spaces cut, ASCII letters folded to
 * lower case, nothing else (no Unicode folding, no dot or plus tricks).  One
 * "@", local part of 1 to 64 bytes, domain in A-labels (RFC 5890: ASCII
 * letters, digits, hyphens, dots).  A non-ASCII byte in the domain, a control
 * character or a space anywhere is refused; a non-ASCII local part is kept and
 * compared byte for byte.  out has room for RELAY_EMAIL_MAX bytes; *len is set.
 * RELAY_OK or RELAY_DECLINED.
 */
relay_int_t relay_email_normalize(const relay_str_t *in, unsigned char *out,
    size_t *len);

/* Whether both are addresses and the same one. */
relay_uint_t relay_email_equal(const relay_str_t *a, const relay_str_t *b);

/* The part after the "@" of a normalised address. */
void relay_email_domain(const relay_str_t *email, relay_str_t *domain);

/* Whether the reader's address counts: verified and from a trusted issuer. */
#define relay_identity_confirmed(id)                                          \
    ((id)->email.len && (id)->email_verified && (id)->email_trusted)

/*
 * Reader keys: "mailto:<normalised address>" and "<iss>\n<sub>".  Appended to
 * out.  RELAY_DECLINED: no usable address, or a control character.
 */
relay_int_t relay_reader_key_email(const relay_str_t *email, relay_buf_t *out);
relay_int_t relay_reader_key_subject(const relay_str_t *issuer,
    const relay_str_t *subject, relay_buf_t *out);


#endif /* _RELAY_IDENTITY_H_INCLUDED_ */
