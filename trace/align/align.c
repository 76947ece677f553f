#include "trace/align/align_build.h"

#include <stdlib.h>

static bool number_shared_texts(struct align_build *b, struct align_side *side)
{
    const struct outline *o = side->outline;
    side->texts = calloc(o->texts.texts.n + 1, sizeof *side->texts);
    for (size_t i = 0; side->texts && i < o->texts.texts.n; i++) {
        side->texts[i] = intern(&b->texts, o->texts.texts.v[i]);
        if (side->texts[i] == INTERN_NONE)
            return false;
    }
    return side->texts;
}

static bool number_forms(struct align_build *b, struct align_side *side)
{
    const struct outline *o = side->outline;
    side->forms = calloc(o->forms.n + 1, sizeof *side->forms);
    for (size_t i = 0; side->forms && i < o->forms.n; i++) {
        const struct outline_form *f = &o->forms.v[i];
        struct align_form *t = &side->forms[i];
        uint32_t op = side->texts[f->op], args = side->texts[f->args], meta = side->texts[f->meta];
        uint32_t line = align_line(side, f->line);
        t->whole = intern(&b->tokens, ALIGN_KEY(FORM_WHOLE, op, args, meta, line));
        t->spread = intern(&b->tokens, ALIGN_KEY(FORM_SPREAD, op, args, meta));
        t->work = intern(&b->tokens, ALIGN_KEY(FORM_WORK, op, line));
        t->op = intern(&b->tokens, ALIGN_KEY(FORM_OP, op));
        if (t->whole == INTERN_NONE || t->spread == INTERN_NONE || t->work == INTERN_NONE ||
            t->op == INTERN_NONE)
            return false;
    }
    return side->forms;
}

static bool number_events(struct align_build *b, struct align_side *side)
{
    const struct outline *o = side->outline;
    side->events = calloc(o->events.n + 1, sizeof *side->events);
    for (size_t i = 0; side->events && i < o->events.n; i++) {
        const struct outline_event *e = &o->events.v[i];
        struct align_event *t = &side->events[i];
        uint32_t text = side->texts[e->text], line = align_line(side, e->line);
        t->whole = intern(&b->tokens, ALIGN_KEY(EVENT_WHOLE, e->kind, e->asked_by, text, line));
        t->spread = intern(&b->tokens, ALIGN_KEY(EVENT_SPREAD, e->kind, e->asked_by, text));
        t->work = intern(&b->tokens, ALIGN_KEY(EVENT_WORK, e->kind, text));
        if (t->whole == INTERN_NONE || t->spread == INTERN_NONE || t->work == INTERN_NONE)
            return false;
    }
    return side->events;
}

bool align_tokens(struct align_build *b)
{
    for (int i = 0; i < 2; i++)
        if (!number_forms(b, &b->sides[i]) || !number_events(b, &b->sides[i]))
            return false;
    return true;
}

struct align *align_outlines(const struct outline *a, const struct outline *b, struct err *err)
{
    struct align_build *build = calloc(1, sizeof *build);
    if (!build) {
        err_nomem(err);
        return NULL;
    }
    build->align.build = build;
    build->align.a = build->sides[0].outline = a;
    build->align.b = build->sides[1].outline = b;
    if (number_shared_texts(build, &build->sides[0]) &&
        number_shared_texts(build, &build->sides[1]) && align_lines(build) && align_tokens(build) &&
        align_parts(build)) {
        build->align.line_a = build->sides[0].lines;
        build->align.line_b = build->sides[1].lines;
        build->align.n_lines = (uint32_t)build->lines.texts.n;
        return &build->align;
    }
    align_free(&build->align);
    err_nomem(err);
    return NULL;
}

void align_free(struct align *align)
{
    if (!align)
        return;
    struct align_build *b = align->build;
    for (int i = 0; i < 2; i++) {
        struct align_side *side = &b->sides[i];
        free(side->texts);
        free(side->files);
        free(side->lines);
        free(side->lines_seen);
        free(side->forms);
        free(side->events);
    }
    vec_release(&align->recordings);
    vec_release(&align->compiles);
    vec_release(&align->attempts);
    vec_release(&align->graphs);
    vec_release(&align->nodes);
    vec_release(&align->events);
    intern_release(&b->texts);
    intern_release(&b->lines);
    intern_release(&b->tokens);
    free(b);
}
