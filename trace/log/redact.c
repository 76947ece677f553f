#include "trace/log/redact.h"

#include "trace/log/redact_parts.h"

/* --- the context --- */

static bool fill_common(struct intern *common)
{
    static const char *const words[] = {
#define WORD(text) #text,
#include "trace/log/redact_words.def"
#undef WORD
#define EVENT(id, name) name,
#include "trace/events.def"
#undef EVENT
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (intern(common, str_of(words[i])) == INTERN_NONE)
            return false;
    return true;
}

bool redact_init(struct redact *redact, struct err *err)
{
    *redact = (struct redact){ 0 };
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
    arena_release(&redact->arena);
    buf_release(&redact->scratch);
    buf_release(&redact->discarded);
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

/* --- texts --- */

void redact_text(struct redact *redact, struct str in, struct buf *out)
{
    bool changed = false;
    if (!redact_json(redact, 0, in, out, &changed))
        changed = redact_scan(redact, in, out);
    if (!changed)
        buf_put(out, in);
    out->failed |= redact->failed;
    redact->failed = false;
}

bool redact_learn(struct redact *redact, struct str in, struct err *err)
{
    struct buf ignored = BUF_INIT;
    redact_text(redact, in, &ignored);
    bool failed = ignored.failed;
    buf_release(&ignored);
    return !failed || err_nomem(err);
}
