
/*
 * relayctl_schema: documents against their schemas; the command validate.
 */

#include <stdio.h>

#include "relayctl.h"


static int relayctl_type(relayctl_t *ctl, const relayctl_document_t *d,
    relay_str_t *type, const char **pointer);
static void relayctl_fault(relayctl_t *ctl, const relayctl_document_t *d,
    const relay_schema_t *schema, const relay_schema_error_t *error);


int
relayctl_check_schema(relayctl_t *ctl, const relayctl_document_t *d,
    relay_str_t *type)
{
    int                  rc;
    size_t               i;
    const char          *pointer;
    relay_int_t          ret;
    relay_buf_t         *err;
    relay_schema_t      *schema;
    relay_schema_run_t   run;
    const relay_str_t   *text;

    rc = relayctl_type(ctl, d, type, &pointer);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    text = relay_document_schema(type);

    if (text == NULL) {
        return relayctl_fail_in(ctl, RELAYCTL_REFUSED, d, pointer, "%s: no "
                                "schema is known for \"%.*s\"", pointer,
                                (int) type->len, (char *) type->data);
    }

    err = relayctl_buf(ctl, 4096);
    schema = relay_schema_compile(text, err);

    if (schema == NULL) {
        relay_buf_append_c(err, '\0');
        return relayctl_fail(ctl, RELAYCTL_STORE, "the schema of \"%.*s\": %s",
                             (int) type->len, (char *) type->data,
                             err->failed ? "" : (char *) err->data);
    }

    relay_schema_run_init(&run, RELAYCTL_FAULTS);

    ret = relay_schema_validate(schema, &d->text, &d->tape, &run);

    if (ret == RELAY_OK) {
        rc = RELAYCTL_OK;

    } else if (ret == RELAY_DECLINED) {
        rc = RELAYCTL_REFUSED;

        for (i = 0; i < run.n; i++) {
            relayctl_fault(ctl, d, schema, &run.errors[i]);
        }

        if (run.n == run.max) {
            relayctl_warn(ctl, "no more than %d faults are shown",
                          RELAYCTL_FAULTS);
        }

    } else {
        rc = relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
    }

    relay_schema_run_free(&run);
    relay_schema_free(schema);

    return rc;
}


/* The member that names a document's type, and its value. */

static int
relayctl_type(relayctl_t *ctl, const relayctl_document_t *d,
    relay_str_t *type, const char **pointer)
{
    size_t        i, node;
    relay_buf_t  *buf;

    static const char  *pointers[] = { "/schema", "/schema_version" };

    for (i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {

        *pointer = pointers[i];
        node = relay_json_get(&d->tape, &d->text, 0, *pointer + 1,
                              strlen(*pointer) - 1);

        if (node == 0) {
            continue;
        }

        if (d->tape.nodes[node].type != RELAY_JSON_STRING) {
            return relayctl_fail_in(ctl, RELAYCTL_REFUSED, d, *pointer, "%s: "
                                    "must be a string", *pointer);
        }

        buf = relayctl_buf(ctl, RELAY_DOCUMENT_MAX);

        if (relay_json_str_decode(&d->tape, &d->text, node, buf) != RELAY_OK) {
            return relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
        }

        relay_buf_str(buf, type);

        return RELAYCTL_OK;
    }

    return relayctl_fail_in(ctl, RELAYCTL_REFUSED, d, "", "it does not say "
                            "which schema it has: neither \"schema\" nor "
                            "\"schema_version\" is there");
}


/* Prints one fault: a line, or an object. */

static void
relayctl_fault(relayctl_t *ctl, const relayctl_document_t *d,
    const relay_schema_t *schema, const relay_schema_error_t *error)
{
    size_t       line, column;
    relay_str_t  s;
    relay_buf_t  pointer, place, text, out;

    relay_buf_init(&pointer, RELAY_DOCUMENT_MAX);
    relay_buf_init(&place, RELAY_DOCUMENT_MAX);
    relay_buf_init(&text, RELAY_DOCUMENT_MAX);
    relay_buf_init(&out, 4 * RELAY_DOCUMENT_MAX);

    relayctl_position(&d->text, error->offset, &line, &column);

    (void) relay_pointer_append(&d->tape, &d->text, error->node, &pointer);
    (void) relay_schema_error_schema(schema, error, &place);
    (void) relay_schema_error_text(schema, error, &d->text, &d->tape, &text);

    if (ctl->json) {
        relay_buf_append_z(&out, "{\"error\":");
        relay_buf_str(&text, &s);
        relay_buf_append_json(&out, &s);

        relay_buf_append_z(&out, ",\"file\":");
        s = relayctl_str(d->file);
        relay_buf_append_json(&out, &s);

        relay_buf_printf(&out, ",\"line\":%zu,\"column\":%zu,\"pointer\":",
                         line, column);
        relay_buf_str(&pointer, &s);
        relay_buf_append_json(&out, &s);

        relay_buf_printf(&out, ",\"keyword\":\"%s\",\"schema\":",
                         error->keyword);
        relay_buf_str(&place, &s);
        relay_buf_append_json(&out, &s);

        relay_buf_append_z(&out, "}\n");

        if (!out.failed) {
            (void) fflush(stdout);
            (void) fwrite(out.data, 1, out.len, stderr);
        }

    } else {
        (void) relayctl_fail_at(ctl, RELAYCTL_REFUSED, d->file, line, column,
                                "%.*s%s%.*s", (int) pointer.len, pointer.data,
                                pointer.len ? ": " : "", (int) text.len,
                                text.data);
    }

    relay_buf_free(&pointer);
    relay_buf_free(&place);
    relay_buf_free(&text);
    relay_buf_free(&out);
}


int
relayctl_validate(relayctl_t *ctl)
{
    int                   rc;
    relay_buf_t          *out;
    relay_str_t           s, type;
    relayctl_document_t   d;

    rc = relayctl_load(ctl, ctl->operands[0], &d);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    rc = relayctl_check_schema(ctl, &d, &type);

    if (rc == RELAYCTL_OK && relay_str_is(&type, RELAY_PACKAGE_SCHEMA)) {

        /* unloads the document itself when it is refused */

        rc = relayctl_head(ctl, &d);
        if (rc != RELAYCTL_OK) {
            return rc;
        }
    }

    if (rc != RELAYCTL_OK) {
        relayctl_unload(&d);
        return rc;
    }

    out = relayctl_buf(ctl, 64 * 1024);

    if (ctl->json) {
        s = relayctl_str(d.file);
        relayctl_field(ctl, out, "file", &s);
        relay_buf_append_z(out, ",\"valid\":true");
        relayctl_field(ctl, out, "schema", &type);

        if (d.package.id.len) {
            relayctl_field(ctl, out, "relay", &d.package.id);
            relayctl_field_int(ctl, out, "version", d.package.version);
        }

    } else {
        s = relayctl_str(d.file);
        relayctl_append_safe(out, &s);
        relay_buf_append_z(out, ": valid: ");
        relayctl_append_safe(out, &type);

        if (d.package.id.len) {
            relay_buf_append_c(out, ' ');
            relayctl_append_safe(out, &d.package.id);
            relay_buf_append_z(out, " version ");
            relay_buf_append_int(out, d.package.version);
        }

        relay_buf_append_c(out, '\n');
    }

    rc = relayctl_print(ctl, out);

    relayctl_unload(&d);

    return rc;
}
