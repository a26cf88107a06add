
/*
 * simd: simdjson's DOM parse as C.
 */

#ifndef _BENCH_SIMD_H_INCLUDED_
#define _BENCH_SIMD_H_INCLUDED_


#include <stddef.h>


#ifdef __cplusplus
extern "C" {
#endif

/* Takes a padded copy of the document; 0: it parses. */
int bench_simdjson_init(const unsigned char *data, size_t len);

/* Parses it once more with the same parser; 0: it parses. */
int bench_simdjson_parse(void);

#ifdef __cplusplus
}
#endif


#endif /* _BENCH_SIMD_H_INCLUDED_ */
