/* What pooling operators of two and three dimensions share (torch/_meta_registrations.py). */
#ifndef SYMTAPE_REPLAY_OPS_RULES_CONV_POOLING_SHAPE_H
#define SYMTAPE_REPLAY_OPS_RULES_CONV_POOLING_SHAPE_H

#include "replay/ops/rules/compose.h"

enum { POOL_MAX = 3 };

struct pool {
    const char *name;
    uint32_t n; /* 2 or 3 */
    sym_id kernel[POOL_MAX], stride[POOL_MAX], padding[POOL_MAX], dilation[POOL_MAX];
    bool ceil_mode;
    sym_id out[POOL_MAX];
};

/* Reads the lists from argument `first` on: kernel, stride, padding, and dilation if `dilated`. */
bool pool_read(struct call *c, struct pool *p, uint32_t first, bool dilated);
/* Returns pooling_output_shape of one size. */
sym_id pool_output(struct call *c, const struct pool *p, uint32_t i, sym_id size);
/* pool2d_shape_check, pool3d_shape_check; `format` is the one that x suggests. */
bool pool_check_2d(struct call *c, const struct pool *p, struct tensor x,
                   enum memory_format format);
bool pool_check_3d(struct call *c, const struct pool *p, struct tensor x, const char *name,
                   bool check_input);
/* Formats sizes as "got [...]" of the kernel or as "torch.Size([...])" of the Python
 * registration. */
const char *pool_size_text(struct call *c, struct tensor x);

#endif
