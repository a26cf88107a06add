
/*
 * naive: view policies, read as their page says.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE             /* memmem() */
#endif

#include <ctype.h>

#include "fuzz.h"
#include "naive.h"
#include "relay_time.h"


#define CODE   40               /* bytes up to which a code is one */
#define ODD    64               /* names that are searched for */
#define ASKED  1024


typedef enum {
    KEEP = 0,
    DROP,
    BLANK,
    CONSTANT,
    TAKE,
    JOINED,
    BY
} action_e;


static const char *const  actions[] = {
    "keep", "drop", "blank", "constant", "take", "joined", "by"
};


typedef struct {
    json_t              *policy;
    json_t              *doc;
    const char          *view;
    size_t               column;
    int64_t              now;
    relay_permission_e   permission;
    const char          *private;
    size_t               private_len;
    int                  private_whole;
    int                  labelled;
    json_t              *asked;         /* words of the must-ask entries */
    int                  asked_all;
    json_t              *withheld;      /* the names, as an object's */
    int                  naming;        /* they are being collected */
    int                  withhold;      /* the whole document */
    json_t              *taken;         /* what TAKE puts in */
    int                  inherited;     /* by the last decision */
    size_t               left;          /* elements of $least */
} naive_t;


static json_t *value_of(naive_t *nv, json_t *rule, json_t *v, json_t *parent,
    int marked, int action, int inherited);


/* Rules. */


static json_t *
resolve(naive_t *nv, json_t *rule)
{
    const char  *s;

    s = json_string_value(rule);

    while (s != NULL && s[0] == '@') {
        rule = json_object_get(json_object_get(nv->policy, "defs"), s + 1);
        fuzz_assert(rule != NULL);
        s = json_string_value(rule);
    }

    return rule;
}


static const char *
words_of(json_t *rule)
{
    const char  *s;

    s = json_string_value(rule);

    if (s == NULL) {
        s = json_string_value(json_object_get(rule, "$views"));
    }

    return (s == NULL) ? "" : s;
}


/* Whether a word is among those of a column; -1: of any column. */

static int
has_word(json_t *rule, int column, const char *word)
{
    int          n, found, in_column;
    size_t       len;
    const char  *p;

    n = 0;
    found = 0;
    in_column = 0;

    for (p = words_of(rule); *p != '\0'; /* void */) {

        if (*p == ' ') {
            p++;
            continue;
        }

        /* one word, of parts */

        for ( ;; ) {
            len = strcspn(p, "+ ");

            if (len == strlen(word) && memcmp(p, word, len) == 0) {
                found = 1;
                in_column |= (n == column);
            }

            p += len;

            if (*p != '+') {
                break;
            }

            p++;
        }

        n++;
    }

    return (column < 0 || n == 1) ? found : in_column;
}


static int
condition(naive_t *nv, json_t *rule, const char *word)
{
    return has_word(rule, (int) nv->column, word);
}


static int
is_type(json_t *rule, const char *type)
{
    const char  *s;

    s = json_string_value(json_object_get(rule, "$type"));

    return (s != NULL && strcmp(s, type) == 0) || has_word(rule, -1, type);
}


static json_t *
each_of(json_t *rule)
{
    return json_object_get(rule, "$each");
}


static json_t *
member_of(json_t *rule, const char *name)
{
    return (name[0] == '$') ? NULL : json_object_get(rule, name);
}


static int
is_object_rule(json_t *rule)
{
    json_t      *member;
    const char  *name;

    json_object_foreach(rule, name, member) {
        if (name[0] != '$') {
            return 1;
        }
    }

    return 0;
}


/* Whether the value has the shape that the rule is for. */

static int
fits(json_t *rule, json_t *v)
{
    if (each_of(rule) != NULL) {
        return json_is_array(v);
    }

    if (is_object_rule(rule)) {
        return json_is_object(v);
    }

    return !json_is_object(v) && !json_is_array(v);
}


static json_t *
point(json_t *doc, const char *pointer)
{
    char    *name;
    size_t   len;
    json_t  *v;

    if (pointer == NULL) {
        return NULL;
    }

    v = doc;

    while (*pointer == '/') {
        len = strcspn(++pointer, "/");

        name = strndup(pointer, len);
        v = json_object_get(v, name);
        free(name);

        pointer += len;
    }

    return v;
}


/* Texts. */


static int
is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}


static void
trim(const char **s, size_t *len)
{
    while (*len > 0 && is_space((*s)[0])) {
        (*s)++;
        (*len)--;
    }

    while (*len > 0 && is_space((*s)[*len - 1])) {
        (*len)--;
    }
}


static int
repeats(naive_t *nv, json_t *v)
{
    size_t       len;
    const char  *s;

    if (nv->private_len == 0 || !json_is_string(v)) {
        return 0;
    }

    s = json_string_value(v);
    len = json_string_length(v);

    if (nv->private_whole) {
        trim(&s, &len);

        return len == nv->private_len
               && memcmp(s, nv->private, len) == 0;
    }

    return memmem(s, len, nv->private, nv->private_len) != NULL;
}


/* Letters and digits in lower case, one space between two words. */

static json_t *
spoken(json_t *v)
{
    size_t         i;
    json_t        *text;
    relay_buf_t    b;
    unsigned char  c;

    relay_buf_init(&b, 64 * 1024 * 1024);

    for (i = 0; i < json_string_length(v); i++) {
        c = (unsigned char) json_string_value(v)[i];

        if (c >= 0x80 || isalnum(c)) {
            relay_buf_append_c(&b, (c < 0x80) ? (unsigned char) tolower(c)
                                              : c);

        } else if (b.len != 0 && b.data[b.len - 1] != ' ') {
            relay_buf_append_c(&b, ' ');
        }
    }

    if (b.len != 0 && b.data[b.len - 1] == ' ') {
        b.len--;
    }

    text = json_stringn_nocheck(b.len ? (char *) b.data : "", b.len);
    relay_buf_free(&b);

    return text;
}


static int
asked(naive_t *nv, json_t *question)
{
    int      found;
    size_t   i;
    json_t  *entry, *text;

    if (nv->asked_all) {
        return 1;
    }

    /* one that cannot be compared may be any */

    if (!json_is_string(question)) {
        return json_array_size(nv->asked) != 0;
    }

    text = spoken(question);
    found = 0;

    json_array_foreach(nv->asked, i, entry) {
        found |= json_equal(entry, text);
    }

    json_decref(text);

    return found;
}


static int
is_name_byte(unsigned char c)
{
    return isalnum(c) || c == '_' || c == '-';
}


static int
is_odd(json_t *name)
{
    size_t  i;

    for (i = 0; i < json_string_length(name); i++) {
        if (!is_name_byte((unsigned char) json_string_value(name)[i])) {
            return 1;
        }
    }

    return 0;
}


/* Whether a name occurs in a text, as a word of it where it is a word. */

static int
occurs(json_t *name, json_t *v)
{
    size_t       n, len;
    const char  *s, *p, *last;

    s = json_string_value(v);
    last = s + json_string_length(v);
    n = json_string_length(name);

    if (is_odd(name)) {
        return memmem(s, last - s, json_string_value(name), n) != NULL;
    }

    for (p = s; p < last; p += len + 1) {

        for (len = 0; p + len < last && is_name_byte((unsigned char) p[len]);
             len++)
        {
            /* void */
        }

        if (len == n && memcmp(p, json_string_value(name), n) == 0) {
            return 1;
        }
    }

    return 0;
}


static int
names_withheld(naive_t *nv, json_t *rule, json_t *v)
{
    size_t       i, odd;
    json_t      *own, *name;
    const char  *key;

    if (json_array_size(nv->withheld) == 0) {
        return 0;
    }

    if (json_is_object(v)) {

        json_object_foreach(v, key, own) {
            if (json_is_string(own) && member_of(rule, key) != NULL
                && names_withheld(nv, rule, own))
            {
                return 1;
            }
        }

        return 0;
    }

    if (!json_is_string(v)) {
        return 0;
    }

    odd = 0;

    json_array_foreach(nv->withheld, i, name) {
        odd += is_odd(name);
    }

    if (odd > ODD) {
        return 1;
    }

    json_array_foreach(nv->withheld, i, name) {
        if (occurs(name, v)) {
            return 1;
        }
    }

    return 0;
}


/* Decisions. */


static int
withhold(naive_t *nv)
{
    nv->withhold = 1;

    return DROP;
}


/* One word or several of a $by, or of a rule. */

static int
word_action(const char *words)
{
    size_t       i, len;
    const char  *p;

    for (p = words; *p != '\0'; /* void */) {
        len = strcspn(p, "+");

        for (i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
            if (len == strlen(actions[i]) && memcmp(p, actions[i], len) == 0) {
                return (int) i;
            }
        }

        p += len + (p[len] == '+');
    }

    return KEEP;
}


static int
rule_action(naive_t *nv, json_t *rule)
{
    size_t  i;

    for (i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        if (condition(nv, rule, actions[i])) {
            return (int) i;
        }
    }

    return KEEP;
}


static int
by_action(naive_t *nv, json_t *by, json_t *v, json_t *parent)
{
    json_t      *judged, *to;
    const char  *own, *at, *words;

    own = json_string_value(json_object_get(by, "own"));
    at = json_string_value(json_object_get(by, "at"));

    judged = (own != NULL)
             ? json_object_get(v, own)
             : (at != NULL)
             ? point(nv->doc, at)
             : json_object_get(parent, json_string_value(
                                           json_object_get(by, "beside")));

    if (judged == NULL) {
        to = json_object_get(by, "missing");

    } else if (!json_is_string(judged)) {
        return withhold(nv);

    } else {
        to = NULL;

        if (memchr(json_string_value(judged), '\0', json_string_length(judged))
            == NULL)
        {
            to = json_object_get(json_object_get(by, "is"),
                                 json_string_value(judged));
        }
    }

    if (to == NULL) {
        to = json_object_get(by, "else");
    }

    words = json_string_value(to);

    if (strncmp(words, "take ", 5) == 0) {
        nv->taken = json_object_get(parent, words + 5);
        return json_is_string(nv->taken) ? TAKE : BLANK;
    }

    if ((strstr(words, "labelled") && !nv->labelled)
        || (strstr(words, "suggest")
            && nv->permission < RELAY_PERMISSION_SUGGEST)
        || (strstr(words, "edit") && nv->permission < RELAY_PERMISSION_EDIT))
    {
        return DROP;
    }

    return word_action(words);
}


static int
is_marked(naive_t *nv, json_t *rule, json_t *v, int marked)
{
    json_t      *mark, *m;
    const char  *missing;

    mark = json_object_get(rule, "$mark");
    m = json_object_get(v, json_string_value(json_object_get(mark, "member")));

    if (m == NULL) {
        missing = json_string_value(json_object_get(mark, "missing"));
        nv->inherited = marked && missing && strcmp(missing, "inherit") == 0;
        return nv->inherited;
    }

    if (!json_is_string(m)) {
        withhold(nv);
        return 0;
    }

    return json_equal(m, json_object_get(mark, "is"));
}


static int
is_fresh(naive_t *nv, json_t *rule, json_t *v)
{
    json_t       *until;
    int64_t       ms;
    relay_str_t   s;

    until = json_object_get(v, json_string_value(
                                   json_object_get(rule, "$until")));
    if (until == NULL) {
        return 1;
    }

    if (!json_is_string(until)) {
        withhold(nv);
        return 0;
    }

    s.data = (unsigned char *) json_string_value(until);
    s.len = json_string_length(until);

    return relay_time_parse_end(&s, &ms) == RELAY_OK && ms > nv->now;
}


static int decide(naive_t *nv, json_t *rule, json_t *v, json_t *parent,
    int marked);


/* Whether the array had elements and has none left. */

static int
is_emptied(naive_t *nv, json_t *rule, json_t *v, int marked)
{
    size_t       i;
    json_t      *array, *each, *element;
    const char  *name;

    name = json_string_value(json_object_get(rule, "$left"));
    array = json_object_get(v, name);
    each = resolve(nv, each_of(resolve(nv, member_of(rule, name))));

    if (json_array_size(array) == 0) {
        return 0;
    }

    json_array_foreach(array, i, element) {
        if (decide(nv, each, element, array, marked) != DROP) {
            return 0;
        }
    }

    return 1;
}


static int
holds(naive_t *nv, json_t *rule, json_t *v, int marked)
{
    if (condition(nv, rule, "suggest")
        && nv->permission < RELAY_PERMISSION_SUGGEST)
    {
        return 0;
    }

    if (condition(nv, rule, "edit") && nv->permission < RELAY_PERMISSION_EDIT)
    {
        return 0;
    }

    if (condition(nv, rule, "labelled") && !nv->labelled) {
        return 0;
    }

    if (condition(nv, rule, "marked") && !is_marked(nv, rule, v, marked)) {
        return 0;
    }

    if (condition(nv, rule, "fresh") && !is_fresh(nv, rule, v)) {
        return 0;
    }

    if (condition(nv, rule, "unnamed") && !nv->naming
        && names_withheld(nv, rule, v))
    {
        return 0;
    }

    if (condition(nv, rule, "left") && !nv->naming
        && is_emptied(nv, rule, v, marked))
    {
        return 0;
    }

    if (condition(nv, rule, "unasked")
        && asked(nv, json_object_get(v, json_string_value(
                                        json_object_get(rule, "$question")))))
    {
        return 0;
    }

    return 1;
}


static int
decide(naive_t *nv, json_t *rule, json_t *v, json_t *parent, int marked)
{
    int  action, inherited;

    nv->inherited = 0;

    if ((is_type(rule, "mark") && !json_is_string(v))
        || (is_type(rule, "flag") && !json_is_boolean(v)))
    {
        return withhold(nv);
    }

    if (!holds(nv, rule, v, marked)) {
        return DROP;
    }

    inherited = nv->inherited;
    action = rule_action(nv, rule);

    if (action == BY) {
        action = by_action(nv, json_object_get(rule, "$by"), v, parent);
    }

    nv->inherited = inherited;

    if (action == TAKE) {
        return repeats(nv, nv->taken) ? BLANK : TAKE;
    }

    if (action != KEEP && action != JOINED) {
        return action;
    }

    if (!fits(rule, v)) {
        return DROP;
    }

    if (action == KEEP && repeats(nv, v)
        && (!(is_type(rule, "code") || is_type(rule, "mark")
              || is_type(rule, "flag"))
            || json_string_length(v) > CODE))
    {
        return BLANK;
    }

    return action;
}


/* Every mark's type, everywhere; the names of what is withheld. */

static void
collect(naive_t *nv, json_t *rule, json_t *v, json_t *parent, int marked,
    int dropped)
{
    size_t       i;
    json_t      *child, *sub, *name;
    const char  *key;

    rule = resolve(nv, rule);

    if (is_type(rule, "mark") || is_type(rule, "flag")) {
        (void) decide(nv, rule, v, parent, marked);
        return;
    }

    if (!dropped) {
        dropped = (decide(nv, rule, v, parent, marked) != KEEP);
    }

    if (!fits(rule, v)) {
        return;
    }

    json_array_foreach(v, i, child) {
        collect(nv, each_of(rule), child, v, marked, dropped);
    }

    if (json_object_get(rule, "$mark") != NULL) {
        marked = !dropped;
    }

    if (dropped) {
        json_array_foreach(json_object_get(rule, "$names"), i, name) {
            child = json_object_get(v, json_string_value(name));

            if (json_is_string(child) && json_string_length(child) != 0) {
                size_t   n;
                json_t  *known;

                json_array_foreach(nv->withheld, n, known) {
                    if (json_equal(known, child)) {
                        break;
                    }
                }

                if (n == json_array_size(nv->withheld)) {
                    json_array_append(nv->withheld, child);
                }
            }
        }
    }

    json_object_foreach(v, key, child) {
        sub = member_of(rule, key);

        if (sub != NULL) {
            collect(nv, sub, child, v, marked, dropped);
        }
    }
}


/* What is put out. */


static json_t *
joined(naive_t *nv, json_t *rule, json_t *v, json_t *parent, json_t *siblings,
    int marked)
{
    int          whole;
    size_t       i, n;
    json_t      *how, *array, *each, *element, *t, *text, *sub;
    const char  *by, *member;
    relay_buf_t  b;

    how = json_object_get(rule, "$joined");
    array = json_object_get(parent, json_string_value(
                                        json_object_get(how, "from")));

    if (array == NULL) {
        return repeats(nv, v) ? json_string("") : json_deep_copy(v);
    }

    each = resolve(nv, each_of(resolve(nv, member_of(siblings,
                       json_string_value(json_object_get(how, "from"))))));

    whole = json_is_array(array) && !repeats(nv, v);

    json_array_foreach(array, i, element) {
        whole = whole && decide(nv, each, element, array, marked) == KEEP;
    }

    if (whole) {
        return json_deep_copy(v);
    }

    member = json_string_value(json_object_get(how, "member"));
    by = json_string_value(json_object_get(how, "by"));
    sub = resolve(nv, member_of(each, member));

    relay_buf_init(&b, 64 * 1024 * 1024);
    n = 0;

    json_array_foreach(array, i, element) {

        if (decide(nv, each, element, array, marked) != KEEP) {
            continue;
        }

        t = json_object_get(element, member);

        if (!json_is_string(t) || json_string_length(t) == 0 || sub == NULL
            || decide(nv, sub, t, element, marked) != KEEP)
        {
            continue;
        }

        if (n++ != 0 && by != NULL) {
            relay_buf_append_z(&b, by);
        }

        relay_buf_append(&b, json_string_value(t), json_string_length(t));
    }

    text = json_stringn_nocheck(b.len ? (char *) b.data : "", b.len);
    relay_buf_free(&b);

    /* together they may say what none of them says */

    if (repeats(nv, text)) {
        json_string_set(text, "");
    }

    return text;
}


static int
is_head(json_t *order, const char *name)
{
    size_t   i;
    json_t  *head;

    json_array_foreach(json_object_get(order, "head"), i, head) {
        if (strcmp(json_string_value(head), name) == 0) {
            return 1;
        }
    }

    return 0;
}


static json_t *
object_of(naive_t *nv, json_t *rule, json_t *v, int marked)
{
    int          action, inherited;
    json_t      *out, *member, *sub, *order, *moved;
    const char  *name, *then;

    out = json_object();
    order = json_object_get(rule, "$order");
    then = json_string_value(json_object_get(order, "then"));
    moved = (then == NULL) ? NULL : json_object_get(v, then);

    json_object_foreach(v, name, member) {

        sub = resolve(nv, member_of(rule, name));

        if (sub == NULL || json_object_get(out, name) != NULL) {
            continue;
        }

        action = decide(nv, sub, member, v, marked);
        inherited = nv->inherited;

        if (action == DROP) {
            continue;
        }

        if (moved != NULL && !is_head(order, name)) {

            if (strcmp(name, then) != 0) {
                sub = resolve(nv, member_of(rule, then));
                action = decide(nv, sub, moved, v, marked);

                if (action != DROP) {
                    json_object_set_new(out, then,
                                        value_of(nv, sub, moved, v, marked,
                                                 action, nv->inherited));
                }

                sub = resolve(nv, member_of(rule, name));
                action = decide(nv, sub, member, v, marked);
                inherited = nv->inherited;
            }

            moved = NULL;
        }

        if (action == JOINED) {
            json_object_set_new(out, name,
                                joined(nv, sub, member, v, rule, marked));
            continue;
        }

        json_object_set_new(out, name, value_of(nv, sub, member, v, marked,
                                                action, inherited));
    }

    return out;
}


static json_t *
value_of(naive_t *nv, json_t *rule, json_t *v, json_t *parent, int marked,
    int action, int inherited)
{
    size_t       i;
    json_t      *out, *each, *element, *mark, *view;

    switch (action) {

    case BLANK:
        return json_string("");

    case CONSTANT:
        return json_deep_copy(json_object_get(rule, "$constant"));

    case TAKE:
        return json_deep_copy(nv->taken);

    default:
        break;
    }

    mark = json_object_get(rule, "$mark");

    if (mark != NULL) {
        marked = 1;
    }

    if (each_of(rule) != NULL) {
        out = json_array();
        each = resolve(nv, each_of(rule));

        json_array_foreach(v, i, element) {
            action = decide(nv, each, element, v, marked);

            if (action != DROP) {
                json_array_append_new(out, value_of(nv, each, element, v,
                                                    marked, action,
                                                    nv->inherited));
            }
        }

        if (json_object_get(rule, "$least") != NULL) {
            nv->left += json_array_size(out);
        }

        return out;
    }

    if (!is_object_rule(rule)) {
        return json_deep_copy(v);
    }

    out = object_of(nv, rule, v, marked);

    if (inherited) {
        json_array_foreach(json_object_get(mark, "written"), i, view) {
            if (strcmp(json_string_value(view), nv->view) == 0) {
                json_object_set(out, json_string_value(
                                         json_object_get(mark, "member")),
                                json_object_get(mark, "is"));
            }
        }
    }

    return out;
}


/* There is one $least in a policy. */

static size_t
least_of(naive_t *nv, json_t *rule)
{
    size_t       n, least;
    json_t      *member;
    const char  *name;

    rule = resolve(nv, rule);
    least = json_number_value(json_object_get(rule, "$least"));

    json_object_foreach(rule, name, member) {
        if (name[0] != '$' || strcmp(name, "$each") == 0) {
            n = least_of(nv, member);
            least = (n > least) ? n : least;
        }
    }

    return least;
}


static void
prepare(naive_t *nv)
{
    size_t   i;
    json_t  *private, *v, *entry;

    private = json_object_get(nv->policy, "private");
    v = point(nv->doc, json_string_value(json_object_get(private, "text")));

    if (v != NULL && !json_is_string(v)) {
        withhold(nv);
        return;
    }

    if (v != NULL) {
        nv->private = json_string_value(v);
        nv->private_len = json_string_length(v);
        trim(&nv->private, &nv->private_len);
        nv->private_whole = nv->private_len < (size_t) json_number_value(
                                          json_object_get(private, "within"));
    }

    v = point(nv->doc, json_string_value(json_object_get(nv->policy,
                                                         "labelled")));
    nv->labelled = json_is_true(v);

    if (v != NULL && !json_is_boolean(v)) {
        withhold(nv);
        return;
    }

    v = point(nv->doc, json_string_value(json_object_get(nv->policy,
                                                         "asked")));
    nv->asked_all = (v != NULL && !json_is_array(v))
                    || json_array_size(v) > ASKED;

    json_array_foreach(v, i, entry) {
        if (json_is_string(entry)) {
            json_array_append_new(nv->asked, spoken(entry));

        } else {
            nv->asked_all = 1;
        }
    }

    nv->naming = 1;
    collect(nv, json_object_get(nv->policy, "fields"), nv->doc, NULL, 0, 0);
    nv->naming = 0;

    /* the named person's view has nothing that anything could name */

    if (strcmp(nv->view, "recipient") == 0) {
        json_array_clear(nv->withheld);
    }
}


json_t *
naive_project(json_t *policy, json_t *doc, const char *view, int64_t now,
    relay_permission_e permission)
{
    size_t       i;
    json_t      *out, *fields;
    naive_t      nv;
    const char  *member;

    memset(&nv, 0, sizeof(naive_t));

    nv.policy = policy;
    nv.doc = doc;
    nv.view = view;
    nv.now = now;
    nv.permission = permission;

    member = json_string_value(json_object_get(policy, "member"));

    if (!json_is_object(doc)
        || !json_equal(json_object_get(doc, member ? member : "schema"),
                       json_object_get(policy, "schema")))
    {
        return NULL;
    }

    json_array_foreach(json_object_get(policy, "views"), i, out) {
        if (strcmp(json_string_value(out), view) == 0) {
            break;
        }
    }

    fuzz_assert(i < json_array_size(json_object_get(policy, "views")));

    nv.column = i;
    nv.asked = json_array();
    nv.withheld = json_array();
    out = NULL;
    fields = resolve(&nv, json_object_get(policy, "fields"));

    prepare(&nv);

    if (!nv.withhold) {
        out = value_of(&nv, fields, doc, NULL, 0, KEEP, 0);

        if (strcmp(view, "preview") != 0 && nv.left < least_of(&nv, fields)) {
            withhold(&nv);
        }
    }

    json_decref(nv.asked);
    json_decref(nv.withheld);

    if (nv.withhold) {
        json_decref(out);
        return NULL;
    }

    return out;
}
