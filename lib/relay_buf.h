
/*
 * relay_buf: a growable buffer that cannot be created without a maximum.
 */

#ifndef _RELAY_BUF_H_INCLUDED_
#define _RELAY_BUF_H_INCLUDED_


#include "relay.h"


typedef struct {
    unsigned char  *data;
    size_t          len;        /* bytes in use */
    size_t          size;       /* bytes allocated */
    size_t          max;        /* bytes beyond which an append fails */
    unsigned        failed:1;   /* an append failed; the content is unusable */
} relay_buf_t;


/* Prepares an empty buffer that never holds more than max bytes. */
void relay_buf_init(relay_buf_t *b, size_t max);

/* Frees the memory; the buffer is empty and reusable afterwards. */
void relay_buf_free(relay_buf_t *b);

/* Empties the buffer and keeps its memory. */
void relay_buf_reset(relay_buf_t *b);

/*
 * Appends.  RELAY_OK, or RELAY_ERROR when the maximum or memory is exceeded;
 * then b->failed is set and stays so until relay_buf_reset(): a sequence of
 * appends may be checked once, at its end.
 */
relay_int_t relay_buf_append(relay_buf_t *b, const void *data, size_t len);
relay_int_t relay_buf_append_str(relay_buf_t *b, const relay_str_t *s);
relay_int_t relay_buf_append_z(relay_buf_t *b, const char *s);
relay_int_t relay_buf_append_c(relay_buf_t *b, unsigned char c);
relay_int_t relay_buf_append_int(relay_buf_t *b, int64_t n);
relay_int_t relay_buf_printf(relay_buf_t *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Room for len more bytes at the end of the content, or NULL (b->failed is
 * set).  The caller writes there and adds what it wrote to b->len.
 */
unsigned char *relay_buf_reserve(relay_buf_t *b, size_t len);

/*
 * Appends s as a JSON string with its quotes.  Control characters (C1, too),
 * quote and backslash are escaped; bytes that are not UTF-8 become U+FFFD.
 */
relay_int_t relay_buf_append_json(relay_buf_t *b, const relay_str_t *s);

/*
 * The content as a string; valid until the next append.  Its data is never
 * NULL: a reader may add to it.
 */
#define relay_buf_str(b, s)                                                   \
    (s)->len = (b)->len;                                                      \
    (s)->data = (b)->data ? (b)->data : (unsigned char *) ""


#endif /* _RELAY_BUF_H_INCLUDED_ */
