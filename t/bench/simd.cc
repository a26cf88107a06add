
/*
 * simd: simdjson's DOM parse as C, the way its documentation recommends: the
 * parser is reused, and the document is padded beforehand.
 */

#include <simdjson.h>

#include "simd.h"


static simdjson::dom::parser   parser;
static simdjson::padded_string document;


int
bench_simdjson_init(const unsigned char *data, size_t len)
{
    document = simdjson::padded_string(reinterpret_cast<const char *>(data),
                                       len);

    return bench_simdjson_parse();
}


int
bench_simdjson_parse(void)
{
    simdjson::dom::element  root;

    return parser.parse(document).get(root) == simdjson::SUCCESS ? 0 : 1;
}
