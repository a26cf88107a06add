
/*
 * What a reader must get, made the plain way: over jansson, from the field
 * table, with no word of the policy and no line of the engine.  Slow, and that
 * is all right: it is what the engine is compared with.
 */

#ifndef _VIEW_ORACLE_H_INCLUDED_
#define _VIEW_ORACLE_H_INCLUDED_


#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "view_table.h"


#define ORACLE_RECIPIENT  0
#define ORACLE_LINK       1
#define ORACLE_PASS_ON    2
#define ORACLE_PREVIEW    3

#define ORACLE_CODE       40    /* bytes of a code that is not compared */
#define ORACLE_PATH       256
#define ORACLE_WITHIN     8     /* bytes of a private text sought in others */


typedef struct {
    int          view;
    int64_t      now;           /* epoch ms */
    json_t      *doc;
    json_t      *rows;          /* path: index */
    json_t      *names;         /* of what is withheld */
    char        *private;       /* trimmed; NULL: there is none */
    int          labelled;
    int          withheld;      /* the whole document */
    size_t       sections;      /* that are left */
} oracle_t;


static json_t *oracle_value(oracle_t *o, const char *path, json_t *value,
    json_t *parent, json_t *around);


static const view_row_t *
oracle_row(oracle_t *o, const char *path)
{
    json_t  *index;

    index = json_object_get(o->rows, path);

    return (index == NULL) ? NULL : &view_table[json_integer_value(index)];
}


static json_t *
oracle_at(json_t *value, const char *path)
{
    char         name[64];
    size_t       n;
    const char  *end;

    while (*path != '\0') {
        end = strchr(path, '/');
        n = (end == NULL) ? strlen(path) : (size_t) (end - path);

        memcpy(name, path, n);
        name[n] = '\0';

        value = json_object_get(value, name);
        path += n + (end != NULL);
    }

    return value;
}


/* A member's text; NULL: it is missing, or no string. */

static const char *
oracle_text(json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}


static int
oracle_is(json_t *object, const char *name, const char *text)
{
    const char  *s;

    s = oracle_text(object, name);

    return s != NULL && strcmp(s, text) == 0;
}


static char *
oracle_trim(const char *s)
{
    size_t  n;

    s += strspn(s, " \t\r\n");
    n = strlen(s);

    while (n > 0 && strchr(" \t\r\n", s[n - 1]) != NULL) {
        n--;
    }

    return strndup(s, n);
}


static int
oracle_repeats(oracle_t *o, const char *s)
{
    int    found;
    char  *trimmed;

    if (o->private == NULL) {
        return 0;
    }

    if (strlen(o->private) >= ORACLE_WITHIN) {
        return strstr(s, o->private) != NULL;
    }

    trimmed = oracle_trim(s);
    found = (strcmp(trimmed, o->private) == 0);
    free(trimmed);

    return found;
}


/* Words of ASCII letters and digits and of other bytes, in lower case. */

static char *
oracle_words(const char *s)
{
    char    *words, *p;
    size_t   word;

    static const char  spaces[] = " \t\r\n\f\v!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}"
        "~\001\002\003\004\005\006\007\010\016\017\020\021\022\023\024\025\026"
        "\027\030\031\032\033\034\035\036\037\177";

    p = words = malloc(strlen(s) + 1);

    for ( ;; ) {
        s += strspn(s, spaces);
        word = strcspn(s, spaces);

        if (word == 0) {
            break;
        }

        if (p != words) {
            *p++ = ' ';
        }

        for (/* void */; word > 0; word--, s++) {
            *p++ = (*s >= 'A' && *s <= 'Z') ? *s + ('a' - 'A') : *s;
        }
    }

    *p = '\0';

    return words;
}


/* The last millisecond of a date, or that of a time; -1: neither. */

static int64_t
oracle_time(const char *s)
{
    int         y, mo, d, h, mi, sec, oh, om, n;
    char        sign, t;
    int64_t     ms;
    struct tm   tm, back;

    memset(&tm, 0, sizeof(tm));

    if (strlen(s) == 10) {

        if (strspn(s, "0123456789-") != 10
            || sscanf(s, "%4d-%2d-%2d%n", &y, &mo, &d, &n) != 3 || n != 10)
        {
            return -1;
        }

        h = mi = sec = 0;
        s += 10;

    } else {

        if (strspn(s, "0123456789-") != 10
            || sscanf(s, "%4d-%2d-%2d%c%2d:%2d:%2d%n", &y, &mo, &d, &t, &h,
                      &mi, &sec, &n)
               != 7
            || n != 19 || strchr("Tt", t) == NULL || h > 23 || mi > 59
            || sec > 59)
        {
            return -1;
        }

        s += 19;
    }

    tm.tm_year = y - 1900;
    tm.tm_mon = mo - 1;
    tm.tm_mday = d;
    tm.tm_hour = h;
    tm.tm_min = mi;
    tm.tm_sec = sec;
    back = tm;

    ms = (int64_t) timegm(&tm) * 1000;

    if (tm.tm_mon != back.tm_mon || tm.tm_mday != back.tm_mday) {
        return -1;
    }

    if (s[-3] == '-') {
        return ms + 86399999;
    }

    if (*s == '.') {
        s++;
        n = (int) strspn(s, "0123456789");

        if (n == 0) {
            return -1;
        }

        ms += (s[0] - '0') * 100;
        ms += (n > 1) ? (s[1] - '0') * 10 : 0;
        ms += (n > 2) ? (s[2] - '0') : 0;
        s += n;
    }

    if (strcmp(s, "Z") == 0 || strcmp(s, "z") == 0) {
        return ms;
    }

    if (strlen(s) != 6 || strspn(s + 1, "0123456789:") != 5
        || sscanf(s, "%c%2d:%2d%n", &sign, &oh, &om, &n) != 3 || n != 6
        || oh > 23 || om > 59 || strchr("+-", sign) == NULL)
    {
        return -1;
    }

    return ms - (sign == '+' ? 1 : -1) * (int64_t) (oh * 60 + om) * 60000;
}


static int
oracle_id_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9') || c == '_' || c == '-';
}


/* Whether a text names something withheld: as a word, or anywhere. */

static int
oracle_names(oracle_t *o, const char *s)
{
    int          word;
    size_t       i, n, k;
    json_t      *entry;
    const char  *name, *p;

    json_array_foreach(o->names, i, entry) {
        name = json_string_value(entry);
        n = strlen(name);
        word = 1;

        for (k = 0; k < n; k++) {
            word &= oracle_id_byte(name[k]);
        }

        for (p = strstr(s, name); p != NULL; p = strstr(p + 1, name)) {

            if (!word || ((p == s || !oracle_id_byte(p[-1]))
                          && !oracle_id_byte(p[n])))
            {
                return 1;
            }
        }
    }

    return 0;
}


static int
oracle_labelled_value(oracle_t *o, json_t *value)
{
    const char  *provenance;

    provenance = oracle_text(value, "provenance");

    return o->labelled
           || (provenance != NULL && strcmp(provenance, "inferred") != 0);
}


static int
oracle_shareable(json_t *value)
{
    return oracle_is(value, "visibility", "shareable");
}


/* Whether a claim of a section that stays stays itself. */

static int
oracle_claim(oracle_t *o, json_t *claim, json_t *section)
{
    int64_t      until;
    const char  *s;

    if (!json_is_object(claim)) {
        return 0;
    }

    if (json_object_get(claim, "visibility") != NULL
        ? !oracle_shareable(claim) : !oracle_shareable(section))
    {
        return 0;
    }

    s = oracle_text(claim, "validUntil");

    if (o->view == ORACLE_PASS_ON && s != NULL) {
        until = oracle_time(s);

        if (until <= o->now) {
            return 0;
        }
    }

    return 1;
}


/* Whether the question of a check is one that only the owner answers. */

static int
oracle_must_ask(oracle_t *o, json_t *check)
{
    int          found;
    char        *words, *asked;
    size_t       i;
    json_t      *list, *entry;
    const char  *question;

    list = oracle_at(o->doc, "representation/mustAskOwner");
    question = oracle_text(check, "question");

    if (list == NULL || (json_is_array(list) && json_array_size(list) == 0)) {
        return 0;
    }

    /* what cannot be compared is the owner's to answer */

    if (!json_is_array(list) || question == NULL) {
        return 1;
    }

    found = 0;
    words = oracle_words(question);

    json_array_foreach(list, i, entry) {

        if (!json_is_string(entry)) {
            found = 1;
            continue;
        }

        asked = oracle_words(json_string_value(entry));
        found |= (strcmp(asked, words) == 0);
        free(asked);
    }

    free(words);

    return found;
}


/* The letter that a condition comes to, of one of "Y-0iJ". */

static char
oracle_decide(oracle_t *o, char letter, json_t *value, json_t *parent,
    json_t *around)
{
    int      any, left;
    size_t   i;
    json_t  *entry;

    const char  *name, *s;

    static const char  *evidence[] = { "supports", "kind", "pointer",
                                       "strength" };

    switch (letter) {

    case 'V':
        return oracle_labelled_value(o, value) ? 'Y' : '-';

    case 'S':
    case 'W':
        return oracle_shareable(value) ? 'Y' : '-';

    case 'B':
        return oracle_shareable(value) && oracle_labelled_value(o, value)
               ? 'Y' : '-';

    case 'E':
    case 'F':
        return oracle_claim(o, value, around) ? 'Y' : '-';

    case 'R':
    case 'r':
        s = oracle_text(parent, "restatementVerdict");
        return s != NULL && (strcmp(s, "confirmed") == 0
                             || strcmp(s, "corrected") == 0)
               ? 'Y' : (letter == 'R') ? '0' : '-';

    case 'I':
        s = oracle_text(value, "verdict");
        return s != NULL && (strcmp(s, "confirmed") == 0
                             || strcmp(s, "corrected") == 0
                             || (strcmp(s, "unreviewed") == 0 && o->labelled))
               ? 'Y' : '-';

    case 'i':
        return oracle_is(parent, "verdict", "corrected") ? 'i' : 'Y';

    case 'n':
        return oracle_is(parent, "verdict", "corrected") ? '-' : 'Y';

    case 'x':
        return oracle_is(parent, "verdict", "corrected") ? 'Y' : '-';

    case 'U':

        if (json_is_string(value)) {
            return oracle_names(o, json_string_value(value)) ? '-' : 'Y';
        }

        for (i = 0; i < 4; i++) {
            s = oracle_text(value, evidence[i]);

            if (s != NULL && oracle_names(o, s)) {
                return '-';
            }
        }

        return 'Y';

    case 'L':
        name = "supports";
        any = 0;
        left = 0;

        json_array_foreach(json_object_get(value, name), i, entry) {
            any = 1;
            left |= !json_is_object(entry) && !json_is_array(entry)
                    && oracle_decide(o, 'U', entry, NULL, NULL) == 'Y';
        }

        return (any && !left) ? '-' : 'Y';

    case 'Q':
        return oracle_must_ask(o, value) ? '-' : 'Y';
    }

    return letter;
}


static json_t *
oracle_scalar(oracle_t *o, char kind, json_t *value)
{
    const char  *s;

    if (json_is_object(value) || json_is_array(value)) {
        return NULL;
    }

    s = json_string_value(value);

    if (s != NULL && (kind == 't' || strlen(s) > ORACLE_CODE)
        && oracle_repeats(o, s))
    {
        return json_string("");
    }

    return json_incref(value);
}


/* The body, or what is left of it. */

static json_t *
oracle_body(oracle_t *o, json_t *body, json_t *section)
{
    int          whole;
    char        *joined;
    size_t       i, n;
    json_t      *claims, *claim, *result;
    const char  *text;

    claims = json_object_get(section, "claims");

    if (json_is_object(body) || json_is_array(body)) {
        return NULL;
    }

    if (claims == NULL) {
        return oracle_scalar(o, 't', body);
    }

    whole = json_is_array(claims)
            && !(json_is_string(body)
                 && oracle_repeats(o, json_string_value(body)));
    n = 1;

    json_array_foreach(claims, i, claim) {
        whole &= oracle_claim(o, claim, section);
        text = oracle_text(claim, "text");
        n += (text != NULL) ? strlen(text) + 1 : 0;
    }

    if (whole) {
        return json_incref(body);
    }

    joined = calloc(1, n);

    json_array_foreach(claims, i, claim) {
        text = oracle_text(claim, "text");

        if (text != NULL && *text != '\0' && oracle_claim(o, claim, section)
            && !oracle_repeats(o, text))
        {
            if (*joined != '\0') {
                strcat(joined, " ");
            }

            strcat(joined, text);
        }
    }

    result = json_string(oracle_repeats(o, joined) ? "" : joined);
    free(joined);

    return result;
}


static json_t *
oracle_reading(oracle_t *o, json_t *inference)
{
    const char  *s;

    s = oracle_text(inference, "correction");

    return json_string(s == NULL || oracle_repeats(o, s) ? "" : s);
}


/*
 * The path of a member, or of the elements; 0: no row can be of that name,
 * which is too long or has what paths are written with.
 */

static int
oracle_below(char *below, const char *path, const char *key)
{
    size_t  n;

    n = strlen(path);

    if (key == NULL) {
        key = "*";

    } else if (*key == '\0' || strpbrk(key, "/*") != NULL) {
        return 0;
    }

    if (n + 1 + strlen(key) + 1 > ORACLE_PATH) {
        return 0;
    }

    memcpy(below, path, n);

    if (n != 0) {
        below[n++] = '/';
    }

    memcpy(below + n, key, strlen(key) + 1);

    return 1;
}


/* What is served of a value; NULL: nothing. */

static json_t *
oracle_value(oracle_t *o, const char *path, json_t *value, json_t *parent,
    json_t *around)
{
    char               letter, below[ORACLE_PATH];
    size_t             i;
    json_t            *result, *entry, *kept;
    const char        *key;
    const view_row_t  *row;

    row = oracle_row(o, path);

    if (row == NULL) {
        return NULL;
    }

    letter = oracle_decide(o, row->gets[o->view], value, parent, around);

    switch (letter) {

    case '-':
        return NULL;

    case '0':
        return json_string("");

    case 'K':
        return json_loads(row->constant, JSON_DECODE_ANY, NULL);

    case 'i':
        return oracle_reading(o, parent);

    case 'J':
        return oracle_body(o, value, parent);
    }

    if (row->kind == 'a') {

        if (!json_is_array(value)) {
            return NULL;
        }

        result = json_array();
        (void) oracle_below(below, path, NULL);

        json_array_foreach(value, i, entry) {
            kept = oracle_value(o, below, entry, value, parent);

            if (kept != NULL) {
                json_array_append_new(result, kept);
            }
        }

        if (strcmp(path, "context/sections") == 0) {
            o->sections = json_array_size(result);
        }

        return result;
    }

    if (row->kind == 'o') {

        if (!json_is_object(value)) {
            return NULL;
        }

        result = json_object();

        json_object_foreach(value, key, entry) {

            if (!oracle_below(below, path, key)) {
                continue;
            }

            kept = oracle_value(o, below, entry, value, around);

            if (kept != NULL) {
                json_object_set_new(result, key, kept);
            }
        }

        /* what a claim has of its section is written on it */

        if (row->gets[o->view] == 'F'
            && json_object_get(value, "visibility") == NULL)
        {
            json_object_set_new(result, "visibility",
                                json_string("shareable"));
        }

        return result;
    }

    return oracle_scalar(o, row->kind, value);
}


/* A mark of the wrong type withholds the document, wherever it stands. */

static void
oracle_marks(oracle_t *o, const char *path, json_t *value)
{
    char               below[ORACLE_PATH];
    size_t             i;
    json_t            *entry;
    const char        *key;
    const view_row_t  *row;

    row = oracle_row(o, path);

    if (row == NULL) {
        return;
    }

    if ((row->kind == 'm' && !json_is_string(value))
        || (row->kind == 'f' && !json_is_boolean(value)))
    {
        o->withheld = 1;
    }

    if (row->kind == 'a') {
        (void) oracle_below(below, path, NULL);

        json_array_foreach(value, i, entry) {
            oracle_marks(o, below, entry);
        }
    }

    if (row->kind == 'o') {

        json_object_foreach(value, key, entry) {

            if (oracle_below(below, path, key)) {
                oracle_marks(o, below, entry);
            }
        }
    }
}


static void
oracle_withhold_name(oracle_t *o, json_t *object, const char *member)
{
    const char  *s;

    s = oracle_text(object, member);

    if (s != NULL && *s != '\0') {
        json_array_append_new(o->names, json_string(s));
    }
}


/* Sections, claims and variables that this view withholds. */

static void
oracle_withheld_names(oracle_t *o)
{
    int      kept;
    size_t   i, k;
    json_t  *list, *claims, *section, *claim, *variable;

    list = oracle_at(o->doc, "context/sections");

    if (!json_is_array(list)) {
        list = NULL;
    }

    json_array_foreach(list, i, section) {
        kept = oracle_shareable(section);

        if (!kept) {
            oracle_withhold_name(o, section, "id");
        }

        claims = json_object_get(section, "claims");

        json_array_foreach(claims, k, claim) {
            if (!kept || !oracle_claim(o, claim, section)) {
                oracle_withhold_name(o, claim, "id");
            }
        }
    }

    list = oracle_at(o->doc, "reasoning/variables");

    json_array_foreach(list, i, variable) {
        if (!oracle_shareable(variable)
            || (o->view == ORACLE_LINK && !oracle_labelled_value(o, variable)))
        {
            oracle_withhold_name(o, variable, "name");
        }
    }
}


/* The view of a document, or NULL: it is withheld. */

static json_t *
oracle_view(json_t *doc, int view, int64_t now)
{
    size_t     i;
    json_t    *statement, *result;
    oracle_t   o;

    static json_t  *rows;

    memset(&o, 0, sizeof(o));

    o.view = view;
    o.now = now;
    o.doc = doc;

    if (!json_is_object(doc)
        || !oracle_is(doc, "schema", "relay.context-package.v1"))
    {
        return NULL;
    }

    statement = oracle_at(doc, "intent/statement");

    if (statement != NULL && !json_is_string(statement)) {
        return NULL;
    }

    if (rows == NULL) {
        rows = json_object();

        for (i = 0; i < VIEW_ROWS; i++) {
            json_object_set_new(rows, view_table[i].path, json_integer(i));
        }
    }

    o.rows = rows;
    o.names = json_array();

    if (statement != NULL) {
        o.private = oracle_trim(json_string_value(statement));

        if (*o.private == '\0') {
            free(o.private);
            o.private = NULL;
        }
    }

    o.labelled = json_is_true(
                     oracle_at(doc, "representation/fidelity/"
                                    "labelInterpretations"));

    oracle_marks(&o, "", doc);

    if (view == ORACLE_LINK || view == ORACLE_PASS_ON) {
        oracle_withheld_names(&o);
    }

    result = oracle_value(&o, "", doc, NULL, NULL);

    if (o.withheld || (view != ORACLE_PREVIEW && o.sections == 0)) {
        json_decref(result);
        result = NULL;
    }

    free(o.private);
    json_decref(o.names);

    return result;
}


#endif /* _VIEW_ORACLE_H_INCLUDED_ */
