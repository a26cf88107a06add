
/*
 * How the time for one byte grows with the document: documents of one shape
 * at 2 KB, 64 KB and 8 MB, tokenized and projected to the views of a
 * recipient, of a link and of who it is passed on to.  One line for each
 * shape, nanoseconds of CPU for one byte and the last by the second:
 *
 *     shape NAME NS NS NS RATIO
 *
 * usage: growth [NAME]
 */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "relay_data.h"
#include "relay_json.h"
#include "relay_package.h"
#include "relay_view.h"


#define BENCH_SLICE   40000000          /* ns of CPU that one turn takes */
#define BENCH_TURNS   5
#define BENCH_NOW     1780272000000     /* 2026-06-01 */
#define BENCH_MEMBERS 4000              /* of one object */
#define BENCH_STRING  (1000 * 1000)     /* bytes of one string */


typedef struct {
    unsigned char  *data;
    size_t          len;
    size_t          size;       /* at which it ends, about */
    size_t          n;          /* elements so far */
} bench_text_t;


typedef void (*bench_element_pt)(bench_text_t *t);


typedef struct {
    const char        *name;
    const char        *before;
    bench_element_pt   element; /* one more, without a comma */
    const char        *after;
} bench_shape_t;


static const size_t  bench_sizes[] = { 2048, 65536, 8 * 1000 * 1000 };


static relay_json_tape_t     bench_tape;
static relay_view_out_t      bench_out;
static relay_view_policy_t  *bench_policy;


static __attribute__((format(printf, 2, 3))) void
bench_put(bench_text_t *t, const char *fmt, ...)
{
    va_list  args;

    va_start(args, fmt);
    t->len += vsprintf((char *) t->data + t->len, fmt, args);
    va_end(args);
}


/* Bytes of a text: as many as fit, up to n. */

static void
bench_fill(bench_text_t *t, const char *bytes, size_t n)
{
    size_t  len;

    len = strlen(bytes);

    while (n >= len && t->len + len < t->size) {
        memcpy(t->data + t->len, bytes, len);
        t->len += len;
        n -= len;
    }
}


static void
bench_prose(bench_text_t *t)
{
    bench_put(t, "{\"id\":\"s%zu\",\"title\":\"Section %zu\",\"version\":1,"
              "\"visibility\":\"shareable\",\"body\":\"", t->n, t->n);
    bench_fill(t, "It is the same as it was. ", 600);
    bench_put(t, "\",\"claims\":[{\"id\":\"c%zu\",\"text\":\"It was so.\","
              "\"provenance\":\"stated\",\"confidence\":\"high\","
              "\"visibility\":\"%s\"}]}", t->n,
              t->n % 5 ? "shareable" : "recipient-only");
}


static void
bench_deep(bench_text_t *t)
{
    int  i;

    for (i = 0; i < 28; i++) {
        bench_put(t, "{\"the-level-below-this\":[");
    }

    bench_put(t, "\"end\"");

    for (i = 0; i < 28; i++) {
        bench_put(t, "]}");
    }
}


static void
bench_nested(bench_text_t *t)
{
    int  i;

    bench_put(t, "{\"x\":");

    for (i = 0; i < 58; i++) {
        bench_put(t, "[\"a text here\",");
    }

    bench_put(t, "\"end\"");

    for (i = 0; i < 58; i++) {
        bench_put(t, "]");
    }

    bench_put(t, ",\"label\":\"l\"}");
}


static void
bench_wide(bench_text_t *t)
{
    int  i;

    bench_put(t, "{\"id\":\"d%zu\"", t->n);

    for (i = 0; i < BENCH_MEMBERS && t->len < t->size; i++) {
        bench_put(t, ",\"m%d\":\"some value\"", i);
    }

    bench_put(t, "}");
}


static void
bench_prefix(bench_text_t *t)
{
    int  i;

    bench_put(t, "{\"id\":\"d%zu\"", t->n);

    for (i = 0; i < BENCH_MEMBERS && t->len < t->size; i++) {
        bench_put(t, ",\"the-same-prefix-of-every-name-of-this-object-and-"
                  "of-the-next-one-as-well-%06d\":1", i);
    }

    bench_put(t, "}");
}


static void
bench_escapes(bench_text_t *t)
{
    bench_put(t, "\"");
    bench_fill(t, "\\u00e9\\\"\\ud83d\\ude00\\\\\\u0041", 5000);
    bench_put(t, "\"");
}


static void
bench_string(bench_text_t *t)
{
    bench_put(t, "\"");
    bench_fill(t, "one string that does not want to end, ", BENCH_STRING);
    bench_put(t, "\"");
}


static void
bench_unicode(bench_text_t *t)
{
    bench_put(t, "\"");
    bench_fill(t, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 5000);
    bench_put(t, "\"");
}


static void
bench_ids(bench_text_t *t)
{
    bench_put(t, "{\"id\":\"the-same\",\"text\":\"T\",\"provenance\":"
              "\"stated\",\"visibility\":\"%s\",\"sources\":[\"the-same\","
              "\"the-other\"]}", t->n % 2 ? "shareable" : "recipient-only");
}


static void
bench_references(bench_text_t *t)
{
    bench_put(t, "{\"id\":\"claim-%zu\",\"text\":\"T\",\"provenance\":"
              "\"stated\",\"visibility\":\"%s\",\"sources\":[\"see claim-%zu, "
              "then claim-%zu\",\"page %zu\"]}", t->n,
              t->n % 2 ? "shareable" : "recipient-only", t->n / 2, t->n + 1,
              t->n);
}


/* Names that are no words are sought in every text, up to so many. */

static void
bench_odd(bench_text_t *t)
{
    if (t->n < 8) {
        bench_put(t, "{\"id\":\"claim no. %zu\",\"visibility\":"
                  "\"recipient-only\"}", t->n);
        return;
    }

    bench_put(t, "{\"id\":\"c%zu\",\"visibility\":\"shareable\",\"sources\":["
              "\"claim no one made, claim no. , claim no.x\"]}", t->n);
}


static void
bench_checks(bench_text_t *t)
{
    bench_put(t, "{\"question\":\"Is this question no. %zu?\","
              "\"approvedAnswer\":\"Yes.\"}", t->n);
}


/* Texts that nearly repeat the private one. */

static void
bench_nearly(bench_text_t *t)
{
    bench_put(t, "\"");
    bench_fill(t, "aaaaaaaaaaaaaaaa", 3000);
    bench_put(t, "b\"");
}


static void
bench_variables(bench_text_t *t)
{
    bench_put(t, "{\"name\":\"v%zu\",\"gate\":\"soft\",\"visibility\":\"%s\","
              "\"tradesAgainst\":[\"v%zu\",\"v%zu\"]}", t->n,
              t->n % 2 ? "shareable" : "recipient-only", t->n / 2, t->n / 3);
}


#define BEFORE(private)                                                       \
    "{\"schema\":\"" RELAY_PACKAGE_SCHEMA "\",\"intent\":{\"statement\":\""   \
    private "\"},\"context\":{\"sections\":[{\"id\":\"s\","                   \
    "\"visibility\":\"shareable\""

#define CLAIMS  BEFORE("keep it") ",\"body\":\"B\",\"claims\":["
#define OTHER   BEFORE("keep it to yourself") "}]},"

#define NEARLY  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaca"   \
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"


static const bench_shape_t  bench_shapes[] = {
    { "prose", BEFORE("keep it to yourself") "},", bench_prose, "]}}" },
    { "deep", OTHER "\"judgement\":{\"redLines\":[", bench_deep, "]}}" },
    { "nested", OTHER "\"reasoning\":{\"decisions\":[{\"options\":[",
      bench_nested, "]}]}}" },
    { "wide", OTHER "\"reasoning\":{\"decisions\":[", bench_wide, "]}}" },
    { "prefix", OTHER "\"reasoning\":{\"decisions\":[", bench_prefix,
      "]}}" },
    { "escapes", OTHER "\"judgement\":{\"redLines\":[", bench_escapes,
      "]}}" },
    { "unicode", OTHER "\"judgement\":{\"redLines\":[", bench_unicode,
      "]}}" },
    { "string", OTHER "\"judgement\":{\"redLines\":[", bench_string, "]}}" },
    { "nearly", BEFORE(NEARLY) "}]},\"judgement\":{\"redLines\":[",
      bench_nearly, "]}}" },
    { "ids", CLAIMS, bench_ids, "]}]}}" },
    { "references", CLAIMS, bench_references, "]}]}}" },
    { "odd", CLAIMS, bench_odd, "]}]}}" },
    { "variables", OTHER "\"reasoning\":{\"variables\":[", bench_variables,
      "]}}" },
    { "checks", OTHER "\"representation\":{\"mustAskOwner\":[\"Price?\","
      "\"Terms\",\"Is this question no. 17\"],\"fidelityChecks\":[",
      bench_checks, "]}}" }
};

#define BENCH_SHAPES  (sizeof(bench_shapes) / sizeof(bench_shapes[0]))


static uint64_t
bench_cpu(void)
{
    struct timespec  ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);

    return (uint64_t) ts.tv_sec * 1000000000 + ts.tv_nsec;
}


static relay_int_t
bench_once(const relay_str_t *doc)
{
    int                   view;
    const char           *why;
    relay_json_error_t    err;
    relay_view_params_t   params;

    params.now = BENCH_NOW;
    params.permission = RELAY_PERMISSION_READ;
    why = NULL;

    if (relay_json_parse(&bench_tape, doc, &relay_json_default_limits, &err)
        != RELAY_OK)
    {
        fprintf(stderr, "growth: line %zu, column %zu: %s\n", err.line,
                err.column, err.text);
        return RELAY_ERROR;
    }

    for (view = RELAY_VIEW_RECIPIENT; view <= RELAY_VIEW_PASS_ON; view++) {

        if (relay_view_project(bench_policy, doc, &bench_tape, view, &params,
                               &bench_out, &why)
            != RELAY_OK)
        {
            fprintf(stderr, "growth: withheld: %s\n", why);
            return RELAY_ERROR;
        }
    }

    return RELAY_OK;
}


/* Nanoseconds for one byte, the least of several turns; less than 0: none. */

static double
bench_time(const bench_shape_t *shape, size_t size, unsigned char *memory)
{
    int           turn;
    double        least, ns;
    uint64_t      i, times, start;
    relay_str_t   doc;
    bench_text_t  text;

    text.data = memory;
    text.len = 0;
    text.size = size - strlen(shape->after);

    bench_put(&text, "%s", shape->before);

    for (text.n = 0; text.n == 0 || text.len < text.size; text.n++) {

        if (text.n != 0) {
            bench_put(&text, ",");
        }

        shape->element(&text);
    }

    bench_put(&text, "%s", shape->after);

    doc.data = text.data;
    doc.len = text.len;

    times = 1;
    least = -1;

    for (turn = 0; turn <= BENCH_TURNS; turn++) {
        start = bench_cpu();

        for (i = 0; i < times; i++) {
            if (bench_once(&doc) != RELAY_OK) {
                return -1;
            }
        }

        ns = (double) (bench_cpu() - start) / times / doc.len;

        if (turn == 0) {
            times = BENCH_SLICE / (uint64_t) (ns * doc.len + 1) + 1;

        } else if (least < 0 || ns < least) {
            least = ns;
        }
    }

    return least;
}


int
main(int argc, char **argv)
{
    size_t              i, k;
    double              ns[3];
    relay_buf_t         err;
    unsigned char      *memory;
    const relay_str_t  *text;

    relay_json_tape_init(&bench_tape);
    relay_view_out_init(&bench_out);
    relay_buf_init(&err, 4096);

    memory = malloc(2 * RELAY_DOCUMENT_MAX);
    text = relay_view_policy_text(RELAY_PACKAGE_SCHEMA);
    bench_policy = (text != NULL) ? relay_view_compile(text, &err) : NULL;

    if (memory == NULL || bench_policy == NULL) {
        fprintf(stderr, "growth: no policy\n");
        return 2;
    }

    for (i = 0; i < BENCH_SHAPES; i++) {

        if (argc > 1 && strcmp(argv[1], bench_shapes[i].name) != 0) {
            continue;
        }

        for (k = 0; k < 3; k++) {
            ns[k] = bench_time(&bench_shapes[i], bench_sizes[k], memory);

            if (ns[k] < 0) {
                fprintf(stderr, "growth: %s of %zu bytes failed\n",
                        bench_shapes[i].name, bench_sizes[k]);
                return 2;
            }
        }

        printf("shape %s %.3f %.3f %.3f %.3f\n", bench_shapes[i].name, ns[0],
               ns[1], ns[2], ns[2] / ns[1]);
        fflush(stdout);
    }

    relay_view_policy_free(bench_policy);
    relay_view_out_free(&bench_out);
    relay_json_tape_free(&bench_tape);
    relay_buf_free(&err);
    free(memory);

    return 0;
}
