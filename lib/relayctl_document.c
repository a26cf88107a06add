
/*
 * relayctl_document: documents and other files: read, loaded, projected; where
 * in them a fault is.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "relayctl.h"


#define RELAYCTL_LEVELS       64        /* of the edge's limits */
#define RELAYCTL_POINTER_MAX  512       /* bytes that are shown of one */


/* A container that is open at some offset. */

typedef struct {
    relay_str_t  name;          /* of the member, in an object */
    size_t       index;         /* of the element, in an array */
    unsigned     object:1;
} relayctl_level_t;


static int relayctl_read_most(relayctl_t *ctl, const char *file, size_t max,
    relay_str_t *text);
static int relayctl_malformed(relayctl_t *ctl, const relayctl_document_t *d,
    size_t offset, const char *why);
static void relayctl_point(const relay_str_t *text, size_t offset,
    relay_buf_t *out);
static void relayctl_append_name(relay_buf_t *out, const relay_str_t *name);


int
relayctl_read(relayctl_t *ctl, const char *file, size_t max, relay_str_t *text)
{
    int  rc;

    rc = relayctl_read_most(ctl, file, max + 1, text);

    if (rc == RELAYCTL_OK && text->len > max) {
        return relayctl_fail(ctl, RELAYCTL_REFUSED,
                             "%s: larger than %zu bytes", file, max);
    }

    return rc;
}


/* At most max bytes of it. */

static int
relayctl_read_most(relayctl_t *ctl, const char *file, size_t max,
    relay_str_t *text)
{
    int           err;
    FILE         *f;
    size_t        n;
    relay_buf_t  *b;
    char          chunk[16 * 1024];

    f = strcmp(file, "-") == 0 ? stdin : fopen(file, "rb");

    if (f == NULL) {
        return relayctl_fail(ctl, errno == ENOENT ? RELAYCTL_NOT_FOUND
                                                  : RELAYCTL_STORE,
                             "%s: %s", file, strerror(errno));
    }

    b = relayctl_buf(ctl, max);

    do {
        errno = 0;
        n = max - b->len;
        n = fread(chunk, 1, n < sizeof(chunk) ? n : sizeof(chunk), f);

        relay_buf_append(b, chunk, n);

    } while (n && b->len < max && !b->failed);

    err = ferror(f) ? (errno ? errno : EIO) : 0;

    if (f != stdin) {
        (void) fclose(f);
    }

    if (err) {
        return relayctl_fail(ctl, RELAYCTL_STORE, "%s: %s", file,
                             strerror(err));
    }

    if (b->failed) {
        return relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
    }

    relay_buf_str(b, text);

    if (text->data == NULL) {
        *text = relayctl_str("");
    }

    return RELAYCTL_OK;
}


int
relayctl_load(relayctl_t *ctl, const char *file, relayctl_document_t *d)
{
    int                 rc;
    relay_int_t         ret;
    relay_json_error_t  err;

    memset(d, 0, sizeof(relayctl_document_t));
    d->file = file;
    relay_json_tape_init(&d->tape);

    rc = relayctl_read_most(ctl, file, RELAY_DOCUMENT_MAX + 1, &d->text);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    if (d->text.len > RELAY_DOCUMENT_MAX) {
        return relayctl_malformed(ctl, d, RELAY_DOCUMENT_MAX,
                                  "the document is longer than 8 MiB");
    }

    ret = relay_json_parse(&d->tape, &d->text, &relay_json_default_limits,
                           &err);

    if (ret == RELAY_DECLINED) {
        rc = relayctl_malformed(ctl, d, err.offset, err.text);

    } else if (ret != RELAY_OK) {
        rc = relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
    }

    if (rc != RELAYCTL_OK) {
        relayctl_unload(d);
    }

    return rc;
}


/* Reports a fault of what has no tape, with line and pointer. */

static int
relayctl_malformed(relayctl_t *ctl, const relayctl_document_t *d,
    size_t offset, const char *why)
{
    size_t        line, column;
    relay_buf_t  *pointer;

    pointer = relayctl_buf(ctl, 2 * RELAYCTL_POINTER_MAX);

    relayctl_point(&d->text, offset, pointer);
    relayctl_position(&d->text, offset, &line, &column);

    return relayctl_fail_at(ctl, RELAYCTL_REFUSED, d->file, line, column,
                            "%.*s%s%s", (int) pointer->len,
                            (char *) pointer->data, pointer->len ? ": " : "",
                            why);
}


/*
 * The JSON pointer of the value at offset, up to where the text is well-formed:
 * what a tokenizer that gave up cannot tell any more.  Names stand in it as in
 * the text, escapes included.
 */

static void
relayctl_point(const relay_str_t *text, size_t offset, relay_buf_t *out)
{
    size_t             i, start, depth;
    relay_uint_t       name;
    relayctl_level_t  *level, levels[RELAYCTL_LEVELS];

    depth = 0;
    name = 0;

    for (i = 0; i < offset && i < text->len; i++) {

        level = depth ? &levels[depth - 1] : NULL;

        switch (text->data[i]) {

        case '"':

            start = i + 1;

            for (i++; i < offset && text->data[i] != '"'; i++) {
                if (text->data[i] == '\\') {
                    i++;
                }
            }

            if (level != NULL && name) {
                level->name.data = text->data + start;
                level->name.len = i < offset ? i - start : 0;
                name = 0;
            }

            break;

        case '{':
        case '[':

            if (depth == RELAYCTL_LEVELS) {
                i = offset;
                break;
            }

            level = &levels[depth++];
            memset(level, 0, sizeof(relayctl_level_t));

            level->object = text->data[i] == '{';
            name = level->object;

            break;

        case '}':
        case ']':

            depth -= depth != 0;
            name = 0;

            break;

        case ',':

            if (level != NULL) {
                level->index++;
                level->name.len = 0;
                name = level->object;
            }

            break;
        }
    }

    for (i = 0; i < depth; i++) {
        level = &levels[i];

        if (level->object && level->name.len == 0) {
            break;
        }

        if (out->len + level->name.len > RELAYCTL_POINTER_MAX) {
            relay_buf_append_z(out, "/...");
            break;
        }

        relay_buf_append_c(out, '/');

        if (level->object) {
            relayctl_append_name(out, &level->name);

        } else {
            relay_buf_append_int(out, (int64_t) level->index);
        }
    }
}


/* RFC 6901, 3 */

static void
relayctl_append_name(relay_buf_t *out, const relay_str_t *name)
{
    size_t  i;

    for (i = 0; i < name->len; i++) {

        if (name->data[i] == '~' || name->data[i] == '/') {
            relay_buf_append_z(out, name->data[i] == '~' ? "~0" : "~1");

        } else {
            relay_buf_append_c(out, name->data[i]);
        }
    }
}


int
relayctl_load_package(relayctl_t *ctl, const char *file,
    relayctl_document_t *d)
{
    int          rc;
    relay_str_t  type;

    rc = relayctl_load(ctl, file, d);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    /* of another type the head says which one is expected */

    rc = relayctl_is_package(d) ? relayctl_check_schema(ctl, d, &type)
                                : RELAYCTL_OK;

    if (rc != RELAYCTL_OK) {
        relayctl_unload(d);
        return rc;
    }

    return relayctl_head(ctl, d);
}


relay_uint_t
relayctl_is_package(const relayctl_document_t *d)
{
    size_t  v;

    if (d->tape.nodes[0].type != RELAY_JSON_OBJECT) {
        return 0;
    }

    v = relay_json_get(&d->tape, &d->text, 0, "schema", 6);

    return v != 0
           && d->tape.nodes[v].type == RELAY_JSON_STRING
           && relay_json_str_is(&d->tape, &d->text, v, RELAY_PACKAGE_SCHEMA,
                                sizeof(RELAY_PACKAGE_SCHEMA) - 1);
}


int
relayctl_head(relayctl_t *ctl, relayctl_document_t *d)
{
    int           rc;
    char          pointer[256];
    size_t        len;
    relay_int_t   ret;
    relay_buf_t  *mem, *err;

    mem = relayctl_buf(ctl, RELAY_DOCUMENT_MAX);
    err = relayctl_buf(ctl, 4096);

    ret = relay_package_head(&d->text, &d->tape, &d->package, mem, err);

    if (ret == RELAY_OK) {
        return RELAYCTL_OK;
    }

    if (ret != RELAY_DECLINED || relay_buf_append_c(err, '\0') != RELAY_OK) {
        relayctl_unload(d);
        return relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
    }

    /* the sentence starts with the pointer */

    len = 0;

    if (err->data[0] == '/') {
        len = strcspn((char *) err->data, " :");

        if (len >= sizeof(pointer)) {
            len = 0;
        }
    }

    memcpy(pointer, err->data, len);
    pointer[len] = '\0';

    rc = relayctl_fail_in(ctl, RELAYCTL_REFUSED, d, pointer, "%s", err->data);

    relayctl_unload(d);

    return rc;
}


void
relayctl_unload(relayctl_document_t *d)
{
    relay_json_tape_free(&d->tape);
}


/* Reports a fault of the member at pointer, with its line. */

int
relayctl_fail_in(relayctl_t *ctl, int rc, const relayctl_document_t *d,
    const char *pointer, const char *fmt, ...)
{
    char         text[1024];
    size_t       node, line, column;
    va_list      args;
    relay_str_t  s;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);

    /* where a member is missing, the place is that of what should hold it */

    s = relayctl_str(pointer);
    (void) relay_pointer_find(&d->tape, &d->text, &s, &node);

    relayctl_position(&d->text, d->tape.nodes[node].off, &line, &column);

    return relayctl_fail_at(ctl, rc, d->file, line, column, "%s", text);
}


void
relayctl_position(const relay_str_t *text, size_t offset, size_t *line,
    size_t *column)
{
    size_t  i;

    *line = 1;
    *column = 1;

    for (i = 0; i < offset && i < text->len; i++) {

        if (text->data[i] == '\n') {
            (*line)++;
            *column = 1;

        } else {
            (*column)++;
        }
    }
}
