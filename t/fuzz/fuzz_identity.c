
/*
 * relay_identity: normalising an address twice is normalising it once; whether
 * two are equal is an equivalence that agrees with their normal forms and
 * their reader keys; what passes the check is within its limits.
 */

#include "fuzz.h"
#include "relay_identity.h"


static void
normal(const relay_str_t *in, const unsigned char *out, size_t len)
{
    size_t         i, at, n;
    relay_str_t    s, domain;
    unsigned char  again[RELAY_EMAIL_MAX];

    fuzz_assert(len >= 3 && len <= RELAY_EMAIL_MAX && len <= in->len);

    s.data = (unsigned char *) out;
    s.len = len;

    fuzz_assert(relay_email_normalize(&s, again, &n) == RELAY_OK);
    fuzz_assert(n == len && memcmp(again, out, len) == 0);
    fuzz_assert(relay_email_equal(in, &s));

    at = 0;

    for (i = 0; i < len; i++) {
        fuzz_assert(out[i] > ' ' && out[i] != 0x7f);
        fuzz_assert(out[i] < 'A' || out[i] > 'Z');

        if (out[i] == '@') {
            fuzz_assert(at == 0);
            at = i;
        }

        if (at != 0 && i > at) {
            fuzz_assert((out[i] >= 'a' && out[i] <= 'z')
                        || (out[i] >= '0' && out[i] <= '9')
                        || out[i] == '-' || out[i] == '.');
        }
    }

    fuzz_assert(at >= 1 && at <= 64 && at + 1 < len);

    relay_email_domain(&s, &domain);
    fuzz_assert(domain.data == out + at + 1 && domain.len == len - at - 1);

    /* what is cut and folded is spaces and case, and nothing else */

    for (i = 0; in->data[i] == ' '; i++) { /* void */ }

    for (n = 0; n < len; n++) {
        fuzz_assert(in->data[i + n] == out[n]
                    || (in->data[i + n] | 0x20) == out[n]);
    }

    for (i += n; i < in->len; i++) {
        fuzz_assert(in->data[i] == ' ');
    }
}


static void
addresses(const relay_str_t *a, const relay_str_t *b)
{
    int            equal;
    size_t         an, bn;
    relay_buf_t    akey, bkey;
    relay_int_t    arc, brc;
    unsigned char  anormal[RELAY_EMAIL_MAX], bnormal[RELAY_EMAIL_MAX];

    arc = relay_email_normalize(a, anormal, &an);
    brc = relay_email_normalize(b, bnormal, &bn);

    fuzz_assert(arc == RELAY_OK || (arc == RELAY_DECLINED && an == 0));

    if (arc == RELAY_OK) {
        normal(a, anormal, an);
    }

    equal = (arc == RELAY_OK && brc == RELAY_OK && an == bn
             && memcmp(anormal, bnormal, an) == 0);

    fuzz_assert(relay_email_equal(a, b) == (relay_uint_t) equal);
    fuzz_assert(relay_email_equal(b, a) == (relay_uint_t) equal);
    fuzz_assert(relay_email_equal(a, a) == (arc == RELAY_OK));

    relay_buf_init(&akey, 1024);
    relay_buf_init(&bkey, 1024);

    fuzz_assert(relay_reader_key_email(a, &akey) == arc);
    fuzz_assert(relay_reader_key_email(b, &bkey) == brc);

    if (arc == RELAY_OK && brc == RELAY_OK) {
        fuzz_assert(akey.len == 7 + an
                    && memcmp(akey.data, "mailto:", 7) == 0);
        fuzz_assert((akey.len == bkey.len
                     && memcmp(akey.data, bkey.data, akey.len) == 0)
                    == equal);
    }

    relay_buf_free(&akey);
    relay_buf_free(&bkey);
}


/* A reader key of issuer and subject says which is which. */

static void
subjects(const relay_str_t *iss, const relay_str_t *sub)
{
    size_t          i;
    relay_buf_t     key;
    relay_int_t     rc;
    unsigned char  *p;

    relay_buf_init(&key, 1024);

    rc = relay_reader_key_subject(iss, sub, &key);

    if (rc == RELAY_OK) {
        fuzz_assert(key.len == iss->len + 1 + sub->len);

        p = memchr(key.data, '\n', key.len);

        fuzz_assert(p == key.data + iss->len);
        fuzz_assert(memcmp(key.data, iss->data, iss->len) == 0);
        fuzz_assert(memcmp(p + 1, sub->data, sub->len) == 0);

        for (i = 0; i < key.len; i++) {
            fuzz_assert(key.data[i] >= ' ' || i == iss->len);
            fuzz_assert(key.data[i] != 0x7f);
        }

    } else {
        fuzz_assert(rc == RELAY_DECLINED && key.len == 0);
    }

    relay_buf_free(&key);
}


static void
check(fuzz_in_t *in)
{
    size_t             len;
    const char        *why;
    relay_buf_t        key;
    relay_int_t        rc;
    relay_identity_t   id, before;
    unsigned char      email[RELAY_EMAIL_MAX];

    memset(&id, 0, sizeof(relay_identity_t));

    id.issuer = fuzz_str(in);
    id.subject = fuzz_str(in);
    id.email = fuzz_str(in);
    id.name = fuzz_str(in);
    id.client = fuzz_str(in);
    id.email_verified = fuzz_byte(in) & 1;
    id.email_trusted = fuzz_byte(in) & 1;

    before = id;
    why = NULL;

    rc = relay_identity_check(&id, &why);

    subjects(&before.issuer, &before.subject);
    addresses(&before.email, &before.name);

    if (rc != RELAY_OK) {
        fuzz_assert(rc == RELAY_DECLINED && why != NULL);
        return;
    }

    fuzz_assert(id.issuer.len >= 1 && id.issuer.len <= RELAY_ISSUER_MAX);
    fuzz_assert(id.subject.len >= 1 && id.subject.len <= RELAY_SUBJECT_MAX);
    fuzz_assert(id.name.len <= RELAY_NAME_MAX);
    fuzz_assert(id.client.len <= RELAY_NAME_MAX);
    fuzz_assert(relay_str_eq(&id.issuer, &before.issuer));
    fuzz_assert(relay_str_eq(&id.subject, &before.subject));

    fuzz_assert(id.email.len == 0
                || relay_email_normalize(&id.email, email, &len) == RELAY_OK);

    /* nothing becomes confirmed */

    fuzz_assert(!id.email_verified || before.email_verified);
    fuzz_assert(!relay_identity_confirmed(&id)
                || (before.email_verified && before.email_trusted));

    relay_buf_init(&key, 1024);
    fuzz_assert(relay_reader_key_subject(&id.issuer, &id.subject, &key)
                == RELAY_OK);
    relay_buf_free(&key);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_in_t    in;
    relay_str_t  a, b;

    fuzz_in_init(&in, data, size);

    a = fuzz_str(&in);
    b = fuzz_str(&in);

    addresses(&a, &b);
    addresses(&b, &a);
    check(&in);

    fuzz_in_free(&in);

    fuzz_in_init(&in, data, size);
    a = fuzz_rest(&in);
    addresses(&a, &a);
    fuzz_in_free(&in);

    return 0;
}
