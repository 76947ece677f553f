#include "minify/oracle/oracle_hidden.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/base/hash.h"

struct hidden {
    struct oracle oracle; /* the first member: a pointer to it is returned to the caller */
    struct oracle *inner;
    const struct redact_known *known;
    struct arena arena;
};

bool oracle_hide_text(const struct redact_known *known, struct str text, struct arena *arena,
                      struct str *ret, struct err *err)
{
    struct redact redact;
    struct buf out = BUF_INIT;
    if (text.n == 0)
        return true;
    if (!redact_init(&redact, err))
        return false;
    bool ok = redact_add_known(&redact, known, err);
    if (ok) {
        redact_text(&redact, text, &out);
        *ret = arena_copy(arena, buf_str(&out));
        ok = (!out.failed && ret->p) || err_nomem(err);
    }
    buf_release(&out);
    redact_release(&redact);
    return ok;
}

/* Asks the inner oracle and redacts its answer. Several threads ask at the same time, and a
 * redactor has state, so each answer has its own. */
static void ask_hidden(struct oracle *oracle, const struct candidate *candidate,
                       const struct oracle_question *asking, struct answer *answer)
{
    struct hidden *hidden = (struct hidden *)oracle;
    hidden->inner->ask(hidden->inner, candidate, asking, answer);
    if (hidden->inner
            ->cheap) /* the texts of an oracle in this process contain only the candidate */
        return;
    struct str *const texts[] = { &answer->text, &answer->signature.message,
                                  &answer->signature.frame };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!oracle_hide_text(hidden->known, *texts[i], &answer->arena, texts[i], &answer->err)) {
            answer->verdict = VERDICT_BROKEN;
            return;
        }
}

static void free_hidden(struct oracle *oracle)
{
    struct hidden *hidden = (struct hidden *)oracle;
    hidden->inner->free(hidden->inner);
    arena_release(&hidden->arena);
    free(hidden);
}

/* Replaces the id, which contains the oracle's question and is written to the journal, by a
 * hash. */
static bool hide_id(struct hidden *hidden, struct err *err)
{
    char text[64];
    snprintf(text, sizeof text, "anonymous %016" PRIx64, hash_str(hidden->inner->id));
    hidden->oracle.id = arena_copy(&hidden->arena, str_of(text));
    return hidden->oracle.id.p || err_nomem(err);
}

struct oracle *oracle_hidden(struct oracle *inner, const struct redact_known *known,
                             struct err *err)
{
    struct hidden *hidden = calloc(1, sizeof *hidden);
    if (!hidden) {
        inner->free(inner);
        err_nomem(err);
        return NULL;
    }
    hidden->oracle = *inner;
    hidden->oracle.ask = ask_hidden;
    hidden->oracle.free = free_hidden;
    hidden->inner = inner;
    hidden->known = known;
    if (hide_id(hidden, err))
        return &hidden->oracle;
    free_hidden(&hidden->oracle);
    return NULL;
}
