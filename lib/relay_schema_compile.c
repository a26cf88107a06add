
/*
 * relay_schema_compile: the compiler of JSON Schemas: a rule for each schema in
 * the text, which relay_schema.c runs.
 *
 * It recurses as deep as the text is nested, which the parser limits.
 */

#include <stdlib.h>

#include "relay_schema_rule.h"
#include "relay_pointer.h"


static relay_int_t relay_schema_members(relay_schema_compiler_t *cp,
    relay_schema_rule_t *rule);
static relay_int_t relay_schema_link(relay_schema_compiler_t *cp,
    relay_schema_rule_t *rule);
static relay_int_t relay_schema_fragment(relay_schema_compiler_t *cp,
    size_t v, relay_str_t *s);
static relay_int_t relay_schema_chain(relay_schema_compiler_t *cp,
    relay_schema_rule_t *rule, unsigned depth);


void *
relay_schema_alloc(relay_schema_compiler_t *cp, size_t n, size_t size)
{
    relay_schema_block_t  *block;

    block = calloc(1, sizeof(relay_schema_block_t) + n * size);
    if (block == NULL) {
        relay_buf_reset(cp->err);
        relay_buf_append_z(cp->err, "no memory");
        return NULL;
    }

    block->next = cp->schema->blocks;
    cp->schema->blocks = block;

    return block->align;
}


relay_int_t
relay_schema_error(relay_schema_compiler_t *cp, size_t v, const char *text)
{
    relay_buf_reset(cp->err);

    if (relay_pointer_append(&cp->schema->tape, &cp->schema->text, v, cp->err)
        == RELAY_OK)
    {
        relay_buf_append_z(cp->err, ": ");
        relay_buf_append_z(cp->err, text);
    }

    return RELAY_ERROR;
}


relay_int_t
relay_schema_str(relay_schema_compiler_t *cp, relay_str_t *str, size_t v)
{
    relay_int_t  rc;
    relay_buf_t  buf;

    if (cp->source.nodes[v].type != RELAY_JSON_STRING
        && cp->source.nodes[v].type != RELAY_JSON_KEY)
    {
        return relay_schema_error(cp, v, "a string is needed here");
    }

    rc = RELAY_ERROR;
    relay_buf_init(&buf, RELAY_DOCUMENT_MAX);

    if (relay_json_str_decode(&cp->schema->tape, &cp->schema->text, v, &buf)
        == RELAY_OK)
    {
        str->len = buf.len;
        str->data = relay_schema_alloc(cp, buf.len + 1, 1);

        if (str->data != NULL) {
            rc = RELAY_OK;

            if (buf.len > 0) {
                memcpy(str->data, buf.data, buf.len);
            }
        }
    }

    relay_buf_free(&buf);

    return rc;
}


relay_int_t
relay_schema_name(relay_schema_compiler_t *cp, relay_schema_name_t *name,
    size_t v)
{
    if (relay_schema_str(cp, &name->str, v) != RELAY_OK) {
        return RELAY_ERROR;
    }

    name->hash = relay_json_hash(name->str.data, name->str.len);

    return RELAY_OK;
}


relay_schema_t *
relay_schema_compile(const relay_str_t *json, relay_buf_t *err)
{
    size_t                    i;
    relay_int_t               rc;
    relay_schema_t           *schema;
    relay_json_error_t        jerr;
    relay_schema_rule_t      *rule;
    relay_schema_compiler_t   cp;

    relay_buf_reset(err);

    schema = calloc(1, sizeof(relay_schema_t));
    if (schema == NULL) {
        relay_buf_append_z(err, "no memory");
        return NULL;
    }

    memset(&cp, 0, sizeof(relay_schema_compiler_t));
    cp.schema = schema;
    cp.err = err;

    relay_json_tape_init(&schema->tape);

    schema->text.len = json->len;
    schema->text.data = relay_schema_alloc(&cp, json->len, 1);

    if (schema->text.data == NULL) {
        goto failed;
    }

    if (json->len > 0) {
        memcpy(schema->text.data, json->data, json->len);
    }

    rc = relay_json_parse(&schema->tape, &schema->text,
                          &relay_json_default_limits, &jerr);

    if (rc == RELAY_DECLINED) {
        relay_buf_printf(err, "line %zu, column %zu: %s", jerr.line,
                         jerr.column, jerr.text);
        goto failed;
    }

    if (rc != RELAY_OK) {
        relay_buf_append_z(err, "no memory");
        goto failed;
    }

    cp.source.doc = &schema->text;
    cp.source.nodes = schema->tape.nodes;
    cp.rules = calloc(schema->tape.n, sizeof(relay_schema_rule_t *));

    if (cp.rules == NULL) {
        relay_buf_append_z(err, "no memory");
        goto failed;
    }

    /* a reference may name the schema's own address: that comes first */

    i = relay_json_get(&schema->tape, &schema->text, 0, "$id", 3);

    if (i != 0) {

        if (relay_schema_str(&cp, &schema->id, i) != RELAY_OK) {
            goto failed;
        }

        if (schema->id.len > 0
            && schema->id.data[schema->id.len - 1] == '#')
        {
            schema->id.len--;
        }
    }

    schema->root = relay_schema_rule(&cp, 0);

    if (schema->root == NULL) {
        goto failed;
    }

    for (rule = schema->rules; rule != NULL; rule = rule->next) {
        if (relay_schema_link(&cp, rule) != RELAY_OK) {
            goto failed;
        }
    }

    for (rule = schema->rules; rule != NULL; rule = rule->next) {
        if (relay_schema_chain(&cp, rule, 0) != RELAY_OK) {
            goto failed;
        }
    }

    free(cp.rules);

    return schema;

failed:

    free(cp.rules);
    relay_schema_free(schema);

    return NULL;
}


void
relay_schema_free(relay_schema_t *schema)
{
    relay_schema_block_t    *block;
    relay_schema_pattern_t  *pattern;

    for (pattern = schema->patterns; pattern != NULL; pattern = pattern->next) {
        relay_schema_pattern_free(pattern);
    }

    while (schema->blocks != NULL) {
        block = schema->blocks;
        schema->blocks = block->next;
        free(block);
    }

    relay_json_tape_free(&schema->tape);
    free(schema);
}


const relay_str_t *
relay_schema_id(const relay_schema_t *schema)
{
    return &schema->id;
}


relay_schema_rule_t *
relay_schema_rule(relay_schema_compiler_t *cp, size_t v)
{
    size_t                         i, n;
    relay_str_t                    name;
    relay_schema_rule_t           *rule;
    const relay_json_node_t       *nodes;
    const relay_schema_keyword_t  *keyword;

    nodes = cp->source.nodes;

    rule = relay_schema_alloc(cp, 1, sizeof(relay_schema_rule_t));
    if (rule == NULL) {
        return NULL;
    }

    rule->types = RELAY_SCHEMA_ALL;
    rule->node = v;
    rule->next = cp->schema->rules;

    cp->schema->rules = rule;
    cp->rules[v] = rule;

    if (nodes[v].type == RELAY_JSON_TRUE) {
        rule->plain = 1;
        return rule;
    }

    if (nodes[v].type == RELAY_JSON_FALSE) {
        rule->plain = 1;
        rule->never = 1;
        rule->types = 0;
        return rule;
    }

    if (nodes[v].type != RELAY_JSON_OBJECT) {
        (void) relay_schema_error(cp, v, "a schema is an object, true or "
                                  "false");
        return NULL;
    }

    i = v + 1;

    for (n = nodes[v].count; n > 0; n--) {

        if (relay_schema_str(cp, &name, i) != RELAY_OK) {
            return NULL;
        }

        keyword = relay_schema_keyword(&name);

        if (keyword == NULL) {
            (void) relay_schema_error(cp, i, "the keyword is not supported");
            return NULL;
        }

        if (keyword->compile != NULL
            && keyword->compile(cp, rule, i + 1, keyword->key) != RELAY_OK)
        {
            return NULL;
        }

        i = nodes[i + 1].next;
    }

    if (rule->object != NULL && relay_schema_members(cp, rule) != RELAY_OK) {
        return NULL;
    }

    if (rule->array != NULL && rule->array->contains == NULL) {

        /* without "contains" they say nothing */

        rule->array->min_contains = 0;
        rule->array->max_contains = RELAY_SCHEMA_NONE;
    }

    if (rule->logic != NULL && rule->logic->cond == NULL) {
        rule->logic->then = NULL;
        rule->logic->other = NULL;
    }

    if (rule->constant == NULL && rule->values == NULL && rule->string == NULL
        && rule->numeric == NULL && rule->array == NULL && rule->object == NULL
        && rule->logic == NULL)
    {
        rule->plain = (rule->ref_node == 0);
        rule->alias = (rule->ref_node != 0 && rule->types == RELAY_SCHEMA_ALL);
    }

    return rule;
}


/*
 * The table of an object's members: those that have a schema and those that are
 * required.
 */

static relay_int_t
relay_schema_members(relay_schema_compiler_t *cp, relay_schema_rule_t *rule)
{
    size_t                  i, k, size, room;
    relay_schema_object_t  *object;
    relay_schema_member_t  *members;

    object = rule->object;
    room = object->nmembers + object->nrequired;

    if (room == 0) {
        return RELAY_OK;
    }

    members = relay_schema_alloc(cp, room, sizeof(relay_schema_member_t));

    for (size = 4; size < 2 * room; size *= 2) { /* void */ }

    object->slots = relay_schema_alloc(cp, size, sizeof(uint32_t));
    object->mask = (uint32_t) size - 1;

    if (members == NULL || object->slots == NULL) {
        return RELAY_ERROR;
    }

    if (object->nmembers > 0) {
        memcpy(members, object->members,
               object->nmembers * sizeof(relay_schema_member_t));
    }

    object->members = members;

    for (i = 0; i < object->nmembers; i++) {

        k = members[i].name.hash & object->mask;

        while (object->slots[k] != 0) {
            k = (k + 1) & object->mask;
        }

        object->slots[k] = (uint32_t) i + 1;
    }

    for (i = 0; i < object->nrequired && i < RELAY_SCHEMA_BITS; i++) {

        object->bits |= 1ull << i;
        k = object->required[i].hash & object->mask;

        while (object->slots[k] != 0
               && !relay_str_eq(&members[object->slots[k] - 1].name.str,
                                &object->required[i].str))
        {
            k = (k + 1) & object->mask;
        }

        if (object->slots[k] == 0) {
            members[object->nmembers++].name = object->required[i];
            object->slots[k] = (uint32_t) object->nmembers;
        }

        members[object->slots[k] - 1].required |= 1ull << i;
    }

    return RELAY_OK;
}


/* Where a $ref leads to. */

static relay_int_t
relay_schema_link(relay_schema_compiler_t *cp, relay_schema_rule_t *rule)
{
    size_t                v;
    relay_str_t           s, anchor;
    relay_schema_t       *schema;
    relay_schema_rule_t  *r;

    if (rule->ref_node == 0) {
        return RELAY_OK;
    }

    schema = cp->schema;

    if (relay_schema_fragment(cp, rule->ref_node, &s) != RELAY_OK) {
        return RELAY_ERROR;
    }

    if (s.len == 0 || s.data[0] == '/') {

        if (relay_pointer_find(&schema->tape, &schema->text, &s, &v)
            == RELAY_OK)
        {
            rule->ref = cp->rules[v];
        }

    } else {

        for (r = schema->rules; r != NULL; r = r->next) {

            v = relay_json_get(&schema->tape, &schema->text, r->node,
                               "$anchor", 7);

            if (v == 0) {
                continue;
            }

            if (relay_schema_str(cp, &anchor, v) != RELAY_OK) {
                return RELAY_ERROR;
            }

            if (!relay_str_eq(&anchor, &s)) {
                continue;
            }

            if (rule->ref != NULL) {
                return relay_schema_error(cp, v, "the anchor is there twice");
            }

            rule->ref = r;
        }
    }

    if (rule->ref == NULL) {
        return relay_schema_error(cp, rule->ref_node,
                                  "the reference leads to no schema");
    }

    return RELAY_OK;
}


/* What stands behind the "#" of a reference, its percent-encoding taken off. */

static relay_int_t
relay_schema_fragment(relay_schema_compiler_t *cp, size_t v, relay_str_t *s)
{
    int             high, low;
    size_t          i;
    relay_str_t     ref, *id;
    unsigned char  *out;

    if (relay_schema_str(cp, &ref, v) != RELAY_OK) {
        return RELAY_ERROR;
    }

    i = 0;
    id = &cp->schema->id;

    if (id->len > 0 && ref.len >= id->len
        && memcmp(ref.data, id->data, id->len) == 0)
    {
        i = id->len;
    }

    if (i == ref.len) {
        s->data = ref.data;
        s->len = 0;

        return (i > 0) ? RELAY_OK
                       : relay_schema_error(cp, v, "the reference is empty");
    }

    if (ref.data[i] != '#') {
        return relay_schema_error(cp, v, "a reference to another document is "
                                  "not supported");
    }

    s->data = ref.data + i + 1;
    out = s->data;

    for (i++; i < ref.len; i++) {

        if (ref.data[i] != '%') {
            *out++ = ref.data[i];
            continue;
        }

        high = (ref.len - i > 2) ? relay_schema_hex(ref.data[i + 1]) : -1;
        low = (ref.len - i > 2) ? relay_schema_hex(ref.data[i + 2]) : -1;

        if (high < 0 || low < 0) {
            return relay_schema_error(cp, v, "not a reference");
        }

        *out++ = (unsigned char) (high << 4 | low);
        i += 2;
    }

    s->len = out - s->data;

    return RELAY_OK;
}


static relay_int_t
relay_schema_chain_of(relay_schema_compiler_t *cp, relay_schema_rule_t *rule,
    const relay_schema_list_t *list, relay_schema_rule_t *one, unsigned depth)
{
    size_t  i;

    if (one != NULL) {

        if (relay_schema_chain(cp, one, depth) != RELAY_OK) {
            return RELAY_ERROR;
        }

        if (rule->chain <= one->chain) {
            rule->chain = one->chain + 1;
        }
    }

    for (i = 0; list != NULL && i < list->n; i++) {

        if (relay_schema_chain_of(cp, rule, NULL, list->elts[i], depth)
            != RELAY_OK)
        {
            return RELAY_ERROR;
        }
    }

    return RELAY_OK;
}


/*
 * The longest chain of schemas that apply to one value because of this rule.
 * One without an end, which is one that comes back, is refused.
 */

static relay_int_t
relay_schema_chain(relay_schema_compiler_t *cp, relay_schema_rule_t *rule,
    unsigned depth)
{
    size_t                 i;
    relay_int_t            rc;
    relay_schema_logic_t  *logic;

    if (rule->open) {
        return relay_schema_error(cp, rule->node, "the schema refers to itself "
                                  "for the same value");
    }

    if (rule->chain != 0) {
        return RELAY_OK;
    }

    if (depth == RELAY_SCHEMA_CHAIN) {
        return relay_schema_error(cp, rule->node, "too many schemas apply to "
                                  "the same value, one because of another");
    }

    rule->open = 1;
    rule->chain = 1;
    logic = rule->logic;
    depth++;

    rc = relay_schema_chain_of(cp, rule, NULL, rule->ref, depth);

    if (rc == RELAY_OK && logic != NULL
        && (relay_schema_chain_of(cp, rule, &logic->all, logic->not, depth)
            != RELAY_OK
            || relay_schema_chain_of(cp, rule, &logic->any, logic->cond, depth)
               != RELAY_OK
            || relay_schema_chain_of(cp, rule, &logic->one, logic->then, depth)
               != RELAY_OK
            || relay_schema_chain_of(cp, rule, NULL, logic->other, depth)
               != RELAY_OK))
    {
        rc = RELAY_ERROR;
    }

    if (rc == RELAY_OK && rule->object != NULL) {

        for (i = 0; i < rule->object->ndependents; i++) {

            rc = relay_schema_chain_of(cp, rule, NULL,
                                       rule->object->dependents[i].rule,
                                       depth);
            if (rc != RELAY_OK) {
                break;
            }
        }
    }

    if (rc == RELAY_OK && rule->chain > RELAY_SCHEMA_CHAIN) {
        rc = relay_schema_error(cp, rule->node, "too many schemas apply to the "
                                "same value, one because of another");
    }

    rule->open = 0;

    return rc;
}
