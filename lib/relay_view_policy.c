
/*
 * relay_view_policy: the compiler of view policies: JSON in, a tree of rules
 * that has the shape of the document type out.
 */

#include <stdlib.h>

#include "relay_view_rule.h"
#include "relay_link.h"


#define RELAY_VIEW_DEPTH       32       /* of the tree of rules */
#define RELAY_VIEW_MEMBERS     1024     /* of one object's rules */


/* the place in a policy, for messages */

typedef struct relay_view_path_s  relay_view_path_t;

struct relay_view_path_s {
    relay_view_path_t    *parent;
    size_t                key;          /* 0: an element */
    size_t                index;
};


typedef struct {
    relay_view_name_t     name;
    size_t                node;
    relay_view_rule_t    *rule;
} relay_view_def_t;


typedef struct {
    relay_view_policy_t  *policy;
    relay_json_tape_t    *tape;
    const relay_str_t    *doc;
    relay_buf_t          *err;
    relay_view_def_t     *defs;
    size_t                defs_n;
    relay_view_path_t     defs_path;
    unsigned              defs_depth;   /* definitions within one another */
} relay_view_compiler_t;


static const struct {
    relay_str_t   name;
    unsigned      bits;
} relay_view_words[] = {
    { relay_string("keep"), RELAY_VIEW_KEEP },
    { relay_string("drop"), RELAY_VIEW_DROP },
    { relay_string("blank"), RELAY_VIEW_BLANK },
    { relay_string("constant"), RELAY_VIEW_CONSTANT },
    { relay_string("joined"), RELAY_VIEW_JOINED },
    { relay_string("by"), RELAY_VIEW_BY },
    { relay_string("marked"), RELAY_VIEW_MARKED },
    { relay_string("fresh"), RELAY_VIEW_FRESH },
    { relay_string("labelled"), RELAY_VIEW_LABELLED },
    { relay_string("unnamed"), RELAY_VIEW_UNNAMED },
    { relay_string("left"), RELAY_VIEW_LEFT },
    { relay_string("unasked"), RELAY_VIEW_UNASKED },
    { relay_string("suggest"), RELAY_VIEW_SUGGEST },
    { relay_string("edit"), RELAY_VIEW_EDIT },
    { relay_string("code"), RELAY_VIEW_IS_CODE },
    { relay_string("mark"), RELAY_VIEW_IS_MARK },
    { relay_string("flag"), RELAY_VIEW_IS_FLAG },
    { relay_null_string, 0 }
};


static relay_view_rule_t *relay_view_rule(relay_view_compiler_t *cp,
    size_t node, relay_view_path_t *path);


static void *
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


static void
relay_view_pointer_print(relay_view_compiler_t *cp, relay_view_path_t *path)
{
    if (path == NULL) {
        return;
    }

    relay_view_pointer_print(cp, path->parent);

    if (path->key == 0) {
        (void) relay_buf_printf(cp->err, "/%zu", path->index);
        return;
    }

    (void) relay_buf_append_c(cp->err, '/');
    (void) relay_json_str_decode(cp->tape, cp->doc, path->key, cp->err);
}


static void *
relay_view_error(relay_view_compiler_t *cp, relay_view_path_t *path,
    const char *text)
{
    if (cp->err->len == 0) {
        relay_view_pointer_print(cp, path);
        (void) relay_buf_append_z(cp->err, path == NULL ? "" : ": ");
        (void) relay_buf_append_z(cp->err, text);
    }

    return NULL;
}


static relay_int_t
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

static relay_int_t
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


static relay_int_t
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


/* One word: an action and conditions, joined by "+". */

static relay_int_t
relay_view_word(const unsigned char *p, const unsigned char *last,
    unsigned *bits)
{
    size_t                i, len;
    unsigned              actions;
    const unsigned char  *q;

    *bits = 0;
    actions = 0;

    for ( ;; ) {

        for (q = p; q < last && *q != '+'; q++) { /* void */ }

        len = q - p;

        for (i = 0; relay_view_words[i].name.len != 0; i++) {
            if (relay_view_words[i].name.len == len
                && memcmp(relay_view_words[i].name.data, p, len) == 0)
            {
                break;
            }
        }

        if (relay_view_words[i].name.len == 0) {
            return RELAY_DECLINED;
        }

        if (relay_view_words[i].bits <= RELAY_VIEW_ACTION && ++actions > 1) {
            return RELAY_DECLINED;
        }

        *bits |= relay_view_words[i].bits;

        if (q == last) {
            return RELAY_OK;
        }

        p = q + 1;
    }
}


/* The words of a rule: one for all views, or one for each. */

static relay_int_t
relay_view_columns(relay_view_compiler_t *cp, relay_view_rule_t *rule,
    size_t node, relay_view_path_t *path)
{
    size_t                n, i;
    unsigned              bits;
    relay_view_name_t     name;
    relay_view_policy_t  *policy;
    const unsigned char  *p, *q, *last;

    policy = cp->policy;

    if (relay_view_string(cp, &name, node, path) != RELAY_OK) {
        return RELAY_ERROR;
    }

    p = name.str.data;
    last = p + name.str.len;
    bits = 0;
    n = 0;

    for ( ;; ) {

        while (p < last && *p == ' ') {
            p++;
        }

        if (p == last) {
            break;
        }

        for (q = p; q < last && *q != ' '; q++) { /* void */ }

        if (relay_view_word(p, q, &bits) != RELAY_OK) {
            relay_view_error(cp, path, "a word that no policy knows");
            return RELAY_ERROR;
        }

        if (n == policy->views_n) {
            relay_view_error(cp, path, "more words than there are views");
            return RELAY_ERROR;
        }

        rule->act[policy->views[n++]] = (uint16_t) (bits & ~RELAY_VIEW_TYPES);
        rule->type |= bits & RELAY_VIEW_TYPES;

        p = q;
    }

    if (n == 1) {
        for (i = 1; i < policy->views_n; i++) {
            rule->act[policy->views[i]] = rule->act[policy->views[0]];
        }

        return RELAY_OK;
    }

    if (n != policy->views_n) {
        relay_view_error(cp, path, "one word is needed, or one for each view");
        return RELAY_ERROR;
    }

    return RELAY_OK;
}


/* What one value of a $by leads to. */

static relay_int_t
relay_view_case(relay_view_compiler_t *cp, relay_view_by_t *by,
    relay_view_case_t *cs, size_t node, relay_view_path_t *path)
{
    relay_view_name_t  name;

    if (relay_view_string(cp, &name, node, path) != RELAY_OK) {
        return RELAY_ERROR;
    }

    if (name.str.len > 5 && memcmp(name.str.data, "take ", 5) == 0) {

        if (by->own) {
            relay_view_error(cp, path, "\"take\" needs a \"beside\"");
            return RELAY_ERROR;
        }

        cs->action = RELAY_VIEW_TAKE;

        if (relay_view_name_set(cp, &cs->take, name.str.data + 5,
                                name.str.len - 5)
            != RELAY_OK)
        {
            return RELAY_ERROR;
        }

        return RELAY_OK;
    }

    if (relay_view_word(name.str.data, name.str.data + name.str.len,
                        &cs->action)
        != RELAY_OK
        || (cs->action & ~(unsigned) (RELAY_VIEW_ACTION|RELAY_VIEW_LABELLED
                                      |RELAY_VIEW_SUGGEST|RELAY_VIEW_EDIT))
        || (cs->action & RELAY_VIEW_ACTION) > RELAY_VIEW_BLANK)
    {
        relay_view_error(cp, path, "a word that no \"$by\" knows");
        return RELAY_ERROR;
    }

    return RELAY_OK;
}


/* A member of a $by, which counts it; 0 when there is none. */

static size_t
relay_view_by_member(relay_view_compiler_t *cp, size_t node, const char *name,
    relay_view_path_t *here, size_t *known)
{
    size_t  k;

    k = relay_json_get(cp->tape, cp->doc, node, name, strlen(name));

    if (k != 0) {
        here->key = k - 1;
        (*known)++;
    }

    return k;
}


static relay_view_by_t *
relay_view_by(relay_view_compiler_t *cp, size_t node, relay_view_path_t *path)
{
    size_t              i, k, n, known;
    relay_view_by_t    *by;
    relay_view_path_t   here, value;

    if (cp->tape->nodes[node].type != RELAY_JSON_OBJECT) {
        return relay_view_error(cp, path, "an object is needed here");
    }

    by = relay_view_alloc(cp->policy, sizeof(relay_view_by_t));
    if (by == NULL) {
        return NULL;
    }

    here.parent = path;
    here.index = 0;
    known = 0;

    k = relay_view_by_member(cp, node, "own", &here, &known);
    by->own = (k != 0);

    if (k == 0) {
        k = relay_view_by_member(cp, node, "beside", &here, &known);
    }

    if (k == 0) {
        return relay_view_error(cp, path,
                                "\"own\" or \"beside\" is needed here");
    }

    if (relay_view_string(cp, &by->member, k, &here) != RELAY_OK) {
        return NULL;
    }

    k = relay_view_by_member(cp, node, "else", &here, &known);

    if (k == 0) {
        return relay_view_error(cp, path, "\"else\" is needed here");
    }

    if (relay_view_case(cp, by, &by->other, k, &here) != RELAY_OK) {
        return NULL;
    }

    by->missing = by->other;

    k = relay_view_by_member(cp, node, "missing", &here, &known);

    if (k != 0
        && relay_view_case(cp, by, &by->missing, k, &here) != RELAY_OK)
    {
        return NULL;
    }

    k = relay_view_by_member(cp, node, "is", &here, &known);

    if (k != 0) {

        if (cp->tape->nodes[k].type != RELAY_JSON_OBJECT) {
            return relay_view_error(cp, &here, "an object is needed here");
        }

        by->n = cp->tape->nodes[k].count;
        by->cases = relay_view_alloc(cp->policy,
                                     by->n * sizeof(relay_view_case_t));
        if (by->cases == NULL) {
            return NULL;
        }

        value.parent = &here;
        value.index = 0;
        i = k + 1;

        for (n = 0; n < by->n; n++) {
            value.key = i;

            if (relay_view_name_get(cp, &by->cases[n].value, i) != RELAY_OK
                || relay_view_case(cp, by, &by->cases[n], i + 1, &value)
                   != RELAY_OK)
            {
                return NULL;
            }

            i = cp->tape->nodes[i + 1].next;
        }
    }

    if (known != cp->tape->nodes[node].count) {
        return relay_view_error(cp, path, "a name that no \"$by\" knows,"
                                          " or one too many");
    }

    return by;
}


static relay_int_t
relay_view_mark(relay_view_compiler_t *cp, relay_view_rule_t *rule,
    size_t node, relay_view_path_t *path)
{
    size_t              k, n, i, m;
    relay_buf_t         buf;
    relay_view_e        view;
    relay_view_name_t   name;
    relay_view_path_t   here, element;

    if (cp->tape->nodes[node].type != RELAY_JSON_OBJECT) {
        relay_view_error(cp, path, "an object is needed here");
        return RELAY_ERROR;
    }

    here.parent = path;
    here.index = 0;
    k = node + 1;

    for (n = cp->tape->nodes[node].count; n > 0; n--) {
        here.key = k;

        if (relay_json_str_is(cp->tape, cp->doc, k, "member", 6)) {

            if (relay_view_string(cp, &rule->mark, k + 1, &here) != RELAY_OK) {
                return RELAY_ERROR;
            }

        } else if (relay_json_str_is(cp->tape, cp->doc, k, "is", 2)) {

            if (relay_view_string(cp, &name, k + 1, &here) != RELAY_OK) {
                return RELAY_ERROR;
            }

            rule->mark_value = name.str;

        } else if (relay_json_str_is(cp->tape, cp->doc, k, "missing", 7)) {

            if (relay_view_string(cp, &name, k + 1, &here) != RELAY_OK) {
                return RELAY_ERROR;
            }

            rule->inherit = relay_str_is(&name.str, "inherit");

            if (!rule->inherit && !relay_str_is(&name.str, "drop")) {
                relay_view_error(cp, &here,
                                 "\"inherit\" or \"drop\" is needed here");
                return RELAY_ERROR;
            }

        } else if (relay_json_str_is(cp->tape, cp->doc, k, "written", 7)) {

            if (cp->tape->nodes[k + 1].type != RELAY_JSON_ARRAY) {
                relay_view_error(cp, &here, "an array is needed here");
                return RELAY_ERROR;
            }

            i = k + 2;

            for (m = 0; m < cp->tape->nodes[k + 1].count; m++) {
                element.parent = &here;
                element.key = 0;
                element.index = m;

                if (relay_view_string(cp, &name, i, &element) != RELAY_OK) {
                    return RELAY_ERROR;
                }

                view = relay_view_by_name(&name.str);

                if ((cp->policy->known & (1u << view)) == 0) {
                    relay_view_error(cp, &element, "no view of this policy");
                    return RELAY_ERROR;
                }

                rule->written |= 1u << view;
                i = cp->tape->nodes[i].next;
            }

        } else {
            relay_view_error(cp, &here, "a name that no \"$mark\" knows");
            return RELAY_ERROR;
        }

        k = cp->tape->nodes[k + 1].next;
    }

    if (rule->mark.str.data == NULL || rule->mark_value.data == NULL) {
        relay_view_error(cp, path, "\"member\" and \"is\" are needed here");
        return RELAY_ERROR;
    }

    relay_buf_init(&buf, RELAY_DOCUMENT_MAX);

    (void) relay_buf_append_json(&buf, &rule->mark.str);
    (void) relay_buf_append_c(&buf, ':');
    (void) relay_buf_append_json(&buf, &rule->mark_value);

    if (buf.failed
        || relay_view_name_set(cp, &name, buf.data, buf.len) != RELAY_OK)
    {
        relay_buf_free(&buf);
        return RELAY_ERROR;
    }

    relay_buf_free(&buf);

    rule->mark_text = name.str;

    return RELAY_OK;
}


static relay_int_t
relay_view_joined(relay_view_compiler_t *cp, relay_view_rule_t *rule,
    size_t node, relay_view_path_t *path)
{
    size_t             k, n;
    relay_view_name_t  name;
    relay_view_path_t  here;

    if (cp->tape->nodes[node].type != RELAY_JSON_OBJECT) {
        relay_view_error(cp, path, "an object is needed here");
        return RELAY_ERROR;
    }

    here.parent = path;
    here.index = 0;
    k = node + 1;

    for (n = cp->tape->nodes[node].count; n > 0; n--) {
        here.key = k;

        if (relay_view_string(cp, &name, k + 1, &here) != RELAY_OK) {
            return RELAY_ERROR;
        }

        if (relay_json_str_is(cp->tape, cp->doc, k, "from", 4)) {
            rule->join_array = name;

        } else if (relay_json_str_is(cp->tape, cp->doc, k, "member", 6)) {
            rule->join_member = name;

        } else if (relay_json_str_is(cp->tape, cp->doc, k, "by", 2)) {

            /* it is put between escaped bytes as it stands in the policy */

            rule->join_by.data = cp->doc->data + cp->tape->nodes[k + 1].off
                                 + 1;
            rule->join_by.len = cp->tape->nodes[k + 1].len - 2;

        } else {
            relay_view_error(cp, &here, "a name that no \"$joined\" knows");
            return RELAY_ERROR;
        }

        k = cp->tape->nodes[k + 1].next;
    }

    if (rule->join_array.str.data == NULL
        || rule->join_member.str.data == NULL)
    {
        relay_view_error(cp, path, "\"from\" and \"member\" are needed here");
        return RELAY_ERROR;
    }

    return RELAY_OK;
}


/*
 * Finds a seed with which no two names of the object share a slot; there is
 * none for two of the same hash.
 */

static relay_int_t
relay_view_table(relay_view_compiler_t *cp, relay_view_rule_t *rule,
    relay_view_path_t *path)
{
    size_t    i, j, slot, size;
    unsigned  bits, tries;
    uint32_t  seed;

    for (i = 0; i < rule->n; i++) {
        for (j = 0; j < i; j++) {

            if (rule->members[i].name.hash == rule->members[j].name.hash) {
                relay_view_error(cp, path, "two names have the same hash");
                return RELAY_ERROR;
            }
        }
    }

    bits = 2;

    while ((1u << bits) < 2 * rule->n) {
        bits++;
    }

    for (/* void */; bits <= 20; bits++) {
        size = (size_t) 1 << bits;

        rule->slots = relay_view_alloc(cp->policy,
                                       size * sizeof(relay_view_member_t *));
        if (rule->slots == NULL) {
            return RELAY_ERROR;
        }

        rule->shift = 32 - bits;
        seed = 0x9e3779b1;

        for (tries = 0; tries < 4096; tries++) {

            memset(rule->slots, 0, size * sizeof(relay_view_member_t *));

            for (i = 0; i < rule->n; i++) {
                slot = (uint32_t) (rule->members[i].name.hash * seed)
                       >> rule->shift;

                if (rule->slots[slot] != NULL) {
                    break;
                }

                rule->slots[slot] = &rule->members[i];
            }

            if (i == rule->n) {
                rule->seed = seed;
                return RELAY_OK;
            }

            seed = seed * 1664525 + 1013904223;
            seed |= 1;
        }
    }

    return RELAY_ERROR;
}


static relay_int_t
relay_view_order(relay_view_compiler_t *cp, relay_view_rule_t *rule,
    size_t node, relay_view_path_t *path)
{
    size_t                i, k, n;
    relay_view_name_t     name;
    relay_view_path_t     here;
    relay_view_member_t  *member;

    here.parent = path;
    here.index = 0;

    k = relay_json_get(cp->tape, cp->doc, node, "then", 4);

    if (k == 0 || cp->tape->nodes[node].count != 2) {
        relay_view_error(cp, path, "\"head\" and \"then\" are needed here");
        return RELAY_ERROR;
    }

    here.key = k - 1;

    if (relay_view_string(cp, &name, k, &here) != RELAY_OK) {
        return RELAY_ERROR;
    }

    rule->then = relay_view_member(rule, &name.str);

    if (rule->then == NULL || rule->then->rule->kind == RELAY_VIEW_SCALAR) {
        relay_view_error(cp, &here, "no member of this object, or a text");
        return RELAY_ERROR;
    }

    k = relay_json_get(cp->tape, cp->doc, node, "head", 4);

    if (k == 0 || cp->tape->nodes[k].type != RELAY_JSON_ARRAY) {
        relay_view_error(cp, path, "\"head\" must be an array");
        return RELAY_ERROR;
    }

    here.key = 0;
    i = k + 1;

    for (n = 0; n < cp->tape->nodes[k].count; n++) {
        here.index = n;

        if (relay_view_string(cp, &name, i, &here) != RELAY_OK) {
            return RELAY_ERROR;
        }

        member = relay_view_member(rule, &name.str);

        if (member == NULL || member == rule->then) {
            relay_view_error(cp, &here, "no other member of this object");
            return RELAY_ERROR;
        }

        member->head = 1;
        i = cp->tape->nodes[i].next;
    }

    return RELAY_OK;
}


/* What the words of a rule need must be there, and nothing may be unused. */

static relay_int_t
relay_view_complete(relay_view_compiler_t *cp, relay_view_rule_t *rule,
    relay_view_path_t *path)
{
    size_t       i;
    unsigned     all, action, actions;
    const char  *text;

    all = 0;
    actions = 0;

    for (i = 0; i < cp->policy->views_n; i++) {
        action = rule->act[cp->policy->views[i]];
        all |= action & ~(unsigned) RELAY_VIEW_ACTION;
        actions |= 1u << (action & RELAY_VIEW_ACTION);
    }

    text = NULL;

    if (((actions >> RELAY_VIEW_CONSTANT) & 1) != (rule->constant.data != NULL))
    {
        text = "\"constant\" and \"$constant\" need each other";

    } else if (((actions >> RELAY_VIEW_BY) & 1) != (rule->by != NULL)) {
        text = "\"by\" and \"$by\" need each other";

    } else if (((actions >> RELAY_VIEW_JOINED) & 1)
               != (rule->join_array.str.data != NULL))
    {
        text = "\"joined\" and \"$joined\" need each other";

    } else if (!(all & RELAY_VIEW_MARKED) != (rule->mark.str.data == NULL)) {
        text = "\"marked\" and \"$mark\" need each other";

    } else if (!(all & RELAY_VIEW_FRESH) != (rule->until.str.data == NULL)) {
        text = "\"fresh\" and \"$until\" need each other";

    } else if (!(all & RELAY_VIEW_LEFT) != (rule->left.str.data == NULL)) {
        text = "\"left\" and \"$left\" need each other";

    } else if (!(all & RELAY_VIEW_UNASKED)
               != (rule->question.str.data == NULL))
    {
        text = "\"unasked\" and \"$question\" need each other";

    } else if ((all & RELAY_VIEW_UNASKED) && cp->policy->asked.n == 0) {
        text = "\"unasked\" needs the policy's \"asked\"";

    } else if (rule->kind != RELAY_VIEW_OBJECT
               && (rule->mark.str.data != NULL || rule->until.str.data != NULL
                   || rule->left.str.data != NULL || rule->names_n != 0
                   || rule->question.str.data != NULL
                   || (rule->by != NULL && rule->by->own)))
    {
        text = "the condition is about an object's members";

    } else if (rule->kind != RELAY_VIEW_ARRAY && rule->least != 0) {
        text = "\"$least\" is about an array";

    } else if (rule->kind != RELAY_VIEW_SCALAR
               && (rule->type != 0 || rule->join_array.str.data != NULL))
    {
        text = "the word is about a text";

    } else if (rule->names_n != 0
               && (all & (RELAY_VIEW_UNNAMED|RELAY_VIEW_LEFT)))
    {
        text = "what gives names cannot depend on names";

    } else if (rule->depth > RELAY_VIEW_DEPTH) {
        text = "the rules are nested too deeply";
    }

    if (text != NULL) {
        relay_view_error(cp, path, text);
        return RELAY_ERROR;
    }

    if (rule->kind == RELAY_VIEW_SCALAR
        && (rule->type & RELAY_VIEW_IS_FLAG) == 0)
    {
        for (i = 0; i < cp->policy->views_n; i++) {
            if (rule->act[cp->policy->views[i]] == RELAY_VIEW_KEEP) {
                rule->plain |= 1u << cp->policy->views[i];
            }
        }
    }

    return RELAY_OK;
}


/* A directive of a rule, "$name". */

static relay_int_t
relay_view_directive(relay_view_compiler_t *cp, relay_view_rule_t *rule,
    size_t k, relay_view_path_t *path)
{
    size_t              i, n;
    int64_t             least;
    unsigned            bits;
    relay_view_name_t   name;
    relay_view_path_t   element;

    if (relay_json_str_is(cp->tape, cp->doc, k, "$why", 4)) {
        return relay_view_string(cp, &name, k + 1, path);
    }

    if (relay_json_str_is(cp->tape, cp->doc, k, "$views", 6)) {
        return relay_view_columns(cp, rule, k + 1, path);
    }

    if (relay_json_str_is(cp->tape, cp->doc, k, "$type", 5)) {

        if (relay_view_string(cp, &name, k + 1, path) != RELAY_OK) {
            return RELAY_ERROR;
        }

        if (relay_view_word(name.str.data, name.str.data + name.str.len, &bits)
            != RELAY_OK
            || bits == 0 || (bits & ~(unsigned) RELAY_VIEW_TYPES))
        {
            relay_view_error(cp, path, "no such type");
            return RELAY_ERROR;
        }

        rule->type |= bits;

        return RELAY_OK;
    }

    if (relay_json_str_is(cp->tape, cp->doc, k, "$each", 5)) {
        rule->each = relay_view_rule(cp, k + 1, path);
        return (rule->each == NULL) ? RELAY_ERROR : RELAY_OK;
    }

    if (relay_json_str_is(cp->tape, cp->doc, k, "$least", 6)) {

        if (relay_json_int(cp->tape, cp->doc, k + 1, &least) != RELAY_OK
            || least < 1 || least > 1024)
        {
            relay_view_error(cp, path, "a number from 1 to 1024 is needed");
            return RELAY_ERROR;
        }

        if (cp->policy->least != NULL) {
            relay_view_error(cp, path, "there can be one \"$least\" only");
            return RELAY_ERROR;
        }

        rule->least = (size_t) least;
        cp->policy->least = rule;

        return RELAY_OK;
    }

    if (relay_json_str_is(cp->tape, cp->doc, k, "$constant", 9)) {
        rule->constant.data = cp->doc->data + cp->tape->nodes[k + 1].off;
        rule->constant.len = cp->tape->nodes[k + 1].len;
        return RELAY_OK;
    }

    if (relay_json_str_is(cp->tape, cp->doc, k, "$by", 3)) {
        rule->by = relay_view_by(cp, k + 1, path);
        return (rule->by == NULL) ? RELAY_ERROR : RELAY_OK;
    }

    if (relay_json_str_is(cp->tape, cp->doc, k, "$mark", 5)) {
        return relay_view_mark(cp, rule, k + 1, path);
    }

    if (relay_json_str_is(cp->tape, cp->doc, k, "$joined", 7)) {
        return relay_view_joined(cp, rule, k + 1, path);
    }

    if (relay_json_str_is(cp->tape, cp->doc, k, "$until", 6)) {
        return relay_view_string(cp, &rule->until, k + 1, path);
    }

    if (relay_json_str_is(cp->tape, cp->doc, k, "$left", 5)) {
        return relay_view_string(cp, &rule->left, k + 1, path);
    }

    if (relay_json_str_is(cp->tape, cp->doc, k, "$question", 9)) {
        return relay_view_string(cp, &rule->question, k + 1, path);
    }

    if (relay_json_str_is(cp->tape, cp->doc, k, "$names", 6)) {

        if (cp->tape->nodes[k + 1].type != RELAY_JSON_ARRAY) {
            relay_view_error(cp, path, "an array is needed here");
            return RELAY_ERROR;
        }

        rule->names_n = cp->tape->nodes[k + 1].count;
        rule->names = relay_view_alloc(cp->policy,
                                       rule->names_n
                                       * sizeof(relay_view_name_t));
        if (rule->names == NULL) {
            return RELAY_ERROR;
        }

        i = k + 2;

        for (n = 0; n < rule->names_n; n++) {
            element.parent = path;
            element.key = 0;
            element.index = n;

            if (relay_view_string(cp, &rule->names[n], i, &element)
                != RELAY_OK)
            {
                return RELAY_ERROR;
            }

            i = cp->tape->nodes[i].next;
        }

        return RELAY_OK;
    }

    if (relay_json_str_is(cp->tape, cp->doc, k, "$order", 6)) {

        /* compiled when all members are known */

        if (cp->tape->nodes[k + 1].type != RELAY_JSON_OBJECT) {
            relay_view_error(cp, path, "an object is needed here");
            return RELAY_ERROR;
        }

        return RELAY_OK;
    }

    relay_view_error(cp, path, "a directive that no policy knows");

    return RELAY_ERROR;
}


static relay_view_rule_t *
relay_view_reference(relay_view_compiler_t *cp, size_t node,
    relay_view_path_t *path)
{
    size_t              i;
    relay_str_t         s;
    relay_view_def_t   *def;
    relay_view_name_t   name;
    relay_view_path_t   here;
    relay_view_rule_t  *rule;

    if (relay_view_string(cp, &name, node, path) != RELAY_OK) {
        return NULL;
    }

    s.data = name.str.data + 1;
    s.len = name.str.len - 1;

    for (i = 0; i < cp->defs_n; i++) {
        def = &cp->defs[i];

        if (!relay_str_eq(&def->name.str, &s)) {
            continue;
        }

        if (def->rule == NULL) {

            if (def->node == 0) {
                return relay_view_error(cp, path,
                                        "the definition refers to itself");
            }

            /* each has a path of its own: the depth of paths bounds none */

            if (cp->defs_depth == RELAY_VIEW_DEPTH) {
                return relay_view_error(cp, path,
                                        "the rules are nested too deeply");
            }

            here.parent = &cp->defs_path;
            here.key = def->node - 1;
            here.index = 0;

            node = def->node;
            def->node = 0;

            cp->defs_depth++;
            rule = relay_view_rule(cp, node, &here);
            cp->defs_depth--;

            if (rule == NULL) {
                return NULL;
            }

            def->rule = rule;
        }

        return def->rule;
    }

    return relay_view_error(cp, path, "no such definition");
}


static relay_view_rule_t *
relay_view_rule(relay_view_compiler_t *cp, size_t node,
    relay_view_path_t *path)
{
    size_t                i, k, n, order;
    relay_view_path_t     here, *up;
    relay_view_rule_t    *rule, *child;
    relay_view_member_t  *member;

    /* the compiler recurses, too: the policy's own depth is bounded */

    n = 0;

    for (up = path; up != NULL; up = up->parent) {
        if (++n > 2 * RELAY_VIEW_DEPTH) {
            return relay_view_error(cp, path,
                                    "the rules are nested too deeply");
        }
    }

    if (cp->tape->nodes[node].type == RELAY_JSON_STRING
        && cp->tape->nodes[node].len > 2
        && cp->doc->data[cp->tape->nodes[node].off + 1] == '@')
    {
        return relay_view_reference(cp, node, path);
    }

    rule = relay_view_alloc(cp->policy, sizeof(relay_view_rule_t));
    if (rule == NULL) {
        return NULL;
    }

    rule->depth = 1;

    if (cp->tape->nodes[node].type == RELAY_JSON_STRING) {

        if (relay_view_columns(cp, rule, node, path) != RELAY_OK
            || relay_view_complete(cp, rule, path) != RELAY_OK)
        {
            return NULL;
        }

        rule->judged = (rule->type
                        & (RELAY_VIEW_IS_MARK|RELAY_VIEW_IS_FLAG)) != 0;

        return rule;
    }

    if (cp->tape->nodes[node].type != RELAY_JSON_OBJECT) {
        return relay_view_error(cp, path, "a rule is a string or an object");
    }

    if (cp->tape->nodes[node].count > RELAY_VIEW_MEMBERS) {
        return relay_view_error(cp, path, "too many members");
    }

    rule->members = relay_view_alloc(cp->policy,
                                     cp->tape->nodes[node].count
                                     * sizeof(relay_view_member_t));
    if (rule->members == NULL) {
        return NULL;
    }

    order = 0;
    here.parent = path;
    here.index = 0;
    k = node + 1;

    for (n = cp->tape->nodes[node].count; n > 0; n--) {
        here.key = k;

        if (cp->tape->nodes[k].len > 2
            && cp->doc->data[cp->tape->nodes[k].off + 1] == '$')
        {
            if (relay_view_directive(cp, rule, k, &here) != RELAY_OK) {
                return NULL;
            }

            if (relay_json_str_is(cp->tape, cp->doc, k, "$order", 6)) {
                order = k;
            }

        } else {
            member = &rule->members[rule->n];

            if (relay_view_name_get(cp, &member->name, k) != RELAY_OK) {
                return NULL;
            }

            member->rule = relay_view_rule(cp, k + 1, &here);
            if (member->rule == NULL) {
                return NULL;
            }

            rule->n++;
        }

        k = cp->tape->nodes[k + 1].next;
    }

    if (rule->each != NULL && rule->n != 0) {
        return relay_view_error(cp, path, "members and \"$each\" exclude"
                                          " each other");
    }

    rule->kind = (rule->each != NULL) ? RELAY_VIEW_ARRAY
                 : (rule->n != 0) ? RELAY_VIEW_OBJECT : RELAY_VIEW_SCALAR;

    rule->judged = (rule->type & (RELAY_VIEW_IS_MARK|RELAY_VIEW_IS_FLAG)) != 0
                   || rule->by != NULL || rule->mark.str.data != NULL
                   || rule->until.str.data != NULL;
    rule->named = (rule->names_n != 0);

    if (rule->each != NULL) {

        if (rule->each->join_array.str.data != NULL) {
            return relay_view_error(cp, path, "\"$joined\" is about a member"
                                              " of an object");
        }

        rule->judged |= rule->each->judged;
        rule->named |= rule->each->named;
        rule->depth = rule->each->depth + 1;
    }

    for (i = 0; i < rule->n; i++) {
        child = rule->members[i].rule;

        rule->judged |= child->judged;
        rule->named |= child->named;

        if (rule->depth < child->depth + 1) {
            rule->depth = child->depth + 1;
        }

        if (child->join_array.str.data != NULL) {

            member = relay_view_member(rule, &child->join_array.str);

            if (member == NULL || member->rule->kind != RELAY_VIEW_ARRAY
                || member->rule->each->kind != RELAY_VIEW_OBJECT)
            {
                return relay_view_error(cp, path, "\"$joined\" needs an array"
                                                  " of objects beside it");
            }

            /* a definition may stand in several objects */

            if (child->join_rule != NULL && child->join_rule != member->rule) {
                return relay_view_error(cp, path, "one \"$joined\" beside two"
                                                  " different arrays");
            }

            child->join_rule = member->rule;
        }
    }

    if (rule->left.str.data != NULL) {

        member = relay_view_member(rule, &rule->left.str);

        if (member == NULL || member->rule->kind != RELAY_VIEW_ARRAY) {
            return relay_view_error(cp, path,
                                    "\"$left\" needs an array in this object");
        }
    }

    if (relay_view_complete(cp, rule, path) != RELAY_OK) {
        return NULL;
    }

    if (rule->kind == RELAY_VIEW_OBJECT
        && relay_view_table(cp, rule, path) != RELAY_OK)
    {
        return NULL;
    }

    if (order != 0) {
        here.key = order;

        if (relay_view_order(cp, rule, order + 1, &here) != RELAY_OK) {
            return NULL;
        }
    }

    return rule;
}


/* A JSON pointer into the document, of names only. */

static relay_int_t
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

    if (relay_view_name_set(cp, &policy->schema_name,
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
