/* Python stacks, stored once: a table of frames, and a trie of them.
 *
 * A stack is named by its innermost node; a node's parent is its caller; node 0 is the empty stack.
 * Three quarters of a log are stacks as JSON text, nearly all of it seen before, so reading one is
 * a walk down the trie that compares text with the frame expected next; a frame is taken apart only
 * the first time. Frames name their file by the number of the process's own string table ("str"
 * records), and keep it: equal text means equal frame, and the text can be written back exactly.
 *
 * Processes that share a log (a fork inherits its parent's file) number their files apart. Each
 * such process is a *space*: its stacks grow from a root of their own, which is no frame and is
 * passed over by everything but stacks_root(). Space 0 grows from node 0. */
#ifndef SYMTAPE_TRACE_TAPE_STACKS_H
#define SYMTAPE_TRACE_TAPE_STACKS_H

#include "trace/base/arena.h"
#include "trace/base/buf.h"
#include "trace/base/intern.h"
#include "trace/base/vec.h"

/* {"line": 143, "name": "<module>", "filename": 1, "loc": "o = f(*x)"}; strings are kept escaped.
 * loc is LOC_ABSENT when there is no such key (older logs), LOC_NULL when it is null. */
struct stack_frame_row {
    uint32_t line, name, loc; /* name, loc: ids in the strings table */
    int32_t file;             /* -1 stands for an unknown file */
};
#define LOC_ABSENT (UINT32_MAX - 1)
#define LOC_NULL   UINT32_MAX

/* Deeper stacks than any interpreter makes stay text: a trie makes each of them short, and printing
 * long. */
enum { STACK_DEPTH_LIMIT = 10000 };

/* A root's frame is STACK_ROOT plus its space. */
#define STACK_ROOT (UINT32_MAX - UINT16_MAX)

struct stack_node {
    uint32_t parent, frame;
    uint32_t depth;  /* frames on the stack */
    uint32_t recent; /* the child that was taken last: the first guess */
    uint16_t space;
};

struct stack_table {
    struct intern *strings; /* borrowed: where names and source lines go */
    vec_of(struct stack_frame_row)
    frames;
    vec_of(struct stack_node)
    nodes;
    struct intern texts; /* frame texts; the id is the frame's */
    uint32_t *slots;     /* (parent, frame) -> node; open addressing, a power of two */
    size_t n_slots;
};

/* False when memory ran out. */
bool stacks_init(struct stack_table *table, struct intern *strings);
void stacks_release(struct stack_table *table);

/* The node that stacks of a space grow from; UINT32_MAX when memory ran out. */
uint32_t stacks_root(struct stack_table *table, uint16_t space);

/* Reads a JSON array of frames at the start of `text`, below `root`. True and the stack's node and
 * the number of bytes read (through the ']') when it is one, laid out as json.dumps does; false
 * with *used 0 when it is not, and err set only when memory ran out. */
bool stacks_read(struct stack_table *table, uint32_t root, struct str text, uint32_t *node,
                 size_t *used, struct err *err);

/* The node for `frame` called from `parent`; UINT32_MAX when memory ran out. */
uint32_t stacks_child(struct stack_table *table, uint32_t parent, uint32_t frame);
/* For a tape's reader: adds a row as the next frame or node. What it refers to need not exist, but
 * a parent must. */
bool stacks_add_frame(struct stack_table *table, struct stack_frame_row row);
bool stacks_add_node(struct stack_table *table, uint32_t parent, uint32_t frame);

/* The JSON array again. A node that does not exist, or strings that do not, print as "[]" and "".
 * False, and some of it printed, as soon as `out` holds more than `most` bytes. */
bool stacks_print(const struct stack_table *table, uint32_t node, size_t most, struct buf *out);

#endif
