
/*
 * relay_package: the head of a relay.context-package.v1 document.
 */

#include "relay_package.h"
#include "relay_time.h"


#define RELAY_PACKAGE_OPTIONAL  1
#define RELAY_PACKAGE_EMPTY     2       /* may be the empty string */

#define RELAY_PACKAGE_SHOWN     128     /* bytes of a wrong type, in errors */


typedef struct {
    const char  *object;        /* NULL: the document itself */
    const char  *member;
    size_t       offset;        /* of the relay_str_t in relay_package_t */
    unsigned     flags;
} relay_package_field_t;


typedef struct {
    const char  *name;
    int          value;
} relay_package_enum_t;


static const relay_package_field_t  relay_package_fields[] = {
    { NULL, "schema", offsetof(relay_package_t, schema), 0 },
    { NULL, "id", offsetof(relay_package_t, id), 0 },
    { NULL, "title", offsetof(relay_package_t, title),
      RELAY_PACKAGE_OPTIONAL|RELAY_PACKAGE_EMPTY },
    { "owner", "name", offsetof(relay_package_t, owner_name),
      RELAY_PACKAGE_EMPTY },
    { "owner", "id", offsetof(relay_package_t, owner_id),
      RELAY_PACKAGE_OPTIONAL|RELAY_PACKAGE_EMPTY },
    { NULL, "approvedBy", offsetof(relay_package_t, approved_by),
      RELAY_PACKAGE_EMPTY },
    { "audience", "email", offsetof(relay_package_t, email),
      RELAY_PACKAGE_OPTIONAL|RELAY_PACKAGE_EMPTY }
};

static const relay_package_enum_t  relay_package_access[] = {
    { "named", RELAY_ACCESS_NAMED },
    { "anyone", RELAY_ACCESS_ANYONE },
    { NULL, 0 }
};

static const relay_package_enum_t  relay_package_permission[] = {
    { "read", RELAY_PERMISSION_READ },
    { "suggest", RELAY_PERMISSION_SUGGEST },
    { "edit", RELAY_PERMISSION_EDIT },
    { NULL, 0 }
};

static const relay_package_enum_t  relay_package_mode[] = {
    { "live", RELAY_MODE_LIVE },
    { "snapshot", RELAY_MODE_SNAPSHOT },
    { NULL, 0 }
};


static relay_int_t
relay_package_error(relay_buf_t *err, const char *object, const char *member,
    const char *text)
{
    if (object != NULL) {
        (void) relay_buf_printf(err, "/%s", object);
    }

    if (member != NULL) {
        (void) relay_buf_printf(err, "/%s", member);
    }

    (void) relay_buf_printf(err, "%s%s",
                            (object == NULL && member == NULL) ? "" : ": ",
                            text);

    return RELAY_DECLINED;
}


/* Finds a member; *value is 0 when it is absent, which is for the caller. */

static relay_int_t
relay_package_get(const relay_str_t *doc, const relay_json_tape_t *tape,
    const char *object, const char *member, size_t *value, relay_buf_t *err)
{
    size_t  obj;

    obj = 0;

    if (object != NULL) {
        obj = relay_json_get(tape, doc, 0, object, strlen(object));

        if (obj == 0) {
            return relay_package_error(err, object, NULL, "it is missing");
        }

        if (tape->nodes[obj].type != RELAY_JSON_OBJECT) {
            return relay_package_error(err, object, NULL,
                                       "an object is needed here");
        }
    }

    *value = relay_json_get(tape, doc, obj, member, strlen(member));

    return RELAY_OK;
}


static relay_int_t
relay_package_enum(const relay_str_t *doc, const relay_json_tape_t *tape,
    const char *object, const char *member, const relay_package_enum_t *values,
    int missing, int *result, relay_buf_t *err)
{
    size_t       v;
    relay_int_t  rc;

    rc = relay_package_get(doc, tape, object, member, &v, err);
    if (rc != RELAY_OK) {
        return rc;
    }

    if (v == 0) {

        if (missing == 0) {
            return relay_package_error(err, object, member, "it is missing");
        }

        *result = missing;

        return RELAY_OK;
    }

    if (tape->nodes[v].type != RELAY_JSON_STRING) {
        return relay_package_error(err, object, member,
                                   "a string is needed here");
    }

    for (/* void */; values->name != NULL; values++) {
        if (relay_json_str_is(tape, doc, v, values->name,
                              strlen(values->name)))
        {
            *result = values->value;
            return RELAY_OK;
        }
    }

    return relay_package_error(err, object, member,
                               "the schema has no such value");
}


static relay_int_t
relay_package_expiry(const relay_str_t *doc, const relay_json_tape_t *tape,
    int64_t *expires, relay_buf_t *mem, relay_buf_t *err)
{
    size_t       v, start;
    relay_int_t  rc;
    relay_str_t  s;

    *expires = 0;

    rc = relay_package_get(doc, tape, "lifecycle", "expiresAt", &v, err);
    if (rc != RELAY_OK) {
        return rc;
    }

    if (v == 0 || tape->nodes[v].type == RELAY_JSON_NULL) {
        return RELAY_OK;
    }

    if (tape->nodes[v].type != RELAY_JSON_STRING) {
        return relay_package_error(err, "lifecycle", "expiresAt",
                                   "a time or null is needed here");
    }

    start = mem->len;

    if (relay_json_str_decode(tape, doc, v, mem) != RELAY_OK) {
        return RELAY_ERROR;
    }

    s.len = mem->len - start;
    s.data = (mem->data == NULL) ? NULL : mem->data + start;

    if (relay_time_parse(&s, expires) != RELAY_OK) {
        return relay_package_error(err, "lifecycle", "expiresAt",
                                   "this is no RFC 3339 time");
    }

    mem->len = start;

    /* the very first moment of the epoch is not "never" */

    if (*expires == 0) {
        *expires = 1;
    }

    return RELAY_OK;
}


static relay_int_t
relay_package_type(const relay_str_t *doc, const relay_json_tape_t *tape,
    relay_buf_t *err)
{
    size_t  v, len;

    v = relay_json_get(tape, doc, 0, "schema", 6);

    if (v == 0) {
        return relay_package_error(err, NULL, "schema",
                                   "it is missing: " RELAY_PACKAGE_SCHEMA
                                   " is expected");
    }

    if (tape->nodes[v].type == RELAY_JSON_STRING
        && relay_json_str_is(tape, doc, v, RELAY_PACKAGE_SCHEMA,
                             sizeof(RELAY_PACKAGE_SCHEMA) - 1))
    {
        return RELAY_OK;
    }

    len = tape->nodes[v].len;

    if (tape->nodes[v].type != RELAY_JSON_STRING || len > RELAY_PACKAGE_SHOWN)
    {
        return relay_package_error(err, NULL, "schema",
                                   RELAY_PACKAGE_SCHEMA " is expected");
    }

    /* as it stands in the document, quotes and escapes included */

    (void) relay_buf_printf(err, "/schema: " RELAY_PACKAGE_SCHEMA
                            " is expected, not %.*s", (int) len,
                            (char *) doc->data + tape->nodes[v].off);

    return RELAY_DECLINED;
}


relay_int_t
relay_package_head(const relay_str_t *doc, const relay_json_tape_t *tape,
    relay_package_t *pkg, relay_buf_t *mem, relay_buf_t *err)
{
    int                           access, permission, mode;
    size_t                        i, v, start;
    size_t                        offsets[sizeof(relay_package_fields)
                                          / sizeof(relay_package_fields[0])];
    relay_int_t                   rc;
    relay_str_t                  *str;
    const relay_package_field_t  *field;

    memset(pkg, 0, sizeof(relay_package_t));

    relay_buf_reset(mem);
    relay_buf_reset(err);

    if (tape->n == 0 || tape->nodes[0].type != RELAY_JSON_OBJECT) {
        return relay_package_error(err, NULL, NULL,
                                   "the document is not an object");
    }

    /* the type before all else: another has other members */

    rc = relay_package_type(doc, tape, err);
    if (rc != RELAY_OK) {
        return rc;
    }

    for (i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        field = &relay_package_fields[i];
        str = (relay_str_t *) ((unsigned char *) pkg + field->offset);
        start = mem->len;
        offsets[i] = start;

        rc = relay_package_get(doc, tape, field->object, field->member, &v,
                               err);
        if (rc != RELAY_OK) {
            return rc;
        }

        if (v == 0) {

            if (field->flags & RELAY_PACKAGE_OPTIONAL) {
                continue;
            }

            return relay_package_error(err, field->object, field->member,
                                       "it is missing");
        }

        if (tape->nodes[v].type != RELAY_JSON_STRING) {
            return relay_package_error(err, field->object, field->member,
                                       "a string is needed here");
        }

        if (relay_json_str_decode(tape, doc, v, mem) != RELAY_OK) {
            return RELAY_ERROR;
        }

        str->len = mem->len - start;

        if (str->len == 0 && (field->flags & RELAY_PACKAGE_EMPTY) == 0) {
            return relay_package_error(err, field->object, field->member,
                                       "it is empty");
        }
    }

    rc = relay_package_get(doc, tape, NULL, "version", &v, err);
    if (rc != RELAY_OK) {
        return rc;
    }

    if (v == 0) {
        return relay_package_error(err, NULL, "version", "it is missing");
    }

    if (relay_json_int(tape, doc, v, &pkg->version) != RELAY_OK
        || pkg->version < 1)
    {
        return relay_package_error(err, NULL, "version",
                                   "a whole number from 1 on is needed here");
    }

    rc = relay_package_enum(doc, tape, "audience", "access",
                            relay_package_access, RELAY_ACCESS_NAMED, &access,
                            err);
    if (rc != RELAY_OK) {
        return rc;
    }

    rc = relay_package_enum(doc, tape, "interaction", "permission",
                            relay_package_permission, 0, &permission, err);
    if (rc != RELAY_OK) {
        return rc;
    }

    rc = relay_package_enum(doc, tape, "lifecycle", "mode",
                            relay_package_mode, 0, &mode, err);
    if (rc != RELAY_OK) {
        return rc;
    }

    rc = relay_package_expiry(doc, tape, &pkg->expires_at, mem, err);
    if (rc != RELAY_OK) {
        return rc;
    }

    pkg->access = (relay_access_e) access;
    pkg->permission = (relay_permission_e) permission;
    pkg->mode = (relay_mode_e) mode;

    /* the buffer has stopped moving */

    for (i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        field = &relay_package_fields[i];
        str = (relay_str_t *) ((unsigned char *) pkg + field->offset);

        if (str->len != 0) {
            str->data = mem->data + offsets[i];
        }
    }

    return RELAY_OK;
}
