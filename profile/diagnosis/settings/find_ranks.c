/* Findings: ranks of one program that did different things. */
#include "profile/diagnosis/finder.h"

enum { MOST_DIFFERENCES = 20 };

/* Returns whether all recordings are ranks of one program. */
static bool are_ranks(const struct profile *p)
{
    for (uint32_t i = 0; i < p->n_recordings; i++)
        if (p->recordings[i].rank < 0 ||
            (i > 0 && p->recordings[i].input != p->recordings[0].input))
            return false;
    return p->n_recordings > 1;
}

/* Returns the recording whose value differs from those of all others; PROFILE_NONE if several do.
 */
static uint32_t odd_recording(const struct profile *p, const int64_t *values)
{
    for (uint32_t i = 0; i < p->n_recordings && p->n_recordings > 2; i++) {
        bool odd = true;
        for (uint32_t k = 0; k < p->n_recordings && odd; k++)
            odd = k == i || (values[k] != values[i] && values[k] == values[i == 0 ? 1 : 0]);
        if (odd)
            return i;
    }
    return PROFILE_NONE;
}

static void put_value(struct buf *out, const struct profile_difference *is, int64_t value)
{
    if (value == PROFILE_ABSENT)
        buf_puts(out, "-");
    else if (str_is(str_of(is->what), "present"))
        buf_puts(out, value ? "yes" : "no");
    else if (str_is(str_of(is->what), "status"))
        buf_puts(out, attempt_status_name((enum attempt_status)value));
    else
        buf_printf(out, "%lld", (long long)value);
}

static void add_evidence(struct finder *d, struct finding_build *f,
                         const struct profile_difference *is)
{
    struct buf text = BUF_INIT;
    buf_printf(&text, "compile %.*s, %s: ", STR_ARG(is->compile), is->what);
    for (uint32_t i = 0; i < d->p->n_recordings && text.n < 500; i++) {
        buf_printf(&text, "%s%.*s ", i ? ", " : "", STR_ARG(d->p->recordings[i].short_name));
        put_value(&text, is, is->values[i]);
    }
    if (text.failed)
        err_nomem(&d->err);
    else
        find_evidence(d, f, "%.*s", STR_ARG(buf_str(&text)));
    buf_release(&text);
}

static void write_ranks(struct finder *d, struct finding_build *f,
                        const struct profile_difference *first)
{
    uint32_t odd = odd_recording(d->p, first->values);
    if (odd != PROFILE_NONE) {
        f->finding.recording = odd;
        find_cause(d, f, "%.*s did other things than the other ranks, first in compile %.*s",
                   STR_ARG(d->p->recordings[odd].short_name), STR_ARG(first->compile));
    } else if (d->p->n_recordings == 2 && str_is(str_of(first->what), "present")) {
        find_cause(d, f, "%.*s has a compile %.*s, and %.*s has not",
                   STR_ARG(d->p->recordings[first->values[0] ? 0 : 1].short_name),
                   STR_ARG(first->compile),
                   STR_ARG(d->p->recordings[first->values[0] ? 1 : 0].short_name));
    } else {
        find_cause(d, f, "the ranks did different things, first in compile %.*s",
                   STR_ARG(first->compile));
    }
}

void find_ranks(struct finder *d)
{
    struct finding_build *f = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; are_ranks(d->p) && i < d->p->n_differences && n < MOST_DIFFERENCES; i++) {
        const struct profile_difference *is = &d->p->differences[i];
        if (str_is(str_of(is->what), "ns")) /* times are never the same twice */
            continue;
        if (n++ == 0) {
            f = find_add(d, FINDING_RANKS, NULL, STR("ranks"));
            if (!f)
                return;
            write_ranks(d, f, is);
        }
        add_evidence(d, f, is);
    }
}
