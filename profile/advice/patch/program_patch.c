#include "profile/advice/patch/program_patch.h"

#include "profile/advice/patch/call_site.h"
#include "profile/advice/remedy_plan.h"
#include "profile/calls/dynamic/dynamic_run.h"
#include "trace/base/text/python_string.h"

#define NO_LINE SIZE_MAX

struct patcher {
    const struct advice *advice;
    struct str path;
    struct str file; /* the program's name as recorded */
    struct program_lines lines;
    struct program_patch *ret;
    bool failed; /* memory ran out */
};

/* ---- Whether it is the program that was recorded ---- */

/* Returns the number of names at the end of two paths that are the same. */
static unsigned same_names(struct str a, struct str b)
{
    unsigned n = 0;
    size_t i = 0;
    for (; i < a.n && i < b.n && a.p[a.n - 1 - i] == b.p[b.n - 1 - i]; i++)
        n += a.p[a.n - 1 - i] == '/';
    bool whole = (i == a.n && (i == b.n || b.p[b.n - 1 - i] == '/')) ||
                 (i == b.n && a.p[a.n - 1 - i] == '/');
    return n + whole;
}

static struct str file_of(const struct profile *p, uint32_t line)
{
    return profile_name(p, p->lines.lines[line].file);
}

/* The recorded file that a program may be. */
struct file_match {
    struct str file; /* "" if there is none, or several are as good */
    unsigned names;  /* number of names at its end that are the same */
};

static void match_file(const struct patcher *p, struct str file, struct file_match *best)
{
    bool same = str_eq(str_basename(file), str_basename(p->path));
    unsigned n = same ? same_names(file, p->path) : 0;
    if (n == 0 || n < best->names || str_eq(file, best->file))
        return;
    best->file = n == best->names ? STR("") : file;
    best->names = n;
}

static struct str find_file(const struct patcher *p)
{
    const struct diagnosis *d = p->advice->diagnosis;
    struct file_match best = { STR(""), 0 };
    for (uint32_t i = 0; i < d->profile->lines.n_lines; i++)
        match_file(p, file_of(d->profile, i), &best);
    for (uint32_t i = 0; i < d->n_findings; i++)
        match_file(p, d->findings[i].file, &best);
    return best.file;
}

static bool check_line(const struct patcher *p, uint32_t line, struct str code, struct err *err)
{
    if (!line || !code.n)
        return true;
    struct str now = line <= p->lines.v.n ? str_trim(p->lines.v.v[line - 1].text) : STR("");
    return str_eq(now, str_trim(code)) ||
           err_set(err, ERR_INPUT, "%.*s:%u is not what was recorded: %.*s", STR_ARG(p->path), line,
                   STR_ARG(str_first(str_trim(code), 200)));
}

static bool check_program(struct patcher *p, struct err *err)
{
    const struct diagnosis *d = p->advice->diagnosis;
    struct str file = p->file = find_file(p);
    if (!file.n)
        return err_set(err, ERR_INPUT,
                       "%.*s: the tape has no lines of a program of this name, or of several",
                       STR_ARG(p->path));
    for (uint32_t i = 0; i < d->profile->lines.n_lines; i++) {
        const struct profile_line *line = &d->profile->lines.lines[i];
        if (str_eq(file_of(d->profile, i), file) && !check_line(p, line->line, line->code, err))
            return false;
    }
    for (uint32_t i = 0; i < d->n_findings; i++)
        if (str_eq(d->findings[i].file, file) &&
            !check_line(p, d->findings[i].line, d->findings[i].code, err))
            return false;
    return true;
}

/* ---- Settings ---- */

/* Returns whether a line is `NAME = ...`, or `NAME(...)`: it sets what a statement sets. */
static bool sets(struct str line, struct str name)
{
    struct str rest = str_from(str_trim(line), name.n);
    return str_starts(str_trim(line), name) &&
           (str_starts(rest, STR(" = ")) || str_starts(rest, STR("=")));
}

/* Returns the line of `import NAME`, at the top level; NO_LINE. */
static size_t find_import(const struct patcher *p, struct str name)
{
    for (size_t i = 0; i < p->lines.v.n; i++) {
        struct str line = p->lines.v.v[i].text, rest = str_from(line, 7);
        if (str_starts(line, STR("import ")) && str_starts(rest, name) &&
            !str_trim(str_first(str_from(rest, name.n), str_find_char(str_from(rest, name.n), '#')))
                 .n)
            return i;
    }
    return NO_LINE;
}

/* The line behind which a statement can stand: torch and what it adds are imported. */
static size_t find_place(const struct patcher *p, struct str statement)
{
    size_t torch = find_import(p, STR("torch"));
    struct str argument = str_from(statement, str_find(statement, STR(".add(")) + 5);
    size_t dot = str_find_char(argument, '.');
    if (!str_contains(statement, STR(".add(")) || dot == argument.n || torch == NO_LINE)
        return torch;
    size_t module = find_import(p, str_first(argument, dot));
    return module == NO_LINE || module > torch ? module : torch;
}

/* Returns whether a text that a tape has a part in can stand in a program: it is one line of
 * printable ASCII without escapes. */
static bool is_plain(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] < ' ' || text.p[i] > '~' || text.p[i] == '\\')
            return false;
    return true;
}

static bool put_statement(struct patcher *p, struct str statement)
{
    struct str name = str_first(statement, str_find(statement, STR(" = ")));
    size_t found = NO_LINE, n = 0, place = find_place(p, statement);
    for (size_t i = 0; i < p->lines.v.n; i++)
        if (name.n < statement.n && sets(p->lines.v.v[i].text, name)) {
            found = i;
            n++;
        }
    if (!is_plain(statement) || n > 1 || (!n && place == NO_LINE))
        return false;
    if (!n) {
        p->failed |= !program_lines_insert(&p->lines, place, statement);
        return true;
    }
    struct buf line = BUF_INIT;
    struct str was = p->lines.v.v[found].text;
    size_t indent = 0;
    while (indent < was.n && is_space(was.p[indent]))
        indent++;
    buf_put(&line, str_first(was, indent));
    buf_put(&line, statement);
    p->failed |= line.failed || !program_lines_change(&p->lines, found, buf_str(&line));
    buf_release(&line);
    return true;
}

/* ---- Marks ---- */

/* "L['x']:0,L['n']" from the release on in which ":0" names a dimension; before, all of them. */
static void put_sources(struct str release, struct str marks, struct buf *out)
{
    bool dims = release_is(release, 2, 13);
    while (marks.n) {
        struct str mark = str_first(marks, str_find_char(marks, ','));
        marks = str_from(marks, mark.n + 1);
        size_t colon = mark.n;
        while (colon && is_digit(mark.p[colon - 1]))
            colon--;
        bool has_dim = colon > 0 && colon < mark.n && mark.p[colon - 1] == ':';
        buf_put(out, dims || !has_dim ? mark : str_first(mark, colon - 1));
        buf_puts(out, marks.n ? "," : "");
    }
}

static struct str release_of(const struct advice *advice)
{
    const struct plan_replay *replay = &advice->replay;
    return advice->has_calls ? replay->trace->recordings[replay->recording].torch_version : STR("");
}

/* All marks of the steps are one statement: a second one would take the place of the first. */
bool program_patch_marks(const struct advice *advice, struct buf *out)
{
    const struct call_plan *plan = &advice->plan;
    struct str release = release_of(advice);
    struct buf sources = BUF_INIT;
    if (!plan->marks.n || !release_is(release, 2, plan->unbacked ? 13 : 8))
        return false;
    put_sources(release, buf_str(&plan->marks), &sources);
    buf_printf(out, "torch.compiler.config.%s = ",
               plan->unbacked ? "unbacked_sources" : "dynamic_sources");
    python_put_string(out, buf_str(&sources));
    out->failed |= sources.failed;
    buf_release(&sources);
    return true;
}

static bool put_marks(struct patcher *p)
{
    struct buf statement = BUF_INIT;
    bool ok = program_patch_marks(p->advice, &statement) && !statement.failed &&
              put_statement(p, buf_str(&statement));
    p->failed |= statement.failed;
    buf_release(&statement);
    return ok;
}

/* ---- Marks where the function is called ---- */

/* Returns whether a call has a size that mark_dynamic() does not allow to be a symbol. */
static bool is_zero_or_one(const struct call_log *log, struct str source, uint64_t dim)
{
    uint32_t id = intern_find(&log->sources, source);
    for (size_t i = 0; id != INTERN_NONE && i < log->calls.n; i++)
        for (uint32_t k = 0; k < log->calls.v[i].n_values; k++) {
            const struct call_value *value = &log->calls.v[i].values[k];
            if (value->source == id && value->value.kind == PY_TENSOR &&
                (dim >= value->value.tensor->n_dims || value->value.tensor->sizes[dim] < 2))
                return true;
        }
    return false;
}

/* Makes the statement of one mark, "L['x']:0". Returns false if it has no certain place. */
static bool make_call_mark(const struct patcher *p, const struct call_site *site, struct str mark,
                           struct buf *out)
{
    size_t colon = mark.n;
    uint64_t dim;
    while (colon && is_digit(mark.p[colon - 1]))
        colon--;
    struct str source = str_first(mark, colon ? colon - 1 : 0);
    bool unbacked = p->advice->plan.unbacked;
    if (!colon || mark.p[colon - 1] != ':' || !str_to_u64(str_from(mark, colon), &dim) ||
        (!unbacked && is_zero_or_one(p->advice->replay.log, source, dim)))
        return false;
    buf_put(out, site->space);
    buf_puts(out,
             unbacked ? "torch._dynamo.decorators.mark_unbacked(" : "torch._dynamo.mark_dynamic(");
    bool ok = call_site_put(site, source, out);
    buf_printf(out, ", %llu)", (unsigned long long)dim);
    return ok && is_plain(buf_str(out));
}

/* Puts the marks of one step before the call; only asks whether that can be done unless `insert`.
 */
static bool put_call_marks(struct patcher *p, const struct advice_item *item, bool insert)
{
    const struct diagnosis *d = p->advice->diagnosis;
    uint32_t compile = d->findings[item->finding].compile;
    struct call_site site;
    bool ok =
        compile != PROFILE_NONE && call_site_find(d->profile, compile, p->file, &p->lines, &site);
    for (struct str marks = buf_str(&item->plan.marks); ok && marks.n;) {
        struct str mark = str_first(marks, str_find_char(marks, ','));
        struct buf line = BUF_INIT;
        marks = str_from(marks, mark.n + 1);
        ok = make_call_mark(p, &site, mark, &line);
        if (ok && insert && !str_contains(p->lines.v.v[site.line - 1].after, buf_str(&line)))
            p->failed |= !program_lines_insert(&p->lines, site.line - 1, buf_str(&line));
        p->failed |= line.failed;
        buf_release(&line);
    }
    return ok;
}

/* Marks all sizes where the functions are called; none if one of them has no certain place. */
static bool put_all_call_marks(struct patcher *p)
{
    const struct advice *advice = p->advice;
    bool ok = find_import(p, STR("torch")) != NO_LINE && advice->has_calls;
    for (int insert = 0; insert < 2; insert++)
        for (uint32_t i = 0; ok && i < advice->n_together; i++) {
            const struct advice_item *item = &advice->items[advice->together[i].item];
            ok = !item->plan.marks.n || put_call_marks(p, item, insert);
        }
    return ok;
}

/* ---- Other changes ---- */

/* torch._dynamo.maybe_mark_dynamic(x, 1): in place of the only mark_dynamic(..., 1). */
static bool put_maybe(struct patcher *p, struct str text)
{
    static const struct str CALL = { "mark_dynamic(", 13 };
    struct str dim = str_from(text, str_find(text, STR(", ")));
    size_t found = NO_LINE, at = 0, n = 0;
    dim = str_first(dim, str_find_char(dim, ')') + 1);
    for (size_t i = 0; i < p->lines.v.n && dim.n; i++) {
        struct str line = p->lines.v.v[i].text;
        size_t call = str_find(line, CALL);
        bool maybe = call >= 6 && str_ends(str_first(line, call), STR("maybe_"));
        if (call >= line.n || maybe)
            continue;
        n += str_contains(str_from(line, call), dim) ? 1 : 2;
        found = i;
        at = call;
    }
    if (n != 1)
        return false;
    struct buf line = BUF_INIT;
    buf_put(&line, str_first(p->lines.v.v[found].text, at));
    buf_puts(&line, "maybe_");
    buf_put(&line, str_from(p->lines.v.v[found].text, at));
    p->failed |= line.failed || !program_lines_change(&p->lines, found, buf_str(&line));
    buf_release(&line);
    return true;
}

/* torch._check(n > 2) before the `if` that needs it. */
static bool put_check(struct patcher *p, const struct finding *f, struct str text)
{
    struct str statement = str_first(text, str_find(text, STR(" before line ")));
    struct str was = f->line && f->line <= p->lines.v.n ? p->lines.v.v[f->line - 1].text : STR("");
    struct str line = str_trim(was);
    struct buf added = BUF_INIT;
    if (f->line < 2 || !str_eq(f->file, p->file) || !str_eq(line, str_trim(f->code)) ||
        !str_starts(line, STR("if ")) || !str_ends(line, STR(":")) || !is_plain(statement) ||
        find_import(p, STR("torch")) == NO_LINE ||
        !program_lines_begin_statement(&p->lines, f->line - 1))
        return false;
    buf_put(&added, str_first(was, (size_t)(line.p - was.p)));
    buf_put(&added, statement);
    p->failed |= added.failed || !program_lines_insert(&p->lines, f->line - 2, buf_str(&added));
    buf_release(&added);
    return true;
}

/* Returns the only line that sets a name, if it is one statement that makes a Dim of it. */
static size_t find_dim_line(const struct patcher *p, struct str name)
{
    size_t found = NO_LINE, n = 0;
    for (size_t i = 0; name.n && i < p->lines.v.n; i++)
        if (sets(p->lines.v.v[i].text, name)) {
            found = i;
            n++;
        }
    if (n != 1 || found == 0)
        return NO_LINE;
    struct str made = str_trim(str_from(str_trim(p->lines.v.v[found].text), name.n));
    made = str_trim(str_from(made, 1));
    bool dim = str_starts(made, STR("Dim(")) || str_starts(made, STR("torch.export.Dim("));
    return dim && str_find_char(made, ')') + 1 == made.n &&
                   program_lines_begin_statement(&p->lines, found)
               ? found
               : NO_LINE;
}

/* "length = 4*_length with _length = Dim("_length", max=64)": of the two, the second comes first.
 */
static bool put_dim(struct patcher *p, struct str text)
{
    static const struct str WITH = { " with ", 6 };
    size_t with = str_find(text, WITH);
    struct str name = str_first(text, str_find(text, STR(" = ")));
    size_t found = is_plain(text) ? find_dim_line(p, name) : NO_LINE;
    if (found == NO_LINE || !str_contains(text, STR("Dim(")))
        return false;
    struct str was = p->lines.v.v[found].text;
    struct str space = str_first(was, (size_t)(str_trim(was).p - was.p));
    struct buf line = BUF_INIT, root = BUF_INIT;
    buf_put(&line, space);
    buf_put(&line, str_first(text, with));
    buf_put(&root, space);
    buf_put(&root, str_from(text, with + WITH.n));
    p->failed |= line.failed || root.failed ||
                 !program_lines_change(&p->lines, found, buf_str(&line)) ||
                 (with < text.n && !program_lines_insert(&p->lines, found - 1, buf_str(&root)));
    buf_release(&line);
    buf_release(&root);
    return true;
}

/* ---- All changes ---- */

static void apply_steps(struct patcher *p)
{
    const struct advice *advice = p->advice;
    bool marks = advice->plan.marks.n && (put_all_call_marks(p) || put_marks(p));
    for (uint32_t i = 0; i < advice->n_together && !p->failed; i++) {
        const struct advice_item *item = &advice->items[advice->together[i].item];
        const struct remedy *remedy =
            &advice->diagnosis->findings[item->finding].remedies[item->remedy];
        struct str statement = remedy_statement(remedy->text);
        bool *applied = &p->ret->applied[i];
        if (item->plan.marks.n)
            *applied = marks;
        else if (remedy->kind == REMEDY_MAYBE_MARK_DYNAMIC)
            *applied = put_maybe(p, remedy->text);
        else if (remedy->kind == REMEDY_TORCH_CHECK)
            *applied = put_check(p, &advice->diagnosis->findings[item->finding], remedy->text);
        else if (remedy->kind == REMEDY_DIM_RANGE || remedy->kind == REMEDY_DIM_RELATION)
            *applied = put_dim(p, remedy->text);
        else if (statement.n)
            *applied = put_statement(p, statement);
        p->ret->n_applied += *applied;
    }
}

bool program_patch_make(const struct advice *advice, struct str path, struct str text,
                        struct program_patch *ret, struct err *err)
{
    struct patcher p = { .advice = advice, .path = path, .ret = ret };
    *ret = (struct program_patch){ 0 };
    ret->applied = calloc((size_t)advice->n_together + 1, sizeof *ret->applied);
    bool ok = (ret->applied && program_lines_read(&p.lines, text)) || err_nomem(err);
    ok = ok && check_program(&p, err);
    if (ok) {
        apply_steps(&p);
        program_lines_diff(&p.lines, path, &ret->diff);
        ok = (!p.failed && !ret->diff.failed) || err_nomem(err);
    }
    program_lines_release(&p.lines);
    return ok;
}

void program_patch_release(struct program_patch *patch)
{
    buf_release(&patch->diff);
    free(patch->applied);
}
