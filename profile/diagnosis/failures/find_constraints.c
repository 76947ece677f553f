/* Findings: sizes that were declared dynamic and are restricted by the program
 * (ConstraintViolationError of produce_guards_verbose in torch/fx/experimental/symbolic_shapes.py).
 *
 * torch.export records no exception when it traces without Dynamo (strict=False, the default).
 * There the same restrictions are found from the ranges of the symbols and the recorded guards. */
#include "profile/diagnosis/failures/find_failures.h"
#include "profile/diagnosis/failures/size_solver.h"
#include "trace/base/text/wildcard.h"
#include "trace/events/incidents/failure_text.h"
#include "trace/events/user_line.h"

/* A size that was declared dynamic, and what restricts it. */
struct restricted {
    struct symbol_scope scope;
    const struct symbol *symbol; /* NULL: not found */
    struct violation_text said;  /* by the exception; parts are "" where there is none */
    bool of_export;
    bool has_given; /* the user gave a range */
    struct size_range given;
    struct size_solution solved;
    struct str value;          /* the constant that it became; "" */
    struct str export_code;    /* of the line that calls torch.export */
    struct str dim_code;       /* what it has as the Dim of the size; "" */
    bool made_there;           /* the line itself has Dim("...") for it */
    const struct symbol *root; /* of the size that it has to be equal to, or a multiple of; NULL */
    int64_t factor;            /* that multiple */
    struct buf equal;          /* "2*length" */
    stack_id stack;            /* of the guard or the specialization */
    struct str guard;          /* as recorded; "" */
    struct buf tensor, name;   /* "x"; a name for its Dim */
    uint64_t dim;
};

static bool is_below_export(const struct trace *trace, uint32_t recording, stack_id stack)
{
    for (; stack; stack = stack_parent(trace, stack))
        if (str_contains(stack_frame(trace, recording, stack).file, STR("/torch/export/")))
            return true;
    return false;
}

/* Returns the code of the line that calls torch.export. */
static struct str export_code(const struct trace *trace, uint32_t recording, stack_id stack)
{
    bool below = false;
    for (; stack; stack = stack_parent(trace, stack)) {
        struct frame frame = stack_frame(trace, recording, stack);
        if (below && !torch_is_own_file(frame.file))
            return frame.code;
        below |= str_contains(frame.file, STR("/torch/export/"));
    }
    return STR("");
}

/* Returns what dynamic_shapes has for a size in the code of a call of torch.export: "length" of
 * `dynamic_shapes={"frames": {1: length}}`; "" if that line does not have it. */
static struct str dim_in_code(struct str code, struct str tensor, uint64_t dim)
{
    struct buf key = BUF_INIT;
    struct str parts[1], ret = STR("");
    for (int quote = 0; quote < 2 && ret.n == 0; quote++) {
        buf_clear(&key);
        buf_printf(&key, "%c%.*s%c: {*}", quote ? '"' : '\'', STR_ARG(tensor), quote ? '"' : '\'');
        if (!key.failed && wildcard_find(code, buf_str(&key), parts, 1))
            ret = parts[0];
    }
    buf_clear(&key);
    buf_printf(&key, "%llu: ", (unsigned long long)dim);
    size_t at = key.failed ? ret.n : str_find(ret, buf_str(&key));
    ret = str_from(ret, at + key.n);
    buf_release(&key);
    return str_trim(str_first(ret, str_find_char(ret, ',')));
}

/* Returns whether a symbol is that of a size. torch.export with strict=True names inputs by their
 * place ("L['flat_args'][0].size()[1]"): there the dimension and the range have to agree. */
static bool is_symbol_of(const struct symbol *s, struct str source, struct size_range range)
{
    struct str tensor;
    uint64_t dim, own_dim;
    struct size_range own;
    if (str_eq(s->source, source))
        return true;
    return str_starts(s->source, STR("L['flat_args']")) && source_size(source, &tensor, &dim) &&
           source_size(s->source, &tensor, &own_dim) && dim == own_dim &&
           size_range_parse(s->range, &own) && own.upper == range.upper &&
           own.lower == (range.lower < 2 ? 2 : range.lower);
}

/* Returns the last symbol of a source in the scope, or NULL. */
static const struct symbol *symbol_of_source(const struct symbol_scope *scope, struct str source,
                                             struct str given)
{
    struct size_range range = { 2, SIZE_UNLIMITED };
    if (given.n > 0)
        size_range_parse(given, &range);
    const struct symbol_table *table = find_input(scope->d, scope->recording)->symbols;
    const struct symbol *found = NULL;
    for (uint32_t i = 0; i < table->n_symbols; i++) {
        const struct symbol *s = &table->symbols[i];
        if (s->attempt == scope->attempt && s->record <= scope->record &&
            is_symbol_of(s, source, range))
            found = s;
    }
    return found;
}

static const struct specialization *specialization_of(const struct restricted *r)
{
    const struct symbol_table *table = find_input(r->scope.d, r->scope.recording)->symbols;
    for (uint32_t i = 0; r->symbol && i < table->n_specializations; i++) {
        const struct specialization *s = &table->specializations[i];
        if (s->attempt == r->symbol->attempt && s->record > r->symbol->record &&
            s->record <= r->scope.record && str_eq(s->symbol, r->symbol->name))
            return s;
    }
    return NULL;
}

/* Returns the name in Dim("rows"; "" for other code. */
static struct str name_of_dim(struct str code)
{
    struct str named = STR("");
    return wildcard_find(code, STR("Dim(\"*\""), &named, 1) ||
                   wildcard_find(code, STR("Dim('*'"), &named, 1)
               ? named
               : STR("");
}

/* A name for the Dim of a size where the tape has none: "frames_1". */
static void put_dim_name(struct restricted *r)
{
    struct str tensor = STR("");
    if (!source_size(r->said.source, &tensor, &r->dim))
        tensor = r->said.source;
    source_put_code(tensor, &r->tensor);
    r->dim_code = dim_in_code(r->export_code, buf_str(&r->tensor), r->dim);
    struct str named = name_of_dim(r->dim_code);
    r->made_there = named.n > 0;
    r->dim_code = named.n > 0 ? named : r->dim_code;
    if (str_is_identifier(r->said.name) || str_is_identifier(r->dim_code)) {
        buf_put(&r->name, str_is_identifier(r->said.name) ? r->said.name : r->dim_code);
        return;
    }
    for (size_t i = 0; i < r->tensor.n; i++)
        buf_putc(&r->name, is_word_char(r->tensor.p[i]) ? r->tensor.p[i] : '_');
    buf_printf(&r->name, "_%llu", (unsigned long long)r->dim);
}

/* Returns whether a symbol's range is not one that PyTorch gives to any size. */
static bool is_given_range(struct size_range range)
{
    return range.upper != SIZE_UNLIMITED || range.lower > 2;
}

/* Returns a guard that relates the size to another one, or NULL. */
static const struct guard *relating_guard(const struct restricted *r)
{
    const struct guard_list *guards = find_input(r->scope.d, r->scope.recording)->guards;
    for (uint32_t i = 0; i < guards->n; i++) {
        const struct guard *g = &guards->guards[i];
        size_t at = str_find(g->expr, r->symbol->name);
        size_t end = at + r->symbol->name.n;
        if (g->attempt == r->symbol->attempt && g->kind == GUARD_EVAL &&
            g->record > r->symbol->record && g->record < r->scope.record &&
            str_starts(g->expr, STR("Eq(")) && end < g->expr.n && !is_word_char(g->expr.p[end]))
            return g;
    }
    return NULL;
}

/* Reads the range that the exception requires ("4 <= S and S <= 32"), where no guard on the size
 * alone restricts it: the size is equal to another one, which has this range. */
static void read_said_range(struct restricted *r)
{
    struct size_range range;
    const struct guard *guard = relating_guard(r);
    if (!guard || !size_range_parse(r->said.guard, &range) || range.lower > range.upper)
        return;
    r->solved = (struct size_solution){
        .range = range,
        .multiple = 1,
        .regular = true,
        .guard = guard,
        .refused = range.upper < r->given.upper ? range.upper + 1 : r->given.lower,
    };
}

/* Finds what the records say about the size. */
static bool restricted_read(struct finder *d, struct restricted *r)
{
    const struct trace *trace = find_input(d, r->scope.recording)->trace;
    r->value = r->said.value;
    r->given = (struct size_range){ 2, SIZE_UNLIMITED };
    if (r->symbol) {
        uint32_t in = trace->records[r->symbol->record].recording;
        r->export_code = export_code(trace, in, r->symbol->stack);
        r->of_export = is_below_export(trace, in, r->symbol->stack);
        size_range_parse(r->symbol->range, &r->given);
        r->has_given = is_given_range(r->given);
    }
    if (r->said.range.n > 0)
        r->has_given = size_range_parse(r->said.range, &r->given);
    if (!str_eq(r->said.name, r->said.source))
        r->of_export = true;
    put_dim_name(r);
    if (!r->symbol)
        return true;
    if (!size_solve(d, &r->scope, r->symbol, r->scope.record, r->given, &r->solved))
        return false;
    const struct specialization *s = specialization_of(r);
    if (!r->solved.guard)
        read_said_range(r);
    if (r->solved.guard) {
        r->guard = r->solved.guard->expr;
        r->stack =
            r->solved.guard->user_stack ? r->solved.guard->user_stack : r->solved.guard->stack;
    }
    if (s) {
        r->value = s->value;
        r->stack = s->user_stack ? s->user_stack : r->stack ? r->stack : s->stack;
    }
    return true;
}

static void put_range(struct size_range range, struct buf *out)
{
    buf_printf(out, " in %lld..", (long long)range.lower);
    if (range.upper != SIZE_UNLIMITED)
        buf_printf(out, "%lld", (long long)range.upper);
}

static bool is_solved(const struct restricted *r)
{
    return r->symbol && r->solved.guard && !r->solved.none &&
           (r->solved.regular || r->solved.range.lower == r->solved.range.upper);
}

static void put_cause(const struct restricted *r, struct buf *out)
{
    buf_printf(out, "%.*s was %s dynamic", STR_ARG(r->said.source),
               r->of_export ? "declared" : "marked");
    if (r->has_given)
        put_range(r->given, out);
    if (r->symbol && r->value.n == 0 && r->said.equal.n == 0 && !is_solved(r) && r->guard.n > 0)
        buf_printf(out, " but has to satisfy %.*s", STR_ARG(r->guard));
    else if (r->value.n > 0)
        buf_printf(out, " but the program makes it the constant %.*s", STR_ARG(r->value));
    else if (r->said.equal.n > 0)
        buf_printf(out, " but always has to be %.*s", STR_ARG(r->said.equal));
    else if (is_solved(r)) {
        buf_puts(out, " but has to be ");
        size_solution_print(&r->solved, r->given, out);
    } else
        buf_printf(out, " but has to satisfy %.*s",
                   STR_ARG(r->said.guard.n > 0 ? r->said.guard : r->guard));
}

/* ---- Remedies ---- */

static void put_dim(const char *prefix, const struct restricted *r, int64_t lower, int64_t upper,
                    struct buf *out)
{
    struct str name = buf_str(&r->name);
    buf_printf(out, "%s%.*s = Dim(\"%s%.*s\"", prefix, STR_ARG(name), prefix, STR_ARG(name));
    if (lower > 2 || r->has_given)
        buf_printf(out, ", min=%lld", (long long)lower);
    if (upper != SIZE_UNLIMITED)
        buf_printf(out, ", max=%lld", (long long)upper);
    buf_putc(out, ')');
}

/* Notes what the last remedy makes of the Dim, where it is known that the size has one and which
 * symbols the export made. With strict=True, inputs have other names. */
static void note_dim(struct finder *d, struct finding_build *f, const struct restricted *r,
                     struct dim_remedy dim)
{
    bool declared = r->has_given || r->dim_code.n > 0;
    if (!r->of_export || !r->symbol || !declared || !str_eq(r->symbol->source, r->said.source) ||
        !find_may_be_export(find_input(d, r->scope.recording)->trace, r->scope.attempt))
        return;
    dim.source = r->said.source;
    dim.recording = r->scope.recording;
    dim.attempt = r->scope.attempt;
    dim.record = r->scope.record;
    find_dim(d, f, &dim);
}

static void add_relation(struct finder *d, struct finding_build *f, const struct restricted *r)
{
    const struct size_solution *s = &r->solved;
    struct buf text = BUF_INIT;
    struct str name = buf_str(&r->name);
    int64_t upper =
        s->range.upper == SIZE_UNLIMITED ? SIZE_UNLIMITED : s->range.upper / s->multiple;
    int64_t lower = s->range.lower / s->multiple;
    buf_printf(&text, "%.*s = %lld*_%.*s", STR_ARG(name), (long long)s->multiple, STR_ARG(name));
    if (s->remainder)
        buf_printf(&text, " + %lld", (long long)s->remainder);
    buf_puts(&text, " with ");
    put_dim("_", r, lower, upper, &text);
    find_remedy(d, f, REMEDY_DIM_RELATION, "%.*s", STR_ARG(buf_str(&text)));
    note_dim(
        d, f, r,
        (struct dim_remedy){
            .lower = lower, .upper = upper, .multiple = s->multiple, .remainder = s->remainder });
    if (text.failed)
        err_nomem(&d->err);
    buf_release(&text);
}

static void add_solved_remedies(struct finder *d, struct finding_build *f,
                                const struct restricted *r)
{
    const struct size_solution *s = &r->solved;
    struct str tensor = buf_str(&r->tensor);
    struct buf text = BUF_INIT;
    if (s->multiple > 1) {
        if (r->of_export)
            add_relation(d, f, r);
        if (s->remainder == 0)
            find_remedy(d, f, REMEDY_PAD, "pad %.*s to a multiple of %lld at dimension %llu",
                        STR_ARG(tensor), (long long)s->multiple, (unsigned long long)r->dim);
    } else if (r->of_export) {
        put_dim("", r, s->range.lower, s->range.upper, &text);
        find_remedy(d, f, REMEDY_DIM_RANGE, "%.*s", STR_ARG(buf_str(&text)));
        note_dim(
            d, f, r,
            (struct dim_remedy){ .lower = s->range.lower, .upper = s->range.upper, .multiple = 1 });
    } else {
        put_dim("", r, s->range.lower, s->range.upper, &text);
        size_t comma = str_find_char(buf_str(&text), ',');
        find_remedy(d, f, REMEDY_DIM_RANGE, "torch._dynamo.mark_dynamic(%.*s, %llu%.*s",
                    STR_ARG(tensor), (unsigned long long)r->dim,
                    STR_ARG(str_from(buf_str(&text), comma)));
    }
    if (text.failed)
        err_nomem(&d->err);
    buf_release(&text);
}

static void add_constant_remedies(struct finder *d, struct finding_build *f,
                                  const struct restricted *r)
{
    struct str tensor = buf_str(&r->tensor);
    unsigned long long dim = r->dim;
    if (r->of_export) {
        find_remedy(d, f, REMEDY_REMOVE_MARK,
                    "leave dimension %llu of %.*s out of dynamic_shapes, or give it Dim.AUTO", dim,
                    STR_ARG(tensor));
        note_dim(d, f, r, (struct dim_remedy){ .removed = true });
    } else {
        find_remedy(d, f, REMEDY_MAYBE_MARK_DYNAMIC, "torch._dynamo.maybe_mark_dynamic(%.*s, %llu)",
                    STR_ARG(tensor), dim);
        find_remedy(d, f, REMEDY_REMOVE_MARK, "remove torch._dynamo.mark_dynamic(%.*s, %llu)",
                    STR_ARG(tensor), dim);
    }
    find_remedy(d, f, REMEDY_CHANGE_CODE,
                "replace the %.*s of this line by an expression of %.*s.shape[%llu]",
                STR_ARG(r->value), STR_ARG(tensor), dim);
}

static void add_remedies(struct finder *d, struct finding_build *f, const struct restricted *r)
{
    if (r->value.n > 0)
        add_constant_remedies(d, f, r);
    else if (r->said.equal.n > 0 && r->of_export) {
        find_remedy(d, f, REMEDY_DIM_RELATION, "%.*s = %.*s", STR_ARG(buf_str(&r->name)),
                    STR_ARG(r->said.equal));
        if (r->root)
            note_dim(d, f, r,
                     (struct dim_remedy){ .multiple = r->factor, .root = r->root->source });
    } else if (is_solved(r))
        add_solved_remedies(d, f, r);
}

static void write_restriction(struct finder *d, struct finding_build *f, const struct restricted *r)
{
    find_source(d, f, r->said.source);
    if (r->stack)
        find_line(d, f, r->scope.recording, r->stack);
    if (r->guard.n > 0)
        find_evidence(d, f, "the line asks for %.*s%s", STR_ARG(r->guard),
                      r->value.n > 0 ? ", which makes it a constant" : "");
    if (r->symbol)
        find_symbol_evidence(d, f, &r->scope, r->symbol->name);
    if (!r->value.n && is_solved(r))
        find_evidence(d, f, "%lld is a value that is refused", (long long)r->solved.refused);
    add_remedies(d, f, r);
}

static void restricted_release(struct finder *d, struct restricted *r)
{
    if (r->tensor.failed || r->name.failed || r->equal.failed)
        err_nomem(&d->err);
    buf_release(&r->tensor);
    buf_release(&r->name);
    buf_release(&r->equal);
}

/* ---- From an exception ---- */

static void add_violation(struct finder *d, const struct profile_failure *failure,
                          struct violation_text said, bool with_cost)
{
    struct restricted r = { .scope = failure_scope(d, failure), .said = said };
    struct buf cause = BUF_INIT;
    r.symbol = symbol_of_source(&r.scope, said.source, said.range);
    if (restricted_read(d, &r)) {
        put_cause(&r, &cause);
        struct finding_build *f =
            failure_add(d, FINDING_CONSTRAINT, failure, buf_str(&cause), with_cost);
        if (find_is_new(f))
            write_restriction(d, f, &r);
    }
    if (cause.failed)
        err_nomem(&d->err);
    buf_release(&cause);
    restricted_release(d, &r);
}

void find_violations(struct finder *d, const struct profile_failure *failure)
{
    struct str rest = failure->is->reason;
    struct violation_text said;
    bool first = true;
    struct str seen = STR(""); /* a size has an item for each of its guards, one after another */
    for (; violation_text_next(&rest, &said); first = false) {
        if (!str_eq(said.source, seen))
            add_violation(d, failure, said, first);
        seen = said.source;
    }
    if (first)
        failure_add(d, FINDING_CONSTRAINT, failure, failure->is->summary, true);
}

/* ---- From an export without an exception on record ---- */

/* Returns the record at which the environment of a symbol ends: a later symbol of the same name
 * belongs to the next export. */
static uint32_t environment_end(const struct build_input *input, uint32_t i)
{
    const struct symbol_table *table = input->symbols;
    const struct symbol *s = &table->symbols[i];
    const struct trace *trace = input->trace;
    uint32_t in = trace->records[s->record].recording;
    for (uint32_t k = i + 1; k < table->n_symbols; k++)
        if (table->symbols[k].attempt == s->attempt &&
            trace->records[table->symbols[k].record].recording == in &&
            str_eq(table->symbols[k].name, s->name))
            return table->symbols[k].record;
    return trace->recordings[in].first_record + trace->recordings[in].n_records;
}

/* Returns whether a recording has a record of a compile or an export after one. */
static bool is_last_environment(const struct build_input *input, const struct symbol *symbol)
{
    const struct trace *trace = input->trace;
    uint32_t in = trace->records[symbol->record].recording;
    return environment_end(input, (uint32_t)(symbol - input->symbols->symbols)) ==
           trace->recordings[in].first_record + trace->recordings[in].n_records;
}

/* Reads "Eq(s40, s26)" or "Eq(2*s65, s29)": the size is a multiple of another one. */
static bool read_relation(struct str expr, struct str name, struct str *other, int64_t *factor)
{
    struct str sides[2];
    *factor = 1;
    if (!wildcard_find(expr, STR("Eq(*, *)"), sides, 2) || str_eq(sides[0], sides[1]))
        return false;
    size_t own = str_eq(sides[0], name) ? 0 : 1;
    if (!str_eq(sides[own], name))
        return false;
    *other = sides[1 - own];
    size_t star = str_find_char(*other, '*');
    if (star < other->n && (!str_to_i64(str_first(*other, star), factor) || *factor < 2))
        return false;
    *other = star < other->n ? str_from(*other, star + 1) : *other;
    return str_is_identifier(*other);
}

/* Finds another size that this one has to be equal to, or a multiple of, where the call of
 * torch.export itself makes two Dims: two names may stand for one. Of two sizes that have to be
 * equal the later one is changed. */
static void find_relation(const struct build_input *input, struct restricted *r)
{
    const struct symbol *s = r->symbol;
    for (uint32_t i = 0; i < input->guards->n && !r->root && r->made_there; i++) {
        const struct guard *g = &input->guards->guards[i];
        struct str name, tensor;
        uint64_t dim;
        if (g->attempt != s->attempt || g->kind != GUARD_EVAL || g->record < s->record ||
            g->record >= r->scope.record || !read_relation(g->expr, s->name, &name, &r->factor))
            continue;
        const struct symbol *other = symbol_find(&r->scope, name);
        struct buf code = BUF_INIT;
        if (!other || !source_size(other->source, &tensor, &dim) ||
            (r->factor == 1 && other->record > s->record))
            continue;
        source_put_code(tensor, &code);
        struct str other_dim = name_of_dim(dim_in_code(r->export_code, buf_str(&code), dim));
        if (str_is_identifier(other_dim) && !str_eq(other_dim, r->dim_code)) {
            r->root = other;
            r->stack = g->user_stack ? g->user_stack : g->stack;
            r->guard = g->expr;
            if (r->factor > 1)
                buf_printf(&r->equal, "%lld*", (long long)r->factor);
            buf_put(&r->equal, other_dim);
            r->said.equal = buf_str(&r->equal);
        }
        r->equal.failed |= code.failed;
        buf_release(&code);
    }
}

/* Returns whether one range, with a value in it, is a linear function of another one. */
static bool is_linear_in(struct size_range range, int64_t value, struct size_range root,
                         int64_t of_root)
{
    int64_t by = of_root - root.lower, more = value - range.lower;
    int64_t factor = by > 0 ? more / by : 0;
    if (factor < 1 || factor * by != more || factor > INT32_MAX)
        return false;
    if (root.upper == SIZE_UNLIMITED || range.upper == SIZE_UNLIMITED)
        return root.upper == range.upper;
    return root.upper - of_root <= INT32_MAX &&
           range.upper - value == factor * (root.upper - of_root);
}

/* Returns whether the Dim of a size is derived from one that no size has, 4 * Dim("quarter"):
 * torch.export makes a symbol of that one, whose source is its name (_process_equalities() in
 * torch/export/dynamic_shapes.py). It does not compare such a size with its guards. */
static bool has_derived_dim(const struct build_input *input, const struct symbol *symbol,
                            uint32_t end)
{
    const struct symbol_table *table = input->symbols;
    struct size_range range, of_root;
    int64_t value, root_value;
    if (!size_range_parse(symbol->range, &range) || !str_to_i64(symbol->value, &value))
        return false;
    for (uint32_t i = 0; i < table->n_symbols; i++) {
        const struct symbol *root = &table->symbols[i];
        if (root->attempt == symbol->attempt && root->recording == symbol->recording &&
            root->record > symbol->record && root->record < end &&
            str_is_identifier(root->source) && size_range_parse(root->range, &of_root) &&
            str_to_i64(root->value, &root_value) && is_linear_in(range, value, of_root, root_value))
            return true;
    }
    return false;
}

static void add_export_restriction(struct finder *d, uint32_t recording,
                                   const struct symbol *symbol)
{
    const struct build_input *input = find_input(d, recording);
    uint32_t i = (uint32_t)(symbol - input->symbols->symbols);
    struct restricted r = {
        .scope = { d, recording, symbol->attempt, environment_end(input, i) },
        .symbol = symbol,
        .said = { .name = symbol->source, .source = symbol->source },
    };
    struct buf cause = BUF_INIT;
    struct profile_where where = { recording, PROFILE_NONE, TRACE_NONE };
    bool read = restricted_read(d, &r);
    bool has_dim = r.dim_code.n > 0 && !str_starts(r.dim_code, STR("Dim."));
    if (read && r.solved.multiple > 1 && has_derived_dim(input, symbol, r.scope.record))
        read = false;
    if (read && !r.value.n)
        find_relation(input, &r);
    if (read && !str_starts(r.dim_code, STR("Dim.AUTO")) &&
        (r.value.n > 0 || r.root || ((r.has_given || has_dim) && is_solved(&r)))) {
        put_cause(&r, &cause);
        struct finding_build *f = find_add(d, FINDING_CONSTRAINT, &where, buf_str(&cause));
        if (find_is_new(f)) {
            f->finding.ended_program =
                (r.has_given || r.dim_code.n > 0) && is_last_environment(input, symbol);
            find_cause(d, f, "%.*s", STR_ARG(buf_str(&cause)));
            write_restriction(d, f, &r);
            if (!r.has_given && r.dim_code.n == 0)
                find_evidence(d, f, "torch.export raises this unless the Dim is Dim.AUTO");
        }
    }
    if (cause.failed)
        err_nomem(&d->err);
    buf_release(&cause);
    restricted_release(d, &r);
}

void find_export_constraints(struct finder *d)
{
    for (uint32_t k = 0; k < d->p->n_recordings; k++) {
        const struct build_input *input = find_input(d, k);
        const struct trace *trace = input->trace;
        uint32_t in = d->p->recordings[k].recording;
        if (trace->recordings[in].kind != RECORDING_LOG)
            continue;
        for (uint32_t i = 0; i < input->symbols->n_symbols; i++) {
            const struct symbol *s = &input->symbols->symbols[i];
            if (!s->unbacked && s->source.n > 0 && trace->records[s->record].recording == in &&
                find_may_be_export(trace, s->attempt) && is_below_export(trace, in, s->stack))
                add_export_restriction(d, k, s);
        }
    }
}
