/* Numbers that mean the same on both sides. Private to the alignment. */
#ifndef SYMTAPE_TRACE_ALIGN_ALIGN_BUILD_H
#define SYMTAPE_TRACE_ALIGN_ALIGN_BUILD_H

#include "trace/align/align.h"
#include "trace/align/sequence.h"

#define ALIGN_KEY(...)                                              \
    ((struct str){ (const char *)(const uint32_t[]){ __VA_ARGS__ }, \
                   sizeof((const uint32_t[]){ __VA_ARGS__ }) })

/* Tokens of all sorts are numbers in one table; the first number of a key is the sort. */
enum align_sort {
    FORM_WHOLE,
    FORM_SPREAD,
    FORM_WORK,
    FORM_OP,
    EVENT_WHOLE,
    EVENT_SPREAD,
    EVENT_WORK,
    GRAPH_BY_NAME,
    GRAPH_BY_KIND
};

/* Numbers of one form; two forms are equal if their numbers are. */
struct align_form {
    uint32_t whole;  /* operator, arguments, meta, line */
    uint32_t spread; /* all but the line */
    uint32_t work;   /* operator and line */
    uint32_t op;
};

/* Numbers of one event. */
struct align_event {
    uint32_t whole;  /* kind, class, text, line */
    uint32_t spread; /* all but the line */
    uint32_t work;   /* kind and text */
};

/* One of the two sides. */
struct align_side {
    const struct outline *outline;
    uint32_t *texts;  /* by text: its number, which both sides share */
    uint32_t *files;  /* by text that is a file: the file's number */
    uint32_t *lines;  /* by line */
    bool *lines_seen; /* by number of a line: whether it is on this side */
    struct align_form *forms;
    struct align_event *events;
};

struct align_build {
    struct align align; /* first, because it is what the caller sees and frees */
    struct align_side sides[2];
    struct intern texts, lines, tokens;
};

/* Each returns false when memory ran out. */
bool align_lines(struct align_build *b);  /* files, then lines */
bool align_tokens(struct align_build *b); /* forms and events */
bool align_parts(struct align_build *b);  /* recordings, compiles, attempts, graphs */
bool align_nodes(struct align_build *b, struct align_graph *graph);
bool align_events(struct align_build *b, struct align_attempt *attempt);

/* Returns the number of a line of the outline, or of OUTLINE_NONE; ALIGN_NONE stays. */
static inline uint32_t align_line(const struct align_side *side, uint32_t line)
{
    return line == OUTLINE_NONE ? ALIGN_NONE : side->lines[line];
}

/* Returns whether the code of each of the two lines is on its own side only, which means that it
 * was edited. */
static inline bool align_line_edited(const struct align_build *b, uint32_t line_a, uint32_t line_b)
{
    return (line_a == ALIGN_NONE || !b->sides[1].lines_seen[line_a]) &&
           (line_b == ALIGN_NONE || !b->sides[0].lines_seen[line_b]);
}

#endif
