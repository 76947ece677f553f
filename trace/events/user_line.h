/* Finds the *user line* of a recorded stack. A stack goes from the program's main file through
 * its modules into PyTorch's (torch/nn, torch/_dynamo ...), and the innermost frame that is not
 * PyTorch's is the one that a user can change. The "# File:" comments of graphs name the same
 * line in most cases. */
#ifndef SYMTAPE_TRACE_EVENTS_USER_LINE_H
#define SYMTAPE_TRACE_EVENTS_USER_LINE_H

#include "trace/open.h"

/* Returns whether a file is one of PyTorch's own. All below site-packages/torch or
 * dist-packages/torch are. In another folder called torch (a checkout, or a user's project) only
 * those that torch_is_own() names are. Paths are absolute, as in logs. */
bool torch_is_own_file(struct str file);

/* Returns whether torch/NAME is a package or module of PyTorch. NAME is one component of a path:
 * "nn", "_dynamo", "functional.py". Those that begin with "_" are PyTorch's private ones. */
bool torch_is_own(struct str name);

/* Whose file it is. Those of other libraries lie in site-packages or dist-packages. A path that is
 * not absolute, as in the comments of guards, is PyTorch's if its first folder is one of
 * PyTorch's. */
enum user_file { USER_FILE_TORCH, USER_FILE_LIBRARY, USER_FILE_PROGRAM };
enum user_file user_file_of(struct str file);

/* Returns the innermost frame of the program itself; where a stack has none, the innermost of a
 * library, and else user_line(). */
stack_id user_program_line(const struct trace *trace, uint32_t recording, stack_id stack);

/* Returns the innermost frame of a stack outside PyTorch's own files; the innermost of all when
 * every frame is PyTorch's; 0 for the empty stack. */
stack_id user_line(const struct trace *trace, uint32_t recording, stack_id stack);

/* Sets *ret to the function that a compiled one is the rest of, after a graph break: "f" of
 * "torch_dynamo_resume_in_f_at_8", before 2.1 "<resume in f>"; or to the function itself, and then
 * returns false (torch/_dynamo/bytecode_transformation.py and resume_execution.py). */
bool function_resumes(struct str function, struct str *ret);

#endif
