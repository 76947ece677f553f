/* Private to the diagnosis: compiled frames that the user's program does not call itself. After a
 * graph break, Dynamo compiles what the broken function calls, and the rest of that function, as
 * frames of their own, whose inputs the broken function computed. */
#ifndef SYMTAPE_PROFILE_DIAGNOSIS_RECOMPILES_INNER_FRAME_H
#define SYMTAPE_PROFILE_DIAGNOSIS_RECOMPILES_INNER_FRAME_H

#include "profile/diagnosis/finder.h"
#include "trace/base/intern.h"

struct inner_frame {
    struct str outer; /* the compiled function that the program calls; "": the frame is not inner */
    struct str file;
    uint32_t line; /* where the frame was called, or goes on after the break */
};

/* The functions that were compiled, by recording, file and name. */
struct compiled_functions {
    struct intern names;
    struct buf key;
};

bool compiled_functions_read(struct finder *d, struct compiled_functions *ret);
void compiled_functions_release(struct compiled_functions *functions);

/* Finds the compiled function that a compile of the profile runs in, from the stack with which the
 * compile began. Texts belong to the trace. Returns an empty one where there is none; a failure is
 * kept in d->err. */
struct inner_frame inner_frame_find(struct finder *d, struct compiled_functions *functions,
                                    uint32_t compile);

#endif
