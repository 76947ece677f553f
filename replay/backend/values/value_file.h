/* Many arrays by name, more than memory may hold: written one after the other, read afterwards.
 *
 *     struct value_file *values = value_file_new(NULL, &err);
 *     value_file_add(values, STR("mul_7"), &array, &err) ...
 *     value_file_seal(values, &err);
 *     value_file_find(values, STR("mul_7"), &array);               until it is freed
 *     value_file_write(values, "reference.safetensors", &err);     a file for another day
 *
 * Up to 32 MiB are kept in memory; if there is more, everything goes to a file without a name,
 * which is gone when it is closed, also by a crash. */
#ifndef SYMTAPE_REPLAY_BACKEND_VALUES_VALUE_FILE_H
#define SYMTAPE_REPLAY_BACKEND_VALUES_VALUE_FILE_H

#include "replay/backend/values/array.h"
#include "trace/base/err.h"
#include "trace/base/str.h"

struct value_file;

/* folder: of the file without a name; NULL: $TMPDIR, or /var/tmp, which is on a disk. */
struct value_file *value_file_new(const char *folder, struct err *err);
void value_file_free(struct value_file *file); /* NULL is fine */
/* A name that is there already: the first stands. ERR_ENV: no memory, no space. */
bool value_file_add(struct value_file *file, struct str name, const struct array *array,
                    struct err *err);
bool value_file_seal(struct value_file *file, struct err *err); /* nothing is added after it */
/* Only when it is sealed. */
bool value_file_find(const struct value_file *file, struct str name, struct array *ret);
size_t value_file_count(const struct value_file *file);
/* As safetensors, a piece at a time; `path` has the whole or what it had before. */
bool value_file_write(const struct value_file *file, const char *path, struct err *err);

#endif
