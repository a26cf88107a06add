
/*
 * relay_time: RFC 3339 and the expiry rule.  Times are epoch milliseconds.
 */

#ifndef _RELAY_TIME_H_INCLUDED_
#define _RELAY_TIME_H_INCLUDED_


#include "relay.h"


/*
 * Parses an RFC 3339 date-time ("2027-12-31T23:59:59.5+01:00").  Second 60 is
 * accepted only where a leap second may be (23:59:60 UTC).  RELAY_OK or
 * RELAY_DECLINED.
 */
relay_int_t relay_time_parse(const relay_str_t *in, int64_t *ms);

/*
 * Parses a date ("2027-12-31", its last millisecond in UTC), or a date-time.
 * What a package's validUntil and byWhen hold.
 */
relay_int_t relay_time_parse_end(const relay_str_t *in, int64_t *ms);

/* Writes "2027-12-31T23:59:59.000Z", 24 bytes and no terminator. */
void relay_time_format(int64_t ms, unsigned char out[24]);

/* Whether exp (0: never) has come at the time now: at exp itself it has. */
#define relay_time_expired(exp, now)  ((exp) != 0 && (now) >= (exp))

/* The earlier of two expiries, where 0 is never. */
int64_t relay_time_earlier(int64_t a, int64_t b);


#endif /* _RELAY_TIME_H_INCLUDED_ */
