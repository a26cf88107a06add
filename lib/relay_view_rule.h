
/*
 * relay_view_rule: what the three files of relay_view share: the compiled
 * rules (relay_view_policy.c), the state of a projection (relay_view.c), and
 * what it has to know of a document's texts (relay_view_text.c).
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
    relay_view_name_t     value;
    unsigned              action;       /* conditions included */
    relay_view_name_t     take;
} relay_view_case_t;


typedef struct {
    relay_view_name_t     member;
    unsigned              own;          /* of the object itself */
    relay_view_case_t    *cases;
    size_t                n;
    relay_view_case_t     missing;
    relay_view_case_t     other;
} relay_view_by_t;


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
    relay_view_name_t     question;

    relay_view_name_t     join_array;
    relay_view_name_t     join_member;
    relay_str_t           join_by;
    relay_view_rule_t    *join_rule;    /* of the array */
};


typedef struct relay_view_block_s  relay_view_block_t;

struct relay_view_block_s {
    relay_view_block_t   *next;
    void                 *align[];
};


typedef struct {
    relay_view_name_t    *names;
    size_t                n;
} relay_view_pointer_t;


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
    size_t                      odd[RELAY_VIEW_ODD];
    size_t                      odd_n;
    size_t                      asked;      /* in scratch: hashes */
    size_t                      asked_n;
} relay_view_ctx_t;


static inline void *
relay_view_scratch(const relay_view_ctx_t *ctx, size_t off)
{
    return (unsigned char *) ctx->out->scratch + off;
}


/* relay_view.c */

relay_view_member_t *relay_view_member(const relay_view_rule_t *rule,
    const relay_str_t *name);
int relay_view_withhold(relay_view_ctx_t *ctx, const char *why);
size_t relay_view_find(const relay_view_ctx_t *ctx, size_t obj,
    const relay_view_name_t *name);
size_t relay_view_point(const relay_view_ctx_t *ctx,
    const relay_view_pointer_t *ptr);

/* relay_view_text.c */

relay_int_t relay_view_room(relay_view_ctx_t *ctx, size_t size, size_t *off);
relay_int_t relay_view_decode(relay_view_ctx_t *ctx, size_t v, relay_str_t *s);
void relay_view_trim(relay_str_t *s);
int relay_view_repeats(relay_view_ctx_t *ctx, size_t v);
int relay_view_asked(relay_view_ctx_t *ctx, const relay_view_rule_t *rule,
    size_t v);
int relay_view_naming_any(relay_view_ctx_t *ctx, size_t v);
relay_int_t relay_view_name_add(relay_view_ctx_t *ctx, size_t v);
int relay_view_index(relay_view_ctx_t *ctx);
int relay_view_ask(relay_view_ctx_t *ctx);


#endif /* _RELAY_VIEW_RULE_H_INCLUDED_ */
