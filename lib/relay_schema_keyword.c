
/*
 * relay_schema_keyword: what each keyword of JSON Schema compiles to.
 */

#include "relay_schema_rule.h"


#define RELAY_SCHEMA_DRAFT   "https://json-schema.org/draft/2020-12/schema"
#define RELAY_SCHEMA_DIGITS  18         /* of multipleOf */


/* A group of a rule's checks, made when the first of its keywords is seen. */

static relay_schema_string_t *
relay_schema_string(relay_schema_compiler_t *cp, relay_schema_rule_t *rule)
{
    if (rule->string == NULL) {
        rule->string = relay_schema_alloc(cp, 1, sizeof(relay_schema_string_t));

        if (rule->string != NULL) {
            rule->string->max = RELAY_SCHEMA_NONE;
        }
    }

    return rule->string;
}


static relay_schema_array_t *
relay_schema_array(relay_schema_compiler_t *cp, relay_schema_rule_t *rule)
{
    if (rule->array == NULL) {
        rule->array = relay_schema_alloc(cp, 1, sizeof(relay_schema_array_t));

        if (rule->array != NULL) {
            rule->array->max = RELAY_SCHEMA_NONE;
            rule->array->min_contains = 1;
            rule->array->max_contains = RELAY_SCHEMA_NONE;
        }
    }

    return rule->array;
}


static relay_schema_object_t *
relay_schema_object(relay_schema_compiler_t *cp, relay_schema_rule_t *rule)
{
    if (rule->object == NULL) {
        rule->object = relay_schema_alloc(cp, 1, sizeof(relay_schema_object_t));

        if (rule->object != NULL) {
            rule->object->max = RELAY_SCHEMA_NONE;
        }
    }

    return rule->object;
}


static relay_schema_logic_t *
relay_schema_logic(relay_schema_compiler_t *cp, relay_schema_rule_t *rule)
{
    if (rule->logic == NULL) {
        rule->logic = relay_schema_alloc(cp, 1, sizeof(relay_schema_logic_t));
    }

    return rule->logic;
}


/* An array of names. */

static relay_int_t
relay_schema_names(relay_schema_compiler_t *cp, size_t v,
    relay_schema_name_t **names, size_t *n)
{
    size_t  i, k;

    if (cp->source.nodes[v].type != RELAY_JSON_ARRAY) {
        return relay_schema_error(cp, v, "an array is needed here");
    }

    *n = cp->source.nodes[v].count;
    *names = relay_schema_alloc(cp, *n, sizeof(relay_schema_name_t));

    if (*names == NULL) {
        return RELAY_ERROR;
    }

    k = v + 1;

    for (i = 0; i < *n; i++) {

        if (relay_schema_name(cp, &(*names)[i], k) != RELAY_OK) {
            return RELAY_ERROR;
        }

        k = cp->source.nodes[k].next;
    }

    return RELAY_OK;
}


/* $schema and $id */

static relay_int_t
relay_schema_on_core(relay_schema_compiler_t *cp, relay_schema_rule_t *rule,
    size_t v, relay_schema_key_e key)
{
    relay_str_t  s;

    if (relay_schema_str(cp, &s, v) != RELAY_OK) {
        return RELAY_ERROR;
    }

    if (rule->node != 0) {
        return relay_schema_error(cp, v, "supported at the root only");
    }

    if (key == 0 && !relay_str_is(&s, RELAY_SCHEMA_DRAFT)
        && !relay_str_is(&s, RELAY_SCHEMA_DRAFT "#"))
    {
        return relay_schema_error(cp, v, "only draft 2020-12 is supported");
    }

    if (key == 1 && memchr(s.data, '#', s.len) != NULL
        && memchr(s.data, '#', s.len) != s.data + s.len - 1)
    {
        return relay_schema_error(cp, v, "it has a fragment");
    }

    return RELAY_OK;
}


static relay_int_t
relay_schema_on_ref(relay_schema_compiler_t *cp, relay_schema_rule_t *rule,
    size_t v, relay_schema_key_e key)
{
    relay_str_t  s;

    rule->ref_node = v;

    return relay_schema_str(cp, &s, v);
}


static relay_int_t
relay_schema_on_anchor(relay_schema_compiler_t *cp, relay_schema_rule_t *rule,
    size_t v, relay_schema_key_e key)
{
    size_t       i;
    relay_str_t  s;

    if (relay_schema_str(cp, &s, v) != RELAY_OK) {
        return RELAY_ERROR;
    }

    for (i = 0; i < s.len; i++) {

        if (!((s.data[i] | 0x20) >= 'a' && (s.data[i] | 0x20) <= 'z')
            && s.data[i] != '_'
            && (i == 0 || !((s.data[i] >= '0' && s.data[i] <= '9')
                            || s.data[i] == '-' || s.data[i] == '.')))
        {
            break;
        }
    }

    if (s.len == 0 || i < s.len) {
        return relay_schema_error(cp, v, "not an anchor");
    }

    return RELAY_OK;
}


static relay_int_t
relay_schema_on_defs(relay_schema_compiler_t *cp, relay_schema_rule_t *rule,
    size_t v, relay_schema_key_e key)
{
    size_t                    i, n;
    const relay_json_node_t  *nodes;

    nodes = cp->source.nodes;

    if (nodes[v].type != RELAY_JSON_OBJECT) {
        return relay_schema_error(cp, v, "an object is needed here");
    }

    i = v + 1;

    for (n = nodes[v].count; n > 0; n--) {

        if (relay_schema_rule(cp, i + 1) == NULL) {
            return RELAY_ERROR;
        }

        i = nodes[i + 1].next;
    }

    return RELAY_OK;
}


static relay_int_t
relay_schema_on_type(relay_schema_compiler_t *cp, relay_schema_rule_t *rule,
    size_t v, relay_schema_key_e key)
{
    size_t       i, n, k;
    unsigned     types;
    relay_str_t  s;

    static const struct {
        relay_str_t  name;
        unsigned     types;
    } words[] = {
        { relay_string("null"), 1 << RELAY_JSON_NULL },
        { relay_string("boolean"),
          1 << RELAY_JSON_FALSE | 1 << RELAY_JSON_TRUE },
        { relay_string("integer"), RELAY_SCHEMA_INTEGER },
        { relay_string("number"), 1 << RELAY_JSON_NUMBER },
        { relay_string("string"), RELAY_SCHEMA_STRING },
        { relay_string("array"), 1 << RELAY_JSON_ARRAY },
        { relay_string("object"), 1 << RELAY_JSON_OBJECT },
        { relay_null_string, 0 }
    };

    n = 1;
    types = 0;

    if (cp->source.nodes[v].type == RELAY_JSON_ARRAY) {
        n = cp->source.nodes[v].count;

        if (n == 0) {
            return relay_schema_error(cp, v, "a type is needed here");
        }

        v++;
    }

    for (i = 0; i < n; i++) {

        if (relay_schema_str(cp, &s, v) != RELAY_OK) {
            return RELAY_ERROR;
        }

        for (k = 0; words[k].types != 0; k++) {
            if (relay_str_eq(&words[k].name, &s)) {
                break;
            }
        }

        if (words[k].types == 0 || (types & words[k].types)) {
            return relay_schema_error(cp, v, words[k].types
                                             ? "the type is there already"
                                             : "no such type");
        }

        types |= words[k].types;
        v = cp->source.nodes[v].next;
    }

    if (types & (1 << RELAY_JSON_NUMBER)) {
        types &= ~RELAY_SCHEMA_INTEGER;
    }

    rule->types = (uint16_t) types;

    return RELAY_OK;
}


/* const and enum */

static relay_int_t
relay_schema_on_values(relay_schema_compiler_t *cp, relay_schema_rule_t *rule,
    size_t v, relay_schema_key_e key)
{
    size_t                 i, n;
    relay_schema_value_t  *values;

    n = 1;

    if (key == RELAY_SCHEMA_KEY_ENUM) {

        if (cp->source.nodes[v].type != RELAY_JSON_ARRAY) {
            return relay_schema_error(cp, v, "an array is needed here");
        }

        n = cp->source.nodes[v].count;
        v++;
    }

    values = relay_schema_alloc(cp, n, sizeof(relay_schema_value_t));
    if (values == NULL) {
        return RELAY_ERROR;
    }

    for (i = 0; i < n; i++) {
        values[i].node = v;

        if (cp->source.nodes[v].type == RELAY_JSON_STRING
            && relay_schema_str(cp, &values[i].str, v) != RELAY_OK)
        {
            return RELAY_ERROR;
        }

        v = cp->source.nodes[v].next;
    }

    if (key == RELAY_SCHEMA_KEY_CONST) {
        rule->constant = values;
        return RELAY_OK;
    }

    rule->values = values;
    rule->nvalues = n;

    return RELAY_OK;
}


static relay_int_t
relay_schema_on_numeric(relay_schema_compiler_t *cp, relay_schema_rule_t *rule,
    size_t v, relay_schema_key_e key)
{
    relay_schema_number_t   *number;
    relay_schema_numeric_t  *numeric;

    if (cp->source.nodes[v].type != RELAY_JSON_NUMBER) {
        return relay_schema_error(cp, v, "a number is needed here");
    }

    number = relay_schema_alloc(cp, 1, sizeof(relay_schema_number_t));

    if (number == NULL) {
        return RELAY_ERROR;
    }

    if (rule->numeric == NULL) {
        rule->numeric = relay_schema_alloc(cp, 1,
                                           sizeof(relay_schema_numeric_t));
        if (rule->numeric == NULL) {
            return RELAY_ERROR;
        }
    }

    relay_schema_number(&cp->source, v, number);
    numeric = rule->numeric;

    switch (key) {

    case RELAY_SCHEMA_KEY_MINIMUM:
        numeric->min = number;
        return RELAY_OK;

    case RELAY_SCHEMA_KEY_MAXIMUM:
        numeric->max = number;
        return RELAY_OK;

    case RELAY_SCHEMA_KEY_EXCLUSIVE_MINIMUM:
        numeric->above = number;
        return RELAY_OK;

    case RELAY_SCHEMA_KEY_EXCLUSIVE_MAXIMUM:
        numeric->below = number;
        return RELAY_OK;

    default:    /* RELAY_SCHEMA_KEY_MULTIPLE_OF */
        break;
    }

    if (number->negative || number->n == 0) {
        return relay_schema_error(cp, v, "a number above zero is needed here");
    }

    if (number->n > RELAY_SCHEMA_DIGITS) {
        return relay_schema_error(cp, v, "it has too many digits");
    }

    numeric->multiple = number;

    return RELAY_OK;
}


/* A number that is not negative, of what is counted. */

static relay_int_t
relay_schema_on_count(relay_schema_compiler_t *cp, relay_schema_rule_t *rule,
    size_t v, relay_schema_key_e key)
{
    int64_t                 value;
    relay_schema_array_t   *array;
    relay_schema_object_t  *object;
    relay_schema_string_t  *string;

    if (relay_json_int(&cp->schema->tape, &cp->schema->text, v, &value)
        != RELAY_OK
        || value < 0)
    {
        return relay_schema_error(cp, v, "an integer from zero on is needed "
                                  "here");
    }

    switch (key) {

    case RELAY_SCHEMA_KEY_MIN_LENGTH:
    case RELAY_SCHEMA_KEY_MAX_LENGTH:

        string = relay_schema_string(cp, rule);
        if (string == NULL) {
            return RELAY_ERROR;
        }

        if (key == RELAY_SCHEMA_KEY_MIN_LENGTH) {
            string->min = (size_t) value;

        } else {
            string->max = (size_t) value;
        }

        return RELAY_OK;

    case RELAY_SCHEMA_KEY_MIN_PROPERTIES:
    case RELAY_SCHEMA_KEY_MAX_PROPERTIES:

        object = relay_schema_object(cp, rule);
        if (object == NULL) {
            return RELAY_ERROR;
        }

        if (key == RELAY_SCHEMA_KEY_MIN_PROPERTIES) {
            object->min = (size_t) value;

        } else {
            object->max = (size_t) value;
        }

        return RELAY_OK;

    default:
        break;
    }

    array = relay_schema_array(cp, rule);
    if (array == NULL) {
        return RELAY_ERROR;
    }

    switch (key) {

    case RELAY_SCHEMA_KEY_MIN_ITEMS:
        array->min = (size_t) value;
        break;

    case RELAY_SCHEMA_KEY_MAX_ITEMS:
        array->max = (size_t) value;
        break;

    case RELAY_SCHEMA_KEY_MIN_CONTAINS:
        array->min_contains = (size_t) value;
        break;

    default:    /* RELAY_SCHEMA_KEY_MAX_CONTAINS */
        array->max_contains = (size_t) value;
    }

    return RELAY_OK;
}


static relay_schema_pattern_t *
relay_schema_pattern(relay_schema_compiler_t *cp, size_t v)
{
    relay_int_t              rc;
    relay_buf_t              why;
    relay_schema_pattern_t  *pattern;

    pattern = relay_schema_alloc(cp, 1, sizeof(relay_schema_pattern_t));

    if (pattern == NULL
        || relay_schema_str(cp, &pattern->text, v) != RELAY_OK)
    {
        return NULL;
    }

    relay_buf_init(&why, 1024);

    rc = relay_schema_pattern_compile(pattern, &why);

    if (rc == RELAY_OK) {
        pattern->next = cp->schema->patterns;
        cp->schema->patterns = pattern;

    } else {
        (void) relay_schema_error(cp, v, (rc == RELAY_DECLINED
                                          && relay_buf_append_c(&why, '\0')
                                             == RELAY_OK)
                                         ? (char *) why.data : "no memory");
        pattern = NULL;
    }

    relay_buf_free(&why);

    return pattern;
}


static relay_int_t
relay_schema_on_pattern(relay_schema_compiler_t *cp, relay_schema_rule_t *rule,
    size_t v, relay_schema_key_e key)
{
    relay_schema_string_t  *string;

    if (cp->source.nodes[v].type != RELAY_JSON_STRING) {
        return relay_schema_error(cp, v, "a string is needed here");
    }

    string = relay_schema_string(cp, rule);
    if (string == NULL) {
        return RELAY_ERROR;
    }

    string->pattern = relay_schema_pattern(cp, v);

    return (string->pattern != NULL) ? RELAY_OK : RELAY_ERROR;
}


static relay_int_t
relay_schema_on_format(relay_schema_compiler_t *cp, relay_schema_rule_t *rule,
    size_t v, relay_schema_key_e key)
{
    relay_str_t              name;
    relay_schema_string_t   *string;
    relay_schema_format_pt   format;

    if (relay_schema_str(cp, &name, v) != RELAY_OK) {
        return RELAY_ERROR;
    }

    if (relay_str_is(&name, "date-time")) {
        format = relay_schema_date_time;

    } else if (relay_str_is(&name, "email")) {
        format = relay_schema_email;

    } else {
        return RELAY_OK;
    }

    string = relay_schema_string(cp, rule);
    if (string == NULL) {
        return RELAY_ERROR;
    }

    string->format = format;

    return RELAY_OK;
}


static relay_int_t
relay_schema_on_unique(relay_schema_compiler_t *cp, relay_schema_rule_t *rule,
    size_t v, relay_schema_key_e key)
{
    relay_schema_array_t  *array;

    if (cp->source.nodes[v].type == RELAY_JSON_FALSE) {
        return RELAY_OK;
    }

    if (cp->source.nodes[v].type != RELAY_JSON_TRUE) {
        return relay_schema_error(cp, v, "true or false is needed here");
    }

    array = relay_schema_array(cp, rule);
    if (array == NULL) {
        return RELAY_ERROR;
    }

    array->unique = 1;

    return RELAY_OK;
}


/* Those whose value is a schema. */

static relay_int_t
relay_schema_on_schema(relay_schema_compiler_t *cp, relay_schema_rule_t *rule,
    size_t v, relay_schema_key_e key)
{
    relay_schema_rule_t    *sub;
    relay_schema_array_t   *array;
    relay_schema_logic_t   *logic;
    relay_schema_object_t  *object;

    sub = relay_schema_rule(cp, v);
    if (sub == NULL) {
        return RELAY_ERROR;
    }

    switch (key) {

    case RELAY_SCHEMA_KEY_ITEMS:
    case RELAY_SCHEMA_KEY_CONTAINS:
    case RELAY_SCHEMA_KEY_UNEVALUATED_ITEMS:

        array = relay_schema_array(cp, rule);
        if (array == NULL) {
            return RELAY_ERROR;
        }

        if (key == RELAY_SCHEMA_KEY_ITEMS) {
            array->items = sub;

        } else if (key == RELAY_SCHEMA_KEY_CONTAINS) {
            array->contains = sub;

        } else {
            array->unevaluated = sub;
        }

        return RELAY_OK;

    case RELAY_SCHEMA_KEY_ADDITIONAL_PROPERTIES:
    case RELAY_SCHEMA_KEY_PROPERTY_NAMES:
    case RELAY_SCHEMA_KEY_UNEVALUATED_PROPERTIES:

        object = relay_schema_object(cp, rule);
        if (object == NULL) {
            return RELAY_ERROR;
        }

        if (key == RELAY_SCHEMA_KEY_ADDITIONAL_PROPERTIES) {
            object->additional = sub;

        } else if (key == RELAY_SCHEMA_KEY_PROPERTY_NAMES) {
            object->names = sub;

        } else {
            object->unevaluated = sub;
        }

        return RELAY_OK;

    default:
        break;
    }

    logic = relay_schema_logic(cp, rule);
    if (logic == NULL) {
        return RELAY_ERROR;
    }

    switch (key) {

    case RELAY_SCHEMA_KEY_NOT:
        logic->not = sub;
        break;

    case RELAY_SCHEMA_KEY_IF:
        logic->cond = sub;
        break;

    case RELAY_SCHEMA_KEY_THEN:
        logic->then = sub;
        break;

    default:    /* RELAY_SCHEMA_KEY_ELSE */
        logic->other = sub;
    }

    return RELAY_OK;
}


/* Those whose value is an array of schemas. */

static relay_int_t
relay_schema_on_list(relay_schema_compiler_t *cp, relay_schema_rule_t *rule,
    size_t v, relay_schema_key_e key)
{
    size_t                  i, n;
    relay_schema_list_t    *list;
    relay_schema_array_t   *array;
    relay_schema_logic_t   *logic;
    relay_schema_rule_t   **elts;

    n = cp->source.nodes[v].count;

    if (cp->source.nodes[v].type != RELAY_JSON_ARRAY || n == 0) {
        return relay_schema_error(cp, v, "an array of schemas is needed here");
    }

    if (key == RELAY_SCHEMA_KEY_PREFIX_ITEMS) {
        array = relay_schema_array(cp, rule);
        list = (array != NULL) ? &array->prefix : NULL;

    } else {
        logic = relay_schema_logic(cp, rule);
        list = (logic == NULL) ? NULL
               : (key == RELAY_SCHEMA_KEY_ALL_OF) ? &logic->all
               : (key == RELAY_SCHEMA_KEY_ANY_OF) ? &logic->any : &logic->one;
    }

    elts = relay_schema_alloc(cp, n, sizeof(relay_schema_rule_t *));

    if (list == NULL || elts == NULL) {
        return RELAY_ERROR;
    }

    v++;

    for (i = 0; i < n; i++) {
        elts[i] = relay_schema_rule(cp, v);

        if (elts[i] == NULL) {
            return RELAY_ERROR;
        }

        v = cp->source.nodes[v].next;
    }

    list->elts = elts;
    list->n = n;

    return RELAY_OK;
}


static relay_int_t
relay_schema_on_properties(relay_schema_compiler_t *cp,
    relay_schema_rule_t *rule, size_t v, relay_schema_key_e key)
{
    size_t                  i, n;
    relay_schema_object_t  *object;
    relay_schema_member_t  *members;

    if (cp->source.nodes[v].type != RELAY_JSON_OBJECT) {
        return relay_schema_error(cp, v, "an object is needed here");
    }

    n = cp->source.nodes[v].count;
    object = relay_schema_object(cp, rule);
    members = relay_schema_alloc(cp, n, sizeof(relay_schema_member_t));

    if (object == NULL || members == NULL) {
        return RELAY_ERROR;
    }

    v++;

    for (i = 0; i < n; i++) {

        if (relay_schema_name(cp, &members[i].name, v) != RELAY_OK) {
            return RELAY_ERROR;
        }

        members[i].rule = relay_schema_rule(cp, v + 1);

        if (members[i].rule == NULL) {
            return RELAY_ERROR;
        }

        v = cp->source.nodes[v + 1].next;
    }

    object->members = members;
    object->nmembers = n;

    return RELAY_OK;
}


static relay_int_t
relay_schema_on_patterns(relay_schema_compiler_t *cp,
    relay_schema_rule_t *rule, size_t v, relay_schema_key_e key)
{
    size_t                    i, n;
    relay_schema_object_t    *object;
    relay_schema_matching_t  *patterns;

    if (cp->source.nodes[v].type != RELAY_JSON_OBJECT) {
        return relay_schema_error(cp, v, "an object is needed here");
    }

    n = cp->source.nodes[v].count;
    object = relay_schema_object(cp, rule);
    patterns = relay_schema_alloc(cp, n, sizeof(relay_schema_matching_t));

    if (object == NULL || patterns == NULL) {
        return RELAY_ERROR;
    }

    v++;

    for (i = 0; i < n; i++) {
        patterns[i].pattern = relay_schema_pattern(cp, v);

        if (patterns[i].pattern == NULL) {
            return RELAY_ERROR;
        }

        patterns[i].rule = relay_schema_rule(cp, v + 1);

        if (patterns[i].rule == NULL) {
            return RELAY_ERROR;
        }

        v = cp->source.nodes[v + 1].next;
    }

    object->patterns = patterns;
    object->npatterns = n;

    return RELAY_OK;
}


static relay_int_t
relay_schema_on_required(relay_schema_compiler_t *cp,
    relay_schema_rule_t *rule, size_t v, relay_schema_key_e key)
{
    relay_schema_object_t  *object;

    object = relay_schema_object(cp, rule);
    if (object == NULL) {
        return RELAY_ERROR;
    }

    return relay_schema_names(cp, v, &object->required, &object->nrequired);
}


/* dependentRequired and dependentSchemas */

static relay_int_t
relay_schema_on_dependent(relay_schema_compiler_t *cp,
    relay_schema_rule_t *rule, size_t v, relay_schema_key_e key)
{
    size_t                     i, n;
    relay_schema_object_t     *object;
    relay_schema_dependent_t  *d, *dependents;

    if (cp->source.nodes[v].type != RELAY_JSON_OBJECT) {
        return relay_schema_error(cp, v, "an object is needed here");
    }

    n = cp->source.nodes[v].count;
    object = relay_schema_object(cp, rule);

    if (object == NULL) {
        return RELAY_ERROR;
    }

    /* behind those of the other keyword */

    dependents = relay_schema_alloc(cp, object->ndependents + n,
                                    sizeof(relay_schema_dependent_t));
    if (dependents == NULL) {
        return RELAY_ERROR;
    }

    if (object->ndependents > 0) {
        memcpy(dependents, object->dependents,
               object->ndependents * sizeof(relay_schema_dependent_t));
    }

    d = dependents + object->ndependents;
    v++;

    for (i = 0; i < n; i++, d++) {

        if (relay_schema_name(cp, &d->name, v) != RELAY_OK) {
            return RELAY_ERROR;
        }

        if (key == RELAY_SCHEMA_KEY_DEPENDENT_REQUIRED) {

            if (relay_schema_names(cp, v + 1, &d->required, &d->nrequired)
                != RELAY_OK)
            {
                return RELAY_ERROR;
            }

        } else {
            d->rule = relay_schema_rule(cp, v + 1);

            if (d->rule == NULL) {
                return RELAY_ERROR;
            }
        }

        v = cp->source.nodes[v + 1].next;
    }

    object->dependents = dependents;
    object->ndependents += n;

    return RELAY_OK;
}


/* in the order of relay_schema_key_e, then those that have no error */

static const relay_schema_keyword_t  relay_schema_table[] = {
    { relay_string("type"), relay_schema_on_type, RELAY_SCHEMA_KEY_TYPE },
    { relay_string("const"), relay_schema_on_values, RELAY_SCHEMA_KEY_CONST },
    { relay_string("enum"), relay_schema_on_values, RELAY_SCHEMA_KEY_ENUM },
    { relay_string("multipleOf"), relay_schema_on_numeric,
      RELAY_SCHEMA_KEY_MULTIPLE_OF },
    { relay_string("minimum"), relay_schema_on_numeric,
      RELAY_SCHEMA_KEY_MINIMUM },
    { relay_string("maximum"), relay_schema_on_numeric,
      RELAY_SCHEMA_KEY_MAXIMUM },
    { relay_string("exclusiveMinimum"), relay_schema_on_numeric,
      RELAY_SCHEMA_KEY_EXCLUSIVE_MINIMUM },
    { relay_string("exclusiveMaximum"), relay_schema_on_numeric,
      RELAY_SCHEMA_KEY_EXCLUSIVE_MAXIMUM },
    { relay_string("minLength"), relay_schema_on_count,
      RELAY_SCHEMA_KEY_MIN_LENGTH },
    { relay_string("maxLength"), relay_schema_on_count,
      RELAY_SCHEMA_KEY_MAX_LENGTH },
    { relay_string("pattern"), relay_schema_on_pattern,
      RELAY_SCHEMA_KEY_PATTERN },
    { relay_string("format"), relay_schema_on_format, RELAY_SCHEMA_KEY_FORMAT },
    { relay_string("minItems"), relay_schema_on_count,
      RELAY_SCHEMA_KEY_MIN_ITEMS },
    { relay_string("maxItems"), relay_schema_on_count,
      RELAY_SCHEMA_KEY_MAX_ITEMS },
    { relay_string("uniqueItems"), relay_schema_on_unique,
      RELAY_SCHEMA_KEY_UNIQUE_ITEMS },
    { relay_string("prefixItems"), relay_schema_on_list,
      RELAY_SCHEMA_KEY_PREFIX_ITEMS },
    { relay_string("items"), relay_schema_on_schema, RELAY_SCHEMA_KEY_ITEMS },
    { relay_string("contains"), relay_schema_on_schema,
      RELAY_SCHEMA_KEY_CONTAINS },
    { relay_string("minContains"), relay_schema_on_count,
      RELAY_SCHEMA_KEY_MIN_CONTAINS },
    { relay_string("maxContains"), relay_schema_on_count,
      RELAY_SCHEMA_KEY_MAX_CONTAINS },
    { relay_string("unevaluatedItems"), relay_schema_on_schema,
      RELAY_SCHEMA_KEY_UNEVALUATED_ITEMS },
    { relay_string("properties"), relay_schema_on_properties,
      RELAY_SCHEMA_KEY_PROPERTIES },
    { relay_string("patternProperties"), relay_schema_on_patterns,
      RELAY_SCHEMA_KEY_PATTERN_PROPERTIES },
    { relay_string("additionalProperties"), relay_schema_on_schema,
      RELAY_SCHEMA_KEY_ADDITIONAL_PROPERTIES },
    { relay_string("propertyNames"), relay_schema_on_schema,
      RELAY_SCHEMA_KEY_PROPERTY_NAMES },
    { relay_string("required"), relay_schema_on_required,
      RELAY_SCHEMA_KEY_REQUIRED },
    { relay_string("dependentRequired"), relay_schema_on_dependent,
      RELAY_SCHEMA_KEY_DEPENDENT_REQUIRED },
    { relay_string("dependentSchemas"), relay_schema_on_dependent,
      RELAY_SCHEMA_KEY_DEPENDENT_SCHEMAS },
    { relay_string("minProperties"), relay_schema_on_count,
      RELAY_SCHEMA_KEY_MIN_PROPERTIES },
    { relay_string("maxProperties"), relay_schema_on_count,
      RELAY_SCHEMA_KEY_MAX_PROPERTIES },
    { relay_string("unevaluatedProperties"), relay_schema_on_schema,
      RELAY_SCHEMA_KEY_UNEVALUATED_PROPERTIES },
    { relay_string("allOf"), relay_schema_on_list, RELAY_SCHEMA_KEY_ALL_OF },
    { relay_string("anyOf"), relay_schema_on_list, RELAY_SCHEMA_KEY_ANY_OF },
    { relay_string("oneOf"), relay_schema_on_list, RELAY_SCHEMA_KEY_ONE_OF },
    { relay_string("not"), relay_schema_on_schema, RELAY_SCHEMA_KEY_NOT },
    { relay_string("if"), relay_schema_on_schema, RELAY_SCHEMA_KEY_IF },
    { relay_string("then"), relay_schema_on_schema, RELAY_SCHEMA_KEY_THEN },
    { relay_string("else"), relay_schema_on_schema, RELAY_SCHEMA_KEY_ELSE },

    { relay_string("$schema"), relay_schema_on_core, 0 },
    { relay_string("$id"), relay_schema_on_core, 1 },
    { relay_string("$ref"), relay_schema_on_ref, 0 },
    { relay_string("$anchor"), relay_schema_on_anchor, 0 },
    { relay_string("$defs"), relay_schema_on_defs, 0 },

    { relay_string("$comment"), NULL, 0 },
    { relay_string("title"), NULL, 0 },
    { relay_string("description"), NULL, 0 },
    { relay_string("default"), NULL, 0 },
    { relay_string("examples"), NULL, 0 },
    { relay_string("deprecated"), NULL, 0 },
    { relay_string("readOnly"), NULL, 0 },
    { relay_string("writeOnly"), NULL, 0 },
    { relay_string("contentEncoding"), NULL, 0 },
    { relay_string("contentMediaType"), NULL, 0 },
    { relay_string("contentSchema"), NULL, 0 },

    { relay_null_string, NULL, 0 }
};


const relay_schema_keyword_t *
relay_schema_keyword(const relay_str_t *name)
{
    const relay_schema_keyword_t  *k;

    for (k = relay_schema_table; k->name.len > 0; k++) {
        if (relay_str_eq(&k->name, name)) {
            return k;
        }
    }

    return NULL;
}


const char *
relay_schema_key_name(relay_schema_key_e key)
{
    switch (key) {

    case RELAY_SCHEMA_KEY_FALSE:
        return "false schema";

    case RELAY_SCHEMA_KEY_LIMIT:
        return "limit";

    default:
        return (const char *)
               relay_schema_table[key - RELAY_SCHEMA_KEY_TYPE].name.data;
    }
}
