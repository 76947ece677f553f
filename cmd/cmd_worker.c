#include <unistd.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/cli/search_signals.h"
#include "cmd/cmd.h"
#include "minify/remote/serve.h"
#include "replay/backend/cuda/runtime/compile.h"

struct worker_args {
    const char *kernels;
};

static const struct opt options[] = {
    OPT_STRING(0, "kernels", "NVRTC", struct worker_args, kernels,
               "compile the kernels of the symtape that started it, with that library"),
    OPT_END,
};

static int run_worker(struct cmd *cmd)
{
    const struct worker_args *args = cmd->args;
    struct search_signals signals;
    struct err err = { 0 };
    memory_limit_end(cmd->out->limit); /* the commands would inherit it; messages are bounded */
    if (args->kernels)
        return compile_serve(STDIN_FILENO, args->kernels, &err) ? EXIT_DONE
                                                                : out_error(cmd->out, &err);
    const atomic_bool *stop = search_signals_begin(&signals);
    bool good = worker_serve(STDIN_FILENO, STDOUT_FILENO, stop, &err);
    int code = !good ? out_error(cmd->out, &err) : atomic_load(stop) ? EXIT_INTERRUPTED : EXIT_DONE;
    search_signals_end(&signals);
    return code;
}

const struct command command_worker = {
    .synopsis = "[--kernels NVRTC]",
    .description = "Runs the commands that another symtape asks for on its standard input, as "
                   "symtape minify --launcher starts it on other machines. With --kernels, it "
                   "compiles kernels for symtape run, which starts it. It ends when its input "
                   "does. symtape-worker(1) describes what the two say to each other.",
    .examples =
        "  Four workers on this machine:\n"
        "    symtape minify bert.tape:0/0 --check ./fails.sh -j 4 --launcher 'nice -n 10'\n",
    .options = options,
    .args_size = sizeof(struct worker_args),
    .run = run_worker,
};
