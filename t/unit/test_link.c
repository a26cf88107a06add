
/*
 * relay_link: grammar, minting, digests, base64url.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "relay_link.h"


static relay_int_t
parse(const char *s)
{
    relay_str_t  in;

    in.data = (unsigned char *) s;
    in.len = strlen(s);

    return relay_link_parse(&in);
}


static void
test_parse(void **state)
{
    int          c;
    relay_str_t  in;
    char         s[RELAY_TOKEN_MAX + 2];

    assert_int_equal(parse("ABCDEFGHIJKLMNOPQRSTUV"), RELAY_OK);
    assert_int_equal(parse("abcdefghijklmnopqrstuv"), RELAY_OK);
    assert_int_equal(parse("wxyzWXYZ0123456789-_-_"), RELAY_OK);

    /* one byte short of the least, the most, and one beyond it */

    assert_int_equal(parse("ABCDEFGHIJKLMNOPQRSTU"), RELAY_DECLINED);
    assert_int_equal(parse(""), RELAY_DECLINED);

    memset(s, 'a', sizeof(s));
    s[RELAY_TOKEN_MAX] = '\0';
    assert_int_equal(parse(s), RELAY_OK);
    s[RELAY_TOKEN_MAX] = 'a';
    s[RELAY_TOKEN_MAX + 1] = '\0';
    assert_int_equal(parse(s), RELAY_DECLINED);

    /* every byte, at either end and inside */

    for (c = 0; c < 256; c++) {

        memset(s, 'a', 30);
        in.data = (unsigned char *) s;
        in.len = 30;

        s[c % 3 == 0 ? 0 : c % 3 == 1 ? 29 : 15] = (char) c;

        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
            || (c >= '0' && c <= '9') || c == '-' || c == '_')
        {
            assert_int_equal(relay_link_parse(&in), RELAY_OK);

        } else {
            assert_int_equal(relay_link_parse(&in), RELAY_DECLINED);
        }
    }

    assert_int_equal(parse("ABCDEFGHIJKLMNOPQRSTUV=="), RELAY_DECLINED);
    assert_int_equal(parse("ABCDEFGHIJKLMNOPQRSTUV/x"), RELAY_DECLINED);
    assert_int_equal(parse("ABCDEFGHIJKLMNOPQRSTUV%2f"), RELAY_DECLINED);
    assert_int_equal(parse("ABCDEFGHIJK..MNOPQRSTUVWX"), RELAY_DECLINED);
}


static void
test_mint(void **state)
{
    size_t         i, len;
    relay_str_t    s;
    unsigned char  random[32], token[RELAY_DIGEST_LEN], back[32];

    for (i = 0; i < sizeof(random); i++) {
        random[i] = (unsigned char) (255 - i * 5);
    }

    relay_link_mint(random, token);

    s.data = token;
    s.len = sizeof(token);
    assert_int_equal(relay_link_parse(&s), RELAY_OK);

    len = sizeof(back);
    assert_int_equal(relay_base64url_decode(&s, back, &len), RELAY_OK);
    assert_int_equal(len, 32);
    assert_memory_equal(back, random, 32);

    memset(random, 0, sizeof(random));
    relay_link_mint(random, token);
    assert_memory_equal(token, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                        sizeof(token));
}


static void
test_digest(void **state)
{
    relay_str_t    s;
    unsigned char  out[RELAY_DIGEST_LEN], million[1000];

    static const relay_str_t  empty = relay_null_string;
    static const relay_str_t  abc = relay_string("abc");

    /* FIPS 180-4's own examples */

    relay_digest(&empty, out);
    assert_memory_equal(out, "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU",
                        sizeof(out));

    relay_digest(&abc, out);
    assert_memory_equal(out, "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0",
                        sizeof(out));

    memset(million, 'a', sizeof(million));
    s.data = million;
    s.len = sizeof(million);
    relay_digest(&s, out);
    assert_memory_equal(out, "Qe3s5C1j6Nm_UVqbppMuHCDLyfWl0TRkWttdsblzfqM",
                        sizeof(out));

    s.len--;
    relay_digest(&s, out);
    assert_memory_not_equal(out,
                            "Qe3s5C1j6Nm_UVqbppMuHCDLyfWl0TRkWttdsblzfqM",
                            sizeof(out));
}


static void
encode(const char *in, size_t len, const char *expected)
{
    size_t          n, back_len;
    relay_str_t     s;
    unsigned char  *out, *back;

    out = malloc(4 * len / 3 + 3);
    assert_non_null(out);

    n = relay_base64url_encode((const unsigned char *) in, len, out);
    assert_int_equal(n, strlen(expected));
    assert_memory_equal(out, expected, n);

    s.data = out;
    s.len = n;

    back = malloc(len + 1);
    assert_non_null(back);

    back_len = len;
    assert_int_equal(relay_base64url_decode(&s, back, &back_len), RELAY_OK);
    assert_int_equal(back_len, len);
    assert_memory_equal(back, in, len);

    /* a byte less of room */

    if (len) {
        back_len = len - 1;
        assert_int_equal(relay_base64url_decode(&s, back, &back_len),
                         RELAY_DECLINED);
    }

    free(out);
    free(back);
}


static relay_int_t
decode(const char *s)
{
    size_t         len;
    relay_str_t    in;
    unsigned char  out[64];

    in.data = (unsigned char *) s;
    in.len = strlen(s);
    len = sizeof(out);

    return relay_base64url_decode(&in, out, &len);
}


static void
test_base64url(void **state)
{
    relay_str_t    s;
    size_t         i, len;
    unsigned char  in[256], out[352], back[256];

    /* RFC 4648 10, without padding */

    encode("", 0, "");
    encode("f", 1, "Zg");
    encode("fo", 2, "Zm8");
    encode("foo", 3, "Zm9v");
    encode("foob", 4, "Zm9vYg");
    encode("fooba", 5, "Zm9vYmE");
    encode("foobar", 6, "Zm9vYmFy");
    encode("\xff\xef\xbe", 3, "_---");
    encode("\xfb\xff\xff", 3, "-___");

    for (i = 0; i < 256; i++) {
        in[i] = (unsigned char) i;
    }

    for (i = 0; i <= 256; i++) {
        s.data = out;
        s.len = relay_base64url_encode(in, i, out);
        len = 256;
        assert_int_equal(relay_base64url_decode(&s, back, &len), RELAY_OK);
        assert_int_equal(len, i);
        assert_memory_equal(back, in, i);
    }

    /* a length that nothing encodes to */

    assert_int_equal(decode("A"), RELAY_DECLINED);
    assert_int_equal(decode("AAAAA"), RELAY_DECLINED);

    /* non-zero trailing bits */

    assert_int_equal(decode("Zg"), RELAY_OK);
    assert_int_equal(decode("Zh"), RELAY_DECLINED);
    assert_int_equal(decode("Zv"), RELAY_DECLINED);
    assert_int_equal(decode("Zm8"), RELAY_OK);
    assert_int_equal(decode("Zm9"), RELAY_DECLINED);
    assert_int_equal(decode("Zm-"), RELAY_DECLINED);

    /* padding, the other alphabet, white space, other bytes */

    assert_int_equal(decode("Zg=="), RELAY_DECLINED);
    assert_int_equal(decode("Zm8="), RELAY_DECLINED);
    assert_int_equal(decode("+///"), RELAY_DECLINED);
    assert_int_equal(decode("Zm9v\n"), RELAY_DECLINED);
    assert_int_equal(decode("Zm 9v"), RELAY_DECLINED);
    assert_int_equal(decode("Zm9\xc3"), RELAY_DECLINED);
    assert_int_equal(decode("Zm9."), RELAY_DECLINED);

    s.data = (unsigned char *) "Zm\0v";
    s.len = 4;
    len = sizeof(back);
    assert_int_equal(relay_base64url_decode(&s, back, &len), RELAY_DECLINED);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_mint),
        cmocka_unit_test(test_digest),
        cmocka_unit_test(test_base64url)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
