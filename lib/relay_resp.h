
/*
 * relay_resp: the RESP2 codec: an argv formatter and a reader with a byte cap,
 * over hiredis's parser.  No caller sees a hiredis type.
 */

#ifndef _RELAY_RESP_H_INCLUDED_
#define _RELAY_RESP_H_INCLUDED_


#include "relay.h"
#include "relay_buf.h"


typedef enum {
    RELAY_RESP_NIL = 0,
    RELAY_RESP_INTEGER,
    RELAY_RESP_STATUS,
    RELAY_RESP_BULK,
    RELAY_RESP_ARRAY,
    RELAY_RESP_ERROR
} relay_resp_type_e;


typedef struct relay_resp_reply_s  relay_resp_reply_t;

struct relay_resp_reply_s {
    relay_resp_type_e     type;
    int64_t               integer;
    relay_str_t           str;      /* status, bulk, error; terminated by a
                                       NUL that is not counted */
    size_t                n;        /* elements of an array */
    relay_resp_reply_t  **elts;
};


typedef struct relay_resp_reader_s  relay_resp_reader_t;


/*
 * Appends one command of argc arguments.  RELAY_OK, or RELAY_ERROR when the
 * buffer's maximum would be exceeded; then nothing was appended to a buffer
 * that had room before.
 */
relay_int_t relay_resp_format(relay_buf_t *out, size_t argc,
    const relay_str_t *argv);

/*
 * A reader whose one reply may take max bytes on the wire.  NULL: no memory.
 */
relay_resp_reader_t *relay_resp_reader_create(size_t max);
void relay_resp_reader_free(relay_resp_reader_t *r);

/* Gives it len bytes.  RELAY_OK or RELAY_ERROR (no memory, over the cap). */
relay_int_t relay_resp_feed(relay_resp_reader_t *r, const void *data,
    size_t len);

/*
 * Takes the next whole reply.  RELAY_OK: *reply is owned by the caller and
 * freed with relay_resp_reply_free(); RELAY_AGAIN: not whole yet;
 * RELAY_DECLINED: not RESP2, or over the cap: *why is a sentence that lives as
 * long as the reader, which is then good for nothing but to be freed.
 */
relay_int_t relay_resp_next(relay_resp_reader_t *r, relay_resp_reply_t **reply,
    const char **why);
void relay_resp_reply_free(relay_resp_reply_t *reply);

/*
 * The value of a field in the reply to HGETALL; NULL when it is not there.
 */
const relay_str_t *relay_resp_field(const relay_resp_reply_t *hash,
    const char *name, size_t len);

/* Whether an error says that this user may not, or that there is no user. */
relay_uint_t relay_resp_denied(const relay_str_t *error);

/*
 * Writes an error as it may be logged or shown into buf: at most max bytes of
 * printable ASCII, with "?" for any other.  Gives their number.  A server or a
 * proxy that does not know AUTH repeats its arguments: where the text holds the
 * first 8 bytes of the secret (which may be empty: there is none), only the
 * text's first word is written.
 */
size_t relay_resp_error_text(const relay_str_t *error,
    const relay_str_t *secret, unsigned char *buf, size_t max);


#endif /* _RELAY_RESP_H_INCLUDED_ */
