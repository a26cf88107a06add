
/*
 * relay_view_project(): every view of arbitrary documents is JSON, is what a
 * second, naive implementation makes of it (naive.c), and stays so until the
 * time it names.
 */

#include <jansson.h>

#include "fuzz.h"
#include "naive.h"
#include "relay_data.h"
#include "relay_json.h"
#include "relay_package.h"
#include "relay_view.h"


#define VIEWS  (RELAY_VIEW_PREVIEW + 1 - RELAY_VIEW_RECIPIENT)


static relay_view_policy_t  *policy;
static json_t               *naive;

/* kept from input to input, as a worker does */

static relay_json_tape_t     tape, view_tape;
static relay_view_out_t      out;


static const relay_view_params_t  params[] = {
    { 0, RELAY_PERMISSION_READ },
    { INT64_C(1798761600000), RELAY_PERMISSION_SUGGEST },   /* 2027-01-01 */
    { INT64_C(4102444800000), RELAY_PERMISSION_EDIT }       /* 2100-01-01 */
};


FUZZ_JSON_MUTATOR


/* Projects and checks that what comes out is JSON; empty: withheld. */

static void
project(const relay_str_t *doc, relay_view_e view,
    const relay_view_params_t *p, relay_buf_t *text, int64_t *until)
{
    size_t               i;
    const char          *why;
    relay_int_t          rc;
    relay_str_t          s;
    relay_json_error_t   err;

    relay_buf_reset(text);

    why = NULL;
    rc = relay_view_project(policy, doc, &tape, view, p, &out, &why);

    *until = out.valid_until;

    if (rc != RELAY_OK) {
        fuzz_assert(rc == RELAY_DECLINED && why != NULL);
        fuzz_assert(out.n == 0 && out.len == 0);
        return;
    }

    for (i = 0; i < out.n; i++) {
        relay_buf_append_str(text, &out.spans[i]);
    }

    fuzz_assert(!text->failed && text->len == out.len);

    relay_buf_str(text, &s);

    fuzz_assert(relay_json_parse(&view_tape, &s, &relay_json_default_limits,
                                 &err)
                == RELAY_OK);
}


static int
same(const relay_buf_t *a, const relay_buf_t *b)
{
    return a->len == b->len
           && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}


/* A view is the same at each time before the one that it names. */

static void
lasts(const relay_str_t *doc, relay_view_e view, const relay_view_params_t *p,
    const relay_buf_t *text, int64_t until)
{
    int64_t              again;
    relay_buf_t          later;
    relay_view_params_t  at;

    fuzz_assert(until == 0 || until > p->now);

    at = *p;
    at.now = (until == 0) ? INT64_MAX : until - 1;

    relay_buf_init(&later, 2 * RELAY_DOCUMENT_MAX);

    project(doc, view, &at, &later, &again);

    fuzz_assert(same(text, &later));

    relay_buf_free(&later);
}


static void
compare(const relay_str_t *doc, json_t *value, relay_view_e view,
    const relay_view_params_t *p, relay_buf_t *text)
{
    char     *a, *b;
    json_t   *expected, *got;

    expected = naive_project(naive, value,
                             (char *) relay_view_name(view)->data, p->now,
                             p->permission);

    if (text->len == 0 || expected == NULL) {
        fuzz_assert(expected == NULL && text->len == 0);
        json_decref(expected);
        return;
    }

    got = json_loadb((char *) text->data, text->len,
                     JSON_REJECT_DUPLICATES|JSON_ALLOW_NUL, NULL);
    fuzz_assert(got != NULL);

    /* the order of members counts, too */

    a = json_dumps(expected, JSON_COMPACT);
    b = json_dumps(got, JSON_COMPACT);
    fuzz_assert(a != NULL && b != NULL);

    if (strcmp(a, b) != 0) {
        fprintf(stderr, "%s at %lld of: %.*s\nexpected: %s\n     got: %s\n",
                relay_view_name(view)->data, (long long) p->now,
                (int) doc->len, doc->data, a, b);
        fuzz_assert(!"both projections agree");
    }

    free(a);
    free(b);
    json_decref(got);
    json_decref(expected);
}


static void
views(const relay_str_t *doc, json_t *value)
{
    int           view;
    size_t        n;
    int64_t       until;
    relay_buf_t   text;

    relay_buf_init(&text, 2 * RELAY_DOCUMENT_MAX);

    for (view = RELAY_VIEW_OWNER; view <= RELAY_VIEW_PREVIEW; view++) {

        for (n = 0; n < sizeof(params) / sizeof(params[0]); n++) {

            if (value == NULL && n != doc->len % 3) {
                continue;
            }

            project(doc, view, &params[n], &text, &until);

            if (view == RELAY_VIEW_OWNER) {
                fuzz_assert(text.len == 0
                            || (text.len == doc->len
                                && memcmp(text.data, doc->data, doc->len)
                                   == 0));
                continue;
            }

            if (value != NULL) {
                compare(doc, value, view, &params[n], &text);
            }

            lasts(doc, view, &params[n], &text, until);
        }
    }

    relay_buf_free(&text);
}


static void
start(void)
{
    relay_buf_t         err;
    const relay_str_t  *text;

    text = relay_view_policy_text(RELAY_PACKAGE_SCHEMA);
    fuzz_assert(text != NULL);

    relay_buf_init(&err, 1024);
    policy = relay_view_compile(text, &err);
    fuzz_assert(policy != NULL);
    relay_buf_free(&err);

    naive = json_loadb((char *) text->data, text->len, 0, NULL);
    fuzz_assert(naive != NULL);

    relay_view_out_init(&out);
    relay_json_tape_init(&tape);
    relay_json_tape_init(&view_tape);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char                *plain;
    json_t              *value;
    relay_str_t          doc;
    relay_json_error_t   err;

    if (policy == NULL) {
        start();
    }

    doc.data = (unsigned char *) data;
    doc.len = size;

    if (relay_json_parse(&tape, &doc, &relay_json_default_limits, &err)
        != RELAY_OK)
    {
        return 0;
    }

    views(&doc, NULL);

    /*
     * Compared is the text as jansson writes it: how long a text is written
     * decides whether it is a code, and jansson's values do not say.
     */

    value = json_loadb((const char *) data, size,
                       JSON_REJECT_DUPLICATES|JSON_ALLOW_NUL, NULL);

    plain = (value != NULL) ? json_dumps(value, JSON_COMPACT) : NULL;

    if (plain != NULL) {
        doc.data = (unsigned char *) plain;
        doc.len = strlen(plain);

        if (relay_json_parse(&tape, &doc, &relay_json_default_limits, &err)
            == RELAY_OK)
        {
            views(&doc, value);
        }
    }

    free(plain);
    json_decref(value);

    return 0;
}
