
/*
 * relay_receipt: the canonical encoding of a receipt.
 */

#include "relay_receipt.h"

#include "relay_link.h"
#include "relay_quality.h"
#include "relay_view.h"


#define RELAY_RECEIPT_PROCESS_MAX  128
#define RELAY_RECEIPT_METHOD_MAX   128
#define RELAY_RECEIPT_POINTER_MAX  256
#define RELAY_RECEIPT_WORD_MAX     64   /* a channel, an address of a client */


static void relay_receipt_name(relay_buf_t *out, const char *name);
static void relay_receipt_exact(relay_buf_t *out, const char *name,
    const relay_str_t *s);
static void relay_receipt_text(relay_buf_t *out, const char *name,
    const relay_str_t *s, size_t max);
static void relay_receipt_integer(relay_buf_t *out, const char *name,
    int64_t n);
static void relay_receipt_relay(relay_buf_t *out, const relay_str_t *id);
static void relay_receipt_reader(relay_buf_t *out,
    const relay_identity_t *reader);


/* in the order of relay_receipt_kind_e */

static const relay_str_t  relay_receipt_kinds[] = {
    relay_string("read"),
    relay_string("preview"),
    relay_string("accept"),
    relay_string("denial"),
    relay_string("undelivered"),
    relay_string("act")
};


static const relay_str_t  relay_receipt_unknown = relay_string("unknown");


relay_int_t
relay_receipt_encode(const relay_receipt_t *r, relay_buf_t *out)
{
    size_t  start;

    if (out->failed) {
        return RELAY_ERROR;
    }

    start = out->len;

    relay_buf_append_z(out, "{\"kind\":");
    relay_buf_append_json(out, relay_receipt_kind_name(r->kind));

    relay_receipt_exact(out, "id", &r->id);
    relay_receipt_integer(out, "time", r->time);
    relay_receipt_relay(out, &r->relay);

    if (r->version > 0) {
        relay_receipt_integer(out, "version", r->version);
    }

    relay_receipt_exact(out, "link", &r->link);
    relay_receipt_exact(out, "grant", &r->grant);

    if (r->reader != NULL) {
        relay_receipt_reader(out, r->reader);
        relay_receipt_text(out, "client", &r->reader->client, RELAY_NAME_MAX);
    }

    if (r->view != RELAY_VIEW_NONE) {
        relay_receipt_exact(out, "view", relay_view_name(r->view));
    }

    if (r->permission != RELAY_PERMISSION_NONE) {
        relay_receipt_exact(out, "permission",
                            relay_permission_name(r->permission));
    }

    relay_receipt_text(out, "channel", &r->channel, RELAY_RECEIPT_WORD_MAX);
    relay_receipt_text(out, "method", &r->method, RELAY_RECEIPT_METHOD_MAX);

    if (r->reason != RELAY_REASON_UNDECIDED) {
        relay_receipt_exact(out, "reason", relay_reason_name(r->reason));
    }

    if (r->status) {
        relay_receipt_integer(out, "status", (int64_t) r->status);
    }

    if (r->bytes >= 0) {
        relay_receipt_integer(out, "bytes", r->bytes);
    }

    relay_receipt_exact(out, "digest", &r->digest);

    if (r->withheld >= 0) {
        relay_receipt_integer(out, "withheld", r->withheld);
    }

    if (r->safety) {
        relay_receipt_name(out, "safety");
        relay_buf_append_c(out, '"');
        relay_quality_kinds(r->safety, out);
        relay_buf_append_c(out, '"');
    }

    relay_receipt_text(out, "rule", &r->rule, RELAY_RECEIPT_WORD_MAX);
    relay_receipt_text(out, "pointer", &r->pointer, RELAY_RECEIPT_POINTER_MAX);

    if (r->offset >= 0) {
        relay_receipt_integer(out, "offset", r->offset);
    }

    if (r->count > 0) {
        relay_receipt_integer(out, "count", r->count);
    }

    relay_receipt_exact(out, "of", &r->of);
    relay_receipt_text(out, "ip", &r->ip, RELAY_RECEIPT_WORD_MAX);

    if (r->rebound) {
        relay_buf_append_z(out, ",\"rebound\":true");
    }

    relay_buf_append_c(out, '}');

    if (out->failed) {
        return RELAY_ERROR;
    }

    if (out->len - start > RELAY_RECEIPT_MAX) {
        out->len = start;
        return RELAY_ERROR;
    }

    return RELAY_OK;
}


/* Every member but the first. */

static void
relay_receipt_name(relay_buf_t *out, const char *name)
{
    relay_buf_append_z(out, ",\"");
    relay_buf_append_z(out, name);
    relay_buf_append_z(out, "\":");
}


/* What others compare: whole or, when it is too long, no receipt at all. */

static void
relay_receipt_exact(relay_buf_t *out, const char *name, const relay_str_t *s)
{
    if (s == NULL || s->len == 0) {
        return;
    }

    relay_receipt_name(out, name);
    relay_buf_append_json(out, s);
}


/*
 * What is shown and never compared: cut at max bytes, never inside of a
 * character.  The encoded form has three times as many bytes at most, counted
 * as if every byte beyond ASCII became U+FFFD.
 */

static void
relay_receipt_text(relay_buf_t *out, const char *name, const relay_str_t *s,
    size_t max)
{
    size_t         i, cost;
    relay_str_t    cut;
    unsigned char  c;

    cut = *s;

    if (cut.len > max) {
        cut.len = max;

        while (cut.len && (cut.data[cut.len] & 0xc0) == 0x80) {
            cut.len--;
        }
    }

    cost = 0;

    for (i = 0; i < cut.len; i++) {
        c = cut.data[i];

        if (c < 0x20 || c == 0x7f) {
            cost += 6;

        } else if (c >= 0x80) {
            cost += 3;

        } else if (c == '"' || c == '\\') {
            cost += 2;

        } else {
            cost++;
        }

        if (cost > 3 * max) {

            while (i && (cut.data[i] & 0xc0) == 0x80) {
                i--;
            }

            break;
        }
    }

    cut.len = i;

    if (cut.len == 0) {
        return;
    }

    relay_receipt_name(out, name);
    relay_buf_append_json(out, &cut);
}


static void
relay_receipt_integer(relay_buf_t *out, const char *name, int64_t n)
{
    relay_receipt_name(out, name);
    relay_buf_append_int(out, n);
}


/* As it stands in the keys: an id that may not is used as H(id). */

static void
relay_receipt_relay(relay_buf_t *out, const relay_str_t *id)
{
    relay_str_t    s;
    unsigned char  digest[RELAY_DIGEST_LEN];

    if (id->len == 0) {
        return;
    }

    if (relay_id_check(id) == RELAY_OK) {
        relay_receipt_exact(out, "relay", id);
        return;
    }

    relay_digest(id, digest);

    s.len = RELAY_DIGEST_LEN;
    s.data = digest;

    relay_receipt_exact(out, "relay", &s);
}


static void
relay_receipt_reader(relay_buf_t *out, const relay_identity_t *reader)
{
    relay_buf_append_z(out, ",\"reader\":{\"issuer\":");
    relay_buf_append_json(out, &reader->issuer);

    relay_receipt_exact(out, "subject", &reader->subject);
    relay_receipt_exact(out, "email", &reader->email);

    if (reader->email.len) {

        /* an address that nobody vouches for proves nothing */

        relay_receipt_name(out, "confirmed");
        relay_buf_append_z(out, relay_identity_confirmed(reader) ? "true"
                                                                 : "false");
    }

    relay_receipt_text(out, "name", &reader->name, RELAY_NAME_MAX);

    relay_buf_append_c(out, '}');
}


relay_int_t
relay_receipt_id(const relay_str_t *process, uint64_t seq, relay_buf_t *out)
{
    size_t          n;
    unsigned char  *p, digits[20];

    if (process->len > RELAY_RECEIPT_PROCESS_MAX
        || relay_id_check(process) != RELAY_OK)
    {
        return RELAY_DECLINED;
    }

    p = digits + sizeof(digits);

    do {
        *--p = (unsigned char) ('0' + seq % 10);
        seq /= 10;
    } while (seq);

    n = digits + sizeof(digits) - p;

    relay_buf_append_str(out, process);
    relay_buf_append_c(out, '-');

    return relay_buf_append(out, p, n);
}


const relay_str_t *
relay_receipt_kind_name(relay_receipt_kind_e kind)
{
    if ((size_t) kind
        >= sizeof(relay_receipt_kinds) / sizeof(relay_receipt_kinds[0]))
    {
        return &relay_receipt_unknown;
    }

    return &relay_receipt_kinds[kind];
}
