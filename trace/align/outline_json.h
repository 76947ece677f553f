/* Outlines as JSON: what `symtape diff --save` writes, and reads again with the same result.
 *
 * One object of arrays, each row an array, so that it is small; texts are named by their index.
 * symtape-diff(1) tells the members. Names of nodes and numbers of records are left out. */
#ifndef SYMTAPE_TRACE_ALIGN_OUTLINE_JSON_H
#define SYMTAPE_TRACE_ALIGN_OUTLINE_JSON_H

#include "trace/align/outline.h"
#include "trace/base/text/json.h"
#include "trace/base/text/json_write.h"

/* Writes the outline as the value of `key`. The writer's buffer reports failures. */
void outline_write(const struct outline *outline, struct json_writer *w, const char *key);

/* Reads an outline. It returns NULL with err set when memory ran out, or with ERR_INPUT that
 * names the malformed member. */
struct outline *outline_read(const struct json *doc, json_id object, struct err *err);

#endif
