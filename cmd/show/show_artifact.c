#include <inttypes.h>

#include "cmd/cli/event_text.h"
#include "cmd/cli/nearest.h"
#include "cmd/show/show.h"
#include "trace/base/intern.h"

/* --artifact: prints payloads by the name of their artifact or event. */

struct artifact_match {
    uint32_t record;
    uint32_t index; /* ordinal among those of this name in its attempt */
};

struct artifact_search {
    struct selector part; /* the name in --artifact */
    struct intern seen;   /* "ATTEMPT LABEL" */
    vec_of(uint32_t)
    counts;
    vec_of(struct artifact_match)
    matches;
    struct nearest nearest;
};

/* Returns the ordinal of the next record of this label in its attempt; UINT32_MAX when memory
 * ran out. */
static uint32_t next_ordinal(struct artifact_search *f, uint32_t recording, uint32_t attempt,
                             struct str label)
{
    struct buf key = BUF_INIT;
    buf_printf(&key, "%u %u ", (unsigned)recording, (unsigned)attempt);
    buf_put(&key, label);
    uint32_t id = key.failed ? INTERN_NONE : intern(&f->seen, buf_str(&key));
    buf_release(&key);
    if (id == INTERN_NONE || (id == f->counts.n && !vec_push(&f->counts, 0)))
        return UINT32_MAX;
    return f->counts.v[id]++;
}

static bool offer_record(struct show *show, struct artifact_search *f, uint32_t i, struct err *err)
{
    const struct record *record = &show->trace->records[i];
    struct str name = f->part.kind, event;
    if (record->payload == TRACE_NONE || !show_in_view(show, i, record->attempt))
        return true;
    struct str label = record_label(show->trace, i);
    event = trace_string(show->trace, record->name);
    if (!str_eq(label, name) && !str_eq(event, name)) {
        nearest_offer(&f->nearest, label);
        return true;
    }
    uint32_t index = next_ordinal(f, record->recording, record->attempt, name);
    if (index == UINT32_MAX)
        return err_nomem(err);
    if (f->part.index >= 0 && f->part.index != (int64_t)index)
        return true;
    return vec_push(&f->matches, (struct artifact_match){ i, index }) || err_nomem(err);
}

static bool find_artifacts(struct show *show, struct artifact_search *f, struct err *err)
{
    for (uint32_t i = 0; i < show->trace->n_records; i++)
        if (!offer_record(show, f, i, err))
            return false;
    if (f->matches.n)
        return true;
    if (f->nearest.best.n)
        return err_set(err, ERR_USAGE, "no artifact \"%s\"; did you mean \"%.*s\"?",
                       show->args->artifact, STR_ARG(f->nearest.best));
    struct str option = show_nearest_option(f->part.kind);
    if (option.n)
        return err_set(err, ERR_USAGE, "no artifact \"%s\"; did you mean --%.*s?",
                       show->args->artifact, STR_ARG(option));
    return err_set(err, ERR_USAGE, "no artifact \"%s\"; symtape show --events artifact lists them",
                   show->args->artifact);
}

static int print_text(struct show *show, const struct artifact_search *f, uint32_t limit)
{
    struct err err = { 0 };
    struct str payload;
    for (uint32_t i = 0; i < limit; i++) {
        const struct artifact_match *match = &f->matches.v[i];
        uint32_t attempt = show->trace->records[match->record].attempt;
        struct buf title = BUF_INIT;
        if (!trace_payload(show->trace, match->record, &payload, &err))
            return out_error(show->out, &err);
        if (f->matches.n > 1) {
            buf_puts(&title, i ? "\n==> " : "==> ");
            selector_print_attempt(show->trace, show->trace->records[match->record].recording,
                                   attempt, &title);
            buf_putc(&title, ':');
            buf_put(&title, f->part.kind);
            buf_printf(&title, "#%" PRIu32 " <==\n", match->index);
            out_text(show->out, buf_str(&title));
        }
        buf_release(&title);
        out_exact(show->out, payload);
        if ((f->matches.n > 1 || show->out->data_tty) && !str_ends(payload, STR("\n")))
            out_text(show->out, STR("\n"));
    }
    return EXIT_DONE;
}

static int print_artifacts_json(struct show *show, const struct artifact_search *f, uint32_t limit)
{
    struct err err = { 0 };
    struct json_writer *w = &show->w;
    struct str payload;
    json_open_array(w, "artifacts");
    for (uint32_t i = 0; i < limit; i++) {
        const struct artifact_match *match = &f->matches.v[i];
        const struct record *record = &show->trace->records[match->record];
        if (!trace_payload(show->trace, match->record, &payload, &err))
            return out_error(show->out, &err);
        json_open_object(w, NULL);
        place_attempt_json(show->trace, match->record, record->attempt, w);
        json_put_u64(w, "log_line", record->line);
        json_put_str(w, "event", trace_string(show->trace, record->name));
        json_put_str(w, "name", record_label(show->trace, match->record));
        json_put_u64(w, "index", match->index);
        json_put_str(w, "payload", payload);
        json_close(w);
        show_flush(show);
    }
    json_close(w);
    return EXIT_DONE;
}

int show_artifact(struct show *show)
{
    struct err err = { 0 };
    struct artifact_search f = { .part = SELECTOR_ALL };
    int code;
    if (!selector_parse_part(&f.part, str_of(show->args->artifact), &err) || f.part.kind.n == 0)
        return out_usage(show->out, "--artifact: \"%s\" is not NAME or NAME#I",
                         show->args->artifact);
    f.nearest = nearest_of(f.part.kind);
    if (find_artifacts(show, &f, &err)) {
        uint64_t limit = show->args->limit.value;
        uint32_t n = (uint32_t)f.matches.n;
        if (limit && limit < n)
            n = (uint32_t)limit;
        code = show->args->json ? print_artifacts_json(show, &f, n) : print_text(show, &f, n);
        if (n < f.matches.n)
            show_omitted(show, "artifacts", f.matches.n - n);
    } else {
        code = out_error(show->out, &err);
    }
    intern_release(&f.seen);
    vec_release(&f.counts);
    vec_release(&f.matches);
    return code;
}
