
/*
 * relay_schema_check: what a rule says of one value by its type: values,
 * numbers, strings, arrays and objects.
 */

#include <stdlib.h>

#include "relay_schema_rule.h"


static relay_int_t relay_schema_check_contains(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i, size_t marks);
static relay_int_t relay_schema_check_unique(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i);
static relay_int_t relay_schema_check_member(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i, size_t key,
    const relay_schema_member_t *member, relay_uint_t *known);
static relay_int_t relay_schema_check_required(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i, uint64_t seen);
static relay_int_t relay_schema_check_dependents(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i, size_t marks);
static relay_int_t relay_schema_match(relay_schema_ctx_t *ctx,
    const relay_schema_pattern_t *pattern, size_t i);
static relay_int_t relay_schema_text(relay_schema_ctx_t *ctx, size_t i,
    relay_str_t *s);


/* Whether the value is one of the schema's. */

static relay_int_t
relay_schema_is(relay_schema_ctx_t *ctx, const relay_schema_rule_t *rule,
    const relay_schema_value_t *value, size_t i)
{
    relay_int_t               rc;
    const relay_json_node_t  *node;

    node = &ctx->nodes[i];

    if (value->str.data != NULL
        && ((RELAY_SCHEMA_STRING >> node->type) & 1) && !node->escaped)
    {
        return (node->len - 2 == value->str.len
                && memcmp(ctx->doc.doc->data + node->off + 1, value->str.data,
                          value->str.len)
                   == 0)
               ? RELAY_OK : RELAY_DECLINED;
    }

    rc = relay_schema_equal(&ctx->doc, i, &ctx->schema, value->node, 0,
                            &ctx->steps);

    return (rc == RELAY_ERROR) ? relay_schema_limit(ctx, rule, i) : rc;
}


relay_int_t
relay_schema_check_values(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i)
{
    size_t       n;
    relay_int_t  rc;

    if (rule->constant != NULL) {

        rc = relay_schema_is(ctx, rule, rule->constant, i);

        if (rc == RELAY_DECLINED) {
            return relay_schema_fail(ctx, rule, RELAY_SCHEMA_KEY_CONST, i, i,
                                     0);
        }

        if (rc != RELAY_OK) {
            return rc;
        }
    }

    if (rule->values == NULL) {
        return RELAY_OK;
    }

    for (n = 0; n < rule->nvalues; n++) {

        rc = relay_schema_is(ctx, rule, &rule->values[n], i);

        if (rc != RELAY_DECLINED) {
            return rc;
        }
    }

    return relay_schema_fail(ctx, rule, RELAY_SCHEMA_KEY_ENUM, i, i, 0);
}


relay_int_t
relay_schema_check_numeric(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i)
{
    relay_schema_key_e             key;
    relay_schema_number_t          number;
    const relay_schema_numeric_t  *numeric;

    numeric = rule->numeric;

    relay_schema_number(&ctx->doc, i, &number);

    if (numeric->min != NULL
        && relay_schema_number_compare(&number, numeric->min) < 0)
    {
        key = RELAY_SCHEMA_KEY_MINIMUM;

    } else if (numeric->max != NULL
               && relay_schema_number_compare(&number, numeric->max) > 0)
    {
        key = RELAY_SCHEMA_KEY_MAXIMUM;

    } else if (numeric->above != NULL
               && relay_schema_number_compare(&number, numeric->above) <= 0)
    {
        key = RELAY_SCHEMA_KEY_EXCLUSIVE_MINIMUM;

    } else if (numeric->below != NULL
               && relay_schema_number_compare(&number, numeric->below) >= 0)
    {
        key = RELAY_SCHEMA_KEY_EXCLUSIVE_MAXIMUM;

    } else if (numeric->multiple != NULL
               && !relay_schema_number_multiple(&number, numeric->multiple))
    {
        key = RELAY_SCHEMA_KEY_MULTIPLE_OF;

    } else {
        return RELAY_OK;
    }

    return relay_schema_fail(ctx, rule, key, i, i, 0);
}


relay_int_t
relay_schema_check_string(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i)
{
    size_t                        len, n;
    relay_int_t                   rc;
    relay_str_t                   s;
    const relay_json_node_t      *node;
    const relay_schema_string_t  *string;

    string = rule->string;
    node = &ctx->nodes[i];
    len = node->len - 2;

    /* a code point takes 1 to 4 bytes, and 12 where it is escaped */

    if (len > string->max
        || string->min > (node->escaped ? len / 12 : len / 4))
    {
        n = relay_schema_length(&ctx->doc, i);

        if (n < string->min) {
            return relay_schema_fail(ctx, rule, RELAY_SCHEMA_KEY_MIN_LENGTH, i,
                                     i, 0);
        }

        if (n > string->max) {
            return relay_schema_fail(ctx, rule, RELAY_SCHEMA_KEY_MAX_LENGTH, i,
                                     i, 0);
        }
    }

    if (string->pattern != NULL) {

        rc = relay_schema_match(ctx, string->pattern, i);

        if (rc == RELAY_DECLINED) {
            return relay_schema_fail(ctx, rule, RELAY_SCHEMA_KEY_PATTERN, i, i,
                                     0);
        }

        if (rc != RELAY_OK) {
            return (rc == RELAY_AGAIN) ? relay_schema_limit(ctx, rule, i) : rc;
        }
    }

    if (string->format != NULL) {

        if (relay_schema_text(ctx, i, &s) != RELAY_OK) {
            return RELAY_ERROR;
        }

        if (string->format(s.data, s.len) != RELAY_OK) {
            return relay_schema_fail(ctx, rule, RELAY_SCHEMA_KEY_FORMAT, i, i,
                                     0);
        }
    }

    return RELAY_OK;
}


relay_int_t
relay_schema_check_array(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i, size_t marks)
{
    size_t                       n, k, count;
    relay_int_t                  rc, verdict;
    const relay_schema_rule_t   *child;
    const relay_schema_array_t  *array;

    array = rule->array;
    count = ctx->nodes[i].count;
    verdict = RELAY_OK;

    if (ctx->depth == RELAY_SCHEMA_DEPTH) {
        return relay_schema_limit(ctx, rule, i);
    }

    if (count < array->min) {
        rc = relay_schema_fail(ctx, rule, RELAY_SCHEMA_KEY_MIN_ITEMS, i, i, 0);

    } else if (count > array->max) {
        rc = relay_schema_fail(ctx, rule, RELAY_SCHEMA_KEY_MAX_ITEMS, i, i, 0);

    } else {
        rc = RELAY_OK;
    }

    if (relay_schema_ends(ctx, rc, &verdict)) {
        return rc;
    }

    ctx->depth++;

    k = i + 1;

    for (n = 0; n < count; n++) {

        child = (n < array->prefix.n) ? array->prefix.elts[n] : array->items;

        if (child == NULL) {
            break;
        }

        if (child == array->items && child->never) {
            rc = relay_schema_fail(ctx, rule, RELAY_SCHEMA_KEY_ITEMS, i, k, 0);

        } else {
            rc = relay_schema_apply(ctx, child, k, RELAY_SCHEMA_NONE);
        }

        if (relay_schema_ends(ctx, rc, &verdict)) {
            return rc;
        }

        if (marks != RELAY_SCHEMA_NONE) {
            ctx->run->marks[marks + n] = 1;
        }

        k = ctx->nodes[k].next;
    }

    if (array->contains != NULL) {

        rc = relay_schema_check_contains(ctx, rule, i, marks);

        if (relay_schema_ends(ctx, rc, &verdict)) {
            return rc;
        }
    }

    ctx->depth--;

    if (array->unique && count > 1) {

        rc = relay_schema_check_unique(ctx, rule, i);

        if (rc != RELAY_OK) {
            return rc;
        }
    }

    return verdict;
}


static relay_int_t
relay_schema_check_contains(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i, size_t marks)
{
    size_t                       n, k, found;
    relay_int_t                  rc;
    const relay_schema_array_t  *array;

    array = rule->array;
    found = 0;
    k = i + 1;

    for (n = 0; n < ctx->nodes[i].count; n++) {

        if (found >= array->min_contains
            && array->max_contains == RELAY_SCHEMA_NONE
            && marks == RELAY_SCHEMA_NONE)
        {
            break;
        }

        rc = relay_schema_try(ctx, array->contains, k, RELAY_SCHEMA_NONE);

        if (rc == RELAY_ERROR) {
            return rc;
        }

        if (rc == RELAY_OK) {
            found++;

            if (marks != RELAY_SCHEMA_NONE) {
                ctx->run->marks[marks + n] = 1;
            }
        }

        k = ctx->nodes[k].next;
    }

    if (found < array->min_contains) {
        return relay_schema_fail(ctx, rule, (array->min_contains == 1)
                                            ? RELAY_SCHEMA_KEY_CONTAINS
                                            : RELAY_SCHEMA_KEY_MIN_CONTAINS,
                                 i, i, 0);
    }

    if (found > array->max_contains) {
        return relay_schema_fail(ctx, rule, RELAY_SCHEMA_KEY_MAX_CONTAINS, i,
                                 i, 0);
    }

    return RELAY_OK;
}


static relay_int_t
relay_schema_check_unique(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i)
{
    void                *items;
    size_t               size, same;
    relay_int_t          rc;
    relay_schema_run_t  *run;

    run = ctx->run;
    size = ctx->nodes[i].count * sizeof(relay_schema_item_t);
    same = i;

    if (run->items_size < size) {

        items = realloc(run->items, size);
        if (items == NULL) {
            return RELAY_ERROR;
        }

        run->items = items;
        run->items_size = size;
    }

    rc = relay_schema_unique(&ctx->doc, i, run->items, &ctx->steps, &same);

    if (rc == RELAY_DECLINED) {
        return relay_schema_fail(ctx, rule, RELAY_SCHEMA_KEY_UNIQUE_ITEMS, i,
                                 same, 0);
    }

    return (rc == RELAY_ERROR) ? relay_schema_limit(ctx, rule, i) : RELAY_OK;
}


static relay_uint_t
relay_schema_named(const relay_schema_ctx_t *ctx, size_t key,
    const relay_schema_name_t *name)
{
    const relay_json_node_t  *node;

    node = &ctx->nodes[key];

    if (node->next != name->hash) {
        return 0;
    }

    if (!node->escaped) {
        return node->len - 2 == name->str.len
               && memcmp(ctx->doc.doc->data + node->off + 1, name->str.data,
                         name->str.len)
                  == 0;
    }

    return relay_json_str_is(ctx->tape, ctx->doc.doc, key,
                             (const char *) name->str.data, name->str.len);
}


/* What the schema says of a member; NULL: it does not name it. */

static inline const relay_schema_member_t *
relay_schema_member(const relay_schema_ctx_t *ctx,
    const relay_schema_object_t *object, size_t key)
{
    uint32_t  k, slot;

    if (object->slots == NULL) {
        return NULL;
    }

    k = ctx->nodes[key].next & object->mask;

    for ( ;; ) {
        slot = object->slots[k];

        if (slot == 0) {
            return NULL;
        }

        if (relay_schema_named(ctx, key, &object->members[slot - 1].name)) {
            return &object->members[slot - 1];
        }

        k = (k + 1) & object->mask;
    }
}


/* Whether the object at i has the member. */

static relay_uint_t
relay_schema_has(const relay_schema_ctx_t *ctx, size_t i,
    const relay_schema_name_t *name)
{
    size_t  n, k;

    k = i + 1;

    for (n = ctx->nodes[i].count; n > 0; n--) {

        if (relay_schema_named(ctx, k, name)) {
            return 1;
        }

        k = ctx->nodes[k + 1].next;
    }

    return 0;
}


relay_int_t
relay_schema_check_object(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i, size_t marks)
{
    size_t                        n, k, count;
    uint64_t                      seen;
    relay_int_t                   rc, verdict;
    relay_uint_t                  known;
    const relay_schema_member_t  *member;
    const relay_schema_object_t  *object;

    object = rule->object;
    count = ctx->nodes[i].count;
    verdict = RELAY_OK;

    if (ctx->depth == RELAY_SCHEMA_DEPTH) {
        return relay_schema_limit(ctx, rule, i);
    }

    if (count < object->min) {
        rc = relay_schema_fail(ctx, rule, RELAY_SCHEMA_KEY_MIN_PROPERTIES, i,
                               i, 0);

    } else if (count > object->max) {
        rc = relay_schema_fail(ctx, rule, RELAY_SCHEMA_KEY_MAX_PROPERTIES, i,
                               i, 0);

    } else {
        rc = RELAY_OK;
    }

    if (relay_schema_ends(ctx, rc, &verdict)) {
        return rc;
    }

    ctx->depth++;

    seen = 0;
    k = i + 1;

    for (n = 0; n < count; n++) {

        member = relay_schema_member(ctx, object, k);

        if (member != NULL) {
            seen |= member->required;
        }

        known = 0;
        rc = relay_schema_check_member(ctx, rule, i, k, member, &known);

        if (relay_schema_ends(ctx, rc, &verdict)) {
            return rc;
        }

        if (known && marks != RELAY_SCHEMA_NONE) {
            ctx->run->marks[marks + n] = 1;
        }

        k = ctx->nodes[k + 1].next;
    }

    ctx->depth--;

    if (seen != object->bits || object->nrequired > RELAY_SCHEMA_BITS) {

        rc = relay_schema_check_required(ctx, rule, i, seen);

        if (relay_schema_ends(ctx, rc, &verdict)) {
            return rc;
        }
    }

    if (object->ndependents > 0) {

        rc = relay_schema_check_dependents(ctx, rule, i, marks);

        if (rc != RELAY_OK) {
            return rc;
        }
    }

    return verdict;
}


/* *known: a schema is for this member, be it additionalProperties. */

static relay_int_t
relay_schema_check_member(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i, size_t key,
    const relay_schema_member_t *member, relay_uint_t *known)
{
    size_t                        n;
    relay_int_t                   rc, verdict;
    const relay_schema_object_t  *object;

    object = rule->object;
    verdict = RELAY_OK;

    if (member != NULL && member->rule != NULL) {

        *known = 1;
        rc = relay_schema_apply(ctx, member->rule, key + 1, RELAY_SCHEMA_NONE);

        if (relay_schema_ends(ctx, rc, &verdict)) {
            return rc;
        }
    }

    for (n = 0; n < object->npatterns; n++) {

        rc = relay_schema_match(ctx, object->patterns[n].pattern, key);

        if (rc == RELAY_DECLINED) {
            continue;
        }

        if (rc != RELAY_OK) {
            return (rc == RELAY_AGAIN) ? relay_schema_limit(ctx, rule, i) : rc;
        }

        *known = 1;
        rc = relay_schema_apply(ctx, object->patterns[n].rule, key + 1,
                                RELAY_SCHEMA_NONE);

        if (relay_schema_ends(ctx, rc, &verdict)) {
            return rc;
        }
    }

    if (!*known && object->additional != NULL) {

        *known = 1;

        if (object->additional->never) {
            rc = relay_schema_fail(ctx, rule,
                                   RELAY_SCHEMA_KEY_ADDITIONAL_PROPERTIES, i,
                                   key, 0);

        } else {
            rc = relay_schema_apply(ctx, object->additional, key + 1,
                                    RELAY_SCHEMA_NONE);
        }

        if (relay_schema_ends(ctx, rc, &verdict)) {
            return rc;
        }
    }

    if (object->names != NULL) {

        rc = relay_schema_try(ctx, object->names, key, RELAY_SCHEMA_NONE);

        if (rc == RELAY_DECLINED) {
            rc = relay_schema_fail(ctx, rule, RELAY_SCHEMA_KEY_PROPERTY_NAMES,
                                   i, key, 0);
        }

        if (rc != RELAY_OK) {
            return rc;
        }
    }

    return verdict;
}


static relay_int_t
relay_schema_check_required(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i, uint64_t seen)
{
    size_t                        n;
    relay_int_t                   rc, verdict;
    relay_uint_t                  has;
    const relay_schema_object_t  *object;

    object = rule->object;
    verdict = RELAY_OK;

    for (n = 0; n < object->nrequired; n++) {

        has = (n < RELAY_SCHEMA_BITS)
              ? (seen >> n) & 1
              : relay_schema_has(ctx, i, &object->required[n]);

        if (has) {
            continue;
        }

        rc = relay_schema_fail(ctx, rule, RELAY_SCHEMA_KEY_REQUIRED, i, i, n);

        if (relay_schema_ends(ctx, rc, &verdict)) {
            return rc;
        }
    }

    return verdict;
}


/* dependentRequired and dependentSchemas */

static relay_int_t
relay_schema_check_dependents(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i, size_t marks)
{
    size_t                           n, k;
    relay_int_t                      rc, verdict;
    const relay_schema_object_t     *object;
    const relay_schema_dependent_t  *d;

    object = rule->object;
    verdict = RELAY_OK;

    for (n = 0; n < object->ndependents; n++) {

        d = &object->dependents[n];

        if (!relay_schema_has(ctx, i, &d->name)) {
            continue;
        }

        rc = (d->rule != NULL) ? relay_schema_apply(ctx, d->rule, i, marks)
                               : RELAY_OK;

        for (k = 0; k < d->nrequired && rc == RELAY_OK; k++) {

            if (!relay_schema_has(ctx, i, &d->required[k])) {
                rc = relay_schema_fail(ctx, rule,
                                       RELAY_SCHEMA_KEY_DEPENDENT_REQUIRED, i,
                                       i, n);
            }
        }

        if (relay_schema_ends(ctx, rc, &verdict)) {
            return rc;
        }
    }

    return verdict;
}


/* The string or name at i, unescaped; valid until the next call. */

static relay_int_t
relay_schema_text(relay_schema_ctx_t *ctx, size_t i, relay_str_t *s)
{
    const relay_json_node_t  *node;

    node = &ctx->nodes[i];

    if (!node->escaped) {
        s->data = ctx->doc.doc->data + node->off + 1;
        s->len = node->len - 2;

        return RELAY_OK;
    }

    relay_buf_reset(&ctx->run->text);

    if (relay_json_str_decode(ctx->tape, ctx->doc.doc, i, &ctx->run->text)
        != RELAY_OK)
    {
        return RELAY_ERROR;
    }

    relay_buf_str(&ctx->run->text, s);

    return RELAY_OK;
}


/*
 * RELAY_AGAIN: it costs too much.  That a pattern is tried costs a step for
 * every 64 bytes, so that a document cannot ask for it without end.
 */

static relay_int_t
relay_schema_match(relay_schema_ctx_t *ctx,
    const relay_schema_pattern_t *pattern, size_t i)
{
    size_t       steps;
    relay_str_t  s;

    steps = 1 + ctx->nodes[i].len / 64;

    if (ctx->steps < steps) {
        return RELAY_AGAIN;
    }

    ctx->steps -= steps;

    if (relay_schema_text(ctx, i, &s) != RELAY_OK) {
        return RELAY_ERROR;
    }

    return relay_schema_pattern_match(pattern, &s, &ctx->run->match);
}
