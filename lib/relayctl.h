
/*
 * relayctl.h: what the files of the operator's command line share.
 */

#ifndef _RELAYCTL_H_INCLUDED_
#define _RELAYCTL_H_INCLUDED_


#include "relay.h"
#include "relay_buf.h"
#include "relay_data.h"
#include "relay_grant.h"
#include "relay_identity.h"
#include "relay_json.h"
#include "relay_jwt.h"
#include "relay_keys.h"
#include "relay_link.h"
#include "relay_package.h"
#include "relay_packet.h"
#include "relay_pointer.h"
#include "relay_receipt.h"
#include "relay_resp.h"
#include "relay_schema.h"
#include "relay_text.h"
#include "relay_time.h"
#include "relay_url.h"
#include "relay_view.h"


/* exit codes */

#define RELAYCTL_OK         0
#define RELAYCTL_REFUSED    1       /* refused, withheld, not valid */
#define RELAYCTL_USAGE      2
#define RELAYCTL_STORE      3       /* store or file: unreachable, an error */
#define RELAYCTL_NOT_FOUND  4

#define RELAYCTL_VALUES     24      /* options of a command, global ones too */
#define RELAYCTL_OPERANDS   4
#define RELAYCTL_TEXT_MAX   512     /* bytes of a reason, a name */
#define RELAYCTL_ARGS_MAX   64      /* arguments of one Redis command */
#define RELAYCTL_PAIRS      16      /* fields of a record or a note */
#define RELAYCTL_FAULTS     100     /* faults of a document that are printed */


typedef struct relayctl_s         relayctl_t;
typedef struct relayctl_memory_s  relayctl_memory_t;
typedef struct relayctl_redis_s   relayctl_redis_t;


typedef struct {
    const char                *name;        /* NULL: end of the table */
    const char                *arg;         /* NULL: a flag */
    const char                *help;
} relayctl_option_t;


typedef struct {
    const char                *name;
    const char                *summary;
    const char                *synopsis;    /* after "relayctl NAME" */
    const char                *description;
    const char                *example;     /* NULL: none */
    const relayctl_option_t   *options;
    int                        min;         /* operands */
    int                        max;
    int                        store;       /* uses Redis */
    int                      (*run)(relayctl_t *ctl);
} relayctl_command_t;


struct relayctl_s {
    const relayctl_command_t  *command;
    const char                *values[RELAYCTL_VALUES];
    const char                *operands[RELAYCTL_OPERANDS];
    int                        noperands;

    relay_str_t                prefix;
    relayctl_redis_t          *redis;
    relayctl_memory_t         *memory;
    uint64_t                   sequence;    /* of receipts */
    int64_t                    started;     /* epoch ms */

    unsigned                   json:1;
};


/* A document read from a file. */

typedef struct {
    const char                *file;
    relay_str_t                text;
    relay_json_tape_t          tape;
    relay_package_t            package;
} relayctl_document_t;


/* relayctl.c */

extern const relayctl_command_t  relayctl_commands[];

/* The value of an option; NULL: not given; a flag that is given: "". */
const char *relayctl_option(relayctl_t *ctl, const char *name);

/* relayctl_util.c */

/* A buffer that lives until relayctl_release(); exits without memory. */
relay_buf_t *relayctl_buf(relayctl_t *ctl, size_t max);
relayctl_memory_t *relayctl_mark(relayctl_t *ctl);
void relayctl_release(relayctl_t *ctl, relayctl_memory_t *mark);
void relayctl_keep(relayctl_t *ctl, relay_resp_reply_t *reply);

relay_str_t relayctl_str(const char *s);
relay_str_t relayctl_copy(relayctl_t *ctl, const relay_str_t *s);
relay_str_t relayctl_int_str(relayctl_t *ctl, int64_t n);

/* Prints a sentence on standard error and returns rc. */
int relayctl_fail(relayctl_t *ctl, int rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int relayctl_fail_at(relayctl_t *ctl, int rc, const char *file, size_t line,
    size_t column, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
void relayctl_warn(relayctl_t *ctl, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Results: members of one JSON object with --json, else lines of a name and a
 * value.  An empty value is left out.
 */
void relayctl_field(relayctl_t *ctl, relay_buf_t *out, const char *name,
    const relay_str_t *value);
void relayctl_field_int(relayctl_t *ctl, relay_buf_t *out, const char *name,
    int64_t value);
void relayctl_field_time(relayctl_t *ctl, relay_buf_t *out, const char *name,
    int64_t ms);

/* Ends the object; writes to standard output.  Exit code. */
int relayctl_print(relayctl_t *ctl, relay_buf_t *out);
int relayctl_write(relayctl_t *ctl, const relay_str_t *s);

/*
 * Appends s for a terminal: what it obeys (controls, bidirectional ones too),
 * what nobody sees, and bytes that are no UTF-8 become "?".
 */
void relayctl_append_safe(relay_buf_t *out, const relay_str_t *s);

int64_t relayctl_now(void);
void relayctl_random(unsigned char *p, size_t len);

/*
 * Values of options: RELAYCTL_OK, or RELAYCTL_USAGE with the sentence printed.
 * An absent option leaves the value as it was.
 */
int relayctl_get_text(relayctl_t *ctl, const char *name, relay_str_t *value);
int relayctl_get_number(relayctl_t *ctl, const char *name, int64_t min,
    int64_t max, int64_t *value);
int relayctl_get_duration(relayctl_t *ctl, const char *name, int64_t *ms);

/* A time to come, or never. */
int relayctl_get_expiry(relayctl_t *ctl, const char *name, int64_t *ms);
int relayctl_get_view(relayctl_t *ctl, const char *name, relay_view_e *view);
int relayctl_get_permission(relayctl_t *ctl, const char *name,
    relay_permission_e *permission);
int relayctl_get_access(relayctl_t *ctl, const char *name,
    relay_access_e *access);
int relayctl_get_id(relayctl_t *ctl, int operand, relay_str_t *id);

/* Whether s may stand in a record: 1 to max bytes, no control characters. */
relay_uint_t relayctl_text_ok(const relay_str_t *s, size_t max);

/* relayctl_document.c */

int relayctl_read(relayctl_t *ctl, const char *file, size_t max,
    relay_str_t *text);
int relayctl_load(relayctl_t *ctl, const char *file, relayctl_document_t *d);

/* Loads a package that is valid against its schema, and reads its head. */
int relayctl_load_package(relayctl_t *ctl, const char *file,
    relayctl_document_t *d);
int relayctl_head(relayctl_t *ctl, relayctl_document_t *d);
relay_uint_t relayctl_is_package(const relayctl_document_t *d);
void relayctl_unload(relayctl_document_t *d);
void relayctl_position(const relay_str_t *text, size_t offset, size_t *line,
    size_t *column);
int relayctl_fail_in(relayctl_t *ctl, int rc, const relayctl_document_t *d,
    const char *pointer, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* relayctl_file.c */

int relayctl_token(relayctl_t *ctl);
int relayctl_keygen(relayctl_t *ctl);

/* relayctl_view.c */

/*
 * Projects a document into out.  RELAYCTL_REFUSED: withheld; why then holds a
 * sentence.
 */
int relayctl_project(relayctl_t *ctl, relayctl_document_t *d,
    relay_view_e view, const relay_view_params_t *params, relay_buf_t *out,
    relay_buf_t *why);

int relayctl_view(relayctl_t *ctl);

/* relayctl_check.c */

int relayctl_check(relayctl_t *ctl);
int relayctl_warn_repeats(relayctl_t *ctl, relayctl_document_t *d);

/* relayctl_schema.c */

/*
 * Validates a document against the schema of the type that it says it has,
 * which *type is then.  RELAYCTL_REFUSED: its faults are printed.
 */
int relayctl_check_schema(relayctl_t *ctl, const relayctl_document_t *d,
    relay_str_t *type);

int relayctl_validate(relayctl_t *ctl);

/* relayctl_check.c */

int relayctl_check(relayctl_t *ctl);

/* relayctl_packet.c */

relay_uint_t relayctl_is_packet(const relayctl_document_t *d);

/* The rules' notes on a packet, or those on the answer to it; exit code. */
int relayctl_check_packet(relayctl_t *ctl, relayctl_document_t *d);
int relayctl_check_response(relayctl_t *ctl, relayctl_document_t *d);

/* The responder's view of a packet that meets the rules; exit code. */
int relayctl_view_packet(relayctl_t *ctl, relayctl_document_t *d,
    const relay_view_params_t *params);

/* relayctl_redis.c */

int relayctl_connect(relayctl_t *ctl);
void relayctl_disconnect(relayctl_t *ctl);

/*
 * One command, one reply, which lives until relayctl_release().  timeout: ms
 * that the server itself may take, on top of the usual deadline.  An error
 * reply is printed: RELAYCTL_STORE.
 */
int relayctl_call(relayctl_t *ctl, size_t argc, const relay_str_t *argv,
    int64_t timeout, relay_resp_reply_t **reply);

/* Runs a script of schema/redis/; *word is the first word of its answer. */
int relayctl_script(relayctl_t *ctl, const char *name, size_t nkeys,
    const relay_str_t *keys, size_t nargs, const relay_str_t *args,
    relay_resp_reply_t **reply, relay_str_t *word);

/* A sentence that says where was looked: prefix, database, server. */
const char *relayctl_no_relay(relayctl_t *ctl);

/* Fields and values, in turn. */

typedef struct {
    relay_str_t                args[2 * RELAYCTL_PAIRS];
    size_t                     n;
} relayctl_pairs_t;


void relayctl_pair(relayctl_pairs_t *p, const char *name,
    const relay_str_t *value);

int relayctl_exists(relayctl_t *ctl, const relay_str_t *key,
    relay_uint_t *exists);

/* The state, and a grant's id, of a record; empty where there is none. */
int relayctl_state(relayctl_t *ctl, const relay_str_t *key,
    relay_str_t *state, relay_str_t *id);

/* HGETALL of a key. */
int relayctl_record(relayctl_t *ctl, const relay_str_t *key,
    relay_resp_reply_t **reply);

relay_str_t relayctl_key_head(relayctl_t *ctl, const relay_str_t *id);
relay_str_t relayctl_key_link(relayctl_t *ctl, const relay_str_t *digest);
relay_str_t relayctl_key_link_record(relayctl_t *ctl, const relay_str_t *id,
    const relay_str_t *digest);
relay_str_t relayctl_key_grant(relayctl_t *ctl, const relay_str_t *id,
    const relay_str_t *reader);
relay_str_t relayctl_key_receipts(relayctl_t *ctl, const relay_str_t *id);

/*
 * The reader key of an address, or of issuer and subject when email is empty.
 * RELAY_OK or RELAY_DECLINED.
 */
relay_int_t relayctl_reader(relayctl_t *ctl, const relay_str_t *email,
    const relay_str_t *iss, const relay_str_t *sub, relay_str_t *reader);

/* Encodes the receipt of an act; id, time, kind and channel are filled in. */
relay_str_t relayctl_receipt(relayctl_t *ctl, relay_receipt_t *r);

/* relayctl_store.c */

/*
 * The writes that commands and import share.  RELAYCTL_OK; REFUSED or
 * NOT_FOUND with *why, a sentence; STORE, already printed.  *present: there was
 * one, nothing was written.
 */

typedef struct {
    relay_str_t         relay;
    relay_str_t         digest;
    relay_view_e        view;
    relay_access_e      access;
    relay_permission_e  permission;
    int64_t             exp;
    unsigned            revoked:1;
    unsigned            present:1;
} relayctl_link_t;


typedef struct {
    relay_str_t         relay;
    relay_str_t         id;             /* empty: made up */
    relay_str_t         reader;         /* reader key */
    relay_str_t         link;
    relay_str_t         email;          /* normalised */
    relay_str_t         iss;
    relay_str_t         sub;
    relay_str_t         name;
    relay_view_e        view;
    relay_permission_e  permission;
    int64_t             exp;
    int64_t             accepted_at;
    int64_t             accepted_version;
    unsigned            revoked:1;
    unsigned            present:1;
} relayctl_grant_t;


int relayctl_put_link(relayctl_t *ctl, relayctl_link_t *l, const char *method,
    const char **why);
int relayctl_put_grant(relayctl_t *ctl, relayctl_grant_t *g,
    const char *method, const char **why);

int relayctl_publish(relayctl_t *ctl);
int relayctl_link(relayctl_t *ctl);
int relayctl_grant(relayctl_t *ctl);

/* relayctl_revoke.c */

/* What the options of an act say of it. */

typedef struct {
    relay_str_t         reason;
    relay_str_t         by;
    int64_t             at;
    int64_t             replicas;
    int64_t             timeout;
} relayctl_act_t;


int relayctl_get_act(relayctl_t *ctl, relayctl_act_t *act);

/* Sets the state of a record to revoked, whether there is one or not. */
int relayctl_tombstone(relayctl_t *ctl, const relay_str_t *id,
    const relay_str_t *key, relay_receipt_t *receipt,
    const relayctl_act_t *act, relay_resp_reply_t **reply);

int relayctl_revoke(relayctl_t *ctl);
int relayctl_block(relayctl_t *ctl);

/* relayctl_import.c */

int relayctl_import(relayctl_t *ctl);

/* relayctl_show.c */

/* A field of a record, as the command show prints it. */
void relayctl_show_field(relayctl_t *ctl, relay_buf_t *out,
    const relay_resp_reply_t *reply, const char *name);

int relayctl_show(relayctl_t *ctl);
int relayctl_receipts(relayctl_t *ctl);


#endif /* _RELAYCTL_H_INCLUDED_ */
