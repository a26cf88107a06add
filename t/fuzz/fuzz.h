
/*
 * fuzz.h: what the fuzz targets share.
 *
 * A target is one file, fuzz_NAME.c, with LLVMFuzzerTestOneInput().  It runs
 * under libFuzzer ("make fuzz") and, without it, over the committed inputs
 * ("make test"); see replay.c.
 */

#ifndef _FUZZ_H_INCLUDED_
#define _FUZZ_H_INCLUDED_


#include <stdio.h>
#include <stdlib.h>

#include "relay.h"
#include "relay_buf.h"


int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


/* What must hold; an input for which it does not ends the process. */

#define fuzz_assert(x)                                                        \
    do {                                                                      \
        if (!(x)) {                                                           \
            fprintf(stderr, "%s:%d: %s does not hold\n",                      \
                    __FILE__, __LINE__, #x);                                  \
            abort();                                                          \
        }                                                                     \
    } while (0)


#define FUZZ_STRINGS  512

/*
 * An input that is taken apart field by field.  Each string is an allocation
 * of its own, so that a read beyond its end is seen.  An input that has ended
 * gives zeros and empty strings.
 */

typedef struct {
    const uint8_t  *pos;
    const uint8_t  *last;
    void           *strings[FUZZ_STRINGS];
    size_t          n;
} fuzz_in_t;


static inline void
fuzz_in_init(fuzz_in_t *in, const uint8_t *data, size_t size)
{
    in->pos = data;
    in->last = data + size;
    in->n = 0;
}


static inline void
fuzz_in_free(fuzz_in_t *in)
{
    while (in->n != 0) {
        free(in->strings[--in->n]);
    }
}


static inline size_t
fuzz_in_left(const fuzz_in_t *in)
{
    return in->last - in->pos;
}


static inline unsigned
fuzz_byte(fuzz_in_t *in)
{
    return (in->pos == in->last) ? 0 : *in->pos++;
}


static inline uint64_t
fuzz_u64(fuzz_in_t *in)
{
    unsigned  i;
    uint64_t  v;

    v = 0;

    for (i = 0; i < 8; i++) {
        v = v << 8 | fuzz_byte(in);
    }

    return v;
}


/* A copy of bytes in an allocation that is exactly as long. */

static inline relay_str_t
fuzz_copy(fuzz_in_t *in, const void *data, size_t len)
{
    relay_str_t  s;

    s.len = len;
    s.data = malloc(len);

    fuzz_assert(s.data != NULL || len == 0);
    fuzz_assert(in->n < FUZZ_STRINGS);

    if (len != 0) {
        memcpy(s.data, data, len);
    }

    in->strings[in->n++] = s.data;

    return s;
}


static inline relay_str_t
fuzz_take(fuzz_in_t *in, size_t len)
{
    relay_str_t  s;

    if (len > fuzz_in_left(in)) {
        len = fuzz_in_left(in);
    }

    s = fuzz_copy(in, in->pos, len);
    in->pos += len;

    return s;
}


/*
 * A string whose length is its first byte; 255 is followed by two bytes of
 * length.
 */

static inline relay_str_t
fuzz_str(fuzz_in_t *in)
{
    size_t  len;

    len = fuzz_byte(in);

    if (len == 255) {
        len = fuzz_byte(in) << 8;
        len |= fuzz_byte(in);
    }

    return fuzz_take(in, len);
}


static inline relay_str_t
fuzz_rest(fuzz_in_t *in)
{
    return fuzz_take(in, fuzz_in_left(in));
}


/*
 * Mutations of a JSON text that leave it one: a value is taken from elsewhere,
 * replaced, put in, left out, renamed, wrapped (mutate.c).  FUZZ_JSON_MUTATOR
 * in a target makes libFuzzer use them.
 */

size_t fuzz_json_mutate(uint8_t *data, size_t size, size_t max,
    unsigned int seed);

#if (RELAY_FUZZ)

#define FUZZ_JSON_MUTATOR                                                     \
                                                                              \
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,        \
    unsigned int seed);                                                       \
                                                                              \
size_t                                                                        \
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,               \
    unsigned int seed)                                                        \
{                                                                             \
    return fuzz_json_mutate(data, size, max, seed);                           \
}

#else

#define FUZZ_JSON_MUTATOR

#endif


#endif /* _FUZZ_H_INCLUDED_ */
