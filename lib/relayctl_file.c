
/*
 * relayctl_file: the commands that need no store: token, keygen.
 */

#include "relayctl.h"


#define RELAYCTL_KEYS_MAX   (64 * 1024)     /* bytes of a key set */


static int relayctl_filter_keys(relayctl_t *ctl, const char *file,
    const relay_str_t *text, const char *kty, relay_buf_t *out);
static void relayctl_claim(relay_buf_t *out, const char *name,
    const char *value);


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
