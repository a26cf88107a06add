
/*
 * relay_package: the head of a relay.context-package.v1 document: what the
 * edge and relayctl need to know of it without looking at its content.
 */

#ifndef _RELAY_PACKAGE_H_INCLUDED_
#define _RELAY_PACKAGE_H_INCLUDED_


#include "relay.h"
#include "relay_buf.h"
#include "relay_json.h"


#define RELAY_PACKAGE_SCHEMA  "relay.context-package.v1"


/* decoded strings; they point into the buffer given to relay_package_head() */

typedef struct {
    relay_str_t         schema;
    relay_str_t         id;
    relay_str_t         title;          /* empty when absent */
    relay_str_t         owner_name;
    relay_str_t         owner_id;       /* empty when absent */
    relay_str_t         approved_by;
    relay_str_t         email;          /* audience.email, empty when absent */
    relay_access_e      access;         /* named when absent */
    relay_permission_e  permission;
    relay_mode_e        mode;
    int64_t             version;
    int64_t             expires_at;     /* epoch ms; 0: never */
} relay_package_t;


/*
 * Reads the head.  RELAY_OK; RELAY_DECLINED: a member is missing or has the
 * wrong type or value, err holds a sentence that starts with its JSON pointer;
 * RELAY_ERROR: no memory.  mem owns the decoded strings.
 */
relay_int_t relay_package_head(const relay_str_t *doc,
    const relay_json_tape_t *tape, relay_package_t *pkg, relay_buf_t *mem,
    relay_buf_t *err);


#endif /* _RELAY_PACKAGE_H_INCLUDED_ */
