
/*
 * relayctl_view: the command view: what a reader gets of a document, and why
 * not the rest.
 */

#include "relayctl.h"


typedef struct {
    relayctl_t                *ctl;
    const relayctl_document_t *d;
    relay_buf_t               *out;
    relay_buf_t               *pointer;
    relay_pointer_walk_t       walk;
} relayctl_explain_t;


/* One line of --explain. */

static void
relayctl_explain(void *data, const relay_view_note_t *note)
{
    relay_str_t          s, what;
    relay_buf_t         *out;
    relayctl_explain_t  *e;

    e = data;
    out = e->out;

    relay_buf_reset(e->pointer);
    (void) relay_pointer_append_next(&e->d->tape, &e->d->text, note->node,
                                     &e->walk, e->pointer);
    relay_buf_str(e->pointer, &s);

    what = relayctl_str(note->what);

    if (e->ctl->json) {
        relay_buf_append_z(out, "{\"pointer\":");
        relay_buf_append_json(out, &s);
        relay_buf_append_z(out, ",\"what\":");
        relay_buf_append_json(out, &what);
        relay_buf_append_z(out, ",\"rule\":");
        relay_buf_append_json(out, &note->word);
        relay_buf_append_z(out, ",\"at\":");
        relay_buf_append_json(out, &note->place);
        relay_buf_append_z(out, ",\"because\":");
        relay_buf_append_json(out, &note->because);
        relay_buf_append_z(out, ",\"why\":");
        relay_buf_append_json(out, &note->why);
        relay_buf_append_z(out, "}\n");
        return;
    }

    relayctl_append_safe(out, &s);
    relay_buf_append_z(out, ": ");
    relay_buf_append_str(out, &what);

    if (note->place.len != 0) {
        relay_buf_append_z(out, " by \"");
        relayctl_append_safe(out, &note->word);
        relay_buf_append_z(out, "\" of ");
        relayctl_append_safe(out, &note->place);
    }

    if (note->because.len != 0) {
        relay_buf_append_z(out, ": ");
        relayctl_append_safe(out, &note->because);
    }

    if (note->why.len != 0) {
        relay_buf_append_z(out, " (");
        relayctl_append_safe(out, &note->why);
        relay_buf_append_c(out, ')');
    }

    relay_buf_append_c(out, '\n');
}


/* The policy of a document's type; NULL: why says why there is none. */

static relay_view_policy_t *
relayctl_policy(relayctl_t *ctl, const relayctl_document_t *d,
    relay_buf_t *why)
{
    size_t              node;
    relay_buf_t        *schema;
    const relay_str_t  *text;

    schema = relayctl_buf(ctl, 256);
    node = 0;

    if (d->tape.nodes[0].type == RELAY_JSON_OBJECT) {
        node = relay_json_get(&d->tape, &d->text, 0, "schema", 6);

        if (node == 0) {
            node = relay_json_get(&d->tape, &d->text, 0, "schema_version", 14);
        }
    }

    if (node == 0 || d->tape.nodes[node].type != RELAY_JSON_STRING
        || relay_json_str_decode(&d->tape, &d->text, node, schema) != RELAY_OK
        || relay_buf_append_c(schema, '\0') != RELAY_OK
        || strlen((char *) schema->data) != schema->len - 1)
    {
        relay_buf_append_z(why, "it does not say which schema it has");
        return NULL;
    }

    text = relay_view_policy_text((char *) schema->data);

    if (text == NULL) {
        relay_buf_printf(why, "no view policy for \"%s\"", schema->data);
        return NULL;
    }

    return relay_view_compile(text, why);
}


/* The same as relayctl_project(), and with e, what is left out and changed. */

static int
relayctl_project_explained(relayctl_t *ctl, relayctl_document_t *d,
    relay_view_e view, const relay_view_params_t *params, relay_buf_t *out,
    relay_buf_t *why, relayctl_explain_t *e)
{
    size_t                i;
    const char           *sentence;
    relay_int_t           rc;
    relay_view_out_t      spans;
    relay_view_policy_t  *policy;

    policy = relayctl_policy(ctl, d, why);

    if (policy == NULL) {
        return RELAYCTL_REFUSED;
    }

    sentence = "no memory";
    relay_view_out_init(&spans);

    if (e != NULL) {
        spans.note = relayctl_explain;
        spans.note_data = e;
    }

    rc = relay_view_project(policy, &d->text, &d->tape, view, params, &spans,
                            &sentence);

    if (rc == RELAY_OK) {

        for (i = 0; i < spans.n; i++) {
            relay_buf_append_str(out, &spans.spans[i]);
        }

        if (out->failed) {
            sentence = "the view is too large";
            rc = RELAY_DECLINED;
        }

    } else if (spans.fault != 0) {
        (void) relay_pointer_append(&d->tape, &d->text, spans.fault, why);
        relay_buf_append_z(why, ": ");
    }

    if (rc != RELAY_OK) {
        relay_buf_append_z(why, sentence);
    }

    relay_view_out_free(&spans);
    relay_view_policy_free(policy);

    return rc == RELAY_OK ? RELAYCTL_OK : RELAYCTL_REFUSED;
}


int
relayctl_project(relayctl_t *ctl, relayctl_document_t *d, relay_view_e view,
    const relay_view_params_t *params, relay_buf_t *out, relay_buf_t *why)
{
    return relayctl_project_explained(ctl, d, view, params, out, why, NULL);
}


int
relayctl_view(relayctl_t *ctl)
{
    int                   rc;
    relay_buf_t          *out, *why;
    const char           *now;
    relay_str_t           s;
    relay_view_e          view;
    relay_permission_e    permission;
    relayctl_explain_t    explain;
    relay_view_params_t   params;
    relayctl_document_t   d;

    view = RELAY_VIEW_NONE;
    permission = RELAY_PERMISSION_NONE;
    params.now = ctl->started;

    if (relayctl_get_view(ctl, "view", &view) != RELAYCTL_OK
        || relayctl_get_permission(ctl, "permission", &permission)
           != RELAYCTL_OK)
    {
        return RELAYCTL_USAGE;
    }

    if (view == RELAY_VIEW_NONE) {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "--view is required");
    }

    now = relayctl_option(ctl, "now");

    if (now != NULL) {
        s = relayctl_str(now);

        if (relay_time_parse(&s, &params.now) != RELAY_OK) {
            return relayctl_fail(ctl, RELAYCTL_USAGE, "--now: a time like "
                                 "2027-12-31T23:59:59Z");
        }
    }

    rc = relayctl_load(ctl, ctl->operands[0], &d);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    if (view == RELAY_VIEW_RESPONDER && relayctl_is_packet(&d)
        && relayctl_option(ctl, "explain") == NULL)
    {
        params.permission = RELAY_PERMISSION_READ;
        rc = relayctl_view_packet(ctl, &d, &params);
        relayctl_unload(&d);
        return rc;
    }

    if (relayctl_option(ctl, "text") != NULL) {
        relayctl_unload(&d);
        return relayctl_fail(ctl, RELAYCTL_USAGE, "--text is about the view "
                             "responder of a packet");
    }

    out = relayctl_buf(ctl, 2 * RELAY_DOCUMENT_MAX);
    why = relayctl_buf(ctl, 4096);

    if (permission == RELAY_PERMISSION_NONE) {

        /* the package's own, which its named reader has */

        permission = RELAY_PERMISSION_READ;

        if (relay_package_head(&d.text, &d.tape, &d.package,
                               relayctl_buf(ctl, RELAY_DOCUMENT_MAX),
                               relayctl_buf(ctl, 4096))
            == RELAY_OK)
        {
            permission = d.package.permission;
        }
    }

    params.permission = permission;

    memset(&explain, 0, sizeof(relayctl_explain_t));

    explain.ctl = ctl;
    explain.d = &d;
    explain.out = relayctl_buf(ctl, 64 * RELAY_DOCUMENT_MAX);
    explain.pointer = relayctl_buf(ctl, RELAY_DOCUMENT_MAX);

    rc = relayctl_project_explained(ctl, &d, view, &params, out, why,
                                    relayctl_option(ctl, "explain") != NULL
                                    ? &explain : NULL);

    if (rc == RELAYCTL_OK) {

        if (relayctl_option(ctl, "explain") != NULL) {
            out = explain.out;
        }

        relay_buf_str(out, &s);
        rc = out->failed ? relayctl_fail(ctl, RELAYCTL_STORE,
                                         "too much to explain")
                         : relayctl_write(ctl, &s);

    } else {
        relay_buf_append_c(why, '\0');

        rc = relayctl_fail_at(ctl, rc, d.file, 0, 0, "withheld: %s",
                              why->failed ? "" : (char *) why->data);
    }

    relayctl_unload(&d);

    return rc;
}
