
/*
 * relay_url_parse(): what is accepted is within its limits, its name is an
 * address again, the same one, and says nothing of user and password; nor does
 * the sentence about what is refused.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE             /* memmem() */
#endif

#include "fuzz.h"
#include "relay_url.h"


#define FUZZ_URL_WHY  512


static int
within(const relay_str_t *s, const relay_str_t *in)
{
    return s->len != 0 && memmem(in->data, in->len, s->data, s->len) != NULL;
}


static int
plain(const relay_str_t *s)
{
    size_t  i;

    for (i = 0; i < s->len; i++) {
        if (s->data[i] < ' ' || s->data[i] == 0x7f) {
            return 0;
        }
    }

    return 1;
}


static void
parsed(const relay_url_t *url)
{
    relay_buf_t  mem, why;
    relay_url_t  again;

    fuzz_assert((url->host.len == 0) != (url->path.len == 0));
    fuzz_assert(url->host.len <= RELAY_URL_HOST_MAX);
    fuzz_assert(url->path.len <= RELAY_URL_PATH_MAX);
    fuzz_assert(url->user.len <= RELAY_URL_USER_MAX);
    fuzz_assert(url->password.len <= RELAY_URL_SECRET_MAX);
    fuzz_assert(url->db >= 0 && url->db <= RELAY_URL_DB_MAX);

    fuzz_assert(url->host.data[url->host.len] == '\0');
    fuzz_assert(url->path.data[url->path.len] == '\0');
    fuzz_assert(url->name.data[url->name.len] == '\0');
    fuzz_assert(url->address.data[url->address.len] == '\0');
    fuzz_assert(url->user.data[url->user.len] == '\0');
    fuzz_assert(url->password.data[url->password.len] == '\0');

    fuzz_assert(plain(&url->host) && plain(&url->path) && plain(&url->user));
    fuzz_assert(plain(&url->name) && plain(&url->address));

    if (url->path.len != 0) {
        fuzz_assert(url->path.data[0] == '/');
        fuzz_assert(url->user.len == 0 && url->password.len == 0);

    } else {
        fuzz_assert(url->port >= 1 && url->port <= 65535);
    }

    relay_buf_init(&mem, 3 * RELAY_URL_MAX);
    relay_buf_init(&why, FUZZ_URL_WHY);

    fuzz_assert(relay_url_parse(&url->name, &again, &mem, &why) == RELAY_OK);
    fuzz_assert(relay_str_eq(&again.name, &url->name));
    fuzz_assert(relay_str_eq(&again.address, &url->address));
    fuzz_assert(relay_str_eq(&again.host, &url->host));
    fuzz_assert(relay_str_eq(&again.path, &url->path));
    fuzz_assert(again.port == url->port && again.db == url->db);
    fuzz_assert(again.user.len == 0 && again.password.len == 0);

    relay_buf_free(&mem);
    relay_buf_free(&why);
}


static void
append_encoded(relay_buf_t *b, const relay_str_t *s)
{
    size_t  i;

    for (i = 0; i < s->len; i++) {
        relay_buf_printf(b, "%%%02x", s->data[i]);
    }
}


/* User and password of any bytes come out as they went in. */

static void
secret(const relay_str_t *user, const relay_str_t *password,
    const relay_str_t *host)
{
    relay_buf_t  buf, mem, why;
    relay_str_t  s, sentence;
    relay_url_t  url;

    if (password->len == 0) {
        return;
    }

    relay_buf_init(&buf, 4 * RELAY_URL_MAX);
    relay_buf_init(&mem, 3 * RELAY_URL_MAX);
    relay_buf_init(&why, FUZZ_URL_WHY);

    relay_buf_append_z(&buf, "redis://");
    append_encoded(&buf, user);
    relay_buf_append_c(&buf, ':');
    append_encoded(&buf, password);
    relay_buf_append_c(&buf, '@');
    relay_buf_append_str(&buf, host);

    relay_buf_str(&buf, &s);

    switch (relay_url_parse(&s, &url, &mem, &why)) {

    case RELAY_OK:

        /* another "@" makes the host's part another secret */

        if (host->len != 0 && memchr(host->data, '@', host->len) != NULL) {
            break;
        }

        fuzz_assert(relay_str_eq(&url.user, user));
        fuzz_assert(relay_str_eq(&url.password, password));
        break;

    case RELAY_DECLINED:
        relay_buf_str(&why, &sentence);

        fuzz_assert(sentence.len != 0);
        fuzz_assert(password->len < 24 || !within(password, &sentence));
        break;

    default:
        fuzz_assert(!"there is room");
    }

    relay_buf_free(&buf);
    relay_buf_free(&mem);
    relay_buf_free(&why);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_in_t    in;
    relay_buf_t  mem, why;
    relay_int_t  rc;
    relay_str_t  s, sentence, user, password;
    relay_url_t  url;

    relay_buf_init(&mem, 3 * RELAY_URL_MAX);
    relay_buf_init(&why, FUZZ_URL_WHY);

    fuzz_in_init(&in, data, size);
    s = fuzz_rest(&in);

    rc = relay_url_parse(&s, &url, &mem, &why);

    if (rc == RELAY_OK) {
        fuzz_assert(why.len == 0);
        parsed(&url);

    } else {
        fuzz_assert(rc == RELAY_DECLINED && why.len != 0);
        relay_buf_str(&why, &sentence);
        fuzz_assert(plain(&sentence));
    }

    relay_buf_free(&mem);
    relay_buf_free(&why);
    fuzz_in_free(&in);

    fuzz_in_init(&in, data, size);

    user = fuzz_str(&in);
    password = fuzz_str(&in);
    s = fuzz_rest(&in);

    secret(&user, &password, &s);

    fuzz_in_free(&in);

    return 0;
}
