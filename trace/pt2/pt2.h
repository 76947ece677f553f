/* Reads torch.export archives (.pt2): their members, and their programs as graphs.
 *
 * Two containers exist (torch/export/pt2_archive/, torch/export/__init__.py):
 *   PT2_ARCHIVE  torch >= 2.8. Everything below one root folder: models/NAME.json, data/weights/,
 *                data/constants/ with a config JSON that says what each tensor file is.
 *   PT2_LEGACY   torch <= 2.7. serialized_exported_program.json beside pickled weights.
 *
 *     struct pt2 pt2;
 *     if (!pt2_open(&pt2, bytes, NULL, &err))
 *         return false;
 *     struct buf scratch = BUF_INIT;
 *     struct str json;
 *     struct graph *graph = NULL;
 *     if (zip_read(&pt2.zip, pt2.models[0].program, &scratch, &json, &err))
 *         graph = pt2_program_parse(json, &err);
 *     buf_release(&scratch);
 *     pt2_close(&pt2);
 *     graph_free(graph);
 *
 * Weights are not read, only located: offset and bytes give their place in the file. Nothing that
 * is pickled is ever executed or decoded; such members are listed with use_pickle.
 * A malformed program or config is an ERR_INPUT that names the member. */
#ifndef SYMTAPE_TRACE_PT2_PT2_H
#define SYMTAPE_TRACE_PT2_PT2_H

#include "trace/base/arena.h"
#include "trace/pt2/signature.h"
#include "trace/pt2/zip.h"

enum pt2_container { PT2_ARCHIVE, PT2_LEGACY };

/* A parameter, buffer, tensor constant or custom object of a model. */
struct pt2_weight {
    struct str fqn;  /* as in input_spec.target; "" where only the pickle has it */
    struct str path; /* name of its member, root folder included; weights that share a storage have
                        the same path */
    const struct zip_member *member; /* NULL when the archive has no such member */
    bool is_constant;                /* listed among the constants, not the weights */
    bool is_param;
    bool use_pickle; /* a custom object, a tensor subclass, or a whole pickled state dict */
    bool has_meta;   /* the fields up to strides are known, and no size is symbolic */
    enum dtype dtype;
    bool requires_grad;
    struct str device;
    uint32_t n_sizes;
    const int64_t *sizes, *strides; /* in elements */
    int64_t storage_offset;         /* in elements */
    bool readable;   /* its bytes are at `offset` without compression, and contain every element of
                        the tensor; false for deflated and pickled members, and for weights that
                        were exported without data (fake tensors) */
    uint64_t offset; /* of the storage's first byte in the file */
    uint64_t bytes;  /* of the storage */
};

struct pt2_model {
    struct str name;                        /* "model" unless the user chose another name */
    const struct zip_member *program;       /* JSON for pt2_program_parse() */
    const struct zip_member *sample_inputs; /* pickled (args, kwargs); NULL when there is none */
    const struct pt2_weight *weights;       /* weights, then constants */
    uint32_t n_weights;
};

struct pt2 {
    struct zip zip;
    enum pt2_container container;
    struct str root;       /* "bert/"; "" in PT2_LEGACY */
    struct str version;    /* archive_version, or version of PT2_LEGACY; "" when absent */
    struct str byte_order; /* of the weights: "little", "big"; "" when absent, which means little */
    const struct pt2_model *models; /* none in a package that has only AOTInductor's models */
    uint32_t n_models;
    struct arena arena; /* private */
};

/* Returns whether an archive is a .pt2 of either kind. (A TorchScript or torch.save file is a
 * ZIP archive, too.) */
bool pt2_is_one(const struct zip *zip);

/* Opens an archive. `bytes` is borrowed and must outlive the pt2; `limits` is as for zip_open().
 * On failure there is nothing to close. */
bool pt2_open(struct pt2 *pt2, struct str bytes, const struct zip_limits *limits, struct err *err);

/* As pt2_open(), for a file, which is borrowed as well. */
bool pt2_open_file(struct pt2 *pt2, const struct file *file, const struct zip_limits *limits,
                   struct err *err);

/* Reads the bytes of a config or of a short text member, as zip_read() does; they may be in
 * `scratch` and are not used after the next call. */
struct pt2_reader {
    bool (*read)(void *user, const struct zip_member *member, struct buf *scratch, struct str *ret,
                 struct err *err);
    void *user;
};

/* Opens an archive from a list of its members and a reader of some of their texts, as a tape has
 * them. When the reader is called, `members` point into pt2->zip.members; names are borrowed. */
bool pt2_open_members(struct pt2 *pt2, const struct zip_member *members, uint32_t n,
                      const struct pt2_reader *reader, struct err *err);
void pt2_close(struct pt2 *pt2);

/* The ExportedProgram in a model's JSON as a graph with a signature; independent of any archive.
 * `model_json` need not outlive the graph. Free with graph_free().
 *
 * The form is the one that graph_parse() makes from text, so that one walk serves both:
 *  - Inputs are the first nodes, placeholders in the signature's order.
 *  - A node of the archive is one call, named after its result. Where it has several results (a
 *    tuple or a list), which the archive names without getitem nodes, the call has no meta and is
 *    followed by one FORM_GETITEM call per tensor or symbol, unused ones included (PyTorch names
 *    them NODE_unused_I); a list inside the tuple has a getitem of its own and one per element.
 *    None results have no node. This is what torch/_export/serde/serialize.py,
 *    deserialize_multiple_outputs, builds.
 *  - A nested graph, which the archive has inside the argument, becomes a child and a NODE_GET_ATTR
 *    in front of the call, as in text; passed again, it is the same node.
 *  - Symbolic sizes are printed and parsed: "Mul(Integer(2), Symbol('s77', ...))" is 2*s77.
 *  - Locations have the whole recorded stack: the node's is the innermost, its callers hang on it.
 *  - Arguments of an archive without argument kinds (torch <= 2.6) are keyword ones but for the
 *    first; those of Python operators are positional.
 *  - A custom object that is not an input is an ARG_OPAQUE of its name. An argument of a kind that
 *    this reader does not know is an ARG_OPAQUE of its JSON, on one line, and counts in n_opaque.
 *
 * Nothing in it is taken at its word. A program is refused (ERR_INPUT, with the node and the
 * argument) where a value has another JSON kind than its tag tells, where a target is no dotted
 * name (python_name.h), a device none of PyTorch's, a size no expression of symbols, negative or
 * beyond 64 bits, or where a keyword argument or a symbol is no name in Python. Nodes and inputs
 * whose names are none in Python get others, and signature->n_renamed counts them.
 *
 * Schema versions 8.x are taken, and 0.0; another major version is an error. */
struct graph *pt2_program_parse(struct str model_json, struct err *err);

#endif
