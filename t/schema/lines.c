
/*
 * Validates documents whose verdict somebody else has given already, and says
 * where the two differ:
 *
 *     lines NAME=SCHEMA ... < LINES
 *
 * A line is a schema's name, 1 (valid) or 0, and the document, each after one
 * space.  The last line of the output is
 *
 *     documents N valid N differ N
 *
 * Exit code 1: some differ.
 */

#include <stdio.h>
#include <stdlib.h>

#include "relay_json.h"
#include "relay_pointer.h"
#include "relay_schema.h"


#define LINES_SCHEMAS  8
#define LINES_SHOWN    20       /* differences that are printed */
#define LINES_TEXT     65536    /* bytes of a schema */


typedef struct {
    const char      *name;
    size_t           len;
    relay_schema_t  *schema;
} lines_schema_t;


static lines_schema_t      lines_schemas[LINES_SCHEMAS];
static size_t              lines_n;
static relay_json_tape_t   lines_tape;
static relay_schema_run_t  lines_all;
static relay_schema_run_t  lines_first;


static relay_int_t
lines_load(char *arg)
{
    char         *path;
    FILE         *fp;
    relay_str_t   text;
    relay_buf_t   err;

    path = strchr(arg, '=');

    if (path == NULL || lines_n == LINES_SCHEMAS) {
        return RELAY_ERROR;
    }

    lines_schemas[lines_n].name = arg;
    lines_schemas[lines_n].len = path - arg;

    fp = fopen(path + 1, "rb");
    text.data = malloc(LINES_TEXT);

    if (fp == NULL || text.data == NULL) {
        perror(path + 1);
        return RELAY_ERROR;
    }

    text.len = fread(text.data, 1, LINES_TEXT, fp);
    (void) fclose(fp);

    relay_buf_init(&err, 4096);
    lines_schemas[lines_n].schema = relay_schema_compile(&text, &err);

    if (lines_schemas[lines_n].schema == NULL) {
        fprintf(stderr, "%s: %.*s\n", path + 1, (int) err.len, err.data);
        return RELAY_ERROR;
    }

    free(text.data);
    relay_buf_free(&err);
    lines_n++;

    return RELAY_OK;
}


/* Prints a document, and the first fault where there is one. */

static void
lines_show(const relay_str_t *doc, relay_int_t rc)
{
    relay_buf_t  pointer;

    printf("%s here: ", rc == RELAY_OK ? "valid" : "not valid");

    if (rc == RELAY_DECLINED) {

        relay_buf_init(&pointer, 65536);
        (void) relay_pointer_append(&lines_tape, doc,
                                    lines_all.errors[0].node, &pointer);

        printf("%.*s %s: ", (int) pointer.len, pointer.data,
               lines_all.errors[0].keyword);

        relay_buf_free(&pointer);
    }

    printf("%.*s\n", (int) doc->len, doc->data);
}


/* 1: the same verdict, 0: not, -1: the line is no such line. */

static int
lines_judge(char *line, size_t len, size_t *valid, size_t shown)
{
    char                *p;
    size_t               i;
    relay_int_t          rc, expected;
    relay_str_t          doc;
    relay_json_error_t   err;

    p = memchr(line, ' ', len);

    if (p == NULL || len - (p - line) < 4) {
        return -1;
    }

    for (i = 0; i < lines_n; i++) {
        if (lines_schemas[i].len == (size_t) (p - line)
            && memcmp(lines_schemas[i].name, line, p - line) == 0)
        {
            break;
        }
    }

    if (i == lines_n || p[2] != ' ' || (p[1] != '0' && p[1] != '1')) {
        return -1;
    }

    expected = (p[1] == '1') ? RELAY_OK : RELAY_DECLINED;

    doc.data = (unsigned char *) p + 3;
    doc.len = len - (p + 3 - line);

    rc = relay_json_parse(&lines_tape, &doc, &relay_json_default_limits, &err);

    if (rc != RELAY_OK) {
        printf("at %zu: %s: %.*s\n", err.offset, err.text, (int) doc.len,
               doc.data);
        return -1;
    }

    rc = relay_schema_validate(lines_schemas[i].schema, &doc, &lines_tape,
                               &lines_all);

    if (rc != relay_schema_validate(lines_schemas[i].schema, &doc,
                                    &lines_tape, &lines_first))
    {
        printf("the first fault and all of them differ: %.*s\n",
               (int) doc.len, doc.data);
        return -1;
    }

    *valid += (rc == RELAY_OK);

    if (rc == expected) {
        return 1;
    }

    if (shown < LINES_SHOWN) {
        lines_show(&doc, rc);
    }

    return 0;
}


int
main(int argc, char **argv)
{
    int       i, rc;
    char     *line;
    size_t    size, n, valid, differ;
    ssize_t   len;

    for (i = 1; i < argc; i++) {
        if (lines_load(argv[i]) != RELAY_OK) {
            return 2;
        }
    }

    relay_json_tape_init(&lines_tape);
    relay_schema_run_init(&lines_all, 64);
    relay_schema_run_init(&lines_first, 1);

    line = NULL;
    size = 0;
    n = 0;
    valid = 0;
    differ = 0;

    while ((len = getline(&line, &size, stdin)) > 1) {

        rc = lines_judge(line, (size_t) len - 1, &valid, differ);

        if (rc < 0) {
            fprintf(stderr, "line %zu cannot be judged\n", n + 1);
            return 2;
        }

        n++;
        differ += (rc == 0);
    }

    printf("documents %zu valid %zu differ %zu\n", n, valid, differ);

    free(line);
    relay_schema_run_free(&lines_all);
    relay_schema_run_free(&lines_first);
    relay_json_tape_free(&lines_tape);

    while (lines_n > 0) {
        relay_schema_free(lines_schemas[--lines_n].schema);
    }

    return differ ? 1 : 0;
}
