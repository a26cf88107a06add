
/*
 * relay_pointer: JSON pointers (RFC 6901) into a tape.
 */

#include "relay_pointer.h"


static relay_int_t relay_pointer_append_name(const relay_json_tape_t *tape,
    const relay_str_t *doc, size_t key, relay_buf_t *out);
static size_t relay_pointer_step(const relay_json_tape_t *tape,
    const relay_str_t *doc, size_t i, const unsigned char *name, size_t len);


relay_int_t
relay_pointer_append(const relay_json_tape_t *tape, const relay_str_t *doc,
    size_t i, relay_buf_t *out)
{
    relay_pointer_walk_t  walk;

    memset(&walk, 0, sizeof(relay_pointer_walk_t));

    return relay_pointer_append_next(tape, doc, i, &walk, out);
}


relay_int_t
relay_pointer_append_next(const relay_json_tape_t *tape,
    const relay_str_t *doc, size_t i, relay_pointer_walk_t *walk,
    relay_buf_t *out)
{
    size_t                    at, k, index, value, depth;
    const relay_json_node_t  *nodes;

    if (i >= tape->n) {
        return RELAY_DECLINED;
    }

    nodes = tape->nodes;
    at = 0;

    /* down from the root, each time into the child whose nodes hold i */

    for (depth = 0; at < i; depth++) {

        k = at + 1;
        index = 0;

        if (depth < RELAY_POINTER_DEPTH && walk->at[depth] == at
            && walk->child[depth] != 0 && walk->child[depth] <= i)
        {
            k = walk->child[depth];
            index = walk->index[depth];
        }

        for ( ;; ) {
            value = (nodes[at].type == RELAY_JSON_OBJECT) ? k + 1 : k;

            if (i < nodes[value].next) {
                break;
            }

            k = nodes[value].next;
            index++;
        }

        if (depth < RELAY_POINTER_DEPTH) {
            walk->at[depth] = at;
            walk->child[depth] = k;
            walk->index[depth] = index;
        }

        if (nodes[at].type == RELAY_JSON_OBJECT) {

            if (relay_pointer_append_name(tape, doc, k, out) != RELAY_OK) {
                return RELAY_ERROR;
            }

        } else {
            relay_buf_append_c(out, '/');

            if (relay_buf_append_int(out, (int64_t) index) != RELAY_OK) {
                return RELAY_ERROR;
            }
        }

        if (i == k) {
            break;
        }

        at = value;
    }

    return RELAY_OK;
}


static relay_int_t
relay_pointer_append_name(const relay_json_tape_t *tape,
    const relay_str_t *doc, size_t key, relay_buf_t *out)
{
    relay_int_t  rc;
    relay_str_t  member;
    relay_buf_t  name;

    relay_buf_init(&name, tape->nodes[key].len);

    rc = relay_json_str_decode(tape, doc, key, &name);

    if (rc == RELAY_OK) {
        relay_buf_str(&name, &member);
        rc = relay_pointer_append_member(out, &member);
    }

    relay_buf_free(&name);

    return rc;
}


relay_int_t
relay_pointer_append_member(relay_buf_t *out, const relay_str_t *name)
{
    size_t  i;

    (void) relay_buf_append_c(out, '/');

    for (i = 0; i < name->len; i++) {

        switch (name->data[i]) {

        case '~':
            (void) relay_buf_append_z(out, "~0");
            break;

        case '/':
            (void) relay_buf_append_z(out, "~1");
            break;

        default:
            (void) relay_buf_append_c(out, name->data[i]);
        }
    }

    return out->failed ? RELAY_ERROR : RELAY_OK;
}


relay_int_t
relay_pointer_find(const relay_json_tape_t *tape, const relay_str_t *doc,
    const relay_str_t *pointer, size_t *i)
{
    size_t                len, next;
    const unsigned char  *p, *last;
    unsigned char         name[1024];

    *i = 0;

    if (pointer->len == 0) {
        return RELAY_OK;
    }

    p = pointer->data;
    last = p + pointer->len;

    while (p < last) {

        if (*p++ != '/') {
            return RELAY_DECLINED;
        }

        for (len = 0; p < last && *p != '/'; len++) {

            if (len == sizeof(name)) {
                return RELAY_DECLINED;
            }

            if (*p != '~') {
                name[len] = *p++;
                continue;
            }

            if (last - p < 2 || (p[1] != '0' && p[1] != '1')) {
                return RELAY_DECLINED;
            }

            name[len] = (p[1] == '0') ? '~' : '/';
            p += 2;
        }

        next = relay_pointer_step(tape, doc, *i, name, len);

        if (next == 0) {
            return RELAY_DECLINED;
        }

        *i = next;
    }

    return RELAY_OK;
}


static size_t
relay_pointer_step(const relay_json_tape_t *tape, const relay_str_t *doc,
    size_t i, const unsigned char *name, size_t len)
{
    size_t                    n, wanted;
    const relay_json_node_t  *nodes;

    nodes = tape->nodes;

    if (nodes[i].type == RELAY_JSON_OBJECT) {
        return relay_json_get(tape, doc, i, (const char *) name, len);
    }

    /* an index has no leading zero */

    if (nodes[i].type != RELAY_JSON_ARRAY
        || len == 0 || len > 9 || (len > 1 && name[0] == '0'))
    {
        return 0;
    }

    wanted = 0;

    for (n = 0; n < len; n++) {

        if (name[n] < '0' || name[n] > '9') {
            return 0;
        }

        wanted = wanted * 10 + (name[n] - '0');
    }

    if (wanted >= nodes[i].count) {
        return 0;
    }

    i++;

    for (n = 0; n < wanted; n++) {
        i = nodes[i].next;
    }

    return i;
}
