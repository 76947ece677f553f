/* Rewrites a recording so that it can be shown to strangers.
 *
 *     struct redact redact;
 *     if (!redact_init(&redact, err))
 *         return false;
 *     redact_text(&redact, header_json, &out);      appends
 *     redact_text(&redact, payload, &out);          out.failed: memory ran out
 *     redact_release(&redact);
 *
 * These things are replaced:
 *   paths      /home/ann/env/lib/python3.11/site-packages/torch/x.py  ->  /redacted/torch/x.py
 *              /usr/lib/python3.11/ast.py                ->  /redacted/python3.11/ast.py
 *              /home/ann/pytorch/torch/fx/node.py        ->  /redacted/HASH/torch/fx/node.py
 *              /home/ann/secret/plan/train.py            ->  /redacted/HASH/train.py
 *              Windows paths (C:\Users\ann\train.py) likewise, with slashes. /one_component stays.
 *   users      user1, user2 ...: the component after home, Users or users of a path, what follows
 *              torchinductor_ in one; values of "user"-like JSON fields; and from then on each
 *              whole word equal to such a name, unless the name is a word that is common in logs
 *              (redact_words.def) or looks like a symbol or dtype (s77, f32): those are replaced
 *              only where their place shows that they are names.
 *   hosts      host1, host2 ...: values of "hostname"-like fields, then whole words as above.
 *   variables  os.environ['X'] = 'redacted'; also setdefault, putenv, environ({...}), |= {...} and
 *              update(X='...'); export X=..., set X=..., $env:X = ..., X=... COMMAND of shells; the
 *              values of an "env"-like JSON object; X=redacted in such an array.
 *   values     redacted1 ...: what a variable was set to, a password, an option's value, once it is
 *              known, everywhere: in any case, within words, escaped (redact_values.c); not
 *              values that are short, consist of digits or of common words, or are harmless by
 *              their name (redact_harmless.def). Names of users and hosts likewise where no letter
 *              is next to them.
 *   shapes     passwords and tokens by their names or beginnings (redact_tokens.def), bearer
 *              tokens, hosts and paths of URLs (not of redact_urls.def), user:password@host,
 *              git@host:path.
 *   comments   in source lines that stacks, graphs, guards and tracebacks quote.
 *
 * HASH is 40 bits of an HMAC of the folder's path without its user, with a random key of
 * redact_init(): files of two folders stay distinct, equal paths have equal hashes in everything
 * that one context rewrites, and nobody can confirm a guess with it. A path in which others lie is
 * a folder, and keeps no component. Tails by which PyTorch's own paths are recognized
 * (torch/_dynamo/...) are kept, as are line numbers.
 *
 * Text that is JSON is rewritten string by string, decoded first, JSON inside strings likewise, and
 * stays JSON; strings that are not changed keep their bytes. In other text (graphs, code,
 * tracebacks) no replacement needs quoting. Redacting a redacted text does not change it.
 *
 * Names are learnt as they occur. One pass therefore replaces a name in every path, but leaves a
 * bare word that precedes the first path with it. A caller that can read the input twice calls
 * redact_learn on all of it first; others add the names that are likely ($USER, the host's).
 *
 * Limits. This removes what is recognized, and is no proof that nothing else is left:
 *   - names of files, functions, classes and variables, and of operators (below torch., aten.);
 *   - paths with a space outside of quotes, JSON and "# File:" comments: the rest after the space;
 *     relative paths, but for those that end a guard's line;
 *   - constants and code of the recorded program: source lines are part of a recording.
 * The MD5 in has_payload is of the payload before it was redacted. */
#ifndef SYMTAPE_TRACE_LOG_REDACT_REDACT_H
#define SYMTAPE_TRACE_LOG_REDACT_REDACT_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/arena.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/intern.h"
#include "trace/base/text/json.h"
#include "trace/base/vec.h"

#define REDACT_MARK  "/redacted/"
#define REDACT_VALUE "redacted"

enum {
    REDACT_MAX_NESTED = 4, /* depth of JSON in strings of JSON */
    REDACT_KEY = 32
};

/* The replacement of a user or host name. */
struct redact_name {
    struct str replacement; /* "user1" */
    bool everywhere; /* each whole word is replaced, or only where the place shows that it is a name
                      */
};

/* Where a text that is known to be secret is replaced; case is ignored. */
enum redact_reach {
    REDACT_PART, /* where no letter is next to it */
    REDACT_ANYWHERE
};

struct redact_pattern {
    struct str text, replacement;
    enum redact_reach reach;
    uint32_t next; /* index of the next pattern with the same block; see redact_values.c */
};

struct redact_container;
struct redact_finder;

/* One level of JSON: text that is inside of a string of the level above. */
struct redact_level {
    struct json doc;
    vec_of(struct redact_container)
    open; /* arrays and objects around the current value */
    struct buf decoded, rewritten;
};

struct redact {
    struct intern names; /* names of users and hosts */
    vec_of(struct redact_name)
    found;                /* by the name's id */
    struct intern common; /* words of redact_words.def */
    struct arena arena;
    uint32_t n_users, n_hosts, n_values;
    struct intern values; /* texts that are secret everywhere */
    vec_of(struct redact_pattern)
    patterns; /* of values and names, in all their spellings */
    struct redact_finder *finder;
    bool stale;                    /* the search tables lack some patterns */
    bool learning;                 /* the output is not used */
    unsigned char key[REDACT_KEY]; /* of the hashes of folders */
    struct intern folders;         /* folders in the form that is hashed, without users */
    vec_of(uint64_t)
    hashes;             /* by the folder's id */
    struct intern seen; /* folders in the form in which they occurred */
    vec_of(uint64_t)
    seen_hashes;
    struct redact_level levels[REDACT_MAX_NESTED];
    struct buf scratch, discarded, found_values;
    bool failed; /* memory ran out; the next redact_text() reports it */
};

/* Initializes a context. It needs redact_release() only when this succeeded. */
bool redact_init(struct redact *redact, struct err *err);
void redact_release(struct redact *redact);

/* Adds names that are known beforehand. Empty ones are ignored. */
bool redact_add_user(struct redact *redact, struct str name, struct err *err);
bool redact_add_host(struct redact *redact, struct str name, struct err *err);

/* What is known of the recorded program; each member may be NULL. */
struct redact_known {
    const char *const *environment; /* NAME=VALUE, ended by NULL */
    const char *const *command;     /* its words, ended by NULL */
    struct str set;                 /* NAME=VALUE that the program set itself, each ended by NUL */
    const char *user, *host;
};
bool redact_add_known(struct redact *redact, const struct redact_known *known, struct err *err);

/* Adds a variable of the environment of the recorded program, or the words of its command. Their
 * values are replaced everywhere, unless they are harmless. */
bool redact_add_variable(struct redact *redact, struct str name, struct str value, struct err *err);
bool redact_add_command(struct redact *redact, const char *const *argv, size_t n, struct err *err);

/* Appends `in`, rewritten. It sets out->failed when memory ran out. */
void redact_text(struct redact *redact, struct str in, struct buf *out);
/* Learns the names in `in` and writes nothing. */
bool redact_learn(struct redact *redact, struct str in, struct err *err);

#endif
