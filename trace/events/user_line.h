/* Whose line is it? A recorded stack goes from the program's main file through its modules into
 * PyTorch's (torch/nn, torch/_dynamo ...), and what a user can change is the innermost frame that
 * is not PyTorch's: the *user line*. The "# File:" comments of graphs name the same line, mostly.
 */
#ifndef SYMTAPE_TRACE_EVENTS_USER_LINE_H
#define SYMTAPE_TRACE_EVENTS_USER_LINE_H

#include "trace/open.h"

/* Is this one of PyTorch's own files? All below site-packages/torch or dist-packages/torch are. In
 * another folder called torch (a checkout, or a user's project) only what PyTorch has there:
 * torch_is_own(). Paths are absolute, as logs have them. */
bool torch_is_own_file(struct str file);

/* Is torch/NAME a package or module of PyTorch? NAME is one component of a path: "nn", "_dynamo",
 * "functional.py". Those that begin with "_" are PyTorch's private ones. */
bool torch_is_own(struct str name);

/* The innermost frame of a stack outside PyTorch's own files; the innermost of all when every frame
 * is PyTorch's; 0 for the empty stack. */
stack_id user_line(const struct trace *trace, uint32_t recording, stack_id stack);

#endif
