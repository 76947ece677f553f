#include "profile/calls/dynamic/choose_dim.h"
#include "profile/calls/dynamic/pgo_profile.h"
#include "tests/harness.h"

struct made_tensor {
    int64_t sizes[4], strides[4];
    struct tensor_value tensor;
    struct py_value value;
};

static struct py_value *make_tensor(struct made_tensor *ret, uint32_t n, const int64_t *sizes,
                                    const int64_t *strides)
{
    memset(ret, 0, sizeof *ret);
    for (uint32_t i = 0; i < n; i++) {
        ret->sizes[i] = sizes[i];
        ret->strides[i] = strides[i];
    }
    ret->tensor =
        (struct tensor_value){ .n_dims = n, .sizes = ret->sizes, .strides = ret->strides };
    ret->value = (struct py_value){ .kind = PY_TENSOR, .tensor = &ret->tensor };
    return &ret->value;
}

#define SIZES(...) ((const int64_t[]){ __VA_ARGS__ })

static void observe(struct frame_state *state, const struct py_value *value, state_changes *changes)
{
    assert_true(frame_state_observe(state, 5, value, false, changes));
}

static void check_atom(struct atom atom, enum atom_kind kind, int64_t integer)
{
    assert_int_equal(atom.kind, kind);
    if (kind != ATOM_DYNAMIC)
        assert_int_equal(atom.integer, integer);
}

static void test_sizes(void **unused)
{
    (void)unused;
    struct frame_state state = { 0 };
    state_changes changes = { 0 };
    struct made_tensor made;
    observe(&state, make_tensor(&made, 3, SIZES(4, 10, 16), SIZES(160, 16, 1)), &changes);
    const struct source_state *x = frame_state_find(&state, 5);
    assert_non_null(x);
    assert_null(frame_state_find(&state, 6));
    assert_int_equal(x->scalar.kind, ATOM_DYNAMIC);
    check_atom(x->size.v[0], ATOM_INT, 4);
    check_atom(x->stride.v[0], ATOM_INFER, 1);
    check_atom(x->stride.v[1], ATOM_INFER, 2);
    check_atom(x->stride.v[2], ATOM_INT, 1);
    assert_int_equal(changes.n, 0);

    observe(&state, make_tensor(&made, 3, SIZES(6, 10, 16), SIZES(160, 16, 1)), &changes);
    assert_true(is_size_dynamic(x, 0));
    assert_false(is_size_dynamic(x, 1));
    assert_false(is_stride_dynamic(x, 0));
    assert_int_equal(changes.n, 1);
    assert_int_equal(changes.v[0].dim, 0);
    check_atom(changes.v[0].from, ATOM_INT, 4);
    check_atom(changes.v[0].to, ATOM_INT, 6);

    /* A size of 1 makes two strides equal; the first of them is the product of another dimension.
     */
    observe(&state, make_tensor(&made, 3, SIZES(5, 1, 16), SIZES(16, 16, 1)), &changes);
    check_atom(x->stride.v[0], ATOM_DYNAMIC, 0);
    assert_false(is_stride_dynamic(x, 0)); /* only while all sizes are integers */

    observe(&state, make_tensor(&made, 2, SIZES(5, 1), SIZES(1, 1)), &changes);
    assert_int_equal(x->size.kind, ATOM_DYNAMIC);
    assert_true(is_size_dynamic(x, 7));
    assert_int_equal(changes.v[changes.n - 1].dim, CHANGE_ALL);
    vec_release(&changes);
    frame_state_release(&state);
}

static void test_strides(void **unused)
{
    (void)unused;
    struct frame_state state = { 0 };
    struct made_tensor made;
    observe(&state, make_tensor(&made, 2, SIZES(4, 6), SIZES(6, 1)), NULL);
    observe(&state, make_tensor(&made, 2, SIZES(4, 6), SIZES(1, 4)), NULL);
    const struct source_state *x = frame_state_find(&state, 5);
    assert_true(is_stride_dynamic(x, 0) && is_stride_dynamic(x, 1));
    frame_state_release(&state);
}

static void test_scalars(void **unused)
{
    (void)unused;
    struct frame_state state = { 0 }, copy = { 0 };
    struct made_tensor made;
    const struct py_value two = { .kind = PY_INT, .integer = 2 };
    const struct py_value half = { .kind = PY_FLOAT, .real = 0.5 };
    const struct py_value text = { .kind = PY_STR };
    const struct dynamic_settings automatic = { .automatic = true,
                                                .assume_static = true,
                                                .unspecialized_floats = true };
    const struct dynamic_settings dynamic = { .automatic = true };
    observe(&state, &text, NULL);
    assert_null(frame_state_find(&state, 5));
    observe(&state, &two, NULL);
    const struct source_state *n = frame_state_find(&state, 5);
    check_atom(n->scalar, ATOM_INT, 2);
    assert_int_equal(choose_scalar(&automatic, n, &two, false), DIM_STATIC);
    assert_int_equal(choose_scalar(&automatic, n, &two, true), DIM_DYNAMIC);
    assert_int_equal(choose_scalar(&dynamic, n, &two, false), DIM_DYNAMIC);
    assert_int_equal(choose_scalar(&dynamic, n, &half, false), DIM_STATIC);
    observe(&state, &half, NULL);
    assert_int_equal(choose_scalar(&automatic, n, &half, false), DIM_DYNAMIC);
    observe(&state, make_tensor(&made, 1, SIZES(3), SIZES(1)), NULL);
    assert_int_equal(n->size.kind, ATOM_DYNAMIC); /* a tensor where a number was */
    assert_true(frame_state_copy(&copy, &state));
    assert_int_equal(frame_state_find(&copy, 5)->scalar.kind, ATOM_DYNAMIC);
    assert_true(frame_state_observe(&copy, 5, &two, true, NULL));
    check_atom(frame_state_find(&copy, 5)->scalar, ATOM_INT, 2);
    frame_state_release(&copy);
    frame_state_release(&state);
}

static void test_choices(void **unused)
{
    (void)unused;
    struct frame_state state = { 0 };
    struct made_tensor made;
    const struct dynamic_settings automatic = { .automatic = true, .assume_static = true };
    const struct dynamic_settings dynamic = { .automatic = true };
    const struct tensor_value *x = &made.tensor;
    observe(&state, make_tensor(&made, 2, SIZES(4, 6), SIZES(6, 1)), NULL);
    made.tensor.marks[TENSOR_MARK_STATIC] = 1;
    made.tensor.marks[TENSOR_MARK_DYNAMIC] = 2;
    observe_marks(&state, 5, x);
    const struct source_state *s = frame_state_find(&state, 5);
    assert_true(is_size_dynamic(s, 1));
    assert_int_equal(choose_dim(&automatic, s, x, 0, false), DIM_STATIC);
    assert_int_equal(choose_dim(&dynamic, s, x, 0, false), DIM_STATIC);
    assert_int_equal(choose_dim(&automatic, s, x, 0, true), DIM_DYNAMIC);
    assert_int_equal(choose_dim(&automatic, s, x, 1, false), DIM_DYNAMIC);
    made.tensor.marks[TENSOR_MARK_UNBACKED] = 1;
    assert_int_equal(choose_dim(&automatic, s, x, 0, false), DIM_UNBACKED);
    memset(made.tensor.marks, 0, sizeof made.tensor.marks);
    assert_int_equal(choose_dim(&dynamic, s, x, 0, false), DIM_DUCK);
    assert_int_equal(choose_dim(&dynamic, s, x, 1, false), DIM_DYNAMIC);

    const struct py_value two = { .kind = PY_INT, .integer = 2 };
    assert_true(is_fixed_input(STR("L['self']._modules['a']._parameters['w']"), &made.value, true));
    assert_false(is_fixed_input(STR("L['self'].w"), &made.value, true));
    assert_true(is_fixed_input(STR("L['self'].k"), &two, true));
    assert_true(is_fixed_input(STR("G['K']"), &two, false));
    assert_false(is_fixed_input(STR("L['k']"), &two, false));
    frame_state_release(&state);
}

static bool read_lines(struct frame_state *state, struct world *world)
{
    static const char *const LINES[] = {
        "  L[\"x\"]: tensor size=[?, 4] stride=[S(1), 1]",
        "  L['k']: fully dynamic scalar or tensor",
        "  L['n']: scalar 3",
        "  L['f']: scalar 0.5",
        "  L['u']: unusual FrameStateSizeEntry()",
        "  no colon",
    };
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof LINES / sizeof *LINES; i++)
        ok = pgo_line_read(str_of(LINES[i]), world, state);
    return ok;
}

static const struct source_state *state_of(struct frame_state *state, struct world *world,
                                           const char *source)
{
    return frame_state_find(state, world_source(world, str_of(source)));
}

static void test_profile(void **unused)
{
    (void)unused;
    struct intern sources = INTERN_INIT;
    struct world world = { .sources = &sources };
    struct frame_state state = { 0 };
    assert_true(read_lines(&state, &world));
    assert_int_equal(state.sources.n, 4);
    const struct source_state *x = state_of(&state, &world, "L['x']");
    assert_true(is_size_dynamic(x, 0));
    check_atom(x->size.v[1], ATOM_INT, 4);
    check_atom(x->stride.v[0], ATOM_INFER, 1);
    assert_int_equal(state_of(&state, &world, "L['k']")->scalar.kind, ATOM_DYNAMIC);
    check_atom(state_of(&state, &world, "L['n']")->scalar, ATOM_INT, 3);
    assert_double_is(state_of(&state, &world, "L['f']")->scalar.real, 0.5);
    frame_state_release(&state);
    world_release(&world);
    intern_release(&sources);
}

static bool attempt(void *arg)
{
    (void)arg;
    struct intern sources = INTERN_INIT;
    struct world world = { .sources = &sources };
    struct frame_state state = { 0 }, copy = { 0 };
    state_changes changes = { 0 };
    struct made_tensor made;
    bool ok = read_lines(&state, &world);
    for (int64_t i = 4; ok && i < 6; i++)
        ok = frame_state_observe(&state, 0, make_tensor(&made, 2, SIZES(i, i), SIZES(i, 1)), false,
                                 &changes);
    ok = ok && frame_state_copy(&copy, &state);
    vec_release(&changes);
    frame_state_release(&copy);
    frame_state_release(&state);
    world_release(&world);
    intern_release(&sources);
    return ok;
}

/* The later of two lines of one source says that all of it is dynamic. */
static void test_copies(void **unused)
{
    (void)unused;
    struct intern sources = INTERN_INIT;
    struct world world = { .sources = &sources };
    struct frame_state state = { 0 }, copy = { 0 }, one = { 0 };
    assert_true(read_lines(&state, &world));
    assert_true(pgo_line_read(STR("  L['x']: scalar 3"), &world, &state));
    assert_true(
        pgo_line_read(STR("  L['y']: tensor size=[2, ?] stride=[S(1), 1]"), &world, &state));
    assert_true(frame_state_copy(&copy, &state));
    assert_int_equal(copy.sources.n, 5);
    assert_int_equal(state_of(&copy, &world, "L['x']")->size.kind, ATOM_DYNAMIC);
    assert_null(state_of(&copy, &world, "L['x']")->size.v);
    const struct source_state *y = state_of(&copy, &world, "L['y']");
    assert_ptr_not_equal(y->size.v, state_of(&state, &world, "L['y']")->size.v);
    check_atom(y->size.v[0], ATOM_INT, 2);
    check_atom(y->stride.v[0], ATOM_INFER, 1);

    uint32_t source = y->source, absent = world_source(&world, STR("L['absent']"));
    assert_true(frame_state_copy_source(&one, &state, source));
    assert_true(frame_state_copy_source(&one, &state, source));
    assert_true(frame_state_copy_source(&one, &state, absent));
    assert_int_equal(one.sources.n, 1);
    assert_true(is_size_dynamic(frame_state_find(&one, source), 1));
    frame_state_release(&one);
    frame_state_release(&copy);
    frame_state_release(&state);
    world_release(&world);
    intern_release(&sources);
}

static void test_memory(void **unused)
{
    (void)unused;
    check_alloc_failures(attempt, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),   cmocka_unit_test(test_strides),
        cmocka_unit_test(test_scalars), cmocka_unit_test(test_choices),
        cmocka_unit_test(test_profile), cmocka_unit_test(test_copies),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
