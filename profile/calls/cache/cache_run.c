#include "profile/calls/cache/cache_builder.h"

#include "trace/events/settings.h"

const char *lookup_outcome_name(enum lookup_outcome outcome)
{
    static const char *const names[] = { "hit", "compiled", "no entry", "eager", "unknown" };
    return names[outcome];
}

/* ---- Limits ---- */

static void read_limit(struct str value, uint64_t *limit)
{
    uint64_t number;
    if (!*limit && str_to_u64(value, &number))
        *limit = number;
}

static bool read_limits(struct cache_builder *b, uint32_t recording)
{
    struct cache_limits *limits = &b->run->limits;
    struct setting_list *list = settings_read(b->trace, b->err);
    if (!list)
        return false;
    *limits = b->options->limits;
    for (uint32_t i = 0; i < list->n; i++) {
        const struct setting *s = &list->settings[i];
        if (!str_is(s->module, "torch._dynamo.config") ||
            b->trace->records[s->record].recording != recording)
            continue;
        if (str_is(s->name, "recompile_limit"))
            read_limit(s->value, &limits->recompile);
        else if (str_is(s->name, "accumulated_recompile_limit"))
            read_limit(s->value, &limits->accumulated);
    }
    settings_free(list);
    /* The defaults of torch/_dynamo/config.py. */
    read_limit(STR("8"), &limits->recompile);
    read_limit(STR("256"), &limits->accumulated);
    return true;
}

/* ---- Which code object a function is ---- */

const struct tape_compile *cache_compile_of(const struct cache_builder *b, uint32_t code)
{
    return tape_code_compile(&b->tape.codes.v[code], b->choice.states.v[code].next);
}

static bool code_of(struct cache_builder *b, const struct program_call *call, uint32_t *ret)
{
    while (b->form_codes.n <= call->form)
        if (!vec_push(&b->form_codes, 0))
            return err_nomem(b->err);
    if (!b->form_codes.v[call->form]) {
        if (!code_choice_make(&b->choice, call, ret))
            return err_nomem(b->err);
        b->form_codes.v[call->form] = *ret == CALL_NONE ? 1 : *ret + 2;
    }
    *ret = b->form_codes.v[call->form] == 1 ? CALL_NONE : b->form_codes.v[call->form] - 2;
    return true;
}

/* ---- Calls ---- */

static void count(struct cache_run *run, const struct call_log *log, const struct lookup_row *row)
{
    struct lookup_totals *totals = log->calls.v[row->call].inside ? &run->inside : &run->calls;
    totals->lookups++;
    totals->compile_seconds += row->seconds;
    totals->hits += row->outcome == LOOKUP_HIT;
    totals->eager += row->outcome == LOOKUP_EAGER;
    totals->unknown += row->outcome == LOOKUP_UNKNOWN;
    totals->compiles += row->outcome == LOOKUP_COMPILED || row->outcome == LOOKUP_NO_ENTRY;
    totals->assumed +=
        row->outcome == LOOKUP_COMPILED && run->entries.v[row->answered].assumed_from.n;
    if (row->outcome != LOOKUP_HIT)
        return;
    run->entries.v[row->answered].hits++;
    run->saved_seconds += run->entries.v[row->answered].seconds;
}

/* Returns whether a check found the reason that PyTorch logged. */
static bool is_logged(const struct entry_check_row *check, struct str logged)
{
    return check->verdict == GUARDS_FAIL &&
           (str_starts(check->reason, str_trim(logged)) ||
            (str_is(check->reason, BACKEND_MISMATCH) && str_starts(logged, check->reason)));
}

/* Returns whether what the tape logged for a compile ("0/1: self.n == 4") is what this look-up
 * found: the same entries in the same order, each turned away by the same guard, or by one on a
 * value of which the call says nothing. */
static bool fits(struct cache_builder *b, const struct lookup_row *row,
                 const struct tape_compile *compile, bool *ret)
{
    const struct recompile *why = compile->why;
    *ret = why ? why->n_reasons == row->n_checks : row->n_checks == 0;
    for (uint32_t i = 0; *ret && why && i < row->n_checks; i++) {
        const struct entry_check_row *check = lookup_check(b->run, row, i);
        const struct cache_entry *entry = &b->run->entries.v[check->entry];
        struct str logged = why->reasons[i].guard;
        *ret = str_eq(why->reasons[i].compile, entry->compile);
        if (!*ret || is_logged(check, logged))
            continue;
        if (!entry_guards_assumed(&entry->guards, &b->world, logged, ret))
            return err_nomem(b->err);
    }
    return true;
}

/* Returns whether a value that the call lists is one by which, as the tape logged, an entry turned
 * it away. */
static bool confirms(const struct cache_builder *b, const struct lookup_row *row,
                     const struct tape_compile *compile)
{
    const struct recompile *why = compile->why;
    for (uint32_t i = 0; why && i < why->n_reasons && i < row->n_checks; i++) {
        const struct entry_check_row *check = lookup_check(b->run, row, i);
        if (check->source.n && is_logged(check, why->reasons[i].guard))
            return true;
    }
    return false;
}

/* Notes the values that, as the tape logged, turned the call away, and that it does not list. */
static bool note_unlisted(struct cache_builder *b, const struct lookup_row *row,
                          const struct tape_compile *compile)
{
    const struct recompile *why = compile->why;
    for (uint32_t i = 0; why && i < why->n_reasons && i < row->n_checks; i++) {
        const struct entry_check_row *check = lookup_check(b->run, row, i);
        const struct cache_entry *entry = &b->run->entries.v[check->entry];
        struct str logged = str_trim(why->reasons[i].guard);
        if (!str_eq(why->reasons[i].compile, entry->compile) || is_logged(check, logged))
            continue;
        uint32_t source;
        if (!entry_guards_unlisted(&entry->guards, &b->world, logged, &source) ||
            (source != INTERN_NONE &&
             intern(&b->run->unlisted, intern_text(&b->log->sources, source)) == INTERN_NONE))
            return err_nomem(b->err);
    }
    return true;
}

/* Removes the checks behind the entry that answered. */
static void forget_later_checks(const struct cache_run *run, struct lookup_row *row)
{
    uint32_t n = 0;
    while (n < row->n_checks && lookup_check(run, row, n)->entry != row->answered)
        n++;
    row->n_checks = n < row->n_checks ? n + 1 : n;
}

/* Decides whether a call that an entry answers compiled in truth, since a value changed that the
 * call does not list. */
static bool compiled_in_truth(struct cache_builder *b, const struct program_call *call,
                              const struct lookup_row *row, bool *ret)
{
    const struct tape_compile *next = cache_compile_of(b, row->code);
    struct call_kind *kind = &b->memo.kinds.v[b->kind];
    *ret = false;
    if (row->answered == CALL_NONE || !b->by_evidence || !next || !next->why ||
        (kind->unfit_check == row->first_check && kind->unfit_compile == next->order))
        return true;
    if (!cache_enter(b, call))
        return false;
    if (!fits(b, row, next, ret))
        return false;
    if (!*ret && !b->options->no_memo) {
        kind->unfit_check = row->first_check;
        kind->unfit_compile = next->order;
    }
    return true;
}

/* Decides whether a call that no entry answers is compiled. Returns false when memory ran out. */
static bool stance_compiles(struct cache_builder *b, const struct program_call *call,
                            struct lookup_row *row, bool *ret)
{
    *ret = call->stance == STANCE_DEFAULT;
    switch (call->stance) {
    case STANCE_EAGER_ON_RECOMPILE: row->why = "stance eager_on_recompile"; break;
    case STANCE_FAIL_ON_RECOMPILE: row->why = "stance fail_on_recompile"; break;
    case STANCE_EAGER_THEN_COMPILE: {
        size_t met = b->met_eagerly.texts.n;
        uint32_t id = intern(&b->met_eagerly, b->run->codes.v[row->code].name);
        row->why = "stance eager_then_compile";
        *ret = id < met;
        return id != INTERN_NONE;
    }
    default: break;
    }
    return true;
}

/* Looks a call up, and compiles it if no entry answers. */
static bool answer_call(struct cache_builder *b, const struct program_call *call,
                        struct lookup_row *row)
{
    struct cache_code *code = &b->run->codes.v[row->code];
    bool compiled;
    b->entered = false;
    if (!check_memo_meet(&b->memo, call, &b->kind))
        return err_nomem(b->err);
    if (!cache_look_up(b, code, call, row) || !compiled_in_truth(b, call, row, &compiled))
        return false;
    if (row->answered != CALL_NONE && !b->choice.states.v[row->code].skipped && !compiled) {
        row->outcome = LOOKUP_HIT;
        if (!b->options->all_checks)
            forget_later_checks(b->run, row);
        cache_move_to_front(code, row->answered);
        return cache_learn(b, row->answered, call);
    }
    if (!cache_enter(b, call))
        return false;
    bool compiles;
    if (!stance_compiles(b, call, row, &compiles))
        return err_nomem(b->err);
    if (!compiles) {
        row->answered = CALL_NONE;
        row->outcome = LOOKUP_EAGER;
        return true;
    }
    const struct tape_compile *next = cache_compile_of(b, row->code);
    bool fitting = true;
    if (next && !next->refused && !cache_is_what_if(b) && !fits(b, row, next, &fitting))
        return false;
    b->run->n_contradictions += !fitting;
    if (next && fitting && confirms(b, row, next))
        b->choice.states.v[row->code].confirmed = true;
    if (next && !cache_is_what_if(b) && !note_unlisted(b, row, next))
        return false;
    row->answered = CALL_NONE;
    return cache_compile_call(b, call, row);
}

/* Forgets what torch._dynamo.reset_code_caches() forgets, and reset(). */
static void follow_resets(struct cache_builder *b, const struct program_call *call)
{
    if (call->generation > b->choice.generation) {
        code_choice_begin(&b->choice, call->generation);
        b->form_codes.n = 0;
    }
    if (call->resets <= b->resets)
        return;
    b->resets = call->resets;
    check_memo_release(&b->memo);
    b->memo = (struct check_memo){ 0 };
    for (size_t i = 0; i < b->run->codes.n; i++) {
        b->run->codes.v[i].order.n = 0;
        b->choice.states.v[i].skipped = false;
        region_set_release(&b->choice.states.v[i].run_only);
        b->choice.states.v[i].run_only = (struct region_set){ 0 };
    }
}

static bool run_call(struct cache_builder *b, uint32_t number)
{
    const struct program_call *call = &b->log->calls.v[number];
    struct lookup_row row = { .call = number, .answered = CALL_NONE };
    if (call->backward_of >= 0)
        return cache_backward_call(b, number);
    follow_resets(b, call);
    if (!code_of(b, call, &row.code))
        return false;
    if (row.code == CALL_NONE) {
        bool never = call->code.n && b->log->of_tape;
        row.outcome = never ? LOOKUP_EAGER : LOOKUP_UNKNOWN;
        row.why = "the tape has no compile of it";
    } else if (call->stance == STANCE_FORCE_EAGER) {
        row.outcome = LOOKUP_EAGER;
        row.why = "stance force_eager";
    } else if (!answer_call(b, call, &row)) {
        return false;
    }
    count(b->run, b->log, &row);
    return vec_push(&b->run->lookups, row) || err_nomem(b->err);
}

static bool add_codes(struct cache_builder *b)
{
    for (size_t i = 0; i < b->tape.codes.n; i++) {
        const struct tape_code *tape = &b->tape.codes.v[i];
        struct buf name = BUF_INIT;
        put_code_name(tape, &name);
        struct cache_code code = { .name = arena_copy(&b->run->arena, buf_str(&name)),
                                   .line = tape->line };
        /* The parts point into the name: "FILE:LINE:FUNCTION". */
        code.file = str_first(code.name, tape->file.n);
        code.function = str_from(code.name, code.name.n - tape->function.n);
        bool ok = !name.failed && code.name.p && vec_push(&b->run->codes, code);
        buf_release(&name);
        if (!ok)
            return err_nomem(b->err);
    }
    return true;
}

/* Counts the compiles of the called functions that no call asked for. */
static void count_unused(struct cache_builder *b)
{
    for (uint32_t i = 0; i < b->choice.states.n; i++)
        for (size_t k = 0; b->choice.states.v[i].claimed && k < b->tape.codes.v[i].compiles.n; k++)
            b->run->n_unused +=
                b->tape.codes.v[i].compiles.v[k].number >= b->choice.states.v[i].next;
}

static bool list_guessed(struct cache_builder *b)
{
    for (uint32_t i = 0; i < b->choice.states.n; i++) {
        const struct code_state *state = &b->choice.states.v[i];
        if (state->guessed && !state->confirmed &&
            !vec_push(&b->run->guessed, (struct guessed_calls){ state->calls_of, i }))
            return err_nomem(b->err);
    }
    return true;
}

static uint32_t count_misfits(const struct cache_run *run)
{
    return run->n_contradictions + run->n_unused + run->calls.unknown;
}

static void forget_states(struct cache_builder *b)
{
    code_choice_release(&b->choice);
    check_memo_release(&b->memo);
    b->memo = (struct check_memo){ 0 };
    vec_release(&b->sized);
    hash_index_release(&b->sized_index);
    vec_release(&b->forwards);
    hash_index_release(&b->forward_index);
    b->n_forwards = 0;
    b->form_codes.n = 0;
    b->tries = 0;
    b->rejects = 0;
    condition_pool_release(&b->rejections);
    arena_release(&b->rejection_texts);
    b->rejections = (struct condition_pool){ 0 };
    b->rejection_texts = (struct arena){ 0 };
    intern_release(&b->met_eagerly);
    b->resets = 0;
    world_forget(&b->world);
}

static bool run_calls(struct cache_builder *b, uint32_t recording)
{
    forget_states(b);
    bool ok = read_limits(b, recording) && add_codes(b) &&
              (code_choice_init(&b->choice, &b->tape) || err_nomem(b->err));
    for (uint32_t i = 0; ok && i < b->log->calls.n; i++)
        ok = run_call(b, i);
    if (ok)
        count_unused(b);
    return ok && list_guessed(b);
}

/* Values may change that the calls do not list. If the tape contradicts the look-ups, they are made
 * once more with what it logged for its compiles as evidence, and the better of both is kept. */
static bool run_with_evidence(struct cache_builder *b, uint32_t recording)
{
    struct cache_run first = *b->run, second = { 0 };
    if (!count_misfits(&first) || cache_is_what_if(b))
        return true;
    *b->run = second;
    b->by_evidence = true;
    bool ok = run_calls(b, recording);
    bool better = ok && count_misfits(b->run) < count_misfits(&first);
    second = *b->run;
    cache_run_release(better ? &first : &second);
    *b->run = better ? second : first;
    return ok;
}

bool cache_run_make(struct cache_run *run, struct trace *trace, uint32_t recording,
                    struct call_log *log, const struct cache_options *options, struct err *err)
{
    struct cache_builder b = { .run = run,
                               .trace = trace,
                               .log = log,
                               .options = options,
                               .world = { .sources = &log->sources,
                                          .n_listed = log->of_tape ? log->n_listed : 0 },
                               .err = err };
    *run = (struct cache_run){ 0 };
    bool ok = tape_compiles_read(&b.tape, trace, recording, err) &&
              (b.tape.codes.n ||
               err_set(err, ERR_USAGE, "%.*s has no compiles of Dynamo", STR_ARG(trace->path))) &&
              run_calls(&b, recording) && run_with_evidence(&b, recording) &&
              artifact_lookups_read(&run->artifacts, trace, recording, err);
    forget_states(&b);
    vec_release(&b.form_codes);
    buf_release(&b.reason);
    world_release(&b.world);
    tape_compiles_release(&b.tape);
    return ok;
}

void cache_run_release(struct cache_run *run)
{
    for (size_t i = 0; i < run->codes.n; i++)
        vec_release(&run->codes.v[i].order);
    for (size_t i = 0; i < run->entries.n; i++)
        entry_guards_release(&run->entries.v[i].guards);
    vec_release(&run->codes);
    vec_release(&run->entries);
    vec_release(&run->lookups);
    vec_release(&run->backwards);
    vec_release(&run->found);
    hash_index_release(&run->found_index);
    intern_release(&run->texts);
    artifact_lookups_release(&run->artifacts);
    intern_release(&run->unlisted);
    vec_release(&run->guessed);
    vec_release(&run->checks);
    arena_release(&run->arena);
}
