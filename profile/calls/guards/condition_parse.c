/* Reads Python's expression grammar as far as guards use it, by recursive descent. */
#include "profile/calls/guards/condition.h"
#include "profile/calls/values/python_scan.h"

enum {
    MOST_NESTING = 100,
    MOST_NODES = 4000, /* of a condition; evaluation recurses at most that deep */
};

struct condition_reader {
    struct condition_pool *pool;
    struct world *world;
    struct str rest;
    size_t start; /* number of nodes that the pool had before */
    unsigned nesting;
    bool chained;   /* what was read has a chain of relations: a < b <= c */
    bool failed;    /* the text is not of the grammar */
    bool no_memory; /* then failed is set, too */
};

static condition_id read_choice(struct condition_reader *in);

static condition_id fail(struct condition_reader *in)
{
    in->failed = true;
    return CONDITION_NONE;
}

static condition_id make(struct condition_reader *in, struct condition node)
{
    if (in->failed)
        return CONDITION_NONE;
    if (in->pool->nodes.n - in->start == MOST_NODES)
        return fail(in);
    if (in->pool->nodes.n < CONDITION_NONE && vec_push(&in->pool->nodes, node))
        return (condition_id)in->pool->nodes.n - 1;
    in->no_memory = true;
    return fail(in);
}

static condition_id make_op(struct condition_reader *in, enum condition_op op, condition_id first,
                            condition_id second)
{
    return make(in, (struct condition){ .op = op,
                                        .first = first,
                                        .second = second,
                                        .third = CONDITION_NONE,
                                        .source = INTERN_NONE });
}

static condition_id make_constant(struct condition_reader *in, struct py_value value)
{
    value.object = OBJECT_NONE;
    return make(in, (struct condition){ .op = COND_CONSTANT,
                                        .first = CONDITION_NONE,
                                        .second = CONDITION_NONE,
                                        .third = CONDITION_NONE,
                                        .source = INTERN_NONE,
                                        .value = value });
}

static void skip(struct condition_reader *in, size_t n)
{
    in->rest = str_from(in->rest, n);
    while (in->rest.n && is_space(in->rest.p[0]))
        in->rest = str_from(in->rest, 1);
}

/* Moves past a sign or word if it stands there. A word ends where the text goes on otherwise. */
static bool accept(struct condition_reader *in, const char *word)
{
    struct str text = str_of(word);
    if (!str_starts(in->rest, text) ||
        (is_letter(text.p[text.n - 1]) && in->rest.n > text.n && is_word_char(in->rest.p[text.n])))
        return false;
    skip(in, text.n);
    return true;
}

static bool expect(struct condition_reader *in, const char *word)
{
    if (in->failed || !accept(in, word))
        in->failed = true;
    return !in->failed;
}

/* ---- Sources ---- */

/* Returns the length of the bracket pair at the start of a text, or 0 if it does not end. */
static size_t bracket_length(struct str text)
{
    struct python_scan scan = { text };
    while (python_scan_next(&scan))
        if (scan.depth == 0)
            return scan.at + 1;
    return 0;
}

static bool starts_scope(struct str text)
{
    return str_starts(text, STR("L[")) || str_starts(text, STR("G["));
}

/* Returns the length of a call that a source begins with, up to its bracket, or 0. */
static size_t call_length(struct str text)
{
    static const struct {
        struct str begin;
        size_t name;   /* what stands before its bracket */
        bool of_scope; /* an L[...] or G[...] follows */
    } CALLS[] = {
        { { "list(dict.keys(", 15 }, 4, false },
        { { "dict.__getitem__(", 17 }, 16, false },
        { { "dict(type(", 10 }, 4, true },
        { { "type(", 5 }, 4, true },
    };
    for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++)
        if (str_starts(text, CALLS[i].begin) &&
            (!CALLS[i].of_scope || starts_scope(str_from(text, CALLS[i].begin.n))))
            return CALLS[i].name;
    return 0;
}

size_t source_length(struct str text)
{
    size_t call = call_length(text), brackets = call ? bracket_length(str_from(text, call)) : 0;
    size_t n = starts_scope(text) ? 1 : brackets ? call + brackets : 0, begin = n;
    while (n && n < text.n) {
        struct str rest = str_from(text, n);
        size_t word = rest.p[0] == '.' ? str_word(str_from(rest, 1)) : 0;
        size_t part = rest.p[0] == '[' ? bracket_length(rest) : word ? word + 1 : 0;
        if (!part || (word && part < rest.n && rest.p[part] == '('))
            break;
        n += part;
    }
    return n == begin && str_starts(text, STR("type(")) ? 0 : n; /* "type(L['x']) is float" */
}

void put_named_source(struct str name, struct buf *out)
{
    size_t n = 0;
    while (n < name.n && is_word_char(name.p[n]))
        n++;
    if (source_length(name) || !n) {
        source_spelling(name, out);
        return;
    }
    buf_puts(out, "L['");
    buf_put(out, str_first(name, n));
    buf_puts(out, "']");
    source_spelling(str_from(name, n), out);
}

static uint32_t read_source(struct condition_reader *in)
{
    size_t n = source_length(in->rest);
    uint32_t source = n ? world_source(in->world, str_first(in->rest, n)) : INTERN_NONE;
    if (!n)
        in->failed = true;
    else if (source == INTERN_NONE)
        in->no_memory = in->failed = true;
    skip(in, n);
    return source;
}

static condition_id make_of_source(struct condition_reader *in, enum condition_op op,
                                   uint32_t source, uint64_t index, struct str text)
{
    return make(in, (struct condition){ .op = op,
                                        .first = CONDITION_NONE,
                                        .second = CONDITION_NONE,
                                        .third = CONDITION_NONE,
                                        .source = source,
                                        .index = index,
                                        .text = text,
                                        .mark = tensor_mark_of(text) });
}

static uint64_t read_index(struct condition_reader *in)
{
    uint64_t ret = 0;
    if (!expect(in, "["))
        return 0;
    size_t n = str_digits(in->rest);
    in->failed |= !str_to_u64(str_first(in->rest, n), &ret);
    skip(in, n);
    expect(in, "]");
    return ret;
}

static condition_id read_source_term(struct condition_reader *in)
{
    uint32_t source = read_source(in);
    if (accept(in, ".size()"))
        return make_of_source(in, COND_SIZE, source, read_index(in), STR(""));
    if (accept(in, ".stride()"))
        return make_of_source(in, COND_STRIDE, source, read_index(in), STR(""));
    if (accept(in, ".storage_offset()"))
        return make_of_source(in, COND_OFFSET, source, 0, STR(""));
    return make_of_source(in, COND_SOURCE, source, 0, STR(""));
}

/* ---- Atoms ---- */

static struct str read_quoted(struct condition_reader *in)
{
    char quote = in->rest.n ? in->rest.p[0] : 0;
    size_t n = 1;
    if (quote != '\'' && quote != '"')
        in->failed = true;
    while (n < in->rest.n && in->rest.p[n] != quote) {
        in->failed |= in->rest.p[n] == '\\'; /* escapes are not decoded */
        n++;
    }
    if (in->failed || n >= in->rest.n) {
        in->failed = true;
        return STR("");
    }
    struct str ret = str_from(str_first(in->rest, n), 1);
    skip(in, n + 1);
    return ret;
}

static condition_id read_number(struct condition_reader *in)
{
    char copy[64];
    size_t n = 0;
    while (
        n < in->rest.n &&
        (is_digit(in->rest.p[n]) || in->rest.p[n] == '.' || (in->rest.p[n] | 32) == 'e' ||
         (n && (in->rest.p[n - 1] | 32) == 'e' && (in->rest.p[n] == '-' || in->rest.p[n] == '+'))))
        n++;
    struct py_value value = { .kind = PY_INT, .type = STR("int") };
    struct str text = str_first(in->rest, n);
    if (!n || n >= sizeof copy)
        return fail(in);
    skip(in, n);
    if (str_to_i64(text, &value.integer))
        return make_constant(in, value);
    if (str_digits(text) == text.n)
        return fail(in); /* beyond 64 bits */
    memcpy(copy, text.p, text.n);
    copy[text.n] = 0;
    value = (struct py_value){ .kind = PY_FLOAT, .type = STR("float"), .real = strtod(copy, NULL) };
    return make_constant(in, value);
}

/* Returns the length of a complex number as Python prints it, "2j" or "(1-2j)", or 0. */
static size_t complex_length(struct str text)
{
    bool braced = text.n && text.p[0] == '(';
    size_t n = braced;
    while (n < text.n && (is_digit(text.p[n]) || str_find_char(STR("+-.einfa"), text.p[n]) < 8))
        n++;
    bool ends = n > (size_t)braced && n < text.n && text.p[n] == 'j';
    if (!ends || (!braced && !is_digit(text.p[0])) ||
        (braced && (n + 1 == text.n || text.p[n + 1] != ')')))
        return 0;
    return n + 1 + braced;
}

/* Returns the length of "b'a'", escapes included, or 0. */
static size_t bytes_length(struct str text)
{
    size_t n = 2;
    if (text.n < 3 || text.p[0] != 'b' || (text.p[1] != '\'' && text.p[1] != '"'))
        return 0;
    while (n < text.n && text.p[n] != text.p[1])
        n += text.p[n] == '\\' ? 2 : 1;
    return n < text.n ? n + 1 : 0;
}

/* Reads a constant of a class that is compared by its text. */
static condition_id read_printed(struct condition_reader *in, size_t n, struct str type)
{
    struct py_value value = {
        .kind = PY_OBJECT, .type = type, .object = OBJECT_NONE, .text = str_first(in->rest, n)
    };
    skip(in, n);
    return make_constant(in, value);
}

static condition_id read_hasattr(struct condition_reader *in)
{
    uint32_t source = read_source(in);
    expect(in, ",");
    struct str name = read_quoted(in);
    expect(in, ")");
    return make_of_source(in, COND_HASATTR, source, 0, name);
}

static condition_id read_contains(struct condition_reader *in)
{
    condition_id key = read_choice(in);
    expect(in, ",");
    uint32_t source = read_source(in);
    expect(in, ")");
    condition_id id = make_of_source(in, COND_CONTAINS, source, 0, STR(""));
    if (id != CONDITION_NONE)
        in->pool->nodes.v[id].first = key;
    return id;
}

/* "L['s'], 2)" */
static condition_id read_set_contains(struct condition_reader *in)
{
    uint32_t source = read_source(in);
    expect(in, ",");
    condition_id key = read_choice(in);
    expect(in, ")");
    condition_id id = make_of_source(in, COND_CONTAINS, source, 0, STR(""));
    if (id != CONDITION_NONE)
        in->pool->nodes.v[id].first = key;
    return id;
}

/* "{1, 2}" */
static condition_id read_set(struct condition_reader *in, struct str type)
{
    size_t n = in->rest.n && in->rest.p[0] == '{' ? bracket_length(in->rest) : 0;
    struct py_value value = { .kind = PY_OBJECT, .type = type, .object = OBJECT_NONE };
    if (n < 2)
        return fail(in);
    value.text = str_from(str_first(in->rest, n - 1), 1);
    skip(in, n);
    return make_constant(in, value);
}

/* "{1, 2})", or ")" if it is empty */
static condition_id read_set_call(struct condition_reader *in, struct str type)
{
    if (accept(in, ")"))
        return make_constant(
            in, (struct py_value){ .kind = PY_OBJECT, .type = type, .object = OBJECT_NONE });
    condition_id ret = read_set(in, type);
    expect(in, ")");
    return in->failed ? fail(in) : ret;
}

/* "'cuda', index=0)" */
static condition_id read_device(struct condition_reader *in)
{
    struct py_value value = { .kind = PY_OBJECT, .type = STR("device"), .object = OBJECT_NONE };
    value.text = read_quoted(in);
    if (accept(in, ",")) {
        expect(in, "index");
        expect(in, "=");
        size_t n = str_digits(in->rest);
        in->failed |=
            !str_to_i64(str_first(in->rest, n), &value.integer) || value.integer == INT64_MAX;
        value.integer += !in->failed;
        skip(in, n);
    }
    expect(in, ")");
    return in->failed ? fail(in) : make_constant(in, value);
}

/* "torch.float32", "torch.channels_last" */
static condition_id read_torch_constant(struct condition_reader *in)
{
    struct py_value value = { .kind = PY_OBJECT, .object = OBJECT_NONE };
    size_t n = STR("torch.").n, word = str_word(str_from(in->rest, n));
    value.text = str_first(in->rest, n + word);
    if (!word || (n + word < in->rest.n && str_find_char(STR("(.["), in->rest.p[n + word]) < 3))
        return fail(in);
    skip(in, n + word);
    return make_constant(in, value);
}

/* "L['x'], '_dynamo_dynamic_indices', set()).issubset({0, 1})" or "..., None) == None". */
static condition_id read_getattr(struct condition_reader *in)
{
    uint32_t source = read_source(in);
    expect(in, ",");
    struct str name = read_quoted(in);
    expect(in, ",");
    if (accept(in, "None") && accept(in, ")"))
        return make_of_source(in, COND_HASATTR, source, 1, name);
    uint64_t dims = 0;
    expect(in, "set()).issubset({");
    while (!in->failed && !accept(in, "}")) {
        uint64_t dim = 0;
        size_t n = str_digits(in->rest);
        in->failed |= !str_to_u64(str_first(in->rest, n), &dim) || dim >= 64;
        skip(in, n);
        dims |= in->failed ? 0 : 1ull << dim;
        accept(in, ",");
    }
    expect(in, ")");
    return make_of_source(in, COND_MARKED, source, dims, name);
}

static condition_id read_function(struct condition_reader *in, enum condition_op op, bool two)
{
    condition_id first = read_choice(in), second = CONDITION_NONE;
    if (two) {
        expect(in, ",");
        second = read_choice(in);
    }
    expect(in, ")");
    return make_op(in, op, first, second);
}

static condition_id read_length(struct condition_reader *in)
{
    uint32_t source = read_source(in);
    expect(in, ")");
    return make_of_source(in, COND_LENGTH, source, 0, STR(""));
}

/* "L['y']) is float" */
static condition_id read_type(struct condition_reader *in)
{
    uint32_t source = read_source(in);
    expect(in, ")");
    expect(in, "is");
    size_t n = str_word(in->rest);
    struct str name = str_first(in->rest, n);
    in->failed |= n == 0;
    skip(in, n);
    return make_of_source(in, COND_TYPE, source, 0, name);
}

static condition_id read_atom(struct condition_reader *in)
{
    if (in->failed || !in->rest.n)
        return fail(in);
    if (source_length(in->rest))
        return read_source_term(in);
    if (complex_length(in->rest))
        return read_printed(in, complex_length(in->rest), STR("complex"));
    if (bytes_length(in->rest))
        return read_printed(in, bytes_length(in->rest), STR("bytes"));
    if (accept(in, "(")) {
        condition_id ret = read_choice(in);
        expect(in, ")");
        return ret;
    }
    if (str_is(str_first(in->rest, str_word(in->rest)), "Ellipsis"))
        return read_printed(in, STR("Ellipsis").n, STR("ellipsis"));
    if (accept(in, "None"))
        return make_constant(in, (struct py_value){ .kind = PY_NONE, .type = STR("NoneType") });
    bool is_true = accept(in, "True");
    if (is_true || accept(in, "False"))
        return make_constant(
            in, (struct py_value){ .kind = PY_BOOL, .type = STR("bool"), .integer = is_true });
    if (accept(in, "len("))
        return read_length(in);
    if (accept(in, "hasattr("))
        return read_hasattr(in);
    if (accept(in, "getattr("))
        return read_getattr(in);
    if (accept(in, "___dict_contains("))
        return read_contains(in);
    if (accept(in, "type("))
        return read_type(in);
    if (accept(in, "math.isnan(") || accept(in, "__math_isnan(") || accept(in, "__numpy_isnan("))
        return read_function(in, COND_IS_NAN, false);
    if (accept(in, "torch.sym_min(") || accept(in, "min("))
        return read_function(in, COND_MIN, true);
    if (accept(in, "torch.sym_max(") || accept(in, "max("))
        return read_function(in, COND_MAX, true);
    if (accept(in, "set.__contains__(") || accept(in, "frozenset.__contains__("))
        return read_set_contains(in);
    if (accept(in, "frozenset("))
        return read_set_call(in, STR("frozenset"));
    if (accept(in, "set("))
        return read_set_call(in, STR("set"));
    if (in->rest.p[0] == '{')
        return read_set(in, STR("set"));
    if (accept(in, "device(type="))
        return read_device(in);
    if (str_starts(in->rest, STR("torch.")))
        return read_torch_constant(in);
    if (is_digit(in->rest.p[0]) || in->rest.p[0] == '.')
        return read_number(in);
    if (in->rest.p[0] == '\'' || in->rest.p[0] == '"') {
        struct str text = read_quoted(in);
        return make_constant(in,
                             (struct py_value){ .kind = PY_STR, .type = STR("str"), .text = text });
    }
    return fail(in);
}

/* ---- Operators, tightest first ---- */

static condition_id read_unary(struct condition_reader *in)
{
    if (in->nesting == MOST_NESTING)
        return fail(in);
    in->nesting++;
    condition_id ret;
    if (accept(in, "-")) {
        ret = make_op(in, COND_NEGATIVE, read_unary(in), CONDITION_NONE);
    } else {
        ret = read_atom(in);
        if (accept(in, "**"))
            ret = make_op(in, COND_POWER, ret, read_unary(in));
    }
    in->nesting--;
    return ret;
}

static condition_id read_product(struct condition_reader *in)
{
    condition_id left = read_unary(in);
    while (!in->failed) {
        enum condition_op op = accept(in, "//")  ? COND_FLOOR_DIVIDE
                               : accept(in, "*") ? COND_MULTIPLY
                               : accept(in, "/") ? COND_DIVIDE
                               : accept(in, "%") ? COND_MODULO
                                                 : COND_CONSTANT;
        if (op == COND_CONSTANT)
            break;
        left = make_op(in, op, left, read_unary(in));
    }
    return left;
}

static condition_id read_sum(struct condition_reader *in)
{
    condition_id left = read_product(in);
    while (!in->failed) {
        bool plus = accept(in, "+");
        if (!plus && !accept(in, "-"))
            break;
        left = make_op(in, plus ? COND_ADD : COND_SUBTRACT, left, read_product(in));
    }
    return left;
}

static enum condition_op read_relation(struct condition_reader *in)
{
    static const struct {
        const char *sign;
        enum condition_op op;
    } rows[] = {
        { "==", COND_EQUAL },         { "!=", COND_UNEQUAL }, { "<=", COND_LESS_EQUAL },
        { ">=", COND_GREATER_EQUAL }, { "<", COND_LESS },     { ">", COND_GREATER },
        { "is not", COND_IS_NOT },    { "is", COND_IS },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (accept(in, rows[i].sign))
            return rows[i].op;
    return COND_CONSTANT;
}

/* Reads an operand of a relation, and returns in *chained whether it has a chain. */
static condition_id read_operand(struct condition_reader *in, bool *chained)
{
    bool before = in->chained;
    in->chained = false;
    condition_id ret = read_sum(in);
    *chained = in->chained;
    in->chained |= before;
    return ret;
}

/* a < b <= c means a < b and b <= c. Both evaluate b, so that a chain inside b would be evaluated
 * twice, and one inside its own b four times: such a condition is not of the grammar. */
/* Returns whether a tuple or list begins here: "(1, 2)", "()", "[1]". */
static bool is_sequence(const struct condition_reader *in)
{
    size_t n = bracket_length(in->rest);
    struct python_scan scan = { str_first(in->rest, n) };
    if (n < 2 || in->rest.p[0] == '[')
        return n >= 2 && in->rest.p[0] == '[';
    bool ret = in->rest.p[0] == '(' && !str_trim(str_from(str_first(in->rest, n - 1), 1)).n;
    while (!ret && in->rest.p[0] == '(' && python_scan_next(&scan))
        ret = scan.depth == 1 && scan.c == ',';
    return ret;
}

/* Returns the source of a member: "L['self'].t[1]". */
static uint32_t member_source(struct condition_reader *in, uint32_t source, unsigned i)
{
    struct buf text = BUF_INIT;
    buf_put(&text, intern_text(in->world->sources, source));
    buf_printf(&text, "[%u]", i);
    uint32_t ret = text.failed ? INTERN_NONE : world_source(in->world, buf_str(&text));
    buf_release(&text);
    if (ret == INTERN_NONE)
        in->no_memory = in->failed = true;
    return ret;
}

/* Reads a tuple or list that a source is compared with: its length, and each of its members. */
static condition_id read_members(struct condition_reader *in, uint32_t source)
{
    enum { MOST = 32 };
    const char *close = in->rest.p[0] == '(' ? ")" : "]";
    condition_id all = CONDITION_NONE;
    struct py_value n = { .kind = PY_INT, .type = STR("int"), .object = OBJECT_NONE };
    if (in->nesting == MOST_NESTING)
        return fail(in);
    in->nesting++;
    skip(in, 1);
    for (; !in->failed && !accept(in, close); n.integer++) {
        uint32_t member =
            n.integer < MOST ? member_source(in, source, (unsigned)n.integer) : INTERN_NONE;
        if (member == INTERN_NONE)
            return fail(in);
        condition_id one =
            is_sequence(in)
                ? read_members(in, member)
                : make_op(in, COND_EQUAL, make_of_source(in, COND_SOURCE, member, 0, STR("")),
                          read_sum(in));
        all = n.integer ? make_op(in, COND_AND, all, one) : one;
        if (!accept(in, ",") && !str_starts(in->rest, str_of(close)))
            return fail(in);
    }
    in->nesting--;
    condition_id length = make_op(
        in, COND_EQUAL, make_of_source(in, COND_LENGTH, source, 0, STR("")), make_constant(in, n));
    return n.integer ? make_op(in, COND_AND, length, all) : length;
}

static condition_id read_comparison(struct condition_reader *in)
{
    bool chained, first = true;
    condition_id left = read_operand(in, &chained), ret = left;
    while (!in->failed) {
        enum condition_op op = read_relation(in);
        if (op == COND_CONSTANT)
            break;
        if (!first && chained)
            return fail(in);
        if (first && op == COND_EQUAL && left != CONDITION_NONE &&
            in->pool->nodes.v[left].op == COND_SOURCE && in->rest.n && is_sequence(in))
            return read_members(in, in->pool->nodes.v[left].source);
        in->chained |= !first;
        condition_id right = read_operand(in, &chained), one = make_op(in, op, left, right);
        ret = first ? one : make_op(in, COND_AND, ret, one);
        first = false;
        left = right;
    }
    return ret;
}

static condition_id read_not(struct condition_reader *in)
{
    if (!accept(in, "not"))
        return read_comparison(in);
    if (in->nesting == MOST_NESTING)
        return fail(in);
    in->nesting++;
    condition_id ret = make_op(in, COND_NOT, read_not(in), CONDITION_NONE);
    in->nesting--;
    return ret;
}

static condition_id read_and(struct condition_reader *in)
{
    condition_id left = read_not(in);
    while (!in->failed && accept(in, "and"))
        left = make_op(in, COND_AND, left, read_not(in));
    return left;
}

static condition_id read_or(struct condition_reader *in)
{
    condition_id left = read_and(in);
    while (!in->failed && accept(in, "or"))
        left = make_op(in, COND_OR, left, read_and(in));
    return left;
}

static condition_id read_choice(struct condition_reader *in)
{
    if (in->nesting == MOST_NESTING)
        return fail(in);
    in->nesting++;
    condition_id yes = read_or(in);
    if (!in->failed && accept(in, "if")) {
        condition_id test = read_or(in);
        expect(in, "else");
        condition_id no = read_choice(in);
        yes = make_op(in, COND_CHOICE, yes, no);
        if (yes != CONDITION_NONE)
            in->pool->nodes.v[yes].third = test;
    }
    in->nesting--;
    return in->failed ? CONDITION_NONE : yes;
}

bool condition_parse(struct condition_pool *pool, struct world *world, struct str code,
                     condition_id *ret)
{
    size_t before = pool->nodes.n;
    struct condition_reader in = {
        .pool = pool, .world = world, .rest = str_trim(code), .start = before
    };
    *ret = read_choice(&in);
    if (in.rest.n)
        in.failed = true;
    if (in.failed) {
        pool->nodes.n = before;
        *ret = CONDITION_NONE;
    }
    return !in.no_memory;
}

void condition_pool_release(struct condition_pool *pool)
{
    vec_release(&pool->nodes);
}
