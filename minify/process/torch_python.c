#include "minify/process/torch_python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "minify/process/child.h"

extern char **environ;

enum { ASK_SECONDS = 300 };

/* Prints PyTorch's version, which takes seconds to import, from the file that has it alone. */
static const char version_script[] =
    "import sys\n"
    "if sys.path[:1] == ['']: del sys.path[0]\n"
    "import importlib.util, runpy\n"
    "try:\n"
    "    folder = importlib.util.find_spec('torch').submodule_search_locations[0]\n"
    "    print(runpy.run_path(folder + '/version.py')['__version__'])\n"
    "except (AttributeError, OSError, KeyError, TypeError, IndexError):\n"
    "    import torch\n"
    "    print(torch.__version__)\n";

/* Sets ret->version, or ret->lacks. */
static bool ask_version(struct torch_python *ret, const atomic_bool *cancel, struct err *err)
{
    const char *argv[] = { ret->path, "-c", version_script, NULL };
    struct child child = {
        .argv = argv, .environment = environ, .timeout = ASK_SECONDS, .cancel = cancel
    };
    struct child_end *end = calloc(1, sizeof *end);
    struct err why = { 0 };
    if (!end)
        return err_nomem(err);
    bool ran = child_run(&child, end, &why);
    struct str line = ran && end->status == 0 ? child_last_line(end) : STR("");
    snprintf(ret->version, sizeof ret->version, "%.*s",
             STR_ARG(str_first(line, sizeof ret->version - 1)));
    ret->lacks = !ran ? "cannot be started" : end->timed_out ? "no answer" : "no PyTorch";
    bool cancelled = end->cancelled;
    free(end);
    return !cancelled || err_set(err, ERR_INTERRUPTED, "interrupted");
}

static bool use(struct str path, const char *from, const atomic_bool *cancel,
                struct torch_python *ret, struct err *err)
{
    free(ret->path);
    ret->path = strndup(path.p, path.n);
    ret->from = from;
    return ret->path ? ask_version(ret, cancel, err) : err_nomem(err);
}

/* Passes over folders that are relative to the current one, which may be a stranger's. So the name
 * alone, which would be searched there as well, is never run; without a python3 in another folder,
 * what is missing is told when the usual one is run. */
static bool search_path(const atomic_bool *cancel, struct torch_python *ret, struct err *err)
{
    const char *path = getenv("PATH");
    struct str rest = str_of(path ? path : "");
    char file[4096];
    struct torch_python first = { 0 };
    while (rest.n) {
        struct str folder = str_first(rest, str_find_char(rest, ':'));
        rest = str_from(rest, folder.n + 1);
        int n = snprintf(file, sizeof file, "%.*s/python3", STR_ARG(folder));
        if (!str_starts(folder, STR("/")) || n < 0 || (size_t)n >= sizeof file ||
            access(file, X_OK) != 0)
            continue;
        const bool asked = use(str_of(file), "first on $PATH with PyTorch", cancel, ret, err);
        if (!asked || ret->version[0]) {
            torch_python_release(&first);
            return asked;
        }
        if (!first.path) {
            first = *ret;
            ret->path = NULL;
        }
    }
    if (!first.path)
        return use(STR("/usr/bin/python3"), "$PATH", cancel, ret, err);
    free(ret->path);
    *ret = first;
    ret->from = "$PATH";
    return true;
}

bool torch_python_choose(struct str named, struct str program, const atomic_bool *cancel,
                         struct torch_python *ret, struct err *err)
{
    const char *variable = getenv("SYMTAPE_PYTHON");
    *ret = (struct torch_python){ 0 };
    if (named.n)
        return use(named, "--python", cancel, ret, err);
    if (variable && *variable)
        return use(str_of(variable), "$SYMTAPE_PYTHON", cancel, ret, err);
    if (program.n)
        return use(program, "the program's", cancel, ret, err);
    return search_path(cancel, ret, err);
}

void torch_python_release(struct torch_python *python)
{
    free(python->path);
    *python = (struct torch_python){ 0 };
}
