/* A file of named arrays, which may be larger than memory: they are written one after the other and
 * read afterwards.
 *
 *     struct value_file *values = value_file_new(NULL, &err);
 *     value_file_add(values, STR("mul_7"), &array, &err) ...
 *     value_file_seal(values, &err);
 *     value_file_find(values, STR("mul_7"), &array);               until it is freed
 *     value_file_write(values, "reference.safetensors", &err);     as a file that stays
 *
 * Up to 32 MiB stay in memory; beyond that everything is written to a file without a name, which
 * disappears when it is closed, also by a crash. */
#ifndef SYMTAPE_REPLAY_BACKEND_VALUES_VALUE_FILE_H
#define SYMTAPE_REPLAY_BACKEND_VALUES_VALUE_FILE_H

#include "replay/backend/values/array.h"
#include "trace/base/err.h"
#include "trace/base/str.h"

struct value_file;

/* folder: the directory of the unnamed file; NULL: $TMPDIR, or /var/tmp, which is on a disk. */
struct value_file *value_file_new(const char *folder, struct err *err);
void value_file_free(struct value_file *file); /* NULL is fine */
/* If the name was added before, the first array stays. ERR_ENV: out of memory or space. */
bool value_file_add(struct value_file *file, struct str name, const struct array *array,
                    struct err *err);
bool value_file_seal(struct value_file *file, struct err *err); /* nothing is added after it */
/* Requires a sealed file. */
bool value_file_find(const struct value_file *file, struct str name, struct array *ret);
size_t value_file_count(const struct value_file *file);
/* Writes a safetensors file, in pieces; `path` then has all of it or its previous contents. */
bool value_file_write(const struct value_file *file, const char *path, struct err *err);

#endif
