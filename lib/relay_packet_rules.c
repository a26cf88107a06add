
/*
 * relay_packet_rules: the names of the rules, and what each leads to.
 */

#include "relay_packet_rule.h"


typedef struct {
    relay_packet_action_e        action;
    unsigned                     fixed;         /* it always refuses */
    relay_str_t                  name;
} relay_packet_rule_t;


static const relay_packet_rule_t  relay_packet_rules[RELAY_PACKET_RULES] = {
    { RELAY_PACKET_OFF, 0, relay_null_string },
    { RELAY_PACKET_REFUSE, 1, relay_string("P1") },
    { RELAY_PACKET_REFUSE, 0, relay_string("P2") },
    { RELAY_PACKET_REFUSE, 1, relay_string("P3") },
    { RELAY_PACKET_REFUSE, 0, relay_string("P4") },
    { RELAY_PACKET_REFUSE, 0, relay_string("P5") },
    { RELAY_PACKET_REFUSE, 0, relay_string("P6") },
    { RELAY_PACKET_REFUSE, 0, relay_string("P7") },
    { RELAY_PACKET_WARN, 0, relay_string("P8") },
    { RELAY_PACKET_WARN, 0, relay_string("P9") },
    { RELAY_PACKET_REFUSE, 0, relay_string("P10") },
    { RELAY_PACKET_REFUSE, 0, relay_string("P11") },
    { RELAY_PACKET_REFUSE, 0, relay_string("P12") },
    { RELAY_PACKET_OFF, 0, relay_string("P13") },
    { RELAY_PACKET_REFUSE, 1, relay_string("P14") },
    { RELAY_PACKET_REFUSE, 0, relay_string("P15") },
    { RELAY_PACKET_REFUSE, 1, relay_string("P16") },
    { RELAY_PACKET_REFUSE, 0, relay_string("P17") },
    { RELAY_PACKET_REFUSE, 0, relay_string("P18") },
    { RELAY_PACKET_WARN, 0, relay_string("P19") },
    { RELAY_PACKET_OFF, 0, relay_null_string },
    { RELAY_PACKET_REFUSE, 0, relay_string("P21") },
    { RELAY_PACKET_WARN, 0, relay_string("P22") },
    { RELAY_PACKET_WARN, 0, relay_string("P23") },
    { RELAY_PACKET_WARN, 0, relay_string("P24") },
    { RELAY_PACKET_WARN, 0, relay_string("P25") },
    { RELAY_PACKET_OFF, 0, relay_null_string },
    { RELAY_PACKET_OFF, 0, relay_string("P27") }
};

/* in the order of relay_packet_action_e */

static const relay_str_t  relay_packet_action_names[] = {
    relay_string("off"),
    relay_string("warn"),
    relay_string("refuse")
};

static const relay_str_t  relay_packet_default_markers[] = {
    relay_string("coordinator_decision.rationale"),
    relay_string("future_branch_plans")
};


void
relay_packet_rules_init(relay_packet_rules_t *rules)
{
    unsigned  i;

    memset(rules, 0, sizeof(relay_packet_rules_t));

    for (i = 0; i < RELAY_PACKET_RULES; i++) {
        rules->action[i] = relay_packet_rules[i].action;
    }

    rules->markers = relay_packet_default_markers;
    rules->nmarkers = sizeof(relay_packet_default_markers)
                      / sizeof(relay_packet_default_markers[0]);
}


relay_int_t
relay_packet_rules_set(relay_packet_rules_t *rules, const relay_str_t *name,
    relay_packet_action_e action)
{
    unsigned  i;

    if (name->len == 0) {
        return RELAY_DECLINED;
    }

    for (i = 0; i < RELAY_PACKET_RULES; i++) {

        if (!relay_str_eq(name, &relay_packet_rules[i].name)) {
            continue;
        }

        if (action > RELAY_PACKET_REFUSE
            || (relay_packet_rules[i].fixed && action != RELAY_PACKET_REFUSE))
        {
            return RELAY_DECLINED;
        }

        rules->action[i] = action;

        return RELAY_OK;
    }

    return RELAY_DECLINED;
}


relay_int_t
relay_packet_rules_word(relay_packet_rules_t *rules, const relay_str_t *word)
{
    unsigned              i;
    relay_str_t           name, value;
    const unsigned char  *p;

    p = (word->len == 0) ? NULL : memchr(word->data, '=', word->len);

    if (p == NULL) {
        return RELAY_DECLINED;
    }

    name.data = word->data;
    name.len = (size_t) (p - word->data);
    value.data = word->data + name.len + 1;
    value.len = word->len - name.len - 1;

    for (i = RELAY_PACKET_OFF; i <= RELAY_PACKET_REFUSE; i++) {
        if (relay_str_eq(&value, &relay_packet_action_names[i])) {
            return relay_packet_rules_set(rules, &name,
                                          (relay_packet_action_e) i);
        }
    }

    return RELAY_DECLINED;
}


const relay_str_t *
relay_packet_action_name(relay_packet_action_e action)
{
    return &relay_packet_action_names[action <= RELAY_PACKET_REFUSE ? action
                                                                    : 0];
}


const relay_str_t *
relay_packet_rule_name(unsigned rule)
{
    return &relay_packet_rules[rule < RELAY_PACKET_RULES ? rule : 0].name;
}


relay_packet_action_e
relay_packet_action(const relay_packet_rules_t *rules, unsigned rule)
{
    return relay_packet_rules[rule].fixed ? RELAY_PACKET_REFUSE
                                          : rules->action[rule];
}
