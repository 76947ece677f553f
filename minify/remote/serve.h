/* The worker's side of minify/remote/message.h: reads jobs, runs one after the other, and writes
 * how they ended. */
#ifndef SYMTAPE_MINIFY_REMOTE_SERVE_H
#define SYMTAPE_MINIFY_REMOTE_SERVE_H

#include "minify/remote/message.h"

/* Serves until the end of `in`, or until *stop. A job that runs then is cancelled. Returns false
 * with ERR_INPUT for a message that is none, with ERR_ENV if the output cannot be written. */
bool worker_serve(int in, int out, const atomic_bool *stop, struct err *err);

#endif
