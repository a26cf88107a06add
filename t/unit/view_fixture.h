
/*
 * What tests of the package policy's views have in common: the policy, compiled
 * once, and what a projection writes to.
 */

#ifndef _VIEW_FIXTURE_H_INCLUDED_
#define _VIEW_FIXTURE_H_INCLUDED_


#include "relay_data.h"
#include "relay_json.h"
#include "relay_package.h"
#include "relay_view.h"


static relay_view_policy_t  *policy;
static relay_json_tape_t     tape;
static relay_view_out_t      out;


static int
setup(void **state)
{
    relay_buf_t         err;
    const relay_str_t  *json;

    json = relay_view_policy_text(RELAY_PACKAGE_SCHEMA);
    relay_buf_init(&err, 4096);
    policy = (json != NULL) ? relay_view_compile(json, &err) : NULL;
    relay_buf_free(&err);

    relay_json_tape_init(&tape);
    relay_view_out_init(&out);

    return policy == NULL;
}


static int
teardown(void **state)
{
    relay_view_policy_free(policy);
    relay_json_tape_free(&tape);
    relay_view_out_free(&out);

    return 0;
}


#endif /* _VIEW_FIXTURE_H_INCLUDED_ */
