
/*
 * relay_quality_markup: images whose address has parameters, tokens of chat
 * templates, encoded blobs.  A text is read forward, and no part of it twice
 * or, where noted, more than a bounded number of times.
 */

#include "relay_quality_look.h"


/* how long an encoded blob is at least */

#define RELAY_SAFETY_BASE64     80
#define RELAY_SAFETY_HEX        64
#define RELAY_SAFETY_PERCENT    10
#define RELAY_SAFETY_SEGMENT    24      /* between two of "/", "-", "_", "+" */
#define RELAY_SAFETY_LINE       60      /* of a blob that is broken in lines */
#define RELAY_SAFETY_MEDIA      128     /* bytes before the "," of data: */


static const char *const  relay_safety_turns[] = {
    "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "<start_of_turn>",
    "<end_of_turn>", NULL
};


/* bytes that mean something in Markdown or HTML */

static const unsigned char  relay_safety_marks[256] = {
    ['\\'] = 1, ['\n'] = 1, ['!'] = 1, ['['] = 1, [']'] = 1, ['<'] = 1,
    ['`'] = 1
};

/* what may stand in a line before a definition: quotations, items of lists */

static const unsigned char  relay_safety_before[256] = {
    [' '] = 1, ['\t'] = 1, ['\v'] = 1, ['\f'] = 1, ['>'] = 1, ['-'] = 1,
    ['+'] = 1, ['*'] = 1, ['.'] = 1, [')'] = 1, ['0' ... '9'] = 1
};

/* what a blob is made of */

static const unsigned char  relay_safety_base64[256] = {
    ['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['a' ... 'z'] = 1,
    ['+'] = 1, ['/'] = 1, ['-'] = 1, ['_'] = 1
};


/*
 * Where the parameters of an address start, also behind a character reference;
 * last: it has none.
 */

static const unsigned char *
relay_safety_query(const unsigned char *p, const unsigned char *last)
{
    for ( /* void */ ; p < last; p++) {

        if (*p == '?') {
            break;
        }

        if (*p == '&' && (relay_safety_starts(p, last, "&#")
                          || relay_safety_starts(p, last, "&quest")))
        {
            break;
        }
    }

    return p;
}


/*
 * The end of the address of a Markdown link that starts after "](", or NULL.
 * It ends before another "](", so that no byte is looked at twice.
 */

static const unsigned char *
relay_safety_target(const unsigned char *p, const unsigned char *last,
    const unsigned char **start)
{
    size_t  depth;

    while (p < last && relay_safety_is_space(*p)) {
        p++;
    }

    if (p < last && *p == '<') {
        *start = ++p;

        for ( /* void */ ; p < last && *p != '>' && *p != '<' && *p != '\n';
             p++)
        {
            if (*p == '\\' && p + 1 < last && p[1] != '\n') {
                p++;
            }
        }

        return (p < last && *p == '>') ? p : NULL;
    }

    *start = p;
    depth = 0;

    for ( /* void */ ; p < last && !relay_safety_is_space(*p); p++) {

        if (*p == '\\' && p + 1 < last && !relay_safety_is_space(p[1])) {
            p++;

        } else if (*p == '(') {
            depth++;

        } else if (*p == ')' && depth-- == 0) {
            return p;

        } else if (*p == ']' && p + 1 < last && p[1] == '(') {
            return NULL;
        }
    }

    return p < last ? p : NULL;
}


/* Just after the ")" of a link whose address ends at p, if it is not far. */

static const unsigned char *
relay_safety_close(const unsigned char *p, const unsigned char *last)
{
    const unsigned char  *q;

    if (last - p > 256) {
        last = p + 256;
    }

    q = memchr(p, ')', last - p);

    return q ? q + 1 : p;
}


/*
 * An HTML tag: its end, and whether an attribute src (or srcset) has an address
 * with parameters.  NULL: the tag does not end.
 */

static const unsigned char *
relay_safety_tag(const unsigned char *p, const unsigned char *last,
    unsigned quotes, unsigned *query)
{
    unsigned              src;
    const unsigned char  *end;

    *query = 0;

    while (p < last) {

        if (*p == '>') {
            return p + 1;
        }

        if (relay_safety_is_space(*p) || *p == '/' || *p == '=') {
            p++;
            continue;
        }

        src = relay_safety_starts_any(p, last, "src");

        while (p < last && !relay_safety_is_space(*p) && *p != '=' && *p != '>')
        {
            p++;
        }

        while (p < last && relay_safety_is_space(*p)) {
            p++;
        }

        if (p == last || *p != '=') {
            continue;
        }

        do {
            p++;
        } while (p < last && relay_safety_is_space(*p));

        end = NULL;

        if (p < last && quotes && (*p == '"' || *p == '\'')) {
            end = memchr(p + 1, *p, last - p - 1);
        }

        if (end == NULL) {
            end = p;

            while (end < last && !relay_safety_is_space(*end) && *end != '>') {
                end++;
            }
        }

        if (src && relay_safety_query(p, end) != end) {
            *query = 1;
        }

        p = end;

        if (p < last && *p != '>') {
            p++;
        }
    }

    return NULL;
}


/* S2k: a token of a chat template at p, its end, or NULL. */

static const unsigned char *
relay_safety_turn(const unsigned char *p, const unsigned char *last)
{
    size_t                i;
    const unsigned char  *q;

    for (i = 0; relay_safety_turns[i] != NULL; i++) {
        if (relay_safety_starts(p, last, relay_safety_turns[i])) {
            return p + strlen(relay_safety_turns[i]);
        }
    }

    /* <|name|>, also with a full-width bar */

    if (relay_safety_starts(p, last, "<|")) {
        q = p + 2;

    } else if (relay_safety_starts(p, last, "<\xef\xbd\x9c")) {
        q = p + 4;

    } else {
        return NULL;
    }

    for (i = 0; q < last && i < 48; q++, i++) {

        if (*q == '|' || *q == 0xef) {
            break;
        }

        if (!relay_safety_is_alnum(*q) && *q != '_' && *q < 0x80) {
            return NULL;
        }
    }

    if (i >= 2 && (relay_safety_starts(q, last, "|>")
                   || relay_safety_starts(q, last, "\xef\xbd\x9c>")))
    {
        return q;
    }

    return NULL;
}


/*
 * The end of a label that starts after "[", just after "]:", or NULL.  It may
 * go over lines; another "[" ends it, so that no byte is looked at twice.
 */

static const unsigned char *
relay_safety_label(const unsigned char *p, const unsigned char *last)
{
    for ( /* void */ ; p < last && *p != '[' && *p != ']'; p++) {

        if (*p == '\\' && p + 1 < last) {
            p++;
        }
    }

    return (last - p >= 2 && *p == ']' && p[1] == ':') ? p + 2 : NULL;
}


/*
 * S7k of reference style: the address stands in a line of its own, or in the
 * next one.  In JSON a string starts and ends a line as well.
 */

static void
relay_safety_definitions(relay_safety_ctx_t *ctx,
    const relay_safety_layer_t *layer)
{
    const unsigned char  *p, *q, *end, *line, *query, *last, *start;

    start = layer->text.data;
    last = start + layer->text.len;

    line = start;
    query = start;

    for (p = start; p < last; p = end + 1) {

        for (q = p; q < last && relay_safety_before[*q]; q++) { /* void */ }

        end = q;

        if (q < last && *q == '[') {
            q = relay_safety_label(q + 1, last);

        } else {
            q = NULL;
        }

        if (q != NULL) {

            while (q < last && (relay_safety_is_space(*q) || *q == '>')) {
                q++;
            }

            end = q;
        }

        while (end < last && *end != '\n' && *end != '\r'
               && (*end != '"' || !layer->nested))
        {
            end++;
        }

        if (q == NULL) {
            continue;
        }

        /* both go forward only, however many addresses a line has */

        if (line < q) {
            for (line = q; line < last && *line != '\n' && *line != '\r';
                 line++)
            {
                /* void */
            }
        }

        if (query < q) {
            query = relay_safety_query(q, last);
        }

        if (query < line) {
            relay_safety_found(ctx, layer, RELAY_SAFETY_IMAGE, p - start);
            relay_safety_cut(ctx, layer, p - start, end - start, 1);
        }
    }
}


/* S7k, and tokens of S2k. */

void
relay_safety_markup(relay_safety_ctx_t *ctx, const relay_safety_layer_t *layer)
{
    size_t                depth;
    unsigned              quotes, query, reference, tags, verbatim;
    const unsigned char  *p, *q, *bang, *last, *start, *url;

    start = layer->text.data;
    last = start + layer->text.len;

    bang = start;
    depth = 0;
    quotes = 1;
    reference = 0;
    tags = 1;
    verbatim = 0;

    for (p = start; p < last; p++) {

        if (!relay_safety_marks[*p]) {
            continue;
        }

        switch (*p) {

        case '\\':

            if (p + 1 < last && p[1] > ' ' && !relay_safety_is_alnum(p[1])) {
                p++;
            }

            break;

        case '\n':

            /* no image goes beyond its paragraph */

            if (p + 1 < last && (p[1] == '\n' || p[1] == '\r')) {
                reference |= (depth != 0);
                depth = 0;
            }

            break;

        case '!':

            if (p + 1 < last && p[1] == '[') {

                if (depth++ == 0) {
                    bang = p;
                    verbatim = 0;
                }

                p++;
            }

            break;

        case '[':

            if (depth != 0) {
                depth++;
            }

            if (relay_safety_turn(p, last)) {
                relay_safety_found(ctx, layer, RELAY_SAFETY_ROLE, p - start);
            }

            break;

        case ']':

            if (depth == 0) {
                break;
            }

            if (p + 1 == last || p[1] != '(') {
                reference = 1;

                /* of code or of a tag inside, it does not end the image */

                if (depth != 1 || !verbatim) {
                    depth--;
                }

                break;
            }

            q = relay_safety_target(p + 2, last, &url);

            if (q == NULL) {
                break;
            }

            if (relay_safety_query(url, q) != q) {
                q = relay_safety_close(q, last);

                relay_safety_found(ctx, layer, RELAY_SAFETY_IMAGE,
                                   bang - start);
                relay_safety_cut(ctx, layer, bang - start, q - start, 1);

                depth = 1;
            }

            depth--;
            p = q - 1;

            break;

        case '`':

            verbatim = 1;
            break;

        case '<':

            verbatim = 1;

            if (relay_safety_turn(p, last)) {
                relay_safety_found(ctx, layer, RELAY_SAFETY_ROLE, p - start);
                break;
            }

            if (!tags || !relay_safety_starts_any(p + 1, last, "img")
                || p + 4 == last
                || (!relay_safety_is_space(p[4]) && p[4] != '/'))
            {
                break;
            }

            q = relay_safety_tag(p + 4, last, quotes, &query);

            if (q == NULL && quotes) {

                /* a quote that is never closed hides no further tag */

                quotes = 0;
                q = relay_safety_tag(p + 4, last, quotes, &query);
            }

            if (q == NULL) {
                tags = 0;
                break;
            }

            if (query) {
                relay_safety_found(ctx, layer, RELAY_SAFETY_IMAGE, p - start);
                relay_safety_cut(ctx, layer, p - start, q - start, 1);
            }

            p = q - 1;

            break;
        }
    }

    if (reference || depth != 0) {
        relay_safety_definitions(ctx, layer);
    }
}


static unsigned
relay_safety_is_hex(unsigned c)
{
    return c - '0' < 10 || (c | 0x20) - 'a' < 6;
}


/* With the stroke before it, where it starts inside of an escape of JSON. */

static void
relay_safety_blob(relay_safety_ctx_t *ctx, const relay_safety_layer_t *layer,
    const unsigned char *from, const unsigned char *to)
{
    size_t                n;
    const unsigned char  *p;

    p = from;

    for (n = 0; p > layer->text.data && p[-1] == '\\'; n++) {
        p--;
    }

    from -= n & 1;

    relay_safety_found(ctx, layer, RELAY_SAFETY_BLOB,
                       from - layer->text.data);
    relay_safety_cut(ctx, layer, from - layer->text.data,
                     to - layer->text.data, 1);
}


/*
 * The run of base64 and hexadecimal characters at p: its end.  It goes on in
 * the next line after a long one.
 */

static const unsigned char *
relay_safety_run(relay_safety_ctx_t *ctx, const relay_safety_layer_t *layer,
    const unsigned char *p, const unsigned char *last)
{
    size_t                n, hex, hex_max, segment, segment_max, in_line;
    unsigned              c, kinds;
    const unsigned char  *start, *q;

    start = p;
    n = 0;
    hex = 0;
    hex_max = 0;
    segment = 0;
    segment_max = 0;
    in_line = 0;
    kinds = 0;

    for ( /* void */ ; p < last; p++) {
        c = *p;

        if (c == '+' || c == '/' || c == '-' || c == '_') {
            segment = 0;
            hex = 0;

        } else if (relay_safety_is_alnum(c)) {
            segment++;
            hex = relay_safety_is_hex(c) ? hex + 1 : 0;
            kinds |= (c <= '9') ? 1 : (c <= 'Z') ? 2 : 4;

        } else if ((c == '\r' || c == '\n') && in_line >= RELAY_SAFETY_LINE) {

            for (q = p; q < last && (*q == '\r' || *q == '\n'); q++) {
                /* void */
            }

            if (q == last || q - p > 2 || !relay_safety_is_alnum(*q)) {
                break;
            }

            in_line = 0;
            p = q - 1;

            continue;

        } else {
            break;
        }

        n++;
        in_line++;

        if (segment > segment_max) {
            segment_max = segment;
        }

        if (hex > hex_max) {
            hex_max = hex;
        }
    }

    while (p < last && *p == '=') {
        p++;
    }

    /* a run with many strokes is a path or a slug */

    if (hex_max >= RELAY_SAFETY_HEX
        || (n >= RELAY_SAFETY_BASE64 && kinds == 7
            && segment_max >= RELAY_SAFETY_SEGMENT))
    {
        relay_safety_blob(ctx, layer, start, p);
    }

    return p;
}


/* The end of a data: URI whose ":" is before p, or NULL. */

static const unsigned char *
relay_safety_data(const unsigned char *p, const unsigned char *last)
{
    size_t                n;
    unsigned              media;
    const unsigned char  *start;

    start = p;
    media = 0;

    for (n = 0; p < last && n < RELAY_SAFETY_MEDIA && *p != ','; p++, n++) {

        if (*p == '/' || *p == ';') {
            media = 1;

        } else if (!relay_safety_is_alnum(*p)
                   && memchr("+.=_-\"", *p, 6) == NULL)
        {
            return NULL;
        }
    }

    if (p == last || *p != ',' || (p != start && !media)) {
        return NULL;
    }

    while (p < last && !relay_safety_is_space(*p)
           && *p != '"' && *p != '\'' && *p != '<' && *p != '>' && *p != ')'
           && *p != '\\')
    {
        p++;
    }

    return p;
}


/* S8k */

void
relay_safety_blobs(relay_safety_ctx_t *ctx, const relay_safety_layer_t *layer)
{
    size_t                n;
    const unsigned char  *p, *q, *last, *start;

    start = layer->text.data;
    last = start + layer->text.len;

    for (p = start; p < last; /* void */) {

        if (relay_safety_base64[*p]) {
            q = p;

            do {
                q++;
            } while (q < last && relay_safety_base64[*q]);

            p = (q - p < RELAY_SAFETY_LINE)
                ? q : relay_safety_run(ctx, layer, p, last);
            continue;
        }

        if (*p == '%') {

            q = p;

            for (n = 0; last - q >= 3 && *q == '%'
                        && relay_safety_is_hex(q[1])
                        && relay_safety_is_hex(q[2]); n++)
            {
                q += 3;
            }

            if (n >= RELAY_SAFETY_PERCENT) {
                relay_safety_blob(ctx, layer, p, q);
            }

            p = n ? q : p + 1;
            continue;
        }

        if (*p == ':' && p - start >= 4
            && relay_safety_starts_any(p - 4, p, "data")
            && (p - start == 4 || !relay_safety_is_alnum(p[-5])))
        {
            q = relay_safety_data(p + 1, last);

            if (q != NULL) {
                relay_safety_blob(ctx, layer, p - 4, q);
                p = q;
                continue;
            }
        }

        p++;
    }
}
