
/*
 * relay_pointer: JSON pointers (RFC 6901) into a tape.
 */

#ifndef _RELAY_POINTER_H_INCLUDED_
#define _RELAY_POINTER_H_INCLUDED_


#include "relay.h"
#include "relay_buf.h"
#include "relay_json.h"


#define RELAY_POINTER_DEPTH  64     /* containers whose place is kept */


/*
 * Where the last pointer led through, for pointers of one tape that are asked
 * for in the order of the document: each goes on from there.  All zeros at
 * first.
 */

typedef struct {
    size_t  at[RELAY_POINTER_DEPTH];        /* a container */
    size_t  child[RELAY_POINTER_DEPTH];     /* of it; 0: none was passed yet */
    size_t  index[RELAY_POINTER_DEPTH];
} relay_pointer_walk_t;


/*
 * Appends the pointer of the value at index i: "" for the root; of a KEY, the
 * pointer of its member.  RELAY_OK; RELAY_DECLINED: the tape has no such node;
 * RELAY_ERROR: out is full, no memory.  Its cost grows with the elements before
 * the node, or, with a walk, with those since the last one.
 */
relay_int_t relay_pointer_append(const relay_json_tape_t *tape,
    const relay_str_t *doc, size_t i, relay_buf_t *out);
relay_int_t relay_pointer_append_next(const relay_json_tape_t *tape,
    const relay_str_t *doc, size_t i, relay_pointer_walk_t *walk,
    relay_buf_t *out);

/* Appends "/" and a member's name, in which "~" and "/" are escaped. */
relay_int_t relay_pointer_append_member(relay_buf_t *out,
    const relay_str_t *name);

/*
 * Follows a pointer from the root.  RELAY_OK: *i is where it leads to;
 * RELAY_DECLINED: it leads nowhere, *i is the last value on the way there, or
 * it is no pointer.
 */
relay_int_t relay_pointer_find(const relay_json_tape_t *tape,
    const relay_str_t *doc, const relay_str_t *pointer, size_t *i);


#endif /* _RELAY_POINTER_H_INCLUDED_ */
