
/*
 * relay_quality: the extraction standard's checks of a draft ("The check"):
 * rules about a relay.context-package.v1, and nine kinds of text that reads
 * like instructions to an agent, which any document may hold.
 */

#ifndef _RELAY_QUALITY_H_INCLUDED_
#define _RELAY_QUALITY_H_INCLUDED_


#include "relay.h"
#include "relay_buf.h"
#include "relay_json.h"


#define RELAY_QUALITY_SHARED  12    /* words of the private request */


/* in the standard's order */

typedef enum {
    RELAY_QUALITY_AUDIENCE = 0,
    RELAY_QUALITY_INTENT,
    RELAY_QUALITY_GROUNDING,
    RELAY_QUALITY_ANSWERABILITY,
    RELAY_QUALITY_COVERAGE,
    RELAY_QUALITY_SAFETY,
    RELAY_QUALITY_REPRESENTATION,
    RELAY_QUALITY_AREAS
} relay_quality_area_e;


typedef enum {
    RELAY_QUALITY_INFO = 0,
    RELAY_QUALITY_FLAG,
    RELAY_QUALITY_BLOCK
} relay_quality_severity_e;


typedef struct {
    const char                *id;      /* Q1 to Q25, S1k to S9k, R1 to R8,
                                           X1 */
    relay_quality_area_e       area;
    relay_quality_severity_e   severity;
    size_t                     node;    /* of the tape: where */
    const char                *member;  /* the member that is missing there, or
                                           NULL */
    size_t                     off;     /* byte of the node's decoded text */
    relay_str_t                text;    /* a sentence for the owner: it may
                                           quote the document, so that no log
                                           takes it; valid during the call */
} relay_quality_note_t;


/* Is given every note; anything but RELAY_OK ends the check with it. */

typedef relay_int_t (*relay_quality_note_pt)(void *data,
    const relay_quality_note_t *note);


/* "Audience", "Intent", ...; "info", "flag", "block" */
const char *relay_quality_area(relay_quality_area_e area);
const char *relay_quality_severity(relay_quality_severity_e severity);

/*
 * Appends the JSON pointer (RFC 6901) of a node, and of the member of it that
 * is missing, unless that is NULL.
 */
relay_int_t relay_quality_pointer(const relay_json_tape_t *tape,
    const relay_str_t *doc, size_t node, const char *member, relay_buf_t *out);

/*
 * The rules, but not the safety kinds, over a package.  Members that are of
 * another type than the schema's count as missing.  The order of notes is that
 * of the rules.
 *
 * RELAY_OK; RELAY_ERROR: no memory; or what note returned.
 */
relay_int_t relay_quality_package(const relay_json_tape_t *tape,
    const relay_str_t *doc, relay_quality_note_pt note, void *data);

/*
 * X1 alone: a text for the reader that repeats twelve words or more of the
 * private request.
 */
relay_int_t relay_quality_repeats(const relay_json_tape_t *tape,
    const relay_str_t *doc, relay_quality_note_pt note, void *data);


/* The nine kinds, as bits. */

#define RELAY_SAFETY_IGNORE     0x0001      /* S1k: ignore your rules */
#define RELAY_SAFETY_ROLE       0x0002      /* S2k: change role */
#define RELAY_SAFETY_SEND       0x0004      /* S3k: send to an address */
#define RELAY_SAFETY_TOOL       0x0008      /* S4k: call a tool */
#define RELAY_SAFETY_HIDE       0x0010      /* S5k: hide from the user */
#define RELAY_SAFETY_REVEAL     0x0020      /* S6k: reveal secrets */
#define RELAY_SAFETY_IMAGE      0x0040      /* S7k: image with parameters */
#define RELAY_SAFETY_BLOB       0x0080      /* S8k: encoded blob */
#define RELAY_SAFETY_HIDDEN     0x0100      /* S9k: hidden characters */

#define RELAY_SAFETY_KINDS      9
#define RELAY_SAFETY_BLOCKED    (RELAY_SAFETY_IMAGE|RELAY_SAFETY_BLOB         \
                                 |RELAY_SAFETY_HIDDEN)


typedef struct {
    uint32_t  kinds;                        /* bits of what was found */
    uint32_t  node[RELAY_SAFETY_KINDS];     /* of the tape: where first */
    size_t    off[RELAY_SAFETY_KINDS];      /* byte of its decoded text */
    size_t    cut;                          /* bytes of decoded text cut out */
} relay_quality_safety_t;


/*
 * Looks at the decoded text of every string of a document, be it a package, a
 * view of one, or a packet; JSON inside of a string is decoded too, to
 * RELAY_TEXT_LAYERS.  Texts are compared in the form that relay_text_words
 * gives them.  Linear in the document.
 *
 * out, where it is not NULL, gets the document less what S7k, S8k and S9k are:
 * hidden characters are taken out, an image or a blob becomes one space, and
 * none of the three is left in it.  Every string that nothing is cut from is
 * copied byte for byte.  note may be NULL.
 *
 * RELAY_OK; RELAY_ERROR: no memory, or out is too small; or what note returned.
 */
relay_int_t relay_quality_safety(const relay_json_tape_t *tape,
    const relay_str_t *doc, relay_quality_note_pt note, void *data,
    relay_buf_t *out, relay_quality_safety_t *result);

/* The same for a text that is no JSON. */
relay_int_t relay_quality_safety_text(const relay_str_t *text,
    relay_buf_t *out, relay_quality_safety_t *result);

/*
 * Appends the names of kinds in their order, a comma between two of them:
 * "ignore-rules", "change-role", "send-to-address", "call-tool",
 * "hide-from-user", "reveal-secrets", "image-parameters", "encoded-blob",
 * "hidden-characters".
 */
relay_int_t relay_quality_kinds(uint32_t kinds, relay_buf_t *out);


#endif /* _RELAY_QUALITY_H_INCLUDED_ */
