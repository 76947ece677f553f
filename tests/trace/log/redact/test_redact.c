#include <string.h>

#include "tests/harness.h"
#include "trace/base/text/json.h"
#include "trace/log/redact/redact.h"

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
        if (str_ends(before, STR(REDACT_MARK)) && digits == 10 &&
            (i + 10 == text->n || text->p[i + 10] == '/')) {
            text->p[to++] = '#';
            i += 9;
            continue;
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

/* What a reader relies on: one path, one text; two files, two texts. Another tape has other hashes.
 */
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
    assert_false(str_eq(buf_str(&elsewhere), buf_str(&one)));
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
        snprintf(in, sizeof in, "/home/%s", users[i]); /* a folder: others were met in it */
        check(&redact, in, "/redacted/#");
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

/* A text, what must not be left of it, and what must. NULL: nothing. */
struct shape {
    const char *in, *gone, *kept;
};

static void check_shapes(struct redact *redact, const struct shape *shapes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct buf out = redacted(redact, shapes[i].in);
        if (shapes[i].gone && str_find(buf_str(&out), str_of(shapes[i].gone)) < out.n)
            fail_msg("%s -> %s: holds %s", shapes[i].in, out.p, shapes[i].gone);
        if (shapes[i].kept && str_find(buf_str(&out), str_of(shapes[i].kept)) == out.n)
            fail_msg("%s -> %s: lacks %s", shapes[i].in, out.p, shapes[i].kept);
        buf_release(&out);
    }
}
#define CHECK_SHAPES(redact, shapes) \
    check_shapes((redact), (shapes), sizeof(shapes) / sizeof *(shapes))

static void test_shapes(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        { "TOKEN=hunter2 python x.py", "hunter2", "TOKEN=redacted python x.py" },
        { "A_B=c MODE='d e' ./run", "d e", "MODE='redacted' ./run" },
        { "os.environ |= {'A': 'hunter2', 'B': 'other9'}", "other9", "os.environ |= {'A': '" },
        { "os.environ = {\"A\": \"hunter2\"}", "hunter2", "os.environ = {\"A\": \"redacted\"}" },
        { "os.environ.update(A='hunter2', B=\"other9\")", "other9", "update(A='redacted', B=" },
        { "set A=hunter2", "hunter2", "set A=redacted" },
        { "$env:A = \"hunter2\"", "hunter2", "$env:A = \"redacted\"" },
        { "cd x && export A=hunter2", "hunter2", "cd x && export A=redacted" },
        { "ann:hunter2@db.example.org", "hunter2", NULL },
        { "postgres://ann:hunter2@db.acme.com:5432/x", "hunter2", "postgres://" },
        { "postgres://ann:hunter2@db.acme.com:5432/x", "acme", "postgres://" },
        { "ssh://git@code.acme.com/team/secretproj.git", "secretproj", "ssh://" },
        { "git@code.acme.com:team/secretproj.git", "secretproj", NULL },
        { "git@code.acme.com:team/secretproj.git", "acme", NULL },
        { "s3://acme-models/plan/x.pt", "acme", "s3://" },
        { "s3://acme-models/plan/x.pt", "plan", "s3://" },
        { "hdfs://nn.acme.com:8020/plan", "acme", "hdfs://" },
        { "see https://wiki.acme.com/plan.", "acme", "see https://" },
        { "https://pytorch.org/docs/x.html", "redacted", "https://pytorch.org/docs/x.html" },
        { "\\\\fileserver\\plans\\x.py", "fileserver", "x.py" },
        { "'\\\\\\\\fileserver\\\\plans\\\\x.py'", "plans", "x.py" },
        { "key AKIAIOSFODNN7EXAMPLE", "IOSFODNN7", "key " },
        { "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "16C7e42F", NULL },
        { "hf_AbCdEfGhIjKlMnOpQrStUvWxYz0123", "AbCdEf", NULL },
        { "sk-proj-0123456789abcdefghij", "0123456789", NULL },
        { "xoxb-123456789012-abcdef", "123456789012", NULL },
        { "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-DEF_1", "zdWIi", NULL },
        { "Authorization: Bearer abc.def-123", "abc.def-123", "Bearer redacted" },
        { "db_password = 'hunter2'", "hunter2", "db_password = 'redacted'" },
        { "{'api_key': 'hunter2', 'n': 1}", "hunter2", "'n': 1}" },
        { "python x.py --password hunter2 --epochs 3", "hunter2", "--epochs 3" },
        { "{\"password\": \"hunter2\", \"n\": 1}", "hunter2", "\"n\": 1}" },
        { "# File: a.py:3 in f, code: x = y  # for ACME", "ACME", "code: x = y" },
        { "# File: a.py:3 in f, code: x = y['#k']  # for ACME", "ACME", "x = y['#k']" },
        { "  File \"a.py\", line 3, in f\n    x = y  # for ACME\nE: z", "ACME", "x = y  \nE: z" },
        { "len(L['x']) == 3  # y = x # for ACME # a.py:3 in f", "ACME", "# a.py:3 in f" },
        { "{\"loc\": \"x = y  # for ACME\", \"line\": 3}", "ACME", "\"x = y\"" },
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct redact redact;
        begin(&redact);
        check_shapes(&redact, &shapes[i], 1);
        redact_release(&redact);
    }
}

/* What looks alike and is none. */
static void test_what_is_no_shape(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "x = q@k.transpose(-1, -2)",
        "h[a:b@c.d]",
        "N=3 python x.py",
        "A=b if c else d",
        "f(A=b, c)",
        "set(x)",
        "settings = 3",
        "next_token = ids[:, -1]",
        "tokens = tokenizer(x)",
        "key = value",
        "mask_key: \"f32[s77]\" = torch.ops.aten.add.Tensor(a, b)",
        "hf_model_for_sequence_classification_with_a_head",
        "'\\n\\t\\\\d+'",
        "lambda x: y  # z",
        "        # File: a.py:3 in f, code: x = '#3'\n",
        "secret = f(x)",
        "bearer of news",
        "sk-learn",
        "self.eyJ = 3",
        "localhost:29500",
        "a = b # c",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_pairs(&(struct pair){ texts[i], texts[i] }, 1);
}

static void add_variable(struct redact *redact, const char *name, const char *value)
{
    struct err err = ERR_INIT;
    assert_true(redact_add_variable(redact, str_of(name), str_of(value), &err));
}

static void test_environment(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        { "the plan s3cret-Plan failed", "s3cret", "the plan redacted1 failed" },
        { "x_S3CRET-PLAN_y and s3cret-planning", "S3CRET", "x_redacted1_y" },
        { "ValueError('it\\'s \"a\" s3cret\\n')", "s3cret", "ValueError('redacted2')" },
        { "{\"a\": \"it's \\\"a\\\" s3cret\\n\"}", "s3cret", "{\"a\": \"redacted2\"}" },
        { "tulips but not tulipsfield", "tulips but", "not tulipsfield" },
        { "torch.ops.higher_order.flex_attention(q)", NULL, "higher_order.flex_attention(q)" },
        { "alice's ALICE_MODEL and malice", "ALICE", "and malice" },
        { "f32[s77]cuda:0 torch.bfloat16 bfloat16", "redacted", "f32[s77]cuda:0 torch.bfloat16" },
        { "2.13.0+cpu xterm-256color 12345678 sunny", "redacted", "12345678 sunny" },
        { "/data/x/s3cret-plan/train.py", "s3cret", "/train.py" },
        { "/data/x/s3cret-plan.py", "s3cret", "/redacted1.py" },
        { "/opt/acme/tools/x.py", "acme", "/x.py" },
        { "bob:hunter22@db", "hunter22", NULL },
        { "password hunter22!", "hunter22", "password " },
        { "{\"s3cret-plan\": [1, 2.5, \"y\"]}", "s3cret", "[1, 2.5, \"y\"]" },
    };
    struct redact redact;
    begin(&redact);
    add_variable(&redact, "PLAN", "s3cret-plan");
    add_variable(&redact, "TEXT", "it's \"a\" s3cret\n");
    add_variable(&redact, "FLOWER", "tulips");
    add_variable(&redact, "ATTENTION", "flex_attention");
    add_variable(&redact, "HOME", "/data/people/alice");
    add_variable(&redact, "DEVICE", "cuda:0");
    add_variable(&redact, "DTYPE", "bfloat16");
    add_variable(&redact, "PYTORCH_VERSION", "2.13.0+cpu");
    add_variable(&redact, "TERM", "xterm-256color");
    add_variable(&redact, "NUMBER", "12345678");
    add_variable(&redact, "SHORT", "sunny");
    add_variable(&redact, "TOOLS", "/opt/acme/tools");
    add_variable(&redact, "DB", "postgres://bob:hunter22@db/x");
    CHECK_SHAPES(&redact, shapes);
    redact_release(&redact);
}

static void test_command(void **state)
{
    (void)state;
    static const char *const argv[] = { "env",
                                        "A=s3cret-one",
                                        "python",
                                        "-m",
                                        "acme_package",
                                        "train_it.py",
                                        "--name=s3cret-two",
                                        "--other",
                                        "s3cret-three",
                                        "-c",
                                        "os.environ['B'] = 's3cret-four'",
                                        "float32" };
    static const struct shape shapes[] = {
        { "s3cret-one s3cret-two s3cret-three s3cret-four", "s3cret", "redacted1" },
        { "python -m acme_package train_it.py float32", "redacted", "acme_package train_it.py" },
    };
    struct err err = ERR_INIT;
    struct redact redact;
    begin(&redact);
    assert_true(redact_add_command(&redact, argv, sizeof argv / sizeof *argv, &err));
    CHECK_SHAPES(&redact, shapes);
    redact_release(&redact);
}

/* What code sets is known where it stands again. */
static void test_values_learnt(void **state)
{
    (void)state;
    struct redact redact;
    begin(&redact);
    check(&redact, "os.environ['A'] = 'correct-horse'\nE: correct-horse",
          "os.environ['A'] = 'redacted'\nE: redacted1");
    check(&redact, "db_password = 'battery-staple'", "db_password = 'redacted'");
    check(&redact, "[\"xBattery-Staple\"]", "[\"xredacted2\"]");
    redact_release(&redact);
}

static bool attempt(void *arg)
{
    struct err err = ERR_INIT;
    struct redact redact;
    struct buf out = BUF_INIT;
    if (!redact_init(&redact, &err))
        return false;
    bool good = redact_add_variable(&redact, STR("V"), STR("s3cret'plan"), &err);
    redact_text(&redact, str_of(arg), &out);
    good = good && !out.failed;
    if (good)
        hide_hashes(&out);
    good = good && str_is(buf_str(&out),
                          "[\"/redacted/#/x.py\", {\"host\": \"host1\"}, \"[\\\"user1\\\"]\", "
                          "\"redacted1\"]");
    buf_release(&out);
    redact_release(&redact);
    return good;
}

static void test_memory(void **state)
{
    (void)state;
    char text[] = "[\"/home\\/ann/x.py\", {\"host\": \"h.x\"}, \"[\\\"ann\\\"]\", \"s3cret'plan\"]";
    check_alloc_failures(attempt, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_what_is_no_path),
        cmocka_unit_test(test_hashes),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_common_names),
        cmocka_unit_test(test_names_known_beforehand),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_graph_text),
        cmocka_unit_test(test_twice),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_what_is_no_shape),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_command),
        cmocka_unit_test(test_values_learnt),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
