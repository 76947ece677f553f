#include "trace/events/env_stages.h"

#include <stdlib.h>

#include "trace/tables.h"

static const struct {
    const char *name;
    uint32_t level;
} stage_rows[] = {
#define ENV_STAGE(id, level, name) { name, level },
#include "trace/events/env_stages.def"
#undef ENV_STAGE
};

static const struct stage_frame {
    struct str file, function;
    uint8_t rank, stage;
} frame_rows[] = {
#define ENV_STAGE_FRAME(rank, file, function, id) \
    { { file, sizeof file - 1 }, { function, sizeof function - 1 }, rank, ENV_STAGE_##id },
#include "trace/events/env_stages.def"
#undef ENV_STAGE_FRAME
};
enum { FRAME_ROWS = sizeof frame_rows / sizeof *frame_rows };

/* The stage of a stack in a recording, which has its own texts of frames. */
struct known_stack {
    uint32_t recording; /* plus 1; 0: nothing is known */
    uint8_t row;        /* FRAME_ROWS: no frame decides */
};

struct env_stages {
    const struct trace *trace;
    size_t n;
    struct known_stack *known;        /* by stack, of the recording that it was asked for last */
    stack_id path[STACK_DEPTH_LIMIT]; /* of the stack at hand, the innermost frame first */
};

const char *env_stage_name(enum env_stage stage)
{
    return stage < ENV_STAGES ? stage_rows[stage].name : "";
}

uint32_t env_stage_level(enum env_stage stage)
{
    return stage < ENV_STAGES ? stage_rows[stage].level : 0;
}

struct env_stages *env_stages_new(const struct trace *trace, struct err *err)
{
    struct env_stages *stages = calloc(1, sizeof *stages);
    size_t n = trace->tables->tape->stacks.nodes.n;
    struct known_stack *known = calloc(n + 1, sizeof *known);
    if (!stages || !known) {
        free(stages);
        free(known);
        err_nomem(err);
        return NULL;
    }
    stages->trace = trace;
    stages->n = n;
    stages->known = known;
    return stages;
}

void env_stages_free(struct env_stages *stages)
{
    if (stages)
        free(stages->known);
    free(stages);
}

static bool is_file(struct str path, struct str part)
{
    if (!part.n)
        return true;
    if (part.p[part.n - 1] == '/')
        return str_find(path, part) < path.n;
    return str_ends(path, part);
}

static uint8_t row_of_frame(const struct frame *frame)
{
    for (uint8_t i = 0; i < FRAME_ROWS; i++)
        if ((!frame_rows[i].function.n || str_eq(frame->function, frame_rows[i].function)) &&
            is_file(frame->file, frame_rows[i].file))
            return i;
    return FRAME_ROWS;
}

static uint8_t rank_of(uint8_t row)
{
    return row < FRAME_ROWS ? frame_rows[row].rank : UINT8_MAX;
}

static bool is_unknown(const struct env_stages *stages, uint32_t recording, stack_id stack)
{
    return stack && stack < stages->n && stages->known[stack].recording != recording + 1;
}

/* The stage of a stack is that of its own frame or of the frames around it, so it is found from the
 * outermost frame that is not known yet inwards. */
enum env_stage env_stage_of(struct env_stages *stages, uint32_t recording, stack_id stack)
{
    uint32_t depth = 0;
    for (; is_unknown(stages, recording, stack) && depth < STACK_DEPTH_LIMIT;
         stack = stack_parent(stages->trace, stack))
        stages->path[depth++] = stack;
    uint8_t best = FRAME_ROWS;
    if (stack && stack < stages->n && stages->known[stack].recording == recording + 1)
        best = stages->known[stack].row;
    while (depth > 0) {
        stack_id at = stages->path[--depth];
        struct frame frame = stack_frame(stages->trace, recording, at);
        uint8_t row = row_of_frame(&frame);
        if (row < FRAME_ROWS && rank_of(row) <= rank_of(best))
            best = row;
        stages->known[at] = (struct known_stack){ recording + 1, best };
    }
    return best < FRAME_ROWS ? (enum env_stage)frame_rows[best].stage : ENV_STAGES;
}
