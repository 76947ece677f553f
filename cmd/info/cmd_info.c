#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/info/info.h"
#include "trace/events/symbols.h"

struct info_args {
    bool json, strict, backends;
};

static const struct opt options[] = {
    OPT_FLAG(0, "backends", struct info_args, backends,
             "list the backends that symtape run can use, and what was found of each"),
    OPT_JSON(struct info_args, json),
    OPT_STRICT(struct info_args, strict),
    OPT_END,
};

static bool count_event(struct info *info, struct str name)
{
    uint32_t id = intern(&info->event_names, name);
    if (id == INTERN_NONE || (id == info->event_counts.n && !vec_push(&info->event_counts, 0)))
        return false;
    info->event_counts.v[id]++;
    return true;
}

static bool count_records(struct info *info, const struct info_tape *tape, struct err *err)
{
    const struct trace *trace = tape->arg.trace;
    info->tape_bytes += trace->tape_bytes;
    for (uint32_t i = 0; i < trace->n_records; i++) {
        const struct record *record = &trace->records[i];
        if (record->event == EVENT_RAW || !info_in_view(tape, record->recording))
            continue;
        info->records++;
        if (!count_event(info, trace_string(trace, record->name)))
            return err_nomem(err);
    }
    /* Damage of the tape itself belongs to no recording, so it is shown only if no recording is
     * selected. */
    if (tape->arg.selector.recording.n == 0)
        info->damaged += trace_damage(trace, NULL, 0);
    for (uint32_t i = 0; i < trace->n_recordings; i++) {
        const struct recording *recording = &trace->recordings[i];
        info->payloads += info_in_view(tape, i) ? recording->payloads : 0;
        if (tape->arg.selector.recording.n && info_in_view(tape, i))
            info->damaged += recording->damaged;
        info->bytes += info_in_view(tape, i) ? recording->bytes : 0;
    }
    return true;
}

static bool count_shapes(struct info *info, struct info_tape *tape, struct err *err)
{
    struct trace *trace = tape->arg.trace;
    const struct symbol_table *symbols = trace_symbols(trace, err);
    const struct guard_list *guards = symbols ? trace_guards(trace, err) : NULL;
    if (!guards)
        return false;
    for (uint32_t i = 0; i < symbols->n_symbols; i++) {
        const struct symbol *symbol = &symbols->symbols[i];
        info->symbols += info_in_view(tape, trace->records[symbol->record].recording);
        if (symbol->attempt != TRACE_NONE)
            tape->sums[symbol->attempt].symbols++;
    }
    for (uint32_t i = 0; i < guards->n; i++) {
        const struct guard *guard = &guards->guards[i];
        info->guards[guard->kind] += info_in_view(tape, trace->records[guard->record].recording);
        if (guard->attempt != TRACE_NONE && guard->kind == GUARD_EVAL)
            tape->sums[guard->attempt].guards++;
    }
    return true;
}

static bool count_graph_nodes(void *user, const struct graph *graph)
{
    *(struct graph_counts *)user = graph_counts(graph);
    return true;
}

static bool count_tape_graphs(struct info *info, struct info_tape *tape, struct err *err)
{
    struct trace *trace = tape->arg.trace;
    const struct graph_list *list = trace_graphs(trace, err);
    for (uint32_t i = 0; list && i < list->n; i++) {
        struct graph_row row = { .ref = &list->refs[i] };
        struct err why = { 0 };
        if (!info_in_view(tape, trace->records[row.ref->record].recording))
            continue;
        row.unreadable = !trace_visit_graph(trace, i, count_graph_nodes, &row.counts, &why);
        if (why.kind == ERR_ENV)
            return *err = why, false;
        if (row.unreadable)
            out_error(info->out, &why);
        if (row.ref->is_event && row.ref->attempt != TRACE_NONE) {
            tape->sums[row.ref->attempt].graphs++;
            tape->sums[row.ref->attempt].calls += row.counts.calls;
        }
        if (!vec_push(&tape->graphs, row))
            return err_nomem(err);
    }
    return list != NULL;
}

static int read_info_tape(struct info *info, struct info_tape *tape, const char *operand,
                          bool strict)
{
    struct err err = { 0 };
    int code = tape_arg_open(&tape->arg, info->out, operand,
                             TAPE_ARG_WHOLE | (strict ? TAPE_ARG_STRICT : 0));
    if (code != EXIT_DONE)
        return code;
    tape->sums = calloc(tape->arg.trace->n_attempts + 1, sizeof *tape->sums);
    if (!tape->sums) {
        err_nomem(&err);
        return out_error(info->out, &err);
    }
    if (count_records(info, tape, &err) && count_shapes(info, tape, &err) &&
        count_tape_graphs(info, tape, &err))
        return EXIT_DONE;
    return out_error(info->out, &err);
}

static void release_info(struct info *info)
{
    for (size_t i = 0; i < info->n_tapes; i++) {
        vec_release(&info->tapes[i].graphs);
        free(info->tapes[i].sums);
        tape_arg_close(&info->tapes[i].arg);
    }
    free(info->tapes);
    intern_release(&info->event_names);
    vec_release(&info->event_counts);
    free(info->events);
}

/* For qsort_r(): the most frequent event comes first, and equally frequent events are ordered by
 * name. */
static int by_event_frequency(const void *a, const void *b, void *user)
{
    const struct info *info = user;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint64_t n_x = info->event_counts.v[x], n_y = info->event_counts.v[y];
    if (n_x != n_y)
        return n_x > n_y ? -1 : 1;
    return str_cmp(intern_text(&info->event_names, x), intern_text(&info->event_names, y));
}

static bool order_events(struct info *info, struct err *err)
{
    size_t n = info->event_counts.n;
    info->events = calloc(n + 1, sizeof *info->events);
    if (!info->events)
        return err_nomem(err);
    for (size_t i = 0; i < n; i++)
        info->events[i] = (uint32_t)i;
    qsort_r(info->events, n, sizeof *info->events, by_event_frequency, info);
    return true;
}

static int run_info(struct cmd *cmd)
{
    const struct info_args *args = cmd->args;
    struct info info = { .out = cmd->out };
    struct err err = { 0 };
    int code = EXIT_DONE;
    if (args->backends)
        return cmd->n_operands ? out_usage(cmd->out, "info: --backends takes no TAPE")
                               : info_print_backends(cmd->out, args->json);
    if (cmd->n_operands == 0)
        return out_usage(cmd->out, "info: an argument is missing; usage: symtape info "
                                   "[options] TAPE[@RECORDING]...");
    info.tapes = calloc(cmd->n_operands, sizeof *info.tapes);
    if (!info.tapes)
        err_nomem(&err);
    for (size_t i = 0; info.tapes && i < cmd->n_operands && code == EXIT_DONE; i++) {
        info.n_tapes++;
        code = read_info_tape(&info, &info.tapes[i], cmd->operands[i], args->strict);
    }
    if (code == EXIT_DONE && !err_is_set(&err))
        order_events(&info, &err);
    if (err_is_set(&err))
        code = out_error(cmd->out, &err);
    if (code == EXIT_DONE)
        code = args->json ? info_print_json(&info) : info_print_text(&info);
    release_info(&info);
    return code;
}

const struct command command_info = {
    .synopsis = "[options] TAPE[@RECORDING]...\n--backends [--json]",
    .description =
        "Lists what is on tapes: how many records of which events, the recordings (one per "
        "process or rank), and each compile with its attempts, how it ended, and its graphs.",
    .examples = "  symtape info bert.tape\n"
                "  symtape info --json logs/ | jq '.compiles[].graphs'\n",
    .options = options,
    .args_size = sizeof(struct info_args),
    .min_operands = 0,
    .max_operands = OPERANDS_ANY,
    .run = run_info,
};
