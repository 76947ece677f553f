/* Folders held by a descriptor, so that nobody can put another in their place while we use them.
 *
 * A path is looked up anew by each call that takes it, and whoever may write to a folder above (all
 * users, below /tmp) can change what it leads to in between. A descriptor stays with its folder.
 * These calls take names in a folder, never paths; they follow no symbolic link, and what another
 * user owns they neither open, nor read, nor remove.
 *
 * A call that fails returns -1 or false and leaves errno; EPERM: it is another user's. The caller
 * knows the path and tells it (err_errno()). Descriptors are the caller's to close, and close with
 * exec. */
#ifndef SYMTAPE_TRACE_BASE_FILE_FOLDER_H
#define SYMTAPE_TRACE_BASE_FILE_FOLDER_H

#include <sys/stat.h>

#include "trace/base/buf.h"

/* Owned by the user that we are. */
bool is_ours(const struct stat *info);

int folder_open(int parent, const char *name);
/* A new one, that only its owner can use. */
int folder_make(int parent, const char *name);

/* A new file of mode 0600; false when there is one of that name. What could not be written is
 * removed. */
bool folder_write(int folder, const char *name, struct str bytes);
/* Appends a regular file of at most `most` bytes that is ours and that nobody else may write. */
bool folder_read(int folder, const char *name, size_t most, struct buf *ret);

/* Removes a file, provided that the name still leads to the file that `info` tells of. */
bool folder_unlink(int folder, const char *name, const struct stat *info);

/* Removes what is ours in a folder, at any depth and whatever its permissions are, but for the
 * entry `keep` (NULL: none). Symbolic links are removed, what they lead to is not touched; other
 * file systems are not entered. False when something is left. */
bool folder_empty(int folder, const char *keep);
/* The folder too. */
bool folder_remove(int parent, const char *name);
/* That is empty, provided that the name still leads to the folder that is open as `fd`. */
bool folder_remove_empty(int parent, const char *name, int fd);

#endif
