#include <string.h>

#include "tests/harness.h"
#include "trace/base/json.h"
#include "trace/log/redact.h"

struct pair {
    const char *in, *out;
};

static void begin(struct redact *redact)
{
    struct err err = ERR_INIT;
    assert_true(redact_init(redact, &err));
}

/* /redacted/0123456789/ reads /redacted/#/ in expectations. */
static void hide_hashes(struct buf *text)
{
    size_t to = 0;
    for (size_t i = 0; i < text->n; i++) {
        struct str before = { text->p, to };
        size_t digits = strspn(str_from(buf_str(text), i).p, "0123456789abcdef");
        if (str_ends(before, STR(REDACT_MARK)) && digits == 10 && text->p[i + 10] == '/') {
            text->p[to++] = '#';
            i += 10;
        }
        text->p[to++] = text->p[i];
    }
    text->n = to;
}

static struct buf redacted(struct redact *redact, const char *in)
{
    struct buf out = BUF_INIT;
    redact_text(redact, str_of(in), &out);
    assert_false(out.failed);
    buf_putc(&out, '\0');
    out.n--;
    return out;
}

static void check(struct redact *redact, const char *in, const char *expected)
{
    struct buf out = redacted(redact, in);
    hide_hashes(&out);
    assert_str_is(buf_str(&out), expected);
    buf_release(&out);
}

/* Each pair by itself. */
static void check_pairs(const struct pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct redact redact;
        begin(&redact);
        check(&redact, pairs[i].in, pairs[i].out);
        redact_release(&redact);
    }
}
#define CHECK_PAIRS(pairs) check_pairs((pairs), sizeof(pairs) / sizeof *(pairs))

static void test_paths(void **state)
{
    (void)state;
    static const struct pair pairs[] = {
        { "/home/ann/env/lib/python3.11/site-packages/torch/x.py", "/redacted/torch/x.py" },
        { "/usr/lib/python3/dist-packages/numpy/x.py:3", "/redacted/numpy/x.py:3" },
        { "/usr/lib/python3.11/ast.py", "/redacted/python3.11/ast.py" },
        { "/home/ann/src/torch/_dynamo/guards.py", "/redacted/#/torch/_dynamo/guards.py" },
        { "/home/ann/src/torch/fx/experimental/symbolic_shapes.py",
          "/redacted/#/torch/fx/experimental/symbolic_shapes.py" },
        { "/home/ann/torch/secret/plan.py", "/redacted/#/plan.py" },
        { "/home/ann/secret/train.py", "/redacted/#/train.py" },
        { "/home/ann", "/redacted/#/user1" },
        { "/home/ann/", "/redacted/#/user1/" },
        { "/tmp/torchinductor_ann/ab/cdef.py", "/redacted/#/cdef.py" },
        { "/tmp/torchinductor_ann", "/redacted/#/torchinductor_user1" },
        { "/tmp and /data", "/tmp and /data" },
        { "/opt//tools///gcc", "/redacted/#/gcc" },
        { "file:///home/ann/x/y.html", "file:///redacted/#/y.html" },
        { "PATH=/usr/bin:/home/ann/bin:", "PATH=/redacted/#/bin:/redacted/#/bin:" },
        { "g++ -I/home/ann/include -O2", "g++ -I/redacted/#/include -O2" },
        { "'a\\n/home/ann/x.py'", "'a\\n/redacted/#/x.py'" },
        { "C:\\Users\\ann\\p\\train.py:3", "/redacted/#/train.py:3" },
        { "C:\\\\Users\\\\ann\\\\lib\\\\site-packages\\\\torch\\\\x.py", "/redacted/torch/x.py" },
        { "File \"/home/Ann Lee/my code/x.py\", line 3", "File \"/redacted/#/x.py\", line 3" },
        { "# File: /home/Ann Lee/x.py:3 in f, code: y",
          "# File: /redacted/#/x.py:3 in f, code: y" },
        { "\"/home/ann/x.py is missing\"", "\"/redacted/#/x.py is missing\"" },
    };
    CHECK_PAIRS(pairs);
}

static void test_what_is_no_path(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "/",
        "//",
        "a/b/c",
        "../x/y and ./x/y and ~/x/y",
        "https://pytorch.org/docs/stable",
        "(s53 - 1)//2 + x /2/3 ",
        "truediv = x / y / z",
        "f'{root}/a/b'",
        "lambda x:\\n\\n y",
        "/redacted/x/y.py",
        "/redacted/torch/x.py",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_pairs(&(struct pair){ texts[i], texts[i] }, 1);
}

/* What a reader relies on: one path, one text; two files, two texts; also across contexts. */
static void test_hashes(void **state)
{
    (void)state;
    struct redact redact, other;
    begin(&redact);
    begin(&other);
    struct buf one = redacted(&redact, "/home/ann/a/x.py");
    struct buf two = redacted(&redact, "/home/ann/b/x.py");
    struct buf bob = redacted(&redact, "/home/bob/a/x.py");
    struct buf again = redacted(&redact, "/home/ann/a/x.py");
    struct buf json = redacted(&redact, "[\"\\/home\\/ann\\/a\\/x.py\"]");
    struct buf elsewhere = redacted(&other, "/home/eve/a/x.py");
    assert_false(str_eq(buf_str(&one), buf_str(&two)));
    assert_false(str_eq(buf_str(&one), buf_str(&bob)));
    assert_str_eq(buf_str(&again), buf_str(&one));
    assert_str_eq(str_first(str_from(buf_str(&json), 2), one.n), buf_str(&one));
    assert_str_eq(buf_str(&elsewhere), buf_str(&one));
    struct buf *all[] = { &one, &two, &bob, &again, &json, &elsewhere };
    for (size_t i = 0; i < 6; i++)
        buf_release(all[i]);
    redact_release(&redact);
    redact_release(&other);
}

static void test_names(void **state)
{
    (void)state;
    struct redact redact;
    begin(&redact);
    check(&redact, "by ann before it is learnt", "by ann before it is learnt");
    check(&redact, "/home/ann/x.py /home/bo.b-smith/y.py /Users/ann/z.py",
          "/redacted/#/x.py /redacted/#/y.py /redacted/#/z.py");
    check(&redact, "by ann, ann. ann-ann (ann) 'ann' ann",
          "by user1, user1. user1-user1 (user1) "
          "'user1' user1");
    check(&redact, "joanne annex ann_x x_ann ann1", "joanne annex ann_x x_ann ann1");
    check(&redact, "bo.b-smith@example.org bo.b bo", "user2@example.org bo.b bo");
    check(&redact, "/data/ann/ann.ckpt", "/redacted/#/user1.ckpt");
    check(&redact, "/tmp/torchinductor_ann torchinductor_ann torchinductor_threads",
          "/redacted/#/torchinductor_user1 torchinductor_user1 torchinductor_threads");
    check(&redact, "torch.ops.ann.default(ann)", "torch.ops.ann.default(user1)");
    redact_release(&redact);
}

/* Users called like what logs are made of: out of the path, and nothing else changes. */
static void test_common_names(void **state)
{
    (void)state;
    static const char *const users[] = { "torch", "f32",  "s77",   "u0", "zuf3",
                                         "add",   "root", "Model", "x",  "1000" };
    for (size_t i = 0; i < sizeof users / sizeof *users; i++) {
        struct redact redact;
        char in[256];
        begin(&redact);
        snprintf(in, sizeof in, "/home/%s/x.py", users[i]);
        check(&redact, in, "/redacted/#/x.py");
        snprintf(in, sizeof in, "/home/%s", users[i]);
        check(&redact, in, "/redacted/#/user1");
        snprintf(in, sizeof in, "%s: \"f32[s77, u0]\" = aten.add(%s)", users[i], users[i]);
        check(&redact, in, in);
        redact_release(&redact);
    }
}

static void test_names_known_beforehand(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct redact redact;
    begin(&redact);
    assert_true(redact_add_user(&redact, STR("ann"), &err));
    assert_true(redact_add_user(&redact, STR(""), &err));
    assert_true(redact_add_host(&redact, STR("gpu7.example.org"), &err));
    assert_true(redact_learn(&redact, STR("see /home/bob/x.py"), &err));
    check(&redact, "ann and bob on gpu7, gpu7.example.org", "user1 and user2 on host2, host1");
    redact_release(&redact);
}

static void test_variables(void **state)
{
    (void)state;
    static const struct pair pairs[] = {
        { "os.environ['X'] = 'Y'\nos.environ[\"A\"]=\"it's\"\n",
          "os.environ['X'] = 'redacted'\nos.environ[\"A\"]=\"redacted\"\n" },
        { "os.environ['X'] = 'a\\'b' # c", "os.environ['X'] = 'redacted' # c" },
        { "os.environ.setdefault('X', 'Y')", "os.environ.setdefault('X', 'redacted')" },
        { "os.putenv(b'X', b'Y')", "os.putenv(b'X', b'redacted')" },
        { "environ({'A': 'b', 'C': '/d/e', 1: 2})",
          "environ({'A': 'redacted', 'C': 'redacted', 1: 2})" },
        { "export X=secret; y\n  export Y='a b'", "export X=redacted; y\n  export Y='redacted'" },
        { "run `export X=1`", "run `export X=1`" },
        { "if os.environ['X'] == 'Y': z", "if os.environ['X'] == 'Y': z" },
        { "os.environ['X'] = f(y)", "os.environ['X'] = f(y)" },
        { "os.environ['X'] = 'unended\n", "os.environ['X'] = 'unended\n" },
        { "os.environ['USER'] = 'ann'\n# ann", "os.environ['USER'] = 'redacted'\n# user1" },
        { "os.environ['P'] = '/usr/x:/home/ann/y'\n# ann",
          "os.environ['P'] = 'redacted'\n# user1" },
        { "os.environ['HOSTNAME'] = 'gpu7.x'\n# gpu7",
          "os.environ['HOSTNAME'] = 'redacted'\n# host2" },
        { "{'hostname': 'gpu7'} on gpu7", "{'hostname': 'host1'} on host1" },
        { "hostname = socket.gethostname()", "hostname = socket.gethostname()" },
    };
    CHECK_PAIRS(pairs);
}

static void test_json(void **state)
{
    (void)state;
    static const struct pair pairs[] = {
        { "{\"str\": [\"/home/ann/x.py\", 7]}", "{\"str\": [\"/redacted/#/x.py\", 7]}" },
        { "{\"a\": NaN, \"b\": \"\\u00e9\\ud800\",\"c\" :1e400}",
          "{\"a\": NaN, \"b\": \"\\u00e9\\ud800\",\"c\" :1e400}" },
        { "{\"env\": {\"USER\": \"ann\", \"N\": 3, \"L\": [\"A=b\", \"x\"]}, \"by\": \"ann\"}",
          "{\"env\": {\"USER\": \"redacted\", \"N\": 3, \"L\": [\"A=redacted\", \"x\"]}, "
          "\"by\": \"user1\"}" },
        { "{\"env\": [\"A=b\"], \"c\": \"A=b\"}", "{\"env\": [\"A=redacted\"], \"c\": \"A=b\"}" },
        { "{\"host_name\": \"gpu7\", \"user\": \"ann\", \"x\": [\"ann@gpu7\"]}",
          "{\"host_name\": \"host1\", \"user\": \"user1\", \"x\": [\"user1@host1\"]}" },
        { "{\"host\": \"localhost\", \"user\": \"\"}",
          "{\"host\": \"localhost\", \"user\": \"\"}" },
        { "{\"/home/ann/x.py\": {\"user\": \"user1\"}}",
          "{\"/redacted/#/x.py\": {\"user\": \"user1\"}}" },
        { "{\"f\": \"/home/Ann Lee/a b.py\"}", "{\"f\": \"/redacted/#/a b.py\"}" },
        { "{\"c\": \"{\\\"p\\\": \\\"/a/b/c.py\\\", \\\"env\\\": {\\\"X\\\": \\\"y\\\"}}\"}",
          "{\"c\": \"{\\\"p\\\": \\\"/redacted/#/c.py\\\", "
          "\\\"env\\\": {\\\"X\\\": \\\"redacted\\\"}}\"}" },
        { "{\"code\": \"\\tos.environ['A'] = \\\"b\\\"\\n\"}",
          "{\"code\": \"\\tos.environ['A'] = \\\"redacted\\\"\\n\"}" },
        { "{\"broken\": \"/home/ann/x.py\"", "{\"broken\": \"/redacted/#/x.py\"" },
    };
    CHECK_PAIRS(pairs);
}

static void test_graph_text(void **state)
{
    (void)state;
    struct redact redact;
    begin(&redact);
    check(&redact,
          "        # File: /home/ann/env/transformers/x.py:119 in forward, code: x = a / b\n"
          "        addmm: \"f32[s0, 3*s1][3*s1, 1]cpu\" = torch.ops.aten.addmm.default(a, b)\n"
          "        floordiv: \"Sym((s0//2))\" = s0 // 2;  s0 = None\n",
          "        # File: /redacted/#/x.py:119 in forward, code: x = a / b\n"
          "        addmm: \"f32[s0, 3*s1][3*s1, 1]cpu\" = torch.ops.aten.addmm.default(a, b)\n"
          "        floordiv: \"Sym((s0//2))\" = s0 // 2;  s0 = None\n");
    redact_release(&redact);
}

/* Appending, and not repeated: what was redacted stays. */
static void test_twice(void **state)
{
    (void)state;
    struct redact redact;
    struct buf out = BUF_INIT, again = BUF_INIT;
    const char *in = "{\"user\": \"ann\", \"p\": \"/home/ann/x.py\", \"env\": {\"A\": \"b\"}}";
    begin(&redact);
    redact_text(&redact, str_of(in), &out);
    redact_text(&redact, buf_str(&out), &again);
    assert_str_eq(buf_str(&again), buf_str(&out));
    redact_text(&redact, STR("tail"), &again);
    assert_int_equal(again.n, out.n + 4);
    buf_release(&out);
    buf_release(&again);
    redact_release(&redact);
}

/* Deep nesting of arrays and of strings in strings is bounded, and still JSON at the end. */
static void test_nested(void **state)
{
    (void)state;
    struct redact redact;
    struct buf text = BUF_INIT, out = BUF_INIT;
    struct json doc = { 0 };
    struct err err = ERR_INIT;
    begin(&redact);
    for (int i = 0; i < 900; i++)
        buf_putc(&text, '[');
    buf_puts(&text,
             "\"[\\\"[\\\\\\\"[\\\\\\\\\\\\\\\"/home/ann/x.py\\\\\\\\\\\\\\\"]\\\\\\\"]\\\"]\"");
    for (int i = 0; i < 900; i++)
        buf_putc(&text, ']');
    assert_true(json_parse(&doc, buf_str(&text), &err));
    redact_text(&redact, buf_str(&text), &out);
    assert_true(json_parse(&doc, buf_str(&out), &err));
    assert_int_equal(str_find(buf_str(&out), STR("ann")), out.n);
    json_release(&doc);
    buf_release(&text);
    buf_release(&out);
    redact_release(&redact);
}

static bool attempt(void *arg)
{
    struct err err = ERR_INIT;
    struct redact redact;
    struct buf out = BUF_INIT;
    if (!redact_init(&redact, &err))
        return false;
    redact_text(&redact, str_of(arg), &out);
    bool good = !out.failed;
    if (good)
        hide_hashes(&out);
    good = good && str_is(buf_str(&out),
                          "[\"/redacted/#/x.py\", {\"host\": \"host1\"}, \"[\\\"user1\\\"]\"]");
    buf_release(&out);
    redact_release(&redact);
    return good;
}

static void test_memory(void **state)
{
    (void)state;
    char text[] = "[\"/home\\/ann/x.py\", {\"host\": \"h.x\"}, \"[\\\"ann\\\"]\"]";
    check_alloc_failures(attempt, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),        cmocka_unit_test(test_what_is_no_path),
        cmocka_unit_test(test_hashes),       cmocka_unit_test(test_names),
        cmocka_unit_test(test_common_names), cmocka_unit_test(test_names_known_beforehand),
        cmocka_unit_test(test_variables),    cmocka_unit_test(test_json),
        cmocka_unit_test(test_graph_text),   cmocka_unit_test(test_twice),
        cmocka_unit_test(test_nested),       cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
