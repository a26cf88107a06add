
/*
 * Mutations of a JSON text that leave it one, for targets that look at what a
 * document says and not at how it is written.  Nothing here is a part of a
 * replay.
 */

#include <jansson.h>

#include "fuzz.h"


#if (RELAY_FUZZ)


#define NODES  4096


size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);


typedef struct {
    json_t      *parent;
    json_t      *value;
    char        *name;          /* in an object */
    size_t       index;         /* in an array */
} fuzz_node_t;


typedef struct {
    uint64_t     random;
    fuzz_node_t  nodes[NODES];
    size_t       n;
} fuzz_tree_t;


static size_t
pick(fuzz_tree_t *t, size_t n)
{
    t->random ^= t->random << 13;
    t->random ^= t->random >> 7;
    t->random ^= t->random << 17;

    return (n == 0) ? 0 : t->random % n;
}


static void
collect(fuzz_tree_t *t, json_t *value, unsigned depth)
{
    size_t       i;
    json_t      *child;
    const char  *name;

    if (depth > 64) {
        return;
    }

    json_object_foreach(value, name, child) {
        if (t->n == NODES) {
            return;
        }

        t->nodes[t->n].parent = value;
        t->nodes[t->n].value = child;
        t->nodes[t->n++].name = strdup(name);

        collect(t, child, depth + 1);
    }

    json_array_foreach(value, i, child) {
        if (t->n == NODES) {
            return;
        }

        t->nodes[t->n].parent = value;
        t->nodes[t->n].value = child;
        t->nodes[t->n].index = i;
        t->nodes[t->n++].name = NULL;

        collect(t, child, depth + 1);
    }
}


static void
forget(fuzz_tree_t *t)
{
    while (t->n != 0) {
        free(t->nodes[--t->n].name);
    }
}


/* libFuzzer's own mutations, dictionary included, inside of a text. */

static json_t *
text(fuzz_tree_t *t, const char *from, size_t len)
{
    size_t   n;
    json_t  *value;
    uint8_t  bytes[256];

    len = (len < sizeof(bytes)) ? len : sizeof(bytes);
    memcpy(bytes, from, len);

    n = LLVMFuzzerMutate(bytes, len, sizeof(bytes));
    value = json_stringn((char *) bytes, n);

    return (value != NULL) ? value : json_string("x");
}


static json_t *
fresh(fuzz_tree_t *t)
{
    switch (pick(t, 12)) {
    case 0:
        return json_null();
    case 1:
        return json_true();
    case 2:
        return json_false();
    case 3:
        return json_integer((json_int_t) pick(t, 100));
    case 4:
        return json_real(0.5);
    case 5:
        return json_object();
    case 6:
        return json_array();
    case 7:
        return json_string("");
    default:
        return text(t, "", 0);
    }
}


static void
change(fuzz_tree_t *t, json_t *root)
{
    json_t       *value, *wrapped;
    fuzz_node_t  *node, *other;

    collect(t, root, 0);

    if (t->n == 0) {
        value = text(t, "a", 1);
        json_object_set_new(root, json_string_value(value), fresh(t));
        json_array_append_new(root, fresh(t));
        json_decref(value);
        return;
    }

    node = &t->nodes[pick(t, t->n)];
    other = &t->nodes[pick(t, t->n)];
    value = NULL;

    switch (pick(t, 10)) {

    case 0:
    case 1:
    case 2:
        if (json_is_string(node->value)) {
            value = text(t, json_string_value(node->value),
                         json_string_length(node->value));
        } else {
            value = fresh(t);
        }

        break;

    case 3:
        value = json_deep_copy(other->value);
        break;

    case 4:
        if (node->name != NULL) {
            json_object_del(node->parent, node->name);

        } else {
            json_array_remove(node->parent, node->index);
        }

        break;

    case 5:
        /* under another name, or a copy beside it */

        if (node->name != NULL) {
            wrapped = other->name ? json_string(other->name)
                                  : text(t, node->name, strlen(node->name));
            json_object_set_new(node->parent, json_string_value(wrapped),
                                json_deep_copy(node->value));
            json_decref(wrapped);

        } else {
            json_array_insert_new(node->parent, node->index,
                                  json_deep_copy(other->value));
        }

        break;

    case 6:
        value = json_array();
        json_array_append_new(value, json_deep_copy(node->value));
        break;

    case 7:
        if (json_is_object(node->value) && other->name != NULL) {
            json_object_set_new(node->value, other->name,
                                json_deep_copy(other->value));

        } else if (json_is_array(node->value)) {
            json_array_append_new(node->value, json_deep_copy(other->value));
        }

        break;

    case 8:
        /* a text within another one */

        if (json_is_string(node->value) && json_is_string(other->value)) {
            value = json_sprintf("%s %s", json_string_value(node->value),
                                 json_string_value(other->value));
        }

        break;

    default:
        value = fresh(t);
    }

    if (value == NULL) {
        return;
    }

    if (node->name != NULL) {
        json_object_set_new(node->parent, node->name, value);

    } else {
        json_array_set_new(node->parent, node->index, value);
    }
}


size_t
fuzz_json_mutate(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
    size_t        n, len;
    char         *out;
    json_t       *root;

    static fuzz_tree_t  t;

    t.random = seed * 0x9e3779b97f4a7c15ull + 1;

    /* the text itself, too: escapes, spaces, numbers */

    root = (pick(&t, 8) == 0) ? NULL
                              : json_loadb((char *) data, size, 0, NULL);

    if (root == NULL) {
        return LLVMFuzzerMutate(data, size, max);
    }

    for (n = 1 + pick(&t, 3); n > 0; n--) {
        change(&t, root);
        forget(&t);
    }

    out = json_dumps(root, (pick(&t, 8) == 0) ? JSON_ENSURE_ASCII
                           : (pick(&t, 8) == 0) ? JSON_INDENT(1)
                           : JSON_COMPACT);
    json_decref(root);

    if (out == NULL) {
        return LLVMFuzzerMutate(data, size, max);
    }

    len = strlen(out);

    if (len > max) {
        free(out);
        return LLVMFuzzerMutate(data, size, max);
    }

    memcpy(data, out, len);
    free(out);

    return len;
}


#endif
