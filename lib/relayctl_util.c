
/*
 * relayctl_util: memory, messages, results and the values of options.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <sys/random.h>

#include "relayctl.h"


#define RELAYCTL_DAY    INT64_C(86400000)
#define RELAYCTL_YEARS  (INT64_C(36525) * RELAYCTL_DAY)     /* a hundred */


struct relayctl_memory_s {
    relayctl_memory_t         *next;
    relay_buf_t                buf;
    relay_resp_reply_t        *reply;
};


typedef struct {
    const char                *unit;
    int64_t                    ms;
} relayctl_unit_t;


static void relayctl_no_memory(void);
static void relayctl_complain(relayctl_t *ctl, const char *file, size_t line,
    size_t column, const char *severity, const char *fmt, va_list args);
static int relayctl_parse_duration(const char *s, int64_t *ms);


static void
relayctl_no_memory(void)
{
    fprintf(stderr, "relayctl: no memory\n");
    exit(RELAYCTL_STORE);
}


relay_buf_t *
relayctl_buf(relayctl_t *ctl, size_t max)
{
    relayctl_memory_t  *m;

    m = malloc(sizeof(relayctl_memory_t));
    if (m == NULL) {
        relayctl_no_memory();
        return NULL;
    }

    relay_buf_init(&m->buf, max);
    m->reply = NULL;

    m->next = ctl->memory;
    ctl->memory = m;

    return &m->buf;
}


relayctl_memory_t *
relayctl_mark(relayctl_t *ctl)
{
    return ctl->memory;
}


void
relayctl_release(relayctl_t *ctl, relayctl_memory_t *mark)
{
    relayctl_memory_t  *m;

    while (ctl->memory != mark) {
        m = ctl->memory;
        ctl->memory = m->next;

        relay_buf_free(&m->buf);
        relay_resp_reply_free(m->reply);
        free(m);
    }
}


void
relayctl_keep(relayctl_t *ctl, relay_resp_reply_t *reply)
{
    (void) relayctl_buf(ctl, 0);

    ctl->memory->reply = reply;
}


relay_str_t
relayctl_str(const char *s)
{
    relay_str_t  str;

    str.data = (unsigned char *) s;
    str.len = strlen(s);

    return str;
}


relay_str_t
relayctl_copy(relayctl_t *ctl, const relay_str_t *s)
{
    relay_str_t   copy;
    relay_buf_t  *b;

    b = relayctl_buf(ctl, s->len + 1);

    relay_buf_append_str(b, s);

    if (relay_buf_append_c(b, '\0') != RELAY_OK) {
        relayctl_no_memory();
    }

    copy.data = b->data;
    copy.len = s->len;

    return copy;
}


relay_str_t
relayctl_int_str(relayctl_t *ctl, int64_t n)
{
    relay_str_t   s;
    relay_buf_t  *b;

    b = relayctl_buf(ctl, 32);

    if (relay_buf_append_int(b, n) != RELAY_OK) {
        relayctl_no_memory();
    }

    relay_buf_str(b, &s);

    return s;
}


static void
relayctl_complain(relayctl_t *ctl, const char *file, size_t line,
    size_t column, const char *severity, const char *fmt, va_list args)
{
    char         text[2048];
    relay_buf_t  b;
    relay_str_t  s;

    vsnprintf(text, sizeof(text), fmt, args);

    relay_buf_init(&b, 64 * 1024);

    if (ctl->json) {
        relay_buf_printf(&b, "{\"%s\":", severity);
        s = relayctl_str(text);
        relay_buf_append_json(&b, &s);

        if (file != NULL) {
            relay_buf_append_z(&b, ",\"file\":");
            s = relayctl_str(file);
            relay_buf_append_json(&b, &s);
        }

        if (line) {
            relay_buf_printf(&b, ",\"line\":%zu,\"column\":%zu", line, column);
        }

        relay_buf_append_z(&b, "}\n");

    } else {
        relay_buf_append_z(&b, "relayctl: ");

        if (file != NULL) {
            s = relayctl_str(file);
            relayctl_append_safe(&b, &s);
            relay_buf_append_z(&b, ":");
        }

        if (line) {
            relay_buf_printf(&b, "%zu:%zu:", line, column);
        }

        if (file != NULL) {
            relay_buf_append_z(&b, " ");
        }

        if (strcmp(severity, "error") != 0) {
            relay_buf_printf(&b, "%s: ", severity);
        }

        s = relayctl_str(text);
        relayctl_append_safe(&b, &s);
        relay_buf_append_z(&b, "\n");
    }

    if (!b.failed) {
        (void) fflush(stdout);
        (void) fwrite(b.data, 1, b.len, stderr);
    }

    relay_buf_free(&b);
}


int
relayctl_fail(relayctl_t *ctl, int rc, const char *fmt, ...)
{
    va_list  args;

    va_start(args, fmt);
    relayctl_complain(ctl, NULL, 0, 0, "error", fmt, args);
    va_end(args);

    return rc;
}


int
relayctl_fail_at(relayctl_t *ctl, int rc, const char *file, size_t line,
    size_t column, const char *fmt, ...)
{
    va_list  args;

    va_start(args, fmt);
    relayctl_complain(ctl, file, line, column, "error", fmt, args);
    va_end(args);

    return rc;
}


void
relayctl_warn(relayctl_t *ctl, const char *fmt, ...)
{
    va_list  args;

    va_start(args, fmt);
    relayctl_complain(ctl, NULL, 0, 0, "warning", fmt, args);
    va_end(args);
}


/*
 * What a terminal obeys and nobody sees, in place or in order: controls,
 * bidirectional ones too, tags, characters of no width; and what is no UTF-8,
 * where a byte may be a control to it.
 */

void
relayctl_append_safe(relay_buf_t *out, const relay_str_t *s)
{
    size_t                n;
    uint32_t              cp;
    const unsigned char  *p, *last;

    for (p = s->data, last = p + s->len; p < last; p += n) {

        n = relay_text_cp(p, last, &cp);

        switch (relay_text_hidden_class(cp)) {

        case RELAY_TEXT_VISIBLE:
        case RELAY_TEXT_BIDI_MARK:
        case RELAY_TEXT_JOINER:
        case RELAY_TEXT_VARIATION:
        case RELAY_TEXT_PRIVATE:

            if (cp < 0x20 || cp == 0x2028 || cp == 0x2029
                || (cp == 0xfffd && n == 1))
            {
                relay_buf_append_c(out, '?');

            } else {
                relay_buf_append(out, p, n);
            }

            break;

        default:
            relay_buf_append_c(out, '?');
        }
    }
}


void
relayctl_field(relayctl_t *ctl, relay_buf_t *out, const char *name,
    const relay_str_t *value)
{
    if (value->len == 0) {
        return;
    }

    if (ctl->json) {
        relay_buf_append_z(out, out->len ? "," : "{");
        relay_buf_printf(out, "\"%s\":", name);
        relay_buf_append_json(out, value);
        return;
    }

    relay_buf_printf(out, "%-17s ", name);
    relayctl_append_safe(out, value);
    relay_buf_append_c(out, '\n');
}


void
relayctl_field_int(relayctl_t *ctl, relay_buf_t *out, const char *name,
    int64_t value)
{
    if (ctl->json) {
        relay_buf_append_z(out, out->len ? "," : "{");
        relay_buf_printf(out, "\"%s\":", name);
        relay_buf_append_int(out, value);
        return;
    }

    relay_buf_printf(out, "%-17s ", name);
    relay_buf_append_int(out, value);
    relay_buf_append_c(out, '\n');
}


void
relayctl_field_time(relayctl_t *ctl, relay_buf_t *out, const char *name,
    int64_t ms)
{
    relay_str_t    s;
    unsigned char  text[24];

    if (ms == 0) {
        return;
    }

    relay_time_format(ms, text);

    s.data = text;
    s.len = sizeof(text);

    relayctl_field(ctl, out, name, &s);
}


int
relayctl_print(relayctl_t *ctl, relay_buf_t *out)
{
    relay_str_t  s;

    if (ctl->json) {
        relay_buf_append_z(out, out->len ? "}\n" : "{}\n");
    }

    if (out->failed) {
        relayctl_no_memory();
    }

    relay_buf_str(out, &s);

    return relayctl_write(ctl, &s);
}


int
relayctl_write(relayctl_t *ctl, const relay_str_t *s)
{
    if ((s->len && fwrite(s->data, 1, s->len, stdout) != s->len)
        || fflush(stdout) != 0)
    {
        return relayctl_fail(ctl, RELAYCTL_STORE, "standard output: %s",
                             strerror(errno));
    }

    return RELAYCTL_OK;
}


int64_t
relayctl_now(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_REALTIME, &ts);

    return (int64_t) ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}


void
relayctl_random(unsigned char *p, size_t len)
{
    ssize_t  n;

    while (len) {
        n = getrandom(p, len, 0);

        if (n < 0) {

            if (errno == EINTR) {
                continue;
            }

            fprintf(stderr, "relayctl: getrandom: %s\n", strerror(errno));
            exit(RELAYCTL_STORE);
        }

        p += n;
        len -= (size_t) n;
    }
}


relay_uint_t
relayctl_text_ok(const relay_str_t *s, size_t max)
{
    size_t  i;

    if (s->len == 0 || s->len > max) {
        return 0;
    }

    for (i = 0; i < s->len; i++) {
        if (s->data[i] < 0x20 || s->data[i] == 0x7f) {
            return 0;
        }
    }

    return 1;
}


int
relayctl_get_text(relayctl_t *ctl, const char *name, relay_str_t *value)
{
    const char  *arg;

    arg = relayctl_option(ctl, name);

    if (arg == NULL) {
        return RELAYCTL_OK;
    }

    *value = relayctl_str(arg);

    if (!relayctl_text_ok(value, RELAYCTL_TEXT_MAX)) {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "--%s: 1 to %d bytes, no "
                             "control characters", name, RELAYCTL_TEXT_MAX);
    }

    return RELAYCTL_OK;
}


int
relayctl_get_number(relayctl_t *ctl, const char *name, int64_t min,
    int64_t max, int64_t *value)
{
    char        *end;
    long long    n;
    const char  *arg;

    arg = relayctl_option(ctl, name);

    if (arg == NULL) {
        return RELAYCTL_OK;
    }

    errno = 0;
    n = strtoll(arg, &end, 10);

    if (errno || end == arg || *end != '\0' || arg[0] < '0' || arg[0] > '9'
        || n < min || n > max)
    {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "--%s: a number from %lld "
                             "to %lld", name, (long long) min,
                             (long long) max);
    }

    *value = n;

    return RELAYCTL_OK;
}


/* "90s", "15m", "12h", "7d", "2w", "1500ms"; 0 or -1. */

static int
relayctl_parse_duration(const char *s, int64_t *ms)
{
    char        *end;
    size_t       i;
    long long    n;

    static const relayctl_unit_t  units[] = {
        { "ms", 1 },
        { "s", 1000 },
        { "m", 60 * 1000 },
        { "h", 60 * 60 * 1000 },
        { "d", RELAYCTL_DAY },
        { "w", 7 * RELAYCTL_DAY },
        { NULL, 0 }
    };

    if (s[s[0] == '-'] < '0' || s[s[0] == '-'] > '9') {
        return -1;
    }

    errno = 0;
    n = strtoll(s, &end, 10);

    for (i = 0; units[i].unit != NULL; i++) {

        if (strcmp(units[i].unit, end) != 0) {
            continue;
        }

        if (errno || n > RELAYCTL_YEARS / units[i].ms
            || n < -RELAYCTL_YEARS / units[i].ms)
        {
            return -1;
        }

        *ms = n * units[i].ms;

        return 0;
    }

    return -1;
}


int
relayctl_get_duration(relayctl_t *ctl, const char *name, int64_t *ms)
{
    const char  *arg;

    arg = relayctl_option(ctl, name);

    if (arg != NULL && relayctl_parse_duration(arg, ms) != 0) {
        return relayctl_fail(ctl, RELAYCTL_USAGE,
                             "--%s: a duration (90s, 15m, 12h, 7d)", name);
    }

    return RELAYCTL_OK;
}


int
relayctl_get_expiry(relayctl_t *ctl, const char *name, int64_t *ms)
{
    int64_t      t;
    const char  *arg;
    relay_str_t  s;

    arg = relayctl_option(ctl, name);

    if (arg == NULL) {
        return RELAYCTL_OK;
    }

    if (strcmp(arg, "never") == 0) {
        *ms = 0;
        return RELAYCTL_OK;
    }

    s = relayctl_str(arg);

    /* the record's 0 means never: a time at or before 1970 is no expiry */

    if (relay_time_parse_end(&s, &t) == RELAY_OK && t > 0) {

        if (t <= ctl->started) {
            return relayctl_fail(ctl, RELAYCTL_USAGE, "--%s: %s is over: a "
                                 "time to come, or never", name, arg);
        }

        *ms = t;

        return RELAYCTL_OK;
    }

    if (relayctl_parse_duration(arg, &t) == 0 && t > 0) {
        *ms = relayctl_now() + t;
        return RELAYCTL_OK;
    }

    return relayctl_fail(ctl, RELAYCTL_USAGE, "--%s: a time "
                         "(2027-12-31T23:59:59Z), a date, a duration (30d) or "
                         "never", name);
}


int
relayctl_get_view(relayctl_t *ctl, const char *name, relay_view_e *view)
{
    const char  *arg;
    relay_str_t  s;

    arg = relayctl_option(ctl, name);

    if (arg == NULL) {
        return RELAYCTL_OK;
    }

    s = relayctl_str(arg);
    *view = relay_view_by_name(&s);

    if (*view == RELAY_VIEW_NONE) {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "--%s: no view \"%.64s\"",
                             name, arg);
    }

    return RELAYCTL_OK;
}


int
relayctl_get_permission(relayctl_t *ctl, const char *name,
    relay_permission_e *permission)
{
    const char  *arg;
    relay_str_t  s;

    arg = relayctl_option(ctl, name);

    if (arg == NULL) {
        return RELAYCTL_OK;
    }

    s = relayctl_str(arg);
    *permission = relay_permission_by_name(&s);

    if (*permission == RELAY_PERMISSION_NONE) {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "--%s: read, suggest or "
                             "edit, not \"%.64s\"", name, arg);
    }

    return RELAYCTL_OK;
}


int
relayctl_get_access(relayctl_t *ctl, const char *name, relay_access_e *access)
{
    const char  *arg;
    relay_str_t  s;

    arg = relayctl_option(ctl, name);

    if (arg == NULL) {
        return RELAYCTL_OK;
    }

    s = relayctl_str(arg);
    *access = relay_access_by_name(&s);

    if (*access == RELAY_ACCESS_NONE) {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "--%s: named or anyone, not "
                             "\"%.64s\"", name, arg);
    }

    return RELAYCTL_OK;
}


int
relayctl_get_id(relayctl_t *ctl, int operand, relay_str_t *id)
{
    *id = relayctl_str(ctl->operands[operand]);

    if (!relayctl_text_ok(id, RELAYCTL_TEXT_MAX)) {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "a relay's id: 1 to %d "
                             "bytes, no control characters",
                             RELAYCTL_TEXT_MAX);
    }

    return RELAYCTL_OK;
}
