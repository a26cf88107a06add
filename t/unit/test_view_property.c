
/*
 * Mutants of the worked example, each projected to every view and compared
 * with what the field table says, value for value:
 *
 *     ROUNDS=50000 SEED=7 build/t/test_view_property
 *
 * One round is one mutant.  The seed is printed; the same seed makes the same
 * mutants.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE             /* asprintf(), strndup() */
#endif

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#include "relay_data.h"
#include "relay_view.h"
#include "view_fixture.h"
#include "view_oracle.h"


#define PILOT      "schema/examples/pilot.relay.json"
#define SCHEMA     "relay.context-package.v1"

#define NOW        1780272000000LL      /* 2026-06-01T00:00:00Z */
#define ROUNDS     3000
#define TEXT_MAX   (512 * 1024)
#define PLACES     8192


typedef struct {
    json_t      *in;
    const char  *key;           /* of an object */
    size_t       index;         /* of an array */
} place_t;


typedef struct {
    char        *data;
    size_t       len;
    unsigned     escapes;       /* in 100 */
    unsigned     spaces;
    unsigned     shuffle;
    size_t       twice;         /* the member that is written twice; 0: none */
    size_t       members;
} writer_t;


static const relay_view_e  views[] = {
    RELAY_VIEW_RECIPIENT, RELAY_VIEW_LINK, RELAY_VIEW_PASS_ON,
    RELAY_VIEW_PREVIEW
};

static uint64_t              rng;
static place_t               places[PLACES];
static size_t                places_n;


static uint64_t
roll(uint64_t n)
{
    uint64_t  z;

    z = (rng += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;

    return (z ^ (z >> 31)) % n;
}


#define pick(list)  list[roll(sizeof(list) / sizeof(list[0]))]


/* Every value of the document, by where it stands. */

static void
collect(json_t *json)
{
    size_t       i;
    json_t      *value;
    const char  *key;

    json_array_foreach(json, i, value) {
        if (places_n < PLACES) {
            places[places_n++] = (place_t) { json, NULL, i };
        }

        collect(value);
    }

    json_object_foreach(json, key, value) {
        if (places_n < PLACES) {
            places[places_n++] = (place_t) { json, key, 0 };
        }

        collect(value);
    }
}


static json_t *
get(const place_t *at)
{
    return (at->key != NULL) ? json_object_get(at->in, at->key)
                             : json_array_get(at->in, at->index);
}


static void
set(const place_t *at, json_t *value)
{
    if (at->key != NULL) {
        json_object_set_new(at->in, at->key, value);

    } else {
        json_array_set_new(at->in, at->index, value);
    }
}


static place_t *
anywhere(json_t *doc)
{
    places_n = 0;
    collect(doc);

    return (places_n == 0) ? NULL : &places[roll(places_n)];
}


/* A member of one of these names, wherever it stands; NULL: there is none. */

static place_t *
named(json_t *doc, const char **names, size_t n)
{
    size_t   i, k, found;

    places_n = 0;
    collect(doc);
    found = 0;

    for (i = 0; i < places_n; i++) {

        for (k = 0; k < n; k++) {
            if (places[i].key != NULL && strcmp(places[i].key, names[k]) == 0) {
                places[found++] = places[i];
                break;
            }
        }
    }

    return (found == 0) ? NULL : &places[roll(found)];
}

#define named_of(doc, list)  named(doc, list, sizeof(list) / sizeof(list[0]))


static const char  *marks[] = {
    "visibility", "visibility", "visibility", "provenance", "verdict",
    "restatementVerdict", "labelInterpretations", "validUntil"
};

static const char  *words[] = {
    "shareable", "shareable", "shareable", "recipient-only", "recipient-only",
    "stated", "confirmed", "confirmed", "corrected", "corrected", "inferred",
    "inferred", "rejected", "unreviewed", "sourced", "derived", "Shareable",
    "shareable ", "", "SHAREABLE", "recipient_only", "public", "true"
};

static const char  *dates[] = {
    "2026-06-01", "2026-05-31", "2026-05-30", "2026-06-01T00:00:00Z",
    "2026-06-01T00:00:00.001Z", "2026-05-31T23:59:59.999Z",
    "2026-06-01T02:00:00+02:00", "2026-06-01T02:00:01+02:00",
    "2026-05-31T19:00:00.5-05:00", "2099-12-31", "1999-01-01", "2026-02-29",
    "2028-02-29", "2026-13-01", "2026-6-1", "2027", "next autumn", "",
    "2099-12-31T10:00:00", "2099-12-31 10:00:00Z", "2099-12-31t10:00:00z",
    "20991231", "2099-12-31T10:00:00+0100", "2099-12-31T25:00:00Z",
    " 2099-12-31", "2099-12-31 ", "2099-12-31T10:00:00.Z"
};

static const char  *strange[] = {
    "Visibility", "visibility ", " visibility", "visibilit\xc3\xbf",
    "\xef\xbd\x96isibility", "statement ", "Statement", "agentReading",
    "__proto__", "x-note", "$ref", "shareable", "toString", "id\xcc\x81",
    "e\xcc\x81", "\xc3\xa9", "a/b", "a~1b", "*", "", "private", "text"
};

static const char  *sources[] = {
    "sources", "supports", "staleSections", "tradesAgainst", "pointer",
    "evidence"
};

static const char  *ids[] = { "id", "name" };


static json_t *
scrap(void)
{
    switch (roll(14)) {
    case 0: return json_null();
    case 1: return json_true();
    case 2: return json_false();
    case 3: return json_integer(0);
    case 4: return json_integer((json_int_t) roll(1000) - 500);
    case 5: return json_real(0.25);
    case 6: return json_string("");
    case 7: return json_string(pick(words));
    case 8: return json_array();
    case 9: return json_object();
    case 10: return json_pack("[s]", "SCRAP in an array");
    case 11: return json_pack("[{s:s}]", "id", "SCRAP");
    case 12: return json_pack("{s:s,s:s}", "text", "SCRAP", "provenance",
                              "stated");
    default: return json_string("SCRAP text");
    }
}


static json_t *
anything(json_t *doc)
{
    place_t  *from;

    from = anywhere(doc);

    if (from == NULL || roll(4) == 0) {
        return scrap();
    }

    return json_deep_copy(get(from));
}


/* A text around another one. */

static json_t *
around(const char *s)
{
    char    *text;
    json_t  *json;

    static const char  *before[] = { "", " ", "see ", "\"", "a", "(", "-" };
    static const char  *after[] = { "", " ", ", line 2", "\"", "b", ")", "!" };

    if (asprintf(&text, "%s%s%s", pick(before), s, pick(after)) < 0) {
        abort();
    }

    json = json_string(text);
    free(text);

    return json;
}


static void
remove_at(place_t *at)
{
    if (at == NULL) {
        return;
    }

    if (at->key != NULL) {
        json_object_del(at->in, at->key);

    } else {
        json_array_remove(at->in, at->index);
    }
}


/* One change. */

static void
mutate(json_t *doc)
{
    char         text[128];
    json_t      *value, *statement, *list;
    place_t     *at, copy;
    const char  *s;

    static const char  *removable[] = {
        "visibility", "provenance", "verdict", "claims", "correction", "id",
        "text", "sections", "representation", "intent", "statement", "body",
        "reading", "supports", "validUntil", "labelInterpretations"
    };

    static const char  *statements[] = {
        "Agree", "stated", " Friday ", "confirmed", "shareable", "", " \n",
        "the start week", "\"G\xc3\xa4nse\" sind \\teuer", "2026-03-09",
        "no second pilot within 50 km"
    };

    switch (roll(18)) {

    case 0:
    case 1:
    case 2:
        at = named_of(doc, marks);
        if (at != NULL) {
            s = at->key;

            if (strcmp(s, "labelInterpretations") == 0) {
                set(at, json_boolean(roll(2)));

            } else {
                set(at, json_string(strcmp(s, "validUntil") == 0
                                    ? pick(dates) : pick(words)));
            }
        }
        break;

    case 3:
        at = named_of(doc, removable);
        remove_at(at);
        break;

    case 4:
        remove_at(anywhere(doc));
        break;

    case 5:
        value = anything(doc);
        at = anywhere(doc);
        if (at == NULL) {
            json_decref(value);
            break;
        }

        set(at, value);
        break;

    case 6:
        at = anywhere(doc);
        if (at != NULL) {
            set(at, scrap());
        }
        break;

    case 7:

        /* a member that nobody knows, with something that should not leave */

        value = anything(doc);
        at = anywhere(doc);
        if (at != NULL && json_is_object(at->in)) {
            json_object_set_new(at->in, pick(strange), value);
            break;
        }

        json_decref(value);
        break;

    case 8:

        /* a member that is known elsewhere */

        at = anywhere(doc);
        if (at == NULL || at->key == NULL) {
            break;
        }

        copy = *at;
        value = json_deep_copy(get(&copy));
        s = copy.key;
        at = anywhere(doc);

        if (at != NULL && json_is_object(get(at))) {
            json_object_set_new(get(at), s, value);
            break;
        }

        json_decref(value);
        break;

    case 9:
    case 10:

        /* an id that is another's as well, or one that is no word */

        at = named_of(doc, ids);
        if (at == NULL || !json_is_string(get(at))) {
            break;
        }

        value = json_incref(get(at));
        at = named_of(doc, ids);
        set(at, roll(4) ? json_incref(value)
                        : json_string("price table/\xc3\xa9"));
        json_decref(value);
        break;

    case 11:
    case 12:

        /* a reference to anything */

        at = named_of(doc, ids);
        if (at == NULL || !json_is_string(get(at))) {
            break;
        }

        value = around(json_string_value(get(at)));
        at = named_of(doc, sources);

        if (at != NULL && json_is_array(get(at))) {
            json_array_insert_new(get(at), roll(json_array_size(get(at)) + 1),
                                  value);

        } else if (at != NULL) {
            set(at, value);

        } else {
            json_decref(value);
        }
        break;

    case 13:

        /* the private statement, said again */

        statement = oracle_at(doc, "intent/statement");
        if (!json_is_string(statement)) {
            break;
        }

        value = around(json_string_value(statement));
        at = anywhere(doc);

        if (at != NULL && !json_is_object(get(at))) {
            set(at, value);
            break;
        }

        json_decref(value);
        break;

    case 14:
        value = oracle_at(doc, "intent");
        if (json_is_object(value)) {
            json_object_set_new(value, "statement",
                                json_string(pick(statements)));
        }
        break;

    case 15:

        /* a question for the owner alone */

        list = oracle_at(doc, "representation/fidelityChecks");
        value = json_array_get(list, roll(8));
        s = oracle_text(value, "question");
        list = oracle_at(doc, "representation/mustAskOwner");

        if (s != NULL && strlen(s) < sizeof(text) - 3 && json_is_array(list)) {
            snprintf(text, sizeof(text), "%s%s?", roll(2) ? " " : "", s);
            text[roll(strlen(text))] ^= roll(3) ? 0 : 0x20;
            value = json_string(text);

            if (value != NULL) {
                json_array_append_new(list, value);
            }
        }
        break;

    case 16:

        /* the statement is what two claims say together */

        list = oracle_at(doc, "context/sections");
        value = json_array_get(json_object_get(json_array_get(list, roll(3)),
                                               "claims"), 0);
        s = oracle_text(value, "text");

        if (s != NULL && json_is_object(oracle_at(doc, "intent"))) {
            json_object_set_new(oracle_at(doc, "intent"), "statement",
                                around(s));
        }
        break;

    default:

        /* one more of a kind, somewhere in the array */

        at = anywhere(doc);
        if (at != NULL && at->key == NULL) {
            value = json_deep_copy(get(at));
            json_array_insert_new(at->in, at->index, value);
        }
        break;
    }
}


static void
put(writer_t *w, const char *s, size_t n)
{
    if (w->len + n < TEXT_MAX) {
        memcpy(w->data + w->len, s, n);
        w->len += n;
    }
}


static void
space(writer_t *w)
{
    static const char  *some[] = { " ", "\n", "\t", "\r\n", "   " };

    const char  *s;

    if (w->spaces && roll(8) == 0) {
        s = pick(some);
        put(w, s, strlen(s));
    }
}


/* The code point at s, which is UTF-8, and its bytes. */

static unsigned
code_point(const unsigned char *s, unsigned *n)
{
    if (s[0] < 0x80) {
        *n = 1;
        return s[0];
    }

    if (s[0] < 0xe0) {
        *n = 2;
        return (s[0] & 0x1fu) << 6 | (s[1] & 0x3f);
    }

    if (s[0] < 0xf0) {
        *n = 3;
        return (s[0] & 0x0fu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3f);
    }

    *n = 4;

    return (s[0] & 0x07u) << 18 | (s[1] & 0x3fu) << 12 | (s[2] & 0x3fu) << 6
           | (s[3] & 0x3f);
}


static void
write_string(writer_t *w, const char *s)
{
    char                  hex[16];
    unsigned              c, n, escapes;
    const unsigned char  *p;

    escapes = (roll(2) == 0) ? w->escapes : 0;
    put(w, "\"", 1);

    for (p = (const unsigned char *) s; *p != '\0'; p += n) {

        c = code_point(p, &n);

        if (c >= 0x20 && c != '"' && c != '\\' && roll(100) >= escapes) {
            put(w, (const char *) p, n);
            continue;
        }

        if (c == '"' || c == '\\' || (c == '/' && roll(2))) {
            snprintf(hex, sizeof(hex), "\\%c", (char) c);

        } else if (c < 0x10000) {
            snprintf(hex, sizeof(hex), roll(2) ? "\\u%04x" : "\\u%04X", c);

        } else {
            c -= 0x10000;
            snprintf(hex, sizeof(hex), "\\u%04x\\u%04X", 0xd800 | c >> 10,
                     0xdc00 | (c & 0x3ff));
        }

        put(w, hex, strlen(hex));
    }

    put(w, "\"", 1);
}


static void
write_value(writer_t *w, json_t *json)
{
    char        *text;
    size_t       i, k, n;
    json_t      *value;
    const char  *key, **keys;

    space(w);

    if (json_is_string(json)) {
        write_string(w, json_string_value(json));

    } else if (json_is_array(json)) {
        put(w, "[", 1);

        json_array_foreach(json, i, value) {
            if (i != 0) {
                put(w, ",", 1);
            }

            write_value(w, value);
        }

        space(w);
        put(w, "]", 1);

    } else if (json_is_object(json)) {
        n = 0;
        keys = malloc((json_object_size(json) + 2) * sizeof(char *));

        json_object_foreach(json, key, value) {
            keys[n++] = key;

            if (++w->members == w->twice) {
                keys[n++] = key;
            }
        }

        for (i = n; w->shuffle && i > 1; i--) {
            k = roll(i);
            key = keys[k];
            keys[k] = keys[i - 1];
            keys[i - 1] = key;
        }

        put(w, "{", 1);

        for (i = 0; i < n; i++) {
            if (i != 0) {
                put(w, ",", 1);
            }

            space(w);
            write_string(w, keys[i]);
            space(w);
            put(w, ":", 1);
            write_value(w, json_object_get(json, keys[i]));
        }

        space(w);
        put(w, "}", 1);
        free(keys);

    } else {
        text = json_dumps(json, JSON_ENCODE_ANY);
        put(w, text, strlen(text));
        free(text);
    }

    space(w);
}


/* What is no document at all. */

static void
spoil(writer_t *w)
{
    size_t  i;

    i = roll(w->len);

    switch (roll(7)) {

    case 0:
        memmove(w->data + 3, w->data, w->len);
        memcpy(w->data, "\xef\xbb\xbf", 3);
        w->len += 3;
        break;

    case 1:
        w->len = i;
        break;

    case 2:
        put(w, "{}", 2);
        break;

    case 3:
        w->data[i] = '\xff';
        break;

    case 4:
        w->data[i] = '\x01';
        break;

    case 5:
        memmove(w->data + i + 3, w->data + i, w->len - i);
        memcpy(w->data + i, "\xed\xa0\x80", 3);
        w->len += 3;
        break;

    default:
        memmove(w->data + i + 1, w->data + i, w->len - i);
        w->data[i] = ',';
        w->len++;
        break;
    }
}


/*
 * Strings of their own at places that no view but the owner's has, or that the
 * named one has not; how many views each may be in is the table's to say.
 */

static const struct {
    const char  *object;
    const char  *member;
    const char  *may;           /* recipient, link, pass-on, preview */
} canaries[] = {
    { "", "x-unknown", "----" },
    { "owner", "id", "----" },
    { "producedBy", "sessionRef", "----" },
    { "audience", "email", "----" },
    { "intent/outcome", "agentReading", "----" },
    { "intent/ask/detail", "agentReading", "----" },
    { "interpretation", "clarifications", "----" },
    { "interpretation", "reviewedIn", "----" },
    { "process", "howProduced", "----" },
    { "lifecycle", "grantId", "----" },
    { "lifecycle", "revocationUrl", "----" },
    { "context", "subject", "YY--" },
    { "owner", "contact", "YY--" },
    { "interaction", "returnChannel", "YY--" },
    { "representation", "passOn", "YY--" },
    { "intent/outcome", "text", "YY--" },
    { "", "changeNote", "YY--" },
    { "", "id", "YYY-" }
};

#define CANARIES  (sizeof(canaries) / sizeof(canaries[0]))


static void
sing(json_t *doc)
{
    char     text[64];
    size_t   i;
    json_t  *object;

    for (i = 0; i < CANARIES; i++) {
        object = *canaries[i].object ? oracle_at(doc, canaries[i].object)
                                     : doc;

        if (json_is_object(object)) {
            snprintf(text, sizeof(text), "canary%zucanary", i);
            json_object_set_new(object, canaries[i].member,
                                json_string(text));
        }
    }
}


static int
occurs(json_t *json, const char *needle)
{
    int          found;
    size_t       i;
    json_t      *value;
    const char  *key;

    if (json_is_string(json)) {
        return strstr(json_string_value(json), needle) != NULL;
    }

    found = 0;

    json_array_foreach(json, i, value) {
        found |= occurs(value, needle);
    }

    json_object_foreach(json, key, value) {
        found |= (strstr(key, needle) != NULL) | occurs(value, needle);
    }

    return found;
}


/* A note: what is explained must be on the tape, and have a reason. */

static void
count_note(void *data, const relay_view_note_t *note)
{
    size_t  *notes;

    notes = data;
    (*notes)++;

    assert_true(note->node < tape.n);
    assert_true(*note->what != '\0');
    assert_true(note->place.len != 0 || note->because.len != 0);
}


/* The view that the engine makes; NULL: withheld. */

static json_t *
engine(const char *data, size_t len, int view, char *text)
{
    size_t                i, n, notes;
    json_t               *json;
    const char           *why;
    relay_int_t           rc;
    relay_str_t           s;
    json_error_t          jerr;
    relay_json_error_t    err;
    relay_view_params_t   params;

    s.data = (unsigned char *) data;
    s.len = len;
    params.now = NOW;
    params.permission = RELAY_PERMISSION_READ;

    if (relay_json_parse(&tape, &s, &relay_json_default_limits, &err)
        != RELAY_OK)
    {
        return NULL;
    }

    /* whoever listens learns of everything, and changes nothing */

    notes = 0;
    out.note = (roll(2) == 0) ? count_note : NULL;
    out.note_data = &notes;

    rc = relay_view_project(policy, &s, &tape, views[view], &params, &out,
                            &why);

    assert_int_not_equal(rc, RELAY_ERROR);
    assert_true(rc != RELAY_OK || out.note == NULL || notes == out.withheld);

    if (rc == RELAY_DECLINED) {
        assert_int_equal(out.n, 0);
        return NULL;
    }

    n = 0;

    for (i = 0; i < out.n; i++) {
        assert_true(n + out.spans[i].len < 2 * TEXT_MAX);
        memcpy(text + n, out.spans[i].data, out.spans[i].len);
        n += out.spans[i].len;
    }

    assert_int_equal(n, out.len);
    text[n] = '\0';

    json = json_loadb(text, n, JSON_REJECT_DUPLICATES, &jerr);

    if (json == NULL) {
        fail_msg("the view is no JSON: %s in %s", jerr.text, text);
    }

    return json;
}


/* Whether the mandate stands before everything but the head. */

static int
mandate_first(json_t *view)
{
    void  *iter;

    static const char  *head[] = {
        "schema", "id", "title", "summary", "changeNote", "version", "depth",
        "owner", "approvedBy", "approvedAt", "producedBy"
    };

    size_t       i;
    const char  *key;

    if (json_object_get(view, "representation") == NULL) {
        return 1;
    }

    for (iter = json_object_iter(view); iter != NULL;
         iter = json_object_iter_next(view, iter))
    {
        key = json_object_iter_key(iter);

        if (strcmp(key, "representation") == 0) {
            return 1;
        }

        for (i = 0; i < sizeof(head) / sizeof(head[0]); i++) {
            if (strcmp(key, head[i]) == 0) {
                break;
            }
        }

        if (i == sizeof(head) / sizeof(head[0])) {
            return 0;
        }
    }

    return 0;
}


static void
differ(const char *what, uint64_t seed, uint64_t round, int view,
    const writer_t *w, json_t *expected, json_t *is)
{
    char  *a, *b;
    FILE  *file;

    file = fopen("build/t/mutant.json", "wb");

    if (file != NULL) {
        (void) fwrite(w->data, 1, w->len, file);
        fclose(file);
    }

    a = json_dumps(expected, JSON_SORT_KEYS|JSON_INDENT(1));
    b = json_dumps(is, JSON_SORT_KEYS|JSON_INDENT(1));

    file = fopen("build/t/mutant.expected", "wb");

    if (file != NULL) {
        fputs(a == NULL ? "withheld\n" : a, file);
        fclose(file);
    }

    file = fopen("build/t/mutant.is", "wb");

    if (file != NULL) {
        fputs(b == NULL ? "withheld\n" : b, file);
        fclose(file);
    }

    fail_msg("%s: SEED=%llu, round %llu, view %s; build/t/mutant.json, .is, "
             ".expected", what, (unsigned long long) seed,
             (unsigned long long) round,
             (const char *) relay_view_name(views[view])->data);
}


static uint64_t
number(const char *name, uint64_t otherwise)
{
    const char  *s;

    s = getenv(name);

    return (s == NULL || *s == '\0') ? otherwise : strtoull(s, NULL, 10);
}


static void
test_mutants(void **state)
{
    char      *text;
    char       needle[32];
    size_t     i, n;
    json_t    *pilot, *doc, *parsed, *expected, *is;
    uint64_t   round, rounds, seed, served, withheld, sung;
    writer_t   w;
    int        view, singing;

    rounds = number("ROUNDS", ROUNDS);
    seed = number("SEED", 1);
    served = 0;
    withheld = 0;
    sung = 0;

    print_message("SEED=%llu ROUNDS=%llu\n", (unsigned long long) seed,
                  (unsigned long long) rounds);

    pilot = json_load_file(PILOT, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(pilot);

    w.data = malloc(TEXT_MAX + 8);
    text = malloc(2 * TEXT_MAX);
    assert_non_null(w.data);
    assert_non_null(text);

    for (round = 0; round < rounds; round++) {

        /* each round can be made again alone */

        rng = seed * 0x9e3779b97f4a7c15ull + round;

        doc = json_deep_copy(pilot);

        for (n = roll(6); n > 0; n--) {
            mutate(doc);
        }

        singing = (roll(2) == 0);

        if (singing) {
            sing(doc);
        }

        w.len = 0;
        w.members = 0;
        w.escapes = roll(3) ? 0 : (unsigned) roll(100);
        w.spaces = roll(2) == 0;
        w.shuffle = roll(2) == 0;
        w.twice = roll(40) ? 0 : 1 + roll(600);

        write_value(&w, doc);
        json_decref(doc);

        if (w.len > TEXT_MAX / 2) {
            continue;
        }

        if (roll(40) == 0) {
            spoil(&w);
        }

        parsed = json_loadb(w.data, w.len, JSON_REJECT_DUPLICATES, NULL);

        for (view = 0; view < 4; view++) {

            expected = (parsed != NULL) ? oracle_view(parsed, view, NOW)
                                        : NULL;
            is = engine(w.data, w.len, view, text);

            if ((expected == NULL) != (is == NULL)
                || (is != NULL && !json_equal(expected, is)))
            {
                differ("not the same", seed, round, view, &w, expected, is);
            }

            if (is == NULL) {
                withheld++;
                continue;
            }

            served++;

            if (!mandate_first(is)) {
                differ("the mandate is not first", seed, round, view, &w,
                       expected, is);
            }

            for (i = 0; singing && i < CANARIES; i++) {
                snprintf(needle, sizeof(needle), "canary%zucanary", i);

                if (canaries[i].may[view] == '-'
                    && (strstr(text, needle) != NULL || occurs(is, needle)))
                {
                    differ(canaries[i].member, seed, round, view, &w,
                           expected, is);
                }

                sung++;
            }

            json_decref(expected);
            json_decref(is);
        }

        json_decref(parsed);
    }

    print_message("%llu views served, %llu withheld, %llu canaries looked for"
                  "\n", (unsigned long long) served,
                  (unsigned long long) withheld, (unsigned long long) sung);

    /* mutants that are all withheld would compare nothing */

    assert_true(served > withheld);
    assert_true(rounds < 100 || withheld > 0);

    json_decref(pilot);
    free(w.data);
    free(text);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_mutants)
    };

    return cmocka_run_group_tests_name("relay_view, mutants", tests, setup,
                                       teardown);
}
