
/*
 * relay_view_policy: a view policy as a document: JSON in, the compiled policy
 * out.
 */

#include <stdlib.h>

#include "relay_view_compile.h"
#include "relay_link.h"


void *
relay_view_alloc(relay_view_policy_t *policy, size_t size)
{
    relay_view_block_t  *block;

    block = calloc(1, sizeof(relay_view_block_t) + size);
    if (block == NULL) {
        return NULL;
    }

    block->next = policy->blocks;
    policy->blocks = block;

    return block->align;
}


void
relay_view_path_print(const relay_view_compiler_t *cp,
    const relay_view_path_t *path, relay_buf_t *out)
{
    if (path == NULL) {
        return;
    }

    relay_view_path_print(cp, path->parent, out);

    if (path->key == 0) {
        (void) relay_buf_printf(out, "/%zu", path->index);
        return;
    }

    (void) relay_buf_append_c(out, '/');
    (void) relay_json_str_decode(cp->tape, cp->doc, path->key, out);
}


void *
relay_view_error(relay_view_compiler_t *cp, relay_view_path_t *path,
    const char *text)
{
    if (cp->err->len == 0) {
        relay_view_path_print(cp, path, cp->err);
        (void) relay_buf_append_z(cp->err, path == NULL ? "" : ": ");
        (void) relay_buf_append_z(cp->err, text);
    }

    return NULL;
}


relay_int_t
relay_view_name_set(relay_view_compiler_t *cp, relay_view_name_t *name,
    const unsigned char *data, size_t len)
{
    /* padded, so that names may be compared in words of eight bytes */

    name->str.data = relay_view_alloc(cp->policy, len + 8);
    if (name->str.data == NULL) {
        return RELAY_ERROR;
    }

    memcpy(name->str.data, data, len);
    name->str.len = len;
    name->hash = relay_json_hash(data, len);

    return RELAY_OK;
}


/* A name from the string or key at a node; its hash is of the decoded bytes. */

relay_int_t
relay_view_name_get(relay_view_compiler_t *cp, relay_view_name_t *name,
    size_t node)
{
    relay_int_t  rc;
    relay_buf_t  buf;

    relay_buf_init(&buf, RELAY_DOCUMENT_MAX);

    rc = relay_json_str_decode(cp->tape, cp->doc, node, &buf);

    if (rc == RELAY_OK) {
        rc = relay_view_name_set(cp, name, buf.data, buf.len);
    }

    relay_buf_free(&buf);

    return rc;
}


relay_int_t
relay_view_string(relay_view_compiler_t *cp, relay_view_name_t *name,
    size_t node, relay_view_path_t *path)
{
    if (cp->tape->nodes[node].type != RELAY_JSON_STRING) {
        relay_view_error(cp, path, "a string is needed here");
        return RELAY_ERROR;
    }

    if (relay_view_name_get(cp, name, node) != RELAY_OK) {
        return RELAY_ERROR;
    }

    return RELAY_OK;
}


/* A JSON pointer into the document, of names only. */

relay_int_t
relay_view_pointer(relay_view_compiler_t *cp, relay_view_pointer_t *ptr,
    size_t node, relay_view_path_t *path)
{
    size_t                n;
    relay_view_name_t     name;
    const unsigned char  *p, *q, *last;

    if (relay_view_string(cp, &name, node, path) != RELAY_OK) {
        return RELAY_ERROR;
    }

    p = name.str.data;
    last = p + name.str.len;

    if (p == last || *p != '/' || memchr(p, '~', last - p) != NULL) {
        relay_view_error(cp, path, "a pointer to a member is needed here");
        return RELAY_ERROR;
    }

    ptr->names = relay_view_alloc(cp->policy,
                                  name.str.len * sizeof(relay_view_name_t));
    if (ptr->names == NULL) {
        return RELAY_ERROR;
    }

    for (n = 0; p < last; n++) {
        p++;

        for (q = p; q < last && *q != '/'; q++) { /* void */ }

        if (relay_view_name_set(cp, &ptr->names[n], p, q - p) != RELAY_OK) {
            return RELAY_ERROR;
        }

        p = q;
    }

    ptr->n = n;

    return RELAY_OK;
}


static relay_int_t
relay_view_views(relay_view_compiler_t *cp, size_t node,
    relay_view_path_t *path)
{
    size_t                i, n;
    relay_view_e          view;
    relay_view_name_t     name;
    relay_view_path_t     here;
    relay_view_policy_t  *policy;

    policy = cp->policy;

    if (cp->tape->nodes[node].type != RELAY_JSON_ARRAY
        || cp->tape->nodes[node].count == 0)
    {
        relay_view_error(cp, path, "an array of names is needed here");
        return RELAY_ERROR;
    }

    here.parent = path;
    here.key = 0;
    i = node + 1;

    for (n = 0; n < cp->tape->nodes[node].count; n++) {
        here.index = n;

        if (relay_view_string(cp, &name, i, &here) != RELAY_OK) {
            return RELAY_ERROR;
        }

        view = relay_view_by_name(&name.str);

        if (view <= RELAY_VIEW_OWNER || (policy->known & (1u << view))) {
            relay_view_error(cp, &here, "no view, or twice, or the owner's");
            return RELAY_ERROR;
        }

        policy->known |= 1u << view;
        policy->views[policy->views_n++] = view;

        i = cp->tape->nodes[i].next;
    }

    return RELAY_OK;
}


static relay_int_t
relay_view_private(relay_view_compiler_t *cp, size_t node,
    relay_view_path_t *path)
{
    size_t             k;
    int64_t            least;
    relay_view_path_t  here;

    here.parent = path;
    here.index = 0;

    k = relay_json_get(cp->tape, cp->doc, node, "text", 4);

    if (k == 0 || cp->tape->nodes[node].count != 2) {
        relay_view_error(cp, path, "\"text\" and \"within\" are needed here");
        return RELAY_ERROR;
    }

    here.key = k - 1;

    if (relay_view_pointer(cp, &cp->policy->private, k, &here) != RELAY_OK) {
        return RELAY_ERROR;
    }

    k = relay_json_get(cp->tape, cp->doc, node, "within", 6);

    if (k == 0 || relay_json_int(cp->tape, cp->doc, k, &least) != RELAY_OK
        || least < 1 || least > 1024)
    {
        relay_view_error(cp, path, "\"within\" must be a number of bytes");
        return RELAY_ERROR;
    }

    cp->policy->private_least = (size_t) least;

    return RELAY_OK;
}


static relay_int_t
relay_view_definitions(relay_view_compiler_t *cp, size_t node,
    relay_view_path_t *path)
{
    size_t  k;

    if (cp->tape->nodes[node].type != RELAY_JSON_OBJECT) {
        relay_view_error(cp, path, "an object is needed here");
        return RELAY_ERROR;
    }

    cp->defs = relay_view_alloc(cp->policy, cp->tape->nodes[node].count
                                            * sizeof(relay_view_def_t));
    if (cp->defs == NULL) {
        return RELAY_ERROR;
    }

    cp->defs_path = *path;
    k = node + 1;

    for (cp->defs_n = 0; cp->defs_n < cp->tape->nodes[node].count;
         cp->defs_n++)
    {
        if (relay_view_name_get(cp, &cp->defs[cp->defs_n].name, k)
            != RELAY_OK)
        {
            return RELAY_ERROR;
        }

        cp->defs[cp->defs_n].node = k + 1;
        k = cp->tape->nodes[k + 1].next;
    }

    return RELAY_OK;
}


static relay_int_t
relay_view_policy(relay_view_compiler_t *cp)
{
    size_t                i, k, n, fields;
    relay_view_name_t     name;
    relay_view_path_t     here;
    relay_view_policy_t  *policy;

    policy = cp->policy;

    if (cp->tape->nodes[0].type != RELAY_JSON_OBJECT) {
        relay_view_error(cp, NULL, "a policy is an object");
        return RELAY_ERROR;
    }

    fields = 0;
    here.parent = NULL;
    here.index = 0;
    k = 1;

    for (n = cp->tape->nodes[0].count; n > 0; n--) {
        here.key = k;

        if (relay_json_str_is(cp->tape, cp->doc, k, "about", 5)) {

            /* sentences for the reader */

        } else if (relay_json_str_is(cp->tape, cp->doc, k, "schema", 6)) {

            if (relay_view_string(cp, &name, k + 1, &here) != RELAY_OK) {
                return RELAY_ERROR;
            }

            policy->schema = name.str;

        } else if (relay_json_str_is(cp->tape, cp->doc, k, "member", 6)) {

            if (relay_view_string(cp, &policy->schema_name, k + 1, &here)
                != RELAY_OK)
            {
                return RELAY_ERROR;
            }

        } else if (relay_json_str_is(cp->tape, cp->doc, k, "views", 5)) {

            if (relay_view_views(cp, k + 1, &here) != RELAY_OK) {
                return RELAY_ERROR;
            }

        } else if (relay_json_str_is(cp->tape, cp->doc, k, "private", 7)) {

            if (relay_view_private(cp, k + 1, &here) != RELAY_OK) {
                return RELAY_ERROR;
            }

        } else if (relay_json_str_is(cp->tape, cp->doc, k, "labelled", 8)) {

            if (relay_view_pointer(cp, &policy->labelled, k + 1, &here)
                != RELAY_OK)
            {
                return RELAY_ERROR;
            }

        } else if (relay_json_str_is(cp->tape, cp->doc, k, "asked", 5)) {

            if (relay_view_pointer(cp, &policy->asked, k + 1, &here)
                != RELAY_OK)
            {
                return RELAY_ERROR;
            }

        } else if (relay_json_str_is(cp->tape, cp->doc, k, "defs", 4)) {

            if (relay_view_definitions(cp, k + 1, &here) != RELAY_OK) {
                return RELAY_ERROR;
            }

        } else if (relay_json_str_is(cp->tape, cp->doc, k, "fields", 6)) {
            fields = k;

        } else {
            relay_view_error(cp, &here, "a name that no policy knows");
            return RELAY_ERROR;
        }

        k = cp->tape->nodes[k + 1].next;
    }

    if (policy->schema.len == 0 || policy->views_n == 0 || fields == 0) {
        relay_view_error(cp, NULL,
                         "\"schema\", \"views\" and \"fields\" are needed");
        return RELAY_ERROR;
    }

    here.key = fields;

    policy->root = relay_view_rule(cp, fields + 1, &here);
    if (policy->root == NULL) {
        return RELAY_ERROR;
    }

    if (policy->root->kind != RELAY_VIEW_OBJECT) {
        relay_view_error(cp, &here, "a document is an object");
        return RELAY_ERROR;
    }

    for (i = 0; i < policy->views_n; i++) {
        if (policy->root->act[policy->views[i]] != RELAY_VIEW_KEEP) {
            relay_view_error(cp, &here, "a document as a whole is kept");
            return RELAY_ERROR;
        }
    }

    if (policy->schema_name.str.data == NULL
        && relay_view_name_set(cp, &policy->schema_name,
                               (const unsigned char *) "schema", 6)
           != RELAY_OK)
    {
        return RELAY_ERROR;
    }

    return RELAY_OK;
}


relay_view_policy_t *
relay_view_compile(const relay_str_t *json, relay_buf_t *err)
{
    relay_int_t             rc;
    relay_json_tape_t       tape;
    relay_json_error_t      jerr;
    relay_view_policy_t    *policy;
    relay_view_compiler_t   cp;

    relay_buf_reset(err);

    policy = calloc(1, sizeof(relay_view_policy_t));
    if (policy == NULL) {
        (void) relay_buf_append_z(err, "no memory");
        return NULL;
    }

    relay_json_tape_init(&tape);

    memset(&cp, 0, sizeof(relay_view_compiler_t));

    cp.policy = policy;
    cp.tape = &tape;
    cp.doc = &policy->text;
    cp.err = err;

    policy->text.data = relay_view_alloc(policy, json->len + 1);

    if (policy->text.data == NULL) {
        goto failed;
    }

    if (json->len != 0) {
        memcpy(policy->text.data, json->data, json->len);
    }

    policy->text.len = json->len;

    relay_digest(json, policy->digest_data);

    policy->digest.data = policy->digest_data;
    policy->digest.len = RELAY_DIGEST_LEN;

    rc = relay_json_parse(&tape, &policy->text, &relay_json_default_limits,
                          &jerr);

    if (rc == RELAY_DECLINED) {
        (void) relay_buf_printf(err, "line %zu, column %zu: %s", jerr.line,
                                jerr.column, jerr.text);
        goto failed;
    }

    if (rc != RELAY_OK || relay_view_policy(&cp) != RELAY_OK) {
        goto failed;
    }

    relay_json_tape_free(&tape);

    return policy;

failed:

    /* whatever else fails says why */

    if (err->len == 0) {
        (void) relay_buf_append_z(err, "no memory");
    }

    relay_json_tape_free(&tape);
    relay_view_policy_free(policy);

    return NULL;
}


void
relay_view_policy_free(relay_view_policy_t *policy)
{
    relay_view_block_t  *block, *next;

    if (policy == NULL) {
        return;
    }

    for (block = policy->blocks; block != NULL; block = next) {
        next = block->next;
        free(block);
    }

    free(policy);
}
