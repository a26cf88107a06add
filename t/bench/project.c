
/*
 * Projection of a package beside jansson's parse and dump, and simdjson's DOM
 * parse where it is built in.  What is compared runs in turns, in one process;
 * one line for each round, nanoseconds of CPU for one document:
 *
 *     round NAME=NS NAME=NS ...
 *
 * and at the end the bytes of the document and the calls of the allocator that
 * the projections of all rounds made:
 *
 *     bytes N
 *     allocations N
 *
 * usage: project DOCUMENT VIEW ROUNDS; the recipient's view of DOCUMENT must
 * equal VIEW, value for value.
 */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <jansson.h>

#include "relay.h"
#include "relay_buf.h"
#include "relay_data.h"
#include "relay_json.h"
#include "relay_package.h"
#include "relay_view.h"

#include "simd.h"


#define BENCH_SLICE  200000000  /* ns of CPU that one turn takes, about */
#define BENCH_NOW    1780272000000      /* 2026-06-01 */


typedef relay_int_t (*bench_run_pt)(void);


typedef struct {
    const char     *name;
    bench_run_pt    run;
    uint64_t        times;      /* documents in one turn */
} bench_peer_t;


void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);


static relay_int_t bench_relay(void);
static relay_int_t bench_copied(void);
static relay_int_t bench_jansson(void);
#if (BENCH_SIMDJSON)
static relay_int_t bench_simdjson(void);
#endif


static relay_str_t           bench_doc;
static relay_json_tape_t     bench_tape;
static relay_view_out_t      bench_out;
static relay_view_policy_t  *bench_policy;
static unsigned char        *bench_copy;
static char                 *bench_dump;
static size_t                bench_dump_size;
static uint64_t              bench_allocations;


static bench_peer_t  bench_peers[] = {
    { "relay", bench_relay, 0 },
    { "jansson", bench_jansson, 0 },
#if (BENCH_SIMDJSON)
    { "simdjson", bench_simdjson, 0 },
#endif
    { "copied", bench_copied, 0 }
};

#define BENCH_PEERS  (sizeof(bench_peers) / sizeof(bench_peers[0]))


/* The linker leads the archive's calls here; jansson, a library, has its own */

void *
__wrap_malloc(size_t size)
{
    bench_allocations++;

    return __real_malloc(size);
}


void *
__wrap_calloc(size_t n, size_t size)
{
    bench_allocations++;

    return __real_calloc(n, size);
}


void *
__wrap_realloc(void *p, size_t size)
{
    bench_allocations++;

    return __real_realloc(p, size);
}


static relay_int_t
bench_relay(void)
{
    const char           *why;
    relay_json_error_t    err;
    relay_view_params_t   params;

    params.now = BENCH_NOW;
    params.permission = RELAY_PERMISSION_READ;

    if (relay_json_parse(&bench_tape, &bench_doc, &relay_json_default_limits,
                         &err)
        != RELAY_OK)
    {
        return RELAY_ERROR;
    }

    return relay_view_project(bench_policy, &bench_doc, &bench_tape,
                              RELAY_VIEW_RECIPIENT, &params, &bench_out, &why);
}


/* The same, and the spans put into one piece. */

static relay_int_t
bench_copied(void)
{
    size_t          i;
    unsigned char  *p;

    if (bench_relay() != RELAY_OK) {
        return RELAY_ERROR;
    }

    p = bench_copy;

    for (i = 0; i < bench_out.n; i++) {
        memcpy(p, bench_out.spans[i].data, bench_out.spans[i].len);
        p += bench_out.spans[i].len;
    }

    return RELAY_OK;
}


/* As fast as its interface allows: into memory that is there already. */

static relay_int_t
bench_jansson(void)
{
    size_t   n;
    json_t  *json;

    json = json_loadb((const char *) bench_doc.data, bench_doc.len, 0, NULL);

    if (json == NULL) {
        return RELAY_ERROR;
    }

    n = json_dumpb(json, bench_dump, bench_dump_size, JSON_COMPACT);

    json_decref(json);

    return (n > 0 && n <= bench_dump_size) ? RELAY_OK : RELAY_ERROR;
}


#if (BENCH_SIMDJSON)

static relay_int_t
bench_simdjson(void)
{
    return bench_simdjson_parse() == 0 ? RELAY_OK : RELAY_ERROR;
}

#endif


static uint64_t
bench_cpu(void)
{
    struct timespec  ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);

    return (uint64_t) ts.tv_sec * 1000000000 + ts.tv_nsec;
}


/* The CPU time of one turn; 0 when something failed. */

static uint64_t
bench_turn(bench_peer_t *peer)
{
    uint64_t  i, start;

    start = bench_cpu();

    for (i = 0; i < peer->times; i++) {
        if (peer->run() != RELAY_OK) {
            fprintf(stderr, "project: %s failed\n", peer->name);
            return 0;
        }
    }

    return bench_cpu() - start;
}


static relay_int_t
bench_read(const char *name, relay_str_t *s)
{
    FILE  *file;

    file = fopen(name, "rb");
    if (file == NULL) {
        perror(name);
        return RELAY_ERROR;
    }

    s->data = __real_malloc(RELAY_DOCUMENT_MAX);
    if (s->data == NULL) {
        fclose(file);
        return RELAY_ERROR;
    }

    s->len = fread(s->data, 1, RELAY_DOCUMENT_MAX, file);

    fclose(file);

    return s->len > 0 ? RELAY_OK : RELAY_ERROR;
}


/* What is timed must be the view itself. */

static relay_int_t
bench_check(const char *name)
{
    json_t       *is, *expected;
    relay_int_t   rc;

    bench_copy = __real_malloc(2 * bench_doc.len);

    if (bench_copy == NULL || bench_relay() != RELAY_OK
        || bench_out.len > 2 * bench_doc.len || bench_copied() != RELAY_OK)
    {
        fprintf(stderr, "project: no view\n");
        return RELAY_ERROR;
    }

    is = json_loadb((const char *) bench_copy, bench_out.len, 0, NULL);
    expected = json_load_file(name, 0, NULL);

    rc = json_equal(is, expected) ? RELAY_OK : RELAY_ERROR;

    if (rc != RELAY_OK) {
        fprintf(stderr, "project: the view does not equal %s\n", name);
    }

    json_decref(is);
    json_decref(expected);

    return rc;
}


static relay_int_t
bench_rounds(int rounds)
{
    int        i;
    size_t     n;
    uint64_t   ns, before, made;

    /* once for warmth, to see how many make a slice */

    for (n = 0; n < BENCH_PEERS; n++) {
        bench_peers[n].times = 200;
        ns = bench_turn(&bench_peers[n]);

        if (ns == 0) {
            return RELAY_ERROR;
        }

        bench_peers[n].times = BENCH_SLICE / (ns / 200 + 1) + 1;
    }

    made = 0;

    for (i = 0; i < rounds; i++) {

        printf("round");

        for (n = 0; n < BENCH_PEERS; n++) {
            before = bench_allocations;
            ns = bench_turn(&bench_peers[n]);

            if (ns == 0) {
                return RELAY_ERROR;
            }

            if (bench_peers[n].run == bench_relay) {
                made += bench_allocations - before;
            }

            printf(" %s=%.1f", bench_peers[n].name,
                   (double) ns / bench_peers[n].times);
        }

        printf("\n");
    }

    printf("bytes %zu\n", bench_doc.len);
    printf("allocations %llu\n", (unsigned long long) made);

    return RELAY_OK;
}


int
main(int argc, char **argv)
{
    int                 rounds;
    relay_buf_t         err;
    const relay_str_t  *text;

    rounds = (argc == 4) ? atoi(argv[3]) : 0;

    if (rounds < 1) {
        fprintf(stderr, "usage: project DOCUMENT VIEW ROUNDS\n");
        return 2;
    }

    if (bench_read(argv[1], &bench_doc) != RELAY_OK) {
        return 2;
    }

    relay_json_tape_init(&bench_tape);
    relay_view_out_init(&bench_out);
    relay_buf_init(&err, 4096);

    text = relay_view_policy_text(RELAY_PACKAGE_SCHEMA);
    bench_policy = (text != NULL) ? relay_view_compile(text, &err) : NULL;

    bench_dump_size = 2 * bench_doc.len;
    bench_dump = __real_malloc(bench_dump_size);

    if (bench_policy == NULL || bench_dump == NULL) {
        fprintf(stderr, "project: no policy\n");
        return 2;
    }

#if (BENCH_SIMDJSON)
    if (bench_simdjson_init(bench_doc.data, bench_doc.len) != 0) {
        fprintf(stderr, "project: simdjson refused the document\n");
        return 2;
    }
#endif

    if (bench_check(argv[2]) != RELAY_OK || bench_rounds(rounds) != RELAY_OK) {
        return 2;
    }

    relay_view_policy_free(bench_policy);
    relay_view_out_free(&bench_out);
    relay_json_tape_free(&bench_tape);
    relay_buf_free(&err);

    return 0;
}
