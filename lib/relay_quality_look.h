
/*
 * relay_quality_look.h: what the looks at one text share; for the files
 * relay_quality_*.c alone.
 */

#ifndef _RELAY_QUALITY_LOOK_H_INCLUDED_
#define _RELAY_QUALITY_LOOK_H_INCLUDED_


#include "relay_quality.h"
#include "relay_text.h"


#define RELAY_SAFETY_EXEMPT     8       /* addresses of the owner */
#define RELAY_SAFETY_RULES      5       /* members that hold rules */


typedef struct {
    size_t                from;     /* bytes of the decoded text */
    size_t                to;
    unsigned              space;    /* leaves one */
} relay_safety_cut_t;


/* A text, and where each byte of it is in the string's decoded text. */

typedef struct {
    relay_str_t           text;
    const uint32_t       *map;      /* NULL: in the same place */
    unsigned              nested:1; /* JSON inside of the string */
} relay_safety_layer_t;


typedef struct {
    const relay_json_tape_t  *tape;
    const relay_str_t        *doc;
    relay_quality_safety_t   *result;
    relay_buf_t              *out;
    relay_quality_note_pt     note;
    void                     *data;

    size_t                    node;
    size_t                    rules[RELAY_SAFETY_RULES];
    unsigned                  rule:1;       /* the string is one */

    uint32_t                  found;        /* kinds, in this string */
    size_t                    at[RELAY_SAFETY_KINDS];
    uint32_t                  hidden;       /* the first of them */
    unsigned                  failed:1;
    unsigned                  full:1;       /* too many cuts */

    relay_safety_cut_t       *cuts;
    size_t                    ncuts;
    size_t                    cuts_size;

    unsigned char             first[26];    /* words of a letter: phrases */

    relay_str_t               exempt[RELAY_SAFETY_EXEMPT];
    size_t                    nexempt;

    relay_buf_t               base;
    relay_buf_t               clean;
    relay_buf_t               clean_map;
    relay_buf_t               layer[2];
    relay_buf_t               layer_map[2];
    relay_buf_t               strip[2];
    relay_buf_t               own[2];       /* the owner's addresses */
    relay_buf_t               sentence;
} relay_safety_ctx_t;


/* relay_quality_safety.c */

/* A kind was found at this byte of the layer. */
void relay_safety_found(relay_safety_ctx_t *ctx,
    const relay_safety_layer_t *layer, unsigned kind, size_t off);

/* These bytes of the layer are to be cut out; space: one is left instead. */
void relay_safety_cut(relay_safety_ctx_t *ctx,
    const relay_safety_layer_t *layer, size_t from, size_t to, unsigned space);

/* relay_quality_markup.c: images, tokens of chat templates; encoded blobs */

void relay_safety_markup(relay_safety_ctx_t *ctx,
    const relay_safety_layer_t *layer);
void relay_safety_blobs(relay_safety_ctx_t *ctx,
    const relay_safety_layer_t *layer);

/* relay_quality_phrase.c: S1k to S6k, word by word */

void relay_safety_phrases(relay_safety_ctx_t *ctx,
    const relay_safety_layer_t *layer);

void relay_safety_phrases_init(relay_safety_ctx_t *ctx);

/* The next e-mail address or URL at or after off; 0: there is none. */
unsigned relay_safety_address(const relay_str_t *text, size_t off,
    relay_str_t *address);


static inline unsigned
relay_safety_is_letter(unsigned c)
{
    return (c | 0x20) - 'a' < 26;
}


static inline unsigned
relay_safety_is_alnum(unsigned c)
{
    return relay_safety_is_letter(c) || c - '0' < 10;
}


static inline unsigned
relay_safety_is_space(unsigned c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}


static inline unsigned
relay_safety_starts(const unsigned char *p, const unsigned char *last,
    const char *s)
{
    size_t  len;

    len = strlen(s);

    return (size_t) (last - p) >= len && memcmp(p, s, len) == 0;
}


/* The same for a word in lower case, whatever the text's. */

static inline unsigned
relay_safety_starts_any(const unsigned char *p, const unsigned char *last,
    const char *s)
{
    for ( /* void */ ; *s; s++, p++) {

        if (p == last || (*p | 0x20) != *s) {
            return 0;
        }
    }

    return 1;
}


#endif /* _RELAY_QUALITY_LOOK_H_INCLUDED_ */
