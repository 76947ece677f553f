#include <inttypes.h>

#include "cmd/cli/place.h"
#include "cmd/cmd.h"
#include "cmd/validate/validate.h"
#include "profile/model/format.h"
#include "profile/report/table.h"
#include "trace/events/guards.h"

static const char *const implied_words[] = { [IMPLIED_BY_EARLIER] = "earlier ones",
                                             [IMPLIED_BY_LATER] = "later ones",
                                             [IMPLIED_BY_BOTH] = "both together" };
static const char *const implied_names[] = {
    [IMPLIED_BY_EARLIER] = "earlier", [IMPLIED_BY_LATER] = "later", [IMPLIED_BY_BOTH] = "both"
};

enum decide_verdict validate_verdict(const struct validation *v)
{
    enum decide_verdict ret = DECIDE_PROVED;
    for (size_t i = 0; i < v->n_attempts; i++) {
        enum decide_verdict one = validate_attempt_verdict(v->attempts[i]);
        if (one == DECIDE_REFUTED)
            return one;
        ret = one == DECIDE_UNDECIDED ? one : ret;
    }
    return ret;
}

static uint64_t sum(const uint64_t *counts, size_t n)
{
    uint64_t ret = 0;
    for (size_t i = 0; i < n; i++)
        ret += counts[i];
    return ret;
}

static bool has_claims(const struct validate_attempt *a)
{
    return sum(a->claims, CLAIM_KINDS) > 0;
}

bool validate_has_claims(const struct validation *v)
{
    bool ret = false;
    for (size_t i = 0; i < v->n_attempts; i++)
        ret |= has_claims(v->attempts[i]);
    return ret;
}

static const char *attempt_word(const struct validate_attempt *a)
{
    return has_claims(a) ? decide_verdict_name(validate_attempt_verdict(a)) : "no claims";
}

/* The innermost user line of a finding: that of its node, of its guard, or of what was asked. */
static struct frame finding_frame(const struct trace *trace, const struct validate_attempt *a,
                                  const struct validate_finding *f)
{
    uint32_t recording = trace->attempts[a->attempt].recording;
    if (f->location_graph && f->location < f->location_graph->n_locations) {
        const struct location *place = &f->location_graph->locations[f->location];
        return (struct frame){ place->line, place->function, place->file, place->code };
    }
    stack_id stack = f->guard ? f->guard->user_stack : f->user_stack;
    return stack ? stack_frame(trace, recording, stack) : (struct frame){ 0 };
}

/* ---- Text ---- */

static void put_values(struct buf *out, const struct validate_value *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        buf_puts(out, i ? ", " : "");
        format_text(out, values[i].symbol, 0);
        buf_printf(out, " = %" PRId64, values[i].value);
        if (values[i].source.n) {
            buf_puts(out, " (");
            format_text(out, values[i].source, 0);
            buf_puts(out, ")");
        }
    }
}

static void put_first_line(struct buf *out, const struct validation *v)
{
    size_t by[3] = { 0 }, without = 0;
    uint64_t claims = 0;
    for (size_t i = 0; i < v->n_attempts; i++) {
        if (has_claims(v->attempts[i]))
            by[validate_attempt_verdict(v->attempts[i])]++;
        else
            without++;
        claims += sum(v->attempts[i]->claims, CLAIM_KINDS);
    }
    format_plural(out, v->n_attempts, "attempt");
    buf_puts(out, ", ");
    format_plural(out, claims, "claim");
    if (!claims)
        buf_puts(out, ": no question about sizes was answered, so that there is nothing to prove");
    else if (by[DECIDE_PROVED] + without == v->n_attempts)
        buf_puts(out, ": the guards imply all of them");
    else
        buf_printf(out, ": %zu of %zu attempts proved, %zu refuted, %zu undecided",
                   by[DECIDE_PROVED], v->n_attempts, by[DECIDE_REFUTED], by[DECIDE_UNDECIDED]);
    if (claims && without)
        buf_printf(out, "; %zu of %zu attempts %s no claims", without, v->n_attempts,
                   without == 1 ? "has" : "have");
    buf_puts(out, "\n");
}

static void put_attempts(struct buf *out, const struct trace *trace, const struct validation *v,
                         const struct report_options *how, bool redundant)
{
    static const struct column columns[] = {
        { "compile", COLUMN_LEFT },
        { "verdict", COLUMN_MARKUP },
        { "guards", COLUMN_RIGHT },
        { "questions", COLUMN_RIGHT },
        { "decided", COLUMN_RIGHT },
        { "known", COLUMN_RIGHT, 2 },
        { "replacements", COLUMN_RIGHT, 3 },
        { "ranges", COLUMN_RIGHT, 4 },
        { "specializations", COLUMN_RIGHT, 6 },
        { "redundant", COLUMN_RIGHT, 1 },
    };
    struct table table = TABLE(columns);
    uint32_t shown = report_shown(how, (uint32_t)v->n_attempts);
    for (uint32_t i = 0; i < shown; i++) {
        const struct validate_attempt *a = v->attempts[i];
        place_attempt(trace, a->attempt, &table.text);
        table_cell(&table);
        table_text(&table, str_of(attempt_word(a)));
        table_u64(&table, a->guards);
        table_u64(&table, a->claims[CLAIM_GUARDED]);
        format_share(&table.text, (int64_t)validate_attempt_decided(a),
                     (int64_t)a->claims[CLAIM_GUARDED]);
        table_cell(&table);
        table_count(&table, a->claims[CLAIM_KNOWN]);
        table_count(&table, a->claims[CLAIM_REPLACEMENT]);
        table_count(&table, a->claims[CLAIM_RANGE]);
        table_count(&table, a->claims[CLAIM_SPECIALIZATION]);
        if (redundant)
            table_u64(&table, a->n_redundant);
        else
            table_text(&table, STR(""));
    }
    table.squeezed = true;
    report_table(&table, how, 0, (uint32_t)v->n_attempts, out);
}

static void put_finding(struct buf *out, const struct trace *trace,
                        const struct validate_attempt *a, const struct validate_finding *f)
{
    struct frame frame = finding_frame(trace, a, f);
    place_attempt(trace, a->attempt, out);
    buf_printf(out, ": %s: %s ", decide_verdict_name(f->verdict), claim_kind_name(f->kind));
    format_text(out, f->claim, 0);
    buf_puts(out, "\n");
    if (f->verdict == DECIDE_REFUTED) {
        buf_puts(out, f->raises ? "  divides by 0, although all guards hold, for "
                                : "  is false, although all guards hold, for ");
        put_values(out, f->values, f->n_values);
        buf_puts(out,
                 f->n_values ? (f->smallest ? "; no smaller sizes do\n" : "\n") : "all sizes\n");
    } else {
        buf_printf(out, "  tried %" PRIu64 " points in %.1f ms%s", f->points, (double)f->ns / 1e6,
                   f->no_values ? "; it depends on floats or on numbers that are too large" : "");
        buf_printf(out, "%s%s\n", f->z3 ? "; " : "", f->z3 ? z3_end_text(f->z3) : "");
    }
    if (f->replayed.n) {
        buf_puts(out, f->refused ? "  a replay with these sizes refuses the call: "
                                 : "  a replay with these sizes answers ");
        format_text(out, f->replayed, 0);
        if (!f->refused) {
            buf_puts(out, " instead of ");
            format_text(out, f->answer, 0);
        }
        buf_puts(out, "\n");
    }
    if (f->node.n) {
        buf_puts(out, "  asked by ");
        format_text(out, f->node, 0);
        buf_puts(out, f->rule.n ? ", " : "");
        format_text(out, f->rule, 0);
        buf_puts(out, "\n");
    }
    if (frame.file.n) {
        buf_puts(out, "  ");
        format_place(out, frame.file, frame.line);
        buf_puts(out, " in ");
        format_text(out, frame.function, 0);
        buf_puts(out, ": ");
        format_text(out, frame.code, 0);
        buf_puts(out, "\n");
    }
}

static void put_findings(struct buf *out, const struct trace *trace, const struct validation *v,
                         const struct report_options *how)
{
    size_t n = 0;
    for (size_t i = 0; i < v->n_attempts; i++)
        n += v->attempts[i]->n_findings;
    uint32_t left = report_shown(how, (uint32_t)n);
    if (n)
        buf_puts(out, "\nNot proved, in the order in which it was claimed\n");
    for (size_t i = 0; i < v->n_attempts; i++)
        for (size_t j = 0; j < v->attempts[i]->n_findings && left; j++, left--)
            put_finding(out, trace, v->attempts[i], &v->attempts[i]->findings[j]);
    if (report_shown(how, (uint32_t)n) < n)
        buf_printf(out, "%zu more not shown (--limit)\n", n - report_shown(how, (uint32_t)n));
}

/* Appends "0/0_1: 46 of 478 leaves ... are theirs: about 19.3 us of the 266 us ...". */
static void put_attempt_cost(struct buf *out, const struct trace *trace,
                             const struct validate_attempt *a, const struct attempt_costs *cost)
{
    double us = attempt_leaf_us(cost, cost->own);
    buf_puts(out, "  * ");
    place_attempt(trace, a->attempt, out);
    if (!cost->has_tree) {
        buf_puts(out, ": what they cost is not known: the recording has no leaves of it\n");
        return;
    }
    buf_printf(out, ": %" PRIu32 " of %" PRIu32 " leaves that a call evaluates are theirs",
               cost->own, cost->leaves);
    if (us >= 0) {
        buf_puts(out, ": about ");
        format_us(out, us);
        buf_puts(out, " of the ");
        format_us(out, cost->latency_us);
        buf_puts(out, " that leaves and accessors take (\"Guard latency\")");
    } else {
        buf_puts(out, "; the recording has no \"Guard latency\"");
    }
    if (cost->unknown) {
        buf_printf(out, "; of %" PRIu32 " of ", cost->unknown);
        format_plural(out, a->n_redundant, "guard");
        buf_puts(out, " it is not known");
    }
    buf_puts(out, "\n");
}

static void put_redundant_row(struct table *table, const struct trace *trace,
                              const struct validate_attempt *a, const struct attempt_costs *cost,
                              size_t i)
{
    const struct guard *guard = a->redundant[i].guard;
    struct frame frame =
        stack_frame(trace, trace->attempts[a->attempt].recording, guard->user_stack);
    double us = cost->guards[i] == GUARD_LEAF_OWN ? attempt_leaf_us(cost, 1) : -1;
    place_attempt(trace, a->attempt, &table->text);
    table_cell(table);
    table_text(table, str_of(implied_words[a->redundant[i].others]));
    if (cost->guards[i] == GUARD_LEAF_UNKNOWN)
        table_text(table, STR(""));
    else
        table_u64(table, cost->guards[i] == GUARD_LEAF_OWN);
    table_ns(table, us < 0 ? -1 : (int64_t)(us * 1e3));
    table_text(table, guard->expr);
    table_place(table, frame.file, frame.line);
}

static void put_redundant(struct buf *out, const struct trace *trace, const struct validation *v,
                          const struct redundant_costs *costs, const struct report_options *how)
{
    static const struct column columns[] = {
        { "compile", COLUMN_LEFT, 0 }, { "implied by", COLUMN_MARKUP, 0 },
        { "leaves", COLUMN_RIGHT, 0 }, { "a call", COLUMN_RIGHT, 0 },
        { "guard", COLUMN_WIDE, 0 },   { "user line", COLUMN_PATH, 0 },
    };
    struct table table = TABLE(columns);
    uint32_t n = 0, lines = report_shown(how, (uint32_t)v->n_attempts);
    for (size_t i = 0; i < v->n_attempts; i++)
        n += (uint32_t)v->attempts[i]->n_redundant;
    if (n)
        buf_puts(out, "\nGuards that others imply\n");
    for (size_t i = 0; i < lines; i++)
        if (v->attempts[i]->n_redundant)
            put_attempt_cost(out, trace, v->attempts[i], &costs->attempts[i]);
    uint32_t left = report_shown(how, n);
    for (size_t i = 0; i < v->n_attempts; i++)
        for (size_t j = 0; j < v->attempts[i]->n_redundant && left; j++, left--)
            put_redundant_row(&table, trace, v->attempts[i], &costs->attempts[i], j);
    report_table(&table, how, 0, n, out);
}

static struct frame guard_frame(const struct trace *trace, const struct validate_attempt *a,
                                const struct guard *guard)
{
    return guard->user_stack
               ? stack_frame(trace, trace->attempts[a->attempt].recording, guard->user_stack)
               : (struct frame){ 0 };
}

/* Appends "; asked at demo/train.py:12 `y = x[:kept]`", or nothing. */
static void put_line(struct buf *out, const char *before, struct frame frame)
{
    if (!frame.file.n)
        return;
    buf_puts(out, before);
    format_place(out, frame.file, frame.line);
    if (!frame.code.n)
        return;
    buf_puts(out, " `");
    format_text(out, frame.code, 120);
    buf_puts(out, "`");
}

static void put_asserts(struct buf *out, const struct trace *trace, const struct validation *v,
                        const struct report_options *how)
{
    uint32_t n = 0;
    for (size_t i = 0; i < v->n_attempts; i++)
        n += (uint32_t)(v->attempts[i]->n_asserts + v->attempts[i]->n_unbounded);
    uint32_t left = report_shown(how, n);
    if (n)
        buf_puts(out, "\nRuntime asserts\n");
    for (size_t i = 0; i < v->n_attempts; i++) {
        const struct validate_attempt *a = v->attempts[i];
        for (size_t j = 0; j < a->n_asserts && left; j++, left--) {
            const struct validate_assert *assert = &a->asserts[j];
            place_attempt(trace, a->attempt, out);
            buf_puts(out, ": ");
            format_text(out, assert->guard->expr, 0);
            if (assert->verdict == DECIDE_REFUTED) {
                buf_puts(out, " can fail: ");
                put_values(out, assert->values, assert->n_values);
            } else {
                buf_puts(out, assert->verdict == DECIDE_PROVED ? " is implied by the guards"
                                                               : " is not decided");
            }
            put_line(out, "; asked at ", guard_frame(trace, a, assert->guard));
            buf_puts(out, "\n");
        }
        for (size_t j = 0; j < a->n_unbounded && left; j++, left--) {
            place_attempt(trace, a->attempt, out);
            const struct validate_unbounded *u = &a->unbounded[j];
            buf_puts(out, ": ");
            format_text(out, u->symbol, 0);
            buf_puts(out, " may be negative; ");
            format_text(out, u->check, 0);
            buf_puts(out, " says that it is not");
            put_line(out, ", after ", u->frame);
            buf_puts(out, "\n");
        }
    }
    if (report_shown(how, n) < n)
        buf_printf(out, "%" PRIu32 " more not shown (--limit)\n", n - report_shown(how, n));
}

static void put_notes(struct buf *out, const struct trace *trace, const struct validation *v)
{
    for (size_t i = 0; i < v->n_attempts; i++) {
        const struct validate_attempt *a = v->attempts[i];
        if (a->contradictory) {
            place_attempt(trace, a->attempt, out);
            buf_puts(out, ": no sizes pass all guards, so that everything is implied\n");
        }
        if (a->unread) {
            place_attempt(trace, a->attempt, out);
            buf_puts(out, ": ");
            format_plural(out, a->unread, "guard");
            buf_puts(out, " cannot be read\n");
        }
        if (a->z3_decided) {
            place_attempt(trace, a->attempt, out);
            buf_puts(out, ": Z3 decided ");
            format_plural(out, a->z3_decided, "claim");
            buf_puts(out, "\n");
        }
        if (a->partial) {
            place_attempt(trace, a->attempt, out);
            buf_puts(out, ": the replay ended before the last call; later questions are missing\n");
        }
    }
}

void validate_text(const struct trace *trace, const struct validation *v,
                   const struct redundant_costs *costs, const struct report_options *how,
                   struct buf *out)
{
    put_first_line(out, v);
    put_notes(out, trace, v);
    buf_puts(out, "\n");
    put_attempts(out, trace, v, how, costs != NULL);
    put_findings(out, trace, v, how);
    put_asserts(out, trace, v, how);
    if (costs)
        put_redundant(out, trace, v, costs, how);
}

/* ---- JSON ---- */

static void values_json(struct json_writer *w, const struct validate_value *values, uint32_t n)
{
    json_open_array(w, "values");
    for (uint32_t i = 0; i < n; i++) {
        json_open_object(w, NULL);
        json_put_str(w, "symbol", values[i].symbol);
        json_put_str_or_null(w, "source", values[i].source);
        json_put_i64(w, "value", values[i].value);
        json_close(w);
    }
    json_close(w);
}

static void frame_json(struct json_writer *w, struct frame frame)
{
    json_put_str_or_null(w, "file", frame.file);
    json_put_u64(w, "line", frame.line);
    json_put_str_or_null(w, "function", frame.function);
    json_put_str_or_null(w, "code", frame.code);
}

static void finding_json(struct json_writer *w, const struct trace *trace,
                         const struct validate_attempt *a, const struct validate_finding *f)
{
    json_open_object(w, NULL);
    json_put_cstr(w, "kind", claim_kind_name(f->kind));
    json_put_cstr(w, "verdict", decide_verdict_name(f->verdict));
    json_put_str(w, "claim", f->claim);
    json_put_str_or_null(w, "question", f->question);
    json_put_str_or_null(w, "answer", f->answer);
    json_put_str_or_null(w, "replayed", f->replayed);
    json_put_bool(w, "refused", f->refused);
    values_json(w, f->values, f->n_values);
    json_put_bool(w, "smallest", f->smallest);
    json_put_bool(w, "raises", f->raises);
    json_put_bool(w, "no_values", f->no_values);
    json_put_cstr(w, "method", decide_method_name(f->method));
    json_put_str_or_null(w, "z3", str_of(f->z3 ? z3_end_text(f->z3) : ""));
    json_put_u64(w, "points", f->points);
    json_put_double(w, "us", (double)f->ns / 1e3);
    json_put_str_or_null(w, "node", f->node);
    json_put_str_or_null(w, "rule", f->rule);
    frame_json(w, finding_frame(trace, a, f));
    json_close(w);
}

static void guard_json(struct json_writer *w, const struct trace *trace,
                       const struct validate_attempt *a, const struct guard *guard)
{
    json_put_str(w, "guard", guard->expr);
    json_put_u64(w, "record", guard->record);
    frame_json(w, stack_frame(trace, trace->attempts[a->attempt].recording, guard->user_stack));
}

static void us_json(struct json_writer *w, const char *key, double us)
{
    if (us < 0)
        json_put_null(w, key);
    else
        json_put_double(w, key, us);
}

static void cost_json(struct json_writer *w, const struct attempt_costs *cost)
{
    if (!cost->has_tree) {
        json_put_null(w, "redundant_cost");
        return;
    }
    json_open_object(w, "redundant_cost");
    json_put_u64(w, "leaves", cost->own);
    json_put_u64(w, "unknown", cost->unknown);
    json_put_u64(w, "all_leaves", cost->leaves);
    us_json(w, "us", attempt_leaf_us(cost, cost->own));
    us_json(w, "latency_us", cost->latency_us > 0 ? cost->latency_us : -1);
    json_close(w);
}

static void redundant_json(struct json_writer *w, const struct trace *trace,
                           const struct validate_attempt *a, const struct attempt_costs *cost)
{
    json_open_array(w, "redundant");
    for (size_t i = 0; i < a->n_redundant; i++) {
        json_open_object(w, NULL);
        json_put_cstr(w, "implied_by", implied_names[a->redundant[i].others]);
        guard_json(w, trace, a, a->redundant[i].guard);
        if (cost->guards[i] == GUARD_LEAF_UNKNOWN)
            json_put_null(w, "leaves");
        else
            json_put_u64(w, "leaves", cost->guards[i] == GUARD_LEAF_OWN);
        us_json(w, "us", cost->guards[i] == GUARD_LEAF_OWN ? attempt_leaf_us(cost, 1) : -1);
        json_close(w);
    }
    json_close(w);
    cost_json(w, cost);
}

static void lists_json(struct json_writer *w, const struct trace *trace,
                       const struct validate_attempt *a, const struct attempt_costs *cost)
{
    json_open_array(w, "findings");
    for (size_t i = 0; i < a->n_findings; i++)
        finding_json(w, trace, a, &a->findings[i]);
    json_close(w);
    redundant_json(w, trace, a, cost);
    json_open_array(w, "asserts");
    for (size_t i = 0; i < a->n_asserts; i++) {
        json_open_object(w, NULL);
        json_put_cstr(w, "verdict", decide_verdict_name(a->asserts[i].verdict));
        guard_json(w, trace, a, a->asserts[i].guard);
        values_json(w, a->asserts[i].values, a->asserts[i].n_values);
        json_close(w);
    }
    json_close(w);
    json_open_array(w, "unbounded");
    for (size_t i = 0; i < a->n_unbounded; i++) {
        json_open_object(w, NULL);
        json_put_str(w, "symbol", a->unbounded[i].symbol);
        json_put_str(w, "check", a->unbounded[i].check);
        frame_json(w, a->unbounded[i].frame);
        json_close(w);
    }
    json_close(w);
}

static void attempt_json(struct json_writer *w, const struct trace *trace,
                         const struct validate_attempt *a, const struct attempt_costs *cost)
{
    const struct attempt *attempt = &trace->attempts[a->attempt];
    json_open_object(w, NULL);
    json_put_str(w, "recording", trace->recordings[attempt->recording].name);
    json_put_str(w, "compile", attempt->compile);
    json_put_u64(w, "attempt", attempt->number);
    json_put_cstr(w, "verdict", attempt_word(a));
    json_put_u64(w, "guards", a->guards);
    json_put_u64(w, "asserted", a->asserted);
    json_put_u64(w, "unread", a->unread);
    json_put_bool(w, "contradictory", a->contradictory);
    json_put_bool(w, "partial", a->partial);
    json_put_double(w, "ms", (double)a->ns / 1e6);
    json_open_array(w, "claims");
    for (int kind = 0; kind < CLAIM_KINDS; kind++) {
        json_open_object(w, NULL);
        json_put_cstr(w, "kind", claim_kind_name((enum claim_kind)kind));
        json_put_u64(w, "n", a->claims[kind]);
        json_put_u64(w, "proved", a->proved[kind]);
        json_put_u64(w, "refuted", a->refuted[kind]);
        json_close(w);
    }
    json_close(w);
    json_open_array(w, "methods");
    for (int method = 0; method < DECIDE_METHODS; method++) {
        json_open_object(w, NULL);
        json_put_cstr(w, "method", decide_method_name((enum decide_method)method));
        json_put_u64(w, "proved", a->by_method[method]);
        json_close(w);
    }
    json_close(w);
    json_open_object(w, "z3");
    json_put_u64(w, "asked", a->z3_asked);
    json_put_u64(w, "decided", a->z3_decided);
    json_close(w);
    lists_json(w, trace, a, cost);
    json_close(w);
}

void validate_json(const struct trace *trace, const struct validation *v,
                   const struct redundant_costs *costs, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_VALIDATE);
    json_put_cstr(&w, "verdict",
                  validate_has_claims(v) ? decide_verdict_name(validate_verdict(v)) : "no claims");
    json_open_array(&w, "attempts");
    for (size_t i = 0; i < v->n_attempts; i++)
        attempt_json(&w, trace, v->attempts[i], &costs->attempts[i]);
    json_close(&w);
    json_close(&w);
    buf_putc(out, '\n');
}
