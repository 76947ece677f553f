/* Reading an ExportedProgram: what the pt2_*.c files share. Private to them. */
#ifndef SYMTAPE_TRACE_PT2_PT2_PROGRAM_H
#define SYMTAPE_TRACE_PT2_PT2_PROGRAM_H

#include "trace/base/intern.h"
#include "trace/base/text/json.h"
#include "trace/graph/graph_build.h"
#include "trace/pt2/signature.h"

/* A program while it is read. */
struct program {
    const struct json *doc;
    struct tree_builder tree;
    struct intern texts; /* JSON strings that were kept, as written */
    vec_of(struct str)
    decoded;             /* by text: the copy in the pool; .p NULL where not kept yet */
    struct intern exprs; /* expressions as written */
    vec_of(struct str)
    printed; /* by expression: its annotation text, in the pool */
    struct intern symbol_names;
    vec_of(struct program_symbol)
    symbols; /* by name */
    struct buf scratch;
    struct err *err;
    bool failed; /* memory ran out somewhere outside a builder, or the file was refused: err */
    struct program_graph *root; /* while it is read */
    uint32_t n_renamed;         /* names that were none in Python */
};

enum value_kind { VALUE_TENSOR, VALUE_SYM_INT, VALUE_SYM_FLOAT, VALUE_SYM_BOOL, VALUE_CUSTOM_OBJ };

/* An entry of a graph's tensor_values, sym_int_values ... */
struct value {
    enum value_kind kind;
    json_id meta;
};

/* A nested graph: the JSON that it came from and its get_attr node. */
struct nested {
    json_id body;
    node_id node;
};

/* One graph of it while it is read. */
struct program_graph {
    struct program *program;
    struct graph_builder builder;
    struct intern value_names; /* JSON keys, as written */
    vec_of(struct value)
    values;
    struct intern stacks; /* stack_trace texts, as written */
    vec_of(uint32_t)
    stack_locations;
    vec_of(struct node_origin)
    origins; /* by node */
    struct intern child_names;
    vec_of(struct nested)
    nested;                  /* by child */
    uint32_t location;       /* of the node that is being read */
    uint32_t n_invented;     /* names, so that each is tried once */
    struct intern invented;  /* those */
    struct intern odd_names; /* of the archive, that are none in Python */
    vec_of(struct str)
    new_names; /* by odd name: what stands for it */
};

/* ---- pt2_check.c: what is wrong with a file ---- */

/* Refuses the file, unless reading it has failed already: false, and ERR_INPUT with the text. */
bool program_refuse(struct program *program, const char *fmt, ...) ERR_PRINTF(2, 3);
/* Puts "WHAT NAME" in front of why the file was refused; control characters as '?'. */
void program_refused_at(struct program *program, const char *what, struct str name);
/* Each refuses a value of another JSON kind than its tag tells, and returns false. */
bool program_want_string(struct program *program, json_id value);
bool program_want_integer(struct program *program, json_id value);
bool program_want_number(struct program *program, json_id value); /* any spelling of a float */
bool program_want_bool(struct program *program, json_id value);
bool program_want_list(struct program *program, json_id value);
bool program_want_object(struct program *program, json_id value);
/* Kept as it is once it is checked: a name that may be bound in Python, the name of an argument, or
 * a dotted one. */
struct str program_keep_name(struct program *program, json_id string);
struct str program_keep_word(struct program *program, json_id string);
struct str program_keep_dotted(struct program *program, json_id string);

/* ---- pt2_program.c ---- */

/* A JSON string, decoded, in the pool; equal ones are one copy. "" when it is no string. */
struct str program_keep(struct program *program, json_id string);
/* A copy of any text in the pool. */
struct str program_copy(struct program *program, struct str text);
/* The name of a result, input or output in the graph: itself, or where that is no name in Python
 * one made of it, always the same. "" when it is no string. */
struct str program_name(struct program_graph *g, json_id string);
/* The node that results of `name` come from, or NODE_NONE. */
node_id program_find(struct program_graph *g, json_id name);
/* The child that a GraphArgument {name, graph} is, as a get_attr node; NODE_NONE on failure. */
node_id program_nested(struct program_graph *g, json_id argument);
/* The only member of a union object: its key and, returned, its value. JSON_NONE when it is not a
 * union. */
json_id program_union(const struct json *doc, json_id object, struct str *key);

/* ---- pt2_args.c ---- */

/* Pushes an Argument onto the builder's stack under a keyword, or "". */
void program_push_argument(struct program_graph *g, json_id argument, struct str key);
/* A constant of a signature (ConstantValue), or of an input that is one. */
struct arg program_constant(struct program *program, json_id constant);

/* ---- pt2_meta.c ---- */

/* Reads the tables of values of a Graph, so that program_meta() finds them. */
bool program_read_values(struct program_graph *g, json_id graph);
/* Meta of the value called `name`, META_NONE when there is none; fills what of *origin it knows. */
uint32_t program_meta(struct program_graph *g, json_id name, struct node_origin *origin);
/* "cuda:0" of a Device, appended; refuses what is none. */
void program_put_device(struct program *program, json_id device, struct buf *out);

/* ---- pt2_signature.c ---- */

/* Everything but symbols and origins. */
bool program_read_signature(struct program *program, struct graph_signature *signature);

/* ---- pt2_sources.c ---- */

/* Sets the sources of those inputs that the user passes. The modules are known. */
void program_name_sources(struct program *program, const struct graph_signature *signature,
                          struct input_spec *inputs);

#endif
