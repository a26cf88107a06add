
/*
 * relayctl_import: links and grants of an existing backend, as JSON lines.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "relayctl.h"


#define RELAYCTL_LINE_MAX   16384

#define RELAYCTL_OF_LINK    0x1
#define RELAYCTL_OF_GRANT   0x2
#define RELAYCTL_OF_BOTH    0x3


typedef enum {
    RELAYCTL_TYPE = 0,
    RELAYCTL_RELAY,
    RELAYCTL_TOKEN,
    RELAYCTL_DIGEST,
    RELAYCTL_VIEW,
    RELAYCTL_ACCESS,
    RELAYCTL_PERMISSION,
    RELAYCTL_STATE,
    RELAYCTL_EXPIRES,
    RELAYCTL_ID,
    RELAYCTL_LINK,
    RELAYCTL_EMAIL,
    RELAYCTL_ISS,
    RELAYCTL_SUB,
    RELAYCTL_NAME,
    RELAYCTL_ACCEPTED_AT,
    RELAYCTL_ACCEPTED_VERSION,
    RELAYCTL_MEMBERS
} relayctl_member_e;


typedef enum {
    RELAYCTL_IS_TEXT = 0,
    RELAYCTL_IS_TIME,
    RELAYCTL_IS_NUMBER
} relayctl_kind_e;


typedef struct {
    const char          *name;
    unsigned             of;
    relayctl_kind_e      kind;
    size_t               max;
} relayctl_member_t;


typedef struct {
    unsigned             of;
    unsigned             given[RELAYCTL_MEMBERS];
    size_t               column[RELAYCTL_MEMBERS];
    relay_str_t          text[RELAYCTL_MEMBERS];
    int64_t              number[RELAYCTL_MEMBERS];
} relayctl_record_t;


/* A fault of a line: where, and a sentence. */

typedef struct {
    size_t               column;
    char                 text[512];
} relayctl_fault_t;


static int relayctl_get_line(FILE *f, relay_buf_t *line, int *too_long);
static int relayctl_fault(relayctl_fault_t *fault, size_t column,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static int relayctl_parse_line(relayctl_t *ctl, const relay_str_t *line,
    relayctl_record_t *r, relayctl_fault_t *fault);
static int relayctl_parse_member(relayctl_t *ctl, const relay_str_t *line,
    const relay_json_tape_t *tape, size_t key, relayctl_record_t *r,
    relayctl_fault_t *fault);
static int relayctl_digest_ok(const relay_str_t *s);
static int relayctl_import_words(const relayctl_record_t *r,
    relay_view_e *view, relay_access_e *access, relay_permission_e *permission,
    unsigned *revoked, relayctl_fault_t *fault);
static int relayctl_import_link(relayctl_t *ctl, const relayctl_record_t *r,
    unsigned *present, relayctl_fault_t *fault);
static int relayctl_import_grant(relayctl_t *ctl, const relayctl_record_t *r,
    unsigned *present, relayctl_fault_t *fault);


/* in the order of relayctl_member_e */

static const relayctl_member_t  relayctl_members[] = {
    { "type", RELAYCTL_OF_BOTH, RELAYCTL_IS_TEXT, 16 },
    { "relay", RELAYCTL_OF_BOTH, RELAYCTL_IS_TEXT, RELAYCTL_TEXT_MAX },
    { "token", RELAYCTL_OF_LINK, RELAYCTL_IS_TEXT, RELAY_TOKEN_MAX },
    { "digest", RELAYCTL_OF_LINK, RELAYCTL_IS_TEXT, RELAY_DIGEST_LEN },
    { "view", RELAYCTL_OF_BOTH, RELAYCTL_IS_TEXT, 16 },
    { "access", RELAYCTL_OF_LINK, RELAYCTL_IS_TEXT, 16 },
    { "permission", RELAYCTL_OF_BOTH, RELAYCTL_IS_TEXT, 16 },
    { "state", RELAYCTL_OF_BOTH, RELAYCTL_IS_TEXT, 16 },
    { "expires", RELAYCTL_OF_BOTH, RELAYCTL_IS_TIME, 0 },
    { "id", RELAYCTL_OF_GRANT, RELAYCTL_IS_TEXT, RELAY_ID_MAX },
    { "link", RELAYCTL_OF_GRANT, RELAYCTL_IS_TEXT, RELAY_DIGEST_LEN },
    { "email", RELAYCTL_OF_GRANT, RELAYCTL_IS_TEXT, RELAY_EMAIL_MAX },
    { "iss", RELAYCTL_OF_GRANT, RELAYCTL_IS_TEXT, RELAY_ISSUER_MAX },
    { "sub", RELAYCTL_OF_GRANT, RELAYCTL_IS_TEXT, RELAY_SUBJECT_MAX },
    { "name", RELAYCTL_OF_GRANT, RELAYCTL_IS_TEXT, RELAY_NAME_MAX },
    { "accepted_at", RELAYCTL_OF_GRANT, RELAYCTL_IS_TIME, 0 },
    { "accepted_version", RELAYCTL_OF_GRANT, RELAYCTL_IS_NUMBER, 0 },
};


static const relay_json_limits_t  relayctl_line_limits = {
    .bytes = RELAYCTL_LINE_MAX,
    .depth = 2,
    .nodes = 256,
    .keys = 64,
    .key_len = 64,
    .string_len = 4096,
    .number_len = 32
};


/* 1: a line, 0: none left.  An over-long one is read to its end and dropped. */

static int
relayctl_get_line(FILE *f, relay_buf_t *line, int *too_long)
{
    int  c, any;

    relay_buf_reset(line);
    *too_long = 0;
    any = 0;

    while ((c = getc(f)) != EOF) {
        any = 1;

        if (c == '\n') {
            break;
        }

        if (!*too_long
            && relay_buf_append_c(line, (unsigned char) c) != RELAY_OK)
        {
            *too_long = 1;
        }
    }

    return any;
}


static int
relayctl_fault(relayctl_fault_t *fault, size_t column, const char *fmt, ...)
{
    va_list  args;

    fault->column = column;

    va_start(args, fmt);
    vsnprintf(fault->text, sizeof(fault->text), fmt, args);
    va_end(args);

    return RELAYCTL_REFUSED;
}


static int
relayctl_parse_line(relayctl_t *ctl, const relay_str_t *line,
    relayctl_record_t *r, relayctl_fault_t *fault)
{
    int                 rc;
    size_t              i, n;
    relay_int_t         ret;
    relay_json_tape_t   tape;
    relay_json_error_t  err;

    memset(r, 0, sizeof(relayctl_record_t));
    relay_json_tape_init(&tape);

    ret = relay_json_parse(&tape, line, &relayctl_line_limits, &err);

    if (ret != RELAY_OK) {
        relay_json_tape_free(&tape);

        return relayctl_fault(fault, ret == RELAY_DECLINED ? err.column : 1,
                              "%s", ret == RELAY_DECLINED ? err.text
                                                          : "no memory");
    }

    rc = RELAYCTL_OK;

    if (tape.nodes[0].type != RELAY_JSON_OBJECT) {
        rc = relayctl_fault(fault, 1, "not an object");
    }

    if (rc == RELAYCTL_OK) {

        for (i = 1, n = tape.nodes[0].count; n; n--) {
            rc = relayctl_parse_member(ctl, line, &tape, i, r, fault);

            if (rc != RELAYCTL_OK) {
                break;
            }

            i = tape.nodes[i + 1].next;
        }
    }

    relay_json_tape_free(&tape);

    if (rc != RELAYCTL_OK) {
        return rc;
    }

    if (!r->given[RELAYCTL_TYPE]) {
        return relayctl_fault(fault, 1, "/type: missing");
    }

    if (relay_str_is(&r->text[RELAYCTL_TYPE], "link")) {
        r->of = RELAYCTL_OF_LINK;

    } else if (relay_str_is(&r->text[RELAYCTL_TYPE], "grant")) {
        r->of = RELAYCTL_OF_GRANT;

    } else {
        return relayctl_fault(fault, r->column[RELAYCTL_TYPE],
                              "/type: \"link\" or \"grant\"");
    }

    /* a member that would be passed over may be the one that narrows it */

    for (i = 0; i < RELAYCTL_MEMBERS; i++) {
        if (r->given[i] && !(relayctl_members[i].of & r->of)) {
            return relayctl_fault(fault, r->column[i],
                                  "/%s: not a member of this type",
                                  relayctl_members[i].name);
        }
    }

    if (!r->given[RELAYCTL_RELAY]) {
        return relayctl_fault(fault, 1, "/relay: missing");
    }

    return RELAYCTL_OK;
}


static int
relayctl_parse_member(relayctl_t *ctl, const relay_str_t *line,
    const relay_json_tape_t *tape, size_t key, relayctl_record_t *r,
    relayctl_fault_t *fault)
{
    size_t                     m, column, value;
    int64_t                    n;
    relay_buf_t               *b;
    relay_str_t                s;
    const char                *name;
    const relay_json_node_t   *node;

    value = key + 1;
    node = &tape->nodes[value];
    column = tape->nodes[key].off + 1;

    for (m = 0; m < RELAYCTL_MEMBERS; m++) {
        name = relayctl_members[m].name;

        if (relay_json_str_is(tape, line, key, name, strlen(name))) {
            break;
        }
    }

    if (m == RELAYCTL_MEMBERS) {
        return relayctl_fault(fault, column, "unknown member %.*s",
                              (int) tape->nodes[key].len,
                              (char *) line->data + tape->nodes[key].off);
    }

    name = relayctl_members[m].name;
    column = node->off + 1;

    if (node->type == RELAY_JSON_NULL) {

        /* absent, for backends that write every column */

        return RELAYCTL_OK;
    }

    r->given[m] = 1;
    r->column[m] = column;

    if (relayctl_members[m].kind != RELAYCTL_IS_TEXT
        && node->type == RELAY_JSON_NUMBER)
    {
        if (relay_json_int(tape, line, value, &n) != RELAY_OK || n < 0
            || n > RELAY_INTEGER_MAX)
        {
            return relayctl_fault(fault, column, "/%s: out of range", name);
        }

        r->number[m] = n;

        return RELAYCTL_OK;
    }

    if (node->type != RELAY_JSON_STRING
        || relayctl_members[m].kind == RELAYCTL_IS_NUMBER)
    {
        return relayctl_fault(fault, column, "/%s: wrong type", name);
    }

    b = relayctl_buf(ctl, RELAYCTL_LINE_MAX);

    if (relay_json_str_decode(tape, line, value, b) != RELAY_OK) {
        return relayctl_fault(fault, column, "/%s: too long", name);
    }

    relay_buf_str(b, &s);

    if (relayctl_members[m].kind == RELAYCTL_IS_TIME) {

        if (relay_time_parse_end(&s, &n) != RELAY_OK || n <= 0) {
            return relayctl_fault(fault, column, "/%s: not a time", name);
        }

        r->number[m] = n;

        return RELAYCTL_OK;
    }

    if (s.len == 0) {
        r->given[m] = 0;
        return RELAYCTL_OK;
    }

    if (!relayctl_text_ok(&s, relayctl_members[m].max)) {
        return relayctl_fault(fault, column, "/%s: more than %zu bytes, or "
                              "control characters", name,
                              relayctl_members[m].max);
    }

    r->text[m] = s;

    return RELAYCTL_OK;
}


static int
relayctl_digest_ok(const relay_str_t *s)
{
    return s->len == RELAY_DIGEST_LEN && relay_link_parse(s) == RELAY_OK;
}


static int
relayctl_import_words(const relayctl_record_t *r, relay_view_e *view,
    relay_access_e *access, relay_permission_e *permission,
    unsigned *revoked, relayctl_fault_t *fault)
{
    *view = RELAY_VIEW_NONE;
    *access = RELAY_ACCESS_NONE;
    *permission = RELAY_PERMISSION_NONE;
    *revoked = 0;

    if (r->given[RELAYCTL_VIEW]) {
        *view = relay_view_by_name(&r->text[RELAYCTL_VIEW]);

        if (*view == RELAY_VIEW_NONE || *view == RELAY_VIEW_OWNER) {
            return relayctl_fault(fault, r->column[RELAYCTL_VIEW], "/view: "
                                  "recipient, link, pass-on or preview");
        }
    }

    if (r->given[RELAYCTL_ACCESS]) {
        *access = relay_access_by_name(&r->text[RELAYCTL_ACCESS]);

        if (*access == RELAY_ACCESS_NONE) {
            return relayctl_fault(fault, r->column[RELAYCTL_ACCESS],
                                  "/access: named or anyone");
        }
    }

    if (r->given[RELAYCTL_PERMISSION]) {
        *permission = relay_permission_by_name(&r->text[RELAYCTL_PERMISSION]);

        if (*permission == RELAY_PERMISSION_NONE) {
            return relayctl_fault(fault, r->column[RELAYCTL_PERMISSION],
                                  "/permission: read, suggest or edit");
        }
    }

    if (r->given[RELAYCTL_STATE]) {

        if (relay_str_is(&r->text[RELAYCTL_STATE], "revoked")) {
            *revoked = 1;

        } else if (!relay_str_is(&r->text[RELAYCTL_STATE], "active")) {
            return relayctl_fault(fault, r->column[RELAYCTL_STATE],
                                  "/state: active or revoked");
        }
    }

    return RELAYCTL_OK;
}


static int
relayctl_import_link(relayctl_t *ctl, const relayctl_record_t *r,
    unsigned *present, relayctl_fault_t *fault)
{
    int               rc;
    unsigned          revoked;
    const char       *why;
    unsigned char     h[RELAY_DIGEST_LEN];
    relayctl_link_t   l;

    memset(&l, 0, sizeof(relayctl_link_t));

    if (relayctl_import_words(r, &l.view, &l.access, &l.permission, &revoked,
                              fault)
        != RELAYCTL_OK)
    {
        return RELAYCTL_REFUSED;
    }

    if (r->given[RELAYCTL_TOKEN] == r->given[RELAYCTL_DIGEST]) {
        return relayctl_fault(fault, 1, "either /token or /digest");
    }

    if (r->given[RELAYCTL_TOKEN]) {

        if (relay_link_parse(&r->text[RELAYCTL_TOKEN]) != RELAY_OK) {
            return relayctl_fault(fault, r->column[RELAYCTL_TOKEN],
                                  "/token: %d to %d bytes of A-Z a-z 0-9 - _",
                                  RELAY_TOKEN_MIN, RELAY_TOKEN_MAX);
        }

        relay_digest(&r->text[RELAYCTL_TOKEN], h);
        l.digest.data = h;
        l.digest.len = sizeof(h);

    } else {

        if (!relayctl_digest_ok(&r->text[RELAYCTL_DIGEST])) {
            return relayctl_fault(fault, r->column[RELAYCTL_DIGEST],
                                  "/digest: base64url(SHA-256(token)), %d "
                                  "bytes", RELAY_DIGEST_LEN);
        }

        l.digest = r->text[RELAYCTL_DIGEST];
    }

    l.relay = r->text[RELAYCTL_RELAY];
    l.exp = r->number[RELAYCTL_EXPIRES];
    l.revoked = revoked;

    why = "";
    rc = relayctl_put_link(ctl, &l, "import", &why);

    if (rc == RELAYCTL_REFUSED || rc == RELAYCTL_NOT_FOUND) {
        return relayctl_fault(fault, r->column[RELAYCTL_RELAY], "/relay: %s",
                              why);
    }

    *present = l.present;

    return rc;
}


static int
relayctl_import_grant(relayctl_t *ctl, const relayctl_record_t *r,
    unsigned *present, relayctl_fault_t *fault)
{
    int                rc;
    size_t             len;
    unsigned           revoked;
    const char        *why;
    relay_access_e     access;
    unsigned char      email[RELAY_EMAIL_MAX];
    relayctl_grant_t   g;

    memset(&g, 0, sizeof(relayctl_grant_t));

    if (relayctl_import_words(r, &g.view, &access, &g.permission, &revoked,
                              fault)
        != RELAYCTL_OK)
    {
        return RELAYCTL_REFUSED;
    }

    if (r->given[RELAYCTL_ISS] != r->given[RELAYCTL_SUB]
        || (!r->given[RELAYCTL_EMAIL] && !r->given[RELAYCTL_ISS]))
    {
        return relayctl_fault(fault, 1, "/email, or /iss and /sub");
    }

    if (r->given[RELAYCTL_EMAIL]) {

        if (relay_email_normalize(&r->text[RELAYCTL_EMAIL], email, &len)
            != RELAY_OK)
        {
            return relayctl_fault(fault, r->column[RELAYCTL_EMAIL],
                                  "/email: not an address");
        }

        g.email.data = email;
        g.email.len = len;
    }

    if (r->given[RELAYCTL_LINK]) {

        if (!relayctl_digest_ok(&r->text[RELAYCTL_LINK])) {
            return relayctl_fault(fault, r->column[RELAYCTL_LINK],
                                  "/link: base64url(SHA-256(token)), %d bytes",
                                  RELAY_DIGEST_LEN);
        }
    }

    if (r->given[RELAYCTL_ID]
        && relay_id_check(&r->text[RELAYCTL_ID]) != RELAY_OK)
    {
        return relayctl_fault(fault, r->column[RELAYCTL_ID],
                              "/id: A-Z a-z 0-9 . _ : -");
    }

    if ((r->number[RELAYCTL_ACCEPTED_AT] > 0)
        != (r->number[RELAYCTL_ACCEPTED_VERSION] > 0))
    {
        return relayctl_fault(fault, 1, "/accepted_at and /accepted_version: "
                              "both or neither");
    }

    g.relay = r->text[RELAYCTL_RELAY];
    g.id = r->text[RELAYCTL_ID];
    g.link = r->text[RELAYCTL_LINK];
    g.iss = r->text[RELAYCTL_ISS];
    g.sub = r->text[RELAYCTL_SUB];
    g.name = r->text[RELAYCTL_NAME];
    g.exp = r->number[RELAYCTL_EXPIRES];
    g.accepted_at = r->number[RELAYCTL_ACCEPTED_AT];
    g.accepted_version = r->number[RELAYCTL_ACCEPTED_VERSION];
    g.revoked = revoked;

    if (relayctl_reader(ctl, &g.email, &g.iss, &g.sub, &g.reader)
        != RELAY_OK)
    {
        return relayctl_fault(fault, 1, "no reader can be made of it");
    }

    why = "";
    rc = relayctl_put_grant(ctl, &g, "import", &why);

    if (rc == RELAYCTL_REFUSED || rc == RELAYCTL_NOT_FOUND) {
        return relayctl_fault(fault, r->column[RELAYCTL_RELAY], "/relay: %s",
                              why);
    }

    *present = g.present;

    return rc;
}


int
relayctl_import(relayctl_t *ctl)
{
    int                  rc, too_long;
    FILE                *f;
    size_t               i, number;
    int64_t              links, grants, present, bad;
    unsigned             there;
    const char          *file;
    relay_buf_t         *line, *out;
    relay_str_t          s;
    relayctl_fault_t     fault;
    relayctl_memory_t   *mark;
    relayctl_record_t    r;

    file = ctl->operands[0];
    f = strcmp(file, "-") == 0 ? stdin : fopen(file, "rb");

    if (f == NULL) {
        return relayctl_fail(ctl, errno == ENOENT ? RELAYCTL_NOT_FOUND
                                                  : RELAYCTL_STORE,
                             "%s: %s", file, strerror(errno));
    }

    rc = relayctl_connect(ctl);

    line = relayctl_buf(ctl, RELAYCTL_LINE_MAX);
    mark = relayctl_mark(ctl);
    links = 0;
    grants = 0;
    present = 0;
    bad = 0;

    for (number = 1;
         rc == RELAYCTL_OK && relayctl_get_line(f, line, &too_long);
         number++)
    {
        relay_buf_str(line, &s);

        for (i = 0; i < s.len; i++) {
            if (s.data[i] != ' ' && s.data[i] != '\t' && s.data[i] != '\r') {
                break;
            }
        }

        if (!too_long && i == s.len) {
            continue;
        }

        there = 0;

        if (too_long) {
            rc = relayctl_fault(&fault, 1, "longer than %d bytes",
                                RELAYCTL_LINE_MAX);

        } else {
            rc = relayctl_parse_line(ctl, &s, &r, &fault);
        }

        if (rc == RELAYCTL_OK) {

            if (r.of == RELAYCTL_OF_LINK) {
                rc = relayctl_import_link(ctl, &r, &there, &fault);
                links += (rc == RELAYCTL_OK && !there);

            } else {
                rc = relayctl_import_grant(ctl, &r, &there, &fault);
                grants += (rc == RELAYCTL_OK && !there);
            }

            present += (rc == RELAYCTL_OK && there);
        }

        if (rc == RELAYCTL_REFUSED) {
            bad++;
            rc = relayctl_fail_at(ctl, RELAYCTL_OK, file, number,
                                  fault.column, "%s", fault.text);
        }

        relayctl_release(ctl, mark);
    }

    if (rc == RELAYCTL_OK && ferror(f)) {
        rc = relayctl_fail(ctl, RELAYCTL_STORE, "%s: %s", file,
                           strerror(errno));
    }

    if (rc != RELAYCTL_OK && number > 1) {
        (void) relayctl_fail(ctl, rc, "%s: stopped at line %zu; it may be "
                             "repeated", file, number - 1);
    }

    if (f != stdin) {
        (void) fclose(f);
    }

    if (rc != RELAYCTL_OK) {
        return rc;
    }

    out = relayctl_buf(ctl, 4096);

    relayctl_field_int(ctl, out, "links", links);
    relayctl_field_int(ctl, out, "grants", grants);
    relayctl_field_int(ctl, out, "unchanged", present);
    relayctl_field_int(ctl, out, "bad", bad);

    rc = relayctl_print(ctl, out);

    return rc != RELAYCTL_OK ? rc : bad ? RELAYCTL_REFUSED : RELAYCTL_OK;
}
