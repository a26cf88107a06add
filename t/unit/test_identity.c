
/*
 * relay_identity: addresses that are the same, addresses that only look the
 * same, and the limits of an identity.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "relay_identity.h"


static void
set(relay_str_t *s, const char *z)
{
    s->data = (unsigned char *) z;
    s->len = strlen(z);
}


static void
accepted(const char *in, const char *expected)
{
    size_t          len;
    relay_str_t     s;
    unsigned char  *copy, *out;

    /* memory of its own size, so that a sanitizer sees a byte too many */

    s.len = strlen(in);
    copy = malloc(s.len);
    out = malloc(RELAY_EMAIL_MAX);
    assert_non_null(copy);
    assert_non_null(out);
    memcpy(copy, in, s.len);
    s.data = copy;

    if (relay_email_normalize(&s, out, &len) != RELAY_OK) {
        fail_msg("\"%s\" was declined", in);
    }

    assert_int_equal(len, strlen(expected));
    assert_memory_equal(out, expected, len);

    free(copy);
    free(out);
}


static void
declined(const char *in)
{
    size_t         len;
    relay_str_t    s;
    unsigned char  out[RELAY_EMAIL_MAX];

    set(&s, in);

    if (relay_email_normalize(&s, out, &len) != RELAY_DECLINED) {
        fail_msg("\"%s\" was accepted", in);
    }

    assert_int_equal(len, 0);
    assert_false(relay_email_equal(&s, &s));
}


static relay_uint_t
equal(const char *a, const char *b)
{
    relay_str_t   sa, sb;
    relay_uint_t  rc;

    set(&sa, a);
    set(&sb, b);

    rc = relay_email_equal(&sa, &sb);
    assert_int_equal(relay_email_equal(&sb, &sa), rc);

    return rc;
}


static void
test_normalize(void **state)
{
    accepted("maria@example.com", "maria@example.com");
    accepted("Maria@Example.COM", "maria@example.com");
    accepted("AZ@AZ", "az@az");
    accepted("a@b", "a@b");
    accepted(" maria@example.com", "maria@example.com");
    accepted("maria@example.com   ", "maria@example.com");
    accepted("m.a+tag_x-y'z@ex-ample.co.uk", "m.a+tag_x-y'z@ex-ample.co.uk");
    accepted("x@xn--bcher-kva.example", "x@xn--bcher-kva.example");
    accepted("x@XN--Bcher-KVA.example", "x@xn--bcher-kva.example");
    accepted("[`{@a.b", "[`{@a.b");

    /* a non-ASCII local part is kept byte for byte: U+00D6 is not folded */

    accepted("J\xc3\x96RG@Example.com", "j\xc3\x96rg@example.com");
    accepted("\xf0\x9f\x98\x80@example.com", "\xf0\x9f\x98\x80@example.com");
}


static void
test_declined(void **state)
{
    size_t         len;
    relay_str_t    s = relay_null_string;
    unsigned char  out[RELAY_EMAIL_MAX];

    assert_int_equal(relay_email_normalize(&s, out, &len), RELAY_DECLINED);

    declined("");
    declined(" ");
    declined("   ");
    declined("@");
    declined("a@");
    declined("@b");
    declined("@example.com");
    declined("maria");
    declined("maria@");
    declined("maria.example.com");

    /* two @, also where one would be quoted */

    declined("maria@evil.example@example.com");
    declined("maria@@example.com");
    declined("\"maria@evil.example\"@example.com");

    /* an @ that is none: full-width, small, percent-encoded */

    declined("maria\xef\xbc\xa0" "example.com");
    declined("maria\xef\xb9\xab" "example.com");
    declined("maria%40example.com");
    declined("maria\xef\xbc\xa0" "evil.example@example.com\xef\xbc\xa0");

    /* spaces and control characters, the latter also at the ends */

    declined("ma ria@example.com");
    declined("maria @example.com");
    declined("maria@ example.com");
    declined("maria@example .com");
    declined("maria@example.com\n");
    declined("\tmaria@example.com");
    declined("maria@example.com\r\nBcc: x@y");
    declined("ma\x01ria@example.com");
    declined("maria\x7f@example.com");
    declined("ma\xc2\x85ria@example.com");
    declined("ma\xc2\x80ria@example.com");

    s.data = (unsigned char *) "maria@example.com\0";
    s.len = 18;
    assert_int_equal(relay_email_normalize(&s, out, &len), RELAY_DECLINED);

    s.data = (unsigned char *) "ma\0ria@example.com";
    assert_int_equal(relay_email_normalize(&s, out, &len), RELAY_DECLINED);

    /* a domain that is not in A-labels */

    declined("maria@b\xc3\xbc" "cher.example");
    declined("maria@example\xe3\x80\x82" "com");
    declined("maria@ex\xc2\xad" "ample.com");
    declined("maria@\xef\xbd\x85xample.com");
    declined("maria@example.com\xe2\x80\x8b");
    declined("maria@example.com\xc2\xa0");
    declined("maria@\xd0\xb5xample.com");
    declined("maria@exam_ple.com");
    declined("maria@[192.0.2.1]");
    declined("maria@example.com:25");
    declined("maria@example.com/x");
    declined("<maria@example.com>");
    declined("Maria <maria@example.com>");
    declined("maria@example.com,eve@example.com");

    /* labels */

    declined("maria@.example.com");
    declined("maria@example..com");
    declined("maria@example.com.");
    declined("maria@.");
    declined("maria@-example.com");
    declined("maria@example-.com");
    declined("maria@example.-com");
    declined("maria@example.com-");
    declined("maria@-");

    /* a local part that is not UTF-8 */

    declined("ma\xffria@example.com");
    declined("ma\xc3@example.com");
    declined("ma\xe2\x82@example.com");
    declined("ma\xf0\x9f\x98@example.com");
    declined("\xc1\xad" "aria@example.com");
    declined("\xe0\x81\xad" "aria@example.com");
    declined("\xed\xa0\x80@example.com");
    declined("\xf4\x90\x80\x80@example.com");
    declined("\xf8\x88\x80\x80\x80@example.com");
}


static void
test_lengths(void **state)
{
    size_t  n;
    char    s[512];

    /* local part: 64 bytes, no more */

    memset(s, 'l', sizeof(s));
    memcpy(s + 64, "@a.b", 5);
    accepted(s, s);

    memset(s, 'l', sizeof(s));
    memcpy(s + 65, "@a.b", 5);
    declined(s);

    /* label: 63 bytes, no more */

    memset(s, 'd', sizeof(s));
    memcpy(s, "a@", 2);
    memcpy(s + 2 + 63, ".com", 5);
    accepted(s, s);

    memset(s, 'd', sizeof(s));
    memcpy(s, "a@", 2);
    memcpy(s + 2 + 64, ".com", 5);
    declined(s);

    memset(s, 'd', sizeof(s));
    memcpy(s, "a@b.", 4);
    s[4 + 64] = '\0';
    declined(s);

    /* the whole: 254 bytes, no more, spaces around it not counted */

    memset(s, 'd', sizeof(s));
    s[1] = '@';

    for (n = 2 + 50; n < RELAY_EMAIL_MAX; n += 51) {
        s[n] = '.';
    }

    s[RELAY_EMAIL_MAX] = '\0';
    accepted(s, s);

    s[RELAY_EMAIL_MAX] = ' ';
    s[RELAY_EMAIL_MAX + 1] = '\0';

    {
        char  trimmed[RELAY_EMAIL_MAX + 1];

        memcpy(trimmed, s, RELAY_EMAIL_MAX);
        trimmed[RELAY_EMAIL_MAX] = '\0';
        accepted(s, trimmed);
    }

    s[RELAY_EMAIL_MAX] = 'd';
    declined(s);
}


static void
test_equal(void **state)
{
    assert_true(equal("maria@example.com", "maria@example.com"));
    assert_true(equal("MARIA@EXAMPLE.COM", "maria@example.com"));
    assert_true(equal(" Maria@example.com ", "maria@Example.com"));
    assert_true(equal("j\xc3\xb6rg@example.com", "J\xc3\xb6RG@example.com"));

    /* dotless i folds to I elsewhere, dotted I to i, the Kelvin sign to k */

    assert_false(equal("maria@example.com", "mar\xc4\xb1" "a@example.com"));
    assert_false(equal("maria@example.com", "mar\xc4\xb0" "a@example.com"));
    assert_false(equal("MARIA@example.com", "MAR\xc4\xb1" "A@example.com"));
    assert_false(equal("mike@example.com", "mi\xe2\x84\xaa" "e@example.com"));
    assert_false(equal("maria@example.com", "maria@example.\xe2\x84\xaa"));
    assert_false(equal("maria@ki.example", "maria@\xe2\x84\xaai.example"));
    assert_false(equal("maria@ki.example", "maria@k\xc4\xb1.example"));
    assert_false(equal("sam@example.com", "\xc5\xbf" "am@example.com"));

    /* compatibility forms, composed against decomposed, other scripts */

    assert_false(equal("maria@example.com",
                       "\xef\xbd\x8d" "aria@example.com"));
    assert_false(equal("big@example.com", "\xe1\xb4\xae" "ig@example.com"));
    assert_false(equal("j\xc3\xb6rg@example.com",
                       "jo\xcc\x88rg@example.com"));
    assert_false(equal("j\xc3\xb6rg@example.com",
                       "j\xc3\x96rg@example.com"));
    assert_false(equal("maria@example.com", "m\xd0\xb0ria@example.com"));
    assert_false(equal("maria@example.com", "maria\xe2\x80\x8b@example.com"));
    assert_false(equal("maria@example.com", "maria\xc2\xad@example.com"));

    /* no provider's own rules */

    assert_false(equal("m.aria@gmail.com", "maria@gmail.com"));
    assert_false(equal("maria+x@gmail.com", "maria@gmail.com"));
    assert_false(equal("maria@googlemail.com", "maria@gmail.com"));

    /* folding takes letters only: @ and `, [ and { differ by the same bit */

    assert_false(equal("[@example.com", "{@example.com"));
    assert_false(equal("^@example.com", "~@example.com"));

    assert_false(equal("maria@example.com", "maria@example.co"));
    assert_false(equal("maria@example.com", "maria@example.comm"));
    assert_false(equal("maria@example.com", "aria@example.com"));
    assert_false(equal("maria@example.com", ""));

    /* two that are no address are not the same one */

    assert_false(equal("", ""));
    assert_false(equal("maria", "maria"));
}


static void
test_domain(void **state)
{
    relay_str_t  email, domain;

    set(&email, "maria@example.com");
    relay_email_domain(&email, &domain);
    assert_true(relay_str_is(&domain, "example.com"));

    set(&email, "none");
    relay_email_domain(&email, &domain);
    assert_int_equal(domain.len, 0);

    email.len = 0;
    email.data = NULL;
    relay_email_domain(&email, &domain);
    assert_int_equal(domain.len, 0);

    set(&email, "maria@");
    relay_email_domain(&email, &domain);
    assert_int_equal(domain.len, 0);
}


static void
identity(relay_identity_t *id)
{
    memset(id, 0, sizeof(relay_identity_t));

    set(&id->issuer, "https://issuer.example");
    set(&id->subject, "s-1");
    set(&id->email, "Maria@Example.com");
    set(&id->name, "Maria");
    set(&id->client, "An agent");
    id->email_verified = 1;
    id->email_trusted = 1;
}


static void
test_check(void **state)
{
    char               *s;
    const char         *why;
    relay_identity_t    id;

    s = malloc(RELAY_ISSUER_MAX + 2);
    assert_non_null(s);
    memset(s, 'x', RELAY_ISSUER_MAX + 2);

    identity(&id);
    assert_int_equal(relay_identity_check(&id, &why), RELAY_OK);
    assert_true(relay_str_is(&id.email, "Maria@Example.com"));
    assert_true(relay_identity_confirmed(&id));
    assert_true(relay_str_is(&id.name, "Maria"));

    id.email_verified = 0;
    assert_false(relay_identity_confirmed(&id));

    id.email_verified = 1;
    id.email_trusted = 0;
    assert_false(relay_identity_confirmed(&id));

#define refused(expected)                                                     \
    why = NULL;                                                               \
    assert_int_equal(relay_identity_check(&id, &why), RELAY_DECLINED);        \
    assert_string_equal(why, expected)

    identity(&id);
    set(&id.subject, "");
    refused("identity has no subject");

    identity(&id);
    id.subject.data = (unsigned char *) s;
    id.subject.len = RELAY_SUBJECT_MAX;
    assert_int_equal(relay_identity_check(&id, &why), RELAY_OK);
    id.subject.len++;
    refused("subject is too long");

    identity(&id);
    set(&id.subject, "a\nb");
    refused("subject has a control character or is not UTF-8");

    identity(&id);
    id.subject.data = (unsigned char *) "a\0b";
    id.subject.len = 3;
    refused("subject has a control character or is not UTF-8");

    identity(&id);
    set(&id.subject, "a\xc2\x9f");
    refused("subject has a control character or is not UTF-8");

    identity(&id);
    set(&id.subject, "a\xff");
    refused("subject has a control character or is not UTF-8");

    identity(&id);
    set(&id.subject, "CN=M\xc3\xa4ry Doe,O=X");
    assert_int_equal(relay_identity_check(&id, &why), RELAY_OK);

    identity(&id);
    set(&id.issuer, "");
    refused("identity has no issuer");

    identity(&id);
    id.issuer.data = (unsigned char *) s;
    id.issuer.len = RELAY_ISSUER_MAX;
    assert_int_equal(relay_identity_check(&id, &why), RELAY_OK);
    id.issuer.len++;
    refused("issuer is too long");

    identity(&id);
    set(&id.issuer, "https://issuer.example\nhttps://other.example");
    refused("issuer has a control character or is not UTF-8");

    /* an address that is none is emptied, and does not count */

    identity(&id);
    set(&id.email, "maria@example.com\nx");
    assert_int_equal(relay_identity_check(&id, &why), RELAY_OK);
    assert_int_equal(id.email.len, 0);
    assert_int_equal(id.email_verified, 0);
    assert_false(relay_identity_confirmed(&id));

    identity(&id);
    set(&id.email, "");
    assert_int_equal(relay_identity_check(&id, &why), RELAY_OK);
    assert_false(relay_identity_confirmed(&id));

    /* a name is cut between characters; one that is no text is emptied */

    identity(&id);
    id.name.data = (unsigned char *) s;
    id.name.len = RELAY_NAME_MAX + 5;
    assert_int_equal(relay_identity_check(&id, &why), RELAY_OK);
    assert_int_equal(id.name.len, RELAY_NAME_MAX);

    memcpy(s + RELAY_NAME_MAX - 2, "\xe2\x82\xac", 3);
    identity(&id);
    id.name.data = (unsigned char *) s;
    id.name.len = RELAY_NAME_MAX + 5;
    assert_int_equal(relay_identity_check(&id, &why), RELAY_OK);
    assert_int_equal(id.name.len, RELAY_NAME_MAX - 2);

    identity(&id);
    set(&id.name, "Maria\x1b[2J");
    set(&id.client, "\xff");
    assert_int_equal(relay_identity_check(&id, &why), RELAY_OK);
    assert_int_equal(id.name.len, 0);
    assert_int_equal(id.client.len, 0);

    free(s);
}


static void
test_reader_keys(void **state)
{
    relay_buf_t  b;
    relay_str_t  issuer, subject, email, key;

    relay_buf_init(&b, RELAY_KEY_MAX);

    set(&email, " Maria@Example.com ");
    assert_int_equal(relay_reader_key_email(&email, &b), RELAY_OK);
    relay_buf_str(&b, &key);
    assert_true(relay_str_is(&key, "mailto:maria@example.com"));

    relay_buf_reset(&b);
    set(&email, "maria");
    assert_int_equal(relay_reader_key_email(&email, &b), RELAY_DECLINED);
    assert_int_equal(b.len, 0);

    set(&issuer, "https://issuer.example");
    set(&subject, "s-1");
    assert_int_equal(relay_reader_key_subject(&issuer, &subject, &b),
                     RELAY_OK);
    relay_buf_str(&b, &key);
    assert_true(relay_str_is(&key, "https://issuer.example\ns-1"));

    /* what would let one pair read as another */

    relay_buf_reset(&b);
    set(&subject, "x\ns-1");
    assert_int_equal(relay_reader_key_subject(&issuer, &subject, &b),
                     RELAY_DECLINED);
    set(&subject, "s-1");
    set(&issuer, "https://issuer.example\nx");
    assert_int_equal(relay_reader_key_subject(&issuer, &subject, &b),
                     RELAY_DECLINED);
    set(&issuer, "");
    assert_int_equal(relay_reader_key_subject(&issuer, &subject, &b),
                     RELAY_DECLINED);
    set(&issuer, "https://issuer.example");
    set(&subject, "");
    assert_int_equal(relay_reader_key_subject(&issuer, &subject, &b),
                     RELAY_DECLINED);
    assert_int_equal(b.len, 0);

    /* no room */

    relay_buf_free(&b);
    relay_buf_init(&b, 10);
    set(&subject, "s-1");
    assert_int_equal(relay_reader_key_subject(&issuer, &subject, &b),
                     RELAY_ERROR);
    relay_buf_reset(&b);
    set(&email, "maria@example.com");
    assert_int_equal(relay_reader_key_email(&email, &b), RELAY_ERROR);

    relay_buf_free(&b);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_normalize),
        cmocka_unit_test(test_declined),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_domain),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_reader_keys)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
