#include <unistd.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/cli/search_signals.h"
#include "cmd/cmd.h"
#include "minify/remote/serve.h"

struct worker_args {
    bool none; /* it has no options of its own */
};

static const struct opt options[] = { OPT_END };

static int run_worker(struct cmd *cmd)
{
    struct search_signals signals;
    struct err err = { 0 };
    memory_limit_end(cmd->out->limit); /* the commands would inherit it; messages are bounded */
    const atomic_bool *stop = search_signals_begin(&signals);
    bool good = worker_serve(STDIN_FILENO, STDOUT_FILENO, stop, &err);
    int code = !good ? out_error(cmd->out, &err) : atomic_load(stop) ? EXIT_INTERRUPTED : EXIT_DONE;
    search_signals_end(&signals);
    return code;
}

const struct command command_worker = {
    .synopsis = "",
    .description = "Runs the commands that another symtape asks for on its standard input, as "
                   "symtape minify --launcher starts it on other machines. It ends when its input "
                   "does. symtape-worker(1) describes what the two say to each other.",
    .examples =
        "  Four workers on this machine:\n"
        "    symtape minify bert.tape:0/0 --check ./fails.sh -j 4 --launcher 'nice -n 10'\n",
    .options = options,
    .args_size = sizeof(struct worker_args),
    .run = run_worker,
};
