
/*
 * relay_quality_safety() and relay_text: what is stripped of a document leaves
 * a document of the same shape, has none of what was to be taken out, and is
 * what stripping it again gives; words and hidden characters lie in their text
 * and in order.
 *
 * An input is a JSON text or, where it is none, the text of one string.
 */

#include "fuzz.h"
#include "relay_json.h"
#include "relay_quality.h"
#include "relay_text.h"


/* of words: what a fold is longer than its text at most, many times over */

#define FUZZ_TEXT_ROOM  (64 * 1024 * 1024)


static relay_json_tape_t  tape, out_tape;


FUZZ_JSON_MUTATOR


static void
words(const relay_str_t *text)
{
    size_t              i, off, at, n;
    relay_buf_t         once, twice;
    relay_str_t         s;
    relay_text_words_t  w;

    off = 0;
    at = 0;
    n = 0;

    relay_text_words_init(&w, text);

    while (relay_text_words_next(&w)) {
        fuzz_assert(w.off >= off && w.off < w.end && w.end <= text->len);
        fuzz_assert(w.at >= at && w.at < w.at_end);
        fuzz_assert(w.len != 0 && w.len <= RELAY_TEXT_WORD_MAX);

        off = w.off;
        at = w.at_end;
        n++;
    }

    fuzz_assert(!relay_text_words_next(&w));

    /* folding what is folded changes nothing */

    relay_buf_init(&once, FUZZ_TEXT_ROOM);
    relay_buf_init(&twice, FUZZ_TEXT_ROOM);

    fuzz_assert(relay_text_normalize(text, &once) == RELAY_OK);
    fuzz_assert((once.len == 0) == (n == 0));

    for (i = 0; i < once.len; i++) {
        fuzz_assert(once.data[i] < 'A' || once.data[i] > 'Z');
        n -= (once.data[i] == ' ');
    }

    fuzz_assert(once.len == 0 || n == 1);

    relay_buf_str(&once, &s);

    fuzz_assert(relay_text_normalize(&s, &twice) == RELAY_OK);
    fuzz_assert(twice.len == once.len
                && (once.len == 0
                    || memcmp(once.data, twice.data, once.len) == 0));

    relay_buf_free(&once);
    relay_buf_free(&twice);
}


static void
hidden(const relay_str_t *text)
{
    size_t               off;
    relay_text_hidden_t  h;

    off = 0;

    relay_text_hidden_init(&h, text);

    while (relay_text_hidden_next(&h)) {
        fuzz_assert(h.off >= off && h.len != 0
                    && h.off + h.len <= text->len);
        fuzz_assert(h.class != RELAY_TEXT_VISIBLE);
        fuzz_assert(relay_text_hidden_class(h.cp) == h.class);

        off = h.off + h.len;
    }
}


static void
shared(const relay_str_t *text)
{
    size_t                 off, len, n;
    relay_str_t            half;
    relay_text_shingles_t  s;

    fuzz_assert(relay_text_shingles_init(&s, text, 3) == RELAY_OK);

    half.len = text->len - text->len / 2;
    half.data = text->data + text->len / 2;

    n = relay_text_shingles_shared(&s, &half, &off, &len);

    fuzz_assert(n == 0 || (n >= 3 && off + len <= half.len));

    n = relay_text_shingles_shared(&s, text, &off, &len);

    fuzz_assert(s.words_n < 3 ? n == 0 : n == s.words_n);

    relay_text_shingles_free(&s);
}


/* The number of notes is no matter; where they are is. */

static relay_int_t
note(void *data, const relay_quality_note_t *n)
{
    size_t  *count = data;

    fuzz_assert(n->node < tape.n);
    fuzz_assert(tape.nodes[n->node].type == RELAY_JSON_STRING);
    fuzz_assert(n->off <= tape.nodes[n->node].len);
    fuzz_assert(n->text.len != 0);

    (*count)++;

    return RELAY_OK;
}


/* Names, numbers and texts without a find are the same bytes. */

static void
shape(const relay_str_t *doc, const relay_str_t *out)
{
    size_t                    i;
    const relay_json_node_t  *a, *b;

    fuzz_assert(out_tape.n == tape.n);

    for (i = 0; i < tape.n; i++) {
        a = &tape.nodes[i];
        b = &out_tape.nodes[i];

        fuzz_assert(a->type == b->type && a->count == b->count);

        if (a->type == RELAY_JSON_ARRAY || a->type == RELAY_JSON_OBJECT
            || a->type == RELAY_JSON_STRING)
        {
            continue;
        }

        fuzz_assert(a->len == b->len
                    && memcmp(doc->data + a->off, out->data + b->off, a->len)
                       == 0);
    }
}


static void
strip(const relay_str_t *doc)
{
    size_t                  notes;
    relay_buf_t             out, again;
    relay_str_t             s;
    relay_json_error_t      err;
    relay_quality_safety_t  found, stripped, left;

    notes = 0;

    relay_buf_init(&out, 2 * RELAY_DOCUMENT_MAX);
    relay_buf_init(&again, 2 * RELAY_DOCUMENT_MAX);

    fuzz_assert(relay_quality_safety(&tape, doc, note, &notes, NULL, &found)
                == RELAY_OK);
    fuzz_assert((notes == 0) == (found.kinds == 0));
    fuzz_assert(found.cut == 0);

    fuzz_assert(relay_quality_safety(&tape, doc, NULL, NULL, &out, &stripped)
                == RELAY_OK);
    fuzz_assert(stripped.kinds == found.kinds);

    relay_buf_str(&out, &s);

    fuzz_assert(relay_json_parse(&out_tape, &s, &relay_json_default_limits,
                                 &err)
                == RELAY_OK);

    shape(doc, &s);

    if ((found.kinds & RELAY_SAFETY_BLOCKED) == 0) {
        fuzz_assert(stripped.cut == 0);
        fuzz_assert(out.len == doc->len
                    && memcmp(out.data, doc->data, out.len) == 0);

    } else {
        fuzz_assert(stripped.cut != 0);
    }

    fuzz_assert(relay_quality_safety(&out_tape, &s, NULL, NULL, &again, &left)
                == RELAY_OK);
    fuzz_assert((left.kinds & RELAY_SAFETY_BLOCKED) == 0);
    fuzz_assert(again.len == out.len
                && memcmp(again.data, out.data, out.len) == 0);

    relay_buf_free(&out);
    relay_buf_free(&again);
}


static void
bare(const relay_str_t *text)
{
    relay_buf_t             out;
    relay_str_t             s;
    relay_quality_safety_t  found, left;

    relay_buf_init(&out, 2 * RELAY_DOCUMENT_MAX);

    fuzz_assert(relay_quality_safety_text(text, &out, &found) == RELAY_OK);
    fuzz_assert(out.len <= text->len + 1);

    relay_buf_str(&out, &s);

    fuzz_assert(relay_quality_safety_text(&s, NULL, &left) == RELAY_OK);
    fuzz_assert((left.kinds & RELAY_SAFETY_BLOCKED) == 0);

    relay_buf_free(&out);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_in_t           in;
    relay_buf_t         buf;
    relay_str_t         text, doc;
    relay_json_error_t  err;

    fuzz_in_init(&in, data, size);
    text = fuzz_rest(&in);
    doc = text;

    relay_buf_init(&buf, RELAY_DOCUMENT_MAX);

    words(&text);
    hidden(&text);
    shared(&text);
    bare(&text);

    if (relay_json_parse(&tape, &doc, &relay_json_default_limits, &err)
        != RELAY_OK)
    {
        relay_buf_append_json(&buf, &text);
        relay_buf_str(&buf, &doc);

        if (relay_json_parse(&tape, &doc, &relay_json_default_limits, &err)
            != RELAY_OK)
        {
            doc.len = 0;
        }
    }

    if (doc.len != 0) {
        strip(&doc);
    }

    relay_buf_free(&buf);
    fuzz_in_free(&in);

    return 0;
}
