
/*
 * relay_schema_rule: what the files of relay_schema share: the compiled rules
 * (relay_schema_compile.c), which relay_schema.c runs, and what both need to
 * know of numbers, equality (relay_schema_value.c), patterns
 * (relay_schema_pattern.c) and formats (relay_schema_format.c).
 */

#ifndef _RELAY_SCHEMA_RULE_H_INCLUDED_
#define _RELAY_SCHEMA_RULE_H_INCLUDED_


#include "relay_schema.h"


#define RELAY_SCHEMA_CHAIN     32       /* schemas that apply to one value, one
                                           because of another */
#define RELAY_SCHEMA_BITS      64       /* required names that have a bit */
#define RELAY_SCHEMA_NONE      SIZE_MAX /* no marks are kept; no maximum */

/* types: a bit of each relay_json_type_e; a name counts as a string */

#define RELAY_SCHEMA_STRING    ((1 << RELAY_JSON_STRING)                      \
                                | (1 << RELAY_JSON_KEY))
#define RELAY_SCHEMA_ALL       0x00ff
#define RELAY_SCHEMA_INTEGER   0x0100   /* of the numbers only integers */


typedef enum {
    RELAY_SCHEMA_KEY_FALSE = 0,
    RELAY_SCHEMA_KEY_LIMIT,
    RELAY_SCHEMA_KEY_TYPE,
    RELAY_SCHEMA_KEY_CONST,
    RELAY_SCHEMA_KEY_ENUM,
    RELAY_SCHEMA_KEY_MULTIPLE_OF,
    RELAY_SCHEMA_KEY_MINIMUM,
    RELAY_SCHEMA_KEY_MAXIMUM,
    RELAY_SCHEMA_KEY_EXCLUSIVE_MINIMUM,
    RELAY_SCHEMA_KEY_EXCLUSIVE_MAXIMUM,
    RELAY_SCHEMA_KEY_MIN_LENGTH,
    RELAY_SCHEMA_KEY_MAX_LENGTH,
    RELAY_SCHEMA_KEY_PATTERN,
    RELAY_SCHEMA_KEY_FORMAT,
    RELAY_SCHEMA_KEY_MIN_ITEMS,
    RELAY_SCHEMA_KEY_MAX_ITEMS,
    RELAY_SCHEMA_KEY_UNIQUE_ITEMS,
    RELAY_SCHEMA_KEY_PREFIX_ITEMS,
    RELAY_SCHEMA_KEY_ITEMS,
    RELAY_SCHEMA_KEY_CONTAINS,
    RELAY_SCHEMA_KEY_MIN_CONTAINS,
    RELAY_SCHEMA_KEY_MAX_CONTAINS,
    RELAY_SCHEMA_KEY_UNEVALUATED_ITEMS,
    RELAY_SCHEMA_KEY_PROPERTIES,
    RELAY_SCHEMA_KEY_PATTERN_PROPERTIES,
    RELAY_SCHEMA_KEY_ADDITIONAL_PROPERTIES,
    RELAY_SCHEMA_KEY_PROPERTY_NAMES,
    RELAY_SCHEMA_KEY_REQUIRED,
    RELAY_SCHEMA_KEY_DEPENDENT_REQUIRED,
    RELAY_SCHEMA_KEY_DEPENDENT_SCHEMAS,
    RELAY_SCHEMA_KEY_MIN_PROPERTIES,
    RELAY_SCHEMA_KEY_MAX_PROPERTIES,
    RELAY_SCHEMA_KEY_UNEVALUATED_PROPERTIES,
    RELAY_SCHEMA_KEY_ALL_OF,
    RELAY_SCHEMA_KEY_ANY_OF,
    RELAY_SCHEMA_KEY_ONE_OF,
    RELAY_SCHEMA_KEY_NOT,
    RELAY_SCHEMA_KEY_IF,
    RELAY_SCHEMA_KEY_THEN,
    RELAY_SCHEMA_KEY_ELSE
} relay_schema_key_e;


/*
 * A decimal number, 0.DIGITS * 10^exp.  There is a digit other than zero at
 * either end; n is 0 for zero itself.
 */

typedef struct {
    const unsigned char     *digits;    /* the point may stand among them */
    size_t                   n;
    int64_t                  exp;
    unsigned                 negative:1;
} relay_schema_number_t;


typedef struct {
    relay_str_t              str;
    uint32_t                 hash;
} relay_schema_name_t;


/* A value of the schema, of const or enum. */

typedef struct {
    size_t                   node;
    relay_str_t              str;       /* of a string, unescaped */
} relay_schema_value_t;


typedef struct {
    relay_schema_rule_t    **elts;
    size_t                   n;
} relay_schema_list_t;


typedef struct relay_schema_pattern_s  relay_schema_pattern_t;

struct relay_schema_pattern_s {
    relay_str_t              text;      /* as the schema has it */
    void                    *code;
    relay_schema_pattern_t  *next;      /* of all */
};


typedef relay_int_t (*relay_schema_format_pt)(const unsigned char *p,
    size_t len);


typedef struct {
    size_t                   min;       /* code points */
    size_t                   max;
    relay_schema_pattern_t  *pattern;
    relay_schema_format_pt   format;
} relay_schema_string_t;


typedef struct {
    relay_schema_number_t   *min;
    relay_schema_number_t   *max;
    relay_schema_number_t   *above;
    relay_schema_number_t   *below;
    relay_schema_number_t   *multiple;
} relay_schema_numeric_t;


typedef struct {
    size_t                   min;
    size_t                   max;
    relay_schema_list_t      prefix;
    relay_schema_rule_t     *items;
    relay_schema_rule_t     *contains;
    size_t                   min_contains;
    size_t                   max_contains;
    relay_schema_rule_t     *unevaluated;
    unsigned                 unique:1;
} relay_schema_array_t;


typedef struct {
    relay_schema_name_t      name;
    relay_schema_rule_t     *rule;      /* NULL: it is only required */
    uint64_t                 required;  /* its bit */
} relay_schema_member_t;


typedef struct {
    relay_schema_pattern_t  *pattern;
    relay_schema_rule_t     *rule;
} relay_schema_matching_t;


/* What the presence of a member brings. */

typedef struct {
    relay_schema_name_t      name;
    relay_schema_name_t     *required;
    size_t                   nrequired;
    relay_schema_rule_t     *rule;      /* NULL: dependentRequired */
} relay_schema_dependent_t;


typedef struct {
    size_t                     min;
    size_t                     max;
    relay_schema_member_t     *members;
    size_t                     nmembers;
    uint32_t                  *slots;   /* 0, or a member's index + 1 */
    uint32_t                   mask;
    relay_schema_name_t       *required;
    size_t                     nrequired;
    uint64_t                   bits;    /* of all that are required */
    relay_schema_matching_t   *patterns;
    size_t                     npatterns;
    relay_schema_rule_t       *additional;
    relay_schema_rule_t       *names;
    relay_schema_dependent_t  *dependents;
    size_t                     ndependents;
    relay_schema_rule_t       *unevaluated;
} relay_schema_object_t;


/* What applies to the same value. */

typedef struct {
    relay_schema_list_t      all;
    relay_schema_list_t      any;
    relay_schema_list_t      one;
    relay_schema_rule_t     *not;
    relay_schema_rule_t     *cond;
    relay_schema_rule_t     *then;
    relay_schema_rule_t     *other;
} relay_schema_logic_t;


struct relay_schema_rule_s {
    uint16_t                 types;
    unsigned                 never:1;   /* false */
    unsigned                 plain:1;   /* nothing but types */
    unsigned                 alias:1;   /* nothing but $ref */
    unsigned                 open:1;    /* the search for cycles is in it */
    uint16_t                 chain;     /* what that has found, 0: nothing */

    relay_schema_rule_t     *ref;
    relay_schema_value_t    *constant;
    relay_schema_value_t    *values;    /* of enum */
    size_t                   nvalues;

    relay_schema_string_t   *string;
    relay_schema_numeric_t  *numeric;
    relay_schema_array_t    *array;
    relay_schema_object_t   *object;
    relay_schema_logic_t    *logic;

    size_t                   node;      /* of the schema's tape */
    size_t                   ref_node;
    relay_schema_rule_t     *next;      /* of all */
};


typedef struct relay_schema_block_s  relay_schema_block_t;

struct relay_schema_block_s {
    relay_schema_block_t    *next;
    void                    *align[];
};


struct relay_schema_s {
    relay_schema_block_t    *blocks;
    relay_schema_rule_t     *rules;
    relay_schema_pattern_t  *patterns;
    relay_schema_rule_t     *root;
    relay_str_t              text;
    relay_json_tape_t        tape;
    relay_str_t              id;
};


/* A document, or the schema itself where const or enum are compared. */

typedef struct {
    const relay_str_t       *doc;
    const relay_json_node_t *nodes;
} relay_schema_source_t;


typedef struct {
    uint64_t                 hash;
    size_t                   node;
} relay_schema_item_t;


/* The value of a hexadecimal digit, or -1. */

static inline int
relay_schema_hex(unsigned c)
{
    if (c >= '0' && c <= '9') {
        return (int) (c - '0');
    }

    c |= 0x20;

    return (c >= 'a' && c <= 'f') ? (int) (c - 'a' + 10) : -1;
}


typedef struct {
    relay_schema_t          *schema;
    relay_schema_source_t    source;
    relay_buf_t             *err;
    relay_schema_rule_t    **rules;     /* by node */
} relay_schema_compiler_t;


/* v: the keyword's value */

typedef relay_int_t (*relay_schema_keyword_pt)(relay_schema_compiler_t *cp,
    relay_schema_rule_t *rule, size_t v, relay_schema_key_e key);


typedef struct {
    relay_str_t              name;
    relay_schema_keyword_pt  compile;   /* NULL: an annotation */
    relay_schema_key_e       key;
} relay_schema_keyword_t;


/*
 * relay_schema_compile.c: without memory, or where something else is wrong,
 * NULL or RELAY_ERROR with cp->err written
 */

/* Zeroed memory that lives as long as the schema. */
void *relay_schema_alloc(relay_schema_compiler_t *cp, size_t n, size_t size);

/* Writes down what is wrong at v; RELAY_ERROR. */
relay_int_t relay_schema_error(relay_schema_compiler_t *cp, size_t v,
    const char *text);

/* The string or name at v, unescaped. */
relay_int_t relay_schema_str(relay_schema_compiler_t *cp, relay_str_t *str,
    size_t v);
relay_int_t relay_schema_name(relay_schema_compiler_t *cp,
    relay_schema_name_t *name, size_t v);

/* The rule of the schema at v. */
relay_schema_rule_t *relay_schema_rule(relay_schema_compiler_t *cp, size_t v);

/* relay_schema_keyword.c */

/* NULL: it is not supported. */
const relay_schema_keyword_t *relay_schema_keyword(const relay_str_t *name);
const char *relay_schema_key_name(relay_schema_key_e key);

typedef struct {
    const relay_json_tape_t    *tape;
    const relay_json_node_t    *nodes;
    relay_schema_source_t       doc;
    relay_schema_source_t       schema;
    relay_schema_run_t         *run;
    size_t                      depth;
    size_t                      steps;      /* that are left */
    size_t                      marks;      /* bytes in use */
    unsigned                    quiet;      /* only the verdict counts */
    unsigned                    full:1;     /* no room for an error */
    unsigned                    limit:1;    /* it costs too much */
} relay_schema_ctx_t;


/* Takes a result down; whether it ends the run. */

static inline relay_uint_t
relay_schema_ends(const relay_schema_ctx_t *ctx, relay_int_t rc,
    relay_int_t *verdict)
{
    if (rc == RELAY_OK) {
        return 0;
    }

    *verdict = rc;

    return rc == RELAY_ERROR || ctx->quiet || ctx->full;
}


/*
 * relay_schema.c.  All that judges a value: RELAY_OK or RELAY_DECLINED;
 * RELAY_ERROR: no memory, or ctx->limit.
 */

/* Applies a rule to the value, or the name, at i. */
relay_int_t relay_schema_apply(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i, size_t marks);

/* The same; where it does not hold, that is no fault yet. */
relay_int_t relay_schema_try(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i, size_t marks);

/* Writes a fault down; RELAY_DECLINED. */
relay_int_t relay_schema_fail(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, relay_schema_key_e key, size_t i,
    size_t at, size_t index);

/* Ends the run: "not" and its like must not turn this verdict round. */
relay_int_t relay_schema_limit(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i);

/* relay_schema_check.c */

relay_int_t relay_schema_check_values(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i);
relay_int_t relay_schema_check_numeric(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i);
relay_int_t relay_schema_check_string(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i);
relay_int_t relay_schema_check_array(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i, size_t marks);
relay_int_t relay_schema_check_object(relay_schema_ctx_t *ctx,
    const relay_schema_rule_t *rule, size_t i, size_t marks);

/* relay_schema_value.c */

void relay_schema_number(const relay_schema_source_t *s, size_t i,
    relay_schema_number_t *number);
int relay_schema_number_compare(const relay_schema_number_t *a,
    const relay_schema_number_t *b);
relay_uint_t relay_schema_number_integer(const relay_schema_number_t *number);
relay_uint_t relay_schema_number_multiple(const relay_schema_number_t *number,
    const relay_schema_number_t *of);

/* Unicode code points of a string or name. */
size_t relay_schema_length(const relay_schema_source_t *s, size_t i);

/*
 * Whether two values are equal: RELAY_OK or RELAY_DECLINED; RELAY_ERROR when
 * the steps are used up.
 */
relay_int_t relay_schema_equal(const relay_schema_source_t *a, size_t i,
    const relay_schema_source_t *b, size_t k, size_t depth, size_t *steps);

/*
 * Whether the elements of the array at i differ from each other: RELAY_OK, or
 * RELAY_DECLINED with *same one that has been there before; RELAY_ERROR when
 * the steps are used up.  items has room for all of them.
 */
relay_int_t relay_schema_unique(const relay_schema_source_t *s, size_t i,
    relay_schema_item_t *items, size_t *steps, size_t *same);

/* relay_schema_pattern.c */

/*
 * Compiles pattern->text.  RELAY_DECLINED: err holds a sentence; RELAY_ERROR:
 * no memory.
 */
relay_int_t relay_schema_pattern_compile(relay_schema_pattern_t *pattern,
    relay_buf_t *err);
void relay_schema_pattern_free(relay_schema_pattern_t *pattern);

/*
 * RELAY_OK: it occurs in the text, valid UTF-8; RELAY_DECLINED: it does not;
 * RELAY_AGAIN: not to be told with RELAY_SCHEMA_TRIES; RELAY_ERROR: no memory.
 * *match is kept from call to call, and freed in the end.
 */
relay_int_t relay_schema_pattern_match(const relay_schema_pattern_t *pattern,
    const relay_str_t *text, void **match);
void relay_schema_match_free(void *match);

/* relay_schema_format.c: RELAY_OK or RELAY_DECLINED */

relay_int_t relay_schema_date_time(const unsigned char *p, size_t len);
relay_int_t relay_schema_email(const unsigned char *p, size_t len);


#endif /* _RELAY_SCHEMA_RULE_H_INCLUDED_ */
