/* Parses the rules of custom operators: lines of tokens, then expressions by precedence
 * climbing. The input may be hostile, so nesting is counted and nothing beyond the text is read. */
#include "replay/ops/decomp/custom_token.h"
#include "replay/ops/dispatch/schema.h"
#include "trace/base/buf.h"

#include <stdlib.h>

struct custom_rules *custom_rules_new(struct err *err)
{
    struct custom_rules *rules = calloc(1, sizeof *rules);
    if (!rules)
        err_nomem(err);
    return rules;
}

void custom_rules_free(struct custom_rules *rules)
{
    if (!rules)
        return;
    arena_release(&rules->arena);
    vec_release(&rules->trees);
    vec_release(&rules->items);
    vec_release(&rules->rules);
    free(rules);
}

size_t custom_rules_count(const struct custom_rules *rules)
{
    return rules->rules.n;
}

const char *custom_rules_schema(const struct custom_rules *rules, size_t i)
{
    return rules->rules.v[i].schema.p;
}

/* --- Trees --- */

static uint32_t new_tree(struct parser *p, struct tree tree)
{
    if (p->failed)
        return NO_TREE;
    if (!tree.line) {
        tree.line = p->token_line;
        tree.column = p->token_column;
    }
    if (p->rules->trees.n >= UINT32_MAX - 1 || !vec_push(&p->rules->trees, tree))
        return token_no_memory(p);
    return (uint32_t)(p->rules->trees.n - 1);
}

/* Makes a tree whose items are adjacent in custom_rules.items. */
static uint32_t new_parent(struct parser *p, struct tree tree, const uint32_t *items, size_t n)
{
    if (p->failed)
        return NO_TREE;
    tree.first = (uint32_t)p->rules->items.n;
    tree.n = (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        if (!vec_push(&p->rules->items, items[i]))
            return token_no_memory(p);
    return new_tree(p, tree);
}

static struct str copy_text(struct parser *p, struct str text)
{
    struct str copy = arena_copy(&p->rules->arena, text);
    if (!copy.p)
        token_no_memory(p);
    return copy;
}

static uint32_t parse_expression(struct parser *p);
static uint32_t find_slot(const struct parser *p, struct str name);

static uint32_t new_name(struct parser *p, struct str name)
{
    uint32_t slot = find_slot(p, name);
    if (slot != NO_TREE)
        return slot;
    if (p->n_names == CUSTOM_MAX_NAMES)
        return FAIL(p, "more than %d names", CUSTOM_MAX_NAMES);
    p->names[p->n_names] = name;
    return p->n_names++;
}

/* In "[f(s) for s in list]" the parser must know s before it reads f(s). Returns the name after
 * a "for" that is in no further bracket, or "" where there is none. */
static struct str loop_name(const struct parser *p)
{
    int open = 0;
    char quote = 0;
    for (size_t i = p->token == TOKEN_END ? p->text.n : (size_t)(p->value.p - p->text.p);
         i < p->text.n && open >= 0; i++) {
        char c = p->text.p[i];
        if (quote || c == '"' || c == '\'') {
            quote = !quote ? c : c == quote || c == '\n' ? 0 : quote;
        } else if (c == '(' || c == '[') {
            open++;
        } else if (c == ')' || c == ']') {
            open--;
        } else if (open == 0 && i && str_starts(str_from(p->text, i), STR(" for "))) {
            struct str name = str_trim(str_first(str_from(p->text, i + 5), 64));
            size_t n = 0;
            while (n < name.n && (is_name_start(name.p[n]) || (n && is_digit(name.p[n]))))
                n++;
            return str_first(name, n);
        }
    }
    return (struct str){ 0 };
}

enum { MAX_ITEMS = 256 }; /* of one list or call */

/* Reads the items up to `close`. Keywords are accepted only if `keywords` is set. */
static uint32_t parse_items(struct parser *p, struct tree tree, const char *close, bool keywords,
                            const uint32_t *before, size_t n)
{
    uint32_t items[MAX_ITEMS];
    if (n)
        memcpy(items, before, n * sizeof *items);
    while (!p->failed && !token_at_sign(p, close)) {
        struct str keyword = { 0 };
        uint32_t item = parse_expression(p);
        if (p->failed)
            return NO_TREE;
        struct tree *made = &p->rules->trees.v[item];
        if (keywords && token_at_sign(p, "=")) {
            if (made->kind != TREE_CONSTANT && made->kind != TREE_LOCAL)
                return FAIL(p, "a keyword is expected before '='");
            keyword = made->text;
            token_advance(p);
            item = parse_expression(p);
            if (p->failed)
                return NO_TREE;
            p->rules->trees.v[item].keyword = keyword;
        }
        if (n == MAX_ITEMS)
            return FAIL(p, "more than %d items", MAX_ITEMS);
        items[n++] = item;
        if (!token_take(p, ","))
            break;
    }
    if (!token_expect(p, close))
        return NO_TREE;
    return new_parent(p, tree, items, n);
}

/* --- Expressions --- */

static uint32_t find_slot(const struct parser *p, struct str name)
{
    for (uint32_t i = 0; i < p->n_names; i++)
        if (str_eq(p->names[i], name))
            return i;
    return NO_TREE;
}

static bool is_constant(struct str name)
{
    static const char *const constants[] = { "torch.contiguous_format",
                                             "torch.preserve_format",
                                             "torch.channels_last",
                                             "torch.channels_last_3d",
                                             "torch.strided",
                                             "torch.inf",
                                             "torch.nan" };
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (str_is(name, constants[i]))
            return true;
    return dtype_by_python_name(name) != DTYPE_NONE;
}

static bool is_function(struct str name)
{
    static const char *const functions[] = {
        "check",
        "unbacked",
        "len",
        "sum",
        "prod",
        "max",
        "min",
        "int",
        "float",
        "bool",
        "abs",
        "range",
        "maybe_convert",
        "computation_dtype",
        "behaves",
        "suggest_memory_format",
        "statically_known_true",
        "has_symbolic_sizes_strides",
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (str_is(name, functions[i]))
            return true;
    return str_find_char(name, '.') < name.n;
}

/* Reads a name that is not a local one, with the names that follow it after dots. */
static uint32_t parse_global_name(struct parser *p)
{
    struct tree tree = { .line = p->token_line, .column = p->token_column };
    struct buf name = BUF_INIT;
    buf_put(&name, p->value);
    token_advance(p);
    while (token_at_sign(p, ".")) {
        token_advance(p);
        if (p->token != TOKEN_NAME) {
            buf_release(&name);
            return FAIL(p, "a name is expected after '.'");
        }
        buf_putc(&name, '.');
        buf_put(&name, p->value);
        token_advance(p);
    }
    tree.text = name.failed ? (struct str){ 0 } : copy_text(p, buf_str(&name));
    buf_release(&name);
    if (!tree.text.p)
        return token_no_memory(p);
    if (token_at_sign(p, "(")) {
        if (!is_function(tree.text))
            return token_fail_at(p, tree.line, tree.column, "there is no function '%.*s'",
                                 STR_ARG(tree.text));
        token_advance(p);
        tree.kind = TREE_CALL;
        return parse_items(p, tree, ")", true, NULL, 0);
    }
    tree.kind = TREE_CONSTANT;
    if (!is_constant(tree.text) && !token_at_sign(p, "="))
        return token_fail_at(p, tree.line, tree.column, "there is no variable or argument '%.*s'",
                             STR_ARG(tree.text));
    return new_tree(p, tree);
}

static uint32_t parse_name(struct parser *p)
{
    struct tree tree = { .line = p->token_line, .column = p->token_column };
    uint32_t slot = find_slot(p, p->value);
    if (token_at_name(p, "None") || token_at_name(p, "True") || token_at_name(p, "False")) {
        tree.kind = token_at_name(p, "None") ? TREE_NONE : TREE_BOOL;
        tree.integer = token_at_name(p, "True");
    } else if (slot == NO_TREE) {
        return parse_global_name(p);
    } else {
        tree.kind = TREE_LOCAL;
        tree.integer = slot;
        tree.text = copy_text(p, p->value);
    }
    token_advance(p);
    return new_tree(p, tree);
}

static uint32_t parse_numeric_literal(struct parser *p)
{
    struct tree tree = { .kind = TREE_INT };
    char text[64] = { 0 };
    if (p->value.n >= sizeof text)
        return FAIL(p, "a number of %zu digits", p->value.n);
    memcpy(text, p->value.p, p->value.n);
    if (p->token == TOKEN_FLOAT) {
        tree.kind = TREE_FLOAT;
        tree.number = strtod(text, NULL);
    } else if (!str_to_i64(p->value, &tree.integer)) {
        return FAIL(p, "a number beyond 64 bits");
    }
    uint32_t made = new_tree(p, tree);
    token_advance(p);
    return made;
}

static uint32_t parse_parentheses(struct parser *p)
{
    struct tree tree = { .kind = TREE_TUPLE, .line = p->token_line, .column = p->token_column };
    token_advance(p);
    if (token_at_sign(p, ")"))
        return parse_items(p, tree, ")", false, NULL, 0);
    uint32_t one = parse_expression(p);
    if (token_take(p, ","))
        return parse_items(p, tree, ")", false, &one, 1);
    return token_expect(p, ")") ? one : NO_TREE;
}

/* Reads a list, or [item for name in list]. */
static uint32_t parse_brackets(struct parser *p, struct tree tree)
{
    struct str name = loop_name(p);
    tree.kind = name.n ? TREE_FOR : TREE_LIST;
    if (!name.n)
        return parse_items(p, tree, "]", false, NULL, 0);
    uint32_t slot = new_name(p, copy_text(p, name)),
             item = p->failed ? NO_TREE : parse_expression(p);
    if (!p->failed && !token_at_name(p, "for"))
        return FAIL(p, "'for' is expected");
    token_advance(p);
    token_advance(p); /* the name */
    if (!p->failed && !token_at_name(p, "in"))
        return FAIL(p, "'in' is expected");
    token_advance(p);
    uint32_t list = p->failed ? NO_TREE : parse_expression(p);
    tree.integer = slot;
    return token_expect(p, "]") ? new_parent(p, tree, (uint32_t[]){ item, list }, 2) : NO_TREE;
}

static uint32_t parse_atom(struct parser *p)
{
    struct tree tree = { .line = p->token_line, .column = p->token_column };
    switch (p->token) {
    case TOKEN_NAME: return parse_name(p);
    case TOKEN_INT:
    case TOKEN_FLOAT: return parse_numeric_literal(p);
    case TOKEN_STRING:
        tree.kind = TREE_STRING;
        tree.text = copy_text(p, p->value);
        token_advance(p);
        return new_tree(p, tree);
    default: break;
    }
    if (token_at_sign(p, "("))
        return parse_parentheses(p);
    if (token_take(p, "["))
        return parse_brackets(p, tree);
    if (token_take(p, "...")) {
        tree.kind = TREE_ELLIPSIS;
        return new_tree(p, tree);
    }
    return FAIL(p, "an expression is expected");
}

/* Reads a, a:b or a:b:c. */
static uint32_t parse_subscript(struct parser *p)
{
    struct tree tree = { .kind = TREE_SLICE, .line = p->token_line, .column = p->token_column };
    uint32_t parts[3], n = 0;
    bool colon = false;
    while (n < 3) {
        bool empty = token_at_sign(p, ":") || token_at_sign(p, "]") || token_at_sign(p, ",");
        parts[n++] = empty ? new_tree(p, (struct tree){ .kind = TREE_NONE }) : parse_expression(p);
        if (n == 3 || !token_take(p, ":"))
            break;
        colon = true;
    }
    if (!colon)
        return parts[0];
    while (n < 3)
        parts[n++] = new_tree(p, (struct tree){ .kind = TREE_NONE });
    return new_parent(p, tree, parts, 3);
}

static uint32_t parse_item(struct parser *p, uint32_t object)
{
    struct tree tree = { .kind = TREE_ITEM, .line = p->token_line, .column = p->token_column };
    uint32_t indices[MAX_ITEMS];
    size_t n = 0;
    do {
        if (n == MAX_ITEMS)
            return FAIL(p, "more than %d items", MAX_ITEMS);
        indices[n++] = parse_subscript(p);
    } while (!p->failed && token_take(p, ","));
    if (!token_expect(p, "]"))
        return NO_TREE;
    uint32_t index =
        n == 1 ? indices[0] : new_parent(p, (struct tree){ .kind = TREE_TUPLE }, indices, n);
    return new_parent(p, tree, (uint32_t[]){ object, index }, 2);
}

static uint32_t parse_postfix(struct parser *p)
{
    uint32_t object = parse_atom(p);
    for (unsigned links = 0; !p->failed; links++) {
        struct tree tree = { .line = p->token_line, .column = p->token_column };
        if (links > CUSTOM_MAX_DEPTH)
            return FAIL(p, "an expression of more than %d parts", CUSTOM_MAX_DEPTH);
        if (token_take(p, "[")) {
            object = parse_item(p, object);
        } else if (token_take(p, ".")) {
            if (p->token != TOKEN_NAME)
                return FAIL(p, "a name is expected after '.'");
            tree.text = copy_text(p, p->value);
            token_advance(p);
            tree.kind = token_at_sign(p, "(") ? TREE_METHOD : TREE_ATTRIBUTE;
            object = token_take(p, "(") ? parse_items(p, tree, ")", true, &object, 1)
                                        : new_parent(p, tree, &object, 1);
        } else {
            break;
        }
    }
    return object;
}

static uint32_t parse_unary(struct parser *p);

static uint32_t new_operator(struct parser *p, const char *name, uint32_t a, uint32_t b)
{
    struct tree tree = { .kind = TREE_OPERATOR, .text = str_of(name) };
    return new_parent(p, tree, (uint32_t[]){ a, b }, b == NO_TREE ? 1 : 2);
}

static uint32_t parse_power(struct parser *p)
{
    uint32_t base = parse_postfix(p);
    return token_take(p, "**") ? new_operator(p, "pow", base, parse_unary(p)) : base;
}

static bool enter_nesting(struct parser *p)
{
    if (p->depth++ < CUSTOM_MAX_DEPTH)
        return true;
    FAIL(p, "expressions nest deeper than %d", CUSTOM_MAX_DEPTH);
    return false;
}

/* Negates x. A literal number becomes the negative number. */
static uint32_t negate_tree(struct parser *p, uint32_t x)
{
    struct tree *number = p->failed ? NULL : &p->rules->trees.v[x];
    bool literal = number && (number->kind == TREE_FLOAT ||
                              (number->kind == TREE_INT && number->integer != INT64_MIN));
    if (!literal)
        return new_operator(p, "neg", x, NO_TREE);
    number->number = -number->number;
    number->integer = -number->integer;
    return x;
}

static uint32_t parse_unary(struct parser *p)
{
    uint32_t made = NO_TREE;
    if (!enter_nesting(p))
        return NO_TREE;
    if (token_take(p, "-"))
        made = negate_tree(p, parse_unary(p));
    else if (token_take(p, "+"))
        made = parse_unary(p);
    else if (token_take(p, "~"))
        made = new_operator(p, "invert", parse_unary(p), NO_TREE);
    else
        made = parse_power(p);
    p->depth--;
    return made;
}

/* Binary operators, from the loosest to the tightest. */
static const struct {
    int level;
    const char *sign, *name;
} operators[] = {
    { 0, "==", "eq" },  { 0, "!=", "ne" },     { 0, "<=", "le" },       { 0, ">=", "ge" },
    { 0, "<", "lt" },   { 0, ">", "gt" },      { 1, "|", "or_" },       { 2, "^", "xor" },
    { 3, "&", "and_" }, { 4, "<<", "lshift" }, { 4, ">>", "rshift" },   { 5, "+", "add" },
    { 5, "-", "sub" },  { 6, "*", "mul" },     { 6, "//", "floordiv" }, { 6, "/", "truediv" },
    { 6, "%", "mod" },  { 6, "@", "matmul" },
};
static int operator_at(const struct parser *p)
{
    if (p->token == TOKEN_SIGN)
        for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
            if (operators[i].sign[0] == p->value.p[0] && str_is(p->value, operators[i].sign))
                return (int)i;
    return -1;
}

/* Reads the operators of this level and of tighter ones (precedence climbing). */
static uint32_t parse_binary(struct parser *p, int level)
{
    uint32_t left = parse_unary(p);
    unsigned terms = 0;
    int at;
    while (!p->failed && (at = operator_at(p)) >= 0 && operators[at].level >= level) {
        if (++terms > CUSTOM_MAX_DEPTH)
            return FAIL(p, "more than %d terms in a row", CUSTOM_MAX_DEPTH);
        token_advance(p);
        left = new_operator(p, operators[at].name, left, parse_binary(p, operators[at].level + 1));
        if (operators[at].level == 0 && (at = operator_at(p)) >= 0 && operators[at].level == 0)
            return FAIL(p, "comparisons cannot be chained");
    }
    return left;
}

/* Reads a is b, or a is not b. */
static uint32_t parse_identity(struct parser *p)
{
    uint32_t left = parse_binary(p, 0);
    if (p->failed || !token_at_name(p, "is"))
        return left;
    token_advance(p);
    bool negated = token_at_name(p, "not");
    if (negated)
        token_advance(p);
    return new_operator(p, negated ? "is_not" : "is_", left, parse_binary(p, 0));
}

static uint32_t parse_not(struct parser *p)
{
    if (!token_at_name(p, "not"))
        return parse_identity(p);
    token_advance(p);
    if (!enter_nesting(p))
        return NO_TREE;
    uint32_t made = new_operator(p, "not_", parse_not(p), NO_TREE);
    p->depth--;
    return made;
}

static uint32_t parse_logic(struct parser *p, bool either)
{
    uint32_t left = either ? parse_logic(p, false) : parse_not(p);
    for (unsigned terms = 0; !p->failed && token_at_name(p, either ? "or" : "and"); terms++) {
        struct tree tree = { .kind = either ? TREE_OR : TREE_AND };
        if (terms > CUSTOM_MAX_DEPTH)
            return FAIL(p, "more than %d terms in a row", CUSTOM_MAX_DEPTH);
        token_advance(p);
        uint32_t right = either ? parse_logic(p, false) : parse_not(p);
        left = new_parent(p, tree, (uint32_t[]){ left, right }, 2);
    }
    return left;
}

static uint32_t parse_expression(struct parser *p)
{
    if (!enter_nesting(p))
        return NO_TREE;
    uint32_t yes = parse_logic(p, true);
    if (!p->failed && token_at_name(p, "if")) {
        struct tree tree = { .kind = TREE_IF };
        token_advance(p);
        uint32_t condition = parse_logic(p, true);
        if (!token_at_name(p, "else"))
            return FAIL(p, "'else' is expected");
        token_advance(p);
        uint32_t no = parse_expression(p);
        yes = new_parent(p, tree, (uint32_t[]){ condition, yes, no }, 3);
    }
    p->depth--;
    return yes;
}

/* --- Statements --- */

static uint32_t parse_return(struct parser *p)
{
    struct tree tree = { .kind = TREE_RETURN, .line = p->token_line, .column = p->token_column };
    uint32_t items[MAX_ITEMS];
    size_t n = 0;
    token_advance(p);
    while (!p->failed && p->token != TOKEN_NEWLINE && p->token != TOKEN_END) {
        if (n == MAX_ITEMS)
            return FAIL(p, "more than %d items", MAX_ITEMS);
        items[n++] = parse_expression(p);
        if (!token_take(p, ","))
            break;
    }
    return new_parent(p, tree, items, n);
}

static uint32_t parse_assignment(struct parser *p, uint32_t target)
{
    struct tree tree = p->failed ? (struct tree){ 0 } : p->rules->trees.v[target];
    if (p->failed || (tree.kind != TREE_LOCAL && tree.kind != TREE_CONSTANT) ||
        str_find_char(tree.text, '.') < tree.text.n)
        return FAIL(p, "only a name can be assigned to");
    token_advance(p);
    uint32_t value = parse_expression(p), slot = p->failed ? NO_TREE : new_name(p, tree.text);
    struct tree made = { .kind = TREE_ASSIGN, .integer = slot, .line = tree.line };
    return new_parent(p, made, &value, 1);
}

static uint32_t parse_block(struct parser *p, uint32_t column);

/* Reads if CONDITION, elif CONDITION or else, and its block. A TREE_IF without an else has an
 * empty one. */
static uint32_t parse_if(struct parser *p)
{
    struct tree tree = { .kind = TREE_IF, .line = p->token_line, .column = p->token_column };
    uint32_t column = p->token_column, items[3];
    token_advance(p);
    items[0] = parse_expression(p);
    items[1] = parse_block(p, column);
    if (p->token_column == column && token_at_name(p, "elif")) {
        items[2] = enter_nesting(p) ? parse_if(p) : NO_TREE;
        p->depth--;
    } else if (p->token_column == column && token_at_name(p, "else")) {
        token_advance(p);
        items[2] = parse_block(p, column);
    } else {
        items[2] = new_tree(p, (struct tree){ .kind = TREE_NONE });
    }
    return new_parent(p, tree, items, 3);
}

/* Reads for NAME in LIST, and its block. */
static uint32_t parse_for(struct parser *p)
{
    struct tree tree = { .kind = TREE_LOOP, .line = p->token_line, .column = p->token_column };
    uint32_t column = p->token_column, items[2];
    token_advance(p);
    if (p->token != TOKEN_NAME)
        return FAIL(p, "a name is expected after 'for'");
    struct str name = copy_text(p, p->value);
    token_advance(p);
    if (!p->failed && !token_at_name(p, "in"))
        return FAIL(p, "'in' is expected");
    token_advance(p);
    items[0] = parse_expression(p);
    tree.integer = p->failed ? NO_TREE : new_name(p, name);
    items[1] = parse_block(p, column);
    return new_parent(p, tree, items, 2);
}

static uint32_t parse_statement(struct parser *p)
{
    if (token_at_name(p, "if"))
        return parse_if(p);
    if (token_at_name(p, "for"))
        return parse_for(p);
    if (token_at_name(p, "return"))
        return parse_return(p);
    uint32_t made = parse_expression(p);
    if (!p->failed && token_at_sign(p, "="))
        return parse_assignment(p, made);
    return made;
}

/* Reads a statement and the end of its line. */
static uint32_t parse_whole_statement(struct parser *p)
{
    bool has_block = token_at_name(p, "if") || token_at_name(p, "for");
    uint32_t made = parse_statement(p);
    if (!p->failed && !has_block && p->token != TOKEN_NEWLINE && p->token != TOKEN_END)
        FAIL(p, "the end of the line is expected");
    while (p->token == TOKEN_NEWLINE)
        token_advance(p);
    return made;
}

/* Reads ":", the end of the line, and the statements that are indented further than `column`. */
static uint32_t parse_block(struct parser *p, uint32_t column)
{
    struct tree tree = { .kind = TREE_BLOCK, .line = p->token_line, .column = p->token_column };
    uint32_t statements[MAX_ITEMS];
    size_t n = 0;
    if (!token_expect(p, ":"))
        return NO_TREE;
    if (p->token != TOKEN_NEWLINE)
        return FAIL(p, "the end of the line is expected");
    while (p->token == TOKEN_NEWLINE)
        token_advance(p);
    if (!enter_nesting(p))
        return NO_TREE;
    while (!p->failed && p->token != TOKEN_END && p->token_column > column) {
        if (n == MAX_ITEMS)
            return FAIL(p, "more than %d statements", MAX_ITEMS);
        statements[n++] = parse_whole_statement(p);
    }
    p->depth--;
    return n ? new_parent(p, tree, statements, n) : FAIL(p, "an indented statement is expected");
}

/* --- Rules --- */

/* Returns the text of the schema, which ends with the line, or later if parentheses are open. */
static struct str schema_text(struct parser *p)
{
    int open = 0;
    size_t from = p->at;
    struct buf text = BUF_INIT;
    for (; p->at < p->text.n && (p->text.p[p->at] != '\n' || open > 0); p->at++) {
        char c = p->text.p[p->at];
        open += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
        if (c == '#' || p->at - from > 10000)
            break;
        if (c == '\n') {
            p->line++;
            p->line_start = p->at + 1;
        }
        bool blank = c == '\n' || c == ' ' || c == '\t' || c == '\r';
        if (!blank)
            buf_putc(&text, c);
        else if (text.n && text.p[text.n - 1] != ' ')
            buf_putc(&text, ' ');
    }
    while (p->at < p->text.n && p->text.p[p->at] != '\n')
        p->at++;
    struct str trimmed = str_trim(buf_str(&text));
    if (trimmed.n && trimmed.p[trimmed.n - 1] == ':')
        trimmed = str_trim(str_first(trimmed, trimmed.n - 1));
    struct str ret = text.failed ? (struct str){ 0 } : copy_text(p, trimmed);
    buf_release(&text);
    return ret;
}

/* Reads the schema, whose arguments become the first names. */
static bool read_schema(struct parser *p, struct custom_rule *rule)
{
    uint32_t line = p->line;
    struct err err = { 0 };
    struct schema schema;
    rule->schema = schema_text(p);
    struct sym_pool *pool = p->failed || !rule->schema.p ? NULL : sym_pool_new(&err);
    if (!pool)
        return token_no_memory(p) != NO_TREE;
    bool ok = schema_parse(rule->schema, &p->rules->arena, pool, &schema, &err);
    if (ok && memchr(rule->schema.p, 0, rule->schema.n))
        token_fail_at(p, line, 1, "a schema has a byte 0");
    if (!ok && err.kind == ERR_INPUT)
        token_fail_at(p, line, 1, "%s", err.text);
    else if (!ok)
        token_no_memory(p);
    else if (schema.any_arity || schema.n_args > CUSTOM_MAX_NAMES / 2)
        token_fail_at(p, line, 1, "a schema has too many arguments");
    for (uint32_t i = 0; !p->failed && i < schema.n_args; i++)
        p->names[i] = copy_text(p, schema.args[i].name);
    sym_pool_free(pool);
    rule->n_args = p->n_names = p->failed ? 0 : schema.n_args;
    return !p->failed;
}

/* Returns whether a statement follows: it is indented if a schema precedes it. */
static bool at_statement(const struct parser *p)
{
    return p->token != TOKEN_END && (p->bare || p->token_column > 1);
}

enum { MAX_STATEMENTS = 1000 };

static bool read_statements(struct parser *p, struct custom_rule rule)
{
    uint32_t statements[MAX_STATEMENTS];
    token_advance(p);
    while (p->token == TOKEN_NEWLINE)
        token_advance(p);
    while (!p->failed && at_statement(p)) {
        if (rule.n == MAX_STATEMENTS)
            return FAIL(p, "more than %d statements", MAX_STATEMENTS) != NO_TREE;
        statements[rule.n++] = parse_whole_statement(p);
    }
    if (!rule.n)
        FAIL(p, "a rule without statements: at least 'return' is expected");
    rule.first = (uint32_t)p->rules->items.n;
    for (uint32_t i = 0; !p->failed && i < rule.n; i++)
        if (!vec_push(&p->rules->items, statements[i]))
            token_no_memory(p);
    rule.n_names = p->n_names;
    if (!p->failed && !vec_push(&p->rules->rules, rule))
        token_no_memory(p);
    return !p->failed;
}

static bool read_rule(struct parser *p)
{
    struct custom_rule rule = { 0 };
    p->at = p->line_start;
    return read_schema(p, &rule) && read_statements(p, rule);
}

bool custom_rules_add_body(struct custom_rules *rules, const struct schema *schema, struct str text,
                           struct err *err)
{
    struct parser p = { .rules = rules, .text = text, .file = STR("body"), .line = 1, .err = err };
    struct custom_rule rule = { .n_args = schema->n_args };
    p.bare = true;
    p.n_names = schema->n_args;
    for (uint32_t i = 0; i < schema->n_args; i++)
        p.names[i] = schema->args[i].name;
    return read_statements(&p, rule);
}

bool custom_rules_add(struct custom_rules *rules, struct str text, struct str file, struct err *err)
{
    struct parser p = { .rules = rules, .text = text, .file = file, .line = 1, .err = err };
    if (text.n > CUSTOM_MAX_TEXT) {
        token_fail_at(&p, 1, 1, "rules of more than %d bytes", CUSTOM_MAX_TEXT);
        return false;
    }
    token_advance(&p);
    while (!p.failed && p.token != TOKEN_END) {
        if (p.token == TOKEN_NEWLINE) {
            token_advance(&p);
            continue;
        }
        if (p.token_column > 1)
            FAIL(&p, "a schema starts in the first column");
        else if (rules->rules.n >= CUSTOM_MAX_RULES)
            FAIL(&p, "more than %d rules", CUSTOM_MAX_RULES);
        else
            read_rule(&p);
    }
    return !p.failed;
}
