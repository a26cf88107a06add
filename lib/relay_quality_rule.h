
/*
 * relay_quality_rule.h: what the rules about a package share; for the files
 * relay_quality*.c alone.
 */

#ifndef _RELAY_QUALITY_RULE_H_INCLUDED_
#define _RELAY_QUALITY_RULE_H_INCLUDED_


#include "relay_quality.h"
#include "relay_text.h"


#define RELAY_QUALITY_BRIEF     0x01
#define RELAY_QUALITY_WORKING   0x02
#define RELAY_QUALITY_FULL      0x04
#define RELAY_QUALITY_DEEP      (RELAY_QUALITY_WORKING|RELAY_QUALITY_FULL)

#define RELAY_QUALITY_FNV       0xcbf29ce484222325ull
#define RELAY_QUALITY_PRIME     0x100000001b3ull


typedef struct relay_quality_rule_s  relay_quality_rule_t;


typedef struct {
    uint64_t                  *data;
    size_t                     n;
    size_t                     size;
} relay_quality_set_t;


typedef struct {
    const relay_json_tape_t   *tape;
    const relay_json_node_t   *nodes;
    const relay_str_t         *doc;
    relay_quality_note_pt      note;
    void                      *data;
    unsigned                   depth;
    relay_int_t                rc;

    relay_quality_set_t        set;
    relay_buf_t                mem;
    relay_buf_t                sentence;
} relay_quality_ctx_t;


/* A rule over "object.member", or over the document where these are NULL. */

struct relay_quality_rule_s {
    const char                *id;
    relay_quality_area_e       area;
    relay_quality_severity_e   severity;
    unsigned                   depths;      /* 0: all */
    void                     (*check)(relay_quality_ctx_t *ctx,
                                   const relay_quality_rule_t *rule);
    const char                *object;
    const char                *member;
    const char                *text;
};


/* relay_quality_value.c: what rules look at, and how they say it */

/* A member of that type; 0: there is none. */
size_t relay_quality_get(const relay_quality_ctx_t *ctx, size_t obj,
    const char *name, unsigned type);

/* The value a rule is about. */
size_t relay_quality_value(const relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule, unsigned type);

unsigned relay_quality_is(const relay_quality_ctx_t *ctx, size_t obj,
    const char *name, const char *value);

/* A string, decoded; empty where there is none. */
void relay_quality_str(relay_quality_ctx_t *ctx, size_t v, relay_str_t *s);

/* Whether there is nothing in a string that anybody sees. */
unsigned relay_quality_blank(relay_quality_ctx_t *ctx, size_t v);

/* Whether a value says something: a list has an entry that does. */
unsigned relay_quality_filled(relay_quality_ctx_t *ctx, size_t v);

/* The elements of a list, in turn: *i starts at 0. */
unsigned relay_quality_each(const relay_quality_ctx_t *ctx, size_t list,
    size_t *i);

void relay_quality_say(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule, size_t node, const char *member);

/* A note with the rule's own sentence. */
void relay_quality_plain(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule, size_t node, const char *member);

/* The same, with what it is about in quotes, and more after it. */
void relay_quality_quoted(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule, size_t node, const char *member,
    const relay_str_t *quoted, const char *more);

void relay_quality_quoted_node(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule, size_t node, const char *member,
    size_t v, const char *more);

/* What is missing: the member of the object, or the object. */
void relay_quality_absent(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);

/* Of a text's words: equal for texts that are so once normalised. */
uint64_t relay_quality_hash(const relay_str_t *s);

void relay_quality_set_add(relay_quality_ctx_t *ctx, uint64_t hash);

void relay_quality_set_sort(relay_quality_ctx_t *ctx);

unsigned relay_quality_set_has(const relay_quality_ctx_t *ctx, uint64_t hash);

/*
 * The next figure of a text at or after *off: digits, with "." and "," inside,
 * beside no letter.  Its hash is without the commas of thousands.
 */
unsigned relay_quality_figure(const relay_str_t *s, size_t *off,
    relay_str_t *figure, uint64_t *hash);

/* relay_quality_rule.c: a function for each rule, or for several */

void relay_quality_email(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);
void relay_quality_missing(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);
void relay_quality_outcome(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);
void relay_quality_sources(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);
void relay_quality_claims(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);
void relay_quality_figures(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);
void relay_quality_unreviewed(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);
void relay_quality_rehearsed(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);
void relay_quality_fewer(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);
void relay_quality_decided(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);
void relay_quality_brief(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);
void relay_quality_thin(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);
void relay_quality_variables(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);
void relay_quality_principles(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);
void relay_quality_open(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);
void relay_quality_free(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);
void relay_quality_numbers(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);
void relay_quality_consent(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);
void relay_quality_corrected(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);
void relay_quality_more(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);
void relay_quality_elastic(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);
void relay_quality_request(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);
void relay_quality_approver(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);
void relay_quality_ids(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);
void relay_quality_shared(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule);


#endif /* _RELAY_QUALITY_RULE_H_INCLUDED_ */
