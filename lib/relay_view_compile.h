
/*
 * relay_view_compile: what the files that compile a policy share: the document
 * (relay_view_policy.c), the tree of rules (relay_view_compile.c) and what a
 * rule is made of (relay_view_words.c).
 */

#ifndef _RELAY_VIEW_COMPILE_H_INCLUDED_
#define _RELAY_VIEW_COMPILE_H_INCLUDED_


#include "relay_view_rule.h"


#define RELAY_VIEW_DEPTH       32       /* of the tree of rules */
#define RELAY_VIEW_MEMBERS     1024     /* of one object's rules */


/* the place in a policy, for messages */

typedef struct relay_view_path_s  relay_view_path_t;

struct relay_view_path_s {
    relay_view_path_t    *parent;
    size_t                key;          /* 0: an element */
    size_t                index;
};


typedef struct {
    relay_view_name_t     name;
    size_t                node;
    relay_view_rule_t    *rule;
} relay_view_def_t;


typedef struct {
    relay_view_policy_t  *policy;
    relay_json_tape_t    *tape;
    const relay_str_t    *doc;
    relay_buf_t          *err;
    relay_view_def_t     *defs;
    size_t                defs_n;
    relay_view_path_t     defs_path;
    unsigned              defs_depth;   /* definitions within one another */
} relay_view_compiler_t;


/* relay_view_policy.c */

/* Zeroed memory that lives as long as the policy; NULL: there is none. */
void *relay_view_alloc(relay_view_policy_t *policy, size_t size);

/* Appends the place as a pointer into the policy. */
void relay_view_path_print(const relay_view_compiler_t *cp,
    const relay_view_path_t *path, relay_buf_t *out);

/* The first message stays: "PLACE: TEXT".  Returns NULL. */
void *relay_view_error(relay_view_compiler_t *cp, relay_view_path_t *path,
    const char *text);

/* A name from bytes, from a string or key, from what must be a string. */
relay_int_t relay_view_name_set(relay_view_compiler_t *cp,
    relay_view_name_t *name, const unsigned char *data, size_t len);
relay_int_t relay_view_name_get(relay_view_compiler_t *cp,
    relay_view_name_t *name, size_t node);
relay_int_t relay_view_string(relay_view_compiler_t *cp,
    relay_view_name_t *name, size_t node, relay_view_path_t *path);

/* A JSON pointer into the document, of names only. */
relay_int_t relay_view_pointer(relay_view_compiler_t *cp,
    relay_view_pointer_t *ptr, size_t node, relay_view_path_t *path);

/* relay_view_compile.c */

/* The rule at a node of the policy; NULL: an error, or no memory. */
relay_view_rule_t *relay_view_rule(relay_view_compiler_t *cp, size_t node,
    relay_view_path_t *path);
relay_view_member_t *relay_view_member(const relay_view_rule_t *rule,
    const relay_str_t *name);

/* relay_view_words.c */

/* One word, "marked+fresh", to bits; RELAY_DECLINED: there is none such. */
relay_int_t relay_view_word(const unsigned char *p, const unsigned char *last,
    unsigned *bits);

/* The words of a rule, one for all views or one for each. */
relay_int_t relay_view_columns(relay_view_compiler_t *cp,
    relay_view_rule_t *rule, size_t node, relay_view_path_t *path);

/* The objects that "by", "marked" and "joined" need. */
relay_view_by_t *relay_view_by(relay_view_compiler_t *cp, size_t node,
    relay_view_path_t *path);
relay_int_t relay_view_mark(relay_view_compiler_t *cp,
    relay_view_rule_t *rule, size_t node, relay_view_path_t *path);
relay_int_t relay_view_joined(relay_view_compiler_t *cp,
    relay_view_rule_t *rule, size_t node, relay_view_path_t *path);


#endif /* _RELAY_VIEW_COMPILE_H_INCLUDED_ */
