#include "trace/log/redact/redact.h"

#include <stdlib.h>
#include <sys/random.h>

#include "trace/log/redact/redact_parts.h"

/* --- the context --- */

static bool fill_common(struct intern *common)
{
    static const char *const words[] = {
#define WORD(text) #text,
#include "trace/log/redact/redact_words.def"
#undef WORD
#define EVENT(id, name) name,
#include "trace/events.def"
#undef EVENT
#define DTYPE(id, short_name, python_name, size, scalar_type) short_name, python_name,
#include "trace/graph/dtypes.def"
#undef DTYPE
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (intern(common, str_of(words[i])) == INTERN_NONE)
            return false;
    return true;
}

bool redact_init(struct redact *redact, struct err *err)
{
    *redact = (struct redact){ 0 };
    if (getrandom(redact->key, sizeof redact->key, 0) != (ssize_t)sizeof redact->key)
        return err_errno(err, "random numbers");
    if (fill_common(&redact->common))
        return true;
    redact_release(redact);
    return err_nomem(err);
}

void redact_release(struct redact *redact)
{
    intern_release(&redact->names);
    intern_release(&redact->common);
    vec_release(&redact->found);
    intern_release(&redact->values);
    vec_release(&redact->patterns);
    free(redact->finder);
    intern_release(&redact->folders);
    vec_release(&redact->hashes);
    intern_release(&redact->seen);
    vec_release(&redact->seen_hashes);
    arena_release(&redact->arena);
    buf_release(&redact->scratch);
    buf_release(&redact->discarded);
    buf_release(&redact->found_values);
    for (size_t i = 0; i < REDACT_MAX_NESTED; i++) {
        json_release(&redact->levels[i].doc);
        vec_release(&redact->levels[i].open);
        buf_release(&redact->levels[i].decoded);
        buf_release(&redact->levels[i].rewritten);
    }
    *redact = (struct redact){ 0 };
}

static bool told(struct redact *redact, struct err *err)
{
    bool failed = redact->failed;
    redact->failed = false;
    return !failed || err_nomem(err);
}

bool redact_add_user(struct redact *redact, struct str name, struct err *err)
{
    if (name.n > 0)
        redact_user(redact, name);
    return told(redact, err);
}

bool redact_add_host(struct redact *redact, struct str name, struct err *err)
{
    if (name.n > 0)
        redact_host(redact, name);
    return told(redact, err);
}

bool redact_add_variable(struct redact *redact, struct str name, struct str value, struct err *err)
{
    redact_learn_variable(redact, name, value);
    return told(redact, err);
}

static bool is_file_path(struct str word)
{
    return str_find_char(word, '/') < word.n || str_ends(word, STR(".py"));
}

/* Learns from a word of the command: --name=value, NAME=value, value. */
static void learn_argument(struct redact *redact, struct str word)
{
    size_t equals = str_find_char(word, '=');
    struct str name = str_first(word, equals);
    struct str value = equals < word.n ? str_from(word, equals + 1) : word;
    if (value.n == 0 || value.p[0] == '-' || (equals == word.n && is_file_path(word)))
        return;
    redact_learn_variable(redact, equals < word.n ? name : STR(""), value);
}

bool redact_add_command(struct redact *redact, const char *const *argv, size_t n, struct err *err)
{
    for (size_t i = 1; i < n; i++) {
        struct str word = str_of(argv[i]), before = str_of(argv[i - 1]);
        if (str_is(before, "-c")) {
            if (!redact_learn(redact, word, err))
                return false;
        } else if (!str_is(before, "-m")) {
            learn_argument(redact, word);
        }
    }
    return told(redact, err);
}

static bool add_entry(struct redact *redact, struct str entry, struct err *err)
{
    size_t equals = str_find_char(entry, '=');
    return redact_add_variable(redact, str_first(entry, equals), str_from(entry, equals + 1), err);
}

bool redact_add_known(struct redact *redact, const struct redact_known *known, struct err *err)
{
    const char *const *entry = known->environment, *const *word = known->command;
    struct str set = known->set;
    bool ok = redact_add_user(redact, str_of(known->user), err) &&
              redact_add_host(redact, str_of(known->host), err);
    for (; ok && entry && *entry; entry++)
        ok = add_entry(redact, str_of(*entry), err);
    for (; ok && set.n > 0; set = str_from(set, str_find_char(set, '\0') + 1))
        ok = add_entry(redact, str_first(set, str_find_char(set, '\0')), err);
    while (word && *word)
        word++;
    return ok && (!word ||
                  redact_add_command(redact, known->command, (size_t)(word - known->command), err));
}

/* --- texts --- */

static void rewrite_any(struct redact *redact, struct str in, struct buf *out)
{
    bool changed = false;
    if (!redact_json(redact, 0, in, out, &changed))
        changed = redact_scan(redact, in, out);
    if (!changed)
        buf_put(out, in);
}

/* Returns whether a text consists of rows of a deep recording, in which each line is JSON. */
static bool is_rows(struct redact *redact, struct str in)
{
    struct str first = str_first(in, str_find_char(in, '\n'));
    struct err ignored = { 0 };
    return first.n < in.n && str_starts(first, STR("{\"")) && str_ends(first, STR("}")) &&
           json_parse(&redact->levels[0].doc, first, &ignored);
}

void redact_text(struct redact *redact, struct str in, struct buf *out)
{
    if (is_rows(redact, in)) {
        while (in.n > 0) {
            size_t n = str_find_char(in, '\n');
            rewrite_any(redact, str_first(in, n), out);
            buf_puts(out, n < in.n ? "\n" : "");
            in = str_from(in, n + 1);
        }
    } else {
        rewrite_any(redact, in, out);
    }
    out->failed |= redact->failed;
    redact->failed = false;
}

bool redact_learn(struct redact *redact, struct str in, struct err *err)
{
    struct buf ignored = BUF_INIT;
    redact->learning = true;
    redact_text(redact, in, &ignored);
    redact->learning = false;
    bool failed = ignored.failed;
    buf_release(&ignored);
    return !failed || err_nomem(err);
}
