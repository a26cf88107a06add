
/*
 * relay_backoff: the next delay before a reconnect.
 */

#include "relay_backoff.h"


uint64_t
relay_backoff_next(const relay_backoff_t *b, relay_uint_t n, uint32_t random)
{
    uint64_t  ceiling, high, low;

    ceiling = b->base < b->cap ? b->base : b->cap;

    if (ceiling == 0) {
        return 1;
    }

    while (n-- && ceiling < b->cap) {
        ceiling = ceiling > b->cap / 2 ? b->cap : ceiling * 2;
    }

    /* floor(ceiling * random / 2^32), in halves as it may exceed 64 bits */

    high = (ceiling >> 32) * random;
    low = ((ceiling & 0xffffffff) * random) >> 32;

    return 1 + high + low;
}
