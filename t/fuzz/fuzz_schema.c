
/*
 * relay_schema: an input is an array, [SCHEMA, DOCUMENT].  The schema is
 * compiled or refused with a sentence; a run that ends at the first fault and
 * one that collects them say the same; the schema inside of others ("not",
 * "allOf", "$ref") has the verdict that follows from it.  Any document is run
 * against the schemas of both document types as well.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE             /* memmem() */
#endif

#include "fuzz.h"
#include "relay_data.h"
#include "relay_json.h"
#include "relay_package.h"
#include "relay_packet.h"
#include "relay_schema.h"


#define FUZZ_SCHEMA_ERRORS  16


static relay_json_tape_t   tape, part;
static relay_schema_run_t  first, all;
static relay_schema_t     *types[2];


FUZZ_JSON_MUTATOR


/* The value at node i as a text of its own. */

static relay_str_t
value(fuzz_in_t *in, const relay_str_t *doc, size_t i)
{
    return fuzz_copy(in, doc->data + tape.nodes[i].off, tape.nodes[i].len);
}


/* 1: valid, 0: not, -1: not decided, since it costs too much. */

static int
verdict(const relay_schema_t *schema, const relay_str_t *doc)
{
    int           limit;
    size_t        i;
    relay_buf_t   text;
    relay_int_t   rc;

    rc = relay_schema_validate(schema, doc, &part, &first);

    if (rc == RELAY_OK) {
        fuzz_assert(first.n == 0);
        fuzz_assert(relay_schema_validate(schema, doc, &part, &all)
                    == RELAY_OK);
        fuzz_assert(all.n == 0);
        return 1;
    }

    fuzz_assert(rc == RELAY_DECLINED && first.n == 1);

    rc = relay_schema_validate(schema, doc, &part, &all);

    fuzz_assert(rc == RELAY_DECLINED);
    fuzz_assert(all.n >= 1 && all.n <= FUZZ_SCHEMA_ERRORS);

    relay_buf_init(&text, 64 * 1024);

    limit = 0;

    for (i = 0; i < all.n; i++) {
        fuzz_assert(all.errors[i].node < part.n && all.errors[i].at < part.n);
        fuzz_assert(all.errors[i].offset < doc->len);
        fuzz_assert(i == 0
                    || all.errors[i].offset >= all.errors[i - 1].offset);

        relay_buf_reset(&text);

        fuzz_assert(relay_schema_error_text(schema, &all.errors[i], doc, &part,
                                            &text)
                    == RELAY_OK);
        fuzz_assert(text.len != 0);

        fuzz_assert(relay_schema_error_schema(schema, &all.errors[i], &text)
                    == RELAY_OK);

        limit |= (strcmp(all.errors[i].keyword, "limit") == 0);
    }

    limit |= (strcmp(first.errors[0].keyword, "limit") == 0);

    relay_buf_free(&text);

    return limit ? -1 : 0;
}


/* The schema's text between two others: -2: that is none. */

static int
inside(const char *before, const relay_str_t *schema, const char *after,
    const relay_str_t *doc)
{
    int              rc;
    relay_buf_t      buf, err;
    relay_str_t      text;
    relay_schema_t  *s;

    relay_buf_init(&buf, RELAY_DOCUMENT_MAX);
    relay_buf_init(&err, 64 * 1024);

    relay_buf_append_z(&buf, before);
    relay_buf_append_str(&buf, schema);
    relay_buf_append_z(&buf, after);
    relay_buf_str(&buf, &text);

    s = relay_schema_compile(&text, &err);

    rc = -2;

    if (s != NULL) {
        rc = verdict(s, doc);
        relay_schema_free(s);
    }

    relay_buf_free(&buf);
    relay_buf_free(&err);

    return rc;
}


static void
laws(const relay_str_t *schema, const relay_str_t *doc, int is)
{
    int  rc;

    /* what refers to its root, or has a name, is another one inside */

    if (memmem(schema->data, schema->len, "$", 1) != NULL
        || memmem(schema->data, schema->len, "\\", 1) != NULL)
    {
        return;
    }

    rc = inside("{\"not\":", schema, "}", doc);
    fuzz_assert(is < 0 || rc < 0 || rc == !is);

    rc = inside("{\"allOf\":[true,", schema, "]}", doc);
    fuzz_assert(is < 0 || rc < 0 || rc == is);

    rc = inside("{\"anyOf\":[false,", schema, "]}", doc);
    fuzz_assert(is < 0 || rc < 0 || rc == is);

    rc = inside("{\"oneOf\":[", schema, ",false]}", doc);
    fuzz_assert(is < 0 || rc < 0 || rc == is);

    rc = inside("{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":", schema, "}}", doc);
    fuzz_assert(is < 0 || rc < 0 || rc == is);

    rc = inside("{\"if\":", schema, ",\"then\":false}", doc);
    fuzz_assert(is < 0 || rc < 0 || rc == !is);
}


static void
start(void)
{
    size_t              i;
    relay_buf_t         err;
    relay_str_t         type;
    const relay_str_t  *text;

    static const char *const  names[] = {
        RELAY_PACKAGE_SCHEMA, RELAY_PACKET_SCHEMA
    };

    relay_buf_init(&err, 1024);

    for (i = 0; i < 2; i++) {
        type.data = (unsigned char *) names[i];
        type.len = strlen(names[i]);

        text = relay_document_schema(&type);
        fuzz_assert(text != NULL);

        types[i] = relay_schema_compile(text, &err);
        fuzz_assert(types[i] != NULL);
    }

    relay_buf_free(&err);

    relay_schema_run_init(&first, 1);
    relay_schema_run_init(&all, FUZZ_SCHEMA_ERRORS);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_in_t            in;
    relay_buf_t          err;
    relay_str_t          doc, schema, instance;
    relay_schema_t      *s;
    relay_json_error_t   jerr;

    if (types[0] == NULL) {
        start();
    }

    fuzz_in_init(&in, data, size);
    doc = fuzz_rest(&in);

    if (relay_json_parse(&part, &doc, &relay_json_default_limits, &jerr)
        != RELAY_OK)
    {
        fuzz_in_free(&in);
        return 0;
    }

    (void) verdict(types[0], &doc);
    (void) verdict(types[1], &doc);

    (void) relay_json_parse(&tape, &doc, &relay_json_default_limits, &jerr);

    if (tape.nodes[0].type == RELAY_JSON_ARRAY && tape.nodes[0].count == 2) {

        schema = value(&in, &doc, 1);
        instance = value(&in, &doc, tape.nodes[1].next);

        relay_buf_init(&err, 64 * 1024);

        s = relay_schema_compile(&schema, &err);

        fuzz_assert((s == NULL) == (err.len != 0));

        if (s != NULL) {
            fuzz_assert(relay_json_parse(&part, &instance,
                                         &relay_json_default_limits, &jerr)
                        == RELAY_OK);
            laws(&schema, &instance, verdict(s, &instance));
            relay_schema_free(s);
        }

        relay_buf_free(&err);
    }

    fuzz_in_free(&in);

    return 0;
}
