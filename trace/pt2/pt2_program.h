/* Declarations that the pt2_*.c files share, which read an ExportedProgram. Private to them. */
#ifndef SYMTAPE_TRACE_PT2_PT2_PROGRAM_H
#define SYMTAPE_TRACE_PT2_PT2_PROGRAM_H

#include "trace/base/intern.h"
#include "trace/base/text/json.h"
#include "trace/graph/graph_build.h"
#include "trace/pt2/signature.h"

/* A program that is being read. */
struct program_reader {
    const struct json *doc;
    struct tree_builder tree;
    struct intern texts; /* JSON strings that were kept, as written */
    vec_of(struct str)
    decoded;             /* by text: the copy in the pool; .p is NULL where not kept yet */
    struct intern exprs; /* expressions as written */
    vec_of(struct str)
    printed; /* by expression: its annotation text, in the pool */
    struct intern symbol_names;
    vec_of(struct program_symbol)
    symbols; /* by name */
    struct buf scratch;
    struct err *err;
    bool failed; /* memory ran out somewhere outside a builder, or the file was refused (see err) */
    struct program_graph *root; /* set while it is being read */
    uint32_t n_renamed;         /* number of names that are not Python's */
};

enum value_kind { VALUE_TENSOR, VALUE_SYM_INT, VALUE_SYM_FLOAT, VALUE_SYM_BOOL, VALUE_CUSTOM_OBJ };

/* An entry of a graph's tensor_values, sym_int_values ... */
struct program_value {
    enum value_kind kind;
    json_id meta;
};

/* A nested graph: the JSON that it was read from and its get_attr node. */
struct nested {
    json_id body;
    node_id node;
};

/* One graph of a program that is being read. */
struct program_graph {
    struct program_reader *program;
    struct graph_builder builder;
    struct intern value_names; /* JSON keys, as written */
    vec_of(struct program_value)
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
    uint32_t n_invented;     /* number of invented names, so that each is tried once */
    struct intern invented;  /* the invented names */
    struct intern odd_names; /* names of the archive that are not Python's */
    vec_of(struct str)
    new_names; /* by odd name: its replacement */
};

/* ---- pt2_check.c: what is wrong with a file ---- */

/* Refuses the file with ERR_INPUT and this text, unless reading it failed already. Returns
 * false. */
bool program_refuse(struct program_reader *program, const char *fmt, ...) ERR_PRINTF(2, 3);
/* Prepends "WHAT NAME" to the reason why the file was refused; control characters become '?'. */
void program_refused_at(struct program_reader *program, const char *what, struct str name);
/* These refuse a value of another JSON kind than its tag says, and return false. */
bool program_want_string(struct program_reader *program, json_id value);
bool program_want_integer(struct program_reader *program, json_id value);
bool program_want_number(struct program_reader *program,
                         json_id value); /* any spelling of a float */
bool program_want_bool(struct program_reader *program, json_id value);
bool program_want_list(struct program_reader *program, json_id value);
bool program_want_object(struct program_reader *program, json_id value);
/* Keep a string after checking it: a name that Python can bind, the name of an argument, or a
 * dotted name. */
struct str program_keep_name(struct program_reader *program, json_id string);
struct str program_keep_word(struct program_reader *program, json_id string);
struct str program_keep_dotted(struct program_reader *program, json_id string);

/* ---- pt2_program.c ---- */

/* Returns a JSON string, decoded, in the pool; equal ones share a copy. "" when it is no string. */
struct str program_keep(struct program_reader *program, json_id string);
/* Returns a copy of a text in the pool. */
struct str program_copy(struct program_reader *program, struct str text);
/* Returns the name of a result, input or output in the graph: the name itself, or if it is not
 * Python's the one that was made from it, always the same. "" when it is no string. */
struct str program_name(struct program_graph *g, json_id string);
/* Returns the node that produces results of `name`, or NODE_NONE. */
node_id program_find(struct program_graph *g, json_id name);
/* Returns the get_attr node of the child in a GraphArgument {name, graph}; NODE_NONE on failure. */
node_id program_nested(struct program_graph *g, json_id argument);
/* Returns the value of the only member of a union object, and its key in *key; JSON_NONE when it
 * is not a union. */
json_id program_union(const struct json *doc, json_id object, struct str *key);

/* ---- pt2_args.c ---- */

/* Pushes an Argument onto the builder's stack under a keyword, or "". */
void program_push_argument(struct program_graph *g, json_id argument, struct str key);
/* Returns a constant of a signature (ConstantValue), or of an input that is one. */
struct arg program_constant(struct program_reader *program, json_id constant);

/* ---- pt2_meta.c ---- */

/* Reads the tables of values of a Graph, so that program_meta() finds them. */
bool program_read_values(struct program_graph *g, json_id graph);
/* Returns the meta of the value called `name`, META_NONE when there is none; sets the fields of
 * *origin that the meta has. */
uint32_t program_meta(struct program_graph *g, json_id name, struct node_origin *origin);
/* Appends "cuda:0" for a Device; refuses what is none. */
void program_put_device(struct program_reader *program, json_id device, struct buf *out);

/* ---- pt2_signature.c ---- */

/* Reads everything but symbols and origins. */
bool program_read_signature(struct program_reader *program, struct graph_signature *signature);

/* ---- pt2_sources.c ---- */

/* Sets the sources of the inputs that the user passes. The module calls must have been read
 * before. */
void program_name_sources(struct program_reader *program, const struct graph_signature *signature,
                          struct input_spec *inputs);
/* Sets the paths of the outputs that the user gets. */
void program_name_outputs(struct program_reader *program, const struct graph_signature *signature,
                          struct output_spec *outputs);

#endif
