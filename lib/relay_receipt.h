
/*
 * relay_receipt: the canonical encoding of a receipt.
 */

#ifndef _RELAY_RECEIPT_H_INCLUDED_
#define _RELAY_RECEIPT_H_INCLUDED_


#include "relay.h"
#include "relay_buf.h"
#include "relay_grant.h"


typedef enum {
    RELAY_RECEIPT_READ = 0,     /* a document was served */
    RELAY_RECEIPT_PREVIEW,      /* the preview was served */
    RELAY_RECEIPT_ACCEPT,       /* a grant was made */
    RELAY_RECEIPT_DENIAL,
    RELAY_RECEIPT_UNDELIVERED,  /* outcome of an earlier one: it failed */
    RELAY_RECEIPT_ACT           /* publish, link, grant, revoke, ... */
} relay_receipt_kind_e;


typedef struct {
    relay_receipt_kind_e     kind;
    relay_str_t              id;        /* see relay_receipt_id() */
    int64_t                  time;      /* epoch ms */
    relay_str_t              relay;
    int64_t                  version;
    relay_str_t              link;      /* H(token), never the token */
    relay_str_t              grant;
    const relay_identity_t  *reader;    /* NULL: the operator */
    relay_view_e             view;
    relay_permission_e       permission;
    relay_str_t              channel;   /* "http", "mcp", "stream", "ctl" */
    relay_str_t              method;    /* HTTP method, MCP tool or act */
    relay_reason_e           reason;    /* UNDECIDED: left out */
    relay_uint_t             status;    /* HTTP, 0: left out */
    int64_t                  bytes;     /* of the body, -1: unknown */
    relay_str_t              digest;    /* H(body), empty: unknown */
    int64_t                  withheld;  /* members left out, -1: unknown */
    uint32_t                 safety;    /* RELAY_SAFETY_... kinds in it */
    relay_str_t              rule;      /* why a document was withheld: the
                                           rule that refuses it ("P17") */
    relay_str_t              pointer;   /* and where: a JSON pointer */
    int64_t                  offset;    /* in bytes, -1: unknown */
    int64_t                  count;     /* aggregated denials, 0: one */
    relay_str_t              of;        /* UNDELIVERED: the id it is about */
    relay_str_t              ip;        /* only with relay_receipt_ip on */
    unsigned                 rebound:1;
} relay_receipt_t;


/*
 * Appends the receipt as one JSON object without spaces, members in fixed
 * order, absent ones left out; no newline.  RELAY_ERROR: it would exceed
 * RELAY_RECEIPT_MAX or the buffer's maximum.
 */
relay_int_t relay_receipt_encode(const relay_receipt_t *r, relay_buf_t *out);

/*
 * Appends an id: "<process>-<seq>", where process names the edge, boot, start
 * and pid and is at most 128 bytes of the id alphabet.
 */
relay_int_t relay_receipt_id(const relay_str_t *process, uint64_t seq,
    relay_buf_t *out);

const relay_str_t *relay_receipt_kind_name(relay_receipt_kind_e kind);


#endif /* _RELAY_RECEIPT_H_INCLUDED_ */
