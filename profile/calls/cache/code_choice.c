#include "profile/calls/cache/code_choice.h"

void put_code_name(const struct tape_code *code, struct buf *out)
{
    buf_printf(out, "%.*s:%u:%.*s", STR_ARG(code->file), code->line, STR_ARG(code->function));
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_order(const void *a, const void *b)
{
    const struct queued_compile *x = a, *y = b;
    return compare(x->order, y->order);
}

static int by_name(const void *a, const void *b)
{
    const struct queued_compile *x = a, *y = b;
    return x->name == y->name ? compare(x->order, y->order) : compare(x->name, y->name);
}

static bool has_guards(const struct tape_compile *compile)
{
    return !compile->refused && compile->tree.n;
}

/* Each step halves the path, so that what is used is passed over in nearly constant time. */
size_t code_unused(struct code_state *state, size_t at)
{
    uint32_t *unused = state->unused.v;
    while (unused[at] != at) {
        unused[at] = unused[unused[at]];
        at = unused[at];
    }
    return at;
}

void code_use(struct code_state *state, size_t at)
{
    state->unused.v[at] = (uint32_t)at + 1;
}

void code_skip_used(const struct tape_code *code, struct code_state *state)
{
    for (size_t i = tape_code_from(code, state->next);
         i < code->compiles.n && code->compiles.v[i].number == state->next &&
         has_guards(&code->compiles.v[i]) && state->unused.v[i] != i;
         i++)
        state->next++;
}

/* A code object whose compiles that have guards are all unused. */
static bool add_state(struct code_choice *choice, const struct tape_code *code)
{
    struct code_state state = { 0 };
    size_t n = code->compiles.n;
    bool ok = n < UINT32_MAX && vec_reserve(&state.unused, n + 1);
    for (size_t i = 0; ok && i < n; i++)
        ok = vec_push(&state.unused, (uint32_t)(has_guards(&code->compiles.v[i]) ? i : i + 1)) &&
             vec_push(&state.rejected, CONDITION_NONE);
    if (ok && vec_push(&state.unused, (uint32_t)n) && vec_push(&choice->states, state))
        return true;
    vec_release(&state.unused);
    vec_release(&state.rejected);
    return false;
}

/* Makes a text that two generations have two. */
static bool make_key(struct code_choice *choice, uint64_t generation, struct str text)
{
    buf_clear(&choice->key);
    buf_zigzag(&choice->key, (int64_t)generation);
    buf_put(&choice->key, text);
    return !choice->key.failed;
}

static uint32_t intern_key(struct code_choice *choice, struct intern *names, uint64_t generation,
                           const struct buf *text)
{
    return !text->failed && make_key(choice, generation, buf_str(text))
               ? intern(names, buf_str(&choice->key))
               : INTERN_NONE;
}

static uint32_t find_key(struct code_choice *choice, const struct intern *names, struct str text)
{
    return make_key(choice, choice->generation, text) ? intern_find(names, buf_str(&choice->key))
                                                      : INTERN_NONE;
}

/* Adds a code object under its names. */
static bool add_code(struct code_choice *choice, uint32_t id)
{
    const struct tape_code *code = &choice->tape->codes.v[id];
    struct buf text = BUF_INIT;
    put_code_name(code, &text);
    uint32_t full = intern_key(choice, &choice->full_names, code->generation, &text);
    buf_clear(&text);
    buf_put(&text, code->function);
    uint32_t name = intern_key(choice, &choice->names, code->generation, &text);
    buf_release(&text);
    if (full == INTERN_NONE || name == INTERN_NONE ||
        (full == choice->named.n && !vec_push(&choice->named, id)) ||
        (name == choice->queues.n &&
         !vec_push(&choice->queues, (struct compile_queue){ .code = id })) ||
        !add_state(choice, code))
        return false;
    for (size_t i = 0; i < code->compiles.n; i++) {
        struct queued_compile compile = { .code = id,
                                          .name = name,
                                          .order = code->compiles.v[i].order,
                                          .number = code->compiles.v[i].number };
        if (!vec_push(&choice->by_name, compile) || !vec_push(&choice->by_order, compile))
            return false;
    }
    return true;
}

void code_choice_begin(struct code_choice *choice, uint64_t generation)
{
    choice->generation = generation;
    vec_release(&choice->chosen);
    intern_release(&choice->functions);
}

bool code_choice_init(struct code_choice *choice, const struct tape_compiles *tape)
{
    *choice = (struct code_choice){ .tape = tape };
    for (uint32_t i = 0; i < tape->codes.n; i++)
        if (!add_code(choice, i))
            return false;
    if (choice->by_name.n) {
        qsort(choice->by_name.v, choice->by_name.n, sizeof *choice->by_name.v, by_name);
        qsort(choice->by_order.v, choice->by_order.n, sizeof *choice->by_order.v, by_order);
    }
    for (uint32_t i = 0; i < choice->by_name.n; i++) {
        struct compile_queue *queue = &choice->queues.v[choice->by_name.v[i].name];
        queue->first = queue->end ? queue->first : i;
        queue->end = i + 1;
    }
    return true;
}

static bool is_done(const struct code_choice *choice, const struct queued_compile *compile)
{
    return compile->number < choice->states.v[compile->code].next;
}

static uint32_t choose_named(struct code_choice *choice, uint32_t name)
{
    struct compile_queue *queue = &choice->queues.v[name];
    while (queue->first < queue->end && is_done(choice, &choice->by_name.v[queue->first]))
        queue->first++;
    return queue->first < queue->end ? choice->by_name.v[queue->first].code : queue->code;
}

static bool is_over(const struct code_choice *choice, uint32_t code)
{
    return choice->tape->codes.v[code].generation < choice->generation;
}

/* Returns the code object if it is one of the present generation. */
static uint32_t if_present(const struct code_choice *choice, uint32_t code)
{
    return choice->tape->codes.v[code].generation == choice->generation ? code : CALL_NONE;
}

static uint32_t choose_unclaimed(struct code_choice *choice)
{
    while (choice->next < choice->by_order.n &&
           (is_done(choice, &choice->by_order.v[choice->next]) ||
            is_over(choice, choice->by_order.v[choice->next].code) ||
            choice->states.v[choice->by_order.v[choice->next].code].claimed))
        choice->next++;
    if (choice->next < choice->by_order.n)
        return if_present(choice, choice->by_order.v[choice->next].code);
    while (choice->next_code < choice->states.n &&
           (choice->states.v[choice->next_code].claimed || is_over(choice, choice->next_code)))
        choice->next_code++;
    return choice->next_code < choice->states.n ? if_present(choice, choice->next_code) : CALL_NONE;
}

/* "Block.forward" and "power:a" are forward and power. */
static struct str last_name(struct str function)
{
    function = str_first(function, str_find_char(function, ':'));
    size_t dot = function.n;
    while (dot && function.p[dot - 1] != '.')
        dot--;
    return str_from(function, dot);
}

/* The code object of the frame id that the call tells, if it has the name, too. */
static uint32_t choose_framed(struct code_choice *choice, const struct program_call *call)
{
    const struct tape_code *code =
        call->frame_id < 0
            ? NULL
            : tape_code_find(choice->tape, choice->generation, (uint64_t)call->frame_id);
    if (!code)
        return CALL_NONE;
    buf_clear(&choice->key);
    put_code_name(code, &choice->key);
    return !choice->key.failed && str_eq(buf_str(&choice->key), call->code)
               ? (uint32_t)(code - choice->tape->codes.v)
               : CALL_NONE;
}

static uint32_t choose(struct code_choice *choice, const struct program_call *call, bool *guessed)
{
    uint32_t name = find_key(choice, &choice->names, last_name(call->function));
    uint32_t full = find_key(choice, &choice->full_names, call->code);
    uint32_t framed = choose_framed(choice, call);
    if (framed != CALL_NONE)
        return framed;
    if (call->code.n)
        return full == INTERN_NONE ? CALL_NONE : choice->named.v[full];
    *guessed = name == INTERN_NONE;
    return *guessed ? choose_unclaimed(choice) : choose_named(choice, name);
}

bool code_choice_make(struct code_choice *choice, const struct program_call *call, uint32_t *ret)
{
    buf_clear(&choice->key);
    buf_counted(&choice->key, call->function);
    buf_counted(&choice->key, call->code);
    buf_zigzag(&choice->key, call->frame_id);
    uint32_t id =
        choice->key.failed ? INTERN_NONE : intern(&choice->functions, buf_str(&choice->key));
    if (id == INTERN_NONE)
        return false;
    if (id == choice->chosen.n) {
        bool guessed = false;
        uint32_t code = choose(choice, call, &guessed);
        if (!vec_push(&choice->chosen, code))
            return false;
        if (code != CALL_NONE) {
            choice->states.v[code].claimed = true;
            choice->states.v[code].guessed = guessed;
            choice->states.v[code].calls_of = call->function;
        }
    }
    *ret = choice->chosen.v[id];
    return true;
}

void code_choice_release(struct code_choice *choice)
{
    for (size_t i = 0; i < choice->states.n; i++)
        region_set_release(&choice->states.v[i].run_only), vec_release(&choice->states.v[i].unused),
            vec_release(&choice->states.v[i].rejected);
    vec_release(&choice->states);
    vec_release(&choice->named);
    vec_release(&choice->queues);
    vec_release(&choice->by_name);
    vec_release(&choice->by_order);
    vec_release(&choice->chosen);
    intern_release(&choice->full_names);
    intern_release(&choice->names);
    intern_release(&choice->functions);
    buf_release(&choice->key);
}
