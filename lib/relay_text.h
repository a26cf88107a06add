
/*
 * relay_text: decoded text: its code points, its words in a form for
 * comparison, the characters in it that nobody sees, and the runs of words
 * that two texts share.
 *
 * Texts are UTF-8 as relay_json leaves it.  Other bytes are U+FFFD, one each.
 */

#ifndef _RELAY_TEXT_H_INCLUDED_
#define _RELAY_TEXT_H_INCLUDED_


#include "relay.h"
#include "relay_buf.h"
#include "relay_json.h"


#define RELAY_TEXT_FOLD_MAX  32     /* code points that one may fold to */
#define RELAY_TEXT_WORD_MAX  64     /* bytes kept of one folded word */
#define RELAY_TEXT_LAYERS    4      /* of JSON inside of a string */


/*
 * The text of the string at index i: the document's own bytes, or, where it
 * has escapes, a copy in mem, which is reset.  RELAY_OK or RELAY_ERROR.
 */
relay_int_t relay_text_decode(const relay_json_tape_t *tape,
    const relay_str_t *doc, size_t i, relay_buf_t *mem, relay_str_t *text);

/*
 * A JSON document that is a string of another one.  Where the text starts and
 * ends as one and a backslash occurs in it, appends the text with its escape
 * sequences resolved; it need not be well-formed, since its reader may be less
 * strict than we are.  map gets one uint32_t a byte and one for the end: the
 * place of that byte, in bytes of what from (NULL: text itself) leads to.
 *
 * RELAY_OK; RELAY_DECLINED: this is no such text; RELAY_ERROR: no room.
 * out and map are reset.
 */
relay_int_t relay_text_unnest(const relay_str_t *text, const uint32_t *from,
    relay_buf_t *out, relay_buf_t *map);


/* The code point at p, which is before last; returns its bytes. */
size_t relay_text_cp(const unsigned char *p, const unsigned char *last,
    uint32_t *cp);

/*
 * The form of a code point for comparison: full case folding and
 * compatibility decomposition (NFKD, Unicode 15), less
 *     default ignorable code points and the hidden ones below, and
 *     combining marks from U+0300 to U+036F (accents).
 * Marks of other scripts stay and are not reordered; so do the ligatures from
 * U+FDF0 to U+FDFB, which are whole words.  Look-alikes of different scripts
 * stay apart.  Returns how many of out[RELAY_TEXT_FOLD_MAX] are filled
 * in; 0: the code point is left out.
 */
size_t relay_text_fold(uint32_t cp, uint32_t *out);

/* Whether a folded code point is part of a word: letter, mark or number. */
relay_uint_t relay_text_is_word(uint32_t cp);


/*
 * The words of a text, folded.  All else parts them, "_" too, but not an
 * apostrophe inside of one: "don't" is "dont".
 */

typedef struct {
    size_t                off;      /* bytes of the text */
    size_t                end;
    size_t                at;       /* the same in folded characters, white */
    size_t                at_end;   /*   space counted as one */
    uint64_t              hash;     /* of all its bytes */
    size_t                len;      /* bytes in word, which may be cut */
    size_t                chars;
    unsigned char         word[RELAY_TEXT_WORD_MAX];
    unsigned char         sep;      /* the only character before it, or 0 */
    unsigned              stop:1;   /* a sentence ended before it */
    unsigned              line:1;   /* a line ended before it */

    /* the iterator's own */

    unsigned              space:1;
    const unsigned char  *start;
    const unsigned char  *pos;
    const unsigned char  *last;
    size_t                chars_seen;
    size_t                from;     /* of what the queue was folded from */
    size_t                next;     /* in the queue */
    size_t                n;
    uint32_t              queue[RELAY_TEXT_FOLD_MAX];
} relay_text_words_t;


void relay_text_words_init(relay_text_words_t *w, const relay_str_t *text);

/* The next word; 0: there is none. */
relay_uint_t relay_text_words_next(relay_text_words_t *w);

/* Appends the folded words of a text, one space between two of them. */
relay_int_t relay_text_normalize(const relay_str_t *text, relay_buf_t *out);


/* Classes of characters that nobody sees. */

typedef enum {
    RELAY_TEXT_VISIBLE = 0,
    RELAY_TEXT_TAG,             /* U+E0000 to U+E007F */
    RELAY_TEXT_BIDI,            /* embeddings, overrides, isolates */
    RELAY_TEXT_BIDI_MARK,       /* U+200E, U+200F, U+061C */
    RELAY_TEXT_ZERO_WIDTH,
    RELAY_TEXT_JOINER,          /* U+200C, U+200D */
    RELAY_TEXT_VARIATION,       /* variation selectors */
    RELAY_TEXT_BLANK,           /* soft hyphen, fillers: seen as nothing */
    RELAY_TEXT_CONTROL,         /* C0, DEL and C1 but tab, LF and CR */
    RELAY_TEXT_ANNOTATION,      /* U+FFF9 to U+FFFB */
    RELAY_TEXT_PRIVATE          /* private use */
} relay_text_hidden_e;


/*
 * A run of hidden characters of one class.  Not reported, since text needs
 * them:
 *     tags in an emoji tag sequence: U+1F3F4, 3 to 6 letters or digits, U+E007F
 *     bidirectional controls that are balanced, in a text with a right-to-left
 *         letter
 *     a joiner between emoji, or next to a letter of a script that joins
 *         (Arabic and its kin, Indic, Mongolian, Khmer, Myanmar, Tibetan), with
 *         no hidden character beside it
 *     one variation selector after a visible character that is no ASCII letter;
 *         U+E0100 to U+E01EF after an ideograph only
 *     U+FEFF at the start of the text
 *     U+2800 beside another Braille pattern
 * Marks of direction and private use are only informative, but for a mark
 * between two ASCII letters.
 */

typedef struct {
    size_t                off;      /* bytes of the text */
    size_t                len;
    uint32_t              cp;       /* the first of the run */
    relay_text_hidden_e   class;
    unsigned              inside:1; /* between two ASCII letters */
    unsigned              info:1;   /* informative only */

    /* the iterator's own */

    unsigned              bidi:2;
    const unsigned char  *start;
    const unsigned char  *pos;
    const unsigned char  *last;
    const unsigned char  *tags;     /* the end of an emoji tag sequence */
    uint32_t              prev;     /* code points before; 0: none */
    uint32_t              seen;
} relay_text_hidden_t;


void relay_text_hidden_init(relay_text_hidden_t *h, const relay_str_t *text);

/* The next run; 0: there is none. */
relay_uint_t relay_text_hidden_next(relay_text_hidden_t *h);

relay_text_hidden_e relay_text_hidden_class(uint32_t cp);

/* "tag", "bidi", "bidi-mark", "zero-width", "joiner", ... */
const char *relay_text_hidden_name(relay_text_hidden_e class);


/* The runs of n words of a text. */

typedef struct {
    size_t      n;
    size_t      words_n;
    uint64_t   *words;          /* their hashes */
    uint32_t   *table;          /* of the first words of runs, from 1 on */
    size_t      table_size;
} relay_text_shingles_t;


/* Collects the runs of n words of a text.  RELAY_OK or RELAY_ERROR. */
relay_int_t relay_text_shingles_init(relay_text_shingles_t *s,
    const relay_str_t *text, size_t n);
void relay_text_shingles_free(relay_text_shingles_t *s);

/*
 * The number of words in the first run of n or more words that text shares
 * with them, and its bytes in text.  0: it shares none.  Linear.
 */
size_t relay_text_shingles_shared(const relay_text_shingles_t *s,
    const relay_str_t *text, size_t *off, size_t *len);


#endif /* _RELAY_TEXT_H_INCLUDED_ */
