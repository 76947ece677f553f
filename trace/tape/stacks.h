/* Python stacks, each stored once: a table of frames, and a trie of them.
 *
 * A stack is named by its innermost node; a node's parent is its caller; node 0 is the empty stack.
 * Three quarters of a log are stacks as JSON text, and nearly all of them occurred before, so
 * reading one is a walk down the trie that compares the text with the frame that is expected next;
 * a frame is parsed only the first time. A frame names its file by the number in the process's own
 * string table ("str" records), and keeps that number: equal text means equal frame, and the text
 * can be written back exactly.
 *
 * Processes that share a log (a fork inherits its parent's file) number their files
 * independently. Each such process is a *space*: its stacks grow from a root of their own, which
 * is no frame and which everything but stacks_root() skips. Space 0 grows from node 0. */
#ifndef SYMTAPE_TRACE_TAPE_STACKS_H
#define SYMTAPE_TRACE_TAPE_STACKS_H

#include "trace/base/arena.h"
#include "trace/base/buf.h"
#include "trace/base/hash_index.h"
#include "trace/base/intern.h"
#include "trace/base/vec.h"

/* {"line": 143, "name": "<module>", "filename": 1, "loc": "o = f(*x)"}; strings are kept escaped.
 * loc is LOC_ABSENT when there is no such key (older logs), LOC_NULL when it is null. */
struct stack_frame_row {
    uint32_t line, name, loc; /* name, loc: ids in the strings table */
    int32_t file;             /* -1 means an unknown file */
};
#define LOC_ABSENT (UINT32_MAX - 1)
#define LOC_NULL   UINT32_MAX

/* Deeper stacks than any interpreter makes stay text: in a trie such stacks would be short to
 * store but long to print. */
enum { STACK_DEPTH_LIMIT = 10000 };

/* A root's frame is STACK_ROOT plus its space. */
#define STACK_ROOT (UINT32_MAX - UINT16_MAX)

struct stack_node {
    uint32_t parent, frame;
    uint32_t depth;  /* number of frames on the stack */
    uint32_t recent; /* the child that was matched last, which is the first guess */
    uint16_t space;
};

struct stack_table {
    struct intern *strings; /* borrowed; the table of names and source lines */
    vec_of(struct stack_frame_row)
    frames;
    vec_of(struct stack_node)
    nodes;
    struct intern texts;        /* texts of frames; the id is the frame's */
    struct hash_index children; /* of nodes, by parent and frame */
};

/* Initializes a table. Returns false when memory ran out. */
bool stacks_init(struct stack_table *table, struct intern *strings);
void stacks_release(struct stack_table *table);

/* Returns the root node of a space's stacks; UINT32_MAX when memory ran out. */
uint32_t stacks_root(struct stack_table *table, uint16_t space);

/* Reads a JSON array of frames at the start of `text`, below `root`. If it is laid out as
 * json.dumps does, the function returns true, the stack's node and the number of bytes read
 * (through the ']'). Otherwise it returns false with *used 0, and sets err only when memory ran
 * out. */
bool stacks_read(struct stack_table *table, uint32_t root, struct str text, uint32_t *node,
                 size_t *used, struct err *err);

/* Returns the node for `frame` called from `parent`; UINT32_MAX when memory ran out. */
uint32_t stacks_child(struct stack_table *table, uint32_t parent, uint32_t frame);
/* Adds a row as the next frame or node, for a tape's reader. What it refers to need not exist,
 * except for a parent. */
bool stacks_add_frame(struct stack_table *table, struct stack_frame_row row);
bool stacks_add_node(struct stack_table *table, uint32_t parent, uint32_t frame);

/* Prints the JSON array. Nodes and strings that do not exist are printed as "[]" and "". Returns
 * false, with part of it printed, as soon as `out` is longer than `most` bytes. */
bool stacks_print(const struct stack_table *table, uint32_t node, size_t most, struct buf *out);

#endif
