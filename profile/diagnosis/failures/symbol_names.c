#include "profile/diagnosis/failures/symbol_names.h"

#include "profile/model/format.h"
#include "replay/shape/expr/sym.h"
#include "trace/events/result_name.h"
#include "trace/events/user_line.h"

enum { MOST_DIMS = 16 }; /* of a tensor, whose sizes are read */

static const struct trace *scope_trace(const struct symbol_scope *scope)
{
    return find_input(scope->d, scope->recording)->trace;
}

const struct symbol *symbol_find(const struct symbol_scope *scope, struct str name)
{
    return symbol_table_find(find_input(scope->d, scope->recording)->symbols,
                             scope->d->p->recordings[scope->recording].recording, scope->attempt,
                             name, scope->record);
}

/* ---- Sources ---- */

bool source_size(struct str source, struct str *tensor, uint64_t *dim)
{
    size_t at = str_find(source, STR(".size()["));
    if (at == source.n || !str_ends(source, STR("]")))
        return false;
    struct str number = str_from(source, at + 8);
    *tensor = str_first(source, at);
    return str_to_u64(str_first(number, number.n - 1), dim);
}

void source_put_code(struct str source, struct buf *out)
{
    struct str tensor;
    uint64_t dim;
    bool is_size = source_size(source, &tensor, &dim);
    if (is_size)
        source = tensor;
    bool local = str_starts(source, STR("L['")) || str_starts(source, STR("G['"));
    size_t end = str_find(source, STR("']"));
    if (local && end < source.n) {
        buf_put(out, str_from(str_first(source, end), 3));
        source = str_from(source, end + 2);
    }
    buf_put(out, source);
    if (is_size)
        buf_printf(out, ".shape[%llu]", (unsigned long long)dim);
}

/* ---- Unbacked symbols ---- */

/* Operators of torch/_subclasses/fake_impls.py that make unbacked symbols, as users call them. */
static const struct {
    const char *function, *call;
} MAKERS[] = {
    { "local_scalar_dense", ".item()" },
    { "nonzero", "nonzero()" },
    { "index_tensor", "indexing with a mask" },
    { "masked_select", "masked_select()" },
    { "unique", "unique()" },
    { "unique2", "unique()" },
    { "unique_dim", "unique()" },
    { "_unique", "unique()" },
    { "repeat_interleave_tensor", "repeat_interleave()" },
    { "bincount", "bincount()" },
    { "slice_forward", "slicing with a data-dependent bound" },
};

struct str fake_operator(const struct symbol_scope *scope, stack_id stack)
{
    const struct trace *trace = scope_trace(scope);
    uint32_t in = scope->d->p->recordings[scope->recording].recording;
    struct str function = STR("");
    for (stack_id s = stack; s; s = stack_parent(trace, s)) {
        struct frame frame = stack_frame(trace, in, s);
        if (str_ends(frame.file, STR("_subclasses/fake_impls.py")) &&
            !str_is(frame.function, "dispatch_to_op_implementations_dict"))
            function = frame.function;
        else if (function.n == 0 && str_is(frame.function, "wrap_tensor"))
            return STR("mark_unbacked");
    }
    return function;
}

struct str symbol_maker(const struct symbol_scope *scope, const struct symbol *symbol)
{
    struct str function = fake_operator(scope, symbol->stack);
    for (size_t i = 0; i < sizeof MAKERS / sizeof *MAKERS; i++)
        if (str_is(function, MAKERS[i].function))
            return str_of(MAKERS[i].call);
    return function;
}

/* A tensor that was marked with mark_unbacked, from its describe_source and describe_tensor records
 * (MetaTensorDescriber in torch/_subclasses/meta_utils.py). */
struct marked_tensor {
    struct buf source;
    int64_t ndim;             /* 0: not known */
    int64_t sizes[MOST_DIMS]; /* -1: not known */
};

static void read_sizes(const struct json *doc, int64_t *sizes)
{
    json_id list = json_get(doc, JSON_ROOT, STR("size"));
    json_id item = json_kind_of(doc, list) == JSON_ARRAY ? json_first(doc, list) : JSON_NONE;
    for (int i = 0; i < MOST_DIMS; i++) {
        if (!json_i64(doc, item, &sizes[i]))
            sizes[i] = -1;
        item = item == JSON_NONE ? item : json_next(doc, item);
    }
}

/* Reads the tensor that was described last before a symbol. */
static void read_marked(const struct symbol_scope *scope, const struct symbol *symbol,
                        struct marked_tensor *ret)
{
    const struct trace *trace = scope_trace(scope);
    struct json doc = { 0 };
    bool done = false;
    for (uint32_t i = symbol->record; !done && i-- > 0;) {
        const struct record *r = &trace->records[i];
        struct err ignored = { 0 };
        bool is_source = r->event == EVENT_DESCRIBE_SOURCE && ret->source.n == 0;
        bool is_tensor = r->event == EVENT_DESCRIBE_TENSOR && ret->source.n > 0;
        if (r->attempt != symbol->attempt || !(is_source || is_tensor))
            continue;
        bool read = record_json(trace, i, &doc, &ignored);
        if (read && is_source)
            buf_put(&ret->source, json_str(&doc, json_get(&doc, JSON_ROOT, STR("source"))));
        else if (read && json_i64(&doc, json_get(&doc, JSON_ROOT, STR("ndim")), &ret->ndim))
            read_sizes(&doc, ret->sizes);
        done = is_tensor || ret->source.n == 0;
    }
    json_release(&doc);
}

/* Returns the dimension in a text that follows "x.shape[" or "x.size(": "0]", "-1)"; -1 for other
 * texts. */
static int64_t read_dim(struct str text, int64_t ndim)
{
    bool negative = str_starts(text, STR("-"));
    int64_t dim;
    text = str_from(text, negative ? 1 : 0);
    size_t n = str_digits(text);
    if (n == 0 || n == text.n || (text.p[n] != ']' && text.p[n] != ')') ||
        !str_to_i64(str_first(text, n), &dim))
        return -1;
    return !negative ? dim : dim <= ndim ? ndim - dim : -1;
}

/* Returns the dimension of a tensor whose size code reads as x.shape[0], x.size(0) or len(x); -1 if
 * it reads none or several. */
static int64_t dim_in_code(struct str code, struct str tensor, int64_t ndim)
{
    static const struct {
        const char *before, *after;
    } READS[] = { { "", ".shape[" }, { "", ".size(" }, { "len(", ")" } };
    struct buf read = BUF_INIT;
    int64_t found = -1;
    bool same = true;
    for (size_t i = 0; i < sizeof READS / sizeof *READS; i++) {
        buf_clear(&read);
        buf_printf(&read, "%s%.*s%s", READS[i].before, STR_ARG(tensor), READS[i].after);
        struct str rest = code;
        for (size_t at; !read.failed && (at = str_find(rest, buf_str(&read))) < rest.n;) {
            bool starts = at == 0 || !(is_word_char(rest.p[at - 1]) || rest.p[at - 1] == '.');
            rest = str_from(rest, at + read.n);
            int64_t dim = *READS[i].before ? 0 : read_dim(rest, ndim);
            same = same && (!starts || found < 0 || dim == found);
            found = starts ? dim : found;
        }
    }
    buf_release(&read);
    return same && (ndim == 0 || found < ndim) ? found : -1;
}

/* Returns the dimension that a symbol of a marked tensor is the size of: the one that `code`, which
 * asks for the symbol, reads, or the only one; -1 if it is not known. */
static int64_t marked_dim(struct marked_tensor *tensor, struct str code)
{
    struct buf name = BUF_INIT;
    source_put_code(buf_str(&tensor->source), &name);
    int64_t dim = tensor->ndim == 1 ? 0 : dim_in_code(code, buf_str(&name), tensor->ndim);
    tensor->source.failed |= name.failed;
    buf_release(&name);
    return dim;
}

/* Appends the source of a symbol that mark_unbacked made. It has none of its own; if the dimension
 * is not known, the source is the tensor's. */
static void put_marked_source(const struct symbol_scope *scope, const struct symbol *symbol,
                              struct str code, struct buf *out)
{
    struct marked_tensor tensor = { .source = BUF_INIT };
    read_marked(scope, symbol, &tensor);
    int64_t dim = marked_dim(&tensor, code);
    buf_put(out, buf_str(&tensor.source));
    if (out->n > 0 && dim >= 0)
        buf_printf(out, ".size()[%lld]", (long long)dim);
    out->failed |= tensor.source.failed;
    buf_release(&tensor.source);
}

bool symbol_recorded_value(const struct symbol_scope *scope, const struct symbol *symbol,
                           struct str code, int64_t *ret)
{
    struct marked_tensor tensor = { .source = BUF_INIT };
    if (!symbol->unbacked)
        return str_to_i64(symbol->value, ret);
    if (!str_is(symbol_maker(scope, symbol), "mark_unbacked"))
        return false;
    read_marked(scope, symbol, &tensor);
    int64_t dim = tensor.source.failed ? -1 : marked_dim(&tensor, code);
    bool known = dim >= 0 && dim < tensor.ndim && dim < MOST_DIMS && tensor.sizes[dim] >= 0;
    *ret = known ? tensor.sizes[dim] : 0;
    buf_release(&tensor.source);
    return known;
}

static struct frame maker_frame(const struct symbol_scope *scope, const struct symbol *symbol)
{
    const struct trace *trace = scope_trace(scope);
    uint32_t in = trace->records[symbol->record].recording;
    stack_id stack = symbol->user_stack ? symbol->user_stack : symbol->stack;
    return stack_frame(trace, in, user_line(trace, in, stack));
}

static void put_unbacked_code(const struct symbol_scope *scope, const struct symbol *symbol,
                              struct buf *out)
{
    if (!result_put_name(maker_frame(scope, symbol).code, symbol_maker(scope, symbol), out))
        buf_put(out, symbol->name);
}

void symbol_put_code(const struct symbol_scope *scope, struct str name, struct buf *out)
{
    const struct symbol *symbol = symbol_find(scope, name);
    if (!symbol)
        buf_put(out, name);
    else if (symbol->unbacked)
        put_unbacked_code(scope, symbol, out);
    else if (symbol->source.n > 0)
        source_put_code(symbol->source, out);
    else
        buf_put(out, name);
}

static void describe_unbacked(const struct symbol_scope *scope, const struct symbol *symbol,
                              struct str code, struct buf *out)
{
    struct str maker = symbol_maker(scope, symbol);
    if (str_is(maker, "mark_unbacked")) {
        struct buf source = BUF_INIT;
        struct str tensor;
        uint64_t dim;
        put_marked_source(scope, symbol, code, &source);
        bool is_size = source_size(buf_str(&source), &tensor, &dim);
        buf_printf(out, "%.*s is %s%.*s, which was marked with mark_unbacked",
                   STR_ARG(symbol->name), is_size ? "" : "a size of ",
                   STR_ARG(source.n ? buf_str(&source) : STR("an input")));
        out->failed |= source.failed;
        buf_release(&source);
        return;
    }
    struct frame frame = maker_frame(scope, symbol);
    buf_printf(out, "%.*s is the result of %.*s at ", STR_ARG(symbol->name),
               STR_ARG(maker.n ? maker : STR("a data-dependent operator")));
    format_place(out, frame.file, frame.line);
    if (frame.code.n > 0)
        buf_printf(out, ": %.*s", STR_ARG(frame.code));
}

/* Appends "s27 = L['x'].size()[1], 30 at the call" or "u0 is the result of .item() at train.py:15:
 * longest = lengths.max().item()"; false for an unknown symbol. */
static bool describe_symbol(const struct symbol_scope *scope, struct str name, struct str code,
                            struct buf *out)
{
    const struct symbol *symbol = symbol_find(scope, name);
    if (!symbol)
        return false;
    if (symbol->unbacked)
        describe_unbacked(scope, symbol, code, out);
    else
        buf_printf(out, "%.*s = %.*s, %.*s at the call", STR_ARG(name), STR_ARG(symbol->source),
                   STR_ARG(symbol->value));
    return true;
}

/* ---- Expressions ---- */

struct code_names {
    const struct symbol_scope *scope;
    struct sym_pool *pool;
    struct arena arena;
    bool failed; /* out of memory */
};

static struct str code_name(void *user, sym_id symbol)
{
    struct code_names *names = user;
    struct buf name = BUF_INIT, code = BUF_INIT;
    sym_print(names->pool, symbol, &name);
    symbol_put_code(names->scope, buf_str(&name), &code);
    struct str ret = arena_copy(&names->arena, buf_str(&code));
    names->failed |= name.failed || code.failed || !ret.p;
    buf_release(&name);
    buf_release(&code);
    return ret;
}

void symbols_put_code(const struct symbol_scope *scope, struct str expr, struct buf *out)
{
    struct err ignored = { 0 };
    struct code_names names = { scope, sym_pool_new(&ignored), { 0 } };
    struct buf text = BUF_INIT;
    if (names.pool) {
        sym_id e = sym_parse(names.pool, expr, NULL, NULL);
        sym_print_python(names.pool, e, code_name, &names, &text);
    }
    if (names.pool && sym_ok(names.pool, &ignored) && text.n > 0)
        buf_put(out, buf_str(&text));
    else
        buf_put(out, expr);
    out->failed |= text.failed || names.failed;
    buf_release(&text);
    arena_release(&names.arena);
    sym_pool_free(names.pool);
}

struct evidence_of_symbols {
    struct finder *d;
    struct finding_build *f;
    const struct symbol_scope *scope;
};

/* The first symbol that an input is the source of names that input as the finding's. */
static void set_symbol_source(struct evidence_of_symbols *e, struct str name)
{
    const struct symbol *symbol = symbol_find(e->scope, name);
    struct buf text = BUF_INIT;
    struct str source = symbol ? symbol->source : STR("");
    if (symbol && symbol->unbacked && str_is(symbol_maker(e->scope, symbol), "mark_unbacked"))
        put_marked_source(e->scope, symbol, e->f->finding.code, &text);
    if (text.n > 0)
        source = buf_str(&text);
    if (source.n > 0)
        find_source(e->d, e->f, source);
    if (text.failed)
        err_nomem(&e->d->err);
    buf_release(&text);
}

static void add_symbol_evidence(void *user, struct str symbol)
{
    struct evidence_of_symbols *e = user;
    struct buf text = BUF_INIT;
    if (describe_symbol(e->scope, symbol, e->f->finding.code, &text))
        find_evidence(e->d, e->f, "%.*s", STR_ARG(buf_str(&text)));
    if (e->f->finding.source.n == 0)
        set_symbol_source(e, symbol);
    if (text.failed)
        err_nomem(&e->d->err);
    buf_release(&text);
}

void find_symbol_evidence(struct finder *d, struct finding_build *f,
                          const struct symbol_scope *scope, struct str expr)
{
    struct evidence_of_symbols e = { d, f, scope };
    guard_symbols(expr, add_symbol_evidence, &e);
}
