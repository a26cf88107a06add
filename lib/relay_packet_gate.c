
/*
 * relay_packet_gate: the rules that a packet must meet before it is served.
 *
 * What a prompt must or must not hold is looked for by relay_match, all texts
 * of one form at once, so that no number of entries makes a packet slow.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE             /* memmem() */
#endif

#include "relay_packet_rule.h"
#include "relay_match.h"


/* the forms in which a text is compared with the prompt */

typedef enum {
    RELAY_PACKET_EXACT = 0,
    RELAY_PACKET_FOLD,
    RELAY_PACKET_WORDS          /* of one word: not compared */
} relay_packet_form_e;


typedef struct {
    const relay_packet_rules_t  *rules;
    const relay_str_t           *doc;
    const relay_json_tape_t     *tape;
    const relay_json_node_t     *nodes;
    relay_packet_result_t       *result;
    relay_packet_place_t         place;

    relay_str_t                  prompt;        /* decoded */
    relay_str_t                  compared;      /* in the form of sought */
    relay_buf_t                  prompt_mem;
    relay_buf_t                  compared_mem;
    relay_buf_t                  decoded;
    relay_buf_t                  folded;

    size_t                       bytes;         /* folded in all */
    relay_match_t                match;         /* what is sought */
    relay_packet_form_e          form;
    unsigned                     asked:1;       /* it has been looked for */
    unsigned                     over:1;        /* there was more of it */
    unsigned                     failed:1;      /* no memory */
} relay_packet_gate_t;


typedef void (*relay_packet_seek_pt)(relay_packet_gate_t *g);


static void relay_packet_find(relay_packet_gate_t *g, unsigned rule,
    size_t node, const char *text);
static void relay_packet_decoded(relay_packet_gate_t *g, size_t v,
    relay_str_t *s);
static relay_uint_t relay_packet_folded(relay_packet_gate_t *g,
    relay_packet_form_e form, relay_str_t *s, relay_buf_t *mem);
static void relay_packet_lane(relay_packet_gate_t *g);
static void relay_packet_strings(relay_packet_gate_t *g);
static void relay_packet_filled(relay_packet_gate_t *g, size_t v);
static void relay_packet_review(relay_packet_gate_t *g);
static void relay_packet_reference(relay_packet_gate_t *g, size_t v);
static void relay_packet_owner(relay_packet_gate_t *g);
static void relay_packet_contains(relay_packet_gate_t *g, unsigned rule,
    relay_packet_member_e member, const char *text);
static void relay_packet_look(relay_packet_gate_t *g,
    relay_packet_form_e form, relay_packet_seek_pt seek,
    relay_packet_seek_pt more);
static void relay_packet_seek(relay_packet_gate_t *g, unsigned rule,
    size_t node, const relay_str_t *s, relay_uint_t wanted, const char *text);
static void relay_packet_seek_node(relay_packet_gate_t *g, unsigned rule,
    size_t v, relay_uint_t wanted, const char *text);
static void relay_packet_seek_each(relay_packet_gate_t *g, unsigned rule,
    size_t array, relay_uint_t wanted, const char *text);
static void relay_packet_seek_excerpts(relay_packet_gate_t *g, unsigned rule,
    const char *member, relay_uint_t wanted, const char *text);
static void relay_packet_rendered(relay_packet_gate_t *g);
static void relay_packet_markers(relay_packet_gate_t *g);
static void relay_packet_paths(relay_packet_gate_t *g);
static void relay_packet_numbers(relay_packet_gate_t *g);
static void relay_packet_omitted(relay_packet_gate_t *g);
static void relay_packet_visible(relay_packet_gate_t *g);
static void relay_packet_forbidden(relay_packet_gate_t *g);


static const char  relay_packet_too_much[] =
    "there is too much to look for in the prompt";

static const relay_str_t  relay_packet_state_markers[] = {
    relay_string("current_activation"),
    relay_string("plasticity"),
    relay_string("canonical_state"),
    relay_string("raw state variable"),
    relay_string("raw numeric state"),
    relay_string("dimension score"),
    relay_null_string
};

static const relay_str_t  relay_packet_folders[] = {
    relay_string("examples/"),
    relay_string("experiments/"),
    relay_string("state/"),
    relay_null_string
};


relay_int_t
relay_packet_gate(const relay_packet_rules_t *rules, const relay_str_t *doc,
    const relay_json_tape_t *tape, relay_uint_t schema_valid,
    relay_packet_result_t *result)
{
    relay_packet_gate_t  g;

    memset(result, 0, sizeof(relay_packet_result_t));
    memset(&g, 0, sizeof(relay_packet_gate_t));

    g.rules = rules;
    g.doc = doc;
    g.tape = tape;
    g.nodes = tape->nodes;
    g.result = result;

    if (tape->n == 0) {
        return RELAY_ERROR;
    }

    if (!schema_valid) {
        relay_packet_find(&g, 1, 0, "the packet does not meet its schema");
    }

    if (relay_packet_locate(doc, tape, &g.place) != RELAY_OK) {
        relay_packet_find(&g, g.place.rule, g.place.node, g.place.text);
        return RELAY_DECLINED;
    }

    relay_buf_init(&g.prompt_mem, RELAY_DOCUMENT_MAX);
    relay_buf_init(&g.compared_mem, RELAY_PACKET_FOLDED);
    relay_buf_init(&g.decoded, RELAY_DOCUMENT_MAX);
    relay_buf_init(&g.folded, RELAY_PACKET_FOLDED);

    if (relay_packet_prompt(doc, tape, &g.prompt_mem) != RELAY_OK) {
        g.failed = 1;
    }

    relay_buf_str(&g.prompt_mem, &g.prompt);

    relay_packet_strings(&g);
    relay_packet_lane(&g);

    relay_packet_contains(&g, 10, RELAY_PACKET_LOCAL,
                          "the prompt does not hold this text");
    relay_packet_contains(&g, 11, RELAY_PACKET_EVENT_ACTION,
                          "the prompt does not hold this text");

    relay_packet_reference(&g, g.place.at[RELAY_PACKET_COORDINATOR_REF]);
    relay_packet_reference(&g, g.place.at[RELAY_PACKET_CONTEXT_REF]);

    relay_packet_review(&g);

    relay_packet_look(&g, RELAY_PACKET_EXACT, relay_packet_rendered, NULL);
    relay_packet_look(&g, RELAY_PACKET_FOLD, relay_packet_markers,
                      relay_packet_paths);
    relay_packet_look(&g, RELAY_PACKET_WORDS, relay_packet_omitted,
                      relay_packet_visible);
    relay_packet_look(&g, RELAY_PACKET_WORDS, relay_packet_forbidden, NULL);

    relay_packet_owner(&g);

    relay_buf_free(&g.prompt_mem);
    relay_buf_free(&g.compared_mem);
    relay_buf_free(&g.decoded);
    relay_buf_free(&g.folded);

    if (g.failed) {
        return RELAY_ERROR;
    }

    return (result->refused == 0) ? RELAY_OK : RELAY_DECLINED;
}


static void
relay_packet_find(relay_packet_gate_t *g, unsigned rule, size_t node,
    const char *text)
{
    relay_packet_result_t   *result;
    relay_packet_action_e    action;
    relay_packet_finding_t  *finding;

    result = g->result;
    action = relay_packet_action(g->rules, rule);

    switch (action) {

    case RELAY_PACKET_OFF:
        return;

    case RELAY_PACKET_WARN:
        result->warned++;
        break;

    default:
        result->refused++;

        if (result->rule == 0) {
            result->rule = rule;
        }
    }

    if (result->kept[rule] == RELAY_PACKET_REPORTED) {
        return;
    }

    result->kept[rule]++;

    finding = &result->findings[result->n++];

    finding->rule = rule;
    finding->action = action;
    finding->node = node;
    finding->offset = g->nodes[node].off;
    finding->text = text;
}


/* The bytes of a string: its own, or a copy until the next call. */

static void
relay_packet_decoded(relay_packet_gate_t *g, size_t v, relay_str_t *s)
{
    const relay_json_node_t  *node;

    node = &g->nodes[v];

    if (!node->escaped) {
        s->data = g->doc->data + node->off + 1;
        s->len = node->len - 2;
        return;
    }

    relay_buf_reset(&g->decoded);

    if (relay_json_str_decode(g->tape, g->doc, v, &g->decoded) != RELAY_OK) {
        g->failed = 1;
    }

    relay_buf_str(&g->decoded, s);
}


/* A text in the form in which it is compared; 0: it is not. */

static relay_uint_t
relay_packet_folded(relay_packet_gate_t *g, relay_packet_form_e form,
    relay_str_t *s, relay_buf_t *mem)
{
    if (form == RELAY_PACKET_EXACT) {
        return s->len != 0;
    }

    relay_buf_reset(mem);

    if (g->bytes > RELAY_PACKET_FOLDED_ALL) {
        s->len = 0;
        return 0;
    }

    switch (relay_packet_fold(s, form == RELAY_PACKET_WORDS, mem)) {

    case RELAY_OK:
        break;

    case RELAY_DECLINED:
        g->bytes = RELAY_PACKET_FOLDED_ALL;
        break;

    default:
        g->failed = 1;
        s->len = 0;
        return 0;
    }

    g->bytes += mem->len + 1;

    if (g->bytes > RELAY_PACKET_FOLDED_ALL) {
        relay_packet_find(g, 1, 0, "the texts are too large to be compared");
        s->len = 0;
        return 0;
    }

    relay_buf_str(mem, s);

    if (s->len == 0) {
        return 0;
    }

    return form != RELAY_PACKET_WORDS || memchr(s->data, ' ', s->len) != NULL;
}


/* P2: what is there says something. */

static void
relay_packet_strings(relay_packet_gate_t *g)
{
    size_t                    i;
    relay_str_t               s;
    const relay_json_node_t  *node;

    if (relay_packet_action(g->rules, 2) == RELAY_PACKET_OFF) {
        return;
    }

    for (i = 0; i < g->tape->n; i++) {

        node = &g->nodes[i];

        if (node->type != RELAY_JSON_STRING || node->len == 2) {
            continue;
        }

        relay_packet_decoded(g, i, &s);

        if (relay_packet_blank(&s)) {
            relay_packet_find(g, 2, i, "nothing of this text can be seen");
        }
    }

    relay_packet_filled(g, g->place.at[RELAY_PACKET_LORE_INSTRUCTIONS]);
    relay_packet_filled(g, g->place.at[RELAY_PACKET_TRAVERSAL_PREFIXES]);
    relay_packet_filled(g, g->place.at[RELAY_PACKET_TRAVERSAL_SEEDS]);
    relay_packet_filled(g, g->place.at[RELAY_PACKET_TRAVERSAL_CLASSES]);
    relay_packet_filled(g, g->place.at[RELAY_PACKET_TRAVERSAL_STOPS]);
}


static void
relay_packet_filled(relay_packet_gate_t *g, size_t v)
{
    if (v != 0 && g->nodes[v].count == 0) {
        relay_packet_find(g, 2, v, "an array that is given has an element");
    }
}


/* P4 to P7: lane, lore access and isolation agree. */

static void
relay_packet_lane(relay_packet_gate_t *g)
{
    size_t                 i, v, mode, repo;
    unsigned               open;
    relay_packet_place_t  *p;

    static const relay_packet_member_e  always[] = {
        RELAY_PACKET_LORE_PROVENANCE,
        RELAY_PACKET_ISOLATION_PACKET,
        RELAY_PACKET_ISOLATION_TALK,
        RELAY_PACKET_ISOLATION_HIDDEN
    };

    p = &g->place;
    mode = p->at[RELAY_PACKET_LORE_MODE];
    repo = p->at[RELAY_PACKET_ISOLATION_REPO];

    if (p->lane == RELAY_PACKET_ONLY && p->lore != RELAY_PACKET_LORE_CURATED) {
        relay_packet_find(g, 4, mode, "the lane packet_only has curated"
                                      " excerpts only");
    }

    if (p->lane == RELAY_PACKET_RETRIEVAL
        && p->lore == RELAY_PACKET_LORE_CURATED)
    {
        relay_packet_find(g, 5, mode, "the lane retrieval_augmented has"
                                      " somebody who retrieves");
    }

    open = (g->nodes[repo].type == RELAY_JSON_FALSE);

    if (p->lore != RELAY_PACKET_LORE_RESPONDER) {

        if (open) {
            relay_packet_find(g, 6, repo, "only a responder that searches"
                                          " itself has access to files");
        }

    } else {

        if (!open) {
            relay_packet_find(g, 6, repo, "a responder that searches itself"
                                          " needs access to files");
        }

        if (g->nodes[p->at[RELAY_PACKET_LORE_SCOPE]].count == 0) {
            relay_packet_find(g, 6, p->at[RELAY_PACKET_LORE_SCOPE],
                              "a responder that searches itself needs a"
                              " scope");
        }

        if (p->at[RELAY_PACKET_LORE_INSTRUCTIONS] == 0) {
            relay_packet_find(g, 6, p->at[RELAY_PACKET_LORE],
                              "a responder that searches itself needs"
                              " research_instructions");
        }

        if (p->at[RELAY_PACKET_TRAVERSAL] == 0) {
            relay_packet_find(g, 6, p->at[RELAY_PACKET_LORE],
                              "a responder that searches itself needs a"
                              " traversal_policy");
        }
    }

    for (i = 0; i < sizeof(always) / sizeof(always[0]); i++) {

        v = p->at[always[i]];

        if (g->nodes[v].type != RELAY_JSON_TRUE) {
            relay_packet_find(g, 7, v, "this must be true");
        }
    }
}


/* P10, P11: a text that the prompt must hold, byte for byte. */

static void
relay_packet_contains(relay_packet_gate_t *g, unsigned rule,
    relay_packet_member_e member, const char *text)
{
    relay_str_t  s;

    relay_packet_decoded(g, g->place.at[member], &s);

    if (s.len == 0 || g->prompt.len < s.len
        || memmem(g->prompt.data, g->prompt.len, s.data, s.len) == NULL)
    {
        relay_packet_find(g, rule, g->place.at[member], text);
    }
}


/* P13: a reference to a file is a path below some root, to JSON. */

static void
relay_packet_reference(relay_packet_gate_t *g, size_t v)
{
    size_t       i, start;
    relay_str_t  s;
    const char  *text;

    relay_packet_decoded(g, v, &s);

    text = NULL;

    if (s.len < sizeof(".json")
        || memcmp(s.data + s.len - (sizeof(".json") - 1), ".json",
                  sizeof(".json") - 1)
           != 0)
    {
        text = "the reference does not end in .json";
    }

    start = 0;

    for (i = 0; i <= s.len; i++) {

        if (i < s.len && (s.data[i] == '\\' || s.data[i] == ':')) {
            text = "the reference has a scheme or a backslash";
            break;
        }

        if (i < s.len && s.data[i] != '/') {
            continue;
        }

        if (i == start
            || (i - start == 2 && s.data[start] == '.'
                && s.data[start + 1] == '.'))
        {
            text = "the reference is no relative path";
            break;
        }

        start = i + 1;
    }

    if (text != NULL) {
        relay_packet_find(g, 13, v, text);
    }
}


/* P14 to P16: the packet has been reviewed, and well. */

static void
relay_packet_review(relay_packet_gate_t *g)
{
    size_t                 v;
    relay_packet_place_t  *p;

    p = &g->place;
    v = p->at[RELAY_PACKET_REVIEW_ACCEPTED];

    if (g->nodes[v].type != RELAY_JSON_TRUE) {
        relay_packet_find(g, 14, v, "the packet is not accepted for use");
    }

    v = p->at[RELAY_PACKET_REVIEW_FAILURES];

    if (g->nodes[v].count != 0) {
        relay_packet_find(g, 15, v, "the review found failures");
    }

    switch (p->status) {

    case RELAY_PACKET_ACCEPTED:
    case RELAY_PACKET_ACCEPTED_AS_DRAFT:
        break;

    case RELAY_PACKET_DRAFT:

        if (g->rules->allow_draft) {
            break;
        }

        relay_packet_find(g, 16, p->at[RELAY_PACKET_STATUS],
                          "the packet is a draft");
        break;

    default:
        relay_packet_find(g, 16, p->at[RELAY_PACKET_STATUS],
                          "the review does not accept the packet");
    }
}


/* P25: an audit that hides the character from itself is a copy of another. */

static void
relay_packet_owner(relay_packet_gate_t *g)
{
    size_t       i, n;
    relay_str_t  s, owner;

    if (relay_packet_action(g->rules, 25) == RELAY_PACKET_OFF) {
        return;
    }

    relay_packet_decoded(g, g->place.at[RELAY_PACKET_RESPONDER], &owner);

    (void) relay_packet_folded(g, RELAY_PACKET_WORDS, &owner,
                               &g->compared_mem);

    if (owner.len == 0 || g->failed) {
        return;
    }

    i = g->place.at[RELAY_PACKET_OMITTED] + 1;

    for (n = g->nodes[i - 1].count; n > 0; n--, i = g->nodes[i].next) {

        relay_packet_decoded(g, i, &s);

        (void) relay_packet_folded(g, RELAY_PACKET_WORDS, &s, &g->folded);

        if (s.len >= owner.len && memcmp(s.data, owner.data, owner.len) == 0
            && (s.len == owner.len || s.data[owner.len] == ' '))
        {
            relay_packet_find(g, 25, i, "the responder is hidden from itself");
        }
    }
}


/*
 * Looks in the prompt for what seek() names, which is called twice: to collect
 * that, and to judge what was found.
 */

static void
relay_packet_look(relay_packet_gate_t *g, relay_packet_form_e form,
    relay_packet_seek_pt seek, relay_packet_seek_pt more)
{
    relay_match_init(&g->match, RELAY_PACKET_SOUGHT);

    g->form = form;
    g->asked = 0;
    g->over = 0;

    seek(g);

    g->compared = g->prompt;

    /* a prompt of one word is compared as well */

    (void) relay_packet_folded(g, form, &g->compared, &g->compared_mem);

    if (!g->failed) {

        (void) relay_match_scan(&g->match, &g->compared);

        g->asked = 1;

        seek(g);

        if (more != NULL) {
            more(g);
        }
    }

    relay_match_free(&g->match);
}


static void
relay_packet_seek(relay_packet_gate_t *g, unsigned rule, size_t node,
    const relay_str_t *s, relay_uint_t wanted, const char *text)
{
    relay_str_t  folded;

    if (relay_packet_action(g->rules, rule) == RELAY_PACKET_OFF) {
        return;
    }

    folded = *s;

    if (!relay_packet_folded(g, g->form, &folded, &g->folded)) {
        return;
    }

    if (g->asked) {

        if (relay_match_found(&g->match, &folded) != wanted) {
            relay_packet_find(g, rule, node, text);
        }

        return;
    }

    switch (relay_match_add(&g->match, &folded)) {

    case RELAY_OK:
        break;

    case RELAY_DECLINED:
        g->over = 1;
        relay_packet_find(g, rule, node, relay_packet_too_much);
        break;

    default:
        g->failed = 1;
    }
}


static void
relay_packet_seek_node(relay_packet_gate_t *g, unsigned rule, size_t v,
    relay_uint_t wanted, const char *text)
{
    relay_str_t  s;

    if (v == 0) {
        return;
    }

    relay_packet_decoded(g, v, &s);
    relay_packet_seek(g, rule, v, &s, wanted, text);
}


static void
relay_packet_seek_each(relay_packet_gate_t *g, unsigned rule, size_t array,
    relay_uint_t wanted, const char *text)
{
    size_t  i, n;

    if (array == 0) {
        return;
    }

    i = array + 1;

    for (n = g->nodes[array].count; n > 0; n--) {
        relay_packet_seek_node(g, rule, i, wanted, text);
        i = g->nodes[i].next;
    }
}


static void
relay_packet_seek_excerpts(relay_packet_gate_t *g, unsigned rule,
    const char *member, relay_uint_t wanted, const char *text)
{
    size_t  i, n, array;

    array = g->place.at[RELAY_PACKET_EXCERPTS];
    i = array + 1;

    for (n = g->nodes[array].count; n > 0; n--) {
        relay_packet_seek_node(g, rule,
                               relay_json_get(g->tape, g->doc, i, member,
                                              strlen(member)),
                               wanted, text);
        i = g->nodes[i].next;
    }
}


/* P12, P23, P24, P27: what the prompt must hold, byte for byte. */

static void
relay_packet_rendered(relay_packet_gate_t *g)
{
    size_t                 i, n;
    relay_str_t            s;
    relay_packet_place_t  *p;

    static const char         missing[] = "the prompt does not say this";
    static const relay_str_t  research
                                  = relay_string("## Required Lore Research");

    p = &g->place;

    if (p->lore == RELAY_PACKET_LORE_RESPONDER) {
        relay_packet_seek(g, 12, p->at[RELAY_PACKET_PROMPT], &research, 1,
                          "the prompt has no section Required Lore Research");
        relay_packet_seek_each(g, 12, p->at[RELAY_PACKET_LORE_SCOPE], 1,
                               missing);
        relay_packet_seek_each(g, 12, p->at[RELAY_PACKET_TRAVERSAL_PREFIXES],
                               1, missing);
    }

    relay_packet_seek_each(g, 23, p->at[RELAY_PACKET_LABELS], 1, missing);
    relay_packet_seek_each(g, 24, p->at[RELAY_PACKET_OUTPUT_FIELDS], 1,
                           missing);
    relay_packet_seek_node(g, 24, p->at[RELAY_PACKET_EVENT_SPOKEN], 1,
                           missing);
    relay_packet_seek_excerpts(g, 27, "text", 1, missing);
    relay_packet_seek_each(g, 27, p->at[RELAY_PACKET_OUTPUT_RULES], 1,
                           missing);

    if (!g->asked) {
        return;
    }

    i = p->at[RELAY_PACKET_LABELS] + 1;

    for (n = g->nodes[i - 1].count; n > 0; n--) {

        relay_packet_decoded(g, i, &s);

        if (!relay_packet_label(&s)) {
            relay_packet_find(g, 23, i, "there is no such action");
        }

        i = g->nodes[i].next;
    }
}


/* P8, P9, P21: what no prompt may hold, in any spelling. */

static void
relay_packet_markers(relay_packet_gate_t *g)
{
    size_t                 i, prompt;
    relay_packet_place_t  *p;

    static const char  leaked[] = "the prompt holds this reference";

    p = &g->place;
    prompt = p->at[RELAY_PACKET_PROMPT];

    for (i = 0; relay_packet_state_markers[i].len != 0; i++) {
        relay_packet_seek(g, 8, prompt, &relay_packet_state_markers[i], 0,
                          "the prompt holds a name of hidden state");
    }

    for (i = 0; i < g->rules->nmarkers; i++) {
        relay_packet_seek(g, 9, prompt, &g->rules->markers[i], 0,
                          "the prompt holds a forbidden marker");
    }

    relay_packet_seek_node(g, 21, p->at[RELAY_PACKET_COORDINATOR_REF], 0,
                           leaked);
    relay_packet_seek_node(g, 21, p->at[RELAY_PACKET_CONTEXT_REF], 0, leaked);

    if (p->lore != RELAY_PACKET_LORE_RESPONDER) {
        relay_packet_seek_excerpts(g, 21, "source_ref", 0, leaked);
    }
}


static inline unsigned
relay_packet_path_byte(unsigned c)
{
    return c - 'a' < 26 || c - '0' < 10 || c == '_' || c == '-';
}


/* P21, P22: of the folded prompt as well. */

static void
relay_packet_paths(relay_packet_gate_t *g)
{
    size_t                i;
    const unsigned char  *p, *last;
    const relay_str_t    *folder;

    last = g->compared.data + g->compared.len;

    for (i = 0; relay_packet_folders[i].len != 0; i++) {

        folder = &relay_packet_folders[i];

        for (p = g->compared.data;
             p < last
             && (p = memmem(p, last - p, folder->data, folder->len)) != NULL;
             p += folder->len)
        {
            if (last - p > (ssize_t) folder->len
                && (relay_packet_path_byte(p[folder->len])
                    || p[folder->len] == '.' || p[folder->len] == '*')
                && (p == g->compared.data || !relay_packet_path_byte(p[-1])))
            {
                relay_packet_find(g, 21, g->place.at[RELAY_PACKET_PROMPT],
                                  "the prompt holds a path to the"
                                  " coordinator's files");
                break;
            }
        }
    }

    relay_packet_numbers(g);
}


static inline unsigned
relay_packet_word_byte(unsigned c)
{
    return c - 'a' < 26 || c - '0' < 10 || c == '_';
}


/* P22: raw state: a number such as 0.35, or the name of one. */

static void
relay_packet_numbers(relay_packet_gate_t *g)
{
    size_t                node;
    const unsigned char  *p, *q, *last;

    node = g->place.at[RELAY_PACKET_PROMPT];
    last = g->compared.data + g->compared.len;

    for (p = g->compared.data; p < last; p = q + 1) {

        q = memchr(p, '0', last - p);

        if (q == NULL) {
            break;
        }

        if ((q > g->compared.data && relay_packet_word_byte(q[-1]))
            || last - q < 3 || q[1] != '.' || (unsigned) (q[2] - '0') >= 10)
        {
            continue;
        }

        for (q += 2; q < last && (unsigned) (*q - '0') < 10; q++) { /* void */ }

        if (q == last || !relay_packet_word_byte(*q)) {
            relay_packet_find(g, 22, node,
                              "the prompt holds a raw decimal number");
            break;
        }
    }

    if (g->compared.len != 0
        && (memmem(g->compared.data, g->compared.len, "\"mean\"", 6) != NULL
            || memmem(g->compared.data, g->compared.len,
                      "selected_current_activation", 27)
               != NULL))
    {
        relay_packet_find(g, 22, node, "the prompt holds raw state");
    }
}


/* P17: references that were left out on purpose. */

static void
relay_packet_omitted(relay_packet_gate_t *g)
{
    relay_packet_seek_each(g, 17, g->place.at[RELAY_PACKET_OMITTED], 0,
                           "the prompt names what is omitted");

    /* P18 looks for them, too */

    if (!g->asked && relay_packet_action(g->rules, 17) == RELAY_PACKET_OFF) {
        relay_packet_seek_each(g, 18, g->place.at[RELAY_PACKET_OMITTED], 0,
                               NULL);
    }
}


/* P18: the same in each text that may be shown besides the prompt. */

static void
relay_packet_visible(relay_packet_gate_t *g)
{
    size_t       i, n, last;
    relay_str_t  s;

    static const relay_packet_member_e  objects[] = {
        RELAY_PACKET_VISIBLE,
        RELAY_PACKET_OUTPUT
    };

    if (relay_packet_action(g->rules, 18) == RELAY_PACKET_OFF) {
        return;
    }

    if (g->over) {
        relay_packet_find(g, 18, g->place.at[RELAY_PACKET_OMITTED],
                          relay_packet_too_much);
    }

    for (n = 0; n < sizeof(objects) / sizeof(objects[0]); n++) {

        i = g->place.at[objects[n]];
        last = g->nodes[i].next;

        for (/* void */; i < last; i++) {

            if (g->nodes[i].type != RELAY_JSON_STRING) {
                continue;
            }

            relay_packet_decoded(g, i, &s);

            if (relay_packet_folded(g, RELAY_PACKET_WORDS, &s, &g->folded)
                && relay_match_scan(&g->match, &s))
            {
                relay_packet_find(g, 18, i, "this names what is omitted");
            }

            if (g->failed) {
                return;
            }
        }
    }
}


/* P19: classes of inferences; a rule may name the one that it forbids. */

static void
relay_packet_forbidden(relay_packet_gate_t *g)
{
    relay_packet_seek_each(g, 19, g->place.at[RELAY_PACKET_FORBIDDEN], 0,
                           "the prompt names a forbidden inference");
}
