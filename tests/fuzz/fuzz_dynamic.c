/* Lines of a PGO profile up to a line "====", and calls after it: whatever they hold, their values
 * join what is remembered, and what is dynamic stays so. A copy remembers the same. */
#include "tests/fuzz/shared/walk.h"

#include "profile/calls/dynamic/choose_dim.h"
#include "profile/calls/dynamic/pgo_profile.h"

static void observe(struct frame_state *state, const struct call_value *given)
{
    static const struct dynamic_settings AUTOMATIC = { .automatic = true, .assume_static = true };
    const struct py_value *value = &given->value;
    bool tensor = value->kind == PY_TENSOR;
    FUZZ_CHECK(frame_state_observe(state, given->source, value, false, NULL));
    const struct source_state *source = frame_state_find(state, given->source);
    FUZZ_CHECK(source || (!tensor && value->kind != PY_INT && value->kind != PY_FLOAT));
    if (tensor)
        observe_marks(state, given->source, value->tensor);
    for (uint32_t i = 0; tensor && i < value->tensor->n_dims; i++)
        choose_dim(&AUTOMATIC, source, value->tensor, i, false);
    if (source && source->size.kind == ATOM_INT && tensor)
        FUZZ_CHECK(source->size.n == value->tensor->n_dims);
}

static void copy(const struct frame_state *state)
{
    struct frame_state whole = { 0 }, one = { 0 };
    FUZZ_CHECK(frame_state_copy(&whole, state));
    FUZZ_CHECK(whole.sources.n == state->sources.n);
    for (size_t i = 0; i < state->sources.n; i++) {
        const struct source_state *from = &state->sources.v[i], *to = &whole.sources.v[i];
        FUZZ_CHECK(from->size.kind == to->size.kind && from->size.n == to->size.n);
        FUZZ_CHECK(!to->size.v || to->size.v != from->size.v);
        FUZZ_CHECK(frame_state_copy_source(&one, &whole, from->source));
    }
    FUZZ_CHECK(one.sources.n == whole.sources.n);
    frame_state_release(&whole);
    frame_state_release(&one);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct call_log log = { 0 };
    struct err err = { .kind = ERR_NONE };
    struct frame_state state = { 0 };
    struct world world = { .sources = &log.sources };
    struct str input = { (const char *)data, n };
    size_t end = str_find(input, STR("\n====\n"));
    struct str lines = str_first(input, end);
    if (call_log_read(&log, str_from(input, end + 6), &err)) {
        while (lines.n) {
            size_t line = str_find_char(lines, '\n');
            FUZZ_CHECK(pgo_line_read(str_first(lines, line), &world, &state));
            lines = str_from(lines, line + 1);
        }
        copy(&state);
        for (size_t i = 0; i < log.calls.n; i++)
            for (uint32_t k = 0; k < log.calls.v[i].n_values; k++)
                observe(&state, &log.calls.v[i].values[k]);
        copy(&state);
    }
    FUZZ_CHECK(err.kind == ERR_NONE || err.kind == ERR_INPUT);
    frame_state_release(&state);
    world_release(&world);
    call_log_release(&log);
    return 0;
}
