
/*
 * relay_package_head() against jansson's values: accepted exactly when every
 * member of the head is what its schema says, and then with those values.
 */

#include <jansson.h>

#include "fuzz.h"
#include "relay_package.h"
#include "relay_time.h"


static relay_json_tape_t  tape;


FUZZ_JSON_MUTATOR


/* A text that must be there, or may be missing; NULL: it is wrong. */

static json_t *
text(json_t *object, const char *name, int optional, int empty)
{
    json_t  *value;

    static json_t  *none;

    if (none == NULL) {
        none = json_string("");
    }

    value = json_object_get(object, name);

    if (value == NULL) {
        return optional ? none : NULL;
    }

    if (!json_is_string(value) || (!empty && json_string_length(value) == 0)) {
        return NULL;
    }

    return value;
}


/* The place of a word in a list; 0: it is not there. */

static int
word(json_t *object, const char *name, const char *const *words)
{
    int      i;
    json_t  *value, *known;

    value = json_object_get(object, name);

    for (i = 0; words[i] != NULL; i++) {
        known = json_string(words[i]);

        if (json_equal(value, known)) {
            json_decref(known);
            return i + 1;
        }

        json_decref(known);
    }

    return 0;
}


static void
is(json_t *expected, const relay_str_t *s)
{
    fuzz_assert(json_string_length(expected) == s->len);
    fuzz_assert(s->len == 0
                || memcmp(json_string_value(expected), s->data, s->len) == 0);
}


static void
compare(json_t *doc, relay_int_t rc, const relay_package_t *pkg)
{
    int           access, permission, mode;
    json_t       *schema, *id, *title, *name, *owner_id, *by, *email;
    json_t       *version, *expires, *audience, *lifecycle;
    int64_t       exp;
    relay_int_t   time;
    relay_str_t   s;

    static const char *const  accesses[] = { "named", "anyone", NULL };
    static const char *const  permissions[] = { "read", "suggest", "edit",
                                                NULL };
    static const char *const  modes[] = { "snapshot", "live", NULL };

    audience = json_object_get(doc, "audience");
    lifecycle = json_object_get(doc, "lifecycle");

    schema = json_object_get(doc, "schema");
    id = text(doc, "id", 0, 0);
    title = text(doc, "title", 1, 1);
    name = text(json_object_get(doc, "owner"), "name", 0, 1);
    owner_id = text(json_object_get(doc, "owner"), "id", 1, 1);
    by = text(doc, "approvedBy", 0, 1);
    email = text(audience, "email", 1, 1);
    access = word(audience, "access", accesses);
    permission = word(json_object_get(doc, "interaction"), "permission",
                      permissions);
    mode = word(lifecycle, "mode", modes);

    if (json_is_object(audience)
        && json_object_get(audience, "access") == NULL)
    {
        access = RELAY_ACCESS_NAMED;
    }

    expires = json_object_get(lifecycle, "expiresAt");
    exp = 0;
    time = RELAY_OK;

    if (expires != NULL && !json_is_null(expires)) {
        time = RELAY_DECLINED;

        if (json_is_string(expires)) {
            s.data = (unsigned char *) json_string_value(expires);
            s.len = json_string_length(expires);
            time = relay_time_parse(&s, &exp);

            if (exp == 0) {
                exp = 1;
            }
        }
    }

    version = json_object_get(doc, "version");

    if (!json_is_string(schema)
        || strcmp(json_string_value(schema), RELAY_PACKAGE_SCHEMA) != 0
        || json_string_length(schema) != strlen(RELAY_PACKAGE_SCHEMA)
        || !id || !title || !name || !owner_id || !by || !email
        || !access || !permission || !mode || time != RELAY_OK
        || !json_is_number(version) || json_number_value(version) < 1)
    {
        fuzz_assert(rc == RELAY_DECLINED);
        return;
    }

    /* a number with a point or an exponent may be whole all the same */

    if (json_is_real(version) && rc == RELAY_DECLINED) {
        return;
    }

    fuzz_assert(rc == RELAY_OK);

    is(schema, &pkg->schema);
    is(id, &pkg->id);
    is(title, &pkg->title);
    is(name, &pkg->owner_name);
    is(owner_id, &pkg->owner_id);
    is(by, &pkg->approved_by);
    is(email, &pkg->email);

    fuzz_assert((double) pkg->version == json_number_value(version));
    fuzz_assert(pkg->access == (relay_access_e) access);
    fuzz_assert(pkg->permission == (relay_permission_e) permission);
    fuzz_assert(pkg->mode == (relay_mode_e) mode);
    fuzz_assert(pkg->expires_at == exp);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t              *value;
    relay_buf_t          mem, err;
    relay_int_t          rc;
    relay_str_t          doc;
    relay_package_t      pkg;
    relay_json_error_t   jerr;

    doc.data = (unsigned char *) data;
    doc.len = size;

    if (relay_json_parse(&tape, &doc, &relay_json_default_limits, &jerr)
        != RELAY_OK)
    {
        return 0;
    }

    relay_buf_init(&mem, RELAY_DOCUMENT_MAX);
    relay_buf_init(&err, 1024);

    rc = relay_package_head(&doc, &tape, &pkg, &mem, &err);

    fuzz_assert(rc == RELAY_OK || rc == RELAY_DECLINED);
    fuzz_assert((rc == RELAY_OK) == (err.len == 0));

    value = json_loadb((const char *) data, size,
                       JSON_REJECT_DUPLICATES|JSON_ALLOW_NUL, NULL);

    if (value != NULL) {
        compare(value, rc, &pkg);
    }

    json_decref(value);
    relay_buf_free(&mem);
    relay_buf_free(&err);

    return 0;
}
