
/*
 * relay_data: the files of schema/ that the binaries carry: JSON Schemas, view
 * policies and Redis scripts.  relay_data.c includes what schema/embed.sh makes
 * of them.
 */

#ifndef _RELAY_DATA_H_INCLUDED_
#define _RELAY_DATA_H_INCLUDED_


#include "relay.h"


typedef struct {
    relay_str_t  name;      /* "serve" */
    relay_str_t  text;
    relay_str_t  sha1;      /* 40 hexadecimal digits, for EVALSHA */
} relay_script_t;


/* NULL when there is no script of that name. */
const relay_script_t *relay_script(const char *name);

/* The JSON Schema of a document type; NULL when none is built in. */
const relay_str_t *relay_document_schema(const relay_str_t *type);

/* The view policy of a document type; NULL when none is built in. */
const relay_str_t *relay_view_policy_text(const char *schema);


#endif /* _RELAY_DATA_H_INCLUDED_ */
