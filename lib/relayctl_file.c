
/*
 * relayctl_file: the commands that need no store: validate, view, token,
 * keygen.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "relayctl.h"


#define RELAYCTL_KEYS_MAX   (64 * 1024)     /* bytes of a key set */


static size_t relayctl_locate(const relayctl_document_t *d,
    const char *pointer);
static size_t relayctl_step(const relayctl_document_t *d, size_t node,
    const relay_str_t *name);
static void relayctl_position(const relay_str_t *text, size_t offset,
    size_t *line, size_t *column);
static int relayctl_filter_keys(relayctl_t *ctl, const char *file,
    const relay_str_t *text, const char *kty, relay_buf_t *out);
static void relayctl_claim(relay_buf_t *out, const char *name,
    const char *value);


int
relayctl_read(relayctl_t *ctl, const char *file, size_t max, relay_str_t *text)
{
    int           err;
    FILE         *f;
    size_t        n;
    relay_buf_t  *b;
    char          chunk[16 * 1024];

    f = strcmp(file, "-") == 0 ? stdin : fopen(file, "rb");

    if (f == NULL) {
        return relayctl_fail(ctl, errno == ENOENT ? RELAYCTL_NOT_FOUND
                                                  : RELAYCTL_STORE,
                             "%s: %s", file, strerror(errno));
    }

    b = relayctl_buf(ctl, max);

    do {
        errno = 0;
        n = fread(chunk, 1, sizeof(chunk), f);

        if (relay_buf_append(b, chunk, n) != RELAY_OK) {
            break;
        }

    } while (n == sizeof(chunk));

    err = ferror(f) ? (errno ? errno : EIO) : 0;

    if (f != stdin) {
        (void) fclose(f);
    }

    if (err) {
        return relayctl_fail(ctl, RELAYCTL_STORE, "%s: %s", file,
                             strerror(err));
    }

    if (b->failed) {
        return relayctl_fail(ctl, RELAYCTL_REFUSED,
                             "%s: larger than %zu bytes", file, max);
    }

    relay_buf_str(b, text);

    if (text->data == NULL) {
        *text = relayctl_str("");
    }

    return RELAYCTL_OK;
}


int
relayctl_load(relayctl_t *ctl, const char *file, relayctl_document_t *d)
{
    int                 rc;
    relay_int_t         ret;
    relay_json_error_t  err;

    memset(d, 0, sizeof(relayctl_document_t));
    d->file = file;
    relay_json_tape_init(&d->tape);

    rc = relayctl_read(ctl, file, RELAY_DOCUMENT_MAX, &d->text);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    ret = relay_json_parse(&d->tape, &d->text, &relay_json_default_limits,
                           &err);

    if (ret == RELAY_DECLINED) {
        rc = relayctl_fail_at(ctl, RELAYCTL_REFUSED, file, err.line,
                              err.column, "%s", err.text);

    } else if (ret != RELAY_OK) {
        rc = relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
    }

    if (rc != RELAYCTL_OK) {
        relayctl_unload(d);
    }

    return rc;
}


int
relayctl_load_package(relayctl_t *ctl, const char *file,
    relayctl_document_t *d)
{
    int           rc;
    char          pointer[256];
    size_t        len;
    relay_int_t   ret;
    relay_buf_t  *mem, *err;

    rc = relayctl_load(ctl, file, d);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    mem = relayctl_buf(ctl, RELAY_DOCUMENT_MAX);
    err = relayctl_buf(ctl, 4096);

    ret = relay_package_head(&d->text, &d->tape, &d->package, mem, err);

    if (ret == RELAY_OK) {
        return RELAYCTL_OK;
    }

    if (ret != RELAY_DECLINED || relay_buf_append_c(err, '\0') != RELAY_OK) {
        relayctl_unload(d);
        return relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
    }

    /* the sentence starts with the pointer */

    len = 0;

    if (err->data[0] == '/') {
        len = strcspn((char *) err->data, " :");

        if (len >= sizeof(pointer)) {
            len = 0;
        }
    }

    memcpy(pointer, err->data, len);
    pointer[len] = '\0';

    rc = relayctl_fail_in(ctl, RELAYCTL_REFUSED, d, pointer, "%s", err->data);

    relayctl_unload(d);

    return rc;
}


void
relayctl_unload(relayctl_document_t *d)
{
    relay_json_tape_free(&d->tape);
}


/* Reports a fault of the member at pointer, with its line. */

int
relayctl_fail_in(relayctl_t *ctl, int rc, const relayctl_document_t *d,
    const char *pointer, const char *fmt, ...)
{
    char     text[1024];
    size_t   line, column;
    va_list  args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);

    relayctl_position(&d->text, relayctl_locate(d, pointer), &line, &column);

    return relayctl_fail_at(ctl, rc, d->file, line, column, "%s", text);
}


/*
 * The offset of the value that a JSON pointer (RFC 6901) leads to; where a
 * member is missing, that of what should have held it.
 */

static size_t
relayctl_locate(const relayctl_document_t *d, const char *pointer)
{
    size_t       node, next;
    relay_str_t  name;
    char         buf[256];

    node = 0;

    while (*pointer == '/') {
        pointer++;
        name.data = (unsigned char *) buf;
        name.len = 0;

        while (*pointer && *pointer != '/' && name.len < sizeof(buf)) {

            if (*pointer == '~' && (pointer[1] == '0' || pointer[1] == '1')) {
                buf[name.len++] = pointer[1] == '0' ? '~' : '/';
                pointer += 2;
                continue;
            }

            buf[name.len++] = *pointer++;
        }

        next = relayctl_step(d, node, &name);
        if (next == 0) {
            break;
        }

        node = next;
    }

    return d->tape.nodes[node].off;
}


static size_t
relayctl_step(const relayctl_document_t *d, size_t node,
    const relay_str_t *name)
{
    size_t                    i, n, wanted;
    const relay_json_node_t  *nodes;

    nodes = d->tape.nodes;

    if (nodes[node].type == RELAY_JSON_OBJECT) {
        return relay_json_get(&d->tape, &d->text, node, (char *) name->data,
                              name->len);
    }

    if (nodes[node].type != RELAY_JSON_ARRAY
        || name->len == 0 || name->len > 9)
    {
        return 0;
    }

    wanted = 0;

    for (i = 0; i < name->len; i++) {

        if (name->data[i] < '0' || name->data[i] > '9') {
            return 0;
        }

        wanted = wanted * 10 + (name->data[i] - '0');
    }

    if (wanted >= nodes[node].count) {
        return 0;
    }

    i = node + 1;

    for (n = 0; n < wanted; n++) {
        i = nodes[i].next;
    }

    return i;
}


static void
relayctl_position(const relay_str_t *text, size_t offset, size_t *line,
    size_t *column)
{
    size_t  i;

    *line = 1;
    *column = 1;

    for (i = 0; i < offset && i < text->len; i++) {

        if (text->data[i] == '\n') {
            (*line)++;
            *column = 1;

        } else {
            (*column)++;
        }
    }
}


int
relayctl_validate(relayctl_t *ctl)
{
    int                   rc;
    relay_buf_t          *out;
    relay_str_t           s;
    relayctl_document_t   d;

    rc = relayctl_load_package(ctl, ctl->operands[0], &d);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    out = relayctl_buf(ctl, 64 * 1024);

    if (ctl->json) {
        s = relayctl_str(d.file);
        relayctl_field(ctl, out, "file", &s);
        relay_buf_append_z(out, ",\"valid\":true");
        relayctl_field(ctl, out, "schema", &d.package.schema);
        relayctl_field(ctl, out, "relay", &d.package.id);
        relayctl_field_int(ctl, out, "version", d.package.version);

    } else {
        s = relayctl_str(d.file);
        relayctl_append_safe(out, &s);
        relay_buf_append_z(out, ": valid: ");
        relayctl_append_safe(out, &d.package.schema);
        relay_buf_append_c(out, ' ');
        relayctl_append_safe(out, &d.package.id);
        relay_buf_append_z(out, " version ");
        relay_buf_append_int(out, d.package.version);
        relay_buf_append_c(out, '\n');
    }

    rc = relayctl_print(ctl, out);

    relayctl_unload(&d);

    return rc;
}


/*
 * Projects a document into out.  RELAYCTL_REFUSED: withheld; why then holds a
 * sentence.
 */

int
relayctl_project(relayctl_t *ctl, relayctl_document_t *d, relay_view_e view,
    const relay_view_params_t *params, relay_buf_t *out, relay_buf_t *why)
{
    size_t                i, node;
    const char           *sentence;
    relay_buf_t          *schema;
    relay_int_t           rc;
    relay_view_out_t      spans;
    const relay_str_t    *policy_text;
    relay_view_policy_t  *policy;

    schema = relayctl_buf(ctl, 256);
    node = 0;

    if (d->tape.nodes[0].type == RELAY_JSON_OBJECT) {
        node = relay_json_get(&d->tape, &d->text, 0, "schema", 6);
    }

    if (node == 0 || d->tape.nodes[node].type != RELAY_JSON_STRING
        || relay_json_str_decode(&d->tape, &d->text, node, schema) != RELAY_OK
        || relay_buf_append_c(schema, '\0') != RELAY_OK
        || strlen((char *) schema->data) != schema->len - 1)
    {
        relay_buf_append_z(why, "it does not say which schema it has");
        return RELAYCTL_REFUSED;
    }

    policy_text = relay_view_policy_text((char *) schema->data);

    if (policy_text == NULL) {
        relay_buf_printf(why, "no view policy for \"%s\"", schema->data);
        return RELAYCTL_REFUSED;
    }

    policy = relay_view_compile(policy_text, why);

    if (policy == NULL) {
        return RELAYCTL_REFUSED;
    }

    sentence = "no memory";
    relay_view_out_init(&spans);

    rc = relay_view_project(policy, &d->text, &d->tape, view, params, &spans,
                            &sentence);

    if (rc == RELAY_OK) {

        for (i = 0; i < spans.n; i++) {
            relay_buf_append_str(out, &spans.spans[i]);
        }

        if (out->failed) {
            sentence = "the view is too large";
            rc = RELAY_DECLINED;
        }
    }

    if (rc != RELAY_OK) {
        relay_buf_append_z(why, sentence);
    }

    relay_view_out_free(&spans);
    relay_view_policy_free(policy);

    return rc == RELAY_OK ? RELAYCTL_OK : RELAYCTL_REFUSED;
}


int
relayctl_view(relayctl_t *ctl)
{
    int                   rc;
    relay_buf_t          *out, *why;
    const char           *now;
    relay_str_t           s;
    relay_view_e          view;
    relay_permission_e    permission;
    relay_view_params_t   params;
    relayctl_document_t   d;

    view = RELAY_VIEW_NONE;
    permission = RELAY_PERMISSION_NONE;
    params.now = ctl->started;

    if (relayctl_get_view(ctl, "view", &view) != RELAYCTL_OK
        || relayctl_get_permission(ctl, "permission", &permission)
           != RELAYCTL_OK)
    {
        return RELAYCTL_USAGE;
    }

    if (view == RELAY_VIEW_NONE) {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "--view is required");
    }

    now = relayctl_option(ctl, "now");

    if (now != NULL) {
        s = relayctl_str(now);

        if (relay_time_parse(&s, &params.now) != RELAY_OK) {
            return relayctl_fail(ctl, RELAYCTL_USAGE, "--now: a time like "
                                 "2027-12-31T23:59:59Z");
        }
    }

    rc = relayctl_load(ctl, ctl->operands[0], &d);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    out = relayctl_buf(ctl, 2 * RELAY_DOCUMENT_MAX);
    why = relayctl_buf(ctl, 4096);

    if (permission == RELAY_PERMISSION_NONE) {

        /* the package's own, which its named reader has */

        permission = RELAY_PERMISSION_READ;

        if (relay_package_head(&d.text, &d.tape, &d.package,
                               relayctl_buf(ctl, RELAY_DOCUMENT_MAX),
                               relayctl_buf(ctl, 4096))
            == RELAY_OK)
        {
            permission = d.package.permission;
        }
    }

    params.permission = permission;

    rc = relayctl_project(ctl, &d, view, &params, out, why);

    if (rc == RELAYCTL_OK) {
        relay_buf_str(out, &s);
        rc = relayctl_write(ctl, &s);

    } else {
        relay_buf_append_c(why, '\0');

        rc = relayctl_fail_at(ctl, rc, d.file, 0, 0, "withheld: %s",
                              why->failed ? "" : (char *) why->data);
    }

    relayctl_unload(&d);

    return rc;
}


/* The first key of a type, as a key set of its own. */

static int
relayctl_filter_keys(relayctl_t *ctl, const char *file,
    const relay_str_t *text, const char *kty, relay_buf_t *out)
{
    int                  rc;
    size_t               i, n, keys, node;
    relay_json_tape_t    tape;
    relay_json_error_t   err;
    relay_json_node_t   *nodes;

    rc = RELAYCTL_REFUSED;
    relay_json_tape_init(&tape);

    if (relay_json_parse(&tape, text, &relay_json_default_limits, &err)
        != RELAY_OK)
    {
        relay_json_tape_free(&tape);
        return relayctl_fail(ctl, rc, "%s: not JSON", file);
    }

    nodes = tape.nodes;
    keys = 0;

    if (nodes[0].type == RELAY_JSON_OBJECT) {
        keys = relay_json_get(&tape, text, 0, "keys", 4);
    }

    if (keys && nodes[keys].type == RELAY_JSON_ARRAY) {

        for (i = keys + 1, n = 0; n < nodes[keys].count; n++) {

            if (nodes[i].type == RELAY_JSON_OBJECT) {
                node = relay_json_get(&tape, text, i, "kty", 3);

                if (node && nodes[node].type == RELAY_JSON_STRING
                    && relay_json_str_is(&tape, text, node, kty, strlen(kty)))
                {
                    relay_buf_append_z(out, "{\"keys\":[");
                    relay_buf_append(out, text->data + nodes[i].off,
                                     nodes[i].len);
                    relay_buf_append_z(out, "]}");

                    rc = RELAYCTL_OK;
                    break;
                }
            }

            i = nodes[i].next;
        }
    }

    relay_json_tape_free(&tape);

    if (rc != RELAYCTL_OK) {
        return relayctl_fail(ctl, rc, "%s: no key of type %.16s", file, kty);
    }

    return rc;
}


static void
relayctl_claim(relay_buf_t *out, const char *name, const char *value)
{
    relay_str_t  s;

    if (value == NULL || value[0] == '\0') {
        return;
    }

    s = relayctl_str(value);

    relay_buf_printf(out, ",\"%s\":", name);
    relay_buf_append_json(out, &s);
}


int
relayctl_token(relayctl_t *ctl)
{
    int                rc;
    int64_t            ttl;
    const char        *file, *kty, *email, *verified, *iss, *sub, *aud, *why;
    relay_buf_t       *claims, *out, *err, *filtered;
    relay_str_t        text, s;
    relay_int_t        ret;
    unsigned char      random[16], jti[32];
    relay_jwt_keys_t  *keys;

    static const char *const  words[] = {
        "true", "false", "\"true\"", "\"false\"", "missing", NULL
    };
    size_t             i;

    file = relayctl_option(ctl, "key");

    if (file == NULL) {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "--key is required");
    }

    ttl = 60 * 60 * 1000;

    if (relayctl_get_duration(ctl, "ttl", &ttl) != RELAYCTL_OK) {
        return RELAYCTL_USAGE;
    }

    kty = relayctl_option(ctl, "alg-kty");

    if (kty != NULL && strcmp(kty, "RSA") != 0 && strcmp(kty, "EC") != 0
        && strcmp(kty, "oct") != 0)
    {
        return relayctl_fail(ctl, RELAYCTL_USAGE,
                             "--alg-kty: RSA, EC or oct");
    }

    email = relayctl_option(ctl, "email");
    verified = relayctl_option(ctl, "email-verified");

    if (verified == NULL) {
        verified = email != NULL && email[0] ? "true" : "missing";
    }

    for (i = 0; words[i] != NULL && strcmp(words[i], verified) != 0; i++) {
        /* void */
    }

    if (words[i] == NULL) {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "--email-verified: true, "
                             "false, \"true\", \"false\" or missing");
    }

    rc = relayctl_read(ctl, file, RELAYCTL_KEYS_MAX, &text);
    if (rc != RELAYCTL_OK) {
        return rc;
    }

    if (kty != NULL) {
        filtered = relayctl_buf(ctl, 2 * RELAYCTL_KEYS_MAX);

        rc = relayctl_filter_keys(ctl, file, &text, kty, filtered);
        if (rc != RELAYCTL_OK) {
            return rc;
        }

        relay_buf_str(filtered, &text);
    }

    iss = relayctl_option(ctl, "iss");
    sub = relayctl_option(ctl, "sub");
    aud = relayctl_option(ctl, "aud");

    relayctl_random(random, sizeof(random));
    s.data = jti;
    s.len = relay_base64url_encode(random, sizeof(random), jti);

    claims = relayctl_buf(ctl, RELAY_JWT_MAX);

    relay_buf_printf(claims, "{\"iat\":%lld,\"exp\":%lld",
                     (long long) (ctl->started / 1000),
                     (long long) ((ctl->started + ttl) / 1000));
    relay_buf_append_z(claims, ",\"jti\":");
    relay_buf_append_json(claims, &s);

    relayctl_claim(claims, "iss", iss ? iss : "https://issuer.example");
    relayctl_claim(claims, "sub", sub ? sub : "dev");
    relayctl_claim(claims, "aud", aud ? aud : "https://relay.example");
    relayctl_claim(claims, "email", email);
    relayctl_claim(claims, "name", relayctl_option(ctl, "name"));

    if (strcmp(verified, "missing") != 0) {
        relay_buf_printf(claims, ",\"email_verified\":%s", verified);
    }

    if (relay_buf_append_c(claims, '}') != RELAY_OK) {
        return relayctl_fail(ctl, RELAYCTL_REFUSED, "the claims are too long");
    }

    err = relayctl_buf(ctl, 4096);
    keys = relay_jwt_keys_parse(&text, err);

    if (keys == NULL) {
        relay_buf_append_c(err, '\0');
        return relayctl_fail(ctl, RELAYCTL_REFUSED, "%s: %s", file,
                             err->failed ? "" : (char *) err->data);
    }

    out = relayctl_buf(ctl, RELAY_JWT_MAX + 256);
    relay_buf_str(claims, &s);
    why = "a library failed";

    if (ctl->json) {
        relay_buf_append_z(out, "{\"token\":\"");
    }

    ret = relay_jwt_sign(keys, &s, out, &why);

    relay_jwt_keys_free(keys);

    if (ret != RELAY_OK) {
        return relayctl_fail(ctl, RELAYCTL_REFUSED, "%s: %s", file, why);
    }

    if (ctl->json) {
        relay_buf_append_z(out, "\"");
        relayctl_field_time(ctl, out, "expires",
                            (ctl->started + ttl) / 1000 * 1000);

    } else {
        relay_buf_append_c(out, '\n');
    }

    relayctl_warn(ctl, "a development token: never let an edge that serves "
                  "anybody trust this key");

    return relayctl_print(ctl, out);
}


int
relayctl_keygen(relayctl_t *ctl)
{
    int                rc;
    const char        *file, *kty, *kid;
    relay_buf_t       *out, *err;
    relay_str_t        text;
    relay_jwt_keys_t  *keys;

    kty = relayctl_option(ctl, "kty");
    kid = relayctl_option(ctl, "kid");
    out = relayctl_buf(ctl, 2 * RELAYCTL_KEYS_MAX);

    if (relayctl_option(ctl, "public") != NULL) {

        if (kty != NULL || kid != NULL || ctl->noperands != 1) {
            return relayctl_fail(ctl, RELAYCTL_USAGE, "--public wants FILE, a "
                                 "key set, and no other option");
        }

        file = ctl->operands[0];

        rc = relayctl_read(ctl, file, RELAYCTL_KEYS_MAX, &text);
        if (rc != RELAYCTL_OK) {
            return rc;
        }

        err = relayctl_buf(ctl, 4096);
        keys = relay_jwt_keys_parse(&text, err);

        if (keys == NULL) {
            relay_buf_append_c(err, '\0');
            return relayctl_fail(ctl, RELAYCTL_REFUSED, "%s: %s", file,
                                 err->failed ? "" : (char *) err->data);
        }

        if (relay_jwt_public(keys, out) != RELAY_OK) {
            relay_jwt_keys_free(keys);
            return relayctl_fail(ctl, RELAYCTL_REFUSED,
                                 "%s: its public half cannot be written",
                                 file);
        }

        relay_jwt_keys_free(keys);

    } else {

        if (ctl->noperands || kty == NULL || kid == NULL) {
            return relayctl_fail(ctl, RELAYCTL_USAGE, "usage: relayctl %s %s",
                                 ctl->command->name, ctl->command->synopsis);
        }

        text = relayctl_str(kid);

        if ((strcmp(kty, "RSA") != 0 && strcmp(kty, "EC") != 0
             && strcmp(kty, "oct") != 0)
            || !relayctl_text_ok(&text, 128))
        {
            return relayctl_fail(ctl, RELAYCTL_USAGE, "--kty: RSA, EC or oct; "
                                 "--kid: 1 to 128 bytes");
        }

        relay_buf_append_z(out, "{\"keys\":[");

        if (relay_jwt_generate(kty, kid, out) != RELAY_OK) {
            return relayctl_fail(ctl, RELAYCTL_STORE,
                                 "the key cannot be made");
        }

        relay_buf_append_z(out, "]}");
    }

    if (relay_buf_append_c(out, '\n') != RELAY_OK) {
        return relayctl_fail(ctl, RELAYCTL_STORE, "no memory");
    }

    relay_buf_str(out, &text);

    return relayctl_write(ctl, &text);
}
