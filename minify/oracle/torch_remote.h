/* Questions to PyTorch that workers of a launcher ask, each in a Python process of its own
 * (minify/process/torch_worker.py, started with "once").
 *
 * The Python is that of the worker: its $SYMTAPE_PYTHON, or python3. The files of --import are sent
 * along; modules must be there. All workers need the same version of PyTorch. */
#ifndef SYMTAPE_MINIFY_ORACLE_TORCH_REMOTE_H
#define SYMTAPE_MINIFY_ORACLE_TORCH_REMOTE_H

#include "minify/oracle/oracle.h"
#include "minify/process/torch_worker.h"
#include "minify/remote/launcher.h"

struct torch_remote;

/* The launcher and the texts of `setup` outlive it. Returns NULL with ERR_ENV or ERR_USAGE if a
 * file of --import cannot be read or has more than 64 MiB. No worker is started. */
struct torch_remote *torch_remote_open(struct launcher *launcher, const struct program_setup *setup,
                                       struct err *err);
void torch_remote_close(struct torch_remote *remote); /* NULL is fine */

/* The version of PyTorch; "" before the first answer. */
struct str torch_remote_version(const struct torch_remote *remote);

/* Asks as torch_worker_ask() does. The first question is asked alone. Returns false with err set if
 * no worker, no Python or no PyTorch is there, if it is another PyTorch than that of the first
 * answer, or if something of the setup does not exist or raises. */
bool torch_remote_ask(struct torch_remote *remote, struct str question, struct str source,
                      const struct oracle_question *asking, struct buf *reply, enum torch_end *end,
                      struct err *err);

#endif
