
/*
 * relay_json against jansson: which texts are accepted, and what is in them.
 *
 * What may differ: a limit of either; numbers that jansson's types cannot
 * hold; NUL in a name; a NUL after a number, which jansson passes over.
 */

#include <jansson.h>

#include "fuzz.h"
#include "relay_json.h"


#define FLAGS  (JSON_REJECT_DUPLICATES|JSON_DECODE_ANY|JSON_ALLOW_NUL)


static relay_json_tape_t  tape, fresh;
static relay_buf_t        text;


static const relay_json_limits_t  wide = {
    1024 * 1024,            /* bytes */
    4096,                   /* depth */
    1024 * 1024,            /* nodes */
    1024 * 1024,            /* keys */
    1024 * 1024,            /* key_len */
    1024 * 1024,            /* string_len */
    1024 * 1024             /* number_len */
};

static const relay_json_limits_t  narrow = { 4096, 8, 64, 40, 16, 32, 12 };


static void
same_string(const relay_str_t *doc, size_t i, const char *p, size_t len)
{
    relay_buf_reset(&text);

    fuzz_assert(relay_json_str_decode(&tape, doc, i, &text) == RELAY_OK);
    fuzz_assert(text.len == len);
    fuzz_assert(len == 0 || memcmp(text.data, p, len) == 0);

    fuzz_assert(relay_json_str_is(&tape, doc, i, p, len));
    fuzz_assert(len == 0 || !relay_json_str_is(&tape, doc, i, p, len - 1));

    relay_buf_append_c(&text, 'x');
    fuzz_assert(!relay_json_str_is(&tape, doc, i, (char *) text.data, len + 1));

    if (len != 0) {
        text.data[len / 2] ^= 1;
        fuzz_assert(!relay_json_str_is(&tape, doc, i, (char *) text.data,
                                       len));
    }
}


static void
same_number(const relay_str_t *doc, size_t i, json_t *value)
{
    int64_t  n;

    if (json_is_integer(value)) {
        fuzz_assert(relay_json_int(&tape, doc, i, &n) == RELAY_OK);
        fuzz_assert(n == json_integer_value(value));
        return;
    }

    fuzz_assert(json_is_real(value));

    if (relay_json_int(&tape, doc, i, &n) == RELAY_OK) {
        fuzz_assert((double) n == json_real_value(value));
    }
}


/* The depth of the recursion is what jansson accepts. */

static size_t
same(const relay_str_t *doc, size_t i, json_t *value)
{
    size_t              k, n, v;
    int64_t             number;
    json_t             *member;
    relay_json_node_t  *node;

    node = &tape.nodes[i];

    fuzz_assert(i < tape.n);
    fuzz_assert(node->len != 0 && node->off + (size_t) node->len <= doc->len);

    if (node->type != RELAY_JSON_NUMBER) {
        fuzz_assert(relay_json_int(&tape, doc, i, &number) == RELAY_DECLINED);
    }

    switch (node->type) {

    case RELAY_JSON_NULL:
        fuzz_assert(json_is_null(value) && node->len == 4);
        break;

    case RELAY_JSON_FALSE:
        fuzz_assert(json_is_false(value) && node->len == 5);
        break;

    case RELAY_JSON_TRUE:
        fuzz_assert(json_is_true(value) && node->len == 4);
        break;

    case RELAY_JSON_NUMBER:
        same_number(doc, i, value);
        break;

    case RELAY_JSON_STRING:
        fuzz_assert(json_is_string(value));
        same_string(doc, i, json_string_value(value),
                    json_string_length(value));
        break;

    case RELAY_JSON_ARRAY:
        fuzz_assert(json_is_array(value)
                    && json_array_size(value) == node->count);
        fuzz_assert(doc->data[node->off] == '['
                    && doc->data[node->off + node->len - 1] == ']');

        k = i + 1;

        for (n = 0; n < node->count; n++) {
            k = same(doc, k, json_array_get(value, n));
        }

        fuzz_assert(node->next == k);

        return k;

    case RELAY_JSON_OBJECT:
        fuzz_assert(json_is_object(value)
                    && json_object_size(value) == node->count);
        fuzz_assert(doc->data[node->off] == '{'
                    && doc->data[node->off + node->len - 1] == '}');

        k = i + 1;

        for (n = 0; n < node->count; n++) {
            fuzz_assert(tape.nodes[k].type == RELAY_JSON_KEY);

            relay_buf_reset(&text);
            fuzz_assert(relay_json_str_decode(&tape, doc, k, &text)
                        == RELAY_OK);
            fuzz_assert(tape.nodes[k].next
                        == relay_json_hash(text.data, text.len));

            v = relay_json_get(&tape, doc, i, (char *) text.data, text.len);
            fuzz_assert(v == k + 1);

            relay_buf_append(&text, "", 1);
            member = json_object_get(value, (char *) text.data);
            fuzz_assert(member != NULL);

            same_string(doc, k, json_object_iter_key(
                                    json_object_iter_at(value,
                                                        (char *) text.data)),
                        text.len - 1);

            k = same(doc, k + 1, member);
        }

        fuzz_assert(node->next == k);
        fuzz_assert(relay_json_get(&tape, doc, i, "\xff", 1) == 0);

        return k;

    default:
        fuzz_assert(!"a type that a value may have");
    }

    fuzz_assert(node->next == i + 1);
    fuzz_assert(relay_json_get(&tape, doc, i, "", 0) == 0);

    return i + 1;
}


/* Errors name a place in the document. */

static void
declined(const relay_str_t *doc, const relay_json_error_t *err)
{
    size_t  i, line, column;

    fuzz_assert(err->text != NULL && err->text[0] != '\0');
    fuzz_assert(err->offset <= doc->len);

    line = 1;
    column = 1;

    for (i = 0; i < err->offset; i++) {
        column++;

        if (doc->data[i] == '\n') {
            line++;
            column = 1;
        }
    }

    fuzz_assert(err->line == line && err->column == column);
}


/* The same text at another place of memory, with spaces on both sides. */

static void
moved(const relay_str_t *doc, relay_int_t rc)
{
    size_t               i, before, after;
    relay_str_t          s;
    relay_json_error_t   err;

    before = doc->len % 19;
    after = doc->len % 23;

    s.len = before + doc->len + after;
    s.data = malloc(s.len);
    fuzz_assert(s.data != NULL || s.len == 0);

    if (s.len != 0) {
        memset(s.data, ' ', s.len);
        memcpy(s.data + before, doc->data, doc->len);
    }

    /* a mark at the start is refused, and after a space it is no JSON */

    fuzz_assert(relay_json_parse(&fresh, &s, &wide, &err) == rc);

    if (rc == RELAY_OK) {
        fuzz_assert(fresh.n == tape.n);

        for (i = 0; i < tape.n; i++) {
            fuzz_assert(fresh.nodes[i].off == tape.nodes[i].off + before);
            fuzz_assert(fresh.nodes[i].len == tape.nodes[i].len);
            fuzz_assert(fresh.nodes[i].next == tape.nodes[i].next);
            fuzz_assert(fresh.nodes[i].type == tape.nodes[i].type);
            fuzz_assert(fresh.nodes[i].count == tape.nodes[i].count);
        }
    }

    free(s.data);
}


static void
within(const relay_str_t *doc)
{
    size_t               i, size;
    relay_json_error_t   err;
    relay_json_node_t   *node;

    if (relay_json_parse(&tape, doc, &narrow, &err) != RELAY_OK) {
        declined(doc, &err);
        return;
    }

    fuzz_assert(doc->len <= narrow.bytes && tape.n <= narrow.nodes);

    for (i = 0; i < tape.n; i++) {
        node = &tape.nodes[i];
        size = node->len - 2;

        fuzz_assert(node->type != RELAY_JSON_KEY || size <= narrow.key_len);
        fuzz_assert(node->type != RELAY_JSON_STRING
                    || size <= narrow.string_len);
        fuzz_assert(node->type != RELAY_JSON_NUMBER
                    || node->len <= narrow.number_len);
        fuzz_assert(node->type != RELAY_JSON_OBJECT
                    || node->count <= narrow.keys);
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t              *value;
    relay_int_t          rc;
    relay_str_t          doc;
    json_error_t         error;
    relay_json_error_t   err;

    if (size > wide.bytes) {
        return 0;
    }

    doc.data = (unsigned char *) data;
    doc.len = size;

    relay_buf_init(&text, 8 * wide.bytes);
    relay_json_tape_init(&fresh);

    within(&doc);

    rc = relay_json_parse(&tape, &doc, &wide, &err);
    value = json_loadb((const char *) data, size, FLAGS, &error);

    fuzz_assert(rc == RELAY_OK || rc == RELAY_DECLINED);

    moved(&doc, rc);

    if (rc == RELAY_OK) {

        if (value != NULL) {
            fuzz_assert(same(&doc, 0, value) == tape.n);

        } else {
            switch (json_error_code(&error)) {

            case json_error_stack_overflow:
            case json_error_numeric_overflow:
            case json_error_null_byte_in_key:
                break;

            default:
                fprintf(stderr, "jansson: %s\n", error.text);
                fuzz_assert(!"what is accepted is JSON");
            }
        }

    } else {
        declined(&doc, &err);
        fuzz_assert(tape.n == 0);
        fuzz_assert(value == NULL
                    || (size != 0 && memchr(data, '\0', size) != NULL));
    }

    json_decref(value);
    relay_json_tape_free(&fresh);
    relay_buf_free(&text);

    return 0;
}
