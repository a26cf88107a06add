
/*
 * The example packet, in a form in which parts of it can be changed.
 */

#ifndef _PACKET_EXAMPLE_H_INCLUDED_
#define _PACKET_EXAMPLE_H_INCLUDED_


#include <stdio.h>
#include <stdlib.h>

#include "relay_packet.h"


#define EXAMPLE      "schema/examples/packet.json"
#define PROMPT       "/packet_prompt_text"
#define OMITTED      "/hidden_context_audit/omitted_context_refs"
#define FORBIDDEN    "/hidden_context_audit/forbidden_inference_classes"
#define RESEARCH     "responder_scoped_repository_search"
#define ROOM         (16 * 1024 * 1024)


static relay_json_tape_t       tape;
static relay_buf_t             doc, next;


static inline void
example_init(void)
{
    relay_json_tape_init(&tape);
    relay_buf_init(&doc, ROOM);
    relay_buf_init(&next, ROOM);
}


static inline void
example_free(void)
{
    relay_json_tape_free(&tape);
    relay_buf_free(&doc);
    relay_buf_free(&next);
}


static inline void
parse(relay_buf_t *b, relay_json_tape_t *t)
{
    relay_str_t         s;
    relay_json_error_t  jerr;

    relay_buf_str(b, &s);

    if (relay_json_parse(t, &s, &relay_json_default_limits, &jerr)
        != RELAY_OK)
    {
        fail_msg("line %zu: %s", jerr.line, jerr.text);
    }
}


static inline void
example(void)
{
    FILE    *fp;
    size_t   n;
    char     chunk[4096];

    fp = fopen(EXAMPLE, "rb");
    if (fp == NULL) {
        fail_msg("%s is missing", EXAMPLE);
    }

    relay_buf_reset(&doc);

    while ((n = fread(chunk, 1, sizeof(chunk), fp)) > 0) {
        assert_int_equal(relay_buf_append(&doc, chunk, n), RELAY_OK);
    }

    fclose(fp);

    parse(&doc, &tape);
}


/* The node that a pointer without escapes leads to. */

static inline size_t
node_at(const char *pointer)
{
    size_t       node, n;
    const char  *p;
    relay_str_t  s;

    relay_buf_str(&doc, &s);
    node = 0;

    while (*pointer == '/') {

        pointer++;
        p = pointer + strcspn(pointer, "/");

        if (tape.nodes[node].type == RELAY_JSON_OBJECT) {
            node = relay_json_get(&tape, &s, node, pointer, p - pointer);
            assert_int_not_equal(node, 0);

        } else {
            n = strtoul(pointer, NULL, 10);
            assert_true(n < tape.nodes[node].count);

            for (node++; n > 0; n--) {
                node = tape.nodes[node].next;
            }
        }

        pointer = p;
    }

    return node;
}


static inline void
put(size_t from, size_t to, const char *text)
{
    relay_buf_t  b;

    relay_buf_reset(&next);

    relay_buf_append(&next, doc.data, from);
    relay_buf_append_z(&next, text);
    relay_buf_append(&next, doc.data + to, doc.len - to);
    assert_int_equal(next.failed, 0);

    b = doc;
    doc = next;
    next = b;

    parse(&doc, &tape);
}


/* Puts JSON text in the place of a value. */

static inline void
set(const char *pointer, const char *text)
{
    relay_json_node_t  *node;

    node = &tape.nodes[node_at(pointer)];

    put(node->off, node->off + node->len, text);
}


/* Puts text before the end of a string, an array or an object. */

static inline void
add(const char *pointer, const char *text)
{
    size_t              end;
    relay_json_node_t  *node;

    node = &tape.nodes[node_at(pointer)];
    end = node->off + node->len - 1;

    put(end, end, text);
}


/* A packet whose responder searches itself, as it must be. */

static inline void
example_research(void)
{
    example();

    set("/generation_lane", "\"retrieval_augmented\"");
    set("/lore_access",
        "{\"mode\":\"" RESEARCH "\",\"allowed_scope\":[\"lore/mill/\"],"
        "\"required_provenance\":true,"
        "\"research_instructions\":[\"Look up the tide.\"],"
        "\"traversal_policy\":{\"max_link_depth\":2,"
        "\"allowed_prefixes\":[\"lore/tides/\"],"
        "\"required_seed_refs\":[\"lore/tides/low.md\"],"
        "\"follow_link_classes\":[\"inline\"],"
        "\"stop_conditions\":[\"two links deep\"]}}");
    set("/isolation_requirements/no_repo_access", "false");
    add(PROMPT, "\\n## Required Lore Research\\nRead lore/mill/ and"
                " lore/tides/ only.\\n");
}


#endif /* _PACKET_EXAMPLE_H_INCLUDED_ */
