
/*
 * relay_schema: runs compiled rules over a tape.
 *
 * It recurses into containers, which RELAY_SCHEMA_DEPTH limits, and from one
 * schema to the next for the same value, which the compiler has limited.
 *
 * Marks say which children of a container a schema, and those that apply to the
 * same value because of it, have looked at.  They are kept only below an
 * "unevaluatedItems" or "unevaluatedProperties", a byte for each child, in a
 * stack; RELAY_SCHEMA_NONE stands for none.
 */

#include <stdlib.h>

#include "relay_schema_rule.h"


static relay_int_t relay_schema_checks(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i, size_t marks);
static relay_int_t relay_schema_unevaluated(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, const relay_schema_rule_t *child,
    size_t i, size_t marks);
static relay_int_t relay_schema_check_logic(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i, size_t marks);
static relay_int_t relay_schema_count(relay_schema_ctx_t *ctx,
    const relay_schema_list_t *list, size_t i, size_t marks, size_t most,
    size_t *count);
static relay_int_t relay_schema_record(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, relay_schema_key_e key, size_t i,
    size_t at, size_t index);
static relay_int_t relay_schema_marks(relay_schema_ctx_t *ctx, size_t n,
    size_t *marks);
static void relay_schema_sort_errors(relay_schema_run_t *run);


void
relay_schema_run_init(relay_schema_run_t *run, size_t max)
{
    memset(run, 0, sizeof(relay_schema_run_t));

    run->max = (max > 0) ? max : 1;
    relay_buf_init(&run->text, RELAY_DOCUMENT_MAX);
}


void
relay_schema_run_free(relay_schema_run_t *run)
{
    free(run->errors);
    free(run->marks);
    free(run->items);
    relay_buf_free(&run->text);

    if (run->match != NULL) {
        relay_schema_match_free(run->match);
    }

    relay_schema_run_init(run, run->max);
}


relay_int_t
relay_schema_validate(const relay_schema_t *schema, const relay_str_t *doc,
    const relay_json_tape_t *tape, relay_schema_run_t *run)
{
    relay_int_t         rc;
    relay_schema_ctx_t  ctx;

    ctx.tape = tape;
    ctx.nodes = tape->nodes;
    ctx.doc.doc = doc;
    ctx.doc.nodes = tape->nodes;
    ctx.schema.doc = &schema->text;
    ctx.schema.nodes = schema->tape.nodes;
    ctx.run = run;
    ctx.depth = 0;
    ctx.steps = RELAY_SCHEMA_STEPS;
    ctx.marks = 0;
    ctx.quiet = 0;
    ctx.full = 0;
    ctx.limit = 0;

    run->n = 0;

    rc = relay_schema_apply(&ctx, schema->root, 0, RELAY_SCHEMA_NONE);

    if (rc == RELAY_ERROR && ctx.limit) {
        rc = RELAY_DECLINED;
    }

    if (rc == RELAY_DECLINED && run->n > 1) {
        relay_schema_sort_errors(run);
    }

    return rc;
}


relay_int_t
relay_schema_apply(relay_schema_ctx_t *ctx, const relay_schema_rule_t *rule,
    size_t i, size_t marks)
{
    size_t                      mine, used;
    relay_int_t                 rc, verdict;
    relay_schema_number_t       number;
    const relay_json_node_t    *node;
    const relay_schema_rule_t  *child;

    while (rule->alias) {
        rule = rule->ref;
    }

    if (ctx->steps == 0) {
        return relay_schema_limit(ctx, rule, i);
    }

    ctx->steps--;

    node = &ctx->nodes[i];

    if (!((rule->types >> node->type) & 1)) {

        if (rule->never) {
            return relay_schema_fail(ctx, rule, RELAY_SCHEMA_KEY_FALSE, i, i,
                                     0);
        }

        if (node->type != RELAY_JSON_NUMBER
            || !(rule->types & RELAY_SCHEMA_INTEGER))
        {
            return relay_schema_fail(ctx, rule, RELAY_SCHEMA_KEY_TYPE, i, i,
                                     0);
        }

        relay_schema_number(&ctx->doc, i, &number);

        if (!relay_schema_number_integer(&number)) {
            return relay_schema_fail(ctx, rule, RELAY_SCHEMA_KEY_TYPE, i, i,
                                     0);
        }
    }

    if (rule->plain) {
        return RELAY_OK;
    }

    child = NULL;

    if (node->type == RELAY_JSON_OBJECT && rule->object != NULL) {
        child = rule->object->unevaluated;

    } else if (node->type == RELAY_JSON_ARRAY && rule->array != NULL) {
        child = rule->array->unevaluated;
    }

    if (child == NULL) {
        return relay_schema_checks(ctx, rule, i, marks);
    }

    /* what those outside have looked at does not count, hence other marks */

    used = ctx->marks;

    if (relay_schema_marks(ctx, node->count, &mine) != RELAY_OK) {
        return RELAY_ERROR;
    }

    verdict = RELAY_OK;
    rc = relay_schema_checks(ctx, rule, i, mine);

    if (relay_schema_ends(ctx, rc, &verdict)) {
        return rc;
    }

    rc = relay_schema_unevaluated(ctx, rule, child, i, mine);

    if (relay_schema_ends(ctx, rc, &verdict)) {
        return rc;
    }

    ctx->marks = used;

    if (verdict == RELAY_OK && marks != RELAY_SCHEMA_NONE) {
        memset(ctx->run->marks + marks, 1, node->count);
    }

    return verdict;
}


/* All of a rule but its types and what it says of the children left over. */

static relay_int_t
relay_schema_checks(relay_schema_ctx_t *ctx, const relay_schema_rule_t *rule,
    size_t i, size_t marks)
{
    relay_int_t  rc, verdict;

    verdict = RELAY_OK;

    if (rule->constant != NULL || rule->values != NULL) {

        rc = relay_schema_check_values(ctx, rule, i);

        if (relay_schema_ends(ctx, rc, &verdict)) {
            return rc;
        }
    }

    rc = RELAY_OK;

    switch (ctx->nodes[i].type) {

    case RELAY_JSON_NUMBER:
        if (rule->numeric != NULL) {
            rc = relay_schema_check_numeric(ctx, rule, i);
        }

        break;

    case RELAY_JSON_STRING:
    case RELAY_JSON_KEY:
        if (rule->string != NULL) {
            rc = relay_schema_check_string(ctx, rule, i);
        }

        break;

    case RELAY_JSON_ARRAY:
        if (rule->array != NULL) {
            rc = relay_schema_check_array(ctx, rule, i, marks);
        }

        break;

    case RELAY_JSON_OBJECT:
        if (rule->object != NULL) {
            rc = relay_schema_check_object(ctx, rule, i, marks);
        }

        break;

    default:
        break;
    }

    if (relay_schema_ends(ctx, rc, &verdict)) {
        return rc;
    }

    if (rule->ref != NULL) {

        rc = relay_schema_apply(ctx, rule->ref, i, marks);

        if (relay_schema_ends(ctx, rc, &verdict)) {
            return rc;
        }
    }

    if (rule->logic != NULL) {

        rc = relay_schema_check_logic(ctx, rule, i, marks);

        if (rc != RELAY_OK) {
            return rc;
        }
    }

    return verdict;
}


/* unevaluatedItems and unevaluatedProperties: the children without a mark. */

static relay_int_t
relay_schema_unevaluated(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, const relay_schema_rule_t *child,
    size_t i, size_t marks)
{
    size_t              n, k, v;
    relay_int_t         rc, verdict;
    relay_uint_t        object;
    relay_schema_key_e  key;

    object = (ctx->nodes[i].type == RELAY_JSON_OBJECT);
    key = object ? RELAY_SCHEMA_KEY_UNEVALUATED_PROPERTIES
                 : RELAY_SCHEMA_KEY_UNEVALUATED_ITEMS;
    verdict = RELAY_OK;
    k = i + 1;

    if (ctx->depth == RELAY_SCHEMA_DEPTH) {
        return relay_schema_limit(ctx, rule, i);
    }

    ctx->depth++;

    for (n = 0; n < ctx->nodes[i].count; n++) {

        v = object ? k + 1 : k;

        if (!ctx->run->marks[marks + n]) {

            rc = child->never ? relay_schema_fail(ctx, rule, key, i, k, 0)
                              : relay_schema_apply(ctx, child, v,
                                                   RELAY_SCHEMA_NONE);
            if (relay_schema_ends(ctx, rc, &verdict)) {
                return rc;
            }
        }

        k = ctx->nodes[v].next;
    }

    ctx->depth--;

    return verdict;
}


static relay_int_t
relay_schema_check_logic(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i, size_t marks)
{
    size_t                       n, count;
    relay_int_t                  rc, verdict;
    const relay_schema_rule_t   *next;
    const relay_schema_logic_t  *logic;

    logic = rule->logic;
    verdict = RELAY_OK;

    for (n = 0; n < logic->all.n; n++) {

        rc = relay_schema_apply(ctx, logic->all.elts[n], i, marks);

        if (relay_schema_ends(ctx, rc, &verdict)) {
            return rc;
        }
    }

    if (logic->any.n > 0) {

        rc = relay_schema_count(ctx, &logic->any, i, marks, 1, &count);

        if (rc == RELAY_OK && count == 0) {
            rc = relay_schema_fail(ctx, rule, RELAY_SCHEMA_KEY_ANY_OF, i, i, 0);
        }

        if (relay_schema_ends(ctx, rc, &verdict)) {
            return rc;
        }
    }

    if (logic->one.n > 0) {

        rc = relay_schema_count(ctx, &logic->one, i, marks, 2, &count);

        if (rc == RELAY_OK && count != 1) {
            rc = relay_schema_fail(ctx, rule, RELAY_SCHEMA_KEY_ONE_OF, i, i,
                                   count);
        }

        if (relay_schema_ends(ctx, rc, &verdict)) {
            return rc;
        }
    }

    if (logic->not != NULL) {

        rc = relay_schema_try(ctx, logic->not, i, RELAY_SCHEMA_NONE);

        if (rc == RELAY_OK) {
            rc = relay_schema_fail(ctx, rule, RELAY_SCHEMA_KEY_NOT, i, i, 0);

            if (relay_schema_ends(ctx, rc, &verdict)) {
                return rc;
            }

        } else if (rc == RELAY_ERROR) {
            return rc;
        }
    }

    if (logic->cond != NULL) {

        rc = relay_schema_try(ctx, logic->cond, i, marks);

        if (rc == RELAY_ERROR) {
            return rc;
        }

        next = (rc == RELAY_OK) ? logic->then : logic->other;

        if (next != NULL) {

            rc = relay_schema_apply(ctx, next, i, marks);

            if (rc != RELAY_OK) {
                return rc;
            }
        }
    }

    return verdict;
}


/*
 * How many of the schemas hold.  It stops at most of them, unless the others
 * have something to mark.
 */

static relay_int_t
relay_schema_count(relay_schema_ctx_t *ctx, const relay_schema_list_t *list,
    size_t i, size_t marks, size_t most, size_t *count)
{
    size_t       n;
    relay_int_t  rc;

    *count = 0;

    for (n = 0; n < list->n; n++) {

        rc = relay_schema_try(ctx, list->elts[n], i, marks);

        if (rc == RELAY_ERROR) {
            return RELAY_ERROR;
        }

        if (rc == RELAY_OK && ++(*count) == most
            && marks == RELAY_SCHEMA_NONE)
        {
            break;
        }
    }

    return RELAY_OK;
}


relay_int_t
relay_schema_try(relay_schema_ctx_t *ctx, const relay_schema_rule_t *rule,
    size_t i, size_t marks)
{
    size_t          n, depth, used, mine;
    relay_int_t     rc;
    unsigned char  *p;

    used = ctx->marks;
    depth = ctx->depth;
    mine = RELAY_SCHEMA_NONE;

    if (marks != RELAY_SCHEMA_NONE
        && relay_schema_marks(ctx, ctx->nodes[i].count, &mine) != RELAY_OK)
    {
        return RELAY_ERROR;
    }

    ctx->quiet++;

    rc = relay_schema_apply(ctx, rule, i, mine);

    ctx->quiet--;

    ctx->depth = depth;
    ctx->marks = used;

    if (rc == RELAY_OK && marks != RELAY_SCHEMA_NONE) {
        p = ctx->run->marks;

        for (n = 0; n < ctx->nodes[i].count; n++) {
            p[marks + n] |= p[mine + n];
        }
    }

    return rc;
}


relay_int_t
relay_schema_fail(relay_schema_ctx_t *ctx, const relay_schema_rule_t *rule,
    relay_schema_key_e key, size_t i, size_t at, size_t index)
{
    if (ctx->quiet) {
        return RELAY_DECLINED;
    }

    return relay_schema_record(ctx, rule, key, i, at, index);
}


relay_int_t
relay_schema_limit(relay_schema_ctx_t *ctx, const relay_schema_rule_t *rule,
    size_t i)
{
    /* the last of the others makes room for the one that counts */

    if (ctx->run->n == ctx->run->max) {
        ctx->run->n--;
    }

    ctx->limit = (relay_schema_record(ctx, rule, RELAY_SCHEMA_KEY_LIMIT, i, i,
                                      0)
                  == RELAY_DECLINED);

    return RELAY_ERROR;
}


static relay_int_t
relay_schema_record(relay_schema_ctx_t *ctx, const relay_schema_rule_t *rule,
    relay_schema_key_e key, size_t i, size_t at, size_t index)
{
    relay_schema_run_t    *run;
    relay_schema_error_t  *error;

    run = ctx->run;

    if (run->errors == NULL) {

        run->errors = calloc(run->max, sizeof(relay_schema_error_t));
        if (run->errors == NULL) {
            return RELAY_ERROR;
        }
    }

    error = &run->errors[run->n++];

    error->node = i;
    error->at = at;
    error->offset = ctx->nodes[at].off;
    error->keyword = relay_schema_key_name(key);
    error->rule = rule;
    error->key = key;
    error->index = index;

    ctx->full = (run->n == run->max);

    return RELAY_DECLINED;
}


/* Marks for n children, none of them set. */

static relay_int_t
relay_schema_marks(relay_schema_ctx_t *ctx, size_t n, size_t *marks)
{
    size_t               size;
    unsigned char       *p;
    relay_schema_run_t  *run;

    run = ctx->run;

    if (run->marks_size - ctx->marks < n || run->marks == NULL) {

        size = 2 * (ctx->marks + n) + 64;

        p = realloc(run->marks, size);
        if (p == NULL) {
            return RELAY_ERROR;
        }

        run->marks = p;
        run->marks_size = size;
    }

    memset(run->marks + ctx->marks, 0, n);

    *marks = ctx->marks;
    ctx->marks += n;

    return RELAY_OK;
}


/* They are nearly in order: what a container lacks is known at its end. */

static void
relay_schema_sort_errors(relay_schema_run_t *run)
{
    size_t                i, k;
    relay_schema_error_t  error;

    for (i = 1; i < run->n; i++) {
        error = run->errors[i];

        for (k = i; k > 0 && run->errors[k - 1].offset > error.offset; k--) {
            run->errors[k] = run->errors[k - 1];
        }

        run->errors[k] = error;
    }
}
