
/*
 * relay_schema_pattern: the regular expressions of "pattern" and
 * "patternProperties", by PCRE2.
 *
 * Theirs is the syntax of ECMA-262 with the "u" flag.  What PCRE2 understands
 * in another way is rewritten, or refused where it has no counterpart, so that
 * no pattern silently means something else.
 */

#define PCRE2_CODE_UNIT_WIDTH  8
#include <pcre2.h>

#include "relay_schema_rule.h"


#define RELAY_SCHEMA_PATTERN_MAX  4096      /* bytes, as it is written */

/* what white space is, for \s; \S is whatever it is not */

#define RELAY_SCHEMA_SPACE                                                    \
    "\\t\\n\\x0b\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}" \
    "\\x{202f}\\x{205f}\\x{3000}\\x{feff}"


typedef struct {
    const unsigned char  *p;
    const unsigned char  *last;
    relay_buf_t           out;
    const char           *why;
    unsigned              atom:1;       /* a quantifier may follow */
} relay_schema_translator_t;


static relay_int_t relay_schema_translate(relay_schema_translator_t *tr);
static relay_int_t relay_schema_translate_class(
    relay_schema_translator_t *tr);
static relay_int_t relay_schema_translate_escape(
    relay_schema_translator_t *tr, relay_uint_t in_class);
static relay_int_t relay_schema_translate_code(relay_schema_translator_t *tr);
static relay_int_t relay_schema_translate_property(
    relay_schema_translator_t *tr);
static relay_int_t relay_schema_translate_group(
    relay_schema_translator_t *tr);
static relay_int_t relay_schema_translate_count(
    relay_schema_translator_t *tr);
static unsigned relay_schema_digits(const unsigned char *p, size_t n);


relay_int_t
relay_schema_pattern_compile(relay_schema_pattern_t *pattern, relay_buf_t *err)
{
    int                        code;
    size_t                     at;
    uint32_t                   options;
    unsigned char              text[256];
    relay_schema_translator_t  tr;

    tr.p = pattern->text.data;
    tr.last = tr.p + pattern->text.len;
    tr.why = NULL;
    tr.atom = 0;

    if (pattern->text.len > RELAY_SCHEMA_PATTERN_MAX) {
        relay_buf_append_z(err, "the pattern is too long");
        return RELAY_DECLINED;
    }

    /* the largest that one byte becomes is the white space */

    relay_buf_init(&tr.out, RELAY_SCHEMA_PATTERN_MAX * 64 + 64);

    relay_buf_printf(&tr.out, "(*LIMIT_MATCH=%d)(*LIMIT_DEPTH=%d)"
                     "(*LIMIT_HEAP=%d)", RELAY_SCHEMA_TRIES,
                     RELAY_SCHEMA_TRIES, 16 * 1024);

    if (relay_schema_translate(&tr) != RELAY_OK) {
        relay_buf_free(&tr.out);
        relay_buf_append_z(err, tr.why);
        return RELAY_DECLINED;
    }

    if (tr.out.failed) {
        relay_buf_free(&tr.out);
        return RELAY_ERROR;
    }

    options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALLOW_EMPTY_CLASS
              | PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_BACKSLASH_C;

    pattern->code = pcre2_compile(tr.out.data, tr.out.len, options, &code, &at,
                                  NULL);

    relay_buf_free(&tr.out);

    if (pattern->code == NULL) {
        (void) pcre2_get_error_message(code, text, sizeof(text));
        relay_buf_printf(err, "not a pattern: %s", (char *) text);
        return RELAY_DECLINED;
    }

    return RELAY_OK;
}


void
relay_schema_pattern_free(relay_schema_pattern_t *pattern)
{
    pcre2_code_free(pattern->code);
}


relay_int_t
relay_schema_pattern_match(const relay_schema_pattern_t *pattern,
    const relay_str_t *text, void **match)
{
    int         rc;
    PCRE2_SPTR  p;

    if (*match == NULL) {
        *match = pcre2_match_data_create(1, NULL);

        if (*match == NULL) {
            return RELAY_ERROR;
        }
    }

    p = (text->len > 0) ? text->data : (PCRE2_SPTR) "";

    rc = pcre2_match(pattern->code, p, text->len, 0, PCRE2_NO_UTF_CHECK,
                     *match, NULL);

    if (rc >= 0) {
        return RELAY_OK;
    }

    switch (rc) {

    case PCRE2_ERROR_NOMATCH:
        return RELAY_DECLINED;

    case PCRE2_ERROR_NOMEMORY:
        return RELAY_ERROR;

    default:
        return RELAY_AGAIN;
    }
}


void
relay_schema_match_free(void *match)
{
    pcre2_match_data_free(match);
}


static relay_int_t
relay_schema_refuse(relay_schema_translator_t *tr, const char *why)
{
    tr->why = why;

    return RELAY_DECLINED;
}


static relay_int_t
relay_schema_translate(relay_schema_translator_t *tr)
{
    relay_int_t  rc;

    while (tr->p < tr->last) {

        rc = RELAY_OK;

        switch (*tr->p) {

        case '\\':
            rc = relay_schema_translate_escape(tr, 0);
            break;

        case '[':
            rc = relay_schema_translate_class(tr);
            break;

        case '(':
            rc = relay_schema_translate_group(tr);
            break;

        case '*':
        case '+':
        case '?':
        case '{':
            rc = relay_schema_translate_count(tr);
            break;

        case ']':
        case '}':
            rc = relay_schema_refuse(tr, "not a pattern: a bracket without "
                                     "another must be escaped");
            break;

        case '.':
            relay_buf_append_z(&tr->out, "[^\\n\\r\\x{2028}\\x{2029}]");
            tr->atom = 1;
            tr->p++;
            break;

        case '^':
        case '$':
        case '|':
            relay_buf_append_c(&tr->out, *tr->p++);
            tr->atom = 0;
            break;

        default:

            /* the lead byte of a sequence, or any other byte of it */

            relay_buf_append_c(&tr->out, *tr->p++);
            tr->atom = 1;
        }

        if (rc != RELAY_OK) {
            return rc;
        }
    }

    return RELAY_OK;
}


static relay_int_t
relay_schema_translate_class(relay_schema_translator_t *tr)
{
    relay_buf_append_c(&tr->out, *tr->p++);

    if (tr->p < tr->last && *tr->p == '^') {
        relay_buf_append_c(&tr->out, *tr->p++);
    }

    while (tr->p < tr->last) {

        switch (*tr->p) {

        case ']':
            relay_buf_append_c(&tr->out, *tr->p++);
            tr->atom = 1;
            return RELAY_OK;

        case '\\':
            if (relay_schema_translate_escape(tr, 1) != RELAY_OK) {
                return RELAY_DECLINED;
            }

            break;

        case '[':

            /* "[:alpha:]" is but four characters and two more there */

            relay_buf_append_z(&tr->out, "\\[");
            tr->p++;
            break;

        default:
            relay_buf_append_c(&tr->out, *tr->p++);
        }
    }

    return relay_schema_refuse(tr, "not a pattern: a class does not end");
}


static relay_int_t
relay_schema_translate_escape(relay_schema_translator_t *tr,
    relay_uint_t in_class)
{
    unsigned char  c;

    if (tr->last - tr->p < 2) {
        return relay_schema_refuse(tr, "not a pattern: it ends in a "
                                   "backslash");
    }

    c = tr->p[1];
    tr->atom = 1;

    switch (c) {

    case 's':
        tr->p += 2;
        relay_buf_append_z(&tr->out, in_class ? RELAY_SCHEMA_SPACE
                                              : "[" RELAY_SCHEMA_SPACE "]");
        return RELAY_OK;

    case 'S':
        if (in_class) {
            return relay_schema_refuse(tr, "\\S in a class is not supported");
        }

        tr->p += 2;
        relay_buf_append_z(&tr->out, "[^" RELAY_SCHEMA_SPACE "]");
        return RELAY_OK;

    case 'x':
    case 'u':
        return relay_schema_translate_code(tr);

    case 'p':
    case 'P':
        return relay_schema_translate_property(tr);

    case 'c':
        if (tr->last - tr->p < 3 || (tr->p[2] | 0x20) < 'a'
            || (tr->p[2] | 0x20) > 'z')
        {
            return relay_schema_refuse(tr, "not a pattern: a letter is needed "
                                       "after \\c");
        }

        relay_buf_printf(&tr->out, "\\x{%x}", tr->p[2] & 0x1f);
        tr->p += 3;
        return RELAY_OK;

    case '0':
        if (tr->last - tr->p > 2 && tr->p[2] >= '0' && tr->p[2] <= '9') {
            break;
        }

        tr->p += 2;
        relay_buf_append_z(&tr->out, "\\x{0}");
        return RELAY_OK;

    case '1': case '2': case '3': case '4': case '5':
    case '6': case '7': case '8': case '9':

        if (in_class
            || (tr->last - tr->p > 2 && tr->p[2] >= '0' && tr->p[2] <= '9'))
        {
            break;
        }

        tr->p += 2;
        relay_buf_printf(&tr->out, "\\g{%c}", c);
        return RELAY_OK;

    case 'k':
        if (in_class || tr->last - tr->p < 3 || tr->p[2] != '<') {
            break;
        }

        tr->p += 2;
        relay_buf_append_z(&tr->out, "\\k");
        return RELAY_OK;

    case 'v':
        tr->p += 2;
        relay_buf_append_z(&tr->out, "\\x0b");
        return RELAY_OK;

    case 'B':
        if (in_class) {
            break;
        }

        /* fall through */

    case 'b':
        tr->atom = in_class;

        /* fall through */

    case 'd': case 'D': case 'w': case 'W':
    case 'f': case 'n': case 'r': case 't':

    case '^': case '$': case '\\': case '.': case '*': case '+': case '?':
    case '(': case ')': case '[': case ']': case '{': case '}': case '|':
    case '/':

        relay_buf_append(&tr->out, tr->p, 2);
        tr->p += 2;
        return RELAY_OK;

    case '-':
        if (!in_class) {
            break;
        }

        relay_buf_append_z(&tr->out, "\\-");
        tr->p += 2;
        return RELAY_OK;
    }

    return relay_schema_refuse(tr, "not a pattern: no such escape sequence");
}


/* \xHH, \uHHHH, \u{H...}, and two \u that make a pair. */

static relay_int_t
relay_schema_translate_code(relay_schema_translator_t *tr)
{
    size_t                n;
    unsigned              c, low;
    const unsigned char  *p, *end;

    p = tr->p + 2;

    if (tr->p[1] == 'u' && p < tr->last && *p == '{') {

        for (end = ++p; end < tr->last && *end != '}'; end++) { /* void */ }

        n = end - p;
        c = (end < tr->last && n > 0 && n < 8) ? relay_schema_digits(p, n)
                                               : UINT32_MAX;
        end++;

    } else {
        n = (tr->p[1] == 'u') ? 4 : 2;
        c = ((size_t) (tr->last - p) >= n) ? relay_schema_digits(p, n)
                                           : UINT32_MAX;
        end = p + n;

        if (c >= 0xd800 && c <= 0xdbff && tr->last - end >= 6
            && end[0] == '\\' && end[1] == 'u')
        {
            low = relay_schema_digits(end + 2, 4);

            if (low >= 0xdc00 && low <= 0xdfff) {
                c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
                end += 6;
            }
        }
    }

    if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) {
        return relay_schema_refuse(tr, "not a pattern: no such character");
    }

    relay_buf_printf(&tr->out, "\\x{%x}", c);
    tr->p = end;

    return RELAY_OK;
}


/* UINT32_MAX: not n hexadecimal digits. */

static unsigned
relay_schema_digits(const unsigned char *p, size_t n)
{
    int       digit;
    unsigned  value;

    value = 0;

    for (/* void */; n > 0; n--) {
        digit = relay_schema_hex(*p++);

        if (digit < 0) {
            return UINT32_MAX;
        }

        value = value << 4 | (unsigned) digit;
    }

    return value;
}


/*
 * \p{...}: a general category by its short name or one of the common long ones,
 * or a script as "Script=" or "sc=".
 */

static relay_int_t
relay_schema_translate_property(relay_schema_translator_t *tr)
{
    size_t                i, len;
    const unsigned char  *name, *end;

    static const struct {
        relay_str_t  name;
        const char  *text;
    } words[] = {
        { relay_string("Letter"), "L" },
        { relay_string("Uppercase_Letter"), "Lu" },
        { relay_string("Lowercase_Letter"), "Ll" },
        { relay_string("Titlecase_Letter"), "Lt" },
        { relay_string("Modifier_Letter"), "Lm" },
        { relay_string("Other_Letter"), "Lo" },
        { relay_string("Mark"), "M" },
        { relay_string("Number"), "N" },
        { relay_string("Decimal_Number"), "Nd" },
        { relay_string("digit"), "Nd" },
        { relay_string("Punctuation"), "P" },
        { relay_string("punct"), "P" },
        { relay_string("Symbol"), "S" },
        { relay_string("Separator"), "Z" },
        { relay_string("Space_Separator"), "Zs" },
        { relay_string("Other"), "C" },
        { relay_string("Control"), "Cc" },
        { relay_string("cntrl"), "Cc" },
        { relay_string("Format"), "Cf" },
        { relay_null_string, NULL }
    };

    name = tr->p + 3;

    if (tr->last - tr->p < 4 || tr->p[2] != '{') {
        return relay_schema_refuse(tr, "not a pattern: a property is needed "
                                   "after \\p");
    }

    for (end = name; end < tr->last && *end != '}'; end++) { /* void */ }

    if (end == tr->last) {
        return relay_schema_refuse(tr, "not a pattern: a property does not "
                                   "end");
    }

    len = end - name;

    relay_buf_append(&tr->out, tr->p, 3);

    if (len > 7 && memcmp(name, "Script=", 7) == 0) {
        name += 7;
        len -= 7;

    } else if (len > 3 && memcmp(name, "sc=", 3) == 0) {
        name += 3;
        len -= 3;

    } else if (len > 2) {

        for (i = 0; words[i].text != NULL; i++) {
            if (words[i].name.len == len
                && memcmp(words[i].name.data, name, len) == 0)
            {
                break;
            }
        }

        if (words[i].text == NULL) {
            return relay_schema_refuse(tr, "a property of this name is not "
                                       "supported");
        }

        name = (const unsigned char *) words[i].text;
        len = strlen(words[i].text);
    }

    for (i = 0; i < len; i++) {

        if (!((name[i] | 0x20) >= 'a' && (name[i] | 0x20) <= 'z')
            && name[i] != '_')
        {
            return relay_schema_refuse(tr, "a property of this name is not "
                                       "supported");
        }
    }

    relay_buf_append(&tr->out, name, len);
    relay_buf_append_c(&tr->out, '}');

    tr->p = end + 1;

    return RELAY_OK;
}


static relay_int_t
relay_schema_translate_group(relay_schema_translator_t *tr)
{
    size_t  len, i;

    static const char  *kinds[] = { "?:", "?=", "?!", "?<=", "?<!", "?<" };

    tr->atom = 0;

    relay_buf_append_c(&tr->out, *tr->p++);

    if (tr->p == tr->last || *tr->p != '?') {
        return RELAY_OK;
    }

    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        len = strlen(kinds[i]);

        if ((size_t) (tr->last - tr->p) >= len
            && memcmp(tr->p, kinds[i], len) == 0)
        {
            relay_buf_append(&tr->out, tr->p, len);
            tr->p += len;

            return RELAY_OK;
        }
    }

    return relay_schema_refuse(tr, "not a pattern: no such group");
}


static relay_int_t
relay_schema_translate_count(relay_schema_translator_t *tr)
{
    const unsigned char  *p;

    if (!tr->atom) {
        return relay_schema_refuse(tr, "not a pattern: nothing to repeat");
    }

    p = tr->p;

    if (*p == '{') {

        for (p++; p < tr->last && *p >= '0' && *p <= '9'; p++) { /* void */ }

        if (p > tr->p + 1 && p < tr->last && *p == ',') {
            for (p++; p < tr->last && *p >= '0' && *p <= '9'; p++) {
                /* void */
            }
        }

        if (p == tr->p + 1 || p == tr->last || *p != '}') {
            return relay_schema_refuse(tr, "not a pattern: a count does not "
                                       "end");
        }
    }

    p++;

    /* lazy is known to both; "a*+" to PCRE2 alone, whence the atom */

    p += (p < tr->last && *p == '?');

    relay_buf_append(&tr->out, tr->p, p - tr->p);

    tr->p = p;
    tr->atom = 0;

    return RELAY_OK;
}
