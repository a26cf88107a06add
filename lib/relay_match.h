
/*
 * relay_match: many patterns looked for in one pass over a text, by a finite
 * automaton (Aho and Corasick, 1975).  The time is linear in the bytes of
 * patterns and texts, whatever they are.
 */

#ifndef _RELAY_MATCH_H_INCLUDED_
#define _RELAY_MATCH_H_INCLUDED_


#include "relay.h"


typedef struct relay_match_state_s  relay_match_state_t;


typedef struct {
    relay_match_state_t  *states;
    size_t                n;            /* states in use */
    size_t                size;         /* states allocated */
    size_t                max;          /* states that there may be */
    unsigned              compiled:1;
    unsigned              counted:1;    /* found() is up to date */
} relay_match_t;


/*
 * Prepares an empty set of patterns, of max bytes in all together.  A byte
 * needs about 160 bytes of memory.
 */
void relay_match_init(relay_match_t *m, size_t max);
void relay_match_free(relay_match_t *m);

/*
 * Adds a pattern, before the first scan.  RELAY_OK; RELAY_DECLINED: the
 * patterns are more than max bytes, this one is not looked for; RELAY_ERROR:
 * no memory.  An empty pattern is never looked for.
 */
relay_int_t relay_match_add(relay_match_t *m, const relay_str_t *pattern);

/* Looks for all patterns in a text.  1: one of them occurs in it; 0: none. */
relay_uint_t relay_match_scan(relay_match_t *m, const relay_str_t *text);

/*
 * Whether a pattern that was added occurs in one of the texts scanned so far.
 * The empty pattern always does; one that was declined is not found.
 */
relay_uint_t relay_match_found(relay_match_t *m, const relay_str_t *pattern);


#endif /* _RELAY_MATCH_H_INCLUDED_ */
