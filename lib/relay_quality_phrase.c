
/*
 * relay_quality_phrase: six kinds of phrases, by the distance between words.
 * For each kind of word the last place is kept, which is the nearest: one pass
 * over the words decides all phrases.
 */

#include "relay_quality_look.h"


#define RELAY_SAFETY_LOCAL      64      /* bytes before an "@" (RFC 5321) */

/* folded characters between the words of a phrase */

#define RELAY_SAFETY_NEAR       40
#define RELAY_SAFETY_SECRETS    60
#define RELAY_SAFETY_ADDRESS    80
#define RELAY_SAFETY_NOT        20

/* what a word is in a phrase */

#define RELAY_WORD_IGNORE       0x0001
#define RELAY_WORD_WHOSE        0x0002
#define RELAY_WORD_RULES        0x0004
#define RELAY_WORD_SEND         0x0008
#define RELAY_WORD_CALL         0x0010
#define RELAY_WORD_TOOL         0x0020
#define RELAY_WORD_NOT          0x0040
#define RELAY_WORD_TELL         0x0080
#define RELAY_WORD_USER         0x0100
#define RELAY_WORD_READER       0x0200
#define RELAY_WORD_REVEAL       0x0400
#define RELAY_WORD_SECRET       0x0800
#define RELAY_WORD_SPEAKER      0x1000
#define RELAY_WORD_DO           0x2000
#define RELAY_WORD_SYSTEM       0x4000
#define RELAY_WORD_RELAY        0x8000
#define RELAY_WORD_ROLE         0x10000


typedef struct {
    const char           *word;
    unsigned              class;
} relay_safety_word_t;


/* A place in the text, in folded characters; end 0: not seen yet. */

typedef struct {
    size_t                start;
    size_t                end;
    size_t                off;
} relay_safety_seen_t;


/* what an address has: "@", "://", "www." */

static const unsigned char  relay_safety_signs[256] = {
    ['@'] = 1, [':'] = 1, ['w'] = 1, ['W'] = 1
};

/* in order of the first letter */

static const relay_safety_word_t  relay_safety_words[] = {
    { "above", RELAY_WORD_WHOSE },
    { "act", RELAY_WORD_ROLE },
    { "all", RELAY_WORD_WHOSE },
    { "any", RELAY_WORD_WHOSE },
    { "api", RELAY_WORD_TOOL },
    { "apis", RELAY_WORD_TOOL },
    { "are", RELAY_WORD_ROLE },
    { "as", RELAY_WORD_ROLE },
    { "assistant", RELAY_WORD_SPEAKER },
    { "be", RELAY_WORD_ROLE },
    { "bypass", RELAY_WORD_IGNORE },
    { "call", RELAY_WORD_CALL },
    { "command", RELAY_WORD_TOOL },
    { "commands", RELAY_WORD_TOOL },
    { "connector", RELAY_WORD_TOOL },
    { "connectors", RELAY_WORD_TOOL },
    { "credential", RELAY_WORD_SECRET },
    { "credentials", RELAY_WORD_SECRET },
    { "developer", RELAY_WORD_SPEAKER },
    { "disclose", RELAY_WORD_REVEAL },
    { "disregard", RELAY_WORD_IGNORE },
    { "do", RELAY_WORD_DO },
    { "dont", RELAY_WORD_NOT },
    { "email", RELAY_WORD_SEND },
    { "execute", RELAY_WORD_CALL },
    { "forget", RELAY_WORD_IGNORE },
    { "forward", RELAY_WORD_SEND },
    { "from", RELAY_WORD_ROLE },
    { "function", RELAY_WORD_TOOL },
    { "functions", RELAY_WORD_TOOL },
    { "ignore", RELAY_WORD_IGNORE },
    { "inform", RELAY_WORD_TELL },
    { "informing", RELAY_WORD_TELL },
    { "instruction", RELAY_WORD_RULES|RELAY_WORD_SECRET },
    { "instructions", RELAY_WORD_RULES|RELAY_WORD_SECRET },
    { "invoke", RELAY_WORD_CALL },
    { "key", RELAY_WORD_SECRET },
    { "keys", RELAY_WORD_SECRET },
    { "mandate", RELAY_WORD_RULES },
    { "mandates", RELAY_WORD_RULES },
    { "mcp", RELAY_WORD_TOOL },
    { "mention", RELAY_WORD_TELL },
    { "mentioning", RELAY_WORD_TELL },
    { "never", RELAY_WORD_NOT },
    { "now", RELAY_WORD_ROLE },
    { "on", RELAY_WORD_ROLE },
    { "output", RELAY_WORD_REVEAL },
    { "override", RELAY_WORD_IGNORE },
    { "password", RELAY_WORD_SECRET },
    { "passwords", RELAY_WORD_SECRET },
    { "post", RELAY_WORD_SEND },
    { "pretend", RELAY_WORD_ROLE },
    { "previous", RELAY_WORD_WHOSE },
    { "print", RELAY_WORD_REVEAL },
    { "prior", RELAY_WORD_WHOSE },
    { "prompt", RELAY_WORD_RULES },
    { "prompts", RELAY_WORD_RULES },
    { "reader", RELAY_WORD_READER },
    { "readers", RELAY_WORD_READER },
    { "recipient", RELAY_WORD_READER },
    { "recipients", RELAY_WORD_READER },
    { "relay", RELAY_WORD_RELAY },
    { "repeat", RELAY_WORD_REVEAL },
    { "reveal", RELAY_WORD_REVEAL },
    { "rule", RELAY_WORD_RULES },
    { "rules", RELAY_WORD_RULES },
    { "run", RELAY_WORD_CALL },
    { "secret", RELAY_WORD_SECRET },
    { "secrets", RELAY_WORD_SECRET },
    { "send", RELAY_WORD_SEND },
    { "show", RELAY_WORD_TELL },
    { "showing", RELAY_WORD_TELL },
    { "submit", RELAY_WORD_SEND },
    { "system", RELAY_WORD_SPEAKER|RELAY_WORD_SYSTEM },
    { "tell", RELAY_WORD_TELL },
    { "telling", RELAY_WORD_TELL },
    { "to", RELAY_WORD_ROLE },
    { "token", RELAY_WORD_SECRET },
    { "tokens", RELAY_WORD_SECRET },
    { "tool", RELAY_WORD_TOOL },
    { "tools", RELAY_WORD_TOOL },
    { "upload", RELAY_WORD_SEND },
    { "use", RELAY_WORD_CALL },
    { "user", RELAY_WORD_USER },
    { "users", RELAY_WORD_USER },
    { "without", RELAY_WORD_NOT },
    { "you", RELAY_WORD_ROLE },
    { "your", RELAY_WORD_WHOSE }
};

#define RELAY_SAFETY_WORDS                                                    \
    (sizeof(relay_safety_words) / sizeof(relay_safety_words[0]))

/* phrases of which every word counts */

static const char *const  relay_safety_roles[][5] = {
    { "you", "are", "now", NULL },
    { "act", "as", NULL },
    { "pretend", "to", "be", NULL },
    { "from", "now", "on", "you", NULL }
};

#define RELAY_SAFETY_ROLES                                                    \
    (sizeof(relay_safety_roles) / sizeof(relay_safety_roles[0]))


unsigned
relay_safety_address(const relay_str_t *text, size_t off, relay_str_t *address)
{
    size_t                dots;
    const unsigned char  *p, *q, *last, *start;

    start = text->data + off;
    last = text->data + text->len;

    for (p = start; p < last; p++) {

        if (!relay_safety_signs[*p]) {
            continue;
        }

        if (*p == '@') {
            q = p;

            while (q > start && p - q < RELAY_SAFETY_LOCAL
                   && (relay_safety_is_alnum(q[-1])
                       || memchr("._%+-", q[-1], 5) != NULL))
            {
                q--;
            }

            if (q == p) {
                continue;
            }

            address->data = (unsigned char *) q;
            dots = 0;

            for (q = p + 1; q < last; q++) {

                if (*q == '.' && q + 1 < last && relay_safety_is_alnum(q[1])) {
                    dots++;

                } else if (!relay_safety_is_alnum(*q) && *q != '-'
                           && *q < 0x80)
                {
                    break;
                }
            }

            if (dots != 0) {
                address->len = (size_t) (q - address->data);
                return 1;
            }

            p = q - 1;
            continue;
        }

        if (*p == ':' && last - p > 3 && p[1] == '/' && p[2] == '/') {
            q = p;

            while (q > start && p - q < 16 && relay_safety_is_alnum(q[-1])) {
                q--;
            }

            if (q == p) {
                continue;
            }

        } else if ((*p == 'w' || *p == 'W')
                   && relay_safety_starts_any(p, last, "www")
                   && last - p > 4 && p[3] == '.'
                   && (p == start || !relay_safety_is_alnum(p[-1])))
        {
            q = p;

        } else {
            continue;
        }

        address->data = (unsigned char *) q;

        while (p < last && !relay_safety_is_space(*p)
               && memchr("\"<>()[]{}`", *p, 10) == NULL)
        {
            p++;
        }

        while (p > q && memchr(".,;:!?'", p[-1], 7) != NULL) {
            p--;
        }

        address->len = (size_t) (p - q);

        return 1;
    }

    return 0;
}


static unsigned
relay_safety_own(const relay_safety_ctx_t *ctx, const relay_str_t *address)
{
    size_t                i, j;
    const relay_str_t    *own;

    for (i = 0; i < ctx->nexempt; i++) {
        own = &ctx->exempt[i];

        if (own->len != address->len) {
            continue;
        }

        for (j = 0; j < own->len; j++) {

            if (own->data[j] != address->data[j]
                && ((own->data[j] ^ address->data[j]) != 0x20
                    || !relay_safety_is_letter(own->data[j])))
            {
                break;
            }
        }

        if (j == own->len) {
            return 1;
        }
    }

    return 0;
}


/* Whether a word that starts a line is the name of who speaks: "System:". */

static unsigned
relay_safety_speaker(const relay_str_t *text, const relay_text_words_t *w)
{
    size_t                n;
    const unsigned char  *p, *last;

    p = text->data + w->off;

    for (n = 0; p > text->data && n < 16; n++) {
        p--;

        if (*p == '\n' || *p == '\r') {
            break;
        }

        if (*p != ' ' && *p != '\t' && *p != '>' && *p != '#' && *p != '*') {
            return 0;
        }
    }

    if (n == 16) {
        return 0;
    }

    p = text->data + w->end;
    last = text->data + text->len;

    while (p < last && (*p == ' ' || *p == '*')) {
        p++;
    }

    return relay_safety_starts(p, last, ":")
           || relay_safety_starts(p, last, "\xef\xbc\x9a");
}


static unsigned
relay_safety_class(const relay_text_words_t *w, const unsigned char *first)
{
    size_t                      i;
    unsigned                    c;
    const relay_safety_word_t  *word;

    c = w->word[0] - 'a';

    if (c >= 26 || w->len > 12) {
        return 0;
    }

    for (i = first[c]; i < RELAY_SAFETY_WORDS; i++) {
        word = &relay_safety_words[i];

        if (word->word[0] != w->word[0]) {
            break;
        }

        if (strncmp(word->word, (const char *) w->word, w->len) == 0
            && word->word[w->len] == '\0')
        {
            return word->class;
        }
    }

    return 0;
}


static void
relay_safety_see(relay_safety_seen_t *seen, const relay_text_words_t *w)
{
    seen->start = w->at;
    seen->end = w->at_end;
    seen->off = w->off;
}


/* Whether it was seen at most n characters before the word. */

static unsigned
relay_safety_near(const relay_safety_seen_t *seen, const relay_text_words_t *w,
    size_t n)
{
    return seen->end != 0 && w->at - seen->end <= n;
}


void
relay_safety_phrases_init(relay_safety_ctx_t *ctx)
{
    size_t  i;

    memset(ctx->first, RELAY_SAFETY_WORDS, sizeof(ctx->first));

    for (i = RELAY_SAFETY_WORDS; i > 0; i--) {
        ctx->first[relay_safety_words[i - 1].word[0] - 'a']
            = (unsigned char) (i - 1);
    }
}


/* S1k to S6k */

void
relay_safety_phrases(relay_safety_ctx_t *ctx,
    const relay_safety_layer_t *layer)
{
    size_t               i, seen[RELAY_SAFETY_ROLES], off[RELAY_SAFETY_ROLES];
    unsigned             class, found, relay, prompt;
    const char          *role;
    relay_str_t          address;
    relay_text_words_t   w;
    relay_safety_seen_t  ignore, whose, send, to, call, tool, not, tell,
                         reveal, secret, next, do_, system;

    memset(seen, 0, sizeof(seen));
    memset(off, 0, sizeof(off));
    memset(&ignore, 0, sizeof(relay_safety_seen_t));

    whose = send = to = call = tool = not = tell = ignore;
    reveal = secret = next = do_ = system = ignore;

    found = relay_safety_address(&layer->text, 0, &address);
    relay = 0;

    relay_text_words_init(&w, &layer->text);

    while (relay_text_words_next(&w)) {

        class = relay_safety_class(&w, ctx->first);

        /* S3k: the words of an address are no verbs */

        while (found && layer->text.data + w.off
                        >= address.data + address.len)
        {
            found = relay_safety_address(&layer->text,
                                         address.data + address.len
                                         - layer->text.data, &address);
        }

        if (found && layer->text.data + w.off >= address.data) {

            if (!relay_safety_own(ctx, &address)) {

                if (relay_safety_near(&send, &w, RELAY_SAFETY_ADDRESS)) {
                    relay_safety_found(ctx, layer, RELAY_SAFETY_SEND,
                                       send.off);
                }

                relay_safety_see(&to, &w);
            }

            class = 0;
        }

        if (class & RELAY_WORD_SEND) {

            if (relay_safety_near(&to, &w, RELAY_SAFETY_ADDRESS)) {
                relay_safety_found(ctx, layer, RELAY_SAFETY_SEND, w.off);
            }

            relay_safety_see(&send, &w);
        }

        /* S1k */

        if ((class & RELAY_WORD_RULES)
            && relay_safety_near(&whose, &w, RELAY_SAFETY_NEAR))
        {
            relay_safety_found(ctx, layer, RELAY_SAFETY_IGNORE, whose.off);
        }

        if ((class & RELAY_WORD_WHOSE)
            && relay_safety_near(&ignore, &w, RELAY_SAFETY_NEAR))
        {
            relay_safety_see(&whose, &w);
            whose.off = ignore.off;
        }

        if (class & RELAY_WORD_IGNORE) {
            relay_safety_see(&ignore, &w);
        }

        /* S2k */

        if (w.stop || !(class & RELAY_WORD_ROLE)) {
            memset(seen, 0, sizeof(seen));
        }

        for (i = 0; i < RELAY_SAFETY_ROLES && (class & RELAY_WORD_ROLE); i++) {
            role = relay_safety_roles[i][seen[i]];

            if (strlen(role) != w.len || memcmp(role, w.word, w.len) != 0) {
                seen[i] = 0;
                role = relay_safety_roles[i][0];

                if (strlen(role) != w.len || memcmp(role, w.word, w.len) != 0)
                {
                    continue;
                }
            }

            if (seen[i]++ == 0) {
                off[i] = w.off;
            }

            if (relay_safety_roles[i][seen[i]] == NULL) {
                relay_safety_found(ctx, layer, RELAY_SAFETY_ROLE, off[i]);
                seen[i] = 0;
            }
        }

        if ((class & RELAY_WORD_SPEAKER) && w.line
            && relay_safety_speaker(&layer->text, &w))
        {
            relay_safety_found(ctx, layer, RELAY_SAFETY_ROLE, w.off);
        }

        /* S4k: a tool, or one of Relay's own, by its name */

        if (relay && w.sep == '_') {
            class |= RELAY_WORD_TOOL;
        }

        relay = class & RELAY_WORD_RELAY;

        if (class & RELAY_WORD_TOOL) {

            if (relay_safety_near(&call, &w, RELAY_SAFETY_NEAR)) {
                relay_safety_found(ctx, layer, RELAY_SAFETY_TOOL, call.off);
            }

            relay_safety_see(&tool, &w);
        }

        if (class & RELAY_WORD_CALL) {

            if (relay_safety_near(&tool, &w, RELAY_SAFETY_NEAR)) {
                relay_safety_found(ctx, layer, RELAY_SAFETY_TOOL, w.off);
            }

            relay_safety_see(&call, &w);
        }

        /* S5k */

        if (((class & RELAY_WORD_USER)
             || ((class & RELAY_WORD_READER) && !ctx->rule))
            && relay_safety_near(&tell, &w, RELAY_SAFETY_NEAR))
        {
            relay_safety_found(ctx, layer, RELAY_SAFETY_HIDE, tell.off);
        }

        if ((class & RELAY_WORD_TELL)
            && relay_safety_near(&not, &w, RELAY_SAFETY_NOT))
        {
            relay_safety_see(&tell, &w);
            tell.off = not.off;
        }

        if (w.len == 3 && memcmp(w.word, "not", 3) == 0
            && relay_safety_near(&do_, &w, 1))
        {
            relay_safety_see(&not, &w);
            not.off = do_.off;
        }

        if (class & RELAY_WORD_NOT) {
            relay_safety_see(&not, &w);
        }

        if (class & RELAY_WORD_DO) {
            relay_safety_see(&do_, &w);
        }

        /* S6k */

        prompt = (class & RELAY_WORD_RULES) && w.word[0] == 'p'
                 && relay_safety_near(&system, &w, 1);

        if ((class & RELAY_WORD_SECRET) || prompt) {

            if (relay_safety_near(&reveal, &w, RELAY_SAFETY_SECRETS)) {
                relay_safety_found(ctx, layer, RELAY_SAFETY_REVEAL,
                                   reveal.off);
            }

            relay_safety_see(&secret, &w);
        }

        if (class & RELAY_WORD_SYSTEM) {
            relay_safety_see(&system, &w);
        }

        if (class & RELAY_WORD_REVEAL) {

            if (relay_safety_near(&secret, &w, RELAY_SAFETY_SECRETS)) {
                relay_safety_found(ctx, layer, RELAY_SAFETY_REVEAL, w.off);
            }

            relay_safety_see(&reveal, &w);
        }
    }
}
