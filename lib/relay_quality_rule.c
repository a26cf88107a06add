
/*
 * relay_quality_rule: what each rule about a package looks for.
 */

#include "relay_quality_rule.h"


#define RELAY_QUALITY_LIST      256     /* questions and topics looked at */
#define RELAY_QUALITY_FIGURES   8       /* notes of one section */
#define RELAY_QUALITY_WORDS     200     /* of context, at least */
#define RELAY_QUALITY_TOPIC     16      /* words of a topic */
#define RELAY_QUALITY_QUESTION  64      /* words of a question */


void
relay_quality_email(relay_quality_ctx_t *ctx, const relay_quality_rule_t *rule)
{
    size_t  audience;

    audience = relay_quality_get(ctx, 0, "audience", RELAY_JSON_OBJECT);

    if ((audience == 0 || !relay_quality_is(ctx, audience, "access", "anyone"))
        && !relay_quality_filled(ctx, relay_quality_value(ctx, rule,
                                                          RELAY_JSON_STRING)))
    {
        relay_quality_absent(ctx, rule);
    }
}


/* A list, a text or an object that has to say something. */

void
relay_quality_missing(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule)
{
    if (!relay_quality_filled(ctx, relay_quality_value(ctx, rule,
                                                       RELAY_JSON_ARRAY))
        && !relay_quality_filled(ctx, relay_quality_value(ctx, rule,
                                                          RELAY_JSON_STRING))
        && !relay_quality_filled(ctx, relay_quality_value(ctx, rule,
                                                          RELAY_JSON_OBJECT)))
    {
        relay_quality_absent(ctx, rule);
    }
}


void
relay_quality_outcome(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule)
{
    size_t  v;

    v = relay_quality_value(ctx, rule, RELAY_JSON_OBJECT);

    if (v != 0 && relay_quality_is(ctx, v, "provenance", "inferred")) {
        relay_quality_plain(ctx, rule, v, NULL);
    }
}


void
relay_quality_sources(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule)
{
    size_t  list, i, claim, claims;

    list = relay_quality_value(ctx, rule, RELAY_JSON_ARRAY);

    for (i = 0; relay_quality_each(ctx, list, &i); /* void */) {
        claims = relay_quality_get(ctx, i, "claims", RELAY_JSON_ARRAY);

        for (claim = 0; relay_quality_each(ctx, claims, &claim); /* void */) {

            if (relay_quality_is(ctx, claim, "provenance", "sourced")
                && !relay_quality_filled(ctx, relay_quality_get(ctx, claim,
                                                   "sources",
                                                   RELAY_JSON_ARRAY)))
            {
                relay_quality_quoted_node(ctx, rule, claim, NULL,
                                          relay_quality_get(ctx, claim, "text",
                                                            RELAY_JSON_STRING),
                                          "");
            }
        }
    }
}


void
relay_quality_claims(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule)
{
    size_t  list, i;

    list = relay_quality_value(ctx, rule, RELAY_JSON_ARRAY);

    for (i = 0; relay_quality_each(ctx, list, &i); /* void */) {

        if (!relay_quality_filled(ctx, relay_quality_get(ctx, i, "claims",
                                                         RELAY_JSON_ARRAY)))
        {
            relay_quality_quoted_node(ctx, rule, i, NULL,
                                      relay_quality_get(ctx, i, "title",
                                                        RELAY_JSON_STRING),
                                      "");
        }
    }
}


void
relay_quality_figures(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule)
{
    size_t       list, i, j, body, claim, claims, off, said;
    uint64_t     hash;
    uint64_t     seen[RELAY_QUALITY_FIGURES];
    relay_str_t  s, figure;

    list = relay_quality_value(ctx, rule, RELAY_JSON_ARRAY);

    for (i = 0; relay_quality_each(ctx, list, &i); /* void */) {

        body = relay_quality_get(ctx, i, "body", RELAY_JSON_STRING);

        if (body == 0) {
            continue;
        }

        claims = relay_quality_get(ctx, i, "claims", RELAY_JSON_ARRAY);
        ctx->set.n = 0;

        for (claim = 0; relay_quality_each(ctx, claims, &claim); /* void */) {
            relay_quality_str(ctx, relay_quality_get(ctx, claim, "text",
                                                     RELAY_JSON_STRING), &s);
            off = 0;

            while (relay_quality_figure(&s, &off, &figure, &hash)) {
                relay_quality_set_add(ctx, hash);
            }
        }

        relay_quality_set_sort(ctx);

        relay_quality_str(ctx, body, &s);
        off = 0;
        said = 0;

        while (said < RELAY_QUALITY_FIGURES
               && relay_quality_figure(&s, &off, &figure, &hash))
        {
            if (relay_quality_set_has(ctx, hash)) {
                continue;
            }

            for (j = 0; j < said && seen[j] != hash; j++) { /* void */ }

            if (j == said) {
                seen[said++] = hash;
                relay_quality_quoted(ctx, rule, body, NULL, &figure, "");
            }
        }
    }
}


void
relay_quality_unreviewed(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule)
{
    size_t  list, i;

    list = relay_quality_value(ctx, rule, RELAY_JSON_ARRAY);

    for (i = 0; relay_quality_each(ctx, list, &i); /* void */) {

        if (relay_quality_is(ctx, i, "verdict", "unreviewed")) {
            relay_quality_quoted_node(ctx, rule, i, NULL,
                                      relay_quality_get(ctx, i, "reading",
                                                        RELAY_JSON_STRING),
                                      "");
        }
    }
}


/* A word, less the "s" of a plural. */

static uint64_t
relay_quality_stem(const relay_text_words_t *w)
{
    size_t    i, len;
    uint64_t  hash;

    len = w->len;
    hash = RELAY_QUALITY_FNV;

    if (len > 4 && w->word[len - 1] == 's') {
        len--;
    }

    for (i = 0; i < len; i++) {
        hash = (hash ^ w->word[i]) * RELAY_QUALITY_PRIME;
    }

    return hash;
}


/*
 * Whether a topic of the must-ask list covers a question: all its words of four
 * letters or more are in it.
 */

static unsigned
relay_quality_covers(relay_quality_ctx_t *ctx, size_t topic,
    const uint64_t *words, size_t n)
{
    size_t              i, seen;
    uint64_t            hash;
    relay_str_t         s;
    relay_text_words_t  w;

    relay_quality_str(ctx, topic, &s);
    seen = 0;

    relay_text_words_init(&w, &s);

    while (relay_text_words_next(&w)) {

        if (w.chars < 4) {
            continue;
        }

        if (seen++ == RELAY_QUALITY_TOPIC) {
            return 0;
        }

        hash = relay_quality_stem(&w);

        for (i = 0; i < n && words[i] != hash; i++) { /* void */ }

        if (i == n) {
            return 0;
        }
    }

    return seen != 0;
}


void
relay_quality_rehearsed(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule)
{
    size_t              list, rules, asked, checks, i, topic, count, topics, n;
    uint64_t            hash;
    uint64_t            words[RELAY_QUALITY_QUESTION];
    relay_str_t         s;
    relay_text_words_t  w;

    rules = relay_quality_get(ctx, 0, "representation", RELAY_JSON_OBJECT);
    checks = 0;
    asked = 0;

    if (rules != 0) {
        checks = relay_quality_get(ctx, rules, "fidelityChecks",
                                   RELAY_JSON_ARRAY);
        asked = relay_quality_get(ctx, rules, "mustAskOwner",
                                  RELAY_JSON_ARRAY);
    }

    ctx->set.n = 0;

    for (i = 0; relay_quality_each(ctx, checks, &i); /* void */) {
        relay_quality_str(ctx, relay_quality_get(ctx, i, "question",
                                                 RELAY_JSON_STRING), &s);
        relay_quality_set_add(ctx, relay_quality_hash(&s));
    }

    relay_quality_set_sort(ctx);

    list = relay_quality_value(ctx, rule, RELAY_JSON_ARRAY);
    count = 0;

    for (i = 0; count < RELAY_QUALITY_LIST
                && relay_quality_each(ctx, list, &i); count++)
    {
        relay_quality_str(ctx, i, &s);

        hash = relay_quality_hash(&s);

        if (hash == RELAY_QUALITY_FNV || relay_quality_set_has(ctx, hash)) {
            continue;
        }

        n = 0;
        relay_text_words_init(&w, &s);

        while (n < RELAY_QUALITY_QUESTION && relay_text_words_next(&w)) {
            words[n++] = relay_quality_stem(&w);
        }

        topics = 0;

        for (topic = 0; topics < RELAY_QUALITY_LIST
                        && relay_quality_each(ctx, asked, &topic); topics++)
        {
            if (relay_quality_covers(ctx, topic, words, n)) {
                break;
            }
        }

        if (asked == 0 || topics == RELAY_QUALITY_LIST
            || topic >= ctx->nodes[asked].next || topic == 0)
        {
            relay_quality_quoted_node(ctx, rule, i, NULL, i,
                                      " Add one, or put the topic on the "
                                      "must-ask list.");
        }
    }
}


void
relay_quality_fewer(relay_quality_ctx_t *ctx, const relay_quality_rule_t *rule)
{
    size_t  v, least;

    v = relay_quality_value(ctx, rule, RELAY_JSON_ARRAY);
    least = (strcmp(rule->member, "fidelityChecks") == 0) ? 3 : 5;

    if (v == 0 || ctx->nodes[v].count < least) {
        relay_quality_absent(ctx, rule);
    }
}


void
relay_quality_decided(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule)
{
    size_t  list, i, v;

    list = relay_quality_value(ctx, rule, RELAY_JSON_ARRAY);

    for (i = 0; relay_quality_each(ctx, list, &i); /* void */) {

        if (!relay_quality_is(ctx, i, "status", "decided")) {
            continue;
        }

        v = relay_quality_get(ctx, i, "rationale", RELAY_JSON_OBJECT);

        if (v == 0
            || !relay_quality_filled(ctx, relay_quality_get(ctx, v, "text",
                                                           RELAY_JSON_STRING)))
        {
            relay_quality_quoted_node(ctx, rule, i, "rationale",
                                      relay_quality_get(ctx, i, "question",
                                                        RELAY_JSON_STRING),
                                      "");
        }
    }
}


/* intent.ask, or 0. */

static size_t
relay_quality_ask(const relay_quality_ctx_t *ctx)
{
    size_t  v;

    v = relay_quality_get(ctx, 0, "intent", RELAY_JSON_OBJECT);

    return v ? relay_quality_get(ctx, v, "ask", RELAY_JSON_OBJECT) : 0;
}


void
relay_quality_brief(relay_quality_ctx_t *ctx, const relay_quality_rule_t *rule)
{
    size_t  ask;

    ask = relay_quality_ask(ctx);

    if (ask != 0
        && relay_quality_get(ctx, ask, "type", RELAY_JSON_STRING) != 0
        && !relay_quality_is(ctx, ask, "type", "inform"))
    {
        relay_quality_absent(ctx, rule);
    }
}


void
relay_quality_thin(relay_quality_ctx_t *ctx, const relay_quality_rule_t *rule)
{
    size_t              list, i, words;
    relay_str_t         s;
    relay_text_words_t  w;

    list = relay_quality_value(ctx, rule, RELAY_JSON_ARRAY);
    words = 0;

    for (i = 0; relay_quality_each(ctx, list, &i); /* void */) {
        relay_quality_str(ctx, relay_quality_get(ctx, i, "body",
                                                 RELAY_JSON_STRING), &s);
        relay_text_words_init(&w, &s);

        while (words < RELAY_QUALITY_WORDS && relay_text_words_next(&w)) {

            /* scripts without spaces, from U+3000 on: two letters a word */

            words += (w.word[0] >= 0xe3) ? (w.chars + 1) / 2 : 1;
        }
    }

    if (words < RELAY_QUALITY_WORDS) {
        relay_quality_absent(ctx, rule);
    }
}


void
relay_quality_variables(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule)
{
    size_t  ask;

    ask = relay_quality_ask(ctx);

    if (ask != 0
        && (relay_quality_is(ctx, ask, "type", "agree")
            || relay_quality_is(ctx, ask, "type", "decide")
            || relay_quality_is(ctx, ask, "type", "evaluate")))
    {
        relay_quality_missing(ctx, rule);
    }
}


void
relay_quality_principles(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule)
{
    size_t  v;

    if (!relay_quality_filled(ctx, relay_quality_value(ctx, rule,
                                                       RELAY_JSON_ARRAY)))
    {
        relay_quality_absent(ctx, rule);
        return;
    }

    v = relay_quality_get(ctx, 0, "judgement", RELAY_JSON_OBJECT);

    if (v == 0) {
        relay_quality_plain(ctx, rule, 0, "judgement");

    } else if (!relay_quality_filled(ctx, relay_quality_get(ctx, v,
                                              "principles", RELAY_JSON_ARRAY)))
    {
        relay_quality_plain(ctx, rule, v, "principles");
    }
}


void
relay_quality_open(relay_quality_ctx_t *ctx, const relay_quality_rule_t *rule)
{
    size_t  v;

    v = relay_quality_get(ctx, 0, "interpretation", RELAY_JSON_OBJECT);

    if (v == 0
        || !relay_quality_filled(ctx, relay_quality_get(ctx, v,
                                                        "openAmbiguities",
                                                        RELAY_JSON_ARRAY)))
    {
        relay_quality_missing(ctx, rule);
    }
}


void
relay_quality_free(relay_quality_ctx_t *ctx, const relay_quality_rule_t *rule)
{
    size_t  v;

    v = relay_quality_value(ctx, rule, RELAY_JSON_OBJECT);

    if (v != 0 && relay_quality_is(ctx, v, "extrapolation", "free")) {
        relay_quality_plain(ctx, rule, v, "extrapolation");
    }
}


void
relay_quality_numbers(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule)
{
    size_t       list, i, claim, claims, text, off;
    uint64_t     hash;
    relay_str_t  s, figure;

    list = relay_quality_value(ctx, rule, RELAY_JSON_ARRAY);

    for (i = 0; relay_quality_each(ctx, list, &i); /* void */) {
        claims = relay_quality_get(ctx, i, "claims", RELAY_JSON_ARRAY);

        for (claim = 0; relay_quality_each(ctx, claims, &claim); /* void */) {

            /* Q6 has it already when it says that it is sourced */

            if (relay_quality_is(ctx, claim, "provenance", "stated")
                || relay_quality_is(ctx, claim, "provenance", "sourced")
                || relay_quality_filled(ctx, relay_quality_get(ctx, claim,
                                                  "sources",
                                                  RELAY_JSON_ARRAY)))
            {
                continue;
            }

            text = relay_quality_get(ctx, claim, "text", RELAY_JSON_STRING);
            relay_quality_str(ctx, text, &s);
            off = 0;

            if (relay_quality_figure(&s, &off, &figure, &hash)) {
                relay_quality_quoted(ctx, rule, claim, NULL, &s, "");
            }
        }
    }
}


void
relay_quality_consent(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule)
{
    size_t  list, i;

    list = relay_quality_value(ctx, rule, RELAY_JSON_ARRAY);

    for (i = 0; relay_quality_each(ctx, list, &i); /* void */) {

        if (relay_quality_is(ctx, i, "kind", "connector")
            && !relay_quality_is(ctx, i, "consent", "granted"))
        {
            relay_quality_quoted_node(ctx, rule, i, NULL,
                                      relay_quality_get(ctx, i, "name",
                                                        RELAY_JSON_STRING),
                                      "");
        }
    }
}


void
relay_quality_corrected(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule)
{
    size_t  list, i, text;

    list = relay_quality_value(ctx, rule, RELAY_JSON_ARRAY);

    for (i = 0; relay_quality_each(ctx, list, &i); /* void */) {

        if (relay_quality_is(ctx, i, "verdict", "corrected")
            && !relay_quality_filled(ctx, relay_quality_get(ctx, i,
                                              "correction",
                                              RELAY_JSON_STRING)))
        {
            relay_quality_quoted_node(ctx, rule, i, "correction",
                                      relay_quality_get(ctx, i, "reading",
                                                        RELAY_JSON_STRING),
                                      "");
        }
    }

    /* values, wherever they are; a claim, which has an id, is none */

    for (i = 0; i < ctx->tape->n; i++) {

        if (ctx->nodes[i].type != RELAY_JSON_OBJECT
            || !relay_quality_is(ctx, i, "provenance", "corrected")
            || relay_quality_get(ctx, i, "id", RELAY_JSON_STRING) != 0
            || relay_quality_get(ctx, i, "agentReading", RELAY_JSON_STRING)
               != 0)
        {
            continue;
        }

        text = relay_quality_get(ctx, i, "text", RELAY_JSON_STRING);

        if (text != 0) {
            relay_quality_quoted_node(ctx, rule, i, "agentReading", text, "");
        }
    }
}


void
relay_quality_more(relay_quality_ctx_t *ctx, const relay_quality_rule_t *rule)
{
    size_t  v;

    v = relay_quality_value(ctx, rule, RELAY_JSON_ARRAY);

    if (v != 0 && ctx->nodes[v].count > 10) {
        relay_quality_plain(ctx, rule, v, NULL);
    }
}


void
relay_quality_elastic(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule)
{
    size_t  list, i;

    list = relay_quality_value(ctx, rule, RELAY_JSON_ARRAY);

    for (i = 0; relay_quality_each(ctx, list, &i); /* void */) {

        if (relay_quality_is(ctx, i, "gate", "elastic")
            && !relay_quality_filled(ctx, relay_quality_get(ctx, i,
                                              "acceptable",
                                              RELAY_JSON_STRING))
            && !relay_quality_filled(ctx, relay_quality_get(ctx, i,
                                              "tradesAgainst",
                                              RELAY_JSON_ARRAY)))
        {
            relay_quality_quoted_node(ctx, rule, i, NULL,
                                      relay_quality_get(ctx, i, "name",
                                                        RELAY_JSON_STRING),
                                      "");
        }
    }
}


void
relay_quality_request(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule)
{
    size_t              v, seen;
    relay_str_t         s;
    relay_text_words_t  w;

    static const char *const  words[] = { "relay", "to", "for" };

    v = relay_quality_value(ctx, rule, RELAY_JSON_STRING);
    relay_quality_str(ctx, v, &s);

    seen = 0;
    relay_text_words_init(&w, &s);

    while (relay_text_words_next(&w)) {

        if (w.len == strlen(words[seen])
            && memcmp(w.word, words[seen], w.len) == 0)
        {
            if (++seen == 3) {
                relay_quality_plain(ctx, rule, v, NULL);
                return;
            }

        } else if (seen == 0) {
            return;
        }
    }
}


void
relay_quality_approver(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule)
{
    size_t       i, v, obj, member;
    uint64_t     hash;
    unsigned     owner, agent;
    relay_str_t  s;

    static const char *const  names[][2] = {
        { "owner", "name" }, { "owner", "id" },
        { "producedBy", "client" }, { "producedBy", "model" }
    };

    v = relay_quality_value(ctx, rule, RELAY_JSON_STRING);

    if (v == 0) {
        relay_quality_absent(ctx, rule);
        return;
    }

    relay_quality_str(ctx, v, &s);
    hash = relay_quality_hash(&s);

    owner = 0;
    agent = 0;

    for (i = 0; i < 4; i++) {
        obj = relay_quality_get(ctx, 0, names[i][0], RELAY_JSON_OBJECT);

        if (obj == 0) {
            continue;
        }

        member = relay_quality_get(ctx, obj, names[i][1], RELAY_JSON_STRING);

        if (member == 0) {
            continue;
        }

        relay_quality_str(ctx, member, &s);

        if (relay_quality_hash(&s) == hash) {
            owner |= (i < 2);
            agent |= (i >= 2);
        }
    }

    if (!owner || agent) {
        relay_quality_plain(ctx, rule, v, NULL);
    }
}


/* The ids of a list's entries go into the set. */

static void
relay_quality_ids_of(relay_quality_ctx_t *ctx, size_t list)
{
    size_t       i, v;
    relay_str_t  s;

    for (i = 0; relay_quality_each(ctx, list, &i); /* void */) {
        v = relay_quality_get(ctx, i, "id", RELAY_JSON_STRING);

        if (v != 0) {
            relay_quality_str(ctx, v, &s);
            relay_quality_set_add(ctx, relay_json_hash(s.data, s.len));
        }
    }
}


/* A string that has to be an id of the set. */

static void
relay_quality_id(relay_quality_ctx_t *ctx, const relay_quality_rule_t *rule,
    size_t v)
{
    relay_str_t  s;

    if (v == 0 || ctx->nodes[v].type != RELAY_JSON_STRING) {
        return;
    }

    relay_quality_str(ctx, v, &s);

    if (!relay_quality_set_has(ctx, relay_json_hash(s.data, s.len))) {
        relay_quality_quoted(ctx, rule, v, NULL, &s, "");
    }
}


void
relay_quality_ids(relay_quality_ctx_t *ctx, const relay_quality_rule_t *rule)
{
    size_t  i, j, k, v, names, sections, reasoning, slides;

    v = relay_quality_get(ctx, 0, "context", RELAY_JSON_OBJECT);
    sections = v ? relay_quality_get(ctx, v, "sections", RELAY_JSON_ARRAY) : 0;

    /* attachments and stale sections name sections */

    ctx->set.n = 0;
    relay_quality_ids_of(ctx, sections);
    relay_quality_set_sort(ctx);

    v = relay_quality_get(ctx, 0, "attachments", RELAY_JSON_ARRAY);

    for (i = 0; relay_quality_each(ctx, v, &i); /* void */) {
        slides = relay_quality_get(ctx, i, "slides", RELAY_JSON_ARRAY);

        for (j = 0; relay_quality_each(ctx, slides, &j); /* void */) {
            names = relay_quality_get(ctx, j, "supports", RELAY_JSON_ARRAY);

            for (k = 0; relay_quality_each(ctx, names, &k); /* void */) {
                relay_quality_id(ctx, rule, k);
            }
        }
    }

    v = relay_quality_get(ctx, 0, "lifecycle", RELAY_JSON_OBJECT);

    if (v != 0) {
        v = relay_quality_get(ctx, v, "staleSections", RELAY_JSON_ARRAY);

        for (i = 0; relay_quality_each(ctx, v, &i); /* void */) {
            relay_quality_id(ctx, rule, i);
        }
    }

    /* evidence names claims and decisions */

    reasoning = relay_quality_get(ctx, 0, "reasoning", RELAY_JSON_OBJECT);

    if (reasoning == 0) {
        return;
    }

    ctx->set.n = 0;

    for (i = 0; relay_quality_each(ctx, sections, &i); /* void */) {
        relay_quality_ids_of(ctx, relay_quality_get(ctx, i, "claims",
                                                    RELAY_JSON_ARRAY));
    }

    relay_quality_ids_of(ctx, relay_quality_get(ctx, reasoning, "decisions",
                                                RELAY_JSON_ARRAY));
    relay_quality_set_sort(ctx);

    v = relay_quality_get(ctx, reasoning, "evidence", RELAY_JSON_ARRAY);

    for (i = 0; relay_quality_each(ctx, v, &i); /* void */) {
        relay_quality_id(ctx, rule, relay_quality_get(ctx, i, "supports",
                                                      RELAY_JSON_STRING));
    }
}


static void
relay_quality_repeat(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule, const relay_text_shingles_t *shingles,
    size_t v)
{
    size_t       words, off, len;
    relay_str_t  s;

    if (v == 0 || ctx->nodes[v].type != RELAY_JSON_STRING) {
        return;
    }

    relay_quality_str(ctx, v, &s);

    words = relay_text_shingles_shared(shingles, &s, &off, &len);

    if (words != 0) {
        s.data += off;
        s.len = len;
        relay_quality_quoted(ctx, rule, v, NULL, &s, "");
    }
}


void
relay_quality_shared(relay_quality_ctx_t *ctx,
    const relay_quality_rule_t *rule)
{
    size_t                 i, v;
    relay_str_t            s;
    relay_text_shingles_t  shingles;

    static const char *const  names[] = { "title", "summary", "changeNote" };

    v = relay_quality_value(ctx, rule, RELAY_JSON_STRING);
    relay_quality_str(ctx, v, &s);

    if (relay_text_shingles_init(&shingles, &s, RELAY_QUALITY_SHARED)
        != RELAY_OK)
    {
        ctx->rc = RELAY_ERROR;
        return;
    }

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        relay_quality_repeat(ctx, rule, &shingles,
                             relay_quality_get(ctx, 0, names[i],
                                               RELAY_JSON_STRING));
    }

    v = relay_quality_get(ctx, 0, "interpretation", RELAY_JSON_OBJECT);

    if (v != 0) {
        relay_quality_repeat(ctx, rule, &shingles,
                             relay_quality_get(ctx, v, "restatement",
                                               RELAY_JSON_STRING));

        v = relay_quality_get(ctx, v, "inferences", RELAY_JSON_ARRAY);

        for (i = 0; relay_quality_each(ctx, v, &i); /* void */) {
            relay_quality_repeat(ctx, rule, &shingles,
                                 relay_quality_get(ctx, i, "basis",
                                                   RELAY_JSON_STRING));
        }
    }

    v = relay_quality_get(ctx, 0, "representation", RELAY_JSON_OBJECT);

    if (v != 0) {
        v = relay_quality_get(ctx, v, "opening", RELAY_JSON_OBJECT);
    }

    if (v != 0) {
        relay_quality_repeat(ctx, rule, &shingles,
                             relay_quality_get(ctx, v, "greeting",
                                               RELAY_JSON_STRING));
    }

    relay_text_shingles_free(&shingles);
}
