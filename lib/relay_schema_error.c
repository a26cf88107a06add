
/*
 * relay_schema_error: what is said of a fault.  Values of the document are not
 * quoted: they may be private, and whoever reads this has the place.
 */

#include "relay_schema_rule.h"
#include "relay_pointer.h"


#define RELAY_SCHEMA_QUOTE  160     /* bytes of the schema that are quoted */


static void relay_schema_say_types(unsigned types, relay_buf_t *out);
static void relay_schema_say_values(const relay_schema_t *schema,
    const relay_schema_value_t *values, size_t n, relay_buf_t *out);
static void relay_schema_say_number(const relay_schema_t *schema,
    const relay_schema_error_t *error, const char *text, relay_buf_t *out);
static void relay_schema_say_count(const char *text, size_t n,
    const char *unit, relay_buf_t *out);
static void relay_schema_say_name(const char *before, const relay_str_t *name,
    const char *after, relay_buf_t *out);
static void relay_schema_say_dependent(const relay_schema_error_t *error,
    const relay_str_t *doc, const relay_json_tape_t *tape, relay_buf_t *out);


relay_int_t
relay_schema_error_schema(const relay_schema_t *schema,
    const relay_schema_error_t *error, relay_buf_t *out)
{
    (void) relay_pointer_append(&schema->tape, &schema->text,
                                error->rule->node, out);

    /* "false" has no keyword, and a limit is none */

    if (error->key != RELAY_SCHEMA_KEY_FALSE
        && error->key != RELAY_SCHEMA_KEY_LIMIT)
    {
        (void) relay_buf_append_c(out, '/');
        (void) relay_buf_append_z(out, error->keyword);
    }

    return out->failed ? RELAY_ERROR : RELAY_OK;
}


relay_int_t
relay_schema_error_text(const relay_schema_t *schema,
    const relay_schema_error_t *error, const relay_str_t *doc,
    const relay_json_tape_t *tape, relay_buf_t *out)
{
    relay_str_t                   name;
    relay_buf_t                   buf;
    const relay_schema_rule_t    *rule;
    const relay_schema_array_t   *array;
    const relay_schema_object_t  *object;
    const relay_schema_string_t  *string;

    rule = error->rule;
    array = rule->array;
    object = rule->object;
    string = rule->string;

    /* the member that it is about */

    relay_buf_init(&buf, RELAY_DOCUMENT_MAX);

    if (tape->nodes[error->at].type == RELAY_JSON_KEY
        && relay_json_str_decode(tape, doc, error->at, &buf) != RELAY_OK)
    {
        relay_buf_free(&buf);
        return RELAY_ERROR;
    }

    relay_buf_str(&buf, &name);

    switch (error->key) {

    case RELAY_SCHEMA_KEY_FALSE:
        relay_buf_append_z(out, "nothing may stand here");
        break;

    case RELAY_SCHEMA_KEY_LIMIT:
        relay_buf_append_z(out, "it costs too much to validate");
        break;

    case RELAY_SCHEMA_KEY_TYPE:
        relay_schema_say_types(rule->types, out);
        break;

    case RELAY_SCHEMA_KEY_CONST:
        relay_schema_say_values(schema, rule->constant, 1, out);
        break;

    case RELAY_SCHEMA_KEY_ENUM:
        relay_schema_say_values(schema, rule->values, rule->nvalues, out);
        break;

    case RELAY_SCHEMA_KEY_MULTIPLE_OF:
        relay_schema_say_number(schema, error, "must be a multiple of ", out);
        break;

    case RELAY_SCHEMA_KEY_MINIMUM:
        relay_schema_say_number(schema, error, "must be at least ", out);
        break;

    case RELAY_SCHEMA_KEY_MAXIMUM:
        relay_schema_say_number(schema, error, "must be at most ", out);
        break;

    case RELAY_SCHEMA_KEY_EXCLUSIVE_MINIMUM:
        relay_schema_say_number(schema, error, "must be more than ", out);
        break;

    case RELAY_SCHEMA_KEY_EXCLUSIVE_MAXIMUM:
        relay_schema_say_number(schema, error, "must be less than ", out);
        break;

    case RELAY_SCHEMA_KEY_MIN_LENGTH:
        relay_schema_say_count("at least", string->min, "character", out);
        break;

    case RELAY_SCHEMA_KEY_MAX_LENGTH:
        relay_schema_say_count("at most", string->max, "character", out);
        break;

    case RELAY_SCHEMA_KEY_PATTERN:
        relay_schema_say_name("must match the pattern ",
                              &string->pattern->text, "", out);
        break;

    case RELAY_SCHEMA_KEY_FORMAT:
        relay_buf_append_z(out, (string->format == relay_schema_email)
                                ? "must be an e-mail address"
                                : "must be a date and time with a zone "
                                  "(RFC 3339)");
        break;

    case RELAY_SCHEMA_KEY_MIN_ITEMS:
        relay_schema_say_count("at least", array->min, "element", out);
        break;

    case RELAY_SCHEMA_KEY_MAX_ITEMS:
        relay_schema_say_count("at most", array->max, "element", out);
        break;

    case RELAY_SCHEMA_KEY_UNIQUE_ITEMS:
        relay_buf_append_z(out, "two elements must not be equal");
        break;

    case RELAY_SCHEMA_KEY_ITEMS:
        relay_schema_say_count("at most", array->prefix.n, "element", out);
        break;

    case RELAY_SCHEMA_KEY_CONTAINS:
    case RELAY_SCHEMA_KEY_MIN_CONTAINS:
        relay_schema_say_count("at least", array->min_contains,
                               "element of the kind that \"contains\" asks for",
                               out);
        break;

    case RELAY_SCHEMA_KEY_MAX_CONTAINS:
        relay_schema_say_count("at most", array->max_contains,
                               "element of the kind that \"contains\" asks for",
                               out);
        break;

    case RELAY_SCHEMA_KEY_UNEVALUATED_ITEMS:
        relay_buf_append_z(out, "an element that no schema is for is not "
                           "allowed");
        break;

    case RELAY_SCHEMA_KEY_ADDITIONAL_PROPERTIES:
    case RELAY_SCHEMA_KEY_UNEVALUATED_PROPERTIES:
        relay_schema_say_name("the member ", &name, " is not allowed", out);
        break;

    case RELAY_SCHEMA_KEY_PROPERTY_NAMES:
        relay_schema_say_name("no member may have the name ", &name, "", out);
        break;

    case RELAY_SCHEMA_KEY_REQUIRED:
        relay_schema_say_name("the member ",
                              &object->required[error->index].str,
                              " is missing", out);
        break;

    case RELAY_SCHEMA_KEY_DEPENDENT_REQUIRED:
        relay_schema_say_dependent(error, doc, tape, out);
        break;

    case RELAY_SCHEMA_KEY_MIN_PROPERTIES:
        relay_schema_say_count("at least", object->min, "member", out);
        break;

    case RELAY_SCHEMA_KEY_MAX_PROPERTIES:
        relay_schema_say_count("at most", object->max, "member", out);
        break;

    case RELAY_SCHEMA_KEY_ANY_OF:
        relay_buf_append_z(out, "must be valid against one of several schemas "
                           "at least, and is against none");
        break;

    case RELAY_SCHEMA_KEY_ONE_OF:
        relay_buf_append_z(out, "must be valid against exactly one of several "
                           "schemas, and is against ");
        relay_buf_append_z(out, error->index ? "more" : "none");
        break;

    default:    /* RELAY_SCHEMA_KEY_NOT */
        relay_buf_append_z(out, "must not be valid against the schema of "
                           "\"not\"");
    }

    relay_buf_free(&buf);

    return out->failed ? RELAY_ERROR : RELAY_OK;
}


static void
relay_schema_say_types(unsigned types, relay_buf_t *out)
{
    size_t  i, n, left;

    static const struct {
        unsigned     types;
        const char  *text;
    } words[] = {
        { RELAY_SCHEMA_STRING, "a string" },
        { RELAY_SCHEMA_INTEGER, "an integer" },
        { 1 << RELAY_JSON_NUMBER, "a number" },
        { 1 << RELAY_JSON_TRUE, "true or false" },
        { 1 << RELAY_JSON_ARRAY, "an array" },
        { 1 << RELAY_JSON_OBJECT, "an object" },
        { 1 << RELAY_JSON_NULL, "null" }
    };

    n = sizeof(words) / sizeof(words[0]);
    left = 0;

    for (i = 0; i < n; i++) {
        left += ((types & words[i].types) != 0);
    }

    relay_buf_append_z(out, "must be ");

    for (i = 0; i < n; i++) {

        if (types & words[i].types) {
            relay_buf_append_z(out, words[i].text);

            left--;
            relay_buf_append_z(out, left > 1 ? ", " : left == 1 ? " or " : "");
        }
    }
}


/* What const or enum have, as they are written. */

static void
relay_schema_say_values(const relay_schema_t *schema,
    const relay_schema_value_t *values, size_t n, relay_buf_t *out)
{
    size_t                    i, len;
    const relay_json_node_t  *node;

    relay_buf_append_z(out, n == 1 ? "must be " : "must be one of ");
    len = 0;

    for (i = 0; i < n; i++) {

        node = &schema->tape.nodes[values[i].node];
        len += node->len;

        if (i > 0) {
            relay_buf_append_z(out, ", ");
        }

        if (len > RELAY_SCHEMA_QUOTE) {
            relay_buf_append_z(out, i > 0 ? "..." : "what the schema says");
            break;
        }

        relay_buf_append(out, schema->text.data + node->off, node->len);
    }
}


/* A bound, as it is written. */

static void
relay_schema_say_number(const relay_schema_t *schema,
    const relay_schema_error_t *error, const char *text, relay_buf_t *out)
{
    size_t                    i;
    const relay_json_node_t  *node;

    i = relay_json_get(&schema->tape, &schema->text, error->rule->node,
                       error->keyword, strlen(error->keyword));
    node = &schema->tape.nodes[i];

    relay_buf_append_z(out, text);
    relay_buf_append(out, schema->text.data + node->off, node->len);
}


static void
relay_schema_say_count(const char *text, size_t n, const char *unit,
    relay_buf_t *out)
{
    size_t  len;

    len = strcspn(unit, " ");

    relay_buf_printf(out, "must have %s %zu %.*s%s%s", text, n, (int) len,
                     unit, n == 1 ? "" : "s", unit + len);
}


static void
relay_schema_say_name(const char *before, const relay_str_t *name,
    const char *after, relay_buf_t *out)
{
    relay_buf_append_z(out, before);
    relay_buf_append_json(out, name);
    relay_buf_append_z(out, after);
}


static void
relay_schema_say_dependent(const relay_schema_error_t *error,
    const relay_str_t *doc, const relay_json_tape_t *tape, relay_buf_t *out)
{
    size_t                           i;
    const relay_schema_dependent_t  *d;

    d = &error->rule->object->dependents[error->index];

    /* the first that is not there */

    for (i = 0; i + 1 < d->nrequired; i++) {
        if (relay_json_get(tape, doc, error->node,
                           (const char *) d->required[i].str.data,
                           d->required[i].str.len)
            == 0)
        {
            break;
        }
    }

    relay_schema_say_name("the member ", &d->required[i].str,
                          " is missing, which ", out);
    relay_schema_say_name("", &d->name.str, " needs", out);
}
