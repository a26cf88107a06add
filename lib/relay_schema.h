
/*
 * relay_schema: JSON Schema, draft 2020-12, compiled once and run over a tape.
 *
 * What is supported is the validation vocabulary that needs no network: all of
 * its assertions and applicators, unevaluatedItems and unevaluatedProperties,
 * $defs, $anchor, and a $ref that stays in the schema.  Annotations are passed
 * over.  Any other keyword is an error when the schema is compiled.
 *
 * Of the formats, "date-time" and "email" are asserted, as ajv-formats does it
 * in its full mode: seconds of 60 are accepted where they make 23:59:60 UTC; an
 * offset may be "+01" and "+0100", too.  Any other format is an annotation.
 *
 * Numbers are decimal and exact, whatever their length (1.0 is 1, and an
 * integer; 1e400 is a number like any other); exponents beyond 10^17 count as
 * 10^17.  multipleOf may have 18 significant digits.
 *
 * Patterns are regular expressions of ECMA-262 with the "u" flag, searched for
 * anywhere in a string.  \d, \w and \b know ASCII only, as there.
 */

#ifndef _RELAY_SCHEMA_H_INCLUDED_
#define _RELAY_SCHEMA_H_INCLUDED_


#include "relay.h"
#include "relay_buf.h"
#include "relay_json.h"


/*
 * What a document may cost: containers around a value that a schema is applied
 * to; applications of a schema to a value, comparisons of values and matches of
 * a pattern; tries of a pattern at one place of a string.  A document beyond is
 * not valid.  A pattern that backtracks may take long within that: patterns are
 * trusted as far as the schema is.
 */
#define RELAY_SCHEMA_DEPTH         64
#define RELAY_SCHEMA_STEPS         (4 * 1024 * 1024)
#define RELAY_SCHEMA_TRIES         100000


typedef struct relay_schema_s       relay_schema_t;
typedef struct relay_schema_rule_s  relay_schema_rule_t;


typedef struct {
    size_t                      node;     /* of the value at fault; where a
                                             member may not be, its object */
    size_t                      at;       /* the same, or that member's KEY,
                                             or the element at fault */
    size_t                      offset;   /* of at, in bytes from 0 */
    const char                 *keyword;  /* "minLength"; "false schema";
                                             "limit": it costs too much */
    const relay_schema_rule_t  *rule;
    unsigned                    key;      /* of the keyword */
    size_t                      index;    /* of a name in its value */
} relay_schema_error_t;


/* What one run after another may use again. */

typedef struct {
    relay_schema_error_t       *errors;
    size_t                      n;        /* errors of the last run, by place */
    size_t                      max;

    relay_buf_t                 text;     /* a string, unescaped */
    unsigned char              *marks;    /* of members and elements */
    size_t                      marks_size;
    void                       *items;    /* of uniqueItems */
    size_t                      items_size;
    void                       *match;
} relay_schema_run_t;


/*
 * Compiles a schema.  NULL when it is not acceptable, or without memory; err
 * then holds a sentence that begins with the pointer at fault.  The text need
 * not outlive the call.  Freed with relay_schema_free().
 */
relay_schema_t *relay_schema_compile(const relay_str_t *json,
    relay_buf_t *err);
void relay_schema_free(relay_schema_t *schema);

/* The schema's $id, without an empty fragment; empty when it has none. */
const relay_str_t *relay_schema_id(const relay_schema_t *schema);

/*
 * Prepares for runs that keep max errors, 1 at least; with 1 a run ends at the
 * first fault.
 */
void relay_schema_run_init(relay_schema_run_t *run, size_t max);
void relay_schema_run_free(relay_schema_run_t *run);

/*
 * Validates the document.  RELAY_OK: it is valid; allocates nothing once run
 * has grown.  RELAY_DECLINED: it is not, run->errors[] says why; where there
 * are run->max of them, there may be more.  RELAY_ERROR: no memory.
 */
relay_int_t relay_schema_validate(const relay_schema_t *schema,
    const relay_str_t *doc, const relay_json_tape_t *tape,
    relay_schema_run_t *run);

/*
 * What an error says: the pointer of its keyword in the schema; a sentence
 * without the place and a final dot, which may quote names, but no values, of
 * the document.  RELAY_OK or RELAY_ERROR: out is full, no memory.
 */
relay_int_t relay_schema_error_schema(const relay_schema_t *schema,
    const relay_schema_error_t *error, relay_buf_t *out);
relay_int_t relay_schema_error_text(const relay_schema_t *schema,
    const relay_schema_error_t *error, const relay_str_t *doc,
    const relay_json_tape_t *tape, relay_buf_t *out);


#endif /* _RELAY_SCHEMA_H_INCLUDED_ */
