
/*
 * relay_resp: the replies do not depend on how the bytes arrive, what is read
 * can be written and read again, and what is formatted comes back.
 */

#include "fuzz.h"
#include "relay_resp.h"


#define REPLIES  64
#define ARGS     64


typedef struct {
    relay_resp_reply_t  *replies[REPLIES];
    size_t               n;
    relay_int_t          rc;        /* of the last call */
} fuzz_replies_t;


static void
check(const relay_resp_reply_t *reply, unsigned depth)
{
    size_t  i;

    fuzz_assert(depth <= 7);

    switch (reply->type) {

    case RELAY_RESP_NIL:
    case RELAY_RESP_INTEGER:
        fuzz_assert(reply->n == 0 && reply->str.data == NULL);
        break;

    case RELAY_RESP_STATUS:
    case RELAY_RESP_BULK:
    case RELAY_RESP_ERROR:
        fuzz_assert(reply->n == 0 && reply->str.data != NULL);
        fuzz_assert(reply->str.data[reply->str.len] == '\0');
        break;

    case RELAY_RESP_ARRAY:

        for (i = 0; i < reply->n; i++) {
            fuzz_assert(reply->elts[i] != NULL);
            check(reply->elts[i], depth + 1);
        }

        break;

    default:
        fuzz_assert(!"a type of RESP2");
    }

    (void) relay_resp_field(reply, "state", 5);
}


static int
same(const relay_resp_reply_t *a, const relay_resp_reply_t *b)
{
    size_t  i;

    if (a->type != b->type || a->integer != b->integer || a->n != b->n
        || !relay_str_eq(&a->str, &b->str))
    {
        return 0;
    }

    for (i = 0; i < a->n; i++) {
        if (!same(a->elts[i], b->elts[i])) {
            return 0;
        }
    }

    return 1;
}


static void
write_reply(const relay_resp_reply_t *reply, relay_buf_t *out)
{
    size_t  i;

    switch (reply->type) {

    case RELAY_RESP_NIL:
        relay_buf_append_z(out, "$-1\r\n");
        break;

    case RELAY_RESP_INTEGER:
        relay_buf_append_c(out, ':');
        relay_buf_append_int(out, reply->integer);
        relay_buf_append_z(out, "\r\n");
        break;

    case RELAY_RESP_STATUS:
    case RELAY_RESP_ERROR:
        relay_buf_append_c(out, reply->type == RELAY_RESP_ERROR ? '-' : '+');
        relay_buf_append_str(out, &reply->str);
        relay_buf_append_z(out, "\r\n");
        break;

    case RELAY_RESP_BULK:
        relay_buf_append_c(out, '$');
        relay_buf_append_int(out, (int64_t) reply->str.len);
        relay_buf_append_z(out, "\r\n");
        relay_buf_append_str(out, &reply->str);
        relay_buf_append_z(out, "\r\n");
        break;

    default:
        relay_buf_append_c(out, '*');
        relay_buf_append_int(out, (int64_t) reply->n);
        relay_buf_append_z(out, "\r\n");

        for (i = 0; i < reply->n; i++) {
            write_reply(reply->elts[i], out);
        }
    }
}


/*
 * Gives the bytes to a reader in pieces of at most step bytes (varied by
 * seed), each in an allocation of its own.
 */

static void
read_all(const uint8_t *data, size_t size, size_t max, size_t step,
    unsigned seed, fuzz_replies_t *r)
{
    size_t                n;
    uint8_t              *piece;
    const char           *why;
    relay_resp_reply_t   *reply;
    relay_resp_reader_t  *reader;

    r->n = 0;
    r->rc = RELAY_AGAIN;

    reader = relay_resp_reader_create(max);
    fuzz_assert(reader != NULL);

    while (size != 0 && r->rc == RELAY_AGAIN) {

        n = 1 + seed % step;
        seed = seed * 1103515245 + 12345;
        n = (n < size) ? n : size;

        piece = malloc(n);
        fuzz_assert(piece != NULL);
        memcpy(piece, data, n);

        r->rc = relay_resp_feed(reader, piece, n);
        free(piece);

        if (r->rc == RELAY_ERROR) {
            fuzz_assert(relay_resp_next(reader, &reply, &why)
                        == RELAY_DECLINED);
            fuzz_assert(why != NULL && why[0] != '\0');
            r->rc = RELAY_DECLINED;
            break;
        }

        data += n;
        size -= n;

        do {
            why = NULL;
            r->rc = relay_resp_next(reader, &reply, &why);

            if (r->rc == RELAY_OK) {
                check(reply, 0);

                if (r->n < REPLIES) {
                    r->replies[r->n++] = reply;

                } else {
                    relay_resp_reply_free(reply);
                }

            } else {
                fuzz_assert(reply == NULL);
            }

        } while (r->rc == RELAY_OK);

        fuzz_assert((r->rc == RELAY_DECLINED) == (why != NULL));

        /* it stays of no use */

        if (r->rc == RELAY_DECLINED) {
            fuzz_assert(relay_resp_next(reader, &reply, &why)
                        == RELAY_DECLINED);
            fuzz_assert(relay_resp_feed(reader, "+\r\n", 3) == RELAY_ERROR);
        }
    }

    relay_resp_reader_free(reader);
}


static void
free_all(fuzz_replies_t *r)
{
    while (r->n != 0) {
        relay_resp_reply_free(r->replies[--r->n]);
    }
}


static void
stream(fuzz_in_t *in)
{
    size_t          i, max, step;
    unsigned        seed;
    relay_buf_t     wire;
    relay_str_t     s;
    fuzz_replies_t  whole, pieces, again;

    max = (size_t) 1 << (fuzz_byte(in) % 24);
    step = 1 + fuzz_byte(in) % 32;
    seed = fuzz_byte(in);

    s = fuzz_rest(in);

    read_all(s.data, s.len, max, s.len + 1, (unsigned) s.len, &whole);
    read_all(s.data, s.len, max, step, seed, &pieces);

    /*
     * Whole replies that wait are no reason to refuse; half a reply that is
     * too long is refused as soon as that is known.
     */

    fuzz_assert(whole.n == pieces.n);
    fuzz_assert(whole.rc == pieces.rc);

    relay_buf_init(&wire, 64 * 1024 * 1024);

    for (i = 0; i < whole.n; i++) {
        fuzz_assert(same(whole.replies[i], pieces.replies[i]));

        relay_buf_reset(&wire);
        write_reply(whole.replies[i], &wire);
        fuzz_assert(!wire.failed);

        read_all(wire.data, wire.len, 64 * 1024 * 1024, wire.len, seed,
                 &again);

        fuzz_assert(again.n == 1 && again.rc == RELAY_AGAIN);
        fuzz_assert(same(whole.replies[i], again.replies[0]));

        free_all(&again);
    }

    relay_buf_free(&wire);
    free_all(&whole);
    free_all(&pieces);
}


static void
command(fuzz_in_t *in)
{
    size_t               i, argc, max, before;
    unsigned             step;
    relay_buf_t          out;
    relay_int_t          rc;
    relay_str_t          argv[ARGS];
    fuzz_replies_t       r;
    relay_resp_reply_t  *reply;

    max = (size_t) 1 << (fuzz_byte(in) % 20);
    step = 1 + fuzz_byte(in);
    argc = fuzz_byte(in) % ARGS;

    for (i = 0; i < argc; i++) {
        argv[i] = fuzz_str(in);
    }

    relay_buf_init(&out, max);

    before = max < 3 ? 0 : 3;
    relay_buf_append(&out, "abc", before);

    rc = relay_resp_format(&out, argc, argv);

    fuzz_assert(out.len <= max);
    fuzz_assert(memcmp(out.data ? out.data : (unsigned char *) "", "abc",
                       before) == 0);

    if (rc != RELAY_OK) {
        fuzz_assert(rc == RELAY_ERROR && out.len == before && !out.failed);
        relay_buf_free(&out);
        return;
    }

    fuzz_assert(argc != 0);

    read_all(out.data + before, out.len - before, out.len, step, step, &r);

    fuzz_assert(r.n == 1 && r.rc == RELAY_AGAIN);

    reply = r.replies[0];

    fuzz_assert(reply->type == RELAY_RESP_ARRAY && reply->n == argc);

    for (i = 0; i < argc; i++) {
        fuzz_assert(reply->elts[i]->type == RELAY_RESP_BULK);
        fuzz_assert(relay_str_eq(&reply->elts[i]->str, &argv[i]));
    }

    free_all(&r);
    relay_buf_free(&out);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_in_t  in;

    fuzz_in_init(&in, data, size);

    if (fuzz_byte(&in) == 'c') {
        command(&in);

    } else {
        stream(&in);
    }

    fuzz_in_free(&in);

    return 0;
}
