/* What a graph's texts may have where Python has a name.
 *
 * FX makes every name of a node from letters, digits and underscores (Namespace of
 * torch/fx/graph.py), and torch.export does so for inputs and symbols; schemas of operators have
 * no other names. Therefore a text with other characters is no name here, though Python would
 * allow some of them. */
#ifndef SYMTAPE_TRACE_GRAPH_PYTHON_NAME_H
#define SYMTAPE_TRACE_GRAPH_PYTHON_NAME_H

#include "trace/base/intern.h"
#include "trace/base/str.h"

/* Returns whether a text is an identifier, keywords included. Such words stand after a dot, as
 * in "torch.ops.aten.random.from", and name operators' arguments ("from" of aten::uniform). */
bool python_is_word(struct str text);
/* Returns whether a text is an identifier and no keyword, which Python can bind. */
bool python_is_name(struct str text);
bool python_is_keyword(struct str text);
/* Adds the keywords to `taken`. Returns false when memory ran out. */
bool python_reserve(struct intern *taken);
/* Returns whether a text is words with dots between them, of which the first can be bound:
 * "operator.getitem", "net.weight". */
bool python_is_dotted(struct str text);

/* The kind of a call's target by its form. Whether the target exists and is callable is not
 * checked. */
enum target_form {
    TARGET_NEITHER,  /* no target has such a text: an expression, a line break */
    TARGET_OPERATOR, /* torch.ops.NAMESPACE.NAME, with or without .OVERLOAD */
    TARGET_FUNCTION, /* another dotted name */
    TARGET_EXTENSION /* "#NAMESPACE:NAME" of an ExtensionHandler (torch/_export/serde/serialize.py):
                        no Python */
};
enum target_form target_form_of(struct str target);

/* Returns whether a text is "cuda" or "cuda:0": the name of a device type (DeviceTypeName of
 * c10/core/DeviceType.cpp, and what torch.utils.rename_privateuse1_backend makes: lower case and
 * underscores), and an index of 0 to 127, the range of DeviceIndex. */
bool device_is_spelled(struct str device);

#endif
