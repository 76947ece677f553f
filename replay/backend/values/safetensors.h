/* Files of tensors in the safetensors format: a length, a JSON header with each tensor's dtype,
 * shape and offsets, and the bytes (github.com/huggingface/safetensors, "Format").
 *
 *     struct safetensors *file = safetensors_open("values.safetensors", &err);
 *     struct array x;
 *     if (safetensors_find(file, STR("in.0.0"), &x)) ...
 *     safetensors_close(file);
 *
 * The whole file is read; arrays point into it until it is closed. Every length is checked.
 * */
#ifndef SYMTAPE_REPLAY_BACKEND_VALUES_SAFETENSORS_H
#define SYMTAPE_REPLAY_BACKEND_VALUES_SAFETENSORS_H

#include "replay/backend/values/array.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"

struct safetensors;

/* ERR_ENV: the file cannot be read; ERR_INPUT: it has another format, or is damaged. */
struct safetensors *safetensors_open(const char *path, struct err *err);
/* Does the same for bytes in memory, which are borrowed. */
struct safetensors *safetensors_parse(struct str bytes, struct err *err);
void safetensors_close(struct safetensors *file); /* NULL is fine */

bool safetensors_find(const struct safetensors *file, struct str name, struct array *ret);
size_t safetensors_count(const struct safetensors *file);
struct str safetensors_name(const struct safetensors *file, size_t i); /* in the header's order */

/* Prints the header for arrays whose bytes follow in their order without gaps; only their dtypes
 * and sizes are used. False: out of memory, or a dtype that the format lacks. */
bool safetensors_print_header(const struct str *names, const struct array *arrays, size_t n,
                              struct buf *out, struct err *err);
/* Prints a whole file; names[i] belongs to arrays[i]. False: out of memory, or a dtype that the
 * format lacks. */
bool safetensors_print(const struct str *names, const struct array *arrays, size_t n,
                       struct buf *out, struct err *err);

#endif
