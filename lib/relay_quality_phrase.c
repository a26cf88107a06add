
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

#define RELAY_SAFETY_ROLES      4       /* phrases of which every word counts */

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
    size_t                end;
    size_t                off;      /* bytes, of where its phrase starts */
} relay_safety_seen_t;


/* The word at hand, and where each kind of word was seen last. */

typedef struct {
    relay_safety_ctx_t          *ctx;
    const relay_safety_layer_t  *layer;
    relay_text_words_t           w;
    unsigned                     class;

    relay_safety_seen_t          ignore;
    relay_safety_seen_t          whose;     /* after "ignore" */
    relay_safety_seen_t          send;
    relay_safety_seen_t          address;
    relay_safety_seen_t          call;
    relay_safety_seen_t          tool;
    relay_safety_seen_t          helper;    /* the "do" of "do not" */
    relay_safety_seen_t          not;
    relay_safety_seen_t          tell;      /* after "not" */
    relay_safety_seen_t          reveal;
    relay_safety_seen_t          secret;
    relay_safety_seen_t          system;
    unsigned                     relay;     /* the last word was "relay" */

    relay_str_t                  next;      /* address in the text */
    unsigned                     more;      /* there is one */

    size_t                       role[RELAY_SAFETY_ROLES];  /* words so far */
    size_t                       role_off[RELAY_SAFETY_ROLES];
} relay_safety_phrase_t;


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

static const char *const  relay_safety_roles[RELAY_SAFETY_ROLES][5] = {
    { "you", "are", "now", NULL },
    { "act", "as", NULL },
    { "pretend", "to", "be", NULL },
    { "from", "now", "on", "you", NULL }
};



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
relay_safety_see(relay_safety_phrase_t *p, relay_safety_seen_t *seen,
    size_t off)
{
    seen->end = p->w.at_end;
    seen->off = off;
}


/* Whether it was seen at most n characters before the word. */

static unsigned
relay_safety_near(const relay_safety_phrase_t *p,
    const relay_safety_seen_t *seen, size_t n)
{
    return seen->end != 0 && p->w.at - seen->end <= n;
}


/*
 * Two kinds of words, in either order, at most n characters apart.  The phrase
 * is said to be where its verb is.
 */

static void
relay_safety_pair(relay_safety_phrase_t *p, unsigned kind, unsigned verb,
    relay_safety_seen_t *verbs, unsigned object, relay_safety_seen_t *objects,
    size_t n)
{
    if (object) {

        if (relay_safety_near(p, verbs, n)) {
            relay_safety_found(p->ctx, p->layer, kind, verbs->off);
        }

        relay_safety_see(p, objects, p->w.off);
    }

    if (verb) {

        if (relay_safety_near(p, objects, n)) {
            relay_safety_found(p->ctx, p->layer, kind, p->w.off);
        }

        relay_safety_see(p, verbs, p->w.off);
    }
}


/* S1k: ignore ... your ... rules */

static void
relay_safety_ignore(relay_safety_phrase_t *p)
{
    if ((p->class & RELAY_WORD_RULES)
        && relay_safety_near(p, &p->whose, RELAY_SAFETY_NEAR))
    {
        relay_safety_found(p->ctx, p->layer, RELAY_SAFETY_IGNORE,
                           p->whose.off);
    }

    if ((p->class & RELAY_WORD_WHOSE)
        && relay_safety_near(p, &p->ignore, RELAY_SAFETY_NEAR))
    {
        relay_safety_see(p, &p->whose, p->ignore.off);
    }

    if (p->class & RELAY_WORD_IGNORE) {
        relay_safety_see(p, &p->ignore, p->w.off);
    }
}


static unsigned
relay_safety_word_is(const relay_text_words_t *w, const char *s)
{
    return strlen(s) == w->len && memcmp(s, w->word, w->len) == 0;
}


/* S2k: a phrase word for word, or a line that says who speaks */

static void
relay_safety_role(relay_safety_phrase_t *p)
{
    size_t              i;
    const char *const  *words;

    if (p->w.stop || !(p->class & RELAY_WORD_ROLE)) {
        memset(p->role, 0, sizeof(p->role));
    }

    for (i = 0; i < RELAY_SAFETY_ROLES && (p->class & RELAY_WORD_ROLE); i++) {
        words = relay_safety_roles[i];

        if (!relay_safety_word_is(&p->w, words[p->role[i]])) {
            p->role[i] = 0;

            if (!relay_safety_word_is(&p->w, words[0])) {
                continue;
            }
        }

        if (p->role[i]++ == 0) {
            p->role_off[i] = p->w.off;
        }

        if (words[p->role[i]] == NULL) {
            p->role[i] = 0;
            relay_safety_found(p->ctx, p->layer, RELAY_SAFETY_ROLE,
                               p->role_off[i]);
        }
    }

    if ((p->class & RELAY_WORD_SPEAKER) && p->w.line
        && relay_safety_speaker(&p->layer->text, &p->w))
    {
        relay_safety_found(p->ctx, p->layer, RELAY_SAFETY_ROLE, p->w.off);
    }
}


/* S3k: send ... an address; the words of an address itself are nothing else */

static void
relay_safety_send(relay_safety_phrase_t *p)
{
    unsigned              inside;
    const unsigned char  *at;

    at = p->layer->text.data + p->w.off;

    while (p->more && at >= p->next.data + p->next.len) {
        p->more = relay_safety_address(&p->layer->text,
                                       p->next.data + p->next.len
                                       - p->layer->text.data, &p->next);
    }

    inside = (p->more && at >= p->next.data);

    if (inside) {
        p->class = 0;
    }

    relay_safety_pair(p, RELAY_SAFETY_SEND, p->class & RELAY_WORD_SEND,
                      &p->send, inside && !relay_safety_own(p->ctx, &p->next),
                      &p->address, RELAY_SAFETY_ADDRESS);
}


/* S4k: call ... a tool, or one of Relay's own by its name */

static void
relay_safety_tool(relay_safety_phrase_t *p)
{
    relay_safety_pair(p, RELAY_SAFETY_TOOL, p->class & RELAY_WORD_CALL,
                      &p->call,
                      (p->class & RELAY_WORD_TOOL)
                      || (p->relay && p->w.sep == '_'),
                      &p->tool, RELAY_SAFETY_NEAR);

    p->relay = p->class & RELAY_WORD_RELAY;
}


/* S5k: do not ... tell ... the user */

static void
relay_safety_hide(relay_safety_phrase_t *p)
{
    unsigned  whom;

    /* rules forbid by nature: in them, only from the user */

    whom = p->ctx->rule ? RELAY_WORD_USER : RELAY_WORD_USER|RELAY_WORD_READER;

    if ((p->class & whom)
        && relay_safety_near(p, &p->tell, RELAY_SAFETY_NEAR))
    {
        relay_safety_found(p->ctx, p->layer, RELAY_SAFETY_HIDE, p->tell.off);
    }

    if ((p->class & RELAY_WORD_TELL)
        && relay_safety_near(p, &p->not, RELAY_SAFETY_NOT))
    {
        relay_safety_see(p, &p->tell, p->not.off);
    }

    if (relay_safety_word_is(&p->w, "not")
        && relay_safety_near(p, &p->helper, 1))
    {
        relay_safety_see(p, &p->not, p->helper.off);
    }

    if (p->class & RELAY_WORD_NOT) {
        relay_safety_see(p, &p->not, p->w.off);
    }

    if (p->class & RELAY_WORD_DO) {
        relay_safety_see(p, &p->helper, p->w.off);
    }
}


/* S6k: reveal ... a secret, the system prompt among them */

static void
relay_safety_reveal(relay_safety_phrase_t *p)
{
    unsigned  prompt;

    prompt = (p->class & RELAY_WORD_RULES)
             && relay_safety_word_is(&p->w, "prompt")
             && relay_safety_near(p, &p->system, 1);

    relay_safety_pair(p, RELAY_SAFETY_REVEAL, p->class & RELAY_WORD_REVEAL,
                      &p->reveal, (p->class & RELAY_WORD_SECRET) || prompt,
                      &p->secret, RELAY_SAFETY_SECRETS);

    if (p->class & RELAY_WORD_SYSTEM) {
        relay_safety_see(p, &p->system, p->w.off);
    }
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


void
relay_safety_phrases(relay_safety_ctx_t *ctx,
    const relay_safety_layer_t *layer)
{
    relay_safety_phrase_t  p;

    memset(&p, 0, sizeof(relay_safety_phrase_t));

    p.ctx = ctx;
    p.layer = layer;
    p.more = relay_safety_address(&layer->text, 0, &p.next);

    relay_text_words_init(&p.w, &layer->text);

    while (relay_text_words_next(&p.w)) {

        p.class = relay_safety_class(&p.w, ctx->first);

        relay_safety_send(&p);
        relay_safety_ignore(&p);
        relay_safety_role(&p);
        relay_safety_tool(&p);
        relay_safety_hide(&p);
        relay_safety_reveal(&p);
    }
}
