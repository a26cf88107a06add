
/*
 * relay_json_pointer: where on the tape a node is, as RFC 6901 writes it.
 */

#include "relay_json.h"


/* A name, in which "~" is written "~0" and "/" is written "~1". */

static relay_int_t
relay_json_pointer_name(const relay_json_tape_t *tape, const relay_str_t *doc,
    size_t key, relay_buf_t *out)
{
    size_t        i;
    relay_int_t   rc;
    relay_buf_t   name;

    relay_buf_init(&name, tape->nodes[key].len);

    rc = relay_json_str_decode(tape, doc, key, &name);

    (void) relay_buf_append_c(out, '/');

    for (i = 0; rc == RELAY_OK && i < name.len; i++) {

        if (name.data[i] == '~') {
            rc = relay_buf_append_z(out, "~0");

        } else if (name.data[i] == '/') {
            rc = relay_buf_append_z(out, "~1");

        } else {
            rc = relay_buf_append_c(out, name.data[i]);
        }
    }

    relay_buf_free(&name);

    return (rc == RELAY_OK && !out->failed) ? RELAY_OK : RELAY_ERROR;
}


relay_int_t
relay_json_pointer(const relay_json_tape_t *tape, const relay_str_t *doc,
    size_t node, relay_buf_t *out)
{
    size_t                    i, n, v, index;
    unsigned                  object;
    const relay_json_node_t  *nodes;

    nodes = tape->nodes;
    v = 0;

    if (node >= tape->n) {
        return RELAY_DECLINED;
    }

    while (v != node) {

        object = (nodes[v].type == RELAY_JSON_OBJECT);

        if (!object && nodes[v].type != RELAY_JSON_ARRAY) {
            return RELAY_DECLINED;
        }

        i = v + 1;
        index = 0;

        for (n = nodes[v].count; n > 0; n--, index++) {

            /* the value, which follows its name in an object */

            v = object ? i + 1 : i;

            if (node < nodes[v].next) {
                break;
            }

            i = nodes[v].next;
        }

        if (n == 0) {
            return RELAY_DECLINED;
        }

        if (object) {
            if (relay_json_pointer_name(tape, doc, i, out) != RELAY_OK) {
                return RELAY_ERROR;
            }

            if (i == node) {
                return RELAY_OK;
            }

        } else if (relay_buf_printf(out, "/%zu", index) != RELAY_OK) {
            return RELAY_ERROR;
        }
    }

    return RELAY_OK;
}
