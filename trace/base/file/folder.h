/* Folders that are accessed by a descriptor, so that no other process can replace them while they
 * are used.
 *
 * A path is looked up anew by each call that takes it, and any process that may write to a folder
 * above (all users, below /tmp) can change what it leads to in between. A descriptor stays with its
 * folder. These calls take names in a folder, never paths; they follow no symbolic link, and they
 * neither open, nor read, nor remove what another user owns.
 *
 * A call that fails returns -1 or false and leaves errno; EPERM: another user owns it. The
 * caller knows the path and reports it (err_errno()). The caller closes descriptors, which are
 * also closed on exec. */
#ifndef SYMTAPE_TRACE_BASE_FILE_FOLDER_H
#define SYMTAPE_TRACE_BASE_FILE_FOLDER_H

#include <sys/stat.h>

#include "trace/base/buf.h"

/* Returns whether the current user owns it. */
bool is_ours(const struct stat *info);

int folder_open(int parent, const char *name);
/* Makes a new folder that only its owner can use, and opens it. */
int folder_make(int parent, const char *name);

/* Writes a new file of mode 0600; false when the name exists. An incomplete file is removed. */
bool folder_write(int folder, const char *name, struct str bytes);
/* Appends the content of a regular file of at most `most` bytes that is ours and that no other
 * user may write. */
bool folder_read(int folder, const char *name, size_t most, struct buf *ret);

/* Removes a file, provided that the name still leads to the file that `info` describes. */
bool folder_unlink(int folder, const char *name, const struct stat *info);

/* Removes everything that is ours in a folder, at any depth and whatever its permissions are,
 * except for the entry `keep` (NULL: none). Symbolic links are removed, their targets are not
 * touched; other file systems are not entered. It returns false when something is left. */
bool folder_empty(int folder, const char *keep);
/* Removes a folder with its content. */
bool folder_remove(int parent, const char *name);
/* Removes an empty folder, provided that the name still leads to the folder that is open as
 * `fd`. */
bool folder_remove_empty(int parent, const char *name, int fd);

#endif
