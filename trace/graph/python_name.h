/* What a graph's texts may hold where Python has a name.
 *
 * FX makes every name of a node from letters, digits and underscores (Namespace of
 * torch/fx/graph.py), and torch.export those of inputs and symbols; schemas of operators have no
 * others. So what is more than ASCII is no name here, though Python would take some of it. */
#ifndef SYMTAPE_TRACE_GRAPH_PYTHON_NAME_H
#define SYMTAPE_TRACE_GRAPH_PYTHON_NAME_H

#include "trace/base/intern.h"
#include "trace/base/str.h"

/* An identifier, keywords included: what stands behind a dot of "torch.ops.aten.random.from", and
 * what an operator calls its arguments ("from" of aten::uniform). */
bool python_is_word(struct str text);
/* An identifier that is no keyword: what may be bound. */
bool python_is_name(struct str text);
bool python_is_keyword(struct str text);
/* Adds the keywords. False: out of memory. */
bool python_reserve(struct intern *taken);
/* Words with dots between them, of which the first may be bound: "operator.getitem", "net.weight".
 */
bool python_is_dotted(struct str text);

/* The kind of a call's target by its form. Whether the target exists, and whether it may be called,
 * is not checked. */
enum target_form {
    TARGET_NEITHER,  /* text that no target has: an expression, a line break */
    TARGET_OPERATOR, /* torch.ops.NAMESPACE.NAME, with or without .OVERLOAD */
    TARGET_FUNCTION, /* another dotted name */
    TARGET_EXTENSION /* "#NAMESPACE:NAME" of an ExtensionHandler (torch/_export/serde/serialize.py):
                        no Python */
};
enum target_form target_form_of(struct str target);

/* "cuda" or "cuda:0": the name of a device type (DeviceTypeName of c10/core/DeviceType.cpp, and
 * what torch.utils.rename_privateuse1_backend makes: lower case and underscores), and an index of 0
 * to 127, which is what a DeviceIndex holds. */
bool device_is_spelled(struct str device);

#endif
