#include "profile/calls/tree/guard_owner.h"
#include "profile/calls/tree/merged_tree.h"
#include "tests/harness.h"

#define MANAGER(source, by) \
    "GuardManager: source=" source ", accessed_by=" by ", type=<class 'x'>\n"
#define TREE(size, id, end)                                                                                                                          \
    "\nTREE_GUARD_MANAGER:\n"                                                                                                                        \
    "+- RootGuardManager\n"                                                                                                                          \
    "| +- GLOBAL_STATE: ___check_global_state()\n"                                                                                                   \
    "| +- " MANAGER(                                                                                                                                 \
        "L['x']",                                                                                                                                    \
        "FrameLocalsGuardAccessor(key='x')") "| | +- TENSOR_MATCH: check_tensor(L['x'], size=[" size                                                 \
                                             "])  # x  # a.py:1\n"                                                                                   \
                                             "| +- " MANAGER(                                                                                        \
                                                 "L['m'].__dict__",                                                                                  \
                                                 "GetGenericDictGuardAccessor") "| | +- DICT_CONTAINS: not ___dict_contains('k', L['m'].__dict__)\n" \
                                                                                "| | +- ID_MATCH: ___check_obj_id(L['m'].f, " id                     \
                                                                                "), type=<class 'y'>  # z\n" end

static const char FIRST[] = TREE("4", "11", "\nGuard latency = 12.50 us\n");
static const char SECOND[] = TREE("None", "12", "+- LAMBDA_GUARD: 2 <= L['x'].size()[0]\n");

static bool merge(struct merged_tree *tree, struct intern *owners)
{
    struct err err = ERR_INIT;
    return merged_tree_add(tree, STR("0/0"), 0, STR(FIRST), owners, &err) &&
           merged_tree_add(tree, STR("0/2"), 2, STR(SECOND), owners, &err);
}

static const struct merged_leaf *find(const struct merged_tree *tree, const char *code)
{
    for (size_t i = 0; i < tree->leaves.n; i++)
        if (str_contains(tree->leaves.v[i].code, str_of(code)))
            return &tree->leaves.v[i];
    fail_msg("no guard %s", code);
    return NULL;
}

static void check_owner(const struct merged_leaf *leaf, const struct intern *owners,
                        const char *owner)
{
    assert_true(
        str_is(leaf->owner == INTERN_NONE ? STR("") : intern_text(owners, leaf->owner), owner));
}

static void test_what_entries_share(void **state)
{
    struct merged_tree tree = { 0 };
    struct intern owners = INTERN_INIT;
    (void)state;
    assert_true(merge(&tree, &owners));
    assert_int_equal(tree.entries.n, 2);
    assert_int_equal(tree.leaves.n, 7);
    assert_int_equal(tree.entries.v[0].n_leaves, 4);
    assert_int_equal(tree.entries.v[1].n_leaves, 5);
    assert_int_equal(tree.entries.v[1].n_accessors, 2);
    assert_true(tree.entries.v[0].latency_us == 12.5 && tree.entries.v[1].latency_us < 0);
    assert_true(merged_leaf_shared(&tree, find(&tree, "check_global_state")));
    assert_true(merged_leaf_shared(&tree, find(&tree, "___dict_contains")));
    assert_false(merged_leaf_shared(&tree, find(&tree, "size=[4]")));
    assert_false(merged_leaf_shared(&tree, find(&tree, "L['m'].f, 11")));
    check_owner(find(&tree, "check_global_state"), &owners, "");
    check_owner(find(&tree, "2 <= "), &owners, "");
    check_owner(find(&tree, "___dict_contains"), &owners, "L['m']");
    check_owner(find(&tree, "L['m'].f, 12"), &owners, "L['m'].f");
    assert_int_equal(merged_tree_entry(&tree, 2), 1);
    assert_int_equal(merged_tree_entry(&tree, 1), TREE_NONE);
    merged_tree_release(&tree);
    intern_release(&owners);
}

static void test_objects_of_several_processes(void **state)
{
    struct merged_tree tree = { .several_processes = true };
    struct intern owners = INTERN_INIT;
    (void)state;
    assert_true(merge(&tree, &owners));
    assert_int_equal(tree.leaves.n, 6);
    assert_true(merged_leaf_shared(&tree, find(&tree, "L['m'].f, 11")));
    merged_tree_release(&tree);
    intern_release(&owners);
}

static void test_without_ids(void **state)
{
    static const char *const rows[][2] = {
        { "___check_obj_id(G['f'], 140), type=<class 'a, b'>",
          "___check_obj_id(G['f']), type=<class 'a, b'>" },
        { "___check_type_id(L['d']['a, 1'], 7), type=<class 'int'>",
          "___check_type_id(L['d']['a, 1']), type=<class 'int'>" },
        { "___check_obj_id(", "___check_obj_id(" },
        { "L['n'] == 2", "L['n'] == 2" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf out = BUF_INIT;
        put_without_ids(str_of(rows[i][0]), &out);
        assert_true(str_is(buf_str(&out), rows[i][1]));
        buf_release(&out);
    }
}

static void test_owners(void **state)
{
    static const char *const rows[][2] = {
        { "L['m'].__dict__", "L['m']" },
        { "G['f'].__code__", "G['f']" },
        { "list(dict.keys(L['d']))[0]", "L['d']" },
        { "type(L['d'].x.__dict__)", "L['d'].x" },
        { "L['m']._modules['a']", "L['m']._modules['a']" },
        { "dict(type(L['self'].config).__mro__[1].__dict__)['a']", "L['self'].config" },
        { "___dict_contains('L[0]', G['d'])", "G['d']" },
        { "G", "G" },
        { "type(", "" },
        { "", "" },
    };
    size_t ends[MOST_OWNER_PARTS];
    struct str code = STR("check(L['x'], G['y'].z) and 'L' == L['d']['k']");
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(str_is(guard_owner(str_of(rows[i][0])), rows[i][1]));
    assert_true(str_is(next_source(&code), "L['x']"));
    assert_true(str_is(next_source(&code), "G['y'].z"));
    assert_true(str_is(next_source(&code), "L['d']['k']"));
    assert_true(str_is(next_source(&code), ""));
    assert_int_equal(owner_parts(STR("L['a.b[0]'].c[1]"), ends), 4);
    assert_int_equal(ends[0], 1);
    assert_int_equal(ends[1], 11);
    assert_int_equal(ends[2], 13);
    assert_int_equal(ends[3], 16);
    assert_true(owner_is_argument(STR("L['x']")));
    assert_false(owner_is_argument(STR("L['self'].n")));
    assert_false(owner_is_argument(STR("L['net']._modules['a']")));
    assert_false(owner_is_argument(STR("G['x']")));
    assert_true(owner_is_parameter(STR("L['self']._parameters['w']")));
}

/* A source of very many parts has a bounded number of names. */
static void test_many_parts(void **state)
{
    struct buf owner = BUF_INIT;
    size_t ends[MOST_OWNER_PARTS];
    (void)state;
    buf_putc(&owner, 'L');
    for (int i = 0; i < 1000; i++)
        buf_puts(&owner, "[0]");
    assert_int_equal(owner_parts(buf_str(&owner), ends), 1001);
    buf_release(&owner);
}

static bool merge_all(void *arg)
{
    (void)arg;
    struct merged_tree tree = { 0 };
    struct intern owners = INTERN_INIT;
    bool ok = merge(&tree, &owners);
    merged_tree_release(&tree);
    intern_release(&owners);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    check_alloc_failures(merge_all, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_entries_share),
        cmocka_unit_test(test_objects_of_several_processes),
        cmocka_unit_test(test_without_ids),
        cmocka_unit_test(test_owners),
        cmocka_unit_test(test_many_parts),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
