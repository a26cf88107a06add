
/*
 * relay_view_words: what a rule is made of: the words for the views, and the
 * objects that say what "by", "marked" and "joined" depend on.
 */

#include <stdlib.h>

#include "relay_view_compile.h"


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


/* One word: an action and conditions, joined by "+". */

relay_int_t
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

relay_int_t
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

        rule->source->words[policy->views[n]].data = (unsigned char *) p;
        rule->source->words[policy->views[n]].len = q - p;

        rule->act[policy->views[n++]] = (uint16_t) (bits & ~RELAY_VIEW_TYPES);
        rule->type |= bits & RELAY_VIEW_TYPES;

        p = q;
    }

    if (n == 1) {
        for (i = 1; i < policy->views_n; i++) {
            rule->act[policy->views[i]] = rule->act[policy->views[0]];
            rule->source->words[policy->views[i]]
                = rule->source->words[policy->views[0]];
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

        if (by->member.str.data == NULL || by->own) {
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
        || (cs->action & RELAY_VIEW_ACTION) > RELAY_VIEW_CONSTANT)
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


relay_view_by_t *
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

    if (k != 0) {
        if (relay_view_string(cp, &by->member, k, &here) != RELAY_OK) {
            return NULL;
        }

    } else {
        k = relay_view_by_member(cp, node, "at", &here, &known);

        if (k == 0) {
            return relay_view_error(cp, path, "\"own\", \"beside\" or \"at\""
                                              " is needed here");
        }

        if (relay_view_pointer(cp, &by->at, k, &here) != RELAY_OK) {
            return NULL;
        }
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


relay_int_t
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


relay_int_t
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
