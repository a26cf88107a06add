
/*
 * relay_durability: what a Redis server promises for what was written to it.
 */

#include "relay_durability.h"


static relay_str_t relay_durability_field(const relay_resp_reply_t *reply,
    const char *name);
static relay_str_t relay_durability_line(const relay_str_t *text,
    const char *name);


/* in the order of relay_durability_e */

static const char *const  relay_durability_names[] = {
    "unknown", "none", "everysec", "always"
};


relay_int_t
relay_durability_config(const relay_resp_reply_t *reply, relay_durability_t *d)
{
    relay_str_t  appendonly, appendfsync;

    memset(d, 0, sizeof(relay_durability_t));

    appendonly = relay_durability_field(reply, "appendonly");
    appendfsync = relay_durability_field(reply, "appendfsync");

    d->eviction = relay_durability_field(reply, "maxmemory-policy");

    if (relay_str_is(&appendonly, "no")) {
        d->durability = RELAY_DURABILITY_NONE;
        return RELAY_OK;
    }

    if (!relay_str_is(&appendonly, "yes")) {
        return RELAY_DECLINED;
    }

    d->appendonly = 1;

    if (relay_str_is(&appendfsync, "no")) {
        d->durability = RELAY_DURABILITY_NONE;

    } else {
        d->durability = relay_durability_by_name(&appendfsync);
    }

    return d->durability ? RELAY_OK : RELAY_DECLINED;
}


static relay_str_t
relay_durability_field(const relay_resp_reply_t *reply, const char *name)
{
    relay_str_t         none;
    const relay_str_t  *value;

    relay_str_set(&none, "");

    value = relay_resp_field(reply, name, strlen(name));

    return value ? *value : none;
}


relay_int_t
relay_durability_info(const relay_str_t *text, relay_durability_t *d)
{
    relay_str_t  enabled;

    memset(d, 0, sizeof(relay_durability_t));

    enabled = relay_durability_line(text, "aof_enabled:");

    d->eviction = relay_durability_line(text, "maxmemory_policy:");

    if (relay_str_is(&enabled, "0")) {
        d->durability = RELAY_DURABILITY_NONE;
        return RELAY_OK;
    }

    d->appendonly = relay_str_is(&enabled, "1");

    return d->appendonly ? RELAY_OK : RELAY_DECLINED;
}


/* What follows a name at the beginning of a line, to the line's end. */

static relay_str_t
relay_durability_line(const relay_str_t *text, const char *name)
{
    size_t                len;
    relay_str_t           value;
    unsigned char        *end;
    const unsigned char  *p, *last;

    relay_str_set(&value, "");

    len = strlen(name);
    last = text->data + text->len;

    for (p = text->data; (size_t) (last - p) > len; p = end + 1) {

        end = memchr(p, '\n', (size_t) (last - p));

        if (end == NULL) {
            break;
        }

        if ((size_t) (end - p) < len || memcmp(p, name, len) != 0) {
            continue;
        }

        value.data = (unsigned char *) p + len;
        value.len = (size_t) (end - value.data);

        if (value.len && value.data[value.len - 1] == '\r') {
            value.len--;
        }

        break;
    }

    return value;
}


relay_durability_e
relay_durability_by_name(const relay_str_t *name)
{
    int  i;

    for (i = RELAY_DURABILITY_ALWAYS; i > RELAY_DURABILITY_UNKNOWN; i--) {
        if (name->len == strlen(relay_durability_names[i])
            && memcmp(name->data, relay_durability_names[i], name->len) == 0)
        {
            break;
        }
    }

    return (relay_durability_e) i;
}


const char *
relay_durability_name(relay_durability_e durability)
{
    return relay_durability_names[durability];
}
