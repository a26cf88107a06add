
/*
 * relayctl_check: what a draft should still mend: the extraction standard's
 * checks of a package, and text that reads like instructions to an agent.
 */

#include <stdlib.h>

#include "relayctl.h"
#include "relay_quality.h"


#define RELAYCTL_NOTES  1000        /* kept; more are counted */


typedef struct {
    const char                *id;
    relay_quality_area_e       area;
    relay_quality_severity_e   severity;
    size_t                     order;
    size_t                     off;
    relay_str_t                pointer;
    relay_str_t                text;
} relayctl_note_t;


typedef struct {
    relayctl_t                *ctl;
    relayctl_document_t       *d;
    relayctl_note_t           *notes;
    size_t                     n;
    size_t                     counts[3];               /* of a severity */
    relay_quality_severity_e   worst[RELAY_QUALITY_AREAS];
} relayctl_notes_t;


static relay_int_t relayctl_note(void *data, const relay_quality_note_t *note);
static int relayctl_check_package(relayctl_notes_t *notes);
static int relayctl_check_notes(relayctl_t *ctl, relayctl_document_t *d,
    int (*check)(relayctl_notes_t *notes));
static int relayctl_check_safety(relayctl_notes_t *notes);
static int relayctl_check_rc(relayctl_t *ctl, relay_int_t rc);
static void relayctl_check_sort(relayctl_notes_t *notes);
static int relayctl_check_print(relayctl_notes_t *notes);
static void relayctl_check_line(relayctl_t *ctl, const relayctl_note_t *note,
    relay_buf_t *out);
static relay_int_t relayctl_repeats_note(void *data,
    const relay_quality_note_t *note);


static relay_int_t
relayctl_note(void *data, const relay_quality_note_t *note)
{
    relay_buf_t       *b;
    relayctl_note_t   *kept;
    relayctl_notes_t  *notes;

    notes = data;

    notes->counts[note->severity]++;

    if (note->severity > notes->worst[note->area]) {
        notes->worst[note->area] = note->severity;
    }

    if (notes->n == RELAYCTL_NOTES) {
        return RELAY_OK;
    }

    b = relayctl_buf(notes->ctl, 64 * 1024);

    if (relay_quality_pointer(&notes->d->tape, &notes->d->text, note->node,
                              note->member, b)
        != RELAY_OK)
    {
        return RELAY_ERROR;
    }

    kept = &notes->notes[notes->n];

    kept->id = note->id;
    kept->area = note->area;
    kept->severity = note->severity;
    kept->order = notes->n++;
    kept->off = note->off;
    kept->text = relayctl_copy(notes->ctl, &note->text);

    relay_buf_str(b, &kept->pointer);

    return RELAY_OK;
}


static int
relayctl_check_rc(relayctl_t *ctl, relay_int_t rc)
{
    return rc == RELAY_OK ? RELAYCTL_OK
                          : relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
}


static int
relayctl_check_safety(relayctl_notes_t *notes)
{
    relay_quality_safety_t  result;

    return relayctl_check_rc(notes->ctl,
                             relay_quality_safety(&notes->d->tape,
                                                  &notes->d->text,
                                                  relayctl_note, notes, NULL,
                                                  &result));
}


static int
relayctl_check_package(relayctl_notes_t *notes)
{
    int  rc;

    rc = relayctl_check_rc(notes->ctl,
                           relay_quality_package(&notes->d->tape,
                                                 &notes->d->text,
                                                 relayctl_note, notes));

    return rc == RELAYCTL_OK ? relayctl_check_safety(notes) : rc;
}


static int
relayctl_note_cmp(const void *one, const void *two)
{
    const relayctl_note_t  *a = one, *b = two;

    if (a->area != b->area) {
        return a->area < b->area ? -1 : 1;
    }

    if (a->severity != b->severity) {
        return a->severity > b->severity ? -1 : 1;
    }

    return (a->order > b->order) - (a->order < b->order);
}


static void
relayctl_check_sort(relayctl_notes_t *notes)
{
    if (notes->n != 0) {
        qsort(notes->notes, notes->n, sizeof(relayctl_note_t),
              relayctl_note_cmp);
    }
}


static void
relayctl_check_line(relayctl_t *ctl, const relayctl_note_t *note,
    relay_buf_t *out)
{
    const char   *severity;
    relay_str_t   s;
    relay_buf_t   member;

    severity = relay_quality_severity(note->severity);

    if (!ctl->json) {
        relay_buf_printf(out, "  %-5s  %-3s  ", severity, note->id);
        relayctl_append_safe(out, &note->pointer);
        relay_buf_append_z(out, "\n              ");
        relayctl_append_safe(out, &note->text);
        relay_buf_append_c(out, '\n');
        return;
    }

    relay_buf_init(&member, 1024 * 1024);

    s = relayctl_str(note->id);
    relayctl_field(ctl, &member, "id", &s);
    s = relayctl_str(relay_quality_area(note->area));
    relayctl_field(ctl, &member, "area", &s);
    s = relayctl_str(severity);
    relayctl_field(ctl, &member, "severity", &s);
    relay_buf_append_z(&member, ",\"pointer\":");
    relay_buf_append_json(&member, &note->pointer);
    relayctl_field_int(ctl, &member, "offset", (int64_t) note->off);
    relayctl_field(ctl, &member, "text", &note->text);

    relay_buf_append(out, member.data, member.len);
    relay_buf_append_z(out, "}\n");

    if (member.failed) {
        out->failed = 1;
    }

    relay_buf_free(&member);
}


/* The areas with the worst notes first. */

static int
relayctl_check_print(relayctl_notes_t *notes)
{
    int                       severity;
    size_t                    i, area;
    relay_buf_t              *out;
    relay_str_t               s;
    relayctl_t               *ctl;
    const relayctl_note_t    *note;

    ctl = notes->ctl;
    out = relayctl_buf(ctl, 64 * 1024 * 1024);

    for (severity = RELAY_QUALITY_BLOCK; severity >= RELAY_QUALITY_INFO;
         severity--)
    {
        for (area = 0; area < RELAY_QUALITY_AREAS; area++) {

            if ((int) notes->worst[area] != severity) {
                continue;
            }

            note = NULL;

            for (i = 0; i < notes->n; i++) {

                if (notes->notes[i].area != area) {
                    continue;
                }

                if (note == NULL && !ctl->json) {
                    relay_buf_printf(out, "%s\n", relay_quality_area(area));
                }

                note = &notes->notes[i];
                relayctl_check_line(ctl, note, out);
            }
        }
    }

    s = relayctl_str(notes->d->file);

    if (ctl->json) {
        relay_buf_append_z(out, "{\"file\":");
        relay_buf_append_json(out, &s);
        relay_buf_printf(out, ",\"block\":%zu,\"flag\":%zu,\"info\":%zu}\n",
                         notes->counts[RELAY_QUALITY_BLOCK],
                         notes->counts[RELAY_QUALITY_FLAG],
                         notes->counts[RELAY_QUALITY_INFO]);

    } else {
        relayctl_append_safe(out, &s);
        relay_buf_printf(out, ": %zu to block, %zu flagged, %zu for "
                         "information\n",
                         notes->counts[RELAY_QUALITY_BLOCK],
                         notes->counts[RELAY_QUALITY_FLAG],
                         notes->counts[RELAY_QUALITY_INFO]);
    }

    if (out->failed) {
        return relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
    }

    relay_buf_str(out, &s);

    return relayctl_write(ctl, &s);
}


int
relayctl_check(relayctl_t *ctl)
{
    int                  rc, rules;
    relayctl_document_t  d;

    rc = relayctl_load(ctl, ctl->operands[0], &d);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    if (relayctl_is_packet(&d)) {

        if (relayctl_option(ctl, "response") != NULL) {
            rc = relayctl_check_response(ctl, &d);

        } else {
            rules = relayctl_check_packet(ctl, &d);

            rc = (rules == RELAYCTL_OK || rules == RELAYCTL_REFUSED)
                 ? relayctl_check_notes(ctl, &d, relayctl_check_safety)
                 : rules;

            if (rc == RELAYCTL_OK) {
                rc = rules;
            }
        }

    } else if (relayctl_option(ctl, "response") != NULL) {
        rc = relayctl_fail_at(ctl, RELAYCTL_USAGE, d.file, 0, 0,
                              "--response is about a responder packet");

    } else if (relayctl_is_package(&d)) {
        rc = relayctl_check_notes(ctl, &d, relayctl_check_package);

    } else {
        rc = relayctl_fail_at(ctl, RELAYCTL_REFUSED, d.file, 0, 0,
                              "neither a %s nor a %s", RELAY_PACKAGE_SCHEMA,
                              RELAY_PACKET_SCHEMA);
    }

    relayctl_unload(&d);

    return rc;
}


/* Runs a check, and prints its notes; the exit code says what they weigh. */

static int
relayctl_check_notes(relayctl_t *ctl, relayctl_document_t *d,
    int (*check)(relayctl_notes_t *notes))
{
    int               rc;
    relayctl_notes_t  notes;

    memset(&notes, 0, sizeof(relayctl_notes_t));

    notes.ctl = ctl;
    notes.d = d;
    notes.notes = calloc(RELAYCTL_NOTES, sizeof(relayctl_note_t));

    if (notes.notes == NULL) {
        return relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
    }

    rc = check(&notes);

    if (rc == RELAYCTL_OK) {
        relayctl_check_sort(&notes);
        rc = relayctl_check_print(&notes);
    }

    if (rc == RELAYCTL_OK && (notes.counts[RELAY_QUALITY_BLOCK]
                              || notes.counts[RELAY_QUALITY_FLAG]))
    {
        rc = RELAYCTL_REFUSED;
    }

    free(notes.notes);

    return rc;
}


static relay_int_t
relayctl_repeats_note(void *data, const relay_quality_note_t *note)
{
    relay_buf_t       *b;
    relayctl_notes_t  *notes;

    notes = data;
    b = relayctl_buf(notes->ctl, 64 * 1024);

    if (relay_quality_pointer(&notes->d->tape, &notes->d->text, note->node,
                              note->member, b)
        != RELAY_OK)
    {
        return RELAY_ERROR;
    }

    relayctl_warn(notes->ctl, "%.*s: %.*s", (int) b->len, b->data,
                  (int) note->text.len, note->text.data);

    return RELAY_OK;
}


/* Warns of texts for the reader that repeat the private request. */

int
relayctl_warn_repeats(relayctl_t *ctl, relayctl_document_t *d)
{
    relayctl_notes_t  notes;

    memset(&notes, 0, sizeof(relayctl_notes_t));

    notes.ctl = ctl;
    notes.d = d;

    return relayctl_check_rc(ctl, relay_quality_repeats(&d->tape, &d->text,
                                                        relayctl_repeats_note,
                                                        &notes));
}
