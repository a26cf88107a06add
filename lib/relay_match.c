
/*
 * relay_match: many patterns looked for in one pass over a text.
 *
 * A byte is two steps, the high half first, so that a state has a table of 16
 * and no text can make a step slow.  After a first half that no pattern has,
 * the automaton is in the state RELAY_MATCH_HALF, which any second half leaves
 * for the root: patterns begin at whole bytes only.
 */

#include <stdlib.h>

#include "relay_match.h"


#define RELAY_MATCH_ROOT   0
#define RELAY_MATCH_HALF   1
#define RELAY_MATCH_FIRST  2        /* of the states that patterns make */


struct relay_match_state_s {
    uint32_t  next[16];             /* RELAY_MATCH_ROOT: no pattern goes on */
    uint32_t  fail;                 /* the longest suffix that is a state */
    uint32_t  order;                /* the states, the shorter ones first */
    uint32_t  depth;                /* halves from the root to here */
    uint8_t   end;                  /* a pattern ends here, or a suffix does */
    uint8_t   seen;                 /* a text has been here */
};


static relay_int_t relay_match_state(relay_match_t *m, uint32_t *state);
static void relay_match_compile(relay_match_t *m);


static inline unsigned
relay_match_half(const relay_str_t *s, size_t i)
{
    return (i & 1) ? s->data[i / 2] & 0x0f : s->data[i / 2] >> 4;
}


void
relay_match_init(relay_match_t *m, size_t max)
{
    memset(m, 0, sizeof(relay_match_t));

    m->max = RELAY_MATCH_FIRST + 2 * max;
}


void
relay_match_free(relay_match_t *m)
{
    free(m->states);

    memset(m, 0, sizeof(relay_match_t));
}


static relay_int_t
relay_match_state(relay_match_t *m, uint32_t *state)
{
    size_t                size;
    relay_match_state_t  *states;

    if (m->n == m->size) {

        size = (m->size == 0) ? 256 : 2 * m->size;

        states = realloc(m->states, size * sizeof(relay_match_state_t));
        if (states == NULL) {
            return RELAY_ERROR;
        }

        m->states = states;
        m->size = size;
    }

    memset(&m->states[m->n], 0, sizeof(relay_match_state_t));

    *state = (uint32_t) m->n++;

    return RELAY_OK;
}


relay_int_t
relay_match_add(relay_match_t *m, const relay_str_t *pattern)
{
    size_t    i;
    unsigned  half;
    uint32_t  state, next;

    if (pattern->len == 0) {
        return RELAY_OK;
    }

    if (m->compiled) {
        return RELAY_ERROR;
    }

    while (m->n < RELAY_MATCH_FIRST) {
        if (relay_match_state(m, &state) != RELAY_OK) {
            return RELAY_ERROR;
        }
    }

    /* what other patterns begin with as well is counted again */

    if (pattern->len > (m->max - m->n) / 2) {
        return RELAY_DECLINED;
    }

    state = RELAY_MATCH_ROOT;

    for (i = 0; i < 2 * pattern->len; i++) {

        half = relay_match_half(pattern, i);
        next = m->states[state].next[half];

        if (next == RELAY_MATCH_ROOT) {

            if (relay_match_state(m, &next) != RELAY_OK) {
                return RELAY_ERROR;
            }

            m->states[state].next[half] = next;
            m->states[next].depth = (uint32_t) (i + 1);
        }

        state = next;
    }

    m->states[state].end = 1;

    return RELAY_OK;
}


/* The shorter states first: a suffix is complete when it is looked at. */

static void
relay_match_compile(relay_match_t *m)
{
    size_t                i, n;
    unsigned              half;
    uint32_t              state, fail, next;
    relay_match_state_t  *states;

    states = m->states;
    states[0].order = RELAY_MATCH_ROOT;
    n = 1;

    for (i = 0; i < n; i++) {

        state = states[i].order;
        fail = states[state].fail;

        for (half = 0; half < 16; half++) {

            next = states[state].next[half];

            if (next == RELAY_MATCH_ROOT) {
                states[state].next[half] = (state == RELAY_MATCH_ROOT)
                                           ? RELAY_MATCH_HALF
                                           : states[fail].next[half];
                continue;
            }

            states[next].fail = (state == RELAY_MATCH_ROOT)
                                ? RELAY_MATCH_HALF : states[fail].next[half];

            if (states[states[next].fail].end) {
                states[next].end = 1;
            }

            states[n++].order = next;
        }
    }

    m->compiled = 1;
}


relay_uint_t
relay_match_scan(relay_match_t *m, const relay_str_t *text)
{
    size_t                i;
    uint32_t              state;
    relay_uint_t          found;
    relay_match_state_t  *states;

    if (m->n == 0) {
        return 0;
    }

    if (!m->compiled) {
        relay_match_compile(m);
    }

    states = m->states;
    state = RELAY_MATCH_ROOT;
    found = 0;

    for (i = 0; i < text->len; i++) {
        state = states[state].next[text->data[i] >> 4];
        state = states[state].next[text->data[i] & 0x0f];

        states[state].seen = 1;
        found |= states[state].end;
    }

    m->counted = 0;

    return found;
}


relay_uint_t
relay_match_found(relay_match_t *m, const relay_str_t *pattern)
{
    size_t                i;
    uint32_t              state;
    relay_match_state_t  *states;

    if (pattern->len == 0) {
        return 1;
    }

    if (!m->compiled) {
        return 0;
    }

    states = m->states;

    if (!m->counted) {

        /* who has been in a state has been in its suffixes, too */

        for (i = m->n - RELAY_MATCH_FIRST; i > 0; i--) {
            state = states[i].order;

            if (states[state].seen) {
                states[states[state].fail].seen = 1;
            }
        }

        m->counted = 1;
    }

    state = RELAY_MATCH_ROOT;

    for (i = 0; i < 2 * pattern->len; i++) {
        state = states[state].next[relay_match_half(pattern, i)];
    }

    return states[state].depth == 2 * pattern->len && states[state].seen;
}
