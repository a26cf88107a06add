
/*
 * relay_view_rule: what the files of relay_view share: the compiled rules
 * (relay_view_policy.c, _compile.c, _words.c) and the state of a projection
 * (relay_view.c, _walk.c, _judge.c, _text.c, _explain.c).
 */

#ifndef _RELAY_VIEW_RULE_H_INCLUDED_
#define _RELAY_VIEW_RULE_H_INCLUDED_


#include "relay_view.h"


#define RELAY_VIEW_ODD         64       /* names that are searched for */


/* what a view does with a member or an element */

#define RELAY_VIEW_KEEP        0
#define RELAY_VIEW_DROP        1
#define RELAY_VIEW_BLANK       2
#define RELAY_VIEW_CONSTANT    3
#define RELAY_VIEW_TAKE        4
#define RELAY_VIEW_JOINED      5
#define RELAY_VIEW_BY          6
#define RELAY_VIEW_ACTION      0x0007

/* what else a note may be of: a name that no rule knows, a mark written out */

#define RELAY_VIEW_UNKNOWN     8
#define RELAY_VIEW_WRITTEN     9

/* conditions, each of which must hold, or it is dropped */

#define RELAY_VIEW_MARKED      0x0008
#define RELAY_VIEW_FRESH       0x0010
#define RELAY_VIEW_LABELLED    0x0020
#define RELAY_VIEW_UNNAMED     0x0040
#define RELAY_VIEW_LEFT        0x0080
#define RELAY_VIEW_UNASKED     0x0100
#define RELAY_VIEW_SUGGEST     0x0200
#define RELAY_VIEW_EDIT        0x0400

/* what is known of a scalar's type */

#define RELAY_VIEW_IS_CODE     0x0800
#define RELAY_VIEW_IS_MARK     0x1000
#define RELAY_VIEW_IS_FLAG     0x2000
#define RELAY_VIEW_TYPES       0x3800

#define RELAY_VIEW_STOP        -1       /* withheld, or no memory */


typedef enum {
    RELAY_VIEW_SCALAR = 0,
    RELAY_VIEW_ARRAY,
    RELAY_VIEW_OBJECT
} relay_view_kind_e;


typedef struct relay_view_rule_s    relay_view_rule_t;
typedef struct relay_view_member_s  relay_view_member_t;


typedef struct {
    relay_str_t           str;
    uint32_t              hash;
} relay_view_name_t;


typedef struct {
    relay_view_name_t    *names;
    size_t                n;
} relay_view_pointer_t;


typedef struct {
    relay_view_name_t     value;
    unsigned              action;       /* conditions included */
    relay_view_name_t     take;
} relay_view_case_t;


typedef struct {
    relay_view_pointer_t  at;           /* in the document, or else */
    relay_view_name_t     member;
    unsigned              own;          /* of the object itself */
    relay_view_case_t    *cases;
    size_t                n;
    relay_view_case_t     missing;
    relay_view_case_t     other;
} relay_view_by_t;


/* a rule as the policy words it, for notes */

typedef struct {
    relay_str_t           place;        /* a pointer into the policy */
    relay_str_t           why;
    relay_str_t           words[RELAY_VIEW_MAX];
} relay_view_source_t;


struct relay_view_member_s {
    relay_view_name_t     name;         /* its bytes are padded with zeros */
    relay_view_rule_t    *rule;
    unsigned              head;         /* stands before what is moved */
};


struct relay_view_rule_s {
    uint16_t              act[RELAY_VIEW_MAX];
    uint8_t               kind;
    uint8_t               judged;       /* by $by or $mark, here or below */
    uint8_t               named;        /* $names, here or below */
    uint8_t               plain;        /* bits of views that keep a text */
    uint16_t              type;
    uint16_t              depth;

    /* an object: a table without collisions */
    uint32_t              seed;
    unsigned              shift;
    relay_view_member_t **slots;
    relay_view_member_t  *members;
    size_t                n;
    relay_view_member_t  *then;         /* moved behind the head */

    relay_view_rule_t    *each;         /* an array: its elements */
    size_t                least;        /* elements that must be left */

    relay_str_t           constant;
    relay_view_by_t      *by;

    relay_view_name_t     mark;
    relay_str_t           mark_value;
    unsigned              inherit;
    unsigned              written;      /* bits of views */
    relay_str_t           mark_text;    /* the member as it is written */

    relay_view_name_t     until;
    relay_view_name_t    *names;
    size_t                names_n;
    relay_view_name_t     left;
    relay_view_rule_t    *left_rule;    /* of that array */
    relay_view_name_t     question;

    relay_view_name_t     join_array;
    relay_view_name_t     join_member;
    relay_str_t           join_by;
    relay_view_rule_t    *join_rule;    /* of the array */
    relay_view_rule_t    *join_text;    /* of its elements' member */

    relay_view_source_t  *source;
};


typedef struct relay_view_block_s  relay_view_block_t;

struct relay_view_block_s {
    relay_view_block_t   *next;
    void                 *align[];
};


struct relay_view_policy_s {
    relay_view_block_t   *blocks;
    relay_str_t           text;
    relay_str_t           schema;
    relay_str_t           digest;
    unsigned char         digest_data[RELAY_DIGEST_LEN];
    relay_view_name_t     schema_name;
    relay_view_e          views[RELAY_VIEW_MAX];
    size_t                views_n;
    unsigned              known;        /* bits of views */
    unsigned              naming;       /* bits: of those that ask for names */
    relay_view_pointer_t  private;
    size_t                private_least;
    relay_view_pointer_t  labelled;
    relay_view_pointer_t  asked;
    relay_view_rule_t    *root;
    relay_view_rule_t    *least;
};


typedef struct {
    const relay_view_policy_t  *policy;
    const relay_str_t          *doc;
    const relay_json_tape_t    *tape;
    const relay_json_node_t    *nodes;
    const relay_view_params_t  *params;
    relay_view_out_t           *out;
    relay_view_e                view;
    const char                 *why;        /* of a withheld document */

    size_t                      from;       /* where the open span starts */
    size_t                      private_len;
    const unsigned char        *private;
    size_t                      private_off; /* in the scratch memory */
    unsigned                    private_copied:1;
    unsigned                    private_whole:1;
    unsigned                    labelled:1;
    unsigned                    inherited:1; /* by the last decision */
    unsigned                    checked:1;  /* every mark's type */
    unsigned                    naming:1;   /* names are being collected */
    unsigned                    strict:1;   /* too many to search for */
    unsigned                    asked_all:1;
    size_t                      take;       /* value to be put in instead */
    size_t                      kept;       /* by the last walk */
    size_t                      left;       /* elements of $least kept */

    size_t                      used;       /* bytes of scratch memory */
    size_t                      names;      /* in scratch: nodes */
    size_t                      names_n;
    size_t                      names_size;
    size_t                      table;      /* in scratch: nodes by hash */
    size_t                      table_size;
    size_t                      named;      /* the name that was found */
    size_t                      asked;      /* in scratch: hashes */
    size_t                      asked_n;
    size_t                      asked_size;
    size_t                      odd_n;
    size_t                      odd[RELAY_VIEW_ODD];
} relay_view_ctx_t;


static inline void *
relay_view_scratch(const relay_view_ctx_t *ctx, size_t off)
{
    return (unsigned char *) ctx->out->scratch + off;
}


static inline unsigned
relay_view_same(const unsigned char *p, const unsigned char *last,
    const relay_str_t *name)
{
    size_t                n;
    uint64_t              a, b;
    const unsigned char  *q;

    n = name->len;

    if ((size_t) (last - p) < n + 8) {
        return memcmp(p, name->data, n) == 0;
    }

    q = name->data;

    for (/* void */; n >= 8; n -= 8) {
        memcpy(&a, p, 8);
        memcpy(&b, q, 8);

        if (a != b) {
            return 0;
        }

        p += 8;
        q += 8;
    }

    memcpy(&a, p, 8);
    memcpy(&b, q, 8);

#if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
    return n == 0 || ((a ^ b) >> (64 - 8 * n)) == 0;
#else
    return ((a ^ b) & ~(~0ull << (8 * n))) == 0;
#endif
}


/* The rule of the member whose name is at index i; NULL: none knows it. */

static inline const relay_view_member_t *
relay_view_lookup(const relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    size_t i)
{
    const relay_json_node_t    *node;
    const relay_view_member_t  *member;

    node = &ctx->nodes[i];
    member = rule->slots[(uint32_t) (node->next * rule->seed) >> rule->shift];

    if (member == NULL || member->name.hash != node->next) {
        return NULL;
    }

    if (__builtin_expect(node->escaped, 0)) {
        return relay_json_str_is(ctx->tape, ctx->doc, i,
                                 (const char *) member->name.str.data,
                                 member->name.str.len)
               ? member : NULL;
    }

    if (node->len - 2 != member->name.str.len
        || !relay_view_same(ctx->doc->data + node->off + 1,
                            ctx->doc->data + ctx->doc->len, &member->name.str))
    {
        return NULL;
    }

    return member;
}


/* relay_view.c */

int relay_view_withhold(relay_view_ctx_t *ctx, size_t v, const char *why);

/* relay_view_walk.c */

/* Makes the spans of the view, or the one of the whole document. */
int relay_view_walk_root(relay_view_ctx_t *ctx);
relay_int_t relay_view_whole(relay_view_ctx_t *ctx);

/* relay_view_judge.c */

/* The value of a member, of an object or at a pointer; 0: there is none. */
size_t relay_view_find(const relay_view_ctx_t *ctx, size_t obj,
    const relay_view_name_t *name);
size_t relay_view_point(const relay_view_ctx_t *ctx,
    const relay_view_pointer_t *ptr);

/* What becomes of a value: an action, or RELAY_VIEW_STOP. */
int relay_view_decide(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    size_t v, size_t parent, unsigned marked);

/* One condition: 1 holds, 0 does not, RELAY_VIEW_STOP. */
int relay_view_condition(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    unsigned bit, size_t v, unsigned marked);
int relay_view_collect(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    size_t v, size_t parent, unsigned marked, unsigned dropped);

/* relay_view_text.c */

relay_int_t relay_view_room(relay_view_ctx_t *ctx, size_t size, size_t *off);
relay_int_t relay_view_decode(relay_view_ctx_t *ctx, size_t v, relay_str_t *s);
void relay_view_trim(relay_str_t *s);
int relay_view_repeats(relay_view_ctx_t *ctx, size_t v, unsigned type);
int relay_view_repeats_spans(relay_view_ctx_t *ctx, size_t n);
int relay_view_asked(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    size_t v);
int relay_view_naming_any(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    size_t v);
relay_int_t relay_view_name_add(relay_view_ctx_t *ctx, size_t v);
int relay_view_index(relay_view_ctx_t *ctx);
int relay_view_ask(relay_view_ctx_t *ctx);

/* relay_view_explain.c */

void relay_view_explain(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    int act, size_t v, size_t parent, unsigned marked);


/* Counts what is left out or changed, and tells whoever asked for it. */

static inline void
relay_view_note(relay_view_ctx_t *ctx, const relay_view_rule_t *rule, int act,
    size_t v, size_t parent, unsigned marked)
{
    ctx->out->withheld++;

    if (__builtin_expect(ctx->out->note != NULL, 0)) {
        relay_view_explain(ctx, rule, act, v, parent, marked);
    }
}


#endif /* _RELAY_VIEW_RULE_H_INCLUDED_ */
