/* Whether torch.export finds the constraints of a size satisfied, if the program declares it
 * otherwise (replay/shape/guards). The shape environment is made again from the symbols and guards
 * that the tape has of the export. */
#ifndef SYMTAPE_PROFILE_ADVICE_EXPORT_DIMS_H
#define SYMTAPE_PROFILE_ADVICE_EXPORT_DIMS_H

#include "profile/diagnosis/diagnosis.h"

enum dims_verdict {
    DIMS_SATISFIED,    /* they are violated as declared, and not with the change */
    DIMS_NOT_VIOLATED, /* nor are they as declared, by what the tape has */
    DIMS_VIOLATED,     /* with the change, too */
};

/* Each size is taken to have a Dim of its own, as the tape does not tell which share one. Returns
 * false with err set when memory ran out. */
bool export_dims_check(struct trace *trace, const struct dim_remedy *dim, enum dims_verdict *ret,
                       struct err *err);

#endif
