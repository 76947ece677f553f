/* The arguments that the Triton kernels of a program write to in place, 'mutated_arg_names' of
 * their metadata (TritonKernel.codegen_kernel() in torch/_inductor/codegen/triton.py). */
#ifndef SYMTAPE_PROFILE_CALLS_CUDAGRAPHS_KERNEL_ARGUMENTS_H
#define SYMTAPE_PROFILE_CALLS_CUDAGRAPHS_KERNEL_ARGUMENTS_H

#include "trace/base/intern.h"

struct written_argument {
    uint32_t position;
    unsigned element_bytes;
};

struct written_arguments {
    uint32_t first, n; /* in kernel_arguments.written */
    bool always;       /* they are copied whatever that takes: optimize_mem is False */
};

struct kernel_arguments {
    struct intern kernels; /* names of those that write to an argument */
    vec_of(struct written_arguments)
    rows; /* by kernel */
    vec_of(struct written_argument)
    written;
};

/* The most arguments of a kernel that are read. */
enum { MOST_WRITTEN = 64 };

/* Returns the name at the start of a text; "" if there is none. */
struct str name_at(struct str text);

/* Returns false when memory ran out. */
bool kernel_arguments_read(struct kernel_arguments *arguments, struct str program);
/* Returns what a kernel writes to; none for one that is not known. */
struct written_arguments kernel_arguments_find(const struct kernel_arguments *arguments,
                                               struct str kernel);
void kernel_arguments_release(struct kernel_arguments *arguments);

#endif
