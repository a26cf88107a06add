
/*
 * relay_pointer: JSON pointers (RFC 6901) into a tape.
 */

#ifndef _RELAY_POINTER_H_INCLUDED_
#define _RELAY_POINTER_H_INCLUDED_


#include "relay.h"
#include "relay_buf.h"
#include "relay_json.h"


/*
 * Appends the pointer of the value at index i: "" for the root; of a KEY, the
 * pointer of its member.  RELAY_OK; RELAY_DECLINED: the tape has no such node;
 * RELAY_ERROR: out is full, no memory.  Its cost grows with the elements before
 * the node: it is for messages.
 */
relay_int_t relay_pointer_append(const relay_json_tape_t *tape,
    const relay_str_t *doc, size_t i, relay_buf_t *out);

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
