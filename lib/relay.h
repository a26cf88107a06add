
/*
 * relay.h: result codes, strings, enumerations and limits of librelay.
 *
 * The only header that every other one includes.  Nothing in librelay knows a
 * descriptor, a clock or a global: bytes, limits and the time come in as
 * parameters, verdicts and bytes go out.
 */

#ifndef _RELAY_H_INCLUDED_
#define _RELAY_H_INCLUDED_


#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>


typedef intptr_t   relay_int_t;
typedef uintptr_t  relay_uint_t;


#define RELAY_OK         0      /* done */
#define RELAY_ERROR     -1      /* a failure of ours: memory, a library */
#define RELAY_AGAIN     -2      /* more input is needed */
#define RELAY_DECLINED  -5      /* the input is not acceptable; see reason */


/*
 * A counted string, not terminated; points into memory that somebody else
 * owns.  Its layout is that of nginx's own string, and the glue passes one for
 * the other: hence may_alias.
 */

typedef struct {
    size_t          len;
    unsigned char  *data;
} __attribute__((may_alias)) relay_str_t;


#define relay_string(s)       { sizeof(s) - 1, (unsigned char *) s }
#define relay_null_string     { 0, NULL }
#define relay_str_set(str, s)                                                 \
    (str)->len = sizeof(s) - 1; (str)->data = (unsigned char *) s
#define relay_str_is(str, s)                                                  \
    ((str)->len == sizeof(s) - 1                                              \
     && memcmp((str)->data, s, sizeof(s) - 1) == 0)
#define relay_str_eq(a, b)                                                    \
    ((a)->len == (b)->len                                                     \
     && ((a)->len == 0 || memcmp((a)->data, (b)->data, (a)->len) == 0))


/*
 * Views, widest first: of two views that disagree, the greater one holds.  The
 * responder's is the only one of a packet, all others but the owner's are a
 * package's: no document has both, and what leads from one kind to the other
 * leads to a view that the document does not have.
 */

typedef enum {
    RELAY_VIEW_NONE = 0,
    RELAY_VIEW_OWNER,
    RELAY_VIEW_RECIPIENT,
    RELAY_VIEW_LINK,
    RELAY_VIEW_PASS_ON,
    RELAY_VIEW_PREVIEW,
    RELAY_VIEW_RESPONDER,
    RELAY_VIEW_MAX
} relay_view_e;


/* permissions, lowest first: of two that disagree, the lesser one holds */

typedef enum {
    RELAY_PERMISSION_NONE = 0,
    RELAY_PERMISSION_READ,
    RELAY_PERMISSION_SUGGEST,
    RELAY_PERMISSION_EDIT
} relay_permission_e;


/* access, narrowest first */

typedef enum {
    RELAY_ACCESS_NONE = 0,
    RELAY_ACCESS_NAMED,
    RELAY_ACCESS_ANYONE
} relay_access_e;


typedef enum {
    RELAY_MODE_NONE = 0,
    RELAY_MODE_SNAPSHOT,
    RELAY_MODE_LIVE
} relay_mode_e;


typedef enum {
    RELAY_STATE_NONE = 0,
    RELAY_STATE_ACTIVE,
    RELAY_STATE_REVOKED
} relay_state_e;


/* limits; every untrusted input has one */

#define RELAY_ID_MAX             128    /* bytes in a relay's id */
#define RELAY_DIGEST_LEN         43     /* base64url(SHA-256), no padding */
#define RELAY_TOKEN_MIN          22     /* bytes of a link token: 128 bits */
#define RELAY_TOKEN_MAX          128
#define RELAY_EMAIL_MAX          254    /* RFC 5321 4.5.3.1.3, less <> */
#define RELAY_ISSUER_MAX         512
#define RELAY_SUBJECT_MAX        255    /* OpenID Connect Core 2 */
#define RELAY_NAME_MAX           256    /* a reader's name, cut beyond */
#define RELAY_JWT_MAX            16384  /* bytes of a compact JWS */
#define RELAY_KEY_MAX            512    /* bytes of a Redis key */
#define RELAY_PREFIX_MAX         128    /* bytes that all of them begin with */
#define RELAY_INTEGER_MAX        INT64_C(9007199254740991)  /* 2^53 - 1: what
                                           a script's double holds exactly */
#define RELAY_RECEIPT_MAX        8192   /* bytes of one encoded receipt */
#define RELAY_DOCUMENT_MAX       (8 * 1024 * 1024)


#endif /* _RELAY_H_INCLUDED_ */
