
/*
 * relayctl: the operator's command line.  Commands and options are tables;
 * help is printed from them.
 */

#include <stdio.h>

#include "relayctl.h"


#ifndef RELAYCTL_VERSION
#define RELAYCTL_VERSION  "0.1.0"
#endif


static int relayctl_parse(relayctl_t *ctl, int argc, char **argv);
static int relayctl_parse_option(relayctl_t *ctl, char **argv, int *i);
static int relayctl_find(const relayctl_option_t *options, const char *name,
    size_t len);
static int relayctl_slot(const relayctl_command_t *command, const char *name,
    size_t len, const relayctl_option_t **option);
static int relayctl_usage(relayctl_t *ctl);
static void relayctl_help(void);
static void relayctl_help_command(const relayctl_command_t *command);
static void relayctl_help_text(const char *text, int indent,
    const char *broken);
static size_t relayctl_help_word(const char *p, relay_uint_t quotes);
static void relayctl_help_options(const relayctl_option_t *options);


static const relayctl_option_t  relayctl_globals[] = {
    { "json", NULL, "results and errors as JSON objects, one a line" },
    { "help", NULL, "this text" },
    { "version", NULL, "the version" },
    { NULL, NULL, NULL }
};

/* of every command that uses Redis */

static const relayctl_option_t  relayctl_store_options[] = {

    { "redis", "URL",
      RELAY_URL_SYNTAX "; no password here, where others can read it; default: "
      "$RELAY_REDIS, else redis://127.0.0.1:6379" },
    { "prefix", "PREFIX", "of all keys, as in relay_prefix; default: relay:" },
    { "user", "NAME", "of the Redis ACL; default: the URL's" },
    { "password-file", "FILE", "its first line is the password" },
    { NULL, NULL, NULL }
};

static const relayctl_option_t  relayctl_no_options[] = {
    { NULL, NULL, NULL }
};

static const relayctl_option_t  relayctl_view_options[] = {
    { "view", "NAME",
      "owner, recipient, link, pass-on or preview; of a packet: owner or "
      "responder" },
    { "now", "TIME", "as of this time (RFC 3339); default: now" },
    { "permission", "NAME",
      "the reader's: read, suggest or edit; default: the package's" },
    { "explain", NULL,
      "instead of the view, what it leaves out or changes, and why" },
    { "text", NULL, "responder: the prompt alone, byte for byte" },
    { "allow-draft", NULL, "responder: a draft may be served" },
    { "rules", "LIST", "responder: what rules lead to, as in check" },
    { "markers", "LIST", "responder: what P9 looks for, as in check" },
    { NULL, NULL, NULL }
};

static const relayctl_option_t  relayctl_check_options[] = {
    { "allow-draft", NULL, "a draft may be served (P16)" },
    { "rules", "LIST",
      "what rules lead to, such as P19=refuse,P23=off,P15=warn" },
    { "markers", "LIST", "what P9 looks for, instead of its own list" },
    { "isolation", "METHOD",
      "how the caller says that it is isolated (P26)" },
    { "response", "FILE", "check this answer to the packet" },
    { NULL, NULL, NULL }
};

static const relayctl_option_t  relayctl_publish_options[] = {
    { "owner-iss", "ISSUER", "the owner's issuer (required)" },
    { "owner-sub", "SUBJECT", "the owner's subject there (required)" },
    { "owner-email", "ADDRESS", "the owner's address" },
    { "approved-by", "NAME", "who approved; must be the package's approvedBy" },
    { NULL, NULL, NULL }
};

static const relayctl_option_t  relayctl_link_options[] = {
    { "view", "NAME",
      "not more than this: recipient, link, pass-on or preview" },
    { "access", "NAME", "not more than this: named or anyone" },
    { "permission", "NAME", "not more than this: read, suggest or edit" },
    { "expires", "WHEN", "a time, a date, a duration (7d, 12h) or never" },
    { "base-url", "URL", "print the whole address, the token after this" },
    { NULL, NULL, NULL }
};

static const relayctl_option_t  relayctl_grant_options[] = {
    { "email", "ADDRESS", "the reader's address" },
    { "iss", "ISSUER", "the reader's issuer" },
    { "sub", "SUBJECT", "the reader's subject there" },
    { "name", "NAME", "the reader's name, for lists" },
    { "view", "NAME",
      "not more than this: recipient, link, pass-on or preview" },
    { "permission", "NAME", "not more than this: read, suggest or edit" },
    { "expires", "WHEN", "a time, a date, a duration (7d, 12h) or never" },
    { NULL, NULL, NULL }
};

static const relayctl_option_t  relayctl_revoke_options[] = {
    { "link", "LINK", "only this link: its token or digest; -: from a line of "
      "standard input" },
    { "grant", "ADDRESS", "only the grant of this address" },
    { "email", "ADDRESS", "the same" },
    { "iss", "ISSUER", "only the grant of this issuer and subject" },
    { "sub", "SUBJECT", "the subject, with --iss" },
    { "reason", "TEXT", "kept in the record" },
    { "by", "NAME", "kept in the record; default: user@host" },
    { "replicas", "N", "wait until N replicas have it" },
    { "timeout", "MS", "wait that long for them; default: 5000" },
    { NULL, NULL, NULL }
};

static const relayctl_option_t  relayctl_block_options[] = {
    { "lift", NULL, "end the block" },
    { "reason", "TEXT", "kept in the record" },
    { "by", "NAME", "kept in the record; default: user@host" },
    { "replicas", "N", "wait until N replicas have it" },
    { "timeout", "MS", "wait that long for them; default: 5000" },
    { NULL, NULL, NULL }
};

static const relayctl_option_t  relayctl_receipts_options[] = {
    { "follow", NULL, "then wait for more" },
    { "count", "N", "the last N; with --from, the first N from there" },
    { "from", "ENTRY", "from this stream entry on" },
    { NULL, NULL, NULL }
};

static const relayctl_option_t  relayctl_token_options[] = {
    { "key", "FILE", "a key set with a private or symmetric key (required)" },
    { "alg-kty", "TYPE", "use its first key of this type: RSA, EC or oct" },
    { "iss", "ISSUER", "default: https://issuer.example" },
    { "sub", "SUBJECT", "default: dev" },
    { "aud", "AUDIENCE", "default: https://relay.example" },
    { "email", "ADDRESS", "left out by default" },
    { "email-verified", "VALUE",
      "true, false, \"true\" or \"false\" with the quotes, or missing; "
      "default: true where there is an address" },
    { "name", "NAME", "left out by default" },
    { "ttl", "DURATION", "default: 1h; negative: expired already" },
    { NULL, NULL, NULL }
};

static const relayctl_option_t  relayctl_keygen_options[] = {
    { "kty", "TYPE", "RSA, EC (P-256) or oct" },
    { "kid", "ID", "the key's id" },
    { "public", NULL, "print the public half of the key set in FILE" },
    { NULL, NULL, NULL }
};


const relayctl_command_t  relayctl_commands[] = {

    { "validate", "check a document against its schema",
      "FILE",
      "Checks that FILE (-: standard input) is one well-formed JSON text "
      "within the edge's limits, and valid against the JSON Schema of the type "
      "that its member \"schema\" or \"schema_version\" names: "
      RELAY_PACKAGE_SCHEMA " or ghostlight.responder_packet.v0. Every fault is "
      "reported with line, column and JSON pointer.",
      "relayctl validate pilot.relay.json",
      relayctl_no_options, 1, 1, 0, relayctl_validate },

    { "check", "say what a draft or a packet should still mend",
      "[--allow-draft] [--rules LIST] [--markers LIST] [--isolation METHOD] "
      "FILE | --response ANSWER FILE",
      "Prints what there is to say of the document in FILE (-: standard "
      "input). Of a " RELAY_PACKAGE_SCHEMA ": the notes of the extraction "
      "standard, by area, the worst first: id, JSON pointer, a sentence. Of a "
      RELAY_PACKET_SCHEMA ": what its rules say: the rule, whether it refuses "
      "or warns, the place and a sentence, the first few of a rule. P1, P3, "
      "P14 and P16 always refuse; P13 and P27 are off unless they are asked "
      "for. Of both: text that reads like instructions to an agent, in every "
      "string. With --response it judges what the responder sent back: its "
      "members, the responder, the action, and that it holds no hidden state. "
      "The exit code is 1 when something refuses, or a note is more than "
      "information.",
      "relayctl check pilot.relay.json",
      relayctl_check_options, 1, 1, 0, relayctl_check },

    { "view", "print what a reader of a view gets",
      "--view NAME [--now TIME] [--permission NAME] [--explain] [--text] "
      "[--allow-draft] [--rules LIST] [--markers LIST] FILE",
      "Prints the view of the document in FILE (-: standard input). Nothing is "
      "printed, and the exit code is 1, when the document is withheld, or is a "
      "packet that its rules refuse. With --explain, one line for each member "
      "or element that is left out or changed: its JSON pointer, what is done, "
      "the word of the rule that does it and where the policy has it, what "
      "decided, the policy's reason.",
      "relayctl view --view recipient --now 2026-06-01T00:00:00Z "
      "pilot.relay.json",
      relayctl_view_options, 1, 1, 0, relayctl_view },

    { "publish", "store an approved version",
      "FILE --owner-iss ISSUER --owner-sub SUBJECT [--owner-email ADDRESS] "
      "[--approved-by NAME]",
      "Stores the package in FILE as the next version of its relay. Refused "
      "unless it is valid against its schema, as with validate, the owner "
      "approved it (approvedBy is owner.name or owner.id), its version follows "
      "the stored one, and a named relay names an address.",
      "relayctl publish pilot.relay.json --owner-iss https://id.example "
      "--owner-sub leila",
      relayctl_publish_options, 1, 1, 1, relayctl_publish },

    { "link", "make a link to a relay",
      "ID [--view NAME] [--access NAME] [--permission NAME] [--expires WHEN] "
      "[--base-url URL]",
      "Mints a link token and prints it. It is shown once: Redis holds its "
      "digest only.",
      "relayctl link rly_7QmX2c9Lw4 --expires 30d --base-url "
      "https://relay.example/r/",
      relayctl_link_options, 1, 1, 1, relayctl_link },

    { "grant", "issue a grant to a reader",
      "ID (--email ADDRESS | --iss ISSUER --sub SUBJECT) [--name NAME] [--view "
      "NAME] [--permission NAME] [--expires WHEN]",
      "Issues a grant to an address, or to the subject of an issuer (an app "
      "without an address). The reader accepts it through a link. A named "
      "relay is for its own address: a grant to another address opens nothing, "
      "one to a subject does.",
      "relayctl grant rly_7QmX2c9Lw4 --iss https://id.example --sub app-1",
      relayctl_grant_options, 1, 1, 1, relayctl_grant },

    { "revoke", "revoke a relay, a link or a grant",
      "ID [--link LINK | --grant ADDRESS | --email ADDRESS | --iss ISSUER "
      "--sub SUBJECT] [--reason TEXT] [--by NAME] [--replicas N [--timeout "
      "MS]]",
      "Revokes the relay ID, or one of its links or grants. Revoking a grant "
      "that is not there leaves a tombstone that refuses it for good; revoking "
      "what was revoked already says so and succeeds. It holds from the next "
      "read on. With --replicas the exit code is 3 unless "
      "that many replicas have confirmed it; it holds on the primary either "
      "way.",
      "relayctl revoke rly_7QmX2c9Lw4 --grant tomas@norrvik.example --reason "
      "\"left the company\"",
      relayctl_revoke_options, 1, 1, 1, relayctl_revoke },

    { "block", "block a person, an address, a domain or an issuer",
      "(email ADDRESS | domain DOMAIN | issuer ISSUER | subject ISSUER "
      "SUBJECT) [--lift] [--reason TEXT] [--by NAME] [--replicas N [--timeout "
      "MS]]",
      "Ends every grant of a subject, an address, a domain or an issuer with "
      "one write, until it is lifted.",
      "relayctl block domain norrvik.example",
      relayctl_block_options, 2, 3, 1, relayctl_block },

    { "import", "write links and grants of an existing backend",
      "FILE",
      "Reads one JSON object a line from FILE (-: standard input):\n"
      "{\"type\":\"link\",\"relay\":ID,\"token\":T or \"digest\":D} with "
      "optional view, access, permission, expires, state;\n"
      "{\"type\":\"grant\",\"relay\":ID,\"email\":A or \"iss\":I,\"sub\":S} "
      "with optional id, link (a digest), name, view, permission, expires, "
      "accepted_at, accepted_version, state.\n"
      "Times are RFC 3339 or epoch milliseconds. A bad line is reported with "
      "its number and nothing of it is written; the good ones are. What is "
      "there already is left as it is, so that an import may be repeated.",
      "relayctl import grants.jsonl",
      relayctl_no_options, 1, 1, 1, relayctl_import },

    { "show", "print a relay's records",
      "ID",
      "Prints the head, the links and the grants of a relay.",
      "relayctl show rly_7QmX2c9Lw4 --json",
      relayctl_no_options, 1, 1, 1, relayctl_show },

    { "receipts", "print a relay's receipts",
      "ID [--follow] [--count N] [--from ENTRY]",
      "Prints the receipts of a relay, oldest first: the stream's entry and "
      "the receipt.",
      "relayctl receipts rly_7QmX2c9Lw4 --count 10",
      relayctl_receipts_options, 1, 1, 1, relayctl_receipts },

    { "token", "sign a development token",
      "--key FILE [--alg-kty TYPE] [--iss ISSUER] [--sub SUBJECT] [--aud "
      "AUDIENCE] [--email ADDRESS] [--email-verified VALUE] [--name NAME] "
      "[--ttl DURATION]",
      "Signs a bearer token. For development and tests only: an identity "
      "provider is what makes tokens. An option with an empty value leaves its "
      "claim out.",
      "relayctl token --key dev.jwks --sub tomas --email "
      "tomas@norrvik.example",
      relayctl_token_options, 0, 0, 0, relayctl_token },

    { "keygen", "make a key set",
      "--kty TYPE --kid ID | --public FILE",
      "Prints a key set with one new private or symmetric key; or, with "
      "--public, the public half of the key set in FILE (-: standard input), "
      "which is what relay_jwt_keys wants.",
      "relayctl keygen --kty EC --kid dev > dev.jwks",
      relayctl_keygen_options, 0, 1, 0, relayctl_keygen },

    { NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, NULL }
};


static const char  relayctl_exit_codes[] =
    "EXIT STATUS\n"
    "    0   done\n"
    "    1   refused, withheld or not valid; import: a bad line; check: more\n"
    "        than information\n"
    "    2   wrong usage\n"
    "    3   the store or a file: unreachable, or an error\n"
    "    4   no such relay, link or file\n";


static const char  relayctl_environment[] =
    "ENVIRONMENT\n"
    "    RELAY_REDIS  the server, where --redis is not given\n";


int
main(int argc, char **argv)
{
    int          rc;
    relayctl_t   ctl;
    const char  *prefix;

    memset(&ctl, 0, sizeof(relayctl_t));

    ctl.started = relayctl_now();

    rc = relayctl_parse(&ctl, argc, argv);

    if (rc == -1) {
        return fflush(stdout) == 0 ? RELAYCTL_OK : RELAYCTL_STORE;
    }

    if (rc == RELAYCTL_OK) {
        prefix = relayctl_option(&ctl, "prefix");
        ctl.prefix = relayctl_str(prefix ? prefix : RELAY_KEYS_PREFIX);

        if (relay_prefix_check(&ctl.prefix) != RELAY_OK) {
            rc = relayctl_fail(&ctl, RELAYCTL_USAGE, "--prefix: "
                               RELAY_KEYS_PREFIX_SYNTAX);

        } else {
            rc = ctl.command->run(&ctl);
        }
    }

    relayctl_disconnect(&ctl);
    relayctl_release(&ctl, NULL);

    return rc;
}


/* RELAYCTL_OK, RELAYCTL_USAGE, or -1 when all there was to do is done. */

static int
relayctl_parse(relayctl_t *ctl, int argc, char **argv)
{
    int                        i, rest, operands;
    const char                *arg;
    const relayctl_option_t   *option;
    const relayctl_command_t  *c;

    /* the command first: its options decide what takes an argument */

    for (i = 1; i < argc; i++) {
        arg = argv[i];

        if (arg[0] != '-' || arg[1] == '\0') {
            break;
        }

        if (strncmp(arg, "--", 2) == 0
            && relayctl_slot(NULL, arg + 2, strlen(arg + 2), &option) >= 0
            && option->arg != NULL)
        {
            i++;
        }
    }

    if (i < argc) {

        for (c = relayctl_commands; c->name != NULL; c++) {
            if (strcmp(c->name, argv[i]) == 0) {
                ctl->command = c;
                break;
            }
        }

        if (ctl->command == NULL && strcmp(argv[i], "help") != 0) {
            return relayctl_fail(ctl, RELAYCTL_USAGE,
                                 "no command \"%.64s\"; see relayctl --help",
                                 argv[i]);
        }

        operands = i;

    } else {
        operands = 0;
    }

    for (i = 1, rest = 0; i < argc; i++) {
        arg = argv[i];

        if (i == operands) {
            continue;
        }

        if (!rest && strcmp(arg, "--") == 0) {
            rest = 1;
            continue;
        }

        if (!rest && arg[0] == '-' && arg[1] != '\0') {

            if (relayctl_parse_option(ctl, argv, &i) != RELAYCTL_OK) {
                return RELAYCTL_USAGE;
            }

            continue;
        }

        if (ctl->noperands == RELAYCTL_OPERANDS) {
            return relayctl_usage(ctl);
        }

        ctl->operands[ctl->noperands++] = arg;
    }

    ctl->json = relayctl_option(ctl, "json") != NULL;

    if (relayctl_option(ctl, "version") != NULL) {
        printf("relayctl %s\n", RELAYCTL_VERSION);
        return -1;
    }

    if (ctl->command == NULL) {

        if (operands && ctl->noperands == 1) {

            for (c = relayctl_commands; c->name != NULL; c++) {
                if (strcmp(c->name, ctl->operands[0]) == 0) {
                    relayctl_help_command(c);
                    return -1;
                }
            }
        }

        if (operands || relayctl_option(ctl, "help") != NULL) {
            relayctl_help();
            return -1;
        }

        return relayctl_fail(ctl, RELAYCTL_USAGE,
                             "no command; see relayctl --help");
    }

    if (relayctl_option(ctl, "help") != NULL) {
        relayctl_help_command(ctl->command);
        return -1;
    }

    if (ctl->noperands < ctl->command->min
        || ctl->noperands > ctl->command->max)
    {
        return relayctl_usage(ctl);
    }

    return RELAYCTL_OK;
}


static int
relayctl_parse_option(relayctl_t *ctl, char **argv, int *i)
{
    int                       slot;
    size_t                    len;
    const char               *arg, *value;
    const relayctl_option_t  *option;

    arg = argv[*i];

    if (strcmp(arg, "-h") == 0) {
        arg = "--help";
    }

    if (strncmp(arg, "--", 2) != 0) {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "no option \"%.64s\"", arg);
    }

    arg += 2;
    value = strchr(arg, '=');
    len = value ? (size_t) (value - arg) : strlen(arg);

    slot = relayctl_slot(ctl->command, arg, len, &option);

    if (slot < 0) {
        return relayctl_fail(ctl, RELAYCTL_USAGE,
                             "no option \"--%.*s\"; see relayctl %s%s"
                             "--help", len < 64 ? (int) len : 64, arg,
                             ctl->command ? ctl->command->name : "",
                             ctl->command ? " " : "");
    }

    if (ctl->values[slot] != NULL) {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "--%s is given twice",
                             option->name);
    }

    if (option->arg == NULL) {

        if (value != NULL) {
            return relayctl_fail(ctl, RELAYCTL_USAGE, "--%s takes no value",
                                 option->name);
        }

        ctl->values[slot] = "";

        return RELAYCTL_OK;
    }

    if (value != NULL) {
        ctl->values[slot] = value + 1;
        return RELAYCTL_OK;
    }

    if (argv[*i + 1] == NULL) {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "--%s wants %s",
                             option->name, option->arg);
    }

    ctl->values[slot] = argv[++*i];

    return RELAYCTL_OK;
}


static int
relayctl_find(const relayctl_option_t *options, const char *name, size_t len)
{
    int  i;

    for (i = 0; options[i].name != NULL; i++) {

        if (strlen(options[i].name) == len
            && memcmp(options[i].name, name, len) == 0)
        {
            return i;
        }
    }

    return -1;
}


/* Where the value of an option is kept: -1: there is no such option. */

static int
relayctl_slot(const relayctl_command_t *command, const char *name, size_t len,
    const relayctl_option_t **option)
{
    int                       n, slot;
    size_t                    i;
    const relayctl_option_t  *tables[3];

    tables[0] = relayctl_globals;
    tables[1] = relayctl_store_options;
    tables[2] = command ? command->options : relayctl_no_options;

    slot = 0;

    for (i = 0; i < 3; i++) {
        n = relayctl_find(tables[i], name, len);

        if (n >= 0) {
            *option = &tables[i][n];
            return slot + n;
        }

        for (n = 0; tables[i][n].name != NULL; n++) {
            slot++;
        }
    }

    return -1;
}


const char *
relayctl_option(relayctl_t *ctl, const char *name)
{
    int                       slot;
    const relayctl_option_t  *option;

    slot = relayctl_slot(ctl->command, name, strlen(name), &option);

    return slot < 0 ? NULL : ctl->values[slot];
}


static int
relayctl_usage(relayctl_t *ctl)
{
    if (ctl->command == NULL) {
        return relayctl_fail(ctl, RELAYCTL_USAGE, "see relayctl --help");
    }

    return relayctl_fail(ctl, RELAYCTL_USAGE, "usage: relayctl %s %s",
                         ctl->command->name, ctl->command->synopsis);
}


static void
relayctl_help(void)
{
    const relayctl_command_t  *c;

    printf("NAME\n"
           "    relayctl - the relay edge's command line\n\n"
           "SYNOPSIS\n"
           "    relayctl COMMAND [OPTION]... [OPERAND]...\n"
           "    relayctl COMMAND --help\n\n"
           "COMMANDS\n");

    for (c = relayctl_commands; c->name != NULL; c++) {
        printf("    %-10s  %s\n", c->name, c->summary);
    }

    printf("\nOPTIONS\n");
    relayctl_help_options(relayctl_globals);

    printf("\nOPTIONS OF");

    for (c = relayctl_commands; c->name != NULL; c++) {
        if (c->store) {
            printf(" %s", c->name);
        }
    }

    printf("\n");
    relayctl_help_options(relayctl_store_options);

    printf("\n%s\n%s", relayctl_exit_codes, relayctl_environment);
}


static void
relayctl_help_command(const relayctl_command_t *command)
{
    printf("NAME\n    relayctl %s - %s\n\nSYNOPSIS\n",
           command->name, command->summary);

    printf("    relayctl %s\n", command->name);
    relayctl_help_text(command->synopsis, 8, "");

    printf("\nDESCRIPTION\n");
    relayctl_help_text(command->description, 4, "");

    printf("\nOPTIONS\n");
    relayctl_help_options(command->options);

    if (command->store) {
        relayctl_help_options(relayctl_store_options);
    }

    relayctl_help_options(relayctl_globals);

    printf("\n%s", relayctl_exit_codes);

    if (command->store) {
        printf("\n%s", relayctl_environment);
    }

    if (command->example != NULL) {
        printf("\nEXAMPLE\n");
        relayctl_help_text(command->example, 4, " \\");
    }
}


/*
 * Prints text in lines of at most 79 columns; broken stands at the end of each
 * that was cut: a shell's command can be copied from there.
 */

static void
relayctl_help_text(const char *text, int indent, const char *broken)
{
    size_t       column, len;
    const char  *p;

    column = 0;

    for (p = text; *p; /* void */) {

        if (*p == '\n') {
            printf("\n");
            column = 0;
            p++;
            continue;
        }

        if (*p == ' ') {
            p++;
            continue;
        }

        len = relayctl_help_word(p, broken[0] != '\0');

        if (column
            && column + 1 + len + strlen(broken) > 79 - (size_t) indent)
        {
            printf("%s\n", broken);
            column = 0;
        }

        printf("%*s%.*s", column ? 1 : indent, "", (int) len, p);
        column += len + (column ? 1 : 0);

        p += len;
    }

    printf("\n");
}


/* The length of what may not be broken: a word, or what stands in quotes. */

static size_t
relayctl_help_word(const char *p, relay_uint_t quotes)
{
    size_t        n;
    relay_uint_t  quoted;

    quoted = 0;

    for (n = 0; p[n] && p[n] != '\n'; n++) {

        if (p[n] == ' ' && !quoted) {
            break;
        }

        if (p[n] == '"' && quotes) {
            quoted = !quoted;
        }
    }

    return n;
}


static void
relayctl_help_options(const relayctl_option_t *options)
{
    for ( /* void */ ; options->name != NULL; options++) {
        printf("    --%s%s%s\n", options->name, options->arg ? " " : "",
               options->arg ? options->arg : "");

        if (options->help[0]) {
            relayctl_help_text(options->help, 8, "");
        }
    }
}
