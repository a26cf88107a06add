
/*
 * relay_json: a strict one-pass tokenizer (RFC 8259) that writes a flat tape
 * over the caller's bytes.  It copies nothing, does not recurse, and allocates
 * only the tape, which is reused from document to document.
 */

#ifndef _RELAY_JSON_H_INCLUDED_
#define _RELAY_JSON_H_INCLUDED_


#include "relay.h"
#include "relay_buf.h"


typedef enum {
    RELAY_JSON_NULL = 0,
    RELAY_JSON_FALSE,
    RELAY_JSON_TRUE,
    RELAY_JSON_NUMBER,
    RELAY_JSON_STRING,
    RELAY_JSON_ARRAY,
    RELAY_JSON_OBJECT,
    RELAY_JSON_KEY              /* a member's name; its value is next */
} relay_json_type_e;


/*
 * One node.  The tape is in document order: an object is followed by
 * KEY, value, KEY, value ..., an array by its values.
 */

typedef struct {
    uint32_t  off;          /* first byte in the document (quote included) */
    uint32_t  len;          /* bytes in the document (quotes included) */
    uint32_t  next;         /* container, scalar: index of the node after it;
                               KEY: hash of the unescaped name */
    uint32_t  type:4;       /* relay_json_type_e */
    uint32_t  escaped:1;    /* string or key: a backslash occurs in it */
    uint32_t  count:27;     /* container: members or elements */
} relay_json_node_t;


typedef struct {
    relay_json_node_t  *nodes;
    size_t              n;          /* nodes in use; nodes[0] is the root */
    size_t              size;
    void               *scratch;    /* of the duplicate-key check */
    size_t              scratch_size;
} relay_json_tape_t;


typedef struct {
    size_t  bytes;          /* of the document, under 4 GiB */
    size_t  depth;          /* of nested containers */
    size_t  nodes;          /* of the tape */
    size_t  keys;           /* members of one object */
    size_t  key_len;        /* bytes of one member's name */
    size_t  string_len;     /* bytes of one string */
    size_t  number_len;     /* bytes of one number */
} relay_json_limits_t;


typedef struct {
    const char  *text;      /* a sentence without a final dot, static */
    size_t       offset;    /* byte at fault, from 0 */
    size_t       line;      /* from 1 */
    size_t       column;    /* in bytes, from 1 */
} relay_json_error_t;


/* The limits that the edge and relayctl apply to documents. */
extern const relay_json_limits_t  relay_json_default_limits;


void relay_json_tape_init(relay_json_tape_t *tape);
void relay_json_tape_free(relay_json_tape_t *tape);

/*
 * Tokenizes doc.  Accepts exactly RFC 8259 texts in valid UTF-8 without a BOM,
 * within limits, without a duplicate name in any object (compared after
 * unescaping) and without an unpaired surrogate escape.
 *
 * RELAY_OK; RELAY_DECLINED with *err filled in; RELAY_ERROR without memory.
 * The tape refers to doc's bytes, which the caller keeps.
 */
relay_int_t relay_json_parse(relay_json_tape_t *tape, const relay_str_t *doc,
    const relay_json_limits_t *limits, relay_json_error_t *err);

/* The hash that KEY nodes carry, of an unescaped name. */
uint32_t relay_json_hash(const unsigned char *p, size_t len);

/*
 * The index of the value of a member of the object at index obj, or 0 when
 * there is none (0 is always the root, hence never a member).
 */
size_t relay_json_get(const relay_json_tape_t *tape, const relay_str_t *doc,
    size_t obj, const char *name, size_t len);

/* Whether the string or key at index i, once unescaped, equals s. */
relay_uint_t relay_json_str_is(const relay_json_tape_t *tape,
    const relay_str_t *doc, size_t i, const char *s, size_t len);

/*
 * Whether two strings or keys, once unescaped, are equal; they may be of two
 * documents.
 */
relay_uint_t relay_json_str_same(const relay_str_t *doc1,
    const relay_json_node_t *node1, const relay_str_t *doc2,
    const relay_json_node_t *node2);

/* relay_json_hash() of a string or key, once unescaped. */
uint32_t relay_json_str_hash(const relay_str_t *doc,
    const relay_json_node_t *node);

/* Appends the unescaped bytes of the string at index i. */
relay_int_t relay_json_str_decode(const relay_json_tape_t *tape,
    const relay_str_t *doc, size_t i, relay_buf_t *out);

/*
 * The number at index i as an integer.  RELAY_DECLINED when it is no number,
 * has a fraction, or does not fit; 3.0 and 3e0 are integers (JSON Schema).
 */
relay_int_t relay_json_int(const relay_json_tape_t *tape,
    const relay_str_t *doc, size_t i, int64_t *value);


#endif /* _RELAY_JSON_H_INCLUDED_ */
