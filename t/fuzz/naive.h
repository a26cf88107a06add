
/*
 * naive.h: a second implementation of view policies, over jansson, in the
 * simplest way that does: it reads the policy's own text each time, copies
 * every value that it keeps, and looks at nothing twice as fast as it could.
 */

#ifndef _NAIVE_H_INCLUDED_
#define _NAIVE_H_INCLUDED_


#include <jansson.h>

#include "relay.h"


/*
 * What a view has of a document; NULL: withheld.  now: epoch ms.  The caller
 * owns the result.
 */
json_t *naive_project(json_t *policy, json_t *doc, const char *view,
    int64_t now, relay_permission_e permission);


#endif /* _NAIVE_H_INCLUDED_ */
