
/*
 * relay_identity: who a reader is, and whether two addresses are the same.
 */

#include "relay_identity.h"


#define RELAY_EMAIL_LOCAL_MAX  64   /* RFC 5321 4.5.3.1.1 */
#define RELAY_EMAIL_LABEL_MAX  63   /* RFC 1035 2.3.4 */


static relay_uint_t relay_identity_text(const relay_str_t *s);
static size_t relay_identity_utf8(const unsigned char *p,
    const unsigned char *last);
static void relay_identity_display(relay_str_t *s);
static relay_uint_t relay_email_is_domain(const unsigned char *p,
    const unsigned char *last);


/*
 * The length of the well-formed UTF-8 sequence at p that is no control
 * character (C0, DEL, C1), 0 if there is none.
 */

static size_t
relay_identity_utf8(const unsigned char *p, const unsigned char *last)
{
    size_t    i, n;
    uint32_t  cp, least;

    if (*p < 0x80) {
        return *p >= 0x20 && *p != 0x7f;
    }

    if (*p >= 0xc2 && *p <= 0xdf) {
        n = 2;
        cp = *p & 0x1f;
        least = 0xa0;

    } else if (*p >= 0xe0 && *p <= 0xef) {
        n = 3;
        cp = *p & 0x0f;
        least = 0x800;

    } else if (*p >= 0xf0 && *p <= 0xf4) {
        n = 4;
        cp = *p & 0x07;
        least = 0x10000;

    } else {
        return 0;
    }

    if ((size_t) (last - p) < n) {
        return 0;
    }

    for (i = 1; i < n; i++) {

        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }

        cp = cp << 6 | (p[i] & 0x3f);
    }

    if (cp < least || cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff)) {
        return 0;
    }

    return n;
}


/* UTF-8 without control characters. */

static relay_uint_t
relay_identity_text(const relay_str_t *s)
{
    size_t                n;
    const unsigned char  *p, *last;

    if (s->len == 0) {
        return 1;
    }

    p = s->data;
    last = p + s->len;

    while (p < last) {

        n = relay_identity_utf8(p, last);
        if (n == 0) {
            return 0;
        }

        p += n;
    }

    return 1;
}


/*
 * What is shown and never compared: emptied when it is no text, cut at a
 * character's boundary when it is too long.
 */

static void
relay_identity_display(relay_str_t *s)
{
    size_t  len;

    if (s->len > RELAY_NAME_MAX) {
        len = RELAY_NAME_MAX;

        while (len && (s->data[len] & 0xc0) == 0x80) {
            len--;
        }

        s->len = len;
    }

    if (!relay_identity_text(s)) {
        s->len = 0;
        s->data = NULL;
    }
}


relay_int_t
relay_identity_check(relay_identity_t *id, const char **why)
{
    size_t         len;
    unsigned char  email[RELAY_EMAIL_MAX];

    if (id->subject.len == 0) {
        *why = "identity has no subject";
        return RELAY_DECLINED;
    }

    if (id->subject.len > RELAY_SUBJECT_MAX) {
        *why = "subject is too long";
        return RELAY_DECLINED;
    }

    if (id->issuer.len == 0) {
        *why = "identity has no issuer";
        return RELAY_DECLINED;
    }

    if (id->issuer.len > RELAY_ISSUER_MAX) {
        *why = "issuer is too long";
        return RELAY_DECLINED;
    }

    if (!relay_identity_text(&id->subject)) {
        *why = "subject has a control character or is not UTF-8";
        return RELAY_DECLINED;
    }

    if (!relay_identity_text(&id->issuer)) {
        *why = "issuer has a control character or is not UTF-8";
        return RELAY_DECLINED;
    }

    /* name and client are for display only: cut or emptied, never refused */

    relay_identity_display(&id->name);
    relay_identity_display(&id->client);

    if (id->email.len
        && relay_email_normalize(&id->email, email, &len) != RELAY_OK)
    {
        id->email.len = 0;
        id->email.data = NULL;
        id->email_verified = 0;
    }

    return RELAY_OK;
}


relay_int_t
relay_email_normalize(const relay_str_t *in, unsigned char *out, size_t *len)
{
    size_t                n;
    unsigned char         c;
    const unsigned char  *p, *at, *start, *last;

    *len = 0;

    if (in->len == 0) {
        return RELAY_DECLINED;
    }

    start = in->data;
    last = start + in->len;

    while (start < last && *start == ' ') {
        start++;
    }

    while (last > start && last[-1] == ' ') {
        last--;
    }

    /* the shortest is "a@b" */

    if (last - start < 3 || last - start > RELAY_EMAIL_MAX) {
        return RELAY_DECLINED;
    }

    at = NULL;

    for (p = start; p < last; p += n) {

        n = relay_identity_utf8(p, last);

        if (n == 0 || *p == ' ') {
            return RELAY_DECLINED;
        }

        if (*p == '@') {

            if (at != NULL) {
                return RELAY_DECLINED;
            }

            at = p;
        }
    }

    if (at == NULL
        || at == start
        || at - start > RELAY_EMAIL_LOCAL_MAX
        || !relay_email_is_domain(at + 1, last))
    {
        return RELAY_DECLINED;
    }

    for (p = start; p < last; p++) {
        c = *p;

        if (c >= 'A' && c <= 'Z') {
            c |= 0x20;
        }

        *out++ = c;
    }

    *len = last - start;

    return RELAY_OK;
}


/* Labels of letters, digits and inner hyphens, separated by single dots. */

static relay_uint_t
relay_email_is_domain(const unsigned char *p, const unsigned char *last)
{
    const unsigned char  *label;

    label = p;

    for ( ;; p++) {

        if (p == last || *p == '.') {

            if (p == label
                || p - label > RELAY_EMAIL_LABEL_MAX
                || *label == '-'
                || p[-1] == '-')
            {
                return 0;
            }

            if (p == last) {
                return 1;
            }

            label = p + 1;
            continue;
        }

        if (!((*p >= 'a' && *p <= 'z')
              || (*p >= 'A' && *p <= 'Z')
              || (*p >= '0' && *p <= '9')
              || *p == '-'))
        {
            return 0;
        }
    }
}


relay_uint_t
relay_email_equal(const relay_str_t *a, const relay_str_t *b)
{
    size_t         alen, blen;
    unsigned char  abuf[RELAY_EMAIL_MAX], bbuf[RELAY_EMAIL_MAX];

    if (relay_email_normalize(a, abuf, &alen) != RELAY_OK
        || relay_email_normalize(b, bbuf, &blen) != RELAY_OK)
    {
        return 0;
    }

    return alen == blen && memcmp(abuf, bbuf, alen) == 0;
}


void
relay_email_domain(const relay_str_t *email, relay_str_t *domain)
{
    unsigned char  *at;

    at = email->len ? memchr(email->data, '@', email->len) : NULL;

    if (at == NULL) {
        domain->len = 0;
        domain->data = NULL;
        return;
    }

    domain->data = at + 1;
    domain->len = email->data + email->len - domain->data;
}


relay_int_t
relay_reader_key_email(const relay_str_t *email, relay_buf_t *out)
{
    size_t         len;
    unsigned char  buf[RELAY_EMAIL_MAX];

    if (relay_email_normalize(email, buf, &len) != RELAY_OK) {
        return RELAY_DECLINED;
    }

    relay_buf_append_z(out, "mailto:");

    return relay_buf_append(out, buf, len);
}


relay_int_t
relay_reader_key_subject(const relay_str_t *issuer, const relay_str_t *subject,
    relay_buf_t *out)
{
    if (issuer->len == 0
        || issuer->len > RELAY_ISSUER_MAX
        || subject->len == 0
        || subject->len > RELAY_SUBJECT_MAX
        || !relay_identity_text(issuer)
        || !relay_identity_text(subject))
    {
        return RELAY_DECLINED;
    }

    relay_buf_append_str(out, issuer);
    relay_buf_append_c(out, '\n');

    return relay_buf_append_str(out, subject);
}
