
/*
 * relay_schema_value: numbers, lengths and equality, on the bytes as they are
 * written.
 */

#include "relay_schema_rule.h"


#define RELAY_SCHEMA_EXPONENT  100000000000000000ll   /* 10^17 */


static uint64_t relay_schema_hash(const relay_schema_source_t *s, size_t i,
    size_t depth, size_t *steps);
static uint64_t relay_schema_hash_number(const relay_schema_source_t *s,
    size_t i);
static relay_int_t relay_schema_equal_objects(const relay_schema_source_t *a,
    size_t i, const relay_schema_source_t *b, size_t k, size_t depth,
    size_t *steps);
static void relay_schema_sort(relay_schema_item_t *items, size_t n);


void
relay_schema_number(const relay_schema_source_t *s, size_t i,
    relay_schema_number_t *number)
{
    int                   negative;
    int64_t               exp;
    const unsigned char  *p, *last, *end, *point;

    p = s->doc->data + s->nodes[i].off;
    end = p + s->nodes[i].len;

    number->negative = (*p == '-');
    p += number->negative;

    for (last = p; last < end && (*last | 0x20) != 'e'; last++) {
        /* void */
    }

    exp = 0;

    if (last < end) {
        point = last + 1;
        negative = (*point == '-');
        point += (*point == '-' || *point == '+');

        for (/* void */; point < end; point++) {
            if (exp < RELAY_SCHEMA_EXPONENT) {
                exp = exp * 10 + (*point - '0');
            }
        }

        if (exp > RELAY_SCHEMA_EXPONENT) {
            exp = RELAY_SCHEMA_EXPONENT;
        }

        exp = negative ? -exp : exp;
    }

    /* the digits before the point make the exponent of 0.DIGITS */

    for (point = p; point < last && *point != '.'; point++) { /* void */ }

    exp += point - p;

    while (p < last && (*p == '0' || *p == '.')) {
        exp -= (*p == '0');
        p++;
    }

    /* trailing zeros, of the fraction or not, say nothing now */

    while (last > p && (last[-1] == '0' || last[-1] == '.')) {
        last--;
    }

    number->digits = p;
    number->n = last - p;
    number->exp = exp;

    if (point > p && point < last) {
        number->n--;
    }

    if (number->n == 0) {
        number->exp = 0;
        number->negative = 0;
    }
}


int
relay_schema_number_compare(const relay_schema_number_t *a,
    const relay_schema_number_t *b)
{
    int                   less;
    size_t                i, n;
    const unsigned char  *p, *q;

    if (a->negative != b->negative) {
        return a->negative ? -1 : 1;
    }

    less = a->negative ? 1 : -1;

    if (a->n == 0 || b->n == 0) {
        return (a->n == b->n) ? 0 : (a->n == 0) ? less : -less;
    }

    if (a->exp != b->exp) {
        return (a->exp < b->exp) ? less : -less;
    }

    p = a->digits;
    q = b->digits;
    n = (a->n < b->n) ? a->n : b->n;

    for (i = 0; i < n; i++) {
        p += (*p == '.');
        q += (*q == '.');

        if (*p != *q) {
            return (*p < *q) ? less : -less;
        }

        p++;
        q++;
    }

    return (a->n == b->n) ? 0 : (a->n < b->n) ? less : -less;
}


relay_uint_t
relay_schema_number_integer(const relay_schema_number_t *number)
{
    return number->n == 0
           || (number->exp > 0 && (uint64_t) number->exp >= number->n);
}


/*
 * Both numbers without their trailing zeros are A * 10^x and B * 10^y.  As A
 * does not end in a zero, it is no multiple where x < y; otherwise B has to
 * divide A * 10^(x - y).  B is less than 10^18.
 */

relay_uint_t
relay_schema_number_multiple(const relay_schema_number_t *number,
    const relay_schema_number_t *of)
{
    size_t                i;
    int64_t               shift;
    uint64_t              b, rest, power;
    unsigned __int128     wide;
    const unsigned char  *p;

    if (number->n == 0) {
        return 1;
    }

    shift = (number->exp - (int64_t) number->n) - (of->exp - (int64_t) of->n);

    if (shift < 0) {
        return 0;
    }

    b = 0;
    p = of->digits;

    for (i = 0; i < of->n; i++) {
        p += (*p == '.');
        b = b * 10 + (*p++ - '0');
    }

    rest = 0;
    p = number->digits;

    for (i = 0; i < number->n; i++) {
        p += (*p == '.');
        wide = (unsigned __int128) rest * 10 + (*p++ - '0');
        rest = (uint64_t) (wide % b);
    }

    for (power = 10 % b; shift > 0; shift >>= 1) {

        if (shift & 1) {
            wide = (unsigned __int128) rest * power;
            rest = (uint64_t) (wide % b);
        }

        wide = (unsigned __int128) power * power;
        power = (uint64_t) (wide % b);
    }

    return rest == 0;
}


size_t
relay_schema_length(const relay_schema_source_t *s, size_t i)
{
    size_t                n;
    const unsigned char  *p, *last;

    p = s->doc->data + s->nodes[i].off + 1;
    last = p + s->nodes[i].len - 2;
    n = 0;

    if (!s->nodes[i].escaped) {

        for (/* void */; p < last; p++) {
            n += ((*p & 0xc0) != 0x80);
        }

        return n;
    }

    while (p < last) {

        if (*p != '\\') {
            n += ((*p++ & 0xc0) != 0x80);
            continue;
        }

        n++;

        if (p[1] != 'u') {
            p += 2;
            continue;
        }

        /* the first half of a pair: D800 to DBFF */

        p += ((p[2] | 0x20) == 'd' && strchr("89abAB", p[3]) != NULL) ? 12 : 6;
    }

    return n;
}


/*
 * The hash of a value, the same for equal ones.  Where the steps are used up
 * or the depth is exceeded, whatever it is does not matter any more.
 */

static uint64_t
relay_schema_hash(const relay_schema_source_t *s, size_t i, size_t depth,
    size_t *steps)
{
    size_t                    n, k;
    uint64_t                  h;
    const relay_json_node_t  *nodes;

    nodes = s->nodes;

    if (*steps == 0 || depth > RELAY_SCHEMA_DEPTH) {
        *steps = 0;
        return 0;
    }

    (*steps)--;

    switch (nodes[i].type) {

    case RELAY_JSON_NUMBER:
        return relay_schema_hash_number(s, i);

    case RELAY_JSON_STRING:
        return relay_json_str_hash(s->doc, &nodes[i]) + (1ull << 32);

    case RELAY_JSON_ARRAY:
        h = 2;
        k = i + 1;

        for (n = nodes[i].count; n > 0; n--) {
            h = (h ^ relay_schema_hash(s, k, depth + 1, steps))
                * 0x9fb21c651e98df25ull;
            h ^= h >> 29;
            k = nodes[k].next;
        }

        return h;

    case RELAY_JSON_OBJECT:

        /* a sum: the order of the members does not count */

        h = 3;
        k = i + 1;

        for (n = nodes[i].count; n > 0; n--) {
            h += (nodes[k].next ^ relay_schema_hash(s, k + 1, depth + 1, steps))
                 * 0xc2b2ae3d27d4eb4full;
            k = nodes[k + 1].next;
        }

        return h ^ (h >> 32);

    default:
        return nodes[i].type + (2ull << 32);
    }
}


static uint64_t
relay_schema_hash_number(const relay_schema_source_t *s, size_t i)
{
    size_t                  k;
    uint64_t                h;
    const unsigned char    *p;
    relay_schema_number_t   number;

    relay_schema_number(s, i, &number);

    h = (uint64_t) number.exp * 2 + number.negative;
    p = number.digits;

    for (k = 0; k < number.n; k++) {
        p += (*p == '.');
        h = (h ^ *p++) * 0x9fb21c651e98df25ull;
        h ^= h >> 29;
    }

    return h;
}


relay_int_t
relay_schema_equal(const relay_schema_source_t *a, size_t i,
    const relay_schema_source_t *b, size_t k, size_t depth, size_t *steps)
{
    size_t                    n;
    relay_int_t               rc;
    relay_schema_number_t     x, y;
    const relay_json_node_t  *p, *q;

    if (*steps == 0 || depth > RELAY_SCHEMA_DEPTH) {
        return RELAY_ERROR;
    }

    (*steps)--;

    p = &a->nodes[i];
    q = &b->nodes[k];

    if (p->type != q->type) {

        /* a name is compared as a string */

        if (!((RELAY_SCHEMA_STRING >> p->type) & 1)
            || !((RELAY_SCHEMA_STRING >> q->type) & 1))
        {
            return RELAY_DECLINED;
        }
    }

    switch (p->type) {

    case RELAY_JSON_NUMBER:
        relay_schema_number(a, i, &x);
        relay_schema_number(b, k, &y);

        return relay_schema_number_compare(&x, &y) == 0 ? RELAY_OK
                                                        : RELAY_DECLINED;

    case RELAY_JSON_STRING:
    case RELAY_JSON_KEY:
        return relay_json_str_same(a->doc, p, b->doc, q) ? RELAY_OK
                                                         : RELAY_DECLINED;

    case RELAY_JSON_ARRAY:

        if (p->count != q->count) {
            return RELAY_DECLINED;
        }

        i++;
        k++;

        for (n = p->count; n > 0; n--) {
            rc = relay_schema_equal(a, i, b, k, depth + 1, steps);
            if (rc != RELAY_OK) {
                return rc;
            }

            i = a->nodes[i].next;
            k = b->nodes[k].next;
        }

        return RELAY_OK;

    case RELAY_JSON_OBJECT:
        return relay_schema_equal_objects(a, i, b, k, depth, steps);

    default:
        return RELAY_OK;
    }
}


static relay_int_t
relay_schema_equal_objects(const relay_schema_source_t *a, size_t i,
    const relay_schema_source_t *b, size_t k, size_t depth, size_t *steps)
{
    size_t                    n, m, count, first;
    relay_int_t               rc;
    const relay_json_node_t  *p, *q;

    count = a->nodes[i].count;

    if (count != b->nodes[k].count) {
        return RELAY_DECLINED;
    }

    first = k + 1;
    i++;
    k = first;

    for (n = 0; n < count; n++) {

        p = &a->nodes[i];

        /* mostly the next one; else any of them, and each look is a step */

        for (m = 0; m < count; m++) {

            q = &b->nodes[k];

            if (p->next == q->next
                && relay_json_str_same(a->doc, p, b->doc, q))
            {
                break;
            }

            if (*steps == 0) {
                return RELAY_ERROR;
            }

            (*steps)--;

            k = b->nodes[k + 1].next;

            if (k >= b->nodes[first - 1].next) {
                k = first;
            }
        }

        if (m == count) {
            return RELAY_DECLINED;
        }

        rc = relay_schema_equal(a, i + 1, b, k + 1, depth + 1, steps);
        if (rc != RELAY_OK) {
            return rc;
        }

        i = a->nodes[i + 1].next;
        k = b->nodes[k + 1].next;

        if (k >= b->nodes[first - 1].next) {
            k = first;
        }
    }

    return RELAY_OK;
}


relay_int_t
relay_schema_unique(const relay_schema_source_t *s, size_t i,
    relay_schema_item_t *items, size_t *steps, size_t *same)
{
    size_t       n, k, m, count;
    relay_int_t  rc;

    count = s->nodes[i].count;
    k = i + 1;

    for (n = 0; n < count; n++) {
        items[n].hash = relay_schema_hash(s, k, 0, steps);
        items[n].node = k;
        k = s->nodes[k].next;
    }

    if (*steps == 0) {
        return RELAY_ERROR;
    }

    /* whatever they hash to: n log n, and steps where hashes are the same */

    relay_schema_sort(items, count);

    for (n = 0; n < count; n++) {

        for (m = n + 1; m < count && items[m].hash == items[n].hash; m++) {

            rc = relay_schema_equal(s, items[n].node, s, items[m].node, 0,
                                    steps);
            if (rc == RELAY_ERROR) {
                return RELAY_ERROR;
            }

            if (rc == RELAY_OK) {
                *same = (items[n].node > items[m].node) ? items[n].node
                                                        : items[m].node;
                return RELAY_DECLINED;
            }
        }
    }

    return RELAY_OK;
}


/* A heap sort: it needs neither memory nor luck. */

static void
relay_schema_sort(relay_schema_item_t *items, size_t n)
{
    size_t               start, top, child;
    relay_schema_item_t  item;

    start = n / 2;

    for ( ;; ) {

        if (start > 0) {
            item = items[--start];

        } else {

            if (n < 2) {
                return;
            }

            item = items[--n];
            items[n] = items[0];
        }

        top = start;

        for ( ;; ) {
            child = 2 * top + 1;

            if (child >= n) {
                break;
            }

            if (child + 1 < n && items[child + 1].hash > items[child].hash) {
                child++;
            }

            if (items[child].hash <= item.hash) {
                break;
            }

            items[top] = items[child];
            top = child;
        }

        items[top] = item;
    }
}
