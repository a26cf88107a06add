
/*
 * relayctl_packet: responder packets on the command line: their rules, the
 * responder's view of them, and what comes back.
 */

#include <stdio.h>

#include "relayctl.h"


#define RELAYCTL_MARKERS  64    /* of P9 */


static int relayctl_packet_rules(relayctl_t *ctl, relay_packet_rules_t *rules);
static int relayctl_packet_markers(relayctl_t *ctl,
    relay_packet_rules_t *rules);
static relay_int_t relayctl_packet_gate(relayctl_t *ctl,
    relayctl_document_t *d, const relay_packet_rules_t *rules,
    relay_packet_result_t *result);
static void relayctl_packet_note(relayctl_t *ctl, relay_buf_t *out,
    const relayctl_document_t *d, const char *name, const char *action,
    size_t node, const char *text);
static int relayctl_packet_end(relayctl_t *ctl, relay_buf_t *out,
    const relayctl_document_t *d, const char *verdict, size_t refused,
    size_t warned);


relay_uint_t
relayctl_is_packet(const relayctl_document_t *d)
{
    size_t  v;

    v = relay_json_get(&d->tape, &d->text, 0, "schema_version", 14);

    return v != 0
           && d->tape.nodes[v].type == RELAY_JSON_STRING
           && relay_json_str_is(&d->tape, &d->text, v, RELAY_PACKET_SCHEMA,
                                sizeof(RELAY_PACKET_SCHEMA) - 1);
}


/* The options --allow-draft, --rules and --markers. */

static int
relayctl_packet_rules(relayctl_t *ctl, relay_packet_rules_t *rules)
{
    const char  *p;
    relay_str_t  word;

    relay_packet_rules_init(rules);

    rules->allow_draft = relayctl_option(ctl, "allow-draft") != NULL;

    p = relayctl_option(ctl, "rules");

    while (p != NULL && *p != '\0') {
        word.data = (unsigned char *) p;
        word.len = strcspn(p, ",");

        if (relay_packet_rules_word(rules, &word) != RELAY_OK) {
            return relayctl_fail(ctl, RELAYCTL_USAGE, "--rules: a list such as "
                                 "P19=refuse,P23=off,P15=warn; P1, P3, P14 and "
                                 "P16 always refuse");
        }

        p += word.len;
        p += (*p == ',');
    }

    return relayctl_packet_markers(ctl, rules);
}


static int
relayctl_packet_markers(relayctl_t *ctl, relay_packet_rules_t *rules)
{
    size_t        n;
    relay_buf_t  *mem;
    const char   *p;
    relay_str_t  *markers, s;

    p = relayctl_option(ctl, "markers");

    if (p == NULL) {
        return RELAYCTL_OK;
    }

    mem = relayctl_buf(ctl, RELAYCTL_MARKERS * sizeof(relay_str_t));

    for (n = 0; *p != '\0'; n++) {

        if (n == RELAYCTL_MARKERS) {
            return relayctl_fail(ctl, RELAYCTL_USAGE, "--markers: at most %d",
                                 RELAYCTL_MARKERS);
        }

        s.data = (unsigned char *) p;
        s.len = strcspn(p, ",");

        if (relay_buf_append(mem, &s, sizeof(relay_str_t)) != RELAY_OK) {
            return relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
        }

        p += s.len;
        p += (*p == ',');
    }

    markers = (relay_str_t *) (void *) mem->data;

    rules->markers = markers;
    rules->nmarkers = n;

    return RELAYCTL_OK;
}


/* Where it does not meet its schema, the faults are printed as well. */

static relay_int_t
relayctl_packet_gate(relayctl_t *ctl, relayctl_document_t *d,
    const relay_packet_rules_t *rules, relay_packet_result_t *result)
{
    relay_str_t  type;

    return relay_packet_gate(rules, &d->text, &d->tape,
                             relayctl_check_schema(ctl, d, &type)
                             == RELAYCTL_OK, result);
}


/* One line, or one object, for what a rule or a check says. */

static void
relayctl_packet_note(relayctl_t *ctl, relay_buf_t *out,
    const relayctl_document_t *d, const char *name, const char *action,
    size_t node, const char *text)
{
    size_t        line, column;
    relay_buf_t  *line_out, *pointer;
    relay_str_t   s;

    relayctl_position(&d->text, d->tape.nodes[node].off, &line, &column);

    pointer = relayctl_buf(ctl, RELAY_DOCUMENT_MAX);

    (void) relay_pointer_append(&d->tape, &d->text, node, pointer);

    if (!ctl->json) {
        s = relayctl_str(d->file);
        relayctl_append_safe(out, &s);
        relay_buf_printf(out, ":%zu:%zu: %s %s: ", line, column, name, action);
        relay_buf_str(pointer, &s);
        relayctl_append_safe(out, &s);
        relay_buf_printf(out, "%s%s\n", s.len ? ": " : "", text);
        return;
    }

    line_out = relayctl_buf(ctl, RELAY_DOCUMENT_MAX);

    s = relayctl_str(d->file);
    relayctl_field(ctl, line_out, "file", &s);
    s = relayctl_str(name);
    relayctl_field(ctl, line_out, "rule", &s);
    s = relayctl_str(action);
    relayctl_field(ctl, line_out, "action", &s);
    relay_buf_append_z(line_out, ",\"pointer\":");
    relay_buf_str(pointer, &s);
    relay_buf_append_json(line_out, &s);
    relayctl_field_int(ctl, line_out, "line", (int64_t) line);
    relayctl_field_int(ctl, line_out, "column", (int64_t) column);
    relayctl_field_int(ctl, line_out, "offset",
                       (int64_t) d->tape.nodes[node].off);
    s = relayctl_str(text);
    relayctl_field(ctl, line_out, "text", &s);
    relay_buf_append_z(line_out, "}\n");

    relay_buf_str(line_out, &s);
    relay_buf_append_str(out, &s);
}


/* The last line; writes all of them. */

static int
relayctl_packet_end(relayctl_t *ctl, relay_buf_t *out,
    const relayctl_document_t *d, const char *verdict, size_t refused,
    size_t warned)
{
    int           rc;
    relay_buf_t  *last;
    relay_str_t   s;

    last = relayctl_buf(ctl, 64 * 1024);
    s = relayctl_str(d->file);

    if (ctl->json) {
        relayctl_field(ctl, last, "file", &s);
        s = relayctl_str(verdict);
        relayctl_field(ctl, last, "verdict", &s);
        relayctl_field_int(ctl, last, "refused", (int64_t) refused);
        relayctl_field_int(ctl, last, "warned", (int64_t) warned);
        relay_buf_append_z(last, "}\n");

    } else {
        relayctl_append_safe(last, &s);
        relay_buf_printf(last, ": %s, %zu refused, %zu warned\n", verdict,
                         refused, warned);
    }

    relay_buf_str(last, &s);
    relay_buf_append_str(out, &s);

    if (out->failed) {
        return relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
    }

    relay_buf_str(out, &s);

    rc = relayctl_write(ctl, &s);

    return (rc != RELAYCTL_OK) ? rc
           : refused ? RELAYCTL_REFUSED : RELAYCTL_OK;
}


int
relayctl_check_packet(relayctl_t *ctl, relayctl_document_t *d)
{
    int                      rc;
    size_t                   i;
    relay_int_t              ret;
    relay_buf_t             *out;
    relay_str_t              claim;
    const char              *isolation;
    relay_packet_t           packet;
    relay_packet_rules_t     rules;
    relay_packet_result_t    result;
    relay_packet_finding_t  *f;

    rc = relayctl_packet_rules(ctl, &rules);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    ret = relayctl_packet_gate(ctl, d, &rules, &result);

    if (ret == RELAY_ERROR) {
        return relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
    }

    out = relayctl_buf(ctl, 2 * RELAY_DOCUMENT_MAX);

    for (i = 0; i < result.n; i++) {
        f = &result.findings[i];

        relayctl_packet_note(ctl, out, d,
                             (char *) relay_packet_rule_name(f->rule)->data,
                             (char *) relay_packet_action_name(f->action)->data,
                             f->node, f->text);
    }

    isolation = relayctl_option(ctl, "isolation");

    if (isolation != NULL
        && relay_packet_head(&d->text, &d->tape, &packet,
                             relayctl_buf(ctl, RELAY_DOCUMENT_MAX),
                             relayctl_buf(ctl, 4096))
           == RELAY_OK)
    {
        claim = relayctl_str(isolation);

        if (relay_packet_isolated(&packet, &claim) != RELAY_OK) {
            result.refused++;
            ret = RELAY_DECLINED;

            relayctl_packet_note(ctl, out, d, "P26", "refuse",
                                 relay_json_get(&d->tape, &d->text, 0,
                                                "isolation_requirements", 22),
                                 "the caller is isolated in another way");
        }
    }

    return relayctl_packet_end(ctl, out, d,
                               (ret == RELAY_OK) ? "may be served"
                                                 : "may not be served",
                               result.refused, result.warned);
}


int
relayctl_check_response(relayctl_t *ctl, relayctl_document_t *d)
{
    int                       rc;
    size_t                    i;
    relay_int_t               ret;
    relay_buf_t              *out;
    relayctl_document_t       response;
    relay_packet_response_t   result;

    rc = relayctl_load(ctl, relayctl_option(ctl, "response"), &response);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    ret = relay_packet_response(&d->text, &d->tape, &response.text,
                                &response.tape, &result);

    if (ret == RELAY_ERROR) {
        relayctl_unload(&response);
        return relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
    }

    out = relayctl_buf(ctl, 2 * RELAY_DOCUMENT_MAX);

    for (i = 0; i < result.n; i++) {
        relayctl_packet_note(ctl, out, &response, result.faults[i].name,
                             "refuse", result.faults[i].node,
                             result.faults[i].text);
    }

    rc = relayctl_packet_end(ctl, out, &response,
                             (ret == RELAY_OK) ? "answers the packet"
                                               : "does not answer the packet",
                             result.n, 0);

    relayctl_unload(&response);

    return rc;
}


int
relayctl_view_packet(relayctl_t *ctl, relayctl_document_t *d,
    const relay_view_params_t *params)
{
    size_t                   i;
    relay_int_t              ret;
    relay_buf_t             *out, *why;
    relay_str_t              s;
    relay_packet_rules_t     rules;
    relay_packet_result_t    result;
    relay_packet_finding_t  *f;

    if (relayctl_packet_rules(ctl, &rules) != RELAYCTL_OK) {
        return RELAYCTL_USAGE;
    }

    ret = relayctl_packet_gate(ctl, d, &rules, &result);

    if (ret == RELAY_ERROR) {
        return relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
    }

    out = relayctl_buf(ctl, 2 * RELAY_DOCUMENT_MAX);
    why = relayctl_buf(ctl, RELAY_DOCUMENT_MAX);

    if (ret != RELAY_OK) {

        for (i = 0; i < result.n; i++) {
            if (result.findings[i].rule == result.rule) {
                break;
            }
        }

        f = &result.findings[i];

        (void) relay_pointer_append(&d->tape, &d->text, f->node, why);
        (void) relay_buf_append_c(why, '\0');

        return relayctl_fail_in(ctl, RELAYCTL_REFUSED, d,
                                why->failed ? "" : (char *) why->data,
                                "withheld: %s: %s",
                                relay_packet_rule_name(f->rule)->data,
                                f->text);
    }

    if (relayctl_option(ctl, "text") != NULL) {

        if (relay_packet_prompt(&d->text, &d->tape, out) != RELAY_OK) {
            return relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
        }

    } else if (relayctl_project(ctl, d, RELAY_VIEW_RESPONDER, params, out, why)
               != RELAYCTL_OK)
    {
        relay_buf_append_c(why, '\0');

        return relayctl_fail_at(ctl, RELAYCTL_REFUSED, d->file, 0, 0,
                                "withheld: %s",
                                why->failed ? "" : (char *) why->data);
    }

    relay_buf_str(out, &s);

    return relayctl_write(ctl, &s);
}
