
/*
 * Parse and validation of a package against the schema of its type: the CPU
 * time that one document takes, in nanoseconds, and the calls of the allocator
 * while it was measured:
 *
 *     ns N
 *     allocations N
 *
 * usage: schema SCHEMA DOCUMENT
 */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "relay.h"
#include "relay_buf.h"
#include "relay_json.h"
#include "relay_schema.h"


#define BENCH_SLICE  300000000      /* ns of CPU that are measured, about */


void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);


static relay_str_t         bench_doc;
static relay_json_tape_t   bench_tape;
static relay_schema_t     *bench_schema;
static relay_schema_run_t  bench_run;
static uint64_t            bench_allocations;


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
bench_one(void)
{
    relay_json_error_t  err;

    if (relay_json_parse(&bench_tape, &bench_doc, &relay_json_default_limits,
                         &err)
        != RELAY_OK)
    {
        return RELAY_ERROR;
    }

    return relay_schema_validate(bench_schema, &bench_doc, &bench_tape,
                                 &bench_run);
}


static uint64_t
bench_cpu(void)
{
    struct timespec  ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);

    return (uint64_t) ts.tv_sec * 1000000000 + ts.tv_nsec;
}


/* The CPU time of so many documents; 0 when one is not valid. */

static uint64_t
bench_turn(uint64_t times)
{
    uint64_t  i, start;

    start = bench_cpu();

    for (i = 0; i < times; i++) {
        if (bench_one() != RELAY_OK) {
            fprintf(stderr, "schema: the document is not valid\n");
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


int
main(int argc, char **argv)
{
    uint64_t     ns, times, before;
    relay_buf_t  err;
    relay_str_t  text;

    if (argc != 3) {
        fprintf(stderr, "usage: schema SCHEMA DOCUMENT\n");
        return 2;
    }

    if (bench_read(argv[1], &text) != RELAY_OK
        || bench_read(argv[2], &bench_doc) != RELAY_OK)
    {
        return 2;
    }

    relay_buf_init(&err, 4096);
    relay_json_tape_init(&bench_tape);
    relay_schema_run_init(&bench_run, 1);

    bench_schema = relay_schema_compile(&text, &err);

    if (bench_schema == NULL) {
        fprintf(stderr, "schema: %.*s\n", (int) err.len, err.data);
        return 2;
    }

    ns = bench_turn(1000);

    if (ns == 0) {
        return 2;
    }

    times = BENCH_SLICE / (ns / 1000 + 1) + 1;
    before = bench_allocations;
    ns = bench_turn(times);

    if (ns == 0) {
        return 2;
    }

    printf("ns %.1f\n", (double) ns / times);
    printf("allocations %llu\n",
           (unsigned long long) (bench_allocations - before));

    relay_schema_free(bench_schema);
    relay_schema_run_free(&bench_run);
    relay_json_tape_free(&bench_tape);
    relay_buf_free(&err);

    return 0;
}
