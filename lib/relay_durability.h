
/*
 * relay_durability: what a Redis server promises for what was written to it.
 */

#ifndef _RELAY_DURABILITY_H_INCLUDED_
#define _RELAY_DURABILITY_H_INCLUDED_


#include "relay.h"
#include "relay_resp.h"


/* weakest first: of two, the lesser one holds */

typedef enum {
    RELAY_DURABILITY_UNKNOWN = 0,
    RELAY_DURABILITY_NONE,          /* what the kernel happens to write */
    RELAY_DURABILITY_EVERYSEC,      /* a crash loses a second */
    RELAY_DURABILITY_ALWAYS         /* what was acknowledged is on disk */
} relay_durability_e;


typedef struct {
    relay_durability_e  durability;
    relay_str_t         eviction;   /* maxmemory-policy, or "": not told; points
                                       into what was read */
    unsigned            appendonly:1;   /* told to be on */
} relay_durability_t;


/*
 * Reads the reply to CONFIG GET appendonly appendfsync maxmemory-policy.
 * RELAY_OK, or RELAY_DECLINED: it is not one.
 */
relay_int_t relay_durability_config(const relay_resp_reply_t *reply,
    relay_durability_t *d);

/*
 * Reads the text of INFO, which does not tell appendfsync: durability is
 * RELAY_DURABILITY_NONE without an append-only file, else UNKNOWN.  RELAY_OK,
 * or RELAY_DECLINED: it has no section "persistence".
 */
relay_int_t relay_durability_info(const relay_str_t *text,
    relay_durability_t *d);

/* "always", "everysec", "none"; UNKNOWN when it is another word. */
relay_durability_e relay_durability_by_name(const relay_str_t *name);
const char *relay_durability_name(relay_durability_e durability);


#endif /* _RELAY_DURABILITY_H_INCLUDED_ */
