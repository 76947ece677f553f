/* usage: conform_env [-v] [--table] [--time] [--live] FILE... | --shared
 *
 * Runs recordings of ShapeEnv calls (shapeenv/NAME.jsonl, also .zst) through the engine and
 * compares every answer of the outermost calls, and the state at the end. The last line is
 * "N passed, M failed, K skipped". */
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/conformance/conform_env.h"
#include "trace/log/source.h"

enum { MAX_FILE = 1 << 30, MAX_BATCH = 2048 };

static const char *const call_names[] = {
#define CALL(id, name) name,
    CONFORM_CALLS(CALL)
#undef CALL
        "final"
};

/* --- Running --- */

/* Of this thread: other processes must not count. */
uint64_t conform_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static sym_id static_of(struct shape_env *env, const struct op *op, const struct row *row)
{
    enum env_static way = op->unbacked_only    ? ENV_STATIC_UNBACKED_ONLY
                          : op->compute_hint   ? ENV_STATIC_HINT
                          : op->size_oblivious ? ENV_STATIC_OBLIVIOUS
                                               : ENV_STATIC_PLAIN;
    if (row->has_assumptions)
        return env_evaluate_static_with(env, op->a, way, &row->assumptions);
    return env_evaluate_static_as(env, op->a, way, !op->no_axioms);
}

static sym_id boolean(bool ok, bool value)
{
    return ok ? sym_boolean(value) : SYM_NONE;
}

static sym_id create(struct shape_env *env, const struct op *op, const struct row *row)
{
    return env_create_symbol(
        env, &(struct symbol_request){ .value = op->a == SYM_NONE ? SYM_ID_ZERO : op->a,
                                       .source = row->source,
                                       .dynamic = (enum dim_dynamic)row->dynamic,
                                       .constraint = row->constraint,
                                       .positive = row->positive,
                                       .do_not_specialize_zero_one = row->no_zero_one,
                                       .stateful = true,
                                       .size_like = row->size_like });
}

static void run_op(struct shape_env *env, struct op *op, const struct row *row)
{
    bool value = false;
    switch ((enum call)op->call) {
    case CALL_EVALUATE:
        op->result = env_evaluate(env, op->a, op->b, op->size_oblivious, op->c);
        break;
    case CALL_STATIC: op->result = static_of(env, op, row); break;
    case CALL_DEFER:
        op->ok = env_guard_or_defer(env, op->a, row->source, &value);
        op->result = boolean(op->ok, value);
        break;
    case CALL_SET_REPLACEMENT: op->ok = env_set_replacement(env, op->a, op->b, "given"); break;
    case CALL_UPDATE_RANGE:
    case CALL_SYMBOL_RANGE:
    case CALL_CONSTRAIN_RANGE: op->ok = env_constrain_range(env, op->a, op->b, op->c); break;
    case CALL_RANGE_FOR_SIZE:
        op->ok = env_constrain_range_for_size(env, op->a, op->b, op->c);
        break;
    case CALL_RENAME: op->ok = env_rename_unbacked(env, op->a, op->b); break;
    case CALL_ELIMINATE: op->ok = env_eliminate_unbacked(env, op->a, op->b); break;
    case CALL_FREEZE: env_freeze(env); break;
    case CALL_FREEZE_ASSERTS: env_freeze_runtime_asserts(env); break;
    case CALL_CREATE:
    case CALL_CREATE_UNSPECIFIED: op->result = create(env, op, row); break;
    case CALL_CREATE_SYMINT: op->result = env_create_unbacked_symint(env); break;
    case CALL_CREATE_SYMFLOAT: op->result = env_create_unbacked_symfloat(env); break;
    case CALL_CREATE_SYMBOOL: op->result = env_create_unbacked_symbool(env); break;
    default: break;
    }
}

void conform_run_op(struct shape_env *env, struct op *op, const struct row *row)
{
    op->ok = true;
    op->result = SYM_NONE;
    if (op->suppressed)
        env_suppress_guards(env);
    run_op(env, op, row);
    if (op->suppressed)
        env_resume_guards(env);
}

static void note_raised(struct run *run, struct shape_env *env, struct row *row)
{
    struct env_raised raised = env_raised(env);
    row->raised = raised.kind != ENV_RAISED_NOTHING;
    if (!row->raised)
        return;
    row->raised_type = arena_copy(&run->arena, str_of(raised.type));
    row->raised_text = arena_copy(&run->arena, str_first(raised.text, 400));
}

static void run_one(struct run *run, size_t i)
{
    struct op *op = &run->batch.v[i];
    struct shape_env *env = run->envs.v[op->env].env;
    conform_run_op(env, op, &run->rows.v[i]);
    if (op->result == SYM_NONE)
        note_raised(run, env, &run->rows.v[i]);
}

/* --- Comparing --- */

static void show(struct run *run, uint32_t line, const char *call, struct str recorded,
                 struct str ours)
{
    if (!run->options->verbose || run->totals->shown >= run->options->max_shown)
        return;
    run->totals->shown++;
    printf("%s:%u: %s: recorded %.*s, ours %.*s\n", run->path, line, call, STR_ARG(recorded),
           STR_ARG(ours));
}

static void print_op(struct run *run, const struct op *op, const struct row *row, struct buf *out)
{
    if (row->raised)
        buf_printf(out, "%.*s: %.*s", STR_ARG(row->raised_type), STR_ARG(row->raised_text));
    else if (op->result == SYM_NONE)
        buf_puts(out, "None");
    else
        sym_print(env_pool(run->envs.v[op->env].env), op->result, out);
}

static bool same_answer(const struct op *op, const struct row *row, struct str ours)
{
    if (row->recorded_raise.p)
        return row->raised &&
               str_find(row->recorded_raise, row->raised_type) < row->recorded_raise.n;
    if (row->raised)
        return false;
    if (row->text.p)
        return str_eq(ours, row->text);
    switch ((enum call)op->call) {
    case CALL_EVALUATE:
    case CALL_STATIC:
    case CALL_DEFER:
    case CALL_CREATE:
    case CALL_CREATE_UNSPECIFIED: return op->result == row->expected;
    default: return op->ok;
    }
}

static void show_difference(struct run *run, const struct op *op, const struct row *row,
                            struct buf *ours)
{
    struct buf recorded = BUF_INIT;
    struct sym_pool *pool = env_pool(run->envs.v[op->env].env);
    if (row->text.p)
        buf_put(&recorded, row->text);
    else if (row->recorded_raise.p)
        buf_put(&recorded, row->recorded_raise);
    else if (row->expected != SYM_NONE)
        sym_print(pool, row->expected, &recorded);
    else
        buf_puts(&recorded, "None");
    buf_puts(ours, "   of ");
    if (row->source.n)
        buf_put(ours, row->source);
    else if (op->a != SYM_NONE)
        sym_print(pool, op->a, ours);
    show(run, row->line, call_names[op->call], buf_str(&recorded), buf_str(ours));
    buf_release(&recorded);
}

static void judge(struct run *run, const struct op *op, const struct row *row)
{
    struct buf ours = BUF_INIT;
    struct totals *totals = run->totals;
    if (row->text.p || row->raised)
        print_op(run, op, row, &ours);
    bool same = same_answer(op, row, buf_str(&ours));
    (same ? totals->passed : totals->failed)[op->call]++;
    totals->recorded_ns[op->call] += row->recorded_ns;
    totals->ns[op->call] += row->ns;
    if (!same) {
        buf_clear(&ours);
        print_op(run, op, row, &ours);
        show_difference(run, op, row, &ours);
    }
    buf_release(&ours);
}

void conform_run_batch(struct run *run)
{
    bool each = run->options->table;
    for (size_t i = 0; i < run->batch.n; i++) {
        uint64_t start = each ? conform_now() : 0;
        run_one(run, i);
        if (each)
            run->rows.v[i].ns = conform_now() - start;
    }
    for (size_t i = 0; i < run->batch.n; i++) {
        const struct op *op = &run->batch.v[i];
        struct row *row = &run->rows.v[i];
        judge(run, op, row);
        if ((op->call == CALL_CREATE || op->call == CALL_CREATE_UNSPECIFIED) &&
            op->result != SYM_NONE)
            conform_track_input(&run->envs.v[op->env], op, row);
        run->totals->total_recorded_ns += row->recorded_ns;
        if (run->options->time && (!vec_push(&run->all, *op) || !vec_push(&run->all_rows, *row)))
            run->totals->unlike++;
    }
    run->batch.n = run->rows.n = 0;
    run->names_pending = false;
}

struct shower {
    struct run *run;
    uint32_t line;
};

static void complain_about(void *user, const char *what, struct str recorded, struct str ours)
{
    struct shower *s = user;
    s->run->totals->final_parts_failed++;
    show(s->run, s->line, what, recorded, ours);
}

static bool is_creation(unsigned call)
{
    return call >= CALL_CREATE && call <= CALL_CREATE_SYMBOOL;
}

static void produce(struct run *run, const struct json *doc, const struct op *op,
                    const struct row *row)
{
    struct shower shower = { run, row->line };
    run->totals->produce_ns = 0;
    unsigned n = conform_produce(run, &run->envs.v[op->env], doc,
                                 json_get(doc, JSON_ROOT, STR("out")), complain_about, &shower);
    run->totals->ns[CALL_PRODUCE] += run->totals->produce_ns;
    run->totals->recorded_ns[CALL_PRODUCE] += row->recorded_ns;
    run->totals->total_recorded_ns += row->recorded_ns;
    run->totals->engine_ns += run->totals->produce_ns;
    if (n && run->options->live)
        run->totals->guessed++, run->totals->skipped++;
    else
        (n ? run->totals->failed : run->totals->passed)[CALL_PRODUCE]++;
}

static bool take_row(struct run *run, const struct json *doc, uint32_t line)
{
    struct str call = json_text(doc, json_get(doc, JSON_ROOT, STR("call")));
    if (str_is(call, "settings"))
        return conform_settings(run, doc);
    struct op op;
    struct row row = { .line = line };
    bool is_final;
    bool runs = conform_read_row(run, doc, &op, &row, &is_final);
    if (is_final) {
        int64_t number = -1;
        json_i64(doc, json_get(doc, JSON_ROOT, STR("env")), &number);
        struct conform_env *env = conform_env_at(run, number);
        conform_run_batch(run);
        if (!env || !env->env)
            return true;
        struct shower shower = { run, line };
        unsigned n = conform_final(run, env, doc, complain_about, &shower);
        (n ? run->totals->failed : run->totals->passed)[CALLS]++;
        return true;
    }
    if (!runs)
        return true;
    if (op.call == CALLS) {
        run->totals->skipped++;
        return true;
    }
    if (op.call == CALL_PRODUCE) {
        conform_run_batch(run);
        produce(run, doc, &op, &row);
        return true;
    }
    if (!vec_push(&run->batch, op) || !vec_push(&run->rows, row))
        return false;
    run->names_pending |= is_creation(op.call);
    return run->batch.n < MAX_BATCH || (conform_run_batch(run), true);
}

/* --- Files --- */

static bool read_all(const char *path, struct buf *out, struct err *err)
{
    struct source *in = source_open(path, err);
    if (!in)
        return false;
    size_t n = 0;
    bool ok = true;
    do {
        ok = out->n < MAX_FILE && buf_reserve(out, SOURCE_READ_SIZE) &&
             source_read(in, out->p + out->n, SOURCE_READ_SIZE, &n, err);
        out->n += ok ? n : 0;
    } while (ok && n > 0);
    source_close(in);
    return ok;
}

static bool run_file(const struct options *options, struct totals *totals, const char *path)
{
    struct buf text = BUF_INIT;
    struct err err = { 0 };
    if (!read_all(path, &text, &err)) {
        fprintf(stderr, "conform_env: %s: %s\n", path, err.text);
        buf_release(&text);
        return false;
    }
    struct run run = { .options = options, .totals = totals, .path = path };
    struct json doc = { 0 };
    struct str rest = buf_str(&text);
    bool ok = true;
    for (uint32_t line = 1; ok && rest.n; line++) {
        size_t end = str_find_char(rest, '\n');
        struct str one = str_first(rest, end);
        if (one.n && !json_parse(&doc, one, &err)) {
            fprintf(stderr, "conform_env: %s:%u: %s\n", path, line, err.text);
            totals->skipped++;
        } else if (one.n) {
            ok = take_row(&run, &doc, line);
        }
        rest = str_from(rest, end + 1);
    }
    conform_run_batch(&run);
    json_release(&doc);
    if (options->time) {
        int64_t unlike = conform_time(&run);
        totals->unlike += unlike < 0 ? 1 : unlike;
    }
    for (size_t i = 0; i < run.envs.n; i++) {
        shape_env_free(run.envs.v[i].env);
        intern_release(&run.envs.v[i].texts);
        vec_release(&run.envs.v[i].exprs);
        vec_release(&run.envs.v[i].inputs);
    }
    vec_release(&run.envs);
    vec_release(&run.batch);
    vec_release(&run.all);
    vec_release(&run.all_rows);
    vec_release(&run.rows);
    arena_release(&run.arena);
    buf_release(&text);
    return ok;
}

static void print_table(const struct totals *t)
{
    printf("%-32s %10s %8s %14s %12s\n", "call", "passed", "failed", "recorded ms", "ours ms");
    for (unsigned i = 0; i <= CALLS; i++) {
        if (!t->passed[i] && !t->failed[i])
            continue;
        double theirs = i < CALLS ? (double)t->recorded_ns[i] / 1e6 : 0;
        double ours = i < CALLS ? (double)t->ns[i] / 1e6 : 0;
        printf("%-32s %10" PRIu64 " %8" PRIu64 " %14.3f %12.3f\n", call_names[i], t->passed[i],
               t->failed[i], theirs, ours);
    }
}

static int finish(const struct options *options, const struct totals *t)
{
    uint64_t passed = 0, failed = 0;
    for (unsigned i = 0; i <= CALLS; i++) {
        passed += t->passed[i];
        failed += t->failed[i];
    }
    if (options->table)
        print_table(t);
    double recorded = (double)t->total_recorded_ns / 1e6, ours = (double)t->engine_ns / 1e6;
    if (options->time)
        printf("recorded %.3f ms, ours %.3f ms, %.0f times faster\n", recorded, ours,
               ours > 0 ? recorded / ours : 0.0);
    if (t->unlike)
        printf("%" PRId64 " answers of the timed run differ\n", t->unlike);
    if (t->guessed)
        printf("skipped: %" PRIu64 " lists of produced guards that differ: their inputs are put "
               "together from the symbols' sources, which tell nothing of the bases of views and "
               "of inputs that are not used\n",
               t->guessed);
    printf("%" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64 " skipped\n", passed, failed,
           t->skipped);
    return failed != 0;
}

/* Every recording in the shared folder; skipped where there is none. */
static int run_shared(const struct options *options, struct totals *totals)
{
    const char *root = getenv("SYMTAPE_SHARED"), *source = getenv("SYMTAPE_ROOT");
    char pattern[4096];
    if (root)
        snprintf(pattern, sizeof pattern, "%s/shapeenv/*.jsonl*", root);
    else
        snprintf(pattern, sizeof pattern, "%s/../shared/shapeenv/*.jsonl*", source ? source : ".");
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0) {
        printf("skipped: no recordings at %s\n", pattern);
        return 77;
    }
    bool ok = true;
    for (size_t i = 0; i < found.gl_pathc; i++)
        ok &= run_file(options, totals, found.gl_pathv[i]);
    globfree(&found);
    return finish(options, totals) || !ok;
}

int main(int argc, char **argv)
{
    struct options options = { .max_shown = 40 };
    struct totals totals = { 0 };
    int files = 0;
    bool ok = true, shared = false;
    for (int i = 1; i < argc; i++) {
        struct str arg = str_of(argv[i]);
        if (str_is(arg, "-v"))
            options.verbose = true;
        else if (str_is(arg, "--table"))
            options.table = true;
        else if (str_is(arg, "--time"))
            options.time = true;
        else if (str_is(arg, "--live"))
            options.live = true;
        else if (str_is(arg, "--shared"))
            shared = true;
        else
            files++;
    }
    for (int i = 1; i < argc; i++)
        if (argv[i][0] != '-')
            ok &= run_file(&options, &totals, argv[i]);
    if (shared)
        return run_shared(&options, &totals);
    if (!files) {
        fprintf(stderr, "usage: conform_env [-v] [--table] [--time] [--live] FILE... | --shared\n");
        return 2;
    }
    return finish(&options, &totals) || !ok;
}
