
/*
 * relay_data: the files of schema/ that the binaries carry.
 */

#include "relay_data.h"


typedef struct {
    relay_str_t  schema;
    relay_str_t  text;
} relay_data_file_t;


/*
 * relay_data_scripts[], relay_data_policies[] and relay_data_schemas[], each
 * ended by an empty one
 */

#include "relay_embedded.h"


const relay_script_t *
relay_script(const char *name)
{
    size_t                 len;
    const relay_script_t  *s;

    len = strlen(name);

    for (s = relay_data_scripts; s->name.len; s++) {

        if (s->name.len == len && memcmp(s->name.data, name, len) == 0) {
            return s;
        }
    }

    return NULL;
}


const relay_str_t *
relay_document_schema(const relay_str_t *type)
{
    const relay_data_file_t  *f;

    for (f = relay_data_schemas; f->schema.len; f++) {

        if (relay_str_eq(&f->schema, type)) {
            return &f->text;
        }
    }

    return NULL;
}


const relay_str_t *
relay_view_policy_text(const char *schema)
{
    size_t                    len;
    const relay_data_file_t  *p;

    len = strlen(schema);

    for (p = relay_data_policies; p->schema.len; p++) {

        if (p->schema.len == len && memcmp(p->schema.data, schema, len) == 0) {
            return &p->text;
        }
    }

    return NULL;
}
