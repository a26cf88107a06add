
/*
 * relay_packet_gate() and the responder's view: what passes was reviewed, has a
 * prompt that holds what it must and nothing that is omitted, and passes in any
 * spelling; the view is the packet with what is withheld replaced, member by
 * member; the view as text is the prompt.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE             /* memmem() */
#endif

#include <ctype.h>
#include <jansson.h>

#include "fuzz.h"
#include "relay_data.h"
#include "relay_json.h"
#include "relay_packet.h"
#include "relay_schema.h"
#include "relay_view.h"


static relay_json_tape_t     tape;
static relay_view_out_t      out;
static relay_schema_t       *schema;
static relay_schema_run_t    run;
static relay_view_policy_t  *policy;


FUZZ_JSON_MUTATOR


static json_t *
get(json_t *packet, const char *object, const char *name)
{
    return json_object_get(json_object_get(packet, object), name);
}


/* What is there is replaced. */

static void
set(json_t *object, const char *name, json_t *value)
{
    if (json_object_get(object, name) != NULL) {
        json_object_set(object, name, value);
    }

    json_decref(value);
}


static json_t *
withheld(void)
{
    json_t  *array;

    array = json_array();
    json_array_append_new(array, json_string("withheld"));

    return array;
}


/* The view of a packet that meets its schema, member by member. */

static json_t *
expected(json_t *packet)
{
    size_t       i;
    json_t      *view, *object, *excerpt;
    const char  *mode;

    view = json_deep_copy(packet);

    set(view, "review_status", json_string("accepted"));
    set(view, "fixture_lane", json_string("historical_grounded"));
    set(view, "canon_status", json_string("single_history"));
    set(view, "coordinator_artifact_ref", json_string("withheld"));
    set(view, "projected_context_ref", json_string("withheld"));

    object = json_object_get(view, "hidden_context_audit");
    set(object, "omitted_context_refs", withheld());
    set(object, "forbidden_inference_classes", withheld());
    set(object, "known_absences", withheld());

    object = json_object_get(view, "review");
    set(object, "reviewer", json_string("withheld"));
    set(object, "review_notes", json_array());
    set(object, "failure_labels", json_array());

    object = json_object_get(view, "lore_access");
    mode = json_string_value(json_object_get(object, "mode"));

    if (strcmp(mode, "responder_scoped_repository_search") == 0) {
        return view;
    }

    set(view, "generation_lane", json_string("packet_only"));
    set(object, "mode", json_string("curated_excerpts_only"));
    set(object, "allowed_scope", json_array());
    json_object_del(object, "research_instructions");
    json_object_del(object, "traversal_policy");

    json_array_foreach(get(view, "visible_context", "source_excerpts"), i,
                       excerpt)
    {
        set(excerpt, "source_ref", json_string("withheld"));
    }

    return view;
}


static void
view(const relay_str_t *doc, json_t *packet)
{
    size_t               i;
    json_t              *wanted, *got;
    const char          *why;
    relay_buf_t          text;
    relay_view_params_t  params;

    params.now = 1;
    params.permission = RELAY_PERMISSION_READ;

    fuzz_assert(relay_view_project(policy, doc, &tape, RELAY_VIEW_RESPONDER,
                                   &params, &out, &why)
                == RELAY_OK);
    fuzz_assert(out.valid_until == 0);

    relay_buf_init(&text, 2 * RELAY_DOCUMENT_MAX);

    for (i = 0; i < out.n; i++) {
        relay_buf_append_str(&text, &out.spans[i]);
    }

    got = json_loadb((char *) text.data, text.len,
                     JSON_REJECT_DUPLICATES|JSON_ALLOW_NUL, NULL);
    wanted = expected(packet);

    fuzz_assert(got != NULL && json_equal(got, wanted));

    /* no other view of a packet but the owner's */

    fuzz_assert(relay_view_project(policy, doc, &tape, RELAY_VIEW_RECIPIENT,
                                   &params, &out, &why)
                == RELAY_DECLINED);

    json_decref(got);
    json_decref(wanted);
    relay_buf_free(&text);
}


static int
holds(json_t *text, json_t *part)
{
    return memmem(json_string_value(text), json_string_length(text),
                  json_string_value(part), json_string_length(part))
           != NULL;
}


/* Whether a text is of ASCII alone, and of two words or more. */

static int
words(json_t *text)
{
    int          in, n;
    size_t       i;
    const char  *s;

    s = json_string_value(text);
    in = 0;
    n = 0;

    for (i = 0; i < json_string_length(text); i++) {

        if ((unsigned char) s[i] >= 0x80 || s[i] < ' ' || s[i] == 0x7f) {
            return 0;
        }

        n += (isalnum((unsigned char) s[i]) && !in);
        in = isalnum((unsigned char) s[i]) != 0;
    }

    return n >= 2;
}


static void
clean(json_t *value, json_t *ref)
{
    size_t       i;
    json_t      *child;
    const char  *name;

    switch (json_typeof(value)) {

    case JSON_STRING:
        fuzz_assert(!holds(value, ref));
        break;

    case JSON_ARRAY:
        json_array_foreach(value, i, child) {
            clean(child, ref);
        }

        break;

    case JSON_OBJECT:
        json_object_foreach(value, name, child) {
            clean(child, ref);
        }

        break;

    default:
        break;
    }
}


/* What holds of a packet that passes the rules' defaults. */

static void
passed(json_t *packet)
{
    size_t       i;
    json_t      *prompt, *refs, *ref, *review;
    const char  *status;

    prompt = json_object_get(packet, "packet_prompt_text");
    review = json_object_get(packet, "review");
    status = json_string_value(json_object_get(packet, "review_status"));

    fuzz_assert(json_is_true(json_object_get(review,
                                             "accepted_for_sandbox_use")));
    fuzz_assert(json_array_size(json_object_get(review, "failure_labels"))
                == 0);
    fuzz_assert(strcmp(status, "accepted") == 0
                || strcmp(status, "accepted_as_draft") == 0);

    fuzz_assert(holds(prompt, get(packet, "visible_context",
                                  "local_context_prompt")));
    fuzz_assert(holds(prompt,
                      json_object_get(get(packet, "visible_context",
                                          "observed_event"),
                                      "observable_action")));

    refs = get(packet, "hidden_context_audit", "omitted_context_refs");

    json_array_foreach(refs, i, ref) {

        if (words(ref)) {
            clean(prompt, ref);
            clean(json_object_get(packet, "visible_context"), ref);
            clean(json_object_get(packet, "output_contract"), ref);
        }
    }

    ref = json_object_get(packet, "coordinator_artifact_ref");

    if (words(ref)) {
        clean(prompt, ref);
    }
}


static relay_int_t
gate(const relay_str_t *doc, relay_uint_t valid, relay_packet_action_e action,
    relay_packet_result_t *result)
{
    size_t                i;
    relay_int_t           rc;
    relay_packet_rules_t  rules;

    relay_packet_rules_init(&rules);

    for (i = 1; i < RELAY_PACKET_RULES && action != RELAY_PACKET_OFF; i++) {
        rules.action[i] = action;
    }

    rc = relay_packet_gate(&rules, doc, &tape, valid, result);

    fuzz_assert(rc == RELAY_OK || rc == RELAY_DECLINED);
    fuzz_assert((rc == RELAY_OK) == (result->refused == 0));
    fuzz_assert((rc == RELAY_OK) == (result->rule == 0));
    fuzz_assert(result->n <= result->refused + result->warned);

    for (i = 0; i < result->n; i++) {
        fuzz_assert(result->findings[i].node < tape.n);
        fuzz_assert(result->findings[i].offset < doc->len);
        fuzz_assert(result->findings[i].text != NULL);
        fuzz_assert(relay_packet_rule_name(result->findings[i].rule)->len);
    }

    return rc;
}


/* The same packet in another spelling has the same findings. */

static void
spelled(json_t *packet, size_t flags, relay_int_t rc,
    const relay_packet_result_t *result)
{
    char                   *text;
    size_t                  i;
    relay_str_t             doc;
    relay_json_error_t      err;
    relay_packet_result_t   again;

    text = json_dumps(packet, flags);
    fuzz_assert(text != NULL);

    doc.data = (unsigned char *) text;
    doc.len = strlen(text);

    if (relay_json_parse(&tape, &doc, &relay_json_default_limits, &err)
        == RELAY_OK)
    {
        fuzz_assert(gate(&doc, 1, RELAY_PACKET_OFF, &again) == rc);
        fuzz_assert(again.n == result->n && again.refused == result->refused
                    && again.warned == result->warned);

        for (i = 0; i < again.n; i++) {
            fuzz_assert(again.findings[i].rule == result->findings[i].rule);
            fuzz_assert(again.findings[i].node == result->findings[i].node);
        }
    }

    free(text);
}


static void
judge(const relay_str_t *doc)
{
    json_t                    *packet;
    relay_int_t                rc;
    relay_buf_t                mem, err;
    relay_str_t                s;
    relay_packet_t             head;
    relay_uint_t               valid;
    relay_packet_result_t      result, strict;
    relay_packet_response_t    response;

    relay_buf_init(&mem, RELAY_DOCUMENT_MAX);
    relay_buf_init(&err, 64 * 1024);

    rc = relay_packet_head(doc, &tape, &head, &mem, &err);
    fuzz_assert(rc == RELAY_OK || (rc == RELAY_DECLINED && err.len != 0));

    valid = (relay_schema_validate(schema, doc, &tape, &run) == RELAY_OK);

    /* without its schema nothing passes, whatever the rules say */

    fuzz_assert(gate(doc, 0, RELAY_PACKET_WARN, &strict) == RELAY_DECLINED);

    if (rc != RELAY_OK) {
        fuzz_assert(!valid || mem.len == 0 || err.len != 0);
    }

    (void) relay_packet_response(doc, &tape, doc, &tape, &response);

    if (!valid) {
        goto done;
    }

    rc = gate(doc, 1, RELAY_PACKET_OFF, &result);

    if (gate(doc, 1, RELAY_PACKET_REFUSE, &strict) == RELAY_OK) {
        fuzz_assert(rc == RELAY_OK);
    }

    packet = json_loadb((char *) doc->data, doc->len,
                        JSON_REJECT_DUPLICATES|JSON_ALLOW_NUL, NULL);

    if (packet == NULL) {
        goto done;
    }

    view(doc, packet);

    relay_buf_reset(&mem);
    fuzz_assert(relay_packet_prompt(doc, &tape, &mem) == RELAY_OK);

    s.data = (unsigned char *)
                 json_string_value(json_object_get(packet,
                                                   "packet_prompt_text"));
    s.len = json_string_length(json_object_get(packet, "packet_prompt_text"));

    fuzz_assert(mem.len == s.len
                && (s.len == 0 || memcmp(mem.data, s.data, s.len) == 0));

    if (rc == RELAY_OK) {
        passed(packet);
    }

    spelled(packet, JSON_ENSURE_ASCII|JSON_COMPACT, rc, &result);
    spelled(packet, JSON_ESCAPE_SLASH|JSON_INDENT(2), rc, &result);

    json_decref(packet);

done:

    relay_buf_free(&mem);
    relay_buf_free(&err);
}


static void
start(void)
{
    relay_buf_t         err;
    const relay_str_t  *text;

    static const relay_str_t  type = relay_string(RELAY_PACKET_SCHEMA);

    relay_buf_init(&err, 1024);

    text = relay_document_schema(&type);
    fuzz_assert(text != NULL);
    schema = relay_schema_compile(text, &err);

    text = relay_view_policy_text(RELAY_PACKET_SCHEMA);
    fuzz_assert(text != NULL);
    policy = relay_view_compile(text, &err);

    fuzz_assert(schema != NULL && policy != NULL);

    relay_buf_free(&err);

    relay_schema_run_init(&run, 1);
    relay_view_out_init(&out);
    relay_json_tape_init(&tape);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_in_t            in;
    relay_str_t          doc;
    relay_json_error_t   err;

    if (schema == NULL) {
        start();
    }

    fuzz_in_init(&in, data, size);
    doc = fuzz_rest(&in);

    if (relay_json_parse(&tape, &doc, &relay_json_default_limits, &err)
        == RELAY_OK)
    {
        judge(&doc);
    }

    fuzz_in_free(&in);

    return 0;
}
