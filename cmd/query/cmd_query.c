#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/cli/nearest.h"
#include "cmd/query/query_report.h"

struct query_args {
    const char *sql, *format;
    struct opt_number limit, timeout;
    bool json, list, show;
};

enum { TIMEOUT_SECONDS = 60, MOST_SECONDS = 1000000 };

static const struct opt options[] = {
    OPT_STRING(0, "sql", "SQL", struct query_args, sql,
               "one SELECT of yours; :NAME in it is given by NAME=VALUE"),
    OPT_FLAG('l', "list", struct query_args, list, "list the queries that are shipped"),
    OPT_FLAG(0, "show", struct query_args, show,
             "print the SQL of the query NAME, and do not run it"),
    OPT_CHOICE('f', "format", "text|json|csv", struct query_args, format,
               "format of the answer (default text)"),
    OPT_JSON(struct query_args, json),
    OPT_NUMBER('n', "limit", "N", struct query_args, limit,
               "print at most N rows (default: 40 of text, else all; 0: all)"),
    OPT_NUMBER(0, "timeout", "SECONDS", struct query_args, timeout,
               "end a query that takes longer (default 60)"),
    OPT_END,
};

/* ---- The list ---- */

static int list_json(struct cmd *cmd)
{
    struct buf out = BUF_INIT;
    struct json_writer w = json_writer_of(&out);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_QUERY_LIST);
    json_open_array(&w, "queries");
    for (const struct shipped_query *q = shipped_queries; q->name; q++) {
        json_open_object(&w, NULL);
        json_put_cstr(&w, "name", q->name);
        json_put_cstr(&w, "summary", q->summary);
        json_put_cstr(&w, "parameters", q->parameters);
        json_put_cstr(&w, "sql", q->sql);
        json_close(&w);
    }
    json_close(&w);
    json_close(&w);
    buf_putc(&out, '\n');
    int code = out_buf(cmd->out, &out);
    buf_release(&out);
    return code;
}

static int list_text(struct cmd *cmd)
{
    static const struct column columns[] = { { "query", COLUMN_LEFT, 0 },
                                             { "parameters", COLUMN_LEFT, 0 },
                                             { "what it answers", COLUMN_WIDE, 0 } };
    struct table table = TABLE(columns);
    for (const struct shipped_query *q = shipped_queries; q->name; q++) {
        table_text(&table, str_of(q->name));
        table_text(&table, str_of(q->parameters));
        table_text(&table, str_of(q->summary));
    }
    int code = out_table(cmd->out, &table);
    table_release(&table);
    return code;
}

/* ---- The answer ---- */

static bool bind_operands(struct cmd *cmd, size_t from, struct query *query, struct err *err)
{
    bool ok = true;
    for (size_t i = from; ok && i < cmd->n_operands; i++) {
        struct str operand = str_of(cmd->operands[i]);
        struct str name = str_first(operand, str_find_char(operand, '='));
        ok = name.n == operand.n
                 ? err_set(err, ERR_USAGE, "%s: a parameter is NAME=VALUE", cmd->operands[i])
                 : query_bind(query, name, str_from(operand, name.n + 1), err);
    }
    return ok && query_bound(query, err);
}

static enum query_format format_of(const struct query_args *args)
{
    struct str name = str_of(args->format ? args->format : args->json ? "json" : "text");
    return str_is(name, "json") ? QUERY_JSON : str_is(name, "csv") ? QUERY_CSV : QUERY_TABLE;
}

/* The memory that a query may take grows with the file. */
static void note_size(struct cmd *cmd)
{
    struct source_meter *meter = &cmd->out->limit->meter;
    struct stat info;
    if (stat(cmd->operands[0], &info) == 0 && info.st_size > 0)
        meter->stored(meter, (uint64_t)info.st_size);
}

/* `struct out` is not for signals. */
static void on_late(int number)
{
    static const char text[] = "symtape: the query took longer than --timeout allows\n";
    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(EXIT_ENV);
}

/* The library looks at the time between its steps only, and one step, such as instr() of two long
 * texts, can take hours: the process ends then. query_print() stops the alarm. */
static void set_alarm(uint64_t seconds)
{
    const struct sigaction action = { .sa_handler = on_late };
    (void)sigaction(SIGALRM, &action, NULL);
    (void)alarm((unsigned)seconds);
}

static int answer(struct cmd *cmd, const char *sql, const char *name, size_t first_parameter)
{
    const struct query_args *args = cmd->args;
    struct query query;
    struct err err = { 0 };
    uint64_t seconds = args->timeout.given ? args->timeout.value : TIMEOUT_SECONDS;
    enum query_format format = format_of(args);
    struct query_report report = { .query = &query,
                                   .name = name,
                                   .format = format,
                                   .limit = args->limit.given       ? args->limit.value
                                            : format == QUERY_TABLE ? QUERY_TEXT_ROWS
                                                                    : 0 };
    note_size(cmd);
    seconds = seconds < MOST_SECONDS ? seconds : MOST_SECONDS;
    set_alarm(seconds + 1);
    bool ok = query_open(&query, cmd->operands[0], sql, seconds * 1000, &err) &&
              bind_operands(cmd, first_parameter, &query, &err);
    int code = ok ? query_print(cmd->out, &report, &err) : out_error(cmd->out, &err);
    (void)alarm(0);
    query_close(&query);
    return code;
}

static int unknown_query(struct cmd *cmd, const char *name)
{
    struct nearest search = nearest_of(str_of(name));
    char hint[NEAREST_TEXT];
    for (const struct shipped_query *q = shipped_queries; q->name; q++)
        nearest_offer(&search, str_of(q->name));
    return out_usage(cmd->out, "query: there is no query \"%s\"%s; symtape query --list has them",
                     name, nearest_text(&search, hint));
}

static int show_sql(struct cmd *cmd, const struct shipped_query *query)
{
    out_printf(cmd->out, "%s\n", query->sql);
    return EXIT_DONE;
}

static int run_shipped(struct cmd *cmd)
{
    const struct query_args *args = cmd->args;
    size_t at = args->show && cmd->n_operands == 1 ? 0 : 1;
    const char *name = cmd->operands[at];
    const struct shipped_query *query = shipped_query_find(str_of(name));
    if (!query)
        return unknown_query(cmd, name);
    return args->show ? show_sql(cmd, query) : answer(cmd, query->sql, name, 2);
}

static int run_query(struct cmd *cmd)
{
    const struct query_args *args = cmd->args;
    if (args->json && args->format && strcmp(args->format, "json") != 0)
        return out_usage(cmd->out, "query: --json and --format %s exclude each other",
                         args->format);
    if (args->list)
        return args->json ? list_json(cmd) : list_text(cmd);
    if (args->sql && args->show)
        return out_usage(cmd->out, "query: --sql and --show exclude each other");
    if (cmd->n_operands == 0 || (cmd->n_operands == 1 && !args->sql && !args->show))
        return out_usage(cmd->out, "query: name a CORPUS and a query, or --sql; "
                                   "symtape query --list lists the queries");
    return args->sql ? answer(cmd, args->sql, NULL, 1) : run_shipped(cmd);
}

const struct command command_query = {
    .synopsis = "[options] CORPUS NAME [PARAMETER=VALUE]...\n"
                "[options] CORPUS --sql SQL [PARAMETER=VALUE]...\n"
                "--list | --show NAME",
    .description =
        "Asks a corpus that symtape collect made, or any database of SQLite: one of the queries "
        "that are shipped, or one SELECT of yours. The file is only read, and may be a "
        "stranger's: no other statement runs, no extension is loaded, no other file is opened, "
        "and memory and time are limited.",
    .examples = "  symtape query all.sqlite lines -n 10\n"
                "  symtape query all.sqlite slower before=1f2e3d4 after=5a6b7c8\n"
                "  symtape query all.sqlite --sql 'SELECT count(*) FROM guards' --json\n",
    .options = options,
    .args_size = sizeof(struct query_args),
    .min_operands = 0,
    .max_operands = OPERANDS_ANY,
    .run = run_query,
};
