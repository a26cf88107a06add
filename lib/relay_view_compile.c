
/*
 * relay_view_compile: the compiler of a policy's fields: a tree of rules that
 * has the shape of the document type.
 */

#include <stdlib.h>

#include "relay_view_compile.h"


relay_view_member_t *
relay_view_member(const relay_view_rule_t *rule, const relay_str_t *name)
{
    size_t  i;

    for (i = 0; i < rule->n; i++) {
        if (relay_str_eq(&rule->members[i].name.str, name)) {
            return &rule->members[i];
        }
    }

    return NULL;
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

        if (action & (RELAY_VIEW_UNNAMED|RELAY_VIEW_LEFT)) {
            cp->policy->naming |= 1u << cp->policy->views[i];
        }

        actions |= 1u << (action & RELAY_VIEW_ACTION);
    }

    if (rule->by != NULL) {
        actions |= 1u << (rule->by->missing.action & RELAY_VIEW_ACTION);
        actions |= 1u << (rule->by->other.action & RELAY_VIEW_ACTION);

        for (i = 0; i < rule->by->n; i++) {
            actions |= 1u << (rule->by->cases[i].action & RELAY_VIEW_ACTION);
        }
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

    } else if (rule->type & (rule->type - 1)) {
        text = "a text has one type";

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

        if (relay_view_string(cp, &name, k + 1, path) != RELAY_OK) {
            return RELAY_ERROR;
        }

        rule->source->why = name.str;

        return RELAY_OK;
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
relay_view_rule_create(relay_view_compiler_t *cp, relay_view_path_t *path)
{
    relay_buf_t         buf;
    relay_view_name_t   name;
    relay_view_rule_t  *rule;

    rule = relay_view_alloc(cp->policy, sizeof(relay_view_rule_t));
    if (rule == NULL) {
        return NULL;
    }

    rule->depth = 1;

    rule->source = relay_view_alloc(cp->policy, sizeof(relay_view_source_t));
    if (rule->source == NULL) {
        return NULL;
    }

    relay_buf_init(&buf, RELAY_DOCUMENT_MAX);
    relay_view_path_print(cp, path, &buf);

    if (buf.failed
        || relay_view_name_set(cp, &name, buf.data, buf.len) != RELAY_OK)
    {
        rule = NULL;

    } else {
        rule->source->place = name.str;
    }

    relay_buf_free(&buf);

    return rule;
}


/* What a rule is, of what it has and of the rules below it. */

static relay_int_t
relay_view_below(relay_view_compiler_t *cp, relay_view_rule_t *rule,
    relay_view_path_t *path)
{
    size_t                i;
    relay_view_rule_t    *child;
    relay_view_member_t  *member;

    rule->judged = (rule->type & (RELAY_VIEW_IS_MARK|RELAY_VIEW_IS_FLAG)) != 0
                   || rule->by != NULL || rule->mark.str.data != NULL
                   || rule->until.str.data != NULL;
    rule->named = (rule->names_n != 0);

    if (rule->each != NULL) {

        if (rule->each->join_array.str.data != NULL) {
            relay_view_error(cp, path, "\"$joined\" is about a member of an"
                                       " object");
            return RELAY_ERROR;
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
                relay_view_error(cp, path, "\"$joined\" needs an array of"
                                           " objects beside it");
                return RELAY_ERROR;
            }

            /* a definition may stand in several objects */

            if (child->join_rule != NULL && child->join_rule != member->rule) {
                relay_view_error(cp, path, "one \"$joined\" beside two"
                                           " different arrays");
                return RELAY_ERROR;
            }

            child->join_rule = member->rule;

            member = relay_view_member(member->rule->each,
                                       &child->join_member.str);

            if (member == NULL || member->rule->kind != RELAY_VIEW_SCALAR) {
                relay_view_error(cp, path, "\"$joined\" needs a text in the"
                                           " array's objects");
                return RELAY_ERROR;
            }

            child->join_text = member->rule;
        }
    }

    if (rule->left.str.data != NULL) {

        member = relay_view_member(rule, &rule->left.str);

        if (member == NULL || member->rule->kind != RELAY_VIEW_ARRAY) {
            relay_view_error(cp, path,
                             "\"$left\" needs an array in this object");
            return RELAY_ERROR;
        }

        rule->left_rule = member->rule;
    }

    return RELAY_OK;
}


relay_view_rule_t *
relay_view_rule(relay_view_compiler_t *cp, size_t node,
    relay_view_path_t *path)
{
    size_t                k, n, order;
    relay_view_path_t     here, *up;
    relay_view_rule_t    *rule;
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

    rule = relay_view_rule_create(cp, path);
    if (rule == NULL) {
        return NULL;
    }

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

    if (relay_view_below(cp, rule, path) != RELAY_OK) {
        return NULL;
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
