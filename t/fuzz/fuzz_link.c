
/*
 * relay_link: the grammar of tokens, base64url against openssl's base64, and
 * digests.
 */

#include <openssl/evp.h>

#include "fuzz.h"
#include "relay_link.h"


/* openssl's base64, its alphabet and padding made those of RFC 4648 5. */

static size_t
naive(const unsigned char *in, size_t len, unsigned char *out)
{
    int      n;
    size_t   i;

    n = EVP_EncodeBlock(out, in, (int) len);
    fuzz_assert(n >= 0);

    for (i = 0; i < (size_t) n && out[i] != '='; i++) {
        out[i] = (out[i] == '+') ? '-' : (out[i] == '/') ? '_' : out[i];
    }

    return i;
}


static size_t
in_alphabet(const relay_str_t *s)
{
    size_t  i;

    static const char  alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "abcdefghijklmnopqrstuvwxyz0123456789-_";

    for (i = 0; i < s->len; i++) {
        if (memchr(alphabet, s->data[i], 64) == NULL) {
            break;
        }
    }

    return i;
}


static void
decode(const relay_str_t *s)
{
    size_t          n, room, again;
    relay_int_t     rc;
    unsigned char  *out, *text;

    room = s->len / 4 * 3 + 3;
    out = malloc(room);
    text = malloc(4 * room / 3 + 4);
    fuzz_assert(out != NULL && text != NULL);

    n = room;
    rc = relay_base64url_decode(s, out, &n);

    if (rc == RELAY_OK) {

        /* exactly one text stands for some bytes */

        again = naive(out, n, text);
        fuzz_assert(again == s->len);
        fuzz_assert(again == 0 || memcmp(text, s->data, again) == 0);
        fuzz_assert(in_alphabet(s) == s->len);

        if (n != 0) {
            again = n - 1;
            fuzz_assert(relay_base64url_decode(s, out, &again)
                        == RELAY_DECLINED);
        }

    } else {
        fuzz_assert(rc == RELAY_DECLINED);
    }

    free(out);
    free(text);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t          n, len;
    unsigned        mdlen;
    fuzz_in_t       in;
    relay_str_t     s, t;
    unsigned char  *text, *bytes, md[EVP_MAX_MD_SIZE], expected[64];
    unsigned char   digest[RELAY_DIGEST_LEN], token[RELAY_DIGEST_LEN];
    unsigned char   random[32], back[32];

    if (size > 65536) {
        return 0;
    }

    fuzz_in_init(&in, data, size);
    s = fuzz_rest(&in);

    /* the grammar */

    fuzz_assert((relay_link_parse(&s) == RELAY_OK)
                == (s.len >= 22 && s.len <= 128 && in_alphabet(&s) == s.len));

    decode(&s);

    /* there and back, into as much room as was promised */

    text = malloc(4 * s.len / 3 + 3);
    bytes = malloc(4 * s.len / 3 + 8);
    fuzz_assert(text != NULL && bytes != NULL);

    t.len = relay_base64url_encode(s.data, s.len, text);
    t.data = text;

    fuzz_assert(t.len == naive(s.data, s.len, bytes));
    fuzz_assert(t.len == 0 || memcmp(text, bytes, t.len) == 0);

    len = s.len;
    fuzz_assert(relay_base64url_decode(&t, bytes, &len) == RELAY_OK);
    fuzz_assert(len == s.len && (len == 0 || memcmp(bytes, s.data, len) == 0));

    free(text);
    free(bytes);

    /* H(x) */

    relay_digest(&s, digest);

    fuzz_assert(EVP_Digest(s.len ? (void *) s.data : "", s.len, md, &mdlen,
                           EVP_sha256(), NULL)
                == 1);
    fuzz_assert(naive(md, mdlen, expected) == RELAY_DIGEST_LEN);
    fuzz_assert(memcmp(digest, expected, RELAY_DIGEST_LEN) == 0);

    /* a token that was made is one, and holds all that it was made of */

    memset(random, 0, sizeof(random));
    n = (s.len < sizeof(random)) ? s.len : sizeof(random);

    if (n != 0) {
        memcpy(random, s.data, n);
    }

    relay_link_mint(random, token);

    t.data = token;
    t.len = RELAY_DIGEST_LEN;
    len = sizeof(back);

    fuzz_assert(relay_link_parse(&t) == RELAY_OK);
    fuzz_assert(relay_base64url_decode(&t, back, &len) == RELAY_OK);
    fuzz_assert(len == 32 && memcmp(back, random, 32) == 0);

    fuzz_in_free(&in);

    return 0;
}
