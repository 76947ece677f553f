/* The compiles of a recording by code object, in the order in which PyTorch started them. */
#ifndef SYMTAPE_PROFILE_CALLS_CACHE_TAPE_COMPILES_H
#define SYMTAPE_PROFILE_CALLS_CACHE_TAPE_COMPILES_H

#include "trace/base/hash_index.h"
#include "trace/base/vec.h"
#include "trace/events/incidents/incidents.h"
#include "trace/open.h"

struct tape_compile {
    struct str id;    /* "0/3" */
    uint32_t attempt; /* the last */
    uint32_t order;   /* among all compiles of the recording */
    uint64_t number;  /* 3: its place among the compiles of the code object */
    double seconds;   /* entire_frame_compile_time; 0 if it is not recorded */
    bool raised;      /* it ended with an error that the call raised */
    bool refused;     /* a limit was reached: nothing was compiled */
    bool failed;      /* as it was refused, the call failed: the frame is looked up again */
    uint64_t limit;   /* of a refused compile: the limit as it was set then; 0 if it is not told */
    struct str tree;  /* its guards; "" if it made no entry */
    bool lazy_backward;          /* its backward was compiled when it first ran */
    double backward_seconds;     /* that took; 0 if it is not recorded */
    const struct recompile *why; /* why no entry answered, as recorded; or NULL */
};

struct tape_code {
    uint64_t frame_id, generation; /* of compile ids, which begin again at 0/0 after a reset */
    struct str file, function;
    uint32_t line;
    vec_of(struct tape_compile)
    compiles; /* by number */
};

struct tape_compiles {
    struct arena arena;
    vec_of(struct tape_code)
    codes;                    /* in the order of their first compile */
    struct hash_index frames; /* of codes, by frame_id and generation */
    struct incidents *incidents;
};

bool tape_compiles_read(struct tape_compiles *ret, struct trace *trace, uint32_t recording,
                        struct err *err);
/* Returns the code object of a frame id, or NULL. */
struct tape_code *tape_code_find(const struct tape_compiles *all, uint64_t generation,
                                 uint64_t frame);
/* Returns the index of the first compile of a code object that has this number or a higher one. */
size_t tape_code_from(const struct tape_code *code, uint64_t number);
/* Returns the compile of a code object that has this number, or NULL. */
struct tape_compile *tape_code_compile(const struct tape_code *code, uint64_t number);
void tape_compiles_release(struct tape_compiles *compiles);

#endif
