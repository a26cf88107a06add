
/*
 * relay_backoff: the next delay before a reconnect: exponential, capped, with
 * full jitter.
 */

#ifndef _RELAY_BACKOFF_H_INCLUDED_
#define _RELAY_BACKOFF_H_INCLUDED_


#include "relay.h"


typedef struct {
    uint64_t  base;         /* ms, first ceiling */
    uint64_t  cap;          /* ms, last ceiling */
} relay_backoff_t;


/*
 * The delay in ms before attempt number n (from 0), between 1 and
 * min(cap, base * 2^n), chosen by random (any 32-bit value).
 */
uint64_t relay_backoff_next(const relay_backoff_t *b, relay_uint_t n,
    uint32_t random);


#endif /* _RELAY_BACKOFF_H_INCLUDED_ */
