/* Files of tensors in the safetensors format: a length, a JSON header that tells each tensor's
 * dtype, shape and place, and the bytes (github.com/huggingface/safetensors, "Format").
 *
 *     struct safetensors *file = safetensors_open("values.safetensors", &err);
 *     struct array x;
 *     if (safetensors_find(file, STR("in.0.0"), &x)) ...
 *     safetensors_close(file);
 *
 * The file is read as a whole; arrays point into that until it is closed. Every length is checked.
 */
#ifndef SYMTAPE_REPLAY_BACKEND_VALUES_SAFETENSORS_H
#define SYMTAPE_REPLAY_BACKEND_VALUES_SAFETENSORS_H

#include "replay/backend/values/array.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"

struct safetensors;

/* ERR_ENV: it cannot be read; ERR_INPUT: it is no such file, or damaged. */
struct safetensors *safetensors_open(const char *path, struct err *err);
/* The same of bytes in memory, borrowed. */
struct safetensors *safetensors_parse(struct str bytes, struct err *err);
void safetensors_close(struct safetensors *file); /* NULL is fine */

bool safetensors_find(const struct safetensors *file, struct str name, struct array *ret);
size_t safetensors_count(const struct safetensors *file);
struct str safetensors_name(const struct safetensors *file, size_t i); /* in the header's order */

/* What stands in front of the arrays' bytes, which follow in their order without gaps; only their
 * dtypes and sizes are looked at. False: out of memory, a dtype the format lacks. */
bool safetensors_print_header(const struct str *names, const struct array *arrays, size_t n,
                              struct buf *out, struct err *err);
/* A whole file; names[i] goes with arrays[i]. False: out of memory, a dtype the format lacks. */
bool safetensors_print(const struct str *names, const struct array *arrays, size_t n,
                       struct buf *out, struct err *err);

#endif
