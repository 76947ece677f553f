#include "minify/repro/repro_verify.h"

#include <stdio.h>
#include <stdlib.h>

#include "minify/process/child.h"
#include "minify/program/program_script.h"
#include "trace/base/buf.h"

extern char **environ;

enum { RUN_SECONDS = 300, SHOWS = 1, CANNOT_RUN = 125 };

static void copy_last_line(struct str text, char *ret, size_t size)
{
    snprintf(ret, size, "%.*s", STR_ARG(str_first(text, size - 1)));
}

static bool ask_once(const char *const *argv, double timeout, const atomic_bool *cancel,
                     struct repro_verified *ret, struct err *err)
{
    struct child child = { .argv = argv,
                           .environment = environ,
                           .timeout = timeout > 0 ? timeout : RUN_SECONDS,
                           .cancel = cancel };
    struct child_end *end = calloc(1, sizeof *end);
    bool ok = end ? child_run(&child, end, err) : err_nomem(err);
    if (ok && end->cancelled)
        ok = err_set(err, ERR_INTERRUPTED, "interrupted");
    if (ok) {
        ret->asked++;
        ret->status = end->status;
        ret->timed_out = end->timed_out;
        ret->shown += end->status == SHOWS;
        copy_last_line(child_last_line(end), ret->last, sizeof ret->last);
    }
    free(end);
    return ok;
}

bool repro_verify(const char *path, const struct torch_python *python,
                  const struct program_setup *setup, uint32_t times, double timeout,
                  const atomic_bool *cancel, struct repro_verified *ret, struct err *err)
{
    char *script = program_script(PROGRAM_RUN, setup);
    const char *argv[] = { python->path, "-c", script, path, NULL };
    bool ok = script || err_nomem(err);
    *ret = (struct repro_verified){ .seen = python->version[0] ? REPRO_SHOWN : REPRO_NO_TORCH };
    memcpy(ret->version, python->version, sizeof ret->version);
    for (uint32_t i = 0; ok && ret->seen == REPRO_SHOWN && i < times; i++) {
        ok = ask_once(argv, timeout, cancel, ret, err);
        if (ok && ret->status != SHOWS)
            ret->seen = ret->status == CANNOT_RUN ? REPRO_CANNOT : REPRO_NOT_SHOWN;
    }
    free(script);
    return ok;
}

void repro_verified_print(const struct repro_verified *verified, struct buf *out)
{
    switch (verified->seen) {
    case REPRO_SHOWN:
        buf_printf(out, "reproduced %u of %u times in a fresh process with PyTorch %s",
                   (unsigned)verified->shown, (unsigned)verified->asked, verified->version);
        break;
    case REPRO_NOT_SHOWN:
        buf_printf(out, "not reproduced in a fresh process with PyTorch %s (exit code %d%s)",
                   verified->version, verified->status, verified->timed_out ? ", out of time" : "");
        break;
    case REPRO_CANNOT:
        buf_printf(out, "cannot be run with PyTorch %s on this machine", verified->version);
        if (verified->last[0])
            buf_printf(out, " (%s)", verified->last);
        break;
    case REPRO_NO_TORCH:
        buf_puts(out, "not verified: there is no Python with PyTorch here; --python or "
                      "$SYMTAPE_PYTHON can name one");
        break;
    }
}
